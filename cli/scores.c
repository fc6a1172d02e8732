#include "cli/scores.h"

#include "cli/session_options.h"

#include "runtime/data/listed.h"

#include <math.h>

enum { MASKS = 3 };
static const char *const mask_name[MASKS] = {"train", "val", "test"};

typedef struct score {
    const char *name, *words; /* in JSON, and for people */
    size_t offset;            /* in gn_metrics */
    bool always;              /* printed without -v, besides accuracies */
} score;

#define AT(member) offsetof(gn_metrics, member)
static const score scores[] = {
    {"accuracy", NULL, AT(accuracy), false},
    {"precision_micro", "micro precision", AT(precision_micro), false},
    {"recall_micro", "micro recall", AT(recall_micro), false},
    {"f1_micro", "micro F1", AT(f1_micro), false},
    {"precision_macro", "macro precision", AT(precision_macro), false},
    {"recall_macro", "macro recall", AT(recall_macro), false},
    {"f1_macro", "macro F1", AT(f1_macro), true},
    {"roc_auc", "ROC AUC", AT(roc_auc), false},
    {"average_precision", "average precision", AT(average_precision), false},
};
enum { SCORES = sizeof scores / sizeof *scores };

static double value_of(const gn_metrics *m, const score *s)
{
    return *(const double *)(const void *)((const char *)m + s->offset);
}

static const uint8_t *mask_of(const gn_session *s, int k)
{
    const uint8_t *mask[MASKS] = {s->data->train_mask, s->data->val_mask, s->data->test_mask};
    return mask[k];
}

static gn_status *compute(const gn_session *s, int k, gn_metrics *m)
{
    int64_t classes;
    const float *out = gn_session_logits(s, &classes);
    gn_listed l;
    GN_TRY(gn_listed_rows(s->data, mask_of(s, k), out, classes, &l));
    gn_status *status = gn_metrics_compute(l.logits, l.n, classes, l.y, l.mask, m);
    gn_listed_free(&l);
    return status;
}

static bool has_scores(const gn_session *s)
{
    return s->data->y && !s->opt.unscored && gn_session_classes(s);
}

gn_status *gn_cli_json_metrics(gn_json *j, const gn_session *s)
{
    if (!has_scores(s)) return NULL;
    gn_json_object(j, "metrics");
    for (int k = 0; k < MASKS; k++) {
        gn_metrics m;
        if (!mask_of(s, k)) continue;
        GN_TRY(compute(s, k, &m));
        gn_json_object(j, mask_name[k]);
        gn_json_int(j, "n", m.n);
        for (int i = 0; i < SCORES; i++)
            gn_json_double(j, scores[i].name, value_of(&m, &scores[i]));
        gn_json_end(j);
    }
    gn_json_end(j);
    return NULL;
}

void gn_cli_json_not_finite(gn_json *j, const gn_session *s)
{
    gn_not_finite n = gn_session_not_finite(s);
    gn_json_int(j, "not_finite", n.nan + n.infinite);
}

gn_status *gn_cli_print_metrics(const gn_cli *cli, const gn_session *s)
{
    gn_metrics m[MASKS];
    if (!has_scores(s)) return NULL;
    for (int k = 0; k < MASKS; k++)
        if (mask_of(s, k)) GN_TRY(compute(s, k, &m[k]));
    for (int i = 0; i < SCORES; i++) {
        bool own = scores[i].offset == AT(roc_auc) && gn_session_unbalanced(s);
        if (!scores[i].words || !(own || scores[i].always || cli->opt.verbose)) continue;
        printf("%s", scores[i].words);
        for (int k = 0; k < MASKS; k++) {
            char text[GN_CLI_PERCENT];
            if (mask_of(s, k))
                printf(" %s %s", mask_name[k],
                       gn_cli_percent(text, value_of(&m[k], &scores[i]), 2));
        }
        printf("\n");
    }
    return NULL;
}

void gn_cli_warn_not_finite(const gn_cli *cli, const gn_session *s)
{
    gn_not_finite n = gn_session_not_finite(s);
    if (cli->opt.quiet || !(n.nan + n.infinite)) return;
    fprintf(stderr,
            "warning: %s gives numbers that are not finite in %lld of %lld rows (%lld with a NaN)",
            s->model->name, (long long)(n.nan + n.infinite), (long long)n.rows, (long long)n.nan);
    if (n.nan && gn_session_classes(s))
        fprintf(stderr, ": a row with a NaN has no prediction (-1 in files) and counts as wrong");
    fputc('\n', stderr);
}
