/* Each row of a batch, or edge, in a subgraph of its own (`sampler = shadow`): level 1 has the rows
 * that edges lead to over some hops, of each row a few that are drawn, and all messages go along
 * the edges between those, over as many hops as the model has.  Zeng et al., "Decoupling the depth
 * and scope of graph neural networks" (NeurIPS 2021). */
#include "passes/restricter.h"

enum { FIRST_SITE = (1 << 30) + (1 << 28) }; /* behind those of other draws */

/* Edges are drawn as the data have them, without the loops of layers. */
static gir_id without_loops(const gir_program *p, gir_id g)
{
    for (;; g = gir_in(p, g, 0)) {
        gir_op op = (gir_op)gir_at(p, g)->op;
        if (op != GIR_SELF_LOOPS && op != GIR_REMAINING_LOOPS && op != GIR_REMOVE_LOOPS) return g;
    }
}

/* By graph of from: edges are drawn of it. */
static bool *find_drawn(gn_arena *a, const restricter *z)
{
    bool *drawn = GN_NEW_N(a, bool, z->from->nodes.n);
    for (gir_id g = 1; g < z->from->nodes.n; g++)
        if (z->through[g]) drawn[without_loops(z->from, g)] = true;
    return drawn;
}

/* A row draws the same edges in each hop, as the site is the same: it has so many in all. */
static gir_id draw(restricter *z, gir_id g, gir_id rows, uint32_t site)
{
    const gn_batch_spec *b = z->batches;
    const gir_drawing how = {.most = b->shadow[1],
                             .site = site,
                             .how = (int)b->draw,
                             .weight = gn_draw_weights(z, g),
                             .time = gn_draw_times(z, g)};
    return gir_draw(z->to, z->map[z->levels][g], gn_key_of_draws(z), rows, &how);
}

void gn_pick_shadow(restricter *z)
{
    const gir_program *p = z->from;
    uint32_t spaces = p->spaces.n;
    gir_id *now = GN_NEW_N(z->to->arena, gir_id, spaces),
           *next = GN_NEW_N(z->to->arena, gir_id, spaces);
    const bool *drawn = find_drawn(z->to->arena, z);
    for (uint32_t s = 0; s < spaces; s++)
        if (can_pick(z, (gir_space_id)s)) now[s] = gn_pick_of(z, 0, (gir_space_id)s);
    for (int64_t hop = 0; hop < z->batches->shadow[0]; hop++) {
        uint32_t site = FIRST_SITE;
        for (uint32_t s = 0; s < spaces; s++) next[s] = now[s];
        for (gir_id g = 1; g < p->nodes.n; g++) {
            gir_id into = drawn[g] ? now[gir_type_of(p, g)->dst] : 0;
            site += drawn[g];
            if (!into) continue;
            gir_id *to = &next[gir_type_of(p, g)->src], edges = draw(z, g, into, site);
            *to = gir_grow(z->to, into, edges, *to, GIR_SRC);
        }
        for (uint32_t s = 0; s < spaces; s++) now[s] = next[s];
    }
    for (uint32_t s = 0; s < spaces; s++) z->pick[1][s] = now[s];
}

/* Which spaces have rows at level 0. */
static void begin(const restricter *z, bool *reached)
{
    const gir_program *p = z->from;
    if (!z->of_batch) reached[space_of(z, z->mask)] = true;
    for (gir_id g = 1; z->of_batch && g < p->nodes.n; g++) {
        if (!in_batch(z, g)) continue;
        int read = z->of_batch[g] - 1;
        if (read & 1 << GIR_SRC) reached[gir_type_of(p, g)->src] = true;
        if (read & 1 << GIR_DST) reached[gir_type_of(p, g)->dst] = true;
    }
}

/* Subgraphs have edges by the rows that those go into. */
static gn_status *check_sums(gn_arena *a, const restricter *z)
{
    const gir_program *p = z->from;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_SCATTER || n->attr.i[0] != GIR_SRC || !z->need[v]) continue;
        if (gir_draws_edges(gir_at(p, gir_in(p, v, 0))) || in_batch(z, gir_in(p, v, 0))) continue;
        GN_FAIL(GN_ERR_MODEL,
                "%s`shadow`: what is computed here sums over the edges from rows (`out_degree`, "
                "`over = src`), and subgraphs sum over those into rows",
                gn_place_of(a, p, n));
    }
    return NULL;
}

gn_status *gn_check_shadow(gn_arena *a, const restricter *z)
{
    const gir_program *p = z->from;
    if (!is_shadow(z)) return NULL;
    GN_TRY(check_sums(a, z));
    bool *now = GN_NEW_N(a, bool, p->spaces.n), *next = GN_NEW_N(a, bool, p->spaces.n);
    const bool *drawn = find_drawn(a, z);
    begin(z, now);
    for (int64_t hop = 0; hop < z->batches->shadow[0]; hop++) {
        for (uint32_t s = 0; s < p->spaces.n; s++) next[s] = now[s];
        for (gir_id g = 1; g < p->nodes.n; g++)
            if (drawn[g] && now[gir_type_of(p, g)->dst]) next[gir_type_of(p, g)->src] = true;
        for (uint32_t s = 0; s < p->spaces.n; s++) now[s] = next[s];
    }
    for (gir_id g = 1; g < p->nodes.n; g++)
        for (int end = GIR_SRC; end <= GIR_DST && drawn[g]; end++) {
            const gir_type *t = gir_type_of(p, g);
            gir_space_id s = end == GIR_SRC ? t->src : t->dst;
            if (can_pick(z, s) && !now[s])
                GN_FAIL(GN_ERR_MODEL,
                        "`shadow`: messages come from `%s`, which is more than %d hop%s away",
                        p->spaces.p[s].name, (int)z->batches->shadow[0],
                        z->batches->shadow[0] == 1 ? "" : "s");
        }
    return NULL;
}
