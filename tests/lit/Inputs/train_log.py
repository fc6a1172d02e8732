"""The log and the plot of training, its learning rate, why it stopped, scores of unbalanced
classes, what is not finite."""
import csv
import json
import math
import os
import re
import signal
import subprocess
import time
import xml.dom.minidom

import files
import runs

r = runs.Runs(shared=True)
GCN, GAT = (os.path.join(runs.SAMPLES, name) for name in ("gcn.gnn", "gat.gnn"))
NAMES = ["seed", "epoch", "loss", "val_loss", "train_acc", "val_acc", "test_acc", "train_roc_auc",
         "val_roc_auc", "test_roc_auc"] + [f"{part}_{name}" for part in ("val", "test") for name
                                           in ("auc", "ap", "hits@20", "hits@50", "hits@100",
                                               "mrr")] + ["learning_rate", "seconds", "best"]


def rows(name):
    with open(r.path(name), encoding="ascii", newline="") as f:
        return list(csv.DictReader(f))


def lines(name):
    with open(r.path(name), encoding="ascii") as f:
        return [json.loads(line, parse_constant=lambda c: 1 / 0) for line in f]


def train(model, *args):
    return r.works("train", model, "-q", *args)


def last(report):
    return json.loads(report)["runs"][0]


# Both forms say the same, and what the report says.
end = last(train(GCN, "--epochs", 12, "--json", "--log", r.path("a.csv"), "--plot",
                 r.path("a.svg")))
train(GCN, "--epochs", 12, "--log", r.path("a.jsonl"), "--plot", r.path("a.html"))
table, objects = rows("a.csv"), lines("a.jsonl")
assert list(table[0]) == NAMES == list(objects[0]), (table[0], objects[0])
assert [int(x["epoch"]) for x in table] == [x["epoch"] for x in objects] == list(range(1, 13))
assert abs(float(table[-1]["loss"]) - end["loss"]) < 1e-6 and objects[-1]["loss"] == end["loss"]
best = [x for x in objects if x["best"]][-1]
assert (best["epoch"], best["val_acc"], best["test_acc"]) == tuple(
    end[k] for k in ("best_epoch", "val_acc", "test_acc"))
assert (table[0]["train_roc_auc"] == "" and objects[0]["val_loss"] is None
        and "test_roc_auc" not in end)
assert all(a["seconds"] <= b["seconds"]
           for a, b in zip(objects, objects[1:])) and objects[0]["seconds"] > 0
assert (end["stopped"], end["epochs_without_gain"]) == ("epochs", 12 - end["best_epoch"]), end

# Pictures need nothing else, and have a curve for each figure.
for name in ("a.svg", "a.html"):
    text = open(r.path(name), encoding="utf-8").read()
    assert not re.search(r"(?:href|src|url\(|@import)|https?:(?!//www.w3.org/2000/svg\")",
                         text), text
    assert "prefers-color-scheme:dark" in text and "nan" not in text and ">-0" not in text
    assert re.search(r"the dotted line: \d+, the best", text)
svg = xml.dom.minidom.parse(r.path("a.svg"))
assert len(svg.getElementsByTagName("polyline")) == 1 + 3
assert [len(p.getAttribute("points").split())
        for p in svg.getElementsByTagName("polyline")] == [12] * 4

# The learning rate is another, and schedules keep their shape.
assert all(x["learning_rate"] == 0.01 for x in objects)
MODEL = open(GCN, encoding="utf-8").read()
SHAPES = {"step(period = 3, gamma = 0.5)": lambda t: 0.5 ** (t // 3),
          "exponential(gamma = 0.9)": lambda t: 0.9 ** t,
          "cosine(period = 8, eta_min = 0.001)": lambda t: 0.1 +
          0.9 * (1 + math.cos(math.pi * t / 8)) / 2,
          "linear(period = 4, gamma = 0.2)": lambda t: 1 - 0.8 * min(t, 4) / 4}
for shape, part in SHAPES.items():
    with open(r.path("m.gnn"), "w", encoding="utf-8") as f:
        f.write(MODEL.replace("  epochs = 200", f"  schedule = {shape}\n  epochs = 8"))
    train(r.path("m.gnn"), "--log", r.path("own.jsonl"), "-D", "p=0")
    with open(r.path("m.gnn"), "w", encoding="utf-8") as f:
        f.write(MODEL.replace("  epochs = 200", f"  schedule = {shape.replace('0.001', '0.005')}\n"
                              "  epochs = 8").replace("0.01", "0.05"))
    train(r.path("m.gnn"), "--log", r.path("said.jsonl"), "-D", "p=0")
    with open(r.path("m.gnn"), "w", encoding="utf-8") as f:
        f.write(MODEL.replace("  epochs = 200", f"  schedule = {shape}\n  epochs = 8"))
    train(r.path("m.gnn"), "--lr", "0.05", "--log", r.path("other.jsonl"), "-D", "p=0")
    own, said, other = lines("own.jsonl"), lines("said.jsonl"), lines("other.jsonl")
    for t in range(8):
        assert abs(own[t]["learning_rate"] - 0.01 * part(t)) < 1e-12, (shape, t, own[t])
        assert abs(other[t]["learning_rate"] - 0.05 * part(t)) < 1e-12, (shape, t, other[t])
        assert said[t]["loss"] == other[t]["loss"], (shape, t)
    assert own[-1]["loss"] != other[-1]["loss"], shape
for bad, words in (("-1", "below 0"), ("nan", "not a number"), ("inf", "not a number"),
                   ("fast", "not a number")):
    r.fails(2, words, "train", GCN, "--lr", bad)

# What goes on from a checkpoint keeps the lines before it, and drops those that it writes again and
# half a line.
C = r.path("c.safetensors")
train(GCN, "--epochs", 30, "--log", r.path("whole.csv"))
for end in ("csv", "jsonl"):
    log = r.path("part." + end)
    train(GCN, "--epochs", 10, "--checkpoint", C, "--log", log)
    train(GCN, "--epochs", 17, "--log", r.path("more." + end))
    text = open(r.path("more." + end), encoding="ascii").read()
    with open(log, "w", encoding="ascii") as f:
        f.write(text + text.splitlines()[-1][:9])
    train(GCN, "--epochs", 30, "--resume", C, "--log", log, "--plot", r.path("part.svg"))
    got = rows("part.csv") if end == "csv" else lines("part.jsonl")
    assert [int(x["epoch"]) for x in got] == list(range(1, 31)), got
    want = [float(x["loss"]) for x in rows("whole.csv")]
    assert all(abs(float(a["loss"]) - b) < 1e-6 for a, b in zip(got, want))
    curves = xml.dom.minidom.parse(r.path("part.svg")).getElementsByTagName("polyline")
    assert len(curves[0].getAttribute("points").split()) == 30, "the picture begins at the break"

# Another run replaces a log; nothing else is replaced.
train(GCN, "--epochs", 2, "--seeds", 2, "--log", r.path("part.csv"), "--plot", r.path("seeds.svg"))
curves = xml.dom.minidom.parse(r.path("seeds.svg")).getElementsByTagName("polyline")
assert [len(p.getAttribute("points").split()) for p in curves] == [2] * 8, "a curve for each seed"
assert ([(x["seed"], x["epoch"]) for x in rows("part.csv")] ==
        [("0", "1"), ("0", "2"), ("1", "1"), ("1", "2")])
for name, text in (("mine.csv", "seed,epoch\n1,2\n"), ("mine.jsonl", '{"epoch": 1}\n')):
    with open(r.path(name), "w", encoding="ascii") as f:
        f.write(text)
    r.fails(2, "is no log of training, and would be lost", "train", GCN, "--log", r.path(name))
    assert open(r.path(name), encoding="ascii").read() == text
r.fails(2, "ends in .csv or .jsonl", "train", GCN, "--log", r.path("log.txt"))
r.fails(2, "ends in .svg or .html", "train", GCN, "--plot", r.path("plot.png"))
r.fails(2, "writes the same file", "train", GCN, "--log", r.path("p.csv"),
        "--predictions", r.path("p.csv"))
r.fails(3, "--log", "train", GCN, "--log", r.path("nowhere/log.csv"))

# A run that is killed keeps its lines; Ctrl-C keeps log and plot.
for how in (signal.SIGKILL, signal.SIGINT):
    name = f"end{how}.jsonl"
    p = subprocess.Popen([r.gnnc, "train", GCN, "-q", "--epochs", "1000000000", "--log",
                          r.path(name), "--plot", r.path(f"end{how}.svg")], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not os.path.exists(r.path(name)) or open(r.path(name), "rb").read().count(b"\n") <= 5:
        assert p.poll() is None, p.communicate()
        time.sleep(0.01)
    p.send_signal(how)
    p.communicate()
    assert p.returncode == (130 if how == signal.SIGINT else -how), p.returncode
    text = open(r.path(name), encoding="ascii").read()
    assert text.endswith("\n"), "half a line"
    whole = [json.loads(line) for line in text[:text.rindex("\n")].splitlines()]
    assert [x["epoch"] for x in whole] == list(range(1, len(whole) + 1)) and len(whole) > 5
    assert os.path.exists(r.path(f"end{how}.svg")) == (how == signal.SIGINT)

# Why it stopped.
out = train(GAT, "--epochs", 5000, "--lr", 0.02)
epochs = int(re.match(r"seed 0: (\d+) epochs", out)[1])
assert epochs < 5000 and "\n  stopped by patience: 100 epochs in a row without a gain\n" in out, out
end = last(train(GAT, "--epochs", 5000, "--lr", 0.02, "--json", "--log", r.path("gat.jsonl")))
assert (end["stopped"], end["epochs_without_gain"], end["epochs"]) == ("patience", 100, epochs), end
assert all(x["val_loss"] > 0 for x in lines("gat.jsonl"))

# Two classes of which one is rare: the area under the curve, as it is told everywhere; of balanced
# ones nothing is said.
N = 60


def data(name, rare, x=lambda v: [1, v % 7]):
    edges = [(v, (v + 1) % N) for v in range(N)]
    files.write_npz(r.path(name),
                    {"edge_index": ("q", (2, N), [u for u, _ in edges] + [v for _, v in edges]),
                     "x": ("f", (N, 2), [z for v in range(N) for z in x(v)]),
                     "y": ("q", (N,), [int(v % rare == 0) for v in range(N)]),
                     "train_mask": ("?", (N,), [int(v % 4 < 2) for v in range(N)]),
                     "val_mask": ("?", (N,), [int(v % 4 == 2) for v in range(N)]),
                     "test_mask": ("?", (N,), [int(v % 4 == 3) for v in range(N)])})
    return r.path(name)


def auc(scores, y):
    pairs = [(a > b) + (a == b) / 2 for a, p in zip(scores, y)
             for b, q in zip(scores, y) if p and not q]
    return sum(pairs) / len(pairs)


RARE = data("rare.npz", 5)
W, P = r.path("rare.safetensors"), r.path("rare_out.npz")
end = json.loads(train(GCN, "--data", RARE, "--epochs", 9, "--json", "--save", W, "--predictions",
                       P, "--log", r.path("rare.jsonl"), "--plot", r.path("rare.svg")))
flat = files.read_npz(P)["logits"]
flat = flat[-1] if isinstance(flat, tuple) else flat
score = [flat[2 * v + 1] - flat[2 * v] for v in range(N)]
for part, name in ((3, "test"), (2, "val")):
    want = auc([score[v] for v in range(N) if v % 4 == part],
               [v % 5 == 0 for v in range(N) if v % 4 == part])
    run = end["runs"][0]
    assert abs(run[f"{name}_roc_auc"] - want) < 1e-9, (run, want)
    assert abs(end["metrics"][name]["roc_auc"] - want) < 1e-9
assert end["test_roc_auc"]["mean"] == run["test_roc_auc"] and end["test_roc_auc"]["std"] == 0
chosen = [x for x in lines("rare.jsonl") if x["epoch"] == run["best_epoch"]][0]
assert chosen["test_roc_auc"] == run["test_roc_auc"], (chosen, run)
assert "area under the ROC curve" in open(r.path("rare.svg"), encoding="utf-8").read()
said = (f"ROC AUC train {100 * run['train_roc_auc']:.2f}% val {100 * run['val_roc_auc']:.2f}% test "
        f"{100 * run['test_roc_auc']:.2f}%")
for out in (train(GCN, "--data", RARE, "--epochs", 9),
            r.works("run", GCN, "--data", RARE, "--weights", W, "-q")):
    assert said in out, (said, out)
EVEN = data("even.npz", 2)
assert "ROC AUC" not in train(GCN, "--data", EVEN, "--epochs", 2)
out = r.works("run", GCN, "--data", EVEN, "-q")
assert "macro F1 train" in out and "ROC AUC" not in out, out
assert "ROC AUC" in r.works("run", GCN, "--data", EVEN, "-v"), "all scores with -v"

# Rows with a NaN: no prediction, wrong in every score, and a warning; infinities alone are a
# prediction.
NAN = data("nan.npz", 2, lambda v: [-1 if v == 10 else 1, (v + 4) % 7])
with open(r.path("plain.gnn"), "w", encoding="utf-8") as f:
    f.write("model M() (g: graph, x: node[F]) -> node[C] { return log(x) }\n")
for name in ("nan.csv", "nan_out.npz"):
    out = subprocess.run([r.gnnc, "run", r.path("plain.gnn"), "--data", NAN, "--predictions",
                          r.path(name), "--json"], capture_output=True, text=True, check=True)
    warning = re.search(
        r"warning: M gives numbers that are not finite in (\d+) of 60 rows \((\d+) with a NaN\): a "
        r"row with a NaN has no prediction \(-1 in files\) and counts as wrong\n", out.stderr)
    bad = sum(v % 7 == 3 or v == 10 for v in range(N))
    assert warning and (int(warning[1]), int(warning[2])) == (bad, 1), out.stderr
    report = json.loads(out.stdout, parse_constant=lambda c: 1 / 0)
    assert report["not_finite"] == bad, report
    if name.endswith("csv"):
        label = [int(t) for t in open(r.path(name), encoding="ascii").read().split()[1:]]
    else:
        label = files.read_npz(r.path(name))["prediction"]
        label = list(label[-1] if isinstance(label, tuple) else label)
    assert label[10] == -1 and label.count(-1) == 1, label
    for part, mask in ((2, "val"), (3, "test")):
        mine = [v for v in range(N) if v % 4 == part]
        want = sum(label[v] == int(v % 2 == 0) for v in mine) / len(mine)
        assert abs(report["runs"][0][f"{mask}_acc"] - want) < 1e-9 and abs(
            report["metrics"][mask]["accuracy"] - want) < 1e-9
    assert report["metrics"]["val"]["roc_auc"] is None, report["metrics"]["val"]
quiet = subprocess.run([r.gnnc, "run", r.path("plain.gnn"), "--data", NAN, "-q"],
                       capture_output=True, text=True, check=True)
assert quiet.stderr == "", quiet.stderr

# A loss on validation nodes that is nan is no best one, and where it always is nothing can be
# chosen.
with open(r.path("val.gnn"), "w", encoding="utf-8") as f:
    f.write(MODEL.replace("select = best",
                          "select = best\n  monitor = val_loss").replace("h = x", "h = log(x)"))
files.write_npz(
    r.path("bad_val.npz"),
    {"edge_index": ("q", (2, 2), [0, 1, 1, 0]), "x": ("f", (16, 1), [1, 2] + 13 * [3] + [-1]),
     "y": ("q", (16,), [0, 1] * 8), "train_mask": ("?", (16,), [1, 1] + [0] * 14),
     "val_mask": ("?", (16,), [0] * 15 + [1]), "test_mask": ("?", (16,), [0] * 14 + [1, 0])})
r.fails(1, "no epoch can be chosen: the loss on validation nodes was nan after each of 3", "train",
        r.path("val.gnn"), "--data", r.path("bad_val.npz"), "--epochs", 3)
r.done()
