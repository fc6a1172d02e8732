/* factor: what all edges of a row share is taken out of the sum over them. Needs: nothing.  Keeps:
 * all outputs, up to rounding.  Breaks: nothing; dead values are left behind.
 *
 *   sum over e of  a[dst] * b[e] / c[dst]   =   a * (sum over e of b[e]) / c          (a row's sum
 *                  by destination)
 *   x[src] * y[src]                          =   (x * y)[src]                          (once a
 *                                            node, not once an edge)
 *   sum over e of  w[e] * <a[dst], b[src]>   =   <a, sum over e of w[e] * b[src]>      (no dot
 *                  product an edge)
 *
 * Messages are taken apart by terms.c, through views and selects.  So the symmetric normalisation
 * of a GCN leaves the loop over edges without a multiplication, and a softmax is divided by its sum
 * once a row.
 *
 * The third rule is what makes attention's gradient cheap.  A softmax's gradient holds  sum over e
 * of p[e] <dO[dst], h[src]>, which is <dO, O>: the sum is the one that the forward pass made.
 * Where logits add a term of either end, the gradients of those terms are sums of the same kind,
 * and no dot product is left on the edges at all.  It also takes sums in a message apart for that.
 * Declines where the dot product is wanted on the edges anyway: then only sums that are there
 * already are used.  Declines where a sum has nothing to take out.  A row without edges keeps its
 * 0, whatever its factors are.
 *
 * Sums that are made for that alone are as wide as h and wait in memory for the gradient.  Where
 * that is much, both sums of a score's gradient stay sums of one number an edge (`both-ends`;
 * both_ends.c says of what):
 *
 *   p[e] (<dO[dst] / z[dst], h[src]> - c[dst])
 *
 * with the row of dO / z that the loop over the source's edges gathers for h's gradient anyway.
 * That loop computes it and leaves it to the other (fuse_place.c).  Declines where a sum takes less
 * than LEAST bytes or sizes are not known, where dot products have fewer than WORTH_KEEPING terms
 * (two rows of sums fit the registers then, and numbers are many), where the loop gathers no such
 * row, and for machines whose lanes share rows out.
 *
 * Where a softmax gives all to one edge,  p[e] (<dO, h> - c)  is 0 to the last bit: both are the
 * same product.  The third rule's  <dO, sum p h> - c sum p  is 0 up to rounding, which the layer
 * before multiplies by its scores.  That is nothing while scores are far below 10^7; those of a
 * model that blows up are not, and what one layer adds the next one multiplies.  So there is no
 * third rule, nor sums at both ends, where more than MOST_LAYERS follow each other: enough to take
 * float32's gradients to infinity. */
#include "fuse/both_ends.h"
#include "passes/passes.h"
#include "passes/terms.h"

enum { ROUNDS = 8, LEAST = 1 << 26, WORTH_KEEPING = 32, MOST_LAYERS = 6 };

typedef struct factoring {
    gn_rewrite r;
    const bool *kept; /* by dot product (in the old program): it stays on the edges, and no sums are
                         made to avoid it */
    const bool *joint; /* by edge value (in the old program): it is summed at both ends as it is; or
                          its dot product */
    gir_id *joint_to;  /* likewise: what it has become; 0: not yet */
    gir_id failed;     /* one of them that cannot be; 0: none */
    bool *avoided;     /* by dot product: sums were made to avoid it */
    bool plain;        /* no third rule */
    bool *gone;        /* by dot product (in the old program): the third rule took it */
    bool *sum;         /* by value of the new program: a sum that it uses, not one that was tried */
    gir_id *from;      /* by value of the new program: what it was copied from */
    uint32_t cap;      /* of the two */
} factoring;

/* One sum over edges being rewritten. */
typedef struct summing {
    factoring *z;
    gir_id graph;
    int end;
    gir_space_id near, far;
    int n_made; /* sums made, and dot products (in the old program) that they were made to avoid; 0:
                   none */
    gir_id made[TERM_MOST], avoids[TERM_MOST];
    bool dots;   /* a dot product went */
    bool shared; /* something was taken out that may be no number where there are no edges */
} summing;

static void see(factoring *z, gir_id v)
{
    gn_arena *a = z->r.to->arena;
    if (v < z->cap) return;
    uint32_t cap = 2 * v + 64;
    bool *sum = GN_NEW_N(a, bool, cap);
    gir_id *from = GN_NEW_N(a, gir_id, cap);
    for (uint32_t k = 0; k < z->cap; k++) {
        sum[k] = z->sum[k];
        from[k] = z->from[k];
    }
    z->sum = sum;
    z->from = from;
    z->cap = cap;
}

/* Factors -------------------------------------------------------------------------------------- */

static bool gathers(const summing *s, const gn_factor *f, int end)
{
    const gir_node *n = gir_at(s->z->r.to, f->value);
    return n->op == GIR_GATHER && gir_in(s->z->r.to, f->value, 0) == s->graph &&
           n->attr.i[0] == end;
}

/* The same for all edges: a tensor of no space, repeated. */
static bool repeats(const summing *s, const gn_factor *f)
{
    const gir_program *p = s->z->r.to;
    return gir_at(p, f->value)->op == GIR_BROADCAST &&
           gir_type_of(p, gir_in(p, f->value, 0))->space == 0;
}

static bool is_near(const summing *s, const gn_factor *f)
{
    return gathers(s, f, s->end) || repeats(s, f);
}
static int other_end(const summing *s) { return s->end == GIR_DST ? GIR_SRC : GIR_DST; }

/* What is gathered or repeated. */
static gn_factor at_row(summing *s, const gn_factor *f)
{
    gn_rewrite *r = &s->z->r;
    gn_factor at = *f;
    at.value = gir_in(r->to, f->value,
                      gathers(s, f, s->end) || gathers(s, f, other_end(s)) ? 1 : 0);
    if (gir_at(r->to, f->value)->op != GIR_BROADCAST) return at;
    gn_view *v = GN_NEW(r->to->arena, gn_view);
    *v = (gn_view){f->views, *gir_type_of(r->to, f->value), false};
    at.views = v;
    return at;
}

/* Sums ----------------------------------------------------------------------------------------- */

static gir_id scatter(summing *s, gir_id message)
{
    return gn_rewrite_make(&s->z->r, GIR_SCATTER, 2, (const gir_id[]){s->graph, message},
                           &(gir_attr){.i = {s->end, GIR_SUM}}, NULL);
}

static gir_id gather_far(summing *s, gir_id v)
{
    return gn_rewrite_make(&s->z->r, GIR_GATHER, 2, (const gir_id[]){s->graph, v},
                           &(gir_attr){.i = {other_end(s)}}, NULL);
}

/* The sum of what differs from edge to edge: far ends multiplied once a node. */
static gir_id sum_of_rest(summing *s, const gn_term *t, const gir_type *full)
{
    gn_rewrite *r = &s->z->r;
    gn_factor far[TERM_FACTORS], rest[TERM_FACTORS];
    int n_far = 0, n_rest = 0;
    for (int k = 0; k < t->n; k++) {
        if (is_near(s, &t->f[k])) continue;
        if (gathers(s, &t->f[k], other_end(s)))
            far[n_far++] = at_row(s, &t->f[k]);
        else
            rest[n_rest++] = t->f[k];
    }
    gir_id message = gn_terms_product(r, 0, n_rest, rest, full, full->space);
    gir_id ends = gn_terms_product(r, 0, n_far, far, full, s->far);
    if (ends) {
        ends = gather_far(s, ends);
        message = message ? gn_terms_op(r, GIR_MUL, message, ends) : ends;
    }
    if (!message) message = gn_rewrite_make(r, GIR_CONST, 0, NULL, &(gir_attr){.f = 1}, full);
    return scatter(s, message);
}

/* Rows without edges --------------------------------------------------------------------------- */

/* Does every node have an edge? */
static bool never_empty(const gir_program *p, gir_id g)
{
    while (gir_at(p, g)->op == GIR_REVERSE) g = gir_in(p, g, 0);
    return gir_at(p, g)->op == GIR_SELF_LOOPS || gir_at(p, g)->op == GIR_REMAINING_LOOPS;
}

static gir_id number(gn_rewrite *r, const gir_type *t, double x)
{
    return gn_rewrite_make(r, GIR_CONST, 0, NULL, &(gir_attr){.f = x}, t);
}

/* A sum over no edges is 0, whatever its factors would have been: a row without edges may have a
 * factor that is no number, such as 1 / its degree. */
static gir_id where_edges(summing *s, gir_id v)
{
    gn_rewrite *r = &s->z->r;
    if (never_empty(r->to, s->graph)) return v;
    gir_type t = *gir_type_of(r->to, v), some = t, ones = t;
    gir_type one = gir_tensor((gn_elem)t.elem, gir_type_of(r->to, s->graph)->edge, 0, NULL);
    gir_id count = scatter(s, number(r, &one, 1));
    one.space = t.space;
    gir_id there = gn_terms_op(r, GIR_GT, count, number(r, &one, 0));
    some.elem = ones.elem = GN_BOOL;
    for (int k = 0; k < t.rank; k++) ones.dim[k] = 1;
    there = gn_terms_view(r, gn_terms_view(r, there, &ones, t.space, true), &some, t.space, false);
    return gn_rewrite_make(r, GIR_SELECT, 3, (const gir_id[]){there, v, number(r, &t, 0)}, NULL,
                           NULL);
}

/* `sum` (may be 0) times what the edges of a row share. */
static gir_id times_near(summing *s, gir_id sum, const gn_term *t, const gir_type *full)
{
    gn_rewrite *r = &s->z->r;
    gn_factor near[TERM_FACTORS];
    int n = 0;
    for (int k = 0; k < t->n; k++)
        if (is_near(s, &t->f[k])) near[n++] = at_row(s, &t->f[k]);
    if (n == 1 && !s->shared && gir_type_of(r->to, near[0].value)->space) { /* while it is narrow */
        gir_id v = near[0].value;
        near[0].value = where_edges(s, near[0].inverse ? gn_terms_op(r, GIR_RECIP, v, 0) : v);
        near[0].inverse = false;
    } else if (n > 0) {
        s->shared = true;
    }
    return gn_terms_product(r, sum, n, near, full, s->near);
}

/* Dot products --------------------------------------------------------------------------------- */

/* A sum over axes of a message's factor, without views that repeat it. */
static bool is_dot(const summing *s, const gn_factor *f)
{
    const gir_node *n = gir_at(s->z->r.to, f->value);
    if (n->op != GIR_REDUCE || n->attr.i[0] != GIR_SUM || f->inverse) return false;
    for (const gn_view *v = f->views; v; v = v->outer)
        if (!v->reshape) return false;
    return true;
}

/* The factors of `t` but for number `dot`, spread over the axes that the dot product sums, and the
 * dot product's own. */
static bool inside(summing *s, const gn_term *t, int dot, gn_term *out)
{
    gn_rewrite *r = &s->z->r;
    gir_id d = t->f[dot].value, o = gir_in(r->to, d, 0);
    const gir_type of = *gir_type_of(r->to, d);
    int64_t axes = gir_at(r->to, d)->attr.i[1];
    const gn_terms *own = gn_terms_of(r, o, false);
    gir_type full = *gir_type_of(r->to, o), kept = full;
    bool row = false, differs = false;
    if (own->n != 1) return false;
    for (int k = 0; k < full.rank; k++)
        if (axes >> k & 1) kept.dim[k] = 1;
    *out = own->t[0];
    for (int k = 0; k < out->n; k++) *(is_near(s, &out->f[k]) ? &row : &differs) = true;
    if (!row || !differs) return false;
    for (int k = 0; k < t->n; k++) {
        if (k == dot || is_near(s, &t->f[k])) continue;
        if (out->n == TERM_FACTORS) return false;
        gn_factor f = t->f[k];
        f.views = gn_views_add(r, gir_type_of(r->to, f.value), f.views, &of, true);
        f.views = gn_views_add(r, gir_type_of(r->to, f.value), f.views, &kept, true);
        f.views = gn_views_add(r, gir_type_of(r->to, f.value), f.views, &full, false);
        out->f[out->n++] = f;
    }
    return true;
}

/* A factor of a term with dot product d, as one of what d sums. */
static gn_factor spread(summing *s, const gn_factor *f, gir_id d)
{
    gn_rewrite *r = &s->z->r;
    const gir_type *of = gir_type_of(r->to, d), *wide = gir_type_of(r->to, gir_in(r->to, d, 0));
    gir_type kept = *wide;
    gn_factor to = *f;
    for (int k = 0; k < wide->rank; k++)
        if (gir_at(r->to, d)->attr.i[1] >> k & 1) kept.dim[k] = 1;
    to.views = gn_views_add(r, gir_type_of(r->to, to.value), to.views, of, true);
    to.views = gn_views_add(r, gir_type_of(r->to, to.value), to.views, &kept, true);
    to.views = gn_views_add(r, gir_type_of(r->to, to.value), to.views, wide, false);
    return to;
}

/* The row that dot product d reads, divided by what divides d in t, where such a row is there
 * anyway; t goes without that. 0: there is none. */
static gir_id divided_row(summing *s, gn_term *t, gir_id d, const gn_term *in)
{
    gn_rewrite *r = &s->z->r;
    const gir_type wide = *gir_type_of(r->to, gir_in(r->to, d, 0));
    for (int k = 0; k < t->n && in->n < TERM_FACTORS; k++) {
        gn_factor f = t->f[k], row[TERM_FACTORS];
        int n = 0;
        if (!f.inverse || !gathers(s, &f, s->end)) continue;
        f = spread(s, &f, d);
        for (int i = 0; i < in->n; i++)
            if (is_near(s, &in->f[i])) row[n++] = at_row(s, &in->f[i]);
        row[n++] = at_row(s, &f);
        uint32_t before = r->to->nodes.n;
        gir_id v = gn_terms_product(r, 0, n, row, &wide, s->near);
        if (v >= before) continue;
        t->f[k] = t->f[--t->n];
        return v;
    }
    return 0;
}

/* sum of w * <a[row], b> as <a, sum of w * b>; 0 where that is not to be. */
static gir_id without_dot(summing *s, gn_term *t, int dot, const gir_type *full)
{
    factoring *z = s->z;
    gn_rewrite *r = &z->r;
    gir_id d = t->f[dot].value;
    gn_term in;
    if (!inside(s, t, dot, &in)) return 0;
    gir_type wide = *gir_type_of(r->to, gir_in(r->to, d, 0)), rows = *full;
    int64_t axes = gir_at(r->to, d)->attr.i[1];
    uint32_t before = r->to->nodes.n;
    gir_id sum = sum_of_rest(s, &in, &wide);
    see(z, r->to->nodes.n);
    bool there = sum < before && z->sum[sum];
    gir_id was = z->from[d];
    if (!there && (!was || z->kept[was])) return 0;
    if (!there) {
        s->made[s->n_made] = sum;
        s->avoids[s->n_made++] = was;
    }
    s->shared = true;
    z->gone[was] = true;
    gir_id row = z->joint[was] ? divided_row(s, t, d, &in) : 0;
    gir_id dot_of = row ? gn_terms_op(r, GIR_MUL, row, sum) : times_near(s, sum, &in, &wide);
    gir_id v = gn_rewrite_make(r, GIR_REDUCE, 1, &dot_of, &(gir_attr){.i = {GIR_SUM, axes}}, NULL);
    s->dots = true;
    return gn_terms_scaled(r, gn_terms_view(r, v, &rows, s->near, true), in.scale);
}

/* Messages ------------------------------------------------------------------------------------- */

static bool worthwhile(const summing *s, const gn_term *t)
{
    int near = t->scale != 1, far = 0;
    for (int k = 0; k < t->n; k++) {
        near += is_near(s, &t->f[k]);
        far += gathers(s, &t->f[k], other_end(s));
    }
    return t->n + (t->scale != 1) > 1 && (near > 0 || far > 1);
}

/* One product's sum; 0 where it is better left alone. `must`: it is part of several. */
static gir_id sum_of_term(summing *s, const gn_term *whole, const gir_type *full, bool must)
{
    gn_rewrite *r = &s->z->r;
    gn_term left = *whole, *t = &left; /* what a dot product takes in is left out */
    gir_id sum = 0;
    bool dots = false;
    for (int k = 0; k < t->n && !sum; k++) {
        if (s->z->plain || !is_dot(s, &t->f[k])) continue;
        sum = without_dot(s, t, k, full);
        dots = true;
    }
    if (!sum) {
        if (must ? dots : !worthwhile(s, t)) return 0;
        sum = sum_of_rest(s, t, full);
        s->made[s->n_made] = sum;
        s->avoids[s->n_made++] = 0;
    }
    return gn_terms_scaled(r, times_near(s, sum, t, full), t->scale);
}

/* A sum of several, for the sake of dot products. */
static gir_id sum_of_sums(summing *s, const gn_terms *t, const gir_type *full)
{
    gir_id all = 0;
    for (int k = 0; k < t->n; k++) {
        gir_id one = sum_of_term(s, &t->t[k], full, true);
        if (!one) return 0;
        all = all ? gn_terms_op(&s->z->r, GIR_ADD, all, one) : one;
    }
    return s->dots ? all : 0;
}

/* The sum rewritten, or 0. */
static gir_id rewrite(factoring *z, gir_id g, gir_id message, int end)
{
    gn_rewrite *r = &z->r;
    const gir_type graph = *gir_type_of(r->to, g), full = *gir_type_of(r->to, message);
    summing s = {.z = z, .graph = g, .end = end};
    s.near = end == GIR_DST ? graph.dst : graph.src;
    s.far = end == GIR_DST ? graph.src : graph.dst;
    const gn_terms *apart = gn_terms_of(r, message, true), *whole = gn_terms_of(r, message, false);
    gir_id v = apart->n > 1 ? sum_of_sums(&s, apart, &full) : 0;
    if (!v) {
        s.n_made = 0;
        s.shared = false;
        if (whole->n == 1) v = sum_of_term(&s, &whole->t[0], &full, false);
    }
    see(z, r->to->nodes.n);
    for (int k = 0; v && k < s.n_made; k++) {
        z->sum[s.made[k]] = true;
        z->avoided[s.avoids[k]] = true;
    }
    return v && s.shared ? where_edges(&s, v) : v;
}

/* Sums at both ends ---------------------------------------------------------------------------- */

/* The term t of a value on the edges, walked by source, where factor number `dot` is a dot product:
 * the row of the far end that it reads has t's factors of that end in it.  The other factors go to
 * rest[*n].  0 where the loop does not gather such a row. */
static gir_id dot_of_rows(summing *s, const gn_term *t, int dot, const gir_type *full,
                          gn_factor *rest, int *n)
{
    gn_rewrite *r = &s->z->r;
    gir_id d = t->f[dot].value, o = gir_in(r->to, d, 0);
    const gir_type wide = *gir_type_of(r->to, o);
    gn_factor far[TERM_FACTORS], near[TERM_FACTORS];
    int n_far = 0, n_near = 0;
    const gn_terms *own = gn_terms_of(r, o, false);
    int64_t axes = gir_at(r->to, d)->attr.i[1];
    if (own->n != 1 || own->t[0].n + t->n > TERM_FACTORS) return 0;
    for (int k = 0; k < own->t[0].n; k++) {
        const gn_factor *f = &own->t[0].f[k];
        if (gathers(s, f, other_end(s)))
            far[n_far++] = at_row(s, f);
        else
            near[n_near++] = *f;
    }
    for (int k = 0; k < t->n; k++) {
        if (k == dot) continue;
        if (!gathers(s, &t->f[k], other_end(s))) {
            rest[(*n)++] = t->f[k];
            continue;
        }
        gn_factor f = spread(s, &t->f[k], d);
        far[n_far++] = at_row(s, &f);
    }
    uint32_t before = r->to->nodes.n;
    gir_id ends = gn_terms_product(r, 0, n_far, far, &wide, s->far);
    if (!ends || !n_near || ends >= before) return 0;
    gir_id product = gn_terms_product(r, gather_far(s, ends), n_near, near, &wide, wide.space);
    gir_id v = gn_rewrite_make(r, GIR_REDUCE, 1, &product, &(gir_attr){.i = {GIR_SUM, axes}}, NULL);
    return gn_terms_scaled(r, gn_terms_view(r, v, full, full->space, true), own->t[0].scale);
}

/* One product of factors on the edges, what the walk gathers last. */
static gir_id joint_term(summing *s, const gn_term *t, const gir_type *full)
{
    gn_rewrite *r = &s->z->r;
    gn_factor rest[TERM_FACTORS], far[TERM_FACTORS];
    int n = 0, n_far = 0, dot = 0;
    while (dot < t->n && !is_dot(s, &t->f[dot])) dot++;
    gir_id v;
    if (dot < t->n) {
        v = dot_of_rows(s, t, dot, full, rest, &n);
    } else {
        for (int k = 0; k < t->n; k++) {
            if (gathers(s, &t->f[k], other_end(s)))
                far[n_far++] = t->f[k];
            else
                rest[n++] = t->f[k];
        }
        v = gn_terms_product(r, 0, n_far, far, full, full->space);
    }
    if (!v) return 0;
    gir_id others = gn_terms_product(r, 0, n, rest, full, full->space);
    return gn_terms_scaled(r, others ? gn_terms_op(r, GIR_MUL, others, v) : v, t->scale);
}

static gir_id joint_message(factoring *z, gir_id g, gir_id message)
{
    const gir_type graph = *gir_type_of(z->r.to, g), full = *gir_type_of(z->r.to, message);
    summing s = {.z = z, .graph = g, .end = GIR_SRC, .near = graph.src, .far = graph.dst};
    const gn_terms *apart = gn_terms_of(&z->r, message, true);
    gir_id all = 0;
    for (int k = 0; k < apart->n; k++) {
        gir_id one = joint_term(&s, &apart->t[k], &full);
        if (!one) return 0;
        all = all ? gn_terms_op(&z->r, GIR_ADD, all, one) : one;
    }
    return all;
}

/* The sum v of a value that is summed at both ends. */
static gir_id joint_sum(factoring *z, gir_id v)
{
    gir_id m = gir_in(z->r.from, v, 1), g = z->r.map[gir_in(z->r.from, v, 0)];
    if (!z->joint_to[m]) z->joint_to[m] = joint_message(z, g, z->r.map[m]);
    if (!z->joint_to[m]) {
        z->failed = m;
        return 0;
    }
    return gn_rewrite_make(&z->r, GIR_SCATTER, 2, (const gir_id[]){g, z->joint_to[m]},
                           &gir_at(z->r.from, v)->attr, NULL);
}

/* Which edge values are to stay, since sums in their stead would be large, but for those that
 * cannot be; their dot products are kept. */
static void find_joint(gn_arena *a, const gir_program *p, const gn_pass_options *opt,
                       const bool * not, bool *joint, bool *kept)
{
    if (opt->fast_functions || !gn_is_on(opt->without.decisions, GN_DO_BOTH_ENDS)) return;
    const gn_both_ends *all = gn_find_both_ends(a, p);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        if (!all[v].by_source || not[v]) continue;
        const gir_type *t = gir_type_of(p, gir_in(p, all[v].dot, 0));
        const gir_type *g = gir_type_of(p, gir_in(p, all[v].by_source, 0));
        int64_t bytes = gir_row_elems(t) * (int64_t)gn_elem_size((gn_elem)t->elem);
        int64_t rows = gn_expected_rows(p, g->dst, opt);
        if (gir_row_elems(t) / gir_row_elems(gir_type_of(p, v)) < WORTH_KEEPING) continue;
        if (rows > 0 && rows >= LEAST / bytes)
            joint[v] = joint[all[v].dot] = kept[all[v].dot] = true;
    }
}

/* The pass ------------------------------------------------------------------------------------- */

static bool is_sum(const gir_node *n)
{
    return n->op == GIR_SCATTER && n->attr.i[1] == GIR_SUM &&
           gn_elem_is_float((gn_elem)n->type.elem);
}

static factoring run(gn_arena *a, const gir_program *in, const bool *kept, const bool *joint,
                     bool plain)
{
    factoring z = {.r = gn_rewrite_new(a, in), .kept = kept, .joint = joint, .plain = plain};
    z.avoided = GN_NEW_N(a, bool, in->nodes.n);
    z.gone = GN_NEW_N(a, bool, in->nodes.n);
    z.joint_to = GN_NEW_N(a, gir_id, in->nodes.n);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        gir_id to = 0;
        z.r.to->loc = gir_at(in, v)->loc;
        if (is_sum(gir_at(in, v)) && joint[gir_in(in, v, 1)])
            to = joint_sum(&z, v);
        else if (is_sum(gir_at(in, v)))
            to = rewrite(&z, z.r.map[gir_in(in, v, 0)], z.r.map[gir_in(in, v, 1)],
                         (int)gir_at(in, v)->attr.i[0]);
        if (to)
            z.r.map[v] = to;
        else
            to = gn_rewrite_copy(&z.r, v);
        see(&z, to);
        if (!z.from[to]) z.from[to] = v;
        if (is_sum(gir_at(z.r.to, to))) z.sum[to] = true;
    }
    gn_rewrite_outputs(&z.r);
    return z;
}

/* Dot products that are still computed, although sums were made to avoid them. */
static bool in_vain(gn_arena *a, const factoring *z, bool *kept)
{
    const gir_program *p = z->r.to;
    bool *live = GN_NEW_N(a, bool, p->nodes.n), any = false;
    for (uint32_t k = 0; k < p->outputs.n; k++) live[p->outputs.p[k].value] = true;
    for (gir_id v = p->nodes.n; v-- > 1;) {
        for (int k = 0; live[v] && k < gir_at(p, v)->n_in; k++) live[gir_in(p, v, k)] = true;
        gir_id was = v < z->cap ? z->from[v] : 0;
        if (!live[v] || !was || !z->avoided[was] || kept[was]) continue;
        any = kept[was] = true;
    }
    return any;
}

/* How many dot products that the third rule took follow each other, at most. */
static int layers_of(gn_arena *a, const gir_program *p, const bool *gone)
{
    int *deep = GN_NEW_N(a, int, p->nodes.n), most = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        for (int k = 0; k < gir_at(p, v)->n_in; k++) {
            int before = deep[gir_in(p, v, k)];
            if (before > deep[v]) deep[v] = before;
        }
        deep[v] += gone[v];
        if (deep[v] > most) most = deep[v];
    }
    return most;
}

gn_status *gn_run_factor(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                         gir_program **out)
{
    uint32_t n = in->nodes.n;
    bool *kept, *joint, *not = GN_NEW_N(a, bool, n);
    factoring z;
    do {
        kept = GN_NEW_N(a, bool, n);
        joint = GN_NEW_N(a, bool, n);
        find_joint(a, in, opt, not, joint, kept);
        z = run(a, in, kept, joint, false);
        not[z.failed] = true;
    } while (z.failed);
    for (int round = 0; in_vain(a, &z, kept); round++) {
        for (gir_id v = 0; round == ROUNDS && v < n; v++) kept[v] = true;
        z = run(a, in, kept, joint, false);
    }
    if (layers_of(a, in, z.gone) > MOST_LAYERS) z = run(a, in, kept, GN_NEW_N(a, bool, n), true);
    *out = z.r.to;
    return NULL;
}
