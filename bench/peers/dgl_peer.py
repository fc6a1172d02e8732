#!/usr/bin/env python3
"""DGL as a contender, eager; the layers of dgl.nn with PyTorch Geometric's weights under DGL's
names."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import case  # noqa: E402

# DGL's name: PyTorch Geometric's, and whether it is transposed there.
NAMES = {
    "gcn": {"weight": ("lin.weight", True), "bias": ("bias", False)},
    "sage": {"fc_neigh.weight": ("lin_l.weight", False), "fc_self.weight": ("lin_r.weight", False),
             "fc_self.bias": ("lin_l.bias", False), "bias": ("lin_l.bias", False)},
    "gat": {"fc.weight": ("lin.weight", False), "attn_l": ("att_src", False),
            "attn_r": ("att_dst", False), "bias": ("bias", False)},
    "gin": {
        "apply_func.0.weight": ("nn.0.weight", False), "apply_func.0.bias": ("nn.0.bias", False),
        "apply_func.2.weight": ("nn.2.weight", False), "apply_func.2.bias": ("nn.2.bias", False)},
}


def make(args, graph):
    import dgl
    import torch
    import torch.nn.functional as F
    from dgl import nn as dnn
    from torch import nn

    if args.model in case.TYPED_LR:
        import typed_dgl
        return typed_dgl.make(args, graph)
    if args.model not in case.LR:
        raise NotImplementedError("one message and one sum have no layer in DGL")
    hidden, heads, p = args.hidden, 8, args.dropout
    src, dst = graph.edge_index
    g = dgl.graph((src, dst), num_nodes=graph.nodes)
    if args.model in ("gcn", "gat"):
        g = dgl.add_self_loop(dgl.remove_self_loop(g))
    g = g.formats(["csr", "csc", "coo"])
    g.create_formats_()

    def mlp(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))

    def conv(i):
        last = i == args.layers - 1
        inputs = graph.features if i == 0 else hidden
        outputs = graph.classes if last else hidden
        if args.model == "gcn":
            return dnn.GraphConv(inputs, outputs, norm="both")
        if args.model == "sage":
            return dnn.SAGEConv(inputs, outputs, "mean")
        if args.model == "gin":
            return dnn.GINConv(mlp(inputs, outputs), "sum")
        return dnn.GATConv(inputs * heads if i else inputs, outputs, 1 if last else heads,
                           attn_drop=p)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList(conv(i) for i in range(args.layers))
            self.act = F.elu if args.model == "gat" else F.relu

        def forward(self, x):
            for i, layer in enumerate(self.convs):
                last = i == len(self.convs) - 1
                x = layer(g, F.dropout(x, p) if p > 0 and self.training else x)
                if args.model == "gat":
                    x = x.mean(1) if last else x.flatten(1)
                x = x if last else self.act(x)
            return x

    net = Net()
    values = {}
    for name, value in net.state_dict().items():
        index, inner = name.split(".")[1], name.split(".", 2)[2]
        if inner == "eps":
            continue
        theirs, transposed = NAMES[args.model][inner]
        shape = tuple(value.shape)
        loaded = case.weight(args.case, f"convs.{index}.{theirs}",
                             shape[::-1] if transposed else shape)
        values[name] = loaded.t().contiguous() if transposed else loaded
    net.load_state_dict(values, strict=False)
    net.train(args.what == "train")
    x = graph.dense()
    graph.forget_x()
    return case.Work(args, graph, net, lambda: net(x))


def versions():
    import platform
    import dgl
    import torch
    return {"torch": torch.__version__, "dgl": dgl.__version__, "python": platform.python_version(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability()}


if __name__ == "__main__":
    arguments = case.parse(__doc__.split("\n\n")[0])
    case.serve(arguments, make, versions)
