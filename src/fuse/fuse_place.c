/* fuse_place: where each value lives: bound, computed where it is read, in a region, nowhere
 * (fuse.h). Needs: a verified program.  Keeps: it.  Makes: places and numbers of uses, before there
 * are regions. */
#include "fuse/both_ends.h"
#include "fuse/fuse.h"

#include <string.h>

typedef struct placing {
    fusion *f;
    const gir_program *p;
    gn_arena *arena;
    gn_switches off;
    bool lanes;    /* fu_options */
    bool *dropper; /* by value: masks of nothing but a select that is stored */
} placing;

static void count_uses(placing *z)
{
    const gir_program *p = z->p;
    bool *need = GN_NEW_N(z->arena, bool, p->nodes.n);
    for (uint32_t k = 0; k < p->outputs.n; k++) need[p->outputs.p[k].value] = true;
    for (gir_id v = p->nodes.n; v-- > 1;) {
        if (!need[v]) continue;
        bool of_data = gir_reads_data(gir_at(p, v));
        for (int k = 0; k < gir_at(p, v)->n_in; k++) {
            if (of_data && !gir_type_of(p, gir_in(p, v, k))->is_graph) continue; /* the runtime's */
            need[gir_in(p, v, k)] = true;
            z->f->uses[gir_in(p, v, k)]++;
        }
    }
    for (gir_id v = 1; v < p->nodes.n; v++) z->f->place[v] = need[v] ? FU_REAL : FU_UNUSED;
}

/* PUTs into states that they become.  Each is one update, and no operand. */
static void find_puts(placing *z)
{
    const gir_program *p = z->p;
    uint32_t *updates = GN_NEW_N(z->arena, uint32_t, p->nodes.n);
    for (uint32_t k = 0; k < p->outputs.n; k++) updates[p->outputs.p[k].value]++;
    for (uint32_t k = 0; k < p->outputs.n && gn_is_on(z->off, GN_DO_IN_PLACE); k++) {
        const gir_output *o = &p->outputs.p[k];
        const gir_node *n = gir_at(p, o->value);
        if (n->op != GIR_PUT || o->kind != GIR_UPDATE) continue;
        const gir_node *into = gir_at(p, gir_in(p, o->value, 1));
        z->f->put[o->value] = into->op == GIR_STATE && !strcmp(into->attr.name, o->name) &&
                              updates[o->value] == 1 && z->f->uses[o->value] == 0;
    }
}

/* Does the select `v` drop elements of a matrix, one for each edge, by a mask that nothing else
 * reads? */
static bool drops_elements(const placing *z, gir_id v)
{
    const gir_program *p = z->p;
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_SELECT || fu_elems(p, v) != 1 || !fu_is_edge_space(p, n->type.space))
        return false;
    gir_id mask = gir_in(p, v, 0);
    bool sampled = false;
    for (int k = 0; k < gir_at(p, mask)->n_in; k++)
        sampled = sampled || gir_at(p, gir_in(p, mask, k))->op == GIR_CELL;
    return sampled && z->f->uses[mask] == 1;
}

static bool draws(const gir_program *p, gir_id v)
{
    for (int k = 0; k < gir_at(p, v)->n_in; k++) {
        gir_id o = gir_in(p, v, k);
        if (gir_at(p, o)->op == GIR_RANDOM || gir_at(p, o)->op == GIR_CELL) return true;
    }
    return false;
}

/* Does an edge value come of a long dot product, by way of a few operators? */
static bool is_of_long_dot(const gir_program *p, gir_id v, int most)
{
    const gir_node *n = gir_at(p, v);
    if (n->op == GIR_REDUCE) return fu_elems(p, gir_in(p, v, 0)) / fu_elems(p, v) >= GN_LONG_DOT;
    bool any = false;
    for (int k = 0;
         k < n->n_in && most > 0 && (gir_ops[n->op].cls == GIR_CLASS_MAP || n->op == GIR_RESHAPE);
         k++)
        any = any || is_of_long_dot(p, gir_in(p, v, k), most - 1);
    return any;
}

/* Values of long dot products, side by side: what heads of attention have for an edge each. */
static bool are_of_long_dots(const gir_program *p, gir_id v)
{
    enum { OPERATORS = 4 };
    bool all = gir_at(p, v)->op == GIR_CONCAT;
    for (int k = 0; k < gir_at(p, v)->n_in && all; k++)
        all = is_of_long_dot(p, gir_in(p, v, k), OPERATORS);
    return all;
}

/* Edge values are cheap to compute again, with exceptions that are stored: a drawn mask (a byte
 * against a dozen multiplications); instead of that, what it leaves of a matrix's elements, which
 * then is all that a product reads; and a long dot product that several passes want. */
static bool keep_edge_value(const placing *z, gir_id v)
{
    const gir_program *p = z->p;
    const gir_node *n = gir_at(p, v);
    if (n->type.elem == GN_BOOL && draws(p, v))
        return gn_is_on(z->off, GN_DO_STORE_MASKS) && !z->dropper[v];
    if (drops_elements(z, v)) return gn_is_on(z->off, GN_DO_STORE_MASKS);
    if (n->op == GIR_REDUCE && z->f->uses[v] > 1 && gn_is_on(z->off, GN_DO_STORE_DOTS))
        return is_of_long_dot(p, v, 0);
    /* into a space that is another graph's edges */
    return n->op == GIR_MATMUL || n->op == GIR_SCATTER;
}

/* Powers of doubles are hundreds of instructions. */
static bool takes_powers(const placing *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (n->type.space || n->type.is_graph || n->type.elem != GN_F64 || fu_elems(z->p, v) != 1)
        return false;
    if (n->op == GIR_POW) return true;
    for (int k = 0; k < n->n_in; k++)
        if (takes_powers(z, gir_in(z->p, v, k))) return true;
    return false;
}

/* A number in single precision that comes of wide arithmetic, as an optimizer's corrections do:
 * where lanes share a loop, every one of them would compute it, in every loop that reads it. */
static bool keep_scalar(const placing *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (!z->lanes || n->op != GIR_CAST || n->type.elem != GN_F32 ||
        !gn_is_on(z->off, GN_DO_STORE_SCALARS))
        return false;
    return takes_powers(z, gir_in(z->p, v, 0));
}

static fu_place place_of(const placing *z, gir_id v)
{
    const gir_program *p = z->p;
    const gir_node *n = gir_at(p, v);
    gir_class cls = gir_ops[n->op].cls;
    switch ((gir_op)n->op) {
    case GIR_INPUT:
    case GIR_STATE:
    case GIR_GRAPH: return FU_LEAF;
    case GIR_CONST:
    case GIR_IOTA:
    case GIR_SIZE:
    case GIR_RNG_KEY:
    case GIR_RANDOM:
    case GIR_DETACH: return FU_INLINE;
    default: break;
    }
    if (cls == GIR_CLASS_GRAPH) return FU_LEAF;
    if (fu_is_identity_view(p, v) || z->f->put[v]) return FU_INLINE;
    if (!gn_is_on(z->off, GN_DO_RECOMPUTE)) return FU_REAL;
    if (n->op == GIR_CARRY || n->op == GIR_UNCARRY || n->op == GIR_PUT || gir_is_alone(n))
        return FU_REAL;
    if (cls == GIR_CLASS_VIEW || n->op == GIR_GATHER || n->op == GIR_CELL || n->op == GIR_TAKE ||
        n->op == GIR_ROW_VALUE)
        return FU_INLINE;
    if (n->type.space && fu_is_edge_space(p, n->type.space))
        return keep_edge_value(z, v) ? FU_REAL : FU_INLINE;
    if (n->type.space == 0 && fu_elems(p, v) == 1 && cls == GIR_CLASS_MAP)
        return keep_scalar(z, v) ? FU_REAL : FU_INLINE;
    return FU_REAL;
}

/* An operand that must lie in memory as it is: strip identity views, and make what is below
 * REAL. */
static void force_stored(placing *z, gir_id v)
{
    while (fu_is_identity_view(z->p, v) && z->f->place[v] != FU_REAL) v = gir_in(z->p, v, 0);
    if (z->f->place[v] == FU_INLINE) z->f->place[v] = FU_REAL;
}

/* Does v carry something to several edges for each? */
static bool spreads(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v), *to = n->op == GIR_CARRY ? gir_at(p, gir_in(p, v, 0)) : NULL;
    return to && to->op == GIR_CORRUPT && to->attr.i[0] > 1;
}

/* Does v have columns of what is stored for its rows?  Whoever reads a row along each edge would go
 * through memory for every number of it. */
static bool has_columns(const gir_program *p, gir_id v)
{
    gir_id of = v;
    if (gir_at(p, v)->op != GIR_TO_ROWS) return false;
    do of = gir_in(p, of, 0);
    while (fu_is_identity_view(p, of));
    return gir_at(p, of)->op == GIR_TRANSPOSE;
}

static void choose(placing *z)
{
    const gir_program *p = z->p;
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (z->f->place[v] != FU_UNUSED && drops_elements(z, v)) z->dropper[gir_in(p, v, 0)] = true;
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (z->f->place[v] != FU_UNUSED) z->f->place[v] = (uint8_t)place_of(z, v);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        gir_op op = (gir_op)gir_at(p, v)->op;
        if (z->f->place[v] == FU_UNUSED) continue;
        if (spreads(p, v) && gir_ops[gir_at(p, gir_in(p, v, 2))->op].cls == GIR_CLASS_MAP)
            force_stored(z, gir_in(p, v, 2));
        if (z->f->put[v]) force_stored(z, gir_in(p, v, 2));
        if (has_columns(p, v)) force_stored(z, gir_in(p, v, 0));
        if (op != GIR_MATMUL && op != GIR_FROM_ROWS && !gir_is_alone(gir_at(p, v))) continue;
        for (int k = 0; k < gir_at(p, v)->n_in; k++) force_stored(z, gir_in(p, v, k));
    }
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (z->f->place[fu_left_by(z->f, k)] == FU_INLINE)
            z->f->place[fu_left_by(z->f, k)] = FU_REAL;
}

/* What both loops over edges would compute, a dot product at a time, one makes and leaves for the
 * other. */
static void choose_walked(placing *z)
{
    if (z->lanes || !gn_is_on(z->off, GN_DO_BOTH_ENDS) || !gn_is_on(z->off, GN_DO_RECOMPUTE))
        return;
    const gn_both_ends *all = gn_find_both_ends(z->arena, z->p);
    for (gir_id v = 1; v < z->p->nodes.n; v++) {
        if (!all[v].by_source || z->f->place[v] != FU_INLINE ||
            z->f->place[all[v].dot] != FU_INLINE)
            continue;
        z->f->place[v] = FU_REAL;
        z->f->walk[v] = all[v].by_source;
    }
}

/* Is v what edge value e is computed of, where e is read? */
static bool comes_of(const placing *z, gir_id e, gir_id v, bool *seen)
{
    if (e == v) return true;
    if (e < v || seen[e] || z->f->place[e] != FU_INLINE ||
        !fu_is_edge_space(z->p, gir_type_of(z->p, e)->space))
        return false;
    seen[e] = true;
    const gir_node *n = gir_at(z->p, e);
    for (int k = 0; k < n->n_in; k++)
        if (comes_of(z, gir_in(z->p, e, k), v, seen)) return true;
    return false;
}

/* Values of long dot products that several sums read are stored. The loop over destinations that
 * reads them first makes them: it has its own rows at hand and asks for the others ahead. Where
 * sources read a dot product first, a loop of its own does. */
static void choose_dots(placing *z)
{
    const gir_program *p = z->p;
    if (z->lanes || !gn_is_on(z->off, GN_DO_STORE_DOTS) || !gn_is_on(z->off, GN_DO_RECOMPUTE))
        return;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        int sums = 0;
        gir_id first = 0, sources = 0;
        bool dot = gir_at(p, v)->op == GIR_REDUCE && is_of_long_dot(p, v, 0);
        if (z->f->place[v] != FU_INLINE || !fu_is_edge_space(p, gir_type_of(p, v)->space)) continue;
        if (!dot && !are_of_long_dots(p, v)) continue;
        for (gir_id u = v + 1; u < p->nodes.n; u++) {
            const gir_node *n = gir_at(p, u);
            if (n->op != GIR_SCATTER || z->f->place[u] != FU_REAL) continue;
            if (!comes_of(z, gir_in(p, u, 1), v, GN_NEW_N(z->arena, bool, p->nodes.n))) continue;
            sums++;
            if (!first && n->attr.i[0] == GIR_DST) first = u;
            if (!first && n->attr.i[0] == GIR_SRC) sources = u;
        }
        if (sums < 2 || (dot ? !sources : !first)) continue;
        z->f->place[v] = FU_REAL;
        if (!dot) z->f->walk[v] = first;
    }
}

void fu_choose_places(gn_arena *a, fusion *f, gn_switches off, bool lanes)
{
    placing z = {.f = f,
                 .p = f->p,
                 .arena = a,
                 .off = off,
                 .lanes = lanes,
                 .dropper = GN_NEW_N(a, bool, f->p->nodes.n)};
    count_uses(&z);
    find_puts(&z);
    choose(&z);
    choose_walked(&z);
    choose_dots(&z);
}
