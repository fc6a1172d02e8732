"""Training, inference, rows, gradients, weights and states, with the standard library alone."""

import array
import logging
import os
import pickle
import random
import re
import tempfile
import unittest
import warnings

import gnnc
from support import GCN, PROGRAM, ROOT, SAGE, WEIGHTED, Cora, flat, gnnc as program, tensors


def far(a, b):
    """The largest difference of two nests of numbers."""
    a, b = flat(a), flat(b)
    assert len(a) == len(b)
    return max((abs(x - y) for x, y in zip(a, b)), default=0.0)


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cora = Cora()

    @unittest.skipUnless(os.path.exists(PROGRAM), "the program is not built")
    def test_weights_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as to:
            data, model, saved = (os.path.join(to, n) for n in ("d.npz", "m.gnn", "w.safetensors"))
            self.cora.save(data)
            with open(model, "w", encoding="utf-8") as f:
                f.write(GCN)
            program("train", model, "--data", data, "--epochs", "30", "--seed", "3", "--save",
                    saved)
            want = tensors(saved)
            run = gnnc.compile(model, data=self.cora.data(), train=True, fixed=True).run(
                self.cora.data(), seed=3)
            run.steps(30)
            self.assertEqual(sorted(want), sorted(run.state.names))
            for name in want:
                self.assertLessEqual(far(want[name], run.state.weight(name)), 1e-6, name)
            run.state.save_weights(saved)
            self.assertEqual(sorted(tensors(saved)), sorted(want))

    def test_three_lines(self):
        run = gnnc.compile(os.path.join(ROOT, "samples", "gcn.gnn"), data=self.cora.data(),
                           train=True).run(self.cora.data())
        history = run.fit(60, validate="val_mask")
        scores = run.infer()
        self.assertEqual(tuple(scores.shape), (300, 3))
        self.assertLess(history.losses[-1], history.losses[0])
        self.assertGreater(run.accuracy("test_mask"), 0.6)
        self.assertEqual(len(history.scores), 60)
        self.assertEqual(run.accuracy("val_mask"), history.best_score)

    def test_precision(self):
        losses = {}
        for precision in (None, "mixed", "mixed-f16", "float64"):
            run = gnnc.compile(SAGE, data=self.cora.data(), train=True,
                               precision=precision).run(self.cora.data(), seed=1)
            losses[precision] = run.steps(12)[-1]
            weights = [run.state.weight(name) for name in run.state.names]
            self.assertEqual({w.dtype for w in weights},
                             {"float64" if precision == "float64" else "float32"})
        for precision, loss in losses.items():
            self.assertAlmostEqual(loss, losses[None], delta=0.02 * losses[None], msg=precision)
        with self.assertRaisesRegex(gnnc.Error, "no precision 'half'"):
            gnnc.compile(SAGE, data=self.cora.data(), precision="half")

    def test_fit_ends(self):
        run = gnnc.compile(SAGE, data=self.cora.data(), train=True).run(self.cora.data())
        self.assertEqual(len(run.fit(50, validate=lambda r: 0.0, patience=4).losses), 5)
        self.assertEqual(len(run.fit(50, callback=lambda e, loss, score: e < 3).losses), 3)

    def test_steps_and_loss(self):
        exe = gnnc.compile(GCN, data=self.cora.data(), train=True)
        a, b = exe.run(self.cora.data(), seed=1), exe.run(self.cora.data(), seed=1, threads=2)
        losses = a.steps(5)
        self.assertEqual(losses, [b.step() for _ in range(5)])
        self.assertEqual(a.loss, losses[-1])
        self.assertEqual(flat(a.infer()), flat(b.infer()))
        self.assertEqual((a.info.steps, a.info.inferences), (5, 1))

    def test_by_rows(self):
        data = self.cora.data()
        whole = gnnc.compile(SAGE, data=data).run(data, seed=2)
        want = whole.infer().tolist()
        run = gnnc.compile(SAGE, data=data, by_rows=True).run(data, state=None, seed=2)
        for rows in ([7], [299, 0, 7, 7], range(20), array.array("q", [5, 4])):
            got = run.infer(rows=rows)
            self.assertLess(far(got, [want[r] for r in rows]), 1e-5)
        train = gnnc.compile(SAGE, data=data, by_rows=True, train=True, fanout=[4, 3]).run(data)
        rows = [v for v in range(300) if v % 3 == 0]
        history = train.fit(20, rows=rows, batch=32)
        self.assertLess(history.losses[-1], history.losses[0])
        with self.assertRaisesRegex(gnnc.UsageError, "by_rows"):
            train.fit(1)
        with self.assertRaises(gnnc.DataError):
            train.infer(rows=[300])

    def test_ahead(self):
        exe = gnnc.compile(SAGE, data=self.cora.data(), by_rows=True, train=True, fanout=[4, 3])
        batches = [[(7 * k + j) % 300 for j in range(20)] for k in range(8)]

        def losses(ahead):
            run = exe.run(self.cora.data(), seed=3)
            found = []
            for k in range(7):
                run.rows(batches[k])
                if ahead:
                    run.ahead(batches[k + 1])
                found.append(run.step())
            return found
        self.assertEqual(losses(False), losses(True))
        with self.assertRaises(gnnc.DataError):
            exe.run(self.cora.data()).rows([0]).ahead([300]) or self.fail()

    def test_appended(self):
        src, dst = [0, 1, 2, 3, 0], [1, 2, 3, 4, 4]
        exe = gnnc.compile(GCN, features=2, classes=2)
        run, x = exe.run(), [[float(v), 1.0] for v in range(6)]
        g = gnnc.Graph(src[:3], dst[:3], num_nodes=5)
        grown, whole = g.append(src[3:], dst[3:], num_nodes=6), gnnc.Graph(src, dst, num_nodes=6)
        self.assertEqual((grown.num_nodes, grown.num_edges, g.num_edges), (6, 5, 3))
        self.assertEqual(flat(run.infer(graph=grown, x=x)), flat(run.infer(graph=whole, x=x)))
        with self.assertRaisesRegex(gnnc.DataError, "edge 0"):
            g.append([5], [0])
        with self.assertRaises(gnnc.DataError):
            g.append([1], [0, 2])

    def test_states(self):
        data = self.cora.data()
        exe = gnnc.compile(GCN, data=data, train=True, rate_changes=True)
        run = exe.run(data, seed=5)
        run.steps(3)
        with tempfile.TemporaryDirectory() as to:
            path = os.path.join(to, "s.safetensors")
            run.state.save(path)
            kept, copied = run.state.dumps(), run.state.copy()
            run.state.set_rate(0.02)
            want = run.steps(4), run.state.weights()
            for load in (lambda s: s.load(path), lambda s: s.loads(kept),
                         lambda s: s.loads(bytearray(kept))):
                state = exe.state(9)
                load(state)
                state.set_rate(0.02)
                again = exe.run(data, state=state)
                self.assertEqual(again.steps(4), want[0])
                self.assertEqual({k: flat(v) for k, v in state.weights().items()},
                                 {k: flat(v) for k, v in want[1].items()})
            self.assertEqual(flat(copied.weight("a.bias")), flat(exe_weight(exe, kept, "a.bias")))
            with self.assertRaises(gnnc.FileError):
                run.state.load(os.path.join(to, "none"))

    def test_weights(self):
        data = self.cora.data()
        exe = gnnc.compile(GCN, data=data)
        state = exe.state(1)
        rows = [[(3 * r + c) / 10 for c in range(16)] for r in range(3)]
        state.set_weight("b.lin.weight", rows)
        self.assertLess(far(state.weight("b.lin.weight"), rows), 1e-7)
        twice = array.array("d", (x for row in rows for x in row))
        state.set_weight("b.lin.weight", memoryview(twice).cast("B").cast("d", (3, 16)))
        self.assertLess(far(state.weight("b.lin.weight"), rows), 1e-7)
        other = exe.state(2)
        other.load_weights(state.weights())
        other.load_weights(state.dumps(weights=True))
        self.assertEqual(other.dumps(weights=True), state.dumps(weights=True))
        with self.assertRaisesRegex(gnnc.DataError, "expected to be"):
            state.set_weight("a.bias", [1.0])
        with self.assertRaisesRegex(gnnc.UsageError, "a.bias"):
            state.weight("a.bia")
        with self.assertRaises(gnnc.DataError):
            state.load_weights({"a.bias": [0.0] * 16})

    def test_bound_weights_and_results(self):
        data = self.cora.data()
        exe = gnnc.compile(SAGE, data=data, train=True)
        run, plain = exe.run(data, seed=1), exe.run(data, seed=1)
        own = array.array("f", flat(run.state.weight("a.lin_l.weight")))
        run.bind_weight("a.lin_l.weight", memoryview(own).cast("B").cast("f", (16, 8)))
        self.assertEqual(run.steps(3), plain.steps(3))
        self.assertEqual(list(own), flat(plain.state.weight("a.lin_l.weight")))
        self.assertNotEqual(flat(run.state.weight("a.lin_l.weight")), list(own))
        out = memoryview(bytearray(4 * 900)).cast("f", (300, 3))
        self.assertIs(run.infer(out=out), out)
        self.assertEqual(flat(out), flat(plain.infer()))
        kept = out.tolist()
        own[0] += 1.0
        self.assertGreater(far(run.infer(), kept), 0)
        self.assertEqual(out.tolist(), kept)
        run.bind_output("out", out)
        self.assertIs(run.infer(), out)
        run.bind_output("out", None)
        run.bind_weight("a.lin_l.weight", None)
        with self.assertRaises(gnnc.DataError):
            run.bind_output("out", bytes(12))
        with self.assertRaises(gnnc.DataError):
            run.bind_weight("a.lin_l.weight", [[0.0] * 8] * 16)

    def test_best_weights_come_back(self):
        data = self.cora.data()
        run = gnnc.compile(SAGE, data=data, train=True).run(data)
        own = array.array("f", flat(run.state.weight("b.lin_l.weight")))
        run.bind_weight("b.lin_l.weight", memoryview(own).cast("B").cast("f", (3, 16)))
        kept = []

        def validate(_):
            kept.append((list(own), run.state.dumps(weights=True)))
            return -abs(len(kept) - 3)
        history = run.fit(6, validate=validate)
        self.assertEqual(history.best_epoch, 3)
        self.assertEqual((list(own), run.state.dumps(weights=True)), kept[2])
        self.assertNotEqual(kept[5], kept[2])

    def test_gradients(self):
        draw = random.Random(4)
        n, e = 6, 12
        x = [[draw.uniform(-1, 1) for _ in range(3)] for _ in range(n)]
        w = [draw.uniform(0.5, 1) for _ in range(e)]
        edges = ([draw.randrange(n) for _ in range(e)], [draw.randrange(n) for _ in range(e)])
        exe = gnnc.compile(WEIGHTED, features=3, classes=2, edge_weights=True,
                           gradients=["weights", "x", "g.weight"], gradients_of="inference")
        run = exe.run(seed=1)
        run.bind({"g.weight": w}, graph=gnnc.Graph(*edges, num_nodes=n), x=x)
        c = [[draw.uniform(-1, 1) for _ in range(2)] for _ in range(n)]

        def loss(**bound):
            run.bind({("g.weight" if k == "w" else k): v for k, v in bound.items()})
            return sum(a * b for a, b in zip(flat(run.infer()), flat(c)))

        run.forward()
        run.backward(c)
        found = run.gradients()
        self.assertEqual(sorted(found), ["a.bias", "a.weight", "b.bias", "b.weight", "g.weight",
                                         "x"])
        self.assertEqual(flat(run.gradient("x")), flat(found["x"]))
        h = 1e-2
        for k in range(e):
            up, down = ([v + s * (j == k) for j, v in enumerate(w)] for s in (h, -h))
            self.assertAlmostEqual((loss(w=up) - loss(w=down)) / 2 / h,
                                   flat(found["g.weight"])[k], 3)
        loss(w=w)
        for v in range(n):
            for k in range(3):
                up, down = ([[q + s * ((i, j) == (v, k)) for j, q in enumerate(row)]
                             for i, row in enumerate(x)] for s in (h, -h))
                self.assertAlmostEqual((loss(x=up) - loss(x=down)) / 2 / h,
                                       found["x"].tolist()[v][k], 2)
        loss(x=x)
        weight = run.state.weight("a.weight").tolist()
        for k in range(4):
            weight[k][0] += h
            run.state.set_weight("a.weight", weight)
            up = loss()
            weight[k][0] -= 2 * h
            run.state.set_weight("a.weight", weight)
            self.assertAlmostEqual((up - loss()) / 2 / h, found["a.weight"].tolist()[k][0], 2)
            weight[k][0] += h
        run.forward()
        run.backward(out=c)
        with self.assertRaisesRegex(gnnc.UsageError, "there are out"):
            run.backward(other=c)


def exe_weight(exe, kept, name):
    state = exe.state(0)
    state.loads(kept)
    return state.weight(name)


class Errors(unittest.TestCase):
    def test_caret_and_diagnostics(self):
        text = "model M() (g: graph, x: node[F]) -> node[C] {\n  return GCNCov(C)(g, x)\n}\n"
        with self.assertRaises(gnnc.ModelError) as caught:
            gnnc.compile(text, features=3, classes=2)
        e = caught.exception
        self.assertEqual(e.code, 1)
        self.assertIn("<model>:2:10: error: nothing is named `GCNCov` here; did you mean "
                      "`GCNConv`?", str(e))
        self.assertIn("    2 |   return GCNCov(C)(g, x)\n      |          ^~~~~~", str(e))
        self.assertEqual([(d.line, d.column, d.note) for d in e.diagnostics], [(2, 10, False)])
        with self.assertRaises(gnnc.ModelError):
            gnnc.Module("model {")

    def test_classes_of_errors(self):
        for call, of, words in (
                (lambda: gnnc.compile("none.gnn"), gnnc.FileError, "none.gnn"),
                (lambda: gnnc.compile(GCN, features=3, classes=2, mode="fast"), gnnc.UsageError,
                 "fast"),
                (lambda: gnnc.compile(3), gnnc.UsageError, "a model is text"),
                (lambda: gnnc.Graph([0, 5], [1, 1], num_nodes=2), gnnc.DataError, "5"),
                (lambda: gnnc.Graph([[0, 1]] * 3), gnnc.DataError, "edges are expected"),
                (lambda: gnnc.Context(cache="disk"), gnnc.UsageError, "disk"),
                (lambda: gnnc.Context(device="tpu"), gnnc.UsageError, "tpu")):
            with self.assertRaisesRegex(of, words):
                call()
        run = gnnc.compile(GCN, features=3, classes=2).run()
        with self.assertRaisesRegex(gnnc.UsageError, "bound"):
            run.infer()
        with self.assertRaisesRegex(gnnc.UsageError, "train"):
            run.step()
        with self.assertRaisesRegex(gnnc.UsageError, "no input"):
            run.bind(xx=[[0.0]])
        with self.assertRaisesRegex(gnnc.DataError, "x"):
            run.bind(x=[[0.0, 1.0]])
        with self.assertRaisesRegex(gnnc.DataError, "length 2"):
            run.bind(x=[[0.0, 1.0], [2.0]])
        with self.assertRaisesRegex(gnnc.DataError, "numbers are expected"):
            run.bind(x=object())
        with open(os.path.join(ROOT, "include", "gnnc", "gnnc.h"), encoding="utf-8") as f:
            numbers = dict(re.findall(r"GNNC_ERROR_(\w+) = (\d+)", f.read()))
        classes = {c.code: c for c in gnnc.Error.__subclasses__()}
        self.assertEqual(sorted(map(int, numbers.values())), sorted(classes))
        self.assertEqual(set(classes.values()),
                         {getattr(gnnc, n) for n in gnnc.__all__ if n.endswith(("Error", "Error_"))}
                         - {gnnc.Error, gnnc.LibraryError})
        self.assertTrue(issubclass(gnnc.UsageError, ValueError))
        self.assertTrue(issubclass(gnnc.FileError, OSError))
        self.assertTrue(issubclass(gnnc.MemoryError_, MemoryError))

    def test_what_failed_leaves_things_as_they_were(self):
        cora = Cora(nodes=60)
        run = gnnc.compile(SAGE, data=cora.data()).run(cora.data(), seed=1)
        want = flat(run.infer())
        with self.assertRaises(gnnc.DataError):
            run.bind(x=[[0.0]])
        self.assertEqual(flat(run.infer()), want)

    def test_nothing_is_pickled(self):
        cora = Cora(nodes=60)
        exe = gnnc.compile(SAGE, data=cora.data())
        run = exe.run(cora.data())
        for thing in (exe, run, run.state, gnnc.Graph([0], [0]), gnnc.Context(cache="none"),
                      gnnc.Module(SAGE)):
            with self.assertRaises(TypeError):
                pickle.dumps(thing)
        with tempfile.TemporaryDirectory() as to:
            path = os.path.join(to, "w.pt")
            with open(path, "wb") as f:
                pickle.dump(print, f)
            with self.assertRaises(gnnc.DataError):
                run.state.load_weights(path)


class Contexts(unittest.TestCase):
    def test_cache_and_device(self):
        with tempfile.TemporaryDirectory() as to:
            context = gnnc.Context(cache="environment", cache_dir=to)
            context.compile(GCN, features=3, classes=2)
            self.assertTrue(context.cache.on)
            again = gnnc.Context(cache="environment", cache_dir=to)
            self.assertGreater(again.compile(GCN, features=3, classes=2).info.cache_hits, 0)
            self.assertEqual(context.device.name, "cpu")
        self.assertFalse(gnnc.Context(cache="none").cache.on)

    def test_notes_and_warnings(self):
        said = []
        context = gnnc.Context(cache="none", topics=["recompiles"],
                               log=lambda level, topic, text: said.append((level, topic)))
        cora, more = Cora(nodes=60), Cora(nodes=90)
        run = context.compile(SAGE, data=cora.data(), dynamic=False).run(cora.data())
        run.infer()
        run.infer(more.data())
        self.assertIn(("note", "recompiles"), said)
        self.assertEqual(run.executable.info.recompiles, 1)
        self.assertIn("nodes", run.executable.programs[1].reason)
        context = gnnc.Context(cache="none", topics="recompiles")
        run = context.compile(SAGE, data=cora.data(), dynamic=False).run(cora.data())
        run.infer()
        with self.assertLogs("gnnc.recompiles", logging.INFO):
            run.infer(more.data())
        state = run.state
        named = {"module." + k: v for k, v in state.weights().items()}
        with self.assertWarnsRegex(gnnc.GnncWarning, "weights"):
            state.load_weights(named)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(gnnc.GnncWarning):
                state.load_weights(named)

    def test_contexts_do_not_mix(self):
        cora = Cora(nodes=60)
        run = gnnc.compile(SAGE, data=cora.data()).run()
        other = gnnc.Context(cache="none").graph([0], [0], num_nodes=60)
        with self.assertRaises(gnnc.UsageError):
            run.bind(graph=other)

    def test_device(self):
        cora = Cora(nodes=60)
        exe = gnnc.compile(SAGE, data=cora.data(), device="cpu")
        self.assertIs(gnnc.default_context("cpu"), exe.context)
        self.assertEqual(len(exe.run(cora.data()).infer()), 60)
        self.assertEqual(exe.context.device.gpu, False)
        with self.assertRaisesRegex(gnnc.UsageError, "one of the two"):
            gnnc.compile(SAGE, device="cpu", context=gnnc.Context(cache="none"))

    def test_callbacks_may_not_use_what_is_at_work(self):
        caught = []
        cora, more = Cora(nodes=60), Cora(nodes=90)
        runs = []

        def log(level, topic, text):
            try:
                runs[0].infer()
            except gnnc.UsageError as e:
                caught.append(str(e))

        context = gnnc.Context(cache="none", topics="recompiles", log=log)
        runs.append(context.compile(SAGE, data=cora.data(), dynamic=False).run(cora.data()))
        runs[0].infer()
        runs[0].infer(more.data())
        self.assertEqual(caught, ["a callback uses the run that is at work"])

    def test_doctor(self):
        self.assertIn("NVRTC", gnnc.doctor())


class Profiles(unittest.TestCase):
    def test_steps_and_inferences(self):
        data = Cora().data()
        run = gnnc.compile(GCN, data=data, train=True, fixed=True).run(data)
        plain = gnnc.compile(GCN, data=data, train=True, fixed=True).run(data).steps(4)
        with run.profile() as profile:
            self.assertEqual(str(profile), "no call was timed")
            self.assertEqual(run.steps(4), plain)
            layers = profile.layers()
            with self.assertRaisesRegex(gnnc.UsageError, "another profile"):
                run.profile()
            with self.assertRaisesRegex(gnnc.UsageError, "no call of 'infer' was timed"):
                profile.layers("infer")
            run.infer()
        run.step()
        self.assertEqual([r.calls for r in layers], [4] * len(layers))
        self.assertEqual(profile.layers(), layers)
        self.assertEqual([r.us for r in layers], sorted((r.us for r in layers), reverse=True))
        self.assertEqual({r.part for r in layers}, {"forward", "backward", "optimizer"})
        self.assertIn("(optimizer)", [r.name for r in layers])
        for rows in (profile.lines("step"), profile.kernels("step"), profile.layers("infer")):
            self.assertGreater(len(rows), 1)
            self.assertGreater(sum(r.us for r in rows), 0)
            self.assertLessEqual({r.bound_by for r in rows},
                                 {"memory", "gather", "flops", "functions", "-"})
        self.assertEqual([r.calls for r in profile.layers("infer")][0], 1)
        self.assertEqual(len(str(profile).splitlines()), len(layers) + 1)
        for wrong in (lambda: profile.rows("row"), lambda: profile.rows(program="fit"),
                      lambda: profile.rows("line", "forward")):
            self.assertRaises(gnnc.UsageError, wrong)
        with run.profile() as again:  # one that was closed is out of the way
            pass
        self.assertRaises(gnnc.UsageError, again.kernels)


class Looking(unittest.TestCase):
    def test_introspection(self):
        exe = gnnc.compile(GCN, features=8, classes=3, train=True, define={"hidden": 4, "p": 0.1})
        names = {i.name: i for i in exe.inputs}
        self.assertEqual(list(names), ["g", "x", "y", "train_mask"])
        self.assertEqual((names["g"].graph, names["g"].src), (True, "node"))
        self.assertEqual((names["x"].shape, names["x"].dtype, names["x"].rows),
                         ((-1, 8), "float32", "node"))
        self.assertTrue(names["y"].learning)
        self.assertEqual([(o.name, o.shape) for o in exe.outputs], [("out", (-1, 3))])
        self.assertEqual(exe.info.model, "GCN")
        self.assertIn("kernel", exe.explain())
        self.assertIn("define", exe.emit("llvm"))
        with self.assertRaises(gnnc.UsageError):
            exe.emit("nothing")
        self.assertEqual(exe.tuning().known, False)
        self.assertEqual(exe.state().weight("a.lin.weight").shape, (4, 8))
        self.assertIn("GCN", repr(exe) + repr(exe.run()))

    def test_ir(self):
        exe = gnnc.compile(GCN, features=2, classes=2)
        text = exe.emit("gir")
        self.assertTrue(text)
        with self.assertRaises(gnnc.ModelError):
            gnnc.Module.from_ir("no text of the IR")

    def test_several_results(self):
        text = ("model M() (g: graph, x: node[F]) -> (node[C], node[2]) {\n"
                "  h = Linear(C)(x)\n  e = Linear(2)(x)\n  return h, e\n}\n")
        run = gnnc.compile(text, features=2, classes=3).run()
        got = run.infer(graph=([0], [1]), x=[[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual({k: tuple(v.shape) for k, v in got.items()}, {"h": (2, 3), "e": (2, 2)})
        self.assertEqual(flat(run.output("e")), flat(got["e"]))

    def test_typed(self):
        draw = random.Random(2)
        papers, authors = 90, 30
        writes = [[], []]
        for p in range(papers):
            for _ in range(3):
                writes[0].append(3 * draw.randrange(authors // 3) + p % 3)
                writes[1].append(p)
        data = gnnc.Data(
            spaces={"paper": papers, "author": authors},
            relations={"writes": ("author", "paper", writes),
                       "written_by": ("paper", "author", writes[::-1])},
            columns={"paper.x": [[draw.random() for _ in range(4)] for _ in range(papers)]},
            y=[p % 3 for p in range(papers)], train_mask=[p % 9 < 3 for p in range(papers)],
            labelled="paper")
        run = gnnc.compile(os.path.join(ROOT, "samples", "hgt.gnn"), data=data, train=True).run(
            data)
        losses = run.steps(30)
        self.assertLess(losses[-1], losses[0])
        self.assertEqual(tuple(run.infer().shape), (papers, 3))
        self.assertGreater(run.accuracy(), 0.6)

    def test_documentation_is_there(self):
        for name in gnnc.__all__:
            thing = getattr(gnnc, name)
            if name.startswith("__"):
                continue
            self.assertTrue(thing.__doc__, name)
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue(value.__doc__, f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()
