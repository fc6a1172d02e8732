"""Prints the tables of test_gir_rate.c: learning rates of torch.optim.lr_scheduler, step by step.

    python3 tests/unit/test_gir_rate.py        (PyTorch 2)
"""
import warnings

import torch

warnings.filterwarnings("ignore")
S = torch.optim.lr_scheduler
STEPS = 16
# what ReduceLROnPlateau is told: losses, and the same as accuracies
LOSSES = [1.0, 0.9, 0.89, 0.895, 0.9, 0.91, 0.8, float("nan"), 0.9, 0.9, 0.9, 0.9, 0.2, 0.3, 0.3,
          0.3]


def rates(make, lr=0.1, told=None):
    opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
    schedule, out = make(opt), []
    for t in range(STEPS):
        out.append(opt.param_groups[0]["lr"])
        opt.step()
        schedule.step(*([told[t]] if told else []))
    return out


def cycle(**k):
    return lambda o: S.OneCycleLR(o, 0.1, total_steps=STEPS, cycle_momentum=False, **k)


def chained(steps, make):
    return rates(lambda o: S.SequentialLR(
        o, [S.LinearLR(o, 1 / (steps + 1), 1.0, total_iters=steps), make(o)], [steps]))


def plateau(**k):
    return rates(lambda o: S.ReduceLROnPlateau(o, **k),
                 told=[-x if k.get("mode") == "max" else x for x in LOSSES])


step = lambda o: S.StepLR(o, 3, gamma=0.5)
cosine = lambda o: S.CosineAnnealingLR(o, 12, eta_min=0.01)
CASES = {
    "step": rates(step),
    "exponential": rates(lambda o: S.ExponentialLR(o, gamma=0.9)),
    "cosine": rates(lambda o: S.CosineAnnealingLR(o, STEPS, eta_min=0.01)),
    "linear": rates(lambda o: S.LinearLR(o, 1.0, 0.25, total_iters=10)),
    "one cycle": rates(cycle()),
    "one cycle, early": rates(cycle(pct_start=0.0, div_factor=4, final_div_factor=10)),
    "one cycle, on a step": rates(cycle(pct_start=0.5, div_factor=10)),
    "one cycle, late": rates(cycle(pct_start=0.97)),
    "warm-up": chained(4, lambda o: S.ConstantLR(o, 1.0)),
    "warm-up, step": chained(4, step),
    "warm-up, cosine": chained(4, cosine),
    "plateau": plateau(factor=0.5, patience=1),
    "plateau, at once": plateau(factor=0.1, patience=0, threshold=0.05, min_lr=0.003),
    "plateau, cooldown": plateau(factor=0.5, patience=0, cooldown=2),
    "plateau, accuracy": plateau(mode="max", factor=0.5, patience=1, threshold=0.05),
    "plateau, a least rate above": plateau(factor=0.5, patience=0, min_lr=0.2),
    "plateau, small": plateau(factor=1e-4, patience=0),
}
for name, values in CASES.items():
    print(f'    {{"{name}", {{' + ", ".join(repr(float(v)) for v in values) + "}},")
