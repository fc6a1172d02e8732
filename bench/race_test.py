#!/usr/bin/env python3
"""Tests of the harness with a fake gnnc, fake peers and a fake compiler: `python3
bench/race_test.py`. Standard library only."""
import contextlib
import gzip
import importlib.util
import io
import json
import os
import pathlib
import shutil
import struct
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "race"))
import ablation  # noqa: E402
import cases  # noqa: E402
import contenders  # noqa: E402
import duel  # noqa: E402
import hands  # noqa: E402
import machine  # noqa: E402
import peers  # noqa: E402
import race  # noqa: E402
import report  # noqa: E402
import table  # noqa: E402


def module_of(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


main = module_of("race_main", HERE / "race" / "__main__.py")
aggregate = module_of("aggregate", HERE / "aggregate.py")

# Times of a step: 100 us; on one thread 150; without "fuse" 250; tuned 80. Logits are 1, 2, 3.
FAKE_GNNC = """\
    import json, sys
    words = sys.argv[1:]
    value = lambda key, default=None: words[words.index(key) + 1] if key in words else default
    if words == ["--version"]:
        print("gnnc 0.0 (fake)")
    elif words[:2] == ["opt", "--list"]:
        print("passes, in order (* cannot be left out)\\n  factor            takes out\\n"
              "  sparsify        * turns\\ndecisions\\n  fuse              joins")
    elif "broken" in words:
        sys.stderr.write("gcn.gnn:1:1: it is broken\\n")
        sys.exit(1)
    elif "mute" in words:
        print("nothing")
    else:
        if value("--save") or value("--predictions"):
            sys.path.insert(0, {race!r})
            import cases, struct, zipfile
        if value("--save"):
            cases.write_safetensors(__import__("pathlib").Path(value("--save")),
                                    {{"w": ([2], struct.pack("<2f", 5, 6))}})
        if value("--predictions"):
            with zipfile.ZipFile(value("--predictions"), "w") as archive:
                classes = "gather_" not in words[1]  # what has none is written as `out`
                cases.write_npy(archive, "logits" if classes else "out", "<f4", (1, 3),
                                struct.pack("<3f", 1, 2, 3))
        plain = value("--without") == "fuse" or value("-O")
        us = 80 if value("-O") == "max-autotune" else 250 if plain else 100
        us = us * 1.5 if words.count("--threads") > 1 else us
        key = {{"train": "step_us", "run": "infer_us"}}[words[0]]
        print(json.dumps({{key: {{"median": us, "p10": us - 5, "p90": us + 5}}, "compile_ms": 50,
                          "prepare_ms": 1, "peak_bytes": 2000000, "runs": [{{"loss": 1.5}}]}}))
"""
FAKE_DUMP = """\
    import json, pathlib, struct, sys
    if "missing" in sys.argv[1]:
        sys.exit("no such data")
    folder = pathlib.Path(sys.argv[2])
    folder.joinpath("meta.json").write_text(
        json.dumps(dict(nodes=1, edges=2, features=3, classes=3, sparse=False)))
    for name, raw in (("src.i32", b"\\0" * 8), ("dst.i32", b"\\0" * 8), ("x.f32", b"\\0" * 12)):
        folder.joinpath(name).write_bytes(raw)
"""
# What a peer says depends on the form that it is asked for.
FAKE_PEER = """\
    import json, os, sys, time
    words = sys.argv[1:]
    value = lambda key, default=None: words[words.index(key) + 1] if key in words else default
    form = "dgl" if os.path.basename(sys.argv[0]) == "dgl_peer.py" else value("--form", "coo")
    mode = value("--compile", "")
    if form == "csr":
        print(json.dumps(dict(error="NotImplementedError: no such form")), flush=True)
        sys.exit(0)
    if mode == "default:true":
        sys.stderr.write("Segmentation fault, says the peer")
        sys.exit(139)
    if mode == "default:false":
        time.sleep(60)
    kept = "MALLOC_TRIM_THRESHOLD_" in os.environ
    us = dict(coo=1000.0, dgl=400.0, plain=300.0, manual=200.0)[form]
    us = (1.0 if kept else 1.25) * us * (0.5 if mode else 1.0)
    difference = 0.5 if mode == "max-autotune:auto" else 1e-7
    losses = [9.0, 2.5] if mode == "max-autotune:false" else [9.0, 1.5]
    first = 3.0005 if mode else 0.002
    if mode and os.path.exists(os.environ["TORCHINDUCTOR_CACHE_DIR"]):
        first = 1.0005
    elif mode:
        os.makedirs(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    losses = losses * 1 if value("--check-steps") == "2" else [9, 9, 9, 9] + losses[1:]
    print(json.dumps(dict(first_s=first, second_s=0.0005, losses=losses, difference=difference,
                          rss=7 << 20, versions=dict(torch="9.9"), arguments=words)), flush=True)
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        count = int(line.split()[1])
        cpu = 0.5 if form == "plain" else 1.0
        print(json.dumps(dict(us=[us] * count, cpu=cpu, rss=8 << 20)), flush=True)
"""
# Stands for a compiler: what it "compiles" answers as a hand-written program does.
FAKE_CC = """\
    import pathlib, sys
    source = [w for w in sys.argv if w.endswith(".c")][0]
    out = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
    name = pathlib.Path(source).stem
    if name == "hand_gat":
        sys.exit("hand_gat.c:1: error: it is broken")
    body = dict(ceilings="print('{{\\"1\\": {{\\"read_l2_gbs\\": 249, \\"fma512_gflops\\": 281, "
                         "\\"read_dram_gbs\\": 41}}}}')",
                roundtrip="print('{{\\"median_ns\\": 85, \\"p10_ns\\": 80, "
                          "\\"p90_ns\\": 90}}')").get(name)
    if not body:
        body = "import json\\n"
        body += "print('{{\\"difference\\": 1e-8, \\"losses\\": [9, 9, 9, 9, 1.5]}}', "
        body += "flush=True)\\n"
        body += "for line in iter(input, 'quit'):\\n"
        body += "    told = dict(us=[50.0] * int(line.split()[1]), cpu=1.0, rss=4000000)\\n"
        body += "    print(json.dumps(told), flush=True)"
    out.write_text("#!{python}\\n" + body + "\\n")
    out.chmod(0o755)
"""
TABLE = """\
# name model data what p t options peers hand goals
plain       gcn cora infer 0 1 hidden=16 pyg,pyg-csr,dgl,dgl+plain,expert,expert-manual \
hand_gcn:infer best>=3,hand<=1.5,tuned<=1.7,memory<=0.5
step        gcn cora train 0 1 hidden=16 \
pyg,compile:default:auto,compile:default:true,compile:max-autotune:auto,\
compile:max-autotune:false - best>=6
both        gcn cora train 0.5 2 - none - two>=1.4
hand-less   gat cora train 0 1 - none hand_gat:train hand<=1.1
weights     gather_weight_scatter weighted infer 0 1 - none - grows<=2:plain
gone        gcn gone infer 0 1 - none - -
data cora synthetic:nodes=1,edges=2
data weighted weighted:cora
data gone some/missing
"""


class Fakes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        head = f"#!{sys.executable} -IS\n"
        self.gnnc = self.script("gnnc",
                                head + textwrap.dedent(FAKE_GNNC).format(race=str(HERE / "race")))
        self.script("bench_dump", head + textwrap.dedent(FAKE_DUMP))
        self.cc = self.script("cc", head + textwrap.dedent(FAKE_CC).format(python=sys.executable))
        self.python = self.script(
            "python", f'#!/bin/sh\n[ "$1" = -c ] && exit 0\nexec {sys.executable} -IS "$@"\n')
        for name in ("pyg.py", "dgl_peer.py", "expert.py"):
            self.script(f"peers/{name}", textwrap.dedent(FAKE_PEER))
        self.script("table.txt", TABLE)
        self.out = self.folder / "out"

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def race(self, *words):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = main.main(["--gnnc", self.gnnc, "--cc", self.cc, "--table",
                                str(self.folder / "table.txt"), "--pyg-python", self.python,
                                "--dgl-python", self.python, "--scripts",
                                str(self.folder / "peers"), "--out", str(self.out), "--rounds", "2",
                                "--block", "0.001", *words])
        return status, out.getvalue(), errors.getvalue()

    def result(self, name):
        return json.loads((self.out / f"{name}.json").read_text())

    def page(self):
        return (self.out / "README.md").read_text()


class RaceTest(Fakes):
    def test_peers_and_hand(self):
        status, out, _ = self.race("plain")
        self.assertEqual(status, 0)
        rows = self.result("plain")["rows"]
        self.assertEqual(rows["gnnc"]["median"], 100)
        self.assertEqual(rows["gnnc"]["planned"], 2000000)
        self.assertEqual(rows["pyg"]["ratio"], 10)
        self.assertEqual(rows["pyg"]["blocks"], 2)
        self.assertEqual(rows["pyg"]["rss"], 8 << 20)
        self.assertEqual(rows["dgl"]["ratio"], 4)
        self.assertEqual(rows["dgl+plain"]["ratio"], 5)
        self.assertIn("no such form", rows["pyg-csr"]["failed"])
        self.assertEqual(rows["by hand"]["ratio"], 0.5)
        # 50 us where the same machine took 40
        self.assertTrue(rows["by hand"]["yardstick"] is False)
        self.assertEqual(rows["gnnc tuned"]["ratio"], 0.8)
        self.assertIn("at least 3 × the best peer: 4.00, yes", out)
        self.assertIn("at most 1.5 × by hand: 2.00 (no yardstick here), –", out)
        self.assertRegex(out, r"resident at most 0.5 × the least of a peer: \d")
        page = self.page()
        for text in ("# Race", "NotImplementedError: no such form", "(2.0 planned)",
                     "busy: had the processor for 50%", "torch 9.9", "logits agree to 1e-07",
                     "no yardstick: 0.0400 ms expected here",
                     "| dgl | 0.4000 | 4.00 | 5.00 | 2.00 |"):
            self.assertIn(text, page)

    def test_compilers_failures_and_checks(self):
        status, out, _ = self.race("step", "--timeout", "20")
        self.assertEqual(status, 0)
        rows = self.result("step")["rows"]
        compiled = rows["compile:default:auto"]
        self.assertEqual(compiled["ratio"], 5)
        self.assertAlmostEqual(compiled["compile_cold_s"], 3.0)
        self.assertAlmostEqual(compiled["compile_warm_s"], 1.0)
        self.assertEqual(compiled["pays_after"], int(3.0 / 500e-6) + 1)
        self.assertEqual(rows["gnnc"]["pays_after"], int(0.051 / 900e-6) + 1)
        self.assertIn("status 139", rows["compile:default:true"]["failed"])
        self.assertIn("Segmentation fault", rows["compile:default:true"]["failed"])
        self.assertIn("logits differ by 5.0e-01", rows["compile:max-autotune:auto"]["wrong"])
        self.assertIn("loss after 5 steps is 2.5", rows["compile:max-autotune:false"]["wrong"])
        # those who compute something else do not count
        self.assertIn("at least 6 × the best peer: 5.00, **no**", out)
        self.assertIn("--dropout 0.0 --hidden 16 --layers 2",
                      " ".join(compiled["about"]["arguments"]))

    def test_a_peer_that_hangs(self):
        _, _, errors = self.race("plain", "--peers", "compile:default:false", "--timeout", "1")
        self.assertIn("no answer within 1 s", errors)
        self.assertIn("no answer within 1 s",
                      self.result("plain")["rows"]["compile:default:false"]["failed"])

    def test_two_threads(self):
        self.race("both")
        result = self.result("both")
        self.assertEqual(result["rows"]["gnnc, one thread"]["ratio"], 1.5)
        self.assertEqual([trip["median_ns"] for trip in result["round_trip"]], [85, 85])
        self.assertIn("Round trip between two cores around the batch: 85 ns and 85 ns", self.page())
        self.assertIn("two threads at least 1.4 × one: 1.50, yes", self.page())

    def test_programs_compile_everywhere(self):
        """With every compiler that the harness may find, not only with the one that it finds
        first."""
        paths = {name: shutil.which(name) for name in machine.COMPILERS}
        found = list(
            {os.path.realpath(path): name for name, path in paths.items() if path}.values())
        self.assertTrue(found)
        for name in found:
            programs = machine.Programs(self.folder / f"by-{name}", name)
            self.assertIn(name, programs.version())
            for source in sorted((machine.ROOT / "bench" / "c").glob("*.c")):
                if source.stem == "dump":  # gnnc's own, compiled with it
                    continue
                self.assertIsNotNone(programs.get(source.stem), programs.why.get(source.stem))

    def test_goes_on_after_what_fails(self):
        status, _, errors = self.race()
        self.assertEqual(status, 0)
        self.assertIn("some/missing is not here", self.result("gone")["failed"])
        self.assertIn("it is broken", self.result("hand-less")["rows"]["by hand"]["failed"])
        self.assertIn("**hand-less: by hand is missing**", self.page())
        self.assertIn("it is broken",
                      self.page().split("**hand-less: by hand is missing**")[1].splitlines()[0])
        self.assertIn("WARNING: hand-less: nothing to compare with by hand", errors)
        self.assertIn("at most 2 × plain: 1.00, yes", self.page())
        self.assertTrue((self.out / "machine.json").exists())

    def test_resume_and_report(self):
        self.race("gone")
        before = (self.out / "gone.json").stat().st_mtime_ns
        _, _, errors = self.race("gone", "both", "--resume")
        self.assertEqual(before, (self.out / "gone.json").stat().st_mtime_ns)
        self.assertNotIn("gone (", errors)
        (self.out / "README.md").unlink()
        self.assertEqual(self.race("--report")[0], 0)
        self.assertRegex(self.page(), r"## both\n\n.*, gnnc at \S+\.\n")

    def test_time_that_is_over(self):
        _, _, errors = self.race("plain", "both", "--minutes", "0")
        self.assertIn("the time is over", errors)
        self.assertFalse((self.out / "both.json").exists())

    def test_ablation(self):
        status, out, _ = self.race("--ablation", "both")
        self.assertEqual(status, 0)
        self.assertIn("| fuse | 0.2500 | 2.50 (2.50 – 2.50) |", out)
        self.assertIn("| -O eager | 0.2500 |", out)
        self.assertIn("Less than 2 % here: factor.", out)
        self.assertNotIn("sparsify", out)

    def test_failures_of_gnnc(self):
        status, _, errors = self.race("plain", "--gnnc-arg", "broken")
        self.assertEqual(status, 1)
        self.assertIn("gcn.gnn:1:1: it is broken", errors)
        _, _, errors = self.race("plain", "--gnnc-arg", "mute")
        self.assertIn("no JSON: nothing", errors)
        self.assertEqual(self.race("plain", "--gnnc", "/nonexistent/gnnc")[0], 1)
        status, _, errors = self.race("nothing-*")
        self.assertEqual(status, 1)
        self.assertIn("no workload fits 'nothing-*'", errors)

    def test_list(self):
        status, out, _ = self.race("--list", "b*")
        self.assertEqual((status, out.split()[0]), (0, "both"))

    def test_no_environment(self):
        self.race("plain", "--dgl-python", "/nonexistent/python", "--peers", "pyg,dgl")
        rows = self.result("plain")["rows"]
        self.assertIn("/nonexistent/python", rows["dgl"]["failed"])
        self.assertEqual(rows["pyg"]["ratio"], 10)


class PartsTest(unittest.TestCase):
    def test_precision(self):
        command = peers.peer("pyg").command("python3", table.read(HERE / "workloads.txt")[0][0],
                                            "g", "c", 2, "s", "cuda:0", "high")
        self.assertEqual(command[command.index("--matmul-precision") + 1], "high")
        self.assertIn("--matmul-precision", main.parse(["--matmul-precision", "high"]).gnnc_arg)
        self.assertEqual(main.parse(["--matmul-precision", "medium"]).gnnc_arg[-1], "medium")
        self.assertNotIn("--matmul-precision", main.parse([]).gnnc_arg)
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            main.parse(["--matmul-precision", "low"])

    def test_bounds_of_precisions(self):
        row = table.read(HERE / "gpu.txt")[0][0]
        bounds = [race.Race(row, race.Settings(precision=p, work=pathlib.Path()), None, None, None,
                            None, None).logits_bound for p in ("highest", "high", "medium")]
        self.assertEqual(bounds, [1e-4, 2e-2, 1e-1])

    def test_the_table_of_gpus(self):
        rows, data = table.read(HERE / "gpu.txt")
        self.assertEqual({(row.model, row.data, row.what) for row in rows},
                         {(m, d, w) for m in ("gcn", "gat", "sage", "gin")
                          for d in ("cora", "arxiv", "products") for w in ("train", "infer")})
        self.assertEqual(peers.names_for(rows[0]),
                         ["pyg", *(f"compile:{mode}:auto" for mode in peers.MODES)])
        self.assertTrue(all(row.model_file() and source.startswith("synthetic:") for row in rows
                            for source in data.values()))

    def test_aggregate(self):
        report = {"edges": 1000, "nodes": 100, "us": 2.0, "gpu": {"copies_gbytes": 500.0},
                  "kernels": [{"name": "rows_0", "us": 2.0}]}
        self.assertEqual(aggregate.bytes_of(1000, 100, 64), 4 * 64 * 1100 + 4 * 1101)
        self.assertIn("143 GB/s, 29 % of copies (500 GB/s)", aggregate.line_of(report, 64))
        report["gpu"]["copies_gbytes"] = None
        self.assertIn("copies were not timed", aggregate.line_of(report, 64))

    def test_the_table(self):
        rows, data = table.read(HERE / "workloads.txt")
        self.assertGreater(len(rows), 40)
        for row in rows:
            row.model_file()
            self.assertTrue(all(peers.peer(name) for name in peers.names_for(row)), row.name)
            self.assertTrue(not row.hand or row.hand in hands.LIMITS
                            or row.hand == "hand_gcn:train-seen", row.hand)
        self.assertEqual(len(peers.EVERY_MODE), 12)

    def test_table_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t"
            for text, message in (("a b c", "3 words"),
                                  ("a gcn d run 0 1 - none - -", "expected train or infer"),
                                  ("a gcn d infer 0 1 - none - fast>=2", "no goal 'fast'"),
                                  ("a gcn d infer 0 1 - none - best", "expected name>="),
                                  ("a gcn d infer 0 1 - none - -", "no data 'd'"),
                                  ("a gcn d infer x 1 - none - -", "could not convert"),
                                  ("data d", "expected data NAME SOURCE")):
                path.write_text(text + "\n")
                with self.assertRaisesRegex(table.TableError, message.replace("(", "\\(")):
                    table.read(path)

    def test_rounds_take_turns(self):
        order = []

        class Contender:
            def __init__(self, name):
                self.name = name

            def block(self, steps):
                order.append(self.name)
                return {"median": steps}

        mine, theirs = duel.alternate(Contender("a"), Contender("b"), (1, 3), 3)
        self.assertEqual("".join(order), "abbaab")
        self.assertEqual(duel.ratio(theirs, mine)["ratio"], 3)
        self.assertEqual(len(
            duel.alternate(Contender("a"), Contender("b"), (1, 3), 3, lambda blocks: True)[0]), 1)

    def test_numbers(self):
        self.assertEqual(duel.steps_for(1000, 1.0), 500)
        self.assertEqual(duel.steps_for(10_000, 1.0), 100)
        self.assertEqual(duel.steps_for(9e6, 1.0, least=2), 2)
        self.assertEqual(duel.pays_after(1.0, 100, 1100), 1001)
        self.assertIsNone(duel.pays_after(1.0, 100, 100))
        same = {"1": {"read_l2_gbs": 249.0, "fma512_gflops": 281.0, "read_dram_gbs": 41.0}}
        half = {"1": {key: value / 2 for key, value in same["1"].items()}}
        self.assertAlmostEqual(hands.expected("hand_gcn:infer", same), 40)
        self.assertAlmostEqual(hands.expected("hand_gcn3:train", half), 2 * 553e3)
        self.assertTrue(hands.verdict("hand_gcn:infer", 43, same)["yardstick"])
        self.assertFalse(hands.verdict("hand_gcn:infer", 45, same)["yardstick"])
        self.assertIsNone(hands.verdict("hand_gcn:infer", 45, None)["yardstick"])
        self.assertEqual(hands.mean([{"1": {"a": 1.0}}, None, {"1": {"a": 2.0}}]),
                         {"1": {"a": 1.5}})
        self.assertIsNone(hands.mean([None]))

    def test_a_machine_without_git(self):
        with unittest.mock.patch.dict(os.environ, {"PATH": "/nowhere"}):
            self.assertEqual(machine.describe()["revision"], "unknown")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            raw = struct.pack("<2f", 1, 2)
            cases.write_safetensors(path / "w.safetensors", {"a.b": ([2], raw), "c": ([1, 2], raw)})
            cases.unpack_safetensors(path / "w.safetensors", path)
            self.assertEqual((path / "a.b.f32").read_bytes(), raw)
            self.assertEqual((path / "c.f32").read_bytes(), raw)

    def test_made_data(self):
        with tempfile.TemporaryDirectory() as folder:
            given = pathlib.Path(folder)
            made = cases.Cases(given / "work", "gnnc", "dump")
            with gzip.open(given / "triples.int.csv.gz", "wt") as file:
                file.write("0,0,1\n1,2,4\n")
            for name in ("training.int.csv", "validation.int.csv", "testing.int.csv", "train.txt",
                         "valid.txt", "test.txt"):
                (given / name).write_text("a\tb\tc\nd\te\tf\n")
            both = made._inverse(given, given / "inverse")
            self.assertEqual((both / "triples.int.csv").read_text(), "0,0,1\n1,2,4\n1,3,0\n4,5,1\n")
            few = made._facts(given, given / "facts")
            self.assertEqual([(few / f"{name}.txt").read_text().count("\n")
                              for name in ("train", "valid", "test")], [2, 1, 1])
            self.assertEqual(table.data_argument("facts:kg", folder), None)
            (given / "kg").mkdir()
            self.assertEqual(table.data_argument("facts:kg", folder), f"facts:{folder}/kg")

    def test_forms_of_peers(self):
        rows = {row.name: row for row in table.read(HERE / "workloads.txt")[0]}
        peer = peers.peer("compile:default:auto@live")
        self.assertTrue(peer.compiles)
        command = peer.command("python3", rows["wn18rr-distmult-train-shared"], "g", "c", 2, "s")
        self.assertEqual(command[command.index("--form") + 1], "live")
        self.assertIn("drawn=256", command)
        self.assertEqual(peers.peer("dgl@live").environment, "dgl")
        with self.assertRaisesRegex(ValueError, "no form 'other'"):
            peers.peer("pyg@other")
        self.assertTrue(rows["cora-gcn-train"].drops())
        self.assertFalse(rows["aifb-rgcn-train"].drops())

    def test_what_does_something_else(self):
        row = table.read(HERE / "workloads.txt")[0][0]
        one = race.Race(row, race.Settings(precision="highest", work=pathlib.Path()), None, None,
                        None, None, None)
        one.check_steps, one.loss = 2, 1.0
        self.assertEqual(one.agrees({"other": "an epoch of batches", "difference": 0.0,
                                     "losses": [1.0, 1.0]}), "an epoch of batches")
        self.assertEqual(one.agrees({"difference": 0.0, "losses": [None, None]}), "")
        self.assertIn("draws of its own",
                      report.remarks("pyg", {"about": {"losses": [None]}, "blocks": 2}))

    def test_nothing_is_evaluated_between_steps(self):
        for name in ("gcn", "gat", "sage", "gin"):
            text = cases.EVALUATES.sub("", (HERE.parent / "samples" / f"{name}.gnn").read_text())
            self.assertNotRegex(text, r"select *=|patience *=|monitor *=")
            self.assertIn("optimizer = adam", text)

    def test_reports(self):
        self.assertEqual([report.ms(us) for us in (40.2, 4000, 123456)], ["0.0402", "4.000", "123"])
        self.assertEqual(contenders.short("a  b\nc"), "a b c")
        self.assertEqual(ablation.SWITCH.match("  fuse              values over").groups(),
                         ("fuse", None))
        self.assertEqual(ablation.SWITCH.match("  sparsify        * turns").groups(),
                         ("sparsify", "*"))
        self.assertIsNone(ablation.SWITCH.match("decisions"))


if __name__ == "__main__":
    os.environ.pop("GNNC_DATA", None)
    unittest.main()
