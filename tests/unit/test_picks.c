/* Picked and drawn edges in what comes after the tensor IR: sizes, hints, parts, padding. */
/* links: tune codegen lower passes frontend ir runtime base */
#include "gir_test.h"

#include "base/data_name.h"
#include "build/jit.h"
#include "codegen/cuda/cuda.h"
#include "passes/passes.h"
#include "support/facts_step.h"

static const char text
    [] = "program @p { space node node ? space edge edge ? space kind node 9\n"
         " %1 = graph \"g\" : graph<node -> node, edge>\n %2 = input \"m\" : edge bool[]\n"
         " %3 = input \"a\" : i64[]\n %4 = state \"b\" : i64[]\n %5 = rng_key %3, %4\n"
         " %6 = corrupt %1, %5 {times = 3}\n %7 = filter %1, %2\n %8 = input \"i\" : edge i32[]\n"
         " %9 = index %8 {space = kind}\n %10 = grow %7\n %11 = restrict %7, %10 {ends = 1}\n"
         " %12 = reverse %6\n %13 = self_loops %12\n"
         " %14 = const {value = 1} : edge.2 f32[]\n %15 = space_reduce %14\n output \"o\" %15 }";

/* As many edges as are known. */
START_TEST(sizes)
{
    gir_program *p = read_program(text);
    gn_guards g = {.of = {[GN_DIM_NODES] = {10, 10}, [GN_DIM_EDGES] = {20, 20}}};
    gn_specialise(p, &g);
    ck_assert_int_eq(p->spaces.p[gir_type_of(p, 6)->edge].size, 60);
    ck_assert_int_eq(p->spaces.p[gir_type_of(p, 7)->edge].size, -1);
    ck_assert_int_eq(p->spaces.p[gir_type_of(p, 12)->edge].size, 60);
    ck_assert_int_eq(p->spaces.p[gir_type_of(p, 13)->edge].size, 70);
    expect_ok(gir_verify(p));
}
END_TEST

/* What is known of a graph holds of some of its edges at most, and of none that are drawn. */
START_TEST(hints)
{
    gir_program *p = read_program(text);
    const low_hint h[] = {{.name = "g", .n_src = 10, .n_dst = 10, .n_edge = 20},
                          {.name = "i", .n_src = 1, .n_dst = 1, .n_edge = 1}};
    low_options o = {.n_hints = 2, .hints = h};
    for (gir_id v = 6; v <= 13; v++) {
        if (!gir_type_of(p, v)->is_graph) continue;
        bool other = v == 6 || v == 9 || v > 11;
        ck_assert_msg(low_hint_of(&o, p, v) == (other ? NULL : h), "%%%d", (int)v);
    }
}
END_TEST

/* Rows of drawn edges are of other lengths at every run, so they are not split; those of an index
 * are, where the same facts are corrupted at every run. */
START_TEST(parts)
{
    gir_program *p;
    gn_compiled *c;
    gn_limits gpu = gn_cuda_limits();
    gn_compile_options o = {.index = GN_I32, .limits = &gpu};
    int split = 0;
    o.pass = (gn_pass_options){.limit = -1, .verify = true};
    expect_ok(facts_step_program(&arena, 2, _i * 40, false, &p));
    expect_ok(gn_compile(&arena, p, &o, NULL, &c));
    for (int k = 0; k < c->artifact->n_syms; k++) {
        const gn_sym *s = &c->artifact->syms[k];
        if (s->kind != GN_SYM_PARTS) continue;
        const gn_graph_slot *g = &c->artifact->graphs[s->graph];
        ck_assert(!g->drawn || g->how == GN_INDEX);
        split += g->drawn;
    }
    ck_assert_int_eq(split > 0, _i == 0);
}
END_TEST

/* A filter leaves of the added edges what its mask says, and they do not count. */
START_TEST(padding)
{
    enum { ROWS = 5, EDGES = 6 };
    static const int64_t src[EDGES] = {0, 1, 2, 1, 4, 4}, dst[EDGES] = {1, 0, 1, 2, 4, 3};
    static double m[EDGES] = {1, 0, 1, 1, 1, 1}, valid[ROWS] = {1, 1, 1, 0, 0};
    static const char *name[] = {"g", "m", GN_VALID_ROWS};
    gir_value value[] = {{.graph = gir_coo_new(&arena, ROWS, ROWS, EDGES, src, dst)},
                         {.rows = EDGES, .cols = 1, .v = m},
                         {.rows = ROWS, .cols = 1, .v = valid}};
    gir_env env = {.arena = &arena, .n = 3, .name = name, .value = value};
    gir_program *masked,
        *p = read_program("program @p { space node node ? space edge edge ?\n"
                          " %1 = graph \"g\" : graph<node -> node, edge>\n"
                          " %2 = input \"m\" : edge bool[]\n %3 = filter %1, %2\n"
                          " %4 = const {value = 1} : edge.1 f32[]\n %5 = space_reduce %4\n"
                          " output \"o\" %5 }");
    gir_value *v;
    expect_ok(gn_pass_mask_rows(&arena, p, &masked));
    expect_ok(gir_eval(masked, &env, &v));
    ck_assert(v[masked->outputs.p[0].value].v[0] == 3); /* CSR: 1 -> 0, 0 -> 1, 2 -> 1, 1 -> 2 */
}
END_TEST

/* What a bucket adds would be drawn as well. */
START_TEST(padded_draws)
{
    gir_program *masked;
    expect_error(gn_pass_mask_rows(&arena, read_program(text), &masked), GN_ERR_USAGE,
                 "buckets: edges are drawn in 'p', and what a bucket adds to 'g' would be too");
    gir_program *named = read_program("program @p { space node node ? space edge edge ?\n"
                                      " %1 = graph \"g\" : graph<node -> node, edge>\n"
                                      " %2 = input \"x\" : node f32[]\n %3 = ends %1 {ends = 1}\n"
                                      " %4 = take %3, %2\n %5 = space_reduce %4\n"
                                      " output \"o\" %5 }");
    expect_error(gn_pass_mask_rows(&arena, named, &masked), GN_ERR_USAGE,
                 "buckets: rows are updated that edges touch in 'p', and what a bucket adds to");
}
END_TEST

/* Rows that numbers name are counted by an input, a graph or the program. */
START_TEST(counted_rows)
{
    static const char *const counts[] = {"state \"t\" : row f32[2]", "input \"t\" : row f32[2]"};
    for (int k = 0; k < 2; k++) {
        gn_compile_options o = {.index = GN_I32};
        gn_compiled *c;
        gir_program *p = read_program(
            gn_arena_printf(&arena,
                            "program @p { space node node ? space row node ?\n"
                            " %%1 = input \"i\" : node i32[]\n %%2 = %s\n"
                            " %%3 = index %%1 {space = row}\n %%4 = take %%3, %%2\n"
                            " output \"o\" %%4 }",
                            counts[k]));
        o.pass = (gn_pass_options){.limit = -1, .verify = true};
        gn_status *s = gn_compile(&arena, p, &o, NULL, &c);
        if (k)
            expect_ok(s);
        else
            expect_error(s, GN_ERR_MODEL, "nothing tells how many rows space 'row' has");
        if (k) ck_assert_str_eq(c->artifact->graphs[0].rows.input, "t");
    }
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, counted_rows);
    tcase_add_test(c, sizes);
    tcase_add_test(c, hints);
    tcase_add_loop_test(c, parts, 0, 2);
    tcase_add_test(c, padding);
    tcase_add_test(c, padded_draws);
}

int main(void) { return run_suite("picks", fill); }
