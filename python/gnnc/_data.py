"""Data as models see them: graphs by name, columns, labels and masks, from other libraries' too.

No library is imported for it: what an object has says what it is.
"""

from __future__ import annotations

import weakref
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from ._arrays import Borrowed, borrow, largest
from ._context import Context
from ._errors import DataError
from ._graph import Graph, edges_of, is_dgl, is_scipy, nodes_of

__all__ = ["Data"]

_MASKS = ("train_mask", "val_mask", "test_mask")


def _shape(value: Any) -> Tuple[int, ...]:
    shape = getattr(value, "shape", None)
    return tuple(int(n) for n in shape) if shape is not None else borrow(value).shape


def _is_whole(value: Any) -> bool:
    return borrow(value).dtype in ("int8", "int16", "int32", "int64", "uint8")


def _is_tensor(value: Any) -> bool:
    if (hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__") or
            isinstance(value, (list, Borrowed))):
        return True
    try:
        return not isinstance(value, (str, bytes)) and memoryview(value).ndim > 0
    except TypeError:
        return False


class Data:
    """Graphs, columns, labels and masks under the names that models have for them.

    `Data(value)` takes `Data` and `HeteroData` of PyTorch Geometric, graphs of DGL, mappings
    (`x`, `y`, `edge_index` or `graph`, `edge_weight`, `edge_attr`, masks), and what `Graph.of`
    takes.  Keywords add to it, or take the place of what it has.  Or from scratch, of several
    types:

        Data(spaces={"paper": 300, "author": 60},
             relations={"writes": ("author", "paper", writes)},
             columns={"paper.x": x}, y=y, train_mask=mask, labelled="paper")

    `options()` is what `compile` is told of it: sizes and, of several types, the schema.
    `bindings` are the data by the names that runs bind them by; nothing is copied.
    """

    def __init__(self, value: Any = None, *, graph: Any = None, x: Any = None, y: Any = None,
                 edge_index: Any = None, edge_weight: Any = None, edge_attr: Any = None,
                 num_nodes: Optional[int] = None, classes: Optional[int] = None,
                 spaces: Optional[Mapping[str, Optional[int]]] = None,
                 relations: Optional[Mapping[str, Tuple[str, str, Any]]] = None,
                 columns: Optional[Mapping[str, Any]] = None, labelled: Optional[str] = None,
                 **named: Any) -> None:
        self.bindings: Dict[str, Any] = {}
        self.edges: Dict[str, Any] = {}
        self.ends: Dict[str, Tuple[str, str]] = {}
        self.spaces: Dict[str, Optional[int]] = {}
        self.columns: List[str] = []
        self.labelled = labelled
        self.num_nodes = num_nodes
        self._classes = classes
        self._graphs: Any = weakref.WeakKeyDictionary()
        if isinstance(value, Data):
            self._take(value)
        elif value is not None:
            self._read(value)
        if edge_index is not None:
            graph = edge_index
        for name, rows in (spaces or {}).items():
            self.spaces[name] = rows
        for name, (src, dst, edges) in (relations or {}).items():
            self._relate(name, src, dst, edges)
        for name, column in (columns or {}).items():
            self._column(name, column)
        if graph is not None:
            self.edges["g"] = graph
        self._name({"x": x, "y": y, "g.weight": edge_weight, "g.attr": edge_attr, **named})

    # Reading --------------------------------------------------------------------------------------

    def _take(self, other: "Data") -> None:
        self.bindings.update(other.bindings)
        self.edges.update(other.edges)
        self.ends.update(other.ends)
        self.spaces.update(other.spaces)
        self.columns += other.columns
        self.labelled = self.labelled or other.labelled
        self.num_nodes = other.num_nodes if self.num_nodes is None else self.num_nodes
        self._classes = other._classes if self._classes is None else self._classes

    def _read(self, value: Any) -> None:
        if is_dgl(value):
            self._read_dgl(value)
        elif hasattr(value, "edge_types") and hasattr(value, "node_types"):
            self._read_hetero(value)
        elif isinstance(value, Mapping):
            self._read_mapping(value)
        elif hasattr(value, "edge_index") and not isinstance(value, Graph):
            self._read_pyg(value)
        else:
            if is_scipy(value):
                src, dst, weights, ends = edges_of(value)
                value = Graph(src, dst, num_nodes=ends[0] if ends else None)
                self._name({"g.weight": weights})
            self.edges["g"] = value

    def _read_mapping(self, value: Mapping[str, Any]) -> None:
        self._take(Data(**dict(value)))

    def _read_pyg(self, data: Any) -> None:
        if data.edge_index is None:
            raise DataError("the data have no edge_index; where T.ToSparseTensor made adj_t of it, "
                            "leave that out")
        self.edges["g"] = data.edge_index
        self.num_nodes = nodes_of(data) if self.num_nodes is None else self.num_nodes
        keys = data.keys() if callable(getattr(data, "keys", None)) else getattr(data, "keys", ())
        found = {k: getattr(data, k) for k in keys
                 if k not in ("edge_index", "num_nodes", "ptr", "num_graphs")}
        attr = found.pop("edge_attr", None)
        weight = found.pop("edge_weight", None)
        if weight is None and attr is not None and len(_shape(attr)) == 1:
            weight, attr = attr, None
        batch = found.pop("batch", None)
        if batch is not None:
            graphs = getattr(data, "num_graphs", None)
            self.spaces["graph"] = int(graphs) if graphs is not None else largest(batch) + 1
            self.spaces.setdefault("node", None)
            self._relate("member", "node", "graph", (range(_shape(batch)[0]), batch))
            y = found.get("y")
            if y is not None and _shape(y)[0] == self.spaces["graph"]:
                self.labelled = self.labelled or "graph"
        self._name({"g.weight": weight, "g.attr": attr})
        self._name({k: v for k, v in found.items() if _is_tensor(v) and len(_shape(v))})

    def _read_hetero(self, data: Any) -> None:
        labels: Dict[str, str] = {}
        for t in data.node_types:
            store = data[t]
            self.spaces[t] = None if store.num_nodes is None else int(store.num_nodes)
            for key, value in store.items():
                if not _is_tensor(value) or not len(_shape(value)):
                    continue
                if key == "y" or key in _MASKS:
                    labels.setdefault(key, t)
                    if labels[key] == t and self.labelled in (None, t):
                        self._name({key: value})
                        self.labelled = t if key == "y" else self.labelled
                elif _shape(value)[0] == self.spaces[t]:
                    self._column(f"{t}.{key}", value)
        for (src, by, dst), name in _names(data.edge_types).items():
            store = data[src, by, dst]
            if "edge_index" not in store:
                continue
            self._relate(name, src, dst, store.edge_index)
            for key, value in store.items():
                if key != "edge_index" and _is_tensor(value) and len(_shape(value)):
                    short = {"edge_attr": "attr", "edge_weight": "weight"}.get(key, key)
                    self._column(f"{name}.{short}", value)

    def _read_dgl(self, g: Any) -> None:
        if len(g.ntypes) == 1 and len(g.canonical_etypes) == 1:
            self.num_nodes = int(g.num_nodes())
            self.edges["g"] = g.edges()
            alias = {"feat": "x", "label": "y", "labels": "y"}
            self._name({alias.get(k, k): v for k, v in g.ndata.items()})
            alias = {"weight": "g.weight", "w": "g.weight", "feat": "g.attr", "attr": "g.attr"}
            self._name({alias[k]: v for k, v in g.edata.items() if k in alias})
            return
        for t in g.ntypes:
            self.spaces[t] = int(g.num_nodes(t))
            for key, value in g.nodes[t].data.items():
                key = {"feat": "x", "label": "y", "labels": "y"}.get(key, key)
                if key == "y" or key in _MASKS:
                    if self.labelled in (None, t):
                        self._name({key: value})
                        self.labelled = t if key == "y" else self.labelled
                else:
                    self._column(f"{t}.{key}", value)
        for (src, by, dst), name in _names(g.canonical_etypes).items():
            self._relate(name, src, dst, g.edges(etype=(src, by, dst)))
            for key, value in g.edges[src, by, dst].data.items():
                self._column(f"{name}.{'attr' if key == 'feat' else key}", value)

    def _name(self, named: Mapping[str, Any]) -> None:
        for name, value in named.items():
            if value is None:
                continue
            if name == "y":
                shape = _shape(value)
                if len(shape) == 2 and shape[1] == 1:
                    value = borrow(value).column(0)
            self.bindings[name] = value

    def _relate(self, name: str, src: str, dst: str, edges: Any) -> None:
        for end in (src, dst):
            self.spaces.setdefault(end, None)
        self.ends[name], self.edges[name] = (src, dst), edges

    def _column(self, name: str, value: Any) -> None:
        if name not in self.columns:
            self.columns.append(name)
        self.bindings[name] = value

    # What it says ---------------------------------------------------------------------------------

    @property
    def typed(self) -> bool:
        """Whether it has spaces, relations or columns of its own."""
        return bool(self.spaces or self.ends or self.columns)

    @property
    def features(self) -> int:
        """Columns of x."""
        x = self.bindings.get("x")
        if x is None:
            return 0
        shape = _shape(x)
        return shape[1] if len(shape) == 2 else 1

    @property
    def classes(self) -> int:
        """One more than the largest label; 0 where labels are none or no whole numbers."""
        if self._classes is None:
            y = self.bindings.get("y")
            self._classes = largest(y) + 1 if y is not None and len(
                _shape(y)) == 1 and _is_whole(y) else 0
        return self._classes

    def options(self) -> Dict[str, Any]:
        """The options of `compile` that these data give."""
        out: Dict[str, Any] = {"features": self.features, "classes": self.classes}
        attr = self.bindings.get("g.attr")
        if attr is not None:
            out["edge_features"] = _shape(attr)[1]
        if "g.weight" in self.bindings:
            out["edge_weights"] = True
        if self.typed:
            out["spaces"] = dict(self.spaces)
            if "g" in self.edges:
                nodes = self.num_nodes if self.num_nodes is not None else self._rows()
                if "node" not in out["spaces"] or out["spaces"]["node"] is None:
                    out["spaces"]["node"] = nodes
            out["relations"] = {name: (*ends, _count(self.edges[name]))
                                for name, ends in self.ends.items()}
            out["columns"] = {name: _column_type(self.bindings[name]) for name in self.columns}
            if self.labelled:
                out["labelled"] = self.labelled
        elif "g" in self.edges:
            nodes = self.num_nodes if self.num_nodes is not None else self._rows()
            if nodes is not None:
                out["expect_nodes"], out["expect_edges"] = nodes, _count(self.edges["g"])
        return out

    def _rows(self) -> Optional[int]:
        g = self.edges.get("g")
        if isinstance(g, Graph):
            return g.num_nodes
        x = self.bindings.get("x")
        return None if x is None else _shape(x)[0]

    def graphs(self, context: Context) -> Dict[str, Graph]:
        """The graphs by name, made in this context once."""
        found = self._graphs.get(context)
        if found is None:
            found = self._graphs[context] = {name: self._graph(name, edges, context)
                                             for name, edges in self.edges.items()}
        return dict(found)

    def _graph(self, name: str, edges: Any, context: Context) -> Graph:
        if isinstance(edges, Graph):
            return edges
        if name not in self.ends:
            nodes = self.num_nodes if self.num_nodes is not None else self._rows()
            return Graph(edges, num_nodes=nodes, context=context)
        src, dst, values, _ = edges_of(edges)
        rows = [self.spaces.get(end) for end in self.ends[name]]
        rows = [self._space_rows(end) if n is None else n for end, n in zip(self.ends[name], rows)]
        return Graph(src, dst, num_src=rows[0], num_dst=rows[1], values=values, context=context)

    def _space_rows(self, space: str) -> Optional[int]:
        if space == "node":
            return self.num_nodes if self.num_nodes is not None else self._rows()
        of = [n for n in self.columns if n.startswith(space + ".")]
        return _shape(self.bindings[of[0]])[0] if of else None

    def __repr__(self) -> str:
        return (f"gnnc.Data(graphs: {', '.join(self.edges) or 'none'}; "
                f"data: {', '.join(self.bindings) or 'none'})")


def _names(types: Iterable[Tuple[str, str, str]]) -> Dict[Tuple[str, str, str], str]:
    """Names of relations: their own, or all three words where two have the same."""
    types = list(types)
    own = [by for _, by, _ in types]
    return {t: t[1] if own.count(t[1]) == 1 else "_".join(t) for t in types}


def _count(edges: Any) -> int:
    if isinstance(edges, Graph):
        return edges.num_edges
    if isinstance(edges, (tuple, list)) and len(edges) == 2:
        return len(edges[0])
    if hasattr(edges, "nnz"):
        return int(edges.nnz)
    return _shape(edges)[-1]


def _column_type(value: Any) -> Tuple[str, List[int]]:
    b = borrow(value)
    dtype = {"float16": "float32", "bfloat16": "float32", "float64": "float32"}.get(b.dtype,
                                                                                   b.dtype)
    if dtype not in ("float32", "int32", "int64", "bool", "uint8"):
        raise DataError(f"columns are of float32, int32, int64 or bool, and this is of {b.dtype}")
    return dtype, list(b.shape[1:])
