"""Operators of ATen as tensor IR.

Each has two parts: which axes it makes one (`meets`), and the values that it becomes (`emit`).
What neither knows raises Unsupported, with the reason, and stays with torch.
"""

from __future__ import annotations

from . import elementwise, reductions, views  # noqa: F401, which put rules into the table
from .edges import EDGES, Edge
from .products import MOVES
from .rule import RULES
from .values import argument, aten, constant, index_of

__all__ = ["EDGES", "MOVES", "RULES", "Edge", "argument", "aten", "constant", "index_of"]
