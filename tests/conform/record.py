#!/usr/bin/env python3
"""Records what PyTorch Geometric computes, for gnnc to be compared with. See README.md for the
format.

    python3 tests/conform/record.py            # write tests/conform/data/*.safetensors
    python3 tests/conform/record.py --check    # compute again and compare with the files
"""
import argparse
import pathlib
import sys
import warnings
import zlib

warnings.filterwarnings("ignore")
import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric

import cases
import graphs
import store

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
from lion import Lion

DATA = pathlib.Path(__file__).parent / "data"
# no input of a kink nearer to it than this: single precision must not fall on the other side
MARGIN = 2e-4
# how far PyTorch Geometric's own single-precision run may be from the reference, scaled
SINGLE = 2e-5
EDGE_INPUTS = ("edge_weight", "edge_attr")
OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD,
              "rmsprop": torch.optim.RMSprop, "adamax": torch.optim.Adamax, "lion": Lion}


class Kinks:
    """Sees the inputs of relu and leaky_relu; `nearest` is the least distance from their kink."""

    def __enter__(self):
        self.nearest, self.saved = float("inf"), {name: getattr(F, name)
                                                  for name in ("relu", "leaky_relu")}
        for name, function in self.saved.items():
            setattr(F, name, self.watch(function))
        return self

    def __exit__(self, *_):
        for name, function in self.saved.items():
            setattr(F, name, function)

    def watch(self, function):
        def watched(x, *args, **kwargs):
            if x.numel():
                self.nearest = min(self.nearest, x.detach().abs().min().item())
            return function(x, *args, **kwargs)
        return watched


def spell(value):
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def spell_args(args):
    return ", ".join(f"{name} = {spell(value)}" for name, value in args.items())


def metadata(**fields):
    versions = {"pyg": torch_geometric.__version__, "torch": torch.__version__.split("+")[0]}
    return {name: str(value) for name, value in (fields | versions).items()}


def draw_state(module, rng):
    """Initial values for everything in the state_dict, none of them special."""
    state = {}
    for name, old in sorted(module.state_dict().items()):
        leaf, shape = name.rsplit(".", 1)[-1], tuple(old.shape)
        if leaf == "num_batches_tracked":
            state[name] = np.int64(3) * np.ones(shape, np.int64)
            continue
        if leaf in ("running_var", "p") or (leaf == "weight" and len(shape) == 1):
            low, high = 0.5, 1.5
        elif leaf == "weight":
            low, high = -(6 / sum(shape)) ** 0.5, (6 / sum(shape)) ** 0.5
        else:
            low, high = (-1, 1) if leaf.startswith("att") else (-0.5, 0.5)
        state[name] = rng.uniform(low, high, shape).astype(np.float32)
    return state


def load(module, state, dtype):
    module.to(dtype)
    module.load_state_dict({name: torch.from_numpy(np.array(value))
                            for name, value in state.items()})
    return module


def tensors_of(arrays, dtype):
    """Inputs as torch tensors: floating ones converted, and all of those leaves that want a
    gradient."""
    out = {}
    for name, array in arrays.items():
        tensor = torch.from_numpy(np.array(array))
        out[name] = tensor.to(dtype).requires_grad_() if tensor.is_floating_point() else tensor
    return out


def numpy(tensor):
    """A contiguous copy: a gradient may be an expanded view, and a parameter's storage changes at
    the next step."""
    return np.array(tensor.detach().numpy(), order="C")


def gradients(module, inputs):
    """A None gradient is a zero: nothing depended on it."""
    named = list(module.named_parameters()) + [(n, t) for n, t in inputs.items() if t.requires_grad]
    return {f"grad.{n}": numpy(t.grad if t.grad is not None else torch.zeros_like(t))
            for n, t in named}


def draw_inputs(nodes, edge_index, rng, edges="", ties=False, symmetric=False):
    arrays = {"edge_index": edge_index}
    if ties:
        arrays["x"] = rng.choice(np.array([-1.5, -0.5, 0.5, 1.5], np.float32),
                                 (nodes, cases.FEATURES))
    else:
        arrays["x"] = rng.standard_normal((nodes, cases.FEATURES)).astype(np.float32)
    count = edge_index.shape[1]
    if edges == "edge_weight":
        draw = lambda: rng.uniform(0.2, 2.0)
        weights = graphs.symmetric_weights(edge_index, draw) if symmetric else [
            draw() for _ in range(count)]
        arrays["edge_weight"] = np.array(weights, np.float32)
    if edges == "edge_attr":
        arrays["edge_attr"] = rng.standard_normal((count, cases.EDGE_FEATURES)).astype(np.float32)
    return arrays


def apply(module, inputs):
    if isinstance(module, (cases.BatchNorm, cases.LayerNorm)):
        return module(inputs["x"])
    edges = {name: inputs[name] for name in EDGE_INPUTS if name in inputs}
    return module(inputs["x"], inputs["edge_index"], **edges)


def run_layer(case, arrays, state, dtype, cot):
    module = load(case.build(), state, dtype).train(case.training)
    inputs = tensors_of(arrays, dtype)
    out = apply(module, inputs)
    result = {"out": numpy(out)}
    (out * torch.from_numpy(np.array(cot)).to(dtype)).sum().backward()
    buffers = {n: b for n, b in module.named_buffers() if "running" in n or "num_batches" in n}
    after = {f"after.{n}": numpy(b) for n, b in buffers.items()} if case.training else {}
    return result | gradients(module, inputs) | after


def record_layer(case, kind, rng):
    if case.edges == "edge_weight":
        kind = graphs.SINGLE_LOOPS.get(kind, kind)
    nodes, edge_index = graphs.graph(kind)
    arrays = draw_inputs(nodes, edge_index, rng, case.edges, case.ties, kind == "symmetric")
    state = draw_state(case.build(), rng)
    width = run_layer_width(case, arrays, state)
    cot = rng.standard_normal((nodes, width)).astype(np.float32)
    run = lambda dtype: run_layer(case, arrays, state, dtype, cot)
    params = {f"param.{name}": value for name, value in state.items()}
    about = metadata(layer=case.layer, args=spell_args(case.args), graph=kind,
                     training=spell(case.training),
                     inputs=", ".join(["g", "x"] + ([case.edges] if case.edges else [])))
    return run, arrays | params | {"cot": cot}, about


def run_layer_width(case, arrays, state):
    with torch.no_grad():
        module = load(case.build(), state, torch.float64).train(case.training)
        return apply(module, tensors_of(arrays, torch.float64)).shape[1]


def optimizer_of(case, module):
    params = list(module.parameters())
    if case.decay_first_only:
        first = list(module.convs[0].parameters())
        rest = list(module.convs[1].parameters())
        params = [{"params": first}, {"params": rest, "weight_decay": 0.0}]
    options = dict(case.options)
    if "beta1" in options or "beta2" in options:
        options["betas"] = options.pop("beta1", 0.9), options.pop("beta2", 0.999)
    return OPTIMIZERS[case.optimizer](params, **options)


def run_train(case, arrays, state, dtype):
    """`out` and `grad.*` are of the first step, before its update; `loss` has one entry a step."""
    module = load(case.build(), state, dtype).train()
    inputs = tensors_of(arrays, dtype)
    optimizer = optimizer_of(case, module)
    losses, result = [], {}
    for step in range(case.steps):
        optimizer.zero_grad()
        inputs["x"].grad = None
        out = module(inputs["x"], inputs["edge_index"])
        loss = F.cross_entropy(out[inputs["mask"]], inputs["y"][inputs["mask"]])
        loss.backward()
        if step == 0:
            result = {"out": numpy(out)} | gradients(module, inputs)
        if case.clip:
            torch.nn.utils.clip_grad_norm_(module.parameters(), case.clip)
        optimizer.step()
        losses.append(loss.item())
    result["loss"] = np.array(losses, np.float64)
    return result | {f"after.{name}": numpy(value) for name, value in module.state_dict().items()}


def record_train(case, kind, rng):
    nodes, edge_index = graphs.graph(kind)
    arrays = draw_inputs(nodes, edge_index, rng)
    arrays["y"] = rng.integers(0, cases.CLASSES, nodes)
    arrays["mask"] = np.arange(nodes) % 3 != 1
    state = draw_state(case.build(), rng)
    params = {f"param.{name}": value for name, value in state.items()}
    options = dict(case.options) | ({"clip": case.clip} if case.clip else {})
    about = metadata(layer=case.layer, args=spell_args(case.args), graph=kind, training="true",
                     inputs="g, x", loss="cross_entropy over mask",
                     optimizer=f"{case.optimizer}({spell_args(options)})",
                     decay="convs.0" if case.decay_first_only else "all", steps=case.steps)
    return lambda dtype: run_train(case, arrays, state, dtype), arrays | params, about


def run_loss(case, arrays, dtype):
    inputs = tensors_of(arrays, dtype)
    mask = inputs["mask"]
    target = inputs["y" if case.target == "y" else "target"].detach()
    weight = inputs[case.weight].detach() if case.weight else None
    loss = case.function(inputs["x"][mask], target[mask], weight)
    loss.backward()
    return {"loss": np.array([loss.item()], np.float64), "grad.x": numpy(inputs["x"].grad)}


def record_loss(case, mask, rng):
    nodes, columns = 11, 4
    arrays = {"edge_index": np.zeros((2, 0), np.int64)}
    arrays["x"] = (2 * rng.standard_normal((nodes, columns))).astype(np.float32)
    arrays["mask"] = {"all": np.ones(nodes, bool), "some": np.arange(nodes) % 3 != 1,
                      "single": np.arange(nodes) == 6}[mask]
    if case.target == "y":
        arrays["y"] = rng.integers(0, columns, nodes)
    elif case.target == "target01":
        arrays["target"] = rng.integers(0, 2, (nodes, columns)).astype(np.float32)
    else:
        arrays["target"] = rng.standard_normal((nodes, columns)).astype(np.float32)
    if case.weight:
        arrays[case.weight] = rng.uniform(0.3, 3.0, columns).astype(np.float32)
    about = metadata(layer=case.layer, args=spell_args(case.args), graph="none", mask=mask)
    return lambda dtype: run_loss(case, arrays, dtype), arrays, about


def distance(result, reference):
    """The largest difference over all tensors, each scaled by its own largest value where that is
    over 1."""
    worst = 0.0
    for name, expected in reference.items():
        if expected.size:
            scale = max(1.0, np.abs(expected).max())
            worst = max(worst,
                        float(np.abs(result[name].astype(np.float64) - expected).max() / scale))
    return worst


def record(name, make):
    """Draws until no kink is near and single precision agrees: then any correct single-precision
    program agrees too."""
    for attempt in range(100):
        rng = np.random.default_rng([zlib.crc32(name.encode()), attempt])
        run, arrays, about = make(rng)
        with Kinks() as kinks:
            reference = run(torch.float64)
        single = distance(run(torch.float32), reference)
        if kinks.nearest > MARGIN and single < SINGLE:
            assert all(np.isfinite(value).all() for value in reference.values()), name
            return arrays | reference, about | {"single": f"{single:.1e}"}
    raise SystemExit(f"{name}: no draw keeps away from kinks")


def all_cases():
    for case in cases.LAYERS:
        for kind in case.graphs:
            yield f"{case.name}_{kind}", lambda rng, c=case, k=kind: record_layer(c, k, rng)
    for case in cases.TRAINS:
        for kind in case.graphs:
            yield f"{case.name}_{kind}", lambda rng, c=case, k=kind: record_train(c, k, rng)
    for case in cases.LOSSES:
        for mask in case.masks:
            yield f"{case.name}_{mask}", lambda rng, c=case, m=mask: record_loss(c, m, rng)


def check(path, tensors, about):
    """Same content up to the last bits, which may differ between machines."""
    if not path.exists():
        return "missing"
    old, old_about = store.decode(path.read_bytes())
    same = lambda a: {k: v for k, v in a.items() if k not in ("single", "pyg", "torch")}
    if same(old_about) != same(about) or old.keys() != tensors.keys():
        return "other names or metadata"
    if any(old[n].shape != t.shape or old[n].dtype != t.dtype for n, t in tensors.items()):
        return "other shapes or types"
    far = distance(old, {n: t.astype(np.float64) for n, t in tensors.items()})
    return f"differs by {far:.1e}" if far > 1e-12 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true",
                        help="compare with the files instead of writing them")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    args = parser.parse_args()
    torch.set_num_threads(1)
    DATA.mkdir(exist_ok=True)
    count = size = bad = 0
    written = set()
    for name, make in all_cases():
        if args.only not in name:
            continue
        tensors, about = record(name, make)
        path = DATA / f"{name}.safetensors"
        data = store.encode(tensors, about)
        count, size = count + 1, size + len(data)
        written.add(path)
        if args.check:
            problem = check(path, tensors, about)
            bad += bool(problem)
            if problem:
                print(f"{name}: {problem}")
        else:
            path.write_bytes(data)
    if not args.only:
        for path in sorted(set(DATA.glob("*.safetensors")) - written):
            print(f"{path.name}: no such case")
            bad += 1
    print(f"{count} cases, {size} bytes, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
