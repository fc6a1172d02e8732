"""gnnc explain --device cuda --json, without a device: figures of every kernel, none of time."""
import json
import sys

d = json.load(sys.stdin)
assert d["device"] == "cuda" and "machine" not in d, d["device"]
g = d["gpu"]
assert (g["arch"] == 80 and g["name"] is None and "/nowhere" in g["not_timed"]
        and not g["one_kernel"]), g
assert d["us"] is None and d["bound_us"] is None and d["runs"] == 0
launched = [k for k in d["kernels"] if k["name"] != "copy"]
assert len(launched) > 10
for k in d["kernels"]:
    assert (k["us"] is None and k["bound_us"] is None and k["ratio"] is None
            and k["bound_by"] is None), k
    assert k["bytes_moved"] > 0, k
for k in launched:
    assert k["threads"] in (32, 64, 128, 256) and 1 <= k["threads_an_iteration"] <= k["threads"], k
    assert (k["iterations_a_block"] == k["threads"] // k["threads_an_iteration"]
            and k["blocks"] >= 1), k
    assert k["registers"] >= 8 and k["spill_store_bytes"] == k["spill_load_bytes"] == 0, k
    assert k.get("fused") or "finishes" in k, k
assert any(k.get("apart") for k in launched)
