/* links: base ir frontend */
/* Every diagnostic, compared with its caret; the errors of -D; what hostile texts must not do. */
#include "frontend_errors.h"
#include "frontend_test.h"

#include <stdio.h>

static gn_arena arena;
static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static void expect(const struct error_case *c)
{
    gn_code code;
    gn_model *m;
    const char *message = frontend_try(&arena, c->text, &frontend_shape, 0, NULL, &code, &m);
    ck_assert_msg(message != NULL, "%s: no error", c->name);
    ck_assert_msg(strcmp(message, c->message) == 0, "%s:\n%s\nexpected:\n%s", c->name, message,
                  c->message);
    ck_assert_int_eq(code, GN_ERR_MODEL);
}

START_TEST(of_syntax) { expect(&syntax[_i]); }
END_TEST
START_TEST(of_values) { expect(&values[_i]); }
END_TEST
START_TEST(of_calls) { expect(&calls[_i]); }
END_TEST
START_TEST(of_tensors) { expect(&tensors[_i]); }
END_TEST
START_TEST(of_train) { expect(&train[_i]); }
END_TEST
START_TEST(of_elsewhere) { expect(&elsewhere[_i]); }
END_TEST

/* definitions ---------------------------------------------------------------------------------- */

static const char sized[] = "model M(hidden: dim, p = 0.5, norm = false, aggr = \"mean\", widths = "
                            "[8]) (x: node[F]) -> node[F] {\n"
                            "  return dropout(x, p)\n}\n";

static const struct define_case {
    gn_define define;
    const char *message; /* NULL: fine */
} define_cases[] = {
    {{"hidden", "16"}, NULL},
    {{"hidden", "0"}, "-D hidden=0: `hidden` is a dimension, an integer of at least 1, not 0"},
    {{"hidden", "1.5"},
     "-D hidden=1.5: `hidden` is a dimension, an integer of at least 1, not 1.5"},
    {{"hidden", ""},
     "-D hidden:1:1: error: expected an expression, found the end of the file\n    1 | \n      | "
     "^"},
    {{"hidden", "4 4"},
     "-D hidden:1:3: error: expected the end of the value, found `4`\n    1 | 4 4\n      |   ^"},
    {{"p", "1"}, NULL},
    {{"p", "true"}, "-D p=true: `p` is a number, not true"},
    {{"norm", "true"}, NULL},
    {{"norm", "1"}, "-D norm=1: `norm` is true or false, not 1"},
    {{"aggr", "max"}, NULL},
    {{"aggr", "0.5"}, NULL},
    {{"widths", "[16, 16]"}, NULL},
    {{"widths", "16"}, "-D widths=16: `widths` is a list, not 16"},
    {{"hiden", "16"}, "`M` has no hyperparameter `hiden`; did you mean `hidden`?"},
};

START_TEST(of_definitions)
{
    const struct define_case *c = &define_cases[_i];
    gn_define defines[2] = {{"hidden", "8"}, c->define};
    gn_code code;
    gn_model *m;
    const char *message = frontend_try(&arena, sized, &frontend_shape, 2, defines, &code, &m);
    if (c->message) {
        ck_assert_ptr_nonnull(message);
        ck_assert_str_eq(message, c->message);
        ck_assert_int_eq(code, GN_ERR_USAGE);
    } else
        ck_assert_msg(message == NULL, "%s", message);
}
END_TEST

START_TEST(of_what_is_missing)
{
    gn_code code;
    gn_model *m;
    gn_data_shape none = {0};
    const char *s = frontend_try(&arena, sized, &frontend_shape, 0, NULL, &code, &m);
    ck_assert_str_eq(s, "`M` needs its hyperparameter `hidden`: give it with -D hidden=...");
    ck_assert_int_eq(code, GN_ERR_USAGE);
    s = frontend_try(&arena, "fn f() = 1\n", &frontend_shape, 0, NULL, &code, &m);
    ck_assert_str_eq(s, "m.gnn: no `model` in this file");
    ck_assert_int_eq(code, GN_ERR_MODEL);
    s = frontend_try(&arena, "model M() (x: node[F]) -> node[F] { return x }\n", &none, 0, NULL,
                     &code, &m);
    ck_assert_ptr_nonnull(strstr(s, "error: `F` is the number of features, and the data has none"));
}
END_TEST

START_TEST(of_a_model_that_is_not_there)
{
    gn_ast *ast;
    gn_model *m;
    gn_status *s = gn_parse(&arena, sized, strlen(sized), "m.gnn", &ast);
    ck_assert_ptr_null(s);
    s = gn_elaborate(&arena, ast, "N", &frontend_shape, 0, NULL, &m);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_USAGE);
    ck_assert_str_eq(gn_status_message(s), "m.gnn: no model is named `N`");
    gn_status_free(s);
}
END_TEST

/* The twenty-first error ends the list. */
START_TEST(of_many)
{
    gn_buf b = {.arena = &arena};
    gn_model *m;
    gn_buf_add(&b, "model M() (x: node[F]) -> node[F] {\n");
    for (int i = 0; i < 2000; i++) gn_buf_printf(&b, "  y%d = unknown%d\n", i, i);
    gn_buf_add(&b, "  return x\n}\n");
    const char *s = frontend_try(&arena, b.p, &frontend_shape, 0, NULL, NULL, &m);
    int n = 0;
    for (const char *at = s; (at = strstr(at, ": error: ")); at++) n++;
    ck_assert_int_eq(n, 20);
    ck_assert_ptr_nonnull(strstr(s, "more than 20 errors: the first 20 are shown"));
}
END_TEST

/* hostile texts -------------------------------------------------------------------------------- */

static const struct hostile {
    const char *before, *again, *after, *message;
    int times;
} hostiles[] = {
    {"fn f() = ", "(", "", "nested too deeply", 1000000},
    {"fn f() = ", "[", "", "nested too deeply", 1000000},
    {"fn f() = ", "-", "1", "nested too deeply", 1000000},
    {"fn f() = ", "not ", "true", "nested too deeply", 100000},
    {"fn f() = ", "2 ^ ", "1", "nested too deeply", 100000},
    {"fn f() = ", "true ? 1 : ", "1", "nested too deeply", 100000},
    {"fn f() = 1", " + 1", "", "expression too deep", 100000},
    {"fn f(x) = x", "[0]", "", "expression too deep", 100000},
    {"fn f(x) = x", ".a", "", "expression too deep", 100000},
    {"fn f(x) = x", "()", "", "expression too deep", 100000},
    {"fn f() {", "if true {", "", "nested too deeply", 100000},
    {"fn f() { if true { }", " else if true { }", "", "nested too deeply", 100000},
    {"", "{", "", "expected `layer`", 100000},
    {"", "\n", "", "no `model`", 3000000},
    {"model M() (x: node[F]) {\n y = [1]\n", " y = y + y\n", "return x }\n", "too long to unroll",
     64},
    {"model M() (x: node[F]) {\n y = [1]\n", " y = [y]\n", "return x }\n",
     "nested more than 16 deep", 1000},
    {"fn f(n) = n < 2 ? n : f(n - 1) + f(n - 2)\nmodel M() (x: node[F]) {\n", " y = f(60)\n",
     "return x }\n", "too long to unroll", 1},
    {"model M() (g: graph, x: node[F]) {\n for i in 0..100000 {", " g = reverse(g) ",
     "}\nreturn x }\n", "more than 256 derived", 1},
    {"model M() (x: node[F]) {\n",
     "y = concat([x for i in 0..4000])\n x = concat([y for i in 0..4000])\n", "return x }\n",
     "2^40", 4},
};

START_TEST(of_hostile_texts)
{
    const struct hostile *h = &hostiles[_i];
    gn_buf b = {.arena = &arena};
    gn_model *m;
    gn_buf_add(&b, h->before);
    for (int i = 0; i < h->times; i++) gn_buf_add(&b, h->again);
    gn_buf_add(&b, h->after);
    const char *s = frontend_try(&arena, b.p, &frontend_shape, 0, NULL, NULL, &m);
    ck_assert_ptr_nonnull(s);
    ck_assert_msg(strstr(s, h->message) != NULL, "%.300s\nexpected: %s", s, h->message);
    ck_assert_uint_lt(strlen(s), 20000);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

int main(void)
{
    TCase *t = tcase_create("errors");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, of_syntax, 0, COUNT(syntax));
    tcase_add_loop_test(t, of_values, 0, COUNT(values));
    tcase_add_loop_test(t, of_calls, 0, COUNT(calls));
    tcase_add_loop_test(t, of_tensors, 0, COUNT(tensors));
    tcase_add_loop_test(t, of_train, 0, COUNT(train));
    tcase_add_loop_test(t, of_elsewhere, 0, COUNT(elsewhere));
    tcase_add_loop_test(t, of_definitions, 0, COUNT(define_cases));
    tcase_add_test(t, of_what_is_missing);
    tcase_add_test(t, of_a_model_that_is_not_there);
    tcase_add_test(t, of_many);
    tcase_add_loop_test(t, of_hostile_texts, 0, COUNT(hostiles));
    tcase_set_timeout(t, 60);
    return RUN_CASES("frontend errors", t);
}
