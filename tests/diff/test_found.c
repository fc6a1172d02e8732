/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 900 */
/* Programs that went wrong once, made small, and some on many rows: each in every mode, on several
 * graphs, every way. */
#include "base/sanitized.h"
#include "support/random_gir.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const programs[][2] = {
    {"the minimum of integers over edges",
     "  space node node ?\n  space edge edge ? of %1\n"
     "  %1 = graph \"g\" : graph<node -> node, edge>\n"
     "  %2 = input \"x.label\" : edge i64[2]\n"
     "  %3 = scatter %1, %2 {end = 1, red = 2} : node i64[2]\n"
     "  %4 = const {value = 3} : edge i64[2]\n"
     "  %5 = scatter %1, %4 {end = 0, red = 1} : node i64[2]\n"
     "  %6 = scatter %1, %4 {end = 0, red = 0} : node i64[2]\n"
     "  output \"a\" %3\n  output \"b\" %5\n  output \"c\" %6\n"},
    {"extrema of integers over a space and a row",
     "  space node node ?\n"
     "  %1 = input \"x.label\" : node i32[8]\n"
     "  %2 = space_reduce %1 {red = 2} : i32[8]\n"
     "  %3 = space_reduce %1 {red = 1} : i32[8]\n"
     "  %4 = reduce %1 {red = 2, axes = 1} : node i32[]\n"
     "  %5 = reduce %1 {red = 1, axes = 1} : node i32[]\n"
     "  output \"a\" %2\n  output \"b\" %3\n  output \"c\" %4\n  output \"d\" %5\n"},
    {"the first symbol is a size", "  space node node ?\n  space edge edge ? of %1\n"
                                   "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                                   "  %2 = size {space = edge} : f32[]\n"
                                   "  %3 = const {value = 2} : f32[]\n"
                                   "  %4 = mul %2, %3 : f32[]\n"
                                   "  output \"a\" %4\n"},
    {"what gradients of weights read is made again", /* where it is supposed to be large: small
                                                        caches */
     "  space node node ?\n  space edge edge ? of %1\n"
     "  %1 = graph \"g\" : graph<node -> node, edge>\n"
     "  %2 = input \"x.any\" : node f32[4]\n  %3 = input \"ax.any\" : node f32[4]\n"
     "  %4 = state \"w.any\" : f32[4, 4]\n"
     "  %5 = sub %2, %3 : node f32[4]\n  %6 = matmul %5, %4 {ta = 0, tb = 0} : node f32[4]\n"
     "  %7 = gather %1, %6 {end = 0} : edge f32[4]\n"
     "  %8 = scatter %1, %7 {end = 1, red = 0} : node f32[4]\n  %9 = tanh %8 : node f32[4]\n"
     "  %10 = matmul %9, %4 {ta = 0, tb = 0} : node f32[4]\n"
     "  %11 = gather %1, %10 {end = 0} : edge f32[4]\n"
     "  %12 = scatter %1, %11 {end = 1, red = 0} : node f32[4]\n"
     "  %13 = matmul %12, %4 {ta = 0, tb = 0} : node f32[4]\n"
     "  %14 = matmul %9, %13 {ta = 1, tb = 0} : f32[4, 4]\n"
     "  %15 = matmul %13, %4 {ta = 0, tb = 1} : node f32[4]\n  %16 = mul %15, %9 : node f32[4]\n"
     "  %17 = mul %16, %8 : node f32[4]\n  %18 = matmul %5, %17 {ta = 1, tb = 0} : f32[4, 4]\n"
     "  output \"dw2\" %14\n  output \"dw1\" %18\n"},
    {"plain rows of a view of rows", "  space feature feature 4\n"
                                     "  %1 = state \"s.any\" : f32[4, 5]\n"
                                     "  %2 = to_rows %1 : feature f32[5]\n"
                                     "  %3 = slice %2 {axis = 0, start = 3} : feature f32[2]\n"
                                     "  %4 = from_rows %3 : f32[4, 2]\n"
                                     "  output \"a\" %4\n"},
    {"plain rows of repeated rows", "  space feature feature 5\n"
                                    "  %1 = state \"s.any\" : f32[5, 4, 1]\n"
                                    "  %2 = to_rows %1 : feature f32[4, 1]\n"
                                    "  %3 = reshape %2 : feature f32[1, 4, 1]\n"
                                    "  %4 = broadcast %3 : feature f32[2, 4, 1]\n"
                                    "  %5 = from_rows %4 : f32[5, 2, 4, 1]\n"
                                    "  output \"a\" %5\n"},
    {"work on a product of one column", "  space node node ?\n"
                                        "  %1 = input \"x.any\" : node f32[6]\n"
                                        "  %2 = state \"w.any\" : f32[1, 6]\n"
                                        "  %3 = matmul %1, %2 {ta = 0, tb = 1} : node f32[1]\n"
                                        "  %4 = input \"b.pos\" : node f32[1]\n"
                                        "  %5 = add %3, %4 : node f32[1]\n"
                                        "  %6 = mul %5, %5 : node f32[1]\n"
                                        "  output \"a\" %6\n"},
    {"a sparse product over edges", "  space node node ?\n  space edge edge ? of %1\n"
                                    "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                                    "  %2 = input \"x.any\" : edge f32[4]\n"
                                    "  %3 = state \"w.any\" : f32[3, 4]\n"
                                    "  %4 = matmul %2, %3 {ta = 0, tb = 1} : edge f32[3]\n"
                                    "  %5 = tanh %4 : edge f32[3]\n"
                                    "  output \"a\" %5\n"},
    {"calls of libm that LLVM knows better",
     "  space node node ?\n"
     "  %1 = const {value = 0.5} : node f64[2]\n"
     "  %2 = input \"x.any\" : node f64[2]\n"
     "  %3 = pow %1, %2 : node f64[2]\n"
     "  %4 = sin %2 : node f64[2]\n"
     "  %5 = cos %2 : node f64[2]\n"
     "  %6 = add %4, %5 : node f64[2]\n"
     "  %7 = input \"y.pos\" : node f64[2]\n"
     "  %8 = pow %7, %1 : node f64[2]\n"
     "  output \"a\" %3\n  output \"b\" %6\n  output \"c\" %8\n"},
    {"the old value of a state that changes", "  %1 = state \"s.any\" : f32[5]\n"
                                              "  %2 = const {value = 0} : f32[5]\n"
                                              "  update \"s.any\" %2\n  output \"a\" %1\n"},
    {"the old value of a large state that changes",
     "  %1 = state \"s.any\" : f32[1000]\n"
     "  %2 = mul %1, %1 : f32[1000]\n"
     "  %3 = add %1, %2 : f32[1000]\n"
     "  update \"s.any\" %2\n  output \"a\" %3\n  output \"b\" %1\n"},
    {"states that swap", "  %1 = state \"s.any\" : f32[300]\n  %2 = state \"t.any\" : f32[300]\n  "
                         "%3 = state \"u.any\" : f32[300]\n"
                         "  update \"s.any\" %2\n  update \"t.any\" %3\n  update \"u.any\" %1\n"},
    {"an element read where only its reader's index is known",
     "  space node node ?\n"
     "  %1 = input \"x.any\" : node f32[8]\n"
     "  %2 = slice %1 {axis = 0, start = 6} : node f32[1]\n"
     "  %3 = pad %2 {axis = 0, before = 6} : node f32[8]\n"
     "  output \"a\" %3\n"},
    {"a value read at both ends of an edge, which nothing else reads",
     "  space node node ?\n  space edge edge ? of %1\n"
     "  %1 = graph \"g\" : graph<node -> node, edge>\n"
     "  %2 = input \"x.any\" : node f32[4]\n"
     "  %3 = exp %2 : node f32[4]\n"
     "  %4 = gather %1, %3 {end = 0} : edge f32[4]\n"
     "  %5 = gather %1, %3 {end = 1} : edge f32[4]\n"
     "  %6 = sub %4, %5 : edge f32[4]\n"
     "  %7 = scatter %1, %6 {end = 0, red = 0} : node f32[4]\n"
     "  output \"a\" %7\n"},
    {"what is static over a pattern that is not",
     "  space node node ?\n  space feature feature 4\n  space edge edge ? of %2\n"
     "  %1 = input \"x0.sparse\" : node f32[4]\n"
     "  %2 = pattern %1 : graph<feature -> node, edge>\n"
     "  %3 = const {value = 2} : edge f32[2]\n"
     "  %4 = scatter %2, %3 {end = 1, red = 0} : node f32[2]\n"
     "  %5 = state \"s.any\" : f32[2]\n"
     "  %6 = broadcast %5 : node f32[2]\n"
     "  %7 = add %4, %6 : node f32[2]\n"
     "  output \"a\" %7\n"},
    {"rows in order, what is no number above all", /* 0 / 0 */
     "  space node node ?\n"
     "  %1 = input \"x.label\" : node i64[2]\n  %2 = cast %1 : node f32[2]\n"
     "  %3 = const {value = 1} : node f32[2]\n  %4 = sub %2, %3 : node f32[2]\n"
     "  %5 = mul %4, %4 : node f32[2]\n  %6 = div %5, %4 : node f32[2]\n"
     "  %7 = rank %6 : node i32[2]\n  output \"a\" %7\n"},
};
/* Many chunks and blocks of rows, and a rest. */
static const char *const large[][2] = {
    {"sums over a space in chunks", "  space node node ?\n"
                                    "  %1 = input \"x.any\" : node f32[3]\n"
                                    "  %2 = space_reduce %1 {red = 0} : f32[3]\n"
                                    "  %3 = space_reduce %1 {red = 1} : f32[3]\n"
                                    "  %4 = space_reduce %1 {red = 2} : f32[3]\n"
                                    "  %5 = input \"y.label\" : node i32[]\n"
                                    "  %6 = space_reduce %5 {red = 0} : i32[]\n"
                                    "  %7 = input \"z.any\" : node f32[]\n"
                                    "  %8 = space_reduce %7 {red = 0} : f32[]\n"
                                    "  %9 = space_reduce %7 {red = 2} : f32[]\n"
                                    "  output \"a\" %2\n  output \"b\" %3\n  output \"c\" %4\n  "
                                    "output \"d\" %6\n  output \"e\" %8\n"
                                    "  output \"f\" %9\n"},
    {"products over a space in chunks",
     "  space node node ?\n"
     "  %1 = input \"x.any\" : node f32[7]\n  %2 = input \"y.any\" : node f32[5]\n"
     "  %3 = matmul %1, %2 {ta = 1, tb = 0} : f32[7, 5]\n"
     "  %4 = matmul %1, %3 {ta = 0, tb = 0} : node f32[5]\n"
     "  %5 = input \"z.any\" : node f32[40]\n"
     "  %6 = matmul %5, %1 {ta = 1, tb = 0} : f32[40, 7]\n"
     "  output \"a\" %3\n  output \"b\" %4\n  output \"c\" %6\n"},
    {"products with packed panels, in blocks",
     "  space node node ?\n"
     "  %1 = input \"x.any\" : node f32[5]\n"
     "  %2 = state \"w.any\" : f32[5, 70]\n"
     "  %3 = matmul %1, %2 {ta = 0, tb = 0} : node f32[70]\n"
     "  %4 = tanh %3 : node f32[70]\n"
     "  %5 = matmul %1, %4 {ta = 1, tb = 0} : f32[5, 70]\n"
     "  output \"a\" %4\n  output \"b\" %5\n"},
    {"rows as lanes, in blocks",
     "  space node node ?\n"
     "  %1 = input \"x.any\" : node f32[]\n  %2 = input \"y.pos\" : node f32[]\n"
     "  %3 = mul %1, %2 : node f32[]\n  %4 = tanh %3 : node f32[]\n"
     "  %5 = lt %3, %4 : node bool[]\n  %6 = select %5, %3, %2 : node f32[]\n"
     "  output \"a\" %4\n  output \"b\" %6\n  output \"c\" %5\n"},
    {"elements of a parameter, in blocks",
     "  %1 = state \"s.any\" : f32[130, 70]\n  %2 = state \"m.any\" : f32[130, 70]\n"
     "  %3 = const {value = 0.5} : f32[130, 70]\n"
     "  %4 = mul %1, %3 : f32[130, 70]\n  %5 = sub %2, %4 : f32[130, 70]\n"
     "  update \"s.any\" %5\n  update \"m.any\" %4\n  output \"old\" %1\n"},
};
enum { LARGE = sizeof large / sizeof *large };

enum { PROGRAMS = sizeof programs / sizeof *programs };

/* Graphs that each program is run on. */
static uint64_t seeds(void) { return GN_UNDER_ASAN || !suite_long() ? 2 : 6; }

/* In the modes of `modes`, code of those of `code`. */
static void run_seed(const char *const *it, uint64_t seed, const random_gir_options *opt,
                     unsigned modes, unsigned code)
{
    gn_arena a;
    gir_program *p;
    gn_arena_init(&a);
    char *text = gn_arena_printf(&a, "program @found {\n%s}\n", it[1]);
    gn_status *s = gir_parse(&a, text, strlen(text), "found", &p);
    ck_assert_msg(!s, "%s: %s", it[0], gn_status_message(s));
    gir_env env = random_gir_env(&a, p, seed, opt);
    s = run_every_way(p, &env, modes, code, NULL);
    ck_assert_msg(!s, "%s, seed %d: %s (%s:%d)\n%s", it[0], (int)seed, gn_status_message(s),
                  s->file, s->line, text);
    gn_arena_free(&a);
}

START_TEST(found)
{
    if (suite_leaves_out(_i, 2)) return; /* each compiles */
    unsigned all = (1u << RUN_MODE_COUNT) - 1;
    for (uint64_t seed = 0; seed < seeds(); seed++)
        run_seed(programs[_i], seed, NULL, all, seed % 3 ? 0 : all);
}
END_TEST

/* Mode by mode: each holds some gigabyte of values and bounds. */
START_TEST(many_rows)
{
    for (uint64_t seed = 0; seed < (GN_UNDER_ASAN || !suite_long() ? 1 : 3); seed++) {
        random_gir_options o = {.max_nodes = !suite_long() || seed || GN_UNDER_ASAN ? 5000 : 20000};
        for (unsigned mode = 0; mode < RUN_MODE_COUNT; mode++)
            run_seed(large[_i], seed, &o, 1u << mode, seed ? 0 : 1u << mode);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("found"), *u = tcase_create("rows");
    tcase_add_loop_test(t, found, 0, PROGRAMS);
    tcase_add_loop_test(u, many_rows, 0, LARGE);
    tcase_set_timeout(t, 900);
    tcase_set_timeout(u, 900);
    return RUN_CASES("found", t, u);
}
