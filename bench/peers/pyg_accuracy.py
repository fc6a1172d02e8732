#!/usr/bin/env python3
"""Test accuracy of PyTorch Geometric's models on Cora over several seeds, as JSON on standard
output.

    python bench/peers/pyg_accuracy.py --data DIR --seeds 10 \\
        > bench/reference/pyg_cora_accuracy.json

DIR holds the raw Planetoid files (ind.cora.*).
"""
import argparse
import json
import statistics
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.nn.functional as F

from pyg_models import SETTINGS, build, load_planetoid, optimizer_for, sparse_features, versions


def evaluate(net, x, data):
    net.eval()
    with torch.no_grad():
        out = net(x, data.edge_index)
    hit = out.argmax(dim=1) == data.y
    accuracy = lambda mask: hit[mask].float().mean().item()
    loss = F.cross_entropy(out[data.val_mask], data.y[data.val_mask]).item()
    return accuracy(data.val_mask), loss, accuracy(data.test_mask)


def train_step(net, optimizer, x, data):
    net.train()
    optimizer.zero_grad()
    out = net(x, data.edge_index)
    F.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
    optimizer.step()


def train(data, seed, settings, sparse=False):
    """Test accuracy at the epoch of the best validation accuracy (the first of equals), and at the
    last epoch.

    With `patience` the epoch is the last that was no worse than any before in both validation
    accuracy and validation loss, and training stops when neither has been as good as its best for
    that many epochs: the GAT paper's code.
    """
    torch.manual_seed(seed)
    net = build(features=data.x.shape[1], classes=data.classes, **settings)
    x = sparse_features(net, data.x) if sparse else data.x
    optimizer = optimizer_for(net, **settings)
    patience = settings.get("patience", 0)
    best_accuracy, best_loss, chosen, chosen_epoch, waited = -1.0, float("inf"), 0.0, 0, 0
    for epoch in range(1, settings["epochs"] + 1):
        train_step(net, optimizer, x, data)
        accuracy, loss, test = evaluate(net, x, data)
        better = (accuracy >= best_accuracy
                  and loss <= best_loss if patience else accuracy > best_accuracy)
        if better:
            chosen, chosen_epoch = test, epoch
        waited = 0 if accuracy >= best_accuracy or loss <= best_loss else waited + 1
        best_accuracy, best_loss = max(best_accuracy, accuracy), min(best_loss, loss)
        if patience and waited == patience:
            break
    return {"best_val": chosen, "best_epoch": chosen_epoch, "last": test, "epochs": epoch}


def summary(values):
    return {"mean": round(statistics.mean(values), 5), "std": round(statistics.stdev(values), 5)
            if values[1:] else 0.0, "values": [round(value, 4) for value in values]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", required=True, help="folder of the raw Planetoid files")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument(
        "--sparse", nargs="*", choices=["gcn", "gcn_decay_all", "gat", "gat_200"], default=[],
        help="which run on sparse features: several times faster, the same distribution of results")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    data = load_planetoid(args.data)
    results = {}
    for name in args.only:
        runs = [train(data, seed, SETTINGS[name], name in args.sparse)
                for seed in range(args.seeds)]
        results[name] = {"settings": SETTINGS[name], "features": "csr" if name in args.sparse
                         else "dense", "best_val": summary([run["best_val"] for run in runs]),
                         "last": summary([run["last"] for run in runs]),
                         "best_epochs": [run["best_epoch"] for run in runs],
                         "epochs": [run["epochs"] for run in runs]}
        best, last = results[name]["best_val"], results[name]["last"]
        print(f"{name}: best validation {best['mean']:.4f} ± {best['std']:.4f}, last "
              f"{last['mean']:.4f} ± {last['std']:.4f}", file=sys.stderr, flush=True)
    about = {"dataset": "Cora, Planetoid split 140 / 500 / 1000; rows of x sum to 1; repeated "
             "edges merged", "nodes": len(data.y), "edges": data.edge_index.shape[1],
             "seeds": list(range(args.seeds)), "std": "of the sample (n - 1)",
             "versions": versions()}
    json.dump({"about": about, "results": results}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
