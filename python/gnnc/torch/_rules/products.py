"""Products of matrices, which sums over edges are taken out of where that makes rows narrower."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from torch import fx

from .._ir import Value
from .._spaces import Axes, Relation, Unsupported
from .axes import Pairs, product
from .edges import EDGES, SCATTERS, Edge, _gathered, _scattered
from .rule import fit, out_type, rule, scaled
from .values import aten, constant

# What products may go through (_narrowed, _moved).
MOVES = {*EDGES, aten.add.Tensor, aten.mul.Tensor, aten.div.Tensor, aten.expand.default,
         aten.view.default, aten.unsqueeze.default}


@rule(aten.mm.default, aten.addmm.default, meets=product, work=True)
def mm(t: Any, node: fx.Node) -> Value:
    if any(not isinstance(v, (int, float)) for v in node.kwargs.values()):
        raise Unsupported(node, "in another type")
    moved = _moved(t, node)
    if moved is not None:
        return moved
    (va, ta), (vb, tb) = (_plain(t, k) for k in node.args[-2:])
    narrow = _narrowed(t, node, vb, tb)
    if narrow is not None:
        return narrow
    space, dims = out_type(t, node)
    if vb.space is not None and not (va.space == vb.space and ta and not tb):
        raise Unsupported(node, "rows are the right operand's")
    if va.space is not None and ta and vb.space is None:
        raise Unsupported(node, "rows are the left operand's columns")
    return _plus_bias(t, node, _product(t, (va, ta), (vb, tb), space, dims))


def _product(t: Any, a: Tuple[Value, bool], b: Tuple[Value, bool], space: Optional[str],
             dims: Tuple[int, ...]) -> Value:
    """A product of two matrices, each with whether its transpose is meant.

    Of a matrix of few non-zeros that the program has as a relation of columns to rows it is a sum
    over edges, as the pass `sparsify` has it.
    """
    (va, ta), (vb, tb) = a, b
    if va.space is not None and not ta and vb.space is None:
        m = t.matrix(va)
        if m is not None:
            return _from_columns(t, m, t.text.flipped(vb) if tb else vb)
    elif va.space is not None and ta and vb.space == va.space and not tb:
        m = t.matrix(va)
        if m is not None:
            return _to_columns(t, m, vb)
        m = t.matrix(vb)
        if m is not None:
            return t.text.flipped(_to_columns(t, m, va))
    return t.text.add("matmul", (va, vb), "f32", space, dims, f"ta = {int(ta)}, tb = {int(tb)}")


def _weighed(t: Any, m: Any, v: Value) -> Value:
    """What edges of a matrix carry, times its non-zeros."""
    by = t.nonzeros(m)
    if by is None:
        return v
    return t.text.map("mul", v, t.text.broadcast(t.text.reshape(by, (1,)), v.space, v.dims))


def _from_columns(t: Any, m: Any, w: Value) -> Value:
    """X W"""
    rows = t.text.add("to_rows", (w,), "f32", m.columns, w.dims[1:])
    v = t.text.add("gather", (m.graph, rows), "f32", m.edges, rows.dims, "end = 0")
    return t.text.add("scatter", (m.graph, _weighed(t, m, v)), "f32", m.rows, v.dims,
                      "end = 1, red = 0")


def _to_columns(t: Any, m: Any, y: Value) -> Value:
    """X^T Y"""
    v = t.text.add("gather", (m.graph, y), "f32", m.edges, y.dims, "end = 1")
    v = t.text.add("scatter", (m.graph, _weighed(t, m, v)), "f32", m.columns, v.dims,
                   "end = 0, red = 0")
    return t.text.add("from_rows", (v,), "f32", None, (m.width, *v.dims))


def _plus_bias(t: Any, node: fx.Node, v: Value) -> Value:
    if node.target is aten.addmm.default:
        bias = scaled(t, fit(t, node, node.args[0]), node.kwargs.get("beta", 1))
        v = t.text.map("add", scaled(t, v, node.kwargs.get("alpha", 1)), bias)
    return v


def _narrowed(t: Any, node: fx.Node, w: Value, turned: bool) -> Optional[Value]:
    """(A X) W as A (X W), where X W has fewer columns than X."""
    s = node.args[-2]
    space, dims = out_type(t, node)
    if w.space is not None or space is None or not t.is_here(s) or t.is_result(s) or \
            t.axes.row_of(s) != 0 or t.axes.shape(s)[1] <= dims[0] or \
            any(u.target not in (aten.mm.default, aten.addmm.default) for u in s.users):
        return None
    leaves: Dict[fx.Node, Value] = {}

    def leaf(x: fx.Node) -> Value:
        if x not in leaves:
            v = t.value(x)
            if v.turned or v.space is None:
                raise Unsupported(node, "of a transposed tensor")
            leaves[x] = _product(t, (v, False), (w, turned), v.space, dims)
        return leaves[x]

    v = _push(t, s, leaf)
    return None if v is None else _plus_bias(t, node, v)


def _push(t: Any, s: fx.Node, leaf: Callable[[fx.Node], Value]) -> Optional[Value]:
    """s as a sum across edges of its leaves, in the place of which others are; None: it is none."""
    if not t.is_here(s):
        return None
    if s.target is aten.add.Tensor:
        if s.kwargs or not all(isinstance(b, fx.Node) and t.axes.shape(b) == t.axes.shape(s)
                               for b in s.args):
            return None
        parts = [_push(t, b, leaf) for b in s.args]
        if all(p is None for p in parts):
            return None
        parts = [p if p is not None else _scaled_leaf(t, b, leaf) for p, b in zip(parts, s.args)]
        return t.text.map("add", *parts)
    factor = _factor(t, s)
    if factor is not None:
        of, op, by = factor
        v = _push(t, of, leaf)
        return None if v is None else t.text.map(op, v, _wide(t, by, v))
    e = _summed(t, s)
    if e is None:
        return None
    r, k, row, data, weight = e
    v = _gathered(t, r, row, leaf(data))
    if weight is not None:
        v = t.text.map("mul", v, _wide(t, weight, v))
    return _scattered(t, r, k, v, 0)


def _scaled_leaf(t: Any, s: fx.Node, leaf: Callable[[fx.Node], Value]) -> Value:
    factor = _factor(t, s) if t.is_here(s) else None
    if factor is None:
        return leaf(s)
    of, op, by = factor
    v = _scaled_leaf(t, of, leaf)
    return t.text.map(op, v, _wide(t, by, v))


def _factor(t: Any, s: fx.Node) -> Optional[Tuple[fx.Node, str, Any]]:
    """What is multiplied or divided by one number a row."""
    if s.target not in (aten.div.Tensor, aten.mul.Tensor) or len(s.args) != 2 or s.kwargs:
        return None
    op = "div" if s.target is aten.div.Tensor else "mul"
    for of, by in ((s.args[0], s.args[1]), (s.args[1], s.args[0]))[:1 if op == "div" else 2]:
        if isinstance(of, fx.Node) and t.axes.shape(of) == t.axes.shape(s):
            number = _row_number(t, by)
            if number is not None:
                return of, op, number
    return None


def _summed(t: Any, s: fx.Node) -> Optional[Tuple[Relation, int, int, fx.Node, Any]]:
    """A sum over edges of what is gathered at their other ends, times a number an edge."""
    if s.target not in SCATTERS or constant(s.args[0]) != 0:
        return None
    e = Edge(s)
    source, weight = e.source, None
    if e.red or e.mean or e.row is None or not isinstance(source, fx.Node):
        return None
    if source.target is aten.mul.Tensor and t.is_here(source):
        factor = _factor(t, source)
        if factor is None:
            return None
        source, _, weight = factor
    if source.target not in EDGES or source.target in SCATTERS or not t.is_here(source):
        return None
    near = Edge(source)
    r, k = e.relation(t.axes)
    if near.row is None or near.root is not e.root or near.row == k or \
            not isinstance(near.data, fx.Node) or constant(near.data) is not None:
        return None
    return r, k, near.row, near.data, weight


def _moved(t: Any, node: fx.Node) -> Optional[Value]:
    """(A X)^T Y as X^T (A^T Y), where Y has fewer columns than X: gradients of weights."""
    if node.target is not aten.mm.default:
        return None
    a, b = node.args
    first = _turned(a)
    if first is None or t.axes.row_of(first) != 0 or t.axes.row_of(b) != 0:
        return None
    for far, near, left in ((b, first, False), (first, b, True)):
        shape = t.axes.shape(near)
        if t.axes.shape(far)[1] <= shape[1] or not t.is_here(far):
            continue
        pieces: List[Tuple[fx.Node, Value]] = []
        if not _pull(t, far, lambda: t.value(near), pieces):
            continue
        total: Optional[Value] = None
        dims = out_type(t, node)[1]
        sums: Dict[fx.Node, Value] = {}
        for x, y in pieces:
            sums[x] = t.text.map("add", sums[x], y) if x in sums else y
        for x, y in sums.items():
            a, b = (t.value(x), y) if left else (y, t.value(x))
            v = _product(t, (a, True), (b, False), None, dims)
            total = v if total is None else t.text.map("add", total, v)
        return total
    return None


def _turned(a: Any) -> Optional[fx.Node]:
    """Of which matrix this is the transpose."""
    if a.op == "call_function" and a.target is aten.t.default:
        return a.args[0]
    return None


def _pull(t: Any, s: fx.Node, y: Callable[[], Value], pieces: List[Tuple[fx.Node, Value]]) -> bool:
    """s^T y as a sum of x^T y', one of them across edges; false: there is none such."""
    if not t.is_here(s):
        pieces.append((s, y()))
        return False
    a = s.args
    if s.target is aten.add.Tensor and not s.kwargs and all(
            isinstance(b, fx.Node) and t.axes.shape(b) == t.axes.shape(s) for b in a):
        start = len(pieces)
        found = [_pull(t, b, y, pieces) for b in a]
        if any(found):
            return True
        del pieces[start:]
        pieces.append((s, y()))
        return False
    factor = _factor(t, s)
    if factor is not None:
        of, op, by = factor

        def scaled_by() -> Value:
            v = y()
            return t.text.map(op, v, _wide(t, by, v))
        return _pull(t, of, scaled_by, pieces)
    e = _summed(t, s)
    if e is not None:
        r, k, row, data, weight = e
        v = _gathered(t, r, k, y())
        if weight is not None:
            v = t.text.map("mul", v, _wide(t, weight, v))
        pieces.append((data, _scattered(t, r, row, v, 0)))
        return True
    pieces.append((s, y()))
    return False


def _row_number(t: Any, by: Any) -> Any:
    """What is one number for all of a row, or for everything."""
    if isinstance(by, (int, float)):
        return float(by)
    if constant(by) is not None:
        return constant(by)
    if by.op == "call_function" and by.target is aten.expand.default:
        by = by.args[0]
    shape = t.axes.shape(by)
    if shape in ([], [1], [1, 1]):
        return by if t.axes.row_of(by) is None else None
    if len(shape) == 2 and shape[1] == 1 and t.axes.row_of(by) == 0:
        return by
    return None


def _wide(t: Any, by: Any, like: Value) -> Value:
    if isinstance(by, float):
        return t.text.const(by, like)
    v = t.value(by)
    if v.space is None:
        v = t.text.reshape(v, [1] * len(like.dims))
    return t.text.broadcast(v, like.space, like.dims)


def _plain(t: Any, a: fx.Node) -> Tuple[Value, bool]:
    """A matrix, and whether its transpose is meant."""
    if isinstance(a, fx.Node) and a.op == "call_function" and a.target is aten.t.default:
        v = t.value(a.args[0]) if t.is_here(a) else None
        if v is not None and v.space is None and not v.turned:
            return v, True
    v = t.value(a)
    return v._replace(turned=False), v.turned


def row_products(x: Axes, node: fx.Node) -> Pairs:
    a, b, out = x.axes(node.args[0]), x.axes(node.args[1]), x.axes(node)
    return [(a[0], out[0]), (b[0], out[0]), (a[1], out[1]), (a[2], b[1]), (b[2], out[2])]


@rule(aten.bmm.default, meets=row_products, work=True)
def bmm(t: Any, node: fx.Node) -> Value:
    a, b = t.value(node.args[0]), t.value(node.args[1])
    space, dims = out_type(t, node)
    if space is None or a.space != space or b.space != space:
        raise Unsupported(node, "of matrices that are no rows")
    m, k, n = dims[0], a.dims[1], dims[1]
    a = t.text.broadcast(t.text.reshape(a, (m, k, 1)), space, (m, k, n))
    b = t.text.broadcast(t.text.reshape(b, (1, k, n)), space, (m, k, n))
    return t.text.reduce(t.text.map("mul", a, b), 0, [1])
