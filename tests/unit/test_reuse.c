/* Kernels write over what they read for the last time: where that is so, and where it is not. */
/* links: tune codegen lower passes frontend ir runtime base */
#include "compile/compile.h"
#include "support/suite.h"

#include <check.h>
#include <string.h>

static gn_arena arena;
static int buffers; /* of the last program, of all kinds */

/* Temporaries, and what each launch touches: "v3.v4>" reads v3 and writes v4, "v3>" does so to
 * itself. */
static const char *reused(const char *text, gn_switches off, int *temps)
{
    gir_program *p = NULL;
    gn_status *s = gir_parse(&arena, text, strlen(text), "test", &p);
    if (!s) s = gir_verify(p);
    lowered *low = NULL;
    fu_options fo = {.off = off};
    low_options lo = {.limits = gn_cpu_limits(NULL), .index = GN_I32};
    if (!s) s = gn_lower(&arena, gn_fuse(&arena, p, &fo), &lo, &low);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    gn_find_reuse(&arena, low);
    s = gn_reuse_memory(&arena, low);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    gn_buf b = {.arena = &arena};
    gn_buf_add(&b, "");
    *temps = 0;
    buffers = (int)low->buffers.n;
    for (uint32_t k = 0; k < low->buffers.n; k++) *temps += low->buffers.p[k].kind == LOW_TEMP;
    for (uint32_t l = 0; l < low->launches.n; l++) {
        const low_launch *f = &low->launches.p[l];
        for (uint32_t k = 0; f->kernel && k < f->buffers.n; k++) {
            const low_buffer *of = &low->buffers.p[f->buffers.p[k]];
            if (of->kind != LOW_TEMP) continue;
            bool reads = f->kernel->buffers.p[k].access & KIR_READ,
                 writes = f->kernel->buffers.p[k].access & KIR_WRITE;
            gn_buf_printf(&b, " %s%s%s", reads ? "<" : "", of->name, writes ? ">" : "");
        }
        gn_buf_add(&b, ";");
    }
    return b.p;
}

/* Kinds of launches in order; where a chain begins, of how many. */
static const char *chained(const char *text)
{
    gir_program *p = NULL;
    gn_status *s = gir_parse(&arena, text, strlen(text), "test", &p);
    if (!s) s = gir_verify(p);
    lowered *low = NULL;
    low_options lo = {.limits = gn_cpu_limits(NULL), .index = GN_I32};
    if (!s) s = gn_lower(&arena, gn_fuse(&arena, p, &(fu_options){0}), &lo, &low);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    gn_find_chains(&arena, low);
    gn_buf b = {.arena = &arena};
    for (uint32_t l = 0; l < low->launches.n; l++) {
        const low_launch *f = &low->launches.p[l];
        const char *kind = strchr(f->kernel->name, '_') + 1;
        gn_buf_printf(&b, "%s%.*s", l ? " " : "", (int)strcspn(kind, "_"), kind);
        if (f->chain) gn_buf_printf(&b, "[%d]", f->chain);
    }
    return b.p;
}

#define APART ((gn_switches)1 << GN_DO_FUSE) /* a kernel an operator */
#define HEAD                                                                                       \
    "program @p {\n  space node node ?\n  space edge edge ? of %1\n"                               \
    "  %1 = graph \"g\" : graph<node -> node, edge>\n  %2 = input \"x\" : node f32[64]\n"

/* All of a chain lies in one place. */
START_TEST(a_chain)
{
    int temps;
    gn_arena_init(&arena);
    const char *got = reused(
        HEAD "  %3 = exp %2 : node f32[64]\n  %4 = sin %3 : node f32[64]\n"
             "  %5 = tanh %4 : node f32[64]\n  %6 = exp %5 : node f32[64]\n  output \"a\" %6\n}\n",
        APART, &temps);
    ck_assert_str_eq(got, " v3>; <v3>; <v3>; <v3;");
    ck_assert_int_eq(temps, 1);
    gn_arena_free(&arena);
}
END_TEST

/* What is read again later, or gathered, stays; bytes and numbers do not share. */
START_TEST(what_is_still_wanted)
{
    int temps;
    gn_arena_init(&arena);
    const char *got = reused(HEAD "  %3 = exp %2 : node f32[64]\n  %4 = sin %3 : node f32[64]\n"
                                  "  %5 = add %3, %4 : node f32[64]\n  output \"a\" %5\n}\n",
                             APART, &temps);
    ck_assert_str_eq(got, " v3>; <v3 v4>; <v3 <v4;");
    got = reused(HEAD "  %3 = exp %2 : node f32[64]\n  %4 = sin %3 : node f32[64]\n  %5 = tanh %4 "
                      ": node f32[64]\n"
                      "  %6 = add %5, %4 : node f32[64]\n  output \"a\" %6\n}\n",
                 APART, &temps);
    ck_assert_str_eq(got, " v3>; <v3>; <v3 v5>; <v5 <v3;"); /* two readers, in its new place */
    got = reused(HEAD
                 "  %3 = exp %2 : node f32[64]\n  %4 = gather %1, %3 {end = 0} : edge f32[64]\n"
                 "  %5 = scatter %1, %4 {end = 1, red = 0} : node f32[64]\n"
                 "  %6 = exp %5 : node f32[64]\n  output \"a\" %6\n}\n",
                 0, &temps);
    ck_assert_int_eq(temps, 1); /* the sum and what follows are one loop, which gathers the other */
    got = reused(
        HEAD "  %3 = exp %2 : node f32[64]\n  %4 = gt %3, %2 : node bool[64]\n"
             "  %5 = cast %4 : node f32[64]\n  %6 = exp %5 : node f32[64]\n  output \"a\" %6\n}\n",
        APART, &temps);
    ck_assert_str_eq(got, " v3>; <v3 v4>; <v4 v5>; <v5;");
    gn_arena_free(&arena);
}
END_TEST

/* Neither what is bound from outside nor what is read there is anybody's place. */
START_TEST(what_is_bound)
{
    int temps;
    gn_arena_init(&arena);
    const char *got = reused(
        "program @p {\n  %1 = state \"w\" : f32[4096]\n  %2 = input \"x\" : f32[4096]\n"
        "  %3 = add %1, %2 : f32[4096]\n  %4 = tanh %3 : f32[4096]\n"
        "  output \"a\" %3\n  output \"b\" %4\n}\n",
        APART, &temps);
    ck_assert_str_eq(got, ";;");
    ck_assert_int_eq(temps, 0);
    ck_assert_int_eq(buffers, 4); /* none of them is another */
    gn_arena_free(&arena);
}
END_TEST

/* Of two results one finds a place, of two places one is taken. */
START_TEST(each_place_once)
{
    int temps;
    gn_arena_init(&arena);
    const char *head = HEAD "  %3 = exp %2 : node f32[64]\n  %4 = tanh %2 : node f32[64]\n";
    const char *got = reused(
        gn_arena_printf(&arena,
                        "%s  %%5 = add %%3, %%4 : node f32[64]\n  %%6 = exp %%5 : node f32[64]\n"
                        "  output \"a\" %%6\n}\n",
                        head),
        APART, &temps);
    ck_assert_str_eq(got, " v3>; v4>; <v3> <v4; <v3;");
    ck_assert_int_eq(temps, 2);
    got = reused(
        "program @p {\n  space node node ?\n  space edge edge ? of %1\n"
        "  %1 = graph \"g\" : graph<node -> node, edge>\n  %2 = input \"x\" : node f32[8]\n"
        "  %3 = state \"w\" : f32[8, 8]\n  %4 = matmul %2, %3 {ta = 0, tb = 0} : node f32[8]\n"
        "  %5 = gather %1, %4 {end = 0} : edge f32[8]\n"
        "  %6 = scatter %1, %5 {end = 1, red = 0} : node f32[8]\n"
        "  %7 = gather %1, %6 {end = 0} : edge f32[8]\n"
        "  %8 = scatter %1, %7 {end = 1, red = 0} : node f32[8]\n"
        "  %9 = add %8, %4 : node f32[8]\n  %10 = mul %8, %4 : node f32[8]\n"
        "  %11 = gather %1, %9 {end = 0} : edge f32[8]\n  %12 = gather %1, %10 {end = 0} : edge "
        "f32[8]\n"
        "  %13 = add %11, %12 : edge f32[8]\n"
        "  %14 = scatter %1, %13 {end = 1, red = 0} : node f32[8]\n  output \"a\" %14\n}\n",
        0, &temps);
    ck_assert_str_eq(got, " v4>; <v4 v6>; <v6 <v4> v10>; <v4 <v10;");
    ck_assert_int_eq(temps, 3);
    gn_arena_free(&arena);
}
END_TEST

/* A row's narrow sums, and what it adds to sums over rows, are read before its wide result is
 * written. */
START_TEST(sums_before_stores)
{
    int temps;
    gn_arena_init(&arena);
    const char *got = reused(
        HEAD "  %3 = state \"w\" : f32[64, 64]\n"
             "  %4 = matmul %2, %3 {ta = 0, tb = 0} : node f32[64]\n"
             "  %5 = gather %1, %2 {end = 0} : edge f32[64]\n"
             "  %6 = scatter %1, %5 {end = 1, red = 0} : node f32[64]\n"
             "  %7 = mul %6, %4 : node f32[64]\n  %8 = reshape %7 : node f32[8, 8]\n"
             "  %9 = reduce %8 {red = 0, axes = 2} : node f32[8]\n"
             "  %10 = space_reduce %7 {red = 0} : f32[64]\n"
             "  %11 = matmul %6, %3 {ta = 0, tb = 0} : node f32[64]\n"
             "  output \"a\" %9\n  output \"b\" %10\n  output \"c\" %11\n}\n",
        0, &temps);
    ck_assert_str_eq(got, " v4>; <v4> partial_10>; <partial_10; <v4;");
    gn_arena_free(&arena);
}
END_TEST

/* Of two results the one that is read longest takes the place that has been in use longest. */
START_TEST(the_oldest_for_the_longest)
{
    int temps;
    gn_arena_init(&arena);
    const char *text = HEAD
        "  %%3 = state \"w\" : f32[64, 64]\n"
        "  %%4 = matmul %%2, %%3 {ta = 0, tb = 0} : node f32[64]\n"
        "  %%5 = matmul %%4, %%3 {ta = 0, tb = 0} : node f32[64]\n"
        "  %%6 = mul %%4, %%5 : node f32[64]\n  %%7 = reduce %%6 {red = 0, axes = 1} : node f32[]\n"
        "  %%8 = broadcast %%7 : node f32[64]\n"
        "  %%9 = mul %%4, %%8 : node f32[64]\n  %%10 = mul %%5, %%8 : node f32[64]\n"
        "  %%11 = matmul %s, %%3 {ta = 0, tb = 0} : node f32[64]\n"
        "  %%12 = matmul %%11, %%3 {ta = 0, tb = 0} : node f32[64]\n"
        "  %%13 = matmul %s, %%12 {ta = 1, tb = 0} : f32[64, 64]\n  output \"a\" %%13\n}\n";
    const char *got = reused(gn_arena_printf(&arena, text, "%10", "%9"), 0, &temps);
    ck_assert_str_eq(
        got, " v4>; <v4 v5>; <v4> <v5>; <v5 v11>; <v11 v12>; <v4 <v12 partial_13>; <partial_13;");
    got = reused(gn_arena_printf(&arena, text, "%9", "%10"), 0, &temps);
    ck_assert_str_eq(
        got, " v4>; <v4 v5>; <v4> <v5>; <v5 v11>; <v11 v12>; <v4 <v12 partial_13>; <partial_13;");
    gn_arena_free(&arena);
}
END_TEST

/* A launch joins a chain past one that adds up the chain's partial sums, which then comes behind
 * it; not past one that makes what it reads. */
START_TEST(past_what_is_in_between)
{
    gn_arena_init(&arena);
    const char *text = HEAD
        "  %%3 = state \"w\" : f32[64, 64]\n"
        "  %%4 = matmul %%2, %%3 {ta = 0, tb = 0} : node f32[64]\n"
        "  %%5 = reshape %%4 : node f32[8, 8]\n"
        "  %%6 = reduce %%5 {red = 0, axes = 2} : node f32[8]\n"
        "  %%7 = reshape %%6 : node f32[8, 1]\n  %%8 = broadcast %%7 : node f32[8, 8]\n"
        "  %%9 = mul %%5, %%8 : node f32[8, 8]\n  %%10 = reshape %%9 : node f32[64]\n"
        "  %%11 = space_reduce %%6 {red = 0} : f32[8]\n"
        "  output \"a\" %%11\n%s  output \"b\" %%14\n}\n";
    const char *past = "  %12 = input \"y\" : node f32[4]\n  %13 = input \"z\" : node f32[8]\n"
                       "  %14 = matmul %10, %13 {ta = 1, tb = 0} : f32[64, 8]\n";
    ck_assert_str_eq(chained(gn_arena_printf(&arena, text, past)),
                     "gemm[3] rows inner finish finish");
    const char *not = "  %12 = broadcast %11 : node f32[8]\n  %13 = max %12, %6 : node f32[8]\n"
                      "  %14 = matmul %10, %13 {ta = 1, tb = 0} : f32[64, 8]\n";
    ck_assert_str_eq(chained(gn_arena_printf(&arena, text, not)),
                     "gemm[2] rows finish rows[2] inner finish");
    gn_arena_free(&arena);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_test(t, a_chain);
    tcase_add_test(t, what_is_still_wanted);
    tcase_add_test(t, what_is_bound);
    tcase_add_test(t, each_place_once);
    tcase_add_test(t, sums_before_stores);
    tcase_add_test(t, the_oldest_for_the_longest);
    tcase_add_test(t, past_what_is_in_between);
    return RUN_CASES("reuse", t);
}
