"""Whatever is left out, training comes to the same loss; reports say what was left out.  Each of
them of one sample but with GNNC_LONG=1."""
import json
import os
import pathlib
import re

import runs

r = runs.Runs(shared=True)
SPARSE = "synthetic:nodes=60,edges=240,features=30,classes=3,density=0.05"
names = re.findall(r"^  ([\w-]+) +(?!\*)\w", r.works("opt", "--list"), re.M)
assert len(names) >= 10 and "dense" not in names and "hoist" in names, names

# What each of them gains is said.
lab = pathlib.Path(runs.SAMPLES, "..", "docs", "lab")
page = "".join(p.read_text(encoding="utf-8") for p in sorted(lab.glob("*.md")))
r.problems += [f"docs/lab has no word of `{n}`"
               for n in names if not re.search(rf"`(--without )?{n}`", page)]


def train(sample, *args):
    out = r.works("train", os.path.join(runs.SAMPLES, sample), "-q", "--json", "--threads", 2,
                  "--epochs", 4, *args)
    return json.loads(out) if out else {"runs": [{"loss": float("nan")}], "without": None}


every = os.environ.get("GNNC_LONG", "0") != "0"
for turn, (sample, data) in enumerate((("gat.gnn", ()), ("gcn.gnn", ("--data", SPARSE)))):
    plain = train(sample, *data)
    if plain["without"] != "":
        r.problems.append(f"{sample}: without {plain['without']}")
    chosen = [("--without", n) for n in (names if every else names[turn::2])]
    for what in chosen + [("--only", "fuse"), ("--without", ",".join(names))]:
        one = train(sample, *data, *what)
        a, b = plain["runs"][0]["loss"], one["runs"][0]["loss"]
        if not abs(a - b) < 1e-4 * (1 + abs(a)):
            r.problems.append(f"{sample} {what}: loss {b}, expected {a}")
        if what[0] == "--without" and set(one["without"].split(",")) != set(what[1].split(",")):
            r.problems.append(f"{sample} {what}: without {one['without']}")

# Nothing but simplify takes detach out: without it, it is lowered.
held = r.write("held.gnn", """model Held() (g: graph, x: node[F]) -> node[C] {
  project = Linear(C)
  h = project(x)
  return h + 0.5 * detach(h)
}
train Held(lr = 0.01) {
  loss = cross_entropy(Held(g, x), y) over train_mask
  optimizer = adam(lr = lr)
}
""")
plain, one = (train(held, *what)["runs"][0]["loss"]
              for what in ((), ("--without", "simplify,clean")))
if not abs(plain - one) < 1e-4 * (1 + abs(plain)):
    r.problems.append(f"detach that is lowered: loss {one}, expected {plain}")
r.fails(2, "did you mean 'hoist'?", "run", os.path.join(runs.SAMPLES, "gcn.gnn"), "--without",
        "hoits")
r.done()
