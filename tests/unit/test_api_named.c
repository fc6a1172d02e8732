/* A few nodes at a time through the public API: results of those that are named are the results
 * that they have among all, in any order and after other rows and graphs; a training step over the
 * rows of the mask is the step; draws; what does not go. */
/* timeout: 120 */
#include "unit/api_memory.h"
#include "unit/api_world.h"

#include <math.h>
#include <unistd.h>

static const char
    deep[] = "model M(hidden = 4) (g: graph, x: node[F]) -> node[C] {\n"
             "  a = GCNConv(hidden)\n  n = BatchNorm()\n  b = SAGEConv(C)\n"
             "  return b(g, relu(n(a(g, x))))\n}\n",
    two[] = "model M() (g: graph, x: node[F]) {\n  a = GATConv(C)\n  h = a(g, x)\n"
            "  k = mean(x, over = node)\n  return h, k\n}\n",
    ends[] = "model M() (g: graph, x: node[F]) {\n  a = GATConv(C)\n  h = a(g, x)\n"
             "  k = edge(u -> v in g: h[u] - h[v])\n  return h, k\n}\n",
    pool[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  l = Linear(C)\n"
             "  return l(x - mean(x, over = node))\n}\n",
    norm[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  l = Linear(C)\n  h = l(x)\n"
             "  return h - mean(h, over = node)\n}\n",
    edges[] = "model M() (g: graph, x: node[F]) -> edge {\n  return edge(u -> v in g: sum(x[u] * "
              "x[v], axis = -1))\n}\n",
    batched[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = SAGEConv(C)\n"
                "  return a(g, x)\n}\ntrain M {\n  loss = cross_entropy(M(g, x), y) over "
                "train_mask\n  batch = rows(3)\n  fanout = [2]\n}\n",
    sage[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = SAGEConv(C)\n"
             "  return a(g, x)\n}\ntrain M {\n  loss = cross_entropy(M(g, x), y) over "
             "train_mask\n}\n",
    parts[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = SAGEConv(C)\n"
              "  return a(g, x)\n}\ntrain M {\n  loss = cross_entropy(M(g, x), y) over "
              "train_mask\n  sampler = cluster(3)\n}\n",
    added[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = SAGEConv(C)\n"
              "  return a(g, x)\n}\ntrain M {\n  loss = cross_entropy(M(g, x), y) over "
              "train_mask\n  batch = rows(3)\n  accumulate = 2\n}\n",
    still[] = "model M(hidden = 4) (g: graph, x: node[F]) -> node[C] {\n"
              "  a = GCNConv(hidden)\n  b = SAGEConv(C)\n  return b(g, relu(a(g, x)))\n}\n"
              "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n"
              "  optimizer = sgd(lr = 0.0)\n}\n",
    heavy[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  a = SAGEConv(C)\n"
              "  return a(g, x)\n}\ntrain M {\n  loss = cross_entropy(M(g, x), y) over "
              "train_mask\n  batch = rows(3)\n  fanout = [1]\n  draw_by = weight\n}\n";

static void give_world(gnnc_run *r, world *w, bool mask)
{
    DLTensor x = tensor(w->x, 2, w->rows, kDLFloat, 32), y = tensor(w->y, 1, w->rows, kDLInt, 32),
             m = tensor(w->mask, 1, w->rows, kDLUInt, 8);
    ok(gnnc_run_bind_graph(r, w->g));
    ok(gnnc_run_bind(r, "x", &x));
    gnnc_status *s = gnnc_run_bind(r, "y", &y); /* where there is a step */
    if (!s && mask) ok(gnnc_run_bind(r, "train_mask", &m));
    gnnc_status_free(s);
}

static float *rows_of(gnnc_run *r, int64_t *rows)
{
    DLTensor out;
    ok(gnnc_run_infer(r));
    ok(gnnc_run_output(r, "out", &out));
    ck_assert(out.ndim == 2 && out.shape[1] == C);
    *rows = out.shape[0];
    return out.data;
}

/* Rows that are named against those among all. */
static void compare(bench *few, const float *all, int64_t n, const int64_t *rows)
{
    int64_t given;
    ok(gnnc_run_rows(few->run, n, rows));
    const float *out = rows_of(few->run, &given);
    ck_assert_int_eq(given, n);
    for (int64_t k = 0; k < n; k++)
        for (int c = 0; c < C; c++)
            ck_assert_msg(fabsf(out[k * C + c] - all[rows[k] * C + c]) < 1e-5f,
                          "row %d: %g, not %g", (int)rows[k], (double)out[k * C + c],
                          (double)all[rows[k] * C + c]);
}

START_TEST(rows_are_as_among_all)
{
    gnnc_compile_options o = {.sparse = _i == 1}, by = {.sparse = _i == 1, .by_rows = true};
    if (_i == 2) by.mode = "eager";
    bench all = set_up(deep, o, 1), few = set_up(deep, by, 2);
    for (uint32_t seed = 1; seed < 4; seed++) {
        world w = make_world(seed, 40, seed == 3 ? 0 : 150);
        int64_t n, some[] = {7, 39, 0, 7, 12}, one[] = {3};
        give_world(all.run, &w, false);
        give_world(few.run, &w, false);
        const float *out = rows_of(all.run, &n);
        ck_assert_int_eq(n, 40);
        compare(&few, out, 5, some);
        compare(&few, out, 1, one);
        compare(&few, out, 0, NULL);
        compare(&few, out, 5, some);
        compare(&few, out, 5, some); /* bound already */
        end_world(&w);
    }
    tear_down(&all);
    tear_down(&few);
}
END_TEST

/* A step of the mask's rows is the step of that mask; then of others. */
START_TEST(steps_of_named_rows)
{
    gnnc_compile_options o = {.train = true},
                         by = {.train = true, .by_rows = true, .fixed = _i == 1};
    bench all = set_up(plain, o, 1), few = set_up(plain, by, 2);
    world w = make_world(5, 40, 150);
    int64_t rows[40], n = 0;
    for (int step = 0; step < 6; step++) {
        double loss, again;
        for (int v = 0; v < 40; v++) w.mask[v] = (v + step) % 3 == 0;
        n = 0;
        for (int v = 39; v >= 0; v--)
            if (w.mask[v]) rows[n++] = v;
        rows[n] = rows[0]; /* which counts once */
        give_world(all.run, &w, true);
        if (!step) give_world(few.run, &w, false);
        ok(gnnc_run_rows(few.run, n + 1, rows));
        ok(gnnc_run_step(all.run, &loss));
        ok(gnnc_run_step(few.run, &again));
        ck_assert_msg(fabs(loss - again) < 1e-5, "step %d: %.9g, not %.9g", step, again, loss);
    }
    int64_t given;
    const float *out = rows_of(all.run, &given);
    compare(&few, out, n, rows);
    end_world(&w);
    tear_down(&all);
    tear_down(&few);
}
END_TEST

static const char *const draw_names[] = {NULL, "replace", "labor"};

/* Draws are the state's: the same for the same rows, whatever was asked for in between; others
 * after a step, which here leaves weights as they are. */
START_TEST(draws)
{
    int64_t fanout[] = {2, 1}, n, one[] = {4}, three[] = {9, 4, 4};
    gnnc_compile_options by = {
        .train = true, .by_rows = true, .fanout = fanout, .n_fanout = 2, .draw = draw_names[_i]};
    bench b = set_up(still, by, 1),
          all = set_up(still, (gnnc_compile_options){.train = true, .by_rows = true}, 1);
    fanout[0] = 77; /* it was copied */
    world w = make_world(2, 30, 400);
    float first[C], whole[C];
    double loss;
    give_world(b.run, &w, false);
    give_world(all.run, &w, false);
    ok(gnnc_run_rows(all.run, 1, one));
    memcpy(whole, rows_of(all.run, &n), sizeof whole);
    ok(gnnc_run_rows(b.run, 1, one));
    memcpy(first, rows_of(b.run, &n), sizeof first);
    ck_assert_mem_ne(first, whole, sizeof first);
    ok(gnnc_run_rows(b.run, 3, three));
    const float *out = rows_of(b.run, &n);
    ck_assert_int_eq(n, 3);
    if (_i < 2) ck_assert_mem_eq(out + C, first, sizeof first);
    ck_assert_mem_eq(out + C, out + 2 * C, sizeof first);
    ok(gnnc_run_rows(b.run, 1, one));
    ck_assert_mem_eq(rows_of(b.run, &n), first, sizeof first);
    ok(gnnc_run_rows(b.run, 3, three));
    ok(gnnc_run_step(b.run, &loss));
    ok(gnnc_run_step(all.run, &loss));
    ok(gnnc_run_rows(b.run, 1, one));
    ck_assert_mem_ne(rows_of(b.run, &n), first, sizeof first);
    ck_assert_mem_eq(rows_of(all.run, &n), whole, sizeof whole);
    end_world(&w);
    tear_down(&b);
    tear_down(&all);
}
END_TEST

/* Serving alone draws too, each way others, and keeps nothing else of training. */
START_TEST(ways_to_draw)
{
    enum { ROWS = 6, WAYS = 4 };
    int64_t fanout[] = {3, 2}, rows[ROWS] = {9, 4, 0, 29, 17, 5}, n;
    float given[WAYS][ROWS * C];
    world w = make_world(2, 30, 400);
    gnnc_compile_options step = {.train = true, .by_rows = true, .fanout = fanout, .n_fanout = 2};
    bench trains = set_up(plain, step, 1);
    char path[] = "/tmp/gnnc-named-XXXXXX";
    close(mkstemp(path));
    ok(gnnc_state_save(trains.state, path));
    tear_down(&trains);
    for (int k = 0; k < WAYS; k++) {
        gnnc_compile_options by = {.by_rows = true, .fanout = fanout, .n_fanout = 2};
        by.draw = k < WAYS - 1 ? draw_names[k] : "uniform";
        bench b = set_up(plain, by, 1);
        give_world(b.run, &w, false);
        ok(gnnc_run_rows(b.run, ROWS, rows));
        memcpy(given[k], rows_of(b.run, &n), sizeof given[k]);
        refused(gnnc_state_load(b.state, path), GNNC_ERROR_DATA, "without a training step");
        tear_down(&b);
    }
    unlink(path);
    ck_assert_mem_ne(given[0], given[1], sizeof given[0]);
    ck_assert_mem_ne(given[0], given[2], sizeof given[0]);
    ck_assert_mem_ne(given[1], given[2], sizeof given[0]);
    ck_assert_mem_eq(given[0], given[3], sizeof given[0]);
    end_world(&w);
}
END_TEST

/* Leaves the first edge into each row: others weigh nothing. */
static gnnc_graph *keep_first(world *w)
{
    uint8_t *met = calloc((size_t)w->n + 1, 1);
    int32_t *src = calloc((size_t)w->e + 1, sizeof *src),
            *dst = calloc((size_t)w->e + 1, sizeof *dst);
    gnnc_graph *g;
    int n = 0;
    for (int k = 0; k < w->e; k++) {
        w->w[k] = met[w->dst[k]] ? 0 : 2;
        if (met[w->dst[k]]++) continue;
        src[n] = w->src[k];
        dst[n++] = w->dst[k];
    }
    ok(gnnc_graph_from_coo(usual_context(), w->n, n, GNNC_INT32, src, dst, &g));
    free(met);
    free(src);
    free(dst);
    return g;
}

/* `draw_by` of the train block: edges that weigh nothing are as good as none. */
START_TEST(draws_by_weights)
{
    gnnc_compile_options o = {.train = true}, by = o;
    by.by_rows = by.edge_weights = true;
    bench b = set_up(heavy, by, 1), all = set_up(sage, o, 1);
    world w = make_world(8, 30, 400), few = w;
    int64_t rows[30], n = 0, given;
    few.g = keep_first(&w);
    DLTensor weight = tensor(w.w, 1, w.edges, kDLFloat, 32);
    give_world(b.run, &w, false);
    ok(gnnc_run_bind(b.run, "g.weight", &weight));
    give_world(all.run, &few, true);
    for (int v = 0; v < 30; v++)
        if (w.mask[v]) rows[n++] = v;
    for (int step = 0; step < 3; step++) {
        double loss[2];
        compare(&b, rows_of(all.run, &given), n, rows);
        ok(gnnc_run_step(all.run, &loss[0]));
        ok(gnnc_run_step(b.run, &loss[1]));
        ck_assert_msg(fabs(loss[0] - loss[1]) < 1e-5, "%.9g, not %.9g", loss[1], loss[0]);
    }
    gnnc_graph_free(few.g);
    end_world(&w);
    tear_down(&b);
    tear_down(&all);
}
END_TEST

/* Results of nodes have the rows that are named; others are whole. */
START_TEST(several_results)
{
    bench b = set_up(two, (gnnc_compile_options){.by_rows = true}, 1),
          all = set_up(two, (gnnc_compile_options){0}, 1);
    world w = make_world(3, 20, 60);
    int64_t rows[] = {19, 2};
    DLTensor h, k, whole;
    give_world(b.run, &w, false);
    give_world(all.run, &w, false);
    ok(gnnc_run_rows(b.run, 2, rows));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_infer(all.run));
    ok(gnnc_run_output(b.run, "h", &h));
    ok(gnnc_run_output(b.run, "k", &k));
    ok(gnnc_run_output(all.run, "h", &whole));
    ck_assert(h.shape[0] == 2 && k.ndim == 1 && k.shape[0] == F);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < C; c++)
            ck_assert(fabsf(((float *)h.data)[r * C + c] - ((float *)whole.data)[rows[r] * C + c]) <
                      1e-5f);
    end_world(&w);
    tear_down(&b);
    tear_down(&all);
}
END_TEST

static void not_compiled(const char *text, gnnc_compile_options o, gnnc_code code,
                         const char *words)
{
    gnnc_module *m;
    gnnc_executable *e;
    o.size = sizeof o;
    o.features = F;
    o.classes = C;
    ok(gnnc_module_parse(NULL, text, strlen(text), "m.gnn", &m));
    refused(gnnc_compile(m, &o, &e), code, words);
    gnnc_module_free(m);
}

START_TEST(what_does_not_go)
{
    int64_t fanout[] = {2, -2}, many[13] = {0};
    const gnnc_compile_options by = {.by_rows = true}, train = {.by_rows = true, .train = true};
    gnnc_compile_options o = by;
    not_compiled(norm, by, GNNC_ERROR_MODEL, "takes all rows");
    not_compiled(ends, by, GNNC_ERROR_MODEL, "takes all rows");
    not_compiled(edges, by, GNNC_ERROR_MODEL, "has no result of nodes");
    not_compiled(parts, train, GNNC_ERROR_USAGE, "are of parts of the graph");
    not_compiled(added, train, GNNC_ERROR_USAGE, "`accumulate` of the train block of M");
    not_compiled(batched, (gnnc_compile_options){.train = true}, GNNC_ERROR_USAGE,
                 "compile by_rows");
    o.n_fanout = 1;
    not_compiled(plain, o, GNNC_ERROR_USAGE, "`fanout` is NULL");
    o.fanout = fanout;
    not_compiled(plain, o, GNNC_ERROR_MODEL, "fanout has 1 number, and messages of results go");
    o.n_fanout = 2;
    not_compiled(plain, o, GNNC_ERROR_USAGE, "fanout[1] is -2");
    o.fanout = many;
    o.n_fanout = 13;
    not_compiled(plain, o, GNNC_ERROR_USAGE, "fanout has 13 numbers");
    o = by;
    o.draw = "labour";
    not_compiled(plain, o, GNNC_ERROR_USAGE, "labor");
    o.draw = "last";
    not_compiled(plain, o, GNNC_ERROR_USAGE, "draw 'last' goes with `before` or `until`");
    o = by;
    o.dynamic = "auto";
    not_compiled(plain, o, GNNC_ERROR_USAGE, "dynamic 'true'");
    o = (gnnc_compile_options){.draw = "labor"};
    not_compiled(plain, o, GNNC_ERROR_USAGE, "draw goes with by_rows");
    o = train;
    o.rows = "all";
    not_compiled(plain, o, GNNC_ERROR_USAGE, "does not go with `rows`");

    bench b = set_up(batched, train, 1), all = set_up(plain, (gnnc_compile_options){0}, 1),
          of_data = set_up(pool, by, 1); /* a mean of what no weights go into */
    world w = make_world(4, 10, 30);
    int64_t rows[] = {3, 10, -1}, n;
    refused(gnnc_run_rows(all.run, 1, rows), GNNC_ERROR_USAGE, "compiled by_rows");
    refused(gnnc_run_rows(b.run, -1, rows), GNNC_ERROR_USAGE, "-1 rows");
    refused(gnnc_run_rows(b.run, 1, NULL), GNNC_ERROR_USAGE, "rows");
    give_world(b.run, &w, false);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "no rows are named");
    ok(gnnc_run_rows(b.run, 2, rows));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "row 10 is named, and there are 10");
    ok(gnnc_run_rows(b.run, 1, rows + 2));
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_DATA, "row -1 is named");
    ok(gnnc_run_rows(b.run, 0, NULL));
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_USAGE, "a training step of no rows");
    ok(gnnc_run_rows(b.run, 1, rows));
    ok(gnnc_run_step(b.run, NULL));
    (void)rows_of(b.run, &n);
    ck_assert_int_eq(n, 1);
    give_world(of_data.run, &w, false);
    ok(gnnc_run_rows(of_data.run, 1, rows));
    (void)rows_of(of_data.run, &n);
    end_world(&w);
    tear_down(&b);
    tear_down(&all);
    tear_down(&of_data);
}
END_TEST

/* Hundreds of batches hold not a block more, and an allocation that fails leaves a run that goes
 * on. */
START_TEST(memory)
{
    int64_t fanout[] = {3, 2}, n, some[] = {5, 1}, before = 0, failures = 0;
    float want[2 * C];
    DLTensor out;
    purse p = {0};
    gnnc_context_options co = {.size = sizeof co, .allocate = take, .release = give, .user = &p};
    gnnc_context *c;
    ok(gnnc_context_new(&co, &c));
    bench b = set_up_in(
        c, plain,
        (gnnc_compile_options){.train = true, .by_rows = true, .fanout = fanout, .n_fanout = 2}, 1);
    world w = make_world_in(c, 6, 50, 400);
    give_world(b.run, &w, false);
    for (int step = 0; step < 100; step++) {
        int64_t rows[8];
        for (int k = 0; k < 8; k++) rows[k] = (step * 13 + k * 7) % 50;
        ok(gnnc_run_rows(b.run, 8, rows));
        ok(gnnc_run_step(b.run, NULL));
        (void)rows_of(b.run, &n);
        if (step > 1) ck_assert_int_eq(p.blocks, before);
        before = p.blocks;
    }
    ok(gnnc_run_rows(b.run, 2, some));
    memcpy(want, rows_of(b.run, &n), sizeof want);
    for (int64_t fuse = 1, failed = 1; failed; fuse++) {
        p.fuse = fuse;
        gnnc_status *s = gnnc_run_rows(b.run, 2, some);
        if (!s) s = gnnc_run_infer(b.run);
        if (!s) s = gnnc_run_output(b.run, "out", &out);
        p.fuse = 0;
        failed = s != NULL;
        failures += failed;
        if (s) ck_assert_int_eq(gnnc_status_code(s), GNNC_ERROR_MEMORY);
        if (!s) ck_assert_mem_eq(out.data, want, sizeof want);
        gnnc_status_free(s);
        if (fuse % 8 == 0) ok(gnnc_run_rows(b.run, 1, some + 1));
        if (fuse % 8 == 0) (void)rows_of(b.run, &n);
        ok(gnnc_run_rows(b.run, 2, some));
        ck_assert_mem_eq(rows_of(b.run, &n), want, sizeof want);
    }
    ck_assert_int_gt(failures, 20);
    end_world(&w);
    tear_down(&b);
    gnnc_context_free(c);
    ck_assert_int_eq(p.blocks, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("named rows");
    tcase_set_timeout(t, 100);
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(t, rows_are_as_among_all, 0, 3);
        tcase_add_loop_test(t, steps_of_named_rows, 0, 2);
        tcase_add_loop_test(t, draws, 0, 3);
        tcase_add_test(t, ways_to_draw);
        tcase_add_test(t, draws_by_weights);
        tcase_add_test(t, several_results);
        tcase_add_test(t, what_does_not_go);
        tcase_add_test(t, memory);
    }
    return RUN_CASES("named rows", t);
}
