/* Rows of a batch that are apart: each with the rows that are grown for it alone, so that edges may
 * count for one and not for another, by their times and its own.
 *
 * What is a sum over all edges, as degrees are, is one over those that count, where those are not
 * all: by their times, or since a batch's own are left out.  Such graphs are drawn besides, with
 * all of their edges, and have no rows above, since degrees are made of no rows. */
#include "passes/restricter.h"

#include <string.h>

/* The input of the times that rows or edges called `owner` have; 0: they have none. */
static gir_id times_of(restricter *z, const char *owner, gir_space_id over)
{
    const gn_batch_spec *b = z->batches;
    if (!b || !b->time) return 0;
    const char *name = gn_arena_printf(z->to->arena, "%s.%s", owner, b->time);
    for (const gn_time_column *c = b->times; c->name; c++) {
        if (strcmp(c->name, name) != 0) continue;
        gir_type t = gir_tensor(c->elem, over, 0, NULL);
        gir_id v = gir_leaf_by_name(z->to, GIR_INPUT, name);
        return v ? v : gir_leaf(z->to, GIR_INPUT, name, &t);
    }
    return 0;
}

static int64_t apart(const gn_batch_spec *b) { return b->before ? 2 : 1; }

gir_id gn_rows_of_batch(restricter *z)
{
    gir_space_id s = space_of(z, z->mask);
    gir_id in[2] = {z->map[z->levels][z->mask]};
    if (!is_apart(z)) return gir_op1(z->to, GIR_SUBSET, in[0]);
    in[1] = times_of(z, z->from->spaces.p[s].name, s);
    gir_attr how = {.i = {in[1] ? apart(z->batches) : 1}};
    return gir_make(z->to, GIR_SUBSET, in[1] ? 2 : 1, in, &how, NULL, NULL);
}

static gir_id times_of_edges(restricter *z, gir_id g)
{
    gir_id whole = gir_bound_graph(z->from, g);
    if (!whole) return 0;
    gir_space_id edges = gir_type_of(z->to, z->map[z->levels][whole])->edge;
    return times_of(z, gir_at(z->from, whole)->attr.name, edges);
}

gir_id gn_edges_of_batch(restricter *z, gir_id v)
{
    const gir_program *p = z->from;
    gir_id *whole = z->map[z->levels], in[3] = {whole[gir_in(p, v, 0)], whole[gir_in(p, v, 1)]};
    in[2] = times_of_edges(z, gir_in(p, v, 0));
    gir_attr how = {.i = {in[2] ? apart(z->batches) : 1}};
    return gir_make(z->to, GIR_FILTER, in[2] ? 3 : 2, in, &how, gir_type_of(p, v), NULL);
}

gir_id gn_draw_times(restricter *z, gir_id g)
{
    gir_id t = times_of_edges(z, g);
    gir_space_id s = gir_type_of(z->from, g)->src;
    return t || !can_pick(z, s) ? t : times_of(z, z->from->spaces.p[s].name, s);
}

/* Sums of what counts -------------------------------------------------------------------------- */

bool gn_some_count(const restricter *z, gir_id g)
{
    bool some = z->batches && (z->batches->time || gn_leaves_out(z, g));
    return some && !in_batch(z, g) && gn_is_relation(z->from, g);
}

bool gn_sums_some(const restricter *z, gir_id v)
{
    return gir_at(z->from, v)->op == GIR_SCATTER && gn_some_count(z, gir_in(z->from, v, 0));
}

gir_id gn_counted_at(restricter *z, gir_id v, int level)
{
    const gir_program *p = z->from;
    gir_id g = gir_in(p, v, 0), e = gir_in(p, v, 1), whole = z->map[z->levels][g];
    gir_id h = gn_edges_that_count(z, g, level);
    gir_type t = *gir_type_of(z->to, z->map[z->levels][e]);
    bool constant = gir_at(p, e)->op == GIR_CONST;
    t.space = gir_type_of(z->to, h)->edge;
    gir_id x = constant ? gir_const(z->to, &t, gir_at(p, e)->attr.f)
                        : gn_carried_to(z, h, whole, z->map[z->levels][e]);
    return gir_scatter(z->to, h, x, GIR_DST, (int)gir_at(p, v)->attr.i[1]);
}

gn_status *gn_check_apart(gn_arena *a, const restricter *z)
{
    const gir_program *p = z->from;
    const gn_batch_spec *b = z->batches;
    if (!is_apart(z) || !b->time) return NULL;
    const char *owner = p->spaces.p[space_of(z, z->mask)].name;
    for (gir_id g = 1; z->of_batch && g < p->nodes.n; g++)
        if (in_batch(z, g) && gir_at(p, g)->op == GIR_FILTER && gir_bound_graph(p, g))
            owner = gir_at(p, gir_bound_graph(p, g))->attr.name;
    const char *name = gn_arena_printf(a, "%s.%s", owner, b->time);
    const gn_time_column *c = b->times;
    while (c->name && strcmp(c->name, name) != 0) c++;
    if (!c->name)
        GN_FAIL(GN_ERR_MODEL, "`%s = %s`: a batch is of `%s`, and the data have no `%s`",
                b->before ? "before" : "until", b->time, owner, name);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (!gn_sums_some(z, v) || !(z->need[v] >> z->levels & 1)) continue;
        GN_FAIL(GN_ERR_MODEL,
                "%swhat is computed here is a sum over edges of all times, and a "
                "batch has those up to its own",
                gn_place_of(a, p, n));
    }
    return NULL;
}
