"""Operators that put elements elsewhere: shapes, slices, and tensors side by side."""

from __future__ import annotations

from typing import Any, Tuple

from torch import fx

from .._ir import Value
from .._spaces import Axes, Unsupported, value_of
from .axes import (Pairs, along, elementwise, joined, permutation, permuted, regrouped, selected,
                   shifted)
from .rule import fit, out_type, rule
from .values import argument, aten, constant


@rule(aten.view.default, aten.reshape.default, aten._unsafe_view.default, meets=regrouped)
def view(t: Any, node: fx.Node) -> Value:
    return _reshaped(t, node)


@rule(aten.unsqueeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.squeeze.default,
      meets=shifted)
def shift(t: Any, node: fx.Node) -> Value:
    return _reshaped(t, node)


def _reshaped(t: Any, node: fx.Node) -> Value:
    v = t.value(node.args[0])
    space, dims = out_type(t, node)
    if v.turned:
        raise Unsupported(node, "of a transposed tensor")
    if v.space != space:
        if v.space is None and value_of(node).shape and v.dims[:1] == (1,):
            raise Unsupported(node, "rows come of no rows")
        raise Unsupported(node, "rows and other axes are mixed")
    return t.text.reshape(v, dims)


@rule(aten.expand.default, meets=elementwise)
def expand(t: Any, node: fx.Node) -> Value:
    return fit(t, node, node.args[0])


@rule(aten.t.default, aten.permute.default, aten.transpose.int, meets=permuted)
def permute(t: Any, node: fx.Node) -> Value:
    v, order = t.value(node.args[0]), permutation(node)
    if order == sorted(order):
        return v
    if v.turned:  # of two axes
        return v._replace(turned=False)
    if v.space is not None:
        if order == [1, 0]:
            return v._replace(turned=True)
        if order[0] != 0:
            raise Unsupported(node, "rows do not stay the first axis")
        order = [k - 1 for k in order[1:]]
    perm = sum(k << 4 * j for j, k in enumerate(order))
    return t.text.add("transpose", (v,), v.elem, v.space, [v.dims[k] for k in order],
                      f"perm = {perm}")


def _trailing(t: Any, node: fx.Node, of: fx.Node, axis: int) -> Tuple[Value, int]:
    """A value, and which of its trailing axes an axis is."""
    v = t.value(of)
    axis %= value_of(of).dim()
    if v.turned:
        raise Unsupported(node, "of a transposed tensor")
    if v.space is not None:
        axis -= 1
    if axis < 0:
        raise Unsupported(node, "along rows")
    return v, axis


@rule(aten.slice.Tensor, meets=along)
def slice_(t: Any, node: fx.Node) -> Value:
    axis = argument(node, 1, "dim", 0)
    start, end, step = (argument(node, k, name, d) for k, name, d in
                        ((2, "start", 0), (3, "end", None), (4, "step", 1)))
    if step != 1 or not isinstance(start or 0, int):
        raise Unsupported(node, "with a step")
    if value_of(node).shape == value_of(node.args[0]).shape:
        return t.value(node.args[0])
    v, axis = _trailing(t, node, node.args[0], axis)
    start = start or 0
    start = max(start + v.dims[axis], 0) if start < 0 else start
    return t.text.add("slice", (v,), v.elem, v.space, out_type(t, node)[1],
                      f"axis = {axis}, start = {start}")


@rule(aten.slice_backward.default, meets=along)
def slice_backward(t: Any, node: fx.Node) -> Value:
    grad, _, axis, start, _, step = node.args
    if t.axes.shape(grad) == t.axes.shape(node):
        return t.value(grad)
    if step != 1 or not isinstance(start, int):
        raise Unsupported(node, "with a step")
    v, axis = _trailing(t, node, grad, axis)
    dims = out_type(t, node)[1]
    start = start + dims[axis] if start < 0 else start
    return t.text.add("pad", (v,), v.elem, v.space, dims, f"axis = {axis}, before = {start}")


@rule(aten.select.int, meets=selected)
def select(t: Any, node: fx.Node) -> Value:
    v, axis = _trailing(t, node, node.args[0], node.args[1])
    at = node.args[2]
    if not isinstance(at, int):
        raise Unsupported(node, "of a place that is computed")
    dims = list(v.dims)
    at, dims[axis] = at % dims[axis], 1
    v = t.text.add("slice", (v,), v.elem, v.space, dims, f"axis = {axis}, start = {at}")
    return t.text.reshape(v, out_type(t, node)[1])


@rule(aten.cat.default, meets=joined)
def cat(t: Any, node: fx.Node) -> Value:
    axis = argument(node, 1, "dim", 0)
    space, dims = out_type(t, node)
    parts = []
    for a in node.args[0]:
        shape = list(t.axes.shape(a))
        if constant(a) is not None:
            own = [int(s) for s in (shape[1:] if space else shape)]
            v = t.text.add("const", (), t.elem_of(a), space, own, f"value = {constant(a)}")
        else:
            v = t.value(a)
        if v.turned or v.space != space:
            raise Unsupported(node, "of rows of several spaces")
        parts.append(v)
    axis = axis % value_of(node).dim() - (1 if space else 0)
    if axis < 0:
        raise Unsupported(node, "along rows")
    if len(parts) == 1:
        return parts[0]
    return t.text.add("concat", parts, parts[0].elem, space, dims, f"axis = {axis}")


def stacked(x: Axes, node: fx.Node) -> Pairs:
    out = list(x.axes(node))
    del out[argument(node, 1, "dim", 0) % len(out)]
    return [pair for a in node.args[0] for pair in zip(x.axes(a), out)]


@rule(aten.stack.default, meets=stacked)
def stack(t: Any, node: fx.Node) -> Value:
    space, dims = out_type(t, node)
    axis = argument(node, 1, "dim", 0) % value_of(node).dim() - (1 if space else 0)
    if axis < 0:
        raise Unsupported(node, "along rows")
    one = dims[:axis] + (1,) + dims[axis + 1:]
    parts = []
    for a in node.args[0]:
        v = t.value(a)
        if v.turned or v.space != space:
            raise Unsupported(node, "of rows of several spaces")
        parts.append(t.text.reshape(v, one))
    if len(parts) == 1:
        return parts[0]
    return t.text.add("concat", parts, parts[0].elem, space, dims, f"axis = {axis}")


def unselected(x: Axes, node: fx.Node) -> Pairs:
    out = list(x.axes(node))
    del out[node.args[2] % len(out)]
    return list(zip(x.axes(node.args[0]), out))


@rule(aten.select_backward.default, meets=unselected)
def select_backward(t: Any, node: fx.Node) -> Value:
    grad, _, axis, at = node.args
    v, (space, dims) = t.value(grad), out_type(t, node)
    axis = axis % len(value_of(node).shape) - (1 if space else 0)
    if axis < 0 or v.turned or not isinstance(at, int):
        raise Unsupported(node, "along rows")
    v = t.text.reshape(v, dims[:axis] + (1,) + dims[axis + 1:])
    return t.text.add("pad", (v,), v.elem, space, dims,
                      f"axis = {axis}, before = {at % dims[axis]}")


@rule(aten.repeat.default, meets=elementwise)
def repeat(t: Any, node: fx.Node) -> Value:
    shape = t.axes.shape(node.args[0])
    shape = [1] * (len(node.args[1]) - len(shape)) + shape
    if any(n != 1 and s != 1 for n, s in zip(node.args[1], shape)):
        raise Unsupported(node, "of more than one")
    return fit(t, node, node.args[0])
