/* Tuning: schedules for a program, searched for on the data of the run that calls it first.
 *
 * A program is one for all runs of an executable, and so is what is chosen for it: by its first
 * inference and its first training step, once.  A search has states of its own and the caller's
 * threads. */
#include "api/api.h"
#include "base/data_name.h"

#include "runtime/memory.h"

#include <string.h>

typedef struct search {
    gnnc_run *r;
    gn_arena arena;
    const gn_variant *v;
    gn_unit_id unit;
    gn_tuned record;
    bool found;
    gn_tune_site site;
    gn_build build; /* the default's */
    gn_state state;
    void *dense; /* x, where candidates read what the run has by its non-zeros alone */
} search;

static void say(void *ctx, const char *text)
{
    const gnnc_context *c = api_context(((search *)ctx)->r->exe);
    c->opt.log(c->opt.user, GNNC_LOG_NOTE, "tuning", text);
}

static void made(void *ctx, const char *candidate, gn_unit *u)
{
    const gnnc_executable *e = ((search *)ctx)->r->exe;
    if (e->tune_made) e->tune_made(e->tune_ctx, candidate, u);
}

/* What a record depends on --------------------------------------------------------------------- */

static int64_t marked(gnnc_run *r, const char *mask)
{
    const api_data *d = api_find_data(r, mask);
    const uint8_t *p = d ? d->data : NULL;
    int64_t n = 0;
    for (int64_t v = 0; p && v < d->rows; v++) n += p[v] != 0;
    return n;
}

/* Of a schema: each relation that is bound. */
static void add_relations(const gnnc_run *r, gn_buf *out)
{
    const gn_schema *s = r->exe->shape.schema;
    for (int k = 1; s && k < s->n_relations; k++) {
        const gn_graph *g = api_relation(r, k);
        if (g)
            gn_buf_printf(out, " %s %lld -> %lld of %lld", s->relation[k].name, (long long)g->n_src,
                          (long long)g->n_dst, (long long)g->n_edge);
    }
}

static gn_status *sign(search *z, const char **out)
{
    gnnc_run *r = z->r;
    const gnnc_executable *e = r->exe;
    gn_build_options unused;
    gn_buf more = {.arena = &z->arena};
    gn_graph *g = r->padded ? r->padded : r->graph ? r->graph->graph : NULL;
    gn_buf_printf(&more, " for graphs to come%s%s%s", e->opt.index == GN_I64 ? " wide" : "",
                  e->opt.sparse ? " sparse" : "", e->bucket ? " padded" : "");
    if (e->opt.nonzeros) gn_buf_printf(&more, " values %s", gn_nonzeros_name[e->opt.nonzeros]);
    if (z->unit == GN_UNIT_STEP && z->v->rows.levels)
        gn_buf_printf(&more, " picked %d", z->v->rows.levels);
    add_relations(r, &more);
    int64_t all = g ? g->n_dst * e->shape.n_features : 0;
    gn_tune_facts f = {.model = gn_jit_outline(e->jit, z->v, &z->arena, &unused),
                       .graph = g,
                       .features = e->shape.n_features,
                       .nonzeros = r->pattern ? r->pattern->n_edge : all,
                       .classes = e->shape.n_classes,
                       .on_edges = e->shape.edge_dim,
                       .weighted = e->shape.has_edge_weight,
                       .train = marked(r, GN_NAME_TRAIN_MASK),
                       .val = marked(r, GN_NAME_VAL_MASK),
                       .fixed = e->opt.fixed,
                       .threads = gn_pool_threads(r->pool),
                       .target = e->opt.target,
                       .order = "none",
                       .gathers = e->opt.gathers,
                       .kept = e->opt.kept,
                       .wide = e->opt.wide,
                       .precision = e->opt.precision,
                       .products = e->opt.products,
                       .more = more.p};
    return gn_tuned_sign(&z->arena, &f, z->unit, out);
}

/* Searching ------------------------------------------------------------------------------------ */

static gn_status *make_dense(search *z)
{
    const gnnc_run *r = z->r;
    const gn_graph *g = r->padded_pattern ? r->padded_pattern : r->pattern;
    const api_data *x = api_find_data(z->r, GN_NAME_X);
    if (z->dense || !g || (x && x->data)) return NULL;
    int64_t elems;
    if (__builtin_mul_overflow(g->n_dst, g->n_src, &elems)) elems = INT64_MAX;
    GN_TRY(gn_block_new(elems, sizeof(float), "dense x", &z->dense));
    gn_graph_to_dense(g, z->dense);
    return NULL;
}

static gn_status *bind(void *ctx, gn_unit *u, gn_pool *pool, const gn_instance *like)
{
    search *z = ctx;
    if (gn_unit_reads(u, GN_SLOT_INPUT, GN_NAME_X)) GN_TRY(make_dense(z));
    return api_bind_unit(z->r, u, &z->state, z->dense, pool, like);
}

static gn_unit *reference(search *z)
{
    return z->unit == GN_UNIT_STEP ? &z->build.step : &z->build.eval;
}

/* The program as rules make it, with weights of its own. */
static gn_status *open_site(search *z)
{
    gn_tune_site *s = &z->site;
    *s = (gn_tune_site){.build = &z->build,
                        .state = &z->state,
                        .pool = z->r->pool,
                        .seed = 1,
                        .bind = bind,
                        .ctx = z};
    s->model = gn_jit_outline(z->r->exe->jit, z->v, &z->arena, &s->opt);
    for (int k = 0; k < GN_UNITS; k++) s->opt.pick[k] = NULL;
    s->opt.skip = ~(1u << z->unit);
    s->opt.gradients = NULL;
    s->target = s->opt.target;
    gn_tune_default(s->target, s->opt.without.decisions, &s->opt.mode, &s->opt.products);
    GN_TRY(gn_build_model(&z->arena, s->model, &s->opt, &z->build));
    made(z, "the default", reference(z));
    GN_TRY(gn_model_add_state(s->model, &z->build, &z->state));
    GN_TRY(gn_model_reset(s->model, &z->state, s->seed));
    GN_TRY(bind(z, reference(z), s->pool, NULL));
    const gn_graph *x = z->r->pattern;
    const api_data *dense = api_find_data(z->r, GN_NAME_X);
    if (x && !z->dense && !(dense && dense->data))
        s->missing_bytes = 4.0 * (double)x->n_dst * (double)x->n_src;
    return NULL;
}

static gn_status *look(search *z)
{
    const gnnc_executable *e = z->r->exe;
    const gnnc_context *c = api_context(e);
    struct gn_cache *cache = c ? c->cache : NULL;
    const char *signature;
    gn_tune_wish wish = {.mode = e->opt.mode,
                         .threads = gn_pool_threads(z->r->pool),
                         .made = made,
                         .ctx = z,
                         .over = e->tune_over};
    if (c && c->opt.log && c->log_tuning) wish.say = say;
    if (!e->lock && !cache && e->tune_seconds <= 0) return NULL;
    GN_TRY(sign(z, &signature));
    if (e->lock) {
        z->found = true;
        return gn_tuned_unlock(&z->arena, e->lock, e->lock_path, z->unit, signature,
                               "gnnc_executable_lock", &z->record);
    }
    GN_TRY(gn_tuned_find(&z->arena, cache, e->opt.mode, signature, &z->record, &z->found));
    if (z->found) z->record.signature = signature;
    if (e->tune_seconds <= 0 || (z->found && gn_tuned_enough(&z->record, e->tune_seconds)))
        return NULL;
    GN_TRY(open_site(z));
    GN_TRY(gn_tune_unit(&z->arena, &z->site, &wish, &z->record, e->tune_seconds));
    gn_tuned_keep(&z->arena, cache, e->opt.mode, signature, &z->record);
    z->record.signature = signature;
    z->found = true;
    return NULL;
}

static gn_status *guarded_look(search *z)
{
    API_GUARD(&z->arena);
    gn_status *s = look(z);
    z->arena.oom = NULL;
    return s;
}

/* The device is the search's until its end: nobody else's runs are between what is timed. */
static gn_status *look_alone(search *z)
{
    const gnnc_executable *e = z->r->exe;
    API_DEVICE(api_context(e));
    gn_status *s = guarded_look(z);
    gn_unit_release(reference(z));
    if (e->opt.target) gn_target_unload(e->opt.target, &z->build.on_target);
    return s;
}

/* Nothing that is kept, and nothing to be searched for, is a choice too: the default's, of which no
 * times are known. */
static gn_status *choose(gnnc_run *r, const gn_variant *v, gn_unit_id unit)
{
    search z = {.r = r, .v = v, .unit = unit, .record = {.unit = unit}};
    z.record.pick = gn_tune_usual(r->exe->opt.target);
    gn_arena_init(&z.arena);
    gn_state_init(&z.state);
    gn_status *s = look_alone(&z);
    if (!z.found) z.record.pick.one_region = GN_FOLD_BY_MODE;
    if (!s) s = gn_jit_choose(r->exe->jit, v, &z.record);
    gn_image_free(z.build.image);
    gn_state_free(&z.state);
    gn_block_free(z.dense);
    gn_arena_free(&z.arena);
    return s;
}

static gn_status *newest(gnnc_run *r, const gn_loss_rows *rows, const gn_variant **out)
{
    gn_sizes sizes = api_sizes(r);
    GN_TRY(gn_jit_get(r->exe->jit, &sizes, r->stance, out));
    return gn_jit_get_rows(r->exe->jit, *out, &sizes, rows, r->stance, out);
}

gn_status *api_tune(gnnc_run *r, int which, bool *again)
{
    gnnc_executable *e = r->exe;
    gn_unit_id unit = which ? GN_UNIT_STEP : GN_UNIT_EVAL;
    const gn_variant *v = r->variant[which];
    *again = false;
    bool wanted = gn_modes[e->opt.mode].tune || e->lock;
    if (!wanted || v->eager || r->stance == GN_STANCE_COMPILED || gn_variant_tuned(v, unit))
        return NULL;
    gn_mutex_take(&e->choosing);
    gn_status *s = newest(r, &r->variant[which]->rows, &v);
    if (!s && !v->eager && !gn_variant_tuned(v, unit)) s = choose(r, v, unit);
    if (!s) s = newest(r, &r->variant[which]->rows, &v);
    gn_mutex_leave(&e->choosing);
    *again = !s && v != r->variant[which];
    if (*again) api_unbind(r);
    return s;
}

/* Lock files ----------------------------------------------------------------------------------- */

static bool is_listed(const gn_tuned *t, int n, const gn_tuned *const *all)
{
    for (int k = 0; k < n; k++)
        if (all[k]->unit == t->unit && !strcmp(all[k]->signature, t->signature)) return true;
    return false;
}

typedef GN_VEC(const gn_tuned *) choices;

/* Newer programs first: they have what was chosen last. */
static void list_choices(const gnnc_executable *e, gn_arena *a, choices *all)
{
    for (const gn_variant *v = gn_jit_newest(e->jit); v; v = v->older)
        for (gn_unit_id k = 0; k < GN_UNITS; k++) {
            const gn_tuned *t = gn_variant_tuned(v, k);
            if (gn_tuned_known(t) && !is_listed(t, (int)all->n, all->p)) GN_PUSH(a, *all, t);
        }
}

static gn_status *save_lock(const gnnc_executable *e, gn_arena *a, const char *path)
{
    API_GUARD(a);
    choices all = {0};
    list_choices(e, a, &all);
    for (const gnnc_executable *o = atomic_load(&e->others); o; o = o->next)
        list_choices(o, a, &all);
    if (!all.n)
        GN_FAIL(
            GN_ERR_USAGE,
            "%s: no schedules were chosen yet: a run in a mode that tunes, or with a lock, does",
            e->model->name);
    return gn_tuned_lock_save(a, (int)all.n, all.p, path);
}

gnnc_status *gnnc_executable_lock(const gnnc_executable *e, const char *path)
{
    API_NEEDS(e);
    API_NEEDS(path);
    gn_arena a;
    API_MEMORY(api_context(e));
    gn_arena_init(&a);
    gn_status *s = save_lock(e, &a, path);
    gn_arena_free(&a);
    return api_out(s);
}
