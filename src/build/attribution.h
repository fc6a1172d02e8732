/* Attribution: the program that says how much each feature of nodes adds to what a model says of
 * some rows. */
#ifndef GN_BUILD_ATTRIBUTION_H
#define GN_BUILD_ATTRIBUTION_H

#include "build/build.h"

/* Its inputs besides the model's own. */
#define GN_ATTRIBUTION_OF "attribution.of" /* as the result: what each number of it weighs */
#define GN_ATTRIBUTION_PART                                                                        \
    "attribution.part"               /* f32[]: of the way from no features to those that           \
                                        there are */
#define GN_ATTRIBUTION "attribution" /* its output */

typedef struct gn_attribution {
    gn_model model;   /* the same, whose evaluation is that program and which has no loss */
    bool at_nonzeros; /* the output is [non-zeros of x], row by row; else [nodes, features] */
} gn_attribution;

/* The output: each feature times the gradient of sum(result * attribution.of), by features that
 * are multiplied by `part` before: divided by `part`, a step along the way.  `sparse`: x is bound
 * as CSR.  GN_ERR_MODEL: the model does not read x, or the result has no gradient. */
GN_NODISCARD gn_status *gn_attribution_make(gn_arena *a, const gn_model *m, const char *result,
                                            bool sparse, gn_attribution *out);

#endif
