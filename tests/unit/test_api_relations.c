/* Data of several types of rows through the public API: compiled, bound, run and trained; what does
 * not fit. */
/* timeout: 120 */
#include "unit/api_memory.h"
#include "unit/api_world.h"

#include <math.h>
#include <unistd.h>

/* Papers and their authors: what authors write is summed up with what papers cite. */
static const char
    typed[] = "model T() (cites: node.paper -> node.paper, writes: node.author -> node.paper,\n"
              "           x: node.paper[2], z: node.author[3], year: edge.writes of int) -> "
              "node.paper[2] {\n"
              "  param emb: node.author[2] = constant(0.5)\n  param when: year[2] = constant(2.0)\n"
              "  l = Linear(2, bias = false)\n"
              "  return sum(u -> v in cites: x[u]) + sum(u -> v in writes: l(z)[u] + emb[u] * "
              "when[year])\n"
              "}\n"
              "train T {\n  loss = mean((T(cites, writes, x, z, year) - 1)^2)\n  optimizer = "
              "sgd(lr = 0.1)\n}\n";

enum { PAPERS = 3, AUTHORS = 2, CITES = 2, WRITES = 4, YEARS = 2 };

static int64_t two[] = {2}, three[] = {3};
static const gnnc_space spaces[] = {{sizeof(gnnc_space), "paper", -1},
                                    {sizeof(gnnc_space), "author", AUTHORS}};
static const gnnc_relation relations[] = {{sizeof(gnnc_relation), "cites", "paper", "paper", 0},
                                          {sizeof(gnnc_relation), "writes", "author", "paper", 0}};
static const gnnc_column columns[] = {
    {sizeof(gnnc_column), "paper.x", {kDLFloat, 32, 1}, 1, two, 0},
    {sizeof(gnnc_column), "author.z", {kDLFloat, 32, 1}, 1, three, 0},
    {sizeof(gnnc_column), "writes.year", {kDLInt, 32, 1}, 0, NULL, YEARS}};

static int32_t cites_src[] = {0, 1}, cites_dst[] = {1, 2}, writes_src[] = {1, 0, 1, 0},
               writes_dst[] = {2, 0, 0, 2}, year[] = {1, 0, 0, 1};
static float x[PAPERS * 2] = {1, 2, 3, 4, 5, 6}, z[AUTHORS * 3] = {1, 0, 2, 0, 1, 1};

static gnnc_compile_options options(void)
{
    return (gnnc_compile_options){.size = sizeof(gnnc_compile_options),
                                  .train = true,
                                  .spaces = spaces,
                                  .n_spaces = 2,
                                  .relations = relations,
                                  .n_relations = 2,
                                  .columns = columns,
                                  .n_columns = 3};
}

static bench open_with(const char *text, gnnc_compile_options o)
{
    bench b;
    gnnc_run_options ro = {.size = sizeof ro, .threads = 2};
    ok(gnnc_module_parse(NULL, text, strlen(text), "t.gnn", &b.module));
    ok(gnnc_compile(b.module, &o, &b.exe));
    ok(gnnc_state_new(b.exe, 7, &b.state));
    ok(gnnc_run_new(b.exe, b.state, &ro, &b.run));
    return b;
}

static void bind_edges(gnnc_run *r, const char *name, int64_t n_src, int64_t n_dst, int64_t n,
                       const int32_t *src, const int32_t *dst)
{
    gnnc_graph *g;
    ok(gnnc_relation_from_coo(NULL, n_src, n_dst, n, GNNC_INT32, src, dst, &g));
    ok(gnnc_run_bind_relation(r, name, g));
    gnnc_graph_free(g);
}

static void bind_columns(gnnc_run *r)
{
    int64_t papers[] = {PAPERS, 2}, authors[] = {AUTHORS, 3}, edges[] = {WRITES};
    DLTensor t = tensor(x, 2, papers, kDLFloat, 32);
    ok(gnnc_run_bind(r, "paper.x", &t));
    t = tensor(z, 2, authors, kDLFloat, 32);
    ok(gnnc_run_bind(r, "z", &t)); /* the model's own name for it */
    t = tensor(year, 1, edges, kDLInt, 32);
    ok(gnnc_run_bind(r, "year", &t));
}

static void bind_all(gnnc_run *r)
{
    bind_edges(r, "cites", PAPERS, PAPERS, CITES, cites_src, cites_dst);
    bind_edges(r, "writes", AUTHORS, PAPERS, WRITES, writes_src, writes_dst);
    bind_columns(r);
}

static float weight(bench *b, const char *name, int64_t rows, int64_t cols, int64_t i, int64_t j)
{
    DLTensor view;
    int64_t room[16];
    ok(gnnc_state_weight_named(b->state, name, &view, room));
    ck_assert_msg(view.ndim == 2 && view.shape[0] == rows && view.shape[1] == cols, "%s", name);
    return ((const float *)view.data)[i * view.strides[0] + j * view.strides[1]];
}

/* As the text says it. */
static void expect_result(bench *b, const float *out)
{
    float want[PAPERS * 2] = {0};
    for (int e = 0; e < CITES; e++)
        for (int k = 0; k < 2; k++) want[2 * cites_dst[e] + k] += x[2 * cites_src[e] + k];
    for (int e = 0; e < WRITES; e++)
        for (int k = 0; k < 2; k++) {
            float sum = weight(b, "emb", AUTHORS, 2, writes_src[e], k) *
                        weight(b, "when", YEARS, 2, year[e], k);
            for (int j = 0; j < 3; j++)
                sum += z[3 * writes_src[e] + j] * weight(b, "l.weight", 2, 3, k, j);
            want[2 * writes_dst[e] + k] += sum;
        }
    for (int k = 0; k < PAPERS * 2; k++)
        ck_assert_msg(fabsf(out[k] - want[k]) < 1e-5f, "%d: %g, not %g", k, (double)out[k],
                      (double)want[k]);
}

START_TEST(infers_and_trains)
{
    bench b = open_with(typed, options());
    DLTensor out;
    double loss, first = 0;
    bind_all(b.run);
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(out.ndim == 2 && out.shape[0] == PAPERS && out.shape[1] == 2);
    expect_result(&b, out.data);
    for (int k = 0; k < 20; k++) {
        ok(gnnc_run_step(b.run, &loss));
        if (k == 0) first = loss;
    }
    ck_assert_msg(loss < first / 2, "%g to %g", first, loss);
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    expect_result(&b, out.data);
    ck_assert_int_gt(gnnc_run_bytes(b.run), 0);
    tear_down(&b);
}
END_TEST

/* Another relation, with other papers, at any time. */
START_TEST(other_sizes)
{
    bench b = open_with(typed, options());
    static float more[4 * 2];
    int64_t papers[] = {4, 2};
    DLTensor out, t = tensor(more, 2, papers, kDLFloat, 32);
    bind_all(b.run);
    ok(gnnc_run_infer(b.run));
    bind_edges(b.run, "writes", AUTHORS, 4, WRITES, writes_src, writes_dst);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA,
            "graph 'writes' has 4 destinations, expected 3");
    bind_edges(b.run, "cites", 4, 4, CITES, cites_src, cites_dst);
    ok(gnnc_run_bind(b.run, "x", &t));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(out.shape[0] == 4);
    ck_assert(((float *)out.data)[6] == 0 && ((float *)out.data)[0] != 0);
    tear_down(&b);
}
END_TEST

/* As many edges, which lead elsewhere: data on edges go with them. */
START_TEST(other_edges)
{
    bench b = open_with(typed, options());
    DLTensor out;
    bind_all(b.run);
    for (int k = 0; k < 3; k++) ok(gnnc_run_step(b.run, NULL)); /* years are told apart */
    for (int turn = 0; turn < 2; turn++) {
        int32_t first = writes_dst[0];
        for (int e = 0; e < WRITES - 1; e++) writes_dst[e] = writes_dst[e + 1];
        writes_dst[WRITES - 1] = first;
        bind_edges(b.run, "writes", AUTHORS, PAPERS, WRITES, writes_src, writes_dst);
        ok(gnnc_run_infer(b.run));
        ok(gnnc_run_output(b.run, "out", &out));
        expect_result(&b, out.data);
    }
    tear_down(&b);
}
END_TEST

START_TEST(weights_are_saved)
{
    bench b = open_with(typed, options()), c = open_with(typed, options());
    char path[] = "relations-XXXXXX.safetensors";
    snprintf(path, sizeof path, "relations-%06d.safetensors", (int)_i);
    bind_all(b.run);
    ok(gnnc_run_step(b.run, NULL));
    ok(gnnc_state_save(b.state, path));
    ok(gnnc_state_load(c.state, path));
    remove(path);
    for (int v = 0; v < AUTHORS; v++) {
        float was = weight(&b, "emb", AUTHORS, 2, v, 0);
        ck_assert(was != 0.5f && was == weight(&c, "emb", AUTHORS, 2, v, 0));
    }
    tear_down(&b);
    tear_down(&c);
}
END_TEST

/* One graph, whose edges have kinds: a relation of each is a family. */
START_TEST(a_graph_and_families)
{
    static const char text
        [] = "model R() (g: graph, gs: each graph, x: node[F], kind: edge of int) -> node[C] {\n"
             "  ls = [Linear(C) for r in gs]\n  param w: kind[C] = constant(1.0)\n"
             "  return sum([sum(u -> v in r: ls[r](x)[u]) for r in gs]) + sum(u -> v in g: "
             "w[kind])\n}\n";
    static const gnnc_relation two_kinds[] = {{sizeof(gnnc_relation), "likes", "node", "node", 0},
                                              {sizeof(gnnc_relation), "hates", "node", "node", 0}};
    static const gnnc_column kind = {sizeof(gnnc_column), "g.kind", {kDLInt, 64, 1}, 0, NULL, 2};
    gnnc_compile_options o = {.size = sizeof o,
                              .features = F,
                              .classes = C,
                              .relations = two_kinds,
                              .n_relations = 2,
                              .columns = &kind,
                              .n_columns = 1};
    world w = make_world(3, 10, 30);
    bench b = open_with(text, o);
    static int64_t kinds[30];
    int64_t edges[] = {30};
    DLTensor t = x_of(&w), k = tensor(kinds, 1, edges, kDLInt, 64), out;
    for (int e = 0; e < 30; e++) kinds[e] = e % 2;
    ok(gnnc_run_bind(b.run, "x", &t));
    ok(gnnc_run_bind(b.run, "kind", &k));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "no graph is bound");
    ok(gnnc_run_bind_relation(b.run, "g", w.g));
    ok(gnnc_run_bind_relation(b.run, "likes", w.g));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "relation 'hates' is not bound");
    ok(gnnc_run_bind_relation(b.run, "hates", w.g));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(out.shape[0] == 10 && out.shape[1] == C);
    kinds[0] = 2;
    ok(gnnc_run_bind(b.run, "g.kind", &k));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "is 2, out of range: there are 2 rows");
    end_world(&w);
    tear_down(&b);
}
END_TEST

static void refused_with(gnnc_compile_options o, const char *words)
{
    gnnc_module *m;
    gnnc_executable *e;
    ok(gnnc_module_parse(NULL, typed, strlen(typed), "t.gnn", &m));
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, words);
    gnnc_module_free(m);
}

#define REFUSED(words, ...)                                                                        \
    do {                                                                                           \
        gnnc_compile_options o = options();                                                        \
        __VA_ARGS__;                                                                               \
        refused_with(o, words);                                                                    \
    } while (0)

START_TEST(schemas_that_make_no_sense)
{
    static const gnnc_space no_name[] = {{sizeof(gnnc_space), NULL, 1}},
                            dot[] = {{sizeof(gnnc_space), "a.b", 1}},
                            less[] = {{sizeof(gnnc_space), "a", -2}},
                            twice[] = {{sizeof(gnnc_space), "a", 1}, {sizeof(gnnc_space), "a", 1}};
    static const gnnc_relation no_end[] = {{sizeof(gnnc_relation), "r", "paper", NULL, 0}},
                               other[] = {{sizeof(gnnc_relation), "r", "papre", "author", 0}},
                               many[] = {{sizeof(gnnc_relation), "r", "paper", "paper", 0},
                                         {sizeof(gnnc_relation), "r", "paper", "paper", 0}},
                               taken[] = {{sizeof(gnnc_relation), "paper", "paper", "paper", 0}},
                               few[] = {{sizeof(gnnc_relation), "r", "paper", "paper", -1}},
                               own[] = {{sizeof(gnnc_relation), "g", "paper", "paper", 0}};
    static const gnnc_column
        plain_name[] = {{sizeof(gnnc_column), "year", {kDLInt, 32, 1}, 0, NULL, 0}},
        nothing[] = {{sizeof(gnnc_column), "book.x", {kDLInt, 32, 1}, 0, NULL, 0}},
        half[] = {{sizeof(gnnc_column), "paper.x", {kDLFloat, 16, 1}, 0, NULL, 0}},
        deep[] = {{sizeof(gnnc_column), "paper.x", {kDLFloat, 32, 1}, 9, two, 0}},
        no_shape[] = {{sizeof(gnnc_column), "paper.x", {kDLFloat, 32, 1}, 1, NULL, 0}},
        rows[] = {{sizeof(gnnc_column), "paper.x", {kDLFloat, 32, 1}, 0, NULL, 4}};
    static const int64_t zero[] = {0};
    static const gnnc_column no_columns[] = {
        {sizeof(gnnc_column), "paper.x", {kDLFloat, 32, 1}, 1, zero, 0}};
    REFUSED("`spaces` is NULL", o.spaces = NULL);
    REFUSED("`spaces[0]` has no name", o.spaces = no_name, o.n_spaces = 1);
    REFUSED("'a.b': such a name has no dot", o.spaces = dot, o.n_spaces = 1);
    REFUSED("space 'a' has -2 rows", o.spaces = less, o.n_spaces = 1);
    REFUSED("two spaces 'a'", o.spaces = twice);
    REFUSED("relation 'r' has no `dst`", o.relations = no_end, o.n_relations = 1);
    REFUSED("`src` is 'papre', which is no space; did you mean 'paper'?", o.relations = other,
            o.n_relations = 1);
    REFUSED("two relations or spaces 'r'", o.relations = many);
    REFUSED("two relations or spaces 'paper'", o.relations = taken, o.n_relations = 1);
    REFUSED("expect_edges is -1", o.relations = few, o.n_relations = 1);
    REFUSED("relation 'g' goes from 'paper' to 'paper'", o.relations = own, o.n_relations = 1);
    REFUSED("`columns[0]` is called 'year'; a name is like 'paper.year'", o.columns = plain_name,
            o.n_columns = 1);
    REFUSED("'book' is no space and no relation", o.columns = nothing, o.n_columns = 1);
    REFUSED("column 'paper.x' is of type 2, 16 bits", o.columns = half, o.n_columns = 1);
    REFUSED("rows of 9 dimensions", o.columns = deep, o.n_columns = 1);
    REFUSED("`shape` is NULL", o.columns = no_shape, o.n_columns = 1);
    REFUSED("values is 4, of f32", o.columns = rows, o.n_columns = 1);
    REFUSED("dimension 0 of a row is 0", o.columns = no_columns, o.n_columns = 1);
    REFUSED("`labelled` is 'papers'", o.labelled = "papers");
    REFUSED("`dynamic` does not go with spaces, relations and columns: programs hold no numbers",
            o.dynamic = "auto");
    REFUSED("one serves all: leave it out", o.buckets = "pow2");
    REFUSED("bind them as they are", o.sparse = true, o.features = 3);
    REFUSED("`rows` does not go with spaces, relations and columns: all rows", o.rows = "needed");
    REFUSED("'papers' is no space and no relation; did you mean 'paper'?",
            o.ranges = "papers in 1..2");
    REFUSED("'wri' is no space and no relation", o.ranges = "wri in 1..2");
    REFUSED("'paper 1..2' is no range of sizes, such as 'paper in", o.ranges = "paper 1..2");
    REFUSED("writes in 2..1: the range ends before it begins", o.ranges = "writes in 2..1");
    REFUSED("space 'author' has 2 rows, and `ranges` has 3..9", o.ranges = "author in 3..9");
    static const gnnc_space unsized[] = {{.name = "paper"}},
                            other_size[] = {{sizeof(gnnc_space), "paper", -1}, {1, "author", 2}};
    REFUSED("`spaces[0]`: options have size 0", o.spaces = unsized, o.n_spaces = 1);
    REFUSED("`spaces[1]` has size 1, and `spaces[0]` has", o.spaces = other_size);
    gnnc_compile_options none = {.size = sizeof none};
    refused_with(none, "features is 0");
}
END_TEST

static void expect_inference(bench *b)
{
    DLTensor out;
    ok(gnnc_run_infer(b->run));
    ok(gnnc_run_output(b->run, "out", &out));
    ck_assert(out.ndim == 2 && out.shape[0] == PAPERS && out.shape[1] == 2);
    expect_result(b, out.data);
}

/* Elements of a newer header are wider: what this one does not have is to be 0. */
START_TEST(tables_of_another_size)
{
    typedef struct newer {
        gnnc_space old;
        int64_t unknown;
    } newer;
    newer wide[] = {{{sizeof(newer), "paper", -1}, 0}, {{sizeof(newer), "author", AUTHORS}, 0}};
    gnnc_compile_options o = options();
    o.spaces = &wide[0].old;
    bench b = open_with(typed, o);
    bind_all(b.run);
    expect_inference(&b);
    tear_down(&b);
    wide[1].unknown = 1;
    refused_with(o, "`spaces[1]`: options have size");
}
END_TEST

/* One program for all numbers between bounds; what is outside is refused, and bounds are no part of
 * what is computed. */
START_TEST(ranges_by_name)
{
    static int32_t none[8];
    gnnc_compile_options o = options();
    gnnc_executable_info info = {.size = sizeof info};
    o.ranges = "paper in 2..4, writes in 1.., cites in ..3";
    bench b = open_with(typed, o);
    for (int again = 0; again < 2; again++) {
        bind_all(b.run);
        expect_inference(&b);
        bind_edges(b.run, "cites", PAPERS, PAPERS, 4, none, none);
        refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA,
                "relation 'cites' has 4 edges, declared to be in 0..3");
        bind_edges(b.run, "cites", 5, 5, 0, NULL, NULL);
        refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA,
                "relation 'cites' has 5 rows of 'paper', declared to be in 2..4");
        bind_edges(b.run, "cites", PAPERS, PAPERS, 0, NULL, NULL);
        bind_edges(b.run, "writes", AUTHORS, PAPERS, 0, NULL, NULL);
        refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA,
                "relation 'writes' has 0 edges, declared to be 1 or more");
    }
    gnnc_executable_describe(b.exe, &info);
    ck_assert_int_eq(info.programs, 1);
    tear_down(&b);
}
END_TEST

/* Schedules are chosen on the relations that are bound, kept in a lock, and refused for others. */
START_TEST(schedules_of_a_schema)
{
    char path[] = "/tmp/gnnc-schema-lock-XXXXXX";
    int file = mkstemp(path);
    gnnc_compile_options o = options(), locked = o;
    gnnc_tuning_info info = {.size = sizeof info};
    ck_assert_int_ge(file, 0);
    close(file);
    o.mode = "max-autotune";
    o.tune_budget_ms = 20;
    bench b = open_with(typed, o);
    bind_all(b.run);
    expect_inference(&b);
    ok(gnnc_executable_tuning(b.exe, 0, false, &info));
    ck_assert(info.known && info.default_us > 0);
    ok(gnnc_executable_lock(b.exe, path));
    locked.tune_lock = path;
    bench c = open_with(typed, locked);
    bind_all(c.run);
    expect_inference(&c);
    bench d = open_with(typed, locked);
    bind_all(d.run);
    bind_edges(d.run, "cites", PAPERS, PAPERS, 0, NULL, NULL);
    refused(gnnc_run_infer(d.run), GNNC_ERROR_DATA, "cites 3 -> 3 of 0");
    unlink(path);
    tear_down(&d);
    tear_down(&c);
    tear_down(&b);
}
END_TEST

START_TEST(bindings_that_do_not_fit)
{
    bench b = open_with(typed, options());
    gnnc_graph *g;
    int64_t rows[] = {WRITES + 1}, wide[] = {AUTHORS, 4};
    static int32_t more[WRITES + 1];
    static float four[AUTHORS * 4];
    DLTensor t = tensor(more, 1, rows, kDLInt, 32);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "is not bound");
    bind_columns(b.run);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "relation 'cites' is not bound");
    bind_all(b.run);
    ok(gnnc_relation_from_coo(NULL, 3, 2, 0, GNNC_INT32, NULL, NULL, &g));
    refused(gnnc_run_bind_relation(b.run, "write", g), GNNC_ERROR_USAGE,
            "has no relation 'write'; did you mean 'writes'?; it has cites, writes");
    refused(gnnc_run_bind_graph(b.run, g), GNNC_ERROR_DATA, "3 sources and 2 destinations");
    refused(gnnc_run_bind_relation(b.run, "cites", g), GNNC_ERROR_DATA,
            "relation 'cites' has 3 sources and 2 destinations, which are rows of 'paper' both");
    ok(gnnc_run_bind_relation(b.run, "writes", g)); /* which is turned round */
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA,
            "relation 'writes' has 3 rows of 'author', expected 2");
    gnnc_graph_free(g);
    bind_edges(b.run, "writes", AUTHORS, PAPERS, 0, NULL, NULL);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "4 rows, the relation has 0 edges");
    bind_all(b.run);
    ok(gnnc_run_bind(b.run, "writes.year", &t));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "5 rows, the relation has 4 edges");
    t = tensor(four, 2, wide, kDLFloat, 32);
    refused(gnnc_run_bind(b.run, "author.z", &t), GNNC_ERROR_DATA, "expected 3");
    ck_assert_int_eq(gnnc_graph_nodes(NULL), 0);
    tear_down(&b);
}
END_TEST

/* As many rows as parameters have one for. */
START_TEST(rows_of_parameters)
{
    bench b = open_with(typed, options());
    int64_t rows[] = {AUTHORS + 1, 3};
    static float more[(AUTHORS + 1) * 3];
    DLTensor t = tensor(more, 2, rows, kDLFloat, 32);
    bind_all(b.run);
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_bind(b.run, "author.z", &t));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA,
            "input 'author.z' has 3 rows of 'author', expected 2: parameter 'emb' has a row for "
            "each");
    bind_edges(b.run, "writes", AUTHORS + 1, PAPERS, WRITES, writes_src, writes_dst);
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_DATA,
            "relation 'writes' has 3 rows of 'author', expected 2");
    bind_all(b.run);
    ok(gnnc_run_infer(b.run));
    tear_down(&b);
}
END_TEST

static void refused_model(const char *text, gnnc_compile_options o, const char *words)
{
    gnnc_module *m;
    gnnc_executable *e;
    ok(gnnc_module_parse(NULL, text, strlen(text), "t.gnn", &m));
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_MODEL, words);
    gnnc_module_free(m);
}

/* A model says what the data have not. */
START_TEST(models_that_do_not_fit)
{
    gnnc_compile_options o = options();
    static const gnnc_space open[] = {{sizeof(gnnc_space), "paper", -1},
                                      {sizeof(gnnc_space), "author", -1}};
    refused_model("model T() (write: node.author -> node.paper) -> node.paper {\n"
                  "  return sum(u -> v in write: 1)\n}\n",
                  o, "write");
    refused_model("model T() (writes: node.paper -> node.author) -> node.author {\n"
                  "  return sum(u -> v in writes: 1)\n}\n",
                  o, "node.author -> node.paper");
    refused_model("model T() (y: node.author[3]) -> node.author[3] {\n  return y\n}\n", o, "y");
    refused_model("model T() (z: node.author[4]) -> node.author[4] {\n  return z\n}\n", o, "4");
    o.spaces = open;
    refused_model(typed, o, "author");
}
END_TEST

/* The graph's edges are read without a message; and the graph is only nodes. */
START_TEST(edges_alone_and_nodes_alone)
{
    static const char
        edges_alone[] = "model E() (g: graph, w: edge[2]) -> edge[2] {\n  return w\n}\n",
        mean_of_edges[] = "model E() (g: graph, x: node[F], w: edge[2]) -> node[F] {\n"
                          "  return x * mean(w)\n}\n",
        nodes_alone[] = "model N() (g: graph, x: node[F], k: node of int) -> node[F] {\n"
                        "  param v: k[F] = constant(1.5)\n  return x * v[k]\n}\n";
    static const gnnc_column of_edges = {sizeof(gnnc_column), "g.w", {kDLFloat, 32, 1}, 1, two, 0},
                             of_nodes = {
                                 sizeof(gnnc_column), "node.k", {kDLInt, 32, 1}, 0, NULL, 4};
    static const gnnc_space ten = {sizeof(gnnc_space), "node", 10};
    gnnc_compile_options o = {.size = sizeof o,
                              .features = F,
                              .spaces = &ten,
                              .n_spaces = 1,
                              .columns = &of_edges,
                              .n_columns = 1};
    world w = make_world(3, 10, 30), more = make_world(4, 17, 0);
    static int32_t four[30];
    static float pairs[60] = {[59] = 3};
    int64_t edges[] = {30, 2};
    DLTensor t = tensor(pairs, 2, edges, kDLFloat, 32), out, of = x_of(&w);
    bench b = open_with(edges_alone, o);
    ok(gnnc_run_bind(b.run, "w", &t));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "no graph is bound");
    ok(gnnc_run_bind_graph(b.run, w.g));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(out.shape[0] == 30 && ((float *)out.data)[59] == 3);
    tear_down(&b);
    b = open_with(mean_of_edges, o);
    ok(gnnc_run_bind(b.run, "w", &t));
    ok(gnnc_run_bind(b.run, "x", &of));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "no graph is bound");
    ok(gnnc_run_bind_graph(b.run, w.g));
    ok(gnnc_run_infer(b.run));
    tear_down(&b);
    o.columns = &of_nodes;
    b = open_with(nodes_alone, o);
    t = tensor(four, 1, w.rows, kDLInt, 32);
    ok(gnnc_run_bind(b.run, "k", &t));
    ok(gnnc_run_bind(b.run, "x", &of));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(out.shape[0] == 10 && ((float *)out.data)[F] == w.x[F] * 1.5f);
    t = tensor(four, 1, more.rows, kDLInt, 32);
    of = x_of(&more);
    ok(gnnc_run_bind(b.run, "x", &of));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "expected");
    ok(gnnc_run_bind(b.run, "k", &t));
    ok(gnnc_run_infer(b.run));
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(out.shape[0] == 17);
    tear_down(&b);
    end_world(&w);
    end_world(&more);
}
END_TEST

/* Everything that a run does with the model, ended by what fails first. */
static gnnc_status *compute(const gnnc_context *c, const bench *b)
{
    gnnc_run *r = NULL;
    gnnc_graph *g[2] = {NULL, NULL};
    int64_t papers[] = {PAPERS, 2}, authors[] = {AUTHORS, 3}, edges[] = {WRITES};
    DLTensor of[] = {tensor(x, 2, papers, kDLFloat, 32), tensor(z, 2, authors, kDLFloat, 32),
                     tensor(year, 1, edges, kDLInt, 32)};
    gnnc_status *s = gnnc_run_new(b->exe, b->state, NULL, &r);
    if (!s)
        s = gnnc_relation_from_coo(c, PAPERS, PAPERS, CITES, GNNC_INT32, cites_src, cites_dst,
                                   &g[0]);
    if (!s)
        s = gnnc_relation_from_coo(c, AUTHORS, PAPERS, WRITES, GNNC_INT32, writes_src, writes_dst,
                                   &g[1]);
    for (int k = 0; k < 2 && !s; k++) s = gnnc_run_bind_relation(r, relations[k].name, g[k]);
    for (int k = 0; k < 3 && !s; k++) s = gnnc_run_bind(r, columns[k].name, &of[k]);
    if (!s) s = gnnc_run_infer(r);
    if (!s) s = gnnc_run_step(r, NULL);
    for (int k = 0; k < 2; k++) gnnc_graph_free(g[k]);
    gnnc_run_free(r);
    return s;
}

START_TEST(memory_runs_out)
{
    purse p = {0};
    gnnc_context *c;
    gnnc_context_options co = {
        .size = sizeof co, .cache = GNNC_CACHE_NONE, .allocate = take, .release = give, .user = &p};
    gnnc_compile_options o = options();
    bench b = {0};
    gnnc_status *s;
    int failed = -1;
    ok(gnnc_context_new(&co, &c));
    ok(gnnc_module_parse(c, typed, strlen(typed), "t.gnn", &b.module));
    ok(gnnc_compile(b.module, &o, &b.exe));
    ok(gnnc_state_new(b.exe, 7, &b.state));
    do {
        int64_t before = p.blocks;
        p.fuse = ++failed + 1;
        s = compute(c, &b);
        p.fuse = 0;
        ck_assert_int_eq(p.blocks, before);
        if (s) refused(s, GNNC_ERROR_MEMORY, "");
    } while (s);
    ck_assert_int_gt(failed, 20);
    tear_down(&b);
    gnnc_context_free(c);
    ck_assert_int_eq(p.blocks, 0);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("relations");
    tcase_add_test(c, schemas_that_make_no_sense);
    tcase_add_test(c, models_that_do_not_fit);
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(c, infers_and_trains);
        tcase_add_test(c, other_sizes);
        tcase_add_test(c, other_edges);
        tcase_add_test(c, weights_are_saved);
        tcase_add_test(c, a_graph_and_families);
        tcase_add_test(c, tables_of_another_size);
        tcase_add_test(c, ranges_by_name);
        tcase_add_test(c, schedules_of_a_schema);
        tcase_add_test(c, bindings_that_do_not_fit);
        tcase_add_test(c, rows_of_parameters);
        tcase_add_test(c, memory_runs_out);
        tcase_add_test(c, edges_alone_and_nodes_alone);
    }
    tcase_set_timeout(c, 100);
    return RUN_CASES("api, relations", c);
}
