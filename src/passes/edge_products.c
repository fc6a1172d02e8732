/* edge_products: products of rows of edges become products of rows of nodes, which are fewer.
 * Needs: no gradients yet (they follow the new order by themselves).  Keeps: all outputs, up to
 * rounding.
 *
 *   [x[dst], x[src] - x[dst], e] W   =   (x (W1 - W2))[dst] + (x W2)[src] + e W3               in
 *                                    front of what edges read
 *   relu(x[src] V) W                  =   (relu(x V) W)[src]
 *   with all of one end alone sum over e of s[e] (m[e] W + b)   =   (sum of s[e] m[e]) W + (sum of
 *   s[e]) b                behind a sum over edges
 *
 * So a message that a layer computes by an MLP of both ends has its first product once a node, and
 * its last one once a row. Anything linear in rows is taken apart: sums, differences, scaling by a
 * number an edge, rows put side by side. In front declines where rows of the product are so much
 * wider than what they are made of that reading them costs more (GATHER): three coordinates are
 * multiplied where they are read.  What has a pole stays with its edges (has_pole).  Behind
 * declines where the product is used elsewhere too, and where it is so narrow that the sum of its
 * operand costs more.  Edges a row, of which few pay less, are counted in the data that a step is
 * compiled for; inference takes them for four. */
#include "passes/passes.h"
#include "passes/simplify.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 32, MOST = 16 };

/* What reading a column of a row, and adding one up, cost, in multiply-adds. */
static const double GATHER = 8, SUM = 4;

/* A summand of an edge value: by * scale * value, or by * value / scale. */
typedef struct part {
    gir_id value, scale; /* scale: one number an edge; 0: none */
    bool over;
    double by;
    int64_t at; /* which column it begins at, of rows put side by side */
} part;

typedef struct parts {
    part p[MOST];
    int n;
    bool too_many;
} parts;

/* What an edge value is computed from, row by row: nothing of either end, one end's rows, or more
 * than that. */
typedef enum ends { NEITHER, ONE, MORE } ends;

typedef struct origin {
    ends of;
    int end, depth; /* ONE: of that end of the graph; steps from what is read there */
    gir_id graph;
} origin;

typedef struct mover {
    const gir_program *from;
    gir_program *to;
    gir_id *map;
    const gn_pass_options *opt;
    bool *sparse;    /* by value of the old program: of a sparse input */
    uint32_t *uses;  /* likewise: how often it is used */
    origin *origin;  /* likewise, of edge values */
    gir_id *at_node; /* likewise, of one end or neither: the same of the rows that are read there;
                        0: not made yet */
} mover;

static bool on_edges(const gir_program *p, gir_id v)
{
    gir_space_id s = gir_type_of(p, v)->space;
    return s && p->spaces.p[s].kind == GIR_EDGE;
}

static int64_t columns(const gir_program *p, gir_id v) { return gir_type_of(p, v)->dim[0]; }

/* One end -------------------------------------------------------------------------------------- */

static origin join(origin a, origin b)
{
    if (a.of == NEITHER || b.of == MORE) return b;
    if (b.of == NEITHER || a.of == MORE) return a;
    if (a.graph != b.graph || a.end != b.end) a.of = MORE;
    if (b.depth > a.depth) a.depth = b.depth;
    return a;
}

/* May it, or its gradient, be no finite number where an operand is 0?  Nodes that no edge reads
 * have rows too, whose degrees and sums are 0: what came of them would be in the gradient of the
 * weights, times 0. */
static bool has_pole(const mover *z, gir_id v)
{
    const gir_program *p = z->from;
    double power;
    switch ((gir_op)gir_at(p, v)->op) {
    case GIR_LOG:
    case GIR_SQRT:
    case GIR_RSQRT:
    case GIR_RECIP: return true;
    case GIR_DIV: return z->origin[gir_in(p, v, 1)].of != NEITHER;
    case GIR_POW: return !gir_is_number(p, gir_in(p, v, 1), &power) || power < 1;
    default: return false;
    }
}

static origin origin_of(const mover *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    origin from = {.of = NEITHER};
    gir_class cls = gir_ops[n->op].cls;
    if (n->op == GIR_GATHER) return (origin){ONE, (int)n->attr.i[0], 0, gir_in(p, v, 0)};
    if (n->op == GIR_CONST) return from;
    bool by_rows = cls == GIR_CLASS_MAP || (cls == GIR_CLASS_VIEW && n->op != GIR_TO_ROWS);
    if (!by_rows && n->op != GIR_MATMUL && n->op != GIR_REDUCE) return (origin){.of = MORE};
    for (int k = 0; k < n->n_in; k++)
        if (on_edges(p, gir_in(p, v, k))) from = join(from, z->origin[gir_in(p, v, k)]);
    if (++from.depth > MAX_DEPTH || (from.of == ONE && has_pole(z, v))) from.of = MORE;
    return from;
}

/* What is gathered of sparse rows is sparse, and what is computed from that element by element. */
static bool is_sparse(const mover *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_class cls = gir_ops[n->op].cls;
    if (n->op == GIR_GATHER) return z->sparse[gir_in(p, v, 1)];
    bool any = z->sparse[v];
    for (int k = 0; k < n->n_in && (cls == GIR_CLASS_MAP || cls == GIR_CLASS_VIEW); k++)
        any = any || z->sparse[gir_in(p, v, k)];
    return any;
}

static bool of_one_end(const mover *z, gir_id v) { return z->origin[v].of == ONE; }

/* An edge value of one end, of the rows in space s that are read there. */
static gir_id at_nodes(mover *z, gir_id v, gir_space_id s)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    if (!on_edges(p, v)) return z->map[v];
    if (n->op == GIR_GATHER) return z->map[gir_in(p, v, 1)];
    if (z->at_node[v] && gir_type_of(z->to, z->at_node[v])->space == s) return z->at_node[v];
    gir_id *in = GN_NEW_N(z->to->arena, gir_id, (size_t)n->n_in + 1);
    gir_type t = n->type;
    t.space = s;
    for (int k = 0; k < n->n_in; k++) in[k] = at_nodes(z, gir_in(p, v, k), s);
    return z->at_node[v] = gir_make(z->to, (gir_op)n->op, n->n_in, in, &n->attr, &t, NULL);
}

static gir_id read_at_node(mover *z, gir_id v)
{
    const origin *from = &z->origin[v];
    const gir_type *g = gir_type_of(z->from, from->graph);
    return at_nodes(z, v, from->end == GIR_DST ? g->dst : g->src);
}

/* Taking apart --------------------------------------------------------------------------------- */

/* How `v` goes on: the operand that it scales, with what; 0: v scales nothing, or twice. */
static gir_id unscaled(const gir_program *p, gir_id v, part *how)
{
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_MUL && n->op != GIR_DIV) return 0;
    int k = gn_scale_of(p, gir_in(p, v, 1)) ? 1 : 0;
    gir_id scale = gn_scale_of(p, gir_in(p, v, k));
    double c;
    if (!scale || (n->op == GIR_DIV && k == 0)) return 0;
    if (gir_is_number(p, scale, &c)) {
        how->by = n->op == GIR_DIV ? how->by / c : how->by * c;
        if (!isnormal((float)how->by)) return 0; /* 1e60 is no float32 */
    } else {
        if (how->scale) return 0;
        how->scale = scale;
        how->over = n->op == GIR_DIV;
    }
    return gir_in(p, v, 1 - k);
}

/* Does `v` stay in one piece?  Of products: rows of one end, but for sparse ones.  Of sums: what is
 * used elsewhere too. */
static bool stays(const mover *z, gir_id v, bool product)
{
    return product ? of_one_end(z, v) && !z->sparse[v] : z->uses[v] != 1;
}

/* Appends the summands of `v`, whose rows a product takes, or a sum.  Of a sum rows side by side
 * stay so. */
static void take_apart(const mover *z, gir_id v, part how, bool product, parts *out, int depth)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    part other = how;
    gir_id in = 0;
    if (out->too_many) return;
    if (depth < MAX_DEPTH && !stays(z, v, product)) {
        switch ((gir_op)n->op) {
        case GIR_ADD:
        case GIR_SUB:
            take_apart(z, gir_in(p, v, 0), how, product, out, depth + 1);
            if (n->op == GIR_SUB) how.by = -how.by;
            in = gir_in(p, v, 1);
            break;
        case GIR_NEG:
            how.by = -how.by;
            in = gir_in(p, v, 0);
            break;
        case GIR_CONCAT:
            for (int k = 0; k < n->n_in && product; how.at += columns(p, gir_in(p, v, k++)))
                take_apart(z, gir_in(p, v, k), how, product, out, depth + 1);
            if (product) return;
            break;
        default: in = unscaled(p, v, &other); how = in ? other : how;
        }
    }
    if (in) {
        take_apart(z, in, how, product, out, depth + 1);
        return;
    }
    out->too_many = out->too_many || out->n == MOST;
    if (out->too_many) return;
    how.value = v;
    out->p[out->n++] = how;
}

/* What the part's scale does to v, of the new program. */
static gir_id scaled(mover *z, gir_id v, const part *by)
{
    if (!by->scale) return v;
    gir_id s = gn_spread_scale(z->from, z->to, z->map, by->scale, gir_type_of(z->to, v));
    return gir_op2(z->to, by->over ? GIR_DIV : GIR_MUL, v, s);
}

static gir_id times(mover *z, gir_id v, double by)
{
    if (by == 1) return v;
    if (by == -1) return gir_op1(z->to, GIR_NEG, v);
    return gir_op2(z->to, GIR_MUL, v, gir_const(z->to, gir_type_of(z->to, v), by));
}

static gir_id plus(mover *z, gir_id sum, gir_id v)
{
    return sum ? gir_op2(z->to, GIR_ADD, sum, v) : v;
}

/* How many edges there are for a row of nodes, by the data; four where nothing is known of it, as
 * in inference. */
static double edges_a_row(const gn_pass_options *opt)
{
    const gn_data_facts *f = &opt->facts;
    return f->all.rows > 0 ? (double)f->all.edges / (double)f->all.rows : 4;
}

/* In front of what edges read ------------------------------------------------------------------ */

/* Do two parts read the same row, scaled alike? */
static bool same_row(const gir_program *p, const part *a, const part *b)
{
    if (a->scale != b->scale || a->over != b->over) return false;
    if (a->value == b->value) return true;
    const gir_node *x = gir_at(p, a->value), *y = gir_at(p, b->value);
    return x->op == GIR_GATHER && y->op == GIR_GATHER && x->attr.i[0] == y->attr.i[0] &&
           gir_in(p, a->value, 0) == gir_in(p, b->value, 0) &&
           gir_in(p, a->value, 1) == gir_in(p, b->value, 1);
}

static bool first_of_row(const gir_program *p, const parts *e, int k)
{
    for (int i = 0; i < k; i++)
        if (same_row(p, &e->p[i], &e->p[k])) return false;
    return true;
}

static bool pays_in_front(const mover *z, const parts *e, int64_t n)
{
    const gir_program *p = z->from;
    double now = 0, reads = 0, rows = 0;
    for (int k = 0; k < e->n; k++) {
        gir_id v = e->p[k].value;
        if (!of_one_end(z, v)) continue;
        if (z->sparse[v]) return true; /* its product costs the non-zeros only, at the nodes */
        double wide = (double)columns(p, v);
        now += wide * (double)n;
        if (!first_of_row(p, e, k)) continue;
        now += GATHER * wide;
        reads += GATHER * (double)n;
        rows += wide * (double)n;
    }
    return reads > 0 && now > reads + rows / edges_a_row(z->opt);
}

/* Rows of the weights that meet what part k reads, all parts that read it together. */
static gir_id weights(mover *z, const parts *e, int k, gir_id w)
{
    const gir_type *whole = gir_type_of(z->to, w);
    gir_type t = *whole;
    gir_id sum = 0;
    t.dim[0] = columns(z->from, e->p[k].value);
    for (int i = k; i < e->n; i++) {
        if (!same_row(z->from, &e->p[i], &e->p[k])) continue;
        gir_attr from = {.i = {0, e->p[i].at}};
        gir_id v = t.dim[0] == gir_type_of(z->to, w)->dim[0]
                       ? w
                       : gir_make(z->to, GIR_SLICE, 1, &w, &from, &t, NULL);
        sum = plus(z, sum, times(z, v, e->p[i].by));
    }
    return sum;
}

/* The product v of rows of edges by way of rows of nodes; 0: it stays. */
static gir_id in_front(mover *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_MATMUL || n->attr.i[0] || n->attr.i[1] || n->type.rank != 1 || !on_edges(p, v))
        return 0;
    gir_id rows = gir_in(p, v, 0), w = z->map[gir_in(p, v, 1)], sum = 0;
    parts e = {.n = 0};
    take_apart(z, rows, (part){.by = 1}, true, &e, 0);
    if (e.too_many || !pays_in_front(z, &e, columns(p, v))) return 0;
    for (int k = 0; k < e.n; k++) {
        if (!first_of_row(p, &e, k)) continue;
        gir_id x = e.p[k].value, by = weights(z, &e, k, w), y;
        if (of_one_end(z, x)) {
            y = gir_matmul(z->to, read_at_node(z, x), by, false, false);
            y = gir_gather(z->to, z->map[z->origin[x].graph], y, z->origin[x].end);
        } else {
            y = gir_matmul(z->to, z->map[x], by, false, false);
        }
        sum = plus(z, sum, scaled(z, y, &e.p[k]));
    }
    return sum;
}

/* Behind sums ---------------------------------------------------------------------------------- */

/* Is the part's value a product that goes behind the sum? */
static bool goes_behind(const mover *z, const part *t)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, t->value);
    if (n->op != GIR_MATMUL || n->attr.i[0] || n->attr.i[1] || z->uses[t->value] != 1) return false;
    double k = (double)columns(p, gir_in(p, t->value, 0)), wide = (double)n->type.dim[0];
    return k * wide + wide > SUM * k + k * wide / edges_a_row(z->opt);
}

/* The same row for all edges: what it repeats; 0: it is no such thing. */
static gir_id repeated(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    gir_id of = n->op == GIR_BROADCAST ? gir_in(p, v, 0) : 0;
    return of && !gir_type_of(p, of)->space && gir_type_of(p, of)->rank == 1 &&
                   columns(p, of) == n->type.dim[0]
               ? of
               : 0;
}

static gir_id sum_of_part(mover *z, const gir_node *sum, gir_id g, const part *t)
{
    const gir_program *p = z->from;
    bool product = goes_behind(z, t);
    gir_id row = product ? 0 : repeated(p, t->value),
           v = z->map[product ? gir_in(p, t->value, 0) : t->value];
    if (row) { /* how often, or the sum of the scale */
        int64_t one = 1;
        gir_type number = gir_tensor((gn_elem)sum->type.elem, gir_type_of(p, t->value)->space, 1,
                                     &one);
        v = gir_const(z->to, &number, 1);
    }
    v = gir_scatter(z->to, g, scaled(z, v, t), (int)sum->attr.i[0], GIR_SUM);
    if (product) v = gir_matmul(z->to, v, z->map[gir_in(p, t->value, 1)], false, false);
    if (row) {
        gir_type rows = *gir_type_of(z->to, v);
        rows.dim[0] = columns(p, t->value);
        gir_id often = gir_broadcast(z->to, v, &rows);
        v = gir_op2(z->to, GIR_MUL, often, gir_broadcast(z->to, z->map[row], &rows));
    }
    return times(z, v, t->by);
}

/* The sum v over edges with products behind it; 0: it stays. */
static gir_id behind(mover *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_SCATTER || n->attr.i[1] != GIR_SUM || n->type.rank != 1) return 0;
    parts e = {.n = 0};
    take_apart(z, gir_in(p, v, 1), (part){.by = 1}, false, &e, 0);
    bool any = false;
    for (int k = 0; k < e.n; k++) any = any || goes_behind(z, &e.p[k]);
    if (e.too_many || !any) return 0;
    gir_id g = z->map[gir_in(p, v, 0)], sum = 0;
    for (int k = 0; k < e.n; k++) sum = plus(z, sum, sum_of_part(z, n, g, &e.p[k]));
    return sum;
}

/* The pass ------------------------------------------------------------------------------------- */

/* The program with what `move` moves moved; NULL: nothing is. */
static gir_program *moved(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                          gir_id (*move)(mover *, gir_id))
{
    bool any = false;
    mover z = {.from = in,
               .to = gir_program_new(a, in->name),
               .map = GN_NEW_N(a, gir_id, in->nodes.n),
               .opt = opt,
               .sparse = gn_find_from_sparse(a, in, opt),
               .uses = gir_count_uses(a, in),
               .origin = GN_NEW_N(a, origin, in->nodes.n),
               .at_node = GN_NEW_N(a, gir_id, in->nodes.n)};
    gir_clone_frame(z.to, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        if (on_edges(in, v)) {
            z.origin[v] = origin_of(&z, v);
            z.sparse[v] = is_sparse(&z, v);
        }
        z.to->loc = gir_at(in, v)->loc;
        z.map[v] = move(&z, v);
        any = any || z.map[v];
        if (!z.map[v]) z.map[v] = gir_clone_node(z.to, in, v, z.map);
    }
    gir_clone_outputs(z.to, in, z.map);
    return any ? z.to : NULL;
}

gn_status *gn_run_edge_products(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                                gir_program **out)
{
    *out = gir_clone(a, in);
    gir_program *front = moved(a, in, opt, in_front), *back;
    if (front) GN_TRY(gn_pass_dce(a, front, out)); /* what was moved counts as no use */
    back = moved(a, *out, opt, behind);
    if (back) *out = back;
    return NULL;
}
