#!/usr/bin/env python3
"""Installs the wheel into an empty environment, runs three lines there, and removes it again.

    wheel.py <wheel or folder>

Needs no network.  Nothing may be left of it but what the environment had before."""

import glob
import os
import subprocess
import sys
import tempfile

LINES = """
import gnnc
text = "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }"
print(gnnc.compile(text, features=2, classes=3).run().infer(graph=([0, 1], [1, 0]), x=[[1.0, 2.0],
                                                                               [3.0, 4.0]]).shape)
"""


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def files(folder):
    """All but compiled files, which running pip leaves of itself."""
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
                  if not name.endswith(".pyc"))


def main():
    wheel = sys.argv[1]
    if os.path.isdir(wheel):
        found = sorted(glob.glob(os.path.join(wheel, "gnnc-*linux*.whl")), key=os.path.getmtime)
        if not found:
            sys.exit(f"{wheel}: there is no wheel with a library; `make wheel` makes it")
        wheel = found[-1]
    env = {k: v for k, v in os.environ.items() if k not in ("GNNC_LIBRARY", "PYTHONPATH")}
    env.update(GNNC_CACHE="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_CONFIG_FILE="/dev/null")
    with tempfile.TemporaryDirectory(prefix="gnnc-wheel-") as to:
        run(sys.executable, "-m", "venv", to, env=env)
        python = os.path.join(to, "bin", "python")
        before = files(to)
        run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, env=env)
        said = run(python, "-c", LINES, cwd=to, env=env)
        if said.split() != ["(2,", "3)"]:
            sys.exit(f"three lines said {said!r}")
        where = run(python, "-c", "import gnnc._capi as c; print(c.find_library())", cwd=to,
                    env=env)
        if not where.startswith(to):
            sys.exit(f"the library is {where}, not the wheel's")
        run(python, "-m", "pip", "check", env=env)
        run(python, "-m", "pip", "uninstall", "-y", "gnnc", env=env)
        left = sorted(set(files(to)) ^ set(before))
        if left:
            sys.exit("left behind: " + ", ".join(left))
        folders = glob.glob(os.path.join(to, "lib", "python*", "site-packages", "gnnc*"))
        if folders:
            sys.exit("left behind: " + ", ".join(folders))
    print(f"{os.path.basename(wheel)}: installed, run and removed")


if __name__ == "__main__":
    main()
