/* lower_random: draws by the number of an element, and whether 32 bits count those. */
#include "lower/lower_impl.h"

/* Rows of a space that edges end at, at most; -1: not known. */
static int64_t most_ends(const lower *L, gir_space_id space)
{
    const gir_program *p = L->p;
    if (p->spaces.p[space].size >= 0 || !L->opt->hints_hold) return p->spaces.p[space].size;
    for (gir_id g = 1; g < p->nodes.n; g++) {
        const gir_type *t = gir_type_of(p, g);
        bool ends = gir_at(p, g)->op == GIR_GRAPH || gir_at(p, g)->op == GIR_PATTERN;
        const low_hint *h = ends && (t->src == space || t->dst == space) ? low_hint_of(L->opt, p, g)
                                                                         : NULL;
        if (h) return t->src == space ? h->n_src : h->n_dst;
    }
    return -1;
}

/* Rows of a space, at most, as the user counts them; -1: not known. */
static int64_t most_user_rows(const lower *L, gir_space_id space)
{
    const gir_program *p = L->p;
    const gir_space *s = &p->spaces.p[space];
    if (space == 0) return 1;
    if (s->kind != GIR_EDGE) return most_ends(L, s->graph ? gir_type_of(p, s->graph)->src : space);
    const low_hint *h = L->opt->hints_hold ? low_hint_of(L->opt, p, s->graph) : NULL;
    int64_t most = h ? h->n_edge : -1;
    for (gir_id g = s->graph; h && gir_at(p, g)->n_in; g = gir_in(p, g, 0))
        most += h->n_dst; /* self-loops, each time */
    return most;
}

/* Has v fewer elements than 32 bits count, whatever is run? */
static bool counts_in_32(const lower *L, gir_id v)
{
    int64_t rows = most_user_rows(L, gir_type_of(L->p, v)->space), elems = fu_elems(L->p, v);
    return rows >= 0 && rows <= (int64_t)UINT32_MAX / (elems > 0 ? elems : 1);
}

kir_id low_random_at(lower *L, gir_id v, const where *w, kir_id element)
{
    const gir_node *n = gir_at(L->p, v);
    low_ix zero = low_index(gir_type_of(L->p, gir_in(L->p, v, 0)), low_iconst(L, 0));
    kir_id key = low_value(L, gir_in(L->p, v, 0), w, &zero);
    kir_id u = kir_random(L->k, low_at(L), key, element, n->attr.i[0], counts_in_32(L, v));
    return kir_cast(L->k, low_at(L), u, low_elem((gn_elem)n->type.elem));
}
