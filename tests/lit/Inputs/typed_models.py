"""Models of several types of rows, of many graphs, of links and of facts: results against plain
Python, the same bits however they are made, and what is refused."""
import json
import math
import os
import random
import sys

import files
import runs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data"))
import typed  # noqa: E402

r = runs.Runs(shared=True)
SMALL = ("-q", "-D", "dim=6")


def sample(name):
    return os.path.join(runs.SAMPLES, name + ".gnn"), *typed.options(name, r.path("typed"))


def test_of(*args):
    out = r.works(*args, "--json")
    return json.loads(out) if out else {}


def facts_of(folder):
    """(head, kind, tail) by part; entities and kinds are numbered as they come."""
    parts, entities, kinds = {}, {}, {}
    for part in ("train", "valid", "test"):
        with open(os.path.join(folder, part + ".txt"), encoding="utf-8") as f:
            lines = [line.split() for line in f]
        parts[part] = [(entities.setdefault(h, len(entities)), kinds.setdefault(k, len(kinds)),
                        entities.setdefault(t, len(entities))) for h, k, t in lines]
    return parts, len(entities)


def distmult(w, h, k, t, end):
    """`end`: 0 among other tails, 1 among other heads."""
    d = w["emb"][1][1]
    e, rel = w["emb"][2], w["rel"][2]
    return sum(e[h * d + i] * rel[(2 * k + end) * d + i] * e[t * d + i] for i in range(d))


def rotate(w, h, k, t, end):
    d = w["re"][1][1]
    re, im, phase = w["re"][2], w["im"][2], w["phase"][2]
    total = 0.0
    for i in range(d):
        c, s = math.cos(phase[k * d + i]), math.sin(phase[k * d + i])
        a, b = re[h * d + i] * c - im[h * d + i] * s, re[h * d + i] * s + im[h * d + i] * c
        total += math.sqrt((a - re[t * d + i]) ** 2 + (b - im[t * d + i]) ** 2 + 1e-12)
    return -total


def ranks(score, parts, n):
    known = {t for part in parts.values() for t in part}
    found = []
    for h, k, t in parts["test"]:
        for end, facts in enumerate(([(h, k, v) for v in range(n)],
                                     [(v, k, t) for v in range(n)])):
            true = score(h, k, t, end)
            others = [score(*f, end) for f in facts if f not in known]
            above = sum(s > true + 1e-6 for s in others)
            level = sum(abs(s - true) <= 1e-6 for s in others)
            found.append(1 + above + level / 2)
    return found


for name, score in (("distmult", distmult), ("rotate", rotate)):
    model, option, folder = sample(name)
    weights = r.path(name + ".safetensors")
    out = test_of("train", model, option, folder, *SMALL, *typed.few(name), "--epochs", 60,
                  "--save", weights)
    parts, n = facts_of(folder)
    w = files.read_safetensors(weights)
    want = ranks(lambda h, k, t, end, w=w, score=score: score(w, h, k, t, end), parts, n)
    mrr, hits = sum(1 / x for x in want) / len(want), sum(x <= 3 for x in want) / len(want)
    got = out.get("test", {})
    if not (abs(got.get("mrr", 9) - mrr) < 1e-4 and abs(got["hits@3"] - hits) < 1e-9
            and got["ranked"] == len(want)):
        r.problems.append(f"{name}: {got}, expected mrr {mrr}, hits@3 {hits} of {len(want)}")
    again = test_of("run", model, option, folder, *SMALL, *typed.few(name), "--weights",
                    weights).get("test")
    if again != got:
        r.problems.append(f"{name}: run says {again}, train said {got}")

# The same bits on one thread and on two, and of training that went on.
model, option, folder = sample("distmult")
base = ("train", model, option, folder, *SMALL, *typed.few("distmult"), "--epochs", 10)
r.works(*base, "--threads", 1, "--save", r.path("one"))
r.works(*base, "--threads", 2, "--save", r.path("two"))
r.works(*base[:-1], 4, "--checkpoint", r.path("half"))
r.works(*base, "--resume", r.path("half"), "--save", r.path("on"))
one = open(r.path("one"), "rb").read()
for other in ("two", "on"):
    if open(r.path(other), "rb").read() != one:
        r.problems.append(f"weights of {other} are not those of one")

# Rows of tables that a step touches: the same bits on two threads, of training that went on,
# without chains and in-place updates and of unoptimised code to rounding. A step changes rows that
# it drew alone; where nothing else moves rows (Adagrad) it is what it is of all.
FEW = ("-q", "-D", "batch=4", "-D", "times=1", "-D", "dim=6")
text = """model DistMult(dim = 6) (g: graph, kind: edge of int) -> edge {
  param emb: node[dim] = normal(0.0, 0.1)
  param rel: kind[dim] = normal(0.0, 0.1)
  r = rel[kind]
  return edge(u -> v in g: sum(emb[u] * r * emb[v], axis = -1))
}
train DistMult(batch = 2048, times = 32) {
  loss = softmax_against_drawn(DistMult, g, g.kind, g.train_mask, times, batch)
  optimizer = OPTIMIZER
}
"""
for k, optimizer in enumerate(("adam(lr = 0.01)", "adagrad(lr = 0.1)", "sgd(lr = 0.1)",
                               "adamw(lr = 0.01)")):
    touched = r.write(f"touched{k}.gnn",
                      text.replace("OPTIMIZER", optimizer.replace(")", ', rows = "touched")')))
    base = ("train", touched, option, folder, *FEW, "--epochs", 12)
    r.works(*base, "--threads", 1, "--save", r.path("one"))
    r.works(*base, "--threads", 2, "--save", r.path("two"))
    r.works(*base, "-O", "reduce-overhead", "--threads", 2, "--save", r.path("region"))
    r.works(*base[:-1], 5, "--checkpoint", r.path("half"))
    r.works(*base, "--resume", r.path("half"), "--save", r.path("on"))
    for other in ("two", "region", "on"):
        if open(r.path(other), "rb").read() != open(r.path("one"), "rb").read():
            r.problems.append(f"{optimizer}, touched: weights of {other} are not those of one")
    r.works(*base, "-O", "eager", "--save", r.path("eager"))
    r.works(*base, "--without", "in-place", "--save", r.path("copied"))
    r.works("train", r.write("all.gnn", text.replace("OPTIMIZER", optimizer)), *base[2:], "--save",
            r.path("all"))
    one, *others = [files.read_safetensors(r.path(name))
                    for name in ("one", "eager", "copied", "all")]
    for name, other in zip(("eager", "copied", "all"), others):
        off = max(abs(a - b) for key in one for a, b in zip(one[key][2], other[key][2]))
        alike = name != "all" or optimizer.startswith(("adagrad", "sgd"))
        if (off > 1e-4) == alike:
            r.problems.append(f"{optimizer}, touched: {name} is {off:g} off")
    r.works(*base[:-1], 1, "--lr", 0, "--save", r.path("before"))
    r.works(*base[:-1], 1, "--save", r.path("after"))
    was, now = (files.read_safetensors(r.path(name))["emb"][2] for name in ("before", "after"))
    changed = sum(was[i:i + 6] != now[i:i + 6] for i in range(0, len(was), 6))
    if not 5 <= changed <= 12:
        r.problems.append(
            f"{optimizer}: a step changes {changed} rows, of 4 facts and as many that are drawn")
r.fails(3, 'is of another optimizer: adamw(lr = 0.01, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, '
        'rows = "touched")', "train", r.path("all.gnn"), *base[2:], "--resume", r.path("half"))

# Graphs have a prediction each; links are judged.
r.works("train", *sample("gin_graphs"), "-q", "--epochs", 3, "--predictions", r.path("graphs.csv"))
lines = open(r.path("graphs.csv"), encoding="utf-8").read().split()
if len(lines) != 31:
    r.problems.append(f"{len(lines)} lines of predictions for 30 graphs")
links = [test_of("train", *sample("links"), "-q", "--epochs", 20, "--threads", k) for k in (1, 2)]
if (links[0].get("test_auc") != links[1].get("test_auc")
    or not 0 <= links[0].get("test_ap", -1) <= 1):
    r.problems.append(f"links: {links[0].get('test_auc')} and {links[1].get('test_auc')}")

# Of each seed, with mean and deviation over them; the log's last line says the same, and `run` of
# those weights.
FIGURES = [f"{part}_{name}" for part in ("val", "test")
           for name in ("auc", "ap", "hits@20", "hits@50", "hits@100")]
out = test_of("train", *sample("links"), "-q", "--epochs", 6, "--seeds", 3, "--log",
              r.path("links.jsonl"), "--save", r.path("links.w"))
with open(r.path("links.jsonl"), encoding="utf-8") as f:
    log = [json.loads(line) for line in f]
again = test_of("run", *sample("links"), "-q", "--weights", r.path("links.w"))
for name in FIGURES:
    of = [run[name] for run in out["runs"]]
    mean = sum(of) / 3
    std = math.sqrt(sum((v - mean) ** 2 for v in of) / 2)
    if not (all(0 <= v <= 1 for v in of) and abs(out["held_out"][name]["mean"] - mean) < 1e-9
            and abs(out["held_out"][name]["std"] - std) < 1e-9
            and out[name] == of[2] == again[name]):
        r.problems.append(f"{name}: {of}, {out['held_out'][name]}, {out[name]}, run {again[name]}")
    logged = [row[name] for row in log if row["epoch"] == 6]
    if len(logged) != 3 or max(abs(a - b) for a, b in zip(logged, of)) > 1e-8:
        r.problems.append(f"{name}: the log has {logged}, runs {of}")
two = test_of("train", *sample("distmult"), *SMALL, "--epochs", 4, "--seeds", 2)
mrr = [run["test"]["mrr"] for run in two["runs"]]
if (two["test"]["mrr"] != mrr[1] or abs(two["held_out"]["mrr"]["mean"] - sum(mrr) / 2) > 1e-9
    or two["held_out"]["mrr"]["std"] == 0):
    r.problems.append(f"MRR of seeds: {mrr}, {two['held_out']}")

# OGB's Hits@K of scores that are known: links of one kind above all others, or all alike.
KNOWN = """model M(a = 1.0) (g: graph, x: node[F], links: node -> node) -> edge.links {
  param w: [1] = constant(a)
  return edge(u -> v in links: w * x[u][0] * x[v][0])[0]
}
train M { loss = bce_with_logits(M(g, x, links), 1)
  optimizer = sgd(lr = 0)
  epochs = 1 }
"""
r.write("known.gnn", KNOWN)
N = 400
# of even nodes below 80, whose x is 1; others' is 0
inside = [(2 * u, 2 * v) for u in range(40) for v in range(u)]
around = [(u, u + 1) for u in range(1, N - 1, 2)]
pairs = inside + around
files.write_npz(
    r.path("known.npz"),
    {"edge_index": ("q", (2, len(pairs)), [u for u, _ in pairs] + [v for _, v in pairs]),
     "x": ("f", (N, 1), [float(v % 2 == 0 and v < 80) for v in range(N)])})
for a, above in ((1.0, True), (0.0, False)):
    got = test_of("train", r.path("known.gnn"), "--data", r.path("known.npz"), "-q", "-D", f"a={a}")
    few, many = got.get("test_hits@20", -1), got.get("test_hits@100", -1)
    # 97 links are tested, so that there are fewer than 100 negatives
    if not (many == 1 and (0.5 < few < 1 if above else few == 0)):
        r.problems.append(f"hits of scores that are known: {few} and {many}, a = {a}")

# Links of the data, with labels and questions: against a plain program in double precision.
SEEDS = """model S() (x: node.item[F], seeds: node.item -> node.item) -> edge.seeds {
  param w: [1] = constant(1.0)
  return edge(u -> v in seeds: w[0] * x[u][0] * x[v][1])
}
train S { loss = bce_with_logits(S(x, seeds), 1)
  optimizer = sgd(lr = 0)
  epochs = 1 }
"""
r.write("seeds.gnn", SEEDS)
draw = random.Random(5)
N, ASKED, EACH = 60, 40, 30
x = [[draw.randrange(-4, 5) / 4 for _ in range(2)] for _ in range(N)]
rows = []  # source, target, label, index, part
for q in range(2 * ASKED):
    part, u = ("val", "test")[q % 2], draw.randrange(N)
    rows += [(u, draw.randrange(N), int(k < 1 + q % 3), q, part) for k in range(EACH)]
rows += [(draw.randrange(N), draw.randrange(N), 1, -1, "train") for _ in range(20)]
draw.shuffle(rows)
files.write_npz(r.path("seeds.npz"), {
    "item.x": ("f", (N, 2), [v for row in x for v in row]),
    "item__seeds__item.edge_index": ("q", (2, len(rows)),
                                     [row[0] for row in rows] + [row[1] for row in rows]),
    "item__seeds__item.labels": ("q", (len(rows),), [row[2] for row in rows]),
    "item__seeds__item.indexes": ("q", (len(rows),), [max(row[3], 0) for row in rows]),
    **{f"item__seeds__item.{part}_mask": ("?", (len(rows),), [row[4] == part for row in rows])
       for part in ("train", "val", "test")}})
got = test_of("train", r.path("seeds.gnn"), "--data", r.path("seeds.npz"), "-q")
for part in ("val", "test"):
    mine = [(x[u][0] * x[v][1], label, q) for u, v, label, q, of in rows if of == part]
    true = [s for s, label, _ in mine if label]
    false = sorted((s for s, label, _ in mine if not label), reverse=True)
    above = sum((t > f) + 0.5 * (t == f) for t in true for f in false)
    want = {"auc": above / len(true) / len(false)}
    want.update({f"hits@{k}": 1.0 if len(false) < k
                 else sum(t > false[k - 1] for t in true) / len(true) for k in (20, 50, 100)})
    ranks_of = [1 + sum(s > t for s, label, q in mine if q == a and not label)
                + sum(s == t for s, label, q in mine if q == a and not label) / 2
                for t, yes, a in mine if yes]
    want["mrr"] = sum(1 / rank for rank in ranks_of) / len(ranks_of)
    for name, value in want.items():
        if not abs((got.get(f"{part}_{name}") or -9) - value) < 1e-6:
            r.problems.append(
                f"seeds, {part} {name}: {got.get(f'{part}_{name}')}, expected {value}")

# Losses of facts that all have the same score, whatever was drawn: what a temperature does, and
# scores far below 0.
ALIKE = """model M(b = 0.0) (g: graph, kind: edge of int) -> edge {
  param w: [1] = constant(b)
  return edge(u -> v in g: sum(w))
}
train M { loss = LOSS
  optimizer = sgd(lr = 0) 
  epochs = 1 }
"""


def softplus(x):
    return max(x, 0) + math.log1p(math.exp(-abs(x)))


for b in (-3.0, 0.5, -200.0):
    for loss, want in (("nssa(M, g, g.kind, g.train_mask, 5, temperature = 10.0)",
                        softplus(-b) + softplus(b)),
                       ("nssa(M, g, g.kind, g.train_mask, 5, margin = 6.0)",
                        softplus(-b - 6) + softplus(b + 6)),
                       ("softmax_against_drawn(M, g, g.kind, g.train_mask, 5)", math.log(6))):
        r.write("alike.gnn", ALIKE.replace("LOSS", loss))
        got = test_of("train", r.path("alike.gnn"), *sample("distmult")[1:], "-q", "-D",
                      f"b={b}").get("runs", [{"loss": 1e9}])[0]["loss"]
        if not abs(got - want) < 1e-4 * (1 + want):
            r.problems.append(f"{loss} of scores of {b}: {got}, expected {want}")

# A model takes held-out links, another of the same file does not: its graph is whole.
two = open(sample("links")[0], encoding="utf-8").read() + open(
    os.path.join(runs.SAMPLES, "gcn.gnn"), encoding="utf-8").read()
r.write("two.gnn", two)
edges = [test_of("train", r.path("two.gnn"), "-q", "--epochs", 1, "--model", name).get("edges")
         for name in ("GCN", "Links")]
if edges != [156, 136]:
    r.problems.append(f"edges of two models of one file: {edges}, expected 156 and 136")

# Messages along the edges that are scored: those that stand for others would change the nodes.
r.write("own.gnn", """model M(dim = 4) (g: graph, kind: edge of int) -> edge {
  param emb: node[dim] = normal(0.0, 0.1)
  h = emb + mean(u -> v in g: emb[u])
  return edge(u -> v in g: sum(h[u] * h[v], axis = -1))
}
train M { loss = mean(softplus(-M(g, g.kind)))   epochs = 2 }
""".replace("   epochs", "\n epochs"))
if "test" in test_of("train", r.path("own.gnn"), *sample("distmult")[1:], "-q"):
    r.problems.append("facts are ranked by a model whose messages go along them")

# A table of which something reads all rows is updated whole, whatever is said of rows.
own = open(r.path("own.gnn"), encoding="utf-8").read()
for rows in ("all", "touched"):
    r.works("train",
            r.write("rows.gnn",
                    own.replace("\n epochs", f'\n optimizer = adam(rows = "{rows}")\n epochs')),
            *sample("distmult")[1:], "-q", "--save", r.path(rows))
if open(r.path("all"), "rb").read() != open(r.path("touched"), "rb").read():
    r.problems.append("a table that is read whole: other rows are touched")

# Rows that messages read, of a loss that needs few of them.
LOSS_OF_FEW = """model M(dim = 8) (g: graph) -> node[C] {
  param emb: node[dim] = normal(0.0, 1.0)
  param other: node[dim] = normal(0.0, 1.0)
  a = Linear(dim)
  h = relu(a(sum(u -> v in g: emb[u])))
  return Linear(C)(mean(u -> v in g: h[u] + other[v]))
}
train M { loss = cross_entropy(M(g), y) over train_mask
  optimizer = adam(lr = 0.05, rows = "touched")
  epochs = 4 }
"""
few = [test_of("train", r.write("few.gnn", LOSS_OF_FEW), "-q", *args)["runs"][0]["loss"]
       for args in ((), ("--without", "restrict_rows"), ("-O", "eager"))]
if max(few) - min(few) > 1e-5:
    r.problems.append(f"losses of few rows: {few}")

# Sizes are declared by the names of types and relations.
PAPERS = ("run", sample("hgt")[0], "-q", "-D", "hidden=4", "--data", "synthetic:typed,scale=0.0003")
r.works(*PAPERS, "--range", "paper in 1.., writes in 0..100000")
r.fails(3, "paper has 221 rows, declared to be in 1..10", *PAPERS, "--range", "paper in 1..10")
r.fails(3, "writes has 2144 edges, declared to be 9999 or more", *PAPERS, "--range",
        "writes in 9999..")
r.fails(2, "--range: ranges: 'papre' is no space and no relation; did you mean 'paper'?", *PAPERS,
        "--range", "papre in 1..10")
r.fails(3, "graph has", *("run", *sample("gin_graphs")), "-q", "--range", "graph in 0..1")

# Facts of which none is marked to be tested have no ranks.
os.makedirs(r.path("untested"), exist_ok=True)
for part, lines in (("train", "a\tr\tb\nb\tr\tc\n"), ("valid", "a\tr\tc\n")):
    with open(os.path.join(r.path("untested"), part + ".txt"), "w", encoding="utf-8") as f:
        f.write(lines)
if "test" in test_of("run", sample("distmult")[0], *SMALL, "--data", r.path("untested")):
    r.problems.append("no facts to be tested have ranks")

# What they do not go with.
r.fails(3, "has none; `batch = edges(N) of g over g.train_mask` takes edges", "train",
        *sample("distmult"), "-q", "--batch", 4)
r.fails(2, "--batches draws parts of one graph, and DistMult has `g.kind` beside it", "run",
        *sample("distmult"), "-q", "--batches", 2)
r.fails(1, "the data have no relation `member`: they have `g`", "train", sample("gin_graphs")[0],
        "-q")
r.fails(1, "the data have several types of nodes, and no `g`", "train",
        os.path.join(runs.SAMPLES, "gcn.gnn"), "-q", "--data", "synthetic:typed,scale=0.001")
r.done()
