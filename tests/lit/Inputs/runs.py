"""Runs gnnc and says what is wrong with how it ended.  Scripts beside it are called with the
executable and a folder.

    r = Runs()
    r.fails(3, "no such file", "run", MODEL, "--weights", "nowhere")
    r.done()

Runs of one script share a cache of kernels, empty at first: most compile what others did.  With
`shared` it is that of all tests, for scripts that do not ask what is in it.
"""
import os
import shutil
import subprocess
import sys

# Repetitions that only change the numbers are left out then.
SANITIZED = "ASAN_OPTIONS" in os.environ
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "samples")
BAD_SIGNS = ("Sanitizer", "runtime error:", "a defect of gnnc", "Assertion")


class Runs:
    def __init__(self, shared=False):
        self.gnnc, self.folder = sys.argv[1:3]
        self.problems, self.count = [], 0
        self.cache = self.folder + ".cache"
        if not shared or "GNNC_CACHE_DIR" not in os.environ:
            os.environ["GNNC_CACHE_DIR"] = self.cache
        os.environ.pop("GNNC_CACHE", None)
        for folder in (self.folder, self.cache):
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return self.path(name)

    def run(self, *args):
        self.count += 1
        return subprocess.run([self.gnnc, *map(str, args)], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=300)

    def problem(self, args, what, r):
        err = r.stderr.decode(errors="replace")
        self.problems.append("gnnc %s\n  %s\n  %s" % (" ".join(map(str, args)), what,
                                                      err[:2000].replace("\n", "\n  ")))

    def fails(self, code, text, *args, printed=b""):
        """Exit status, a part of what is said, nothing on standard output but `printed`, and no
        long-winded message."""
        r = self.run(*args)
        err = r.stderr.decode(errors="replace")
        if r.returncode != code:
            self.problem(args, f"exit status {r.returncode}, expected {code}", r)
        elif text not in err:
            self.problem(args, f"expected to read: {text}", r)
        elif any(sign in err for sign in BAD_SIGNS):
            self.problem(args, "a defect shows", r)
        elif printed not in r.stdout or (r.stdout and not printed):
            self.problem(args, f"on standard output: {r.stdout[:200]}", r)
        elif len(err) > 20000:
            self.problem(args, f"{len(err)} bytes of messages", r)

    def works(self, *args):
        """Exit status 0; what was printed."""
        r = self.run(*args)
        if r.returncode != 0 or any(sign in r.stderr.decode(errors="replace")
                                    for sign in BAD_SIGNS):
            self.problem(args, f"exit status {r.returncode}, expected 0", r)
        return r.stdout.decode(errors="replace")

    def survives(self, codes, *args):
        """One of these exit statuses: files with errors that may or may not matter."""
        r = self.run(*args)
        if r.returncode not in codes or any(sign in r.stderr.decode(errors="replace")
                                            for sign in BAD_SIGNS):
            self.problem(args, f"exit status {r.returncode}, expected one of {codes}", r)

    def done(self):
        shutil.rmtree(self.cache, ignore_errors=True)
        for p in self.problems:
            print(p)
        print(f"{self.count} runs, {len(self.problems)} problems")
        sys.exit(bool(self.problems))
