"""Cases of layers over several types of rows and kinds of edges."""
import torch
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.utils import softmax

from typed_case import EDGES, KINDS, ROWS, WIDTH, Case


def bipartite(name, layer, build, width=5):
    """A layer from authors to papers."""
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
                f"node.paper[{width}]", f"conv = {layer} as \"\"\n  return {{}}", build,
                lambda m, i: m((i["author.x"], i["paper.x"]), i["writes"]))


def ends(name):
    return tuple(WIDTH[f"{t}.x"] for t in EDGES[name][:2])


def nothing(name, layer, build, width, relation):
    """The same where a relation has no edges, or either end no rows."""
    source, target, _ = EDGES[relation]
    return Case(f"{name}_{relation}", f"{relation}: node.{source} -> node.{target}, z: "
                f"node.{source}[a], x: node.{target}[b]", f"node.{target}[{width}]",
                f"conv = {layer} as \"\"\n  return conv({relation}, z, y = x)",
                lambda: build(ends(relation)),
                lambda m, i: m((i[f"{source}.x"], i[f"{target}.x"]), i[relation]))


def attributed(name, layer, build, width=6):
    """With features of edges, from authors to papers."""
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
                f"node.paper[{width}]",
                f"conv = {layer} as \"\"\n  return conv(writes, z, writes.attr, x)", build,
                lambda m, i: m((i["author.x"], i["paper.x"]), i["writes"], i["writes.attr"]))


def own(name, layer, build, width=6):
    """Along a relation of a type to itself, with weights of its own for either end."""
    return Case(name, "cites: node.paper -> node.paper, x: node.paper[b]", f"node.paper[{width}]",
                f"conv = {layer} as \"\"\n  return conv(cites, x, y = x)", build,
                lambda m, i: m((i["paper.x"], i["paper.x"]), i["cites"]))


def called(case, call):
    return Case(case.name, case.inputs, case.result, case.body.format(call), case.build, case.run,
                case.names)


FROM_TO = "conv(writes, z, x)"
FROM_TO_BY_NAME = "conv(writes, z, y = x)"
BOTH = (6, 4)


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def kinds(name, args, layer=pyg.RGCNConv, **kwargs):
    return Case(name, "g: graph, x: node[f], kind: edge of int", "node[8]",
                f"conv = RGCNConv(8, {KINDS}{args}) as \"\"\n  return conv(g, x, kind)",
                lambda: layer(6, 8, KINDS, **kwargs),
                lambda m, i: m(i["node.x"], i["g"], i["g.kind"]))


class Pool(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how

    def forward(self, x, member):
        return self.how(x, member, size=ROWS["graph"])


def pool(name, function, how):
    return Case(name, "x: node[f], member: node -> graph", "graph[6]",
                f"return {function}(member, x)", lambda: Pool(how),
                lambda m, i: m(i["node.x"], i["member"][1]))


def relation(name):
    source, target, _ = EDGES[name]
    return source, name, target


def hetero(name, value):
    for key in EDGES:
        name = name.replace("convs.<" + "___".join(relation(key)) + ">", f"convs.{key}")
    return {name: value}


def hetero_conv():
    return pyg.HeteroConv({relation("cites"): pyg.SAGEConv(4, 5),
                           relation("writes"): pyg.GATConv((6, 4), 5, add_self_loops=False),
                           relation("held"): pyg.GraphConv((6, 4), 5)}, aggr="sum")


def run_hetero(module, i):
    x = {"author": i["author.x"], "paper": i["paper.x"],
         "venue": torch.zeros(0, 6, dtype=i["paper.x"].dtype)}
    return module(x, {relation(k): i[k] for k in ("cites", "writes", "held")})["paper"]


def typed(name, layer, width, build, run, names, relations, result="paper", helper=""):
    """A layer over families of relations and features."""
    inputs = ", ".join(f"{n}: node.{EDGES[n][0]} -> node.{EDGES[n][1]}" for n in relations)
    return Case(name, f"{inputs},\n           gs: each graph, xs: each node[...]",
                f"node.{result}[{width}]",
                f"conv = {layer} as \"\"\n  return conv(gs, xs)[{result}]", build, run, names,
                helper)


def types_of(relations):
    return [t for t in ROWS if any(t in EDGES[name][:2] for name in relations)]


def features(i, relations):
    return {t: i[f"{t}.x"] for t in types_of(relations)}


def indices(i, relations):
    return {relation(name): i[name] for name in relations}


def widths(relations):
    return {t: WIDTH[f"{t}.x"] for t in types_of(relations)}


def metadata(relations):
    return types_of(relations), [relation(name) for name in relations]


HGT_RELATIONS = ("writes", "cites", "by")
WIDE_RELATIONS = ("writes", "cites", "held", "by", "shown")


def hgt(name, value, relations=HGT_RELATIONS):
    """Tensors of all relations and heads together, taken apart."""
    part = name.split(".")
    if part[0] in ("kqv_lin", "out_lin"):
        return {f"{ {'kqv_lin': 'kqv', 'out_lin': 'last'}[part[0]] }.{part[2]}.{part[3]}": value}
    if part[0] in ("k_rel", "v_rel"):
        n = len(relations)
        return {f"{part[0]}.{key}.weight": value[k::n] for k, key in enumerate(relations)}
    if part[0] == "p_rel":
        return {f"p_rel.{name.split('__')[1]}.weight": value[0]}
    return {f"skip.{part[1]}.gate": value.reshape(1)}


def run_hgt(module, i):
    return module({"author": i["author.x"], "paper": i["paper.x"]},
                  {relation(k): i[k] for k in HGT_RELATIONS})["paper"]


def run_family(result, relations):
    return lambda m, i: m(features(i, relations), indices(i, relations))[result]


def by_relation(name):
    for key in EDGES:
        name = name.replace("__".join(relation(key)), key)
    return name


def han(name, value):
    return {by_relation(name) + (".weight" if name.startswith("lin_") else ""): value}


def to(name, value):
    return {name.replace("forth.", "to."): value}


def hetero_sage(aggr):
    return pyg.HeteroConv({relation(name): pyg.SAGEConv(ends(name), 5) for name in WIDE_RELATIONS},
                          aggr=aggr)


def sages(aggr):
    """HeteroConv as a layer of one's own."""
    together = {"cat": "concat"}.get(aggr, aggr)
    return ("layer Sages(out: dim) (gs: each graph, x: each node[...]) -> each node[...] {\n"
            "  convs = [SAGEConv(out) for g in gs]\n"
            "  m = [convs[g](g, x[g.src], x[g.dst]) for g in gs]\n"
            f"  return [{together}([m[g] for g in gs if g.dst == t]) for t in x]\n}}\n")


class RelationMeans(nn.Module):
    """The mean over each relation by a matrix of its own, and what is there by one of its type."""

    def __init__(self, width, relations, inverse):
        super().__init__()
        self.relations = relations
        self.root = nn.ModuleDict({t: nn.Linear(w, width) for t, w in widths(relations).items()})
        layer = lambda end: nn.ModuleDict({name: nn.Linear(WIDTH[f"{EDGES[name][end]}.x"], width,
                                                           bias=False) for name in relations})
        self.forth = layer(0)
        self.back = layer(1) if inverse else {}
        self.mean = pyg.SimpleConv(aggr="mean")

    def forward(self, x, edges):
        out = {t: self.root[t](x[t]) for t in x}
        for (source, name, target), index in edges.items():
            out[target] = out[target] + self.forth[name](self.mean((x[source], x[target]), index))
            if self.back:
                out[source] = out[source] + self.back[name](self.mean((x[target], x[source]),
                                                                      index.flip(0)))
        return out


MULTIPLICATIVE = "multiplicative-self-attention"


def rgat(name, width, args, attr=False, **kwargs):
    more = {"edge_dim": WIDTH["g.attr"]} if attr else {}
    edges = ", attr: edge[d]" if attr else ""
    return Case(name, f"g: graph, x: node[f], kind: edge of int{edges}", f"node[{width}]",
                f"conv = RGATConv(4, {args}) as \"\"\n"
                f"  return conv(g, x, kind{', attr' if attr else ''})",
                lambda: pyg.RGATConv(6, 4, KINDS, **kwargs, **more),
                lambda m, i: m(i["node.x"], i["g"], i["g.kind"], *([i["g.attr"]] if attr else [])))


def heat(name, width, args, **kwargs):
    return Case(name, "g: graph, x: node[f], type: node of int, kind: edge of int, attr: edge[d]",
                f"node[{width}]",
                f"conv = HEATConv(4, 5, 2, {args}) as \"\"\n  return conv(g, x, type, kind, attr)",
                lambda: pyg.HEATConv(6, 4, KINDS, KINDS, 5, WIDTH["g.attr"], 2, **kwargs),
                lambda m, i: m(i["node.x"], i["g"], i["node.type"], i["g.kind"], i["g.attr"]))


def pairs(name, body, build):
    """Scores of authors and papers."""
    return Case(name, "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
                "edge.writes", body, build,
                lambda m, i: m(i["author.x"][i["writes"][0]], i["paper.x"][i["writes"][1]]),
                lambda n, v: {n: v.squeeze(0) if name == "bilinear" else v})


class Dot(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = nn.Linear(4, 6, bias=False)

    def forward(self, x, y):
        return (x * self.side(y)).sum(-1)


class Bilinear(nn.Bilinear):
    def __init__(self):
        super().__init__(*BOTH, 1, bias=False)

    def forward(self, x, y):
        return super().forward(x, y).squeeze(-1)


class PairMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.lins = pyg.MLP([sum(BOTH), 8, 1], norm=None).lins

    def forward(self, x, y):
        return self.lins[1](self.lins[0](torch.cat([x, y], -1)).relu()).squeeze(-1)


def facts(name, weights, body, build):
    """Scores of the edges of g by embeddings of nodes and kinds."""
    params = "\n".join(f"  param {w}: {'node' if w.startswith('node') else 'kind'}[8] = "
                       f"normal(0.0, 1.0) as \"{w}.weight\"" for w in weights.split())
    return Case(name, "g: graph, kind: edge of int", "edge", f"{params.strip()}\n  {body}", build,
                lambda m, i: m(i["g"][0], i["g.kind"], i["g"][1]))


class Moduli(pyg.RotatE):
    """The sum of the moduli, as Sun et al. have it; PyTorch Geometric takes one norm of all."""

    def forward(self, head, kind, tail):
        turn = self.rel_emb(kind)
        turned = torch.complex(self.node_emb(head),
                               self.node_emb_im(head)) * torch.complex(turn.cos(), turn.sin())
        return -(turned - torch.complex(self.node_emb(tail), self.node_emb_im(tail))).abs().sum(-1)


class Pairs(nn.Module):
    """Two vectors a kind."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(KINDS, 2, 8))

    def forward(self, kind):
        return self.weight[kind]


class Among(nn.Module):
    """Scores of facts times a loss that has all nodes in the place of either end."""

    def __init__(self, complex_numbers, softmax, both):
        super().__init__()
        self.complex_numbers, self.softmax, self.both = complex_numbers, softmax, both
        self.emb = nn.Embedding(ROWS["node"], 8)
        self.rel = Pairs() if both else nn.Embedding(KINDS, 8)

    def score(self, x, r, y):
        if not self.complex_numbers:
            return (x * r * y).sum(-1)
        x, r, y = (torch.complex(*z.chunk(2, -1)) for z in (x, r, y))
        return (x * r * y.conj()).real.sum(-1)

    def forward(self, source, kind, target):
        x, r, y, every = self.emb(source), self.rel(kind), self.emb(target), self.emb.weight
        to, back = r.unbind(1) if self.both else (r, r)
        s = self.score(x, to, y)
        if self.both:
            s = torch.stack([s, self.score(x, back, y)], -1)
        ends = [(self.score(x[:, None], to[:, None], every), source, target),
                (self.score(every, back[:, None], y[:, None]), target, source)]
        cubes = x.abs() ** 3 + y.abs() ** 3 + (to.abs() ** 3 + back.abs() ** 3) / 2
        loss = 0.1 * cubes.sum(-1).mean()
        for scores, asked, answer in ends:
            if self.softmax:
                loss = loss + nn.functional.cross_entropy(scores, answer)
                continue
            same = (asked[:, None] == asked) & (kind[:, None] == kind)
            target_of = torch.zeros_like(scores)
            for fact in range(len(answer)):  # a fact that the data list twice counts twice
                target_of[fact] = torch.bincount(answer[same[fact]], minlength=len(every))
            per = same.sum(-1)
            bce = (nn.functional.softplus(scores) - target_of * scores).sum(-1)
            loss = loss + (bce / per).mean()
        return s * loss


def among(name, how, score, complex_numbers, both=False):
    """`both`: either end asks by a vector of its own."""
    two, ends = ("2, ", "edge[2]") if both else ("", "edge")
    layer = (f"layer Facts(dim) (g: graph, kind: edge of int) -> {ends} {{\n"
             "  param emb: node[dim] = normal(0.0, 1.0) as \"emb.weight\"\n"
             f"  param rel: kind[{two}dim] = normal(0.0, 1.0) as \"rel.weight\"\n"
             f"  return {score}(g, emb, emb, rel[kind])\n}}\n")
    return Case(name, "g: graph, kind: edge of int", ends,
                "m = Facts(8) as \"\"\n  s = m(g, kind)\n"
                f"  return s * {how}_among(m, {score}_asks, g, kind, kind >= 0, penalty = 0.1)",
                lambda: Among(complex_numbers, how == "softmax", both),
                lambda m, i: m(i["g"][0], i["g.kind"], i["g"][1]), helper=layer)


class OutSoftmax(nn.Module):
    """Attention among the edges out of a node."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 5)

    def forward(self, x, edges):
        h = self.lin(x)
        score = (h[edges[0]] * h[edges[1]]).sum(-1)
        weight = softmax(score, edges[0], num_nodes=len(x))
        return torch.zeros_like(h).index_add(0, edges[1], weight[:, None] * h[edges[0]])


class RowMatrix(nn.Module):
    """A matrix for each row."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 18)

    def forward(self, x):
        return (x.view(-1, 1, 6) @ self.lin(x).view(-1, 6, 3)).squeeze(1)


CASES = [
    Case("softmax_src", "g: graph, x: node[f]", "node[5]", "h = Linear(5)(x)\n"
         "  e = edge(u -> v in g: sum(h[u] * h[v], axis = -1))\n"
         "  a = softmax(e, over = src)\n  return sum(u -> v in g: a * h[u])", OutSoftmax,
         lambda m, i: m(i["node.x"], i["g"]),
         lambda name, value: {name.replace("lin", "Linear"): value}),
    Case("row_matrix", "g: graph, x: node[f]", "node[3]", "lin = Linear(18)\n"
         "  return x @ reshape(lin(x), [6, 3])", RowMatrix, lambda m, i: m(i["node.x"])),
    called(bipartite("sage", "SAGEConv(5)", lambda: pyg.SAGEConv(BOTH, 5)), FROM_TO),
    called(bipartite("sage_max", "SAGEConv(5, aggr = \"max\")",
                     lambda: pyg.SAGEConv(BOTH, 5, aggr="max")), FROM_TO),
    called(bipartite("graphconv", "GraphConv(5)", lambda: pyg.GraphConv(BOTH, 5)), FROM_TO),
    called(bipartite("gat", "GATConv(3, heads = 2, loops = false)", lambda:
                     pyg.GATConv(BOTH, 3, heads=2, add_self_loops=False), 6), FROM_TO_BY_NAME),
    called(bipartite("gatv2", "GATv2Conv(3, heads = 2, loops = false)", lambda:
                     pyg.GATv2Conv(BOTH, 3, heads=2, add_self_loops=False), 6), FROM_TO_BY_NAME),
    called(bipartite("transformer", "TransformerConv(3, heads = 2, beta = true)",
                     lambda: pyg.TransformerConv(BOTH, 3, heads=2, beta=True), 6), FROM_TO_BY_NAME),
    called(bipartite("resgated", "ResGatedGraphConv(5)", lambda: pyg.ResGatedGraphConv(BOTH, 5)),
           FROM_TO),
    Case("gin", "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
         "node.paper[5]", "side = Linear(6, bias = false)\n"
         "  conv = GINConv(5, hidden = 8) as \"\"\n  return conv(writes, z, side(x))",
         lambda: Gin(), lambda m, i: m(i["author.x"], i["paper.x"], i["writes"])),
    Case("hetero", "cites: node.paper -> node.paper, writes: node.author -> node.paper, held: "
         "node.venue -> node.paper,\n"
         "           z: node.author[a], x: node.paper[b], w: node.venue[c]", "node.paper[5]",
         "cite = SAGEConv(5) as \"convs.cites\"\n  write = GATConv(5, loops = false) as "
         "\"convs.writes\"\n  hold = GraphConv(5) as \"convs.held\"\n"
         "  return cite(cites, x) + write(writes, z, y = x) + hold(held, w, x)", hetero_conv,
         run_hetero, hetero),
    *[nothing(name, layer, build, width, relation) for relation in ("held", "shown", "by")
      for name, layer, build, width in (
          ("sage", "SAGEConv(5)", lambda w: pyg.SAGEConv(w, 5), 5),
          ("graphconv", "GraphConv(5, aggr = \"mean\")",
           lambda w: pyg.GraphConv(w, 5, aggr="mean"), 5),
          ("gat", "GATConv(3, heads = 2, loops = false)",
           lambda w: pyg.GATConv(w, 3, heads=2, add_self_loops=False), 6),
          ("gatv2", "GATv2Conv(3, heads = 2, loops = false)",
           lambda w: pyg.GATv2Conv(w, 3, heads=2, add_self_loops=False), 6),
          ("transformer", "TransformerConv(3, heads = 2)",
           lambda w: pyg.TransformerConv(w, 3, heads=2), 6),
          ("resgated", "ResGatedGraphConv(5)", lambda w: pyg.ResGatedGraphConv(w, 5), 5))],
    attributed("gat_edge", "GATConv(3, heads = 2, loops = false)",
               lambda: pyg.GATConv(BOTH, 3, heads=2, add_self_loops=False, edge_dim=3)),
    attributed("gatv2_edge", "GATv2Conv(3, heads = 2, concat = false, loops = false)", lambda:
               pyg.GATv2Conv(BOTH, 3, heads=2, concat=False, add_self_loops=False, edge_dim=3), 3),
    attributed("transformer_edge", "TransformerConv(3, heads = 2, concat = false)",
               lambda: pyg.TransformerConv(BOTH, 3, heads=2, concat=False, edge_dim=3), 3),
    own("sage_own", "SAGEConv(6, normalized = true)",
        lambda: pyg.SAGEConv((4, 4), 6, normalize=True)),
    own("gat_own", "GATConv(3, heads = 2)", lambda: pyg.GATConv((4, 4), 3, heads=2)),
    own("gatv2_own", "GATv2Conv(3, heads = 2)", lambda: pyg.GATv2Conv((4, 4), 3, heads=2)),
    own("transformer_own", "TransformerConv(3, heads = 2)",
        lambda: pyg.TransformerConv((4, 4), 3, heads=2)),
    kinds("rgcn", ""),
    kinds("rgcn_bases", ", bases = 2", num_bases=2),
    kinds("rgcn_blocks", ", blocks = 2", num_blocks=2),
    kinds("rgcn_bare", ", aggr = \"sum\", root = false, bias = false", aggr="sum",
          root_weight=False, bias=False),
    pool("add_pool", "add_pool", pyg.global_add_pool),
    pool("mean_pool", "mean_pool", pyg.global_mean_pool),
    pool("max_pool", "max_pool", pyg.global_max_pool),
    Case("attention_pool", "x: node[f], member: node -> graph", "graph[5]",
         "pool = AttentionalAggregation(Linear(1), Linear(5)) as \"\"\n  return pool(member, x)",
         lambda: pyg.AttentionalAggregation(nn.Linear(6, 1), nn.Linear(6, 5)),
         lambda m, i: m(i["node.x"], i["member"][1], dim_size=ROWS["graph"])),
    typed("hgt", "HGTConv(8, heads = 2)", 8,
          lambda: pyg.HGTConv({"author": 8, "paper": 8}, 8, metadata(HGT_RELATIONS), heads=2),
          run_hgt, hgt, HGT_RELATIONS),
    typed("hgt_wide", "HGTConv(8)", 8,
          lambda: pyg.HGTConv(widths(WIDE_RELATIONS), 8, metadata(WIDE_RELATIONS)),
          run_family("paper", WIDE_RELATIONS), lambda n, v: hgt(n, v, WIDE_RELATIONS),
          WIDE_RELATIONS),
    *[typed(f"han_{t}", "HANConv(8, heads = 2)", 8,
            lambda: pyg.HANConv(widths(WIDE_RELATIONS), 8, metadata(WIDE_RELATIONS), heads=2),
            run_family(t, WIDE_RELATIONS), han, WIDE_RELATIONS, t)
      for t in ("paper", "author", "venue")],
    *[typed(f"hetero_{aggr}", "Sages(5)", 15 if aggr == "cat" else 5,
            lambda aggr=aggr: hetero_sage(aggr), run_family("paper", WIDE_RELATIONS), hetero,
            WIDE_RELATIONS, helper=sages(aggr)) for aggr in ("sum", "mean", "max", "cat")],
    typed("hetero_rgcn", "HeteroRGCNConv(5)", 5, lambda: RelationMeans(5, WIDE_RELATIONS, False),
          run_family("paper", WIDE_RELATIONS), to, WIDE_RELATIONS),
    typed("hetero_rgcn_inverse", "HeteroRGCNConv(5, inverse = true)", 5,
          lambda: RelationMeans(5, WIDE_RELATIONS, True), run_family("paper", WIDE_RELATIONS), to,
          WIDE_RELATIONS),
    kinds("fast_rgcn", "", layer=pyg.FastRGCNConv),
    kinds("fast_rgcn_blocks", ", blocks = 2, aggr = \"sum\"", layer=pyg.FastRGCNConv, num_blocks=2,
          aggr="sum"),
    kinds("rgcn_max", ", aggr = \"max\"", aggr="max"),
    Case("rgcn_between", "writes: node.author -> node.paper, z: node.author[a], x: node.paper[b]",
         "node.paper[8]", f"conv = RGCNConv(8, {KINDS}, bases = 2) as \"\"\n  return conv(writes, "
         "z, writes.kind, x)", lambda: pyg.RGCNConv(BOTH, 8, KINDS, num_bases=2),
         lambda m, i: m((i["author.x"], i["paper.x"]), i["writes"], i["writes.kind"])),
    rgat("rgat", 8, "heads = 2", heads=2),
    rgat("rgat_edge", 8, "heads = 2, mod = \"additive\"", attr=True, heads=2, mod="additive"),
    rgat("rgat_within", 4, "heads = 2, concat = false, within = true", heads=2, concat=False,
         attention_mechanism="within-relation"),
    rgat("rgat_bases", 16,
         f"bases = 2, heads = 2, dims = 2, multiplicative = true, mod = \"f-scaled\"", attr=True,
         num_bases=2, heads=2, dim=2, attention_mode=MULTIPLICATIVE, mod="f-scaled"),
    rgat("rgat_blocks", 8, "blocks = 2, heads = 2, dims = 2, concat = false, multiplicative = "
         "true, mod = \"scaled\", within = true", num_blocks=2, heads=2, dim=2, concat=False,
         attention_mode=MULTIPLICATIVE, mod="scaled", attention_mechanism="within-relation"),
    rgat("rgat_fadd", 8, "heads = 2, mod = \"f-additive\", bias = false", heads=2, mod="f-additive",
         bias=False),
    heat("heat", 8, "heads = 2", heads=2),
    heat("heat_mean", 4, "heads = 2, concat = false, bias = false", heads=2, concat=False,
         bias=False),
    heat("heat_bare", 4, "root = false", root_weight=False),
    Case("set2set", "x: node[f], member: node -> graph", "graph[12]",
         "pool = Set2Set(3) as \"\"\n  return pool(member, x)", lambda: pyg.aggr.Set2Set(6, 3),
         lambda m, i: m(i["node.x"], i["member"][1], dim_size=ROWS["graph"])),
    pairs("dot", "side = Linear(6, bias = false)\n  return dot(writes, z, side(x))", Dot),
    pairs("bilinear", "score = BilinearDecoder() as \"\"\n  return score(writes, z, x)", Bilinear),
    pairs("mlp_pairs", "score = MLPDecoder([8, 1]) as \"\"\n  return score(writes, z, x)",
          lambda: PairMLP()),
    facts("distmult", "node_emb rel_emb", "return distmult(g, node_emb, node_emb, rel_emb[kind])",
          lambda: pyg.DistMult(7, KINDS, 8)),
    facts("transe", "node_emb rel_emb",
          "h = node_emb / sum(abs(node_emb), axis = -1, keep = true)\n"
          "  return transe(g, h, h, rel_emb[kind])", lambda: pyg.TransE(7, KINDS, 8)),
    facts("transe2", "node_emb rel_emb",
          "h = normalize(node_emb)\n  return transe(g, h, h, rel_emb[kind], p = 2)",
          lambda: pyg.TransE(7, KINDS, 8, p_norm=2.0)),
    facts("complex", "node_emb node_emb_im rel_emb rel_emb_im",
          "h = concat(node_emb, node_emb_im)\n"
          "  return complex(g, h, h, concat(rel_emb, rel_emb_im)[kind])",
          lambda: pyg.ComplEx(7, KINDS, 8)),
    facts("rotate", "node_emb node_emb_im rel_emb", "h = concat(node_emb, node_emb_im)\n"
          "  return rotate(g, h, h, concat(cos(rel_emb), sin(rel_emb))[kind])",
          lambda: Moduli(7, KINDS, 8)),
    among("one_vs_all", "softmax", "complex", True),
    among("k_vs_all", "bce", "distmult", False),
    among("k_vs_all_complex", "bce", "complex", True),
    among("one_vs_all_ends", "softmax", "distmult", False, both=True),
    among("k_vs_all_ends", "bce", "complex", True, both=True),
]


class Gin(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = nn.Linear(4, 6, bias=False)
        conv = pyg.GINConv(mlp(6, 8, 5))
        self.nn, self.conv = conv.nn, [conv]  # in a list, so that its names stay without a prefix
        self.register_buffer("eps", conv.eps)

    def forward(self, z, x, edges):
        self.conv[0].eps = self.eps
        return self.conv[0]((z, self.side(x)), edges)
