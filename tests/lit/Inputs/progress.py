"""Progress on a terminal: a pseudo-terminal of so many columns hears what gnnc writes."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios

gnnc, root, folder = sys.argv[1:4]
GCN, GAT = (os.path.join(root, "samples", name) for name in ("gcn.gnn", "gat.gnn"))


def resize(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def heard(columns, *args, term="xterm", until=None, then=None):
    """What it writes; once `until` was read, `then` is called with the process and its terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resize(0, columns)
        os.environ["TERM"] = term
        os.execv(gnnc, [gnnc, *map(str, args)])
    text = b""
    while True:
        assert select.select([fd], [], [], 60)[0], text
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
        if until and until in text:
            until = None
            then(pid, fd)
    return text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def lines(text):
    """What each rewriting shows."""
    return re.findall(r"\r([^\r\n\x1b]+)\x1b\[K", text)


# Cut to the width; all of it where there is room.
for columns in (20, 40, 79):
    text, status = heard(columns, "train", GCN, "--epochs", 3000)
    shown = lines(text)
    assert status == 0 and len(shown) >= 2, text
    assert max(map(len, shown)) == columns - 1, (columns, shown)
text, status = heard(200, "train", GCN, "--epochs", 3000)
assert re.fullmatch(r"epoch \d+/3000  [\d.]+ \w+ of [\d.]+ \w+ left  loss [\d.]+  train [\d.]+%  "
                    r"val [\d.]+%  test [\d.]+%", lines(text)[0]), lines(text)
assert re.match(r"epoch 3000/3000  took [\d.]+ \w+  loss", lines(text)[-1]), lines(text)
text, status = heard(200, "train", GAT, "--epochs", 3000, "--seeds", 2, "--lr", 0.02)
assert any(re.match(r"seed 1/2  epoch \d+/3000  .* of at most .* left .* no better for \d+ of 100$",
                    x) for x in lines(text)), text
assert re.match(r"seed 2/2  epoch (3000/3000 .* for \d+|\d+/3000 .* for 100) of 100$",
                lines(text)[-1]), lines(text)

# An epoch of many batches says how far it is.
text, status = heard(200, "train", GCN, "--epochs", 2000, "--batch", 2, "--fanout", "3,2")
assert status == 0 and any(re.fullmatch(
    r"epoch \d+  batch \d+/\d+  [\d.]+ \w+ left of it  [\d.]+ a second, \d+% waiting for data  "
    r"loss [\d.]+", x)
    for x in lines(text)), lines(text)

# The window is made narrower while it runs.
after = []


def narrow_then_stop(pid, fd):
    resize(fd, 30)
    rest = b""
    while rest.count(b"\x1b[K") < 5:
        rest += os.read(fd, 65536)
    after.append(rest.decode())
    os.kill(pid, signal.SIGINT)


text, status = heard(100, "train", GCN, "--epochs", 1000000000, until=b"\x1b[K",
                     then=narrow_then_stop)
assert status == 130, status
assert len(lines(text)[0]) > 30 and all(len(x) <= 29 for x in lines(after[0])[-3:]), (text, after)

# A search says what it tries, what is best, and what time is left; then the line is gone.  A slow
# machine has no best so soon.
for args in (("tune", GCN), ("run", GCN, "-O", "max-autotune")):
    for budget in (0.7, 5, 30):
        text, status = heard(150, *args, "--tune-budget", budget)
        assert status == 0, text
        assert re.match(r"search, (step|eval): [\d.]+ [mu]?s left", lines(text)[0]), text
        assert "\r\x1b[K" in text and "search" not in text[text.rindex("\r\x1b[K"):], text
        if any(re.search(r"left  best [\d.]+ us \(default [\d.]+ us\)  trying \w+", x)
               for x in lines(text)):
            break
    else:
        assert False, text

# No escapes and no lines that rewrite where they would not be seen.
for args in (("train", GCN, "--epochs", 300), ("tune", GCN, "--tune-budget", 0.2)):
    text, status = heard(80, *args, term="dumb")
    assert status == 0 and "\x1b" not in text and not re.search(r"\r(?!\n)", text), text
    text, status = heard(80, *args, "-q")
    assert status == 0 and "\x1b" not in text and not re.search(r"\r(?!\n)", text), text
    p = subprocess.run([gnnc, *map(str, args)], capture_output=True, text=True, check=True)
    assert "\x1b" not in p.stderr + p.stdout and "\r" not in p.stderr + p.stdout, p.stderr
