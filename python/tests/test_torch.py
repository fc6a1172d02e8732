"""torch.compile(model, backend="gnnc") against eager: results, gradients, sizes, draws, cuts.

Skipped without torch and PyTorch Geometric.  `make test-torch PYTHON=...` runs it.
"""

import copy
import threading
import unittest
import warnings

try:
    import torch
    import torch_geometric  # noqa: F401
except ImportError:
    raise unittest.SkipTest("needs torch and torch_geometric") from None

import torch.nn.functional as F
from torch_geometric.nn import GCNConv, global_add_pool, global_max_pool, global_mean_pool
from torch_geometric.nn.models import GAT, GCN, GIN, PNA, EdgeCNN, GraphSAGE

import gnnc.torch
from gnnc.torch import Mismatch, backend, explain, stats

warnings.filterwarnings("ignore", category=FutureWarning)
IN, HIDDEN, OUT = 9, 16, 5


def graph(nodes=40, edges=160, seed=0, loops=True):
    g = torch.Generator().manual_seed(seed)
    e = torch.randint(0, nodes, (2, edges), generator=g)
    if not loops:
        e[1] = torch.where(e[0] == e[1], (e[1] + 1) % nodes, e[1])
    return torch.randn(nodes, IN, generator=g), e


MODELS = {
    "GCN": lambda p: GCN(IN, HIDDEN, 2, OUT, dropout=p),
    "GraphSAGE": lambda p: GraphSAGE(IN, HIDDEN, 2, OUT, dropout=p),
    "SAGE max": lambda p: GraphSAGE(IN, HIDDEN, 2, OUT, dropout=p, aggr="max"),
    "SAGE narrow": lambda p: GraphSAGE(IN, 4, 3, OUT, dropout=p),
    "GIN": lambda p: GIN(IN, HIDDEN, 2, OUT, dropout=p),
    "GIN narrow": lambda p: GIN(IN, 4, 2, OUT, dropout=p, train_eps=True),
    "GAT": lambda p: GAT(IN, HIDDEN, 2, OUT, dropout=p, heads=2),
    "GATv2": lambda p: GAT(IN, HIDDEN, 2, OUT, dropout=p, heads=2, v2=True),
    "EdgeCNN": lambda p: EdgeCNN(IN, HIDDEN, 2, OUT, dropout=p),
    "PNA": lambda p: PNA(IN, HIDDEN, 2, OUT, dropout=p, aggregators=["mean", "min", "max", "std"],
                         scalers=["identity", "amplification", "attenuation"],
                         deg=torch.tensor([1, 4, 9, 12, 8, 4, 2])),
    "GCN jk": lambda p: GCN(IN, HIDDEN, 3, OUT, dropout=p, jk="cat", act="elu"),
}


class Base(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(11)
        self.addCleanup(torch._dynamo.reset)

    def run_one(self, f, x, args, seed=5, kwargs=None):
        x = x.clone().requires_grad_()
        for p in self.parameters:
            p.grad = None
        torch.manual_seed(seed)
        out = f(x, *args, **(kwargs or {}))
        weights = torch.linspace(-1, 1, out.numel()).view(out.shape)
        (out * weights).sum().backward()
        return out.detach(), [x.grad] + [p.grad.clone() for p in self.parameters
                                         if p.grad is not None]

    def same(self, model, compiled, x, *args, seed=5, **kwargs):
        self.parameters = list(model.parameters())
        want, grads = self.run_one(model, x, args, seed, kwargs)
        got, own = self.run_one(compiled, x, args, seed, kwargs)
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
        self.assertEqual(len(grads), len(own))
        for a, b in zip(own, grads):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


class Models(Base):
    def test_results_and_gradients(self):
        for name, make in MODELS.items():
            with self.subTest(name):
                torch._dynamo.reset()
                model = make(0.)
                self.same(model, torch.compile(model, backend=backend), *graph())

    def test_dropout_has_torchs_draws(self):
        for name, make in MODELS.items():
            with self.subTest(name):
                torch._dynamo.reset()
                model = make(.5)
                compiled = torch.compile(model, backend=backend)
                self.same(model, compiled, *graph(), seed=3)
                self.same(model, compiled, *graph(), seed=4)

    def test_eval_mode(self):
        for name, make in MODELS.items():
            with self.subTest(name):
                torch._dynamo.reset()
                model, (x, e) = make(.5).eval(), graph()
                compiled = torch.compile(model, backend=backend)
                with torch.no_grad():
                    torch.testing.assert_close(compiled(x, e), model(x, e), rtol=1e-5, atol=1e-5)

    def test_they_are_whole(self):
        for name, make in MODELS.items():
            with self.subTest(name):
                x = explain(make(.5), *graph())
                self.assertTrue(x.whole, f"{name}\n{x}")
                self.assertEqual([what for what, _ in x.graphs], ["forward", "backward"])

    def test_edge_weights_and_their_gradients(self):
        model, (x, e) = MODELS["GCN"](.5), graph()
        compiled = torch.compile(model, backend=backend)
        w = torch.rand(e.shape[1])
        self.same(model, compiled, x, e, edge_weight=w)
        grads = []
        for f in (model, compiled):
            own = w.clone().requires_grad_()
            torch.manual_seed(2)
            f(x, e, edge_weight=own).square().sum().backward()
            grads.append(own.grad)
        torch.testing.assert_close(grads[1], grads[0], rtol=1e-4, atol=1e-4)

    def test_training_goes_the_same_way(self):
        x, e = graph(60, 300)
        y = torch.arange(60) % OUT
        losses = []
        for compiled in (False, True):
            torch.manual_seed(1)
            model = MODELS["GCN"](.3)
            f = torch.compile(model, backend=backend) if compiled else model
            optimizer = torch.optim.Adam(model.parameters(), lr=.05)
            for _ in range(25):
                optimizer.zero_grad()
                loss = F.cross_entropy(f(x, e), y)
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
        self.assertAlmostEqual(*losses, delta=2e-3)


class Sizes(Base):
    def test_sizes_change_without_another_compilation(self):
        for name in ("GCN", "GraphSAGE", "GIN", "GAT"):
            with self.subTest(name):
                torch._dynamo.reset()
                model = MODELS[name](.5)
                compiled = torch.compile(model, backend=backend)
                self.same(model, compiled, *graph(31, 90, 1))
                self.same(model, compiled, *graph(47, 200, 2))
                before = stats()["compiled"]
                for k, (n, m) in enumerate(((53, 170), (12, 300), (80, 81), (200, 3000))):
                    self.same(model, compiled, *graph(n, m, k + 3))
                self.assertEqual(stats()["compiled"], before)

    def test_as_many_nodes_as_edges(self):
        for name in ("GCN", "GAT", "GraphSAGE"):
            with self.subTest(name):
                torch._dynamo.reset()
                model = MODELS[name](0.)
                compiled = torch.compile(model, backend=backend)
                self.same(model, compiled, *graph(30, 30, 1))
                self.same(model, compiled, *graph(IN, HIDDEN, 1))
                self.same(model, compiled, *graph(HIDDEN, IN, 1))

    def test_few_edges(self):
        model = MODELS["GraphSAGE"](0.)
        compiled = torch.compile(model, backend=backend)
        self.same(model, compiled, *graph(7, 30))
        self.same(model, compiled, *graph(5, 2))
        self.same(model, compiled, *graph(2, 1))
        self.same(model, compiled, *graph(6, 0))

    def test_no_edges_at_first(self):
        for name in ("GCN", "GAT", "GraphSAGE"):
            torch._dynamo.reset()
            model = MODELS[name](0.)
            self.same(model, torch.compile(model, backend=backend), *graph(6, 0))


class Graphs(Base):
    def test_a_graph_that_is_written_to_is_another(self):
        model, (x, e) = MODELS["GCN"](0.), graph()
        compiled = torch.compile(model, backend=backend)
        self.same(model, compiled, x, e)
        e[:, 3] = torch.tensor([1, 2])
        self.same(model, compiled, x, e)
        e.numpy()[0, :5] = 7  # which torch does not see
        self.same(model, compiled, x, e)
        e.data[1, 8:20] = 0
        self.same(model, compiled, x, e)

    def test_memory_that_is_taken_again_is_another_graph(self):
        model = MODELS["GIN"](0.)
        compiled = torch.compile(model, backend=backend)
        for k in range(6):
            self.same(model, compiled, *graph(40, 160, k))

    def test_what_the_graph_says_alone_is_computed_once(self):
        model, (x, e) = MODELS["GCN"](.5), graph()
        compiled = torch.compile(model, backend=backend)
        compiled(x, e).sum().backward()
        before = stats()
        for _ in range(5):
            compiled(x, e).sum().backward()
            compiled(x, e.clone()).sum().backward()
        after = stats()
        for what in ("computed", "relations", "graphs", "compiled"):
            self.assertEqual(before[what], after[what], what)

    def test_numbers_of_edges_that_stay_with_another_graph(self):
        class M(torch.nn.Module):
            def forward(self, x, e, kind):
                w = (kind * 2).float().view(-1, 1)
                return x.new_zeros(x.shape).index_add(0, e[1], x[e[0]] * w)
        kind, model = torch.arange(160) % 5, M()
        compiled = torch.compile(model, backend=backend)
        for k in (0, 1, 0, 2, 1):
            self.same(model, compiled, *graph(40, 160, k), kind)

    def test_ends_out_of_range_are_refused(self):
        model, (x, e) = MODELS["GIN"](0.), graph()
        compiled = torch.compile(model, backend=backend)
        compiled(x, e)
        e[0, 3] = 40
        with self.assertRaisesRegex(Exception, "edge 3"):
            compiled(x, e)
        e[0, 3] = 4
        self.same(model, compiled, x, e)

    def test_results_that_are_of_the_graph_alone_are_the_callers(self):
        class M(torch.nn.Module):
            def forward(self, x, e):
                n = torch.zeros(x.shape[0]).scatter_add_(0, e[1], torch.ones(e.shape[1]))
                return x.new_zeros(x.shape).index_add(0, e[1], x[e[0]]), n
        x, e = graph()
        compiled = torch.compile(M(), backend=backend)
        _, n = compiled(x, e)
        want = n.clone()
        n += 5
        torch.testing.assert_close(compiled(x, e)[1], want)


class Unknown(torch.nn.Module):
    """An operator in the middle that gnnc has not."""

    def __init__(self):
        super().__init__()
        self.one, self.two = GCNConv(IN, HIDDEN), GCNConv(HIDDEN, OUT)

    def forward(self, x, e):
        h = self.one(x, e)
        h = torch.cumsum(h, 0) / 10
        return self.two(h.relu(), e)


class Cuts(Base):
    def test_an_unknown_operator_is_torchs(self):
        model, (x, e) = Unknown(), graph()
        gnnc.torch._backend._warned.clear()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.same(model, torch.compile(model, backend=backend), x, e)
        self.assertEqual(sum("aten.cumsum: gnnc has no such operator" in str(w.message)
                             for w in said), 1)
        s = explain(model, x, e)
        self.assertFalse(s.whole)
        self.assertIn("aten.cumsum", s.left)
        self.assertEqual(len(s.graphs[0][1].programs), 2)
        self.assertIn("aten.cumsum: gnnc has no such operator", str(s))

    def test_random_operators_draw_in_order(self):
        class M(torch.nn.Module):
            def forward(self, x, e):
                x = F.dropout(x, .5)
                h = x.new_zeros(x.shape).index_add(0, e[1], x[e[0]])
                h = h + torch.rand_like(h)
                h = h.new_zeros(h.shape).index_add(0, e[0], F.dropout(h, .2)[e[1]])
                return h * torch.bernoulli(torch.full_like(h, .5))
        model = M()
        self.same(model, torch.compile(model, backend=backend), *graph())

    def test_other_types(self):
        x, e = graph()
        for kind in (torch.float64, torch.bfloat16):
            torch._dynamo.reset()
            model = MODELS["GIN"](0.).to(kind).eval()
            with torch.no_grad():
                torch.testing.assert_close(
                    torch.compile(model, backend=backend)(x.to(kind), e), model(x.to(kind), e))

    def test_indices_of_32_bits(self):
        class M(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.l = torch.nn.Linear(IN, 4)

            def forward(self, x, e, rows):
                h = self.l(x).index_select(0, e[0])
                return x.new_zeros(x.shape[0], 4).index_add(0, e[1], h)[rows].relu()
        x, e = graph()
        model, args = M(), (x, e.int(), torch.tensor([3, 1, 1], dtype=torch.int32))
        self.assertTrue(explain(model, *args).whole)
        self.same(model, torch.compile(model, backend=backend), *args)

    def test_no_graph_at_all(self):
        model = torch.nn.Sequential(torch.nn.Linear(IN, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
        x, _ = graph()
        torch.testing.assert_close(torch.compile(model, backend=backend)(x), model(x))

    def test_norms_and_their_state(self):
        for norm in ("batch_norm", "layer_norm", "graph_norm", "pair_norm"):
            with self.subTest(norm):
                torch._dynamo.reset()
                torch.manual_seed(2)
                own = GIN(IN, HIDDEN, 2, OUT, norm=norm)
                eager, exact = copy.deepcopy(own), copy.deepcopy(own).double()
                compiled = torch.compile(own, backend=backend)
                for n, m in ((40, 160), (33, 90), (20, 70)):
                    x, e = graph(n, m)
                    for f, k in ((own, compiled), (eager, eager), (exact, exact)):
                        f.zero_grad()
                        k(x.double() if f is exact else x, e).square().sum().backward()
                for (k, a), b in zip(eager.state_dict().items(), own.state_dict().values()):
                    torch.testing.assert_close(b, a, rtol=1e-5, atol=1e-6, msg=k)
                # Gradients of what a norm takes away are sums that cancel: far from exact for both.
                scale = max(r.grad.abs().max().item() for r in exact.parameters())
                for p, r in zip(own.parameters(), exact.parameters()):
                    self.assertLess((p.grad - r.grad).abs().max().item(), 1e-4 * scale + 1e-4)
                own.eval(), eager.eval()
                torch.testing.assert_close(compiled(x, e), eager(x, e), rtol=1e-5, atol=1e-5)
                said = explain(own.train(), x, e)
                self.assertTrue(said.whole, said)

    def test_pools(self):
        batch = torch.arange(40) // 9
        for pool in (global_add_pool, global_mean_pool, global_max_pool):
            torch._dynamo.reset()

            class M(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.conv, self.lin = GCNConv(IN, HIDDEN), torch.nn.Linear(HIDDEN, OUT)

                def forward(self, x, e, batch):
                    return self.lin(pool(self.conv(x, e).relu(), batch, 5))
            model = M()
            x, e = graph()
            self.same(model, torch.compile(model, backend=backend), x, e, batch)
            self.assertTrue(explain(model, x, e, batch).whole)

    def test_strides(self):
        model, (x, e) = MODELS["GraphSAGE"](0.), graph()
        compiled = torch.compile(model, backend=backend)
        self.same(model, compiled, x.t().contiguous().t(), e.t().contiguous().t())
        self.same(model, compiled, torch.randn(80, IN)[::2], e)


class Calls(Base):
    def test_check(self):
        model, (x, e) = MODELS["GAT"](.5), graph()
        compiled = torch.compile(model, backend=backend, options={"check": True})
        self.same(model, compiled, x, e)
        original = gnnc.torch._program.Program._compute

        def wrong(self, *args):
            results = original(self, *args)
            results[0].view(-1)[0] += 1
            return results
        gnnc.torch._program.Program._compute = wrong
        try:
            with self.assertRaisesRegex(Mismatch, r"forward, result \d+ differs from torch's by"):
                compiled(x, e)
        finally:
            gnnc.torch._program.Program._compute = original

    def test_options(self):
        model, (x, e) = MODELS["GIN"](0.), graph()
        self.same(model, torch.compile(model, backend=backend, mode="reduce-overhead"), x, e)
        torch._dynamo.reset()
        self.same(model, torch.compile(model, backend=backend, options={"threads": 2}), x, e)
        torch._dynamo.reset()
        with self.assertRaisesRegex(Exception, "no option 'treads'"):
            torch.compile(model, backend=backend, options={"treads": 2})(x, e)

    def test_threads(self):
        model, (x, e) = MODELS["GAT"](0.).eval(), graph(300, 3000)
        compiled = torch.compile(model, backend=backend)
        with torch.no_grad():
            want = model(x, e)
            compiled(x, e)
        wrong = []

        def work():
            with torch.no_grad():
                for _ in range(30):
                    if not torch.allclose(compiled(x, e), want, rtol=1e-5, atol=1e-5):
                        wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_gradients_of_two_calls(self):
        model, (x, e) = MODELS["GCN"](0.), graph()
        compiled = torch.compile(model, backend=backend)
        grads = []
        for f in (model, compiled):
            model.zero_grad()
            a, b = f(x, e), f(2 * x, e)
            (a * b).sum().backward()
            grads.append([p.grad.clone() for p in model.parameters()])
        for p, q in zip(*grads):
            torch.testing.assert_close(q, p, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
