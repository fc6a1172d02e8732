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
WAYS = (("--fanout", "all,all"), ("--fanout", "50,50"), ("--fanout", "all,40", "-O", "eager"),
        ("--fanout", "all"), (), ("--reorder", "rcm"), ("--without", "hoist,fuse,restrict_rows"))
for k, path in enumerate(MODELS):
    full = train(path)
    for how in WAYS[k::2] if runs.SANITIZED else WAYS:
        one = train(path, "--batch", "1000", *how)
        assert abs(one["loss"] - full["loss"]) < 2e-5 * full["loss"], (path, how, one, full)
        assert one["test_acc"] == full["test_acc"], (path, how, one, full)

# Messages go over as many hops whatever numbers nodes have: sums of few are drawn as those of many.
FEW = r.path("few.npz")
files.write_npz(FEW, {**ARRAYS, "x": ("f", (N, 2), X[:2 * N])})
DROPS = r.write("drops.gnn", MODEL.replace("a(g, x)", "a(g, dropout(x, p))") % (
    "SAGEConv(hidden)", "SAGEConv(C)", ""))
for path in (DROPS, *MODELS):
    few = ("train", path, "--data", FEW, "-D", "p=0.5", "-q", "--batch", "8", "--fanout")
    r.fails(1, "`fanout` has 1 number, and messages go over 2 hops", *few, "3")
    r.works(*few, "3,2")

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
TYPED = "synthetic:typed,scale=" + ("0.0005" if runs.SANITIZED else "0.002")


def typed(*args):
    text = r.works("train", os.path.join(runs.SAMPLES, "hgt.gnn"), "--data", TYPED, "-q", "--json",
                   "--epochs", "3", *args)
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
    for ahead, threads in ((0, 2), (1, 1), (3, 2)):
        one = train(path, *ARGS, "--ahead", ahead, "--threads", threads, "--save", r.path("b"))
        assert read("a") == read("b"), f"{path}: {ahead} batches ahead"
        assert one["batches_per_second"] > 0 and 0 <= one["data_wait"] <= 1, one
assert "data_wait" not in full, full

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
                          r.path("c"), "--ahead", "3"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
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
    r.works(*LARGE, "--epochs", epoch + 2, "--save", r.path("whole"), "--ahead", "0")
    assert read("on") == read("whole"), (epoch, done)
    break
assert met, "never in the midst of an epoch"
r.fails(3, "is of batches rows(2); fanout 3,2, not of rows(3); fanout 3,2", *LARGE, "--resume",
        r.path("c"), "--batch", "3")
r.fails(3, "is of batches rows(2); fanout 3,2, not of rows(2); fanout 3,1", *LARGE, "--resume",
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

# Where a row's neighbours are all alike, some stand for all: any draw is the full step, of every
# layer, with loops and without, whatever the numbers of edges of two hops.
ALIKE = r.path("alike.npz")
PAIRS = [(u, v) for v in range(N) for u in random.sample(range((v + 1) % C, N, C), 9)]
files.write_npz(ALIKE, {
    **{k: a for k, a in ARRAYS.items() if k != "edge_weight"},
    "edge_index": ("q", (2, len(PAIRS)), [u for u, _ in PAIRS] + [v for _, v in PAIRS]),
    "x": ("f", (N, F), [X[(v % C) * F + f] for v in range(N) for f in range(F)])})


def alike(path, *args):
    text = r.works("train", path, "--data", ALIKE, "--undirected", "off", "-q",
                   "--json", *args)
    return json.loads(text)["runs"][0]["loss"]


CONVS = 2 if runs.SANITIZED else 1  # each, or each second
for k, conv in enumerate(("GCNConv(%s)", "SAGEConv(%s)", "GATConv(%s)", "GINConv(nn = Linear(%s))",
                          'SAGEConv(%s, aggr = "max")', "GraphConv(%s)")):
    if k % CONVS:
        continue
    first, second = conv % "hidden", conv % "C"
    full = alike(model("alike.gnn", first, second))
    for how in ("uniform", "replace", "labor"):
        if runs.SANITIZED and how != "replace":
            continue
        few = alike(model("alike.gnn", first, second,
                          f"  batch = rows(999)\n  fanout = [4, 2]\n  draw = {how}\n"))
        assert abs(few - full) < 1e-4 * full, (conv, how, few, full)

# Edges as batches: all of them in one are the full step, whatever their order; fewer learn too.
LINKS = """model L(hidden = 8, out = 4) (g: graph, x: node[F], links: node -> node) -> edge.links {
  a = %s(hidden)
  b = %s(out)
  h = b(g, relu(a(g, x)))
  return edge(u -> v in links: sum(h[u] * h[v], axis = -1))
}
train L {
  loss = bce_with_logits(L(g, x, links), 1) + bce_with_logits(L(g, x, corrupt(links)), 0)
  optimizer = adam(lr = 0.02)
  epochs = 4
%s}
"""


def links(path, *args):
    text = r.works("train", path, "--data", DATA, "--undirected", "on", "-q", "--json", *args)
    return json.loads(text)["runs"][0]


def links_model(name, conv, more):
    return r.write(name, LINKS % (conv, conv, more))


def batch_of(n, more=""):
    return f"  batch = edges({n}) of links\n{more}"


for conv in ("SAGEConv", "GCNConv")[CONVS - 1:]:
    full = links(links_model("full.gnn", conv, ""))["loss"]
    for how in ("", "  fanout = all\n", "  fanout = [all, 90]\n", "  fanout = [90, 90]\n"
                "  draw = labor\n"):
        for args in ((), ("-O", "eager"), ("--without", "hoist,fuse")):
            one = links(links_model("one.gnn", conv, batch_of(9999, how)), *args)["loss"]
            assert abs(one - full) < 2e-5 * full, (conv, how, args, one, full)
            if how:
                break
few = links_model("few.gnn", "SAGEConv", batch_of(64, "  fanout = [4, 3]\n"))
assert links(few, "--epochs", "20")["loss"] < 0.93 * links(few, "--epochs", "1")["loss"]
for more in ("  draw = replace\n", "  draw = labor\n", "  exclude = self\n",
             "  exclude = reverse\n"):
    path = links_model("other.gnn", "SAGEConv", batch_of(64, "  fanout = [4, 3]\n" + more))
    links(path, "--threads", "1", "--save", r.path("a"))
    links(path, "--threads", "2", "--save", r.path("b"))
    links(few, "--save", r.path("c"))
    assert read("a") == read("b") != read("c"), more
    links(path, "--epochs", "2", "--checkpoint", r.path("ck"))
    links(path, "--resume", r.path("ck"), "--save", r.path("d"))
    assert read("a") == read("d"), more
    r.fails(3, "is of batches edges(64) of links; fanout 4,3; " + more.strip().replace(" =", ""),
            "train", few, "--data", DATA, "--undirected", "on", "-q", "--resume", r.path("ck"))

# `none` is to say nothing; where all edges are drawn, those that are left out are left out of all.
links(few, "--save", r.path("a"))
none = batch_of(64, "  fanout = [4, 3]\n  exclude = none\n")
links(links_model("none.gnn", "SAGEConv", none), "--save", r.path("b"))
assert read("a") == read("b"), "none is left out"
for conv in ("SAGEConv", "GCNConv")[CONVS - 1:]:
    for ends in ("self", "reverse"):
        of = [links(links_model("out.gnn", conv, batch_of(64, f"  exclude = {ends}\n" + how)))
              for how in ("", "  fanout = all\n", "  fanout = [90, 90]\n",
                          "  fanout = [90, 90]\n  draw = labor\n")]
        assert all(abs(o["loss"] - of[0]["loss"]) < 2e-6 for o in of), (conv, ends, of)

# The way back is a relation of its own: of all edges in one batch its other edges are left.
USERS, ITEMS = 40, 30
LIKES = random.sample([(u, i) for u in range(USERS) for i in range(ITEMS)], 160)
OTHER = [(i, u) for i, u in random.sample([(i, u) for u in range(USERS) for i in range(ITEMS)], 60)
         if (u, i) not in LIKES]
TWO = """model T(out = 4) (likes: node.user -> node.item, liked: node.item -> node.user,
                     x: node.user[F], z: node.item[F]) -> edge.likes {
  i = Linear(out)(z)
  h = Linear(out)(x) + {0}(v -> w in liked: i[v])
  return edge(u -> v in likes: sum(h[u] * i[v], axis = -1))
}
train T {
  loss = bce_with_logits(T(likes, liked, x, z), 1) +
         bce_with_logits(T(corrupt(likes), liked, x, z), 0)
  optimizer = adam(lr = 0.02)
  epochs = 4
%s}
"""


def two(back, more, what):
    ends = {"user__likes__item": LIKES, "item__liked__user": back}
    files.write_npz(r.path("two.npz"), {
        **{f"{name}.edge_index": ("q", (2, len(e)), [u for u, _ in e] + [v for _, v in e])
           for name, e in ends.items()},
        "user.x": ("f", (USERS, 4), X[:4 * USERS]), "item.x": ("f", (ITEMS, 4), X[-4 * ITEMS:])})
    path = r.write("two.gnn", TWO.replace("{0}", what) % more)
    text = r.works("train", path, "--data", r.path("two.npz"), "-q", "--json")
    return json.loads(text)["runs"][0]["loss"]


BACK = [(i, u) for u, i in LIKES] + OTHER
for fanout, what in (("", "sum"), ("", "mean"), ("  fanout = [90]\n", "sum"),
                     ("  fanout = [90]\n", "mean")):
    ways = {ends: two(BACK, f"  batch = edges(999) of likes\n  exclude = {ends}\n" + fanout, what)
            for ends in ("none", "self", "reverse")}
    every, left = two(BACK, "", what), two(OTHER, "", what)
    assert abs(every - left) > 1e-3 * left, (every, left)
    assert all(abs(ways[k] - every) < 2e-5 for k in ("none", "self")), (ways, every)
    assert abs(ways["reverse"] - left) < 2e-5, (ways, left)

# Facts: columns of the batch's edges come along, and those of which batches are made are a mask's.
os.mkdir(r.path("kg"))
for name, first in (("train", 0), ("valid", 1), ("test", 2)):
    r.write(f"kg/{name}.txt", "".join(
        f"e{u}\tr{(u + v) % 3}\te{v}\n" for k, (u, v) in enumerate(EDGES) if k % 6 == 0 or
        k % 3 == first))
FACTS = r.write("facts.gnn", """model D(dim = 8) (g: graph, kind: edge of int) -> edge {
  param emb: node[dim] = normal(0.0, 0.5)
  param rel: kind[dim] = normal(0.0, 0.5)
  return distmult(g, emb, emb, rel[kind])
}
fn drawn(M, g, kind) {
  wrong = corrupt(g, 2)
  return bce_with_logits(M(g, kind), 1) + bce_with_logits(M(wrong, carry(kind, wrong)), 0)
}
train D {
  loss = drawn(D, %s)
  optimizer = %s
  epochs = 3
%s}
""" % ("%s", "%s", "%s"))
with open(FACTS, encoding="utf-8") as f:
    TEXT = f.read()


def facts(what, optimizer, more, *args):
    path = r.write("f.gnn", TEXT % (what, optimizer, more))
    text = r.works("train", path, "--data", r.path("kg"), "-q", "--json", *args)
    return json.loads(text)["runs"][0]["loss"]


ONE = "  batch = edges(99999) of g over g.train_mask\n"
for optimizer in ("adam(lr = 0.05)", 'adagrad(lr = 0.1, rows = "touched")'):
    full = facts("only(g, g.train_mask), only(g, g.train_mask).kind", optimizer, "")
    one = facts("g, g.kind", optimizer, ONE)
    assert abs(one - full) < 2e-5 * full, (optimizer, one, full)
    facts("g, g.kind", optimizer, "  batch = edges(32) of g over g.train_mask\n")
r.fails(1, "batches touch different rows of a table", "train", r.write("f.gnn", TEXT % (
    "g, g.kind", optimizer, ONE + "  accumulate = 2\n")), "--data", r.path("kg"), "-q")

# Parts of the graph: one of all nodes is the full step; others learn; threads and breaks do not
# matter.
def part(name, sampler):
    return model(name, "GCNConv(hidden)", "GCNConv(C)", f"  sampler = {sampler}\n")


full = train(MODELS[1])["loss"] if not runs.SANITIZED else train(MODELS[0])["loss"]
assert abs(train(part("p.gnn", "cluster(1)"))["loss"] - full) < 2e-5 * full
for sampler in ("cluster(parts = 6, each = 2)", "saint_node(40)", "saint_edge(edges = 30)",
                "saint_walk(roots = 20, length = 2, steps = 3)"):
    path = part("p.gnn", sampler)
    few = train(path, "--epochs", "40")
    assert few["test_acc"] > 0.7, (sampler, few)
    train(path, "--threads", "1", "--save", r.path("a"))
    train(path, "--threads", "2", "--save", r.path("b"))
    train(path, "--epochs", "2", "--checkpoint", r.path("c"))
    train(path, "--resume", r.path("c"), "--save", r.path("d"))
    assert read("a") == read("b") == read("d"), sampler
    r.fails(2, "do not go with `sampler`", "train", path, "--data", DATA, "-q", "--batch", "8")
r.fails(3, "is of batches saint_walk(20, 2, 3), not of cluster(6, 1, 0)", "train",
        part("p.gnn", "cluster(6)"), "--data", DATA, "--undirected", "off", "-q", "--resume",
        r.path("c"))
SAMPLED_TYPES = r.write("typed.gnn", open(os.path.join(runs.SAMPLES, "hgt.gnn"),
                                          encoding="utf-8").read().replace(
    "optimizer", "sampler = cluster(4)\n  optimizer", 1))
r.fails(3, "draws parts of one graph", "train", SAMPLED_TYPES, "--data",
        "synthetic:typed,scale=0.002", "-q")

# Gradients of three batches, the last of fewer rows, make the update that one batch would.
for optimizer in ("adam(lr = 0.02, amsgrad = true)", "sgd(lr = 0.1, momentum = 0.9)"):
    for more in ("", "  clip_norm = 0.01\n  schedule = linear(period = 4, gamma = 0.1)\n"):
        def by(name, batch):
            path = model(name, "GCNConv(hidden)", "GCNConv(C)", more + batch)
            with open(path, encoding="utf-8") as f:
                text = f.read().replace("adam(lr = 0.02)", optimizer)
            train(r.write(name, text), "--save", r.path("w"), "--log", r.path("log.jsonl"))
            return files.read_safetensors(r.path("w")), read("log.jsonl").decode()

        (one, log), (sum_of, log3) = by("one.gnn", ""), by(
            "three.gnn", "  batch = rows(23)\n  accumulate = 3\n")
        rates = [[json.loads(line)["learning_rate"] for line in text.split("\n") if line]
                 for text in (log, log3)]
        assert rates[0] == rates[1], rates
        for name, (_, _, values) in one.items():
            assert all(abs(x - y) < 2e-6 for x, y in zip(values, sum_of[name][2])), name
path = model("sum.gnn", "SAGEConv(hidden)", "SAGEConv(C)",
             "  batch = rows(9)\n  fanout = [3, 2]\n  accumulate = 3\n")
train(path, "--save", r.path("a"))
train(path, "--epochs", "2", "--checkpoint", r.path("c"))
train(path, "--resume", r.path("c"), "--save", r.path("b"))
assert read("a") == read("b"), "a break where gradients are added up"

# Parts weigh by their labelled rows: two that no edge joins are one step of both.
HALVES = r.path("halves.npz")
APART = [(u, v) for u, v in EDGES if u % 2 == v % 2]
files.write_npz(HALVES, {
    **ARRAYS, "edge_index": ("q", (2, len(APART)), [u for u, _ in APART] + [v for _, v in APART]),
    "edge_weight": ("f", (len(APART),), [0.5 + (k % 7) / 7 for k in range(len(APART))]),
    "train_mask": ("?", (N,), [int(v % 2 == 0 or v % 12 == 1) for v in range(N)])})
for optimizer in ("adam(lr = 0.02)", "sgd(lr = 0.5)"):
    weights = []
    for sampler in ("  sampler = cluster(2, 2)\n", "  sampler = cluster(2)\n  accumulate = 2\n",
                    "  sampler = cluster(2)\n"):
        with open(model("halves.gnn", "GCNConv(hidden)", "GCNConv(C)", sampler),
                  encoding="utf-8") as f:
            text = f.read().replace("adam(lr = 0.02)", optimizer)
        r.works("train", r.write("halves.gnn", text), "--data", HALVES, "--undirected", "off", "-q",
                "--save", r.path("w"))
        weights.append([x for _, _, v in files.read_safetensors(r.path("w")).values() for x in v])
    assert all(abs(x - y) < 2e-6 for x, y in zip(weights[0], weights[1])), optimizer
    assert any(abs(x - y) > 1e-3 for x, y in zip(weights[0], weights[2])), optimizer

# Figures of epochs by batches: those of all at once, where all edges count.
for path in MODELS[:2]:
    for args in ((), ("--fanout", "3,2"), ("--threads", "1")):
        one, some = (train(path, "--batch", "16", *args, "--evaluate", how)
                     for how in ("full", "batch"))
        keys = ["loss"] if "--fanout" in args else ["loss", "train_acc", "val_acc", "test_acc"]
        assert all(one[k] == some[k] for k in keys), (path, args, one, some)
    thin = ("--batch", "16", "--fanout", "1,1", "--evaluate")
    full, one, again = (train(path, *thin, *how) for how in (
        ("full",), ("batch", "--threads", "1"), ("batch", "--threads", "2")))
    keys = ["train_acc", "val_acc", "test_acc"]
    assert [one[k] for k in keys] == [again[k] for k in keys] != [full[k] for k in keys], (
        path, full, one, again)
said = train(model("ev.gnn", "SAGEConv(hidden)", "SAGEConv(C)",
                   "  batch = rows(16)\n  evaluate = batch\n  select = best\n"))
assert said["test_acc"] > 0.5, said
for status, words, path, *args in (
        (2, "--evaluate batch goes with --batch N", SAGE),
        (2, "has results of the masks' rows alone", SAGE, "--batch", "8", "--predictions",
         r.path("p.csv")),
        (1, "has figures of results, and no `val_loss`", model(
            "vl.gnn", "SAGEConv(hidden)", "SAGEConv(C)", "  monitor = val_loss\n  select = best\n"),
         "--batch", "8")):
    r.fails(status, words, "train", path, "--data", DATA, "-q", "--evaluate", "batch", *args)

# By weights: edges of weight 0 never come, so that those which do are alike.
BY = r.path("by.npz")
OTHERS = [(u, v) for v in range(N) for u in random.sample(range(v % C, N, C), 5)]
files.write_npz(BY, {
    **ARRAYS, "edge_index": ("q", (2, len(PAIRS + OTHERS)),
                             [u for u, _ in PAIRS + OTHERS] + [v for _, v in PAIRS + OTHERS]),
    "edge_weight": ("f", (len(PAIRS + OTHERS),), [1.0 + k % 2 for k in range(len(PAIRS))] +
                    [0.0] * len(OTHERS)),
    "x": ("f", (N, F), [X[(v % C) * F + f] for v in range(N) for f in range(F)])})
for how in ("uniform", "replace", "labor"):
    path = model("by.gnn", "SAGEConv(hidden)", "SAGEConv(C)",
                 f"  batch = rows(999)\n  fanout = [4, 2]\n  draw = {how}\n  draw_by = weight\n")
    few = json.loads(r.works("train", path, "--data", BY, "--undirected", "off", "-q",
                             "--json"))["runs"][0]["loss"]
    full = alike(SAGE)
    assert abs(few - full) < 1e-4 * full, (how, few, full)
NEGATIVE = r.path("negative.npz")
files.write_npz(NEGATIVE, {**ARRAYS, "edge_weight": (
    "f", (len(EDGES),), [-1.0 + k % 3 for k in range(len(EDGES))])})
r.fails(3, "an edge weighs -1", "train", path, "--data", NEGATIVE, "-q")

# What is no number is counted in all batches: of nodes alone, in a batch that is not the last.
ALONE, ODD = 20, r.path("odd.npz")
files.write_npz(ODD, {
    **ARRAYS, "x": ("f", (N + ALONE, F), X + [3e38] * F + [1.0] * (F * (ALONE - 1))),
    "y": ("q", (N + ALONE,), LABEL + [0] * ALONE),
    **{f"{m}_mask": ("?", (N + ALONE,), ARRAYS[f"{m}_mask"][2] + [int(m == "test")] * ALONE)
       for m in ("train", "val", "test")}})
SQUARED = r.write("squared.gnn", MODEL.replace("a(g, x)", "a(g, x * x)") % (
    "SAGEConv(hidden)", "SAGEConv(C)", ""))
for evaluate in ("full", "batch"):
    text = r.works("train", SQUARED, "--data", ODD, "--undirected", "off", "-q", "--json",
                   "--batch", "8", "--evaluate", evaluate)
    assert json.loads(text)["not_finite"] == 1, (evaluate, text)

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
        ("`accumulate` goes with --batch N", 2,
         model("none.gnn", "SAGEConv(hidden)", "SAGEConv(C)", "  accumulate = 2\n")),
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
                    ("`batch` is `rows(N)`", "  batch = edges(8)\n"),
                    ("`of` belongs to `batch`", "  epochs = 3 of g\n"),
                    ("`over` belongs to `loss`", "  batch = rows(8) over train_mask\n"),
                    ("the data have no relation `h`", "  batch = edges(8) of h\n"),
                    ("a mask of the data holds", "  batch = edges(8) of g over train_mask\n"),
                    ("the loss is over none of those", "  batch = edges(8) of g\n"),
                    ("`exclude` goes with `batch = edges(N) of`",
                     "  batch = rows(8)\n  exclude = self\n"),
                    ("`draw` is `uniform`, `replace`, `labor` or `last`",
                     "  batch = rows(8)\n  draw = all\n"),
                    ("`sampler` is `cluster(parts, each)`", "  sampler = 3\n"),
                    ("`sampler` is `cluster(parts, each)`", "  sampler = nodes(3)\n"),
                    ("a step has 3 of 2 parts", "  sampler = cluster(2, 3)\n"),
                    ("`saint_walk` needs `roots`", "  sampler = saint_walk(length = 3)\n"),
                    ("`cluster` takes `parts`, `each`", "  sampler = cluster(2, steps = 3)\n"),
                    ("`saint_node` takes `nodes`, `steps`", "  sampler = saint_node(2, 3)\n"),
                    ("a number of 1 to 2147483647 is needed", "  sampler = saint_node(0)\n"),
                    ("`batch` does not go with `sampler`",
                     "  sampler = saint_node(9)\n  batch = rows(3)\n"),
                    ("`accumulate` is an integer of at least 1",
                     "  batch = rows(9)\n  accumulate = 0\n"),
                    ("`evaluate` is `full` or `batch`", "  batch = rows(9)\n  evaluate = no\n"),
                    ("`draw_by` is a number that edges have",
                     "  batch = rows(9)\n  fanout = [3, 2]\n  draw_by = time\n"),
                    ("`draw_by` goes with `fanout`",
                     "  batch = rows(9)\n  draw_by = weight\n"),
                    ("`draw` goes with `batch`", "  draw = labor\n"),
                    ("`fanout` goes with `batch`", "  fanout = [3, 2]\n")):
    r.fails(1, words, "train", model("bad.gnn", "SAGEConv(hidden)", "SAGEConv(C)", more), "--data",
            DATA, "-q")
r.done()
