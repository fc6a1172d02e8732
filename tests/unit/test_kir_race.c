/* The evaluator's race detection: planted races are found, near misses are not. */
/* links: ir base */
#include "kir_test.h"

/* Kernels over %x: f32[8] read_write and %t: i64[8] read, t = {0, 1, 2, 2, 4, 5, 6, 7}, with n =
 * 8. */
static gn_status *run(const char *body, bool reverse, float *x)
{
    gn_buf t = {.arena = &arena};
    gn_buf_printf(&t, "%s%s\n}\n", "kernel @k (sym n, %x: f32[n] read_write, %t: i64[n] read) {\n",
                  body);
    int64_t at[8] = {0, 1, 2, 2, 4, 5, 6, 7};
    for (int i = 0; i < 8; i++) x[i] = (float)i;
    kir_eval_options opt = {.reverse = reverse};
    return kir_eval(parsed(t.p), &opt, (kir_bound_buffer[]){{x, 8}, {at, 8}}, (int64_t[]){8});
}

/* Lanes of a block have written tile %2. */
#define BLOCK_OF(then)                                                                             \
    "for %1 in 0 .. 1 step 1 block none {\n %2 = tile f32 8\n for %3 in 0 .. 8 step 1 lane none "  \
    "{\n tstore %2[%3], "                                                                          \
    "1.0\n }\n" then "\n }"

/* Sums of two warps in %2, operands in %3, which all are one number. */
#define FRAGMENTS(number, then) FRAGMENTS_OF("f32 128", number, then)
#define FRAGMENTS_OF(tile, number, then)                                                           \
    "for %1 in 0 .. 1 step 1 block none {\n %2 = tile f32 256\n %3 = tile " tile "\n"              \
    " for %4 in 0 .. 64 step 1 lane none {\n for %5 in 0 .. 4 step 1 serial none {\n %6 = imul "   \
    "%4, 4\n"                                                                                      \
    " %7 = iadd %6, %5\n tstore %2[%7], 0.0\n }\n for %8 in 0 .. 2 step 1 serial none {\n %11 = "  \
    "imul %4, 2\n"                                                                                 \
    " %12 = iadd %11, %8\n tstore %3[%12], " number "\n }\n }\n barrier\n" then "\n }"

static const struct {
    const char *body, *says;
} races[] = {
    /* two iterations write one element, found through data */
    {"for %1 in 0 .. n step 1 thread none {\n %2 = load i64 %t[%1]\n store %x[%2], 1.0\n }",
     "element 2 of 8 of x: race"},
    {"for %1 in 0 .. n step 1 serial none {\n %2 = load i64 %t[%1]\n store %x[%2], 1.0\n }",
     "element 2 of 8 of x: race"},
    {"for %1 in 0 .. 8 step 1 vector none {\n %2 = load i64 %t[%1]\n store %x[%2], 1.0\n }",
     "element 2 of 8 of x: race"},
    /* one reads what another writes, before and after */
    {"for %1 in 1 .. n step 1 serial none {\n %2 = isub %1, 1\n %3 = load f32 %x[%2]\n store "
     "%x[%1], %3\n }",
     "race"},
    {"for %1 in 1 .. n step 1 serial none {\n %2 = isub %1, 1\n %3 = load f32 %x[%1]\n store "
     "%x[%2], %3\n }",
     "race"},
    {"for %1 in 1 .. n step 1 serial reduce {\n %2 = isub %1, 1\n %3 = load f32 %x[%1]\n store "
     "%x[%2], %3\n }",
     "race"},
    {"for %1 in 1 .. n step 1 serial private {\n %2 = isub %1, 1\n %3 = load f32 %x[%1]\n store "
     "%x[%2], %3\n }",
     "race"},
    /* three readers, then one of an earlier inner execution writes */
    {"for %1 in 0 .. n step 1 thread none {\n %2 = load f32 %x[0]\n %3 = ieq %1, 7\n if %3 {\n "
     "store %x[0], %2\n }\n }",
     "race"},
    /* the outer loop is ordered, the inner one meets; and the other way round */
    {"for %1 in 0 .. n step 1 serial ordered {\n for %2 in 0 .. 2 step 1 serial none {\n store "
     "%x[%1], 1.0\n }\n }",
     "iteration number 1 and number 0"},
    {"for %1 in 0 .. 2 step 1 serial none {\n for %2 in 0 .. n step 1 serial ordered {\n store "
     "%x[%2], 1.0\n }\n }",
     "race"},
    {"for %1 in 0 .. n step 1 serial none {\n for %2 in 0 .. 4 step 1 serial ordered {\n %3 = iadd "
     "%1, %2\n %4 = imin "
     "%3, 7\n"
     " store %x[%4], 1.0\n }\n }",
     "race"},
    /* tiles declared outside */
    {"%1 = tile f32 1\n for %2 in 0 .. n step 1 serial none {\n tstore %1[0], 1.0\n }",
     "of the tile: race"},
    {"%1 = tile f32 1\n tstore %1[0], 0.0\n for %2 in 0 .. n step 1 serial none {\n tacc sum "
     "%1[0], 1.0\n }",
     "race"},
    {"%1 = tile f32 1\n tstore %1[0], 0.0\n for %2 in 0 .. n step 1 serial none {\n tfma %1[0], "
     "1.0, 1.0\n }",
     "race"},
    /* reductions that do more than reduce */
    {"%1 = tile f32 1\n tstore %1[0], 0.0\n for %2 in 0 .. n step 1 serial reduce {\n tacc sum "
     "%1[0], 1.0\n"
     " %3 = tload f32 %1[0]\n }",
     "race"},
    {"%1 = tile f32 1\n tstore %1[0], 0.0\n for %2 in 0 .. n step 1 serial reduce {\n tacc sum "
     "%1[0], 1.0\n"
     " tacc max %1[0], 1.0\n }",
     "race"},
    {"%1 = tile f32 1\n for %2 in 0 .. n step 1 serial reduce {\n tstore %1[0], 1.0\n }", "race"},
    /* scratch: read before this iteration wrote it; what is left is read */
    {"%1 = tile f32 1\n tstore %1[0], 0.0\n for %2 in 0 .. n step 1 serial private {\n tacc sum "
     "%1[0], 1.0\n }",
     "an iteration of a private loop reads what another writes"},
    {"%1 = tile f32 1\n tstore %1[0], 0.0\n for %2 in 0 .. n step 1 thread private {\n %3 = tload "
     "f32 %1[0]\n"
     " tstore %1[0], 1.0\n store %x[%2], %3\n }",
     "an iteration of a private loop reads what another writes"},
    {"%1 = tile f32 1\n for %2 in 0 .. n step 1 serial private {\n tstore %1[0], 1.0\n }\n %3 = "
     "tload f32 %1[0]\n",
     "what a private loop wrote is read after it"},
    /* lanes of a block: no barrier between the loops that write and read */
    {"for %1 in 0 .. 1 step 1 block none {\n %2 = tile f32 8\n for %3 in 0 .. 8 step 1 lane none "
     "{\n tstore %2[%3], "
     "1.0\n }\n"
     " for %4 in 0 .. 8 step 1 lane none {\n %5 = isub 7, %4\n %6 = tload f32 %2[%5]\n store "
     "%x[%4], %6\n }\n }",
     "race"},
    {"for %1 in 0 .. 1 step 1 block none {\n %2 = tile f32 8\n for %3 in 0 .. 2 step 1 warp none "
     "{\n"
     " for %4 in 0 .. 4 step 1 lane none {\n %5 = imul %3, 4\n %6 = iadd %5, %4\n tstore %2[%6], "
     "1.0\n }\n }\n"
     " for %7 in 0 .. 2 step 1 warp none {\n for %8 in 0 .. 4 step 1 lane none {\n %9 = imul %7, "
     "4\n %10 = iadd %9, "
     "%8\n"
     " %11 = isub 7, %10\n %12 = tload f32 %2[%11]\n }\n }\n }",
     "race"},
    /* warps read what lanes wrote, lanes write what warps read, after both have read it, too */
    {BLOCK_OF("for %4 in 0 .. 2 step 1 warp none {\n %5 = tload f32 %2[%4]\n }"),
     "two iterations of the loop meet"},
    {BLOCK_OF("barrier\n for %4 in 0 .. 2 step 1 warp none {\n %5 = tload f32 %2[%4]\n }\n"
              " for %6 in 0 .. 8 step 1 lane none {\n tstore %2[%6], 2.0\n }"),
     "two iterations of the loop meet"},
    {BLOCK_OF(
         "barrier\n for %4 in 0 .. 8 step 1 lane none {\n %5 = tload f32 %2[%4]\n }\n"
         " for %6 in 0 .. 8 step 1 warp none {\n %7 = tload f32 %2[%6]\n tstore %2[%6], 2.0\n }"),
     "two iterations of the loop meet"},
    /* two warps add to the same fragment; one reads operands that another writes; an operand that
     * is not rounded */
    {FRAGMENTS("0.5", "for %9 in 0 .. 2 step 1 warp none {\n mma tf32 %2[0] by 4, %3[0] by 8 1, "
                      "%3[0] by 8 1\n }"),
     "two iterations of the loop meet"},
    {FRAGMENTS("0.5",
               "for %9 in 0 .. 2 step 1 warp none {\n %10 = imul %9, 128\n"
               " mma tf32 %2[%10] by 4, %3[0] by 8 1, %3[0] by 8 1\n tstore %3[%9], 0.5\n }"),
     "two iterations of the loop meet"},
    {FRAGMENTS("0.1", "for %9 in 0 .. 2 step 1 warp none {\n %10 = imul %9, 128\n"
                      " mma tf32 %2[%10] by 4, %3[0] by 8 1, %3[0] by 8 1\n }"),
     "an operand that is not rounded"},
    /* beyond the end of a tile: of the sums, of either operand */
    {FRAGMENTS("0.5", "for %9 in 0 .. 2 step 1 warp none {\n %10 = imul %9, 129\n"
                      " mma tf32 %2[%10] by 4, %3[0] by 8 1, %3[0] by 8 1\n }"),
     "element 256 of 256 of the tile: out of bounds"},
    {FRAGMENTS("0.5", "for %9 in 0 .. 2 step 1 warp none {\n %10 = imul %9, 128\n"
                      " mma tf32 %2[%10] by 4, %3[1] by 8 1, %3[0] by 8 1\n }"),
     "element 128 of 128 of the tile: out of bounds"},
    {FRAGMENTS("0.5", "for %9 in 0 .. 2 step 1 warp none {\n %10 = imul %9, 128\n"
                      " mma tf32 %2[%10] by 4, %3[0] by 8 1, %3[-1] by 8 1\n }"),
     "element -1 of 128 of the tile: out of bounds"},
    /* terms side by side from an odd place on */
    {FRAGMENTS_OF("f16 260", "0.5",
                  "for %9 in 0 .. 2 step 1 warp none {\n %10 = imul %9, 128\n"
                  " mma f16 %2[%10] by 4, %3[1] by 2 1, %3[0] by 2 1\n }"),
     "element 1 of 260 of the tile: two terms side by side from an odd place on"},
};

START_TEST(races_are_found)
{
    for (size_t i = 0; i < sizeof races / sizeof *races; i++)
        for (int reverse = 0; reverse < 2; reverse++) {
            float x[8];
            refused(run(races[i].body, reverse, x), GN_ERR_INTERNAL,
                    reverse ? "element" : races[i].says, races[i].body);
        }
}
END_TEST

static const char *const clean[] = {
    "for %1 in 0 .. n step 1 serial ordered {\n %2 = load i64 %t[%1]\n store %x[%2], 1.0\n }",
    "for %1 in 0 .. n step 1 thread none {\n %2 = load f32 %x[%1]\n store %x[%1], %2\n store "
    "%x[%1], 2.0\n }",
    "for %1 in 0 .. n step 1 thread none {\n for %2 in 0 .. n step 1 serial ordered {\n store "
    "%x[%1], 2.0\n }\n }",
    "for %1 in 0 .. n step 1 serial ordered {\n for %2 in 0 .. 8 step 1 vector none {\n store "
    "%x[%2], 2.0\n }\n }",
    "for %1 in 0 .. n step 8 thread none {\n for %2 in 0 .. 8 step 1 vector none {\n %3 = iadd %1, "
    "%2\n"
    " store %x[%3], 1.0\n }\n for %4 in 0 .. 8 step 1 vector none {\n %5 = isub 7, %4\n %6 = iadd "
    "%1, %5\n"
    " %7 = load f32 %x[%6]\n store %x[%6], %7\n }\n }",
    "%1 = tile f32 1\n tstore %1[0], 0.0\n for %2 in 0 .. 8 step 1 vector reduce {\n %3 = load f32 "
    "%x[%2]\n"
    " tacc sum %1[0], %3\n }\n for %4 in 0 .. 8 step 1 serial reduce {\n %5 = load f32 %x[%4]\n "
    "tfma %1[0], %5, %5\n"
    " tacc sum %1[0], %5\n }\n %6 = tload f32 %1[0]\n store %x[0], %6",
    "%1 = tile f32 2\n for %2 in 0 .. n step 1 thread private {\n tstore %1[0], 1.0\n tacc sum "
    "%1[0], 1.0\n"
    " %3 = tload f32 %1[0]\n store %x[%2], %3\n }",
    "%1 = tile f32 1\n tstore %1[0], 3.0\n for %2 in 0 .. n step 1 thread private {\n %3 = tload "
    "f32 %1[0]\n"
    " store %x[%2], %3\n }",
    "%1 = tile f32 1\n for %2 in 0 .. 1 step 1 serial private {\n tstore %1[0], 1.0\n }\n tstore "
    "%1[0], 2.0\n"
    " %3 = tload f32 %1[0]",
    "for %1 in 0 .. n step 1 thread none {\n %2 = tile f32 1\n tstore %2[0], 1.0\n for %3 in 0 .. "
    "4 step 1 serial "
    "reduce {\n"
    " tacc sum %2[0], 1.0\n }\n %4 = tload f32 %2[0]\n store %x[%1], %4\n }",
    "for %1 in 0 .. 1 step 1 block none {\n %2 = tile f32 8\n for %3 in 0 .. 8 step 1 lane none "
    "{\n tstore %2[%3], "
    "1.0\n }\n"
    " barrier\n for %4 in 0 .. 8 step 1 lane none {\n %5 = isub 7, %4\n %6 = tload f32 %2[%5]\n "
    "store %x[%4], %6\n }\n "
    "}",
    "for %1 in 0 .. 1 step 1 block none {\n %2 = tile f32 8\n for %3 in 0 .. 8 step 1 lane none "
    "{\n tstore %2[%3], "
    "1.0\n }\n"
    " for %4 in 0 .. 8 step 1 lane none {\n %5 = tload f32 %2[%4]\n store %x[%4], %5\n }\n }",
    BLOCK_OF("barrier\n for %4 in 0 .. 8 step 1 lane none {\n %5 = tload f32 %2[%4]\n store "
             "%x[%4], %5\n }\n"
             " for %6 in 0 .. 2 step 1 warp none {\n %7 = tload f32 %2[%6]\n }"),
    FRAGMENTS(
        "0.5",
        "for %9 in 0 .. 2 step 1 warp none {\n for %13 in 0 .. 3 step 1 serial reduce {\n %10 = "
        "imul %9, 128\n"
        " mma tf32 %2[%10] by 4, %3[0] by 8 1, %3[64] by 8 1\n }\n }\n barrier\n"
        " for %14 in 0 .. 8 step 1 lane none {\n %15 = tload f32 %2[%14]\n store %x[%14], %15\n }"),
};

START_TEST(clean_kernels_pass_and_repeat)
{
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++) {
        float forward[8], back[8];
        succeeded(run(clean[i], false, forward), clean[i]);
        succeeded(run(clean[i], true, back), clean[i]);
        ck_assert_mem_eq(forward, back, sizeof forward);
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("race");
    tcase_add_test(c, races_are_found);
    tcase_add_test(c, clean_kernels_pass_and_repeat);
    return run_tests(c, "kir_race");
}
