#!/usr/bin/env python3
"""Tests of race.py with a fake gnnc and a fake peer: `python3 bench/race_test.py`. Standard library only."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import textwrap
import unittest

import race

FAKE_GNNC = """\
    import json, sys
    if sys.argv[1:] == ["--version"]:
        print("gnnc 0.0 (fake)")
    elif "broken" in sys.argv[-1]:
        sys.stderr.write("gcn.gnn:1:1: it is broken\\n")
        sys.exit(3)
    elif "mute" in sys.argv[-1]:
        print("{}")
    else:
        key = {"train": "step_us", "run": "infer_us"}[sys.argv[1]]
        print(json.dumps({key: {"median": 100.0, "p10": 90.0, "p90": 120.0}, "arguments": sys.argv[1:]}))
"""
FAKE_PEER = """\
    import json, os, sys
    print(json.dumps({"arguments": sys.argv[1:], "keep": "MALLOC_TRIM_THRESHOLD_" in os.environ}), flush=True)
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        count = int(line.split()[1])
        cpu = 0.5 if "gin" in sys.argv else 1.0
        print(json.dumps({"us": [300.0 + i for i in range(count)], "cpu": cpu}), flush=True)
"""


class RaceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.gnnc = self.script("gnnc", f"#!{sys.executable}\n" + textwrap.dedent(FAKE_GNNC))
        self.peer = self.script("peer.py", textwrap.dedent(FAKE_PEER))

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def run_race(self, *extra):
        arguments = ["--gnnc", self.gnnc, "--peer-python", sys.executable, "--peer-script", self.peer, "--data", "some/cora",
                     "--rounds", "3", "--steps", "11", "--out", str(self.folder / "out"), *extra]
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = race.main(arguments)
        return status, out.getvalue(), errors.getvalue()

    def result(self, stem):
        return json.loads((self.folder / "out" / f"{stem}.json").read_text())

    def test_train(self):
        status, out, _ = self.run_race("--peers", "pyg,pyg-compile", "--dropout", "0.25", "--threads", "2")
        self.assertEqual(status, 0)
        result = self.result("gcn-train-p0.25-t2")
        self.assertEqual(result["rows"]["gnnc"]["median"], 100.0)
        self.assertEqual(result["rows"]["pyg"]["median"], 305.0)
        self.assertAlmostEqual(result["rows"]["pyg"]["ratio"], 3.05)
        self.assertEqual([len(blocks) for blocks in result["blocks"].values()], [3, 3, 3])
        self.assertIn("--compile", result["contenders"]["pyg-compile"]["arguments"])
        self.assertTrue(result["contenders"]["pyg"]["keep"])
        self.assertIn("-D p=0.25", result["contenders"]["gnnc"]["command"])
        self.assertIn("gnnc 0.0", result["contenders"]["gnnc"]["version"])
        self.assertIn("3.05 (3.05 – 3.05)", out)
        page = (self.folder / "out" / "gcn-train-p0.25-t2.md").read_text()
        self.assertIn("# GCN on cora: one training step", page)

    def test_infer_passes_repeat(self):
        status, _, _ = self.run_race("--what", "infer", "--model", "gat", "--hidden", "4", "--peer-malloc", "default")
        self.assertEqual(status, 0)
        result = self.result("gat-infer-p0.6-t1")
        command = result["contenders"]["gnnc"]["command"]
        self.assertIn(" run ", command)
        self.assertIn("--repeat 200 -D hidden=4", command)
        self.assertNotIn("p=", command)
        self.assertFalse(result["contenders"]["pyg"]["keep"])

    def test_says_when_the_machine_was_busy(self):
        _, out, _ = self.run_race("--model", "gin")
        self.assertIn("had the processor for 50% of its time", out)
        self.assertIn("Not to be quoted", (self.folder / "out" / "gin-train-p0.5-t1.md").read_text())
        _, out, _ = self.run_race()
        self.assertNotIn("Not to be quoted", out)

    def test_peer_alone_and_gnnc_alone(self):
        arguments = ["--peer-python", sys.executable, "--peer-script", self.peer, "--data", "d", "--rounds", "1"]
        rows = race.race(race.parse(arguments), say=lambda text: None)["rows"]
        self.assertNotIn("ratio", rows["pyg"])
        rows = race.race(race.parse(["--gnnc", self.gnnc, "--data", "d", "--rounds", "1"]), say=lambda text: None)["rows"]
        self.assertEqual(list(rows), ["gnnc"])

    def test_failures_say_why(self):
        status, _, errors = self.run_race("--gnnc-arg", "broken")
        self.assertEqual(status, 1)
        self.assertIn("exit status 3", errors)
        self.assertIn("gcn.gnn:1:1: it is broken", errors)
        status, _, errors = self.run_race("--gnnc-arg", "mute")
        self.assertEqual(status, 1)
        self.assertIn("no step_us", errors)
        status, _, errors = self.run_race("--peer-script", "/nonexistent.py")
        self.assertEqual(status, 1)
        self.assertIn("nonexistent", errors)
        status, _, errors = self.run_race("--gnnc", "/nonexistent/gnnc")
        self.assertEqual(status, 1)
        self.assertIn("No such file", errors)

    def test_rounds_rotate(self):
        order = []

        class Contender:
            def __init__(self, name):
                self.name = name

            def block(self):
                order.append(self.name)
                return {"median": 1.0, "p10": 1.0, "p90": 1.0}

        race.run_rounds([Contender("a"), Contender("b"), Contender("c")], 3, lambda text: None)
        self.assertEqual("".join(order), "abcbcacab")


if __name__ == "__main__":
    unittest.main()
