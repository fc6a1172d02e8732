"""The hand-written programs as yardsticks, and when one counts.

LIMITS are the times that such programs took on the machine of REFERENCE, which had the ceilings
below. On another machine a figure is scaled by the ceilings that bind it, in the shares given (of
that time, by counting bytes and operations). A program is a yardstick here if it is at most 10 %
slower than its scaled figure. Ceilings are measured around each program.
"""
REFERENCE = {"cpu": "Zen 5 class, AVX-512, 4.4 GHz", "triad_gbs": 39.0, "read_dram_gbs": 41.0,
             "read_l3_gbs": 109.0, "read_l2_gbs": 249.0, "fma512_gflops": 281.0,
             "fma256_gflops": 147.0}
SLACK = 1.10

# (program, argument): microseconds there, shares of what binds it.
CORE = {"read_l2_gbs": 0.7, "fma512_gflops": 0.3}   # Cora: weights and rows come from L2
LIMITS = {
    "hand_gcn:infer": (40.0, CORE),
    "hand_gcn:train": (97.0, CORE),
    "hand_gat:infer": (185.0, CORE),
    "hand_gat:train": (423.0, CORE),
    "hand_gat:train-seen": (200.0, CORE),
    # Products took 256 GFLOP/s there (those of weights' gradients 196): 37 GFLOP forward, 62
    # backward, 37 of them for weights.
    "hand_gcn3:infer": (237e3, {"fma512_gflops": 0.61, "read_dram_gbs": 0.39}),
    "hand_gcn3:train": (553e3, {"fma512_gflops": 0.78, "read_dram_gbs": 0.22}),
    "hand_gat3:infer": (306e3, {"fma512_gflops": 0.47, "read_dram_gbs": 0.53}),
    "hand_gat3:train": (839e3, {"fma512_gflops": 0.52, "read_dram_gbs": 0.48}),
}


def mean(found):
    """Of several measurements of the ceilings; None where there are none."""
    found = [each["1"] for each in found if each]
    return {"1": {key: sum(each[key] for each in found) / len(found)
                  for key in found[0]}} if found else None


def expected(name, ceilings):
    """Microseconds that the figure is worth on this machine; None where there is no figure or the
    ceilings are unknown."""
    if name not in LIMITS or not ceilings or "1" not in ceilings:
        return None
    us, shares = LIMITS[name]
    return us * sum(share * REFERENCE[key] / ceilings["1"][key] for key, share in shares.items())


def verdict(name, us, ceilings):
    """What the table says of a hand-written program's time."""
    limit = expected(name, ceilings)
    if limit is None:
        return {"yardstick": None, "expected_us": None}
    return {"yardstick": us <= SLACK * limit, "expected_us": limit}
