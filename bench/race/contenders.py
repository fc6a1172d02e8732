"""Those who race. Each has a name, `block(steps)` that gives a dict with the steps' times in
microseconds, and `close`."""
import json
import os
import select
import statistics
import subprocess
import tempfile
import time

# glibc gives large blocks back to the system and faults them in again at every step: up to twice
# the time of a step of PyTorch, for nothing that is PyTorch's. So it is told to keep them.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "8589934592",
               "MALLOC_TOP_PAD_": "268435456"}


class RaceError(Exception):
    """A contender could not run; the text is the reason that the table shows."""


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def first_to_go():
    """In the child: where memory runs out, the system ends a contender before anything else."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def short(text, limit=300):
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit // 2] + " … " + text[-limit // 2:]


class Process:
    """A program that answers lines: peers and hand-written programs. One process for all its
    blocks."""

    def __init__(self, name, command, environment=None, timeout=300, keeps_memory=False):
        self.name, self.command, self.timeout = name, command, timeout
        self.errors = tempfile.TemporaryFile("w+")
        begin = time.monotonic()
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=self.errors,
                                            env=os.environ | (KEEP_MEMORY if keeps_memory else {}) |
                                            (environment or {}), preexec_fn=first_to_go)
        except OSError as error:
            self.errors.close()
            raise RaceError(f"{command[0]}: {error.strerror}") from None
        self.rest = b""
        self.about = self._answer()
        self.about["ready_s"] = round(time.monotonic() - begin, 3)

    def _line(self):
        until = time.monotonic() + self.timeout
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.process.kill()
                self.process.wait()
                raise RaceError(f"no answer within {self.timeout:.0f} s")
            got = os.read(self.process.stdout.fileno(), 1 << 20)
            if not got:
                status = self.process.wait()
                self.errors.seek(0)
                said = short(self.errors.read())
                killed = " (killed: out of memory, or from outside)" if status == -9 else ""
                raise RaceError(f"ended with status {status}{killed}: {said}")
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def _answer(self):
        try:
            line = self._line()
            answer = json.loads(line)
        except ValueError:
            self.close()
            raise RaceError(f"answered {line[:200]!r}") from None
        except RaceError:
            self.close()
            raise
        if "error" in answer:
            self.close()
            raise RaceError(short(answer["error"]))
        return answer

    def block(self, steps):
        try:
            self.process.stdin.write(f"go {steps}\n".encode())
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise RaceError("it is gone") from None
        answer = self._answer()
        us = answer["us"]
        return {"median": statistics.median(us), "p10": percentile(us, 0.1),
                "p90": percentile(us, 0.9), "steps": len(us), "cpu": answer.get("cpu"),
                "rss": answer.get("rss")}

    def close(self):
        if self.process.poll() is None:
            try:
                self.process.communicate(b"quit\n", timeout=10)
            except (subprocess.TimeoutExpired, BrokenPipeError, ValueError):
                self.process.kill()
                self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            try:
                stream.close()
            except (BrokenPipeError, OSError):
                pass


def run_measured(command, environment, timeout):
    """(standard output, largest resident size in bytes)."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        try:
            process = subprocess.Popen(command, stdout=out, stderr=errors,
                                       env=os.environ | environment, preexec_fn=first_to_go)
        except OSError as error:
            raise RaceError(f"{command[0]}: {error.strerror}") from None
        until = time.monotonic() + timeout
        pause = 0.002
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                raise RaceError(f"no end within {timeout:.0f} s: {short(' '.join(command))}")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0), out.seek(0)
        if process.returncode:
            raise RaceError(f"exit status {process.returncode}: {short(errors.read())}")
        return out.read(), usage.ru_maxrss * 1024


class Gnnc:
    """A process a block."""

    def __init__(self, name, gnnc, workload, model, data, case, environment=None, more=(),
                 timeout=600):
        self.name, self.environment, self.timeout = name, environment or {}, timeout
        self.what = workload.what
        self.command = [gnnc, "train" if workload.training else "run", str(model), "--data", data,
                        "--json", "-q", "--threads", str(workload.threads)]
        for key, value in workload.options.items():
            self.command += ["-D", f"{key}={value}"]
        if workload.training and workload.drops():
            self.command += ["-D", f"p={workload.p}"]
        if case and (case / "weights.safetensors").exists():
            self.command += ["--weights", str(case / "weights.safetensors")]
        self.command += list(more)
        self.about = {"command": " ".join(self.command)}

    def report(self, steps, *more):
        """What gnnc says as JSON, and `rss`."""
        command = self.command + ["--epochs" if self.what == "train" else "--repeat", str(steps),
                                  *more]
        text, rss = run_measured(command, self.environment, self.timeout)
        try:
            return json.loads(text) | {"rss": rss}
        except ValueError:
            raise RaceError(f"no JSON: {short(text)}") from None

    def block(self, steps):
        said = self.report(steps)
        try:
            times = said["step_us" if self.what == "train" else "infer_us"]
            block = {key: float(times[key]) for key in ("median", "p10", "p90")}
        except (KeyError, TypeError) as error:
            raise RaceError(f"no times in its output ({error!r})") from None
        return block | {"steps": steps, "cpu": None, "rss": said["rss"],
                        "planned": said.get("peak_bytes"), "compile_ms": said.get("compile_ms"),
                        "prepare_ms": said.get("prepare_ms")}

    def close(self):
        pass
