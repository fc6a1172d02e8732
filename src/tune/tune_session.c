/* session: searches for what a session runs, on its data; orders of nodes (tune_order.c)
 * besides. */
#include "session/session_impl.h"
#include "tune/tune_impl.h"

static gn_status *bind(void *ctx, gn_unit *u, gn_pool *pool, const gn_instance *like)
{
    return gn_session_bind(ctx, u, pool, like);
}

gn_tune_site tune_site_of(gn_session *s)
{
    const gn_dataset *d = s->data;
    gn_tune_site site = {.model = s->model,
                         .build = &s->build,
                         .state = &s->state,
                         .pool = s->pool,
                         .target = s->opt.target,
                         .seed = s->opt.seed,
                         .bind = bind,
                         .ctx = s};
    if (!d->x && !d->x_codes.data && !s->x_dense)
        site.missing_bytes = 4.0 * (double)d->n_nodes * (double)d->n_features;
    return site;
}

gn_tune_wish tune_wish_of(const gn_session *s)
{
    return (gn_tune_wish){.mode = s->opt.mode,
                          .threads = s->opt.threads,
                          .say = s->opt.tune_say,
                          .tell = s->opt.tune_tell,
                          .made = s->opt.tune_made,
                          .ctx = s->opt.tune_ctx,
                          .over = s->opt.over};
}

/* Signatures ----------------------------------------------------------------------------------- */

static int64_t marked(const uint8_t *mask, int64_t n)
{
    int64_t all = 0;
    for (int64_t v = 0; mask && v < n; v++) all += mask[v] != 0;
    return all;
}

gn_status *gn_tuned_signature(gn_session *s, gn_unit_id unit, const char *order, const char **out)
{
    const gn_dataset *d = s->data;
    gn_buf more = {.arena = s->arena};
    const char *without = gn_without_text(s->arena, s->opt.without);
    gn_buf_add(&more, s->opt.sanitize ? " checked" : "");
    if (s->opt.pass_limit >= 0) gn_buf_printf(&more, " limited to %d", s->opt.pass_limit);
    gn_buf_printf(&more, "%s%s", *without ? " without " : "", without);
    for (int k = 1; k <= d->n_relations; k++)
        gn_buf_printf(&more, " %s of %lld", gn_dataset_relation(d, k),
                      (long long)gn_dataset_edges(d, k));
    gn_tune_facts f = {.model = s->model,
                       .graph = s->graph,
                       .features = d->n_features,
                       .nonzeros = d->x_csr ? d->x_csr->nnz : d->n_nodes * d->n_features,
                       .classes = d->n_classes,
                       .on_edges = d->edge_dim,
                       .weighted = d->edge_weight != NULL,
                       .train = marked(d->train_mask, gn_dataset_labelled(d)),
                       .val = marked(d->val_mask, gn_dataset_labelled(d)),
                       .fixed = s->opt.keep_static,
                       .threads = s->opt.threads,
                       .target = s->opt.target,
                       .order = order,
                       .gathers = s->opt.gathers,
                       .kept = gn_numbers_kept[s->opt.numbers],
                       .wide = s->opt.wide,
                       .precision = s->opt.precision,
                       .products = s->opt.products,
                       .more = more.p};
    return gn_tuned_sign(s->arena, &f, unit, out);
}

/* Orders --------------------------------------------------------------------------------------- */

/* Where the order of nodes is free a search chooses one: for the training step, and the forward
 * pass beside it is searched in that order.  So a forward pass alone, in any order, may be on
 * record in a certain one. */
static const char *order_word(const gn_session *s, bool free_order)
{
    return free_order ? "any" : gn_order_name[s->opt.reorder];
}

/* The fastest that is kept of a forward pass in a certain order. */
static gn_status *find_ordered(gn_session *s, gn_tuned *best, const char **signature, bool *found)
{
    for (gn_order k = 0; k < GN_ORDER_COUNT; k++) {
        gn_tuned t = {.unit = best->unit};
        const char *of;
        bool any;
        GN_TRY(gn_tuned_signature(s, best->unit, gn_order_name[k], &of));
        GN_TRY(gn_tuned_find(s->arena, s->opt.cache, s->opt.mode, of, &t, &any));
        if (!any || (*found && t.best_us >= best->best_us)) continue;
        *best = t;
        *signature = of;
        *found = true;
    }
    return NULL;
}

/* Lock files ----------------------------------------------------------------------------------- */

gn_status *gn_tuned_lock_write(gn_session *s, const char *path)
{
    return gn_tuned_lock_save(s->arena, GN_UNITS, (const gn_tuned *const *)s->tuned, path);
}

static gn_status *unlock(gn_session *s, const char *text, const char *path, const char *order,
                         gn_tuned *t)
{
    const char *signature;
    GN_TRY(gn_tuned_signature(s, t->unit, order, &signature));
    return gn_tuned_unlock(s->arena, text, path, t->unit, signature, "`gnnc tune --tune-lock`", t);
}

static gn_status *read_unit(gn_session *s, const char *text, const char *path, gn_unit_id unit,
                            bool free_order)
{
    gn_tuned *t = GN_NEW(s->arena, gn_tuned);
    t->unit = unit;
    gn_status *bad = unlock(s, text, path, order_word(s, free_order), t);
    for (gn_order k = 0; bad && free_order && unit == GN_UNIT_EVAL && k < GN_ORDER_COUNT; k++) {
        gn_status *worse = unlock(s, text, path, gn_order_name[k], t);
        gn_status_free(worse ? worse : bad);
        if (!worse) bad = NULL;
    }
    GN_TRY(bad);
    s->tuned[unit] = t;
    if (free_order) s->opt.reorder = t->reorder;
    return NULL;
}

gn_status *gn_tuned_lock_read(gn_session *s, const char *path)
{
    const char *text;
    size_t n;
    if (gn_modes[s->opt.mode].eager)
        GN_FAIL(GN_ERR_USAGE, "--tune-lock: mode %s has no schedules to choose",
                gn_mode_name[s->opt.mode]);
    gn_locked_numbers numbers;
    GN_TRY(gn_tuned_lock_numbers(s->arena, path, &numbers));
    if (numbers.alone) return NULL;
    GN_TRY(gn_read_model(s->arena, path, &text, &n));
    if (s->opt.train) GN_TRY(read_unit(s, text, path, GN_UNIT_STEP, s->opt.free_order));
    return read_unit(s, text, path, GN_UNIT_EVAL, s->opt.free_order && !s->opt.train);
}

/* Searching ------------------------------------------------------------------------------------ */

static bool enough(const gn_session *s, const gn_tuned *t, double seconds)
{
    if (s->opt.tune_on && !s->opt.no_code) return t->finished;
    return s->opt.no_code || gn_tuned_enough(t, seconds);
}

typedef struct plan { /* which programs, in which order */
    gn_unit_id unit[2];
    int n;
    double part[2]; /* of the budget */
} plan;

static plan plan_of(const gn_session *s)
{
    if (!s->opt.train) return (plan){{GN_UNIT_EVAL}, 1, {1}};
    return (plan){{GN_UNIT_STEP, GN_UNIT_EVAL}, 2, {0.65, 0.35}};
}

/* Orders of nodes first, then the rest. */
static gn_status *search(gn_session *s, gn_session **trials, gn_tuned *rec, double seconds,
                         bool orders)
{
    double start = gn_now_ms(), deadline = start + seconds * 1e3, times = 1;
    gn_tune_wish wish = tune_wish_of(s);
    gn_unit_id unit = rec->unit;
    if (!*trials) GN_TRY(tune_default_session(s, rec->reorder, trials));
    if (orders) {
        gn_tune_site site = tune_site_of(*trials);
        tuner t = {.arena = s->arena, .site = &site, .wish = &wish, .id = unit, .rec = rec};
        duel d;
        GN_TRY(duel_run(&t, tuner_reference(&t), tuner_reference(&t), TUNE_DUEL_MS, &d));
        rec->default_us = d.a_us;
        GN_TRY(tune_orders(s, trials, rec, deadline, &times));
    }
    gn_tune_site site = tune_site_of(*trials);
    GN_TRY(gn_session_build_options(*trials, &site.opt));
    rec->seconds += (gn_now_ms() - start) * 1e-3;
    GN_TRY(gn_tune_unit(s->arena, &site, &wish, rec, (deadline - gn_now_ms()) * 1e-3));
    rec->default_us /= times; /* as nodes came */
    return NULL;
}

static gn_status *tune_one(gn_session *s, gn_session **trials, gn_unit_id unit, double seconds,
                           bool free_order)
{
    gn_tuned *rec = GN_NEW(s->arena, gn_tuned);
    const char *signature;
    bool found;
    *rec = (gn_tuned){
        .unit = unit, .reorder = s->opt.reorder, .pick = gn_tune_usual(s->opt.target)};
    GN_TRY(gn_tuned_signature(s, unit, order_word(s, free_order), &signature));
    GN_TRY(gn_tuned_find(s->arena, s->opt.cache, s->opt.mode, signature, rec, &found));
    if (!found && free_order && unit == GN_UNIT_EVAL && !s->opt.tune_on)
        GN_TRY(find_ordered(s, rec, &signature, &found));
    rec->signature = signature;
    if (found && free_order) s->opt.reorder = rec->reorder;
    if (!(found && enough(s, rec, seconds)) && !s->opt.no_code && seconds > 0) {
        GN_TRY(search(s, trials, rec, seconds, free_order && !found));
        gn_tuned_keep(s->arena, s->opt.cache, s->opt.mode, signature, rec);
        rec->signature = signature;
        found = true;
        if (free_order) s->opt.reorder = rec->reorder;
    }
    if (found) s->tuned[unit] = rec;
    return NULL;
}

gn_status *gn_tune_session(gn_session *s)
{
    gn_session *trials = NULL;
    plan p = plan_of(s);
    bool elsewhere = !s->opt.target && (s->opt.limits || s->opt.cpu);
    if ((s->opt.tune_lock || s->opt.tune_on) && elsewhere)
        GN_FAIL(GN_ERR_USAGE, "schedules are tuned where programs are run, not for %s",
                s->opt.limits ? "a device that is not opened" : s->opt.cpu);
    if (elsewhere) return NULL;
    if (s->opt.tune_lock) return gn_tuned_lock_read(s, s->opt.tune_lock);
    if (!gn_modes[s->opt.mode].tune && !s->opt.tune_on) return NULL;
    gn_status *status = NULL;
    for (int k = 0; k < p.n && !status && !(s->opt.over && *s->opt.over); k++)
        status = tune_one(s, &trials, p.unit[k], s->opt.tune_seconds * p.part[k],
                          k == 0 && s->opt.free_order);
    gn_session_free(trials);
    return status;
}
