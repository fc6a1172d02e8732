#!/usr/bin/env python3
"""Records what PyTorch Geometric computes over several types of rows and kinds of edges; see README.md for the format.

    python3 tests/conform/typed.py            # write tests/conform/typed/*.safetensors
    python3 tests/conform/typed.py --check    # compute again and compare with the files
"""
import argparse
import pathlib
import sys
import warnings
import zlib
from dataclasses import dataclass
from typing import Callable

warnings.filterwarnings("ignore")
import numpy as np
import torch
from torch import nn
from torch_geometric import nn as pyg

import record
import store

DATA = pathlib.Path(__file__).parent / "typed"
ROWS = {"author": 4, "paper": 6, "venue": 0, "node": 7, "graph": 4}
WIDTH = {"author.x": 6, "paper.x": 4, "node.x": 6, "g.attr": 3}
KINDS = 4  # of edges of g, the last of which has none
# Isolated rows, a loop, repeated edges, a relation without edges and a type without rows.
EDGES = {
    "writes": ("author", "paper", [(0, 1), (0, 2), (1, 2), (3, 0), (3, 1), (3, 4), (0, 1), (1, 4)]),
    "cites": ("paper", "paper", [(0, 1), (1, 2), (2, 2), (4, 1), (4, 1), (5, 0), (2, 4)]),
    "held": ("venue", "paper", []),
    "by": ("paper", "author", []),
    "g": ("node", "node", [(0, 1), (1, 2), (2, 0), (3, 3), (4, 5), (5, 4), (1, 4), (0, 5), (4, 1), (4, 1), (2, 5)]),
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
    names: Callable = lambda name, value: {name: value}  # a tensor of the state_dict as those that gnnc has


def edge_index(name):
    pairs = np.array(EDGES[name][2], np.int64).reshape(-1, 2)
    return np.ascontiguousarray(pairs.T)


def bipartite(name, layer, build, width=5):
    """A layer from authors to papers."""
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]", f"node.paper[{width}]",
                f"conv = {layer} as \"\"\n  return {{}}", build,
                lambda m, i: m((i["author.x"], i["paper.x"]), i["writes"]))


def called(case, call):
    return Case(case.name, case.inputs, case.result, case.body.format(call), case.build, case.run, case.names)


FROM_TO = "conv(writes, z, x)"
FROM_TO_BY_NAME = "conv(writes, z, y = x)"
BOTH = (6, 4)


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def kinds(name, args, **kwargs):
    return Case(name, "g: graph, x: node[f], kind: edge of int", "node[8]",
                f"conv = RGCNConv(8, {KINDS}{args}) as \"\"\n  return conv(g, x, kind)",
                lambda: pyg.RGCNConv(6, 8, KINDS, **kwargs), lambda m, i: m(i["node.x"], i["g"], i["g.kind"]))


class Pool(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how

    def forward(self, x, member):
        return self.how(x, member, size=ROWS["graph"])


def pool(name, function, how):
    return Case(name, "x: node[f], member: node -> graph", "graph[6]", f"return {function}(member, x)",
                lambda: Pool(how), lambda m, i: m(i["node.x"], i["member"][1]))


def relation(name):
    source, target, _ = EDGES[name]
    return source, name, target


def hetero(name, value):
    for key in EDGES:
        name = name.replace("convs.<" + "___".join(relation(key)) + ">", f"convs.{key}")
    return {name: value}


def hetero_conv():
    return pyg.HeteroConv({relation("cites"): pyg.SAGEConv(4, 5),
                           relation("writes"): pyg.GATConv((6, 4), 5, add_self_loops=False),
                           relation("held"): pyg.GraphConv((6, 4), 5)}, aggr="sum")


def run_hetero(module, i):
    x = {"author": i["author.x"], "paper": i["paper.x"], "venue": torch.zeros(0, 6, dtype=i["paper.x"].dtype)}
    return module(x, {relation(k): i[k] for k in ("cites", "writes", "held")})["paper"]


HGT_RELATIONS = ("writes", "cites", "by")


def hgt(name, value):
    """Tensors of all relations and heads together, taken apart."""
    part = name.split(".")
    if part[0] in ("kqv_lin", "out_lin"):
        return {f"{ {'kqv_lin': 'kqv', 'out_lin': 'last'}[part[0]] }.{part[2]}.{part[3]}": value}
    if part[0] in ("k_rel", "v_rel"):
        n = len(HGT_RELATIONS)
        return {f"{part[0]}.{key}.weight": value[k::n] for k, key in enumerate(HGT_RELATIONS)}
    if part[0] == "p_rel":
        return {f"p_rel.{name.split('__')[1]}.weight": value[0]}
    return {f"skip.{part[1]}.gate": value.reshape(1)}


def run_hgt(module, i):
    return module({"author": i["author.x"], "paper": i["paper.x"]}, {relation(k): i[k] for k in HGT_RELATIONS})["paper"]


CASES = [
    called(bipartite("sage", "SAGEConv(5)", lambda: pyg.SAGEConv(BOTH, 5)), FROM_TO),
    called(bipartite("sage_max", "SAGEConv(5, aggr = \"max\")", lambda: pyg.SAGEConv(BOTH, 5, aggr="max")), FROM_TO),
    called(bipartite("graphconv", "GraphConv(5)", lambda: pyg.GraphConv(BOTH, 5)), FROM_TO),
    called(bipartite("gat", "GATConv(3, heads = 2, loops = false)",
                     lambda: pyg.GATConv(BOTH, 3, heads=2, add_self_loops=False), 6), FROM_TO_BY_NAME),
    called(bipartite("gatv2", "GATv2Conv(3, heads = 2, loops = false)",
                     lambda: pyg.GATv2Conv(BOTH, 3, heads=2, add_self_loops=False), 6), FROM_TO_BY_NAME),
    called(bipartite("transformer", "TransformerConv(3, heads = 2, beta = true)",
                     lambda: pyg.TransformerConv(BOTH, 3, heads=2, beta=True), 6), FROM_TO_BY_NAME),
    called(bipartite("resgated", "ResGatedGraphConv(5)", lambda: pyg.ResGatedGraphConv(BOTH, 5)), FROM_TO),
    Case("gin", "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]", "node.paper[5]",
         "side = Linear(6, bias = false)\n  conv = GINConv(5, hidden = 8) as \"\"\n  return conv(writes, z, side(x))",
         lambda: Gin(), lambda m, i: m(i["author.x"], i["paper.x"], i["writes"])),
    Case("hetero", "cites: node.paper -> node.paper, writes: node.author -> node.paper, held: node.venue -> node.paper,\n"
         "           z: node.author[a], x: node.paper[b], w: node.venue[c]", "node.paper[5]",
         "cite = SAGEConv(5) as \"convs.cites\"\n  write = GATConv(5, loops = false) as \"convs.writes\"\n"
         "  hold = GraphConv(5) as \"convs.held\"\n"
         "  return cite(cites, x) + write(writes, z, y = x) + hold(held, w, x)", hetero_conv, run_hetero, hetero),
    kinds("rgcn", ""),
    kinds("rgcn_bases", ", bases = 2", num_bases=2),
    kinds("rgcn_blocks", ", blocks = 2", num_blocks=2),
    kinds("rgcn_bare", ", aggr = \"sum\", root = false, bias = false", aggr="sum", root_weight=False, bias=False),
    pool("add_pool", "add_pool", pyg.global_add_pool),
    pool("mean_pool", "mean_pool", pyg.global_mean_pool),
    pool("max_pool", "max_pool", pyg.global_max_pool),
    Case("attention_pool", "x: node[f], member: node -> graph", "graph[5]",
         "pool = AttentionalAggregation(Linear(1), Linear(5)) as \"\"\n  return pool(member, x)",
         lambda: pyg.AttentionalAggregation(nn.Linear(6, 1), nn.Linear(6, 5)),
         lambda m, i: m(i["node.x"], i["member"][1], dim_size=ROWS["graph"])),
    Case("hgt", "writes: node.author -> node.paper, cites: node.paper -> node.paper, by: node.paper -> node.author,\n"
         "           gs: each graph, xs: each node[...]", "node.paper[8]",
         "conv = HGTConv(2) as \"\"\n  return conv(gs, xs)[paper]",
         lambda: pyg.HGTConv({"author": 8, "paper": 8}, 8, (["author", "paper"], [relation(k) for k in HGT_RELATIONS]),
                             heads=2), run_hgt, hgt),
]


class Gin(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = nn.Linear(4, 6, bias=False)
        conv = pyg.GINConv(mlp(6, 8, 5))
        self.nn, self.conv = conv.nn, [conv]  # in a list, so that its names stay without a prefix
        self.register_buffer("eps", conv.eps)

    def forward(self, z, x, edges):
        self.conv[0].eps = self.eps
        return self.conv[0]((z, self.side(x)), edges)


def relations_of(case):
    return [name for name in EDGES if f"{name}: " in case.inputs]


def inputs_of(case, rng):
    """Columns of all types; tests bind those that the model reads."""
    arrays = {name: rng.standard_normal((ROWS[name.split(".")[0]], width)).astype(np.float32)
              for name, width in WIDTH.items() if name.endswith(".x")}
    arrays["venue.x"] = np.zeros((0, 6), np.float32)
    arrays["g.kind"] = np.array([k % (KINDS - 1) for k in range(len(EDGES["g"][2]))], np.int64)
    if case.name == "hgt":
        arrays = {f"{t}.x": rng.standard_normal((ROWS[t], 8)).astype(np.float32) for t in ("author", "paper")}
    return arrays


def compute(case, arrays, state, cot, dtype):
    module = record.load(case.build(), state, dtype).train()
    inputs = record.tensors_of(arrays, dtype)
    inputs |= {name: torch.from_numpy(edge_index(name)) for name in EDGES}
    out = case.run(module, inputs)
    (out * torch.from_numpy(np.array(cot)).to(dtype)).sum().backward()
    grads = {}
    for name, parameter in module.named_parameters():
        value = parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
        grads |= {f"grad.{n}": np.ascontiguousarray(v) for n, v in case.names(name, record.numpy(value)).items()}
    return {"out": record.numpy(out)} | grads


def model_text(case):
    return f"model M() ({case.inputs}) -> {case.result} {{\n  {case.body}\n}}\n"


def record_case(case):
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    arrays = inputs_of(case, rng)
    state = record.draw_state(case.build(), rng)
    width = int(case.result.split("[")[1][:-1])
    rows = ROWS[case.result.split("[")[0].removeprefix("node.")]
    cot = rng.standard_normal((rows, width)).astype(np.float32)
    wide = compute(case, arrays, state, cot, torch.float64)
    single = compute(case, arrays, state, cot, torch.float32)
    far = record.distance(wide, {n: t.astype(np.float64) for n, t in single.items()})
    assert far < record.SINGLE, f"{case.name}: {far}"
    params = {}
    for name, value in state.items():
        params |= {f"param.{n}": np.ascontiguousarray(v) for n, v in case.names(name, value).items()}
    named = relations_of(case)
    edges = {f"edges.{name}": edge_index(name) for name in named}
    spaces = [t for t in ROWS if any(t in EDGES[name][:2] for name in named)]
    about = record.metadata(model=model_text(case), single=f"{far:.1e}", kinds=KINDS,
                            relations=";".join(" ".join((n, *EDGES[n][:2])) for n in named),
                            spaces=";".join(f"{t} {ROWS[t]}" for t in spaces))
    arrays = {name: value for name, value in arrays.items() if name.split(".")[0] in spaces + named}
    return wide | arrays | params | edges | {"cot": cot}, about


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    args = parser.parse_args()
    torch.set_num_threads(1)
    DATA.mkdir(exist_ok=True)
    bad = 0
    for case in CASES:
        tensors, about = record_case(case)
        path = DATA / f"{case.name}.safetensors"
        problem = record.check(path, tensors, about) if args.check else ""
        if not args.check:
            path.write_bytes(store.encode(tensors, about))
        if problem:
            print(f"{case.name}: {problem}")
        bad += bool(problem)
    print(f"{len(CASES)} cases, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
