# Two commands over the presets of CMakePresets.json: `make` builds build/gnnc, `make test` tests
# it.
#
# What is missing is installed first (tools/setup.sh; `make SETUP=true` leaves that out). Tests that
# compile for GPUs take PyPI's wheel of NVRTC where there is no other (tools/nvrtc.sh;
# `make NVRTC_WHEEL=no` leaves that out).
SETUP  ?= tools/setup.sh
export NVRTC_WHEEL ?= $(if $(filter true,$(SETUP)),no)
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
# Continuous integration takes a warning for an error in everything that it builds.
WERROR ?= $(if $(CI),-DGNNC_WERROR=ON)

.PHONY: check test-long mutate same-code test-nvrtc cache-stress fuzz-models all run test asan \
        tsan fuzz strict-gcc strict-clang no-llvm format format-check install clean \
        bench bench-quick bench-ablation bench-tuned bench-peers bench-programs \
        setup-build setup-test setup-check wheel sdist test-wheel test-torch deb test-deb \
        test-arm64

all: setup-build build/build.ninja
	@cmake --build build --target gnnc -j$(JOBS)

setup-build:
	@$(SETUP) build
setup-test:
	@$(SETUP) build test
setup-check:
	@$(SETUP) build test check

# Configures a preset once; CMake sees to it itself after that.
build/build.ninja:
	cmake --preset release $(WERROR)
build-%/build.ninja:
	cmake --preset $* $(WERROR)

# Trains the sample model on the built-in graph, then runs it with the weights that came of it.
run: all
	build/gnnc train samples/gcn.gnn -v --save build/gcn.safetensors
	build/gnnc run samples/gcn.gnn -v --repeat 1000 --weights build/gcn.safetensors

test: setup-test
	@cmake --preset release --log-level=NOTICE -DGNNC_TESTS_REQUIRED=ON $(WERROR)
	cmake --build build -j$(JOBS)
	tools/nvrtc.sh build/gnnc ctest --preset release -j$(JOBS)

# The quick ones alone, while one types: about a minute once all is built.
check: setup-test
	@cmake --preset release --log-level=NOTICE -DGNNC_TESTS_REQUIRED=ON $(WERROR)
	cmake --build build -j$(JOBS)
	ctest --preset release -j$(JOBS) --label-exclude long

# All that `make test` draws a part of: two to three times as long.
test-long: export GNNC_LONG = 1
test-long: test

asan tsan: %: setup-check
	@$(MAKE) --no-print-directory build-$@/build.ninja
	cmake --build build-$@ -j$(JOBS)
	tools/nvrtc.sh build-$@/gnnc ctest --preset $@ -j$(JOBS)

# Faults planted one at a time, two to fifteen seconds each. MUTATE="--build DIR --share 1/2" in one
# terminal and 2/2 in another: half of that; --new with the same DIR: only those that it has not
# seen caught.
mutate: setup-test
	python3 tests/mutate/mutate.py $(MUTATE)

# Every kernel of the samples compiled for GPUs by NVRTC: the one that gnnc finds, or PyPI's wheel.
# Needs no GPU.
test-nvrtc: setup-test all
	tools/nvrtc.sh --required build/gnnc python3 tests/nvrtc/nvrtc.py build/gnnc samples --required

# Random models in several modes, which must agree: half a second each. MODELS says how many, FIRST
# where the numbers begin.
MODELS ?= 1000
FIRST  ?= 1000
fuzz-models: all
	python3 tests/diff/models.py build/gnnc --count $(MODELS) --first $(FIRST) --keep build

# Sixteen processes at once on an empty cache, some of them killed, 200 rounds: minutes.
CACHE_ROUNDS ?= 200
cache-stress: all
	python3 tests/cache/stress.py build/gnnc --rounds $(CACHE_ROUNDS)

# Every fuzzer for FUZZ_SECONDS, from the corpus that the tests replay.
fuzz: setup-check
	@$(MAKE) --no-print-directory build-fuzz/build.ninja
	cmake --build build-fuzz -j$(JOBS)
	@for f in build-fuzz/tests/fuzz_*; do \
	    [ -x $$f ] || continue; \
	    name=$${f##*/fuzz_}; mkdir -p build-fuzz/corpus/$$name; \
	    echo "fuzz_$$name for $(FUZZ_SECONDS) s"; \
	    seeds=tests/fuzz/corpus/$$name; [ -d $$seeds ] || seeds=; \
	    $$f -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build-fuzz/ \
	        build-fuzz/corpus/$$name $$seeds || exit 1; \
	done

# Does gnnc print the same, whichever compiler it comes from?  Of what `make test` and `make asan`
# built; makes neither anew.
same-code: SAME = build/gnnc build-asan/gnnc
same-code:
	@for f in $(SAME); do \
	    [ -x $$f ] || { echo "$$f: not there; \`make test asan\` first" >&2; exit 1; }; \
	done
	python3 tests/same_code.py $(SAME)

# Warnings are errors.
strict-gcc strict-clang: strict-%: setup-check
	@$(MAKE) --no-print-directory build-$*/build.ninja
	cmake --build build-$* -j$(JOBS)

# What a machine without LLVM builds: everything but the CPU back end.
no-llvm: setup-test
	@$(MAKE) --no-print-directory build-no-llvm/build.ninja
	cmake --build build-no-llvm -j$(JOBS)

FORMATTED = git ls-files -z -- '*.c' '*.h' ':!include/gnnc/dlpack.h'
# What else has lines of at most 100 columns: the texts of tests in the language are left out, whose
# lines are also what lit runs and FileCheck looks for.
SHORT = '*.c' '*.h' '*.cuh' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' Makefile 'tools/*' \
        'bench/*.gnn' 'samples/*.gnn' 'stdlib/*.gnn' 'tests/lit/Inputs/*.gnn' \
        ':!include/gnnc/dlpack.h'
format: setup-check
	@$(FORMATTED) | xargs -0 clang-format-19 -i
format-check: setup-check
	@$(FORMATTED) | xargs -0 clang-format-19 --dry-run --Werror
	@! git ls-files -z -- $(SHORT) | LC_ALL=C.UTF-8 xargs -0 grep -nE '^.{101,}' /dev/null && \
	    echo "format: clean"

# The race against the peers (bench/README.md): everything takes hours;
# BENCH="cora-* arxiv-gcn-train" picks workloads, BENCH_ARGS gives more options, BENCH_DATA says
# where planetoid/ and npz/ are ($GNNC_DATA).
BENCH ?=
BENCH_DATA ?= $(GNNC_DATA)
RACED = --gnnc build/gnnc $(if $(BENCH_DATA),--data-root '$(BENCH_DATA)') $(BENCH_ARGS) \
        $(patsubst %,'%',$(BENCH))
RACE = python3 bench/race $(RACED)
bench-programs: all
	@$(SETUP) build bench
	@cmake --build build --target bench_dump -j$(JOBS)
bench: bench-programs
	$(RACE) --install
bench-quick: bench-programs
	$(RACE) --install --quick
bench-ablation: bench-programs
	$(RACE) --ablation --out bench/results/ablation
# What a search finds beside what rules choose, on the data of the race up to Coauthor Physics.
bench-tuned: all
	python3 bench/tuned.py $(RACED)
bench-peers:
	@$(SETUP) build bench
	$(RACE) --install-only

install: all
	cmake --build build --target installable -j$(JOBS)
	cmake --install build --prefix "$(PREFIX)" --strip

# The package for Python: a wheel with the library inside, in build/wheel; an archive without it.
wheel: setup-build build/build.ninja
	@cmake --build build --target gnnc_shared -j$(JOBS)
	python3 python/build_wheel.py --library build/libgnnc.so
sdist:
	python3 python/build_wheel.py --sdist
# Into an empty environment and out again; needs no network.
# MATRIX="--matrix --torch 2.11.0 2.15.0": every Python that is there, NumPy 1 and 2, versions of
# torch, of PyPI; gigabytes, and gone in the end.
test-wheel: wheel
	python3 python/tests/wheel.py build/wheel $(MATRIX)

# Packages for Debian, in build/deb; installed, used and purged in a clean root of Debian's, as
# root: minutes.
deb:
	@$(SETUP) build deb
	tools/deb.sh build/deb
test-deb: deb
	@$(SETUP) test-deb
	python3 tests/deb.py build/deb

# Built for 64-bit Arm beside a Debian of that kind, in build-arm64, and run under qemu: minutes.
test-arm64:
	@$(SETUP) build test arm64
	python3 tests/arm64.py build-arm64

# The backend for torch.compile, under a Python that has torch and PyTorch Geometric.
PYTHON ?= python3
test-torch: setup-build build/build.ninja
	@cmake --build build --target gnnc_shared -j$(JOBS)
	$(PYTHON) python/tests/run.py test_torch test_torch_draws test_torch_sparse test_torch_step

clean:
	rm -rf build build-*
