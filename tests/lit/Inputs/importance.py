"""--importance: features times gradients against finite differences of what `run` gives, and
integrated gradients against the sum that they are to have; of dense features and of sparse ones,
wherever a model reads them."""
import csv
import json
import random
import struct

import files
import runs

r = runs.Runs(shared=True)
random.seed(7)
N, F, C = 14, 6, 3
EDGES = sorted({tuple(random.sample(range(N), 2)) for _ in range(40)})
PRODUCTS = "h = tanh(GCNConv(hidden)(g, x))"
MODEL = """model M(hidden = 5) (g: graph, x: node[F]) -> node[C] {
  %s
  return GCNConv(C)(g, h)
}
train M { loss = cross_entropy(M(g, x), y) over train_mask }
"""
BODIES = {"products": PRODUCTS,
          # sums of features are no products with them
          "both": "h = tanh(Linear(hidden)(x) + Linear(hidden)(sum(u -> v in g: x[u])))",
          "no products": "h = tanh(mean(u -> v in g: x[u] * x[v]) + x)",
          "a square": "h = tanh(Linear(hidden)(x * x))"}


OTHERS = (("--reorder", "rcm", "--threads", 2), ("-O", "eager"),
          ("--without", "sparse-features,hoist", "--dynamic", "false"))


def data(name, x):
    files.write_npz(r.path(name), {
        "edge_index": ("q", (2, len(EDGES)), [u for u, _ in EDGES] + [v for _, v in EDGES]),
        "x": ("f", (N, F), [v for row in x for v in row]),
        "y": ("q", (N,), [v % C for v in range(N)]),
        **{f"{m}_mask": ("?", (N,), [int(v % 3 == k) for v in range(N)])
           for k, m in enumerate(("train", "val", "test"))}})


def csr(prefix, shape, entries):
    begin = [sum(i < v for i, _ in entries) for v in range(shape[0] + 1)]
    return {f"{prefix}_data": ("f", (len(entries),), [1.0] * len(entries)),
            f"{prefix}_indices": ("i", (len(entries),), [j for _, j in entries]),
            f"{prefix}_indptr": ("i", (len(begin),), begin),
            f"{prefix}_shape": ("q", (2,), list(shape))}


def sparse_data(name, x):
    """Where features are zeros and ones."""
    files.write_npz(r.path(name), {
        **csr("adj", (N, N), EDGES), "labels": ("q", (N,), [v % C for v in range(N)]),
        **csr("attr", (N, F), [(v, f) for v in range(N) for f in range(F) if x[v][f]])})


def run(model, name, *args):
    return r.works("run", model, "--data", r.path(name), "-q", "--weights", r.path("w"),
                   "--undirected", "off", *args)


def logits(model, x):
    data("other.npz", x)
    run(model, "other.npz", "--predictions", r.path("p.npz"), "--without", "sparse-features")
    values = files.read_npz(r.path("p.npz"))["logits"][2]
    return [values[C * v:C * v + C] for v in range(N)]


def importance(model, *args):
    run(model, "d.npz", "--importance", r.path("i.npz"), *args)
    held = files.read_npz(r.path("i.npz"))
    if "attribution" in held:
        part = [held["attribution"][2][F * v:F * v + F] for v in range(N)]
    else:
        part = [[0.0] * F for _ in range(N)]
        assert held["attribution_shape"][2] == [N, F], held["attribution_shape"]
        begin = held["attribution_indptr"][2]
        for v in range(N):
            for k in range(begin[v], begin[v + 1]):
                part[v][held["attribution_indices"][2][k]] = held["attribution_data"][2][k]
    mean = [sum(abs(row[f]) for row in part) / N for f in range(F)]
    close(held["importance"][2], mean, 1e-6, "importance")
    return part, "attribution" not in held


def close(a, b, tolerance, what):
    worst = max(abs(u - v) for u, v in zip(a, b))
    assert worst <= tolerance, (what, worst, a, b)


def score(z, classes):
    return sum(z[v][c] for v, c in classes.items())


def by_differences(model, x, classes, cells):
    """x * (d score / d x) of cells, by the middle of two."""
    step, part = 1 / 64, {}
    for v, f in cells:
        two = []
        for sign in (1, -1):
            other = [list(row) for row in x]
            other[v][f] += sign * step
            two.append(score(logits(model, other), classes))
        part[v, f] = x[v][f] * (two[0] - two[1]) / (2 * step)
    return part


def flat(part):
    return [v for row in part for v in row]


for density, sparse in ((0.9, False), (0.15, True)):
    full = set(random.sample(range(N * F), int(density * N * F)))
    x = [[(1.0 if sparse else round(random.uniform(-1, 1), 2)) if F * v + f in full else 0.0
          for f in range(F)] for v in range(N)]
    (sparse_data if sparse else data)("d.npz", x)
    for number, (name, body) in enumerate(BODIES.items()):
        if runs.SANITIZED and number % 2 != sparse:
            continue
        model = r.write("m.gnn", MODEL % body)
        r.works("train", model, "--data", r.path("d.npz"), "-q", "--epochs", 3, "--save",
                r.path("w"), "--undirected", "off")
        z = logits(model, x)
        classes = {v: z[v].index(max(z[v])) for v in range(N)}
        cells = random.sample([(v, f) for v in range(N) for f in range(F) if x[v][f]],
                              1 if runs.SANITIZED else 3)
        want = by_differences(model, x, classes, cells)
        part, compressed = importance(model)
        assert compressed == (sparse and name != "no products"), (name, density)
        close([part[v][f] for v, f in cells], list(want.values()), 2e-3, (name, density))
        assert max(map(abs, want.values())) > 0.02, want
        assert all(part[v][f] == 0 for v in range(N) for f in range(F) if not x[v][f]), part
        other = OTHERS[(list(BODIES).index(name) + sparse) % len(OTHERS)]
        again, _ = importance(model, *other)
        close(flat(again), flat(part), 1e-5, (name, density, other))
        # Non-zeros that are others than 1.
        even = [flat(importance(model, "--normalize-features", "on", *other)[0])
                for other in ((), ("--without", "sparse-features"))]
        close(*even, 1e-5, (name, density, "normalised"))
        # Of some rows: a mask's, or by number.  What comes of each adds up to what comes of all.
        total = [0.0] * (N * F)
        for rows in ("train", "val", "test"):
            some, _ = importance(model, "--importance-of", rows)
            total = [a + b for a, b in zip(total, flat(some))]
        close(total, flat(part), 1e-5, (name, "masks"))
        odd, _ = importance(model, "--importance-of", ",".join(map(str, range(0, N, 2))),
                            "--reorder", "degree")
        even, _ = importance(model, "--importance-of", ",".join(map(str, range(1, N, 2))))
        close([a + b for a, b in zip(flat(odd), flat(even))], flat(part), 1e-5, (name, "rows"))
        # Integrated gradients add up to what features make of the score.
        zero = score(logits(model, [[0.0] * F for _ in range(N)]), classes)
        along, _ = importance(model, "--importance-method", "integrated")
        assert abs(sum(flat(along)) - (score(z, classes) - zero)) < 2e-3, (name, density)

# Text, and what is said.
out = json.loads(run(model, "d.npz", "--importance", r.path("i.csv"), "--json", "--importance-of",
                     "4"))["importance"]
assert (out["method"], out["of"], out["rows"], out["unknown"]) == ("gradient", "4", 1, 0), out
assert abs(out["score"] - max(z[4])) < 1e-5, (out, z[4])
with open(r.path("i.csv")) as f:
    lines = list(csv.DictReader(f))
assert [int(line["feature"]) for line in lines] == list(range(F)), lines
largest = sorted(range(F), key=lambda f: -float(lines[f]["importance"]))
some = [f for f in largest if float(lines[f]["importance"]) > 0]
assert [e["feature"] for e in out["largest"]] == some[:5], (out, lines)
said = run(model, "d.npz", "--importance", r.path("i.csv"), "--importance-method", "integrated")
assert "importance of features by integrated for 14 rows: " in said, said

# Names of features, where the data have them: letters of four bytes, or of one.
NAMES = ["age", "größe, cm", 'a "b"', "日本", "\U0001F600", ""]


def texts(names, wide):
    width = max(map(len, names))
    body = b"".join(name.ljust(width, "\0").encode("utf-32-le" if wide else "latin-1")
                    for name in names)
    header = "{'descr': '%s%d', 'fortran_order': False, 'shape': (%d,), }" % (
        "<U" if wide else "|S", width, len(names))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body


def named(names):
    files.write_npz(r.path("named.npz"), {
        "edge_index": ("q", (2, len(EDGES)), [u for u, _ in EDGES] + [v for _, v in EDGES]),
        "x": ("f", (N, F), flat(x)), "feature_names": names})
    return ("run", ONE, "--data", r.path("named.npz"), "-q", "--importance", r.path("i.csv"))


ONE = r.write("one.gnn", "model M() (g: graph, x: node[F]) -> node {\n"
              "  param w: [F] = 2\n  return x @ w\n}\n")
for wide, names in ((True, NAMES), (False, ["a", "bc", "d", "e", "\xe9", "g"])):
    said = r.works(*named(texts(names, wide)))
    with open(r.path("i.csv"), encoding="utf-8", newline="") as f:
        lines = list(csv.DictReader(f))
    assert [line["name"] for line in lines] == names, lines
    best = max(range(F), key=lambda f: float(lines[f]["importance"]))
    assert f" for 14 rows: {names[best]} (" in said, said
    out = json.loads(r.works(*named(texts(names, wide)), "--json"))["importance"]
    assert out["largest"][0]["name"] == names[best], out
r.works(*named(texts(NAMES, True)), "--features", "degree")  # those are others
with open(r.path("i.csv")) as f:
    assert f.readline() == "feature,importance\n"
for names in (texts(NAMES[:5], True), files.npy("q", (F,), list(range(F)))):
    r.fails(3, "feature_names: expected 6 strings, one for each feature, found", *named(names))

# A number of each row; graphs; what has no score, and what is asked wrongly.
r.works("run", ONE, "--data", r.path("d.npz"), "-q", "--importance", r.path("i.npz"),
        "--without", "sparse-features")
close(files.read_npz(r.path("i.npz"))["attribution"][2], [2 * v for v in flat(x)], 1e-6, "one")
# Features of several types of nodes.
A, P = (5, 3), (7, 4)
TYPED = r.write("typed.gnn", """model T(hidden = 4)
    (writes: node.author -> node.paper, a: node.author[in], b: node.paper[width]) -> node.paper[C] {
  h = Linear(hidden)(mean(u -> v in writes: a[u]))
  return Linear(C)(tanh(h + Linear(hidden)(b * b)))
}
train T { loss = cross_entropy(T(writes, a, b), y) over train_mask }
""")


def typed(name, a, b):
    ends = [(i % A[0], (3 * i + 1) % P[0]) for i in range(9)]
    files.write_npz(r.path(name), {
        "author.x": ("f", A, a), "paper.x": ("f", P, b),
        "author__writes__paper.edge_index": ("q", (2, 9), [u for u, _ in ends] +
                                             [v for _, v in ends]),
        "paper.y": ("q", (P[0],), [v % C for v in range(P[0])]),
        **{f"paper.{m}_mask": ("?", (P[0],), [int(v % 3 == k) for v in range(P[0])])
           for k, m in enumerate(("train", "val", "test"))}})
    return ("run", TYPED, "--data", r.path(name), "-q", "--weights", r.path("w"))


def typed_score(a, b, classes):
    r.works(*typed("other.npz", a, b), "--predictions", r.path("p.npz"))
    z = files.read_npz(r.path("p.npz"))["logits"][2]
    rows = [z[C * v:C * v + C] for v in range(P[0])]
    return sum(z[C * v + c] for v, c in enumerate(classes)), [z.index(max(z)) for z in rows]


features = [[random.uniform(-1, 1) for _ in range(n * m)] for n, m in (A, P)]
args = typed("typed.npz", *features)
r.works("train", TYPED, "--data", r.path("typed.npz"), "-q", "--epochs", 20, "--save", r.path("w"))
classes = typed_score(*features, [0] * P[0])[1]
r.works(*args, "--importance", r.path("i.npz"))
held = files.read_npz(r.path("i.npz"))
for k, (name, (n, m)) in enumerate((("author.x", A), ("paper.x", P))):
    part = held[name + ".attribution"][2]
    assert held[name + ".attribution"][1] == (n, m), held
    for i in random.sample(range(n * m), 1 if runs.SANITIZED else 4):
        two = []
        for sign in (1, -1):
            other = [list(f) for f in features]
            other[k][i] += sign / 64
            two.append(typed_score(*other, classes)[0])
        close([part[i]], [features[k][i] * 32 * (two[0] - two[1])], 2e-3, name)
    close(held[name + ".importance"][2],
          [sum(abs(part[m * v + f]) for v in range(n)) / n for f in range(m)], 1e-6, name)
r.works(*args, "--importance", r.path("i.npz"), "--importance-method", "integrated")
held = files.read_npz(r.path("i.npz"))
total = sum(sum(held[name + ".attribution"][2]) for name in ("author.x", "paper.x"))
gain = typed_score(*features, classes)[0] - typed_score(
    *[[0.0] * len(f) for f in features], classes)[0]
assert abs(total - gain) < 2e-3, (total, gain)
out = json.loads(r.works(*args, "--importance", r.path("i.csv"), "--json"))["importance"]
with open(r.path("i.csv")) as f:
    lines = list(csv.DictReader(f))
assert [(line["input"], line["feature"]) for line in lines] == [
    ("author.x", str(f)) for f in range(A[1])] + [("paper.x", str(f)) for f in range(P[1])], lines
best = max(lines, key=lambda line: float(line["importance"]))
first = out["largest"][0]
assert (first["input"], str(first["feature"])) == (best["input"], best["feature"]), (out, lines)

EDGE = r.write("edge.gnn", "model M() (g: graph, x: node[F]) -> edge {\n"
               "  return edge(u -> v in g: sum(x[u] * x[v]))\n}\n")
NO_X = r.write("no_x.gnn", "model M() (g: graph) -> node[C] {\n  param e: node[C] = 1\n"
               "  return sum(u -> v in g: e[u])\n}\n"
               "train M { loss = cross_entropy(M(g), y) over train_mask }\n")
for status, words, path, *args in (
        (2, "gives no classes of rows, nor one number for each row", EDGE),
        (1, "model M reads no features of nodes", NO_X),
        (2, "--importance-of: there is no row 14: `out` has 14 of them", ONE, "--importance-of",
         "3,14"),
        (2, "expected all, train, val, test or numbers of rows such as 0,3,7, found 'some'", ONE,
         "--importance-of", "some")):
    r.fails(status, words, "run", path, "--data", r.path("d.npz"), "-q", "--importance",
            r.path("i.csv"), *args, printed=b"")
r.fails(2, "expected a name that ends in .npz or .csv", "run", ONE, "--importance", "x.txt")
r.fails(2, "--importance-method goes with --importance FILE", "run", ONE, "--importance-method",
        "integrated")
r.fails(2, "--batches goes without --importance", "run", ONE, "--batches", 2, "--importance",
        r.path("i.csv"))
r.done()
