#include "driver/target.h"

static gn_status *write_all(gn_arena *a, const gn_distinct *d, gn_buf *text, gn_cuda_geometry *geometry)
{
    gn_buf_add(text, gn_cuda_prelude());
    for (int k = 0; k < d->n; k++) {
        const char *symbol = gn_arena_printf(a, "gn_kernel_%d", k);
        GN_TRY(gn_cuda_kernel(d->kernels[k], symbol, d->kernels[k]->comment, text, &geometry[k]));
    }
    return NULL;
}

gn_status *gn_compile_remote(gn_arena *a, int n, gn_compiled *const *programs, bool share, gn_target *t,
                             gn_code_report *report)
{
    double t0 = gn_now_ms();
    gn_distinct d = gn_find_distinct(a, n, programs, share);
    gn_buf text = {.arena = a};
    gn_cuda_geometry *geometry = GN_NEW_N(a, gn_cuda_geometry, d.n + 1);
    void **function = GN_NEW_N(a, void *, d.n + 1);
    int at = 0;
    *report = (gn_code_report){.distinct = d.n};
    GN_TRY(write_all(a, &d, &text, geometry));
    report->stats.build_ms = gn_now_ms() - t0;
    if (d.n) GN_TRY(t->load(t, d.n, d.kernels, geometry, text.p, function));
    for (int p = 0; p < n; p++) {
        gn_cuda_code *code = GN_NEW_N(a, gn_cuda_code, programs[p]->n_kernels + 1);
        for (int k = 0; k < programs[p]->n_kernels; k++) {
            const gn_cuda_geometry *g = &geometry[d.which[at]];
            code[k] = (gn_cuda_code){function[d.which[at++]], g->threads, g->per_block};
        }
        programs[p]->artifact->remote = t->remote;
        programs[p]->artifact->remote_code = code;
        report->kernels += programs[p]->n_kernels;
    }
    report->ms = gn_now_ms() - t0;
    return NULL;
}
