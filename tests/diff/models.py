#!/usr/bin/env python3
"""Random models in the language, each run and trained in several modes, which must agree with
`eager`.

    models.py GNNC [--count N] [--first SEED] [--seconds S] [--keep DIR]

The differential tests in C draw programs of the tensor IR; here whole models go through the front
end, gradients, the optimizer, graphs derived from graphs, masks and files.  A model that gnnc
refuses, or falls over, is an error, too: all that is drawn is legal.  Exit status: 0 all agree, 1
one does not; it is kept in DIR (here, by default) under its seed.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

MODES = (
    ("eager", ["-O", "eager", "--threads", "1"]),
    ("default", ["-O", "default", "--threads", "2"]),
    ("all rows, sizes of the data", ["-O", "reduce-overhead", "--threads", "1", "--without",
                                     "restrict_rows", "--dynamic", "false"]),
)
INFER, TRAIN = 1e-4, 5e-3  # beside the largest element; training passes differences on
LARGEST = 160              # elements of a row

UNARY = ("tanh({})", "sigmoid({})", "relu({})", "elu({})", "softplus({})", "leaky_relu({}, 0.2)",
         "exp(-abs({}))", "-{}", "0.5 * {}", "1 - {}", "sqrt({0} * {0} + 0.5)",
         "rsqrt({0} * {0} + 0.5)", "log1p(abs({}))", "sin({})", "(abs(tanh({})) + 0.3)^1.5",
         "detach({0}) * 0.3 + 0.7 * {0}", "dropout({}, 0.3)")
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} * tanh({})", "{} / (1 + {} ^ 2)", "max({}, {})",
          "min({}, {})", "sigmoid({}) * {}")
IN_MESSAGE = ("({} + {})", "({} - {})", "{} * {}", "tanh({}) * {}", "relu({} + {})")


def size(dims):
    return math.prod(dims)


class Model:
    """Lines of a model; values are (name, space, dims), the space `node`, `` (no rows) or the graph
    whose edges they are on."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.values, self.params = ["w = g.weight"], [
            ("x", "node", (6,)), ("attr", "g", (3,)), ("w", "g", ())], {}
        self.graphs = ["g"]
        lines = self.random.choice((6, 10, 16, 24))
        tries = 0
        while len(self.lines) < lines and tries < 200:
            tries += 1
            getattr(self, self.random.choice(STEPS))()
        self.finish()

    def new(self, space, dims, expression):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        self.values.append((name, space, tuple(dims)))
        return self.values[-1]

    def pick(self, fits=lambda name, space, dims: True):
        """One of those that fit, a late one more often than not; None where there is none."""
        all_of_them = [v for v in self.values if fits(*v)]
        if not all_of_them:
            return None
        return self.random.choice(all_of_them[-10:] if self.random.random() < 0.7 else all_of_them)

    def unary(self):
        name, space, dims = self.pick()
        self.new(space, dims, self.random.choice(UNARY).format(name))

    def beside(self, space, dims):
        return self.pick(lambda _, s, d: (s in (space, "") or space == "")
                         and (d == dims or d == ()))

    def binary(self):
        a, space, dims = self.pick()
        other = self.beside(space, dims)
        if other:
            self.new(space or other[1], dims, self.random.choice(BINARY).format(a, other[0]))

    def choice(self):
        a, space, dims = self.pick()
        yes, no = (self.pick(lambda _, s, d: s == space and d == dims)[0] for _ in range(2))
        self.new(space, dims, f"{a} > 0.1 ? {yes} : tanh({no})")

    def param(self, dims=None):
        name = f"p{len(self.params)}"
        dims = tuple(dims or (self.random.choice((1, 2, 3, 4, 6))
                              for _ in range(self.random.randint(1, 2))))
        self.params[name] = dims
        self.lines.append(f"param {name}: [{', '.join(map(str, dims))}] = normal(std = 0.4)")
        self.values.append((name, "", dims))
        return name

    def product(self):
        a = self.pick(lambda _, s, d: len(d) >= 1 and size(d[:-1]) <= 16)
        columns = [self.random.choice((1, 2, 3, 5, 8, 20))
                   for _ in range(self.random.randint(0, 2))]
        if size(a[2][:-1]) * size(columns) <= LARGEST and len(a[2]) + len(columns) <= 4:
            self.new(a[1], a[2][:-1] + tuple(columns),
                     f"{a[0]} @ {self.param((a[2][-1], *columns))}")

    def reduction(self):
        a = self.pick(lambda _, s, d: len(d) >= 1)
        axis, keep = self.random.randrange(len(a[2])), self.random.random() < 0.4
        dims = a[2][:axis] + ((1,) if keep else ()) + a[2][axis + 1:]
        self.new(a[1], dims, f"{self.random.choice(('sum', 'mean', 'max', 'min'))}({a[0]}, axis = "
                 f"{axis}{', keep = true' if keep else ''})")

    def over_axis(self):
        a = self.pick(lambda _, s, d: len(d) >= 1)
        how = self.random.choice(("softmax({}, axis = -1)", "log_softmax({}, axis = -1)",
                                  "normalize({} + 0.2)"))
        self.new(a[1], a[2], how.format(a[0]))

    def view(self):
        name, space, dims = self.pick(lambda _, s, d: 1 <= len(d) <= 3)
        axis = self.random.randrange(len(dims))
        begin = self.random.randrange(dims[axis])
        end = self.random.randint(begin + 1, dims[axis])
        order = self.random.sample(range(len(dims)), len(dims))
        self.new(space, *self.random.choice((
            (dims[:axis] + (1,) + dims[axis:], f"unsqueeze({name}, {axis})"),
            ((size(dims),), f"reshape({name}, [{size(dims)}])"),
            (dims[:axis] + (end - begin,) + dims[axis + 1:],
             f"slice({name}, {begin}, {end}, axis = {axis})"),
            (tuple(dims[k] for k in order), f"transpose({name}, {order})"),
            (dims[1:], f"{name}[{self.random.randrange(dims[0])}]"))))

    def side_by_side(self):
        a = self.pick(lambda _, s, d: len(d) >= 1)
        b = self.pick(lambda _, s, d: s == a[1] and len(d) == len(a[2]) and d[:-1] == a[2][:-1])
        dims = a[2][:-1] + (a[2][-1] + b[2][-1],)
        if size(dims) <= LARGEST:
            self.new(a[1], dims, f"concat({a[0]}, {b[0]}, axis = {len(dims) - 1})")

    def over_rows(self):
        name, space, dims = self.pick(lambda _, s, d: s in ("node", "g"))
        how = self.random.choice(("mean({}, over = {})", "max({}, over = {})", "min({}, over = {})",
                                  "sum({}, over = {}) * 0.01"))
        self.new("", dims, how.format(name, "node" if space == "node" else "edge"))

    def derived(self):
        if len(self.graphs) < 4:
            name = f"g{len(self.graphs)}"
            how = self.random.choice(("self_loops", "remove_self_loops", "remaining_self_loops",
                                      "reverse"))
            self.lines.append(f"{name} = {how}({self.random.choice(self.graphs)})")
            self.graphs.append(name)

    def operand(self, graph, fits=lambda dims: True):
        v = self.pick(lambda _, s, d: s in ("node", graph) and fits(d))
        return v and (v[0] + (f"[{self.random.choice('uv')}]" if v[1] == "node" else ""), v[2])

    def message(self, graph):
        text, dims = self.operand(graph)
        for _ in range(self.random.randint(0, 2)):
            other = self.operand(graph, lambda d, dims=dims: d in (dims, ()))
            if other:
                text = self.random.choice(IN_MESSAGE).format(text, other[0])
        return text, dims

    def aggregated(self):
        graph = self.random.choice(self.graphs)
        text, dims = self.message(graph)
        how = self.random.choice(("0.3 * sum", "0.3 * sum", "mean", "max", "min"))
        self.new("node", dims, f"{how}(u -> v in {graph}: {text})")

    def on_edges(self):
        graph = self.random.choice(self.graphs)
        text, dims = self.message(graph)
        self.new(graph, dims, f"edge(u -> v in {graph}: {text})")

    def over_edges(self):
        name, space, dims = self.pick(lambda _, s, d: s in self.graphs)
        self.new(space, dims, f"softmax({name}, over = dst)")

    def attention(self):
        a = self.pick(lambda _, s, d: s == "node" and len(d) == 1)
        if not a:
            return
        graph = self.random.choice(self.graphs)
        h = self.new("node", (2, 3), f"{a[0]} @ {self.param((a[2][0], 2, 3))}")[0]
        t = self.new("node", (2,), f"sum({h} * {self.param((2, 3))}, axis = -1)")[0]
        e = self.new(graph, (2,), f"leaky_relu(edge(u -> v in {graph}: {t}[u] + {t}[v]), 0.2)")[0]
        p = self.new(graph, (2,), f"softmax({e}, over = dst)")[0]
        self.new("node", (2, 3), f"sum(u -> v in {graph}: unsqueeze({p}, -1) * {h}[u])")

    def finish(self):
        """A number a node of each of the last values, side by side."""
        outputs = []
        for name, space, dims in self.values[:-7:-1]:
            if dims:
                name = self.new(space, (), f"mean({name}, axis = {list(range(len(dims)))})")[0]
            if space in self.graphs:
                name = self.new("node", (), f"mean(u -> v in {space}: {name})")[0]
            elif not space:
                name = self.new("node", (), f"x[0] * {name}")[0]
            outputs.append(f"unsqueeze(tanh({name}), -1)")
        self.outputs = len(outputs)
        self.results = [f"concat({', '.join(outputs)})"]
        # several: what is stored for its own sake is stored for the result
        if self.random.random() < 0.4:
            self.results += [self.pick()[0] for _ in range(self.random.randint(1, 2))]
        self.lines.append(f"return {', '.join(self.results)}")

    def text(self):
        body, several = "\n  ".join(self.lines), len(self.results) > 1
        types = (f"({', '.join(['node[...]'] + ['any[...]'] * (len(self.results) - 1))})" if several
                 else "node[...]")
        return (f"model Net() (g: graph, x: node[6], attr: edge[3]) -> {types} {{\n  {body}\n}}\n"
                f"train Net {{\n  input target: node[{self.outputs}]\n"
                f"  loss = mse(Net(g, x, attr){'[0]' if several else ''}, target) over train_mask\n"
                "  optimizer = sgd(lr = 0.3)\n  epochs = 3\n}\n")


STEPS = ("unary", "unary", "binary", "binary", "binary", "choice", "param", "product", "product",
         "reduction", "over_axis", "view", "view", "side_by_side", "over_rows", "derived",
         "aggregated", "aggregated", "aggregated", "on_edges", "on_edges", "over_edges",
         "attention")


# Files --------------------------------------------------------------------------------------------


def array(kind, shape, numbers):
    """The bytes of a .npy file:
    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html"""
    shape = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = {"<f4": "f", "<i8": "q", "|b1": "?"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(
        f"<{len(numbers)}{code}", *numbers)


def write_data(path, seed, outputs):
    """A graph with isolated nodes, loops, repeated edges and a hub, in no order."""
    r = random.Random(seed)
    nodes = r.choice((1, 7, 43, 43, 300))
    edges = [(r.randrange(nodes), r.randrange(max(1, nodes - 3))) for _ in range(4 * nodes)]
    edges += [(r.randrange(nodes), 0) for _ in range(nodes)] + edges[:5] + [
        (k, k) for k in range(0, nodes, 9)]
    train = [k % 3 == 0 for k in range(nodes)]

    def normal(n):
        return [r.gauss(0, 1) for _ in range(n)]

    with zipfile.ZipFile(path, "w") as z:
        z.writestr("edge_index.npy",
                   array("<i8", (2, len(edges)), [e[0] for e in edges] + [e[1] for e in edges]))
        z.writestr("edge_weight.npy",
                   array("<f4", (len(edges),), [r.uniform(0.2, 1.5) for _ in edges]))
        z.writestr("edge_attr.npy", array("<f4", (len(edges), 3), normal(3 * len(edges))))
        z.writestr("x.npy", array("<f4", (nodes, 6), normal(6 * nodes)))
        z.writestr("target.npy", array("<f4", (nodes, outputs), normal(outputs * nodes)))
        z.writestr("train_mask.npy", array("|b1", (nodes,), train))
        z.writestr("val_mask.npy", array("|b1", (nodes,), [not t for t in train]))
        z.writestr("test_mask.npy", array("|b1", (nodes,), [not t for t in train]))


def read_floats(raw):
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def read_outputs(path):
    with zipfile.ZipFile(path) as z:
        arrays = {n: z.read(n)
                  for n in z.namelist() if "edge_index" not in n and "prediction" not in n}
    return {name: read_floats(raw[10 + struct.unpack_from("<H", raw, 8)[0]:])
            for name, raw in arrays.items()}


def read_weights(path):
    raw = pathlib.Path(path).read_bytes()
    (n,) = struct.unpack_from("<Q", raw)
    head = json.loads(raw[8:8 + n])
    return {k: read_floats(raw[8 + n:][slice(*v["data_offsets"])])
            for k, v in head.items() if k != "__metadata__"}


# Comparing ----------------------------------------------------------------------------------------


def apart(got, want):
    """The largest difference beside the largest element; None where the reference is not finite."""
    worst = 0.0
    for name, w in want.items():
        if not all(map(math.isfinite, w)):
            return None
        if len(got[name]) != len(w) or not all(map(math.isfinite, got[name])):
            return math.inf
        scale = 1 + max(map(abs, w), default=0)
        worst = max([worst, *(abs(a - b) / scale for a, b in zip(got[name], w))])
    return worst


def gnnc(program, *arguments):
    done = subprocess.run([program, *arguments, "-q"], capture_output=True, text=True,
                          errors="replace", timeout=120,
                          env=dict(os.environ, GNNC_CACHE="0", NO_COLOR="1"))
    if (done.returncode and "is nan" not in done.stderr and "is inf" not in done.stderr
        and "not finite" not in done.stderr):
        raise RuntimeError(f"{' '.join(arguments)}: exit {done.returncode}: {done.stderr[-400:]}")
    return done.returncode == 0


def check(program, seed, folder, keep):
    """None, or what is wrong."""
    model = Model(seed)
    at = pathlib.Path(folder) / str(seed)
    paths = {k: f"{at}.{k}" for k in ("gnn", "npz", "safetensors")}
    pathlib.Path(paths["gnn"]).write_text(model.text())
    write_data(paths["npz"], seed, model.outputs)
    results = {}
    try:
        for k, (_, options) in enumerate(MODES):
            out, weights = f"{at}.{k}.npz", f"{at}.{k}.safetensors"
            data = (paths["gnn"], "--data", paths["npz"], *options)
            results["inference", k] = gnnc(program, "run", *data, "--seed", "1", "--predictions",
                                           out) and read_outputs(out)
            if model.params:
                results["training", k] = gnnc(program, "train", *data, "--seed", "1", "--save",
                                              weights) and read_weights(weights)
        for (what, k), got in results.items():
            want = results[what, 0]
            if not want:
                continue  # not finite, and said to be
            off = apart(got, want) if got else math.inf
            if off is not None and off > (INFER if what == "inference" else TRAIN):
                raise RuntimeError(f"{what}, {MODES[k][0]}: {off:.2g} from eager")
    except (RuntimeError, subprocess.TimeoutExpired, OSError, StopIteration, KeyError) as error:
        for suffix in ("gnn", "npz"):
            (pathlib.Path(keep) / f"model-{seed}.{suffix}").write_bytes(
                pathlib.Path(paths[suffix]).read_bytes())
        return f"seed {seed}: {error}"
    finally:
        for file in pathlib.Path(folder).glob(f"{seed}.*"):
            file.unlink()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("gnnc")
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--keep", default=".", metavar="DIR")
    args = parser.parse_args()
    program, begin, wrong, done = os.path.abspath(args.gnnc), time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
            os.cpu_count()) as pool:
        def one(seed):
            return (time.monotonic() - begin < args.seconds and
                    (check(program, seed, folder, args.keep), ))

        for result in pool.map(one, range(args.first, args.first + args.count)):
            done += bool(result)
            if result and result[0]:
                wrong += 1
                print(result[0], flush=True)
    print(f"{done} models, {wrong} wrong")
    return 1 if wrong or not done else 0


if __name__ == "__main__":
    sys.exit(main())
