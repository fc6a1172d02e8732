/* reassociate: (A X) W becomes A (X W) where that is less work. Needs: no gradients yet (they
 * follow the new order by themselves).  Keeps: all outputs, up to rounding.
 *
 * A product after an aggregation is moved in front of it when the aggregation is narrower
 * afterwards: fewer columns travel along the edges.  It also brings a product to sparse features,
 * where it costs their non-zeros only (sparsify). Anything linear in rows is looked through: sums
 * over edges, scaling by a number a row, sums of two such values. What is added to a sum may be a
 * multiple of what is summed (GINConv's (1 + e) x): then it is of one product with it. Several
 * products may be moved through one aggregate, if all that reads it is moved, and together they
 * have fewer columns: polynomials of A (ChebNet, TAG, MixHop), whose powers of A X each meet a
 * matrix and the next power. Declines where the aggregate is used elsewhere too, where the product
 * would be done once an edge, and where the aggregate, or a sum over edges in it, is the same in
 * every run and so is computed once only (aggregate_first); of sparse features, where that pays
 * (dense_once); of few rows (joined_rows). */
#include "passes/passes.h"

#include <string.h>

enum { MAX_DEPTH = 32, MOST = 14 };

/* The products that a value is read for, through what is linear in it, and by nobody else. */
typedef struct readers {
    gir_id product[MOST]; /* ascending */
    uint8_t n;
    bool others; /* something else reads it, or more products */
} readers;

typedef struct mover {
    const gir_program *from;
    gir_program *to;
    gir_id *map;
    uint32_t *uses;
    readers *readers; /* by value */
    bool *fixed;
    bool *sparse; /* by value: what it is computed from by rows is sparse, or was in front of sums
                   */
    gn_dense_once *once;
    uint32_t product, *looked; /* by value: number of the last product that was looked for in it,
                                  and moved to it */
    uint8_t *found;            /* by value, of that product: what movable said */
    gir_id *there;             /* and what moved made; 0: not yet */
} mover;

enum { CAN = 1, SUMS = 2 };

/* One number a row, repeated over the columns. */
static bool is_scaling(const gir_program *p, gir_id v) { return gn_scale_of(p, v) != 0; }

/* The value repeated over n columns instead. */
static gir_id rescaled(mover *z, gir_id v, int64_t n)
{
    gir_type t = *gir_type_of(z->from, v);
    t.dim[t.rank - 1] = n;
    return gn_spread_scale(z->from, z->to, z->map, gn_scale_of(z->from, v), &t);
}

/* Of sparse rows it is only where that pays: their product costs their non-zeros only, a sum of
 * them is dense. */
static bool computed_once(const mover *z, gir_id v)
{
    const gir_program *p = z->from;
    if (!z->fixed[v] || !z->sparse[v]) return z->fixed[v];
    /* Where rows have been picked already, this pass has been here before, and what it left
     * stands. */
    if (gir_at(p, v)->op == GIR_SCATTER && gir_at(p, gir_in(p, v, 0))->op == GIR_RESTRICT)
        return true;
    return gn_is_dense_once(z->once, v, gir_type_of(p, v)->dim[0]);
}

/* Is nothing left of v once products are moved through it, which have fewer columns than it in
 * all? */
static bool goes(const mover *z, gir_id v)
{
    const readers *of = &z->readers[v];
    int64_t columns = 0, most = gir_type_of(z->from, v)->dim[0];
    for (int k = 0; k < of->n && columns < most; k++)
        columns += gir_type_of(z->from, of->product[k])->dim[0];
    return !of->others && of->n > 0 && columns < most;
}

static bool movable(mover *z, gir_id v, bool *sums, int depth);

static bool look(mover *z, gir_id v, bool *sums, int depth)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    bool on_edges = n->type.space && p->spaces.p[n->type.space].kind == GIR_EDGE;
    if (depth > MAX_DEPTH || n->type.rank != 1) return false;
    bool sole = depth == 0 || goes(z, v);
    switch ((gir_op)n->op) {
    case GIR_SCATTER:
        if (n->attr.i[1] != GIR_SUM || !sole || computed_once(z, v)) return !on_edges;
        if (!movable(z, gir_in(p, v, 1), sums, depth + 1)) return true;
        *sums = true;
        return true;
    case GIR_GATHER: return movable(z, gir_in(p, v, 1), sums, depth + 1) || true;
    case GIR_NEG: return movable(z, gir_in(p, v, 0), sums, depth + 1);
    case GIR_MUL:
        if (is_scaling(p, gir_in(p, v, 0))) return movable(z, gir_in(p, v, 1), sums, depth + 1);
        if (is_scaling(p, gir_in(p, v, 1))) return movable(z, gir_in(p, v, 0), sums, depth + 1);
        return !on_edges;
    case GIR_DIV:
        if (is_scaling(p, gir_in(p, v, 1))) return movable(z, gir_in(p, v, 0), sums, depth + 1);
        return !on_edges;
    case GIR_ADD:
    case GIR_SUB: {
        bool a = movable(z, gir_in(p, v, 0), sums, depth + 1),
             b = movable(z, gir_in(p, v, 1), sums, depth + 1);
        return (a && b) || !on_edges;
    }
    default: return !on_edges;
    }
}

/* Does v hold a sum over edges through which a product can be moved?  *sums is set when it does. */
static bool movable(mover *z, gir_id v, bool *sums, int depth)
{
    if (z->looked[v] != z->product) {
        bool mine = false, can = look(z, v, &mine, depth);
        z->looked[v] = z->product;
        z->found[v] = can ? mine ? CAN | SUMS : CAN : 0;
        z->there[v] = 0;
    }
    *sums = *sums || (z->found[v] & SUMS);
    return z->found[v] & CAN;
}

static gir_id moved(mover *z, gir_id v, gir_id w, int64_t n, int depth);

/* Which operand of v, a scaling, the product goes on to though no sum is below: one that others
 * read, of which the same product may be wanted (GINConv adds (1 + e) x to a sum of x).  -1:
 * none. */
static int shared_under(const mover *z, gir_id v)
{
    const gir_program *p = z->from;
    if (gir_at(p, v)->op != GIR_MUL) return -1;
    for (int k = 0; k < 2; k++)
        if (is_scaling(p, gir_in(p, v, 1 - k))) return z->uses[gir_in(p, v, k)] > 1 ? k : -1;
    return -1;
}

static gir_id move_down(mover *z, gir_id v, gir_id w, int64_t n, int depth)
{
    const gir_program *p = z->from;
    const gir_node *node = gir_at(p, v);
    bool sums = false, sole = depth == 0 || goes(z, v);
    gir_id a = node->n_in > 0 ? gir_in(p, v, 0) : 0, b = node->n_in > 1 ? gir_in(p, v, 1) : 0;
    bool on_edges = node->type.space && p->spaces.p[node->type.space].kind == GIR_EDGE;
    bool here = !on_edges && !(movable(z, v, &sums, depth) && sums);
    if (depth > MAX_DEPTH || (here && shared_under(z, v) < 0))
        return gir_matmul(z->to, z->map[v], w, false, false);
    switch ((gir_op)node->op) {
    case GIR_SCATTER:
        if (node->attr.i[1] != GIR_SUM || !sole) break;
        return gir_scatter(z->to, z->map[a], moved(z, b, w, n, depth + 1), (int)node->attr.i[0],
                           GIR_SUM);
    case GIR_GATHER:
        return gir_gather(z->to, z->map[a], moved(z, b, w, n, depth + 1), (int)node->attr.i[0]);
    case GIR_NEG: return gir_op1(z->to, GIR_NEG, moved(z, a, w, n, depth + 1));
    case GIR_MUL:
    case GIR_DIV:
    case GIR_ADD:
    case GIR_SUB: {
        /* One after the other: C leaves open which argument of a call is computed first, and so the
         * numbers of the values. */
        bool by_a = node->op == GIR_MUL && is_scaling(p, a),
             by_b = node->op == GIR_DIV || (node->op == GIR_MUL && !by_a);
        if (by_b && !is_scaling(p, b)) break;
        a = by_a ? rescaled(z, a, n) : moved(z, a, w, n, depth + 1);
        b = by_b ? rescaled(z, b, n) : moved(z, b, w, n, depth + 1);
        return gir_op2(z->to, (gir_op)node->op, a, b);
    }
    default: break;
    }
    return gir_matmul(z->to, z->map[v], w, false, false);
}

/* v @ w in the new program, the product moved as far down as it goes. */
static gir_id moved(mover *z, gir_id v, gir_id w, int64_t n, int depth)
{
    bool sums = false;
    (void)movable(z, v, &sums, depth);
    if (!z->there[v]) z->there[v] = move_down(z, v, w, n, depth);
    return z->there[v];
}

/* Sparse inputs, and what is computed from them row by row and by sums over edges. */
static bool *find_sparse(gn_arena *a, const gir_program *p, const gn_pass_options *opt)
{
    bool *is = gn_find_from_sparse(a, p, opt);
    for (gir_id v = 1; v < p->nodes.n; v++)
        for (int k = 0; k < gir_at(p, v)->n_in; k++) {
            gir_id o = gir_in(p, v, k);
            is[v] = is[v] ||
                    (is[o] && !gir_type_of(p, o)->is_graph && gir_type_of(p, o)->rank == 1);
        }
    return is;
}

/* Is v a product that may be moved: of rows, with fewer columns than they have? */
static bool narrows(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_MATMUL || n->attr.i[0] || n->attr.i[1]) return false;
    const gir_type *t = gir_type_of(p, gir_in(p, v, 0));
    return t->space && t->rank == 1 && n->type.dim[0] < t->dim[0];
}

/* Which operands of v a product is moved on to, as bits. */
static unsigned linear_in(const mover *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    if (n->type.rank != 1) return 0;
    switch ((gir_op)n->op) {
    case GIR_SCATTER:
        return n->attr.i[1] == GIR_SUM && !computed_once(z, v) && !gn_is_joined(p, v) ? 2 : 0;
    case GIR_GATHER: return 2;
    case GIR_NEG: return 1;
    case GIR_MUL:
        return is_scaling(p, gir_in(p, v, 0)) ? 2 : is_scaling(p, gir_in(p, v, 1)) ? 1 : 0;
    case GIR_DIV: return is_scaling(p, gir_in(p, v, 1)) ? 1 : 0;
    case GIR_ADD:
    case GIR_SUB: return 3;
    default: return 0;
    }
}

static void read_for(readers *of, gir_id product)
{
    int at = 0;
    while (at < of->n && of->product[at] < product) at++;
    if (at < of->n && of->product[at] == product) return;
    of->others = of->others || of->n == MOST;
    if (of->others) return;
    memmove(of->product + at + 1, of->product + at, (size_t)(of->n++ - at) * sizeof *of->product);
    of->product[at] = product;
}

/* What each value is read for, users first. */
static void find_readers(gn_arena *a, mover *z)
{
    const gir_program *p = z->from;
    readers *all = z->readers = GN_NEW_N(a, readers, p->nodes.n);
    for (uint32_t k = 0; k < p->outputs.n; k++) all[p->outputs.p[k].value].others = true;
    for (gir_id v = p->nodes.n - 1; v > 0; v--) {
        bool product = narrows(p, v);
        unsigned on = product ? 1 : goes(z, v) ? linear_in(z, v) : 0;
        for (int k = 0; k < gir_at(p, v)->n_in; k++) {
            readers *of = &all[gir_in(p, v, k)];
            of->others = of->others || !(on >> k & 1);
            if (product) read_for(of, v);
            for (int r = 0; r < all[v].n && !product; r++) read_for(of, all[v].product[r]);
        }
    }
}

static gir_id move_product(mover *z, gir_id v)
{
    const gir_program *p = z->from;
    gir_id a = gir_in(p, v, 0), w = gir_in(p, v, 1);
    bool sums = false;
    if (!narrows(p, v) || computed_once(z, a)) return 0;
    z->product++;
    if (!goes(z, a) || !movable(z, a, &sums, 0) || !sums) return 0;
    return moved(z, a, z->map[w], gir_type_of(p, v)->dim[0], 0);
}

gn_status *gn_run_reassociate(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                              gir_program **out)
{
    mover z = {.from = in,
               .to = gir_program_new(a, in->name),
               .fixed = gn_find_fixed(a, in, opt->n_fixed, opt->fixed),
               .sparse = find_sparse(a, in, opt),
               .once = gn_dense_once_new(a, in, opt),
               .looked = GN_NEW_N(a, uint32_t, in->nodes.n),
               .found = GN_NEW_N(a, uint8_t, in->nodes.n),
               .there = GN_NEW_N(a, gir_id, in->nodes.n),
               .map = GN_NEW_N(a, gir_id, in->nodes.n),
               .uses = gir_count_uses(a, in)};
    find_readers(a, &z);
    gir_clone_frame(z.to, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        z.to->loc = gir_at(in, v)->loc;
        if (gir_at(in, v)->op == GIR_MATMUL) z.map[v] = move_product(&z, v);
        if (!z.map[v]) z.map[v] = gir_clone_node(z.to, in, v, z.map);
    }
    gir_clone_outputs(z.to, in, z.map);
    *out = z.to;
    return NULL;
}
