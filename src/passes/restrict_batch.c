/* Batches: rows of the loss are others in every step, and what else is a sum over rows is one over
 * those that the batch computes there. */
#include "passes/restricter.h"

#include <string.h>

static bool is_any(const gir_program *p, gir_id v, const bool *of)
{
    for (int k = 0; k < gir_at(p, v)->n_in; k++)
        if (of[gir_in(p, v, k)]) return true;
    return false;
}

void gn_find_made_of(gn_arena *a, restricter *z)
{
    const gir_program *p = z->from;
    bool *trained = z->trained = GN_NEW_N(a, bool, p->nodes.n);
    bool *random = z->random = GN_NEW_N(a, bool, p->nodes.n);
    bool *features = z->features = GN_NEW_N(a, bool, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool state = n->op == GIR_STATE, key = state && strncmp(n->attr.name, "rng.", 4) == 0;
        trained[v] = (state && !key) || is_any(p, v, trained);
        random[v] = key || is_any(p, v, random);
        features[v] = (n->op == GIR_INPUT && over_nodes(z, v)) || is_any(p, v, features);
    }
}

/* The highest level at which v is needed, or else what it is computed from row by row; all rows
 * where that is not known. */
static int level_needed(const restricter *z, gir_id v, int depth)
{
    enum { DEEPEST = 10 }; /* values, each of two others at most, as a rule */
    int level = -1;
    if (z->need[v]) return top(z->need[v]);
    if (depth == DEEPEST) return z->levels;
    for (int k = 0; k < gir_at(z->from, v)->n_in && gn_is_by_rows(z->from, v); k++) {
        gir_id o = gir_in(z->from, v, k);
        bool rows = over_nodes(z, o) && !gn_is_made_up(z->from, o);
        int of = rows ? level_needed(z, o, depth + 1) : -1;
        level = of > level ? of : level;
    }
    return level < 0 ? z->levels : level;
}

/* A sum over all rows is in a batch one over those that others need of what is summed. */
bool gn_sum_of_batch(restricter *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    if (!z->trained || z->batches->results || n->op != GIR_SPACE_REDUCE || z->sum_of[v] == z->mask)
        return false;
    gir_id o = gir_in(z->from, v, 0);
    int level = over_nodes(z, o) ? level_needed(z, o, 0) : z->levels;
    if (level == z->levels) return false;
    want(z, o, level);
    z->summed[v] = (uint8_t)(level + 1);
    return true;
}

/* By value without rows: which sums over a batch's rows it is made of, and numbers of rows. */
void gn_find_counts(restricter *z)
{
    const gir_program *p = z->from;
    for (gir_id v = 1; v < p->nodes.n && z->trained; v++) {
        const gir_node *n = gir_at(p, v);
        bool rows = n->type.is_graph || n->type.space;
        bool map = gir_ops[n->op].cls == GIR_CLASS_MAP || n->op == GIR_BROADCAST;
        z->counts[v] = n->op == GIR_SIZE || (!rows && map && n->n_in > 0 && n->n_in <= 4);
        for (int k = 0; k < n->n_in && !rows; k++) {
            gir_id o = gir_in(p, v, k);
            bool constant = gir_at(p, o)->op == GIR_CONST;
            z->counts[v] = z->counts[v] && (z->counts[o] || constant);
            if (z->summed[o] > z->summed[v] && !gir_type_of(p, o)->space)
                z->summed[v] = z->summed[o];
        }
    }
}

/* Numbers of rows, and what is made of those: of the rows of a level. */
gir_id gn_count_at(restricter *z, gir_id v, int level)
{
    gir_id *slot = &z->map[level][v], in[4];
    const gir_node *n = gir_at(z->from, v);
    if (*slot || level == z->levels) return *slot;
    if (n->op == GIR_SIZE) {
        gir_space_id s = (gir_space_id)n->attr.i[0];
        gir_id pick = can_pick(z, s) ? gn_pick_of(z, level, s) : 0;
        gir_attr attr = {.i = {pick ? gir_type_of(z->to, pick)->dst : s}};
        return *slot = gir_append(z->to, GIR_SIZE, 0, NULL, &attr, &n->type);
    }
    for (int k = 0; k < n->n_in; k++) in[k] = gn_count_at(z, gir_in(z->from, v, k), level);
    return *slot = gir_append(z->to, (gir_op)n->op, n->n_in, in, &n->attr, &n->type);
}

/* v, of no rows; numbers of rows that it reads are those of what else it is made of. */
gir_id gn_clone_whole(restricter *z, gir_id v)
{
    gir_id *whole = z->map[z->levels];
    const gir_node *n = gir_at(z->from, v);
    if (!z->summed[v] || z->counts[v]) return gir_clone_node(z->to, z->from, v, whole);
    gir_id *was = GN_NEW_N(z->to->arena, gir_id, n->n_in + 1);
    for (int k = 0; k < n->n_in; k++) {
        gir_id o = gir_in(z->from, v, k);
        was[k] = whole[o];
        if (z->counts[o]) whole[o] = gn_count_at(z, o, z->summed[v] - 1);
    }
    gir_id made = gir_clone_node(z->to, z->from, v, whole);
    for (int k = n->n_in - 1; k >= 0; k--) whole[gir_in(z->from, v, k)] = was[k];
    return made;
}

const char *gn_place_of(gn_arena *a, const gir_program *p, const gir_node *n)
{
    if (!n->loc.line) return "";
    return gn_arena_printf(a, "%s:%u: ", p->files.p[n->loc.file], (unsigned)n->loc.line);
}

/* Does a graph come of edges that are drawn of a whole relation's?  Those are as many in any
 * batch. */
static bool is_drawn(const gir_program *p, gir_id g)
{
    for (;;) {
        const gir_node *n = gir_at(p, g);
        if (gir_draws_edges(n) || !n->n_in || !gir_type_of(p, gir_in(p, g, 0))->is_graph)
            return gir_draws_edges(n);
        g = gir_in(p, g, 0);
    }
}

/* What weights go into is computed of a batch's rows alone. */
gn_status *gn_check_batch(gn_arena *a, const restricter *z)
{
    const gir_program *p = z->from;
    gir_id all = gn_reads_all_edges(z);
    if (all)
        GN_FAIL(GN_ERR_MODEL, "%swhat is computed here takes all edges, and results are of some",
                gn_place_of(a, p, gir_at(p, all)));
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        gir_id g = over_edges(z, v);
        bool rows = over_nodes(z, v) || (g && !in_batch(z, g) && !is_drawn(p, g));
        bool whole = z->need[v] >> z->levels & 1;
        if (!rows || !whole || !z->trained[v] || n->op == GIR_STATE) continue;
        GN_FAIL(GN_ERR_MODEL, "%s%swhat is computed here takes all rows, and %s",
                gn_place_of(a, p, n), z->batches->results ? "" : "`batch`: ",
                z->batches->results ? "results are of those that are named"
                                    : "a batch has some of them");
    }
    return NULL;
}
