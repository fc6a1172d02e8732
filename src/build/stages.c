/* emit: what a build came from and went through, as text. */
#include "build/build.h"

#include <string.h>

int gn_build_named(const gn_build *b, gn_named_program out[GN_BUILD_PROGRAMS])
{
    const gn_named_program all[GN_BUILD_PROGRAMS] = {
        {"eval_prepare", b->eval.prepare_code}, {"eval", b->eval.code},
        {"step_prepare", b->step.prepare_code}, {"step", b->step.code},
        {"forward", b->forward.code},           {"backward", b->backward.code},
    };
    int n = 0;
    for (int k = 0; k < GN_BUILD_PROGRAMS; k++)
        if (all[k].code) out[n++] = all[k];
    return n;
}

int gn_build_chosen(const gn_build *b, const char *only, gn_named_program out[GN_BUILD_PROGRAMS])
{
    int n = gn_build_named(b, out), chosen = 0;
    for (int k = 0; k < n; k++)
        if (!only || !strcmp(out[k].name, only)) out[chosen++] = out[k];
    return chosen;
}

static gn_status *emit_code(const gn_named_program *u, int n, const gn_codegen_options *o,
                            gn_emit what, gn_buf *out)
{
    int total = 0;
    for (int k = 0; k < n; k++) total += u[k].code->n_kernels;
    const kir_kernel **kernels = GN_NEW_N(out->arena, const kir_kernel *, total + 1);
    total = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < u[k].code->n_kernels; i++) kernels[total++] = u[k].code->kernels[i];
    return gn_cpu_emit(kernels, total, o, what, out);
}

gn_status *gn_build_emit(const gn_build *b, gn_mode mode, gn_switches off, gn_stage stage,
                         const char *only, gn_buf *out)
{
    gn_codegen_options o = {.opt_level = gn_modes[mode].eager ? 0 : 1, .off = off};
    gn_named_program u[GN_BUILD_PROGRAMS];
    int n = gn_build_chosen(b, only, u);
    gn_buf_add(out, "");
    switch (stage) {
    case GN_STAGE_GIR:
        for (int k = 0; k < n; k++) gir_print(u[k].code->gir, out);
        return NULL;
    case GN_STAGE_KIR:
        for (int k = 0; k < n; k++)
            for (int i = 0; i < u[k].code->n_kernels; i++) kir_print(u[k].code->kernels[i], out);
        return NULL;
    case GN_STAGE_LLVM: return emit_code(u, n, &o, GN_EMIT_LLVM, out);
    case GN_STAGE_ASM: return emit_code(u, n, &o, GN_EMIT_ASM, out);
    default: return emit_code(u, n, &o, GN_EMIT_OBJ, out);
    }
}
