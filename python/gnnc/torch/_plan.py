"""Which side runs what: sides and levels of all values of a graph."""

from __future__ import annotations

from typing import Any, Dict, List, Set

import torch
from torch import fx

from ._graphs import graph_alone, is_random, is_size
from ._rules import EDGES, RULES, aten, constant, index_of
from ._spaces import Axes, Unsupported, value_of

# What may take sizes that change.
SIZED = {aten.view.default, aten.reshape.default, aten.expand.default, aten._unsafe_view.default,
         aten.slice_backward.default, aten.slice.Tensor, aten.mul.Tensor, aten.div.Tensor,
         aten.add.Tensor, aten.sub.Tensor, aten.mul.Scalar, aten.div.Scalar}
_ELEMS = {torch.float32: "f32", torch.bool: "bool"}


class Plan:
    """Sides and levels of all values: torch has the even levels, gnnc the odd ones."""

    def __init__(self, gm: fx.GraphModule, known: Dict[Any, Any],
                 banned: Dict[fx.Node, str]) -> None:
        self.graph, self.axes, self.banned = gm.graph, Axes(known), banned
        self.side: Dict[fx.Node, str] = {}
        self.why: Dict[fx.Node, str] = {}
        self.level: Dict[fx.Node, int] = {}
        self.alone = graph_alone(gm.graph)
        self._sides()
        self._levels()

    def _sides(self) -> None:
        for node in self.graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                self.side[node] = "input"
            elif node.op == "output":
                continue
            elif constant(node) is not None:
                self.side[node] = "constant"
            elif self._is_index(node):
                self.side[node] = "index"
            elif node in self.alone:
                self.side[node] = "alone"
            elif node.target is aten._assert_scalar.default:
                self.side[node] = "alone" if self._size_of_alone(node) else "torch"
                self.why[node] = "size"
            elif is_size(node):
                self.side[node] = "alone" if self._size_of_alone(node) else "torch"
                self.why[node] = "size"
            else:
                self._try(node)
        self.floating: Set[fx.Node] = set()
        for node in self.graph.nodes:
            if self.side.get(node) != "gnnc" or RULES[node.target].work or node.target in EDGES:
                continue
            if all(self.side.get(a) in ("input", "constant") or a in self.floating
                   for a in node.all_input_nodes):
                self.floating.add(node)

    def _is_index(self, node: fx.Node) -> bool:
        found = index_of(node)
        return found is not None and found[0] is not node

    def _size_of_alone(self, node: fx.Node) -> bool:
        return any(self.side.get(a) == "alone" for a in node.all_input_nodes) and \
            all(self.side.get(a) in ("alone", "input", "constant") and
                (self.side.get(a) == "alone" or is_size(a)) for a in node.all_input_nodes)

    def _try(self, node: fx.Node) -> None:
        self.side[node] = "torch"
        if is_random(node):
            self.why[node] = "random"
            return
        if node in self.banned:
            self.why[node] = self.banned[node]
            return
        r = RULES.get(node.target)
        if r is None:
            self.why[node] = "gnnc has no such operator"
            return
        try:
            self._check_types(node)
            self.axes.same(node, r.meets(self.axes, node))  # type: ignore[arg-type]
            self.side[node] = "gnnc"
        except Unsupported as e:
            self.why[node] = e.why
        except (IndexError, KeyError, TypeError, AttributeError) as e:
            self.why[node] = f"arguments of another kind ({e})"

    def _check_types(self, node: fx.Node) -> None:
        for a in [node, *node.all_input_nodes]:
            val = value_of(a)
            if isinstance(val, torch.Tensor):
                if index_of(a) is not None and node.target in EDGES and a is not node:
                    continue
                if val.dtype not in _ELEMS:
                    raise Unsupported(node, f"of {str(val.dtype).replace('torch.', '')}")
                if val.device.type != "cpu" or val.layout != torch.strided:
                    raise Unsupported(node, "not a dense tensor of the CPU")
                if any(s == 0 for s in self.axes.shape(a)):
                    raise Unsupported(node, "a tensor without elements")
                if val.dim() > 5:
                    raise Unsupported(node, "of more than five axes")
            elif a is not node and is_size(a) and node.target not in SIZED:
                raise Unsupported(node, "of a size that is computed")
            elif isinstance(val, (tuple, list)):
                raise Unsupported(node, "of several tensors")

    def _levels(self) -> None:
        drawn = 0
        for node in self.graph.nodes:
            side = self.side.get(node)
            if side in (None, "input", "constant", "alone") or node in self.floating:
                self.level[node] = 0
                continue
            level = 1 if side == "gnnc" else 0
            for a in node.all_input_nodes:
                of = self.level[a]
                if side == "gnnc" and is_size(a):
                    continue  # gnnc knows how many rows there are
                if side == "index":
                    level = max(level, of)
                elif (of % 2 == 1) == (side == "gnnc"):
                    level = max(level, of)
                else:
                    level = max(level, of + 1)
            if side == "torch" and (is_random(node) or not _droppable(node)):
                level = max(level, drawn)
                drawn = level
            self.level[node] = level

    def in_level(self, level: int) -> List[fx.Node]:
        return [n for n in self.graph.nodes if self.side.get(n) == "gnnc" and
                self.level[n] == level and n not in self.floating]


def _droppable(node: fx.Node) -> bool:
    return not node.is_impure()
