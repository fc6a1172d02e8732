"""Cases of layers that find the nearest rows."""
import torch
import torch_geometric.typing
from torch import nn
from torch_geometric import nn as pyg

from typed_case import ROWS, Case

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


CASES = [
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
