"""Initial values as they are saved: of matrices, which may lie otherwise in memory."""
import files
import runs

r = runs.Runs(shared=True)
MODEL = r.write("m.gnn", """model M(hidden = 5) (g: graph, x: node[F]) -> node[C] {
  param a: [F, hidden] = orthogonal(gain = 2) transposed
  param b: [F, hidden] = orthogonal
  param c: [hidden, 7] = sparse(0.4, std = 1) transposed
  param d: [hidden, 7] = [[10 * i + j for j in 0..7] for i in 0..hidden] as "list" transposed
  param e: [hidden, 7] = eye transposed
  param f: node[2] = orthogonal
  h = x @ (a + b) @ (c + d + e)
  return Linear(C)(concat(h, f))
}
""")
r.works("train", MODEL, "-q", "--epochs", 0, "--save", r.path("w"))
held = files.read_safetensors(r.path("w"))


def rows(name):
    _, (n, m), values = held[name]
    return [values[m * i:m * i + m] for i in range(n)]


def orthonormal(vectors, square):
    for i, a in enumerate(vectors):
        for j, b in enumerate(vectors):
            dot = sum(x * y for x, y in zip(a, b))
            assert abs(dot - square * (i == j)) < 1e-5, (i, j, dot)


a = rows("a")
assert (len(a), len(a[0])) == (5, 34)
orthonormal(a, 4)
b = rows("b")
assert (len(b), len(b[0])) == (34, 5)
orthonormal(list(zip(*b)), 1)
orthonormal(list(zip(*rows("f"))), 1)
assert [sum(v == 0 for v in column) for column in zip(*rows("c"))] == [3] * 5  # 2.8 of 7
assert rows("list") == [[10.0 * i + j for i in range(5)] for j in range(7)], rows("list")
assert rows("e") == [[float(i == j) for i in range(5)] for j in range(7)], rows("e")
r.done()
