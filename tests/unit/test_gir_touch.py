"""Prints the table of test_gir_touch.c: a table trained by torch.optim with sparse gradients,
beside a parameter without rows, in float64 for six steps. What torch refuses for sparse gradients
(weight decay, a norm that is clipped) is written out here.

    python3 tests/unit/test_gir_touch.py        (PyTorch 2)
"""
import pathlib
import sys

import torch

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
from lion import Lion

torch.set_default_dtype(torch.float64)
ROWS = 7
# a step's edges, u -> v, and those of another graph, of which only the ends v are read
EDGES = [
    [(0, 1), (1, 3), (3, 3)],
    [(1, 0), (5, 3), (0, 1)],
    [(3, 5), (5, 5), (3, 1)],
    [(0, 1), (1, 3), (3, 3)],
    [(2, 0), (2, 1), (2, 3)],
    [(5, 1), (1, 5), (0, 0)],
]
OTHERS = [[(4, 2), (6, 0)], [(6, 2), (0, 2)], [(1, 1), (4, 5)], [(2, 2), (6, 2)], [(0, 3), (1, 3)],
          [(3, 2), (4, 0)]]
WEIGHT = torch.tensor([1.0, 0.0, -0.5])  # an edge of weight 0 touches its rows all the same


def begin():
    w = torch.arange(2.0 * ROWS).reshape(ROWS, 2)
    return torch.sin(w) / 2, torch.tensor([0.3, -0.4])


def loss_of(emb, b, t):
    u, v = (torch.tensor(x) for x in zip(*EDGES[t]))
    o = torch.tensor([y for _, y in OTHERS[t]])
    dots = (emb(u) * emb(v)).sum(1)
    return (torch.tanh(dots) * WEIGHT).sum() + ((emb(o) - b) ** 2).sum()


def run(make, dense, change=None, decay=0.0, decoupled=0.0, lr=0.1):
    table, b = begin()
    emb = torch.nn.Embedding(ROWS, 2, sparse=True, _weight=table)
    b.requires_grad_()
    opt, other = make([emb.weight]), dense([b])
    for t in range(len(EDGES)):
        opt.zero_grad()
        other.zero_grad()
        loss_of(emb, b, t).backward()
        g = emb.weight.grad.coalesce()
        rows, values = g.indices()[0], g.values().clone()
        if change:
            values = change(values, b)
        with torch.no_grad():
            values += decay * emb.weight[rows]
            emb.weight[rows] *= 1 - lr * decoupled
        emb.weight.grad = torch.sparse_coo_tensor(rows[None], values, emb.weight.shape)
        opt.step()
        other.step()
    return [*emb.weight.detach().flatten().tolist(), *b.detach().tolist()]


def clipped(values, b, most=0.5):
    norm = ((values**2).sum() + (b.grad**2).sum()).sqrt()
    by = min(most / (norm + 1e-6), torch.tensor(1.0))
    b.grad *= by
    return values * by


class OfRows:
    """A dense optimizer of the rows that a sparse gradient has, with what it keeps of those rows:
    what torch has no sparse form of."""

    def __init__(self, params, make):
        (self.table,), self.make, self.kept, self.steps = params, make, {}, 0

    def zero_grad(self):
        self.table.grad = None

    def step(self):
        grad = self.table.grad.coalesce()
        rows, self.steps = grad.indices()[0], self.steps + 1
        part = self.table.detach()[rows].clone().requires_grad_()
        part.grad = grad.values()
        opt = self.make([part])
        if self.kept:
            opt.state[part] = {n: k[rows].clone() for n, k in self.kept.items()}
            opt.state[part]["step"] = torch.tensor(self.steps - 1.0)
        opt.step()
        with torch.no_grad():
            self.table[rows] = part
        for name, value in opt.state[part].items():
            if name != "step":
                self.kept.setdefault(name, torch.zeros_like(self.table))[rows] = value


def of_rows(make):
    return (lambda p: OfRows(p, make)), make


SGD, Adam, AdamW, Adagrad, Sparse = (
    getattr(torch.optim, n) for n in ["SGD", "Adam", "AdamW", "Adagrad", "SparseAdam"])
sgd = lambda p: SGD(p, lr=0.1)
CASES = {
    "sgd": run(sgd, sgd),
    "sgd, decay": run(sgd, sgd, decay=0.1),
    "sgd, clip norm": run(sgd, sgd, change=clipped),
    "adam": run(lambda p: Sparse(p, lr=0.1), lambda p: Adam(p, lr=0.1)),
    "adam, decay": run(lambda p: Sparse(p, lr=0.1, betas=(0.8, 0.95), eps=1e-3),
                       lambda p: Adam(p, lr=0.1, betas=(0.8, 0.95), eps=1e-3), decay=0.1),
    "adamw": run(lambda p: Sparse(p, lr=0.1), lambda p: AdamW(p, lr=0.1, weight_decay=0),
                 decoupled=0.1),
    "adagrad": run(lambda p: Adagrad(p, lr=0.1), lambda p: Adagrad(p, lr=0.1)),
    "adagrad, slower": run(lambda p: Adagrad(p, lr=0.1, lr_decay=0.5, eps=1e-3),
                           lambda p: Adagrad(p, lr=0.1, lr_decay=0.5, eps=1e-3)),
    "rmsprop": run(*of_rows(lambda p: torch.optim.RMSprop(p, lr=0.05, alpha=0.9, centered=True))),
    "adamax": run(*of_rows(lambda p: torch.optim.Adamax(p, lr=0.1)), decay=0.1),
    "lion": run(*of_rows(lambda p: Lion(p, lr=0.05)), decoupled=0.1, lr=0.05),
}
for name, values in CASES.items():
    print(f'    {{"{name}", {{' + ", ".join(repr(v) for v in values) + "}},")
