"""Runs: an executable, a state, a graph and data, and computing with them."""

from __future__ import annotations

import ctypes as C
import functools
import random
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _capi as capi
from ._arrays import Borrowed, Tensor, borrow, copied, numbers, numpy, viewed
from ._capi import DLTensor, lib
from ._context import encode
from ._data import Data
from ._errors import DataError, UsageError
from ._executable import Executable
from ._graph import Graph, is_scipy
from ._profile import Profile, ProfileRow, read_rows
from ._state import State, write

__all__ = ["History", "Run", "RunInfo", "accuracy"]


class RunInfo(NamedTuple):
    """What a run did up to now."""

    inferences: int
    steps: int
    bindings: int
    bytes: int
    program: int
    eager: bool
    padded_nodes: int
    padded_edges: int


class History:
    """What `Run.fit` came to."""

    def __init__(self) -> None:
        #: The mean loss of each epoch.
        self.losses: List[float] = []
        #: (epoch, what `validate` gave), each time that it was asked.
        self.scores: List[Tuple[int, float]] = []
        #: The epoch of the best score, counted from 1; 0: there was none.
        self.best_epoch = 0
        #: The best score.
        self.best_score = float("-inf")
        #: How long it took.
        self.seconds = 0.0

    def __repr__(self) -> str:
        best = f", best {self.best_score:.4f} in epoch {self.best_epoch}" if self.scores else ""
        last = f", loss {self.losses[-1]:.4f}" if self.losses else ""
        return f"gnnc.History({len(self.losses)} epochs{last}{best}, {self.seconds:.1f} s)"


def _alone(method: Any) -> Any:
    """One thread at a time in a run; others wait.  A callback of the call at work may not."""
    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **named: Any) -> Any:
        me = threading.get_ident()
        if self._owner == me:
            raise UsageError("a callback uses the run that is at work")
        with self._turn:
            self._owner = me
            try:
                return method(self, *args, **named)
            finally:
                self._owner = 0
    return wrapped


class Run:
    """Data bound to an executable and a state, and computing with them.

    What is bound is borrowed where it lies as the library reads it (float32 and int32, row-major,
    of rows), and read anew by every call.  The rest is copied when it is bound: masks, int64, other
    floats, other strides, data on edges, everything of an executable compiled `fixed`.  The run
    keeps alive what it borrows.

    One thread at a time is in a run; others wait.  Runs work in parallel with each other, outside
    of the interpreter's lock.
    """

    def __init__(self, executable: Executable, state: State, *, threads: Optional[int] = None,
                 stance: Optional[str] = None) -> None:
        self._handle: Any = None
        self.executable, self.state = executable, state
        self._context = executable._context
        self._turn, self._owner = threading.Lock(), 0
        self._inputs = {i.name: i for i in executable.inputs}
        self._results = [o.name for o in executable.outputs]
        self._kept: Dict[str, Any] = {}
        self._bound_weights: Dict[str, Any] = {}
        self._outs: Dict[str, Any] = {}
        self._for_once: Optional[str] = None
        self._profile: Optional[Profile] = None
        #: What was bound by name, labels and masks that the model does not read too.
        self.data: Dict[str, Any] = {}
        #: The loss of the last step, before its update.
        self.loss: Optional[float] = None
        self._loss = C.c_double()
        options = capi.gnnc_run_options(threads=self._context.threads if threads is None
                                        else threads, stance=encode(stance))
        out = C.c_void_p()
        self._context.after(lib.gnnc_run_new(executable._handle, state._handle, C.byref(options),
                                             C.byref(out)))
        self._handle = out

    def __del__(self, _free: Any = lib.gnnc_run_free) -> None:
        if self._handle:
            _free(self._handle)
            self._handle = None

    def __reduce__(self) -> Any:
        raise TypeError("a gnnc.Run cannot be pickled; make one in each process")

    # Binding --------------------------------------------------------------------------------------

    @_alone
    def bind(self, data: Any = None, *, graph: Any = None, rows: Any = None,
             **named: Any) -> "Run":
        """Binds a graph and data by name, until others are bound.

        `data` is a mapping by the names of inputs (for those with a dot: `{"g.weight": w}`), or
        anything that `Data` takes; of that is bound what the model reads.  `graph` is what
        `Graph.of` takes.  `rows` are the nodes that an executable compiled `by_rows` is asked
        about.  None lets go an input with a default.  Gives the run.
        """
        self._bind(data, graph, rows, named)
        return self

    def _bind(self, data: Any, graph: Any, rows: Any, named: Mapping[str, Any]) -> None:
        if data is not None:
            if isinstance(data, Mapping) and not (
                    {"edge_index", "spaces", "relations", "columns"} & set(data)):
                named = {**data, **named}
            else:
                self._bind_data(data if isinstance(data, Data) else Data(data))
        if "graph" in named and "graph" not in self._inputs:
            named = dict(named)
            graph = named.pop("graph")
        if graph is not None:
            self._bind_graph("g", graph)
        for name, value in named.items():
            known = self._inputs.get(name)
            if known is not None and known.graph:
                self._bind_graph(name, value)
            else:
                self._bind_tensor(name, value)
        if rows is not None:
            self._bind_rows(rows)

    def _bind_data(self, data: Data) -> None:
        for name, made in data.graphs(self._context).items():
            if name in self._inputs:
                self._bind_graph(name, made)
        for name, value in data.bindings.items():
            if name in self._inputs:
                self._bind_tensor(name, value)
            else:
                self.data[name] = value

    def _bind_graph(self, name: str, graph: Any) -> None:
        if not isinstance(graph, Graph):
            i = self._inputs.get(name)
            if i is not None and i.src != i.dst and isinstance(graph, (tuple, list)):
                raise UsageError(f"{name} joins rows of {i.src} and {i.dst}: give gnnc.Graph(src, "
                                 "dst, num_src=..., num_dst=...)")
            graph = Graph.of(graph, context=self._context)
        if name == "g":
            status = lib.gnnc_run_bind_graph(self._handle, graph._handle)
        else:
            status = lib.gnnc_run_bind_relation(self._handle, encode(name), graph._handle)
        self._context.after(status)
        self._kept[name] = graph
        if graph.values is not None and name + ".weight" in self._inputs:
            self._bind_tensor(name + ".weight", graph.values)

    def _bind_tensor(self, name: str, value: Any) -> None:
        known = self._inputs.get(name)
        if value is None:
            self._context.after(lib.gnnc_run_bind(self._handle, encode(name), None))
            self._kept.pop(name, None)
            self.data.pop(name, None)
            return
        if is_scipy(value):
            self._bind_csr(name, value)
        else:
            b = borrow(value, known.dtype if known is not None and not known.graph else "")
            status = lib.gnnc_run_bind(self._handle, name.encode(), C.byref(b.dl))
            if status or self._context._pending:
                self._context.after(status)
            self._kept[name] = b
        self.data[name] = value

    def _bind_csr(self, name: str, value: Any) -> None:
        """x of few non-zeros, which the library copies."""
        if name != "x":
            raise DataError(f"{name} is a sparse matrix, and only x may be one")
        csr = value.tocsr()
        row, column = csr.indptr.astype("int64"), csr.indices.astype("int32")
        numbers_ = csr.data.astype("float32")
        found = self._inputs.get("x")
        if found is not None and found.shape[1:] and csr.shape[1] != found.shape[1]:
            raise DataError(f"x is expected to have {found.shape[1]} columns, and has "
                            f"{csr.shape[1]}")
        if len(row) != csr.shape[0] + 1 or not row[-1] <= len(column) == len(numbers_):
            raise DataError("x is no matrix in CSR: its arrays have other lengths")
        r, c, v = borrow(row), borrow(column), borrow(numbers_)
        self._context.after(lib.gnnc_run_bind_csr(self._handle, csr.shape[0], r.dl.data, c.dl.data,
                                                  v.dl.data))
        self._kept.pop(name, None)

    @staticmethod
    def _numbers(rows: Any) -> Any:
        b = borrow(rows, "int64")
        if b.dtype == "bool":
            raise DataError("rows are numbers of nodes, not a mask; give mask.nonzero()")
        if b.dtype != "int64" or len(b.shape) != 1 or b.strides() != (1,):
            b = borrow([int(x) for x in numbers(rows)], "int64")
        return b

    def _bind_rows(self, rows: Any) -> None:
        b = self._numbers(rows)
        self._context.after(lib.gnnc_run_rows(self._handle, b.shape[0],
                                              (b.dl.data or 0) + b.dl.byte_offset))

    @_alone
    def ahead(self, rows: Any) -> "Run":
        """The nodes of the step after the next one, which begins to be prepared on another thread.

        The steps are the same without it.  Before the first step nothing is prepared.  Gives the
        run.
        """
        b = self._numbers(rows)
        self._context.after(lib.gnnc_run_ahead(self._handle, b.shape[0],
                                               (b.dl.data or 0) + b.dl.byte_offset))
        return self

    @_alone
    def rows(self, rows: Any) -> "Run":
        """The nodes that the next calls are about, of an executable compiled `by_rows`.  Gives the
        run."""
        self._bind_rows(rows)
        return self

    @_alone
    def bind_weight(self, name: str, tensor: Any) -> "Run":
        """A weight in memory of the caller's: a float32 tensor of torch, an array of NumPy.

        It takes the place of the state's.  Every call reads it anew, so that an optimizer of the
        caller's may change it in between, and `step` trains it where it lies.  None brings the
        state's back.  Gives the run.
        """
        self._bind_weight(name, tensor)
        return self

    def _bind_weight(self, name: str, tensor: Any) -> None:
        b = None if tensor is None else borrow(tensor, "float32")
        if b is not None and not b.writable:
            raise DataError(f"{name} is read-only, and training changes weights where they lie")
        if isinstance(tensor, (list, tuple, int, float)):
            raise DataError(f"{name} is bound to memory of yours; of a list there is none: "
                            "state.set_weight copies one")
        self._context.after(lib.gnnc_run_bind_weight(self._handle, encode(name),
                                                     None if b is None else C.byref(b.dl)))
        if b is None:
            self._bound_weights.pop(name, None)
        else:
            self._bound_weights[name] = b

    @_alone
    def bind_weights(self, source: Any) -> "Run":
        """All weights of a module of torch, or of a mapping by name, that the model has too.

        Raises DataError where the model has one that is not there.  Gives the run.
        """
        named = source.state_dict() if hasattr(source, "state_dict") else source
        missing = [name for name in self.state.names if name not in named]
        if missing:
            raise DataError("there is no weight called " + ", ".join(missing) + "; there are " +
                            ", ".join(named))
        for name in self.state.names:
            self._bind_weight(name, named[name])
        return self

    @_alone
    def bind_output(self, name: str, memory: Any) -> "Run":
        """Where the result of this name goes: writable memory of its shape, of any floats.

        Row-major float32 is written as the result is computed, without a copy.  None lets go.
        Gives the run.
        """
        self._bind_output(name, memory)
        return self

    def _bind_output(self, name: str, memory: Any) -> None:
        b = None if memory is None else borrow(memory)
        if b is not None and (not b.writable or isinstance(memory, (list, tuple))):
            raise DataError(f"the memory for {name} is read-only")
        self._context.after(lib.gnnc_run_bind_output(self._handle, encode(name),
                                                     None if b is None else C.byref(b.dl)))
        if b is None:
            self._outs.pop(name, None)
        else:
            self._outs[name] = (memory, b)

    # Computing ------------------------------------------------------------------------------------

    @_alone
    def infer(self, data: Any = None, *, graph: Any = None, rows: Any = None, out: Any = None,
              copy: bool = True, **named: Any) -> Any:
        """The forward pass, as for serving: no dropout, running statistics.

        What is given is bound first, as by `bind`.  Gives the result, an array that is the
        caller's; of several results a dict by name.  `out` is memory for the first result, which it
        is computed into.  With `copy=False` (NumPy) results are views of the run's memory: they
        hold until the next call, and may not be read after it.
        """
        if data is not None or graph is not None or rows is not None or named:
            self._bind(data, graph, rows, named)
        if out is not None or self._for_once is not None:
            self._once(out)
        gate = self.state._gate
        gate.read()
        try:
            status = lib.gnnc_run_infer(self._handle)
        finally:
            gate.read_end()
        if status or self._context._pending:
            self._context.after(status)
        return self._given(copy)

    def _once(self, out: Any) -> None:
        name = self._results[0]
        if out is None:
            self._for_once = None
            self._bind_output(name, None)
        elif self._outs.get(name, (None,))[0] is not out:
            self._bind_output(name, out)
            self._for_once = name

    def _given(self, copy: bool) -> Any:
        if len(self._results) == 1:
            return self._output(self._results[0], copy)
        return {name: self._output(name, copy) for name in self._results}

    def _output(self, name: str, copy: bool) -> Any:
        if name in self._outs:
            return self._outs[name][0]
        dl = DLTensor()
        status = lib.gnnc_run_output(self._handle, name.encode(), C.byref(dl))
        if status:
            self._context.after(status)
        return copied(dl) if copy else viewed(dl, self)

    @_alone
    def output(self, name: Optional[str] = None, *, copy: bool = True) -> Any:
        """A result of the last `infer` or `forward`: the first, or the one of this name."""
        return self._output(self._results[0] if name is None else name, copy)

    @_alone
    def step(self, rows: Any = None) -> float:
        """One training step: loss, gradients, optimizer.  Gives the loss before the update.

        `rows` are the nodes of the batch, of an executable compiled `by_rows`.
        """
        if rows is not None:
            self._bind_rows(rows)
        return self._step()

    def _step(self) -> float:
        with self.state._gate:
            status = lib.gnnc_run_step(self._handle, C.byref(self._loss))
        if status or self._context._pending:
            self._context.after(status)
        self.loss = self._loss.value
        return self.loss

    @_alone
    def steps(self, n: int) -> List[float]:
        """So many training steps, one after the other.  Gives their losses."""
        return [self._step() for _ in range(n)]

    def fit(self, epochs: int = 200, *, rows: Any = None, batch: int = 1024, seed: int = 0,
            validate: Union[str, Callable[["Run"], float], None] = None, every: int = 1,
            patience: Optional[int] = None, keep_best: bool = True,
            callback: Optional[Callable[[int, float, Optional[float]], Any]] = None) -> History:
        """Trains for so many epochs.  An epoch is a step, or of an executable compiled `by_rows`
        all batches of `rows` (numbers of nodes), which are shuffled by `seed`.

        `validate` is a function of the run whose result is better the larger it is, or the name of
        a mask that was bound ("val_mask"), for the accuracy under it.  It is asked after `every`
        epochs; `patience` is how often it may be no better before training ends, and `keep_best`
        brings back the weights of the best epoch.  `callback(epoch, loss, score)` is called after
        each epoch, and ends training where it gives False.
        """
        if rows is None and self.executable.by_rows:
            raise UsageError("the executable is compiled by_rows: say which rows are to be trained")
        history, begun = History(), time.perf_counter()
        order = None if rows is None else [int(x) for x in numbers(rows)]
        draw, waited = random.Random(seed), 0
        best: Optional[Tuple[bytes, Dict[str, Any]]] = None
        if batch < 1:
            raise UsageError(f"batch is {batch}, and is expected to be 1 or more")
        for epoch in range(1, epochs + 1):
            if order is None:
                loss = self.step()
            else:
                draw.shuffle(order)
                parts = [order[k:k + batch] for k in range(0, len(order), batch)]
                loss = sum(self.step(part) * len(part) for part in parts) / max(len(order), 1)
            history.losses.append(loss)
            score = None
            if validate is not None and (epoch % every == 0 or epoch == epochs):
                score = (self.accuracy(validate) if isinstance(validate, str)
                         else float(validate(self)))
                history.scores.append((epoch, score))
                waited += 1
                if score > history.best_score:
                    history.best_score, history.best_epoch, waited = score, epoch, 0
                    best = self._weights() if keep_best else None
            if callback is not None and callback(epoch, loss, score) is False:
                break
            if patience is not None and waited >= patience:
                break
        if best is not None and history.best_epoch != len(history.losses):
            self.state.loads(best[0], weights=True)
            with self.state._gate:
                for name, value in best[1].items():
                    write(self._bound_weights[name].dl, borrow(value))
        history.seconds = time.perf_counter() - begun
        return history

    def _weights(self) -> Tuple[bytes, Dict[str, Any]]:
        """What they are now: the state's, and those that are bound."""
        with self.state._gate:
            bound = {name: copied(b.dl) for name, b in self._bound_weights.items()}
        return self.state.dumps(weights=True), bound

    def accuracy(self, mask: Any = None) -> float:
        """The share of labels that the first result gets right, of nodes under `mask`: its name, or
        itself; None: all that have a label.  Infers first."""
        if self.executable.by_rows:
            raise UsageError("the executable is compiled by_rows: compile another without, for "
                             "results of all nodes")
        y = self.data.get("y")
        if y is None:
            raise UsageError("no labels y were bound")
        if isinstance(mask, str):
            if mask not in self.data:
                raise UsageError(f"nothing was bound that is called {mask}")
            mask = self.data[mask]
        scores = self.infer()
        return accuracy(scores[self._results[0]] if isinstance(scores, dict) else scores, y, mask)

    # Gradients ------------------------------------------------------------------------------------

    @_alone
    def forward(self, data: Any = None, *, graph: Any = None, copy: bool = True,
                **named: Any) -> Any:
        """Computes results and keeps what `backward` needs, of an executable compiled with
        `gradients`.  Of the training program dropout draws anew each time.  Gives what `infer`
        gives."""
        if data is not None or graph is not None or named:
            self._bind(data, graph, None, named)
        with self.state._gate:
            status = lib.gnnc_run_forward(self._handle)
        if status or self._context._pending:
            self._context.after(status)
        return self._given(copy)

    @_alone
    def backward(self, *cotangents: Any, **named: Any) -> None:
        """Goes back over the last `forward`.  Cotangents are gradients of whatever is computed of
        the results, in the model's order or by their names; what is left out is zeros.  They are
        copied."""
        given: List[Any] = list(cotangents)
        for name, value in named.items():
            if name not in self._results:
                raise UsageError(f"there is no result called {name}; there are " +
                                 ", ".join(self._results))
            k = self._results.index(name)
            given += [None] * (k + 1 - len(given))
            given[k] = value
        held = [None if g is None else borrow(g, "float32") for g in given]
        of: Any = C.POINTER(DLTensor) * max(len(held), 1)
        array = of(
            *(None if b is None else C.pointer(b.dl) for b in held))
        with self.state._gate:
            status = lib.gnnc_run_backward(self._handle, len(held), array)
        if status or self._context._pending:
            self._context.after(status)

    @_alone
    def gradient(self, name: str, *, copy: bool = True) -> Any:
        """A gradient of the last `backward`, by the name of a parameter or of data."""
        dl = DLTensor()
        self._context.after(lib.gnnc_run_gradient(self._handle, encode(name), C.byref(dl)))
        return copied(dl) if copy else viewed(dl, self)

    @_alone
    def gradients(self, *, copy: bool = True) -> Dict[str, Any]:
        """All gradients of the last `backward`, by name."""
        found: Dict[str, Any] = {}
        dl, name = DLTensor(), C.c_char_p()
        for k in range(self.executable.info.gradients):
            status = lib.gnnc_run_gradient_at(self._handle, k, C.byref(name), C.byref(dl))
            if status:
                self._context.after(status)
            found[(name.value or b"").decode("utf-8", "replace")] = (
                copied(dl) if copy else viewed(dl, self))
        return found

    # What it says ---------------------------------------------------------------------------------

    def profile(self) -> Profile:
        """Times calls, kernel by kernel, until the profile is closed: `with run.profile() as p:`.

        UsageError: another profile of this run is open, or the context has a GPU.
        """
        return Profile(self)

    @_alone
    def _set_profile(self, profile: Optional[Profile]) -> None:
        if profile is not None and self._profile is not None:
            raise UsageError("another profile of this run is open")
        self._context.after(lib.gnnc_run_profile(self._handle, profile is not None))
        self._profile = profile

    @_alone
    def _profile_rows(self, program: str, by: str) -> List[ProfileRow]:
        return read_rows(self._handle, self._context.after, program, by)

    @property
    @_alone
    def info(self) -> RunInfo:
        """Inferences and steps that succeeded, bytes that it holds, and what ran last."""
        i = capi.gnnc_run_info()
        lib.gnnc_run_describe(self._handle, C.byref(i))
        return RunInfo(*(getattr(i, name) for name in RunInfo._fields))

    def __repr__(self) -> str:
        bound = ", ".join(self._kept) or "nothing"
        return f"gnnc.Run({self.executable.info.model}; bound: {bound})"


def accuracy(scores: Any, y: Any, mask: Any = None) -> float:
    """The share of rows whose largest score is at the label `y`, of those under `mask` (None: of
    all) that have one; not a number where there are none."""
    np = numpy()
    if np is not None:
        s, labels = np.asarray(_numpy(np, scores)), np.asarray(_numpy(np, y)).reshape(-1)
        known = labels >= 0
        if mask is not None:
            known &= np.asarray(_numpy(np, mask)).astype(bool)
        right = int((s.argmax(axis=1)[known] == labels[known]).sum())
        return right / int(known.sum()) if known.any() else float("nan")
    rows = scores.tolist() if hasattr(scores, "tolist") else list(scores)
    marks: Sequence[Any] = [True] * len(rows) if mask is None else list(numbers(mask))
    right = count = 0
    for row, label, marked in zip(rows, numbers(y), marks):
        if marked and label >= 0:
            count += 1
            right += row.index(max(row)) == label
    return right / count if count else float("nan")


def _numpy(np: Any, value: Any) -> Any:
    if isinstance(value, (list, tuple, Tensor)):
        return np.asarray(value.tolist() if isinstance(value, Tensor) else value)
    b: Borrowed = borrow(value)
    return viewed(b.dl, b)
