#!/usr/bin/env python3
"""Runs the tests of the package: run.py [-v] [test...]; GNNC_BINARY_DIR says of which build."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
os.environ.setdefault("GNNC_SOURCE_DIR", ROOT)
os.environ.setdefault("GNNC_BINARY_DIR", os.path.join(ROOT, "build"))
os.environ.setdefault("GNNC_LIBRARY", os.path.join(os.environ["GNNC_BINARY_DIR"], "libgnnc.so"))
os.environ.setdefault("GNNC_CACHE", "0")
sys.path[:0] = [os.path.dirname(HERE), HERE]

if __name__ == "__main__":
    named = any(not a.startswith("-") for a in sys.argv[1:])
    unittest.main(module=None, argv=[sys.argv[0], *([] if named else ["discover", "-s", HERE]),
                                     *sys.argv[1:]])
