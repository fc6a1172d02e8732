"""torch's optimizers as part of a program: what they keep as states, what changes as numbers.

Everything that may change between steps (learning rates, betas, weight decay, momentum, counters)
comes as a row of numbers for each parameter, which torch's own formulas give; so programs are made
once.  The formulas are those of torch.optim's `_single_tensor_adam` and `_single_tensor_sgd`.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

import torch

from ._ir import Text, Value

Number = Callable[[int], Value]  # of a parameter's row, in its shape
Group = Dict[str, Any]


def _times(t: Text, a: Value, b: Value) -> Value:
    return t.map("mul", a, b)


class _Adam:
    """Adam and AdamW."""

    numbers = 9
    refused = {"capturable": False, "differentiable": False}
    tensors = ("lr",)

    def kept(self, group: Group) -> Tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq") + (("max_exp_avg_sq",) if group["amsgrad"] else ())

    def start(self, state: Dict[str, Any], p: torch.Tensor, group: Group) -> None:
        if "step" not in state:
            state["step"] = torch.tensor(0.0, dtype=torch.float32)
        for name in self.kept(group):
            if name not in state:
                state[name] = torch.zeros_like(p, memory_format=torch.preserve_format)

    def key(self, state: Dict[str, Any]) -> float:
        return state["step"].item()

    def values(self, group: Group, step: float) -> List[float]:
        lr, wd, (b1, b2) = group["lr"], group["weight_decay"], group["betas"]
        step += 1
        decoupled = group.get("decoupled_weight_decay", False)
        return [-1. if group["maximize"] else 1., 0. if decoupled else wd,
                1 - lr * wd if decoupled else 1., 1 - b1, b2, 1 - b2,
                (1 - b2 ** step) ** 0.5, group["eps"], -lr / (1 - b1 ** step)]

    def counters(self, state: Dict[str, Any]) -> List[torch.Tensor]:
        return [state["step"]]

    def emit(self, t: Text, c: Number, p: Value, g: Value,
             kept: Dict[str, Value]) -> Tuple[Value, Dict[str, Value]]:
        m, v = kept["exp_avg"], kept["exp_avg_sq"]
        g = t.map("add", _times(t, g, c(0)), _times(t, p, c(1)))
        p = _times(t, p, c(2))
        m = t.map("add", m, _times(t, t.map("sub", g, m), c(3)))
        v = t.map("add", _times(t, v, c(4)), _times(t, _times(t, g, g), c(5)))
        new = {"exp_avg": m, "exp_avg_sq": v}
        if "max_exp_avg_sq" in kept:
            v = new["max_exp_avg_sq"] = t.map("max", kept["max_exp_avg_sq"], v)
        root = t.map("add", t.map("div", t.map("sqrt", v), c(6)), c(7))
        return t.map("add", p, t.map("div", _times(t, m, c(8)), root)), new


class _SGD:
    numbers = 6
    refused = {"differentiable": False}
    tensors = ("lr",)

    def kept(self, group: Group) -> Tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def start(self, state: Dict[str, Any], p: torch.Tensor, group: Group) -> None:
        self.fresh = False
        if self.kept(group) and state.get("momentum_buffer") is None:
            state["momentum_buffer"] = torch.zeros_like(p, memory_format=torch.preserve_format)
            state["gnnc_fresh"] = True

    def key(self, state: Dict[str, Any]) -> float:
        return float(state.pop("gnnc_fresh", False))

    def values(self, group: Group, fresh: float) -> List[float]:
        m = group["momentum"]
        first = bool(fresh)  # torch's buffer begins with the gradient itself
        nesterov = group["nesterov"]
        return [-1. if group["maximize"] else 1., group["weight_decay"],
                0. if first else m, 1. if first else 1 - group["dampening"],
                m if nesterov else 1., -group["lr"]] + ([1.] if nesterov else [0.])

    def counters(self, state: Dict[str, Any]) -> List[torch.Tensor]:
        return []

    def emit(self, t: Text, c: Number, p: Value, g: Value,
             kept: Dict[str, Value]) -> Tuple[Value, Dict[str, Value]]:
        g = t.map("add", _times(t, g, c(0)), _times(t, p, c(1)))
        new = {}
        if kept:
            b = t.map("add", _times(t, kept["momentum_buffer"], c(2)), _times(t, g, c(3)))
            new["momentum_buffer"] = b
            g = t.map("add", _times(t, g, c(6)), _times(t, b, c(4)))
        return t.map("add", p, _times(t, g, c(5))), new


_SGD.numbers = 7
