"""A graph cut into parts that gnnc runs and operators that torch runs, and the code for both."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import torch
from torch import fx

from .._errors import ModelError
from ._graphs import prepare
from ._plan import Plan
from ._program import Choice, Program, Variant
from ._rules import EDGES, aten
from ._spaces import Unsupported
from ._translate import Translator, _node_of_line
from ._write import Cut, Writer, name_of


class Cutter:
    """Plans, translates, and plans again without what could not be translated."""

    program_type = Program

    def __init__(self, gm: fx.GraphModule, known: Dict[Any, Any], mode: Optional[str],
                 threads: int, user_outputs: Optional[int],
                 kinds: Optional[Dict[str, str]] = None) -> None:
        self.kinds = kinds or {}  # by name, of matrices that are expected to be sparse
        prepare(gm, known)
        self.gm, self.known, self.mode, self.threads = gm, known, mode, threads
        self.user_outputs = user_outputs
        self.banned: Dict[fx.Node, str] = {}
        for node in gm.graph.nodes:
            target = node.target
            if isinstance(target, torch._ops.OpOverload) and (
                    target._schema.is_mutable or target is aten.as_strided.default):
                self.banned = {n: f"the graph has {name_of(node)}, which goes by memory"
                               for n in gm.graph.nodes}
                break

    def cut(self) -> Tuple[Any, Cut]:
        while True:
            try:
                return self._attempt()
            except Unsupported as e:
                if e.node is None or e.node in self.banned:
                    raise
                self.banned[e.node] = e.why

    def _attempt(self) -> Tuple[Any, Cut]:
        plan = Plan(self.gm, self.known, self.banned)
        levels = sorted({plan.level[n] for n in plan.side if plan.side[n] == "gnnc" and
                         n not in plan.floating})
        for level in levels:
            nodes = plan.in_level(level)
            if not any(n.target in EDGES for n in nodes):
                for n in nodes:
                    self.banned[n] = "no edges in this part"
                return self._attempt()
        parts = []
        for level in levels:
            parts.append((level, *self._part(plan, level)))
        cut = Cut()
        return Writer(plan, parts, cut, self.user_outputs).write(), cut

    def _part(self, plan: Plan, level: int) -> Tuple[Translator, Any]:
        """One level: what it reads and gives, and what runs it."""
        t = self._translated(plan, level, {})
        if not t.multiplied:
            return t, self._program(t)
        nodes = list(t.multiplied)

        def make(kinds: Tuple[Optional[str], ...]) -> Variant:
            own = t
            if any(kinds):
                own = self._translated(plan, level, {n: k for n, k in zip(nodes, kinds) if k})
            where = [a.find() for a in t.spaces]
            return Variant(self._program(own),
                           [where.index(a.find()) if a.find() in where else -1
                            for a in own.spaces],
                           [t.relations.index(r) for r in own.relations],
                           [t.sources.index(n) for n in own.sources],
                           [nodes.index(n) for n in own.factors])

        return t, Choice([t.sources.index(n) for n in nodes],
                         [self.kinds.get(str(n.target)) for n in nodes], make)

    def _translated(self, plan: Plan, level: int, sparse: Dict[fx.Node, str]) -> Translator:
        t = Translator(plan, level, sparse)
        nodes = plan.in_level(level)
        t.translate(nodes, [n for n in nodes if self._leaves(plan, n, level)])
        return t

    def _program(self, t: Translator) -> Program:
        text = t.program()
        try:
            return self.program_type(text, t.ends(), t.patterns, t.inputs, t.outputs, self.mode,
                                     self.threads)
        except ModelError as e:
            nodes = t.plan.in_level(t.level)
            node = _node_of_line(text, t, e.message)
            if node is None or node in self.banned:
                node = nodes[-1] if nodes[-1] not in self.banned else None
            raise Unsupported(node, e.message.split("\n")[0]) from e

    def _leaves(self, plan: Plan, node: fx.Node, level: int) -> bool:
        """Something outside of its part reads it."""
        return any(plan.side.get(u) != "gnnc" or
                   (plan.level[u] != level) for u in node.users)
