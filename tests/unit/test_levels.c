/* How many levels of rows leave out enough, where rows are of several spaces. */
/* links: build compile lower passes frontend ir runtime base */
#include "build/build.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Authors write papers; the first paper is by all of them, and no other by any. */
enum { PAPERS = 5, AUTHORS = 25, MOST = 9 };

static int levels(int labelled, int64_t row, unsigned walks)
{
    int64_t src[AUTHORS], dst[AUTHORS] = {0}, rows[2] = {PAPERS, AUTHORS};
    uint8_t mask[AUTHORS] = {0};
    gn_graph *writes;
    int n = 0, found = -1;
    for (int k = 0; k < AUTHORS; k++) src[k] = k;
    for (int k = 0; k < AUTHORS && row < 0; k++) mask[k] = 1;
    if (row >= 0) mask[row] = 1;
    ck_assert_ptr_null(
        gn_graph_from_coo(GN_I32, AUTHORS, PAPERS, AUTHORS, GN_I64, src, dst, &writes));
    gn_level_walk walk[2];
    if (walks & 1) walk[n++] = (gn_level_walk){writes, 1, 0, false};
    if (walks & 2) walk[n++] = (gn_level_walk){writes, 1, 0, true};
    ck_assert_ptr_null(gn_count_typed_levels(2, rows, n, walk, labelled, mask, MOST, &found));
    gn_graph_free(writes);
    return found;
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

START_TEST(without_rows_or_mask)
{
    int64_t rows[2] = {0, 0};
    int found = -1;
    uint8_t none = 0;
    ck_assert_ptr_null(gn_count_typed_levels(2, rows, 0, NULL, 0, &none, MOST, &found));
    ck_assert_int_eq(found, 0);
    rows[0] = 4;
    found = -1;
    ck_assert_ptr_null(gn_count_typed_levels(2, rows, 0, NULL, 0, NULL, MOST, &found));
    ck_assert_int_eq(found, 0);
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
    gn_arena a;
    gir_program *p;
    gn_arena_init(&a);
    ck_assert_ptr_null(gir_parse(&a, text, strlen(text), "writes", &p));
    gn_row_needs needs = gn_find_row_needs(&a, p);
    ck_assert_int_eq(needs.levels, 3); /* of what they begin with, too */
    ck_assert_str_eq(needs.mask, "some");
    ck_assert_int_eq(needs.n_walks, 2);
    for (int k = 0; k < 2; k++) ck_assert_str_eq(needs.walk[k].graph, "writes");
    ck_assert_int_eq(needs.walk[0].back, false);
    ck_assert_int_eq(needs.walk[1].back, true);
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("levels");
    tcase_add_test(t, as_far_as_rows_are_left_out);
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
