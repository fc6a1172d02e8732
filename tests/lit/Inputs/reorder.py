"""--reorder: the same losses, accuracies and predictions, node by node, up to rounding."""
import csv
import json
import os

import files
import runs

r = runs.Runs(shared=True)
DATA = ("synthetic:nodes=300,edges=1800,features=12,classes=4",
        "synthetic:nodes=300,edges=1800,features=60,classes=4,density=0.05", None)


def train(sample, data, how):
    out, weights = r.path(f"{how}.csv"), r.path(f"{how}.safetensors")
    args = ["train", os.path.join(runs.SAMPLES, sample), "-q", "--json", "--threads", 1, "--epochs",
            5, "-D", "p=0", "--reorder", how, "--predictions", out, "--save", weights]
    d = json.loads(r.works(*args, *(("--data", data) if data else ())))
    with open(out) as f:
        labels = [row[-1] for row in csv.reader(f)]
    return d, labels


SAMPLES = ("gcn.gnn", "gat.gnn", "sage.gnn")
for sample in SAMPLES:
    for k, data in enumerate(DATA):
        if runs.SANITIZED and k != SAMPLES.index(sample):  # each once
            continue
        plain, labels = train(sample, data, "none")
        for how in ("degree", "rcm", "communities"):
            d, other = train(sample, data, how)
            name = f"{sample} {data} {how}"
            a, b = plain["runs"][0], d["runs"][0]
            if d["reorder"] != how or not abs(a["loss"] - b["loss"]) < 1e-4 * (1 + a["loss"]):
                r.problems.append(f"{name}: loss {b['loss']}, expected {a['loss']}")
            if abs(a["test_acc"] - b["test_acc"]) > 0.01:
                r.problems.append(f"{name}: accuracy {b['test_acc']}, expected {a['test_acc']}")
            wrong = sum(x != y for x, y in zip(labels, other)) + abs(len(labels) - len(other))
            if wrong > len(labels) // 50:
                r.problems.append(f"{name}: {wrong} of {len(labels)} predictions differ")
# Several types of rows, with weights for each row of one: results and weights in the data's order,
# of stores that are in another, and of what is compiled into an object, too.
TYPED, PAPERS = r.write("typed.gnn", """
model T(dim = 3) (writes: node.author -> node.paper, cites: node.paper -> node.paper,
                  x: node.paper[F]) -> (node.paper[C], node.author[2], edge) {
  param who: node.author[dim] = normal(0.0, 1.0)
  h = Linear(dim)(x) + sum(u -> v in writes: who[u])
  classes = Linear(C)(sum(u -> v in cites: h[u]))
  back = reverse(writes)
  authors = Linear(2)(mean(u -> v in back: h[u]))
  pairs = edge(u -> v in writes: sum(who[u] * h[v], axis = -1))
  return classes, authors, pairs
}
fn first(results, y, mask) {
  classes, authors, pairs = results
  return cross_entropy(classes, y, mask)
}
train T {
  loss = first(T(writes, cites, x), y) over train_mask
  select = best
}
"""), "synthetic:typed,scale=0.0003,features=4,classes=3"


def near(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-4 * (1 + abs(x)) for x, y in zip(a, b))


def made(name, data, *args):
    out, weights = r.path(name + ".npz"), r.path(name + ".safetensors")
    r.works("train", TYPED, "--data", data, "-q", "--threads", 1, "--epochs", 3, *args,
            "--predictions", out, "--save", weights)
    arrays = [(k, v[-1]) for k, v in files.read_npz(out).items()]
    return sorted(arrays + [(k, v[-1]) for k, v in files.read_safetensors(weights).items()])


want = made("as", PAPERS)
r.works("data", "convert", PAPERS, r.path("turned"), "--order", "degree")
for name, data, args in (("degree", PAPERS, ("--reorder", "degree")),
                         ("rcm", PAPERS, ("--reorder", "rcm")),
                         ("turned", r.path("turned"), ()),
                         ("twice", r.path("turned"), ("--reorder", "communities"))):
    for (key, a), (other, b) in zip(want, made(name, data, *args)):
        if key != other or not near(a, b):
            r.problems.append(f"{name}: {key} is other than in the data's order")
for name, args in (("as.o", ("--data", PAPERS)), ("turned.o", ("--data", r.path("turned")))):
    r.works(TYPED, *args, "--weights", r.path("as.safetensors"), "-o", r.path(name))
a, b = (open(r.path(name), "rb").read() for name in ("as.o", "turned.o"))
if a != b:
    r.problems.append("objects have weights in the order of a store")
base = ("train", TYPED, "--data", PAPERS, "-q", "--threads", 1)
r.works(*base, "--epochs", 2, "--checkpoint", r.path("half"), "--reorder", "degree")
r.works(*base, "--epochs", 3, "--resume", r.path("half"), "--save", r.path("on"))
r.works(*base, "--epochs", 1, "--checkpoint", r.path("first"), "--reorder", "degree")
first = files.read_safetensors(r.path("first"))
if not near(first["who"][-1], first["best.who"][-1]):
    r.problems.append("the best weights of an epoch are not those that it has")
who, on = (files.read_safetensors(r.path(k))["who"][-1] for k in ("as.safetensors", "on"))
if not near(who, on):
    r.problems.append("training that went on in another order took the moments of other rows")

# Links that are held out before nodes get their order are judged by their ends' numbers.
LINKS = ("train", os.path.join(runs.SAMPLES, "links.gnn"), "--data", DATA[0], "-q", "--json",
         "--epochs", 20, "--reorder")
auc = [json.loads(r.works(*LINKS, how))["val_auc"] for how in ("none", "rcm")]
if not auc[0] > 0.7 or not abs(auc[0] - auc[1]) < 0.1:
    r.problems.append(f"links: ROC AUC {auc}")

r.fails(2, "--reorder: unknown value 'rabit'", "train", os.path.join(runs.SAMPLES, "gcn.gnn"),
        "--reorder=rabit")
r.done()
