"""Cora from the raw Planetoid files, and the four models as PyTorch Geometric users write them."""
import pathlib
import pickle
import platform

import numpy as np
import scipy.sparse
import torch
import torch.nn.functional as F
import torch_geometric
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv
from torch_geometric.utils import coalesce

# What each model is trained with. `decay` says which parameters the weight decay is for: "all", or
# "first" for those of the first convolution. `patience` stops as in the GAT paper's code; without
# it all epochs run.
SETTINGS = {
    "gcn": dict(model="gcn", hidden=16, dropout=0.5, lr=0.01, weight_decay=5e-4, decay="first",
                epochs=200),
    "gcn_decay_all": dict(model="gcn", hidden=16, dropout=0.5, lr=0.01, weight_decay=5e-4,
                          decay="all", epochs=200),
    "gat": dict(model="gat", hidden=8, heads=8, dropout=0.6, lr=0.005, weight_decay=5e-4,
                decay="all", epochs=1000, patience=100),
    "gat_200": dict(model="gat", hidden=8, heads=8, dropout=0.6, lr=0.005, weight_decay=5e-4,
                    decay="all", epochs=200),
    "sage": dict(model="sage", hidden=64, dropout=0.5, lr=0.01, weight_decay=5e-4, decay="all",
                 epochs=200),
    "gin": dict(model="gin", hidden=64, dropout=0.5, lr=0.01, weight_decay=5e-4, decay="all",
                epochs=200),
}


class _Unpickler(pickle.Unpickler):
    """The files were written by Python 2 and an old scipy; nothing but arrays and containers is let
    in."""

    def find_class(self, module, name):
        if name == "csr_matrix":
            return scipy.sparse.csr_matrix
        if (module, name) == ("collections", "defaultdict") or module.startswith("numpy"):
            return super().find_class(module, name)
        if module == "__builtin__" and name in ("list", "dict", "int"):
            return super().find_class("builtins", name)
        raise pickle.UnpicklingError(f"{module}.{name} does not belong in a Planetoid file")


class Data:
    """x f32 [N, F] with rows that sum to 1, y, edge_index without repeats, and the Planetoid
    masks."""


def _indices_to_mask(indices, size):
    mask = torch.zeros(size, dtype=torch.bool)
    mask[indices] = True
    return mask


def load_planetoid(folder, name="cora"):
    folder = pathlib.Path(folder)
    read = lambda part: _Unpickler(open(folder / f"ind.{name}.{part}", "rb"),
                                   encoding="latin1").load()
    order = np.loadtxt(folder / f"ind.{name}.test.index", dtype=np.int64)
    x = scipy.sparse.vstack([read("allx"), read("tx")]).tolil()
    y = np.vstack([read("ally"), read("ty")])
    places = np.sort(order)
    x[order], y[order] = x[places], y[places]
    edges = [(u, v) for u, neighbours in read("graph").items() for v in neighbours]
    data = Data()
    dense = torch.from_numpy(x.toarray().astype(np.float32))
    data.x = dense / dense.sum(dim=1, keepdim=True).clamp(min=1)
    data.y = torch.from_numpy(y.argmax(axis=1))
    data.edge_index = coalesce(torch.tensor(edges).t().contiguous(), num_nodes=len(y))
    train = len(read("y"))
    data.train_mask = _indices_to_mask(torch.arange(train), len(y))
    data.val_mask = _indices_to_mask(torch.arange(train, train + 500), len(y))
    data.test_mask = _indices_to_mask(torch.from_numpy(order), len(y))
    data.classes = y.shape[1]
    return data


def dropout(x, p, training):
    """F.dropout, on the stored values of a sparse x: the zeros have nothing to drop."""
    if x.layout != torch.sparse_csr:
        return F.dropout(x, p, training)
    values = F.dropout(x.values(), p, training)
    return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape)


class SparseLinear(nn.Module):
    """What `lin` of a GCNConv or GATConv becomes where its input is a sparse tensor; `weight` stays
    the same parameter."""

    def __init__(self, linear):
        super().__init__()
        self.weight, self.reset_parameters = linear.weight, linear.reset_parameters

    def forward(self, x):
        return torch.sparse.mm(x, self.weight.t())


class Net(nn.Module):
    """Two convolutions with dropout before each and an activation between."""

    def __init__(self, convs, act, dropout):
        super().__init__()
        self.convs, self.act, self.dropout = nn.ModuleList(convs), act, dropout

    def reset_parameters(self):
        for conv in self.convs:
            conv.reset_parameters()

    def forward(self, x, edge_index):
        x = dropout(x, self.dropout, self.training)
        x = self.act(self.convs[0](x, edge_index))
        x = F.dropout(x, self.dropout, self.training)
        return self.convs[1](x, edge_index)


def _mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def sparse_features(net, x):
    """Makes the first layer of a GCN or GAT take x as CSR, and returns that. A sparse x is a thing
    that PyTorch Geometric leaves to its users; the distribution of results is the same."""
    net.convs[0].lin = SparseLinear(net.convs[0].lin)
    return x.to_sparse_csr()


def build(model, features, classes, hidden, dropout, heads=8, **_):
    """`cached` is what PyTorch Geometric's own GCN example uses: the normalised adjacency is
    computed once."""
    if model == "gcn":
        convs = [GCNConv(features, hidden, cached=True), GCNConv(hidden, classes, cached=True)]
        return Net(convs, F.relu, dropout)
    if model == "gat":
        convs = [GATConv(features, hidden, heads, dropout=dropout),
                 GATConv(hidden * heads, classes, heads=1, concat=False, dropout=dropout)]
        return Net(convs, F.elu, dropout)
    if model == "sage":
        return Net([SAGEConv(features, hidden), SAGEConv(hidden, classes)], F.relu, dropout)
    if model == "gin":
        convs = [GINConv(_mlp(features, hidden, hidden)), GINConv(_mlp(hidden, hidden, classes))]
        return Net(convs, F.relu, dropout)
    raise ValueError(f"no model {model}")


def optimizer_for(net, lr, weight_decay, decay, **_):
    if decay == "all":
        return torch.optim.Adam(net.parameters(), lr=lr, weight_decay=weight_decay)
    first, rest = net.convs[0].parameters(), net.convs[1].parameters()
    groups = [{"params": list(first), "weight_decay": weight_decay},
              {"params": list(rest), "weight_decay": 0.0}]
    return torch.optim.Adam(groups, lr=lr)


def versions():
    return {
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }
