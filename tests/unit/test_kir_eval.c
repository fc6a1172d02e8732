/* The loop IR's evaluator: kernels in text form against plain C, and what a run must report. */
/* links: ir base */
#include "base/draw.h"
#include "base/half.h"
#include "base/philox.h"
#include "kir_test.h"

#include <float.h>
#include <math.h>

#define BOUND(x) {(x), (int64_t)(sizeof(x) / sizeof *(x))}

static void evaluated(const char *text, const kir_bound_buffer *b, const int64_t *syms)
{
    succeeded(kir_eval(parsed(text), NULL, b, syms), text);
}

static const char spmm[] = "kernel @spmm (sym node, sym edge, %rowptr: i32[node + 1] read, %col: "
                           "i32[edge] read, %h: f32[node * 3] read,\n"
                           "              %out: f32[node * 3] write) {\n"
                           "  for %1 in 0 .. node step 1 thread none {\n"
                           "    %2 = tile f32 3\n"
                           "    for %3 in 0 .. 3 step 1 vector none { tstore %2[%3], 0.0 }\n"
                           "    %4 = load i64 %rowptr[%1]\n"
                           "    %5 = iadd %1, 1\n"
                           "    %6 = load i64 %rowptr[%5]\n"
                           "    for %7 in %4 .. %6 step 1 serial ordered {\n"
                           "      %8 = load i64 %col[%7]\n"
                           "      %9 = imul %8, 3\n"
                           "      for %10 in 0 .. 3 step 1 vector none {\n"
                           "        %11 = iadd %9, %10\n"
                           "        %12 = load f32 %h[%11]\n"
                           "        tacc sum %2[%10], %12\n"
                           "      }\n"
                           "    }\n"
                           "    %13 = imul %1, 3\n"
                           "    for %14 in 0 .. 3 step 1 vector none {\n"
                           "      %15 = iadd %13, %14\n"
                           "      %16 = tload f32 %2[%14]\n"
                           "      store %out[%15], %16\n"
                           "    }\n"
                           "  }\n"
                           "}\n";

START_TEST(spmm_rows)
{
    int32_t rowptr[] = {0, 2, 2, 5, 6}, col[] = {1, 3, 0, 2, 3, 1};
    float h[12], out[12], want[12] = {0}, back[12];
    for (int i = 0; i < 12; i++) h[i] = (float)(i * i) * 0.1f;
    for (int r = 0; r < 4; r++)
        for (int e = rowptr[r]; e < rowptr[r + 1]; e++)
            for (int j = 0; j < 3; j++) want[r * 3 + j] += h[col[e] * 3 + j];
    int64_t syms[] = {4, 6};
    evaluated(spmm, (kir_bound_buffer[]){BOUND(rowptr), BOUND(col), BOUND(h), BOUND(out)}, syms);
    ck_assert_mem_eq(out, want, sizeof want);
    kir_eval_options reverse = {.reverse = true};
    succeeded(kir_eval(parsed(spmm), &reverse,
                       (kir_bound_buffer[]){BOUND(rowptr), BOUND(col), BOUND(h), BOUND(back)},
                       syms),
              spmm);
    ck_assert_mem_eq(back, want, sizeof want);
}
END_TEST

/* 5 x 7 = (5 x 4)(4 x 7) in tiles of 4 x 4, whose edges are cut by ifs. */
static const char
    gemm[] = "kernel @gemm (sym m, %a: f32[m * 4] read, %b: f32[28] read, %c: f32[m * 7] write) {\n"
             "  for %1 in 0 .. m step 4 thread none {\n"
             "    for %2 in 0 .. 7 step 4 serial none {\n"
             "      %3 = tile f32 16\n"
             "      for %4 in 0 .. 16 step 1 vector none { tstore %3[%4], 0.0 }\n"
             "      for %5 in 0 .. 4 step 1 serial ordered {\n"
             "        for %6 in 0 .. 16 step 1 vector none {\n"
             "          %7 = idiv %6, 4\n"
             "          %8 = imod %6, 4\n"
             "          %9 = iadd %1, %7\n"
             "          %10 = iadd %2, %8\n"
             "          %11 = ilt %9, m\n"
             "          %12 = ilt %10, 7\n"
             "          %13 = and %11, %12\n"
             "          if %13 {\n"
             "            %14 = imul %9, 4\n"
             "            %15 = iadd %14, %5\n"
             "            %16 = load f32 %a[%15]\n"
             "            %17 = imul %5, 7\n"
             "            %18 = iadd %17, %10\n"
             "            %19 = load f32 %b[%18]\n"
             "            tfma %3[%6], %16, %19\n"
             "          }\n"
             "        }\n"
             "      }\n"
             "      for %20 in 0 .. 4 step 1 unroll none {\n"
             "        %21 = iadd %1, %20\n"
             "        %22 = ilt %21, m\n"
             "        if %22 {\n"
             "          %23 = imul %21, 7\n"
             "          %24 = iadd %2, 4\n"
             "          %25 = imin %24, 7\n"
             "          for %26 in %2 .. %25 step 1 vector none {\n"
             "            %27 = iadd %23, %26\n"
             "            %28 = imul %20, 4\n"
             "            %29 = isub %26, %2\n"
             "            %30 = iadd %28, %29\n"
             "            %31 = tload f32 %3[%30]\n"
             "            store %c[%27], %31\n"
             "          }\n"
             "        }\n"
             "      }\n"
             "    }\n"
             "  }\n"
             "}\n";

START_TEST(gemm_tiles)
{
    float a[20], b[28], c[35], want[35] = {0};
    for (int i = 0; i < 20; i++) a[i] = sinf((float)i);
    for (int i = 0; i < 28; i++) b[i] = cosf((float)i);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 35; i++) want[i] = fmaf(a[i / 7 * 4 + k], b[k * 7 + i % 7], want[i]);
    for (int reverse = 0; reverse < 2; reverse++) {
        memset(c, 0, sizeof c);
        kir_eval_options opt = {.reverse = reverse};
        succeeded(kir_eval(parsed(gemm), &opt, (kir_bound_buffer[]){BOUND(a), BOUND(b), BOUND(c)},
                           (int64_t[]){5}),
                  gemm);
        ck_assert_mem_eq(c, want, sizeof want);
    }
}
END_TEST

static const char
    softmax[] = "kernel @softmax (sym n, %x: f32[n * 5] read, %y: f32[n * 5] write) {\n"
                "  for %1 in 0 .. n step 1 thread none {\n"
                "    %2 = imul %1, 5\n"
                "    %3 = tile f32 2\n"
                "    tstore %3[0], -inf\n"
                "    tstore %3[1], 0.0\n"
                "    for %4 in 0 .. 5 step 1 vector reduce {\n"
                "      %5 = iadd %2, %4\n"
                "      %6 = load f32 %x[%5]\n"
                "      tacc max %3[0], %6\n"
                "    }\n"
                "    %7 = tload f32 %3[0]\n"
                "    for %8 in 0 .. 5 step 1 vector reduce {\n"
                "      %9 = iadd %2, %8\n"
                "      %10 = load f32 %x[%9]\n"
                "      %11 = fsub f32 %10, %7\n"
                "      %12 = exp f32 %11\n"
                "      tacc sum %3[1], %12\n"
                "    }\n"
                "    %13 = tload f32 %3[1]\n"
                "    for %14 in 0 .. 5 step 1 vector none {\n"
                "      %15 = iadd %2, %14\n"
                "      %16 = load f32 %x[%15]\n"
                "      %17 = fsub f32 %16, %7\n"
                "      %18 = exp f32 %17\n"
                "      %19 = fdiv f32 %18, %13\n"
                "      store %y[%15], %19\n"
                "    }\n"
                "  }\n"
                "}\n";

START_TEST(softmax_rows)
{
    float x[15], y[15], want[15];
    double wide[15], deep[15];
    for (int i = 0; i < 15; i++) wide[i] = (double)(x[i] = (float)(i * i % 7) - 2);
    for (int r = 0; r < 3; r++) {
        float max = -INFINITY, sum = 0;
        for (int j = 0; j < 5; j++) max = fmaxf(max, x[r * 5 + j]);
        for (int j = 0; j < 5; j++) sum += (float)exp((double)(x[r * 5 + j] - max));
        for (int j = 0; j < 5; j++)
            want[r * 5 + j] = (float)exp((double)(x[r * 5 + j] - max)) / sum;
    }
    evaluated(softmax, (kir_bound_buffer[]){BOUND(x), BOUND(y)}, (int64_t[]){3});
    ck_assert_mem_eq(y, want, sizeof want);
    kir_eval_options f64 = {.f64 = true, .reverse = true};
    succeeded(kir_eval(parsed(softmax), &f64, (kir_bound_buffer[]){BOUND(wide), BOUND(deep)},
                       (int64_t[]){3}),
              softmax);
    for (int r = 0; r < 3; r++) {
        double sum = 0;
        for (int j = 0; j < 5; j++) {
            ck_assert_double_eq_tol(deep[r * 5 + j], (double)want[r * 5 + j], 1e-6);
            sum += deep[r * 5 + j];
        }
        ck_assert_double_eq_tol(sum, 1, 1e-15);
    }
    ck_assert_double_ne(deep[0], (double)(float)deep[0]);
}
END_TEST

/* Element types -------------------------------------------------------------------------------- */

START_TEST(halves_by_exhaustion)
{
    for (uint32_t h = 0; h < 65536; h++) {
        uint32_t exp = h >> 10 & 31, man = h & 1023;
        float f = gn_f16_to_f32((uint16_t)h);
        double want = exp == 31 ? (man ? (double)NAN : (double)INFINITY)
                      : exp     ? ldexp(1024 + man, (int)exp - 25)
                                : ldexp(man, -24);
        if (h >> 15) want = -want;
        ck_assert(isnan(want) ? isnan(f) : (double)f == want);
        if (!isnan(f)) ck_assert_uint_eq(gn_f32_to_f16(f), h);
        if (isnan(f)) ck_assert(isnan(gn_f16_to_f32(gn_f32_to_f16(f))));
        float b = gn_bf16_to_f32((uint16_t)h);
        if (isnan(b)) ck_assert(isnan(gn_bf16_to_f32(gn_f32_to_bf16(b))));
        if (!isnan(b)) ck_assert_uint_eq(gn_f32_to_bf16(b), h);
        if (exp == 31 || h >> 15 || h == 0x7bff) continue;
        /* ties go to the even one */
        float up = gn_f16_to_f32((uint16_t)(h + 1)), half = f + (up - f) / 2;
        ck_assert_uint_eq(gn_f32_to_f16(half), h & 1 ? h + 1 : h);
        ck_assert_uint_eq(gn_f32_to_f16(nextafterf(half, 0)), h);
        ck_assert_uint_eq(gn_f32_to_f16(nextafterf(half, INFINITY)), h + 1);
    }
    ck_assert_uint_eq(gn_f32_to_f16(65519.0f), 0x7bff);
    ck_assert_uint_eq(gn_f32_to_f16(65520.0f), 0x7c00);
    ck_assert_uint_eq(gn_f32_to_bf16(FLT_MAX), 0x7f80);
    ck_assert_uint_eq(gn_f32_to_bf16(gn_f32_from_bits(0x3f808000)), 0x3f80);
    ck_assert_uint_eq(gn_f32_to_bf16(gn_f32_from_bits(0x3f818000)), 0x3f82);
}
END_TEST

START_TEST(narrow_buffers)
{
    static const char
        text[] = "kernel @copy (%h: f16[2] read_write, %b: bf16[2] read_write, %i: i32[2] "
                 "read_write, %u: u32[2] read_write,\n"
                 "              %y: u8[2] read_write, %t: bool[2] read_write, %d: f64[2] "
                 "read_write, %l: i64[2] read_write) {\n"
                 "%1 = load f32 %h[0]\nstore %h[1], %1\n%2 = load f32 %b[0]\nstore %b[1], %2\n%3 = "
                 "load i64 %i[0]\nstore %i[1], "
                 "%3\n"
                 "%4 = load i64 %u[0]\nstore %u[1], %4\n%5 = load i64 %y[0]\nstore %y[1], %5\n%6 = "
                 "load bool %t[0]\nstore "
                 "%t[1], %6\n"
                 "%7 = load f64 %d[0]\nstore %d[1], %7\n%8 = load i64 %l[0]\nstore %l[1], %8\n}";
    uint16_t h[2] = {0x3c01}, b[2] = {0xc2f7};
    int32_t i[2] = {INT32_MIN};
    uint32_t u[2] = {UINT32_MAX};
    uint8_t y[2] = {200}, t[2] = {7};
    double d[2] = {0.1};
    int64_t l[2] = {INT64_MIN};
    evaluated(text,
              (kir_bound_buffer[]){BOUND(h), BOUND(b), BOUND(i), BOUND(u), BOUND(y), BOUND(t),
                                   BOUND(d), BOUND(l)},
              NULL);
    ck_assert(h[1] == h[0] && b[1] == b[0] && i[1] == i[0] && u[1] == u[0] && y[1] == y[0] &&
              t[1] == 1 && d[1] == d[0] && l[1] == l[0]);
}
END_TEST

/* One value, computed from three f32, in f32. */
static float computed(const char *expr, float a, float b, float c)
{
    char text[400];
    float in[3] = {a, b, c}, out[1];
    snprintf(text, sizeof text,
             "kernel @x (%%i: f32[3] read, %%o: f32[1] write) {\n%%1 = load f32 %%i[0]\n%%2 = load "
             "f32 %%i[1]\n"
             "%%3 = load f32 %%i[2]\n%s\nstore %%o[0], %%9\n}",
             expr);
    evaluated(text, (kir_bound_buffer[]){BOUND(in), BOUND(out)}, NULL);
    return out[0];
}

START_TEST(float_semantics)
{
    float eps = 0x1p-12f;
    ck_assert(computed("%9 = fma f32 %1, %2, %3", 1 + eps, 1 + eps, -1) ==
              fmaf(1 + eps, 1 + eps, -1));
    ck_assert(computed("%4 = fmul f32 %1, %2\n%9 = fadd f32 %4, %3", 1 + eps, 1 + eps, -1) ==
              0x1p-11f);
    ck_assert(isnan(computed("%9 = fmin f32 %1, %2", NAN, 1, 0)) &&
              isnan(computed("%9 = fmax f32 %1, %2", 1, NAN, 0)));
    ck_assert(signbit(computed("%9 = fmin f32 %1, %2", 0, -0.0f, 0)) &&
              !signbit(computed("%9 = fmax f32 %1, %2", 0, -0.0f, 0)));
    ck_assert(computed("%9 = fmax f32 %1, %2", 2, 3, 0) == 3 &&
              computed("%9 = fmin f32 %1, %2", 2, 3, 0) == 2);
    ck_assert(computed("%4 = flt %1, %2\n%9 = select f32 %4, 1.0, 2.0", NAN, 1, 0) == 2);
    ck_assert(computed("%4 = cast i64 %1\n%9 = cast f32 %4", -3.75f, 0, 0) == -3);
    ck_assert(computed("%4 = cast i64 %1\n%9 = cast f32 %4", NAN, 0, 0) == 0);
    ck_assert(computed("%4 = cast i64 %1\n%9 = cast f32 %4", INFINITY, 0, 0) == 0x1p63f);
    ck_assert(computed("%4 = cast i64 %1\n%9 = cast f32 %4", -1e30f, 0, 0) == -0x1p63f);
    ck_assert(computed("%4 = cast bool %1\n%9 = cast f32 %4", NAN, 0, 0) == 1);
    ck_assert(computed("%9 = cast f32 16777217", 0, 0, 0) == 16777216);
    ck_assert(computed("%9 = cast f32 0.1:f64", 0, 0, 0) == 0.1f);
    ck_assert(computed("%9 = fpow f32 %1, %2", 2, 10, 0) == 1024 &&
              computed("%9 = floor f32 %1", -0.5f, 0, 0) == -1);
    ck_assert(computed("%9 = expm1 f32 %1", 1e-6f, 0, 0) == expm1f(1e-6f) &&
              computed("%9 = fneg f32 %1", 1, 0, 0) == -1);
}
END_TEST

START_TEST(functions)
{
    static const struct {
        const char *name;
        double (*f)(double);
    } f[] = {{"exp", exp},   {"expm1", expm1}, {"log", log},    {"log1p", log1p},
             {"sin", sin},   {"cos", cos},     {"tanh", tanh},  {"erf", erf},
             {"sqrt", sqrt}, {"fabs", fabs},   {"floor", floor}};
    static const float at[] = {0, 0.3f, 1, 7.5f, 80, -0.4f};
    for (size_t i = 0; i < sizeof f / sizeof *f; i++)
        for (size_t j = 0; j < sizeof at / sizeof *at; j++) {
            char text[64];
            snprintf(text, sizeof text, "%%9 = %s f32 %%1", f[i].name);
            float want = (float)f[i].f((double)at[j]), got = computed(text, at[j], 0, 0);
            ck_assert_msg(got == want || (isnan(got) && isnan(want)), "%s(%g) = %g", f[i].name,
                          (double)at[j], (double)got);
        }
}
END_TEST

START_TEST(bools)
{
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            float x = (float)a, y = (float)b;
            static const char form[] = "%4 = cast bool %1\n%5 = cast bool %2\n%6 = ";
            char text[120];
            snprintf(text, sizeof text, "%s%s", form, "and %4, %5\n%9 = cast f32 %6");
            ck_assert(computed(text, x, y, 0) == (float)(a && b));
            snprintf(text, sizeof text, "%s%s", form, "or %4, %5\n%9 = cast f32 %6");
            ck_assert(computed(text, x, y, 0) == (float)(a || b));
            snprintf(text, sizeof text, "%s%s", form, "not %4\n%9 = cast f32 %6");
            ck_assert(computed(text, x, y, 0) == (float)!a);
            ck_assert(computed("%4 = fle %1, %2\n%9 = cast f32 %4", x, y, 0) == (float)(a <= b));
            ck_assert(computed("%4 = feq %1, %2\n%9 = cast f32 %4", x, y, 0) == (float)(a == b));
        }
}
END_TEST

START_TEST(random_numbers)
{
    static const char
        text[] = "kernel @r (sym seed, sym step, %o: f32[100] write) {\n%1 = rngkey seed, step\n"
                 "for %2 in 0 .. 100 step 1 thread none {\n%3 = imul %2, 4611686018427387\n"
                 "%4 = random %1, %3 site 9\nstore %o[%2], %4\n}\n}";
    float out[100];
    evaluated(text, (kir_bound_buffer[]){BOUND(out)}, (int64_t[]){-5, 77});
    uint64_t key = gn_step_key((uint64_t)-5, 77);
    for (uint64_t i = 0; i < 100; i++)
        ck_assert(out[i] == gn_draw_uniform(key, 9, i * 4611686018427387u));
}
END_TEST

START_TEST(integers)
{
    static const char
        text[] = "kernel @i (%x: i64[2] read, %o: i64[8] write) {\n%1 = load i64 %x[0]\n%2 = load "
                 "i64 %x[1]\n"
                 "%3 = tile i64 3\ntstore %3[0], 10\ntstore %3[1], 10\ntstore %3[2], 10\n"
                 "tacc sum %3[0], %1\ntacc max %3[1], %1\ntacc min %3[2], %1\n"
                 "%4 = tload i64 %3[0]\nstore %o[0], %4\n%5 = tload i64 %3[1]\nstore %o[1], %5\n"
                 "%6 = tload i64 %3[2]\nstore %o[2], %6\n%7 = idiv %1, %2\nstore %o[3], %7\n"
                 "%8 = imod %1, %2\nstore %o[4], %8\n%9 = imax %1, %2\nstore %o[5], %9\n"
                 "%10 = isub %2, %1\nstore %o[6], %10\n%11 = ile %1, %1\n%12 = cast i64 %11\nstore "
                 "%o[7], %12\n}";
    int64_t x[] = {47, 5}, o[8], want[] = {57, 47, 10, 9, 2, 47, -42, 1};
    evaluated(text, (kir_bound_buffer[]){BOUND(x), BOUND(o)}, NULL);
    ck_assert_mem_eq(o, want, sizeof want);
}
END_TEST

START_TEST(bounds_of_loops)
{
    static const char text
        [] = "kernel @l (sym lo, sym hi, %o: i64[1] write) {\n%1 = tile i64 1\ntstore %1[0], 0\n"
             "for %2 in lo .. hi step 3 serial reduce {\ntacc sum %1[0], %2\n}\n"
             "%3 = tload i64 %1[0]\nstore %o[0], %3\n}";
    static const int64_t cases[][3] = {{0, 0, 0},
                                       {5, -5, 0},
                                       {0, 1, 0},
                                       {0, 3, 0},
                                       {0, 4, 3},
                                       {-4, 4, -4 - 1 + 2},
                                       {INT64_MAX - 1, INT64_MAX, INT64_MAX - 1},
                                       {INT64_MIN, INT64_MIN + 1, INT64_MIN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t o[1];
        evaluated(text, (kir_bound_buffer[]){BOUND(o)}, cases[i]);
        ck_assert_int_eq(o[0], cases[i][2]);
    }
}
END_TEST

/* Faults --------------------------------------------------------------------------------------- */

static const struct {
    const char *body, *says;
} faults[] = {
    {"%1 = load f32 %r[-1]", "element -1 of 4 of r: out of bounds"},
    {"%1 = load f32 %r[n]", "element 4 of 4 of r: out of bounds"},
    {"for %1 in 0 .. n step 1 thread none {\n %2 = iadd %1, 1\n store %w[%2], 1.0\n }",
     "at (3): element 4 of 4 of w"},
    {"%1 = tile f32 4\n tstore %1[4], 1.0", "element 4 of 4 of the tile: out of bounds"},
    {"%1 = tile f32 4\n %2 = tload f32 %1[1]",
     "element 1 of 4 of the tile: read but never written"},
    {"%1 = tile f32 4\n tstore %1[0], 1.0\n tacc sum %1[1], 1.0", "read but never written"},
    {"%1 = tile f32 4\n tfma %1[0], 1.0, 1.0", "read but never written"},
    {"for %1 in 0 .. 2 step 1 serial ordered {\n %2 = tile f32 1\n %3 = ieq %1, 0\n if %3 {\n "
     "tstore %2[0], 1.0\n }\n"
     " %4 = tload f32 %2[0]\n }",
     "at (1): element 0 of 1 of the tile: read but never written"},
    {"%1 = iadd n, 9223372036854775807", "does not fit in 64 bits"},
    {"%1 = isub -9223372036854775807, n", "does not fit in 64 bits"},
    {"%1 = imul n, 9223372036854775807", "does not fit in 64 bits"},
    {"%1 = isub n, 4\n %2 = idiv n, %1", "a division by less than one"},
    {"%1 = imod -1, n", "a division by less than one, or of a negative"},
    {"%1 = tile i64 1\n tstore %1[0], 9223372036854775807\n tacc sum %1[0], n",
     "does not fit in 64 bits"},
    {"%1 = iadd n, 4294967292\n %2 = random 7, %1 site 0 narrow", "a narrow draw of an element"},
    {"%1 = iadd 1, true", "an operand has the wrong type"},
};

START_TEST(faults_are_found)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        gn_buf t = {.arena = &arena};
        float r[4] = {0}, w[4];
        gn_buf_printf(&t, "%s%s\n}\n", "kernel @k (sym n, %r: f32[n] read, %w: f32[n] write) {\n",
                      faults[i].body);
        refused(
            kir_eval(parsed(t.p), NULL, (kir_bound_buffer[]){BOUND(r), BOUND(w)}, (int64_t[]){4}),
            GN_ERR_INTERNAL, faults[i].says, t.p);
    }
}
END_TEST

START_TEST(bindings_and_limits)
{
    static const char text[] = "kernel @k (sym n, %x: f32[n * 2 + 1] write) {\nfor %1 in 0 .. n "
                               "step 1 serial none {\n"
                               "for %2 in 0 .. n step 1 serial none {\n}\n}\n}";
    float x[9];
    kir_kernel *k = parsed(text);
    kir_bound_buffer b[] = {BOUND(x)};
    succeeded(kir_eval(k, NULL, b, (int64_t[]){4}), text);
    refused(kir_eval(k, NULL, b, (int64_t[]){5}), GN_ERR_USAGE, "%x needs 11 elements and has 9",
            text);
    refused(kir_eval(k, NULL, b, (int64_t[]){-1}), GN_ERR_USAGE, "not a number of elements", text);
    refused(kir_eval(k, NULL, b, (int64_t[]){INT64_MAX}), GN_ERR_USAGE, "not a number of elements",
            text);
    kir_eval_options few = {.max_steps = 20};
    refused(kir_eval(k, &few, b, (int64_t[]){4}), GN_ERR_USAGE, "stopped after 20 steps", text);
    kir_eval_options small = {.max_bytes = 1 << 20};
    refused(kir_eval(parsed("kernel @t () {\n%1 = tile f32 1048576\n}"), &small, NULL, NULL),
            GN_ERR_NOMEM, "bytes", "tile");
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("eval");
    tcase_add_test(c, spmm_rows);
    tcase_add_test(c, gemm_tiles);
    tcase_add_test(c, softmax_rows);
    tcase_add_test(c, halves_by_exhaustion);
    tcase_add_test(c, narrow_buffers);
    tcase_add_test(c, float_semantics);
    tcase_add_test(c, functions);
    tcase_add_test(c, bools);
    tcase_add_test(c, random_numbers);
    tcase_add_test(c, integers);
    tcase_add_test(c, bounds_of_loops);
    tcase_add_test(c, faults_are_found);
    tcase_add_test(c, bindings_and_limits);
    return run_tests(c, "kir_eval");
}
