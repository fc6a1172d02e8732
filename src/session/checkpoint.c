/* checkpoint: how far a session's training came, beside its state, and what it was trained on. */
#include "cache/sha256.h"
#include "passes/learning_rate.h"
#include "session/minibatches.h"
#include "session/session_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What it fits --------------------------------------------------------------------------------- */

enum { WORDS = 768 };

static int64_t marked(const uint8_t *mask, int64_t n)
{
    int64_t all = 0;
    for (int64_t v = 0; mask && v < n; v++) all += mask[v] != 0;
    return all;
}

static void data_words(const gn_session *s, char out[WORDS])
{
    const gn_dataset *d = s->data;
    snprintf(out, WORDS,
             "%" PRId64 " nodes, %" PRId64 " edges, %" PRId64 " features%s%s, %" PRId64
             " features of edges, %" PRId64 " classes; %" PRId64 " nodes to train on, %" PRId64
             " for validation, %" PRId64 " for test",
             d->n_nodes, d->n_edges, d->n_features, d->reduced ? " by " : "",
             d->reduced ? gn_reduction_name[d->reduced] : "", d->edge_dim, d->n_classes,
             marked(d->train_mask, gn_dataset_labelled(d)),
             marked(d->val_mask, gn_dataset_labelled(d)),
             marked(d->test_mask, gn_dataset_labelled(d)));
}

/* Of labels and masks, in the order in which the data has its nodes. */
static void labels_digest(const gn_session *s, char out[WORDS])
{
    const gn_dataset *d = s->data;
    unsigned char digest[GN_SHA256_BYTES];
    gn_sha256 h;
    gn_sha256_init(&h);
    for (int64_t v = 0; v < gn_dataset_labelled(d); v++) {
        int64_t row = gn_session_row(s, v);
        if (d->y) gn_sha256_add(&h, &d->y[row], sizeof d->y[row]);
        if (d->train_mask) gn_sha256_add(&h, &d->train_mask[row], 1);
        if (d->val_mask) gn_sha256_add(&h, &d->val_mask[row], 1);
        if (d->test_mask) gn_sha256_add(&h, &d->test_mask[row], 1);
        const float *times[] = {d->train_times, d->val_times, d->test_times};
        for (int k = 0; k < 3; k++)
            if (times[k]) gn_sha256_add(&h, &times[k][row], sizeof *times[k]);
    }
    gn_sha256_end(&h, digest);
    gn_sha256_hex(digest, out);
}

/* Which epoch is kept, and what by. */
static void choice_words(const gn_train_spec *t, char out[WORDS])
{
    const char *by = t->monitor_loss ? t->monitor_accuracy ? "[val_accuracy, val_loss]" : "val_loss"
                                     : "val_accuracy";
    if (t->monitor_links) by = gn_link_figure_name[t->monitor_links];
    snprintf(out, WORDS, "%s%s%s", t->select_best ? "best" : "last",
             t->select_best || t->patience > 0 ? " by " : "",
             t->select_best || t->patience > 0 ? by : "");
}

/* How a step is made of rows and edges. */
static void batch_words(const gn_train_spec *train, char out[WORDS])
{
    const gn_batch_spec *t = &train->batches;
    int at = snprintf(out, WORDS, "none");
    if (t->sampler)
        at = snprintf(out, WORDS, "%s(%" PRId64 ", %" PRId64 ", %" PRId64 ")",
                      gn_sampler_name[t->sampler], t->sampled[0], t->sampled[1], t->steps);
    if (t->size) at = snprintf(out, WORDS, "%s(%" PRId64 ")", t->of ? "edges" : "rows", t->size);
    if (t->of) at += snprintf(out + at, (size_t)(WORDS - at), " of %.40s", t->of);
    if (t->over) at += snprintf(out + at, (size_t)(WORDS - at), " over %.40s", t->over);
    for (int k = 0; k < t->n_fanout; k++)
        at += snprintf(out + at, (size_t)(WORDS - at), "%s%" PRId64, k ? "," : "; fanout ",
                       t->fanout[k]);
    if (t->draw)
        at += snprintf(out + at, (size_t)(WORDS - at), "; draw %s", gn_draw_how_name[t->draw]);
    if (t->exclude)
        at += snprintf(out + at, (size_t)(WORDS - at), "; exclude %s", gn_exclude_name[t->exclude]);
    if (t->shadow[0])
        at += snprintf(out + at, (size_t)(WORDS - at), "; shadow(%" PRId64 ", %" PRId64 ")",
                       t->shadow[0], t->shadow[1]);
    else if (t->apart && !t->time)
        at += snprintf(out + at, (size_t)(WORDS - at), "; disjoint");
    if (t->time)
        at += snprintf(out + at, (size_t)(WORDS - at), "; %s %.40s", t->before ? "before" : "until",
                       t->time);
    if (t->draw_by) at += snprintf(out + at, (size_t)(WORDS - at), "; draw_by %.40s", t->draw_by);
    if (t->accumulate > 1)
        snprintf(out + at, (size_t)(WORDS - at), "; accumulate %" PRId64, t->accumulate);
}

/* Progress ------------------------------------------------------------------------------------- */

typedef struct number {
    const char *key;
    int64_t *whole; /* or */
    double *real;
} number;

enum { NUMBERS = 13, OF_BATCHES = 3 }; /* the last ones are of batches alone */

static const char *precision_words(const gn_session *s)
{
    return gn_precision_words(s->arena, s->opt.numbers, s->opt.wide);
}

static void numbers_of(gn_fit *f, gn_best *b, number out[NUMBERS])
{
    const number all[NUMBERS] = {
        {"epoch", &f->epochs, NULL},
        {"loss", NULL, &f->loss},
        {"best_epoch", &b->epoch, NULL},
        {"best_epoch_loss", NULL, &b->train_loss},
        {"best_epoch_train_accuracy", NULL, &b->train},
        {"best_epoch_val_accuracy", NULL, &b->val},
        {"best_epoch_test_accuracy", NULL, &b->test},
        {"best_val_accuracy", NULL, &b->accuracy},
        {"best_val_loss", NULL, &b->loss},
        {"epochs_without_improvement", &b->misses, NULL},
        {"batches", &f->batches, NULL},
        {"batch_rows", &f->batch_rows, NULL},
        {"batch_loss", NULL, &f->batch_loss},
    };
    memcpy(out, all, sizeof all);
}

static int numbers_here(const gn_session *s) { return s->batches ? NUMBERS : NUMBERS - OF_BATCHES; }

/* %.17g is exact, and strtod reads what it makes of infinities and of what is no number. */
static gn_status *put_progress(const gn_session *s, gn_fit *fit, gn_best *best, gn_tensor_file *f)
{
    number all[NUMBERS];
    char text[32];
    numbers_of(fit, best, all);
    snprintf(text, sizeof text, "%" PRIu64, fit->seed);
    GN_TRY(gn_tensor_file_add_meta(f, "seed", text));
    for (int k = 0; k < numbers_here(s); k++) {
        if (all[k].whole)
            snprintf(text, sizeof text, "%" PRId64, *all[k].whole);
        else
            snprintf(text, sizeof text, "%.17g", *all[k].real);
        GN_TRY(gn_tensor_file_add_meta(f, all[k].key, text));
    }
    return NULL;
}

static gn_status *no_number(const char *path, const char *key, const char *is)
{
    GN_FAIL(GN_ERR_DATA, "%s: metadata '%s' is %.64s, expected a number", path, key,
            is ? is : "missing");
}

static gn_status *take_whole(const char *path, const gn_tensor_file *f, const char *key,
                             int64_t *out)
{
    const char *text = gn_tensor_file_meta(f, key);
    char *end = NULL;
    errno = 0;
    long long v = text ? strtoll(text, &end, 10) : 0;
    if (!text || end == text || *end || errno || v < 0) return no_number(path, key, text);
    *out = v;
    return NULL;
}

static gn_status *take_real(const char *path, const gn_tensor_file *f, const char *key, double *out)
{
    const char *text = gn_tensor_file_meta(f, key);
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    return !text || end == text || *end ? no_number(path, key, text) : NULL;
}

static gn_status *take_seed(const char *path, const gn_tensor_file *f, uint64_t *seed)
{
    int64_t v;
    if (!gn_tensor_file_meta(f, GN_STATE_KEY))
        GN_FAIL(GN_ERR_DATA,
                "%s: is no checkpoint; where it holds weights, --weights starts from them", path);
    if (!gn_tensor_file_meta(f, "seed"))
        GN_FAIL(GN_ERR_DATA,
                "%s: does not say how far it was trained; --weights starts from its weights", path);
    GN_TRY(take_whole(path, f, "seed", &v));
    *seed = (uint64_t)v;
    return NULL;
}

/* Files ---------------------------------------------------------------------------------------- */

static gn_status *fill(const gn_session *s, gn_fit *fit, gn_best *best, gn_tensor_file *f)
{
    char words[WORDS];
    GN_TRY(gn_state_put(s->model, &s->state, f));
    choice_words(&s->model->train, words);
    GN_TRY(gn_tensor_file_add_meta(f, "select", words));
    GN_TRY(gn_tensor_file_add_meta(f, "program", s->program));
    data_words(s, words);
    GN_TRY(gn_tensor_file_add_meta(f, "data", words));
    labels_digest(s, words);
    GN_TRY(gn_tensor_file_add_meta(f, "labels", words));
    batch_words(&s->model->train, words);
    if (s->batches) GN_TRY(gn_tensor_file_add_meta(f, "batch", words));
    GN_TRY(gn_state_put_precision(f, precision_words(s)));
    GN_TRY(put_progress(s, fit, best, f));
    return best->weights.n ? gn_weights_put(s->model, &best->weights, GN_BEST_PREFIX, f) : NULL;
}

gn_status *gn_checkpoint_write(const gn_session *s, const char *path, gn_fit *fit, gn_best *best)
{
    gn_tensor_file *f;
    GN_TRY(gn_tensor_file_new(&f));
    gn_status *status = fill(s, fit, best, f);
    if (!status) status = gn_safetensors_write(path, f);
    gn_tensor_file_free(f);
    return status;
}

static gn_status *check_data(const gn_session *s, const char *path, const gn_tensor_file *f)
{
    char words[WORDS];
    data_words(s, words);
    GN_TRY(gn_state_same(path, f, "data", "graph", words));
    labels_digest(s, words);
    const char *labels = gn_tensor_file_meta(f, "labels");
    if (labels && !strcmp(labels, words)) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: is of data with other labels or masks than here, as of another split",
            path);
}

/* After the state, where what differs has plainer names. */
static gn_status *check_program(const gn_session *s, const char *path, const gn_tensor_file *f)
{
    char words[WORDS];
    choice_words(&s->model->train, words);
    GN_TRY(gn_state_same(path, f, "select", "choice of epochs", words));
    const char *program = gn_tensor_file_meta(f, "program");
    if (program && !strcmp(program, s->program)) return NULL;
    GN_FAIL(GN_ERR_DATA,
            "%s: the model or its loss computes something else here; --weights starts anew from "
            "its weights",
            path);
}

static gn_status *check_batches(const gn_session *s, const char *path, const gn_tensor_file *f)
{
    char words[WORDS];
    const char *was = gn_tensor_file_meta(f, "batch");
    batch_words(&s->model->train, words);
    if (!strcmp(was ? was : "none", words)) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: is of batches %s, not of %s", path, was ? was : "none", words);
}

/* The step after which the best weights were, by which an evaluation draws edges. */
static void take_step(const gn_session *s, gn_best *best)
{
    const gn_state_tensor *t = gn_state_find(&best->weights, GN_STATE_STEPS);
    int64_t steps = s->batches ? gn_batches_count(s->batches) : 1;
    if (t) *(int64_t *)t->data = best->epoch * steps;
}

gn_status *gn_checkpoint_take(gn_session *s, gn_fit *fit, gn_best *best)
{
    const char *path = s->opt.resume;
    const gn_tensor_file *f = s->weights;
    number all[NUMBERS];
    uint64_t seed;
    GN_TRY(take_seed(path, f, &seed));
    if (seed != fit->seed)
        GN_FAIL(GN_ERR_DATA, "%s: is of seed %" PRIu64 ", not of %" PRIu64, path, seed, fit->seed);
    GN_TRY(check_batches(s, path, f));
    GN_TRY(gn_state_check_precision(path, f, "--precision", precision_words(s)));
    numbers_of(fit, best, all);
    for (int k = 0; k < numbers_here(s); k++)
        GN_TRY(all[k].whole ? take_whole(path, f, all[k].key, all[k].whole)
                            : take_real(path, f, all[k].key, all[k].real));
    best->any = best->epoch > 0;
    GN_TRY(check_data(s, path, f));
    GN_TRY(gn_state_take(s->model, &s->state, path, f));
    GN_TRY(check_program(s, path, f));
    if (!best->any || !s->model->train.select_best) return NULL;
    GN_TRY(gn_state_snapshot(&s->state, &best->weights));
    take_step(s, best);
    return gn_weights_take(s->model, f, path, GN_BEST_PREFIX, &best->weights);
}

gn_status *gn_checkpoint_seed(const char *path, uint64_t *seed)
{
    gn_tensor_file *f;
    GN_TRY(gn_safetensors_read(path, &f));
    gn_status *status = take_seed(path, f, seed);
    gn_tensor_file_free(f);
    return status;
}
