#!/usr/bin/env python3
"""Every kernel of every sample, for training and inference, in modes and for architectures: does
NVRTC compile it to a cubin?

    nvrtc.py GNNC SAMPLES [--required] [--arch sm_80 ...] [--record]

No kernel may spill registers.  Registers and shared memory are golden within bounds: golden.txt
beside this file has the most that a kernel of each kind uses, and the NVRTC that it was recorded
with; with another one bounds are wider.  --record writes it anew.  Architectures, precisions, data
of eager mode, and checks of modes and caches, take turns but with --required, --record, --arch or
GNNC_LONG=1.  Needs no GPU.
Where there is no NVRTC: exit status 77 (skipped), or 1 with --required."""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0,
                os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data"))
import typed  # noqa: E402

# and what operands of products are rounded to
PRECISIONS = {"highest": None, "high": "tf32", "medium": "bf16"}
# the last: programs in one kernel, where they are small
MODES = ("default", "eager", "reduce-overhead")
SEARCHES = {"default": "max-autotune-no-cudagraphs", "reduce-overhead": "max-autotune"}
ARCHS = ("sm_80", "sm_90")
# Wide features are other kernels than the narrow ones of the built-in graph, with the tiles that
# large graphs have; and rows of many edges are split, and what their parts come to is added in
# groups.
DATA = {
    "": None,
    "wide": "synthetic:nodes=300,edges=1500,features=96,classes=10",
    "hubs": "synthetic:nodes=20000,edges=600000,features=24,classes=10,exponent=1.5",
}
TENSOR_CORES = ((MODES[0], "sm_80", "wide"), (MODES[0], "sm_90", ""))  # in every precision
KERNEL = re.compile(r"^  (\S+) +(\d+) threads, +(\d+) an iteration, +(\d+) registers, +(\d+) bytes "
                    r"shared(.*)$", re.M)
# of a program in one kernel
PHASE = re.compile(r"^    (\S+) +\d+ an iteration, +\d+ at a time", re.M)
MOST_SHARED = 48 * 1024
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.txt")
HEAD = """# The most registers/bytes of shared memory of each kind of kernel. Recorded with
#     python3 tests/nvrtc/nvrtc.py build/gnnc samples --record
"""


def run(gnnc, *args):
    env = dict(os.environ, GNNC_CACHE="0")
    return subprocess.run([gnnc, *args], capture_output=True, text=True, env=env)


def version_of(gnnc):
    said = re.search(r"NVRTC (\d+\.\d+)", run(gnnc, "--version").stdout)
    return said.group(1) if said else "?"


def figures(kernels):
    """kind -> (most registers, most shared memory)"""
    most = {}
    for name, _, _, registers, shared, _ in kernels:
        kind = re.sub(r"^[a-z]+_|_\d+$", "", name)
        was = most.get(kind, (0, 0))
        most[kind] = (max(was[0], int(registers)), max(was[1], int(shared)))
    return most


def check(gnnc, model, mode, arch, data, precision, found, quick=False):
    args = [model, "-q", "--device", "cuda", "--arch", arch, "-O", mode, "--matmul-precision",
            precision]
    if DATA[data]:
        args += ["--data", DATA[data],
                 *(["-D", "hidden=64"] if data == "wide" and "own_layer" not in model else [])]
    args += [] if quick else ["--without",
                              "quick-code,small-tiles" if data == "wide" else "quick-code"]
    p = run(gnnc, *args)
    what = " ".join(filter(None, (
        os.path.basename(model)[: -len(".gnn")], mode, arch, data,
        precision if PRECISIONS[precision] else "", "quickly" if quick else "")))
    if p.returncode:
        return [f"{what}: {p.stderr.strip()[:2000]}"]
    kernels = KERNEL.findall(p.stdout)
    said = re.search(r"^(\d+) kernels, ", p.stdout, re.M)
    errors = []
    phases, wholes = PHASE.findall(p.stdout), p.stdout.count("  in one kernel: ")
    if not said or int(said.group(1)) != len(kernels) - wholes + len(phases) or not kernels:
        errors.append(f"{what}: {len(kernels)} kernels and {len(phases)} phases were listed:\n"
                      f"{p.stdout[-2000:]}")
    if (wholes > 0) != (mode == "reduce-overhead"):
        errors.append(f"{what}: {wholes} programs are one kernel")
    for name, threads, _, registers, shared, more in kernels:
        if "spill" in more:
            errors.append(f"{what}: {name} spills{more}")
        if int(registers) == 0 or int(registers) * int(threads) > 65536:
            errors.append(f"{what}: {name} uses {registers} registers with {threads} threads")
        if int(shared) > MOST_SHARED:
            errors.append(f"{what}: {name} uses {shared} bytes of shared memory")
    if ("  compiled quickly: " in p.stdout) != quick:
        errors.append(f"{what}: compiled {'with all optimisations' if quick else 'quickly'}")
    kind = PRECISIONS[precision]
    if kind and not any(f", {kind}" in more for *_, more in kernels):
        errors.append(f"{what}: no product of fragments:\n{p.stdout[-2000:]}")
    found[what] = figures(kernels)
    return errors


def check_modes(gnnc, model):
    """Modes that search have, where nothing is timed, the kernels of those that do not, all of
    which are compiled."""
    def text(mode):
        return run(gnnc, model, "-q", "--device", "cuda", "-O", mode, "--emit=cuda").stdout

    return [f"{os.path.basename(model)}: {searches} has other kernels than {mode}"
            for mode, searches in SEARCHES.items() if not text(mode)
            or text(mode) != text(searches)]


def loads_of_data(ptx):
    """Loads of PTX but for those from tables of CUDA's functions, which are constant."""
    tables = set()
    for line in ptx.splitlines():
        if re.match(r"\s*\.(visible|func|entry)", line):
            tables = set()
        names = re.findall(r"%\w+", line)
        if "__cudart_" in line or (names and not re.search(r"\b(ld|st)\.", line)
                                   and tables & set(names[1:])):
            tables.update(names[:1])
        elif "ld.global" in line and not tables & set(names):
            yield line


def check_cache(gnnc, model):
    """What one phase of a program in one kernel writes another must not read through the cache that
    no writes reach.  Code that is made quickly, which is what runs on small graphs, has no address
    spaces to read it by."""
    name, wrong = os.path.basename(model), []
    for how in ([], ["--without", "quick-code"]):
        p = run(gnnc, model, "-q", "--device", "cuda", "--arch", ARCHS[-1], "-O", "reduce-overhead",
                "--emit=ptx", *how)
        wholes = p.stdout.partition(", in one kernel: ")[2]
        if p.returncode or not re.search(r"ld\.global" if how else r"\bld\.", wholes):
            wrong.append(f"{name}: no PTX of one kernel: {p.stderr.strip()[:2000]}")
        bad = [line for line in loads_of_data(wholes) if "ld.global.nc" in line]
        if bad:
            wrong.append(f"{name}: {len(bad)} loads by the read-only cache, as {bad[0].strip()}")
    return wrong


def write_golden(version, found):
    with open(GOLDEN, "w") as f:
        f.write(f"{HEAD}NVRTC {version}\n")
        for what, kinds in found.items():
            f.write(f"{what}: {' '.join(f'{k} {r}/{s}' for k, (r, s) in sorted(kinds.items()))}\n")


def read_golden():
    version, golden = "?", {}
    for line in open(GOLDEN):
        if line.startswith("NVRTC "):
            version = line.split()[1]
        elif not line.startswith("#"):
            what, kinds = line.split(":")
            words = kinds.split()
            golden[what] = {k: tuple(map(int, v.split("/")))
                            for k, v in zip(words[::2], words[1::2])}
    return version, golden


def compare(version, found):
    """Figures that are not what was recorded: another eighth of the registers is within bounds, and
    eight in any case, since they are given out by eights; of another NVRTC a half and sixteen, and
    fewer of them as well."""
    recorded, golden = read_golden()
    same, errors = version == recorded, []
    for what, kinds in found.items():
        if what not in golden or sorted(golden[what]) != sorted(kinds):
            errors.append(f"{what}: kernels {sorted(kinds)}, not {sorted(golden.get(what, []))}")
            continue
        for kind, (registers, shared) in kinds.items():
            r, s = golden[what][kind]
            low, high = ((r - max(8, r // 8), r + max(8, r // 8)) if same
                         else (0, r + max(16, r // 2)))
            if not low <= registers <= high:
                errors.append(f"{what}: a {kind} kernel uses {registers} registers, not {r} ({low} "
                              f"to {high})")
            if shared != s if same else shared > s + 1024:
                errors.append(
                    f"{what}: a {kind} kernel uses {shared} bytes of shared memory, not {s}")
    if errors:
        errors.append(
            f"recorded with NVRTC {recorded}, this is {version}; as it should be? then --record")
    return errors


def name_of(model):
    return os.path.basename(model)[: -len(".gnn")]


def check_typed(gnnc, samples):
    """Samples of more than one graph; some as one kernel, too."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name in typed.OF_SAMPLE:
            model = os.path.join(samples, name + ".gnn")
            for mode in MODES[::2] if name in ("distmult", "gin_graphs") else MODES[:1]:
                p = run(gnnc, model, "-q", "--device", "cuda", "--arch", ARCHS[-1], "-O", mode,
                        *typed.options(name, folder))
                if p.returncode:
                    wrong.append(f"{name} {mode}: {p.stderr.strip()[:2000]}")
    return wrong


def main():
    a = argparse.ArgumentParser()
    a.add_argument("gnnc")
    a.add_argument("samples")
    a.add_argument("--required", action="store_true")
    a.add_argument("--record", action="store_true")
    a.add_argument("--arch", action="append")
    o = a.parse_args()
    models = [m for m in sorted(glob.glob(os.path.join(o.samples, "*.gnn")))
              if name_of(m) not in typed.OF_SAMPLE]
    there = run(o.gnnc, models[0], "-q", "--device", "cuda")
    if there.returncode == 4 and "no NVRTC" in there.stderr:
        print(f"SKIPPED: no NVRTC, so nothing was compiled\n{there.stderr}")
        return 1 if o.required else 77
    found, quick, errors = {}, {}, check_typed(o.gnnc, o.samples)
    every = o.required or o.record or o.arch or os.environ.get("GNNC_LONG", "0") != "0"
    for at, model in enumerate(models):
        errors += check_modes(o.gnnc, model) if every or at % 2 else []
        errors += check_cache(o.gnnc, model) if every or at % 2 == 0 else []
        errors += check(o.gnnc, model, MODES[0], (o.arch or ARCHS)[-1], "", "highest", quick,
                        quick=True)
        for mode in MODES:
            for arch in o.arch or ARCHS:
                for data in DATA:
                    if data == "hubs" and (mode, arch) != (MODES[0], ARCHS[-1]):
                        continue
                    if data and mode == MODES[-1]:
                        continue
                    turn = (at + MODES.index(mode) + list(DATA).index(data)) % len(ARCHS)
                    newest = (mode, arch, data) == (MODES[0], ARCHS[-1], "")
                    if not every and not newest and arch != ARCHS[turn]:
                        continue
                    if not every and mode == "eager" and at % 2 != (data == "wide"):
                        continue
                    for precision in (PRECISIONS if (mode, arch, data) in TENSOR_CORES
                                      else ("highest",)):
                        if not every and precision == ("high", "medium")[at % 2]:
                            continue
                        errors += check(o.gnnc, model, mode, arch, data, precision, found)
    version = version_of(o.gnnc)
    if version >= "13":
        errors += [f"{what}: the same code as without" for what, kinds in quick.items()
                   if kinds == found[what.replace(" quickly", "")]]
    if o.record and not errors:
        write_golden(version, found)
    errors += compare(version, found)
    print("\n".join(errors) or "no spills; registers and shared memory as recorded")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
