"""DGL's models of several types or kinds of edges, with gnnc's weights."""
import case


def make(args, graph):
    makers = {"rgcn_bases": rgcn_bases, "rgcn_typed": rgcn_typed, "gin_graphs": gin_graphs}
    if args.model not in makers:
        raise NotImplementedError(f"DGL has no layer that computes what {args.model} does")
    return makers[args.model](args, graph)


def fill(net, args, names):
    """names: the net's name -> gnnc's, and whether it is transposed there."""
    values = {}
    for name, value in net.state_dict().items():
        if name.endswith((".eps", "num_batches_tracked")):
            continue
        theirs, transposed = names(name)
        shape = tuple(value.shape)
        loaded = case.weight(args.case, theirs, shape[::-1] if transposed else shape)
        values[name] = loaded.t().contiguous() if transposed else loaded
    net.load_state_dict(values, strict=False)
    net.train(args.what == "train")
    return net


def rgcn_bases(args, graph):
    """As its example entity.py: edges in the order of their kinds, coefficients computed once."""
    import dgl
    import torch
    from dgl.nn import RelGraphConv
    from torch import nn
    kind = graph.columns["g.kind"].long()
    order = torch.argsort(kind, stable=True)
    (src, dst), kind = graph.edge_index[:, order], kind[order]
    _, which, count = torch.unique(dst * graph.kinds + kind, return_inverse=True,
                                   return_counts=True)
    norm = (1.0 / count[which].float()).unsqueeze(-1)
    g = dgl.graph((src, dst), num_nodes=graph.nodes).formats(["csr", "csc", "coo"])
    g.create_formats_()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            make = lambda width: RelGraphConv(args.hidden, width, graph.kinds, "basis",
                                              int(args.options["bases"]))
            self.emb = nn.Parameter(torch.empty(graph.nodes, args.hidden))
            self.first, self.last = make(args.hidden), make(graph.classes)

        def forward(self):
            h = self.first(g, self.emb, kind, norm=norm, presorted=True).relu()
            return self.last(g, h, kind, norm=norm, presorted=True)

    names = {"linear_r.W": "weight", "linear_r.coeff": "comp", "loop_weight": "root",
             "h_bias": "bias"}
    rename = lambda name: (name if name == "emb"
                           else f"{name.split('.')[0]}.{names[name.split('.', 1)[1]]}", False)
    return case.Work(args, graph, net := fill(Net(), args, rename), net)


def rgcn_typed(args, graph):
    import dgl
    from dgl.nn import GraphConv, HeteroGraphConv
    from torch import nn
    from typed import first_rows, relations_of
    relations, types = relations_of(args, graph)
    ins, x = first_rows(args, graph, types)
    g = dgl.heterograph({names: tuple(ends) for names, ends in relations.items()},
                        {name: graph.types[name] for name in types})
    g = g.formats(["csr", "csc", "coo"])
    g.create_formats_()

    class Layer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.along = HeteroGraphConv({names[1]: GraphConv(args.hidden, width, norm="right",
                                                              bias=False, allow_zero_in_degree=True)
                                          for names in relations}, aggregate="sum")
            self.root = nn.ModuleDict({name: nn.Linear(args.hidden, width) for name in types})

        def forward(self, x):
            sums = self.along(g, x)
            return {name: layer(x[name]) + sums[name] if name in sums else layer(x[name])
                    for name, layer in self.root.items()}

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.ins, self.first, self.last = ins, Layer(args.hidden), Layer(graph.classes)

        def forward(self):
            h = self.first({name: layer(x[name]) for name, layer in self.ins.items()})
            return self.last({name: y.relu() for name, y in h.items()})[graph.labelled]

    rename = lambda name: (name.replace(".along.mods.", ".to."), ".along.mods." in name)
    return case.Work(args, graph, net := fill(Net(), args, rename), net)


def gin_graphs(args, graph):
    import dgl
    from dgl.nn import GINConv
    from torch import nn

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = nn.BatchNorm1d(args.hidden)

        def forward(self, x):
            return self.module(x)

    class Mlp(nn.Module):
        def __init__(self, inputs, outputs, norm):
            super().__init__()
            self.lins = nn.ModuleList([nn.Linear(inputs, args.hidden),
                                       nn.Linear(args.hidden, outputs)])
            self.norms = nn.ModuleList([Norm()] if norm else [])

        def forward(self, x):
            x = self.lins[0](x)
            return self.lins[1]((self.norms[0](x) if self.norms else x).relu())

    src, dst = graph.edge_index
    g = dgl.graph((src, dst), num_nodes=graph.nodes).formats(["csr", "csc", "coo"])
    g.create_formats_()
    whose = graph.relations[("node", "member", "graph")]
    pool = dgl.heterograph({("node", "member", "graph"): tuple(whose)},
                           {name: graph.types[name] for name in ("node", "graph")})

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList(
                GINConv(Mlp(graph.features if i == 0 else args.hidden, args.hidden, True), "sum")
                for i in range(args.layers))
            self.norms = nn.ModuleList(Norm() for _ in range(args.layers))
            self.out = Mlp(args.hidden, graph.classes, False)

        def forward(self, x):
            for conv, norm in zip(self.convs, self.norms):
                x = norm(conv(g, x)).relu()
            return self.out(dgl.ops.copy_u_sum(pool, x))

    net = fill(Net(), args, lambda name: (name.replace(".apply_func.", ".nn."), False))
    x = graph.dense()
    return case.Work(args, graph, net, lambda: net(x))
