"""Small data for the samples that take more than one graph: many graphs, facts, entities with kinds
of facts."""
import pathlib


def graphs(folder):
    """A TU folder: rings of both classes, those of class 1 with a chord."""
    arcs, member, labels, kinds, first = [], [], [], [], 1
    for graph in range(30):
        n, chord = 4 + graph % 3, graph % 2
        ring = [(i, (i + 1) % n) for i in range(n)] + ([(0, 2)] if chord else [])
        arcs += [(first + a, first + b) for u, v in ring for a, b in ((u, v), (v, u))]
        member += [graph + 1] * n
        kinds += [i % 2 for i in range(n)]
        labels.append(2 * chord - 1)
        first += n
    write(folder, "RINGS_A.txt", ("%d, %d" % a for a in arcs))
    write(folder, "RINGS_graph_indicator.txt", member)
    write(folder, "RINGS_graph_labels.txt", labels)
    write(folder, "RINGS_node_labels.txt", kinds)


def facts(folder):
    """Triples as text: who comes next, and who came before."""
    n = 24
    triples = [(i, "next", (i + 1) % n) for i in range(n)] + [((i + 1) % n, "before", i)
                                                              for i in range(n)]
    parts = {"train": [t for k, t in enumerate(triples) if k % 8 > 1],
             "valid": [t for k, t in enumerate(triples) if k % 8 == 0],
             "test": [t for k, t in enumerate(triples) if k % 8 == 1]}
    for name, part in parts.items():
        write(folder, name + ".txt", ("e%d\t%s\te%d" % t for t in part))


def entities(folder):
    """A kgbench folder: the class of an entity is that of what it belongs to."""
    triples = [(v, 0, 30 + v % 3) for v in range(30)] + [(v, 1, (v + 3) % 30) for v in range(30)]
    write(folder, "triples.int.csv", ("%d,%d,%d" % t for t in triples))
    write(folder, "training.int.csv", ("%d,%d" % (v, v % 3) for v in range(0, 18)))
    write(folder, "testing.int.csv", ("%d,%d" % (v, v % 3) for v in range(18, 30)))


def write(folder, name, lines):
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


OF_SAMPLE = {"gin_graphs": graphs, "rgcn": entities, "distmult": facts, "complex": facts,
             "transe": facts, "rotate": facts, "links": "",
             "hgt": "synthetic:typed,scale=0.0002,classes=3,features=8"}


def few(sample):
    """-D for batches that suit few facts."""
    if OF_SAMPLE.get(sample) is not facts:
        return ()
    return ("-D", "batch=12", "-D", "drawn=7" if sample in ("distmult", "complex") else "times=3")


def options(sample, folder):
    """--data for a sample, by its name without .gnn: written there where it needs more than a
    graph."""
    make = OF_SAMPLE.get(sample)
    if not make:
        return []
    if isinstance(make, str):
        return ["--data", make]
    path = pathlib.Path(folder) / make.__name__
    if not path.exists():
        make(path)
    return ["--data", str(path)]
