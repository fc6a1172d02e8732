/* Loops whose iterations are all tests of what none of them changes: a loop for each test. */
/* links: codegen runtime ir base */
/* timeout: 300 */
#include "codegen_test.h"

#define HEAD                                                                                       \
    "kernel @p (sym n, %w: f32[2] read, %x: f32[n] read, %o: f32[n] read_write, %q: f32[n] "       \
    "write) {\n"                                                                                   \
    "%1 = load f32 %w[0] %2 = fle %1, 24.0 %3 = not %2 %4 = load f32 %w[1] %5 = flt 0.0, %4\n"

/* Of two, one; two that may both hold, the second of which reads what the first left; beside a
 * third. */
static const char versions[] = HEAD
    "for %6 in 0 .. n step 1 thread none { if %2 { %7 = load f32 %x[%6] store %o[%6], %7 }\n"
    "if %3 { %8 = load f32 %x[%6] %9 = fadd f32 %8, %8 store %o[%6], %9 } }}";
static const char in_order[] = HEAD
    "for %6 in 0 .. n step 1 thread none { if %2 { %7 = load f32 %x[%6] store %o[%6], %7 }\n"
    "if %5 { %8 = load f32 %o[%6] %9 = fadd f32 %8, 0.5 store %o[%6], %9 }\n"
    "if %3 { %10 = load f32 %o[%6] %11 = fmul f32 %10, 3.0 store %q[%6], %11 } }}";
/* Work beside the tests; a test of the row's own; one whose answer is known. */
static const char beside[] = HEAD
    "for %6 in 0 .. n step 1 thread none { if %2 { %7 = load f32 %x[%6] store %o[%6], %7 }\n"
    "%8 = load f32 %o[%6] store %q[%6], %8 }}";
static const char own[] = HEAD "for %6 in 0 .. n step 1 thread none { %7 = load f32 %x[%6] %8 = "
                               "flt %7, 0.0 if %8 { store %q[%6], %7 } }}";
static const char known[] = HEAD
    "for %6 in 0 .. n step 1 thread none { if true { %7 = load f32 %x[%6] store %o[%6], %7 }\n"
    "if %3 { %8 = load f32 %x[%6] store %q[%6], %8 } }}";

/* Iterations that may meet. */
static const char meeting[] = HEAD
    "for %6 in 0 .. n step 1 thread reduce { if %2 { %7 = load f32 %x[%6] store %o[%6], %7 }\n"
    "if %3 { %8 = load f32 %x[%6] store %o[%6], %8 } }}";

static const char *const kernels[] = {versions, in_order, beside, own, known, meeting};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const float scalars[][2] = {{1, 1}, {1, -1}, {30, 1}, {30, -1}, {NAN, 0}};
enum { SCALARS = sizeof scalars / sizeof *scalars };

static const gn_switches off = (gn_switches)1 << GN_DO_HOIST_TESTS;

START_TEST(same_results)
{
    static const int lengths[] = {0, 1, 5, 33};
    for (int k = 0; k < SCALARS; k++) {
        check_options o = {.data = {scalars[k]}, .off = _i % 2 ? off : 0};
        if (_i / 2 % 2) o.split = 3;
        checked_lengths(kernels[_i / 4], &o, lengths, sizeof lengths / sizeof *lengths);
    }
}
END_TEST

/* Is the first test before the loop? */
static bool before_rows(const char *kernel, gn_switches without)
{
    gn_buf b = {.arena = &arena};
    gn_codegen_options o = {.opt_level = 0, .off = without};
    const kir_kernel *k = verified(kernel);
    succeeded(gn_cpu_emit(&k, 1, &o, GN_EMIT_LLVM, &b), kernel);
    const char *test = strstr(b.p, "label %then"), *loop = strstr(b.p, "\nloop:");
    ck_assert_msg(loop != NULL, "%s", b.p);
    return test && test < loop;
}

START_TEST(loops_of_their_own)
{
    ck_assert(before_rows(versions, 0));
    ck_assert(before_rows(in_order, 0));
    ck_assert(!before_rows(versions, off));
}
END_TEST

START_TEST(declines)
{
    ck_assert(!before_rows(beside, 0));
    ck_assert(!before_rows(own, 0));
    ck_assert(!before_rows(known, 0));
    ck_assert(!before_rows(meeting, 0));
}
END_TEST

int main(void)
{
    TCase *c = arena_case("tests of rows", 300);
    tcase_add_loop_test(c, same_results, 0, 4 * KERNELS);
    tcase_add_test(c, loops_of_their_own);
    tcase_add_test(c, declines);
    return RUN_CASES("codegen tests", c);
}
