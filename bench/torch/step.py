"""Training steps of PyTorch Geometric's models at Cora's size: eager, inductor, gnnc's backend and
its compile_step, by turns.

    step.py [--models GCN,GAT] [--backends eager,inductor,gnnc,step] [--rounds 20]

One thread.  The table has medians of milliseconds of a step (forward, loss, backward, Adam) and of
an inference, and seconds of the first call of each, by the process's own clock, so that other
programs count as little as can be (--wall: the wall's); --dropout says another probability than the
models' own.
"""

import argparse
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import gnnc.torch  # noqa: E402, which may lie in this tree

clock = time.perf_counter if "--wall" in sys.argv else time.process_time
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


def masked_loss(out, y, mask):
    return F.cross_entropy(out[mask], y[mask])


def make(name, dropout=None):
    from torch_geometric.nn.models import GAT, GCN, GIN, PNA, EdgeCNN, GraphSAGE
    torch.manual_seed(3)
    if name == "GAT":
        return GAT(FEATURES, 64, 2, CLASSES, dropout=.6 if dropout is None else dropout, heads=8)
    if name == "PNA":
        return PNA(FEATURES, 16, 2, CLASSES, aggregators=["mean", "max", "std"],
                   scalers=["identity", "amplification"], deg=torch.arange(1, 9))
    of = {"GCN": GCN, "GraphSAGE": GraphSAGE, "GIN": GIN, "EdgeCNN": EdgeCNN}[name]
    return of(FEATURES, 16, 2, CLASSES, dropout=.5 if dropout is None else dropout)


class Way:
    """A model under a backend, with its optimizer."""

    def __init__(self, name, backend, world, dropout):
        self.world = world
        self.raw = make(name, dropout)
        torch._dynamo.reset()
        self.optimizer = torch.optim.Adam(self.raw.parameters(), lr=.01, foreach=True)
        self.model, self.whole = self.raw, None
        if backend == "step":
            self.whole = gnnc.torch.compile_step(self.raw, masked_loss, self.optimizer)
        elif backend == "gnnc":
            self.model = torch.compile(self.raw, backend=gnnc.torch.backend)
        elif backend != "eager":
            self.model = torch.compile(self.raw, backend=backend)
        begin = clock()
        self.step()
        self.first = clock() - begin
        if not self.whole:
            self.infer()
        self.steps, self.inferences, self.parts = [], [], []

    def step(self):
        x, edges, y, mask = self.world
        self.raw.train()
        if self.whole:
            self.whole(x, edges, target=(y, mask))
            return 0, 0
        self.optimizer.zero_grad()
        a = clock()
        out = self.model(x, edges)
        b = clock()
        loss = masked_loss(out, y, mask)
        c = clock()
        loss.backward()
        d = clock()
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
            begin = clock()
            self.parts.append(self.step())
            self.steps.append(clock() - begin)
        for _ in range(0 if self.whole else 2):
            self.infer()
        for _ in range(0 if self.whole else 7):
            begin = clock()
            self.infer()
            self.inferences.append(clock() - begin)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--models", default="GCN,GraphSAGE,GIN,GAT")
    p.add_argument("--backends", default="eager,inductor,gnnc,step")
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--dropout", type=float)
    p.add_argument("--wall", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(1)
    world = data()
    print("| model | backend | step, ms | forward | backward | inference, ms | first call, s |")
    print("|---|---|---|---|---|---|---|")
    for name in a.models.split(","):
        ways = {b: Way(name, b, world, a.dropout) for b in a.backends.split(",")}
        for _ in range(a.rounds):
            for w in ways.values():
                w.time()
        for b, w in ways.items():
            m = [[statistics.median(v) * 1e3] if v else [] for v in
                 (w.steps, [] if w.whole else [v[0] for v in w.parts],
                  [] if w.whole else [v[1] for v in w.parts], w.inferences)]
            print(f"| {name} | {b} | " + " | ".join("".join(f"{t:.2f}" for t in v) for v in m) +
                  f" | {w.first:.1f} |", flush=True)


if __name__ == "__main__":
    main()
