/* Results for some rows of nodes: level 0 is those that an input tells, in order, and results have
 * those rows alone.  Or for some edges of a relation along which no messages go: those are a
 * batch's, level 0 is the rows at their ends, and what lies on them is the only result.  Nothing is
 * a sum over a batch's rows: results are what they are among all. */
#include "base/data_name.h"
#include "passes/restricter.h"
#include "passes/rewrite.h"

#include <string.h>

static const char *mask_of(gn_arena *a, const char *owner)
{
    return gn_arena_printf(a, "%s" GN_BATCH_MASK, owner);
}

/* The edges of `all` that an input tells; what comes of `all` comes of them. */
static void put_filter(gn_rewrite *r, gir_id all, gir_id *filter)
{
    const char *name = mask_of(r->to->arena, gir_at(r->to, all)->attr.name);
    gir_type t = gir_tensor(GN_BOOL, gir_type_of(r->to, all)->edge, 0, NULL);
    const gir_id in[2] = {all, gir_leaf(r->to, GIR_INPUT, name, &t)};
    *filter = gn_rewrite_make(r, GIR_FILTER, 2, in, NULL, NULL);
}

/* A value that is given for each edge of `all`, of those that are left. */
static gir_id carried(gn_rewrite *r, gir_id filter, gir_id all, gir_id x)
{
    gir_type fill = *gir_type_of(r->to, x);
    fill.space = gir_type_of(r->to, filter)->dst;
    const gir_id in[4] = {filter, all, x, gir_const(r->to, &fill, 0)};
    return gn_rewrite_make(r, GIR_CARRY, 4, in, NULL, NULL);
}

/* Some edges in the place of all of a relation, throughout; 0: there is no such relation. */
static gir_id leave_edges(gn_rewrite *r, const char *of)
{
    const gir_program *p = r->from;
    gir_id all = 0, filter = 0;
    gir_space_id edges = 0, whole = 0, some = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool given = filter && !n->type.is_graph && n->type.space == edges &&
                     (n->op == GIR_INPUT || n->op == GIR_STATE);
        if (given) r->space[edges] = whole;
        gn_rewrite_copy(r, v);
        if (given) r->map[v] = carried(r, filter, all, r->map[v]);
        if (n->op == GIR_GRAPH && !strcmp(n->attr.name, of)) {
            all = r->map[v];
            edges = n->type.edge;
            whole = gir_type_of(r->to, all)->edge;
            put_filter(r, all, &filter);
            some = gir_type_of(r->to, filter)->edge;
            r->map[v] = filter;
        }
        if (filter) r->space[edges] = some;
    }
    return filter;
}

static void find_edges(gn_arena *a, restricter *z)
{
    gn_rewrite r = gn_rewrite_new(a, z->from);
    gir_id filter = leave_edges(&r, z->batches->of);
    uint32_t n = 0;
    gn_rewrite_outputs(&r);
    gir_program *p = r.to;
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (filter && gir_type_of(p, p->outputs.p[k].value)->space == gir_type_of(p, filter)->edge)
            p->outputs.p[n++] = p->outputs.p[k];
    p->outputs.n = n;
    z->from = p;
    if (n) gn_find_batch(a, z);
}

void gn_find_results(gn_arena *a, restricter *z)
{
    gir_space_id s = 0;
    z->mask = 0;
    if (z->batches->of) find_edges(a, z);
    gir_program *p = gir_clone(a, z->from);
    z->from = p;
    z->sum_of = GN_NEW_N(a, gir_id, p->nodes.n + 1);
    for (uint32_t k = 0; k < p->outputs.n && !s && !z->batches->of; k++)
        if (over_nodes(z, p->outputs.p[k].value)) s = space_of(z, p->outputs.p[k].value);
    if (!s) return;
    gir_type t = gir_tensor(GN_BOOL, s, 0, NULL);
    z->mask = gir_leaf(p, GIR_INPUT, mask_of(p->arena, p->spaces.p[s].name), &t);
}

bool gn_is_some_result(const restricter *z, gir_id v)
{
    if (!z->batches || !z->batches->results || gir_type_of(z->from, v)->is_graph) return false;
    gir_id g = z->of_batch ? over_edges(z, v) : 0;
    if (z->of_batch) return g && in_batch(z, g);
    return over_nodes(z, v) && space_of(z, v) == space_of(z, z->mask);
}

/* Is a value of an edge made of what that edge has, and the rows at its ends? */
static bool by_itself(const gir_program *p, gir_id v)
{
    gir_op op = (gir_op)gir_at(p, v)->op;
    if (op == GIR_IOTA || op == GIR_RANDOM) return false;
    return gn_is_by_rows(p, v) || op == GIR_INPUT || op == GIR_STATE || op == GIR_CARRY ||
           op == GIR_GATHER || op == GIR_TAKE;
}

/* Does v hang on all edges of a batch that there are? */
static bool reads_all(const restricter *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    gir_space_id named = n->op == GIR_SIZE ? gir_named_space(n) : 0;
    gir_id of = named && p->spaces.p[named].kind == GIR_EDGE ? p->spaces.p[named].graph : 0;
    if (of && in_batch(z, of)) return true;
    gir_id g = over_edges(z, v);
    if (n->type.is_graph || (g && in_batch(z, g))) return !n->type.is_graph && !by_itself(p, v);
    for (int k = 0; k < n->n_in; k++) {
        gir_id o = gir_in(p, v, k), from = over_edges(z, o);
        if (from && in_batch(z, from)) return true;
    }
    return false;
}

gir_id gn_reads_all_edges(const restricter *z)
{
    if (!z->of_batch || !z->batches->results) return 0;
    for (gir_id v = 1; v < z->from->nodes.n; v++)
        if (z->need[v] && reads_all(z, v)) return v;
    return 0;
}
