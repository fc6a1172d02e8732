#!/usr/bin/env python3
"""Races gnnc against PyTorch Geometric on the same machine in the same minutes.

    python3 bench/race.py --gnnc build/gnnc --peer-python PEER/bin/python --data DIR --model gcn --what train

Machines drift: their clocks, their neighbours, their caches. So contenders run in turn, a block of steps each, for some
rounds, each round starting with another contender; what is compared is the blocks of one round. Standard library only.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DROPOUT = {"gcn": 0.5, "gat": 0.6, "sage": 0.5, "gin": 0.5}
BUSY = 0.95  # processor time over time of a peer's block, below which somebody else had the processor
PEERS = {"pyg": [], "pyg-csr": ["--adjacency", "csr"], "pyg-sparse": ["--features", "csr"], "pyg-compile": ["--compile"]}
# glibc gives large blocks back to the system and faults them in again at every step: up to twice the time of a step of
# PyTorch, for nothing that is PyTorch's. So it is told to keep them. --peer-malloc default undoes that.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "8589934592",
               "MALLOC_TOP_PAD_": "268435456"}


class RaceError(Exception):
    pass


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def pinned(cpus):
    """What a child calls before it starts, so that it runs on those processors only."""
    return (lambda: os.sched_setaffinity(0, cpus)) if cpus else None


class Gnnc:
    """One process a block."""
    name = "gnnc"

    def __init__(self, args):
        model = str(args.samples / f"{args.model}.gnn")
        self.command = [args.gnnc, "train" if args.what == "train" else "run", model, "--data", args.data, "--json",
                        "--threads", str(args.threads)]
        self.command += ["--epochs" if args.what == "train" else "--repeat", str(args.gnnc_steps)]
        self.command += ["-D", f"p={args.dropout}"] if args.what == "train" else []
        self.command += ["-D", f"hidden={args.hidden}"] if args.hidden else []
        self.command += args.gnnc_arg
        self.key = "step_us" if args.what == "train" else "infer_us"
        self.cpus = args.cpus
        version = self._run([args.gnnc, "--version"]).strip().splitlines()
        self.about = {"version": version[0] if version else "unknown", "command": " ".join(self.command)}

    def _run(self, command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, preexec_fn=pinned(self.cpus))
        except OSError as error:
            raise RaceError(f"{command[0]}: {error.strerror}") from error
        if done.returncode:
            raise RaceError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr.strip()[-2000:]}")
        return done.stdout

    def block(self):
        text = self._run(self.command)
        try:
            times = json.loads(text)[self.key]
            return {name: float(times[name]) for name in ("median", "p10", "p90")}
        except (ValueError, KeyError, TypeError) as error:
            raise RaceError(f"{' '.join(self.command)}: no {self.key} in its output ({error!r}):\n{text[-500:]}") from error

    def close(self):
        pass


class Peer:
    """One process for all rounds, which waits while others run."""

    def __init__(self, name, args):
        self.name, self.steps = name, args.steps
        command = [args.peer_python, str(args.peer_script), "--data", args.data, "--model", args.model, "--what", args.what,
                   "--dropout", str(args.dropout), "--threads", str(args.threads)]
        command += ["--hidden", str(args.hidden)] if args.hidden else []
        command += PEERS[name]
        environment = os.environ | (KEEP_MEMORY if args.peer_malloc == "keep" else {})
        self.errors = tempfile.TemporaryFile("w+")
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                            text=True, env=environment, preexec_fn=pinned(args.cpus))
        except OSError as error:
            raise RaceError(f"{command[0]}: {error.strerror}") from error
        self.about = self._answer() | {"malloc": args.peer_malloc}

    def _answer(self):
        line = self.process.stdout.readline()
        try:
            answer = json.loads(line)
        except ValueError:
            self.process.kill()
            self.process.communicate()
            self.errors.seek(0)
            said = self.errors.read().strip()[-2000:]
            self.errors.close()
            raise RaceError(f"{self.name}: answered {line!r}\n{said}") from None
        if "error" in answer:
            raise RaceError(f"{self.name}: {answer['error']}")
        return answer

    def block(self):
        self.process.stdin.write(f"go {self.steps}\n")
        self.process.stdin.flush()
        answer = self._answer()
        us = answer["us"]
        return {"median": statistics.median(us), "p10": percentile(us, 0.1), "p90": percentile(us, 0.9), "cpu": answer["cpu"]}

    def close(self):
        try:
            self.process.communicate("quit\n", timeout=10)
        except (subprocess.TimeoutExpired, BrokenPipeError, ValueError):  # ValueError: it is closed already
            self.process.kill()
            self.process.wait()
        self.errors.close()


def run_rounds(contenders, rounds, say):
    """Returns, by contender, its blocks in the order of the rounds."""
    blocks = {contender.name: [] for contender in contenders}
    for number in range(rounds):
        turn = number % len(contenders)
        for contender in contenders[turn:] + contenders[:turn]:
            blocks[contender.name].append(contender.block())
        say(f"round {number + 1}: " + ", ".join(f"{n} {b[-1]['median'] / 1000:.3f} ms" for n, b in blocks.items()))
    return blocks


def summarise(blocks, base):
    """Times in microseconds: the median over blocks of each figure, and the range of the medians. `ratio` is how many
    times longer than `base` it takes: the median and the range over rounds of the quotient in that round."""
    rows = {}
    for name, own in blocks.items():
        medians = [block["median"] for block in own]
        row = {key: statistics.median(block[key] for block in own) for key in ("median", "p10", "p90")}
        row["range"] = [min(medians), max(medians)]
        if base in blocks:
            quotients = [mine["median"] / other["median"] for mine, other in zip(own, blocks[base])]
            row["ratio"] = statistics.median(quotients)
            row["ratio_range"] = [min(quotients), max(quotients)]
        rows[name] = row
    return rows


def disturbed(blocks):
    """A line to print where the machine was busy, else nothing. Such a race is not to be quoted: a step of many milliseconds
    contains the times that others ran, while the median of many short steps leaves them out."""
    shares = [block["cpu"] for own in blocks.values() for block in own if "cpu" in block]
    if not shares or min(shares) >= BUSY:
        return ""
    return (f"**Not to be quoted**: the machine was busy. A block had the processor for {min(shares):.0%} of its time, which makes "
            "long steps look longer and spares short ones.")


def milliseconds(us):
    return f"{us / 1000:.3f}" if us < 100_000 else f"{us / 1000:.1f}"


def table(rows):
    lines = ["| | median, ms | p10 – p90 | blocks' medians | times gnnc |", "|---|---|---|---|---|"]
    for name, row in rows.items():
        cells = [name, milliseconds(row["median"]), f"{milliseconds(row['p10'])} – {milliseconds(row['p90'])}",
                 " – ".join(milliseconds(value) for value in row["range"]), "–"]
        if "ratio" in row:
            low, high = row["ratio_range"]
            cells[-1] = f"{row['ratio']:.2f} ({low:.2f} – {high:.2f})"
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def first_match(path, key):
    try:
        for line in pathlib.Path(path).read_text().splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def revision():
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def machine():
    return {"cpu": first_match("/proc/cpuinfo", "model name"), "cpus": os.cpu_count(),
            "virtual": "hypervisor" in first_match("/proc/cpuinfo", "flags").split(),
            "memory": first_match("/proc/meminfo", "MemTotal"), "kernel": platform.release(),
            "load": [round(value, 2) for value in os.getloadavg()]}


def report(result):
    """The Markdown page of a race."""
    what = "training step" if result["what"] == "train" else "inference"
    host, lines = result["machine"], []
    lines += [f"# {result['model'].upper()} on {pathlib.Path(result['data']).name}: one {what}", "", table(result["rows"]), ""]
    lines += [result["disturbed"], ""] if result["disturbed"] else []
    settings = f"Dropout {result['dropout']}, " if result["what"] == "train" else ""
    lines += [f"{settings}{result['threads']} thread(s), {result['rounds']} rounds; blocks of {result['steps']} steps "
              f"(gnnc: {result['gnnc_steps']}). Times in one round are compared with each other.", ""]
    lines += [f"{result['date']}; {host['cpu']}, {host['cpus']} CPUs{', virtual' if host['virtual'] else ''}; "
              f"Linux {host['kernel']}; load before and after {host['load'][0]}, {host['load_after'][0]}; "
              f"gnnc at {result['revision']}."]
    lines += [f"- {name}: " + json.dumps(about, sort_keys=True) for name, about in result["contenders"].items()]
    return "\n".join(lines) + "\n"


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gnnc", help="the gnnc program; without it only the peers run")
    parser.add_argument("--peer-python", help="a Python with torch and torch_geometric")
    parser.add_argument("--peers", default="pyg", help="of " + ",".join(PEERS))
    parser.add_argument("--peer-malloc", choices=["keep", "default"], default="keep")
    parser.add_argument("--data", required=True, help="folder of the raw Planetoid files")
    parser.add_argument("--model", choices=DROPOUT, default="gcn")
    parser.add_argument("--what", choices=["train", "infer"], default="train")
    parser.add_argument("--dropout", type=float, default=None)
    parser.add_argument("--hidden", type=int, default=0, help="default: the model's own")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30, help="steps in a peer's block")
    parser.add_argument("--gnnc-steps", type=int, default=200, help="steps in a block of gnnc")
    parser.add_argument("--gnnc-arg", action="append", default=[], help="one more argument for gnnc; repeatable")
    parser.add_argument("--cpus", type=lambda text: {int(cpu) for cpu in text.split(",")}, default=None,
                        help="run everything on these processors, as in 1 or 0,1")
    parser.add_argument("--samples", type=pathlib.Path, default=ROOT / "samples")
    parser.add_argument("--peer-script", type=pathlib.Path, default=ROOT / "bench/peers/pyg_step.py")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results")
    args = parser.parse_args(argv)
    args.peers = [name for name in args.peers.split(",") if name] if args.peer_python else []
    unknown = set(args.peers) - set(PEERS)
    if unknown:
        parser.error(f"no such peer: {', '.join(sorted(unknown))}")
    if not args.gnnc and not args.peers:
        parser.error("nobody to race: give --gnnc, --peer-python or both")
    if args.dropout is None:
        args.dropout = DROPOUT[args.model]
    return args


def race(args, say=print):
    host, contenders = machine(), []
    try:
        contenders += [Gnnc(args)] if args.gnnc else []
        for name in args.peers:
            say(f"warming {name} up")
            contenders.append(Peer(name, args))
        blocks = run_rounds(contenders, args.rounds, say)
        about = {contender.name: contender.about for contender in contenders}
    finally:
        for contender in contenders:
            contender.close()
    host["load_after"] = [round(value, 2) for value in os.getloadavg()]
    names = ("model", "what", "data", "dropout", "threads", "rounds", "steps", "gnnc_steps")
    return {name: getattr(args, name) for name in names} | {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "machine": host,
        "revision": revision(), "contenders": about, "rows": summarise(blocks, "gnnc"), "disturbed": disturbed(blocks), "blocks": blocks}


def main(argv=None):
    args = parse(argv)
    try:
        result = race(args)
    except RaceError as error:
        print(f"race: {error}", file=sys.stderr)
        return 1
    args.out.mkdir(parents=True, exist_ok=True)
    stem = f"{args.model}-{args.what}-p{args.dropout}-t{args.threads}"
    (args.out / f"{stem}.json").write_text(json.dumps(result, indent=1) + "\n")
    (args.out / f"{stem}.md").write_text(report(result))
    print(table(result["rows"]))
    if result["disturbed"]:
        print(result["disturbed"])
    print(f"written: {args.out / stem}.json and .md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
