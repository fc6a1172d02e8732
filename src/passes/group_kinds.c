/* group_kinds: sums over each kind of a graph's edges, each multiplied with a matrix of its own,
 * are made together: a row for each kind that a node has. Needs: rows that are restricted;
 * gradients follow by themselves.  Keeps: all outputs, up to the order of summation and to terms 0
 * * x that are no longer added.  Breaks: nothing; dead values are left behind.
 *
 *   sum over kinds k of  mean(edges of kind k: x[src]) W_k
 *
 * is a loop over all rows for each kind and product, forward and backward, and row pointers are
 * read of each kind, although a node has edges of few kinds.  With a row t for each pair of a node
 * and a kind that an edge has (GROUP), it is
 *
 *   y[t] = mean(edges of t: x[src]) W[kind of t],   summed over the rows t of a node
 *
 * in two loops, however many kinds there are.
 *
 * Declines where kinds are not the numbers from 0 on, each once; and where nothing is known of how
 * many rows kinds have, or those are so many that products at full speed are faster. */
#include "passes/passes.h"
#include "passes/rewrite.h"

#include <string.h>

/* Times, in multiply-adds of a product at full speed: of one by a matrix that is looked up for the
 * row, of a row of a loop over edges of one kind, and of the launches for a kind. */
static const double LOOKED_UP = 2.5, A_ROW = 64, A_KIND = 150000;
enum { FEW = 4 }; /* as joined_rows has it */

typedef struct term { /* (red over the edges of g: x[src], divided by `by`) w */
    gir_id at;        /* the value that it is */
    gir_id g, x, w;
    gir_id by; /* one number a row, which comes of how many edges of `counted` it has; 0: nothing */
    gir_id counted;
    int64_t red;
    int64_t kind;
    gir_id edges, kinds; /* the graph of all kinds, and what each edge is of */
} term;

typedef GN_VEC(gir_id) id_list;
typedef GN_VEC(term) term_list;

typedef struct grouper {
    gn_arena *arena;
    const gir_program *from;
    const gn_pass_options *opt;
    const uint32_t *uses;
    gn_rewrite r;
} grouper;

/* What a term is ------------------------------------------------------------------------------- */

static gir_id operand(const grouper *z, gir_id v, int k) { return gir_in(z->from, v, k); }
static const gir_node *at(const grouper *z, gir_id v) { return gir_at(z->from, v); }

static bool is_product(const grouper *z, gir_id v)
{
    const gir_node *n = at(z, v);
    return n->op == GIR_MATMUL && !n->attr.i[0] && !n->attr.i[1] && n->type.space &&
           gir_type_of(z->from, operand(z, v, 1))->space == 0;
}

/* A cast that takes no number for another that is a kind. */
static bool keeps_numbers(const grouper *z, gir_id v)
{
    const gir_node *n = at(z, v);
    return n->op == GIR_CAST && n->type.elem != GN_BOOL && n->type.elem != GN_U8;
}

/* A constant, spread or not. */
static bool is_number(const grouper *z, gir_id v, double *x)
{
    while (at(z, v)->op == GIR_BROADCAST || at(z, v)->op == GIR_RESHAPE || keeps_numbers(z, v) ||
           at(z, v)->op == GIR_DETACH)
        v = operand(z, v, 0);
    return gir_is_number(z->from, v, x);
}

/* The graph of edges of one kind, or of those between picked rows. */
static bool find_kind(const grouper *z, term *t)
{
    gir_id f = t->g;
    double c;
    if (at(z, f)->op == GIR_RESTRICT) f = operand(z, f, 0);
    if (at(z, f)->op != GIR_FILTER || at(z, f)->n_in != 2 || at(z, f)->attr.i[0]) return false;
    gir_id mask = operand(z, f, 1);
    if (at(z, mask)->op != GIR_EQ) return false;
    for (int k = 0; k < 2; k++) {
        gir_id kinds = operand(z, mask, k);
        gn_elem e = (gn_elem)gir_type_of(z->from, kinds)->elem;
        if (!is_number(z, operand(z, mask, 1 - k), &c) || (e != GN_I32 && e != GN_I64)) continue;
        t->edges = operand(z, f, 0);
        t->kinds = kinds;
        t->kind = (int64_t)c;
        return true;
    }
    return false;
}

/* Is it at least a positive number everywhere, so that 0 divided by it is 0? */
static bool is_positive(const grouper *z, gir_id v)
{
    double x;
    while (at(z, v)->op == GIR_RESHAPE || at(z, v)->op == GIR_CAST) v = operand(z, v, 0);
    for (int k = 0; at(z, v)->op == GIR_MAX && k < 2; k++)
        if (is_number(z, operand(z, v, k), &x) && x > 0) return true;
    return false;
}

/* Has g, which is f's edges between picked rows, all of those that lead to its destinations? */
static bool has_all_edges(const grouper *z, gir_id g, gir_id f)
{
    const gir_node *n = at(z, g);
    if (g == f) return true;
    if (n->op != GIR_RESTRICT || operand(z, g, 0) != f) return false;
    if (!(n->attr.i[0] & 1)) return true;
    if (!(n->attr.i[0] & 2)) return false;
    gir_id sources = operand(z, g, 1), rows = operand(z, g, 2);
    while (at(z, sources)->op == GIR_GROW && at(z, sources)->n_in > 1) {
        if (operand(z, sources, 0) == rows && operand(z, sources, 1) == f &&
            at(z, sources)->attr.i[0] == GIR_SRC)
            return true;
        if (at(z, sources)->n_in < 3) return false;
        sources = operand(z, sources, 2);
    }
    return false;
}

/* Does v hang on how many edges of g rows have, and on nothing else? */
static bool counts(const grouper *z, gir_id v, gir_id g)
{
    const gir_node *n = at(z, v);
    if (n->op == GIR_CONST) return true;
    if (n->op == GIR_SCATTER)
        return operand(z, v, 0) == g && n->attr.i[0] == GIR_DST &&
               at(z, operand(z, v, 1))->op == GIR_CONST;
    bool all = n->type.space && n->n_in && gn_is_by_rows(z->from, v) && !gn_is_made_up(z->from, v);
    for (int k = 0; k < n->n_in && all; k++) all = counts(z, operand(z, v, k), g);
    return all;
}

/* Of rows that are picked among others: how many edges they have there. */
static bool find_counted(const grouper *z, term *t)
{
    gir_id f = at(z, t->g)->op == GIR_RESTRICT ? operand(z, t->g, 0) : t->g;
    t->counted = t->g;
    if (at(z, t->by)->op == GIR_TAKE) {
        gir_id pick = operand(z, t->by, 0), from = operand(z, t->by, 1), own = 0;
        while (at(z, from)->n_in && at(z, from)->op != GIR_SCATTER) from = operand(z, from, 0);
        if (at(z, from)->op != GIR_SCATTER) return false;
        t->counted = operand(z, from, 0);
        t->by = operand(z, t->by, 1);
        if (at(z, t->g)->op == GIR_RESTRICT && at(z, t->g)->attr.i[0] & 2)
            own = operand(z, t->g, at(z, t->g)->n_in - 1);
        if (at(z, pick)->op == GIR_RESTRICT) pick = operand(z, pick, 0);
        if (pick != own || !has_all_edges(z, t->counted, f) || !has_all_edges(z, t->g, f))
            return false;
    }
    return is_positive(z, t->by) && counts(z, t->by, t->counted);
}

static bool find_term(const grouper *z, gir_id v, term *t)
{
    *t = (term){.at = v};
    if (is_product(z, v)) {
        t->w = operand(z, v, 1);
        v = operand(z, v, 0);
    }
    if (at(z, v)->op == GIR_DIV && at(z, operand(z, v, 1))->op == GIR_BROADCAST) {
        t->by = operand(z, operand(z, v, 1), 0);
        const gir_type *b = gir_type_of(z->from, t->by);
        if (gir_row_elems(b) != 1 || !b->space) return false;
        v = operand(z, v, 0);
    }
    const gir_node *sum = at(z, v);
    if (sum->op != GIR_SCATTER || sum->attr.i[0] != GIR_DST || sum->type.rank != 1) return false;
    t->g = operand(z, v, 0);
    t->red = sum->attr.i[1];
    gir_id e = operand(z, v, 1);
    if (at(z, e)->op != GIR_GATHER || operand(z, e, 0) != t->g || at(z, e)->attr.i[0] != GIR_SRC)
        return false;
    t->x = operand(z, e, 1);
    if (!t->w && t->red == GIR_SUM && is_product(z, t->x)) { /* of rows before they are summed */
        t->w = operand(z, t->x, 1);
        t->x = operand(z, t->x, 0);
    }
    return t->w && gir_type_of(z->from, t->x)->elem == GN_F32 && find_kind(z, t) &&
           (!t->by || find_counted(z, t));
}

/* Are two values the same but for the graphs f and g, whose edges they are of? */
static bool alike(const grouper *z, gir_id a, gir_id f, gir_id b, gir_id g)
{
    if (a == b || (a == f && b == g)) return true;
    const gir_node *m = at(z, a), *n = at(z, b);
    gir_type s = m->type;
    if (a == f || b == g || m->type.is_graph || m->op != n->op || m->n_in != n->n_in) return false;
    if (s.space == gir_type_of(z->from, f)->edge) s.space = gir_type_of(z->from, g)->edge;
    bool leaf = m->n_in == 0 && m->op != GIR_CONST;
    if (leaf || !gir_type_eq(&s, &n->type) || m->attr.name || n->attr.name ||
        memcmp(m->attr.i, n->attr.i, sizeof m->attr.i) ||
        memcmp(&m->attr.f, &n->attr.f, sizeof m->attr.f))
        return false;
    for (int k = 0; k < m->n_in; k++)
        if (!alike(z, operand(z, a, k), f, operand(z, b, k), g)) return false;
    return true;
}

/* Are the graphs between the same picked rows? */
static bool same_rows(const grouper *z, gir_id f, gir_id g)
{
    const gir_node *m = at(z, f), *n = at(z, g);
    if (m->op != n->op || m->op != GIR_RESTRICT) return m->op == n->op;
    if (m->n_in != n->n_in || m->attr.i[0] != n->attr.i[0]) return false;
    for (int k = 1; k < m->n_in; k++)
        if (operand(z, f, k) != operand(z, g, k)) return false;
    return true;
}

/* Terms of two kinds of one sum? */
static bool belong(const grouper *z, const term *a, const term *b)
{
    return a->edges == b->edges && a->kinds == b->kinds && a->x == b->x && a->red == b->red &&
           !a->by == !b->by && (!a->by || alike(z, a->by, a->counted, b->by, b->counted)) &&
           gir_type_eq(gir_type_of(z->from, a->w), gir_type_of(z->from, b->w)) &&
           same_rows(z, a->g, b->g) && same_rows(z, a->counted, b->counted);
}

/* Sums of them --------------------------------------------------------------------------------- */

/* What v adds up; sums in between have no other reader. */
static id_list find_parts(grouper *z, gir_id v)
{
    id_list parts = {0}, left = {0};
    GN_PUSH(z->arena, left, v);
    while (left.n) {
        gir_id u = left.p[--left.n];
        bool sum = at(z, u)->op == GIR_ADD && (u == v || z->uses[u] == 1);
        for (int k = 2; sum && k-- > 0;) GN_PUSH(z->arena, left, operand(z, u, k));
        if (!sum) GN_PUSH(z->arena, parts, u);
    }
    return parts;
}

/* The terms that go with the first one, each in the place of its kind; none: they are not all
 * kinds from 0 on. */
static term_list in_order(grouper *z, const term_list *all)
{
    term_list kinds = {0};
    for (uint32_t k = 0; k < all->n; k++) GN_PUSH(z->arena, kinds, (term){0});
    uint32_t n = 0;
    for (uint32_t k = 0; k < all->n; k++) {
        const term *t = &all->p[k];
        if (!belong(z, &all->p[0], t)) continue;
        if (t->kind < 0 || t->kind >= kinds.n || kinds.p[t->kind].at) return (term_list){0};
        kinds.p[t->kind] = *t;
        n++;
    }
    for (uint32_t k = 0; k < n; k++)
        if (!kinds.p[k].at) return (term_list){0};
    kinds.n = n;
    return kinds;
}

/* Does it take less time so?  Of rows that have no edges of a kind joined_rows makes no products,
 * where few have some. */
static bool is_worth(const grouper *z, const term_list *t)
{
    const gir_type *w = gir_type_of(z->from, t->p[0].w);
    double product = 3.0 * (double)w->dim[0] * (double)w->dim[1], pairs = 0, apart = 0;
    for (uint32_t k = 0; k < t->n; k++) {
        const gn_ends *e = gn_known_ends(z->from, t->p[k].g, z->opt);
        if (!e || !e->picked) return false;
        bool few = e->joined_dst <= e->dst / FEW;
        pairs += (double)e->joined_dst;
        apart += product * (double)(few ? e->joined_dst : e->dst);
        apart += A_KIND + A_ROW * (double)(e->src + e->dst);
    }
    return t->n > 1 && pairs * product * LOOKED_UP <= apart;
}

/* The new values ------------------------------------------------------------------------------- */

static gir_id make(grouper *z, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                   const gir_type *want)
{
    return gn_rewrite_make(&z->r, op, n, in, attr, want);
}

static gir_id number(grouper *z, gir_type t, gir_space_id space, double x)
{
    t.space = space;
    t.rank = 0;
    return make(z, GIR_CONST, 0, NULL, &(gir_attr){.f = x}, &t);
}

/* The numbers of g's edges, of those that are left in `some` of them. */
static gir_id carried(grouper *z, gir_id some, gir_id g, gir_id numbers)
{
    gir_type t = *gir_type_of(z->r.to, numbers);
    gir_id fill = number(z, t, gir_type_of(z->r.to, some)->dst, 0);
    return make(z, GIR_CARRY, 4, (const gir_id[]){some, g, numbers, fill}, NULL, NULL);
}

/* The edges of all those kinds, between the rows that they are between, and grouped. */
static gir_id group_of(grouper *z, const term *t, uint32_t n)
{
    gir_id g = z->r.map[t->edges], k = z->r.map[t->kinds];
    gir_type type = *gir_type_of(z->r.to, k), is = type;
    is.elem = GN_BOOL;
    gir_id least = number(z, type, type.space, 0), most = number(z, type, type.space, n - 1);
    gir_id from = make(z, GIR_LE, 2, (const gir_id[]){least, k}, NULL, NULL);
    gir_id to = make(z, GIR_LE, 2, (const gir_id[]){k, most}, NULL, NULL);
    gir_id both = make(z, GIR_AND, 2, (const gir_id[]){from, to}, NULL, &is);
    gir_id h = make(z, GIR_FILTER, 2, (const gir_id[]){g, both}, &(gir_attr){0}, NULL);
    k = carried(z, h, g, k);
    if (at(z, t->g)->op == GIR_RESTRICT) {
        gir_id in[3] = {h};
        for (int j = 1; j < at(z, t->g)->n_in; j++) in[j] = z->r.map[operand(z, t->g, j)];
        g = h;
        h = make(z, GIR_RESTRICT, at(z, t->g)->n_in, in, &at(z, t->g)->attr, NULL);
        k = carried(z, h, g, k);
    }
    return make(z, GIR_GROUP, 2, (const gir_id[]){h, k}, NULL, NULL);
}

/* What hangs on how many edges of g rows have, for the rows of a group. */
static gir_id moved(grouper *z, gir_id v, gir_id g, gir_id h)
{
    const gir_node *n = at(z, v);
    const gir_type *to = gir_type_of(z->r.to, h);
    gir_type t = gn_rewrite_type(&z->r, v);
    if (v == g) return h;
    t.space = n->type.space == gir_type_of(z->from, g)->edge ? to->edge : to->dst;
    gir_id *in = GN_NEW_N(z->arena, gir_id, n->n_in + 1);
    for (int k = 0; k < n->n_in; k++) in[k] = moved(z, operand(z, v, k), g, h);
    return gn_rewrite_share(&z->r, (gir_op)n->op, n->n_in, in, &n->attr, &t);
}

/* The matrices of all kinds, [n, in, out]: where they are slices of one value, that. */
static gir_id matrices(grouper *z, const term_list *t)
{
    const gir_type *w = gir_type_of(z->from, t->p[0].w);
    const int64_t dim[3] = {1, w->dim[0], w->dim[1]};
    gir_id whole = 0;
    for (uint32_t k = 0; k < t->n; k++) {
        gir_id v = t->p[k].w;
        if (at(z, v)->op == GIR_RESHAPE) v = operand(z, v, 0);
        const gir_node *n = at(z, v);
        bool slice = n->op == GIR_SLICE && !n->attr.i[0] && n->attr.i[1] == k &&
                     n->type.rank == 3 && n->type.dim[0] == 1 && n->type.dim[1] == w->dim[0] &&
                     n->type.dim[2] == w->dim[1];
        gir_id of = slice ? operand(z, v, 0) : 0;
        if (!of || (k && of != whole)) break;
        whole = of;
        if (k + 1 == t->n && gir_type_of(z->from, of)->dim[0] == t->n) return z->r.map[of];
    }
    gir_id *in = GN_NEW_N(z->arena, gir_id, t->n);
    for (uint32_t k = 0; k < t->n; k++) in[k] = gir_reshape(z->r.to, z->r.map[t->p[k].w], 3, dim);
    return make(z, GIR_CONCAT, (int)t->n, in, &(gir_attr){0}, NULL);
}

/* m times the matrix of each row's kind. */
static gir_id multiplied(grouper *z, gir_id h, gir_id m, const term_list *t)
{
    gir_program *p = z->r.to;
    gir_type w = *gir_type_of(z->from, t->p[0].w), rows = w;
    int64_t dim[2] = {w.dim[0], 1};
    gir_space_id kinds = gir_space_add(p, "kind", GIR_NODE, t->n);
    rows.space = kinds;
    gir_id all = matrices(z, t);
    all = make(z, GIR_TO_ROWS, 1, &all, NULL, &rows);
    const gir_id in[3] = {h, gir_in(p, h, 0), gir_in(p, h, 1)};
    gir_id own = make(z, GIR_GROUP_NUMBERS, 3, in, &(gir_attr){.i = {kinds}}, NULL);
    own = make(z, GIR_TAKE, 2, (const gir_id[]){own, all}, NULL, NULL);
    gir_id column = gir_broadcast(p, gir_reshape(p, m, 2, dim), gir_type_of(p, own));
    return gir_reduce(p, gir_op2(p, GIR_MUL, column, own), GIR_SUM, 1);
}

static gir_id sum_of(grouper *z, const term_list *t)
{
    const term *a = &t->p[0];
    gir_id h = group_of(z, a, t->n);
    gir_id rows = make(z, GIR_GROUP_ROWS, 2, (const gir_id[]){h, gir_in(z->r.to, h, 0)}, NULL,
                       NULL);
    gir_id m = gir_gather(z->r.to, h, z->r.map[a->x], GIR_SRC);
    m = gir_scatter(z->r.to, h, m, GIR_DST, (int)a->red);
    if (a->by) {
        gir_id by = moved(z, a->by, a->counted, h);
        m = gir_op2(z->r.to, GIR_DIV, m, gir_broadcast(z->r.to, by, gir_type_of(z->r.to, m)));
    }
    m = multiplied(z, h, m, t);
    return gir_scatter(z->r.to, rows, gir_gather(z->r.to, rows, m, GIR_DST), GIR_SRC, GIR_SUM);
}

/* v where it is a sum of what kinds of edges have; 0: it is not, or stays as it is. */
static gir_id grouped(grouper *z, gir_id v)
{
    if (at(z, v)->op != GIR_ADD || !gir_type_of(z->from, v)->space) return 0;
    id_list parts = find_parts(z, v);
    term_list all = {0};
    term t;
    for (uint32_t k = 0; k < parts.n; k++)
        if (find_term(z, parts.p[k], &t)) GN_PUSH(z->arena, all, t);
    if (all.n < 2) return 0;
    term_list kinds = in_order(z, &all);
    if (!kinds.n || !is_worth(z, &kinds)) return 0;
    z->r.to->loc = at(z, kinds.p[0].at)->loc;
    gir_id sum = sum_of(z, &kinds);
    z->r.to->loc = at(z, v)->loc;
    for (uint32_t k = 0; k < parts.n; k++) {
        bool in = false;
        for (uint32_t j = 0; j < kinds.n && !in; j++) in = kinds.p[j].at == parts.p[k];
        if (!in) sum = gir_op2(z->r.to, GIR_ADD, z->r.map[parts.p[k]], sum);
    }
    return sum;
}

/* Gradients ------------------------------------------------------------------------------------ */

/* A factor of a product of rows that is spread from fewer elements; 0: it is not. */
static gir_id narrow(const grouper *z, gir_id v)
{
    gir_id from = at(z, v)->op == GIR_BROADCAST ? operand(z, v, 0) : 0;
    bool fewer = from && gir_type_of(z->from, from)->space == at(z, v)->type.space;
    return fewer && 2 * gir_row_elems(gir_type_of(z->from, from)) <= gir_row_elems(&at(z, v)->type)
               ? from
               : 0;
}

/* A matrix's gradient sums products of two rows for each row of its kind.  The rows are gathered,
 * not the products, which are many times as wide and in no memory then: a pick reads each row once.
 * 0: v is no such thing. */
static gir_id gathered(grouper *z, gir_id v)
{
    const gir_node *n = at(z, v);
    if (n->op != GIR_GATHER || n->attr.i[0] != GIR_DST) return 0;
    gir_id g = operand(z, v, 0), x = operand(z, v, 1);
    if (at(z, g)->op != GIR_GROUP_NUMBERS || at(z, x)->op != GIR_MUL) return 0;
    gir_type t = gn_rewrite_type(&z->r, v);
    gir_id in[2];
    for (int k = 0; k < 2; k++) {
        gir_id from = narrow(z, operand(z, x, k));
        if (!from) return 0;
        in[k] = gir_gather(z->r.to, z->r.map[g], z->r.map[from], GIR_DST);
        in[k] = gir_broadcast(z->r.to, in[k], &t);
    }
    return gir_op2(z->r.to, GIR_MUL, in[0], in[1]);
}

static bool has_work(const gir_program *p, const gn_pass_options *opt)
{
    bool any = false;
    for (gir_id v = 1; v < p->nodes.n && !any; v++) any = gir_at(p, v)->op == GIR_GROUP_NUMBERS;
    for (int k = 0; k < opt->n_ends && !any; k++) any = opt->ends[k].column;
    return any;
}

gn_status *gn_run_group_kinds(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                              gir_program **out)
{
    *out = (gir_program *)in;
    if (!has_work(in, opt)) return NULL;
    grouper z = {.arena = a, .from = in, .opt = opt, .uses = gir_count_uses(a, in)};
    z.r = gn_rewrite_new(a, in);
    uint8_t *inner = GN_NEW_N(a, uint8_t, in->nodes.n); /* a part of a larger sum */
    for (gir_id v = 1; v < in->nodes.n; v++)
        for (int k = 0; k < gir_at(in, v)->n_in && gir_at(in, v)->op == GIR_ADD; k++)
            inner[gir_in(in, v, k)] = z.uses[gir_in(in, v, k)] == 1;
    for (gir_id v = 1; v < in->nodes.n; v++) {
        gir_id to = inner[v] ? 0 : grouped(&z, v);
        if (!to) to = gathered(&z, v);
        if (to)
            z.r.map[v] = to;
        else
            (void)gn_rewrite_copy(&z.r, v);
    }
    gn_rewrite_outputs(&z.r);
    *out = z.r.to;
    return NULL;
}
