"""The cases to record: one row a case, in gnnc's spelling and as PyTorch Geometric builds it."""
from dataclasses import dataclass, field
from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import (APPNP, BatchNorm, ChebConv, GATConv, GATv2Conv, GCNConv, GINConv,
                                GraphConv, LayerNorm, ResGatedGraphConv, SAGEConv, SGConv, TAGConv,
                                TransformerConv)

FEATURES = 6
EDGE_FEATURES = 3
CLASSES = 3
SMALL = ("random", "symmetric", "one", "empty")
ALL = SMALL + ("karate",)


@dataclass(frozen=True)
class Layer:
    name: str  # file name without the graph
    layer: str
    args: dict
    build: Callable[[], nn.Module]
    graphs: tuple = SMALL
    edges: str = ""  # "edge_weight" or "edge_attr", what it takes besides the graph
    ties: bool = False  # features from a few values, so that maxima tie
    training: bool = True


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def gat(layer, **kwargs):
    return lambda: layer(FEATURES, 4, **kwargs)


LAYERS = [
    Layer("gcn", "GCNConv", {"out": 5}, lambda: GCNConv(FEATURES, 5), ALL),
    Layer("gcn_weight", "GCNConv", {"out": 5}, lambda: GCNConv(FEATURES, 5), edges="edge_weight"),
    Layer("gcn_nobias", "GCNConv", {"out": 5, "bias": False},
          lambda: GCNConv(FEATURES, 5, bias=False)),
    Layer("sage_mean", "SAGEConv", {"out": 5, "aggr": "mean"}, lambda: SAGEConv(FEATURES, 5), ALL),
    Layer("sage_max", "SAGEConv", {"out": 5, "aggr": "max"},
          lambda: SAGEConv(FEATURES, 5, aggr="max"), ALL),
    Layer("sage_max_ties", "SAGEConv", {"out": 5, "aggr": "max"},
          lambda: SAGEConv(FEATURES, 5, aggr="max"), ("random", "symmetric"), ties=True),
    Layer("sage_sum", "SAGEConv", {"out": 5, "aggr": "sum"},
          lambda: SAGEConv(FEATURES, 5, aggr="sum")),
    Layer("gat_h1", "GATConv", {"out": 4, "heads": 1}, gat(GATConv)),
    Layer("gat_h3", "GATConv", {"out": 4, "heads": 3}, gat(GATConv, heads=3), ALL),
    Layer("gat_h3_mean", "GATConv", {"out": 4, "heads": 3, "concat": False},
          gat(GATConv, heads=3, concat=False)),
    Layer("gat_h3_nobias", "GATConv", {"out": 4, "heads": 3, "bias": False},
          gat(GATConv, heads=3, bias=False)),
    Layer("gat_h3_edge", "GATConv", {"out": 4, "heads": 3},
          gat(GATConv, heads=3, edge_dim=EDGE_FEATURES), edges="edge_attr"),
    Layer("gatv2_h1", "GATv2Conv", {"out": 4, "heads": 1}, gat(GATv2Conv)),
    Layer("gatv2_h3", "GATv2Conv", {"out": 4, "heads": 3}, gat(GATv2Conv, heads=3), ALL),
    Layer("gatv2_h3_mean", "GATv2Conv", {"out": 4, "heads": 3, "concat": False},
          gat(GATv2Conv, heads=3, concat=False)),
    Layer("gatv2_h3_nobias", "GATv2Conv", {"out": 4, "heads": 3, "bias": False},
          gat(GATv2Conv, heads=3, bias=False)),
    Layer("gatv2_h3_edge", "GATv2Conv", {"out": 4, "heads": 3},
          gat(GATv2Conv, heads=3, edge_dim=EDGE_FEATURES), edges="edge_attr"),
    Layer("gin", "GINConv", {"out": 5, "hidden": 8}, lambda: GINConv(mlp(FEATURES, 8, 5)), ALL),
    Layer("gin_eps", "GINConv", {"out": 5, "hidden": 8, "train_eps": True},
          lambda: GINConv(mlp(FEATURES, 8, 5), train_eps=True)),
    Layer("graphconv", "GraphConv", {"out": 5, "aggr": "sum"}, lambda: GraphConv(FEATURES, 5), ALL),
    Layer("graphconv_mean", "GraphConv", {"out": 5, "aggr": "mean"},
          lambda: GraphConv(FEATURES, 5, aggr="mean")),
    Layer("graphconv_weight", "GraphConv", {"out": 5, "aggr": "sum"},
          lambda: GraphConv(FEATURES, 5), edges="edge_weight"),
    Layer("graphconv_mean_weight", "GraphConv", {"out": 5, "aggr": "mean"}, lambda:
          GraphConv(FEATURES, 5, aggr="mean"), ("random", "symmetric"), edges="edge_weight"),
    Layer("sg", "SGConv", {"out": 5, "K": 2}, lambda: SGConv(FEATURES, 5, K=2), ALL),
    Layer("sg_weight", "SGConv", {"out": 5, "K": 2}, lambda: SGConv(FEATURES, 5, K=2),
          ("random", "symmetric"), edges="edge_weight"),
    Layer("appnp", "APPNP", {"K": 3, "alpha": 0.1}, lambda: APPNP(3, 0.1), ALL),
    Layer("appnp_weight", "APPNP", {"K": 3, "alpha": 0.1}, lambda: APPNP(3, 0.1),
          ("random", "symmetric"), edges="edge_weight"),
    Layer("cheb", "ChebConv", {"out": 5, "K": 3}, lambda: ChebConv(FEATURES, 5, K=3)),
    Layer("cheb_narrow", "ChebConv", {"out": 1, "K": 4, "bias": False},
          lambda: ChebConv(FEATURES, 1, K=4, bias=False), ("random", "symmetric")),
    Layer("cheb_weight", "ChebConv", {"out": 5, "K": 2}, lambda: ChebConv(FEATURES, 5, K=2),
          ("random", "symmetric"), edges="edge_weight"),
    Layer("tag", "TAGConv", {"out": 5}, lambda: TAGConv(FEATURES, 5)),
    Layer("tag_narrow", "TAGConv", {"out": 1, "K": 2, "normalize": False},
          lambda: TAGConv(FEATURES, 1, K=2, normalize=False), ("random", "symmetric")),
    Layer("tag_weight", "TAGConv", {"out": 1, "K": 3}, lambda: TAGConv(FEATURES, 1),
          ("random", "symmetric"), edges="edge_weight"),
    Layer("transformer", "TransformerConv", {"out": 4}, gat(TransformerConv)),
    Layer("transformer_h3", "TransformerConv", {"out": 4, "heads": 3, "beta": True},
          gat(TransformerConv, heads=3, beta=True), ("random", "symmetric")),
    Layer("transformer_h3_mean", "TransformerConv",
          {"out": 4, "heads": 3, "concat": False, "root": False},
          gat(TransformerConv, heads=3, concat=False, root_weight=False), ("random", "symmetric")),
    Layer("transformer_h3_edge", "TransformerConv", {"out": 4, "heads": 3, "bias": False},
          gat(TransformerConv, heads=3, bias=False, edge_dim=EDGE_FEATURES), ("random", "empty"),
          edges="edge_attr"),
    Layer("resgated", "ResGatedGraphConv", {"out": 5}, lambda: ResGatedGraphConv(FEATURES, 5)),
    Layer("resgated_bare", "ResGatedGraphConv", {"out": 5, "root": False, "bias": False},
          lambda: ResGatedGraphConv(FEATURES, 5, root_weight=False, bias=False), ("random",)),
    Layer("layernorm_node", "LayerNorm", {"mode": "node"}, lambda: LayerNorm(FEATURES, mode="node"),
          SMALL),
    Layer("layernorm_graph", "LayerNorm", {"mode": "graph"}, lambda: LayerNorm(FEATURES), SMALL),
    Layer("batchnorm_train", "BatchNorm", {}, lambda: BatchNorm(FEATURES), ("random", "empty")),
    Layer("batchnorm_eval", "BatchNorm", {}, lambda: BatchNorm(FEATURES), ("random", "one"),
          training=False),
]


class Stack(nn.Module):
    """Convolutions with an activation between them: the models of the GCN, GAT, GraphSAGE and GIN
    papers, two layers deep."""

    def __init__(self, convs, act, norms=()):
        super().__init__()
        self.convs, self.act = nn.ModuleList(convs), act
        if norms:
            self.norms = nn.ModuleList(norms)

    def forward(self, x, edge_index):
        for i, conv in enumerate(self.convs):
            x = conv(x, edge_index)
            if i + 1 < len(self.convs):
                if hasattr(self, "norms"):
                    x = self.norms[i](x)
                x = self.act(x)
        return x


def gcn():
    return Stack([GCNConv(FEATURES, 8), GCNConv(8, CLASSES)], lambda x: F.relu(x))


def gat_model():
    return Stack([GATConv(FEATURES, 4, heads=2), GATConv(8, CLASSES, heads=1)], F.elu)


def sage():
    return Stack([SAGEConv(FEATURES, 8), SAGEConv(8, CLASSES)], lambda x: F.relu(x))


def gin(norm=False):
    convs = [GINConv(mlp(FEATURES, 8, 8)), GINConv(mlp(8, 8, CLASSES))]
    return Stack(convs, lambda x: F.relu(x), [BatchNorm(8)] if norm else [])


GCN_ARGS = {"hidden": 8, "layers": 2, "p": 0.0}
GAT_ARGS = {"hidden": 4, "layers": 2, "heads": 2, "p": 0.0}


@dataclass(frozen=True)
class Train:
    """Training by cross-entropy over a mask, for a number of steps."""
    name: str
    layer: str
    args: dict
    build: Callable[[], nn.Module]
    optimizer: str  # as gnnc has it
    options: dict = field(default_factory=dict)
    steps: int = 3
    graphs: tuple = ("random",)
    # weight decay on the parameters of the first convolution alone, as in the GCN paper
    decay_first_only: bool = False
    clip: float = 0.0  # bound on the norm of all gradients together


ADAM = {"lr": 0.01, "weight_decay": 5e-4}
TRAINS = [
    Train("train_gcn_adam1", "GCN", GCN_ARGS, gcn, "adam", ADAM, steps=1,
          graphs=("random", "empty", "one")),
    Train("train_gcn_adam3", "GCN", GCN_ARGS, gcn, "adam", ADAM, graphs=("random", "karate")),
    Train("train_gcn_adam3_paper", "GCN", GCN_ARGS, gcn, "adam", ADAM, graphs=("random", "karate"),
          decay_first_only=True),
    Train("train_gcn_adamw3", "GCN", GCN_ARGS, gcn, "adamw", {"lr": 0.01, "weight_decay": 0.01}),
    Train("train_gcn_sgd3", "GCN", GCN_ARGS, gcn, "sgd", {"lr": 0.1}),
    Train("train_gcn_sgd3_momentum", "GCN", GCN_ARGS, gcn, "sgd",
          {"lr": 0.1, "momentum": 0.9, "weight_decay": 5e-4}),
    Train("train_gcn_sgd3_nesterov", "GCN", GCN_ARGS, gcn, "sgd",
          {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    Train("train_gcn_amsgrad3", "GCN", GCN_ARGS, gcn, "adam",
          {"lr": 0.01, "beta2": 0.6, "weight_decay": 5e-4, "amsgrad": True}),
    Train("train_gcn_rmsprop3", "GCN", GCN_ARGS, gcn, "rmsprop",
          {"lr": 0.01, "weight_decay": 5e-4}),
    Train("train_gcn_rmsprop3_centered", "GCN", GCN_ARGS, gcn, "rmsprop",
          {"lr": 0.01, "alpha": 0.9, "momentum": 0.9, "centered": True}),
    Train("train_gcn_adamax3", "GCN", GCN_ARGS, gcn, "adamax", {"lr": 0.01, "weight_decay": 5e-4}),
    Train("train_gcn_lion3", "GCN", GCN_ARGS, gcn, "lion", {"lr": 1e-3, "weight_decay": 0.1}),
    Train("train_gcn_adam3_clip", "GCN", GCN_ARGS, gcn, "adam", ADAM, clip=0.1),
    Train("train_gat_adam1", "GAT", GAT_ARGS, gat_model, "adam",
          {"lr": 0.005, "weight_decay": 5e-4}, steps=1),
    Train("train_gat_adam3", "GAT", GAT_ARGS, gat_model, "adam",
          {"lr": 0.005, "weight_decay": 5e-4}, graphs=("random", "karate")),
    Train("train_sage_adam3", "GraphSAGE", GCN_ARGS, sage, "adam", ADAM,
          graphs=("random", "karate")),
    Train("train_gin_adam3", "GIN", GCN_ARGS, gin, "adam", ADAM, graphs=("random", "karate")),
    Train("train_gin_norm_adam3", "GIN", GCN_ARGS | {"norm": True}, lambda: gin(norm=True), "adam",
          ADAM, graphs=("random",)),
]


@dataclass(frozen=True)
class Loss:
    """A loss of x (N rows) and y or target, over a mask or over all rows."""
    name: str
    layer: str
    args: dict
    function: Callable  # (x, y or target, weight or None) -> scalar
    target: str = "y"
    weight: str = ""  # "class_weight" or "pos_weight", what it takes besides
    masks: tuple = ("all", "some", "single")


def smoothed(x, y, weight):
    return F.cross_entropy(x, y, weight, label_smoothing=0.1)


def bce(x, target, weight):
    return F.binary_cross_entropy_with_logits(x, target, pos_weight=weight)


def balanced(y, classes):
    """scikit-learn's compute_class_weight("balanced"), whose classes are those that y has."""
    count = torch.bincount(y, minlength=classes).double()
    return torch.where(count > 0, len(y) / ((count > 0).sum() * count), 0)


def balanced_ce(x, y, weight):
    return F.cross_entropy(x, y, balanced(y, x.shape[1]).to(x.dtype))


def balanced_smoothed(x, y, weight):
    return F.cross_entropy(x, y, balanced(y, x.shape[1]).to(x.dtype), label_smoothing=0.1)


def balanced_nll(x, y, weight):
    return F.nll_loss(x, y, balanced(y, x.shape[1]).to(x.dtype))


def balanced_bce(x, target, weight):
    positive = target.sum(0)
    weight = torch.where(positive > 0, (len(target) - positive) / positive, 1)
    return F.binary_cross_entropy_with_logits(x, target, pos_weight=weight)


def mse(x, target, weight):
    return F.mse_loss(x, target)


LOSSES = [
    Loss("loss_ce", "cross_entropy", {}, F.cross_entropy),
    Loss("loss_ce_weight", "cross_entropy", {}, F.cross_entropy, weight="class_weight"),
    Loss("loss_ce_smooth", "cross_entropy", {"label_smoothing": 0.1}, smoothed),
    Loss("loss_ce_weight_smooth", "cross_entropy", {"label_smoothing": 0.1}, smoothed,
         weight="class_weight"),
    Loss("loss_nll", "nll", {}, F.nll_loss),
    Loss("loss_nll_weight", "nll", {}, F.nll_loss, weight="class_weight"),
    Loss("loss_bce", "bce_with_logits", {}, bce, target="target01"),
    Loss("loss_bce_pos_weight", "bce_with_logits", {}, bce, target="target01", weight="pos_weight"),
    Loss("loss_ce_balanced", "cross_entropy", {"weight": "balanced"}, balanced_ce),
    Loss("loss_ce_balanced_smooth", "cross_entropy", {"weight": "balanced", "label_smoothing": 0.1},
         balanced_smoothed),
    Loss("loss_nll_balanced", "nll", {"weight": "balanced"}, balanced_nll),
    Loss("loss_bce_balanced", "bce_with_logits", {"pos_weight": "balanced"}, balanced_bce,
         target="target01"),
    Loss("loss_mse", "mse", {}, mse, target="target"),
]
