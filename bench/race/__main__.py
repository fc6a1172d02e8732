#!/usr/bin/env python3
"""Races gnnc against its peers and against programs written by hand, on one machine in the same
minutes.

    python3 bench/race --gnnc build/gnnc --data-root DIR [PATTERN...]
                                                            e.g. cora-gcn-train 'arxiv-*'

Standard library only. Results go to --out as JSON, a file a workload, and README.md, written again
after each.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import traceback

import ablation
import contenders
import envs
import machine
import peers
import report
import table
from cases import Cases
from contenders import RaceError
from race import Race, Settings

ROOT = table.ROOT
QUICK = ["cora-gcn-infer", "cora-gcn-train", "cora-gat-train"]
QUICK_PEERS = ["pyg", "pyg-csr", "dgl", "expert-manual", "compile:default:auto"]


def parse(argv):
    parser = argparse.ArgumentParser(prog="race", description=__doc__.split("\n\n")[0])
    parser.add_argument("patterns", nargs="*", metavar="PATTERN",
                        help="workloads, by name or pattern; default: all")
    parser.add_argument("--gnnc", default=str(ROOT / "build/gnnc"))
    parser.add_argument("--dump", help="the bench_dump program; default: beside gnnc")
    parser.add_argument("--table", default=str(ROOT / "bench/workloads.txt"))
    parser.add_argument("--data-root", help="folder of planetoid/ and npz/; default: $GNNC_DATA")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results")
    parser.add_argument("--list", action="store_true", help="list the workloads and stop")
    parser.add_argument("--quick", action="store_true",
                        help="three workloads of Cora, five peers, short blocks")
    parser.add_argument("--ablation", action="store_true",
                        help="no peers: each optimisation left out in turn")
    parser.add_argument("--resume", action="store_true",
                        help="leave out the workloads whose results are in --out")
    parser.add_argument("--report", action="store_true",
                        help="write the page of the results in --out again and stop")
    parser.add_argument("--peers",
                        help="these peers, with commas, whatever the table says; none: no peers")
    parser.add_argument("--pyg-python", help="a Python with torch and torch_geometric")
    parser.add_argument("--dgl-python", help="a Python with dgl")
    parser.add_argument("--peer-root", help="folder of the virtual environments (default: "
                        "$XDG_CACHE_HOME or the temporary folder)")
    parser.add_argument("--install", action="store_true",
                        help="make missing virtual environments, from PyPI")
    parser.add_argument("--install-only", action="store_true", help="make them and stop")
    parser.add_argument("--rounds", type=int, help="of each duel (default: 5; of an ablation 9)")
    parser.add_argument("--block", type=float, metavar="S",
                        help="seconds a block (default: 1; of an ablation 0.2)")
    parser.add_argument("--steps", type=int, default=300,
                        help="at most so many steps in a peer's block")
    parser.add_argument("--timeout", type=float, default=420, metavar="S",
                        help="a contender's answer")
    parser.add_argument("--minutes", type=float, default=600,
                        help="after these no workload or peer begins")
    parser.add_argument("--gnnc-arg", action="append", default=[],
                        help="one more argument for gnnc; repeatable")
    parser.add_argument("--device", default="cpu", metavar="DEVICE",
                        help="cpu, or cuda:N for gnnc and PyTorch alike")
    parser.add_argument("--matmul-precision", default="highest",
                        choices=["highest", "high", "medium"],
                        help="of products of matrices, for gnnc and PyTorch alike, on a GPU: high "
                        "is TF32, medium BF16 for gnnc and TF32 for PyTorch")
    parser.add_argument(
        "--cc", help="the compiler of bench/c (default: clang-19, an older clang, gcc or cc)")
    parser.add_argument("--work", type=pathlib.Path,
                        help="folder of graphs, weights and compilers' caches; kept if given")
    parser.add_argument("--scripts", default=str(peers.SCRIPTS), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    args.dump = args.dump or str(pathlib.Path(args.gnnc).resolve().parent / "bench_dump")
    args.rounds = args.rounds or (9 if args.ablation else 5)
    args.block = args.block or (0.2 if args.ablation else 1.0)
    if args.quick:
        args.patterns, args.rounds, args.block = (args.patterns or QUICK, min(args.rounds, 3),
                                                  min(args.block, 0.3))
    if args.ablation and not args.patterns:
        args.patterns = ["cora-*-train", "cora-*-train-dropout", "cora-gcn-infer", "cora-gat-infer"]
    if args.device != "cpu":
        args.gnnc_arg += ["--device", args.device]
    if args.matmul_precision != "highest":
        args.gnnc_arg += ["--matmul-precision", args.matmul_precision]
    chosen = args.peers if args.peers is not None else ",".join(QUICK_PEERS) if args.quick else None
    args.peers = None if chosen is None else [] if chosen == "none" else chosen.split(",")
    for name in args.peers or []:
        try:
            peers.peer(name)
        except ValueError as error:
            parser.error(str(error))
    return args


def pythons_for(args, workloads, say):
    """environment -> (Python, why there is none)."""
    wanted = set()
    for w in workloads:
        wanted |= {peers.peer(name).environment
                   for name in (args.peers if args.peers is not None else peers.names_for(w))}
    out = {"pyg": (None, "not asked for"), "dgl": (None, "not asked for")}
    for name, given in (("pyg", args.pyg_python), ("dgl", args.dgl_python)):
        if args.install_only or (name in wanted and not args.ablation):
            try:
                out[name] = (envs.python_of(name, given, args.peer_root,
                                            args.install or args.install_only, say), None)
            except RaceError as error:
                out[name] = (None, str(error))
                say(f"no {name}: {error}")
    return out


def version_of(gnnc):
    text, _ = contenders.run_measured([gnnc, "--version"], {}, 60)
    return text.strip().splitlines()[0] if text.strip() else "gnnc"


def one(workload, settings, shared, args, say):
    """The result of a workload, whatever happens to it."""
    race = Race(workload, settings, *shared, say)
    try:
        if args.ablation:
            names = [*ablation.switches(args.gnnc), "-O eager"]
            return {"workload": workload.__dict__,
                    "ablation": ablation.run(race, names, args.rounds, args.block, say)}
        return race.run()
    except (RaceError, table.TableError) as error:
        return {"workload": workload.__dict__, "failed": str(error), "rows": race.rows}
    except Exception:  # noqa: BLE001: an unattended run goes on with the next workload
        return {"workload": workload.__dict__,
                "failed": " ".join(traceback.format_exc().split())[-600:], "rows": race.rows}


def write_ablation(folder, host, results):
    lines = ["# What each optimisation is worth", "",
             f"{host['date']}; {host['cpu']}; {host['gnnc']} at {host['revision']}; load "
             f"{host['load'][0]}. Medians, each line in turn with everything on; the median "
             "quotient of blocks side by side, in brackets the range of the rounds' quotients.",
             ""]
    for name, result in results.items():
        lines += ablation.table(name, result["ablation"]) if "ablation" in result else [
            f"### {name}", "", str(result.get("failed")), ""]
    (folder / "README.md").write_text("\n".join(lines))


def race_all(args, workloads, sources, work, say):
    args.out.mkdir(parents=True, exist_ok=True)
    order = [w.name for w in table.read(args.table)[0]]
    pythons = pythons_for(args, workloads, say)
    programs = machine.Programs(work / "programs", args.cc)
    host = machine.describe() | {"gnnc": version_of(args.gnnc), "cc": programs.version(),
                                 "ceilings": machine.ceilings(programs)}
    say(f"programs by hand: compiled by {host['cc'] or 'nothing'}")
    (args.out / "machine.json").write_text(json.dumps(host, indent=1) + "\n")
    settings = Settings(gnnc=args.gnnc, gnnc_args=args.gnnc_arg, data_root=args.data_root,
                        work=work, rounds=args.rounds, block_s=args.block, most_steps=args.steps,
                        timeout=args.timeout, peers=args.peers, scripts=args.scripts,
                        device=args.device, precision=args.matmul_precision,
                        deadline=time.monotonic() + args.minutes * 60, keep=args.work is not None)
    more = [*([] if args.device == "cpu" else ["--device", args.device]),
            *([] if args.matmul_precision == "highest"
              else ["--matmul-precision", args.matmul_precision])]
    shared = (Cases(work, args.gnnc, args.dump, more=more), programs, pythons, sources)
    failed = 0
    for number, workload in enumerate(workloads, 1):
        path = args.out / f"{workload.name}.json"
        if args.resume and path.exists():
            continue
        if settings.left() <= 0:
            say("the time is over")
            break
        say(f"{workload.name} ({number} of {len(workloads)})")
        result = one(workload, settings, shared, args, say)
        failed += "failed" in result
        if "failed" in result:
            say(f"{workload.name}: {result['failed']}")
        path.write_text(json.dumps(result, indent=1) + "\n")
        results = report.load(args.out, order)
        (write_ablation if args.ablation else report.write)(args.out, host, results)
    return failed


def show(args, workloads):
    results = report.load(args.out, [w.name for w in workloads])
    if args.ablation:
        print((args.out / "README.md").read_text() if (args.out / "README.md").exists()
              else "nothing ran")
    else:
        print("\n".join(report.summary(results)))
        for w in workloads if len(workloads) <= 3 else []:
            if w.name in results and "failed" not in results[w.name]:
                print("\n" + "\n".join(report.page(w.name, results[w.name])))
    print(f"written: {args.out}/README.md")


def main(argv=None):
    args = parse(argv)
    begin = time.monotonic()
    say = lambda text: print(f"{time.monotonic() - begin:7.1f} s  {text}", file=sys.stderr,
                             flush=True)
    try:
        rows, sources = table.read(args.table)
        workloads = table.pick(rows, args.patterns)
        if args.list:
            print("\n".join(f"{w.name:26} {w.model} on {w.data}: {w.what}, dropout {w.p:g}, "
                            f"{w.threads} thread(s)" for w in workloads))
            return 0
        if args.report:
            host = json.loads((args.out / "machine.json").read_text())
            report.write(args.out, host, report.load(args.out, [w.name for w in rows]))
            return 0
        if args.install_only:
            found = pythons_for(args, workloads, say)
            return 0 if all(python for python, _ in found.values()) else 1
        # so that children end and folders go
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        work = args.work or pathlib.Path(tempfile.mkdtemp(prefix="gnnc-bench-"))
        try:
            failed = race_all(args, workloads, sources, work, say)
        finally:
            if not args.work:
                shutil.rmtree(work, ignore_errors=True)
    except (RaceError, table.TableError, OSError) as error:
        print(f"race: {error}", file=sys.stderr)
        return 1
    show(args, workloads)
    return 1 if failed == len(workloads) else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main())
