/* What is known to be true: a set of triples (head, kind, tail), to be asked from either end.
 *
 * Ranking leaves out of the candidates what is known besides the true answer, and drawing of false
 * edges what is known at all.  Nothing here keeps state; what is built is only read. */
#ifndef GN_RUNTIME_DATA_KNOWN_H
#define GN_RUNTIME_DATA_KNOWN_H

#include "base/status.h"

/* A list of triples, or of edges.  The arrays are the caller's. */
typedef struct gn_triples {
    int64_t n;
    const int64_t *head, *tail; /* [n] */
    const int32_t *kind;        /* [n], or NULL: all are of kind 0 */
} gn_triples;

/* The end that a question leaves open. */
typedef enum gn_asked {
    GN_ASKED_TAIL, /* (head, kind, ?) */
    GN_ASKED_HEAD, /* (?, kind, tail) */
    GN_ASKED_COUNT
} gn_asked;

/* Questions by the end that is given: its groups, one a kind that it has, and their answers. */
typedef struct gn_known_side {
    int64_t given;   /* how many numbers the given end has: heads, or tails */
    int64_t *first;  /* [given + 1] the groups of one */
    int32_t *kind;   /* [groups] ascending within one */
    int64_t *start;  /* [groups + 1] the answers of a group */
    int64_t *answer; /* [n] ascending within a group, none twice */
} gn_known_side;

typedef struct gn_known {
    int64_t heads, kinds, tails;
    int64_t n; /* triples; those that come again are counted once */
    gn_known_side side[GN_ASKED_COUNT];
    int64_t *pairs; /* [kinds + 1] the pairs of a kind */
    int64_t *pair;  /* [n] head * tails + tail, ascending within a kind */
} gn_known;

/* The set of all triples in `part` [parts], in any order, with repeats: the splits, say.  Of a
 * graph that is undirected both directions have to be among them; loops, where they are to count as
 * known.  Time and memory are linear in triples, heads, kinds and tails.  GN_ERR_USAGE: sizes below
 * 0 or above GN_MAX_NODES; GN_ERR_DATA: a triple out of range; GN_ERR_NOMEM.  On an error `out` is
 * empty. */
GN_NODISCARD gn_status *gn_known_build(int64_t heads, int64_t kinds, int64_t tails,
                                       const gn_triples *part, int parts, gn_known *out);
void gn_known_free(gn_known *k); /* an empty one is fine */

/* How many answers are known; *answer is where they stand, ascending.  In the logarithm of the
 * kinds that `given` has.  Both numbers have to be in range. */
int64_t gn_known_answers(const gn_known *k, gn_asked asked, int64_t given, int64_t kind,
                         const int64_t **answer);
/* In the logarithm of the tails that (head, kind) has.  The numbers have to be in range. */
bool gn_known_has(const gn_known *k, int64_t head, int64_t kind, int64_t tail);

/* The r-th number, from 0, that is not in `sorted` [n]: ascending, from 0, none twice.  O(log n).
 */
int64_t gn_known_gap(const int64_t *sorted, int64_t n, int64_t r);

#endif
