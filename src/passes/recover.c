/* recover: what a value that is in memory anyway tells is not stored beside it. Needs: gradients
 * have been taken.  Keeps: all outputs.  Breaks: nothing; dead values are left behind.
 *
 * For y = select(x > 0, x, e) with e never positive (leaky relu, elu, selu), y > 0 says the same as
 * x > 0, and where it does not hold, y is e.  Gradients of such functions are selects by x > 0 that
 * read e: they are made to read y alone where a matrix product or an edge reads y, which is what
 * keeps it in memory.  Otherwise x > 0 is a byte to y's four: declines.  So it is where e is a
 * number and only the forward pass reads y, which a gradient would keep beyond that. A relu's test
 * is `nle x, 0`, which holds for a NaN: `nle y, 0` says the same where e is a number.
 *
 * What a relu lets through and dropout keeps is first made one condition: select(k, select(x > 0, 2
 * x, 0), 0) becomes select(k and x > 0, 2 x, 0), forwards and backwards, so that one mask is stored
 * for two, or none. */
#include "passes/passes.h"
#include "passes/rewrite.h"

enum { DEEPEST = 4 };

typedef struct chosen {
    gir_id cond, x, e, y; /* in the new program */
    gir_op test;          /* of cond, and so of y: GIR_GT or GIR_NLE */
} chosen;

typedef struct recovering {
    gn_rewrite r;
    bool *in_memory;  /* by value of the old program: products and edges read it */
    bool *contracted; /* likewise: a product over the rows does, which is a gradient of weights */
    uint32_t *uses;
    GN_VEC(chosen) all;
} recovering;

/* GIR_GT where cond is x > 0, GIR_NLE where it is not x <= 0, else 0. */
static gir_op positive_test(const gir_program *p, gir_id cond, gir_id x)
{
    double zero;
    gir_op op = (gir_op)gir_at(p, cond)->op;
    if ((op != GIR_GT && op != GIR_NLE) || gir_in(p, cond, 0) != x) return 0;
    return gir_is_number(p, gir_in(p, cond, 1), &zero) && zero == 0 ? op : 0;
}

/* How cond, which may ask for more than that, says that x is positive, or that of which x is no
 * smaller a multiple; 0. */
static gir_op says_positive(const gir_program *p, gir_id cond, gir_id x, int depth)
{
    double c;
    const gir_node *n = gir_at(p, cond), *m = gir_at(p, x);
    gir_op test = positive_test(p, cond, x);
    if (test || depth == DEEPEST) return test;
    if (n->op == GIR_AND) {
        test = says_positive(p, gir_in(p, cond, 0), x, depth + 1);
        return test ? test : says_positive(p, gir_in(p, cond, 1), x, depth + 1);
    }
    for (int k = 0; k < 2 && m->op == GIR_MUL; k++)
        if (gir_is_number(p, gir_in(p, x, k), &c) && c >= 1)
            return says_positive(p, cond, gir_in(p, x, 1 - k), depth + 1);
    return 0;
}

/* Is v never above 0?  (NaN is not.) */
static bool never_positive(const gir_program *p, gir_id v, int depth)
{
    double c;
    const gir_node *n = gir_at(p, v);
    if (gir_is_number(p, v, &c)) return c <= 0;
    if (depth == DEEPEST) return false;
    switch ((gir_op)n->op) {
    case GIR_EXPM1: return never_positive(p, gir_in(p, v, 0), depth + 1);
    case GIR_MIN:
        return never_positive(p, gir_in(p, v, 0), depth + 1) ||
               never_positive(p, gir_in(p, v, 1), depth + 1);
    case GIR_MUL:
        for (int k = 0; k < 2; k++)
            if (gir_is_number(p, gir_in(p, v, k), &c) && c >= 0)
                return never_positive(p, gir_in(p, v, 1 - k), depth + 1);
        return false;
    case GIR_SELECT:
        return never_positive(p, gir_in(p, v, 1), depth + 1) &&
               (positive_test(p, gir_in(p, v, 0), gir_in(p, v, 2)) ||
                never_positive(p, gir_in(p, v, 2), depth + 1));
    default: return false;
    }
}

static bool views_of_itself(gir_op op) { return op == GIR_RESHAPE || op == GIR_DETACH; }

/* Values that products and edges read, through reshapes. */
static void find_in_memory(recovering *z)
{
    const gir_program *p = z->r.from;
    for (gir_id v = p->nodes.n; v-- > 1;) {
        const gir_node *n = gir_at(p, v);
        bool view = views_of_itself((gir_op)n->op);
        for (int k = 0; k < n->n_in; k++) {
            gir_id o = gir_in(p, v, k);
            if (n->op == GIR_MATMUL || n->op == GIR_GATHER || (view && z->in_memory[v]))
                z->in_memory[o] = true;
            if ((n->op == GIR_MATMUL && n->attr.i[0]) || (view && z->contracted[v]))
                z->contracted[o] = true;
        }
    }
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        gir_id v = p->outputs.p[k].value;
        z->in_memory[v] = z->contracted[v] = true;
    }
}

static void note(recovering *z, gir_id v)
{
    const gir_program *to = z->r.to;
    gir_id y = z->r.map[v];
    double number_of;
    if (gir_at(to, y)->op != GIR_SELECT) return;
    chosen c = {.cond = gir_in(to, y, 0), .x = gir_in(to, y, 1), .e = gir_in(to, y, 2), .y = y};
    bool number = gir_is_number(to, c.e, &number_of);
    if (number ? !z->contracted[v] : !z->in_memory[v]) return;
    if (!gn_elem_is_float((gn_elem)gir_type_of(to, y)->elem)) return;
    c.test = says_positive(to, c.cond, c.x, 0);
    if (!c.test || (c.test == GIR_NLE && !number)) return;
    if (never_positive(to, c.e, 0)) GN_PUSH(to->arena, z->all, c);
}

/* v with y for e, where e is an operand of a few operators down. */
static gir_id with_y(recovering *z, const chosen *c, gir_id v, int depth)
{
    const gir_node n = *gir_at(z->r.to, v);
    double number_of;
    if (v == c->e && !gir_is_number(z->r.to, v, &number_of)) return c->y;
    if (gir_ops[n.op].cls != GIR_CLASS_MAP || n.n_in == 0 || n.n_in > 3 || depth == DEEPEST)
        return v;
    gir_id in[3];
    bool same = true;
    for (int k = 0; k < n.n_in; k++) {
        in[k] = with_y(z, c, gir_in(z->r.to, v, k), depth + 1);
        same = same && in[k] == gir_in(z->r.to, v, k);
    }
    return same ? v : gn_rewrite_share(&z->r, (gir_op)n.op, n.n_in, in, &n.attr, &n.type);
}

/* select(a, select(b, x, 0), 0), the inner one read here alone: by both conditions at once, in one
 * order. */
static bool join_conditions(recovering *z, gir_id v, gir_id *cond, gir_id *yes)
{
    gir_program *to = z->r.to;
    gir_id inner = gir_in(z->r.from, v, 1), s = *yes;
    if (z->uses[inner] != 1 || gir_at(to, s)->op != GIR_SELECT ||
        !gir_is_zero(to, gir_in(to, s, 2)) || !gir_is_zero(to, z->r.map[gir_in(z->r.from, v, 2)]))
        return false;
    gir_id a = *cond, b = gir_in(to, s, 0);
    *cond = gn_rewrite_make(&z->r, GIR_AND, 2, (const gir_id[]){a < b ? a : b, a < b ? b : a}, NULL,
                            NULL);
    *yes = gir_in(to, s, 1);
    return true;
}

/* A select of a select; a later select by a condition that is known. */
static gir_id rewritten(recovering *z, gir_id v)
{
    const gir_node *n = gir_at(z->r.from, v);
    if (n->op != GIR_SELECT) return 0;
    gir_id cond = z->r.map[gir_in(z->r.from, v, 0)], yes = z->r.map[gir_in(z->r.from, v, 1)],
           no = z->r.map[gir_in(z->r.from, v, 2)];
    bool joined = join_conditions(z, v, &cond, &yes);
    for (uint32_t k = 0; k < z->all.n; k++) {
        const chosen *c = &z->all.p[k];
        if (c->cond != cond || (c->x == yes && c->e == no)) continue;
        gir_type t = *gir_type_of(z->r.to, c->y);
        gir_id zero = gn_rewrite_make(&z->r, GIR_CONST, 0, NULL, &(gir_attr){.f = 0}, &t);
        gir_id positive = gn_rewrite_make(&z->r, c->test, 2, (const gir_id[]){c->y, zero}, NULL,
                                          NULL);
        no = with_y(z, c, no, 0);
        return gn_rewrite_make(&z->r, GIR_SELECT, 3, (const gir_id[]){positive, yes, no}, NULL,
                               NULL);
    }
    return joined
               ? gn_rewrite_make(&z->r, GIR_SELECT, 3, (const gir_id[]){cond, yes, no}, NULL, NULL)
               : 0;
}

gn_status *gn_run_recover(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                          gir_program **out)
{
    (void)opt;
    recovering z = {.r = gn_rewrite_new(a, in), .in_memory = GN_NEW_N(a, bool, in->nodes.n)};
    z.contracted = GN_NEW_N(a, bool, in->nodes.n);
    z.uses = gir_count_uses(a, in);
    find_in_memory(&z);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        z.r.to->loc = gir_at(in, v)->loc;
        gir_id to = rewritten(&z, v);
        if (to)
            z.r.map[v] = to;
        else
            gn_rewrite_copy(&z.r, v);
        note(&z, v);
    }
    gn_rewrite_outputs(&z.r);
    *out = z.r.to;
    return NULL;
}
