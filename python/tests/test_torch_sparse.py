"""Features of few non-zeros under torch.compile(model, backend="gnnc"): the same results and
gradients as eager whatever they hold, also when that changes.

Skipped without torch and PyTorch Geometric.
"""

import unittest
import warnings

try:
    import torch
    import torch_geometric  # noqa: F401
except ImportError:
    raise unittest.SkipTest("needs torch and torch_geometric") from None

import numpy
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE

from gnnc.torch import _matrices, backend, explain, stats

warnings.filterwarnings("ignore", category=FutureWarning)
NODES, EDGES, WIDTH, OUT = 70, 300, 120, 5
MODELS = {
    "GCN": lambda: GCN(WIDTH, 16, 2, OUT),
    "GraphSAGE": lambda: GraphSAGE(WIDTH, 16, 2, OUT),
    "GIN": lambda: GIN(WIDTH, 16, 2, OUT),
    "GAT": lambda: GAT(WIDTH, 16, 2, OUT, heads=2),
}


def features(kind, nodes=NODES, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = (torch.rand(nodes, WIDTH, generator=g) < .05).float()
    if kind == "rows":
        x = x * torch.rand(nodes, 1, generator=g)
    elif kind == "any":
        x = x * torch.randn(nodes, WIDTH, generator=g)
    elif kind is None:
        x = torch.randn(nodes, WIDTH, generator=g)
    return x


def edges(nodes=NODES):
    return torch.randint(0, nodes, (2, EDGES), generator=torch.Generator().manual_seed(1))


class Sparse(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(11)
        self.addCleanup(torch._dynamo.reset)

    def results(self, f, model, x, e):
        model.zero_grad()
        out = f(x, e)
        (out * torch.linspace(-1, 1, out.numel()).view(out.shape)).sum().backward()
        return [out.detach()] + [p.grad for p in model.parameters()]

    def same(self, model, f, x, e):
        for a, b in zip(self.results(f, model, x, e), self.results(model, model, x, e)):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)

    def test_all_kinds_and_models(self):
        for kind in ("ones", "rows", "any"):
            x, e = features(kind), edges()
            self.assertEqual(_matrices.kind_of(x), kind)
            for name, make in MODELS.items():
                with self.subTest(kind=kind, model=name):
                    torch._dynamo.reset()
                    model = make()
                    self.same(model, torch.compile(model, backend=backend), x, e)

    def test_they_are_relations(self):
        for name, make in MODELS.items():
            text = explain(make(), features("ones"), edges()).programs()
            for program in text:
                self.assertIn('graph "s0"', program, name)
                self.assertNotRegex(program, rf'input "i[0-9]+" : n[0-9]+ f32\[{WIDTH}\]', name)
            self.assertNotIn('graph "s0"', "".join(explain(make(), features(None),
                                                           edges()).programs()))

    def test_other_features_of_the_same_model(self):
        model, e = MODELS["GCN"](), edges()
        f = torch.compile(model, backend=backend)
        for kind in ("ones", None, "any", "rows", "ones"):
            self.same(model, f, features(kind), e)

    def test_what_is_written_to_is_looked_at_again(self):
        model, e, x = MODELS["GraphSAGE"](), edges(), features("ones")
        f = torch.compile(model, backend=backend)
        self.same(model, f, x, e)
        x[3, 7] = 2.5
        self.same(model, f, x, e)
        x[5] = torch.randn(WIDTH)
        self.same(model, f, x, e)
        x.normal_()
        self.same(model, f, x, e)
        x.zero_()
        self.same(model, f, x, e)

    def test_memory_that_is_taken_again(self):
        model, e = MODELS["GCN"](), edges()
        f = torch.compile(model, backend=backend)
        for k in range(12):
            self.same(model, f, features("any", seed=k), e)

    def test_other_storage_of_the_same_tensor(self):
        model, e, x = MODELS["GCN"](), edges(), features("ones")
        f = torch.compile(model, backend=backend)
        self.same(model, f, x, e)
        x.data = features("ones", seed=4)
        self.same(model, f, x, e)

    def test_numpys_memory_stays_dense(self):
        model, e = MODELS["GCN"](), edges()
        own = features("ones").numpy().copy()
        x = torch.from_numpy(own)
        self.assertIsNone(_matrices.kind_of(x))
        f = torch.compile(model, backend=backend)
        self.same(model, f, x, e)
        own[numpy.arange(NODES), numpy.arange(NODES)] = 3
        self.same(model, f, x, e)

    def test_sizes_strides_and_no_rows(self):
        model = MODELS["GIN"]()
        f = torch.compile(model, backend=backend)
        for nodes in (NODES, 90, 61):
            self.same(model, f, features("any", nodes), edges(nodes))
        self.same(model, f, features("ones").t().contiguous().t(), edges())
        wide = features("rows").repeat(1, 2)
        self.same(model, f, wide[:, :WIDTH], edges())

    def test_without_gradients_and_in_inference_mode(self):
        model, x, e = MODELS["GAT"]().eval(), features("rows"), edges()
        f = torch.compile(model, backend=backend)
        want = model(x, e).detach()
        with torch.no_grad():
            torch.testing.assert_close(f(x, e), want, rtol=1e-4, atol=1e-5)
        with torch.inference_mode():
            own = x.clone()
            torch.testing.assert_close(f(own, e), want, rtol=1e-4, atol=1e-5)
            own.mul_(2)
            torch.testing.assert_close(f(own, e), model(own, e), rtol=1e-4, atol=1e-5)

    def test_features_that_need_gradients(self):
        model, e = MODELS["GCN"](), edges()
        f = torch.compile(model, backend=backend)
        grads = []
        for g in (f, model):
            x = features("any").requires_grad_()
            g(x, e).square().sum().backward()
            grads.append(x.grad)
        torch.testing.assert_close(grads[0], grads[1], rtol=1e-4, atol=1e-4)

    def test_batches_are_not_all_looked_at(self):
        model, e = MODELS["GCN"](), edges()
        f = torch.compile(model, backend=backend)
        with torch.no_grad():
            for k in range(9):
                f(features("ones", seed=k), e)
            seen = len(_matrices._known)
            for k in range(9, 20):
                f(features("ones", seed=k), e)
        self.assertLessEqual(len(_matrices._known), max(seen, 3))

    def test_relations_are_made_once(self):
        model, x, e = MODELS["GCN"](), features("ones"), edges()
        f = torch.compile(model, backend=backend)
        f(x, e).sum().backward()
        before = stats()["compiled"], len(_matrices._known)
        for _ in range(3):
            f(x, e).sum().backward()
        self.assertEqual((stats()["compiled"], len(_matrices._known)), before)


if __name__ == "__main__":
    unittest.main()
