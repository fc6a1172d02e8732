/* precision: the least memory whose validation metric is float32's, by training.
 *
 * All candidates are trained with the same seeds, so that what differs between them is rounding
 * and what training makes of it.  A candidate is within the tolerance where it is worse by no more
 * than that, in the mean over seeds and up to one standard error of that mean; one that is worse by
 * more even with three of them is left after three seeds.
 *
 * First each mode as it is.  Where none is within, without one half of a step, or without features,
 * in 16 bits; and layers one by one, that which saves most first, each on top of those that were
 * taken.  What a layer saves is known without training: of a program that keeps it alone. */
#include "tune/tune.h"

#include "session/session.h"
#include "tune/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SURE = 3, MOST_PARTS = 64 };
#define ROUNDING 1e-9 /* of metrics and their means: what is worse by as much is no worse */

typedef struct searching {
    gn_arena *arena;
    const gn_session_options *opt;
    gn_precision_search *z;
} searching;

static bool is_over(const searching *s) { return s->opt->over && *s->opt->over; }

static gn_session_options options_of(const searching *s, const gn_precision_tried *t)
{
    gn_session_options o = *s->opt;
    o.numbers = t->numbers;
    o.precision = t->products;
    o.wide = t->wide;
    o.train = o.keep_static = true;
    o.tune_lock = NULL;
    o.tune_on = false;
    return o;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(gn_arena *a, const double *of, int64_t n)
{
    double *sorted = GN_NEW_N(a, double, n + 1);
    for (int64_t k = 0; k < n; k++) sorted[k] = of[k];
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    return n ? sorted[n / 2] : 0;
}

/* Statistics ----------------------------------------------------------------------------------- */

static void summarise(const searching *s, gn_precision_tried *t)
{
    const gn_precision_tried *base = s->z->tried.n ? &s->z->tried.p[0] : t;
    double sum = 0, off = 0, squares = 0, off_squares = 0;
    int n = t->seeds;
    for (int k = 0; k < n; k++) {
        sum += t->metric[k];
        off += base->metric[k] - t->metric[k];
    }
    t->mean = sum / n;
    t->worse = off / n;
    for (int k = 0; k < n; k++) {
        double d = t->metric[k] - t->mean, e = base->metric[k] - t->metric[k] - t->worse;
        squares += d * d;
        off_squares += e * e;
    }
    t->deviation = n > 1 ? sqrt(squares / (n - 1)) : 0;
    t->error = n > 1 ? sqrt(off_squares / (n - 1) / n) : 0;
    t->within = t->worse - t->error <= s->z->tolerance + ROUNDING;
}

static bool hopeless(const searching *s, const gn_precision_tried *t)
{
    return t->seeds >= SURE && t->worse - 3 * t->error > s->z->tolerance + ROUNDING;
}

/* Training ------------------------------------------------------------------------------------- */

static gn_status *metric_of(searching *s, const gn_session *of, const gn_fit *f, double *out)
{
    bool auc = of->unbalanced && isfinite(f->val_auc);
    s->z->metric = auc ? "validation ROC AUC" : "validation accuracy";
    *out = auc ? f->val_auc : f->val_acc;
    if (!isfinite(*out))
        GN_FAIL(GN_ERR_DATA, "--tolerance: the data have no validation rows that this model's "
                             "results could be judged by");
    return NULL;
}

static gn_status *fit_seeds(searching *s, gn_session *of, gn_precision_tried *t)
{
    for (int k = 0; k < s->z->seeds && !is_over(s); k++) {
        gn_fit f;
        GN_TRY(gn_session_fit(of, s->opt->seed + (uint64_t)k, NULL, NULL, &f));
        if (f.interrupted) break;
        GN_TRY(metric_of(s, of, &f, &t->metric[k]));
        if (!k) t->step_us = median_of(s->arena, f.step_us, f.n_steps);
        t->seeds = k + 1;
        summarise(s, t);
        if (hopeless(s, t)) break;
    }
    return NULL;
}

static void take_bytes(const gn_session *of, gn_precision_tried *t)
{
    gn_memory m = gn_session_memory(of);
    t->bytes = m.total;
    t->temporaries = m.arena;
}

static void say(const searching *s, const gn_precision_tried *t)
{
    if (!s->opt->tune_say) return;
    s->opt->tune_say(s->opt->tune_ctx,
                     gn_arena_printf(s->arena,
                                     "%s%s%s, products %s: %.4f, %s in %d seeds, %lld "
                                     "bytes",
                                     gn_numbers_name[t->numbers], t->wide ? " but " : "",
                                     t->wide ? t->wide : "", gn_precision_name[t->products],
                                     t->mean, t->within ? "taken" : "too far off", t->seeds,
                                     (long long)t->bytes));
}

/* A candidate that does not train to the end is one that is too far off; float32 has to. */
static gn_status *try_one(searching *s, gn_precision_tried t, bool *within)
{
    gn_arena a;
    gn_session *of = NULL;
    gn_arena_init(&a);
    a.oom = s->arena->oom;
    t.metric = GN_NEW_N(s->arena, double, s->z->seeds);
    gn_session_options o = options_of(s, &t);
    gn_status *status = gn_session_new(&a, &o, &of);
    if (!status) take_bytes(of, &t);
    gn_status *failed = status ? NULL : fit_seeds(s, of, &t);
    if (failed && s->z->tried.n && failed->code == GN_ERR_MODEL) {
        t.within = false;
        gn_status_free(failed);
        failed = NULL;
    } else if (!status) {
        status = failed;
    }
    gn_session_free(of);
    gn_arena_free(&a);
    *within = !status && t.within && t.seeds == s->z->seeds;
    t.within = *within;
    if (status || is_over(s)) return status;
    GN_PUSH(s->arena, s->z->tried, t);
    say(s, &t);
    return NULL;
}

/* Bytes of a program that is never run. */
static gn_status *bytes_of(searching *s, const gn_precision_tried *t, int64_t *bytes)
{
    gn_arena a;
    gn_session *of = NULL;
    gn_precision_tried found = {0};
    gn_arena_init(&a);
    a.oom = s->arena->oom;
    gn_session_options o = options_of(s, t);
    o.no_code = true;
    gn_status *status = gn_session_new(&a, &o, &of);
    if (!status) status = gn_session_bind_blank(of);
    if (!status) take_bytes(of, &found);
    gn_session_free(of);
    gn_arena_free(&a);
    *bytes = found.bytes;
    return status;
}

/* Layers --------------------------------------------------------------------------------------- */

typedef struct part {
    const char *name;
    int64_t bytes; /* with it alone in 16 bits */
    bool narrow;
} part;

/* Features, what is of no layer, and layers by the first two words of their paths. */
static gn_status *find_parts(searching *s, part *of, int *n)
{
    gn_session *model = gn_session_open(s->arena, s->opt);
    gn_status *status = gn_session_read(model);
    const gir_program *p = status ? NULL : model->model->loss;
    *n = 0;
    of[(*n)++] = (part){.name = GN_WIDE_FEATURES};
    of[(*n)++] = (part){.name = GN_WIDE_MODEL};
    for (uint32_t k = 1; p && k < p->layers.n && *n < MOST_PARTS; k++) {
        const char *path = p->layers.p[k], *dot = strchr(path, '.');
        bool digit = dot && dot[1] >= '0' && dot[1] <= '9';
        size_t length = digit ? strcspn(dot + 1, ".") + (size_t)(dot + 1 - path)
                              : strcspn(path, ".");
        const char *name = gn_arena_strndup(s->arena, path, length);
        bool known = !strcmp(path, GIR_LOSS);
        for (int i = 0; i < *n; i++) known = known || !strcmp(of[i].name, name);
        if (!known) of[(*n)++] = (part){.name = name};
    }
    gn_session_free(model);
    return status;
}

/* Those that are not in 16 bits, with `but` as one that is; NULL: none. */
static const char *others(gn_arena *a, const part *of, int n, int but)
{
    gn_buf b = {.arena = a};
    for (int k = 0; k < n; k++)
        if (!of[k].narrow && k != but) gn_buf_printf(&b, "%s%s", b.n ? "," : "", of[k].name);
    return b.n ? b.p : NULL;
}

static int by_bytes(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes > y->bytes) - (x->bytes < y->bytes)
                                : strcmp(x->name, y->name);
}

static gn_status *layer_by_layer(searching *s, gn_numbers numbers)
{
    part of[MOST_PARTS];
    int n;
    gn_precision_tried t = {.numbers = numbers, .products = GN_PRECISION_HIGHEST};
    GN_TRY(find_parts(s, of, &n));
    for (int k = 0; k < n; k++) {
        t.wide = others(s->arena, of, n, k);
        GN_TRY(bytes_of(s, &t, &of[k].bytes));
    }
    qsort(of, (size_t)n, sizeof *of, by_bytes);
    for (int k = 0; k < n && !is_over(s); k++) {
        if (of[k].bytes >= s->z->tried.p[0].bytes) continue; /* it saves nothing */
        t.wide = others(s->arena, of, n, k);
        GN_TRY(try_one(s, t, &of[k].narrow));
    }
    return NULL;
}

/* The search ----------------------------------------------------------------------------------- */

static const struct {
    gn_numbers numbers;
    gn_precision products;
} modes[] = {{GN_NUMBERS_MIXED, GN_PRECISION_MEDIUM},
             {GN_NUMBERS_MIXED, GN_PRECISION_HIGHEST},
             {GN_NUMBERS_MIXED_F16, GN_PRECISION_HIGHEST}};
enum { MODES = sizeof modes / sizeof *modes };

/* Less memory; of as much, a higher metric; then a faster step. */
static bool is_better(const gn_precision_tried *t, const gn_precision_tried *than)
{
    if (t->bytes != than->bytes) return t->bytes < than->bytes;
    if (t->mean != than->mean) return t->mean > than->mean;
    return t->step_us < than->step_us;
}

static void choose(gn_precision_search *z)
{
    for (uint32_t k = 0; k < z->tried.n; k++) {
        gn_precision_tried *t = &z->tried.p[k];
        const gn_precision_tried *best = &z->tried.p[z->best];
        if (t->within && is_better(t, best)) z->best = k;
        t->frontier = t->seeds > 0;
        for (uint32_t i = 0; i < z->tried.n; i++) {
            const gn_precision_tried *o = &z->tried.p[i];
            bool no_worse = o->seeds > 0 && o->bytes <= t->bytes && o->mean >= t->mean;
            if (no_worse && (o->bytes < t->bytes || o->mean > t->mean)) t->frontier = false;
        }
    }
}

static gn_status *search(searching *s)
{
    static const char *const halves[] = {"backward", "forward", GN_WIDE_FEATURES};
    bool within, any = false;
    GN_TRY(try_one(s, (gn_precision_tried){.numbers = GN_NUMBERS_FLOAT32}, &within));
    if (!s->z->tried.n) return NULL;
    for (int k = 0; k < MODES && !is_over(s); k++) {
        gn_precision_tried t = {.numbers = modes[k].numbers, .products = modes[k].products};
        GN_TRY(try_one(s, t, &within));
        any = any || within;
    }
    if (any) return NULL;
    for (int k = 0; k < 3; k++) {
        for (int m = 1; m < MODES && !is_over(s); m++) {
            gn_precision_tried t = {modes[m].numbers, modes[m].products, halves[k]};
            GN_TRY(try_one(s, t, &within));
        }
    }
    for (int m = 1; m < MODES && !is_over(s); m++) GN_TRY(layer_by_layer(s, modes[m].numbers));
    return NULL;
}

/* Before anything is trained: are there figures to compare? */
static gn_status *check(const searching *s)
{
    gn_session *of = gn_session_open(s->arena, s->opt);
    gn_status *bad = gn_session_read(of);
    bool facts = !bad && gn_session_ranks(of), links = !bad && gn_session_judges(of);
    if (!bad) s->z->model = of->model->name;
    if (facts || links)
        bad = GN_ERROR(GN_ERR_USAGE,
                       "--tolerance: judges by validation rows of classes, and %s is judged by %s",
                       of->model->name, facts ? "facts that are ranked" : "links");
    gn_session_free(of);
    return bad;
}

gn_status *gn_tune_precision(gn_arena *a, const gn_session_options *opt, gn_precision_search *z)
{
    searching s = {a, opt, z};
    GN_TRY(check(&s));
    z->tried.n = 0;
    z->best = 0;
    GN_TRY(search(&s));
    if (!z->tried.n) GN_FAIL(GN_ERR_INTERRUPTED, "interrupted: nothing was trained to its end");
    choose(z);
    return NULL;
}
