/* Expect: sizes where they are not at hand yet, for decisions that are made before a program is
 * bound. */
#ifndef GN_COMPILE_EXPECT_H
#define GN_COMPILE_EXPECT_H

#include "lower/lower.h"
#include "runtime/artifact.h"

/* Values of the symbols for sizes that are to be expected, at most: [n_syms].  false: one cannot be
 * known. */
bool gn_expected_symbols(const gn_artifact *a, int n_hints, const low_hint *hints, int64_t *value);

#endif
