#!/bin/sh
# Installs what is missing: setup.sh [build] [test] [check] [bench] ...   (default: build)
#   build   what `make` needs
#   test    what `make test` needs besides
#   check   what the strict builds, the sanitizers, the fuzzers and the format check need besides
#   bench   what the race against the peers needs besides; the peers themselves come from PyPI
#   deb     what Debian packages are made with, test-deb what they are tried with
#   arm64   what compiles for 64-bit Arm and runs it
# Debian 12 or newer, and what derives from it.  Quick when nothing is missing.
set -eu

build="gcc g++ libc6-dev make cmake ninja-build pkg-config llvm-19-dev lld-19 zlib1g-dev libzstd-dev
       libjansson-dev libyaml-dev libxlsxwriter-dev"
test="check python3 python3-venv llvm-19-tools tcc libmetis5"
check="clang-19 clang-format-19 libclang-rt-19-dev"
bench="clang-19 python3 python3-dev python3-venv"
deb="debhelper dh-python dpkg-dev fakeroot python3"
testdeb="mmdebstrap lintian"
arm64="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static mmdebstrap"

wanted=
for group in "${@:-build}"; do
    case $group in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    check) wanted="$wanted $check" ;;
    bench) wanted="$wanted $bench" ;;
    deb) wanted="$wanted $deb" ;;
    test-deb) wanted="$wanted $testdeb" ;;
    arm64) wanted="$wanted $arm64" ;;
    *)
        echo "setup.sh: no group '$group': build, test, check, bench, deb, test-deb or arm64" >&2
        exit 2
        ;;
    esac
done

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    echo "setup.sh: no Debian here; see to it that these are there under whatever names:" \
        $wanted >&2
    exit 0
fi

# Status and name, one a line; a package of another architecture does not count twice.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2> /dev/null |
    sed -n 's/^installed //p')
missing=
for package in $wanted; do
    case "
$installed
" in
    *"
$package
"*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -z "$missing" ] && exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo > /dev/null; then
        echo "setup.sh: not root and no sudo; ask someone to install:$missing" >&2
        exit 1
    fi
    as_root="sudo"
    [ -n "${CI:-}" ] && as_root="sudo -n"
fi
echo "setup.sh: installing$missing" >&2
$as_root apt-get -q update < /dev/null
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing \
    < /dev/null
