/* judge: how well a model tells links that were held out from false ones. */
#include "session/session_impl.h"
#include "base/data_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gn_session_judges(const gn_session *s)
{
    const char *scored = s->links.test.n ? gn_session_scored(s) : NULL;
    return scored && !strcmp(scored, GN_NAME_LINKS);
}

static int place_of_links(const gn_dataset *d)
{
    for (int k = 0; k < d->n_relations; k++)
        if (!strcmp(d->relations[k].name, GN_NAME_LINKS)) return k + 1;
    return 0;
}

static gn_status *judge(const gn_session *s, const gn_judged *j, float *score, int32_t *y,
                        gn_metrics *out)
{
    const gn_other_edges e = {.n = j->n, .src = j->src, .dst = j->dst, .score = score};
    for (int64_t i = 0; i < j->n; i++) y[i] = i < j->n_true;
    GN_TRY(gn_session_score_edges(s, place_of_links(s->data), &e));
    return gn_metrics_binary(score, j->n, y, NULL, 0, out);
}

gn_status *gn_session_judge(const gn_session *s, bool test, gn_metrics *out)
{
    const gn_judged *j = test ? &s->links.test : &s->links.val;
    float *score = malloc((size_t)(j->n + 1) * sizeof *score);
    int32_t *y = malloc((size_t)(j->n + 1) * sizeof *y);
    gn_status *status = score && y
                            ? judge(s, j, score, y, out)
                            : GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld links", (long long)j->n);
    free(score);
    free(y);
    return status;
}
