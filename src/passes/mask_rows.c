/* mask_rows: rows that were added to a graph for its size alone enter nothing that others read.
 * Needs: a program over graph "g" that draws none of its edges, picks no rows that they name and
 * finds none that are nearest;
 * rows behind the user's, and edges among those rows alone.
 * Keeps: what the rows of the user and all values of no space would be without them, bit for bit:
 * what is added to a sum is 0.  But for one thing: what is drawn for an edge goes by its place, and
 * a loop added to a node comes behind all edges of g, so the added edges move its draw (dropout on
 * the loops of a graph with self-loops: other draws, as good).  Makes: an input GN_VALID_ROWS, bool
 * a node, true for the user's rows.
 *
 * Values flow between rows over edges, which do not lead out of what was added, and in sums over a
 * space: reductions (losses, norms, pools), products that contract over rows (gradients of
 * weights), and the number of rows itself.  Those read the mask; an edge is the user's where the
 * node is that it leads to. */
#include "passes/passes.h"
#include "base/data_name.h"

#include <math.h>
#include <string.h>

typedef struct masker {
    const gir_program *from;
    gir_program *p;
    gir_id *map, valid;
    gir_id *mask, *count; /* by space; 0: not made yet */
    bool *padded;         /* by space */
} masker;

static void find_padded(masker *z)
{
    const gir_program *p = z->from;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (!n->type.is_graph) continue;
        bool of_user = n->op == GIR_GRAPH && !strcmp(n->attr.name, GN_NAME_G);
        bool by_edge = (n->op >= GIR_SELF_LOOPS && n->op <= GIR_REVERSE) || n->op == GIR_FILTER ||
                       gir_draws_edges(n);
        bool derived = by_edge && z->padded[gir_type_of(p, gir_in(p, v, 0))->edge];
        if (!of_user && !derived) continue;
        z->padded[n->type.src] = z->padded[n->type.dst] = z->padded[n->type.edge] = true;
    }
}

/* bool: S, true for the user's rows. */
static gir_id mask_of(masker *z, gir_space_id s)
{
    if (z->mask[s]) return z->mask[s];
    const gir_space *space = &z->p->spaces.p[s];
    z->mask[s] = space->kind == GIR_EDGE ? gir_gather(z->p, space->graph, z->valid, GIR_DST)
                                         : z->valid;
    return z->mask[s];
}

/* f64, exact: how many rows are the user's. */
static gir_id count_of(masker *z, gir_space_id s)
{
    if (!z->count[s])
        z->count[s] = gir_space_reduce(z->p, gir_cast(z->p, mask_of(z, s), GN_F64), GIR_SUM);
    return z->count[s];
}

/* What a maximum or minimum starts from.  The largest i64 is no double: see reduced. */
static double identity(int red, gn_elem e)
{
    bool max = red == GIR_RED_MAX;
    if (red == GIR_SUM) return 0;
    switch (e) {
    case GN_U8: return max ? 0 : UINT8_MAX;
    case GN_U32: return max ? 0 : UINT32_MAX;
    case GN_I32: return max ? INT32_MIN : INT32_MAX;
    case GN_I64: return max ? -0x1p63 : 0;
    default: return max ? -(double)INFINITY : (double)INFINITY;
    }
}

/* v where the row is the user's, `other` else. */
static gir_id masked(masker *z, gir_id v, double other)
{
    gir_type t = *gir_type_of(z->p, v), b = t;
    b.elem = GN_BOOL;
    gir_id keep = gir_broadcast(z->p, mask_of(z, t.space), &b);
    return gir_op3(z->p, GIR_SELECT, keep, v, gir_const(z->p, &t, other));
}

/* A maximum of no rows is 0. */
static gir_id or_zero(masker *z, gir_id v, gir_space_id s)
{
    gir_type t = *gir_type_of(z->p, v), b = t, f = gir_tensor(GN_F64, 0, 0, NULL);
    b.elem = GN_BOOL;
    gir_id count = count_of(z, s), any = gir_op2(z->p, GIR_GT, count, gir_const(z->p, &f, 0));
    any = gir_broadcast(z->p, any, &b);
    return gir_op3(z->p, GIR_SELECT, any, v, gir_const(z->p, &t, 0));
}

/* -1 - v, of integers: turns their order round, and never overflows. */
static gir_id turned(masker *z, gir_id v)
{
    gir_type t = *gir_type_of(z->p, v);
    return gir_op2(z->p, GIR_SUB, gir_const(z->p, &t, -1), v);
}

static gir_id reduced(masker *z, gir_id v, int red)
{
    gn_elem e = (gn_elem)gir_type_of(z->p, v)->elem;
    if (e == GN_I64 && red == GIR_RED_MIN) return turned(z, reduced(z, turned(z, v), GIR_RED_MAX));
    return gir_space_reduce(z->p, masked(z, v, identity(red, e)), red);
}

static gir_id masked_node(masker *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    gir_space_id s = n->op == GIR_SIZE ? (gir_space_id)n->attr.i[0]
                     : n->n_in         ? gir_type_of(z->from, gir_in(z->from, v, 0))->space
                                       : 0;
    if (!s || !z->padded[s]) return gir_clone_node(z->p, z->from, v, z->map);
    gir_id a = n->n_in ? z->map[gir_in(z->from, v, 0)] : 0;
    if (n->op == GIR_SIZE) return gir_cast(z->p, count_of(z, s), (gn_elem)n->type.elem);
    if (n->op == GIR_SPACE_REDUCE) {
        int red = (int)n->attr.i[0];
        gir_id r = reduced(z, a, red);
        return red == GIR_SUM ? r : or_zero(z, r, s);
    }
    if (n->op == GIR_MATMUL && n->attr.i[0] && !n->type.space) {
        gir_id x = masked(z, a, 0), y = masked(z, z->map[gir_in(z->from, v, 1)], 0);
        return gir_matmul(z->p, x, y, true, n->attr.i[1] != 0);
    }
    return gir_clone_node(z->p, z->from, v, z->map);
}

/* What is drawn goes by how many edges and rows there are: added ones would be drawn too. */
static gn_status *check_draws(const masker *z)
{
    const gir_program *p = z->from;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_type *t = gir_type_of(p, v);
        bool draws = gir_draws_edges(gir_at(p, v)), names = gir_at(p, v)->op == GIR_ENDS;
        if (gir_compares_rows(gir_at(p, v)) && z->padded[t->space])
            GN_FAIL(GN_ERR_USAGE,
                    "buckets: rows are compared with all others in '%s', and what a bucket adds to "
                    "'" GN_NAME_G "' would be among them: compile without buckets",
                    p->name);
        bool padded = (draws || names) &&
                      (z->padded[t->src] || z->padded[t->dst] || z->padded[t->edge]);
        if (padded)
            GN_FAIL(GN_ERR_USAGE,
                    "buckets: %s in '%s', and what a bucket adds to "
                    "'" GN_NAME_G "' would be too: compile without buckets",
                    draws ? "edges are drawn" : "rows are updated that edges touch", p->name);
    }
    return NULL;
}

/* The space of the nodes of "g"; 0: there is none. */
static gir_space_id node_space(const gir_program *p)
{
    gir_id g = gir_leaf_by_name(p, GIR_GRAPH, GN_NAME_G);
    return g ? gir_type_of(p, g)->dst : 0;
}

gn_status *gn_pass_mask_rows(gn_arena *a, const gir_program *in, gir_program **out)
{
    uint32_t spaces = in->spaces.n;
    masker z = {.from = in,
                .p = gir_program_new(a, in->name),
                .map = GN_NEW_N(a, gir_id, in->nodes.n),
                .mask = GN_NEW_N(a, gir_id, spaces),
                .count = GN_NEW_N(a, gir_id, spaces),
                .padded = GN_NEW_N(a, bool, spaces)};
    gir_clone_frame(z.p, in);
    find_padded(&z);
    GN_TRY(check_draws(&z));
    gir_space_id nodes = node_space(in);
    if (nodes) {
        gir_type t = gir_tensor(GN_BOOL, nodes, 0, NULL);
        z.valid = gir_leaf(z.p, GIR_INPUT, GN_VALID_ROWS, &t);
    }
    for (gir_id v = 1; v < in->nodes.n; v++) z.map[v] = masked_node(&z, v);
    gir_clone_outputs(z.p, in, z.map);
    *out = z.p;
    return gir_verify(z.p);
}
