/* The pipeline: GN_PASSES in order. */
#include "passes/passes.h"

#include <string.h>

const gn_pass gn_passes[] = {
#define X(name, always, doc) {#name, always, doc, gn_run_##name},
    GN_PASSES(X)
#undef X
};
const int gn_pass_count = sizeof gn_passes / sizeof *gn_passes;

const gn_pass *gn_pass_by_name(const char *name)
{
    for (int k = 0; k < gn_pass_count; k++)
        if (!strcmp(gn_passes[k].name, name)) return &gn_passes[k];
    return NULL;
}

gn_status *gn_passes_run(gn_arena *a, const gir_program *in, const gn_pass_options *opt, int *count,
                         gir_program **out)
{
    int none = 0, *done = count ? count : &none;
    gir_program *p = (gir_program *)in;
    for (int k = 0; k < gn_pass_count; k++) {
        if (opt->limit >= 0 && *done >= opt->limit && !gn_passes[k].always) continue;
        if (opt->eager && !gn_passes[k].always) continue;
        if (opt->without.passes >> k & 1) continue;
        const gir_program *given = p;
        gn_status *s = gn_passes[k].run(a, p, opt, &p);
        if (!s && opt->verify) s = gir_verify(p);
        if (s) return gn_status_annotate(s, "pass %s on %s", gn_passes[k].name, in->name);
        ++*done;
        if (opt->after) opt->after(opt->ctx, gn_passes[k].name, given, p);
    }
    *out = p;
    return NULL;
}
