#!/usr/bin/env python3
"""Times one training step or one inference of PyTorch Geometric on Cora.

As a server, which is how bench/race.py alternates it with gnnc:

    python bench/peers/pyg_step.py --data DIR --model gcn --what train --dropout 0.5 --threads 1

It prints one JSON line when it is warm. Then for each line `go N` on standard input it starts afresh from new parameters,
runs N steps and prints one JSON line: {"us": [...], "cpu": ...}, the steps' times and the processor time of all of them over
their time (less than the number of threads where others took the processor). It ends at `quit` or at the end of the input. With
`--once N` it does that once and prints median, p10 and p90.

A training step is: zero the gradients, forward over all nodes, cross-entropy over the 140 training nodes, backward, Adam
with weight decay. An inference is a forward pass over all nodes in evaluation mode. Nothing is evaluated or printed inside.
"""
import argparse
import json
import os
import sys
import time


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of the raw Planetoid files")
    parser.add_argument("--model", choices=["gcn", "gat", "sage", "gin"], default="gcn")
    parser.add_argument("--what", choices=["train", "infer"], default="train")
    parser.add_argument("--dropout", type=float, default=None, help="default: the model's own")
    parser.add_argument("--hidden", type=int, default=None, help="default: the model's own")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true", help="torch.compile in its default mode")
    parser.add_argument("--adjacency", choices=["edge_index", "csr"], default="edge_index",
                        help="csr: a transposed sparse tensor (not for gat)")
    parser.add_argument("--features", choices=["dense", "csr"], default="dense", help="csr: gcn and gat only")
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--once", type=int, default=0, metavar="N")
    return parser.parse_args()


def quiet_imports(threads):
    """Thread counts have to be in the environment before torch is there."""
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(threads)
    import warnings
    warnings.filterwarnings("ignore")
    import torch
    torch.set_num_threads(threads)


def make(args):
    """Returns (reset, step): `reset` starts afresh, `step` is what is timed."""
    import torch
    import torch.nn.functional as F
    import pyg_models

    data = pyg_models.load_planetoid(args.data)
    settings = dict(pyg_models.SETTINGS[args.model])
    settings["dropout"] = settings["dropout"] if args.dropout is None else args.dropout
    settings["hidden"] = args.hidden or settings["hidden"]
    args.dropout, args.hidden = settings["dropout"], settings["hidden"]
    edges = data.edge_index
    if args.adjacency == "csr":
        shape = (len(data.y), len(data.y))
        values = torch.ones(edges.shape[1])
        edges = torch.sparse_coo_tensor(edges.flip(0), values, shape).coalesce().to_sparse_csr()
    net = pyg_models.build(features=data.x.shape[1], classes=data.classes, **settings)
    if args.features == "csr" and args.model not in ("gcn", "gat"):
        raise SystemExit("sparse features are for gcn and gat: the others aggregate their features first")
    x = pyg_models.sparse_features(net, data.x) if args.features == "csr" else data.x
    net.train(args.what == "train")
    forward = torch.compile(net) if args.compile else net
    rows = data.train_mask.nonzero().view(-1)
    targets = data.y[rows]
    state = {}

    def reset():
        torch.manual_seed(0)
        net.reset_parameters()
        state["optimizer"] = pyg_models.optimizer_for(net, **settings)

    def train():
        state["optimizer"].zero_grad()
        F.cross_entropy(forward(x, edges)[rows], targets).backward()
        state["optimizer"].step()

    def infer():
        with torch.inference_mode():
            forward(x, edges)

    return reset, train if args.what == "train" else infer, pyg_models.versions()


def times(reset, step, count):
    """The times of the steps in microseconds, and processor time over time."""
    reset()
    step()  # what is made at first use: the optimizer's moments, the cached adjacency
    out, cpu = [], time.process_time_ns()
    for _ in range(count):
        begin = time.perf_counter_ns()
        step()
        out.append((time.perf_counter_ns() - begin) / 1000)
    return out, (time.process_time_ns() - cpu) / 1000 / max(sum(out), 1e-9)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def serve(reset, step):
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["quit"]:
            return
        if len(words) != 2 or words[0] != "go" or not words[1].isdigit():
            print(json.dumps({"error": f"expected `go N`, got {line.strip()!r}"}), flush=True)
            continue
        us, cpu = times(reset, step, int(words[1]))
        print(json.dumps({"us": [round(value, 1) for value in us], "cpu": round(cpu, 3)}), flush=True)


def main():
    args = parse()
    quiet_imports(args.threads)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    begin = time.perf_counter()
    reset, step, versions = make(args)
    times(reset, step, args.warmup)
    about = {"peer": "pyg-compile" if args.compile else "pyg", "model": args.model, "what": args.what,
             "dropout": args.dropout, "hidden": args.hidden, "adjacency": args.adjacency,
             "features": args.features, "versions": versions,
             "ready_s": round(time.perf_counter() - begin, 2)}
    if args.once:
        us, about["cpu"] = times(reset, step, args.once)
        about["us"] = {"median": percentile(us, 0.5), "p10": percentile(us, 0.1), "p90": percentile(us, 0.9)}
        print(json.dumps(about))
        return
    print(json.dumps(about), flush=True)
    serve(reset, step)


if __name__ == "__main__":
    main()
