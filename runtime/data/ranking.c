#include "runtime/data/ranking.h"

#include <math.h>

const int gn_rank_hits[GN_RANK_HITS] = {1, 3, 10};

void gn_ranks_add(gn_ranks *r, double rank)
{
    r->n++;
    r->reciprocal += 1 / rank;
    r->rank += rank;
    for (int h = 0; h < GN_RANK_HITS; h++) r->hits[h] += rank <= gn_rank_hits[h];
}

gn_rank_means gn_ranks_means(const gn_ranks *r)
{
    double n = r->n ? (double)r->n : (double)NAN;
    gn_rank_means m = {.n = r->n, .mrr = r->reciprocal / n, .rank = r->rank / n};
    for (int h = 0; h < GN_RANK_HITS; h++) m.hits[h] = (double)r->hits[h] / n;
    return m;
}

/* How many are above and how many the same; a NaN is neither.  Pieces of one length become vectors,
 * whatever the compiler. */
static void compare(const float *x, int64_t n, float with, int64_t *above, int64_t *same)
{
    enum { PIECE = 256 };
    int64_t i = 0;
    *above = *same = 0;
    for (; n - i >= PIECE; i += PIECE) {
        int32_t up = 0, level = 0;
        for (int j = 0; j < PIECE; j++) {
            up += x[i + j] > with;
            level += x[i + j] == with;
        }
        *above += up;
        *same += level;
    }
    for (; i < n; i++) {
        *above += x[i] > with;
        *same += x[i] == with;
    }
}

/* `same`: of other candidates. */
static double rank_from(int64_t above, int64_t same)
{
    return 1 + (double)above + (double)same / 2;
}

double gn_rank_of(const float *score, int64_t n, int64_t answer, const int64_t *known,
                  int64_t n_known)
{
    float mine = score[answer];
    int64_t above, same, left = n;
    compare(score, n, mine, &above, &same);
    for (int64_t i = 0; i < n_known; i++) {
        if (known[i] == answer) continue;
        left--;
        above -= score[known[i]] > mine;
        same -= score[known[i]] == mine;
    }
    return isnan(mine) ? (double)left : rank_from(above, same - 1);
}

static gn_status *check_size(int64_t rows, int64_t columns)
{
    int64_t bytes;
    if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)sizeof(float), &bytes))
        GN_FAIL(GN_ERR_USAGE, "ranks of %lld rows of %lld scores", (long long)rows,
                (long long)columns);
    return NULL;
}

static gn_status *check_row(const gn_rank_block *b, const gn_known *known, int64_t i)
{
    int64_t kind = b->kind ? b->kind[i] : 0;
    if (b->answer[i] < 0 || b->answer[i] >= b->candidates)
        GN_FAIL(GN_ERR_USAGE, "row %lld has answer %lld, of %lld candidates", (long long)i,
                (long long)b->answer[i], (long long)b->candidates);
    if (!known) return NULL;
    int64_t given = known->side[b->asked].given;
    if (b->given[i] < 0 || b->given[i] >= given)
        GN_FAIL(GN_ERR_USAGE, "row %lld asks of %lld, of %lld", (long long)i,
                (long long)b->given[i], (long long)given);
    if (kind < 0 || kind >= known->kinds)
        GN_FAIL(GN_ERR_USAGE, "row %lld asks of kind %lld, of %lld", (long long)i, (long long)kind,
                (long long)known->kinds);
    return NULL;
}

gn_status *gn_rank_rows(const gn_rank_block *b, const gn_known *known, double *rank, gn_ranks *sum)
{
    GN_TRY(check_size(b->rows, b->candidates));
    int64_t of = !known ? b->candidates : b->asked == GN_ASKED_TAIL ? known->tails : known->heads;
    if (of != b->candidates)
        GN_FAIL(GN_ERR_USAGE, "rows of %lld candidates, where %lld are known of",
                (long long)b->candidates, (long long)of);
    for (int64_t i = 0; i < b->rows; i++) GN_TRY(check_row(b, known, i));
    for (int64_t i = 0; i < b->rows; i++) {
        const int64_t *answers = NULL;
        int64_t n = 0, kind = b->kind ? b->kind[i] : 0;
        if (known) n = gn_known_answers(known, b->asked, b->given[i], kind, &answers);
        const float *row = b->score + i * b->candidates;
        double r = gn_rank_of(row, b->candidates, b->answer[i], answers, n);
        if (rank) rank[i] = r;
        if (sum) gn_ranks_add(sum, r);
    }
    return NULL;
}
