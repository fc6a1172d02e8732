"""Which convolutions of PyTorch Geometric gnnc runs whole under torch.compile, and what cuts
others.

    convs.py [NAME ...]

Each is built with small numbers, compiled, and compared with eager: results and all gradients.
"""

import os
import sys
import warnings

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
warnings.simplefilter("ignore")
N, E, I, O = 30, 120, 8, 16


def cases():
    import torch_geometric.nn as g
    from torch.nn import Linear, ReLU, Sequential
    mlp = lambda i, o: Sequential(Linear(i, o), ReLU(), Linear(o, o))
    plain = ("x", "e")
    deg = torch.tensor([2, 4, 8, 9, 5, 2])
    return {
        "GCNConv": (lambda: g.GCNConv(I, O), plain),
        "GCNConv, weighted": (lambda: g.GCNConv(I, O), ("x", "e", "w")),
        "SAGEConv": (lambda: g.SAGEConv(I, O), plain),
        "SAGEConv, max": (lambda: g.SAGEConv(I, O, aggr="max"), plain),
        "SAGEConv, lstm": (lambda: g.SAGEConv(I, O, aggr="lstm"), ("x", "sorted")),
        "SAGEConv, bipartite": (lambda: g.SAGEConv((I, I), O), ("pair", "eb")),
        "GraphConv": (lambda: g.GraphConv(I, O), ("x", "e", "w")),
        "GINConv": (lambda: g.GINConv(mlp(I, O)), plain),
        "GINEConv": (lambda: g.GINEConv(mlp(I, O), edge_dim=4), ("x", "e", "attr")),
        "GATConv": (lambda: g.GATConv(I, O, heads=2), plain),
        "GATConv, edge_dim": (lambda: g.GATConv(I, O, heads=2, edge_dim=4), ("x", "e", "attr")),
        "GATv2Conv": (lambda: g.GATv2Conv(I, O, heads=2), plain),
        "TransformerConv": (lambda: g.TransformerConv(I, O, heads=2), plain),
        "TransformerConv, edge_dim": (lambda: g.TransformerConv(I, O, 2, edge_dim=4),
                                      ("x", "e", "attr")),
        "SuperGATConv": (lambda: g.SuperGATConv(I, O, heads=2), plain),
        "FiLMConv": (lambda: g.FiLMConv(I, O), plain),
        "AGNNConv": (lambda: g.AGNNConv(), plain),
        "TAGConv": (lambda: g.TAGConv(I, O), plain),
        "SGConv": (lambda: g.SGConv(I, O, K=2), plain),
        "SSGConv": (lambda: g.SSGConv(I, O, alpha=.1, K=2), plain),
        "APPNP": (lambda: g.APPNP(K=3, alpha=.1), plain),
        "ARMAConv": (lambda: g.ARMAConv(I, O, num_stacks=2), plain),
        "ChebConv": (lambda: g.ChebConv(I, O, K=3), plain),
        "GCN2Conv": (lambda: g.GCN2Conv(I, alpha=.1), ("x", "x", "e")),
        "GatedGraphConv": (lambda: g.GatedGraphConv(I, 2), plain),
        "ResGatedGraphConv": (lambda: g.ResGatedGraphConv(I, O), plain),
        "LEConv": (lambda: g.LEConv(I, O), plain),
        "ClusterGCNConv": (lambda: g.ClusterGCNConv(I, O), plain),
        "MFConv": (lambda: g.MFConv(I, O), plain),
        "NNConv": (lambda: g.NNConv(I, O, Linear(4, I * O)), ("x", "e", "attr")),
        "CGConv": (lambda: g.CGConv(I, dim=4), ("x", "e", "attr")),
        "EdgeConv": (lambda: g.EdgeConv(mlp(2 * I, O)), plain),
        "FeaStConv": (lambda: g.FeaStConv(I, O, heads=2), plain),
        "HypergraphConv": (lambda: g.HypergraphConv(I, O), plain),
        "PNAConv": (lambda: g.PNAConv(I, O, ["mean", "max", "std"], ["identity", "amplification"],
                                      deg), plain),
        "GENConv": (lambda: g.GENConv(I, O), plain),
        "GENConv, power": (lambda: g.GENConv(I, O, aggr="powermean"), plain),
        "FAConv": (lambda: g.FAConv(I), ("x", "x", "e")),
        "EGConv": (lambda: g.EGConv(I, O, num_heads=4), plain),
        "GPSConv": (lambda: g.GPSConv(I, g.GCNConv(I, I), heads=2), plain),
        "GeneralConv": (lambda: g.GeneralConv(I, O), plain),
        "PDNConv": (lambda: g.PDNConv(I, O, 4, 8), ("x", "e", "attr")),
        "LGConv": (lambda: g.LGConv(), plain),
        "SimpleConv": (lambda: g.SimpleConv(), plain),
        "WLConvContinuous": (lambda: g.WLConvContinuous(), plain),
        "MixHopConv": (lambda: g.MixHopConv(I, O), plain),
        "DirGNNConv": (lambda: g.DirGNNConv(g.SAGEConv(I, O)), plain),
        "AntiSymmetricConv": (lambda: g.AntiSymmetricConv(I), plain),
        "DNAConv": (lambda: g.DNAConv(I), ("deep", "e")),
        "PANConv": (lambda: g.PANConv(I, O, 2), plain),
        "GMMConv": (lambda: g.GMMConv(I, O, dim=4, kernel_size=3), ("x", "e", "attr")),
        "SplineConv": (lambda: g.SplineConv(I, O, dim=4, kernel_size=3), ("x", "e", "attr")),
        "GravNetConv": (lambda: g.GravNetConv(I, O, 4, 4, 3), ("x",)),
        "PointNetConv": (lambda: g.PointNetConv(mlp(I + 3, O)), ("x", "pos", "e")),
        "PointTransformerConv": (lambda: g.PointTransformerConv(I, O), ("x", "pos", "e")),
        "PPFConv": (lambda: g.PPFConv(mlp(I + 4, O)), ("x", "pos", "normal", "e")),
        "XConv": (lambda: g.XConv(I, O, 3, 3), ("x", "pos")),
        "RGCNConv": (lambda: g.RGCNConv(I, O, 3), ("x", "e", "type")),
        "FastRGCNConv": (lambda: g.FastRGCNConv(I, O, 3), ("x", "e", "type")),
        "RGATConv": (lambda: g.RGATConv(I, O, 3), ("x", "e", "type")),
        "HeteroConv": (lambda: g.HeteroConv({("a", "r", "b"): g.SAGEConv((I, I), O),
                                             ("b", "s", "a"): g.GATConv(
                                                 (I, I), O, add_self_loops=False)}), ("hetero",)),
        "HGTConv": (lambda: g.HGTConv(I, O, (["a", "b"], [("a", "r", "b"), ("b", "s", "a")]), 2),
                    ("hetero",)),
        "HANConv": (lambda: g.HANConv(I, O, (["a", "b"], [("a", "r", "b"), ("b", "s", "a")]), 2),
                    ("hetero",)),
    }


def arguments(names):
    g = torch.Generator().manual_seed(4)
    e = torch.randint(0, N, (2, E), generator=g)
    def x(*shape):
        return torch.randn(*shape, generator=g)
    have = {
        "x": lambda: x(N, I), "e": lambda: e, "sorted": lambda: e[:, e[1].argsort()],
        "w": lambda: torch.rand(E, generator=g),
        "attr": lambda: torch.rand(E, 4, generator=g), "pos": lambda: x(N, 3),
        "normal": lambda: torch.nn.functional.normalize(x(N, 3)), "deep": lambda: x(N, 3, I),
        "type": lambda: torch.randint(0, 3, (E,), generator=g),
        "pair": lambda: (x(N, I), x(12, I)), "eb": lambda: torch.stack([e[0], e[1] % 12]),
        "hetero": None,
    }
    if names == ("hetero",):
        return [{"a": x(N, I), "b": x(12, I)},
                {("a", "r", "b"): torch.stack([e[0], e[1] % 12]),
                 ("b", "s", "a"): torch.stack([e[0] % 12, e[1]])}]
    return [have[n]() for n in names]


def floats(a):
    if isinstance(a, torch.Tensor):
        return [a] if a.is_floating_point() else []
    return [t for b in (a.values() if isinstance(a, dict) else a) for t in floats(b)] \
        if isinstance(a, (dict, list, tuple)) else []


def once(f, module, args):
    torch.manual_seed(2)
    inputs = floats(args)
    for t in inputs:
        t.requires_grad_()
        t.grad = None
    module.zero_grad()
    outs = [o for o in floats(f(*args)) if o.requires_grad]
    sum((o * torch.linspace(-1, 1, o.numel()).view(o.shape)).sum() for o in outs).backward()
    grads = [t.grad for t in inputs] + [p.grad for p in module.parameters()]
    return [o.detach() for o in outs], [None if g is None else g.clone() for g in grads]


def main():
    from gnnc.torch import backend, explain
    import torch_geometric.backend
    torch_geometric.backend.use_segment_matmul = False
    torch.manual_seed(0)
    counts = {}
    for name, (make, names) in cases().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        try:
            module, args = make(), arguments(names)
            want = once(module, module, args)
        except Exception as e:  # of PyTorch Geometric itself
            print(f"| {name} | not here | {str(e).splitlines()[0][:70]} |", flush=True)
            continue
        try:
            args = arguments(names)
            for t in floats(args):
                t.requires_grad_()
            x = explain(module, *args)
            torch._dynamo.reset()
            got = once(torch.compile(module, backend=backend), module, args)
        except Exception as e:  # what torch.compile cannot capture, too
            words = [line for line in str(e).splitlines() if line.strip()]
            print(f"| {name} | fails | {type(e).__name__}: {words[0][:90] if words else ''} |",
                  flush=True)
            counts["fails"] = counts.get("fails", 0) + 1
            continue
        far = 0.
        for a, b in zip(got[0] + got[1], want[0] + want[1]):
            if (a is None) != (b is None):
                far = float("inf")
            elif a is not None and a.numel():
                far = max(far, ((a - b).abs().max() / (1 + b.abs().max())).item())
        programs = sum(len(c.programs) for _, c in x.graphs)
        how = "whole" if x.whole else "with cuts" if programs else "not"
        if far > 1e-4:
            how = f"WRONG by {far:.2g}"
        counts[how] = counts.get(how, 0) + 1
        left = ", ".join(sorted(f"{k} ({v})" for k, v in x.left.items()))
        print(f"| {name} | {how} | {programs} | {left[:600]} |", flush=True)
    print(counts)


if __name__ == "__main__":
    main()
