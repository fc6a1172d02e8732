"""gnnc explain: the figures that can be known, every kernel and what it is said to be made of,
lines that fit."""
import json
import os

import runs

r = runs.Runs(shared=True)
DATA = "synthetic:nodes=300,edges=1200,features=16,classes=4"
CASES = [(m, w) for m in ("gcn", "gat", "sage", "gin") for w in ("step", "eval")]
if runs.SANITIZED:  # of each model one
    CASES = [case for k, case in enumerate(CASES) if k % 4 in (0, 3)]


def check(what, holds):
    if not holds:
        r.problems.append(what)


for model, what in CASES:
    path = os.path.join(runs.SAMPLES, model + ".gnn")
    d = json.loads(r.works("explain", path, "--data", DATA, "--what", what, "--json", "-q",
                           "--threads", 1) or "{}")
    name = f"{model} {what}"
    check(f"{name}: {d.get('what')}", d.get("what") == what)
    check(f"{name}: sizes {d['sizes']}", d["sizes"]["node"] == 300)
    check(f"{name}: memory",
          sum(v for k, v in d["memory"].items() if k != "total") == d["memory"]["total"])
    check(f"{name}: ceilings {d['machine']}",
          d["machine"]["gflops"] > 0 and len(d["machine"]["levels"]) == 4)
    check(f"{name}: passes", all(p["change"] for p in d["passes"]))
    k = d["kernels"]
    check(f"{name}: numbers", [x["kernel"] for x in k] == list(range(len(k))))
    check(f"{name}: times",
          abs(sum(x["us"] for x in k) - d["us"]) < 1e-6 * d["us"] and min(x["us"] for x in k) >= 0)
    check(f"{name}: bounds", all(x["bound_us"] > 0 for x in k))
    check(f"{name}: edges are gathered", max(x["bytes_gathered"] for x in k) >= 1200 * 4 * 4)
    for x in k:
        for s in x.get("stores", []):
            check(f"{name}: {x['name']} is read before it runs",
                  all(b >= x["kernel"] for b in s["read_by"]))
        for s in x.get("apart", []):
            check(f"{name}: {x['name']} apart from {s['from']}",
                  s["from"] < x["kernel"] and s["reason"])
    text = r.works("explain", path, "--data", DATA, "--what", what, "-q", "--threads", 1)
    check(f"{name}: lines", text and max(map(len, text.split("\n"))) <= 120)
    for part in ("this machine:", "memory:", "bound by", "computes", "apart"):
        check(f"{name}: no '{part}'", part in text)
eager = json.loads(r.works("explain", os.path.join(runs.SAMPLES, "gcn.gnn"), "--without", "fuse",
                           "--json", "-q"))
reasons = {a["reason"] for x in eager["kernels"] for a in x.get("apart", [])}
check(f"switched off: {reasons}", reasons == {"fusion is switched off"})
r.fails(2, "--what: unknown value 'train'", "explain", os.path.join(runs.SAMPLES, "gcn.gnn"),
        "--what", "train")
r.fails(3, "cannot open", "explain", os.path.join(runs.SAMPLES, "gcn.gnn"), "--data",
        r.path("nowhere.npz"))
r.done()
