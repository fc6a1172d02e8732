"""Data of one's own: inputs of other names, no features, no labels, keys that are misspelt, and
what is said of them."""
import json
import math
import os

import files
import runs

r = runs.Runs(shared=True)
GCN = os.path.join(runs.SAMPLES, "gcn.gnn")
N, C = 30, 3
ring = [(v, (v + k) % N) for v in range(N) for k in (1, 2, 5)]
EDGES = ("q", (2, len(ring)), [u for u, _ in ring] + [v for _, v in ring])
X = ("f", (N, 4), [float((v * 7 + k * 3) % 11) / 11 for v in range(N) for k in range(4)])
Y = ("q", (N,), [v % C for v in range(N)])
MASKS = {f"{name}_mask": ("?", (N,), [int(v % 3 == k) for v in range(N)])
         for k, name in enumerate(("train", "val", "test"))}
ALL = {"edge_index": EDGES, "x": X, "y": Y, **MASKS}


def npz(name, arrays):
    files.write_npz(r.path(name), {k: v for k, v in arrays.items() if v is not None})
    return r.path(name)


def said(*args):
    """What a run says beside its report."""
    e = r.run(*args)
    assert e.returncode == 0, e.stderr.decode()
    return e.stderr.decode()


# An input that the train block declares, of the data's array of that name; nothing here needs
# labels.
REG = """model R() (g: graph, x: node[F]) -> node[2] {
  l = Linear(2)
  return l(x)
}
train R {
  input target: node[2]
  loss = mse(R(g, x), target) over train_mask
  optimizer = adam(lr = 0.1)
  epochs = 300
}
"""
reg = r.write("reg.gnn", REG)
TARGET = ("d", (N, 2),
          [z for v in range(N) for z in (sum(X[2][4 * v:4 * v + 4]), 1 - 2 * X[2][4 * v])])
plain = {"edge_index": EDGES, "x": X, "target": TARGET, **MASKS}
own = npz("own.npz", plain)
for how in ("none", "rcm"):
    out = r.works("train", reg, "--data", own, "-q", "--reorder", how, "--predictions",
                  r.path("reg.npz"))
    assert "accuracy" not in out and float(out.split("loss ")[1].split("\n")[0]) < 1e-3, out
    got = files.read_npz(r.path("reg.npz"))["out"]
    assert got[1] == (N, 2) and max(abs(a - b) for a, b in zip(got[2], TARGET[2])) < 0.1, how
labelled = npz("labelled.npz", {**plain, "y": Y})
assert "accuracy" not in r.works("train", reg, "--data", labelled, "-q", "--classes", 3)
assert ", target\n" in said("train", reg, "--data", own), said("train", reg, "--data", own)
for shape, n in (((N, 3), 3 * N), ((N,), N), ((N - 1, 2), 2 * N - 2)):
    bad = npz("bad.npz", {**plain, "target": ("f", shape, [0.0] * n)})
    r.fails(3, f"target: shape [{', '.join(map(str, shape))}]: expected [30, 2]", "train", reg,
            "--data", bad)
bad = npz("bad.npz",
          {**plain, "target": ("f", (N, 2), [0.0] * 7 + [float("nan")] + [0.0] * (2 * N - 8))})
r.fails(3, "target: number 7 is nan: expected finite numbers, and 1 of 60 are not", "train", reg,
        "--data", bad)
bad = npz("bad.npz", {**plain, "target": files.npy("b", (4, 2), [0] * 8, "|O")})
r.fails(3, "target: expected numbers", "train", reg, "--data", bad)
r.fails(3, "reads an input `target`", "train", reg, "--data",
        npz("bad.npz", {**plain, "target": None}))
r.fails(3, "y[0] is 0.5: expected a class, or -1; other numbers to learn go under a name of "
        "their own", "train", GCN, "--data", npz("float.npz", {**ALL, "y": ("f", (N,), [0.5] * N)}))
r.fails(1, "so there is no `train_mask`", "train", reg, "--data",
        npz("bad.npz", {"edge_index": EDGES, "x": X, "target": TARGET}))

# A further input of the model, one row for all, and one that may be left out.  Names may be long.
LONG = "shift" * 40
model = r.write("more.gnn", f"""\
model M() (g: graph, x: node[F], {LONG}: [4], z: node = none) -> node[4] {{
  h = x + {LONG}
  if z != none {{ h = h * unsqueeze(z, -1) }}
  return h
}}
""")
shift = ("f", (4,), [1.0, 2.0, 3.0, 4.0])
for z in (None, ("i", (N, 1), list(range(N)))):
    data = npz("more.npz", {**ALL, "y": None, LONG: shift, "z": z})
    r.works("run", model, "--data", data, "-q", "--reorder", "degree", "--predictions",
            r.path("more.out.npz"))
    want = [(X[2][4 * v + k] + shift[2][k]) * (v if z else 1) for v in range(N) for k in range(4)]
    got = files.read_npz(r.path("more.out.npz"))["out"][2]
    assert max(abs(a - b) for a, b in zip(got, want)) < 1e-4, (z, got[:8], want[:8])

# Values of edges: what a train block declares is what it learns, and not the features of edges; of
# two inputs of a model each has its own.
EDGE = """model E() (g: graph, x: node[F], attr: edge[D], scale: edge) -> edge {
  a = Linear(1)
  b = Linear(1)
  y = b(x)
  return scale * sum(a(attr) + edge(u -> v in g: y[u] - y[v]), axis = -1)
}
train E {
  input scale: edge
  input wish: edge
  loss = mse(E(g, x, attr, scale), wish)
  optimizer = adam(lr = 0.05)
  epochs = 600
}
"""
edge = r.write("edge.gnn", EDGE)
E = len(ring)
ATTR = [float((k * 5) % 7) / 7 for k in range(2 * E)]
SCALE = [1.0 + k % 3 for k in range(E)]
WISH = [SCALE[k] * (2 * ATTR[2 * k] - ATTR[2 * k + 1] + X[2][4 * u] - X[2][4 * v] + 0.5)
        for k, (u, v) in enumerate(ring)]
values = {"edge_index": EDGES, "x": X, "edge_attr": ("f", (E, 2), ATTR),
          "scale": ("f", (E,), SCALE), "wish": ("f", (E, 1), WISH)}
data = npz("edges.npz", values)
for how in ("none", "degree"):
    out = r.works("train", edge, "--data", data, "-q", "--reorder", how, "--predictions",
                  r.path("edge.npz"))
    assert float(out.split("loss ")[1].split("\n")[0]) < 1e-3, out
    got = files.read_npz(r.path("edge.npz"))["out"]
    assert (got[1] == (E,) and max(abs(a - b) for a, b in zip(got[2], WISH)) < 0.2), (
        how, got[2][:9], WISH[:9])
text = said("train", edge, "--data", data, "--epochs", 1)
assert "warning" not in text and ", scale, wish\n" in text, text
bad = npz("bad.npz", {**values, "wish": ("f", (N,), WISH[:N])})
r.fails(3, f"wish: shape [{N}]: expected [{E}], as the model declares it", "train", edge, "--data",
        bad)
r.fails(3, f"reads an input `wish`", "train", edge, "--data",
        npz("bad.npz", {**values, "wish": None}))
for kind, name in (("edge", "attr"), ("node", "x")):
    both = r.write("both.gnn", f"model B() (g: graph, a: {kind}[2], b: {kind}) -> {kind}[2] {{ "
                   f"return a * unsqueeze(b, -1) }}\n")
    r.fails(3, f"of several inputs of {kind}s the one named `{name}` is their features", "run",
            both, "--data", npz("both.npz", {**values, "b": (
                "f", (E if kind == "edge" else N,), [1.0] * (E if kind == "edge" else N))}))
one = r.write("one.gnn",
              "model O() (g: graph, x: node[F]) -> edge { return edge(u -> v in g: x[u][0]) }\n"
              "train O { input wish: edge; loss = mse(O(g, x), wish) }\n")
bare = npz("bare.npz", {k: values[k] for k in ("edge_index", "x", "wish")})
r.fails(3, "wish: the model declares a value of edges, and edges are not those of the file",
        "explain", one, "--data", bare, "--undirected", "on")
narrow = r.write("narrow.gnn", REG.replace("input target", "input x: node[3]\n  input target"))
r.fails(1, "the input `x` is `node[3]`, this is node[4]", "train", narrow, "--data", own)

# Norms of values of edges, in an MLP too: where each node has one edge out and one in, those of the
# edges are those of their sources.
NORM = """model M(on = "nodes") (g: graph, x: node[F]) -> node[C] {
  l = Linear(F)
  a = BatchNorm(momentum = 0.5)
  b = LayerNorm()
  m = MLP([6, C])
  h = l(x)
  e = on == "nodes" ? edge(u -> v in g: m(b(a(h)))[u]) : m(b(a(edge(u -> v in g: h[u]))))
  return sum(u -> v in g: e)
}
train M { loss = cross_entropy(M(g, x), y) over train_mask; optimizer = sgd(lr = 0.5) }
"""
norm = r.write("norm.gnn", NORM)
once = ("q", (2, N), [*range(N), *((v + 1) % N for v in range(N))])
round_ = npz("round.npz", {**ALL, "edge_index": once})
ended = []
for on in ("nodes", "edges"):
    out = r.works("train", norm, "--data", round_, "-q", "--epochs", 20, "-D", f"on={on}", "--save",
                  r.path(f"{on}.safetensors"))
    ended.append((out.split("\n")[0], files.read_safetensors(r.path(f"{on}.safetensors"))))
assert (ended[0][0] == ended[1][0]
        and ended[0][1].keys() == ended[1][1].keys()), (ended[0][0], ended[1][0])
for k, (_, _, numbers) in ended[0][1].items():
    assert max(abs(a - b) for a, b in zip(numbers, ended[1][1][k][2])) < 1e-3, k

# Batches have the inputs of their nodes and edges.
parts = r.write("parts.gnn", """\
model M() (g: graph, x: node[F], pos: node[2], bias: [3], e: edge[2], attr: edge[D]) -> node[3] {
  return Linear(3)(concat(x, pos)) + bias + sum(u -> v in g: (
    sum(e, axis = -1, keep = true) * sum(attr, axis = -1, keep = true)))
}
""")
more = {**ALL, "pos": ("f", (N, 2), [1.0] * (2 * N)), "bias": ("f", (3,), [1.0, 2.0, 3.0]),
        "e": ("f", (len(ring), 2), [1.0] * (2 * len(ring))),
        "edge_attr": ("f", (len(ring), 5), [2.0] * 5 * len(ring))}
for dynamic in ("true", "false"):
    text = r.works("run", parts, "--data", npz("parts.npz", more), "-q", "--batches", 4,
                   "--dynamic", dynamic)
    assert text.startswith(f"4 batches, dynamic {dynamic}: "), text
bad = npz("parts.npz", {**more, "pos": None})
r.fails(3, "`pos`, of which", "run", parts, "--data", bad, "--batches", 2)

# Keys that nothing reads are named.
text = said("train", GCN, "--data",
            npz("typo.npz", {**ALL, "edge_weights": ("f", (len(ring),), [1.0] * len(ring)),
                             "foo": shift, "class_names": files.npy("b", (1,), [0], "|O")}),
            "--epochs", 1)
assert ("warning: nothing reads the array `edge_weights` of the data; did you mean "
        "`edge_weight`?" in text), text
assert ("warning: nothing reads the array `foo` of the data\n" in text
        and "class_names" not in text), text
assert "warning" not in said("train", GCN, "--data", npz("typo.npz", ALL), "--epochs", 1)

# What was read is said: weights, features of edges, normalised rows, masks.
text = said("run", GCN, "--data",
            npz("all.npz", {**ALL, "edge_weight": ("f", (len(ring),), [2.0] * len(ring)),
                            "edge_attr": ("f", (len(ring), 5), [2.0] * 5 * len(ring))}))
assert (
    "all: 30 nodes, 90 edges with weights, 5 edge features, 4 features, 3 classes\n" in text), text
assert ("10 nodes to train on, 10 for validation, 10 for test\n" in text
        and ".0 MB" not in text), text
# What lies on edges and nothing reads is named, and no entry point of a compiled model asks for it.
assert "\nGCN does not read the edges' features\n" in text, text
GAT = os.path.join(runs.SAMPLES, "gat.gnn")
for model, unread, read in ((GAT, "GAT does not read the edges' weights and features\n", 0),
                            (GCN, "", 1)):
    text = said("train", model, "--data", r.path("all.npz"), "--epochs", 1)
    assert unread in text and "does not read the edges' weights\n" not in text, text
    r.works(model, "--data", r.path("all.npz"), "-q", "-o", r.path("on.o"), "--header",
            r.path("on.h"))
    assert ("bind_g_weight" in open(r.path("on.h")).read()) == read, model
text = said("run", GCN, "--data", r.path("all.npz"), "--normalize-features", "on")
assert "4 features (rows divided by their sums)" in text, text
d = json.loads(r.works("run", GCN, "--data", r.path("all.npz"), "--json", "-q",
                       "--normalize-features", "on"))
assert (d["edge_weights"], d["edge_features"], d["features"], d["features_normalized"],
        d["classes"]) == (True, 5, 4, True, 3), d
none = {k: ("?", (N,), [0] * N) for k in MASKS}
text = said("train", GCN, "--data", npz("none.npz", {**ALL, "train_mask": none["train_mask"]}),
            "--epochs", 1)
assert "warning: train_mask is empty" in text, text
assert "no label" not in text, text

# Classes counted from 1, and what does not fit is named with what it is.
text = said("train", GCN, "--data",
            npz("one.npz", {**ALL, "y": ("q", (N,), [1 + v % C for v in range(N)])}), "--epochs", 1)
assert "4 classes\n" in text and "warning: no node is of class 0" in text, text
text = said("train", GCN, "--data",
            npz("gap.npz", {**ALL, "y": ("q", (N,), [1 + 2 * (v % 2) for v in range(N)])}),
            "--epochs", 1)
assert "4 classes\n" in text and "warning" not in text, text
r.fails(3, "edge_weight: shape [5]: expected 90 rows", "run", GCN, "--data",
        npz("bad.npz", {**ALL, "edge_weight": ("f", (5,), [1.0] * 5)}))
r.fails(3, "edge_index: edge 1 ends at -1: expected a node", "run", GCN, "--data",
        npz("bad.npz", {**ALL, "edge_index": ("q", (2, 2), [0, 1, 2, -1])}))

# Splits as numbers of nodes, and as a column a split, are those of masks.
DEGREE = r.write("in_degree.gnn", "model M() (g: graph) -> node {\n  return degree(g)\n}\n")
parts = {name: [v for v in range(N) if v % 3 == k]
         for k, name in enumerate(("train", "valid", "test"))}
bare = {"edge_index": EDGES, "x": X, "y": Y}
turned = {key: ("?", (N, 2), [b for bit in MASKS[key][2] for b in (1, bit)]) for key in MASKS}
ways = (({**bare, **MASKS}, ()),
        ({**bare, **{f"{name}_idx": ("q", (len(v),), v) for name, v in parts.items()}}, ()),
        ({**bare, **turned}, ("--split", 1)))
weights = set()
for arrays, options in ways:
    text = said("train", GCN, "--data", npz("split.npz", arrays), "--epochs", 3, "--save",
                r.path("split.st"), *options)
    assert ("10 nodes to train on, 10 for validation, 10 for test\n" in text
            and "warning" not in text), text
    weights.add(open(r.path("split.st"), "rb").read())
assert len(weights) == 1
both = said("train", GCN, "--data", npz("both.npz", {**ways[0][0], **ways[1][0]}), "--epochs", 1)
assert "warning: nothing reads the array `train_idx` of the data\n" in both, both

# What scipy.sparse.save_npz writes: entry (i, j) is the edge i -> j.  Here 0 -> 1 of weight 1.5
# twice (as coordinates), 2 -> 1, 3 -> 0.
def scipy(kind, **arrays):
    return {**arrays, "format": files.npy("B", (), list(kind.encode()), "|S3"),
            "shape": ("q", (2,), [4, 4])}
for arrays in (scipy("csr", indices=("i", (3,), [1, 1, 0]), indptr=("i", (5,), [0, 1, 1, 2, 3]),
                     data=("d", (3,), [3, 1, 1])),
               scipy("csc", indices=("i", (3,), [3, 0, 2]), indptr=("i", (5,), [0, 1, 3, 3, 3]),
                     data=("d", (3,), [1, 3, 1])),
               scipy("coo", row=("i", (4,), [0, 0, 2, 3]), col=("i", (4,), [1, 1, 1, 0]),
                     data=("f", (4,), [1.5, 1.5, 1, 1]), _is_array=("?", (), [1]))):
    text = said("run", DEGREE, "--data", npz("scipy.npz", arrays), "--predictions",
                r.path("degrees.npz"))
    assert "with weights" in text and "warning" not in text, text
    assert files.read_npz(r.path("degrees.npz"))["out"][2] == [1, 4, 0, 0], arrays
# A spreadsheet's byte order mark; features of edges under OGB's name.
assert "3 nodes, 2 edges" in said("run", DEGREE, "--data",
                                  r.write("bom.csv", b"\xef\xbb\xbf0,1\r\n1,2\r\n"))
assert "90 edges, 2 edge features" in said(
    "run", DEGREE, "--data", npz("ogb.npz", {**bare, "edge_feat": ("f", (90, 2), [1.0] * 180)}))
# Labels that are no numbers from 0 are told by how few of so many classes occur.
few = said("train", GCN, "--data",
           npz("few.npz", {**ALL, "y": ("q", (N,), [10 * (1 + v % C) for v in range(N)])}),
           "--epochs", 1)
assert "31 classes, of which 3 occur\n" in few, few

# One class is none to choose by.
r.fails(3, "and lone has one class alone; --classes N says how many there are", "train", GCN,
        "--data", npz("lone.npz", {**ALL, "y": ("q", (N,), [0] * N)}))

# Many small graphs, as docs/data.md has them: rings of five nodes, and which class a ring is of
# says the sum of its features.
GRAPHS, SIZE = 24, 5
NODES = GRAPHS * SIZE
inner = [(SIZE * k + v, SIZE * k + (v + 1) % SIZE) for k in range(GRAPHS) for v in range(SIZE)]
into = [(v, NODES + v // SIZE) for v in range(NODES)]
ends = inner + into
marks = [float(k % 2 and v == k % SIZE) for k in range(GRAPHS)
         for v in range(SIZE)] + [0.0] * GRAPHS
collection = {"edge_index": ("q", (2, len(ends)), [e[k] for k in (0, 1) for e in ends]),
              "member": ("B", (len(ends),), [0] * len(inner) + [1] * len(into)),
              "x": ("f", (NODES + GRAPHS, 1), marks),
              "y": ("q", (NODES + GRAPHS,), [-1] * NODES + [k % 2 for k in range(GRAPHS)])}
for k, name in enumerate(("train_idx", "valid_idx", "test_idx")):
    mine = [NODES + v for v in range(GRAPHS) if v // 8 == k]
    collection[name] = ("q", (len(mine),), mine)
text = open(os.path.join(runs.SAMPLES, "..", "docs", "data.md"), encoding="utf-8").read()
recipe = r.write("graphs.gnn", "model Graphs" + text.split("```\nmodel Graphs")[1].split("```")[0])
out = r.works("train", recipe, "--data", npz("graphs.npz", collection), "-q", "--epochs", 300, "-D",
              "hidden=8")
assert "train 100.00% val 100.00% test 100.00%" in out, out
r.fails(1, "the data has no edge features for the input `member`, and no array of that name", "run",
        recipe, "--data", npz("graphs.npz", {**collection, "member": None}))
# An array of its own name goes before features, for the only input of nodes as for that of edges.
own_name = r.write("own_name.gnn",
                   "model M() (g: graph, height: node[2]) -> node[2] {\n  return 2 * height\n}\n")
r.works("run", own_name, "--data",
        npz("height.npz", {**ALL, "height": ("f", (N, 2), [float(v) for v in range(2 * N)])}), "-q",
        "--classes", 3, "--predictions", r.path("height.npz.out.npz"))
assert files.read_npz(r.path("height.npz.out.npz"))["out"][2] == [2.0 * v for v in range(2 * N)]

# A label of -1 counts nowhere, in a mask neither: with such nodes in the masks and out of them a
# model becomes the same.
unknown = ("q", (N,), [-1 if v % 5 == 0 else v % C for v in range(N)])
ended = []
for inside in (True, False):
    thirds = {f"{name}_mask": ("?", (N,),
                               [int(v // 10 == k and (inside or v % 5)) for v in range(N)])
              for k, name in enumerate(("train", "val", "test"))}
    data = npz("partly.npz", {**ALL, **thirds, "y": unknown})
    trained = r.works("train", GCN, "--data", data, "-q", "--epochs", 20, "--save",
                      r.path("partly.safetensors"))
    served = r.works("run", GCN, "--data", data, "-q", "--weights", r.path("partly.safetensors"))
    ended.append((trained.split("\n")[0], served.split("\n")[0]))
    text = said("run", GCN, "--data", data)
    assert ("10 for test\n6 of these have no label (-1): losses of labels and accuracies leave "
            "them out\n" in text) == inside, text
assert ended[0] == ended[1], ended
# A loss of numbers takes -1 for one, unless its mask says otherwise.
losses = {}
for name, mask in (("all", "train_mask"), ("known", "train_mask and y >= 0")):
    squares = r.write("squares.gnn", "model M() (g: graph, x: node[F]) -> node[C] {\n"
                      "  l = Linear(C)\n  return l(x)\n}\n"
                      f"train M {{\n  loss = mse(M(g, x), one_hot(y, C), mask = {mask})\n}}\n")
    for inside in (True, False):
        thirds = {f"{part}_mask": ("?", (N,),
                                   [int(v // 10 == k and (inside or v % 5)) for v in range(N)])
                  for k, part in enumerate(("train", "val", "test"))}
        data = npz("squares.npz", {**ALL, **thirds, "y": unknown})
        losses[name, inside] = r.works("train", squares, "--data", data, "-q", "--epochs",
                                       5).split("\n")[0]
assert losses["known", True] == losses["known", False] != losses["all", True], losses
for on in ("on", "off"):
    r.works(GCN, "--data", r.path("all.npz"), "-q", "--normalize-features", on, "-o",
            r.path("gcn.o"), "--header", r.path("gcn.h"))
    assert ("divided by its sum" in open(r.path("gcn.h")).read()) == (on == "on"), on

# Classes that the labels do not tell of: from the weights, or said.
W = r.path("w.safetensors")
r.works("train", GCN, "--data", npz("all.npz", ALL), "-q", "--epochs", 3, "--save", W,
        "--predictions", r.path("want.npz"))
want = files.read_npz(r.path("want.npz"))
two = ("q", (N,), [v % 2 for v in range(N)])
for name, y in (("none", None), ("unknown", ("q", (N,), [-1] * N)), ("two", two)):
    data = npz(f"{name}.npz", {"edge_index": EDGES, "x": X, "y": y, **MASKS})
    r.works("run", GCN, "--data", data, "-q", "--weights", W, "--predictions", r.path("got.npz"))
    assert files.read_npz(r.path("got.npz")) == want, name
    r.works(GCN, "--data", data, "-q", "--weights", W, "--inference", "-o", r.path("gcn.o"),
            "--header", r.path("gcn.h"))
    assert "out: float [nodes][3]" in open(r.path("gcn.h")).read()
    r.works(GCN, "--data", data, "-q", "--classes", 5, "--inference", "-o", r.path("gcn.o"),
            "--header", r.path("gcn.h"))
    assert "out: float [nodes][5]" in open(r.path("gcn.h")).read()
    out = r.works("run", GCN, "--data", data, "-q", "--classes", 3, "--predictions",
                  r.path("got.npz"))
    assert files.read_npz(r.path("got.npz"))["logits"][1] == (N, 3)
r.fails(3, "expected f32", "run", GCN, "--data", r.path("none.npz"),
        "--weights", W, "--classes", 4)
# Several heads: a dimension that is a multiple of the classes.
r.works("train", GAT, "--data", r.path("all.npz"), "-q", "--epochs", 2, "--save", W,
        "--predictions", r.path("want.npz"))
r.works("run", GAT, "--data", r.path("none.npz"), "-q", "--weights", W, "--predictions",
        r.path("got.npz"))
assert files.read_npz(r.path("got.npz")) == files.read_npz(r.path("want.npz"))

# No features: none are needed, or they are made.
lists = r.write("list.txt", "".join(f"{u} {v}\n" for u, v in ring))
model = r.write("nox.gnn", "model M() (g: graph) -> node {\n  return degree(g) + 1\n}\n")
r.works("run", model, "--data", lists, "-q", "--predictions", r.path("nox.csv"))
assert open(r.path("nox.csv")).read() == "out\n" + "4\n" * N
model = r.write("x.gnn", "model M() (g: graph, x: node[F]) -> node[F] {\n  return x\n}\n")
star = r.write("star.txt", "1 0\n2 0\n0 3\n")
for what, rows in (("identity", [[float(i == k) for k in range(4)] for i in range(4)]),
                   ("degree", [[2], [0], [0], [1]]), ("ones", [[1]] * 4)):
    for how in ("none", "degree"):
        r.works("run", model, "--data", star, "-q", "--features", what, "--reorder", how,
                "--predictions", r.path("x.npz"))
        got = files.read_npz(r.path("x.npz"))["out"]
        assert got[2] == [float(z) for row in rows for z in row], (what, how, got)
assert "1 features (made up)" in said("run", model, "--data", star, "--features", "ones")
r.works("train", GCN, "--data", "synthetic:nodes=40,edges=200,classes=2", "-q", "--features",
        "identity", "--epochs", 2)

# Fewer of them: the same data have the same, which weights go with, whatever the order and seed.
many = "synthetic:nodes=60,edges=300,classes=3,features=40,seed=5"
assert "8 features (svd of 40)" in said("train", GCN, "--data", many, "--features", "svd:8",
                                        "--epochs", 3, "--save", W)
r.works("run", GCN, "--data", many, "-q", "--features", "svd:8", "--weights", W, "--predictions",
        r.path("want.npz"))
r.works("run", GCN, "--data", many, "-q", "--features", "svd:8", "--weights", W, "--predictions",
        r.path("got.npz"), "--seed", 3, "--reorder", "degree")
want, got = (files.read_npz(r.path(f"{name}.npz"))["logits"][2] for name in ("want", "got"))
assert all(abs(p - q) < 1e-4 for p, q in zip(want, got)), (want, got)
r.fails(3, "f32 [16, 8], expected f32 [16, 9]", "run", GCN, "--data", many, "--features", "svd:9",
        "--weights", W)
r.fails(2, "svd:41 of 60 nodes with 40 features: there are 40 components at most", "run", GCN,
        "--data", many, "--features", "svd:41")
r.fails(2, "--features pca is of features, and these data have none", "train", GCN, "--data", lists,
        "--features", "pca:2")

# A loss that names no labels needs none: edges are told from all pairs by products of what their
# ends became.
model = r.write("link.gnn", """model L() (g: graph, x: node[F]) -> edge {
  a = GCNConv(8)
  h = a(g, x)
  return edge(u -> v in g: sum(h[u] * h[v], axis = -1))
}
train L {
  loss = mean(softplus(-L(g, x)), over = edge)
  optimizer = adam(lr = 0.1)
  epochs = 30
}
""")
for data in (lists, npz("bare.npz", {"edge_index": EDGES})):
    out = r.works("train", model, "--data", data, "-q", "--features", "identity", "--predictions",
                  r.path("link.npz"))
    assert out.startswith("seed 0: 30 epochs, loss ") and float(
        out.split("loss ")[1].split("\n")[0]) < 0.1, out
    assert files.read_npz(r.path("link.npz"))["out"][1] == (len(ring),)
r.fails(3, "list has no labels, which training needs", "train", GCN, "--data", lists, "--features",
        "ones", "--classes", 2)

# A split that lists a node again counts it again, as out[train_idx] does: in losses, accuracies and
# metrics.
IDX = {"train": [0, 0, 0, 1, 4, 4], "valid": [2, 2, 5], "test": [3, 6, 6, 6, 6]}
again = npz("again.npz", {"edge_index": EDGES, "x": X, "y": Y,
                          **{f"{k}_idx": ("q", (len(v),), v) for k, v in IDX.items()}})
W3 = [((i * 5) % 7 - 3) / 2 + i * i / 64 for i in range(12)]
files.write_safetensors(r.path("w3.safetensors"),
                        {"l.weight": ("f", (3, 4), W3), "l.bias": ("f", (3,), [0.5, 0, -0.5])})
MODEL3 = """model M() (g: graph, x: node[F]) -> node[C] {
  l = Linear(C) as "l"
  return l(x)
}
train M {
  loss = LOSS
  optimizer = sgd(lr = 0.0)
  epochs = 1
}
"""


def logits(v):
    return [sum(W3[4 * c + k] * X[2][4 * v + k] for k in range(4)) + (0.5, 0, -0.5)[c]
            for c in range(3)]


def logp(v):
    z = logits(v)
    return [a - math.log(sum(map(math.exp, z))) for a in z]


def mean(rows, weight=lambda v: 1):
    return sum(a * weight(v) for v, a in rows) / sum(weight(v) for v, _ in rows)


TRAIN = IDX["train"]
FEW = [v for v in TRAIN if X[2][4 * v] < 0.6]  # without node 1
BALANCED = [len(FEW) / (2 * sum(v % 3 == c for v in FEW)) for c in range(2)]
CLASS_WEIGHT = (1, 2, 0.5)


def bce(v, positive, weight):
    return math.log1p(math.exp(-logits(v)[0])) * weight if positive else math.log1p(
        math.exp(logits(v)[0]))


assert len(set(BALANCED)) == 2, BALANCED
for loss, want in (
    ("sum(train_mask ? repeats(train_mask) * M(g, x)[0] : 0)", sum(logits(v)[0] for v in TRAIN)),
    ("cross_entropy(M(g, x), y, weight = [1, 2, 0.5]) over train_mask",
     mean([(v, -logp(v)[v % 3]) for v in TRAIN], lambda v: CLASS_WEIGHT[v % 3])),
    ("cross_entropy(M(g, x), y, label_smoothing = 0.3) over train_mask",
     mean([(v, -0.7 * logp(v)[v % 3] - 0.1 * sum(logp(v))) for v in TRAIN])),
    ("mse(M(g, x), one_hot(y, C)) over train_mask and x[0] < 10",
     mean([(v, sum((z - (c == v % 3)) ** 2 for c, z in enumerate(logits(v))) / 3) for v in TRAIN])),
    ("cross_entropy(M(g, x), y) over train_mask", mean([(v, -logp(v)[v % 3]) for v in TRAIN])),
    ("cross_entropy(M(g, x), y, weight = \"balanced\") over train_mask and x[0] < 0.6",
     mean([(v, -logp(v)[v % 3]) for v in FEW], lambda v: BALANCED[v % 3])),
    ("bce_with_logits(M(g, x)[0], float(y == 1), pos_weight = \"balanced\") over train_mask and "
     "x[0] < 0.6",
     mean([(v, bce(v, v % 3 == 1, sum(v % 3 != 1 for v in FEW) / sum(v % 3 == 1 for v in FEW)))
           for v in FEW])),
):
    for how in ("none", "degree"):
        out = json.loads(r.works("train", r.write("again.gnn", MODEL3.replace("LOSS", loss)),
                                 "--data", again, "-q", "--json", "--weights",
                                 r.path("w3.safetensors"), "--reorder", how))
        assert abs(out["runs"][0]["loss"] - want) < 1e-5, (loss, how, out["runs"][0]["loss"], want)
right = {k: mean([(v, logits(v).index(max(logits(v))) == v % 3) for v in IDX[k]]) for k in IDX}
run = json.loads(r.works("run", r.path("again.gnn"), "--data", again, "-q", "--json", "--weights",
                         r.path("w3.safetensors")))
for key, of in (("train", "train"), ("val", "valid"), ("test", "test")):
    assert abs(out["runs"][0][key + "_acc"] - right[of]) < 1e-6, (key, out, right)
    assert (run["metrics"][key]["n"] == len(IDX[of])
            and abs(run["metrics"][key]["accuracy"] - right[of]) < 1e-6), (key, run)
assert ("3 nodes to train on (6 with repeats), 2 for validation (3 with repeats), 2 for test (5 "
        "with repeats)\n" in said("run", r.path("again.gnn"), "--data", again))
r.fails(1, "nodes of train_mask more than once, and the loss counts each once; "
        "`repeats(train_mask)` is how often", "train",
        r.write("once.gnn", MODEL3.replace(
            "LOSS", "sum(train_mask ? M(g, x)[0] : 0) / count(train_mask)")), "--data", again)
r.fails(1, "how often is known of `train_mask` and of `train_mask and ...`", "train",
        r.write("or.gnn", MODEL3.replace(
            "LOSS", "cross_entropy(M(g, x), y) over train_mask or val_mask")), "--data", again)
watch = MODEL3.replace("LOSS", "cross_entropy(M(g, x), y) over train_mask").replace(
    "epochs = 1", "epochs = 2\n  patience = 1\n  monitor = val_loss")
r.works("train", r.write("watch.gnn", watch), "--data", again, "-q")

# Names that other libraries have: DGL's, a matrix, sources and targets apart.  A model may have
# inputs of such names.
SRC, DST = [u for u, _ in ring], [v for _, v in ring]
DENSE = ("f", (N, N), [float((u, v) in set(ring)) for u in range(N) for v in range(N)])
r.works("train", GCN, "--data", r.path("all.npz"), "-q", "--epochs", 2, "--predictions",
        r.path("want.npz"))
for name, change in (
        ("dgl", {"x": None, "feat": X, "y": None, "label": Y}), ("capital", {"x": None, "X": X}),
        ("pairs",
         {"edge_index": None, "src": ("q", (len(ring),), SRC), "dst": ("i", (len(ring),), DST)}),
        ("kipf", {**{f"{k}_mask": None for k in ("train", "val", "test")},
                  **{f"idx_{k}": ("q", (10,), list(range(i, N, 3)))
                     for i, k in enumerate(("train", "val", "test"))}})):
    data = npz(name + ".npz", {**ALL, **change})
    assert "warning" not in said("train", GCN, "--data", data, "--epochs", 2, "--predictions",
                                 r.path("got.npz"))
    assert files.read_npz(r.path("got.npz")) == files.read_npz(r.path("want.npz")), name
assert "30 nodes, 90 edges, 4 features" in said(
    "run", GCN, "--data", npz("dense.npz", {**ALL, "edge_index": None, "adj": DENSE}))
model = r.write("feat.gnn", "model M() (g: graph, x: node[F], feat: node[4]) -> node[4] {\n"
                "  return x - feat\n}\n")
r.works("run", model, "--data", r.path("dgl.npz"), "-q", "--predictions", r.path("got.npz"))
assert not any(files.read_npz(r.path("got.npz"))["out"][2])
# ... which may be of edges.
E90 = ("f", (90, 4), [1.0] * 360)
model = r.write("edges.gnn", "model M() (g: graph, feat: edge[4], label: edge) -> node {\n"
                "  return sum(u -> v in g: feat[0] + label)\n}\n")
for change in ({}, {"x": None}, {"x": None, "num_nodes": ("q", (), [N])}):
    data = npz("edata.npz", {**ALL, "y": None, **dict.fromkeys(MASKS), "feat": E90,
                             "label": ("q", (90,), [1] * 90), **change})
    r.works("run", model, "--data", data, "-q", "--predictions", r.path("got.npz"))
    assert files.read_npz(r.path("got.npz"))["out"][2] == [6.0] * N
# What is there under other names is said before what it leads to; numbers from 1 too.
data = npz("other.npz", {**ALL, "x": None, "h": X, "y": None, "klass": Y})
r.fails(1, "`F` is the number of features, and the data has none; it has `h` [30, 4], `klass` "
        "[30], and features are read under `x`; --features identity", "train", GCN, "--data", data)
r.fails(1, "`C` is the number of classes, and the data has none; it has `klass` [30], and labels "
        "are read under `y`; --classes N", "train", GCN, "--data", data, "--features", "ones")
r.fails(3, "has no labels, which training needs; it has `klass` [30], and labels", "train", GCN,
        "--data", data, "--features", "ones", "--classes", 3)
r.fails(3, "no graph: expected arrays edge_index or edges, or adj_indptr, adj_indices, ..., or a "
        "sparse matrix of scipy; it has `Graph`, `x`", "run", GCN, "--data",
        npz("graph.npz", {"x": X, "Graph": EDGES}))
from_1 = {"edge_index": ("q", (2, len(ring)), [v + 1 for v in SRC + DST])}
for change in (from_1, {**from_1, "x": None, "feat": X}):
    r.fails(3, ": says 30 nodes: expected 31, as the edges name, to 2147483647; no edge names node "
            "0: nodes count from 0", "run", GCN, "--data", npz("from1.npz", {**ALL, **change}))
assert "warning: no edge names node 0, as if nodes were counted from 1" in said(
    "run", r.path("nox.gnn"), "--data", npz("from1.npz", from_1))
assert "warning: 7 of 11 nodes have no edge" in said("run", r.path("nox.gnn"), "--data",
                                                     r.write("gaps.txt", "0 1\n3 10\n"))

# A graph without edges has weights of none.
empty = npz("empty.npz", {**ALL, "edge_index": ("q", (2, 0), []), "edge_weight": ("f", (0,), []),
                          "edge_attr": ("f", (0, 2), [])})
assert r.works("train", GCN, "--data", empty, "-q", "--epochs", 2).startswith("seed 0: 2 epochs")
bad = npz("bad.npz", {**ALL, "edge_index": ("q", (2, 0), []), "edge_weight": ("f", (1,), [1.0])})
r.fails(3, "edge_weight: shape [1]: expected 0 rows", "train", GCN, "--data", bad)

# Which model of the file, and no epoch at all.
two = r.write("two.gnn", "model A() (g: graph, x: node[F]) -> node {\n  return x[0]\n}\n"
              "model B() (g: graph, x: node[F]) -> node {\n  return 2 * x[0]\n}\n")
for name, times in (("A", 1), ("B", 2)):
    r.works("run", two, "--data", r.path("all.npz"), "-q", "--model", name, "--predictions",
            r.path("two.npz"))
    got = files.read_npz(r.path("two.npz"))["out"][2]
    assert max(abs(got[v] - times * X[2][4 * v]) for v in range(N)) < 1e-6, name
r.fails(2, "no model is named `E`", "run", two, "--model", "E")
out = r.works("train", GCN, "--data", r.path("all.npz"), "-q", "--epochs", 0, "--save", W)
assert out.startswith(
    "seed 0: 0 epochs, accuracy train ") and "step" not in out and "nan" not in out, out
d = json.loads(r.works("train", GCN, "--data", r.path("all.npz"), "-q", "--epochs", 0, "--json"))
assert d["runs"][0]["loss"] is None and d["runs"][0]["epochs"] == 0, d["runs"]
assert out.split("\n")[0].split("accuracy ")[1] in r.works("run", GCN, "--data", r.path("all.npz"),
                                                           "-q", "--weights", W)

# Ends of edges, compared, are nodes, whatever order they are kept in; a graph that nothing feeds is
# none.
ends = [(0, 0), (0, 1), (1, 2), (2, 2), (2, 0), (3, 1), (1, 3)]
ones = npz("ends.npz", {"edge_index": ("q", (2, 7), [u for u, _ in ends] + [v for _, v in ends]),
                        "x": ("f", (4, 1), [1.0, 2.0, 4.0, 8.0])})
for text, of in (("u == v ? x[u] : 0", lambda u, v: u == v),
                 ("u != v ? x[u] : 0", lambda u, v: u != v),
                 ("v == u ? x[u] : 0", lambda u, v: u == v)):
    model = r.write("ends.gnn", f"model M() (g: graph, x: node[F], h: graph = none) -> node[F] {{\n"
                                f"  return h == none ? sum(u -> v in g: {text}) : x\n}}\n")
    want = [sum(2.0 ** u for u, v in ends if v == node and of(u, v)) for node in range(4)]
    for options in ((), ("-O", "eager"), ("--reorder", "degree")):
        r.works("run", model, "--data", ones, "-q", "--predictions", r.path("ends.out.npz"),
                *options)
        assert list(files.read_npz(r.path("ends.out.npz"))["out"][2]) == want, (text, options)
r.done()
