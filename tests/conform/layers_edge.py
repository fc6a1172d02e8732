"""Cases of layers whose messages take features of edges, or are made by networks."""
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
CASES = and_edgeless([c for c in GINE + NN + CG + EDGE + GMM + PDN if "g: graph" in c.inputs]) + [
    c for c in GINE + NN + CG + EDGE + GMM + PDN if "g: graph" not in c.inputs]
