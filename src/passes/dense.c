/* dense: matrix products with plain operands. Needs: nothing.  Keeps: all outputs, bit for bit.
 * Afterwards no MATMUL has tb, and none without a space has ta.
 *
 * A transposed operand would be read with a stride by every register tile; a parameter is small, so
 * it is transposed once, into memory of its own. */
#include "passes/passes.h"

gn_status *gn_run_dense(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                        gir_program **out)
{
    (void)opt;
    gir_program *to = gir_program_new(a, in->name);
    gir_id *map = GN_NEW_N(a, gir_id, in->nodes.n);
    gir_clone_frame(to, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        const gir_node *n = gir_at(in, v);
        to->loc = n->loc;
        if (n->op != GIR_MATMUL) {
            map[v] = gir_clone_node(to, in, v, map);
            continue;
        }
        gir_id x = map[gir_in(in, v, 0)], y = map[gir_in(in, v, 1)];
        bool ta = n->attr.i[0] != 0;
        if (n->attr.i[1]) y = gir_transpose(to, y);
        if (ta && gir_type_of(to, x)->space == 0) {
            x = gir_transpose(to, x);
            ta = false;
        }
        map[v] = gir_matmul(to, x, y, ta, false);
    }
    gir_clone_outputs(to, in, map);
    *out = to;
    return NULL;
}
