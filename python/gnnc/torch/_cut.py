"""A graph cut into parts that gnnc runs and operators that torch runs, and the code for both."""

from __future__ import annotations

import operator
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import sympy
import torch
from torch import fx

from .._errors import ModelError
from ._graphs import graph_alone, is_index_input, is_random, is_size, prepare
from ._ir import Text, Value, number
from ._program import Alone, Ends, Input, Output, Program, watch
from ._rules import EDGES, MOVES, RULES, Edge, aten, constant, index_of
from ._spaces import Axes, Axis, Relation, Unsupported, size_of, value_of

# What may take sizes that change.
SIZED = {aten.view.default, aten.reshape.default, aten.expand.default, aten._unsafe_view.default,
         aten.slice_backward.default, aten.slice.Tensor, aten.mul.Tensor, aten.div.Tensor,
         aten.add.Tensor, aten.sub.Tensor, aten.mul.Scalar, aten.div.Scalar}
_ELEMS = {torch.float32: "f32", torch.bool: "bool"}


class Left(NamedTuple):
    """An operator that torch runs, how often, and why."""

    operator: str
    why: str


class Cut:
    """What became of a graph."""

    def __init__(self) -> None:
        self.programs: List[Program] = []
        self.parts: List[List[str]] = []   # operators of each
        self.left: List[Left] = []
        self.alone: List[str] = []         # operators that are run once a graph
        self.masks = 0
        self.source = ""


def name_of(node: fx.Node) -> str:
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return str(target).replace(".default", "")
    return getattr(target, "__name__", str(target))


# Which side runs what -----------------------------------------------------------------------------

class Plan:
    """Sides and levels of all values: torch has the even levels, gnnc the odd ones."""

    def __init__(self, gm: fx.GraphModule, known: Dict[Any, Any],
                 banned: Dict[fx.Node, str]) -> None:
        self.graph, self.axes, self.banned = gm.graph, Axes(known), banned
        self.side: Dict[fx.Node, str] = {}
        self.why: Dict[fx.Node, str] = {}
        self.level: Dict[fx.Node, int] = {}
        self.alone = graph_alone(gm.graph)
        self._sides()
        self._levels()

    def _sides(self) -> None:
        for node in self.graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                self.side[node] = "input"
            elif node.op == "output":
                continue
            elif constant(node) is not None:
                self.side[node] = "constant"
            elif self._is_index(node):
                self.side[node] = "index"
            elif node in self.alone:
                self.side[node] = "alone"
            elif node.target is aten._assert_scalar.default:
                self.side[node] = "alone" if self._size_of_alone(node) else "torch"
                self.why[node] = "size"
            elif is_size(node):
                self.side[node] = "alone" if self._size_of_alone(node) else "torch"
                self.why[node] = "size"
            else:
                self._try(node)
        self.floating: Set[fx.Node] = set()
        for node in self.graph.nodes:
            if self.side.get(node) != "gnnc" or RULES[node.target].work or node.target in EDGES:
                continue
            if all(self.side.get(a) in ("input", "constant") or a in self.floating
                   for a in node.all_input_nodes):
                self.floating.add(node)

    def _is_index(self, node: fx.Node) -> bool:
        found = index_of(node)
        return found is not None and found[0] is not node

    def _size_of_alone(self, node: fx.Node) -> bool:
        return any(self.side.get(a) == "alone" for a in node.all_input_nodes) and \
            all(self.side.get(a) in ("alone", "input", "constant") and
                (self.side.get(a) == "alone" or is_size(a)) for a in node.all_input_nodes)

    def _try(self, node: fx.Node) -> None:
        self.side[node] = "torch"
        if is_random(node):
            self.why[node] = "random"
            return
        if node in self.banned:
            self.why[node] = self.banned[node]
            return
        r = RULES.get(node.target)
        if r is None:
            self.why[node] = "gnnc has no such operator"
            return
        try:
            self._check_types(node)
            self.axes.same(node, r.meets(self.axes, node))  # type: ignore[arg-type]
            self.side[node] = "gnnc"
        except Unsupported as e:
            self.why[node] = e.why
        except (IndexError, KeyError, TypeError, AttributeError) as e:
            self.why[node] = f"arguments of another kind ({e})"

    def _check_types(self, node: fx.Node) -> None:
        for a in [node, *node.all_input_nodes]:
            val = value_of(a)
            if isinstance(val, torch.Tensor):
                if index_of(a) is not None and node.target in EDGES and a is not node:
                    continue
                if val.dtype not in _ELEMS:
                    raise Unsupported(node, f"of {str(val.dtype).replace('torch.', '')}")
                if val.device.type != "cpu" or val.layout != torch.strided:
                    raise Unsupported(node, "not a dense tensor of the CPU")
                if any(s == 0 for s in self.axes.shape(a)):
                    raise Unsupported(node, "a tensor without elements")
                if val.dim() > 5:
                    raise Unsupported(node, "of more than five axes")
            elif a is not node and is_size(a) and node.target not in SIZED:
                raise Unsupported(node, "of a size that is computed")
            elif isinstance(val, (tuple, list)):
                raise Unsupported(node, "of several tensors")

    def _levels(self) -> None:
        drawn = 0
        for node in self.graph.nodes:
            side = self.side.get(node)
            if side in (None, "input", "constant", "alone") or node in self.floating:
                self.level[node] = 0
                continue
            level = 1 if side == "gnnc" else 0
            for a in node.all_input_nodes:
                of = self.level[a]
                if side == "gnnc" and is_size(a):
                    continue  # gnnc knows how many rows there are
                if side == "index":
                    level = max(level, of)
                elif (of % 2 == 1) == (side == "gnnc"):
                    level = max(level, of)
                else:
                    level = max(level, of + 1)
            if side == "torch" and (is_random(node) or not _droppable(node)):
                level = max(level, drawn)
                drawn = level
            self.level[node] = level

    def in_level(self, level: int) -> List[fx.Node]:
        return [n for n in self.graph.nodes if self.side.get(n) == "gnnc" and
                self.level[n] == level and n not in self.floating]


def _droppable(node: fx.Node) -> bool:
    return not node.is_impure()


# A part as a program ------------------------------------------------------------------------------

class Translator:
    """The operators of one level, as a program."""

    def __init__(self, plan: Plan, level: int) -> None:
        self.plan, self.axes, self.level = plan, plan.axes, level
        self.text = Text()
        self.values: Dict[fx.Node, Value] = {}
        self.spaces: List[Axis] = []
        self.relations: List[Relation] = []
        self.graphs: Dict[int, Tuple[int, str, List[str]]] = {}
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
            v = self.text.add("input", (), elem, space, dims, name=name)
            number = self._number(space)
            self.inputs.append(Input(name, elem, dims, number, number is not None and
                                     self.spaces[number].relation is not None,
                                     node in self.plan.alone or
                                     bool(node.meta.get("gnnc_fixed"))))
            self.sources.append(node)
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
        head = ["program @torch {"]
        edges = {self._number(e): number for number, e, _ in self.graphs.values()}
        for k, axis in enumerate(self.spaces):
            if k in edges:
                head.append(f"  space e{k} edge ? of %{edges[k]}")
            elif axis.relation is not None:
                raise Unsupported(self.results[0], "edges without their relation")
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


# All of it ----------------------------------------------------------------------------------------

class Cutter:
    """Plans, translates, and plans again without what could not be translated."""

    def __init__(self, gm: fx.GraphModule, known: Dict[Any, Any], mode: Optional[str],
                 threads: int, user_outputs: Optional[int]) -> None:
        prepare(gm, known)
        self.gm, self.known, self.mode, self.threads = gm, known, mode, threads
        self.user_outputs = user_outputs
        self.banned: Dict[fx.Node, str] = {}
        for node in gm.graph.nodes:
            target = node.target
            if isinstance(target, torch._ops.OpOverload) and (
                    target._schema.is_mutable or target is aten.as_strided.default):
                self.banned = {n: f"the graph has {name_of(node)}, which goes by memory"
                               for n in gm.graph.nodes}
                break

    def cut(self) -> Tuple[Any, Cut]:
        while True:
            try:
                return self._attempt()
            except Unsupported as e:
                if e.node is None or e.node in self.banned:
                    raise
                self.banned[e.node] = e.why

    def _attempt(self) -> Tuple[Any, Cut]:
        plan = Plan(self.gm, self.known, self.banned)
        levels = sorted({plan.level[n] for n in plan.side if plan.side[n] == "gnnc" and
                         n not in plan.floating})
        for level in levels:
            nodes = plan.in_level(level)
            if not any(n.target in EDGES for n in nodes):
                for n in nodes:
                    self.banned[n] = "no edges in this part"
                return self._attempt()
        parts = []
        for level in levels:
            t = Translator(plan, level)
            nodes = plan.in_level(level)
            t.translate(nodes, [n for n in nodes if self._leaves(plan, n, level)])
            text = t.program()
            try:
                program = Program(text, t.ends(), t.inputs, t.outputs, self.mode, self.threads)
            except ModelError as e:
                node = _node_of_line(text, t, e.message)
                if node is None or node in self.banned:
                    node = nodes[-1] if nodes[-1] not in self.banned else None
                raise Unsupported(node, e.message.split("\n")[0]) from e
            parts.append((level, t, program))
        cut = Cut()
        return Writer(plan, parts, cut, self.user_outputs).write(), cut

    def _leaves(self, plan: Plan, node: fx.Node, level: int) -> bool:
        """Something outside of its part reads it."""
        return any(plan.side.get(u) != "gnnc" or
                   (plan.level[u] != level) for u in node.users)


class Writer:
    """The function that runs a cut graph, as text of Python."""

    def __init__(self, plan: Plan, parts: List[Tuple[int, Translator, Program]], cut: Cut,
                 user_outputs: Optional[int]) -> None:
        self.plan, self.parts, self.cut, self.user_outputs = plan, parts, cut, user_outputs
        self.names: Dict[Any, str] = {}
        self.globals: Dict[str, Any] = {"torch": torch}
        self.lines: List[str] = []
        self.placeholders = [n for n in plan.graph.nodes if n.op == "placeholder"]
        self.inside: Optional[Set[fx.Node]] = None
        self.watched: Dict[fx.Node, str] = {}

    def write(self) -> Any:
        plan, graph = self.plan, self.plan.graph
        args = []
        for k, node in enumerate(self.placeholders):
            self.names[node] = f"a{k}"
            args.append(f"a{k}")
        if args:
            self.lines.append(f"{', '.join(args)}{',' if len(args) == 1 else ''} = args")
        self.lines.append("args.clear()")
        self._alone()
        by_level: Dict[int, Any] = {level: (t, p) for level, t, p in self.parts}
        last = max([0, *plan.level.values()])
        for level in range(last + 1):
            if level in by_level:
                self._call(*by_level[level])
            for node in graph.nodes:
                if plan.side.get(node) == "torch" and plan.level[node] == level:
                    if node.users or not _droppable(node):
                        if not is_size(node) or node.users:
                            self._torch(node)
        self._results()
        return self._function(self.lines, "args")

    # torch's --------------------------------------------------------------------------------------

    def _torch(self, node: fx.Node) -> None:
        if _is_trivial_assert(node):
            return
        if getattr(node.target, "gnnc_random", False):
            self.cut.masks += 1
        elif not is_size(node) and not _is_counter(node) and node.target not in (
                operator.getitem, aten._assert_scalar.default):
            self.cut.left.append(Left(name_of(node), self.plan.why.get(node, "")))
        self._copy(node)

    def _copy(self, node: fx.Node) -> None:
        """The operator itself, run by torch."""
        if node.op == "get_attr":
            name = f"g{len(self.globals)}"
            self.globals[name] = _attribute(node.graph.owning_module, str(node.target))
            self.names[node] = name
            return
        args = ", ".join([self._render(a) for a in node.args] +
                         [f"{k}={self._render(v)}" for k, v in node.kwargs.items()])
        # What was a view of what torch lays out may be none of what gnnc does.
        f = self._global(_RESHAPED.get(node.target, node.target))
        self._name(node)
        self.lines.append(f"{self.names[node]} = {f}({args})")

    def _name(self, node: fx.Node) -> None:
        self.names[node] = f"v{len(self.names)}"

    def _global(self, value: Any) -> str:
        for name, known in self.globals.items():
            if known is value:
                return name
        name = f"g{len(self.globals)}"
        self.globals[name] = value
        return name

    def _render(self, a: Any) -> str:
        if isinstance(a, fx.Node):
            return self._get(a)
        if isinstance(a, (list, tuple)):
            inner = ", ".join(self._render(b) for b in a)
            return f"[{inner}]" if isinstance(a, list) else f"({inner},)" if a else "()"
        if isinstance(a, slice):
            return f"slice({self._render(a.start)}, {self._render(a.stop)}, {self._render(a.step)})"
        if a is None or isinstance(a, (bool, int, str)):
            return repr(a)
        if isinstance(a, float) and a == a and abs(a) != float("inf"):
            return repr(a)
        return self._global(a)

    def _get(self, node: fx.Node) -> str:
        """The name of a value; what is not made yet, and may be made anywhere, is made."""
        if node in self.names:
            return self.names[node]
        side = self.plan.side.get(node)
        if side in ("constant", "index", "input") or node in self.plan.floating or \
                (side == "alone" and self.inside is not None and node in self.inside):
            self._copy(node)
            return self.names[node]
        raise Unsupported(node, f"a value of '{side}' is read before it is made")

    # What the graph says alone --------------------------------------------------------------------

    def _watch(self, node: fx.Node) -> str:
        if node not in self.watched:
            name = f"w{len(self.watched)}"
            self.globals["watch"] = watch
            self.lines.append(f"{name} = watch({self.names[node]})")
            self.watched[node] = name
        return self.watched[node]

    def _alone(self) -> None:
        plan = self.plan
        inside = [n for n in plan.graph.nodes if plan.side.get(n) == "alone"]
        wanted = [n for n in inside if any(
            plan.side.get(u) != "alone" for u in n.users)]
        outside = {u for n in wanted for u in n.users if plan.side.get(u) != "alone"}
        wanted = [n for n in wanted if value_of(n) is not None and
                  not isinstance(value_of(n), (tuple, list)) and outside]
        if not wanted:
            return
        own = Writer(plan, [], self.cut, None)
        own.inside = set(inside)
        reads: Dict[fx.Node, None] = {}
        stack, seen = list(wanted), set()
        while stack:
            n = stack.pop()
            if n in seen:
                continue
            seen.add(n)
            if n.op == "placeholder":
                reads[n] = None
            else:
                stack += n.all_input_nodes
        order = {n: k for k, n in enumerate(plan.graph.nodes)}
        args = sorted(reads, key=lambda n: order[n])
        for k, n in enumerate(args):
            own.names[n] = f"a{k}"
        for n in inside:
            if n.target is aten._assert_scalar.default:
                own._get(n)
            elif n in seen:
                own._get(n)
                if not is_size(n):
                    self.cut.alone.append(name_of(n))
        results = ", ".join(own.names[n] for n in wanted)
        own.lines.append(f"return ({results},)")
        compute = Alone(own._function(own.lines, ", ".join(f"a{k}" for k in range(len(args)))))
        given = [self._watch(n) if is_index_input(n) else self.names[n] for n in args]
        for n in wanted:
            self._name(n)
        f = self._global(compute)
        self.lines.append(f"{', '.join(self.names[n] for n in wanted)}, = {f}({', '.join(given)})")

    # gnnc's ---------------------------------------------------------------------------------------

    def _call(self, t: Translator, program: Program) -> None:
        roots = []
        for r in t.relations:
            roots.append(self._watch(r.root) if is_index_input(r.root)
                         else self._unwatched(r.root))
        sizes = [self._size(axis) if axis.relation is None else "0" for axis in t.spaces]
        data = [self._get(n) for n in t.sources]
        for n in t.results:
            self._name(n)
        into = "".join(self.names[n] + ", " for n in t.results)
        f = self._global(program)
        self.lines.append(f"{into}= {f}(({''.join(s + ', ' for s in sizes)}), "
                          f"({''.join(r + ', ' for r in roots)}), "
                          f"({''.join(d + ', ' for d in data)}))")
        self.cut.programs.append(program)
        level = t.level
        self.cut.parts.append([name_of(n) for n in self.plan.in_level(level)])

    def _unwatched(self, root: fx.Node) -> str:
        """An index tensor that torch made: what the graph says alone is nobody else's."""
        name = self._get(root)
        if self.plan.side.get(root) == "alone":
            return name
        self.globals["watch"] = watch
        return f"watch({name})"

    def _size(self, axis: Axis) -> str:
        """The number of rows of a space, as an expression."""
        size = axis.find().size
        if isinstance(size, int):
            return str(size)
        known: Dict[Any, str] = {}
        for node, name in self.names.items():
            val = value_of(node)
            if isinstance(val, torch.SymInt):
                known.setdefault(size_of(val, self.plan.axes.known), name)
        for node, name in list(self.names.items()):
            val = value_of(node)
            if isinstance(val, torch.Tensor):
                for k, s in enumerate(self.plan.axes.shape(node)):
                    known.setdefault(s, f"{name}.shape[{k}]")
        if size in known:
            return known[size]
        names = {s: known[s] for s in size.free_symbols if s in known}
        if len(names) < len(size.free_symbols):
            raise Unsupported(None, f"the size {size} is not known where it is needed")
        order = sorted(names, key=str)
        f = self._global(_Size(size, order))
        return f"{f}({', '.join(names[s] for s in order)})"

    # Results --------------------------------------------------------------------------------------

    def _results(self) -> None:
        out = next(iter(reversed(self.plan.graph.nodes))).args[0]
        parts = []
        for k, a in enumerate(out):
            if not isinstance(a, fx.Node):
                parts.append(repr(a))
                continue
            own = self.user_outputs is None or k < self.user_outputs
            side = self.plan.side.get(a)
            if not own and a in self.watched:
                parts.append(self.watched[a])
                continue
            name = self._get(a)
            # What is kept for later calls is not handed out.
            copied = own and side in ("alone", "index") and not is_size(a)
            parts.append(f"{name}.clone()" if copied else name)
        self.lines.append(f"return [{', '.join(parts)}]")

    def _function(self, lines: List[str], args: str) -> Any:
        text = f"def run({args}):\n" + "\n".join("    " + line for line in _freed(lines)) + "\n"
        space = dict(self.globals)
        exec(compile(text, "<gnnc.torch>", "exec"), space)  # of names and arguments made above
        self.cut.source += text
        return space["run"]


_RESHAPED = {aten.view.default: aten.reshape.default,
             aten._unsafe_view.default: aten.reshape.default}


class _Size:
    """A size, of the symbols in it."""

    def __init__(self, expr: Any, order: List[Any]) -> None:
        self.expr, self.order = expr, order
        self.of = sympy.lambdify(order, expr, "math")

    def __call__(self, *values: int) -> int:
        return int(self.of(*values))


def _is_counter(node: fx.Node) -> bool:
    val = value_of(node)
    return isinstance(val, torch.Tensor) and val.dim() == 0 and not val.is_floating_point()


def _is_trivial_assert(node: fx.Node) -> bool:
    """That a size is not negative, which the size of a tensor never is."""
    if node.target is not aten._assert_scalar.default:
        return False
    of = node.args[0]
    if not isinstance(of, fx.Node):
        return of is True
    val = value_of(of)
    expr = getattr(getattr(val, "node", None), "expr", None)
    return bool(re.fullmatch(r"(u\d+) >= 0|0 <= (u\d+)", str(expr)))


def _attribute(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


_NAME = re.compile(r"\bv\d+\b")


def _freed(lines: List[str]) -> List[str]:
    """Values are let go behind the last line that reads them."""
    last: Dict[str, int] = {}
    for k, line in enumerate(lines):
        for name in _NAME.findall(line):
            last[name] = k
    out = []
    for k, line in enumerate(lines):
        gone = sorted(n for n, at in last.items() if at == k)
        if gone and not line.startswith("return"):
            line += f"; del {', '.join(gone)}"
        out.append(line)
    return out
