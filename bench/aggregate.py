#!/usr/bin/env python3
"""How fast a device sums rows over edges: bench/aggregate.py GNNC DEVICE EDGES NODES WIDTH...

A line for each width F: (4 E F gathered + 4 N F written + 4 (E + N + 1) of indices) / time, by
`gnnc explain` of bench/models/gather_scatter.gnn on a drawn graph, and its share of what copies on
the device move."""
import json
import pathlib
import subprocess
import sys

MODEL = pathlib.Path(__file__).resolve().parent / "models/gather_scatter.gnn"


def bytes_of(edges, nodes, width):
    return 4 * edges * width + 4 * nodes * width + 4 * (edges + nodes + 1)


def line_of(report, width):
    """`report`: what explain says as JSON, of a graph whose sizes are those that were asked for."""
    edges, nodes, us = report["edges"], report["nodes"], report["us"]
    rate, copies = bytes_of(edges, nodes, width) / us * 1e-3, report["gpu"]["copies_gbytes"]
    share = (f"{100 * rate / copies:.0f} % of copies ({copies:.0f} GB/s)" if copies
             else "copies were not timed")
    kernels = ", ".join(f"{k['name']} {k['us']:.1f}" for k in report["kernels"])
    return (f"{width} floats, {nodes} nodes, {edges} edges: {us:.1f} us ({kernels}), {rate:.0f} "
            f"GB/s, {share}")


def main(argv):
    if len(argv) < 6:
        print(__doc__, file=sys.stderr)
        return 2
    gnnc, device, edges, nodes = argv[1], argv[2], int(argv[3]), int(argv[4])
    widths = [int(w) for w in argv[5:]]
    for width in widths:
        data = f"synthetic:nodes={nodes},edges={edges},features={width},classes=2"
        done = subprocess.run([gnnc, "explain", str(MODEL), "-q", "--device", device, "--what",
                               "eval", "--json", "--data", data], capture_output=True, text=True)
        if done.returncode:
            print(f"{width} floats: {done.stderr.strip()}")
            return 1
        print(line_of(json.loads(done.stdout), width), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
