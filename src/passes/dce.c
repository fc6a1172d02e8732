/* Dead code elimination. needs: nothing keeps: what outputs and updates need; for every space of
 * what is kept, the value that tells its size breaks: nothing (spaces that nothing uses stay,
 * without a graph) */
#include "passes/simplify.h"

gn_status *gn_pass_dce(gn_arena *a, const gir_program *in, gir_program **out)
{
    gir_program *to = gir_program_new(a, in->name);
    bool *live = GN_NEW_N(a, bool, in->nodes.n);
    gir_id *map = GN_NEW_N(a, gir_id, in->nodes.n);
    for (uint32_t k = 0; k < in->outputs.n; k++) live[in->outputs.p[k].value] = true;
    for (gir_id v = in->nodes.n - 1; v > 0; v--) {
        if (!live[v]) continue;
        const gir_node *n = gir_at(in, v);
        for (int k = 0; k < n->n_in; k++) live[gir_in(in, v, k)] = true;
        if (!n->type.is_graph && n->type.space) live[gir_space_source(in, n->type.space)] = true;
        if (gir_named_space(n)) live[gir_space_source(in, gir_named_space(n))] = true;
    }
    gir_clone_frame(to, in);
    for (gir_id v = 1; v < in->nodes.n; v++)
        if (live[v]) map[v] = gir_clone_node(to, in, v, map);
    for (uint32_t k = 0; k < in->outputs.n; k++) {
        gir_output o = in->outputs.p[k];
        o.value = map[o.value];
        GN_PUSH(a, to->outputs, o);
    }
    *out = to;
    return NULL;
}
