"""Weights that must be refused: exit status 3, and which tensor it was."""
import json
import os
import struct

import files
import runs

r = runs.Runs()
MODEL = r.write("m.gnn", "model M() (g: graph, x: node[F]) -> node[C] {\n  lin = Linear(C)\n  return lin(x)\n}\n")
W = r.path("w.safetensors")
r.works("train", MODEL, "-q", "-O0", "--epochs", "1", "--save", W)
GOOD = files.read_safetensors(W)
assert {k: v[:2] for k, v in GOOD.items()} == {"lin.weight": ("f", (4, 34)), "lin.bias": ("f", (4,))}, GOOD


def weights(what, path):
    r.fails(3, what, "run", MODEL, "-q", "-O0", "--weights", path)


def changed(name, **change):
    tensors = {k: v for k, v in {**GOOD, **{k.replace("_", "."): v for k, v in change.items()}}.items() if v}
    files.write_safetensors(r.path(name), tensors)
    return r.path(name)


r.works("run", MODEL, "-q", "-O0", "--weights", changed("same"))
r.works("run", MODEL, "-q", "-O0", "--weights", changed("more", other=("f", (2,), [1, 2])))
weights("there is no tensor 'lin.bias' (it has 1 tensor: 'lin.weight')", changed("missing", lin_bias=None))
weights("there is no tensor 'lin.bias'; did you mean 'lin.bais'?",
        changed("misspelt", lin_bias=None, lin_bais=GOOD["lin.bias"]))
weights("tensor 'lin.bias' is f32 [5], expected f32 [4]", changed("long", lin_bias=("f", (5,), [0] * 5)))
weights("tensor 'lin.weight' is f32 [34, 4], expected f32 [4, 34]",
        changed("transposed", lin_weight=("f", (34, 4), [0] * 136)))
weights("tensor 'lin.bias' is f32 [4, 1], expected f32 [4]", changed("rank", lin_bias=("f", (4, 1), [0] * 4)))
weights("tensor 'lin.bias' is f32 [], expected f32 [4]", changed("scalar", lin_bias=("f", (), [0])))
weights("lin.bias", changed("integers", lin_bias=("q", (4,), [0] * 4)))

# Headers that lie.
data = open(W, "rb").read()
(n,) = struct.unpack("<Q", data[:8])
header, body = json.loads(data[8:8 + n]), data[8 + n:]


def lying(name, text):
    text = text if isinstance(text, bytes) else (json.dumps(text) if not isinstance(text, str) else text).encode()
    return r.write(name, struct.pack("<Q", len(text)) + text + body)


def with_entry(**change):
    return {**header, "lin.bias": {**header["lin.bias"], **change}}


for name, text in (
    ("beyond", with_entry(data_offsets=[0, 10 ** 9])), ("backwards", with_entry(data_offsets=[16, 0])),
    ("negative", with_entry(data_offsets=[-16, 0])), ("overflow", with_entry(shape=[2 ** 62, 4])),
    ("negative_shape", with_entry(shape=[-4])), ("float_shape", with_entry(shape=[4.5])),
    ("deep_shape", with_entry(shape=[1] * 1000)), ("no_dtype", with_entry(dtype="F33")),
    ("null", with_entry(shape=None)), ("no_object", "[1, 2]"), ("no_json", "{"), ("brackets", "[" * 10 ** 5),
    ("objects", '{"a":' * 10 ** 5), ("nul", b'{"lin.bias\0": 1}'), ("not_utf8", b'{"\xff\xfe": 1}'),
    ("spaces", " " * 1000),
):
    weights("", lying(name, text))
for k in list(range(0, 40)) + list(range(40, len(data), 41)):
    weights("", r.write("cut", data[:k]))
weights("truncated, or not safetensors", r.write("huge", b"\xff" * 16))
weights("0 bytes", r.write("empty", b""))
weights("Is a directory", r.folder)
weights("No such file or directory", r.path("nowhere"))
weights("", os.path.abspath(__file__))
r.fails(3, "there is no tensor 'lin.bias'", "train", MODEL, "-q", "-O0", "--weights", r.path("missing"))
# What the model does not have is said; torch's counters are none of it.
for name, more, what in (("more", {"second.weight": ("f", (2,), [1, 2])}, b"tensors that M does not have: second.weight\n"),
                         ("counted", {"norm.module.num_batches_tracked": ("q", (), [7])}, None)):
    files.write_safetensors(r.path(name), {**files.read_safetensors(W), **more})
    e = r.run("run", MODEL, "-O0", "--weights", r.path(name))
    assert what in e.stderr if what else b"warning" not in e.stderr, e.stderr
r.done()
