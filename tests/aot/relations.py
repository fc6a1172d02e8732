#!/usr/bin/env python3
"""Models over several types of rows and several relations, compiled ahead of time, in a C program:
relations.py GNNC FOLDER.

What they compute is compared with what gnnc computes on the same data: with the sizes that they
were compiled for, and with others."""
import os
import random
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lit", "Inputs"))
sys.path.insert(0, os.path.join(HERE, "..", "data"))
import files  # noqa: E402
import runs  # noqa: E402
import typed  # noqa: E402

CC = os.environ.get("CC") or "cc"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-function"]
STEPS, SEED, AUTHORS = 5, 7, 9
PROBLEMS = []

# Rows of features of their own, rows that weights name, numbers on edges, and a relation that
# nothing reads.
PAPERS = """model Papers() (cites: node.paper -> node.paper, writes: node.author -> node.paper,
                reads: node.author -> node.paper, x: node.paper[6], z: node.author[4],
                year: edge.writes of int) -> node.paper[C] {
  param emb: node.author[5] = normal(0.0, 1.0)
  param when: year[5] = uniform(0.5, 1.5)
  own = Linear(5)
  to = Linear(5, bias = false)
  by = Linear(5)
  last = Linear(C)
  h = (own(x) + mean(u -> v in cites: to(x)[u]) +
       sum(u -> v in writes: (by(z)[u] + emb[u]) * when[year]))
  return last(dropout(relu(h), 0.25))
}
train Papers {
  loss = cross_entropy(Papers(cites, writes, reads, x, z, year), y) over train_mask
  optimizer = adam(lr = 0.01)
}
"""
# Scores of the edges of a relation, in their order.
SCORES = """model Scores() (writes: node.author -> node.paper,
                x: node.paper[6], z: node.author[4]) -> edge.writes {
  a = Linear(3)
  b = Linear(3)
  return edge(u -> v in writes: sum(a(z)[u] * b(x)[v], axis = -1))
}
"""
SUMS = """model Sums() (writes: node.author -> node.paper, z: node.author[4]) -> node.paper[4] {
  return sum(u -> v in writes: z[u])
}
"""
# How many rows there are is known by weights alone.
ONLY = """model Only() (x: node.paper[6]) -> node.author[2] {
  param emb: node.author[5] = normal(0.0, 1.0)
  return Linear(2)(emb)
}
"""
# Training reads a relation besides, which inference does not.
LEARNT = SCORES.replace("x: node", "reads: node.author -> node.paper, x: node") + """train Scores {
  loss = (bce_with_logits(Scores(writes, reads, x, z), 1) +
          bce_with_logits(Scores(reads, reads, x, z), 0))
  optimizer = sgd(lr = 0.1)
}
"""


def fail(text):
    sys.exit("\n".join(["relations.py: " + text, *PROBLEMS]))


def sh(command, expect=0):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300)
    if done.returncode != expect:
        fail(f"{' '.join(map(str, command))}\nexit status {done.returncode}, expected {expect}\n"
             f"{done.stdout}")
    return done.stdout


# Data ---------------------------------------------------------------------------------------------


class Data:
    """Relations and columns as arrays for C; `path` is what gnnc reads."""

    def __init__(self, r, name, path=None):
        self.folder = r.path(name)
        self.path = path or r.path(name + ".npz")
        self.relations, self.columns = {}, {}
        os.makedirs(self.folder)

    def write(self, relations=None, columns=None):
        """Those of these names, which a model takes."""
        self.list("relations", [f"{n} {a} {b} {len(edges)}"
                                for n, (a, b, edges) in self.relations.items() if n in relations])
        for name, (_, _, edges) in self.relations.items():
            self.array(name + ".src", "q", [e[0] for e in edges])
            self.array(name + ".dst", "q", [e[1] for e in edges])
        self.list("columns",
                  [f"{n} {rows}" for n, (rows, _, _) in self.columns.items() if n in columns])
        for name, (_, kind, values) in self.columns.items():
            self.array(name + ".bin", kind, values)

    def list(self, name, lines):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in lines)

    def array(self, name, kind, values):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(struct.pack(f"<{len(values)}{kind}", *values))


def floats(draw, n):
    return list(struct.unpack(f"<{n}f",
                              struct.pack(f"<{n}f", *[draw.gauss(0, 1) for _ in range(n)])))


def ends(edges):
    return "q", (2, len(edges)), [e[0] for e in edges] + [e[1] for e in edges]


def papers(r, name, n, seed):
    d, draw = Data(r, name), random.Random(seed)
    pick = {"cites": (n, n), "writes": (AUTHORS, n), "reads": (AUTHORS, n)}
    for relation, (a, b) in pick.items():
        d.relations[relation] = (a, b,
                                 [(draw.randrange(a), draw.randrange(b)) for _ in range(2 * n)])
    x, z = floats(draw, 6 * n), floats(draw, 4 * AUTHORS)
    y, mask = [v % 3 for v in range(n)], [draw.random() < 0.6 for _ in range(n)]
    year = [0, 1, 2, 3] + [draw.randrange(4) for _ in range(2 * n - 4)]
    d.columns = {"paper.x": (n, "f", x), "author.z": (AUTHORS, "f", z),
                 "writes.year": (2 * n, "i", year), "y": (n, "i", y), "train_mask": (n, "B", mask)}
    arrays = {f"{'paper' if k == 'cites' else 'author'}__{k}__paper.edge_index": ends(v[2])
              for k, v in d.relations.items()}
    arrays.update({"paper.x": ("f", (n, 6), x), "author.z": ("f", (AUTHORS, 4), z),
                   "author__writes__paper.year": ("q", (2 * n,), year), "paper.y": ("q", (n,), y),
                   "paper.train_mask": ("?", (n,), mask),
                   "paper.val_mask": ("?", (n,), [not m for m in mask]),
                   "paper.test_mask": ("?", (n,), [not m for m in mask]),
                   "num_nodes.author": ("q", (), [AUTHORS])})
    files.write_npz(d.path, arrays)
    return d


def graphs(r, name, n_graphs, seed):
    """Rings; of each second one all nodes are joined to the first."""
    d, draw, edges, member = Data(r, name), random.Random(seed), [], []
    for graph in range(n_graphs):
        first, n = len(member), 3 + graph % 4
        edges += ([(first + i, first + (i + 1) % n) for i in range(n)] +
                  [(first + i, first) for i in range(n) if graph % 2])
        member += [graph] * n
    n = len(member)
    x, y = floats(draw, 4 * n), [k % 2 for k in range(n_graphs)]
    mask = [k % 3 != 0 for k in range(n_graphs)]
    d.relations = {"g": (n, n, edges), "member": (n, n_graphs, list(enumerate(member)))}
    d.columns = {"x": (n, "f", x), "y": (n_graphs, "i", y), "train_mask": (n_graphs, "B", mask)}
    files.write_npz(d.path, {"edge_index": ends(edges), "graph_of_node": ("q", (n,), member),
                             "x": ("f", (n, 4), x), "y": ("q", (n_graphs,), y),
                             "train_mask": ("?", (n_graphs,), mask),
                             "val_mask": ("?", (n_graphs,), [not m for m in mask]),
                             "test_mask": ("?", (n_graphs,), [not m for m in mask])})
    return d


def facts(r):
    """The triples of tests/data/typed.py, numbered as they come."""
    folder = r.path("triples")
    typed.facts(folder)
    d, entities, kinds, edges, kind, train = Data(r, "facts", folder), {}, {}, [], [], []
    for part in ("train", "valid", "test"):
        with open(os.path.join(folder, part + ".txt"), encoding="utf-8") as f:
            for h, k, t in map(str.split, f):
                edges.append((entities.setdefault(h, len(entities)),
                              entities.setdefault(t, len(entities))))
                kind.append(kinds.setdefault(k, len(kinds)))
                train.append(part == "train")
    d.relations = {"g": (len(entities), len(entities), edges)}
    d.columns = {"g.kind": (len(edges), "i", kind), "g.train_mask": (len(edges), "B", train)}
    return d


def entities(r):
    """Those of tests/data/typed.py: a relation for each kind of fact, both ways."""
    folder = r.path("entities")
    typed.entities(folder)
    # which is drawn, where it is not given
    for name, part in (("training", range(15)), ("validation", range(15, 18))):
        typed.write(folder, name + ".int.csv", (f"{v},{v % 3}" for v in part))
    d = Data(r, "kinds", folder)
    read = lambda name: [tuple(map(int, line.split(",")))
                         for line in open(os.path.join(folder, name), encoding="utf-8")]
    triples, train = read("triples.int.csv"), dict(read("training.int.csv"))
    classes = {**dict(read("validation.int.csv") + read("testing.int.csv")), **train}
    n = 1 + max(max(s, o) for s, _, o in triples)
    for k in (0, 1):
        d.relations[f"rel_{k}"] = (n, n, [(s, o) for s, p, o in triples if p == k])
    d.columns = {"y": (n, "i", [classes.get(v, -1) for v in range(n)]),
                 "train_mask": (n, "B", [v in train for v in range(n)])}
    return d


# Runs ---------------------------------------------------------------------------------------------


def build(r, prefix, *flags, name=None):
    exe, upper = r.path(name or prefix), prefix.upper()
    sh([CC, *STRICT, f"-DMODEL={prefix}", f'-DHEADER="{prefix}.h"',
        f"-DOUT_COLUMNS={upper}_OUT_COLUMNS", "-I", r.folder, *flags,
        os.path.join(HERE, "relations.c"), r.path(prefix + ".o"), "-lm", "-o", exe])
    return exe


def numbers(path):
    with open(path, "rb") as f:
        data = f.read()
    return struct.unpack(f"<{len(data) // 4}f", data)


def same(what, got, want):
    if len(got) != len(want):
        fail(f"{what}: {len(got)} numbers, expected {len(want)}")
    far = [k for k, (a, b) in enumerate(zip(got, want)) if not abs(a - b) <= 2e-5 * (1 + abs(b))]
    if far:
        fail(f"{what}: {len(far)} of {len(want)} numbers differ: number {far[0]} is {got[far[0]]}, "
             f"not {want[far[0]]}")
    if want and max(map(abs, want)) < 1e-4:
        fail(f"{what}: all are 0")


def predicted(r, model, data, options, weights):
    r.works("run", model, "--data", data.path, *options, "--weights", weights, "--predictions",
            r.path("p.npz"))
    arrays = files.read_npz(r.path("p.npz"))
    return arrays["logits" if "logits" in arrays else "out"][2]


def check(r, prefix, model, here, others=(), options=(), flags=(), weights=None):
    """Inference and training, with the data that it was compiled for and with others."""
    options, trains = ("-q", *options), not weights
    r.works(model, "--data", here.path, *options, "--prefix", prefix, "-o", r.path(prefix + ".o"),
            "--header", r.path(prefix + ".h"), *(() if trains else ("--inference",)))
    exe = build(r, prefix, *flags, *([] if trains else ["-DNO_STEP"]))
    for data in (here, *others):
        out = r.path("got")
        if trains:
            weights = r.path("w.safetensors")
            r.works("train", model, "--data", data.path, *options, "--epochs", STEPS, "--seed",
                    SEED, "--save", weights)
        want = predicted(r, model, data, options, weights)
        for how in ("infer", "infer32"):
            sh([exe, data.folder, how, weights, out])
            same(f"{prefix}, {how}, {data.folder}", numbers(out), want)
        for how in ("train", "resume") if trains else ():
            sh([exe, data.folder, how, STEPS, SEED, out])
            same(f"{prefix}, {how}, {data.folder}", numbers(out), want)


def check_memory(r, data, flags):
    exe = build(r, "papers", *flags, "-fsanitize=address", "-DWRAP", "-Wl,--wrap=malloc",
                "-Wl,--wrap=aligned_alloc", name="memory")
    said = sh([exe, data.folder, "memory"])
    if int(said.split()[0]) < 50:
        fail(said)


def check_errors(r, data, flags):
    exe = build(r, "papers", *flags, "-fsanitize=address,undefined", name="errors")
    said = sh([exe, data.folder, "errors"])
    for line in ("relation: 2 model Papers has no relation 'write'; did you mean 'writes'?",
                 "no name: 2 the relation's name is NULL",
                 "graph: 2 model Papers has no relation 'g'", "rows: 3 relation 'writes' has "
                 f"{AUTHORS + 1} rows of 'author', expected {AUTHORS}: weights", "end: 3 edge 1",
                 "square: 3 relation 'cites' has 3 sources and 2 destinations, which are rows of "
                 "'paper' both",
                 "column: 2 model Papers has no input 'autor.z'; did you mean 'author.z'?",
                 f"column's rows: 3 input 'author.z' has {AUTHORS + 1} rows of 'author', expected "
                 f"{AUTHORS}: weights", "nothing: 2 relation 'cites' is not bound", "fits: 0 ",
                 "edges: 3 'writes.year' has 62 rows, relation 'writes' 0 edges", "other: 0 ",
                 "apart: 2 relation 'cites' is not bound", "papers: 3 ",
                 "no result: 2 nothing was inferred", "no model: 0 "):
        if "\n" + line not in "\n" + said:
            fail(f"expected a line that begins with '{line}':\n{said}")


def check_header(r):
    text = open(r.path("papers.h"), encoding="utf-8").read()
    for words in (f"#define PAPERS_AUTHOR_ROWS {AUTHORS}\n",
                  "/* writes: edges from rows of author to rows of paper. */",
                  "/* paper.x: float [rows of paper][6], ",
                  "/* writes.year: int32_t [edges of writes][1], a column of the data. */",
                  "/* y: int32_t [rows of paper][1], labels, 0 .. 2, -1: unknown; for training "
                  "alone. */", "/* out: float [rows of paper][3]. */"):
        if words not in text:
            fail(f"papers.h does not say: {words}")
    for words in ("papers_bind_reads", "papers_graph_coo", "PAPERS_PAPER_ROWS"):
        if words in text:
            fail(f"papers.h says: {words}")
    cxx = shutil.which("c++")
    if not cxx:
        fail("no C++ compiler: the headers are for C++ too")
    sh([cxx, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c++",
        r.path("papers.h")])


def check_identity(r, data):
    """The header of a model that takes another relation does not go with the object."""
    for name in ("one", "other"):
        text = SUMS if name == "one" else SUMS.replace("writes", "reads")
        r.works(r.write("sums.gnn", text), "-q", "--data", data.path, "--inference", "-o",
                r.path(name + ".o"), "--header", r.path(name + ".h"))
    source = r.write("identity.c", '#include "one.h"\n#include <stdio.h>\nint main(void)\n{\n'
                     '    sums_model *m;\n    printf("%d\\n", sums_new(1, 0, &m));\n'
                     '    sums_free(m);\n    return 0;\n}\n')
    for name, code in (("one", 0), ("other", 2)):
        sh([CC, *STRICT, "-I", r.folder, source, r.path(name + ".o"), "-lm", "-o",
            r.path("identity")])
        said = sh([r.path("identity")])
        if said != f"{code}\n":
            fail(f"the header of 'one' with the object of '{name}': {said}")


def main():
    r = runs.Runs()
    r.problems = PROBLEMS
    few, many = papers(r, "few", 31, 1), papers(r, "many", 58, 2)
    for d in (few, many):
        d.write(("cites", "writes"), ("paper.x", "author.z", "writes.year", "y", "train_mask"))
    flags = ["-DRELATIONS", f"-DAUTHORS={AUTHORS}"]
    check(r, "papers", r.write("papers.gnn", PAPERS), few, [many], flags=flags)
    check_header(r)
    check_errors(r, few, flags)
    check_memory(r, few, flags)
    for d in (few, many):
        d.write(("writes",), ("paper.x", "author.z"))
    files.write_safetensors(r.path("scores.safetensors"),
                            {"a.weight": ("f", (3, 4), [0.25 * (k % 5) - 0.5 for k in range(12)]),
                             "a.bias": ("f", (3,), [0.5, -1.0, 2.0]),
                             "b.weight": ("f", (3, 6), [0.5 * (k % 3) - 0.25 for k in range(18)]),
                             "b.bias": ("f", (3,), [1.0, 0.5, 0.0])})
    check(r, "scores", r.write("scores.gnn", SCORES), few, [many], flags=["-DRELATIONS"],
          weights=r.path("scores.safetensors"))
    check_identity(r, few)
    for d in (few, many):
        d.write((), ())
    files.write_safetensors(
        r.path("only.safetensors"),
        {"emb": ("f", (AUTHORS, 5), [0.1 * (k % 7) for k in range(5 * AUTHORS)]),
         "Linear.bias": ("f", (2,), [0.5, 1.0]),
         "Linear.weight": ("f", (2, 5), [0.25 * (k % 5) - 0.5 for k in range(10)])})
    check(r, "only", r.write("only.gnn", ONLY), few, [many], weights=r.path("only.safetensors"))
    for d in (few, many):
        d.write(("writes", "reads"), ("paper.x", "author.z"))
    check(r, "learnt", r.write("learnt.gnn", LEARNT), few, [many], flags=["-DRELATIONS"])
    small, large = graphs(r, "small", 10, 3), graphs(r, "large", 17, 4)
    for d in (small, large):
        d.write(("g", "member"), ("x", "y", "train_mask"))
    text = open(os.path.join(runs.SAMPLES, "gin_graphs.gnn"), encoding="utf-8").read().replace(
        "  select = best\n  monitor = val_loss\n", "")
    check(r, "gin", r.write("gin.gnn", text), small, [large], flags=["-DGRAPH", "-DRELATIONS"])
    d = facts(r)
    d.write(("g",), ("g.kind", "g.train_mask"))
    check(r, "facts_", os.path.join(runs.SAMPLES, "distmult.gnn"), d,
          options=("-D", "dim=6", "-D", "batch=12", "-D", "drawn=7"), flags=["-DGRAPH"])
    d = entities(r)
    d.write(d.relations, d.columns)
    check(r, "rgcn", os.path.join(runs.SAMPLES, "rgcn.gnn"), d, flags=["-DRELATIONS"])
    r.done()


main()
