"""Data that must be refused: exit status 3 (2 where an option asks for what is not there), and what
is wrong."""
import gzip
import os
import pickle
import shutil
import struct
import zipfile

import files
import runs

r = runs.Runs(shared=True)
MODEL = os.path.join(runs.SAMPLES, "gcn.gnn")


def data(code, what, path, *more):
    r.fails(code, what, "train", MODEL, "--data", path, *more)


# Lists of edges, Matrix Market, gnnc's own text.
for name, text, what in (
    ("negative.txt", "0 1\n1 2\n2 -1\n", "negative.txt:3: '-1': expected a node"),
    ("huge.txt", "0 1\n1 99999999999999999999999\n",
     "huge.txt:2: '99999999999999999999999': expected a node"),
    ("over32.txt", "0 1\n1 4000000000\n", "over32.txt:2: '4000000000': expected a node"),
    ("lonely.txt", "0 1\n1\n", "lonely.txt:2: expected `source target [weight]`"),
    ("nan.txt", "0 1 nan\n", "nan.txt:1: 'nan': expected a finite weight"),
    ("words.txt", "a b\n", "words.txt:1: 'a': expected a node"),
    ("apart.txt", "0 1\n1 2000000000\n",
     "apart.txt: 2 edges, and a node 2000000000: nodes are numbered from 0"),
    ("nothing.txt", "# nothing\n", "no edges"),
    ("empty.txt", "", "empty.txt"),
    ("row.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n4 1\n",
     "row.mtx:3: '4': expected a row from 1 to 3"),
    ("zero.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n0 1\n",
     "zero.mtx:3: '0': expected a row"),
    ("huge.mtx", "%%MatrixMarket matrix coordinate pattern general\n9999999999 9999999999 9\n1 2\n",
     "'9999999999'"),
    ("short.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 5\n1 2\n", "truncated"),
    ("lying.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 999999999999999\n1 2\n",
     "lying.mtx:2"),
    ("array.mtx", "%%MatrixMarket matrix array real general\n3 3\n1\n",
     "array.mtx:2: 9 numbers in 2 bytes"),
    ("target.csv", "0,1,0.5\n1,,2\n2,0,1.5\n", "target.csv:2: field 2 is empty"),
    ("source.tsv", "0\t1\t1\n\t0\t1\n", "source.tsv:2: field 1 is empty"),
    ("half.csv", "0,1,0.5\n1,2,\n", "half.csv:2: no weight, and line 1 has one"),
    ("utf16.txt", "0 1\n1 0\n".encode("utf-16"), "utf16.txt': text in UTF-16"),
    ("oblong.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 2\n", "oblong.mtx"),
    ("g1.graph", "gnnc graph 1\nnodes 3\nedge 0 3\n", "g1.graph:3: '3': expected"),
    ("g2.graph", "gnnc graph 1\nnodes 999999999\n", "g2.graph:2: '999999999'"),
    ("g3.graph", "gnnc graph 1\nnodes 2\nclasses 2\nnode 0 2 train\n", "g3.graph:4: '2': expected"),
    ("g4.graph", "gnnc graph 1\nnodes 2\nfeatures 2\nx 0 1 nan\n",
     "g4.graph:4: 'nan': expected a finite number"),
    ("g5.graph", "gnnc graph 1\nnodes 2\nfeatures 2\nx 0 1\n", "g5.graph:4: expected a number"),
    ("list.npz", "0 1\n1 2\n",
     "list.npz': expected a zip file of arrays, by its name, and it is text"),
    ("list.NPZ", "0 1\n1 2\n", "expected a zip file of arrays"),
    ("none.npz", "", "none.npz': expected a zip file of arrays, by its name, and it is empty"),
    ("array.npz", files.npy("f", (2, 2), [0] * 4), "and it is something else"),
    ("list.mtx", "0 1\n1 2\n",
     "expected Matrix Market, which begins with %%MatrixMarket, by its name, and it is text"),
    ("list.mtx.gz", gzip.compress(b"0 1\n1 2\n"), "expected Matrix Market"),
    ("zip.mtx", b"PK\x03\x04" + bytes(40), "and it is a zip file of arrays"),
    ("graph.pkl", pickle.dumps({"a": 1}, 4),
     "graph.pkl': a pickle, and not a graph: expected .npz"),
    ("binary.txt", bytes(range(256)) * 4, "not a graph"),
):
    data(3, what, r.write(name, text))

# .npz: what a good file says, with one thing wrong at a time.
GOOD = {"edge_index": ("q", (2, 4), [0, 1, 2, 3, 1, 0, 3, 2]),
        "x": ("f", (4, 2), [1, 0, 0, 1, 1, 1, 0, 0]), "y": ("q", (4,), [0, 1, 0, 1]),
        "train_mask": ("?", (4,), [1, 1, 0, 0]), "val_mask": ("?", (4,), [0, 0, 1, 0]),
        "test_mask": ("?", (4,), [0, 0, 0, 1])}
NAN = float("nan")
NO_MASKS = dict.fromkeys(("train_mask", "val_mask", "test_mask"))
INDEX = {"train_idx": ("q", (2,), [0, 1]), "valid_idx": ("q", (1,), [2]),
         "test_idx": ("q", (1,), [3])}
NO_NODES = {**NO_MASKS, "edge_index": None, "x": None, "y": None}
BSR, CSC = (files.npy("B", (), list(kind), "|S3") for kind in (b"bsr", b"csc"))
SCIPY = {"indices": ("i", (2,), [1, 3]), "indptr": ("i", (5,), [0, 1, 1, 2, 2]),
         "data": ("d", (2,), [1, 2]), "shape": ("q", (2,), [4, 4]),
         "format": files.npy("B", (), list(b"csr"), "|S3")}
COO = {"row": ("q", (2,), [0, 2]), "col": ("q", (2,), [1, 3]), "data": ("d", (2,), [1, 2]),
       "shape": ("q", (2,), [4, 4]), "format": files.npy("B", (), list(b"coo"), "|S3")}


def npz(name, compression=zipfile.ZIP_STORED, **change):
    arrays = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    files.write_npz(r.path(name + ".npz"), arrays, compression)
    return r.path(name + ".npz")


for name, change, what in (
    ("edge", {"edge_index": ("q", (2, 2), [0, 1, 1, 4])}, "4"),
    ("negative_edge", {"edge_index": ("q", (2, 2), [0, 1, 1, -1])},
     "edge_index: edge 1 ends at -1: expected a node"),
    ("edge_shape", {"edge_index": ("q", (8,), [0] * 8)}, "edge_index: shape [8]"),
    ("edge_float", {"edge_index": ("f", (2, 2), [0, 0.5, 1, 1])}, "edge_index"),
    ("features_nan", {"x": ("f", (4, 2), [1, 0, 0, NAN, 1, 1, 0, 0])},
     "x: row 1, column 1 is nan: expected finite numbers, and 1 of 8 are not"),
    ("features_inf", {"x": ("d", (4, 2), [1, 0, 0, 1e300, 1, 1, 0, 0])}, "x: row 1, column 1"),
    ("features_rows", {"x": ("f", (3, 2), [0] * 6)}, "x"),
    ("labels_short", {"y": ("q", (3,), [0, 1, 0])}, "y: shape [3]: expected one label a node"),
    ("labels_huge", {"y": ("q", (4,), [0, 1, 0, 2 ** 40])}, "y[3]"),
    ("labels_negative", {"y": ("q", (4,), [0, 1, 0, -2])}, "y[3]"),
    ("mask_short", {"val_mask": ("?", (3,), [0, 0, 1])}, "val_mask: shape [3]: expected [nodes], "
     "[splits, nodes] or [nodes, splits]; numbers of nodes are read under `train_idx`"),
    ("mask_long", {"train_mask": ("?", (5,), [1] * 5)}, "train_mask: shape [5]"),
    ("mask_missing", {"test_mask": None}, "expected masks for train, val and test, or none"),
    ("index_out", {**NO_MASKS, **INDEX, "test_idx": ("q", (1,), [4])},
     "test_idx[0] is 4: expected a node from 0 to 3"),
    ("index_negative", {**NO_MASKS, **INDEX, "train_idx": ("q", (1,), [-1])},
     "train_idx[0] is -1: expected a node"),
    ("index_mask", {**NO_MASKS, **INDEX, "train_idx": ("?", (4,), [1, 1, 0, 0])},
     "train_idx is of booleans: expected numbers of nodes"),
    ("index_missing", {**NO_MASKS, **INDEX, "valid_idx": None},
     "expected numbers of nodes for train, valid and test, or none"),
    ("index_shape", {**NO_MASKS, **INDEX, "valid_idx": ("q", (1, 2), [0, 1])},
     "valid_idx: shape [1, 2]: expected a vector"),
    ("labels_many", {"y": ("q", (4, 2), [0, 1] * 4)},
     "y: shape [4, 2]: expected one label a node; several numbers a node"),
    ("nodes_few", {"num_nodes": ("q", (), [3])},
     "num_nodes: says 3 nodes: expected 4, as the edges name, to 2147483647"),
    ("nodes_many", {"num_nodes": ("q", (), [2 ** 40])},
     "num_nodes: says 1099511627776 nodes: expected 4"),
    ("nodes_two", {"num_nodes": ("q", (2,), [4, 4])}, "num_nodes: expected one whole number"),
    ("nodes_half", {"num_nodes": ("d", (), [4.5])}, "num_nodes: expected one whole number"),
    ("edges_turned", {"edge_index": ("q", (4, 2), [0, 1] * 4)},
     "expected [2, edges]; [edges, 2] is read under `edges`"),
    ("edges_apart", {**NO_NODES, "edge_index": ("q", (2, 1), [0, 2 * 10 ** 9])},
     "1 edges, and a node 2000000000: nodes are numbered"),
    ("scipy_bsr", {**NO_NODES, **SCIPY, "format": BSR},
     "a matrix of scipy in the format 'bsr': expected csr, csc or coo"),
    ("scipy_oblong", {**NO_NODES, **SCIPY, "shape": ("q", (2,), [4, 5])},
     "4 x 5: expected a square matrix"),
    ("scipy_columns",
     {**NO_NODES, **SCIPY, "format": CSC, "indptr": ("i", (6,), [0, 1, 1, 2, 2, 2]),
      "shape": ("q", (2,), [4, 5])}, "4 x 5: expected a square matrix"),
    ("scipy_negative", {**NO_NODES, **COO, "shape": ("q", (2,), [-1, -1])},
     "-1 x -1: expected a square matrix"),
    ("scipy_huge", {**NO_NODES, **SCIPY, "shape": ("q", (2,), [2 ** 62, 2 ** 62])},
     "expected a square matrix, one row and column a node, at most"),
    ("scipy_lonely", {**NO_NODES, **COO, "data": ("d", (1,), [1])},
     "data: shape [1]: expected [2]"),
    ("scipy_nan", {**NO_NODES, **COO, "data": ("d", (2,), [1, NAN])},
     "the weight of edge 1 is nan: expected a finite number"),
    ("scipy_outside", {**NO_NODES, **COO, "col": ("q", (2,), [1, 4])},
     "entry 1 is (2, 4): expected rows and columns below 4"),
    ("weights_short", {"edge_weight": ("f", (3,), [1] * 3)}, "edge_weight"),
    ("weights_nan", {"edge_weight": ("f", (4,), [1, 1, NAN, 1])}, "edge_weight"),
    ("object", {"x": files.npy("b", (4, 2), [0] * 8, "|O")}, "x"),
    ("structured", {"x": files.npy("b", (4, 2), [0] * 8, "[('a', '<f4')]")}, "x"),
    ("bomb", {"x": files.npy("b", (10 ** 6, 10 ** 6), [], "<f4")}, "x"),
    ("overflow", {"x": files.npy("b", (2 ** 40, 2 ** 40), [], "<f4")}, "x"),
    ("no_header", {"x": b"\x93NUMPY\x01\x00\xff\xff"}, "x"),
    ("no_npy", {"x": b"hello"}, "x"),
    ("empty_entry", {"x": b""}, "x"),
):
    data(3, what, npz(name, **change))
with zipfile.ZipFile(r.path("data.pt"), "w") as z:
    z.writestr("data/data.pkl", pickle.dumps(1))
data(3, "data.pt: a file of torch.save: expected .npz; in Python: d = torch.load",
     r.path("data.pt"))
NO_FEATURES = ("`F` is the number of features, and the data has none; --features identity, degree "
               "or ones makes some")
data(1, NO_FEATURES, r.write("no_features.txt", "0 1\r\n1 2\r\n"), "--classes", 2)
data(1, NO_FEATURES, npz("no_features", x=None))
data(1, "`C` is the number of classes, and the data has none; --classes N",
     npz("no_classes", y=None))
data(2, "3 classes are asked for, but the labels have 4",
     npz("classes", y=("q", (4,), [0, 1, 3, 1])), "--classes", 3)
data(2, "split 1: there is only 1", npz("split"), "--split", "1")
SPLITS = {f"{name}_masks": ("?", (1, 4), [1, 1, 1, 1]) for name in ("train", "val", "test")}
data(2, "edges with attributes cannot be made undirected; --undirected off leaves them",
     npz("heterophilous", **NO_MASKS, **SPLITS, edge_index=None,
         edges=("q", (4, 2), [0, 1, 1, 2, 2, 3, 3, 1]), edge_attr=("f", (4, 1), [1, 2, 3, 4])))
data(3, "has no labels, which training needs", npz("no_labels", y=None), "--classes", 2)
FINE = (0, 4)  # 4: built without a back end
r.survives(FINE, "train", MODEL, "--data", npz("good"), "-q", "--epochs", "2", "-O", "eager")
NONE = ("?", (4,), [0] * 4)
r.survives(FINE, "run", MODEL, "--data", npz("empty_masks", train_mask=NONE, val_mask=NONE), "-q")

# Zip files that lie, or end too soon.
good = open(npz("whole", zipfile.ZIP_DEFLATED), "rb").read()
for n in range(0, len(good), 61):
    data(3, "", r.write("cut.npz", good[:n]))
for k in range(1, 40):  # the directory at the end: counts, sizes, offsets
    at = len(good) - 12 * k
    lie = r.write("lie.npz", good[:at] + b"\xff\xff\xff\xff" + good[at + 4:])
    r.survives((*FINE, 1, 3), "run", MODEL, "-O0", "--data", lie)
data(3, "not.npz", r.write("not.npz", b"PK\x03\x04" + bytes(40)))
zeros = files.npy("f", (4, 2), [0] * 8)
with zipfile.ZipFile(r.path("zeros.npz"), "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("edge_index.npy", files.npy(*GOOD["edge_index"]))
    z.writestr("x.npy", zeros + bytes(64 << 20))
data(3, "x", r.path("zeros.npz"))

# Planetoid: pickles that are cut, too deep, too large, or that call what a pickle can call.
SOURCE = os.path.join(runs.SAMPLES, "..", "tests", "data", "planetoid", "p2")


def planetoid(name, part, content):
    folder = r.path(name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE, folder)
    with open(os.path.join(folder, "ind.tiny." + part), "wb") as f:
        f.write(content)
    return folder


class Call:
    def __reduce__(self):
        return os.system, ("echo called >&2; touch %s" % r.path("called"),)


graph = open(os.path.join(SOURCE, "ind.tiny.graph"), "rb").read()
allx = open(os.path.join(SOURCE, "ind.tiny.allx"), "rb").read()
for name, part, content, what in (
    ("call", "allx", pickle.dumps(Call(), 2), "allx"),
    ("call_graph", "graph", pickle.dumps({0: [Call()]}, 4), "graph"),
    ("no_pickle", "allx", b"hello", "allx"),
    ("empty", "graph", b"", "graph"),
    ("deep", "graph", b"\x80\x02" + b"]" * 10 ** 6 + b"a" * 10 ** 6 + b".", "graph"),
    ("tuples", "graph", b"\x80\x02)" + b"\x85" * 10 ** 6 + b".", "graph"),
    ("marks", "graph", b"\x80\x02" + b"(" * 10 ** 6 + b".", "graph"),
    ("long_string", "graph", b"\x80\x02X\xff\xff\xff\xff.", "graph"),
    ("longer_string", "graph", b"\x80\x04\x8d" + b"\xff" * 8 + b".", "graph"),
    ("memo", "graph", b"\x80\x02}r\xff\xff\xff\xff.", "graph"),
    ("no_memo", "graph", b"\x80\x02j\xff\xff\xff\x7f.", "graph"),
    ("pop", "graph", b"\x80\x02000000.", "graph"),
    ("self", "graph", b"\x80\x02]q\x00h\x00a.", "graph"),
    ("long", "graph", b"\x80\x02\x8b\xff\xff\xff\x7f", "graph"),
    ("dict_of_lists", "graph", pickle.dumps({0: 1}, 2), "graph"),
    ("outside", "graph", pickle.dumps({0: [12]}, 2), "12"),
    ("negative", "graph", pickle.dumps({0: [-1]}, 2), "expected a node below 12"),
    ("text_node", "graph", pickle.dumps({"a": [1]}, 2), "graph"),
    ("test_index", "test.index", b"10\n7\n11\n-8\n", "test.index"),
    ("test_words", "test.index", b"ten\n", "test.index"),
    ("test_many", "test.index", b"10\n7\n11\n8\n9\n", "4 rows, but the test index has 5 nodes"),
    ("test_huge", "test.index", b"10\n7\n11\n999999999999\n", "test.index"),
    ("labels", "ally", allx, "ally"),
):
    data(3, what, planetoid(name, part, content))
e = r.run("run", MODEL, "-O0", "--data",
          planetoid("sets", "graph", pickle.dumps({0: {1, 2}, 4: frozenset((5,))}, 4)))
assert (e.returncode == 0 and b"12 nodes, 3 edges" in e.stderr) or e.returncode == 4, e.stderr
for n in range(0, len(allx), 37):
    data(3, "allx", planetoid("cut", "allx", allx[:n]))
for n in range(0, len(graph), 23):
    data(3, "graph", planetoid("cut", "graph", graph[:n]))
assert not os.path.exists(r.path("called")), "a pickle called a program"
os.remove(os.path.join(planetoid("missing", "graph", graph), "ind.tiny.ty"))
data(3, "ind.tiny.ty", r.path("missing"))
data(3, "no data in this folder or its raw/: looked for ind.NAME.graph of Planetoid, NAME_A.txt of "
     "the TU", r.folder)
data(3, "No such file or directory", r.path("nowhere"))
data(3, "expected a node", os.path.abspath(__file__))

# Other folders: files of which one is missing or wrong.
def folder(name, **parts):
    shutil.rmtree(r.path(name), ignore_errors=True)
    os.makedirs(r.path(name))
    for part, text in parts.items():
        r.write(os.path.join(name, part.replace("__", ".")), text)
    return r.path(name)


data(3, "t_graph_indicator.txt': No such file", folder("tu1", t_A__txt="1 2\n"))
data(3, "t_A.txt:2: '3': expected a node from 1 to 2",
     folder("tu2", t_A__txt="1 2\n1 3\n", t_graph_indicator__txt="1\n1\n"))
data(3, "train.txt:1: 2 fields: expected `head relation tail`", folder("kg", train__txt="a b\n"))
data(3, "training.int.csv': No such file", folder("rdf", triples__int__csv="0,0,1\n"))
data(3, "num-edge-list.csv': No such file",
     folder("ogb", **{"edge__csv": "0,1\n", "num-node-list__csv": "2\n"}))

# synthetic:
for text, what in (("", "expected at least nodes=N,edges=E"),
                   ("nodes=0,edges=2", "nodes=0: expected a whole number from 1"),
                   ("nodes=-1,edges=2", "nodes=-1"),
                   ("nodes=9999999999,edges=2", "nodes=9999999999"), ("nodes=x,edges=2", "nodes=x"),
                   ("nodes=10,edges=7", "edges=7: expected an even number"),
                   ("nodes=10,edges=20,foo=1", "unknown key 'foo'"),
                   ("nodes=10,edges=20,classes=999999999", "classes=999999999"),
                   ("nodes=10,edges=20,density=2", "density=2")):
    data(2, what, "synthetic:" + text)
r.done()
