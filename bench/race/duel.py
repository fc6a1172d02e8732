"""How two are compared: blocks in turn, and the figures that come of them."""
import statistics

from contenders import RaceError

# processor time over time of a block on one thread, below which somebody else had the processor
BUSY = 0.95
CLOSE = 1.5   # times the best peer's time, beyond which a peer runs one round only


def steps_for(us, seconds, most=500, least=1):
    """How many steps of `us` microseconds fill a block."""
    return int(min(most, max(least, seconds * 1e6 // max(us, 0.01))))


def alternate(one, other, steps, rounds, enough=None):
    """(blocks of one, blocks of other): in turn, the second round begins with the other, and so on.
    `enough(blocks)` of the other's blocks ends it early."""
    mine, theirs = [], []
    for number in range(rounds):
        pairs = [(one, mine, steps[0]), (other, theirs, steps[1])]
        for who, blocks, count in pairs if number % 2 == 0 else reversed(pairs):
            blocks.append(who.block(count))
        if enough and enough(theirs):
            break
    return mine, theirs


def ratio(blocks, base):
    """How many times longer than `base` in the same round: the median and the range."""
    quotients = [a["median"] / b["median"] for a, b in zip(blocks, base)]
    return {"ratio": statistics.median(quotients),
            "ratio_range": [min(quotients), max(quotients)]} if quotients else {}


def figures(blocks):
    """Times in microseconds: the median over blocks of each figure, the range of the medians, the
    largest memory."""
    medians = [block["median"] for block in blocks]
    out = {key: statistics.median(block[key] for block in blocks)
           for key in ("median", "p10", "p90")}
    out |= {"range": [min(medians), max(medians)], "blocks": len(blocks),
            "steps": sum(block["steps"] for block in blocks)}
    for key in ("rss", "planned"):
        known = [block[key] for block in blocks if block.get(key)]
        out[key] = max(known) if known else None
    shares = [block["cpu"] for block in blocks if block.get("cpu") is not None]
    out["cpu"] = min(shares) if shares else None
    return out


def pays_after(compile_s, us, eager_us):
    """The step from which compiling has paid for itself against eager; None where it never does."""
    gain = (eager_us - us) * 1e-6
    return max(1, int(compile_s / gain) + 1) if gain > 0 else None


def guarded(action, *arguments):
    """(result, None), or (None, the reason)."""
    try:
        return action(*arguments), None
    except RaceError as error:
        return None, str(error)
