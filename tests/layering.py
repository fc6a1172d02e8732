#!/usr/bin/env python3
"""Fails on an include that runs back up the rooms, and on two files of one name: layering.py
[<root> | --self-test].

Rooms are folders.  Each names the rooms that it may include; everything else is an arrow that runs
back up.  Passes and the IR also name no device: they ask a back end's limits."""
import os
import re
import sys
import tempfile

# room: (folder, rooms it may include besides itself); the longest folder that fits a file wins.
RUN = ("base", "kernel", "artifact", "loader", "runtime", "graph", "run")
ROOMS = {
    "base": ("src/base", ()),
    "ir": ("src/ir", ("base",)),
    "frontend": ("src/frontend", ("base", "ir")),
    "fuse": ("src/fuse", ("base", "ir")),
    "passes": ("src/passes", ("base", "ir", "fuse")),
    "lower": ("src/lower", ("base", "ir", "fuse")),
    "codegen": ("src/codegen", ("base", "ir", "artifact", "kernel", "loader")),
    "cpu": ("src/codegen/cpu", ("base", "ir", "artifact", "kernel", "loader", "codegen")),
    "cuda": ("src/codegen/cuda", ("base", "ir", "artifact", "kernel", "loader", "codegen")),
    "cache": ("src/cache", ("base",)),
    "kernel": ("runtime/kernel", ()),  # the calling convention of compiled code
    "loader": ("runtime/load", ("base", "kernel")),  # puts object code into memory
    "artifact": ("runtime/artifact", ("base", "kernel", "runtime", "graph")),
    "runtime": ("runtime", ("base", "kernel", "loader", "artifact", "graph", "run", "public")),
    "graph": ("runtime/graph", ("base", "runtime")),
    "run": ("runtime/run", ("base", "kernel", "loader", "artifact", "runtime", "graph")),
    "compile": ("src/compile",
                (*RUN, "ir", "passes", "fuse", "lower", "codegen", "cpu", "cuda", "cache")),
    "target": ("src/target", (*RUN, "ir", "frontend", "passes", "fuse", "lower", "codegen", "cuda",
                              "cache", "compile")),
    "build": ("src/build",
              (*RUN, "ir", "frontend", "passes", "lower", "codegen", "cache", "compile", "target")),
    "session": ("src/session", (*RUN, "ir", "frontend", "passes", "codegen", "cache", "compile",
                                "target", "build")),
    "tune": ("src/tune", (*RUN, "ir", "passes", "lower", "codegen", "cache", "compile", "target",
                          "build", "session")),
    "aot": ("src/aot",
            (*RUN, "ir", "frontend", "passes", "codegen", "cache", "compile", "target", "build")),
    "public": ("include/gnnc", ()),
    "api": ("src/api", (*RUN, "ir", "frontend", "passes", "cache", "compile", "target", "build",
                        "session", "tune", "public")),
    "cli": ("cli", (*RUN, "ir", "frontend", "passes", "fuse", "lower", "codegen", "cpu", "cuda",
                    "cache", "compile", "target", "build", "session", "tune", "aot", "public")),
}
# a command with rooms of its own: its files are named for what every report has
MAY_SHARE = ("cli/bench",)
NO_DEVICE = ("ir", "passes", "fuse", "lower")
# A compile mode has a device in its name; that is a name that users type, not a question about a
# device.
ALLOWED_WORDS = ("max-autotune-no-cudagraphs", "no_cudagraphs", "NO_CUDAGRAPHS")
DEVICE = re.compile(
    r"(?i)(?<![a-z])(cuda\w*|nvidia|nvptx|nvrtc|cublas|ptx|gpu|cpu|x86|avx\d*|"
    r"sse\d|neon|llvm\w*|sm_\d+)(?![a-z])")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.S)
SUFFIXES = (".c", ".h", ".def")


def room_of(path):
    """The room of a file, by its path from the root; runtime/artifact.h counts as
    runtime/artifact."""
    best = None
    for room, (folder, _) in ROOMS.items():
        inside = path.startswith(folder + "/") or os.path.splitext(path)[0] == folder
        if inside and (best is None or len(folder) > len(ROOMS[best][0])):
            best = room
    return best


def resolve(root, path, name, quoted):
    """The path from the root of an included file; None for a header of the system."""
    places = ([os.path.dirname(path)] if quoted else []) + ["src", "", "include"]
    for place in places:
        at = os.path.normpath(os.path.join(place, name))
        if os.path.isfile(os.path.join(root, at)):
            return at
    # not there, or generated
    for place in [os.path.dirname(path)] if name.startswith(".") else ["src", "", "include"]:
        at = os.path.normpath(os.path.join(place, name))
        if room_of(at) and (quoted or "/" in name):
            return at
    return None


def without_comments(text):
    return COMMENT.sub(lambda m: m.group(1) or "\n" * m.group(0).count("\n"), text)


def namesakes(files):
    """Files of different folders with one base name: a file is named for its object, and an object
    has one place."""
    places = {}
    for path in files:
        folder, name = os.path.split(path)
        if folder not in MAY_SHARE:
            places.setdefault(os.path.splitext(name)[0], set()).add(folder)
    return [f"{name}: a name of files in {', '.join(sorted(folders))}"
            for name, folders in sorted(places.items()) if len(folders) > 1]


def check(root):
    errors = []
    files = []
    for top in ("src", "runtime", "include", "cli"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            files += [os.path.relpath(os.path.join(folder, n), root)
                      for n in names if n.endswith(SUFFIXES)]
    for path in sorted(files):
        room = room_of(path)
        if room is None:
            errors.append(f"{path}: in no room; name it in ROOMS")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = without_comments(f.read())
        for m in INCLUDE.finditer(text):
            line = text.count("\n", 0, m.start()) + 1
            to = resolve(root, path, m.group(1) or m.group(2), m.group(1) is not None)
            other = to and room_of(to)
            if other and other != room and other not in ROOMS[room][1]:
                errors.append(f"{path}:{line}: {room} includes {to}, which is in {other}")
        if room in NO_DEVICE:
            for word in ALLOWED_WORDS:
                text = text.replace(word, "")
            for m in DEVICE.finditer(text):
                errors.append(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {room} names a "
                              f"device: {m.group(1)}")
    return errors + namesakes(files), len(files)


def self_test():
    """Plants violations, and things that look like one."""
    clean = {
        "src/base/a.h": "",
        "src/ir/ops.h": '#include "base/a.h"\n',
        "src/fuse/fuse.c": '#include "ir/ops.h"\n/* a CUDA graph, on a CPU */\nint output; // gpu\n'
        'const char *m = "max-autotune-no-cudagraphs";\n',
        "src/codegen/backend.h": '#include "ir/ops.h"\n#include "runtime/artifact.h"\n',
        "src/codegen/cpu/emit.c": '#include "codegen/backend.h"\n#include <llvm-c/Core.h>\n',
        "runtime/artifact.h": '#include "base/a.h"\n',
        "runtime/data/npz.c": '#include "runtime/artifact.h"\n#include "../../src/base/a.h"\n'
        '#include <stdlib.h>\n',
        "src/cache/store.h": '#include "base/a.h"\n',
        "src/session/session.c": '#include "codegen/backend.h"\n#include "cache/store.h"\n',
        "cli/main.c": '#include "session/session.h"\n',
        "include/gnnc/gnnc.h": "#include <stddef.h>\n",
    }
    planted = [
        ("src/passes/bad.c", '#include "codegen/backend.h"\n', "passes includes"),
        ("src/passes/bad.c", '#include "runtime/data/npz.h"\n', "passes includes"),
        ("src/passes/bad.c", '#include "session/session.h"\n', "passes includes"),
        ("src/passes/bad.c", "int f(int is_cuda);\n", "names a device"),
        ("src/passes/bad.c", 'int f(void) { return is("gpu"); }\n', "names a device"),
        ("src/ir/bad.h", '#include "../frontend/ast.h"\n', "ir includes"),
        ("src/ir/bad.h", '#  include "fuse/fuse.h"\n', "ir includes"),
        ("src/base/bad.c", '#include "ir/ops.h"\n', "base includes"),
        ("src/frontend/bad.c", '/* fine */ int x;\n#include "fuse/fuse.h"\n', "frontend includes"),
        ("src/codegen/bad.c", '#include "runtime/data/npz.h"\n', "codegen includes"),
        ("src/codegen/bad.c", '#include "session/session.h"\n', "codegen includes"),
        ("src/cache/bad.c", '#include "codegen/backend.h"\n', "cache includes"),
        ("src/cache/bad.c", '#include "runtime/load/loader.h"\n', "cache includes"),
        ("src/codegen/bad.c", '#include "cache/store.h"\n', "codegen includes"),
        ("runtime/data/bad.c", '#include "ir/ops.h"\n', "runtime includes"),
        ("runtime/bad.c", "#include <ir/ops.h>\n", "runtime includes"),
        ("runtime/device/cuda/bad.c", '#include "codegen/backend.h"\n', "runtime includes"),
        ("src/lower/bad.c", '#include "passes/passes.h"\n', "lower includes"),
        ("src/passes/bad.c", '#include "lower/lower.h"\n', "passes includes"),
        ("src/build/bad.c", '#include "session/session.h"\n', "build includes"),
        ("src/session/bad.c", '#include "tune/tune.h"\n', "session includes"),
        ("src/session/bad.c", '#include "cli/args.h"\n', "session includes"),
        ("include/gnnc/bad.h", '#include "base/a.h"\n', "public includes"),
        ("src/attic/bad.c", "\n", "in no room"),
        ("src/lower/fuse.h", "\n", "fuse: a name of files in src/fuse, src/lower"),
    ]
    with tempfile.TemporaryDirectory() as root:
        def put(path, text):
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)

        for path, text in clean.items():
            put(path, text)
        errors, _ = check(root)
        if errors:
            return ["clean tree: " + e for e in errors]
        missed = []
        for path, text, want in planted:
            put(path, text)
            errors, _ = check(root)
            if (len(errors) != 1 or want not in errors[0]
                or not (errors[0].startswith(path) or want == errors[0])):
                missed.append(f"{path}: {text!r} gave {errors}, not '{want}'")
            os.remove(os.path.join(root, path))
        return missed


def main():
    if sys.argv[1:] == ["--self-test"]:
        errors = self_test()
        print("\n".join(errors) or "every planted violation was found")
    else:
        errors, n = check(sys.argv[1] if len(sys.argv) > 1 else ".")
        print("\n".join(errors) or f"{n} files: no arrow runs back up")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
