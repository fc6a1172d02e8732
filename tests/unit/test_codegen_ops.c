/* Every instruction, compiled, against the loop IR's evaluator: in a serial loop, in written-out
 * vector loops of all lengths, and in vector loops whose length is known when they run. */
/* labels: long */
/* links: codegen runtime ir base */
/* timeout: 300 */
#include "base/draw.h"
#include "base/sanitized.h"
#include "codegen_test.h"

typedef struct op_case {
    const char *body;     /* from %10, %11, %12 (values of x, y, z) to %20; @ is their type */
    const char *in, *out; /* element types */
    double tolerance;
} op_case;

#define F1(op, tol) {"%20 = " op " @ %10", "f32", "f32", tol}
#define D1(op) {"%20 = " op " @ %10", "f64", "f64", 1e-15}
#define F2(op) {"%20 = " op " @ %10, %11", "f32", "f32", 0}
#define D2(op) {"%20 = " op " @ %10, %11", "f64", "f64", 0}
#define I2(op) {"%20 = " op " %10, %11", "i64", "i64", 0}

static const op_case cases[] = {
    F2("fadd"),
    F2("fsub"),
    F2("fmul"),
    F2("fdiv"),
    F2("fmin"),
    F2("fmax"),
    D2("fadd"),
    D2("fsub"),
    D2("fmul"),
    D2("fdiv"),
    D2("fmin"),
    D2("fmax"),
    {"%20 = fma @ %10, %11, %12", "f32", "f32", 0},
    {"%20 = fma @ %10, %11, %12", "f64", "f64", 0},
    {"%13 = fabs @ %10 %20 = fpow @ %13, %11", "f32", "f32", 3e-7},
    {"%13 = fabs @ %10 %20 = fpow @ %13, %11", "f64", "f64", 1e-15},
    {"%20 = fpow @ %10, 2.0", "f32", "f32", 3e-7},
    {"%20 = fmax @ %10, 0.0", "f32", "f32", 0},
    {"%20 = fmin @ 0.25, %10", "f32", "f32", 0},
    F1("fneg", 0),
    {"%20 = fneg @ -inf", "f32", "f32", 0},
    {"%20 = fneg @ -inf:f64", "f64", "f64", 0},
    {"%13 = fneg @ -1.5 %20 = fsub @ %13, -2.0", "f32", "f32", 0},
    F1("fabs", 0),
    F1("floor", 0),
    F1("exp", 3e-7),
    F1("expm1", 3e-7),
    F1("sin", 3e-7),
    F1("cos", 3e-7),
    F1("tanh", 3e-7),
    F1("erf", 3e-7),
    D1("fneg"),
    D1("fabs"),
    D1("floor"),
    D1("exp"),
    D1("expm1"),
    D1("sin"),
    D1("cos"),
    D1("tanh"),
    D1("erf"),
    {"%13 = fabs @ %10 %20 = sqrt @ %13", "f32", "f32", 0},
    {"%13 = fabs @ %10 %20 = sqrt @ %13", "f64", "f64", 0},
    {"%13 = fabs @ %10 %20 = log @ %13", "f32", "f32", 3e-7},
    {"%13 = fabs @ %10 %20 = log @ %13", "f64", "f64", 1e-15},
    {"%13 = fabs @ %10 %20 = log1p @ %13", "f32", "f32", 3e-7},
    {"%13 = fabs @ %10 %20 = log1p @ %13", "f64", "f64", 1e-15},
    {"%13 = flt %10, %11 %20 = select @ %13, %12, %10", "f32", "f32", 0},
    {"%13 = fle %10, 0.0 %14 = feq %10, %11 %15 = or %13, %14 %16 = not %15 %20 = cast f32 %16",
     "f32", "f32", 0},
    {"%13 = flt %10, %11 %14 = flt %11, %12 %20 = and %13, %14", "f32", "bool", 0},
    {"%20 = cast bool %10", "f32", "bool", 0},
    {"%13 = fmul @ %10, 100.0 %20 = cast i64 %13", "f32", "i64", 0},
    {"%13 = fmul @ %10, 100.0:f64 %20 = cast i64 %13", "f64", "i32", 0},
    {"%13 = fmul @ %10, 1e30 %20 = cast i64 %13", "f32", "i64", 0},
    {"%20 = cast f64 %10", "f32", "f64", 0},
    {"%20 = cast f32 %10", "f64", "f32", 0},
    {"%20 = cast f32 %10", "i64", "f32", 0},
    {"%20 = cast f32 %10", "i32", "f32", 0},
    {"%20 = cast f64 %10", "i64", "f64", 0},
    {"%20 = cast bool %10", "i64", "bool", 0},
    {"%20 = cast f32 %10", "bool", "f32", 0},
    {"%20 = cast i64 %10", "bool", "i64", 0},
    {"%13 = not %10 %14 = and %13, %11 %20 = or %14, %12", "bool", "bool", 0},
    {"%20 = select @ %10, %11, %12", "bool", "bool", 0},
    I2("iadd"),
    I2("isub"),
    I2("imul"),
    I2("imin"),
    I2("imax"),
    {"%13 = iadd %11, 1 %20 = idiv %10, %13", "i64", "i64", 0},
    {"%13 = iadd %11, 1 %20 = imod %10, %13", "i64", "i64", 0},
    {"%20 = idiv %10, 7", "i64", "i64", 0},
    {"%20 = imod %10, 8", "i64", "i64", 0},
    {"%20 = ilt %10, %11", "i64", "bool", 0},
    {"%20 = ile %10, 17", "i64", "bool", 0},
    {"%13 = imod %10, 3 %14 = imod %11, 3 %20 = ieq %13, %14", "i32", "bool", 0},
    {"%13 = ilt %10, %11 %20 = select @ %13, %10, %12", "i64", "i64", 0},
    {"%20 = iadd %10, 0", "i32", "i32", 0},
    {"%20 = iadd %10, 0", "u32", "u8", 0},
    {"%20 = iadd %10, 0", "u8", "u32", 0},
    {"%20 = fadd @ %10, %11", "bf16", "bf16", 0},
    {"%20 = fadd @ %10, %11", "f16", "f16", 0},
    {"%20 = fmul @ %10, %11", "f16", "bf16", 0},
    {"%20 = random %10, %11 site 3", "i64", "f32", 0},
    {"%20 = random 77, %11 site 12345", "i64", "f32", 0},
    {"%20 = rngkey %10, %11", "i64", "i64", 0},
    {"%13 = random %10, %11 site 3 %20 = fle 0.5, %13", "i64", "bool", 0},
    {"%13 = random 77, %11 site 3 %20 = flt 0.3, %13", "i64", "bool", 0},
    {"%13 = random %10, %11 site 3 %20 = fle %13, 0.6", "i64", "bool", 0},
    {"%13 = random 77, %11 site 3 %20 = flt %13, 0.75 %14 = not %20", "i64", "bool", 0},
    {"%13 = random %10, %11 site 3 %14 = fle 0.0, %13 %15 = flt %13, -0.5 %20 = or %14, %15", "i64",
     "bool", 0},
    {"%13 = random %10, %11 site 3 %14 = flt %13, 1.0 %15 = fle 1.0, %13 %20 = select bool %15, "
     "%15, %14",
     "i64", "bool", 0},
    {"%13 = random %10, %11 site 3 %14 = fle 0.4, %13 %20 = select f32 %14, %13, -1.0", "i64",
     "f32", 0},
    {"%13 = random %10, %11 site 3 %20 = feq %13, 0.5", "i64", "bool", 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static const char *value_type(const char *e)
{
    if (!strcmp(e, "f64") || !strcmp(e, "bool")) return e;
    return strchr(e, 'f') ? "f32" : "i64";
}

/* `size` of the buffers, `length` and `unit` of the loop */
static const char *elementwise(const op_case *c, const char *size, const char *unit)
{
    const char *v = value_type(c->in);
    gn_buf body = {.arena = &arena};
    for (const char *p = c->body; *p; p++)
        gn_buf_addn(&body, *p == '@' ? v : p, *p == '@' ? strlen(v) : 1);
    return gn_arena_printf(
        &arena,
        "kernel @op (sym n, %%x: %s[%s] read, %%y: %s[%s] read, %%z: %s[%s] read, %%o: %s[%s] "
        "write) {\n"
        "  for %%1 in 0 .. %s step 1 %s none {\n"
        "    %%10 = load %s %%x[%%1] %%11 = load %s %%y[%%1] %%12 = load %s %%z[%%1]\n"
        "    %s\n"
        "    store %%o[%%1], %%20\n"
        "  }\n}\n",
        c->in, size, c->in, size, c->in, size, c->out, size, size, unit, v, v, v, body.p);
}

START_TEST(op_serial)
{
    if (GN_UNDER_ASAN && _i % 3 != 1) return; /* each compiles */
    check_options o = {.syms = {9}, .limit = 100, .tolerance = cases[_i].tolerance};
    checked(elementwise(&cases[_i], "n", "serial"), &o);
}
END_TEST

START_TEST(op_written_out)
{
    static const int lengths[] = {1, 3, 7, 16, 45};
    const char *text[5];
    check_options o[5];
    if (GN_UNDER_ASAN && _i % 3) return; /* each compiles */
    for (int i = 0; i < 5; i++) {
        o[i] = (check_options){
            .syms = {1}, .limit = 100, .tolerance = cases[_i].tolerance, .seed = (uint32_t)i};
        text[i] = elementwise(&cases[_i], with_number("#", lengths[i]), "vector");
    }
    checked_all(5, text, o);
}
END_TEST

START_TEST(op_run_time)
{
    if (GN_UNDER_ASAN && _i % 3 != 2) return; /* each compiles */
    static const int lengths[] = {0, 1, 3, 8, 15, 16, 17, 37};
    check_options o = {.limit = 100, .tolerance = cases[_i].tolerance};
    checked_lengths(elementwise(&cases[_i], "n", "vector"), &o, lengths, 8);
}
END_TEST

/* NaN and infinities through comparisons, minimum and maximum, casts. */
START_TEST(special_values)
{
    static const char *const body[] = {"%20 = fmin @ %10, %11",
                                       "%20 = fmax @ %10, %11",
                                       "%20 = fmax @ %10, 0.0",
                                       "%20 = fmin @ %10, 0.0",
                                       "%20 = fmax @ 1.5, %10",
                                       "%20 = exp @ %10",
                                       "%20 = tanh @ %10",
                                       "%20 = log1p @ %10",
                                       "%20 = expm1 @ %10",
                                       "%20 = erf @ %10",
                                       "%20 = fpow @ %10, %11",
                                       "%13 = fmul @ %10, 0.0 %20 = sin @ %13",
                                       "%13 = cast i64 %10 %20 = cast f32 %13",
                                       "%20 = log @ %10",
                                       "%20 = floor @ %10",
                                       "%13 = flt %10, %11 %20 = cast f32 %13",
                                       "%13 = fle %10, %11 %20 = cast f32 %13",
                                       "%13 = feq %10, %11 %20 = cast f32 %13",
                                       "%20 = sqrt @ %10"};
    static const float special[] = {NAN,   INFINITY, -INFINITY, 0.0f,   -0.0f, 1.0f,
                                    -1.0f, 2.5f,     -3.0f,     1e-40f, 3e38f};
    enum { K = 11 };
    float x[K * K], y[K * K];
    for (int i = 0; i < K * K; i++) {
        x[i] = special[i / K];
        y[i] = special[i % K];
    }
    op_case c = {body[_i], "f32", "f32", 0};
    check_options o = {.syms = {K * K}, .data = {x, y}, .tolerance = 4e-7};
    checked(elementwise(&c, "n", "vector"), &o);
    checked(elementwise(&c, "121", "vector"), &o);
    checked(elementwise(&c, "n", "serial"), &o);
}
END_TEST

/* Operands of 32 bits whose results have more. */
START_TEST(more_than_32_bits)
{
    static const char *const body[] = {"%20 = imul %10, %11", "%20 = iadd %10, %11",
                                       "%20 = isub %10, %11",
                                       "%13 = isub 0, %11 %20 = isub %13, %10"};
    static const int32_t number[] = {0,       1,          -1,        46341,    -46341,
                                     1 << 30, -(1 << 30), INT32_MAX, INT32_MIN};
    enum { K = 9 };
    int32_t x[K * K], y[K * K];
    for (int i = 0; i < K * K; i++) x[i] = number[i / K], y[i] = number[i % K];
    op_case c = {body[_i], "i32", "i64", 0};
    check_options o = {.syms = {K * K}, .data = {x, y, x}};
    checked(elementwise(&c, "n", "vector"), &o);
    checked(elementwise(&c, "81", "vector"), &o);
}
END_TEST

/* All numbers of 16 bits as f32; and to 16 bits what they are, what lies next to them and between
 * them. */
START_TEST(of_16_bits)
{
    enum { ALL = 1 << 16, EACH = 5 };
    const char *elem = _i % 2 ? "bf16" : "f16";
    uint16_t *half = gn_arena_alloc(&arena, ALL, 2);
    float *wide = gn_arena_alloc(&arena, (size_t)ALL * EACH, 4);
    for (int k = 0; k < ALL; k++) half[k] = (uint16_t)k;
    for (int k = 0; k < ALL; k++) {
        float f = _i % 2 ? gn_bf16_to_f32(half[k]) : gn_f16_to_f32(half[k]);
        uint16_t next = (uint16_t)(k + 1);
        float g = _i % 2 ? gn_bf16_to_f32(next) : gn_f16_to_f32(next);
        float all[EACH] = {f, nextafterf(f, INFINITY), nextafterf(f, -INFINITY), f / 2 + g / 2,
                           nextafterf(f / 2 + g / 2, 0)};
        memcpy(wide + k * EACH, all, sizeof all);
    }
    op_case c = {"%20 = fadd @ %10, -0.0", _i < 2 ? elem : "f32", _i < 2 ? "f32" : elem, 0};
    const void *x = _i < 2 ? (void *)half : (void *)wide;
    check_options o = {.syms = {_i < 2 ? ALL : ALL * EACH}, .data = {x, x, x}};
    checked(elementwise(&c, "n", "vector"), &o);
}
END_TEST

static const char random_rows[] = "kernel @draw (sym n, %k: i64[1] read, %o: f32[n * #] write) {\n"
                                  "  %1 = load i64 %k[0]\n"
                                  "  for %2 in 0 .. n step 1 thread none {\n"
                                  "    %3 = imul %2, #\n"
                                  "    for %4 in 0 .. # step 1 vector none {\n"
                                  "      %5 = iadd %3, %4\n"
                                  "      %6 = random %1, %5 site 41\n"
                                  "      store %o[%5], %6\n"
                                  "    }\n  }\n}\n";

START_TEST(random_of_rows)
{
    if (GN_UNDER_ASAN && _i % 3) return; /* each compiles */
    int64_t key = 0x9abcdef1;
    check_options o = {.syms = {5}, .data = {&key}};
    checked(with_number(random_rows, _i), &o);
}
END_TEST

static const char random_flat[] = "kernel @draw (sym n, %k: i64[1] read, %o: f32[n] write) {\n"
                                  "  %1 = load i64 %k[0]\n"
                                  "  for %2 in 0 .. n step 1 vector none {\n"
                                  "    %3 = iadd %2, #\n"
                                  "    %4 = random %1, %3 site 7\n"
                                  "    store %o[%2], %4\n"
                                  "  }\n}\n";

START_TEST(random_of_flat)
{
    static const int64_t first[] = {0, 1, 2, 8589934590, 8589934593};
    int length[41];
    int64_t key = 3;
    for (int i = 0; i < 41; i++) length[i] = i;
    check_options o = {.data = {&key}};
    checked_lengths(with_number(random_flat, first[_i]), &o, length, 41);
}
END_TEST

/* Bounds that are draws of the loop, or next to one: <= and < differ there alone. */
static const char draws
    [] = "kernel @draw (sym n, %%k: i64[1] read, %%o: u8[n * 4] write) {\n"
         "  %%1 = load i64 %%k[0]\n"
         "  for %%2 in 0 .. n step 1 vector none {\n"
         "    %%3 = random %%1, %%2 site 7\n"
         "    %%4 = fle %.9g, %%3 %%5 = flt %.9g, %%3 %%6 = fle %%3, %.9g %%7 = flt %%3, %.9g\n"
         "    %%8 = imul %%2, 4 %%9 = iadd %%8, 1 %%10 = iadd %%8, 2 %%11 = iadd %%8, 3\n"
         "    %%14 = cast i64 %%4 %%15 = cast i64 %%5 %%16 = cast i64 %%6 %%17 = cast i64 %%7\n"
         "    store %%o[%%8], %%14 store %%o[%%9], %%15 store %%o[%%10], %%16 store %%o[%%11], "
         "%%17\n"
         "  }\n}\n";

START_TEST(draws_at_the_bound)
{
    int64_t key = 3;
    float u = gn_draw_uniform(3, 7, (uint64_t)(_i / 3));
    double p = (double)(_i % 3 == 0 ? u : nextafterf(u, _i % 3 == 1 ? -1 : 2));
    check_options o = {.syms = {21}, .data = {&key}};
    checked(gn_arena_printf(&arena, draws, p, p, p, p), &o);
    o.off = (gn_switches)1 << GN_DO_DRAW_BITS;
    checked(gn_arena_printf(&arena, draws, p, p, p, p), &o);
}
END_TEST

int main(void)
{
    TCase *serial = arena_case("serial", 300), *out = arena_case("written out", 300);
    TCase *run_time = arena_case("run time", 300), *special = arena_case("special", 300);
    tcase_add_loop_test(serial, op_serial, 0, CASES);
    tcase_add_loop_test(out, op_written_out, 0, CASES);
    tcase_add_loop_test(run_time, op_run_time, 0, CASES);
    tcase_add_loop_test(special, special_values, 0, 19);
    tcase_add_loop_test(special, more_than_32_bits, 0, 4);
    tcase_add_loop_test(special, of_16_bits, 0, 4);
    tcase_add_loop_test(run_time, random_of_flat, 0, 5);
    tcase_add_loop_test(out, random_of_rows, 1, 40);
    tcase_add_loop_test(special, draws_at_the_bound, 0, 9);
    return RUN_CASES("codegen ops", serial, out, run_time, special);
}
