"""The C API (include/gnnc/*.h) in ctypes: constants, structures, functions, nothing more.

Names are the header's; tests/test_capi.py compares all of them with it.  Handles are `c_void_p`.
A function that gives a status gives an address or None: hand it to `check`.  ctypes lets other
threads of Python run while a function does.
"""

from __future__ import annotations

import ctypes as C
import os
import sys
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int32,
                    c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, List, Optional, Tuple

from ._errors import LibraryError, error_of
from ._version import __version__

# Constants ----------------------------------------------------------------------------------------

GNNC_OK = 0
GNNC_ERROR_MODEL = 1
GNNC_ERROR_USAGE = 2
GNNC_ERROR_DATA = 3
GNNC_ERROR_IO = 4
GNNC_ERROR_BACKEND = 5
GNNC_ERROR_MEMORY = 6
GNNC_ERROR_INTERNAL = 7

GNNC_CACHE_ENVIRONMENT = 0
GNNC_CACHE_MEMORY = 1
GNNC_CACHE_NONE = 2

GNNC_LOG_WARNING = 0
GNNC_LOG_NOTE = 1

GNNC_INT32 = 0
GNNC_INT64 = 1

DLPACK_MAJOR_VERSION = 1
DLPACK_MINOR_VERSION = 1
DLPACK_FLAG_BITMASK_READ_ONLY = 1

kDLCPU = 1
kDLCUDA = 2
kDLCUDAHost = 3

kDLInt = 0
kDLUInt = 1
kDLFloat = 2
kDLBfloat = 4
kDLComplex = 5
kDLBool = 6

# Structures ---------------------------------------------------------------------------------------


class DLPackVersion(Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32)]


class DLDevice(Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device", DLDevice), ("ndim", c_int32),
                ("dtype", DLDataType), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class DLManagedTensor(Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


class DLManagedTensorVersioned(Structure):
    _fields_ = [("version", DLPackVersion), ("manager_ctx", c_void_p), ("deleter", c_void_p),
                ("flags", c_uint64), ("dl_tensor", DLTensor)]


class Sized(Structure):
    """A structure of the header's that begins with its size, which is set."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.size = C.sizeof(self)


class gnnc_diagnostic(Sized):
    _fields_ = [("size", c_size_t), ("note", c_bool), ("file", c_char_p), ("line", c_uint32),
                ("column", c_uint32), ("message", c_char_p)]


LOG = CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
DIAGNOSTIC = CFUNCTYPE(None, c_void_p, POINTER(gnnc_diagnostic))
ALLOCATE = CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t)
RELEASE = CFUNCTYPE(None, c_void_p, c_void_p)


class gnnc_context_options(Sized):
    _fields_ = [("size", c_size_t), ("cache", c_int), ("cache_dir", c_char_p),
                ("cache_bytes", c_int64), ("cache_memory_bytes", c_int64), ("topics", c_char_p),
                ("log", LOG), ("diagnostic", DIAGNOSTIC), ("allocate", ALLOCATE),
                ("release", RELEASE), ("user", c_void_p), ("device", c_char_p)]


class gnnc_device_info(Sized):
    _fields_ = [("size", c_size_t), ("gpu", c_bool), ("name", c_char_p), ("ordinal", c_int),
                ("arch", c_int), ("bytes", c_int64), ("reason", c_char_p)]


class gnnc_cache_info(Sized):
    _fields_ = [("size", c_size_t), ("on", c_bool), ("hits_memory", c_int64),
                ("hits_disk", c_int64), ("misses", c_int64), ("stored", c_int64),
                ("memory_bytes", c_int64)]


class gnnc_define(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class gnnc_space(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("rows", c_int64)]


class gnnc_relation(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("src", c_char_p), ("dst", c_char_p),
                ("expect_edges", c_int64)]


class gnnc_column(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", DLDataType), ("ndim", c_int),
                ("shape", POINTER(c_int64)), ("values", c_int64)]


class gnnc_compile_options(Sized):
    _fields_ = [("size", c_size_t), ("model", c_char_p), ("defines", POINTER(gnnc_define)),
                ("n_defines", c_size_t), ("features", c_int64), ("classes", c_int64),
                ("edge_features", c_int64), ("edge_weights", c_bool), ("train", c_bool),
                ("fixed", c_bool), ("sparse", c_bool), ("wide", c_bool), ("mode", c_char_p),
                ("compile_threads", c_int), ("dynamic", c_char_p), ("ranges", c_char_p),
                ("buckets", c_char_p), ("expect_nodes", c_int64), ("expect_edges", c_int64),
                ("recompile_limit", c_int), ("stance", c_char_p), ("tune_budget_ms", c_int64),
                ("tune_lock", c_char_p), ("matmul_precision", c_char_p), ("rows", c_char_p),
                ("gather_storage", c_char_p), ("sparse_values", c_char_p), ("same_data", c_bool),
                ("spaces", POINTER(gnnc_space)), ("n_spaces", c_size_t),
                ("relations", POINTER(gnnc_relation)), ("n_relations", c_size_t),
                ("columns", POINTER(gnnc_column)), ("n_columns", c_size_t),
                ("labelled", c_char_p), ("by_rows", c_bool), ("fanout", POINTER(c_int64)),
                ("n_fanout", c_size_t), ("draw", c_char_p), ("gradients", c_char_p),
                ("gradients_of", c_char_p), ("rate_changes", c_bool),
                ("precision", c_char_p), ("memory_bytes", c_int64)]


class gnnc_executable_info(Sized):
    _fields_ = [("size", c_size_t), ("model", c_char_p), ("compile_ms", c_double),
                ("code_bytes", c_int64), ("kernels", c_int), ("distinct", c_int),
                ("parameters", c_int), ("programs", c_int), ("recompiles", c_int),
                ("cache_hits", c_int), ("cache_misses", c_int), ("all_compile_ms", c_double),
                ("outputs", c_int), ("gradients", c_int), ("inputs", c_int)]


class gnnc_value_info(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("graph", c_bool), ("src", c_char_p),
                ("dst", c_char_p), ("type", DLDataType), ("ndim", c_int), ("shape", c_int64 * 8),
                ("rows", c_char_p), ("on_edges", c_bool), ("optional", c_bool),
                ("learning", c_bool)]


class gnnc_program_info(Sized):
    _fields_ = [("size", c_size_t), ("eager", c_bool), ("compile_ms", c_double),
                ("kernels", c_int), ("nodes_least", c_int64), ("nodes_most", c_int64),
                ("edges_least", c_int64), ("edges_most", c_int64), ("guard", c_char_p),
                ("guard_was", c_int64), ("guard_is", c_int64), ("reason", c_char_p),
                ("levels", c_int)]


class gnnc_tuning_info(Sized):
    _fields_ = [("size", c_size_t), ("known", c_bool), ("choices", c_char_p),
                ("default_us", c_double), ("best_us", c_double), ("noise", c_double),
                ("seconds", c_double), ("rejected", c_int64), ("finished", c_bool)]


class gnnc_run_options(Sized):
    _fields_ = [("size", c_size_t), ("threads", c_int), ("stance", c_char_p)]


class gnnc_run_info(Sized):
    _fields_ = [("size", c_size_t), ("inferences", c_int64), ("steps", c_int64),
                ("bindings", c_int64), ("bytes", c_int64), ("program", c_int), ("eager", c_bool),
                ("padded_nodes", c_int64), ("padded_edges", c_int64)]


class gnnc_profile_row(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("part", c_char_p),
                ("bound_by", c_char_p), ("us", c_double), ("wait_us", c_double),
                ("bound_us", c_double), ("bytes", c_double), ("flops", c_double),
                ("kernels", c_int), ("estimated", c_bool), ("calls", c_int64)]


# Functions ----------------------------------------------------------------------------------------

_h, _out, _text = c_void_p, POINTER(c_void_p), POINTER(c_void_p)
_t, _name = POINTER(DLTensor), POINTER(c_char_p)

# What gives a status, by its arguments.
_STATUS: Dict[str, Tuple[Any, ...]] = {
    "gnnc_context_new": (POINTER(gnnc_context_options), _out),
    "gnnc_doctor": (_text,),
    "gnnc_module_parse": (_h, c_char_p, c_size_t, c_char_p, _out),
    "gnnc_module_read": (_h, c_char_p, _out),
    "gnnc_module_parse_ir": (_h, c_char_p, c_size_t, c_char_p, _out),
    "gnnc_graph_from_coo": (_h, c_int64, c_int64, c_int, c_void_p, c_void_p, _out),
    "gnnc_graph_from_csr": (_h, c_int64, c_int, c_void_p, c_void_p, _out),
    "gnnc_graph_append": (_h, c_int64, c_int64, c_int, c_void_p, c_void_p, _out),
    "gnnc_relation_append": (_h, c_int64, c_int64, c_int64, c_int, c_void_p, c_void_p, _out),
    "gnnc_relation_from_coo": (_h, c_int64, c_int64, c_int64, c_int, c_void_p, c_void_p, _out),
    "gnnc_relation_from_tensors": (_h, c_int64, c_int64, _t, _t, _out),
    "gnnc_compile": (_h, POINTER(gnnc_compile_options), _out),
    "gnnc_executable_input": (_h, c_int, POINTER(gnnc_value_info)),
    "gnnc_executable_output": (_h, c_int, POINTER(gnnc_value_info)),
    "gnnc_executable_program": (_h, c_int, POINTER(gnnc_program_info)),
    "gnnc_executable_tuning": (_h, c_int, c_bool, POINTER(gnnc_tuning_info)),
    "gnnc_executable_lock": (_h, c_char_p),
    "gnnc_executable_emit": (_h, c_char_p, _text),
    "gnnc_executable_explain": (_h, _text),
    "gnnc_state_new": (_h, c_uint64, _out),
    "gnnc_state_load_weights": (_h, c_char_p),
    "gnnc_state_save_weights": (_h, c_char_p),
    "gnnc_state_load": (_h, c_char_p),
    "gnnc_state_save": (_h, c_char_p),
    "gnnc_state_save_memory": (_h, c_bool, _out, POINTER(c_size_t)),
    "gnnc_state_load_memory": (_h, c_bool, c_void_p, c_size_t),
    "gnnc_state_copy": (_h, _out),
    "gnnc_state_set_seed": (_h, c_uint64),
    "gnnc_state_set_rate": (_h, c_double),
    "gnnc_state_validated": (_h, c_double),
    "gnnc_state_weight": (_h, c_int, _name, _t, POINTER(c_int64)),
    "gnnc_state_weight_named": (_h, c_char_p, _t, POINTER(c_int64)),
    "gnnc_run_new": (_h, _h, POINTER(gnnc_run_options), _out),
    "gnnc_run_bind_graph": (_h, _h),
    "gnnc_run_bind_relation": (_h, c_char_p, _h),
    "gnnc_run_bind": (_h, c_char_p, _t),
    "gnnc_run_bind_managed": (_h, c_char_p, c_void_p),
    "gnnc_run_bind_versioned": (_h, c_char_p, c_void_p),
    "gnnc_copy_managed": (_t, _out),
    "gnnc_copy_versioned": (_t, _out),
    "gnnc_run_bind_weight": (_h, c_char_p, _t),
    "gnnc_run_bind_csr": (_h, c_int64, c_void_p, c_void_p, c_void_p),
    "gnnc_run_ahead": (_h, c_int64, c_void_p),
    "gnnc_run_rows": (_h, c_int64, c_void_p),
    "gnnc_run_infer": (_h,),
    "gnnc_draw_torch": (c_void_p, c_size_t, c_double, c_size_t, c_void_p),
    "gnnc_run_step": (_h, POINTER(c_double)),
    "gnnc_run_forward": (_h,),
    "gnnc_run_backward": (_h, c_size_t, POINTER(_t)),
    "gnnc_run_gradient": (_h, c_char_p, _t),
    "gnnc_run_gradient_at": (_h, c_int, _name, _t),
    "gnnc_run_output": (_h, c_char_p, _t),
    "gnnc_run_output_at": (_h, c_int, _name, _t),
    "gnnc_run_bind_output": (_h, c_char_p, _t),
    "gnnc_run_profile": (_h, c_bool),
    "gnnc_run_profile_row": (_h, c_char_p, c_char_p, c_int, POINTER(gnnc_profile_row)),
}

# The others: what they give, and their arguments.
_OTHER: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "gnnc_version": (c_char_p, ()),
    "gnnc_status_code": (c_int, (_h,)),
    "gnnc_status_message": (c_char_p, (_h,)),
    "gnnc_status_free": (None, (_h,)),
    "gnnc_context_free": (None, (_h,)),
    "gnnc_context_device": (None, (_h, POINTER(gnnc_device_info))),
    "gnnc_context_cache": (None, (_h, POINTER(gnnc_cache_info))),
    "gnnc_module_free": (None, (_h,)),
    "gnnc_graph_nodes": (c_int64, (_h,)),
    "gnnc_graph_edges": (c_int64, (_h,)),
    "gnnc_graph_free": (None, (_h,)),
    "gnnc_executable_free": (None, (_h,)),
    "gnnc_executable_describe": (None, (_h, POINTER(gnnc_executable_info))),
    "gnnc_text_free": (None, (c_void_p,)),
    "gnnc_state_free": (None, (_h,)),
    "gnnc_bytes_free": (None, (c_void_p,)),
    "gnnc_state_changed": (None, (_h,)),
    "gnnc_run_free": (None, (_h,)),
    "gnnc_run_bytes": (c_int64, (_h,)),
    "gnnc_run_describe": (None, (_h, POINTER(gnnc_run_info))),
}

PROTOTYPES: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    **{name: (c_void_p, args) for name, args in _STATUS.items()}, **_OTHER}

# The library --------------------------------------------------------------------------------------

NAMES = ("libgnnc.so.0", "libgnnc.so")


def _prefixes(package: str) -> List[str]:
    """Folders of libraries below the prefix that the package is installed in, and Python's."""
    prefixes = []
    if os.path.basename(os.path.dirname(package)) in ("site-packages", "dist-packages"):
        prefixes.append(os.path.normpath(os.path.join(package, *[".."] * 4)))
    for prefix in (sys.prefix, sys.base_prefix, "/usr/local", "/usr"):
        if prefix not in prefixes:
            prefixes.append(prefix)
    machine = os.uname().machine
    return [os.path.join(p, *lib) for p in prefixes
            for lib in (("lib",), ("lib64",), ("lib", machine + "-linux-gnu"))]


def _in(folders: List[str]) -> Optional[str]:
    """The first path in these folders that is a library."""
    paths = [os.path.join(folder, name) for folder in folders for name in NAMES]
    return next((path for path in paths if os.path.isfile(path)), None)


def find_library(package: Optional[str] = None) -> str:
    """The path of libgnnc.so: beside the package, by GNNC_LIBRARY, or by an installed prefix.

    Raises LibraryError, which says where it looked.
    """
    package = package or os.path.dirname(os.path.abspath(__file__))
    looked: List[str] = []
    path = _in([package])
    if path:
        return path
    looked.append(f"beside the package: {package}")
    named = os.environ.get("GNNC_LIBRARY")
    if named:
        if os.path.isfile(named):
            return named
        looked.append(f"by GNNC_LIBRARY: {named}, which is no file")
        raise LibraryError(_not_found(looked))
    looked.append("by GNNC_LIBRARY: it is not set")
    folders = _prefixes(package)
    searched = [f for f in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if f]
    path = _in(folders + searched)
    if path:
        return path
    looked.append("by prefix: " + ", ".join(folders))
    if searched:
        looked.append("by LD_LIBRARY_PATH: " + ", ".join(searched))
    raise LibraryError(_not_found(looked))


def _not_found(looked: List[str]) -> str:
    return ("libgnnc.so is not found; looked\n  " + "\n  ".join(looked) +
            "\nInstall the wheel, or `make install`, or set GNNC_LIBRARY to its path.")


def load(path: Optional[str] = None) -> C.CDLL:
    """Loads the library and says what its functions take and give.

    Raises LibraryError: it cannot be loaded, or it is of another version than the package.
    """
    path = path or find_library()
    try:
        # What a wheel carries beside the library is loaded first: the loader knows it by name then.
        _load_carried(os.path.join(os.path.dirname(path), "libs"))
        lib = C.CDLL(path)
    except OSError as e:
        raise LibraryError(f"{path} cannot be loaded: {e}") from None
    try:
        lib.gnnc_version.restype = c_char_p
        version = lib.gnnc_version().decode()
    except AttributeError:
        raise LibraryError(f"{path} is no libgnnc: it has no gnnc_version") from None
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise LibraryError(f"{path} is gnnc {version}, and this package is for {__version__}: "
                           "the first two numbers have to agree")
    for name, (result, args) in PROTOTYPES.items():
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise LibraryError(f"{path} is older than this package: it has no {name}") from None
        function.restype, function.argtypes = result, list(args)
    return lib


def _load_carried(folder: str) -> None:
    """Loads the libraries of a folder, those that others need before them."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    left = [os.path.join(folder, name) for name in names if ".so" in name]
    while left:
        failed = []
        for path in left:
            try:
                C.CDLL(path)
            except OSError as e:
                failed.append((path, e))
        if len(failed) == len(left):
            raise failed[0][1]
        left = [path for path, _ in failed]


lib = load()


def check(status: Optional[int]) -> None:
    """Raises what a status says, and frees it; None is success."""
    if status:
        raise_status(status)


def raise_status(status: int) -> None:
    """Raises the exception of a status, and frees it."""
    code = lib.gnnc_status_code(status)
    message = lib.gnnc_status_message(status).decode("utf-8", "replace")
    lib.gnnc_status_free(status)
    raise error_of(code, message)


def take_text(text: c_void_p) -> str:
    """A text that the library gave, which is freed."""
    try:
        return C.string_at(text.value).decode("utf-8", "replace") if text.value else ""
    finally:
        lib.gnnc_text_free(text)
