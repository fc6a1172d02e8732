"""Figures of scores of edges by batches: where all edges count they are those of all at once; in
time each edge's are those of a copy of the graph that has the edges before it alone."""
import json
import os
import random

import files
import runs

r = runs.Runs(shared=True)
random.seed(7)
USERS, ITEMS, E, SEEDS, KINDS = 30, 20, 170, 60, 3
FIGURES = [f"{part}_{key}" for part in ("val", "test") for key in ("auc", "ap", "hits@20", "mrr")]
EPOCHS = ("--epochs", "2")


def train(path, where, *args):
    text = r.works("train", path, "--data", where, "-q", "--json", *args)
    return json.loads(text)["runs"][0]


def alike(one, other, what):
    assert abs(one["loss"] - other["loss"]) < 3e-6 * (1 + other["loss"]), (what, one, other)
    for key in FIGURES:
        a, b = one[key], other[key]
        assert (a is None and b is None) or abs(a - b) < 2e-6, (what, key, one, other)


def read(name):
    with open(r.path(name), "rb") as f:
        return f.read()


# Links that are held out of a graph.
N, F = 90, 6
GROUP = [v % 3 for v in range(N)]
EDGES = [(u, v) for v in range(N) for u in random.sample(range(N), 7)
         if GROUP[u] == GROUP[v] or random.random() < 0.2]
DATA = r.path("g.npz")
files.write_npz(DATA, {
    "edge_index": ("q", (2, len(EDGES)), [u for u, _ in EDGES] + [v for _, v in EDGES]),
    "x": ("f", (N, F), [random.gauss(float(f == GROUP[v]), 1.0) for v in range(N)
                        for f in range(F)])})
LINKS = """model L(hidden = 8) (g: graph, x: node[F], links: node -> node) -> edge.links {
  a = %s(hidden)
  b = %s(hidden)
  h = b(g, relu(a(g, x)))
  return %s
}
train L {
  loss = bce_with_logits(L(g, x, links), 1) + bce_with_logits(L(g, x, corrupt(links)), 0)
  optimizer = adam(lr = 0.02)
  epochs = 3
%s}
"""
DOT = "edge(u -> v in links: sum(h[u] * h[v], axis = -1))"
BATCH = "  batch = edges(32) of links\n"


def links(conv, more, result=DOT):
    return r.write("l.gnn", LINKS % (conv, conv, result, more))


for conv in ("GCNConv", "SAGEConv", "GATConv")[2 * runs.SANITIZED:]:
    full = train(links(conv, BATCH), DATA)
    for more in ("", "  exclude = reverse\n", "  disjoint = true\n"):
        ways = [train(links(conv, BATCH + more), DATA, "--evaluate", how)
                for how in ("full", "batch")]
        alike(*ways, (conv, more))
        assert more or ways[0]["test_auc"] == full["test_auc"]
assert full["test_auc"] > 0.5, full

# Along drawn edges: the same for any number of threads, in the log, and after a break.
FEW = BATCH + "  fanout = [3, 2]\n  exclude = self\n  evaluate = batch\n"
path, logs = links("SAGEConv", FEW), []
for threads in ("1", "2"):
    one = train(path, DATA, "--threads", threads, "--log", r.path("log.jsonl"), "--save",
                r.path("w"))
    logs.append([{k: v for k, v in json.loads(line).items() if k != "seconds"}
                 for line in read("log.jsonl").decode().splitlines()])
    assert all(logs[-1][-1][key] == one[key] for key in FIGURES), (one, logs[-1])
assert logs[0] == logs[1], logs
at_once = train(path, DATA, "--evaluate", "full")
assert at_once["loss"] == one["loss"] and at_once["test_auc"] != one["test_auc"], (at_once, one)
train(path, DATA, "--epochs", "1", "--checkpoint", r.path("ck"))
after = train(path, DATA, "--resume", r.path("ck"), "--save", r.path("again"))
assert read("w") == read("again") and [after[k] for k in FIGURES] == [one[k] for k in FIGURES]

# The epoch that validation links say: the best of all, whose weights are kept; then patience ends.
for name, key in (("val_auc", "val_auc"), ("val_ap", "val_ap")):
    path = links("SAGEConv", FEW + f"  monitor = {name}\n  select = best\n")
    best = train(path, DATA, "--epochs", "12", "--log", r.path("log.jsonl"))
    lines = [json.loads(line) for line in read("log.jsonl").decode().splitlines()]
    most = max(lines, key=lambda line: (line[key], -line["epoch"]))
    assert best[key] == most[key] and best["best_epoch"] == most["epoch"], (name, best, most)
    assert [line["best"] for line in lines].count(True) >= 1 and lines[0]["best"]
train(path, DATA, "--epochs", "5", "--checkpoint", r.path("ck"))
resumed = train(path, DATA, "--epochs", "12", "--resume", r.path("ck"))
assert resumed["val_ap"] == best["val_ap"] and resumed["best_epoch"] == best["best_epoch"]
patient = train(links("SAGEConv", FEW + "  monitor = val_auc\n  patience = 2\n"), DATA, "--epochs",
                "60")
assert patient["epochs"] < 60 and patient["stopped"] == "patience", patient

# Links that the data list with labels, for questions, with columns that the score reads.
BUYS = [(random.randrange(USERS), random.randrange(ITEMS)) for _ in range(E)]
TIME = [random.randrange(10) for _ in range(E)]
SEED = [(random.randrange(USERS), random.randrange(ITEMS)) for _ in range(SEEDS)]
SEED_TIME = [random.randrange(1, 10) for _ in range(SEEDS)]
MASK = {m: [int(k % 3 == at) for k in range(SEEDS)]
        for at, m in enumerate(("train", "val", "test"))}
LABEL = [float(k // 3 % 2) for k in range(SEEDS)]
X = [random.gauss(0, 1) for _ in range(USERS * F)]
Z = [random.gauss(0, 1) for _ in range(ITEMS * F)]
MODEL = """model P(hidden = 6) (x: node.user[F], z: node.item[G], buys: node.user -> node.item,
  seeds: node.user -> node.item, kind: edge.seeds of int) -> edge.seeds {
  a = SAGEConv(hidden)
  b = %s(hidden)
  c = SAGEConv(hidden)
  param rel: kind[hidden] = normal(0.0, 1.0)
  i = relu(a(buys, x, z))
  u = relu(b(reverse(buys), i, x))
  items = c(buys, u, i)
  return edge(u0 -> v in seeds: sum(u[u0] * rel[kind] * items[v], axis = -1))
}
train P {
  loss = bce_with_logits(P(x, z, buys, seeds, seeds.kind), seeds.labels)
  optimizer = sgd(lr = 0.1)
  epochs = 2
%s}
"""


def seeds(name, copies, buys, times):
    """A copy of the graph for each seed, or one of all."""
    def at(k, rows):
        return k * rows if copies > 1 else 0

    files.write_npz(r.path(name), {
        "user__buys__item.edge_index": ("q", (2, len(buys)), [u for u, _ in buys] +
                                        [v for _, v in buys]),
        "user__seeds__item.edge_index": (
            "q", (2, SEEDS), [u + at(k, USERS) for k, (u, _) in enumerate(SEED)] +
            [v + at(k, ITEMS) for k, (_, v) in enumerate(SEED)]),
        "user__seeds__item.labels": ("f", (SEEDS,), LABEL),
        "user__seeds__item.indexes": ("i", (SEEDS,), [k % 4 for k in range(SEEDS)]),
        "user__seeds__item.kind": ("i", (SEEDS,), [k % KINDS for k in range(SEEDS)]),
        **{f"user__seeds__item.{m}_mask": ("?", (SEEDS,), MASK[m]) for m in MASK},
        "user.x": ("f", (USERS * copies, F), X * copies),
        "item.z": ("f", (ITEMS * copies, F), Z * copies), **times})
    return r.path(name)


def model(conv, more):
    return r.write("p.gnn", MODEL % (conv, more))


ONE = seeds("one.npz", 1, BUYS, {"user__buys__item.time": ("q", (E,), TIME),
                                 "user__seeds__item.time": ("q", (SEEDS,), SEED_TIME)})
COPIES = seeds("copies.npz", SEEDS,
               [(u + k * USERS, v + k * ITEMS) for k, until in enumerate(SEED_TIME)
                for (u, v), t in zip(BUYS, TIME) if t < until], {})
OF_SEEDS = "  batch = edges(%d) of seeds over seeds.train_mask\n"
for conv in ("SAGEConv", "GraphConv")[runs.SANITIZED:]:
    for size in (7, 99):
        alike(*(train(model(conv, OF_SEEDS % size), ONE, "--evaluate", how)
                for how in ("full", "batch")), (conv, size))
    timed = train(model(conv, OF_SEEDS % 99 + "  before = time\n"), ONE)
    copied = train(model(conv, OF_SEEDS % 99), COPIES)
    alike(timed, copied, conv)
    assert timed["test_mrr"] is not None, timed
    untimed = train(model(conv, OF_SEEDS % 99), ONE)
    assert untimed["test_auc"] != timed["test_auc"], (untimed, timed)

# Facts that all of a batch share nodes with: of the whole, where a batch has fewer edges than that.
os.mkdir(r.path("kg"))
for name, facts in (("train", 100), ("valid", 5), ("test", 5)):
    r.write(f"kg/{name}.txt", "".join(
        f"e{random.randrange(20)}\tr{random.randrange(3)}\te{random.randrange(20)}\n"
        for _ in range(facts)))
FACTS = """model D(dim = 8) (g: graph, kind: edge of int) -> edge {
  param emb: node[dim] = normal(0.0, 0.5)
  param rel: kind[dim] = normal(0.0, 0.5)
  return distmult(g, emb, emb, rel[kind])
}
train D {
  loss = softmax_among(D, distmult_asks, g, g.kind, g.train_mask, none, 16, 0.1)
  optimizer = adagrad(lr = 0.1, rows = "touched")
  epochs = 3
%s}
"""


def facts(more, *args):
    return train(r.write("d.gnn", FACTS % more), r.path("kg"), *args)


whole = facts("")
OF_FACTS = "  batch = edges(%d) of g over g.train_mask\n"
assert abs(facts(OF_FACTS % 999)["loss"] - whole["loss"]) < 2e-5 * whole["loss"]
assert facts(OF_FACTS % 30)["loss"] < whole["loss"]

# What cannot be.
r.fails(3, "chooses epochs by `val_mrr`, and links for validation have none", "train",
        links("SAGEConv", FEW + "  monitor = val_mrr\n  select = best\n"), "--data", DATA, "-q")
r.fails(3, "has no links that are held out, and scored", "train",
        r.write("h.gnn", FACTS % "  monitor = val_auc\n  patience = 3\n"), "--data", r.path("kg"),
        "-q")
facts(OF_FACTS % 30)
for words, path, where in (
        ("`evaluate = batch` does not go with facts that are ranked", r.path("d.gnn"),
         r.path("kg")),
        ("has figures of results, and no `val_loss`",
         links("SAGEConv", BATCH + "  monitor = val_loss\n  select = best\n"), DATA)):
    r.fails(1, words, "train", path, "--data", where, "-q", "--evaluate", "batch")
r.fails(1, "or each edge of a relation a number, along which no messages go", "train",
        links("SAGEConv", FEW, "edge(u -> v in links: sum(degree(links)[u] * h[v], axis = -1))"),
        "--data", DATA, "-q")
SHIFTED = DOT + " - mean(edge(u -> v in links: sum(x[u], axis = -1)), over = edge)"
PLACED = f"float(ranked({DOT}, over = dst))"
for result in (SHIFTED, PLACED):
    r.fails(1, "takes all edges, and results are of some", "train", links("SAGEConv", FEW, result),
            "--data", DATA, "-q")
r.done()
