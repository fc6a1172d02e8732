/* Training steps that are prepared on a thread of the run's own have the losses and the weights of
 * steps that are not, whatever is called in between: other rows than were foretold, other numbers
 * of steps, inferences, other data, graphs, weights and states. */
#include "base/sanitized.h"
#include "unit/api_memory.h"
#define API_KEEPS_CODE
#include "unit/api_world.h"

#include <sys/wait.h>
#include <unistd.h>

enum { N = 50, E = 300, BATCH = 6, SLOW = GN_UNDER_ASAN || GN_UNDER_TSAN };

static const char drawn[] = "model M(p = 0.0) (g: graph, x: node[F]) -> node[C] {\n"
                            "  a = GATConv(4, heads = 2)\n  b = GCNConv(C)\n"
                            "  return b(g, elu(a(g, dropout(x, p))))\n}\n"
                            "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
                            "  batch = rows(3)\n  fanout = [3, 2]\n  optimizer = adam(lr = 0.05)\n"
                            "}\n";
static const gnnc_define drops[] = {{"p", "0.3"}};

static bench learner(const gnnc_context *c, int threads)
{
    gnnc_compile_options o = {.train = true, .by_rows = true, .defines = drops, .n_defines = 1};
    return set_up_in(c, drawn, o, threads);
}

static void give_world(gnnc_run *r, world *w)
{
    DLTensor x = x_of(w), y = tensor(w->y, 1, w->rows, kDLInt, 32);
    ok(gnnc_run_bind_graph(r, w->g));
    ok(gnnc_run_bind(r, "x", &x));
    ok(gnnc_run_bind(r, "y", &y));
}

static void batch_of(int k, int64_t rows[BATCH])
{
    uint32_t seed = (uint32_t)(3 * k + 1);
    for (int i = 0; i < BATCH; i++) rows[i] = (int64_t)(draw(&seed) % N);
}

static double step(gnnc_run *r)
{
    double loss;
    ok(gnnc_run_step(r, &loss));
    return loss;
}

static void same_weights(const bench *a, const bench *b)
{
    gnnc_executable_info info = {.size = sizeof info};
    gnnc_executable_describe(a->exe, &info);
    for (int k = 0; k < info.parameters; k++) {
        int64_t numbers[16], n = 1;
        const char *name;
        DLTensor v, w;
        ok(gnnc_state_weight(a->state, k, &name, &v, numbers));
        for (int d = 0; d < v.ndim; d++) n *= v.shape[d];
        ok(gnnc_state_weight(b->state, k, NULL, &w, numbers));
        ck_assert_msg(!memcmp(v.data, w.data, (size_t)n * sizeof(float)), "%s", name);
    }
}

/* What may come between two steps. */
enum {
    NOTHING,
    OTHER_ROWS,
    TWICE,
    FORETOLD_AGAIN,
    INFERENCE,
    DATA,
    GRAPH,
    WEIGHT,
    NOT_FORETOLD,
    LOADED,
    WAYS
};

typedef struct two {
    bench plain, ahead;
    world w, other;
    float *moved; /* x elsewhere */
} two;

static void between(two *z, bench *b, bool ahead, int how, int k)
{
    int64_t rows[BATCH];
    DLTensor x = tensor(k % 2 ? z->moved : z->w.x, 2, z->w.rows, kDLFloat, 32);
    batch_of(1000 + k, rows);
    if (how == FORETOLD_AGAIN && ahead) ok(gnnc_run_ahead(b->run, BATCH - 1, rows));
    if (how == TWICE) (void)step(b->run);
    if (how == INFERENCE) ok(gnnc_run_infer(b->run));
    if (how == DATA) ok(gnnc_run_bind(b->run, "x", &x));
    if (how == GRAPH) ok(gnnc_run_bind_graph(b->run, k % 2 ? z->other.g : z->w.g));
    if (how == LOADED) {
        void *bytes;
        size_t n;
        ok(gnnc_state_save_memory(b->state, false, &bytes, &n));
        if (ahead) ok(gnnc_run_rows(b->run, BATCH, rows));
        ok(gnnc_run_infer(b->run));
        ok(gnnc_state_load_memory(b->state, false, bytes, n));
        gnnc_bytes_free(bytes);
    }
}

static void one(two *z, bench *b, bool ahead, int how, int k, double *loss)
{
    int64_t rows[BATCH];
    batch_of(k, rows);
    ok(gnnc_run_rows(b->run, BATCH, rows));
    if (how == OTHER_ROWS && k % 2) rows[0] = (rows[0] + 1) % N;
    batch_of(k + 1 + (how == OTHER_ROWS && k % 2), rows);
    if (ahead && how != NOT_FORETOLD) ok(gnnc_run_ahead(b->run, BATCH, rows));
    if (ahead && how == NOT_FORETOLD && k % 3) ok(gnnc_run_ahead(b->run, BATCH, rows));
    *loss = step(b->run);
    between(z, b, ahead, how, k);
}

static two set_up_two(const gnnc_context *c, int threads)
{
    two z = {learner(c, threads), learner(c, threads), make_world_in(c, 2, N, E),
             make_world_in(c, 9, N, E)};
    z.moved = calloc(N * F, sizeof(float));
    for (int k = 0; k < N * F; k++) z.moved[k] = z.w.x[k] / 2;
    give_world(z.plain.run, &z.w);
    give_world(z.ahead.run, &z.w);
    return z;
}

static void tear_down_two(two *z)
{
    tear_down(&z->plain);
    tear_down(&z->ahead);
    end_world(&z->w);
    end_world(&z->other);
    free(z->moved);
}

START_TEST(same_bits)
{
    enum { STEPS = SLOW ? 6 : 16 };
    two z = set_up_two(usual_context(), _i % 2 ? 2 : 1);
    for (int k = 0; k < STEPS; k++) {
        double loss, again;
        one(&z, &z.plain, false, _i, k, &loss);
        one(&z, &z.ahead, true, _i, k, &again);
        ck_assert_msg(loss == again, "step %d: %.9g, not %.9g", k, again, loss);
    }
    same_weights(&z.plain, &z.ahead);
    tear_down_two(&z);
}
END_TEST

/* Before the first step, and where the rows have been trained on already. */
START_TEST(of_the_next_step)
{
    two z = set_up_two(usual_context(), 1);
    int64_t rows[BATCH];
    batch_of(0, rows);
    ok(gnnc_run_ahead(z.ahead.run, BATCH, rows)); /* nothing is prepared */
    for (int k = 0; k < 8; k++) {
        batch_of(k, rows);
        ok(gnnc_run_rows(z.plain.run, BATCH, rows));
        ok(gnnc_run_rows(z.ahead.run, BATCH, rows));
        ck_assert(step(z.plain.run) == step(z.ahead.run));
        batch_of(k + 1, rows);
        ok(gnnc_run_ahead(z.ahead.run, BATCH, rows));
    }
    same_weights(&z.plain, &z.ahead);
    tear_down_two(&z); /* with one that nobody takes */
}
END_TEST

START_TEST(refusals)
{
    bench b = learner(usual_context(), 1),
          all = set_up(plain, (gnnc_compile_options){.train = true}, 1),
          serves = set_up(plain, (gnnc_compile_options){.by_rows = true}, 1);
    world w = make_world(2, N, E);
    int64_t rows[] = {3, N}, one_row[] = {4};
    give_world(b.run, &w);
    refused(gnnc_run_ahead(NULL, 1, rows), GNNC_ERROR_USAGE, "`r`");
    refused(gnnc_run_ahead(b.run, 1, NULL), GNNC_ERROR_USAGE, "`rows`");
    refused(gnnc_run_ahead(b.run, 0, NULL), GNNC_ERROR_USAGE, "0 rows");
    refused(gnnc_run_ahead(b.run, -2, rows), GNNC_ERROR_USAGE, "-2 rows");
    refused(gnnc_run_ahead(all.run, 1, rows), GNNC_ERROR_USAGE, "by_rows");
    refused(gnnc_run_ahead(serves.run, 1, rows), GNNC_ERROR_USAGE, "train");
    ok(gnnc_run_rows(b.run, 1, one_row));
    refused(gnnc_run_ahead(b.run, 2, rows), GNNC_ERROR_DATA, "gnnc_run_ahead: row 50");
    (void)step(b.run);
    ok(gnnc_run_rows(b.run, 2, rows));
    refused(gnnc_run_ahead(b.run, 1, one_row), GNNC_ERROR_DATA, "gnnc_run_rows: row 50");
    ok(gnnc_run_rows(b.run, 1, one_row));
    (void)step(b.run);
    end_world(&w);
    tear_down(&b);
    tear_down(&all);
    tear_down(&serves);
}
END_TEST

/* Wherever memory runs out, the steps that succeed are those of a run without it. */
START_TEST(out_of_memory)
{
    purse p = {0};
    gnnc_context *c;
    gnnc_context_options o = poor_context(&p);
    ok(gnnc_context_new(&o, &c));
    two z = set_up_two(c, 1);
    for (int k = 0; k < (SLOW ? 10 : 150); k++) {
        int64_t rows[BATCH];
        double loss, again;
        one(&z, &z.plain, false, NOTHING, k, &loss);
        batch_of(k, rows);
        ok(gnnc_run_rows(z.ahead.run, BATCH, rows));
        batch_of(k + 1, rows);
        p.fuse = k;
        gnnc_status_free(gnnc_run_ahead(z.ahead.run, BATCH, rows));
        usleep(100); /* for what the other thread takes */
        p.fuse = 0;
        again = step(z.ahead.run);
        ck_assert_msg(loss == again, "allocation %d: %.9g, not %.9g", k, again, loss);
    }
    same_weights(&z.plain, &z.ahead);
    tear_down_two(&z);
    gnnc_context_free(c);
    ck_assert_int_eq(p.blocks, 0);
}
END_TEST

/* A child has no such thread, and trains on without what was being prepared. */
START_TEST(in_a_child)
{
    two z = set_up_two(usual_context(), 1);
    int status;
    for (int k = 0; k < 3; k++) {
        double loss, again;
        one(&z, &z.plain, false, NOTHING, k, &loss);
        one(&z, &z.ahead, true, NOTHING, k, &again);
    }
    pid_t child = fork();
    if (!child) {
        double loss, again;
        for (int k = 3; k < 6; k++) {
            one(&z, &z.plain, false, NOTHING, k, &loss);
            one(&z, &z.ahead, true, NOTHING, k, &again);
            if (loss != again) _exit(1);
        }
        gnnc_run_free(z.ahead.run);
        _exit(0);
    }
    ck_assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    tear_down_two(&z);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(t, same_bits, 0, WAYS);
        tcase_add_test(t, of_the_next_step);
        tcase_add_test(t, refusals);
        if (!GN_UNDER_TSAN) tcase_add_test(t, out_of_memory); /* the purse counts without a lock */
        if (!GN_UNDER_TSAN) tcase_add_test(t, in_a_child); /* which starts threads behind a fork */
    }
    tcase_set_timeout(t, 60);
    return RUN_CASES("api_ahead", t);
}
