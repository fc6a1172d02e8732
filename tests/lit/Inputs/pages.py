"""Every option of every command is in its manual page and in the completion of each shell; bash
completes by it."""
import os
import re
import shutil
import subprocess
import sys

gnnc, folder = sys.argv[1:3]


def said(*args):
    return subprocess.run([gnnc, *args], capture_output=True, text=True, check=True).stdout


commands = re.findall(r"^  (\w+) ", said("help").split("commands:\n")[1].split("\n\n")[0], re.M)
assert {"train", "run", "opt", "doctor"} <= set(commands), commands
shells = {name: said("--completion", name) for name in ("bash", "zsh", "fish")}
for name, text in shells.items():
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)
for c in commands:
    page = said("--man", c)
    options = re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: (\w\S*))?  ", said("help", c), re.M)
    assert len(options) >= 3, (c, options)
    bash = re.search(rf"^ +{c}\) options='(.*)' ;;$", shells["bash"], re.M)[1].split()
    zsh = re.search(rf"^    {c}\)\n.*?;;$", shells["zsh"], re.M | re.S)[0]
    fish = re.findall(rf"^complete -c gnnc -n '__fish_seen_subcommand_from {c}'(.*)$",
                      shells["fish"], re.M)
    assert len(fish) == len(options), (c, fish)
    plain = page.replace("\\-", "-")
    for letter, name, value in options:
        head = (f"\\fB-{letter}\\fR, " if letter else "") + f"\\fB--{name}\\fR" + (
            f" \\fI{value}\\fR" if value else "")
        assert f".TP\n{head}\n" in plain, (c, name, head)
        assert f"--{name}" in bash and (not letter or f"-{letter}" in bash), (c, name)
        assert re.search(rf"--{name}(?![\w-])", zsh), (c, name)
        assert any(re.search(rf"(^| )-l {name}( |$)", x) for x in fish), (c, name)
    assert plain.count(".TP\n") == len(options), c
    for line in page.split("\n"):
        assert not re.match(r"'|\.(?!(TH|SH|SS|TP|BR|nf|fi)\b)", line), line
    for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"):
        assert f".SH {part}\n" in page, (c, part)
    if shutil.which("groff"):
        p = subprocess.run(["groff", "-man", "-ww", "-Tascii"], input=page, capture_output=True,
                           text=True)
        assert p.returncode == 0 and not p.stderr, (c, p.stderr)
    if shutil.which("mandoc"):
        p = subprocess.run(["mandoc", "-Tlint", "-Werror"], input=page, capture_output=True,
                           text=True)
        assert p.returncode == 0, (c, p.stdout)
assert said("--man", "train").count(".SS ") >= 5 and ".SS " not in said("--man", "cache")
for shell in ("bash", "zsh", "fish"):
    if shutil.which(shell):
        subprocess.run([shell, "-n", os.path.join(folder, shell)], check=True)


def completed(*words):
    """What bash offers for the last of the words."""
    quoted = " ".join(f"'{w}'" for w in words)
    script = (f"source '{folder}/bash'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _gnnc; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True,
                          check=True).stdout.split("\n")[:-1]


os.makedirs(os.path.join(folder, "a folder"))
if shutil.which("bash"):
    assert completed("gnnc", "train", "--ep") == ["--epochs"], completed("gnnc", "train", "--ep")
    assert completed("gnnc", "train", "--emi") == [""]
    assert completed("gnnc", "m.gnn", "--emi") == ["--emit"]
    assert set(completed("gnnc", "train", "m.gnn", "--undirected", "")) == {"auto", "on", "off"}
    assert completed("gnnc", "train", "--undirected", "=", "of") == ["off"]
    assert completed("gnnc", "opt", "-O", "eag") == ["eager"]
    assert completed("gnnc", "train", "--save", "a") == ["a folder"]
    assert "train" in completed("gnnc", "tr"), completed("gnnc", "tr")
