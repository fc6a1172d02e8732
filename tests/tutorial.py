#!/usr/bin/env python3
"""Installs into a new folder and does what docs/tutorial.md and docs/examples.md say, each in an
empty one: tutorial.py <root> <build>.

Blocks of `sh` run in order; any other block is the file that the line above names.  A block of
`text` is what the commands above it print.  Words have to be the same there, and how many nodes,
edges, features and classes there are.  Other figures may differ, but accuracies and shares (`146 of
150`) by five points at most.  `...` is any lines, and at a line's end any words."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from install import run

PAGES = ("docs/tutorial.md", "docs/examples.md")
POINTS = 5
# A hash, or a figure and what it is a figure of, if that is a unit.
FIGURE = re.compile(
    r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b|"
    r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
    r"(?: ?(?:ns|us|ms|s|[kMG]?B)\b)?")
EXACT = re.compile(r" (?:nodes|edges|features|classes)\b")
ACCURACY = re.compile(r"\b(train|val|test) (\d+\.\d+)%")
SHARE = re.compile(r"\b(\d+) of (\d+)$")
# gnnc of the page: notes how each call ended, which a pipe would hide.
SHIM = '#!/bin/sh\n"{gnnc}" "$@"\nended=$?\necho "$ended gnnc $*" >> "{calls}"\nexit $ended\n'


def blocks(text):
    """(line, kind, file, lines) of each block; a block's line is that of its first fence."""
    found, lines, k = [], text.split("\n"), 0
    while k < len(lines):
        fence = re.fullmatch(r"```(\w*)", lines[k])
        if fence:
            end = lines.index("```", k + 1)
            name = re.fullmatch(r"`([\w.]+)`:", lines[k - 1])
            found.append((k + 1, fence[1], name and name[1], lines[k + 1:end]))
            k = end
        k += 1
    return found


def fail(at, what, *parts):
    shown = "".join(f"\n{name}:\n" + "\n".join("  " + x for x in of) for name, of in parts)
    sys.exit(f"{at}: {what}{shown}")


def pattern(expected):
    """What a line of the page stands for."""
    text = re.sub(r"\s+", " ", expected.strip())
    rest = text.endswith("...")
    text, out, at = text[:-3].rstrip() if rest else text, "", 0
    for m in FIGURE.finditer(text):
        out += re.escape(text[at:m.start()])
        out += re.escape(m[0]) if EXACT.match(text, m.end()) else f"(?:{FIGURE.pattern})"
        at = m.end()
    return re.compile(out + re.escape(text[at:]) + (".*" if rest else ""))


def near(expected, seen):
    """Are accuracies and shares about those of the page?"""
    def scores(text):
        share = SHARE.search(text)
        return [float(x) for _, x in ACCURACY.findall(text)] + (
            [100 * int(share[1]) / int(share[2])] if share else [])

    return all(abs(a - b) <= POINTS for a, b in zip(scores(expected), scores(seen)))


def compare(page, line, expected, printed):
    """Each line in its place; after `...` the next one may be anywhere below."""
    seen = printed.rstrip("\n").split("\n")
    at, skips = 0, False
    for number, text in enumerate(expected, line + 1):
        if text.strip() == "...":
            skips = True
            continue
        wanted = pattern(text)
        fits = [wanted.fullmatch(re.sub(r"\s+", " ", x.strip())) is not None for x in seen[at:]]
        k = fits.index(True) if skips and True in fits else 0
        if not fits or not fits[k]:
            fail(f"{page}:{number}",
                 "no such line is printed" + (" any more" if skips else " there"),
                 ("expected", [text]),
                 ("seen", seen[at:] if skips else seen[at:at + 1] or ["the end"]))
        if not near(text, seen[at + k]):
            fail(f"{page}:{number}", f"a score is off by more than {POINTS} points",
                 ("expected", [text]),
                 ("seen", [seen[at + k]]))
        at, skips = at + k + 1, False
    if at < len(seen) and not skips:
        fail(f"{page}:{line}", "more is printed than the block has", ("expected", ["the end"]),
             ("seen", seen[at:]))


def prepare(build, to):
    """Installs; the environment in which the page's commands find what is installed, and none of
    gnnc's settings."""
    prefix, shim = os.path.join(to, "usr"), os.path.join(to, "shim")
    run(["cmake", "--install", build, "--prefix", prefix])
    os.mkdir(shim)
    with open(os.path.join(shim, "gnnc"), "w", encoding="utf-8") as f:
        f.write(SHIM.format(gnnc=os.path.join(prefix, "bin", "gnnc"),
                            calls=os.path.join(to, "calls")))
    os.chmod(os.path.join(shim, "gnnc"), 0o755)
    pc = os.path.dirname(run(["find", prefix, "-name", "gnnc.pc"]).strip())
    env = {k: v for k, v in os.environ.items() if not k.startswith("GNNC_")}
    return {**env, "PATH": f"{shim}:{env['PATH']}", "PKG_CONFIG_PATH": pc,
            "LD_LIBRARY_PATH": os.path.dirname(pc), "XDG_CACHE_HOME": os.path.join(to, "cache"),
            "LC_ALL": "C.UTF-8"}


def execute(at, lines, to, env):
    """What a block of commands prints, and how many calls of gnnc are in it."""
    calls = os.path.join(to, "calls")
    open(calls, "w", encoding="utf-8").close()
    done = subprocess.run(["sh", "-e", "-c", "\n".join(lines)], cwd=os.path.join(to, "work"),
                          env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    with open(calls, encoding="utf-8") as f:
        ended = f.read().splitlines()
    bad = [x for x in ended if not x.startswith("0 ")]
    if done.returncode or bad:
        fail(at, f"the commands end with {done.returncode}",
             *([("ended with", bad)] if bad else []), ("seen", done.stdout.splitlines()))
    if len(ended) != sum(bool(re.match(r"gnnc\b", x)) for x in lines):
        fail(at, "as many calls of gnnc are expected as lines begin with it", ("seen", ended))
    return done.stdout, len(ended)


def follow(page, text, to, env):
    """Does what the page says; how many calls and comparisons there were."""
    work = os.path.join(to, "work")
    os.mkdir(work)
    printed, ran, compared = None, 0, 0
    for line, kind, name, lines in blocks(text):
        at = f"{page}:{line}"
        if kind == "sh":
            printed, calls = execute(at, lines, to, env)
            ran += calls
        elif kind == "text":
            if printed is None:
                fail(at, "no commands stand above this block")
            compare(page, line, lines, printed)
            printed, compared = None, compared + 1
        elif name:
            with open(os.path.join(work, name), "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
        else:
            fail(at, f"the line above this block of {kind or 'nothing'} names no file")
    if ran < 6 or compared < 6:
        sys.exit(f"{page}: only {ran} calls of gnnc and {compared} blocks of what is printed")
    print(f"{page}: {ran} calls of gnnc, {compared} blocks of what is printed")
    shutil.rmtree(work)


def main():
    root, build = map(os.path.realpath, sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="gnnc-tutorial-") as to:
        env = prepare(build, to)
        for page in PAGES:
            with open(os.path.join(root, page), encoding="utf-8") as f:
                follow(page, f.read(), to, env)


if __name__ == "__main__":
    main()
