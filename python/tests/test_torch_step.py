"""gnnc.torch.compile_step against eager: weights, states of optimizers and of models after many
steps, what changes between them, and what falls back.

Skipped without torch and PyTorch Geometric.
"""

import copy
import unittest
import unittest.mock
import warnings

try:
    import torch
    import torch_geometric  # noqa: F401
except ImportError:
    raise unittest.SkipTest("needs torch and torch_geometric") from None

import torch.nn.functional as F
from torch_geometric.nn import global_mean_pool
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE

from gnnc.torch import compile_step

warnings.filterwarnings("ignore", category=FutureWarning)
NODES, EDGES, IN, HIDDEN, OUT, STEPS = 60, 240, 24, 16, 5, 20
MODELS = {
    "GCN": lambda: GCN(IN, HIDDEN, 2, OUT, dropout=.5),
    "GraphSAGE": lambda: GraphSAGE(IN, HIDDEN, 2, OUT, dropout=.5),
    "GIN": lambda: GIN(IN, HIDDEN, 2, OUT, dropout=.5, norm="batch"),
    "GAT": lambda: GAT(IN, HIDDEN, 2, OUT, dropout=.6, heads=2),
}


def world(seed=0, nodes=NODES, few=False):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, IN, generator=g)
    if few:
        x = torch.where(torch.rand(nodes, IN, generator=g) < .06, x, torch.zeros(()))
    e = torch.randint(0, nodes, (2, EDGES), generator=g)
    y = torch.randint(0, OUT, (nodes,), generator=g)
    return x, e, y, torch.rand(nodes, generator=g) < .4


def masked(out, y, mask):
    return F.cross_entropy(out[mask], y[mask])


class Step(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(11)
        self.addCleanup(torch._dynamo.reset)

    def close(self, a, b, name, least=1e-4):
        if not a.is_floating_point():
            self.assertTrue(torch.equal(a, b), name)
            return
        scale = max(b.abs().max().item(), least)
        self.assertLessEqual((a - b).abs().max().item(), 1e-5 * scale, name)

    def same_states(self, own, of, theirs, want):
        for (name, a), b in zip(own.state_dict().items(), theirs.state_dict().values()):
            self.close(a, b, name)
        a, b = of.state_dict(), want.state_dict()
        self.assertEqual(a["param_groups"], b["param_groups"])
        self.assertEqual(list(a["state"]), list(b["state"]))
        for k, state in b["state"].items():
            self.assertEqual(list(a["state"][k]), list(state))
            for name, t in state.items():
                self.close(a["state"][k][name], t, name, 1e-2)

    def both(self, model, make, between=None, steps=STEPS, loss=masked, data=None, whole=True):
        """Trains a model and its copy, and compares all they have."""
        theirs = copy.deepcopy(model)
        of, want = make(model), make(theirs)
        x, e, *target = data or world()
        step = compile_step(model, loss, of)
        for k in range(steps):
            torch.manual_seed(k)
            got = step(x, e, target=target)
            torch.manual_seed(k)
            want.zero_grad()
            value = loss(theirs(x, e), *target)
            value.backward()
            want.step()
            self.close(got, value.detach(), f"loss of step {k}")
            if between:
                between(k, of)
                between(k, want)
        self.assertEqual(step.whole, whole, step.why)
        self.same_states(model, of, theirs, want)
        return step

    def test_models(self):
        for name, make in MODELS.items():
            with self.subTest(name):
                torch._dynamo.reset()
                self.both(make(), lambda m: torch.optim.SGD(m.parameters(), lr=.01, momentum=.9))

    def test_rows_that_the_loss_reads(self):
        """Those alone are computed, of whichever mask or list there is."""
        from gnnc.torch import _training
        counted, count = [], _training.count_levels
        x, e, y, _ = world(nodes=400)
        masks = [torch.zeros(400, dtype=torch.bool).index_fill_(0, torch.arange(n), 1)
                 for n in (6, 300, 390)]
        lists = [torch.tensor([7, 3, 7, 250]), torch.arange(380)]

        def noted(*args):
            counted.append(count(*args))
            return counted[-1]

        def some(out, y, mask, rows):
            return F.cross_entropy(out[mask], y[mask]) + out[rows].pow(2).mean()

        for name, make in MODELS.items():
            with self.subTest(name), unittest.mock.patch.object(_training, "count_levels", noted):
                torch._dynamo.reset()
                del counted[:]
                model, theirs = make(), make()
                theirs.load_state_dict(model.state_dict())
                of, want = (torch.optim.SGD(m.parameters(), lr=.01) for m in (model, theirs))
                step = compile_step(model, some, of)
                for k in (0, 0, 1, 2, 0):
                    rows, state = lists[k % 2], torch.get_rng_state()
                    got = step(x, e, target=(y, masks[k], rows))
                    torch.set_rng_state(state)
                    want.zero_grad()
                    value = some(theirs(x, e), y, masks[k], rows)
                    value.backward()
                    want.step()
                    self.close(got, value.detach(), "loss")
                self.assertTrue(step.whole, step.why)
                self.same_states(model, of, theirs, want)
                self.assertEqual(counted[-1], counted[0])
                self.assertGreaterEqual(counted[0], 2)
                self.assertIn(0, counted)

    def test_optimizers(self):
        o = torch.optim
        for k, make in enumerate((
                lambda p: o.Adam(p, lr=.01), lambda p: o.Adam(p, weight_decay=5e-4, eps=1e-3),
                lambda p: o.Adam(p, betas=(.5, .9), amsgrad=True, maximize=True),
                lambda p: o.AdamW(p, lr=.02, weight_decay=.1),
                lambda p: o.SGD(p, lr=.1), lambda p: o.SGD(p, lr=.1, weight_decay=.01),
                lambda p: o.SGD(p, lr=.1, momentum=.9, dampening=.3, maximize=True),
                lambda p: o.SGD(p, lr=.05, momentum=.8, nesterov=True, weight_decay=.01))):
            with self.subTest(k):
                torch._dynamo.reset()
                self.both(MODELS["GCN"](), lambda m: make(m.parameters()))

    def test_groups_and_schedules(self):
        def groups(m):
            return torch.optim.Adam([
                {"params": m.convs[0].parameters(), "weight_decay": 5e-3},
                {"params": m.convs[1].parameters(), "lr": .05}], lr=.01)

        def between(k, of):
            for group in of.param_groups:
                group["lr"] *= .9
            of.param_groups[0]["betas"] = (.9 - .01 * k, .999)

        self.both(MODELS["GCN"](), groups, between)

    def test_schedulers(self):
        model, (x, e, y, mask) = MODELS["GCN"](), world()
        of = torch.optim.SGD(model.parameters(), lr=.1)
        decay = torch.optim.lr_scheduler.StepLR(of, 2, .5)
        step = compile_step(model, masked, of)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(4):
                step(x, e, target=(y, mask))
                decay.step()
        self.assertAlmostEqual(of.param_groups[0]["lr"], .025)

    def test_features_of_few_non_zeros(self):
        x, e, y, mask = world(few=True, nodes=200)
        for name in ("GCN", "GraphSAGE"):
            torch._dynamo.reset()
            self.both(MODELS[name](), lambda m: torch.optim.SGD(m.parameters(), lr=.1),
                      data=(x, e, y, mask))

    def test_other_losses(self):
        x, e, y, mask = world()
        value, many = torch.randn(NODES, OUT), (torch.rand(NODES, OUT) < .3).float()
        ignored = torch.where(mask, y, torch.tensor(-100))
        for k, (loss, target) in enumerate((
                (lambda o, t: F.cross_entropy(o, t), (y,)),
                (lambda o, t: F.cross_entropy(o, t), (ignored,)),
                (lambda o, t: F.cross_entropy(o, t, ignore_index=1), (y,)),
                (lambda o, t: F.cross_entropy(o, t, reduction="sum"), (y,)),
                (lambda o, t: F.nll_loss(o.log_softmax(-1), t), (y,)),
                (lambda o, t: F.mse_loss(o, t), (value,)),
                (lambda o, t: F.binary_cross_entropy_with_logits(o, t), (many,)))):
            with self.subTest(k):
                torch._dynamo.reset()
                self.both(MODELS["GCN"](), lambda m: torch.optim.SGD(m.parameters(), lr=.1),
                          steps=4, loss=loss, data=(x, e, *target))

    def test_classes_out_of_range_are_refused(self):
        model, (x, e, y, mask) = MODELS["GCN"](), world()
        y = y.clone()
        y[mask.nonzero()[0]] = OUT
        of = torch.optim.Adam(model.parameters())
        before = copy.deepcopy(model.state_dict())
        step = compile_step(model, masked, of)
        with self.assertRaisesRegex(IndexError, "Target 5 is out of bounds"):
            step(x, e, target=(y, mask))
        self.assertEqual(of.state_dict()["state"], {})
        for name, t in model.state_dict().items():
            self.assertTrue(torch.equal(t, before[name]), name)

    def test_masks_and_labels_that_change(self):
        model = MODELS["GCN"]()
        theirs = copy.deepcopy(model)
        of, want = (torch.optim.SGD(m.parameters(), lr=.1) for m in (model, theirs))
        x, e, y, mask = world()
        step = compile_step(model, masked, of)
        for k in range(6):
            mask[k], y[k + 7] = not mask[k], (y[k + 7] + 1) % OUT
            torch.manual_seed(k)
            step(x, e, target=(y, mask))
            torch.manual_seed(k)
            want.zero_grad()
            masked(theirs(x, e), y, mask).backward()
            want.step()
        self.same_states(model, of, theirs, want)

    def test_sizes_that_change(self):
        model = MODELS["GraphSAGE"]()
        theirs = copy.deepcopy(model)
        of, want = (torch.optim.SGD(m.parameters(), lr=.1) for m in (model, theirs))
        step = compile_step(model, masked, of)
        for k, nodes in enumerate((60, 80, 71, 60)):
            x, e, y, mask = world(k, nodes)
            torch.manual_seed(k)
            step(x, e, target=(y, mask))
            torch.manual_seed(k)
            want.zero_grad()
            masked(theirs(x, e), y, mask).backward()
            want.step()
        self.assertTrue(step.whole, step.why)
        self.same_states(model, of, theirs, want)

    def test_states_that_are_loaded(self):
        model, (x, e, y, mask) = MODELS["GCN"](), world()
        of = torch.optim.Adam(model.parameters(), lr=.01)
        step = compile_step(model, masked, of)
        for _ in range(3):
            step(x, e, target=(y, mask))
        weights, kept = copy.deepcopy(model.state_dict()), copy.deepcopy(of.state_dict())
        after = []
        for _ in range(2):
            torch.manual_seed(1)
            for _ in range(3):
                step(x, e, target=(y, mask))
            after.append(copy.deepcopy(model.state_dict()))
            model.load_state_dict(weights)
            of.load_state_dict(kept)
        for name, a in after[0].items():
            self.assertTrue(torch.equal(a, after[1][name]), name)

    def test_numbers_that_are_loaded(self):
        model, (x, e, y, mask) = MODELS["GCN"](), world()
        of = torch.optim.SGD(model.parameters(), lr=.1)
        step = compile_step(model, masked, of)
        step(x, e, target=(y, mask))
        kept = copy.deepcopy(of.state_dict())
        kept["param_groups"][0]["lr"] = 0.0
        of.load_state_dict(kept)
        before = copy.deepcopy(model.state_dict())
        step(x, e, target=(y, mask))
        for name, a in model.state_dict().items():
            self.assertTrue(torch.equal(a, before[name]), name)
        of.param_groups[0]["lr"] = .1
        step(x, e, target=(y, mask))
        self.assertFalse(all(torch.equal(a, before[n]) for n, a in model.state_dict().items()))

    def test_where_torch_does_not_compile(self):
        model, (x, e, y, mask) = MODELS["GCN"](), world()
        step = compile_step(model, masked, torch.optim.SGD(model.parameters(), lr=.1))
        before = copy.deepcopy(model.state_dict())
        with torch.compiler.set_stance("force_eager"), self.assertWarns(UserWarning):
            step(x, e, target=(y, mask))
        self.assertFalse(step.whole)
        self.assertFalse(all(torch.equal(a, before[n]) for n, a in model.state_dict().items()))

    def test_steps_among_torchs_own(self):
        model, (x, e, y, mask) = MODELS["GCN"](), world()
        theirs = copy.deepcopy(model)
        of, want = (torch.optim.Adam(m.parameters(), lr=.01, eps=1e-3) for m in (model, theirs))
        step = compile_step(model, masked, of)
        for k in range(6):
            for m, o in ((model, of), (theirs, want)):
                torch.manual_seed(k)
                if m is model and k % 2:
                    step(x, e, target=(y, mask))
                    continue
                o.zero_grad()
                masked(m(x, e), y, mask).backward()
                o.step()
        self.same_states(model, of, theirs, want)

    def test_parameters_that_are_not_trained(self):
        def make(m):
            m.convs[0].lin.weight.requires_grad_(False)
            return torch.optim.SGD([p for p in m.parameters() if p.requires_grad], lr=.1)
        self.both(MODELS["GCN"](), make)
        torch._dynamo.reset()
        self.both(MODELS["GCN"](), lambda m: torch.optim.SGD(m.convs[1].parameters(), lr=.1))

    def test_strides_of_parameters(self):
        model = MODELS["GCN"]()
        for conv in model.convs:
            conv.lin.weight.data = conv.lin.weight.data.t().contiguous().t()
        self.both(model, lambda m: torch.optim.Adam(m.parameters(), lr=.01, eps=1e-3))

    def test_whole_graphs(self):
        x, e, _, _ = world()
        batch = torch.arange(NODES) // 10
        y = torch.arange(6) % OUT
        self.both(MODELS["GIN"](), lambda m: torch.optim.SGD(m.parameters(), lr=.05),
                  loss=lambda o, y, b: F.cross_entropy(global_mean_pool(o, b, 6), y),
                  data=(x, e, y, batch), steps=5)

    def test_what_is_not_whole_falls_back_and_says_so(self):
        class Cut(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = MODELS["GCN"]()

            def forward(self, x, e):
                return torch.cumsum(self.inner(x, e), 0)

        class Broken(Cut):
            def forward(self, x, e):
                out = self.inner(x, e)
                torch._dynamo.graph_break()
                return out * 2

        for make, words in ((Cut, "cumsum"), (Broken, "graph_break|graph break")):
            torch._dynamo.reset()
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                step = self.both(make(), lambda m: torch.optim.SGD(m.parameters(), lr=.01),
                                 steps=3, whole=False)
            said = [str(w.message) for w in said if "compile_step" in str(w.message)]
            self.assertEqual(len(said), 1, said)
            self.assertRegex(step.why.lower(), words)

    def test_many_steps_of_one_process(self):
        x, e, y, mask = world()
        for k in range(10):
            model = GCN(IN, 4 + k, 2, OUT)
            step = compile_step(model, masked, torch.optim.SGD(model.parameters(), lr=.1))
            step(x, e, target=(y, mask))
            self.assertTrue(step.whole, step.why)

    def test_what_is_refused(self):
        model = MODELS["GCN"]()
        p = list(model.parameters())
        with self.assertRaisesRegex(TypeError, "RMSprop; there are Adam, AdamW, SGD"):
            compile_step(model, masked, torch.optim.RMSprop(p))
        with self.assertRaisesRegex(ValueError, "differentiable"):
            compile_step(model, masked, torch.optim.Adam(p, differentiable=True))
        with self.assertRaisesRegex(ValueError, "lr of the optimizer is a tensor"):
            compile_step(model, masked, torch.optim.Adam(p, lr=torch.tensor(.1)))
        with self.assertRaisesRegex(ValueError, "no option 'speed'"):
            compile_step(model, masked, torch.optim.Adam(p), options={"speed": 1})
        with self.assertRaisesRegex(ValueError, "'check' is of the backend"):
            compile_step(model, masked, torch.optim.Adam(p), options={"check": True})
        of, (x, e, y, mask) = torch.optim.Adam(p), world()
        step = compile_step(model, masked, of)
        step(x, e, target=(y, mask))
        hook = of.register_step_post_hook(lambda *a: None)
        with self.assertRaisesRegex(ValueError, "hooks"):
            step(x, e, target=(y, mask))
        hook.remove()
        of.add_param_group({"params": [torch.nn.Parameter(torch.zeros(2))]})
        with self.assertRaisesRegex(ValueError, "other parameters"):
            step(x, e, target=(y, mask))


if __name__ == "__main__":
    unittest.main()
