/* lower_versions: loops over edges that are written twice.
 *
 * Where a scalar of the whole program decides which of two values all edges get, a row's work is
 * written twice: once supposing that it decides for the first, without all that only the second
 * needs, and once as it is.  The scalar is looked at once a row.  What is stored for the second
 * value alone is not even stored by the first version: whoever reads it discards it under the same
 * condition.  Several such scalars of a region are supposed together. */
#include "lower/lower_impl.h"

/* The scalar that a condition on edges repeats; 0: it is none. */
static gir_id scalar_of(const gir_program *p, gir_id cond)
{
    while (gir_at(p, cond)->op == GIR_BROADCAST || gir_at(p, cond)->op == GIR_RESHAPE)
        cond = gir_in(p, cond, 0);
    const gir_type *t = gir_type_of(p, cond);
    bool is = t->space == 0 && t->elem == GN_BOOL && gir_row_elems(t) == 1 &&
              gir_at(p, cond)->op != GIR_CONST;
    return is ? cond : 0;
}

bool low_supposed(const lower *L, gir_id v)
{
    if (!L->supposed || gir_at(L->p, v)->op != GIR_SELECT) return false;
    gir_id s = scalar_of(L->p, gir_in(L->p, v, 0));
    return s && L->supposed[s];
}

typedef struct finder {
    const lower *L;
    bool *seen;
    int n;
    gir_id found[LOW_MOST_SCALARS];
} finder;

static void find(finder *z, gir_id v)
{
    const lower *L = z->L;
    const gir_node *n = gir_at(L->p, v);
    if (z->seen[v] || n->type.is_graph) return;
    z->seen[v] = true;
    uint8_t place = L->f->place[v];
    if (place == FU_LEAF || (place == FU_REAL && L->f->region_of[v] != L->region)) return;
    gir_id s = n->op == GIR_SELECT && fu_is_edge_space(L->p, n->type.space)
                   ? scalar_of(L->p, gir_in(L->p, v, 0))
                   : 0;
    bool known = s == 0 || z->n == LOW_MOST_SCALARS;
    for (int k = 0; k < z->n; k++) known = known || z->found[k] == s;
    if (!known) z->found[z->n++] = s;
    for (int k = 0; k < n->n_in; k++) find(z, gir_in(L->p, v, k));
}

int low_version_scalars(lower *L, gir_id *scalar)
{
    finder z = {.L = L, .seen = GN_NEW_N(L->arena, bool, L->p->nodes.n)};
    if (!L->r->n_walks || !gn_is_on(L->opt->off, GN_DO_VERSIONS)) return 0;
    for (uint32_t m = 0; m < L->r->members.n; m++) find(&z, L->r->members.p[m]);
    for (int k = 0; k < z.n; k++) scalar[k] = z.found[k];
    return z.n;
}

/* What outputs depend on, as far as is supposed. */
static bool *alive(lower *L)
{
    const gir_program *p = L->p;
    bool *live = GN_NEW_N(L->arena, bool, p->nodes.n);
    for (uint32_t k = 0; k < p->outputs.n; k++) live[p->outputs.p[k].value] = true;
    for (gir_id v = p->nodes.n; v-- > 1;) {
        if (!live[v]) continue;
        bool first = low_supposed(L, v);
        for (int k = 0; k < gir_at(p, v)->n_in; k++)
            if (!first || k == 1) live[gir_in(p, v, k)] = true;
    }
    return live;
}

/* What a version computes outside of all loops holds only where what it supposes does: it is
 * forgotten with that. */
void low_suppose(lower *L, int n, const gir_id *scalar)
{
    if (L->supposed) L->memos.n = L->memos_before;
    L->memos_before = L->memos.n;
    L->supposed = NULL;
    L->alive = NULL;
    for (uint32_t v = 0; v < L->p->nodes.n; v++) L->cost[v] = -1;
    if (n == 0) return;
    L->supposed = GN_NEW_N(L->arena, bool, L->p->nodes.n);
    for (int k = 0; k < n; k++) L->supposed[scalar[k]] = true;
    L->alive = alive(L);
}

kir_id low_all_hold(lower *L, int n, const gir_id *scalar)
{
    kir_id all = 0;
    where none = {0};
    for (int k = 0; k < n; k++) {
        low_ix x = low_index(gir_type_of(L->p, scalar[k]), low_iconst(L, 0));
        kir_id v = low_value(L, scalar[k], &none, &x);
        all = all ? kir_bin(L->k, low_at(L), KIR_AND, all, v) : v;
    }
    return all;
}
