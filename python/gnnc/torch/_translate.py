"""The operators of one level of a plan as a program of tensor IR."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

import torch
from torch import fx

from ._ir import Text, Value, number
from ._plan import _ELEMS, Plan
from ._program import Ends, Input, Output, Pattern
from ._rules import EDGES, MOVES, RULES, Edge, aten, constant, index_of
from ._spaces import Axis, Relation, Unsupported, value_of


class Matrix:
    """An input that a program has by its non-zeros: a relation of its columns to its rows."""

    def __init__(self, graph: Value, columns: str, rows: str, edges: str, width: int,
                 value: Optional[Value]) -> None:
        self.graph, self.columns, self.rows, self.edges = graph, columns, rows, edges
        self.width = width
        self.value = value  # of each non-zero, or of those of a row; None: all are 1


class Translator:
    """The operators of one level, as a program.

    `sparse`: inputs that are had by their non-zeros where they are multiplied, and what is known of
    those: "any", "rows" (those of a row are equal) or "ones".
    """

    def __init__(self, plan: Plan, level: int, sparse: Optional[Dict[fx.Node, str]] = None) -> None:
        self.sparse = sparse or {}
        self.states: Dict[fx.Node, str] = {}     # what a step replaces, by name
        self.matrices: Dict[fx.Node, Matrix] = {}
        self.multiplied: Dict[fx.Node, None] = {}  # inputs that could be had so
        self.patterns: List[Pattern] = []
        self.plan, self.axes, self.level = plan, plan.axes, level
        self.text = Text()
        self.values: Dict[fx.Node, Value] = {}
        self.spaces: List[Axis] = []
        self.relations: List[Relation] = []
        self.graphs: Dict[int, Tuple[int, str, List[str]]] = {}
        self.owned: Dict[int, int] = {}          # graphs of matrices, by their edges' space
        self.columns: Dict[int, int] = {}        # spaces of columns: how many there are
        self.factors: List[fx.Node] = []         # inputs that patterns are of
        self.read: Dict[int, fx.Node] = {}       # inputs, by number of their value
        self.inputs: List[Input] = []
        self.sources: List[fx.Node] = []
        self.outputs: List[Output] = []
        self.results: List[fx.Node] = []
        self.wanted: Set[fx.Node] = set()

    # What rules ask for ---------------------------------------------------------------------------

    def is_here(self, node: fx.Node) -> bool:
        return self.plan.side.get(node) == "gnnc" and (
            self.plan.level[node] == self.level or node in self.plan.floating)

    def is_result(self, node: fx.Node) -> bool:
        """Something outside of this program reads it."""
        return node in self.wanted

    def count(self, space: str) -> Value:
        """How many rows a space has, as a number."""
        return self.text.add("size", (), "f32", None, (), f"space = {space}")

    def count_of(self, node: fx.Node, size: Any) -> Value:
        """A number that comes of how many rows there are."""
        expr = size.node.expr
        if self.axes.known:
            expr = expr.xreplace(self.axes.known)
        return self._count(node, expr)

    def _count(self, node: fx.Node, expr: Any) -> Value:
        axes = [*self.spaces, *self.axes.ends.values()]
        for axis in axes:
            axis = axis.find()
            if not isinstance(axis.size, int) and axis.size == expr:
                return self.count(self.space_of(axis))
        if expr.is_number:
            return self.text.add("const", (), "f32", None, (), f"value = {number(float(expr))}")
        kind = type(expr).__name__
        if kind == "ToFloat":
            return self._count(node, expr.args[0])
        op = {"Add": "add", "Mul": "mul", "FloatTrueDiv": "div", "IntTrueDiv": "div"}.get(kind)
        if kind == "Pow" and expr.args[1] == -1:
            return self.text.map("recip", self._count(node, expr.args[0]))
        if op is None:
            raise Unsupported(node, "of a size that is computed")
        parts = [self._count(node, a) for a in expr.args]
        v = parts[0]
        for p in parts[1:]:
            v = self.text.map(op, v, p)
        return v

    def elem_of(self, node: fx.Node) -> str:
        elem = _ELEMS.get(value_of(node).dtype)
        if elem is None:
            raise Unsupported(node, f"of {value_of(node).dtype}")
        return elem

    def space_of(self, axis: Axis) -> str:
        axis = axis.find()
        if axis not in self.spaces:
            self.spaces.append(axis)
        kind = "e" if axis.relation is not None else "n"
        return f"{kind}{self.spaces.index(axis)}"

    def type_of(self, node: fx.Node) -> Tuple[Optional[str], Tuple[int, ...]]:
        row = self.axes.row_of(node)
        shape = self.axes.shape(node)
        if row is None:
            return None, tuple(shape)
        if row != 0:
            raise Unsupported(node, "rows are not the first axis")
        return self.space_of(self.axes.axes(node)[0]), tuple(shape[1:])

    def graph(self, r: Relation) -> Tuple[int, str, List[str]]:
        """The number of a relation's value, its edges' space and those at its ends."""
        key = id(r)
        if key in self.graphs:
            return self.graphs[key]
        sides = []
        for k in range(2):
            if r.ends[k] is None:  # nothing is picked there; any rows do, if they are enough
                r.ends[k] = r.ends[1 - k]
            sides.append(self.space_of(r.ends[k]))
        if r.lone:
            self.spaces.append(Axis(r.edges.size))
            edges = f"e{len(self.spaces) - 1}"
            self.spaces[-1].relation = r
        else:
            edges = self.space_of(r.edges)
        number = self.text.graph(f"r{len(self.relations)}", sides[0], sides[1], edges)
        self.relations.append(r)
        self.graphs[key] = (number, edges, sides)
        return self.graphs[key]

    def _state(self, node: fx.Node, elem: str, space: Optional[str],
               dims: Sequence[int]) -> Value:
        if space is not None or elem != "f32":
            raise Unsupported(node, "a parameter or buffer with a row for each node, or of other "
                                    "numbers than float32")
        return self.text.add("state", (), elem, None, dims, name=self.states[node])

    # Matrices of few non-zeros --------------------------------------------------------------------

    def matrix(self, v: Value) -> Optional[Matrix]:
        """What a factor is multiplied by, where it is an input of few non-zeros."""
        node = self.read.get(v.id)
        if node is None or v.elem != "f32" or len(v.dims) != 1 or node.op != "placeholder":
            return None
        self.multiplied[node] = None
        if node in self.sparse and node not in self.matrices:
            self.matrices[node] = self._new_matrix(node, v)
        return self.matrices.get(node)

    def _new_matrix(self, node: fx.Node, v: Value) -> Matrix:
        kind, k, width = self.sparse[node], len(self.patterns), v.dims[0]
        columns, edges = Axis(width), Axis(None)
        edges.relation = node  # type: ignore[assignment]
        self.spaces += [columns, edges]
        src, on = f"n{len(self.spaces) - 2}", f"e{len(self.spaces) - 1}"
        self.columns[len(self.spaces) - 2] = width
        graph = Value(self.text.graph(f"s{k}", src, v.space, on), "", None, ())
        self.owned[len(self.spaces) - 1] = graph.id
        value = None
        if kind != "ones":
            at = on if kind == "any" else v.space
            value = self.text.add("input", (), "f32", at, (), name=f"v{k}")
        self.patterns.append(Pattern(f"s{k}", f"v{k}" if value else "", kind, width))
        self.factors.append(node)
        return Matrix(graph, src, v.space, on, width, value)

    def nonzeros(self, m: Matrix) -> Optional[Value]:
        """The values of a matrix's non-zeros, one an edge; None: all are 1."""
        if m.value is None or m.value.space == m.edges:
            return m.value
        return self.text.add("gather", (m.graph, m.value), "f32", m.edges, (), "end = 1")

    def _drop_unread(self) -> None:
        """Inputs that are multiplied alone, by their non-zeros, are not read besides."""
        read = self.text.read() if self.matrices else set()
        for node in self.matrices:
            v = self.values[node]
            if v.id in read:
                continue
            k = self.sources.index(node)
            self.text.lines = [
                f"  %{v.id} = const {{value = 0}} : {v.space} f32[{v.dims[0]}]"
                if line.startswith(f"  %{v.id} = ") else line for line in self.text.lines]
            del self.sources[k], self.inputs[k]

    def value(self, node: Any) -> Value:
        if not isinstance(node, fx.Node):
            raise Unsupported(self.text.now, f"of {node}")
        if node in self.values:
            return self.values[node]
        c = constant(node)
        if c is not None:
            space, dims = self.type_of(node)
            v = self.text.add("const", (), self.elem_of(node), space, dims, f"value = {c!r}")
            return v  # of one use, whose rows may be others elsewhere
        if self.is_here(node):
            v = self.emit(node)
        else:
            space, dims = self.type_of(node)
            elem, name = self.elem_of(node), f"i{len(self.inputs)}"
            if node in self.states:
                self.values[node] = self._state(node, elem, space, dims)
                return self.values[node]
            v = self.text.add("input", (), elem, space, dims, name=name)
            number = self._number(space)
            self.inputs.append(Input(name, elem, dims, number, number is not None and
                                     self.spaces[number].relation is not None,
                                     node in self.plan.alone or
                                     bool(node.meta.get("gnnc_fixed"))))
            self.sources.append(node)
            self.read[v.id] = node
        self.values[node] = v
        return v

    # The program ----------------------------------------------------------------------------------

    def _number(self, space: Optional[str]) -> Optional[int]:
        return None if space is None else int(space[1:])

    def emit(self, node: fx.Node) -> Value:
        before, self.text.now = self.text.now, node
        try:
            v = RULES[node.target].emit(self, node)
        except Unsupported as e:
            raise Unsupported(node, e.why) from None
        except (IndexError, KeyError, TypeError, AttributeError, ValueError) as e:
            raise Unsupported(node, f"arguments of another kind ({e!r})") from None
        self.text.now = before
        if not v.turned:
            space, dims = self.type_of(node)
            if (v.space, v.dims, v.elem) != (space, dims, self.elem_of(node)):
                raise Unsupported(node, f"its rows are not known ({v.space} {v.dims}, not "
                                        f"{space} {dims})")
        return v

    def translate(self, nodes: Sequence[fx.Node], results: Sequence[fx.Node]) -> None:
        self.wanted = set(results)
        self._graphs(nodes)
        moves = self._moving(nodes)
        for node in nodes:
            if node not in moves:
                self.value(node)
        for node in results:
            self.text.now = node
            v = self.value(node)
            if v.turned:
                raise Unsupported(node, "a result of transposed rows")
            name = f"o{len(self.outputs)}"
            self.text.lines.append(f'  output "{name}" %{v.id}')
            self.outputs.append(Output(name, v.elem, v.dims, self._number(v.space)))
            self.results.append(node)

    def _moving(self, nodes: Sequence[fx.Node]) -> Set[fx.Node]:
        """What only products read, which may be made of its operands instead."""
        moves: Set[fx.Node] = set()
        for node in reversed(nodes):
            if node not in self.wanted and node.target in MOVES and all(
                    u in moves or u.target in (aten.mm.default, aten.addmm.default, aten.t.default)
                    for u in node.users):
                moves.add(node)
        return moves

    def _graphs(self, nodes: Sequence[fx.Node]) -> None:
        """Graphs come first."""
        read: Dict[fx.Node, None] = {}
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if node not in read and isinstance(value_of(node), torch.Tensor):
                read[node] = None
                if self.is_here(node):
                    stack += node.all_input_nodes
        order = {n: k for k, n in enumerate(self.plan.graph.nodes)}
        for node in sorted(read, key=lambda n: order[n]):
            self.text.now = node
            if self.is_here(node) and node.target in EDGES:
                self.graph(Edge(node).relation(self.axes)[0])
            elif constant(node) is None and index_of(node) is None:
                for axis in self.axes.axes(node):
                    r = axis.find().relation
                    if r is not None:
                        self.graph(r)

    def program(self) -> str:
        self._drop_unread()
        head = ["program @torch {"]
        edges = {self._number(e): number for number, e, _ in self.graphs.values()}
        edges.update(self.owned)
        for k, axis in enumerate(self.spaces):
            if k in edges:
                head.append(f"  space e{k} edge ? of %{edges[k]}")
            elif axis.relation is not None:
                raise Unsupported(self.results[0], "edges without their relation")
            elif k in self.columns:
                head.append(f"  space n{k} node {self.columns[k]}")
            else:
                head.append(f"  space n{k} node ?")
        return "\n".join(head + self.text.lines + ["}\n"])

    def ends(self) -> List[Ends]:
        found = []
        for k, r in enumerate(self.relations):
            _, edges, sides = self.graphs[id(r)]
            src, dst, on = (int(s[1:]) for s in (sides[0], sides[1], edges))
            found.append(Ends(f"r{k}", src, dst, on, r.lone))
        return found


def _node_of_line(text: str, t: Translator, message: str) -> Optional[fx.Node]:
    """Whose value a message of the parser or the verifier speaks of."""
    number = re.search(r"%(\d+)", message)
    at = re.match(r"torch:(\d+):", message)
    if at:
        line = text.split("\n")[int(at.group(1)) - 1]
        number = re.match(r"\s*%(\d+)", line) or number
    if number and int(number.group(1)) < len(t.text.nodes):
        return t.text.nodes[int(number.group(1))]
    return None
