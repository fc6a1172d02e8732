"""`schedule = plateau` and `warmup`: rates that training logs are those of torch's
ReduceLROnPlateau for the results that it logs; breaks change nothing."""
import csv
import math

import files
import runs

r = runs.Runs(shared=True)
MODEL = """model M(hidden = 16, p = 0.3) (g: graph, x: node[F]) -> node[C] {
  return GCNConv(C)(g, dropout(relu(GCNConv(hidden)(g, x)), p))
}
train M {
  loss = cross_entropy(M(g, x), y) over train_mask
  optimizer = adam(lr = 0.05)
  epochs = 60
  %s
}
"""


def plateau(results, better, factor, patience, cooldown, least, warmup, lr=0.05):
    rates, rate, best, bad, wait = [], lr, None, 0, 0
    for t, result in enumerate(results):
        rates.append(rate * min((t + 1) / (warmup + 1), 1))
        if t < warmup:
            continue
        good = best is None or better(result, best)
        best, bad = (result, 0) if good else (best, bad + 1)
        if wait:
            wait, bad = wait - 1, 0
        if bad > patience:
            new = max(rate * factor, least)
            rate = new if rate - new > 1e-8 else rate
            wait, bad = cooldown, 0
    return rates


def rows(name):
    with open(r.path(name)) as f:
        return list(csv.DictReader(f))


def drops(rates):
    return sum(b < a for a, b in zip(rates, rates[1:]))


for k, (setting, column, better, *rest) in enumerate((
        ("schedule = plateau(factor = 0.5, patience = 1, threshold = 0.01)", "val_loss",
         lambda a, b: a < b * 0.99, 0.5, 1, 0, 0, 0),
        ("schedule = plateau(factor = 0.5, patience = 0, threshold = 0, cooldown = 3, min_lr = "
         "0.002)\n  warmup = 7", "val_loss", lambda a, b: a < b, 0.5, 0, 3, 0.002, 7),
        ("schedule = plateau(factor = 0.7, patience = 2, monitor = val_accuracy)", "val_acc",
         lambda a, b: a > b * 1.0001, 0.7, 2, 0, 0, 0),
        # what an epoch is chosen by may be another figure
        ("schedule = plateau(factor = 0.5, patience = 1)\n  select = best\n  monitor = "
         "val_accuracy", "val_loss", lambda a, b: a < b * 0.9999, 0.5, 1, 0, 0, 0))):
    model = r.write(f"m{k}.gnn", MODEL % setting)
    r.works("train", model, "-q", "--log", r.path("log.csv"), "--checkpoint", r.path("whole"))
    log = rows("log.csv")
    want = plateau([float(row[column]) for row in log], better, *rest)
    is_ = [float(row["learning_rate"]) for row in log]
    assert len(log) == 60 and drops(want) > 2, (setting, want)
    assert all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(is_, want)), (setting, is_, want)
    # logged or not, in one go or with a break: the same bytes
    for epochs in (1, 20, 33):
        r.works("train", model, "-q", "--epochs", epochs, "--checkpoint", r.path("part"))
        r.works("train", model, "-q", "--resume", r.path("part"), "--checkpoint", r.path("part"))
        with open(r.path("part"), "rb") as a, open(r.path("whole"), "rb") as b:
            assert a.read() == b.read(), (setting, epochs)
    held = files.read_safetensors(r.path("whole"))
    # after all that it logged, the last of it included
    lowered = drops(plateau([float(row[column]) for row in log] + [0], better, *rest))
    assert held["opt.drops"][2] == [lowered], (held["opt.drops"], lowered)
    assert held["opt.plateau"][2][1] == 60 - rest[-1], held["opt.plateau"]

PLATEAU = r.path("m0.gnn")
out = r.path("m.o")
r.fails(1, "the schedule of M goes by validation results", PLATEAU, "-o", out)
r.works(PLATEAU, "-o", out, "--inference")
r.fails(3, "is of another optimizer", "train", r.path("m1.gnn"), "-q", "--resume", r.path("whole"))
NUMBERS = r.write("numbers.gnn", """model M() (g: graph, x: node[F]) -> node {
  return Linear(1)(x)[0]
}
train M {
  loss = mse(M(g, x), float(y)) over train_mask
  schedule = plateau(monitor = val_accuracy)
}
""")
r.fails(1, "the train block of M lowers the learning rate by the accuracy on validation nodes, and "
        "it gives no node[C]: write `monitor = val_loss`", "train", NUMBERS, "-q")
r.done()
