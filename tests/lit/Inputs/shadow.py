"""Each row of a batch, or edge, in a subgraph of its own. Where nothing is drawn, what it computes
is what it computes in a copy of the graph that has the edges between the rows which it reaches."""
import json
import random

import files
import runs

r = runs.Runs(shared=True)
random.seed(5)
N, E, F, ROWS = 40, 90, 4, 9
SRC = [random.randrange(N) for _ in range(E)]
DST = [v if random.random() < 0.05 else random.randrange(N) for v in SRC]
TIME = [random.randrange(10) for _ in range(E)]
ROW_TIME = [random.randrange(3, 12) for _ in range(N)]
X = [random.gauss(0, 1) for _ in range(N * F)]
LABEL = [random.randrange(3) for _ in range(N)]
LINK = [(random.randrange(N), random.randrange(N)) for _ in range(12)]


def reached(roots, hops, kept):
    rows = set(roots)
    for _ in range(hops):
        rows |= {SRC[e] for e in kept if DST[e] in rows}
    return rows


def data(name, edges, copies, mask, links, more):
    arrays = {"user__sends__user.edge_index": ("q", (2, len(edges)), [u for u, _ in edges] +
                                               [v for _, v in edges]),
              "user__links__user.edge_index": ("q", (2, len(links)), [u for u, _ in links] +
                                               [v for _, v in links]),
              "user__links__user.label": ("f", (len(links),), [float(k % 2)
                                                               for k in range(len(links))]),
              "user.x": ("f", (N * copies, F), X * copies),
              "user.y": ("q", (N * copies,), LABEL * copies), **more}
    for which in ("train", "val", "test"):
        arrays[f"user.{which}_mask"] = ("?", (N * copies,), mask)
    files.write_npz(r.path(name), arrays)
    return r.path(name)


WHOLE = data("whole.npz", list(zip(SRC, DST)), 1, [int(v < ROWS) for v in range(N)], LINK, {
    "user__sends__user.time": ("q", (E,), TIME), "user.time": ("q", (N,), ROW_TIME)})


def copied(name, groups, hops, counts=lambda group, e: True):
    """Of each group of roots, the edges between the rows that it reaches."""
    edges, mask, links = [], [], []
    for k, roots in enumerate(groups):
        kept = [e for e in range(E) if counts(k, e)]
        rows = reached(roots, hops, kept)
        edges += [(SRC[e] + k * N, DST[e] + k * N) for e in kept
                  if SRC[e] in rows and DST[e] in rows]
        mask += [int(v == roots[0]) for v in range(N)]
        links.append((roots[0] + k * N, roots[-1] + k * N))
    return data(name, edges, len(groups), mask, links, {})


MODEL = """model M(hidden = 6) (x: node.user[F], sends: node.user -> node.user) -> node.user[C] {
  a = %s
  b = %s
  c = %s
  return c(sends, relu(b(sends, relu(a(sends, x)))))
}
train M {
  loss = cross_entropy(M(x, sends), y) over train_mask
  optimizer = sgd(lr = 0.1)
  epochs = 3
%s}
"""
PAIRS = """model P(hidden = 6) (x: node.user[F], sends: node.user -> node.user,
                                links: node.user -> node.user) -> edge.links {
  a = SAGEConv(hidden)
  b = GCNConv(hidden)
  h = b(sends, relu(a(sends, x)))
  return edge(u -> v in links: sum(h[u] * h[v], axis = -1))
}
train P {
  loss = bce_with_logits(P(x, sends, links), links.label)
  optimizer = sgd(lr = 0.1)
  epochs = 3
%s}
"""


def run(text, where, *args):
    path = r.write("m.gnn", text)
    return json.loads(r.works("train", path, "--data", where, "-q", "--json", *args))["runs"][0]


def model(layer, more):
    return MODEL % (f"{layer}(hidden)", f"{layer}(hidden)", f"{layer}(C)", more)


def shadow(depth, k=99, more="", batch=f"rows({ROWS})"):
    return f"  batch = {batch}\n  sampler = shadow(depth = {depth}, k = {k})\n{more}"


def same(one, full, what):
    assert abs(one["loss"] - full["loss"]) < 3e-6 * (1 + full["loss"]), (what, one, full)
    assert one["val_acc"] == full["val_acc"], (what, one, full)


LAYERS = ("GCNConv", "SAGEConv", "GATConv", "GraphConv")
ROOTS = [[v] for v in range(ROWS)]
for depth in (1, 2)[runs.SANITIZED:]:
    copies = copied("copies.npz", ROOTS, depth)
    for layer in LAYERS[::2] if runs.SANITIZED else LAYERS:
        full = run(model(layer, ""), copies)
        same(run(model(layer, shadow(depth)), WHOLE), full, (layer, depth))
        if layer == "GCNConv":
            assert abs(full["loss"] - run(model(layer, ""), WHOLE)["loss"]) > 1e-4, full

# In time: edges that count for a row, those that it reaches others by and those between them.
late = copied("late.npz", ROOTS, 2, lambda k, e: TIME[e] < ROW_TIME[k])
same(run(model("GCNConv", shadow(2, more="  before = time\n")), WHOLE),
     run(model("GCNConv", ""), late), "before")

# The ends of a batch's edges, in one subgraph.
pairs = copied("pairs.npz", [list(link) for link in LINK], 1)
one = run(PAIRS % shadow(1, batch="edges(99) of links"), WHOLE)
two = run(PAIRS % "", pairs)
assert abs(one["loss"] - two["loss"]) < 3e-6, (one, two)

# Drawn: the same bits for any number of threads, and after a break; others for another seed.
FEW = shadow(2, 2, batch="rows(4)")
for how in ("", "  draw = replace\n", "  before = time\n  draw = last\n"):
    saved = []
    for k, args in enumerate((("--threads", "1"), ("--threads", "2"), ("--seed", "5"))):
        run(model("GATConv", FEW + how), WHOLE, *args, "--save", r.path(str(k)))
        with open(r.path(str(k)), "rb") as f:
            saved.append(f.read())
    assert saved[0] == saved[1] and (saved[1] != saved[2]), how
    state = r.path("state")
    run(model("GATConv", FEW + how), WHOLE, "--epochs", "1", "--checkpoint", state)
    run(model("GATConv", FEW + how), WHOLE, "--resume", state, "--save", r.path("b"))
    with open(r.path("b"), "rb") as f:
        assert f.read() == saved[0], how
r.fails(3, "shadow(2, 2); before time", "train",
        r.write("other.gnn", model("GATConv", "  batch = rows(4)\n  before = time\n")), "--data",
        WHOLE, "-q", "--resume", state)


# As often as chance has it: what rows of subgraphs there are, by the edges between those, of a
# plain program that draws each subgraph (Zeng et al.'s, as PyTorch Geometric has it).
COUNTS = """model S() (x: node.user[F], sends: node.user -> node.user) -> node.user[2] {
  param w: [1] = ones
  into = sum(u -> v in sends: w * fill(slice(x, 0, 1), 1)[u])
  return concat(into, sum(u -> v in sends: into[u]))
}
fn mean_of(s, mask) = sum(mask ? slice(s, %d, %d) : 0.0) / count(mask)
train S {
  loss = mean_of(S(x, sends)) over train_mask
  optimizer = sgd(lr = 0)
  epochs = 200
  evaluate = full
%s}
"""
MANY = 300
SRC, DST = ([random.randrange(N) for _ in range(MANY)] for _ in range(2))
INTO = [[e for e in range(MANY) if DST[e] == v] for v in range(N)]
DENSE = data("dense.npz", list(zip(SRC, DST)), 1, [int(v < ROWS) for v in range(N)], LINK, {})


def drawn_rows(root, depth, k):
    rows, new = {root}, [root]
    for _ in range(depth):
        found = {SRC[e] for v in new for e in random.sample(INTO[v], min(k, len(INTO[v])))}
        new = sorted(found - rows)
        rows |= found
    return rows


def count(root, depth, k):
    rows = drawn_rows(root, depth, k)
    into = {v: sum(SRC[e] in rows for e in INTO[v]) for v in rows}
    return into[root], sum(into[SRC[e]] for e in INTO[root] if SRC[e] in rows)


def mean_and_error(xs):
    mean = sum(xs) / len(xs)
    return mean, sum((x - mean) ** 2 for x in xs) / (len(xs) - 1) / len(xs)


for depth in (1, 2):
    draws = [[count(v, depth, 3) for v in range(ROWS)] for _ in range(200)]
    for what in (0, 1):
        text = COUNTS % (what, what + 1, shadow(depth, 3, batch="rows(4)"))
        run(text, DENSE, "--log", r.path("log.jsonl"))
        with open(r.path("log.jsonl"), encoding="utf-8") as f:
            a, b = mean_and_error([json.loads(line)["loss"] for line in f])
        c, d = mean_and_error([sum(x[what] for x in draw) / ROWS for draw in draws])
        assert abs(a - c) < 4.5 * (b + d) ** 0.5 and b > 0, (depth, what, a, b, c, d)


def fails(status, words, more, *args):
    r.fails(status, words, "train", r.write("bad.gnn", model("GCNConv", more)), "--data", WHOLE,
            "-q", *args)


fails(1, "`shadow` goes with `batch`", "  sampler = shadow(2, 3)\n")
fails(1, "`shadow` needs `k`", "  batch = rows(4)\n  sampler = shadow(2)\n")
fails(1, "`shadow` goes over 12 hops at most", shadow(99))
for name, value in (("fanout", "[3, 2, 2]"), ("disjoint", "true")):
    fails(1, f"`{name}` does not go with `sampler`", shadow(2, more=f"  {name} = {value}\n"))
fails(2, "--fanout does not go with `shadow`", FEW, "--fanout", "3,2,2")

by_source = model("GCNConv", shadow(2)).replace("relu(a(sends, x))",
                                                "a(sends, x) / out_degree(sends)")
r.fails(1, "sums over the edges from rows", "train", r.write("bad.gnn", by_source), "--data", WHOLE,
        "-q")

# Of several types: a chain of three, of which one hop does not reach the last.
FIRST, LAST = (random.choices(range(N), k=E) for _ in range(2))
files.write_npz(r.path("chain.npz"), {
    "b__near__a.edge_index": ("q", (2, E), FIRST + LAST),
    "c__far__b.edge_index": ("q", (2, E), LAST + FIRST),
    **{name: ("f", (N, F), X) for name in ("a.x", "b.z", "c.w")}, "a.y": ("q", (N,), LABEL),
    **{f"a.{m}_mask": ("?", (N,), [int(v < ROWS) for v in range(N)])
       for m in ("train", "val", "test")}})
CHAIN = """model T(hidden = 6) (near: node.b -> node.a, far: node.c -> node.b, x: node.a[F],
                             z: node.b[G], w: node.c[H]) -> node.a[C] {
  h = relu(SAGEConv(hidden)(far, w, z))
  return SAGEConv(C)(near, h, x)
}
train T {
  loss = cross_entropy(T(near, far, x, z, w), y) over train_mask
  optimizer = sgd(lr = 0.1)
  epochs = 3
%s}
"""
same(run(CHAIN % shadow(2), r.path("chain.npz")), run(CHAIN % "", r.path("chain.npz")), "types")
r.fails(1, "messages come from `c`, which is more than 1 hop away", "train",
        r.write("chain.gnn", CHAIN % shadow(1)), "--data", r.path("chain.npz"), "-q")
r.done()
