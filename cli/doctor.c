/* doctor: what was found of what gnnc can use, what is missing, and how to get it. */
#include "cli/cuda.h"
#include "cli/device.h"

#include "runtime/threads.h"

#include <stdio.h>

static void on_lines(const char *text)
{
    for (; *text; text++) {
        fputc(*text, stdout);
        if (*text == '\n') fputs("  ", stdout);
    }
    fputc('\n', stdout);
}

static gn_status *doctor(gn_cli *cli)
{
    gn_buf b = {.arena = cli->arena}, archs = {.arena = cli->arena};
    printf("gnnc %s\n", GNNC_VERSION);
    if (GNNC_HAVE_LLVM)
        printf("CPU: LLVM %s, %s, %d processors\n", GNNC_LLVM_VERSION, gn_cpu_name(), gn_cores());
    else
        printf("CPU: nothing to compile with; built without LLVM 19 (Debian: llvm-19-dev, then build again)\n");
    gn_status *s = gn_cuda_describe(&b);
    if (!s) s = gn_cuda_archs(&archs);
    printf("CUDA compiler: ");
    on_lines(s ? gn_status_message(s) : gn_arena_printf(cli->arena, "%s, for %s", b.p, archs.p));
    gn_status_free(s);
    printf("CUDA driver: ");
    on_lines(gn_cli_driver_text(cli));
    return NULL;
}

const gn_command gn_command_doctor = {
    .name = "doctor",
    .usage = "doctor",
    .summary = "say what was found on this machine, what is missing and how to get it",
    .about = "Looks for what gnnc can use besides itself: LLVM, which it was built with or without, and\n"
             "NVRTC and NVIDIA's driver, which are loaded when they are needed.  The environment variable\n"
             "GNNC_NVRTC names a libnvrtc.so to use, and GNNC_CUDA_DRIVER a libcuda.so.\n",
    .examples = "  gnnc doctor\n"
                "  GNNC_NVRTC=/opt/nvrtc/libnvrtc.so.13 gnnc doctor\n",
    .min_args = 0,
    .max_args = 0,
    .run = doctor,
};
