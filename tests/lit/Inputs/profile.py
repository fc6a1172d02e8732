"""gnnc profile: times that add up, layers and parts of a step, traces that can be opened, a page
that needs nothing else, lines that fit."""
import html.parser
import json
import os

import runs

r = runs.Runs(shared=True)
DATA = ("--data", "synthetic:nodes=300,edges=1200,features=16,classes=4", "-q", "--steps", 12)
GAT = os.path.join(runs.SAMPLES, "gat.gnn")


def check(what, holds):
    if not holds:
        r.problems.append(what)


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1)


class Page(html.parser.HTMLParser):
    """What opens is closed, and nothing comes from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.outside += [v for k, v in attrs if k in ("src", "href")] + [tag] * (tag == "script")

    def handle_endtag(self, tag):
        check(f"page: </{tag}> closes {self.open[-1:]}", self.open[-1:] == [tag])
        self.open = self.open[:-1]


def check_trace(path, threads, kernels):
    d = json.load(open(path))
    events = d["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    check("trace: phases", {e["ph"] for e in events} == {"M", "X", "C"})
    check("trace: slices", slices and all(e["dur"] >= 0 and e["ts"] >= 0 for e in slices))
    names = {k["name"] for k in kernels}
    for e in slices:
        known = e["cat"] == "wait" or any(e["name"].startswith(n) for n in names)
        check(f"trace: {e['name']}", known)
        check("trace: arguments", e["args"]["layer"] and e["args"]["kernel"] < len(kernels))
    for thread in range(threads):
        mine = [e for e in slices if e["tid"] == thread]
        for a, b in zip(mine, mine[1:]):
            check(f"trace: {b['name']} begins before {a['name']} ends",
                  b["ts"] >= a["ts"] + a["dur"] - 0.002)
    check("trace: threads", {e["tid"] for e in slices} <= set(range(threads)))
    named = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    check(f"trace: {named}", named == {f"thread {k}" for k in range(threads)})


def check_report(name, d, step):
    k = d["kernels"]
    check(f"{name}: kernels", k and [x["kernel"] for x in k] == list(range(len(k))))
    total = sum(x["us"] for x in k) + d["outside_us"]
    check(f"{name}: {total} is not {d['us']}",
          near(total, d["us"]) or (d["outside_us"] == 0 and total > d["us"]))
    for rows in ("layers", "lines"):
        check(f"{name}: {rows} add up",
              near(sum(x["us"] for x in d[rows]), sum(x["us"] for x in k)))
        check(f"{name}: {rows} are sorted",
              [x["us"] for x in d[rows]] == sorted((x["us"] for x in d[rows]), reverse=True))
    for x in k:
        check(f"{name}: parts of {x['name']}", near(sum(p["share"] for p in x["parts"]), 1))
        check(f"{name}: waits of {x['name']}", 0 <= x["wait_us"] <= x["us"] * 1.000001)
        several = len({(p["layer"], p["part"]) for p in x["parts"]}) > 1
        check(f"{name}: {x['name']} is an estimate",
              all(p["estimated"] == several for p in x["parts"]))
    parts = {(x["layer"], x["part"]) for x in d["layers"]}
    check(f"{name}: {parts}", {("convs.0", "forward"), ("convs.1", "forward")} <= parts)
    check(f"{name}: {parts} of a step", (("convs.0", "backward") in parts) == step)
    check(f"{name}: {parts} of an optimizer", (("convs.0", "optimizer") in parts) == step)
    check(f"{name}: lines", {"gat.gnn:10", "gat.gnn:11"} <= {x["line"] for x in d["lines"]})
    m = d["memory"]
    check(f"{name}: memory", sum(x["bytes"] for x in m["alive_at_peak"]) == m["peak"] > 0)
    check(f"{name}: peak", k[m["peak_kernel"]]["temporary_bytes"] == m["peak"])


for threads, mode, what in ((1, "default", "step"), (2, "default", "step"),
                            (2, "reduce-overhead", "step"), (1, "eager", "eval")):
    if runs.SANITIZED and mode == "eager":
        continue
    name = f"{mode} {what} {threads}"
    trace, page = r.path("trace.json"), r.path("page.html")
    said = r.works("profile", GAT, *DATA, "--threads", threads, "-O", mode, "--what", what,
                   "--json", "--trace", trace, "--html", page)
    d = json.loads(said or "{}")
    check_report(name, d, what == "step")
    check_trace(trace, threads, d["kernels"])
    text = open(page, encoding="utf-8").read()
    p = Page()
    p.feed(text)
    check(f"{name}: page: {p.open} {p.outside}", not p.open and not p.outside)
    for part in ("Where the time goes", "Timeline", "Memory", "convs.0", "gat.gnn:10"):
        check(f"{name}: page: no '{part}'", part in text)

for by in ("layer", "line", "kernel"):
    text = r.works("profile", GAT, *DATA, "--by", by, "--threads", 1)
    check(f"{by}: lines", text and max(map(len, text.split("\n"))) <= 120)
    for part in ("in short", "convs.0", "all  ", "memory:", "timing adds"):
        check(f"{by}: no '{part}'", part in text)
r.works("profile", os.path.join(runs.SAMPLES, "sage.gnn"), *DATA)
r.fails(2, "--by: unknown value 'row'", "profile", GAT, "--by", "row")
r.fails(2, "name one file", "profile", GAT, "--trace", r.path("x"), "--html", r.path("x"))
r.fails(3, "--trace", "profile", GAT, "--trace", r.path("no/where.json"))
r.fails(2, "--steps", "profile", GAT, "--steps", 0)
r.done()
