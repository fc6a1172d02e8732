"""The text of a program of tensor IR, value by value."""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

ELEMS = {"torch.float32": "f32", "torch.bool": "bool"}

_NUMBER = re.compile(r"%(\d+)")


class Value(NamedTuple):
    """A value of a program: rows of a space (None: no rows), each with these dims.

    `turned`: what it stands for is the transpose: [dims, rows].
    """

    id: int
    elem: str
    space: Optional[str]
    dims: Tuple[int, ...]
    turned: bool = False


class Text:
    """A program that grows; spaces are declared by their first use."""

    def __init__(self) -> None:
        self.lines: List[str] = []
        self.nodes: List[Any] = [None]  # whose value has this number, from 1
        self.now: Any = None

    def add(self, op: str, operands: Sequence[Value], elem: str, space: Optional[str],
            dims: Sequence[int], attrs: str = "", name: str = "") -> Value:
        """A value more."""
        text = f"%{len(self.nodes)} = {op}"
        if operands:
            text += " " + ", ".join(f"%{v.id}" for v in operands)
        if name:
            text += f' "{name}"'
        if attrs:
            text += " {" + attrs + "}"
        text += f" : {space + ' ' if space else ''}{elem}[{', '.join(map(str, dims))}]"
        self.lines.append("  " + text)
        self.nodes.append(self.now)
        return Value(len(self.nodes) - 1, elem, space, tuple(dims))

    def read(self) -> Set[int]:
        """Numbers of the values that results are made of."""
        of: Dict[int, List[int]] = {}
        found: Set[int] = set()
        stack: List[int] = []
        for line in self.lines:
            first, *rest = [int(n) for n in _NUMBER.findall(line)]
            if line.startswith("  %"):
                of[first] = rest
            else:
                stack.append(first)
        while stack:
            v = stack.pop()
            if v not in found:
                found.add(v)
                stack += of[v]
        return found

    def graph(self, name: str, src: str, dst: str, edges: str) -> int:
        """A relation."""
        self.lines.append(f'  %{len(self.nodes)} = graph "{name}" : graph<{src} -> {dst}, {edges}>')
        self.nodes.append(self.now)
        return len(self.nodes) - 1

    def map(self, op: str, *operands: Value, elem: Optional[str] = None) -> Value:
        """An elementwise operator of operands of one type."""
        a = operands[-1]
        return self.add(op, operands, elem or a.elem, a.space, a.dims)

    def const(self, value: float, like: Value, elem: Optional[str] = None) -> Value:
        return self.add("const", (), elem or like.elem, like.space, like.dims,
                        f"value = {number(value)}")

    def broadcast(self, v: Value, space: Optional[str], dims: Sequence[int]) -> Value:
        if (v.space, v.dims) == (space, tuple(dims)):
            return v
        return self.add("broadcast", (v,), v.elem, space, dims)

    def reshape(self, v: Value, dims: Sequence[int]) -> Value:
        if v.dims == tuple(dims):
            return v
        return self.add("reshape", (v,), v.elem, v.space, dims)

    def cast(self, v: Value, elem: str) -> Value:
        return v if v.elem == elem else self.add("cast", (v,), elem, v.space, v.dims)

    def flipped(self, v: Value) -> Value:
        """The transpose of a matrix that has no rows."""
        return self.add("transpose", (v,), v.elem, None, v.dims[::-1], "perm = 1")

    def reduce(self, v: Value, red: int, axes: Sequence[int]) -> Value:
        """Over trailing axes, which vanish.  red: 0 sum, 1 max, 2 min."""
        dims = [d for k, d in enumerate(v.dims) if k not in axes]
        bits = sum(1 << k for k in axes)
        return self.add("reduce", (v,), v.elem, v.space, dims, f"red = {red}, axes = {bits}")


def number(x: float) -> str:
    """A number as the text has it."""
    x = float(x)
    return repr(x) if x == x and abs(x) != float("inf") else str(x)
