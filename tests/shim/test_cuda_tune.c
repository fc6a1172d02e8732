/* labels: long */
/* links: tune codegen lower passes frontend ir runtime cache base */
/* sources: fake_target.c */
/* kernels: unchecked */
/* timeout: 900 */
/* Searching for schedules on a device: the fake driver, whose clock tests set candidate by
 * candidate.  What is faster by it is taken, what is slower is not, what is wrong is rejected
 * whatever its speed; what is kept is found again. */
#include "base/sanitized.h"
#include "cache/cache.h"
#include "session/session_impl.h"
#include "tune/start.h"
#include "tune/tune_impl.h"
#include "shim/fake_target.h"
#include "shim/trained.h"
#include "support/suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL 1000.0 /* seconds: more than a search needs */
enum { OUT_OF_RESOURCES = 701 };

static gn_arena arena;
static gn_cache *cache;
static fake_target device;
static char folder[64], lock_path[96];

/* Before the target is closed, for after it. */
static fake_alive_fn *alive;
static fake_fault_fn *fault;
static fake_fail_fn *order;
static fake_fails_fn *ordered;
static fake_filled_fn *filled;
static fake_devices_fn *devices;

static void look_up(void *to, const char *name)
{
    void *at = fake_symbol(&device, name);
    ck_assert_ptr_nonnull(at);
    memcpy(to, &at, sizeof at);
}

/* Modules outlive the target: what the cache keeps of a kernel here says where it lies. */
static void open_device(int ordinal)
{
    gn_target *target;
    fake_costs_fn *costs;
    succeeds(gn_target_open(getenv("GNNC_FAKE_CUDA"), ordinal, &target));
    fake_target_equip(&device, target);
    look_up(&alive, "fake_alive");
    look_up(&fault, "fake_fault");
    look_up(&order, "fake_fail");
    look_up(&ordered, "fake_fails");
    look_up(&filled, "fake_filled");
    look_up(&devices, "fake_devices");
    look_up(&costs, "fake_costs");
    costs(1, 1);
}

static void close_device(void)
{
    gn_target_close(device.target);
    ck_assert_msg(!fault(), "%s", fault());
    ck_assert_int_eq(alive(), 0);
}

static void open_cache(void) { succeeds(gn_cache_new(&(gn_cache_options){.dir = folder}, &cache)); }

static void setup(void)
{
    strcpy(folder, "/tmp/gnnc-tune-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(lock_path, sizeof lock_path, "%s/lock", folder);
    gn_arena_init(&arena);
    open_cache();
    fake_target_begin(&device);
    open_device(0);
}

static void teardown(void)
{
    char line[256];
    ck_assert_int_lt(device.n_modules, FAKE_MODULES); /* else some were refused */
    close_device();
    fake_target_end(&device);
    gn_cache_free(cache);
    gn_arena_free(&arena);
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(line), 0);
}

/* Candidates ----------------------------------------------------------------------------------- */

typedef struct spy {
    const char *which; /* candidates of that name; "": all; NULL: none */
    double own_ms, ms; /* milliseconds of their launches that were compiled for them, and of others'
                        */
    uint64_t idle;     /* kernels of theirs that compute nothing */
    int result;        /* that their launches give */
    int most;          /* candidates of a search; 0: any number */
    int made, met, seen;   /* candidates, those of that name; modules so far */
    int rejected, not_run; /* that were said to be */
    bool said_taken;
    const char *named; /* the last of them */
    int nth;           /* call of the driver since the first candidate, which fails; 0: none */
    atomic_bool over;
} spy;

static void watch(void *ctx, const char *candidate, gn_unit *u)
{
    spy *z = ctx;
    bool meant = z->which && !strncmp(candidate, z->which, strlen(z->which));
    (void)u;
    z->made++;
    if (z->made == 1 && z->nth) order(NULL, z->nth, 1);
    z->met += meant;
    if (meant) z->named = gn_arena_strdup(&arena, candidate);
    if (z->made == z->most) z->over = true;
    for (; z->seen < device.n_modules; z->seen++) {
        fake_module *m = device.module[z->seen];
        m->cost_ms = meant ? z->own_ms : z->ms;
        if (!meant) continue;
        m->idle = z->idle;
        m->result = z->result;
    }
}

static void hear(void *ctx, const char *text)
{
    spy *z = ctx;
    if (getenv("GNNC_TEST_VERBOSE")) fprintf(stderr, "tune: %s\n", text);
    if (strstr(text, ", default: "))
        z->seen = device.n_modules; /* those of the default are as they are */
    z->rejected += strstr(text, "rejected, it gives something else") != NULL;
    z->not_run += strstr(text, "cannot be run: ") != NULL ||
                  strstr(text, "cannot be made: ") != NULL;
    z->said_taken = z->said_taken || strstr(text, ": taken") != NULL;
}

static gn_session_options options(spy *z, const char *model, bool train)
{
    gn_session_options o = trained_options(&arena, model, GN_MODE_MAX_AUTOTUNE, device.target);
    o.train = o.keep_static = train;
    o.cache = cache;
    o.tune_seconds = ALL;
    o.tune_made = watch;
    o.tune_say = hear;
    o.tune_ctx = z;
    o.over = &z->over;
    return o;
}

static gn_session *open_session(const gn_session_options *o)
{
    gn_session *s = NULL;
    succeeds(gn_session_new(&arena, o, &s));
    return s;
}

/* Scores beside those that rules make. */
static void same_scores(gn_session *s)
{
    gn_session_options o = s->opt;
    int64_t n, m;
    o.mode = GN_MODE_DEFAULT;
    o.tune_lock = NULL;
    o.tune_on = false;
    gn_session *d = open_session(&o);
    succeeds(gn_session_eval(s));
    succeeds(gn_session_fetch(s));
    succeeds(gn_session_eval(d));
    succeeds(gn_session_fetch(d));
    const float *x = gn_session_logits(s, &n), *y = gn_session_logits(d, &m);
    ck_assert_int_eq(n, m);
    for (int64_t i = 0; i < n * s->data->n_nodes; i++)
        ck_assert_msg(fabsf(x[i] - y[i]) <= 1e-4F * (1 + fabsf(y[i])), "score %lld: %g, not %g",
                      (long long)i, (double)x[i], (double)y[i]);
    gn_session_free(d);
}

static const gn_tuned *searched(const gn_session *s, bool train)
{
    const gn_tuned *t = s->tuned[train ? GN_UNIT_STEP : GN_UNIT_EVAL];
    ck_assert_ptr_nonnull(t);
    return t;
}

/* One candidate is twice as fast by the driver's clock, the others are slower. */
START_TEST(what_is_faster_is_taken)
{
    if (GN_UNDER_ASAN && _i) return; /* each searches */
    const char *which = _i ? "without quick-code" : "without share-tiles";
    int bit = _i ? GN_DO_QUICK_CODE : GN_DO_SHARE_TILES;
    spy z = {.which = which, .own_ms = 0.25, .ms = 4, .most = _i ? 4 : 0};
    gn_session_options o = options(&z, "gcn", _i);
    gn_session *s = open_session(&o);
    const gn_tuned *t = searched(s, _i);
    ck_assert_int_ge(z.met, 1);
    ck_assert(z.said_taken);
    ck_assert_msg(strstr(gn_pick_text(&arena, &t->pick), which) != NULL, "%s",
                  gn_pick_text(&arena, &t->pick));
    ck_assert_msg(t->best_us < 0.9 * t->default_us, "%g beside %g us", t->best_us, t->default_us);
    ck_assert(t->pick.without.decisions >> bit & 1);
    ck_assert_int_eq(t->wrong, 0);
    ck_assert(t->finished == !_i);
    same_scores(s);
    gn_session_free(s);
    ck_assert_int_eq(device.target->n_modules, 0); /* nobody's code is left there */
}
END_TEST

/* Slower, or as fast: beyond noise there is nothing to be had. */
START_TEST(what_is_not_faster_is_not_taken)
{
    if (GN_UNDER_ASAN && _i) return; /* each searches */
    spy z = {.which = NULL, .ms = _i ? 1 : 3, .most = 7};
    gn_session_options o = options(&z, "gcn", false);
    o.without.decisions = by_launches; /* which a schedule does not change the number of */
    gn_session *s = open_session(&o);
    const gn_tuned *t = searched(s, false);
    ck_assert_int_eq(z.made, z.most);
    if (!_i) ck_assert_str_eq(gn_pick_text(&arena, &t->pick), "");
    if (!_i) ck_assert(!z.said_taken && t->best_us == t->default_us);
    ck_assert(t->best_us <= t->default_us);
    same_scores(s);
    gn_session_free(s);
}
END_TEST

/* Launches that do nothing take no time: all of a candidate's, or those of one kernel, whose result
 * the default has left where that of the candidate would lie. */
START_TEST(what_is_wrong_is_rejected)
{
    if (GN_UNDER_ASAN && _i == 1) return; /* each searches */
    spy z = {.which = "", .own_ms = 0.001, .ms = 1, .idle = _i ? 1 : ~UINT64_C(0), .most = 8};
    gn_session_options o = options(&z, "gcn", _i == 2);
    if (_i) o.without.decisions = by_launches;
    long before = filled();
    gn_session *s = open_session(&o);
    const gn_tuned *t = searched(s, _i == 2);
    ck_assert_int_gt(z.met, 0);
    ck_assert_int_eq(z.rejected, z.made);
    ck_assert_int_eq(
        t->wrong + (_i == 2 && s->tuned[GN_UNIT_EVAL] ? s->tuned[GN_UNIT_EVAL]->wrong : 0), z.made);
    ck_assert_str_eq(gn_pick_text(&arena, &t->pick), "");
    ck_assert_int_gt(filled(), before);
    for (int k = 0; k < device.n_modules; k++)
        device.module[k]->idle = 0; /* what comes from the cache */
    same_scores(s);
    gn_session_free(s);
}
END_TEST

/* A launch that the device refuses is the candidate's matter; one after which it is lost ends the
 * search and says why. */
START_TEST(what_cannot_run)
{
    spy z = {.which = "",
             .own_ms = 1,
             .ms = 1,
             .result = _i ? GN_CUDA_ILLEGAL_ADDRESS : OUT_OF_RESOURCES,
             .most = 3};
    gn_session *s = NULL;
    gn_session_options o = options(&z, "gcn", false);
    gn_status *bad = gn_session_new(&arena, &o, &s);
    if (_i) {
        ck_assert_int_eq(z.made, 1);
        ck_assert_int_eq(z.not_run, 1);
        fails(bad, GN_ERR_BACKEND, "CUDA_ERROR");
        return;
    }
    succeeds(bad);
    ck_assert_int_eq(z.made, 3);
    ck_assert_int_eq(z.not_run, 3);
    ck_assert_str_eq(gn_pick_text(&arena, &searched(s, false)->pick), "");
    same_scores(s);
    gn_session_free(s);
}
END_TEST

/* Keeping -------------------------------------------------------------------------------------- */

static void other_process(int ordinal)
{
    close_device();
    gn_cache_free(cache);
    open_cache();
    open_device(ordinal);
}

static gn_switches found_at(const gn_session *s)
{
    return searched(s, false)->pick.without.decisions;
}

START_TEST(what_was_found_is_kept)
{
    spy first = {.which = "without share-tiles", .own_ms = 0.25, .ms = 4, .most = 5}, again = {0},
        other = {0};
    gn_session_options o = options(&first, "gcn", false);
    gn_session *s = open_session(&o);
    gn_switches found = found_at(s);
    ck_assert(found >> GN_DO_SHARE_TILES & 1);
    gn_session_free(s);
    other_process(0);
    o = options(&again, "gcn", false);
    o.tune_seconds = 0;
    s = open_session(&o);
    ck_assert_int_eq(again.made, 0);
    ck_assert(found_at(s) == found);
    gn_session_free(s);
    devices(2, 1ULL << 30);
    other_process(1);
    o = options(&other, "gcn", false);
    o.tune_seconds = 0;
    s = open_session(&o);
    ck_assert_ptr_null(s->tuned[GN_UNIT_EVAL]); /* another device */
    gn_session_free(s);
    devices(1, 1ULL << 30);
}
END_TEST

START_TEST(a_search_goes_on)
{
    spy first = {.ms = 4, .most = 3}, second = {.ms = 4, .most = 3};
    gn_session_options o = options(&first, "gcn", false);
    gn_session *s = open_session(&o);
    uint32_t tried = searched(s, false)->tried.n;
    ck_assert(!searched(s, false)->finished && first.made == 3);
    gn_session_free(s);
    o = options(&second, "gcn", false);
    second.seen = device.n_modules;
    o.tune_on = true;
    s = open_session(&o);
    ck_assert_int_eq(second.made, 3);
    ck_assert_uint_gt(searched(s, false)->tried.n, tried);
    gn_session_free(s);
}
END_TEST

START_TEST(locks)
{
    spy z = {.which = "without share-tiles", .own_ms = 0.25, .ms = 4, .most = 5}, none = {0};
    gn_limits limits = gn_cuda_limits();
    gn_session_options o = options(&z, "gcn", false);
    gn_session *s = open_session(&o);
    gn_switches found = found_at(s);
    succeeds(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    o = options(&none, "gcn", false);
    o.mode = GN_MODE_REDUCE_OVERHEAD;
    o.tune_lock = lock_path;
    s = open_session(&o);
    ck_assert_int_eq(none.made, 0);
    ck_assert(found_at(s) == found);
    same_scores(s);
    gn_session_free(s);
    gn_session_options here = o; /* this processor */
    here.target = NULL;
    here.no_code = true;
    gn_status *bad = gn_session_new(&arena, &here, &s);
    ck_assert_msg(bad && strstr(gn_status_message(bad), "\n  machine cores ") != NULL, "accepted");
    fails(bad, GN_ERR_DATA, "\n  machine cuda Fake GPU 0 sm_90");
    here.limits = &limits; /* a device that is not there */
    fails(gn_session_new(&arena, &here, &s), GN_ERR_USAGE, "not for a device that is not opened");
    devices(2, 1ULL << 30);
    other_process(1);
    o.target = device.target;
    o.cache = cache;
    bad = gn_session_new(&arena, &o, &s);
    ck_assert_msg(bad && strstr(gn_status_message(bad), "and this is\n  machine cuda Fake GPU 1") !=
                             NULL,
                  "accepted");
    fails(bad, GN_ERR_DATA, "it is for\n  machine cuda Fake GPU 0");
    devices(1, 1ULL << 30);
}
END_TEST

/* Errors --------------------------------------------------------------------------------------- */

/* A search while call `nth` of the driver fails, of all or of those since the first candidate. A
 * machine's speed says how often programs are timed, and so which call a late one is. *over: there
 * were fewer. */
static gn_status *search_with_error(int nth, bool of_candidate, spy *z, bool *over)
{
    *z = (spy){.which = "without quick-code", .own_ms = 0.25, .ms = 4, .most = 2};
    gn_session *s = NULL;
    gn_session_options o = options(z, "gcn", false);
    o.pass_limit = 1000 + nth; /* another record, the same program */
    z->seen = device.n_modules;
    if (of_candidate)
        z->nth = nth;
    else
        order(NULL, nth, 1);
    gn_status *bad = gn_session_new(&arena, &o, &s);
    *over = ordered();
    order(NULL, 0, 0);
    gn_session_free(s);
    close_device();
    open_device(0);
    return bad;
}

/* Whatever call of the driver fails in a search: an error of the driver's, before there is a
 * candidate in any case; and nothing is left. */
START_TEST(every_error)
{
    int failed = 0;
    bool over = false;
    /* later ones are much alike */
    for (int nth = 1; !over; nth += 1 + nth / (GN_UNDER_ASAN ? 3 : 10)) {
        spy z;
        gn_status *bad = search_with_error(nth, false, &z, &over);
        failed += bad != NULL;
        ck_assert_msg(bad || z.made == z.most, "call %d: no error", nth);
        if (bad)
            ck_assert_msg(strstr(gn_status_message(bad), "CUDA_ERROR") != NULL, "%s",
                          gn_status_message(bad));
        gn_status_free(bad);
    }
    ck_assert_int_gt(failed, 10); /* those before anything is timed */
}
END_TEST

/* Those with which a candidate is made and its results are compared, before it is timed: it is a
 * candidate less. */
START_TEST(errors_of_candidates)
{
    enum { CALLS = 20 }; /* of 24 */
    for (int nth = 1; nth <= CALLS; nth += 1 + nth / (GN_UNDER_ASAN ? 3 : 10)) {
        spy z;
        bool over;
        succeeds(search_with_error(nth, true, &z, &over));
        ck_assert(!over);
        ck_assert_msg(z.not_run == 1 && z.made == z.most, "call %d: %d of %d candidates", nth,
                      z.not_run, z.made);
    }
}
END_TEST

static void hear_order(void *ctx, const char *text)
{
    ((spy *)ctx)->not_run += strstr(text, "order ") && strstr(text, ": cannot be ");
}

/* Whatever call fails while other orders of nodes are tried, of kernels that compute nothing: the
 * order's matter, unless the device is lost by it. */
START_TEST(orders)
{
    static const int results[] = {OUT_OF_RESOURCES, GN_CUDA_ILLEGAL_ADDRESS};
    int failed = 0;
    bool over = false;
    spy z = {0};
    gn_session_options o = options(&z, "gcn", false);
    o.mode = GN_MODE_DEFAULT;
    o.tune_say = hear_order;
    o.data.path = "synthetic:nodes=8192,edges=9000,features=4,classes=2,seed=3";
    for (int nth = 1; !over; nth += 1 + nth / 4) { /* later ones are much alike */
        gn_session *of = open_session(&o), *s;
        succeeds(tune_default_session(of, GN_ORDER_NONE, &s));
        for (int k = 0; k < device.n_modules; k++) device.module[k]->idle = ~UINT64_C(0);
        gn_tuned rec = {.unit = GN_UNIT_EVAL};
        double times = 1;
        z.not_run = 0;
        order(NULL, nth, results[_i]);
        gn_status *bad = tune_orders(of, &s, &rec, gn_now_ms() + 1e6, &times);
        over = ordered();
        order(NULL, 0, 0);
        if (_i && !over)
            fails(bad, GN_ERR_BACKEND, "(700)");
        else
            succeeds(bad);
        failed += z.not_run > 0;
        if (_i && !over) ck_assert_int_eq(z.not_run, 1);
        gn_session_free(s);
        gn_session_free(of);
        close_device();
        open_device(0);
        o.target = device.target;
    }
    ck_assert_int_gt(failed, 10);
}
END_TEST

static TCase *named(const char *name)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 600);
    return t;
}

int main(void)
{
    const char *gpu = getenv("GNNC_TEST_DEVICE");
    if (gpu) return 0; /* its clock is not the tests' to set */
    TCase *c = named("candidates"), *k = named("keeping"), *e = named("errors");
    tcase_add_loop_test(c, what_is_faster_is_taken, 0, 2);
    tcase_add_loop_test(c, what_is_not_faster_is_not_taken, 0, 2);
    tcase_add_loop_test(c, what_is_wrong_is_rejected, 0, 3);
    tcase_add_loop_test(c, what_cannot_run, 0, 2);
    tcase_add_test(k, what_was_found_is_kept);
    tcase_add_test(k, a_search_goes_on);
    tcase_add_test(k, locks);
    tcase_add_test(e, every_error);
    tcase_add_test(e, errors_of_candidates);
    tcase_add_loop_test(e, orders, 0, 2);
    return RUN_CASES("cuda_tune", c, k, e);
}
