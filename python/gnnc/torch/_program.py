"""Programs that run: what is bound to them, and the relations that index tensors are."""

from __future__ import annotations

import ctypes as C
import threading
from collections import OrderedDict
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch

from .. import _capi as capi
from .._capi import check, lib
from ._matrices import Looks, Nonzeros

_TYPES = {"f32": (capi.kDLFloat, 32, torch.float32), "bool": (capi.kDLBool, 8, torch.bool)}


class Stats:
    """Counts since the process began."""

    compiled = 0     # programs that gnnc compiled
    relations = 0    # relations that were made
    graphs = 0       # index tensors that were copied, being new
    computed = 0     # times that what depends on the graph alone was computed


_lock = threading.RLock()
_context: Optional[C.c_void_p] = None


def context() -> C.c_void_p:
    """The one context of all programs, with the cache that the environment says."""
    global _context
    with _lock:
        if _context is None:
            made = C.c_void_p()
            check(lib.gnnc_context_new(None, C.byref(made)))
            _context = made
        return _context


# Index tensors ------------------------------------------------------------------------------------

_memcmp = C.CDLL(None).memcmp
_memcmp.argtypes = [C.c_void_p, C.c_void_p, C.c_size_t]


def _holds(copy: torch.Tensor, t: torch.Tensor) -> bool:
    """The same numbers?  Of integers and truth values, so that bytes say it."""
    if not t.is_contiguous():
        return torch.equal(copy, t)
    return not _memcmp(copy.data_ptr(), t.data_ptr(), t.numel() * t.element_size())


class _Watched:
    """Copies of the index tensors that were seen last, which nobody else can write to.

    A tensor is found by what it holds: another one of the same numbers is the same graph, and one
    that was written to is another.
    """

    def __init__(self, limit: int = 16) -> None:
        self.limit = limit
        self.own: "OrderedDict[int, torch.Tensor]" = OrderedDict()
        self.lately: Dict[Tuple[Any, ...], List[torch.Tensor]] = {}

    def __call__(self, t: torch.Tensor) -> torch.Tensor:
        own = self.own.get(t.data_ptr())
        if own is not None and own.shape == t.shape and own.stride() == t.stride():
            return own
        key = (t.dtype, t.shape)
        same = self.lately.get(key)
        if same:
            for c in same:
                if _holds(c, t):
                    return c
        return self._add(t.detach(), key)

    def _add(self, t: torch.Tensor, key: Tuple[Any, ...]) -> torch.Tensor:
        with torch.inference_mode(False):  # so that it goes into calls of either kind
            copy = t.clone(memory_format=torch.contiguous_format)
        with _lock:
            Stats.graphs += 1
            self.own[copy.data_ptr()] = copy
            same = self.lately.get(key, [])
            self.lately[key] = [copy] + same[:1]
            for old in same[1:]:
                self.own.pop(old.data_ptr(), None)
            while len(self.own) > self.limit:
                _, old = self.own.popitem(last=False)
                of = (old.dtype, old.shape)
                left = [c for c in self.lately.get(of, []) if c is not old]
                if left:
                    self.lately[of] = left
                else:
                    self.lately.pop(of, None)
        return copy


watch = _Watched()


class Relation:
    """A relation of gnnc's, and the index tensor that it was made of, which it keeps."""

    def __init__(self, root: torch.Tensor, n_src: int, n_dst: int, lone: bool) -> None:
        ends = root.detach()
        if lone:
            src = torch.arange(ends.shape[0], dtype=ends.dtype)
            dst = ends.contiguous()
        else:
            src, dst = ends[0].contiguous(), ends[1].contiguous()
        kind = capi.GNNC_INT64 if dst.dtype == torch.int64 else capi.GNNC_INT32
        self.root = root
        self.handle = C.c_void_p()
        check(lib.gnnc_relation_from_coo(context(), n_src, n_dst, dst.shape[0], kind,
                                         src.data_ptr(), dst.data_ptr(), C.byref(self.handle)))
        Stats.relations += 1

    def __del__(self) -> None:
        if self.handle:
            lib.gnnc_graph_free(self.handle)


_relations: "OrderedDict[Tuple[Any, ...], Relation]" = OrderedDict()
_RELATIONS = 32


def relation(root: torch.Tensor, n_src: int, n_dst: int, lone: bool) -> Relation:
    """The relation of an index tensor that nobody else writes to."""
    key = (root.data_ptr(), root._version, root.shape, root.stride(), n_src, n_dst, lone)
    r = _relations.get(key)
    if r is None:
        r = Relation(root, n_src, n_dst, lone)
        with _lock:
            _relations[key] = r
            while len(_relations) > _RELATIONS:
                _relations.popitem(last=False)
    return r


class Alone:
    """What depends on the graph alone, computed once for each of the last graphs."""

    def __init__(self, compute: Any, limit: int = 8) -> None:
        self.compute, self.limit = compute, limit
        self.kept: "OrderedDict[Tuple[Any, ...], Tuple[Any, Any]]" = OrderedDict()

    def __call__(self, *args: Any) -> Any:
        key = tuple([a.data_ptr() if isinstance(a, torch.Tensor) else a for a in args])
        found = self.kept.get(key)
        if found is not None and all([a is b or not isinstance(a, torch.Tensor)
                                      for a, b in zip(args, found[0])]):
            return found[1]
        with torch.inference_mode(False), torch.no_grad():
            results = self.compute(*args)
        with _lock:
            Stats.computed += 1
            self.kept[key] = (args, results)
            while len(self.kept) > self.limit:
                self.kept.popitem(last=False)
        return results


# Programs -----------------------------------------------------------------------------------------

class Input(NamedTuple):
    name: str
    elem: str
    dims: Tuple[int, ...]
    space: Optional[int]  # whose rows it has, a number of a space; None: it has no rows
    on_edges: bool
    fixed: bool           # the same tensor for the same graph


class Output(NamedTuple):
    name: str
    elem: str
    dims: Tuple[int, ...]
    space: Optional[int]


class Ends(NamedTuple):
    name: str
    src: int  # numbers of spaces
    dst: int
    edges: int
    lone: bool


class Pattern(NamedTuple):
    """A matrix that is bound by its non-zeros."""

    name: str    # of the relation
    values: str  # of the input with their values; "": all are 1
    kind: str    # as Nonzeros has it
    width: int


_executables: Dict[Tuple[Any, ...], "Executable"] = {}


def parsed(text: str) -> C.c_void_p:
    """A program as a module, which the caller frees."""
    module, data = C.c_void_p(), text.encode()
    check(lib.gnnc_module_parse_ir(context(), data, len(data), b"torch", C.byref(module)))
    return module


class Executable:
    """A program of tensor IR that was compiled; equal texts share one."""

    def __init__(self, text: str, mode: Optional[str], train: bool, levels: int) -> None:
        self.handle, self.state = C.c_void_p(), C.c_void_p()
        module = parsed(text)
        options = capi.gnnc_compile_options(mode=mode.encode() if mode else None, train=train,
                                            rows=str(levels).encode() if levels else None)
        try:
            check(lib.gnnc_compile(module, C.byref(options), C.byref(self.handle)))
            check(lib.gnnc_state_new(self.handle, 0, C.byref(self.state)))
        finally:
            lib.gnnc_module_free(module)
        Stats.compiled += 1

    @staticmethod
    def of(text: str, mode: Optional[str], train: bool = False, levels: int = 0) -> "Executable":
        key = (text, mode, train, levels)
        with _lock:
            if key not in _executables:
                _executables[key] = Executable(text, mode, train, levels)
            return _executables[key]

    def emit(self, stage: str) -> str:
        text = C.c_void_p()
        check(lib.gnnc_executable_emit(self.handle, stage.encode(), C.byref(text)))
        return capi.take_text(text)


class _Slot:
    """What one name of a run has bound: a DLTensor that is written over, and what it said last."""

    __slots__ = ("name", "tensor", "ref", "shape", "pointer", "rows", "rest", "has_rows", "version",
                 "kept")

    def __init__(self, name: str, elem: str, dims: Sequence[int], has_rows: bool) -> None:
        code, bits, _ = _TYPES[elem]
        shape = ([0] if has_rows else []) + list(dims)
        self.name = name.encode()
        self.shape = (C.c_int64 * max(len(shape), 1))(*shape)
        self.tensor = capi.DLTensor(device=capi.DLDevice(capi.kDLCPU, 0), ndim=len(shape),
                                    dtype=capi.DLDataType(code, bits, 1))
        self.tensor.shape = C.cast(self.shape, C.POINTER(C.c_int64))
        self.ref = C.byref(self.tensor)
        self.pointer, self.rows, self.version = -1, -1, -1
        self.has_rows = has_rows
        self.rest = tuple(dims)
        self.kept: Any = None


class _Run:
    def __init__(self, program: "Program", exe: Executable, free: List[Any]) -> None:
        self.handle, self.free = C.c_void_p(), free
        self.hold: List[torch.Tensor] = []  # copies that are bound
        options = capi.gnnc_run_options(threads=program.threads)
        check(lib.gnnc_run_new(exe.handle, exe.state, C.byref(options), C.byref(self.handle)))
        self.relations: List[Any] = [None] * len(program.ends)
        self.patterns: List[Any] = [None] * len(program.patterns)
        self.values = [_Slot(p.values, "f32", (), True) for p in program.patterns]
        self.inputs = [_Slot(i.name, i.elem, i.dims, i.space is not None) for i in program.inputs]
        self.outputs = [_Slot(o.name, o.elem, o.dims, o.space is not None)
                        for o in program.outputs]

    def __del__(self) -> None:
        if self.handle:
            lib.gnnc_run_free(self.handle)


class Program:
    """A part of a graph that gnnc runs.  Threads that call it at once have runs of their own."""

    executable: Executable

    def __init__(self, text: str, ends: List[Ends], patterns: List[Pattern], inputs: List[Input],
                 outputs: List[Output], mode: Optional[str], threads: int) -> None:
        self.text, self.ends, self.inputs, self.outputs = text, ends, inputs, outputs
        self.patterns = patterns
        self.threads, self.mode = threads, mode
        self._compile()
        self._free: List[_Run] = []
        # What gnnc copies when it is bound: it is bound anew by each call, unless it is fixed.
        self.copied = [i.on_edges or i.elem != "f32" for i in inputs]
        self.types = [_TYPES[o.elem][2] for o in outputs]

    def __call__(self, sizes: Sequence[int], roots: Sequence[torch.Tensor],
                 data: Sequence[torch.Tensor],
                 matrices: Sequence[Nonzeros] = ()) -> List[torch.Tensor]:
        """Results, for sizes of all spaces, index tensors, inputs, and matrices by their
        non-zeros."""
        sizes = list(sizes)
        found = []
        for root, ends in zip(roots, self.ends):
            if not ends.lone:
                sizes[ends.edges] = root.shape[1]
            found.append(relation(root, sizes[ends.src], sizes[ends.dst], ends.lone))
        run = self._take(sizes, roots, found)
        # A run that failed is not used again: what it has bound is not known.
        for k, m in enumerate(matrices):
            if run.patterns[k] is not m:
                self._bind_matrix(run, k, m)
        results = self._compute(run, sizes, found, data)
        run.free.append(run)
        return results

    def _compile(self) -> None:
        self.executable = Executable.of(self.text, self.mode)

    def _take(self, sizes: Sequence[int], roots: Sequence[torch.Tensor],
              found: List[Relation]) -> _Run:
        """A run that nobody uses."""
        try:
            return self._free.pop()
        except IndexError:
            return _Run(self, self.executable, self._free)

    def _bind_matrix(self, run: _Run, k: int, m: Nonzeros) -> None:
        check(lib.gnnc_run_bind_relation(run.handle, self.patterns[k].name.encode(), m.handle))
        if m.values is not None:
            slot = run.values[k]
            slot.shape[0], slot.tensor.data = m.values.shape[0], m.values.data_ptr()
            check(lib.gnnc_run_bind(run.handle, slot.name, slot.ref))
        run.patterns[k] = m

    def _compute(self, run: _Run, sizes: List[int], found: List[Relation],
                 data: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        self._bind(run, found, data)
        results = self._bind_outputs(run, sizes)
        status = lib.gnnc_run_infer(run.handle)
        if status:
            capi.raise_status(status)
        return results

    def _bind(self, run: _Run, found: List[Relation], data: Sequence[torch.Tensor]) -> None:
        handle = run.handle
        for k, r in enumerate(found):
            if run.relations[k] is not r:
                check(lib.gnnc_run_bind_relation(handle, self.ends[k].name.encode(), r.handle))
                run.relations[k] = r
        hold = []
        bind = lib.gnnc_run_bind
        for slot, t, i, copied in zip(run.inputs, data, self.inputs, self.copied):
            if not t.is_contiguous():
                t = t.contiguous()
                hold.append(t)
            pointer = t.data_ptr()
            rows = t.shape[0] if slot.has_rows else 0
            if pointer == slot.pointer and rows == slot.rows and (
                    not copied or slot.kept is not None and slot.version == t._version):
                continue
            if slot.has_rows:
                slot.shape[0] = rows
            slot.tensor.data = pointer
            status = bind(handle, slot.name, slot.ref)
            if status:
                capi.raise_status(status)
            slot.pointer, slot.rows = pointer, rows
            if copied:
                slot.kept = t if i.fixed else None
                slot.version = t._version if i.fixed else -1
        run.hold = hold

    def _bind_outputs(self, run: _Run, sizes: List[int]) -> List[torch.Tensor]:
        results = []
        for slot, o, dtype in zip(run.outputs, self.outputs, self.types):
            if o.space is None:
                out = torch.empty(slot.rest, dtype=dtype)
                rows = 0
            else:
                rows = sizes[o.space]
                out = torch.empty((rows,) + slot.rest, dtype=dtype)
            pointer = out.data_ptr()
            results.append(out)
            if pointer == slot.pointer and rows == slot.rows:
                continue
            if slot.has_rows:
                slot.shape[0] = rows
            slot.tensor.data = pointer
            status = lib.gnnc_run_bind_output(run.handle, slot.name, slot.ref)
            if status:
                capi.raise_status(status)
            slot.pointer, slot.rows = pointer, rows
        return results


class Variant(NamedTuple):
    """A program, and where what it takes is among what a Choice is given."""

    program: Program
    sizes: List[int]  # -1: known by the program itself
    roots: List[int]
    data: List[int]
    matrices: List[int]


class Choice:
    """A part with a program for each way that the matrices it multiplies can be had.

    `factors`: which of its inputs those are.  `make(kinds)` is the program where they are of these
    kinds (None: dense), `kinds` those that are expected.
    """

    def __init__(self, factors: Sequence[int], kinds: Sequence[Optional[str]],
                 make: Callable[[Tuple[Optional[str], ...]], Variant]) -> None:
        self.factors, self.make = list(factors), make
        self.looks = [Looks() for _ in factors]
        self.variants = {tuple(kinds): make(tuple(kinds))}

    @property
    def programs(self) -> List[Program]:
        return [v.program for v in self.variants.values()]

    def __call__(self, sizes: Sequence[int], roots: Sequence[torch.Tensor],
                 data: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        found = [look(data[k]) for look, k in zip(self.looks, self.factors)]
        kinds = tuple([None if m is None else m.kind for m in found])
        v = self.variants.get(kinds)
        if v is None:
            with _lock:
                if kinds not in self.variants:
                    self.variants[kinds] = self.make(kinds)
            v = self.variants[kinds]
        return v.program([0 if k < 0 else sizes[k] for k in v.sizes], [roots[k] for k in v.roots],
                         [data[k] for k in v.data],
                         [found[k] for k in v.matrices])  # type: ignore[misc]
