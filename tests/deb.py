#!/usr/bin/env python3
"""Installs Debian packages into a clean root, works with them there and purges them: deb.py <folder
of packages>.

The root comes from Debian's archive by mmdebstrap and is removed in the end; nothing of this
machine changes.  Needs root, mmdebstrap and lintian, and takes minutes."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

MIRROR = "http://deb.debian.org/debian"
# Of lintian: nothing that is an error or a warning, but that no bug of Debian's is closed.
LINTIAN = ("lintian", "--fail-on", "error,warning", "--suppress-tags",
           "initial-upload-closes-no-bugs")
SERVE = """
gnnc train gcn --epochs 20 --save w.safetensors
gnnc run gcn --weights w.safetensors
gnnc gcn -o gcn.o --header gcn.h
man -w gnnc gnnc-train > /dev/null
test -s /usr/share/bash-completion/completions/gnnc
"""
EMBED = """
cc -Wall -Werror /usr/share/gnnc/samples/c/serve.c -o serve $(pkg-config --cflags --libs gnnc) -lm
./serve /usr/share/gnnc/samples/gcn.gnn
cc -Wall -Werror /usr/share/gnnc/samples/c/serve.c -o serve_static \
    $(pkg-config --cflags --libs --static gnnc | sed 's/-lgnnc/-l:libgnnc.a/') -lm
./serve_static /usr/share/gnnc/samples/gcn.gnn
printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(p LANGUAGES C)' \
    'find_package(gnnc 0.1 REQUIRED)' 'add_executable(s /usr/share/gnnc/samples/c/serve.c)' \
    'target_link_libraries(s PRIVATE gnnc::gnnc)' > CMakeLists.txt
cmake -S . -B b > /dev/null && cmake --build b > /dev/null
b/s /usr/share/gnnc/samples/gcn.gnn
"""
PYTHON = """
import gnnc
from importlib.metadata import entry_points, version
text = "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }"
exe = gnnc.compile(text, features=2, classes=3)
print(version("gnnc"), exe.run().infer(graph=([0, 1], [1, 0]), x=[[1.0, 2.0], [3.0, 4.0]]).shape)
assert any(e.name == "gnnc" for e in entry_points()["torch_dynamo_backends"])
"""
PACKAGES = ("gnnc", "libgnnc0", "libgnnc-dev", "python3-gnnc")
# What apt and dpkg themselves keep, and what they make anew for all.
THEIRS = ("/var/cache/", "/var/lib/", "/var/log/", "/tmp/", "/proc/", "/sys/", "/dev/", "/run/",
          "/etc/ld.so.cache", "/root/")


def run(*command, **options):
    print("+", command[0], command[-1].strip().split("\n")[-1][:80], flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def inside(root, script):
    """Runs a shell's script in the root, in a folder of its own; prints its last line."""
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
           "DEBIAN_FRONTEND": "noninteractive"}
    # in a namespace of its own, which takes the mount along as it ends
    enter = 'mount --bind /proc "$0/proc"; exec chroot "$0" sh -ec "$1"'
    said = run("unshare", "--mount", "sh", "-ec", enter, root, f"cd /root\n{script}", env=env)
    print(said.rstrip().splitlines()[-1] if said.strip() else "")
    return said


def files(root):
    found = set()
    for at, folders, names in os.walk(root):
        for name in folders + names:
            path = "/" + os.path.relpath(os.path.join(at, name), root)
            if not path.startswith(THEIRS) and "__pycache__" not in path:
                found.add(path)
    return found


def check(root, debs):
    shutil.copy("/etc/resolv.conf", os.path.join(root, "etc", "resolv.conf"))
    os.makedirs(os.path.join(root, "debs"))
    for deb in debs:
        shutil.copy(deb, os.path.join(root, "debs"))
    get = "apt-get -q -y -o Acquire::Retries=3"
    inside(root, "apt-get -q update")
    before = files(root)
    inside(root, f"{get} --no-install-recommends install man-db gcc libc6-dev cmake make "
                 "pkg-config")
    tools = files(root)
    inside(root, f"{get} --no-install-recommends install /debs/*.deb")
    for script in (SERVE, EMBED, f"python3 -c '{PYTHON}'"):
        inside(root, script)
    inside(root, f"{get} --purge autoremove {' '.join(PACKAGES)}")
    left = files(root) - tools
    if left:
        sys.exit("left behind: " + ", ".join(sorted(left)[:20]))
    lost = before - files(root)
    if lost:
        sys.exit("gone: " + ", ".join(sorted(lost)[:20]))
    known = inside(root, "dpkg-query -W -f '${Package} ' '*gnnc*' 2> /dev/null || true")
    if known.strip():
        sys.exit(f"dpkg knows {known}")


def main():
    debs = sorted(d for d in glob.glob(os.path.join(sys.argv[1], "*.deb")) if "-dbgsym" not in d)
    if sorted(os.path.basename(d).split("_")[0] for d in debs) != sorted(PACKAGES):
        sys.exit(f"{sys.argv[1]} has {debs}, where one of each of {PACKAGES} is expected")
    changes = glob.glob(os.path.join(sys.argv[1], "*.changes"))
    said = run(*LINTIAN, *changes)
    print(said.rstrip() or "lintian: nothing")
    with tempfile.TemporaryDirectory(prefix="gnnc-deb-") as to:
        root = os.path.join(to, "root")
        run("mmdebstrap", "--quiet", "--variant=apt", "bookworm", root, MIRROR)
        check(root, debs)
    print("installed, worked and purged")


if __name__ == "__main__":
    main()
