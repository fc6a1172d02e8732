"""Results as Markdown: a summary, then a table a workload. Reads what the races left, so that a
part of them is a page too."""
import json
import pathlib

import duel
import hands
import peers


def ms(us):
    if us is None:
        return "–"
    return (f"{us / 1000:.4f}" if us < 1000 else f"{us / 1000:.3f}" if us < 100_000
            else f"{us / 1000:.0f}")


def mb(size):
    return "–" if not size else f"{size / 1e6:.0f}" if size >= 1e7 else f"{size / 1e6:.1f}"


def number(value):
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def seconds(value):
    return "–" if value is None else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def line(cells):
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"


def ran(row):
    return row and "failed" not in row


def best_peer(rows, plain=False):
    """(name, row) of the fastest peer that computes the same; experts and other gnncs are not
    peers. `plain`: of those with the system's allocator as it is."""
    found = [(name, row) for name, row in rows.items()
             if ran(row) and "first_s" in row and not row.get("wrong") and not peers.is_expert(name)
             and (not plain or name.endswith("+plain"))]
    return min(found, key=lambda pair: pair[1]["median"], default=(None, None))


def best_expert(rows):
    found = [(name, row) for name, row in rows.items() if ran(row) and peers.is_expert(name)
             and not row.get("wrong")]
    return min(found, key=lambda pair: pair[1]["median"], default=(None, None))


def counts(row):
    """A hand-written program is a yardstick where its figure was reached, or where there is none to
    reach."""
    return ran(row) and not row.get("wrong") and row.get("yardstick") is not False


def verdicts(result, results):
    """[(goal as text, what was measured, met)]; met is None where it cannot be said."""
    rows, goals, out = result["rows"], result["workload"]["goals"], []
    gnnc = rows.get("gnnc")
    if not ran(gnnc):
        return [(f"{name}", "not measured", None) for name in goals]
    for name, goal in goals.items():
        text, value = f"{name} {goal}", None
        if name == "best":
            value = (best_peer(rows)[1] or {}).get("ratio")
            text = f"at least {goal:g} × the best peer"
        elif name in ("hand", "tuned"):
            hand = rows.get("by hand")
            mine = gnnc if name == "hand" else rows.get("gnnc tuned")
            text = f"at most {goal:g} × by hand" + (", tuned" if name == "tuned" else "")
            if ran(hand) and ran(mine):
                value = against(mine, hand)
                if not counts(hand):
                    out.append((text, number(value) + " (no yardstick here)", None))
                    continue
        elif name == "memory":
            text = f"resident at most {goal:g} × the least of a peer"
            sizes = [row["rss"] for key, row in rows.items() if ran(row) and "first_s" in row
                     and row["rss"] and not row.get("wrong") and not peers.is_expert(key)]
            value = gnnc["rss"] / min(sizes) if sizes and gnnc["rss"] else None
        elif name == "two":
            text = f"two threads at least {goal:g} × one"
            value = (rows.get("gnnc, one thread") or {}).get("ratio")
        elif name == "grows":
            other = results.get(goal[1], {}).get("rows", {}).get("gnnc")
            text, value = (f"at most {goal[0]:g} × {goal[1]}",
                           gnnc["median"] / other["median"] if ran(other) else None)
            goal = goal[0]
        met = None if value is None else value >= goal if name in ("best", "two") else value <= goal
        out.append((text, number(value), met))
    return out


def against(mine, hand):
    """How many times longer than by hand, by the rounds in which both met gnnc."""
    return mine.get("ratio", 1.0) / hand["ratio"]


SAID = {True: "yes", False: "**no**", None: "–"}


def summary(results):
    lines = [line(["workload", "gnnc, ms", "by hand", "× by hand", "tuned ×", "best peer", "ms",
                   "× gnnc", "plain ×", "expert ×", "memory, MB: gnnc / peer", "goals"]),
             line(["---"] * 12)]
    for name, result in results.items():
        if "failed" in result:
            lines.append(line([name, result["failed"]] + [""] * 10))
            continue
        rows = result["rows"]
        gnnc, hand, tuned = rows.get("gnnc"), rows.get("by hand"), rows.get("gnnc tuned")
        peer, best = best_peer(rows)
        plain, expert = best_peer(rows, plain=True)[1], best_expert(rows)[1]
        one = rows.get("gnnc, one thread")
        goals = "; ".join(f"{text}: {value}, {SAID[met]}"
                          for text, value, met in verdicts(result, results))
        lines.append(line(
            [name, ms(gnnc["median"]), (ms(hand["median"]) + ("" if counts(hand) else " (!)"))
             if ran(hand) else "–", number(against(gnnc, hand)) if ran(hand) else "–",
             number(against(tuned, hand)) if ran(hand) and ran(tuned) else "–",
             peer or ("one thread" if ran(one) else "–"),
             ms(best["median"]) if best else ms(one["median"]) if ran(one) else "–",
             number(best["ratio"]) if best else number(one["ratio"]) if ran(one) else "–",
             number(plain["ratio"]) if plain else "–", number(expert["ratio"]) if expert else "–",
             f"{mb(gnnc['rss'])} / {mb(best['rss']) if best else '–'}", goals or "–"]))
    return lines


def remarks(name, row):
    out = [row["wrong"]] if row.get("wrong") else []
    difference = (row.get("about") or {}).get("difference")
    if difference is not None and difference >= 0:
        out.append(f"logits agree to {difference:.0e}")
    if row.get("yardstick") is not None:
        out.append(f"{'a' if row['yardstick'] else 'no'} yardstick: {ms(row['expected_us'])} ms "
                   "expected here")
    if None in ((row.get("about") or {}).get("losses") or []):
        out.append("draws of its own: losses are not compared")
    if row["blocks"] == 1:
        out.append("one round")
    if row.get("cpu") is not None and row["cpu"] < duel.BUSY:
        out.append(f"busy: had the processor for {row['cpu']:.0%}")
    if row.get("pays_after_never"):
        out.append("never pays")
    return "; ".join(out)


def page(name, result):
    """The section of one workload."""
    w = result["workload"]
    what = "training step" if w["what"] == "train" else "inference"
    options = ", ".join(f"{k} {v}" for k, v in w["options"].items())
    precision = result.get("precision", "highest")
    lines = [f"## {name}", ""]
    lines += [
        f"{w['model']} on {w['data']} ({result['meta']['nodes']} nodes, {result['meta']['edges']} "
        f"edges, {result['meta']['features']} features): one {what}, {w['threads']} thread(s), "
        f"dropout {w['p']:g}"
        f"{', ' + options if options else ''}"
        f"{', products with ' + precision + ' precision' if precision != 'highest' else ''}. "
        f"{result['date']}, load {result['load'][0]}, gnnc at {result['revision']}.", ""]
    if result.get("round_trip"):
        trips = " and ".join(f"{trip['median_ns']:.0f} ns" for trip in result["round_trip"])
        lines += [f"Round trip between two cores around the batch: {trips}.", ""]
    lines += [line(["", "median, ms", "p10 – p90", "blocks", "× gnnc", "peak, MB",
                    "compile cold, s", "warm", "pays after step", ""]), line(["---"] * 10)]
    for who, row in result["rows"].items():
        if not ran(row):
            lines.append(line([who, "–"] + [""] * 7 + [row["failed"]]))
            continue
        ratio = "–"
        if "ratio" in row:
            ratio = (f"{number(row['ratio'])} ({number(row['ratio_range'][0])} – "
                     f"{number(row['ratio_range'][1])})")
        peak = mb(row.get("rss")) + (f" ({mb(row['planned'])} planned)" if row.get("planned")
                                     else "")
        lines.append(line([who, ms(row["median"]), f"{ms(row['p10'])} – {ms(row['p90'])}",
                           f"{ms(row['range'][0])} – {ms(row['range'][1])}", ratio, peak,
                           seconds(row.get("compile_cold_s")), seconds(row.get("compile_warm_s")),
                           row.get("pays_after") or "–", remarks(who, row)]))
    return lines + [""]


def by_hand(host, results):
    """Who compiled the programs by hand, and, loudly, where there is nothing to compare with."""
    lines = [f"Programs by hand: {host['cc']}.", ""] if host.get("cc") else []
    for name, result in results.items():
        failed = result.get("rows", {}).get("by hand", {}).get("failed")
        if failed:
            lines += [f"**{name}: by hand is missing**, and so is its goal: "
                      f"{' '.join(failed.split())}", ""]
    return lines


def versions(results):
    found = {}
    for result in results.values():
        for name, row in result.get("rows", {}).items():
            for key, value in ((row.get("about") or {}).get("versions") or {}).items():
                found.setdefault(key, set()).add(str(value))
    return ", ".join(f"{key} {' and '.join(sorted(values))}"
                     for key, values in sorted(found.items()))


def write(folder, host, results):
    """folder/README.md from the results so far."""
    lines = ["# Race", "", f"{host['date']}; {host['cpu']} (family {host['family']}, model "
             f"{host['model']}), {host['cpus']} processors"
             f"{', virtual' if host['virtual'] else ''}, {host['memory']}, caches "
             f"{host['caches']}; Linux {host['kernel']}; {host['gnnc']} at {host['revision']}; "
             f"{versions(results) or 'no peers'}. Load at the beginning {host['load'][0]}.", ""]
    if host.get("ceilings"):
        lines += [
            "Ceilings, one thread (two): " +
            ", ".join(f"{key} {value:g} ({host['ceilings'].get('2', {}).get(key, float('nan')):g})"
                      for key, value in host["ceilings"]["1"].items()) +
            f". The figures of LIMITS come from {hands.REFERENCE['cpu']}.", ""]
    lines += ["Medians in milliseconds; *× gnnc* is the median over rounds of the quotient in a "
              "round (the range); *by hand (!)* missed its scaled figure and is no yardstick; "
              "*plain* is the best peer whose allocator is the system's as it is.", "",
              *by_hand(host, results), *summary(results), ""]
    for name, result in results.items():
        if "failed" not in result:
            lines += page(name, result)
    pathlib.Path(folder, "README.md").write_text("\n".join(lines))


def load(folder, order):
    """Results that are there, in the order of the table."""
    out = {}
    for name in order:
        path = pathlib.Path(folder) / f"{name}.json"
        if path.exists():
            out[name] = json.loads(path.read_text())
    return out
