#!/usr/bin/env python3
"""From the start of a process to its result, with an empty and with a full cache of kernels:
start.py --gnnc build/gnnc [--data DIR/cora] [--model samples/gcn.gnn] [--repeat 20].

Cold: GNNC_CACHE=0.  First: an empty folder, where kernels are kept.  Warm: all kernels are there.
Times in milliseconds, medians:  `process` from before the process is started to after its end,
`read` reading data and making the graph, `rest` the difference, `compile` from the model's text to
loaded code, `code` the part of it that looks up, compiles and loads.  At the end what a call takes
to find that the guards of a program for these sizes hold."""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def timed(command, environment):
    started = time.perf_counter()
    done = subprocess.run(command, env=os.environ | environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    spent = (time.perf_counter() - started) * 1e3
    if done.returncode:
        sys.exit(f"start: {' '.join(command)}: {done.stderr.strip()}")
    return spent, done.stdout


def measure(command, environment, repeat, before=lambda: None):
    """Medians: the report as JSON takes time of its own, so the process is timed without it."""
    rows = []
    for _ in range(repeat):
        before()
        spent, _ = timed(command, environment)
        before()
        said = json.loads(timed(command + ["--json"], environment)[1])
        code = said["cache"]["ms"] if said["cache"] else None
        rows.append((spent, said["read_ms"], spent - said["read_ms"], said["compile_ms"], code))
    return [None if c[0] is None else statistics.median(c) for c in zip(*rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gnnc", default="build/gnnc")
    parser.add_argument("--model",
                        default=os.path.join(os.path.dirname(__file__), "..", "samples", "gcn.gnn"))
    parser.add_argument("--data", help="default: the built-in graph")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("more", nargs="*", help="more options of gnnc, after --")
    args = parser.parse_args()
    command = [args.gnnc, "run", args.model, "-q", "--threads", "1", *args.more]
    if args.data:
        command += ["--data", args.data]
    folder = tempfile.mkdtemp(prefix="gnnc-start-")
    kept = {"GNNC_CACHE": "1", "GNNC_CACHE_DIR": os.path.join(folder, "cache")}
    try:
        empty = lambda: shutil.rmtree(kept["GNNC_CACHE_DIR"], ignore_errors=True)
        rows = [("cold", measure(command, {"GNNC_CACHE": "0"}, args.repeat)),
                ("first", measure(command, kept, args.repeat, empty))]
        timed(command, kept)
        rows.append(("warm", measure(command, kept, args.repeat)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{'':6}" +
          "".join(f"{name:>9}" for name in ("process", "read", "rest", "compile", "code")))
    for name, row in rows:
        print(f"{name:6}" + "".join(f"{'-':>9}" if x is None else f"{x:9.2f}" for x in row))
    explain = [args.gnnc, "explain", args.model, "--dynamic", "false",
               *(["--data", args.data] if args.data else [])]
    said = re.search(r"guards: .*", timed(explain, kept | {"GNNC_CACHE": "0"})[1])
    print(said.group() if said else "no guards")


if __name__ == "__main__":
    main()
