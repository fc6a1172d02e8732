/* touch_rows: of tables with a row for each row of a space, a step reads the rows that ends of
 * graphs name, and those are all that its optimizer is to update.
 * Needs: a loss, before gradients and before passes that move work to rows.  Keeps: all outputs.
 * Makes: of every such table a take of a pick (ENDS), which alone reads it, and graphs between the
 * picked rows, which have the edges of those that they come of.
 *
 * The pick is of all ends at which edges read the table, or what is computed from it row by row
 * (halves of complex numbers, lengths made one), which is then computed on those rows alone.  Which
 * rows those are differs from step to step where graphs are drawn; how many there are does not.
 * Rows that it is filled up with have no edges, and what is put back (passes/train.c) leaves them
 * out.  Declines where something else reads a table: all of its rows are touched then. */
#include "passes/touch_rows.h"
#include "passes/passes.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

typedef struct end_use {
    gir_id graph;
    int ends; /* bits 1 << end */
} end_use;

typedef struct table {
    gir_id w;
    GN_VEC(end_use) uses; /* graphs in program order */
    bool whole;           /* something reads all of its rows */
    gir_id pick, rows;    /* in the new program */
    gir_id *at;           /* by value computed from it: that on the picked rows */
} table;

typedef struct toucher {
    const gir_program *p;
    gn_rewrite r;
    table *tables;
    int n;
    int *from; /* by value: 1 + the table that it is computed from row by row; 0: none */
} toucher;

static table *table_of(const toucher *z, gir_id v)
{
    return z->from[v] ? &z->tables[z->from[v] - 1] : NULL;
}

/* Is v the same in all rows, or has it none? */
static bool same_rows(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    return n->type.space == 0 || n->op == GIR_CONST ||
           (n->op == GIR_BROADCAST && gir_type_of(p, gir_in(p, v, 0))->space == 0);
}

/* 1 + the one table from which v is computed row by row, and from what has no rows; else 0. */
static int find_table(const toucher *z, gir_id v)
{
    const gir_program *p = z->p;
    int from = 0;
    if (!gn_is_by_rows(p, v)) return 0;
    for (int k = 0; k < gir_at(p, v)->n_in; k++) {
        gir_id o = gir_in(p, v, k);
        if (!z->from[o] && !same_rows(p, o)) return 0;
        if (z->from[o] && from && from != z->from[o]) return 0;
        if (z->from[o]) from = z->from[o];
    }
    bool same = from && gir_type_of(p, v)->space == gir_type_of(p, z->tables[from - 1].w)->space;
    return same ? from : 0;
}

static void add_use(gn_arena *a, table *t, gir_id g, int ends)
{
    uint32_t k = 0;
    while (k < t->uses.n && t->uses.p[k].graph < g) k++;
    if (k < t->uses.n && t->uses.p[k].graph == g) {
        t->uses.p[k].ends |= ends;
        return;
    }
    end_use u = {g, ends};
    GN_PUSH(a, t->uses, u);
    for (uint32_t j = t->uses.n - 1; j > k; j--) t->uses.p[j] = t->uses.p[j - 1];
    t->uses.p[k] = u;
}

/* The ends at which v reads a table by edges or by rows that are picked; 0: it does otherwise. */
static int ends_of(const gir_program *p, gir_id v, int operand)
{
    const gir_node *n = gir_at(p, v);
    if (operand != 1) return 0;
    return n->op == GIR_GATHER ? 1 << n->attr.i[0] : n->op == GIR_TAKE ? 1 : 0;
}

static void find_uses(toucher *z)
{
    const gir_program *p = z->p;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        if (!z->from[v]) z->from[v] = find_table(z, v);
        for (int k = 0; k < gir_at(p, v)->n_in; k++) {
            table *t = table_of(z, gir_in(p, v, k));
            int ends = t ? ends_of(p, v, k) : 0;
            if (ends) add_use(z->r.to->arena, t, gir_in(p, v, 0), ends);
            if (t && !ends && t != table_of(z, v)) t->whole = true;
        }
    }
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        table *t = table_of(z, p->outputs.p[k].value);
        if (t) t->whole = true;
    }
}

/* Graphs, and what they are made of, before all else: a pick may need one that stands further
 * down. */
static void copy_graphs(toucher *z)
{
    const gir_program *p = z->p;
    bool *needed = GN_NEW_N(z->r.to->arena, bool, p->nodes.n);
    for (gir_id v = p->nodes.n - 1; v > 0; v--) {
        needed[v] = needed[v] || gir_type_of(p, v)->is_graph;
        for (int k = 0; needed[v] && k < gir_at(p, v)->n_in; k++) needed[gir_in(p, v, k)] = true;
    }
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (needed[v]) gn_rewrite_copy(&z->r, v);
}

static void pick_rows(toucher *z, table *t)
{
    gn_rewrite_copy(&z->r, t->w);
    for (uint32_t k = 0; k < t->uses.n; k++) {
        const gir_id in[2] = {z->r.map[t->uses.p[k].graph], t->pick};
        t->pick = gn_rewrite_make(&z->r, GIR_ENDS, t->pick ? 2 : 1, in,
                                  &(gir_attr){.i = {t->uses.p[k].ends}}, NULL);
    }
    const gir_id in[2] = {t->pick, z->r.map[t->w]};
    t->rows = gn_rewrite_make(&z->r, GIR_TAKE, 2, in, NULL, NULL);
    t->at = GN_NEW_N(z->r.to->arena, gir_id, z->p->nodes.n);
    t->at[t->w] = t->rows;
}

/* v, which is computed from t row by row, on the rows that are picked. */
static gir_id on_picked(toucher *z, table *t, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    gir_id *in = GN_NEW_N(z->r.to->arena, gir_id, n->n_in);
    if (n->type.space == 0) return z->r.map[v];
    if (t->at[v]) return t->at[v];
    for (int k = 0; k < n->n_in; k++) in[k] = on_picked(z, t, gir_in(z->p, v, k));
    gir_type type = n->type;
    type.space = gir_type_of(z->r.to, t->rows)->space;
    z->r.to->loc = n->loc;
    return t->at[v] = gn_rewrite_share(&z->r, (gir_op)n->op, n->n_in, in, &n->attr, &type);
}

/* The graph between the rows of t that are picked, at the ends at which t is read. */
static gir_id between(toucher *z, const table *t, gir_id g)
{
    gir_id in[3] = {z->r.map[g]};
    int n = 1, ends = 0;
    for (uint32_t k = 0; k < t->uses.n; k++)
        if (t->uses.p[k].graph == g) ends = t->uses.p[k].ends;
    for (int end = 0; end < 2; end++)
        if (ends >> end & 1) in[n++] = t->pick;
    return gn_rewrite_make(&z->r, GIR_RESTRICT, n, in, &(gir_attr){.i = {ends}}, NULL);
}

static void rebuild(toucher *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    const table *own = table_of(z, v);
    table *t = n->n_in > 1 ? table_of(z, gir_in(z->p, v, 1)) : NULL;
    if (z->r.map[v] || (own && own->rows)) return;
    if (!t || !t->rows) {
        gn_rewrite_copy(&z->r, v);
        return;
    }
    gir_id rows = on_picked(z, t, gir_in(z->p, v, 1));
    z->r.to->loc = n->loc;
    const gir_id in[2] = {between(z, t, gir_in(z->p, v, 0)), rows};
    z->r.map[v] = gn_rewrite_make(&z->r, (gir_op)n->op, 2, in, &n->attr, NULL);
}

gn_status *gn_pass_touch_rows(gn_arena *a, const gir_program *loss, int n, const char *const *names,
                              gir_program **out)
{
    gir_program *p;
    toucher z = {.tables = GN_NEW_N(a, table, n + 1)};
    bool any = false;
    GN_TRY(gn_pass_cse(a, loss, &p));
    z.p = p;
    z.from = GN_NEW_N(a, int, p->nodes.n);
    for (int k = 0; k < n; k++) {
        gir_id w = gir_leaf_by_name(p, GIR_STATE, names[k]);
        if (!w || !gir_type_of(p, w)->space) continue;
        z.tables[z.n++].w = w;
        z.from[w] = z.n;
    }
    z.r = gn_rewrite_new(a, p);
    find_uses(&z);
    for (int k = 0; k < z.n; k++) any = any || (z.tables[k].uses.n && !z.tables[k].whole);
    *out = (gir_program *)loss;
    if (!any) return NULL;
    copy_graphs(&z);
    for (int k = 0; k < z.n; k++)
        if (z.tables[k].uses.n && !z.tables[k].whole) pick_rows(&z, &z.tables[k]);
    for (gir_id v = 1; v < p->nodes.n; v++) rebuild(&z, v);
    gn_rewrite_outputs(&z.r);
    *out = z.r.to;
    return NULL;
}

gn_status *gn_touched_rows(const gir_program *p, gir_id w, gir_id *rows)
{
    int takes = 0, others = 0;
    for (gir_id v = w + 1; v < p->nodes.n; v++)
        for (int k = 0; k < gir_at(p, v)->n_in; k++) {
            if (gir_in(p, v, k) != w) continue;
            bool take = gir_at(p, v)->op == GIR_TAKE && gir_at(p, gir_in(p, v, 0))->op == GIR_ENDS;
            *(take ? &takes : &others) += 1;
            if (take) *rows = v;
        }
    for (uint32_t k = 0; k < p->outputs.n; k++) others += p->outputs.p[k].value == w;
    if (takes == 1 && !others) return NULL;
    *rows = 0;
    if (!takes) return NULL;
    GN_FAIL(GN_ERR_INTERNAL, "rows of '%s' are touched, and it is read otherwise, too",
            gir_at(p, w)->attr.name);
}
