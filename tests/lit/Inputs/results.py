"""Results of any shape, in the files of --predictions: their true shape, rows in the order of the
data, and no accuracy where they tell of no classes."""
import ctypes
import json
import os
import random
import shutil

import files
import runs

r = runs.Runs(shared=True)
random.seed(3)
N, LOOPS = 40, ((5, 5), (9, 9), (5, 5))
pairs = [(random.randrange(N), random.randrange(N)) for _ in range(150)]
edges = [p for p in pairs if p[0] != p[1]]
for k, loop in enumerate(LOOPS):
    edges.insert(17 * k + 11, loop)
E = len(edges)
flat = [u for u, _ in edges] + [v for _, v in edges]
y = [v % 3 for v in range(N)]
masks = [[int(v % 4 == k) for v in range(N)] for k in range(3)]
DATA = r.path("data.npz")
files.write_npz(DATA, {"edge_index": ("q", (2, E), flat),
                       "x": ("f", (N, 2), [z for v in range(N) for z in (v, 1)]),
                       "y": ("q", (N,), y), "train_mask": ("?", (N,), masks[0]),
                       "val_mask": ("?", (N,), masks[1]), "test_mask": ("?", (N,), masks[2])})
ORDERS = ("none", "degree", "rcm", "communities")


def predict(model, how, name, *args):
    path = r.path(name)
    out = r.works("run", model, "--data", DATA, "-q", "--threads", 1, "--reorder", how,
                  "--predictions", path, *args)
    assert "accuracy" not in out, out
    if name.endswith(".npz"):
        return files.read_npz(path)
    return open(path).read().split("\n")


# On edges: 100 u + v tells which edge a row is of.
kept = [p for p in edges if p[0] != p[1]]
GRAPHS = {"g": edges, "reverse(g)": [(v, u) for u, v in edges], "remove_self_loops(g)": kept,
          "self_loops(g)": edges + [(v, v) for v in range(N)],
          "remaining_self_loops(reverse(g))": [(v, u) for u, v in kept] +
          [(v, v) for v in range(N)],
          "self_loops(self_loops(g))": edges + 2 * [(v, v) for v in range(N)],
          "remaining_self_loops(self_loops(g))": kept + [(v, v) for v in range(N)]}
EDGE = """model M() (g: graph, x: node[F]) -> edge[2] {
  a = %s
  return edge(u -> v in a: 100 * x[u] + x[v])
}
"""
for graph, listed in GRAPHS.items():
    model = r.write("edge.gnn", EDGE % graph)
    for how in ORDERS:
        name = f"{graph}, {how}"
        arrays = predict(model, how, "edge.npz")
        assert sorted(arrays) == ["edge_index", "out"], (name, sorted(arrays))
        assert arrays["out"][1] == (len(listed), 2), (name, arrays["out"][1])
        assert arrays["out"][2][0::2] == [100.0 * u + v for u, v in listed], name
        assert arrays["out"][2][1::2] == [101.0] * len(listed), name
        assert arrays["edge_index"] == ("q", (2, len(listed)),
                                        [u for u, _ in listed] + [v for _, v in listed]), name
    lines = predict(model, "rcm", "edge.csv")
    assert lines[0] == "source,target,out_0,out_1" and lines[-1] == "", lines[:2]
    assert lines[1:-1] == [f"{u},{v},{100 * u + v},101" for u, v in listed], graph

# The same from C, in code that was compiled ahead of time.
if shutil.which("ld"):
    for graph in ("g", "self_loops(g)", "remaining_self_loops(reverse(g))"):
        model, so = r.write("ahead.gnn", EDGE % graph), r.path(f"ahead{len(graph)}.so")
        r.works(model, "--data", DATA, "-q", "--inference", "-o", so)
        lib, m, rows = ctypes.CDLL(so), ctypes.c_void_p(), ctypes.c_int64()
        lib.m_output.restype = ctypes.POINTER(ctypes.c_float)
        ends = [(ctypes.c_int64 * E)(*half) for half in zip(*edges)]
        x = (ctypes.c_float * (2 * N))(*(z for v in range(N) for z in (v, 1)))
        assert lib.m_open(ctypes.c_uint64(0), 1, ctypes.c_uint64(0), ctypes.byref(m)) == 0
        assert lib.m_graph_coo(m, ctypes.c_int64(N), ctypes.c_int64(E), *ends) == 0
        assert lib.m_bind(m, b"x", ctypes.c_int64(N), x) == 0 and lib.m_infer(m) == 0
        out = lib.m_output(m, b"out", ctypes.byref(rows))
        assert out[:2 * rows.value:2] == [100.0 * u + v for u, v in GRAPHS[graph]], graph
        lib.m_free(m)

# On nodes: of any rank.
for how in ORDERS:
    model = r.write("rank3.gnn", """model M() (g: graph, x: node[F]) -> node[2, 3] {
  return reshape(concat(x, 2 * x, 3 * x), [2, 3])
}
""")
    arrays = predict(model, how, "rank3.npz")
    want = [float(z) for v in range(N) for z in (v, 1, 2 * v, 2, 3 * v, 3)]
    assert arrays == {"out": ("f", (N, 2, 3), want)}, (how, arrays["out"][1])
    lines = predict(model, how, "rank3.csv")
    assert lines[0] == "out_0_0,out_0_1,out_0_2,out_1_0,out_1_1,out_1_2", lines[0]
    assert lines[3] == "2,1,4,2,6,3", lines[3]
    model = r.write("scalar.gnn",
                    "model M() (g: graph, x: node[F]) -> node {\n  return 10 * x[0]\n}\n")
    assert predict(model, how, "scalar.npz") == {"out": ("f", (N,),
                                                         [10.0 * v for v in range(N)])}, how
    assert predict(model, how,
                   "scalar.csv") == ["out"] + [str(10 * v) for v in range(N)] + [""], how

# On none: what is read out of the whole graph.
model = r.write("readout.gnn", "model M() (g: graph, x: node[F]) -> [C] {\n"
                "  return concat(sum(x, over = node), tensor([7]))\n}\n")
assert predict(model, "degree", "readout.npz") == {"out": ("f", (3,),
                                                           [N * (N - 1) / 2, float(N), 7.0])}
assert predict(model, "degree", "readout.csv") == ["out_0,out_1,out_2", f"{N * (N - 1) // 2},{N},7",
                                                   ""]

# Several: each under its name; in text each in a file of its own.  The first that is node[C] has
# the accuracy.
TWO = """fn of(r, y, mask) {
  e, bad, good = r
  return cross_entropy(good, y, mask) + 0.1 * mean(e * e, over = edge)
}
model Two() (g: graph, x: node[F]) -> (edge, node[2], node[C]) {
  param w: [F, C] = zeros
  e = edge(u -> v in g: 100 * x[u][0] + x[v][0])
  flat = x + 1
  good = concat(1 - x * 100, x) @ %s
  return e, flat, good
}
train Two {
  loss = of(Two(g, x), y) over train_mask
  epochs = 1
}
"""
two = r.write("two.gnn", TWO % "tensor([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])")
for how in ORDERS:
    path = r.path("two.npz")
    out = r.works("run", two, "--data", DATA, "-q", "--threads", 1, "--reorder", how,
                  "--predictions", path)
    arrays = files.read_npz(path)
    assert sorted(arrays) == ["e", "e.edge_index", "flat", "good",
                              "good.prediction"], sorted(arrays)
    assert arrays["e"] == ("f", (E,), [100.0 * u + v for u, v in edges]), how
    assert arrays["e.edge_index"] == ("q", (2, E), flat), how
    assert arrays["flat"] == ("f", (N, 2), [float(z) for v in range(N) for z in (v + 1, 2)]), how
    scores = [arrays["good"][2][3 * v:3 * v + 3] for v in range(N)]
    assert arrays["good.prediction"][2] == [s.index(max(s)) for s in scores], how
    right = sum(y[v] == scores[v].index(max(scores[v])) for v in range(N) if masks[2][v])
    assert f"test {100 * right / sum(masks[2]):.2f}%" in out, (out, right)
r.works("run", two, "--data", DATA, "-q", "--predictions", r.path("two.csv"))
assert not os.path.exists(r.path("two.csv"))
lines = open(r.path("two.e.csv")).read().split("\n")
assert lines[0] == "source,target,e" and lines[1:-1] == [f"{u},{v},{100 * u + v}" for u, v in edges]
lines = open(r.path("two.flat.csv")).read().split("\n")
assert lines[:2] == ["flat_0,flat_1", "1,2"], lines[:2]
lines = open(r.path("two.good.csv")).read().split("\n")
assert lines[0] == "prediction" and lines[1:-1] == [str(p) for p in arrays["good.prediction"][2]]
assert "accuracy" in r.works("train", two, "--data", DATA, "-q")
if shutil.which("ld"):
    so = r.path("two.so")
    r.works(two, "--data", DATA, "-q", "--inference", "-o", so, "--header", r.path("two.h"))
    head = open(r.path("two.h")).read()
    for name, rows in (("e", "edges"), ("flat", "nodes"), ("good", "nodes")):
        assert f"/* {name}: float [{rows}][" in head, head
        assert f"two_output_{name}(two_model *m, int64_t *rows)" in head, head
    lib, m, rows = ctypes.CDLL(so), ctypes.c_void_p(), ctypes.c_int64()
    lib.two_output.restype = ctypes.POINTER(ctypes.c_float)
    assert lib.two_open(ctypes.c_uint64(0), 1, ctypes.c_uint64(0), ctypes.byref(m)) == 0
    assert lib.two_graph_coo(m, ctypes.c_int64(N), ctypes.c_int64(E),
                             *[(ctypes.c_int64 * E)(*h) for h in zip(*edges)]) == 0
    x = (ctypes.c_float * (2 * N))(*(z for v in range(N) for z in (v, 1)))
    assert lib.two_bind(m, b"x", ctypes.c_int64(N), x) == 0 and lib.two_infer(m) == 0
    e = lib.two_output(m, b"e", ctypes.byref(rows))
    assert rows.value == E
    kept_e = e[:E]
    got = lib.two_output(m, b"flat", ctypes.byref(rows))
    assert rows.value == N and got[:2 * N] == arrays["flat"][2] and kept_e == arrays["e"][2]
    assert not lib.two_output(m, b"out", ctypes.byref(rows))
    lib.two_free(m)

# More columns than classes are no logits.
model = r.write("wide.gnn",
                "model M() (g: graph, x: node[F]) -> node[4] {\n  return concat(x, x)\n}\n")
assert predict(model, "none", "wide.npz")["out"][1] == (N, 4)

# Training: a regression has a loss and no accuracy; nothing can be chosen by one.
REG = """model Reg() (g: graph, x: node[F]) -> node {
  l = Linear(1)
  return l(x / 40)[0]
}
train Reg {
  loss = mse(Reg(g, x), float(y)) over train_mask
  optimizer = adam(lr = 0.1)
  epochs = 20
%s}
"""
reg = r.write("reg.gnn", REG % "")
out = r.works("train", reg, "--data", DATA, "-q", "--predictions", r.path("reg.csv"))
assert out.startswith("seed 0: 20 epochs, loss ") and "accuracy" not in out, out
lines = open(r.path("reg.csv")).read().split("\n")
assert lines[0] == "out" and len(set(lines[1:-1])) == N, lines[:3]
d = json.loads(r.works("train", reg, "--data", DATA, "-q", "--json"))
assert d["runs"][0]["test_acc"] is None and d["test_acc"]["mean"] is None, d["runs"]
assert "metrics" not in json.loads(r.works("run", reg, "--data", DATA, "-q", "--json"))
for setting in ("  select = best\n", "  patience = 3\n"):
    chosen = r.write("chosen.gnn", REG % setting)
    r.fails(1, "write `monitor = val_loss`", "train", chosen, "--data", DATA, "-q")
    out = r.works("train", r.write("chosen.gnn", REG % (setting + "  monitor = val_loss\n")),
                  "--data", DATA, "-q")
    assert "accuracy" not in out, out

# select = best: loss and accuracy are of one epoch, which is named.
gcn = os.path.join(runs.SAMPLES, "gcn.gnn")
args = ("train", gcn, "-q", "--epochs", 40, "--seed", 3)
one = json.loads(r.works(*args, "--json"))["runs"][0]
assert one["best_epoch"] < 40 and one["best_loss"] != one["loss"], one
assert (f"seed 3: 40 epochs, best {one['best_epoch']}: loss {one['best_loss']:.4f}, "
        "accuracy train " in r.works(*args))
best = json.loads(r.works(*args[:3], "--seed", 3, "--epochs", one["best_epoch"],
                          "--json"))["runs"][0]
assert best["loss"] == one["best_loss"] and best["test_acc"] == one["test_acc"], (best, one)

r.done()
