"""What the graph says of values by itself: constants, and which index tensor one comes from."""

from __future__ import annotations

import operator
from typing import Any, Optional, Tuple

import torch
from torch import fx

from .._spaces import value_of

aten = torch.ops.aten


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
        if not isinstance(val, torch.Tensor) or val.dtype not in (torch.int64, torch.int32):
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
