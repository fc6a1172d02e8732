/* links: codegen runtime ir base */
/* timeout: 120 */
/* Division in code that is made quickly: the bits of IEEE 754's, of numbers of all kinds. */
#include "base/half.h"
#include "support/cuda_host.h"
#include "unit/kir_test.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 1 << 18 };

static float a[NUMBERS], b[NUMBERS], by_code[NUMBERS];

/* Of all exponents, of few, of small integers (quotients that are exact, or halfway between two
 * numbers that are not normal). */
static void fill(void)
{
    static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                       0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff,
                                       0x00ffffff, 0x4b800001};
    enum { SPECIAL = sizeof special / sizeof *special };
    uint64_t state = 1;
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t u[2];
        for (int k = 0; k < 2; k++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            u[k] = (uint32_t)(state >> 32);
        }
        if (i % 4 == 1)
            u[0] = (u[0] & 0x807fffffu) | (126 + u[0] % 3) << 23,
            u[1] = (u[1] & 0x7fffffu) | 127u << 23;
        if (i % 4 == 2)
            u[0] = gn_f32_bits(
                ldexpf((float)(u[0] % 512), (int)(u[0] >> 24) - 156 - (int)(u[1] >> 24)));
        if (i % 4 == 2) u[1] = gn_f32_bits((float)(1 + u[1] % 64));
        if (i % 4 == 3)
            u[0] = u[0] & 0x80ffffffu, u[1] = (u[1] & 0x80ffffffu) | (100 + u[0] % 30) << 23;
        if (i < SPECIAL * SPECIAL) u[0] = special[i / SPECIAL], u[1] = special[i % SPECIAL];
        a[i] = gn_f32_from_bits(u[0]);
        b[i] = gn_f32_from_bits(u[1]);
    }
}

static void divided(bool quick)
{
    static const char text
        [] = "kernel @q (%a: f32[262144] read, %b: f32[262144] read, %o: f32[262144] write) {\n"
             "for %1 in 0 .. 262144 step 1 thread none {\n"
             "  %2 = load f32 %a[%1] %3 = load f32 %b[%1] %4 = fdiv f32 %2, %3 store %o[%1], %4 }}";
    const kir_kernel *k = verified(text);
    gn_buf source = {.arena = &arena};
    gn_cuda_geometry g;
    cuda_host *h;
    if (quick) gn_buf_add(&source, "#define GN_QUICK\n");
    succeeded(gn_cuda_source(1, &k, NULL, &source, &g), text);
    succeeded(cuda_host_text(1, &k, source.p, &g, &h), text);
    succeeded(cuda_host_launch(h, 0, (void *[]){a, b, by_code},
                               (size_t[]){sizeof a, sizeof b, sizeof by_code}, NULL, NUMBERS,
                               CUDA_UP, 1),
              text);
    cuda_host_free(h);
}

START_TEST(quotients)
{
    fill();
    divided(_i);
    for (int i = 0; i < NUMBERS; i++) {
        float want = a[i] / b[i];
        bool same = isnan(want) ? isnan(by_code[i]) : gn_f32_bits(want) == gn_f32_bits(by_code[i]);
        ck_assert_msg(same, "%a / %a is %a, not %a", (double)a[i], (double)b[i], (double)by_code[i],
                      (double)want);
    }
}
END_TEST

int main(void)
{
    TCase *c = arena_case("quotients", 100);
    tcase_add_loop_test(c, quotients, 0, 2);
    return run_tests(c, "division in CUDA");
}
