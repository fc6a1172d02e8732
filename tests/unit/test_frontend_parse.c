/* links: base ir frontend */
/* Syntax: what is printed parses to the same, precedences, literals, lines. */
#include "frontend_test.h"

#include "frontend/stdlib.h"

#include <stdio.h>

static gn_arena arena;
static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static const char *printed(const char *text, size_t n)
{
    gn_ast *ast;
    gn_status *s = gn_parse(&arena, text, n, "m.gnn", &ast);
    if (s) ck_abort_msg("%s", gn_status_message(s));
    gn_buf b = {.arena = &arena};
    gn_ast_print(ast, &b);
    return b.p ? b.p : "";
}

static const struct pair {
    const char *expression, *tree;
} expressions[] = {
    {"1 + 2 * 3", "(1 + (2 * 3))"},
    {"1 - 2 - 3", "((1 - 2) - 3)"},
    {"2 ^ 3 ^ 4", "(2 ^ (3 ^ 4))"},
    {"-a ^ 2", "(-(a ^ 2))"},
    {"2 ^ -1", "(2 ^ (-1))"},
    {"-a * b", "((-a) * b)"},
    {"a @ b + c", "((a @ b) + c)"},
    {"a // b % c", "((a // b) % c)"},
    {"not a == b", "(not (a == b))"},
    {"a or b and not c", "(a or (b and (not c)))"},
    {"0..n - 1", "(0 .. (n - 1))"},
    {"a < b ? c : d ? e : f", "((a < b) ? c : (d ? e : f))"},
    {"x[i].y(z, k = 1)", "x[i].y(z, k = 1)"},
    {"f(x)(y)[0]", "f(x)(y)[0]"},
    {"[a for i in 0..3]", "[a for i in (0 .. 3)]"},
    {"[1, 2.5, \"s\\\"\\\\\", true, none,]", "[1, 2.5, \"s\\\"\\\\\", true, none]"},
    {"sum(u -> v in g: d[u] * h[v])", "sum(u -> v in g: (d[u] * h[v]))"},
    {"in + 1", "(in + 1)"},
    {"1_000 + 1e-3 + 0.1", "((1000 + 0.001) + 0.10000000000000001)"},
    {"1e400 + 123456789012345678901234567890.0", "(inf + 1.2345678901234568e+29)"},
    {"(1\n  + 2)", "(1 + 2)"},
    {"1 +\n  2", "(1 + 2)"},
};

START_TEST(expression)
{
    const char *want = gn_arena_printf(&arena, "fn f() = %s\n", expressions[_i].tree);
    const char *text = gn_arena_printf(&arena, "fn f() = %s", expressions[_i].expression);
    ck_assert_str_eq(printed(text, strlen(text)), want);
}
END_TEST

static void round_trip(const char *text, size_t n)
{
    const char *once = printed(text, n), *twice = printed(once, strlen(once));
    ck_assert_str_eq(once, twice);
}

START_TEST(print_of_stdlib_parses)
{
    for (size_t i = 0; i < gn_stdlib_count; i++)
        round_trip((const char *)gn_stdlib_files[i].data, gn_stdlib_files[i].size);
}
END_TEST

static const char everything
    [] = "# all there is\n"
         "fn f(x, a: float = 1.0) { return x }\n"
         "fn g(x, *, a = 1, b = 2) = x\n"
         "layer N(*, h: int) (x: node[in]) -> node[in] { return x }\n"
         "layer L(out: dim, k = 2) (g: graph, x: node[in], e: edge[d] = none) -> node[...] {\n"
         "  param w, v: [in, out] = glorot_uniform as \"a\", \"b\" transposed\n"
         "  param q: [1] = 0.5 shape [1, 1]\n"
         "  buffer b: [out] = zeros; update b = b * 2\n"
         "  assert k > 0, \"k\"\n"
         "  if k == 1 { y = x } else if k == 2 { y = 2 * x } else { y = 3 * x }\n"
         "  for i in 0..k { y = y + i }\n"
         "  l = Linear(out) as \"lin\"\n"
         "  return l(y)\n"
         "}\n"
         "model M(h = 16) (g: graph, x: node[F], s: [], p: any[3], q: node) { return x }\n"
         "train M(lr = 0.1) {\n"
         "  input target: node[3]\n"
         "  loss = mse(M(g, x), target) over train_mask\n"
         "  weight_decay = 1e-3 on \"a\", \"b.*\"\n"
         "}\n";

START_TEST(print_of_everything_parses) { round_trip(everything, strlen(everything)); }
END_TEST

START_TEST(spellings_of_lines)
{
    static const char unix_text[] = "fn f() = 1\nfn g() = 2\n";
    static const char dos_text[] = "\xEF\xBB\xBF"
                                   "fn f() = 1\r\nfn g() = 2\r\n";
    ck_assert_str_eq(printed(unix_text, strlen(unix_text)), printed(dos_text, strlen(dos_text)));
    ck_assert_str_eq(printed("", 0), "");
    ck_assert_str_eq(printed("# only a comment", 16), "");
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

int main(void)
{
    TCase *t = tcase_create("parse");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, expression, 0, COUNT(expressions));
    tcase_add_test(t, print_of_stdlib_parses);
    tcase_add_test(t, print_of_everything_parses);
    tcase_add_test(t, spellings_of_lines);
    return RUN_CASES("frontend parse", t);
}
