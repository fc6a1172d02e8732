/* Compiled kernels against the loop IR's evaluator: loops, tiles, memory, reductions. */
/* links: codegen runtime ir base */
/* timeout: 300 */
#include "codegen_test.h"

static const char spmm[] =
    "kernel @spmm (sym node, sym edge, %rowptr: i32[node + 1] read, %col: i32[edge] read, %h: f32[node * #] read,\n"
    "              %out: f32[node * #] write) {\n"
    "  for %1 in 0 .. node step 1 thread none {\n"
    "    %2 = tile f32 #\n"
    "    for %3 in 0 .. # step 1 vector none { tstore %2[%3], 0.0 }\n"
    "    %4 = load i64 %rowptr[%1]\n"
    "    %5 = iadd %1, 1\n"
    "    %6 = load i64 %rowptr[%5]\n"
    "    for %7 in %4 .. %6 step 1 serial ordered {\n"
    "      %8 = load i64 %col[%7]\n"
    "      %9 = imul %8, #\n"
    "      for %10 in 0 .. # step 1 vector none {\n"
    "        %11 = iadd %9, %10\n"
    "        %12 = load f32 %h[%11]\n"
    "        tacc sum %2[%10], %12\n"
    "      }\n"
    "    }\n"
    "    %13 = imul %1, #\n"
    "    for %14 in 0 .. # step 1 vector none {\n"
    "      %15 = iadd %13, %14\n"
    "      %16 = tload f32 %2[%14]\n"
    "      store %out[%15], %16\n"
    "    }\n"
    "  }\n"
    "}\n";

START_TEST(spmm_of_every_width)
{
    int32_t rowptr[] = {0, 2, 2, 5, 6, 6}, col[] = {1, 3, 0, 2, 3, 4};
    check_options o = {.syms = {5, 6}, .data = {rowptr, col}};
    checked(with_number(spmm, _i), &o);
    o.split = 2;
    checked(with_number(spmm, _i), &o);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("loops");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, spmm_of_every_width, 1, 71);
    return run_tests(c, "codegen loops");
}
