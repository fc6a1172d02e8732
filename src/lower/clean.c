/* clean: a kernel simplified, and verified. Needs: a kernel as lowering leaves it.  Keeps: what it
 * computes, to the bit.  Makes: the same kernel, smaller. */
#include "lower/lower.h"

#include "ir/kir_simplify.h"

gn_status *low_clean(kir_kernel *k)
{
    gn_status *s = kir_simplify(k);
    if (!s) s = kir_verify(k);
    return s ? gn_status_annotate(s, "kernel %s", k->name) : NULL;
}
