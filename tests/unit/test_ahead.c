/* labels: long */
/* links: tune codegen lower passes frontend ir runtime cache base */
/* timeout: 120 */
/* Batches that are prepared on a thread of their own: in order, no more than there is room for,
 * with the bits that training without has, whatever ends it. */
#include "base/alloc.h"
#include "cache/cache.h"
#include "session/lookahead.h"
#include "session/minibatches.h"
#include "session/session_impl.h"
#include "support/suite.h"
#include "tune/start.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void fine(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

static void fails(gn_status *s, gn_code code, const char *words)
{
    ck_assert_msg(s != NULL, "no error, expected: %s", words);
    ck_assert_msg(s->code == code && strstr(gn_status_message(s), words), "'%s' lacks '%s'",
                  gn_status_message(s), words);
    gn_status_free(s);
}

/* Numbers, each of them computed once. */
#define SAME(a, b)                                                                                 \
    do {                                                                                           \
        int64_t same_a_ = (a), same_b_ = (b);                                                      \
        ck_assert_int_eq(same_a_, same_b_);                                                        \
    } while (0)

/* Lookahead ------------------------------------------------------------------------------------ */

enum { THINGS = 200, DEPTHS = 4 };
static const int depth_of[DEPTHS] = {0, 1, 3, 9};

typedef struct shelf {
    int depth;
    int64_t bad;              /* it cannot be made; -1: each can */
    int64_t place[THINGS];    /* of the number that is there, and */
    _Atomic int64_t in_use;   /* the one that the owner has, or asks for */
    _Atomic int64_t n;        /* how many were made */
    const gn_allocator *from; /* that they are made with */
} shelf;

static gn_status *make_thing(void *ctx, int64_t k)
{
    shelf *z = ctx;
    if (k == z->bad) GN_FAIL(GN_ERR_DATA, "number %lld", (long long)k);
    int64_t most = atomic_load(&z->in_use) + z->depth;
    ck_assert_int_le(k, most);
    z->place[k % (z->depth + 1)] = k;
    z->from = gn_allocator_now();
    atomic_fetch_add(&z->n, 1);
    return NULL;
}

/* Who takes none for a while has as many before him as there is room for. */
START_TEST(no_more_than_room)
{
    shelf z = {.depth = depth_of[_i], .bad = -1};
    const struct timespec while_on = {.tv_nsec = 20 * 1000 * 1000};
    gn_lookahead *l;
    fine(gn_lookahead_new(z.depth, make_thing, &z, &l));
    atomic_store(&z.in_use, THINGS); /* how many are made is asked here */
    gn_lookahead_begin(l, 0, THINGS);
    while (atomic_load(&z.n) < z.depth) sched_yield();
    nanosleep(&while_on, NULL);
    int64_t made = atomic_load(&z.n);
    ck_assert_int_eq(made, z.depth);
    SAME(gn_lookahead_stop(l), z.depth);
    gn_lookahead_free(l);
}
END_TEST

START_TEST(in_order)
{
    shelf z = {.depth = depth_of[_i], .bad = -1};
    gn_lookahead *l;
    int64_t ns;
    fine(gn_lookahead_new(z.depth, make_thing, &z, &l));
    SAME(gn_lookahead_stop(l), 0);
    for (int turn = 0; turn < 3; turn++) { /* 5 ... 79, of which the last ones are not taken */
        atomic_store(&z.in_use, 4);
        gn_lookahead_begin(l, 5, 80);
        for (int64_t k = 5; k < 70; k++) {
            atomic_store(&z.in_use, k);
            fine(gn_lookahead_take(l, &ns));
            ck_assert_int_ge(ns, 0);
            ck_assert_int_eq(z.place[k % (z.depth + 1)], k);
        }
        int64_t more = gn_lookahead_stop(l), n = atomic_load(&z.n);
        ck_assert(more >= 0 && more <= z.depth);
        SAME(n, 65 + more);
        atomic_store(&z.n, 0);
    }
    gn_lookahead_free(l);
    gn_lookahead_free(NULL);
}
END_TEST

START_TEST(up_to_the_end)
{
    shelf z = {.depth = depth_of[_i], .bad = -1};
    gn_lookahead *l;
    int64_t ns;
    fine(gn_lookahead_new(z.depth, make_thing, &z, &l));
    atomic_store(&z.in_use, -1);
    gn_lookahead_begin(l, 0, THINGS);
    for (int64_t k = 0; k < THINGS; k++) {
        atomic_store(&z.in_use, k);
        fine(gn_lookahead_take(l, &ns));
    }
    SAME(gn_lookahead_stop(l), 0);
    ck_assert_int_eq(atomic_load(&z.n), THINGS);
    gn_lookahead_free(l);
}
END_TEST

/* What was made before it is taken first; nothing is made after it, until somebody begins anew. */
START_TEST(what_cannot_be_made)
{
    shelf z = {.depth = depth_of[_i], .bad = 7};
    gn_lookahead *l;
    int64_t ns;
    fine(gn_lookahead_new(z.depth, make_thing, &z, &l));
    for (int turn = 0; turn < 2; turn++) {
        atomic_store(&z.in_use, 2);
        gn_lookahead_begin(l, 3, 50);
        for (int64_t k = 3; k < 7; k++) {
            atomic_store(&z.in_use, k);
            fine(gn_lookahead_take(l, &ns));
        }
        atomic_store(&z.in_use, 7);
        if (!turn) fails(gn_lookahead_take(l, &ns), GN_ERR_DATA, "number 7");
        SAME(gn_lookahead_stop(l), 0); /* it may not have been asked for */
        ck_assert_int_eq(atomic_load(&z.n), 4);
        atomic_store(&z.n, 0);
    }
    gn_lookahead_free(l);
}
END_TEST

/* Memory ----------------------------------------------------------------------------------------
 */

/* The allocation that takes `left` from 1 to 0 fails, on whatever thread. */
static _Atomic int64_t left, blocks;

static void *take(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    if (atomic_fetch_sub(&left, 1) == 1) return NULL;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    atomic_fetch_add(&blocks, 1);
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give(void *user, void *block)
{
    (void)user;
    atomic_fetch_sub(&blocks, 1);
    free(block);
}

static const gn_allocator counted = {take, give, NULL};

START_TEST(memory_comes_of_its_owner)
{
    shelf z = {.depth = 1, .bad = -1};
    gn_lookahead *l;
    int64_t ns;
    atomic_store(&left, 1);
    const gn_allocator *before = gn_allocator_use(&counted);
    fails(gn_lookahead_new(1, make_thing, &z, &l), GN_ERR_NOMEM, "out of memory");
    fine(gn_lookahead_new(1, make_thing, &z, &l));
    gn_lookahead_begin(l, 0, 2);
    fine(gn_lookahead_take(l, &ns));
    int64_t more = gn_lookahead_stop(l);
    ck_assert_int_le(more, 1);
    ck_assert_ptr_eq(z.from, &counted);
    gn_lookahead_free(l);
    gn_allocator_use(before);
}
END_TEST

/* Training --------------------------------------------------------------------------------------
 */

static const char
    nodes[] = "model M(hidden = 6, p = 0.3) (g: graph, x: node[F]) -> node[C] {\n"
              "  return SAGEConv(C)(g, dropout(relu(GCNConv(hidden)(g, x)), p))\n}\n"
              "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
              "  optimizer = adam(lr = 0.02)\n  epochs = 3\n  %s\n}\n",
    links[] = "model L(hidden = 6) (g: graph, x: node[F], links: node -> node) -> edge.links {\n"
              "  h = GCNConv(hidden)(g, x)\n"
              "  return edge(u -> v in links: sum(h[u] * h[v], axis = -1))\n}\n"
              "train L {\n  loss = bce_with_logits(L(g, x, links), 1) + "
              "bce_with_logits(L(g, x, corrupt(links)), 0)\n  optimizer = adam(lr = 0.02)\n"
              "  epochs = 3\n  %s\n}\n";

static const struct {
    const char *model, *setting;
} cases[] = {
    {nodes, "batch = rows(3)\n  fanout = [3, 2]"},
    {nodes, "batch = rows(2)\n  accumulate = 2\n  draw = labor\n  fanout = [2, 2]"},
    {nodes, "batch = rows(3)\n  evaluate = batch\n  select = best\n  fanout = [3, 2]"},
    {nodes, "sampler = saint_walk(roots = 6, length = 2, steps = 5)"},
    {links, "batch = edges(20) of links\n  fanout = [3]\n  exclude = reverse"},
};
enum { CASES = sizeof cases / sizeof *cases, MOST_BYTES = 1 << 14 };

typedef struct outcome {
    double loss, accuracy;
    int64_t bytes, steps;
    unsigned char state[MOST_BYTES];
} outcome;

/* Sessions of a case run the same kernels, which the first compiles. */
static gn_cache *compiled(void)
{
    static gn_cache *kept;
    if (!kept) fine(gn_cache_new(&(gn_cache_options){0}, &kept));
    return kept;
}

static gn_session_options options(gn_arena *a, int k, int ahead, int threads)
{
    return (gn_session_options){
        .cache = compiled(),
        .text = gn_arena_printf(a, cases[k].model, cases[k].setting),
        .threads = threads,
        .seed = 3,
        .epochs = -1,
        .pass_limit = -1,
        .train = true,
        .keep_static = true,
        .ahead = ahead,
        .data = {.seed = 1, .normalize_rows = -1, .undirected = -1},
    };
}

static outcome outcome_of(const gn_session *s, const gn_fit *f)
{
    outcome o = {.loss = f->loss, .accuracy = f->test_acc, .steps = f->steps};
    for (int k = 0; k < s->state.n; k++) {
        const gn_state_tensor *t = &s->state.tensors[k];
        int64_t bytes = t->rows * t->row_elems * (int64_t)gn_elem_size(t->elem);
        ck_assert_int_le(o.bytes + bytes, MOST_BYTES);
        memcpy(o.state + o.bytes, t->data, (size_t)bytes);
        o.bytes += bytes;
    }
    return o;
}

static void same(const outcome *a, const outcome *b)
{
    ck_assert_msg(a->loss == b->loss, "losses %.17g and %.17g", a->loss, b->loss);
    ck_assert(a->accuracy == b->accuracy || (isnan(a->accuracy) && isnan(b->accuracy)));
    ck_assert_int_eq(a->steps, b->steps);
    ck_assert_int_eq(a->bytes, b->bytes);
    ck_assert_mem_eq(a->state, b->state, (size_t)a->bytes);
}

static void nobody(void *ctx, const gn_epoch *e)
{
    (void)ctx;
    ck_assert(e->epoch > 0);
}

static outcome trained(int k, int ahead, int threads)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_session_options o = options(&a, k, ahead, threads);
    gn_session *s;
    gn_fit fit;
    fine(gn_session_new(&a, &o, &s));
    fine(gn_session_fit(s, 3, nobody, NULL, &fit));
    ck_assert(fit.steps_ms > 0 && fit.wait_ms >= 0 && fit.wait_ms <= fit.steps_ms);
    outcome r = outcome_of(s, &fit);
    ck_assert_int_gt(gn_session_memory(s).total, 0);
    gn_session_free(s);
    gn_arena_free(&a);
    return r;
}

START_TEST(bits_are_the_same)
{
    outcome want = trained(_i, 0, 1);
    ck_assert_int_ge(want.steps, 6);
    static const int ahead[] = {1, 3, 1, 3, 0, -1}, threads[] = {1, 1, 2, 2, 2, 2};
    for (int k = 0; k < 6; k++) {
        outcome got = trained(_i, ahead[k], threads[k]);
        same(&want, &got);
    }
}
END_TEST

/* An epoch's steps draw what each draws by itself. */
START_TEST(step_by_step)
{
    enum { BEST = 2, EPOCHS = 3 }; /* a case that ends with an epoch's weights */
    gn_arena a;
    gn_session *s;
    gn_fit fit;
    double loss;
    if (_i == BEST) return;
    gn_arena_init(&a);
    gn_session_options o = options(&a, _i, 0, 1);
    fine(gn_session_new(&a, &o, &s));
    fine(gn_session_fit(s, 3, NULL, NULL, &fit));
    const outcome want = outcome_of(s, &fit);
    fine(gn_session_reset(s, 3));
    for (int64_t k = 0; k < EPOCHS * gn_batches_count(s->batches); k++)
        fine(gn_session_step(s, &loss));
    const outcome got = outcome_of(s, &fit);
    ck_assert_int_eq(want.bytes, got.bytes);
    ck_assert_mem_eq(want.state, got.state, (size_t)want.bytes);
    gn_session_free(s);
    gn_arena_free(&a);
}
END_TEST

/* Steps that take long, so that as many batches are prepared as there is room for while one runs.
 */
START_TEST(long_steps)
{
    double loss[2];
    for (int k = 0; k < 2; k++) {
        gn_arena a;
        gn_session *s;
        gn_fit fit;
        gn_arena_init(&a);
        gn_session_options o = options(&a, 0, k ? 3 : 0, 1);
        const gn_define wide = {"hidden", "10000"};
        o.n_defines = 1;
        o.defines = &wide;
        fine(gn_session_new(&a, &o, &s));
        fine(gn_session_fit(s, 3, NULL, NULL, &fit));
        ck_assert_int_ge(fit.steps, 6);
        loss[k] = fit.loss;
        gn_session_free(s);
        gn_arena_free(&a);
    }
    ck_assert_msg(loss[0] == loss[1], "losses %.17g and %.17g", loss[0], loss[1]);
}
END_TEST

/* As many graphs of batches are counted as there are at once. */
START_TEST(memory_is_counted)
{
    static const int ahead[] = {0, 1, 3};
    int64_t graphs[3], data[3], own = 0;
    for (int k = 0; k < 3; k++) {
        gn_arena a;
        gn_arena_init(&a);
        gn_session_options o = options(&a, 0, ahead[k], 1);
        gn_session *s;
        fine(gn_session_new(&a, &o, &s));
        graphs[k] = gn_session_memory(s).graphs;
        data[k] = gn_session_memory(s).data;
        own = gn_instance_own_graph_bytes(s->build.step.instance);
        ck_assert_int_eq(data[k] - data[0], ahead[k] * s->data->n_nodes);
        gn_session_free(s);
        gn_arena_free(&a);
    }
    ck_assert_int_gt(own, 0);
    ck_assert_int_eq(graphs[1], graphs[0]);
    ck_assert_int_eq(graphs[2], graphs[0] + 2 * own);
}
END_TEST

/* Ends in the midst of an epoch, and begins anew. */
typedef struct stopper {
    atomic_bool over;
    int64_t after, heard;
} stopper;

static void hear(void *ctx, const gn_fit *f, int64_t of)
{
    stopper *z = ctx;
    ck_assert(f->batches <= of);
    if (++z->heard == z->after) atomic_store(&z->over, true);
}

START_TEST(stopped)
{
    outcome want = trained(_i, 0, 1);
    stopper z = {.after = 0};
    gn_arena a;
    gn_arena_init(&a);
    gn_session_options o = options(&a, _i, 3, 2);
    o.over = &z.over;
    o.batch_done = hear;
    o.batch_ctx = &z;
    gn_session *s;
    gn_fit fit;
    fine(gn_session_new(&a, &o, &s));
    for (int64_t after = 1; after < want.steps; after++) {
        z = (stopper){.after = after};
        fine(gn_session_fit(s, 3, NULL, NULL, &fit));
        ck_assert(fit.interrupted && fit.stop == GN_STOP_INTERRUPTED);
        ck_assert_int_eq(fit.steps, after);
    }
    z = (stopper){.after = 0};
    fine(gn_session_fit(s, 3, nobody, NULL, &fit));
    outcome got = outcome_of(s, &fit);
    same(&want, &got);
    gn_session_free(s);
    gn_arena_free(&a);
}
END_TEST

/* A loss that is not finite ends it with the same words, after as many steps. */
START_TEST(not_finite)
{
    static const int ahead[] = {0, 1, 3};
    int64_t heard[3];
    for (int k = 0; k < 3; k++) {
        stopper z = {.after = -1};
        gn_arena a;
        gn_arena_init(&a);
        gn_session_options o = options(&a, 0, ahead[k], 1);
        o.has_rate = true;
        o.rate = 1e30;
        o.batch_done = hear;
        o.batch_ctx = &z;
        gn_session *s;
        gn_fit fit;
        fine(gn_session_new(&a, &o, &s));
        fails(gn_session_fit(s, 3, NULL, NULL, &fit), GN_ERR_MODEL, "the loss is");
        heard[k] = z.heard;
        gn_session_free(s);
        gn_arena_free(&a);
    }
    ck_assert(heard[0] > 0 && heard[0] == heard[1] && heard[1] == heard[2]);
}
END_TEST

/* Every allocation of training fails in turn, on whichever thread; nothing is left of it, and with
 * memory again the bits are those that they were. */
START_TEST(memory_runs_out)
{
    outcome want = trained(_i, 0, 1);
    gn_arena a;
    gn_arena_init(&a);
    gn_session_options o = options(&a, _i, 2, 2);
    o.epochs = 1;
    gn_session *s;
    gn_fit fit;
    fine(gn_session_new(&a, &o, &s));
    int64_t failures = 0, step = (GN_UNDER_ASAN || GN_UNDER_TSAN) ? 7 : 1;
    for (int64_t k = 1;; k += step) {
        atomic_store(&left, k);
        const gn_allocator *before = gn_allocator_use(&counted);
        gn_status *status = gn_session_fit(s, 3, NULL, NULL, &fit);
        bool ran_out = atomic_load(&left) <= 0;
        atomic_store(&left, 0);
        for (int u = 0; u < GN_UNITS; u++) {
            gn_unit *of = u == GN_UNIT_EVAL ? &s->build.eval : &s->build.step;
            if (!of->instance) fine(gn_session_bind(s, of, s->pool, s->build.eval.instance));
        }
        gn_allocator_use(before);
        ck_assert_msg(!status || status->code == GN_ERR_NOMEM, "%s", gn_status_message(status));
        failures += status != NULL;
        gn_status_free(status);
        if (!ran_out) break;
    }
    ck_assert_int_gt(failures, 20);
    s->opt.epochs = -1;
    fine(gn_session_fit(s, 3, nobody, NULL, &fit));
    outcome got = outcome_of(s, &fit);
    same(&want, &got);
    gn_session_free(s);
    gn_arena_free(&a);
}
END_TEST

/* Ten thousand batches hold as many blocks as a few. */
START_TEST(nothing_is_kept)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_session_options o = options(&a, 0, _i ? 3 : 1, 1);
    gn_session *s;
    gn_fit fit;
    fine(gn_session_new(&a, &o, &s));
    atomic_store(&left, 0);
    const gn_allocator *before = gn_allocator_use(&counted);
    fine(gn_session_fit(s, 3, NULL, NULL, &fit));
    int64_t few = atomic_load(&blocks);
    s->opt.epochs = fit.epochs * 10000 / fit.steps / ((GN_UNDER_ASAN || GN_UNDER_TSAN) ? 40 : 1);
    fine(gn_session_fit(s, 3, NULL, NULL, &fit));
    ck_assert_int_gt(fit.steps, (GN_UNDER_ASAN || GN_UNDER_TSAN) ? 200 : 9000);
    ck_assert_int_eq(atomic_load(&blocks), few);
    gn_allocator_use(before);
    gn_session_free(s);
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ahead");
    tcase_add_loop_test(t, no_more_than_room, 0, DEPTHS);
    tcase_add_loop_test(t, in_order, 0, DEPTHS);
    tcase_add_loop_test(t, up_to_the_end, 0, DEPTHS);
    tcase_add_loop_test(t, what_cannot_be_made, 0, DEPTHS);
    tcase_add_test(t, memory_comes_of_its_owner);
    tcase_add_loop_test(t, bits_are_the_same, 0, CASES);
    tcase_add_loop_test(t, step_by_step, 0, CASES);
    tcase_add_test(t, long_steps);
    tcase_add_test(t, memory_is_counted);
    tcase_add_loop_test(t, stopped, 0, CASES);
    tcase_add_test(t, not_finite);
    tcase_add_loop_test(t, memory_runs_out, 0, CASES);
    tcase_add_loop_test(t, nothing_is_kept, 0, 2);
    return RUN_CASES("ahead", t);
}
