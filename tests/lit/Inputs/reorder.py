"""--reorder: the same losses, accuracies and predictions, node by node, up to rounding."""
import csv
import json
import os

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
r.fails(2, "--reorder: unknown value 'rabit'", "train", os.path.join(runs.SAMPLES, "gcn.gnn"),
        "--reorder=rabit")
r.done()
