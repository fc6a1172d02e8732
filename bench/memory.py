#!/usr/bin/env python3
"""Training within a bound of memory: memory.py GNNC [--nodes N] [--edges E] [--width W]
[--layers 3,8,28] [--caps 100,70,50,35,25] [--models gcn,sage,gin,gat] [--json FILE]
[--python PYTHON]

A row for each model, number of layers and cap: what was planned, the most that was resident, a
step's time beside that without a bound, and whether the weights have the same bits.  With --python,
of an environment that has PyTorch Geometric, what torch takes for the same models: as it is, with
torch.utils.checkpoint around each layer, and compiled with activation_memory_budget = 0.5."""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

SAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "samples")
MEGA = 1e6

TORCH = r"""
import json, resource, sys, time, torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv
kind, layers, how, nodes, edges, width, features, classes = sys.argv[1:4] + sys.argv[4:]
layers, nodes, edges, width = int(layers), int(nodes), int(edges), int(width)
torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(nodes, int(features))
e = torch.randint(nodes, (2, edges))
y = torch.randint(int(classes), (nodes,))
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def conv(i):
    a, b = (int(features) if i == 0 else width), (int(classes) if i == layers - 1 else width)
    if kind == "gcn": return GCNConv(a, b, cached=False)
    if kind == "sage": return SAGEConv(a, b)
    if kind == "gin":
        return GINConv(torch.nn.Sequential(torch.nn.Linear(a, width), torch.nn.ReLU(),
                                           torch.nn.Linear(width, b)))
    return GATConv(a, b // 8 if i < layers - 1 else b, heads=8 if i < layers - 1 else 1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = torch.nn.ModuleList([conv(i) for i in range(layers)])
    def layer(self, i, h):
        h = self.convs[i](F.dropout(h, 0.5, self.training), e)
        return F.relu(h) if i < layers - 1 else h
    def forward(self, h):
        for i in range(layers):
            if how == "checkpoint": h = checkpoint(self.layer, i, h, use_reentrant=False)
            else: h = self.layer(i, h)
        return h
net = Net()
if how.startswith("budget"):
    import torch._functorch.config as c
    c.activation_memory_budget = float(how[6:])
    net = torch.compile(net)
opt = torch.optim.Adam(net.parameters(), lr=1e-6)
times = []
for _ in range(3):
    t0 = time.time()
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
    times.append(time.time() - t0)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"ms": 1e3 * min(times[1:]), "mb": peak * 1024 / 1e6,
                  "more_mb": (peak - base) * 1024 / 1e6}))
"""


def run(command, env=None):
    """Output, and the most that was resident, in MB."""
    out = tempfile.TemporaryFile()
    pid = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=env)
    _, status, usage = os.wait4(pid.pid, 0)
    pid.returncode = os.waitstatus_to_exitcode(status)
    out.seek(0)
    return pid.returncode, out.read().decode(errors="replace"), usage.ru_maxrss * 1024 / MEGA


def digest(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def train(o, model, layers, cap):
    """A run of gnnc with a cap in per cent."""
    width = ["-D", f"hidden={o.width}"]
    if model == "gat": # 28 layers that drop 0.6 of everything give no number
        width = ["-D", f"hidden={o.width // 8}", "-D", "heads=8", "-D", "p=0"]
    data = f"synthetic:nodes={o.nodes},edges={o.edges},features={o.width},classes=16"
    with tempfile.TemporaryDirectory() as folder:
        weights = os.path.join(folder, "w.safetensors")
        code, text, resident = run(
            [o.gnnc, "train", os.path.join(SAMPLES, f"{model}.gnn"), "--data", data, *width,
             "-D", f"layers={layers}", "--without", "restrict_rows", "--threads", "1",
             "--epochs", "3", "--lr", "1e-6", "--memory", f"{cap}%", "--save", weights])
        bits = digest(weights)
    row = {"model": model, "layers": layers, "cap": cap, "resident_mb": resident, "bits": bits}
    found = re.search(r"memory: ([\d.]+) ([kM])B of ([\d.]+) ([kM])B allowed", text)
    least = re.search(r"takes ([\d.]+) ([KM])iB at the least.*\(([\d.]+) ([KM])iB by itself", text)
    step = re.search(r"step ([\d.]+) us", text)
    if code == 0 and found:
        scale = {"k": 1e-3, "M": 1}
        row["planned_mb"] = float(found[1]) * scale[found[2]]
        row["allowed_mb"] = float(found[3]) * scale[found[4]]
        row["step_ms"] = float(step[1]) / 1e3 if step else None
        again = re.search(r"(\d+) kernels of a step run again, for (\d+)%", text)
        row["again"], row["more_work"] = (int(again[1]), int(again[2])) if again else (0, 0)
    elif least:
        row["least_mb"] = float(least[1]) * {"K": 1024, "M": 1 << 20}[least[2]] / MEGA
    else:
        row["error"] = text.strip().splitlines()[-1] if text.strip() else f"exit {code}"
    return row


def line(row, first):
    name = f"{row['model']} {row['layers']}"
    if "error" in row:
        return f"| {name} | {row['cap']} % | {row['error'][:60]} | | | | |"
    if "least_mb" in row:
        return f"| {name} | {row['cap']} % | least {row['least_mb']:.0f} | | | | |"
    times = ""
    if first and first.get("step_ms") and row.get("step_ms"):
        times = f"{row['step_ms'] / first['step_ms']:.2f}"
    same = "yes" if first and row["bits"] == first["bits"] else "NO"
    return (f"| {name} | {row['cap']} % | {row['planned_mb']:.0f} of {row['allowed_mb']:.0f} | "
            f"{row['resident_mb'] - row['allowed_mb']:+.0f} | {row['more_work']} % | {times} | "
            f"{same} |")


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("gnnc")
    p.add_argument("--nodes", type=int, default=100000)
    p.add_argument("--edges", type=int, default=1000000)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--layers", default="3,8,28")
    p.add_argument("--caps", default="100,70,50,35,25")
    p.add_argument("--models", default="gcn,sage,gin,gat")
    p.add_argument("--json")
    p.add_argument("--python")
    p.add_argument("--ways", default="plain,checkpoint,budget0.5")
    o = p.parse_args()
    rows = []
    print("| | cap | MB | resident above cap | work | times | same bits |")
    print("|---|---|---|---|---|---|---|")
    for model in o.models.split(","):
        for layers in o.layers.split(","):
            first = None
            for cap in o.caps.split(","):
                row = train(o, model, int(layers), int(cap))
                first = first or row
                rows.append(row)
                print(line(row, first), flush=True)
                if "least_mb" in row:
                    break
            for how in o.ways.split(",") if o.python else []:
                code, text, _ = run([o.python, "-c", TORCH, model, layers, how, str(o.nodes),
                                     str(o.edges), str(o.width), str(o.width), "16"])
                words = text.strip().splitlines()[-1] if text.strip() else f"exit {code}"
                row = json.loads(words) if code == 0 else {"error": words[:80]}
                rows.append({"model": model, "layers": int(layers), "torch": how, **row})
                print(f"| torch {model} {layers} {how} | | {json.dumps(row)} | | | | |", flush=True)
    if o.json:
        with open(o.json, "w") as f:
            json.dump(rows, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
