/* links: tune codegen lower passes frontend ir runtime base */
/* Launches in another order: dependences stay, the peak falls, and where nothing is gained nothing
 * changes. */
#include "compile/compile.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static gn_arena arena;

static lowered *lower(const char *text)
{
    gir_program *p = NULL;
    gn_status *s = gir_parse(&arena, text, strlen(text), "test", &p);
    if (!s) s = gir_verify(p);
    lowered *low = NULL;
    fu_options fo = {.off = (gn_switches)1 << GN_DO_FUSE}; /* a kernel an operator */
    low_options lo = {.limits = gn_cpu_limits(NULL), .index = GN_I32};
    if (!s) s = gn_lower(&arena, gn_fuse(&arena, p, &fo), &lo, &low);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    return low;
}

/* Which values the kernels make, in order. */
static const char *order_of(const lowered *low)
{
    gn_buf b = {.arena = &arena};
    gn_buf_add(&b, "");
    for (uint32_t k = 0; k < low->launches.n; k++) {
        const low_launch *l = &low->launches.p[k];
        if (l->kernel && l->region >= 0)
            gn_buf_printf(&b, " %u", low->f->regions.p[l->region].members.p[0]);
    }
    return b.p;
}

#define HEAD                                                                                       \
    "program @p {\n  space node node ?\n  space edge edge ? of %1\n"                               \
    "  %1 = graph \"g\" : graph<node -> node, edge>\n  %2 = input \"x\" : node f32[64]\n"

/* Three wide values, each read by one small one: never more than one of them need be alive. */
START_TEST(what_gives_back_comes_first)
{
    gn_arena_init(&arena);
    lowered *low = lower(HEAD "  %3 = exp %2 : node f32[64]\n  %4 = tanh %2 : node f32[64]\n"
                              "  %5 = sin %2 : node f32[64]\n"
                              "  %6 = reduce %3 {red = 0, axes = 1} : node f32[]\n"
                              "  %7 = reduce %4 {red = 0, axes = 1} : node f32[]\n"
                              "  %8 = reduce %5 {red = 0, axes = 1} : node f32[]\n"
                              "  output \"a\" %6\n  output \"b\" %7\n  output \"c\" %8\n}\n");
    ck_assert_str_eq(order_of(low), " 3 4 5 6 7 8");
    gn_order_launches(&arena, low, NULL);
    ck_assert_str_eq(order_of(low), " 3 6 4 7 5 8");
    gn_arena_free(&arena);
}
END_TEST

/* What may be written over what others still read waits for them: one place does for both. */
START_TEST(readers_come_first)
{
    gn_arena_init(&arena);
    lowered *low = lower(HEAD "  %3 = exp %2 : node f32[64]\n  %4 = sin %3 : node f32[64]\n"
                              "  %5 = reduce %4 {red = 0, axes = 1} : node f32[]\n"
                              "  %6 = reduce %3 {red = 0, axes = 1} : node f32[]\n"
                              "  output \"a\" %5\n  output \"b\" %6\n}\n");
    gn_order_launches(&arena, low, NULL);
    ck_assert_str_eq(order_of(low), " 3 4 5 6");
    gn_find_reuse(&arena, low);
    gn_order_launches(&arena, low, NULL);
    ck_assert_str_eq(order_of(low), " 3 6 4 5");
    gn_arena_free(&arena);
}
END_TEST

/* A chain has one order; so have updates of one state and what reads it before. */
START_TEST(dependences_stay)
{
    gn_arena_init(&arena);
    lowered *low = lower(HEAD "  %3 = exp %2 : node f32[64]\n  %4 = exp %3 : node f32[64]\n"
                              "  %5 = tanh %4 : node f32[64]\n  output \"a\" %5\n}\n");
    gn_order_launches(&arena, low, NULL);
    ck_assert_str_eq(order_of(low), " 3 4 5");
    low = lower("program @p {\n  %1 = state \"w\" : f32[4096]\n  %2 = tanh %1 : f32[4096]\n"
                "  %3 = exp %2 : f32[4096]\n  %4 = exp %1 : f32[4096]\n"
                "  output \"a\" %3\n  update \"w\" %4\n}\n");
    gn_order_launches(&arena, low, NULL);
    int read = -1, written = -1;
    for (uint32_t k = 0; k < low->launches.n; k++) {
        const low_launch *l = &low->launches.p[k];
        if (l->kernel && low->f->regions.p[l->region].members.p[0] == 2) read = (int)k;
        for (uint32_t b = 0; b < l->buffers.n; b++) {
            bool to = l->kernel ? (l->kernel->buffers.p[b].access & KIR_WRITE) != 0 : b == 0;
            if (to && low->buffers.p[l->buffers.p[b]].kind == LOW_STATE) written = (int)k;
        }
    }
    ck_assert_int_ge(read, 0);
    ck_assert_int_gt(written, read);
    gn_arena_free(&arena);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_test(t, what_gives_back_comes_first);
    tcase_add_test(t, readers_come_first);
    tcase_add_test(t, dependences_stay);
    return RUN_CASES("order", t);
}
