"""Tensors of few non-zeros among those that programs multiply: looked at once, kept as relations.

A tensor is known by its storage, which is watched without being kept, where it lies there, and
torch's count of what was written to it.  What is written past that count (by way of `.data`, or of
numpy) is not seen, as it is not by autograd; memory that is not torch's own stays dense.
"""

from __future__ import annotations

import ctypes as C
from collections import OrderedDict
from typing import Any, Dict, Optional, Tuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .. import _capi as capi
from .._capi import check, lib

_LEAST = 4096    # elements, below which nothing is gained
_FEW = 0.1       # of all, that are not zero
_KEPT = 16

Key = Tuple[Any, ...]


class Nonzeros:
    """A tensor [n, F] by its non-zeros: a relation from its columns to its rows.

    `kind`: "any", "rows" (those of a row are equal; `values` has one a row) or "ones".
    """

    def __init__(self, t: torch.Tensor) -> None:
        from ._program import context  # which has this module's classes
        rows, columns = (k.contiguous() for k in t.nonzero(as_tuple=True))
        self.kind, self.values = _values(t.shape[0], rows, t[rows, columns])
        self.handle = C.c_void_p()
        check(lib.gnnc_relation_from_coo(context(), t.shape[1], t.shape[0], rows.shape[0],
                                         capi.GNNC_INT64, columns.data_ptr(), rows.data_ptr(),
                                         C.byref(self.handle)))

    def __del__(self) -> None:
        if self.handle:
            lib.gnnc_graph_free(self.handle)


def _values(n: int, rows: torch.Tensor,
            values: torch.Tensor) -> Tuple[str, Optional[torch.Tensor]]:
    """What is to be known of the non-zeros, and as many numbers as that leaves."""
    if bool((values == 1).all()):
        return "ones", None
    first = torch.zeros(n, dtype=values.dtype)
    first[rows] = values  # one of each row's
    if torch.equal(first[rows], values):
        return "rows", first
    return "any", values.contiguous()


def _key(t: torch.Tensor, storage: torch.UntypedStorage) -> Key:
    return (storage._cdata, t.data_ptr(), t.shape, t.stride(), t._version)


def _can_be(t: torch.Tensor, storage: torch.UntypedStorage) -> bool:
    return t.dim() == 2 and t.dtype == torch.float32 and t.numel() >= _LEAST and \
        storage.resizable()


_known: "OrderedDict[Key, Tuple[StorageWeakRef, Optional[Nonzeros]]]" = OrderedDict()


def _inspect(t: torch.Tensor, key: Key, storage: torch.UntypedStorage) -> Optional[Nonzeros]:
    plain = t.detach()
    few = int(torch.count_nonzero(plain)) <= _FEW * plain.numel()
    found = Nonzeros(plain) if few else None
    for old in [k for k, (ref, _) in list(_known.items()) if ref.expired()]:
        _known.pop(old, None)
    _known[key] = (StorageWeakRef(storage), found)
    while len(_known) > _KEPT:
        _known.popitem(last=False)
    return found


def kind_of(t: Any) -> Optional[str]:
    """What a program may be made for that gets this tensor; None: it is dense."""
    if not isinstance(t, torch.Tensor) or type(t) is not torch.Tensor or t.requires_grad or \
            t.device.type != "cpu" or t.layout != torch.strided or t.is_inference():
        return None
    storage = t.untyped_storage()
    if not _can_be(t, storage):
        return None
    key = _key(t, storage)
    found = _known[key][1] if key in _known else _inspect(t, key, storage)
    return found.kind if found else None


class Looks:
    """Looks at the tensors that come to one place.

    It costs something, so where tensors do not come twice (batches) those are looked at alone that
    do.
    """

    _AHEAD = 2

    def __init__(self) -> None:
        self.ahead = self._AHEAD
        self.seen: Dict[Key, StorageWeakRef] = {}

    def __call__(self, t: torch.Tensor) -> Optional[Nonzeros]:
        if t.is_inference():
            return None
        storage = t.untyped_storage()
        key = _key(t, storage)
        again = key in self.seen
        if again:
            self.ahead = self._AHEAD
        else:
            if len(self.seen) >= _KEPT:
                self.seen.clear()
            self.seen[key] = StorageWeakRef(storage)
        known = _known.get(key)
        if known is not None:
            return known[1]
        if not _can_be(t, storage):
            return None
        if not again:
            if not self.ahead:
                return None
            self.ahead -= 1
        return _inspect(t, key, storage)
