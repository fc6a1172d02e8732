"""What each optimisation is worth: a workload with each left out in turn, in alternating blocks
with everything on.  The figure is the median of the quotients of blocks that lie side by side: a
machine that runs faster for some minutes does not enter it."""
import re
import subprocess

import duel
from contenders import RaceError
from report import line, mb, ms, number

SWITCH = re.compile(r"^ {2}(\S+) {1,}(\*)? *\S")


def switches(gnnc):
    """Names that `gnnc opt --list` lists and `--without` takes."""
    try:
        done = subprocess.run([gnnc, "opt", "--list"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RaceError(f"{gnnc}: {error}") from None
    if done.returncode:
        raise RaceError(f"{gnnc} opt --list: {done.stderr.strip()}")
    found = [SWITCH.match(text) for text in done.stdout.splitlines()]
    return list(dict.fromkeys(match.group(1) for match in found if match and not match.group(2)))


def run(race, names, rounds, seconds, say):
    """{name: figures}: the first is everything on."""
    race.prepare()
    base = race.make_gnnc()
    steps, _ = race.calibrate(base)
    rows, all_blocks = {}, []
    for name in names:
        def one():
            more = ["-O", "eager"] if name == "-O eager" else ["--without", name]
            other = race.make_gnnc("without-" + name.replace(" ", ""), more)
            first = other.block(2)
            count = duel.steps_for(first["median"], seconds, least=2)
            mine, theirs = duel.alternate(base, other, (steps, count), rounds)
            all_blocks.extend(mine)
            return duel.figures(theirs) | duel.ratio(theirs, mine)
        row, why = duel.guarded(one)
        rows[name] = row or {"failed": why}
        say(f"{race.w.name} without {name}: " +
            (f"{number(row['ratio'])} × the time" if row else why))
    return {"all": duel.figures(all_blocks)} | rows if all_blocks else rows


def table(name, rows):
    """Sorted by what leaving it out costs; what changes less than 2 % is one line."""
    lines = [f"### {name}", "", line(["left out", "ms", "× the time with it (rounds)",
                                      "planned, MB", "resident, MB"]), line(["---"] * 5)]
    known = {key: row for key, row in rows.items() if "failed" not in row and key != "all"}
    if "all" in rows:
        all_row = rows["all"]
        lines.append(line(["nothing", ms(all_row["median"]), "1", mb(all_row["planned"]),
                           mb(all_row["rss"])]))
    small = []
    for key, row in sorted(known.items(), key=lambda pair: -pair[1]["ratio"]):
        same_memory = "all" in rows and row["planned"] == rows["all"]["planned"]
        if abs(row["ratio"] - 1) < 0.02 and same_memory:
            small.append(key)
            continue
        low, high = row["ratio_range"]
        lines.append(line([key, ms(row["median"]),
                           f"{number(row['ratio'])} ({number(low)} – {number(high)})",
                           mb(row["planned"]), mb(row["rss"])]))
    lines += [line([key, "–", row["failed"], "", ""])
              for key, row in rows.items() if "failed" in row]
    lines += ["", "Less than 2 % here: " + ", ".join(small) + "."] if small else []
    return lines + [""]
