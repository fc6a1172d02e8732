/* free_products: sum_n w_n (X W)_n becomes (X^T w) W, where X W could go otherwise. Needs:
 * gradients have been taken; edge values that are summed at both ends are as they will be (factor).
 * Keeps: all outputs, up to the order of summation.
 *
 * The gradient of an attention's vector a, of scores <a, h>, is the sum over rows of h times the
 * gradient of the row's score.  At one end that gradient comes of edge values which the loop over
 * the other end's edges leaves (both_ends.h), and so h = X W waits for it, though that loop is the
 * last to need h otherwise and could write its own rows over it.  Of X^T w, which has a column a
 * head, the same comes by a sum as large as W; and X is in memory for longer anyway, for X^T dh: w
 * waits until then instead.
 *
 * Declines where h takes less than LEAST bytes or sizes are not known, where X has more columns
 * than h or no gradient reads it later, where others read h later or the sum before that, and where
 * no loop leaves edge values to the other. */
#include "fuse/both_ends.h"
#include "passes/passes.h"

enum { LEAST = 1 << 26 };

typedef struct freed { /* a sum over rows */
    gir_id sum, weight, x, w;
    gir_id product; /* X W */
    gir_id late;    /* X^T of something, behind which the sum is made */
} freed;

typedef struct freeing {
    const gir_program *from;
    gir_program *to;
    gir_id *map;
    const uint32_t *uses;
    const gn_both_ends *both;
    GN_VEC(freed) sums;
    const gn_pass_options *opt;
} freeing;

static gir_id under(const gir_program *p, gir_id v, gir_op op)
{
    while (gir_at(p, v)->op == op) v = gir_in(p, v, 0);
    return v;
}

/* What is repeated along the last axis of v; 0: nothing. */
static gir_id repeated(const gir_program *p, gir_id v)
{
    gir_id from = gir_at(p, v)->op == GIR_BROADCAST ? gir_in(p, v, 0) : 0;
    if (!from || gir_at(p, from)->op != GIR_RESHAPE) return 0;
    const gir_type *t = gir_type_of(p, from), *of = gir_type_of(p, gir_in(p, from, 0));
    return t->rank == 2 && t->dim[1] == 1 && of->rank == 1 ? gir_in(p, from, 0) : 0;
}

/* The sum by sources of the edge values that v sums by destinations, of those that one loop leaves
 * for the other; 0. */
static gir_id other_end(const freeing *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    if (n->op != GIR_SCATTER || n->attr.i[0] != GIR_DST || n->attr.i[1] != GIR_SUM) return 0;
    return z->both[gir_in(z->from, v, 1)].by_source;
}

static bool is_large(const freeing *z, gir_id v)
{
    const gir_type *t = gir_type_of(z->from, v);
    int64_t bytes, rows = gn_expected_rows(z->from, t->space, z->opt);
    bool over = __builtin_mul_overflow(
        rows, gir_row_elems(t) * (int64_t)gn_elem_size((gn_elem)t->elem), &bytes);
    return over || bytes >= LEAST;
}

/* Is the product read, after the weights of the sum are there, by that sum alone and by what the
 * other loop has? */
static bool is_last(const freeing *z, const freed *f, gir_id times)
{
    const gir_program *p = z->from;
    gir_id by_source = other_end(z, f->weight);
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (under(p, p->outputs.p[k].value, GIR_RESHAPE) == f->product) return false;
    for (gir_id u = f->weight + 1; u < p->nodes.n; u++) {
        const gir_node *n = gir_at(p, u);
        if (u == times || n->op == GIR_RESHAPE) continue;
        for (int k = 0; k < n->n_in; k++) {
            if (under(p, gir_in(p, u, k), GIR_RESHAPE) != f->product) continue;
            if (n->op != GIR_MUL || repeated(p, gir_in(p, u, 1 - k)) != by_source) return false;
        }
    }
    return true;
}

/* The last X^T of something that comes before the first reader of the sum, and behind the sum;
 * 0. */
static gir_id find_late(const freeing *z, const freed *f)
{
    const gir_program *p = z->from;
    gir_id late = 0;
    for (gir_id u = f->sum + 1; u < p->nodes.n; u++) {
        const gir_node *n = gir_at(p, u);
        for (int k = 0; k < n->n_in; k++)
            if (gir_in(p, u, k) == f->sum) return late;
        if (n->op == GIR_MATMUL && n->attr.i[0] && !n->type.space && gir_in(p, u, 0) == f->x)
            late = u;
    }
    return late;
}

/* Is v such a sum, with its weights as operand k of what it sums? */
static bool find_operands(const freeing *z, gir_id v, int k, freed *f)
{
    const gir_program *p = z->from;
    gir_id times = gir_in(p, v, 0), weight = repeated(p, gir_in(p, times, k));
    *f = (freed){
        .sum = v, .weight = weight, .product = under(p, gir_in(p, times, 1 - k), GIR_RESHAPE)};
    const gir_node *n = gir_at(p, f->product);
    if (!weight || !other_end(z, weight) || n->op != GIR_MATMUL || n->attr.i[0] || n->attr.i[1])
        return false;
    f->x = gir_in(p, f->product, 0);
    f->w = gir_in(p, f->product, 1);
    if (!n->type.space || gir_type_of(p, f->w)->space || !is_large(z, f->product)) return false;
    if (gir_row_elems(gir_type_of(p, f->x)) > gir_row_elems(&n->type)) return false;
    return is_last(z, f, times) && (f->late = find_late(z, f)) != 0;
}

static void find(freeing *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    freed f;
    if (n->op != GIR_SPACE_REDUCE || n->attr.i[0] != GIR_SUM ||
        gir_at(p, gir_in(p, v, 0))->op != GIR_MUL)
        return;
    if (z->uses[gir_in(p, v, 0)] != 1) return;
    if (find_operands(z, v, 0, &f) || find_operands(z, v, 1, &f)) GN_PUSH(z->to->arena, z->sums, f);
}

static gir_id make(freeing *z, const freed *f)
{
    const gir_type *t = gir_type_of(z->from, f->sum);
    gir_id thin = gir_matmul(z->to, z->map[f->x], z->map[f->weight], true, false);
    int64_t rows = gir_type_of(z->to, thin)->dim[0];
    const int64_t each[] = {rows, t->dim[0], 1}, all[] = {rows, t->dim[0], t->dim[1]};
    gir_id w = gir_reshape(z->to, z->map[f->w], 3, all);
    gir_id v = gir_broadcast(z->to, gir_reshape(z->to, thin, 3, each), gir_type_of(z->to, w));
    return gir_reduce(z->to, gir_op2(z->to, GIR_MUL, v, w), GIR_SUM, 1);
}

gn_status *gn_run_free_products(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                                gir_program **out)
{
    freeing z = {
        .from = in, .to = gir_program_new(a, in->name), .map = GN_NEW_N(a, gir_id, in->nodes.n)};
    z.uses = gir_count_uses(a, in);
    z.both = gn_find_both_ends(a, in);
    z.opt = opt;
    gir_clone_frame(z.to, in);
    bool left = !opt->fast_functions && gn_is_on(opt->without.decisions, GN_DO_BOTH_ENDS);
    for (gir_id v = 1; v < in->nodes.n && left; v++) find(&z, v);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        z.to->loc = gir_at(in, v)->loc;
        bool later = false;
        for (uint32_t k = 0; k < z.sums.n; k++) later = later || v == z.sums.p[k].sum;
        if (!later) z.map[v] = gir_clone_node(z.to, in, v, z.map);
        for (uint32_t k = 0; k < z.sums.n; k++) {
            if (z.sums.p[k].late != v) continue;
            z.to->loc = gir_at(in, z.sums.p[k].sum)->loc;
            z.map[z.sums.p[k].sum] = make(&z, &z.sums.p[k]);
        }
    }
    gir_clone_outputs(z.to, in, z.map);
    *out = z.to;
    return NULL;
}
