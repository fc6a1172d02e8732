/* links: tune codegen lower passes frontend ir runtime base */
/* How many rows a space is supposed to have: by the graph that ends there, in schedules and in
 * passes. */
#include "gir_test.h"

#include "lower/lower.h"
#include "passes/passes.h"

static const char
    typed[] = "program @p {\n  space paper node ?\n  space author node ?\n  space venue node ?\n"
              "  space edge edge ? of %1\n  space edge.1 edge ? of %2\n"
              "  %1 = graph \"cites\" : graph<paper -> paper, edge>\n"
              "  %2 = graph \"writes\" : graph<author -> paper, edge.1>\n"
              "  %3 = input \"x\" : author f32[4]\n  %4 = input \"y\" : venue f32[4]\n"
              "  %5 = gather %2, %3 {end = 0}\n  %6 = scatter %2, %5 {end = 1, red = 0}\n"
              "  %7 = gather %1, %6 {end = 0}\n  %8 = scatter %1, %7 {end = 1, red = 0}\n"
              "  output \"a\" %8\n  output \"b\" %4\n}\n";

static gir_space_id space(const gir_program *p, const char *name)
{
    for (uint32_t s = 1; s < p->spaces.n; s++)
        if (!strcmp(p->spaces.p[s].name, name)) return (gir_space_id)s;
    ck_abort_msg("no space %s", name);
}

static const char
    one[] = "program @p {\n  space node node ?\n  space edge edge ? of %1\n"
            "  %1 = graph \"g\" : graph<node -> node, edge>\n  %2 = input \"x\" : node f32[4]\n"
            "  %3 = gather %1, %2 {end = 0}\n  %4 = scatter %1, %3 {end = 1, red = 0}\n"
            "  output \"a\" %4\n}\n";

START_TEST(of_schedules)
{
    static const low_hint hints[] = {{.name = "cites", .n_src = 50, .n_dst = 50, .n_edge = 400},
                                     {.name = "writes", .n_src = 70, .n_dst = 50, .n_edge = 90}};
    low_options opt = {.n_hints = 2, .hints = hints};
    const gir_program *p = read_program(typed);
    ck_assert_int_eq(low_rows_hint(&opt, p, space(p, "paper")), 50);
    ck_assert_int_eq(low_rows_hint(&opt, p, space(p, "author")), 70);
    ck_assert_int_eq(low_rows_hint(&opt, p, space(p, "venue")), 0);
    ck_assert_int_eq(low_rows_hint(&opt, p, space(p, "edge")), 450);
    ck_assert_int_eq(low_rows_hint(&opt, p, space(p, "edge.1")), 140);
    opt.n_hints = 1;
    ck_assert_int_eq(low_rows_hint(&opt, p, space(p, "author")), 0);
    /* one graph, of whatever name */
    p = read_program(one);
    ck_assert_int_eq(low_rows_hint(&opt, p, space(p, "node")), 50);
    ck_assert_int_eq(low_rows_hint(&opt, p, space(p, "edge")), 450);
}
END_TEST

START_TEST(of_passes)
{
    static const gn_ends ends[] = {{"cites", 50, 50}, {"writes", 70, 50}};
    gn_pass_options opt = {.nodes = 9, .n_ends = 2, .ends = ends};
    const gir_program *p = read_program(typed);
    ck_assert_int_eq(gn_expected_rows(p, space(p, "paper"), &opt), 50);
    ck_assert_int_eq(gn_expected_rows(p, space(p, "author"), &opt), 70);
    ck_assert_int_eq(gn_expected_rows(p, space(p, "venue"), &opt), 0);
    ck_assert_int_eq(gn_expected_rows(p, space(p, "edge"), &opt), 0);
    ck_assert_int_eq(gn_expected_rows(p, 0, &opt), 0);
    opt.n_ends = 0;
    ck_assert_int_eq(gn_expected_rows(p, space(p, "author"), &opt), 9);
    p = read_program(one);
    ck_assert_int_eq(gn_expected_rows(p, space(p, "node"), &opt), 9);
    opt.n_ends = 2;
    ck_assert_int_eq(gn_expected_rows(p, space(p, "node"), &opt), 9);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("row hints");
    tcase_add_checked_fixture(t, arena_begin, arena_end);
    tcase_add_test(t, of_schedules);
    tcase_add_test(t, of_passes);
    return RUN_CASES("row hints", t);
}
