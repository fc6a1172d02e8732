/* Errors of the emitted elementary functions in units in the last place, over dense sweeps against
 * double libm. */
/* links: codegen runtime ir base */
/* timeout: 300 */
#include "codegen_test.h"

typedef struct sweep {
    const char *op;
    double (*exact)(double);
    double low, high; /* of |x| in powers of two; both signs unless `positive` */
    bool positive;
    double ulp; /* allowed; the largest seen is written beside it */
    int cpus;   /* the third has no fused multiply-add */
} sweep;

static const sweep sweeps[] = {
    {"exp", exp, 0x1p-30, 89.5, false, 2, 3},           /* 1.02 */
    {"expm1", expm1, 0x1p-60, 89.5, false, 4, 3},       /* 1.49; 1.72 without fused multiply-add */
    {"log", log, 0x1p-149, 0x1.fffffep127, true, 2, 3}, /* 0.73 */
    {"log1p", log1p, 0x1p-60, 0x1.fffffep127, true, 4, 3}, /* 0.77 */
    {"log1p", log1p, 0x1p-60, 0x1.fffffep-1, false, 4, 3}, /* 0.75 */
    {"tanh", tanh, 0x1p-60, 20, false, 4, 3},              /* 2.46 */
    {"erf", erf, 0x1p-60, 6, false, 4, 3},                 /* 1.13; 1.15 */
    {"sin", sin, 0x1p-60, 0x1p31, false, 2, 3},            /* 1.49 */
    {"cos", cos, 0x1p-60, 0x1p31, false, 2, 3},            /* 1.48 */
    {"sin", sin, 0x1p31, 0x1.fffffep127, false, 2, 3},     /* 1.49 */
    {"cos", cos, 0x1p31, 0x1.fffffep127, false, 2, 3},     /* 1.49 */
};
enum { SWEEPS = sizeof sweeps / sizeof *sweeps, POINTS = 1 << 19 };

static double ulp_of(double exact)
{
    int e;
    frexp(exact, &e);
    return ldexp(1.0, (e < -125 ? -125 : e) - 24);
}

static double error(float got, double exact)
{
    if (isnan(exact)) return isnan(got) ? 0 : INFINITY;
    float rounded = (float)exact;
    if (isinf(rounded) || isinf(got))
        return got == rounded || fabs(exact) > 0x1.fffffcp127 ? 0 : INFINITY;
    return fabs((double)got - exact) / ulp_of(exact);
}

static float *points(const sweep *s)
{
    float *x = gn_arena_alloc(&arena, POINTS, sizeof *x);
    double a = log2(s->low), b = log2(s->high);
    uint32_t seed = 7;
    for (int i = 0; i < POINTS; i++) {
        double jitter = (double)(test_random(&seed) & 0xffff) / 65536;
        float v = (float)exp2(a + (b - a) * (i + jitter) / (double)POINTS);
        x[i] = !s->positive && i % 2 ? -v : v;
    }
    return x;
}

static gn_kernel_fn function(const char *op, const char *unit, const char *cpu, gn_image **image)
{
    const char *text = gn_arena_printf(
        &arena,
        "kernel @f (sym n, %%x: f32[n] read, %%y: f32[n] read, %%o: f32[n] write) {\n"
        "for %%1 in 0 .. n step 1 %s none { %%2 = load f32 %%x[%%1] %%3 = load f32 %%y[%%1]\n"
        "%%4 = %s f32 %%2%s store %%o[%%1], %%4 }}",
        unit, op, strcmp(op, "fpow") ? "" : ", %3");
    *image = compiled(verified(text), cpu, &(check_options){0}, text);
    return gn_image_kernel(*image, 0);
}

START_TEST(errors)
{
    const sweep *s = &sweeps[_i];
    float *x = points(s), *y = gn_arena_alloc(&arena, POINTS, sizeof *y);
    int64_t n = POINTS;
    for (int cpu = 0; cpu < s->cpus; cpu++) {
        gn_image *image;
        if (!test_cpu_runs(cpu)) continue;
        gn_kernel_fn fn = function(s->op, cpu == 1 ? "serial" : "vector", test_cpus[cpu], &image);
        fn((void *[]){x, x, y}, &n, 0, 1);
        double worst = 0;
        int at = 0;
        for (int i = 0; i < POINTS; i++) {
            double e = error(y[i], s->exact((double)x[i]));
            if (e > worst) worst = e, at = i;
        }
        if (getenv("GNNC_TEST_VERBOSE"))
            printf("%-6s %-10s %.3f ulp at %a\n", s->op, test_cpus[cpu] ? test_cpus[cpu] : "host",
                   worst, (double)x[at]);
        ck_assert_msg(worst <= s->ulp, "%s on %s: %.3f ulp at %a, got %a", s->op,
                      test_cpus[cpu] ? test_cpus[cpu] : "host", worst, (double)x[at],
                      (double)y[at]);
        gn_image_free(image);
    }
}
END_TEST

/* Every f32 exponent and the values around the steps of exp; infinities and NaNs. */
START_TEST(exp_of_all_scales)
{
    bool less = _i == 1;
    enum { N = 1 << 16 };
    float *x = gn_arena_alloc(&arena, N, sizeof *x), *y = gn_arena_alloc(&arena, N, sizeof *y);
    int64_t n = N;
    gn_image *image;
    gn_kernel_fn fn = function(less ? "expm1" : "exp", "vector", NULL, &image);
    for (int i = 0; i < N; i++) x[i] = gn_f32_from_bits((uint32_t)i << 16);
    fn((void *[]){x, x, y}, &n, 0, 1);
    for (int i = 0; i < N; i++) {
        double e = error(y[i], less ? expm1((double)x[i]) : exp((double)x[i]));
        ck_assert_msg(e <= 2, "%s(%a) = %a: %.3f ulp", less ? "expm1" : "exp", (double)x[i],
                      (double)y[i], e);
        if (x[i] < -104) ck_assert(y[i] == (less ? -1 : 0));
        if (x[i] > 89) ck_assert(isinf(y[i]));
    }
    gn_image_free(image);
}
END_TEST

START_TEST(power)
{
    enum { N = 1 << 18 };
    float *x = gn_arena_alloc(&arena, N, sizeof *x), *p = gn_arena_alloc(&arena, N, sizeof *p),
          *y = gn_arena_alloc(&arena, N, sizeof *y);
    int64_t n = N;
    uint32_t seed = 5;
    for (int i = 0; i < N; i++) {
        float whole = (float)(int)(test_random(&seed) % 9) - 4.0f;
        x[i] = (float)exp2((double)(test_random(&seed) % 8000) / 500.0 - 8.0);
        p[i] = (float)(test_random(&seed) % 20000) / 1000.0f - 10.0f;
        if (i % 5 == 0) p[i] = whole;
        if (i % 10 == 0) x[i] = -x[i];
    }
    for (int cpu = 0; cpu < 3; cpu++) {
        gn_image *image;
        if (!test_cpu_runs(cpu)) continue;
        gn_kernel_fn fn = function("fpow", "vector", test_cpus[cpu], &image);
        fn((void *[]){x, p, y}, &n, 0, 1);
        double worst = 0;
        for (int i = 0; i < N; i++) {
            double e = error(y[i], pow((double)x[i], (double)p[i]));
            if (e > worst) worst = e;
        }
        if (getenv("GNNC_TEST_VERBOSE"))
            printf("fpow   %-10s %.3f ulp\n", test_cpus[cpu] ? test_cpus[cpu] : "host", worst);
        ck_assert_msg(worst <= 1, "fpow: %.3f ulp", worst);
        gn_image_free(image);
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("math");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, errors, 0, SWEEPS);
    tcase_add_loop_test(c, exp_of_all_scales, 0, 2);
    tcase_add_test(c, power);
    return run_tests(c, "codegen math");
}
