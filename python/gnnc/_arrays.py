"""Tensors of others as the C API takes them, and those that it gives as arrays.

What is taken is borrowed, never copied, but for four things, of which there is no memory to borrow:
lists and tuples of numbers, arrays whose strides are no multiples of an element, arrays of the
other byte order, and memory that the caller's own object copies to export it.
"""

from __future__ import annotations

import ctypes as C
import functools
import operator
import struct
import sys
from array import array
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from . import _capi as capi
from ._capi import DLDataType, DLTensor, check, lib
from ._errors import DataError

__all__ = ["Tensor"]

_UNTRIED = object()
_numpy: Any = _UNTRIED


def numpy() -> Any:
    """NumPy where it is installed, else None; imported when an array is first wanted."""
    global _numpy
    if _numpy is _UNTRIED:
        try:
            import numpy as found  # type: ignore
            _numpy = found
        except ImportError:
            _numpy = None
    return _numpy


# Element types ------------------------------------------------------------------------------------

_KINDS = {"f": capi.kDLFloat, "i": capi.kDLInt, "u": capi.kDLUInt, "b": capi.kDLBool,
          "c": capi.kDLComplex}
_LETTERS = {**{c: "f" for c in "fde"}, **{c: "i" for c in "bhilqn"}, **{c: "u" for c in "BHILQN"},
            "?": "b"}
_NAMES = {(capi.kDLFloat, 32): "float32", (capi.kDLFloat, 64): "float64",
          (capi.kDLFloat, 16): "float16", (capi.kDLBfloat, 16): "bfloat16",
          (capi.kDLInt, 8): "int8", (capi.kDLInt, 16): "int16", (capi.kDLInt, 32): "int32",
          (capi.kDLInt, 64): "int64", (capi.kDLUInt, 8): "uint8", (capi.kDLUInt, 16): "uint16",
          (capi.kDLUInt, 32): "uint32", (capi.kDLUInt, 64): "uint64", (capi.kDLBool, 8): "bool"}
_TYPES = {name: key for key, name in _NAMES.items()}
_CTYPES = {"float32": C.c_float, "float64": C.c_double, "int8": C.c_int8, "int16": C.c_int16,
           "int32": C.c_int32, "int64": C.c_int64, "uint8": C.c_uint8, "uint16": C.c_uint16,
           "uint32": C.c_uint32, "uint64": C.c_uint64, "bool": C.c_bool, "float16": C.c_uint16,
           "bfloat16": C.c_uint16}
_ARRAYS = {"float32": "f", "float64": "d", "int32": "i", "int64": "q", "uint8": "B", "bool": "B"}


def type_name(t: DLDataType) -> str:
    """ "float32", or what it is in numbers."""
    return _NAMES.get((t.code, t.bits), f"type {t.code} of {t.bits} bits")


def type_of(name: str) -> DLDataType:
    """The element type of this name."""
    if name not in _TYPES:
        raise DataError(f"there is no element type {name!r}; there are " + ", ".join(_TYPES))
    code, bits = _TYPES[name]
    return DLDataType(code, bits, 1)


# The interpreter's own functions ------------------------------------------------------------------


class _Buffer(C.Structure):
    """Py_buffer, which is the same in all versions from 3.0 on."""

    _fields_ = [("buf", C.c_void_p), ("obj", C.c_void_p), ("len", C.c_ssize_t),
                ("itemsize", C.c_ssize_t), ("readonly", C.c_int), ("ndim", C.c_int),
                ("format", C.c_char_p), ("shape", C.POINTER(C.c_ssize_t)),
                ("strides", C.POINTER(C.c_ssize_t)), ("suboffsets", C.POINTER(C.c_ssize_t)),
                ("internal", C.c_void_p)]

    held = False

    def __del__(self, _release: Any = C.pythonapi.PyBuffer_Release) -> None:
        if self.held:
            self.held = False
            _release(C.byref(self))


_RECORDS_RO = 0x0010 | 0x0008 | 0x0004  # PyBUF_STRIDES and PyBUF_FORMAT
_get_buffer = C.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes, _get_buffer.restype = [C.py_object, C.c_void_p, C.c_int], C.c_int
C.pythonapi.PyBuffer_Release.argtypes = [C.c_void_p]
C.pythonapi.PyBuffer_Release.restype = None
_capsule_pointer = C.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes, _capsule_pointer.restype = [C.py_object, C.c_char_p], C.c_void_p
_pointer_of_address = C.PYFUNCTYPE(C.c_void_p, C.c_void_p, C.c_char_p)(
    ("PyCapsule_GetPointer", C.pythonapi))
_is_capsule = C.PYFUNCTYPE(C.c_int, C.c_void_p, C.c_char_p)(("PyCapsule_IsValid", C.pythonapi))
_new_capsule = C.pythonapi.PyCapsule_New
_new_capsule.argtypes, _new_capsule.restype = [C.c_void_p, C.c_char_p, C.c_void_p], C.py_object
_memory = C.pythonapi.PyMemoryView_FromMemory
_memory.argtypes, _memory.restype = [C.c_void_p, C.c_ssize_t, C.c_int], C.py_object
_DELETER = C.CFUNCTYPE(None, C.c_void_p)


# What is taken ------------------------------------------------------------------------------------


class Borrowed:
    """A tensor in memory of someone else's, which it keeps alive."""

    __slots__ = ("dl", "shape", "writable", "_dims", "_keep")

    def __init__(self, data: Optional[int], kind: Tuple[int, int], shape: Sequence[int],
                 strides: Optional[Sequence[int]], keep: Any, writable: bool,
                 device: Tuple[int, int] = (capi.kDLCPU, 0)) -> None:
        n = len(shape)
        self.shape = tuple(shape)
        self._dims = (C.c_int64 * (2 * n or 1))(*shape, *(strides or ()))
        self._keep, self.writable = keep, writable
        at = C.addressof(self._dims)
        self.dl = DLTensor()
        self.dl.data = data
        self.dl.device.device_type, self.dl.device.device_id = device
        self.dl.ndim = n
        self.dl.dtype.code, self.dl.dtype.bits = kind
        self.dl.dtype.lanes = 1
        self.dl.shape = C.cast(at, C.POINTER(C.c_int64))
        if strides is not None:
            self.dl.strides = C.cast(at + 8 * n, C.POINTER(C.c_int64))
        self.dl.owner = keep, self._dims  # it is as good as the whole

    @property
    def dtype(self) -> str:
        return type_name(self.dl.dtype)

    def strides(self) -> Tuple[int, ...]:
        """Strides in elements, of compact ones too."""
        if self.dl.strides:
            return tuple(self.dl.strides[: self.dl.ndim])
        out: List[int] = []
        for n in reversed(self.shape):
            out.insert(0, out[0] * self.shape[len(self.shape) - len(out)] if out else 1)
        return tuple(out)

    def row(self, k: int) -> "Borrowed":
        """Element `k` along the first dimension."""
        strides = self.strides()
        at = (self.dl.data or 0) + self.dl.byte_offset + k * strides[0] * self.dl.dtype.bits // 8
        return Borrowed(at, (self.dl.dtype.code, self.dl.dtype.bits), self.shape[1:], strides[1:],
                        self, self.writable)

    def column(self, k: int) -> "Borrowed":
        """Element `k` along the second dimension."""
        strides = self.strides()
        at = (self.dl.data or 0) + self.dl.byte_offset + k * strides[1] * self.dl.dtype.bits // 8
        return Borrowed(at, (self.dl.dtype.code, self.dl.dtype.bits),
                        self.shape[:1] + self.shape[2:], strides[:1] + strides[2:], self,
                        self.writable)


def borrow(value: Any, like: str = "") -> Borrowed:
    """Whatever it is as a tensor of the C API.  `like` is the element type that lists become.

    NumPy arrays, objects with the buffer protocol and with `__dlpack__` (torch, JAX, CuPy) are
    borrowed; lists and numbers are copied.
    """
    if type(value) is Borrowed:
        return value
    interface = getattr(value, "__array_interface__", None)
    if interface is not None:
        return _of_interface(value, interface)
    if hasattr(value, "__dlpack__") and not isinstance(value, Tensor):
        return _of_dlpack(value)
    if isinstance(value, (list, tuple, range, int, float)):
        return _of_numbers(value, like)
    if hasattr(value, "__array__") and numpy() is not None:  # pandas
        return borrow(numpy().asarray(value))
    return _of_buffer(value)


def _elements(strides: Sequence[int], size: int) -> Optional[Tuple[int, ...]]:
    """Strides in elements; None where they are no multiples of one."""
    return None if any(s % size for s in strides) else tuple(s // size for s in strides)


def _native(order: str, size: int) -> bool:
    return size == 1 or order not in "><!" or (order == "<") == (sys.byteorder == "little")


def _of_interface(value: Any, interface: Any) -> Borrowed:
    text = interface["typestr"]
    order, letter, size = text[0], text[1], int(text[2:])
    if letter not in _KINDS:
        raise DataError(f"an array of {getattr(value, 'dtype', text)} is expected to be of numbers")
    strides = interface.get("strides")
    elements = None if strides is None else _elements(strides, size)
    if not _native(order, size) or (strides is not None and elements is None):
        value = value.astype(value.dtype.newbyteorder("="), order="C", copy=True)
        return borrow(value)
    if not isinstance(interface.get("data"), tuple):
        raise DataError(f"an array is expected, and this is {type(value).__name__}: give "
                        "numpy.asarray of it")
    data, readonly = interface["data"]
    return Borrowed(data, (_KINDS[letter], 8 * size), interface["shape"], elements, value,
                    not readonly)


def _of_dlpack(value: Any) -> Borrowed:
    device = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (1, 0)
    if int(device[0]) not in (capi.kDLCPU, capi.kDLCUDAHost):
        raise DataError("a tensor on the CPU is expected, and this is on a device: "
                        "gnnc sends what a GPU needs by itself; give `tensor.cpu()`")
    for plain in ("as_tensor", "detach"):  # PyG's EdgeIndex; what requires gradients in torch
        value = getattr(value, plain, lambda: value)()
    capsule = value.__dlpack__()
    at = _capsule_pointer(capsule, b"dltensor")
    dl = DLTensor.from_address(at)  # at the beginning of a DLManagedTensor
    n = dl.ndim
    # The capsule stays as it is: where it ends it ends what it holds.
    return Borrowed((dl.data or 0) + dl.byte_offset, (dl.dtype.code, dl.dtype.bits), dl.shape[:n],
                    dl.strides[:n] if dl.strides else None, capsule, True)


def _of_buffer(value: Any) -> Borrowed:
    b = _Buffer()
    try:
        _get_buffer(value, C.byref(b), _RECORDS_RO)
    except (TypeError, BufferError) as e:
        raise DataError(f"an array, a tensor or numbers are expected, and this is "
                        f"{type(value).__name__}: {e}") from None
    b.held = True
    form = (b.format or b"B").decode()
    order, letter = (form[0], form[1:]) if form[0] in "@=<>!" else ("@", form)
    size = b.itemsize
    if not size and letter in _LETTERS:  # of an empty array of ctypes before Python 3.10
        size = struct.calcsize(form)
    if letter not in _LETTERS or not _native(order, size):
        raise DataError(f"elements of format {form!r} are none that gnnc reads")
    n = b.ndim
    shape = b.shape[:n] if b.shape else [b.len // size]
    strides = _elements(b.strides[:n], size) if b.strides else None
    if b.strides and strides is None:
        raise DataError("strides are no multiples of an element")
    return Borrowed(b.buf, (_KINDS[_LETTERS[letter]], 8 * size), shape, strides, b,
                    not b.readonly)


def _of_numbers(value: Any, like: str) -> Borrowed:
    shape: List[int] = []
    flat = value
    while isinstance(flat, (list, tuple, range)):
        shape.append(len(flat))
        flat = flat[0] if len(flat) else 0
    numbers: Any = [value] if not shape else value
    for depth in range(1, len(shape)):
        if any(not isinstance(row, (list, tuple, range)) or len(row) != shape[depth]
               for row in numbers):
            raise DataError(f"rows of a list are not all of length {shape[depth]}")
        numbers = [x for row in numbers for x in row]
    if not like:
        like = ("bool" if len(numbers) and all(isinstance(x, bool) for x in numbers) else
                "float32" if any(isinstance(x, float) for x in numbers) else "int64")
    try:
        kept = array(_ARRAYS[like], numbers)
    except (TypeError, OverflowError, ValueError) as e:
        raise DataError(f"a list is not all of {like}: {e}") from None
    return Borrowed(kept.buffer_info()[0], _TYPES[like], shape, None, kept, True)


# What is given ------------------------------------------------------------------------------------


def _bytes_of(dl: DLTensor) -> int:
    return functools.reduce(operator.mul, dl.shape[: dl.ndim], dl.dtype.bits // 8)


def _compact(dl: DLTensor) -> bool:
    if not dl.strides:
        return True
    step = 1
    for k in reversed(range(dl.ndim)):
        if dl.shape[k] != 1 and dl.strides[k] != step:
            return False
        step *= dl.shape[k]
    return True


_dtypes: dict = {}


def _dtype(np: Any, t: DLDataType) -> Any:
    key = t.code << 8 | t.bits
    found = _dtypes.get(key)
    if found is None:
        found = _dtypes[key] = np.dtype(type_name(t))
    return found


def copied(dl: DLTensor) -> Any:
    """A copy of what the library gives: a NumPy array, or a Tensor where there is no NumPy."""
    np = numpy()
    if np is None:
        return Tensor.of(dl)
    n = dl.ndim
    shape = dl.shape[:n]
    out = np.empty(shape, _dtype(np, dl.dtype))
    if out.size:
        if _compact(dl):
            C.memmove(out.__array_interface__["data"][0], dl.data + dl.byte_offset, out.nbytes)
        else:
            out[...] = viewed(dl, None)
    return out


def viewed(dl: DLTensor, owner: Any) -> Any:
    """What the library gives as it lies there, with NumPy; `owner` is kept alive by it."""
    np = numpy()
    n = dl.ndim
    shape, size = dl.shape[:n], dl.dtype.bits // 8
    if np is None:
        raise DataError("views need NumPy; without it results are copies")
    dtype = _dtype(np, dl.dtype)
    if not dl.data or 0 in shape:
        return np.empty(shape, dtype)
    strides = [s * size for s in dl.strides[:n]] if dl.strides else None
    span = size + (sum((m - 1) * s for m, s in zip(shape, strides)) if strides is not None
                   else _bytes_of(dl) - size)
    memory = (C.c_char * span).from_address(dl.data + dl.byte_offset)
    memory.owner = owner  # type: ignore[attr-defined]
    return np.ndarray(shape, dtype, memory, 0, strides)


class Tensor:
    """A result where there is no NumPy.  It has the buffer protocol and `__dlpack__`.

    It indexes and iterates as nested sequences do: `t[3][1]`, `len(t)`, `t.tolist()`.
    """

    shape: Tuple[int, ...]
    dtype: str

    @staticmethod
    def of(dl: DLTensor) -> "Tensor":
        """A copy of what the library gives."""
        shape = tuple(dl.shape[: dl.ndim])
        out = _tensor_class(type_name(dl.dtype), shape)()
        if C.sizeof(out) and _bytes_of(dl):
            if _compact(dl):
                C.memmove(out, dl.data + dl.byte_offset, C.sizeof(out))
            else:
                managed = C.c_void_p()
                check(lib.gnnc_copy_managed(C.byref(dl), C.byref(managed)))
                m = capi.DLManagedTensor.from_address(managed.value or 0)
                C.memmove(out, m.dl_tensor.data + m.dl_tensor.byte_offset, C.sizeof(out))
                _DELETER(m.deleter)(managed)
        return out

    def memory(self) -> memoryview:
        """The numbers as a memoryview of this shape, whose elements can be read by index."""
        flat = memoryview(self).cast("B")  # type: ignore[arg-type]
        form: Any = {"float32": "f", "float64": "d", "int32": "i", "int64": "q", "uint8": "B",
                     "bool": "?"}[self.dtype]
        shaped = self.shape and 0 not in self.shape
        return flat.cast(form, self.shape) if shaped else flat.cast(form)

    def tolist(self) -> Any:
        """Nested lists of numbers; a number where there are no dimensions."""
        if not self.shape:
            return self.memory()[0]
        if 0 in self.shape:
            return [[] for _ in range(self.shape[0])] if len(self.shape) > 1 else []
        return self.memory().tolist()

    def __float__(self) -> float:
        if functools.reduce(operator.mul, self.shape, 1) != 1:
            raise TypeError("a tensor of one number is expected")
        number = self.tolist()
        while isinstance(number, list):
            number = number[0]
        return float(number)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (capi.kDLCPU, 0)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Any = None) -> Any:
        """A copy, which outlives everything else, as a capsule of DLPack."""
        managed = C.c_void_p()
        check(lib.gnnc_copy_managed(C.byref(_of_buffer(self).dl), C.byref(managed)))
        return _new_capsule(managed, b"dltensor", _end_capsule_address)

    def __repr__(self) -> str:
        return f"gnnc.Tensor({self.tolist()!r}, dtype={self.dtype!r})"


@functools.lru_cache(maxsize=256)
def _tensor_class(dtype: str, shape: Tuple[int, ...]) -> Any:
    of: Any = _CTYPES[dtype]
    for n in reversed(shape[1:]):
        of = of * n
    return type("Tensor", (Tensor, C.Array), {"_type_": of, "_length_": shape[0] if shape else 1,
                                              "shape": shape, "dtype": dtype})


@C.PYFUNCTYPE(None, C.c_void_p)
def _end_capsule(capsule: int) -> None:
    """Frees what nobody took; who takes it renames the capsule."""
    if _is_capsule(capsule, b"dltensor"):
        at = _pointer_of_address(capsule, b"dltensor")
        _DELETER(capi.DLManagedTensor.from_address(at).deleter)(at)


_end_capsule_address = C.cast(_end_capsule, C.c_void_p)


def numbers(value: Any) -> Iterator[Any]:
    """The numbers of a tensor of one dimension, one after the other."""
    tolist = getattr(value, "tolist", None)
    if tolist is not None:
        return iter(tolist())
    if isinstance(value, (list, tuple, range)):
        return iter(value)
    return iter(Tensor.of(borrow(value).dl).tolist())


def largest(value: Any) -> int:
    """The largest number of a tensor of integers; -1 of an empty one."""
    shape = getattr(value, "shape", None)
    if shape is not None and 0 in tuple(shape):
        return -1
    if isinstance(value, Borrowed) and numpy() is not None:
        value = viewed(value.dl, value)
    most = getattr(value, "max", None)
    if most is not None:
        return int(most())
    return max((int(x) for x in _flat(value)), default=-1)


def _flat(value: Any) -> Iterator[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    elif not isinstance(value, (list, tuple, range)):
        value = Tensor.of(borrow(value).dl).tolist()
    for x in value:
        if isinstance(x, (list, tuple, range)):
            yield from _flat(x)
        else:
            yield x
