"""gnnc bench, from the command line to its files: grids, failing cells, interruptions, going on."""
import csv
import html.parser
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import xml.dom.minidom
import zipfile

import files as files_of
import runs

r = runs.Runs()
GCN = os.path.join(runs.SAMPLES, "gcn.gnn")
SMALL = r.write("m.gnn", "model M() (g: graph, x: node[F]) -> node[4] {\n  lin = Linear(4)\n"
                "  return lin(x)\n}\n")
QUICK = ("--repeat", "6", "--epochs", "6", "--warmup", "1")
FILES = {"config.json", "results.json", "results.csv", "tables.tex", "tables.md",
         "recommendations.txt", "report.html"}


def check(ok, what):
    r.count += 1
    if not ok:
        r.problems.append(what)


def cells(out):
    with open(os.path.join(out, "results.json"), encoding="utf-8") as f:
        return json.load(f)["cells"]


def files(out):
    return set(os.listdir(out)) - {"report.xlsx", "cells"}


# What results.csv has always had, in this order; what came later may stand between.
OLD_COLUMNS = """data nodes edges threads device mode dynamic status step_us step_p10_us step_p90_us
step_mean_us step_std_us step_times_faster infer_us infer_p10_us infer_p90_us infer_p99_us
infer_mean_us infer_std_us infer_times_faster compile_ms compile_cached_ms kernels code picked
break_even_steps break_even_steps_cached break_even_steps_extra break_even_runs
break_even_runs_cached peak_rss_mb peak_rss_compile_mb plan_mb temporaries_mb changing_programs
changing_compile_ms changing_run_us order test_accuracy outputs_diff loss_diff end_loss_diff
end_accuracy_diff failed_rss_mb wall_s reason last_line id""".split()
NEW_COLUMNS = set("""model step_spread_percent step_behind_percent step_against_fastest step_n
step_p99_us step_max_us step_tail step_scaling step_ns_per_edge infer_spread_percent
infer_behind_percent infer_against_fastest infer_n infer_max_us infer_tail infer_scaling
infer_ns_per_edge search_ms step_search_gain step_search_pays infer_search_gain infer_search_pays
step_launches step_operators step_fused infer_launches infer_operators infer_fused
changing_recompiles program group test_roc_auc test_hits_50 test_mrr""".split())
SHEETS = ["Answers", "Modes", "Training", "Inference", "Noise", "Tail", "Compiling", "Break-even",
          "Search", "Memory", "Kernels", "Threads", "Dynamic", "Sizes", "Agreement", "Errors",
          "Environment"]


def sheet_lines(book):
    """The texts of each sheet's first column."""
    def texts(e):
        return "".join(t.firstChild.data for t in e.getElementsByTagName("t") if t.firstChild)
    shared = [texts(s) for s in xml.dom.minidom.parseString(
        book.read("xl/sharedStrings.xml")).getElementsByTagName("si")]
    names = re.findall(r'<sheet name="([^"]*)"', book.read("xl/workbook.xml").decode())
    out = {}
    for k, name in enumerate(names):
        sheet = xml.dom.minidom.parseString(book.read(f"xl/worksheets/sheet{k + 1}.xml"))
        first = [row.getElementsByTagName("c")[0]
                 for row in sheet.getElementsByTagName("row") if row.getElementsByTagName("c")]
        out[name] = [shared[int(c.getElementsByTagName("v")[0].firstChild.data)]
                     for c in first if c.getAttribute("t") == "s"]
    return out


class Page(html.parser.HTMLParser):
    """Every element is closed; nothing is loaded from elsewhere."""
    VOID = {"meta", "br", "line", "rect", "circle"}

    def __init__(self):
        super().__init__()
        self.open, self.titles, self.charts, self.text = [], [], 0, ""

    def handle_starttag(self, tag, attrs):
        self.charts += tag == "svg"
        check(not {"src", "href", "xlink:href"} & {k for k, _ in attrs},
              f"<{tag}> refers to something: {attrs}")
        if tag not in self.VOID or (tag in ("rect", "circle")
                                    and not self.get_starttag_text().endswith("/>")):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, f"</{tag}> in {self.open}")
        self.open and self.open.pop()

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)


# The built-in graph, two modes, two numbers of threads.  What the environment says of caches is not
# the cells': neither kernels that are there nor a limit that nothing fits.
out = r.path("karate")
r.works("train", GCN, "-q", "--epochs", "1", "--cache-dir", r.path("base"))
os.environ.update(GNNC_CACHE_BASE=r.path("base"), GNNC_CACHE_SIZE="1K")
text = r.works("bench", GCN, "-o", out, "--modes", "eager,default", "--threads", "1,2")
del os.environ["GNNC_CACHE_BASE"], os.environ["GNNC_CACHE_SIZE"]
check("Long training: " in text and "Serving: " in text, f"no recommendations: {text}")
check(files(out) == FILES, f"files: {files(out)}")
rows = cells(out)
check([(c["threads"], c["mode"]) for c in rows] ==
      [(1, "eager"), (1, "default"), (2, "eager"), (2, "default")], "the grid")
for c in rows:
    name = f"{c['mode']}, {c['threads']} threads"
    check(c["status"] == "ok" and c["reason"] == "", f"{name}: {c['status']}, {c['reason']}")
    check(len(c["warm"]["infer_us"]) == 30 and len(c["warm"]["step_us"]) == 20, f"{name}: samples")
    check(len(c["warm"]["losses"]) == 25, f"{name}: losses")
    check(c["cold"]["kernels_cached"] == 0, f"{name}: compiled with a cache that was not empty")
    check(c["warm"]["kernels_cached"] == c["warm"]["kernels"] > 0,
          f"{name}: the second process found not all kernels")
    check(c["warm"]["rss_bytes"] > c["warm"]["plan_bytes"] > c["warm"]["arena_bytes"] > 0,
          f"{name}: memory")
    check(c["step_us"]["n"] == 20 and c["step_us"]["median"] == sorted(c["warm"]["step_us"])[9] / 2
          + sorted(c["warm"]["step_us"])[10] / 2, f"{name}: median")
    check(c["against"]["mode"] == "eager", f"{name}: baseline")
    if c["mode"] == "default":
        check(0 < c["against"]["logits_diff"] <= 1e-5,
              f"{name}: outputs differ by {c['against']['logits_diff']}")
        gain = rows[0 if c["threads"] == 1 else 2]["step_us"]["median"] - c["step_us"]["median"]
        even = c["against"]["break_even_step"]
        check((even is None) == (gain <= 0), f"{name}: break-even {even}, a step gains {gain}")
        check(even is None or abs(even - c["cold"]["compile_ms"] * 1e3 / gain) <= 1,
              f"{name}: break-even {even}")
# One thread or two: the same bits.
check(rows[0]["warm"]["losses"] == rows[2]["warm"]["losses"], "losses depend on threads")
check(rows[1]["warm"]["code"] == rows[3]["warm"]["code"] != rows[0]["warm"]["code"], "code")

with open(os.path.join(out, "results.csv"), newline="", encoding="utf-8") as f:
    table = list(csv.DictReader(f))
check(len(table) == 4 and all(t["status"] == "ok" and float(t["step_us"]) > 0 for t in table),
      "results.csv")
check([float(t["infer_us"]) for t in table] ==
      [float(f"{c['infer_us']['median']:.9g}") for c in rows], "csv against json")
config = json.load(open(os.path.join(out, "config.json"), encoding="utf-8"))
check(config["grid"]["threads"] == [1, 2] and config["measuring"]["repeat"] == 30, "config.json")
page = Page()
page.feed(open(os.path.join(out, "report.html"), encoding="utf-8").read())
advice = open(os.path.join(out, "recommendations.txt"), encoding="utf-8").read()
verdict = advice.split("\n\n")[0]
check(all(line.count("Use ") == 1 and " takes " in line for line in verdict.split("\n")),
      f"what to use comes first: {verdict}")
check(f'<p class="verdict">{verdict}' in open(os.path.join(out, "report.html"),
                                              encoding="utf-8").read(), "the page begins with it")
check(not page.open and page.charts >= 7, f"report.html: {page.open}, {page.charts} charts")
check({"Recommendations", "Training", "Memory"} <= set(page.titles), f"report.html: {page.titles}")
check(page.text.count("without gnnc's eager") == 2 or not all(
    e["step_us"]["median"] > 2 * d["step_us"]["median"] and e["infer_us"]["median"] >
    2 * d["infer_us"]["median"] for e, d in (rows[0:2], rows[2:4])), "no chart without eager")
check([c for c in table[0] if c in OLD_COLUMNS] == OLD_COLUMNS
      and set(table[0]) - set(OLD_COLUMNS) == NEW_COLUMNS,
      f"results.csv: {list(table[0])}")
COLUMNS = list(table[0])
check({t["model"] for t in table} == {"gcn"}
      and [t["group"] for t in table] == ["eager", "default"] * 2, "model, group")
if os.path.exists(os.path.join(out, "report.xlsx")):
    book = zipfile.ZipFile(os.path.join(out, "report.xlsx"))
    check(book.testzip() is None, "report.xlsx: a damaged member")
    for name in book.namelist():
        if name.endswith((".xml", ".rels")):
            xml.dom.minidom.parseString(book.read(name))
    sheets = re.findall(r'<sheet name="([^"]*)"', book.read("xl/workbook.xml").decode())
    check(sheets == SHEETS, f"sheets: {sheets}")
    for name, lines in sheet_lines(book).items():
        check(lines[0].endswith("?") and len(lines) > 1 and lines[1][-1] in ".:",
              f"sheet {name}: {lines[:2]}")

# What is there is not measured over, and not again.
r.fails(2, "holds results already: --resume goes on", "bench", GCN, "-o", out)
left = [os.path.join(out, "cells", name)
        for name in ("0123456789abcdef.measured.outputs.77-0.tmp", "0123456789abcdef.cache")]
# what a cell leaves that was killed while it wrote, and a bench that was killed with its cell
open(left[0], "w").close()
os.mkdir(left[1])
again = r.run("bench", GCN, "-o", out, "--modes", "eager,default", "--threads", "1,2", "--resume")
check(not any(map(os.path.exists, left)), "resume: what killed processes left is there")
check(again.returncode == 0 and b"4 of 4 cells are there already" in again.stderr,
      f"resume: {again.stderr}")
check(b"[1/" not in again.stderr, "resume: cells were run again")
check([c["warm"] for c in cells(out)] == [c["warm"] for c in rows], "resume: other samples")
# Other settings, other cells: a mode more needs the baseline's outputs again.
more = r.run("bench", GCN, "-o", out, "--modes", "eager,default,2", "--threads", "1", "--resume")
check(b"2 of 3 cells are there already" in more.stderr and more.stderr.count(b"\n[") == 2,
      f"one more: {more.stderr}")
check([c["status"] for c in cells(out)] == ["ok"] * 3, "one more")
# A baseline that ended badly and runs again: what ended well without it is run again, too, and
# compared.
for c in cells(out):
    with open(os.path.join(out, "cells", c["id"] + ".json"), encoding="utf-8") as f:
        kept = json.load(f)
    kept.update({"against": None},
                **({"status": "timeout", "timeout_s": 1} if c["mode"] == "eager" else {}))
    with open(os.path.join(out, "cells", c["id"] + ".json"), "w", encoding="utf-8") as f:
        json.dump(kept, f)
late = r.run("bench", GCN, "-o", out, "--modes", "eager,default", "--threads", "1", "--resume")
check(b"1 of 2 cells are there already" in late.stderr, f"a baseline that is late: {late.stderr}")
check([c["status"] for c in cells(out)] == ["ok"] * 2, "a baseline that is late")
check(cells(out)[1]["against"]["logits_diff"] is not None, "a baseline that is late: not compared")
other = r.run("bench", GCN, "-o", out, "--modes", "eager", "--threads", "1", "-D", "hidden=8",
              "--resume", *QUICK)
check(b"0 of 1 cells are there already" in other.stderr, f"other settings: {other.stderr}")

# Cells that fail are rows: data that is missing, a time limit.
out = r.path("failing")
end = r.run("bench", GCN, "-o", out, "--data",
            "nowhere,synthetic:nodes=1000000,edges=40000000,features=64", "--modes",
            "eager,default", "--threads", "1", "--timeout", "1", *QUICK)
text, rows = end.stdout.decode(), cells(out)
check(end.returncode == 1 and b"no cell ended well; the first: cannot open 'nowhere'" in end.stderr,
      f"failing: {end.stderr}")
check([c["status"] for c in rows] == ["error", "error", "timeout", "timeout"],
      f"failing: {[c['status'] for c in rows]}")
check(all("nowhere" in c["reason"] and "nowhere" in c["last_line"] for c in rows[:2]),
      f"reasons: {rows[0]['reason']}")
check("not done after 1 s" in rows[2]["reason"] and "Not eager: timeout" in text,
      f"timeout: {rows[2]['reason']}")
check(files(out) == FILES, f"failing: files: {files(out)}")
page = Page()
page.feed(open(os.path.join(out, "report.html"), encoding="utf-8").read())
check(not page.open and "What did not end well, and why?" in page.titles, f"failing: {page.titles}")

# Settings of dynamic shapes: the same results, and graphs that change take one program, some, or
# one each.
out = r.path("dynamic")
text = r.works("bench", GCN, "-o", out, "--modes", "eager,default", "--dynamic", "true,auto,false",
               "--threads", "1", *QUICK)
rows = {(c["mode"], c["dynamic"]): c for c in cells(out)}
check(len(rows) == 6 and all(c["status"] == "ok" for c in rows.values()),
      f"dynamic: {[c['reason'] for c in rows.values()]}")
check("Graphs that change: " in text, f"dynamic: {text}")
for mode in ("eager", "default"):
    true, auto, false = (rows[mode, d]["changing"] for d in ("true", "auto", "false"))
    check(true["batches"] == 40 and true["programs"] == 1 and true["recompiles"] == 0,
          f"dynamic=true: {true}")
    check(1 < auto["programs"] <= 3 < false["programs"], f"dynamic: {auto}, {false}")
    check(rows[mode, "auto"]["warm"]["code"] == rows[mode, "false"]["warm"]["code"],
          "auto and false on one graph")
    check(rows[mode, "true"]["warm"]["losses"] == rows[mode, "auto"]["warm"]["losses"],
          "dynamic: other bits")
r.fails(2, "--dynamic: unknown value 'ture'; did you mean 'true'?", "bench", GCN, "--dynamic",
        "ture", "-o", r.path("none"))

# What runs the same program is one row for people, and keeps its cell: on one thread
# reduce-overhead does what default does.
out = r.path("same")
text = r.works("bench", GCN, "-o", out, "--modes", "eager,default,reduce-overhead", "--threads",
               "1", *QUICK)
rows = cells(out)
check(rows[1]["warm"]["program"] == rows[2]["warm"]["program"] != rows[0]["warm"]["program"],
      "programs on one thread")
check([c["group"] for c in rows] == ["eager"] + ["default = reduce-overhead"] * 2,
      f"groups: {[c['group'] for c in rows]}")
check("Long training: default = reduce-overhead\n" in text and "Use default: " in text,
      f"one row: {text}")
with open(os.path.join(out, "tables.md"), encoding="utf-8") as f:
    table = f.read()
check("| default = reduce-overhead |" in table and "| reduce-overhead |" not in table,
      "one row in tables.md")
# Where a run is one parallel region, which takes two threads and a graph that is worth them, they
# are two.
out = r.path("apart")
r.works("bench", GCN, "-o", out, "--data",
        "synthetic:nodes=20000,edges=200000,features=64,classes=7", "--what", "eval", "--modes",
        "default,reduce-overhead", "--threads", "2", *QUICK)
rows = cells(out)
check(rows[0]["warm"]["code"] == rows[1]["warm"]["code"], "the same kernels")
check([c["group"] for c in rows] == ["default", "reduce-overhead"],
      f"groups on two threads: {[c['group'] for c in rows]}")

# Several models: one more axis.  A folder of one model may grow; a cell has the key that it has
# alone.
out = r.path("models")
GAT, SAGE = (os.path.join(runs.SAMPLES, name + ".gnn") for name in ("gat", "sage"))
QUICKEST = ("--modes", "eager,default", "--threads", "1", *QUICK)
r.works("bench", GCN, "-o", out, *QUICKEST)
alone = cells(out)
more = r.run("bench", GCN, GAT, SAGE, "-o", out, *QUICKEST, "--resume")
check(more.returncode == 0 and b"2 of 6 cells are there already" in more.stderr,
      f"more models: {more.stderr}")
check(more.stderr.count(b"gat karate ") == 2, f"more models: progress: {more.stderr}")
rows = cells(out)
check([(os.path.basename(c["model"]), c["mode"]) for c in rows] ==
      [(m + ".gnn", mode) for m in ("gcn", "gat", "sage") for mode in ("eager", "default")],
      "more models: the grid")
check([c["warm"] for c in rows[:2]] == [c["warm"] for c in alone],
      "more models: the first was measured again")
check([c["warm"]["model"] for c in rows[::2]] == ["GCN", "GAT", "GraphSAGE"],
      f"models: {[c['warm']['model'] for c in rows]}")
check(all(c["status"] == "ok" and c["against"]["mode"] == "eager" for c in rows),
      "more models: status")
lines = more.stdout.decode().split("\n\n")[0].split("\n")
check([line.split(": ")[0] for line in lines] == ["gcn", "gat", "sage", "All models"],
      f"a line a model: {lines}")
with open(os.path.join(out, "results.csv"), newline="", encoding="utf-8") as f:
    table = list(csv.DictReader(f))
check([t["model"] for t in table] == ["gcn"] * 2 + ["gat"] * 2 + ["sage"] * 2,
      "more models: results.csv")
check(list(table[0]) == COLUMNS, "more models: columns")
page = Page()
page.feed(open(os.path.join(out, "report.html"), encoding="utf-8").read())
check(not page.open and "gat on karate" in page.text, "more models: report.html")
check(len(json.load(open(os.path.join(out, "config.json"), encoding="utf-8"))["models"]) == 3,
      "more models: config.json")
again = r.run("bench", GCN, GAT, SAGE, "-o", out, *QUICKEST, "--resume")
check(b"6 of 6 cells are there already" in again.stderr and b"[1/" not in again.stderr,
      f"more models: {again.stderr}")
# One that is none is named, and nothing is run.
bad = r.write("bad.gnn", "model M() (g: graph, x: node[F]) -> node[4] {\n  return lim(x)\n}\n")
torn = r.write("torn.gnn", "model M( {\n")
twin = r.path("twin.gnn")
shutil.copy(GCN, twin)
for code, second, said in (
        (1, bad, f"{bad}: nothing was run, for this is no model"),
        (1, bad, "nothing is named `lim` here"), (1, torn, f"{torn}: nothing was run"),
        (3, r.path("none.gnn"), "none.gnn: No such file"), (2, GCN, "are the same model"),
        (2, twin, f"'{twin}' are the same model")):
    r.fails(code, said, "bench", GCN, second, "-o", r.path("none"), *QUICKEST)
r.fails(2, "--weights: of one model alone", "bench", GCN, GAT, "--weights", "w.safetensors", "-o",
        r.path("none"))
r.fails(2, "--cell measures one cell", "bench", GCN, GAT, "--cell", r.path("cell"), *QUICKEST)
check(not os.path.exists(r.path("none")), "a folder was made for nothing")
# On one data alone it may be no model: rows, as of one model.
narrow = r.write("narrow.gnn",
                 "model M() (g: graph, x: node[34]) -> node[C] {\n  return Linear(C)(x)\n}\n")
end = r.run("bench", narrow, SMALL, "-o", r.path("narrow"), "--data",
            "synthetic:nodes=50,edges=90,features=8,classes=4", *QUICKEST)
check(end.returncode == 0 and [c["status"] for c in cells(r.path("narrow"))] == ["error"] * 2 +
      ["ok"] * 2, f"narrow: {end.stderr}")

# Memory that runs out.  Not where a sanitizer wants more of the address space than the limit
# leaves.
def limited(*args):
    return subprocess.run([r.gnnc, *args], capture_output=True, timeout=300, preexec_fn=lambda:
                          resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20)))


if limited("run", GCN, "-q").returncode == 0:
    out = r.path("memory")
    end = limited("bench", GCN, "-o", out, "--data",
                  "synthetic:nodes=40000000,edges=100,features=64,classes=2", "--modes", "default",
                  "--threads", "1")
    check(end.returncode == 1 and [c["status"] for c in cells(out)] == ["out of memory"],
          f"memory: {end.stderr}")

# Inference alone, and compilation alone.
out = r.path("eval")
r.works("bench", GCN, "-o", out, "--what", "eval", "--modes", "eager,default", "--threads", "1",
        *QUICK)
check(all(c["status"] == "ok" and c["step_us"] is None and c["infer_us"]["n"] == 6
          for c in cells(out)), "inference alone")
out = r.path("compile")
r.works("bench", GCN, "-o", out, "--compile-only", "--modes", "eager,default", "--threads", "1")
check(all(c["status"] == "ok" and c["infer_us"] is None and c["warm"]["compile_ms"] > 0
          for c in cells(out)), "compile only")
# --json prints what results.json holds.
text = r.works("bench", GCN, "-o", out, "--compile-only", "--modes", "eager,default", "--threads",
               "1", "--resume", "--json", "-q")
check(json.loads(text)["cells"] == cells(out), "--json")


# Data without labels: inference alone, but where a training step is asked for.
files_of.write_npz(r.path("plain.npz"),
                   {"edge_index": ("q", (2, 2), [0, 1, 1, 0]), "x": ("f", (2, 2), [1, 0, 0, 1])})
out = r.path("plain")
r.works("bench", SMALL, "-o", out, "--data", r.path("plain.npz"), "--modes", "eager", "--threads",
        "1", *QUICK)
check([(c["status"], c["step_us"]) for c in cells(out)] == [("ok", None)],
      f"no labels: {cells(out)[0]['reason']}")
end = r.run("bench", SMALL, "-o", out, "--data", r.path("plain.npz"), "--modes", "eager",
            "--threads", "1", "--what", "step", "--resume", *QUICK)
check(end.returncode == 1 and "has no labels" in cells(out)[0]["reason"],
      f"no labels, a step: {end.stderr}")

# A device that is not there is a row with its reason; auto does without.
os.environ["GNNC_CUDA_DRIVER"] = "/nowhere/libcuda.so.1"
out = r.path("device")
end = r.run("bench", SMALL, "-o", out, "--modes", "eager,default", "--threads", "1", "--device",
            "cuda", *QUICK)
check(end.returncode == 4, f"no device: exit status {end.returncode}, {end.stderr}")
check([c["status"] for c in cells(out)] == ["error"] * 2,
      f"no device: {[c['status'] for c in cells(out)]}")
check("the CUDA driver cannot be loaded: /nowhere/libcuda.so.1" in cells(out)[1]["reason"],
      f"no device: {cells(out)[1]['reason']}")
r.works("bench", SMALL, "-o", out, "--modes", "eager", "--threads", "1", "--device", "auto",
        "--resume", *QUICK)
check([(c["status"], c["warm"]["device"]) for c in cells(out)] == [("ok", "cpu")], "--device auto")
check(json.load(open(os.path.join(out, "config.json"), encoding="utf-8"))["device"] == "auto",
      "the device in config.json")
del os.environ["GNNC_CUDA_DRIVER"]

# Names of any bytes and any length: files stay what they are, the workbook's sheets XML with whole
# characters.
strange = os.path.join(r.folder.encode(), b"m\xff.gnn")
shutil.copy(SMALL, strange)
long_name = "x" + "\u00e9" * 40000
out = r.path("strange")
subprocess.run([r.gnnc, "bench", strange, "-o", out, "--data", long_name + ",nowhere", "--modes",
                "eager", "--threads", "1"], capture_output=True, timeout=300, check=False)
check(cells(out)[0]["data"] == long_name, "a long name in results.json")
if os.path.exists(os.path.join(out, "report.xlsx")):
    book = zipfile.ZipFile(os.path.join(out, "report.xlsx"))
    texts = []
    for name in book.namelist():
        if name.endswith((".xml", ".rels")):
            texts += [t.firstChild.data for t in xml.dom.minidom.parseString(book.read(name))
                      .getElementsByTagName("t") if t.firstChild]
    check(long_name[:32767] in texts, "a long name in the workbook")
    check(any(t.endswith("m\ufffd.gnn") for t in texts), "bytes that are no text in the workbook")


def processes_of(pid):
    """The cell that is running: the child, by its arguments."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def start(out, *args):
    return subprocess.Popen([r.gnnc, "bench", GCN, "-o", out, "--modes",
                             "eager,default,reduce-overhead", "--threads", "1", "--epochs",
                             "50000", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_cell(p, done):
    """Until so many cells are done and another is in its process."""
    out = p.args[p.args.index("-o") + 1]
    for _ in range(3000):
        ended = [f for f in os.listdir(os.path.join(out, "cells"))
                 if f.endswith(".json")] if os.path.isdir(os.path.join(out, "cells")) else []
        if len(ended) >= done and processes_of(p.pid):
            return processes_of(p.pid)[0]
        time.sleep(0.01)
    raise RuntimeError("no cell came to run")


if os.path.exists("/proc/self/task"):
    # A cell that crashes, one that is killed: rows, and the rest goes on.
    out = r.path("crash")
    p = start(out)
    os.kill(wait_for_cell(p, 1), signal.SIGABRT)
    os.kill(wait_for_cell(p, 2), signal.SIGKILL)
    p.communicate(timeout=300)
    rows = cells(out)
    check(p.returncode == 0, f"crash: exit status {p.returncode}")
    check([c["status"] for c in rows] == ["ok", "crash", "killed"],
          f"crash: {[c['status'] for c in rows]}")
    check("signal 6" in rows[1]["reason"] and "out of memory" in rows[2]["reason"],
          f"crash: {rows[2]['reason']}")

    # Interrupted: what is done is written, the cell that ran is gone, and --resume does the rest.
    out = r.path("interrupted")
    p = start(out)
    cell = wait_for_cell(p, 1)
    r.fails(2, f"another gnnc bench is at work in {out}", "bench", GCN, "-o", out, "--resume",
            "--modes", "eager", "--threads", "1", *QUICK)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=300)[1].decode()
    rows = cells(out)
    check(p.returncode == 130 and "--resume goes on" in said,
          f"interrupted: {p.returncode}, {said}")
    check([c["status"] for c in rows] == ["ok", "not run", "not run"],
          f"interrupted: {[c['status'] for c in rows]}")
    check(files(out) == FILES and not os.path.exists(f"/proc/{cell}"),
          "interrupted: files, or the cell lives on")
    p = start(out, "--resume")
    said = p.communicate(timeout=300)[1].decode()
    check("1 of 3 cells are there already" in said
          and [c["status"] for c in cells(out)] == ["ok"] * 3, f"going on: {said}")
    check(cells(out)[1]["against"]["logits_diff"] is not None, "going on: not compared")

    # Killed outright: its cell goes with it.
    out = r.path("killed")
    p = start(out)
    cell = wait_for_cell(p, 1)
    p.kill()
    p.communicate(timeout=300)
    for _ in range(500):
        if (not os.path.exists(f"/proc/{cell}")
            or " Z " in open(f"/proc/{cell}/stat", encoding="ascii").read()):
            break
        time.sleep(0.01)
    else:
        check(False, "killed: the cell lives on")
    p = start(out, "--resume")
    said = p.communicate(timeout=300)[1].decode()
    check("1 of 3 cells are there already" in said
          and [c["status"] for c in cells(out)] == ["ok"] * 3, f"killed: {said}")

# Options.
for what, *args in (
    ("--modes: unknown value 'defualt'; did you mean 'default'?", "--modes", "defualt"),
    ("--modes: an entry of the list is empty", "--modes", "eager,"),
    ("--threads: 'x' is not a whole number", "--threads", "x"),
    ("--threads: '1' is there twice", "--threads", "1,1"),
    ("--data: 'a' is there twice", "--data", "a,a"),
    ("--timeout: 0 is below 1", "--timeout", "0"),
    ("--repeat: 0 is below 1", "--repeat", "0"),
    ("--cache-dir: cells have caches of their own", "--cache-dir", r.path("cache")),
    ("--cell measures one cell", "--cell", r.path("cell"), "--modes", "eager,default"),
    ("--device cude: expected cpu, cuda, cuda:N or auto; did you mean 'cuda'?", "--device", "cude"),
    ("--device cuda: one setting of --dynamic alone", "--device", "cuda", "--dynamic",
     "true,false"),
    ("'bench' takes no option --mode; it belongs to", "--mode", "eager"),
):
    r.fails(2, what, "bench", GCN, "-o", r.path("none"), *args)
r.fails(3, "No such file", "bench", r.path("none.gnn"), "-o", r.path("none"))
r.fails(3, "No such file", "bench", GCN, "-o", r.path("no/such/folder"))
check(not os.path.exists(r.path("none")), "a folder was made for nothing")
r.done()
