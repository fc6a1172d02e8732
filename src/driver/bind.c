/* bind: a unit's programs bound to data, and what can be computed ahead computed. */
#include "driver/build.h"

#include <string.h>

static bool has_slot(const gn_compiled *c, gn_slot_kind kind, const char *name)
{
    for (int k = 0; c && k < c->artifact->n_slots; k++)
        if (c->artifact->slots[k].kind == kind && !strcmp(c->artifact->slots[k].name, name)) return true;
    return false;
}

bool gn_unit_reads(const gn_unit *u, gn_slot_kind kind, const char *name)
{
    return has_slot(u->code, kind, name) || has_slot(u->prepare_code, kind, name);
}

bool gn_unit_reads_pattern(const gn_unit *u)
{
    const gn_compiled *c[] = {u->code, u->prepare_code};
    for (int p = 0; p < 2; p++)
        for (int k = 0; c[p] && k < c[p]->artifact->n_graphs; k++)
            if (c[p]->artifact->graphs[k].pattern_of) return true;
    return false;
}

int gn_unit_kept(const gn_unit *u) { return u->prepare_code ? u->prepare_code->artifact->n_slots : 0; }

/* Binds what was computed ahead, behind the n tensors that there are; how many there are then. */
static int bind_kept(const gn_unit *u, int n, gn_binding *tensors)
{
    for (int k = 0; k < gn_unit_kept(u); k++) {
        const gn_slot *slot = &u->prepare_code->artifact->slots[k];
        if (slot->kind != GN_SLOT_OUTPUT) continue;
        int64_t elems = 0;
        const void *data = gn_instance_output(u->prepare, slot->name, &elems);
        int64_t rows = slot->elems.sym < 0 ? 1 : slot->row_elems ? elems / slot->row_elems : 0;
        tensors[n++] = (gn_binding){slot->name, slot->elem, rows, slot->row_elems, (void *)(uintptr_t)data};
    }
    return n;
}

gn_status *gn_unit_bind(gn_unit *u, int n_graphs, const gn_graph_binding *graphs, int n, gn_binding *tensors,
                        gn_pool *pool, const gn_instance *like)
{
    u->instance = u->prepare = NULL;
    u->prepare_ms = 0;
    if (!u->code) return NULL;
    if (u->prepare_code) {
        double t0 = gn_now_ms();
        GN_TRY(gn_instance_new(u->prepare_code->artifact, n_graphs, graphs, n, tensors, pool, like, &u->prepare));
        gn_instance_run(u->prepare);
        n = bind_kept(u, n, tensors);
        u->prepare_ms = gn_now_ms() - t0;
    }
    gn_status *s = gn_instance_new(u->code->artifact, n_graphs, graphs, n, tensors, pool,
                                   u->prepare ? u->prepare : like, &u->instance);
    if (!s && u->one_region) s = gn_instance_one_region(u->instance);
    if (s) gn_unit_release(u);
    return s;
}

void gn_unit_release(gn_unit *u)
{
    gn_instance_free(u->instance);
    gn_instance_free(u->prepare);
    u->instance = u->prepare = NULL;
}
