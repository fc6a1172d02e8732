"""Cases of norms, aggregators, pools that choose, and models."""
import torch
from torch import nn
from torch_geometric import nn as pyg

from typed_case import KINDS, ROWS, Case, and_edgeless

ALONE = "g: graph, x: node[f]"
MANY = "x: node[f], member: node -> graph"


def norm(name, layer, build):
    """Over all rows."""
    return Case(name, ALONE, "node[6]", f"norm = {layer} as \"\"\n  return norm(x)", build,
                lambda m, i: m(i["node.x"]))


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
    norm("diff_group_norm", "DiffGroupNorm(3)", lambda: pyg.DiffGroupNorm(6, 3)),
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


class Behind(nn.Module):
    """A linear layer, and an aggregator of what its outputs send."""

    def __init__(self, aggr, act=lambda x: x):
        super().__init__()
        self.lin, self.aggr, self.act = nn.Linear(6, 6), aggr, act

    def forward(self, x, source, target, rows):
        return self.aggr(self.act(self.lin(x))[source], target, dim_size=rows)


def aggregator(name, layer, build, width=6, act=None, more=""):
    """Of messages, and as a pool."""
    lin = "lin = Linear(6)\n  " + (f"h = {act}(lin(x))" if act else "h = lin(x)")
    aggr, made = ("aggr", f"aggr = {layer}\n  ") if "(" in layer else (layer, "")
    function = {None: lambda x: x, "relu": torch.relu}[act]
    every = torch.arange(ROWS["node"])
    return and_edgeless([
        Case(name, ALONE, f"node[{width}]", f"{lin}\n  {made}return {aggr}(u -> v in g: h[u]{more})",
             lambda: Behind(build(), function),
             lambda m, i: m(i["node.x"], i["g"][0], i["g"][1], ROWS["node"]))]) + [
        Case(f"{name}_pool", MANY, f"graph[{width}]",
             f"{lin}\n  {made}return {aggr}(v -> m in member: h[v]{more})",
             lambda: Behind(build(), function),
             lambda m, i: m(i["node.x"], every, i["member"][1], ROWS["graph"]))]


def several(names):
    return ", ".join(f"Aggregation(\"{n}\")" for n in names)


DEGREES = [2, 3, 1, 0, 1]
SCALERS = ["identity", "amplification", "attenuation", "linear", "inverse_linear"]
ALL_SCALERS = "[" + ", ".join(f"\"{s}\"" for s in SCALERS) + "]"


def scaled(aggrs, scalers=SCALERS, **kwargs):
    return lambda: pyg.DegreeScalerAggregation(aggrs, scalers, torch.tensor(DEGREES), **kwargs)


AGGREGATORS = [
    *[case for aggr in ("sum", "mean", "max", "min", "mul", "var", "std")
      for case in aggregator(f"aggr_{aggr}", f"Aggregation(\"{aggr}\")",
                             lambda aggr=aggr: pyg.aggr.MultiAggregation([aggr]))],
    *aggregator("aggr_mul_zeros", "mul", pyg.aggr.MulAggregation, act="relu"),
    *[case for aggr, make in (("var", pyg.aggr.VarAggregation), ("std", pyg.aggr.StdAggregation))
      for case in aggregator(f"aggr_{aggr}_half", aggr, lambda make=make: make(semi_grad=True),
                             more=", semi_grad = true")],
    *aggregator("aggr_vpa", "vpa", pyg.aggr.VariancePreservingAggregation),
    *aggregator("aggr_softmax", "SoftmaxAggregation()", pyg.aggr.SoftmaxAggregation),
    *aggregator("aggr_softmax_semi", "SoftmaxAggregation(0.5, semi_grad = true)",
                lambda: pyg.aggr.SoftmaxAggregation(0.5, semi_grad=True)),
    *aggregator("aggr_softmax_learn", "SoftmaxAggregation(learn = true, channels = 6)",
                lambda: pyg.aggr.SoftmaxAggregation(learn=True, channels=6)),
    *aggregator("aggr_powermean", "PowerMeanAggregation()", pyg.aggr.PowerMeanAggregation),
    *aggregator("aggr_powermean_two", "PowerMeanAggregation(2.0, clamp_min = 0.01, clamp_max = 1.0)",
                lambda: pyg.aggr.PowerMeanAggregation(2.0, clamp_min=0.01, clamp_max=1.0)),
    *aggregator("aggr_powermean_learn", "PowerMeanAggregation(learn = true)",
                lambda: pyg.aggr.PowerMeanAggregation(learn=True)),
    *aggregator("aggr_deep_sets", "DeepSetsAggregation(Linear(5), Linear(4))",
                lambda: pyg.DeepSetsAggregation(nn.Linear(6, 5), nn.Linear(5, 4)), 4),
    *aggregator("aggr_cat", f"MultiAggregation([{several(('sum', 'std'))}, "
                "SoftmaxAggregation(learn = true)])", lambda: pyg.MultiAggregation(
                    ["sum", "std", pyg.SoftmaxAggregation(learn=True)]), 18),
    *[case for mode in ("sum", "mean", "max", "min")
      for case in aggregator(f"aggr_multi_{mode}", f"MultiAggregation([{several(('add', 'var'))}], "
                             f"\"{mode}\")", lambda mode=mode: pyg.MultiAggregation(
                                 ["add", "var"], mode=mode))],
    *aggregator("aggr_proj", f"MultiAggregation([{several(('mean', 'max'))}], \"proj\", 5)",
                lambda: pyg.MultiAggregation(["mean", "max"], mode="proj", mode_kwargs={
                    "in_channels": 6, "out_channels": 5}), 5),
    *aggregator("aggr_attn", f"MultiAggregation([{several(('mean', 'max', 'min'))}], \"attn\", 4, "
                "heads = 2)", lambda: pyg.MultiAggregation(
                    ["mean", "max", "min"], mode="attn", mode_kwargs={
                        "in_channels": 6, "out_channels": 4, "num_heads": 2}), 4),
    *aggregator("aggr_scaled", f"DegreeScalerAggregation(MultiAggregation([{several(('mean', 'std'))}"
                f"]), {ALL_SCALERS}, {DEGREES})", scaled(["mean", "std"]), 60),
    *aggregator("aggr_scaled_train", f"DegreeScalerAggregation(Aggregation(\"max\"), "
                f"{ALL_SCALERS}, {DEGREES}, train_norm = true)",
                lambda: pyg.DegreeScalerAggregation(pyg.MaxAggregation(), SCALERS,
                                                    torch.tensor(DEGREES), train_norm=True), 30),
]

def multiset(name, args, **kwargs):
    """In graphs that all have nodes."""
    member = [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)]
    return Case(name, MANY, "graph[6]", f"pool = GraphMultisetTransformer({args}) as \"\"\n"
                "  return pool(member, x)", lambda: pyg.GraphMultisetTransformer(6, **kwargs),
                lambda m, i: m(i["node.x"], i["member"][1], dim_size=ROWS["graph"]),
                edges={"member": member})



class Chosen(nn.Module):
    """A convolution of what a pool leaves, and 0 where it leaves nothing."""

    def __init__(self, pool):
        super().__init__()
        self.pool, self.conv = pool, pyg.GraphConv(6, 5)

    def forward(self, x, edges, batch=None, attn=None):
        y, left, _, _, chosen, _ = self.pool(x, edges, batch=batch, attn=attn)
        return x.new_zeros(len(x), 5).index_copy(0, chosen, self.conv(y, left))


def choosing(name, layer, build, attn=False):
    """Among all nodes, and among those of each graph."""
    body = (f"pool = {layer}\n  conv = GraphConv(5)\n  "
            f"y, h, kept = pool(g, x%s{', attn = attn' if attn else ''})\n"
            "  return unsqueeze(kept, -1) ? conv(h, y) : 0")
    more = {"inputs": ", attn: node[a] of float", "columns": {
        "node.attn": lambda rng: rng.standard_normal((ROWS["node"], 3))}} if attn else {}
    inputs, columns = more.get("inputs", ""), more.get("columns", {})
    of = lambda i: i["node.attn"] if attn else None
    return and_edgeless([
        Case(name, ALONE + inputs, "node[5]", body % "", lambda: Chosen(build()),
             lambda m, i: m(i["node.x"], i["g"], None, of(i)), columns=columns),
        Case(f"{name}_graphs", f"g: graph, {MANY}" + inputs, "node[5]", body % ", member",
             lambda: Chosen(build()),
             lambda m, i: m(i["node.x"], i["g"], i["member"][1], of(i)), columns=columns)])


POOLS = [
    *choosing("topk", "TopKPooling(0.12)", lambda: pyg.TopKPooling(6, min_score=0.12)),
    *choosing("topk_best", "TopKPooling(0.99, multiplier = 2.0)",
              lambda: pyg.TopKPooling(6, min_score=0.99, multiplier=2.0)),
    *choosing("topk_attn", "TopKPooling(0.12)", lambda: pyg.TopKPooling(3, min_score=0.12), True),
    *choosing("sag", "SAGPooling(0.12)", lambda: pyg.SAGPooling(6, min_score=0.12)),
    *choosing("sag_gcn", "SAGPooling(0.12, 0.5, GNN = GCNConv)",
              lambda: pyg.SAGPooling(6, min_score=0.12, multiplier=0.5, GNN=pyg.GCNConv)),
    multiset("multiset", "3", k=3),
    multiset("multiset_heads", "2, blocks = 2, heads = 3, layer_norm = true", k=2,
             num_encoder_blocks=2, heads=3, layer_norm=True),
]
CASES = NORMS + AGGREGATORS + POOLS
