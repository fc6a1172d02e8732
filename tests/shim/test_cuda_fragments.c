/* links: codegen runtime ir base */
/* timeout: 120 */
/* Products of fragments: operands are rounded as cvt.rna.tf32.f32, cvt.rn.bf16.f32 and
 * cvt.rn.f16.f32 round them, and elements lie in the lanes where the PTX ISA says ("Matrix
 * Fragments for mma.m16n8k8" and "m16n8k16"), written out here once more. */
#include "base/half.h"
#include "support/cuda_host.h"
#include "unit/kir_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding ------------------------------------------------------------------------------------- */

/* Digits of the fraction, exponents (of frexp) of the least normal number and of the first that is
 * too large, bits of a float that are dropped. */
typedef struct format {
    const char *name, *by_ir;
    int digits, least, most, dropped;
    bool away; /* halves, from zero; else to even */
} format;

static const format formats[] = {
    {"tf32", "%3 = round tf32 %2", 11, -125, 129, 13, true},
    {"bf16", "%9 = tile bf16 1 tstore %9[0], %2 %3 = tload f32 %9[0]", 8, -125, 129, 16, false},
    {"f16", "%9 = tile f16 1 tstore %9[0], %2 %3 = tload f32 %9[0]", 11, -13, 17, 13, false},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* By arithmetic; fewer digits below the least normal number. */
static float rounded(const format *f, float x)
{
    int exp;
    if (isnan(x) || isinf(x) || x == 0) return x;
    (void)frexp((double)x, &exp);
    double unit = ldexp(1, (exp < f->least ? f->least : exp) - f->digits),
           units = fabs((double)x) / unit;
    double r = unit * (f->away ? floor(units + 0.5) : rint(units));
    return copysignf(r < ldexp(1, f->most - 1) ? (float)r : INFINITY, x);
}

enum { NUMBERS = 4096 };

/* Halfway and beside it, at ends of the range, of all signs and of all exponents, or of those about
 * the format's own. */
static void fill_numbers(const format *f, float *x)
{
    static const uint32_t special[] = {
        0,          0x80000000, 1,          0x1000,     0x0fff,     0x1001,     0x007fffff,
        0x7f7fffff, 0xff7fffff, 0x7f7fefff, 0x7f7ff000, 0x7f800000, 0xff800000, 0x7fc00000,
        0x7f800001, 0xffffffff, 0x3f800fff, 0x3f801000, 0x3f801001, 0xbf801000, 0x3fffffff,
        0x3f808000, 0x3f818000, 0x3f807fff, 0x3f808001, 0x7f7f7fff, 0x7f7f8000, 0x00008000,
        0x00018000, 0x477fe000, 0x477fefff, 0x477ff000, 0xc77ff000, 0x33000000, 0x33000001,
        0x33c00000, 0x387fc000, 0x387fe000, 0x387fdfff, 0x38800000};
    enum { SPECIAL = sizeof special / sizeof *special };
    uint64_t state = 1;
    for (int i = 0; i < NUMBERS; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t u = (uint32_t)(state >> 32), kind = (uint32_t)i % 4;
        uint32_t half = 1u << (f->dropped - 1);
        if (kind) u = (u & ~(2 * half - 1)) | (half + (kind == 2 ? -1u : kind == 3));
        if (f->most < 100 && i % 8 < 6) u = (u & 0x807fffffu) | (100 + (u >> 23 & 0xff) % 45) << 23;
        x[i] = gn_f32_from_bits(i < SPECIAL ? special[i] : u);
    }
}

START_TEST(rounding)
{
    const format *f = &formats[_i];
    const char *text = gn_arena_printf(&arena,
                                       "kernel @r (%%x: f32[4096] read, %%o: f32[4096] write) {\n"
                                       "for %%1 in 0 .. 4096 step 1 thread none {\n"
                                       "  %%2 = load f32 %%x[%%1] %s store %%o[%%1], %%3 }}",
                                       f->by_ir);
    const kir_kernel *k = verified(text);
    float x[NUMBERS], by_ir[NUMBERS], by_code[NUMBERS];
    cuda_host *h;
    fill_numbers(f, x);
    succeeded(kir_eval(k, NULL, (kir_bound_buffer[]){{x, NUMBERS}, {by_ir, NUMBERS}}, NULL), text);
    succeeded(cuda_host_compile(1, &k, &h), text);
    void *buf[] = {x, by_code};
    size_t bytes[] = {sizeof x, sizeof by_code};
    succeeded(cuda_host_launch(h, 0, buf, bytes, NULL, NUMBERS, CUDA_UP, 1), text);
    cuda_host_free(h);
    for (int i = 0; i < NUMBERS; i++) {
        float want = rounded(f, x[i]);
        uint32_t bits = gn_f32_bits(want);
        if (isnan(x[i])) {
            ck_assert(isnan(by_ir[i]) && isnan(by_code[i]));
            continue;
        }
        ck_assert_msg(gn_f32_bits(by_ir[i]) == bits && gn_f32_bits(by_code[i]) == bits,
                      "%s: %a becomes %a in loop IR and %a in code, not %a", f->name, (double)x[i],
                      (double)by_ir[i], (double)by_code[i], (double)want);
    }
}
END_TEST

/* Layout --------------------------------------------------------------------------------------- */

/* One product; $ stands for the kind, & for its elements, # for where operands begin and their
 * strides.  32 rows or columns are more than any stride leaves unread. */
static const char product
    [] = "kernel @product (%a: f32[512] read, %b: f32[512] read, %o: f32[192] write) {\n"
         "for %1 in 0 .. 1 step 1 block none {\n"
         "  %2 = tile f32 192 %3 = tile & 512 %4 = tile & 512\n"
         "  for %5 in 0 .. 32 step 1 lane none { for %6 in 0 .. 6 step 1 unroll none {\n"
         "    %7 = imul %5, 6 %8 = iadd %7, %6 tstore %2[%8], 7.0 }\n"
         "    for %9 in 0 .. 16 step 1 serial none { %10 = imul %9, 32 %11 = iadd %10, %5\n"
         "      %12 = load f32 %a[%11] tstore %3[%11], %12 %13 = load f32 %b[%11] tstore %4[%11], "
         "%13 }}\n"
         "  barrier\n"
         "  for %14 in 0 .. 1 step 1 warp none { mma $ %2[1] by 6, %3[#] by # #, %4[#] by # # }\n"
         "  barrier\n"
         "  for %15 in 0 .. 32 step 1 lane none { for %16 in 0 .. 6 step 1 unroll none {\n"
         "    %17 = imul %15, 6 %18 = iadd %17, %16 %19 = tload f32 %2[%18] store %o[%18], %19 "
         "}}}}";

typedef struct strides {
    int row, term, col, of_b;
} strides;

static const strides all_strides[] = {
    {8, 1, 1, 8}, {1, 16, 8, 1}, {12, 1, 1, 24}, {1, 24, 20, 1}, {20, 2, 3, 25}};
enum { STRIDES = sizeof all_strides / sizeof *all_strides };

/* Terms of 16 bits that lie side by side begin at even places. */
static int begin_of(const kir_kind_info *k, int term, int odd)
{
    return odd + (k->depth == 16 && term == 1);
}

static const char *with_strides(const kir_kind_info *k, const strides *s)
{
    const int n[] = {begin_of(k, s->term, 3), s->row, s->term,
                     begin_of(k, s->of_b, 5), s->col, s->of_b};
    gn_buf b = {.arena = &arena};
    int at = 0;
    for (const char *p = product; *p; p++)
        if (*p == '#')
            gn_buf_printf(&b, "%d", n[at++]);
        else if (*p == '$' || *p == '&')
            gn_buf_add(&b, *p == '$' ? k->text : gn_elem_name(k->elem));
        else
            gn_buf_addn(&b, p, 1);
    return b.p;
}

/* Whole numbers, so that sums are exact in any order. */
static void fill_product(const kir_kind_info *k, const strides *s, float *a, float *b, float *want)
{
    const float *left = a + begin_of(k, s->term, 3), *right = b + begin_of(k, s->of_b, 5);
    for (int i = 0; i < 512; i++) {
        a[i] = (float)(i * 7 % 61 - 30);
        b[i] = (float)(i * 11 % 53 - 26);
    }
    for (int i = 0; i < 192; i++) want[i] = 7;
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            int group = lane >> 2, in_group = lane % 4;
            int row = i < 2 ? group : group + 8, col = in_group * 2 + (i & 1);
            for (int t = 0; t < k->depth; t++)
                want[lane * 6 + 1 + i] += left[row * s->row + t * s->term] *
                                          right[col * s->col + t * s->of_b];
        }
}

START_TEST(layout)
{
    const kir_kind_info *kind = &kir_kinds[_i / STRIDES];
    const strides *s = &all_strides[_i % STRIDES];
    const char *text = with_strides(kind, s);
    const kir_kernel *k = verified(text);
    float a[512], b[512], want[192], by_ir[192], by_code[192];
    cuda_host *h;
    fill_product(kind, s, a, b, want);
    succeeded(kir_eval(k, NULL, (kir_bound_buffer[]){{a, 512}, {b, 512}, {by_ir, 192}}, NULL),
              text);
    ck_assert_mem_eq(by_ir, want, sizeof want);
    succeeded(cuda_host_compile(1, &k, &h), text);
    void *buf[] = {a, b, by_code};
    size_t bytes[] = {sizeof a, sizeof b, sizeof by_code};
    for (int order = 0; order < 3; order++) {
        memset(by_code, 0, sizeof by_code);
        succeeded(cuda_host_launch(h, 0, buf, bytes, NULL, 1, (cuda_order)order, 1), text);
        ck_assert_mem_eq(by_code, want, sizeof want);
    }
    cuda_host_free(h);
}
END_TEST

/* Sums that lie in memory: parts of the lanes are not those of the fragments, and there are more
 * warps than lanes elsewhere. */
typedef struct parts {
    int warps, lane, all; /* distance of the lanes' sums, elements of the tile */
} parts;

static const parts all_parts[] = {{2, 5, 320}, {1, 4, 256}};

static const char *in_memory(const parts *p)
{
    int each = p->all / 32;
    return gn_arena_printf(
        &arena,
        "kernel @memory (%%a: f32[128] read, %%b: f32[64] read, %%o: f32[%d] write) {\n"
        "for %%1 in 0 .. 1 step 1 block none {\n"
        "  %%2 = tile f32 %d %%3 = tile f32 128 %%4 = tile f32 64\n"
        "  for %%5 in 0 .. 32 step 1 lane none { for %%6 in 0 .. %d step 1 unroll none {\n"
        "    %%7 = imul %%5, %d %%8 = iadd %%7, %%6 tstore %%2[%%8], 7.0 }\n"
        "    for %%9 in 0 .. 4 step 1 unroll none { %%10 = imul %%5, 4 %%11 = iadd %%10, %%9\n"
        "      %%12 = load f32 %%a[%%11] tstore %%3[%%11], %%12 }\n"
        "    for %%13 in 0 .. 2 step 1 unroll none { %%14 = imul %%5, 2 %%15 = iadd %%14, %%13\n"
        "      %%16 = load f32 %%b[%%15] tstore %%4[%%15], %%16 }}\n"
        "  barrier\n"
        "  for %%20 in 0 .. %d step 1 warp none { %%21 = imul %%20, %d\n"
        "    mma tf32 %%2[%s] by %d, %%3[0] by 8 1, %%4[0] by 1 8 }\n"
        "  barrier\n"
        "  for %%22 in 0 .. 32 step 1 lane none { for %%23 in 0 .. %d step 1 unroll none {\n"
        "    %%24 = imul %%22, %d %%25 = iadd %%24, %%23 %%26 = tload f32 %%2[%%25] store "
        "%%o[%%25], %%26 }}}}",
        p->all, p->all, each, each, p->warps, 32 * p->lane, p->warps > 1 ? "%21" : "0", p->lane,
        each, each);
}

START_TEST(sums_in_memory)
{
    const parts *p = &all_parts[_i];
    const char *text = in_memory(p);
    const kir_kernel *k = verified(text);
    float a[128], b[64], want[320], by_ir[320], by_code[320];
    cuda_host *h;
    for (int i = 0; i < 128; i++) a[i] = (float)(i * 7 % 61 - 30);
    for (int i = 0; i < 64; i++) b[i] = (float)(i * 11 % 53 - 26);
    for (int i = 0; i < p->all; i++) want[i] = 7;
    for (int n = 0; n < p->warps * 128; n++) {
        int lane = n / 4 % 32, i = n % 4, row = (lane >> 2) + (i < 2 ? 0 : 8),
            col = lane % 4 * 2 + (i & 1);
        float *to = &want[n / 128 * 32 * p->lane + lane * p->lane + i];
        for (int t = 0; t < 8; t++) *to += a[row * 8 + t] * b[t * 8 + col];
    }
    succeeded(kir_eval(k, NULL, (kir_bound_buffer[]){{a, 128}, {b, 64}, {by_ir, p->all}}, NULL),
              text);
    ck_assert_mem_eq(by_ir, want, (size_t)p->all * sizeof *want);
    succeeded(cuda_host_compile(1, &k, &h), text);
    void *buf[] = {a, b, by_code};
    size_t bytes[] = {sizeof a, sizeof b, (size_t)p->all * sizeof *by_code};
    for (int order = 0; order < 3; order++) {
        memset(by_code, 0, sizeof by_code);
        succeeded(cuda_host_launch(h, 0, buf, bytes, NULL, 1, (cuda_order)order, 1), text);
        ck_assert_mem_eq(by_code, want, (size_t)p->all * sizeof *want);
    }
    cuda_host_free(h);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("fragments");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, rounding, 0, FORMATS);
    tcase_add_loop_test(c, layout, 0, KIR_KIND_COUNT * STRIDES);
    tcase_add_loop_test(c, sums_in_memory, 0, sizeof all_parts / sizeof *all_parts);
    return run_tests(c, "CUDA, fragments");
}
