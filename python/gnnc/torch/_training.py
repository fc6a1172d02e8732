"""Programs whose runs are training steps: states that are replaced in torch's storage, and rows
that are left out.
"""

from __future__ import annotations

import ctypes as C
import re
from typing import Any, Dict, List, Sequence, Tuple

import torch

from .. import _capi as capi
from .._capi import lib
from ._program import Ends, Executable, Program, Relation, _Run, parsed


class _State:
    """A name of a program's state, and the tensor that is bound to it."""

    __slots__ = ("name", "shape", "strides", "tensor", "ref", "pointer", "moved")

    def __init__(self, name: str, like: torch.Tensor) -> None:
        n = like.dim()
        self.name = name.encode()
        self.shape = (C.c_int64 * max(n, 1))(*like.shape)
        self.strides = (C.c_int64 * max(n, 1))()
        self.tensor = capi.DLTensor(device=capi.DLDevice(capi.kDLCPU, 0), ndim=n,
                                    dtype=capi.DLDataType(capi.kDLFloat, 32, 1))
        self.tensor.shape = C.cast(self.shape, C.POINTER(C.c_int64))
        self.tensor.strides = C.cast(self.strides, C.POINTER(C.c_int64))
        self.ref = C.byref(self.tensor)
        self.pointer, self.moved = -1, ()

    def bind(self, handle: Any, t: torch.Tensor) -> None:
        pointer, strides = t.data_ptr(), t.stride()
        if pointer == self.pointer and strides == self.moved:
            return
        self.strides[:len(strides)] = strides
        self.tensor.data = pointer
        status = lib.gnnc_run_bind_weight(handle, self.name, self.ref)
        if status:
            capi.raise_status(status)
        self.pointer, self.moved = pointer, strides


_MOST_LEVELS = 8
_WORTH = 0.25  # of all rows, which a level has to leave out
_USE = re.compile(r" = (gather|scatter) %(\d+), .*end = ([01])")
_GRAPH = re.compile(r'%(\d+) = graph "(r\d+)"')


def lists_of(text: str, ends: Sequence[Ends]) -> List[bool]:
    """Of each relation: does it list rows?  As gnnc sees it: its first use is to read rows at its
    destinations, and those are others than its sources."""
    name = {number: of for number, of in _GRAPH.findall(text)}
    first: Dict[str, bool] = {}
    for op, number, end in _USE.findall(text):
        first.setdefault(name.get(number, ""), op == "gather" and end == "1")
    return [first.get(e.name, False) and e.src != e.dst for e in ends]


def count_levels(ends: Sequence[Ends], lists: Sequence[bool], sizes: Sequence[int],
                 roots: Sequence[torch.Tensor]) -> int:
    """How many levels of rows leave enough out: those that are listed, the sources of edges into
    those, and so on."""
    spaces = {k for e, listed in zip(ends, lists) for k in ((e.dst,) if listed else (e.src, e.dst))}
    marked = {k: torch.zeros(sizes[k], dtype=torch.bool) for k in spaces}
    pairs = [(torch.arange(r.shape[0]), r) if e.lone else (r[0], r[1])
             for e, r in zip(ends, roots)]
    for e, listed, (_, to) in zip(ends, lists, pairs):
        if listed:
            marked[e.dst][to] = True
    levels, most = 0, (1 - _WORTH) * sum(sizes[k] for k in spaces)
    while levels < _MOST_LEVELS and 0 < sum(int(m.sum()) for m in marked.values()) <= most:
        levels += 1
        before = {k: m.clone() for k, m in marked.items()}
        for e, listed, (of, to) in zip(ends, lists, pairs):
            if not listed:
                marked[e.src][of[before[e.dst][to]]] = True
    return levels


class StepProgram(Program):
    """A program whose run is a training step; `replaced` are the tensors that it does that to.

    It is compiled when the first data are there, for as many levels of rows as those leave out."""

    names: List[str]
    replaced: Sequence[torch.Tensor] = ()

    def _compile(self) -> None:
        lib.gnnc_module_free(parsed(self.text))  # whatever is wrong with it shows
        self._lists = lists_of(self.text, self.ends)
        self._runs: Dict[int, List[_Run]] = {}
        self._found: List[Relation] = []
        self._levels = 0

    def _take(self, sizes: Sequence[int], roots: Sequence[torch.Tensor],
              found: List[Relation]) -> _Run:
        if self._found != found:
            self._levels = 0
            if any(self._lists) and self.mode != "eager":
                self._levels = count_levels(self.ends, self._lists, sizes, roots)
            self._found = found
        levels = self._levels
        self.executable = exe = Executable.of(self.text, self.mode, True, levels)
        free = self._runs.setdefault(levels, [])
        return free.pop() if free else _Run(self, exe, free)

    def _compute(self, run: _Run, sizes: List[int], found: Any,
                 data: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        self._bind(run, found, data)
        states = getattr(run, "states", None)
        if states is None:
            states = run.states = [  # type: ignore[attr-defined]
                _State(n, t) for n, t in zip(self.names, self.replaced)]
        for slot, t in zip(states, self.replaced):
            slot.bind(run.handle, t)
        loss = C.c_double()
        status = lib.gnnc_run_step(run.handle, C.byref(loss))
        if status:
            capi.raise_status(status)
        return [torch.tensor(loss.value, dtype=torch.float32)]
