"""Which axes of the tensors of a graph are rows, and of what: of nodes, or of a relation's edges.

An axis is a class of a union-find; operators say which axes are one.  What an index tensor picks
from is rows, what it gives lies on edges; an axis whose size is not known is rows, too.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

import sympy
import torch
from torch import fx


class Unsupported(Exception):
    """An operator that is left to torch, and why."""

    def __init__(self, node: Optional[fx.Node], why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


class Relation:
    """Edges that an index tensor gives: its two rows are their ends, or it is a list of one end.

    Of a list the other end is the place in it.
    """

    def __init__(self, root: fx.Node, lone: bool, edges: "Axis", ends: List["Axis"]) -> None:
        self.root, self.lone, self.edges, self.ends = root, lone, edges, ends


class Axis:
    """An axis: its size, an integer or an expression, and whose rows it counts."""

    __slots__ = ("parent", "size", "rows", "relation")

    def __init__(self, size: Any) -> None:
        self.parent: Optional[Axis] = None
        self.size = size
        self.rows = not isinstance(size, int)
        self.relation: Optional[Relation] = None

    def find(self) -> "Axis":
        a = self
        while a.parent is not None:
            a = a.parent
        return a


def size_of(s: Any, known: Dict[Any, Any]) -> Any:
    """A size as an integer or an expression, with symbols that are known to be others replaced."""
    if isinstance(s, int):
        return s
    expr = s.node.expr if isinstance(s, torch.SymInt) else s
    if known:
        expr = expr.xreplace(known)
    return int(expr) if expr.is_Integer else sympy.sympify(expr)


def value_of(node: fx.Node) -> Any:
    return node.meta.get("val")


class Axes:
    """The axes of all values of a graph, and its relations."""

    def __init__(self, known: Dict[Any, Any]) -> None:
        self.known = known
        self.of: Dict[fx.Node, List[Axis]] = {}
        self.relations: Dict[Tuple[fx.Node, bool], Relation] = {}
        self.ends: Dict[Any, Axis] = {}

    def shape(self, node: fx.Node) -> List[Any]:
        return [size_of(s, self.known) for s in value_of(node).shape]

    def axes(self, node: fx.Node) -> List[Axis]:
        if node not in self.of:
            self.of[node] = [Axis(s) for s in self.shape(node)]
        return self.of[node]

    def end(self, size: Any) -> Axis:
        """Rows that edges begin or end at: one class for each size."""
        if size not in self.ends:
            self.ends[size] = Axis(size)
            self.ends[size].rows = True
        return self.ends[size].find()

    def relation(self, root: fx.Node, lone: bool) -> Relation:
        key = (root, lone)
        if key not in self.relations:
            size = self.shape(root)[-1]
            if lone:
                edges = self.end(size)
            else:
                edges = Axis(size)
                edges.rows = True
            r = Relation(root, lone, edges, [None, None])  # type: ignore[list-item]
            if lone:
                r.ends[0] = edges
            else:
                edges.relation = r
            self.relations[key] = r
        return self.relations[key]

    def end_of(self, node: fx.Node, r: Relation, k: int, size: Any) -> Axis:
        """The rows at end k of a relation, of which there are `size`."""
        if r.ends[k] is None:
            r.ends[k] = self.end(size)
        elif r.ends[k].find().size != size:
            raise Unsupported(node, "an index tensor picks from tensors of different lengths")
        return r.ends[k].find()

    def same(self, node: fx.Node, pairs: Iterator[Tuple[Axis, Axis]]) -> None:
        """Makes axes one."""
        for a, b in pairs:
            a, b = a.find(), b.find()
            if a is b:
                continue
            if a.size != b.size:
                raise Unsupported(node, f"axes of {a.size} and {b.size} meet")
            if a.relation is not None and b.relation is not None:
                raise Unsupported(node, "rows of two relations' edges meet")
            if b.relation is not None:
                a, b = b, a
            if a.relation is not None and self.ends.get(a.size) is not None and \
                    self.ends[a.size].find() is b:
                raise Unsupported(node, "rows of edges meet rows of nodes")
            b.parent = a
            a.rows = a.rows or b.rows

    def row_of(self, node: fx.Node) -> Optional[int]:
        """Which axis of a value is rows; None: it has none."""
        rows = [k for k, a in enumerate(self.axes(node)) if a.find().rows]
        if len(rows) > 1:
            raise Unsupported(node, "more than one axis of a size that changes")
        return rows[0] if rows else None
