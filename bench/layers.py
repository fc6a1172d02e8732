#!/usr/bin/env python3
"""Training steps of the standard library's convolutions beside PyTorch Geometric's.

    python3 bench/layers.py GNNC --python PEER/bin/python [--compile] [--only NAME..] [--out FILE]

10,000 nodes, 200,000 edges, 64 wide, one thread.  A step is a dense layer, the convolution, the
mean squared error against a target, gradients of all weights and plain descent.  Contenders take
turns in one run, a block of steps each; the quotient is the median over rounds, of block medians.
Compile time is that of gnnc with an empty cache.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

NODES, EDGES, WIDE, ATTR, KINDS = 10000, 200000, 64, 16, 4
W = WIDE

# name: gnnc's layer, how it is called, PyTorch Geometric's layer, how it is called
NET = f"Sequential([Linear({W}), relu, Linear({W})])"
TORCH_NET = f"mlp({W}, {W}, {W})"
PLAIN, ATTRS = ("g, h", "h, e"), ("g, h, attr", "h, e, attr")
LAYERS = {
    "SimpleConv": ("SimpleConv(\"mean\")", "SimpleConv('mean')", PLAIN),
    "GCNConv": (f"GCNConv({W})", f"GCNConv({W}, {W}, cached=True)", PLAIN),
    "ChebConv": (f"ChebConv({W}, K = 3)", f"ChebConv({W}, {W}, 3)", PLAIN),
    "SAGEConv": (f"SAGEConv({W})", f"SAGEConv({W}, {W})", PLAIN),
    "SAGEConv of an LSTM": (f"SAGEConv({W}, \"lstm\")", f"SAGEConv({W}, {W}, 'lstm')",
                            ("g, h", "h, by_end")),
    "GraphConv": (f"GraphConv({W})", f"GraphConv({W}, {W})", PLAIN),
    "GatedGraphConv": (f"GatedGraphConv({W}, 2)", f"GatedGraphConv({W}, 2)", PLAIN),
    "ResGatedGraphConv": (f"ResGatedGraphConv({W})", f"ResGatedGraphConv({W}, {W})", PLAIN),
    "GATConv": (f"GATConv({W // 4}, heads = 4)", f"GATConv({W}, {W // 4}, 4)", PLAIN),
    "GATv2Conv": (f"GATv2Conv({W // 4}, heads = 4)", f"GATv2Conv({W}, {W // 4}, 4)", PLAIN),
    "TransformerConv": (f"TransformerConv({W // 4}, heads = 4)",
                        f"TransformerConv({W}, {W // 4}, 4)", PLAIN),
    "AGNNConv": ("AGNNConv()", "AGNNConv()", PLAIN),
    "TAGConv": (f"TAGConv({W})", f"TAGConv({W}, {W})", PLAIN),
    "GINConv": (f"GINConv(nn = {NET})", f"GINConv({TORCH_NET})", PLAIN),
    "GINEConv": (f"GINEConv(nn = {NET})", f"GINEConv({TORCH_NET}, edge_dim={ATTR})", ATTRS),
    "ARMAConv": (f"ARMAConv({W}, num_stacks = 2, num_layers = 2)",
                 f"ARMAConv({W}, {W}, 2, 2)", PLAIN),
    "SGConv": (f"SGConv({W}, K = 2)", f"SGConv({W}, {W}, 2)", PLAIN),
    "SSGConv": (f"SSGConv({W}, 0.1, K = 2)", f"SSGConv({W}, {W}, 0.1, 2)", PLAIN),
    "APPNP": ("APPNP(5, 0.1)", "APPNP(5, 0.1, cached=True)", PLAIN),
    "MFConv": (f"MFConv({W})", f"MFConv({W}, {W})", PLAIN),
    "RGCNConv": (f"RGCNConv({W})", f"RGCNConv({W}, {W}, {KINDS})", ("g, h, kind", "h, e, kind")),
    "FastRGCNConv": (f"RGCNConv({W})", f"FastRGCNConv({W}, {W}, {KINDS})",
                     ("g, h, kind", "h, e, kind")),
    "RGATConv": (f"RGATConv({W})", f"RGATConv({W}, {W}, {KINDS})", ("g, h, kind", "h, e, kind")),
    "SignedConv": (f"SignedConv({W // 2}, true)", f"SignedConv({W}, {W // 2}, True)",
                   ("g, reverse(g), h", "h, e, e.flip(0)")),
    "DNAConv": (f"DNAConv(heads = 4)", f"DNAConv({W}, 4)",
                ("g, concat([unsqueeze(h, -2), unsqueeze(relu(h), -2)], axis = -2)",
                 "torch.stack([h, h.relu()], 1), e")),
    "PointNetConv": (f"PointNetConv(Linear({W}))", f"PointNetConv(nn.Linear({W} + 3, {W}))",
                     ("g, h, pos", "h, pos, e")),
    "GMMConv": (f"GMMConv({W}, 2)", f"GMMConv({W}, {W}, {ATTR}, 2)", ATTRS),
    "NNConv": (f"NNConv(16, Linear({W * 16}))", f"NNConv({W}, 16, nn.Linear({ATTR}, {W * 16}))",
               ATTRS),
    "CGConv": ("CGConv()", f"CGConv({W}, {ATTR})", ATTRS),
    "EdgeConv": (f"EdgeConv({NET})", f"EdgeConv(mlp({2 * W}, {W}, {W}))", PLAIN),
    "PPFConv": (f"PPFConv(Linear({W}))", f"PPFConv(nn.Linear({W} + 4, {W}))",
                ("g, h, pos, normal", "h, pos, normal, e")),
    "FeaStConv": (f"FeaStConv({W}, 2)", f"FeaStConv({W}, {W}, 2)", PLAIN),
    "PointTransformerConv": (f"PointTransformerConv({W})", f"PointTransformerConv({W}, {W})",
                             ("g, h, pos", "h, pos, e")),
    "HypergraphConv": (f"HypergraphConv({W})", f"HypergraphConv({W}, {W})", PLAIN),
    "LEConv": (f"LEConv({W})", f"LEConv({W}, {W})", PLAIN),
    "PNAConv": (f"PNAConv({W}, [\"mean\", \"max\", \"std\"], [\"identity\", \"amplification\"])",
                f"PNAConv({W}, {W}, ['mean', 'max', 'std'], ['identity', 'amplification'], "
                "torch.bincount(torch.bincount(e[1])))", PLAIN),
    "ClusterGCNConv": (f"ClusterGCNConv({W})", f"ClusterGCNConv({W}, {W})", PLAIN),
    "GENConv": (f"GENConv({W})", f"GENConv({W}, {W})", PLAIN),
    "GCN2Conv": ("GCN2Conv(0.1)", f"GCN2Conv({W}, 0.1, cached=True)", ("g, h, h", "h, h, e")),
    "WLConvContinuous": ("WLConvContinuous()", "WLConvContinuous()", PLAIN),
    "FiLMConv": (f"FiLMConv({W})", f"FiLMConv({W}, {W})", PLAIN),
    "SuperGATConv": (f"SuperGATConv({W // 4}, heads = 4)", f"SuperGATConv({W}, {W // 4}, 4)",
                     PLAIN),
    "FAConv": ("FAConv()", f"FAConv({W}, cached=True)", ("g, h, h", "h, h, e")),
    "EGConv": (f"EGConv({W})", f"EGConv({W}, {W})", PLAIN),
    "PDNConv": (f"PDNConv({W}, {ATTR})", f"PDNConv({W}, {W}, {ATTR}, {ATTR})", ATTRS),
    "GeneralConv": (f"GeneralConv({W})", f"GeneralConv({W}, {W})", PLAIN),
    "LGConv": ("LGConv()", "LGConv()", PLAIN),
    "PointGNNConv": (f"PointGNNConv(Linear(3), Linear({W}), Linear({W}))",
                     f"PointGNNConv(nn.Linear({W}, 3), nn.Linear({W} + 3, {W}), "
                     f"nn.Linear({W}, {W}))", ("g, h, pos", "h, pos, e")),
    "AntiSymmetricConv": ("AntiSymmetricConv()", f"AntiSymmetricConv({W})", PLAIN),
    "DirGNNConv": (f"DirGNNConv(SAGEConv({W}))", f"DirGNNConv(SAGEConv({W}, {W}))", PLAIN),
    "MixHopConv": (f"MixHopConv({W})", f"MixHopConv({W}, {W})", PLAIN),
}
INPUTS = {"attr": f"edge[{ATTR}]", "pos": "node[3]", "normal": "node[3]"}

PEER = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, torch
from torch import nn
import torch_geometric.nn as pyg
torch.set_num_threads(1)
d = {k: torch.from_numpy(v) for k, v in np.load(sys.argv[1]).items()}
x, e, target = d["x"], d["edge_index"], d["target"]
by_end = e[:, torch.sort(e[1], stable=True)[1]]
attr, pos, normal, kind = d["edge_attr"], d["pos"], d["normal"], d["kind"]
def mlp(a, b, c): return nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, c))
names = vars(pyg) | globals()
class Net(nn.Module):
    def __init__(self, build):
        super().__init__()
        self.lin, self.conv = nn.Linear(x.shape[1], x.shape[1]), eval(build, names)
    def forward(self, x, call):
        h = self.lin(x)
        return call(self.conv, h)
nets = {}
for line in sys.stdin:
    q = json.loads(line)
    try:
        if q["key"] not in nets:
            nets.clear()
            torch._dynamo.reset()
            net = Net(q["build"])
            call = eval("lambda conv, h: conv(" + q["call"] + ")")
            wanted = net(x, call)
            goal = torch.zeros_like(wanted) + target[:, :1]
            def loss(x):
                return (net(x, call) - goal).square().mean()
            run = torch.compile(loss) if q["compile"] else loss
            nets[q["key"]] = (net, run, torch.optim.SGD(net.parameters(), lr=1e-3))
        net, run, opt = nets[q["key"]]
        times, end = [], time.perf_counter() + q["seconds"]
        while len(times) < 3 or time.perf_counter() < end:
            t = time.perf_counter()
            opt.zero_grad(set_to_none=True)
            run(x).backward()
            opt.step()
            times.append(time.perf_counter() - t)
        print(json.dumps({"us": 1e6 * sorted(times[1:])[(len(times) - 1) // 2]}), flush=True)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"[:300]}), flush=True)
"""


def make_data(path, python):
    script = f"""
import numpy as np
r = np.random.default_rng(1)
n, m = {NODES}, {EDGES}
f = lambda *s: r.standard_normal(s).astype(np.float32)
unit = lambda v: v / np.linalg.norm(v, axis=1, keepdims=True)
d = dict(edge_index=r.integers(0, n, (2, m)), x=f(n, {WIDE}), edge_attr=f(m, {ATTR}), pos=f(n, 3),
         normal=unit(f(n, 3)), target=f(n, 1), kind=np.arange(m) % {KINDS})
np.savez({str(path)!r}, **d)
np.savez({str(path)!r}.replace(".npz", "_kinds.npz"),
         **{{"n__r__n.edge_index": d["edge_index"], "n.x": d["x"], "r.kind": d["kind"],
             "n.target": d["target"][:, 0]}})
"""
    subprocess.run([python, "-c", script], check=True)


def model_text(layer, call):
    if "kind" in call:
        call = call.replace("g, ", "r, ").replace("kind", "r.kind")
        return ("model M() (r: node.n -> node.n, x: node.n[...]) -> node.n[...] {\n"
                f"  lin = Linear({WIDE})\n  conv = {layer}\n  h = lin(x)\n"
                f"  return conv({call})\n}}\n"
                "fn off(out, t) = mean((out - unsqueeze(t, -1))^2)\ntrain M {\n"
                "  input target: node.n\n  loss = off(M(r, x), target)\n"
                "  optimizer = sgd(lr = 1e-3)\n}\n")
    first = "[0]" if layer.startswith("SuperGATConv") else ""  # the second is a loss
    names = [n for n in INPUTS if any(n == w.strip() for w in call.split(","))]
    inputs = "".join(f", {n}: {INPUTS[n]}" for n in names)
    given = "".join(f", {n}" for n in names)
    return (f"model M() (g: graph, x: node[F]{inputs}) -> node[...] {{\n  lin = Linear({WIDE})\n"
            f"  conv = {layer}\n  h = lin(x)\n  return conv({call}){first}\n}}\n"
            "fn off(out, t) = mean((out - unsqueeze(t, -1))^2)\n"
            "train M {\n  input target: node\n" +
            "".join(f"  input {n}: {INPUTS[n]}\n" for n in names if n in ("pos", "normal")) +
            f"  loss = off(M(g, x{given}), target)\n  optimizer = sgd(lr = 1e-3)\n}}\n")


def gnnc(args, data, model, epochs, cache):
    env = os.environ | {"GNNC_CACHE_DIR": cache}
    done = subprocess.run([args.gnnc, "train", model, "--data", data, "--threads", "1", "--json",
                           "--epochs", str(epochs)], capture_output=True, text=True, env=env)
    if done.returncode:
        return {"error": done.stderr.strip().split("\n")[0][-300:]}
    return json.loads(done.stdout)


def race(args, name, peer, folder):
    layer, build, (here, there) = LAYERS[name]
    model, own = folder / "m.gnn", folder / ("d_kinds.npz" if "kind" in here else "d.npz")
    model.write_text(model_text(layer, here))
    row = {"name": name}

    def ask(compiled, seconds):
        peer.stdin.write(json.dumps({"key": f"{name} {compiled}", "build": build, "call": there,
                                     "compile": compiled, "seconds": seconds}) + "\n")
        peer.stdin.flush()
        return json.loads(peer.stdout.readline())

    with tempfile.TemporaryDirectory() as cache:
        first = gnnc(args, own, model, 3, cache)
        if "error" in first:
            return row | {"error": "gnnc: " + first["error"]}
        row["compile_ms"] = first["compile_ms"]
        epochs = max(5, int(1e6 * args.block / first["step_us"]["median"]))
        for kind, compiled in (("eager", False), ("compiled", True))[:2 if args.compile else 1]:
            warm = ask(compiled, 0)
            rounds = []
            for _ in range(args.rounds if "error" not in warm else 0):
                ours = gnnc(args, own, model, epochs, cache)["step_us"]["median"]
                theirs = ask(compiled, args.block)["us"]
                rounds.append((theirs / ours, ours, theirs))
            if rounds:
                row[kind] = dict(zip(("times", "ours", "theirs"), sorted(rounds)[len(rounds) // 2]))
            else:
                row[kind + "_error"] = warm["error"]
    return row


def table(rows):
    out = ["| | gnnc ms | eager | compiled | gnnc compiles in ms |", "|---|---|---|---|---|"]
    for r in rows:
        if "error" in r:
            out.append(f"| `{r['name']}` | {r['error']} | | | |")
            continue
        cells = [f"{r[k]['times']:.1f}" if k in r else r.get(k + "_error", "")[:60]
                 for k in ("eager", "compiled")]
        ours = next((r[k]["ours"] / 1e3 for k in ("eager", "compiled") if k in r), float("nan"))
        out.append(f"| `{r['name']}` | {ours:.2f} | {cells[0]} | {cells[1]} | "
                   f"{r['compile_ms']:.0f} |")
    for kind in ("eager", "compiled"):
        all_of = [r[kind]["times"] for r in rows if kind in r]
        if all_of:
            out.append(f"\n{kind}: geometric mean {statistics.geometric_mean(all_of):.1f}, least "
                       f"{min(all_of):.1f}, of {len(all_of)}")
    times = [r["compile_ms"] for r in rows if "compile_ms" in r]
    if times:
        out.append(f"\ncompile time: median {statistics.median(times):.0f} ms, most "
                   f"{max(times):.0f} ms")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("gnnc")
    parser.add_argument("--python", required=True, help="one with torch and torch_geometric")
    parser.add_argument("--compile", action="store_true", help="race torch.compile, too")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--block", type=float, default=0.5, help="seconds")
    parser.add_argument("--out", help="a file for the table")
    args = parser.parse_args()
    args.gnnc = str(pathlib.Path(args.gnnc).resolve())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make_data(folder / "d.npz", args.python)
        for name in args.only or LAYERS:
            # a process each, whose caches are its own
            peer = subprocess.Popen([args.python, "-c", PEER, folder / "d.npz"], text=True,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL)
            rows.append(race(args, name, peer, folder))
            peer.stdin.close()
            peer.wait()
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
            if args.out:
                pathlib.Path(args.out).write_text(table(rows) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
