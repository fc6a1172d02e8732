"""One workload: everybody checked, then each in turn with gnnc."""
import json
import shutil
import time

import duel
import hands
import machine
import peers
from contenders import Gnnc, Process, RaceError
from table import data_argument

LOGITS = 1e-4   # relative to 1 + |logit|
# microseconds a step, beyond which so many rounds do: long steps are steady
SLOW = ((5e6, 2), (3e5, 3))
LOSS = 1e-3  # relative, after a few steps of Adam, which divides small gradients by small numbers
# both of them, where operands of products are rounded: to 11 bits, to 8
ROUNDED = {"highest": None, "high": 2e-2, "medium": 1e-1}
# seconds a figure, before and after a hand-written program: neighbours take bandwidth, and give it
# back
CEILING_S = 0.1


class Settings:
    """What does not change between workloads."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def left(self):
        return self.deadline - time.monotonic()


class Race:
    def __init__(self, workload, settings, cases, programs, pythons, sources, say):
        self.w, self.s, self.cases, self.programs = workload, settings, cases, programs
        self.pythons, self.sources, self.say = pythons, sources, say
        rounded = ROUNDED[settings.precision]
        self.logits_bound, self.loss_bound = (rounded, rounded) if rounded else (LOGITS, LOSS)
        self.cache = settings.work / "caches" / workload.name
        self.rows, self.gnnc_blocks = {}, []

    # ---- what is compared

    def prepare(self):
        data = data_argument(self.w.source, self.s.data_root)
        if not data:
            raise RaceError(f"{self.w.source} is not here: --data-root or $GNNC_DATA names the "
                            "folder that has it")
        self.graph, self.data = self.cases.graph(self.w.data, data, self.sources)
        self.meta = json.loads((self.graph / "meta.json").read_text())
        self.case = self.cases.case(self.w, self.graph, self.data)
        self.big = self.meta["edges"] > 1_000_000
        # Models of graphs have a norm over rows in each layer: rounding grows tenfold a step there,
        # in double precision too.
        self.check_steps = 2 if self.big or self.meta.get("labelled") == "graph" else 5

    def make_gnnc(self, name="gnnc", more=(), threads=None):
        gnnc = Gnnc(name, self.s.gnnc, self.w, self.cases.model(self.w), self.data, self.case,
                    {"GNNC_CACHE": "1", "GNNC_CACHE_DIR": str(self.cache / name)},
                    [*self.s.gnnc_args, *more, *(["--threads", str(threads)] if threads else [])],
                    timeout=self.s.timeout * 2)
        return gnnc

    def calibrate(self, gnnc):
        """Blocks of gnnc alone: compile time cold and warm, and how long a block is to be."""
        first = gnnc.block(2)
        steps = duel.steps_for(first["median"], self.s.block_s / 2, most=2000, least=2)
        again = gnnc.block(steps)
        self.us = again["median"]
        return steps, {"compile_cold_s": (first["compile_ms"] or 0) / 1e3,
                       "compile_warm_s": (again["compile_ms"] or 0) / 1e3,
                       "prepare_s": (first["prepare_ms"] or 0) / 1e3}

    def loss_of_gnnc(self, gnnc):
        """The loss of the last of the steps that everybody reports; only without dropout."""
        if not self.w.training or self.w.p > 0:
            return None
        runs = gnnc.report(self.check_steps).get("runs") or [{}]
        return runs[0].get("loss")

    def agrees(self, about):
        """'' or what is wrong with a contender's logits and losses."""
        if about.get("other"):
            return about["other"]
        worst, loss = about.get("difference"), (about.get("losses") or [None])
        if worst is not None and not worst <= self.logits_bound:
            return f"logits differ by {worst:.1e}"
        at = min(self.check_steps, len(loss)) - 1
        if (self.loss is not None and loss[at] is not None and self.w.p == 0
            and at == self.check_steps - 1):
            if not abs(loss[at] - self.loss) <= self.loss_bound * max(1.0, abs(self.loss)):
                return f"loss after {at + 1} steps is {loss[at]:.6g}, gnnc's {self.loss:.6g}"
        return ""

    # ---- the contenders

    def run(self):
        self.prepare()
        self.gnnc = self.make_gnnc()
        self.steps, compiled = self.calibrate(self.gnnc)
        self.loss = self.loss_of_gnnc(self.gnnc)
        trips = [machine.round_trip(self.programs)] if self.w.threads > 1 else []
        if self.w.threads > 1:
            self.against("gnnc, one thread", lambda: self.make_gnnc("one", threads=1))
        if self.w.hand and self.s.device == "cpu":
            self.against_hand()
            self.against("gnnc tuned", lambda: self.make_gnnc("tuned", ["-O", "max-autotune"]))
        self.best = None
        for name in self.s.peers if self.s.peers is not None else peers.names_for(self.w):
            self.against_peer(name)
        while len(self.gnnc_blocks) < self.rounds_for(self.us, True):
            self.gnnc_blocks.append(self.gnnc.block(self.steps))
        if self.w.threads > 1:
            trips.append(machine.round_trip(self.programs))
        self.rows = {"gnnc": duel.figures(self.gnnc_blocks) | compiled |
                     {"about": self.gnnc.about}} | self.rows
        self.pay()
        if not self.s.keep:
            shutil.rmtree(self.cache, ignore_errors=True)
        return {"workload": self.w.__dict__, "meta": self.meta, "precision": self.s.precision,
                "rows": self.rows, "round_trip": [t for t in trips if t], "loss": self.loss,
                "date": machine.now(), "load": machine.load(), "revision": machine.revision()}

    def against(self, name, make):
        """Another gnnc, in turn with the first."""
        def duel_it():
            other = make()
            steps, compiled = self.calibrate(other)
            mine, theirs = duel.alternate(self.gnnc, other, (self.steps, steps),
                                          self.rounds_for(self.us, True))
            self.gnnc_blocks += mine
            return (duel.figures(theirs) | duel.ratio(theirs, mine) | compiled |
                    {"about": other.about})
        self.note(name, *duel.guarded(duel_it))

    def against_hand(self):
        program, argument = self.w.hand.split(":")
        path = self.programs.get(program)
        if not path:
            self.say(f"WARNING: {self.w.name}: nothing to compare with by hand: "
                     f"bench/c/{program}.c does not compile; --cc names another compiler")
            self.note("by hand", None, self.programs.why[program])
            return
        before = machine.ceilings(self.programs, CEILING_S, 1)
        row, why = duel.guarded(self.duel_process, "by hand",
                                [path, str(self.graph), str(self.case), argument], {}, None)
        if row:
            around = hands.mean([before, machine.ceilings(self.programs, CEILING_S, 1)])
            row |= hands.verdict(self.w.hand, row["median"], around) | {"ceilings": around}
        self.note("by hand", row, why)

    def against_peer(self, name):
        peer = peers.peer(name)
        if self.s.left() <= 0:
            self.note(name, None, "not run: the time is over")
            return
        python, why = self.pythons[peer.environment]
        if not python:
            self.note(name, None, why)
            return
        cache = self.cache / name.replace(":", "-")
        environment = peers.environment_of(cache, self.s.device)
        command = peer.command(python, self.w, self.graph, self.case, self.check_steps,
                               self.s.scripts, self.s.device, self.s.precision)
        row, why = duel.guarded(self.duel_process, name, command, environment, peer)
        if row and peer.compiles and row["blocks"] > 1:
            warm, _ = duel.guarded(self.first_step, command, environment)
            row["compile_warm_s"] = warm and max(0.0, warm["first_s"] - warm["second_s"])
        self.note(name, row, why)
        if row and not row["wrong"] and not peers.is_expert(name):
            self.best = min(self.best or row["median"], row["median"])
        if not self.s.keep:
            shutil.rmtree(cache, ignore_errors=True)

    def first_step(self, command, environment):
        process = Process("warm", command, environment, self.s.timeout, True)
        process.close()
        return process.about

    def duel_process(self, name, command, environment, peer):
        self.say(f"{self.w.name}: {name}")
        process = Process(name, command, environment, min(self.s.timeout, max(30.0, self.s.left())),
                          peer and peer.keeps_memory)
        try:
            about = process.about
            us = about.get("second_s", 0) * 1e6 or process.block(3)["median"]
            steps = duel.steps_for(us, self.s.block_s, most=self.s.most_steps if peer else 2000)
            enough = None
            if peer and self.best:
                enough = lambda blocks: blocks[-1]["median"] > duel.CLOSE * self.best
            rounds = self.rounds_for(us, peer)
            mine, theirs = duel.alternate(self.gnnc, process, (self.steps, steps), rounds, enough)
        finally:
            process.close()
        self.gnnc_blocks += mine
        row = (duel.figures(theirs) | duel.ratio(theirs, mine) |
               {"about": about, "wrong": self.agrees(about)})
        if peer and peer.compiles:
            row["compile_cold_s"] = max(0.0, about["first_s"] - about["second_s"])
        if peer:
            row["first_s"] = about["first_s"]
        return row

    def rounds_for(self, us, peer):
        """A hand-written program's blocks are short."""
        for limit, rounds in SLOW:
            if us > limit:
                return min(self.s.rounds, rounds)
        return self.s.rounds if peer else 2 * self.s.rounds - 1

    def note(self, name, row, why):
        self.rows[name] = row if row else {"failed": why}
        self.say(f"{self.w.name}: {name}: " +
                 (f"{row['median'] / 1e3:.3f} ms" if row else f"no: {why}"))

    def pay(self):
        """From which step on compiling has paid, against PyTorch Geometric's eager mode."""
        eager = self.rows.get("pyg", {}).get("median")
        for row in self.rows.values():
            if eager and row.get("compile_cold_s") is not None:
                spent = row["compile_cold_s"] + (row.get("prepare_s") or 0)
                row["pays_after"] = duel.pays_after(spent, row["median"], eager)
                row["pays_after_never"] = row["pays_after"] is None


