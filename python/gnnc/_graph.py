"""Graphs and relations, from whatever has edges."""

from __future__ import annotations

import ctypes as C
from typing import Any, Optional, Tuple

from ._arrays import Borrowed, borrow, largest
from ._capi import lib
from ._context import Context, default_context
from ._errors import DataError, UsageError

__all__ = ["Graph"]


class Graph:
    """Edges `src[k] -> dst[k]` between nodes, or from rows of one type to rows of another.

    `Graph(src, dst)` and `Graph(edge_index)` take tensors of any kind, int32 or int64, or lists;
    `Graph(other)` takes what `Graph.of` does.  `num_nodes` is the number of nodes at both ends,
    `num_src` and `num_dst` at either; without them it is what the edges name.  Edges keep their
    order, in which data on edges is given and returned.  Edges are copied.  `values` are numbers on
    edges that came along, as those of a matrix of SciPy.

    A graph never changes, and may be used by any number of threads and runs.
    """

    __slots__ = ("_handle", "_context", "num_src", "num_dst", "values", "__weakref__")

    def __init__(self, src: Any, dst: Any = None, num_nodes: Optional[int] = None, *,
                 num_src: Optional[int] = None, num_dst: Optional[int] = None,
                 values: Any = None, context: Optional[Context] = None) -> None:
        self._handle: Any = None
        self._context = context or default_context()
        if num_nodes is not None:
            if num_src is not None or num_dst is not None:
                raise UsageError("a graph has num_nodes, a relation num_src and num_dst; not both")
            num_src = num_dst = num_nodes
        if dst is None:
            src, dst, values, found = edges_of(src, values)
            if num_src is None and num_dst is None and found:
                num_src, num_dst = found
        square = num_src is None and num_dst is None
        if num_src is None:
            num_src = largest(src) + 1
        if num_dst is None:
            num_dst = largest(dst) + 1
        if square:
            num_src = num_dst = max(num_src, num_dst)
        self.num_src, self.num_dst, self.values = num_src, num_dst, values
        s, d = borrow(src, "int64"), borrow(dst, "int64")
        out = C.c_void_p()
        self._context.after(lib.gnnc_relation_from_tensors(
            self._context._handle, num_src, num_dst, C.byref(s.dl), C.byref(d.dl), C.byref(out)))
        self._handle = out

    @classmethod
    def from_csr(cls, row: Any, src: Any, *, values: Any = None,
                 context: Optional[Context] = None) -> "Graph":
        """Row v lists the sources of the edges into v: `src[row[v]]` to `src[row[v + 1] - 1]`.

        `row` has one number more than there are nodes.  Both are int32 or both int64, and of one
        dimension; they are copied.
        """
        self = cls.__new__(cls)
        self._handle, self._context = None, context or default_context()
        r, s = borrow(row, "int64"), borrow(src, "int64")
        if r.dtype != s.dtype or r.dtype not in ("int32", "int64"):
            raise DataError(f"row and src are expected to be int32 or int64, both, and are "
                            f"{r.dtype} and {s.dtype}")
        if len(r.shape) != 1 or len(s.shape) != 1 or not r.shape[0]:
            raise DataError("row and src are expected to have one dimension, and row a number")
        if r.strides() != (1,) or s.strides() != (1,):
            raise DataError("row and src are expected to be contiguous")
        width = C.c_int64 if r.dtype == "int64" else C.c_int32
        at = (r.dl.data or 0) + r.dl.byte_offset
        if width.from_address(at + C.sizeof(width) * (r.shape[0] - 1)).value != s.shape[0]:
            raise DataError(f"row ends with another number than there are sources ({s.shape[0]})")
        out = C.c_void_p()
        self._context.after(lib.gnnc_graph_from_csr(
            self._context._handle, r.shape[0] - 1, int(r.dtype == "int64"), at,
            (s.dl.data or 0) + s.dl.byte_offset, C.byref(out)))
        self._handle = out
        self.num_src = self.num_dst = r.shape[0] - 1
        self.values = values
        return self

    def append(self, src: Any, dst: Any, num_nodes: Optional[int] = None, *,
               num_src: Optional[int] = None, num_dst: Optional[int] = None) -> "Graph":
        """The graph with the edges `src[k] -> dst[k]` behind its own: as if all had been given.

        What is sorted already is copied and not sorted again.  `num_nodes`, or `num_src` and
        `num_dst`, say how many nodes there are then, not fewer than now, which is the default.
        `values` do not come along.
        """
        if num_nodes is not None:
            if num_src is not None or num_dst is not None:
                raise UsageError("a graph has num_nodes, a relation num_src and num_dst; not both")
            num_src = num_dst = num_nodes
        new = type(self).__new__(type(self))
        new._handle, new._context, new.values = None, self._context, None
        new.num_src = self.num_src if num_src is None else num_src
        new.num_dst = self.num_dst if num_dst is None else num_dst
        s, d = borrow(src, "int64"), borrow(dst, "int64")
        if s.dtype != d.dtype or s.dtype not in ("int32", "int64"):
            raise DataError(f"src and dst are expected to be int32 or int64, both, and are "
                            f"{s.dtype} and {d.dtype}")
        if len(s.shape) != 1 or s.shape != d.shape:
            raise DataError("src and dst are expected to have one dimension, and as many numbers")
        if s.strides() != (1,) or d.strides() != (1,):
            raise DataError("src and dst are expected to be contiguous")
        out = C.c_void_p()
        self._context.after(lib.gnnc_relation_append(
            self._handle, new.num_src - self.num_src, new.num_dst - self.num_dst, s.shape[0],
            int(s.dtype == "int64"), (s.dl.data or 0) + s.dl.byte_offset,
            (d.dl.data or 0) + d.dl.byte_offset, C.byref(out)))
        new._handle = out
        return new

    @classmethod
    def of(cls, value: Any, num_nodes: Optional[int] = None, *,
           context: Optional[Context] = None) -> "Graph":
        """The graph that `value` is or has.

        A `Graph` itself; a tensor `edge_index` of [2, edges]; a pair `(src, dst)`; a sparse matrix
        of SciPy, whose entry (i, j) is the edge i -> j; `Data` of PyTorch Geometric; a graph of
        DGL with one type of edges.
        """
        if isinstance(value, Graph):
            return value
        return cls(value, num_nodes=num_nodes, context=context)

    @property
    def num_nodes(self) -> int:
        """Nodes; of a relation those at its destination."""
        return int(lib.gnnc_graph_nodes(self._handle))

    @property
    def num_edges(self) -> int:
        """Edges."""
        return int(lib.gnnc_graph_edges(self._handle))

    def __repr__(self) -> str:
        if self.num_src == self.num_dst:
            return f"gnnc.Graph({self.num_dst} nodes, {self.num_edges} edges)"
        return f"gnnc.Graph({self.num_src} -> {self.num_dst} rows, {self.num_edges} edges)"

    def __reduce__(self) -> Any:
        raise TypeError("a gnnc.Graph cannot be pickled; send its edges, and make it there")

    def __del__(self, _free: Any = lib.gnnc_graph_free) -> None:
        if self._handle:
            _free(self._handle)
            self._handle = None


def is_scipy(value: Any) -> bool:
    """A sparse matrix or array of SciPy."""
    return hasattr(value, "tocoo") and hasattr(value, "nnz")


def is_dgl(value: Any) -> bool:
    """A graph of DGL, of any number of types."""
    return hasattr(value, "canonical_etypes") and hasattr(value, "edges")


def edges_of(value: Any, values: Any = None) -> Tuple[Any, Any, Any, Optional[Tuple[int, int]]]:
    """(src, dst, values, (num_src, num_dst)) of anything that has edges."""
    if is_scipy(value):
        # CSR and CSC have the one end packed, so that it takes a copy to have both.
        coo = value.tocoo()
        ones = values is None and bool((coo.data == 1).all())
        return coo.row, coo.col, None if ones else coo.data if values is None else values, (
            int(value.shape[0]), int(value.shape[1]))
    if is_dgl(value):
        if len(value.canonical_etypes) != 1:
            raise DataError("the graph has several types of edges: give gnnc.Data of it, or "
                            "`graph.edges(etype=...)` of one")
        of, _, to = value.canonical_etypes[0]
        src, dst = value.edges()
        return src, dst, values, (int(value.num_nodes(of)), int(value.num_nodes(to)))
    if hasattr(value, "edge_types") and hasattr(value, "node_types"):
        raise DataError("data of several types: give gnnc.Data of it, or `data[type].edge_index`")
    if hasattr(value, "edge_index") and not hasattr(value, "__dlpack__"):
        if value.edge_index is None:
            raise DataError("the data have no edge_index")
        if values is None:
            values = getattr(value, "edge_weight", None)
        found = nodes_of(value)
        src, dst, values, _ = edges_of(value.edge_index, values)
        return src, dst, values, None if found is None else (found, found)
    if isinstance(value, (tuple, list)) and len(value) == 2 and hasattr(value[0], "__len__"):
        return value[0], value[1], values, None
    b: Borrowed = borrow(value)
    if len(b.shape) != 2 or b.shape[0] != 2:
        raise DataError(f"edges are expected as [2, edges], and these are {list(b.shape)}; "
                        "give `edges.T` of [edges, 2]")
    return b.row(0), b.row(1), values, None


def nodes_of(data: Any) -> Optional[int]:
    """How many nodes data of PyTorch Geometric have, by what they have of them."""
    store: Any = getattr(data, "_store", None)
    given = store.get("num_nodes") if hasattr(store, "get") else None
    if given is not None:
        return int(given)
    x = getattr(data, "x", None)
    if x is not None:
        return int(x.shape[0]) if hasattr(x, "shape") else len(x)
    found = getattr(data, "num_nodes", None)
    return None if found is None else int(found)
