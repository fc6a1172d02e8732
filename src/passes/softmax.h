/* The numerators of softmaxes over edges. */
#ifndef GN_PASSES_SOFTMAX_H
#define GN_PASSES_SOFTMAX_H

#include "ir/gir.h"

/* Is v = exp(x - gather(max of x over each destination's edges of g)), and so 1 at most?  Sets *g
 * and *x where it is. */
bool gn_is_softmax(const gir_program *p, gir_id v, gir_id *g, gir_id *x);

#endif
