"""Tensors in and out, graphs of all kinds; what wants NumPy, SciPy, torch or PyG skips itself."""

import array
import ctypes
import gc
import unittest
import weakref

import gnnc
from gnnc import _arrays
from support import GCN, SAGE, WEIGHTED, Cora, flat, have

GRAPH = "model M() (g: graph, x: node[F]) -> node[F] { return sum(u -> v in g: x[u]) + x }"
X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
OUT = [[1.0, 2.0], [4.0, 6.0], [9.0, 12.0]]  # of 0 -> 1, 0 -> 2, 1 -> 2


def run_of(text=GRAPH, **options):
    run = gnnc.compile(text, features=2, **options).run()
    return run.bind(graph=([0, 0, 1], [1, 2, 2]))


class WithoutNumPy(unittest.TestCase):
    def setUp(self):
        self.numpy, _arrays._numpy = _arrays._numpy, None

    def tearDown(self):
        _arrays._numpy = self.numpy

    def test_what_is_taken(self):
        run = run_of()
        flat32 = array.array("f", flat(X))
        flat64 = array.array("d", flat(X))
        for x in (X, tuple(map(tuple, X)), memoryview(flat32).cast("B").cast("f", (3, 2)),
                  memoryview(flat64).cast("B").cast("d", (3, 2)),
                  ((ctypes.c_float * 2) * 3)(*map(tuple, X)),
                  memoryview(bytes(flat32)).cast("f", (3, 2)), [[1, 2], [3, 4], [5, 6]]):
            self.assertEqual(run.infer(x=x).tolist(), OUT)

    def test_borrowed_memory_is_read_anew(self):
        run, x = run_of(), array.array("f", flat(X))
        run.infer(x=memoryview(x).cast("B").cast("f", (3, 2)))
        x[0] = 11.0
        self.assertEqual(run.infer().tolist()[0], [11.0, 2.0])
        with self.assertRaises(BufferError):
            x.append(1.0)  # the run holds it
        run.bind(x=X)
        x.append(1.0)

    def test_tensor(self):
        t = run_of().infer(x=X)
        self.assertIsInstance(t, gnnc.Tensor)
        self.assertEqual((t.shape, t.dtype, len(t), t[2][1]), ((3, 2), "float32", 3, 12.0))
        self.assertEqual(t.memory()[1, 1], 6.0)
        self.assertEqual(memoryview(t).shape, (3, 2))
        self.assertEqual(run_of().infer(x=t).tolist()[2], [14.0, 20.0])
        self.assertIn("float32", repr(t))
        self.assertEqual(t.__dlpack_device__(), (1, 0))
        for _ in range(3):
            t.__dlpack__()
        self.assertEqual(run_of().infer(x=OnlyDLPack(t)).tolist()[2], [14.0, 20.0])

    def test_results_outlive_everything(self):
        run = run_of()
        first = run.infer(x=X)
        run.infer(x=[[0.0, 0.0]] * 3)
        del run
        gc.collect()
        self.assertEqual(first.tolist(), OUT)

    def test_views_need_numpy(self):
        with self.assertRaisesRegex(gnnc.DataError, "NumPy"):
            run_of().infer(x=X, copy=False)

    def test_empty(self):
        run = gnnc.compile(GRAPH, features=2).run()
        x = (ctypes.c_float * 2 * 0)()
        got = run.infer(graph=gnnc.Graph([], [], num_nodes=0), x=x)
        self.assertEqual((got.shape, got.tolist()), ((0, 2), []))

    def test_inputs_that_are_left_out(self):
        text = ("model M() (g: graph, x: node[F], w: node[1] = none) -> node[F] "
                "{ return w == none ? x : x * w }")
        run = run_of(text)
        self.assertEqual(run.infer(x=X).tolist(), X)
        self.assertEqual(run.infer(w=[[2.0]] * 3).tolist()[1], [6.0, 8.0])
        self.assertEqual(run.infer({"w": None}).tolist(), X)


class OnlyDLPack:
    def __init__(self, of):
        self.of = of

    def __dlpack__(self, **named):
        return self.of.__dlpack__(**named)

    def __dlpack_device__(self):
        return self.of.__dlpack_device__()


class Graphs(unittest.TestCase):
    def test_kinds(self):
        ends = array.array("q", [0, 0, 1, 1, 2, 2])
        index = memoryview(ends).cast("B").cast("q", (2, 3))
        short = array.array("i", [0, 0, 1]), array.array("i", [1, 2, 2])
        for g in (gnnc.Graph([0, 0, 1], [1, 2, 2]), gnnc.Graph(index), gnnc.Graph(*short),
                  gnnc.Graph.of((short[0], short[1])), gnnc.Graph([[0, 0, 1], [1, 2, 2]]),
                  gnnc.Graph.from_csr([0, 0, 1, 3], [0, 0, 1]),
                  gnnc.Graph.from_csr(array.array("i", [0, 0, 1, 3]), short[0])):
            self.assertEqual((g.num_nodes, g.num_edges), (3, 3))
            got = gnnc.compile(GRAPH, features=2).run().infer(graph=g, x=X)
            self.assertEqual(got.tolist(), OUT)
        g = gnnc.Graph([0, 4], [1, 1], num_src=5, num_dst=2)
        self.assertEqual((g.num_src, g.num_dst), (5, 2))
        self.assertEqual(repr(g), "gnnc.Graph(5 -> 2 rows, 2 edges)")
        self.assertEqual(gnnc.Graph([0], [0], 9).num_nodes, 9)

    def test_what_is_wrong(self):
        for call in (lambda: gnnc.Graph.from_csr([0, 1], [0, 0]),
                     lambda: gnnc.Graph.from_csr([0.0, 1.0], [0]),
                     lambda: gnnc.Graph.from_csr([0, 2, 1], [0]),
                     lambda: gnnc.Graph([0.5], [0]), lambda: gnnc.Graph([0, 1], [0])):
            with self.assertRaises(gnnc.DataError):
                call()
        with self.assertRaises(gnnc.UsageError):
            gnnc.Graph([0], [0], 1, num_src=1)

    def test_look_alikes(self):
        """What is duck-typed, without the libraries that have it."""
        cora = Cora(nodes=60)
        want = gnnc.compile(SAGE, data=cora.data()).run(cora.data(), seed=1).infer().tolist()

        class Pyg:
            x, y, edge_index = cora.x, cora.y, (cora.src, cora.dst)
            train_mask, val_mask, num_nodes, name = cora.train_mask, cora.val_mask, 60, "small"

            def keys(self):
                return ["x", "y", "edge_index", "train_mask", "val_mask", "name"]

        class Dgl:
            ntypes, canonical_etypes = ["n"], [("n", "e", "n")]
            ndata = {"feat": cora.x, "label": cora.y, "train_mask": cora.train_mask}
            edata = {}

            def edges(self):
                return cora.src, cora.dst

            def num_nodes(self, of=None):
                return 60

        for thing in (Pyg(), Dgl()):
            run = gnnc.compile(SAGE, data=thing, train=True).run(thing, seed=1)
            self.assertEqual(run.infer().tolist(), want)
            run.step()

    def test_pooled(self):
        text = ("model P() (g: graph, x: node[F], member: node -> graph) -> graph[C] "
                "{ return Linear(C)(sum(v -> m in member: x[v])) }")

        class Batch:
            x, edge_index, batch, num_graphs = X, ([0, 0, 1], [1, 2, 2]), [0, 0, 1], 2
            y, num_nodes = [0, 1], 3

            def keys(self):
                return ["x", "edge_index", "batch", "y"]

        run = gnnc.compile(text, data=Batch(), train=False).run(Batch())
        self.assertEqual(tuple(run.infer().shape), (2, 2))


@unittest.skipIf(have("numpy"), "no NumPy")
class WithNumPy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import numpy
        cls.np = numpy
        _arrays._numpy = numpy

    def test_layouts(self):
        np, run = self.np, run_of()
        x = np.array(X, "f")
        wide = np.zeros((3, 5), "f")
        wide[:, 1:3] = x
        big = x.astype(x.dtype.newbyteorder())
        packed = np.zeros(3, [("a", "i1"), ("x", "f4", 2)])
        packed["x"] = x
        frozen = x.copy()
        frozen.flags.writeable = False
        for value in (x, x.astype("d"), x.astype("e"), np.asfortranarray(x), wide[:, 1:3],
                      x[::-1][::-1], np.ascontiguousarray(x[::-1])[::-1], big, packed["x"],
                      frozen):
            got = run.infer(x=value)
            self.assertIsInstance(got, np.ndarray)
            self.assertEqual(got.tolist(), OUT)
        with self.assertRaises(gnnc.DataError):
            run.bind(x=np.array([["a"]]))

    def test_results(self):
        np, run = self.np, run_of()
        a, b = run.infer(x=np.array(X, "f")), run.infer(copy=False)
        self.assertTrue(a.flags.owndata or a.base is None)
        self.assertEqual(b.tolist(), OUT)
        out = np.empty((3, 2), "f")
        self.assertIs(run.infer(out=out), out)
        self.assertEqual(out.tolist(), OUT)
        with self.assertRaises(gnnc.DataError):
            run.infer(out=np.empty((3, 2), "i4"))

    def test_weights_are_views(self):
        np, cora = self.np, Cora(nodes=60)
        run = gnnc.compile(SAGE, data=cora.data()).run(cora.data())
        view = run.state.weight("b.lin_l.bias", copy=False)
        before = run.infer()
        view += 1
        self.assertTrue(np.allclose(run.infer(), before + 1, atol=1e-5))
        state = weakref.ref(run.state)
        del run
        gc.collect()
        self.assertIsNotNone(state())
        view[0] = 3
        del view
        gc.collect()
        self.assertIsNone(state())

    def test_borrowed_arrays_live(self):
        np, run = self.np, run_of()
        run.infer(x=np.array(X, "f"))
        gc.collect()
        junk = [np.full((3, 2), 9, "f") for _ in range(100)]
        self.assertEqual(run.infer().tolist(), OUT)
        del junk

    def test_masks_and_labels(self):
        np, cora = self.np, Cora(nodes=60)
        data = cora.data()
        data.update(y=np.array(cora.y, "q"), train_mask=np.array(cora.train_mask, bool),
                    x=np.asarray(cora.x), edge_index=np.array([cora.src, cora.dst]))
        a = gnnc.compile(GCN, data=data, train=True).run(data)
        b = gnnc.compile(GCN, data=cora.data(), train=True).run(cora.data())
        self.assertEqual(a.steps(3), b.steps(3))
        self.assertEqual(a.accuracy("train_mask"), b.accuracy("train_mask"))
        self.assertEqual(gnnc.accuracy([[0, 1], [1, 0]], [1, -1]), 1.0)


@unittest.skipIf(have("numpy", "scipy"), "no SciPy")
class WithSciPy(unittest.TestCase):
    def test_matrices(self):
        import scipy.sparse as sp
        for of in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array):
            a = of(([1.0, 1.0, 1.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
            g = gnnc.Graph(a)
            self.assertEqual((g.num_edges, g.values), (3, None))
            self.assertEqual(gnnc.compile(GRAPH, features=2).run().infer(graph=a, x=X).tolist(),
                             OUT)
        a = sp.csc_matrix(([2.0, 3.0], ([0, 1], [1, 2])), shape=(3, 3))
        run = gnnc.compile(WEIGHTED, features=2, classes=2, edge_weights=True).run()
        got = run.infer(graph=a, x=X)
        want = run.infer({"g.weight": [2.0, 3.0]}, graph=([0, 1], [1, 2]), x=X)
        self.assertEqual(got.tolist(), want.tolist())

    def test_sparse_features(self):
        import numpy as np
        import scipy.sparse as sp
        cora = Cora(nodes=60)
        x = (np.asarray(cora.x) > 0.9).astype("f")
        data = {**cora.data(), "x": sp.csr_matrix(x)}
        run = gnnc.compile(GCN, features=8, classes=3, sparse=True).run(seed=1)
        got = run.infer({"x": data["x"]}, graph=gnnc.Graph(cora.src, cora.dst, 60))
        want = gnnc.compile(GCN, features=8, classes=3).run(seed=1).infer(
            graph=gnnc.Graph(cora.src, cora.dst, 60), x=x)
        self.assertTrue(np.allclose(got, want, atol=1e-5))
        with self.assertRaises(gnnc.DataError):
            run.bind(x=sp.csr_matrix(x[:, :3]))


@unittest.skipIf(have("torch"), "no torch")
class WithTorch(unittest.TestCase):
    def test_tensors(self):
        import torch
        run, x = run_of(), torch.tensor(X)
        for value in (x, x.double(), x.half(), x.bfloat16(), x.t().contiguous().t(),
                      x.clone().requires_grad_(), torch.nn.Parameter(x)):
            self.assertEqual(run.infer(x=value).tolist(), OUT)
        run.infer(x=x)
        x[0, 0] = 7
        self.assertEqual(run.infer().tolist()[0], [7.0, 2.0])
        index = torch.tensor([[0, 0, 1], [1, 2, 2]])
        for value in (index, index.int(), index.t().contiguous().t()):
            self.assertEqual(gnnc.Graph(value, num_nodes=3).num_edges, 3)
        self.assertEqual(gnnc.compile(GRAPH, features=2).run().infer(
            graph=index, x=torch.tensor(X)).tolist(), OUT)
        out = torch.empty(3, 2)
        run.infer(x=torch.tensor(X), out=out)
        self.assertEqual(out.tolist(), OUT)
        numpy, _arrays._numpy = _arrays._numpy, None
        try:
            t = torch.from_dlpack(run_of().infer(x=X))
        finally:
            _arrays._numpy = numpy
        gc.collect()
        self.assertEqual(t.tolist(), OUT)

    def test_optimizer_of_torch(self):
        import torch
        cora = Cora(nodes=60)
        weights = {"a.weight": torch.nn.Parameter(torch.randn(4, 8)),
                   "a.bias": torch.nn.Parameter(torch.zeros(4)),
                   "b.weight": torch.nn.Parameter(torch.randn(3, 4)),
                   "b.bias": torch.nn.Parameter(torch.zeros(3))}
        data = {**cora.data(), "edge_weight": torch.rand(len(cora.src))}
        run = gnnc.compile(WEIGHTED, data=data, gradients="weights").run(data)
        run.bind_weights(weights)
        optimizer = torch.optim.Adam(weights.values(), lr=0.05)
        y = torch.tensor(list(cora.y)).long()
        losses = []
        for _ in range(60):
            out = torch.as_tensor(run.forward()).requires_grad_()
            loss = torch.nn.functional.cross_entropy(out, y)
            loss.backward()
            run.backward(out.grad)
            for name, g in run.gradients().items():
                weights[name].grad = torch.as_tensor(g)
            optimizer.step()
            losses.append(float(loss.detach()))
        self.assertLess(losses[-1], 0.7 * losses[0])
        before = run.state.weights()
        run.state.load_weights({k: v.detach() for k, v in weights.items()})
        self.assertEqual(flat(run.state.weight("a.weight")), flat(weights["a.weight"]))
        self.assertNotEqual(flat(before["a.weight"]), flat(weights["a.weight"]))
        with self.assertRaisesRegex(gnnc.DataError, "a.bias"):
            run.bind_weights({"a.weight": weights["a.weight"]})


@unittest.skipIf(have("torch", "torch_geometric"), "no PyTorch Geometric")
class WithPyG(unittest.TestCase):
    def test_data_and_weights(self):
        import torch
        from torch_geometric.data import Data
        from torch_geometric.nn import GCNConv
        cora = Cora(nodes=60)
        data = Data(x=torch.tensor(cora.x.tolist()), y=torch.tensor(list(cora.y)),
                    edge_index=torch.tensor([list(cora.src), list(cora.dst)]),
                    train_mask=torch.tensor(list(cora.train_mask)).bool(),
                    val_mask=torch.tensor(list(cora.val_mask)).bool())

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = GCNConv(8, 16), GCNConv(16, 3)

            def forward(self, x, e):
                return self.b(self.a(x, e).relu(), e)

        net = Net().eval()
        run = gnnc.compile(GCN, data=data, train=True).run(data)
        run.state.load_weights(net)
        want = net(data.x, data.edge_index).detach()
        self.assertLess(float((torch.as_tensor(run.infer()) - want).abs().max()), 1e-5)
        run.bind_weights(net)
        self.assertLess(float((torch.as_tensor(run.infer()) - want).abs().max()), 1e-5)
        history = run.fit(40, validate="val_mask")
        self.assertLess(history.losses[-1], history.losses[0])
        trained = net(data.x, data.edge_index).detach()  # trained where they lie
        self.assertGreater(float((trained - want).abs().max()), 1e-3)

    def test_hetero(self):
        import os
        import torch
        from torch_geometric.data import HeteroData
        from support import ROOT
        data = HeteroData()
        data["paper"].x = torch.rand(90, 4)
        data["paper"].y = torch.arange(90) % 3
        data["paper"].train_mask = torch.arange(90) % 9 < 3
        data["author"].num_nodes = 30
        p = torch.arange(90).repeat(3)
        a = torch.randint(0, 10, (270,)) * 3 + p % 3
        data["author", "writes", "paper"].edge_index = torch.stack([a, p])
        data["paper", "rev_writes", "author"].edge_index = torch.stack([p, a])
        run = gnnc.compile(os.path.join(ROOT, "samples", "hgt.gnn"), data=data, train=True).run(
            data)
        losses = run.steps(20)
        self.assertLess(losses[-1], losses[0])
        self.assertEqual(run.infer().shape, (90, 3))

    def test_many_graphs(self):
        import torch
        from torch_geometric.data import Batch, Data
        batch = Batch.from_data_list([
            Data(x=torch.rand(n, 2), edge_index=torch.tensor([[0, 1], [1, 0]]),
                 y=torch.tensor([n % 2])) for n in (2, 3, 4)])
        text = ("model P() (g: graph, x: node[F], member: node -> graph) -> graph[C] "
                "{ return Linear(C)(sum(v -> m in member: x[v])) }")
        self.assertEqual(gnnc.compile(text, data=batch).run(batch).infer().shape, (3, 2))

    def test_edge_index(self):
        import torch
        from torch_geometric import EdgeIndex
        index = EdgeIndex([[0, 0, 1], [1, 2, 2]], sparse_size=(3, 3), sort_order="row")
        self.assertEqual(gnnc.compile(GRAPH, features=2).run().infer(
            graph=index, x=torch.tensor(X)).tolist(), OUT)


@unittest.skipIf(have("dgl", "torch"), "no DGL")
class WithDGL(unittest.TestCase):
    def test_graphs(self):
        import os
        import dgl
        import torch
        from support import ROOT
        cora = Cora(nodes=60)
        g = dgl.graph((torch.tensor(list(cora.src)), torch.tensor(list(cora.dst))), num_nodes=60)
        g.ndata.update(feat=torch.tensor(cora.x.tolist()), label=torch.tensor(list(cora.y)),
                       train_mask=torch.tensor(list(cora.train_mask)).bool())
        want = gnnc.compile(SAGE, data=cora.data()).run(cora.data(), seed=1).infer()
        run = gnnc.compile(SAGE, data=g, train=True).run(g, seed=1)
        self.assertEqual(run.infer().tolist(), want.tolist())
        run.step()
        self.assertEqual(gnnc.Graph(g).num_edges, g.num_edges())
        p = torch.arange(90).repeat(3)
        a = torch.randint(0, 10, (270,)) * 3 + p % 3
        h = dgl.heterograph({("author", "writes", "paper"): (a, p),
                             ("paper", "rev_writes", "author"): (p, a)},
                            num_nodes_dict={"paper": 90, "author": 30})
        h.nodes["paper"].data.update(feat=torch.rand(90, 4), label=torch.arange(90) % 3,
                                     train_mask=torch.arange(90) % 9 < 3)
        run = gnnc.compile(os.path.join(ROOT, "samples", "hgt.gnn"), data=h, train=True).run(h)
        losses = run.steps(20)
        self.assertLess(losses[-1], losses[0])
        with self.assertRaisesRegex(gnnc.DataError, "several types"):
            gnnc.Graph(h)


if __name__ == "__main__":
    unittest.main()
