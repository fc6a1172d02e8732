/* Functions of short vectors that do not depend on each other are evaluated side by side: the same
 * bits, fewer instructions. */
/* processor: x86-64 */
/* links: codegen runtime ir base */
/* timeout: 300 */
#include "codegen_test.h"

/* Rows of # numbers; %s: the body of the loop over them, of %5 and %6; %20 to %24 are stored. */
static const char
    rows[] = "kernel @p (sym n, %%x: f32[n * #] read, %%y: f32[n * #] read, %%o: f32[n * #] write, "
             "%%q: f32[n * #] write,\n"
             "%%r: f32[n * #] write, %%s: f32[n * #] write, %%t: f32[n * #] read_write) {\n"
             "for %%1 in 0 .. n step 1 thread none { %%2 = imul %%1, # %%3 = tile f32 #\n"
             "for %%7 in 0 .. # step 1 vector none { tstore %%3[%%7], 0.5 }\n"
             "for %%8 in 0 .. # step 1 vector none { %%4 = iadd %%2, %%8 %%5 = load f32 %%x[%%4] "
             "%%6 = load f32 %%y[%%4]\n%s"
             "store %%o[%%4], %%20 store %%q[%%4], %%21 store %%r[%%4], %%22 store %%s[%%4], %%23 "
             "store %%t[%%4], %%24 }\n}}";

/* Nothing keeps the five apart, nor what they are functions of. */
static const char
    apart[] = "%20 = exp f32 %5 %10 = fmul f32 %6, 0.8 %11 = fmin f32 %10, 0.0 %21 = exp f32 %11\n"
              "%12 = fadd f32 %5, %10 %22 = exp f32 %12 %13 = fmul f32 %12, %5 %23 = exp f32 %13\n"
              "%14 = fmul f32 %12, %12 %24 = exp f32 %14\n";
static const char kinds[] = "%20 = log f32 %5 %21 = tanh f32 %6 %22 = log f32 %6 %10 = fneg f32 %5 "
                            "%23 = tanh f32 %10\n"
                            "%24 = sin f32 %5\n";
/* Each reads what the one before came to, or what is written behind it; or is the same in all
 * lanes. */
static const char
    chain[] = "%20 = exp f32 %5 %10 = fmul f32 %20, 0.5 %21 = exp f32 %10 %11 = fneg f32 %21\n"
              "%22 = exp f32 %11 %12 = fmul f32 %22, 0.5 %23 = exp f32 %12 %24 = exp f32 %23\n";
static const char
    memory[] = "%20 = exp f32 %5 tstore %3[%8], %6 %10 = tload f32 %3[%8] %21 = exp f32 %10\n"
               "store %t[%4], %5 %11 = load f32 %t[%4] %12 = fmul f32 %11, 0.5 %22 = exp f32 %12\n"
               "%14 = fneg f32 %5 tstore %3[%8], %14 %13 = tload f32 %3[%8] %23 = exp f32 %13 %24 "
               "= fadd f32 %22, 1.0\n";
static const char
    one[] = "%9 = load f32 %x[%2] %22 = exp f32 %6 %20 = exp f32 %9 %10 = load f32 %y[%2]\n"
            "%21 = exp f32 %10 %23 = fadd f32 %20, %21 %24 = fadd f32 %23, %22\n";
/* What it reads was written before the first. */
static const char
    before[] = "tstore %3[%8], %6 %10 = tload f32 %3[%8] %20 = exp f32 %5 %21 = exp f32 %10\n"
               "%22 = fadd f32 %20, %21 %23 = fneg f32 %20 %24 = fneg f32 %21\n";
/* The first tanh reads what was evaluated alone before it. */
static const char
    alone[] = "%20 = exp f32 %5 %10 = fmul f32 %20, 0.5 %21 = tanh f32 %10 %11 = fneg f32 %6\n"
              "%22 = tanh f32 %11 %23 = tanh f32 %5 %24 = fadd f32 %21, %22\n";

static const char *const bodies[] = {apart, kinds, chain, memory, one, before, alone};
enum { BODIES = sizeof bodies / sizeof *bodies };

static const char *text(const char *body, int n)
{
    return with_number(gn_arena_printf(&arena, rows, body), n);
}

static const gn_switches off = (gn_switches)1 << GN_DO_WIDE_FUNCTIONS;

/* The same bits with and without, whatever lies beside a value; numbers are 5 rows'. */
START_TEST(same_bits)
{
    static const int widths[] = {1, 2, 3, 4, 7, 8, 16, 24};
    enum { N = 5, MOST = 24 };
    int n = widths[_i / BODIES];
    const char *kernel = text(bodies[_i % BODIES], n);
    check_options o = {.syms = {N}, .tolerance = 1e-5};
    checked(kernel, &o);
    for (int cpu = 0; cpu < TEST_CPUS; cpu++) {
        float in[2][N * MOST], out[2][5][N * MOST] = {{{0}}};
        int64_t sym = N;
        uint32_t seed = 3;
        if (!test_cpu_runs(cpu)) continue;
        for (int k = 0; k < 2; k++) fill(in[k], GN_F32, (int64_t)N * n, 0, &seed);
        for (int without = 0; without < 2; without++) {
            o.off = without ? off : 0;
            gn_image *image = compiled(verified(kernel), test_cpus[cpu], &o, kernel);
            float(*to)[N * MOST] = out[without];
            gn_image_kernel(image, 0)((void *[]){in[0], in[1], to[0], to[1], to[2], to[3], to[4]},
                                      &sym, 0, N);
            gn_image_free(image);
        }
        ck_assert_msg(!memcmp(out[0], out[1], sizeof out[0]), "%s", kernel);
    }
}
END_TEST

/* How many functions of so many lanes are evaluated in the code for a CPU: each rounds once. */
static int evaluated(const char *body, int n, const char *cpu, gn_switches without, int lanes)
{
    gn_buf b = {.arena = &arena};
    gn_codegen_options o = {.opt_level = SUITE_OPT_LEVEL, .cpu = cpu, .off = without};
    const char *kernel = text(body, n),
               *call = gn_arena_printf(&arena, " @llvm.roundeven.v%df32(", lanes);
    const kir_kernel *k = verified(kernel);
    int found = 0;
    succeeded(gn_cpu_emit(&k, 1, &o, GN_EMIT_LLVM, &b), kernel);
    for (const char *p = b.p; (p = strstr(p, call)) != NULL; p += strlen(call)) {
        const char *line = p;
        while (line > b.p && line[-1] != '\n') line--;
        found += strncmp(line, "declare", 7) != 0;
    }
    return found;
}

START_TEST(side_by_side)
{
    /* two pairs, and one that is left */
    ck_assert_int_eq(evaluated(apart, 8, "x86-64-v4", 0, 16), 2);
    ck_assert_int_eq(evaluated(apart, 8, "x86-64-v4", 0, 8), 1);
    ck_assert_int_eq(evaluated(apart, 8, "x86-64-v4", off, 8), 5);
    ck_assert_int_eq(evaluated(apart, 4, "x86-64-v4", 0, 16), 1); /* four */
    ck_assert_int_eq(evaluated(apart, 4, "x86-64-v4", 0, 4), 1);
    ck_assert_int_eq(evaluated(apart, 7, "x86-64-v4", 0, 16), 2); /* one lane does not run */
    ck_assert_int_eq(evaluated(apart, 4, "x86-64-v3", 0, 8), 2);
    ck_assert_int_eq(evaluated(apart, 2, "x86-64-v3", 0, 8), 1);
    ck_assert_int_eq(evaluated(apart, 2, "x86-64-v2", 0, 4), 2);
    ck_assert_int_eq(evaluated(apart, 2, "x86-64-v2", 0, 2), 1);
    /* tanh; logarithms do not round */
    ck_assert_int_eq(evaluated(kinds, 8, "x86-64-v4", 0, 16), 1);
    ck_assert_int_eq(evaluated(before, 8, "x86-64-v4", 0, 16), 1);
    ck_assert_int_eq(evaluated(alone, 8, "x86-64-v4", 0, 16), 1); /* the first two of three */
    /* five whole vectors, and two pairs */
    ck_assert_int_eq(evaluated(apart, 24, "x86-64-v4", 0, 16), 7);
}
END_TEST

START_TEST(declines)
{
    ck_assert_int_eq(evaluated(apart, 16, "x86-64-v4", 0, 16), 5); /* full vectors */
    ck_assert_int_eq(evaluated(apart, 8, "x86-64-v3", 0, 8), 5);
    ck_assert_int_eq(evaluated(chain, 8, "x86-64-v4", 0, 16), 0);
    ck_assert_int_eq(evaluated(chain, 8, "x86-64-v4", 0, 8), 5);
    ck_assert_int_eq(evaluated(memory, 8, "x86-64-v4", 0, 16), 0);
    ck_assert_int_eq(evaluated(memory, 8, "x86-64-v4", 0, 8), 4);
    /* of numbers that all lanes share */
    ck_assert_int_eq(evaluated(one, 8, "x86-64-v4", 0, 16), 0);
    ck_assert_int_eq(evaluated(one, 8, "x86-64-v4", 0, 8), 1);
}
END_TEST

int main(void)
{
    TCase *same = arena_case("same bits", 300), *which = arena_case("which", 300);
    tcase_add_loop_test(same, same_bits, 0, 8 * BODIES);
    tcase_add_test(which, side_by_side);
    tcase_add_test(which, declines);
    return RUN_CASES("codegen wide", same, which);
}
