#!/usr/bin/env python3
"""One model makes one program, whatever compiled gnnc: C leaves open in which order the arguments
of a call are computed, and two arguments that both make a value number them by that order.

    same_code.py [--models N] GNNC GNNC

Compares what two builds of gnnc, by different compilers or of different states of the sources,
print of the samples, of one with each schedule, of the standard library's layers, and of the
programs of the tests: tensor IR, loop IR, LLVM IR and machine code, CUDA, and what passes leave of
programs in text.  With --models, N random models too, and what they compute: their results and the
weights that training leaves, to the bit.  Exit status: 0 all the same, 1 something differs.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "diff"))
sys.path.insert(0, str(ROOT / "tests" / "data"))
import models as random_models  # noqa: E402
import typed  # noqa: E402
SCHEDULES = ("step(period = 3)", "exponential", "cosine", "linear(gamma = 0.1)")
# One LLVM makes one machine code of one LLVM IR: it is compared of the samples alone.
CPU = ("--emit=gir,kir,llvm",)
CODE = ("--emit=gir,kir,llvm,asm",)
CUDA = ("--emit=gir,kir,cuda", "--device", "cuda", "--arch", "sm_90")


def layers():
    """Models of one layer of the standard library each, with the arguments of the recorded
    cases."""
    seen = set()
    for case in sorted((ROOT / "tests" / "conform" / "data").glob("*.safetensors")):
        raw = case.read_bytes()
        (n,) = struct.unpack_from("<Q", raw)
        meta = json.loads(raw[8:8 + n])["__metadata__"]
        inputs = meta.get("inputs")
        if (not inputs or "." not in meta.get("single", "")
            or (meta["layer"], meta["args"], inputs) in seen):
            continue
        seen.add((meta["layer"], meta["args"], inputs))
        if meta["layer"] in ("GCN", "GIN", "GAT", "GraphSAGE"):
            continue  # models, which the samples are
        arguments = re.sub(r"(aggr|mode) = (\w+)", r'\1 = "\2"', meta["args"])
        # a graph has its weights
        given = inputs.replace("edge_attr", "g.attr").replace(", edge_weight", "")
        if meta["layer"].endswith("Norm"):
            given = "x"
        yield (f"model M () (g: graph, x: node[F]) -> node[...] {{\n"
               f"  made = {meta['layer']}({arguments})\n  return made({given})\n}}\n"
               "train M {\n"
               "  loss = mean(M(g, x) * 0.5)\n  optimizer = adam(lr = 0.01)\n  epochs = 2\n}\n")


def commands(folder):
    """What both builds are asked, as lists of arguments."""
    for k, schedule in enumerate(SCHEDULES):
        model = folder / f"schedule{k}.gnn"
        gcn = (ROOT / "samples" / "gcn.gnn").read_text(encoding="utf-8")
        model.write_text(gcn.replace("epochs =", f"schedule = {schedule}\n  epochs ="),
                         encoding="utf-8")
        yield [str(model), "-q", *CPU]
    random_models.write_data(folder / "layers.npz", 3, 2)
    for k, text in enumerate(layers()):
        model = folder / f"layer{k}.gnn"
        model.write_text(text, encoding="utf-8")
        yield [str(model), "--data", str(folder / "layers.npz"), "-q", *CPU]
    for model in sorted((ROOT / "samples").glob("*.gnn")):
        for mode in ("eager", "default", "max-autotune"):
            for stages in (CODE if mode == "default" else CPU, CUDA):
                yield [str(model), "-q", "-O", mode, *stages, *typed.options(model.stem, folder)]
    for program in sorted((ROOT / "tests").rglob("*.gir")):
        for options in ([], ["--passes", "lower"],
                        ["-O", "max-autotune", "-D", "sparse=x", "-D", "levels=2"]):
            yield ["opt", str(program), *options]


def printed(gnnc, arguments):
    environment = dict(os.environ, GNNC_CACHE="0", NO_COLOR="1")
    result = subprocess.run([gnnc, *arguments], capture_output=True, env=environment, timeout=300,
                            check=False)
    return result.returncode, result.stdout, result.stderr


def computed(gnnc, folder, seed):
    """What a random model is as code, what it computes, and what training makes of its weights."""
    model = random_models.Model(seed)
    text, data, out, weights = (str(folder / f"{seed}{suffix}")
                                for suffix in (".gnn", ".npz", ".out.npz", ".safetensors"))
    pathlib.Path(text).write_text(model.text(), encoding="utf-8")
    random_models.write_data(data, seed, model.outputs)
    source = [text, "--data", data, "--seed", "1", "--threads", "1", "-q"]
    made = [printed(gnnc, [text, "--data", data, "-q", *CPU]),
            printed(gnnc, ["run", *source, "--predictions", out])[0]]
    if model.params:
        # what it prints has times in it
        made.append(printed(gnnc, ["train", *source, "--save", weights])[0])
    bytes_of = [random_models.read_outputs(out)] if os.path.exists(out) else []
    bytes_of += [random_models.read_weights(weights)] if os.path.exists(weights) else []
    return 0, made, repr(bytes_of)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("gnnc", nargs=2)
    parser.add_argument("--models", type=int, default=0, metavar="N")
    args = parser.parse_args()

    def compare(arguments):
        return " ".join(arguments), *(printed(gnnc, arguments) for gnnc in args.gnnc)

    def compare_models(seed):
        with tempfile.TemporaryDirectory() as one:  # the same names for both
            made = []
            for gnnc in args.gnnc:
                made.append(computed(gnnc, pathlib.Path(one), seed))
                for file in pathlib.Path(one).iterdir():
                    file.unlink()
        return f"random model {seed}", *made

    made = differ = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
            os.cpu_count()) as pool:
        pairs = list(pool.map(compare, commands(pathlib.Path(folder))))
        pairs += pool.map(compare_models, range(args.models))
    for what, a, b in pairs:
        made += a[0] == 0
        if a != b:
            differ += 1
            print("differs:", what)
    print(f"{made} programs printed, {differ} differ")
    return 1 if differ or not made else 0


if __name__ == "__main__":
    sys.exit(main())
