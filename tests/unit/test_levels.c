/* How many levels of rows leave out enough, where rows are of several spaces. */
/* links: build compile lower passes frontend ir runtime base */
#include "build/build.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Authors write papers; the first paper is by all of them, and no other by any. */
enum { PAPERS = 5, AUTHORS = 25, MOST = 9 };

static gn_arena arena;

static gn_loss_rows count(int labelled, int64_t row, unsigned walks)
{
    int64_t src[AUTHORS], dst[AUTHORS] = {0}, rows[2] = {PAPERS, AUTHORS};
    uint8_t mask[AUTHORS] = {0};
    gn_graph *writes;
    int n = 0;
    for (int k = 0; k < AUTHORS; k++) src[k] = k;
    for (int k = 0; k < AUTHORS && row < 0; k++) mask[k] = 1;
    if (row >= 0) mask[row] = 1;
    ck_assert_ptr_null(
        gn_graph_from_coo(GN_I32, AUTHORS, PAPERS, AUTHORS, GN_I64, src, dst, &writes));
    gn_level_walk walk[3];
    int32_t kind[AUTHORS];
    for (int k = 0; k < AUTHORS; k++) kind[k] = k % 5;
    if (walks & 1) walk[n++] = (gn_level_walk){"writes", writes, 1, 0, false, NULL, NULL, 0};
    if (walks & 2) walk[n++] = (gn_level_walk){"writes", writes, 1, 0, true, NULL, NULL, 0};
    if (walks & 4) walk[n++] = (gn_level_walk){"writes", writes, 1, 0, false, "kind", kind, 3};
    gn_typed_rows t = {2, n, labelled, rows, AUTHORS, walk};
    gn_loss_rows r = {.levels = -1};
    ck_assert_ptr_null(gn_count_typed_levels(&arena, &t, mask, MOST, &r));
    gn_graph_free(writes);
    return r;
}

static int levels(int labelled, int64_t row, unsigned walks)
{
    return count(labelled, row, walks).levels;
}

START_TEST(as_far_as_rows_are_left_out)
{
    ck_assert_int_eq(levels(0, 0, 1), 1);    /* then 26 of 30 rows */
    ck_assert_int_eq(levels(0, 0, 2), MOST); /* to papers no messages go */
    ck_assert_int_eq(levels(0, 1, 3), MOST); /* nobody wrote it */
    ck_assert_int_eq(levels(1, 3, 2), MOST); /* the paper, and no more */
    ck_assert_int_eq(levels(1, 3, 3), 2);    /* the paper, then all who wrote it */
    ck_assert_int_eq(levels(1, 3, 0), MOST);
    ck_assert_int_eq(levels(1, -1, 3), 0); /* most rows from the beginning */
}
END_TEST

static void is(const gn_ends *e, int level, bool back, int64_t src, int64_t dst, int64_t joined_src,
               int64_t joined_dst)
{
    ck_assert_str_eq(e->name, "writes");
    ck_assert(e->picked);
    ck_assert_int_eq(e->level, level);
    ck_assert_int_eq(e->back, back);
    ck_assert_int_eq(e->src, src);
    ck_assert_int_eq(e->dst, dst);
    ck_assert_int_eq(e->joined_src, joined_src);
    ck_assert_int_eq(e->joined_dst, joined_dst);
}

/* From an author: to papers no messages go, then all authors' to the paper. */
START_TEST(what_is_joined)
{
    gn_loss_rows r = count(1, 3, 3);
    ck_assert_int_eq(r.n_ends, 4);
    is(&r.ends[0], 0, false, 1, 0, 0, 0);
    is(&r.ends[1], 0, true, 1, 1, 1, 1);
    is(&r.ends[2], 1, false, AUTHORS, 1, AUTHORS, 1);
    is(&r.ends[3], 1, true, PAPERS, 1, 1, 1);
}
END_TEST

/* Of every fifth author alone. */
START_TEST(of_one_kind)
{
    gn_loss_rows r = count(0, 0, 4);
    ck_assert_int_eq(r.levels, MOST); /* 6 of 30 rows */
    is(&r.ends[0], 0, false, AUTHORS / 5, 1, AUTHORS / 5, 1);
    ck_assert_str_eq(r.ends[0].column, "kind");
    ck_assert_int_eq(r.ends[0].value, 3);
}
END_TEST

START_TEST(without_rows_or_mask)
{
    int64_t rows[2] = {0, 0};
    gn_typed_rows t = {2, 0, 0, rows, 0, NULL};
    gn_loss_rows r = {.levels = -1};
    uint8_t none = 0;
    ck_assert_ptr_null(gn_count_typed_levels(&arena, &t, &none, MOST, &r));
    ck_assert_int_eq(r.levels, 0);
    rows[0] = t.most_rows = 4;
    r.levels = -1;
    ck_assert_ptr_null(gn_count_typed_levels(&arena, &t, NULL, MOST, &r));
    ck_assert_int_eq(r.levels, 0);
}
END_TEST

/* Messages go along it to papers, and back to authors. */
START_TEST(along_what)
{
    static const char
        text[] = "program @p {\n  space paper node ?\n  space author node ?\n"
                 "  space edge edge ? of %1\n  space edge2 edge ? of %2\n"
                 "  %1 = graph \"writes\" : graph<author -> paper, edge>\n"
                 "  %2 = reverse %1 : graph<paper -> author, edge2>\n"
                 "  %3 = input \"x\" : paper f32[4]\n  %4 = input \"some\" : paper bool[]\n"
                 "  %5 = gather %2, %3 {end = 0} : edge2 f32[4]\n"
                 "  %6 = scatter %2, %5 {end = 1, red = 0} : author f32[4]\n"
                 "  %7 = gather %1, %6 {end = 0} : edge f32[4]\n"
                 "  %8 = scatter %1, %7 {end = 1, red = 0} : paper f32[4]\n"
                 "  %9 = reduce %8 {red = 0, axes = 1} : paper f32[]\n"
                 "  %10 = cast %4 : paper f32[]\n  %11 = mul %9, %10 : paper f32[]\n"
                 "  %12 = space_reduce %11 {red = 0} : f32[]\n  output \"loss\" %12\n}\n";
    gir_program *p;
    ck_assert_ptr_null(gir_parse(&arena, text, strlen(text), "writes", &p));
    gn_row_needs needs = gn_find_row_needs(&arena, p, false);
    ck_assert_int_eq(needs.levels, 3); /* of what they begin with, too */
    ck_assert_str_eq(needs.mask, "some");
    ck_assert_int_eq(needs.n_walks, 2);
    for (int k = 0; k < 2; k++) ck_assert_str_eq(needs.walk[k].graph, "writes");
    ck_assert_int_eq(needs.walk[0].back, false);
    ck_assert_int_eq(needs.walk[1].back, true);
}
END_TEST

/* Values from %5 on; the last is the graph. */
START_TEST(what_a_walk_is)
{
    static const struct {
        const char *text, *column;
        int back, walk;
    } cases[] = {
        {"%5 = reverse %1", NULL, 1, 1},
        {"%5 = const {value = 2} : edge i32[]\n %6 = eq %2, %5\n %7 = filter %1, %6", "kind", 0, 1},
        {"%5 = const {value = 2} : edge i32[]\n %6 = eq %5, %2\n %7 = filter %1, %6\n"
         " %8 = reverse %7",
         "kind", 1, 1},
        {"%5 = const {value = 2} : edge i32[]\n %6 = lt %2, %5\n %7 = filter %1, %6", NULL, 0, 1},
        {"%5 = filter %1, %3\n %6 = reverse %5\n %7 = reverse %6", NULL, 0, 1},
        {"%5 = index %2 {space = node}", NULL, 0, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gir_program *p;
        gn_row_walk w;
        const char *text = gn_arena_printf(
            &arena,
            "program @p {\n space node node ?\n space edge edge ? of %%1\n"
            " %%1 = graph \"g\" : graph<node -> node, edge>\n %%2 = input \"kind\" : edge i32[]\n"
            " %%3 = input \"m\" : edge bool[]\n %%4 = input \"x\" : node f32[]\n %s\n}\n",
            cases[k].text);
        gn_status *s = gir_parse(&arena, text, strlen(text), "walk", &p);
        ck_assert_msg(!s, "%s: %s", cases[k].text, s ? gn_status_message(s) : "");
        ck_assert_int_eq(gn_is_walk(p, p->nodes.n - 1, &w), cases[k].walk);
        if (!cases[k].walk) continue;
        ck_assert_str_eq(w.graph, "g");
        ck_assert_int_eq(w.back, cases[k].back);
        ck_assert_msg(!w.column == !cases[k].column, "%s", cases[k].text);
        if (w.column) ck_assert_int_eq(w.value, 2);
    }
}
END_TEST

static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

int main(void)
{
    TCase *t = tcase_create("levels");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, as_far_as_rows_are_left_out);
    tcase_add_test(t, what_is_joined);
    tcase_add_test(t, of_one_kind);
    tcase_add_test(t, what_a_walk_is);
    tcase_add_test(t, without_rows_or_mask);
    tcase_add_test(t, along_what);
    Suite *s = suite_create("levels");
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
