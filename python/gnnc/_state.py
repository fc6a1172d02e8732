"""States: weights, and what training keeps."""

from __future__ import annotations

import ctypes as C
import json
import struct
import threading
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from . import _capi as capi
from ._arrays import Borrowed, borrow, copied, numpy, viewed
from ._capi import DLTensor, lib
from ._context import encode
from ._errors import DataError, UsageError

__all__ = ["State"]


class Gate:
    """Many may read at once, one may write; each waits for the others."""

    __slots__ = ("_turn", "_readers", "_writer", "_waiting")

    def __init__(self) -> None:
        self._turn = threading.Condition(threading.Lock())
        self._readers = self._writer = self._waiting = 0

    def read(self) -> None:
        with self._turn:
            if self._writer == threading.get_ident():
                raise UsageError("a callback uses the state that is at work")
            while self._writer or self._waiting:
                self._turn.wait()
            self._readers += 1

    def read_end(self) -> None:
        with self._turn:
            self._readers -= 1
            if self._waiting and not self._readers:
                self._turn.notify_all()

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._turn:
            if self._writer == me:
                raise UsageError("a callback uses the state that is at work")
            self._waiting += 1
            try:
                while self._writer or self._readers:
                    self._turn.wait()
            finally:
                self._waiting -= 1
            self._writer = me

    def __exit__(self, *_: Any) -> None:
        with self._turn:
            self._writer = 0
            self._turn.notify_all()


class State:
    """Weights, and what training keeps; made by `Executable.state`.

    Several runs may infer from one state at once, in threads of their own.  What changes it waits
    for them, and they for that.
    """

    __slots__ = ("_handle", "executable", "_context", "_gate", "__weakref__")

    def __init__(self, handle: Any, executable: Any) -> None:
        self._handle, self.executable = handle, executable
        self._context, self._gate = executable._context, Gate()

    # Weights --------------------------------------------------------------------------------------

    def _view(self, key: Any) -> Tuple[str, DLTensor, Any]:
        dl, dims, name = DLTensor(), (C.c_int64 * 16)(), C.c_char_p()
        if isinstance(key, int):
            status = lib.gnnc_state_weight(self._handle, key, C.byref(name), C.byref(dl), dims)
        else:
            status = lib.gnnc_state_weight_named(self._handle, encode(key), C.byref(dl), dims)
        self._context.after(status)
        return (name.value or b"").decode("utf-8", "replace"), dl, dims

    @property
    def names(self) -> List[str]:
        """Names of the parameters, as files have them."""
        return [self._view(k)[0] for k in range(self.executable.info.parameters)]

    def weight(self, name: str, *, copy: bool = True) -> Any:
        """A weight by its name in files.  With `copy=False` (NumPy) it is the state's own memory:
        what is written there counts, after `changed()` in a context with a GPU.  The view keeps the
        state alive; read and write it while nothing trains."""
        with self._gate:
            _, dl, dims = self._view(name)
            return copied(dl) if copy else viewed(dl, (self, dims))

    def weights(self) -> Dict[str, Any]:
        """Copies of all weights, by name."""
        return {name: self.weight(name) for name in self.names}

    def set_weight(self, name: str, value: Any) -> None:
        """Writes a weight: a tensor of its shape, float32, or of other floats, or a list."""
        b = borrow(value, "float32")
        with self._gate:
            _, dl, _ = self._view(name)
            shape = tuple(dl.shape[: dl.ndim])
            if shape != b.shape:
                raise DataError(f"{name} is expected to be {list(shape)}, and is {list(b.shape)}")
            write(dl, b)
            lib.gnnc_state_changed(self._handle)

    def changed(self) -> None:
        """Weights were written through views: a GPU gets them before it computes again."""
        lib.gnnc_state_changed(self._handle)

    def load_weights(self, source: Any) -> None:
        """Weights of safetensors: a file's path, its bytes, or a mapping of tensors by name, as
        `state_dict()` of torch gives it.  A module of torch is taken by that.  Names are those of
        PyTorch Geometric.  Nothing is unpickled."""
        if hasattr(source, "state_dict"):
            source = source.state_dict()
        if isinstance(source, Mapping):
            source = _safetensors(source)
        if isinstance(source, (bytes, bytearray, memoryview)):
            self.loads(source, weights=True)
            return
        with self._gate:
            self._context.after(lib.gnnc_state_load_weights(self._handle, encode(source)))

    def save_weights(self, path: Any) -> None:
        """Weights to a file of safetensors, which is replaced at once or not at all."""
        with self._gate:
            self._context.after(lib.gnnc_state_save_weights(self._handle, encode(path)))

    # Everything -----------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Weights, moments, step and seed to a file.  Training that goes on from it ends with the
        same bytes as training that never stopped."""
        with self._gate:
            self._context.after(lib.gnnc_state_save(self._handle, encode(path)))

    def load(self, path: Any) -> None:
        """Everything from a file of `save`, or of a checkpoint of `gnnc train`."""
        with self._gate:
            self._context.after(lib.gnnc_state_load(self._handle, encode(path)))

    def dumps(self, *, weights: bool = False) -> bytes:
        """What `save` writes, as bytes; with `weights` what `save_weights` writes."""
        out, n = C.c_void_p(), C.c_size_t()
        with self._gate:
            self._context.after(lib.gnnc_state_save_memory(self._handle, weights, C.byref(out),
                                                           C.byref(n)))
        try:
            return C.string_at(out.value or 0, n.value)
        finally:
            lib.gnnc_bytes_free(out)

    def loads(self, source: Any, *, weights: bool = False) -> None:
        """From bytes of `dumps`, or of a file; with `weights` those alone."""
        b = borrow(memoryview(source).cast("B"))
        with self._gate:
            self._context.after(lib.gnnc_state_load_memory(
                self._handle, weights, (b.dl.data or 0) + b.dl.byte_offset, b.shape[0]))

    def copy(self) -> "State":
        """A state of its own, equal in all."""
        out = C.c_void_p()
        with self._gate:
            self._context.after(lib.gnnc_state_copy(self._handle, C.byref(out)))
        return State(out, self.executable)

    def set_seed(self, seed: int) -> None:
        """Random draws are by this seed from now on; nothing else changes."""
        with self._gate:
            self._context.after(lib.gnnc_state_set_seed(self._handle, seed))

    def set_rate(self, rate: float) -> None:
        """The learning rate of later steps, of an executable compiled with `rate_changes`."""
        with self._gate:
            self._context.after(lib.gnnc_state_set_rate(self._handle, rate))

    def validated(self, result: float) -> None:
        """A result on validation data, which `schedule = plateau(...)` goes by: once an epoch."""
        with self._gate:
            self._context.after(lib.gnnc_state_validated(self._handle, result))

    def __reduce__(self) -> Any:
        raise TypeError("a gnnc.State cannot be pickled; send `dumps()`, and `loads` it there")

    def __del__(self, _free: Any = lib.gnnc_state_free) -> None:
        if self._handle:
            _free(self._handle)
            self._handle = None


def _rows(shape: Tuple[int, ...], strides: Tuple[int, ...]) -> Iterator[int]:
    """Where each innermost row begins, in elements."""
    if len(shape) <= 1:
        yield 0
        return
    for k in range(shape[0]):
        for at in _rows(shape[1:], strides[1:]):
            yield k * strides[0] + at


def write(dl: DLTensor, b: Borrowed) -> None:
    """Numbers of `b` to where `dl` lies, of float32 and of the same shape."""
    if numpy() is not None and b.dtype != "bfloat16":
        viewed(dl, None)[...] = viewed(b.dl, None)
        return
    form = {"float32": "f", "float64": "d"}.get(b.dtype)
    if form is None:
        raise DataError(f"float32 or float64 is expected, and this is {b.dtype}")
    if 0 in b.shape:
        return
    n = b.shape[-1] if b.shape else 1

    def memory(of: DLTensor, strides: Tuple[int, ...], form: Any) -> memoryview:
        count = 1 + sum((m - 1) * s for m, s in zip(b.shape, strides))
        size = of.dtype.bits // 8
        at = (of.data or 0) + of.byte_offset
        return memoryview((C.c_char * (size * count)).from_address(at)).cast("B").cast(form)

    to_strides = (tuple(dl.strides[: dl.ndim]) if dl.strides
                  else Borrowed(None, (2, 32), b.shape, None, None, True).strides())
    to, source = memory(dl, to_strides, "f"), memory(b.dl, b.strides(), form)
    s, t = (b.strides() or (1,))[-1], (to_strides or (1,))[-1]
    for at, of in zip(_rows(b.shape, to_strides), _rows(b.shape, b.strides())):
        if form == "f":
            to[at:at + (n - 1) * t + 1:t] = source[of:of + (n - 1) * s + 1:s]
        else:
            for k in range(n):
                to[at + k * t] = source[of + k * s]


_SAFETENSORS = {"float32": "F32", "float64": "F64", "float16": "F16", "bfloat16": "BF16",
                "int64": "I64", "int32": "I32", "uint8": "U8", "bool": "BOOL"}


def _safetensors(tensors: Mapping[str, Any]) -> bytes:
    """Tensors by name as the bytes of a file."""
    header: Dict[str, Any] = {}
    parts: List[bytes] = []
    at = 0
    for name, value in tensors.items():
        b = borrow(value, "float32")
        if b.dtype not in _SAFETENSORS:
            raise DataError(f"{name} is of {b.dtype}, which is no type of weights")
        out = C.c_void_p()
        capi.check(lib.gnnc_copy_managed(C.byref(b.dl), C.byref(out)))
        m = capi.DLManagedTensor.from_address(out.value or 0)
        n = b.dl.dtype.bits // 8
        for k in b.shape:
            n *= k
        parts.append(C.string_at((m.dl_tensor.data or 0) + m.dl_tensor.byte_offset, n) if n
                     else b"")
        C.CFUNCTYPE(None, C.c_void_p)(m.deleter)(out)
        header[name] = {"dtype": _SAFETENSORS[b.dtype], "shape": list(b.shape),
                        "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)
