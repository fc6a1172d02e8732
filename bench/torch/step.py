"""Training steps of PyTorch Geometric's models at Cora's size: eager, inductor and gnnc, by turns.

    step.py [--models GCN,GAT] [--backends eager,inductor,gnnc] [--rounds 20]

One thread.  The table has medians of milliseconds of a step (forward, loss, backward, Adam) and of
an inference, and seconds of the first call of each.
"""

import argparse
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
NODES, EDGES, FEATURES, CLASSES = 2708, 10556, 1433, 7


def data():
    g = torch.Generator().manual_seed(1)
    x = (torch.rand(NODES, FEATURES, generator=g) < .0127).float()
    half = torch.randint(0, NODES, (2, EDGES // 2), generator=g)
    edges = torch.cat([half, half.flip(0)], 1)
    y = torch.randint(0, CLASSES, (NODES,), generator=g)
    mask = torch.zeros(NODES, dtype=torch.bool)
    mask[torch.randperm(NODES, generator=g)[:140]] = True
    return x, edges, y, mask


def make(name):
    from torch_geometric.nn.models import GAT, GCN, GIN, PNA, EdgeCNN, GraphSAGE
    torch.manual_seed(3)
    if name == "GAT":
        return GAT(FEATURES, 64, 2, CLASSES, dropout=.6, heads=8)
    if name == "PNA":
        return PNA(FEATURES, 16, 2, CLASSES, aggregators=["mean", "max", "std"],
                   scalers=["identity", "amplification"], deg=torch.arange(1, 9))
    of = {"GCN": GCN, "GraphSAGE": GraphSAGE, "GIN": GIN, "EdgeCNN": EdgeCNN}[name]
    return of(FEATURES, 16, 2, CLASSES, dropout=.5)


class Way:
    """A model under a backend, with its optimizer."""

    def __init__(self, name, backend, world):
        self.world = world
        self.raw = make(name)
        torch._dynamo.reset()
        self.model = self.raw if backend == "eager" else torch.compile(self.raw, backend=backend)
        self.optimizer = torch.optim.Adam(self.raw.parameters(), lr=.01, foreach=True)
        begin = time.perf_counter()
        self.step()
        self.first = time.perf_counter() - begin
        self.infer()
        self.steps, self.inferences, self.parts = [], [], []

    def step(self):
        x, edges, y, mask = self.world
        self.raw.train()
        self.optimizer.zero_grad()
        a = time.perf_counter()
        out = self.model(x, edges)
        b = time.perf_counter()
        loss = F.cross_entropy(out[mask], y[mask])
        c = time.perf_counter()
        loss.backward()
        d = time.perf_counter()
        self.optimizer.step()
        return b - a, d - c

    def infer(self):
        x, edges, _, _ = self.world
        self.raw.eval()
        with torch.no_grad():
            self.model(x, edges)

    def time(self):
        for _ in range(3):
            self.step()
        for _ in range(7):
            begin = time.perf_counter()
            self.parts.append(self.step())
            self.steps.append(time.perf_counter() - begin)
        for _ in range(2):
            self.infer()
        for _ in range(7):
            begin = time.perf_counter()
            self.infer()
            self.inferences.append(time.perf_counter() - begin)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--models", default="GCN,GraphSAGE,GIN,GAT")
    p.add_argument("--backends", default="eager,inductor,gnnc")
    p.add_argument("--rounds", type=int, default=20)
    a = p.parse_args()
    torch.set_num_threads(1)
    import gnnc.torch
    backends = {"gnnc": gnnc.torch.backend}
    world = data()
    print("| model | backend | step, ms | forward | backward | inference, ms | first call, s |")
    print("|---|---|---|---|---|---|---|")
    for name in a.models.split(","):
        ways = {b: Way(name, backends.get(b, b), world) for b in a.backends.split(",")}
        for _ in range(a.rounds):
            for w in ways.values():
                w.time()
        for b, w in ways.items():
            m = [statistics.median(v) * 1e3 for v in
                 (w.steps, [v[0] for v in w.parts], [v[1] for v in w.parts], w.inferences)]
            print(f"| {name} | {b} | " + " | ".join(f"{v:.2f}" for v in m) +
                  f" | {w.first:.1f} |", flush=True)


if __name__ == "__main__":
    main()
