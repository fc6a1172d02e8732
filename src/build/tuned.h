/* Tuned: what a search chose for one program, how it was come by, and both as text.
 *
 * Made by a search (tune/tune.h), or read from a lock file or the cache; taken by whatever compiles
 * the program. */
#ifndef GN_BUILD_TUNED_H
#define GN_BUILD_TUNED_H

#include "build/build.h"
#include "runtime/graph/reorder.h"

/* What came of searches so far, for one program. */
struct gn_tuned {
    gn_unit_id unit;
    gn_pick pick;
    gn_order reorder;
    double default_us, best_us; /* medians of the last comparison */
    double noise;               /* of their ratio */
    double seconds;             /* of searching, in all */
    int64_t wrong;              /* candidates that gave something else */
    bool finished;              /* nothing is left to try */
    GN_VEC(uint64_t) tried;     /* digests of candidates */
    const char *signature;      /* that it was found or made under; NULL: none */
};

extern const char *const gn_unit_name[GN_UNITS];

/* Lines of text, and back; what it holds lives in the arena.  GN_ERR_DATA: line number, what is
 * wrong, the nearest name. `where` names the text in messages, `line` is the number of its first
 * line. */
void gn_tuned_print(const gn_tuned *t, gn_buf *out);
GN_NODISCARD gn_status *gn_tuned_parse(gn_arena *a, const char *text, const char *where, int line,
                                       gn_tuned *out);
/* Choices in a few words, "" for none. */
const char *gn_pick_text(gn_arena *a, const gn_pick *p);
gn_pick gn_pick_copy(gn_arena *a, const gn_pick *p); /* whose schedule lives in the arena */
/* A copy that lives in the arena, without what was tried. */
gn_tuned *gn_tuned_copy(gn_arena *a, const gn_tuned *t);
/* Was it found by a search, kept or locked, rather than noted for want of one?  t may be NULL. */
static inline bool gn_tuned_known(const gn_tuned *t) { return t && t->signature; }

#endif
