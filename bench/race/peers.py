"""Which peers run a workload, and how they are started."""
import os
import pathlib

from table import ROOT

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
DYNAMIC = ("auto", "true", "false")
EVERY_MODE = [f"compile:{mode}:{dynamic}" for mode in MODES for dynamic in DYNAMIC]
MODES_OF = {"gpu": [f"compile:{mode}:auto" for mode in MODES], "all": EVERY_MODE,
            "few": ["compile:default:auto", "compile:max-autotune:auto"],
            "large": ["compile:default:auto"]}

# of models of several types, graphs or facts
FORMS = ("fast", "csr", "live", "live-csr", "batches", "sparse")


class Peer:
    def __init__(self, name, environment, script, arguments, compiles=False):
        self.name, self.environment, self.script, self.arguments, self.compiles = (
            name, environment, script, arguments, compiles)
        self.keeps_memory = True

    def command(self, python, workload, graph, case, check_steps, scripts, device="cpu",
                precision="highest"):
        options = workload.options
        return [python, str(pathlib.Path(scripts) / self.script), "--graph", str(graph), "--case",
                str(case), "--model", workload.model, "--what", workload.what, "--dropout",
                str(workload.p), "--hidden", options.get("hidden", "16"), "--layers",
                options.get("layers", "2"),
                *[word for pair in options.items() for word in ("--option", "=".join(pair))],
                "--threads", str(workload.threads), "--check-steps", str(check_steps),
                *([] if device == "cpu" else ["--device", device]),
                *([] if precision == "highest" else ["--matmul-precision", precision]),
                *self.arguments]


def peer(name):
    """A peer by its name; ValueError where there is none. "+plain" behind it: with the system's
    allocator as it is; "@FORM": in that form of a model of several types (peers/typed.py)."""
    if name.endswith("+plain"):
        plain = peer(name[:-len("+plain")])
        plain.name, plain.keeps_memory = name, False
        return plain
    if "@" in name:
        formed, form = name.split("@", 1)
        if form not in FORMS:
            raise ValueError(f"no form '{form}': expected {', '.join(FORMS)}")
        found = peer(formed)
        found.name, found.arguments = name, [*found.arguments, "--form", form]
        return found
    if name == "pyg":
        return Peer(name, "pyg", "pyg.py", ["--form", "coo"])
    if name == "pyg-csr":
        return Peer(name, "pyg", "pyg.py", ["--form", "csr"])
    if name == "pyg-xcsr":
        return Peer(name, "pyg", "pyg.py", ["--form", "xcsr"])
    if name == "dgl":
        return Peer(name, "dgl", "dgl_peer.py", [])
    if name in ("expert", "expert-manual"):
        return Peer(name, "pyg", "expert.py",
                    ["--form", "manual" if name.endswith("manual") else "plain"])
    if name in EVERY_MODE:
        return Peer(name, "pyg", "pyg.py", ["--compile", name.split(":", 1)[1]], compiles=True)
    raise ValueError(f"no peer '{name}': expected pyg, pyg-csr, pyg-xcsr, dgl, expert, "
                     "expert-manual or compile:MODE:DYNAMIC "
                     f"with MODE of {', '.join(MODES)} and DYNAMIC of {', '.join(DYNAMIC)}")


def names_for(workload):
    """Eager ones first: whoever is slower than 1.5 times the best so far runs one round only."""
    if workload.peers == "none":
        return []
    if workload.peers not in MODES_OF:
        return workload.peers.split(",")
    out = ["pyg"]
    if workload.peers == "gpu":
        return out + MODES_OF["gpu"]
    layers = workload.model in ("gcn", "gat", "sage", "gin")
    if layers:
        out += ["pyg-csr", "dgl"]
    if workload.model == "gcn":
        out += ["expert-manual"] if workload.peers == "large" else ["expert", "expert-manual"]
    return out + ["pyg+plain"] + (["dgl+plain"] if layers else []) + MODES_OF[workload.peers]


def is_expert(name):
    """Experts are a column of their own: who writes torch.sparse by hand has left the framework."""
    return name.startswith("expert") or name == "pyg-xcsr"


def environment_of(cache, device="cpu"):
    """Compilers keep what they made in `cache`, so that cold is cold."""
    cache = str(cache)
    return {"TORCHINDUCTOR_CACHE_DIR": os.path.join(cache, "inductor"),
            "TRITON_CACHE_DIR": os.path.join(cache, "triton"), "DGLBACKEND": "pytorch",
            "TOKENIZERS_PARALLELISM": "false",
            **({"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {})}


SCRIPTS = ROOT / "bench" / "peers"
