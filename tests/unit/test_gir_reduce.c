/* Reduction of failing programs. */
/* links: ir base */
#include "ir/gir_reduce.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static gn_arena arena;

static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static const char text[] = "program @p {\n"
                           "  space node node ?\n"
                           "  space edge edge ? of %1\n"
                           "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                           "  %2 = input \"x\" : node f32[8]\n"
                           "  %3 = state \"w\" : f32[8, 4]\n"
                           "  %4 = matmul %2, %3 {ta = 0, tb = 0} : node f32[4]\n"
                           "  %5 = gather %1, %4 {end = 0} : edge f32[4]\n"
                           "  %6 = exp %5 : edge f32[4]\n"
                           "  %7 = scatter %1, %6 {end = 1, red = 0} : node f32[4]\n"
                           "  %8 = tanh %7 : node f32[4]\n"
                           "  %9 = add %8, %4 : node f32[4]\n"
                           "  %10 = abs %3 : f32[8, 4]\n"
                           "  output \"y\" %9\n"
                           "  output \"z\" %4\n"
                           "  update \"w\" %10\n"
                           "}\n";

static gir_program *parsed(void)
{
    gir_program *p = NULL;
    gn_status *s = gir_parse(&arena, text, strlen(text), "test", &p);
    ck_assert_msg(!s, "%s", gn_status_message(s));
    return p;
}

static bool has(const gir_program *p, gir_op op)
{
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (gir_at(p, v)->op == op) return true;
    return false;
}

static int calls;

static bool uses_op(void *user, const gir_program *p)
{
    calls++;
    return has(p, *(const gir_op *)user);
}

START_TEST(keeps_what_fails)
{
    static const gir_op ops[] = {GIR_SCATTER, GIR_EXP, GIR_ABS, GIR_MATMUL, GIR_TANH};
    static const uint32_t most[] = {4, 3, 3, 3, 2}; /* values that it takes */
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        gir_op op = ops[i];
        gir_program *small = gir_reduce_program(&arena, parsed(), uses_op, &op, 0);
        gn_buf b = {.arena = &arena};
        gir_print(small, &b);
        gn_status *s = gir_verify(small);
        ck_assert_msg(!s && has(small, op) && small->outputs.n == 1, "%s%s", gn_status_message(s),
                      b.p);
        ck_assert_msg(small->nodes.n - 1 <= most[i] + 1, "%s", b.p);
    }
}
END_TEST

START_TEST(stops_when_told)
{
    gir_op op = GIR_SCATTER;
    calls = 0;
    gir_reduce_program(&arena, parsed(), uses_op, &op, 5);
    ck_assert_int_le(calls, 6);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("reduce");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, keeps_what_fails);
    tcase_add_test(c, stops_when_told);
    return RUN_CASES("gir_reduce", c);
}
