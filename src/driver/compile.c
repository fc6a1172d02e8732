#include "driver/compile.h"

#include <time.h>

double gn_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void collect_kernels(gn_arena *a, gn_compiled *c)
{
    c->kernels = GN_NEW_N(a, const kir_kernel *, c->low->launches.n + 1);
    for (uint32_t k = 0; k < c->low->launches.n; k++)
        if (c->low->launches.p[k].kernel) c->kernels[c->n_kernels++] = c->low->launches.p[k].kernel;
}

gn_status *gn_compile(gn_arena *a, const gir_program *p, const gn_compile_options *opt, int *pass_count,
                      gn_compiled **out)
{
    gn_compiled *c = GN_NEW(a, gn_compiled);
    double t0 = gn_now_ms();
    gir_program *g;
    c->source = p;
    GN_TRY(gn_passes_run(a, p, &opt->pass, pass_count, &g));
    c->gir = g;
    double t1 = gn_now_ms();
    c->pass_ms = t1 - t0;
    fu_options fo = {.eager = opt->pass.eager};
    c->f = gn_fuse(a, g, &fo);
    low_options lo = {.limits = gn_cpu_limits(opt->code.cpu), .index = opt->index};
    GN_TRY(gn_lower(a, c->f, &lo, &c->low));
    collect_kernels(a, c);
    double t2 = gn_now_ms();
    c->lower_ms = t2 - t1;
    if (!opt->no_code && c->n_kernels) {
        GN_TRY(gn_cpu_compile(c->kernels, c->n_kernels, &opt->code, &c->image, &c->stats));
        c->code_ms = gn_now_ms() - t2;
    }
    gn_status *s = gn_assemble(a, c->low, c->image, &c->artifact);
    if (s) {
        gn_compiled_free(c);
        return s;
    }
    *out = c;
    return NULL;
}

void gn_compiled_free(gn_compiled *c)
{
    if (!c) return;
    gn_image_free(c->image);
    c->image = NULL;
}
