"""torch's optimizers as part of a program: what they keep as states, what changes as numbers.

Everything that may change between steps (learning rates, betas, weight decay, momentum, counters)
comes as a row of numbers for each parameter, by torch's own formulas, those of torch.optim's
`_single_tensor_adam` and `_single_tensor_sgd`; so a program serves all steps.
"""

from __future__ import annotations

import ctypes as C
from typing import Any, Callable, Dict, List, Tuple

import torch
from torch.optim import optimizer as _base

from ._ir import Text, Value

Number = Callable[[int], Value]  # one of a parameter's row, in the parameter's shape
Group = Dict[str, Any]


class _Adam:
    """Adam and AdamW.  Numbers: sign of the gradient, its decay, the weight's, 1 - beta1, beta2,
    1 - beta2, the second moment's correction, eps, and the step's size."""

    numbers = 9

    def kept(self, group: Group) -> Tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq") + (("max_exp_avg_sq",) if group["amsgrad"] else ())

    def counter(self, state: Dict[str, Any]) -> float:
        """Steps that were taken, where numbers depend on it."""
        if "step" not in state:
            state["step"] = torch.tensor(0.0, dtype=torch.float32)
        return state["step"].item()

    def values(self, group: Group, taken: float, fresh: bool) -> List[float]:
        lr, wd, (b1, b2) = group["lr"], group["weight_decay"], group["betas"]
        step, apart = taken + 1, group.get("decoupled_weight_decay", False)
        return [-1. if group["maximize"] else 1., 0. if apart else wd,
                1 - lr * wd if apart else 1., 1 - b1, b2, 1 - b2,
                (1 - b2 ** step) ** 0.5, group["eps"], -lr / (1 - b1 ** step)]

    def emit(self, t: Text, c: Number, p: Value, g: Value,
             kept: Dict[str, Value]) -> Tuple[Value, Dict[str, Value]]:
        m, v = kept["exp_avg"], kept["exp_avg_sq"]
        g = t.map("add", t.map("mul", g, c(0)), t.map("mul", p, c(1)))
        m = t.map("add", m, t.map("mul", t.map("sub", g, m), c(3)))
        v = t.map("add", t.map("mul", v, c(4)), t.map("mul", t.map("mul", g, g), c(5)))
        new = {"exp_avg": m, "exp_avg_sq": v}
        if "max_exp_avg_sq" in kept:
            v = new["max_exp_avg_sq"] = t.map("max", kept["max_exp_avg_sq"], v)
        root = t.map("add", t.map("div", t.map("sqrt", v), c(6)), c(7))
        return t.map("add", t.map("mul", p, c(2)), t.map("div", t.map("mul", m, c(8)), root)), new


class _SGD:
    """Numbers: sign of the gradient, its decay, the buffer's and the gradient's share of the new
    buffer, the gradient's and the buffer's share of the step, and its size."""

    numbers = 7

    def kept(self, group: Group) -> Tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def counter(self, state: Dict[str, Any]) -> float:
        return 0.

    def values(self, group: Group, taken: float, fresh: bool) -> List[float]:
        # A fresh buffer becomes the gradient itself.
        m, nesterov = group["momentum"], group["nesterov"]
        return [-1. if group["maximize"] else 1., group["weight_decay"],
                0. if fresh else m, 1. if fresh else 1 - group["dampening"],
                1. if nesterov or m == 0 else 0., m if nesterov else 1., -group["lr"]]

    def emit(self, t: Text, c: Number, p: Value, g: Value,
             kept: Dict[str, Value]) -> Tuple[Value, Dict[str, Value]]:
        g = t.map("add", t.map("mul", g, c(0)), t.map("mul", p, c(1)))
        new = {}
        if kept:
            b = t.map("add", t.map("mul", kept["momentum_buffer"], c(2)), t.map("mul", g, c(3)))
            new["momentum_buffer"] = b
            g = t.map("add", t.map("mul", g, c(4)), t.map("mul", b, c(5)))
        return t.map("add", p, t.map("mul", g, c(6))), new


_RULES = {torch.optim.Adam: _Adam, torch.optim.AdamW: _Adam, torch.optim.SGD: _SGD}
_REFUSED = ("capturable", "differentiable")
_NUMBERS = ("lr", "weight_decay", "eps", "momentum", "dampening")


class Optimizer:
    """An optimizer of torch's, whose steps programs take."""

    def __init__(self, of: torch.optim.Optimizer) -> None:
        rule = _RULES.get(type(of))
        if rule is None:
            raise TypeError(f"gnnc.torch.compile_step: the optimizer is {type(of).__name__}; there "
                            f"are {', '.join(k.__name__ for k in _RULES)}")
        self.of, self.rule = of, rule()
        self._checked: Any = None  # what groups said then
        self.check()

    def check(self) -> None:
        """Nothing is asked of it that programs do not do."""
        said = [[(type(v), v) for k, v in g.items() if k != "params"]
                for g in self.of.param_groups]
        if said != self._checked:
            self._check_groups()
            self._checked = said
        hooks = (self.of._optimizer_step_pre_hooks, self.of._optimizer_step_post_hooks,
                 _base._global_optimizer_pre_hooks, _base._global_optimizer_post_hooks)
        if any(hooks):
            raise ValueError("gnnc.torch.compile_step: the optimizer has hooks, which want steps "
                             "of its own")

    def _check_groups(self) -> None:
        for group in self.of.param_groups:
            for name in _REFUSED:
                if group.get(name):
                    raise ValueError(f"gnnc.torch.compile_step: the optimizer is {name}")
            numbers = [(n, group[n]) for n in _NUMBERS if n in group]
            for name, value in numbers + [("betas", b) for b in group.get("betas", ())]:
                if isinstance(value, torch.Tensor):
                    raise ValueError(f"gnnc.torch.compile_step: {name} of the optimizer is a "
                                     "tensor, not a number")

    def places(self) -> Dict[int, int]:
        """By id of each parameter how many come before it."""
        every = [p for group in self.of.param_groups for p in group["params"]]
        return {id(p): k for k, p in enumerate(every)}

    def groups_of(self, params: List[torch.Tensor]) -> List[Group]:
        """Of now: load_state_dict puts others in their place."""
        group = {id(p): g for g in self.of.param_groups for p in g["params"]}
        if any(id(p) not in group for p in params):
            raise ValueError("gnnc.torch.compile_step: the optimizer has other parameters than "
                             "when the step was compiled; compile it again")
        return [group[id(p)] for p in params]


class Taking:
    """The optimizer's part in the steps of one program: parameters, what is kept of each, numbers.

    `buffers` are states that the program replaces besides, with no gradient.
    """

    def __init__(self, optimizer: Optimizer, params: List[torch.Tensor]) -> None:
        self.optimizer, self.rule, self.params = optimizer, optimizer.rule, params
        self.kept = [self.rule.kept(g) for g in optimizer.groups_of(params)]
        self.numbers = torch.zeros((len(params), self.rule.numbers))
        self.row = (C.c_float * self.numbers.numel()).from_address(self.numbers.data_ptr())
        self.known = [len(g["params"]) for g in optimizer.of.param_groups]
        self.before: Any = None

    def tensors(self) -> List[torch.Tensor]:
        """States in the order of `names`, made where they are not yet; numbers for the next step.
        """
        states, of, rows, values = self.optimizer.of.state, [], [], {}
        self.made: List[Tuple[torch.Tensor, Dict[str, Any]]] = []
        self.optimizer.check()
        if [len(g["params"]) for g in self.optimizer.of.param_groups] != self.known:
            raise ValueError("gnnc.torch.compile_step: the optimizer has other parameters than "
                             "when the step was compiled; compile it again")
        for p, group, kept in zip(self.params, self.optimizer.groups_of(self.params), self.kept):
            if self.rule.kept(group) != kept:
                raise ValueError("gnnc.torch.compile_step: the optimizer keeps other states than "
                                 "when the step was compiled; compile it again")
            state, fresh = states[p] if kept else {}, False
            if any(state.get(name) is None for name in kept):
                self.made.append((p, dict(state)))
            counter = self.rule.counter(state)
            of.append(p)
            for name in kept:
                if state.get(name) is None:
                    state[name] = torch.zeros_like(p, memory_format=torch.preserve_format)
                    fresh = True
                of.append(state[name])
            key = (id(group), counter, fresh)
            if key not in values:
                values[key] = self.rule.values(group, counter, fresh)
            rows.append(values[key])
        if rows != self.before:
            self.row[:] = [x for row in rows for x in row]
            self.before = rows
        return of

    def undo(self) -> None:
        """The step failed: states that were made for it go."""
        for p, before in self.made:
            if before:
                self.optimizer.of.state[p] = before
            else:
                self.optimizer.of.state.pop(p, None)

    def done(self) -> None:
        states = self.optimizer.of.state
        counters = [states[p]["step"] for p, kept in zip(self.params, self.kept)
                    if kept and "step" in states[p]]
        for counter in counters:  # a number of float32 each, of the CPU
            C.c_float.from_address(counter.data_ptr()).value += 1
        torch.autograd.graph.increment_version(counters)
        self.optimizer.of._opt_called = True  # type: ignore[attr-defined]  # as schedulers ask
