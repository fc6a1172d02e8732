/* links: tune codegen lower passes frontend ir runtime base */
/* Which launches are shared out by edges (`balance`), and by those of which end. */
#include "gir_test.h"

#include "compile/compile.h"

#include <stdio.h>

/* A sum over the edges into (end 1) or out of (end 0) nodes, and exp of each node's own row beside
 * it. */
static const gn_artifact *compiled(int end, gn_switches off)
{
    char text[512];
    snprintf(text, sizeof text,
             "program @p {\n  space node node ?\n  space edge edge ?\n  %%1 = graph \"g\" : "
             "graph<node -> node, edge>\n"
             "  %%2 = input \"x\" : node f32[4]\n  %%3 = gather %%1, %%2 {end = %d} : edge f32[4]\n"
             "  %%4 = scatter %%1, %%3 {end = %d, red = 0} : node f32[4]\n  %%5 = exp %%2 : node "
             "f32[4]\n"
             "  output \"sum\" %%4\n  output \"own\" %%5\n}\n",
             1 - end, end);
    gn_compile_options o = {.index = GN_I32};
    o.pass = (gn_pass_options){.limit = -1, .verify = true};
    o.pass.without.decisions = off;
    gn_compiled *c;
    expect_ok(gn_compile(&arena, read_program(text), &o, NULL, &c));
    return c->artifact;
}

/* How many launches are; all by `array`. */
static int balanced(const gn_artifact *a, gn_graph_array array)
{
    int n = 0;
    for (int k = 0; k < a->n_launches; k++) {
        const gn_launch *l = &a->launches[k];
        if (!l->n_balance) continue;
        ck_assert_int_eq(l->n_balance, 1);
        ck_assert_int_lt(l->balance[0].graph, a->n_graphs);
        ck_assert_int_eq(l->balance[0].array, array);
        n++;
    }
    return n;
}

/* Sums over two relations into the same rows, and one out of those. */
START_TEST(by_all_that_is_walked)
{
    static const char text
        [] = "program @p {\n  space a node ?\n  space b node ?\n  space edge edge ? of %1\n"
             "  space edge.1 edge ? of %2\n  %1 = graph \"g\" : graph<a -> a, edge>\n"
             "  %2 = graph \"h\" : graph<b -> a, edge.1>\n  %3 = input \"x\" : a f32[4]\n"
             "  %4 = input \"y\" : b f32[4]\n  %5 = gather %1, %3 {end = 0}\n"
             "  %6 = scatter %1, %5 {end = 1, red = 0}\n  %7 = gather %2, %4 {end = 0}\n"
             "  %8 = scatter %2, %7 {end = 1, red = 0}\n  %9 = gather %1, %3 {end = 1}\n"
             "  %10 = scatter %1, %9 {end = 0, red = 0}\n  %11 = add %6, %8\n  %12 = add %11, %10\n"
             "  output \"sum\" %12\n}\n";
    gn_compile_options o = {.index = GN_I32};
    o.pass = (gn_pass_options){.limit = -1, .verify = true};
    gn_compiled *c;
    expect_ok(gn_compile(&arena, read_program(text), &o, NULL, &c));
    ck_assert_int_eq(c->artifact->n_launches, 1);
    const gn_launch *l = &c->artifact->launches[0];
    ck_assert_int_eq(l->n_balance, 3);
    static const gn_graph_array by[] = {GN_GRAPH_ROW_PTR, GN_GRAPH_ROW_PTR, GN_GRAPH_COL_PTR};
    for (int k = 0; k < 3; k++) ck_assert_int_eq(l->balance[k].array, by[k]);
    ck_assert_int_eq(l->balance[0].graph, l->balance[2].graph);
    ck_assert_int_ne(l->balance[0].graph, l->balance[1].graph);
}
END_TEST

START_TEST(sums_over_edges_are)
{
    ck_assert_int_eq(balanced(compiled(GIR_DST, 0), GN_GRAPH_ROW_PTR), 1);
    ck_assert_int_eq(balanced(compiled(GIR_SRC, 0), GN_GRAPH_COL_PTR), 1);
}
END_TEST

/* What reads no edges is shared out by rows, and without `balance` all is. */
START_TEST(others_are_not)
{
    const gn_artifact *a = compiled(GIR_DST, 0);
    ck_assert_int_eq(a->n_launches, 2);
    a = compiled(GIR_DST, (gn_switches)1 << GN_DO_BALANCE);
    ck_assert_int_eq(a->n_launches, 2);
    ck_assert_int_eq(balanced(a, GN_GRAPH_ROW_PTR), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("balance");
    tcase_add_checked_fixture(t, arena_begin, arena_end);
    tcase_add_test(t, sums_over_edges_are);
    tcase_add_test(t, others_are_not);
    tcase_add_test(t, by_all_that_is_walked);
    return RUN_CASES("balance", t);
}
