"""The table of workloads (bench/workloads.txt) and where their data lies."""
import dataclasses
import fnmatch
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DROPS = re.compile(r"^model \w+ *\([^)]*\bp *=", re.MULTILINE)
GOALS = ("best", "hand", "tuned", "two", "grows", "memory")


class TableError(Exception):
    pass


@dataclasses.dataclass
class Workload:
    name: str
    model: str
    data: str       # its name
    # what it is: a path below the data's root, synthetic:..., weighted:NAME, inverse:PATH,
    # facts:PATH
    source: str
    what: str       # train, infer
    p: float
    threads: int
    options: dict
    peers: str
    hand: str       # PROGRAM:ARGUMENT or ""
    # best, hand, tuned, two, memory: a number; grows: (a number, the workload that it grew from)
    goals: dict

    @property
    def training(self):
        return self.what == "train"

    def drops(self):
        """Whether the model has a hyperparameter p."""
        return bool(DROPS.search(self.model_file().read_text()))

    def model_file(self):
        for folder in ("samples", "bench/models"):
            if (ROOT / folder / f"{self.model}.gnn").exists():
                return ROOT / folder / f"{self.model}.gnn"
        raise TableError(
            f"{self.name}: no samples/{self.model}.gnn and no bench/models/{self.model}.gnn")


def parse_goals(text, where):
    goals = {}
    for part in [] if text == "-" else text.split(","):
        for sign in (">=", "<="):
            name, found, value = part.partition(sign)
            if not found:
                continue
            if name not in GOALS:
                raise TableError(f"{where}: no goal '{name}': expected one of {', '.join(GOALS)}")
            number, _, other = value.partition(":")
            goals[name] = (float(number), other) if name == "grows" else float(number)
            break
        else:
            raise TableError(f"{where}: '{part}': expected name>=number or name<=number")
    return goals


def parse_row(words, where):
    if len(words) != 10:
        raise TableError(f"{where}: {len(words)} words, expected 10: name model data what p t "
                         "options peers hand goals")
    name, model, data, what, p, threads, options, peers, hand, goals = words
    if what not in ("train", "infer"):
        raise TableError(f"{where}: '{what}': expected train or infer")
    try:
        number = (float(p), int(threads))
        pairs = dict(pair.split("=", 1) for pair in options.split(",")) if options != "-" else {}
    except ValueError as error:
        raise TableError(f"{where}: {error}") from None
    return Workload(name, model, data, "", what, number[0], number[1], pairs, peers,
                    "" if hand == "-" else hand, parse_goals(goals, where))


def read(path):
    """Workloads in the order of the file."""
    rows, data = [], {}
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        where = f"{path}:{number}"
        if words[:1] == ["data"]:
            if len(words) != 3:
                raise TableError(f"{where}: expected data NAME SOURCE")
            data[words[1]] = words[2]
        elif words:
            rows.append(parse_row(words, where))
    names = [row.name for row in rows]
    for row in rows:
        if row.data not in data:
            raise TableError(f"{path}: {row.name}: no data '{row.data}'")
        row.source = data[row.data]
        if names.count(row.name) > 1:
            raise TableError(f"{path}: {row.name} is there twice")
        if "grows" in row.goals and row.goals["grows"][1] not in names:
            raise TableError(
                f"{path}: {row.name} grows from '{row.goals['grows'][1]}', which is not there")
    return rows, data


def pick(rows, patterns):
    """Those whose name fits any of the patterns, in the order of the table; a pattern that fits
    none is an error."""
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(row.name, pattern) for row in rows):
            raise TableError(f"no workload fits '{pattern}'; --list shows them")
    return [row for row in rows if not patterns
            or any(fnmatch.fnmatchcase(row.name, pattern) for pattern in patterns)]


def data_argument(source, root):
    """What `gnnc --data` takes, or None where the data is not on this machine."""
    if source.startswith(("synthetic:", "weighted:")):
        return source
    made, _, below = source.rpartition(":")
    root = root or os.environ.get("GNNC_DATA")
    path = pathlib.Path(root) / below if root else None
    return (f"{made}:{path}" if made and path and path.exists() else str(path) if path
            and path.exists() else None)
