"""The manual page knows every option and command that the program has, and no other."""
import os
import re
import subprocess
import sys

gnnc, page, root = sys.argv[1:4]
text = open(page).read().replace("\\-", "-")


def said(*args):
    return subprocess.run([gnnc, *args], capture_output=True, text=True, check=True).stdout


listed = said("help").split("commands:\n")[1].split("\n\n")[0]
synopsis = text[text.index(".SH SYNOPSIS"):text.index(".SH DESCRIPTION")]
commands = re.findall(r"^  (\w+) ", listed, re.M)
assert {"compile", "train", "run", "opt", "reduce"} <= set(commands), commands
options, letters = set(), set()
for c in commands:
    assert f".B {c}\n" in text, f"the manual has no command {c}"
    assert c == "compile" or f".B gnnc {c}\n" in synopsis, f"the synopsis has no command {c}"
    for letter, name in re.findall(r"^  (?:-(\w), |    )--([\w-]+)", said("help", c), re.M):
        options.add(name)
        letters |= {letter} - {""}
section = text[text.index(".SH OPTIONS"):text.index(".SH FILES")]
assert len(options) >= 20, options
entries = re.findall(r"^\.TP\n(.*)", section, re.M)
manual = set(re.findall(r"--([\w-]+)", " ".join(entries)))
assert manual == options, f"not in the manual: {options - manual}; only there: {manual - options}"
assert set(re.findall(r"(?:^|\s)-(\w) ", " ".join(entries).replace('"', " "))) == letters, letters
for status in "0 1 2 3 4 70 130".split():
    assert f".B {status}\n" in text, f"the manual has no exit status {status}"
# Variables of the environment that the program asks for.
asked = set()
for path in (os.path.join(folder, name) for top in ("cli", "runtime", "src")
             for folder, _, names in os.walk(os.path.join(root, top))
             for name in names if name.endswith(".c")):
    with open(path, encoding="utf-8") as f:
        asked |= {a or b
                  for a, b in re.findall(r'getenv\("(\w+)"\)|\bset\("([A-Z_]+)"\)', f.read())}
assert {"GNNC_CACHE", "NO_COLOR", "PATH"} <= asked, asked
environment = set(re.findall(r"\w+",
                             text[text.index(".SH ENVIRONMENT"):text.index(".SH EXIT STATUS")]))
assert asked <= environment, f"not in the manual: {asked - environment}"
# No line begins with what troff would take for a request by mistake.
for line in text.split("\n"):
    assert not re.match(r"'|\.(?!(TH|SH|SS|TP|B|I|BR|BI|RB|RI|IR|IB|br|nf|fi)\b)", line), line
