#!/usr/bin/env python3
"""Training on batches of rows with drawn edges, beside DGL's NeighborSampler.

    python3 bench/minibatches.py GNNC --python PEER/bin/python [--model sage gcn gat] [--hidden N]
                                 [--graph arxiv] [--rounds N] [--threads N] [--more=OPTIONS]
                                 [--out FILE]

Graphs are drawn with sources of a power law: of ogbn-arxiv's size, 169,343 nodes, 2,315,598 edges,
128 features, 40 classes; of a tenth of ogbn-products', 245,000 nodes, 12,000,000 edges, 100
features, 47 classes.  Three layers of 256 (attention of 4 heads of 64), fan-out 15, 10, 5, 1,024
rows a batch, 20 batches a round.  gnnc and DGL take turns, a process each; a figure is the median
over rounds of the mean time of a batch, all of it: drawing edges, fetching features, the step.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

BATCH, BATCHES, HEADS = 1024, 20, 4
GRAPHS = {"arxiv": (169343, 1157799, 128, 40), "products": (245000, 6000000, 100, 47)}
LAYER = {"sage": ("SAGEConv(hidden)", "SAGEConv(C)"), "gcn": ("GCNConv(hidden)", "GCNConv(C)"),
         "gat": (f"GATConv(hidden // {HEADS}, heads = {HEADS})", "GATConv(C)")}
MODEL = """model M(hidden = %d) (g: graph, x: node[F]) -> node[C] {
  a = %s
  b = %s
  c = %s
  return c(g, relu(b(g, relu(a(g, x)))))
}
train M {
  loss = cross_entropy(M(g, x), y) over train_mask
  optimizer = adam(lr = 0.003)
  batch = rows(%d)
  fanout = [15, 10, 5]
  epochs = 1
}
"""

DATA = """
import sys, numpy as np
nodes, edges, width, classes, rows = map(int, sys.argv[2:])
rng = np.random.default_rng(0)
weight = rng.pareto(1.5, nodes) + 1
u = rng.choice(nodes, edges, p=weight / weight.sum())
v = rng.integers(0, nodes, edges)
y = rng.integers(0, classes, nodes)
x = rng.standard_normal((classes, width))[y] * .3 + rng.standard_normal((nodes, width))
order = rng.permutation(nodes)
masks = {}
for name, begin, end in (("train", 0, rows), ("val", rows, 2 * rows), ("test", 2 * rows, 3 * rows)):
    masks[name + "_mask"] = np.isin(np.arange(nodes), order[begin:end])
np.savez(sys.argv[1], edge_index=np.stack([np.r_[u, v], np.r_[v, u]]), y=y,
         x=x.astype(np.float32), **masks)
"""

PEER = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, torch, dgl, dgl.nn as gnn
kind, path, batch, hidden, threads = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
torch.set_num_threads(threads)
d = np.load(path)
u, v = torch.from_numpy(d["edge_index"])
x, y = torch.from_numpy(d["x"]), torch.from_numpy(d["y"])
g = dgl.graph((u, v), num_nodes=len(x))
g.create_formats_()
heads = %d if kind == "gat" else 1
def conv(a, b, last=False):
    if kind == "sage": return gnn.SAGEConv(a, b, "mean")
    if kind == "gat":
        k = 1 if last else heads
        return gnn.GATConv(a, b // k, k, allow_zero_in_degree=True)
    return gnn.GraphConv(a, b, norm="both", allow_zero_in_degree=True)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = torch.nn.ModuleList([conv(x.shape[1], hidden), conv(hidden, hidden),
                                          conv(hidden, int(y.max()) + 1, True)])
    def forward(self, blocks, h):
        for k, (c, b) in enumerate(zip(self.convs, blocks)):
            h = c(b, h).flatten(1)
            if k < 2: h = h.relu()
        return h
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=.003)
rows = torch.from_numpy(np.flatnonzero(d["train_mask"]))
sampler = dgl.dataloading.NeighborSampler([5, 10, 15])
def epoch(rows):
    spent = [0.0, 0.0, 0.0]
    for seeds in rows[torch.randperm(len(rows))].split(batch):
        t = [time.perf_counter()]
        inputs, _, blocks = sampler.sample(g, seeds)
        t.append(time.perf_counter())
        h = x[inputs]
        t.append(time.perf_counter())
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(blocks, h), y[seeds]).backward()
        opt.step()
        t.append(time.perf_counter())
        spent = [s + b - a for s, a, b in zip(spent, t, t[1:])]
    return [s / len(range(0, len(rows), batch)) * 1e3 for s in spent]
epoch(rows[:3 * batch])  # warm
print(json.dumps(epoch(rows)))
""" % HEADS


def ours(args, kind, folder, data):
    model = folder / f"{kind}.gnn"
    inner, last = LAYER[kind]
    model.write_text(MODEL % (args.hidden, inner, inner, last, BATCH))
    run = subprocess.run([args.gnnc, "train", model, "--data", data, "--undirected", "off", "-q",
                          "--json", "--threads", str(args.threads), *args.more.split()],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["step_us"]["median"] / 1e3  # of an epoch's time by its batches


def peer(args, kind, data):
    run = subprocess.run([args.python, "-c", PEER, kind, data, str(BATCH), str(args.hidden),
                          str(args.threads)], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.strip().split("\n")[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("gnnc")
    parser.add_argument("--python", required=True, help="an interpreter that has torch and DGL")
    parser.add_argument("--model", nargs="+", default=list(LAYER), choices=list(LAYER))
    parser.add_argument("--graph", default="arxiv", choices=list(GRAPHS))
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--more", default="", help="further options of gnnc, in one word")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "graph.npz"
        subprocess.run([args.python, "-c", DATA, data, *map(str, GRAPHS[args.graph]),
                        str(BATCH * BATCHES)], check=True)
        for kind in args.model:
            rounds = []
            for _ in range(args.rounds):
                rounds.append((ours(args, kind, folder, data), peer(args, kind, data)))
            own = statistics.median(r[0] for r in rounds)
            parts = [statistics.median(r[1][k] for r in rounds) for k in range(3)]
            ratio = statistics.median(sum(r[1]) / r[0] for r in rounds)
            results[kind] = {"gnnc_ms": own, "dgl_ms": parts, "ratio": ratio, "rounds": rounds}
            print(f"{kind}: gnnc {own:.0f} ms a batch, DGL {sum(parts):.0f} "
                  f"(draws {parts[0]:.0f}, features {parts[1]:.0f}, step {parts[2]:.0f}): "
                  f"{ratio:.2f} times", flush=True)
    if args.out:
        args.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    sys.exit(main())
