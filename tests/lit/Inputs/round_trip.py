"""Weights and predictions to files and back, as the standard library reads them."""
import os

import files
import runs

r = runs.Runs(shared=True)
GCN = os.path.join(runs.SAMPLES, "gcn.gnn")
W, NPZ, CSV = r.path("w.safetensors"), r.path("p.npz"), r.path("p.csv")
QUICK = ("-q", "--threads", "1")

trained = r.works("train", GCN, *QUICK, "--epochs", 60, "--save", W, "--predictions", NPZ)
tensors = files.read_safetensors(W)
shapes = {name: t[:2] for name, t in tensors.items()}
assert shapes == {"convs.0.lin.weight": ("f", (16, 34)), "convs.0.bias": ("f", (16,)),
                  "convs.1.lin.weight": ("f", (4, 16)), "convs.1.bias": ("f", (4,))}, shapes

# What was trained is what runs: the same accuracy, the same logits.
ran = r.works("run", GCN, *QUICK, "--weights", W, "--predictions", CSV)
accuracy = trained[trained.index("train "):].split("\n")[0]
assert accuracy in ran, (trained, ran)
arrays = files.read_npz(NPZ)
assert sorted(arrays) == ["logits", "prediction"], sorted(arrays)
(_, shape, logits), (kind, count, label) = arrays["logits"], arrays["prediction"]
assert shape == (34, 4) and count == (34,) and kind == "i", (shape, kind, count)
assert label == [max(range(4), key=lambda c: logits[4 * v + c]) for v in range(34)]
lines = open(CSV).read().split("\n")
assert (lines[0] == "prediction" and lines[-1] == ""
        and [int(v) for v in lines[1:-1]] == label), lines[:5]
r.works("run", GCN, *QUICK, "--weights", W, "--predictions", r.path("again.npz"))
assert files.read_npz(r.path("again.npz")) == arrays, "loading what was saved changes something"

# Weights from elsewhere: zeros give the bias of the last layer for every node.
zeros = {name: (t[0], t[1], [0.0] * len(t[2])) for name, t in tensors.items()}
zeros["convs.1.bias"] = ("f", (4,), [0.5, -1.0, 2.0, 0.25])
files.write_safetensors(r.path("zeros.safetensors"), zeros)
r.works("run", GCN, *QUICK, "--weights", r.path("zeros.safetensors"), "--predictions", NPZ)
assert files.read_npz(NPZ)["logits"][2] == [0.5, -1.0, 2.0, 0.25] * 34

# Training goes on from weights: on from 60 epochs it is better than after 5 from fresh ones, and
# differs from those.
fresh = r.works("train", GCN, *QUICK, "--epochs", 5)
on = r.works("train", GCN, *QUICK, "--epochs", 5, "--weights", W, "--save",
             r.path("on.safetensors"))
loss = [float(text.split("loss ")[1].split(",")[0]) for text in (fresh, on)]
assert loss[1] < loss[0] - 0.1, loss
assert files.read_safetensors(r.path("on.safetensors")) != tensors
# A file that exists is replaced as a whole, and nothing is left beside it.
assert not [n for n in os.listdir(r.folder) if "tmp" in n], os.listdir(r.folder)
# Refused before anything ran: the weights that were there are still there.
r.fails(2, "ends in .npz or .csv", "train", GCN, *QUICK, "--epochs", 1, "--save", W,
        "--predictions", "x.txt")
assert files.read_safetensors(W) == tensors
r.done()
