#!/usr/bin/env python3
"""Plants the faults of faults.txt one at a time and asks that a test catches each.

    mutate.py [--build DIR] [--jobs N] [--only TEXT] [--list] [--check]

Works on a copy of the sources in DIR (a new temporary folder, or one of an earlier run), built without the CPU back end:
what is tested is everything above it.  For each fault: edit, build, run the tests until one fails, put the text back.
A fault that does not compile is an error of the table, as is one whose text does not stand exactly where it says.
Exit status 1 when a fault survives. --check compares the table with the sources and builds nothing."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPIED = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "VERSION", "cmake", "src", "runtime", "include", "cli",
          "stdlib", "samples", "tests")
# Quick ones and those that know most first. (executable, environment)
TESTS = (
    ("test_gir_grad", {}),
    ("test_gir_simplify", {}),
    ("test_found", {}),
    ("test_conform", {}),
    ("test_random_forward", {"GNNC_RANDOM": "2000"}),
    ("test_random_gradient", {"GNNC_RANDOM": "1000"}),
    ("test_conform_code", {}),
)
LIMIT_S = 600  # a test that takes longer hangs, which is a way to fail


class Fault:
    def __init__(self, path, which, name, line):
        self.path, self.which, self.name, self.line = path, which, name, line
        self.old, self.new = [], []

    def __str__(self):
        return f"{self.path}: {self.name}"

    def plant(self, text):
        """The text with the fault; ValueError where it does not fit."""
        pattern = r"\s+".join(re.escape(word) for part in self.old for word in part.split())
        places = list(re.finditer(pattern, text))
        if len(places) < self.which or (self.which == 1 and len(places) != 1 and not self.numbered):
            raise ValueError(f"faults.txt:{self.line}: {self}: the text stands {len(places)} times")
        m = places[self.which - 1]
        return text[:m.start()] + "\n".join(self.new) + text[m.end():]


def read_table(path):
    faults = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if not line.strip() or line.startswith("#"):
                continue
            head = re.fullmatch(r"@ ([^:#]+)(?:#(\d+))?: (.+)", line)
            if head:
                faults.append(Fault(head[1], int(head[2] or 1), head[3], number))
                faults[-1].numbered = head[2] is not None
            elif line.startswith("- ") and faults and not faults[-1].new:
                faults[-1].old.append(line[2:].strip())
            elif line.startswith("+ ") and faults and faults[-1].old:
                faults[-1].new.append(line[2:])
            else:
                raise SystemExit(f"faults.txt:{number}: what is this? {line}")
    return faults


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    """With a time that differs from the last one, whatever the clock's grain."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def copy_sources(to):
    for name in COPIED:
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        if os.path.isdir(source):
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif os.path.exists(source):
            shutil.copy2(source, target)


class Builder:
    def __init__(self, folder, jobs):
        self.source, self.build, self.jobs = os.path.join(folder, "source"), os.path.join(folder, "build"), jobs
        os.makedirs(self.source, exist_ok=True)
        copy_sources(self.source)
        options = ["-DGNNC_LLVM=OFF", "-DCMAKE_C_FLAGS=-Wno-unused -w", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
        self.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", *options], check=True)

    @staticmethod
    def run(command, check=False, **options):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=check, **options)

    def make(self):
        return self.run(["ninja", "-C", self.build, f"-j{self.jobs}", *(name for name, _ in TESTS)])

    def failing_test(self):
        """The first test that fails, and what it says; None."""
        for name, more in TESTS:
            env = {**os.environ, "CK_FORK": "no", "GNNC_SOURCE_DIR": self.source, "GNNC_RANDOM_TRIES": "0",
                   "GNNC_RANDOM_FIRST": "1", "CK_VERBOSITY": "normal", **more}
            try:
                done = self.run([os.path.join(self.build, "tests", name)], cwd=self.source, env=env, timeout=LIMIT_S,
                                errors="replace")
            except subprocess.TimeoutExpired:
                return name, "hangs"
            if done.returncode:
                lines = [x for x in done.stdout.splitlines() if re.search(r":[FE]:|seed \d+:", x)]
                return name, (lines or [f"status {done.returncode}"])[0].strip()
        return None


def try_fault(builder, fault):
    """What kills it: (test, words), or None."""
    path = os.path.join(builder.source, fault.path)
    text = read(path)
    write(path, fault.plant(text))
    try:
        built = builder.make()
        if built.returncode:
            errors = [x for x in built.stdout.splitlines() if "error" in x]
            raise ValueError(f"{fault}: does not compile: {errors[0] if errors else built.stdout[-400:]}")
        return builder.failing_test()
    finally:
        write(path, text)


def check_table(faults):
    errors = 0
    for fault in faults:
        try:
            fault.plant(read(os.path.join(ROOT, fault.path)))
        except (OSError, ValueError) as e:
            errors += 1
            print(e)
    print(f"{len(faults)} faults, {errors} without a place")
    return errors


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", help="folder for the copy and its build")
    p.add_argument("--jobs", default=str(os.cpu_count() or 1))
    p.add_argument("--only", default="", help="faults whose file and name hold this text")
    p.add_argument("--list", action="store_true", help="name the faults")
    p.add_argument("--check", action="store_true", help="look for their places, build nothing")
    args = p.parse_args()
    faults = [f for f in read_table(os.path.join(HERE, "faults.txt")) if args.only in str(f)]
    if args.list:
        print("\n".join(map(str, faults)))
        return 0
    misplaced = check_table(faults)
    if misplaced or args.check:
        return int(misplaced > 0)
    folder = args.build or tempfile.mkdtemp(prefix="gnnc-mutate-")
    builder = Builder(folder, args.jobs)
    built = builder.make()
    if built.returncode:
        print(built.stdout[-4000:])
        return 1
    whole = builder.failing_test()
    if whole:
        print(f"without a fault {whole[0]} fails: {whole[1]}")
        return 1
    survived, broken, by = [], [], {}
    for k, fault in enumerate(faults, 1):
        try:
            killer = try_fault(builder, fault)
        except ValueError as e:
            broken.append(fault)
            print(f"[{k}/{len(faults)}] {e}", flush=True)
            continue
        if killer:
            by[killer[0]] = by.get(killer[0], 0) + 1
        else:
            survived.append(fault)
        print(f"[{k}/{len(faults)}] {fault}: {killer[0] + ': ' + killer[1][:120] if killer else 'SURVIVES'}", flush=True)
    builder.make()
    print(f"{len(faults)} faults: {len(faults) - len(survived) - len(broken)} caught, {len(survived)} survive, "
          f"{len(broken)} do not compile")
    print("caught by " + ", ".join(f"{name} {n}" for name, n in sorted(by.items(), key=lambda x: -x[1])))
    if not args.build:
        shutil.rmtree(folder, ignore_errors=True)
    return int(bool(survived or broken))


if __name__ == "__main__":
    sys.exit(main())
