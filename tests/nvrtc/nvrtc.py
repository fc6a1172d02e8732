#!/usr/bin/env python3
"""Every kernel of every sample, for training and inference, in modes and for architectures: does NVRTC compile it to a cubin?

    nvrtc.py GNNC SAMPLES [--required] [--arch sm_80 ...]

No kernel may spill registers.  Needs no GPU.  Where there is no NVRTC: exit status 77 (skipped), or 1 with --required."""
import argparse
import glob
import os
import re
import subprocess
import sys

MODES = ("default", "eager")
ARCHS = ("sm_80", "sm_90")
# Wide features are other kernels than the narrow ones of the built-in graph.
DATA = (None, "synthetic:nodes=300,edges=1500,features=96,classes=10")
KERNEL = re.compile(r"^  (\S+) +(\d+) threads, +(\d+) an iteration, +(\d+) registers, +(\d+) bytes shared(.*)$", re.M)
MOST_SHARED = 48 * 1024


def run(gnnc, *args):
    env = dict(os.environ, GNNC_CACHE="0")
    return subprocess.run([gnnc, *args], capture_output=True, text=True, env=env)


def check(gnnc, model, mode, arch, data, totals):
    args = [model, "-q", "--device", "cuda", "--arch", arch, "-O", mode]
    if data:
        args += ["--data", data, "-D", "hidden=64"] if "own_layer" not in model else ["--data", data]
    p = run(gnnc, *args)
    what = f"{os.path.basename(model)} {mode} {arch}{' wide' if data else ''}"
    if p.returncode:
        return [f"{what}: {p.stderr.strip()[:2000]}"]
    kernels = KERNEL.findall(p.stdout)
    said = re.search(r"^(\d+) kernels, ", p.stdout, re.M)
    errors = []
    if not said or int(said.group(1)) != len(kernels) or not kernels:
        errors.append(f"{what}: {len(kernels)} kernels were listed:\n{p.stdout[-2000:]}")
    for name, threads, _, registers, shared, more in kernels:
        if "spill" in more:
            errors.append(f"{what}: {name} spills{more}")
        if int(registers) == 0 or int(registers) * int(threads) > 65536:
            errors.append(f"{what}: {name} uses {registers} registers with {threads} threads")
        if int(shared) > MOST_SHARED:
            errors.append(f"{what}: {name} uses {shared} bytes of shared memory")
    totals["kernels"] += len(kernels)
    totals["registers"] = max([totals["registers"]] + [int(k[3]) for k in kernels])
    totals["shared"] = max([totals["shared"]] + [int(k[4]) for k in kernels])
    return errors


def main():
    a = argparse.ArgumentParser()
    a.add_argument("gnnc")
    a.add_argument("samples")
    a.add_argument("--required", action="store_true")
    a.add_argument("--arch", action="append")
    o = a.parse_args()
    models = sorted(glob.glob(os.path.join(o.samples, "*.gnn")))
    there = run(o.gnnc, models[0], "-q", "--device", "cuda")
    if there.returncode == 4 and "no NVRTC" in there.stderr:
        print(f"SKIPPED: no NVRTC, so nothing was compiled\n{there.stderr}")
        return 1 if o.required else 77
    totals, errors = {"kernels": 0, "registers": 0, "shared": 0}, []
    for model in models:
        for mode in MODES:
            for arch in o.arch or ARCHS:
                for data in DATA:
                    errors += check(o.gnnc, model, mode, arch, data, totals)
    print("\n".join(errors) or "no spills")
    print(f"{totals['kernels']} kernels, at most {totals['registers']} registers and {totals['shared']} bytes shared")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
