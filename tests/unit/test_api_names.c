/* Names of the public API: inputs answer to those that the model gives them, those with defaults
 * may be left out, and what is unknown is answered with what there is.  And options of another
 * size than this library's. */
/* timeout: 120 */
#include "unit/api_world.h"

static const char lone[] = "model L() (g: graph, feat: node[F]) -> node[F] { return feat + feat }";
static const char
    pair[] = "model P() (g: graph, a: node[F], b: node[F]) -> node[F] { return a + 2 * b }";
static const char maybe
    [] = "model O() (g: graph, x: node[F], w: node[F] = none, v: node[F] = none) -> node[F] {\n"
         "  h = w == none ? x : x + w\n  return v == none ? h : h + 10 * v\n}\n";

enum { N = 6 };

static float ones[N * F], threes[N * F];
static int64_t shape[2] = {N, F};

static DLTensor of(float *p) { return tensor(p, 2, shape, kDLFloat, 32); }

static void bind(gnnc_run *r, const char *name, float *p)
{
    DLTensor t = of(p);
    ok(gnnc_run_bind(r, name, &t));
}

static void gives_all(gnnc_run *r, float want)
{
    DLTensor out;
    ok(gnnc_run_infer(r));
    ok(gnnc_run_output(r, "out", &out));
    ck_assert_int_eq(out.shape[0] * out.shape[1], N * F);
    for (int k = 0; k < N * F; k++) ck_assert_float_eq(((float *)out.data)[k], want);
}

static bench begin(const char *text, world *w)
{
    for (int k = 0; k < N * F; k++) ones[k] = 1, threes[k] = 3;
    bench b = set_up(text, (gnnc_compile_options){0}, 1);
    *w = make_world(1, N, 10);
    ok(gnnc_run_bind_graph(b.run, w->g));
    return b;
}

static void end(bench *b, world *w)
{
    tear_down(b);
    end_world(w);
}

START_TEST(a_lone_input)
{
    world w;
    DLTensor t = of(ones);
    bench b = begin(lone, &w);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "input 'feat' is not bound");
    bind(b.run, "feat", ones);
    gives_all(b.run, 2);
    bind(b.run, "x", threes); /* the same, by the name that features have everywhere */
    gives_all(b.run, 6);
    bind(b.run, "feat", ones);
    gives_all(b.run, 2);
    t.dtype.code = kDLInt;
    refused(gnnc_run_bind(b.run, "feat", &t), GNNC_ERROR_DATA,
            "feat: the tensor is i32, expected f32");
    refused(gnnc_run_bind(b.run, "feats", &t), GNNC_ERROR_USAGE,
            "model L has no input 'feats'; did you mean 'feat'?; it has feat");
    refused(gnnc_run_bind(b.run, "g", &t), GNNC_ERROR_USAGE, "gnnc_run_bind_graph binds graphs");
    refused(gnnc_run_bind(b.run, "g.weight", &t), GNNC_ERROR_USAGE, "compile with `edge_weights`");
    refused(gnnc_run_bind(b.run, "g.attr", &t), GNNC_ERROR_USAGE, "compile with `edge_features`");
    end(&b, &w);
}
END_TEST

START_TEST(two_inputs)
{
    world w;
    DLTensor t = of(ones);
    bench b = begin(pair, &w);
    bind(b.run, "a", ones);
    bind(b.run, "b", threes);
    gives_all(b.run, 7);
    refused(gnnc_run_bind(b.run, "x", &t), GNNC_ERROR_USAGE,
            "model P has no input 'x'; it has a, b");
    end(&b, &w);
}
END_TEST

START_TEST(a_lone_input_of_edges)
{
    static const char
        text[] = "model E() (g: graph, h: node[F], w: edge[D]) -> edge[D] { return w + w }";
    int64_t edges[2] = {10, 2};
    float numbers[20];
    DLTensor out, t = tensor(numbers, 2, edges, kDLFloat, 32);
    for (int k = 0; k < 20; k++) numbers[k] = (float)k;
    world w = make_world(1, N, 10);
    bench b = set_up(text, (gnnc_compile_options){.edge_features = 2}, 1);
    ok(gnnc_run_bind_graph(b.run, w.g));
    refused(gnnc_run_bind(b.run, "attr", &t), GNNC_ERROR_USAGE, "has no input 'attr'; it has h, w");
    for (int k = 0; k < 2; k++) {
        ok(gnnc_run_bind(b.run, k ? "g.attr" : "w", &t));
        ok(gnnc_run_infer(b.run));
        ok(gnnc_run_output(b.run, "out", &out));
        for (int e = 0; e < 20; e++) ck_assert_float_eq(((float *)out.data)[e], 2 * numbers[e]);
    }
    refused(gnnc_run_output(b.run, "outs", &out), GNNC_ERROR_USAGE,
            "model E has no output 'outs'; did you mean 'out'?; it has out");
    end(&b, &w);
}
END_TEST

START_TEST(inputs_that_are_left_out)
{
    world w;
    bench b = begin(maybe, &w), other;
    bind(b.run, "x", ones);
    gives_all(b.run, 1);
    bind(b.run, "w", threes);
    gives_all(b.run, 4);
    bind(b.run, "v", ones);
    gives_all(b.run, 14);
    ok(gnnc_run_bind(b.run, "w", NULL)); /* let go */
    gives_all(b.run, 11);
    ok(gnnc_run_bind(b.run, "v", NULL));
    gives_all(b.run, 1);
    refused(gnnc_run_bind(b.run, "x", NULL), GNNC_ERROR_USAGE,
            "gnnc_run_bind: `data` is NULL, and input 'x' has no");
    gives_all(b.run, 1);
    other = b;
    ok(gnnc_run_new(b.exe, b.state, NULL, &other.run)); /* takes what was compiled for the first */
    ok(gnnc_run_bind_graph(other.run, w.g));
    bind(other.run, "x", threes);
    gives_all(other.run, 3);
    gives_all(b.run, 1);
    gnnc_run_info i = {.size = sizeof i};
    gnnc_run_describe(other.run, &i);
    ck_assert_int_eq(i.program, -1);
    gnnc_run_free(other.run);
    char *text;
    ok(gnnc_executable_explain(b.exe, &text));
    ck_assert_ptr_nonnull(strstr(text, "without w, v:"));
    gnnc_text_free(text);
    end(&b, &w);
}
END_TEST

/* Features that are given by their non-zeros are given, and may be let go. */
START_TEST(sparse_features_with_a_default)
{
    static const char text[] = "model S() (g: graph, x: node[F] = none, w: node[F]) -> node[F] {\n"
                               "  return x == none ? w : w + x\n}\n";
    static const int64_t row[N + 1] = {0, F, 2 * F, 3 * F, 4 * F, 5 * F, 6 * F};
    int32_t column[N * F];
    for (int k = 0; k < N * F; k++) column[k] = k % F;
    world w = make_world(1, N, 10);
    bench b = set_up(text, (gnnc_compile_options){.sparse = true}, 1);
    for (int k = 0; k < N * F; k++) ones[k] = 1, threes[k] = 3;
    ok(gnnc_run_bind_graph(b.run, w.g));
    bind(b.run, "w", threes);
    gives_all(b.run, 3);
    ok(gnnc_run_bind_csr(b.run, N, row, column, NULL));
    gives_all(b.run, 4);
    ok(gnnc_run_bind(b.run, "x", NULL));
    gives_all(b.run, 3);
    bind(b.run, "x", ones);
    gives_all(b.run, 4);
    end(&b, &w);
}
END_TEST

/* A model whose default is computed with, and which trains either way. */
START_TEST(training_without_an_input)
{
    static const char
        text[] = "model T() (g: graph, x: node[F], s: node[1] = none) -> node[C] {\n"
                 "  a = GCNConv(C)\n  h = a(g, x)\n  return s == none ? h : h * s\n}\n";
    static const char *const modes[] = {"default", "reduce-overhead"};
    for (int m = 0; m < 2; m++) {
        gnnc_compile_options o = {.train = true, .mode = modes[m], .fixed = m == 1};
        bench b = set_up(text, o, 2);
        world w = make_world(2, 40, 90);
        double first = 0, last = 0, with = 0;
        float scale[40];
        int64_t rows[2] = {40, 1};
        DLTensor s = tensor(scale, 2, rows, kDLFloat, 32);
        for (int k = 0; k < 40; k++) scale[k] = 1;
        bind_world(b.run, &w, true);
        ok(gnnc_run_step(b.run, &first));
        for (int k = 0; k < 20; k++) ok(gnnc_run_step(b.run, &last));
        ck_assert_double_lt(last, first);
        ok(gnnc_run_bind(b.run, "s", &s));
        ok(gnnc_run_step(b.run, &with)); /* of the same weights: s is 1 */
        ck_assert_double_lt(with, last);
        ck_assert_double_gt(with, last - 0.2);
        end(&b, &w);
    }
}
END_TEST

START_TEST(weights_that_only_the_default_has)
{
    static const char text[] = "model W() (g: graph, x: node[F], w: node[F] = none) -> node[F] {\n"
                               "  a = Linear(F)\n  return w == none ? a(x) : x + w\n}\n";
    world w;
    bench b = begin(text, &w);
    bind(b.run, "x", ones);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE,
            "model W has other weights without the inputs that are not bound");
    bind(b.run, "w", threes);
    gives_all(b.run, 4);
    end(&b, &w);
}
END_TEST

/* Options -------------------------------------------------------------------------------------- */

typedef struct newer { /* of a header that is to come */
    union {
        gnnc_compile_options compile;
        gnnc_run_options run;
        gnnc_context_options context;
        gnnc_run_info info;
    } known;
    char more[64];
} newer;

#define SIZED(member, n, ...)                                                                      \
    {                                                                                              \
        .known.member = {.size = sizeof(((newer *)0)->known.member) + (n), __VA_ARGS__ }           \
    }

static void set_behind(newer *o, size_t known) { ((char *)o)[known + 3] = 1; }

START_TEST(options_of_another_size)
{
    bench b = set_up(plain, (gnnc_compile_options){0}, 1);
    newer co = SIZED(compile, 16, .features = F, .classes = C), ro = SIZED(run, 16, .threads = 1);
    newer xo = SIZED(context, 16, .cache = GNNC_CACHE_NONE), in = SIZED(info, 16, .program = 0);
    gnnc_executable *e;
    gnnc_context *c;
    gnnc_run *r;
    ok(gnnc_compile(b.module, &co.known.compile, &e));
    gnnc_executable_free(e);
    ok(gnnc_run_new(b.exe, b.state, &ro.known.run, &r));
    gnnc_run_free(r);
    ok(gnnc_context_new(&xo.known.context, &c));
    gnnc_context_free(c);
    set_behind(&co, sizeof co.known.compile);
    set_behind(&ro, sizeof ro.known.run);
    set_behind(&xo, sizeof xo.known.context);
    set_behind(&in, sizeof in.known.info);
    static const char words[] = "the program was built against a newer one";
    refused(gnnc_compile(b.module, &co.known.compile, &e), GNNC_ERROR_USAGE, words);
    refused(gnnc_run_new(b.exe, b.state, &ro.known.run, &r), GNNC_ERROR_USAGE, words);
    refused(gnnc_context_new(&xo.known.context, &c), GNNC_ERROR_USAGE, words);
    ck_assert(!e && !r && !c);
    gnnc_run_describe(b.run, &in.known.info); /* what it does not know is 0 */
    for (size_t k = 0; k < 16; k++) ck_assert_int_eq(((char *)&in)[sizeof in.known.info + k], 0);
    gnnc_run_options unset = {.threads = 4}, wild = {.size = (size_t)-1, .threads = 4};
    refused(gnnc_run_new(b.exe, b.state, &unset, &r), GNNC_ERROR_USAGE,
            "options have size 0, at least");
    refused(gnnc_run_new(b.exe, b.state, &wild, &r), GNNC_ERROR_USAGE,
            "set `size` to sizeof of the structure");
    tear_down(&b);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, a_lone_input);
        tcase_add_test(t, two_inputs);
        tcase_add_test(t, a_lone_input_of_edges);
        tcase_add_test(t, inputs_that_are_left_out);
        tcase_add_test(t, sparse_features_with_a_default);
        tcase_add_test(t, training_without_an_input);
        tcase_add_test(t, weights_that_only_the_default_has);
        tcase_add_test(t, options_of_another_size);
    }
    tcase_set_timeout(t, 500);
    return RUN_CASES("api_names", t);
}
