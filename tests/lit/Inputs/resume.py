"""Checkpoints: training that was broken off goes on to the bytes that it would have ended with;
what does not fit is named."""
import json
import os
import re
import signal
import struct
import subprocess

import files
import runs

r = runs.Runs(shared=True)
CHOICE = "select = best\n  monitor = [val_accuracy, val_loss]\n  patience = 30"
BLOCK = """train G(lr = 0.01) {
  loss = cross_entropy(G(g, x), y) over train_mask
  optimizer = adam(lr = lr)
  weight_decay = 5e-4 on "a"
  schedule = cosine(eta_min = 0.001)
  %s
  epochs = 60
}
"""
G = r.write("g.gnn", """model G(hidden = 16, p = 0.5) (g: graph, x: node[F]) -> node[C] {
  a = GCNConv(hidden)
  n = BatchNorm()
  b = GCNConv(C)
  return b(g, dropout(relu(n(a(g, dropout(x, p)))), p))
}
""" + BLOCK % CHOICE)
LAST = r.write("last.gnn", open(G).read().replace(CHOICE, ""))
# before its time
ENDS = r.write("ends.gnn", open(G).read().replace(CHOICE, "select = best\n  patience = 20"))
SGD = r.write("sgd.gnn", open(LAST).read().replace("adam(lr = lr)",
                                                   "sgd(lr = lr, momentum = 0.9, dampening = 0.1)"))


def read(name):
    with open(r.path(name), "rb") as f:
        return f.read()


def metadata(name):
    data = read(name)
    (n,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + n])["__metadata__"]


def train(model, *args):
    return r.works("train", model, "-q", "--seed", 3, *args)


def same(a, b, what):
    if read(a) != read(b):
        r.problems.append(f"{what}: other bytes")


def ends(text):
    """What a report has besides times, and what was before a break."""
    return re.sub(r" \(\d+ before it went on\)", "", text.split("\nstep")[0].split("\ncompiled")[0])


# Through, and with a break after every so many epochs: in the midst, at the first and at the last;
# one thread, then two.
for model in (G, LAST, ENDS, SGD)[::2 if runs.SANITIZED else 1]:
    whole = train(model, "--threads", 1, "--save", r.path("whole"), "--checkpoint", r.path("end"))
    most = int(re.search(r"(\d+) epochs", whole)[1])
    assert (most < 60) == (model == ENDS), whole
    for k, threads in ((1, (1, 2)), (most // 2, (2, 1)), (most, (1, 1))):
        train(model, "--threads", threads[0], "--epochs", k, "--checkpoint", r.path("c"), "--save",
              r.path("part"))
        again = r.works("train", model, "-q", "--threads", threads[1], "--resume", r.path("c"),
                        "--save", r.path("on"), "--checkpoint", r.path("end2"))
        same("whole", "on", f"{model} after {k} epochs")
        same("end", "end2", f"the checkpoint of {model} after {k} epochs")
        assert ends(again) == ends(whole) and (
            k == most or f"({k} before it went on)" in again), (whole, again)
    assert int(metadata("c")["epoch"]) == most
    # More than one break; the file that is read is the one that is written.
    train(model, "--epochs", 5, "--checkpoint", r.path("c"), "--checkpoint-every", 2)
    for k in (6, 20, 21):
        train(model, "--epochs", k, "--checkpoint", r.path("c"), "--resume", r.path("c"))
    assert metadata("c")["epoch"] == "21"
    train(model, "--resume", r.path("c"), "--save", r.path("on"))
    same("whole", "on", f"{model} after many breaks")
    # Checkpoints that are written on the way change nothing.
    train(model, "--checkpoint", r.path("c"), "--checkpoint-every", 1, "--save", r.path("on"))
    same("whole", "on", f"{model} with checkpoints")

# Chosen weights are the best ones, and those of a checkpoint are the last: other tools, and
# --weights, read those.
train(G, "--epochs", 20, "--checkpoint", r.path("c"), "--save", r.path("best"))
train(LAST, "--epochs", 20, "--save", r.path("last"))
held, best, last = (files.read_safetensors(r.path(n)) for n in ("c", "best", "last"))
assert all(held[name] == t for name, t in last.items()), "the last weights"
assert all(held["best." + name] == t for name, t in best.items()), "the best weights"
assert {"rng.seed", "rng.step", "opt.m.a.weight", "opt.v.a.weight"} <= set(held), sorted(held)
assert held["rng.step"][2] == [20] and held["rng.seed"][2] == [3], held["rng.step"]
ran = r.run("run", LAST, "--weights", r.path("c"))
assert ran.returncode == 0 and b"warning" not in ran.stderr, ran.stderr
about = metadata("c")
assert (about["model"] == "G" and about["hyperparameters"] == "hidden = 16, p = 0.5, lr = 0.01"
        and about["seed"] == "3"), about
assert (about["optimizer"].startswith("adam(lr = 0.01, beta1 = 0.9, ")
        and ", weight_decay = 0.0005 on a.lin.weight a.bias, schedule = cosine(period "
        "= 60, " in about["optimizer"]), about

# Reports, and longer training than was thought of.
out = json.loads(r.works("train", G, "-q", "--resume", r.path("c"), "--epochs", 25, "--json"))
assert [(run["epochs"], run["resumed_epochs"], run["seed"])
        for run in out["runs"]] == [(25, 20, 3)], out
train(LAST, "--epochs", 90, "--save", r.path("whole"))
train(LAST, "--checkpoint", r.path("d"))
train(LAST, "--resume", r.path("d"), "--epochs", 90, "--save", r.path("on"))
same("whole", "on", "longer than the model says")

# A split that was drawn is drawn by the seed of the checkpoint.
edges = r.write("e.npz", b"")
n = 40
files.write_npz(edges,
                {"edge_index": ("q", (2, 2 * n), [v for v in range(n)] * 2 +
                                [(v + d) % n for d in (1, 3) for v in range(n)]),
                 "x": ("f", (n, 3), [float((v * 7 + f) % 5) for v in range(n) for f in range(3)]),
                 "y": ("q", (n,), [v % 3 for v in range(n)])})
train(LAST, "--data", edges, "--save", r.path("whole"))
train(LAST, "--data", edges, "--epochs", 9, "--checkpoint", r.path("s"))
r.works("train", LAST, "-q", "--data", edges, "--resume", r.path("s"), "--save", r.path("on"))
same("whole", "on", "a split that was drawn")

# What does not fit.
train(LAST, "--epochs", 9, "--checkpoint", r.path("c"))
C = r.path("c")
text = open(LAST).read()
for code, words, model, *args in (
        (3, "another choice of hyperparameters: hidden = 16, p = 0.5, lr = 0.01 there, hidden = 8, "
         "p = 0.5, lr = 0.01 here", text, "-D", "hidden=8"),
        (3, "another choice of hyperparameters", text, "-D", "p=0.4"),
        (3, "another optimizer: adam(lr = 0.01, ", text.replace("adam", "adamw")),
        (3, "cosine(period = 60, eta_min = 0.001) there, ",
         text.replace("eta_min = 0.001", "eta_min = 0.002")),
        (3, "another model: G there, H here", text.replace("G(", "H(")),
        (3, "tensor 'a.lin.weight' is f32 [16, 34], expected f32 [32, 34]",
         text.replace("GCNConv(hidden)", "GCNConv(2 * hidden)")),
        (3, "'n.module.running_mean' that G does not keep: it is of another model",
         text.replace("  n = BatchNorm()\n", "").replace("n(a(g, dropout(x, p)))",
                                                         "a(g, dropout(x, p))")),
        (3, "the model or its loss computes something else here", text.replace("relu(", "elu(")),
        (3, "another choice of epochs: last there, best by val_accuracy here",
         text.replace("epochs = 60", "select = best\n  epochs = 60")),
        (3, "another graph: 34 nodes, 156 edges, 34 features", text, "--features", "degree"),
        (3, "another graph: 34 nodes", text, "--data", edges),
        (2, "is of epoch 9, and training ends after 8", text, "--epochs", 8),
        (2, "is of seed 3, which --seed cannot change", text, "--seed", 4),
        (2, "--seeds makes several", text, "--seeds", 2),
        (2, "--weights starts from others", text, "--weights", C)):
    r.fails(code, words, "train", r.write("other.gnn", model), "-q", "--resume", C, *args)
r.fails(3, "is no checkpoint; where it holds weights, --weights starts from them", "train", LAST,
        "-q", "--resume", r.path("last"))
r.fails(3, "No such file", "train", LAST, "-q", "--resume", r.path("nowhere"))
r.fails(2, "--checkpoint FILE says where", "train", LAST, "-q", "--checkpoint-every", 3)
r.fails(2, "--save would replace it", "train", LAST, "-q", "--checkpoint", r.path("x"), "--save",
        r.path("x"))
r.fails(2, "which would be lost", "train", LAST, "-q", "--checkpoint", LAST)
labels = r.path("labels.npz")
for shift, words in ((0, None), (1, "other labels or masks than here")):
    files.write_npz(labels,
                    {"edge_index": ("q", (2, n), list(range(n)) + [(v + 1) % n for v in range(n)]),
                     "x": ("f", (n, 1), [1.0] * n),
                     "y": ("q", (n,), [(v + shift) % 3 for v in range(n)])})
    if words:
        r.fails(3, words, "train", LAST, "-q", "--data", labels, "--resume", r.path("s"))
    else:
        train(LAST, "--data", labels, "--epochs", 2, "--checkpoint", r.path("s"))

# Files that are damaged: an error, never another result.
data = read("c")
(head,) = struct.unpack("<Q", data[:8])
for what, new in (("cut", data[:-5]), ("no epoch", data.replace(b'"epoch"', b'"opoch"')),
                  ("a word", data.replace(b'"epoch":"9"', b'"epoch":"x"')),
                  ("below", data.replace(b'"loss":"', b'"loss":"-x')),
                  ("version", data.replace(b'"gnnc_state":"2"', b'"gnnc_state":"9"')),
                  ("a moment", data.replace(b'opt.m.a.weight', b'opt.m.a.weighs')),
                  ("a shape", data.replace(b'"opt.m.b.b":{"dtype":"F32","shape":[4]',
                                           b'"opt.m.b.b":{"dtype":"F32","shape":[5]')),
                  ("empty", b"")):
    assert new != data, what
    r.fails(3, r.path("bad"), "train", LAST, "-q", "--resume", r.write("bad", new))
r.fails(3, "saved state of version 9; this gnnc reads version 2", "train", LAST, "-q", "--resume",
        r.write("bad", data.replace(b'"gnnc_state":"2"', b'"gnnc_state":"9"')))
r.fails(3, "metadata 'epoch' is x, expected a number", "train", LAST, "-q", "--resume",
        r.write("bad", data.replace(b'"epoch":"9"', b'"epoch":"x"')))

# No room: training ends as it would, is reported and saved, and then it is said; what there was
# before is there.
if os.path.exists("/dev/full"):
    train(LAST, "--save", r.path("whole"))
    r.fails(3, "--checkpoint: cannot write '/dev/full': No space left on device", "train", LAST,
            "-q", "--seed", 3, "--checkpoint", "/dev/full", "--checkpoint-every", 7, "--save",
            r.path("on"), printed=b"seed 3: 60 epochs")
    same("whole", "on", "without room")
small = subprocess.run(["bash", "-c", f'ulimit -f 1; trap "" XFSZ; exec "$@"', "-", r.gnnc, "train",
                        LAST, "-q", "--checkpoint", C], capture_output=True, text=True,
                       env=dict(os.environ, GNNC_CACHE="0"))
if "File too large" in small.stderr:
    assert small.returncode == 3 and read("c") == data, small.stderr
assert not [name for name in os.listdir(r.folder) if ".tmp" in name], os.listdir(r.folder)
# Weights that are not finite are no checkpoint.
before = read("c")
r.fails(1, "the loss is", "train", SGD, "-q", "-D", "lr=1e39", "--checkpoint", C,
        "--checkpoint-every", 1)
r.fails(1, "weights are not finite", "train", SGD, "-q", "-D", "lr=1e39", "--epochs", 1,
        "--checkpoint", C)
assert read("c") == before


# Ctrl-C, in the midst of it; and a kill at any moment, of a process that writes all the time.
def start(*args):
    return subprocess.Popen([r.gnnc, "train", G, "-q", *map(str, args)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def catches(p):
    with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
        return bool(int(re.search(r"SigCgt:\s*(\w+)", f.read())[1], 16) >> (signal.SIGINT - 1) & 1)


LONG = ("--epochs", 1000000000, "-D", "lr=0.001")
NEVER = r.write("never.gnn", open(LAST).read())
p = subprocess.Popen([r.gnnc, "train", NEVER, "-q", *map(str, LONG), "--checkpoint", C],
                     stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while not catches(p):
    assert p.poll() is None, p.communicate()
p.send_signal(signal.SIGINT)
out, err = p.communicate()
epoch = int(
    re.search(r"interrupted after epoch (\d+) of 1000000000; --resume .* goes on there", err)[1])
assert p.returncode == 130 and metadata("c")["epoch"] == str(epoch), (p.returncode, err)
r.works("train", NEVER, "-q", "-D", "lr=0.001", "--resume", C, "--epochs", epoch + 9, "--save",
        r.path("on"))
r.works("train", NEVER, "-q", "-D", "lr=0.001", "--epochs", epoch + 9, "--save", r.path("whole"))
same("whole", "on", "Ctrl-C")

r.works("train", NEVER, "-q", "-D", "lr=0.001", "--epochs", 1, "--checkpoint", C)
for k in range(3):
    before = int(metadata("c")["epoch"])
    p = subprocess.Popen([r.gnnc, "train", NEVER, "-q", *map(str, LONG), "--resume", C,
                          "--checkpoint", C, "--checkpoint-every", "1"], stderr=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL)
    while int(metadata("c")["epoch"]) < before + 10:
        assert p.poll() is None, p.returncode
    p.kill()
    p.wait()
epoch = int(metadata("c")["epoch"])
r.works("train", NEVER, "-q", "-D", "lr=0.001", "--resume", C, "--epochs", epoch + 5, "--save",
        r.path("on"))
r.works("train", NEVER, "-q", "-D", "lr=0.001", "--epochs", epoch + 5, "--save", r.path("whole"))
same("whole", "on", "killed")
r.done()
