"""The graphs that layers are recorded on: (number of nodes, edge_index) by kind."""
import networkx
import numpy as np

# what a kind becomes where weighted repeated loops would be ill-defined
SINGLE_LOOPS = {"random": "random_w"}


def _random(repeat_loop):
    """12 nodes. 0 has no in-edges, 10 no out-edges, 7 and 11 (the last) have neither. Loops on 2
    and 5, repeated edges."""
    rng = np.random.default_rng(12)
    sources = [n for n in range(12) if n not in (7, 10, 11)]
    targets = [n for n in range(12) if n not in (0, 7, 11)]
    edges = [(rng.choice(sources), rng.choice(targets)) for _ in range(24)]
    edges = [(u, v) for u, v in edges if u != v]
    edges += [edges[3], edges[3], edges[8], (0, 10), (2, 2), (5, 5)]
    edges += [(5, 5)] if repeat_loop else []
    return 12, rng.permutation(np.array(edges))


def _symmetric():
    """10 nodes, both directions of 14 pairs, in no order; no loops, no repeats."""
    rng = np.random.default_rng(10)
    pairs = [(u, v) for u in range(10) for v in range(u)]
    chosen = [pairs[i] for i in rng.choice(len(pairs), 14, replace=False)]
    return 10, rng.permutation(np.array(chosen + [(v, u) for u, v in chosen]))


def _karate():
    """Zachary's karate club (1977): 34 nodes, 78 friendships in both directions, ordered by
    source."""
    pairs = list(networkx.karate_club_graph().edges())
    return 34, np.array(sorted(pairs + [(v, u) for u, v in pairs]))


KINDS = {
    "random": lambda: _random(True),
    "random_w": lambda: _random(False),
    "symmetric": _symmetric,
    "one": lambda: (1, np.zeros((0, 2))),
    "empty": lambda: (5, np.zeros((0, 2))),
    "karate": _karate,
}


def graph(kind):
    nodes, pairs = KINDS[kind]()
    return nodes, np.ascontiguousarray(pairs.T.astype(np.int64).reshape(2, -1))


def symmetric_weights(edge_index, draw):
    """One value for both directions of an edge, where a graph is symmetric."""
    values = {}
    return np.array([values.setdefault((min(e), max(e)), draw()) for e in edge_index.T.tolist()],
                    dtype=np.float32)
