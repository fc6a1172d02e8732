#!/usr/bin/env python3
"""A model of several types of rows in a C program: typed.py GNNC FOLDER.

What it computes is compared bit by bit with what gnnc computes on the same data."""
import random
import struct
import sys

import aot
import files
import runs

MODEL = """model Typed(hidden = 5) (cites: node.paper -> node.paper,
                         writes: node.author -> node.paper, x: node.paper[F], z: node.author[3],
                         year: edge.writes of int) -> node.paper[C] {
  param emb: node.author[hidden] = normal(0.0, 1.0)
  param when: year[hidden] = normal(0.0, 1.0)
  a = Linear(hidden)
  h = SAGEConv(hidden)(cites, x) + mean(u -> v in writes: (a(z)[u] + emb[u]) * when[year])
  return Linear(C)(relu(h))
}
train Typed {
  loss = cross_entropy(Typed(cites, writes, x, z, year), y) over train_mask
  optimizer = adam(lr = 0.05)
}
"""
PAIRS = """model Pairs(d = 4) (writes: node.author -> node.paper) -> edge.writes {
  param a: node.author[d] = normal(0.0, 1.0)
  param p: node.paper[d] = normal(0.0, 1.0)
  return edge(u -> v in writes: sum(a[u] * p[v], axis = -1))
}
train Pairs {
  loss = bce_with_logits(Pairs(writes), 1) + bce_with_logits(Pairs(corrupt(writes, 2)), 0)
  optimizer = OPTIMIZER
}
"""
PAIRS_DRIVER = r"""
#include "pairs.h"
#include <stdio.h>
%(arrays)s
int main(void)
{
    pairs_model *m;
    double loss;
    if (pairs_new(1, %(seed)d, &m) ||
        pairs_relation_coo32(m, "writes", %(authors)d, %(papers)d, %(writes)d, writes_src,
                             writes_dst))
        return 1;
    for (int k = 0; k < %(steps)d && !pairs_train_step(m, &loss); k++) printf("%%.9g\n", loss);
    pairs_free(m);
    return 0;
}
"""
PAPERS, AUTHORS, STEPS, SEED = 30, 12, 4, 7

DRIVER = r"""
#include "typed.h"
#include <stdio.h>
#include <string.h>
%(arrays)s
static typed_model *m;
static int failed(const char *what)
{
    printf("%%s: %%s\n", what, typed_message(m));
    return 1;
}
static int bind(void)
{
    return typed_bind_cites(m, %(papers)d, %(papers)d, %(cites)d, cites_src, cites_dst) ||
           typed_relation_coo32(m, "writes", %(authors)d, %(papers)d, %(writes)d, writes_src,
                                writes_dst) ||
           typed_bind_paper_x(m, %(papers)d, x) || typed_bind_author_z(m, %(authors)d, z) ||
           typed_bind_writes_year(m, %(writes)d, year) || typed_bind_y(m, %(papers)d, y) ||
           typed_bind_train_mask(m, %(papers)d, mask);
}
int main(int argc, char **argv)
{
    int64_t rows = 0, bytes;
    if (typed_new(2, %(seed)d, &m)) return failed("new");
    if (argc > 2 && !strcmp(argv[2], "errors")) {
        failed(typed_infer(m) ? "early" : "?");
        failed(typed_relation_coo(m, "wrote", 1, 1, 0, NULL, NULL) ? "name" : "?");
        if (bind()) return failed("bind");
        failed(typed_bind_cites(m, %(papers)d, 3, %(cites)d, cites_src, cites_dst) ? "end" : "?");
        if (typed_bind_cites(m, %(papers)d + 1, %(papers)d + 1, 0, NULL, NULL))
            return failed("more");
        failed(typed_infer(m) ? "sizes" : "?");
        if (bind() || typed_bind_writes_year(m, 2, year)) return failed("bind");
        failed(typed_infer(m) ? "edges" : "?");
        typed_free(m);
        return 0;
    }
    if (bind()) return failed("bind");
    for (int k = 0; k < %(steps)d; k++)
        if (typed_train_step(m, NULL)) return failed("step");
    static char state[1 << 16];
    bytes = typed_state_size(m);
    if (bytes > (int64_t)sizeof state || typed_state_get(m, state, bytes) || typed_reset(m, 1) ||
        typed_state_set(m, state, bytes))
        return failed("state");
    if (typed_infer(m)) return failed("infer");
    const float *out = typed_output_out(m, &rows);
    FILE *f = fopen(argv[1], "wb");
    if (!out || !f || rows != %(papers)d) return failed("output");
    fwrite(out, sizeof *out, (size_t)rows * TYPED_OUT_COLUMNS, f);
    typed_free(m);
    return fclose(f);
}
"""


def draw():
    r = random.Random(3)
    single = lambda values: list(struct.unpack(f"<{len(values)}f",
                                               struct.pack(f"<{len(values)}f", *values)))
    cites = [(r.randrange(PAPERS), r.randrange(PAPERS)) for _ in range(70)]
    writes = [(r.randrange(AUTHORS), r.randrange(PAPERS - 2)) for _ in range(40)]
    y = [k % 3 for k in range(PAPERS)]
    return {"cites": cites, "writes": writes,
            "x": single([r.gauss(0, 1) for _ in range(PAPERS * 4)]),
            "z": single([r.gauss(0, 1) for _ in range(AUTHORS * 3)]),
            "year": [r.randrange(5) for _ in writes[:-1]] + [4], "y": y,
            "mask": [k % 2 for k in range(PAPERS)]}


def npz_of(d):
    ends = lambda pairs: ("q", (2, len(pairs)), [a for a, _ in pairs] + [b for _, b in pairs])
    return {"paper__cites__paper.edge_index": ends(d["cites"]),
            "author__writes__paper.edge_index": ends(d["writes"]),
            "paper.x": ("f", (PAPERS, 4), d["x"]), "author.z": ("f", (AUTHORS, 3), d["z"]),
            "author__writes__paper.year": ("q", (len(d["year"]),), d["year"]),
            "paper.y": ("q", (PAPERS,), d["y"]),
            "paper.train_mask": ("?", (PAPERS,), [bool(m) for m in d["mask"]]),
            "paper.val_mask": ("?", (PAPERS,), [False] * PAPERS),
            "paper.test_mask": ("?", (PAPERS,), [not m for m in d["mask"]])}


def array(kind, name, values):
    text = ", ".join(repr(v) + "f" if kind == "float" else str(v) for v in values)
    return f"static const {kind} {name}[] = {{{text}}};\n"


def driver_of(text, d, *named):
    arrays = "".join(array("int64_t" if name == "cites" else "int32_t", f"{name}_{end}",
                           [e[k] for e in d[name]]) for name in named
                     for k, end in enumerate(("src", "dst")))
    for kind, name in (("float", "x"), ("float", "z"), ("int32_t", "year"), ("int32_t", "y"),
                       ("uint8_t", "mask")):
        arrays += array(kind, name, d[name]) if "cites" in named else ""
    return text % {"arrays": arrays, "papers": PAPERS, "authors": AUTHORS, "cites": len(d["cites"]),
                     "writes": len(d["writes"]), "steps": STEPS, "seed": SEED}


def check_draws(r, d, args, optimizer):
    """Edges that are drawn at every step are those that gnnc draws, and so are rows that a step
    touches."""
    log, model = r.path("pairs.csv"), r.write("pairs.gnn", PAIRS.replace("OPTIMIZER", optimizer))
    r.write("pairs.c", driver_of(PAIRS_DRIVER, d, "writes"))
    r.works("train", model, *args, "--epochs", STEPS, "--seed", SEED, "--log", log)
    r.works(model, *args, "-o", r.path("pairs.o"), "--header", r.path("pairs.h"))
    aot.sh([aot.CC, *aot.STRICT, "-I", r.folder, r.path("pairs.c"), r.path("pairs.o"), "-lm", "-o",
            r.path("pairs")])
    with open(log) as f:
        want = "".join(line.split(",")[2] + "\n" for line in f.readlines()[1:])
    got = aot.sh([r.path("pairs")])
    if not want or got != want:
        aot.fail(f"losses {got!r}, expected {want!r}")


def main():
    r, d = runs.Runs(), draw()
    model, data, saved, predicted = (r.path("typed.gnn"), r.path("typed.npz"),
                                     r.path("w.safetensors"), r.path("p.npz"))
    r.write("typed.gnn", MODEL)
    r.write("typed.c", driver_of(DRIVER, d, "cites", "writes"))
    files.write_npz(data, npz_of(d))
    args = ("--data", data, "--normalize-features", "off", "-q")
    r.works("train", model, *args, "--epochs", STEPS, "--seed", SEED, "--save", saved, "--threads",
            2)
    r.works("run", model, *args, "--weights", saved, "--predictions", predicted)
    r.works(model, *args, "--prefix", "typed", "-o", r.path("typed.o"), "--header",
            r.path("typed.h"))
    want = aot.logits(predicted)
    for name, flags in (("typed", ()), ("typed-errors", ("-fsanitize=address,undefined",))):
        aot.sh([aot.CC, *aot.STRICT, *flags, "-I", r.folder, r.path("typed.c"), r.path("typed.o"),
                "-lm", "-o", r.path(name)])
        aot.same(name, aot.result(r, r.path(name)), want)
    said = aot.sh([r.path("typed-errors"), r.path("got"), "errors"])
    for line in ("early: relation 'cites' is not bound",
                 "name: model Typed has no relation 'wrote'", "end: edge ", "sizes: ",
                 "edges: 'writes.year' has 2 rows, relation 'writes' 40 edges"):
        if line not in said or "?" in said.replace("did you mean 'writes'?", ""):
            aot.fail(f"{line!r} is not in\n{said}")
    for optimizer in ("adagrad(lr = 0.1)", 'adam(lr = 0.1, rows = "touched")'):
        check_draws(r, d, args, optimizer)
    r.done()


main()
