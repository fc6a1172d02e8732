"""Weights that must be refused: exit status 3, and which tensor it was."""
import json
import os
import pickle
import struct

import files
import runs

r = runs.Runs(shared=True)
MODEL = r.write("m.gnn", "model M() (g: graph, x: node[F]) -> node[C] {\n  lin = Linear(C)\n"
                "  return lin(x)\n}\n")
W = r.path("w.safetensors")
r.works("train", MODEL, "-q", "-O0", "--epochs", "1", "--save", W)
GOOD = files.read_safetensors(W)
assert {k: v[:2] for k, v in GOOD.items()} == {"lin.weight": ("f", (4, 34)),
                                               "lin.bias": ("f", (4,))}, GOOD


def weights(what, path):
    r.fails(3, what, "run", MODEL, "-q", "-O0", "--weights", path)


def changed(name, **change):
    tensors = {k: v for k, v
               in {**GOOD, **{k.replace("_", "."): v for k, v in change.items()}}.items() if v}
    files.write_safetensors(r.path(name), tensors)
    return r.path(name)


r.works("run", MODEL, "-q", "-O0", "--weights", changed("same"))
r.works("run", MODEL, "-q", "-O0", "--weights", changed("more", other=("f", (2,), [1, 2])))
weights("there is no tensor 'lin.bias' (it has 1 tensor: 'lin.weight')",
        changed("missing", lin_bias=None))
weights("there is no tensor 'lin.bias'; did you mean 'lin.bais'?",
        changed("misspelt", lin_bias=None, lin_bais=GOOD["lin.bias"]))
weights("tensor 'lin.bias' is f32 [5], expected f32 [4]",
        changed("long", lin_bias=("f", (5,), [0] * 5)))
weights("tensor 'lin.weight' is f32 [34, 4], expected f32 [4, 34]",
        changed("transposed", lin_weight=("f", (34, 4), [0] * 136)))
weights("tensor 'lin.bias' is f32 [4, 1], expected f32 [4]",
        changed("rank", lin_bias=("f", (4, 1), [0] * 4)))
weights("tensor 'lin.bias' is f32 [], expected f32 [4]", changed("scalar", lin_bias=("f", (), [0])))
weights("lin.bias", changed("integers", lin_bias=("q", (4,), [0] * 4)))

# Headers that lie.
data = open(W, "rb").read()
(n,) = struct.unpack("<Q", data[:8])
header, body = json.loads(data[8:8 + n]), data[8 + n:]


def lying(name, text):
    text = text if isinstance(text, bytes) else (json.dumps(text) if not isinstance(text, str)
                                                 else text).encode()
    return r.write(name, struct.pack("<Q", len(text)) + text + body)


def with_entry(**change):
    return {**header, "lin.bias": {**header["lin.bias"], **change}}


for name, text in (
        ("beyond", with_entry(data_offsets=[0, 10 ** 9])),
        ("backwards", with_entry(data_offsets=[16, 0])),
        ("negative", with_entry(data_offsets=[-16, 0])),
        ("overflow", with_entry(shape=[2 ** 62, 4])), ("negative_shape", with_entry(shape=[-4])),
        ("float_shape", with_entry(shape=[4.5])), ("deep_shape", with_entry(shape=[1] * 1000)),
        ("no_dtype", with_entry(dtype="F33")), ("null", with_entry(shape=None)),
        ("no_object", "[1, 2]"), ("no_json", "{"), ("brackets", "[" * 10 ** 5),
        ("objects", '{"a":' * 10 ** 5), ("nul", b'{"lin.bias\0": 1}'),
        ("not_utf8", b'{"\xff\xfe": 1}'), ("spaces", " " * 1000)):
    weights("", lying(name, text))
for k in list(range(0, 40)) + list(range(40, len(data), 41)):
    weights("", r.write("cut", data[:k]))
weights("truncated, or not safetensors", r.write("huge", b"\xff" * 16))
weights("0 bytes", r.write("empty", b""))
weights("Is a directory", r.folder)
weights("No such file or directory", r.path("nowhere"))
weights("", os.path.abspath(__file__))
r.fails(3, "there is no tensor 'lin.bias'", "train", MODEL, "-q", "-O0", "--weights",
        r.path("missing"))
# Files that torch users have: other floating types, names in wrappers, norms of torch.nn, and files
# that are none.
def bits(kind, v):
    return struct.unpack("<H", struct.pack("<f", v)[2:])[0] if kind == "BF16" else v


def torch_file(name, tensors, kind="F32", code="f"):
    header, body = {}, b""
    for k, (_, shape, values) in tensors.items():
        data = struct.pack(f"<{len(values)}{code}", *(bits(kind, v) for v in values))
        header[k] = {"dtype": kind, "shape": list(shape),
                     "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return r.write(name, struct.pack("<Q", len(text)) + text + body)


def predicted(path, model=MODEL):
    e = r.run("run", model, "-O0", "--weights", path, "--predictions", r.path("p.npz"))
    assert e.returncode == 0, e.stderr
    return files.read_npz(r.path("p.npz"))["logits"], e.stderr.decode()


ROUND = {k: (d, shape, [(i * 7 % 11 - 5) / 4 for i in range(len(v))])
         for k, (d, shape, v) in GOOD.items()}
want, said = predicted(torch_file("f32", ROUND))
assert "float32" not in said, said
for kind, code in (("F16", "e"), ("BF16", "H"), ("F64", "d")):
    got, said = predicted(torch_file(kind, ROUND, kind, code))
    assert got == want and said.count(
        f"{kind}: 2 tensors of {kind.lower()} become float32\n") == 1, said
weights("tensor 'lin.bias': number 2 is 1e+300, which no float32 is",
        torch_file("wide", {**ROUND, "lin.bias": ("d", (4,), [0, 1, 1e300, 0])}, "F64", "d"))
weights("tensor 'lin.bias' is f32 [5], expected f32 [4]", torch_file(
    "wide", {"lin.weight": ROUND["lin.weight"], "lin.bias": ("d", (5,), [0] * 5)}, "F64", "d"))
for prefix in ("module.", "_orig_mod.", "model.", "_orig_mod.module.", "model._orig_mod."):
    got, said = predicted(torch_file("prefix", {prefix + k: v for k, v in ROUND.items()}))
    assert (got == want and f"'{prefix}lin.weight' is read as 'lin.weight', and 1 more likewise\n"
            in said), said
assert predicted(torch_file(
    "inner", {k.replace("lin.", "lin._orig_mod."): v for k, v in ROUND.items()}))[0] == want
weights("there is no tensor 'lin.weight'; did you mean 'linn.weight'?",
        torch_file("others", {k.replace("lin", "linn"): v for k, v in ROUND.items()}))
weights("there is no tensor 'lin.weight'",
        torch_file("half", {"module.lin.weight": ROUND["lin.weight"], "b": ROUND["lin.bias"]}))
weights("there is no tensor 'lin.weight'", torch_file("two", {
    **{"module." + k: v for k, v in ROUND.items()}, **{"model." + k: v for k, v in ROUND.items()}}))
NORM = r.write("n.gnn", "model M() (g: graph, x: node[F]) -> node[C] {\n  lin = Linear(C)\n"
               "  bn = BatchNorm()\n  return bn(lin(x))\n}\n")
STATE = {f"bn.module.{k}": ("f", (4,), [float(i + n) for i in range(4)])
         for n, k in enumerate(("weight", "bias", "running_mean", "running_var"), 1)}
norm_want, said = predicted(torch_file("pyg", {**ROUND, **STATE}), NORM)
got, said = predicted(torch_file("torch", {k.replace(".module", ""): v for k, v in {
    **ROUND, **STATE, "bn.module.num_batches_tracked": ("f", (1,), [7])}.items()}), NORM)
assert (got == norm_want and "'bn.running_mean' is read as 'bn.module.running_mean', and 3 more"
        in said and "warning" not in said), said
weights('a zip file, as torch.save writes: expected safetensors; in Python: '
        'safetensors.torch.save_file({k: v.', r.write("w.pt", b"PK\x03\x04" + bytes(100)))
files.write_npz(r.path("w.npz"), ROUND)
weights("a .npz of NumPy: expected safetensors; in Python: safetensors.numpy.save_file(",
        r.path("w.npz"))
for protocol in range(2, 6):
    weights("a pickle", r.write("w.pkl", pickle.dumps({"lin.weight": [1.0] * 10}, protocol)))
weights("an HDF5 file: expected safetensors", r.write("w.h5", b"\x89HDF\r\n\x1a\n" + bytes(50)))

# What the model does not have is said; torch's counters are none of it.
for name, more, what in (("more", {"second.weight": ("f", (2,), [1, 2])},
                          b"tensors that M does not have: second.weight\n"),
                         ("counted", {"norm.module.num_batches_tracked": ("q", (), [7])}, None)):
    files.write_safetensors(r.path(name), {**files.read_safetensors(W), **more})
    e = r.run("run", MODEL, "-O0", "--weights", r.path(name))
    assert what in e.stderr if what else b"warning" not in e.stderr, e.stderr
r.done()
