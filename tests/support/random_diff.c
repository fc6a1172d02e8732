#include "support/random_diff.h"

#include "base/sanitized.h"
#include "ir/gir_reduce.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16, MAX_SKIPPED_PERCENT = 3 };

static const random_gir_options *options;
static int programs;
static bool cuda;
static int64_t only = -1; /* this seed and no other */

/* Every program in default mode and in one of the others, code for one of the two: most of the time
 * goes into that.  Of CUDA's modes, one for each program. */
static unsigned modes_of(uint64_t seed)
{
    if (cuda) return 1u << (RUN_MODE_COUNT + seed % RUN_CUDA_MODES);
    return 1u | 2u << seed % (RUN_MODE_COUNT - 1);
}
static unsigned code_of(uint64_t seed)
{
    return cuda ? modes_of(seed) : seed % 2 ? modes_of(seed) & ~1u : 1;
}

/* Now and then many rows: several chunks of a sum over a space, several blocks of rows. */
static gir_env data_of(gn_arena *a, const gir_program *p, uint64_t seed)
{
    random_gir_options o = *options;
    if (seed % 32 == 31) o.max_nodes = 1600;
    if (cuda && seed % 5 < 2) o.hub = 330; /* rows of several parts */
    return random_gir_env(a, p, seed, &o);
}

/* Failures ------------------------------------------------------------------------------------- */

typedef struct failing {
    const gir_env *env;
    uint64_t seed;
    char kind[64];
} failing;

/* What the message begins with: mode and way, or pass. */
static void kind_of(const char *message, char *out, size_t n)
{
    snprintf(out, n, "%.*s", (int)strcspn(message, ":"), message);
}

static bool still_fails(void *user, const gir_program *p)
{
    failing *f = user;
    char kind[64];
    gn_status *s = run_every_way(p, f->env, modes_of(f->seed), code_of(f->seed), NULL);
    if (!s) return false;
    kind_of(gn_status_message(s), kind, sizeof kind);
    bool same = strcmp(kind, f->kind) == 0 && gn_status_code(s) != GN_ERR_DATA;
    gn_status_free(s);
    return same;
}

static const char *text_of(gn_arena *a, const gir_program *p)
{
    gn_buf b = {.arena = a};
    gir_print(p, &b);
    return b.p;
}

/* The program made small, and what it fails with. */
static const char *report(gn_arena *a, uint64_t seed, const gir_program *p, const gir_env *env,
                          gn_status *s)
{
    failing f = {.env = env, .seed = seed};
    kind_of(gn_status_message(s), f.kind, sizeof f.kind);
    const char *tries = getenv("GNNC_RANDOM_TRIES");
    int most = tries ? atoi(tries) : 400;
    const gir_program *small = most > 0 ? gir_reduce_program(a, p, still_fails, &f, most) : p;
    gn_status *t = run_every_way(small, env, modes_of(seed), code_of(seed), NULL);
    gn_status *shown = t ? t : s;
    const char *text = gn_arena_printf(a, "seed %llu: %s (%s:%d)\n%s", (unsigned long long)seed,
                                       gn_status_message(shown), shown->file, shown->line,
                                       text_of(a, t ? small : p));
    gn_status_free(t);
    return text;
}

/* Batches -------------------------------------------------------------------------------------- */

typedef struct trial {
    uint64_t seed;
    gir_program *p;
    gir_env env;
    run_case *run;
} trial;

/* A trial that failed on its own terms fails the test. */
static void disagree(gn_arena *a, trial *t, gn_status *s)
{
    const char *text = report(a, t->seed, t->p, &t->env, s);
    gn_status_free(s);
    if (getenv("GNNC_RANDOM_FIRST")) {
        fprintf(stderr, "%s", text);
        _Exit(1);
    }
    ck_abort_msg("%s", text);
}

/* The batch does not compile: which of them does not? */
static void blame(gn_arena *a, trial *t, int n, gn_status *s)
{
    for (int k = 0; k < n; k++) {
        gn_status *one = run_every_way(t[k].p, &t[k].env, modes_of(t[k].seed), code_of(t[k].seed),
                                       NULL);
        if (one) disagree(a, &t[k], one);
    }
    ck_abort_msg("seeds %llu and on, together only: %s", (unsigned long long)t[0].seed,
                 gn_status_message(s));
}

static void add_tally(const run_tally *t)
{
    const char *path = getenv("GNNC_RANDOM_TALLY");
    if (!path) return;
    FILE *f = fopen(path, "a");
    if (!f) return;
    fprintf(f,
            "%lld programs, %lld kernels, %lld compiled, %lld elements, %lld without a bound, %lld "
            "chained\n",
            (long long)t->programs, (long long)t->kernels, (long long)t->compiled,
            (long long)t->elements, (long long)t->skipped, (long long)t->chained);
    fclose(f);
}

static void run_batch(uint64_t from, int n)
{
    gn_arena a;
    trial t[BATCH];
    run_case *cases[BATCH];
    run_code *code;
    run_tally tally = {0};
    gn_arena_init(&a);
    for (int k = 0; k < n; k++) {
        t[k] = (trial){.seed = from + (uint64_t)k};
        t[k].p = random_gir(&a, t[k].seed, options);
        t[k].env = data_of(&a, t[k].p, t[k].seed);
        if (only >= 0) printf("%s", text_of(&a, t[k].p));
        unsigned modes = modes_of(t[k].seed), code_modes = code_of(t[k].seed);
        gn_status *s = run_case_new(&a, t[k].p, &t[k].env, modes, code_modes, &t[k].run);
        if (s) disagree(&a, &t[k], s);
        cases[k] = t[k].run;
    }
    gn_status *s = run_compile(&a, n, cases, &code);
    if (s) blame(&a, t, n, s);
    for (int k = 0; k < n; k++) {
        s = run_case_check(t[k].run, &tally);
        if (s) disagree(&a, &t[k], s);
    }
    for (int k = 0; k < n; k++) run_case_free(t[k].run);
    run_code_free(code);
    gn_arena_free(&a);
    add_tally(&tally);
    ck_assert_msg(tally.skipped * 100 <= tally.elements * 25,
                  "seeds %llu and on: %lld of %lld elements have no bound",
                  (unsigned long long)from, (long long)tally.skipped, (long long)tally.elements);
}

START_TEST(batch)
{
    if (only >= 0) {
        run_batch((uint64_t)only, 1);
        return;
    }
    int from = _i * BATCH, n = programs - from < BATCH ? programs - from : BATCH;
    run_batch((uint64_t)from, n);
}
END_TEST

/* The whole set -------------------------------------------------------------------------------- */

static void count_pairs(const gir_program *p, uint32_t seen[GIR_OP_COUNT][GIR_OP_COUNT])
{
    for (gir_id v = 1; v < p->nodes.n; v++)
        for (int k = 0; k < gir_at(p, v)->n_in; k++)
            seen[gir_at(p, gir_in(p, v, k))->op][gir_at(p, v)->op]++;
}

/* Every pair "result of one operator is an operand of another" occurs. */
START_TEST(pairs)
{
    static uint32_t seen[GIR_OP_COUNT][GIR_OP_COUNT];
    int missing = 0, all = 0;
    for (int seed = 0; seed < programs; seed++) {
        gn_arena a;
        gn_arena_init(&a);
        count_pairs(random_gir(&a, (uint64_t)seed, options), seen);
        gn_arena_free(&a);
    }
    for (int p = 1; p < GIR_OP_COUNT; p++)
        for (int c = 1; c < GIR_OP_COUNT; c++) {
            if (!random_gir_pair((gir_op)p, (gir_op)c)) continue;
            all++;
            if (seen[p][c]) continue;
            missing++;
            fprintf(stderr, "no %s -> %s\n", gir_ops[p].text, gir_ops[c].text);
        }
    ck_assert_msg(missing == 0, "%d of %d pairs of operators are missing", missing, all);
    ck_assert_int_gt(all, 1000);
}
END_TEST

/* Elements without a bound say nothing: there must be few. */
START_TEST(bounds)
{
    run_tally sum = {0};
    for (int seed = 0; seed < programs; seed += 4) {
        gn_arena a;
        gir_value *v;
        gn_arena_init(&a);
        gir_program *p = random_gir(&a, (uint64_t)seed, options);
        gir_env env = data_of(&a, p, (uint64_t)seed);
        env.arena = &a;
        env.bounds = true;
        gn_status *s = gir_eval(p, &env, &v);
        ck_assert_msg(!s, "seed %d: %s", seed, gn_status_message(s));
        for (uint32_t k = 0; k < p->outputs.n; k++) {
            const gir_value *x = &v[p->outputs.p[k].value];
            sum.elements += x->rows * x->cols;
            for (int64_t i = 0; i < x->rows * x->cols; i++) sum.skipped += !(x->err[i] < 1e300);
        }
        gn_arena_free(&a);
    }
    ck_assert_msg(sum.skipped * 100 <= sum.elements * MAX_SKIPPED_PERCENT,
                  "%lld of %lld elements have no bound", (long long)sum.skipped,
                  (long long)sum.elements);
}
END_TEST

/* Some programs run in blocks of rows (runtime/run/chain.h), as run_stage.c sees to with so few. */
START_TEST(chains)
{
    run_tally tally = {0};
    for (int seed = 31; seed < programs && !tally.chained; seed += 32) {
        gn_arena a;
        gn_arena_init(&a);
        gir_program *p = random_gir(&a, (uint64_t)seed, options);
        gir_env env = data_of(&a, p, (uint64_t)seed);
        gn_status *s = run_every_way(p, &env, modes_of((uint64_t)seed), code_of((uint64_t)seed),
                                     &tally);
        ck_assert_msg(!s, "seed %d: %s", seed, gn_status_message(s));
        gn_arena_free(&a);
    }
    ck_assert_int_gt(tally.chained, 0);
}
END_TEST

/* In some programs launches run again, to take less memory. */
START_TEST(runs_again)
{
    run_tally tally = {0};
    for (int seed = 0; seed < programs && !tally.again; seed++) {
        gn_arena a;
        gn_arena_init(&a);
        gir_program *p = random_gir(&a, (uint64_t)seed, options);
        gir_env env = data_of(&a, p, (uint64_t)seed);
        unsigned modes = modes_of((uint64_t)seed) & ~1u;
        gn_status *s = run_every_way(p, &env, modes, modes, &tally);
        ck_assert_msg(!s, "seed %d: %s", seed, gn_status_message(s));
        gn_arena_free(&a);
    }
    ck_assert_int_gt(tally.again, 0);
}
END_TEST

int random_diff_cuda(const char *name, const random_gir_options *opt, int n)
{
    cuda = true;
    return random_diff(name, opt, n);
}

int random_diff(const char *name, const random_gir_options *opt, int n)
{
    const char *more = getenv("GNNC_RANDOM");
    options = opt;
    programs = n;
    if (more && strncmp(more, "seed=", 5) == 0) only = strtoll(more + 5, NULL, 10);
    if (more && only < 0) programs = atoi(more) > 0 ? atoi(more) : n;
    int batches = only >= 0 ? 1 : (programs + BATCH - 1) / BATCH;
    if ((GN_UNDER_ASAN || GN_UNDER_TSAN) && !more)
        batches = (batches + 19) / 20; /* what the compiler does under a sanitizer, not all that it
                                          makes */
    else if (!more && !suite_long())
        batches = (batches + 3) / 4; /* the set as a whole is looked at all the same */
    Suite *suite = suite_create(name);
    if (only < 0 && !cuda && programs >= n) { /* fewer do not hold every pair */
        TCase *all = tcase_create("set");
        if (!opt->relations) tcase_add_test(all, pairs);
        tcase_add_test(all, bounds);
        tcase_add_test(all, chains);
        tcase_add_test(all, runs_again);
        tcase_set_timeout(all, 600);
        suite_add_tcase(suite, all);
    }
    TCase *each = tcase_create("batch");
    tcase_add_loop_test(each, batch, 0, batches);
    tcase_set_timeout(each, 600);
    suite_add_tcase(suite, each);
    return suite_run(suite);
}
