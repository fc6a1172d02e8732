#!/usr/bin/env python3
"""Records how far PyTorch Geometric under CPU autocast is from its own doubles, case by case, for
gnnc's 16 bits to be compared with.  Reads data/*.safetensors, writes half.txt.

    python3 tests/conform/half.py
"""
import pathlib
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch

import cases
import record
import store

HERE = pathlib.Path(__file__).parent
TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
NAMES = ("gcn", "gcn_weight", "gat_h3", "gat_h3_edge", "gatv2_h3", "gatv2_h3_edge", "sage_mean",
         "sage_max", "sage_sum", "gin_eps", "graphconv", "graphconv_mean_weight", "cheb", "tag",
         "sg", "appnp", "resgated", "transformer_h3", "transformer_h3_edge", "layernorm_node",
         "batchnorm_train")


def run(case, tensors, dtype):
    """The case in float32, as autocast computes it: `out` and gradients."""
    state = {k[6:]: v for k, v in tensors.items() if k.startswith("param.")}
    module = record.load(case.build(), state, torch.float32).train(case.training)
    inputs = record.tensors_of({k: tensors[k] for k in ("edge_index", "x", *record.EDGE_INPUTS)
                                if k in tensors}, torch.float32)
    with torch.autocast("cpu", dtype=dtype):
        out = record.apply(module, inputs)
    cot = torch.from_numpy(np.array(tensors["cot"]))
    (out.float() * cot).sum().backward()
    return {"out": record.numpy(out.float())} | record.gradients(module, inputs)


def distance(result, tensors, names):
    return max(record.distance({n: result[n]}, {n: tensors[n].astype(np.float64)}) for n in names)


def main():
    torch.set_num_threads(1)
    lines = []
    for case in (c for c in cases.LAYERS if c.name in NAMES):
        path = HERE / "data" / f"{case.name}_random.safetensors"
        tensors, _ = store.decode(path.read_bytes())
        for name, dtype in TYPES.items():
            try:
                result = run(case, tensors, dtype)
            except RuntimeError as e:  # of an operator that autocast leaves with mixed types
                lines.append(f"{path.stem} {name} - -")
                print(f"{path.stem}, {name}: {str(e).splitlines()[0]}")
                continue
            grads = [n for n in result if n.startswith("grad.") and n in tensors]
            out, grad = distance(result, tensors, ["out"]), distance(result, tensors, grads)
            lines.append(f"{path.stem} {name} {out:.2e} {grad:.2e}")
    head = (f"# torch {torch.__version__.split('+')[0]}, PyTorch Geometric "
            f"{record.torch_geometric.__version__}: tests/conform/half.py\n"
            "# case, type of autocast, largest error of outputs and of gradients, scaled as "
            "README.md says; -: it fails\n")
    (HERE / "half.txt").write_text(head + "".join(line + "\n" for line in lines))
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    main()
