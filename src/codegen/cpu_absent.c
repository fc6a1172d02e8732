/* The CPU back end of a gnnc that was built without LLVM: says so. Loading cached code needs
 * runtime/load/loader.h only. */
#include "codegen/backend.h"

#if !defined(GNNC_HAVE_LLVM) || !GNNC_HAVE_LLVM

#define ABSENT                                                                                     \
    GN_FAIL(GN_ERR_BACKEND, "gnnc was built without LLVM 19, which the CPU back end compiles "     \
                            "with")

gn_limits gn_cpu_limits(const char *cpu)
{
    (void)cpu;
    return (gn_limits){.lanes = 4,
                       .vector_registers = 16,
                       .l1_bytes = 32 * 1024,
                       .l2_bytes = 1024 * 1024,
                       .max_threads = 1};
}

const char *gn_cpu_name(void) { return "none"; }

bool gn_cpu_supports(const kir_kernel *k, const char **why)
{
    (void)k;
    if (why) *why = "LLVM";
    return false;
}

gn_status *gn_cpu_compile(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                          gn_image **out, gn_codegen_stats *stats)
{
    (void)kernels, (void)n, (void)opt, (void)stats;
    *out = NULL;
    ABSENT;
}

gn_status *gn_cpu_emit(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                       gn_emit what, gn_buf *out)
{
    (void)kernels, (void)n, (void)opt, (void)what, (void)out;
    ABSENT;
}

gn_status *gn_cpu_objects(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                          gn_code_object *out, gn_codegen_stats *stats)
{
    (void)kernels, (void)n, (void)opt, (void)out, (void)stats;
    ABSENT;
}

gn_status *gn_cpu_describe(const char *cpu, gn_buf *out)
{
    (void)cpu, (void)out;
    ABSENT;
}

#else
typedef int cpu_back_end_is_there; /* a file is not empty */
#endif
