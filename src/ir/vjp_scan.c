/* Gradient rules along the edges into a row: the states' cotangents are states that go the other
 * way. */
#include "ir/vjp.h"

static gir_id along(gir_program *p, gir_op op, gir_id g, gir_id e, gir_id f, int64_t side)
{
    const gir_id in[3] = {g, e, f};
    return gir_make(p, op, 3, in, &(gir_attr){.i = {side}}, NULL, NULL);
}

bool gir_vjp_BESIDE(gir_vjp *g)
{
    gir_id graph = gir_vjp_in(g, 0), none = gir_vjp_const(g, gir_vjp_in(g, 2), 0);
    int64_t behind = gir_vjp_attr(g)->i[0];
    if (gir_vjp_needs(g, 1)) g->ct_in[1] = along(g->p, GIR_BESIDE, graph, g->ct, none, !behind);
    if (gir_vjp_needs(g, 2)) g->ct_in[2] = along(g->p, GIR_OUTER, graph, g->ct, none, behind);
    return true;
}

bool gir_vjp_OUTER(gir_vjp *g)
{
    gir_id graph = gir_vjp_in(g, 0), e = gir_vjp_in(g, 1);
    int64_t last = gir_vjp_attr(g)->i[0];
    if (gir_vjp_needs(g, 1)) {
        gir_type one = gir_tensor(GN_F32, gir_type_of(g->p, e)->space, 0, NULL), row = one,
                 whole = gir_vjp_type(g, e);
        row.space = gir_type_of(g->p, graph)->dst;
        gir_id others = along(g->p, GIR_BESIDE, graph, gir_const(g->p, &one, 1),
                              gir_const(g->p, &row, 0), last);
        gir_id is = gir_op2(g->p, GIR_EQ, others, gir_const(g->p, &one, 0));
        whole.elem = GN_BOOL;
        int64_t ones[GIR_MAX_RANK] = {1, 1, 1, 1, 1, 1};
        is = gir_broadcast(g->p, gir_reshape(g->p, is, whole.rank, ones), &whole);
        g->ct_in[1] = gir_op3(g->p, GIR_SELECT, is, gir_gather(g->p, graph, g->ct, GIR_DST),
                              gir_vjp_const(g, e, 0));
    }
    if (gir_vjp_needs(g, 2))
        g->ct_in[2] = along(g->p, GIR_OUTER, graph, gir_vjp_const(g, e, 0), g->ct, last);
    return true;
}

/* The way back of a scan: its states are the cotangents of products, then of states, and then of
 * what edges and constants are.  Its edges bring along what they did, the states that were before,
 * the products and the cotangents of the states behind. */
typedef struct back {
    gir_scan of;
    gir_program *body;           /* of the way back */
    int64_t xs;                  /* of the edges, of all operands */
    gir_id *s, *x, *c, *p;       /* of the body: what those were, 0: not read */
    gir_id *state;               /* of the body: the cotangents of states so far */
    int64_t *at_s, *at_x, *at_c; /* which of its states has the cotangent; -1: it is 0 */
    int64_t n;
    gir_id *out; /* of the body, by state */
} back;

enum { MOST_BACK = 512 }; /* states */

static gir_id input(const back *z, char kind, int64_t k)
{
    gir_program *b = z->body;
    gir_type t = gir_tensor(z->of.elem, 0, 0, NULL);
    return gir_leaf(b, GIR_INPUT, gn_arena_printf(b->arena, "%c%lld", kind, (long long)k), &t);
}

/* The body of the scan, whose states and products now are what edges bring along. */
static void copy_body(back *z)
{
    const gir_program *from = z->of.body;
    gir_program *b = z->body;
    gir_id *map = GN_NEW_N(b->arena, gir_id, from->nodes.n);
    for (gir_id v = 1; v < from->nodes.n; v++) {
        int k = 0;
        switch (gir_body_leaf(from, v, &k)) {
        case 'x': map[v] = z->x[k] = input(z, 'x', k); break;
        case 'c': map[v] = z->c[k] = input(z, 'c', k); break;
        case 's': map[v] = z->s[k] = input(z, 'x', z->xs + k); break;
        case 'p': map[v] = z->p[k] = input(z, 'x', z->xs + z->of.n + k); break;
        default: map[v] = gir_clone_node(b, from, v, map); break;
        }
    }
    for (uint32_t k = 0; k < from->outputs.n; k++) z->out[k] = map[from->outputs.p[k].value];
}

/* Cotangents of the states behind the edge: of what reads them there, of the next edge's, and of
 * its products. */
static void cotangents(back *z, gir_id *ct)
{
    gir_program *b = z->body;
    for (int64_t k = 0; k < z->of.n; k++) {
        z->state[k] = input(z, 's', z->of.q + k);
        gir_id read = input(z, 'x', z->xs + z->of.n + z->of.q + k);
        ct[k] = gir_op2(b, GIR_ADD, read, z->state[k]);
        if (k < z->of.k) ct[k] = gir_op2(b, GIR_ADD, ct[k], input(z, 'p', k));
    }
}

/* The state that is this value of the body, maybe a new one. */
static int64_t state_of(back *z, gir_id value)
{
    for (int64_t k = 0; k < z->n; k++)
        if (z->out[k] == value) return k;
    z->out[z->n] = value;
    return z->n++;
}

/* Makes states of the cotangents that are not 0. */
static void name_states(back *z, const gir_id *grad)
{
    gir_program *b = z->body;
    int64_t q = z->of.q, n = z->of.n;
    for (int64_t k = 0; k < q; k++) z->out[k] = grad[k];
    z->n = q;
    for (int64_t k = 0; k < n; k++) {
        gir_node *state = gir_at(b, z->state[k]);
        z->at_s[k] = gir_is_zero(b, grad[q + k]) ? -1 : z->n;
        if (z->at_s[k] >= 0) {
            z->out[z->n] = grad[q + k];
            state->attr.name = gn_arena_printf(b->arena, "s%lld", (long long)z->n++);
        } else {
            state->op = GIR_CONST;
            state->attr.name = NULL;
        }
    }
    for (int64_t k = 0; k < z->xs; k++)
        z->at_x[k] = gir_is_zero(b, grad[q + n + k]) ? -1 : state_of(z, grad[q + n + k]);
    for (int64_t k = 0; k < z->of.consts; k++)
        z->at_c[k] = gir_is_zero(b, grad[q + n + z->xs + k]) ? -1
                                                             : state_of(z, grad[q + n + z->xs + k]);
    for (int64_t k = 0; k < z->n; k++)
        gir_output_add(b, GIR_OUTPUT, gn_arena_printf(b->arena, "s%lld", (long long)k), z->out[k]);
}

static bool make_body(gir_vjp *g, back *z)
{
    gn_arena *a = g->p->arena;
    int64_t q = z->of.q, n = z->of.n, most = q + n + z->xs + z->of.consts;
    if (most > MOST_BACK) return false;
    z->body = gir_program_new(a, "back");
    z->s = GN_NEW_N(a, gir_id, n);
    z->p = GN_NEW_N(a, gir_id, q + 1);
    z->x = GN_NEW_N(a, gir_id, z->xs + 1);
    z->c = GN_NEW_N(a, gir_id, z->of.consts + 1);
    z->state = GN_NEW_N(a, gir_id, n);
    z->at_s = GN_NEW_N(a, int64_t, n);
    z->at_x = GN_NEW_N(a, int64_t, z->xs + 1);
    z->at_c = GN_NEW_N(a, int64_t, z->of.consts + 1);
    z->out = GN_NEW_N(a, gir_id, most);
    gir_id *ct = GN_NEW_N(a, gir_id, n), *of = GN_NEW_N(a, gir_id, n),
           *wrt = GN_NEW_N(a, gir_id, most), *grad = GN_NEW_N(a, gir_id, most);
    copy_body(z);
    for (int64_t k = 0; k < n; k++) of[k] = z->out[k];
    gir_type scalar = gir_tensor(z->of.elem, 0, 0, NULL);
    gir_id zero = gir_const(z->body, &scalar, 0);
    for (int64_t k = 0; k < most; k++) { /* what the body does not read has no gradient */
        gir_id v = k < q               ? z->p[k]
                   : k < q + n         ? z->s[k - q]
                   : k < q + n + z->xs ? z->x[k - q - n]
                                       : z->c[k - q - n - z->xs];
        wrt[k] = v ? v : zero;
    }
    cotangents(z, ct);
    gn_status *s = gir_pull(z->body, (int)n, of, ct, (int)most, wrt, grad);
    if (s) {
        gn_status_free(s);
        return false;
    }
    for (int64_t k = 0; k < most; k++)
        if (wrt[k] == zero) grad[k] = zero;
    name_states(z, grad);
    return true;
}

static gir_id groups(gir_program *p, gir_id v, int64_t from, int64_t n)
{
    gir_type t = *gir_type_of(p, v);
    if (from == 0 && n == t.dim[0]) return v;
    t.dim[0] = n;
    return gir_make(p, GIR_SLICE, 1, &v, &(gir_attr){.i = {0, from}}, &t, NULL);
}

/* States at[0..n) of v side by side, 0 for those that are -1. */
static gir_id collect(gir_program *p, gir_id v, const int64_t *at, int64_t n)
{
    gir_id *part = GN_NEW_N(p->arena, gir_id, n);
    bool in_a_row = true;
    gir_type t = *gir_type_of(p, v);
    t.dim[0] = 1;
    for (int64_t k = 1; k < n; k++) in_a_row = in_a_row && at[k] == at[0] + k;
    if (in_a_row && at[0] >= 0) return groups(p, v, at[0], n);
    for (int64_t k = 0; k < n; k++)
        part[k] = at[k] < 0 ? gir_const(p, &t, 0) : groups(p, v, at[k], 1);
    return gir_make(p, GIR_CONCAT, (int)n, part, &(gir_attr){.i = {0}}, NULL, NULL);
}

static gir_id flat(gir_program *p, gir_id v)
{
    int64_t n = gir_row_elems(gir_type_of(p, v));
    return gir_reshape(p, v, 1, &n);
}

/* Rows of `k` states times a matrix, in channels. */
static gir_id product(gir_program *p, gir_id rows, gir_id w, bool turned, int64_t d)
{
    gir_id m = gir_matmul(p, flat(p, rows), w, false, turned);
    int64_t dim[2] = {gir_row_elems(gir_type_of(p, m)) / d, d};
    return gir_reshape(p, m, 2, dim);
}

/* The cotangent of the states that rows begin with: what is left at the edge that came first. */
static gir_id of_first(gir_vjp *g, const back *z, gir_id r)
{
    gir_program *p = g->p;
    gir_type t = gir_vjp_type(g, z->of.s);
    t.dim[0] = z->n;
    gir_id at = along(p, GIR_OUTER, z->of.graph, r, gir_const(p, &t, 0), z->of.reverse);
    gir_id ct = collect(p, at, z->at_s, z->of.n);
    if (!z->of.w) return ct;
    gir_id by = product(p, groups(p, at, 0, z->of.q), z->of.w, true, z->of.d);
    if (z->of.k < z->of.n) {
        gir_type whole = gir_vjp_type(g, z->of.s);
        by = gir_make(p, GIR_PAD, 1, &by, &(gir_attr){.i = {0, 0}}, &whole, NULL);
    }
    return gir_op2(p, GIR_ADD, ct, by);
}

/* The scan the other way, along all that it reads; `before`: the states before each edge. */
static gir_id go_back(gir_vjp *g, const back *z, gir_id before)
{
    gir_program *p = g->p;
    gir_type first = gir_vjp_type(g, z->of.s);
    first.dim[0] = z->n;
    gir_id *in = GN_NEW_N(p->arena, gir_id, z->of.n_x + 8);
    int n = 0;
    in[n++] = z->of.graph;
    in[n++] = gir_const(p, &first, 0);
    if (z->of.w) in[n++] = gir_transpose(p, z->of.w);
    if (z->of.c) in[n++] = z->of.c;
    for (int k = 0; k < z->of.n_x; k++) in[n++] = gir_vjp_in(g, z->of.first_x + k);
    in[n++] = before;
    if (z->of.w) in[n++] = product(p, groups(p, before, 0, z->of.k), z->of.w, false, z->of.d);
    in[n++] = g->ct;
    gir_attr attr = {.i = {gir_body(p, z->body), !z->of.reverse, z->of.w != 0, z->of.c != 0}};
    return gir_make(p, GIR_SCAN, n, in, &attr, NULL, NULL);
}

bool gir_vjp_SCAN(gir_vjp *g)
{
    gir_program *p = g->p;
    back z = {.of = gir_scan_of(p, g->v)};
    for (int k = 0; k < z.of.n_x; k++)
        z.xs += gir_type_of(p, gir_vjp_in(g, z.of.first_x + k))->dim[0];
    if (!make_body(g, &z)) return false;
    gir_id before = along(p, GIR_BESIDE, z.of.graph, g->v, z.of.s, z.of.reverse);
    if (!z.n) return true; /* states are what they are, whatever was before */
    gir_id r = go_back(g, &z, before);
    if (gir_vjp_needs(g, 1)) g->ct_in[1] = of_first(g, &z, r);
    if (z.of.w && gir_vjp_needs(g, 2))
        g->ct_in[2] = gir_matmul(p, flat(p, groups(p, before, 0, z.of.k)),
                                 flat(p, groups(p, r, 0, z.of.q)), true, false);
    int at_c = z.of.first_x - 1;
    if (z.of.c && gir_vjp_needs(g, at_c))
        g->ct_in[at_c] = gir_space_reduce(p, collect(p, r, z.at_c, z.of.consts), GIR_SUM);
    for (int64_t k = 0, from = 0; k < z.of.n_x; k++) {
        int at = z.of.first_x + (int)k;
        int64_t n = gir_type_of(p, gir_vjp_in(g, at))->dim[0];
        if (gir_vjp_needs(g, at)) g->ct_in[at] = collect(p, r, z.at_x + from, n);
        from += n;
    }
    return true;
}
