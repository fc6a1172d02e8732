/* Results for some rows of nodes: level 0 is those that an input tells, in order, and results have
 * those rows alone.  Nothing is a sum over a batch's rows: results are what they are among all. */
#include "base/data_name.h"
#include "passes/restricter.h"

void gn_find_results(gn_arena *a, restricter *z)
{
    gir_program *p = gir_clone(a, z->from);
    gir_space_id s = 0;
    z->from = p;
    z->mask = 0;
    z->sum_of = GN_NEW_N(a, gir_id, p->nodes.n + 1);
    for (uint32_t k = 0; k < p->outputs.n && !s; k++)
        if (over_nodes(z, p->outputs.p[k].value)) s = space_of(z, p->outputs.p[k].value);
    if (!s) return;
    const char *name = gn_arena_printf(p->arena, "%s" GN_BATCH_MASK, p->spaces.p[s].name);
    gir_type t = gir_tensor(GN_BOOL, s, 0, NULL);
    z->mask = gir_leaf(p, GIR_INPUT, name, &t);
}

bool gn_is_some_result(const restricter *z, gir_id v)
{
    return z->batches && z->batches->results && over_nodes(z, v) &&
           space_of(z, v) == space_of(z, z->mask);
}
