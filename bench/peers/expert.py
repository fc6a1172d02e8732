#!/usr/bin/env python3
"""A GCN as an expert writes it with torch.sparse alone: features and normalised adjacency both as
CSR.

`--form plain` leaves the gradient to torch.sparse.mm; `--form manual` keeps the transposes as CSR
too and multiplies with those."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import case  # noqa: E402


def make(args, graph):
    import torch
    import torch.nn.functional as F
    from torch import nn

    if args.model != "gcn":
        raise NotImplementedError("the expert wrote a GCN only")
    n, p, manual = graph.nodes, args.dropout, args.form == "manual"
    row, col = graph.edge_index
    keep = row != col
    loops = torch.arange(n)
    row, col = torch.cat([row[keep], loops]), torch.cat([col[keep], loops])
    degree = torch.zeros(n).index_add_(0, col, torch.ones(col.numel()))
    scale = degree.rsqrt()
    a = torch.sparse_coo_tensor(torch.stack([col, row]), scale[row] * scale[col],
                                (n, n)).coalesce().to_sparse_csr()
    x = graph.x_csr() if graph.sparse else graph.x
    sparse_x = graph.sparse
    graph.forget_x()

    def transposed(m):
        """m' as CSR, and where its values are in m."""
        numbered = torch.sparse_csr_tensor(m.crow_indices(), m.col_indices(),
                                           torch.arange(1, m._nnz() + 1, dtype=torch.float64),
                                           m.shape)
        t = numbered.to_sparse_coo().t().coalesce().to_sparse_csr()
        order = t.values().long() - 1
        return torch.sparse_csr_tensor(t.crow_indices(), t.col_indices(), m.values()[order],
                                       t.shape), order

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, m, t, h):
            ctx.t = t
            return m @ h

        @staticmethod
        def backward(ctx, g):
            return None, None, ctx.t @ g

    at, _ = transposed(a) if manual else (None, None)
    xt, x_order = transposed(x) if manual and sparse_x else (None, None)

    def product(m, t, h):
        return Product.apply(m, t, h) if manual else torch.sparse.mm(m, h)

    class Layer(nn.Module):
        def __init__(self, inputs, outputs, index):
            super().__init__()
            self.weight = nn.Parameter(case.weight(args.case, f"convs.{index}.lin.weight",
                                                   (outputs, inputs)).t().contiguous())
            self.bias = nn.Parameter(case.weight(args.case, f"convs.{index}.bias", (outputs,)))

        def forward(self, h):
            return product(a, at, h) + self.bias

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            widths = [graph.features] + [args.hidden] * (args.layers - 1) + [graph.classes]
            self.convs = nn.ModuleList(Layer(widths[i], widths[i + 1], i)
                                       for i in range(args.layers))

        def first(self):
            dropping = p > 0 and self.training
            if not sparse_x:
                return (F.dropout(x, p) if dropping else x) @ self.convs[0].weight
            if not dropping:
                return product(x, xt, self.convs[0].weight)
            values = F.dropout(x.values(), p)
            m = torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape)
            t = torch.sparse_csr_tensor(xt.crow_indices(), xt.col_indices(), values[x_order],
                                        xt.shape) if manual else None
            return product(m, t, self.convs[0].weight)

        def forward(self):
            h = self.convs[0](self.first())
            for layer in list(self.convs)[1:]:
                h = F.relu(h)
                h = F.dropout(h, p) if p > 0 and self.training else h
                h = layer(h @ layer.weight)
            return h

    net = Net()
    net.train(args.what == "train")
    return case.Work(args, graph, net, net)


def versions():
    import platform
    import torch
    return {"torch": torch.__version__, "python": platform.python_version()}


if __name__ == "__main__":
    arguments = case.parse(__doc__.split("\n\n")[0])
    case.serve(arguments, make, versions)
