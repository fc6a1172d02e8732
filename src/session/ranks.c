/* ranks: how high a model scores facts of the data among all that could stand in their place.
 *
 * A model that gives each edge of g a number scores a block of facts, each with every node in the
 * place of one of its ends; of one that gives two, either end has its own. */
#include "session/session_impl.h"
#include "base/data_name.h"
#include "runtime/data/lent.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_EDGES = 1 << 21 }; /* of one run, about */

static const gn_table_column *column_on_edges(const gn_dataset *d, const char *name)
{
    const gn_table_column *c = gn_dataset_column(d, name);
    return c && c->on_edges && c->over == 0 ? c : NULL;
}

bool gn_session_ranks(const gn_session *s)
{
    const gn_table_column *test = column_on_edges(s->data, GN_NAME_G ".test_mask");
    int64_t width;
    const char *scored = test && test->elem == GN_BOOL ? gn_session_scored(s, &width) : NULL;
    return scored && !strcmp(scored, GN_NAME_G);
}

typedef struct ranker {
    const gn_session *s;
    gn_known known;
    int64_t nodes, *fact; /* [n] edges to be ranked, by the user's numbers */
    int64_t n;
    int64_t *src, *dst, *of; /* [block] ends of a block's edges, and the facts that they stand for
                              */
    int64_t *given, *answer;
    int32_t *kinds;
    float *score;
} ranker;

static void release(ranker *r)
{
    void *all[] = {r->fact, r->src, r->dst, r->of, r->given, r->answer, r->kinds, r->score};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    gn_known_free(&r->known);
}

static const int32_t *kinds_of(const gn_dataset *d)
{
    const gn_table_column *c = column_on_edges(d, GN_NAME_G ".kind");
    return c && c->elem == GN_I32 ? c->data : NULL;
}

static gn_status *prepare(ranker *r, const uint8_t *mask, int64_t rows)
{
    gn_dataset *d = r->s->data;
    GN_TRY(gn_dataset_list_edges(d));
    const gn_table_column *kind = column_on_edges(d, GN_NAME_G ".kind");
    const gn_triples all = {.n = d->n_edges, .head = d->src, .tail = d->dst, .kind = kinds_of(d)};
    int64_t kinds = all.kind ? kind->classes : 1, edges = rows * r->nodes;
    r->fact = malloc((size_t)(d->n_edges + 1) * sizeof *r->fact);
    r->src = malloc((size_t)(edges + 1) * sizeof *r->src);
    r->dst = malloc((size_t)(edges + 1) * sizeof *r->dst);
    r->of = malloc((size_t)(edges + 1) * sizeof *r->of);
    r->score = malloc((size_t)(edges + 1) * sizeof *r->score);
    r->given = malloc((size_t)(rows + 1) * sizeof *r->given);
    r->answer = malloc((size_t)(rows + 1) * sizeof *r->answer);
    r->kinds = malloc((size_t)(rows + 1) * sizeof *r->kinds);
    if (!r->fact || !r->src || !r->dst || !r->of || !r->score || !r->given || !r->answer ||
        !r->kinds)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld candidates to rank", (long long)edges);
    for (int64_t e = 0; e < d->n_edges; e++)
        if (mask[e]) r->fact[r->n++] = e;
    return gn_known_build(r->nodes, kinds, r->nodes, &all, 1, &r->known);
}

static gn_status *rank_block(ranker *r, gn_asked asked, int64_t first, int64_t rows, gn_ranks *sum)
{
    const gn_dataset *d = r->s->data;
    const int32_t *kind = kinds_of(d);
    bool tail = asked == GN_ASKED_TAIL;
    for (int64_t i = 0; i < rows; i++) {
        int64_t e = r->fact[first + i];
        r->given[i] = tail ? d->src[e] : d->dst[e];
        r->answer[i] = tail ? d->dst[e] : d->src[e];
        r->kinds[i] = kind ? kind[e] : 0;
        for (int64_t v = 0; v < r->nodes; v++) {
            int64_t at = i * r->nodes + v;
            r->src[at] = tail ? r->given[i] : v;
            r->dst[at] = tail ? v : r->given[i];
            r->of[at] = e;
        }
    }
    const gn_other_edges e = {.n = rows * r->nodes,
                              .src = r->src,
                              .dst = r->dst,
                              .of = r->of,
                              .which = !tail,
                              .score = r->score};
    GN_TRY(gn_session_score_edges(r->s, 0, &e));
    const gn_rank_block b = {.asked = asked,
                             .rows = rows,
                             .candidates = r->nodes,
                             .score = r->score,
                             .given = r->given,
                             .kind = r->kinds,
                             .answer = r->answer};
    return gn_rank_rows(&b, &r->known, NULL, sum);
}

static gn_status *rank_all(ranker *r, int64_t rows, gn_ranks *sum)
{
    for (int64_t at = 0; at < r->n; at += rows) {
        int64_t n = r->n - at < rows ? r->n - at : rows;
        GN_TRY(rank_block(r, GN_ASKED_TAIL, at, n, sum));
        GN_TRY(rank_block(r, GN_ASKED_HEAD, at, n, sum));
    }
    return NULL;
}

gn_status *gn_session_rank(const gn_session *s, const char *mask, gn_rank_means *out)
{
    const gn_table_column *c = column_on_edges(s->data, mask);
    ranker r = {.s = s, .nodes = s->data->n_nodes};
    gn_ranks sum = {0};
    *out = gn_ranks_means(&sum);
    if (!c || c->elem != GN_BOOL || !r.nodes) return NULL;
    int64_t rows = BLOCK_EDGES / r.nodes;
    if (rows < 1) rows = 1;
    gn_status *status = prepare(&r, c->data, rows);
    if (!status) status = rank_all(&r, rows, &sum);
    release(&r);
    if (!status) *out = gn_ranks_means(&sum);
    return status;
}
