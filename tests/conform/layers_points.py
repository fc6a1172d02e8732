"""Cases of layers of point clouds and meshes."""
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
import torch_geometric.typing
from torch import nn
from torch_geometric import nn as pyg

from layers_edge import mlp, net
from typed_case import ROWS, Case, and_edgeless

POS = {"node.pos": lambda rng: rng.standard_normal((ROWS["node"], 3))}
NORMAL = {"node.normal": lambda rng: rng.standard_normal((ROWS["node"], 3))}
BOTH = {of: lambda rng, rows=ROWS[of.split(".")[0]], n=n: rng.standard_normal((rows, n))
        for of, n in (("author.z", 6), ("author.pos", 3), ("paper.pos_y", 3), ("author.normal", 3),
                      ("paper.normal_y", 3))}
GIVEN = {"x": "x: node[f]", "pos": "pos: node[3]", "normal": "normal: node[3]"}


def on_points(name, layer, width, build, inputs="x pos"):
    named = inputs.split()
    call = ", ".join(f"{n} = {n}" for n in named)
    return Case(name, ", ".join(["g: graph"] + [GIVEN[n] for n in named]), f"node[{width}]",
                f"conv = {layer} as \"\"\n  return conv(g, {call})", build,
                lambda m, i: m(*([] if "x" in named else [None]), *[i[f"node.{n}"] for n in named],
                               i["g"]),
                columns=POS | (NORMAL if "normal" in named else {}))


def between(name, layer, width, build, inputs="pos", features="z", ends=False):
    """From authors to papers, whose places are others; features are of both `ends`, or of none."""
    named = inputs.split()
    more = "".join(f",\n           {n}: node.author[3], {n}_y: node.paper[3]" for n in named)
    call = ", ".join([f"x = {features}"] * bool(features) + ["y = x"] * ends
                     + [f"{n} = {n}, {n}_y = {n}_y" for n in named])
    x = lambda i: (i["author.z"], i["paper.x"] if ends else None) if features else None
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]"
                + more, f"node.paper[{width}]",
                f"conv = {layer} as \"\"\n  return conv(writes, {call})", build,
                lambda m, i: m(x(i), *[(i[f"author.{n}"], i[f"paper.{n}_y"]) for n in named],
                               i["writes"]),
                columns={of: BOTH[of] for of in BOTH if of.split(".")[1] in (
                    *named, *[f"{n}_y" for n in named], "z")})


POINTS = [
    on_points("pointnet", f"PointNetConv({net(8, 7)}, {net(8, 5)})", 5,
              lambda: pyg.PointNetConv(mlp(9, 8, 7), mlp(7, 8, 5))),
    on_points("pointnet_loopless", f"PointNetConv({net(8, 5)}, loops = false)", 5,
              lambda: pyg.PointNetConv(mlp(9, 8, 5), add_self_loops=False)),
    on_points("pointnet_places", f"PointNetConv(global_nn = {net(8, 5)})", 5,
              lambda: pyg.PointNetConv(global_nn=mlp(3, 8, 5)), "pos"),
    on_points("ppf", f"PPFConv({net(8, 7)}, {net(8, 5)})", 5,
              lambda: pyg.PPFConv(mlp(10, 8, 7), mlp(7, 8, 5)), "x pos normal"),
    on_points("ppf_loopless", f"PPFConv({net(8, 5)}, loops = false)", 5,
              lambda: pyg.PPFConv(mlp(10, 8, 5), add_self_loops=False), "x pos normal"),
    on_points("ppf_places", f"PPFConv(global_nn = {net(8, 5)})", 5,
              lambda: pyg.PPFConv(global_nn=mlp(4, 8, 5)), "pos normal"),
    on_points("point_transformer", "PointTransformerConv(5)", 5,
              lambda: pyg.PointTransformerConv(6, 5)),
    on_points("point_transformer_nets",
              f"PointTransformerConv(5, {net(8, 5)}, {net(4, 5)}, loops = false)", 5,
              lambda: pyg.PointTransformerConv(6, 5, mlp(3, 8, 5), mlp(5, 4, 5),
                                               add_self_loops=False)),
    on_points("pointgnn", f"PointGNNConv({net(8, 3)}, {net(8, 7)}, {net(5, 6)})", 6,
              lambda: pyg.PointGNNConv(mlp(6, 8, 3), mlp(9, 8, 7), mlp(7, 5, 6))),
]
BETWEEN = [
    between("pointnet_between", f"PointNetConv({net(8, 7)}, {net(8, 5)}, loops = false)", 5,
            lambda: pyg.PointNetConv(mlp(9, 8, 7), mlp(7, 8, 5), add_self_loops=False)),
    between("pointnet_between_places", "PointNetConv(loops = false)", 3,
            lambda: pyg.PointNetConv(add_self_loops=False), features=""),
    between("ppf_between", f"PPFConv({net(8, 7)}, {net(8, 5)}, loops = false)", 5,
            lambda: pyg.PPFConv(mlp(10, 8, 7), mlp(7, 8, 5), add_self_loops=False), "pos normal"),
    between("point_transformer_between", "PointTransformerConv(5, loops = false)", 5,
            lambda: pyg.PointTransformerConv((6, 4), 5, add_self_loops=False), ends=True),
]


class Angles(nn.Module):
    """Angles and vector products of what a matrix makes of features."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 8, bias=False)

    def forward(self, x, _):
        h = self.lin(x)
        angle = torch.atan2(h[:, :1], h[:, 1:2])
        return torch.cat([angle, torch.linalg.cross(h[:, 2:5], h[:, 5:])], -1)


class Net(nn.Sequential):
    """A network that says how wide it is, as MeshCNNConv asks."""

    def __init__(self, inputs, hidden, outputs):
        super().__init__(*mlp(inputs, hidden, outputs))
        self.in_features, self.out_features = inputs, outputs


ANGLES = [
    Case("angles", "g: graph, x: node[f]", "node[4]", "lin = Linear(8, bias = false)\n"
         "  h = split(lin(x), [1, 1, 3, 3])\n  return concat(atan2(h[0], h[1]), cross(h[2], h[3]))",
         Angles, lambda m, i: m(i["node.x"], i["g"])),
]

# Each node has K neighbours, some of them more than once, in this order.
K = 4


def neighbours(node):
    return [(node + step) % ROWS["node"] for step in (0, 1 + node % 2, 4, 1 + node % 2)]


def in_order(case, slots=K):
    """Along K edges into each node, of which `slot` says which they are."""
    pairs = [(u, v) for v in range(ROWS["node"]) for u in neighbours(v)]
    return replace(case, edges={"g": pairs},
                   columns=case.columns | {"g.slot": lambda rng: np.arange(len(pairs)) % slots})


class XConv(pyg.XConv):
    """PyTorch Geometric's, whose neighbours pyg-lib finds, with those that are given."""

    def forward(self, x, pos, edges):
        given = edges.flip(0)
        with mock.patch.object(torch.ops, "pyg", SimpleNamespace(knn=lambda *_: given)):
            return super().forward(x, pos)


def xconv(*args, **kwargs):
    with mock.patch.object(torch_geometric.typing, "WITH_KNN", True):
        return XConv(*args, **kwargs)


def x_case(name, args, build, inputs="x pos"):
    case = on_points(name, f"XConv(5, {K}, {args})", 5, build, inputs)
    return in_order(replace(case, inputs=case.inputs + ", slot: edge of int",
                            body=case.body.replace("pos = pos", "pos = pos, slot = slot")))


def run_mesh(module, i):
    """Its messages are made in the default type."""
    torch.set_default_dtype(i["node.x"].dtype)
    out = module(i["node.x"], i["g"])
    torch.set_default_dtype(torch.float32)
    return out


def mesh(name, args, build):
    return in_order(Case(name, "g: graph, x: node[f], slot: edge of int", "node[5]",
                         f"conv = MeshCNNConv({args}) as \"\"\n  return conv(g, x, slot)", build,
                         run_mesh))


ORDERED = [
    x_case("xconv", "3", lambda: xconv(6, 5, 3, K, 3)),
    x_case("xconv_default", "bias = false", lambda: xconv(6, 5, 3, K, bias=False)),
    x_case("xconv_places", "2", lambda: xconv(0, 5, 3, K, 2), "pos"),
]
MESH = [
    mesh("meshcnn", "5", lambda: pyg.MeshCNNConv(6, 5)),
    mesh("meshcnn_kernels", f"kernels = [{net(4, 5)} for i in 0..5]",
         lambda: pyg.MeshCNNConv(6, 5, nn.ModuleList(Net(6, 4, 5) for _ in range(5)))),
]
CASES = and_edgeless(POINTS) + BETWEEN + ANGLES + ORDERED + MESH
