/* aggregate_heads: attention sums what its heads read before it is projected, where that is less
 * work. Needs: rows that are restricted; of what it makes gradients follow by themselves, and it
 * puts them right when it runs again. Keeps: all outputs, up to rounding.  Breaks: nothing; dead
 * values are left behind.
 *
 *   sum over e of  p[e, k] (x W)[src, k]   =   (sum over e of p[e, k] x[src]) W_k          for
 *                  every head k
 *
 * A product of all sources becomes one of the rows that are summed, and its gradient by W too; on
 * the edges a head has as many columns as x instead of its share of x W.  What else reads x W does
 * so by way of x: scores <a, (x W)_k> are x (W a)_k, of rows taken of x W as of rows taken of x.
 * What a softmax divides by is left for the row, where it subtracts the row's maximum: without,
 * numerators may be so large that their sums overflow before they are divided.
 *
 * Of gradients, it is the other way round: there are few rows to project and many that read them,
 *
 *   sum over e, k of  p[e, k] (d_k W_k^T)[dst]   =   (sum over e of p[e, k] d_k[dst], all k) W^T
 *
 * And what was sliced by head comes back as a sum of heads with zeros around, which is put together
 * at once.
 *
 * Declines for one head, where something else reads x W, for sparse x, where the product is not of
 * rows or sums are not over edges into picked rows; where it is not known how many rows and edges
 * there are; and for machines whose lanes share rows out, where sums of all heads fit no group's
 * registers. */
#include "passes/passes.h"
#include "passes/softmax.h"

enum { MOST_HEADS = 64 };

/* Multiply-adds into sums that lie in memory take as long as so many of a matrix product. */
static const double EDGE_COST = 4;

typedef struct attention { /* of the old program */
    gir_id sum, gathered;  /* the sum over edges, and what it gathers: h */
    gir_id h, x, w;        /* h: rows [heads, out] of x w */
    gir_id alpha;          /* edge[heads] */
    gir_id by; /* rows [heads] that the sum is divided by: alpha is a softmax's numerator then; 0:
                  nothing */
    int64_t heads, out, in;
} attention;

typedef GN_VEC(gir_id) id_list;

typedef struct heads {
    const gir_program *from;
    gir_program *to;
    gir_id *map;
    const uint32_t *uses;
    const bool *sparse;
    const gn_pass_options *opt;
    gir_id *by; /* by value of the old program: the sum whose h its scores are of, or which it is */
    GN_VEC(attention) all;
} heads;

/* Matching ------------------------------------------------------------------------------------- */

static gir_id under_views(const gir_program *p, gir_id v)
{
    while (gir_at(p, v)->op == GIR_RESHAPE) v = gir_in(p, v, 0);
    return v;
}

/* What v [.., n, m] repeats m times, [.., n]; 0: nothing. */
static gir_id repeated(const gir_program *p, gir_id v)
{
    if (gir_at(p, v)->op != GIR_BROADCAST || gir_type_of(p, v)->rank != 2) return 0;
    gir_id from = gir_in(p, v, 0);
    const gir_type *t = gir_type_of(p, from), *all = gir_type_of(p, v);
    if (t->rank != 2 || t->dim[0] != all->dim[0] || t->dim[1] != 1 ||
        gir_at(p, from)->op != GIR_RESHAPE)
        return 0;
    gir_id of = gir_in(p, from, 0);
    return gir_type_of(p, of)->rank == 1 ? of : 0;
}

static bool gathers(const gir_program *p, gir_id v, gir_id g, int end)
{
    return gir_at(p, v)->op == GIR_GATHER && gir_in(p, v, 0) == g && gir_at(p, v)->attr.i[0] == end;
}

static bool is_sum(const gir_program *p, gir_id v, int end)
{
    const gir_node *n = gir_at(p, v);
    return n->op == GIR_SCATTER && n->attr.i[0] == end && n->attr.i[1] == GIR_SUM;
}

/* The sum of w over a row's edges and a constant above 0, so that a row without edges is 0, divided
 * or not. */
static bool is_divisor(const gir_program *p, gir_id v, gir_id g, gir_id w)
{
    double c;
    if (gir_at(p, v)->op != GIR_ADD || !gir_is_number(p, gir_in(p, v, 1), &c) || c <= 0)
        return false;
    gir_id sum = gir_in(p, v, 0);
    return is_sum(p, sum, GIR_DST) && gir_in(p, sum, 0) == g && gir_in(p, sum, 1) == w;
}

/* What all edges of a row divide by is left for the row: of a softmax, whose numerators are 1 at
 * most.  Larger ones might overflow before they are divided. */
static void take_divisor(const gir_program *p, gir_id g, attention *a)
{
    gir_id by, of, score;
    if (gir_at(p, a->alpha)->op != GIR_DIV) return;
    gir_id w = gir_in(p, a->alpha, 0);
    by = gir_in(p, a->alpha, 1);
    if (!gathers(p, by, g, GIR_DST) || !gn_is_softmax(p, w, &of, &score) || of != g) return;
    if (!is_divisor(p, gir_in(p, by, 1), g, w)) return;
    a->by = gir_in(p, by, 1);
    a->alpha = w;
}

/* Is v a sum of p[e, k] times what is gathered of rows of a product? */
static bool find_sum(const heads *z, gir_id v, attention *a)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    if (!is_sum(p, v, GIR_DST) || n->type.rank != 2 || n->type.elem != GN_F32) return false;
    gir_id g = gir_in(p, v, 0), e = gir_in(p, v, 1);
    const gir_node *r = gir_at(p, g);
    if (r->op != GIR_RESTRICT || !(r->attr.i[0] & 2) || gir_at(p, e)->op != GIR_MUL ||
        z->uses[e] != 1)
        return false;
    *a = (attention){.sum = v, .heads = n->type.dim[0], .out = n->type.dim[1]};
    for (int k = 0; k < 2 && !a->gathered; k++) {
        a->alpha = repeated(p, gir_in(p, e, k));
        if (a->alpha && gathers(p, gir_in(p, e, 1 - k), g, GIR_SRC))
            a->gathered = gir_in(p, e, 1 - k);
    }
    if (!a->gathered || z->uses[a->gathered] != 1 || a->heads < 2 || a->heads > MOST_HEADS)
        return false;
    take_divisor(p, g, a);
    a->h = gir_in(p, a->gathered, 1);
    gir_id product = gir_at(p, a->h)->op == GIR_RESHAPE ? gir_in(p, a->h, 0) : 0;
    const gir_node *m = gir_at(p, product);
    if (!product || z->uses[product] != 1 || m->op != GIR_MATMUL || m->attr.i[0] || m->attr.i[1])
        return false;
    a->x = gir_in(p, product, 0);
    a->w = gir_in(p, product, 1);
    a->in = gir_type_of(p, a->x)->dim[0];
    return m->type.space && !gir_type_of(p, a->w)->space && !z->sparse[a->x];
}

/* The scores that h, or taken rows of it, is multiplied for: <h, what is repeated>; 0: it is
 * something else. */
static gir_id scores(const heads *z, gir_id times, gir_id h)
{
    const gir_program *p = z->from;
    if (gir_at(p, times)->op != GIR_MUL || z->uses[times] != 1) return 0;
    gir_id a = gir_in(p, times, gir_in(p, times, 0) == h);
    if (gir_at(p, a)->op != GIR_BROADCAST || gir_type_of(p, gir_in(p, a, 0))->space) return 0;
    for (gir_id v = times + 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op == GIR_REDUCE && gir_in(p, v, 0) == times)
            return n->attr.i[0] == GIR_SUM && n->attr.i[1] == 2 ? v : 0;
    }
    return 0;
}

/* Can everything that reads h (or rows taken of it) do without? What then reads x is added to
 * *found. */
static bool find_readers(heads *z, const attention *a, gir_id h, id_list *found)
{
    const gir_program *p = z->from;
    uint32_t seen = 0;
    for (gir_id v = h + 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        for (int k = 0; k < n->n_in; k++) {
            if (gir_in(p, v, k) != h) continue;
            seen++;
            if (n->op == GIR_TAKE && h == a->h) {
                if (!find_readers(z, a, v, found)) return false;
                continue;
            }
            gir_id reader = v == a->gathered ? a->sum : scores(z, v, h);
            if (!reader) return false;
            GN_PUSH(z->to->arena, *found, reader);
        }
    }
    return seen == z->uses[h];
}

/* Counted are multiply-adds: of two products of all sources, forwards and by W; behind the sums
 * three of their rows, and the scores' three thin ones; and on the edges those of each head,
 * forwards and in the gradient of p. */
static bool pays(const heads *z, const attention *a)
{
    const gir_program *p = z->from;
    const gir_node *g = gir_at(p, gir_in(p, a->sum, 0));
    const gn_data_facts *f = &z->opt->facts;
    int level = gn_pick_level(p, p->operands.p[g->first_in + g->n_in - 1]);
    if (f->all.rows <= 0 || level < 0 || level >= z->opt->levels) return false;
    bool some = (g->attr.i[0] & 1) && level + 1 < z->opt->levels;
    double sources = (double)(some ? f->level[level + 1].rows : f->all.rows);
    double rows = (double)f->level[level].rows, edges = (double)f->level[level].edges;
    double in = (double)a->in, n = (double)a->heads, all = n * (double)a->out;
    return 2 * sources * in * all >
           3 * rows * in * all + 3 * sources * in * n + 2 * EDGE_COST * edges * in * n;
}

/* Forwards ------------------------------------------------------------------------------------- */

static gir_id slice(gir_program *p, gir_id v, int axis, int64_t start, int64_t n)
{
    gir_type t = *gir_type_of(p, v);
    t.dim[axis] = n;
    return gir_make(p, GIR_SLICE, 1, &v, &(gir_attr){.i = {axis, start}}, &t, NULL);
}

static gir_id weight_by_head(heads *z, const attention *a)
{
    const int64_t dim[] = {a->in, a->heads, a->out};
    return gir_reshape(z->to, z->map[a->w], 3, dim);
}

static gir_id project(heads *z, const attention *a)
{
    gir_program *to = z->to;
    const int64_t plain[] = {a->in, a->out}, dim[] = {a->heads, a->out};
    gir_id g = z->map[gir_in(z->from, a->sum, 0)], w = weight_by_head(z, a);
    gir_id x = gir_gather(to, g, z->map[a->x], GIR_SRC), each[MOST_HEADS];
    gir_type wide = *gir_type_of(to, x);
    for (int64_t k = 0; k < a->heads; k++) {
        gir_id p = gir_broadcast(to, slice(to, z->map[a->alpha], 0, k, 1), &wide);
        gir_id sum = gir_scatter(to, g, gir_op2(to, GIR_MUL, p, x), GIR_DST, GIR_SUM);
        each[k] = gir_matmul(to, sum, gir_reshape(to, slice(to, w, 1, k, 1), 2, plain), false,
                             false);
    }
    gir_id all = gir_make(to, GIR_CONCAT, (int)a->heads, each, &(gir_attr){.i = {0}}, NULL, NULL);
    all = gir_reshape(to, all, 2, dim);
    if (!a->by) return all;
    const int64_t thin[] = {a->heads, 1};
    gir_id by = gir_broadcast(to, gir_reshape(to, z->map[a->by], 2, thin), gir_type_of(to, all));
    return gir_op2(to, GIR_DIV, all, by);
}

static gir_id score(heads *z, const attention *a, gir_id v)
{
    const gir_program *p = z->from;
    gir_id times = gir_in(p, v, 0), h = gir_in(p, times, 0);
    bool first = gir_type_of(p, h)->space && gir_at(p, h)->op != GIR_BROADCAST;
    gir_id att = gir_in(p, gir_in(p, times, first), 0), x = z->map[a->x], w = weight_by_head(z, a);
    if (!first) h = gir_in(p, times, 1);
    if (gir_at(p, h)->op == GIR_TAKE) x = gir_op2(z->to, GIR_TAKE, z->map[gir_in(p, h, 0)], x);
    gir_id by_head = gir_op2(z->to, GIR_MUL, w,
                             gir_broadcast(z->to, z->map[att], gir_type_of(z->to, w)));
    return gir_matmul(z->to, x, gir_reduce(z->to, by_head, GIR_SUM, 4), false, false);
}

static gir_id forwards(heads *z, gir_id v)
{
    for (uint32_t k = 0; k < z->all.n && z->by[v]; k++) {
        const attention *a = &z->all.p[k];
        if (z->by[v] == a->sum) return v == a->sum ? project(z, a) : score(z, a, v);
    }
    return 0;
}

/* Backwards ------------------------------------------------------------------------------------ */

/* What is added up in v, at most MOST_HEADS values; 0: more. */
static int addends(const gir_program *p, gir_id v, gir_id *out, int n)
{
    if (gir_at(p, v)->op == GIR_ADD) {
        n = addends(p, gir_in(p, v, 0), out, n);
        return n ? addends(p, gir_in(p, v, 1), out, n) : 0;
    }
    if (n > MOST_HEADS) return 0;
    out[n - 1] = v;
    return n + 1;
}

typedef struct projected { /* one head's part of a gradient */
    gir_id alpha, d, w;    /* edge[heads], [heads * out], [in, heads, out] */
    int64_t head, out;
} projected;

/* Is v the slice of one head, of `n` columns along `axis`? */
static bool is_head(const gir_program *p, gir_id v, int axis, int64_t n, int64_t head)
{
    const gir_node *s = gir_at(p, v);
    return s->op == GIR_SLICE && s->attr.i[0] == axis && s->type.dim[axis] == n &&
           s->attr.i[1] == head * n;
}

/* p[e, k], of head k */
static bool find_weight(const gir_program *p, gir_id v, projected *out)
{
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_SLICE || n->type.rank != 1 || n->type.dim[0] != 1) return false;
    *out = (projected){.alpha = gir_in(p, v, 0), .head = n->attr.i[1]};
    return true;
}

/* (d_k W_k^T) */
static bool find_product(const gir_program *p, gir_id v, projected *out)
{
    const gir_node *m = gir_at(p, v);
    if (m->op != GIR_MATMUL || !m->type.space || m->attr.i[0] || !m->attr.i[1]) return false;
    gir_id d = gir_in(p, v, 0), w = under_views(p, gir_in(p, v, 1));
    const gir_type *t = gir_type_of(p, w);
    out->out = gir_type_of(p, d)->dim[0];
    if (t->rank != 3 || t->dim[0] != m->type.dim[0] || t->dim[1] != 1 || t->dim[2] != out->out)
        return false;
    if (!is_head(p, d, 0, out->out, out->head) || !is_head(p, w, 1, 1, out->head)) return false;
    out->d = gir_in(p, d, 0);
    out->w = gir_in(p, w, 0);
    return true;
}

/* p[e, k] (d_k W_k^T)[dst] */
static bool find_projected(const gir_program *p, gir_id g, gir_id v, projected *out)
{
    if (gir_at(p, v)->op != GIR_MUL) return false;
    for (int k = 0; k < 2; k++) {
        gir_id b = gir_in(p, v, k), row = gir_in(p, v, 1 - k);
        if (gir_at(p, b)->op != GIR_BROADCAST || !gathers(p, row, g, GIR_DST)) continue;
        if (find_weight(p, gir_in(p, b, 0), out) && find_product(p, gir_in(p, row, 1), out))
            return true;
    }
    return false;
}

/* The sum v over sources' edges of all heads' projected gradients, projected once; 0: it is
 * something else. */
static gir_id backwards(heads *z, gir_id v)
{
    const gir_program *p = z->from;
    gir_id part[MOST_HEADS];
    if (!is_sum(p, v, GIR_SRC) || gir_type_of(p, v)->rank != 1) return 0;
    gir_id g = gir_in(p, v, 0);
    int n = addends(p, gir_in(p, v, 1), part, 1) - 1;
    projected one, first = {0};
    bool there[MOST_HEADS] = {0};
    for (int k = 0; k < n; k++) {
        if (!find_projected(p, g, part[k], &one) || one.head >= n || there[one.head]) return 0;
        there[one.head] = true;
        if (k == 0) first = one;
        if (one.alpha != first.alpha || one.d != first.d || one.w != first.w) return 0;
    }
    if (n < 2 || gir_type_of(p, first.alpha)->dim[0] != n || gir_type_of(p, first.w)->dim[1] != n)
        return 0;
    int64_t in = gir_type_of(p, v)->dim[0], all = n * first.out;
    if (gir_type_of(p, first.d)->dim[0] != all || first.out >= in) return 0;
    const int64_t rows[] = {n, first.out}, thin[] = {n, 1}, plain[] = {in, all};
    gir_id d = gir_gather(z->to, z->map[g], gir_reshape(z->to, z->map[first.d], 2, rows), GIR_DST);
    gir_id alpha = gir_reshape(z->to, z->map[first.alpha], 2, thin);
    alpha = gir_broadcast(z->to, alpha, gir_type_of(z->to, d));
    gir_id e = gir_op2(z->to, GIR_MUL, alpha, d);
    gir_id sum = gir_reshape(z->to, gir_scatter(z->to, z->map[g], e, GIR_SRC, GIR_SUM), 1, &all);
    return gir_matmul(z->to, sum, gir_reshape(z->to, z->map[first.w], 2, plain), false, true);
}

/* Values of all heads that are a sum of each one's with zeros around, side by side; 0: they are
 * not. */
static gir_id side_by_side(heads *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_type *t = gir_type_of(p, v);
    gir_id part[MOST_HEADS], by_head[MOST_HEADS] = {0};
    if (gir_at(p, v)->op != GIR_ADD || t->rank != 1 || !t->space) return 0;
    int n = addends(p, v, part, 1) - 1;
    if (n < 2 || n != t->dim[0]) return 0;
    for (int k = 0; k < n; k++) {
        const gir_node *pad = gir_at(p, part[k]);
        if (pad->op != GIR_PAD || gir_type_of(p, gir_in(p, part[k], 0))->dim[0] != 1 ||
            by_head[pad->attr.i[1]])
            return 0;
        by_head[pad->attr.i[1]] = z->map[gir_in(p, part[k], 0)];
    }
    return gir_make(z->to, GIR_CONCAT, n, by_head, &(gir_attr){.i = {0}}, NULL, NULL);
}

/* The pass ------------------------------------------------------------------------------------- */

gn_status *gn_run_aggregate_heads(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                                  gir_program **out)
{
    if (opt->fast_functions) {
        *out = (gir_program *)in;
        return NULL;
    }
    heads z = {.from = in,
               .to = gir_program_new(a, in->name),
               .map = GN_NEW_N(a, gir_id, in->nodes.n),
               .uses = gir_count_uses(a, in),
               .sparse = gn_find_from_sparse(a, in, opt),
               .opt = opt,
               .by = GN_NEW_N(a, gir_id, in->nodes.n)};
    gir_clone_frame(z.to, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        attention found;
        id_list readers = {0};
        if (!find_sum(&z, v, &found) || !pays(&z, &found) ||
            !find_readers(&z, &found, found.h, &readers))
            continue;
        for (uint32_t k = 0; k < readers.n; k++) z.by[readers.p[k]] = v;
        GN_PUSH(a, z.all, found);
    }
    for (gir_id v = 1; v < in->nodes.n; v++) {
        z.to->loc = gir_at(in, v)->loc;
        z.map[v] = forwards(&z, v);
        if (!z.map[v]) z.map[v] = backwards(&z, v);
        if (!z.map[v]) z.map[v] = side_by_side(&z, v);
        if (!z.map[v]) z.map[v] = gir_clone_node(z.to, in, v, z.map);
    }
    gir_clone_outputs(z.to, in, z.map);
    *out = z.to;
    return NULL;
}
