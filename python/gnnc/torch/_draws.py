"""Masks of dropout: torch's draws, of torch's generator, made by gnnc where they are the same.

Whether they are is seen once a process, by a generator of its own: torch's way hangs on the
processor and on how it was built.
"""

from __future__ import annotations

import threading
from typing import Optional

import torch

from .._capi import check, lib

_same: Optional[bool] = None
_drawing = threading.Lock()


def _draw(state: torch.Tensor, keep: float, mask: torch.Tensor) -> None:
    check(lib.gnnc_draw_torch(state.data_ptr(), state.numel(), keep, mask.numel(),
                              mask.data_ptr()))


def _is_same() -> bool:
    """Masks and states behind them, of sizes that end within blocks and go on between threads."""
    ours, theirs = torch.Generator().manual_seed(3), torch.Generator().manual_seed(3)
    for draws, keep in ((1, .5), (311, .9), (1, .3), (1000, .4), (40000, .5)):
        for g in (ours, theirs):
            torch.rand(1, generator=g)  # of a single word
        want = torch.empty(draws, dtype=torch.bool).bernoulli_(keep, generator=theirs)
        got, state = torch.empty(draws, dtype=torch.bool), ours.get_state()
        _draw(state, keep, got)
        ours.set_state(state)
        if not torch.equal(got, want):
            return False
    return torch.equal(torch.rand(9, generator=ours), torch.rand(9, generator=theirs))


def same() -> bool:
    """Are gnnc's draws torch's own?"""
    global _same
    if _same is None:
        try:
            _same = _is_same()
        except Exception:  # of another version, whose state is another
            _same = False
    return _same


def draw_mask(keep: float, *shape: int) -> torch.Tensor:
    """A mask of dropout, as native_dropout draws it."""
    mask = torch.empty(shape, dtype=torch.bool)
    if not same():
        return mask.bernoulli_(keep)
    generator = torch.default_generator
    with _drawing:
        state = generator.get_state()
        _draw(state, keep, mask)
        generator.set_state(state)
    return mask


draw_mask.gnnc_random = True  # type: ignore[attr-defined]
