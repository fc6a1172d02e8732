"""Graphs of ATen made ready: dropout with its mask apart, constants that read nothing, equal values
once; and the split of a joint graph into forward and backward, with what is kept for the latter.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import torch
from torch import fx

from ._draws import draw_mask
from ._rules import RULES, argument, aten, constant, index_of
from ._spaces import size_of, value_of


def rows_where(mask: torch.Tensor) -> torch.Tensor:
    """The rows that a mask names, in order."""
    return mask.nonzero().squeeze(1)


def is_target(y: torch.Tensor, classes: int, ignored: int) -> torch.Tensor:
    """Of each row and class: is it the row's?  Rows of the ignored class have none."""
    bad = ((y < 0) | (y >= classes)) & (y != ignored)
    if bool(bad.any()):
        raise IndexError(f"Target {int(y[bad][0])} is out of bounds.")
    return (y.unsqueeze(1) == torch.arange(classes)) & (y != ignored).unsqueeze(1)


rows_where.gnnc_pure = is_target.gnnc_pure = True  # type: ignore[attr-defined]


def is_size(node: fx.Node) -> bool:
    return isinstance(value_of(node), (torch.SymInt, torch.SymFloat, torch.SymBool, int, float))


def is_random(node: fx.Node) -> bool:
    target = node.target
    if getattr(target, "gnnc_random", False):
        return True
    return isinstance(target, torch._ops.OpOverload) and \
        torch.Tag.nondeterministic_seeded in target.tags


def is_pure(node: fx.Node) -> bool:
    """An operator of ATen that neither draws nor writes."""
    target = node.target
    if target is operator.getitem or getattr(target, "gnnc_pure", False):
        return True
    if not isinstance(target, torch._ops.OpOverload):
        return getattr(target, "__module__", "") in ("_operator", "torch", "math", "torch.fx")
    return target.namespace in ("aten", "prims") and not target._schema.is_mutable and \
        not is_random(node)


VIEWS = {aten.view.default, aten.reshape.default, aten._unsafe_view.default,
         aten.expand.default, aten.unsqueeze.default, aten.squeeze.dim, aten.squeeze.default,
         aten.detach.default, aten.alias.default}


def graph_alone(graph: fx.Graph) -> Set[fx.Node]:
    """Values that come of integers alone, of which the graph is made: they change when it does."""
    alone: Set[fx.Node] = set()
    for node in graph.nodes:
        if node.op != "call_function" or not is_pure(node) or constant(node) is not None:
            continue
        if node.target is aten._assert_scalar.default or is_size(node):
            continue
        made = isinstance(value_of(node), torch.Tensor) and value_of(node).device.type == "cpu"
        found = made and all(map(is_size, node.all_input_nodes))  # of sizes alone
        for a in node.all_input_nodes:
            if a in alone:
                found = True
            elif is_index_input(a):
                found = True
            elif constant(a) is None and not (is_size(a) and size_alone(a, alone)):
                break  # it depends on something else
        else:
            if found:
                alone.add(node)
    for node in reversed(list(graph.nodes)):  # views of numbers are made where they are read
        if node in alone and node.target in VIEWS and value_of(node).is_floating_point() and \
                not any(u in alone for u in node.users):
            alone.discard(node)
    return alone


def size_alone(node: fx.Node, alone: Set[fx.Node]) -> bool:
    if node.op == "placeholder":
        return True
    return node.op == "call_function" and all(
        (is_size(a) and size_alone(a, alone)) or a in alone or a.op == "placeholder"
        for a in node.all_input_nodes)


def is_index_input(node: fx.Node) -> bool:
    val = value_of(node)
    if node.meta.get("gnnc_mask"):
        return node.op == "placeholder"
    return node.op == "placeholder" and isinstance(val, torch.Tensor) and \
        val.dtype in (torch.int64, torch.int32) and val.device.type == "cpu" and val.dim() > 0


# Passes -------------------------------------------------------------------------------------------

def prepare(gm: fx.GraphModule, known: Dict[Any, Any]) -> None:
    """All passes; `known` gets symbols that turn out to be others."""
    if gm.meta.get("gnnc_prepared"):
        return
    _name_sizes(gm.graph)
    for node in list(gm.graph.nodes):
        if node.target is aten.native_dropout.default:
            _split_dropout(gm.graph, node)
    for node in list(gm.graph.nodes):
        if node.target is operator.getitem and node.args[0].target is aten.nll_loss_forward.default:
            _open_loss(gm.graph, node)
        elif node.target is aten.nll_loss_backward.default:
            _open_loss_backward(gm.graph, node)
        elif node.target in _BY_MASK:
            _list_rows(gm.graph, node)
        elif node.target is operator.getitem:
            _pick(gm.graph, node)
        elif node.target is aten.std.correction:
            _spread(gm.graph, node, node, "deviation")
        elif node.target is aten.var.correction:
            _spread(gm.graph, node, node, "variance")
    for node in list(gm.graph.nodes):
        _free_constant(gm.graph, node)
    _name_sizes(gm.graph)
    _merge_equal(gm.graph, known)
    gm.graph.eliminate_dead_code()
    gm.meta["gnnc_prepared"] = True


def _sizes(graph: fx.Graph, node: fx.Node, val: torch.Tensor) -> List[Any]:
    """The sizes of a tensor as arguments."""
    sizes: List[Any] = []
    for k, s in enumerate(val.shape):
        if isinstance(s, torch.SymInt) and not s.node.expr.is_Integer:
            size = graph.call_function(aten.sym_size.int, (node, k))
            size.meta["val"] = s
            sizes.append(size)
        else:
            sizes.append(int(s))
    return sizes


def _like(new: fx.Node, old: fx.Node, val: Any = None) -> fx.Node:
    new.meta = dict(old.meta)
    if val is not None:
        new.meta["val"] = val
    new.meta.pop("tensor_meta", None)
    return new


def _split_dropout(graph: fx.Graph, node: fx.Node) -> None:
    x, p, train = node.args
    if not train or not all(u.target is operator.getitem for u in node.users):
        return
    out, mask_val = value_of(node)
    keep = 1. - p
    with graph.inserting_before(node):
        mask = _like(graph.call_function(draw_mask, (keep, *_sizes(graph, x, out))), node, mask_val)
        half = _like(graph.call_function(aten.mul.Tensor, (x, mask)), node, out)
        full = _like(graph.call_function(aten.mul.Tensor, (half, 1. / keep if keep else 0.)), node,
                     out)
    for user in list(node.users):
        user.replace_all_uses_with((full, mask)[user.args[1]])
        graph.erase_node(user)
    graph.erase_node(node)


_SPLITS = {aten.split.Tensor, aten.unsafe_split.Tensor, aten.split_with_sizes.default,
           aten.unsafe_split_with_sizes.default}


def _pick(graph: fx.Graph, node: fx.Node) -> None:
    """One of several parts, or rows, of a tensor as a slice of its own."""
    of, at = node.args
    if of.target is aten.var_mean.correction:
        _spread(graph, node, of, "mean" if at == 1 else "variance")
    if of.target not in _SPLITS and of.target is not aten.unbind.int:
        return
    x = of.args[0]
    if not value_of(x).is_floating_point():
        return
    with graph.inserting_before(node):
        if of.target is aten.unbind.int:
            new = graph.call_function(aten.select.int, (x, argument(of, 1, "dim", 0), at))
        else:
            axis = argument(of, 2, "dim", 0)
            sizes = [v.shape[axis] for v in value_of(of)]
            if not all(isinstance(s, int) for s in sizes):
                return
            start = sum(sizes[:at])
            new = graph.call_function(aten.slice.Tensor, (x, axis, start, start + sizes[at]))
        _like(new, node)
    node.replace_all_uses_with(new)
    graph.erase_node(node)


def _spread(graph: fx.Graph, node: fx.Node, of: fx.Node, what: str) -> None:
    """A mean, a variance or a deviation of all there is, of means."""
    x = of.args[0]
    if of.kwargs.get("correction", 1) != 0 or value_of(x).dtype != torch.float32:
        return
    dims = argument(of, 1, "dim") or list(range(value_of(x).dim()))
    keep = bool(of.kwargs.get("keepdim", False))

    def add(target: Any, *args: Any) -> fx.Node:
        new = graph.call_function(target, args)
        return _like(new, node, target(*[value_of(a) if isinstance(a, fx.Node) else a
                                         for a in args]))

    with graph.inserting_before(of):
        if what == "mean":
            new = add(aten.mean.dim, x, dims, keep)
        else:
            d = add(aten.sub.Tensor, x, add(aten.mean.dim, x, dims, True))
            new = add(aten.mean.dim, add(aten.mul.Tensor, d, d), dims, keep)
            if what == "deviation":
                new = add(aten.sqrt.default, new)
    node.replace_all_uses_with(new)
    graph.erase_node(node)


_BY_MASK = {aten.index.Tensor, aten.index_put.default, aten._unsafe_index_put.default}


def _list_rows(graph: fx.Graph, node: fx.Node) -> None:
    """Rows by a mask that is an input as rows by their numbers."""
    at = node.args[1]
    mask = at[0] if len(at) == 1 else None
    if not isinstance(mask, fx.Node) or mask.op != "placeholder" or \
            value_of(mask).dtype != torch.bool or value_of(mask).dim() != 1 or \
            value_of(mask).device.type != "cpu":
        return
    rows = value_of(node if node.target is aten.index.Tensor else node.args[2])
    if rows.dim() == 0:
        return
    with graph.inserting_before(node):
        new = graph.call_function(rows_where, (mask,))
    new.meta["val"] = value_of(mask).new_empty((rows.shape[0],), dtype=torch.int64)
    mask.meta["gnnc_mask"] = True
    node.args = (node.args[0], [new], *node.args[2:])


def _hot(graph: fx.Graph, node: fx.Node, x: fx.Node, y: fx.Node,
         ignored: int) -> Optional[fx.Node]:
    """Which class is whose, where a loss is one that programs have; the rest is torch's."""
    val = value_of(x)
    if val.dim() != 2 or not isinstance(val.shape[1], int) or val.dtype != torch.float32 or \
            val.device.type != "cpu":
        return None
    hot = graph.call_function(is_target, (y, val.shape[1], ignored))
    hot.meta["val"] = val.new_empty(val.shape, dtype=torch.bool)
    return hot


def _adder(graph: fx.Graph, like: fx.Node) -> Callable[..., fx.Node]:
    def add(target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        new = graph.call_function(target, args, kwargs)
        return _like(new, like, target(*fx.node.map_arg(args, value_of), **kwargs))
    return add


def _open_loss(graph: fx.Graph, node: fx.Node) -> None:
    """A result of nll_loss as sums over what its classes pick."""
    of, at = node.args
    x, y, weight, reduction, ignored = of.args
    if weight is not None or reduction not in (1, 2):
        return
    with graph.inserting_before(node):
        hot, add = _hot(graph, node, x, y, ignored), _adder(graph, node)
        if hot is None:
            return
        count = add(aten._to_copy.default, add(aten.sum.default, hot), dtype=torch.float32)
        if at == 1:
            new = count
        else:
            left = add(aten.masked_fill.Scalar, x, add(aten.logical_not.default, hot), 0.)
            new = add(aten.neg.default, add(aten.sum.default, left))
            if reduction == 1:
                new = add(aten.div.Tensor, new, count)
    node.replace_all_uses_with(new)
    graph.erase_node(node)


def _open_loss_backward(graph: fx.Graph, node: fx.Node) -> None:
    grad, x, y, weight, reduction, ignored, count = node.args
    if weight is not None or reduction not in (1, 2):
        return
    with graph.inserting_before(node):
        hot, add = _hot(graph, node, x, y, ignored), _adder(graph, node)
        if hot is None:
            return
        each = add(aten.neg.default, grad)
        if reduction == 1:
            each = add(aten.div.Tensor, each, count)
        wide = add(aten.expand.default, each, list(_sizes(graph, x, value_of(x))))
        new = add(aten.masked_fill.Scalar, wide, add(aten.logical_not.default, hot), 0.)
    node.replace_all_uses_with(new)
    graph.erase_node(node)


_NEW = {aten.new_zeros.default: 0., aten.new_ones.default: 1., aten.zeros_like.default: 0.,
        aten.ones_like.default: 1., aten.full_like.default: None, aten.new_full.default: None}


def _free_constant(graph: fx.Graph, node: fx.Node) -> None:
    """A constant in the shape of another tensor, without that tensor."""
    if node.op != "call_function" or node.target not in _NEW:
        return
    val, fill = value_of(node), _NEW[node.target]
    if fill is None:
        fill = argument(node, 2 if node.target is aten.new_full.default else 1, "fill_value")
        if not isinstance(fill, (int, float)):
            return
    if val.device.type != "cpu" or val.dtype not in (torch.float32, torch.int64):
        return
    with graph.inserting_before(node):
        if node.target in (aten.new_zeros.default, aten.new_ones.default, aten.new_full.default):
            sizes = list(node.args[1])
        else:
            sizes = _sizes(graph, node.args[0], val)
        new = _like(graph.call_function(aten.full.default, (sizes, fill), {
            "dtype": val.dtype, "device": val.device}), node)
    node.replace_all_uses_with(new)
    graph.erase_node(node)


def _name_sizes(graph: fx.Graph) -> None:
    """Sizes of tensors become inputs where they are, else sizes of the first tensor with them."""
    named: Dict[Any, fx.Node] = {}
    first: Dict[Any, Tuple[fx.Node, int]] = {}
    for node in list(graph.nodes):
        val = value_of(node)
        if isinstance(val, torch.Tensor) and not is_cotangent(node):
            for k, s in enumerate(val.shape):
                if isinstance(s, torch.SymInt):
                    first.setdefault(s.node.expr, (node, k))
        if node.op == "placeholder" and isinstance(val, torch.SymInt):
            named.setdefault(val.node.expr, node)
        if node.target is not aten.sym_size.int:
            continue
        expr = val.node.expr if isinstance(val, torch.SymInt) else val
        known = named.get(expr)
        if isinstance(expr, int) or getattr(expr, "is_Integer", False):
            node.replace_all_uses_with(int(expr))  # type: ignore[arg-type]
            graph.erase_node(node)
        elif known is not None and known is not node:
            node.replace_all_uses_with(known)
            graph.erase_node(node)
        else:
            named[expr] = node
            node.args = first.get(expr, node.args)


def _key(a: Any) -> Any:
    if isinstance(a, (list, tuple)):
        return tuple(_key(b) for b in a)
    if isinstance(a, dict):
        return tuple((k, _key(v)) for k, v in sorted(a.items()))
    if isinstance(a, slice):
        return ("slice", _key(a.start), _key(a.stop), _key(a.step))
    return (type(a).__name__, a)


def _merge_equal(graph: fx.Graph, known: Dict[Any, Any]) -> None:
    """Equal values of equal operators become one."""
    seen: Dict[Any, fx.Node] = {}
    for node in list(graph.nodes):
        if node.op != "call_function" or not is_pure(node) or value_of(node) is None:
            continue
        try:
            key = (node.target, _key(node.args), _key(node.kwargs))
            first = seen.setdefault(key, node)
        except TypeError:
            continue
        if first is not node:
            _note_equal(value_of(first), value_of(node), known)
            node.replace_all_uses_with(first)
            graph.erase_node(node)


def _note_equal(a: Any, b: Any, known: Dict[Any, Any]) -> None:
    pairs: List[Tuple[Any, Any]] = []
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        pairs = list(zip(a.shape, b.shape))
    elif isinstance(a, torch.SymInt) and isinstance(b, torch.SymInt):
        pairs = [(a, b)]
    for p, q in pairs:
        p, q = size_of(p, known), size_of(q, known)
        if p != q and getattr(q, "is_Symbol", False):
            known[q] = p


SUMS = (aten.scatter_add.default, aten.index_add.default)

def is_cotangent(node: fx.Node) -> bool:
    return node.op == "placeholder" and "tangents" in str(node.target)


# The split ----------------------------------------------------------------------------------------

def split(joint: fx.GraphModule, known: Dict[Any, Any], num_fwd_outputs: int,
          **kwargs: Any) -> Tuple[fx.GraphModule, fx.GraphModule]:
    """Forward and backward: what took work is kept, what is cheap is made again."""
    from torch._functorch import partitioners as parts
    prepare(joint, known)
    graph = joint.graph
    results = next(iter(reversed(graph.nodes))).args[0]
    forward = _ancestors(results[:num_fwd_outputs])
    late: Set[fx.Node] = set()  # what comes of cotangents
    for node in graph.nodes:
        if is_cotangent(node) or \
                any(a in late for a in node.all_input_nodes) and node.op != "output":
            late.add(node)
    alone = graph_alone(graph)
    kept: Dict[fx.Node, None] = {}
    sizes: Dict[fx.Node, None] = {}
    seen: Set[fx.Node] = set()
    stack = [a for a in results[num_fwd_outputs:] if isinstance(a, fx.Node)]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in late:
            stack += node.all_input_nodes
        elif is_size(node):
            sizes[node] = None
        elif node.op != "call_function":
            kept[node] = None
        elif _made_again(node, node in forward, alone):
            stack += node.all_input_nodes
        else:
            kept[node] = None
            if node in alone:
                node.meta["gnnc_fixed"] = True
    order = {node: k for k, node in enumerate(graph.nodes)}
    values = sorted(kept, key=lambda n: order[n])
    extra = {}
    if kwargs.get("static_lifetime_input_nodes") is not None:
        extra["static_lifetime_input_nodes"] = kwargs["static_lifetime_input_nodes"]
    fw, bw = parts._extract_fwd_bwd_modules(
        joint, values, sorted(sizes, key=lambda n: order[n]), num_fwd_outputs=num_fwd_outputs,
        **extra)
    for gm in (fw, bw):
        gm.graph.eliminate_dead_code()
        gm.recompile()
        gm.meta["gnnc_prepared"] = True
    return fw, bw


def _made_again(node: fx.Node, forward: bool, alone: Set[fx.Node]) -> bool:
    if is_random(node):
        return False
    if node.target is operator.getitem and not isinstance(value_of(node), (tuple, list)):
        found = index_of(node)
        return found is not None and found[0] is not node
    if constant(node) is not None or not forward:
        return True
    found = index_of(node)
    if found is not None and found[0] is not node:
        return True
    if node in alone:
        return False
    r = RULES.get(node.target)
    if r is not None and node.target in SUMS and _of_inputs(node, alone):
        return True
    if node.target is aten.add.Tensor and all(
            isinstance(a, fx.Node) and len(a.users) == 1 and a.target in RULES and
            RULES[a.target].work for a in node.args):
        return False  # one is kept rather than two
    return r is not None and not r.work and isinstance(value_of(node), torch.Tensor) and \
        value_of(node).dtype in (torch.float32, torch.bool)


def _of_inputs(node: fx.Node, alone: Set[fx.Node]) -> bool:
    """A sum over edges of what lies there or is an input, times numbers of the graph.

    It is made again: gradients that take it in a product are sums of narrower rows then.
    """
    source = node.args[3]
    if not isinstance(source, fx.Node):
        return False
    while source.target is aten.mul.Tensor:
        rest = [a for a in source.args if isinstance(a, fx.Node) and a not in alone and
                not all(b in alone for b in a.all_input_nodes)]
        if len(rest) != 1:
            return False
        source = rest[0]
    return source.target in (aten.index_select.default, aten.index.Tensor) and \
        source.args[0].op == "placeholder"


def _ancestors(of: Any) -> Set[fx.Node]:
    seen: Set[fx.Node] = set()
    stack = [a for a in of if isinstance(a, fx.Node)]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += node.all_input_nodes
    return seen
