/* Searching for schedules: what is wrong is not taken, what was tried is not tried again, what is
 * kept is found.  Nothing here depends on which candidate is faster. */
/* labels: long */
/* links: tune codegen lower passes frontend ir runtime cache base */
/* timeout: 600 */
#include "base/sanitized.h"
#include "tune_test.h"

/* Candidates ----------------------------------------------------------------------------------- */

typedef struct spy {
    int made, spoiled, said_rejected;
    const char *spoil; /* candidates whose names begin so; NULL: none */
    int most;          /* candidates of a search; 0: any number */
    atomic_bool over;  /* they were made */
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
    o.over = &z->over;
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
    if (GN_UNDER_ASAN && _i % 2) return; /* each searches */
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
            if (a->launches[k].kind != GN_LAUNCH_KERNEL ||
                a->slots[a->launches[k].buf[b]].kind != GN_SLOT_OUTPUT)
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
    o.text = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = Linear(C)\n  return "
             "log(relu(-exp(a(x))))\n}\n";
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

/* Orders of nodes ------------------------------------------------------------------------------ */

enum { SLOW_US = 150000 }; /* beside which what a busy machine takes is nothing */

static const struct {
    const char *path;
    int64_t elems;
    float value;
    int us;
    int said, wrong; /* expected */
} orders[] = {
    /* too few nodes */
    {"synthetic:nodes=300,edges=1500,features=4,classes=2,seed=3", 0, 0, 0, 0, 0},
    {"synthetic:nodes=8192,edges=20000,features=4,classes=2,seed=3", 0, 0, SLOW_US, 2, 0},
    {"synthetic:nodes=8192,edges=20000,features=4,classes=2,seed=3", 1, NAN, 0, 2, 2},
    {"synthetic:nodes=8192,edges=20000,features=4,classes=2,seed=3", 1, INFINITY, 0, 2, 2},
    {"synthetic:nodes=8192,edges=20000,features=4,classes=2,seed=3", 8192 * 2, 3, 0, 2, 2},
};

static bool alike(gn_session *a, gn_session *b)
{
    bool same;
    ok(tune_same_scores(a, b, &same));
    return same;
}

static void hear_orders(void *ctx, const char *text)
{
    *(int *)ctx += !strncmp(text, "order communities: ", 19) || !strncmp(text, "order rcm: ", 11);
}

/* The default's programs, which are slower than they are or give something else, beside those on
 * other orders. */
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
        ck_assert(alike(of, s) && alike(s, of));
    } else {
        ck_assert(rec.reorder == GN_ORDER_NONE && times == 1);
    }
    gn_session_free(s);
    gn_session_free(of);
}
END_TEST

/* Results that are no node[C]: on edges, of nodes in three dimensions, of the whole graph. */
START_TEST(results_of_any_shape_are_compared_in_their_users_order)
{
    static const char *const given[] = {
        "-> edge {\n  return edge(u -> v in g: l(x)[u][0] + 2 * l(x)[v][1])\n}\n",
        "-> node[2, 4] {\n  return reshape(concat(l(x), -l(x)), [2, 4])\n}\n",
        "-> [C] {\n  return mean(l(x), over = node)\n}\n"};
    gn_session_options o = options("gcn", false);
    o.mode = GN_MODE_DEFAULT;
    o.text = gn_arena_printf(&arena, "model M() (g: graph, x: node[F]) %.*s{\n  l = Linear(4)\n%s",
                             (int)strcspn(given[_i], "{"), given[_i], strchr(given[_i], '\n') + 1);
    gn_session *of = open_session(&o), *s;
    ok(tune_default_session(of, GN_ORDER_RCM, &s));
    ck_assert(alike(of, s) && alike(s, of));
    gn_unit_release(&s->build.eval);
    ck_assert(meddle_with(&s->build.eval, 1, 77, 0));
    ok(gn_session_bind(s, &s->build.eval, s->pool, NULL));
    ck_assert(!alike(of, s));
    gn_session_free(s);
    gn_session_free(of);
}
END_TEST

/* Keeping -------------------------------------------------------------------------------------- */

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
    ck_assert_str_eq(gn_pick_text(&arena, &s->tuned[GN_UNIT_STEP]->pick),
                     gn_pick_text(&arena, &step.pick));
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
    o.over = &second.over;
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

int main(void)
{
    if (!GNNC_HAVE_LLVM) return 0;
    Suite *s = suite_create("tune");
    TCase *right = named(s, "candidates"), *order = named(s, "orders"), *keep = named(s, "keeping");
    tcase_add_loop_test(right, wrong_candidates_are_rejected, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(right, a_candidate_that_leaves_out_a_row_is_rejected);
    tcase_add_test(right, a_candidate_that_is_finite_is_rejected);
    tcase_add_loop_test(order, orders_of_nodes, 0, sizeof orders / sizeof *orders);
    tcase_add_loop_test(order, results_of_any_shape_are_compared_in_their_users_order, 0, 3);
    tcase_add_test(keep, what_was_found_is_kept);
    tcase_add_test(keep, a_search_goes_on);
    return suite_run(s);
}
