/* Rows of their own: what loops of the shapes that lowering makes touch, and what only looks like
 * it. */
/* links: ir base */
#include "ir/kir_rows.h"
#include "kir_test.h"

/* Of kernels with %x: f32[n * 8] read, %t: i64[n] read, %y: f32[n * 8] write: which are touched row
 * by row, as letters. */
static const char *own(const char *body)
{
    kir_kernel *k = verified(
        gn_arena_printf(&arena,
                        "kernel @k (sym n, %%x: f32[n * 8] read, %%t: i64[n] read, "
                        "%%y: f32[n * 8] write) {\n%s\n}\n",
                        body));
    bool *b = kir_own_rows(&arena, k);
    return gn_arena_printf(&arena, "%s%s%s", b[0] ? "x" : "", b[1] ? "t" : "", b[2] ? "y" : "");
}

#define IS(body, want) ck_assert_str_eq(own(body), want)
#define COPY(row)                                                                                  \
    "%21 = imul " row ", 8\n for %22 in 0 .. 8 step 1 vector none {\n %23 = iadd %21, %22\n"       \
    " %24 = load f32 %x[%23]\n store %y[%23], %24\n }\n"

START_TEST(rows_of_a_step)
{
    IS("for %1 in 0 .. n step 1 thread none {\n" COPY("%1") "}", "xty");
    /* the rows of a block, by a loop of its own, which the end of all rows cuts short */
    IS("for %1 in 0 .. n step 4 thread none {\n %2 = iadd %1, 4\n %3 = imin %2, n\n"
       " for %4 in %1 .. %3 step 1 serial none {\n" COPY("%4") "}\n}",
       "xty");
    /* tiles of two rows, panel by panel, and what is left of the rows */
    IS("for %1 in 0 .. n step 6 thread none {\n %2 = iadd %1, 6\n %3 = imin %2, n\n %4 = isub %3, "
       "%1\n"
       " %5 = idiv %4, 2\n %6 = imul %5, 2\n %7 = iadd %6, %1\n"
       " for %8 in 0 .. 8 step 4 serial none {\n"
       "  for %9 in %1 .. %7 step 2 serial none {\n   for %10 in 0 .. 2 step 1 unroll none {\n"
       "    %11 = iadd %9, %10\n    %12 = imul %11, 8\n    for %13 in 0 .. 4 step 1 vector none {\n"
       "     %14 = iadd %8, %13\n     %15 = iadd %12, %14\n     %16 = load f32 %x[%15]\n     store "
       "%y[%15], %16\n"
       "    }\n   }\n  }\n"
       "  for %17 in %7 .. %3 step 1 serial none {\n" COPY("%17") "  }\n }\n}",
       "xty");
}
END_TEST

START_TEST(other_rows)
{
    /* through an index; the row before; a step too far; the column of the next row */
    IS("for %1 in 0 .. n step 1 thread none {\n %2 = load i64 %t[%1]\n %3 = imul %2, 8\n %4 = load "
       "f32 %x[%3]\n"
       " %5 = imul %1, 8\n store %y[%5], %4\n}",
       "ty");
    IS("for %1 in 0 .. n step 1 thread none {\n %2 = isub n, 1\n %3 = isub %2, %1\n %4 = imul %3, "
       "8\n"
       " %5 = load f32 %x[%4]\n %6 = imul %1, 8\n store %y[%6], %5\n}",
       "ty");
    IS("for %1 in 0 .. n step 4 thread none {\n %2 = iadd %1, 5\n %3 = imin %2, n\n"
       " for %4 in %1 .. %3 step 1 serial none {\n %5 = imul %4, 8\n %6 = load f32 %x[%5]\n }\n}",
       "ty");
    IS("for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n for %3 in 0 .. 9 step 1 serial "
       "none {\n"
       " %4 = iadd %2, %3\n %5 = load f32 %x[%4]\n }\n store %y[%2], 0.0\n}",
       "ty");
    /* tiles of two rows of which the last need not end with the block */
    IS("for %1 in 0 .. n step 4 thread none {\n %2 = iadd %1, 4\n %3 = imin %2, n\n"
       " for %4 in %1 .. %3 step 2 serial none {\n  for %5 in 0 .. 2 step 1 unroll none {\n   %6 = "
       "iadd %4, %5\n"
       "   %7 = imul %6, 8\n   %8 = load f32 %x[%7]\n  }\n }\n}",
       "ty");
    /* rows of another width */
    IS("for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 4\n %3 = load f32 %x[%2]\n}", "ty");
    /* before the loop, and without one */
    IS("%1 = load f32 %x[0]\n for %2 in 0 .. n step 1 thread none {\n %3 = imul %2, 8\n store "
       "%y[%3], %1\n}",
       "ty");
    IS("%1 = load f32 %x[0]\n store %y[0], %1", "");
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("all");
    tcase_add_test(c, rows_of_a_step);
    tcase_add_test(c, other_rows);
    return run_tests(c, "kir_rows");
}
