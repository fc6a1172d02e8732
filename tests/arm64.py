#!/usr/bin/env python3
"""Builds gnnc for 64-bit Arm and runs it under qemu: arm64.py <build folder> [--sysroot FOLDER]
[--only test|lit|job] [-R REGEX] [--filter REGEX].

The folder gets a Debian of that architecture, unpacked (sysroot/, 900 MB), which nothing of this
machine is changed for; what it has already stays.  Tests are those that -R names, and those of lit
that --filter names; both have a choice of their own.  Needs root, mmdebstrap, gcc for aarch64 and
qemu-user-static."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MIRROR = "http://deb.debian.org/debian"
PACKAGES = ("libc6-dev,libstdc++-12-dev,llvm-19-dev,zlib1g-dev,libzstd-dev,libjansson-dev,"
            "libyaml-dev,libxlsxwriter-dev,check")
# What depends on the processor, and what computes; all of them take an hour.
TESTS = (r"test_(relocate|aot|aot_image|codegen_[a-z]+|functions|half|runtime_[a-z_]+|threads|"
         r"cache|code_cache|api|api_state|api_relations|kir_eval|gir_eval|data_[a-z_]+|"
         r"trace[a-z_]*)")
LIT = r"(run|emit)/"


def run(*command, **options):
    print("+", *command[:8], flush=True)
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def sysroot(folder):
    """A Debian of the architecture; its links do not leave it."""
    if os.path.exists(os.path.join(folder, "usr", "lib", "llvm-19", "bin", "llvm-config")):
        return
    shutil.rmtree(folder, ignore_errors=True)
    run("mmdebstrap", "--quiet", "--architectures=arm64", "--variant=extract",
        f"--include={PACKAGES}", "bookworm", folder, MIRROR)
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(at, name)
            to = os.readlink(path) if os.path.islink(path) else ""
            if to.startswith("/"):
                os.unlink(path)
                os.symlink(os.path.relpath(folder + to, at), path)


def check_job(gnnc, root, work):
    """Training and inference as x86-64 does them, and a model ahead of time in a C program."""
    model = os.path.join(ROOT, "samples", "gcn.gnn")
    weights = os.path.join(work, "w.safetensors")
    said = run(gnnc, "train", model, "--save", weights)
    found = re.search(r"loss (\d\.\d+), accuracy train (\S+) val (\S+) test (\S+)", said)
    if not found or not float(found[1]) < 1:
        sys.exit(f"training said\n{said}")
    want = json.loads(run(gnnc, "run", model, "--weights", weights, "--json"))
    here = os.path.join(ROOT, "build", "gnnc")
    if os.access(here, os.X_OK):
        other = json.loads(run(here, "run", model, "--weights", weights, "--json"))
        if want["runs"] != other["runs"]:
            sys.exit(f"results are {want['runs']}, and here {other['runs']}")
    os.symlink(shutil.which("aarch64-linux-gnu-ld"), os.path.join(work, "ld"))
    with_ld = {**os.environ, "PATH": f"{work}:{os.environ['PATH']}"}
    for end in ("o", "so"):
        built = os.path.join(work, f"gcn.{end}")
        run(gnnc, model, "--weights", weights, "-o", built, "--header",
            os.path.join(work, "gcn.h"), env=with_ld)
        exe = os.path.join(work, f"ahead-{end}")
        run("aarch64-linux-gnu-gcc", f"--sysroot={root}", "-std=c17", "-Wall", "-I", work,
            os.path.join(ROOT, "samples", "c", "ahead.c"), built, "-lm", "-o", exe,
            f"-Wl,-rpath,{work}")
        print(run("qemu-aarch64-static", "-L", root, exe).splitlines()[-1])
    print(f"trained and served: loss {found[1]}, accuracies {found[2]} {found[3]} {found[4]}")


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("build")
    args.add_argument("--sysroot", help="the Debian (in the build folder else)")
    args.add_argument("--only", choices=("test", "lit", "job"))
    args.add_argument("-R", dest="tests", default=TESTS)
    args.add_argument("--filter", default=LIT)
    given = args.parse_args()
    build = os.path.abspath(given.build)
    root = os.path.abspath(given.sysroot or os.path.join(build, "sysroot"))
    os.makedirs(build, exist_ok=True)
    sysroot(root)
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64.cmake", f"-DGNNC_SYSROOT={root}")
    listed = json.loads(run("ctest", "-R", f"^({given.tests})$", "--show-only=json-v1", cwd=build))
    names = [t["name"] for t in listed["tests"]]
    run("cmake", "--build", build, "--target", "gnnc", "fake_cuda",
        *(names if given.only in (None, "test") else ()))
    gnnc = os.path.join(build, "tests", "gnnc-emulated")
    if given.only in (None, "job"):
        with tempfile.TemporaryDirectory(prefix="gnnc-arm64-") as work:
            check_job(gnnc, root, work)
    if given.only in (None, "test"):
        said = run("ctest", "-R", f"^({given.tests})$", "-j", str(os.cpu_count()),
                   "--output-on-failure", cwd=build)
        print(re.search(r".*tests passed.*", said)[0])
    if given.only in (None, "lit"):
        lit = next(p for p in ("/usr/lib/llvm-19/build/utils/lit/lit.py", shutil.which("lit"))
                   if p and os.path.exists(p))
        said = run(sys.executable, lit, "-s", os.path.join(build, "tests", "lit"), "--filter",
                   given.filter)
        print(said.strip().splitlines()[-1].strip())


if __name__ == "__main__":
    main()
