#!/usr/bin/env python3
"""Records what PyTorch Geometric computes over several types of rows and kinds of edges; see
README.md for the format.

    python3 tests/conform/typed.py            # write tests/conform/typed/*.safetensors
    python3 tests/conform/typed.py --check    # compute again and compare with the files
    python3 tests/conform/typed.py gine pna   # those of these names alone
"""
import argparse
import importlib
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
import torch

import record
import store
import typed_case

# Files of cases, each with a list `CASES`.
HERE = pathlib.Path(__file__).parent
MODULES = ["typed_layers", *sorted(p.stem for p in HERE.glob("layers_*.py"))]


def cases():
    return [case for name in MODULES for case in importlib.import_module(name).CASES]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true",
                        help="compare with the files instead of writing them")
    parser.add_argument("names", nargs="*", help="which cases; without one all")
    args = parser.parse_args()
    torch.set_num_threads(1)
    typed_case.DATA.mkdir(exist_ok=True)
    bad, chosen = 0, [c for c in cases() if not args.names or c.name in args.names]
    for case in chosen:
        tensors, about = typed_case.record_case(case)
        path = typed_case.DATA / f"{case.name}.safetensors"
        problem = record.check(path, tensors, about) if args.check else ""
        if not args.check:
            path.write_bytes(store.encode(tensors, about))
        if problem:
            print(f"{case.name}: {problem}")
        bad += bool(problem)
    print(f"{len(chosen)} cases, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
