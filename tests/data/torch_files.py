#!/usr/bin/env python3
"""Makes the files of torch.save in torch/ beside it: python3 tests/data/torch_files.py  (needs
torch and numpy).

tensors.pt   a dict of tensors of every type, of views, and of numbers
split.pt     a dict of numpy arrays, as OGB's split_dict.pt
types.pt     the same of types of nodes, as tensors
seeds.pt     a tensor alone
strided.pt   a view that no array is
bfloat.pt    a type that is not read
edges.pt, ends.pt, facts.pt, loops.pt   splits of links, as OGB's; far.pt, short.pt, flat.pt
                                        are wrong
old-*.pt     arrays and tensors as torch wrote them before 1.6
"""
import os
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
folder = HERE / "torch"
folder.mkdir(exist_ok=True)
os.chdir(folder)
matrix = torch.arange(6).reshape(2, 3)
torch.save({"long": matrix, "turned": matrix.t(), "tail": torch.arange(10, dtype=torch.int32)[7:],
            "double": torch.tensor([0.5, -2.0], dtype=torch.float64), "float": torch.tensor([1.5]),
            "half": torch.ones(2).half(), "short": torch.tensor([-3], dtype=torch.int16),
            "char": torch.tensor([-4], dtype=torch.int8),
            "byte": torch.tensor([200], dtype=torch.uint8), "bool": torch.tensor([True, False]),
            "one": torch.tensor(7), "none": torch.zeros(0, 3), "row": matrix[1], "number": 3,
            "list": [torch.tensor([1]), torch.tensor([2])]},
           "tensors.pt")
split = {"train": np.array([0, 2]), "valid": np.array([1]), "test": np.array([], dtype=np.int64)}
torch.save(split, "split.pt")
torch.save({k: {"paper": torch.from_numpy(v)} for k, v in split.items()}, "types.pt")
torch.save(torch.tensor([0, 2]), "seeds.pt")
torch.save(torch.arange(6)[::2], "strided.pt")
torch.save(torch.ones(2).bfloat16(), "bfloat.pt")
torch.save(split, "old-split.pt", _use_new_zipfile_serialization=False)
torch.save(matrix, "old-tensor.pt", _use_new_zipfile_serialization=False)
pairs = {"edge": torch.tensor([[0, 2]]), "edge_neg": torch.tensor([[1, 1]])}
torch.save(pairs, "edges.pt")
torch.save({"edge": pairs["edge"].numpy(), "edge_neg": np.array([[0, 3]])}, "far.pt")
torch.save({"edge": pairs["edge"][0]}, "flat.pt")
torch.save({"source_node": np.array([0, 1, 2]), "target_node": np.array([1, 2, 0]),
            "target_node_neg": np.zeros((3, 4), int)}, "ends.pt")
torch.save({"source_node": np.array([0, 1, 2]), "target_node": np.array([1, 2])}, "short.pt")
torch.save({"head": np.array([0, 2]), "relation": np.array([1, 0]), "tail": np.array([1, 0])},
           "facts.pt")
torch.save({k: np.array([0]) for k in ("head", "relation", "tail")}, "loops.pt")
