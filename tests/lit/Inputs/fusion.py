"""Models that fusion once took apart wrongly: what they compute is the same in every mode, before
and after training."""
import files
import runs

MODELS = {
    # Sums over columns are read by a later loop through a broadcast, and what is summed is computed
    # in the first alone.
    "sums":
    """
model M() (g: graph, x: node[F]) -> node[...] {
  param w: [F, 2, 3] = glorot_uniform
  param a: [2, 3] = glorot_uniform
  param b: [4, 1] = glorot_uniform
  h = x @ w
  s = sum(h * a, axis = -1)
  e = leaky_relu(edge(u -> v in g: s[u] + s[v]), 0.2)
  m = sum(u -> v in g: unsqueeze(e, -1) * h[u])
  return unsqueeze(m, 2) + tanh(mean(s * b, axis = 0))
}
train M { loss = mean(M(g, x)^2) }
""",
    # `s` needs a loop of its own before the maximum; the loop that has the mean has computed `h`,
    # which `s` reads.
    "waits":
    """
model M() (g: graph, x: node[F]) -> node[...] {
  param w: [F] = ones
  h = tanh(x * w)
  s = mean(h, axis = 0)
  r = mean(u -> v in g: h[v])
  return max(u -> v in g: r[v] + s[u])
}
train M { loss = mean(M(g, x)^2) }
""",
    # What waits takes h along, and then the loop that it is for would be before and after it.
    "features":
    """
model M() (g: graph, x: node[F]) -> node[...] {
  h = x > 0.1 ? x : tanh(x)
  s = mean(h, axis = 0)
  r = 0.3 * sum(u -> v in g: h[v])
  return max(u -> v in g: r[v] + s[u])
}
""",
}

r = runs.Runs(shared=True)
for name, text in MODELS.items():
    model, weights = r.write(name + ".gnn", text), r.path(name + ".safetensors")
    outs = []
    if "train M" in text:
        r.works("train", model, "-q", "--epochs", 3, "--save", weights)
    for mode in ("eager", "default", "reduce-overhead"):
        more = ("--weights", weights) if "train M" in text else ()
        r.works("run", model, "-q", "-O", mode, *more, "--predictions", r.path("out.npz"))
        outs.append(files.read_npz(r.path("out.npz"))["out"][2])
    for out in outs[1:]:
        assert max(abs(a - b) for a, b in zip(out, outs[0])) < 1e-5, name
r.done()
