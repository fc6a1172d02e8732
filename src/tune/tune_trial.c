/* trial: one candidate, from choices to instances. */
#include "base/alloc.h"
#include "base/data_name.h"
#include "base/map.h"
#include "tune/tune_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

gn_unit *tuner_unit(gn_build *b, gn_unit_id id) { return id == GN_UNIT_EVAL ? &b->eval : &b->step; }

const gn_unit *tuner_reference(const tuner *t) { return tuner_unit(t->site->build, t->id); }
const gn_unit *tuner_best(const tuner *t) { return t->best ? t->best->unit : tuner_reference(t); }

/* On a device a run is what the mode makes of it; here one region is something to be tried. */
gn_pick gn_tune_usual(const gn_target *target)
{
    return (gn_pick){.one_region = target ? GN_FOLD_BY_MODE : GN_FOLD_NOT};
}

void gn_tune_default(const gn_target *target, gn_switches off, gn_mode *mode, gn_products *products)
{
    bool folds = target && gn_modes[*mode].one_region;
    if (target) *products = gn_products_way(*products, *mode, off);
    *mode = folds ? GN_MODE_REDUCE_OVERHEAD : GN_MODE_DEFAULT;
}

const gn_pick *tuner_best_pick(const tuner *t) { return t->best ? &t->best->pick : &t->usual; }

/* What is run: kernels, in which order, on what, how. */
static uint64_t digest_code(gn_arena *a, const gn_compiled *c, bool alone, uint64_t h)
{
    if (!c) return h;
    for (uint32_t l = 0; l < c->low->launches.n; l++) {
        const low_launch *x = &c->low->launches.p[l];
        int64_t numbers[] = {x->trip.coef, x->trip.sym, x->trip.plus, x->step, x->chain};
        h = gn_hash_bytes(x->buffers.p, x->buffers.n * sizeof *x->buffers.p, h);
        h = gn_hash_bytes(numbers, sizeof numbers, h);
        if (!x->kernel) continue;
        gn_buf b = {.arena = a};
        kir_print(x->kernel, &b);
        h = gn_hash_bytes(b.p, b.n, h);
    }
    for (int l = 0; l < c->artifact->n_launches && !alone; l++) {
        const gn_launch *x = &c->artifact->launches[l];
        h = h * 31 + (uint64_t)x->n_balance + 1;
        for (int b = 0; b < x->n_balance; b++)
            h = (h * 31 + (uint64_t)x->balance[b].graph) * 31 + (uint64_t)x->balance[b].array;
    }
    return h;
}

/* How ranges are dealt out is no matter to one thread. */
uint64_t trial_digest(const tuner *t, const gn_unit *u, const gn_pick *p)
{
    bool alone = (p->threads ? p->threads : t->threads) == 1;
    uint64_t h = digest_code(t->arena, u->prepare_code, alone,
                             digest_code(t->arena, u->code, alone, 1));
    int64_t how[] = {p->threads, u->one_region, u->code->whole != NULL, u->code->quick};
    return gn_hash_bytes(how, sizeof how, h);
}

uint64_t tuner_best_digest(const tuner *t) { return t->best ? t->best->digest : t->usual_digest; }

static bool was_tried(const tuner *t, uint64_t digest)
{
    for (uint32_t k = 0; k < t->rec->tried.n; k++)
        if (t->rec->tried.p[k] == digest) return true;
    return digest == tuner_best_digest(t);
}

static gn_status *lower(tuner *t, trial *c)
{
    c->opt = t->site->opt;
    c->opt.skip = ~(1u << t->id);
    c->opt.no_code = true;
    c->opt.each = t->site->target != NULL; /* most kernels are those of candidates before */
    c->opt.cache = t->cache;
    c->opt.pick[t->id] = &c->pick;
    GN_TRY(gn_build_model(&c->arena, t->site->model, &c->opt, &c->build));
    c->unit = tuner_unit(&c->build, t->id);
    c->digest = trial_digest(t, c->unit, &c->pick);
    return NULL;
}

static gn_status *compile(tuner *t, trial *c)
{
    (void)t;
    return gn_build_code(&c->arena, &c->opt, &c->build);
}

/* Memory that a candidate does not find is its own matter; what is done with it later ends as the
 * search's arena does. */
static gn_status *guarded(tuner *t, trial *c, gn_status *(*work)(tuner *t, trial *c))
{
    jmp_buf out_of_memory;
    c->arena.oom = &out_of_memory;
    if (setjmp(out_of_memory)) {
        c->arena.oom = t->arena->oom;
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes were asked for", c->arena.wanted);
    }
    gn_status *s = work(t, c);
    c->arena.oom = t->arena->oom;
    return s;
}

/* Dense features where there were none: only where they are no burden. */
static bool too_large(const tuner *t, const trial *c)
{
    return t->site->missing_bytes > 256e6 && gn_unit_reads(c->unit, GN_SLOT_INPUT, GN_NAME_X);
}

gn_status *trial_lower(tuner *t, const gn_pick *pick, trial **out)
{
    *out = NULL;
    trial *c = gn_allocate_zeroed(sizeof *c);
    if (!c) GN_FAIL(GN_ERR_NOMEM, "out of memory: a candidate");
    c->next = t->alive;
    t->alive = c;
    gn_arena_init(&c->arena);
    c->arena.oom = t->arena->oom;
    c->pick = gn_pick_copy(&c->arena, pick);
    gn_status *s = guarded(t, c, lower);
    if (s || was_tried(t, c->digest) || too_large(t, c)) {
        trial_free(t, c);
        return s;
    }
    *out = c;
    return NULL;
}

void trial_free(tuner *t, trial *c)
{
    trial **at = &t->alive;
    if (!c) return;
    while (*at && *at != c) at = &(*at)->next;
    if (*at) *at = c->next;
    if (c->unit) gn_unit_release(c->unit);
    if (t->site->target) gn_target_unload(t->site->target, &c->build.on_target);
    gn_image_free(c->build.image);
    gn_arena_free(&c->arena);
    gn_release(c);
}

/* Prediction ----------------------------------------------------------------------------------- */

/* Nanoseconds that a usual core takes, or half of what an A100's memory and arithmetic units allow.
 * Candidates are put in order by it, no more; of a device it leaves none out, since nobody has held
 * it against one. */
static double usual_ns(const gn_cost *c, bool there)
{
    double traffic = c->work_set / 60 + c->gathered / 50,
           work = (c->flops - c->pairs / 2) / 60 + (c->functions + c->draws) / 4;
    if (there) {
        traffic = (c->work_set + c->gathered) / 750;
        work = c->flops / 9750 + (c->functions + c->draws) / 600;
    }
    return traffic > work ? traffic : work;
}

static double predict_launch(tuner *t, trial *c, const gn_compiled *code, const gn_instance *in,
                             int launch)
{
    enum { WALK = 1 << 15 };
    bool there = t->site->target != NULL;
    const double launch_ns = there ? 2000 : 30;
    const low_launch *l = &code->low->launches.p[launch];
    int head;
    if (!l->kernel) return launch_ns + (double)gn_instance_slot_bytes(in, l->buffers.p[0]) / 20;
    gn_buf text = {.arena = &c->arena};
    kir_print(l->kernel, &text);
    gn_buf_printf(&text, "%" PRId64 " %" PRId64, gn_instance_launch(in, launch).trips,
                  gn_instance_chain(in, launch, &head));
    const uint32_t *known = gn_map_find(&t->cost, text.p);
    if (known) return launch_ns + (double)*known;
    gn_cost cost = gn_cost_of_launch(&c->arena, l, in, launch, WALK);
    double ns = usual_ns(&cost, there);
    gn_map_put(&t->cost, text.p, ns < 4e9 ? (uint32_t)ns : UINT32_MAX);
    return launch_ns + ns;
}

static double predict_unit(tuner *t, trial *c, const gn_unit *u)
{
    double ns = 0;
    for (int l = 0; l < u->code->artifact->n_launches; l++)
        ns += predict_launch(t, c, u->code, u->instance, l);
    return ns * 1e-3;
}

static gn_pool *pool_of(const tuner *t, int threads)
{
    bool there = threads > 0 && threads < t->threads && t->pool[threads];
    return t->pool[there ? threads : t->threads];
}

static gn_status *bind(tuner *t, gn_unit *u, int threads)
{
    const gn_tune_site *s = t->site;
    return s->bind(s->ctx, u, pool_of(t, threads), tuner_reference(t)->instance);
}

double trial_predict(tuner *t, trial *c)
{
    double us = 0;
    gn_unit_blank(c->unit); /* bound to be looked at */
    gn_status *s = bind(t, c->unit, c->pick.threads);
    if (!s) us = predict_unit(t, c, c->unit);
    gn_status_free(s);
    gn_unit_release(c->unit);
    return us;
}

/* Making --------------------------------------------------------------------------------------- */

gn_status *trial_make(tuner *t, trial *c, const char *name)
{
    GN_TRY(guarded(t, c, compile));
    if (t->wish->made) t->wish->made(t->wish->ctx, name, c->unit);
    return bind(t, c->unit, c->pick.threads);
}

gn_status *trial_rebind(tuner *t, trial *c)
{
    gn_unit other = *c->unit;
    GN_TRY(bind(t, &other, c->pick.threads));
    gn_unit_release(c->unit);
    *c->unit = other;
    return NULL;
}
