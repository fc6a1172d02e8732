/* Which outputs may lie where an input lay: what is allowed gives the same bits, what is declined
 * would be wrong. */
/* links: ir base */
#include "ir/kir_overwrite.h"
#include "kir_test.h"

/* Kernels from %x to %y, f32[n * 8] each, with n = 6 rows, and %t: i64[n], %t = {3, 0, 5, 1, 4,
 * 2}. */
enum { ROWS = 6, WIDE = 8, ELEMS = ROWS * WIDE };

static kir_kernel *kernel(const char *body)
{
    return verified(gn_arena_printf(&arena,
                                    "kernel @k (sym n, %%x: f32[n * 8] read, %%t: i64[n] read, "
                                    "%%y: f32[n * 8] write) {\n%s\n}\n",
                                    body));
}

static bool allowed(const char *body)
{
    return kir_may_overwrite(kir_accesses_of(&arena, kernel(body)), 0, 2);
}

/* y of the kernel as it is, or where y lies in the place of x. */
static gn_status *run(const char *body, bool over, bool reverse, float *y)
{
    int64_t t[ROWS] = {3, 0, 5, 1, 4, 2}, sym[] = {ROWS};
    float x[ELEMS];
    for (int i = 0; i < ELEMS; i++) x[i] = (float)(i * i % 31) + 1;
    memcpy(y, x, sizeof x); /* what is not stored stays */
    kir_kernel *k = kernel(body);
    if (over) k = kir_overwrite(&arena, k, (const int[]){-1, -1, 0});
    ck_assert_uint_eq(k->buffers.n, over ? 2 : 3);
    kir_eval_options opt = {.reverse = reverse, .once = true};
    gn_status *s = kir_eval(k, &opt, (kir_bound_buffer[]){{x, ELEMS}, {t, ROWS}, {y, ELEMS}}, sym);
    if (over) memcpy(y, x, sizeof x);
    return s;
}

/* Is y the same where it lies over x, whichever way parallel loops run? */
static bool agrees(const char *body)
{
    bool same = true;
    for (int reverse = 0; reverse < 2; reverse++) {
        float apart[ELEMS], over[ELEMS];
        succeeded(run(body, false, reverse, apart), body);
        gn_status *s = run(body, true, reverse, over);
        same = same && !s && !memcmp(apart, over, sizeof over);
        gn_status_free(s);
    }
    return same;
}

static const char *const may[] = {
    /* element by element */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n for %3 in 0 .. 8 step 1 vector none "
    "{\n"
    " %4 = iadd %2, %3\n %5 = load f32 %x[%4]\n %6 = fmul f32 %5, %5\n store %y[%4], %6\n }\n }",
    /* the same element by other ways of counting: (i + 1) * 8 - 8 + j, and 7 - j twice */
    "for %1 in 0 .. n step 1 thread none {\n %2 = iadd %1, 1\n %3 = imul %2, 8\n for %4 in 0 .. 8 "
    "step 1 vector none "
    "{\n"
    " %5 = isub %3, 8\n %6 = iadd %5, %4\n %7 = load f32 %x[%6]\n %8 = imul %1, 8\n %9 = iadd %8, "
    "%4\n"
    " store %y[%9], %7\n }\n }",
    /* panels of rows: each element is read just before it is written */
    "for %1 in 0 .. n step 2 thread none {\n for %2 in 0 .. 8 step 4 serial none {\n %3 = iadd %1, "
    "2\n %4 = imin %3, "
    "n\n"
    " for %5 in %1 .. %4 step 1 serial none {\n for %6 in 0 .. 4 step 1 vector none {\n %7 = imul "
    "%5, 8\n"
    " %8 = iadd %7, %2\n %9 = iadd %8, %6\n %10 = load f32 %x[%9]\n store %y[%9], %10\n }\n }\n "
    "}\n }",
    /* lanes, each its own elements */
    "for %1 in 0 .. n step 1 block none {\n %2 = imul %1, 8\n for %3 in 0 .. 8 step 1 lane none "
    "{\n %4 = iadd %2, %3\n"
    " %5 = load f32 %x[%4]\n store %y[%4], %5\n }\n }",
    /* a row is summed, and then written */
    "for %1 in 0 .. n step 1 thread none {\n %2 = tile f32 1\n tstore %2[0], 0.0\n %3 = imul %1, "
    "8\n"
    " for %4 in 0 .. 8 step 1 serial reduce {\n %5 = iadd %3, %4\n %6 = load f32 %x[%5]\n tacc sum "
    "%2[0], %6\n }\n"
    " for %7 in 0 .. 8 step 1 vector none {\n %8 = iadd %3, %7\n %9 = tload f32 %2[0]\n store "
    "%y[%8], %9\n }\n }",
    /* the first element of a row for all of it, from in front of the loop */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n %3 = load f32 %x[%2]\n"
    " for %4 in 0 .. 8 step 1 vector none {\n %5 = iadd %2, %4\n store %y[%5], %3\n }\n }",
    /* rows of a worker one after another */
    "for %1 in 0 .. n step 4 thread none {\n %2 = iadd %1, 4\n %3 = imin %2, n\n"
    " for %4 in %1 .. %3 step 1 serial none {\n %5 = imul %4, 8\n %6 = load f32 %x[%5]\n"
    " for %7 in 0 .. 8 step 1 vector none {\n %8 = iadd %5, %7\n store %y[%8], %6\n }\n }\n }",
    /* one of two branches, each of which reads first */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n %3 = ilt %1, 3\n %4 = not %3\n if "
    "%3 {\n"
    " %5 = load f32 %x[%2]\n for %6 in 0 .. 8 step 1 vector none {\n %7 = iadd %2, %6\n store "
    "%y[%7], %5\n }\n }\n"
    " if %4 {\n %8 = iadd %2, 7\n %9 = load f32 %x[%8]\n for %10 in 0 .. 8 step 1 vector none {\n "
    "%11 = iadd %2, %10\n"
    " store %y[%11], %9\n }\n }\n }",
};

static const char *const must_not[] = {
    /* rows of others */
    "for %1 in 0 .. n step 1 thread none {\n %2 = load i64 %t[%1]\n for %3 in 0 .. 8 step 1 vector "
    "none {\n"
    " %4 = imul %2, 8\n %5 = iadd %4, %3\n %6 = load f32 %x[%5]\n %7 = imul %1, 8\n %8 = iadd %7, "
    "%3\n"
    " store %y[%8], %6\n }\n }",
    /* the row from the other end, element by element */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n for %3 in 0 .. 8 step 1 serial none "
    "{\n"
    " %4 = isub 7, %3\n %5 = iadd %2, %4\n %6 = load f32 %x[%5]\n %7 = iadd %2, %3\n store %y[%7], "
    "%6\n }\n }",
    /* rows two by two, of three at a time: the last reaches into another thread's */
    "%1 = isub n, 1\n for %2 in 0 .. %1 step 3 thread none {\n %3 = iadd %2, 3\n %4 = imin %3, %1\n"
    " for %5 in %2 .. %4 step 2 serial none {\n %6 = imul %5, 8\n %7 = iadd %6, 8\n %8 = load f32 "
    "%x[%7]\n"
    " for %9 in 0 .. 8 step 1 vector none {\n %10 = iadd %6, %9\n store %y[%10], %8\n }\n }\n }",
    /* written first, read afterwards */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n for %3 in 0 .. 4 step 1 vector none "
    "{\n"
    " %4 = iadd %2, %3\n store %y[%4], 1.0\n }\n %5 = load f32 %x[%2]\n for %6 in 4 .. 8 step 1 "
    "vector none {\n"
    " %7 = iadd %2, %6\n store %y[%7], %5\n }\n }",
    /* written just before it is read, for the element after it */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n for %3 in 0 .. 8 step 2 serial none "
    "{\n"
    " %4 = iadd %2, %3\n store %y[%4], 1.0\n %5 = load f32 %x[%4]\n %6 = iadd %4, 1\n store "
    "%y[%6], %5\n }\n }",
    /* rows come by again, for other columns */
    "for %1 in 0 .. 8 step 4 serial none {\n for %2 in 0 .. n step 1 serial none {\n %3 = imul %2, "
    "8\n"
    " %4 = load f32 %x[%3]\n %8 = fadd f32 %4, 1.0\n for %5 in 0 .. 4 step 1 vector none {\n %6 = "
    "iadd %3, %1\n %7 = "
    "iadd %6, %5\n"
    " store %y[%7], %8\n }\n }\n }",
    /* they come by again, and are written the second time */
    "for %1 in 0 .. 2 step 1 serial none {\n for %2 in 0 .. n step 1 serial none {\n %3 = imul %2, "
    "8\n"
    " %4 = load f32 %x[%3]\n %5 = ieq %1, 0\n if %5 {\n store %y[%3], 7.0\n }\n %6 = ieq %1, 1\n "
    "if %6 {\n"
    " for %7 in 1 .. 8 step 1 vector none {\n %8 = iadd %3, %7\n store %y[%8], %4\n }\n }\n }\n }",
    /* one row, met twice */
    "for %1 in 0 .. 2 step 1 serial none {\n for %2 in 0 .. 1 step 1 serial none {\n %3 = imul %2, "
    "8\n"
    " %4 = load f32 %x[%3]\n %5 = ieq %1, 0\n if %5 {\n store %y[%3], 7.0\n }\n %6 = ieq %1, 1\n "
    "if %6 {\n"
    " for %7 in 1 .. 8 step 1 vector none {\n %8 = iadd %3, %7\n store %y[%8], %4\n }\n }\n }\n }",
    /* rows of two workers overlap */
    "for %1 in 0 .. 4 step 2 serial ordered {\n %2 = iadd %1, 4\n for %3 in %1 .. %2 step 1 serial "
    "none {\n"
    " %4 = imul %3, 8\n %5 = load f32 %x[%4]\n %10 = fadd f32 %5, 1.0\n %6 = imul %1, 2\n for %7 "
    "in 0 .. 4 step 1 "
    "vector none {\n"
    " %8 = iadd %4, %6\n %9 = iadd %8, %7\n store %y[%9], %10\n }\n }\n }",
    /* the next row's first element */
    "%1 = isub n, 1\n for %2 in 0 .. %1 step 1 thread none {\n %3 = imul %2, 8\n %4 = iadd %3, 8\n"
    " %5 = load f32 %x[%4]\n for %6 in 0 .. 8 step 1 vector none {\n %7 = iadd %3, %6\n store "
    "%y[%7], %5\n }\n }",
    /* a lane reads what another one writes: nobody waits */
    "for %1 in 0 .. n step 1 block none {\n %2 = imul %1, 8\n for %3 in 0 .. 8 step 1 lane none "
    "{\n %4 = isub 7, %3\n"
    " %5 = iadd %2, %4\n %6 = load f32 %x[%5]\n %7 = iadd %2, %3\n store %y[%7], %6\n }\n }",
    /* the same in two loops of lanes */
    "for %1 in 0 .. n step 1 block none {\n %2 = imul %1, 8\n %3 = tile f32 8\n"
    " for %4 in 0 .. 8 step 1 lane none {\n %5 = isub 7, %4\n %6 = iadd %2, %5\n %7 = load f32 "
    "%x[%6]\n"
    " tstore %3[%4], %7\n }\n for %8 in 0 .. 8 step 1 lane none {\n %9 = iadd %2, %8\n %10 = tload "
    "f32 %3[%8]\n"
    " store %y[%9], %10\n }\n }",
    /* two branches that may both be taken */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n %3 = ilt %1, 3\n %4 = ilt %1, 5\n "
    "if %3 {\n"
    " %5 = load f32 %x[%2]\n for %6 in 0 .. 4 step 1 vector none {\n %7 = iadd %2, %6\n store "
    "%y[%7], 7.0\n }\n }\n"
    " if %4 {\n %8 = load f32 %x[%2]\n for %9 in 4 .. 8 step 1 vector none {\n %10 = iadd %2, %9\n"
    " store %y[%10], %8\n }\n }\n }",
    /* branches that exclude each other, but not for the whole row: the condition is the column's */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n for %3 in 0 .. 8 step 1 serial none "
    "{\n"
    " %4 = ilt %3, 4\n %5 = not %4\n %6 = iadd %2, %3\n if %4 {\n store %y[%6], 2.0\n }\n if %5 {\n"
    " %7 = load f32 %x[%2]\n store %y[%6], %7\n }\n }\n }",
    /* and where what the one branch reads is only written later on */
    "for %1 in 0 .. n step 1 thread none {\n %2 = imul %1, 8\n %3 = tile f32 1\n tstore %3[0], "
    "0.0\n"
    " for %4 in 0 .. 8 step 1 serial reduce {\n %5 = ilt %4, 4\n %6 = not %5\n if %5 {\n %7 = iadd "
    "%2, %4\n"
    " store %y[%7], 2.0\n }\n if %6 {\n %8 = load f32 %x[%2]\n tacc sum %3[0], %8\n }\n }\n"
    " for %9 in 4 .. 8 step 1 vector none {\n %10 = iadd %2, %9\n %11 = tload f32 %3[0]\n store "
    "%y[%10], %11\n }\n }",
    /* a row's sum is known in front of all rows */
    "%1 = load f32 %x[0]\n for %2 in 0 .. n step 1 serial none {\n %3 = imul %2, 8\n %4 = load f32 "
    "%x[0]\n"
    " for %5 in 0 .. 8 step 1 vector none {\n %6 = iadd %3, %5\n %7 = fadd f32 %4, %1\n store "
    "%y[%6], %7\n }\n }",
};

START_TEST(what_is_allowed_gives_the_same)
{
    const char *body = may[_i];
    ck_assert_msg(allowed(body), "declined:\n%s", body);
    ck_assert_msg(agrees(body), "gives something else:\n%s", body);
}
END_TEST

START_TEST(what_is_declined_would_be_wrong)
{
    const char *body = must_not[_i];
    ck_assert_msg(!allowed(body), "allowed:\n%s", body);
    ck_assert_msg(!agrees(body), "might as well be allowed:\n%s", body);
}
END_TEST

/* Buffers that differ in what they hold, or that are read and written. */
START_TEST(shapes_and_access)
{
    static const char *const heads[] = {
        "%x: f32[n] read, %y: f32[n * 2] write", "%x: f32[n + 1] read, %y: f32[n] write",
        "%x: f16[n] read, %y: f32[n] write", "%x: f32[n] read_write, %y: f32[n] write",
        "%x: f32[n] read, %y: f32[n] read_write"};
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
        kir_kernel *kernel = verified(
            gn_arena_printf(&arena,
                            "kernel @k (sym n, %s) {\n for %%1 in 0 .. n step 1 thread none {\n "
                            "%%2 = load f32 %%x[%%1]\n"
                            " store %%y[%%1], %%2\n }\n}\n",
                            heads[k]));
        ck_assert_msg(!kir_may_overwrite(kir_accesses_of(&arena, kernel), 0, 1), "%s", heads[k]);
    }
}
END_TEST

/* The others keep their order and what is done to them. */
START_TEST(numbers_move_up)
{
    kir_kernel *k = verified(
        "kernel @k (sym n, %a: f32[n] read, %b: f32[n] write, %c: f32[n] read, %d: f32[n] write) "
        "{\n"
        " for %1 in 0 .. n step 1 thread none {\n %2 = load f32 %a[%1]\n %3 = load f32 %c[%1]\n"
        " store %b[%1], %3\n store %d[%1], %2\n }\n}\n");
    k = kir_overwrite(&arena, k, (const int[]){-1, 2, -1, -1});
    ck_assert_msg(k->buffers.n == 3 && k->buffers.p[0].access == KIR_READ &&
                      k->buffers.p[1].access == KIR_READ_WRITE &&
                      k->buffers.p[2].access == KIR_WRITE,
                  "%s", printed(k));
    ck_assert_ptr_nonnull(strstr(printed(k), "store %c[%1], %3"));
    ck_assert_ptr_nonnull(strstr(printed(k), "store %d[%1], %2"));
    succeeded(kir_verify(k), printed(k));
}
END_TEST

/* What the evaluator is asked to say of kernels that this is done to. */
START_TEST(stored_twice)
{
    static const char text
        [] = "kernel @k (sym n, %y: f32[n] write) {\n for %1 in 0 .. 2 step 1 serial ordered {\n"
             " store %y[1], 1.0\n }\n}\n";
    float y[2] = {0};
    kir_eval_options opt = {.once = true};
    refused(kir_eval(verified(text), &opt, (kir_bound_buffer[]){{y, 2}}, (int64_t[]){2}),
            GN_ERR_INTERNAL, "element 1 of 2 of y: stored twice", text);
    succeeded(kir_eval(verified(text), NULL, (kir_bound_buffer[]){{y, 2}}, (int64_t[]){2}), text);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, what_is_allowed_gives_the_same, 0, sizeof may / sizeof *may);
    tcase_add_loop_test(c, what_is_declined_would_be_wrong, 0, sizeof must_not / sizeof *must_not);
    tcase_add_test(c, shapes_and_access);
    tcase_add_test(c, numbers_move_up);
    tcase_add_test(c, stored_twice);
    return run_tests(c, "kir_overwrite");
}
