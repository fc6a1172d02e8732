"""Operators of each element alone: arithmetic, comparisons, activations and their gradients."""

from __future__ import annotations

import math
from typing import Any, Callable

from torch import fx

from .._ir import Value
from .._spaces import Unsupported
from .axes import elementwise, first_alone
from .rule import fit, rule, scaled
from .values import argument, aten


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
