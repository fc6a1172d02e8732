"""What tests share: a graph like Cora, small, with communities; models; a writer of .npz."""

import array
import os
import random
import struct
import subprocess
import zipfile

ROOT = os.environ.get("GNNC_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ.get("GNNC_BINARY_DIR") or os.path.join(ROOT, "build")
PROGRAM = os.path.join(BUILD, "gnnc")

GCN = """
model GCN(hidden = 16, p = 0.5) (g: graph, x: node[F]) -> node[C] {
  a = GCNConv(hidden)
  b = GCNConv(C)
  return b(g, dropout(relu(a(g, dropout(x, p))), p))
}
train GCN {
  loss = cross_entropy(GCN(g, x), y) over train_mask
  optimizer = adam(lr = 0.01, weight_decay = 5e-4)
}
"""

# Sums over neighbours without normalisation: of batches and of gradients.
SAGE = """
model SAGE(hidden = 16) (g: graph, x: node[F]) -> node[C] {
  a = SAGEConv(hidden)
  b = SAGEConv(C)
  return b(g, relu(a(g, x)))
}
train SAGE {
  loss = cross_entropy(SAGE(g, x), y) over train_mask
  optimizer = adam(lr = 0.01)
}
"""

WEIGHTED = """
model Weighted(hidden = 4) (g: graph, x: node[F]) -> node[C] {
  a = Linear(hidden)
  b = Linear(C)
  h = tanh(a(x))
  return b(sum(u -> v in g: g.weight * h[u]) + h)
}
"""


class Cora:
    """Flat arrays of the standard library; classes tell edges and features apart."""

    def __init__(self, nodes=300, degree=4, features=8, classes=3, seed=1):
        draw = random.Random(seed)
        self.nodes, self.features, self.classes = nodes, features, classes
        self.y = array.array("i", (v % classes for v in range(nodes)))
        self.src, self.dst = array.array("i"), array.array("i")
        for v in range(nodes):
            for _ in range(degree // 2):
                u = draw.randrange(nodes)
                u = min(u - u % classes + v % classes, nodes - 1) if draw.random() < 0.8 else u
                self.src.extend((u, v))
                self.dst.extend((v, u))
        self.flat = array.array("f", (
            draw.random() + 0.3 * (k == v % classes) for v in range(nodes)
            for k in range(features)))
        self.x = memoryview(self.flat).cast("B").cast("f", (nodes, features))
        self.train_mask = array.array("B", (v // classes % 3 == 0 for v in range(nodes)))
        self.val_mask = array.array("B", (v // classes % 3 == 1 for v in range(nodes)))
        self.test_mask = array.array("B", (v // classes % 3 == 2 for v in range(nodes)))

    def data(self):
        return {"edge_index": (self.src, self.dst), "num_nodes": self.nodes, "x": self.x,
                "y": self.y, "train_mask": self.train_mask, "val_mask": self.val_mask,
                "test_mask": self.test_mask}

    def save(self, path):
        """As numpy.savez would."""
        with zipfile.ZipFile(path, "w") as z:
            for name, form, values, shape in (
                    ("src", "<i4", self.src, (len(self.src),)),
                    ("dst", "<i4", self.dst, (len(self.dst),)),
                    ("x", "<f4", self.flat, (self.nodes, self.features)),
                    ("y", "<i4", self.y, (self.nodes,)),
                    ("train_mask", "|u1", self.train_mask, (self.nodes,)),
                    ("val_mask", "|u1", self.val_mask, (self.nodes,)),
                    ("test_mask", "|u1", self.test_mask, (self.nodes,))):
                head = repr({"descr": form, "fortran_order": False, "shape": shape}).encode()
                head += b" " * (-(len(head) + 11) % 64) + b"\n"
                z.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head +
                           values.tobytes())


def gnnc(*args):
    """What the program says."""
    done = subprocess.run([PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        raise AssertionError(done.stdout)
    return done.stdout


def tensors(path):
    """{name: numbers} of a file of safetensors in float32."""
    import json
    with open(path, "rb") as f:
        data = f.read()
    n, = struct.unpack_from("<Q", data)
    out = {}
    for name, of in json.loads(data[8:8 + n]).items():
        if name != "__metadata__" and of["dtype"] == "F32":
            begin, end = of["data_offsets"]
            out[name] = array.array("f", data[8 + n + begin:8 + n + end]).tolist()
    return out


def flat(value):
    """The numbers of nested lists or an array, one after the other."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, (list, tuple)):
        return [value]
    return [x for row in value for x in flat(row)]


def have(*names):
    """The first of these modules that is not installed, or None."""
    import importlib.util
    for name in names:
        if importlib.util.find_spec(name) is None:
            return name
    return None
