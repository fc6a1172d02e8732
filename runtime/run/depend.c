#include "runtime/run/depend.h"

#include <string.h>

static bool is_named(const gn_slot *s)
{
    return s->kind == GN_SLOT_INPUT || s->kind == GN_SLOT_STATE || s->kind == GN_SLOT_OUTPUT;
}

/* What is bound under different names lies apart (bind.c). */
bool gn_slots_meet(const gn_artifact *of, const gn_plan *p, int a, int b)
{
    const gn_slot *x = &of->slots[a], *y = &of->slots[b];
    if (a == b) return true;
    if (x->kind == GN_SLOT_TEMP && y->kind == GN_SLOT_TEMP)
        return p->offset[a] < p->offset[b] + p->size[b] && p->offset[b] < p->offset[a] + p->size[a];
    return is_named(x) && is_named(y) && strcmp(x->name, y->name) == 0;
}

unsigned gn_access_of(const gn_launch *l, int b)
{
    return l->access ? l->access[b] : GN_READS | GN_WRITES;
}

bool gn_launches_meet(const gn_artifact *of, const gn_plan *p, int a, int b)
{
    const gn_launch *x = &of->launches[a], *y = &of->launches[b];
    for (int i = 0; i < x->n_buf; i++)
        for (int j = 0; j < y->n_buf; j++) {
            if (!((gn_access_of(x, i) | gn_access_of(y, j)) & GN_WRITES)) continue;
            if (gn_slots_meet(of, p, p->root[x->buf[i]], p->root[y->buf[j]])) return true;
        }
    return false;
}

int gn_find_meetings(const gn_artifact *of, const gn_plan *p, uint64_t *turn)
{
    int n = 0, since = 0;
    for (int k = 0; k < of->n_launches; k++) {
        bool meet = false;
        for (int j = since; j < k && turn[k] & GN_TURN_RUNS && !meet; j++)
            meet = (turn[j] & GN_TURN_RUNS) && gn_launches_meet(of, p, j, k);
        if (!meet) continue;
        turn[k] |= GN_TURN_MEETS;
        since = k;
        n++;
    }
    return n;
}
