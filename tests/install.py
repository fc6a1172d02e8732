#!/usr/bin/env python3
"""Installs into a new folder and builds the programs of samples/c against what is there: install.py
<root> <build>.

Four ways: pkg-config and CMake, the shared library and the archive.  Each program must run and say
what it should.  With the archive, which takes long to link, some do; with GNNC_LONG=1 all."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Those that are linked with the archive at least.
WITH_ARCHIVE = ("serve", "train", "typed")
EVERY = os.environ.get("GNNC_LONG", "0") != "0"

PROJECT = """cmake_minimum_required(VERSION 3.22)
project(embeds LANGUAGES C)
find_package(gnnc 0.1 REQUIRED)
add_executable(serve serve.c)
target_link_libraries(serve PRIVATE gnnc::gnnc)
add_executable(serve_static serve.c)
target_link_libraries(serve_static PRIVATE gnnc::static)
"""

# A program with names that gnnc, LLVM, jansson and zlib have inside, too.
CLASH = """#include <gnnc/gnnc.h>
#include <stdio.h>
#include <string.h>
int NONE = 42;
int check_same(int x) { return x + 1; }
void *LLVMContextCreate(void) { return NULL; }
void *json_object(void) { return NULL; }
int inflate(void) { return -1; }
int main(void)
{
    const char *text = "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }";
    gnnc_compile_options o = {.size = sizeof o, .features = 3, .classes = 2};
    gnnc_module *m;
    gnnc_executable *e;
    gnnc_status *s = gnnc_module_parse(NULL, text, strlen(text), NULL, &m);
    if (!s) s = gnnc_compile(m, &o, &e);
    puts(s ? gnnc_status_message(s) : "compiled");
    return s != NULL || LLVMContextCreate() || json_object() || inflate() != -1;
}
"""


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
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
    for kept, folder in (("samples", os.path.join(share, "gnnc", "samples")),
                         ("docs", os.path.join(share, "doc", "gnnc", "docs"))):
        for at, _, names in os.walk(os.path.join(root, kept)):
            to = os.path.join(folder, os.path.relpath(at, os.path.join(root, kept)))
            want = sorted(n for n in names if n.endswith((".md", ".gnn", ".graph", ".c")))
            have = sorted(n for n in os.listdir(to)
                          if os.path.isfile(os.path.join(to, n))) if os.path.isdir(to) else []
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
    print(f"documents and samples: {len(os.listdir(os.path.join(doc, 'docs')))} and "
          f"{len(os.listdir(os.path.join(share, 'gnnc', 'samples')))}")


def check_program(root, prefix, work):
    """The program finds its samples; pages and completion are where shells and man look."""
    with open(os.path.join(root, "cli", "options.h"), encoding="utf-8") as f:
        commands = re.findall(r" X\((\w+)\)", f.read().split("GN_COMMANDS(X)")[1].split("enum")[0])
    found = run(["find", prefix, "-name", "gnnc*.1"]).split()
    names = sorted(os.path.basename(x) for x in found)
    if names != sorted(["gnnc.1", *(f"gnnc-{c}.1" for c in commands)]) or len(commands) < 8:
        sys.exit(f"manual pages are {names}, of {commands}")
    for name in ("bash-completion/completions/gnnc", "zsh/site-functions/_gnnc",
                 "fish/vendor_completions.d/gnnc.fish"):
        if not os.path.getsize(os.path.join(prefix, "share", name)):
            sys.exit(f"{name} is empty")
    check("a sample by its name",
          run([os.path.join(prefix, "bin", "gnnc"), "train", "gcn", "--epochs", "2"], cwd=work),
          r"gcn: none here, so it is .*share/gnnc/samples/gcn.gnn\n[\s\S]*seed 0: 2 epochs")


def check_archive(root, lib, work, flags):
    """The archive shows the header's names and no other, and links into programs that have
    others."""
    archive = os.path.join(lib, "libgnnc.a")
    names = {line.split()[0] for line in run(["nm", "-P", "-g", "--defined-only",
                                              archive]).splitlines() if len(line.split()) > 1}
    declared = set()
    for header in ("gnnc.h", "run.h"):
        with open(os.path.join(root, "include", "gnnc", header), encoding="utf-8") as f:
            declared |= set(re.findall(r"^GNNC_API [^(]*?(gnnc_\w+)\(", f.read(), re.M))
    if names != declared or not names:
        sys.exit(f"libgnnc.a shows {sorted(names - declared)[:8]} and lacks "
                 f"{sorted(declared - names)[:8]}")
    with open(os.path.join(work, "clash.c"), "w", encoding="utf-8") as f:
        f.write(CLASH)
    run(["cc", "-Wno-builtin-declaration-mismatch", "clash.c", "-o", "clash", *flags], cwd=work)
    check("names of a program's own", run([os.path.join(work, "clash")], cwd=work), r"^compiled$")


def check_paths(lib, build):
    """What is installed names no folder of the machine that it was built on."""
    for name in ("pkgconfig/gnnc.pc", "cmake/gnnc/gnncConfig.cmake"):
        with open(os.path.join(lib, name), encoding="utf-8") as f:
            text = f.read()
        found = re.findall(r"(?:^|[\s;\"=]|-L|-I)(/[\w.+-]+(?:/[\w.+-]+)*)", text)
        if found or build in text:
            sys.exit(f"{name} names {found or build}")


def main():
    root, build = map(os.path.realpath, sys.argv[1:3])
    serves, trains = (r"50421 nodes: node 0 scores( +-?\d+\.\d+){3}",
                      r"step 100  loss (\S+), after a restart \1\n"
                      r"one graph, 8 labels of 400: loss \d\S+, [1-3] levels of picked rows\n")
    compares = r"reduce-overhead +false +6 +5 [\s\S]*results are at most (\S+) apart"
    tells = r"of 200 papers it has not seen (1[5-9]\d|200) are told right\n"
    serves_some = r"200 nodes served in [\d.]+ ms, (9\d|1\d\d|200) of them right\n"
    learns = r"200 steps: loss 0\.\d+, at first 0\.\d+; (2[5-9]\d|3\d\d|400) of 400 right\n"
    chosen = r"{} +[\d.]+ us, the default +[\d.]+ us: {}\n"
    tunes = (r"\n" + chosen.format("inference", "(.*)") + chosen.format("step", "(.*)") +
             r"the same from the lock:\n" + chosen.format("inference", r"\1") +
             chosen.format("step", r"\2"))
    with tempfile.TemporaryDirectory(prefix="gnnc-install-") as to:
        prefix, work = os.path.join(to, "usr"), os.path.join(to, "work")
        run(["cmake", "--install", build, "--prefix", prefix])
        check_share(root, os.path.join(prefix, "share"))
        model = os.path.join(prefix, "share", "gnnc", "samples", "gcn.gnn")
        typed = os.path.join(os.path.dirname(model), "hgt.gnn")
        shutil.copytree(os.path.join(prefix, "share", "gnnc", "samples", "c"), work)
        check_program(root, prefix, work)
        pc = run(["find", prefix, "-name", "gnnc.pc"]).strip()
        env = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(pc)}
        lib = run(["pkg-config", "--variable=libdir", "gnnc"], env=env).strip()
        check_paths(lib, build)
        for how in ("shared", "static"):
            flags = run(["pkg-config", "--cflags", "--libs",
                         *(["--static"] if how == "static" else []), "gnnc"], env=env)
            flags = flags.split()
            if how == "static":
                flags = [os.path.join(lib, "libgnnc.a") if f == "-lgnnc" else f for f in flags]
                check_archive(root, lib, work, flags)
            for name, pattern in (("serve", serves), ("train", trains), ("modes", compares),
                                  ("tune", tunes), ("typed", tells),
                                  ("batches", serves_some), ("gradients", learns)):
                if how == "static" and name not in WITH_ARCHIVE and not EVERY:
                    continue
                exe = os.path.join(work, f"{name}_{how}")
                run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", f"{name}.c", "-o", exe,
                     *flags, "-lm"], cwd=work)
                path = {**os.environ, "LD_LIBRARY_PATH": lib if how == "shared" else ""}
                found = check(f"{name}, {how}, pkg-config",
                              run([exe, typed if name == "typed" else model], cwd=work, env=path),
                              pattern)
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
