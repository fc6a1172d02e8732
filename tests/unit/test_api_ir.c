/* Programs of tensor IR as modules: run, with gradients, on one graph and on relations between rows
 * of several types; what is no program. */
#define API_KEEPS_CODE
#include "support/api_life.h"

#include <math.h>

enum { NODES = 14, EDGES = 40, A = 6, B = 4, R = 11 };

static const char one[] = "program @conv {\n"
                          "  space node node ?\n  space edge edge ? of %1\n"
                          "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                          "  %2 = input \"x\" : node f32[5]\n"
                          "  %3 = state \"w\" : f32[5, 3]\n"
                          "  %4 = matmul %2, %3 {ta = 0, tb = 0}\n"
                          "  %5 = gather %1, %4 {end = 0}\n"
                          "  %6 = scatter %1, %5 {end = 1, red = 0}\n"
                          "  output \"z\" %6\n}\n";

/* What comes along edges of `r`, each times its number; a sum that is kept, and half of all
 * dropped.
 */
static const char two[] = "program @typed {\n"
                          "  space a node ?\n  space b node ?\n  space edge edge ? of %1\n"
                          "  %1 = graph \"r\" : graph<a -> b, edge>\n"
                          "  %2 = input \"p\" : a f32[2]\n"
                          "  %3 = input \"weight\" : edge f32[]\n"
                          "  %4 = state \"total\" : f32[2]\n"
                          "  %5 = state \"rng.seed\" : i64[]\n  %6 = state \"rng.step\" : i64[]\n"
                          "  %7 = gather %1, %2 {end = 0}\n"
                          "  %8 = broadcast %3 : edge f32[1]\n"
                          "  %9 = broadcast %8 : edge f32[2]\n"
                          "  %10 = mul %7, %9\n"
                          "  %11 = scatter %1, %10 {end = 1, red = 0}\n"
                          "  %12 = rng_key %5, %6\n"
                          "  %13 = random %12 {site = 0} : b f32[2]\n"
                          "  %14 = mul %11, %13\n"
                          "  %15 = space_reduce %11 {red = 0}\n"
                          "  %16 = add %4, %15\n"
                          "  output \"sums\" %11\n  output \"drawn\" %14\n"
                          "  update \"total\" %16\n}\n";

static bench open_ir(const char *text, gnnc_compile_options o)
{
    bench b;
    o.size = sizeof o;
    ok(gnnc_module_parse_ir(usual_context(), text, strlen(text), "p.gir", &b.module));
    ok(gnnc_compile(b.module, &o, &b.exe));
    ok(gnnc_state_new(b.exe, 7, &b.state));
    ok(gnnc_run_new(b.exe, b.state, NULL, &b.run));
    return b;
}

START_TEST(one_graph)
{
    static const char *const modes[] = {NULL, "eager", "reduce-overhead"};
    bench b = open_ir(one, (gnnc_compile_options){.gradients = "weights,x", .mode = modes[_i]});
    world w = make_world(4, NODES, EDGES);
    DLTensor view, out;
    int64_t numbers[16];
    float want[NODES * C] = {0}, ones[NODES * C];
    gnnc_value_info i = {.size = sizeof i};
    ok(gnnc_state_weight_named(b.state, "w", &view, numbers));
    ck_assert(view.ndim == 2 && view.shape[0] == F && view.shape[1] == C && view.strides[1] == 1);
    for (int k = 0; k < F * C; k++) ((float *)view.data)[k] = (float)(k % 5) - 2;
    for (int e = 0; e < EDGES; e++)
        for (int c = 0; c < C; c++)
            for (int k = 0; k < F; k++)
                want[w.dst[e] * C + c] += w.x[w.src[e] * F + k] * ((float *)view.data)[k * C + c];
    bind_world(b.run, &w, false);
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "z", &out));
    for (int k = 0; k < NODES * C; k++) {
        ck_assert_float_eq_tol(((float *)out.data)[k], want[k], 1e-4f);
        ones[k] = 1;
    }
    int64_t shape[] = {NODES, C};
    DLTensor ct = tensor(ones, 2, shape, kDLFloat, 32);
    const DLTensor *all[] = {&ct};
    ok(gnnc_run_forward(b.run));
    ok(gnnc_run_backward(b.run, 1, all));
    ok(gnnc_run_gradient(b.run, "w", &out));
    float sum = 0;
    for (int e = 0; e < EDGES; e++) sum += w.x[w.src[e] * F];
    ck_assert_float_eq_tol(((float *)out.data)[0], sum, 1e-4f);
    ok(gnnc_executable_input(b.exe, 1, &i));
    ck_assert(!strcmp(i.name, "x") && i.shape[1] == F && info_of(&b).inputs == 2);
    ck_assert_str_eq(info_of(&b).model, "conv");
    tear_down(&b);
    end_world(&w);
}
END_TEST

/* The ends of edges in a tensor of [2, edges], as others have them. */
static gnnc_graph *graph_of(int n, const int64_t *ends, int bits)
{
    gnnc_graph *g;
    int32_t narrow[2 * R];
    for (int k = 0; k < 2 * R; k++) narrow[k] = (int32_t)ends[k];
    int64_t shape[] = {n}, step[] = {bits == 64 ? 1 : 1};
    DLTensor src = tensor(bits == 64 ? (void *)(uintptr_t)ends : narrow, 1, shape, kDLInt,
                          (uint8_t)bits),
             dst = src;
    dst.byte_offset = (uint64_t)(R * bits / 8);
    dst.strides = step;
    ok(gnnc_relation_from_tensors(usual_context(), A, B, &src, &dst, &g));
    return g;
}

START_TEST(relations)
{
    bench b = open_ir(two, (gnnc_compile_options){.gradients = "p,weight"});
    int64_t ends[2 * R], rows[] = {A, 2}, edges[] = {R}, results[] = {B, 2};
    float p[A * 2], weight[R], want[B * 2] = {0}, ct[B * 2], first[B * 2];
    for (int k = 0; k < A * 2; k++) p[k] = (float)k;
    for (int k = 0; k < R; k++) {
        ends[k] = k * 5 % A;
        ends[R + k] = k * 3 % B;
        weight[k] = (float)(k % 4) - 1;
        for (int c = 0; c < 2; c++) want[ends[R + k] * 2 + c] += weight[k] * p[ends[k] * 2 + c];
    }
    for (int k = 0; k < B * 2; k++) ct[k] = (float)(k + 1);
    DLTensor tp = tensor(p, 2, rows, kDLFloat, 32), tw = tensor(weight, 1, edges, kDLFloat, 32),
             tc = tensor(ct, 2, results, kDLFloat, 32), out, total;
    int64_t numbers[16];
    gnnc_graph *g = graph_of(R, ends, _i ? 32 : 64);
    ck_assert(gnnc_graph_edges(g) == R && gnnc_graph_nodes(g) == B);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "is not bound");
    ok(gnnc_run_bind_relation(b.run, "r", g));
    ok(gnnc_run_bind(b.run, "p", &tp));
    ok(gnnc_run_bind(b.run, "weight", &tw));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "sums", &out));
    for (int k = 0; k < B * 2; k++) ck_assert_float_eq_tol(((float *)out.data)[k], want[k], 1e-5f);
    ok(gnnc_state_weight_named(b.state, "total", &total, numbers));
    ck_assert_float_eq(((float *)total.data)[0], 0); /* inference changes nothing */
    ok(gnnc_run_forward(b.run));
    ok(gnnc_run_output(b.run, "drawn", &out));
    memcpy(first, out.data, sizeof first);
    float sum = 0;
    for (int v = 0; v < B; v++) sum += want[2 * v];
    ck_assert_float_eq_tol(((float *)total.data)[0], sum, 1e-4f);
    const DLTensor *of_drawn[] = {NULL, &tc}, *of_sums[] = {&tc};
    ok(gnnc_run_backward(b.run, 1, of_sums));
    ok(gnnc_run_gradient(b.run, "weight", &out));
    for (int k = 0; k < R; k++) { /* in the order of the edges */
        float is = p[ends[k] * 2] * ct[ends[R + k] * 2] +
                   p[ends[k] * 2 + 1] * ct[ends[R + k] * 2 + 1];
        ck_assert_float_eq_tol(((float *)out.data)[k], is, 1e-3f);
    }
    ok(gnnc_run_backward(b.run, 2, of_drawn));
    ok(gnnc_run_gradient(b.run, "p", &out));
    float p0 = 0; /* of the same draws as the forward pass */
    for (int k = 0; k < R; k++)
        if (!ends[k] && want[ends[R + k] * 2] != 0)
            p0 += weight[k] * ct[ends[R + k] * 2] * first[ends[R + k] * 2] / want[ends[R + k] * 2];
    ck_assert_float_eq_tol(((float *)out.data)[0], p0, 1e-3f);
    ok(gnnc_run_forward(b.run));
    ok(gnnc_run_output(b.run, "drawn", &out));
    ck_assert(memcmp(first, out.data, sizeof first) != 0);
    gnnc_graph_free(g);
    tear_down(&b);
}
END_TEST

/* A view that is a result, and that a product and a sum of products read besides. */
static const char view[] = "program @view {\n"
                           "  space a node ?\n"
                           "  %1 = input \"p\" : a f32[2, 3]\n"
                           "  %2 = mul %1, %1\n"
                           "  %3 = reshape %2 : a f32[6]\n"
                           "  %4 = const {value = 1} : f32[6, 4]\n"
                           "  %5 = matmul %3, %4 {ta = 0, tb = 0}\n"
                           "  %6 = matmul %3, %5 {ta = 1, tb = 0}\n"
                           "  output \"squares\" %3\n  output \"sums\" %5\n"
                           "  output \"inner\" %6\n}\n";

START_TEST(views_that_are_results)
{
    static const char *const modes[] = {NULL, "eager", "reduce-overhead"};
    bench b = open_ir(view, (gnnc_compile_options){.mode = modes[_i]});
    int64_t rows[] = {A, 2, 3};
    float p[A * 6], sums[A] = {0}, inner[6] = {0};
    for (int k = 0; k < A * 6; k++) {
        p[k] = (float)(k % 5) - 2;
        sums[k / 6] += p[k] * p[k];
    }
    for (int k = 0; k < A * 6; k++) inner[k % 6] += p[k] * p[k] * sums[k / 6];
    DLTensor tp = tensor(p, 3, rows, kDLFloat, 32), out;
    ok(gnnc_run_bind(b.run, "p", &tp));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "sums", &out));
    for (int k = 0; k < A * 4; k++) ck_assert_float_eq(((float *)out.data)[k], sums[k / 4]);
    ok(gnnc_run_output(b.run, "inner", &out));
    for (int k = 0; k < 24; k++) ck_assert_float_eq(((float *)out.data)[k], inner[k / 4]);
    tear_down(&b);
}
END_TEST

/* Gradients of inference: states stay, and with them the draws. */
START_TEST(states_stay)
{
    bench b = open_ir(two, (gnnc_compile_options){.gradients = "p", .gradients_of = "inference"});
    int64_t ends[2 * R] = {0}, rows[] = {A, 2}, edges[] = {R}, numbers[16];
    float p[A * 2], weight[R], first[B * 2];
    for (int k = 0; k < A * 2; k++) p[k] = (float)k + 1;
    for (int k = 0; k < R; k++) weight[k] = 1;
    DLTensor tp = tensor(p, 2, rows, kDLFloat, 32), tw = tensor(weight, 1, edges, kDLFloat, 32),
             out, total;
    gnnc_graph *g = graph_of(R, ends, 64);
    ok(gnnc_run_bind_relation(b.run, "r", g));
    ok(gnnc_run_bind(b.run, "p", &tp));
    ok(gnnc_run_bind(b.run, "weight", &tw));
    ok(gnnc_run_forward(b.run));
    ok(gnnc_run_output(b.run, "drawn", &out));
    memcpy(first, out.data, sizeof first);
    ck_assert(first[0] != 0);
    ok(gnnc_run_backward(b.run, 0, NULL));
    ok(gnnc_run_forward(b.run));
    ok(gnnc_run_output(b.run, "drawn", &out));
    ck_assert_mem_eq(first, out.data, sizeof first);
    ok(gnnc_state_weight_named(b.state, "total", &total, numbers));
    ck_assert_float_eq(((float *)total.data)[0], 0);
    gnnc_graph_free(g);
    tear_down(&b);
}
END_TEST

/* A training step as it is: least squares by hand, with a momentum, over a matrix that is bound as
 * a relation of its columns to its rows. */
static const char descent[] = "program @descent {\n"
                              "  space row node ?\n  space column node 3\n"
                              "  space edge edge ? of %1\n"
                              "  %1 = graph \"x\" : graph<column -> row, edge>\n"
                              "  %2 = input \"rate\" : f32[]\n  %3 = input \"y\" : row f32[1]\n"
                              "  %4 = state \"w\" : f32[3, 1]\n  %5 = state \"m\" : f32[3, 1]\n"
                              "  %6 = to_rows %4 : column f32[1]\n"
                              "  %7 = gather %1, %6 {end = 0}\n"
                              "  %8 = scatter %1, %7 {end = 1, red = 0}\n"
                              "  %9 = sub %8, %3\n  %10 = mul %9, %9\n"
                              "  %11 = space_reduce %10 {red = 0}\n  %12 = reshape %11 : f32[]\n"
                              "  %13 = gather %1, %9 {end = 1}\n"
                              "  %14 = scatter %1, %13 {end = 0, red = 0}\n"
                              "  %15 = from_rows %14\n  %16 = add %15, %5\n"
                              "  %17 = broadcast %2 : f32[3, 1]\n  %18 = mul %16, %17\n"
                              "  %19 = sub %4, %18\n"
                              "  output \"loss\" %12\n"
                              "  update \"w\" %19\n  update \"m\" %16\n}\n";

enum { COLUMNS = 3, ENTRIES = 7 };

static const int64_t entry_column[ENTRIES] = {0, 1, 2, 0, 2, 1, 1},
                     entry_row[ENTRIES] = {0, 0, 1, 2, 2, 3, 0}; /* one stands twice */

static double step_by_hand(const float *y, float rate, float *w, float *m)
{
    float off[B];
    double loss = 0;
    for (int v = 0; v < B; v++) off[v] = -y[v];
    for (int k = 0; k < ENTRIES; k++) off[entry_row[k]] += w[entry_column[k]];
    for (int v = 0; v < B; v++) loss += off[v] * off[v];
    for (int k = 0; k < ENTRIES; k++) m[entry_column[k]] += off[entry_row[k]];
    for (int c = 0; c < COLUMNS; c++) w[c] -= rate * m[c];
    return loss;
}

/* States in memory of the caller's, the first with strides that code has not. */
START_TEST(training_step)
{
    bench b = open_ir(descent, (gnnc_compile_options){.train = true});
    int64_t rows[] = {B, 1}, shape[] = {COLUMNS, 1}, apart[] = {2, 1}, together[] = {1, 1};
    float y[B] = {1, -2, 3, .5f}, rate = .05f, w[2 * COLUMNS] = {.5f, 9, -1, 9, 2, 9},
          m[COLUMNS] = {0}, want[] = {.5f, -1, 2}, want_m[COLUMNS] = {0};
    DLTensor ty = tensor(y, 2, rows, kDLFloat, 32), tr = tensor(&rate, 0, NULL, kDLFloat, 32),
             tw = tensor(w, 2, shape, kDLFloat, 32), tm = tensor(m, 2, shape, kDLFloat, 32), out;
    tw.strides = apart;
    tm.strides = together;
    gnnc_graph *x;
    double loss;
    ok(gnnc_relation_from_coo(usual_context(), COLUMNS, B, ENTRIES, GNNC_INT64, entry_column,
                              entry_row, &x));
    ok(gnnc_run_bind_relation(b.run, "x", x));
    ok(gnnc_run_bind(b.run, "y", &ty));
    ok(gnnc_run_bind(b.run, "rate", &tr));
    ok(gnnc_run_bind_weight(b.run, "w", &tw));
    ok(gnnc_run_bind_weight(b.run, "m", &tm));
    for (int k = 0; k < 5; k++) {
        rate = .05f / (float)(k + 1); /* read anew by every step */
        double is = step_by_hand(y, rate, want, want_m);
        ok(gnnc_run_step(b.run, &loss));
        ck_assert_double_eq_tol(loss, is, 1e-4);
        for (int c = 0; c < COLUMNS; c++) {
            ck_assert_float_eq_tol(w[2 * c], want[c], 1e-5f);
            ck_assert_float_eq_tol(m[c], want_m[c], 1e-4f);
        }
    }
    ck_assert(w[1] == 9 && w[3] == 9); /* what lies between is not written */
    memcpy(want, m, sizeof want);
    ok(gnnc_run_infer(b.run)); /* which has no results, and updates nothing */
    ck_assert_mem_eq(want, m, sizeof want);
    refused(gnnc_run_output(b.run, "loss", &out), GNNC_ERROR_USAGE, "loss");
    gnnc_graph_free(x);
    tear_down(&b);
}
END_TEST

static void no_module(const char *text, const char *words)
{
    gnnc_module *m;
    refused(gnnc_module_parse_ir(NULL, text, strlen(text), "p.gir", &m), GNNC_ERROR_MODEL, words);
    ck_assert(!m);
}

#define NODE "program @p {\n  space node node ?\n  %1 = input \"x\" : node f32[2]\n"

START_TEST(refuses)
{
    static const gnnc_compile_options others[] = {{.model = "M"},      {.features = 3},
                                                  {.by_rows = true},   {.rate_changes = true},
                                                  {.dynamic = "auto"}, {.sparse = true}};
    gnnc_module *m;
    gnnc_executable *e;
    gnnc_graph *g;
    int32_t ends[] = {0, 1, 2};
    int64_t three[] = {3}, two_of[] = {2};
    float x[3] = {0};
    char *text;
    DLTensor a = tensor(ends, 1, three, kDLInt, 32), c = tensor(ends, 1, two_of, kDLInt, 32),
             f = tensor(x, 1, three, kDLFloat, 32);
    no_module("", "p.gir:1:1: ");
    no_module("program @p {\n  %1 = inputt \"x\" : f32[2]\n}\n", "p.gir:2:");
    no_module(NODE "}\n", "p.gir: the program has no output");
    no_module(NODE "  output \"loss\" %1\n}\n", "output 'loss' is of training, and one number");
    no_module(NODE "  output \"a\" %1\n  output \"a\" %1\n}\n", "output");
    no_module(NODE "  output \"kept.1\" %1\n}\n", "names with 'kept.' are of gradients");
    no_module("program @p {\n  %1 = input \"cotangent.0\" : f32[2]\n  output \"a\" %1\n}\n",
              "names with 'cotangent.' are of gradients");
    no_module(NODE "  %2 = state \"w\" : node f32[2]\n  %3 = add %1, %2\n  output \"a\" %3\n}\n",
              "whose number is not known");
    no_module("program @p {\n  %1 = state \"w\" : f64[2]\n  output \"a\" %1\n}\n", "are f32");
    no_module("program @p {\n  space a node ?\n  space b node ?\n  space edge edge ? of %1\n"
              "  %1 = graph \"g\" : graph<a -> b, edge>\n  %2 = input \"x\" : a f32[]\n"
              "  %3 = gather %1, %2 {end = 0}\n  output \"o\" %3\n}\n",
              "graph 'g' goes from 'a' to 'b'");
    ok(gnnc_module_parse_ir(NULL, one, strlen(one), NULL, &m));
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        gnnc_compile_options o = others[k];
        o.size = sizeof o;
        refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "is for models of the language");
    }
    gnnc_compile_options trains = {.size = sizeof trains, .train = true};
    refused(gnnc_compile(m, &trains, &e), GNNC_ERROR_USAGE, "conv has no such output");
    for (const char *const *rows = (const char *const[]){"needed", "0", "15", "2x", NULL}; *rows;
         rows++) {
        gnnc_compile_options o = {.size = sizeof o, .rows = *rows};
        refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "a number of levels from 1 to 14");
    }
    gnnc_compile_options some = {.size = sizeof some, .rows = "2"};
    refused(gnnc_compile(m, &some, &e), GNNC_ERROR_USAGE, "rows: levels go with `train`");
    if (GNNC_HAVE_LLVM) {
        gnnc_compile_options o = {.size = sizeof o};
        ok(gnnc_compile(m, &o, &e));
        refused(gnnc_executable_emit(e, "ast", &text), GNNC_ERROR_USAGE, "has no stage 'ast'");
        ok(gnnc_executable_emit(e, "gir", &text));
        gnnc_module *again; /* what is printed is read */
        ok(gnnc_module_parse_ir(NULL, text, strlen(text), NULL, &again));
        gnnc_module_free(again);
        gnnc_text_free(text);
        gnnc_executable_free(e);
    }
    gnnc_module_free(m);
    refused(gnnc_relation_from_tensors(NULL, 3, 3, &a, &c, &g), GNNC_ERROR_DATA,
            "src has 3 ends of edges, dst 2");
    refused(gnnc_relation_from_tensors(NULL, 3, 3, &a, &f, &g), GNNC_ERROR_DATA,
            "dst: the tensor is f32, expected i32 or i64");
    refused(gnnc_relation_from_tensors(NULL, 2, 3, &a, &a, &g), GNNC_ERROR_DATA, "edge");
    refused(gnnc_relation_from_tensors(NULL, 2, 3, NULL, &a, &g), GNNC_ERROR_USAGE,
            "`src` is NULL");
}
END_TEST

typedef struct poor {
    purse p;
    gnnc_context_options context;
} poor;

static gnnc_status *live(void *ctx)
{
    poor *z = ctx;
    life l = {0};
    int64_t ends[] = {0, 1, 2}, three[] = {3}, rows[] = {3, F};
    float x[3 * F] = {0};
    DLTensor t = tensor(ends, 1, three, kDLInt, 64), tx = tensor(x, 2, rows, kDLFloat, 32);
    gnnc_compile_options o = {.size = sizeof o, .gradients = "weights", .compile_threads = 1};
    gnnc_status *s = gnnc_context_new(&z->context, &l.context);
    if (!s) s = gnnc_module_parse_ir(l.context, one, strlen(one), NULL, &l.module);
    if (!s) s = gnnc_compile(l.module, &o, &l.exe);
    if (!s) s = gnnc_state_new(l.exe, 1, &l.state);
    if (!s) s = gnnc_run_new(l.exe, l.state, NULL, &l.run);
    if (!s) s = gnnc_relation_from_tensors(l.context, 3, 3, &t, &t, &l.graph);
    if (!s) s = gnnc_run_bind_graph(l.run, l.graph);
    if (!s) s = gnnc_run_bind(l.run, "x", &tx);
    if (!s) s = gnnc_run_forward(l.run);
    if (!s) s = gnnc_run_backward(l.run, 0, NULL);
    life_end(&l);
    return s;
}

/* A step, of a state with strides of the caller's, which the run has a copy of. */
static gnnc_status *live_by_step(void *ctx)
{
    poor *z = ctx;
    life l = {0};
    int64_t rows[] = {B, 1}, shape[] = {COLUMNS, 1}, apart[] = {2, 1};
    float y[B] = {0}, rate = .1f, w[2 * COLUMNS] = {0};
    double loss;
    DLTensor ty = tensor(y, 2, rows, kDLFloat, 32), tr = tensor(&rate, 0, NULL, kDLFloat, 32),
             tw = tensor(w, 2, shape, kDLFloat, 32);
    tw.strides = apart;
    gnnc_compile_options o = {.size = sizeof o, .train = true, .compile_threads = 1};
    gnnc_status *s = gnnc_context_new(&z->context, &l.context);
    if (!s) s = gnnc_module_parse_ir(l.context, descent, strlen(descent), NULL, &l.module);
    if (!s) s = gnnc_compile(l.module, &o, &l.exe);
    if (!s) s = gnnc_state_new(l.exe, 1, &l.state);
    if (!s) s = gnnc_run_new(l.exe, l.state, NULL, &l.run);
    if (!s)
        s = gnnc_relation_from_coo(l.context, COLUMNS, B, ENTRIES, GNNC_INT64, entry_column,
                                   entry_row, &l.graph);
    if (!s) s = gnnc_run_bind_relation(l.run, "x", l.graph);
    if (!s) s = gnnc_run_bind(l.run, "y", &ty);
    if (!s) s = gnnc_run_bind(l.run, "rate", &tr);
    if (!s) s = gnnc_run_bind_weight(l.run, "w", &tw);
    if (!s) s = gnnc_run_step(l.run, &loss);
    life_end(&l);
    return s;
}

START_TEST(memory)
{
    gnnc_status *(*const lives[])(void *) = {live, live_by_step};
    poor z = {0};
    z.context = poor_context(&z.p);
    ok(lives[_i](&z));
    ck_assert_int_eq(z.p.blocks, 0);
    ck_assert_int_gt(fail_allocations(&z.p, lives[_i], &z, 60, false), 20);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(t, one_graph, 0, 3);
        tcase_add_loop_test(t, relations, 0, 2);
        tcase_add_loop_test(t, views_that_are_results, 0, 3);
        tcase_add_test(t, states_stay);
        tcase_add_test(t, training_step);
        tcase_add_loop_test(t, memory, 0, 2);
    }
    tcase_add_test(t, refuses);
    tcase_set_timeout(t, 120);
    return RUN_CASES("api_ir", t);
}
