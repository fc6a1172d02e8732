"""Batches: of all rows and edges they are the full step; the same bits for any number of threads
and after a break; fewer edges still learn; what cannot be made of batches is said."""
import json
import os
import random
import re
import signal
import struct
import subprocess
import time

import files
import runs

r = runs.Runs(shared=True)
random.seed(3)
N, F, C = 120, 8, 3
LABEL = [v % C for v in range(N)]
EDGES = [(u, v) for v in range(N) for u in random.sample(range(N), 9)
         if LABEL[u] == LABEL[v] or random.random() < 0.2] + [(5, 5), (7, 5), (7, 5)]
X = [random.gauss(1.0 if f == LABEL[v] else 0.0, 1.0) for v in range(N) for f in range(F)]
ARRAYS = {"edge_index": ("q", (2, len(EDGES)), [u for u, _ in EDGES] + [v for _, v in EDGES]),
          "edge_weight": ("f", (len(EDGES),), [0.5 + (k % 7) / 7 for k in range(len(EDGES))]),
          "x": ("f", (N, F), X), "y": ("q", (N,), LABEL),
          **{f"{m}_mask": ("?", (N,), [int(v % 4 in k) for v in range(N)])
             for m, k in (("train", (0, 1)), ("val", (2,)), ("test", (3,)))}}
DATA = r.path("d.npz")
files.write_npz(DATA, ARRAYS)
MODEL = """model M(hidden = 8, p = 0.0) (g: graph, x: node[F]) -> node[C] {
  a = %s
  b = %s
  return b(g, dropout(relu(a(g, x)), p))
}
train M {
  loss = cross_entropy(M(g, x), y) over train_mask
  optimizer = adam(lr = 0.02)
  epochs = 4
%s}
"""


def model(name, first, second, more=""):
    return r.write(name, MODEL % (first, second, more))


SAGE = model("sage.gnn", "SAGEConv(hidden)", "SAGEConv(C)")
MODELS = [SAGE, model("gcn.gnn", "GCNConv(hidden)", "GCNConv(C)"),
          model("gat.gnn", "GATConv(4, heads = 2)", "GATConv(C)"),
          model("gin.gnn", "GINConv(nn = Linear(hidden))", "GINConv(nn = Linear(C))")]
if runs.SANITIZED:
    MODELS = MODELS[1:3]


def train(path, *args):
    text = r.works("train", path, "--data", DATA, "--undirected", "off", "-q", "--json", *args)
    return json.loads(text)["runs"][0]


def read(name):
    with open(r.path(name), "rb") as f:
        return f.read()


# One batch of all edges is the full step: in any mode, from sparse features, of reordered nodes.
for path in MODELS:
    full = train(path)
    for how in (("--fanout", "all,all"), ("--fanout", "all"), (), ("--fanout", "50,50"),
                ("--fanout", "all,40", "-O", "eager"), ("--reorder", "rcm"),
                ("--without", "hoist,fuse,restrict_rows")):
        one = train(path, "--batch", "1000", *how)
        assert abs(one["loss"] - full["loss"]) < 2e-5 * full["loss"], (path, how, one, full)
        assert one["test_acc"] == full["test_acc"], (path, how, one, full)

# A norm over nodes is of those that a batch computes: here of all, as without batches.
# Others that no edge leads to are not among them.
MOST, MORE = r.path("most.npz"), r.path("more.npz")
ENDS = sorted({u for u, v in EDGES if v % 10})
for path, more in ((MOST, 0), (MORE, 30)):
    masks = {"train": lambda v: v % 10, "val": lambda v: v % 20 == 0,
             "test": lambda v: v % 20 == 10}
    files.write_npz(path, {
        **ARRAYS, "x": ("f", (N + more, F), X + [9.0] * (more * F)),
        "y": ("q", (N + more,), LABEL + [0] * more),
        **{f"{name}_mask": ("?", (N + more,), [int(bool(of(v))) for v in range(N)] + [0] * more)
           for name, of in masks.items()}})
assert {v for v in range(N) if v % 10 == 0} <= set(ENDS), "rows that no batch computes"
NORM = r.write("norm.gnn", MODEL.replace("relu(a(g, x))", "relu(norm(a(g, x)))").replace(
    "  return", "  norm = BatchNorm()\n  return") % ("SAGEConv(hidden)", "SAGEConv(C)", ""))
r.works("train", NORM, "--data", MOST, "--undirected", "off", "-q", "--save", r.path("full"))
for data, *how in ((MOST,), (MOST, "--fanout", "all,all"), (MOST, "--without", "hoist"), (MORE,)):
    r.works("train", NORM, "--data", data, "--undirected", "off", "-q", "--batch", "1000", *how,
            "--save", r.path("one"))
    full, one = (files.read_safetensors(r.path(n)) for n in ("full", "one"))
    for name, (_, _, values) in full.items():
        if name in ("a.lin_l.bias", "norm.module.running_mean"):  # which the norm takes away again
            continue
        assert all(abs(a - b) < 1e-3 for a, b in zip(values, one[name][2])), (how, name)
train(NORM, "--batch", "8", "--fanout", "2,2")

# Rows of several types, each with as many edges of each relation.
def typed(*args):
    text = r.works("train", os.path.join(runs.SAMPLES, "hgt.gnn"), "--data",
                   "synthetic:typed,scale=0.002", "-q", "--json", "--epochs", "3", *args)
    return json.loads(text)["runs"][0]


whole = typed()
for how in ((), ("--fanout", "all,all")):
    one = typed("--batch", "100000", *how)
    assert abs(one["loss"] - whole["loss"]) < 1e-4 * whole["loss"], (how, one, whole)
assert typed("--batch", "32", "--fanout", "4,3")["train_acc"] > 5 * whole["train_acc"]

# Fewer rows and edges learn too, a step at a time.
for path in MODELS:
    few = train(path, "--batch", "16", "--fanout", "3,2", "--epochs", "30")
    assert few["test_acc"] > 0.7, (path, few)
block = train(model("own.gnn", "SAGEConv(hidden)", "SAGEConv(C)",
                    "  batch = rows(16)\n  fanout = [3, all]\n"), "--save", r.path("own"))
train(SAGE, "--batch", "16", "--fanout", "3,all", "--save", r.path("said"))
assert read("own") == read("said"), "the block and the command line"

def catches(p):
    with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
        return bool(int(re.search(r"SigCgt:\s*(\w+)", f.read())[1], 16) >> (signal.SIGINT - 1) & 1)


# The same bits for any number of threads, and after a break; others for another seed.
ARGS = ("--batch", "13", "--fanout", "3,2", "-D", "p=0.3")
for path in MODELS[:3]:
    train(path, *ARGS, "--threads", "1", "--save", r.path("a"))
    train(path, *ARGS, "--threads", "2", "--save", r.path("b"))
    train(path, *ARGS, "--epochs", "2", "--checkpoint", r.path("c"))
    r.works("train", path, "--data", DATA, "--undirected", "off", "-q", *ARGS, "--resume",
            r.path("c"), "--save", r.path("d"))
    train(path, *ARGS, "--seed", "1", "--save", r.path("e"))
    assert read("a") == read("b"), f"{path}: threads"
    assert read("a") == read("d"), f"{path}: a break"
    assert read("a") != read("e"), f"{path}: seeds"

# Ctrl-C in the midst of an epoch; training goes on with the batch that comes next.
def metadata(name):
    data = read(name)
    (n,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + n])["__metadata__"]


LARGE = ("train", SAGE, "--data", "synthetic:nodes=4000,edges=20000,features=8,classes=3", "-q",
         "--batch", "2", "--fanout", "3,2", "--seed", "4")
met = False
for attempt in range(20):
    p = subprocess.Popen([r.gnnc, *map(str, LARGE), "--epochs", "1000000", "--checkpoint",
                          r.path("c")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not catches(p):
        assert p.poll() is None, p.communicate()
    time.sleep(0.1 * attempt)
    p.send_signal(signal.SIGINT)
    said = p.communicate()[1]
    assert p.returncode == 130 and "--resume" in said, said
    epoch, done = (int(metadata("c")[key]) for key in ("epoch", "batches"))
    if not done:
        continue
    met = True
    r.works(*LARGE, "--epochs", epoch + 2, "--resume", r.path("c"), "--save", r.path("on"))
    r.works(*LARGE, "--epochs", epoch + 2, "--save", r.path("whole"))
    assert read("on") == read("whole"), (epoch, done)
    break
assert met, "never in the midst of an epoch"
r.fails(3, "is of batches rows(2); fanout 3, 2, not of rows(3); fanout 3, 2", *LARGE, "--resume",
        r.path("c"), "--batch", "3")
r.fails(3, "is of batches rows(2); fanout 3, 2, not of rows(2); fanout 3, 1", *LARGE, "--resume",
        r.path("c"), "--fanout", "3,1")

# A schedule counts epochs: at the end of each it is where it is without batches.
LINEAR = model("linear.gnn", "SAGEConv(hidden)", "SAGEConv(C)",
               "  schedule = linear(period = 4, gamma = 0.1)\n")
for batch, steps in ((1000, 1), (20, 3)):
    r.works("train", LINEAR, "--data", DATA, "--undirected", "off", "-q", "--batch", batch,
            "--log", r.path("log.jsonl"))
    rates = [json.loads(line)["learning_rate"] for line in read("log.jsonl").decode().split("\n")
             if line]
    want = [0.02 * (1 - 0.9 * (k * steps - 1) / (4 * steps)) for k in range(1, 5)]
    assert all(abs(a - b) < 1e-9 for a, b in zip(rates, want)), (rates, want)

# Nothing is drawn, and no rows at all.
train(SAGE, "--batch", "8", "--fanout", "0,0")
ALONE = r.path("alone.npz")
files.write_npz(ALONE, {**ARRAYS, "edge_index": ("q", (2, 0), []),
                        "edge_weight": ("f", (0,), [])})
r.works("train", SAGE, "--data", ALONE, "--batch", "8", "--fanout", "3,2", "-q")

# What cannot be.
READS_ALL = r.write("all.gnn", MODEL.replace(
    "relu(a(g, x))", "relu(a(g, x)) + sum(a(g, x), over = node)") % (
        "SAGEConv(hidden)", "SAGEConv(C)", ""))
EDGES_LOSS = r.write("edges.gnn", """model M() (g: graph, x: node[F]) -> node[C] {
  return SAGEConv(C)(g, x)
}
train M {
  loss = mean(M(g, x) ^ 2)
  batch = rows(8)
}
""")
for words, status, path, *args in (
        ("`fanout` has 1 number, and messages go over 2 hops", 1, SAGE, "--batch", "8", "--fanout",
         "3"),
        ("`fanout` has 3 numbers, and messages go over 2 hops", 1, SAGE, "--batch", "8", "--fanout",
         "3,2,1"),
        ("takes all rows, and a batch has some of them", 1, READS_ALL, "--batch", "8"),
        ("`batch` goes with a loss over `train_mask`", 1, EDGES_LOSS),
        ("--fanout goes with --batch N", 2, SAGE, "--fanout", "3,2"),
        ("expected numbers of edges into a row", 2, SAGE, "--batch", "8", "--fanout", "3,x"),
        ("expected numbers of edges into a row", 2, SAGE, "--batch", "8", "--fanout", "-3,2"),
        ("expected numbers of edges into a row", 2, SAGE, "--batch", "8", "--fanout", "3,2,"),
        ("--fanout: the LIST is empty", 2, SAGE, "--batch", "8", "--fanout", ""),
        ("--batch", 2, SAGE, "--batch", "0")):
    r.fails(status, words, "train", path, "--data", DATA, "-q", *args)
OWN = r.path("own.gnn")
r.fails(2, "an object trains on all rows that its caller binds", "compile", OWN, "--data", DATA,
        "-q", "-o", r.path("m.o"))
r.works("compile", OWN, "--data", DATA, "-q", "--inference", "-o", r.path("m.o"))
for words, more in (("`batch` is `rows(N)`", "  batch = 8\n"),
                    ("`batch` is `rows(N)`", "  batch = rows(0)\n"),
                    ("`fanout` is a list of numbers of edges", "  batch = rows(8)\n"
                     "  fanout = [3, 1.5]\n"),
                    ("`fanout` goes with `batch = rows(N)`", "  fanout = [3, 2]\n")):
    r.fails(1, words, "train", model("bad.gnn", "SAGEConv(hidden)", "SAGEConv(C)", more), "--data",
            DATA, "-q")
r.done()
