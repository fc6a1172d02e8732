"""PyTorch Geometric's models of several types, graphs or facts, with gnnc's weights under gnnc's
names.

`--form` says how: `coo` is what its users write. `fast` is FastRGCNConv. `csr` has each relation as
a sparse tensor. `live` leaves out the relations that lead to no row with labels, which eager
PyTorch computes all the same. `batches` is an epoch over the graphs of the training set, 32 at a
time, put together beforehand: other steps than those of all graphs at once. `sparse` has gradients
of the rows that facts read, and SparseAdam.
"""
import case


def make(args, graph, compiled):
    makers = {"rgcn_bases": rgcn_bases, "rgcn_typed": rgcn_typed, "hgt": hgt,
              "gin_graphs": gin_graphs, "distmult_apart": distmult, "distmult_shared": distmult,
              "distmult_touched": distmult}
    return makers[args.model](args, graph, compiled)


def load(net, args, rename=lambda name: name):
    """Weights by gnnc's names; `rename` gives it for one of the net's, or a function of a reader of
    weights."""
    values = {}
    for name, value in net.state_dict().items():
        theirs = rename(name)
        if theirs is None or name.endswith((".eps", "num_batches_tracked")):
            continue
        values[name] = (theirs(value) if callable(theirs)
                        else case.weight(args.case, theirs, value.shape))
    net.load_state_dict(values, strict=False)
    net.train(args.what == "train")
    return net


def rgcn_bases(args, graph, compiled):
    import torch
    from torch import nn
    from torch_geometric.nn import FastRGCNConv, RGCNConv
    hidden, bases = args.hidden, int(args.options["bases"])
    layer = FastRGCNConv if args.form == "fast" else RGCNConv

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Parameter(torch.empty(graph.nodes, hidden))
            self.first = layer(hidden, hidden, graph.kinds, num_bases=bases)
            self.last = layer(hidden, graph.classes, graph.kinds, num_bases=bases)

        def forward(self, edges, kind):
            return self.last(self.first(self.emb, edges, kind).relu(), edges, kind)

    net = load(Net(), args)
    kind = graph.columns["g.kind"].long()
    order = torch.argsort(kind, stable=True)
    edges, kind = graph.edge_index[:, order].contiguous(), kind[order]
    call = compiled(net, args)
    return case.Work(args, graph, net, lambda: call(edges, kind))


def reaching(graph):
    """The relations that lead to rows with labels, by whatever way."""
    wanted, found = {graph.labelled}, {}
    while True:
        more = {names: ends for names, ends in graph.relations.items() if names[2] in wanted}
        if len(more) == len(found):
            return {names: ends for names, ends in graph.relations.items() if names in more}
        found, wanted = more, wanted | {names[0] for names in more}


def relations_of(args, graph):
    """(relations, types), of what `--form` leaves in."""
    relations = reaching(graph) if args.form.startswith("live") else graph.relations
    ends = {name for names in relations for name in (names[0], names[2])}
    return relations, [name for name in graph.types if name in ends]


def first_rows(args, graph, types):
    """A linear layer of what has features, a table of what has none; and the input of each."""
    import torch
    from torch import nn
    x = {name: graph.columns.get(f"{name}.x") for name in types}
    layers = nn.ModuleDict({name: nn.Embedding(graph.types[name], args.hidden) if x[name] is None
                            else nn.Linear(x[name].shape[1], args.hidden) for name in types})
    return layers, {name: torch.arange(graph.types[name]) if value is None else value
                    for name, value in x.items()}


def adjacency(args, graph, relations):
    import torch
    if not args.form.endswith("csr"):
        return relations
    out = {}
    for names, ends in relations.items():
        shape = (graph.types[names[2]], graph.types[names[0]])
        out[names] = torch.sparse_coo_tensor(ends.flip(0), torch.ones(ends.shape[1]),
                                             shape).coalesce().to_sparse_csr()
    return out


def rgcn_typed(args, graph, compiled):
    from torch import nn
    from torch_geometric.nn import HeteroConv, SAGEConv
    hidden, (relations, types) = args.hidden, relations_of(args, graph)
    ins, x = first_rows(args, graph, types)

    class Layer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.along = HeteroConv({names: SAGEConv(hidden, width, root_weight=False, bias=False)
                                     for names in relations})
            self.root = nn.ModuleDict({name: nn.Linear(hidden, width) for name in types})

        def forward(self, x, edges):
            sums = self.along(x, edges)
            return {name: layer(x[name]) + sums[name] if name in sums else layer(x[name])
                    for name, layer in self.root.items()}

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.ins, self.first, self.last = ins, Layer(hidden), Layer(graph.classes)

        def forward(self, x, edges):
            h = self.first({name: layer(x[name]) for name, layer in self.ins.items()}, edges)
            return self.last({name: y.relu() for name, y in h.items()}, edges)[graph.labelled]

    def rename(name):
        return (name if ".convs." not in name
                else f"{name.split('.')[0]}.to.{name.split('___')[1]}.weight")

    net = load(Net(), args, rename)
    edges, call = adjacency(args, graph, relations), compiled(net, args)
    return case.Work(args, graph, net, lambda: call(x, edges))


def hgt(args, graph, compiled):
    import torch
    from torch import nn
    from torch_geometric.nn import HGTConv
    hidden, heads = args.hidden, int(args.options.get("heads", 2))
    relations, types = relations_of(args, graph)
    ins, x = first_rows(args, graph, types)
    names_of, d = [names[1] for names in relations], hidden // heads

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.ins = ins
            self.convs = nn.ModuleList(HGTConv(hidden, hidden, (types, list(relations)), heads)
                                       for _ in range(args.layers))
            self.last = nn.Linear(hidden, graph.classes)

        def forward(self, x, edges):
            h = {name: layer(x[name]).relu() for name, layer in self.ins.items()}
            for conv in self.convs:
                h = {**h, **conv(h, edges)}  # what no relation goes into stays as it is
            return self.last(h[graph.labelled])

    reached = {names[2] for names in relations}

    def rename(name):
        part = name.split(".")
        read = lambda *names: case.weight(args.case, ".".join(names[:-1]), names[-1])
        if part[0] == "last":
            return f"Linear.{part[1]}"
        if part[0] == "ins":
            return name
        if part[2] in ("kqv_lin", "out_lin"):
            if part[2] == "out_lin" and part[4] not in reached:
                return None
            return ".".join([*part[:2], {"kqv_lin": "kqv", "out_lin": "last"}[part[2]], *part[4:]])
        # heads of the first relation, of all of them: one behind another
        if part[2] in ("k_rel", "v_rel"):
            return lambda value: torch.stack([read(*part[:3], n, "weight", (heads, d, d))
                                              for n in names_of], 1).reshape(value.shape)
        if part[2] == "p_rel":
            return lambda value: read(*part[:3], part[3].split("__")[1], "weight", (1, heads))
        return f"{'.'.join(part[:4])}.gate" if part[3] in reached else None

    net = load(Net(), args, rename)
    call = compiled(net, args)
    return case.Work(args, graph, net, lambda: call(x, relations))


class Epoch(case.Work):
    """A step is a pass over all batches."""
    other = "an epoch of batches of 32 graphs"

    def train(self):
        for self.batch in self.batches:
            loss = super().train()
        return loss


def gin_graphs(args, graph, compiled):
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch_geometric.nn import MLP, BatchNorm, GINConv, global_add_pool
    hidden = args.hidden

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList(GINConv(MLP([graph.features if i == 0 else hidden, hidden,
                                                    hidden])) for i in range(args.layers))
            self.norms = nn.ModuleList(BatchNorm(hidden) for _ in range(args.layers))
            self.out = MLP([hidden, hidden, graph.classes], norm=None, dropout=args.dropout)

        def forward(self, x, edges, member, graphs: int):
            for conv, norm in zip(self.convs, self.norms):
                x = norm(conv(x, edges)).relu()
            return self.out(global_add_pool(x, member, graphs))

    net = load(Net(), args)
    member, x = graph.relations[("node", "member", "graph")][1], graph.dense()
    call = compiled(net, args)
    whole = lambda: call(x, graph.edge_index, member, graph.types["graph"])
    if args.form != "batches":
        return case.Work(args, graph, net, whole)
    work = Epoch(args, graph, net, whole,
                 lambda: F.cross_entropy(call(*work.batch[:-1]), work.batch[-1]))
    work.batches = [part(graph, x, member, some) for some in graph.rows.split(32)]
    return work


def part(graph, x, member, some):
    """(x, edges, member, how many, labels) of some graphs."""
    import torch
    number = torch.full((graph.types["graph"],), -1)
    number[some] = torch.arange(len(some))
    nodes = (number[member] >= 0).nonzero().view(-1)
    at = torch.full((len(member),), -1)
    at[nodes] = torch.arange(len(nodes))
    ends = at[graph.edge_index]
    return (x[nodes], ends[:, ends[0] >= 0].contiguous(), number[member[nodes]], len(some),
            graph.y[some])


def distmult(args, graph, compiled):
    """In torch alone: what a batch scores are rows of two tables. Facts and nodes are drawn anew at
    every step."""
    import torch
    from torch import nn
    from torch.nn import functional as F
    dim, batch = int(args.options.get("dim", 200)), int(args.options["batch"])
    (src, dst), kind = graph.edge_index, graph.columns["g.kind"].long()
    facts = graph.columns["g.train_mask"].nonzero().view(-1)
    among = args.model != "distmult_apart"

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Parameter(torch.empty(graph.nodes, dim))
            self.rel = nn.Parameter(torch.empty(graph.kinds, dim))

        def forward(self, u, k, v):
            return (self.emb[u] * self.rel[k] * self.emb[v]).sum(-1)

    net = load(Net(), args)

    def emb(rows):
        return F.embedding(rows, net.emb, sparse=True) if args.form == "sparse" else net.emb[rows]

    def shared(f, drawn):
        """A softmax among both ends of a fact and nodes that all facts share: `softmax_among` in
        gnnc's library."""
        x, r, y, others = emb(src[f]), net.rel[kind[f]], emb(dst[f]), emb(drawn)
        share, loss = torch.log(torch.tensor(graph.nodes / len(drawn))), 0
        s = (x * r * y).sum(-1, keepdim=True)
        for q, own in ((x * r, x), (y * r, y)):
            scores = torch.cat([s, (q * own).sum(-1, keepdim=True), q @ others.t() + share], 1)
            loss = loss + (scores.logsumexp(1) - s[:, 0]).mean()
        return loss

    def apart(f, drawn, back):
        """Every fact among facts of its own, with one end of it changed:
        `softmax_against_drawn`."""
        x, r, y, others = emb(src[f]), net.rel[kind[f]], emb(dst[f]), emb(drawn)
        s = (x * r * y).sum(-1)
        q = torch.where(back.unsqueeze(-1), (y * r).unsqueeze(1), (x * r).unsqueeze(1))
        n = (q * others).sum(-1)
        m = n.mean(1, keepdim=True).detach()
        return F.softplus((m.squeeze(1) + torch.log(torch.exp((n - m).clamp(max=80)).sum(1))) -
                          s).mean()

    score = compiled(shared if among else apart, args)

    def loss():
        f = facts[torch.randint(len(facts), (batch,))]
        if among:
            return score(f, torch.randint(graph.nodes, (int(args.options["drawn"]),)))
        times = int(args.options["times"])
        return score(f, torch.randint(graph.nodes, (batch, times)), torch.rand(batch, times) < 0.5)

    return case.Work(args, graph, net, lambda: net(src, kind, dst), loss, draws=True)
