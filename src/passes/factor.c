/* factor: what all edges of a row share is taken out of the sum over them.
 * Needs: nothing.  Keeps: all outputs, up to rounding.  Breaks: nothing; dead values are left behind.
 *
 *   sum over e of  a[dst] * b[e] / c[dst]   =   a * (sum over e of b[e]) / c          (a row's sum by destination)
 *   x[src] * y[src]                          =   (x * y)[src]                          (once a node, not once an edge)
 *
 * Products are looked for through broadcasts and reshapes, and through select(m, x, 0) = x * select(m, 1, 0).  So the
 * symmetric normalisation of a GCN leaves the loop over edges without a multiplication, and a softmax is divided by its
 * sum once a row.  A row without edges keeps its 0, whatever its factors are.  Declines where a sum has nothing to take
 * out. */
#include "passes/passes.h"

enum { MAX_FACTORS = 16, MAX_VIEWS = 8 };

typedef struct factor {
    gir_id value; /* in the new program, before views */
    bool inverse; /* divides */
    int views;
    gir_type view[MAX_VIEWS]; /* types it passes through on its way to the message's, in order */
    bool reshape[MAX_VIEWS];
} factor;

typedef struct factors {
    gir_program *p;
    int n;
    factor f[MAX_FACTORS];
    bool full;
} factors;

static void split(factors *z, gir_id v, factor so_far)
{
    const gir_node *n = gir_at(z->p, v);
    factor inner = so_far;
    switch ((gir_op)n->op) {
    case GIR_MUL:
        split(z, gir_in(z->p, v, 0), so_far);
        split(z, gir_in(z->p, v, 1), so_far);
        return;
    case GIR_DIV:
        split(z, gir_in(z->p, v, 0), so_far);
        inner.inverse = !inner.inverse;
        split(z, gir_in(z->p, v, 1), inner);
        return;
    case GIR_BROADCAST:
    case GIR_RESHAPE:
        if (so_far.views == MAX_VIEWS || gir_type_of(z->p, gir_in(z->p, v, 0))->space != n->type.space) break;
        for (int k = inner.views; k > 0; k--) {
            inner.view[k] = inner.view[k - 1];
            inner.reshape[k] = inner.reshape[k - 1];
        }
        inner.view[0] = n->type;
        inner.reshape[0] = n->op == GIR_RESHAPE;
        inner.views++;
        split(z, gir_in(z->p, v, 0), inner);
        return;
    case GIR_SELECT: {
        const gir_node *no = gir_at(z->p, gir_in(z->p, v, 2));
        if (no->op != GIR_CONST || no->attr.f != 0 || so_far.inverse) break;
        gir_type t = n->type;
        gir_id cond = gir_in(z->p, v, 0), yes = gir_in(z->p, v, 1);
        gir_id one = gir_const(z->p, &t, 1), zero = gir_const(z->p, &t, 0);
        if (gir_at(z->p, yes)->op == GIR_CONST) break;
        split(z, yes, so_far);
        split(z, gir_op3(z->p, GIR_SELECT, cond, one, zero), so_far);
        return;
    }
    default: break;
    }
    if (z->n == MAX_FACTORS) {
        z->full = true;
        return;
    }
    so_far.value = v;
    z->f[z->n++] = so_far;
}

/* The factor's value brought to the message's dims, over space s. */
static gir_id shaped(gir_program *p, const factor *f, gir_id v, gir_space_id s)
{
    for (int k = 0; k < f->views; k++) {
        gir_type t = f->view[k];
        t.space = s;
        v = f->reshape[k] ? gir_reshape(p, v, t.rank, t.dim) : gir_broadcast(p, v, &t);
    }
    return v;
}

static gir_id times(gir_program *p, gir_id a, gir_id b, bool inverse)
{
    if (!a) {
        if (!inverse) return b;
        gir_type t = *gir_type_of(p, b);
        a = gir_const(p, &t, 1);
    }
    return gir_op2(p, inverse ? GIR_DIV : GIR_MUL, a, b);
}

/* Is the factor a gather from `end` over g? */
static bool gathers(const gir_program *p, const factor *f, gir_id g, int end)
{
    const gir_node *n = gir_at(p, f->value);
    return n->op == GIR_GATHER && gir_in(p, f->value, 0) == g && n->attr.i[0] == end;
}

static bool is_constant(const gir_program *p, const factor *f)
{
    return gir_at(p, f->value)->op == GIR_CONST || gir_type_of(p, f->value)->space == 0;
}

/* Does every node have an edge? */
static bool never_empty(const gir_program *p, gir_id g)
{
    while (gir_at(p, g)->op == GIR_REVERSE) g = gir_in(p, g, 0);
    return gir_at(p, g)->op == GIR_SELF_LOOPS || gir_at(p, g)->op == GIR_REMAINING_LOOPS;
}

/* A sum over no edges is 0, whatever its factors would have been: a row without edges may have a factor that is no
 * number, such as 1 / its degree. */
static gir_id where_edges(gir_program *p, gir_id g, int end, gir_id row)
{
    if (gir_at(p, row)->op == GIR_CONST || never_empty(p, g)) return row;
    gir_type t = *gir_type_of(p, row), one = gir_tensor((gn_elem)t.elem, gir_type_of(p, g)->edge, 0, NULL), some = t;
    int64_t ones[GIR_MAX_RANK];
    for (int k = 0; k < GIR_MAX_RANK; k++) ones[k] = 1;
    gir_id count = gir_scatter(p, g, gir_const(p, &one, 1), end, GIR_SUM);
    one.space = t.space;
    gir_id there = gir_op2(p, GIR_GT, count, gir_const(p, &one, 0));
    some.elem = GN_BOOL;
    there = gir_broadcast(p, gir_reshape(p, there, t.rank, ones), &some);
    return gir_op3(p, GIR_SELECT, there, row, gir_const(p, &t, 0));
}

/* The sum rewritten, or 0. */
static gir_id rewrite(gir_program *p, gir_id g, gir_id message, int end)
{
    factors z = {.p = p};
    split(&z, message, (factor){0});
    if (z.full) return 0;
    int rows = 0, far = 0, other = end == GIR_DST ? GIR_SRC : GIR_DST;
    for (int k = 0; k < z.n; k++) {
        rows += gathers(p, &z.f[k], g, end) || (is_constant(p, &z.f[k]) && z.n > 1);
        far += gathers(p, &z.f[k], g, other);
    }
    if (z.n < 2 || (rows == 0 && far < 2)) return 0;
    const gir_type *graph = gir_type_of(p, g), full = *gir_type_of(p, message);
    gir_space_id near_space = end == GIR_DST ? graph->dst : graph->src;
    gir_space_id far_space = end == GIR_DST ? graph->src : graph->dst;
    gir_id row = 0, ends = 0, rest = 0;
    for (int pass = 0; pass < 2; pass++) { /* what multiplies first, then what divides */
        for (int k = 0; k < z.n; k++) {
            factor *f = &z.f[k];
            if (f->inverse != (pass == 1)) continue;
            if (gathers(p, f, g, end))
                row = times(p, row, shaped(p, f, gir_in(p, f->value, 1), near_space), f->inverse);
            else if (gathers(p, f, g, other))
                ends = times(p, ends, shaped(p, f, gir_in(p, f->value, 1), far_space), f->inverse);
            else if (is_constant(p, f) && z.n > rows) {
                gir_type t = *gir_type_of(p, f->value);
                if (gir_at(p, f->value)->op == GIR_CONST && t.space) {
                    t.space = near_space;
                    row = times(p, row, shaped(p, f, gir_const(p, &t, gir_at(p, f->value)->attr.f), near_space),
                                f->inverse);
                } else {
                    rest = times(p, rest, shaped(p, f, f->value, full.space), f->inverse);
                }
            } else {
                rest = times(p, rest, shaped(p, f, f->value, full.space), f->inverse);
            }
        }
    }
    if (ends) rest = times(p, rest, gir_gather(p, g, ends, other), false);
    if (!rest) rest = gir_const(p, &full, 1);
    gir_id sum = gir_scatter(p, g, rest, end, GIR_SUM);
    return row ? gir_op2(p, GIR_MUL, sum, where_edges(p, g, end, row)) : sum;
}

gn_status *gn_run_factor(gn_arena *a, const gir_program *in, const gn_pass_options *opt, gir_program **out)
{
    (void)opt;
    gir_program *to = gir_program_new(a, in->name);
    gir_id *map = GN_NEW_N(a, gir_id, in->nodes.n);
    gir_clone_frame(to, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        const gir_node *n = gir_at(in, v);
        to->loc = n->loc;
        if (n->op == GIR_SCATTER && n->attr.i[1] == GIR_SUM && gn_elem_is_float((gn_elem)n->type.elem))
            map[v] = rewrite(to, map[gir_in(in, v, 0)], map[gir_in(in, v, 1)], (int)n->attr.i[0]);
        if (!map[v]) map[v] = gir_clone_node(to, in, v, map);
    }
    for (uint32_t k = 0; k < in->outputs.n; k++)
        gir_output_add(to, in->outputs.p[k].kind, in->outputs.p[k].name, map[in->outputs.p[k].value]);
    *out = to;
    return NULL;
}
