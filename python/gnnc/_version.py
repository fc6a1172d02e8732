"""The version of the package, which is the library's (include/gnnc/gnnc.h)."""

__version__ = "0.1.0"
