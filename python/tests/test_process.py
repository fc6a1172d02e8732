"""Memory, threads, forks, processes."""

import ctypes
import gc
import multiprocessing
import os
import threading
import tracemalloc
import unittest
import warnings

import gnnc
from support import GCN, SAGE, Cora, flat


def resident():
    """Bytes of the process that lie in memory."""
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Heap(ctypes.Structure):
    """struct mallinfo2."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def allocated():
    """Bytes that malloc has given and not got back; 0 where the C library does not say."""
    tell = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if tell is None:
        return 0
    tell.restype = Heap
    found = tell()
    return found.uordblks + found.hblkhd


def answer(seed):
    """Compiles and infers, in a process of its own."""
    cora = Cora(nodes=60)
    return flat(gnnc.compile(SAGE, data=cora.data()).run(cora.data(), seed=seed).infer())


class Memory(unittest.TestCase):
    def grows(self, work, times):
        """Bytes of Python's, of malloc's and of the process that so many calls leave behind."""
        for _ in range(times // 10):
            work()
        gc.collect()
        tracemalloc.start()
        held, before = tracemalloc.get_traced_memory()[0], (allocated(), resident())
        for _ in range(times):
            work()
        gc.collect()
        held, after = tracemalloc.get_traced_memory()[0] - held, (allocated(), resident())
        tracemalloc.stop()
        return held, after[0] - before[0], after[1] - before[1]

    def check(self, work, times=1000):
        held, given, grown = self.grows(work, times)
        self.assertLess(held, 40000)
        self.assertLess(given, 100000)
        self.assertLess(grown, 8 << 20)

    def test_calls(self):
        cora, other = Cora(nodes=200), Cora(nodes=150, seed=2)
        data = gnnc.Data(cora.data()), gnnc.Data(other.data())
        run = gnnc.compile(GCN, data=data[0], train=True).run(data[0])
        self.check(run.infer)
        self.check(run.step)

        def binds():
            run.infer(data[1])
            run.infer(data[0])
        self.check(binds, 300)

        def fails():
            try:
                run.bind(x=cora.y)
            except gnnc.DataError:
                return
            raise AssertionError
        self.check(fails)
        self.check(lambda: run.state.loads(run.state.dumps()), 300)

    def test_objects(self):
        cora = Cora(nodes=200)
        data = gnnc.Data(cora.data())
        exe = gnnc.compile(GCN, data=data, gradients="weights,x")

        def makes():
            run = exe.run(seed=1)
            run.bind(x=cora.x, graph=gnnc.Graph(cora.src, cora.dst, 200))
            run.bind_output("out", memoryview(bytearray(2400)).cast("f", (200, 3)))
            run.forward()
            run.backward(run.output())
            run.gradients()
        self.check(makes, 300)

    def test_contexts_and_executables(self):
        def makes():
            context = gnnc.Context(cache="none")
            try:
                context.compile("model M() (g: graph, x: node[F]) -> node[F] { return y }",
                                features=1)
            except gnnc.ModelError:
                return
            raise AssertionError
        self.check(makes, 300)


class Threads(unittest.TestCase):
    def all_of(self, work, n=4):
        """Runs `work(k)` in n threads; what one raises fails."""
        failed = []

        def guarded(k):
            try:
                work(k)
            except BaseException as e:  # noqa: B902
                failed.append(e)
        threads = [threading.Thread(target=guarded, args=(k,)) for k in range(n)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        self.assertFalse(any(t.is_alive() for t in threads))
        if failed:
            raise failed[0]

    def test_runs_of_one_state(self):
        cora = Cora(nodes=200)
        data = gnnc.Data(cora.data())
        exe = gnnc.compile(GCN, data=data)
        state = exe.state(1)
        want = flat(exe.run(data, state=state).infer())

        def work(_):
            run = exe.run(data, state=state)
            for _ in range(40):
                self.assertEqual(flat(run.infer()), want)
        self.all_of(work)

    def test_one_run_of_many(self):
        cora = Cora(nodes=200)
        run = gnnc.compile(GCN, data=cora.data(), train=True).run(cora.data())
        want = flat(run.infer())

        def work(_):
            for _ in range(40):
                self.assertEqual(flat(run.infer()), want)
        self.all_of(work)

    def test_training_while_others_infer(self):
        cora = Cora(nodes=200)
        data = gnnc.Data(cora.data())
        exe = gnnc.compile(GCN, data=data, train=True)
        state, alone = exe.state(1), exe.run(data, seed=1)

        def work(k):
            run = exe.run(data, state=state)
            for _ in range(30):
                if k == 0:
                    run.step()
                else:
                    run.infer()
                    state.dumps(weights=True)
        self.all_of(work)
        alone.steps(30)
        self.assertEqual(state.dumps(), alone.state.dumps())

    def test_compiling(self):
        found = []
        self.all_of(lambda k: found.append(answer(3)))
        self.assertEqual(found, [found[0]] * 4)


class Processes(unittest.TestCase):
    def test_fork(self):
        cora = Cora(nodes=200)
        data = cora.data()
        run = gnnc.compile(GCN, data=data, train=True).run(data, threads=2)
        want = flat(run.infer())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads
            child = os.fork()
        if not child:
            good = 1
            try:
                more = gnnc.compile(SAGE, data=data).run(data).infer()
                good = flat(run.infer()) == want and run.step() > 0 and len(flat(more)) == 600
            finally:
                os._exit(0 if good is True else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(flat(run.infer()), want)

    def test_spawn(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            self.assertEqual(pool.apply(answer, (5,)), answer(5))


if __name__ == "__main__":
    unittest.main()
