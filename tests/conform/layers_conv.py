"""Cases of convolutions over one relation."""
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric import nn as pyg

from typed_case import KINDS, Case, and_edgeless

BOTH = (6, 4)


def homogeneous(name, layer, build, width=5, call="g, x", run=None):
    """Over a graph of one type."""
    run = run or (lambda m, i: m(i["node.x"], i["g"]))
    return Case(name, "g: graph, x: node[f]", f"node[{width}]",
                f"conv = {layer} as \"\"\n  return conv({call})", build, run)


def weights(i):
    return 0.2 + (i["g.attr"] ** 2).sum(-1)


def weighed(name, layer, build, width=5, call="a, x", run=None):
    """The same with weights of edges."""
    run = run or (lambda m, i: m(i["node.x"], i["g"], weights(i)))
    return Case(name, "g: graph, x: node[f], attr: edge[d]", f"node[{width}]",
                f"conv = {layer} as \"\"\n"
                "  a = weighted(g, 0.2 + sum(attr * attr, axis = -1))\n"
                f"  return conv({call})", build, run)


def filled(name, layer, build, width=5):
    """With features of edges."""
    return Case(name, "g: graph, x: node[f], attr: edge[d]", f"node[{width}]",
                f"conv = {layer} as \"\"\n  return conv(g, x, attr = attr)", build,
                lambda m, i: m(i["node.x"], i["g"], i["g.attr"]))


def bipartite(name, layer, build, width=5, call="writes, z, y = x"):
    """From authors to papers."""
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
                f"node.paper[{width}]", f"conv = {layer} as \"\"\n  return conv({call})", build,
                lambda m, i: m((i["author.x"], i["paper.x"]), i["writes"]))


class Even(nn.Module):
    """A layer whose two ends have one width."""

    def __init__(self, conv):
        super().__init__()
        self.side, self.conv = nn.Linear(4, 6, bias=False), conv

    def forward(self, x, y, *edges):
        return self.conv((x, self.side(y)), *edges)


def even(name, layer, build, width=5, call="writes, z, side(x)"):
    """From authors to papers that a matrix makes as wide."""
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
                f"node.paper[{width}]", "side = Linear(6, bias = false)\n"
                f"  conv = {layer}\n  return conv({call})", lambda: Even(build()),
                lambda m, i: m(i["author.x"], i["paper.x"], *[i["writes"]] * call.count("writes")))


def first(name, layer, build, call="g, x, 2 * x"):
    """With the input of the first layer, which is twice this one's."""
    return homogeneous(name, layer, build, 6, call, lambda m, i: m(i["node.x"], 2 * i["node.x"],
                                                                   i["g"]))


def first_weighed(name, layer, build):
    return weighed(name, layer, build, 6, "a, x, 2 * x",
                   lambda m, i: m(i["node.x"], 2 * i["node.x"], i["g"], weights(i)))


def split_edges(i):
    """Edges of kind 0, and others."""
    return i["g"][:, i["g.kind"] == 0], i["g"][:, i["g.kind"] > 0]


def signed(name, layer, build):
    """Along two relations: good and bad edges."""
    return Case(name, "g: graph, x: node[f], kind: edge of int", "node[10]",
                f"conv = {layer} as \"\"\n"
                "  return conv(only(g, kind == 0), only(g, kind > 0), x)", build,
                lambda m, i: m(i["node.x"], *split_edges(i)))


def film(name, args, **options):
    return Case(name, "g: graph, x: node[f], kind: edge of int", "node[5]",
                f"conv = FiLMConv(5{args}) as \"\"\n  return conv(g, x, kind)",
                lambda: pyg.FiLMConv(6, 5, KINDS, **options),
                lambda m, i: m(i["node.x"], i["g"], i["g.kind"]))


class Layered(nn.Module):
    """Nodes with what three layers gave."""

    def __init__(self, weighted=False, **options):
        super().__init__()
        self.side, self.conv, self.weighted = nn.Linear(6, 12), pyg.DNAConv(4, **options), weighted

    def forward(self, i):
        edges = (i["g"], weights(i)) if self.weighted else (i["g"],)
        return self.conv(self.side(i["node.x"]).view(-1, 3, 4), *edges)


def layered(name, args, weighted=False, **options):
    make = "\n  a = weighted(g, 0.2 + sum(attr * attr, axis = -1))" if weighted else ""
    return Case(name, "g: graph, x: node[f]" + (", attr: edge[d]" if weighted else ""), "node[4]",
                f"side = Linear(12)\n  conv = DNAConv({args}){make}\n"
                f"  return conv({'a' if weighted else 'g'}, reshape(side(x), [3, 4]))",
                lambda: Layered(weighted, **options), lambda m, i: m(i))


class Held(nn.Module):
    """Nodes in hyperedges, which papers are."""

    def __init__(self, weight, attr, **options):
        super().__init__()
        self.conv = pyg.HypergraphConv(6, 5, **options)
        self.weight = nn.Linear(4, 1) if weight else None
        self.side = nn.Linear(4, 6, bias=False) if attr else None

    def forward(self, x, y, edges):
        return self.conv(x, edges, self.weight(y).abs().squeeze(-1) if self.weight else None,
                         self.side(y) if self.side else None, num_edges=len(y))


def hypergraph(name, args, width=5, weight=False, attr=False, **options):
    lines = ["weight = Linear(1)"] * weight + ["side = Linear(6, bias = false)"] * attr
    given = [", weight = abs(weight(x)[0])"] * weight + [", attr = side(x)"] * attr
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
                f"node.author[{width}]",
                "\n  ".join(lines + [f"conv = HypergraphConv(5{args})",
                                     f"return conv(writes, z{''.join(given)})"]),
                lambda: Held(weight, attr, **options),
                lambda m, i: m(i["author.x"], i["paper.x"], i["writes"]))


class Attending(pyg.SuperGATConv):
    """With the loss of attention, for edges turned round as negatives."""

    def forward(self, x, edges):
        out = super().forward(x, edges, edges.flip(0))
        return out + self.get_attention_loss() if self.training and len(self.att_x) else out


def supergat(name, args, width, **options):
    return Case(name, "g: graph, x: node[f]", f"node[{width}]",
                f"conv = SuperGATConv({args}) as \"\"\n"
                "  h, loss = conv(g, x, reverse(g))\n  return h + loss",
                lambda: Attending(6, 5, **options), lambda m, i: m(i["node.x"], i["g"]))


class Pan(nn.Module):
    """PANConv with dense matrices, as PyTorch Geometric needs torch-sparse for its own."""

    def __init__(self, width, filter_size):
        super().__init__()
        self.lin, self.weight = pyg.Linear(6, width), nn.Parameter(torch.empty(filter_size + 1))

    def forward(self, x, edges):
        n = len(x)
        adj = torch.zeros(n, n, dtype=x.dtype)
        adj.index_put_((edges[1], edges[0]), torch.ones(edges.shape[1], dtype=x.dtype), True)
        walks, step, there = 0, torch.eye(n, dtype=x.dtype), torch.zeros(n, n, dtype=torch.bool)
        weight = 1
        for k in range(len(self.weight)):
            weight = weight * self.weight[k]
            walks, there, step = walks + weight * step, there | (step > 0), step @ adj
        norm = there.sum(1).to(x.dtype).rsqrt()
        return self.lin(norm[:, None] * walks * norm @ x)


def pan(name, filter_size):
    return homogeneous(name, f"PANConv(5, {filter_size})", lambda: Pan(5, filter_size))


class Unpadded(pyg.attention.PerformerAttention):
    """Each graph by itself, so that no padding counts among the keys."""

    def forward(self, x, mask):
        out = torch.zeros_like(x)
        for k in range(len(x)):
            if mask[k].any():
                out[k, mask[k]] = super().forward(x[k:k + 1, mask[k]])[0]
        return out


def gps(name, args, build=None, member=False, heads=2, **options):
    """A case and another where there are many graphs."""
    def make():
        conv = pyg.GPSConv(6, build() if build else None, heads, **options)
        if options.get("attn_type") == "performer":
            conv.attn = Unpadded(6, heads, **options["attn_kwargs"])
        return conv
    return Case(name, "g: graph, x: node[f]" + ", member: node -> graph" * member, "node[6]",
                f"conv = GPSConv({args}) as \"\"\n"
                f"  return conv(g, x{', member' * member})", make,
                lambda m, i: m(i["node.x"], i["g"], i["member"][1] if member else None),
                edges={"member": [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 2), (6, 3)]})


EDGELESS = [
    homogeneous("simple", "SimpleConv()", lambda: pyg.SimpleConv(), 6),
    homogeneous("simple_max", "SimpleConv(\"max\", \"cat\")",
                lambda: pyg.SimpleConv("max", "cat"), 12),
    homogeneous("simple_loops", "SimpleConv(\"mean\", combine_root = \"self_loop\")",
                lambda: pyg.SimpleConv("mean", "self_loop"), 6),
    homogeneous("gated_graph", "GatedGraphConv(8, 3)", lambda: pyg.GatedGraphConv(8, 3), 8),
    homogeneous("gated_graph_bare", "GatedGraphConv(6, 2, aggr = \"mean\", bias = false)",
                lambda: pyg.GatedGraphConv(6, 2, "mean", bias=False), 6),
    homogeneous("agnn", "AGNNConv()", lambda: pyg.AGNNConv(), 6),
    homogeneous("agnn_fixed", "AGNNConv(false, loops = false)",
                lambda: pyg.AGNNConv(False, add_self_loops=False), 6),
    homogeneous("arma", "ARMAConv(5)", lambda: pyg.ARMAConv(6, 5)),
    homogeneous("arma_stacks", "ARMAConv(5, num_stacks = 2, num_layers = 3)",
                lambda: pyg.ARMAConv(6, 5, 2, 3)),
    homogeneous("arma_shared", "ARMAConv(5, num_stacks = 2, num_layers = 3, shared = true, "
                "act = tanh, bias = false)",
                lambda: pyg.ARMAConv(6, 5, 2, 3, True, nn.Tanh(), bias=False)),
    homogeneous("ssg", "SSGConv(5, 0.1, K = 3)", lambda: pyg.SSGConv(6, 5, 0.1, 3)),
    homogeneous("ssg_bare", "SSGConv(5, 0.3, loops = false, bias = false)",
                lambda: pyg.SSGConv(6, 5, 0.3, add_self_loops=False, bias=False)),
    homogeneous("mf", "MFConv(5, 2)", lambda: pyg.MFConv(6, 5, 2)),
    homogeneous("mf_bare", "MFConv(5, bias = false)", lambda: pyg.MFConv(6, 5, bias=False)),
    homogeneous("cluster_gcn", "ClusterGCNConv(5)", lambda: pyg.ClusterGCNConv(6, 5)),
    homogeneous("cluster_gcn_diag", "ClusterGCNConv(5, 0.5, bias = false)",
                lambda: pyg.ClusterGCNConv(6, 5, 0.5, bias=False)),
    first("gcn2", "GCN2Conv(0.2)", lambda: pyg.GCN2Conv(6, 0.2)),
    first("gcn2_theta", "GCN2Conv(0.2, 0.5, 3, loops = false)",
          lambda: pyg.GCN2Conv(6, 0.2, 0.5, 3, add_self_loops=False)),
    first("gcn2_own", "GCN2Conv(0.2, 0.5, 3, shared = false)",
          lambda: pyg.GCN2Conv(6, 0.2, 0.5, 3, shared_weights=False)),
    homogeneous("le", "LEConv(5)", lambda: pyg.LEConv(6, 5)),
    homogeneous("lg", "LGConv()", lambda: pyg.LGConv(), 6),
    homogeneous("lg_bare", "LGConv(false)", lambda: pyg.LGConv(False), 6),
    first("fa", "FAConv()", lambda: pyg.FAConv(6)),
    first("fa_loopless", "FAConv(0.3, loops = false)",
          lambda: pyg.FAConv(6, 0.3, add_self_loops=False)),
    homogeneous("antisymmetric", "AntiSymmetricConv()", lambda: pyg.AntiSymmetricConv(6), 6),
    homogeneous("antisymmetric_phi", "AntiSymmetricConv(SAGEConv(6), num_iters = 2, epsilon = 0.2, "
                "gamma = 0.3, act = relu, bias = false)",
                lambda: pyg.AntiSymmetricConv(6, pyg.SAGEConv(6, 6), 2, 0.2, 0.3, "relu",
                                              bias=False), 6),
    homogeneous("mixhop", "MixHopConv(5)", lambda: pyg.MixHopConv(6, 5), 15),
    homogeneous("mixhop_gap", "MixHopConv(5, [3, 1], loops = false, bias = false)",
                lambda: pyg.MixHopConv(6, 5, [3, 1], add_self_loops=False, bias=False), 10),
    homogeneous("wl_continuous", "WLConvContinuous()", lambda: pyg.WLConvContinuous(), 6),
    homogeneous("feast", "FeaStConv(5, 3)", lambda: pyg.FeaStConv(6, 5, 3)),
    signed("signed", "SignedConv(5, true)", lambda: pyg.SignedConv(6, 5, True)),
    signed("signed_next", "SignedConv(5, false, bias = false)",
           lambda: pyg.SignedConv(3, 5, False, bias=False)),
    layered("dna", ""),
    layered("dna_groups", "heads = 2, groups = 4", heads=2, groups=4),
    layered("dna_loopless", "heads = 4, groups = 2, loops = false, bias = false", heads=4,
            groups=2, add_self_loops=False, bias=False),
    homogeneous("dir_gnn", "DirGNNConv(SAGEConv(5, root = false))",
                lambda: pyg.DirGNNConv(pyg.SAGEConv(6, 5))),
    homogeneous("dir_gnn_bare", "DirGNNConv(GATConv(5, loops = false), 0.3, root = false)",
                lambda: pyg.DirGNNConv(pyg.GATConv(6, 5), 0.3, False)),
    film("film", ", act = tanh", act=nn.Tanh()),
    homogeneous("film_one", "FiLMConv(5)", lambda: pyg.FiLMConv(6, 5)),
    supergat("supergat", "5, heads = 2", 10, heads=2),
    supergat("supergat_scaled", "5, heads = 2, concat = false, slope = 0.1, loops = false, "
             "bias = false, attention_type = \"SD\"", 5, heads=2, concat=False,
             negative_slope=0.1, add_self_loops=False, bias=False, attention_type="SD"),
    pan("pan", 3),
    pan("pan_one", 1),
    homogeneous("gcn_bare", "GCNConv(5, loops = false, bias = false)",
                lambda: pyg.GCNConv(6, 5, add_self_loops=False, bias=False)),
    homogeneous("gcn_plain", "GCNConv(5, normalize = false)",
                lambda: pyg.GCNConv(6, 5, normalize=False)),
    homogeneous("sage_project", "SAGEConv(5, project = true)",
                lambda: pyg.SAGEConv(6, 5, project=True)),
    homogeneous("gat_residual", "GATConv(5, heads = 2, concat = false, residual = true)",
                lambda: pyg.GATConv(6, 5, 2, concat=False, residual=True)),
    homogeneous("gatv2_residual", "GATv2Conv(5, heads = 2, residual = true)",
                lambda: pyg.GATv2Conv(6, 5, 2, residual=True), 10),
    homogeneous("sg_bare", "SGConv(5, K = 2, loops = false)",
                lambda: pyg.SGConv(6, 5, 2, add_self_loops=False)),
    homogeneous("appnp_bare", "APPNP(3, 0.1, loops = false)",
                lambda: pyg.APPNP(3, 0.1, add_self_loops=False), 6),
    homogeneous("appnp_plain", "APPNP(3, 0.1, normalize = false)",
                lambda: pyg.APPNP(3, 0.1, normalize=False), 6),
    homogeneous("cheb_rw", "ChebConv(5, K = 3, normalization = \"rw\", lambda_max = 1.5)",
                lambda: pyg.ChebConv(6, 5, 3, "rw"),
                run=lambda m, i: m(i["node.x"], i["g"], lambda_max=1.5)),
    homogeneous("cheb_sym", "ChebConv(5, K = 4, lambda_max = 1.5)",
                lambda: pyg.ChebConv(6, 5, 4),
                run=lambda m, i: m(i["node.x"], i["g"], lambda_max=1.5)),
    homogeneous("cheb_none", "ChebConv(5, K = 3, normalization = \"none\", lambda_max = 3)",
                lambda: pyg.ChebConv(6, 5, 3, None),
                run=lambda m, i: m(i["node.x"], i["g"], lambda_max=3.0)),
    homogeneous("resgated_act", "ResGatedGraphConv(5, root = false, act = tanh)",
                lambda: pyg.ResGatedGraphConv(6, 5, nn.Tanh(), root_weight=False)),
    filled("gat_fill", "GATConv(5, heads = 2, fill_value = \"max\")",
           lambda: pyg.GATConv(6, 5, 2, edge_dim=3, fill_value="max"), 10),
    filled("gat_fill_number", "GATConv(5, fill_value = 0.5)",
           lambda: pyg.GATConv(6, 5, edge_dim=3, fill_value=0.5)),
    filled("gatv2_fill", "GATv2Conv(5, fill_value = \"add\")",
           lambda: pyg.GATv2Conv(6, 5, edge_dim=3, fill_value="add")),
    filled("resgated_edge", "ResGatedGraphConv(5)",
           lambda: pyg.ResGatedGraphConv(6, 5, edge_dim=3)),
    gps("gps", "GCNConv(6), heads = 2", lambda: pyg.GCNConv(6, 6)),
    gps("gps_normless", "heads = 3, norm = none, act = tanh", heads=3, norm=None, act="tanh"),
    gps("gps_performer", "SAGEConv(6), attn = PerformerAttention(2, head_channels = 8)",
        lambda: pyg.SAGEConv(6, 6), attn_type="performer", attn_kwargs={"head_channels": 8}),
]

CASES = and_edgeless(EDGELESS) + [
    bipartite("simple_between", "SimpleConv(combine_root = \"cat\")",
              lambda: pyg.SimpleConv(combine_root="cat"), 10),
    even("simple_sum", "SimpleConv(combine_root = \"sum\")",
         lambda: pyg.SimpleConv(combine_root="sum"), 6),
    weighed("simple_weighed", "SimpleConv(\"mean\", \"self_loop\")",
            lambda: pyg.SimpleConv("mean", "self_loop"), 6),
    weighed("gated_graph_weighed", "GatedGraphConv(8, 2)", lambda: pyg.GatedGraphConv(8, 2), 8),
    weighed("arma_weighed", "ARMAConv(5, num_stacks = 2)", lambda: pyg.ARMAConv(6, 5, 2)),
    weighed("ssg_weighed", "SSGConv(5, 0.1, K = 2)", lambda: pyg.SSGConv(6, 5, 0.1, 2)),
    bipartite("mf_between", "MFConv(5, 2)", lambda: pyg.MFConv(BOTH, 5, 2)),
    # without `loops` PyTorch Geometric takes a graph that has one at each node, and no other
    replace(homogeneous("cluster_gcn_own", "ClusterGCNConv(5, 0.5, loops = false)",
                        lambda: pyg.ClusterGCNConv(6, 5, 0.5, add_self_loops=False)),
            edges={"g": [(k, k) for k in range(7)] + [(0, 1), (1, 0), (2, 1), (2, 1), (6, 3)]}),
    first_weighed("gcn2_weighed", "GCN2Conv(0.2)", lambda: pyg.GCN2Conv(6, 0.2)),
    first_weighed("gcn2_bare", "GCN2Conv(0.2, normalize = false)",
                  lambda: pyg.GCN2Conv(6, 0.2, normalize=False)),
    bipartite("le_between", "LEConv(5, bias = false)", lambda: pyg.LEConv(BOTH, 5, bias=False)),
    weighed("le_weighed", "LEConv(5)", lambda: pyg.LEConv(6, 5)),
    weighed("lg_weighed", "LGConv()", lambda: pyg.LGConv(), 6),
    first_weighed("fa_weighed", "FAConv(normalize = false)",
                  lambda: pyg.FAConv(6, normalize=False)),
    weighed("mixhop_weighed", "MixHopConv(5)", lambda: pyg.MixHopConv(6, 5), 15),
    weighed("wl_continuous_weighed", "WLConvContinuous()", lambda: pyg.WLConvContinuous(), 6),
    even("wl_continuous_between", "WLConvContinuous()", lambda: pyg.WLConvContinuous(), 6),
    homogeneous("feast_bare", "FeaStConv(5, 3, loops = false, bias = false)",
                lambda: pyg.FeaStConv(6, 5, 3, add_self_loops=False, bias=False)),
    even("feast_between", "FeaStConv(5, 2, loops = false)",
         lambda: pyg.FeaStConv(6, 5, 2, add_self_loops=False)),
    bipartite("film_between", "FiLMConv(5, nn = MLP([8, 10], norm = false), aggr = \"max\")",
              lambda: pyg.FiLMConv(BOTH, 5, nn=pyg.MLP([4, 8, 10], norm=None), aggr="max")),
    layered("dna_weighed", "heads = 2", True, heads=2),
    layered("dna_bare", "normalize = false", True, normalize=False),
    even("signed_between", "SignedConv(5, true)", lambda: pyg.SignedConv(6, 5, True), 10,
         "writes, writes, z, side(x)"),
    hypergraph("hypergraph", ""),
    hypergraph("hypergraph_weighed", ", bias = false", weight=True, bias=False),
    hypergraph("hypergraph_node", ", use_attention = true, heads = 2", 10, attr=True,
               use_attention=True, heads=2),
    hypergraph("hypergraph_edge", ", use_attention = true, attention_mode = \"edge\", heads = 2, "
               "concat = false, slope = 0.1", 5, True, True, use_attention=True,
               attention_mode="edge", heads=2, concat=False, negative_slope=0.1),
    # which has no effect in PyTorch Geometric where edges have no weights
    homogeneous("gcn_improved", "GCNConv(5, improved = true)",
                lambda: pyg.GCNConv(6, 5, improved=True),
                run=lambda m, i: m(i["node.x"], i["g"], torch.ones_like(i["g"][0] + 0.0))),
    weighed("gcn_improved_weighed", "GCNConv(5, improved = true)",
            lambda: pyg.GCNConv(6, 5, improved=True)),
    weighed("gcn_plain_weighed", "GCNConv(5, normalize = false)",
            lambda: pyg.GCNConv(6, 5, normalize=False)),
    weighed("cheb_none_weighed", "ChebConv(5, K = 3, normalization = \"none\")",
            lambda: pyg.ChebConv(6, 5, 3, None)),
    weighed("cheb_rw_weighed", "ChebConv(5, K = 2, normalization = \"rw\")",
            lambda: pyg.ChebConv(6, 5, 2, "rw")),
    bipartite("sage_project_between", "SAGEConv(5, project = true)",
              lambda: pyg.SAGEConv(BOTH, 5, project=True)),
    bipartite("gat_residual_between", "GATConv(5, loops = false, residual = true)",
              lambda: pyg.GATConv(BOTH, 5, add_self_loops=False, residual=True)),
    bipartite("gatv2_residual_between", "GATv2Conv(5, loops = false, residual = true)",
              lambda: pyg.GATv2Conv(BOTH, 5, add_self_loops=False, residual=True)),
    gps("gps_graphs", "GATConv(6, loops = false), heads = 2",
        lambda: pyg.GATConv(6, 6, add_self_loops=False), True),
    gps("gps_graphs_norm", "heads = 2, norm = GraphNorm(), by_graph = true", None, True,
        norm="graph_norm"),
    gps("gps_graphs_performer", "attn = PerformerAttention(2, head_channels = 8, qkv_bias = true, "
        "attn_out_bias = false)", None, True, attn_type="performer",
        attn_kwargs={"head_channels": 8, "qkv_bias": True, "attn_out_bias": False}),
]
