#include "build/jit.h"
#include "base/data_name.h"

#include "base/alloc.h"
#include "base/mutex.h"
#include "build/tuned.h"

#include <stdio.h>
#include <string.h>

struct gn_jit {
    const gn_model *model;
    gn_jit_options opt;
    low_hint hint; /* of the graph: what schedules are made for */
    _Atomic(gn_variant *) newest;
    atomic_int n, recompiles;
    gn_mutex compiling;       /* for what follows, and for adding to the list */
    bool moves[GN_DIM_COUNT]; /* auto: has changed since the first call */
};

/* Ranges, where 0 for all is any. */
static gn_guards declared(const gn_guards *ranges)
{
    gn_guards g = *ranges;
    bool any = true;
    for (int d = 0; d < GN_DIM_COUNT; d++) any = any && !g.of[d].least && !g.of[d].most;
    for (int d = 0; any && d < GN_DIM_COUNT; d++) g.of[d].most = INT64_MAX;
    return g;
}

gn_status *gn_jit_new(const gn_model *model, const gn_jit_options *opt, gn_jit **out)
{
    *out = NULL;
    gn_jit *j = gn_allocate_zeroed(sizeof *j);
    if (!j) GN_FAIL(GN_ERR_NOMEM, "out of memory: a jit");
    j->model = model;
    j->opt = *opt;
    if (j->opt.limit <= 0) j->opt.limit = GN_JIT_LIMIT;
    j->opt.ranges = declared(&opt->ranges);
    gn_status *s = gn_mutex_init(&j->compiling, GN_MUTEX_LONG);
    if (s) {
        gn_release(j);
        return s;
    }
    *out = j;
    return NULL;
}

static void free_variant(const gn_jit *j, gn_variant *v)
{
    if (j->opt.build.target) gn_target_unload(j->opt.build.target, &v->build.on_target);
    gn_image_free(v->build.image);
    gn_arena_free(&v->arena);
    gn_release(v);
}

void gn_jit_free(gn_jit *j)
{
    if (!j) return;
    for (gn_variant *v = atomic_load(&j->newest), *older; v; v = older) {
        older = v->older;
        free_variant(j, v);
    }
    gn_mutex_end(&j->compiling);
    gn_release(j);
}

const gn_variant *gn_jit_newest(const gn_jit *j) { return atomic_load(&j->newest); }
int gn_jit_count(const gn_jit *j) { return atomic_load(&j->n); }
int gn_jit_recompiles(const gn_jit *j) { return atomic_load(&j->recompiles); }

/* Compiling ------------------------------------------------------------------------------------ */

/* The model with sizes in its programs. */
static gn_model *specialised(gn_arena *a, const gn_model *m, const gn_guards *g)
{
    gn_model *s = GN_NEW(a, gn_model);
    *s = *m;
    gir_program **p[] = {&s->eval, &s->loss, &s->validate, &s->forward};
    for (int k = 0; k < 4; k++) {
        if (!*p[k]) continue;
        *p[k] = gir_clone(a, *p[k]);
        gn_specialise(*p[k], g);
    }
    return s;
}

static gn_build_options options_of(const gn_jit *j, const gn_variant *v)
{
    gn_build_options o = j->opt.build;
    if (j->hint.name && !o.n_hints) {
        o.n_hints = 1;
        o.hints = &j->hint;
    }
    if (v->eager) o.mode = GN_MODE_EAGER;
    o.train_rows = v->rows;
    if (v->step_alone) o.skip |= ~(1u << GN_UNIT_STEP);
    if (v->step_alone) o.gradients = NULL;
    for (int k = 0; k < GN_UNITS; k++) o.pick[k] = v->tuned[k] ? &v->tuned[k]->pick : NULL;
    return o;
}

static void keep_choice(gn_variant *v, const gn_tuned *t)
{
    v->tuned[t->unit] = gn_tuned_copy(&v->arena, t);
    v->choices[t->unit] = gn_pick_text(&v->arena, &t->pick);
}

static gn_status *build(gn_jit *j, gn_variant *v)
{
    jmp_buf oom;
    v->arena.oom = &oom;
    if (setjmp(oom)) {
        v->arena.oom = NULL;
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes to compile in", v->arena.wanted);
    }
    v->why = gn_arena_strdup(&v->arena, v->why);
    for (int k = 0; k < GN_UNITS; k++)
        if (v->tuned[k]) keep_choice(v, v->tuned[k]);
    v->model = specialised(&v->arena, j->model, &v->guards);
    gn_build_options o = options_of(j, v);
    gn_status *s = gn_build_model(&v->arena, v->model, &o, &v->build);
    v->arena.oom = NULL;
    return s;
}

/* Under the lock. `like` says all but what comes of it. */
static gn_status *add(gn_jit *j, const gn_variant *like, gn_variant **out)
{
    double t0 = gn_now_ms();
    gn_variant *v = gn_allocate_zeroed(sizeof *v);
    if (!v) GN_FAIL(GN_ERR_NOMEM, "out of memory: a program");
    *v = (gn_variant){.eager = like->eager,
                      .rows = like->rows,
                      .step_alone = like->step_alone,
                      .guards = like->guards,
                      .why = like->why,
                      .guard = like->guard,
                      .old = like->old,
                      .new = like->new};
    for (int k = 0; k < GN_UNITS; k++) {
        v->tuned[k] = like->tuned[k];
        if (v->tuned[k]) atomic_fetch_or(&v->chosen, 1u << k);
    }
    gn_arena_init(&v->arena);
    v->number = atomic_load(&j->n);
    gn_status *s = build(j, v);
    if (s) {
        free_variant(j, v);
        return s;
    }
    v->ms = gn_now_ms() - t0;
    gn_brief_begin();
    v->older = atomic_load(&j->newest);
    atomic_fetch_add(&j->n, 1);
    atomic_store(&j->newest, v);
    gn_brief_end();
    *out = v;
    return NULL;
}

/* Calling -------------------------------------------------------------------------------------- */

static gn_variant *find(const gn_jit *j, const gn_sizes *s, bool eager)
{
    gn_variant *v = atomic_load_explicit(&j->newest, memory_order_acquire);
    while (v && (v->eager != eager || v->step_alone || !gn_guards_hold(&v->guards, s)))
        v = v->older;
    return v;
}

static bool same_rows(const gn_variant *v, int levels, bool counted)
{
    return v->rows.levels == levels && gn_rows_counted(&v->rows) == counted;
}

static gn_variant *find_step(const gn_jit *j, const gn_sizes *s, int levels, bool counted)
{
    gn_variant *v = atomic_load_explicit(&j->newest, memory_order_acquire);
    while (v && (v->eager || !same_rows(v, levels, counted) || !gn_guards_hold(&v->guards, s)))
        v = v->older;
    return v;
}

/* Does the newest program have this size in it, where the call has another? */
static bool misses(const gn_variant *last, const gn_sizes *s, int d)
{
    return s->n[d] < last->guards.of[d].least || s->n[d] > last->guards.of[d].most;
}

/* "nodes was 34, is 35; edges was 156, is 160" */
enum { REASON = 200 };
static void reason(const gn_variant *last, const gn_sizes *s, gn_variant *v, char text[REASON])
{
    int at = 0;
    *text = 0;
    for (int d = 0; d < GN_DIM_COUNT; d++) {
        if (!misses(last, s, d)) continue;
        if (!at) {
            v->guard = (gn_dim)d;
            v->old = last->guards.of[d].least;
            v->new = s->n[d];
        }
        at += snprintf(text + at, (size_t)(REASON - at),
                       "%sguard %s == %lld does not hold: it is %lld", at ? "; " : "",
                       gn_dim_name[d], (long long)last->guards.of[d].least, (long long)s->n[d]);
    }
}

gn_status *gn_ranges_check(const gn_guards *ranges, const gn_sizes *s)
{
    gn_guards g = declared(ranges);
    for (int d = 0; d < GN_DIM_COUNT; d++) {
        gn_range r = g.of[d];
        if (s->n[d] >= r.least && s->n[d] <= r.most) continue;
        if (r.most == INT64_MAX)
            GN_FAIL(GN_ERR_DATA, "%s is %lld, declared to be %lld or more", gn_dim_name[d],
                    (long long)s->n[d], (long long)r.least);
        GN_FAIL(GN_ERR_DATA, "%s is %lld, declared to be in %lld..%lld", gn_dim_name[d],
                (long long)s->n[d], (long long)r.least, (long long)r.most);
    }
    return NULL;
}

/* What the program for these sizes is compiled for; moves: sizes that are not compiled in under
 * auto. */
static gn_guards guards_for(gn_dynamic dynamic, const gn_guards *ranges, const gn_sizes *s,
                            const bool *moves)
{
    gn_guards g = *ranges;
    for (int d = 0; d < GN_DIM_COUNT; d++) {
        bool any = g.of[d].least == 0 && g.of[d].most == INT64_MAX;
        bool fixed = dynamic == GN_DYNAMIC_FALSE ||
                     (dynamic == GN_DYNAMIC_AUTO && any && !moves[d]);
        if (fixed) g.of[d] = (gn_range){s->n[d], s->n[d]};
    }
    return g;
}

gn_status *gn_guards_first(gn_dynamic dynamic, const gn_guards *ranges, const gn_sizes *s,
                           gn_guards *out)
{
    gn_guards all = declared(ranges);
    *out = guards_for(dynamic, &all, s, (const bool[GN_DIM_COUNT]){false});
    return gn_ranges_check(&all, s);
}

/* What is to be said of a recompilation, of the moment when it was one. */
enum { WORDS = 2 * REASON + 200 };
static void word(const gn_jit *j, const gn_variant *v, char text[WORDS])
{
    jmp_buf oom;
    gn_arena a;
    *text = 0;
    if (!j->opt.say) return;
    gn_arena_init(&a);
    a.oom = &oom;
    if (!setjmp(oom)) {
        gn_buf b = {.arena = &a};
        gn_guards_print(&v->guards, &b);
        if (v->eager)
            snprintf(text, WORDS, "%s: %s; runs eagerly, compiled in %.1f ms", j->model->name,
                     v->why, v->ms);
        else
            snprintf(text, WORDS, "%s: recompilation %d in %.1f ms: %s; its guards: %s",
                     j->model->name, atomic_load(&j->recompiles), v->ms, v->why, b.p);
    }
    gn_arena_free(&a);
}

/* A recompilation is wanted, under the lock. */
static gn_status *recompile(gn_jit *j, const gn_variant *last, const gn_sizes *s, gn_stance stance,
                            gn_variant **out, char text[WORDS])
{
    char why[REASON];
    gn_variant like = {.why = why};
    bool moves[GN_DIM_COUNT];
    reason(last, s, &like, why);
    if (stance == GN_STANCE_FAIL)
        GN_FAIL(GN_ERR_USAGE, "%s: %s; the stance fail-on-recompile forbids to compile it again",
                j->model->name, why);
    if (stance == GN_STANCE_COMPILED)
        GN_FAIL(GN_ERR_USAGE, "%s: %s; the stance run-what-is-compiled forbids to compile",
                j->model->name, why);
    like.eager = stance == GN_STANCE_EAGER;
    if (!like.eager) like.rows = j->opt.build.train_rows;
    if (!like.eager && atomic_load(&j->recompiles) >= j->opt.limit)
        GN_FAIL(GN_ERR_USAGE,
                "%s: %s; it was compiled again %d times, the limit: let sizes be symbolic (dynamic "
                "`auto` or `true`) or "
                "raise the limit",
                j->model->name, why, j->opt.limit);
    for (int d = 0; d < GN_DIM_COUNT; d++) moves[d] = j->moves[d] || misses(last, s, d);
    like.guards = like.eager ? j->opt.ranges : guards_for(j->opt.dynamic, &j->opt.ranges, s, moves);
    GN_TRY(add(j, &like, out));
    if (!like.eager) {
        memcpy(j->moves, moves, sizeof moves);
        atomic_fetch_add(&j->recompiles, 1);
    }
    word(j, *out, text);
    return NULL;
}

static gn_status *compile_first(gn_jit *j, const gn_sizes *s, gn_variant **out)
{
    gn_variant like = {.why = "", .rows = j->opt.build.train_rows};
    if (s) {
        int64_t nodes = s->n[GN_DIM_NODES];
        j->hint = (low_hint){
            .name = GN_NAME_G, .n_src = nodes, .n_dst = nodes, .n_edge = s->n[GN_DIM_EDGES]};
        like.guards = guards_for(j->opt.dynamic, &j->opt.ranges, s, j->moves);
    } else {
        like.guards = j->opt.ranges;
    }
    return add(j, &like, out);
}

static const gn_variant *last_compiled(const gn_jit *j)
{
    const gn_variant *v = atomic_load(&j->newest);
    while (v && (v->eager || v->step_alone)) v = v->older;
    return v;
}

/* One that fits, for this stance; NULL. */
static gn_variant *find_for(const gn_jit *j, const gn_sizes *s, gn_stance stance)
{
    gn_variant *v = find(j, s, false);
    return v || stance != GN_STANCE_EAGER ? v : find(j, s, true);
}

/* None fits, as far as could be seen without the lock.  text: what is to be said of it, or "". */
static gn_status *miss(gn_jit *j, const gn_sizes *s, gn_stance stance, gn_variant **out,
                       char text[WORDS])
{
    *text = 0;
    *out = find_for(j, s, stance);
    if (*out) return NULL;
    const gn_variant *last = last_compiled(j);
    if (last) return recompile(j, last, s, stance, out, text);
    if (stance == GN_STANCE_COMPILED)
        GN_FAIL(
            GN_ERR_USAGE,
            "%s: nothing is compiled yet, and the stance run-what-is-compiled forbids to compile",
            j->model->name);
    return compile_first(j, s, out);
}

gn_status *gn_jit_get(gn_jit *j, const gn_sizes *s, gn_stance stance, const gn_variant **out)
{
    gn_variant *v = find_for(j, s, stance);
    if (!v) {
        char text[WORDS];
        *out = NULL;
        GN_TRY(gn_ranges_check(&j->opt.ranges, s));
        gn_mutex_take(&j->compiling);
        gn_status *status = miss(j, s, stance, &v, text);
        gn_mutex_leave(&j->compiling);
        if (status) return status;
        if (*text) j->opt.say(j->opt.ctx, text); /* who listens may call what compiles */
    }
    *out = v;
    return NULL;
}

gn_status *gn_jit_get_rows(gn_jit *j, const gn_variant *v, const gn_sizes *s,
                           const gn_loss_rows *rows, gn_stance stance, const gn_variant **out)
{
    gn_status *status = NULL;
    bool counted = gn_rows_counted(rows);
    gn_variant *step;
    char why[REASON];
    *out = v;
    if (same_rows(v, rows->levels, counted) || v->eager) return NULL;
    step = find_step(j, s, rows->levels, counted);
    if (!step && stance == GN_STANCE_COMPILED) step = find_step(j, s, rows->levels, false);
    if (step) *out = step;
    if (step || stance == GN_STANCE_COMPILED) return NULL;
    if (counted)
        snprintf(why, sizeof why,
                 "every run has the same data: graph and mask leave rows out at %d levels",
                 rows->levels);
    else
        snprintf(why, sizeof why, "graph and mask leave rows out at %d levels, not at %d",
                 rows->levels, v->rows.levels);
    gn_variant like = {.guards = v->guards, .rows = *rows, .step_alone = true, .why = why};
    gn_mutex_take(&j->compiling);
    step = find_step(j, s, rows->levels, counted);
    if (!step) status = add(j, &like, &step);
    gn_mutex_leave(&j->compiling);
    *out = step;
    return status;
}

gn_status *gn_jit_prepare(gn_jit *j)
{
    gn_variant *v;
    gn_status *s = NULL;
    bool all = true;
    for (int d = 0; d < GN_DIM_COUNT; d++) {
        gn_range r = j->opt.ranges.of[d];
        bool declared = r.least != 0 || r.most != INT64_MAX;
        all = all && (j->opt.dynamic == GN_DYNAMIC_TRUE ||
                      (j->opt.dynamic == GN_DYNAMIC_AUTO && declared));
    }
    if (!all) return NULL;
    gn_mutex_take(&j->compiling);
    if (!atomic_load(&j->newest)) s = compile_first(j, NULL, &v);
    gn_mutex_leave(&j->compiling);
    return s;
}

/* Choices -------------------------------------------------------------------------------------- */

gn_model *gn_jit_outline(const gn_jit *j, const gn_variant *v, gn_arena *a, gn_build_options *opt)
{
    *opt = options_of(j, v);
    return specialised(a, j->model, &v->guards);
}

/* The code is what it was. */
static gn_status *note_choice(gn_variant *v, const gn_tuned *t)
{
    jmp_buf oom;
    v->arena.oom = &oom;
    if (setjmp(oom)) {
        v->arena.oom = NULL;
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a choice of schedules",
                v->arena.wanted);
    }
    keep_choice(v, t);
    v->arena.oom = NULL;
    atomic_fetch_or_explicit(&v->chosen, 1u << t->unit, memory_order_release);
    return NULL;
}

gn_status *gn_jit_choose(gn_jit *j, const gn_variant *v, const gn_tuned *t)
{
    const gn_pick *p = &t->pick;
    if (!p->schedule.n && !p->without.passes && !p->without.decisions &&
        p->one_region != GN_FOLD_ONE_KERNEL)
        return note_choice((gn_variant *)(uintptr_t)v, t);
    gn_variant *made, like = {.guards = v->guards,
                              .rows = v->rows,
                              .step_alone = v->step_alone,
                              .why = v->why,
                              .guard = v->guard,
                              .old = v->old,
                              .new = v->new};
    for (gn_unit_id k = 0; k < GN_UNITS; k++) like.tuned[k] = gn_variant_tuned(v, k);
    like.tuned[t->unit] = t;
    gn_mutex_take(&j->compiling);
    gn_status *s = add(j, &like, &made);
    gn_mutex_leave(&j->compiling);
    return s;
}
