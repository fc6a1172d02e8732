"""Ctrl-C: training and searching end early and keep what there is; a second one ends at once.

A process is ready for a signal when the kernel says that it catches it; nothing here waits for a
time to pass."""
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

gnnc, root, folder = sys.argv[1:4]
model = os.path.join(root, "samples", "gcn.gnn")
LONG = "1000000000"


def path(name):
    return os.path.join(folder, name)


def check(right, *what):
    if not right:
        sys.exit(" ".join(map(str, what)))


def catches(p):
    with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
        mask = int(re.search(r"SigCgt:\s*(\w+)", f.read())[1], 16)
    return bool(mask >> (signal.SIGINT - 1) & 1)


def wait_until(p, caught):
    while catches(p) != caught:
        check(p.poll() is None, "it ended by itself:", p.poll())
        time.sleep(0.01)


def start(*args, **options):
    # Check and lit may run in the background of a shell, which ignores SIGINT for them.
    return subprocess.Popen(
        [gnnc, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, options.get("before", signal.SIG_DFL)))


def interrupted(p):
    wait_until(p, True)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate()
    check(p.returncode == 130, "exit status", p.returncode, out, err)
    return out, err


# Training: reported, saved, and said so.
out, err = interrupted(start("train", model, "-q", "--epochs", LONG, "--save", path("w.st"),
                             "--predictions", path("p.csv")))
epochs = re.fullmatch(
    r"seed 0: (\d+) epochs?(?:, best \d+:|,) loss \d\.\d+, accuracy train .*\nstep .*\n", out)
check(epochs, out)
check(err == f"gnnc: interrupted after epoch {epochs[1]} of {LONG}; the weights that there are "
      f"then are in {path('w.st')}\n", err)
again = subprocess.run([gnnc, "run", model, "-q", "--weights", path("w.st"), "--predictions",
                        path("q.csv")], capture_output=True, text=True, check=True).stdout
accuracy = re.search(r"accuracy train.*", out)[0]
check(accuracy in again, out, again)
with open(path("p.csv"), encoding="ascii") as a, open(path("q.csv"), encoding="ascii") as b:
    check(a.read() == b.read(), "the weights that were saved predict something else")
# The same weights as training that ends there.
subprocess.run([gnnc, "train", model, "-q", "--epochs", epochs[1], "--save", path("v.st")],
               stdout=subprocess.DEVNULL, check=True)
with open(path("w.st"), "rb") as a, open(path("v.st"), "rb") as b:
    check(a.read() == b.read(), "other weights than those of that many epochs")

# Machines are told, too.
out, err = interrupted(start("train", model, "-q", "--epochs", LONG, "--json"))
check([run["interrupted"] for run in json.loads(out)["runs"]] == [True], out)
out = subprocess.run([gnnc, "train", model, "-q", "--epochs", "1", "--json"], capture_output=True,
                     text=True, check=True).stdout
check([run["interrupted"] for run in json.loads(out)["runs"]] == [False], out)

# Seeds that were not begun are left out.
out, err = interrupted(start("train", model, "-q", "--epochs", LONG, "--seeds", "3"))
check(out.count("seed ") == 1 and err.startswith("gnnc: seed 0: interrupted after epoch "), out,
      err)

# A second one, while the file is waiting for a reader, ends at once.
os.mkfifo(path("pipe"))
p = start("train", model, "-q", "--epochs", LONG, "--save", path("pipe"))
wait_until(p, True)
p.send_signal(signal.SIGINT)
wait_until(p, False)
p.send_signal(signal.SIGINT)
p.communicate()
check(p.returncode == -signal.SIGINT, "exit status", p.returncode)

# Where it is ignored it stays ignored.
p = start("train", model, "-q", "--epochs", "3000", before=signal.SIG_IGN)
while p.poll() is None:
    check(not catches(p), "it catches what it was to ignore")
    p.send_signal(signal.SIGINT)
out, err = p.communicate()
check(p.returncode == 0 and out.startswith("seed 0: 3000 epochs"), p.returncode, out, err)

def search_ended(*args):
    """Interrupted when the search has its first figure."""
    p = start(*args, "-v", "--threads", "1", "--tune-budget", "100000")
    for line in p.stderr:
        if re.match(r"tune: (step|eval), default", line):
            break
    threading.Timer(0, p.send_signal, [signal.SIGINT]).start()
    out, err = p.communicate()
    check(p.returncode == 130, "exit status", p.returncode, out, err)
    return out, err


# The search that another command begins with.
for k, (command, more) in enumerate((("train", ()), ("run", ()), ("explain", ("--what", "eval")))):
    out, err = search_ended(command, model, *more, "-O", "max-autotune", "--cache-dir",
                            path(f"s{k}"))
    check(out == "", command, out)
    check("gnnc: interrupted before it ran: what a search found until then is kept, and another "
          "goes on there" in err, err)
    kept = subprocess.run([gnnc, "tune", "--show", "--cache-dir", path(f"s{k}")],
                          capture_output=True, text=True, check=True).stdout
    check(" of GCN" in kept, command, kept)

# A search: what it has found is kept, and a lock is of whole searches.
out, err = search_ended("tune", model, "--cache-dir", path("c"), "--tune-lock", path("lock"))
check(re.match(r"step: [\d.]+ us, the default", out) and "eval: " not in out, out)
check("gnnc: interrupted: what was found until then is kept, and another search goes on there; no "
      "lock is written" in err, err)
check(not os.path.exists(path("lock")), "a lock of half of the programs")
kept = subprocess.run([gnnc, "tune", "--show", "--cache-dir", path("c")], capture_output=True,
                      text=True, check=True).stdout
check(kept.startswith("step of GCN"), kept)
out, err = search_ended("tune", model, "--cache-dir", path("j"), "--json")
check(json.loads(out)["interrupted"] is True, out)
