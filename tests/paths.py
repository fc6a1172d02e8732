#!/usr/bin/env python3
"""Fails on a committed file, or an executable, that says where it was built: paths.py <root>
<build> [<executable>]."""
import os
import re
import subprocess
import sys

HOMES = re.compile(rb"(?<![\w.$}/-])/(?:home|Users)/[A-Za-z0-9_.-]+/|(?<![\w.$}/-])/root/\w")


def main():
    root, build = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    # A path of one component ("/src") would be found in innocent text.
    places = [p.encode() for p in {root, build, os.path.abspath(sys.argv[1])} if p.count("/") > 1]
    here = re.compile(b"|".join(rb"(?<![\w.-])" + re.escape(p) + rb"(?![\w.-])"
                                for p in places)) if places else None
    errors = []
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True)
    for name in listed.stdout.split(b"\0") if listed.returncode == 0 else []:
        try:
            with open(os.path.join(root.encode(), name), "rb") as f:
                data = f.read()
        except (IsADirectoryError, FileNotFoundError):
            continue
        for pattern in filter(None, (here, HOMES)):
            m = pattern.search(data)
            if m:
                line = data.count(b"\n", 0, m.start()) + 1
                errors.append(f"{name.decode()}:{line}: absolute path {m.group(0).decode()}")
    for exe in filter(None, sys.argv[3:]):
        with open(exe, "rb") as f:
            data = f.read()
        for p in places:
            if p in data:
                at = data.index(p)
                errors.append(f"{exe}: holds the path "
                              f"{data[at:at + 120].split(bytes(1))[0].decode(errors='replace')}")
    print("\n".join(errors) or "no absolute build path")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
