"""Cases of convolutions over one relation."""
from dataclasses import replace

from torch import nn
from torch_geometric import nn as pyg

from typed_case import Case, and_edgeless

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
                lambda m, i: m(i["author.x"], i["paper.x"], i["writes"]))


def first(name, layer, build, call="g, x, 2 * x"):
    """With the input of the first layer, which is twice this one's."""
    return homogeneous(name, layer, build, 6, call, lambda m, i: m(i["node.x"], 2 * i["node.x"],
                                                                   i["g"]))


def first_weighed(name, layer, build):
    return weighed(name, layer, build, 6, "a, x, 2 * x",
                   lambda m, i: m(i["node.x"], 2 * i["node.x"], i["g"], weights(i)))


def antisymmetric(**options):
    conv = pyg.AntiSymmetricConv(6, **options)
    conv.register_buffer("eye", conv.eye, persistent=False)
    return conv


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
    homogeneous("antisymmetric", "AntiSymmetricConv()", antisymmetric, 6),
    homogeneous("antisymmetric_phi", "AntiSymmetricConv(SAGEConv(6), num_iters = 2, epsilon = 0.2, "
                "gamma = 0.3, act = relu, bias = false)",
                lambda: antisymmetric(phi=pyg.SAGEConv(6, 6), num_iters=2, epsilon=0.2, gamma=0.3,
                                      act="relu", bias=False), 6),
    homogeneous("mixhop", "MixHopConv(5)", lambda: pyg.MixHopConv(6, 5), 15),
    homogeneous("mixhop_gap", "MixHopConv(5, [3, 1], loops = false, bias = false)",
                lambda: pyg.MixHopConv(6, 5, [3, 1], add_self_loops=False, bias=False), 10),
    homogeneous("wl_continuous", "WLConvContinuous()", lambda: pyg.WLConvContinuous(), 6),
    homogeneous("feast", "FeaStConv(5, 3)", lambda: pyg.FeaStConv(6, 5, 3)),
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
]
