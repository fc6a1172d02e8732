/* Ranking of true answers among candidates, for knowledge graphs and links.
 *
 * The rank of a true answer is 1 + (above + not below) / 2, where `above` is how many other
 * candidates score higher and `not below` how many score as high or higher: the mean over all
 * orders of those that tie, and so a model that gives all the same score is in the middle.  OGB's
 * evaluator means the same.  Hits@K is the share of ranks that are at most K.
 *
 * NaN ranks last: a candidate with a NaN is below every number, and a true answer with a NaN is
 * behind every candidate, those with a NaN too.  (In OGB's it comes first.) */
#ifndef GN_RUNTIME_DATA_RANKING_H
#define GN_RUNTIME_DATA_RANKING_H

#include "runtime/data/known.h"

/* At which ranks hits are counted: 1, 3, 10. */
enum { GN_RANK_HITS = 3 };
extern const int gn_rank_hits[GN_RANK_HITS];

/* Sums over ranks.  Ranks and hits add exactly, reciprocals up to rounding, so that another order
 * may differ in the last places. */
typedef struct gn_ranks {
    int64_t n;
    double reciprocal, rank;
    int64_t hits[GN_RANK_HITS];
} gn_ranks;

void gn_ranks_add(gn_ranks *r, double rank);

typedef struct gn_rank_means {
    int64_t n; /* ranks; with none, everything is NaN */
    double mrr, rank, hits[GN_RANK_HITS];
} gn_rank_means;

gn_rank_means gn_ranks_means(const gn_ranks *r);

/* The rank of candidate `answer` among score [n], of which `known` [n_known] (ascending, none
 * twice, all in range) are left out but for the answer itself.  O(n + n_known), no memory. */
double gn_rank_of(const float *score, int64_t n, int64_t answer, const int64_t *known,
                  int64_t n_known);

/* A block of questions that have one end open, with a row of scores for each: of every tail that
 * (given, kind) may have, or of every head. */
typedef struct gn_rank_block {
    gn_asked asked;
    int64_t rows, candidates;
    const float *score;    /* [rows, candidates] row-major */
    const int64_t *given;  /* [rows]; needed where answers are filtered */
    const int32_t *kind;   /* [rows], or NULL: 0 */
    const int64_t *answer; /* [rows] the true one */
} gn_rank_block;

/* The rank of each row in `rank` [rows] (NULL: not wanted), and added to `sum` (NULL: likewise).
 * Filtered by `known`, NULL: by nothing.  O(rows * candidates + answers that are known).
 * GN_ERR_USAGE, with nothing added: sizes that do not fit, an answer, an end or a kind out of
 * range. */
GN_NODISCARD gn_status *gn_rank_rows(const gn_rank_block *b, const gn_known *known, double *rank,
                                     gn_ranks *sum);

#endif
