/* doctor: what was found of what gnnc can use, what is missing, and how to get it. */
#include "cli/command.h"

#include "target/doctor.h"

#include <stdio.h>

static gn_status *doctor(gn_cli *cli)
{
    gn_buf b = {.arena = cli->arena};
    gn_doctor(&b);
    fputs(b.p, stdout);
    return NULL;
}

const gn_command gn_command_doctor = {
    .name = "doctor",
    .usage = "doctor",
    .summary = "say what was found on this machine, what is missing and how to get it",
    .about = "Looks for what gnnc can use besides itself: LLVM, which it was built with or "
             "without, and\n"
             "NVRTC, nvJitLink, NVIDIA's driver and cuBLASLt, which are loaded when they are "
             "needed.  The\n"
             "environment variable GNNC_NVRTC names a libnvrtc.so to use, GNNC_NVJITLINK a "
             "libnvJitLink.so,\n"
             "GNNC_CUDA_DRIVER a libcuda.so, and GNNC_CUBLASLT a libcublasLt.so.\n",
    .examples = "  gnnc doctor\n"
                "  GNNC_NVRTC=/opt/nvrtc/libnvrtc.so.13 gnnc doctor\n",
    .min_args = 0,
    .max_args = 0,
    .run = doctor,
};
