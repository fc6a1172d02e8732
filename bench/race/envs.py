"""The peers' virtual environments: made once, outside the repository, from PyPI, with versions
pinned."""
import os
import pathlib
import subprocess
import sys
import tempfile

from contenders import RaceError, short

# DGL's last release on PyPI wants an old torch, so it has an environment of its own.
PINNED = {
    "pyg": ["torch==2.15.0", "torch_geometric==2.8.1", "numpy", "scipy"],
    "dgl": ["torch==2.2.1", "torchdata==0.7.1", "numpy<2", "scipy", "pyyaml", "pydantic", "pandas",
            "dgl==2.1.0"],
}
PROBE = {"pyg": "import torch, torch_geometric", "dgl": "import torch, dgl"}


def home(root):
    """Whether it is kept is up to the system: a cache, or a temporary folder."""
    if root:
        return pathlib.Path(root)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(cache) / "gnnc-bench" if cache
            else pathlib.Path(tempfile.gettempdir()) / "gnnc-bench")


def works(python, name):
    try:
        done = subprocess.run([python, "-c", PROBE[name]], capture_output=True, text=True,
                              timeout=300, env=os.environ | {"DGLBACKEND": "pytorch"})
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else short(done.stderr)


def python_of(name, given, root, install, say):
    """The Python of an environment, made if need be; RaceError says why there is none."""
    if given:
        why = works(given, name)
        if why:
            raise RaceError(f"{given}: {why}")
        return given
    folder = home(root) / name
    python = folder / "bin" / "python"
    if python.exists() and not works(str(python), name):
        return str(python)
    if not install:
        raise RaceError(
            f"there is no {python}: `make bench-peers` installs it, --{name}-python names another")
    say(f"installing {' '.join(PINNED[name])} into {folder}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    for command in ([sys.executable, "-m", "venv", "--clear", str(folder)],
                    [str(python), "-m", "pip", "install", "--quiet", *PINNED[name]]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RaceError(f"{command[0]}: {error}") from None
        if done.returncode:
            raise RaceError(f"{' '.join(command[1:4])}: {short(done.stderr)}")
    why = works(str(python), name)
    if why:
        raise RaceError(f"{python}: {why}")
    return str(python)
