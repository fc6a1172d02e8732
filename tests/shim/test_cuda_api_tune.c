/* sources: fake_target.c */
/* timeout: 600 */
/* Schedules in the public API on a device: searched for by the first call, by the clock of the fake
 * driver. */
#include "shim/api_device.h"

#include <stdatomic.h>

enum { SMALL = 26, LARGE = 33 };

/* Launches of candidates of that name take a quarter of the default's time by the driver's clock,
 * others' a hundred times as long. */
typedef struct spy {
    const char *which;
    int made, defaults, seen, most; /* most: candidates of a search; 0: what is kept is taken */
    bool idle;                      /* they compute nothing */
    atomic_bool over;
} spy;

static void watch(void *ctx, const char *candidate, gn_unit *u)
{
    spy *z = ctx;
    bool first = !strcmp(candidate, "the default"),
         meant = !strncmp(candidate, z->which, strlen(z->which));
    (void)u;
    first ? z->defaults++ : z->made++;
    z->over = z->most && z->made >= z->most;
    for (; z->seen < fake.n_modules; z->seen++) {
        if (first) continue;
        fake.module[z->seen]->cost_ms = meant ? 0.25 : 100;
        fake.module[z->seen]->idle = z->idle ? ~UINT64_C(0) : 0;
    }
}

static bench searching(gnnc_context *c, spy *z, const char *lock)
{
    gnnc_compile_options o = {
        .mode = "max-autotune", .tune_budget_ms = z->most ? 100000 : 0, .tune_lock = lock};
    bench b = set_up_in(c, plain, o, 1);
    b.exe->tune_made = watch;
    b.exe->tune_ctx = z;
    b.exe->tune_over = &z->over;
    z->seen = fake.n_modules;
    return b;
}

static gnnc_tuning_info tuning_of(const bench *b)
{
    gnnc_run_info r = {.size = sizeof r};
    gnnc_tuning_info t = {.size = sizeof t};
    gnnc_run_describe(b->run, &r);
    ok(gnnc_executable_tuning(b->exe, r.program, false, &t));
    return t;
}

/* The first inference searches there: what is faster by the device's clock is taken, what is wrong
 * is not; kept, and locked. */
START_TEST(searches)
{
    spy fast = {.which = "without split-rows", .most = 3},
        wrong = {.which = "", .idle = true, .most = 2}, none = {.which = ""};
    char lock[64];
    fake_costs_fn *costs;
    if (gpu()) return;
    look_up(&costs, "fake_costs");
    costs(1, 1);
    snprintf(lock, sizeof lock, "%s/lock", dir);
    gnnc_context *c = device_context();
    world w = make_world_in(c, 3, SMALL, 60);
    bench plain_one = set_up_in(c, plain, (gnnc_compile_options){0}, 1);
    bind_world(plain_one.run, &w, false);
    float *want = infer(plain_one.run, w.n);
    for (int k = 0; k < 4; k++) { /* wrong, fast, kept, locked */
        spy *z = k == 0 ? &wrong : k == 1 ? &fast : &none;
        world other = make_world_in(c, 3, k ? SMALL : LARGE, 60);
        bench b = searching(c, z, k == 3 ? lock : NULL);
        bind_world(b.run, k ? &w : &other, false);
        float *got = infer(b.run, k ? w.n : other.n);
        gnnc_tuning_info t = tuning_of(&b);
        ck_assert(t.known);
        ck_assert_msg((strstr(t.choices, "without split-rows") != NULL) == (k > 0), "%d: %s", k,
                      t.choices);
        if (k == 0) ck_assert(wrong.made == 2 && t.best_us == t.default_us);
        if (k == 1)
            ck_assert(fast.made > 0 && fast.defaults == 1 && t.best_us < 0.9 * t.default_us);
        for (int i = 0; k && i < w.n * C; i++)
            ck_assert_msg(fabsf(got[i] - want[i]) <= 1e-4f * (1 + fabsf(want[i])),
                          "%d: score %d: %g, not %g", k, i, (double)got[i], (double)want[i]);
        if (k == 1) ok(gnnc_executable_lock(b.exe, lock));
        free(got);
        end_world(&other);
        tear_down(&b);
    }
    ck_assert(none.made == 0 && none.defaults == 0);
    free(want);
    tear_down(&plain_one);
    end_world(&w);
    gnnc_context_free(c);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, enter, leave);
    tcase_add_test(t, searches);
    tcase_set_timeout(t, 300);
    return RUN_CASES("cuda_api_tune", t);
}
