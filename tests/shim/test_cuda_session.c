/* labels: long */
/* links: tune codegen lower passes frontend ir runtime cache base */
/* sources: fake_target.c */
/* kernels: unchecked */
/* timeout: 900 */
/* Models trained and run on a device: the fake driver, with kernels that the host runs. */
#include "base/sanitized.h"
#include "cache/cache.h"
#include "session/explain.h"
#include "tune/start.h"
#include "shim/fake_target.h"
#include "shim/trained.h"
#include "support/scarce.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EPOCHS = 4 };

static gn_session_options options(gn_arena *a, const char *name, gn_mode mode, gn_target *target)
{
    gn_session_options o = trained_options(a, name, mode, target);
    o.epochs = EPOCHS;
    return o;
}

/* What a step is made of, of the last session that trained, and the copies on the device that it
 * took; -1: a GPU. */
static bool in_one_kernel;
static int copies_of_step, copies_made, linked;

static int count_copies(const gn_compiled *c)
{
    int n = 0;
    for (int k = 0; k < c->artifact->n_launches; k++)
        n += c->artifact->launches[k].kind == GN_LAUNCH_COPY;
    return n;
}

static gn_status *train(gn_arena *a, const gn_session_options *o, trained *out)
{
    gn_session *s;
    GN_TRY(gn_session_new(a, o, &s));
    in_one_kernel = s->build.step.code->whole && s->build.eval.code->whole;
    copies_of_step = count_copies(s->build.step.code);
    gn_status *status = trained_fit(s, out);
    gn_session_free(s);
    return status;
}

/* Before the target is closed, for after it. */
typedef struct watch {
    fake_alive_fn *alive;
    fake_calls_fn *calls;
    fake_fault_fn *fault;
    fake_fail_fn *order;
    fake_fails_fn *fails;
} watch;

static watch watch_of(const fake_target *t)
{
    watch w;
    void *at[] = {fake_symbol(t, "fake_alive"), fake_symbol(t, "fake_calls"),
                  fake_symbol(t, "fake_fault"), fake_symbol(t, "fake_fail"),
                  fake_symbol(t, "fake_fails")};
    memcpy(&w, at, sizeof w);
    return w;
}

static void nothing_left(const watch *w)
{
    if (!w->fault) return; /* a GPU */
    ck_assert_msg(!w->fault(), "%s", w->fault());
    ck_assert_int_eq(w->alive(), 0);
}

static int copies_since(const watch *w) { return w->calls ? w->calls("cuMemcpyDtoDAsync_v2") : -1; }

static trained with_precision(const char *name, gn_mode mode, gn_switches off,
                              gn_precision precision)
{
    gn_arena a;
    fake_target t;
    trained r = {0};
    gn_arena_init(&a);
    succeeds(fake_target_open(&t));
    watch w = watch_of(&t);
    gn_session_options o = options(&a, name, mode, t.target);
    o.without.decisions = off;
    o.precision = precision;
    (void)copies_since(&w);
    succeeds(train(&a, &o, &r));
    copies_made = copies_since(&w);
    linked = t.linked;
    fake_target_close(&t);
    nothing_left(&w);
    gn_arena_free(&a);
    return r;
}

static trained on_device(const char *name, gn_mode mode, gn_switches off)
{
    return with_precision(name, mode, off, GN_PRECISION_HIGHEST);
}

static const gn_switches copied = (gn_switches)1 << GN_DO_IN_PLACE;

/* On tensor cores, launch by launch and in one kernel: not the figures of exact products, but near
 * them. */
START_TEST(less_precise)
{
    gn_precision less = _i ? GN_PRECISION_MEDIUM : GN_PRECISION_HIGH;
    trained exact = on_device("gcn", GN_MODE_DEFAULT, 0);
    trained plain = with_precision("gcn", GN_MODE_DEFAULT, 0, less);
    trained whole = with_precision("gcn", GN_MODE_REDUCE_OVERHEAD, 0, less);
    ck_assert(in_one_kernel);
    ck_assert_mem_eq(&plain, &whole, sizeof plain);
    ck_assert_mem_ne(&plain, &exact, sizeof plain);
    close_to(&plain, &exact, _i ? 80 : 10);
}
END_TEST

/* Launch by launch, recorded, in one kernel, in modes that search before they have found anything,
 * and on this processor. */
START_TEST(trains)
{
    static const gn_mode searching[] = {GN_MODE_MAX_AUTOTUNE, GN_MODE_MAX_AUTOTUNE_NO_CUDAGRAPHS};
    trained plain = on_device(samples[_i], GN_MODE_DEFAULT, 0);
    ck_assert(!in_one_kernel);
    trained recorded = on_device(samples[_i], GN_MODE_REDUCE_OVERHEAD, by_launches);
    ck_assert(!in_one_kernel);
    ck_assert_mem_eq(&plain, &recorded, sizeof plain);
    trained whole = on_device(samples[_i], GN_MODE_REDUCE_OVERHEAD, 0);
    ck_assert(in_one_kernel);
    ck_assert_int_ge(linked, 1); /* its step was compiled in pieces, by the others' bits */
    ck_assert_mem_eq(&plain, &whole, sizeof plain);
    trained undivided = on_device(samples[_i], GN_MODE_REDUCE_OVERHEAD,
                                  (gn_switches)1 << GN_DO_QUICK_CODE);
    ck_assert(in_one_kernel && linked == 0);
    ck_assert_mem_eq(&plain, &undivided, sizeof plain);
    for (int k = 0; k < 2; k++) {
        trained sought = on_device(samples[_i], searching[k], 0);
        ck_assert_mem_eq(&plain, &sought, sizeof plain);
    }
#if GNNC_HAVE_LLVM
    gn_arena a;
    trained here = {0};
    gn_arena_init(&a);
    gn_session_options o = options(&a, samples[_i], GN_MODE_DEFAULT, NULL);
    succeeds(train(&a, &o, &here));
    close_to(&plain, &here, 1);
    gn_arena_free(&a);
#else
    trained eager = on_device(samples[_i], GN_MODE_EAGER, 0);
    close_to(&plain, &eager, 1);
#endif
}
END_TEST

/* Exponentials of a softmax once a node, which a device's rules leave to each edge: other
 * roundings, the same training. */
START_TEST(exponentials_of_nodes)
{
    trained edges = on_device("gat", GN_MODE_DEFAULT, 0),
            nodes = on_device("gat", GN_MODE_DEFAULT, (gn_switches)1 << GN_DO_EDGE_EXP);
    ck_assert_mem_ne(&edges, &nodes, sizeof edges);
    close_to(&nodes, &edges, 1);
}
END_TEST

/* States that are copied to rather than overwritten: copies among the launches, recorded, and as
 * phases. */
START_TEST(copies)
{
    trained plain = on_device("gcn", GN_MODE_DEFAULT, 0);
    int as_ever = copies_of_step;
    trained other = on_device("gcn", GN_MODE_DEFAULT, copied);
    ck_assert_int_gt(copies_of_step, as_ever);
    if (copies_made >= 0) ck_assert_int_eq(copies_made, EPOCHS * copies_of_step);
    close_to(&other, &plain, 1);
    trained recorded = on_device("gcn", GN_MODE_REDUCE_OVERHEAD, by_launches | copied);
    if (copies_made >= 0) ck_assert_int_eq(copies_made, copies_of_step); /* once, to be replayed */
    ck_assert_mem_eq(&other, &recorded, sizeof other);
    trained whole = on_device("gcn", GN_MODE_REDUCE_OVERHEAD, copied);
    ck_assert(in_one_kernel);
    ck_assert_int_gt(copies_of_step, 0);
    ck_assert_int_le(copies_made, 0);
    ck_assert_mem_eq(&other, &whole, sizeof other);
}
END_TEST

static void heard(void *ctx, const gn_epoch *e)
{
    double *loss = ctx;
    *loss = e->loss;
}

/* Trains for so many epochs, of which none is chosen, and says how often something came back from
 * the device. */
static int fetches(const fake_target *t, gn_arena *a, int epochs, bool each, trained *out)
{
    gn_session *s;
    gn_fit fit;
    double last = NAN;
    int64_t classes;
    watch w = watch_of(t);
    gn_session_options o = options(a, "gcn", GN_MODE_DEFAULT, t->target);
    o.epochs = epochs;
    succeeds(gn_session_new(a, &o, &s));
    s->model->train.select_best = false;
    s->model->train.patience = 0;
    if (w.calls) (void)w.calls("cuMemcpyDtoHAsync_v2");
    succeeds(gn_session_fit(s, 3, each ? heard : NULL, &last, &fit));
    int n = w.calls ? w.calls("cuMemcpyDtoHAsync_v2") : -1;
    ck_assert_int_eq(fit.epochs, epochs);
    ck_assert_int_eq(fit.n_steps, epochs);
    if (each) ck_assert_double_eq(last, fit.loss);
    *out = (trained){.loss = fit.loss, .n = s->data->n_nodes};
    const float *logits = gn_session_logits(s, &classes);
    memcpy(out->logits, logits, (size_t)(out->n * classes) * sizeof *logits);
    gn_session_free(s);
    return n;
}

/* A loss that nobody asks for stays on the device: of forty steps the first one's comes back, two
 * in between, and the last. */
START_TEST(losses_that_are_wanted)
{
    enum { STEPS = 40, BETWEEN = 2 };
    gn_arena a;
    fake_target t;
    trained one, lazy, eager;
    gn_arena_init(&a);
    succeeds(fake_target_open(&t));
    watch w = watch_of(&t);
    int alone = fetches(&t, &a, 1, false, &one), few = fetches(&t, &a, STEPS, false, &lazy);
    int all = fetches(&t, &a, STEPS, true, &eager);
    ck_assert_mem_eq(&lazy, &eager, sizeof lazy);
    ck_assert_mem_ne(&lazy, &one, sizeof lazy);
    if (w.calls) {
        ck_assert_int_eq(few, alone + BETWEEN + 1);
        ck_assert_int_ge(all, alone + STEPS);
    }
    fake_target_close(&t);
    nothing_left(&w);
    gn_arena_free(&a);
}
END_TEST

static const char
    lazy_model[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = GCNConv(C)\n"
                   "  return a(g, dropout(x, 0.5))\n}\n"
                   "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
                   "  optimizer = adam(lr = 0.01)\n  schedule = exponential(gamma = 0.9)\n}\n";

/* Trains on a device; NULL: to or from no checkpoint. */
static trained with_checkpoints(gn_mode mode, const char *text, int64_t epochs, const char *to,
                                int64_t every, const char *from)
{
    gn_arena a;
    fake_target t;
    trained r = {0};
    gn_arena_init(&a);
    succeeds(fake_target_open(&t));
    watch w = watch_of(&t);
    gn_session_options o = options(&a, "gcn", mode, t.target);
    o.text = text;
    o.epochs = epochs;
    o.checkpoint = to;
    o.checkpoint_every = every;
    o.resume = from;
    succeeds(train(&a, &o, &r));
    fake_target_close(&t);
    nothing_left(&w);
    gn_arena_free(&a);
    return r;
}

/* With a break after some epochs, and with checkpoints on the way while nobody asks for losses: the
 * bits of training that never stopped. */
START_TEST(resumed)
{
    if (GN_UNDER_ASAN && _i == 1) return; /* each compiles */
    enum { STEPS = 20, UNTIL = 13, EVERY = 5 };
    gn_mode mode = _i == 1 ? GN_MODE_REDUCE_OVERHEAD : GN_MODE_DEFAULT;
    const char *text = _i == 2 ? NULL : lazy_model; /* the sample measures each epoch */
    char path[] = "cuda-checkpoint.XXXXXX";
    close(mkstemp(path));
    trained through = with_checkpoints(mode, text, STEPS, NULL, 0, NULL);
    trained part = with_checkpoints(mode, text, UNTIL, path, EVERY, NULL);
    trained on = with_checkpoints(mode, text, STEPS, path, EVERY, path);
    ck_assert_mem_ne(&through, &part, sizeof part);
    ck_assert_mem_eq(&through, &on, sizeof on);
    unlink(path);
}
END_TEST

/* Blocks that cannot wait for each other. */
START_TEST(not_cooperative)
{
    gn_arena a;
    fake_target t;
    trained r = {0};
    fake_cooperates_fn *cooperates;
    gn_arena_init(&a);
    succeeds(fake_target_open(&t));
    void *at = fake_symbol(&t, "fake_cooperates");
    memcpy(&cooperates, &at, sizeof at);
    fake_target_close(&t);
    if (!at) return; /* a GPU */
    cooperates(0);
    succeeds(fake_target_open(&t));
    gn_session_options o = options(&a, "gcn", GN_MODE_REDUCE_OVERHEAD, t.target);
    succeeds(train(&a, &o, &r));
    ck_assert(!in_one_kernel);
    fake_target_close(&t);
    cooperates(1);
    trained plain = on_device("gcn", GN_MODE_DEFAULT, 0);
    ck_assert_mem_eq(&plain, &r, sizeof plain);
    gn_arena_free(&a);
}
END_TEST

/* The device has its own copies of what was bound: other data need another instance. */
START_TEST(rebinding)
{
    static int64_t other[8];
    gn_arena a;
    fake_target t;
    gn_session *session;
    gn_arena_init(&a);
    succeeds(fake_target_open(&t));
    gn_session_options o = options(&a, "gcn", GN_MODE_DEFAULT, t.target);
    succeeds(gn_session_new(&a, &o, &session));
    gn_status *s = gn_instance_rebind(session->build.eval.instance, "out", other);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_USAGE);
    ck_assert_msg(strstr(gn_status_message(s), "another instance") != NULL, "%s",
                  gn_status_message(s));
    gn_status_free(s);
    gn_session_free(session);
    fake_target_close(&t);
    gn_arena_free(&a);
}
END_TEST

/* What is told of kernels: times on a device, and without one the same bytes and operations, and no
 * times. */
START_TEST(explained)
{
    gn_arena a;
    fake_target t;
    gn_session *there, *nowhere;
    gn_unit_report x, y;
    gn_limits limits = gn_cuda_limits();
    gn_arena_init(&a);
    succeeds(fake_target_open(&t));
    watch w = watch_of(&t);
    gn_session_options o = options(&a, "gat", GN_MODE_DEFAULT, t.target),
                       blank = options(&a, "gat", GN_MODE_DEFAULT, NULL);
    blank.limits = &limits;
    blank.no_code = true;
    succeeds(gn_session_new(&a, &o, &there));
    succeeds(gn_session_new(&a, &blank, &nowhere));
    succeeds(gn_session_bind_blank(nowhere));
    succeeds(gn_explain_unit(&a, "step", &there->build.step, NULL, 1, &x));
    succeeds(gn_explain_unit(&a, "step", &nowhere->build.step, NULL, 0, &y));
    ck_assert_int_eq(x.n, y.n);
    ck_assert(x.runs > 0 && y.runs == 0 && isnan(y.us));
    for (int k = 0; k < x.n; k++) {
        const gn_kernel_report *p = &x.kernels[k], *q = &y.kernels[k];
        ck_assert_str_eq(p->name, q->name);
        /* what the fake driver's events say of everything */
        ck_assert(w.alive ? p->us == 1000 : p->us > 0);
        ck_assert_double_eq_tol(p->gbytes, (p->cost.gathered + p->cost.work_set) / p->us * 1e-3,
                                1e-9);
        ck_assert(isnan(q->gbytes));
        ck_assert(isnan(q->us) && p->bound_us == 0 && q->bound_us == 0 && p->by == GN_BY_NOTHING);
        ck_assert(p->cost.moved > 0 && p->cost.moved == q->cost.moved &&
                  p->cost.gathered == q->cost.gathered);
        ck_assert(p->cost.flops == q->cost.flops && p->cost.functions == q->cost.functions);
    }
    gn_session_free(nowhere);
    gn_session_free(there);
    fake_target_close(&t);
    nothing_left(&w);
    gn_arena_free(&a);
}
END_TEST

/* Whatever call of the driver fails: an error, and nothing is left; one that can be done without
 * is, and makes no difference. */
START_TEST(every_error)
{
    trained r, right = {0};
    int failed = 0, n_right = 0;
    bool over = false;
    for (int nth = 1; !over; nth += 1 + nth / 12) { /* later ones are much alike */
        gn_arena a;
        fake_target t;
        gn_arena_init(&a);
        succeeds(fake_target_open(&t));
        watch w = watch_of(&t);
        if (!w.order) {
            fake_target_close(&t);
            return;
        }
        gn_session_options o = options(&a, "gcn", GN_MODE_REDUCE_OVERHEAD, t.target);
        o.epochs = 1;
        o.without.decisions = _i ? 0 : by_launches;
        w.order(NULL, nth, 1);
        memset(&r, 0, sizeof r);
        gn_status *s = train(&a, &o, &r);
        over = w.fails();
        w.order(NULL, 0, 0);
        failed += s != NULL;
        if (!s && n_right++) ck_assert_mem_eq(&r, &right, sizeof r);
        if (!s) right = r;
        if (s)
            ck_assert_msg(strstr(gn_status_message(s), "CUDA_ERROR"), "%s", gn_status_message(s));
        gn_status_free(s);
        fake_target_close(&t);
        nothing_left(&w);
        gn_arena_free(&a);
    }
    ck_assert_int_gt(failed, 20);
}
END_TEST

/* A driver that does not take what a newer NVRTC made says that an image is damaged; the way out is
 * told. */
START_TEST(older_than_nvrtc)
{
    trained r;
    for (int version = 12040; version <= 13000; version += 960) {
        gn_arena a;
        fake_target t;
        gn_arena_init(&a);
        succeeds(fake_target_open(&t));
        watch w = watch_of(&t);
        if (!w.order) {
            fake_target_close(&t);
            return;
        }
        gn_session_options o = options(&a, "gcn", GN_MODE_DEFAULT, t.target);
        t.target->driver->version = version;
        w.order("cuModuleLoadData", 1, GN_CUDA_INVALID_IMAGE);
        gn_status *s = train(&a, &o, &r);
        w.order(NULL, 0, 0);
        ck_assert_int_eq(gn_status_code(s), GN_ERR_BACKEND);
        ck_assert_msg(strstr(gn_status_message(s), "for newer drivers") != NULL, "%s",
                      gn_status_message(s));
        bool told = strstr(gn_status_message(s),
                           "the driver is for CUDA 12.4 and older, and NVRTC 13.0 makes code for "
                           "drivers of CUDA 13 and newer: update the driver, or name a "
                           "libnvrtc.so.12 in GNNC_NVRTC") != NULL;
        ck_assert_msg(told == (version < 13000), "%s", gn_status_message(s));
        gn_status_free(s);
        fake_target_close(&t);
        nothing_left(&w);
        gn_arena_free(&a);
    }
}
END_TEST

/* Wherever the arena runs out of memory: an error, and nothing is left on the device, nor here
 * (AddressSanitizer sees that). */
START_TEST(memory_of_the_arena)
{
    gn_arena a, scarce;
    fake_target t;
    gn_session *session;
    gn_cache *cache;
    gn_compiled *all[GN_BUILD_PROGRAMS];
    gn_target_code code;
    gn_code_report r;
    gn_arena_init(&a);
    succeeds(fake_target_open(&t));
    succeeds(gn_cache_new(&(gn_cache_options){0}, &cache));
    watch w = watch_of(&t);
    gn_session_options so = options(&a, "gcn", _i ? GN_MODE_REDUCE_OVERHEAD : GN_MODE_DEFAULT,
                                    t.target);
    so.train = so.keep_static = false;
    so.no_code = true;
    succeeds(gn_session_new(&a, &so, &session));
    int n = gn_build_programs(&session->build, all), failed = 0, before = w.alive ? w.alive() : 0;
    gn_codegen_options o = {.threads = 1, .cache = cache};
    gn_products_rule kernels = {.way = GN_PRODUCTS_KERNEL};
    /* kernels are in the cache from here on */
    succeeds(gn_target_compile(t.target, &a, n, all, &o, &kernels, &code, &r));
    gn_target_unload(t.target, &code);
    bool over = false;
    for (size_t left = 0; !over; left += 16) {
        scarce_arena(&scarce, left);
        gn_status *s = gn_target_compile(t.target, &scarce, n, all, &o, &kernels, &code, &r);
        over = !s;
        failed += !over;
        if (s) ck_assert_msg(gn_status_code(s) == GN_ERR_NOMEM, "%s", gn_status_message(s));
        gn_status_free(s);
        gn_target_unload(t.target, &code);
        gn_arena_free(&scarce);
        if (w.alive) ck_assert_int_eq(w.alive(), before);
    }
    ck_assert_int_gt(failed, 100);
    ck_assert_int_eq(r.misses, 0);
    gn_session_free(session);
    gn_cache_free(cache);
    fake_target_close(&t);
    nothing_left(&w);
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("trains"), *e = tcase_create("errors");
    tcase_set_timeout(t, 600);
    tcase_set_timeout(e, 600);
    tcase_add_loop_test(t, trains, 0, SAMPLES);
    tcase_add_loop_test(t, less_precise, 0, 2);
    tcase_add_test(t, rebinding);
    tcase_add_test(t, explained);
    tcase_add_test(t, copies);
    tcase_add_test(t, exponentials_of_nodes);
    tcase_add_test(t, losses_that_are_wanted);
    tcase_add_test(t, not_cooperative);
    tcase_add_loop_test(t, resumed, 0, 3);
    tcase_add_loop_test(e, every_error, 0, 2);
    tcase_add_test(e, older_than_nvrtc);
    tcase_add_loop_test(e, memory_of_the_arena, 0, 2);
    return RUN_CASES("cuda_session", t, e);
}
