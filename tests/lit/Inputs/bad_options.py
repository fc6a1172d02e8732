"""Options that ask for what cannot be, files that cannot be written: exit status and message."""
import os
import sys

import files
import runs

r = runs.Runs(shared=True)
GCN, GAT = (os.path.join(runs.SAMPLES, m) for m in ("gcn.gnn", "gat.gnn"))
SMALL = r.write("m.gnn", "model M() (g: graph, x: node[F]) -> node[C] {\n  lin = Linear(C)\n"
                "  return lin(x)\n}\n")
LIST = r.write("list.csv", "0,1\n1,2\n")
HAS_LLVM = "llvm" in sys.argv[3:]

# Numbers out of their range, words that are none of the choices.
for what, *args in (
    ("--threads: 100000 is above 4096", "train", GCN, "--threads", "100000"),
    ("--threads: 0 is below 1", "train", GCN, "--threads=0"),
    ("--threads: 'two' is not a whole number", "train", GCN, "--threads", "two"),
    ("--threads: '2x' is not a whole number", "train", GCN, "--threads", "2x"),
    ("--seeds: 0 is below 1", "train", GCN, "--seeds", "0"),
    ("--seeds: 100001 is above 100000", "train", GCN, "--seeds", "100001"),
    ("--seed: -1 is below 0", "train", GCN, "--seed", "-1"),
    ("--seed: '99999999999999999999' is not a whole number", "train", GCN, "--seed",
     "99999999999999999999"),
    ("--epochs: -1 is below 0", "train", GCN, "--epochs=-1"),
    ("--epochs needs a value: N", "train", GCN, "--epochs"),
    ("--repeat: 0 is below 1", "run", GCN, "--repeat", "0"),
    ("'train' takes no option --repeat; it belongs to 'run'", "train", GCN, "--repeat", "2"),
    ("'run' takes no option --seeds; it belongs to 'train'", "run", GCN, "--seeds", "2"),
    ("'compile' takes no option --save", GCN, "--save", "w"),
    ("--pass-limit: -1 is below 0", GCN, "--pass-limit", "-1"),
    ("--pass-limit: 99999999999 is above", GCN, "--pass-limit", "99999999999"),
    ("--split: -1 is below 0", "train", GCN, "--split", "-1"),
    ("--split: 99999999999 is above", "train", GCN, "--split", "99999999999"),
    ("split 1: there is only 1", "train", GCN, "--split", "1"),
    ("--emit: unknown value 'lir'; did you mean", GCN, "--emit=lir"),
    ("--mode: unknown value '4'", GCN, "-O4"),
    ("--mode: unknown value '9'\n  it is one of", GCN, "-O", "9"),  # near every digit is near none
    ("--emit: unknown value 'foo'\n  it is one of", GCN, "--emit=foo"),
    ("--device gpu: expected cpu, cuda, cuda:N or auto; did you mean 'cuda'?", "run", GCN,
     "--device", "gpu"),
    ("--normalize-features: unknown value 'yes'", GCN, "--normalize-features", "yes"),
    ("--json takes no value", "run", GCN, "--json=1"),
    ("--data: the PATH is empty", "train", GCN, "--data", ""),
    ("unknown option '-x'", GCN, "-x"),
    ("unknown option '--frobnicate'", GCN, "--frobnicate"),
    ("'train' does not know what to do with 'more'", "train", GCN, "more"),
    ("'train' needs a file", "train"),
    ("'reduce' needs more", "reduce", GCN),
    ("expected a name that ends in .npz or .csv", "run", GCN, "--predictions", r.path("p.txt")),
    ("expected a name that ends in .npz or .csv", "train", GCN, "--predictions", ".csv"),
    ("m.gnn: that is the model, which would be lost", "train", SMALL, "--save",
     r.path("../" + os.path.basename(r.folder) + "/m.gnn")),
    ("m.gnn: that is the model, which would be lost", SMALL, "--emit=kir", "-o", SMALL),
    ("list.csv: that is the data, which would be lost", "run", GCN, "--data", LIST, "--predictions",
     LIST),
    ("there is no pass 'factr'; did you mean 'factor'?", "opt",
     r.write("p.gir", "program @p {\n}\n"), "--passes", "factr"),
    ("expected sparse=NAME", "opt", r.path("p.gir"), "-D", "dense=x"),
    # Code for C takes graphs of any size.
    ("--range: a .o, .a or .so takes graphs of any size", GCN, "-o", r.path("none.o"), "--range",
     "N in 1..100"),
    ("--dynamic: a .o, .a or .so takes graphs of any size", GCN, "-o", r.path("none.a"),
     "--dynamic", "false"),
    ("--dynamic: a .o, .a or .so takes graphs of any size", GCN, "-o", r.path("none.so"),
     "--dynamic", "auto"),
    # Graphs that are drawn run on this processor, as schedules have it.
    ("--batches does not go with --device cuda", "run", GCN, "--batches", "2", "--device", "cuda"),
    ("--batches does not go with --device auto", "run", GCN, "--batches", "2", "--device", "auto"),
    ("--device nonsense: expected cpu, cuda, cuda:N or auto", "run", GCN, "--batches", "2",
     "--device", "nonsense"),
    ("--batches does not go with --tune-lock", "run", GCN, "--batches", "2", "--tune-lock",
     r.path("none.lock")),
    ("--device auto: nothing is run here; to compile takes cpu or cuda", GCN, "--device", "auto"),
    ("--ahead goes with --batch N", "train", GCN, "--ahead", "2"),
    # Hyperparameters.
    ("`GCN` has no hyperparameter `hiden`; did you mean `hidden`?", "train", GCN, "-D", "hiden=4"),
    ("'hidden' is not name=value", "train", GCN, "-Dhidden"),
    ("'hidden=' is not name=value", "train", GCN, "-Dhidden="),
    ("'=3' is not name=value", "train", GCN, "-D=3"),
    ("nothing is named `foo`", "train", GCN, "-D", "hidden=foo"),
    ("-D hidden:1:1: error: integer too large", "train", GCN, "-D", "hidden=99999999999999999999"),
    ("`hidden` is an integer, not 2.5", "train", GCN, "-D", "hidden=2.5"),
    ('`hidden` is an integer, not "many"', "train", GCN, "-D", 'hidden="many"'),
    ("-D hidden:", "train", GCN, "-D", "hidden=3 4"),
    ("-D hidden:", "train", GCN, "-D", "hidden=" + "(" * 100000),
):
    r.fails(2, what, *args)

for what, define in (
    ("`out` is a dimension, an integer of at least 1, not 0", "hidden=0"),
    ("`out` is a dimension, an integer of at least 1, not -3", "hidden=-3"),
    ("too wide", "hidden=2000000000"),
    ("too wide", "hidden=100000"),
    ("too long to unroll", "layers=100000"),
    ("error", "layers=-9223372036854775807"),
    ("the result of `GCN` is `node[C]` (C = 4), this is node[34]", "layers=0"),
    ("a probability is between 0 and 1, not 2.0", "p=2.0"),
    ("a probability is between 0 and 1, not inf", "p=1e999"),
):
    result = r.run("train", GCN, "-D", define)
    r.fails(1, what, "train", GCN, "-D", define)
    if result.stderr.count(b"error:") != 1:
        r.problem(["-D", define], "one error, and only one, was expected", result)

# What a model without a loss is good for.
r.write("no_loss.gnn", "model M() (g: graph, x: node[F]) -> node[F] { return relu(x) }\n")
for command in ("compile", "explain", "train"):
    r.fails(1, "model M has no loss to train with: write a train block; without one it can be run "
            "(`gnnc run`, ", command, r.path("no_loss.gnn"))

# Files that cannot be written, or read.
full = os.path.exists("/dev/full")
small = ["-q", "-O0", "--epochs", "1"]
for code, what, *args in (
    (3, "No such file or directory", GCN, "--emit=gir", "-o", r.path("none/x")),
    (3, "Is a directory", GCN, "--emit=gir", "-o", r.folder),
    (3, "No space left on device", GCN, "--emit=gir", "-o", "/dev/full"),
    (3, "No space left on device", "opt", r.path("p.gir"), "-o", "/dev/full"),
    (3, "No such file or directory", "opt", r.path("none.gir")),
    (3, "Is a directory", "opt", r.folder),
    (3, "No such file or directory", "reduce", r.path("none.gir"), "--", "true"),
    (2, "none-such", "reduce", r.path("p.gir"), "--", "./none-such"),
    (2, "does not show the defect: 'false' did not exit with 0", "reduce", r.path("p.gir"), "--",
     "false"),
) + ((
    (3, "No space left on device", "train", SMALL, *small, "--save", "/dev/full"),
    (3, "No such file or directory", "train", SMALL, *small, "--save", r.path("none/w")),
    (3, "Is a directory", "train", SMALL, *small, "--save", r.folder),
    (3, "No such file or directory", "train", SMALL, *small, "--predictions", r.path("none/p.csv")),
    (3, "No such file or directory", "run", SMALL, "-q", "-O0", "--predictions",
     r.path("none/p.npz")),
    (1, "the loss is", "train", SMALL.replace("m.gnn", "diverges.gnn"), "-q", "-O0"),
) if HAS_LLVM else ()):
    if "diverges" in " ".join(args):
        r.write("diverges.gnn", open(SMALL).read() + "train M {\n"
                "  loss = cross_entropy(M(g, x), y) over train_mask\n"
                "  optimizer = sgd(lr = 1e30, weight_decay = 1.0)\n}\n")
    if full or "/dev/full" not in args:
        r.fails(code, what, *args,
                printed=b"accuracy" if HAS_LLVM and "No space" in what and "-q" in args else b"")
if HAS_LLVM:
    os.symlink("/dev/full", r.path("full.npz"))
    os.symlink("/dev/full", r.path("full.csv"))
    for name in ("full.npz", "full.csv"):
        if full:
            r.fails(3, "No space left on device", "run", SMALL, "-q", "-O0", "--predictions",
                    r.path(name), printed=b"accuracy")
r.done()
