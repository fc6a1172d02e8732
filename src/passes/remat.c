/* remat: what a gradient of weights reads again is computed again, not kept. Needs: gradients have
 * been taken; nothing that shares equal values comes after it.  Keeps: all outputs, bit by bit.
 * Breaks: a value may be there twice.
 *
 * A wide value of the forward pass that a product over the rows reads late in the step is in memory
 * all the while.  Where it comes of other values that are in memory until then anyway -- inputs,
 * states, what late readers want -- by a few elementwise operators, its late readers get a copy,
 * which is made just before the first of them: an ELU of a sum that its own gradient needs, a GIN's
 * (1 + e) x + A x.  That costs reading the operands and writing the copy.
 *
 * Declines where the value takes less than LEAST bytes or sizes are not known, where little is
 * computed between early and late readers, and where it takes more than a few operators or anything
 * that is not elementwise. */
#include "passes/passes.h"

#include <string.h>

enum { LEAST = 1 << 26, MOST_STEPS = 64, MOST_FUNCTIONS = 2, BETWEEN = 4 };

typedef struct rematter {
    const gir_program *from;
    gir_program *to;
    gir_id *map;
    gir_id *last;  /* by value: its last reader */
    gir_id *first; /* by value: the first of its late readers, a product over the rows; 0: it has
                      one copy */
    gir_id *copy;  /* of the walk at hand */
    int steps, functions;
    const gn_pass_options *opt;
} rematter;

/* What is kept in 16 bits counts as if it were not, so that both are decided alike. */
static int64_t row_bytes(const gir_program *p, gir_id v)
{
    const gir_type *t = gir_type_of(p, v);
    bool half = t->elem == GN_BF16 || t->elem == GN_F16;
    return gir_row_elems(t) * (int64_t)gn_elem_size(half ? GN_F32 : (gn_elem)t->elem);
}

static bool is_large(const rematter *z, gir_id v)
{
    const gir_type *t = gir_type_of(z->from, v);
    int64_t bytes, rows = t->is_graph ? 0 : gn_expected_rows(z->from, t->space, z->opt);
    if (rows == 0) return false;
    return __builtin_mul_overflow(rows, row_bytes(z->from, v), &bytes) || bytes >= LEAST;
}

static bool is_output(const gir_program *p, gir_id v)
{
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].value == v) return true;
    return false;
}

static bool is_function(gir_op op)
{
    switch (op) {
    case GIR_ADD:
    case GIR_SUB:
    case GIR_MUL:
    case GIR_NEG:
    case GIR_ABS:
    case GIR_MAX:
    case GIR_MIN:
    case GIR_GT:
    case GIR_GE:
    case GIR_NLE:
    case GIR_SELECT:
    case GIR_AND: return false;
    default: return true;
    }
}

/* Can v be computed again in front of value `late`, of what is in memory then? */
static bool is_cheap(rematter *z, gir_id v, gir_id late, bool top)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_class cls = gir_ops[n->op].cls;
    if (n->op == GIR_INPUT || n->op == GIR_STATE || n->op == GIR_CONST) return true;
    if (!top && z->last[v] >= late)
        return !n->type.is_graph && !n->type.space ? cls != GIR_CLASS_RANDOM : true;
    if ((cls != GIR_CLASS_MAP && cls != GIR_CLASS_VIEW) || ++z->steps > MOST_STEPS) return false;
    bool rounds = n->op == GIR_CAST &&
                  gn_elem_is_float((gn_elem)gir_type_of(p, gir_in(p, v, 0))->elem);
    if (cls == GIR_CLASS_MAP && !rounds) z->functions += is_function((gir_op)n->op);
    for (int k = 0; k < n->n_in; k++)
        if (!is_cheap(z, gir_in(p, v, k), late, false)) return false;
    return z->functions <= MOST_FUNCTIONS;
}

/* The first product over the rows that reads v; 0. */
static gir_id first_contraction(const gir_program *p, gir_id v)
{
    for (gir_id u = v + 1; u < p->nodes.n; u++) {
        const gir_node *n = gir_at(p, u);
        if (n->op == GIR_MATMUL && n->attr.i[0] && (gir_in(p, u, 0) == v || gir_in(p, u, 1) == v))
            return u;
    }
    return 0;
}

/* Is v in memory before that for others, and for long?  While it waits, sums over edges and
 * products are made of a BETWEENth of its bytes at least. */
static bool waits(const rematter *z, gir_id v, gir_id late)
{
    const gir_program *p = z->from;
    gir_id early = 0;
    int64_t made = 0;
    for (gir_id u = v + 1; u < late; u++) {
        const gir_node *n = gir_at(p, u);
        for (int k = 0; k < n->n_in; k++)
            if (gir_in(p, u, k) == v) early = u;
        bool sum = (n->op == GIR_MATMUL || n->op == GIR_SCATTER) &&
                   n->type.space == gir_type_of(p, v)->space;
        if (early == u)
            made = 0;
        else if (early && sum)
            made += row_bytes(p, u);
    }
    return early && made >= row_bytes(p, v) / BETWEEN;
}

static void find(rematter *z, gir_id v)
{
    const gir_program *p = z->from;
    if (gir_ops[gir_at(p, v)->op].cls != GIR_CLASS_MAP || !is_large(z, v) || is_output(p, v))
        return;
    gir_id late = first_contraction(p, v);
    if (!late || !waits(z, v, late)) return;
    z->steps = z->functions = 0;
    if (is_cheap(z, v, late, true)) z->first[v] = late;
}

/* v again, of what is alive then. */
static gir_id again(rematter *z, gir_id v, gir_id late, bool top)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    bool there = n->op == GIR_INPUT || n->op == GIR_STATE || n->op == GIR_CONST ||
                 (!top && z->last[v] >= late);
    if (there) return z->map[v];
    if (z->copy[v]) return z->copy[v];
    gir_id *was = GN_NEW_N(z->to->arena, gir_id, n->n_in + 1);
    for (int k = 0; k < n->n_in; k++) {
        gir_id o = gir_in(p, v, k), made = again(z, o, late, false);
        was[k] = z->map[o];
        z->map[o] = made;
    }
    gir_id to = gir_clone_node(z->to, p, v, z->map);
    for (int k = n->n_in; k-- > 0;) z->map[gir_in(p, v, k)] = was[k];
    return z->copy[v] = to;
}

gn_status *gn_run_remat(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                        gir_program **out)
{
    uint32_t n = in->nodes.n;
    rematter z = {.from = in, .to = gir_program_new(a, in->name), .opt = opt};
    z.map = GN_NEW_N(a, gir_id, n);
    z.last = GN_NEW_N(a, gir_id, n);
    z.first = GN_NEW_N(a, gir_id, n);
    z.copy = GN_NEW_N(a, gir_id, n);
    gir_clone_frame(z.to, in);
    for (gir_id v = 1; v < n; v++)
        for (int k = 0; k < gir_at(in, v)->n_in; k++) z.last[gir_in(in, v, k)] = v;
    for (gir_id v = 1; v < n; v++) find(&z, v);
    for (gir_id v = 1; v < n; v++) {
        z.to->loc = gir_at(in, v)->loc;
        for (int k = 0; k < gir_at(in, v)->n_in; k++) {
            gir_id o = gir_in(in, v, k);
            if (!z.first[o] || z.first[o] != v) continue;
            memset(z.copy, 0, n * sizeof *z.copy);
            z.map[o] = again(&z, o, v, true);
        }
        z.map[v] = gir_clone_node(z.to, in, v, z.map);
    }
    gir_clone_outputs(z.to, in, z.map);
    *out = z.to;
    return NULL;
}
