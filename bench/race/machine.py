"""The machine: what it is, how busy, what it can do at most, how far its cores are apart; and the C
programs of bench/c."""
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess

from table import ROOT

FLAGS = ["-O3", "-march=native", "-ffp-contract=fast", "-std=gnu17", "-D_GNU_SOURCE"]


def first_match(path, key):
    try:
        for line in pathlib.Path(path).read_text().splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def load():
    return [round(value, 2) for value in os.getloadavg()]


def memory_bytes():
    words = first_match("/proc/meminfo", "MemTotal").split()
    return int(words[0]) * 1024 if words[0].isdigit() else 8 << 30


def governor():
    try:
        return pathlib.Path(
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").read_text().strip()
    except OSError:
        return "unknown"


def revision():
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                              capture_output=True, text=True)
    except OSError: # a machine without git
        return "unknown"
    return done.stdout.strip() or "unknown"


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def describe():
    return {"cpu": first_match("/proc/cpuinfo", "model name"),
            "family": first_match("/proc/cpuinfo", "cpu family"),
            "model": first_match("/proc/cpuinfo", "model\t"), "cpus": os.cpu_count(),
            "virtual": "hypervisor" in first_match("/proc/cpuinfo", "flags").split(),
            "caches": caches(), "governor": governor(),
            "memory": first_match("/proc/meminfo", "MemTotal"), "kernel": platform.release(),
            "load": load(), "date": now(), "revision": revision()}


def caches():
    """Sizes of the caches of the first processor, by level."""
    out = {}
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            kind = (index / "type").read_text().strip()
            if kind != "Instruction":
                level = (index / "level").read_text().strip()
                out["L" + level] = (index / "size").read_text().strip()
        except OSError:
            pass
    return out


# clang 19 is what LIMITS were found with
COMPILERS = [*(f"clang-{n}" for n in range(19, 13, -1)), "clang", "gcc", "cc"]


class Programs:
    """Compiles bench/c/NAME.c once; `get` gives the executable, or None and `why`."""

    def __init__(self, folder, compiler=None):
        self.folder = pathlib.Path(folder)
        self.compiler = compiler or next((name for name in COMPILERS if shutil.which(name)), None)
        self.known, self.why = {}, {}

    def version(self):
        """What the compiler calls itself; None: there is none."""
        if not self.compiler:
            return None
        try:
            done = subprocess.run([self.compiler, "--version"], capture_output=True, text=True,
                                  timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return self.compiler
        lines = done.stdout.strip().splitlines() if done.returncode == 0 else []
        return f"{self.compiler} ({lines[0]})" if lines else self.compiler

    def get(self, name):
        if name in self.known:
            return self.known[name]
        self.known[name] = None
        source = ROOT / "bench" / "c" / f"{name}.c"
        if not source.exists():
            self.why[name] = f"there is no bench/c/{name}.c"
        elif not self.compiler:
            self.why[name] = (
                f"no C compiler: none of {', '.join(COMPILERS)} is in $PATH, and --cc names none")
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            out = self.folder / name
            done = subprocess.run([self.compiler, *FLAGS, str(source), "-o", str(out), "-lpthread",
                                   "-lm"], capture_output=True, text=True)
            if done.returncode:
                self.why[name] = f"{self.compiler}: {done.stderr.strip()[-300:]}"
            else:
                self.known[name] = str(out)
        return self.known[name]


def run_json(program, *arguments, timeout=120):
    """What the program prints, or None."""
    if not program:
        return None
    try:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                              timeout=timeout)
        return json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def ceilings(programs, seconds=0.2, threads=2):
    return run_json(programs.get("ceilings"), seconds, min(threads, os.cpu_count() or 1))


def round_trip(programs):
    """Nanoseconds from one core to the other and back: median and tenth; None on one core."""
    return run_json(programs.get("roundtrip")) if (os.cpu_count() or 1) > 1 else None
