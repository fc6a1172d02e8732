#!/usr/bin/env python3
"""Installs into a new folder and builds the programs of samples/c against what is there: install.py <root> <build>.

Four ways: pkg-config and CMake, the shared library and the archive.  Each program must run and say what it should."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = """cmake_minimum_required(VERSION 3.22)
project(embeds LANGUAGES C)
find_package(gnnc 0.1 REQUIRED)
add_executable(serve serve.c)
target_link_libraries(serve PRIVATE gnnc::gnnc)
add_executable(serve_static serve.c)
target_link_libraries(serve_static PRIVATE gnnc::static)
"""


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def check(what, text, pattern):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"{what} said\n{text}\nwhere {pattern} is expected")
    print(f"{what}: {text.splitlines()[-1]}")
    return found


def check_share(root, share):
    """Documents and samples are there, and what documents link to; nothing else is."""
    for kept, folder in (("samples", os.path.join(share, "gnnc", "samples")), ("docs", os.path.join(share, "doc", "gnnc", "docs"))):
        for at, _, names in os.walk(os.path.join(root, kept)):
            to = os.path.join(folder, os.path.relpath(at, os.path.join(root, kept)))
            want = sorted(n for n in names if n.endswith((".md", ".gnn", ".graph", ".c")))
            have = sorted(n for n in os.listdir(to) if os.path.isfile(os.path.join(to, n))) if os.path.isdir(to) else []
            if want != have:
                sys.exit(f"{to} has {have}, where {want} are expected")
    doc = os.path.join(share, "doc", "gnnc")
    for at, _, names in os.walk(doc):
        for name in (n for n in names if n.endswith(".md")):
            with open(os.path.join(at, name), encoding="utf-8") as f:
                links = re.findall(r"\]\(([\w./-]+\.md)[)#]", f.read())
            lost = [l for l in links if not os.path.exists(os.path.join(at, l))]
            if lost:
                sys.exit(f"{at}/{name} links to {lost}")
    print(f"documents and samples: {len(os.listdir(os.path.join(doc, 'docs')))} and {len(os.listdir(os.path.join(share, 'gnnc', 'samples')))}")


def main():
    root, build = map(os.path.realpath, sys.argv[1:3])
    serves, trains = (r"50421 nodes: node 0 scores( +-?\d+\.\d+){3}", r"step 100  loss (\S+), after a restart \1\n"
                      r"one graph, 8 labels of 400: loss \d\S+, [1-3] levels of picked rows\n")
    compares = r"reduce-overhead +false +6 +5 [\s\S]*results are at most (\S+) apart"
    chosen = r"{} +[\d.]+ us, the default +[\d.]+ us: {}\n"
    tunes = (r"\n" + chosen.format("inference", "(.*)") + chosen.format("step", "(.*)") + r"the same from the lock:\n" +
             chosen.format("inference", r"\1") + chosen.format("step", r"\2"))
    with tempfile.TemporaryDirectory(prefix="gnnc-install-") as to:
        prefix, work = os.path.join(to, "usr"), os.path.join(to, "work")
        run(["cmake", "--install", build, "--prefix", prefix])
        check_share(root, os.path.join(prefix, "share"))
        model = os.path.join(prefix, "share", "gnnc", "samples", "gcn.gnn")
        shutil.copytree(os.path.join(prefix, "share", "gnnc", "samples", "c"), work)
        pc = run(["find", prefix, "-name", "gnnc.pc"]).strip()
        env = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(pc)}
        lib = run(["pkg-config", "--variable=libdir", "gnnc"], env=env).strip()
        for how in ("shared", "static"):
            flags = run(["pkg-config", "--cflags", "--libs", *(["--static"] if how == "static" else []), "gnnc"], env=env)
            flags = flags.split()
            if how == "static":
                flags = [os.path.join(lib, "libgnnc.a") if f == "-lgnnc" else f for f in flags]
            for name, pattern in (("serve", serves), ("train", trains), ("modes", compares), ("tune", tunes)):
                exe = os.path.join(work, f"{name}_{how}")
                run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", f"{name}.c", "-o", exe, *flags, "-lm"], cwd=work)
                path = {**os.environ, "LD_LIBRARY_PATH": lib if how == "shared" else ""}
                found = check(f"{name}, {how}, pkg-config", run([exe, model], cwd=work, env=path), pattern)
                if name == "modes" and not float(found[1]) <= 1e-5:
                    sys.exit(f"{name}, {how}: results are {found[1]} apart")
        out = run(["nm", "-D", "--defined-only", os.path.join(lib, "libgnnc.so")])
        names = [line.split()[-1] for line in out.splitlines()]
        other = [n for n in names if not re.fullmatch(r"(gnnc_\w+@@GNNC_\d+|GNNC_\d+)", n)]
        if other or not names:
            sys.exit(f"libgnnc.so shows names that are not its own: {other[:8]}")
        with open(os.path.join(work, "CMakeLists.txt"), "w", encoding="utf-8") as f:
            f.write(PROJECT)
        run(["cmake", "-S", work, "-B", os.path.join(work, "b"), f"-DCMAKE_PREFIX_PATH={prefix}"])
        run(["cmake", "--build", os.path.join(work, "b")])
        for name in ("serve", "serve_static"):
            check(f"{name}, CMake", run([os.path.join(work, "b", name), model]), serves)


if __name__ == "__main__":
    main()
