#!/usr/bin/env python3
"""PyTorch Geometric as a contender: eager, with a sparse tensor as adjacency, or through
torch.compile.

    python bench/peers/pyg.py --graph DIR --case DIR --model gcn --what train --hidden 16
                              [--form csr] [--compile MODE:DYNAMIC]

As its guides advise: a GCN's coefficients are computed once and passed as edge weights; a sparse
adjacency is transposed. `--form xcsr` has the features as a sparse tensor, which PyTorch Geometric
leaves to its users (GCN and GAT).
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import case  # noqa: E402


def make(args, graph):
    import torch
    import torch.nn.functional as F
    from torch import nn
    from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv

    if args.model in case.TYPED_LR:
        import typed
        return typed.make(args, graph, compiled)
    if args.model not in case.LR:
        return gather_scatter(args, graph)
    hidden, heads, classes, p = args.hidden, 8, graph.classes, args.dropout
    widths = [graph.features] + [hidden] * (args.layers - 1)

    def mlp(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))

    def conv(i):
        last = i == args.layers - 1
        inputs, outputs = widths[i], classes if last else hidden
        if args.model == "gcn":
            return GCNConv(inputs, outputs, normalize=False)
        if args.model == "sage":
            return SAGEConv(inputs, outputs)
        if args.model == "gin":
            return GINConv(mlp(inputs, outputs))
        inputs = inputs * heads if i else inputs
        return GATConv(inputs, outputs, 1 if last else heads, concat=not last, dropout=p,
                       add_self_loops=args.form != "csr")

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList(conv(i) for i in range(args.layers))
            self.act = F.elu if args.model == "gat" else F.relu

        def forward(self, x, edges, weight=None):
            for i, layer in enumerate(self.convs):
                if p > 0 and self.training:
                    x = drop(x, p) if i == 0 else F.dropout(x, p)
                x = layer(x, edges, weight) if weight is not None else layer(x, edges)
                x = self.act(x) if i < len(self.convs) - 1 else x
            return x

    net = Net()
    names = {name: case.weight(args.case, name, value.shape)
             for name, value in net.state_dict().items() if not name.endswith(".eps")}
    net.load_state_dict(names, strict=False)
    net.to(args.device)
    edges, weight = adjacency(args, graph)
    if args.form == "xcsr":
        if args.model not in ("gcn", "gat"):
            raise NotImplementedError(
                "sparse features are for gcn and gat: the others aggregate their features first")
        net.convs[0].lin = sparse_linear(net.convs[0].lin)
    x = graph.x_csr().to(args.device) if args.form == "xcsr" else graph.dense()
    graph.forget_x()
    net.train(args.what == "train")
    call = compiled(net, args)
    return case.Work(args, graph, net,
                     lambda: call(x, edges, weight) if weight is not None else call(x, edges))


def drop(x, p):
    """F.dropout; on the stored values of a sparse x, whose zeros have nothing to drop."""
    import torch
    if x.layout != torch.sparse_csr:
        return torch.nn.functional.dropout(x, p)
    values = torch.nn.functional.dropout(x.values(), p)
    return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape)


def sparse_linear(linear):
    """What `lin` becomes where its input is a sparse tensor; `weight` stays the same parameter."""
    import torch

    class SparseLinear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = linear.weight

        def forward(self, x):
            return torch.sparse.mm(x, self.weight.t())

    return SparseLinear()


def adjacency(args, graph):
    """(edge_index or sparse tensor, weights or None); a GCN's loops and coefficients are in it
    already."""
    import torch
    from torch_geometric.nn.conv.gcn_conv import gcn_norm
    from torch_geometric.utils import add_self_loops, remove_self_loops
    edges, weight = graph.edge_index, None
    if args.model == "gcn":
        edges, weight = gcn_norm(edges, None, graph.nodes, add_self_loops=True, dtype=torch.float32)
    if args.form != "csr":
        return edges, weight
    if args.model == "gat":  # takes loops into pairs only, so they are in it already
        edges, _ = add_self_loops(remove_self_loops(edges)[0], num_nodes=graph.nodes)
    values = weight if weight is not None else torch.ones(edges.shape[1], device=edges.device)
    coo = torch.sparse_coo_tensor(edges.flip(0), values, (graph.nodes, graph.nodes))
    return coo.coalesce().to_sparse_csr(), None


def compiled(net, args):
    import torch
    if not args.compile:
        return net
    mode, dynamic = args.compile.split(":")
    torch._dynamo.config.suppress_errors = False
    return torch.compile(net, mode=mode,
                         dynamic={"auto": None, "true": True, "false": False}[dynamic])


def gather_scatter(args, graph):
    """The five gather-apply-scatter forms of PyTorch Geometric's compile tests
    (test/nn/test_compile_basic.py)."""
    import torch
    from torch_geometric.utils import scatter
    x, (row, col) = graph.dense(), graph.edge_index
    inputs = x.shape[1]

    def put(values, how="sum"):
        return scatter(values, col, dim_size=x.size(0), reduce=how)

    if args.model == "gather_scatter":
        body = lambda x: put(x[row])
    elif args.model == "gather_cat_scatter":
        body = lambda x: put(torch.cat([x[col], x[row]], dim=-1))
    elif args.model == "gather_weight_scatter":
        weights = case.weight(args.case, "edge_weight", (row.numel(), 1))
        body = lambda x: put(x[row] * weights)
    elif args.model == "gather_transform_scatter":
        matrix = case.weight(args.case, "matrix", (inputs, inputs))
        body = lambda x: put(x[row] @ matrix)
    elif args.model == "fused_gather_scatter":
        body = lambda x: torch.cat([put(x[row], how) for how in ("sum", "mean", "max")], dim=-1)
    else:
        raise ValueError(f"no model {args.model}")
    call = compiled(body, args)
    return case.Work(args, graph, None, lambda: call(x))


def versions():
    import platform
    import torch
    import torch_geometric
    return {"torch": torch.__version__, "torch_geometric": torch_geometric.__version__,
            "python": platform.python_version(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability()}


if __name__ == "__main__":
    arguments = case.parse(__doc__.split("\n\n")[0])
    case.serve(arguments, make, versions)
