"""Prints the table of test_gir_train.c: two parameters trained by torch.optim in float64 for five
steps.

    python3 tests/unit/test_gir_train.py        (PyTorch 2)
"""
import pathlib
import sys

import torch

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
from lion import Lion

torch.set_default_dtype(torch.float64)
X = torch.tensor([[0.5, -1.0], [1.5, 2.0], [-0.25, 0.75], [1.0, 1.0]])
T = torch.tensor([[0.0, 1.0, 0.5], [1.0, -1.0, 0.25], [0.5, 0.5, -0.5], [-1.0, 0.0, 1.0]])


def run(make, decay_w=0.0, schedule=None, clip=None):
    w = torch.tensor([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]], requires_grad=True)
    b = torch.tensor([0.05, -0.05, 0.0], requires_grad=True)
    opt = make([{"params": [w], "weight_decay": decay_w}, {"params": [b], "weight_decay": 0.0}])
    lr = schedule(opt) if schedule else None
    for _ in range(5):
        opt.zero_grad()
        ((torch.tanh(X @ w + b) - T) ** 2).sum().backward()
        if clip:
            clip([w, b])
        opt.step()
        if lr:
            lr.step()
    return [*w.detach().flatten().tolist(), *b.detach().tolist()]


SGD, Adam, AdamW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
RMSprop = torch.optim.RMSprop
S = torch.optim.lr_scheduler
U = torch.nn.utils
plain = lambda p: SGD(p, lr=0.1)
CASES = {
    "sgd": run(plain),
    "sgd, decay": run(plain, decay_w=0.1),
    "momentum": run(lambda p: SGD(p, lr=0.1, momentum=0.9), decay_w=0.1),
    "dampening": run(lambda p: SGD(p, lr=0.1, momentum=0.9, dampening=0.5)),
    "nesterov": run(lambda p: SGD(p, lr=0.1, momentum=0.9, nesterov=True), decay_w=0.1),
    "adam": run(lambda p: Adam(p, lr=0.1)),
    "adam, decay": run(lambda p: Adam(p, lr=0.1, betas=(0.8, 0.95), eps=1e-3), decay_w=0.1),
    "adamw": run(lambda p: AdamW(p, lr=0.1), decay_w=0.1),
    "adagrad": run(lambda p: torch.optim.Adagrad(p, lr=0.1, eps=1e-10), decay_w=0.1),
    "adagrad, slower": run(lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.5, eps=1e-3)),
    "rmsprop": run(lambda p: RMSprop(p, lr=0.05)),
    "rmsprop, momentum": run(lambda p: RMSprop(p, lr=0.05, alpha=0.9, eps=1e-3, momentum=0.5),
                             decay_w=0.1),
    "rmsprop, centered": run(lambda p: RMSprop(p, lr=0.05, alpha=0.9, centered=True)),
    "adamax": run(lambda p: torch.optim.Adamax(p, lr=0.1)),
    "adamax, decay": run(lambda p: torch.optim.Adamax(p, lr=0.1, betas=(0.8, 0.95), eps=1e-3),
                         decay_w=0.1),
    "lion": run(lambda p: Lion(p, lr=0.05)),
    "lion, decay": run(lambda p: Lion(p, lr=0.05, betas=(0.5, 0.8)), decay_w=0.1),
    "amsgrad": run(lambda p: Adam(p, lr=0.1, betas=(0.5, 0.6), amsgrad=True), decay_w=0.1),
    "clip norm": run(plain, clip=lambda p: U.clip_grad_norm_(p, 0.5), decay_w=0.1),
    "clip norm, far": run(plain, clip=lambda p: U.clip_grad_norm_(p, 100.0)),
    "clip value": run(plain, clip=lambda p: U.clip_grad_value_(p, 0.2)),
    "step": run(plain, schedule=lambda o: S.StepLR(o, 2, gamma=0.5)),
    "exponential": run(plain, schedule=lambda o: S.ExponentialLR(o, gamma=0.9)),
    "cosine": run(plain, schedule=lambda o: S.CosineAnnealingLR(o, 7, eta_min=0.01)),
    "linear": run(plain, schedule=lambda o: S.LinearLR(o, 1.0, 0.25, total_iters=3)),
}
for name, values in CASES.items():
    print(f'    {{"{name}", {{' + ", ".join(repr(v) for v in values) + "}},")
