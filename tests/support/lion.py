"""Lion, which torch has not: what figures of it are recorded with."""
import torch


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al., "Symbolic Discovery of Optimization Algorithms" (2023)."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                c = beta1 * m + (1 - beta1) * p.grad
                p.sub_(lr * (torch.sign(c) + decay * p))
                m.copy_(beta2 * m + (1 - beta2) * p.grad)
