"""What every peer shares: the files of a case, the protocol, the step that is timed. Needs numpy
and torch.

A case is two folders that the harness wrote: `graph` (raw numbers as gnnc's readers found them, see
c/dump.c) and `case` (weights under PyTorch Geometric's names, gnnc's logits with them). A peer is
`make(args, graph, device of weights)`.
"""
import argparse
import json
import os
import pathlib
import resource
import sys
import time

LR = {"gcn": 0.01, "gat": 0.005, "sage": 0.01, "gin": 0.01}
DECAY = 5e-4
# Models of several types, graphs or facts (typed.py, typed_dgl.py), as their files say it; without
# decay.
TYPED_LR = {"rgcn_bases": 0.01, "rgcn_typed": 0.01, "hgt": 0.005, "gin_graphs": 0.01,
            "distmult_apart": 0.003, "distmult_shared": 0.003, "distmult_touched": 0.003}


def parse(about):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--graph", required=True, help="folder of the dumped graph")
    parser.add_argument("--case", required=True, help="folder of weights and logits")
    parser.add_argument("--model", required=True)
    parser.add_argument("--what", choices=["train", "infer"], required=True)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--hidden", type=int, required=True)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="a hyperparameter of the model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check-steps", type=int, default=5,
                        help="steps of training whose loss is reported")
    parser.add_argument("--form", default="coo",
                        help="of the adjacency, where the peer knows several")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N")
    parser.add_argument("--matmul-precision", default="highest",
                        choices=["highest", "high", "medium"], help="as gnnc's option")
    parser.add_argument("--compile", default="", help="MODE:DYNAMIC of torch.compile")
    args = parser.parse_args()
    args.options = dict(option.split("=", 1) for option in args.option)
    # Thread counts have to be in the environment before torch is there.
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(args.threads)
    import warnings
    warnings.filterwarnings("ignore")
    import torch
    torch.set_num_threads(args.threads)
    torch.set_float32_matmul_precision(args.matmul_precision)
    return args


class Graph:
    """edge_index [2, E] as int64, y, the training nodes; x dense, and as rows of a sparse matrix
    where it is one. Of data with types: `types` (name -> rows), `relations` ((source, name,
    destination) -> [2, E]), `columns` ("paper.x" -> tensor)."""

    def __init__(self, folder, device="cpu"):
        import numpy as np
        import torch
        folder, self.device = pathlib.Path(folder), device
        meta = json.loads((folder / "meta.json").read_text())
        read = lambda name, kind: np.fromfile(folder / name, dtype=kind)
        self.nodes, self.features, self.classes = meta["nodes"], meta["features"], meta["classes"]
        ends = lambda of: torch.from_numpy(
            np.stack([read(f"{of}{end}.i32", np.int32) for end in ("src", "dst")]).astype(np.int64))
        self.edge_index = ends("").to(device)
        self.labelled, self.types = meta.get("labelled", "node"), meta.get("types", {})
        self.relations = {tuple(names): ends(f"{names[1]}.") for names in meta.get("relations", [])}
        kinds = {"f32": np.float32, "i32": np.int32, "u8": np.uint8}
        self.columns = {name: torch.from_numpy(read(f"{name}.{of['kind']}",
                                                    kinds[of["kind"]]).reshape(of["shape"]))
                        for name, of in meta.get("columns", {}).items()}
        self.kinds = meta.get("columns", {}).get("g.kind", {}).get("classes", 0)
        self.sparse = meta["sparse"]
        if self.sparse:
            self.x_ptr, self.x_col, self.x_val = (
                torch.from_numpy(read(name, kind)) for name, kind in
                (("x_ptr.i32", np.int32), ("x_col.i32", np.int32), ("x_val.f32", np.float32)))
        elif self.features:
            self.x = torch.from_numpy(read("x.f32", np.float32).reshape(self.nodes, self.features))
        has_labels = (folder / "y.i32").exists()
        self.y = (torch.from_numpy(read("y.i32", np.int32).astype(np.int64)).to(device)
                  if has_labels else None)
        if has_labels:
            self.rows = torch.from_numpy(read("train.u8", np.uint8)).nonzero().view(-1).to(device)
            self.targets = self.y[self.rows]

    def x_csr(self):
        import torch
        if not self.sparse:
            return self.x.to_sparse_csr()
        return torch.sparse_csr_tensor(self.x_ptr.long(), self.x_col.long(), self.x_val,
                                       (self.nodes, self.features))

    def dense(self):
        """x as PyTorch's users have it."""
        return (self.x_csr().to_dense() if self.sparse else self.x).to(self.device)

    def forget_x(self):
        """Frees what a peer has made its own of."""
        for name in ("x", "x_ptr", "x_col", "x_val"):
            self.__dict__.pop(name, None)


def weight(folder, name, shape):
    import numpy as np
    import torch
    values = np.fromfile(pathlib.Path(folder) / f"{name}.f32", dtype=np.float32)
    return torch.from_numpy(values.reshape(shape))


def difference(folder, out):
    """The largest difference from gnnc's logits, relative to 1 + |theirs|; None where there are
    none."""
    import numpy as np
    path = pathlib.Path(folder) / "logits.f32"
    if not path.exists():
        return None
    theirs = np.fromfile(path, dtype=np.float32).reshape(out.shape)
    return float(np.max(np.abs(out - theirs) / (1 + np.abs(theirs))))


class SparseAdam:
    """Adam of tables' rows that a step reads, and of everything else."""

    def __init__(self, net, tables, lr):
        import torch
        of = dict(net.named_parameters())
        rest = [value for name, value in of.items() if name not in tables]
        self.both = (torch.optim.SparseAdam([of[name] for name in tables], lr=lr),
                     torch.optim.Adam(rest, lr=lr, fused=True))

    def zero_grad(self):
        for one in self.both:
            one.zero_grad()

    def step(self):
        for one in self.both:
            one.step()


def optimizer(net, model, form):
    import torch
    if form == "sparse":
        return SparseAdam(net, ("emb",), TYPED_LR[model])
    if model in TYPED_LR:  # one kernel for all parameters, where this torch has it
        fused = {"fused": True} if tuple(map(int,
                                             torch.__version__.split(".")[:2])) >= (2, 5) else {}
        return torch.optim.Adam(net.parameters(), lr=TYPED_LR[model], **fused)
    first = net.convs[0].parameters() if model == "gcn" else net.parameters()
    rest = [p for conv in list(net.convs)[1:] for p in conv.parameters()] if model == "gcn" else []
    groups = ([{"params": list(first), "weight_decay": DECAY}] +
              ([{"params": rest, "weight_decay": 0.0}] if rest else []))
    return torch.optim.Adam(groups, lr=LR[model])


class Work:
    """`forward()` gives logits; `net` has `convs` and the weights, or is None where there is
    nothing to train. `loss()`, where it is no cross-entropy of these logits, is what a step lowers;
    `draws`: it draws, so that it is nobody else's loss. `other` says what else a step does than
    gnnc's, where it does something else."""
    other = None

    def __init__(self, args, graph, net, forward, loss=None, draws=False):
        import torch
        self.args, self.graph, self.net, self.forward = args, graph, net, forward
        self.loss, self.draws = loss or self.of_labels, draws
        self.start = {k: v.clone() for k, v in net.state_dict().items()} if net is not None else {}
        self.torch = torch

    def reset(self):
        if self.net is None:
            return
        self.net.load_state_dict(self.start)
        self.optimizer = (optimizer(self.net, self.args.model, self.args.form)
                          if self.args.what == "train" else None)

    def of_labels(self):
        return self.torch.nn.functional.cross_entropy(self.forward()[self.graph.rows],
                                                      self.graph.targets)

    def train(self):
        self.optimizer.zero_grad()
        loss = self.loss()
        loss.backward()
        self.optimizer.step()
        return loss

    def infer(self):
        with self.torch.inference_mode():
            return self.forward()

    def step(self):
        out = self.train() if self.args.what == "train" else self.infer()
        if self.args.device != "cpu":
            self.torch.cuda.synchronize()
        return out

    def check(self):
        """Logits with the case's weights, without dropout."""
        if self.net is not None:
            self.net.eval()
        with self.torch.no_grad():
            out = self.forward().float().cpu().numpy()
        if self.net is not None:
            self.net.train(self.args.what == "train")
        return difference(self.args.case, out)


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def times(work, count, slow=False):
    """Times of steps in microseconds, and processor time over time."""
    work.reset()
    if not slow:
        work.step()  # what is made at first use: the optimizer's moments
    out, cpu = [], time.process_time_ns()
    for _ in range(count):
        begin = time.perf_counter_ns()
        work.step()
        out.append((time.perf_counter_ns() - begin) / 1000)
    return out, (time.process_time_ns() - cpu) / 1000 / max(sum(out), 1e-9)


def warm_up(work, args):
    """First step (where compilers compile) and a later one, in seconds; losses of the first
    steps."""
    work.reset()
    losses, spent = [], []
    for _ in range(max(args.check_steps, 2) if args.what == "train" or args.check_steps < 3 else 3):
        begin = time.perf_counter()
        out = work.step()
        spent.append(time.perf_counter() - begin)
        if args.what == "train":
            losses.append(None if work.draws else float(out))
    return {"first_s": round(spent[0], 6), "second_s": round(min(spent[1:]), 6), "losses": losses}


def serve(args, make, versions):
    """Answers until `quit` or the end of the input; see bench/README.md."""
    say = lambda answer: print(json.dumps(answer), flush=True)
    try:
        begin = time.perf_counter()
        work = make(args, Graph(args.graph, args.device))
        ready = {"load_s": round(time.perf_counter() - begin, 3)} | warm_up(work, args)
        work.reset()
        ready |= {"other": work.other, "difference": work.check(), "rss": resident(),
                  "versions": versions()}
    except Exception as error:  # noqa: BLE001: a peer's failure is a result
        text = " ".join(str(error).split())
        say({"error": f"{type(error).__name__}: {text[:600]}"})
        return
    say(ready)
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["quit"]:
            return
        if len(words) != 2 or words[0] != "go" or not words[1].isdigit():
            say({"error": f"expected `go N`, got {line.strip()!r}"})
            continue
        us, cpu = times(work, int(words[1]), ready["second_s"] > 1)
        say({"us": [round(value, 1) for value in us], "cpu": round(cpu, 3), "rss": resident()})
