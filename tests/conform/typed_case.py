"""A case over several types of rows and kinds of edges, and how it is recorded; see README.md for
the format."""
import pathlib
import zlib
from dataclasses import dataclass, field, replace
from typing import Callable

import numpy as np
import torch
from torch import nn

import record
import store

DATA = pathlib.Path(__file__).parent / "typed"
ROWS = {"author": 4, "paper": 6, "venue": 0, "node": 7, "graph": 4}
WIDTH = {"author.x": 6, "paper.x": 4, "node.x": 6, "venue.x": 6, "g.attr": 3}
KINDS = 4  # of edges, and of nodes, the last of which has none
# Isolated rows, a loop, repeated edges, a relation without edges and a type without rows.
EDGES = {
    "writes": ("author", "paper", [(0, 1), (0, 2), (1, 2), (3, 0), (3, 1), (3, 4), (0, 1), (1, 4)]),
    "cites": ("paper", "paper", [(0, 1), (1, 2), (2, 2), (4, 1), (4, 1), (5, 0), (2, 4)]),
    "held": ("venue", "paper", []),
    "by": ("paper", "author", []),
    "g": ("node", "node",
          [(0, 1), (1, 2), (2, 0), (3, 3), (4, 5), (5, 4), (1, 4), (0, 5), (4, 1), (4, 1), (2, 5)]),
    "shown": ("paper", "venue", []),
    "member": ("node", "graph", [(0, 0), (1, 0), (2, 2), (3, 2), (4, 2), (5, 3), (6, 3)]),
}


@dataclass(frozen=True)
class Case:
    name: str
    inputs: str  # of the model in gnnc's spelling
    result: str  # "node.paper[5]"
    body: str
    build: Callable[[], nn.Module]
    run: Callable  # (module, inputs) -> tensor
    # a tensor of the state_dict as those that gnnc has
    names: Callable = lambda name, value: {name: value}
    helper: str = ""  # what the model needs besides
    # further columns: {"node.pos": lambda rng: rng.standard_normal((ROWS["node"], 3))}
    columns: dict = field(default_factory=dict)
    edges: dict = field(default_factory=dict)  # of relations, instead of those of EDGES


def and_edgeless(cases):
    """The cases, and each again where g has no edges."""
    return cases + [replace(case, name=f"{case.name}_edgeless", edges={"g": []}) for case in cases]


def pairs_of(case, name):
    return case.edges.get(name, EDGES[name][2])


def edge_index(case, name):
    pairs = np.array(pairs_of(case, name), np.int64).reshape(-1, 2)
    return np.ascontiguousarray(pairs.T)


def relations_of(case):
    return [name for name in EDGES if f"{name}: " in case.inputs]


def inputs_of(case, rng):
    """Columns of all types; tests bind those that the model reads."""
    arrays = {name: rng.standard_normal((ROWS[name.split(".")[0]], width)).astype(np.float32)
              for name, width in WIDTH.items() if name.endswith(".x")}
    edges, writes = len(pairs_of(case, "g")), len(pairs_of(case, "writes"))
    if "kind: edge of int" in case.inputs:
        arrays["g.kind"] = np.array([k % (KINDS - 1) for k in range(edges)], np.int64)
    if case.name == "hgt":
        arrays = {f"{t}.x": rng.standard_normal((ROWS[t], 8)).astype(np.float32)
                  for t in ("author", "paper")}
    if "attr: edge[" in case.inputs:
        arrays["g.attr"] = rng.standard_normal((edges, WIDTH["g.attr"])).astype(np.float32)
    if "writes.attr" in case.body:
        arrays["writes.attr"] = rng.standard_normal((writes, WIDTH["g.attr"])).astype(np.float32)
    if "type: node of int" in case.inputs:
        arrays["node.type"] = np.array([2 - k % (KINDS - 1) for k in range(ROWS["node"])], np.int64)
    if "writes.kind" in case.body:
        arrays["writes.kind"] = np.array([k % (KINDS - 1) for k in range(writes)], np.int64)
    for name, draw in case.columns.items():
        values = draw(rng)
        arrays[name] = values.astype(np.float32) if values.dtype.kind == "f" else values
    return arrays


def named(case, prefix, tensors):
    return {f"{prefix}.{n}": np.ascontiguousarray(v) for name, value in tensors
            for n, v in case.names(name, record.numpy(value)).items()}


def compute(case, arrays, state, cot, dtype):
    """The output as evaluation has it; gradients, and then buffers, of a step of training."""
    module = record.load(case.build(), state, dtype).eval()
    inputs = record.tensors_of(arrays, dtype)
    inputs |= {name: torch.from_numpy(edge_index(case, name)) for name in EDGES}
    out = case.run(module, inputs)
    trained = case.run(module.train(), inputs)
    (trained * torch.from_numpy(np.array(cot)).to(dtype)).sum().backward()
    grads = [(name, p.grad if p.grad is not None else torch.zeros_like(p))
             for name, p in module.named_parameters()]
    buffers = [(name, b) for name, b in module.named_buffers() if b.is_floating_point()]
    return ({"out": record.numpy(out)} | named(case, "grad", grads) |
            named(case, "after", buffers))


def model_text(case):
    return case.helper + f"model M() ({case.inputs}) -> {case.result} {{\n  {case.body}\n}}\n"


def record_case(case):
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    arrays = inputs_of(case, rng)
    state = record.draw_state(case.build(), rng)
    space, _, width = case.result.rstrip("]").partition("[")
    over = "g" if space == "edge" else space.removeprefix("edge.")
    rows = len(pairs_of(case, over)) if over in EDGES else ROWS[space.removeprefix("node.")]
    cot = rng.standard_normal((rows, int(width)) if width else rows).astype(np.float32)
    wide = compute(case, arrays, state, cot, torch.float64)
    single = compute(case, arrays, state, cot, torch.float32)
    far = record.distance(wide, {n: t.astype(np.float64) for n, t in single.items()})
    assert far < record.SINGLE, f"{case.name}: {far}"
    params = {}
    for name, value in state.items():
        params |= {f"param.{n}": np.ascontiguousarray(v)
                   for n, v in case.names(name, value).items()}
    relations = relations_of(case)
    edges = {f"edges.{name}": edge_index(case, name) for name in relations}
    spaces = [t for t in ROWS if any(t in EDGES[name][:2] for name in relations)]
    about = record.metadata(model=model_text(case), single=f"{far:.1e}", kinds=KINDS,
                            relations=";".join(" ".join((n, *EDGES[n][:2])) for n in relations),
                            spaces=";".join(f"{t} {ROWS[t]}" for t in spaces))
    owners = spaces + relations
    arrays = {name: value for name, value in arrays.items() if name.split(".")[0] in owners}
    return wide | arrays | params | edges | {"cot": cot}, about
