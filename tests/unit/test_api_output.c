/* Results in memory of the caller's, and floats of other sizes that are bound and given. */
#include "base/half.h"
#define API_KEEPS_CODE
#include "support/api_life.h"

#include <math.h>

enum { NODES = 19, EDGES = 50, LOOPS = NODES + EDGES };

static const char
    several[] = "model S() (g: graph, x: node[F]) -> (node[C], edge, [C], node[1] of bool) {\n"
                "  h = GCNConv(C)(g, x)\n  e = edge(u -> v in self_loops(g): sum(h[u] * h[v], axis "
                "= -1))\n"
                "  m = mean(h, over = node)\n  up = slice(h, 0, 1) > 0\n  return h, e, m, up\n}\n";

/* The results as they are given without memory for them. */
typedef struct results {
    float h[NODES * C], e[LOOPS], m[C];
    uint8_t up[NODES];
} results;

static void look(gnnc_run *r, results *to)
{
    void *const at[] = {to->h, to->e, to->m, to->up};
    const size_t bytes[] = {sizeof to->h, sizeof to->e, sizeof to->m, sizeof to->up};
    for (int k = 0; k < 4; k++) {
        DLTensor view;
        ok(gnnc_run_output_at(r, k, NULL, &view));
        memcpy(at[k], view.data, bytes[k]);
    }
}

/* Memory of the caller's, that nothing was written around. */
typedef struct sinks {
    _Alignas(64) results given;
    int64_t h[2], e[1], m[1], up[2];
    DLTensor t[4];
} sinks;

static sinks make_sinks(void)
{
    sinks z = {.h = {NODES, C}, .e = {LOOPS}, .m = {C}, .up = {NODES, 1}};
    return z;
}

static const char *const names[] = {"h", "e", "m", "up"};

static void bind_sinks(gnnc_run *r, sinks *z)
{
    z->t[0] = tensor(z->given.h, 2, z->h, kDLFloat, 32);
    z->t[1] = tensor(z->given.e, 1, z->e, kDLFloat, 32);
    z->t[2] = tensor(z->given.m, 1, z->m, kDLFloat, 32);
    z->t[3] = tensor(z->given.up, 2, z->up, kDLBool, 8);
    for (int k = 0; k < 4; k++) ok(gnnc_run_bind_output(r, names[k], &z->t[k]));
}

START_TEST(written_there)
{
    bench b = set_up(several, (gnnc_compile_options){.gradients = "x,weights"}, 1);
    world w = make_world(4, NODES, EDGES);
    results plain_ones = {{0}}, seen = {{0}};
    sinks z = make_sinks(), other = make_sinks();
    DLTensor view;
    bind_world(b.run, &w, false);
    ok(gnnc_run_infer(b.run));
    look(b.run, &plain_ones);
    int64_t bytes = gnnc_run_bytes(b.run);
    bind_sinks(b.run, &z);
    refused(gnnc_run_output(b.run, "h", &view), GNNC_ERROR_USAGE, "nothing was inferred");
    ok(gnnc_run_infer(b.run));
    ck_assert_mem_eq(&z.given, &plain_ones, sizeof plain_ones);
    ok(gnnc_run_output(b.run, "h", &view));
    ck_assert_ptr_eq(view.data, z.given.h); /* without a copy */
    ok(gnnc_run_output(b.run, "e", &view));
    ck_assert_ptr_ne(view.data, z.given.e);
    look(b.run, &seen);
    ck_assert_mem_eq(&seen, &plain_ones, sizeof seen);
    ck_assert_int_lt(gnnc_run_bytes(b.run), bytes);
    memset(&z.given, 0, sizeof z.given);
    bind_sinks(b.run, &other); /* of the same sizes elsewhere */
    ok(gnnc_run_infer(b.run));
    ck_assert_mem_eq(&other.given, &plain_ones, sizeof plain_ones);
    for (size_t k = 0; k < sizeof z.given; k++) ck_assert(!((const char *)&z.given)[k]);
    memset(&other.given, 0, sizeof other.given);
    ok(gnnc_run_forward(b.run));
    ck_assert_mem_eq(other.given.e, plain_ones.e, sizeof plain_ones.e);
    ok(gnnc_run_backward(b.run, 0, NULL));
    for (int k = 0; k < 4; k++) ok(gnnc_run_bind_output(b.run, names[k], NULL));
    ok(gnnc_run_bind_output(b.run, names[0], NULL));
    memset(&other.given, 0, sizeof other.given);
    ok(gnnc_run_infer(b.run));
    look(b.run, &seen);
    ck_assert_mem_eq(&seen, &plain_ones, sizeof seen);
    ck_assert_float_eq(other.given.h[0], 0);
    tear_down(&b);
    end_world(&w);
}
END_TEST

/* In columns, and as other floats. */
START_TEST(copied_there)
{
    bench b = set_up(several, (gnnc_compile_options){0}, 1);
    world w = make_world(4, NODES, EDGES);
    results seen;
    double wide[NODES * C];
    uint16_t half[LOOPS], short_float[C];
    int64_t shape[] = {NODES, C}, columns[] = {1, NODES}, e[] = {LOOPS}, back[] = {-1}, m[] = {C};
    DLTensor h = tensor(wide, 2, shape, kDLFloat, 64), t = tensor(half, 1, e, kDLFloat, 16),
             last = tensor(short_float, 1, m, kDLBfloat, 16);
    h.strides = columns;
    t.strides = back;
    t.data = half + LOOPS - 1;
    bind_world(b.run, &w, false);
    ok(gnnc_run_bind_output(b.run, "h", &h));
    ok(gnnc_run_bind_output(b.run, "e", &t));
    ok(gnnc_run_bind_output(b.run, "m", &last));
    ok(gnnc_run_infer(b.run));
    look(b.run, &seen);
    for (int v = 0; v < NODES; v++)
        for (int c = 0; c < C; c++) ck_assert(wide[c * NODES + v] == (double)seen.h[v * C + c]);
    for (int k = 0; k < LOOPS; k++)
        ck_assert_uint_eq(half[LOOPS - 1 - k], gn_f32_to_f16(seen.e[k]));
    for (int k = 0; k < C; k++) ck_assert_uint_eq(short_float[k], gn_f32_to_bf16(seen.m[k]));
    tear_down(&b);
    end_world(&w);
}
END_TEST

/* Data of 16 and 64 bits are what float32 makes of them. */
START_TEST(other_floats)
{
    bench b = set_up(weighted, (gnnc_compile_options){.sparse = _i == 1}, 1);
    world w = make_world(4, NODES, EDGES);
    uint16_t half[NODES * F], brain[NODES * F];
    double wide[NODES * F];
    DLTensor as[] = {tensor(half, 2, w.rows, kDLFloat, 16), tensor(brain, 2, w.rows, kDLBfloat, 16),
                     tensor(wide, 2, w.rows, kDLFloat, 64)};
    for (int k = 0; k < NODES * F; k++) {
        w.x[k] = gn_bf16_to_f32(gn_f32_to_bf16(w.x[k]));
        half[k] = gn_f32_to_f16(w.x[k]);
        w.x[k] = gn_f16_to_f32(half[k]);
        brain[k] = gn_f32_to_bf16(w.x[k]);
        wide[k] = (double)w.x[k];
    }
    bind_world(b.run, &w, false);
    float *want = infer(b.run, NODES);
    for (int k = 0; k < 3; k++) {
        ok(gnnc_run_bind(b.run, "x", &as[k]));
        float *got = infer(b.run, NODES);
        ck_assert_mem_eq(got, want, (size_t)NODES * C * sizeof *got);
        free(got);
    }
    wide[7] = 1e300;
    refused(gnnc_run_bind(b.run, "x", &as[2]), GNNC_ERROR_DATA,
            "x: element 7 is 1e+300, which float32 does not hold");
    wide[7] = (double)INFINITY;
    ok(gnnc_run_bind(b.run, "x", &as[2]));
    int64_t far[] = {INT64_MAX / 4, 1};
    as[0].strides = far;
    refused(gnnc_run_bind(b.run, "x", &as[0]), GNNC_ERROR_DATA, "x: the strides are too large");
    free(want);
    tear_down(&b);
    end_world(&w);
}
END_TEST

/* A result that has the name of what is bound is no place for it. */
START_TEST(same_names)
{
    bench b = set_up("model M() (g: graph, x: node[F]) -> (node[F], node[F]) {\n"
                     "  x = 2 * x\n  h = sum(u -> v in g: x[u])\n  return x, h\n}\n",
                     (gnnc_compile_options){0}, 1);
    world w = make_world(4, NODES, EDGES);
    DLTensor out;
    float *was = malloc(NODES * F * sizeof *was);
    memcpy(was, w.x, NODES * F * sizeof *was);
    bind_world(b.run, &w, false);
    for (int k = 0; k < 2; k++) {
        ok(gnnc_run_infer(b.run));
        ok(gnnc_run_output(b.run, "x", &out));
        for (int i = 0; i < NODES * F; i++) {
            ck_assert(w.x[i] == was[i]);
            ck_assert(((const float *)out.data)[i] == 2 * was[i]);
        }
    }
    free(was);
    tear_down(&b);
    end_world(&w);
}
END_TEST

START_TEST(refuses)
{
    bench b = set_up(several, (gnnc_compile_options){0}, 1);
    world w = make_world(4, NODES, EDGES);
    sinks z = make_sinks();
    DLTensor t, view;
    bind_world(b.run, &w, false);
    bind_sinks(b.run, &z);
    t = z.t[0];
    refused(gnnc_run_bind_output(NULL, "h", &t), GNNC_ERROR_USAGE, "`r` is NULL");
    refused(gnnc_run_bind_output(b.run, NULL, &t), GNNC_ERROR_USAGE, "`name` is NULL");
    refused(gnnc_run_bind_output(b.run, "k", &t), GNNC_ERROR_USAGE, "it has h, e, m, up");
    refused(gnnc_run_bind_output(b.run, "m", &t), GNNC_ERROR_DATA, "2 dimensions, 1 are expected");
    t.dtype = (DLDataType){kDLInt, 32, 1};
    refused(gnnc_run_bind_output(b.run, "h", &t), GNNC_ERROR_DATA,
            "h: the tensor is i32, the result f32");
    t = z.t[0];
    z.h[1] = C + 1;
    refused(gnnc_run_bind_output(b.run, "h", &t), GNNC_ERROR_DATA,
            "h: dimension 1 of the tensor is 4, expected 3");
    z.h[1] = C;
    z.h[0] = NODES - 1;
    ok(gnnc_run_bind_output(b.run, "h", &t));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "'h' has 18 rows");
    t.dtype.bits = 64; /* copied */
    ok(gnnc_run_bind_output(b.run, "h", &t));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA,
            "h: dimension 0 of the tensor is 18, the result has 19");
    refused(gnnc_run_output(b.run, "m", &view), GNNC_ERROR_USAGE, "nothing was inferred");
    t.dtype.bits = 32;
    z.h[0] = NODES;
    t.data = w.x;
    ok(gnnc_run_bind_output(b.run, "h", &t));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "overlap in memory");
    t.data = z.given.h;
    ok(gnnc_run_bind_output(b.run, "h", &t));
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
    double wide[25 * C];
    float there[25 * C];
    int64_t shape[] = {25, C};
    DLTensor copied = tensor(wide, 2, shape, kDLFloat, 64),
             direct = tensor(there, 2, shape, kDLFloat, 32);
    gnnc_status *s = gnnc_context_new(&z->context, &l.context);
    if (!s) s = life_begin(&l, plain, (gnnc_compile_options){0}, &z->w, false);
    if (!s) s = gnnc_run_bind_output(l.run, "out", &copied);
    if (!s) s = gnnc_run_infer(l.run);
    if (!s) s = gnnc_run_bind_output(l.run, "out", &direct);
    if (!s) s = gnnc_run_infer(l.run);
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
        tcase_add_test(t, written_there);
        tcase_add_test(t, copied_there);
        tcase_add_loop_test(t, other_floats, 0, 2);
        tcase_add_test(t, same_names);
        tcase_add_test(t, refuses);
        tcase_add_test(t, memory);
    }
    tcase_set_timeout(t, 120);
    return RUN_CASES("api_output", t);
}
