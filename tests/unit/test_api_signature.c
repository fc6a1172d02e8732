/* What an executable takes and gives: names, element types, shapes, rows. */
#define API_KEEPS_CODE
#include "unit/api_world.h"

static gnnc_value_info input(gnnc_executable *e, int k)
{
    gnnc_value_info i = {.size = sizeof i};
    ok(gnnc_executable_input(e, k, &i));
    return i;
}

static gnnc_value_info output(gnnc_executable *e, int k)
{
    gnnc_value_info i = {.size = sizeof i};
    ok(gnnc_executable_output(e, k, &i));
    return i;
}

static void is(const gnnc_value_info *i, const char *name, const char *rows, uint8_t code, int ndim,
               int64_t last)
{
    ck_assert_str_eq(i->name, name);
    ck_assert_msg(i->rows ? rows && !strcmp(i->rows, rows) : !rows, "rows of %s: %s", name,
                  i->rows ? i->rows : "NULL");
    ck_assert(!i->graph && i->type.code == code && i->type.lanes == 1 && i->ndim == ndim);
    if (ndim) ck_assert_int_eq(i->shape[ndim - 1], last);
}

START_TEST(one_graph)
{
    static const char
        text[] = "model M() (g: graph, x: node[F], w: edge[2], k: node[2], z: [3, 2] = none)"
                 " -> (node[C], edge, edge[2], []) {\n"
                 "  h = GCNConv(C)(g, x)\n  if z != none { h = h + mean(z) }\n"
                 "  a = w * unsqueeze(edge(u -> v in g: sum(k[u], axis = -1)), -1)\n"
                 "  e = edge(u -> v in self_loops(g): sum(h[u] * h[v], axis = -1))\n"
                 "  m = mean(h, axis = -1)\n  return h, e, a, mean(m, over = node)\n}\n"
                 "train M {\n  input k: node[2]\n"
                 "  loss = cross_entropy(M(g, x, attr, k)[0], y) over train_mask\n}\n";
    bench b = set_up(text, (gnnc_compile_options){.edge_features = 2, .train = true}, 1);
    ck_assert_int_eq(info_of(&b).inputs, 7);
    gnnc_value_info i = input(b.exe, 0);
    ck_assert(i.graph && !strcmp(i.name, "g") && !strcmp(i.src, "node") && !strcmp(i.dst, "node"));
    ck_assert(!i.optional && !i.learning && !strcmp(i.rows, ""));
    bool seen[7] = {false};
    for (int k = 1; k < 7; k++) {
        i = input(b.exe, k);
        if (!strcmp(i.name, "x")) is(&i, "x", "node", kDLFloat, 2, F), seen[0] = true;
        if (!strcmp(i.name, "w")) {
            is(&i, "w", "g", kDLFloat, 2, 2);
            ck_assert(i.on_edges && i.shape[0] == -1 && !i.learning);
            seen[1] = true;
        }
        if (!strcmp(i.name, "k")) is(&i, "k", "node", kDLFloat, 2, 2), seen[2] = true;
        if (!strcmp(i.name, "z")) {
            is(&i, "z", "", kDLFloat, 2, 2);
            ck_assert(i.optional && i.shape[0] == 3);
            seen[3] = true;
        }
        if (!strcmp(i.name, "y")) {
            is(&i, "y", "node", kDLInt, 1, -1);
            ck_assert(i.learning && !i.optional);
            seen[4] = true;
        }
        if (!strcmp(i.name, "train_mask"))
            is(&i, "train_mask", "node", kDLBool, 1, -1), seen[5] = true;
    }
    for (int k = 0; k < 6; k++) ck_assert_msg(seen[k], "%d", k);
    i = output(b.exe, 0);
    is(&i, "out0", "node", kDLFloat, 2, C);
    i = output(b.exe, 1);
    is(&i, "out1", NULL, kDLFloat, 1, -1);
    ck_assert(i.on_edges);
    i = output(b.exe, 2);
    is(&i, "out2", "g", kDLFloat, 2, 2);
    i = output(b.exe, 3);
    is(&i, "out3", "", kDLFloat, 0, 0);
    ck_assert_int_eq(info_of(&b).outputs, 4);
    refused(gnnc_executable_input(b.exe, 7, &i), GNNC_ERROR_USAGE,
            "model M has no input 7: it has 7");
    refused(gnnc_executable_input(b.exe, -1, &i), GNNC_ERROR_USAGE, "no input -1");
    refused(gnnc_executable_output(b.exe, 4, &i), GNNC_ERROR_USAGE, "no output 4: it has 4");
    refused(gnnc_executable_output(b.exe, -1, &i), GNNC_ERROR_USAGE, "no output -1");
    refused(gnnc_executable_input(NULL, 0, &i), GNNC_ERROR_USAGE, "`e` is NULL");
    refused(gnnc_executable_output(b.exe, 0, NULL), GNNC_ERROR_USAGE, "`info` is NULL");
    tear_down(&b);
}
END_TEST

/* Without training its data are none; an older header's structure has less. */
START_TEST(inference_alone)
{
    bench b = set_up(plain, (gnnc_compile_options){0}, 1);
    gnnc_value_info i = {.size = offsetof(gnnc_value_info, ndim), .ndim = 77};
    ck_assert_int_eq(info_of(&b).inputs, 2);
    ok(gnnc_executable_input(b.exe, 1, &i));
    ck_assert(!strcmp(i.name, "x") && i.ndim == 77);
    tear_down(&b);
}
END_TEST

START_TEST(relations)
{
    static const char
        text[] = "model T() (writes: node.author -> node.paper, x: node.author[3], year: "
                 "edge.writes of int)"
                 " -> (node.paper[3], edge.writes) {\n"
                 "  s = sum(u -> v in writes: x[u])\n"
                 "  t = edge(u -> v in writes: sum(s[v] * x[u], axis = -1) * float(year))\n"
                 "  return s, t\n}\n";
    static int64_t three[] = {3};
    static const gnnc_space spaces[] = {{sizeof(gnnc_space), "paper", 4},
                                        {sizeof(gnnc_space), "author", -1}};
    static const gnnc_relation writes = {sizeof writes, "writes", "author", "paper", 0};
    static const gnnc_column columns[] = {
        {sizeof(gnnc_column), "author.x", {kDLFloat, 32, 1}, 1, three, 0},
        {sizeof(gnnc_column), "writes.year", {kDLInt, 32, 1}, 0, NULL, 0}};
    gnnc_compile_options o = {.size = sizeof o,
                              .spaces = spaces,
                              .n_spaces = 2,
                              .relations = &writes,
                              .n_relations = 1,
                              .columns = columns,
                              .n_columns = 2};
    gnnc_module *m;
    gnnc_executable *e;
    ok(gnnc_module_parse(NULL, text, strlen(text), NULL, &m));
    ok(gnnc_compile(m, &o, &e));
    bool seen[3] = {false};
    for (int k = 0; k < 3; k++) {
        gnnc_value_info i = input(e, k);
        if (i.graph) {
            ck_assert(!strcmp(i.name, "writes") && !strcmp(i.src, "author"));
            ck_assert_str_eq(i.dst, "paper");
        } else if (i.on_edges) {
            is(&i, "year", "writes", kDLInt, 1, -1);
        } else {
            is(&i, "x", "author", kDLFloat, 2, 3);
        }
        seen[i.graph ? 0 : i.on_edges ? 1 : 2] = true;
    }
    ck_assert(seen[0] && seen[1] && seen[2]);
    gnnc_value_info i = output(e, 0);
    ck_assert_str_eq(i.name, "s");
    ck_assert_str_eq(i.rows, "paper");
    i = output(e, 1);
    ck_assert(i.on_edges && !strcmp(i.rows, "writes"));
    gnnc_module_free(m);
    gnnc_executable_free(e);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, one_graph);
        tcase_add_test(t, inference_alone);
        tcase_add_test(t, relations);
    }
    return RUN_CASES("api_signature", t);
}
