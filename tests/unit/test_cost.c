/* links: tune codegen lower passes frontend ir runtime base */
/* What explain counts: bytes and operations of a kernel, and why values stayed apart. */
#include "compile/cost.h"
#include "fuse/fuse.h"
#include "session/profile.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

static gn_arena arena;

static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static const char spmm
    [] = "kernel @spmm (\n"
         "  sym node, sym edge,\n"
         "  %rowptr: i32[node + 1] read, %col: i32[edge] read,\n"
         "  %h: f32[node * 16] read, %out: f32[node * 16] write\n) {\n"
         "  for %1 in 0 .. node step 1 thread none {\n"
         "    %2 = tile f32 16\n"
         "    for %3 in 0 .. 16 step 1 vector none {\n      tstore %2[%3], 0.0\n    }\n"
         "    %4 = load i64 %rowptr[%1]\n    %5 = iadd %1, 1\n    %6 = load i64 %rowptr[%5]\n"
         "    for %7 in %4 .. %6 step 1 serial reduce {\n"
         "      %8 = load i64 %col[%7]\n      %9 = imul %8, 16\n"
         "      for %10 in 0 .. 16 step 1 vector none {\n"
         "        %11 = iadd %9, %10\n        %12 = load f32 %h[%11]\n        %13 = exp f32 %12\n"
         "        tacc sum %2[%10], %13\n      }\n    }\n"
         "    %14 = imul %1, 16\n"
         "    for %15 in 0 .. 16 step 1 vector none {\n"
         "      %16 = iadd %14, %15\n      %17 = tload f32 %2[%15]\n      store %out[%16], %17\n"
         "    }\n  }\n}\n";

static kir_kernel *kernel(const char *text)
{
    kir_kernel *k = NULL;
    gn_status *s = kir_parse(&arena, text, strlen(text), "test", &k);
    if (!s) s = kir_verify(k);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    return k;
}

/* 4 nodes of degrees 3, 0, 1, 2. */
START_TEST(edges_are_counted)
{
    static int32_t rowptr[] = {0, 3, 3, 4, 6}, col[] = {0, 1, 2, 3, 0, 1};
    float h[64] = {0}, out[64];
    void *buf[] = {rowptr, col, h, out};
    int64_t bytes[] = {sizeof rowptr, sizeof col, sizeof h, sizeof out}, sym[] = {4, 6};
    gn_cost c = gn_cost_of(&arena, kernel(spmm), bytes, buf, sym, 4, 0);
    ck_assert_double_eq(c.sampled, 1);
    ck_assert(!c.guessed);
    ck_assert_double_eq(c.flops, 6 * 16);
    ck_assert_double_eq(c.functions, 6 * 16);
    ck_assert_double_eq(c.gathered, 6 * 16 * 4); /* rows of h, again and again */
    ck_assert_double_eq(c.table, 4 * 16 * 4);
    ck_assert_double_eq(c.work_set, 20 + 24 + 256);
    ck_assert_double_eq(c.moved, 20 + 24 + 256 + 256);
    ck_assert_double_eq(c.buffer[2].read, 0); /* through an index that was read: gathered, not read
                                               */
    ck_assert_double_eq(c.buffer[3].written, 256);
    ck_assert_double_eq(c.longest, 3);
    ck_assert_double_eq(c.taken, 6);
    static const double held[GN_COST_WARPS] = {6, 2 * (3 + 2), 4 * 3, 8 * 3, 16 * 3, 32 * 3};
    for (int k = 0; k < GN_COST_WARPS; k++) ck_assert_double_eq(c.held[k], held[k]);
}
END_TEST

/* What values have of a kernel adds up to the kernel's. */
START_TEST(values_have_their_parts)
{
    enum { MESSAGE = 7, SUM = 3 };
    static int32_t rowptr[] = {0, 3, 3, 4, 6}, col[] = {0, 1, 2, 3, 0, 1};
    float h[64] = {0}, out[64];
    void *buf[] = {rowptr, col, h, out};
    int64_t bytes[] = {sizeof rowptr, sizeof col, sizeof h, sizeof out}, sym[] = {4, 6};
    kir_kernel *k = kernel(spmm);
    for (kir_id i = 1; i < k->insts.n; i++) {
        const kir_inst *n = kir_at(k, i);
        bool message = n->op == KIR_EXP || (n->op == KIR_LOAD && n->imm == 2);
        kir_at(k, i)->of = message ? MESSAGE : SUM;
    }
    gn_cost c = gn_cost_of(&arena, k, bytes, buf, sym, 4, 0);
    ck_assert_int_eq(c.n_values, 2);
    const gn_value_cost *sum = &c.value[0], *message = &c.value[1];
    ck_assert_uint_eq(sum->value, SUM);
    ck_assert_uint_eq(message->value, MESSAGE);
    ck_assert_double_eq(message->functions, c.functions);
    ck_assert_double_eq(message->flops, 0);
    ck_assert_double_eq(message->gathered, c.gathered);
    ck_assert_double_eq(message->streamed, 0);
    ck_assert_double_eq(sum->flops, c.flops);
    ck_assert_double_eq(sum->gathered, 0);
    ck_assert_double_eq(sum->streamed, c.work_set);
}
END_TEST

/* A kernel's time goes by the side of the bound that binds. */
START_TEST(time_is_split_by_the_bound)
{
    gn_value_cost value[] = {{.value = 1, .flops = 300, .streamed = 100},
                             {.value = 2, .flops = 100, .streamed = 100, .gathered = 200}};
    gn_cost cost = {.work_set = 200, .gathered = 200, .table = 200, .n_values = 2, .value = value};
    gn_ceilings c = {.gflops = 10};
    for (int k = 0; k < GN_LEVELS; k++) {
        c.level_bytes[k] = k + 1 < GN_LEVELS ? 1 << 20 : INFINITY;
        c.gbytes[k] = 5;
    }
    const double *by_flops = gn_profile_shares(&arena, &cost, &c, GN_BY_FLOPS);
    ck_assert_double_eq_tol(by_flops[0], 0.75, 1e-9);
    ck_assert_double_eq_tol(by_flops[1], 0.25, 1e-9);
    const double *by_traffic = gn_profile_shares(&arena, &cost, &c, GN_BY_GATHER);
    ck_assert_double_eq_tol(by_traffic[0], 0.25, 1e-9);
    ck_assert_double_eq_tol(by_traffic[1], 0.75, 1e-9);
    const double *by_nothing = gn_profile_shares(&arena, &cost, &c, GN_BY_NOTHING);
    ck_assert_double_eq_tol(by_nothing[0], 0.5, 1e-9);
}
END_TEST

/* Without data the edge loop's length is not known, and that is said. */
START_TEST(what_is_guessed_is_said)
{
    void *buf[4] = {NULL};
    int64_t bytes[] = {20, 24, 256, 256}, sym[] = {4, 6};
    gn_cost c = gn_cost_of(&arena, kernel(spmm), bytes, buf, sym, 4, 0);
    ck_assert(c.guessed);
    ck_assert_double_eq(c.flops, 4 * 16);
}
END_TEST

/* Of a condition and its negation the condition is taken to hold. */
START_TEST(one_of_two_versions)
{
    static const char
        two[] = "kernel @two (sym n, %c: f32[1] read, %x: f32[n] read, %y: f32[n] write) {\n"
                "  %1 = load f32 %c[0]\n  %2 = fle %1, 1.0\n  %3 = not %2\n"
                "  for %4 in 0 .. n step 1 thread none {\n"
                "    if %2 {\n      %5 = load f32 %x[%4]\n      %6 = fmul f32 %5, %5\n"
                "      store %y[%4], %6\n    }\n"
                "    if %3 {\n      %7 = load f32 %x[%4]\n      %8 = exp f32 %7\n"
                "      store %y[%4], %8\n    }\n  }\n}\n";
    void *buf[3] = {NULL};
    int64_t bytes[] = {4, 40, 40}, sym[] = {10};
    gn_cost c = gn_cost_of(&arena, kernel(two), bytes, buf, sym, 10, 0);
    ck_assert(c.guessed);
    ck_assert_double_eq(c.functions, 0);
    ck_assert_double_ge(c.flops, 10);
    ck_assert_double_lt(c.flops, 25);
}
END_TEST

/* A thread loop of many rows is sampled, and the sample stands for the whole. */
START_TEST(long_loops_are_sampled)
{
    enum { N = 1 << 20 };
    const double n = N;
    int32_t *rowptr = gn_arena_alloc(&arena, N + 1, 4), *col = gn_arena_alloc(&arena, 2 * N, 4);
    for (int i = 0; i <= N; i++) rowptr[i] = 2 * i;
    void *buf[] = {rowptr, col, NULL, NULL};
    int64_t bytes[] = {4 * (N + 1), 8 * (int64_t)N, 64 * (int64_t)N, 64 * (int64_t)N},
            sym[] = {N, 2 * (int64_t)N};
    gn_cost c = gn_cost_of(&arena, kernel(spmm), bytes, buf, sym, N, 0);
    ck_assert_double_lt(c.sampled, 1);
    ck_assert_double_eq_tol(c.flops, 2.0 * n * 16, 1e-3 * n);
    ck_assert_double_eq_tol(c.moved, 4.0 * (n + 1) + 8.0 * n + 128.0 * n, 1e-3 * n);
}
END_TEST

static fusion *fuse(const char *text, gn_switches off)
{
    gir_program *p = NULL;
    gn_status *s = gir_parse(&arena, text, strlen(text), "test", &p);
    if (!s) s = gir_verify(p);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    return gn_fuse(&arena, p, &(fu_options){.off = off});
}

static const char two_hops[] = "program @p {\n"
                               "  space node node ?\n  space edge edge ? of %1\n"
                               "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                               "  %2 = input \"x\" : node f32[8]\n"
                               "  %3 = exp %2 : node f32[8]\n"
                               "  %4 = gather %1, %3 {end = 0} : edge f32[8]\n"
                               "  %5 = scatter %1, %4 {end = 1, red = 0} : node f32[8]\n"
                               "  %6 = tanh %5 : node f32[8]\n"
                               "  %7 = gather %1, %6 {end = 1} : edge f32[8]\n"
                               "  %8 = scatter %1, %7 {end = 0, red = 0} : node f32[8]\n"
                               "  output \"out\" %8\n  output \"mid\" %6\n}\n";

START_TEST(refusals_have_reasons)
{
    fusion *f = fuse(two_hops, 0);
    ck_assert_uint_eq(f->regions.n, 3);
    ck_assert_uint_eq(f->refusals.n, 2);
    ck_assert_uint_eq(f->refusals.p[0].value, 5); /* the sum reads exp of other rows */
    ck_assert_uint_eq(f->refusals.p[0].because, 3);
    ck_assert_int_eq(f->refusals.p[0].reason, FU_FOREIGN);
    ck_assert_uint_eq(f->refusals.p[0].region, 0);
    ck_assert_uint_eq(f->refusals.p[1].value, 8); /* the second walks edges from the other end */
    ck_assert_int_eq(f->refusals.p[1].reason, FU_GRAPH);
    ck_assert_uint_eq(f->refusals.p[1].region, 1);
    ck_assert_uint_eq(f->readers.n, 2);
    ck_assert_uint_eq(f->readers.p[0].value, 3);
    ck_assert_uint_eq(f->readers.p[0].region, 1);
}
END_TEST

START_TEST(switched_off_is_a_reason)
{
    fusion *f = fuse(two_hops, (gn_switches)1 << GN_DO_FUSE);
    ck_assert_uint_eq(f->refusals.n, 3);
    for (uint32_t k = 0; k < f->refusals.n; k++) ck_assert_int_eq(f->refusals.p[k].reason, FU_OFF);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, edges_are_counted);
    tcase_add_test(t, values_have_their_parts);
    tcase_add_test(t, time_is_split_by_the_bound);
    tcase_add_test(t, what_is_guessed_is_said);
    tcase_add_test(t, one_of_two_versions);
    tcase_add_test(t, long_loops_are_sampled);
    tcase_add_test(t, refusals_have_reasons);
    tcase_add_test(t, switched_off_is_a_reason);
    return RUN_CASES("cost", t);
}
