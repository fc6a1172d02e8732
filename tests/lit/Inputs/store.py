"""Data as mapped files: training is the same to the bit in float32, near it in fewer bits, on
batches and on all rows; results come in the order of the source; what is damaged is named."""
import json
import os
import random
import signal
import subprocess
import time

import files
import runs

r = runs.Runs(shared=True)
random.seed(4)
N, F, C, E = 90, 6, 3, 700
LABEL = [v % C for v in range(N)]
X = [random.gauss(1.0 if f == LABEL[v] else 0.0, 1.0) for v in range(N) for f in range(F)]
NPZ = r.path("d.npz")
files.write_npz(NPZ, {
    "edge_index": ("q", (2, E), [random.randrange(N) for _ in range(2 * E)]),
    "edge_weight": ("f", (E,), [0.5 + (k % 7) / 7 for k in range(E)]),
    "edge_attr": ("f", (E, 2), [(k % 5) / 5 for k in range(2 * E)]),
    "x": ("f", (N, F), X), "y": ("q", (N,), LABEL), "target": ("f", (N,), X[:N])})
GCN, SAGE, GAT, HGT, GIN, LINKS = (os.path.join(runs.SAMPLES, m + ".gnn") for m in (
    "gcn", "sage", "gat", "hgt", "gin", "links"))
SYNTHETIC = "synthetic:nodes=500,edges=4000,features=16,classes=3"
TARGET = r.write("target.gnn", """model R() (g: graph, x: node[F], e: edge[2]) -> node[1] {
  h = sum(u -> v in g: sum(e, axis = -1) * mean(x[u], axis = -1))
  return Linear(1)(concat(x, unsqueeze(h, -1)))
}
train R {
  input target: node
  loss = mse(reshape(R(g, x, attr), []), target)
  epochs = 3
}
""")


def convert(source, name, *args):
    path = r.path(name)
    r.works("data", "convert", source, path, "-q", *args)
    return path


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()


def weights(model, data, *args):
    out = r.path("w.safetensors")
    text = r.works("train", model, "--data", data, "-q", "--json", "--save", out, *args)
    return bytes_of(out), json.loads(text)["runs"][0]["loss"]


# The same bits, whatever is trained.
BATCH = ("--batch", 32, "--fanout", "5,3")
for source, runs_of in {
        NPZ: ((GCN, ()), (TARGET, ()), (SAGE, BATCH)),
        SYNTHETIC: ((SAGE, BATCH), (GAT, ()), (GCN, ("--reorder", "rcm")), (LINKS, ())),
        "synthetic:nodes=500,edges=4000,features=64,classes=3,density=0.1": ((GIN, ()),),
        "synthetic:typed,scale=0.0005": ((HGT, ()),)}.items():
    store = convert(source, "a.gnnc")
    for model, args in runs_of:
        one, other = (weights(model, d, "--epochs", 2, *args)[0] for d in (source, store))
        assert one == other, (source, model, args)
    r.works("data", "check", store)

# Fewer bits: what was written as such is what comes back as float32.
for code in ("bfloat16", "int8"):
    narrow = convert(SYNTHETIC, code, "--features", code)
    wide = convert(narrow, code + ".f32", "--features", "float32")
    for model, args in ((GCN, ()), (SAGE, BATCH)):
        few, many = (weights(model, d, "--epochs", 2, *args)[1] for d in (narrow, wide))
        assert abs(few - many) <= 1e-4 * abs(many), (code, model, few, many)
    report = json.loads(r.works("data", "info", narrow, "--json"))
    x = [a for a in report["arrays"] if a["name"] == "x"][0]
    assert x["element"] == {"bfloat16": "bf16", "int8": "u8"}[code], x
    assert report["nodes"] == 500 and x["shape"] == [500, 16], report
    saved = r.path("gcn.safetensors")
    r.works("train", GCN, "--data", narrow, "--epochs", 2, "-q", "--save", saved)
    r.works("run", GCN, "--data", narrow, "--weights", saved, "--importance", r.path("i.csv"))
    r.works("run", GCN, "--data", narrow, "--batches", 2, "--dynamic", "true")
    r.works(GCN, "--data", narrow, "--weights", saved, "-o", r.path("gcn.o"), "--header",
            r.path("gcn.h"))
    assert "gcn_bind_x(gcn_model *m, int64_t rows, const float *data" in bytes_of(
        r.path("gcn.h")).decode()

# Nodes in another order: results stay in that of the source.
plain, turned = convert(SYNTHETIC, "p.gnnc"), convert(SYNTHETIC, "t.gnnc", "--order", "degree")
for name, data in (("p.csv", plain), ("t.csv", turned)):
    r.works("run", GCN, "--data", data, "--weights", saved, "--predictions", r.path(name))
assert bytes_of(r.path("p.csv")) == bytes_of(r.path("t.csv"))
assert "nodes in another order" in r.works("data", "info", turned)
for source in SYNTHETIC, NPZ:
    r.fails(0, "the split was drawn with seed 3, and stays", "data", "convert", source, turned,
            "--order", "degree", "--seed", 3)

# Training alone.
OWN = r.write("own.gnn", """model M(hidden = 8) (g: graph, x: node[F]) -> node[C] {
  a = SAGEConv(hidden)
  b = SAGEConv(C)
  return b(g, relu(a(g, x)))
}
train M {
  loss = cross_entropy(M(g, x), y) over train_mask
  batch = rows(16)
  fanout = [3, 2]
  epochs = 2
}
""")
assert "accuracy" not in r.works("train", OWN, "--data", plain, "--scores", "off")
assert weights(OWN, plain)[0] == weights(OWN, plain, "--scores", "off")[0]
r.fails(2, "--scores off: the train block of", "train", SAGE, "--data", plain, "--scores", "off")
r.fails(2, "--scores off: --predictions", "train", OWN, "--data", plain, "--scores", "off",
        "--predictions", r.path("p.csv"))

# What is wrong.
good = bytes_of(plain)
arrays = {a["name"]: a for a in json.loads(r.works("data", "info", plain, "--json"))["arrays"]}
r.works("train", OWN, "--data", plain, "--evaluate", "batch")
for name, where in (("x", "of x"), ("y", "of y"), ("edges/g/col", "of edges/g/col")):
    at = arrays[name]["at"] + 5
    bad = r.write("bad.gnnc", good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
    for command in (("train", GCN, "--data"), ("train", OWN, "--data"), ("data", "check"),
                    ("train", OWN, "--evaluate", "batch", "--data")):
        r.fails(3, f"{where}) is damaged", *command, bad)
# Damage that a later batch meets is said with the same words, whoever meets it.
at = arrays["x"]["at"] + 499 * 16 * 4
bad = r.write("bad.gnnc", good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
for ahead in (0, 1, 3):
    r.fails(3, "seed 0: " + bad + ": block ", "train", OWN, "--data", bad, "--scores", "off",
            "--batch", "1", "--fanout", "0,0", "--ahead", ahead)
bad = r.write("bad.gnnc", good[:-4096])
r.fails(3, "bad.gnnc: truncated: ", "data", "info", bad)
bad = r.write("bad.gnnc", good[:8] + b"\x07" + good[9:])
r.fails(3, "version 7 of the format: expected 1", "run", GCN, "--data", bad)
r.fails(3, "no store of gnnc", "data", "check", NPZ)
r.fails(3, "expected a zip file of arrays, by its name", "run", GCN, "--data",
        r.write("named.npz", good))
r.fails(2, "'data' has no 'chek'; did you mean 'check'?", "data", "chek", plain)
r.fails(2, "'data convert' takes what to read and a file to write", "data", "convert", plain)
r.fails(2, "which would be lost", "data", "convert", plain, plain)
r.fails(2, "unknown value 'int4'", "data", "convert", plain, r.path("n"), "--features", "int4")
r.fails(3, "cannot open", "data", "convert", "nowhere", r.path("n"))
r.fails(3, "cannot", "data", "convert", NPZ, r.path("no/folder"))
assert not os.path.exists(r.path("n"))

# Killed at any moment, until it comes to an end before: there is a whole store, or none.
target, big = r.path("k.gnnc"), "synthetic:nodes=20000,edges=200000,features=64,classes=3"
none, wait, step = 0, 0.01, 1.8 if runs.SANITIZED else 1.2
while not os.path.exists(target):
    p = subprocess.Popen([r.gnnc, "data", "convert", big, target, "-q"])
    time.sleep(wait)
    p.send_signal(signal.SIGKILL)
    p.wait()
    none += not os.path.exists(target)
    wait *= step
    assert wait < 60, "it does not come to an end"
assert none > 0
r.works("data", "check", target)
os.remove(target)
r.done()
