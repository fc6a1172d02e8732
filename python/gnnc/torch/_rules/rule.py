"""The table of rules, and what all of them ask of the translator."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import torch
from torch import fx

from .._ir import Text, Value, number
from .._spaces import Unsupported, value_of
from .axes import Pairs
from .values import constant


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


def scaled(t: Any, v: Value, by: float) -> Value:
    return v if by == 1 else t.text.map("mul", v, t.text.const(by, v))
