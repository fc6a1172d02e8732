/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 300 */
/* Elementwise functions over all of float32: every sign, exponent and leading bits of the mantissa
 * with drawn bits behind them, and special values, in every way that programs run (run_compiled.h),
 * against libm in double.  The bounds are those that docs/numerics.md states, which is read.
 * GNNC_FUNCTIONS=N draws N times as many values. */
#include "base/sanitized.h"
#include "base/half.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512, COLS = 128, VALUES = ROWS * COLS, MODES = 4 };
/* widest vectors, 8 lanes, 4 lanes, CUDA */
static const int modes[MODES] = {0, 4, 5, RUN_MODE_COUNT};

static double neg(double x) { return -x; }
static double sign(double x) { return (x > 0) - (x < 0); }
static double recip(double x) { return 1 / x; }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

typedef struct unary {
    const char *op;
    double (*exact)(double);
} unary;

static const unary unaries[] = {
    {"neg", neg},     {"abs", fabs},    {"sign", sign},       {"floor", floor},
    {"sqrt", sqrt},   {"rsqrt", rsqrt}, {"recip", recip},     {"exp", exp},
    {"expm1", expm1}, {"log", log},     {"log1p", log1p},     {"sin", sin},
    {"cos", cos},     {"tanh", tanh},   {"sigmoid", sigmoid}, {"erf", erf}};
enum { UNARIES = sizeof unaries / sizeof *unaries };

static double add(double x, double y) { return x + y; }
static double sub(double x, double y) { return x - y; }
static double mul(double x, double y) { return x * y; }
static double quotient(double x, double y) { return x / y; }
static double larger(double x, double y) { return isnan(x) || isnan(y) ? NAN : x > y ? x : y; }
static double smaller(double x, double y) { return isnan(x) || isnan(y) ? NAN : x < y ? x : y; }

typedef struct binary {
    const char *op;
    double (*exact)(double, double);
} binary;

static const binary binaries[] = {{"add", add},      {"sub", sub},    {"mul", mul},
                                  {"div", quotient}, {"max", larger}, {"min", smaller},
                                  {"pow", pow}};
enum { BINARIES = sizeof binaries / sizeof *binaries };

static gn_arena arena;
static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

/* The bound in units in the last place that the page states. */
static double stated(const char *op)
{
    const char *root = getenv("GNNC_SOURCE_DIR");
    const char *path = gn_arena_printf(&arena, "%s/docs/numerics.md", root ? root : ".");
    char line[512];
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s: cannot be read", path);
    double bound = -1;
    char *name = gn_arena_printf(&arena, "`%s`", op);
    while (bound < 0 && fgets(line, sizeof line, f)) {
        char *end = line[0] == '|' ? strchr(line + 1, '|') : NULL,
             *at = end ? strstr(line, name) : NULL;
        if (at && at < end) bound = strtod(end + 1, NULL);
    }
    fclose(f);
    ck_assert_msg(bound >= 0, "%s: states no bound of `%s`", path, op);
    return bound;
}

/* What is beyond float32 counts as 2^128, where infinity stands. */
static double units(double got, double exact)
{
    const double edge = 0x1p128;
    if (isnan(exact) || isnan(got)) return isnan(exact) && isnan(got) ? 0 : INFINITY;
    exact = fmax(-edge, fmin(exact, edge));
    got = fmax(-edge, fmin(got, edge));
    int e;
    frexp(exact, &e);
    double unit = ldexp(1.0, (e < -125 ? -125 : e > 128 ? 128 : e) - 24);
    return fabs(got - exact) / unit;
}

static uint32_t drawn(uint32_t *seed) { return *seed = *seed * 1664525 + 1013904223; }

static const float special[] = {0.0f,
                                -0.0f,
                                1.0f,
                                -1.0f,
                                0.5f,
                                -0.5f,
                                2.0f,
                                -2.0f,
                                3.0f,
                                -3.0f,
                                INFINITY,
                                -INFINITY,
                                NAN,
                                0x1p-126f,
                                -0x1p-126f,
                                0x1p-149f,
                                -0x1p-149f,
                                0x1.fffffep127f,
                                -0x1.fffffep127f,
                                16777216.0f,
                                -16777217.0f,
                                1.75e9f,
                                1e30f,
                                88.72284f,
                                -103.97208f,
                                0.99999994f};
enum { SPECIALS = sizeof special / sizeof *special };

/* Every pattern of the upper half, and drawn bits below. */
static void all_of_float32(double *v, uint32_t seed)
{
    for (uint32_t i = 0; i < VALUES; i++) v[i] = gn_f32_from_bits(i << 16 | (drawn(&seed) >> 16));
    for (int i = 0; i < SPECIALS; i++) v[i] = special[i];
}

static gn_status *evaluated(const gir_program *p, double **in, run_case **out, run_code **code)
{
    static const char *names[] = {"x", "y"};
    gir_value values[2] = {{.rows = ROWS, .cols = COLS, .v = in[0]},
                           {.rows = ROWS, .cols = COLS, .v = in[1]}};
    gir_env env = {.arena = &arena, .n = in[1] ? 2 : 1, .name = names, .value = values};
    unsigned set = 0;
    for (int k = 0; k < MODES; k++) set |= 1u << modes[k];
    run_tally tally = {0};
    GN_TRY(run_case_new(&arena, p, &env, set, set, out));
    GN_TRY(run_compile(&arena, 1, out, code));
    return run_case_check(*out, &tally);
}

static const char *program_text(const char *op, int operands)
{
    return gn_arena_printf(
        &arena,
        "program @f {\n  space node node ?\n  %%1 = input \"x\" : node f32[%d]\n"
        "  %%2 = input \"y\" : node f32[%d]\n  %%3 = %s %%1%s\n  output \"o\" %%3\n}\n",
        COLS, COLS, op, operands == 2 ? ", %2" : "");
}

static void within(const char *op, double **in, int operands, const double *exact)
{
    double bound = stated(op);
    run_case *c = NULL;
    run_code *code = NULL;
    const char *text = program_text(op, operands);
    gir_program *p = NULL;
    gn_status *s = gir_parse(&arena, text, strlen(text), op, &p);
    if (!s) s = evaluated(p, in, &c, &code);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    for (int k = 0; k < MODES; k++) {
        const double *got = run_case_output(c, modes[k], 0);
        double worst = 0;
        int at = 0;
        for (int i = 0; got && i < VALUES; i++) {
            double e = units(got[i], exact[i]);
            if (!(e <= worst)) worst = e, at = i;
        }
        if (getenv("GNNC_TEST_VERBOSE"))
            printf("%-8s %-36s %.3f\n", op, run_modes[modes[k]].name, worst);
        ck_assert_msg(worst <= bound,
                      "%s, %s: %.3g ulp, stated are %g: of %a, %a it gives %a, not %a", op,
                      run_modes[modes[k]].name, worst, bound, in[0][at],
                      operands == 2 ? in[1][at] : 0, got[at], exact[at]);
    }
    run_case_free(c);
    run_code_free(code);
}

static int rounds(void)
{
    const char *n = getenv("GNNC_FUNCTIONS");
    return n && atoi(n) > 0 ? atoi(n) : 1;
}

START_TEST(of_one)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 3 : 1)) return; /* each compiles */
    const unary *f = &unaries[_i];
    double *in[2] = {GN_NEW_N(&arena, double, VALUES), GN_NEW_N(&arena, double, VALUES)};
    double *exact = GN_NEW_N(&arena, double, VALUES);
    for (int r = 0; r < rounds(); r++) {
        all_of_float32(in[0], (uint32_t)r * 77 + 1);
        for (int i = 0; i < VALUES; i++) exact[i] = f->exact(in[0][i]);
        within(f->op, in, 1, exact);
    }
}
END_TEST

/* All pairs of special values, drawn values of all scales beside each other, and beside ones of
 * their own scale. */
START_TEST(of_two)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 3 : 1)) return; /* each compiles */
    const binary *f = &binaries[_i];
    double *in[2] = {GN_NEW_N(&arena, double, VALUES), GN_NEW_N(&arena, double, VALUES)};
    double *exact = GN_NEW_N(&arena, double, VALUES);
    for (int r = 0; r < rounds(); r++) {
        uint32_t seed = (uint32_t)r * 77 + 5;
        all_of_float32(in[0], seed);
        for (int i = 0; i < VALUES; i++) {
            float near = (float)in[0][i] * (1 + (float)(drawn(&seed) >> 20) / 4096);
            in[1][i] = i % 2 ? gn_f32_from_bits(drawn(&seed)) : near;
            if (i < SPECIALS * SPECIALS)
                in[0][i] = special[i % SPECIALS], in[1][i] = special[i / SPECIALS];
        }
        for (int i = 0; i < VALUES; i++) exact[i] = f->exact(in[0][i], in[1][i]);
        within(f->op, in, 2, exact);
    }
}
END_TEST

int main(void)
{
    TCase *one = tcase_create("one operand"), *two = tcase_create("two operands");
    tcase_add_checked_fixture(one, setup, teardown);
    tcase_add_checked_fixture(two, setup, teardown);
    tcase_set_timeout(one, 300);
    tcase_set_timeout(two, 300);
    tcase_add_loop_test(one, of_one, 0, UNARIES);
    tcase_add_loop_test(two, of_two, 0, BINARIES);
    return RUN_CASES("functions", one, two);
}
