"""Folders with files of arrays: what models make of them is what a plain reading in Python makes of
them."""
import json
import os
import random

import files
import runs

r = runs.Runs(shared=True)
draw = random.Random(5)
N, F, C, E = 40, 3, 4, 150
x = [[round(draw.uniform(-1, 1), 3) for _ in range(F)] for _ in range(N)]
y = [draw.randrange(C) for _ in range(N)]
lists = [[draw.randrange(2) for _ in range(C)] for _ in range(N)]
edges = [(draw.randrange(N), draw.randrange(N)) for _ in range(E)]
parts = list(range(0, 20)), list(range(20, 30)), list(range(30, N))
flat = lambda rows: [v for row in rows for v in row]


def write(name, data):
    os.makedirs(os.path.dirname(r.path(name)), exist_ok=True)
    r.write(name, data)


def write_npz(name, arrays):
    os.makedirs(os.path.dirname(r.path(name)), exist_ok=True)
    files.write_npz(r.path(name), arrays)


# Sums over in-edges, which are of all edges, and rows of features.
SUM = r.write("sum.gnn", "model S() (g: graph, x: node[F]) -> node[F] { return sum(u -> v in g: "
              "x[u]) + 0.5 * x }\n")
want = [[0.5 * v for v in row] for row in x]
for u, v in edges:
    for k in range(F):
        want[v][k] += x[u][k]


def sums(folder, *options):
    r.works("run", SUM, "--data", r.path(folder), "-q", "--predictions", r.path("out.npz"),
            *options)
    _, shape, got = files.read_npz(r.path("out.npz"))["out"]
    assert shape == (N, F) and max(abs(a - b) for a, b in zip(got, flat(want))) < 1e-4, folder


def describes(folder, text, model=os.path.join(runs.SAMPLES, "gcn.gnn")):
    e = r.run("train", model, "--data", r.path(folder), "--epochs", 2)
    assert e.returncode == 0 and text in e.stderr.decode(), e.stderr.decode()


SPLIT = "20 nodes to train on, 10 for validation, 10 for test\n"
# ---- GraphSAINT: the rows of a CSR matrix are sources ----
rows = [[v for u, v in edges if u == row] for row in range(N)]
ends = [0]
for row in rows:
    ends.append(ends[-1] + len(row))
for folder, labels in (("saint", y), ("yelp", lists)):
    write_npz(f"{folder}/raw/adj_full.npz",
              {"data": ("?", (E,), [1] * E), "indices": ("i", (E,), flat(rows)),
               "indptr": ("i", (N + 1,), ends), "shape": ("q", (2,), [N, N]),
               "format": files.npy("b", (), [ord(c) for c in "csr"], "|S3")})
    write(f"{folder}/raw/feats.npy", files.npy("d", (N, F), flat(x)))
    write(f"{folder}/raw/class_map.json",
          json.dumps({str(v): labels[v] for v in draw.sample(range(N), N)}))
    write(f"{folder}/raw/role.json", json.dumps(dict(zip(("tr", "va", "te"), parts))))
    sums(folder)
describes("saint", f"saint: {N} nodes, {E} edges, {F} features, {C} classes\n{SPLIT}")

# Several classes a node are `target`: a model that knows them by heart learns them all.
TARGETS = r.write("targets.gnn", """model M() (g: graph, x: node[F]) -> node[4] {
  param own: node[4] = zeros
  return own
}
train M {
  input target: node[4]
  loss = bce_with_logits(M(g, x), target) over train_mask
  optimizer = adam(lr = 0.5)
  epochs = 60
}
""")
r.works("train", TARGETS, "--data", r.path("yelp"), "-q", "--predictions", r.path("out.npz"))
got = files.read_npz(r.path("out.npz"))["out"][2]
for v in range(N):
    for k in range(C):
        logit = got[v * C + k]
        assert logit * (2 * lists[v][k] - 1) > 2 if v in parts[0] else logit == 0, (v, k, logit)

# ---- GraphBolt ----
DATA = "{name: NAME, format: numpy, path: set/PATH}"
yaml = f"""dataset_name: bolt
graph:
  nodes:
    - num: {N}
  edges:
    - format: csv
      path: edges/all.csv
feature_data:
  - domain: node
    name: feat
    format: numpy
    path: x.npy
tasks:
  - name: node_classification
    num_classes: {C}
"""
write("bolt/edges/all.csv", "".join(f"{u},{v}\n" for u, v in edges))
write("bolt/x.npy", files.npy("f", (N, F), flat(x)))
for name, part in zip(("train", "validation", "test"), parts):
    yaml += f"    {name}_set:\n      - data:\n"
    for what, values in (("seeds", part), ("labels", [y[v] for v in part])):
        write(f"bolt/set/{name}_{what}.npy", files.npy("q", (len(part),), values))
        of = DATA.replace("NAME", what).replace("PATH", f"{name}_{what}.npy")
        yaml += "          - " + of + "\n"
write("bolt/metadata.yaml", yaml)
sums("bolt")
sums("bolt/metadata.yaml")
describes("bolt", f"bolt: {N} nodes, {E} edges, {F} features, {C} classes\n{SPLIT}")

# Seeds that are edges: scores of them are along the relation `seeds`.
pairs = [(draw.randrange(N), draw.randrange(N)) for _ in range(30)]
write("links/edges/all.csv", "".join(f"{u},{v}\n" for u, v in edges))
write("links/x.npy", files.npy("f", (N, F), flat(x)))
write("links/set/train.npy", files.npy("q", (20, 2), flat(pairs[:20])))
write("links/set/test.npy", files.npy("q", (10, 2), flat(pairs[20:])))
write("links/set/true.npy", files.npy("q", (10,), [k % 2 for k in range(10)]))
write("links/metadata.yaml",
      yaml[:yaml.index("tasks:")] + "tasks:\n  - train_set:\n      - data:\n          - " +
      DATA.replace("NAME", "seeds").replace("PATH", "train.npy") +
      "\n    test_set:\n      - data:\n          - " +
      DATA.replace("NAME", "seeds").replace("PATH", "test.npy") + "\n          - " +
      DATA.replace("NAME", "labels").replace("PATH", "true.npy") + "\n")
LINKS = r.write("links.gnn", """\
model L() (g: graph, x: node[F], seeds: node -> node) -> edge.seeds {
  param bias: [1] = zeros
  return edge(u -> v in seeds: sum(x[u] * x[v], axis = -1)) + 0 * sum(bias)
}
train L {
  input labels: edge.seeds
  loss = bce_with_logits(L(g, x, seeds), labels, mask = seeds.train_mask)
  epochs = 1
}
""")
r.works("train", LINKS, "--data", r.path("links"), "-q", "--predictions", r.path("out.npz"))
got = files.read_npz(r.path("out.npz"))
assert got["edge_index"][2] == [u for u, _ in pairs] + [v for _, v in pairs], got["edge_index"]
assert all(abs(s - sum(a * b for a, b in zip(x[u], x[v]))) < 1e-4
           for s, (u, v) in zip(got["out"][2], pairs))

# ---- OGB ----
columns = [u for u, _ in edges] + [v for _, v in edges]
write_npz("ogb/raw/data.npz",
          {"edge_index": ("q", (2, E), columns), "num_nodes_list": ("q", (1,), [N]),
           "num_edges_list": ("q", (1,), [E]), "node_feat": ("f", (N, F), flat(x)),
           "node_year": ("q", (N, 1), [2000 + v for v in range(N)])})
write_npz("ogb/raw/node-label.npz", {"node_label": ("f", (N, 1), y)})
for name, part in zip(("train", "valid", "test"), parts):
    write(f"ogb/split/time/{name}.csv", "".join(f"{v}\n" for v in part))
sums("ogb")
describes("ogb", f"ogb: {N} nodes, {E} edges, {F} features, {C} classes\n"
          f"node: {N} rows, year of {2000 + N}\n{SPLIT}")
describes("yelp", f"yelp: {N} nodes, {E} edges, {F} features, 0 classes\n"
          f"node: {N} rows, target[{C}]\n{SPLIT}", TARGETS)
YEAR = r.write("year.gnn", "model Y() (g: graph, year: node of int) -> node { return sum(u -> v in "
               "g: year[u] >= 2010 ? 1.0 : 0.0) }\n")
r.works("run", YEAR, "--data", r.path("ogb"), "-q", "--predictions", r.path("out.npz"))
want = [sum(1 for u, w in edges if w == v and u >= 10) for v in range(N)]
assert files.read_npz(r.path("out.npz"))["out"][2] == want, want
r.done()
