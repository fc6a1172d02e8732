"""Every sample trains, in other sizes, without dropout, eagerly; and however few passes run, to the
same result."""
import json
import os
import sys

import runs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data"))
import typed  # noqa: E402

r = runs.Runs(shared=True)
SPARSE = "synthetic:nodes=60,edges=240,features=30,classes=3,density=0.05"


def train(sample, *args):
    out = r.works("train", os.path.join(runs.SAMPLES, sample), "-q", "--json", "--threads", 1,
                  *args)
    return json.loads(out)["runs"][0] if out else {"loss": float("nan"), "test_acc": 0}


def same(a, b, what):
    if not abs(a["loss"] - b["loss"]) < 1e-4 * (1 + abs(a["loss"])):
        r.problems.append(f"{what}: loss {b['loss']}, expected {a['loss']}")


SAMPLES = sorted(n for n in os.listdir(runs.SAMPLES) if n.endswith(".gnn")
                 and n[:-4] not in typed.OF_SAMPLE)
assert len(SAMPLES) >= 4, SAMPLES
for sample in SAMPLES:
    heads = ("-D", "heads=3") if sample == "gat.gnn" else ()
    small = (sample, "--epochs", 4, "-D", "hidden=5", "-D", "p=0", *heads)
    plain = train(*small)
    if not plain["loss"] > 0:
        r.problems.append(f"{sample}: loss {plain['loss']}")
    if not runs.SANITIZED:
        same(plain, train(*small, "-O", "eager"), f"{sample}, eager")
    train(sample, "--epochs", 2, "-D", "hidden=1", "-D", "layers=1", *heads)
for sample in sorted(typed.OF_SAMPLE):
    few = (f"{sample}.gnn", "--epochs", 12, *typed.options(sample, r.path("typed")))
    few += typed.few(sample)
    plain = train(*few)
    if not plain["loss"] > 0:
        r.problems.append(f"{sample}: loss {plain['loss']}")
    if not runs.SANITIZED:
        same(plain, train(*few, "-O", "eager"), f"{sample}, eager")
train("gcn.gnn", "--epochs", 2, "-D", "layers=9")
train("gcn.gnn", "--epochs", 2, "-D", "p=1")

for data, limits in (((), (0, 3, 8, 100)), (("--data", SPARSE), (0, 1, 2, 3, 4, 5, 6, 100))):
    every = ("gcn.gnn", "--epochs", 20, "-D", "hidden=4", *data)
    whole = train(*every)
    for limit in limits[::2] if runs.SANITIZED else limits:
        same(whole, train(*every, "--pass-limit", limit), f"--pass-limit {limit} {data}")
r.done()
