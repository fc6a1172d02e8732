"""The function that runs a cut graph, and what is said of it."""

from __future__ import annotations

import operator
import re
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

import sympy
import torch
from torch import fx

from ._graphs import is_index_input, is_size
from ._plan import Plan, _droppable
from ._program import Alone, Program, watch
from ._rules import aten
from ._spaces import Axis, Unsupported, size_of, value_of
from ._translate import Translator


class Left(NamedTuple):
    """An operator that torch runs, how often, and why."""

    operator: str
    why: str


class Cut:
    """What became of a graph."""

    def __init__(self) -> None:
        self.runners: List[Any] = []       # a Program or a Choice each
        self.parts: List[List[str]] = []   # operators of each
        self.left: List[Left] = []
        self.alone: List[str] = []         # operators that are run once a graph
        self.masks = 0
        self.source = ""

    @property
    def programs(self) -> List[Program]:
        """Of each part the one that was made last."""
        return [r if isinstance(r, Program) else r.programs[-1] for r in self.runners]


def name_of(node: fx.Node) -> str:
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return str(target).replace(".default", "")
    return getattr(target, "__name__", str(target))


class Writer:
    """The function that runs a cut graph, as text of Python."""

    def __init__(self, plan: Plan, parts: List[Tuple[int, Translator, Any]], cut: Cut,
                 user_outputs: Optional[int]) -> None:
        self.plan, self.parts, self.cut, self.user_outputs = plan, parts, cut, user_outputs
        self.names: Dict[Any, str] = {}
        self.globals: Dict[str, Any] = {"torch": torch}
        self.lines: List[str] = []
        self.placeholders = [n for n in plan.graph.nodes if n.op == "placeholder"]
        self.inside: Optional[Set[fx.Node]] = None
        self.watched: Dict[fx.Node, str] = {}
        self.n_outputs: Optional[int] = None  # all

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

    def _call(self, t: Translator, program: Any) -> None:
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
        self.cut.runners.append(program)
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
        for k, a in enumerate(out[:self.n_outputs]):
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
