/* links: codegen runtime ir base */
/* Names of architectures, objects of CUDA code from any bytes, and one that NVRTC makes where there is one. */
#include "codegen/cuda.h"
#include "kir_test.h"

#include <stdlib.h>
#include <string.h>

static const char copy[] = "kernel @copy (sym n, %x: f32[n * 64] read, %o: f32[n * 64] write) {\n"
                           "for %1 in 0 .. n step 1 thread none { %2 = imul %1, 64\n"
                           "for %3 in 0 .. 64 step 1 vector none {\n"
                           "%4 = iadd %2, %3 %5 = load f32 %x[%4] store %o[%4], %5 }}}";

START_TEST(architectures)
{
    ck_assert_int_eq(gn_cuda_arch("sm_80"), 80);
    ck_assert_int_eq(gn_cuda_arch("90"), 90);
    ck_assert_int_eq(gn_cuda_arch("sm_121"), 121);
    static const char *const bad[] = {"",    "sm_",    "sm_75",  "sm_90a",  "compute_90",
                                      "-90", "sm_-90", "sm_ 90", "sm_99999"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) ck_assert_msg(!gn_cuda_arch(bad[k]), "%s", bad[k]);
}
END_TEST

static bool is_object(unsigned char *bytes, size_t n)
{
    gn_cuda_view v;
    gn_status *s = gn_cuda_object_view(&(gn_code_object){bytes, n}, &v);
    bool good = !s;
    if (s) ck_assert_int_eq(gn_status_code(s), GN_ERR_DATA);
    gn_status_free(s);
    return good;
}

START_TEST(made_by_nvrtc)
{
    const kir_kernel *k[] = {verified(copy), verified(copy)};
    gn_code_object o;
    gn_status *s = gn_cuda_object(2, k, 90, &o);
    if (s) { /* no NVRTC here: then it is that, and says so */
        ck_assert_msg(gn_status_code(s) == GN_ERR_BACKEND && strstr(gn_status_message(s), "no NVRTC"), "%s",
                      gn_status_message(s));
        ck_assert(!o.bytes);
        gn_status_free(s);
        return;
    }
    gn_cuda_view v;
    gn_cuda_geometry g;
    gn_cuda_usage u;
    succeeded(gn_cuda_object_view(&o, &v), "view");
    ck_assert_int_eq(v.n, 2);
    ck_assert_int_eq(v.arch, 90);
    ck_assert(v.cubin_bytes > 64 && !memcmp(v.cubin, "\177ELF", 4));
    gn_cuda_view_kernel(&v, 1, &g, &u);
    ck_assert_int_eq(g.threads, 128);
    ck_assert_int_eq(g.group, 16);
    ck_assert_int_eq(g.per_block, 8);
    ck_assert(u.registers > 0 && u.spill_loads == 0 && u.shared_bytes == 0);
    for (size_t n = 0; n < o.n; n += n < 300 ? 1 : 97) ck_assert_msg(!is_object(o.bytes, n), "cut at %zu", n);
    for (size_t n = 0; n < 120; n++) { /* whatever stands in the head: no crash, and figures that can be launched */
        unsigned char was = o.bytes[n];
        for (int x = 0; x < 256; x += 17) {
            o.bytes[n] = (unsigned char)x;
            is_object(o.bytes, o.n);
        }
        o.bytes[n] = was;
    }
    ck_assert(is_object(o.bytes, o.n));
    free(o.bytes);
}
END_TEST

START_TEST(any_bytes)
{
    unsigned char zero[256] = {0}, text[] = "GNCUDA1";
    ck_assert(!is_object(zero, sizeof zero));
    ck_assert(!is_object(text, sizeof text));
    ck_assert(!is_object(zero, 0));
}
END_TEST

START_TEST(unknown_architecture)
{
    const kir_kernel *k = verified(copy);
    gn_code_object o;
    gn_status *s = gn_cuda_object(1, &k, 998, &o);
    ck_assert(s && gn_status_code(s) == GN_ERR_BACKEND && !o.bytes);
    gn_status_free(s);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("objects");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, architectures);
    tcase_add_test(c, made_by_nvrtc);
    tcase_add_test(c, any_bytes);
    tcase_add_test(c, unknown_architecture);
    return run_tests(c, "CUDA objects");
}
