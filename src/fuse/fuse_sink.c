/* fuse_sink: a value that one later region alone reads is computed there, where that is less to
 * store. Needs: a finished fusion.  Keeps: what regions depend on, and their order.
 *
 * Fusion places a value with what it reads.  A product that is only summed over the columns in a
 * later loop would be written whole and read again, although its operands are in memory anyway.
 * Values that share an operand go together where that is less to store than the operand.  What is
 * stored, but first read later still, waits for a loop that reads its operands anyway. */
#include "fuse/fuse.h"

typedef struct sinking {
    gn_arena *arena;
    fusion *f;
    const gir_program *p;
    bool *output;
    uint32_t *first; /* by value: its users, in user[first[v] .. first[v + 1]) */
    gir_id *user;
    int64_t more;  /* bytes a row of operands that would have to be stored */
    bool alike;    /* elements are read where they lie: views that move them are in the way */
    bool *counted; /* by value: `more` knows it; those that are marked */
    GN_VEC(gir_id) marked;
    uint32_t *mark, walk; /* by value: last walk that came by */
} sinking;

/* Does a walk come by v for the first time?  What is computed where it is read may be read in many
 * ways. */
static bool first_time(sinking *z, gir_id v)
{
    bool first = z->mark[v] != z->walk;
    z->mark[v] = z->walk;
    return first;
}

/* Work shared on edges ------------------------------------------------------------------------- */

/* Edge values that are computed wherever they are read, on the way to v; *met counts those that
 * another walk met. */
static void mark(const fusion *f, gir_id v, uint8_t *marks, uint8_t with, int *met)
{
    const gir_node *n = gir_at(f->p, v);
    if (f->place[v] != FU_INLINE || (marks[v] & with)) return;
    if (gir_ops[n->op].cls == GIR_CLASS_MAP && !fu_is_identity_view(f->p, v)) *met += marks[v] != 0;
    marks[v] |= with;
    for (int k = 0; k < n->n_in && n->op != GIR_GATHER; k++)
        mark(f, gir_in(f->p, v, k), marks, with, met);
}

int fu_shared_work(gn_arena *a, const fusion *f, gir_id v, const region *r)
{
    int met = 0, none = 0;
    uint8_t *marks = GN_NEW_N(a, uint8_t, f->p->nodes.n);
    bool sum = gir_at(f->p, v)->op == GIR_SCATTER;
    for (int k = sum; k < gir_at(f->p, v)->n_in; k++) mark(f, gir_in(f->p, v, k), marks, 1, &none);
    for (uint32_t m = 0; m < r->members.n; m++)
        if (gir_at(f->p, r->members.p[m])->op == GIR_SCATTER)
            mark(f, gir_in(f->p, r->members.p[m], 1), marks, 2, &met);
    return met;
}

/* Sinking -------------------------------------------------------------------------------------- */

static void find_users(sinking *z)
{
    const gir_program *p = z->p;
    z->first = GN_NEW_N(z->arena, uint32_t, p->nodes.n + 1);
    z->user = GN_NEW_N(z->arena, gir_id, p->operands.n + 1);
    for (gir_id v = 1; v < p->nodes.n; v++)
        for (int k = 0; z->f->place[v] != FU_UNUSED && k < gir_at(p, v)->n_in; k++)
            z->first[gir_in(p, v, k) + 1]++;
    for (gir_id v = 1; v <= p->nodes.n; v++) z->first[v] += z->first[v - 1];
    uint32_t *at = GN_NEW_N(z->arena, uint32_t, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++)
        for (int k = 0; z->f->place[v] != FU_UNUSED && k < gir_at(p, v)->n_in; k++) {
            gir_id o = gir_in(p, v, k);
            z->user[z->first[o] + at[o]++] = v;
        }
    z->output = GN_NEW_N(z->arena, bool, p->nodes.n);
    for (uint32_t k = 0; k < p->outputs.n; k++) z->output[fu_left_by(z->f, k)] = true;
}

/* Is v read, through views of its row, by row work of one region alone?  *to is -1 before the first
 * reader. */
static bool one_reader(sinking *z, gir_id v, gir_space_id space, int32_t *to)
{
    const fusion *f = z->f;
    if (!first_time(z, v)) return true;
    for (uint32_t k = z->first[v]; k < z->first[v + 1]; k++) {
        gir_id u = z->user[k];
        const gir_node *n = gir_at(z->p, u);
        gir_class cls = gir_ops[n->op].cls;
        if (cls != GIR_CLASS_MAP && cls != GIR_CLASS_VIEW && cls != GIR_CLASS_REDUCE &&
            n->op != GIR_SPACE_REDUCE)
            return false;
        if (n->op != GIR_SPACE_REDUCE && n->type.space != space) return false;
        if (f->place[u] == FU_INLINE) {
            if (z->output[u] || !one_reader(z, u, space, to)) return false;
        } else {
            if (f->place[u] != FU_REAL || (*to >= 0 && *to != f->region_of[u])) return false;
            *to = f->region_of[u];
        }
    }
    return true;
}

/* Forgets what `more` counted since so many values were marked. */
static void uncount(sinking *z, uint32_t marked, int64_t more)
{
    while (z->marked.n > marked) z->counted[z->marked.p[--z->marked.n]] = false;
    z->more = more;
}

/* Can v be computed of its own row in another region?  Adds what its operands cost to store. */
static bool movable(sinking *z, gir_id v, gir_space_id space)
{
    const gir_node *n = gir_at(z->p, v);
    for (int k = 0; k < n->n_in; k++) {
        gir_id o = gir_in(z->p, v, k);
        const gir_type *t = gir_type_of(z->p, o);
        if (z->f->place[o] == FU_LEAF || z->counted[o]) continue;
        z->counted[o] = true;
        GN_PUSH(z->arena, z->marked, o);
        if (z->f->place[o] == FU_REAL) {
            if (t->space != space && t->space != 0) return false;
            /* What reads a sum of products stays with it; but a later product's elements may
             * be made where it is read. */
            gir_id product[FU_MOST_PRODUCTS];
            if (!(z->f->stored[o] && z->alike) &&
                fu_products(z->p, &z->f->regions.p[z->f->region_of[o]], product) > 1)
                return false;
            if (!z->f->stored[o])
                z->more += fu_elems(z->p, o) * (int64_t)gn_elem_size((gn_elem)t->elem);
            continue;
        }
        gir_class cls = gir_ops[gir_at(z->p, o)->op].cls;
        if (cls == GIR_CLASS_EDGE || cls == GIR_CLASS_RANDOM || !movable(z, o, space)) return false;
        if (z->alike && cls != GIR_CLASS_LEAF && !fu_is_identity_view(z->p, o)) return false;
    }
    return true;
}

/* Keeps the list of who reads what true. */
static void note_reader(sinking *z, gir_id v, uint32_t r)
{
    for (uint32_t k = 0; k < z->f->readers.n; k++)
        if (z->f->readers.p[k].value == v && z->f->readers.p[k].region == r) return;
    GN_PUSH(z->arena, z->f->readers, ((fu_reader){v, r}));
}

/* Do readers of v read its elements where they lie? */
static bool read_alike(const sinking *z, gir_id v)
{
    bool all = true;
    for (uint32_t k = z->first[v]; all && k < z->first[v + 1]; k++) {
        gir_id u = z->user[k];
        bool same = fu_elems(z->p, u) == fu_elems(z->p, v);
        all = gir_ops[gir_at(z->p, u)->op].cls == GIR_CLASS_MAP ? same
                                                                : fu_is_identity_view(z->p, u);
        if (z->f->place[u] == FU_INLINE) all = all && read_alike(z, u);
    }
    return all;
}

/* Has region r a place for v, which members of it read?  A product stays the first member of its
 * region. */
static bool takes(sinking *z, const region *r, gir_id v)
{
    if (r->space != gir_type_of(z->p, v)->space) return false;
    z->alike = r->kind == RG_GEMM;
    return r->kind == RG_ROWS || (r->kind == RG_GEMM && v > r->members.p[0] &&
                                  fu_elems(z->p, v) == r->n && read_alike(z, v));
}

static void store_operands(sinking *z, gir_id v, uint32_t to)
{
    if (!first_time(z, v)) return;
    for (int k = 0; k < gir_at(z->p, v)->n_in; k++) {
        gir_id o = gir_in(z->p, v, k);
        if (z->f->place[o] == FU_REAL && z->f->region_of[o] != (int32_t)to) {
            z->f->stored[o] = true;
            note_reader(z, o, to);
        }
        if (z->f->place[o] == FU_INLINE) store_operands(z, o, to);
    }
}

static void move(sinking *z, gir_id v, int32_t to)
{
    fusion *f = z->f;
    region *from = &f->regions.p[f->region_of[v]], *r = &f->regions.p[to];
    uint32_t n = 0;
    for (uint32_t m = 0; m < from->members.n; m++)
        if (from->members.p[m] != v) from->members.p[n++] = from->members.p[m];
    from->members.n = n;
    GN_PUSH(z->arena, r->members, v);
    for (uint32_t m = r->members.n - 1; m > 0 && r->members.p[m - 1] > v; m--) {
        r->members.p[m] = r->members.p[m - 1];
        r->members.p[m - 1] = v;
    }
    f->region_of[v] = to;
    f->stored[v] = false;
    n = 0;
    for (uint32_t k = 0; k < f->readers.n; k++)
        if (f->readers.p[k].value != v) f->readers.p[n++] = f->readers.p[k];
    f->readers.n = n;
    z->walk++;
    store_operands(z, v, (uint32_t)to);
}

/* Is v stored elementwise work on the rows of a node space, which could be done elsewhere? */
static bool loose(const sinking *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    return z->f->place[v] == FU_REAL && z->f->stored[v] && !z->output[v] &&
           gir_ops[n->op].cls == GIR_CLASS_MAP && n->type.space &&
           !fu_is_edge_space(z->p, n->type.space);
}

/* The region that v may move to; -1: none. */
static int32_t place_for(sinking *z, gir_id v)
{
    int32_t to = -1;
    z->walk++;
    if (!loose(z, v) || !one_reader(z, v, gir_type_of(z->p, v)->space, &to)) return -1;
    return to >= 0 && to != z->f->region_of[v] && takes(z, &z->f->regions.p[to], v) ? to : -1;
}

static int64_t bytes_of(const sinking *z, gir_id v)
{
    return fu_elems(z->p, v) * (int64_t)gn_elem_size((gn_elem)gir_type_of(z->p, v)->elem);
}

static void sink(sinking *z, gir_id v)
{
    int32_t to = place_for(z, v);
    if (to < 0 || z->f->regions.p[z->f->region_of[v]].members.n == 1) return;
    uncount(z, 0, 0);
    if (movable(z, v, gir_type_of(z->p, v)->space) && z->more < bytes_of(z, v)) move(z, v, to);
}

/* Those that could go the same way as v and are not worth it one by one, since one operand of all
 * of them would have to be stored: together. */
static void sink_together(sinking *z, gir_id v)
{
    int32_t to = place_for(z, v), from = z->f->region_of[v];
    if (to < 0) return;
    uint32_t n = 0, all = z->f->regions.p[from].members.n;
    gir_id *group = GN_NEW_N(z->arena, gir_id, all);
    int64_t less = 0;
    uncount(z, 0, 0);
    for (uint32_t m = 0; m < all; m++) {
        gir_id u = z->f->regions.p[from].members.p[m];
        uint32_t marked = z->marked.n;
        int64_t more = z->more;
        if (place_for(z, u) != to) continue;
        if (!movable(z, u, gir_type_of(z->p, u)->space)) {
            uncount(z, marked, more);
            continue;
        }
        group[n++] = u;
        less += bytes_of(z, u);
    }
    if (n < 2 || n == all || z->more >= less) return;
    for (uint32_t k = n; k-- > 0;) move(z, group[k], to);
}

/* The first region whose member reads v, through what is computed where it is read. */
static int32_t first_reader(sinking *z, gir_id v)
{
    int32_t first = INT32_MAX;
    if (!first_time(z, v)) return first;
    for (uint32_t k = z->first[v]; k < z->first[v + 1]; k++) {
        gir_id u = z->user[k];
        int32_t r = z->f->place[u] == FU_REAL ? z->f->region_of[u] : first_reader(z, u);
        if (r < first) first = r;
    }
    return first;
}

/* Does region r read what v is computed from, as far as that is as wide as v is? */
static bool reads_wide_operands(sinking *z, gir_id v, uint32_t r, int64_t bytes)
{
    if (!first_time(z, v)) return true;
    for (int k = 0; k < gir_at(z->p, v)->n_in; k++) {
        gir_id o = gir_in(z->p, v, k);
        bool is = z->f->place[o] == FU_INLINE || bytes_of(z, o) < bytes;
        if (z->f->place[o] == FU_INLINE && !reads_wide_operands(z, o, r, bytes)) return false;
        for (uint32_t j = 0; j < z->f->readers.n && !is; j++)
            is = z->f->readers.p[j].value == o && z->f->readers.p[j].region == r;
        if (!is) return false;
    }
    return true;
}

/* It stays in memory for those who read it. */
static void move_stored(sinking *z, gir_id v, int32_t to)
{
    fusion *f = z->f;
    uint32_t n = f->readers.n;
    bool *by = GN_NEW_N(z->arena, bool, f->regions.n);
    for (uint32_t k = 0; k < n; k++)
        if (f->readers.p[k].value == v) by[f->readers.p[k].region] = true;
    move(z, v, to);
    f->stored[v] = true;
    for (uint32_t r = 0; r < f->regions.n; r++)
        if (by[r] && r != (uint32_t)to) note_reader(z, v, r);
}

/* What is first read later is computed later, by a loop that reads its operands anyway: it is in
 * memory for less long. */
static void delay(sinking *z, gir_id v)
{
    const fusion *f = z->f;
    gir_space_id space = gir_type_of(z->p, v)->space;
    if (!loose(z, v) || f->regions.p[f->region_of[v]].members.n == 1) return;
    uncount(z, 0, 0);
    if (!movable(z, v, space) || z->more > 0) return;
    z->walk++;
    int32_t until = first_reader(z, v);
    for (int32_t r = f->region_of[v] + 1; until != INT32_MAX && r < until; r++) {
        const region *g = &f->regions.p[r];
        if (g->kind != RG_ROWS || g->space != space) continue;
        z->walk++;
        if (!reads_wide_operands(z, v, (uint32_t)r, bytes_of(z, v))) continue;
        move_stored(z, v, r);
        return;
    }
}

void gn_fuse_sink(gn_arena *a, fusion *f)
{
    sinking z = {.arena = a, .f = f, .p = f->p};
    z.counted = GN_NEW_N(a, bool, f->p->nodes.n);
    z.mark = GN_NEW_N(a, uint32_t, f->p->nodes.n);
    find_users(&z);
    for (gir_id v = f->p->nodes.n; v-- > 1;) sink(&z, v);
    for (gir_id v = f->p->nodes.n; v-- > 1;) sink_together(&z, v);
    for (gir_id v = f->p->nodes.n; v-- > 1;) delay(&z, v);
}
