"""Modules and executables: what a model becomes."""

from __future__ import annotations

import ctypes as C
import os
from typing import (TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple,
                    Union)

from . import _capi as capi
from ._arrays import type_name, type_of
from ._capi import lib
from ._context import Context, default_context, encode
from ._data import Data
from ._errors import UsageError

if TYPE_CHECKING:
    from ._run import Run
    from ._state import State

__all__ = ["Executable", "ExecutableInfo", "Module", "ProgramInfo", "TuningInfo", "ValueInfo",
           "compile"]


class ValueInfo(NamedTuple):
    """An input or a result of an executable."""

    name: str
    graph: bool  # a graph or relation, from rows of `src` to rows of `dst`; no tensor
    src: Optional[str]
    dst: Optional[str]
    dtype: str
    shape: Tuple[int, ...]  # -1 in front: as many rows as graphs or data say
    rows: Optional[str]  # of what; None: of a graph that the model derives; "": of nothing
    on_edges: bool
    optional: bool  # it may be left out
    learning: bool  # inference does not read it


class ExecutableInfo(NamedTuple):
    """What compiling came to."""

    model: str
    compile_ms: float
    code_bytes: int
    kernels: int
    distinct: int
    parameters: int
    programs: int
    recompiles: int
    cache_hits: int
    cache_misses: int
    all_compile_ms: float
    outputs: int
    gradients: int
    inputs: int


class ProgramInfo(NamedTuple):
    """A program of an executable: its guards, and why it was compiled."""

    eager: bool
    compile_ms: float
    kernels: int
    nodes_least: int
    nodes_most: int
    edges_least: int
    edges_most: int
    guard: Optional[str]
    guard_was: int
    guard_is: int
    reason: str
    levels: int


class TuningInfo(NamedTuple):
    """What was chosen for a program."""

    known: bool
    choices: Optional[str]
    default_us: float
    best_us: float
    noise: float
    seconds: float
    rejected: int
    finished: bool


def _told(of: Any, values: Any) -> Any:
    """A structure of the library's as one of Python's."""
    found = (getattr(values, name) for name in of._fields)
    return of(*(v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in found))


def _value(i: Any) -> ValueInfo:
    def text(b: Optional[bytes]) -> Optional[str]:
        return None if b is None else b.decode("utf-8", "replace")
    return ValueInfo(i.name.decode("utf-8", "replace"), i.graph, text(i.src), text(i.dst),
                     "" if i.graph else type_name(i.type), tuple(i.shape[: i.ndim]), text(i.rows),
                     i.on_edges, i.optional, i.learning)


class Module:
    """A model that was parsed: `Module(text)`, `Module.read(path)`, `Module.from_ir(text)`.

    Raises ModelError, which lists every syntax error there is; whether names and shapes fit is seen
    by `compile`.
    """

    __slots__ = ("_handle", "_context", "__weakref__")

    def __init__(self, text: str, name: str = "<model>", *,
                 context: Optional[Context] = None) -> None:
        self._parse(lib.gnnc_module_parse, text, name, context)

    def _parse(self, function: Any, text: str, name: str, context: Optional[Context]) -> None:
        self._handle: Any = None
        self._context = c = context or default_context()
        out, source = C.c_void_p(), text.encode()
        c.diagnosed(lambda: function(c._handle, source, len(source), encode(name), C.byref(out)))
        self._handle = out

    @classmethod
    def read(cls, path: Any, *, context: Optional[Context] = None) -> "Module":
        """The module of a file.  Raises FileError, too."""
        self = cls.__new__(cls)
        self._handle, self._context = None, context or default_context()
        c, out = self._context, C.c_void_p()
        c.diagnosed(lambda: lib.gnnc_module_read(c._handle, encode(path), C.byref(out)))
        self._handle = out
        return self

    @classmethod
    def from_ir(cls, text: str, name: str = "<ir>", *,
                context: Optional[Context] = None) -> "Module":
        """The module of a program of tensor IR, as the stage "gir" prints it."""
        self = cls.__new__(cls)
        self._parse(lib.gnnc_module_parse_ir, text, name, context)
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a gnnc.Module cannot be pickled; send its text, and parse it there")

    def __del__(self, _free: Any = lib.gnnc_module_free) -> None:
        if self._handle:
            _free(self._handle)
            self._handle = None


def _module(model: Any, context: Optional[Context]) -> Module:
    if isinstance(model, Module):
        return model
    if isinstance(model, os.PathLike):
        return Module.read(model, context=context)
    if not isinstance(model, str):
        raise UsageError(f"a model is text, a path or a gnnc.Module, not {type(model).__name__}")
    if "{" in model or "\n" in model:
        return Module(model, context=context)
    return Module.read(model, context=context)


def _words(value: Any) -> str:
    """A hyperparameter's value as the language has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_words(v) for v in value) + "]"
    return str(value)


def compile(model: Any, *, data: Any = None, context: Optional[Context] = None,  # noqa: A001
            device: Optional[str] = None, name: Optional[str] = None,
            define: Optional[Mapping[str, Any]] = None,
            features: Optional[int] = None, classes: Optional[int] = None,
            edge_features: Optional[int] = None, edge_weights: Optional[bool] = None,
            train: bool = False, fixed: bool = False, sparse: bool = False, wide: bool = False,
            mode: Optional[str] = None, compile_threads: Optional[int] = None,
            dynamic: Union[str, bool, None] = None,
            ranges: Union[str, Mapping[str, Any], None] = None,
            buckets: Union[str, int, None] = None, expect_nodes: Optional[int] = None,
            expect_edges: Optional[int] = None, recompile_limit: int = 0,
            stance: Optional[str] = None, tune_budget_ms: int = 0, tune_lock: Any = None,
            matmul_precision: Optional[str] = None, rows: Optional[str] = None,
            gather_storage: Optional[str] = None, sparse_values: Optional[str] = None,
            same_data: bool = False, spaces: Optional[Mapping[str, Optional[int]]] = None,
            relations: Optional[Mapping[str, Sequence[Any]]] = None,
            columns: Optional[Mapping[str, Any]] = None, labelled: Optional[str] = None,
            by_rows: bool = False, fanout: Optional[Sequence[int]] = None,
            draw: Optional[str] = None, gradients: Union[str, Sequence[str], None] = None,
            gradients_of: Optional[str] = None, rate_changes: bool = False,
            precision: Optional[str] = None, memory_bytes: int = 0) -> "Executable":
    """Compiles a model: its text, the path of a file, or a `Module`.

    `data` is anything that `Data` takes: sizes and the schema come from it, where they are not
    given here.  `name` says which model of several.  `define` are hyperparameters by name; a string
    stands as in the language.  The other keywords are `gnnc_compile_options` of gnnc.h, which says
    all about them:

    sizes            features, classes, edge_features, edge_weights; expect_nodes, expect_edges
    what it does     train, gradients ("weights,x" or a list), gradients_of, rate_changes
    data that stay   fixed, same_data, rows
    few rows         by_rows, fanout (edges into a row by hop, -1: all), draw
    sparse x         sparse, sparse_values
    several types    spaces {name: rows or None}, relations {name: (src, dst) or with the expected
                     number of edges}, columns {name: (dtype, shape of a row) or with the number of
                     values}, labelled
    sizes compiled   dynamic, ranges ("N in 1..1000", or {"N": (1, 1000)}), buckets,
                     recompile_limit, stance, wide
    speed            mode, precision, matmul_precision, gather_storage, tune_budget_ms, tune_lock,
                     compile_threads
    memory           memory_bytes, of a run at most

    `device` is "cpu", "cuda", "cuda:N" or "auto", of the context that is made for it where none is
    given; graphs are to be made there (`executable.context.graph`).  Raises ModelError with a
    caret, UsageError, DataError, BackendError.
    """
    given: Dict[str, Any] = {} if data is None else _as_data(data).options()
    for key, value in (("features", features), ("classes", classes),
                       ("edge_features", edge_features), ("edge_weights", edge_weights),
                       ("expect_nodes", expect_nodes), ("expect_edges", expect_edges),
                       ("spaces", spaces), ("relations", relations), ("columns", columns),
                       ("labelled", labelled)):
        if value is not None:
            given[key] = value
    if device is not None:
        if context is not None:
            raise UsageError("the device is the context's: give one of the two")
        context = default_context(device)
    module = _module(model, context)
    c = module._context
    if context is not None and context is not c:
        raise UsageError("the module is of another context than the one that is given")
    o = capi.gnnc_compile_options()
    keep: List[Any] = []
    o.model = encode(name)
    if define:
        pairs = [capi.gnnc_define(encode(k), _words(v).encode()) for k, v in define.items()]
        o.defines, o.n_defines = _array(capi.gnnc_define, pairs, keep), len(pairs)
    for key in ("features", "classes", "edge_features", "edge_weights", "expect_nodes",
                "expect_edges"):
        if given.get(key):
            setattr(o, key, given[key])
    o.train, o.fixed, o.sparse, o.wide = train, fixed, sparse, wide
    o.mode, o.stance, o.tune_lock = encode(mode), encode(stance), encode(tune_lock)
    o.compile_threads = c.threads if compile_threads is None else compile_threads
    o.dynamic = encode(str(dynamic).lower() if isinstance(dynamic, bool) else dynamic)
    o.ranges = encode(_ranges(ranges))
    o.buckets = encode(None if buckets is None else str(buckets))
    o.recompile_limit, o.tune_budget_ms = recompile_limit, tune_budget_ms
    o.matmul_precision, o.rows = encode(matmul_precision), encode(rows)
    o.gather_storage, o.sparse_values = encode(gather_storage), encode(sparse_values)
    o.same_data, o.by_rows, o.rate_changes = same_data, by_rows, rate_changes
    o.memory_bytes = memory_bytes
    o.draw, o.gradients_of = encode(draw), encode(gradients_of)
    o.precision = encode(precision)
    o.gradients = encode(gradients if gradients is None or isinstance(gradients, str)
                         else ",".join(gradients))
    if fanout:
        o.fanout, o.n_fanout = _array(C.c_int64, list(fanout), keep), len(fanout)
    _schema(o, given, keep)
    out = C.c_void_p()
    c.diagnosed(lambda: lib.gnnc_compile(module._handle, C.byref(o), C.byref(out)))
    return Executable(out, c, by_rows)


def _as_data(data: Any) -> Data:
    return data if isinstance(data, Data) else Data(data)


def _array(of: Any, values: Sequence[Any], keep: List[Any]) -> Any:
    made = (of * len(values))(*values)
    keep.append(made)
    return C.cast(made, C.POINTER(of))


def _ranges(ranges: Any) -> Optional[str]:
    if ranges is None or isinstance(ranges, str):
        return ranges
    return ", ".join("{} in {}..{}".format(k, *("" if end is None else end for end in ends))
                     for k, ends in ranges.items())


def _schema(o: Any, given: Dict[str, Any], keep: List[Any]) -> None:
    spaces = [capi.gnnc_space(name=encode(k), rows=-1 if n is None else n)
              for k, n in (given.get("spaces") or {}).items()]
    relations = []
    for k, ends in (given.get("relations") or {}).items():
        src, dst, *expect = ends
        relations.append(capi.gnnc_relation(name=encode(k), src=encode(src), dst=encode(dst),
                                            expect_edges=expect[0] if expect else 0))
    columns = []
    for k, column in (given.get("columns") or {}).items():
        dtype, shape, *values = (column, ()) if isinstance(column, str) else column
        shape = [shape] if isinstance(shape, int) else list(shape)
        made = capi.gnnc_column(name=encode(k), type=type_of(dtype), ndim=len(shape),
                                values=values[0] if values else 0)
        if shape:
            made.shape = _array(C.c_int64, shape, keep)
        columns.append(made)
    if spaces:
        o.spaces, o.n_spaces = _array(capi.gnnc_space, spaces, keep), len(spaces)
    if relations:
        o.relations, o.n_relations = _array(capi.gnnc_relation, relations, keep), len(relations)
    if columns:
        o.columns, o.n_columns = _array(capi.gnnc_column, columns, keep), len(columns)
    o.labelled = encode(given.get("labelled"))


class Executable:
    """A compiled model, for graphs of any size.  Any number of threads may use it at once.

    `run(data)` binds data to it and computes; `state()` makes weights.
    """

    __slots__ = ("_handle", "_context", "_inputs", "_outputs", "by_rows", "__weakref__")

    def __init__(self, handle: Any, context: Context, by_rows: bool = False) -> None:
        self._handle, self._context = handle, context
        #: Whether it computes the rows alone that a run is asked about.
        self.by_rows = by_rows
        self._inputs: Optional[List[ValueInfo]] = None
        self._outputs: Optional[List[ValueInfo]] = None

    def run(self, data: Any = None, *, state: Optional[State] = None, seed: int = 0,
            threads: Optional[int] = None, stance: Optional[str] = None) -> Run:
        """A run, with `data` bound where they are given, and fresh weights where no `state` is.

        `threads` is the most that it takes; results are the same bits for any number.
        """
        from ._run import Run
        run = Run(self, self.state(seed) if state is None else state, threads=threads,
                  stance=stance)
        if data is not None:
            run.bind(data)
        return run

    def state(self, seed: int = 0) -> State:
        """Fresh weights, drawn by seed as the model says, with fresh moments and counters."""
        from ._state import State
        out = C.c_void_p()
        self._context.after(lib.gnnc_state_new(self._handle, seed, C.byref(out)))
        return State(out, self)

    @property
    def context(self) -> Context:
        """The context that it was compiled in, and that its graphs have to be of."""
        return self._context

    @property
    def info(self) -> ExecutableInfo:
        """What compiling came to: kernels, times, programs, look-ups in the cache."""
        i = capi.gnnc_executable_info()
        lib.gnnc_executable_describe(self._handle, C.byref(i))
        return _told(ExecutableInfo, i)

    @property
    def inputs(self) -> List[ValueInfo]:
        """What is bound to a run, graphs first."""
        if self._inputs is None:
            self._inputs = self._values(lib.gnnc_executable_input, self.info.inputs)
        return list(self._inputs)

    @property
    def outputs(self) -> List[ValueInfo]:
        """What a run gives, in the model's order."""
        if self._outputs is None:
            self._outputs = self._values(lib.gnnc_executable_output, self.info.outputs)
        return list(self._outputs)

    def _values(self, function: Any, n: int) -> List[ValueInfo]:
        found = []
        for k in range(n):
            i = capi.gnnc_value_info()
            self._context.after(function(self._handle, k, C.byref(i)))
            found.append(_value(i))
        return found

    @property
    def programs(self) -> List[ProgramInfo]:
        """Programs for sizes of graphs, in the order in which they were compiled."""
        found = []
        for k in range(self.info.programs):
            i = capi.gnnc_program_info()
            self._context.after(lib.gnnc_executable_program(self._handle, k, C.byref(i)))
            found.append(_told(ProgramInfo, i))
        return found

    def tuning(self, program: int = 0, step: bool = False) -> TuningInfo:
        """What was chosen for a program's inference, or its training step."""
        i = capi.gnnc_tuning_info()
        self._context.after(lib.gnnc_executable_tuning(self._handle, program, step, C.byref(i)))
        return _told(TuningInfo, i)

    def save_lock(self, path: Any) -> None:
        """Everything that was chosen so far to a file, for `tune_lock`."""
        self._context.after(lib.gnnc_executable_lock(self._handle, encode(path)))

    def explain(self) -> str:
        """What the compiler decided: programs, their guards, what became one kernel, and why."""
        text = C.c_void_p()
        self._context.after(lib.gnnc_executable_explain(self._handle, C.byref(text)))
        return capi.take_text(text)

    def emit(self, stage: str) -> str:
        """A stage of compilation as text: "ast", "gir", "kir", "llvm" or "asm"."""
        text = C.c_void_p()
        self._context.after(lib.gnnc_executable_emit(self._handle, encode(stage), C.byref(text)))
        return capi.take_text(text)

    def __repr__(self) -> str:
        return f"gnnc.Executable({self.info.model}, {self.info.kernels} kernels)"

    def __reduce__(self) -> Any:
        raise TypeError("a gnnc.Executable cannot be pickled; compile in each process, which the "
                        "cache makes quick")

    def __del__(self, _free: Any = lib.gnnc_executable_free) -> None:
        if self._handle:
            _free(self._handle)
            self._handle = None
