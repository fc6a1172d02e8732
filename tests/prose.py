#!/usr/bin/env python3
"""Counts words a sentence in the pages for readers.

Usage: prose.py [--all] [PAGE...]     (without pages: those of the rule)

The rule: a median of at most 18 words a sentence, and none of over 40.  A sentence is prose of a
paragraph, of an item of a list or of a quotation; code blocks, tables, headings and HTML are none.
A colon before a list ends one, as do `.`, `?`, `!` and `;` behind a word.  What stands between
backquotes is one word, and a link is its text.  Exit status 1 where a page breaks the rule;
--all prints every sentence of over 30 words, too.
"""

import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md"] + [f"docs/{name}.md" for name in (
    "performance", "profile", "cuda", "language", "data", "dynamic", "tuning", "bench", "tutorial",
    "examples", "python")]
MEDIAN, MOST, LONG = 18, 40, 30

ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
# An end of a sentence; not that of "e.g.", "i.e.", "cf.", "al.", of an initial or of a number.
END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bal)(?<!\bvs)(?<!\b[A-Z])"
                 r"[.?!][\"')\]*_]*(?=\s|$)")


def blocks(text):
    """(line, prose) of each paragraph and item."""
    found, at, fenced, item_open = [], 0, False, False
    lines = text.split("\n")
    now = []

    def close():
        if now:
            found.append((at, " ".join(now)))
            now.clear()

    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if bare.startswith("```") or bare.startswith("~~~"):
            fenced = not fenced
            close()
            continue
        indented_code = line.startswith("    ") and not now and not item_open
        if fenced or indented_code:
            continue
        if not bare or bare[0] in "#|" or re.match(
            r"^<\/?[a-z!]", bare) or set(bare) <= set("-=|: "):
            close()
            item_open = item_open and not bare  # an item's further paragraphs are indented
            continue
        bare = bare.lstrip("> ") if bare.startswith(">") else bare
        if ITEM.match(line):
            close()
            item_open = True
            bare = ITEM.sub("", line).strip()
        elif not now and not line.startswith(" "):
            item_open = False
        if not now:
            at = number
        now.append(bare)
    close()
    return found


def sentences(prose):
    """Lists of words."""
    prose = re.sub(r"(`+)(.+?)\1", "CODE", prose)
    prose = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    prose = re.sub(r"<[^>]*>", " ", prose)
    start = 0
    for end in [m.end() for m in END.finditer(prose)] + [len(prose)]:
        words = [w for w in prose[start:end].split() if re.search(r"\w", w)]
        start = end
        if words:
            yield words


def main():
    every = "--all" in sys.argv[1:]
    pages = [a for a in sys.argv[1:] if not a.startswith("--")]
    bad = 0
    for page in pages or PAGES:
        path = pathlib.Path(page) if pages else ROOT / page
        found = [(line, words) for line, prose in blocks(path.read_text(encoding="utf-8"))
                 for words in sentences(prose)]
        if not found:
            sys.exit(f"prose.py: {page}: no sentence in it")
        median = statistics.median(len(words) for _, words in found)
        most = max(len(words) for _, words in found)
        print(f"{page}: {len(found)} sentences, median {median:g}, longest {most}")
        for line, words in found:
            if len(words) > (LONG if every else MOST):
                print(f"  {page}:{line}: {len(words)} words: {' '.join(words[:12])} ...")
        bad += median > MEDIAN or most > MOST
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
