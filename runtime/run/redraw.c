/* Graphs whose edges are drawn: before a run whose keys are others than at the last, they, and what
 * is made of them, are drawn anew.  They have as many edges then, so that all sizes stay, and lie
 * where they lay. */
#include "runtime/run/instance.h"

#include "base/philox.h"

#include <string.h>

gn_status *gn_find_key(const gn_instance *in, gn_derived *d)
{
    const gn_remote *r = in->artifact->remote; /* which may have states before this is bound */
    for (int k = 0; r && k < 2; k++)
        GN_TRY(r->fetch(in->artifact->remote, (void *)(uintptr_t)d->key_at[k]));
    d->key = gn_step_key((uint64_t)*d->key_at[0], (uint64_t)*d->key_at[1]);
    return NULL;
}

static gn_status *find_changes(gn_instance *in, bool *any)
{
    *any = false;
    for (int k = 0; k < in->artifact->n_graphs; k++) {
        gn_derived *d = in->derived[k];
        if (!d || !gn_is_drawn(d->how) || in->artifact->graphs[k].once) continue;
        uint64_t before = d->key;
        GN_TRY(gn_find_key(in, d));
        *any = *any || d->key != before;
    }
    return NULL;
}

static gn_status *push(const gn_instance *in, const gn_graph *g)
{
    gn_remote *r = in->artifact->remote;
    for (int a = 0; a < GN_GRAPH_ARRAY_COUNT; a++)
        if (g->array[a]) GN_TRY(r->push(r, g->array[a]));
    return NULL;
}

static gn_status *draw(gn_instance *in, int k)
{
    const gn_derived *was = in->derived[k];
    gn_derived now = {.how = was->how, .key = was->key, .rows = was->rows, .list = was->list};
    for (int j = 0; j < 3; j++) now.parent[j] = was->parent[j];
    GN_TRY(gn_bind_make_derived(in, k, &now, 0, NULL));
    gn_status *s = gn_graph_refill(in->graph[k], now.graph);
    if (!s && in->remote) s = push(in, in->graph[k]);
    gn_graph_free(now.graph);
    return s;
}

static gn_status *draw_all(gn_instance *in)
{
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_columns; k++)
        if (a->columns[k].drawn) in->column[k].made = false;
    for (int k = 0; k < a->n_graphs; k++)
        if (a->graphs[k].drawn) GN_TRY(draw(in, k));
    return NULL;
}

gn_status *gn_redraw(gn_instance *in)
{
    bool any;
    gn_status *s = find_changes(in, &any);
    if (!s && any) s = draw_all(in);
    for (int k = 0; s && k < in->artifact->n_graphs; k++)
        if (in->derived[k] && gn_is_drawn(in->derived[k]->how) && !in->artifact->graphs[k].once)
            in->derived[k]->key = ~(uint64_t)0; /* no key: of 53 bits */
    return s;
}

bool gn_redraws_by(const gn_artifact *a, const char *name)
{
    for (int k = 0; k < a->n_graphs; k++)
        for (int j = 0; j < 2; j++)
            if (a->graphs[k].key_of[j] && !strcmp(a->graphs[k].key_of[j], name)) return true;
    return false;
}

void gn_redraw_from(gn_instance *in, const char *name, const void *data)
{
    for (int k = 0; k < in->artifact->n_graphs; k++)
        for (int j = 0; in->derived[k] && gn_is_drawn(in->derived[k]->how) && j < 2; j++)
            if (!strcmp(in->artifact->graphs[k].key_of[j], name)) in->derived[k]->key_at[j] = data;
}
