#!/bin/bash
# Everything that only a GPU can show: the suites on the device, compute-sanitizer on some of it, and the race.
#
#   bench/gpu.sh build [DIR]      here: programs without LLVM for a machine that may lack compilers and libraries (build-gpu)
#   bench/gpu.sh test [DIR]       there: doctor, suites, compute-sanitizer        how long they take on a GPU is not known
#   bench/gpu.sh race [DIR]       there: against PyTorch Geometric                about 8 minutes
#
# Results go to $OUT (default DIR/results). PYTHON is a Python with torch and torch_geometric (default: python3), DEVICE a device
# (default: cuda:0), PRECISION what race asks of gnnc and PyTorch alike: highest (the default), high (TF32) or medium
# (BF16 for gnnc, which PyTorch has as TF32).
set -u
cd "$(dirname "$0")/.." || exit 1
what=${1:-} dir=${2:-build-gpu}
out=${OUT:-$dir/results} device=${DEVICE:-cuda:0} python=${PYTHON:-python3}
suites="test_cuda_ops test_cuda_loops test_cuda_forward test_cuda_gradient test_cuda_fragments test_cuda_products test_cuda_conform \
    test_cuda_session"
cora=synthetic:nodes=2708,edges=10556,features=1433,classes=7 # its shape
wide=synthetic:nodes=20000,edges=100000,features=500,classes=40
failed=0

run() { # run <name> <command>...: its output in a file, its last lines here
    local name=$1 begin=$SECONDS
    shift
    if "$@" > "$out/$name.txt" 2>&1; then
        echo "passed  $name ($((SECONDS - begin)) s)"
    else
        echo "FAILED  $name ($((SECONDS - begin)) s): $(tail -n 3 "$out/$name.txt" | tr '\n' ' ')"
        failed=1
    fi
}

build() {
    cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGNNC_LLVM=OFF -DGNNC_TESTS_REQUIRED=ON || exit 1
    # shellcheck disable=SC2086
    cmake --build "$dir" --target gnnc bench_dump $suites || exit 1
    mkdir -p "$dir/lib" # Check's own library is linked in; what that wants is taken along
    ldd "$dir/tests/test_cuda_ops" | awk '/libsubunit/ {print $3}' | xargs -r cp -Lt "$dir/lib"
    strip "$dir/gnnc" "$dir/bench_dump" "$dir"/tests/test_cuda_*
    du -ch "$dir/gnnc" "$dir"/tests/test_cuda_* | tail -1
}

suite() { # a suite on the device
    env GNNC_TEST_DEVICE="$device" GNNC_SOURCE_DIR="$PWD" GNNC_CACHE=0 LD_LIBRARY_PATH="$dir/lib:${LD_LIBRARY_PATH:-}" "$@"
}

tests() {
    mkdir -p "$out"
    "$dir/gnnc" doctor | tee "$out/doctor.txt"
    nvidia-smi > "$out/nvidia-smi.txt" 2>&1
    for t in $suites; do run "$t" suite timeout 240 "$dir/tests/$t"; done
    for m in gcn gat sage gin; do
        for mode in default reduce-overhead; do
            run "train-$m-$mode" "$dir/gnnc" train "samples/$m.gnn" --device "$device" -O $mode --json
        done
        for precision in high medium; do
            run "train-$m-$precision" "$dir/gnnc" train "samples/$m.gnn" --device "$device" --matmul-precision $precision --json
        done
        for way in one-kernel launches; do # is the rule right that says which pays?
            run "bench-$m-$way" "$dir/gnnc" bench "samples/$m.gnn" --device "$device" --modes reduce-overhead --data "$cora" -o "$out/bench-$m-$way" \
                $([ $way = launches ] && echo --without one-kernel)
        done
        for way in kernel library; do # products of matrices by kernels and by cuBLASLt
            run "bench-$m-products-$way" "$dir/gnnc" bench "samples/$m.gnn" --device "$device" --modes default,reduce-overhead --data "$wide" -D hidden=128 \
                --without one-kernel --products $way -o "$out/bench-$m-products-$way"
        done
        run "products-$m" "$dir/gnnc" train "samples/$m.gnn" --device "$device" -O max-autotune --data "$wide" -D hidden=128 --epochs 20 -v # and each, timed
    done
    command -v compute-sanitizer > /dev/null || { echo "no compute-sanitizer: left out"; return; }
    for tool in memcheck racecheck synccheck initcheck; do
        for m in gcn gat; do
            run "$tool-$m" timeout 120 compute-sanitizer --tool $tool --error-exitcode 9 "$dir/gnnc" train "samples/$m.gnn" \
                --device "$device" --epochs 3 -q
        done
        run "$tool-one-kernel" timeout 120 compute-sanitizer --tool $tool --error-exitcode 9 "$dir/gnnc" train samples/gcn.gnn \
            --device "$device" -O reduce-overhead --epochs 3 -q
    done
}

race() {
    mkdir -p "$out"
    "$python" bench/race --gnnc "$dir/gnnc" --device "$device" --pyg-python "$(command -v "$python")" --out "$out/race${PRECISION:+-$PRECISION}" \
        --rounds 3 --block 0.5 --minutes "${MINUTES:-8}" --timeout 200 \
        --matmul-precision "${PRECISION:-highest}" \
        --peers "${PEERS:-pyg,compile:default:auto,compile:reduce-overhead:auto,compile:max-autotune:auto}" \
        ${BENCH_DATA:+--data-root "$BENCH_DATA"} ${WORKLOADS:-pubmed-gcn-train pubmed-gat-train arxiv-gcn-infer arxiv-gcn-train arxiv-sage-train arxiv-gat-train} || failed=1
}

case $what in
    build) build ;;
    test) tests ;;
    race) race ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
exit $failed
