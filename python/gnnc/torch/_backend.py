"""The backend: what torch.compile calls, and what it says of what it did."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

import torch
import torch._dynamo
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func

from .._errors import Error
from ._cut import Cutter
from ._graphs import split
from ._matrices import kind_of
from ._program import Stats, context
from ._spaces import Unsupported
from ._write import Cut, Left, name_of

# Without these every self-loop ends a graph: how many there are depends on data.
torch._dynamo.config.capture_dynamic_output_shape_ops = True
torch._dynamo.config.capture_scalar_outputs = True

_OPTIONS = {"check": bool, "threads": int, "mode": str}
_MODES = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "eager"}


class Mismatch(AssertionError):
    """With the option `check`: gnnc's results differ from torch's."""


class Explanation:
    """Which operators ran where, of all graphs that were compiled.  `str` of it is for people."""

    def __init__(self) -> None:
        self.graphs: List[Tuple[str, Cut]] = []

    @property
    def left(self) -> Dict[str, str]:
        """Operators that torch runs in every call: {name: why}."""
        return {e.operator: e.why for _, c in self.graphs for e in c.left}

    @property
    def whole(self) -> bool:
        """Every graph has at most one program, and torch runs nothing but draws of dropout."""
        return bool(self.graphs) and not self.left and \
            all(len(c.programs) == 1 for _, c in self.graphs)

    def programs(self) -> List[str]:
        """The programs of tensor IR."""
        return [p.text for _, c in self.graphs for p in c.programs]

    def __str__(self) -> str:
        lines = []
        for k, (what, c) in enumerate(self.graphs):
            lines.append(f"graph {k}, {what}: {len(c.programs)} of gnnc's programs")
            for j, part in enumerate(c.parts):
                lines.append(f"  program {j}: {_counted(part)}")
            if c.masks:
                lines.append(f"  torch draws {c.masks} mask{'s' * (c.masks > 1)} of dropout")
            if c.alone:
                lines.append(f"  torch, once a graph: {_counted(c.alone)}")
            for (name, why), n in Counter((e.operator, e.why) for e in c.left).items():
                lines.append(f"  torch, {name}{f' ({n})' if n > 1 else ''}: {why}")
        return "\n".join(lines)

    __repr__ = __str__


def _counted(names: Sequence[str]) -> str:
    return ", ".join(f"{name}{f' ({n})' if n > 1 else ''}" for name, n in Counter(names).items())


_listening: List[Explanation] = []
_warned: Set[str] = set()


class _Session:
    """One call of the backend: a forward graph and its backward graph."""

    def __init__(self, options: Dict[str, Any], mode: Optional[str]) -> None:
        self.check = bool(options.get("check", False))
        self.threads = int(options.get("threads") or torch.get_num_threads())
        self.mode = options.get("mode") or mode
        self.known: Dict[Any, Any] = {}
        self.user_outputs: Optional[int] = None
        self.kinds: Dict[str, str] = {}  # of inputs of few non-zeros, by their names in graphs

    def look(self, inputs: Sequence[Any]) -> None:
        """At what the first call has: programs are made for that, and others when others come."""
        for k, t in enumerate(inputs):
            kind = kind_of(t)
            if kind is not None:
                self.kinds[f"primals_{k + 1}"] = self.kinds[f"arg{k}_1"] = kind

    def partition(self, joint: fx.GraphModule, inputs: Any, *, num_fwd_outputs: int,
                  **kwargs: Any) -> Tuple[fx.GraphModule, fx.GraphModule]:
        self.user_outputs = num_fwd_outputs
        return split(joint, self.known, num_fwd_outputs, **kwargs)

    def compile(self, gm: fx.GraphModule, what: str) -> Callable[..., Any]:
        outputs = self.user_outputs if what == "forward" else None
        plain = _copy(gm) if self.check else None
        mode = None if self.mode == "default" else self.mode
        try:
            run, cut = Cutter(gm, self.known, mode, self.threads, outputs, self.kinds).cut()
        except (Unsupported, Error) as e:
            _warn("", f"gnnc: torch runs a whole graph ({what}): {e}")
            cut = Cut()
            cut.left = [Left(name_of(n), str(e)) for n in gm.graph.nodes
                        if n.op == "call_function"]
            run = make_boxed_func(gm.forward)
        for e in cut.left:
            _warn(e.operator, f"gnnc: torch runs {e.operator}: {e.why} "
                              "(gnnc.torch.explain shows all)")
        for x in _listening:
            x.graphs.append((what, cut))
        if plain is not None:
            run = _checked(run, plain, what)
        run._boxed_call = True
        return run


def _warn(key: str, text: str) -> None:
    if (key or text) in _warned:
        return
    _warned.add(key or text)
    warnings.warn(text, stacklevel=2)


def _copy(gm: fx.GraphModule) -> Callable[..., Any]:
    graph = fx.Graph()
    out = graph.graph_copy(gm.graph, {})
    graph.output(out)
    return fx.GraphModule(gm, graph).forward


def _checked(run: Callable[..., Any], plain: Callable[..., Any], what: str) -> Callable[..., Any]:
    """Both, with the same draws, compared."""
    def both(args: List[Any]) -> Any:
        state = torch.get_rng_state()
        want = plain(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args])
        torch.set_rng_state(state)
        got = run(args)
        for k, (a, b) in enumerate(zip(got, want)):
            if not isinstance(b, torch.Tensor):
                continue
            if a.shape != b.shape or a.dtype != b.dtype:
                raise Mismatch(f"gnnc, {what}, result {k}: {a.dtype} {tuple(a.shape)}, "
                               f"torch has {b.dtype} {tuple(b.shape)}")
            if not a.is_floating_point():
                if not torch.equal(a, b):
                    raise Mismatch(f"gnnc, {what}, result {k} differs from torch's")
            elif not torch.allclose(a, b, rtol=1e-3, atol=1e-4 * (1 + _largest(b)),
                                    equal_nan=True):
                raise Mismatch(f"gnnc, {what}, result {k} differs from torch's by "
                               f"{(a - b).abs().max().item():.3g}")
        return got
    return both


def _largest(b: torch.Tensor) -> float:
    finite = b[b.isfinite()]
    return finite.abs().max().item() if finite.numel() else 0.0


def _taken_apart() -> Any:
    """Norms and losses, as what they are made of."""
    from torch._decomp import get_decompositions
    aten = torch.ops.aten
    return get_decompositions([
        aten._native_batch_norm_legit_functional, aten.native_batch_norm,
        aten.native_batch_norm_backward, aten._native_batch_norm_legit_no_training,
        aten._native_batch_norm_legit,
        aten.native_layer_norm, aten.native_layer_norm_backward,
        aten.mse_loss, aten.mse_loss_backward, aten.smooth_l1_loss, aten.smooth_l1_loss_backward,
        aten.huber_loss, aten.huber_loss_backward, aten.binary_cross_entropy,
        aten.binary_cross_entropy_backward, aten.binary_cross_entropy_with_logits,
        aten.log_sigmoid_forward, aten.log_sigmoid_backward])


def checked(options: Dict[str, Any], mode: Optional[str] = None) -> Dict[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(f"gnnc has no option '{name}': there are {', '.join(_OPTIONS)}")
    mode = options.get("mode") or mode
    if mode is not None and mode not in _MODES:
        raise ValueError(f"gnnc has no mode '{mode}': there are {', '.join(sorted(_MODES))}")
    return options


def backend(gm: fx.GraphModule, inputs: Sequence[Any], *, mode: Optional[str] = None,
            options: Optional[Dict[str, Any]] = None) -> Callable[..., Any]:
    """What torch.compile(model, backend="gnnc") calls."""
    options = checked(dict(options or {}), mode)
    context()
    s = _Session(options, mode)
    s.look(inputs)
    compiled = aot_autograd(fw_compiler=lambda g, _: s.compile(g, "forward"),
                            bw_compiler=lambda g, _: s.compile(g, "backward"),
                            inference_compiler=lambda g, _: s.compile(g, "inference"),
                            partition_fn=s.partition, decompositions=_taken_apart())
    return compiled(gm, inputs)


def _register() -> None:
    """The name "gnnc" for torch.compile, where no installed package has told it already."""
    from importlib.metadata import entry_points
    found = entry_points()
    group = "torch_dynamo_backends"
    mine = found.select(group=group) if hasattr(found, "select") else found.get(group, [])
    if not any(e.name == "gnnc" for e in mine):
        torch._dynamo.register_backend(backend, name="gnnc")


_register()


def explain(model: Any, *args: Any, backward: bool = True, options: Optional[Dict[str, Any]] = None,
            **kwargs: Any) -> Explanation:
    """Compiles a model for these arguments, runs it once, and says what ran where.

    `backward`: its results that have gradients are gone back over, too.  Gradients that are there
    stay as they are.  What was compiled before is compiled anew.
    """
    x = Explanation()
    torch._dynamo.reset()
    parameters = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    before = [p.grad for p in parameters]
    _listening.append(x)
    state = torch.get_rng_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = torch.compile(model, backend=backend, options=options or {})(*args, **kwargs)
            total = _total(out) if backward else None
            if total is not None:
                total.backward()
    finally:
        _listening.remove(x)
        torch.set_rng_state(state)
        for p, g in zip(parameters, before):
            p.grad = g
        torch._dynamo.reset()
    return x


def _total(out: Any) -> Optional[torch.Tensor]:
    if isinstance(out, torch.Tensor):
        return out.sum() if out.requires_grad else None
    if isinstance(out, dict):
        out = list(out.values())
    if isinstance(out, (list, tuple)):
        parts = [t for t in map(_total, out) if t is not None]
        return sum(parts[1:], parts[0]) if parts else None
    return None


def stats() -> Dict[str, int]:
    """Counts of this process: programs compiled, relations made, graphs copied, and so on."""
    return {k: v for k, v in vars(Stats).items() if isinstance(v, int)}
