#!/bin/bash
# Everything that only a GPU can show.  Each part ends by itself: no step goes on after $LIMIT
# seconds, a step that hangs is ended, and the next one begins whatever came of it.
#
#   bench/gpu.sh build [DIR]      here: programs without LLVM for a machine that may lack compilers
#                                 and libraries (build-gpu, 7 MB); with build/gnnc, which has LLVM,
#                                 also the losses that a CPU gives
#   bench/gpu.sh first [DIR]      there: driver, compiler, tensor cores, and one small model in
#                                 every way of running; a minute
#   bench/gpu.sh test [DIR]       there: that, all suites side by side, whole trainings
#   bench/gpu.sh sanitize [DIR]   there: compute-sanitizer's four tools
#   bench/gpu.sh time [DIR]       there: modes against modes, tuned beside default, products by
#                                 kernels and by cuBLASLt
#   bench/gpu.sh aggregate [DIR]  there: sums over edges, bytes a second beside those of copies
#   bench/gpu.sh race [DIR]       there: against PyTorch Geometric; what an earlier call has raced
#                                 is not raced again
#
#   bench/gpu.sh one [DIR]        there: test, and sanitize in the time that is left
#   bench/gpu.sh two [DIR]        there: aggregate, and race in the time that is left
#
# $OUT (default DIR/results) gets PART.txt, a line a step as it ends, and PART.tgz, what the steps
# said; both are there from the first step on; the race is in race/, and in PART.tgz, too.  PYTHON
# is a Python with torch and torch_geometric (default: python3), DEVICE a device (default: cuda:0),
# LIMIT seconds (default: 560), JOBS how many suites run side by side (default: half of the
# processors), PRECISION what race asks of gnnc and PyTorch alike: highest (the default), high
# (TF32) or medium (BF16 for gnnc, which PyTorch has as TF32).
set -u
cd "$(dirname "$0")/.." || exit 1
what=${1:-} dir=${2:-build-gpu}
out=${OUT:-$dir/results} device=${DEVICE:-cuda:0} python=${PYTHON:-python3} limit=${LIMIT:-560}
jobs=${JOBS:-$((($(nproc) + 1) / 2))}
suites="test_cuda_gradient test_cuda_forward test_cuda_conform test_cuda_products \
    test_cuda_session test_cuda_ops test_cuda_loops test_cuda_fragments test_cuda_device"
models="gcn gat sage gin"
typed="rgcn gin_graphs links hgt distmult complex transe rotate"
cora=synthetic:nodes=2708,edges=10556,features=1433,classes=7 # its shape
wide=synthetic:nodes=20000,edges=100000,features=500,classes=40

build() {
    local make=$dir-make
    cmake -S . -B "$make" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGNNC_LLVM=OFF || exit 1
    # shellcheck disable=SC2086
    cmake --build "$make" --target gnnc bench_dump $suites || exit 1
    mkdir -p "$dir/tests" "$dir/lib" "$dir/expected"
    cp "$make/gnnc" "$make/bench_dump" "$dir/"
    for t in $suites; do cp "$make/tests/$t" "$dir/tests/"; done
    # what Check wants
    ldd "$dir/tests/test_cuda_ops" | awk '/libsubunit/ {print $3}' | xargs -r cp -Lt "$dir/lib"
    strip "$dir/gnnc" "$dir/bench_dump" "$dir"/tests/test_cuda_*
    for m in $models; do
        rm -f "$dir/expected/$m"
        [ -x build/gnnc ] && build/gnnc train "samples/$m.gnn" --epochs 5 --json -q 2> /dev/null |
            loss > "$dir/expected/$m"
    done
    for m in $typed; do
        PYTHONPATH=tests/data python3 -c \
            'import sys, typed; print(*typed.options(*sys.argv[1:]), sep="\n")' \
            "$m" "$dir/data" > "$dir/expected/$m.data"
        # shellcheck disable=SC2046
        [ -x build/gnnc ] && build/gnnc train "samples/$m.gnn" $(cat "$dir/expected/$m.data") \
            --epochs 5 --json -q 2> /dev/null | loss > "$dir/expected/$m"
    done
    [ -s "$dir/expected/gcn" ] ||
        echo "no losses of a CPU to compare with: build/gnnc has no LLVM, or is not there"
    du -sh "$dir"
}

# Steps --------------------------------------------------------------------------------------------

begin() {
    logs=$(mktemp -d)
    mkdir -p "$out"
    : > "$out/$what.txt"
    trap 'pack; rm -rf "$logs"' EXIT
    trap 'exit 143' TERM INT
    LD_LIBRARY_PATH="$(cd "$dir/lib" && pwd):${LD_LIBRARY_PATH:-}"
    export LD_LIBRARY_PATH GNNC_SOURCE_DIR="$PWD" GNNC_CACHE_DIR="$logs/.cache"
    # Check ends where a message is longer, and a random program that fails is
    export CK_MAX_MSG_SIZE=1048576
    # its wheels have NVRTC and cuBLASLt
    VIRTUAL_ENV=${VIRTUAL_ENV:-$("$python" -c 'import sys; print(sys.prefix)' 2> /dev/null)}
    export VIRTUAL_ENV
}

# With what has been raced, since who fetches results may fetch a few files only.
pack() {
    cp -r "$out"/race*/ "$logs/" 2> /dev/null
    tar -C "$logs" --exclude=.cache -czf "$out/$what.tgz.new" . &&
        mv "$out/$what.tgz.new" "$out/$what.tgz"
}

say() { echo "$*" | tee -a "$out/$what.txt"; }

# What a step says in a file, a line here; its last words where it fails.
step() { # step <name> <seconds> <command>...
    local name=$1 most=$2 began=$SECONDS left=$((limit - SECONDS)) status
    shift 2
    if [ $left -lt 5 ]; then
        say "left out  $name: the time is over"
        return 1
    fi
    timeout -k 5 $((most < left ? most : left)) "$@" < /dev/null > "$logs/$name.txt" 2>&1
    status=$?
    if [ $status = 0 ]; then
        say "passed    $name ($((SECONDS - began)) s)"
    else
        local why="status $status"
        [ $status = 124 ] || [ $status = 137 ] && why="ended after $((SECONDS - began)) s"
        local last
        last=$(grep -v '^ *$' "$logs/$name.txt" | tail -n 3 | cut -c 1-300 | tr '\n' ' ')
        say "FAILED    $name ($why): $last"
    fi
    return $status
}

# A step that runs models.  Where it fails again with a wait after each launch, which names the
# launch that failed, and under compute-sanitizer: two steps, since the others are likely to fail
# alike.  After three that hung no more begin.
looked=0 hung=0
model() { # model <name> <arguments of gnnc>...
    local name=$1
    shift
    if [ $hung -ge 3 ]; then
        say "left out  $name: three have hung"
        return 1
    fi
    step "$name" 40 "$dir/gnnc" "$@" --device "$device" && return 0
    grep -q "^FAILED    $name (ended" "$out/$what.txt" && hung=$((hung + 1))
    looked=$((looked + 1))
    [ $looked -gt 2 ] && return 1
    step "$name-waiting" 60 env CUDA_LAUNCH_BLOCKING=1 "$dir/gnnc" "$@" --device "$device"
    command -v compute-sanitizer > /dev/null &&
        step "$name-memcheck" 60 compute-sanitizer --tool memcheck --error-exitcode 9 \
            "$dir/gnnc" "$@" --device "$device"
    return 1
}

loss() { sed -n 's/^ *"loss": \([-+0-9.e]*\),*$/\1/p' "$@" 2> /dev/null | head -n 1; } # [file]

# The losses of two logs: alike to the last digit, or to one in a thousand.
same() { # same <name> <a file of a loss> <a file of a loss> <part by which they may differ>
    if [ ! -s "$2" ] || [ ! -s "$3" ]; then
        say "left out  $1: there are no losses"
    elif awk -v a="$(cat "$2")" -v b="$(cat "$3")" -v most="$4" \
        'BEGIN { d = a > b ? a - b : b - a; exit !(a > 0 && d <= most * a) }'; then
        say "passed    $1: $(cat "$2")"
    else
        say "FAILED    $1: $(cat "$2") and $(cat "$3")"
    fi
}

# A suite on the device, in one process, which has the device once; the file .tap has a line a test
# as it ends, so the last one says where it hung.  TEST:K/N is the K'th of N parts of it.
suite() { # suite <test> <seconds>
    step "${1//[:\/]/-}" "$2" env GNNC_TEST_DEVICE="$device" GNNC_CACHE=0 GNNC_RANDOM_TRIES=20 \
        GNNC_CONFORM="${1#*:}" CK_FORK=no \
        CK_TAP_LOG_FILE_NAME="$logs/${1//[:\/]/-}.tap" "$dir/tests/${1%%:*}"
}

# One that failed again, each test in a process of its own: after an error that ends the device's
# work the others still say what they have to say.
again() {
    step "${1//[:\/]/-}-apart" 240 env GNNC_TEST_DEVICE="$device" GNNC_CACHE=0 \
        GNNC_RANDOM_TRIES=0 GNNC_CONFORM="${1#*:}" CK_FORK=yes \
        CK_TAP_LOG_FILE_NAME="$logs/${1//[:\/]/-}-apart.tap" "$dir/tests/${1%%:*}"
}

side_by_side() { # side_by_side <function> <names>...
    local f=$1
    shift
    for name in "$@"; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        "$f" "$name" 400 &
    done
    wait
    pack
}

# Parts --------------------------------------------------------------------------------------------

facts() {
    nvidia-smi
    uname -a
    ldd --version | head -n 1
    ldd "$dir/gnnc"
    nvcc --version
    compute-sanitizer --version
    "$python" -c 'import torch; print("torch", torch.__version__, torch.cuda.is_available())'
    "$python" -c 'import torch_geometric; print("torch_geometric", torch_geometric.__version__)'
    return 0
}

first() {
    export -f facts
    export dir python
    step facts 60 bash -c facts
    step doctor 30 "$dir/gnnc" doctor && cat "$logs/doctor.txt"
    step compile 60 "$dir/gnnc" samples/gcn.gnn --device "$device"
    pack
    suite test_cuda_device 30
    suite test_cuda_fragments 60
    for m in $models; do
        model "$m-launches" train "samples/$m.gnn" --epochs 5 --json
        model "$m-graph" train "samples/$m.gnn" --epochs 5 --json -O reduce-overhead \
            --without one-kernel
        model "$m-one-kernel" train "samples/$m.gnn" --epochs 5 --json -O reduce-overhead
        model "$m-library" train "samples/$m.gnn" --epochs 5 --json --products library
        for way in launches graph one-kernel library; do
            loss "$logs/$m-$way.txt" > "$logs/$m-$way.loss"
        done
        for way in graph one-kernel; do
            same "$m: launches and $way" "$logs/$m-launches.loss" "$logs/$m-$way.loss" 0
        done
        same "$m: kernels and cuBLASLt" "$logs/$m-launches.loss" "$logs/$m-library.loss" 0.001
        [ -s "$dir/expected/$m" ] &&
            same "$m: as on a CPU" "$logs/$m-launches.loss" "$dir/expected/$m" 0.001
        pack
    done
    for m in $typed; do
        # shellcheck disable=SC2046
        {
            model "$m-launches" train "samples/$m.gnn" $(cat "$dir/expected/$m.data") \
                --epochs 5 --json
            model "$m-one-kernel" train "samples/$m.gnn" $(cat "$dir/expected/$m.data") \
                --epochs 5 --json -O reduce-overhead
        }
        for way in launches one-kernel; do loss "$logs/$m-$way.txt" > "$logs/$m-$way.loss"; done
        same "$m: launches and one-kernel" "$logs/$m-launches.loss" "$logs/$m-one-kernel.loss" 0
        same "$m: as on a CPU" "$logs/$m-launches.loss" "$dir/expected/$m" 0.001
    done
}

tests() {
    first
    local parts="test_cuda_gradient test_cuda_conform:1/4 test_cuda_conform:2/4 \
        test_cuda_conform:3/4 test_cuda_conform:4/4 test_cuda_forward test_cuda_products \
        test_cuda_session test_cuda_ops test_cuda_loops"
    # shellcheck disable=SC2086
    side_by_side suite $parts
    for t in $parts test_cuda_device test_cuda_fragments; do
        grep -q "^FAILED    ${t//[:\/]/-} " "$out/$what.txt" && echo "$t"
    done > "$logs/failed-suites"
    # shellcheck disable=SC2046
    side_by_side again $(cat "$logs/failed-suites")
    for m in $models; do
        for mode in default reduce-overhead; do
            model "train-$m-$mode" train "samples/$m.gnn" -O $mode --json
        done
        for precision in high medium; do
            model "train-$m-$precision" train "samples/$m.gnn" --matmul-precision $precision --json
        done
    done
}

checked() { # checked <tool>-<model>-<mode>
    local tool=${1%%-*} m=${1#*-}
    step "$1" 150 compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$dir/gnnc" train "samples/${m%%-*}.gnn" --device "$device" -O "${m#*-}" --epochs 2 -q
}

sanitize() {
    if ! command -v compute-sanitizer > /dev/null; then
        say "left out  compute-sanitizer: there is none"
        return
    fi
    for m in gcn-default gat-default gcn-reduce-overhead gat-reduce-overhead; do
        side_by_side checked memcheck-$m racecheck-$m synccheck-$m initcheck-$m
    done
}

times() {
    local b="--json --timeout 60 --warmup 3 -q"
    for m in $models; do
        # shellcheck disable=SC2086
        {
            # is the rule right that says which pays?
            step "bench-$m-one-kernel" 90 "$dir/gnnc" bench "samples/$m.gnn" --device "$device" \
                --modes reduce-overhead --data "$cora" $b -o "$logs/bench-$m-one-kernel"
            # and what do kernels lose that are compiled quickly?
            step "bench-$m-optimised" 90 "$dir/gnnc" bench "samples/$m.gnn" --device "$device" \
                --modes default,reduce-overhead --data "$cora" $b \
                -o "$logs/bench-$m-optimised" --without quick-code
            step "bench-$m-launches" 90 "$dir/gnnc" bench "samples/$m.gnn" --device "$device" \
                --modes default,reduce-overhead --data "$cora" $b \
                -o "$logs/bench-$m-launches" --without one-kernel
            for way in kernel library; do
                step "bench-$m-products-$way" 90 "$dir/gnnc" bench "samples/$m.gnn" \
                    --device "$device" --modes default,reduce-overhead --data "$wide" \
                    -D hidden=128 $b --without one-kernel --products $way \
                    -o "$logs/bench-$m-products-$way"
            done
            # what does a search try and find?  And what is that beside the default's: a cell's
            # first process searches, its second takes that
            step "tune-$m" 90 "$dir/gnnc" tune "samples/$m.gnn" --device "$device" --data "$cora" \
                --tune-budget 30 -v --tune-lock "$logs/tune-$m.lock"
            step "bench-$m-tuned" 90 "$dir/gnnc" bench "samples/$m.gnn" --device "$device" \
                --modes reduce-overhead,max-autotune --data "$cora" $b \
                --tune-budget 20 -o "$logs/bench-$m-tuned"
            # each, timed
            step "launches-$m" 60 "$dir/gnnc" explain "samples/$m.gnn" --device "$device" \
                --data "$wide" -D hidden=128
            step "products-$m" 60 "$dir/gnnc" train "samples/$m.gnn" --device "$device" \
                -O max-autotune --data "$wide" -D hidden=128 --epochs 20 -v
        }
        pack
    done
}

aggregate() {
    local sum="$python bench/aggregate.py $dir/gnnc $device"
    # shellcheck disable=SC2086
    {
        step aggregate-arxiv 60 $sum 2315598 169343 16 32 64 128 256
        step aggregate-products 150 $sum 123718280 2449029 64 100
    }
    cat "$logs"/aggregate-*.txt 2> /dev/null | while read -r line; do say "          $line"; done
}

one() {
    tests
    sanitize
}

two() {
    aggregate
    race
}

race() {
    local answer=120 packer
    while sleep 60; do pack; done > /dev/null 2>&1 & # workload by workload, whatever ends this
    packer=$!
    # shellcheck disable=SC2086
    step race "$limit" "$python" bench/race --table "${TABLE:-bench/gpu.txt}" --gnnc "$dir/gnnc" \
        --device "$device" --pyg-python "$(command -v "$python")" \
        --out "$out/race${PRECISION:+-$PRECISION}" --resume --rounds 3 --block 0.3 \
        --minutes $(((limit - SECONDS - answer + 59) / 60)) --timeout $answer \
        --matmul-precision "${PRECISION:-highest}" \
        ${PEERS:+--peers "$PEERS"} ${BENCH_DATA:+--data-root "$BENCH_DATA"} ${WORKLOADS:-}
    kill $packer
    tail -n 40 "$logs/race.txt"
}

case $what in
    build) build; exit ;;
    first | test | sanitize | time | aggregate | race | one | two) begin ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
case $what in
    test) tests ;;
    time) times ;;
    *) $what ;;
esac
! grep -q '^FAILED' "$out/$what.txt"
