#include "runtime/run/pair.h"

#include "base/clock.h"

#include <string.h>

bool gn_artifact_reads(const gn_artifact *a, gn_slot_kind kind, const char *name)
{
    for (int k = 0; a && k < a->n_slots; k++)
        if (a->slots[k].kind == kind && !strcmp(a->slots[k].name, name)) return true;
    return false;
}

bool gn_artifact_picks(const gn_artifact *a, const char *mask)
{
    return a && gn_artifact_is_made_of(a, mask);
}

bool gn_artifact_reads_pattern(const gn_artifact *a)
{
    for (int k = 0; a && k < a->n_graphs; k++)
        if (a->graphs[k].pattern_of) return true;
    return false;
}

int gn_pair_kept(const gn_artifact *ahead) { return ahead ? ahead->n_slots : 0; }

int gn_pair_bind_kept(const gn_artifact *ahead, const gn_instance *in, int n, gn_binding *tensors)
{
    for (int k = 0; k < ahead->n_slots; k++) {
        const gn_slot *slot = &ahead->slots[k];
        if (slot->kind != GN_SLOT_OUTPUT) continue;
        int64_t elems = 0;
        const void *data = gn_instance_output(in, slot->name, &elems);
        int64_t rows = slot->elems.sym < 0 ? 1 : slot->row_elems ? elems / slot->row_elems : 0;
        tensors[n++] = (gn_binding){slot->name, slot->elem, rows, slot->row_elems,
                                    (void *)(uintptr_t)data};
    }
    return n;
}

gn_status *gn_pair_new(const gn_artifact *code, const gn_artifact *ahead, int n_graphs,
                       const gn_graph_binding *graphs, int n, gn_binding *tensors, gn_pool *pool,
                       const gn_instance *like, gn_pair *out)
{
    *out = (gn_pair){0};
    if (ahead) {
        double t0 = gn_now_ms();
        GN_TRY(gn_instance_new(ahead, n_graphs, graphs, n, tensors, pool, like, &out->ahead));
        gn_instance_run(out->ahead);
        gn_status *failed = gn_instance_check(out->ahead);
        if (failed) {
            gn_pair_free(out);
            return failed;
        }
        n = gn_pair_bind_kept(ahead, out->ahead, n, tensors);
        out->ahead_ms = gn_now_ms() - t0;
    }
    if (out->ahead) gn_instance_put_beside(out->ahead, like);
    gn_status *s = gn_instance_new(code, n_graphs, graphs, n, tensors, pool,
                                   out->ahead ? out->ahead : like, &out->instance);
    if (out->ahead) gn_instance_put_beside(out->ahead, NULL);
    if (s)
        gn_pair_free(out);
    else
        gn_instance_pace(out->instance, true);
    return s;
}

gn_status *gn_pair_next(const gn_pair *p, const gn_artifact *ahead, const gn_instance *before,
                        int n_graphs, const gn_graph_binding *graphs, int n, gn_binding *tensors,
                        const gn_instance *like, gn_instance **out)
{
    if (p->ahead) n = gn_pair_bind_kept(ahead, p->ahead, n, tensors);
    return gn_instance_next(before, n_graphs, graphs, n, tensors, like, out);
}

void gn_pair_free(gn_pair *p)
{
    gn_instance_free(p->instance);
    gn_instance_free(p->ahead);
    *p = (gn_pair){0};
}
