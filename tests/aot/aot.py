#!/usr/bin/env python3
"""Models compiled ahead of time, in C programs: aot.py GNNC FOLDER.

What they compute is compared bit by bit with what gnnc computes on the same data, on another graph
than they were compiled for; and the files are looked at for what they show and need."""
import ctypes
import json
import os
import random
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lit", "Inputs"))
import files  # noqa: E402
import runs  # noqa: E402

CC = os.environ.get("CC") or "cc"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-function"]
STEPS, SEED = 6, 7
GCN = """model Net(hidden = 7) (g: graph, x: node[F]) -> node[C] {
  a = GCNConv(hidden)
  b = GCNConv(C)
  return b(g, relu(a(g, dropout(x, 0.5))))
}
train Net {
  loss = cross_entropy(Net(g, x), y) over train_mask
  optimizer = adam(lr = 0.01)
  weight_decay = 5e-4 on "a"
}
"""
WORDS = GCN.replace(" over train_mask", "")  # files of sparse features hold no masks
GAT = """model Looks(heads = 2) (g: graph, x: node[F]) -> node[C] {
  a = GATConv(3, heads = heads)
  n = BatchNorm()
  b = GATConv(C)
  param turn: [6, 6] = orthogonal(gain = 1.2) transposed
  param shift, cut: [6] = [0.1, -0.2, 0.3, 0, 0.5, 1e-3]
  param gap: [6, 6] = sparse(0.5, std = 0.1)
  param near: [6] = trunc_normal(std = 0.1)
  return b(g, elu(n(a(g, x)) @ (turn + gap) + shift - cut + near))
}
train Looks {
  loss = cross_entropy(Looks(g, x), y) over train_mask
  optimizer = sgd(lr = 0.1)
  monitor = val_loss
  patience = 100
}
"""


PROBLEMS = []  # of runs of gnnc, which what fails may come from


OWN = """model Own() (g: graph, x: node[F]%s) -> node[3] {
  a = GCNConv(3)
  return a(g, x)%s
}
"""


def fail(text):
    sys.exit("\n".join(["aot.py: " + text, *PROBLEMS]))


def sh(command, expect=0, **options):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300, **options)
    if done.returncode != expect:
        fail(f"{' '.join(map(str, command))}\nexit status {done.returncode}, expected {expect}\n"
             f"{done.stdout}")
    return done.stdout


# Data ---------------------------------------------------------------------------------------------


class Data:
    """A random graph: as arrays for C, and as a file for gnnc."""

    def __init__(self, r, name, nodes, seed, sparse, weighted, values=(1.0,)):
        draw = random.Random(seed)
        self.folder, self.npz = r.path(name), r.path(name + ".npz")
        os.makedirs(self.folder)
        pairs = sorted({tuple(draw.sample(range(nodes), 2)) for _ in range(2 * nodes)})
        both = {(a, b) for a, b in pairs} | {(b, a) for a, b in pairs}
        edges = sorted(both if sparse else pairs, key=lambda e: (e[1], e[0]))
        if weighted:
            draw.shuffle(edges)  # data on edges has the order that edges come in
        features, classes = 11, 4
        x = [draw.choice([0.0] * 9 * len(values) + list(values)) if sparse else draw.gauss(0, 1)
             for _ in range(nodes * features)]
        x = list(struct.unpack(f"<{len(x)}f", struct.pack(f"<{len(x)}f", *x)))
        y = [draw.randrange(classes) for _ in range(nodes)]
        y[:classes] = range(classes)
        mask = [draw.random() for _ in range(nodes)]
        masks = {"train_mask": [m < 0.6 for m in mask], "val_mask": [0.6 <= m < 0.8 for m in mask],
                 "test_mask": [m >= 0.8 for m in mask]}
        weight = [float(draw.randrange(1, 9)) / 4 for _ in edges]
        self.write("sizes", "q", [nodes, len(edges)])
        self.write("src", "q", [e[0] for e in edges])
        self.write("dst", "q", [e[1] for e in edges])
        self.write("x", "f", x)
        self.write("y", "i", y)
        self.write("train_mask", "B", [2 * m for m in masks["train_mask"]])  # all but 0 is true
        self.write("weight", "f", weight)
        arrays = {"labels": ("q", (nodes,), y), **{k: ("?", (nodes,), m) for k, m in masks.items()}}
        if sparse:
            rows = [[c for c in range(features) if x[v * features + c]] for v in range(nodes)]
            arrays.update(self.csr("attr", rows, features))
            arrays["attr_data"] = ("f", (sum(map(len, rows)),), [v for v in x if v])
            arrays.update(self.csr(
                "adj", [[b for a, b in sorted(both) if a == v] for v in range(nodes)], nodes))
        else:
            arrays.update({"x": ("f", (nodes, features), x), "y": arrays.pop("labels"),
                           "edge_index": ("q", (2, len(edges)),
                                          [e[0] for e in edges] + [e[1] for e in edges])})
            if weighted:
                arrays["edge_weight"] = ("f", (len(edges),), weight)
        files.write_npz(self.npz, arrays)
        self.args = ("--data", self.npz, "--normalize-features", "off", "-q")

    @staticmethod
    def csr(name, rows, columns):
        flat, ptr = [c for row in rows for c in row], [0]
        for row in rows:
            ptr.append(ptr[-1] + len(row))
        return {name + "_data": ("f", (len(flat),), [1.0] * len(flat)),
                name + "_indices": ("i", (len(flat),), flat),
                name + "_indptr": ("i", (len(ptr),), ptr),
                name + "_shape": ("q", (2,), [len(rows), columns])}

    def write(self, name, kind, values):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(struct.pack(f"<{len(values)}{kind}", *values))


def flat(tensors):
    return b"".join(struct.pack(f"<{len(t[2])}f", *t[2]) for t in tensors.values())


def write_weights(r, name, tensors):
    r.write(name + ".txt", "".join(f"{k} {len(t[2])}\n" for k, t in tensors.items()))
    r.write(name + ".bin", flat(tensors))
    return r.path(name)


def logits(path):
    _, _, values = files.read_npz(path)["logits"]
    return struct.pack(f"<{len(values)}f", *values)


# Programs -----------------------------------------------------------------------------------------


def build(r, prefix, library, name, *flags, trains=True, mask=True, weighted=False, weight="a.bias",
          link=("-lm",), source="driver.c"):
    exe = r.path(name)
    upper = prefix.upper()
    options = [f"-DMODEL={prefix}", f'-DHEADER="{prefix}.h"', f"-DOUT_COLUMNS={upper}_OUT_COLUMNS",
               f'-DWEIGHT="{weight}"', "-I", r.folder, *(["-DTRAINS"] if trains else []),
               *(["-DWEIGHTED"] if weighted else []), *([] if mask else ["-DNO_MASK"])]
    sh([CC, *STRICT, *options, *flags, os.path.join(HERE, source), r.path(library), *link, "-o",
        exe])
    return exe


def result(r, *command):
    sh([*command, r.path("got")])
    with open(r.path("got"), "rb") as f:
        return f.read()


def same(what, got, want):
    if got != want:
        n = min(len(got), len(want)) // 4
        a, b = struct.unpack(f"<{n}f", got[:4 * n]), struct.unpack(f"<{n}f", want[:4 * n])
        fail(f"{what}: {len(got)} bytes, expected {len(want)}; {sum(p != q for p, q in zip(a, b))} "
             f"of {n} numbers differ")


def check_results(r, prefix, model, here, other, weighted=False, mask=True, mode="default"):
    """Inference and training on `other`, compiled for `here`."""
    trained, predicted = r.path("w.safetensors"), r.path("p.npz")
    r.works("train", model, *other.args, "--epochs", STEPS, "--seed", SEED, "--save", trained,
            "--threads", 2)
    r.works("run", model, *other.args, "--weights", trained, "--predictions", predicted)
    tensors = files.read_safetensors(trained)
    weights, want = write_weights(r, prefix + "-weights", tensors), logits(predicted)
    first = next(iter(tensors))
    for end in ("o", "a", "so"):
        header = r.path(prefix + ".h")
        r.works(model, *here.args, "--prefix", prefix, "-O", mode, "-o", r.path(f"{prefix}.{end}"),
                "--header", header)
        link = ("-lm", f"-Wl,-rpath,{r.folder}") if end == "so" else ("-lm",)
        exe = build(r, prefix, f"{prefix}.{end}", f"{prefix}-{end}", weighted=weighted,
                    weight=first, link=link, mask=mask)
        same(f"{prefix}.{end} infers", result(r, exe, other.folder, "infer", weights), want)
        got = result(r, exe, other.folder, "train", STEPS, SEED, weights)
        same(f"{prefix}.{end} trains", got, flat(tensors) + want)
    for how in ("coo32", "share", "threads", *(() if weighted else ("csr", "csr32"))):
        same(f"{prefix}, {how}", result(r, exe, other.folder, how, weights), want)
    same(f"{prefix}, weights from a file", result(r, exe, other.folder, "load", trained), want)
    same(f"{prefix} goes on", result(r, exe, other.folder, "resume", STEPS, SEED, weights),
         flat(tensors) + want)
    r.works(model, *here.args, "--prefix", "brings", "-o", r.path("brings.o"), "--header",
            r.path("brings.h"), "--weights", trained, "--inference")
    exe = build(r, "brings", "brings.o", "brings", trains=False, weighted=weighted, weight=first)
    same(f"{prefix} brings its weights along", result(r, exe, other.folder, "infer", "-"), want)


def check_errors(r, here):
    """Under AddressSanitizer, which also finds what is not freed."""
    exe = build(r, "net", "net.o", "net-errors", "-fsanitize=address,undefined", weighted=True)
    said = sh([exe, here.folder, "errors"])
    for line in (
            "new: 0 ", "early: 2 no graph is bound", "end: 3 edge 1: ",
            "negative: 2 a graph of -1 nodes and 0 edges",
            "no ends: 2 a graph of 2 edges without their ends",
            "descending: 3 row 1 ends at edge 1, before it begins at 2",
            "late: 3 row 0 begins at edge 1, not 0", "unbound: 2 input 'g.weight' is not bound",
            "input: 2 model Net has no input 'X'; did you mean 'x'?",
            "address: 2 'x' is bound to no data", "aligned: 2 the data of 'x' is not aligned",
            "output: 2 nothing was inferred", "weight: 2 model Net has no weight 'convs.0.bia'",
            "elements: 3 weight 'a.bias' has 7 numbers, not 2",
            "state: 2 a state of model Net has ",
            "rows: 3 eval: 'x' has 59 rows of 11 elements, expected 60 of 11", "infer: 0 ",
            "label: 3 y: row 1 is class 4; classes are 0 to 3, and -1 is unknown",
            "no place: 2 there is no place for the new model",
            "no model: 2 out of memory, or no model was given",
            "no name: 2 the input's name is NULL", "no output's name: 2 the output's name is NULL",
            "no weight's name: 2 the weight's name is NULL",
            "no path: 2 the path of the weights is NULL",
            "no output: 2 model Net has no output 'on'",
            "negative threads: 2 a model of -1 threads", "and then: 2 a model of -1 threads"):
        if "\n" + line not in "\n" + said:
            fail(f"expected a line that begins with '{line}':\n{said}")


def check_memory(r, here):
    """Every allocation fails in turn: an error each time, and nothing is lost."""
    wrapped = [f"-Wl,--wrap={name}" for name in ("malloc", "aligned_alloc")]
    exe = build(r, "net", "net.o", "net-memory", "-fsanitize=address", "-DWRAP", *wrapped,
                weighted=True)
    said = sh([exe, here.folder, "memory", r.path("w.safetensors")])
    if int(said.split()[0]) < 50:
        fail(said)


# Files --------------------------------------------------------------------------------------------


def symbols(path, *flags):
    return {line.split()[-1] for line in sh(["nm", "-P", *flags, path]).splitlines()
            for line in [line.split(" ")[0]] if line}


def check_files(r, prefix):
    offered = set()
    for name in ("libc.so.6", "libm.so.6"):
        at = sh([CC, f"-print-file-name={name}"]).strip()
        offered |= {s.split("@")[0] for s in symbols(os.path.realpath(at), "-D", "--defined-only")}
    for end in ("o", "so"):
        flags = ["-D"] if end == "so" else ["-g"]
        path = r.path(f"{prefix}.{end}")
        other = {s.split("@")[0] for s in symbols(path, "-u", *flags)} - offered
        if other:
            fail(f"{path} needs {sorted(other)}")
        shown = symbols(path, "--defined-only", *flags)
        if not shown or [s for s in shown if not s.startswith(prefix + "_")]:
            fail(f"{path} shows {sorted(shown)}")
    dynamic = sh(["readelf", "-dW", r.path(f"{prefix}.so")])
    needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
    if needed - {"libc.so.6", "libm.so.6"} or "TEXTREL" in dynamic or "STATIC_TLS" in dynamic:
        fail(dynamic)
    if "RWE" in sh(["readelf", "-lW", r.path(f"{prefix}.so")]):
        fail("the shared library's stack or data can be executed")
    said = sh(["readelf", "-aW", r.path(f"{prefix}.o")])
    if "warning" in said.lower() or ".note.GNU-stack" not in said:
        fail(said[-2000:])
    places = [line.split()[0] for line in sh(["readelf", "-rW", r.path(f"{prefix}.o")]).splitlines()
              if "R_X86_64_64" in line]
    if len(places) < 100 or [p for p in places if int(p, 16) % 8]:
        fail("addresses that are not aligned")
    if sh(["ar", "t", r.path(f"{prefix}.a")]).split() != [f"{prefix}.o"]:
        fail("the archive's members")
    shutil.rmtree(r.path("x"), ignore_errors=True)
    os.makedirs(r.path("x"))
    sh(["ar", "x", "--output", r.path("x"), r.path(f"{prefix}.a")])
    if read(r.path(f"x/{prefix}.o")) != read(r.path(f"{prefix}.o")):
        fail("the archive holds another object")
    index = sh(["nm", "-s", r.path(f"{prefix}.a")]).split("\n\n")[0]
    if f"{prefix}_open in {prefix}.o" not in index:
        fail(index)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def check_two(r, model, other, here):
    """Objects and archives of two models link into one program, whatever the order."""
    for end in ("o", "a"):
        for prefix, m in (("first", model), ("second", other)):
            r.works(m, *here.args, "--prefix", prefix, "--inference", "-o",
                    r.path(f"{prefix}.{end}"), "--header", r.path(f"{prefix}.h"))
        sh([CC, *STRICT, "-I", r.folder, os.path.join(HERE, "two.c"), r.path(f"second.{end}"),
            r.path(f"first.{end}"), "-lm", "-o", r.path("two")])
        if sh([r.path("two")]) != "5 5\n":
            fail("two models in one program")
    if read(r.path("first.o")) == read(r.path("second.o")):
        fail("two models, one object")
    cxx = shutil.which("c++")
    if not cxx:
        fail("no C++ compiler: the headers are for C++ too")
    r.write("both.cc", '#include "first.h"\n#include "second.h"\n'
            'int main() { return first_new == nullptr; }\n')
    sh([cxx, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-address", "-I", r.folder,
        r.path("both.cc"), r.path("first.a"), r.path("second.a"), "-lm", "-o", r.path("both")])


def check_fork(r, model, here):
    """A child computes and frees what its parent opened."""
    r.works(model, *here.args, "--prefix", "first", "--inference", "-o", r.path("first.o"),
            "--header", r.path("first.h"))
    flags = ["-D_GNU_SOURCE", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", r.folder]
    sh([CC, *flags, os.path.join(HERE, "fork.c"), r.path("first.o"), "-lm", "-o", r.path("fork")])
    if sh([r.path("fork")]) != "forks\n":
        fail("forks")


def check_identity(r):
    """A header and an object of different builds do not go together; what is no part of the
    interface may differ."""
    model = r.write("wide.gnn", OWN % ("", ""))
    sizes = {name: f"synthetic:nodes=40,edges=90,features={n},classes=3"
             for name, n in (("few", 13), ("many", 200))}
    for name, data in sizes.items():
        r.works(model, "--data", data, "-q", "--inference", "-o", r.path(name + ".o"), "--header",
                r.path(name + ".h"))
    r.works(model, "--data", sizes["few"], "-q", "--inference", "--cpu", "x86-64-v2", "-o",
            r.path("old.o"), "--header", r.path("old.h"))
    r.works(model, "--data", sizes["few"], "-q", "-o", r.path("trains.o"), "--header",
            r.path("trains.h"))
    source = r.write(
        "identity.c", '#include HEADER\n#include <stdio.h>\nint main(void)\n{\n    own_model *m;\n'
        '    printf("%d ", own_new(1, 0, &m));\n    puts(own_message(m));\n    own_free(m);\n'
        '    printf("%d\\n", own_open(0, 1, 0, &m));\n    own_free(m);\n    return 0;\n}\n')
    for header, object_, refused in (("few", "few", False), ("few", "old", False),
                                     ("few", "many", True), ("many", "few", True),
                                     ("trains", "few", True)):
        exe = r.path("identity")
        sh([CC, *STRICT, "-I", r.folder, f'-DHEADER="{header}.h"', source, r.path(object_ + ".o"),
            "-lm", "-o", exe])
        said = sh([exe])
        words = "2 the header is of another interface (" if refused else "0 \n"
        if not said.startswith(words) or not said.endswith("\n0\n" if refused else "0 \n0\n"):
            fail(f"the header of '{header}' with the object of '{object_}':\n{said}")
        if refused and "takes x f32[nodes][200]" not in said and object_ == "many":
            fail(said)


def check_own(r, here, other):
    """Inputs that a model declares: all results doubled, and three more."""
    inputs = ", scale: node[3], shift: any[3]"
    plain, own = r.write("plain.gnn", OWN % ("", "")), r.write("own.gnn",
                                                               OWN % (inputs, " * scale + shift"))
    weights = {"a.lin.weight": ("f", (3, 11), [0.25 * (k % 5) - 0.5 for k in range(33)]),
               "a.bias": ("f", (3,), [0.5, -1.0, 2.0])}
    files.write_safetensors(r.path("own.safetensors"), weights)
    r.works("run", plain, *other.args, "--weights", r.path("own.safetensors"), "--predictions",
            r.path("own.npz"))
    _, _, values = files.read_npz(r.path("own.npz"))["out"]
    want = struct.pack(f"<{len(values)}f", *[2 * v + 3 for v in values])
    r.works(own, *here.args, "--inference", "-o", r.path("own.o"), "--header", r.path("own.h"))
    exe = build(r, "own", "own.o", "own", "-DOWN", trains=False)
    same("inputs of its own", result(r, exe, other.folder, "load", r.path("own.safetensors")), want)


def check_sample(r):
    """samples/c/ahead.c, as its first lines say."""
    r.works(os.path.join(runs.SAMPLES, "gcn.gnn"), "-q", "-o", r.path("gcn.o"), "--header",
            r.path("gcn.h"))
    sh([CC, *STRICT, "-I", r.folder, os.path.join(runs.SAMPLES, "c", "ahead.c"), r.path("gcn.o"),
        "-lm", "-o", r.path("ahead")])
    said = sh([r.path("ahead")])
    losses = [float(line.split()[-1]) for line in said.splitlines() if line.startswith("step")]
    scores = [[float(w) for w in line.split()[-4:]]
              for line in said.splitlines() if "scores" in line]
    if (len(losses) != 2 or losses[1] > losses[0] / 4 or len(scores) != 6
        or scores[5].index(max(scores[5])) != 0):
        fail(said)


def check_same_bytes(r, model, here):
    for name in ("one.o", "again.o"):
        said = r.works(model, *here.args, "--json", "--prefix", "same", "-o", r.path(name),
                       "--header", r.path(name + ".h"))
        said = json.loads(said)
        if (said["prefix"], said["training"], said["weights"]) != ("same", True, False):
            fail(f"{said}")
        if said["object_bytes"] != os.path.getsize(r.path(name)):
            fail(f"{said}")
    if (read(r.path("one.o")) != read(r.path("again.o"))
        or read(r.path("one.o.h")) != read(r.path("again.o.h"))):
        fail("the same model gives other bytes")


# Processors ---------------------------------------------------------------------------------------


def check_cpu(r, model, here, weights, want):
    close = struct.unpack(f"<{len(want) // 4}f", want)
    for cpu, never in (("x86-64-v2", ("%ymm", "%zmm")), ("x86-64-v3", ("%zmm",)),
                       ("x86-64-v4", ())):
        r.works(model, *here.args, "--prefix", "net", "--cpu", cpu, "-o", r.path("cpu.o"),
                "--header", r.path("net.h"))
        code = sh(["objdump", "-d", r.path("cpu.o")])
        if [register for register in never if register in code]:
            fail(f"{cpu}: {never} is used")
        exe = build(r, "net", "cpu.o", "net-cpu", weighted=True)
        run = subprocess.run([exe, here.folder, "infer", weights, r.path("got")],
                             capture_output=True, text=True)
        with open("/proc/cpuinfo", encoding="utf8") as f:
            words = set(f.read().split())
        has = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}[cpu] in words
        if has and run.returncode == 0:
            got = struct.unpack(f"<{len(close)}f", read(r.path("got")))
            if max(abs(a - b) for a, b in zip(got, close)) > 1e-4:
                fail(f"{cpu} computes something else")
        elif run.returncode == 0 or f"compiled for {cpu}: this processor lacks " not in run.stderr:
            fail(f"{cpu}: exit status {run.returncode}\n{run.stderr}")
    # A processor that lacks something: the object is told that it needs what none has any more
    # (XOP, of Bulldozer).
    at = needs_offset(r.path("cpu.o"))
    image = bytearray(read(r.path("cpu.o")))
    (needs,) = struct.unpack("<Q", image[at:at + 8])
    if needs == 0 or needs >> XOP & 1:
        fail(f"needs {needs:x}")
    image[at:at + 8] = struct.pack("<Q", needs | 1 << XOP)
    r.write("xop.o", bytes(image))
    exe = build(r, "net", "xop.o", "net-xop", weighted=True)
    run = subprocess.run([exe, here.folder, "infer", weights, r.path("got")], capture_output=True,
                         text=True)
    if run.returncode != 1 or not run.stderr.rstrip().endswith("xop"):
        fail(f"a processor without XOP: exit status {run.returncode}\n{run.stderr}")


def xop_number():
    """The place of XOP in runtime/load/cpu_x86.h's list."""
    lines = open(os.path.join(HERE, "..", "..", "runtime", "load", "cpu_x86.h"),
                 encoding="utf8").read().split("GN_CPU_FEATURES(X)", 1)[1]
    names = [line.split("(")[1].split(",")[0]
             for line in lines.splitlines() if line.strip().startswith("X(")]
    return names.index("XOP")


XOP = xop_number()


def needs_offset(path):
    (line,) = [line for line in sh(["readelf", "-sW", path]).splitlines()
               if line.endswith(" gnnc.needs")]
    _, value, _, _, _, _, section, _ = line.split()
    heads = sh(["readelf", "-SW", path]).replace("[ ", "[").splitlines()
    (head,) = [line.split() for line in heads if line.strip().startswith(f"[{section}]")]
    return int(head[4], 16) + int(value, 16)


# Refusals -----------------------------------------------------------------------------------------


def check_refusals(r, model, here):
    o, h = r.path("bad.o"), r.path("bad.h")
    r.fails(2, "expected a name that ends in .o, .a or .so", model, *here.args, "-o",
            r.path("bad.txt"))
    r.fails(2, "expected a name that ends in .o, .a or .so", model, *here.args, "-o", r.path(".o"))
    r.fails(2, "--header goes with -o FILE.o, .a or .so", model, *here.args, "--header", h)
    r.fails(2, "--prefix goes with -o FILE.o, .a or .so and without --emit", model, "-q",
            "--emit=gir", "--prefix", "a", "-o", o)
    r.fails(2, "--prefix 2b: expected a letter", model, *here.args, "-o", o, "--prefix", "2b")
    r.fails(2, "--prefix a-b: expected a letter", model, *here.args, "-o", o, "--prefix", "a-b")
    r.fails(2, "that is where the code goes", model, *here.args, "-o", o, "--header", o)
    r.fails(2, "x86-64-v9", model, *here.args, "-o", o, "--cpu", "x86-64-v9")
    r.fails(2, "is code for the CPU", model, *here.args, "-o", o, "--device", "cuda")
    r.fails(3, "nowhere", model, *here.args, "-o", o, "--weights", r.path("nowhere.safetensors"))
    r.fails(3, "No such file", model, *here.args, "-o", r.path("no/bad.o"))
    r.fails(3, "No such file", model, *here.args, "-o", r.path("no/bad.so"))
    r.fails(3, "No such file", model, *here.args, "-o", o, "--header", r.path("no/bad.h"))
    r.fails(3, "cannot create", model, *here.args, "-o", "/proc/bad.a")
    os.makedirs(r.path("shut/folder.so"))
    r.fails(3, "directory", model, *here.args, "-o", r.path("shut/folder.so"))
    os.chmod(r.path("shut"), 0o500)
    if os.geteuid():  # the superuser may write everywhere
        for end in ("o", "a", "so"):
            r.fails(3, "Permission denied", model, *here.args, "-o", r.path(f"shut/bad.{end}"))
    os.chmod(r.path("shut"), 0o700)
    left = [n for n in os.listdir(r.path("shut")) + os.listdir(r.folder) if n.startswith("bad")
            or ".tmp" in n]
    if left != [] or os.listdir(r.path("shut")) != ["folder.so"]:
        fail(f"left behind: {left} {os.listdir(r.path('shut'))}")


def check_no_linker(r, model, here):
    path, os.environ["PATH"] = os.environ["PATH"], r.path("empty")
    r.fails(4, "a shared library takes the system's linker, and there is no ld, ld.lld, ld.gold or "
            "ld.lld-19 in $PATH", model, *here.args, "-o", r.path("bad.so"))
    for end in ("o", "a"):
        r.works(model, *here.args, "--prefix", "net", "-o", r.path(f"alone.{end}"), "--header",
                r.path("net.h"))
    os.environ["PATH"] = path
    if (read(r.path("alone.o")) != read(r.path("net.o"))
        or read(r.path("alone.a")) != read(r.path("net.a"))):
        fail("without a linker other bytes are written")
    os.makedirs(r.path("broken"))
    r.write("broken/ld", "#!/bin/sh\necho out of order\nexit 1\n")
    os.chmod(r.path("broken/ld"), 0o755)
    os.environ["PATH"] = r.path("broken") + ":" + path
    r.fails(4, "broken/ld failed: out of order", model, *here.args, "-o", r.path("bad.so"))
    os.environ["PATH"] = path


def check_linkers(r, model, here):
    """Each linker that there is, where it is the only one, under each name that it is looked
    for."""
    path, tried = os.environ["PATH"], []
    for name, program in (("ld", "ld"), ("ld.lld", "ld.lld-19"), ("ld.gold", "ld.gold"),
                          ("ld.lld-19", "ld.lld-19")):
        at = shutil.which(program, path=path)
        if not at:
            continue
        folder, out = r.path(f"only-{name}"), r.path(f"by-{name}.so")
        os.makedirs(folder)
        os.symlink(at, os.path.join(folder, name))
        os.environ["PATH"] = folder
        r.works(model, *here.args, "--prefix", "net", "-o", out, "--header", r.path("net.h"))
        os.environ["PATH"] = path
        if not ctypes.CDLL(out, mode=os.RTLD_NOW).net_open:
            fail(f"{out} has no net_open")
        tried.append(name)
    if "ld" not in tried:
        fail(f"no linker but {tried}: binutils is there where a C compiler is")


def main():
    r = runs.Runs()
    r.problems = PROBLEMS
    net, looks = r.write("net.gnn", GCN), r.write("looks.gnn", GAT)
    dense = [Data(r, f"dense{n}", n, n, False, True) for n in (60, 97)]
    plain = [Data(r, f"plain{n}", n, n, False, False) for n in (50, 83)]
    # What is compiled for features that are ones must not count on it (above 0 all of this format
    # become that).
    sparse = [Data(r, "sparse70", 70, 70, True, False),
              Data(r, "sparse110", 110, 110, True, False, (1.0, -0.5, -2.0))]
    check_results(r, "looks", looks, *plain)
    check_results(r, "words", r.write("words.gnn", WORDS), *sparse, mask=False,
                  mode="reduce-overhead")
    check_results(r, "net", net, *dense, weighted=True)
    check_errors(r, dense[0])
    check_memory(r, dense[0])
    check_files(r, "net")
    check_no_linker(r, net, dense[0])
    check_linkers(r, net, dense[0])
    check_two(r, net, looks, plain[0])
    check_fork(r, looks, plain[0])
    check_identity(r)
    check_own(r, *plain)
    check_sample(r)
    check_same_bytes(r, net, dense[0])
    check_cpu(r, net, dense[1], r.path("net-weights"), logits(r.path("p.npz")))
    check_refusals(r, net, dense[0])
    r.done()


if __name__ == "__main__":
    main()
