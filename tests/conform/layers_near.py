"""Cases of layers that compare rows with each other."""
import numpy as np
import torch
import torch_geometric.typing
from torch import nn
from torch_geometric import nn as pyg

from typed_case import ROWS, Case, and_edgeless

GRAPHS = torch.tensor([0, 0, 2, 2, 2, 3, 3])  # of typed_case.EDGES["member"]


def knn(x, y, ptr_x, ptr_y, k, cosine, workers):
    """pyg-lib's: for each of y its k nearest of x, of the same graph."""
    far = torch.cdist(y, x)
    if ptr_x is not None:
        graph = torch.bucketize(torch.arange(len(x)), ptr_x[1:], right=True)
        far = far.masked_fill(graph[:, None] != graph, float("inf"))
    near = far.argsort(dim=1, stable=True)[:, :k]
    some = torch.isfinite(far.gather(1, near))
    return torch.stack([torch.arange(len(y))[:, None].expand_as(near)[some], near[some]])


def with_knn(build):
    """The layer as it is, but for a library that it asks for."""
    def made():
        torch_geometric.typing.WITH_KNN = True
        torch.ops.pyg.knn = knn
        return build()
    return made


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


NET = "Sequential([Linear(8), relu, Linear(5)])"


def near(name, layer, width, build):
    return Case(name, "g: graph, x: node[f]", f"node[{width}]",
                f"conv = {layer} as \"\"\n  return conv(x)", with_knn(build),
                lambda m, i: m(i["node.x"]))


def of_graphs(name, layer, width, build):
    return Case(name, "x: node[f], member: node -> graph", f"node[{width}]",
                f"conv = {layer} as \"\"\n  return conv(x, member)", with_knn(build),
                lambda m, i: m(i["node.x"], GRAPHS))


class Colours(nn.Module):
    """Rounds of Weisfeiler and Leman, whose colours weigh what a linear layer makes of nodes."""

    def __init__(self, rounds):
        super().__init__()
        self.lin, self.wl = nn.Linear(6, 6), [pyg.WLConv() for _ in range(rounds)]

    def forward(self, x, colour, edges):
        for wl in self.wl:
            wl.reset_parameters()
            colour = wl(colour, edges)
        return self.lin(x) * colour[:, None]


def colours(name, inputs, colour, rounds, columns, run):
    more = "".join(f"  c = WLConv()(g, c)\n" for _ in range(rounds))
    return Case(name, f"g: graph, x: node[f]{inputs}", "node[6]",
                f"lin = Linear(6)\n  c = {colour}\n{more}  return unsqueeze(float(c), -1) * lin(x)",
                lambda: Colours(rounds), run, columns=columns)


CASES = [
    *and_edgeless([
        colours("wl", ", type: node of int", "type", 2, {},
                lambda m, i: m(i["node.x"], i["node.type"], i["g"])),
        colours("wl_one_hot", ", kind: node[k] of float", "kind", 1,
                {"node.kind": lambda rng: np.eye(3)[[0, 1, 1, 2, 1, 1, 0]]},
                lambda m, i: m(i["node.x"], i["node.kind"], i["g"]))]),
    near("dynamic_edge", f"DynamicEdgeConv({NET}, 3)", 5,
         lambda: pyg.DynamicEdgeConv(mlp(12, 8, 5), 3)),
    *[near(f"dynamic_edge_{aggr}", f"DynamicEdgeConv({NET}, 4, \"{aggr}\")", 5,
           lambda aggr=aggr: pyg.DynamicEdgeConv(mlp(12, 8, 5), 4, aggr))
      for aggr in ("sum", "mean", "min")],
    near("dynamic_edge_all", f"DynamicEdgeConv({NET}, {ROWS['node'] + 2})", 5,
         lambda: pyg.DynamicEdgeConv(mlp(12, 8, 5), ROWS["node"] + 2)),
    *[of_graphs(f"dynamic_edge_graphs_{aggr}", f"DynamicEdgeConv({NET}, 2, \"{aggr}\")", 5,
                lambda aggr=aggr: pyg.DynamicEdgeConv(mlp(12, 8, 5), 2, aggr))
      for aggr in ("max", "mean")],
    near("gravnet", "GravNetConv(5, 3, 4, 3)", 5, lambda: pyg.GravNetConv(6, 5, 3, 4, 3)),
    of_graphs("gravnet_graphs", "GravNetConv(5, 3, 4, 3)", 5,
              lambda: pyg.GravNetConv(6, 5, 3, 4, 3)),
]
