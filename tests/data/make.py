#!/usr/bin/env python3
"""Makes the small data files beside it: python3 tests/data/make.py  (needs numpy and scipy).

planetoid/pN/ind.tiny.*  the Planetoid layout in pickle protocol N, with a gap in the test
                         index and a repeated edge.  Twelve nodes: 0-6 in allx (0-2 for training),
                         test index 10 7 11 8 (9 is the gap).
npz/*.npz                the .npz layouts, deflated and stored.
pickle/*                 one matrix in each format of scipy.sparse, and numpy.matrix, by protocol;
                         old-* as scipy 1.7 had them.
"""
import collections
import pickle
import sys
import types
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent

ALLX = np.array([[1, 0, 0, 1, 0], [0, 1, 0, 0, 0], [0, 0, 2, 0, 0], [1, 1, 0, 0, 0],
                 [0, 0, 0, 0, 1], [0, 0, 0, 0, 0], [0, 1, 1, 1, 0]], dtype=np.float32)
TX = np.array([[0, 0, 0, 0, 7], [3, 0, 0, 0, 0], [0, 0.5, 0, 0, 0], [0, 0, 0, 4, 4]],
              dtype=np.float32)
ALLY = np.eye(3, dtype=np.int32)[[0, 1, 2, 0, 1, 2, 0]]
TY = np.eye(3, dtype=np.int32)[[2, 1, 0, 2]]
TEST = [10, 7, 11, 8]
GRAPH = {0: [1, 2, 2], 1: [0, 1], 2: [0, 7], 3: [], 4: [5, 11], 5: [4], 6: [10], 7: [2, 8], 8: [7],
         9: [], 10: [6], 11: [4]}


def planetoid(protocol):
    folder = HERE / "planetoid" / f"p{protocol}"
    folder.mkdir(parents=True, exist_ok=True)
    graph = collections.defaultdict(list)
    graph.update(GRAPH)
    parts = {
        "allx": sp.csr_matrix(ALLX), "tx": sp.csr_matrix(TX), "x": sp.csr_matrix(ALLX[:3]),
        # The Fortran order of `ally` and the 64-bit integers of `ty` are there to be read.
        "ally": np.asfortranarray(ALLY), "ty": TY.astype(np.int64), "y": ALLY[:3],
        "graph": graph if protocol != 3 else collections.OrderedDict(graph),
    }
    for name, value in parts.items():
        (folder / f"ind.tiny.{name}").write_bytes(pickle.dumps(value, protocol=protocol))
    (folder / "ind.tiny.test.index").write_text("".join(f"{i}\n" for i in TEST))


def npz():
    folder = HERE / "npz"
    folder.mkdir(parents=True, exist_ok=True)
    adj = sp.csr_matrix(np.array([[0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]],
                                 dtype=np.float32))
    attr = sp.csr_matrix(np.array([[2, 0, 0], [0, 0.5, 0], [0, 0, 0], [1, 0, -1]],
                                  dtype=np.float32))
    part = {f"{k}_{n}": getattr(m, n) for k, m in (("adj", adj), ("attr", attr))
            for n in ("data", "indices", "indptr")}
    part |= {"adj_shape": np.array(adj.shape), "attr_shape": np.array(attr.shape)}
    np.savez_compressed(folder / "benchmark.npz", labels=np.array([0, 2, 1, 2]), **part)
    np.savez(folder / "bare.npz", **{k: v for k, v in part.items() if k.startswith("adj")})
    masks = np.array([[1, 0, 0, 0], [0, 1, 0, 0]], dtype=bool)
    np.savez(folder / "heterophilous.npz",
             node_features=np.arange(8, dtype=np.float32).reshape(4, 2),
             node_labels=np.array([0, 1, 1, 0]), edges=np.array([[0, 1], [1, 0], [2, 2], [3, 1]]),
             train_masks=masks, val_masks=np.roll(masks, 1, axis=1),
             test_masks=np.roll(masks, 2, axis=1))
    np.savez_compressed(
        folder / "plain.npz", edge_index=np.array([[0, 2, 2], [1, 1, 0]], dtype=np.int16),
        x=np.asfortranarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=np.float64).astype(">f8"),
        y=np.array([1, -1, 0], dtype=np.int8), edge_weight=np.array([0.5, 1, 2], dtype=np.float16),
        edge_attr=np.array([[1, 2], [3, 4], [5, 6]], dtype=np.uint8))
    square = sp.csr_matrix(np.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]]))
    np.savez(folder / "graphdata.npz", adj_matrix=square,
             node_attr=sp.coo_matrix(np.diag([1.0, 2.0, 3.0])), node_label=np.array([0, 1, 0]),
             edge_attr=None, metadata=np.array({"name": {1}}, dtype=object))
    np.savez_compressed(folder / "dict.npz", {"adj_matrix": square.tolil(), "X": np.eye(3),
                                              "label": np.array([0, 1, 0])})
    typed(folder)
    np.savez(folder / "object.npz", edge_index=np.array([None, 1], dtype=object))


def typed(folder):
    """Types of nodes by named and by triple keys; graphs of nodes."""
    np.savez_compressed(folder / "typed.npz", **{
        "paper.x": np.arange(6, dtype=np.int64).reshape(3, 2), "paper.y": np.array([2, 0, -1]),
        "paper.train_idx": np.array([0, 0]), "paper.valid_idx": np.array([1]),
        "paper.test_idx": np.array([2]), "paper.year": np.array([2010, 2012, 2011], dtype=np.int16),
        "paper.open": np.array([True, False, True]),
        "author__writes__paper.edge_index": np.array([[0, 1, 4], [0, 2, 1]], dtype=np.int32),
        "author__writes__paper.edge_attr": np.array([1.5, 2.5, 3.5], dtype=np.float16),
        "num_nodes.author": np.array(5), "cites.edge_index": np.array([[0, 0], [1, 1]]),
        "cites.edge_weight": np.array([[0.5], [2]]), "cites.src": np.array("paper"),
        "cites.dst": np.array([b"paper"]), "paper__writes__venue.edge_index": np.array([[2], [1]])})
    # A dict keeps the order that its keys were put in, and no column of edges may be sparse.
    cites, writes = np.array([[0, 1], [1, 0]]), np.array([[0, 2], [0, 1]])
    np.savez_compressed(folder / "typed-dict.npz",
                        {"b__writes__a.edge_index": writes, "b.z": np.array([1.0, 2.0, 3.0]),
                         "a__cites__a.edge_index": cites,
                         "a.x": sp.csr_matrix(np.diag([1.0, 2.0]))})
    np.savez_compressed(folder / "typed-sparse.npz",
                        **{"a__cites__a.edge_index": cites,
                           "a__cites__a.edge_attr": sp.csr_matrix(np.diag([1.0, 2.0]))})
    np.savez(folder / "graphs.npz", edge_index=np.array([[0, 1, 2], [1, 0, 3]]),
             graph_of_node=np.array([0, 0, 1, 1]), y=np.array([1, 0]), train_mask=np.array([1, 0]),
             val_mask=np.array([0, 1]), test_mask=np.array([0, 0]))


def matrices():
    folder = HERE / "pickle"
    folder.mkdir(parents=True, exist_ok=True)
    dense = np.array([[0, 1.5, 0, 0], [0, 0, 0, -2], [3, 0, 0, 0]])
    # an entry in two parts
    twice = (np.array([3, 1, -2, 0.5]), (np.array([2, 0, 1, 0]), np.array([0, 1, 3, 1])))
    for of in ("csr", "csc", "coo", "lil", "dok"):
        for kind in ("matrix", "array"):
            make = getattr(sp, f"{of}_{kind}")
            m = make(twice, shape=dense.shape) if of == "coo" else make(dense)
            for protocol in (0, 2, 5):
                (folder / f"{of}-{kind}.{protocol}").write_bytes(pickle.dumps(m, protocol=protocol))
    (folder / "numpy-matrix.2").write_bytes(pickle.dumps(np.matrix(dense), protocol=2))
    for of, state in (
            ("coo", {"row": twice[1][0], "col": twice[1][1], "data": twice[0]}),
            ("csc", {k: getattr(sp.csc_matrix(dense), k) for k in ("data", "indices", "indptr")})):
        name = f"scipy.sparse.{of}"
        sys.modules[name] = types.ModuleType(name)
        old = type(f"{of}_matrix", (), {"__module__": name})
        setattr(sys.modules[name], old.__name__, old)
        m = old()
        m.__dict__ = {"_shape": dense.shape, "maxprint": 50, **state}
        (folder / f"old-{of}.2").write_bytes(pickle.dumps(m, protocol=2))


for p in range(6):
    planetoid(p)
npz()
matrices()
