/* links: codegen runtime ir base */
/* timeout: 120 */
/* Powers of constants, which the CUDA back end takes as powers of two: as the C library's, and
 * where they end. */
#include "support/cuda_host.h"
#include "unit/kir_test.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 4096 };

static const double bases[] = {0.999, 0.9, 0.5, 2, 10, 1.0000001, 1e-300, 1e300, 1, 0, -2};

/* Numbers of steps, and whatever else may come. */
static void fill(double base, double *x)
{
    static const double special[] = {0,     -0.0,   1,        -1,        0.5, 1e9,   -1e9,
                                     1e300, -1e300, INFINITY, -INFINITY, NAN, 5e-324};
    enum { SPECIAL = sizeof special / sizeof *special };
    double most = base > 0 && base != 1 ? 1021 / fabs(log2(base)) : 100;
    for (int i = 0; i < NUMBERS; i++)
        x[i] = i < SPECIAL       ? special[i]
               : i < NUMBERS / 2 ? i - SPECIAL
                                 : most * ((double)(2 * i) / (double)NUMBERS - 1.5) * 2 / 1.001;
}

START_TEST(powers)
{
    const char *text = gn_arena_printf(
        &arena,
        "kernel @p (%%x: f64[4096] read, %%o: f64[4096] write) {\n"
        "for %%1 in 0 .. 4096 step 1 thread none {\n"
        "  %%2 = load f64 %%x[%%1] %%3 = fpow f64 %#.17g:f64, %%2 store %%o[%%1], %%3 }}",
        bases[_i]);
    const kir_kernel *k = verified(text);
    double x[NUMBERS], by_code[NUMBERS];
    cuda_host *h;
    fill(bases[_i], x);
    succeeded(cuda_host_compile(1, &k, &h), text);
    succeeded(cuda_host_launch(h, 0, (void *[]){x, by_code}, (size_t[]){sizeof x, sizeof by_code},
                               NULL, NUMBERS, CUDA_UP, 1),
              text);
    cuda_host_free(h);
    for (int i = 0; i < NUMBERS; i++) {
        double want = pow(bases[_i], x[i]), ulp = nextafter(fabs(want), INFINITY) - fabs(want);
        bool same = by_code[i] == want || (isnan(by_code[i]) && isnan(want));
        if (fabs(want) < 2.3e-308 || isinf(want)) /* some thousand ulp beyond the normal numbers */
            same = same || fabs(by_code[i] - want) < 1e-315 || (isinf(want) && by_code[i] > 1e308);
        ck_assert_msg(same || fabs(by_code[i] - want) <= 4 * ulp,
                      "%a to the power of %a is %a, not %a", bases[_i], x[i], by_code[i], want);
    }
}
END_TEST

int main(void)
{
    TCase *c = arena_case("powers", 60);
    tcase_add_loop_test(c, powers, 0, sizeof bases / sizeof *bases);
    return run_tests(c, "powers of constants in CUDA");
}
