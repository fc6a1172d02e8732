/* Weights in memory of the caller's: the same bits as those of a state, in every layout, trained
 * and read anew by every call. */
#define API_KEEPS_CODE
#include "support/api_life.h"

static const char model[] = "model W() (g: graph, x: node[F]) -> node[C] {\n"
                            "  h = BatchNorm1d()(Linear(4)(x))\n"
                            "  return GCNConv(C)(g, relu(h))\n}\n";
enum { WEIGHTS = 8, MOST = 64, NODES = 21, EDGES = 60 };

/* A parameter of the caller's, in rows or (turned) in columns. */
typedef struct mine {
    const char *name;
    DLTensor t;
    int64_t numbers[16];
    float data[MOST];
} mine;

static int64_t steps(mine *m, bool turned)
{
    int64_t n = 1;
    for (int d = 0; d < m->t.ndim; d++) {
        int at = turned ? d : m->t.ndim - 1 - d;
        m->numbers[8 + at] = n;
        n *= m->t.shape[at];
    }
    ck_assert_int_le(n, MOST);
    return n;
}

static void copy_weight(const DLTensor *from, const DLTensor *to)
{
    int64_t cols = from->ndim > 1 ? from->shape[1] : 1, rows = from->ndim ? from->shape[0] : 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            ((float *)to->data)[i * to->strides[0] +
                                (cols > 1 ? j * to->strides[1] : 0)] = ((const float *)from->data)
                [i * from->strides[0] + (cols > 1 ? j * from->strides[1] : 0)];
}

/* Copies of all weights of a state, bound. */
static int take_over(gnnc_run *r, gnnc_state *s, mine *all, bool turned, int n)
{
    for (int k = 0; k < n; k++) {
        DLTensor view;
        int64_t numbers[16];
        mine *m = &all[k];
        ok(gnnc_state_weight(s, k, &m->name, &view, numbers));
        m->t = tensor(m->data, view.ndim, m->numbers, kDLFloat, 32);
        m->t.strides = m->numbers + 8;
        memcpy(m->numbers, view.shape, (size_t)view.ndim * sizeof *view.shape);
        steps(m, turned);
        copy_weight(&view, &m->t);
        ok(gnnc_run_bind_weight(r, m->name, &m->t));
    }
    return n;
}

static void same_weights(gnnc_state *s, const mine *all, int n)
{
    for (int k = 0; k < n; k++) {
        DLTensor view;
        int64_t numbers[16];
        mine was = all[k];
        ok(gnnc_state_weight(s, k, NULL, &view, numbers));
        copy_weight(&view, &(DLTensor){.data = was.data, .strides = was.numbers + 8});
        ck_assert_msg(!memcmp(was.data, all[k].data, sizeof was.data), "%s", was.name);
    }
}

static void same_results(bench *mine_of, bench *theirs)
{
    float *a = infer(mine_of->run, NODES), *b = infer(theirs->run, NODES);
    ck_assert_mem_eq(a, b, (size_t)NODES * C * sizeof *a);
    free(a);
    free(b);
}

/* Trained side by side: a state's weights, and the caller's with a state whose own are others. */
START_TEST(trains)
{
    gnnc_compile_options o = {.train = true, .gradients = "weights,x"};
    bench a = set_up(model, o, 1), b = set_up(model, o, 1);
    world w = make_world(4, NODES, EDGES);
    mine all[WEIGHTS] = {{0}}, others[WEIGHTS] = {{0}};
    double loss[2];
    int n = info_of(&a).parameters;
    gnnc_state *other;
    ok(gnnc_state_new(b.exe, 8, &other));
    bind_world(a.run, &w, true);
    bind_world(b.run, &w, true);
    if (_i & 2) free(infer(b.run, NODES)); /* bound anew where instances are */
    take_over(b.run, other, others, _i & 1, n);
    if (_i & 2) free(infer(b.run, NODES));
    take_over(b.run, a.state, all, _i & 1, n);
    same_results(&b, &a);
    for (int k = 0; k < 3; k++) {
        ok(gnnc_run_step(a.run, &loss[0]));
        ok(gnnc_run_step(b.run, &loss[1]));
        ck_assert(loss[0] == loss[1]);
        same_weights(a.state, all, n);
        same_results(&b, &a);
    }
    ok(gnnc_run_forward(a.run)); /* statistics run on */
    ok(gnnc_run_forward(b.run));
    same_weights(a.state, all, n);
    ok(gnnc_run_backward(b.run, 0, NULL));
    all[0].data[0] += 1; /* by an optimizer of the caller's */
    float *after = infer(b.run, NODES), *before = infer(a.run, NODES);
    ck_assert(memcmp(after, before, (size_t)NODES * C * sizeof *after) != 0);
    free(after);
    free(before);
    for (int k = 0; k < n; k++) ok(gnnc_run_bind_weight(b.run, all[k].name, NULL));
    ok(gnnc_run_bind_weight(b.run, all[0].name, NULL));
    float *own = infer(b.run, NODES);
    bench c = set_up(model, o, 1); /* whose weights nobody touched */
    bind_world(c.run, &w, true);
    float *fresh = infer(c.run, NODES);
    ck_assert_mem_eq(own, fresh, (size_t)NODES * C * sizeof *own);
    free(own);
    free(fresh);
    gnnc_state_free(other);
    tear_down(&a);
    tear_down(&b);
    tear_down(&c);
    end_world(&w);
}
END_TEST

START_TEST(refuses)
{
    bench b = set_up(model, (gnnc_compile_options){.gradients = "x"}, 1);
    world w = make_world(4, NODES, EDGES);
    mine all[WEIGHTS] = {{0}};
    int64_t shape[] = {4, F};
    _Alignas(8) char odd[4 * MOST + 8] = {0};
    DLTensor t = tensor(odd, 2, shape, kDLFloat, 32), out;
    bind_world(b.run, &w, false);
    refused(gnnc_run_bind_weight(NULL, "x", &t), GNNC_ERROR_USAGE, "`r` is NULL");
    refused(gnnc_run_bind_weight(b.run, NULL, &t), GNNC_ERROR_USAGE, "`name` is NULL");
    refused(gnnc_run_bind_weight(b.run, "Linear.weigh", &t), GNNC_ERROR_USAGE,
            "no parameter 'Linear.weigh'; did you mean 'Linear.weight'");
    ok(gnnc_run_bind_weight(b.run, "Linear.weight", &t));
    shape[1] = F - 1;
    refused(gnnc_run_bind_weight(b.run, "Linear.weight", &t), GNNC_ERROR_DATA,
            "Linear.weight: dimension 1 of the tensor is 4, expected 5");
    shape[1] = F;
    t.ndim = 1;
    refused(gnnc_run_bind_weight(b.run, "Linear.weight", &t), GNNC_ERROR_DATA,
            "1 dimensions, 2 are expected");
    t.ndim = 2;
    t.dtype.bits = 64;
    refused(gnnc_run_bind_weight(b.run, "Linear.weight", &t), GNNC_ERROR_DATA,
            "the tensor is f64, expected f32");
    t.dtype.bits = 32;
    t.data = odd + 1;
    refused(gnnc_run_bind_weight(b.run, "Linear.weight", &t), GNNC_ERROR_DATA, "not aligned");
    ok(gnnc_run_forward(b.run)); /* what was bound before is still */
    ok(gnnc_run_output(b.run, "out", &out));
    t.data = out.data;
    refused(gnnc_run_bind_weight(b.run, "Linear.weight", &t), GNNC_ERROR_DATA, "a result of this");
    ok(gnnc_run_backward(b.run, 0, NULL));
    take_over(b.run, b.state, all, true, info_of(&b).parameters);
    refused(gnnc_run_backward(b.run, 0, NULL), GNNC_ERROR_USAGE, "gnnc_run_forward comes first");
    ok(gnnc_run_infer(b.run));
    float twice[4] = {0}; /* two in one place */
    int64_t four[] = {4};
    DLTensor both = tensor(twice, 1, four, kDLFloat, 32);
    ok(gnnc_run_bind_weight(b.run, "Linear.bias", &both));
    ok(gnnc_run_bind_weight(b.run, "BatchNorm1d.bias", &both));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "overlap in memory");
    ok(gnnc_run_bind_weight(b.run, "Linear.bias", NULL));
    ok(gnnc_run_infer(b.run));
    tear_down(&b);
    end_world(&w);
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
    float data[2][4 * F] = {{0}};
    int64_t shape[] = {4, F}, turned[] = {1, 4};
    DLTensor plain_rows = tensor(data[0], 2, shape, kDLFloat, 32), columns = plain_rows;
    columns.data = data[1];
    columns.strides = turned;
    gnnc_status *s = gnnc_context_new(&z->context, &l.context);
    if (!s) s = life_begin(&l, model, (gnnc_compile_options){.train = true}, &z->w, true);
    if (!s) s = gnnc_run_bind_weight(l.run, "Linear.weight", &plain_rows);
    if (!s) s = gnnc_run_infer(l.run);
    if (!s) s = gnnc_run_bind_weight(l.run, "Linear.weight", &columns);
    if (!s) s = gnnc_run_step(l.run, NULL);
    if (!s) s = gnnc_run_bind_weight(l.run, "Linear.weight", NULL);
    if (!s) s = gnnc_run_step(l.run, NULL);
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
        tcase_add_loop_test(t, trains, 0, 4);
        tcase_add_test(t, refuses);
        tcase_add_test(t, memory);
    }
    tcase_set_timeout(t, 120);
    return RUN_CASES("api_weight", t);
}
