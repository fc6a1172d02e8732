#!/usr/bin/env python3
"""Many processes at once on an empty cache, some of them killed: stress.py GNNC [--rounds N]
[--processes N] [--seed S].

In each round processes that want overlapping kernels are started together on an empty folder, and
some are killed with SIGKILL at random moments. Afterwards every entry must verify, no kernel may
have been compiled more often than once plus the number of kills, every process that was not killed
must have succeeded and printed what it prints without a cache, and a process more must find all it
wants."""
import argparse
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES = os.path.join(SOURCE, "samples")
# They share kernels: a run's are among those of training, and some of a wider one's are the
# narrower one's.
WORK = [["run", "gcn.gnn"], ["run", "gcn.gnn", "-D", "hidden=24"], ["run", "sage.gnn"],
        ["train", "gcn.gnn", "--epochs", "2"]]
TIMES = re.compile(r"(inference|step) .*\n")


def command(gnnc, work, folder):
    return [gnnc, work[0], os.path.join(SAMPLES, work[1]), *work[2:], "-q", "--threads", "1", "-d",
            "cache", "--cache-dir", folder]


def untimed(text):
    return TIMES.sub("", text)


class Worker:
    def __init__(self, gnnc, number, folder):
        self.work = WORK[number % len(WORK)]
        self.process = subprocess.Popen(command(gnnc, self.work, folder), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.collect)
        self.thread.start()
        self.killed = False

    def collect(self):
        self.out, self.err = self.process.communicate()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.killed = True

    def end(self):
        self.thread.join(300)
        if self.thread.is_alive():
            self.process.kill()
            self.thread.join()
            return f"{self.work}: no end within five minutes"
        if self.process.returncode == -signal.SIGKILL and self.killed:
            return None
        self.killed = False  # it was done before
        if self.process.returncode:
            return f"{self.work}: exit status {self.process.returncode}: {self.err[-400:]}"
        return None


def round_(args, folder, right, chance):
    """What went wrong, how many were killed, how many kernels were compiled."""
    started = time.monotonic()
    workers = [Worker(args.gnnc, k, folder) for k in range(args.processes)]
    victims = chance.sample(workers, chance.randrange(args.processes // 2 + 1))
    for at, victim in sorted(((0.7 * args.span * chance.random(), w) for w in victims),
                             key=lambda x: x[0]):
        time.sleep(max(0.0, started + at - time.monotonic()))
        victim.kill()
    errors = [e for e in (w.end() for w in workers) if e]
    # about as long as a round takes
    args.span = 0.5 * args.span + 0.5 * (time.monotonic() - started)
    kills = sum(w.killed for w in workers)
    compiled = collections.Counter(key for w in workers for key in re.findall(
        r"^cache: (?:not )?stored ([0-9a-f]+)", w.err, re.M))
    for key, times in compiled.items():
        if times > 1 + kills:
            errors.append(f"{key} was compiled {times} times with {kills} killed")
    for w in workers:
        if not w.killed and not w.process.returncode and untimed(w.out) != right[tuple(w.work)]:
            errors.append(f"{w.work} printed {w.out!r}, not {right[tuple(w.work)]!r}")
        if "warning" in w.err:
            errors.append(f"{w.work}: {w.err[-400:]}")
    verify = subprocess.run([args.gnnc, "cache", "verify", "--cache-dir", folder],
                            capture_output=True, text=True)
    if verify.returncode:
        errors.append(f"verify: {verify.stderr}")
    if kills < args.processes:
        for work in {tuple(w.work) for w in workers if not w.killed}:
            again = subprocess.run(command(args.gnnc, list(work), folder), capture_output=True,
                                   text=True)
            if (again.returncode or "miss" in again.stderr or "hit" not in again.stderr
                or untimed(again.stdout) != right[work]):
                errors.append(f"{work} afterwards: {again.stdout[-200:]} {again.stderr[-400:]}")
    return errors, kills, sum(compiled.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("gnnc")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(1 << 32)
    chance = random.Random(seed)
    os.environ["GNNC_CACHE"] = "0"  # but for --cache-dir
    top = tempfile.mkdtemp(prefix="gnnc-stress-")
    failed, killed, compiled = 0, 0, 0
    try:
        right = {}
        for work in WORK:
            done = subprocess.run(command(args.gnnc, work, os.path.join(top, "right"))[:-2],
                                  capture_output=True, text=True, check=True)
            right[tuple(work)] = untimed(done.stdout)
        args.span = 1.0
        for k in range(args.rounds):
            folder = os.path.join(top, str(k))
            errors, kills, n = round_(args, folder, right, chance)
            shutil.rmtree(folder, ignore_errors=True)
            killed += kills
            compiled += n
            for e in errors:
                print(f"round {k}: {e}", file=sys.stderr)
            failed += bool(errors)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(f"seed {seed}: {args.rounds} rounds of {args.processes} processes, {killed} killed, "
          f"{compiled} kernels compiled, {failed} rounds failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
