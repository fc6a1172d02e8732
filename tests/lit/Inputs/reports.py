"""What --json prints, key by key, and what the text says where there is nothing to say."""
import json
import os
import re

import files
import runs

r = runs.Runs()
GCN = os.path.join(runs.SAMPLES, "gcn.gnn")
number = (int, float)
HEAD = {"model": str, "data": str, "nodes": int, "edges": int, "device": str, "threads": int,
        "mode": str, "matmul_precision": str}
TIMES = {"median": number, "p10": number, "p90": number}
SPREAD = {"mean": number, "std": number}
ACCURACIES = {"train_acc": number, "val_acc": number, "test_acc": number}
COMMON = {**HEAD, "compile_ms": number, "peak_bytes": int}
TRAIN = {**COMMON,
         "runs": [{"seed": int, "epochs": int, "best_epoch": int, "loss": number, **ACCURACIES}],
         "test_acc": SPREAD, "step_us": TIMES, "prepare_ms": number, "read_ms": number}
RUN = {**COMMON, "runs": [{"seed": int, **ACCURACIES}], "test_acc": SPREAD, "infer_us": TIMES,
       "prepare_ms": number}
COMPILE = {**COMMON, "defaults": [str], "kernels": int, "distinct_kernels": int, "code_bytes": int,
           "programs": [{"name": str, "operators": int, "regions": int, "kernels": int}]}


def no_constant(name):
    raise ValueError(f"JSON has no {name}")


def fits(value, shape, at):
    if isinstance(shape, dict):
        for key, inner in shape.items():
            assert key in value, f"{at}: no '{key}' among {sorted(value)}"
            fits(value[key], inner, f"{at}.{key}")
    elif isinstance(shape, list):
        assert value, f"{at} is empty"
        for k, item in enumerate(value):
            fits(item, shape[0], f"{at}[{k}]")
    else:
        assert isinstance(value, shape) and not isinstance(value, bool), f"{at} is {value!r}"


def report(shape, *args):
    out = json.loads(r.works(*args, "--json", "-q"), parse_constant=no_constant)
    fits(out, shape, args[0])
    assert all(v >= 0 for k, v in out.items() if isinstance(v, number)), out
    return out


out = report(TRAIN, "train", GCN, "--epochs", 20, "--seeds", 3, "--seed", 5, "--threads", 2)
assert (out["model"], out["nodes"], out["edges"], out["threads"], out["mode"]) == (
    "GCN", 34, 156, 2, "default"), out
assert [x["seed"] for x in out["runs"]] == [5, 6, 7], out["runs"]
assert all(x["epochs"] == 20 and 1 <= x["best_epoch"] <= 20 for x in out["runs"]), out["runs"]
accuracy = [x["test_acc"] for x in out["runs"]]
mean = sum(accuracy) / 3
assert abs(out["test_acc"]["mean"] - mean) < 1e-12
assert abs(out["test_acc"]["std"] - (sum((a - mean) ** 2 for a in accuracy) / 2) ** 0.5) < 1e-12
assert out["step_us"]["p10"] <= out["step_us"]["median"] <= out["step_us"]["p90"]
one = report(TRAIN, "train", GCN, "--epochs", 20, "--seed", 6)
assert one["runs"][0] == out["runs"][1], "a seed gives the same whichever seeds ran before"
assert one["test_acc"]["std"] == 0

out = report({**RUN, "first_us": number}, "run", GCN, "--repeat", 5, "-O", "eager", "--threads", 1)
assert out["timed_runs"] == 5 and out["not_finite"] == 0, out
assert (out["mode"], out["threads"]) == ("eager", 1), out
assert (out["metrics"]["test"]["n"] == 20
        and out["metrics"]["val"]["accuracy"] == out["runs"][0]["val_acc"])
report(COMPILE, GCN, "-D", "layers=1")

# No labels in a mask, no labels at all, a single class: null in JSON, a dash in the text.
arrays = {"edge_index": ("q", (2, 4), [0, 1, 2, 3, 1, 0, 3, 2]),
          "x": ("f", (4, 2), [1, 0, 0, 1, 1, 1, 0, 0]), "y": ("q", (4,), [0, 1, 0, 1]),
          "train_mask": ("?", (4,), [1, 1, 0, 0]), "val_mask": ("?", (4,), [0] * 4),
          "test_mask": ("?", (4,), [0] * 4)}
files.write_npz(r.path("no_test.npz"), arrays)
out = json.loads(r.works("train", GCN, "--data", r.path("no_test.npz"), "-O0", "--epochs", "3",
                         "--json", "-q"), parse_constant=no_constant)
assert out["runs"][0]["test_acc"] is None and out["test_acc"]["mean"] is None
assert out["runs"][0]["train_acc"] is not None
for args in (("train", "--epochs", "3", "--seeds", "2"), ("run",)):
    text = r.works(args[0], GCN, *args[1:], "--data", r.path("no_test.npz"), "-O0", "-q")
    assert "nan" not in text and "val - test -" in text, text

# What the options on data do.
arrays["edge_index"] = ("q", (2, 3), [0, 1, 2, 1, 2, 3])
arrays["train_mask"] = ("?", (4,), [1] * 4)
files.write_npz(r.path("directed.npz"), arrays)
for args, edges in (((), 3), (("--undirected", "off"), 3), (("--undirected", "on"), 6)):
    out = json.loads(r.works("run", GCN, "--data", r.path("directed.npz"), "-O0", "--json", "-q",
                             *args))
    assert out["edges"] == edges, (args, out["edges"])


def loss_of(name, *args):
    out = r.works("train", GCN, "--data", r.path(name), "-O0", "-D", "p=0", "--epochs", 1, "--json",
                  "-q", *args)
    return json.loads(out)["runs"][0]["loss"]


loss = [loss_of("directed.npz", "--normalize-features", when) for when in ("auto", "on", "off")]
assert loss[0] == loss[2] != loss[1], loss
arrays["train_mask"] = ("?", (2, 4), [1, 1, 0, 0, 0, 0, 1, 1])
arrays["val_mask"] = arrays["test_mask"] = ("?", (2, 4), [0, 1] * 4)
files.write_npz(r.path("splits.npz"), arrays)
loss = [loss_of("splits.npz", "--split", k) for k in (0, 1)]
assert loss[0] != loss[1], loss
# docs/json.md has a word for each key that there is.
page = open(os.path.join(runs.SAMPLES, "..", "docs", "json.md"), encoding="utf-8").read()
first, then = page.split("## What follows")
HEADS = set(re.findall(r"`(\w+)`", first))
ROWS = {row.split("|")[1].strip(): set(re.findall(r"`(\w+)`", row.split("|")[2]))
        for row in then.splitlines() if row.startswith("| `")}
ON = ("--cache-dir", r.path("cache"))
for row, head, args in (
        ("`train`", True, ("train", GCN, "--epochs", 2, *ON)),
        ("`train`", True, ("train", os.path.join(runs.SAMPLES, "sage.gnn"), "--epochs", 2,
                           "--batch", 8, *ON)),
        ("`run`", True, ("run", GCN, "--threads", 1, *ON)),
        ("`run --batches`", False, ("run", GCN, "--batches", 2)), ("`gnnc MODEL`", True, (GCN,)),
        ("`gnnc MODEL -o`", False, (GCN, "-o", r.path("gcn.o"))),
        ("`tune`", True, ("tune", GCN, "--tune-budget", 0.1, *ON)),
        ("`tune`", False, ("tune", "--show", *ON)), ("`explain`", True, ("explain", GCN)),
        ("`cache stats`", False, ("cache", "stats", *ON)),
        ("`cache verify`", False, ("cache", "verify", *ON)),
        ("`bench`", False,
         ("bench", GCN, "--modes", "eager", "--compile-only", "-o", r.path("bench")))):
    out = json.loads(r.works(*args, "--json", "-q"), parse_constant=no_constant)
    known = ROWS[row] | (HEADS if head else set())
    assert set(out) <= known, (row, set(out) - known)
    records = [key for part in ("runs", "records", "programs") if isinstance(out.get(part), list)
               for key in out[part][0]]
    assert row == "`tune`" and not head or set(records) <= known, (row, records)
r.done()
