"""Sums, means and extrema along axes, and what is made of them: softmax, norms."""

from __future__ import annotations

import math
from typing import Any, Tuple

import torch
from torch import fx

from .._ir import Value
from .._spaces import Axes, Unsupported
from .axes import Pairs, elementwise, first_alone, reduced, reduced_axes
from .rule import fit, out_type, rule
from .values import argument, aten
from .views import _trailing


def _reduce(t: Any, node: fx.Node, red: int, mean: bool = False) -> Value:
    if node.kwargs.get("dtype") not in (None, torch.float32):
        raise Unsupported(node, "in another type")
    v, gone = t.value(node.args[0]), reduced_axes(node)
    if v.turned:
        gone = [1 - k for k in gone]
    if v.elem != "f32":
        raise Unsupported(node, "of truth values")
    count: Any = 1
    if v.space is not None:
        rows = 0 in gone
        gone = [k - 1 for k in gone if k > 0]
        if rows and red:
            raise Unsupported(node, "the maximum over all rows")
        if gone:
            v2 = t.text.reduce(v, red, gone)
            count = math.prod(v.dims[k] for k in gone)
            v = v2
        if rows:
            space = v.space
            v = t.text.add("space_reduce", (v,), v.elem, None, v.dims, f"red = {red}")
            if mean:
                v = t.text.map("div", v, t.text.broadcast(t.count(space), None, v.dims))
    elif gone:
        count = math.prod(v.dims[k] for k in gone)
        v = t.text.reduce(v, red, gone)
    if mean and count != 1:
        v = t.text.map("div", v, t.text.const(count, v))
    return t.text.reshape(v, out_type(t, node)[1])


rule(aten.sum.dim_IntList, meets=reduced, work=True)(lambda t, n: _reduce(t, n, 0))
rule(aten.mean.dim, meets=reduced, work=True)(lambda t, n: _reduce(t, n, 0, True))
rule(aten.amax.default, meets=reduced, work=True)(lambda t, n: _reduce(t, n, 1))
rule(aten.amin.default, meets=reduced, work=True)(lambda t, n: _reduce(t, n, 2))
rule(aten.mean.default, meets=lambda x, n: [], work=True)(lambda t, n: _reduce(t, n, 0, True))
rule(aten.sum.default, meets=lambda x, n: [], work=True)(lambda t, n: _reduce(t, n, 0))


def _along_last(t: Any, node: fx.Node, a: fx.Node, dim: int) -> Tuple[Value, int]:
    return _trailing(t, node, a, dim)


def _spread(t: Any, v: Value, like: Value, axis: int) -> Value:
    dims = list(like.dims)
    dims[axis] = 1
    return t.text.broadcast(t.text.reshape(v, dims), like.space, like.dims)


@rule(aten._log_softmax.default, aten._softmax.default, meets=first_alone, work=True)
def softmax(t: Any, node: fx.Node) -> Value:
    m, (v, axis) = t.text.map, _along_last(t, node, node.args[0], node.args[1])
    v = m("sub", v, _spread(t, t.text.reduce(v, 1, [axis]), v, axis))
    e = m("exp", v)
    total = t.text.reduce(e, 0, [axis])
    if node.target is aten._softmax.default:
        return m("div", e, _spread(t, total, v, axis))
    return m("sub", v, _spread(t, m("log", total), v, axis))


@rule(aten._log_softmax_backward_data.default, aten._softmax_backward_data.default,
      meets=elementwise)
def softmax_backward(t: Any, node: fx.Node) -> Value:
    m, (g, axis) = t.text.map, _along_last(t, node, node.args[0], node.args[2])
    y = fit(t, node, node.args[1])
    if node.target is aten._softmax_backward_data.default:
        gy = m("mul", g, y)
        return m("sub", gy, m("mul", y, _spread(t, t.text.reduce(gy, 0, [axis]), g, axis)))
    return m("sub", g, m("mul", m("exp", y), _spread(t, t.text.reduce(g, 0, [axis]), g, axis)))


@rule(aten.linalg_vector_norm.default,
      meets=lambda x, n: _norm_meets(x, n), work=True)
def vector_norm(t: Any, node: fx.Node) -> Value:
    if argument(node, 1, "ord", 2) != 2 or node.kwargs.get("dtype") is not None:
        raise Unsupported(node, "of another order")
    v, gone = t.value(node.args[0]), reduced_axes(node, 2)
    gone = [k - 1 if v.space is not None else k for k in gone]
    if v.turned or any(k < 0 for k in gone):
        raise Unsupported(node, "along rows")
    v = t.text.map("sqrt", t.text.reduce(t.text.map("mul", v, v), 0, gone))
    return t.text.reshape(v, out_type(t, node)[1])


def _norm_meets(x: Axes, node: fx.Node) -> Pairs:
    gone, a, out = reduced_axes(node, 2), x.axes(node.args[0]), x.axes(node)
    if len(a) == len(out):
        return [(a[k], out[k]) for k in range(len(a)) if k not in gone]
    return list(zip([v for k, v in enumerate(a) if k not in gone], out))
