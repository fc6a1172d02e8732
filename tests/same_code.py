#!/usr/bin/env python3
"""One model makes one program, whatever compiled gnnc: C leaves open in which order the arguments of a call are computed, and
two arguments that both make a value number them by that order.

    same_code.py GNNC GNNC

Compares what two builds of gnnc, by different compilers, print of the samples, of one with each schedule, and of the programs
of the tests: tensor IR, loop IR, LLVM IR and machine code, CUDA, and what passes leave of programs in text.  Exit status: 0 all
the same, 1 something differs.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEDULES = ("step(period = 3)", "exponential", "cosine", "linear(gamma = 0.1)")
CPU = ("--emit=gir,kir,llvm,asm",)
CUDA = ("--emit=gir,kir,cuda", "--device", "cuda", "--arch", "sm_90")


def commands(folder):
    """What both builds are asked, as lists of arguments."""
    for k, schedule in enumerate(SCHEDULES):
        model = folder / f"schedule{k}.gnn"
        gcn = (ROOT / "samples" / "gcn.gnn").read_text(encoding="utf-8")
        model.write_text(gcn.replace("epochs =", f"schedule = {schedule}\n  epochs ="), encoding="utf-8")
        yield [str(model), "-q", *CPU]
    for model in sorted((ROOT / "samples").glob("*.gnn")):
        for mode in ("eager", "default", "max-autotune"):
            for stages in (CPU, CUDA):
                yield [str(model), "-q", "-O", mode, *stages]
    for program in sorted((ROOT / "tests").rglob("*.gir")):
        for options in ([], ["--passes", "lower"], ["-O", "max-autotune", "-D", "sparse=x", "-D", "levels=2"]):
            yield ["opt", str(program), *options]


def printed(gnnc, arguments):
    environment = dict(os.environ, GNNC_CACHE="0", NO_COLOR="1")
    result = subprocess.run([gnnc, *arguments], capture_output=True, env=environment, timeout=300, check=False)
    return result.returncode, result.stdout, result.stderr


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    one, other = sys.argv[1:]

    def compare(arguments):
        return arguments, printed(one, arguments), printed(other, arguments)

    made = differ = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for arguments, a, b in pool.map(compare, commands(pathlib.Path(folder))):
            made += a[0] == 0
            if a != b:
                differ += 1
                print("differs:", " ".join(arguments))
    print(f"{made} programs printed, {differ} differ")
    return 1 if differ or not made else 0


if __name__ == "__main__":
    sys.exit(main())
