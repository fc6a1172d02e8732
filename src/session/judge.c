/* judge: how well a model tells true links from false ones: those that were held out, or those that
 * the data lists as `seeds`, with a label each. */
#include "session/session_impl.h"
#include "base/data_name.h"

#include "runtime/data/ranking.h"
#include "runtime/data/lent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS "seeds"

static int place_of(const gn_dataset *d, const char *relation)
{
    for (int k = 0; k < d->n_relations; k++)
        if (!strcmp(d->relations[k].name, relation)) return k + 1;
    return 0;
}

static const gn_table_column *of_seeds(const gn_session *s, const char *name)
{
    const gn_table_column *c = gn_dataset_column(s->data, name);
    return c && c->on_edges && c->rank == 0 ? c : NULL;
}

static double number(const gn_table_column *c, int64_t e)
{
    return c->elem == GN_F32 ? (double)((const float *)c->data)[e]
                             : (double)((const int32_t *)c->data)[e];
}

/* Are seeds to be tested, and has each a label that says whether it is true? */
static bool has_labels(const gn_session *s)
{
    const gn_table_column *test = of_seeds(s, SEEDS ".test_mask"),
                          *label = of_seeds(s, SEEDS ".labels");
    if (!test || test->elem != GN_BOOL || !label || label->elem == GN_BOOL) return false;
    for (int64_t e = 0; e < gn_dataset_edges(s->data, label->over); e++)
        if (number(label, e) != 0 && number(label, e) != 1) return false;
    return true;
}

bool gn_session_judges(const gn_session *s)
{
    int64_t width;
    const char *scored = gn_session_scored(s, &width);
    if (!scored || width != 1) return false;
    if (s->links.test.n && !strcmp(scored, GN_NAME_LINKS)) return true;
    return !strcmp(scored, SEEDS) && has_labels(s);
}

/* Links to be judged. */
typedef struct judged {
    int relation;
    int64_t n;
    int64_t *src, *dst, *of; /* [n]; of: where they stand in the data, NULL: nowhere */
    int32_t *y;              /* [n] 0 or 1 */
    int64_t *question;       /* [n] whose answers they are, below 0: nobody's; NULL: likewise */
    float *score;
} judged;

static void release(judged *j)
{
    void *all[] = {j->src, j->dst, j->of, j->y, j->question, j->score};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static gn_status *make_room(judged *j, int64_t n)
{
    int64_t **whole[] = {&j->src, &j->dst, &j->of, &j->question};
    bool there = true;
    for (int k = 0; k < 4; k++) there &= !!(*whole[k] = malloc((size_t)(n + 1) * sizeof(int64_t)));
    j->y = malloc((size_t)(n + 1) * sizeof *j->y);
    j->score = malloc((size_t)(n + 1) * sizeof *j->score);
    if (!there || !j->y || !j->score)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld links", (long long)n);
    return NULL;
}

static gn_status *take_held_out(const gn_session *s, bool test, judged *j)
{
    const gn_judged *from = test ? &s->links.test : &s->links.val;
    GN_TRY(make_room(j, from->n));
    j->relation = place_of(s->data, GN_NAME_LINKS);
    for (; j->n < from->n; j->n++) {
        j->src[j->n] = from->src[j->n];
        j->dst[j->n] = from->dst[j->n];
        j->of[j->n] = 0;
        j->y[j->n] = j->n < from->n_true;
        j->question[j->n] = -1;
    }
    return NULL;
}

static gn_status *take_seeds(const gn_session *s, bool test, judged *j)
{
    const gn_table_column *mask = of_seeds(s, test ? SEEDS ".test_mask" : SEEDS ".val_mask"),
                          *label = of_seeds(s, SEEDS ".labels"),
                          *index = of_seeds(s, SEEDS ".indexes");
    j->relation = place_of(s->data, SEEDS);
    GN_TRY(gn_dataset_list_edges(s->data));
    const gn_relation *r = &s->data->relations[j->relation - 1];
    GN_TRY(make_room(j, r->n_edges));
    for (int64_t e = 0; mask && mask->elem == GN_BOOL && e < r->n_edges; e++) {
        if (!((const uint8_t *)mask->data)[e]) continue;
        j->src[j->n] = r->from[e];
        j->dst[j->n] = r->to[e];
        j->of[j->n] = e;
        j->y[j->n] = number(label, e) == 1;
        j->question[j->n++] = index && index->elem == GN_I32 ? ((const int32_t *)index->data)[e]
                                                             : -1;
    }
    return NULL;
}

/* ---- true links among the false ones that are given for the same question ---- */

typedef struct answer {
    int64_t question;
    int32_t y;
    float score;
} answer;

/* By question; of one the false ones first. */
static int by_question(const void *a, const void *b)
{
    const answer *x = a, *y = b;
    if (x->question != y->question)
        return (x->question > y->question) - (x->question < y->question);
    return (x->y > y->y) - (x->y < y->y);
}

static void rank_question(const answer *a, int64_t n, float *row, gn_ranks *sum)
{
    int64_t wrong = 0;
    for (; wrong < n && !a[wrong].y; wrong++) row[wrong] = a[wrong].score;
    for (int64_t k = wrong; k < n; k++) {
        row[wrong] = a[k].score;
        gn_ranks_add(sum, gn_rank_of(row, wrong + 1, wrong, NULL, 0));
    }
}

/* The mean of 1 / rank, as ogbl-citation2 has it; NaN where no link is of a question. */
static gn_status *mrr(const judged *j, double *out)
{
    answer *a = malloc((size_t)(j->n + 1) * sizeof *a);
    float *row = malloc((size_t)(j->n + 1) * sizeof *row);
    gn_ranks sum = {0};
    int64_t n = 0;
    for (int64_t k = 0; a && k < j->n; k++)
        if (j->question[k] >= 0) a[n++] = (answer){j->question[k], j->y[k], j->score[k]};
    if (a && row) qsort(a, (size_t)n, sizeof *a, by_question);
    for (int64_t at = 0, end; a && row && at < n; at = end) {
        for (end = at; end < n && a[end].question == a[at].question;) end++;
        rank_question(a + at, end - at, row, &sum);
    }
    *out = gn_ranks_means(&sum).mrr;
    gn_status *status = a && row ? NULL : GN_ERROR(GN_ERR_NOMEM, "out of memory: ranks of links");
    free(a);
    free(row);
    return status;
}

static gn_status *judge(const gn_session *s, bool test, judged *j, gn_metrics *out)
{
    int64_t width;
    bool seeds = !strcmp(gn_session_scored(s, &width), SEEDS);
    GN_TRY(seeds ? take_seeds(s, test, j) : take_held_out(s, test, j));
    const gn_other_edges e = {
        .n = j->n, .src = j->src, .dst = j->dst, .of = seeds ? j->of : NULL, .score = j->score};
    *out = gn_metrics_none();
    if (!j->n) return NULL;
    GN_TRY(gn_session_score_edges(s, j->relation, &e));
    GN_TRY(gn_metrics_binary(j->score, j->n, j->y, NULL, 0, out));
    return mrr(j, &out->mrr);
}

gn_status *gn_session_judge(const gn_session *s, bool test, gn_metrics *out)
{
    judged j = {0};
    gn_status *status = judge(s, test, &j, out);
    release(&j);
    return status;
}
