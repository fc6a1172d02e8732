"""Contexts: what everything made in one has in common."""

from __future__ import annotations

import collections
import ctypes as C
import logging
import os
import threading
import warnings
from typing import (TYPE_CHECKING, Any, Callable, Deque, Dict, List, NamedTuple, Optional,
                    Tuple, Union)

from . import _capi as capi
from ._capi import lib
from ._errors import Error, UsageError

if TYPE_CHECKING:
    from ._executable import Executable
    from ._graph import Graph

__all__ = ["Context", "CacheInfo", "DeviceInfo", "Diagnostic", "GnncWarning", "default_context",
           "doctor"]


class GnncWarning(UserWarning):
    """A warning of gnnc's, of which the text begins with its topic."""


class Diagnostic(NamedTuple):
    """One error of a model, or a note to the one before."""

    file: str
    line: int
    column: int
    message: str
    note: bool


class DeviceInfo(NamedTuple):
    """Where executables of a context run."""

    gpu: bool
    name: str
    ordinal: int
    arch: int
    bytes: int
    reason: str


class CacheInfo(NamedTuple):
    """What a context's cache of kernels did."""

    on: bool
    hits_memory: int
    hits_disk: int
    misses: int
    stored: int
    memory_bytes: int


_CACHES = {"environment": capi.GNNC_CACHE_ENVIRONMENT, "memory": capi.GNNC_CACHE_MEMORY,
           "none": capi.GNNC_CACHE_NONE}


def encode(text: Any) -> Optional[bytes]:
    """Text or a path for the library; None stays."""
    if text is None:
        return None
    return os.fsencode(text) if isinstance(text, (str, bytes, os.PathLike)) else str(text).encode()


class Context:
    """Cache, callbacks, device and default threads of everything that is made in it.

    `cache` is "environment" (on disk, as GNNC_CACHE and the other variables say), "memory" or
    "none".  Warnings of the library become `GnncWarning`; notes of `topics` ("cache", "recompiles",
    "tuning") go to the logger "gnnc.TOPIC", as information.  `log(level, topic, text)` takes the
    place of both; it is called in the midst of things, and may not compile or run.
    `threads` is what `compile` and `run` take where they are not told.  `device` is "cpu", "cuda",
    "cuda:N" or "auto".

    A context never changes, and may be used by any number of threads.  Who names none uses
    `default_context()`.
    """

    def __init__(self, *, cache: str = "environment", cache_dir: Any = None, cache_bytes: int = 0,
                 cache_memory_bytes: int = 0, topics: Union[str, List[str], None] = None,
                 log: Optional[Callable[[str, str, str], None]] = None,
                 device: Optional[str] = None, threads: int = 0) -> None:
        self._handle: Any = None
        if cache not in _CACHES:
            raise UsageError(f"cache is {cache!r}; there are " + ", ".join(_CACHES))
        if threads < 0:
            raise UsageError(f"threads is {threads}, which is negative")
        self.threads = threads
        # What the library says meanwhile; callbacks hold these and not the context.
        self._pending: Deque[Tuple[str, str]] = collections.deque()
        self._found = threading.local()
        pending, found = self._pending, self._found

        def on_log(_: Any, level: int, topic: bytes, text: bytes) -> None:
            words = (topic or b"").decode("utf-8", "replace"), text.decode("utf-8", "replace")
            if log is not None:
                log("warning" if level == capi.GNNC_LOG_WARNING else "note", *words)
            elif level == capi.GNNC_LOG_WARNING:
                pending.append(words)  # warnings may raise, which only the caller of a call may
            else:
                logging.getLogger("gnnc." + (words[0] or "notes")).info(words[1])

        def on_diagnostic(_: Any, at: Any) -> None:
            d = at.contents
            diagnostics = getattr(found, "diagnostics", None)
            if diagnostics is not None:
                diagnostics.append(Diagnostic((d.file or b"").decode("utf-8", "replace"), d.line,
                                              d.column, d.message.decode("utf-8", "replace"),
                                              d.note))

        options = capi.gnnc_context_options()
        options.cache = _CACHES[cache]
        options.cache_dir = encode(cache_dir)
        options.cache_bytes, options.cache_memory_bytes = cache_bytes, cache_memory_bytes
        options.topics = encode(topics if topics is None or isinstance(topics, str)
                                else ",".join(topics))
        options.device = encode(device)
        self._callbacks = options.log, options.diagnostic = (
            capi.LOG(on_log), capi.DIAGNOSTIC(on_diagnostic))
        out = C.c_void_p()
        self.after(lib.gnnc_context_new(C.byref(options), C.byref(out)))
        self._handle = out

    def __del__(self, _free: Any = lib.gnnc_context_free) -> None:
        if self._handle:
            _free(self._handle)
            self._handle = None

    def __reduce__(self) -> Any:
        raise TypeError("a gnnc.Context cannot be pickled; make one in each process")

    def after(self, status: Optional[int]) -> None:
        """What came of a call: warnings first, then the exception."""
        if self._pending:
            try:
                self._warn()
            except Warning:
                lib.gnnc_status_free(status)
                raise
        if status:
            capi.raise_status(status)

    def _warn(self) -> None:
        while self._pending:
            try:
                topic, text = self._pending.popleft()
            except IndexError:  # another thread took it
                return
            warnings.warn(f"{topic}: {text}", GnncWarning, stacklevel=5)

    def diagnosed(self, call: Callable[[], Optional[int]]) -> None:
        """A call that may find errors in a model, which its exception lists as `diagnostics`."""
        self._found.diagnostics = []
        try:
            self.after(call())
        except Error as e:
            e.diagnostics = self._found.diagnostics
            raise
        finally:
            self._found.diagnostics = None

    @property
    def device(self) -> DeviceInfo:
        """Where executables of the context run; `reason` says why "auto" is not a GPU."""
        i = capi.gnnc_device_info()
        lib.gnnc_context_device(self._handle, C.byref(i))
        return DeviceInfo(i.gpu, i.name.decode(), i.ordinal, i.arch, i.bytes,
                          (i.reason or b"").decode("utf-8", "replace"))

    @property
    def cache(self) -> CacheInfo:
        """What the cache of kernels did up to now."""
        i = capi.gnnc_cache_info()
        lib.gnnc_context_cache(self._handle, C.byref(i))
        return CacheInfo(*(getattr(i, name) for name in CacheInfo._fields))

    def compile(self, model: Any, **options: Any) -> Executable:
        """`gnnc.compile` in this context."""
        from ._executable import compile
        return compile(model, context=self, **options)

    def graph(self, *args: Any, **options: Any) -> Graph:
        """`gnnc.Graph` in this context."""
        from ._graph import Graph
        return Graph(*args, context=self, **options)


_defaults: Dict[Optional[str], Context] = {}
_making = threading.Lock()


def default_context(device: Optional[str] = None) -> Context:
    """The context of everything that is made without naming one; one for each device that is
    named.  Made when first wanted."""
    found = _defaults.get(device)
    if found is None:
        with _making:
            found = _defaults.get(device)
            if found is None:
                found = _defaults[device] = Context(device=device)
    return found


def doctor() -> str:
    """What gnnc can use on this machine, what is missing and how to get it, as text."""
    text = C.c_void_p()
    capi.check(lib.gnnc_doctor(C.byref(text)))
    return capi.take_text(text)

