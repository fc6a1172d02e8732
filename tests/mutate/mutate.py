#!/usr/bin/env python3
"""Plants the faults of faults.txt one at a time and asks that a test catches each.

    mutate.py [--build DIR] [--share K/N] [--new] [--quick] [--jobs N] [--only TEXT] [--list]
              [--check]

Works on a copy of the sources in DIR (a new temporary folder, or one of an earlier run).  For each
fault: edit, build, run the tests of its room until one fails, put the text back.  Faults above the
back end are tested in a build without LLVM; those of src/codegen and runtime in one with it.  DIR
remembers which test caught a fault, and that one runs first the next time.  Several processes share
the table: --share 1/2 takes every second fault, --share 2/2 the others; each has a folder of its
own in DIR.  For those who work on the table, --new leaves out what DIR remembers as caught, and
--quick leaves out the long tests.
A fault that does not compile is an error of the table, as is one whose text does not stand exactly
where it says.  Exit status 1 when a fault survives. --check compares the table with the sources and
builds nothing."""
import argparse
import filecmp
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPIED = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "bench", "cli", "cmake", "docs",
          "include", "runtime", "samples", "src", "stdlib", "tests")


def forks(test):
    """Does it say that its checks are processes of their own?"""
    return any("/* forks: yes */" in path.read_text(encoding="utf-8")[:2000]
               for path in pathlib.Path(ROOT, "tests").glob(f"*/{test}.c"))


def some(test, programs):
    """A few random programs: most faults need no more."""
    return test, {"GNNC_RANDOM": str(programs), "CK_RUN_CASE": "batch"}


def case(test, name):
    return test, {"CK_RUN_CASE": name}


RULES = ("test_rules", {})
# what a pass leaves alone shows in no figure
GOLDEN = ("lit", {"LIT_FILTER": "passes/", "LIT_FILTER_OUT": "inner"})
SMALL = ("test_found", {"CK_RUN_CASE": "found"})
# What a fault under a path is tested with, from the quick to the long: (test, environment).  With
# the last column: in a build with LLVM.  The first row that fits.
QUICK = (RULES, some("test_random_forward", 64), SMALL, some("test_random_gradient", 64))
LONG = (("test_conform", {}), ("test_conform_code", {}), ("test_found", {"CK_RUN_CASE": "rows"}),
        some("test_random_forward", 400), some("test_random_gradient", 200))
RELATIONS = some("test_relations", 96)
RESULTS = (("lit", {"LIT_FILTER": "run/results"}), ("lit", {"LIT_FILTER": "run/own-data"}))
LOGGED = ("lit", {"LIT_FILTER": "run/train-log"})
BATCHES = ("lit", {"LIT_FILTER": "run/batches"})
TIMES = ("lit", {"LIT_FILTER": "run/times"})
SHADOW = ("lit", {"LIT_FILTER": "run/shadow"})
LINKS = ("lit", {"LIT_FILTER": "run/link-batches"})
KEPT = (GOLDEN, ("test_kept", {}), ("test_api_storage", {}),
        ("lit", {"LIT_FILTER": "run/precision"}))
PROFILES = (("test_cost", {}), ("test_runtime_trace", {}), ("test_codegen_lines", {}),
            ("lit", {"LIT_FILTER": "emit/provenance"}), ("lit", {"LIT_FILTER": "run/profile"}),
            ("lit", {"LIT_FILTER": "run/jit-events"}), ("test_api_profile", {}))
RESUMED = (("lit", {"LIT_FILTER": "run/resume"}),)
AHEAD = (("test_aot", {}), ("test_aot_image", {}), ("aot_relations", {}), ("aot_typed", {}),
         ("aot", {}))
ROOMS = (
    ("cli/stats", (("test_bench_stats", {}),), False),
    ("cli/bench/", (("test_bench_stats", {}), ("test_bench_compare", {}), ("test_bench_text", {}),
                    ("test_bench_grid", {}), ("test_bench_plan", {}), ("test_bench_writers", {}),
                    ("test_bench_child", {})), False),
    *((room, PROFILES, True)
      for room in ("src/session/profile", "src/compile/cost", "src/compile/jit_events",
                   "src/compile/kernel_name", "src/codegen/code_lines", "runtime/run/trace",
                   "src/api/api_profile",
                   "cli/profile")),
    *((room, (("test_ahead", {}), BATCHES), True)
      for room in ("src/session/batch_steps", "src/session/lookahead")),
    ("src/passes/restrict_shadow", (SHADOW,), True),
    ("src/passes/restricter", (("test_restrict", {}), BATCHES, SHADOW, *QUICK), True),
    ("src/passes/restrict_results", (LINKS, ("test_api_named", {})), True),
    ("stdlib/facts", (LINKS, ("test_conform_typed", {})), True),
    *((room, (BATCHES, LINKS), True)
      for room in ("src/session/minibatches", "src/session/eval_rows", "src/passes/restrict_batch",
                   "src/passes/restrict_drawn", "src/passes/restrict_edges",
                   "src/passes/restrict_part")),
    *((room, (("test_runtime_apart", {}), TIMES, some("test_random_forward", 200), BATCHES), True)
      for room in ("src/passes/restrict_apart", "runtime/graph/graph_apart")),
    *((room, (("test_subgraphs", {}), BATCHES), True)
      for room in ("src/session/subgraphs", "src/session/clusters")),
    ("runtime/graph/graph_without", (("test_runtime_edges", {}), BATCHES), True),
    ("src/base/draw_weighted", (("test_draw", {}),), False),
    ("src/base/twister", (("test_twister", {}),), False),
    ("src/api/api_draw", (("test_api_draw", {}),), False),
    ("src/api/api_rows", (("test_api_named", {}),), True),
    ("runtime/graph/graph_draw", (("test_runtime_edges", {}), BATCHES), True),
    *((room, (some("test_random_forward", 200), SMALL, ("test_conform_typed", {})), True)
      for room in ("src/lower/lower_sort", "src/lower/lower_near")),
    *((room, (*RESUMED, BATCHES, LINKS, SHADOW, LOGGED, *RESULTS,
              case("test_cuda_session", "trains")), True)
      for room in ("src/session/checkpoint", "src/session/fit", "cli/cmd_train")),
    *((room, (LOGGED,), True)
      for room in ("cli/train_", "cli/scores", "cli/predictions", "src/session/score")),
    ("cli/progress", (("lit", {"LIT_FILTER": "run/progress"}),), True),
    ("cli/sample", (("lit", {"LIT_FILTER": "sample-names"}),), True),
    ("cli/page", (("lit", {"LIT_FILTER": "pages"}),), True),
    ("runtime/data/metrics", (("test_data_metrics", {}),), False),
    ("runtime/data/ranking", (("test_data_ranking", {}),), False),
    ("runtime/data/known", (("test_data_ranking", {}), ("test_data_splits", {})), False),
    ("runtime/data/splits", (("test_data_splits", {}),), False),
    ("src/build/state_file", (("test_api_state", {}), *RESUMED), True),
    *((room, RESULTS, True)
      for room in ("src/session/result", "src/session/inputs", "src/frontend/elab_input",
                   "runtime/data/renumber", "runtime/data/features")),
    ("src/build/weights",
     (("test_api_state", {}), ("lit", {"LIT_FILTER": "bad-weights|typed-models|run/precision"})),
     True),
    *((room, (("lit", {"LIT_FILTER": "typed-models"}),), True)
      for room in ("src/session/session_tables", "src/session/score_edges", "src/session/ranks",
                   "src/session/judge")),
    ("src/frontend/elab_rows", (("test_frontend_rows", {}),), False),
    ("src/frontend/elab_type",
     (("test_frontend_rows", {}), ("test_frontend_elab", {}), ("test_frontend_errors", {})), False),
    ("src/frontend/elab_input", (("test_frontend_rows", {}), ("test_frontend_elab", {}),
                                 ("test_frontend_errors", {}), *RESULTS), True),
    ("runtime/data/links", (("test_data_links", {}),), False),
    ("src/frontend/elab.c", (("test_frontend_elab", {}), ("test_frontend_errors", {}), *RESULTS),
     True),
    ("runtime/data/npz", (*RESULTS, ("lit", {"LIT_FILTER": "bad-data"})), True),
    ("cli/session_options", (("lit", {"LIT_FILTER": "bad-options"}), *RESULTS), True),
    ("src/cache/", (("test_cache", {}), ("test_cache_store", {})), False),
    *((room, (("test_tune_locks", {}), ("test_tune", {}), ("test_api_tune", {})), True)
      for room in ("src/tune/", "src/build/tuned")),
    ("src/target/whole", (("test_whole", {}), case("test_cuda_session", "trains")), False),
    ("src/compile/code.c", (("test_code_cache", {}),), True),
    ("src/compile/cost", (("test_cost", {}),), False),
    ("src/aot/", AHEAD, True),
    ("runtime/aot/", AHEAD, True),
    ("runtime/load/cpu", AHEAD, True),
    ("src/build/jit", (("test_api_dynamic", {}), ("test_api_padding", {}), ("test_api_tune", {}),
                       ("test_cuda_api", {})), True),
    ("src/target/target", (("test_cuda_api", {}), case("test_cuda_session", "trains")), False),
    ("src/passes/mask_rows", (("test_mask_rows", {}), ("test_picks", {}), ("test_api_padding", {}),
                              ("test_api_dynamic", {})), True),
    ("src/api/api_schema", (("test_api_relations", {}), ("test_api_samples", {})), True),
    ("src/api/api_relation", (("test_api_relations", {}), ("test_api_samples", {})), True),
    ("src/build/levels", (("test_levels", {}), ("test_api_rows", {})), True),
    *((room, (("lit", {"LIT_FILTER": "typed-models"}),), True)
      for room in ("src/build/step", "src/frontend/elab_words")),
    ("src/build/one_graph", (("test_api_relations", {}), ("aot_relations", {})), True),
    ("src/api/api_ir", (("test_api_ir", {}),), True),
    ("src/api/", (("test_api", {}), ("test_api_relations", {}), ("test_api_state", {}),
                  ("test_api_arguments", {}), ("test_api_dynamic", {}), ("test_api_padding", {}),
                  ("test_api_context", {}), ("test_api_tune", {}), ("test_api_named", {}),
                  ("test_cuda_api", {})), True),
    ("src/codegen/cuda/one_kernel", (("test_cuda_whole", {}),), False),
    ("src/codegen/cuda/phases", (("test_cuda_whole", {}),), False),
    ("src/codegen/cuda/",
     (("test_cuda_object", {}), ("test_cuda_faults", {}), ("test_cuda_fragments", {}),
      ("test_cuda_whole", {}), case("test_cuda_loops", "run time"), case("test_cuda_ops", "serial"),
      case("test_cuda_loops", "long"), case("test_cuda_ops", "special"),
      case("test_cuda_loops", "products"), ("test_cuda_products", {}), ("test_cuda_loops", {}),
      ("test_cuda_ops", {}), some("test_cuda_forward", 64)), False),
    ("src/codegen/", (("test_codegen_ops", {}), ("test_codegen_loops", {}),
                      ("test_codegen_tests", {}), ("test_codegen_math", {}),
                      ("test_codegen_loader", {}), ("test_functions", {}), *QUICK, *LONG), True),
    ("runtime/cuda/keep", (("test_cuda_graphs", {}),), False),
    ("runtime/cuda/cuda_instance",
     (("test_cuda_instance", {}), ("test_cuda_graphs", {}), case("test_cuda_session", "trains"),
      case("test_cuda_session", "errors")), False),
    ("runtime/cuda/", (("test_cuda_device", {}), ("test_cuda_graphs", {}),
                       case("test_cuda_session", "trains")), False),
    ("runtime/run/pace", (("test_runtime_pace", {}),), True),
    ("runtime/run/depend", (("test_runtime_region", {}), ("test_cuda_instance", {})), True),
    ("runtime/run/bind_tensors", (("test_runtime_balance", {}), ("test_runtime_exec", {}),
                                  ("test_runtime_plan", {}), *QUICK), True),
    ("runtime/run/region", (("test_runtime_region", {}),), True),
    ("runtime/graph/graph_pick", (("test_runtime_derive", {}), ("test_restrict", {}), *QUICK,
                                  BATCHES), True),
    *((room, (("test_facts", {}), ("test_runtime_edges", {}), ("test_runtime_plan", {}),
              ("test_runtime_derive", {}), ("test_runtime_exec", {}), ("test_cuda_facts", {}),
              *QUICK, ("test_cuda_batches", {}), ("test_ahead", {}), TIMES, BATCHES), True)
      for room in ("runtime/graph/graph_edges", "runtime/graph/graph_ends",
                   "runtime/run/bind_columns", "runtime/run/bind_graphs", "runtime/run/redraw",
                   "runtime/artifact", "runtime/graph/graph_facts", "runtime/run/exec",
                   "src/compile/assemble")),
    ("src/base/draw", (("test_draw", {}), ("test_gir_eval", {}), *QUICK, TIMES), True),
    *((room, (("test_gir_infer", {}), ("test_gir_verify", {}), ("test_gir_eval", {}), *QUICK,
              TIMES), True)
      for room in ("src/ir/infer", "src/ir/gir_data", "src/ir/eval_graph", "src/ir/eval_edge")),
    ("src/build/jit_specialise", (("test_api_dynamic", {}), ("test_picks", {})), True),
    ("runtime/labels", (("test_api", {}), *AHEAD), True),
    ("runtime/load/relocate", (("test_relocate", {}),), True),
    ("runtime/", (("test_runtime_exec", {}), ("test_runtime_plan", {}), ("test_runtime_graph", {}),
                  ("test_runtime_derive", {}), ("test_runtime_state", {}),
                  ("test_runtime_threads", {}), ("test_codegen_loader", {}),
                  ("test_data_synthetic", {}), *QUICK, ("test_threads", {}), *LONG), True),
    ("src/frontend/", (("test_frontend_elab", {}), ("test_frontend_errors", {})), False),
    ("stdlib/", (("test_conform", {}), ("lit", {"LIT_FILTER": "run/not-finite"})), True),
    ("src/ir/kir_verify", (("test_kir_verify", {}), ("test_kir_eval", {}), *QUICK, *LONG), False),
    ("src/ir/kir_shadow", (("test_kir_race", {}), ("test_kir_eval", {}), *QUICK, *LONG), False),
    ("src/ir/kir", (("test_kir_simplify", {}), ("test_kir_eval", {}), ("test_kir_race", {}),
                    ("test_cuda_fragments", {}), *QUICK, *LONG), False),
    ("src/base/outfile", (("test_data_tensorfile", {}),), False),
    ("src/base/half", (("test_kir_eval", {}), ("test_cuda_fragments", {}), *QUICK), False),
    ("src/ir/", (("test_gir_grad", {}), *QUICK, *LONG), False),
    ("src/lower/tuning", (("test_tuning", {}), *QUICK), False),
    ("src/lower/lower_fragments", (("test_cuda_products", {}),
                                   ("lit", {"LIT_FILTER": "emit/fragments"})), False),
    ("src/lower/lower_pairs", (("test_pairs", {}),), False),
    ("src/lower/lower_block", (("test_cuda_products", {}), some("test_cuda_forward", 64), *QUICK),
     False),
    ("src/lower/hints", (("test_row_hints", {}), ("test_picks", {})), False),
    ("src/passes/expected_rows", (("test_row_hints", {}),), False),
    ("src/compile/assemble", (("test_balance", {}), *QUICK, *LONG), False),
    ("src/lower/lower_totals", (RELATIONS, *QUICK, GOLDEN), False),
    ("src/lower/lower_parts",
     (("test_cuda_parts", {}), some("test_cuda_forward", 64), some("test_cuda_gradient", 64),
      some("test_cuda_relations", 32), *QUICK), False),
    ("src/lower/lower_edges",
     (*QUICK, RELATIONS, ("test_cuda_parts", {}), some("test_cuda_forward", 64),
      some("test_cuda_relations", 32), *LONG), False),
    ("src/lower/schedule_parts", (("test_parts", {}), ("test_picks", {})), False),
    ("src/lower/lower_versions", (("test_attention", {}), *QUICK, *LONG), False),
    ("src/lower/lower_rows", (*QUICK, ("test_attention", {}), *LONG), False),
    ("src/lower/lower_map", (*QUICK, ("lit", {"LIT_FILTER": "run/without"}), *LONG), True),
    ("src/lower/lower_value", (RULES, ("test_restrict", {}), *QUICK[1:], *LONG), False),
    ("src/lower/lower_put",
     (RULES, ("test_facts", {}), *QUICK[1:], ("lit", {"LIT_FILTER": "typed-models"}), *LONG), True),
    ("src/lower/lower", (*QUICK, *LONG), False),
    ("src/passes/restrict_step", (("test_restrict", {}), *QUICK), True),
    ("src/passes/restrict_rows",
     (("test_restrict", {}), ("test_levels", {}), ("test_picks", {}),
      ("lit", {"LIT_FILTER": "restrict_rows|typed-models|run/batches|run/shadow"}), *QUICK), True),
    *((room, (*KEPT, *QUICK), True) for room in ("src/passes/narrow", "src/passes/hoist",
                                                 "src/passes/widen", "src/fuse/view")),
    ("src/passes/sparsify",
     (*QUICK, GOLDEN, ("lit", {"LIT_FILTER": "run/precision"}), *LONG), True),
    ("runtime/data/lent", (("test_data_store_changes", {}),), False),
    ("src/passes/train",
     (("test_gir_train", {}), ("test_loss_scale", {}), ("test_gir_touch", {}), *QUICK, BATCHES,
      *LONG), True),
    ("src/passes/touch_rows", (("test_gir_touch", {}),), False),
    ("src/passes/simplify", (("test_gir_simplify", {}), *QUICK, *LONG), False),
    ("src/passes/rewrite", (("test_gir_simplify", {}), *QUICK, *LONG), False),
    ("src/passes/dce", (("test_gir_simplify", {}), *QUICK, *LONG), False),
    ("src/lower/schedule_dense",
     (("test_tuning", {}), *QUICK, GOLDEN, ("test_cuda_products", {}), *LONG), False),
    ("src/fuse/fuse_place",
     (*QUICK, ("test_deep", {}), GOLDEN, RELATIONS, ("test_facts", {}), *LONG), True),
    ("src/fuse/", (*QUICK, ("test_deep", {}), GOLDEN, RELATIONS, ("test_restrict", {}), *LONG),
     False),
    *((room, (*QUICK, ("test_deep", {}), GOLDEN, *LONG), False)
      for room in ("src/passes/", "src/lower/")),
    ("", (*QUICK, *LONG), False),
)
MEMORY = 16 << 30  # bytes of address space that a test may take


def label(test):
    name, env = test
    return " ".join([name, *env.values()])


def room_of(path):
    return next((tests, code) for prefix, tests, code in ROOMS if path.startswith(prefix))


class Fault:
    def __init__(self, path, which, name, line):
        self.path, self.which, self.name, self.line = path, which, name, line
        self.old, self.new = [], []

    def __str__(self):
        return f"{self.path}: {self.name}"

    def plant(self, text):
        """The text with the fault; ValueError where it does not fit."""
        pattern = r"[\s\\]+".join(re.escape(word).replace(r"\(", r"\([\s\\]*") for part in self.old
                              for word in part.split())
        places = list(re.finditer(pattern, text))
        if len(places) < self.which or (self.which == 1 and len(places) != 1 and not self.numbered):
            raise ValueError(f"faults.txt:{self.line}: {self}: the text stands {len(places)} times")
        m = places[self.which - 1]
        return text[:m.start()] + "\n".join(self.new) + text[m.end():]


def read_table(path):
    faults = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if not line.strip() or line.startswith("#"):
                continue
            head = re.fullmatch(r"@ ([^:#]+)(?:#(\d+))?: (.+)", line)
            if head:
                faults.append(Fault(head[1], int(head[2] or 1), head[3], number))
                faults[-1].numbered = head[2] is not None
            elif line.startswith("- ") and faults and not faults[-1].new:
                faults[-1].old.append(line[2:].strip())
            elif line.startswith("+ ") and faults and faults[-1].old:
                faults[-1].new.append(line[2:])
            else:
                raise SystemExit(f"faults.txt:{number}: what is this? {line}")
    return faults


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    """With a time that differs from the last one, whatever the clock's grain."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def files_under(root):
    """Paths of the copied files, relative to `root`."""
    for name in COPIED:
        path = os.path.join(root, name)
        if os.path.isfile(path):
            yield name
        for folder, _, files in os.walk(path):
            for file in files:
                yield os.path.relpath(os.path.join(folder, file), root)


def copy_sources(to):
    """Only what differs, with the present time: an earlier run may have left an object of a fault
    there."""
    here = set(files_under(ROOT))
    for name in set(files_under(to)) - here:
        os.remove(os.path.join(to, name))
    for name in here:
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)


class Builder:
    """A build of the copy, with or without LLVM."""

    def __init__(self, folder, code, jobs):
        self.source, self.jobs = os.path.join(folder, "source"), jobs
        self.build = os.path.join(folder, "build-code" if code else "build")
        self.limit = {}  # by label: seconds after which a test hangs, which is a way to fail
        # or every build looks for new files first
        options = [f"-DGNNC_LLVM={'ON' if code else 'OFF'}", "-DGNNC_LLVM_SHARED=ON",
                   "-DCMAKE_C_FLAGS=-w", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                   "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2", "-DCMAKE_SUPPRESS_REGENERATION=ON"]
        made = self.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", *options])
        if made.returncode:
            raise SystemExit(made.stdout[-2000:])

    @staticmethod
    def run(command, **options):
        return subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, **options)

    def make(self, test):
        """None, or what the compiler says."""
        target = "gnnc" if test[0] in ("lit", "aot", "aot_typed", "aot_relations") else test[0]
        built = self.run(["ninja", "-C", self.build, f"-j{self.jobs}", target])
        if not built.returncode:
            return None
        errors = [x for x in built.stdout.splitlines() if "error" in x]
        return errors[0] if errors else built.stdout[-400:]

    def command(self, name):
        if name in ("aot", "aot_typed", "aot_relations"):
            script = name.replace("aot_", "") + ".py"
            return [sys.executable, os.path.join(self.source, "tests", "aot", script),
                    os.path.join(self.build, "gnnc"), os.path.join(self.build, "tests", name)]
        if name != "lit":
            return [os.path.join(self.build, "tests", name)]
        cache = read(os.path.join(self.build, "CMakeCache.txt"))
        lit, python = (re.search(rf"^{x}:\w+=(.+)$", cache, re.M)
                       [1] for x in ("GNNC_LIT", "GNNC_PYTHON"))
        return [python, lit, "-q", os.path.join(self.build, "tests", "lit")]

    def knows(self, test):
        return label(test) in self.limit

    def environment(self):
        """What CTest sets for every test."""
        lines = read(os.path.join(self.build, "tests", "environment")).splitlines()
        return dict(line.split("=", 1) for line in lines)

    def try_whole(self, test):
        """A test that fails without a fault says nothing."""
        error = self.make(test) or self.fails(test)
        if error:
            raise SystemExit(f"without a fault {label(test)} fails: {error}")

    def fails(self, test):
        """What the test says when it fails; None."""
        name, more = test
        env = {**os.environ, **self.environment(), "CK_FORK": "yes" if forks(name) else "no",
               "GNNC_RANDOM_TRIES": "0", "GNNC_RANDOM_FIRST": "1", "CK_VERBOSITY": "normal",
               **more}
        started = time.monotonic()
        # AddressSanitizer reserves terabytes
        memory = resource.RLIM_INFINITY if name.startswith("aot") else MEMORY
        try:
            done = self.run(self.command(name), cwd=self.source, env=env, errors="replace",
                            timeout=self.limit.get(label(test), 1800), preexec_fn=lambda:
                            resource.setrlimit(resource.RLIMIT_AS, (memory, memory)))
        except subprocess.TimeoutExpired:
            return "hangs"
        if not done.returncode and re.search(r": Checks: 0,", done.stdout):
            return "nothing of that name is run"
        if not done.returncode:
            self.limit.setdefault(label(test), 60 + 20 * (time.monotonic() - started))
            return None
        lines = [x for x in done.stdout.splitlines() if re.search(r":[FE]:|seed \d+:|^FAIL:", x)]
        return (lines or [f"status {done.returncode}"])[0].strip()


class Memory:
    """Which test caught a fault last, in a file."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "caught.json")
        self.caught = json.loads(read(self.path)) if os.path.exists(self.path) else {}

    def order(self, fault, tests):
        return sorted(tests, key=lambda t: label(t) != self.caught.get(str(fault)))

    def keep(self, fault, test):
        self.caught[str(fault)] = label(test)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        write(self.path, json.dumps(self.caught, indent=0))


def try_fault(builder, fault, tests):
    """What catches it: (test, words), or None."""
    path = os.path.join(builder.source, fault.path)
    text = read(path)
    planted = False
    try:
        for test in tests:
            if not builder.knows(test):
                if planted:
                    write(path, text)
                    planted = False
                builder.try_whole(test)
            if not planted:
                write(path, fault.plant(text))
                planted = True
            error = builder.make(test)
            if error:
                raise ValueError(f"{fault}: does not compile: {error}")
            words = builder.fails(test)
            if words:
                return test, words
        return None
    finally:
        write(path, text)


def check_table(faults):
    errors = 0
    for fault in faults:
        try:
            fault.plant(read(os.path.join(ROOT, fault.path)))
        except (OSError, ValueError) as e:
            errors += 1
            print(e)
    print(f"{len(faults)} faults, {errors} without a place")
    return errors


def fresh(faults, folder):
    """Without those that were caught in a run of any share."""
    known = set()
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        known.update(Memory(os.path.join(folder, name)).caught)
    return [f for f in faults if str(f) not in known]


def run_table(faults, folder, jobs, quick):
    started = time.monotonic()
    os.makedirs(os.path.join(folder, "source"), exist_ok=True)
    copy_sources(os.path.join(folder, "source"))
    builders, memory = {}, Memory(folder)
    survived, broken, by = [], [], {}
    for k, fault in enumerate(faults, 1):
        tests, code = room_of(fault.path)
        tests = [t for t in tests if not quick or t not in LONG]
        if code not in builders:
            builders[code] = Builder(folder, code, jobs)
        try:
            killer = try_fault(builders[code], fault, memory.order(fault, tests))
        except ValueError as e:
            broken.append(fault)
            print(f"[{k}/{len(faults)}] {e}", flush=True)
            continue
        if killer:
            memory.keep(fault, killer[0])
            by[label(killer[0])] = by.get(label(killer[0]), 0) + 1
        else:
            survived.append(fault)
        words = f"{label(killer[0])}: {killer[1][:120]}" if killer else "SURVIVES"
        print(f"[{k}/{len(faults)}] {fault}: {words}", flush=True)
    print(f"{time.monotonic() - started:.0f} s, {len(faults)} faults: "
          f"{len(faults) - len(survived) - len(broken)} "
          f"caught, {len(survived)} survive, {len(broken)} do not compile")
    print(
    "caught by " +
    ", ".join(
        f"{name}: {n}" for name,
        n in sorted(
            by.items(),
            key=lambda x: -
            x[1])))
    for fault in survived:
        print(f"survives: {fault}")
    return int(bool(survived or broken))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", help="folder for the copy and its build")
    p.add_argument("--share", default="1/1", help="K/N: every N-th fault, from the K-th")
    p.add_argument(
    "--new",
    action="store_true",
     help="only faults that DIR does not remember as caught")
    p.add_argument(
    "--quick",
    action="store_true",
     help="without the long tests: what survives may yet be caught")
    p.add_argument("--jobs", default=str(os.cpu_count() or 1))
    p.add_argument("--only", default="", help="faults whose file and name hold this text")
    p.add_argument("--list", action="store_true", help="name the faults")
    p.add_argument("--check", action="store_true", help="look for their places, build nothing")
    args = p.parse_args()
    share = re.fullmatch(r"(\d+)/(\d+)", args.share)
    if not share or not 1 <= int(share[1]) <= int(share[2]):
        p.error("--share K/N: K from 1 to N")
    faults = [f for f in read_table(os.path.join(HERE, "faults.txt")) if args.only in str(f)]
    if args.new and args.build:
        faults = fresh(faults, args.build)
    faults = faults[int(share[1]) - 1::int(share[2])]
    if args.list:
        print("\n".join(map(str, faults)))
        return 0
    misplaced = check_table(faults)
    if misplaced or args.check:
        return int(misplaced > 0)
    if args.build:
        return run_table(faults, os.path.join(
            args.build, f"share-{share[1]}-of-{share[2]}"), args.jobs, args.quick)
    with tempfile.TemporaryDirectory(prefix="gnnc-mutate-") as folder:
        return run_table(faults, folder, args.jobs, args.quick)


if __name__ == "__main__":
    sys.exit(main())
