/* joined_rows: products of rows that a relation joins are made of those rows alone, where they are
 * few.
 * Needs: gradients already taken.  Keeps: all outputs, up to the order of summation and to terms
 * 0 * x that are no longer added.  Off where nothing is known of the data (options.ends).
 *
 * A graph of many kinds of facts has a product for each of them, and each kind joins few of the
 * nodes: what is summed up over its edges is 0 in all other rows, and so is what is multiplied with
 * a matrix then.  Such a value is made of picked rows, those at that end of any edge, by way of the
 * relation between them; a sum with other values adds it to its rows.  Likewise what edges of one
 * kind alone read is made of the rows that they read.
 *
 * An end of a relation is a key; every value has at most one on whose rows it is made (`on`).  Edge
 * values are made again for each choice of ends that are picked. */
#include "passes/passes.h"
#include "passes/rewrite.h"

#include <string.h>

enum { FEW = 4 }; /* rows that are joined, times this, are no more than all rows */

typedef uint32_t key; /* graph * 2 + end; 0: none */
enum { ALL = 1 };     /* a need: all rows */

typedef enum edge_use { UNREAD, SUMMED, KEPT } edge_use; /* SUMMED: by scatters alone */

typedef struct joiner {
    const gir_program *from;
    const gn_pass_options *opt;
    gn_rewrite r;    /* map: all rows, and edges of whole graphs */
    bool *few;       /* by key: few rows are joined there */
    key *zero;       /* by value: it is 0 in rows that this end does not join */
    bool *multiply;  /* it is zero elsewhere, and a product reads it or is it */
    key *need;       /* what its readers need: rows of an end, or ALL */
    uint8_t *edges;  /* edge_use */
    key *on;         /* on whose rows it is made; 0: all */
    gir_id *some;    /* what it is there, in r.to */
    gir_id *pick;    /* by key: the rows that it joins, in r.to */
    gir_id *some_of; /* by graph * 4 + ends: the relation between such rows, in r.to */
    uint8_t *ends;   /* by edge value: the ends that are picked where it reads what is made of some
                        rows: bits 1 << end */
} joiner;

static bool over_rows(const gir_program *p, gir_id v)
{
    const gir_type *t = gir_type_of(p, v);
    return !t->is_graph && t->space && p->spaces.p[t->space].kind != GIR_EDGE;
}

static bool over_edges(const gir_program *p, gir_id v)
{
    const gir_type *t = gir_type_of(p, v);
    return !t->is_graph && p->spaces.p[t->space].kind == GIR_EDGE;
}

bool gn_is_joined(const gir_program *p, gir_id v)
{
    gir_id pick = p->spaces.p[gir_type_of(p, v)->space].graph;
    return pick && over_rows(p, v) && gir_at(p, pick)->op == GIR_GROW && gir_at(p, pick)->n_in == 1;
}

/* Ends that join few rows ---------------------------------------------------------------------- */

/* An end of a relation, which is another one's that is turned round. */
static key end_of(const gir_program *p, gir_id g, int end)
{
    for (; gir_at(p, g)->op == GIR_REVERSE; g = gir_in(p, g, 0)) end = 1 - end;
    return g * 2 + (key)end;
}

/* Into picked rows no edge may lead: that is known, too. */
static bool are_few(const gn_ends *e, int64_t joined, int64_t rows)
{
    return (joined > 0 || e->picked) && joined <= rows / FEW;
}

/* Which ends join few rows?  Is there one? */
static bool find_few(joiner *z)
{
    bool any = false;
    for (gir_id g = 1; g < z->from->nodes.n; g++) {
        const gn_ends *e = gn_known_ends(z->from, g, z->opt);
        z->few[2 * g] = e && are_few(e, e->joined_src, e->src);
        z->few[2 * g + 1] = e && are_few(e, e->joined_dst, e->dst);
        any = any || z->few[2 * g] || z->few[2 * g + 1];
    }
    return any;
}

/* The end, if few rows are joined there; else 0. */
static key few_at(const joiner *z, gir_id g, int end)
{
    key k = end_of(z->from, g, end);
    return z->few[k] ? k : 0;
}

/* What is zero, from the operands on ------------------------------------------------------------
 */

/* Is it no 0 anywhere, nor NaN?  As max(degree, 1) is not. */
static bool divides(const gir_program *p, gir_id v)
{
    double x;
    while (gir_at(p, v)->op == GIR_BROADCAST || gir_at(p, v)->op == GIR_RESHAPE ||
           gir_at(p, v)->op == GIR_CAST)
        v = gir_in(p, v, 0);
    if (gir_is_number(p, v, &x)) return x > 0;
    if (gir_at(p, v)->op != GIR_MAX) return false;
    return (gir_is_number(p, gir_in(p, v, 0), &x) && x > 0) ||
           (gir_is_number(p, gir_in(p, v, 1), &x) && x > 0);
}

static key zero_of(const joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    key a = n->n_in > 0 ? z->zero[gir_in(p, v, 0)] : 0,
        b = n->n_in > 1 ? z->zero[gir_in(p, v, 1)] : 0;
    switch ((gir_op)n->op) {
    case GIR_SCATTER:
        return n->attr.i[1] == GIR_SUM ? few_at(z, gir_in(p, v, 0), (int)n->attr.i[0]) : 0;
    case GIR_MUL: return a ? a : b;
    case GIR_DIV: return divides(p, gir_in(p, v, 1)) ? a : 0;
    case GIR_ADD:
    case GIR_SUB: return a == b ? a : 0;
    case GIR_REDUCE: return n->attr.i[0] == GIR_SUM ? a : 0;
    case GIR_MATMUL: return n->attr.i[0] ? 0 : a;
    case GIR_NEG:
    case GIR_BROADCAST:
    case GIR_RESHAPE:
    case GIR_TRANSPOSE:
    case GIR_SLICE:
    case GIR_PAD: return a;
    default: return 0;
    }
}

static bool is_product(const gir_program *p, gir_id v)
{
    return gir_at(p, v)->op == GIR_MATMUL && !gir_at(p, v)->attr.i[0] && over_rows(p, v);
}

/* A contraction over rows: the end outside of which an operand of it is 0. */
static key contracted(const joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    if (gir_at(p, v)->op != GIR_MATMUL || !gir_at(p, v)->attr.i[0]) return 0;
    key a = z->zero[gir_in(p, v, 0)];
    return a ? a : z->zero[gir_in(p, v, 1)];
}

static void look_forward(joiner *z)
{
    const gir_program *p = z->from;
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (over_rows(p, v)) z->zero[v] = zero_of(z, v);
}

/* What is needed, from the outputs back ---------------------------------------------------------
 */

static void want(joiner *z, gir_id o, key k)
{
    if (over_rows(z->from, o)) z->need[o] = !z->need[o] || z->need[o] == k ? k : ALL;
    if (over_edges(z->from, o)) z->edges[o] = KEPT;
}

static void sum_edges(joiner *z, gir_id o)
{
    if (z->edges[o] == UNREAD) z->edges[o] = SUMMED;
}

/* Operands of a value over edges. */
static void need_of_edges(joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    bool summed = z->edges[v] == SUMMED;
    if (n->op == GIR_GATHER) {
        key k = summed ? few_at(z, gir_in(p, v, 0), (int)n->attr.i[0]) : 0;
        want(z, gir_in(p, v, 1), k ? k : ALL);
        return;
    }
    for (int k = 0; k < n->n_in; k++) {
        if (summed && gn_is_by_rows(p, v) && over_edges(p, gir_in(p, v, k)))
            sum_edges(z, gir_in(p, v, k));
        else
            want(z, gir_in(p, v, k), ALL);
    }
}

/* Of whose rows v is made, and what it needs of its operands. */
static void need_of_rows(joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    key k = z->need[v];
    bool some = z->zero[v] && (z->multiply[v] || is_product(p, v));
    if (some) z->on[v] = z->zero[v];
    if (!some && k > ALL && gn_is_by_rows(p, v) && !gn_is_made_up(p, v)) z->on[v] = k;
    for (int j = 0; j < gir_at(p, v)->n_in; j++) {
        gir_id o = gir_in(p, v, j);
        want(z, o, z->on[v] ? z->on[v] : ALL);
        if (z->on[v] && z->zero[o] == z->on[v]) z->multiply[o] = true;
    }
}

static void need_of(joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    key k = contracted(z, v);
    if (n->op == GIR_SCATTER) {
        if (z->zero[v] && z->multiply[v]) z->on[v] = z->zero[v];
        sum_edges(z, gir_in(p, v, 1));
        return;
    }
    if (over_rows(p, v)) {
        need_of_rows(z, v);
        return;
    }
    if (over_edges(p, v)) {
        need_of_edges(z, v);
        return;
    }
    for (int j = 0; j < n->n_in; j++) {
        gir_id o = gir_in(p, v, j);
        want(z, o, k ? k : ALL);
        if (k && z->zero[o] == k) z->multiply[o] = true;
    }
}

static void look_back(joiner *z)
{
    const gir_program *p = z->from;
    for (uint32_t k = 0; k < p->outputs.n; k++) want(z, p->outputs.p[k].value, ALL);
    for (gir_id v = p->nodes.n - 1; v > 0; v--) need_of(z, v);
}

/* The new program -------------------------------------------------------------------------------
 */

static gir_id whole(joiner *z, gir_id v);

static gir_id make(joiner *z, gir_op op, int n, const gir_id *in, const gir_attr *attr)
{
    return gn_rewrite_make(&z->r, op, n, in, attr, NULL);
}

/* The rows that an end joins; what reads them may stand before the graph. */
static gir_id pick_of(joiner *z, key k)
{
    gir_id g = whole(z, k / 2);
    if (!z->pick[k]) z->pick[k] = make(z, GIR_GROW, 1, &g, &(gir_attr){.i = {k % 2}});
    return z->pick[k];
}

/* The operator on rows of another space, or edges of another graph. */
static gir_id move(joiner *z, gir_id v, gir_space_id space, const gir_id *in)
{
    const gir_node *n = gir_at(z->from, v);
    gir_type t = gn_rewrite_type(&z->r, v);
    t.space = space;
    return gn_rewrite_share(&z->r, (gir_op)n->op, n->n_in, in, &n->attr, &t);
}

/* v on the rows of an end. */
static gir_id part(joiner *z, gir_id v, key k)
{
    const gir_program *p = z->from;
    if (!over_rows(p, v)) return whole(z, v);
    if (z->on[v] == k) return z->some[v];
    gir_id pick = pick_of(z, k);
    if (gn_is_made_up(p, v)) {
        gir_id in = gir_at(p, v)->n_in ? whole(z, gir_in(p, v, 0)) : 0;
        return move(z, v, gir_type_of(z->r.to, pick)->dst, &in);
    }
    gir_id in[2] = {pick, whole(z, v)};
    return make(z, GIR_TAKE, 2, in, NULL);
}

/* The relation g between the rows that it joins, at the ends that are bits of `ends`. */
static gir_id between(joiner *z, gir_id g, unsigned ends)
{
    gir_id in[3] = {whole(z, g)}, *to = &z->some_of[g * 4 + ends];
    int n = 1;
    if (!ends || *to) return ends ? *to : in[0];
    for (int end = 0; end < 2; end++)
        if (ends >> end & 1) in[n++] = pick_of(z, end_of(z->from, g, end));
    return *to = make(z, GIR_RESTRICT, n, in, &(gir_attr){.i = {ends}});
}

/* An edge value of g, with rows of those ends picked. */
static gir_id edge_value(joiner *z, gir_id v, gir_id g, unsigned ends)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    if (!over_edges(p, v)) return whole(z, v);
    if (!ends) return whole(z, v);
    gir_id h = between(z, g, ends);
    if (n->op == GIR_GATHER && gir_in(p, v, 0) == g) {
        int end = (int)n->attr.i[0];
        gir_id x = gir_in(p, v, 1);
        gir_id in[2] = {h, 0};
        in[1] = ends >> end & 1 ? part(z, x, end_of(p, g, end)) : whole(z, x);
        return make(z, GIR_GATHER, 2, in, &n->attr);
    }
    if (gn_is_by_rows(p, v)) {
        gir_id *in = GN_NEW_N(z->r.to->arena, gir_id, n->n_in + 1);
        for (int k = 0; k < n->n_in; k++) in[k] = edge_value(z, gir_in(p, v, k), g, ends);
        return move(z, v, gir_type_of(z->r.to, h)->edge, in);
    }
    gir_type fill = gn_rewrite_type(&z->r, v);
    fill.space = gir_type_of(z->r.to, h)->dst;
    gir_id in[4] = {h, whole(z, g), whole(z, v), 0};
    in[3] = gn_rewrite_share(&z->r, GIR_CONST, 0, NULL, &(gir_attr){.f = 0}, &fill);
    return make(z, GIR_CARRY, 4, in, NULL);
}

/* Rows of an end among all, which are 0 elsewhere. */
static gir_id put(joiner *z, gir_id x, key k)
{
    gir_id pick = pick_of(z, k), in[2] = {pick, x};
    in[1] = make(z, GIR_GATHER, 2, in, &(gir_attr){.i = {GIR_DST}});
    return make(z, GIR_SCATTER, 2, in, &(gir_attr){.i = {GIR_SRC, GIR_SUM}});
}

/* The ends of g that are picked where edge value v reads rows of them. */
static unsigned ends_of(joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    unsigned ends = 0;
    if (n->op == GIR_GATHER) {
        int end = (int)n->attr.i[0];
        key k = few_at(z, gir_in(p, v, 0), end);
        return k && z->on[gir_in(p, v, 1)] == k ? 1u << end : 0;
    }
    for (int k = 0; k < n->n_in && gn_is_by_rows(p, v); k++)
        if (over_edges(p, gir_in(p, v, k))) ends |= z->ends[gir_in(p, v, k)];
    return ends;
}

/* A sum over edges: of picked rows, and set among all where all are asked for. */
static gir_id sum_up(joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_id g = gir_in(p, v, 0), m = gir_in(p, v, 1);
    int end = (int)n->attr.i[0];
    unsigned ends = z->ends[m] | (z->on[v] ? 1u << end : 0);
    gir_id in[2] = {between(z, g, ends), 0};
    in[1] = edge_value(z, m, g, ends);
    return make(z, GIR_SCATTER, 2, in, &n->attr);
}

/* v of all rows, or of all edges. */
static gir_id whole(joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_id *to = &z->r.map[v];
    if (*to) return *to;
    z->r.to->loc = n->loc;
    if (z->on[v]) return *to = put(z, z->some[v], z->on[v]);
    if (n->op == GIR_SCATTER && z->ends[gir_in(p, v, 1)]) {
        gir_id x = sum_up(z, v);
        bool picked = z->ends[gir_in(p, v, 1)] >> n->attr.i[0] & 1;
        return *to = picked ? put(z, x, end_of(p, gir_in(p, v, 0), (int)n->attr.i[0])) : x;
    }
    key k = contracted(z, v);
    for (int j = 0; j < n->n_in && !k; j++) (void)whole(z, gir_in(p, v, j));
    if (!k) return gn_rewrite_copy(&z->r, v);
    gir_id in[2] = {part(z, gir_in(p, v, 0), k), 0};
    in[1] = part(z, gir_in(p, v, 1), k);
    return *to = move(z, v, 0, in);
}

static void rebuild(joiner *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    z->r.to->loc = n->loc;
    if (over_edges(p, v)) z->ends[v] = z->edges[v] == SUMMED ? (uint8_t)ends_of(z, v) : 0;
    if (!z->on[v]) {
        if (!over_edges(p, v) || z->edges[v] != SUMMED) (void)whole(z, v);
        return;
    }
    if (n->op == GIR_SCATTER) {
        z->some[v] = sum_up(z, v);
        return;
    }
    gir_id *in = GN_NEW_N(z->r.to->arena, gir_id, n->n_in + 1);
    for (int k = 0; k < n->n_in; k++) in[k] = part(z, gir_in(p, v, k), z->on[v]);
    z->some[v] = move(z, v, gir_type_of(z->r.to, pick_of(z, z->on[v]))->dst, in);
}

gn_status *gn_run_joined_rows(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                              gir_program **out)
{
    uint32_t n = in->nodes.n;
    joiner z = {.from = in, .opt = opt};
    *out = (gir_program *)in;
    z.few = GN_NEW_N(a, bool, 2 * (size_t)n);
    if (!find_few(&z)) return NULL;
    z.zero = GN_NEW_N(a, key, n);
    z.multiply = GN_NEW_N(a, bool, n);
    z.need = GN_NEW_N(a, key, n);
    z.edges = GN_NEW_N(a, uint8_t, n);
    z.on = GN_NEW_N(a, key, n);
    z.some = GN_NEW_N(a, gir_id, n);
    z.pick = GN_NEW_N(a, gir_id, 2 * (size_t)n);
    z.some_of = GN_NEW_N(a, gir_id, 4 * (size_t)n);
    z.ends = GN_NEW_N(a, uint8_t, n);
    look_forward(&z);
    look_back(&z);
    z.r = gn_rewrite_new(a, in);
    for (gir_id v = 1; v < n; v++) rebuild(&z, v);
    for (uint32_t k = 0; k < in->outputs.n; k++) (void)whole(&z, in->outputs.p[k].value);
    gn_rewrite_outputs(&z.r);
    *out = z.r.to;
    return NULL;
}
