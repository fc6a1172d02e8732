#include "cli/held_out.h"

#include "cli/session_options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static gn_status *score(const gn_session *s, gn_held_out *h)
{
    if (h->links) GN_TRY(gn_session_judge(s, false, &h->val));
    if (h->links) return gn_session_judge(s, true, &h->test);
    return h->facts ? gn_session_rank(s, "g.test_mask", &h->ranks) : NULL;
}

gn_status *gn_held_out_score(const gn_session *s, gn_held_out *out)
{
    if (s->opt.unscored) {
        *out = (gn_held_out){0};
        return NULL;
    }
    gn_held_out h = {.links = gn_session_judges(s)};
    h.facts = !h.links && gn_session_ranks(s);
    gn_status *status = score(s, &h);
    h.facts = h.facts && h.ranks.n > 0; /* no fact is marked to be tested */
    *out = status ? (gn_held_out){0} : h;
    return status;
}

typedef struct figure {
    const char *key, *words; /* in JSON; for people, NULL: in JSON alone */
    size_t offset;           /* in gn_held_out */
} figure;

#define AT(member) offsetof(gn_held_out, member)
#define OF_LINKS(part)                                                                             \
    {#part "_auc", #part " ROC AUC", AT(part.roc_auc)},                                            \
        {#part "_ap", #part " average precision", AT(part.average_precision)},                     \
        {#part "_hits@20", #part " hits@20", AT(part.hits[0])},                                    \
        {#part "_hits@50", #part " hits@50", AT(part.hits[1])},                                    \
        {#part "_hits@100", #part " hits@100", AT(part.hits[2])},                                  \
    {                                                                                              \
        #part "_mrr", #part " MRR", AT(part.mrr)                                                   \
    }
static const figure of_links[] = {OF_LINKS(val), OF_LINKS(test)};
static const figure of_facts[] = {{"mrr", "test MRR", AT(ranks.mrr)},
                                  {"mean_rank", NULL, AT(ranks.rank)},
                                  {"hits@1", "test hits@1", AT(ranks.hits[0])},
                                  {"hits@3", "test hits@3", AT(ranks.hits[1])},
                                  {"hits@10", "test hits@10", AT(ranks.hits[2])}};

static double value_of(const gn_held_out *h, const figure *f)
{
    return *(const double *)(const void *)((const char *)h + f->offset);
}

static const figure *figures(const gn_held_out *h, int *n)
{
    *n = h->links   ? sizeof of_links / sizeof *of_links
         : h->facts ? sizeof of_facts / sizeof *of_facts
                    : 0;
    return h->links ? of_links : of_facts;
}

void gn_held_out_json(gn_json *j, const gn_held_out *h)
{
    int n;
    const figure *f = figures(h, &n);
    if (h->facts) gn_json_object(j, "test");
    for (int k = 0; k < n; k++) gn_json_double(j, f[k].key, value_of(h, &f[k]));
    if (!h->facts) return;
    gn_json_int(j, "ranked", h->ranks.n);
    gn_json_end(j);
}

static void spread(const gn_held_out *h, int64_t n, const figure *f, double *mean, double *std)
{
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < n; k++) sum += value_of(&h[k], f);
    *mean = sum / (double)n;
    for (int64_t k = 0; k < n; k++)
        squares += (value_of(&h[k], f) - *mean) * (value_of(&h[k], f) - *mean);
    *std = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

void gn_held_out_json_spread(gn_json *j, const gn_held_out *h, int64_t n)
{
    int figs = 0;
    const figure *f = n ? figures(h, &figs) : NULL;
    if (!figs) return;
    gn_json_object(j, "held_out");
    for (int k = 0; k < figs; k++) {
        double mean, std;
        spread(h, n, &f[k], &mean, &std);
        gn_json_object(j, f[k].key);
        gn_json_double(j, "mean", mean);
        gn_json_double(j, "std", std);
        gn_json_end(j);
    }
    gn_json_end(j);
}

static void print_part(const char *part, const gn_metrics *m)
{
    char auc[GN_CLI_PERCENT], ap[GN_CLI_PERCENT], hits[GN_CLI_PERCENT];
    printf("%s ROC AUC %s, average precision %s", part, gn_cli_percent(auc, m->roc_auc, 2),
           gn_cli_percent(ap, m->average_precision, 2));
    for (int k = 0; k < GN_HITS; k++)
        printf(", hits@%d %s", gn_hits_at[k], gn_cli_percent(hits, m->hits[k], 2));
    if (!isnan(m->mrr)) printf(", MRR %.4f", m->mrr);
}

void gn_held_out_print(const gn_held_out *h, const char *before)
{
    if (h->links) {
        printf("%slinks: ", before);
        print_part("val", &h->val);
        printf("; ");
        print_part("test", &h->test);
        printf("\n");
    }
    if (!h->facts) return;
    printf("%stest: MRR %.4f", before, h->ranks.mrr);
    for (int k = 0; k < GN_RANK_HITS; k++)
        printf(", hits@%d %.4f", gn_rank_hits[k], h->ranks.hits[k]);
    printf(", mean rank %.0f, of %lld ranks, filtered\n", h->ranks.rank, (long long)h->ranks.n);
}

void gn_held_out_print_spread(const gn_held_out *h, int64_t n)
{
    int figs = 0;
    const figure *f = n > 1 ? figures(h, &figs) : NULL;
    for (int k = 0; k < figs; k++) {
        double mean, std;
        spread(h, n, &f[k], &mean, &std);
        if (f[k].words && h->links && !isnan(mean))
            printf("%s %.2f%% +- %.2f over %lld seeds\n", f[k].words, 100 * mean, 100 * std,
                   (long long)n);
        else if (f[k].words && !isnan(mean))
            printf("%s %.4f +- %.4f over %lld seeds\n", f[k].words, mean, std, (long long)n);
    }
}
