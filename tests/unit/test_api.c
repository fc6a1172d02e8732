/* The public API: what gnnc.h says, as a program that embeds gnnc sees it. */
/* timeout: 240 */
#include "unit/api_world.h"

#include "runtime/memory.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Any graph after any other, with one executable: as if it had been the first. */
START_TEST(shapes)
{
    static const int sizes[][2] = {{6, 9},  {0, 0},      {1, 0},   {1, 3},
                                   {40, 0}, {300, 2000}, {17, 40}, {300, 2000}};
    for (int sparse = 0; sparse < 2; sparse++) {
        bench b = set_up(plain, (gnnc_compile_options){.sparse = sparse}, 2);
        for (size_t k = 0; k < 200; k++) {
            uint32_t seed = (uint32_t)k;
            int n = k < 8 ? sizes[k][0] : (int)(draw(&seed) % 200),
                e = k < 8 ? sizes[k][1] : (int)(draw(&seed) % 900);
            world w = make_world((uint32_t)k + 1, n, e);
            bind_world(b.run, &w, false);
            float *got = infer(b.run, n), *want;
            gnnc_run *fresh;
            ok(gnnc_run_new(b.exe, b.state, NULL, &fresh));
            bind_world(fresh, &w, false);
            want = infer(fresh, n);
            ck_assert(memcmp(got, want, (size_t)n * C * sizeof *got) == 0);
            gnnc_run_free(fresh);
            free(got);
            free(want);
            /* borrowed data is gone before the next is bound */
            end_world(&w);
        }
        ck_assert(gnnc_run_bytes(b.run) < 1 << 20);
        tear_down(&b);
    }
}
END_TEST

/* x as it is, by its non-zeros, with strides, changed in place, at another address: the same
 * scores. */
START_TEST(features)
{
    bench dense = set_up(plain, (gnnc_compile_options){0}, 1),
          sparse = set_up(plain, (gnnc_compile_options){.sparse = true}, 1);
    world w = make_world(3, 50, 200);
    bind_world(dense.run, &w, false);
    bind_world(sparse.run, &w, false);
    float *want = infer(dense.run, w.n), *got = infer(sparse.run, w.n);
    for (int k = 0; k < w.n * C; k++)
        ck_assert(got[k] - want[k] < 1e-5f && want[k] - got[k] < 1e-5f);
    free(got);

    int64_t row[51] = {0};
    int32_t column[50 * F];
    float value[50 * F];
    for (int v = 0; v < w.n; v++) {
        row[v + 1] = row[v];
        for (int k = 0; k < F; k++)
            if (w.x[v * F + k] != 0) {
                column[row[v + 1]] = k;
                value[row[v + 1]++] = w.x[v * F + k];
            }
    }
    ok(gnnc_run_bind_csr(sparse.run, w.n, row, column, value));
    got = infer(sparse.run, w.n);
    for (int k = 0; k < w.n * C; k++)
        ck_assert(got[k] - want[k] < 1e-5f && want[k] - got[k] < 1e-5f);
    free(got);
    refused(gnnc_run_bind_csr(dense.run, w.n, row, column, value), GNNC_ERROR_USAGE, "sparse");
    row[4] = 1 << 20;
    refused(gnnc_run_bind_csr(sparse.run, w.n, row, column, value), GNNC_ERROR_DATA, "row");

    float *columns = calloc(50 * F, sizeof *columns), *moved = calloc(50 * F, sizeof *moved);
    for (int v = 0; v < w.n; v++)
        for (int k = 0; k < F; k++) columns[k * w.n + v] = w.x[v * F + k];
    int64_t strides[2] = {1, w.n};
    DLTensor x = tensor(columns, 2, w.rows, kDLFloat, 32);
    x.strides = strides;
    ok(gnnc_run_bind(dense.run, "x", &x));
    got = infer(dense.run, w.n);
    ck_assert(memcmp(got, want, (size_t)w.n * C * sizeof *got) == 0);
    free(got);
    x = tensor(moved, 2, w.rows, kDLFloat, 32);
    ok(gnnc_run_bind(dense.run, "x", &x));
    memcpy(moved, w.x, 50 * F * sizeof *moved); /* after binding: it is read by the call */
    got = infer(dense.run, w.n);
    ck_assert(memcmp(got, want, (size_t)w.n * C * sizeof *got) == 0);
    free(got);
    free(want);
    free(columns);
    free(moved);
    end_world(&w);
    tear_down(&dense);
    tear_down(&sparse);
}
END_TEST

/* A column that stands twice in a row: its values are added, where x is read by its non-zeros and
 * where all of it is. */
START_TEST(repeats)
{
    static const char both
        [] = "model B() (g: graph, x: node[F]) -> node[C] {\n  a = GCNConv(C)\n  b = Linear(C)\n"
             "  return a(g, x) + b(relu(x))\n}\n";
    static const int64_t row[] = {0, 3, 3, 5}, once_row[] = {0, 2, 2, 3};
    static const int32_t column[] = {1, 4, 1, 0, 0}, once_column[] = {1, 4, 0};
    static const float value[] = {2, 1.5f, -0.5f, -3, 4}, once_value[] = {1.5f, 1.5f, 1};
    bench b = set_up(both, (gnnc_compile_options){.sparse = true}, 1);
    world w = make_world(9, 3, 7);
    ok(gnnc_run_bind_graph(b.run, w.g));
    ok(gnnc_run_bind_csr(b.run, 3, row, column, value));
    float *got = infer(b.run, 3);
    ok(gnnc_run_bind_csr(b.run, 3, once_row, once_column, once_value));
    float *want = infer(b.run, 3);
    for (int k = 0; k < 3 * C; k++) ck_assert(got[k] - want[k] < 1e-5f && want[k] - got[k] < 1e-5f);
    refused(gnnc_run_bind_csr(b.run, -1, row, column, value), GNNC_ERROR_USAGE,
            "x: a sparse matrix of -1 rows");
    refused(gnnc_run_bind_csr(b.run, 3, NULL, column, value), GNNC_ERROR_USAGE,
            "gnnc_run_bind_csr: `row` is NULL");
    refused(gnnc_run_bind_csr(b.run, 3, row, NULL, value), GNNC_ERROR_USAGE,
            "5 entries without their columns");
    free(got);
    free(want);
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* The bag of words that x of a world is made: where it has a number, one of the row; or 1. */
static void make_words(world *w, bool ones)
{
    for (int v = 0; v < w->n; v++)
        for (int k = 0; k < F; k++)
            if (w->x[v * F + k] != 0) w->x[v * F + k] = ones ? 1 : 0.25f + (float)v;
}

static char *passed(const bench *b)
{
    char *text;
    ok(gnnc_executable_emit(b->exe, "gir", &text));
    return text;
}

/* Programs that know that a row's values are equal compute what others do, in other words; what
 * they do not know is refused, and what was bound stays. */
START_TEST(bags_of_words)
{
    static const char *const kinds[] = {"any", "rows", "ones"};
    static const char
        train[] = "model M(hidden = 4) (g: graph, x: node[F]) -> node[C] {\n  a = GCNConv(hidden)\n"
                  "  b = GCNConv(C)\n  return b(g, relu(a(g, x)))\n}\n"
                  "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n  optimizer = "
                  "sgd(lr = 0.1)\n}\n";
    for (int ones = 0; ones < 2; ones++)
        for (int fixed = 0; fixed < 2; fixed++) {
            world w = make_world(5, 60, 240);
            make_words(&w, ones);
            bench b[3];
            double loss, want_loss = 0;
            float *want = NULL;
            for (int k = 0; k < 2 + ones; k++) {
                gnnc_compile_options o = {
                    .sparse = true, .sparse_values = kinds[k], .train = true, .fixed = fixed};
                b[k] = set_up(train, o, 1);
                bind_world(b[k].run, &w, true);
                for (int s = 0; s < 3; s++) ok(gnnc_run_step(b[k].run, &loss));
                float *got = infer(b[k].run, w.n);
                char *text = passed(&b[k]);
                ck_assert_int_eq(strstr(text, "row_value") != NULL, k == 1);
                ck_assert_int_eq(strstr(text, "= cell ") != NULL, k == 0);
                gnnc_text_free(text);
                if (!k) {
                    want = got;
                    want_loss = loss;
                    continue;
                }
                ck_assert_msg(fabs(loss - want_loss) < 1e-5 * fabs(want_loss),
                              "%s: loss %g, expected %g", kinds[k], loss, want_loss);
                for (int i = 0; i < w.n * C; i++)
                    ck_assert(fabsf(got[i] - want[i]) < 1e-4f * (1 + fabsf(want[i])));
                free(got);
            }
            for (int k = 0; k < 2 + ones; k++) tear_down(&b[k]);
            free(want);
            end_world(&w);
        }
}
END_TEST

START_TEST(other_words)
{
    static const int64_t row[] = {0, 1, 1, 3};
    static const int32_t column[] = {1, 4, 0}, twice[] = {1, 4, 4};
    static const float equal[] = {2, 3, 3}, other[] = {2, 3, 1}, none[] = {2, 3, 0},
                       ones[] = {1, 1, 1};
    const float unknown[] = {2, 3, (float)NAN}, alone[] = {(float)NAN, 3, 3};
    bench rows = set_up(plain, (gnnc_compile_options){.sparse = true, .sparse_values = "rows"}, 1),
          one = set_up(plain, (gnnc_compile_options){.sparse = true, .sparse_values = "ones"}, 1);
    world w = make_world(9, 3, 7);
    DLTensor x = x_of(&w);
    ok(gnnc_run_bind_graph(rows.run, w.g));
    ok(gnnc_run_bind_graph(one.run, w.g));
    ok(gnnc_run_bind_csr(rows.run, 3, row, column, equal));
    float *before = infer(rows.run, 3);
    refused(gnnc_run_bind_csr(rows.run, 3, row, column, other), GNNC_ERROR_DATA,
            "x: row 2 has 1, expected 3: compiled with sparse_values 'rows'");
    refused(gnnc_run_bind_csr(rows.run, 3, row, column, none), GNNC_ERROR_DATA,
            "x: row 2 has 0, expected 3");
    refused(gnnc_run_bind_csr(rows.run, 3, row, column, unknown), GNNC_ERROR_DATA,
            "x: row 2 has nan");
    refused(gnnc_run_bind_csr(rows.run, 3, row, column, alone), GNNC_ERROR_DATA,
            "x: row 0 has nan");
    w.x[0] = 1;
    w.x[1] = 2;
    refused(gnnc_run_bind(rows.run, "x", &x), GNNC_ERROR_DATA, "x: row 0 has 2, expected 1");
    float *after = infer(rows.run, 3);
    ck_assert(memcmp(before, after, 3 * C * sizeof *after) == 0);
    refused(gnnc_run_bind_csr(one.run, 3, row, column, equal), GNNC_ERROR_DATA,
            "x: row 0 has 2, expected 1: compiled with sparse_values 'ones'");
    refused(gnnc_run_bind_csr(one.run, 3, row, twice, ones), GNNC_ERROR_DATA,
            "x: row 2 has 2, expected 1");
    ok(gnnc_run_bind_csr(one.run, 3, row, column, NULL));
    ok(gnnc_run_infer(one.run));
    free(before);
    free(after);
    end_world(&w);
    tear_down(&rows);
    tear_down(&one);
}
END_TEST

/* Code that reads wide indices takes ordinary graphs too: the same scores, and the same graph is
 * not copied again. */
/* A result that is bound in the place of what it was made of is copied: the run's own memory for it
 * goes with that. */
START_TEST(results_as_data)
{
    static const char step[] = "model M() (g: graph, x: node[F]) -> node[F] {\n"
                               "  return sum(u -> v in g: x[u]) / 8 + x\n}\n";
    bench b = set_up(step, (gnnc_compile_options){0}, 1),
          want = set_up(step, (gnnc_compile_options){0}, 1);
    world w = make_world(3, 20, 60);
    float x[20 * F];
    int64_t shape[2] = {20, F};
    DLTensor out, data = tensor(x, 2, shape, kDLFloat, 32);
    bind_world(b.run, &w, false);
    bind_world(want.run, &w, false);
    for (int k = 0; k < 4; k++) {
        ok(gnnc_run_infer(want.run));
        ok(gnnc_run_output(want.run, "out", &out));
        memcpy(x, out.data, sizeof x);
        ok(gnnc_run_bind(want.run, "x", &data));
        ok(gnnc_run_infer(b.run));
        ok(gnnc_run_output(b.run, "out", &out));
        ck_assert(memcmp(x, out.data, sizeof x) == 0);
        ok(gnnc_run_bind(b.run, "x", &out));
    }
    end_world(&w);
    tear_down(&b);
    tear_down(&want);
}
END_TEST

START_TEST(wide_indices)
{
    for (int k = 0; k < 3; k++) {
        gnnc_compile_options o = {.sparse = k == 1, .train = k == 2};
        bench narrow = set_up(plain, o, 1);
        o.wide = true;
        bench broad = set_up(plain, o, 2);
        for (uint32_t seed = 1; seed < 4; seed++) {
            world w = make_world(seed, 20 + (int)seed, 70);
            gnnc_run_info info = {.size = sizeof info}, again = {.size = sizeof again};
            bind_world(narrow.run, &w, k == 2);
            bind_world(broad.run, &w, k == 2);
            for (int step = 0; k == 2 && step < 3; step++) {
                double a, b;
                ok(gnnc_run_step(narrow.run, &a));
                ok(gnnc_run_step(broad.run, &b));
                ck_assert_msg(a - b < 1e-6 && b - a < 1e-6, "losses %g and %g", a, b);
            }
            float *want = infer(narrow.run, w.n), *got = infer(broad.run, w.n);
            for (int i = 0; i < w.n * C; i++)
                ck_assert(got[i] - want[i] < 1e-5f && want[i] - got[i] < 1e-5f);
            gnnc_run_describe(broad.run, &info);
            ok(gnnc_run_bind_graph(broad.run, w.g));
            free(got);
            got = infer(broad.run, w.n);
            gnnc_run_describe(broad.run, &again);
            ck_assert_int_eq(info.bindings, again.bindings);
            if (k == 1) { /* x of one non-zero, in the first row */
                int64_t row[30] = {0};
                for (int v = 0; v < w.n; v++) row[v + 1] = 1;
                ok(gnnc_run_bind_csr(narrow.run, w.n, row, &(int32_t){2}, NULL));
                ok(gnnc_run_bind_csr(broad.run, w.n, row, &(int32_t){2}, NULL));
                float *a = infer(narrow.run, w.n), *b = infer(broad.run, w.n);
                for (int i = 0; i < w.n * C; i++)
                    ck_assert(a[i] - b[i] < 1e-5f && b[i] - a[i] < 1e-5f);
                ck_assert(memcmp(a, want, (size_t)w.n * C * sizeof *a) != 0);
                free(a);
                free(b);
            }
            free(got);
            free(want);
            end_world(&w); /* runs hold what they need of the graph */
        }
        tear_down(&narrow);
        tear_down(&broad);
    }
}
END_TEST

/* A result on edges of a derived graph: its own edges, those of the user's graph first, in the
 * user's order. */
START_TEST(edges_of_derived_graphs)
{
    static const char model[] = "model M() (g: graph, x: node[F]) -> edge[F] {\n  a = %s(g)\n"
                                "  return edge(u -> v in a: 10 * x[u] + x[v])\n}\n";
    static const char *const how[] = {"self_loops", "reverse"};
    char text[256];
    snprintf(text, sizeof text, model, how[_i]);
    bench b = set_up(text, (gnnc_compile_options){0}, 1);
    world w = make_world(5, 30, 90);
    bind_world(b.run, &w, false);
    ok(gnnc_run_infer(b.run));
    DLTensor out;
    ok(gnnc_run_output(b.run, "out", &out));
    ck_assert(out.ndim == 2 && out.shape[0] == w.e + (_i ? 0 : w.n) && out.shape[1] == F);
    for (int k = 0; k < out.shape[0]; k++) {
        int u = k < w.e ? w.src[k] : k - w.e, v = k < w.e ? w.dst[k] : k - w.e;
        float want = 10 * w.x[(_i ? v : u) * F] + w.x[(_i ? u : v) * F],
              got = ((float *)out.data)[k * F];
        ck_assert_msg(fabsf(got - want) < 1e-4F * (1 + fabsf(want)), "edge %d: %g, not %g", k,
                      (double)got, (double)want);
    }
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* Several results, by name and by number, alive together. */
START_TEST(results)
{
    static const char text[] = "model M() (g: graph, x: node[F]) -> (node[F], edge[F], [F]) {\n"
                               "  h = 2 * x\n"
                               "  e = edge(u -> v in g: 10 * x[u] + x[v])\n"
                               "  all = sum(x, over = node)\n"
                               "  return h, e, all\n}\n";
    static const char *const names[] = {"h", "e", "all"};
    gnnc_executable_info info = {.size = sizeof info};
    DLTensor out[3];
    const char *name;
    world w = make_world(8, 30, 70);
    bench b = set_up(text, (gnnc_compile_options){0}, 2);
    gnnc_executable_describe(b.exe, &info);
    ck_assert_int_eq(info.outputs, 3);
    refused(gnnc_run_output_at(b.run, 0, NULL, &out[0]), GNNC_ERROR_USAGE, "nothing was inferred");
    bind_world(b.run, &w, false);
    ok(gnnc_run_infer(b.run));
    for (int k = 0; k < 3; k++) {
        DLTensor again;
        ok(gnnc_run_output_at(b.run, k, &name, &out[k]));
        ck_assert_str_eq(name, names[k]);
        ok(gnnc_run_output(b.run, name, &again));
        ck_assert_ptr_eq(again.shape, out[k].shape);
    }
    ok(gnnc_run_output(b.run, "e", &out[1])); /* the copy is made anew */
    ck_assert(out[0].ndim == 2 && out[0].shape[0] == w.n && out[0].shape[1] == F);
    ck_assert(out[1].ndim == 2 && out[1].shape[0] == w.e && out[1].shape[1] == F);
    ck_assert(out[2].ndim == 1 && out[2].shape[0] == F);
    double sum[F] = {0};
    for (int k = 0; k < w.n * F; k++) {
        ck_assert_float_eq(((float *)out[0].data)[k], 2 * w.x[k]);
        sum[k % F] += (double)w.x[k];
    }
    for (int k = 0; k < F; k++)
        ck_assert_double_eq_tol((double)((float *)out[2].data)[k], sum[k], 1e-3);
    for (int k = 0; k < w.e; k++) {
        float want = 10 * w.x[w.src[k] * F] + w.x[w.dst[k] * F];
        ck_assert_float_eq_tol(((float *)out[1].data)[k * F], want, 1e-4F);
    }
    refused(gnnc_run_output(b.run, "out", &out[0]), GNNC_ERROR_USAGE, "h, e, all");
    refused(gnnc_run_output_at(b.run, 3, NULL, &out[0]), GNNC_ERROR_USAGE, "has no output 3");
    refused(gnnc_run_output_at(b.run, -1, NULL, &out[0]), GNNC_ERROR_USAGE, "has no output -1");
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* Weights of edges are given in the user's order, whatever the graph's; CSR and COO, 32 and 64 bits
 * are one graph. */
START_TEST(edges)
{
    bench b = set_up(weighted, (gnnc_compile_options){.edge_weights = true}, 1);
    world w = make_world(5, 30, 90);
    DLTensor weight = tensor(w.w, 1, w.edges, kDLFloat, 32), x = x_of(&w);
    bind_world(b.run, &w, false);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "'g.weight' is not bound");
    ok(gnnc_run_bind(b.run, "g.weight", &weight));
    float *want = infer(b.run, w.n);

    int64_t row[31] = {0}, src[90];
    float sorted[90];
    int at = 0;
    for (int v = 0; v < w.n; v++) {
        for (int k = 0; k < w.e; k++)
            if (w.dst[k] == v) {
                src[at] = w.src[k];
                sorted[at++] = w.w[k];
            }
        row[v + 1] = at;
    }
    gnnc_graph *g;
    ok(gnnc_graph_from_csr(NULL, w.n, GNNC_INT64, row, src, &g));
    ck_assert(gnnc_graph_nodes(g) == 30 && gnnc_graph_edges(g) == 90);
    ok(gnnc_run_bind_graph(b.run, g));
    weight.data = sorted;
    ok(gnnc_run_bind(b.run, "g.weight", &weight));
    ok(gnnc_run_bind(b.run, "x", &x));
    float *got = infer(b.run, w.n);
    ck_assert(memcmp(got, want, (size_t)w.n * C * sizeof *got) == 0);
    gnnc_graph_free(g);
    free(got);
    free(want);

    w.src[13] = 30;
    refused(gnnc_graph_from_coo(NULL, w.n, w.e, GNNC_INT32, w.src, w.dst, &g), GNNC_ERROR_DATA,
            "edge 13: source 30");
    ck_assert(g == NULL);
    row[3] = 1000;
    refused(gnnc_graph_from_csr(NULL, w.n, GNNC_INT64, row, src, &g), GNNC_ERROR_DATA, "row");
    refused(gnnc_graph_from_coo(NULL, -1, 0, GNNC_INT32, NULL, NULL, &g), GNNC_ERROR_USAGE,
            "-1 nodes");
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* A CPU's products are exact whatever is asked for, but those of BF16 with "medium", where it has
 * such. */
START_TEST(precision)
{
    static const char *const words[] = {NULL, "highest", "high", "medium"};
    float *got[4];
    world w = make_world(1, 20, 50);
    for (int k = 0; k < 4; k++) {
        bench b = set_up(plain, (gnnc_compile_options){.matmul_precision = words[k]}, 1);
        bind_world(b.run, &w, false);
        got[k] = infer(b.run, w.n);
        tear_down(&b);
    }
    for (int k = 0; k < 3; k++) ck_assert(!memcmp(got[0], got[k], (size_t)w.n * C * sizeof(float)));
    for (int64_t i = 0; i < w.n * C; i++)
        ck_assert_float_eq_tol(got[3][i], got[0][i], 0.02f * (1 + fabsf(got[0][i])));
    for (int k = 0; k < 4; k++) free(got[k]);
    end_world(&w);
}
END_TEST

START_TEST(refusals)
{
    gnnc_module *m;
    gnnc_executable *e;
    gnnc_state *s;
    gnnc_run *r;
    DLTensor out;
    refused(gnnc_module_parse(NULL, "model M(", 8, "m.gnn", &m), GNNC_ERROR_MODEL, "m.gnn:1:");
    ck_assert(m == NULL);
    refused(gnnc_module_read(NULL, "/nonexistent/m.gnn", &m), GNNC_ERROR_IO, "/nonexistent/m.gnn");
    ok(gnnc_module_parse(NULL, plain, strlen(plain), NULL, &m));
    gnnc_compile_options o = {.size = sizeof o, .features = F, .classes = C};
    o.mode = "max-autotun";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "did you mean 'max-autotune'");
    char far_off[200] = {0}; /* from every name that there is */
    memset(far_off, 'a', sizeof far_off - 1);
    o.mode = far_off;
    gnnc_status *none = gnnc_compile(m, &o, &e);
    ck_assert(none && !strstr(gnnc_status_message(none), "did you mean"));
    refused(none, GNNC_ERROR_USAGE, "no mode 'aaa");
    o.mode = "4";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE,
            "no mode '4'; there are eager, default, reduce-overhead, max-auto");
    o.mode = "2";
    ok(gnnc_compile(m, &o, &e));
    gnnc_executable_free(e);
    o.mode = NULL;
    o.matmul_precision = "hihg";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE,
            "no precision 'hihg': highest, high or medium; did you mean 'high'");
    o.matmul_precision = NULL;
    o.sparse_values = "row";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE,
            "there is no setting of sparse_values 'row': any, rows or ones; did you mean 'rows'?");
    o.sparse_values = "rows";
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "sparse_values 'rows' goes with `sparse`");
    o.sparse_values = NULL;
    o.features = 0;
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "features is 0");
    o.features = F;
    o.size = 4;
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "size");
    o.size = sizeof o;
    gnnc_define wrong = {"hiden", "3"};
    o.defines = &wrong;
    o.n_defines = 1;
    refused(gnnc_compile(m, &o, &e), GNNC_ERROR_USAGE, "hidden");
    ck_assert(e == NULL);
    gnnc_module_free(m);

    bench b = set_up(plain, (gnnc_compile_options){0}, 1),
          other = set_up(weighted, (gnnc_compile_options){0}, 1);
    refused(gnnc_run_new(b.exe, other.state, NULL, &r), GNNC_ERROR_USAGE, "another executable");
    world w = make_world(2, 10, 20), big = make_world(3, 11, 20);
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "no graph");
    ok(gnnc_run_bind_graph(b.run, w.g));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_USAGE, "'x' is not bound");
    refused(gnnc_run_output(b.run, "out", &out), GNNC_ERROR_USAGE, "nothing was inferred");
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_USAGE, "train");
    DLTensor x = x_of(&w);
    refused(gnnc_run_bind(b.run, "features", &x), GNNC_ERROR_USAGE, "no input 'features'");
    x.dtype.code = kDLInt;
    refused(gnnc_run_bind(b.run, "x", &x), GNNC_ERROR_DATA, "i32, expected f32");
    x = x_of(&w);
    x.ndim = 1;
    refused(gnnc_run_bind(b.run, "x", &x), GNNC_ERROR_DATA, "1 dimensions, 2 are expected");
    x = x_of(&w);
    x.device.device_type = kDLCUDA;
    refused(gnnc_run_bind(b.run, "x", &x), GNNC_ERROR_DATA, "not on the CPU");
    x = x_of(&w);
    x.byte_offset = 2;
    refused(gnnc_run_bind(b.run, "x", &x), GNNC_ERROR_DATA, "aligned");
    int64_t narrow[2] = {10, F - 1};
    x = tensor(w.x, 2, narrow, kDLFloat, 32);
    refused(gnnc_run_bind(b.run, "x", &x), GNNC_ERROR_DATA, "expected 5");
    x = x_of(&big);
    ok(gnnc_run_bind(b.run, "x", &x));
    refused(gnnc_run_infer(b.run), GNNC_ERROR_DATA, "1");
    x = x_of(&w);
    ok(gnnc_run_bind(b.run, "x", &x));
    ok(gnnc_run_infer(b.run));
    refused(gnnc_run_output(b.run, "logits", &out), GNNC_ERROR_USAGE, "no output 'logits'");
    char *text;
    refused(gnnc_executable_emit(b.exe, "asm.js", &text), GNNC_ERROR_USAGE, "no stage");
    ok(gnnc_executable_emit(b.exe, "gir", &text));
    ck_assert(strstr(text, "program @eval") != NULL);
    gnnc_text_free(text);
    ok(gnnc_state_new(b.exe, 1, &s));
    refused(gnnc_state_load(s, "/nonexistent"), GNNC_ERROR_IO, "/nonexistent");
    gnnc_state_free(s);
    end_world(&w);
    end_world(&big);
    tear_down(&b);
    tear_down(&other);
}
END_TEST

/* Several threads: one module compiled by all, one executable and state run by all. */
typedef struct worker {
    pthread_t thread;
    bench *shared;
    uint32_t seed;
    bool right;
} worker;

static void *work(void *p)
{
    worker *z = p;
    gnnc_executable *e;
    gnnc_run *r;
    gnnc_compile_options o = {.size = sizeof o, .features = F, .classes = C, .compile_threads = 1};
    gnnc_status *s = gnnc_compile(z->shared->module, &o, &e);
    z->right = !s;
    gnnc_status_free(s);
    gnnc_executable_free(e);
    s = gnnc_run_new(z->shared->exe, z->shared->state, NULL, &r);
    for (int k = 0; k < 20 && !s && z->right; k++) {
        world w = make_world(z->seed % 2 + (uint32_t)k, 30 + k, 100);
        DLTensor x = x_of(&w), out;
        s = gnnc_run_bind_graph(r, w.g);
        if (!s) s = gnnc_run_bind(r, "x", &x);
        if (!s) s = gnnc_run_infer(r);
        if (!s) s = gnnc_run_output(r, "out", &out);
        z->right = !s && out.shape[0] == w.n;
        end_world(&w);
    }
    gnnc_status_free(s);
    gnnc_run_free(r);
    return NULL;
}

START_TEST(threads)
{
    bench b = set_up(plain, (gnnc_compile_options){0}, 1);
    worker all[4] = {0};
    for (uint32_t k = 0; k < 4; k++) {
        all[k].shared = &b;
        all[k].seed = k;
        ck_assert(pthread_create(&all[k].thread, NULL, work, &all[k]) == 0);
    }
    for (int k = 0; k < 4; k++) {
        pthread_join(all[k].thread, NULL);
        ck_assert(all[k].right);
    }
    tear_down(&b);
}
END_TEST

/* Every block that the runtime asks for fails in turn: a status, nothing lost, and the run goes on
 * afterwards. */
START_TEST(memory)
{
    bench b = set_up(plain, (gnnc_compile_options){.train = true}, 1);
    world w = make_world(4, 25, 60);
    float *want = NULL;
    bind_world(b.run, &w, true);
    want = infer(b.run, w.n);
    int64_t *fuse = gn_memory_fuse();
    int failures = 0;
    for (int64_t k = 1; k < 400; k++) {
        gnnc_graph *g = NULL;
        gnnc_run *r = NULL;
        gnnc_state *state = NULL;
        DLTensor x = x_of(&w), y = tensor(w.y, 1, w.rows, kDLInt, 32),
                 m = tensor(w.mask, 1, w.rows, kDLBool, 8);
        *fuse = k;
        gnnc_status *s = gnnc_graph_from_coo(NULL, w.n, w.e, GNNC_INT32, w.src, w.dst, &g);
        if (!s) s = gnnc_state_new(b.exe, 7, &state);
        if (!s) s = gnnc_run_new(b.exe, state, NULL, &r);
        if (!s) s = gnnc_run_bind_graph(r, g);
        if (!s) s = gnnc_run_bind(r, "x", &x);
        if (!s) s = gnnc_run_bind(r, "y", &y);
        if (!s) s = gnnc_run_bind(r, "train_mask", &m);
        if (!s) s = gnnc_run_infer(r);
        if (!s) s = gnnc_run_step(r, NULL);
        bool left = *fuse > 0;
        *fuse = 0;
        if (s) {
            ck_assert_msg(gnnc_status_code(s) == GNNC_ERROR_MEMORY, "%s", gnnc_status_message(s));
            gnnc_status_free(s);
            failures++;
            if (r) { /* the same run, with memory again */
                ok(gnnc_run_bind_graph(r, w.g));
                ok(gnnc_run_bind(r, "x", &x));
                float *got = infer(r, w.n);
                ck_assert(memcmp(got, want, (size_t)w.n * C * sizeof *got) == 0);
                free(got);
            }
        }
        gnnc_run_free(r);
        gnnc_state_free(state);
        gnnc_graph_free(g);
        if (left) break;
    }
    ck_assert(failures > 20);
    free(want);
    end_world(&w);
    tear_down(&b);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, shapes);
        tcase_add_test(t, features);
        tcase_add_test(t, repeats);
        tcase_add_test(t, bags_of_words);
        tcase_add_test(t, other_words);
        tcase_add_test(t, results_as_data);
        tcase_add_test(t, wide_indices);
        tcase_add_test(t, results);
        tcase_add_test(t, edges);
        tcase_add_loop_test(t, edges_of_derived_graphs, 0, 2);
        tcase_add_test(t, refusals);
        tcase_add_test(t, precision);
        tcase_add_test(t, threads);
        tcase_add_test(t, memory);
    }
    tcase_set_timeout(t, 200);
    return RUN_CASES("api", t);
}
