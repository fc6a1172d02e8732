/* specialise: sizes that are known are written into a program's spaces, where lowering finds
 * them. */
#include "build/jit.h"
#include "base/data_name.h"

#include <string.h>

/* Numbers of rows are multiplied by their columns and bytes: more than these, which no memory
 * holds, stay open. */
static const int64_t most = (int64_t)1 << 40;

static int64_t known(const gn_guards *g, gn_dim d)
{
    gn_range r = g->of[d];
    return r.least == r.most && r.least <= most ? r.least : -1;
}

static void set(gir_program *p, gir_space_id s, int64_t size)
{
    if (s && size >= 0 && p->spaces.p[s].size < 0) p->spaces.p[s].size = size;
}

/* Edges of derived graphs are known where their number does not depend on what the edges are. */
void gn_specialise(gir_program *p, const gn_guards *g)
{
    for (gir_id v = 1; p && v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op == GIR_GRAPH && !strcmp(n->attr.name, GN_NAME_G)) {
            set(p, n->type.src, known(g, GN_DIM_NODES));
            set(p, n->type.dst, known(g, GN_DIM_NODES));
            set(p, n->type.edge, known(g, GN_DIM_EDGES));
        } else if (n->type.is_graph) {
            int64_t edges = gir_known_edges(p, v);
            if (edges <= most) set(p, n->type.edge, edges);
        }
    }
}
