#!/usr/bin/env python3
"""What a search finds beside what rules choose, on the workloads of the race:
tuned.py [PATTERN ...] [--gnnc build/gnnc] [--data-root DIR] [--threads 1,2] [--budget 8]
         [--rounds 9] [--out FILE]

A cell is a model on a dataset with a number of threads.  `gnnc tune` searches with an empty folder
of kernels; then default and max-autotune, which takes what was kept, run in turn in processes of
their own, training and inference.  A round's ratio is tuned over default; `slower` is a program
whose median ratio is above 1 by more than one per cent and three times its standard error (there
are some seventy of them).  Where nothing was taken both run the same code, so those show how much
is noise.  Cells are written to FILE one by one, and those that are there are left out; at the end
it prints the table in Markdown and exits with 1 where a cell is slower, or where the default is
more than 15 % from the best in the geometric mean."""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "race"))
import machine  # noqa: E402
import table  # noqa: E402

PROGRAMS = ("eval", "step")
NAMES = {"eval": "inference", "step": "step"}


class Failed(Exception):
    pass


def cells_of(rows, threads):
    """Distinct (model, data, options, p) of the table, for each number of threads."""
    out = {}
    for row in rows:
        options = {**row.options, "p": f"{row.p:g}"}
        if row.model_file().parent.name != "samples":
            continue
        for count in threads:
            name = (f"{row.model} {row.data} "
                    f"{','.join(f'{k}={v}' for k, v in sorted(options.items()))} {count}")
            out.setdefault(name, (row, options, count))
    return out


def ask(command, environment, limit):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                          text=True, timeout=limit)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def declares(row, option):
    return f"{option} =" in row.model_file().read_text()


def measure(args, row, options, threads, source):
    folder = tempfile.mkdtemp(prefix="gnnc-tuned-")
    environment = {"GNNC_CACHE": "1", "GNNC_CACHE_DIR": os.path.join(folder, "cache"),
                   "GNNC_CACHE_SIZE": "4G"}
    common = [str(row.model_file()), "--data", source, "--threads", str(threads), "--json"]
    for name, value in options.items():
        if name != "p" or declares(row, "p"):
            common += ["-D", f"{name}={value}"]
    run = lambda verb, mode, more: ask(
        [args.gnnc, verb, *common, "-O", mode, "--tune-budget", "0", *more], environment, 600)
    try:
        said = ask([args.gnnc, "tune", *common, "--tune-budget", str(args.budget)], environment,
                   600)
        records = {record["program"]: record for record in said["records"]}
        times = {program: {"default": [], "max-autotune": []} for program in PROGRAMS}
        runs = {
            program: str(int(min(5000, max(10, args.block * 1e6 / records[program]["default_us"]))))
            for program in PROGRAMS}
        for k in range(args.rounds):
            for mode in ("default", "max-autotune") if k % 2 == 0 else ("max-autotune", "default"):
                trained = run("train", mode, ["--epochs", runs["step"]])
                times["step"][mode].append(trained["step_us"]["median"])
                times["eval"][mode].append(
                    run("run", mode, ["--repeat", runs["eval"]])["infer_us"]["median"])
        return {program: {"record": records[program], **times[program]} for program in PROGRAMS}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judged(program):
    """(default µs, tuned µs, ratio, its standard error, slower beyond noise)"""
    ratios = [b / a for a, b in zip(program["default"], program["max-autotune"])]
    middle = statistics.median(ratios)
    spread = statistics.median(abs(r - middle) for r in ratios)
    error = 1.4826 * spread * 1.2533 / math.sqrt(len(ratios))
    return (statistics.median(program["default"]), statistics.median(program["max-autotune"]),
            middle, error, middle > 1 + max(0.01, 3 * error))


def words(record):
    """What a search took; keys of regions without their digests."""
    taken = [re.sub(r"(-[0-9a-f]{4})[0-9a-f]*", r"\1",
                    record["choices"])] if record["choices"] else []
    if record["reorder"] != "none":
        taken.append(f"order {record['reorder']}")
    return ", ".join(taken)


def report(results):
    """A row a program, two columns a number of threads; what was taken where it is worth three per
    cent."""
    rows, threads, slower, logs = {}, [], [], []
    for name, cell in results["cells"].items():
        model, data, options, count = name.split(" ")
        threads += [count] if count not in threads else []
        for program in PROGRAMS:
            before, _, ratio, error, bad = judged(cell[program])
            rows.setdefault((model, data, program), {})[count] = (before, ratio, error,
                                                                  words(cell[program]["record"]))
            slower += [f"{name}, {NAMES[program]}: {ratio:.3f} ± {error:.3f}"] if bad else []
            logs.append(math.log(max(1.0, 1 / ratio)))
    head = "".join(f" {t} thread{'s' if t != '1' else ''}: default, µs | times |" for t in threads)
    lines = [f"| | |{head} taken |", "|---|---|" + "---|---|" * len(threads) + "---|"]
    for (model, data, program), cells in sorted(rows.items(),
                                                key=lambda row: (row[0][1], row[0][0], row[0][2])):
        line = f"| {data} | {model}, {NAMES[program]} |"
        for t in threads:
            line += (f" {cells[t][0]:.1f} | {cells[t][1]:.2f} ± {cells[t][2]:.2f} |" if t in cells
                     else " | |")
        taken = [f"{c[3]}" for c in cells.values() if c[1] < 0.97 and c[3]]
        lines.append(f"{line} {'; '.join(dict.fromkeys(taken))} |")
    worth = math.exp(statistics.fmean(logs)) if logs else 1.0
    lines += [
        "", f"{len(logs)} programs; tuned is slower beyond noise in {len(slower)}; the best that "
        f"was found is {100 * (worth - 1):.1f} % faster than the default in the geometric mean."]
    return "\n".join(lines + [f"slower: {line}" for line in slower]), bool(slower) or worth > 1.15


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("patterns", nargs="*", help="names of workloads (bench/workloads.txt); "
                        "default: all but arxiv's and larger")
    parser.add_argument("--gnnc", default="build/gnnc")
    parser.add_argument("--data-root", help="default: $GNNC_DATA")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--budget", type=float, default=8,
                        help="seconds a search takes at most, for both programs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--block", type=float, default=0.2,
                        help="seconds of steps, and of inferences, a process")
    parser.add_argument("--out", default="bench/results/tuned.json")
    parser.add_argument("--report", action="store_true",
                        help="print the table of what is there, measure nothing")
    args = parser.parse_args()
    rows, _ = table.read(table.ROOT / "bench" / "workloads.txt")
    small = ["cora-*", "cs-*", "photo-*", "physics-*", "pubmed-*"]
    rows = [row for row in table.pick(rows, args.patterns or small) if args.patterns or row.p == 0]
    out = pathlib.Path(args.out)
    results = (json.loads(out.read_text()) if out.exists()
               else {"machine": machine.describe(), "cells": {}})
    for name, (row, options, threads) in {} if args.report else cells_of(
            rows, [int(t) for t in args.threads.split(",")]).items():
        source = table.data_argument(row.source, args.data_root)
        if name in results["cells"]:
            continue
        if not source:
            print(f"{name}: no {row.source} below --data-root or $GNNC_DATA", file=sys.stderr)
            continue
        try:
            results["cells"][name] = measure(args, row, options, threads, source)
        except (Failed, subprocess.TimeoutExpired) as error:
            sys.exit(f"tuned: {name}: {error}")
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(results, indent=1))
    text, bad = report(results)
    print(text)
    return bad


if __name__ == "__main__":
    sys.exit(main())
