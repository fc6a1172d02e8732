"""Which axes of its operands and its result an operator makes one."""

from __future__ import annotations

from typing import List, Tuple

import torch
from torch import fx

from .._spaces import Axes, Axis, Unsupported, value_of
from .values import argument, aten, constant

Pairs = List[Tuple[Axis, Axis]]


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
