/* lower_totals: sums over the edges of several relations that are added up, and to nothing else
 * than to each other and to what the row had before.
 *
 * Each has accumulators while its pass lasts, and goes into the total at the end of that; a row
 * that has no edge of the relation leaves it alone.  So many relations of few edges each take
 * registers for one sum besides the total.  Declines where a region walks one relation, and where
 * several rows are worked on together. */
#include "lower/lower_impl.h"

/* Which total a value is a part of, so far. */
typedef struct totaling {
    const lower *L;
    const int *pass;
    int32_t *of; /* by value: index of a total; -1: of none */
} totaling;

/* Is it read by one sum of sums alone, in registers? */
static bool goes_on(const lower *L, gir_id v) { return L->f->uses[v] == 1 && !L->f->stored[v]; }

static bool is_part(const totaling *z, uint32_t m)
{
    const lower *L = z->L;
    gir_id v = L->r->members.p[m];
    const gir_node *n = gir_at(L->p, v);
    return n->op == GIR_SCATTER && n->attr.i[1] == GIR_SUM && z->pass[m] && goes_on(L, v) &&
           (n->type.elem == GN_F32 || n->type.elem == GN_F64) && !low_edge_constant(L, v);
}

/* Does the row have it before all passes, in memory? */
static bool is_there(const lower *L, gir_id v)
{
    return L->f->place[v] == FU_LEAF ||
           (L->f->place[v] == FU_REAL && L->f->region_of[v] != L->region);
}

/* The sum v of two sums, or of one and what the row has, is a total's value so far. */
static void join(totaling *z, lower *L, gir_id v)
{
    gir_id x = gir_in(L->p, v, 0), y = gir_in(L->p, v, 1);
    if (z->of[x] < 0) {
        gir_id swap = x;
        x = y;
        y = swap;
    }
    if (z->of[x] < 0 || x == y || !goes_on(L, x)) return;
    if (!gir_type_eq(gir_type_of(L->p, x), gir_type_of(L->p, v)) ||
        !gir_type_eq(gir_type_of(L->p, y), gir_type_of(L->p, v)))
        return;
    low_total *to = &L->totals.p[z->of[x]];
    if (z->of[y] >= 0) {
        low_total *from = &L->totals.p[z->of[y]];
        if (!goes_on(L, y) || (to->base && from->base)) return;
        if (from->base) to->base = from->base;
        to->parts += from->parts;
        from->parts = 0;
        from->into = z->of[x];
    } else {
        if (to->base || !is_there(L, y)) return;
        to->base = y;
    }
    z->of[v] = z->of[x];
    to->value = v;
}

void low_find_totals(lower *L, const int *pass)
{
    const region *r = L->r;
    totaling z = {L, pass, GN_NEW_N(L->arena, int32_t, L->p->nodes.n)};
    L->totals.n = 0;
    if (r->n_walks < 2 || L->sched.rows_at_once > 1) return;
    for (uint32_t v = 0; v < L->p->nodes.n; v++) z.of[v] = -1;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        if (is_part(&z, m)) {
            z.of[v] = (int32_t)L->totals.n;
            GN_PUSH(L->arena, L->totals, ((low_total){.value = v, .parts = 1, .into = -1}));
        } else if (gir_at(L->p, v)->op == GIR_ADD) {
            join(&z, L, v);
        }
    }
    L->total_of = GN_NEW_N(L->arena, int32_t, r->members.n);
    for (uint32_t m = 0; m < r->members.n; m++) {
        int32_t t = is_part(&z, m) ? z.of[r->members.p[m]] : -1;
        while (t >= 0 && L->totals.p[t].into >= 0) t = L->totals.p[t].into;
        L->total_of[m] = t >= 0 && L->totals.p[t].parts > 1 ? t : -1;
    }
}

low_total *low_total_of(lower *L, uint32_t m)
{
    return L->totals.n && L->total_of[m] >= 0 ? &L->totals.p[L->total_of[m]] : NULL;
}

/* The total's tile, with what the row had before. */
static void begin(lower *L, low_total *t)
{
    int64_t n = fu_elems(L->p, t->value);
    gn_elem e = low_member_elem(L, t->value);
    t->tile = kir_tile(L->k, low_at(L), e, n);
    kir_id j = low_open_n(L, n, KIR_VECTOR, KIR_NONE), start;
    if (t->base) {
        low_ix x = low_index(gir_type_of(L->p, t->base), j);
        start = low_value(L, t->base, &L->row, &x);
    } else {
        start = low_start(L, e, GIR_SUM);
    }
    kir_tstore(L->k, low_at(L), t->tile, j, start);
    low_close(L);
}

bool low_begin_totals(lower *L, const bool *summed)
{
    bool all = L->totals.n > 0, any = false;
    for (uint32_t m = 0; m < L->r->members.n; m++) {
        if (!summed[m]) continue;
        low_total *t = low_total_of(L, m);
        all = all && t;
        any = true;
        if (t && !t->tile) begin(L, t);
    }
    return all && any;
}

void low_add_to_total(lower *L, uint32_t m, kir_id tile)
{
    const low_total *t = low_total_of(L, m);
    kir_id j = low_open_n(L, fu_elems(L->p, t->value), KIR_VECTOR, KIR_NONE);
    kir_tacc(L->k, low_at(L), KIR_SUM, t->tile, j, kir_tload(L->k, low_at(L), tile, j));
    low_close(L);
}

void low_end_totals(lower *L, const bool *summed)
{
    for (uint32_t m = 0; m < L->r->members.n; m++) {
        low_total *t = summed[m] ? low_total_of(L, m) : NULL;
        if (t && --t->parts == 0) low_hold(L, t->value, &L->row, t->tile, L->depth);
    }
}
