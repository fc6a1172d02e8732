/* Rows that are there for the graph's size alone, in the evaluator: extrema of what is far from
 * zero, for every type of number, with rows of the user's in front, and without. */
/* links: lower passes ir base */
#include "gir_test.h"

#include "passes/passes.h"

enum { ROWS = 5, OF_USER = 3 };

static const struct {
    const char *elem;
    double far; /* a number of the type beyond what any usual one is */
} types[] = {{"f32", 0x1.8p126}, {"f64", 0x1.8p1022}, {"i64", 0x1.8p62},
             {"i32", 0x1.8p30},  {"u32", 0x1.8p31},   {"u8", 200}};

/* The extremum of the user's rows, of which one is `inner` and the others `outer`; rows that were
 * added hold 0. */
static double extremum(const char *elem, int red, int of_user, double inner, double outer)
{
    static int64_t none[1];
    static const char *name[] = {"g", "x", GN_VALID_ROWS};
    double x[ROWS] = {0}, valid[ROWS] = {0};
    for (int k = 0; k < of_user; k++) {
        x[k] = k ? outer : inner;
        valid[k] = 1;
    }
    gir_value value[] = {{.graph = gir_coo_new(&arena, ROWS, ROWS, 0, none, none)},
                         {.rows = ROWS, .cols = 1, .v = x},
                         {.rows = ROWS, .cols = 1, .v = valid}};
    gir_env env = {.arena = &arena, .n = 3, .name = name, .value = value};
    gir_program *masked;
    gir_value *v;
    const char *text = gn_arena_printf(
        &arena,
        "program @p {\n  space node node ?\n  space edge edge ? of %%1\n"
        "  %%1 = graph \"g\" : graph<node -> node, edge>\n  %%2 = input \"x\" : node %s[]\n"
        "  %%3 = space_reduce %%2 {red = %d}\n  output \"out\" %%3\n}\n",
        elem, red);
    expect_ok(gn_pass_mask_rows(&arena, read_program(text), &masked));
    expect_ok(gir_eval(masked, &env, &v));
    return v[masked->outputs.p[0].value].v[0];
}

START_TEST(extrema)
{
    const char *elem = types[_i].elem;
    double far = types[_i].far;
    bool sign = elem[0] != 'u';
    ck_assert_double_eq(extremum(elem, GIR_RED_MIN, OF_USER, far, far), far);
    ck_assert_double_eq(extremum(elem, GIR_RED_MIN, OF_USER, far / 2, far), far / 2);
    ck_assert_double_eq(extremum(elem, GIR_RED_MAX, OF_USER, far, far / 2), far);
    if (sign) {
        ck_assert_double_eq(extremum(elem, GIR_RED_MAX, OF_USER, -far, -far), -far);
        ck_assert_double_eq(extremum(elem, GIR_RED_MAX, OF_USER, -far / 2, -far), -far / 2);
        ck_assert_double_eq(extremum(elem, GIR_RED_MIN, OF_USER, -far, far), -far);
    }
    ck_assert_double_eq(extremum(elem, GIR_RED_MAX, 0, 0, 0), 0);
    ck_assert_double_eq(extremum(elem, GIR_RED_MIN, 0, 0, 0), 0);
}
END_TEST

static void fill(TCase *t) { tcase_add_loop_test(t, extrema, 0, sizeof types / sizeof *types); }

int main(void) { return run_suite("mask_rows", fill); }
