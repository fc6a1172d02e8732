/* lower_put: rows that are put among others.
 *
 * A PUT that updates the state that it is put into (fusion.put) is done where that lies, in as much
 * time as rows are picked: as soon as a row is computed, where nobody needs what was there, or else
 * at the end, from memory.  Any other makes all rows anew. */
#include "lower/lower_impl.h"

/* As soon as rows are computed ----------------------------------------------------------------- */

/* May rows that are put be stored where they belong as soon as they are computed?  Whoever reads
 * the state ran in an earlier region, or reads the row that is about to be replaced, for an element
 * of the same place in it, as all rows of one width in a region are read before they are stored. */
static bool puts_at_once(const lower *L, gir_id put)
{
    enum { NO, ALIGNED, ANYHOW };
    const fusion *f = L->f;
    const gir_program *p = L->p;
    gir_id pick = gir_in(p, put, 0), state = gir_in(p, put, 1), v = gir_in(p, put, 2);
    if (f->place[v] != FU_REAL || f->regions.p[f->region_of[v]].kind != RG_ROWS) return false;
    for (uint32_t k = 0; k < f->readers.n; k++)
        if (f->readers.p[k].value == v) return false;
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].value == state) return false;
    uint8_t *reads = GN_NEW_N(L->arena, uint8_t, p->nodes.n);
    reads[state] = ANYHOW;
    for (gir_id u = state + 1; u < p->nodes.n; u++) {
        if (f->place[u] == FU_UNUSED || f->put[u]) continue;
        const gir_node *n = gir_at(p, u);
        bool here = f->place[u] == FU_REAL && f->region_of[u] == f->region_of[v];
        bool elementwise = gir_ops[n->op].cls == GIR_CLASS_MAP || fu_is_identity_view(p, u);
        for (int k = 0; k < n->n_in; k++) {
            gir_id o = gir_in(p, u, k);
            bool stored = f->place[u] == FU_REAL && f->place[o] == FU_REAL &&
                          f->region_of[o] != f->region_of[u]; /* its memory is read */
            uint8_t how = stored ? NO : reads[o];
            if (how == ANYHOW && n->op == GIR_TAKE && gir_in(p, u, 0) == pick &&
                gir_in(p, u, 1) == state)
                how = ALIGNED;
            else if (how == ALIGNED && !elementwise)
                how = ANYHOW;
            if (how > reads[u]) reads[u] = how;
        }
        if (!reads[u] || f->place[u] == FU_INLINE) continue;
        bool same = reads[u] == ALIGNED && fu_elems(p, u) == fu_elems(p, v);
        if (f->region_of[u] > f->region_of[v] || (here && !same)) return false;
        if (!here) reads[u] = NO; /* what reads u reads u's memory */
    }
    return true;
}

void low_bind_put(lower *L, gir_id put)
{
    gir_id v = gir_in(L->p, put, 2);
    int times = 0;
    for (uint32_t k = 0; k < L->p->outputs.n; k++) times += fu_left_by(L->f, k) == v;
    if (times == 1 && puts_at_once(L, put)) L->put[v] = put;
}

/* Row k of a pick, among all rows; *stays: it is there to fill the pick up; 0: none is. */
static kir_id picked_row(lower *L, gir_id pick, const where *w, kir_id *stays)
{
    where edge = {.space = gir_type_of(L->p, pick)->edge, .row = w->row, .level = w->level};
    int save = L->depth;
    kir_id row = low_end_of(L, pick, &edge, GIR_SRC).row;
    *stays = 0;
    if (gir_at(L->p, pick)->op != GIR_ENDS) return row;
    L->depth = w->level;
    kir_id from = low_load(L, low_buffer_of_graph(L, pick, GN_GRAPH_FROM), w->row);
    *stays = kir_bin(L->k, low_at(L), KIR_ILT, from, low_iconst(L, 0));
    L->depth = save;
    return row;
}

/* A row that is put is stored right where it belongs: what stays is stored as it is. */
void low_store_put(lower *L, gir_id v, const where *w, kir_id lin, kir_id value)
{
    gir_id put = L->put[v], state = gir_in(L->p, put, 1);
    int b = low_kernel_buffer(L, low_buffer_of_value(L, state), KIR_WRITE);
    kir_id stays, row = picked_row(L, gir_in(L->p, put, 0), w, &stays);
    kir_id at = low_scaled_add(L, row, fu_elems(L->p, v), lin);
    if (stays) {
        kir_id old = low_load(L, low_buffer_of_value(L, state), at);
        value = kir_select(L->k, low_at(L), stays, old, value);
    }
    kir_store(L->k, low_at(L), b, at, value);
}

/* At the end ----------------------------------------------------------------------------------- */

/* What is left of PUTs that are done where their states lie: rows that wait in memory go there. */
void low_put_left(lower *L, gir_id put)
{
    gir_id r = gir_in(L->p, put, 0), base = gir_in(L->p, put, 2);
    if (L->put[base]) return;
    while (fu_is_identity_view(L->p, base)) base = gir_in(L->p, base, 0);
    int64_t n = fu_elems(L->p, put);
    gir_space_id s = gir_type_of(L->p, r)->dst;
    L->region = -1;
    low_begin(L, "put");
    low_of(L, put);
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, s, 1)};
    kir_id k = low_open(L, low_iconst(L, 0), low_sym_value(L, s, 1), 1, KIR_THREAD, KIR_NONE);
    kir_id row = low_load(L, low_buffer_of_graph(L, r, GN_GRAPH_COL), k);
    bool filled = gir_at(L->p, r)->op == GIR_ENDS;
    if (filled) {
        kir_id from = low_load(L, low_buffer_of_graph(L, r, GN_GRAPH_FROM), k);
        low_open_if(L, kir_bin(L->k, low_at(L), KIR_ILE, low_iconst(L, 0), from));
    }
    int to = low_kernel_buffer(L, low_buffer_of_value(L, gir_in(L->p, put, 1)), KIR_WRITE);
    kir_id j = n > 1 ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
    kir_id value = low_load(L, low_buffer_of_value(L, base), low_scaled_add(L, k, n, j));
    kir_store(L->k, low_at(L), to, low_scaled_add(L, row, n, j), value);
    if (n > 1) low_close(L);
    if (filled) low_close(L);
    low_close(L);
    low_end(L);
}

/* All rows ------------------------------------------------------------------------------------- */

/* put(r, x, y): row i is one of y, where r picks it and is not filled up with it, or of x. */
void low_put_rows(lower *L, kir_id i)
{
    gir_id v = L->r->members.p[0], r = gir_in(L->p, v, 0);
    int ptr = low_buffer_of_graph(L, r, GN_GRAPH_COL_PTR);
    kir_id at = low_load(L, ptr, i), next = low_int(L, KIR_IADD, i, low_iconst(L, 1));
    kir_id end = low_load(L, ptr, next);
    kir_id picked = kir_bin(L->k, low_at(L), KIR_ILT, at, end);
    kir_id not = kir_un(L->k, low_at(L), KIR_NOT, picked);
    low_open_if(L, picked);
    kir_id k = low_load(L, low_buffer_of_graph(L, r, GN_GRAPH_CSC_ROW), at);
    if (gir_at(L->p, r)->op == GIR_ENDS) {
        kir_id from = low_load(L, low_buffer_of_graph(L, r, GN_GRAPH_FROM), k);
        kir_id fills = kir_bin(L->k, low_at(L), KIR_ILT, from, low_iconst(L, 0));
        kir_id named = kir_un(L->k, low_at(L), KIR_NOT, fills);
        low_copy_side(L, v, gir_in(L->p, v, 2), k, named);
        low_copy_side(L, v, gir_in(L->p, v, 1), i, fills);
    } else {
        kir_id always = kir_bin(L->k, low_at(L), KIR_ILE, low_iconst(L, 0), k);
        low_copy_side(L, v, gir_in(L->p, v, 2), k, always);
    }
    low_close(L);
    low_copy_side(L, v, gir_in(L->p, v, 1), i, not);
}
