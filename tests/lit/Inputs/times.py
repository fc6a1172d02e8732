"""Batches whose rows are apart. What a row computes of the edges before its time is what it
computes in a copy of the graph that has those alone: data of a copy a row say so."""
import json
import random

import files
import runs

r = runs.Runs(shared=True)
random.seed(11)
N, E, F, ROWS = 24, 160, 4, 9
SRC = [random.randrange(N) for _ in range(E)]
DST = [v if random.random() < 0.05 else random.randrange(N) for v in SRC]
EDGE_TIME = [random.randrange(10) for _ in range(E)]
TIME = [random.randrange(10) for _ in range(N)]
X = [random.gauss(0, 1) for _ in range(N * F)]
LABEL = [random.randrange(3) for _ in range(N)]


def data(name, src, dst, copies, mask, more):
    n = N * copies
    arrays = {"user__sends__user.edge_index": ("q", (2, len(src)), src + dst),
              "user.x": ("f", (n, F), X * copies), "user.y": ("q", (n,), LABEL * copies), **more}
    for which in ("train", "val", "test"):
        arrays[f"user.{which}_mask"] = ("?", (n,), mask)
    files.write_npz(r.path(name), arrays)
    return r.path(name)


ROW_MASK = [int(v < ROWS) for v in range(N)]
OF_EDGES = data("edges.npz", SRC, DST, 1, ROW_MASK, {
    "user__sends__user.time": ("q", (E,), EDGE_TIME), "user.time": ("q", (N,), TIME)})
OF_ROWS = data("rows.npz", SRC, DST, 1, ROW_MASK, {"user.time": ("q", (N,), TIME)})


def copies(name, counts, last=None):
    """A copy of the graph for each row of the batch, of the edges that count for it: all, or the
    last few into each row."""
    src, dst, mask = [], [], []
    for row in range(ROWS):
        kept = [e for e in range(E) if counts(e, TIME[row])]
        for v in range(N if last else 0):
            into = [e for e in kept if DST[e] == v]
            late = sorted(into, key=lambda e: (EDGE_TIME[e], e))[-last:]
            kept = [e for e in kept if DST[e] != v or e in late]
        src += [SRC[e] + row * N for e in kept]
        dst += [DST[e] + row * N for e in kept]
        mask += [int(v == row) for v in range(N)]
    return data(name, src, dst, ROWS, mask, {})


MODEL = """model M(hidden = 6) (x: node.user[F], sends: node.user -> node.user) -> node.user[C] {
  a = %s
  b = %s
  return b(sends, relu(a(sends, x)))
}
train M {
  loss = cross_entropy(M(x, sends), y) over train_mask
  optimizer = sgd(lr = 0.1)
  epochs = 3
%s}
"""


def train(layer, where, more="", *args):
    path = r.write("m.gnn", MODEL % (f"{layer}(hidden)", f"{layer}(C)", more))
    text = r.works("train", path, "--data", where, "-q", "--json", *args)
    return json.loads(text)["runs"][0]


def same(one, full, what):
    assert abs(one["loss"] - full["loss"]) < 3e-6 * (1 + full["loss"]), (what, one, full)
    assert one["val_acc"] == full["val_acc"], (what, one, full)


BATCH = f"  batch = rows({ROWS})\n"
LAYERS = ("SAGEConv", "GCNConv", "GATConv", "GraphConv", "TransformerConv", "TAGConv")
if runs.SANITIZED:
    LAYERS = LAYERS[1:3]

# Edges before a row's time, or up to it, by their own times or by those of the rows that send.
for word, at in (("before", False), ("until", True)):
    by_edges = copies("c.npz", lambda e, t, at=at: EDGE_TIME[e] < t or (at and EDGE_TIME[e] == t))
    by_rows = copies("d.npz", lambda e, t, at=at: TIME[SRC[e]] < t or (at and TIME[SRC[e]] == t))
    for layer in LAYERS[at:] if runs.SANITIZED else LAYERS:
        for where, full in ((OF_EDGES, by_edges), (OF_ROWS, by_rows)):
            whole = train(layer, full)
            same(train(layer, where, f"{BATCH}  {word} = time\n"), whole, (layer, word, where))
            if layer != "TAGConv":  # whose messages go over more hops
                few = f"{BATCH}  {word} = time\n  fanout = [99, all]\n"
                same(train(layer, where, few), whole, (layer, word, where))

# The last ones, of the same time those that stand last; the first ones are others.
LAST = copies("e.npz", lambda e, t: EDGE_TIME[e] <= t, 2)
LATE = f"{BATCH}  until = time\n  fanout = [2, 2]\n"
same(train("SAGEConv", OF_EDGES, LATE + "  draw = last\n"), train("SAGEConv", LAST), "last")
drawn = train("SAGEConv", OF_EDGES, LATE)
assert drawn["loss"] != train("SAGEConv", OF_EDGES, LATE + "  draw = last\n")["loss"]

# Where there are no times, rows that are apart are what they are together.
for layer in LAYERS:
    same(train(layer, OF_ROWS, BATCH + "  disjoint = true\n"), train(layer, OF_ROWS), layer)

# Milliseconds since 1970, which 32 bits do not hold, from a store too.
AGO = 1_700_000_000_000
LONG = data("long.npz", SRC, DST, 1, ROW_MASK, {
    "user__sends__user.time": ("q", (E,), [AGO + t for t in EDGE_TIME]),
    "user.time": ("q", (N,), [AGO + t for t in TIME])})
r.works("data", "convert", LONG, r.path("long.gnnc"), "-q")
for where in (LONG, r.path("long.gnnc")):
    same(train("SAGEConv", where, BATCH + "  before = time\n"),
         train("SAGEConv", OF_EDGES, BATCH + "  before = time\n"), where)

# The same bits for any number of threads, and after a break; others for another seed.
FEW = "  batch = rows(4)\n  fanout = [3, 2]\n"
for how in ("  before = time\n", "  until = time\n  draw = labor\n",
            "  until = time\n  draw = replace\n", "  disjoint = true\n"):
    saved = []
    for k, args in enumerate((("--threads", "1"), ("--threads", "2"), ("--seed", "5"))):
        train("GATConv", OF_EDGES, FEW + how, *args, "--save", r.path(str(k)))
        with open(r.path(str(k)), "rb") as f:
            saved.append(f.read())
    assert saved[0] == saved[1] != saved[2], how
    state = ("--checkpoint", r.path("state"))
    train("GATConv", OF_EDGES, FEW + how, "--epochs", "1", *state)
    train("GATConv", OF_EDGES, FEW + how, "--resume", r.path("state"), "--save", r.path("b"))
    with open(r.path("b"), "rb") as f:
        assert f.read() == saved[0], how

# Edges: two types, messages both ways, each edge of a batch by its own time.
ITEMS, LINKS = 10, 8
BUYS = [(random.randrange(N), random.randrange(ITEMS)) for _ in range(E)]
LINK = [(random.randrange(N), random.randrange(ITEMS), random.randrange(10)) for _ in range(LINKS)]
KNOWN = ("f", (LINKS,), [float(random.randrange(2)) for _ in range(LINKS)])
PAIRS = """model P(hidden = 6)
  (x: node.user[F], z: node.item[G], buys: node.user -> node.item, links: node.user -> node.item)
  -> edge.links {
  a = SAGEConv(hidden)
  b = SAGEConv(hidden)
  c = SAGEConv(hidden)
  d = SAGEConv(hidden)
  back = reverse(buys)
  u = relu(a(back, z, x))
  i = relu(b(buys, x, z))
  users = c(back, i, u)
  items = d(buys, u, i)
  return edge(u -> v in links: sum(users[u] * items[v], axis = -1))
}
train P {
  loss = bce_with_logits(P(x, z, buys, links), links.label)
  optimizer = sgd(lr = 0.1)
  epochs = 3
%s}
"""


def pairs(name, more, count, buys, links, times):
    files.write_npz(r.path(name), {
        "user__buys__item.edge_index": ("q", (2, len(buys)), [u for u, _ in buys] +
                                        [v for _, v in buys]),
        "user__links__item.edge_index": ("q", (2, LINKS), [u for u, _ in links] +
                                         [v for _, v in links]),
        "user__links__item.label": KNOWN, "user.x": ("f", (N * count, F), X * count),
        "item.z": ("f", (ITEMS * count, 2), X[:2 * ITEMS] * count), **times})
    path = r.write("p.gnn", PAIRS % more)
    text = r.works("train", path, "--data", r.path(name), "-q", "--json", "--scores", "off")
    return json.loads(text)["runs"][0]["loss"]


one = pairs("pairs.npz", f"  batch = edges({LINKS}) of links\n  before = time\n", 1, BUYS,
            [(u, v) for u, v, _ in LINK],
            {"user__buys__item.time": ("q", (E,), EDGE_TIME),
             "user__links__item.time": ("q", (LINKS,), [t for _, _, t in LINK])})
full = pairs("many.npz", "", LINKS,
             [(u + k * N, v + k * ITEMS) for k, (_, _, t) in enumerate(LINK)
              for (u, v), at in zip(BUYS, EDGE_TIME) if at < t],
             [(u + k * N, v + k * ITEMS) for k, (u, v, _) in enumerate(LINK)], {})
assert abs(one - full) < 3e-6, (one, full)

# What is drawn of a batch's edges is of their times.
DRAWN = PAIRS.replace("loss = ", "loss = bce_with_logits(P(x, z, buys, corrupt(links)), 0) +\n    ")
path = r.write("drawn.gnn",
               DRAWN % "  batch = edges(3) of links\n  before = time\n  fanout = [4, 3]\n")
for threads in ("1", "2"):
    r.works("train", path, "--data", r.path("pairs.npz"), "-q", "--scores", "off", "--threads",
            threads, "--save", r.path(threads))
with open(r.path("1"), "rb") as f, open(r.path("2"), "rb") as g:
    assert f.read() == g.read()

# What cannot be.
NO_TIME = data("plain.npz", SRC, DST, 1, ROW_MASK, {})
PART_TIME = data("part.npz", SRC, DST, 1, ROW_MASK, {
    "user__sends__user.time": ("q", (E,), EDGE_TIME)})


def fails(status, where, words, more, *args):
    path = r.write("bad.gnn", MODEL % ("GCNConv(hidden)", "GCNConv(C)", more))
    r.fails(status, words, "train", path, "--data", where, "-q", *args)


fails(1, NO_TIME, "the data have none of this name", BATCH + "  before = time\n")
fails(1, PART_TIME, "a batch is of `user`, and the data have no `user.time`",
      BATCH + "  before = time\n")
fails(1, OF_EDGES, "`before` and `until` do not go together",
      BATCH + "  before = time\n  until = time\n")
fails(1, OF_EDGES, "`before` goes with `batch`", "  before = time\n")
fails(1, OF_EDGES, "`before` makes rows of a batch disjoint",
      BATCH + "  before = time\n  disjoint = false\n")
fails(1, OF_EDGES, "`disjoint` is true or false", BATCH + "  disjoint = 2\n")
fails(1, OF_EDGES, "`draw = last` goes with `before` or `until`",
      FEW + "  draw = last\n")
fails(1, OF_EDGES, "`exclude` does not go with `until`",
      "  batch = edges(5) of sends\n  exclude = self\n  until = time\n")
fails(1, OF_EDGES, "`before` goes with `evaluate = batch`",
      BATCH + "  before = time\n  evaluate = full\n")
fails(2, OF_EDGES, "--evaluate full does not go with `before`", BATCH + "  before = time\n",
      "--evaluate", "full")
fails(1, OF_EDGES, "is a whole number that rows or edges have", BATCH + "  before = 3\n")
r.done()
