#!/usr/bin/env python3
"""Installs the wheel into an empty environment, runs README's lines there, and removes it again.

    wheel.py <wheel or folder> [--matrix] [--torch VERSION...]

Needs no network.  Nothing may be left of it but what the environment had before.  --matrix: with
every Python from 3.9 on that is there, pyenv's too, each with and without NumPy 1 and 2 of PyPI.
--torch: with torch of these versions and PyTorch Geometric, for which torch.compile's backend is
tried; each is some gigabytes, and gone in the end."""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = """
import random
random.seed(1)
src = [random.randrange(60) for _ in range(300)]
dst = [(s + 3 * random.randrange(20)) % 60 for s in src]  # of its own class
x = [[float(k % 3 == j) + random.random() for j in range(3)] for k in range(60)]
y, mask = [k % 3 for k in range(60)], [k % 2 == 0 for k in range(60)]
if numpy:
    x, y, mask = (numpy.asarray(v, t) for v, t in ((x, "f4"), (y, "i8"), (mask, "?")))
data = {"edge_index": (src, dst), "x": x, "y": y, "train_mask": mask, "val_mask": mask}
"""
CHECK = """
assert (len(scores), len(scores[0])) == (60, 3) and run.accuracy("val_mask") > 0.9, run.accuracy()
print("three lines")
"""
TORCH = """
import torch, torch_geometric
from torch_geometric.nn import GCNConv
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = GCNConv(8, 16), GCNConv(16, 4)
    def forward(self, x, edge_index):
        return self.b(torch.relu(self.a(x, edge_index)), edge_index)
model = Net()
x, edge_index = torch.randn(50, 8), torch.randint(50, (2, 200))
fast = torch.compile(model, backend="gnnc")
want, got = model(x, edge_index), fast(x, edge_index)
assert torch.allclose(want, got, atol=1e-5), (want - got).abs().max()
(want ** 2).sum().backward()
wanted = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
(fast(x, edge_index) ** 2).sum().backward()
assert all(torch.allclose(w, p.grad, rtol=1e-4, atol=1e-3)
           for w, p in zip(wanted, model.parameters()))
import gnnc
print("torch", torch.__version__, gnnc.torch.explain(model, x, edge_index).__class__.__name__)
"""


def readme_lines():
    """The three lines of README.md, with what they need before them."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        lines = re.search(r"### From Python\n\n```python\n(.*?)```", f.read(), re.S)[1]
    return lines


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


def lines(kind):
    """What is run, and what it has to say."""
    numpy = "numpy = None\n" if kind == "nothing" else "import numpy\n"
    return numpy + DATA + readme_lines() + CHECK, "three lines"


def pythons():
    """Every Python that the package is for: {version: path}."""
    found = {}
    for path in sorted(glob.glob("/usr/bin/python3.*") + glob.glob("/usr/local/bin/python3.*") +
                       glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))):
        said = subprocess.run([path, "-c", "import sys, venv, ensurepip; print('%d.%d' % "
                               "sys.version_info[:2])"], capture_output=True, text=True)
        if said.returncode == 0 and tuple(map(int, said.stdout.split("."))) >= (3, 9):
            found.setdefault(said.stdout.strip(), path)
    return sorted(found.items(), key=lambda item: tuple(map(int, item[0].split("."))))


def packages(python, kind, env, folder):
    """Installs what the kind names; False: this Python has none of it."""
    wanted = {"nothing": [], "NumPy 1": ["numpy<2"], "NumPy 2": ["numpy>=2"]}.get(kind)
    if wanted is None:
        wanted = [kind, "torch_geometric", "numpy"]
    if not wanted:
        return True
    done = subprocess.run([python, "-m", "pip", "install", "-q", "--only-binary", ":all:",
                           *wanted], env=env, cwd=folder, capture_output=True, text=True)
    if done.returncode and "No matching distribution" not in done.stderr:
        sys.exit(done.stderr)
    return done.returncode == 0


def check(base, wheel, kind, env):
    """One Python with one set of packages, from the empty environment to the empty environment."""
    with tempfile.TemporaryDirectory(prefix="gnnc-wheel-") as to:
        run(base, "-m", "venv", to, env=env)
        python = os.path.join(to, "bin", "python")
        if not packages(python, kind, env, to):
            return "left out: no such package for it"
        before = files(to)
        run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, env=env)
        work = tempfile.mkdtemp(dir=to)
        shutil.copy(os.path.join(ROOT, "samples", "gcn.gnn"), work)
        script, want = lines(kind)
        scripts = [(script, want)] + ([(TORCH, "torch ")] if kind.startswith("torch") else [])
        for script, want in scripts:
            said = run(python, "-c", script, cwd=work, env=env)
            if want not in said:
                sys.exit(f"{want!r} is expected of\n{said}")
        where = run(python, "-c", "import gnnc._capi as c; print(c.find_library())", cwd=work,
                    env=env)
        if not where.startswith(to):
            sys.exit(f"the library is {where}, not the wheel's")
        run(python, "-m", "pip", "check", env=env)
        run(python, "-m", "pip", "uninstall", "-y", "gnnc", env=env)
        shutil.rmtree(work)
        left = sorted(set(files(to)) ^ set(before))
        left += glob.glob(os.path.join(to, "lib", "python*", "site-packages", "gnnc*"))
        if left:
            sys.exit("left behind: " + ", ".join(left))
    return "installed, run and removed"


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("wheel", help="a wheel, or the folder that it is in")
    args.add_argument("--matrix", action="store_true", help="every Python, NumPy 1 and 2")
    args.add_argument("--torch", nargs="*", default=[], metavar="VERSION")
    given = args.parse_args()
    wheel = given.wheel
    if os.path.isdir(wheel):
        found = sorted(glob.glob(os.path.join(wheel, "gnnc-*linux*.whl")), key=os.path.getmtime)
        if not found:
            sys.exit(f"{wheel}: there is no wheel with a library; `make wheel` makes it")
        wheel = found[-1]
    env = {k: v for k, v in os.environ.items() if k not in ("GNNC_LIBRARY", "PYTHONPATH")}
    env.update(GNNC_CACHE="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    here = "%d.%d" % sys.version_info[:2]
    tried = [(here, sys.executable, "nothing")]
    if given.matrix:
        tried = [(version, path, kind) for version, path in pythons()
                 for kind in ("nothing", "NumPy 1", "NumPy 2")]
    tried += [(here, sys.executable, f"torch=={version}") for version in given.torch]
    for version, path, kind in tried:
        said = check(path, os.path.abspath(wheel), kind, env)
        print(f"{os.path.basename(wheel)}: Python {version}, {kind}: {said}", flush=True)


if __name__ == "__main__":
    main()
