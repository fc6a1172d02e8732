# Tests that run the executable and check what it prints.  A test is a model or a text with RUN:
# lines.  Substitutions: %gnnc, FileCheck, not, %python, %src (the repository's root), %fake_cuda (a
# driver for machines without a GPU), %features (what the build has), and lit's own %s %S %t %T.
import os
import shutil
import subprocess

import lit.formats

config.name = "gnnc"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".gnn", ".gir", ".kir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = config.gnnc_lit_build

config.substitutions += [
    ("%gnnc", config.gnnc_exe),
    ("%python", config.gnnc_python),
    ("%src", config.gnnc_source),
    ("%fake_cuda", config.gnnc_fake_cuda),
    (r"\bFileCheck\b", config.gnnc_filecheck),
    (r"(?<![-\w/.])not(?= )", config.gnnc_not),
]

config.substitutions.append(("%features",
                             " ".join(name for name, on in config.gnnc_features.items() if on)))
for name, on in config.gnnc_features.items():
    if on:
        config.available_features.add(name)

# What CTest says of sanitizers and memory: in large pages a small run takes two thirds of the time.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "GNNC_LONG", "GLIBC_TUNABLES",
             "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["NO_COLOR"] = "1"
# Repetitions that only change the numbers say UNSUPPORTED: sanitized.
if "ASAN_OPTIONS" in os.environ:
    config.available_features.add("sanitized")
# Tests share a cache of kernels, empty at first: most compile what others did.  A test of the cache
# says --cache-dir, and one of compiling GNNC_CACHE=0.
cache = os.path.join(config.test_exec_root, "cache")
shutil.rmtree(cache, ignore_errors=True)
config.environment["GNNC_CACHE_DIR"] = cache

# NVRTC, where gnnc finds it: tests that compile for a GPU say REQUIRES: nvrtc.
for name in ("GNNC_NVRTC", "GNNC_NVJITLINK", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
doctor = subprocess.run([config.gnnc_exe, "doctor"], capture_output=True, text=True,
                        env=config.environment)
if "\nCUDA compiler: NVRTC" in doctor.stdout:
    config.available_features.add("nvrtc")

# Vectors of 16 lanes, and masks: what code is like there says REQUIRES: avx512.  Products of two
# bf16 at a time: avx512bf16.  (An emulator may show the processor that it runs on.)
if config.gnnc_features["x86-64"] and os.path.exists("/proc/cpuinfo"):
    words = open("/proc/cpuinfo").read().split()
    config.available_features.update(name for name, word in (("avx512", "avx512f"),
                                                             ("avx512bf16", "avx512_bf16"))
                                     if word in words)

# Real data, where there is some: tests that need it say REQUIRES: data.
data = os.environ.get("GNNC_DATA", "")
if os.path.isdir(data):
    config.available_features.add("data")
config.substitutions.append(("%data", data))
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=error"
