/* Gradients by name: against finite differences, whatever results have cotangents and in every
 * mode; what may be asked for and in what order; what fails. */
/* labels: long */
/* timeout: 300 */
#include "base/sanitized.h"
#define API_KEEPS_CODE
#include "support/api_life.h"

#include <math.h>

/* Smooth models: differences are taken across nothing that jumps. */
typedef struct sample {
    const char *text, *gradients;
    bool weights, drops;
    int64_t attr;
} sample;

static const sample samples[] = {
    {"model A(p = 0.4) (g: graph, x: node[F]) -> node[C] {\n"
     "  a = GCNConv(4)\n  b = GCNConv(C)\n  return b(g, tanh(a(g, dropout(x, p))))\n}\n",
     "weights,x,g.weight", true, true, 0},
    {"model B() (g: graph, x: node[F], e: edge[D]) -> node[C] {\n"
     "  a = GATConv(3, heads = 2, p = 0.3)\n  b = SAGEConv(C)\n"
     "  return b(g, elu(a(g, x, e)))\n}\n",
     " x , weights, e", false, true, 2},
    {"model T() (g: graph, x: node[F]) -> (node[C], edge, [C], node[1] of bool) {\n"
     "  h = GCNConv(C)(g, x)\n  e = edge(u -> v in self_loops(g): sum(h[u] * h[v], axis = -1))\n"
     "  m = mean(h * h, over = node)\n  up = h > 0\n  return h, e, m, slice(up, 0, 1)\n}\n",
     "weights,x", false, false, 0},
    {"model N() (g: graph, x: node[F]) -> node[C] {\n"
     "  h = BatchNorm()(Linear(4)(x))\n"
     "  return GCNConv(C)(g, tanh(h)) + GraphConv(C)(g, h)\n}\n",
     "weights,x", false, false, 0},
    {"model V() (g: graph, x: node[F]) -> node[C] {\n"
     "  h = GATv2Conv(3, heads = 2, slope = 0.95)(g, x)\n"
     "  s = mean(u -> v in g: softplus(h[u]))\n"
     "  return Linear(C)(s) + TransformerConv(C)(g, h)\n}\n",
     "weights, x", false, false, 0},
};
enum { SAMPLES = sizeof samples / sizeof *samples, MOST_RESULTS = 4, NODES = 17, EDGES = 40 };

typedef struct scene {
    bench b;
    world w;
    const sample *s;
    float attr[2 * EDGES];
    int64_t attr_shape[2];
    int n_results;
    float *ct[MOST_RESULTS];
    DLTensor cotangent[MOST_RESULTS];
    int64_t shape[MOST_RESULTS][3];
    const DLTensor *all[MOST_RESULTS];
} scene;

static float number(uint32_t *seed) { return (float)(draw(seed) % 1000) / 500 - 1; }

static void bind_scene(scene *z, gnnc_run *r)
{
    DLTensor weight = tensor(z->w.w, 1, z->w.edges, kDLFloat, 32),
             attr = tensor(z->attr, 2, z->attr_shape, kDLFloat, 32);
    bind_world(r, &z->w, false);
    if (z->s->weights) ok(gnnc_run_bind(r, "g.weight", &weight));
    if (z->s->attr) ok(gnnc_run_bind(r, "e", &attr));
}

/* Random cotangents of all results of floats. */
static void make_cotangents(scene *z)
{
    uint32_t seed = 5;
    ok(gnnc_run_forward(z->b.run));
    z->n_results = info_of(&z->b).outputs;
    for (int k = 0; k < z->n_results; k++) {
        DLTensor out;
        int64_t n = 1;
        ok(gnnc_run_output_at(z->b.run, k, NULL, &out));
        for (int d = 0; d < out.ndim; d++) n *= z->shape[k][d] = out.shape[d];
        z->ct[k] = calloc((size_t)n + 1, sizeof(float));
        for (int64_t i = 0; i < n; i++) z->ct[k][i] = number(&seed);
        z->cotangent[k] = tensor(z->ct[k], out.ndim, z->shape[k], kDLFloat, 32);
        z->all[k] = out.dtype.code == kDLFloat ? &z->cotangent[k] : NULL;
    }
}

static scene *set_scene(const gnnc_context *c, const sample *s, gnnc_compile_options o)
{
    scene *z = calloc(1, sizeof *z);
    uint32_t seed = 9;
    z->s = s;
    z->w = make_world_in(c, 4, NODES, EDGES);
    for (int k = 0; k < NODES * F; k++) z->w.x[k] = number(&seed);
    for (int k = 0; k < EDGES; k++) z->w.w[k] = 0.6f + 0.4f * number(&seed);
    for (int k = 0; k < 2 * EDGES; k++) z->attr[k] = number(&seed);
    z->attr_shape[0] = EDGES;
    z->attr_shape[1] = 2;
    o.edge_weights = s->weights;
    o.edge_features = s->attr;
    if (!o.gradients) o.gradients = s->gradients;
    z->b = set_up_in(c, s->text, o, o.mode ? 3 : 1);
    bind_scene(z, z->b.run);
    make_cotangents(z);
    return z;
}

static void strike(scene *z)
{
    for (int k = 0; k < z->n_results; k++) free(z->ct[k]);
    tear_down(&z->b);
    end_world(&z->w);
    free(z);
}

static float *element(const DLTensor *t, int64_t at)
{
    int64_t offset = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        offset += at % t->shape[d] * (t->strides ? t->strides[d] : 0);
        if (!t->strides) return (float *)t->data + at;
        at /= t->shape[d];
    }
    return (float *)t->data + offset;
}

static int64_t count(const DLTensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++) n *= t->shape[d];
    return n;
}

/* The results times their cotangents, with fresh weights, of which one number is another. */
static double value(scene *z, const char *weight, int64_t at, float delta)
{
    gnnc_state *s;
    gnnc_run *r;
    double sum = 0;
    ok(gnnc_state_new(z->b.exe, 7, &s));
    ok(gnnc_run_new(z->b.exe, s, NULL, &r));
    if (weight) {
        DLTensor view;
        int64_t numbers[16];
        ok(gnnc_state_weight_named(s, weight, &view, numbers));
        *element(&view, at) += delta;
        gnnc_state_changed(s);
    }
    bind_scene(z, r);
    ok(gnnc_run_forward(r));
    for (int k = 0; k < z->n_results; k++) {
        DLTensor out;
        ok(gnnc_run_output_at(r, k, NULL, &out));
        for (int64_t i = 0; z->all[k] && i < count(&out); i++)
            sum += (double)((const float *)out.data)[i] * (double)z->ct[k][i];
    }
    gnnc_run_free(r);
    gnnc_state_free(s);
    return sum;
}

/* Data, or NULL for a weight. */
static float *data_of(scene *z, const char *name)
{
    return !strcmp(name, "x")          ? z->w.x
           : !strcmp(name, "g.weight") ? z->w.w
           : !strcmp(name, "e")        ? z->attr
                                       : NULL;
}

static double difference(scene *z, const char *name, int64_t at, float delta)
{
    float *data = data_of(z, name);
    double up, down;
    if (!data)
        return (value(z, name, at, delta) - value(z, name, at, -delta)) / (2 * (double)delta);
    float was = data[at];
    data[at] = was + delta;
    up = value(z, NULL, 0, 0);
    data[at] = was - delta;
    down = value(z, NULL, 0, 0);
    data[at] = was;
    return (up - down) / (2 * (double)delta);
}

static void check_gradients(scene *z, int each)
{
    int n = info_of(&z->b).gradients, seen = 0;
    ck_assert_int_gt(n, 2);
    gnnc_run *r;
    gnnc_state *s;
    ok(gnnc_state_new(z->b.exe, 7, &s));
    ok(gnnc_run_new(z->b.exe, s, NULL, &r));
    bind_scene(z, r);
    ok(gnnc_run_forward(r));
    ok(gnnc_run_backward(r, (size_t)z->n_results, z->all));
    for (int k = 0; k < n; k++) {
        const char *name;
        DLTensor g;
        ok(gnnc_run_gradient_at(r, k, &name, &g));
        for (int64_t i = 0; i < count(&g); i++) {
            double is = (double)*element(&g, i);
            ck_assert(isfinite(is));
            if (seen++ % each) continue;
            double want = difference(z, name, i, 2e-3f);
            ck_assert_msg(fabs(is - want) <= 4e-3 * (1 + fabs(want)),
                          "gradient of %s[%lld] is %g, differences say %g", name, (long long)i, is,
                          want);
        }
    }
    gnnc_run_free(r);
    gnnc_state_free(s);
}

START_TEST(differences)
{
    static const gnnc_compile_options ways[] = {
        {.mode = NULL},
        {.mode = "eager"},
        {.mode = "reduce-overhead"},
        {.mode = NULL, .dynamic = "false", .gradients_of = "inference"},
    };
    int way = _i / SAMPLES, each = GN_UNDER_ASAN ? 11 : way ? 5 : 2;
    scene *z = set_scene(usual_context(), &samples[_i % SAMPLES], ways[way]);
    check_gradients(z, each);
    strike(z);
}
END_TEST

static float *copy(gnnc_run *r, const char *name, int64_t *n)
{
    DLTensor g;
    ok(gnnc_run_gradient(r, name, &g));
    *n = count(&g);
    float *all = calloc((size_t)*n + 1, sizeof *all);
    for (int64_t i = 0; i < *n; i++) all[i] = *element(&g, i);
    return all;
}

/* Gradients are linear in cotangents, those that are not given are zeros, the draws are those of
 * the forward pass, and the next one has others. */
START_TEST(passes)
{
    scene *z = set_scene(usual_context(), &samples[0], (gnnc_compile_options){0});
    gnnc_run *r = z->b.run;
    int64_t n;
    ok(gnnc_run_forward(r));
    ok(gnnc_run_backward(r, 1, z->all));
    float *one = copy(r, "x", &n);
    for (int64_t k = 0; k < NODES * C; k++) z->ct[0][k] *= 2;
    ok(gnnc_run_backward(r, 1, z->all));
    float *two = copy(r, "x", &n);
    ck_assert_int_eq(n, NODES * F);
    for (int64_t k = 0; k < n; k++) ck_assert_float_eq_tol(two[k], 2 * one[k], 1e-5f);
    ok(gnnc_run_infer(r)); /* in between */
    ok(gnnc_run_backward(r, 1, z->all));
    float *same = copy(r, "x", &n);
    ck_assert_mem_eq(same, two, (size_t)n * sizeof *two);
    ok(gnnc_run_forward(r));
    ok(gnnc_run_backward(r, 1, z->all));
    float *other = copy(r, "x", &n);
    ck_assert(memcmp(other, two, (size_t)n * sizeof *two) != 0);
    ok(gnnc_run_backward(r, 0, NULL));
    float *none = copy(r, "x", &n);
    for (int64_t k = 0; k < n; k++) ck_assert_float_eq(none[k], 0);
    free(one);
    free(two);
    free(same);
    free(other);
    free(none);
    strike(z);
}
END_TEST

/* A value that is given twice has both cotangents, also where it makes another result. */
START_TEST(twice)
{
    static const sample s = {"model R() (g: graph, x: node[F]) -> (node[C], node[C], node[C]) {\n"
                             "  h = Linear(C)(x)\n  k = 2 * h\n  return h, k, h\n}\n",
                             "Linear.bias", false, false, 0};
    scene *z = set_scene(usual_context(), &s, (gnnc_compile_options){.gradients = "Linear.bias"});
    int64_t n;
    ok(gnnc_run_backward(z->b.run, 3, z->all));
    float *g = copy(z->b.run, "Linear.bias", &n), want = 0;
    for (int v = 0; v < NODES; v++) want += z->ct[0][v * C] + 2 * z->ct[1][v * C] + z->ct[2][v * C];
    ck_assert_float_eq_tol(g[0], want, 1e-4f);
    free(g);
    strike(z);
}
END_TEST

/* The same bits for any number of threads, launched one by one and in one region. */
START_TEST(threads)
{
    static const gnnc_compile_options ways[] = {{.mode = NULL}, {.mode = "reduce-overhead"}};
    enum { MANY = 400 };
    world w = make_world(6, MANY, 8 * MANY);
    DLTensor weight = tensor(w.w, 1, w.edges, kDLFloat, 32);
    static float ones[MANY * C];
    int64_t rows[] = {MANY, C}, n;
    DLTensor ct = tensor(ones, 2, rows, kDLFloat, 32);
    const DLTensor *all[] = {&ct};
    float *first[2] = {NULL, NULL};
    for (int k = 0; k < MANY * C; k++) ones[k] = (float)(k % 9) - 4;
    for (int k = 0; k < 4; k++) {
        gnnc_compile_options o = ways[k / 2];
        o.gradients = samples[0].gradients;
        o.edge_weights = true;
        bench b = set_up(samples[0].text, o, k % 2 ? 4 : 1);
        bind_world(b.run, &w, false);
        ok(gnnc_run_bind(b.run, "g.weight", &weight));
        ok(gnnc_run_forward(b.run));
        ok(gnnc_run_backward(b.run, 1, all));
        float *of[] = {copy(b.run, "x", &n), copy(b.run, "g.weight", &n)};
        for (int i = 0; i < 2; i++) {
            size_t bytes = (size_t)(i ? 8 * MANY : MANY * F) * sizeof(float);
            if (first[i]) {
                ck_assert(!memcmp(first[i], of[i], bytes));
                free(of[i]);
            } else {
                first[i] = of[i];
            }
        }
        tear_down(&b);
    }
    free(first[0]);
    free(first[1]);
    end_world(&w);
}
END_TEST

/* Other data of the same size at another address, graphs of other sizes, of no edges and of no
 * nodes. */
START_TEST(sizes)
{
    static const int nodes[] = {NODES, 1, 9, 0, 30}, edges[] = {EDGES, 0, 70, 0, 3};
    scene *z = set_scene(usual_context(), &samples[2], (gnnc_compile_options){0});
    for (int k = 0; k < 5; k++) {
        world w = make_world(3, nodes[k], edges[k]);
        DLTensor x = x_of(&w), g;
        float *again = malloc(((size_t)w.n * F + 1) * sizeof *again);
        bind_world(z->b.run, &w, false);
        ok(gnnc_run_forward(z->b.run));
        int64_t rows[2] = {w.n, C};
        float *ones = calloc((size_t)w.n * C + 1, sizeof *ones);
        for (int i = 0; i < w.n * C; i++) ones[i] = 1;
        DLTensor ct = tensor(ones, 2, rows, kDLFloat, 32);
        const DLTensor *all[] = {&ct};
        ok(gnnc_run_backward(z->b.run, 1, all));
        int64_t n, m;
        float *first = copy(z->b.run, "x", &n);
        ck_assert_int_eq(n, w.n * F);
        if (w.n) memcpy(again, w.x, (size_t)w.n * F * sizeof *again);
        x.data = again;
        ok(gnnc_run_bind(z->b.run, "x", &x));
        refused(gnnc_run_backward(z->b.run, 1, all), GNNC_ERROR_USAGE, "gnnc_run_forward comes");
        refused(gnnc_run_gradient(z->b.run, "x", &g), GNNC_ERROR_USAGE, "gnnc_run_backward comes");
        ok(gnnc_run_forward(z->b.run));
        ok(gnnc_run_backward(z->b.run, 1, all));
        float *second = copy(z->b.run, "x", &m);
        ck_assert(m == n && (!n || !memcmp(first, second, (size_t)n * sizeof *first)));
        ck_assert_int_gt(gnnc_run_bytes(z->b.run), 0);
        free(first);
        free(second);
        free(again);
        free(ones);
        end_world(&w);
    }
    strike(z);
}
END_TEST

/* What does not depend on a result, and weights that nothing reads, have zeros; gradients have the
 * shape of what they are of. */
START_TEST(shapes)
{
    static const sample s = {
        "model Z() (g: graph, x: node[F]) -> (node[C], node[C]) {\n"
        "  a = Linear(C)\n  b = Linear(C, bias = false)\n  buffer k: [2] = ones\n"
        "  one = a(x)\n  two = sum(u -> v in g: b(x)[u])\n"
        "  return one, two\n}\n",
        "b.weight,k,weights,x", false, false, 0};
    scene *z = set_scene(usual_context(), &s, (gnnc_compile_options){.train = false});
    const char *name;
    DLTensor g, w;
    int64_t numbers[16], n;
    ok(gnnc_run_backward(z->b.run, 1, z->all));
    ok(gnnc_run_gradient_at(z->b.run, 0, &name, &g));
    ck_assert_str_eq(name, "b.weight");
    ok(gnnc_state_weight_named(z->b.state, name, &w, numbers));
    ck_assert(g.ndim == 2 && g.shape[0] == C && g.shape[1] == F);
    ck_assert(g.strides[0] == w.strides[0] && g.strides[1] == w.strides[1]);
    float *b = copy(z->b.run, "b.weight", &n);
    for (int64_t k = 0; k < n; k++) ck_assert_float_eq(b[k], 0);
    free(b);
    float *k = copy(z->b.run, "k", &n);
    ck_assert(n == 2 && k[0] == 0 && k[1] == 0);
    free(k);
    ok(gnnc_run_gradient_at(z->b.run, 2, &name, &g));
    ck_assert_str_eq(name, "a.weight");
    ck_assert_int_eq(info_of(&z->b).gradients, 5);
    float *a = copy(z->b.run, "a.bias", &n);
    float sum = 0;
    for (int v = 0; v < NODES; v++) sum += z->ct[0][v * C];
    ck_assert_float_eq_tol(a[0], sum, 1e-4f);
    free(a);
    strike(z);
}
END_TEST

static void refuses_options(const char *text, gnnc_compile_options o, gnnc_code code,
                            const char *words)
{
    gnnc_module *m;
    gnnc_executable *e;
    o.size = sizeof o;
    o.features = F;
    o.classes = C;
    ok(gnnc_module_parse(NULL, text, strlen(text), "m.gnn", &m));
    refused(gnnc_compile(m, &o, &e), code, words);
    ck_assert(!e);
    gnnc_module_free(m);
}

START_TEST(refuses_to_compile)
{
    static const char draws[] = "model K() (g: graph, x: node[F]) -> node[C] {\n"
                                "  h = Linear(C)(x)\n"
                                "  return h + sum(u -> v in corrupt(g): h[u])\n}\n";
    static const struct {
        gnnc_compile_options o;
        gnnc_code code;
        const char *words;
    } cases[] = {
        {{.gradients = "weights, y"}, GNNC_ERROR_USAGE, "gradients: model M has no parameter or"},
        {{.gradients = "a.lin.weigh"}, GNNC_ERROR_USAGE, "did you mean 'a.lin.weight'"},
        {{.gradients = ""}, GNNC_ERROR_USAGE, "gradients: there are none"},
        {{.gradients = "x,"}, GNNC_ERROR_USAGE, "behind the last comma"},
        {{.gradients = "x, ,weights"}, GNNC_ERROR_USAGE, "a name is missing before ' ,weights'"},
        {{.gradients = "x", .sparse = true}, GNNC_ERROR_USAGE, "bound by its non-zeros"},
        {{.gradients = "x", .by_rows = true}, GNNC_ERROR_USAGE, "do not go with by_rows"},
        {{.gradients = "x", .dynamic = "false", .buckets = "pow2"},
         GNNC_ERROR_USAGE,
         "do not go with buckets"},
        {{.gradients_of = "training"}, GNNC_ERROR_USAGE, "goes with `gradients`"},
        {{.gradients = "x", .gradients_of = "inferenc"},
         GNNC_ERROR_USAGE,
         "did you mean 'inference'"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        refuses_options(plain, cases[k].o, cases[k].code, cases[k].words);
    refuses_options(draws, (gnnc_compile_options){.gradients = "weights"}, GNNC_ERROR_MODEL,
                    "draws edges");
}
END_TEST

START_TEST(refuses_to_run)
{
    scene *z = set_scene(usual_context(), &samples[2],
                         (gnnc_compile_options){.gradients = "weights,x", .train = true});
    bench none = set_up(plain, (gnnc_compile_options){.train = true}, 1);
    gnnc_run *r = z->b.run;
    DLTensor g, bad = z->cotangent[0];
    const DLTensor *ct[] = {&bad, NULL, NULL, NULL, NULL};
    int64_t wrong[] = {NODES, C + 1}, few[] = {NODES - 1, C};
    refused(gnnc_run_forward(none.run), GNNC_ERROR_USAGE, "compiled without `gradients`");
    refused(gnnc_run_backward(none.run, 0, NULL), GNNC_ERROR_USAGE, "compiled without `gradients`");
    refused(gnnc_run_gradient(none.run, "x", &g), GNNC_ERROR_USAGE, "compiled without `gradients`");
    refused(gnnc_run_gradient_at(none.run, 0, NULL, &g), GNNC_ERROR_USAGE, "has no gradient 0");
    refused(gnnc_run_forward(NULL), GNNC_ERROR_USAGE, "`r` is NULL");
    refused(gnnc_run_backward(r, 1, NULL), GNNC_ERROR_USAGE, "`cotangents` is NULL");
    refused(gnnc_run_gradient(r, "y", &g), GNNC_ERROR_USAGE, "model T has no gradient 'y'");
    refused(gnnc_run_gradient(r, "x", &g), GNNC_ERROR_USAGE, "gnnc_run_backward comes first");
    refused(gnnc_run_gradient_at(r, 9, NULL, &g), GNNC_ERROR_USAGE, "has no gradient 9");
    refused(gnnc_run_backward(r, 5, ct), GNNC_ERROR_USAGE, "5 cotangents, model T has 4 results");
    bad.shape = wrong;
    refused(gnnc_run_backward(r, 1, ct), GNNC_ERROR_DATA,
            "the cotangent of 'out0': dimension 1 is 4, expected 3");
    bad.shape = few;
    refused(gnnc_run_backward(r, 1, ct), GNNC_ERROR_DATA, "dimension 0 is 16, expected 17");
    bad.ndim = 1;
    refused(gnnc_run_backward(r, 1, ct), GNNC_ERROR_DATA, "1 dimensions, 2 are expected");
    bad = z->cotangent[0];
    bad.dtype = (DLDataType){kDLInt, 32, 1};
    refused(gnnc_run_backward(r, 1, ct), GNNC_ERROR_DATA, "the tensor is i32, expected");
    bad = z->cotangent[0];
    ct[3] = &z->cotangent[3];
    refused(gnnc_run_backward(r, 4, ct), GNNC_ERROR_USAGE, "the result is bool, and has none");
    ok(gnnc_run_backward(r, 4, z->all));
    ok(gnnc_run_gradient(r, "x", &g));
    world other = make_world(8, NODES, 2);
    ok(gnnc_run_bind_graph(r, other.g)); /* nothing was computed on it */
    refused(gnnc_run_backward(r, 4, z->all), GNNC_ERROR_USAGE, "gnnc_run_forward comes first");
    refused(gnnc_run_gradient(r, "x", &g), GNNC_ERROR_USAGE, "gnnc_run_backward comes first");
    ok(gnnc_run_forward(r));
    ok(gnnc_run_backward(r, 1, z->all));
    end_world(&other);
    tear_down(&none);
    strike(z);
}
END_TEST

/* Training changes weights under a backward pass; so does loading them. */
START_TEST(weights_that_change)
{
    static const sample s = {"model M() (g: graph, x: node[F]) -> node[C] {\n"
                             "  return GCNConv(C)(g, x)\n}\n",
                             "x", false, false, 0};
    scene *z = set_scene(usual_context(), &s, (gnnc_compile_options){.train = true});
    bind_world(z->b.run, &z->w, true);
    ok(gnnc_run_forward(z->b.run));
    ok(gnnc_run_backward(z->b.run, 1, z->all));
    ok(gnnc_run_step(z->b.run, NULL));
    refused(gnnc_run_backward(z->b.run, 1, z->all), GNNC_ERROR_USAGE, "trained or loaded");
    ok(gnnc_run_forward(z->b.run));
    ok(gnnc_run_backward(z->b.run, 1, z->all));
    strike(z);
}
END_TEST

/* An input that is left out has no gradient; the others do. */
START_TEST(left_out)
{
    static const sample s = {"model D() (g: graph, x: node[F], more: node[2] = none) -> node[C] {\n"
                             "  h = GCNConv(C)(g, x)\n"
                             "  if more != none { h = h + concat(more, slice(x, 0, 1)) }\n"
                             "  return h\n}\n",
                             "more,x", false, false, 0};
    scene *z = set_scene(usual_context(), &s, (gnnc_compile_options){0});
    DLTensor g, more;
    float data[2 * NODES] = {0};
    int64_t rows[] = {NODES, 2}, n;
    ok(gnnc_run_backward(z->b.run, 1, z->all));
    refused(gnnc_run_gradient(z->b.run, "more", &g), GNNC_ERROR_USAGE, "has no gradient 'more'");
    float *without = copy(z->b.run, "x", &n);
    more = tensor(data, 2, rows, kDLFloat, 32);
    ok(gnnc_run_bind(z->b.run, "more", &more));
    ok(gnnc_run_forward(z->b.run));
    ok(gnnc_run_backward(z->b.run, 1, z->all));
    float *with = copy(z->b.run, "more", &n);
    ck_assert_int_eq(n, 2 * NODES);
    for (int v = 0; v < NODES; v++) ck_assert_float_eq(with[2 * v], z->ct[0][v * C]);
    float *x = copy(z->b.run, "x", &n);
    ck_assert_float_eq_tol(x[0], without[0] + z->ct[0][2], 1e-5f);
    free(with);
    free(without);
    free(x);
    strike(z);
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
    DLTensor weight = tensor(z->w.w, 1, z->w.edges, kDLFloat, 32), g;
    gnnc_compile_options o = {.edge_weights = true, .gradients = samples[0].gradients};
    gnnc_status *s = gnnc_context_new(&z->context, &l.context);
    if (!s) s = life_begin(&l, samples[0].text, o, &z->w, false);
    if (!s) s = gnnc_run_bind(l.run, "g.weight", &weight);
    if (!s) s = gnnc_run_forward(l.run);
    if (!s) s = gnnc_run_backward(l.run, 0, NULL);
    if (!s) s = gnnc_run_gradient(l.run, "g.weight", &g);
    if (!s) s = gnnc_run_gradient(l.run, "x", &g);
    if (!s) s = gnnc_run_backward(l.run, 0, NULL);
    life_end(&l);
    return s;
}

START_TEST(memory)
{
    poor z = {.w = make_world(4, 25, 60)};
    z.context = (gnnc_context_options){.size = sizeof z.context,
                                       .cache = GNNC_CACHE_NONE,
                                       .allocate = take,
                                       .release = give,
                                       .user = &z.p};
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
        tcase_add_loop_test(t, differences, 0, 4 * SAMPLES);
        tcase_add_test(t, passes);
        tcase_add_test(t, twice);
        tcase_add_test(t, threads);
        tcase_add_test(t, sizes);
        tcase_add_test(t, shapes);
        tcase_add_test(t, refuses_to_run);
        tcase_add_test(t, weights_that_change);
        tcase_add_test(t, left_out);
        tcase_add_test(t, memory);
    }
    tcase_add_test(t, refuses_to_compile);
    tcase_set_timeout(t, 120);
    return RUN_CASES("api_gradient", t);
}
