/* fuse_walks: the walks over edges that regions have (fuse.h), and regions as text. */
#include "fuse/fuse.h"

fu_walk fu_walk_of(const fusion *f, gir_id v)
{
    const gir_program *p = f->p;
    gir_id sum = f->walk[v] ? f->walk[v] : v;
    if (gir_at(p, sum)->op != GIR_SCATTER) return (fu_walk){0, GIR_DST};
    return (fu_walk){gir_in(p, sum, 0), (int)gir_at(p, sum)->attr.i[0]};
}

int fu_find_walk(const region *r, fu_walk w)
{
    for (int k = 0; k < r->n_walks; k++)
        if (r->walk[k].graph == w.graph && r->walk[k].end == w.end) return k;
    return -1;
}

/* The relation that g is, or comes from; 0: the pattern of a matrix, or a pick of rows that data
 * name. */
static gir_id relation_of(const gir_program *p, gir_id g)
{
    while (gir_at(p, g)->op != GIR_GRAPH) {
        const gir_node *n = gir_at(p, g);
        int of = n->op == GIR_GROW && n->n_in > 1;
        if (!n->n_in || !gir_type_of(p, gir_in(p, g, of))->is_graph) return 0;
        g = gir_in(p, g, of);
    }
    return g;
}

bool fu_are_relations(const gir_program *p, fu_walk a, fu_walk b)
{
    return relation_of(p, a.graph) && relation_of(p, b.graph);
}

bool fu_has_relations(const fusion *f)
{
    int graphs = 0, kinds = 0;
    for (gir_id v = 1; v < f->p->nodes.n; v++) {
        if (f->place[v] == FU_UNUSED) continue;
        graphs += gir_at(f->p, v)->op == GIR_GRAPH;
        kinds += gir_at(f->p, v)->op == GIR_FILTER;
    }
    return graphs > 1 || kinds > 1;
}

int64_t fu_walked_elems(const gir_program *p, const region *r)
{
    int64_t n = 0;
    for (uint32_t m = 0; m < r->members.n; m++)
        if (gir_at(p, r->members.p[m])->op == GIR_SCATTER) n += fu_elems(p, r->members.p[m]);
    return n;
}

bool fu_walks_others(const region *r, const region *own)
{
    return own->n_walks && r->n_walks && fu_find_walk(r, own->walk[0]) < 0;
}

/* "edges of %1, %2 by dst, %3 by src" */
static void print_walks(const region *r, gn_buf *out)
{
    for (int k = 0; k < r->n_walks; k++) {
        const fu_walk *w = &r->walk[k];
        bool last = k + 1 == r->n_walks || w[1].end != w->end;
        gn_buf_printf(out, "%s%%%u", k ? ", " : " edges of ", w->graph);
        if (last) gn_buf_printf(out, " by %s", w->end == GIR_DST ? "dst" : "src");
    }
}

void gn_fusion_print(const fusion *f, gn_buf *out)
{
    static const char *const kind[] = {"rows", "flat", "gemm", "inner", "carry"};
    for (uint32_t r = 0; r < f->regions.n; r++) {
        const region *g = &f->regions.p[r];
        gn_buf_printf(out, "region %u %s", r, kind[g->kind]);
        if (g->kind == RG_FLAT)
            gn_buf_printf(out, " %lld", (long long)g->n);
        else
            gn_buf_printf(out, " %s", g->space ? f->p->spaces.p[g->space].name : "none");
        print_walks(g, out);
        gn_buf_add(out, ":");
        for (uint32_t m = 0; m < g->members.n; m++) {
            gir_id v = g->members.p[m];
            gn_buf_printf(out, " %%%u%s %s%s", v, f->stored[v] ? "!" : "",
                          gir_ops[gir_at(f->p, v)->op].text, m + 1 < g->members.n ? "," : "");
        }
        gn_buf_add(out, "\n");
    }
}
