"""Exceptions: one class for each code of the C API."""

from __future__ import annotations

from typing import Any, Dict, List, Type

__all__ = ["Error", "ModelError", "UsageError", "DataError", "FileError", "BackendError",
           "MemoryError_", "InternalError", "LibraryError", "error_of"]


class Error(Exception):
    """What gnnc says went wrong.  The text has the whole message, of models with a caret.

    `code` is the number of the C API (`gnnc_code`); a class of its own stands for each.
    """

    code: int = 0

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics: List[Any] = []  # of a model: gnnc.Diagnostic, one for each error and note


class ModelError(Error):
    """The model: syntax, types, shapes.  The message has file, line and a caret."""

    code = 1


class UsageError(Error, ValueError):
    """A call: an argument, an option, something that is not bound."""

    code = 2


class DataError(Error, ValueError):
    """Tensors, graphs or weights do not fit each other or the model."""

    code = 3


class FileError(Error, OSError):
    """A file could not be read or written."""

    code = 4


class BackendError(Error, RuntimeError):
    """This build or machine cannot do it."""

    code = 5


class MemoryError_(Error, MemoryError):
    """Memory ran out."""

    code = 6


class InternalError(Error, RuntimeError):
    """A defect of gnnc.  Please report it, with the message."""

    code = 7


class LibraryError(ImportError):
    """libgnnc.so is not found, or is of another version.  The text says where it was looked for."""


_CLASSES: Dict[int, Type[Error]] = {
    c.code: c for c in (ModelError, UsageError, DataError, FileError, BackendError, MemoryError_,
                        InternalError)}


def error_of(code: int, message: str) -> Error:
    """The exception for a code of the C API."""
    return _CLASSES.get(code, InternalError)(message)
