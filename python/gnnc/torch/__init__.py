"""torch.compile(model, backend="gnnc"): models of PyTorch Geometric, compiled by gnnc, on the CPU.

    import torch
    model = torch.compile(GCN(64, 32, 2, 7), backend="gnnc")
    loss = cross_entropy(model(x, edge_index)[mask], y[mask])
    loss.backward()

Models stay as they are.  What gnnc does not know torch runs, and a warning names it once;
`explain` says which operators ran where, and why.

Options (`torch.compile(..., options={...})`):
    check    True: every call is computed by torch, too, and compared; a difference raises
    threads  of gnnc's programs; torch.get_num_threads() by default
    mode     gnnc's, which torch.compile's `mode` sets as well
"""

from __future__ import annotations

from ._backend import Explanation, Mismatch, backend, explain, stats

from ._step import compile_step

__all__ = ["backend", "compile_step", "explain", "stats", "Explanation", "Mismatch"]
