"""Cases of norms, aggregators, pools that choose, and models."""
import torch
from torch import nn
from torch_geometric import nn as pyg

from typed_case import KINDS, ROWS, Case, and_edgeless

ALONE = "g: graph, x: node[f]"
MANY = "x: node[f], member: node -> graph"


def plain_norm(name, value):
    """PyTorch's BatchNorm1d, which has the names of PyTorch Geometric's here."""
    return {name.replace("norm.", "norm.module."): value}


def norm(name, layer, build, **kwargs):
    """Over all rows."""
    return Case(name, ALONE, "node[6]", f"norm = {layer} as \"\"\n  return norm(x)", build,
                lambda m, i: m(i["node.x"]), **kwargs)


def norm_of_graphs(name, layer, build):
    return Case(f"{name}_graphs", MANY, "node[6]", f"norm = {layer} as \"\"\n"
                "  return norm(x, member)", build,
                lambda m, i: m(i["node.x"], i["member"][1], ROWS["graph"]))


def both(name, layer, build):
    return [norm(name, layer, build), norm_of_graphs(name, layer, build)]


def norm_of_types(name, layer, build):
    return Case(name, "g: graph, x: node[f], type: node of int", "node[6]",
                f"norm = {layer} as \"\"\n  return norm(x, type)", build,
                lambda m, i: m(i["node.x"], i["node.type"]))


def message_norm(name, args, run=lambda m, x, y: m(x, y), **kwargs):
    """Of what comes to nodes, none of it to some."""
    return Case(name, ALONE, "node[6]", f"norm = MessageNorm({args}) as \"\"\n"
                "  return norm(x, sum(u -> v in g: x[u]))", lambda: pyg.MessageNorm(**kwargs),
                lambda m, i: run(m, i["node.x"], pyg.SimpleConv(aggr="sum")(i["node.x"], i["g"])))


NORMS = [
    norm("batch_norm", "BatchNorm()", lambda: pyg.BatchNorm(6)),
    norm("batch_norm_plain", "BatchNorm(affine = false, track = false)",
         lambda: pyg.BatchNorm(6, affine=False, track_running_stats=False)),
    *both("graph_norm", "GraphNorm()", lambda: pyg.GraphNorm(6)),
    *both("instance_norm", "InstanceNorm()", lambda: pyg.InstanceNorm(6)),
    *both("instance_norm_track", "InstanceNorm(affine = true, track = true, momentum = 0.3)",
          lambda: pyg.InstanceNorm(6, affine=True, track_running_stats=True, momentum=0.3)),
    *both("pair_norm", "PairNorm()", pyg.PairNorm),
    *both("pair_norm_rows", "PairNorm(2.0, true)", lambda: pyg.PairNorm(2.0, True)),
    *both("mean_subtraction_norm", "MeanSubtractionNorm()", pyg.MeanSubtractionNorm),
    *both("graph_size_norm", "GraphSizeNorm()", pyg.GraphSizeNorm),
    *both("layer_norm", "LayerNorm()", lambda: pyg.LayerNorm(6)),
    *both("layer_norm_plain", "LayerNorm(affine = false)",
          lambda: pyg.LayerNorm(6, affine=False)),
    *both("layer_norm_node", "LayerNorm(mode = \"node\")", lambda: pyg.LayerNorm(6, mode="node")),
    norm("diff_group_norm", "DiffGroupNorm(3)", lambda: pyg.DiffGroupNorm(6, 3), names=plain_norm),
    norm("diff_group_norm_plain", "DiffGroupNorm(2, 0.1, affine = false, track = false)",
         lambda: pyg.DiffGroupNorm(6, 2, 0.1, affine=False, track_running_stats=False)),
    *and_edgeless([
        message_norm("message_norm", ""),
        message_norm("message_norm_learn", "true", learn_scale=True),
        message_norm("message_norm_one", "p = 1", lambda m, x, y: m(x, y, 1.0))]),
    norm_of_types("hetero_layer_norm", "HeteroLayerNorm()", lambda: pyg.HeteroLayerNorm(6, KINDS)),
    norm_of_types("hetero_layer_norm_plain", "HeteroLayerNorm(affine = false)",
                  lambda: pyg.HeteroLayerNorm(6, KINDS, affine=False)),
    norm_of_types("hetero_batch_norm", "HeteroBatchNorm()",
                  lambda: pyg.HeteroBatchNorm(6, KINDS)),
    norm_of_types("hetero_batch_norm_bare", "HeteroBatchNorm(affine = false, track = false)",
                  lambda: pyg.HeteroBatchNorm(6, KINDS, affine=False, track_running_stats=False)),
]
CASES = NORMS
