"""Operators of ATen as tensor IR.

Each has two parts: which axes it makes one (`meets`), and the values that it becomes (`emit`).
What neither knows raises Unsupported, with the reason, and stays with torch.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch import fx

from ._ir import Text, Value, number
from ._spaces import Axes, Axis, Relation, Unsupported, value_of

aten = torch.ops.aten

Pairs = List[Tuple[Axis, Axis]]


class Rule:
    def __init__(self, meets: Callable[..., Pairs], emit: Callable[..., Any], work: bool) -> None:
        self.meets, self.emit = meets, emit
        self.work = work  # its result is kept for the backward pass, rather than made again


RULES: Dict[Any, Rule] = {}


def rule(*targets: Any, meets: Callable[..., Pairs], work: bool = False) -> Callable[..., Any]:
    def note(emit: Callable[..., Any]) -> Callable[..., Any]:
        for t in targets:
            RULES[t] = Rule(meets, emit, work)
        return emit
    return note


def argument(node: fx.Node, k: int, name: str, default: Any = None) -> Any:
    if len(node.args) > k:
        return node.args[k]
    return node.kwargs.get(name, default)


# Constants ----------------------------------------------------------------------------------------

_FILLED = {aten.new_zeros.default: 0.0, aten.zeros.default: 0.0, aten.zeros_like.default: 0.0,
           aten.new_ones.default: 1.0, aten.ones.default: 1.0, aten.ones_like.default: 1.0}
_FULL = {aten.full.default: 1, aten.full_like.default: 1, aten.new_full.default: 2}
_THROUGH = {aten.view.default, aten.reshape.default, aten.expand.default, aten.unsqueeze.default,
            aten.squeeze.dim, aten.squeeze.default, aten.alias.default, aten.detach.default,
            aten.clone.default, aten._unsafe_view.default, aten.squeeze.dims}


def constant(node: Any) -> Optional[float]:
    """What every element of a value is, where that is written in the graph."""
    while isinstance(node, fx.Node) and node.op == "call_function":
        val = value_of(node)
        if not isinstance(val, torch.Tensor) or val.dtype not in (torch.float32, torch.bool):
            return None
        if node.target in _FILLED:
            return _FILLED[node.target]
        if node.target in _FULL:
            fill = argument(node, _FULL[node.target], "fill_value")
            return float(fill) if isinstance(fill, (int, float)) else None
        if node.target is aten.scalar_tensor.default:
            fill = node.args[0]
            return float(fill) if isinstance(fill, (int, float)) else None
        if node.target not in _THROUGH:
            return None
        node = node.args[0]
    return None


# Index tensors ------------------------------------------------------------------------------------

def index_of(node: Any) -> Optional[Tuple[fx.Node, Optional[int]]]:
    """The tensor that an index comes from, and which of its two rows it is (None: all of it)."""
    row: Optional[int] = None
    of: Any = node
    while isinstance(of, fx.Node):
        val = value_of(of)
        if not isinstance(val, torch.Tensor) or val.dtype != torch.int64:
            return None
        if of.op == "call_function" and of.target in _THROUGH and row is None and \
                _one_long(of) and _one_long(of.args[0]):
            of = of.args[0]
        elif of.op == "call_function" and of.target is aten.select.int and row is None and \
                len(value_of(of.args[0]).shape) == 2 and of.args[1] == 0 and \
                _is(value_of(of.args[0]).shape[0], 2):
            row = of.args[2] % 2
            of = of.args[0]
        elif of.op == "call_function" and of.target is operator.getitem and row is None and \
                of.args[0].target is aten.unbind.int and argument(of.args[0], 1, "dim", 0) == 0 \
                and _is(len(value_of(of.args[0])), 2):
            row = of.args[1]
            of = of.args[0].args[0]
        elif of.op == "call_function" and of.target in (aten.alias.default, aten.detach.default):
            of = of.args[0]
        else:
            break
    if not isinstance(of, fx.Node):
        return None
    if row is None and len(value_of(of).shape) != 1:
        return None
    return of, row


def _is(size: Any, n: int) -> bool:
    return isinstance(size, int) and size == n


def _one_long(node: Any) -> bool:
    """Its first axis alone is long: the others are 1, or repeat."""
    val = value_of(node) if isinstance(node, fx.Node) else None
    if not isinstance(val, torch.Tensor) or val.dim() == 0:
        return False
    if val.dim() == 1:
        return True
    if node.op != "call_function":
        return False
    if node.target is aten.expand.default:
        return _one_long(node.args[0]) and _same_first(node)
    if node.target in (aten.alias.default, aten.detach.default, aten.clone.default):
        return _one_long(node.args[0])
    return node.target in _THROUGH and all(_is(s, 1) for s in val.shape[1:])


def _same_first(node: fx.Node) -> bool:
    a, b = value_of(node), value_of(node.args[0])
    return a.dim() == b.dim() and (not _is(b.shape[0], 1) or _is(a.shape[0], 1))


# Which axes meet ----------------------------------------------------------------------------------

def elementwise(x: Axes, node: fx.Node) -> Pairs:
    out, pairs = x.axes(node), []
    for a in operands(node):
        if constant(a) is not None:
            continue
        axes = x.axes(a)
        for k in range(1, len(axes) + 1):
            if axes[-k].size == 1 and out[-k].size != 1:
                continue
            pairs.append((axes[-k], out[-k]))
    return pairs


def operands(node: fx.Node) -> List[fx.Node]:
    return [a for a in node.args if isinstance(a, fx.Node) and
            isinstance(value_of(a), torch.Tensor)]


def first_alone(x: Axes, node: fx.Node) -> Pairs:
    """Of the first operand alone, axis by axis."""
    return list(zip(x.axes(node.args[0]), x.axes(node)))


def regrouped(x: Axes, node: fx.Node) -> Pairs:
    """Of a view: axes that are equal from the left, and from the right."""
    a, b = x.axes(node.args[0]), x.axes(node)
    pairs = []
    if constant(node.args[0]) is not None:
        return pairs
    left = 0
    while left < min(len(a), len(b)) and a[left].size == b[left].size:
        pairs.append((a[left], b[left]))
        left += 1
    right = 1
    while right <= min(len(a), len(b)) - left and a[-right].size == b[-right].size:
        pairs.append((a[-right], b[-right]))
        right += 1
    return pairs


def reduced_axes(node: fx.Node, k: int = 1) -> List[int]:
    rank = value_of(node.args[0]).dim()
    dims = argument(node, k, "dim")
    if dims is None or dims == []:
        return list(range(rank))
    dims = [dims] if isinstance(dims, int) else dims
    return sorted(d % rank for d in dims)


def reduced(x: Axes, node: fx.Node) -> Pairs:
    gone = reduced_axes(node)
    a, out = x.axes(node.args[0]), x.axes(node)
    if len(a) == len(out) and argument(node, 2, "keepdim", False):
        return [(a[k], out[k]) for k in range(len(a)) if k not in gone]
    return list(zip([v for k, v in enumerate(a) if k not in gone], out))


def permutation(node: fx.Node) -> List[int]:
    rank = value_of(node.args[0]).dim()
    if node.target is aten.t.default:
        return list(range(rank))[::-1]
    if node.target is aten.permute.default:
        return [d % rank for d in node.args[1]]
    order = list(range(rank))
    i, j = node.args[1] % rank, node.args[2] % rank
    order[i], order[j] = order[j], order[i]
    return order


def permuted(x: Axes, node: fx.Node) -> Pairs:
    a, out = x.axes(node.args[0]), x.axes(node)
    return [(a[k], out[j]) for j, k in enumerate(permutation(node))]


def product(x: Axes, node: fx.Node) -> Pairs:
    a, b = node.args[-2:]
    out, a, b = x.axes(node), x.axes(a), x.axes(b)
    pairs = [(a[0], out[0]), (b[1], out[1]), (a[1], b[0])]
    if node.target is aten.addmm.default:
        bias = x.axes(node.args[0])
        if bias[-1].size != 1:
            pairs.append((bias[-1], out[1]))
        if len(bias) == 2 and bias[0].size != 1:
            pairs.append((bias[0], out[0]))
    return pairs


def along(x: Axes, node: fx.Node) -> Pairs:
    """All axes but one stay: slices and their gradients."""
    a, out = x.axes(node.args[0]), x.axes(node)
    return [(p, q) for p, q in zip(a, out) if p.size == q.size]


def selected(x: Axes, node: fx.Node) -> Pairs:
    a, out = list(x.axes(node.args[0])), x.axes(node)
    del a[node.args[1] % len(a)]
    return list(zip(a, out))


def joined(x: Axes, node: fx.Node) -> Pairs:
    out = x.axes(node)
    axis = argument(node, 1, "dim", 0) % len(out)
    pairs = []
    for a in node.args[0]:
        if len(x.axes(a)) != len(out):
            raise Unsupported(node, "of tensors of different ranks")
        pairs += [(p, q) for k, (p, q) in enumerate(zip(x.axes(a), out)) if k != axis]
    return pairs


def shifted(x: Axes, node: fx.Node) -> Pairs:
    """unsqueeze and squeeze."""
    a, out = x.axes(node.args[0]), x.axes(node)
    if len(out) > len(a):
        at = node.args[1] % len(out)
        return list(zip(a, out[:at] + out[at + 1:]))
    if node.target is aten.squeeze.default:
        gone = [k for k, v in enumerate(a) if v.size == 1]
    else:
        dims = node.args[1]
        dims = [dims] if isinstance(dims, int) else dims
        gone = [d % len(a) for d in dims if a[d].size == 1]
    return list(zip([v for k, v in enumerate(a) if k not in gone], out))


# Emission: what the translator has to be asked ----------------------------------------------------

def out_type(t: Any, node: fx.Node) -> Tuple[Optional[str], Tuple[int, ...]]:
    """Space and dims of a value of the graph."""
    return t.type_of(node)


def row_axis(t: Any, node: fx.Node) -> Optional[int]:
    return t.axes.row_of(node)


def fit(t: Any, node: fx.Node, a: Any, elem: Optional[str] = None) -> Value:
    """An operand of an elementwise operator, as the result's type."""
    space, dims = out_type(t, node)
    text: Text = t.text
    if isinstance(a, fx.Node) and isinstance(value_of(a), (torch.SymInt, torch.SymFloat)):
        return text.broadcast(t.count_of(node, value_of(a)), space, dims)
    c = float(a) if isinstance(a, (int, float, bool)) else constant(a)
    if c is not None:
        own = elem or (t.elem_of(a) if isinstance(a, fx.Node) else "f32")
        return text.add("const", (), own, space, dims, f"value = {_number(c)}")
    if not isinstance(a, fx.Node) or not isinstance(value_of(a), torch.Tensor):
        raise Unsupported(node, f"of {a}")
    v = t.value(a)
    if v.turned:
        raise Unsupported(node, "of a transposed tensor")
    if v.space != space and v.space is not None:
        raise Unsupported(node, "of rows of another space")
    dims_of = v.dims
    if v.space is None and space is not None:
        rank = value_of(node).dim()
        if len(dims_of) == rank:
            if dims_of[0] != 1:
                raise Unsupported(node, "a tensor without rows has as many as there are")
            v = text.reshape(v, dims_of[1:])
    elif v.space is not None and len(dims_of) != len(dims):
        raise Unsupported(node, "rows meet another axis")
    if elem is not None:
        v = text.cast(v, elem)
    return text.broadcast(v, space, dims)


def _number(x: float) -> str:
    return number(x)


def _unary(name: str) -> Callable[..., Value]:
    return lambda t, node: t.text.map(name, fit(t, node, node.args[0]))


for _target, _name in ((aten.neg.default, "neg"), (aten.abs.default, "abs"),
                       (aten.sgn.default, "sign"), (aten.sign.default, "sign"),
                       (aten.exp.default, "exp"), (aten.expm1.default, "expm1"),
                       (aten.log.default, "log"), (aten.log1p.default, "log1p"),
                       (aten.sqrt.default, "sqrt"), (aten.rsqrt.default, "rsqrt"),
                       (aten.reciprocal.default, "recip"), (aten.sin.default, "sin"),
                       (aten.cos.default, "cos"), (aten.tanh.default, "tanh"),
                       (aten.sigmoid.default, "sigmoid"), (aten.erf.default, "erf"),
                       (aten.floor.default, "floor"), (aten.logical_not.default, "not"),
                       (aten.bitwise_not.default, "not")):
    rule(_target, meets=elementwise)(_unary(_name))


def scaled(t: Any, v: Value, by: float) -> Value:
    return v if by == 1 else t.text.map("mul", v, t.text.const(by, v))


@rule(aten.add.Tensor, aten.sub.Tensor, aten.add.Scalar, aten.sub.Scalar, meets=elementwise)
def add(t: Any, node: fx.Node) -> Value:
    name = "add" if node.target in (aten.add.Tensor, aten.add.Scalar) else "sub"
    by = argument(node, 2, "alpha", 1)
    b = scaled(t, fit(t, node, node.args[1], "f32"), by)
    return t.text.map(name, fit(t, node, node.args[0], "f32"), b)


@rule(aten.rsub.Scalar, aten.rsub.Tensor, meets=elementwise)
def rsub(t: Any, node: fx.Node) -> Value:
    if argument(node, 2, "alpha", 1) != 1:
        raise Unsupported(node, "with alpha")
    return t.text.map("sub", fit(t, node, node.args[1], "f32"), fit(t, node, node.args[0], "f32"))


def _binary(name: str) -> Callable[..., Value]:
    def emit(t: Any, node: fx.Node) -> Value:
        if node.kwargs:
            raise Unsupported(node, "with a mode of rounding")
        a, b = (fit(t, node, x, "f32") for x in node.args[:2])
        return t.text.map(name, a, b)
    return emit


for _target, _name in ((aten.mul.Tensor, "mul"), (aten.mul.Scalar, "mul"),
                       (aten.div.Tensor, "div"), (aten.div.Scalar, "div"),
                       (aten.maximum.default, "max"), (aten.minimum.default, "min"),
                       (aten.pow.Tensor_Tensor, "pow"), (aten.pow.Scalar, "pow")):
    rule(_target, meets=elementwise)(_binary(_name))


@rule(aten.pow.Tensor_Scalar, meets=elementwise)
def power(t: Any, node: fx.Node) -> Value:
    v, by = fit(t, node, node.args[0]), node.args[1]
    if by == 2:
        return t.text.map("mul", v, v)
    if by == 1:
        return v
    if by == 0.5:
        return t.text.map("sqrt", v)
    if by == -1:
        return t.text.map("recip", v)
    return t.text.map("pow", v, t.text.const(by, v))


def _compare(name: str) -> Callable[..., Value]:
    def emit(t: Any, node: fx.Node) -> Value:
        kinds = {t.elem_of(a) for a in node.args if isinstance(a, fx.Node)}
        elem = "f32" if "f32" in kinds else "bool"
        if elem == "bool" and name not in ("eq", "ne"):
            raise Unsupported(node, "of truth values")
        a, b = (fit(t, node, a, elem) for a in node.args[:2])
        if name == "gt":  # NaN is above nothing
            return t.text.map("gt", a, b, elem="bool")
        return t.text.map(name, a, b, elem="bool")
    return emit


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    for _overload in ("Tensor", "Scalar"):
        rule(getattr(getattr(aten, _name), _overload), meets=elementwise)(_compare(_name))


def _logical(name: str) -> Callable[..., Value]:
    return lambda t, node: t.text.map(name, fit(t, node, node.args[0], "bool"),
                                      fit(t, node, node.args[1], "bool"))


for _target, _name in ((aten.logical_and.default, "and"), (aten.bitwise_and.Tensor, "and"),
                       (aten.logical_or.default, "or"), (aten.bitwise_or.Tensor, "or")):
    rule(_target, meets=elementwise)(_logical(_name))


@rule(aten.where.self, meets=elementwise)
def where(t: Any, node: fx.Node) -> Value:
    c, a, b = node.args
    return t.text.map("select", fit(t, node, c, "bool"), fit(t, node, a, "f32"),
                      fit(t, node, b, "f32"))


@rule(aten.masked_fill.Scalar, aten.masked_fill.Tensor, meets=elementwise)
def masked_fill(t: Any, node: fx.Node) -> Value:
    a, mask, to = node.args
    return t.text.map("select", fit(t, node, mask, "bool"), fit(t, node, to, "f32"),
                      fit(t, node, a))


@rule(aten.relu.default, meets=elementwise)
def relu(t: Any, node: fx.Node) -> Value:
    v = fit(t, node, node.args[0])
    return t.text.map("max", v, t.text.const(0, v))


@rule(aten.threshold_backward.default, meets=elementwise)
def threshold_backward(t: Any, node: fx.Node) -> Value:
    grad, a, at = node.args
    g, a = fit(t, node, grad), fit(t, node, a)
    closed = t.text.map("le", a, t.text.const(at, a), elem="bool")
    return t.text.map("select", closed, t.text.const(0, g), g)


@rule(aten.clamp.default, aten.clamp_min.default, aten.clamp_max.default, meets=elementwise)
def clamp(t: Any, node: fx.Node) -> Value:
    low, high = argument(node, 1, "min"), argument(node, 2, "max")
    if node.target is aten.clamp_max.default:
        low, high = None, node.args[1]
    v = fit(t, node, node.args[0])
    if low is not None:
        v = t.text.map("max", v, t.text.const(low, v))
    if high is not None:
        v = t.text.map("min", v, t.text.const(high, v))
    return v


@rule(aten.leaky_relu.default, meets=elementwise)
def leaky_relu(t: Any, node: fx.Node) -> Value:
    v = fit(t, node, node.args[0])
    above = t.text.map("gt", v, t.text.const(0, v), elem="bool")
    return t.text.map("select", above, v, scaled(t, v, argument(node, 1, "negative_slope", .01)))


@rule(aten.leaky_relu_backward.default, meets=elementwise)
def leaky_relu_backward(t: Any, node: fx.Node) -> Value:
    g, v = fit(t, node, node.args[0]), fit(t, node, node.args[1])
    above = t.text.map("gt", v, t.text.const(0, v), elem="bool")
    return t.text.map("select", above, g, scaled(t, g, node.args[2]))


@rule(aten.elu.default, meets=elementwise)
def elu(t: Any, node: fx.Node) -> Value:
    alpha, scale, inner = (argument(node, k, name, 1) for k, name in
                           ((1, "alpha"), (2, "scale"), (3, "input_scale")))
    v = fit(t, node, node.args[0])
    above = t.text.map("gt", v, t.text.const(0, v), elem="bool")
    low = scaled(t, t.text.map("expm1", scaled(t, v, inner)), alpha * scale)
    return t.text.map("select", above, scaled(t, v, scale), low)


@rule(aten.elu_backward.default, meets=elementwise)
def elu_backward(t: Any, node: fx.Node) -> Value:
    grad, alpha, scale, inner, is_result, a = node.args
    g, v = fit(t, node, grad), fit(t, node, a)
    above = t.text.map("gt", v, t.text.const(0, v), elem="bool")
    if is_result:
        slope = scaled(t, t.text.map("add", v, t.text.const(alpha * scale, v)), inner)
    else:
        slope = scaled(t, t.text.map("exp", scaled(t, v, inner)), alpha * scale * inner)
    return t.text.map("select", above, scaled(t, g, scale), t.text.map("mul", g, slope))


@rule(aten.silu.default, meets=elementwise)
def silu(t: Any, node: fx.Node) -> Value:
    v = fit(t, node, node.args[0])
    return t.text.map("mul", v, t.text.map("sigmoid", v))


@rule(aten.silu_backward.default, meets=elementwise)
def silu_backward(t: Any, node: fx.Node) -> Value:
    m, g, v = t.text.map, fit(t, node, node.args[0]), fit(t, node, node.args[1])
    s, one = m("sigmoid", v), t.text.const(1, v)
    return m("mul", m("mul", g, s), m("add", one, m("mul", v, m("sub", one, s))))


@rule(aten.sigmoid_backward.default, meets=elementwise)
def sigmoid_backward(t: Any, node: fx.Node) -> Value:
    m, g, y = t.text.map, fit(t, node, node.args[0]), fit(t, node, node.args[1])
    return m("mul", m("mul", g, m("sub", t.text.const(1, y), y)), y)


@rule(aten.tanh_backward.default, meets=elementwise)
def tanh_backward(t: Any, node: fx.Node) -> Value:
    m, g, y = t.text.map, fit(t, node, node.args[0]), fit(t, node, node.args[1])
    return m("mul", g, m("sub", t.text.const(1, y), m("mul", y, y)))


@rule(aten.gelu.default, meets=elementwise)
def gelu(t: Any, node: fx.Node) -> Value:
    if argument(node, 3, "approximate", "none") != "none":
        raise Unsupported(node, "approximate")
    m, v = t.text.map, fit(t, node, node.args[0])
    phi = m("add", t.text.const(1, v), m("erf", scaled(t, v, math.sqrt(.5))))
    return m("mul", scaled(t, v, .5), phi)


@rule(aten.gelu_backward.default, meets=elementwise)
def gelu_backward(t: Any, node: fx.Node) -> Value:
    if argument(node, 3, "approximate", "none") != "none":
        raise Unsupported(node, "approximate")
    m, g, v = t.text.map, fit(t, node, node.args[0]), fit(t, node, node.args[1])
    cdf = scaled(t, m("add", t.text.const(1, v), m("erf", scaled(t, v, math.sqrt(.5)))), .5)
    pdf = scaled(t, m("exp", scaled(t, m("mul", v, v), -.5)), 1 / math.sqrt(2 * math.pi))
    return m("mul", g, m("add", cdf, m("mul", v, pdf)))


@rule(aten.native_dropout_backward.default, meets=elementwise)
def native_dropout_backward(t: Any, node: fx.Node) -> Value:
    g = t.text.map("mul", fit(t, node, node.args[0]), fit(t, node, node.args[1], "f32"))
    return scaled(t, g, node.args[2])


@rule(aten._to_copy.default, meets=first_alone)
def to_copy(t: Any, node: fx.Node) -> Value:
    v = t.value(node.args[0])
    return v if v.turned else t.text.cast(v, t.elem_of(node))


@rule(aten.clone.default, aten.alias.default, aten.detach.default, aten.lift_fresh_copy.default,
      meets=first_alone)
def same(t: Any, node: fx.Node) -> Value:
    return t.value(node.args[0])


@rule(aten.softplus.default, meets=elementwise)
def softplus(t: Any, node: fx.Node) -> Value:
    m, v = t.text.map, fit(t, node, node.args[0])
    beta, limit = argument(node, 1, "beta", 1), argument(node, 2, "threshold", 20)
    b = scaled(t, v, beta)
    linear = m("gt", b, t.text.const(limit, b), elem="bool")
    return m("select", linear, v, scaled(t, m("log1p", m("exp", b)), 1 / beta))


@rule(aten.softplus_backward.default, meets=elementwise)
def softplus_backward(t: Any, node: fx.Node) -> Value:
    m, g, v = t.text.map, fit(t, node, node.args[0]), fit(t, node, node.args[1])
    b = scaled(t, v, node.args[2])
    linear = m("gt", b, t.text.const(node.args[3], b), elem="bool")
    return m("select", linear, g, m("mul", g, m("sigmoid", b)))


# Views --------------------------------------------------------------------------------------------

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


# Reductions ---------------------------------------------------------------------------------------

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


# Products -----------------------------------------------------------------------------------------

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
    v = t.text.add("matmul", (va, vb), "f32", space, dims, f"ta = {int(ta)}, tb = {int(tb)}")
    return _plus_bias(t, node, v)


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
            leaves[x] = t.text.add("matmul", (v, w), "f32", v.space, dims,
                                   f"ta = 0, tb = {int(turned)}")
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
            pair = (t.value(x), y) if left else (y, t.value(x))
            v = t.text.add("matmul", pair, "f32", None, dims, "ta = 1, tb = 0")
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


# Edges --------------------------------------------------------------------------------------------

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

# What products may go through (_narrowed, _moved).
MOVES = {*EDGES, aten.add.Tensor, aten.mul.Tensor, aten.div.Tensor, aten.expand.default,
         aten.view.default, aten.unsqueeze.default}


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
