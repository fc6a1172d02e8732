"""Operators that gather and scatter by an index: edges of a relation."""

from __future__ import annotations

from typing import Any, Tuple

from torch import fx

from .._ir import Value
from .._spaces import Axes, Relation, Unsupported, value_of
from .axes import Pairs
from .rule import _number, fit, rule
from .values import argument, aten, constant, index_of


class Edge:
    """What an operator gathers or scatters: from which, by which index."""

    def __init__(self, node: fx.Node) -> None:
        self.node = node
        self.data: Any = node.args[0]  # gathered from, or added to
        self.source: Any = None        # scattered
        self.red = 0
        self.mean = False
        self.wide: Any = None          # an index of the same shape as what is scattered
        a, target = node.args, node.target
        if target in (aten.index_select.default, aten.gather.default):
            axis, self.index = a[1], a[2]
            if target is aten.gather.default:
                self.wide = a[2]
        elif target is aten.embedding.default:
            axis, self.index = 0, a[1]
            if argument(node, 3, "scale_grad_by_freq", False) or argument(node, 4, "sparse", False):
                raise Unsupported(node, "with options of gradients")
        elif target is aten.index.Tensor:
            axis, self.index = 0, a[1][0]
            if len(a[1]) != 1 or self.index is None:
                raise Unsupported(node, "by several indices, or of other axes than the first")
        elif target in (aten.index_put.default, aten._unsafe_index_put.default):
            axis, self.index, self.source = 0, a[1][0], a[2]
            if len(a[1]) != 1 or self.index is None or not argument(node, 3, "accumulate", False):
                raise Unsupported(node, "by several indices, or without adding")
        elif target is aten.index_add.default:
            axis, self.index, self.source = a[1], a[2], a[3]
            if node.kwargs.get("alpha", 1) != 1:
                raise Unsupported(node, "with alpha")
        else:  # scatter_add, scatter_reduce.two
            axis, self.index, self.source = a[1], a[2], a[3]
            self.wide = a[2]
            if target is aten.scatter_reduce.two:
                how = {"sum": (0, False), "mean": (0, True), "amax": (1, False),
                       "amin": (2, False)}.get(a[4])
                if how is None or (a[4] != "sum" and node.kwargs.get("include_self", True)):
                    raise Unsupported(node, f"{a[4]} of what there is besides")
                self.red, self.mean = how
        rank = value_of(self.data).dim()
        if axis % max(rank, 1) != 0:
            raise Unsupported(node, "along another axis than the first")
        found = index_of(self.index)
        if found is None:
            raise Unsupported(node, "the index is no list of rows, nor a row of a pair")
        self.root, self.row = found
        like = node if self.source is None else self.source
        if self.wide is not None and value_of(self.wide).dim() != value_of(like).dim():
            raise Unsupported(node, "the index has another shape")

    def relation(self, x: Axes) -> Tuple[Relation, int]:
        r = x.relation(self.root, self.row is None)
        return r, (1 if self.row is None else self.row)


def edges_meet(x: Axes, node: fx.Node) -> Pairs:
    e = Edge(node)
    r, k = e.relation(x)
    far = e.data
    axes = x.axes(far)
    if e.wide is not None:
        like = x.shape(node if e.source is None else e.source)
        if x.shape(e.wide) != like:
            raise Unsupported(node, "the index has another shape")
    rows = x.end_of(node, r, k, axes[0].size)
    pairs: Pairs = []
    if e.source is None:
        out = x.axes(node)
        pairs = [(r.edges, out[0]), (rows, axes[0])] + list(zip(axes[1:], out[1:]))
    else:
        out = x.axes(node)
        pairs = [(rows, out[0])]
        if constant(e.source) is None:
            source = x.axes(e.source)
            pairs += [(r.edges, source[0])] + list(zip(source[1:], out[1:]))
            if len(source) != len(out):
                raise Unsupported(node, "what is scattered has another rank")
        if constant(e.data) is None:
            pairs += list(zip(axes, out))
    return pairs


EDGES = (aten.index_select.default, aten.gather.default, aten.index.Tensor,
         aten.index_put.default, aten._unsafe_index_put.default, aten.index_add.default,
         aten.scatter_add.default, aten.scatter_reduce.two, aten.embedding.default)
SCATTERS = (aten.index_put.default, aten._unsafe_index_put.default, aten.index_add.default,
            aten.scatter_add.default, aten.scatter_reduce.two)


def _gathered(t: Any, r: Relation, k: int, v: Value) -> Value:
    """The rows that edges name at an end."""
    graph, edges, spaces = t.graph(r)
    g = t.text
    at = Value(graph, "", None, ())
    v = g.add("gather", (at, v), v.elem, edges, v.dims, f"end = {k}")
    if r.lone:  # each place has one edge
        v = g.add("scatter", (at, v), v.elem, spaces[0], v.dims, "end = 0, red = 0")
    return v


def _scattered(t: Any, r: Relation, k: int, v: Value, red: int) -> Value:
    graph, edges, spaces = t.graph(r)
    at = Value(graph, "", None, ())
    if r.lone:
        v = t.text.add("gather", (at, v), v.elem, edges, v.dims, "end = 0")
    return t.text.add("scatter", (at, v), v.elem, spaces[k], v.dims, f"end = {k}, red = {red}")


@rule(*[e for e in EDGES if e not in SCATTERS], meets=edges_meet)
def gather(t: Any, node: fx.Node) -> Value:
    e = Edge(node)
    r, k = e.relation(t.axes)
    space, dims = t.type_of(node)
    c = constant(e.data)
    if c is not None:
        return t.text.add("const", (), t.elem_of(node), space, dims, f"value = {_number(c)}")
    v = t.value(e.data)
    if v.turned or v.space is None:
        raise Unsupported(node, "it picks from what has no rows")
    elem = v.elem
    v = _gathered(t, r, k, t.text.cast(v, "f32"))
    return t.text.cast(v, elem)


@rule(*SCATTERS, meets=edges_meet, work=True)
def scatter(t: Any, node: fx.Node) -> Value:
    e = Edge(node)
    r, k = e.relation(t.axes)
    space, dims = t.type_of(node)
    edges = t.space_of(r.edges)
    c = constant(e.source)
    if c is not None:
        v = t.text.add("const", (), "f32", edges, dims, f"value = {_number(c)}")
    else:
        v = t.value(e.source)
        if v.turned or v.space != edges:
            raise Unsupported(node, "what is scattered does not lie on the edges")
        v = t.text.cast(v, "f32")
    base = constant(e.data)
    if (e.red or e.mean) and base != 0:
        raise Unsupported(node, "rows without edges are other than 0")
    out = _scattered(t, r, k, v, e.red)
    if e.mean:
        one = t.text.add("const", (), "f32", edges, (), "value = 1.0")
        n = _scattered(t, r, k, one, 0)
        n = t.text.map("max", n, t.text.const(1, n))
        n = t.text.reshape(n, [1] * len(dims))
        out = t.text.map("div", out, t.text.broadcast(n, space, dims))
    if base != 0:
        out = t.text.map("add", out, fit(t, node, e.data, "f32"))
    return t.text.cast(out, t.elem_of(node))
