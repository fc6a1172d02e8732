/* The search: orders of nodes (tune_order.c), ways to run, then decisions, then schedules, region
 * by region.
 *
 * Greedy: what is tried is the best so far with one thing changed.  Schedules of different regions
 * do not meet, so one build tries a value for all of them, and each region keeps it where its own
 * kernels became faster; then all that were kept are tried together.  Whatever is taken was
 * compared with the default's results first. */
#include "tune/tune.h"

#include "base/map.h"
#include "cache/cache.h"
#include "tune/tune_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double duel_ms = TUNE_DUEL_MS, hopeless = 1.5;
/* the best against the default: so long, or that part of the budget */
static const double last_duel_ms = 120, last_part = 0.1;
static const double runs = 12; /* of a candidate: results, runs to warm up, and three of each in
                                  turn */

void tuner_say(const tuner *t, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    if (!t->wish->say) return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    t->wish->say(t->wish->ctx, text);
}

void tuner_tell(const tuner *t, const char *trying)
{
    double left = (t->deadline - gn_now_ms()) * 1e-3;
    const gn_tune_news news = {.unit = t->id,
                               .trying = trying,
                               .default_us = t->rec->default_us,
                               .best_us = t->best_us,
                               .seconds_left = left > 0 ? left : 0};
    if (t->wish->tell) t->wish->tell(t->wish->ctx, &news);
}

/* Is there time for another candidate? */
static bool time_left(const tuner *t)
{
    if (t->wish->over && *t->wish->over) return false;
    return gn_now_ms() + t->make_ms + runs * t->rec->default_us * 1e-3 < t->deadline;
}

static void note_tried(tuner *t, uint64_t digest) { GN_PUSH(t->arena, t->rec->tried, digest); }

/* Candidates ----------------------------------------------------------------------------------- */

gn_status *tuner_survive(const tuner *t, gn_status *s)
{
    const gn_unit *u = tuner_reference(t);
    gn_status *worse = NULL;
    if (s && t->site->target) {
        worse = check_reset(t, t->site->seed);
        if (!worse) gn_instance_run(u->instance);
        if (!worse) worse = gn_instance_wait(u->instance);
    }
    bool lost = worse != NULL;
    gn_status_free(worse);
    if (lost) return s;
    gn_status_free(s);
    return NULL;
}

static gn_status *make(tuner *t, trial *c, const char *name)
{
    double start = gn_now_ms();
    gn_status *s = trial_make(t, c, name);
    if (t->site->target) t->make_ms = fmax(t->make_ms, gn_now_ms() - start);
    return s;
}

static void drop(tuner *t, trial *c)
{
    note_tried(t, c->digest);
    trial_free(t, c);
}

/* Code and instances, and the default's results: else it is gone, and *c NULL. */
static gn_status *make_right(tuner *t, trial **c, const char *name)
{
    const char *why = NULL;
    tuner_tell(t, name);
    gn_status *s = make(t, *c, name);
    if (!s) s = check_same(t, (*c)->unit, &why);
    if (s) tuner_say(t, "%s: cannot be made: %s", name, gn_status_message(s));
    if (why) {
        t->rec->wrong++;
        tuner_say(t, "%s: rejected, it gives something else: %s", name, why);
    }
    if (s || why) {
        drop(t, *c);
        *c = NULL;
    }
    return tuner_survive(t, s);
}

static void adopt(tuner *t, trial *c)
{
    note_tried(t, tuner_best_digest(t));
    trial_free(t, t->best);
    t->best = c;
}

/* Twice before it has won, the second time in other memory. */
static gn_status *measure(tuner *t, trial *c, duel *d)
{
    GN_TRY(duel_run(t, tuner_best(t), c->unit, duel_ms, d));
    if (!duel_won(d)) return NULL;
    gn_status *again = trial_rebind(t, c);
    if (again) { /* it keeps the memory that it has */
        gn_status_free(again);
        return NULL;
    }
    return duel_run(t, tuner_best(t), c->unit, duel_ms, d);
}

/* Measures a candidate, and takes it where it wins. */
static gn_status *attempt(tuner *t, const gn_pick *pick, const char *name, bool *won)
{
    trial *c;
    *won = false;
    gn_status *s = trial_lower(t, pick, &c);
    if (s) {
        tuner_say(t, "%s: cannot be made: %s", name, gn_status_message(s));
        gn_status_free(s);
        return NULL;
    }
    if (!c) return NULL;
    GN_TRY(make_right(t, &c, name));
    if (!c) return NULL;
    duel d;
    s = measure(t, c, &d);
    if (s) {
        tuner_say(t, "%s: cannot be run: %s", name, gn_status_message(s));
        drop(t, c);
        return tuner_survive(t, s);
    }
    *won = duel_won(&d);
    tuner_say(t, "%s: %.1f us beside %.1f, %.3f +- %.3f times%s", name, d.b_us, d.a_us, d.ratio,
              d.noise, *won ? ": taken" : "");
    t->best_us = *won ? d.b_us : d.a_us;
    if (*won)
        adopt(t, c);
    else
        drop(t, c);
    return NULL;
}

/* On a device: one kernel where the rule says that it does not pay.  That it is none where the rule
 * says so is a decision. */
static gn_status *search_folds(tuner *t)
{
    gn_pick p = *tuner_best_pick(t);
    bool won;
    p.one_region = GN_FOLD_ONE_KERNEL;
    if (!gn_modes[t->wish->mode].one_region || !time_left(t)) return NULL;
    return attempt(t, &p, "one kernel", &won);
}

/* Threads, and one region or launch by launch. */
static gn_status *search_ways(tuner *t)
{
    bool regions = gn_modes[t->wish->mode].one_region, won;
    if (t->site->target) return search_folds(t);
    for (int threads = t->threads; threads >= 1 && time_left(t); threads /= 2) {
        if (threads != t->threads && t->wish->threads > 0) break; /* asked for */
        for (int one = 0; one <= (regions && threads > 1); one++) {
            gn_pick p = *tuner_best_pick(t);
            p.threads = threads == t->threads ? 0 : threads;
            p.one_region = one;
            if (time_left(t))
                GN_TRY(attempt(t, &p,
                               gn_arena_printf(t->arena, "%d thread%s%s", threads,
                                               threads > 1 ? "s" : "", one ? ", one region" : ""),
                               &won));
        }
    }
    return NULL;
}

typedef struct flip { /* a decision the other way */
    const char *name;
    double us; /* predicted */
} flip;

static int by_prediction(const void *a, const void *b)
{
    const flip *x = a, *y = b;
    return x->us != y->us ? (x->us < y->us ? -1 : 1) : strcmp(x->name, y->name);
}

static gn_status *flip_of(tuner *t, const char *name, gn_pick *out)
{
    *out = *tuner_best_pick(t);
    return gn_without_add(t->arena, name, false, &out->without);
}

/* The cost model says in which order, and on this processor what is hopeless. */
static gn_status *predict_flips(tuner *t, flip *flips, int *n)
{
    *n = 0;
    const tune_space *space = tune_space_of(t->site->target);
    for (int k = 0; k < space->n_switches && time_left(t); k++) {
        const tune_switch *w = &space->switches[k];
        gn_pick p;
        trial *c;
        if (!(w->where & space->where)) continue;
        GN_TRY(flip_of(t, w->name, &p));
        gn_status *s = trial_lower(t, &p, &c);
        gn_status_free(s);
        if (s || !c) continue;
        flips[(*n)++] = (flip){w->name, trial_predict(t, c)};
        trial_free(t, c);
    }
    qsort(flips, (size_t)*n, sizeof *flips, by_prediction);
    return NULL;
}

static gn_status *predict_default(tuner *t, double *us)
{
    trial *c;
    gn_tuned none = {0}, *rec = t->rec;
    gn_pick p = *tuner_best_pick(t);
    *us = 0;
    p.threads = t->threads + 1; /* so that it is not what was tried */
    t->rec = &none;
    gn_status *s = trial_lower(t, &p, &c);
    t->rec = rec;
    if (!s && c) {
        c->pick.threads = 0;
        *us = trial_predict(t, c);
        trial_free(t, c);
    }
    return s;
}

static gn_status *search_flips(tuner *t)
{
    flip *flips = GN_NEW_N(t->arena, flip, tune_space_of(t->site->target)->n_switches);
    double now;
    int n;
    bool won;
    GN_TRY(predict_default(t, &now));
    GN_TRY(predict_flips(t, flips, &n));
    for (int k = 0; k < n && time_left(t); k++) {
        gn_pick p;
        if (now > 0 && flips[k].us > hopeless * now && !t->site->target) {
            tuner_say(t, "without %s: left out, predicted %.2f times", flips[k].name,
                      flips[k].us / now);
            continue;
        }
        GN_TRY(flip_of(t, flips[k].name, &p));
        GN_TRY(attempt(t, &p, gn_arena_printf(t->arena, "without %s", flips[k].name), &won));
    }
    return NULL;
}

/* Schedules ------------------------------------------------------------------------------------ */

typedef struct gain { /* the best value of a field for a region */
    const char *key;
    double ratio; /* of its kernels' time */
    int64_t value;
} gain;

typedef struct gains {
    gain *p;
    int n;
} gains;

/* NULL where the field does not concern the launch's region. */
static const char *key_of(const gn_unit *u, int launch, low_field field)
{
    const gn_compiled *c = u->code;
    int r = c->low->launches.p[launch].region;
    if (r < 0 || !(low_fields[field].kinds >> c->f->regions.p[r].kind & 1)) return NULL;
    return low_region_key(c->f, &c->f->regions.p[r]);
}

static double time_of(const gn_unit *u, low_field field, const int64_t *ns, const char *key)
{
    double all = 0;
    for (int k = 0; k < u->code->artifact->n_launches; k++) {
        const char *other = key_of(u, k, field);
        if (other && !strcmp(other, key)) all += (double)ns[k];
    }
    return all;
}

/* Which regions' kernels have become faster? */
static gn_status *note_gains(tuner *t, const trial *c, low_field field, int64_t value, gains *g)
{
    static const double LEAST_NS = 100;
    const gn_unit *a = tuner_best(t), *b = c->unit;
    int n = a->code->artifact->n_launches, m = b->code->artifact->n_launches;
    int64_t *x = GN_NEW_N(t->arena, int64_t, n + 1), *y = GN_NEW_N(t->arena, int64_t, m + 1);
    GN_TRY(duel_launches(t, a, b, duel_ms / 2, x, y));
    for (int k = 0; k < n; k++) {
        const char *key = key_of(a, k, field);
        if (!key) continue;
        double before = time_of(a, field, x, key), after = time_of(b, field, y, key),
               ratio = before > 0 ? after / before : 1;
        int at = 0;
        while (at < g->n && strcmp(g->p[at].key, key) != 0) at++;
        if (ratio > 0.97 || before - after < LEAST_NS || (at < g->n && ratio >= g->p[at].ratio))
            continue;
        if (at == g->n) g->n++;
        g->p[at] = (gain){gn_arena_strdup(t->arena, key), ratio, value};
    }
    return NULL;
}

static gn_pick with_choices(const tuner *t, const low_choice *more, int n)
{
    gn_pick p = *tuner_best_pick(t);
    low_choice *all = GN_NEW_N(t->arena, low_choice, p.schedule.n + n + 1);
    if (p.schedule.n) memcpy(all, p.schedule.choices, sizeof *all * (size_t)p.schedule.n);
    memcpy(all + p.schedule.n, more, sizeof *all * (size_t)n);
    p.schedule = (low_tuning){p.schedule.n + n, all};
    return p;
}

static gn_status *try_value(tuner *t, const tune_values *f, int64_t value, gains *g)
{
    trial *c;
    const char *name = gn_arena_printf(t->arena, "%s %lld", low_fields[f->field].name,
                                       (long long)value);
    gn_pick p = with_choices(t, &(low_choice){NULL, f->field, value}, 1);
    gn_status *s = trial_lower(t, &p, &c);
    if (s || !c) {
        gn_status_free(s);
        return NULL;
    }
    GN_TRY(make_right(t, &c, name));
    if (!c) return NULL;
    s = note_gains(t, c, f->field, value, g);
    drop(t, c);
    return tuner_survive(t, s);
}

static gn_status *search_field(tuner *t, const tune_values *f)
{
    int n = tuner_best(t)->code->artifact->n_launches;
    gains g = {.p = GN_NEW_N(t->arena, gain, n + 1)};
    bool won;
    for (int k = 0; k < f->n && time_left(t); k++) GN_TRY(try_value(t, f, f->value[k], &g));
    if (!g.n || !time_left(t)) return NULL;
    low_choice *choices = GN_NEW_N(t->arena, low_choice, g.n);
    gn_buf name = {.arena = t->arena};
    gn_buf_add(&name, low_fields[f->field].name);
    for (int k = 0; k < g.n; k++) {
        choices[k] = (low_choice){g.p[k].key, f->field, g.p[k].value};
        gn_buf_printf(&name, "%s %lld for %.*s (%.2f)", k ? "," : "", (long long)g.p[k].value, 14,
                      g.p[k].key, g.p[k].ratio);
    }
    gn_pick p = with_choices(t, choices, g.n);
    return attempt(t, &p, name.p, &won);
}

/* A search ------------------------------------------------------------------------------------- */

/* What was best when the search ended last. */
static gn_status *resume(tuner *t)
{
    bool won;
    GN_VEC(uint64_t) none = {0};
    if (!t->rec->tried.n) return NULL;
    gn_tuned before = *t->rec;
    memcpy(&t->rec->tried, &none, sizeof none);
    GN_TRY(attempt(t, &before.pick, "what was best before", &won));
    t->rec->tried = before.tried;
    return NULL;
}

static gn_status *search(tuner *t)
{
    GN_TRY(resume(t));
    GN_TRY(search_ways(t));
    GN_TRY(search_flips(t));
    const tune_space *space = tune_space_of(t->site->target);
    for (int k = 0; k < space->n_fields && time_left(t); k++)
        GN_TRY(search_field(t, &space->fields[k]));
    if (t->best) GN_TRY(search_ways(t));
    t->rec->finished = time_left(t);
    return NULL;
}

static void take_default(tuner *t)
{
    drop(t, t->best);
    t->best = NULL;
}

/* The best against the default, at length: it goes where it is not faster beyond noise. */
static gn_status *settle(tuner *t)
{
    duel d;
    t->rec->best_us = t->rec->default_us;
    if (!t->best) return NULL;
    gn_status_free(trial_rebind(t, t->best));
    gn_status *s = duel_run(t, tuner_reference(t), tuner_best(t), t->last_ms, &d);
    if (s) {
        tuner_say(t, "the best cannot be run any more: the default it is: %s",
                  gn_status_message(s));
        take_default(t);
        return tuner_survive(t, s);
    }
    t->rec->default_us = d.a_us;
    t->rec->noise = d.noise;
    t->best_us = d.a_us;
    t->rec->best_us = d.a_us * d.ratio;
    if (duel_won(&d)) return NULL;
    tuner_say(t,
              "the best, %.1f us, is not faster than the default, %.1f us, by more than noise: the "
              "default it is",
              d.b_us, d.a_us);
    take_default(t);
    t->rec->best_us = d.a_us;
    return NULL;
}

/* Fewer threads than the site's are tried where none were asked for. */
static gn_status *open_tuner(tuner *t)
{
    int most = gn_pool_threads(t->site->pool);
    gn_cache_options in_memory = {0};
    t->threads = most;
    t->pool = GN_NEW_N(t->arena, gn_pool *, most + 1);
    t->pool[most] = t->site->pool;
    t->usual = gn_tune_usual(t->site->target);
    if (t->site->target) t->make_ms = t->site->build->ms;
    gn_map_init(&t->cost, t->arena);
    for (int k = most / 2; k >= 1 && t->wish->threads <= 0 && !t->site->target; k /= 2)
        GN_TRY(gn_pool_new(k, &t->pool[k]));
    GN_TRY(gn_cache_new(&in_memory, &t->cache));
    t->usual_digest = trial_digest(t, tuner_reference(t), tuner_best_pick(t));
    return check_reference(t);
}

static void close_tuner(tuner *t)
{
    while (t->alive) trial_free(t, t->alive);
    for (int k = 1; t->pool && k < t->threads; k++) gn_pool_free(t->pool[k]);
    gn_cache_free(t->cache);
}

static gn_status *run_search(tuner *t)
{
    GN_TRY(open_tuner(t));
    duel d;
    GN_TRY(duel_run(t, tuner_reference(t), tuner_reference(t), duel_ms, &d));
    t->rec->default_us = d.a_us;
    t->rec->noise = d.noise;
    tuner_say(t, "%s, default: %.1f us", gn_unit_name[t->id], d.a_us);
    if (!time_left(t)) tuner_say(t, "no time to try anything: a larger budget gives more");
    GN_TRY(search(t));
    GN_TRY(settle(t));
    t->rec->pick = gn_pick_copy(t->arena, tuner_best_pick(t));
    return NULL;
}

/* Candidates are freed where memory runs out in the midst of it, too. */
static gn_status *guarded_search(tuner *t)
{
    jmp_buf out_of_memory, *before = t->arena->oom;
    t->arena->oom = &out_of_memory;
    if (setjmp(out_of_memory)) {
        t->arena->oom = before;
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes were asked for", t->arena->wanted);
    }
    gn_status *s = run_search(t);
    t->arena->oom = before;
    return s;
}

gn_status *gn_tune_unit(gn_arena *a, const gn_tune_site *site, const gn_tune_wish *wish,
                        gn_tuned *rec, double seconds)
{
    tuner t = {.arena = a, .site = site, .wish = wish, .id = rec->unit, .rec = rec};
    double start = gn_now_ms();
    t.last_ms = fmax(0, fmin(last_duel_ms, last_part * seconds * 1e3));
    t.deadline = start + seconds * 1e3 - t.last_ms;
    gn_status *s = guarded_search(&t);
    close_tuner(&t);
    if (s) return s;
    rec->seconds += (gn_now_ms() - start) * 1e-3;
    const char *choices = gn_pick_text(a, &rec->pick);
    tuner_say(&t, "%s: %.1f us, the default %.1f; %s%s", gn_unit_name[rec->unit], rec->best_us,
              rec->default_us, *choices ? choices : "nothing else is faster",
              rec->finished ? "; all was tried" : "");
    return NULL;
}

bool gn_tuned_enough(const gn_tuned *t, double seconds)
{
    /* as time_left has it */
    double could_use = seconds * (1 - last_part) - runs * t->default_us * 1e-6;
    return t->finished || seconds <= 0 || t->seconds > could_use - 0.1 * seconds;
}
