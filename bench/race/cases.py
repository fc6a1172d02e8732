"""What everybody works on: the graph as files, and weights with gnnc's logits. Made once for all
workloads that share it."""
import gzip
import json
import pathlib
import random
import re
import struct
import subprocess
import zipfile

import contenders
from contenders import RaceError

# Parameters of models that have no training block to make them: name -> shape, by the number of
# features.
DRAWN = {"gather_transform_scatter": {"matrix": lambda features: [features, features]}}


# Settings for which gnnc evaluates after every step: its steps take as long without, but a block
# takes less.
EVALUATES = re.compile(r"^\s*(select|patience|monitor)\s*=.*\n", re.MULTILINE)


def floats(count, seed):
    draw = random.Random(seed)
    return struct.pack(f"<{count}f", *(draw.uniform(-1, 1) for _ in range(count)))


def write_npy(archive, name, kind, shape, raw):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    text += " " * (63 - (len(text) + 10) % 64) + "\n"
    archive.writestr(f"{name}.npy",
                     b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + raw)


def read_npy(raw):
    """The bytes of the numbers of a little-endian float32 .npy file."""
    major = raw[6]
    size = (struct.unpack("<H", raw[8:10])[0] +
            10 if major == 1 else struct.unpack("<I", raw[8:12])[0] + 12)
    if b"'<f4'" not in raw[:size]:
        raise RaceError("logits are not float32")
    return raw[size:]


def write_safetensors(path, tensors):
    """tensors: name -> (shape, bytes)."""
    head, at = {}, 0
    for name, (shape, raw) in tensors.items():
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(raw)]}
        at += len(raw)
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text +
                     b"".join(raw for _, raw in tensors.values()))


def unpack_safetensors(path, folder):
    """One file of raw numbers a tensor."""
    raw = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    for name, about in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            (folder / f"{name}.f32").write_bytes(raw[8 + size + begin:8 + size + end])


class Cases:
    def __init__(self, folder, gnnc, dump, timeout=600, more=()):
        self.folder, self.gnnc, self.dump, self.timeout = pathlib.Path(folder), gnnc, dump, timeout
        self.more = list(more)  # arguments of gnnc
        self.graphs, self.made = {}, {}

    def graph(self, name, data, sources):
        """(folder of the dumped graph, what gnnc takes as --data)."""
        if name in self.graphs:
            return self.graphs[name]
        folder = self.folder / "graphs" / name
        folder.mkdir(parents=True, exist_ok=True)
        weighted = data.startswith("weighted:")
        for prefix, make in (("inverse:", self._inverse), ("facts:", self._facts)):
            if data.startswith(prefix):
                data = str(make(pathlib.Path(data[len(prefix):]), folder / prefix[:-1]))
        source = sources[data.split(":", 1)[1]] if weighted else data
        if not (folder / "meta.json").exists():
            try:
                done = subprocess.run([self.dump, source, str(folder)], capture_output=True,
                                      text=True, timeout=self.timeout)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise RaceError(f"{self.dump}: {error}") from None
            if done.returncode:
                raise RaceError(f"{self.dump}: {contenders.short(done.stderr)}")
        if weighted:
            data = str(folder / "weighted.npz")
            self._weighted(folder)
        self.graphs[name] = (folder, data)
        return self.graphs[name]

    def _weighted(self, folder):
        """The same graph with a weight an edge, as a plain .npz."""
        meta = json.loads((folder / "meta.json").read_text())
        weights = floats(meta["edges"], 1)
        (folder / "edge_weight.f32").write_bytes(weights)
        with zipfile.ZipFile(folder / "weighted.npz", "w") as archive:
            ends = (folder / "src.i32").read_bytes() + (folder / "dst.i32").read_bytes()
            write_npy(archive, "edge_index", "<i4", (2, meta["edges"]), ends)
            write_npy(archive, "x", "<f4", (meta["nodes"], meta["features"]),
                      (folder / "x.f32").read_bytes())
            write_npy(archive, "edge_weight", "<f4", (meta["edges"],), weights)

    def _facts(self, given, folder):
        """Triples as text, one of them for validation and one for the test: ranking all would take
        longer than the steps."""
        folder.mkdir(exist_ok=True)
        (folder / "train.txt").write_bytes((given / "train.txt").read_bytes())
        for name in ("valid.txt", "test.txt"):
            with open(given / name) as file:
                (folder / name).write_text(file.readline())
        return folder

    def _inverse(self, given, folder):
        """The triples of a kgbench folder, and behind them each the other way round, as one of a
        kind of its own."""
        folder.mkdir(exist_ok=True)
        for name in ("training", "validation", "testing"):
            (folder / f"{name}.int.csv").write_bytes((given / f"{name}.int.csv").read_bytes())
        with gzip.open(given / "triples.int.csv.gz", "rt") as file:
            triples = [tuple(map(int, line.split(","))) for line in file if line.strip()]
        kinds = 1 + max(kind for _, kind, _ in triples)
        with open(folder / "triples.int.csv", "w") as file:
            file.writelines(f"{head},{kind},{tail}\n" for head, kind, tail in triples)
            file.writelines(f"{tail},{kind + kinds},{head}\n" for head, kind, tail in triples)
        return folder

    def model(self, workload):
        """The model's file, without what makes gnnc evaluate while it trains."""
        path = self.folder / "models" / f"{workload.model}.gnn"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(EVALUATES.sub("", workload.model_file().read_text()))
        return path

    def case(self, workload, graph, data):
        """The folder of weights and logits; `checked` in it says what gnnc computed."""
        options = "-".join(f"{k}{v}" for k, v in sorted(workload.options.items()))
        key = f"{workload.model}-{workload.data}-{options or 'plain'}"
        if key in self.made:
            return self.made[key]
        folder = self.folder / "cases" / key
        folder.mkdir(parents=True, exist_ok=True)
        weights = folder / "weights.safetensors"
        base = [str(self.model(workload)), "--data", data, "-q", "--json", *self.more]
        for name, value in workload.options.items():
            base += ["-D", f"{name}={value}"]
        drawn = DRAWN.get(workload.model)
        if drawn:
            features = json.loads((graph / "meta.json").read_text())["features"]
            shapes = {name: shape(features) for name, shape in drawn.items()}
            write_safetensors(weights,
                              {name: (s, floats(s[0] * s[1], 2)) for name, s in shapes.items()})
        elif "train" in workload.model_file().read_text().split():
            self._run([self.gnnc, "train", *base, *(["-D", "p=0"] if workload.drops() else []),
                       "--epochs", "1", "--save", str(weights)])
        if weights.exists():
            unpack_safetensors(weights, folder)
            base += ["--weights", str(weights)]
        if (graph / "edge_weight.f32").exists():
            (folder / "edge_weight.f32").write_bytes((graph / "edge_weight.f32").read_bytes())
        out = folder / "predictions.npz"
        self._run([self.gnnc, "run", *base, "--predictions", str(out)])
        with zipfile.ZipFile(out) as archive:
            # `out`: of no classes
            name = next(n for n in ("logits.npy", "out.npy") if n in archive.namelist())
            (folder / "logits.f32").write_bytes(read_npy(archive.read(name)))
        out.unlink()
        self.made[key] = folder
        return folder

    def _run(self, command):
        contenders.run_measured(command, {"GNNC_CACHE_DIR": str(self.folder / "caches" / "cases")},
                                self.timeout)
