"""Cases of norms, aggregators, pools that choose, and models."""
import numpy as np
import torch
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.transforms import SIGN
from torch_geometric.utils import to_dense_adj, to_dense_batch

from typed_case import EDGES, KINDS, ROWS, Case, and_edgeless

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
        Case(name, ALONE, f"node[{width}]",
             f"{lin}\n  {made}return {aggr}(u -> v in g: h[u]{more})",
             lambda: Behind(build(), function),
             lambda m, i: m(i["node.x"], i["g"][0], i["g"][1], ROWS["node"]))]) + [
        Case(f"{name}_pool", MANY, f"graph[{width}]",
             f"{lin}\n  {made}return {aggr}(v -> m in member: h[v]{more})",
             lambda: Behind(build(), function),
             lambda m, i: m(i["node.x"], every, i["member"][1], ROWS["graph"]))]


def quantile(q, how):
    """Which of them it is stays as it is, and is not drawn as weights are."""
    def made():
        aggr = pyg.aggr.QuantileAggregation(q, how)
        aggr._non_persistent_buffers_set.add("q")
        return aggr
    return made


class InOrder(nn.Module):
    """What an LSTM or a GRU comes to in each row, of no more than what the row has: PyTorch
    Geometric goes on with zeros."""

    def __init__(self, aggr):
        super().__init__()
        for name, part in aggr.named_children():
            self.add_module(name, part)

    def forward(self, x, index, dim_size):
        own, = self.children()
        rows = [x.new_zeros(own.hidden_size)] * dim_size
        for v in index.unique().tolist():
            rows[v] = own(x[index == v].unsqueeze(0))[0][0, -1]
        return torch.stack(rows)


# Two edges into each node, in order of these: where rows have as many, the two are the same.
TWO_EACH = [(3, 0), (1, 0), (0, 1), (1, 1), (2, 2), (2, 2), (5, 3), (0, 3), (1, 4), (6, 4), (4, 5),
            (5, 5), (0, 6), (2, 6)]


def several(names):
    return ", ".join(f"Aggregation(\"{n}\")" for n in names)


DEGREES = [2, 3, 1, 0, 1]
SCALERS = ["identity", "amplification", "attenuation", "linear", "inverse_linear"]
ALL_SCALERS = "[" + ", ".join(f"\"{s}\"" for s in SCALERS) + "]"


def scaled(aggrs, **kwargs):
    return lambda: pyg.DegreeScalerAggregation(aggrs, SCALERS, torch.tensor(DEGREES), **kwargs)


def scaled_by_itself(aggr):
    """By what the degrees of g are, which are no weights then."""
    target = torch.tensor([v for _, v in EDGES["g"][2]])
    degrees = torch.bincount(torch.bincount(target, minlength=ROWS["node"]))
    module = pyg.DegreeScalerAggregation(aggr, SCALERS, degrees)
    for name in ("avg_deg_lin", "avg_deg_log"):
        module.register_buffer(name, getattr(module, name), persistent=False)
    return module


AGGREGATORS = [
    *[case for aggr in ("sum", "mean", "max", "min", "mul", "var", "std")
      for case in aggregator(f"aggr_{aggr}", f"Aggregation(\"{aggr}\")",
                             lambda aggr=aggr: pyg.aggr.MultiAggregation([aggr]))],
    *aggregator("aggr_mul_zeros", "mul", pyg.aggr.MulAggregation, act="relu"),
    Case("aggr_inline", ALONE, "node[18]", "lin = Linear(6)\n  h = lin(x)\n  each = [var, vpa]\n"
         "  return concat(MultiAggregation([Aggregation(\"mean\")])(u -> v in g: h[u]),\n"
         "                concat([a(u -> v in g: h[u]) for a in each]))",
         lambda: Behind(pyg.MultiAggregation([
             "mean", "var", pyg.aggr.VariancePreservingAggregation()])),
         lambda m, i: m(i["node.x"], i["g"][0], i["g"][1], ROWS["node"])),
    *[case for aggr, make in (("var", pyg.aggr.VarAggregation), ("std", pyg.aggr.StdAggregation))
      for case in aggregator(f"aggr_{aggr}_half", aggr, lambda make=make: make(semi_grad=True),
                             more=", semi_grad = true")],
    # PyTorch Geometric fails where there are no edges at all.
    *[case for name, layer, build in (
        ("aggr_median", "MedianAggregation()", quantile(0.5, "lower")),
        *((f"aggr_quantile_{how}", f"QuantileAggregation(0.3, \"{how}\")", quantile(0.3, how))
          for how in ("linear", "lower", "higher", "midpoint", "nearest")))
      for case in aggregator(name, layer, build) if not case.name.endswith("_edgeless")],
    *[case for name, layer, width, build in (
        ("aggr_lstm", "LSTMAggregation(4)", 4, lambda: InOrder(pyg.LSTMAggregation(6, 4))),
        ("aggr_gru", "GRUAggregation(5)", 5, lambda: InOrder(pyg.GRUAggregation(6, 5))))
      for case in aggregator(name, layer, build, width) if not case.name.endswith("_edgeless")],
    *[Case(name, ALONE, "node[5]", f"conv = SAGEConv(5, {aggr}) as \"\"\n  return conv(g, x)",
           lambda build=build: pyg.SAGEConv(6, 5, aggr=build()),
           lambda m, i: m(i["node.x"], i["g"]), edges={"g": TWO_EACH})
      for name, aggr, build in (
          ("sage_lstm", "\"lstm\"", lambda: "lstm"),
          ("sage_gru", "GRUAggregation(6)", lambda: pyg.GRUAggregation(6, 6)))],
    *aggregator("aggr_vpa", "vpa", pyg.aggr.VariancePreservingAggregation),
    *aggregator("aggr_softmax", "SoftmaxAggregation()", pyg.aggr.SoftmaxAggregation),
    *aggregator("aggr_softmax_semi", "SoftmaxAggregation(0.5, semi_grad = true)",
                lambda: pyg.aggr.SoftmaxAggregation(0.5, semi_grad=True)),
    *aggregator("aggr_softmax_learn", "SoftmaxAggregation(learn = true, channels = 6)",
                lambda: pyg.aggr.SoftmaxAggregation(learn=True, channels=6)),
    *aggregator("aggr_powermean", "PowerMeanAggregation()", pyg.aggr.PowerMeanAggregation),
    *aggregator("aggr_powermean_two",
                "PowerMeanAggregation(2.0, clamp_min = 0.01, clamp_max = 1.0)",
                lambda: pyg.aggr.PowerMeanAggregation(2.0, clamp_min=0.01, clamp_max=1.0)),
    *aggregator("aggr_powermean_learn", "PowerMeanAggregation(learn = true)",
                lambda: pyg.aggr.PowerMeanAggregation(learn=True)),
    *aggregator("aggr_deep_sets", "DeepSetsAggregation(Linear(5), Linear(4))",
                lambda: pyg.DeepSetsAggregation(nn.Linear(6, 5), nn.Linear(5, 4)), 4),
    *aggregator("aggr_deep_sets_local", "DeepSetsAggregation(Linear(5))",
                lambda: pyg.DeepSetsAggregation(nn.Linear(6, 5)), 5),
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
    *aggregator("aggr_scaled", "DegreeScalerAggregation(MultiAggregation(["
                f"{several(('mean', 'std'))}]), {ALL_SCALERS}, {DEGREES})",
                scaled(["mean", "std"]), 60),
    *aggregator("aggr_scaled_train", f"DegreeScalerAggregation(Aggregation(\"max\"), "
                f"{ALL_SCALERS}, {DEGREES}, train_norm = true)",
                scaled(pyg.MaxAggregation(), train_norm=True), 30),
    aggregator("aggr_scaled_own", f"DegreeScalerAggregation(Aggregation(\"sum\"), {ALL_SCALERS})",
               lambda: scaled_by_itself(pyg.SumAggregation()), 30)[0],
]

def multiset(name, args, **kwargs):
    return Case(name, MANY, "graph[6]", f"pool = GraphMultisetTransformer({args}) as \"\"\n"
                "  return pool(member, x)", lambda: pyg.GraphMultisetTransformer(6, **kwargs),
                lambda m, i: m(i["node.x"], i["member"][1], dim_size=ROWS["graph"]))



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


# Edges inside of graphs, none of which is empty, and none of which is there twice.
WITHIN = {"g": [(0, 1), (1, 0), (1, 1), (2, 3), (3, 2), (2, 2), (4, 5), (5, 4), (5, 5), (6, 6)],
          "member": [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3)]}


class Dense(nn.Module):
    """A pool of dense matrices, behind a linear layer that chooses clusters if it has none: all
    that it gives, side by side."""

    def __init__(self, pool, chosen=True):
        super().__init__()
        self.lin = nn.Linear(6, 3) if chosen else None
        self.pool = pool

    def forward(self, x, edges, batch=None):
        batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
        dense, mask = to_dense_batch(x, batch)
        adj = to_dense_adj(edges, batch).to(x.dtype)
        if self.lin is None:
            _, *parts = self.pool(dense, adj, mask)
        else:
            parts = self.pool(dense, adj, self.lin(dense), mask)
        rows = [p.expand(len(adj))[:, None] if p.dim() == 0 else p.flatten(1) for p in parts]
        return torch.cat(rows, 1)


def dense_pool(name, chosen, call, losses, build):
    """What it gives of each graph, and its losses in each."""
    lin = "lin = Linear(3)\n  s = lin(x)\n  " if chosen else "pool = DMoNPooling(3)\n  "
    names = "h, a, " + ", ".join(losses)
    if not chosen:
        names = "s, " + names
    each = "fill(sum(h, axis = [0, 1]), 1)"
    rest = ", ".join(f"unsqueeze({loss} * {each}, -1)" for loss in losses)
    body = (f"{lin}{names} = {call.format('member')}\n"
            f"  return concat(flatten(h), flatten(a), {rest})")
    width = 18 + 9 + len(losses)
    return [Case(f"{name}_graphs", f"g: graph, {MANY}", f"graph[{width}]", body,
                 lambda: Dense(build(), chosen),
                 lambda m, i: m(i["node.x"], i["g"], i["member"][1]), edges=WITHIN)]


POOLS = [
    *dense_pool("diff_pool", True, "diff_pool(g, x, s, {})", ["link", "entropy"],
                lambda: pyg.dense_diff_pool),
    *dense_pool("mincut_pool", True, "mincut_pool(g, x, s, {}, temp = 2.0)", ["cut", "apart"],
                lambda: lambda x, a, s, m: pyg.dense_mincut_pool(x, a, s, m, temp=2.0)),
    *dense_pool("dmon_pool", False, "pool(g, x, {})", ["spectral", "apart", "even"],
                lambda: pyg.DMoNPooling(6, 3)),
    *[Case(name, MANY, "graph[10]", f"pool = MemPooling(5, {args}) as \"\"\n"
           "  h, s = pool(x, member)\n  return flatten(h)",
           lambda kwargs=kwargs: pyg.MemPooling(6, 5, **kwargs),
           lambda m, i: m(i["node.x"], i["member"][1], batch_size=ROWS["graph"])[0].flatten(1))
      for name, args, kwargs in (
          ("mem_pool", "3, 2", {"heads": 3, "num_clusters": 2}),
          ("mem_pool_tau", "1, 2, tau = 2.0", {"heads": 1, "num_clusters": 2, "tau": 2.0}))],
    Case("aggr_mlp", MANY, "graph[4]", "aggr = MLPAggregation(2, MLP([5, 4], norm = false)) as "
         "\"\"\n  return aggr(v -> m in member: x[v])",
         lambda: pyg.aggr.MLPAggregation(6, 4, 2, num_layers=2, hidden_channels=5, norm=None),
         lambda m, i: m(i["node.x"], i["member"][1], dim_size=ROWS["graph"]), edges=WITHIN),
    *choosing("topk", "TopKPooling(min_score = 0.12)", lambda: pyg.TopKPooling(6, min_score=0.12)),
    *choosing("topk_best", "TopKPooling(min_score = 0.99, multiplier = 2.0)",
              lambda: pyg.TopKPooling(6, min_score=0.99, multiplier=2.0)),
    *choosing("topk_attn", "TopKPooling(min_score = 0.12)",
              lambda: pyg.TopKPooling(3, min_score=0.12), True),
    *choosing("sag", "SAGPooling(min_score = 0.12)", lambda: pyg.SAGPooling(6, min_score=0.12)),
    *choosing("sag_gcn", "SAGPooling(min_score = 0.12, multiplier = 0.5, GNN = GCNConv)",
              lambda: pyg.SAGPooling(6, min_score=0.12, multiplier=0.5, GNN=pyg.GCNConv)),
    *choosing("topk_ratio", "TopKPooling()", lambda: pyg.TopKPooling(6)),
    *choosing("topk_most", "TopKPooling(2, nonlinearity = sigmoid)",
              lambda: pyg.TopKPooling(6, 2, nonlinearity="sigmoid")),
    *choosing("sag_ratio", "SAGPooling(0.7, multiplier = 0.5)",
              lambda: pyg.SAGPooling(6, 0.7, multiplier=0.5)),
    Case("sort_pool", MANY, "graph[12]", "pool = SortAggregation(2) as \"\"\n"
         "  return pool(v -> m in member: x[v])", lambda: pyg.SortAggregation(2),
         lambda m, i: m(i["node.x"], i["member"][1], dim_size=ROWS["graph"])),
    *[Case(name, MANY, f"graph[{width}]", f"pool = SetTransformerAggregation({args}) as \"\"\n"
           "  return pool(member, x)",
           lambda kwargs=kwargs: pyg.SetTransformerAggregation(6, **kwargs),
           lambda m, i: m(i["node.x"], i["member"][1], dim_size=ROWS["graph"]))
      for name, width, args, kwargs in (
          ("set_transformer", 6, "", {}),
          ("set_transformer_many", 18, "3, heads = 2, decoder_blocks = 2, layer_norm = true",
           {"num_seed_points": 3, "heads": 2, "num_decoder_blocks": 2, "layer_norm": True}),
          ("set_transformer_mean", 6, "3, heads = 3, encoder_blocks = 2, concat = false",
           {"num_seed_points": 3, "heads": 3, "num_encoder_blocks": 2, "concat": False}))],
    multiset("multiset", "3", k=3),
    multiset("multiset_heads", "2, blocks = 2, heads = 3, layer_norm = true", k=2,
             num_encoder_blocks=2, heads=3, layer_norm=True),
]


def basic(name, model, build, width=5, attr=False):
    """A model of several convolutions."""
    inputs = ALONE + (", attr: edge[d]" if attr else "")
    return Case(name, inputs, f"node[{width}]",
                f"net = {model} as \"\"\n  return net(g, x{', attr' if attr else ''})", build,
                lambda m, i: m(i["node.x"], i["g"], edge_attr=i["g.attr"] if attr else None))


class Jumping(nn.Module):
    """Three layers, and what all of them say."""

    def __init__(self, mode):
        super().__init__()
        self.lins = nn.ModuleList([nn.Linear(6, 4), nn.Linear(4, 4), nn.Linear(4, 4)])
        self.jk = pyg.JumpingKnowledge(mode, 4, 3)

    def forward(self, x):
        xs = []
        for lin in self.lins:
            x = lin(x).tanh()
            xs.append(x)
        return self.jk(xs)


def jumping(mode, width=4):
    return Case(f"jk_{mode}", ALONE, f"node[{width}]",
                "lins = [Linear(4) for i in 0..3]\n  h = x\n  hs = []\n"
                "  for lin in lins {\n    h = tanh(lin(h))\n    hs = hs + [h]\n  }\n"
                f"  jk = JumpingKnowledge(\"{mode}\")\n  return jk(hs)", lambda: Jumping(mode),
                lambda m, i: m(i["node.x"]))


def deep(name, args, build, width=6, attr=False):
    inputs = ALONE + (", attr: edge[d]" if attr else "")
    return Case(name, inputs, f"node[{width}]",
                f"block = DeepGCNLayer({args}) as \"\"\n"
                f"  return block(g, x{', attr' if attr else ''})", build,
                lambda m, i: m(i["node.x"], i["g"], *([i["g.attr"]] if attr else [])))


class Sign(nn.Module):
    """PyTorch Geometric's examples/sign.py behind its transform."""

    def __init__(self, hops):
        super().__init__()
        self.transform = SIGN(hops)
        self.lins = nn.ModuleList([nn.Linear(6, 4) for _ in range(hops + 1)])
        self.lin = nn.Linear(4 * (hops + 1), 5)

    def forward(self, x, edges):
        data = self.transform(Data(x=x, edge_index=edges, edge_weight=x.new_ones(edges.size(1))))
        xs = [x] + [data[f"x{k}"] for k in range(1, len(self.lins))]
        return self.lin(torch.cat([lin(y).relu() for lin, y in zip(self.lins, xs)], dim=-1))


def linkx(name, args, **kwargs):
    return Case(name, ALONE, "node[5]", f"net = LINKX(4, 5, {args}) as \"\"\n  return net(g, x)",
                lambda: pyg.LINKX(ROWS["node"], 6, 4, 5, **kwargs),
                lambda m, i: m(i["node.x"], i["g"]))


class Spread(nn.Module):
    """What learns nothing, and a linear layer of it."""

    def __init__(self, spread, width):
        super().__init__()
        self.spread, self.lin = spread, nn.Linear(width, 5)

    def forward(self, *args):
        return self.lin(self.spread(*args))


LABELS = "type: node of int, seen: node of int"
SEEN = {"node.seen": lambda rng: np.array([1, 0, 1, 1, 0, 0, 1], np.int64)}


def one_hot(i):
    return nn.functional.one_hot(i["node.type"], KINDS).to(i["node.x"].dtype)


def spread(name, layer, call, build, run, inputs=f"g: graph, {LABELS}", width=KINDS, columns=SEEN):
    return Case(name, inputs, "node[5]", f"spread = {layer}\n  lin = Linear(5)\n"
                f"  return lin(spread({call}))", lambda: Spread(build(), width), run,
                columns=columns)


def correct(name, args, **kwargs):
    """Of the softmax of a column."""
    return spread(name, f"CorrectAndSmooth(3, 0.5, 2, 0.4{args})",
                  "g, soft, type, seen == 1",
                  lambda: pyg.CorrectAndSmooth(3, 0.5, 2, 0.4, **kwargs),
                  lambda m, i: m(i["node.soft"], i["node.type"][i["node.seen"] == 1],
                                 i["node.seen"] == 1, i["g"]),
                  f"g: graph, soft: node[c] of float, {LABELS}",
                  columns=SEEN | {"node.soft": lambda rng: rng.dirichlet(
                      [1.0] * KINDS, ROWS["node"]).astype(np.float32)})


def masked(name, args, width, **kwargs):
    return Case(name, f"g: graph, x: node[f], {LABELS}", f"node[{width}]",
                f"label = MaskLabel({KINDS}, {args}) as \"\"\n  return label(x, type, seen == 1)",
                lambda: pyg.MaskLabel(KINDS, **kwargs),
                lambda m, i: m(i["node.x"], i["node.type"], i["node.seen"] == 1), columns=SEEN)


ELU = nn.ELU()
MODELS = and_edgeless([
    basic("gcn_model", "GCN(4, 3, 5)", lambda: pyg.GCN(6, 4, 3, 5)),
    basic("gcn_model_one", "GCN(4, 1)", lambda: pyg.GCN(6, 4, 1), 4),
    basic("gcn_model_norm", "GCN(4, 2, 5, act = elu, norm = GraphNorm)",
          lambda: pyg.GCN(6, 4, 2, 5, act="elu", norm="graph_norm")),
    basic("gcn_model_first", "GCN(4, 2, 5, act_first = true, norm = LayerNorm, jk = \"last\")",
          lambda: pyg.GCN(6, 4, 2, 5, act_first=True, norm="layer_norm", jk="last")),
    basic("sage_model", "GraphSAGE(4, 2, 5, act = tanh, jk = \"cat\", aggr = \"max\")",
          lambda: pyg.GraphSAGE(6, 4, 2, 5, act="tanh", jk="cat", aggr="max")),
    basic("sage_model_max", "GraphSAGE(4, 2, act = silu, jk = \"max\", bias = false)",
          lambda: pyg.GraphSAGE(6, 4, 2, act="silu", jk="max", bias=False), 4),
    basic("gin_model", "GIN(4, 2, 5, act = elu)", lambda: pyg.GIN(6, 4, 2, 5, act="elu")),
    basic("gin_model_norm", "GIN(4, 2, 5, act = elu, norm = InstanceNorm, jk = \"lstm\", "
          "train_eps = true)", lambda: pyg.GIN(6, 4, 2, 5, act="elu", norm="instance_norm",
                                               jk="lstm", train_eps=True)),
    basic("gat_model", "GAT(4, 3, 5, act = elu, heads = 2)",
          lambda: pyg.GAT(6, 4, 3, 5, act="elu", heads=2)),
    basic("gat_model_edge", "GAT(4, 2, 5, act = elu, heads = 2, v2 = true, jk = \"cat\")",
          lambda: pyg.GAT(6, 4, 2, 5, act="elu", heads=2, v2=True, jk="cat", edge_dim=3),
          attr=True),
    basic("edge_cnn", "EdgeCNN(4, 2, 5, act = elu)",
          lambda: pyg.EdgeCNN(6, 4, 2, 5, act="elu")),
    basic("pna_model", f"PNA(4, 2, 5, aggregators = [\"mean\", \"min\"], scalers = {ALL_SCALERS}, "
          f"deg = {DEGREES}, act = elu)", lambda: pyg.PNA(
              6, 4, 2, 5, act="elu", aggregators=["mean", "min"], scalers=SCALERS,
              deg=torch.tensor(DEGREES))),
    basic("pna_model_edge", f"PNA(4, 2, 5, aggregators = [\"max\", \"sum\"], scalers = "
          f"[\"identity\"], deg = {DEGREES}, act = elu, jk = \"max\", towers = 2, post_layers = 2)",
          lambda: pyg.PNA(6, 4, 2, 5, act="elu", aggregators=["max", "sum"], scalers=["identity"],
                          deg=torch.tensor(DEGREES), jk="max", towers=2, post_layers=2,
                          edge_dim=3), attr=True),
    deep("deepgcn", "GraphConv(6), LayerNorm(), elu",
         lambda: pyg.DeepGCNLayer(pyg.GraphConv(6, 6), pyg.LayerNorm(6), ELU)),
    deep("deepgcn_res", "GCNConv(6), norm = LayerNorm(), act = elu, block = \"res\"",
         lambda: pyg.DeepGCNLayer(pyg.GCNConv(6, 6), pyg.LayerNorm(6), ELU, "res")),
    deep("deepgcn_dense", "GCNConv(4), act = elu, block = \"dense\"",
         lambda: pyg.DeepGCNLayer(pyg.GCNConv(6, 4), None, ELU, "dense"), 10),
    deep("deepgcn_plain", "GATConv(4), norm = LayerNorm(), block = \"plain\"",
         lambda: pyg.DeepGCNLayer(pyg.GATConv(6, 4, edge_dim=3), pyg.LayerNorm(4), None, "plain"),
         4, True),
    Case("group_add", ALONE, "node[6]", "block = GroupAddRev([GraphConv(2) for i in 0..3]) as "
         "\"\"\n  return block(g, x)", lambda: pyg.GroupAddRev(
             nn.ModuleList([pyg.GraphConv(2, 2) for _ in range(3)]), disable=True),
         lambda m, i: m(i["node.x"], i["g"])),
    Case("sign", ALONE, "node[5]", "net = SIGN(4, 5, p = 0.0) as \"\"\n  return net(g, x)",
         lambda: Sign(2), lambda m, i: m(i["node.x"], i["g"])),
    linkx("linkx", "2", num_layers=2),
    linkx("linkx_deep", "3, edge_layers = 3, node_layers = 2", num_layers=3, num_edge_layers=3,
          num_node_layers=2),
    spread("label_propagation", "LabelPropagation(3, 0.7)", f"g, one_hot(type, {KINDS})",
           lambda: pyg.LabelPropagation(3, 0.7), lambda m, i: m(one_hot(i), i["g"]),
           f"g: graph, type: node of int", columns={}),
    spread("label_propagation_mask", "LabelPropagation(3, 0.7)",
           f"g, one_hot(type, {KINDS}), seen == 1", lambda: pyg.LabelPropagation(3, 0.7),
           lambda m, i: m(one_hot(i), i["g"], i["node.seen"] == 1)),
    correct("correct_and_smooth", ""),
    correct("correct_and_smooth_scale", ", autoscale = false, scale = 0.8", autoscale=False,
            scale=0.8),
]) + [
    Case("mlp_last", ALONE, "node[5]", "mlp = MLP([4, 5], act = elu, plain_last = false) as "
         "\"\"\n  return mlp(x)", lambda: pyg.MLP([6, 4, 5], act="elu", plain_last=False),
         lambda m, i: m(i["node.x"])),
    Case("mlp_first", ALONE, "node[5]", "mlp = MLP([4, 5], act = elu, act_first = true, norm_layer "
         "= GraphNorm, bias = false) as \"\"\n  return mlp(x)", lambda: pyg.MLP(
             [6, 4, 5], act="elu", act_first=True, norm="graph_norm", bias=False),
         lambda m, i: m(i["node.x"])),
    jumping("cat", 12),
    jumping("max"),
    jumping("lstm"),
    masked("mask_label", "6", 6, out_channels=6),
    masked("mask_label_concat", "3, \"concat\"", 9, out_channels=3, method="concat"),
]
CASES = NORMS + AGGREGATORS + POOLS + MODELS
