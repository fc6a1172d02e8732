/* States to and from memory, copies of them, seeds and rates that are set. */
#define API_KEEPS_CODE
#include "support/api_life.h"

#include <math.h>

enum { NODES = 20, EDGES = 60, MOST = 1 << 14 };

static const gnnc_define drops[] = {{"p", "0.5"}};

static gnnc_compile_options options(void)
{
    return (gnnc_compile_options){.train = true, .defines = drops, .n_defines = 1};
}

typedef struct image {
    void *bytes;
    size_t n;
} image;

static image save(const gnnc_state *s, bool weights)
{
    image i;
    ok(gnnc_state_save_memory(s, weights, &i.bytes, &i.n));
    ck_assert(i.bytes && i.n > 8);
    return i;
}

static void same(const image *a, const image *b, bool yes)
{
    ck_assert((a->n == b->n && !memcmp(a->bytes, b->bytes, a->n)) == yes);
}

static double train(const bench *b, gnnc_state *s, world *w, int steps)
{
    gnnc_run *r;
    double loss = 0;
    ok(gnnc_run_new(b->exe, s, NULL, &r));
    bind_world(r, w, true);
    for (int k = 0; k < steps; k++) ok(gnnc_run_step(r, &loss));
    gnnc_run_free(r);
    return loss;
}

/* What is saved in memory is what a file has; training goes on from it as if it had not stopped,
 * and so it does from a copy, which is its own. */
START_TEST(round_trip)
{
    bench b = set_up(plain, options(), 1);
    world w = make_world(4, NODES, EDGES);
    gnnc_state *copy, *other;
    char path[] = "/tmp/gnnc-state-memory-XXXXXX";
    static char text[MOST];
    ck_assert_int_ge(mkstemp(path), 0);
    train(&b, b.state, &w, 3);
    image at3 = save(b.state, false), weights = save(b.state, true);
    ck_assert_uint_gt(at3.n, weights.n);
    ok(gnnc_state_save(b.state, path));
    FILE *f = fopen(path, "rb");
    ck_assert(f && fread(text, 1, sizeof text, f) == at3.n && fclose(f) == 0);
    ck_assert_mem_eq(text, at3.bytes, at3.n);
    remove(path);
    ok(gnnc_state_copy(b.state, &copy));
    double whole = train(&b, b.state, &w, 2);
    image at5 = save(b.state, false), of_copy = save(copy, false);
    same(&of_copy, &at3, true);
    ck_assert(train(&b, copy, &w, 2) == whole);
    image copied = save(copy, false);
    same(&copied, &at5, true);
    ok(gnnc_state_new(b.exe, 99, &other));
    ok(gnnc_state_load_memory(other, false, at3.bytes, at3.n));
    ck_assert(train(&b, other, &w, 2) == whole);
    image loaded = save(other, false);
    same(&loaded, &at5, true);
    ok(gnnc_state_load_memory(other, true, weights.bytes, weights.n));
    image again = save(other, true);
    same(&again, &weights, true);
    ok(gnnc_state_load_memory(other, true, at5.bytes, at5.n)); /* its weights */
    gnnc_bytes_free(at3.bytes);
    gnnc_bytes_free(weights.bytes);
    gnnc_bytes_free(at5.bytes);
    gnnc_bytes_free(of_copy.bytes);
    gnnc_bytes_free(copied.bytes);
    gnnc_bytes_free(loaded.bytes);
    gnnc_bytes_free(again.bytes);
    gnnc_bytes_free(NULL);
    gnnc_state_free(b.state); /* in any order */
    b.state = NULL;
    tear_down(&b);
    gnnc_state_free(copy);
    gnnc_state_free(other);
    end_world(&w);
}
END_TEST

/* Draws are by the seed that was set, weights stay. */
START_TEST(seeds)
{
    bench b = set_up(plain, options(), 1);
    world w = make_world(4, NODES, EDGES);
    gnnc_state *one, *two, *three;
    ok(gnnc_state_new(b.exe, 5, &one));
    ok(gnnc_state_copy(one, &two));
    ok(gnnc_state_copy(one, &three));
    ok(gnnc_state_set_seed(two, 6));
    ok(gnnc_state_set_seed(three, 6));
    image a = save(one, true), c = save(two, true);
    same(&a, &c, true);
    double first = train(&b, one, &w, 1), second = train(&b, two, &w, 1);
    ck_assert(first != second);
    ck_assert(train(&b, three, &w, 1) == second);
    ok(gnnc_state_set_seed(three, 5));
    ok(gnnc_state_load_memory(three, true, a.bytes, a.n));
    gnnc_bytes_free(a.bytes);
    gnnc_bytes_free(c.bytes);
    bench still = set_up(weighted, (gnnc_compile_options){0}, 1); /* draws nothing */
    ok(gnnc_state_set_seed(still.state, 3));
    tear_down(&still);
    gnnc_state_free(one);
    gnnc_state_free(two);
    gnnc_state_free(three);
    tear_down(&b);
    end_world(&w);
}
END_TEST

#define TRAINED(optimizer, more)                                                                   \
    "model R() (g: graph, x: node[F]) -> node[C] {\n  return GCNConv(C)(g, x)\n}\n"                \
    "train R {\n  loss = cross_entropy(R(g, x), y) over train_mask\n"                              \
    "  optimizer = " optimizer "\n" more "}\n"

/* A rate that was set is one that the block says, and may be another at every step. */
START_TEST(rates)
{
    static const char *const texts[][2] = {
        {TRAINED("sgd(lr = 0.5)", ""), TRAINED("sgd(lr = 0.125)", "")},
        {TRAINED("adam(lr = 0.5)", ""), TRAINED("adam(lr = 0.125)", "")},
        {TRAINED("sgd(lr = 0.5, momentum = 0.5)", "  schedule = step(period = 2)\n"),
         TRAINED("sgd(lr = 0.125, momentum = 0.5)", "  schedule = step(period = 2)\n")},
        {TRAINED("adamw(lr = 0.5)", "  schedule = cosine(period = 10)\n  warmup = 2\n"),
         TRAINED("adamw(lr = 0.125)", "  schedule = cosine(period = 10)\n  warmup = 2\n")}};
    gnnc_compile_options o = {.train = true, .rate_changes = true}, stays = {.train = true};
    bench b = set_up(texts[_i][0], o, 1), as_said = set_up(texts[_i][0], stays, 1),
          want = set_up(texts[_i][1], stays, 1);
    world w = make_world(4, NODES, EDGES);
    gnnc_state *fresh;
    ok(gnnc_state_new(b.exe, 7, &fresh));
    train(&b, fresh, &w, 4);
    train(&as_said, as_said.state, &w, 4);
    image x = save(fresh, true), y = save(as_said.state, true);
    same(&x, &y, true);
    ok(gnnc_state_set_rate(b.state, 0.125));
    train(&b, b.state, &w, 4);
    train(&want, want.state, &w, 4);
    image p = save(b.state, true), q = save(want.state, true);
    same(&p, &q, true);
    image kept = save(b.state, false);
    ok(gnnc_state_load_memory(fresh, false, kept.bytes, kept.n));
    train(&b, b.state, &w, 1);
    train(&b, fresh, &w, 1); /* at the rate that was saved */
    image m = save(b.state, false), n = save(fresh, false);
    same(&m, &n, true);
    image all[] = {x, y, p, q, kept, m, n};
    for (int k = 0; k < 7; k++) gnnc_bytes_free(all[k].bytes);
    refused(gnnc_state_set_rate(b.state, -1), GNNC_ERROR_USAGE, "the learning rate is -1");
    refused(gnnc_state_set_rate(b.state, (double)NAN), GNNC_ERROR_USAGE, "the learning rate is");
    refused(gnnc_state_set_rate(want.state, 0.1), GNNC_ERROR_USAGE, "compile with `rate_changes`");
    gnnc_state_free(fresh);
    tear_down(&b);
    tear_down(&as_said);
    tear_down(&want);
    end_world(&w);
}
END_TEST

START_TEST(refuses)
{
    bench b = set_up(plain, options(), 1),
          other = set_up(weighted, (gnnc_compile_options){.train = true}, 1),
          zero = set_up(TRAINED("sgd(lr = 0.0)", "  schedule = step(period = 2)\n"),
                        (gnnc_compile_options){.train = true, .rate_changes = true}, 1);
    image i = save(other.state, false), w = save(b.state, true);
    void *bytes;
    gnnc_state *copy;
    gnnc_executable *e;
    gnnc_compile_options o = {.size = sizeof o, .features = F, .classes = C, .rate_changes = true};
    refused(gnnc_state_load_memory(b.state, false, i.bytes, i.n), GNNC_ERROR_DATA, "memory: ");
    refused(gnnc_state_load_memory(b.state, true, i.bytes, i.n), GNNC_ERROR_DATA,
            "memory: tensor 'a.lin.weight' is f32 [3, 5], expected f32 [4, 5]");
    refused(gnnc_state_load_memory(b.state, false, w.bytes, w.n), GNNC_ERROR_DATA,
            "memory: is no saved state of training");
    for (size_t n = 0; n < w.n; n += n < 64 ? 1 : 37) {
        gnnc_status *s = gnnc_state_load_memory(b.state, true, w.bytes, n);
        ck_assert(s && gnnc_status_code(s) == GNNC_ERROR_DATA);
        gnnc_status_free(s);
    }
    refused(gnnc_state_load_memory(b.state, true, NULL, 0), GNNC_ERROR_USAGE, "`bytes` is NULL");
    refused(gnnc_state_save_memory(b.state, true, NULL, &i.n), GNNC_ERROR_USAGE, "`bytes` is NULL");
    refused(gnnc_state_save_memory(b.state, true, &bytes, NULL), GNNC_ERROR_USAGE, "`n` is NULL");
    refused(gnnc_state_copy(NULL, &copy), GNNC_ERROR_USAGE, "`s` is NULL");
    refused(gnnc_compile(b.module, &o, &e), GNNC_ERROR_USAGE, "rate_changes goes with `train`");
    refused(gnnc_state_set_rate(zero.state, 0.1), GNNC_ERROR_USAGE, "of a learning rate of 0");
    gnnc_bytes_free(i.bytes);
    gnnc_bytes_free(w.bytes);
    tear_down(&b);
    tear_down(&other);
    tear_down(&zero);
}
END_TEST

typedef struct poor {
    purse p;
    gnnc_context_options context;
    world w;
} poor;

static gnnc_status *live(void *ctx)
{
    poor *z = ctx;
    life l = {0};
    gnnc_state *copy = NULL;
    void *bytes = NULL;
    size_t n = 0;
    gnnc_status *s = gnnc_context_new(&z->context, &l.context);
    if (!s) s = life_begin(&l, plain, options(), &z->w, true);
    if (!s) s = gnnc_state_copy(l.state, &copy);
    if (!s) s = gnnc_state_save_memory(copy, false, &bytes, &n);
    if (!s) s = gnnc_state_load_memory(l.state, false, bytes, n);
    gnnc_bytes_free(bytes);
    gnnc_state_free(copy);
    life_end(&l);
    return s;
}

START_TEST(memory)
{
    poor z = {.w = make_world(4, 25, 60)};
    z.context = poor_context(&z.p);
    ok(live(&z));
    ck_assert_int_eq(z.p.blocks, 0);
    ck_assert_int_gt(fail_allocations(&z.p, live, &z, 60, false), 30);
    end_world(&z.w);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, round_trip);
        tcase_add_test(t, seeds);
        tcase_add_loop_test(t, rates, 0, 4);
        tcase_add_test(t, refuses);
        tcase_add_test(t, memory);
    }
    tcase_set_timeout(t, 120);
    return RUN_CASES("api_state_memory", t);
}
