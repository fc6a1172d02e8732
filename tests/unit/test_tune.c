/* Searching for schedules: what is wrong is not taken, what was tried is not tried again, what is kept is found, locks fit or
 * are refused.  Nothing here depends on which candidate is faster, nor on how fast the machine is: searches end when all was tried, after
 * so many candidates, or before the first. */
/* links: driver codegen passes frontend ir runtime cache base */
/* timeout: 240 */
#include "cache/cache.h"
#include "driver/session_impl.h"
#include "driver/tune_impl.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL 1000.0   /* seconds: more than a search needs */
#define NO_TIME 1e-9 /* what rules make is what is kept */

static gn_arena arena;
static gn_cache *cache;
static char folder[64], lock_path[96];

static void ok(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

static void refused(gn_status *s, gn_code code, const char *words)
{
    ck_assert_msg(s != NULL, "accepted; expected: %s", words);
    ck_assert_msg(gn_status_code(s) == code, "%s: %s", gn_code_name(gn_status_code(s)), gn_status_message(s));
    ck_assert_msg(strstr(gn_status_message(s), words) != NULL, "'%s' is not in: %s", words, gn_status_message(s));
    gn_status_free(s);
}

static void setup(void)
{
    strcpy(folder, "/tmp/gnnc-tune-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(lock_path, sizeof lock_path, "%s/lock", folder);
    gn_arena_init(&arena);
    ok(gn_cache_new(&(gn_cache_options){.dir = folder}, &cache));
}

static void teardown(void)
{
    char line[256];
    gn_cache_free(cache);
    gn_arena_free(&arena);
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(line), 0);
}

static gn_session_options options(const char *model, bool train)
{
    static char path[4096];
    const char *root = getenv("GNNC_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/samples/%s.gnn", root ? root : ".", model);
    gn_session_options o = {.path = path, .mode = GN_MODE_MAX_AUTOTUNE, .threads = 2, .seed = 7, .epochs = 3};
    o.pass_limit = -1;
    o.train = o.keep_static = train;
    o.data = (gn_data_options){.path = "synthetic:nodes=300,edges=1500,features=24,classes=4,density=0.2,seed=3",
                               .seed = 1,
                               .normalize_rows = -1,
                               .undirected = -1};
    o.cache = cache;
    o.tune_seconds = ALL;
    return o;
}

static gn_session *open_session(const gn_session_options *o)
{
    gn_session *s = NULL;
    ok(gn_session_new(&arena, o, &s));
    return s;
}

/* Scores of a session beside the default's. */
static void same_scores(gn_session *s)
{
    gn_session_options o = s->opt;
    o.mode = GN_MODE_DEFAULT;
    o.tune_lock = NULL;
    o.tune_on = false;
    o.reorder = GN_ORDER_NONE;
    gn_session *d = open_session(&o);
    int64_t n, m;
    ok(gn_session_eval(s));
    ok(gn_session_eval(d));
    const float *x = gn_session_logits(s, &n), *y = gn_session_logits(d, &m);
    ck_assert_int_eq(n, m);
    for (int64_t i = 0; i < n * s->data->n_nodes; i++) {
        float got = x[gn_session_row(s, i / n) * n + i % n], want = y[gn_session_row(d, i / n) * n + i % n];
        if (!(fabsf(got - want) <= 1e-4F * (1 + fabsf(want))))
            ck_abort_msg("score %lld: %g, not %g", (long long)i, (double)got, (double)want);
    }
    gn_session_free(d);
}

/* Candidates --------------------------------------------------------------------------------------------------------- */

typedef struct spy {
    int made, spoiled, said_rejected;
    const char *spoil; /* candidates whose names begin so; NULL: none */
    int most;          /* candidates of a search; 0: any number */
    bool over;         /* they were made */
} spy;

static void nothing(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    (void)buf, (void)sym, (void)lo, (void)hi;
}

/* Makes it the fastest there is: it computes nothing. */
static void watch(void *ctx, const char *candidate, gn_unit *u)
{
    spy *z = ctx;
    z->over = ++z->made == z->most;
    if (!z->spoil || strncmp(candidate, z->spoil, strlen(z->spoil)) != 0) return;
    z->spoiled++;
    for (int k = 0; k < u->code->artifact->n_code; k++) u->code->artifact->code[k] = nothing;
}

static void hear(void *ctx, const char *text)
{
    spy *z = ctx;
    z->said_rejected += strstr(text, "rejected, it gives something else") != NULL;
}

static gn_session_options watched(spy *z, const char *model, bool train)
{
    gn_session_options o = options(model, train);
    o.tune_made = watch;
    o.tune_say = hear;
    o.tune_ctx = z;
    o.tune_over = &z->over;
    return o;
}

static const struct {
    const char *model, *spoil;
    bool train;
} wrong[] = {
    {"gcn", "", false},
    {"gcn", "", true},
    {"gcn", "without", true},
    {"sage", "2 threads", false},
    {"gcn", "rows_at_once", false},
};

START_TEST(wrong_candidates_are_rejected)
{
    spy z = {.spoil = wrong[_i].spoil};
    gn_session_options o = watched(&z, wrong[_i].model, wrong[_i].train);
    gn_session *s = open_session(&o);
    const gn_tuned *t = s->tuned[wrong[_i].train ? GN_UNIT_STEP : GN_UNIT_EVAL];
    ck_assert_ptr_nonnull(t);
    ck_assert_int_gt(z.spoiled, 0);
    ck_assert_int_eq(z.said_rejected, z.spoiled);
    ck_assert_int_gt(t->wrong, 0);
    if (!*wrong[_i].spoil) ck_assert_str_eq(gn_pick_text(&arena, &t->pick), "");
    same_scores(s);
    gn_session_free(s);
}
END_TEST

/* One kernel that leaves out its last iteration, as a schedule that is wrong at an edge would. */
static void watch_edge(void *ctx, const char *candidate, gn_unit *u);
static gn_kernel_fn whole;
static void all_but_the_last(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    static int64_t longest;
    if (hi > longest) longest = hi;
    whole(buf, sym, lo, hi == longest && hi > lo ? hi - 1 : hi);
}

static void watch_edge(void *ctx, const char *candidate, gn_unit *u)
{
    spy *z = ctx;
    (void)candidate;
    for (int k = 0; k < u->code->artifact->n_launches && !z->spoiled; k++) {
        const gn_launch *l = &u->code->artifact->launches[k];
        if (!l->parallel || l->step != 1) continue;
        z->spoiled++;
        z->over = true;
        whole = u->code->artifact->code[l->kernel];
        u->code->artifact->code[l->kernel] = all_but_the_last;
    }
}

START_TEST(a_candidate_that_leaves_out_a_row_is_rejected)
{
    spy z = {0};
    gn_session_options o = watched(&z, "gcn", false);
    o.tune_made = watch_edge;
    o.threads = 1;
    gn_session *s = open_session(&o);
    ck_assert_int_eq(z.spoiled, 1);
    ck_assert_int_eq(z.said_rejected, 1);
    same_scores(s);
    gn_session_free(s);
}
END_TEST

/* A launch that does what it should, and then spoils the output or takes its time. */
typedef struct meddler {
    gn_kernel_fn whole;
    int buffer;    /* of the launch: the output */
    int64_t elems; /* that are overwritten by */
    float value;
    int us; /* that it takes longer */
} meddler;
static meddler meddle;

static void meddling(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    meddle.whole(buf, sym, lo, hi);
    for (int64_t k = 0; k < meddle.elems; k++) ((float *)buf[meddle.buffer])[k] = meddle.value;
    if (meddle.us) usleep((unsigned)meddle.us);
}

/* In the launch that makes the output; is there one? */
static bool meddle_with(const gn_unit *u, int64_t elems, float value, int us)
{
    const gn_artifact *a = u->code->artifact;
    for (int k = 0; k < a->n_launches; k++)
        for (int b = 0; b < a->launches[k].n_buf; b++) {
            if (a->launches[k].kind != GN_LAUNCH_KERNEL || a->slots[a->launches[k].buf[b]].kind != GN_SLOT_OUTPUT)
                continue;
            meddle = (meddler){a->code[a->launches[k].kernel], b, elems, value, us};
            a->code[a->launches[k].kernel] = meddling;
            return true;
        }
    return false;
}

static void watch_finite(void *ctx, const char *candidate, gn_unit *u)
{
    spy *z = ctx;
    (void)candidate;
    if (!z->spoiled && meddle_with(u, 300 * 4, 0, 0)) z->spoiled++;
    z->over = z->spoiled > 0;
}

/* Where the default gives no number but what is infinite, that is what is to be given. */
START_TEST(a_candidate_that_is_finite_is_rejected)
{
    spy z = {0};
    gn_session_options o = watched(&z, "gcn", false);
    o.text = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = Linear(C)\n  return log(relu(-exp(a(x))))\n}\n";
    o.tune_made = watch_finite;
    o.threads = 1;
    gn_session *s = open_session(&o);
    ck_assert_int_eq(z.spoiled, 1);
    ck_assert_int_eq(z.said_rejected, 1);
    int64_t n;
    const float *scores = (ok(gn_session_eval(s)), gn_session_logits(s, &n));
    for (int64_t i = 0; i < 300 * n; i++) ck_assert(isinf(scores[i]) && scores[i] < 0);
    gn_session_free(s);
}
END_TEST

/* Orders of nodes ---------------------------------------------------------------------------------------------------- */

enum { SLOW_US = 150000 }; /* beside which what a busy machine takes is nothing */

static const struct {
    const char *path;
    int64_t elems;
    float value;
    int us;
    int said, wrong; /* expected */
} orders[] = {
    {"synthetic:nodes=300,edges=1500,features=4,classes=2,seed=3", 0, 0, 0, 0, 0}, /* too few nodes */
    {"synthetic:nodes=8192,edges=20000,features=4,classes=2,seed=3", 0, 0, SLOW_US, 2, 0},
    {"synthetic:nodes=8192,edges=20000,features=4,classes=2,seed=3", 1, NAN, 0, 2, 2},
    {"synthetic:nodes=8192,edges=20000,features=4,classes=2,seed=3", 1, INFINITY, 0, 2, 2},
    {"synthetic:nodes=8192,edges=20000,features=4,classes=2,seed=3", 8192 * 2, 3, 0, 2, 2},
};

static void hear_orders(void *ctx, const char *text)
{
    *(int *)ctx += !strncmp(text, "order communities: ", 19) || !strncmp(text, "order rcm: ", 11);
}

/* The default's programs, which are slower than they are or give something else, beside those on other orders. */
START_TEST(orders_of_nodes)
{
    int said = 0;
    gn_session_options o = options("gcn", false);
    o.mode = GN_MODE_DEFAULT;
    o.threads = 1;
    o.data.path = orders[_i].path;
    o.tune_say = hear_orders;
    o.tune_ctx = &said;
    gn_session *of = open_session(&o), *s;
    ok(tune_default_session(of, GN_ORDER_NONE, &s));
    gn_unit_release(&s->build.eval);
    ck_assert(meddle_with(&s->build.eval, orders[_i].elems, orders[_i].value, orders[_i].us));
    ok(gn_session_bind(s, &s->build.eval, s->pool, NULL));
    gn_tuned rec = {.unit = GN_UNIT_EVAL};
    double times = 1;
    ok(tune_orders(of, &s, &rec, gn_now_ms() + 1e6, &times));
    ck_assert_int_eq(said, orders[_i].said);
    ck_assert_int_eq(rec.wrong, orders[_i].wrong);
    ck_assert_int_eq(s->opt.reorder, rec.reorder);
    if (orders[_i].said && !orders[_i].wrong) {
        ck_assert_int_ne(rec.reorder, GN_ORDER_NONE);
        ck_assert_msg(times > 0 && times < 1, "%g times", times);
        ck_assert(tune_same_scores(of, s) && tune_same_scores(s, of));
    } else {
        ck_assert(rec.reorder == GN_ORDER_NONE && times == 1);
    }
    gn_session_free(s);
    gn_session_free(of);
}
END_TEST

/* Keeping ------------------------------------------------------------------------------------------------------------ */

START_TEST(what_was_found_is_kept)
{
    spy z = {0}, again = {0};
    gn_session_options o = watched(&z, "gcn", true);
    gn_session *s = open_session(&o);
    gn_tuned step = *s->tuned[GN_UNIT_STEP], eval = *s->tuned[GN_UNIT_EVAL];
    ck_assert(step.finished && eval.finished);
    ck_assert_int_gt(z.made, 10);
    same_scores(s);
    gn_session_free(s);
    o.tune_ctx = &again;
    s = open_session(&o);
    ck_assert_int_eq(again.made, 0);
    ck_assert_str_eq(gn_pick_text(&arena, &s->tuned[GN_UNIT_STEP]->pick), gn_pick_text(&arena, &step.pick));
    ck_assert_int_eq(s->tuned[GN_UNIT_STEP]->tried.n, step.tried.n);
    gn_session_free(s);
    gn_session_options other = o; /* another graph */
    other.data.path = "synthetic:nodes=301,edges=1500,features=24,classes=4,density=0.2,seed=3";
    other.tune_seconds = 0;
    s = open_session(&other);
    ck_assert_ptr_null(s->tuned[GN_UNIT_STEP]);
    gn_session_free(s);
}
END_TEST

START_TEST(a_search_goes_on)
{
    spy first = {.most = 3}, second = {0};
    gn_session_options o = watched(&first, "gat", false);
    gn_session *s = open_session(&o);
    gn_tuned before = *s->tuned[GN_UNIT_EVAL];
    ck_assert(!before.finished && first.made == 3);
    gn_session_free(s);
    o.tune_ctx = &second;
    o.tune_over = &second.over;
    o.tune_seconds = before.seconds;
    s = open_session(&o); /* the budget was spent: a mode takes what there is */
    ck_assert_int_eq(second.made, 0);
    ck_assert_ptr_nonnull(s->tuned[GN_UNIT_EVAL]);
    gn_session_free(s);
    o.tune_on = true;
    o.tune_seconds = ALL;
    s = open_session(&o);
    const gn_tuned *t = s->tuned[GN_UNIT_EVAL];
    ck_assert(t->finished);
    ck_assert_uint_ge(t->tried.n, before.tried.n);
    ck_assert_int_gt(second.made, 0);
    for (uint32_t k = 0; k < before.tried.n; k++) ck_assert(t->tried.p[k] == before.tried.p[k]);
    ck_assert(t->seconds > before.seconds);
    same_scores(s);
    gn_session_free(s);
}
END_TEST

static const char *signature_of(gn_session *s)
{
    const char *text;
    ok(gn_tuned_signature(s, GN_UNIT_EVAL, GN_ORDER_NONE, false, &text));
    return text;
}

/* What is found for this processor is for no other and no device, and what a part of the passes made is for that part. */
START_TEST(what_is_kept_is_for_this_processor)
{
    gn_session_options o = options("gcn", false), other;
    gn_limits limits = gn_cpu_limits(NULL);
    gn_target device = {0};
    o.tune_seconds = NO_TIME;
    gn_session *s = open_session(&o);
    ok(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    for (int k = 0; k < 4; k++) {
        other = o;
        other.tune_seconds = 0;
        other.no_code = true;
        if (k == 1) other.limits = &limits;
        if (k == 2) other.cpu = "x86-64-v2";
        if (k < 3) {
            s = open_session(&other);
            ck_assert((s->tuned[GN_UNIT_EVAL] != NULL) == (k == 0));
            const char *all = signature_of(s);
            s->opt.pass_limit = 3;
            const char *three = signature_of(s);
            s->opt.pass_limit = 4;
            ck_assert(strcmp(three, signature_of(s)) && strcmp(three, all) && strcmp(all, signature_of(s)));
            gn_session_free(s);
        } else {
            other.target = &device;
        }
        other.tune_lock = lock_path;
        if (k)
            refused(gn_session_new(&arena, &other, &s), GN_ERR_USAGE,
                    k == 2 ? "not for x86-64-v2" : "not for a device");
    }
}
END_TEST

START_TEST(records_as_text)
{
    static const low_choice choices[] = {{"gemm-0123456789abcdef", LOW_FIELD_TILE_ROWS, 6}, {NULL, LOW_FIELD_AHEAD, 0}};
    gn_tuned t = {.unit = GN_UNIT_STEP,
                  .reorder = GN_ORDER_RCM,
                  .default_us = 12.5,
                  .best_us = 11.25,
                  .noise = 0.01,
                  .seconds = 3.5,
                  .wrong = 2,
                  .finished = true,
                  .pick = {.threads = 3, .one_region = 1, .schedule = {2, choices}}},
             back;
    ok(gn_without_add(&arena, "fuse,sink", false, &t.pick.without));
    GN_PUSH(&arena, t.tried, UINT64_C(0xfedcba9876543210));
    gn_buf a = {.arena = &arena}, b = {.arena = &arena};
    gn_tuned_print(&t, &a);
    ok(gn_tuned_parse(&arena, a.p, "here", 1, &back));
    gn_tuned_print(&back, &b);
    ck_assert_str_eq(a.p, b.p);
    ck_assert_int_eq(back.unit, GN_UNIT_STEP);
    ck_assert_int_eq(back.pick.schedule.n, 2);
    ck_assert_ptr_null(back.pick.schedule.choices[1].region);
    ck_assert_str_eq(gn_pick_text(&arena, &back.pick),
                     "3 threads, one region, without fuse,sink, tile_rows 6 for gemm-012345678, ahead 0 for all");
}
END_TEST

START_TEST(records_that_are_none)
{
    static const struct {
        const char *find, *put, *words;
    } bad[] = {
        {"end\n", "", "no end"},
        {"threads 3", "threads three", "here:9: 'three' is no number"},
        {"threads 3", "thread 3", "did you mean 'threads'?"},
        {"threads 3", "threads 99999", "no number that may stand here"},
        {"reorder rcm", "reorder rmc", "'rmc' is no order of nodes"},
        {"schedule * ahead 0", "schedule * ahea 0", "did you mean 'ahead'?"},
        {"schedule * ahead 0", "schedule * ahead", "a region, a field and a number"},
        {"best_us 11.250\n", "", "has no 'best_us'"},
        {"best_us 11.250", "best_us 1\nbest_us 2", "stands there twice"},
        {"noise 0.01000", "noise nan", "no number"},
        {"program step", "program stop", "'stop' is no program"},
        {"without sink", "without sinks", "did you mean 'sink'?"},
        {"tried fedc", "tried zzzz", "no digest"},
    };
    const char *text = "program step\ndefault_us 12.500\nbest_us 11.250\nnoise 0.01000\nseconds 3.500\nfinished 1\n"
                       "wrong 2\nreorder rcm\nthreads 3\none_region 1\nwithout sink\nschedule * ahead 0\n"
                       "tried fedcba9876543210\nend\n";
    gn_tuned t;
    ok(gn_tuned_parse(&arena, text, "here", 1, &t));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *at = strstr(text, bad[k].find);
        ck_assert_ptr_nonnull(at);
        const char *spoiled =
            gn_arena_printf(&arena, "%.*s%s%s", (int)(at - text), text, bad[k].put, at + strlen(bad[k].find));
        refused(gn_tuned_parse(&arena, spoiled, "here", 1, &t), GN_ERR_DATA, bad[k].words);
    }
}
END_TEST

/* Locks -------------------------------------------------------------------------------------------------------------- */

static char lock_text[65536];

static char *read_lock(void)
{
    char *text = lock_text;
    FILE *f = fopen(lock_path, "rb");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof lock_text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void write_lock(const char *text)
{
    FILE *f = fopen(lock_path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void replace(const char *find, const char *put)
{
    char *text = read_lock(), *at = strstr(text, find);
    ck_assert_msg(at != NULL, "%s is not in the lock", find);
    char *all = gn_arena_printf(&arena, "%.*s%s%s", (int)(at - text), text, put, at + strlen(find));
    write_lock(all);
}

static gn_session_options locked(const char *model, bool train)
{
    gn_session_options o = options(model, train);
    o.mode = GN_MODE_DEFAULT;
    o.tune_lock = lock_path;
    return o;
}

static void refuse_lock(const gn_session_options *o, gn_code code, const char *words)
{
    gn_session *s;
    refused(gn_session_new(&arena, o, &s), code, words);
}

START_TEST(locks_pin_choices)
{
    gn_session_options o = options("gcn", true), l = locked("gcn", true);
    o.tune_seconds = NO_TIME;
    gn_session *s = open_session(&o);
    ok(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    /* choices of another's making: whatever stands there is what is run */
    char *text = read_lock(), *at = strstr(strstr(text, "\nprogram step\n"), "one_region");
    ck_assert_ptr_nonnull(at);
    write_lock(gn_arena_printf(
        &arena, "%.*sone_region 1\nwithout fuse,pack\nschedule * tile_rows 3\nschedule * chunk_rows 77%s",
        (int)(at - text), text, strchr(at, '\n')));
    s = open_session(&l);
    const gn_tuned *t = s->tuned[GN_UNIT_STEP];
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(t->pick.schedule.n, 2);
    ck_assert(s->build.step.one_region);
    bool found = false;
    for (int k = 0; k < s->build.step.code->n_kernels; k++) {
        gn_buf b = {.arena = &arena};
        kir_print(s->build.step.code->kernels[k], &b);
        found = found || strstr(b.p, "step 77 thread") != NULL;
    }
    ck_assert(found);
    same_scores(s);
    gn_session_free(s);
}
END_TEST

/* An order of nodes that a search chose is taken, and undone in what is asked for; one that the user names is another lock. */
START_TEST(locks_hold_orders)
{
    gn_session_options o = options("gcn", true), l = locked("gcn", true);
    o.tune_seconds = NO_TIME;
    o.free_order = l.free_order = true;
    gn_session *s = open_session(&o);
    ok(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    char *text = read_lock();
    ck_assert_ptr_nonnull(strstr(text, "\norder any\n"));  /* of the step, */
    ck_assert_ptr_nonnull(strstr(text, "\norder none\n")); /* and of the forward pass on the order that was taken */
    replace("order none", "order rcm");
    char *step = strstr(read_lock(), "\nprogram step\n");
    ck_assert_ptr_nonnull(step);
    char *order = strstr(step, "reorder none");
    memcpy(order, "reorder rcm ", 12);
    memmove(order + 11, order + 12, strlen(order + 12) + 1);
    write_lock(lock_text);
    s = open_session(&l);
    ck_assert_int_eq(s->opt.reorder, GN_ORDER_RCM);
    ck_assert_ptr_nonnull(s->row_of);
    same_scores(s);
    gn_session_free(s);
    l.free_order = false;
    l.reorder = GN_ORDER_DEGREE;
    refuse_lock(&l, GN_ERR_DATA, "order any\nand this is\n  order degree");
}
END_TEST

START_TEST(locks_that_do_not_fit)
{
    gn_session_options o = options("gcn", false), l = locked("gcn", false), other;
    o.tune_seconds = NO_TIME;
    gn_session *s = open_session(&o);
    ok(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    s = open_session(&l);
    ck_assert_ptr_nonnull(s->tuned[GN_UNIT_EVAL]);
    gn_session_free(s);
    other = l;
    other.data.path = "synthetic:nodes=300,edges=1502,features=24,classes=4,density=0.2,seed=3";
    refuse_lock(&other, GN_ERR_DATA, "the lock does not fit: it is for\n  graph nodes 300");
    other = l;
    other.threads = 1;
    refuse_lock(&other, GN_ERR_DATA, "threads 2\nand this is\n  threads 1");
    other = locked("sage", false);
    refuse_lock(&other, GN_ERR_DATA, "the lock does not fit");
    other = locked("gcn", true);
    refuse_lock(&other, GN_ERR_DATA, "nothing for the program 'step'");
    other = locked("gcn", false);
    other.mode = GN_MODE_EAGER;
    refuse_lock(&other, GN_ERR_USAGE, "mode eager has no schedules");
    other = locked("gcn", false);
    other.tune_lock = "/nowhere/at/all";
    refuse_lock(&other, GN_ERR_IO, "/nowhere/at/all");
    other = locked("gcn", false);
    const char *sound = gn_arena_strdup(&arena, read_lock());
    write_lock(gn_arena_strndup(&arena, sound, (size_t)(strstr(sound, "graph nodes") - sound)));
    refuse_lock(&other, GN_ERR_DATA, "the lock ends in the middle");
    write_lock(gn_arena_strndup(&arena, sound, strlen(sound) - 5));
    refuse_lock(&other, GN_ERR_DATA, "the record has no end");
    write_lock("nodes 3\n");
    refuse_lock(&other, GN_ERR_DATA, "no lock of tuning");
    write_lock(sound);
    replace("machine cores", "machine scores");
    refuse_lock(&other, GN_ERR_DATA, "the lock does not fit");
}
END_TEST

static TCase *named(Suite *s, const char *name)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 0);
    suite_add_tcase(s, t);
    return t;
}

int main(void)
{
    if (!GNNC_HAVE_LLVM) return 0;
    Suite *s = suite_create("tune");
    TCase *right = named(s, "candidates"), *order = named(s, "orders"), *keep = named(s, "keeping"),
          *lock = named(s, "locks");
    tcase_add_loop_test(right, wrong_candidates_are_rejected, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(right, a_candidate_that_leaves_out_a_row_is_rejected);
    tcase_add_test(right, a_candidate_that_is_finite_is_rejected);
    tcase_add_loop_test(order, orders_of_nodes, 0, sizeof orders / sizeof *orders);
    tcase_add_test(keep, what_was_found_is_kept);
    tcase_add_test(keep, a_search_goes_on);
    tcase_add_test(keep, records_as_text);
    tcase_add_test(keep, records_that_are_none);
    tcase_add_test(lock, what_is_kept_is_for_this_processor);
    tcase_add_test(lock, locks_pin_choices);
    tcase_add_test(lock, locks_hold_orders);
    tcase_add_test(lock, locks_that_do_not_fit);
    return suite_run(s);
}
