/* Gradients by name: a program with cotangents of its results as inputs, and with gradients as
 * outputs; and the two programs that it is run as, one after the other. */
#ifndef GN_PASSES_GRADIENTS_H
#define GN_PASSES_GRADIENTS_H

#include "ir/gir.h"

/* Behind these words stand numbers: of a result (gir_result), and of what a gradient is of. */
#define GN_COTANGENT "cotangent."
#define GN_GRADIENT "gradient."

typedef struct gn_gradient { /* of a leaf of floats */
    bool of_state;
    const char *name; /* in programs */
} gn_gradient;

typedef struct gn_gradients {
    bool inference; /* of the model as it infers, not as it trains */
    int n;
    const gn_gradient *of;
} gn_gradients;

/* needs: `forward` verifies.  gives: all of it; an input "cotangent.<k>" for each result of floats,
 * and an output "gradient.<k>" for each leaf of `want` that it has.  A program that draws by the
 * step has one more step to go by, unless it counts them itself.  errors: GN_ERR_MODEL where
 * something on the way has no gradient. */
GN_NODISCARD gn_status *gn_pass_gradients(gn_arena *a, const gir_program *forward,
                                          const gn_gradients *want, gir_program **out);

/* needs: a program of gn_pass_gradients, whatever passes have made of it since.  gives: what does
 * not depend on cotangents, its updates among it, with what the rest reads as outputs "kept.<k>";
 * and the rest, which has those as inputs.  The two together give what the one did, bit for bit,
 * also where states that `forward` updates are read behind it. */
GN_NODISCARD gn_status *gn_pass_split(gn_arena *a, const gir_program *in, gir_program **forward,
                                      gir_program **backward);

#endif
