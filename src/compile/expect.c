#include "compile/expect.h"
#include "base/data_name.h"

#include <string.h>

typedef struct sizes {
    int64_t src, dst, edge; /* -1: not known */
} sizes;

static sizes hinted(int n, const low_hint *hints, const char *name)
{
    for (int k = 0; k < n; k++)
        if (!strcmp(hints[k].name, name))
            return (sizes){hints[k].n_src, hints[k].n_dst, hints[k].n_edge};
    return (sizes){-1, -1, -1};
}

/* At most: picked rows and edges are taken to be all. */
static sizes graph_sizes(const gn_artifact *a, int n, const low_hint *hints, int g)
{
    const gn_graph_slot *s = &a->graphs[g];
    if (s->name) return hinted(n, hints, s->name);
    if (s->pattern_of) return hinted(n, hints, s->pattern_of);
    if (s->mask_of) { /* rows of a mask */
        sizes all = hinted(n, hints, GN_NAME_G);
        return (sizes){all.dst, all.dst, all.dst};
    }
    if (s->how == GN_INDEX) {
        int64_t of = s->with[0] < 0 ? -1 : graph_sizes(a, n, hints, s->with[0]).edge;
        return (sizes){s->rows.rows, of, of};
    }
    sizes p = graph_sizes(a, n, hints, s->parent);
    if (p.edge < 0) return p;
    if (s->how == GN_GROUP) { /* a row for each edge at most */
        int64_t of[] = {p.src, -1, s->rows.rows};
        if (s->end == GN_GROUPED_ROWS) of[1] = graph_sizes(a, n, hints, s->with[0]).dst;
        int64_t rows = s->end == GN_GROUPED ? p.edge : p.dst;
        return (sizes){of[s->end], rows, rows};
    }
    if (s->how == GN_GROW) {
        int64_t rows = s->end == 0 ? p.src : p.dst;
        return (sizes){rows, rows, rows};
    }
    if (s->how == GN_ENDS) { /* rows are at most all */
        int64_t rows = s->end == 1 ? p.src : p.dst, most = 0, more = 0;
        if (s->with[0] >= 0) more = graph_sizes(a, n, hints, s->with[0]).edge;
        bool all = more < 0 || __builtin_mul_overflow(p.edge, s->times, &most) ||
                   __builtin_add_overflow(most, more, &most) || (rows >= 0 && most > rows);
        return all ? (sizes){rows, rows, rows} : (sizes){rows, most, most};
    }
    for (int k = 0; s->how == GN_RESTRICT && k < 2; k++)
        if (s->with[k] >= 0 && a->graphs[s->with[k]].how == GN_ENDS)
            *(k ? &p.dst : &p.src) = graph_sizes(a, n, hints, s->with[k]).dst;
    if (s->how == GN_SAMPLE && p.edge > s->times) p.edge = s->times;
    if (s->how == GN_CORRUPT && __builtin_mul_overflow(p.edge, s->times, &p.edge)) p.edge = -1;
    int64_t most;
    if (s->how == GN_DRAW && !__builtin_mul_overflow(p.dst, s->times, &most) && most < p.edge)
        p.edge = most + (s->end ? p.dst : 0);
    if (s->how == GN_REVERSE) return (sizes){p.dst, p.src, p.edge};
    if (s->how == GN_SELF_LOOPS || s->how == GN_REMAINING_LOOPS) p.edge += p.dst;
    return p;
}

static int64_t parts_at_most(int64_t edges, const gn_sym *s)
{
    int64_t each = gn_part_array_edges(s->array) * s->value;
    return edges < 0 ? edges : edges / each + (edges % each != 0);
}

bool gn_expected_symbols(const gn_artifact *a, int n_hints, const low_hint *hints, int64_t *value)
{
    for (int k = 0; k < a->n_syms; k++) {
        const gn_sym *s = &a->syms[k];
        sizes g = s->graph >= 0 ? graph_sizes(a, n_hints, hints, s->graph)
                                : hinted(n_hints, hints, GN_NAME_G);
        switch (s->kind) {
        case GN_SYM_N_SRC: value[k] = g.src; break;
        case GN_SYM_N_DST:
        case GN_SYM_ROWS: value[k] = g.dst; break;
        case GN_SYM_N_EDGE: value[k] = g.edge; break;
        case GN_SYM_ELEMENTS:
        case GN_SYM_CONST: value[k] = s->value; break;
        case GN_SYM_PARTS: value[k] = parts_at_most(g.edge, s); break;
        case GN_SYM_CEIL:
            value[k] = value[s->of] / s->value + (value[s->of] % s->value != 0);
            break;
        }
        if (value[k] < 0) return false;
    }
    return true;
}
