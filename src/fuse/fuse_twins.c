/* fuse_twins: elementwise values that are there twice, since one was made to come after the other
 * (remat.c). */
#include "fuse/fuse.h"

#include <string.h>

gir_id *fu_find_twins(gn_arena *a, const fusion *f)
{
    const gir_program *p = f->p;
    gir_id *first = GN_NEW_N(a, gir_id, p->nodes.n), *next = GN_NEW_N(a, gir_id, p->nodes.n),
           *twin = GN_NEW_N(a, gir_id, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        gir_class cls = gir_ops[n->op].cls;
        if ((cls != GIR_CLASS_MAP && cls != GIR_CLASS_VIEW) || !n->n_in || f->place[v] == FU_UNUSED)
            continue;
        gir_id o = gir_in(p, v, 0);
        if (twin[o]) o = twin[o];
        for (gir_id u = first[o]; u && !twin[v]; u = next[u]) {
            const gir_node *m = gir_at(p, u);
            bool same = m->op == n->op && m->n_in == n->n_in && gir_type_eq(&m->type, &n->type) &&
                        !memcmp(&m->attr, &n->attr, sizeof n->attr);
            for (int k = 0; same && k < n->n_in; k++) {
                gir_id x = gir_in(p, u, k), y = gir_in(p, v, k);
                same = x == y || x == twin[y];
            }
            if (same) twin[v] = u;
        }
        if (twin[v]) continue;
        next[v] = first[o];
        first[o] = v;
    }
    return twin;
}
