/* Common subexpression elimination: values with the same operator, operands, attributes and type
 * become one. needs: nothing keeps: every value that is not a copy of an earlier one, in order
 * breaks: nothing.  Graphs derived twice become one graph, and so do their edge spaces: layers that
 * each add the same
 *         self-loops share them. */
#include "passes/rewrite.h"
#include "passes/simplify.h"

gn_status *gn_pass_cse(gn_arena *a, const gir_program *in, gir_program **out)
{
    gn_rewrite r = gn_rewrite_new(a, in);
    for (gir_id v = 1; v < in->nodes.n; v++) gn_rewrite_copy(&r, v);
    gn_rewrite_outputs(&r);
    *out = r.to;
    return NULL;
}
