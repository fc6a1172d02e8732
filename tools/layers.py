#!/usr/bin/env python3
"""Makes docs/layers.md of the standard library itself.

    python3 tools/layers.py           # write the page
    python3 tools/layers.py --check   # does the page say what the library has?

A layer's row is its declaration and the comment above it: the sentences that speak of PyTorch
Geometric say what differs, the others what it is. Its lines are those of the declaration, and of
functions and layers that nothing else uses. A layer is recorded where a case of tests/conform has
its name.
"""

import argparse
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "layers.md"

# What torch_geometric.nn.conv 2.8 exports, without its base class and four wrappers of libraries
# for CUDA that compute what other layers do.
CONVOLUTIONS = """AGNNConv APPNP ARMAConv AntiSymmetricConv CGConv ChebConv ClusterGCNConv DNAConv
DirGNNConv DynamicEdgeConv EGConv EdgeConv FAConv FastRGCNConv FeaStConv FiLMConv GATConv GATv2Conv
GCN2Conv GCNConv GENConv GINConv GINEConv GMMConv GPSConv GatedGraphConv GeneralConv GraphConv
GravNetConv HANConv HEATConv HGTConv HeteroConv HypergraphConv LEConv LGConv MFConv MeshCNNConv
MixHopConv NNConv PANConv PDNConv PNAConv PPFConv PointGNNConv PointNetConv PointTransformerConv
RGATConv RGCNConv ResGatedGraphConv SAGEConv SGConv SSGConv SignedConv SimpleConv SplineConv
SuperGATConv TAGConv TransformerConv WLConv WLConvContinuous XConv""".split()

# Those that have another name here, or need none.
ELSEWHERE = {
    "FastRGCNConv": "`RGCNConv`",
    "HeteroConv": "`sum([convs[g](g, x[g.src], x[g.dst]) for g in gs if g.dst == t])`",
}

FILES = {
    "linear": "Dense layers", "norm": "Norms", "conv": "Convolutions",
    "propagate": "Propagation and filters", "neighbours": "Neighbourhoods",
    "edges": "Messages of edges",
    "points": "Points and meshes", "typed": "Types and kinds", "pools": "Pools",
    "clusters": "Soft clusters",
    "aggregators": "Aggregators", "models": "Models", "links": "Links", "facts": "Facts",
    "functions": "Functions",
}

# Why the longest are as long as they are.
WHY = {
    "RGATConv": "attention by kind has ten forms: two groups, two products, four ways to weigh, "
                "bases or blocks",
    "GPSConv": "it brings two kinds of attention among all nodes along",
    "GATConv": "either end may have weights of its own, and edges features",
    "GATv2Conv": "either end may have weights of its own, and edges features",
    "ChebConv": "three Laplacians, and a recurrence with two beginnings",
    "SplineConv": "bases of B-splines of any degree in any number of dimensions",
    "SuperGATConv": "two attentions, and a loss over edges that are and that are not",
    "HEATConv": "attention by the types of both ends and of the edge, and by its features",
    "HGTConv": "attention over all relations into a type together, with weights for each",
    "GENConv": "it chooses among aggregators and norms, and brings a network along",
    "PNAConv": "towers, networks of any depth on either side, aggregators by scalers",
    "TransformerConv": "edges may have features, and a gate may mix the node's own in",
    "RGCNConv": "a matrix for each kind, sums of bases, or blocks",
    "HANConv": "attention along each relation, and then among relations",
    "GMMConv": "Gaussians of the edge alone, or by channels of both sides",
    "GeneralConv": "attention of two kinds, heads, and ways around",
    "DNAConv": "attention over the layers before, in groups of channels",
    "HypergraphConv": "two sums, with attention between nodes and edges of many nodes",
}

DECLARATION = re.compile(r"^(layer|fn|model) (\w+)\b", re.M)


class Declared:
    def __init__(self, kind, name, file, text, comment):
        self.kind, self.name, self.file = kind, name, file
        self.text, self.comment = text, comment
        body = [line for line in text.split("\n")
                if line.strip() and not line.strip().startswith("#")]
        head = next((k for k, line in enumerate(body) if line.rstrip().endswith("{")), 0) + 1
        self.own, self.inside = len(body), max(1, len(body) - head - 1)
        self.uses = set(re.findall(r"\w+", text)) - {name}

    def signature(self):
        head = re.split(r"\s*\{\n|\s*\{ return|\)\s*=\s", self.text, maxsplit=1)[0]
        head = re.sub(r"\s+", " ", head.strip())
        head = head if head.count("(") == head.count(")") else head + ")"
        return head.split(" ", 1)[1]


def declarations(path):
    """Declarations with the comments right above them."""
    lines, found, comment, k = path.read_text().split("\n"), [], [], 0
    while k < len(lines):
        line = lines[k]
        if line.startswith("#"):
            comment.append(line.lstrip("# ").rstrip())
        elif DECLARATION.match(line):
            kind, name = DECLARATION.match(line).groups()
            start, k = k, k + 1
            while k < len(lines) and lines[k] and (lines[k][0] in " \t}"):
                k += 1
            found.append(Declared(kind, name, path.stem, "\n".join(lines[start:k]),
                                  " ".join(comment)))
            comment = []
            continue
        else:
            comment = []
        k += 1
    return found


def library():
    known = {}
    for path in sorted((ROOT / "stdlib").glob("*.gnn")):
        for d in declarations(path):
            known[d.name] = d
    for d in known.values():
        d.uses &= known.keys()
    return known


def lines_of(known, name):
    """With what it alone uses, whatever uses that; of those, how many stand in bodies."""
    mine = {name}
    while True:
        more = {u for m in mine for u in known[m].uses
                if u not in mine and known[u].file == known[name].file and
                all(n in mine for n, d in known.items() if u in d.uses)}
        if not more:
            return sum(known[m].own for m in mine), sum(known[m].inside for m in mine)
        mine |= more


def recorded():
    """The words of all recorded cases, as their files have them."""
    text = b""
    for folder in ("typed", "data"):
        for path in sorted((ROOT / "tests" / "conform" / folder).glob("*.safetensors")):
            with open(path, "rb") as file:
                size = int.from_bytes(file.read(8), "little")
                text += file.read(size)
    return set(re.findall(r"\w+", text.decode()))


def sentences(comment):
    return re.findall(r".*?(?:[.!?](?=\s|$)|$)(?<!al\.)(?<!cf\.)", comment)


def split_comment(comment):
    what, differs = [], []
    for s in filter(None, (s.strip() for s in sentences(comment))):
        (differs if "PyTorch Geometric" in s else what).append(s)
    return " ".join(what), " ".join(differs)


def cell(text):
    return text.replace("|", "\\|")


def table(known, file):
    rows = [d for d in known.values() if d.file == file]
    if file in ("functions", "links", "facts", "pools"):
        shown = rows
    elif file == "clusters":
        shown = [d for d in rows if d.kind == "layer" or d.name.endswith("_pool")]
    else:
        shown = [d for d in rows if d.kind == "layer" and d.comment or d.name in CONVOLUTIONS]
    out = [f"## {FILES[file]}", "", "| | What it is | What differs in PyTorch Geometric |",
           "|---|---|---|"]
    for d in shown:
        what, differs = split_comment(d.comment)
        out.append(f"| `{cell(d.signature())}` | {cell(what)} | {cell(differs)} |")
    return out + [""]


def page(known):
    have = [c for c in CONVOLUTIONS if c in known]
    lack = [c for c in CONVOLUTIONS if c not in known and c not in ELSEWHERE]
    length = {c: lines_of(known, c)[0] for c in have}
    inside = statistics.median(lines_of(known, c)[1] for c in have)
    longest = sorted(have, key=lambda c: -length[c])[:10]
    out = [
        "# The standard library", "",
        "`tools/layers.py` makes this page of `stdlib/`, and a test compares them. Layers are",
        "called with the width that they give; the width that comes in is their input's",
        "([language](language.md)).", "",
        f"Of the {len(CONVOLUTIONS)} convolutions of PyTorch Geometric 2.8, {len(have)} are layers "
        f"here, and {len(ELSEWHERE)} are said otherwise. " +
        (f"{len(lack)} are missing: {', '.join(f'`{c}`' for c in lack)}." if lack
         else "None is missing."),
        f"{len(recorded() & set(have))} of them are compared with recorded figures of PyTorch "
        "Geometric, forward and backward.", "",
        "| PyTorch Geometric | Here |", "|---|---|",
        *[f"| `{name}` | {text} |" for name, text in ELSEWHERE.items()], "",
        f"A convolution has {statistics.median(length.values()):g} lines in the median, "
        f"{inside:g} of them behind its declaration, with what it alone uses. The longest:", "",
        "| | Lines | Why |", "|---|---|---|",
        *[f"| `{c}` | {length[c]} | {WHY.get(c, '')} |" for c in longest], "",
        "[Examples](examples.md) show how they go together.", "",
    ]
    for file in FILES:
        if any(d.file == file for d in known.values()):
            out += table(known, file)
    return "\n".join(out).rstrip() + "\n", longest


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the page")
    args = parser.parse_args()
    known = library()
    text, longest = page(known)
    if not args.check:
        PAGE.write_text(text)
        return 0
    faults = []
    if not PAGE.exists() or PAGE.read_text() != text:
        faults.append("docs/layers.md is not what the library has: run tools/layers.py")
    faults += [f"stdlib/{d.file}.gnn: the list of files lacks it" for d in known.values()
               if d.file not in FILES]
    faults += [f"{c}: one of the ten longest, and WHY does not say why" for c in longest
               if c not in WHY]
    words = recorded()
    faults += [f"{c}: no case is recorded" for c in CONVOLUTIONS if c in known and c not in words]
    print("\n".join(faults) or f"{len(known)} declarations are as docs/layers.md has them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
