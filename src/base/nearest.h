/* Words that were meant: the nearest of several, and the choice of one. */
#ifndef GN_BASE_NEAREST_H
#define GN_BASE_NEAREST_H

#include "base/status.h"

#include <stddef.h>

/* The candidate nearest to `name` by edit distance, or NULL when none is near enough to be worth
 * suggesting. */
const char *gn_nearest(const char *name, const char *const *candidates, size_t n);

/* "; did you mean 'x'?", or "" where none is near; to be printed where it is made:
 * gn_did_you_mean(...).text */
enum { GN_NAME_MOST = 64 }; /* bytes of a name that can be near another */
typedef struct gn_suggestion {
    char text[GN_NAME_MOST + 24];
} gn_suggestion;
gn_suggestion gn_did_you_mean(const char *name, const char *const *candidates, size_t n);

/* *out: which of the n words (an enum's, in its order) `name` is; 0 for NULL, and where it is none
 * of them: GN_ERR_USAGE, "there is no <what> 'nam': name, other or third; did you mean 'name'?" */
GN_NODISCARD gn_status *gn_choose(const char *what, const char *name, const char *const *words,
                                  size_t n, int *out);

#endif
