#!/bin/sh
# Runs a command with an NVRTC that gnnc finds: nvrtc.sh [--required] GNNC COMMAND...
#
# Where GNNC finds none, PyPI's wheels of it and of nvJitLink are put into build/nvrtc, which the
# command then has as its VIRTUAL_ENV. Where that cannot be had, as without a network, a line says
# so and the command runs without; or not at all, with --required. NVRTC_WHEEL=no leaves the wheels
# out.
set -u
required=
[ "$1" = --required ] && { required=1; shift; }
gnnc=$1
shift
folder=$(cd "$(dirname "$0")/.." && pwd)/build/nvrtc

found() { "$gnnc" doctor 2> /dev/null | grep -q '^CUDA compiler: NVRTC'; }

# In another folder first, so that one that was interrupted is not taken for the whole.
fetch() {
    rm -rf "$folder.new"
    python3 -m venv "$folder.new" &&
        "$folder.new/bin/python3" -m pip -q --disable-pip-version-check install --retries 1 \
            --timeout 15 nvidia-cuda-nvrtc nvidia-nvjitlink &&
        rm -rf "$folder" && mv "$folder.new" "$folder"
}

if ! found; then
    mine=${VIRTUAL_ENV-}
    export VIRTUAL_ENV="$folder"
    if ! found && [ "${NVRTC_WHEEL:-}" != no ]; then
        echo "nvrtc.sh: no NVRTC here; its wheel goes, with nvJitLink's, into $folder" >&2
        fetch < /dev/null >&2
    fi
    if ! found; then
        echo "nvrtc.sh: there is no NVRTC, nor its wheel:" \
            "tests that compile for a GPU are skipped" >&2
        [ -n "$required" ] && exit 1
        if [ -n "$mine" ]; then VIRTUAL_ENV=$mine; else unset VIRTUAL_ENV; fi
    fi
fi
exec "$@"
