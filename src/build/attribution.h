/* Attribution: the program that says how much each feature of nodes adds to what a model says of
 * some rows. */
#ifndef GN_BUILD_ATTRIBUTION_H
#define GN_BUILD_ATTRIBUTION_H

#include "build/build.h"

/* Its inputs besides the model's own. */
#define GN_ATTRIBUTION_OF "attribution.of" /* as the result: what each number of it weighs */
#define GN_ATTRIBUTION_PART                                                                        \
    "attribution.part" /* f32[]: of the way from no features to those that                         \
                          there are */

typedef struct gn_attribution {
    gn_model model;      /* the same, whose evaluation is that program and which has no loss */
    bool at_nonzeros;    /* the only output is [non-zeros of x], row by row; else: */
    const char **output; /* [n] a name for each input: [rows, features] */
} gn_attribution;

/* An output for each of `inputs` [n], which the evaluation reads as floats, a row of features for
 * each node: each feature times the gradient of sum(result * attribution.of) by it, where all
 * features are multiplied by `part` before: divided by `part`, a step along the way.  `sparse`: x,
 * the only input, is bound as CSR.  GN_ERR_MODEL: the result has no gradient. */
GN_NODISCARD gn_status *gn_attribution_make(gn_arena *a, const gn_model *m, const char *result,
                                            int n, const char *const *inputs, bool sparse,
                                            gn_attribution *out);

#endif
