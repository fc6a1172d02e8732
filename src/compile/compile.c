#include "compile/compile.h"

static void collect_kernels(gn_arena *a, gn_compiled *c)
{
    c->kernels = GN_NEW_N(a, const kir_kernel *, c->low->launches.n + 1);
    for (uint32_t k = 0; k < c->low->launches.n; k++)
        if (c->low->launches.p[k].kernel) c->kernels[c->n_kernels++] = c->low->launches.p[k].kernel;
}

/* What is computed for a row is kept in tiles, which have their limits. */
static gn_status *check_widths(const gir_program *p)
{
    enum { WIDEST = 1 << 16 };
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        int64_t width = gir_row_elems(&n->type);
        if (n->type.is_graph || !n->type.space || n->n_in == 0 || width <= WIDEST) continue;
        gir_loc at = n->loc;
        if (at.line)
            GN_FAIL(GN_ERR_MODEL, "%s:%u:%u: error: rows of %lld numbers are too wide: at most %d",
                    p->files.p[at.file], (unsigned)at.line, (unsigned)at.col, (long long)width,
                    (int)WIDEST);
        GN_FAIL(GN_ERR_MODEL, "%s: %%%u: rows of %lld numbers are too wide: at most %d", p->name, v,
                (long long)width, (int)WIDEST);
    }
    return NULL;
}

enum {
    CHAIN_SHARE = 2
}; /* of a thread's second-level cache what a chain's launches pass on takes so much at a time */

static low_options lower_options(const gn_compile_options *opt)
{
    return (low_options){.limits = opt->limits ? *opt->limits : gn_cpu_limits(opt->code.cpu),
                         .index = opt->index,
                         .off = opt->pass.without.decisions,
                         .precision = opt->precision,
                         .n_hints = opt->n_hints,
                         .hints = opt->hints,
                         .hints_hold = opt->hints_hold,
                         .tuning = opt->tuning};
}

gn_status *gn_lower_regions(gn_arena *a, const gn_compiled *c, lowered **out)
{
    low_options lo = lower_options(c->opt);
    GN_TRY(gn_lower(a, c->f, &lo, out));
    if (gn_is_on(lo.off, GN_DO_IN_PLACE)) GN_TRY(gn_settle_states(a, *out));
    if (gn_is_on(lo.off, GN_DO_REUSE)) gn_find_reuse(a, *out);
    return NULL;
}

gn_status *gn_settle_launches(gn_arena *a, lowered *low, gn_compiled *c)
{
    low_options lo = lower_options(c->opt);
    c->low = low;
    if (gn_is_on(lo.off, GN_DO_REUSE)) GN_TRY(gn_reuse_memory(a, low));
    if (gn_is_on(lo.off, GN_DO_CHAIN) && !lo.limits.shared_bytes) gn_find_chains(a, low);
    c->n_kernels = 0;
    collect_kernels(a, c);
    GN_TRY(gn_assemble(a, low, gn_is_on(lo.off, GN_DO_BALANCE), &c->artifact, &c->taken));
    c->artifact->chain_bytes = lo.limits.l2_bytes / CHAIN_SHARE;
    return NULL;
}

gn_status *gn_compile(gn_arena *a, const gir_program *p, const gn_compile_options *opt,
                      int *pass_count, gn_compiled **out)
{
    gn_compiled *c = GN_NEW(a, gn_compiled);
    gn_compile_options *kept = GN_NEW(a, gn_compile_options);
    double t0 = gn_now_ms();
    gir_program *g;
    lowered *low;
    *kept = *opt;
    c->opt = kept;
    c->source = p;
    GN_TRY(gn_passes_run(a, p, &opt->pass, pass_count, &g));
    c->gir = g;
    double t1 = gn_now_ms();
    c->pass_ms = t1 - t0;
    GN_TRY(check_widths(g));
    low_options lo = lower_options(opt);
    fu_options fo = {.eager = opt->pass.eager, .lanes = lo.limits.shared_bytes > 0, .off = lo.off};
    /* Sums ride where one worker sees whole rows, not where lanes share a product's tiles. */
    if (lo.limits.shared_bytes && gn_is_on(lo.off, GN_DO_SHARE_TILES))
        fo.off |= (gn_switches)1 << GN_DO_RIDE;
    c->f = gn_fuse(a, g, &fo);
    GN_TRY(gn_lower_regions(a, c, &low));
    if (gn_is_on(lo.off, GN_DO_ORDER)) gn_order_launches(a, low, NULL);
    GN_TRY(gn_checkpoint_launches(a, &low));
    GN_TRY(gn_settle_launches(a, low, c));
    c->lower_ms = gn_now_ms() - t1;
    *out = c;
    return NULL;
}
