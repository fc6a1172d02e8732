"""Whole training steps: forward, loss, backward and the optimizer as one program."""

from __future__ import annotations

import contextlib
import types
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
import torch._dynamo
from torch import fx
from torch._dynamo.exc import BackendCompilerFailed, FailOnRecompileLimitHit
from torch._dynamo.exc import Unsupported as NotCaptured
from torch._functorch._aot_autograd import descriptors
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

from .._errors import Error
from . import _backend
from ._cut import Cutter
from ._graphs import is_random, is_size
from ._optimizers import Optimizer, Taking
from ._plan import Plan
from ._program import Program
from ._rules import aten
from ._spaces import Unsupported, value_of
from ._training import StepProgram
from ._translate import Translator
from ._write import Cut, Writer, _is_counter, name_of


class Layout(NamedTuple):
    """What a graph of a step takes and gives, by numbers of its inputs."""

    loss: fx.Node
    grads: Dict[int, fx.Node]     # gradients, by input
    replaced: Dict[int, fx.Node]  # what inputs become: running statistics, counters
    inputs: Dict[int, fx.Node]


def _joint(gm: fx.GraphModule, inputs: Sequence[Any]) -> Tuple[fx.GraphModule, Layout]:
    """Forward and backward as one graph, of a loss whose gradient is 1."""
    with contextlib.ExitStack() as stack:
        joint = aot_export_joint_with_descriptors(
            stack, gm, tuple(inputs), decompositions=_backend._taken_apart()).graph_module
    of: Dict[int, fx.Node] = {}
    for node in list(joint.graph.nodes):
        if node.op != "placeholder":
            continue
        desc = node.meta["desc"]
        if isinstance(desc, descriptors.TangentAOTInput):
            with joint.graph.inserting_after(node):
                one = joint.graph.call_function(aten.full.default, ([], 1.0))
            one.meta["val"] = node.meta["val"]
            node.replace_all_uses_with(one)
            joint.graph.erase_node(node)
        elif isinstance(desc, descriptors.PlainAOTInput):
            of[desc.idx] = node
        else:
            raise Unsupported(None, f"an input of the graph is {desc}")
    out = next(iter(reversed(joint.graph.nodes)))
    loss: List[fx.Node] = []
    grads: Dict[int, fx.Node] = {}
    replaced: Dict[int, fx.Node] = {}
    for node, desc in zip(out.args[0], out.meta["desc"]):
        if desc is None or node is None:
            continue
        if isinstance(desc, descriptors.PlainAOTOutput):
            loss.append(node)
        elif isinstance(desc, descriptors.GradAOTOutput):
            grads[_input(desc.grad_of)] = node
        elif isinstance(desc, descriptors.InputMutationAOTOutput):
            replaced[_input(desc.mutated_input)] = node
        else:
            raise Unsupported(None, f"a result of the graph is {desc}")
    if len(loss) != 1 or value_of(loss[0]).shape != () or \
            value_of(loss[0]).dtype != torch.float32:
        raise Unsupported(None, "the loss is no single number of float32")
    return joint, Layout(loss[0], grads, replaced, of)


def _input(desc: Any) -> int:
    if not isinstance(desc, descriptors.PlainAOTInput):
        raise Unsupported(None, f"an input of the graph is {desc}")
    return desc.idx


class _StepCutter(Cutter):
    """A graph that has to be one program, with the optimizer's part at its end."""

    program_type = StepProgram

    def __init__(self, gm: fx.GraphModule, layout: Layout, session: Any, taking: Taking,
                 params: List[int], buffers: List[int]) -> None:
        self.layout, self.taking, self.params, self.buffers = layout, taking, params, buffers
        self.replaced: List[torch.Tensor] = []  # of the step at hand, as `names` has them
        counters = [n for k, n in layout.replaced.items() if k not in buffers]
        out = next(iter(reversed(gm.graph.nodes)))
        out.args = ((layout.loss, *counters, *(layout.replaced[k] for k in buffers),
                     *(layout.grads[k] for k in params)),)
        self.n_results = 1 + len(counters)
        *_, last = (n for n in gm.graph.nodes if n.op == "placeholder")
        with gm.graph.inserting_after(last):
            self.numbers = gm.graph.placeholder("numbers")
        self.numbers.meta["val"] = value_of(layout.loss).new_empty(taking.numbers.shape)
        mode = None if session.mode == "default" else session.mode
        super().__init__(gm, {}, mode, session.threads, None, session.kinds)

    def cut(self) -> Tuple[Any, Cut]:
        if self.banned:
            raise Unsupported(None, next(iter(self.banned.values())))
        plan = Plan(self.gm, self.known, self.banned)
        self._require_whole(plan)
        self.results = next(iter(reversed(self.gm.graph.nodes))).args[0]
        part = self._part(plan, 1)
        cut = Cut()
        writer = Writer(plan, [(1, *part)], cut, None)
        writer.n_outputs = self.n_results
        return writer.write(), cut

    def _require_whole(self, plan: Plan) -> None:
        for node in plan.graph.nodes:
            side = plan.side.get(node)
            if side == "gnnc" and plan.level[node] > 1:
                raise Unsupported(node, f"torch runs something ahead of {name_of(node)}")
            if side != "torch" or is_random(node) or is_size(node) or _is_counter(node) or \
                    node.target is aten._assert_scalar.default:
                continue
            raise Unsupported(node, f"torch runs {name_of(node)}: {plan.why.get(node, '')}")

    def _translated(self, plan: Plan, level: int, sparse: Dict[fx.Node, str]) -> Translator:
        t = Translator(plan, level, sparse)
        inputs, self.names = self.layout.inputs, []
        t.states = {inputs[k]: f"w{j}" for j, k in enumerate(self.params)}
        t.states.update({inputs[k]: f"b{j}" for j, k in enumerate(self.buffers)})
        t.translate(plan.in_level(level), [self.results[0]])
        t.text.lines[-1] = t.text.lines[-1].replace('"o0"', '"loss"')
        counters = self.n_results
        buffers = self.results[counters:counters + len(self.buffers)]
        for j, grad in enumerate(self.results[counters + len(buffers):]):
            self._take(t, j, inputs[self.params[j]], grad)
        for j, (k, new) in enumerate(zip(self.buffers, buffers)):
            t.value(inputs[k])  # a state, though nothing may read it
            self._update(t, f"b{j}", t.value(new))
            self.names.append(f"b{j}")
        return t

    def _update(self, t: Translator, name: str, v: Any) -> None:
        if v.space is not None or v.turned:
            raise Unsupported(t.text.now, "what a state becomes has rows")
        t.text.lines.append(f'  update "{name}" %{v.id}')

    def _take(self, t: Translator, j: int, param: fx.Node, grad: fx.Node) -> None:
        """A parameter's step."""
        text, rule = t.text, self.taking.rule
        p, g = t.value(param), t.value(grad)
        if g.space is not None or g.turned:
            raise Unsupported(grad, "a gradient has rows")
        row = t.value(self.numbers)
        row = text.add("slice", (row,), "f32", None, (1, rule.numbers), f"axis = 0, start = {j}")

        def number(k: int) -> Any:
            one = text.add("slice", (row,), "f32", None, (1, 1), f"axis = 1, start = {k}")
            return text.broadcast(text.reshape(one, ()), None, p.dims)

        names = self.taking.kept[j]
        kept = {n: text.add("state", (), "f32", None, p.dims, name=f"w{j}.{n}") for n in names}
        value, new = rule.emit(text, number, p, g, kept)
        for name, v in [(f"w{j}", value)] + [(f"w{j}.{n}", v) for n, v in new.items()]:
            self._update(t, name, v)
        self.names += [f"w{j}"] + [f"w{j}.{n}" for n in names]

    def _program(self, t: Translator) -> Program:
        program = super()._program(t)
        program.names = list(self.names)  # type: ignore[attr-defined]
        program.replaced = self.replaced  # type: ignore[attr-defined]
        return program


class _Whole:
    """What torch's compiled function calls for a graph whose step is one program."""

    taken = 0  # steps

    def __init__(self, gm: fx.GraphModule, inputs: Sequence[Any], optimizer: Optimizer,
                 session: Any) -> None:
        joint, layout = _joint(gm, inputs)
        self.order = [n.meta["desc"].idx for n in joint.graph.nodes if n.op == "placeholder"]
        place = optimizer.places()
        self.params = sorted((k for k in layout.grads if id(inputs[k]) in place),
                             key=lambda k: place[id(inputs[k])])
        self.buffers = [k for k, n in layout.replaced.items()
                        if value_of(n).dtype == torch.float32]
        self.counters = [k for k in layout.replaced if k not in self.buffers]
        if not self.params:
            raise Unsupported(None, "the loss depends on no parameter of the optimizer")
        self.taking = Taking(optimizer, [inputs[k] for k in self.params])
        cutter = _StepCutter(joint, layout, session, self.taking, self.params, self.buffers)
        self.replaced = cutter.replaced
        self.run, self.cut = cutter.cut()

    @torch.no_grad()
    def __call__(self, *args: Any) -> List[torch.Tensor]:
        taking = self.taking
        for k, p in zip(self.params, taking.params):
            if args[k] is not p:
                raise ValueError("gnnc.torch.compile_step: a parameter of the model is another "
                                 "tensor than when the step was compiled; compile it again")
        try:
            self.replaced[:] = taking.tensors() + [args[k] for k in self.buffers]
            loss, *counted = self.run([args[k] for k in self.order] + [taking.numbers])
        except BaseException:
            taking.undo()
            raise
        taking.done()
        self.taken += 1
        torch.autograd.graph.increment_version(self.replaced)
        for k, new in zip(self.counters, counted):
            args[k].copy_(new)
        return [loss]


def _alone(f: Any) -> Any:
    """The function with code of its own: what torch keeps, and how much, goes by code."""
    return types.FunctionType(f.__code__.replace(), f.__globals__, f.__name__, None, f.__closure__)


class CompiledStep:
    """What compile_step gives: called with what the model takes, it trains it by one step.

    `whole`: whether the last step was one program; None: there was none.  `why` it was not.
    """

    def __init__(self, model: Any, loss: Any, optimizer: torch.optim.Optimizer,
                 options: Dict[str, Any]) -> None:
        def forward(args: Tuple[Any, ...], kwargs: Dict[str, Any],
                    target: Tuple[Any, ...]) -> torch.Tensor:
            return loss(model(*args, **kwargs), *target)

        if options.get("check"):
            raise ValueError("gnnc.torch.compile_step: the option 'check' is of the backend; a "
                             "step cannot be taken twice")
        self.optimizer = Optimizer(optimizer)
        self.options = _backend.checked(options)
        self.whole: Optional[bool] = None
        self.why = ""
        self._made: List[_Whole] = []
        self._one = torch.compile(_alone(forward), backend=self._compile, fullgraph=True)
        self._parts = torch.compile(_alone(forward), backend=_backend.backend, options=options)

    def _compile(self, gm: fx.GraphModule, inputs: Sequence[Any]) -> Any:
        session = _backend._Session(self.options, None)
        session.look(inputs)
        made = _Whole(gm, inputs, self.optimizer, session)
        for x in _backend._listening:
            x.graphs.append(("step", made.cut))
        self._made.append(made)
        return made

    def _taken(self) -> int:
        return sum(made.taken for made in self._made)

    def __call__(self, *args: Any, target: Any = (), **kwargs: Any) -> torch.Tensor:
        target = (target,) if isinstance(target, torch.Tensor) else tuple(target)
        with torch.enable_grad():
            if not self.why:
                try:
                    before = self._taken()
                    loss = self._one(args, kwargs, target)
                    if self._taken() == before:  # torch runs it as it is written
                        self._say("torch was told not to compile")
                        return self._step_of(loss)
                    self.whole = True
                    return loss
                except BackendCompilerFailed as e:
                    if not isinstance(e.inner_exception, (Unsupported, Error)):
                        raise
                    self._say(str(e.inner_exception))
                except (NotCaptured, FailOnRecompileLimitHit) as e:
                    self._say(str(e).strip().split("\n")[0])
            return self._by_parts(args, kwargs, target)

    def _say(self, why: str) -> None:
        self.why, self.whole = why, False
        warnings.warn(f"gnnc.torch.compile_step: a step is no one program, and torch's optimizer "
                      f"takes it: {why}", stacklevel=4)

    def _by_parts(self, args: Any, kwargs: Any, target: Any) -> torch.Tensor:
        return self._step_of(self._parts(args, kwargs, target))

    def _step_of(self, loss: torch.Tensor) -> torch.Tensor:
        of = self.optimizer.of
        of.zero_grad()
        loss.backward()
        of.step()
        return loss.detach()


def compile_step(model: Any, loss: Any, optimizer: torch.optim.Optimizer, *,
                 options: Optional[Dict[str, Any]] = None) -> CompiledStep:
    """A training step: `step(*inputs, target=...)` computes loss(model(*inputs), *target), its
    gradients and the optimizer's step, and gives the loss, which is the one before the step.

    Where that is one program parameters and states of the optimizer are replaced in their own
    storage: `state_dict()` of both is right at any time, and gradients are not kept.  Else torch's
    optimizer takes the step behind torch.compile's, and a warning says why, once.

    Optimizers are Adam, AdamW and SGD, with all their numbers, which may change between steps.
    TypeError: another one; ValueError: capturable, differentiable, numbers that are tensors, hooks.
    """
    return CompiledStep(model, loss, optimizer, dict(options or {}))
