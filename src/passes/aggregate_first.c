/* aggregate_first and aggregate_picked: A (X W) becomes (A X) W where that is less work. Needs: no
 * gradients yet (they follow the new order by themselves); aggregate_picked: rows that are
 * restricted. Keeps: all outputs, up to rounding.
 *
 * aggregate_first has two reasons.  X has fewer columns than X W, so fewer travel along the edges.
 * Or X is the same in every run (options.fixed), and so is A X: it is computed once and kept
 * (hoist), and neither its forward nor its backward pass is in the step.  The other direction is
 * reassociate's, which leaves fixed aggregates alone for that reason. aggregate_picked has a third:
 * A has fewer rows than columns, as restrict_rows leaves it, so that the product and its two
 * gradients have fewer rows behind the aggregation than in front of it. Looks through scaling by a
 * number an edge.  Declines where the product or a value on the way is used elsewhere too, where
 * it is of few rows (joined_rows), and for sparse X: its product costs its non-zeros only, and A X
 * has more of them; but where A X is kept and few of its rows are read (dense_once). */
#include "passes/passes.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

typedef struct mover {
    const gir_program *from;
    gir_program *to;
    gir_id *map;
    uint32_t *uses;
    bool *fixed, *sparse; /* by value of the old program: the same in every run; of a sparse input
                           */
    bool picked;          /* aggregate_picked */
    const gn_pass_options *opt;
    gn_dense_once *once;
} mover;

/* Which operand of an edge value goes on to what was gathered; -1: none. */
static int onward(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_MUL && n->op != GIR_DIV) return -1;
    if (gn_scale_of(p, gir_in(p, v, 1))) return 0;
    return n->op == GIR_MUL && gn_scale_of(p, gir_in(p, v, 0)) ? 1 : -1;
}

bool *gn_find_from_sparse(gn_arena *a, const gir_program *in, const gn_pass_options *opt)
{
    bool *is = GN_NEW_N(a, bool, in->nodes.n);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        const gir_node *n = gir_at(in, v);
        gir_class cls = gir_ops[n->op].cls;
        for (int k = 0; n->op == GIR_INPUT && k < opt->n_sparse; k++)
            is[v] = is[v] || strcmp(opt->sparse[k], n->attr.name) == 0;
        for (int k = 0; k < n->n_in && (cls == GIR_CLASS_MAP || cls == GIR_CLASS_VIEW); k++)
            is[v] = is[v] || is[gir_in(in, v, k)];
    }
    return is;
}

/* The product under the sum over edges `v` that may go behind it; 0. */
static gir_id product_under(const mover *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_SCATTER || n->attr.i[1] != GIR_SUM || n->type.rank != 1) return 0;
    gir_id g = gir_in(p, v, 0), e = gir_in(p, v, 1);
    for (int depth = 0; z->uses[e] == 1; depth++) {
        const gir_node *m = gir_at(p, e);
        if (m->op == GIR_GATHER && gir_in(p, e, 0) == g && m->attr.i[0] != n->attr.i[0]) break;
        int k = onward(p, e);
        if (k < 0 || depth > MAX_DEPTH) return 0;
        e = gir_in(p, e, k);
    }
    if (z->uses[e] != 1) return 0;
    gir_id y = gir_in(p, e, 1);
    const gir_node *m = gir_at(p, y);
    if (m->op != GIR_MATMUL || !m->type.space || m->attr.i[0] || m->attr.i[1] || z->uses[y] != 1)
        return 0;
    return gn_is_joined(p, y) ? 0 : y;
}

int gn_pick_level(const gir_program *p, gir_id pick)
{
    int level = 0;
    for (; gir_at(p, pick)->op == GIR_GROW; pick = gir_in(p, pick, 0)) level++;
    return gir_at(p, pick)->op == GIR_SUBSET ? level : -1;
}

/* How many edges there are for a source that is no destination, by the data; two where nothing is
 * known of it. */
static double edges_a_source(const gn_pass_options *opt, const gir_program *p,
                             const gir_node *restricted)
{
    const gn_data_facts *f = &opt->facts;
    int level = gn_pick_level(p, p->operands.p[restricted->first_in + restricted->n_in - 1]);
    if (f->all.rows <= 0 || level < 0 || level >= opt->levels) return 2;
    bool some = (restricted->attr.i[0] & 1) && level + 1 < opt->levels;
    int64_t sources = some ? f->level[level + 1].rows : f->all.rows, rows = f->level[level].rows;
    return sources > rows ? (double)f->level[level].edges / (double)(sources - rows) : HUGE_VAL;
}

/* The sum v is over edges into picked rows.  With k columns of X and n of X W, every source that is
 * no destination saves 3 k n multiply-adds, and every edge costs 2 (k - n) columns more, forwards
 * and backwards, each as long as four of them. Without levels rows were picked by an earlier run,
 * which knew more. */
static bool pays_picked(const mover *z, gir_id v, int64_t k, int64_t n)
{
    const gir_program *p = z->from;
    const gir_node *sum = gir_at(p, v), *g = gir_at(p, gir_in(p, v, 0));
    bool picked = g->op == GIR_RESTRICT && (g->attr.i[0] & 2) && sum->attr.i[0] == GIR_DST;
    if (!picked || k <= n) return picked;
    return z->opt->levels > 0 &&
           3 * (double)k * (double)n >= 8 * (double)(k - n) * edges_a_source(z->opt, p, g);
}

/* Is A, whose edges are scaled on the way to e, the same in every run? */
static bool fixed_edges(const mover *z, gir_id e)
{
    const gir_program *p = z->from;
    while (gir_at(p, e)->op != GIR_GATHER) {
        int k = onward(p, e);
        if (!z->fixed[gn_scale_of(p, gir_in(p, e, 1 - k))]) return false;
        e = gir_in(p, e, k);
    }
    return z->fixed[gir_in(p, e, 0)];
}

static bool pays(const mover *z, gir_id v, gir_id y)
{
    const gir_program *p = z->from;
    gir_id x = gir_in(p, y, 0);
    int64_t k = gir_type_of(p, x)->dim[0], n = gir_type_of(p, y)->dim[0];
    bool once = !z->picked && z->fixed[x] && fixed_edges(z, gir_in(p, v, 1));
    if (z->sparse[x]) return once && gn_is_dense_once(z->once, v, k);
    return z->picked ? pays_picked(z, v, k, n) : once || k < n;
}

/* The edge value with x gathered in place of the product. */
static gir_id on_edges(mover *z, gir_id e, gir_id x)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, e);
    if (n->op == GIR_GATHER)
        return gir_gather(z->to, z->map[gir_in(p, e, 0)], x, (int)n->attr.i[0]);
    int k = onward(p, e);
    gir_id inner = on_edges(z, gir_in(p, e, k), x), s = gn_scale_of(p, gir_in(p, e, 1 - k));
    gir_id scale = gn_spread_scale(p, z->to, z->map, s, gir_type_of(z->to, inner));
    gir_op op = (gir_op)n->op;
    return k == 0 ? gir_op2(z->to, op, inner, scale) : gir_op2(z->to, op, scale, inner);
}

static gir_program *moved(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                          bool picked)
{
    mover z = {.from = in,
               .to = gir_program_new(a, in->name),
               .sparse = gn_find_from_sparse(a, in, opt),
               .picked = picked,
               .opt = opt,
               .once = gn_dense_once_new(a, in, opt),
               .map = GN_NEW_N(a, gir_id, in->nodes.n),
               .uses = gir_count_uses(a, in),
               .fixed = gn_find_fixed(a, in, opt->n_fixed, opt->fixed)};
    gir_clone_frame(z.to, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        z.to->loc = gir_at(in, v)->loc;
        gir_id y = product_under(&z, v);
        if (!y || !pays(&z, v, y)) {
            z.map[v] = gir_clone_node(z.to, in, v, z.map);
            continue;
        }
        const gir_node *n = gir_at(in, v);
        gir_id e = on_edges(&z, gir_in(in, v, 1), z.map[gir_in(in, y, 0)]);
        gir_id sum = gir_scatter(z.to, z.map[gir_in(in, v, 0)], e, (int)n->attr.i[0], GIR_SUM);
        z.map[v] = gir_matmul(z.to, sum, z.map[gir_in(in, y, 1)], false, false);
    }
    gir_clone_outputs(z.to, in, z.map);
    return z.to;
}

gn_status *gn_run_aggregate_first(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                                  gir_program **out)
{
    *out = moved(a, in, opt, false);
    return NULL;
}

gn_status *gn_run_aggregate_picked(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                                   gir_program **out)
{
    *out = moved(a, in, opt, true);
    return NULL;
}
