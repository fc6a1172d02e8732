"""Cases of layers whose messages take features of edges, or are made by networks."""
import itertools
import math
from dataclasses import replace

import torch
from torch import nn
from torch_geometric import nn as pyg

from typed_case import WIDTH, Case, and_edgeless

D = WIDTH["g.attr"]
BOTH = (6, 4)


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def net(hidden, outputs):
    return f"Sequential([Linear({hidden}), relu, Linear({outputs})])"


def on_nodes(name, layer, width, build, attr=True):
    more = ", attr" if attr else ""
    return Case(name, f"g: graph, x: node[f]{', attr: edge[d]' if attr else ''}", f"node[{width}]",
                f"conv = {layer} as \"\"\n  return conv(g, x{more})", build,
                lambda m, i: m(i["node.x"], i["g"], *([i["g.attr"]] if attr else [])))


def between(name, layer, width, build, attr=True):
    """From authors to papers."""
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
                f"node.paper[{width}]", f"conv = {layer} as \"\"\n  return conv(writes, z, "
                f"{'writes.attr, ' if attr else ''}y = x)", build,
                lambda m, i: m((i["author.x"], i["paper.x"]), i["writes"],
                               *([i["writes.attr"]] if attr else [])))


def even(case):
    """Sources and destinations of one width, as the layer asks for."""
    narrow = case.run
    return Case(case.name, case.inputs, case.result,
                case.body.replace("conv(writes, z", "conv(writes, slice(z, 0, 4)"), case.build,
                lambda m, i: narrow(m, {**i, "author.x": i["author.x"][:, :4]}))


GINE = [
    on_nodes("gine", "GINEConv(5, hidden = 8)", 5,
             lambda: pyg.GINEConv(mlp(6, 8, 5), edge_dim=D)),
    on_nodes("gine_eps", f"GINEConv(nn = {net(8, 5)}, eps = 0.5, train_eps = true)", 5,
             lambda: pyg.GINEConv(mlp(6, 8, 5), edge_dim=D, eps=0.5, train_eps=True)),
    even(between("gine_between", f"GINEConv(nn = {net(8, 5)}, edge_dim = 3)", 5,
                 lambda: pyg.GINEConv(mlp(4, 8, 5), edge_dim=D))),
    Case("gine_same", "g: graph, x: node[f], attr: edge[d]", "node[5]",
         f"conv = GINEConv(nn = {net(8, 5)}) as \"\"\n  return conv(g, slice(x, 0, 3), attr)",
         lambda: pyg.GINEConv(mlp(3, 8, 5)),
         lambda m, i: m(i["node.x"][:, :3], i["g"], i["g.attr"])),
    Case("gine_twice", "g: graph, x: node[f], attr: edge[d]", "node[6]",
         "conv = GINEConv(6, hidden = 8) as \"\"\n"
         "  return conv(g, conv(g, x, attr), attr)",
         lambda: pyg.GINEConv(mlp(6, 8, 6), edge_dim=D),
         lambda m, i: m(m(i["node.x"], i["g"], i["g.attr"]), i["g"], i["g.attr"])),
]
NN = [
    on_nodes("nnconv", f"NNConv(5, {net(8, 30)})", 5, lambda: pyg.NNConv(6, 5, mlp(D, 8, 30))),
    on_nodes("nnconv_mean", f"NNConv(5, {net(8, 30)}, aggr = \"mean\", root = false)", 5,
             lambda: pyg.NNConv(6, 5, mlp(D, 8, 30), aggr="mean", root_weight=False)),
    on_nodes("nnconv_max", "NNConv(5, Linear(30), aggr = \"max\", bias = false)", 5,
             lambda: pyg.NNConv(6, 5, nn.Linear(D, 30), aggr="max", bias=False)),
    between("nnconv_between", f"NNConv(5, {net(8, 30)})", 5,
            lambda: pyg.NNConv(BOTH, 5, mlp(D, 8, 30))),
]
CG = [
    on_nodes("cgconv", "CGConv()", 6, lambda: pyg.CGConv(6, D)),
    on_nodes("cgconv_mean", "CGConv(aggr = \"mean\", bias = false)", 6,
             lambda: pyg.CGConv(6, D, aggr="mean", bias=False)),
    on_nodes("cgconv_bare", "CGConv(aggr = \"max\")", 6, lambda: pyg.CGConv(6, aggr="max"),
             attr=False),
    on_nodes("cgconv_norm", "CGConv(batch_norm = true)", 6,
             lambda: pyg.CGConv(6, D, batch_norm=True)),
    between("cgconv_between", "CGConv()", 4, lambda: pyg.CGConv(BOTH, D)),
]
EDGE = [
    on_nodes("edgeconv", f"EdgeConv({net(8, 5)})", 5, lambda: pyg.EdgeConv(mlp(12, 8, 5)),
             attr=False),
    *[on_nodes(f"edgeconv_{aggr}", f"EdgeConv({net(8, 5)}, aggr = \"{aggr}\")", 5,
               lambda aggr=aggr: pyg.EdgeConv(mlp(12, 8, 5), aggr), attr=False)
      for aggr in ("sum", "mean", "min", "var", "std")],
    even(between("edgeconv_between", f"EdgeConv({net(8, 5)})", 5,
                 lambda: pyg.EdgeConv(mlp(8, 8, 5)), attr=False)),
]
GMM = [
    on_nodes("gmm", "GMMConv(5, 3)", 5, lambda: pyg.GMMConv(6, 5, D, 3)),
    on_nodes("gmm_separate", "GMMConv(5, 3, separate_gaussians = true, aggr = \"sum\")", 5,
             lambda: pyg.GMMConv(6, 5, D, 3, separate_gaussians=True, aggr="sum")),
    on_nodes("gmm_bare", "GMMConv(5, 3, aggr = \"max\", bias = false)", 5,
             lambda: pyg.GMMConv(6, 5, D, 3, aggr="max", bias=False)),
    between("gmm_between", "GMMConv(5, 3)", 5, lambda: pyg.GMMConv(BOTH, 5, D, 3)),
    between("gmm_separate_between", "GMMConv(5, 3, separate_gaussians = true)", 5,
            lambda: pyg.GMMConv(BOTH, 5, D, 3, separate_gaussians=True)),
]
PDN = [
    on_nodes("pdn", "PDNConv(5, 8)", 5, lambda: pyg.PDNConv(6, 5, D, 8)),
    on_nodes("pdn_loopless", "PDNConv(5, 8, loops = false, bias = false)", 5,
             lambda: pyg.PDNConv(6, 5, D, 8, add_self_loops=False, bias=False)),
    on_nodes("pdn_plain", "PDNConv(5, 8, normalize = false)", 5,
             lambda: pyg.PDNConv(6, 5, D, 8, normalize=False)),
]


class SplineConv(nn.Module):
    """PyTorch Geometric's, whose basis pyg-lib computes, edge by edge and knot by knot."""

    def __init__(self, inputs, outputs, dim, kernel_size, is_open_spline=True, degree=1,
                 aggr="mean", root_weight=True, bias=True):
        super().__init__()
        inputs = inputs if isinstance(inputs, tuple) else (inputs, inputs)
        each = lambda v: v if isinstance(v, list) else [v] * dim
        self.sizes, self.open, self.degree = each(kernel_size), each(is_open_spline), degree
        self.weight = nn.Parameter(torch.zeros(math.prod(self.sizes), inputs[0], outputs))
        self.together = pyg.aggr.MultiAggregation([aggr])
        self.lin = nn.Linear(inputs[1], outputs, bias=False) if root_weight else None
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def basis(self, t, k):
        """Truncated powers, of which the spline is a difference."""
        p, x = self.degree, t + self.degree - k
        return sum((-1) ** j * math.comb(p + 1, j) * (x - j).clamp(min=0) ** p
                   for j in range(p + 1)) / math.factorial(p)

    def matrix(self, at):
        """The sum over all knots that are near, for one edge."""
        total = 0
        for knots in itertools.product(range(self.degree + 1), repeat=len(self.sizes)):
            weighs, row, stride = 1, 0, 1
            for v, k, size, is_open in zip(at, knots, self.sizes, self.open):
                v = v * (size - self.degree * is_open)
                row += (int(v) + k) % size * stride
                stride *= size
                weighs = weighs * self.basis(v - v.floor(), k)
            total = total + weighs * self.weight[row]
        return total

    def forward(self, x, edges, attr):
        x = x if isinstance(x, tuple) else (x, x)
        m = [x[0][u] @ self.matrix(at) for u, at in zip(edges[0], attr)]
        m = torch.stack(m) if m else x[0].new_zeros(0, self.weight.shape[2])
        out = self.together(m, edges[1], dim_size=len(x[1]))
        out = out if self.lin is None else out + self.lin(x[1])
        return out if self.bias is None else out + self.bias


def spline(name, args, ends=6, dim=D, **kwargs):
    """Pseudo-coordinates are in [0, 1]."""
    build = lambda: SplineConv(ends, 5, dim, **kwargs)
    of = between if ends == BOTH else on_nodes
    case = of(name, f"SplineConv(5, {args})", 5, build)
    attr = "writes.attr" if ends == BOTH else "g.attr"
    taken = f"sigmoid(slice({attr.removeprefix('g.')}, 0, {dim}))"
    return replace(case, body=case.body.replace(f", {attr.removeprefix('g.')}", f", {taken}"),
                   run=lambda m, i: case.run(m, {**i, attr: i[attr][:, :dim].sigmoid()}))


SPLINE = [
    spline("spline", "4", kernel_size=4),
    spline("spline_closed", "3, is_open_spline = false", kernel_size=3, is_open_spline=False),
    spline("spline_five", "7, degree = 5", dim=1, kernel_size=7, degree=5),
    spline("spline_two", "4, degree = 2, aggr = \"max\"", kernel_size=4, degree=2, aggr="max"),
    spline("spline_three", "[4, 5, 2], is_open_spline = [true, true, false], degree = 3, "
           "root = false, aggr = \"sum\"", kernel_size=[4, 5, 2],
           is_open_spline=[True, True, False], degree=3, aggr="sum", root_weight=False),
    spline("spline_lists", "[3, 2, 4], bias = false", kernel_size=[3, 2, 4], bias=False),
    spline("spline_between", "3", BOTH, kernel_size=3),
]
GEN = [
    on_nodes("gen", "GENConv(5)", 5, lambda: pyg.GENConv(6, 5, edge_dim=D)),
    on_nodes("gen_same", "GENConv(6, num_layers = 1)", 6, lambda: pyg.GENConv(6, 6, num_layers=1),
             attr=False),
    on_nodes("gen_edges", "GENConv(3, num_layers = 3, norm = \"layer\", bias = true)", 3,
             lambda: pyg.GENConv(6, 3, num_layers=3, norm="layer", bias=True, edge_dim=D)),
    on_nodes("gen_learnt", "GENConv(5, t = 0.5, learn_t = true, msg_norm = true, "
             "learn_msg_scale = true, norm = \"instance\", num_layers = 3)", 5,
             lambda: pyg.GENConv(6, 5, t=0.5, learn_t=True, msg_norm=True, learn_msg_scale=True,
                                 norm="instance", num_layers=3), attr=False),
    on_nodes("gen_sg", "GENConv(5, \"softmax_sg\", msg_norm = true, norm = \"none\", "
             "expansion = 3, eps = 1e-3)", 5,
             lambda: pyg.GENConv(6, 5, "softmax_sg", msg_norm=True, norm=None, expansion=3,
                                 eps=1e-3), attr=False),
    on_nodes("gen_power", "GENConv(5, \"power\", p = 2.0)", 5,
             lambda: pyg.GENConv(6, 5, "power", p=2.0), attr=False),
    on_nodes("gen_power_one", "GENConv(5, \"power\")", 5, lambda: pyg.GENConv(6, 5, "power"),
             attr=False),
    on_nodes("gen_power_learnt", "GENConv(5, \"power\", learn_p = true)", 5,
             lambda: pyg.GENConv(6, 5, "power", learn_p=True), attr=False),
    *[on_nodes(f"gen_{aggr}", f"GENConv(5, \"{aggr}\")", 5,
               lambda aggr=aggr: pyg.GENConv(6, 5, aggr), attr=False)
      for aggr in ("sum", "mean", "max", "min", "var", "std", "mul")],
    between("gen_between", "GENConv(5, msg_norm = true)", 5,
            lambda: pyg.GENConv(BOTH, 5, msg_norm=True, edge_dim=D)),
]


def pna(name, args, build, aggregators="mean max std", scalers="identity amplification",
        attr=False):
    listed = lambda names: "[" + ", ".join(f"\"{n}\"" for n in names.split()) + "]"
    return on_nodes(name, f"PNAConv(6, {listed(aggregators)}, {listed(scalers)}, [2, 3, 1, 5]"
                    f"{args})", 6,
                    lambda: build(6, 6, aggregators.split(), scalers.split(),
                                  torch.tensor([2, 3, 1, 5])), attr)


PNA = [
    pna("pna", "", pyg.PNAConv, "mean min max std", "identity amplification attenuation"),
    pna("pna_edges", ", pre_layers = 2, post_layers = 3, act = tanh",
        lambda *a: pyg.PNAConv(*a, edge_dim=D, pre_layers=2, post_layers=3, act="tanh"),
        attr=True),
    pna("pna_towers", ", towers = 3, divide_input = true",
        lambda *a: pyg.PNAConv(*a, towers=3, divide_input=True), "sum var",
        "linear inverse_linear identity"),
    pna("pna_learnt", ", towers = 2, train_norm = true",
        lambda *a: pyg.PNAConv(*a, towers=2, train_norm=True), "mean max",
        "linear inverse_linear amplification attenuation"),
]
EG = [
    on_nodes("eg", "EGConv(8)", 8, lambda: pyg.EGConv(6, 8), attr=False),
    on_nodes("eg_all", "EGConv(8, [\"symnorm\", \"sum\", \"mean\", \"max\", \"min\", \"var\", "
             "\"std\"], heads = 4, bases = 3)", 8,
             lambda: pyg.EGConv(6, 8, ["symnorm", "sum", "mean", "max", "min", "var", "std"], 4, 3),
             attr=False),
    on_nodes("eg_loopless", "EGConv(6, heads = 2, loops = false, bias = false)", 6,
             lambda: pyg.EGConv(6, 6, num_heads=2, add_self_loops=False, bias=False), attr=False),
    on_nodes("eg_bare", "EGConv(6, [\"mean\", \"max\"], heads = 3, loops = false)", 6,
             lambda: pyg.EGConv(6, 6, ["mean", "max"], 3, add_self_loops=False), attr=False),
]
GENERAL = [
    on_nodes("general", "GeneralConv(5)", 5, lambda: pyg.GeneralConv(6, 5, D)),
    on_nodes("general_same",
             "GeneralConv(6, aggr = \"mean\", l2_normalize = true, bias = false)", 6,
             lambda: pyg.GeneralConv(6, 6, aggr="mean", l2_normalize=True, bias=False),
             attr=False),
    on_nodes("general_attention", "GeneralConv(6, heads = 2, attention = true, skip_linear = true)",
             6, lambda: pyg.GeneralConv(6, 6, D, heads=2, attention=True, skip_linear=True)),
    on_nodes("general_dot", "GeneralConv(5, heads = 2, attention = true, "
             "attention_type = \"dot_product\", aggr = \"max\")", 5,
             lambda: pyg.GeneralConv(6, 5, D, aggr="max", heads=2, attention=True,
                                     attention_type="dot_product")),
    on_nodes("general_both", "GeneralConv(5, directed_msg = false)", 5,
             lambda: pyg.GeneralConv(6, 5, D, directed_msg=False)),
    on_nodes("general_both_dot", "GeneralConv(5, directed_msg = false, heads = 2, "
             "attention = true, attention_type = \"dot_product\")", 5,
             lambda: pyg.GeneralConv(6, 5, directed_msg=False, heads=2, attention=True,
                                     attention_type="dot_product"), attr=False),
    between("general_between", "GeneralConv(5, heads = 2, attention = true)", 5,
            lambda: pyg.GeneralConv(BOTH, 5, D, heads=2, attention=True)),
    even(between("general_both_between", "GeneralConv(4, directed_msg = false)", 4,
                 lambda: pyg.GeneralConv((4, 4), 4, D, directed_msg=False))),
]
ALL = GINE + NN + CG + EDGE + GMM + PDN + SPLINE + GEN + PNA + EG + GENERAL
CASES = and_edgeless([c for c in ALL if "g: graph" in c.inputs]) + [
    c for c in ALL if "g: graph" not in c.inputs]
