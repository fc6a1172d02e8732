"""What docs/python.md says: its blocks run in their order, those of libraries that are there."""

import os
import re
import shutil
import tempfile
import unittest

import gnnc
from support import ROOT, Cora, have

PAGE = os.path.join(ROOT, "docs", "python.md")


class Page(unittest.TestCase):
    def test_blocks(self):
        with open(PAGE, encoding="utf-8") as f:
            blocks = re.findall(r"^```python\n(.*?)^```$", f.read(), re.M | re.S)
        self.assertGreater(len(blocks), 7)
        cora = Cora()
        names = {"gnnc": gnnc, "src": cora.src, "dst": cora.dst, "x": cora.x, "y": cora.y,
                 "train_mask": cora.train_mask, "val_mask": cora.val_mask, "data": cora.data(),
                 "paper": list(range(300)), "author": [v % 50 for v in range(300)],
                 "print": lambda *args: None}
        if not have("numpy"):
            import numpy
            names.update({k: numpy.asarray(names[k]) for k in ("x", "y", "train_mask",
                                                               "val_mask")})
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as to:
            for model in ("gcn", "sage", "hgt"):
                shutil.copy(os.path.join(ROOT, "samples", model + ".gnn"), to)
            os.chdir(to)
            try:
                for block in blocks:
                    wants = re.findall(r"^(?:import|from) (\w+)", block, re.M)
                    if have(*wants):
                        continue
                    exec(compile(block, PAGE, "exec"), names)
            finally:
                os.chdir(here)
        self.assertEqual(tuple(names["scores"].shape), (300, 3))
        self.assertEqual(len(names["losses"]), 5)


if __name__ == "__main__":
    unittest.main()
