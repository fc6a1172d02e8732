"""GNNC_JIT_EVENTS: perf's map and jitdump have every kernel once, by the name that people know,
with code and lines of the model; the map is of the same; what is asked for wrongly is said."""
import glob
import os
import re
import shutil
import struct
import subprocess

import runs

r = runs.Runs(shared=True)
GAT = os.path.join(runs.SAMPLES, "gat.gnn")
LOAD, DEBUG = 0, 2


def check(what, holds):
    if not holds:
        r.problems.append(what)


def text_at(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def records(data):
    """(kind, time, bytes) of each, behind the header."""
    magic, version, head, machine, _, pid, _, flags = struct.unpack_from("<6I2Q", data)
    check("dump: header", (magic, version, head, machine, flags) == (0x4A695444, 1, 40, 62, 0))
    at = head
    while at < len(data):
        kind, size, time = struct.unpack_from("<IIQ", data, at)
        check("dump: a record's size", 16 < size <= len(data) - at)
        yield kind, time, data[at + 16:at + size]
        at += size


def lines_of(body):
    address, n = struct.unpack_from("<QQ", body)
    at, out = 16, []
    for _ in range(n):
        where, line, _ = struct.unpack_from("<QiI", body, at)
        name, at = text_at(body, at + 16)
        out.append((where, line, name))
    check("dump: lines fill their record", at == len(body))
    return address, out


def check_dump(data, lines_in_model):
    kernels, pending, last = {}, None, 0
    for kind, time, body in records(data):
        check("dump: times ascend", time >= last)
        last = time
        if kind == DEBUG:
            pending = lines_of(body)
            continue
        check(f"dump: record {kind}", kind == LOAD)
        _, _, where, address, size, index = struct.unpack_from("<IIQQQQ", body)
        name, at = text_at(body, 40)
        check(f"dump: {name}: code", len(body) - at == size > 0 and where == address)
        check(f"dump: {name}: number", index == len(kernels))
        if pending:
            check(f"dump: {name}: lines are its own", pending[0] == address)
            places = [p[0] for p in pending[1]]
            check(f"dump: {name}: places", places == sorted(places) and places[0] == address and
                  places[-1] == address + size - 1)
            check(f"dump: {name}: lines", all(1 <= p[1] <= lines_in_model and p[2] ==
                                              os.path.realpath(GAT) for p in pending[1]))
        else:
            check(f"dump: {name} has no lines", name.startswith("(optimizer)"))
        kernels[name] = (address, size, pending[1] if pending else [])
        pending = None
    return kernels


def map_of(pid):
    return f"/tmp/perf-{pid}.map"


def leave_stale():
    """What an earlier process of the same number left."""
    with open(map_of(os.getpid()), "w") as f:
        f.write("1000 10 stale\n")


def leave_link():
    os.symlink(r.path("victim"), map_of(os.getpid()))


def run(words, folder=r.folder, before=None):
    env = dict(os.environ, GNNC_JIT_EVENTS=words, JITDUMPDIR=folder)
    p = subprocess.Popen([r.gnnc, "train", GAT, "--epochs", "2", "-q", "--threads", "1"], env=env,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         preexec_fn=before)
    out, err = p.communicate()
    r.count += 1
    return p.pid, p.returncode, out, err


pid, status, out, err = run("map,dump,gdb", before=leave_stale)
check(f"ends with {status}: {err}", status == 0)
map_path = map_of(pid)
with open(map_path) as f:
    mapped = [re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) (.+)", line) for line in f.read().splitlines()]
os.remove(map_path)
check("map: lines", mapped and all(mapped))
check("map: stale lines", not any(m and m[3] == "stale" for m in mapped))
dumps = glob.glob(os.path.join(r.folder, f"jit-{pid}.dump"))
check(f"dump: {dumps}", len(dumps) == 1)
with open(GAT) as f:
    kernels = check_dump(open(dumps[0], "rb").read(), len(f.read().splitlines()))
check("map and dump are of the same kernels",
      sorted((int(m[1], 16), int(m[2], 16), m[3]) for m in mapped) ==
      sorted((a, n, name) for name, (a, n, _) in kernels.items()))
names = " ".join(kernels)
for part in ("convs.0 ", "convs.1 ", "convs.0 backward", "weights", "update", "[step_"):
    check(f"no '{part}' in {names}", part in names)
found = {line for _, _, lines in kernels.values() for _, line, _ in lines}
check(f"lines {found}", {10, 11, 17} <= found)

# Results are what they are without.
os.environ.pop("GNNC_JIT_EVENTS", None)
_, _, plain, _ = run("")
check("the same training", [x for x in out.splitlines() if "loss" in x] ==
      [x for x in plain.splitlines() if "loss" in x])
_, status, _, err = run("map,perf")
check(f"{status}: {err}", status == 2 and "GNNC_JIT_EVENTS: 'perf': expected" in err)
_, status, _, err = run("dump", r.path("no/where"))
check(f"{status}: {err}", status == 3 and "cannot open" in err)

pid, status, _, err = run("map", before=leave_link)
os.remove(map_of(pid))
check(f"a link: {status}: {err}", status == 3 and "cannot open /tmp/perf-" in err and
      not os.path.exists(r.path("victim")))

if shutil.which("gdb") and not runs.SANITIZED:
    with open(r.path("commands"), "w") as f:
        f.write("set breakpoint pending on\nset confirm off\nbreak gat.gnn:11\n"
                f"run train {GAT} --epochs 2 -q --threads 1\nbacktrace 1\n")
    p = subprocess.run(["gdb", "-batch", "-nx", "-x", r.path("commands"), r.gnnc],
                       env=dict(os.environ, GNNC_JIT_EVENTS="gdb"), capture_output=True, text=True)
    traced = "ptrace" in p.stderr or "not being run" in p.stderr
    check(f"gdb: {p.stdout[-800:]}", traced or re.search(r"gat\.gnn:11\n.*\[step_\w+\]",
                                                        p.stdout, re.S) or
          re.search(r"\[step_\w+\] \(\) at .*gat\.gnn:11", p.stdout))
r.done()
