/* links: codegen runtime ir base */
/* Names of architectures, kernels that are refused, and objects of CUDA code: from any bytes, made
 * of others' code, damaged, and such as NVRTC makes where there is one. */
#include "base/sanitized.h"
#include "codegen/cuda/cuda.h"
#include "codegen/cuda/nvjitlink.h"
#include "kir_test.h"
#include "support/scarce.h"

#include <stdlib.h>
#include <string.h>
#if GN_UNDER_ASAN
#include <sanitizer/lsan_interface.h>
#endif

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
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        ck_assert_msg(!gn_cuda_arch(bad[k]), "%s", bad[k]);
}
END_TEST

/* Text ----------------------------------------------------------------------------------------- */

#define LANES(v, body) "for " v " in 0 .. 64 step 1 lane " body
#define ON_BLOCKS(body)                                                                            \
    "kernel @k (sym n, %x: f32[64] read, %o: f32[n] write) { for %1 in 0 .. n step 1 block none "  \
    "{" body "}}"

static const struct {
    const char *text, *why;
} bad_kernels[] = {
    {ON_BLOCKS("for %2 in 0 .. 2 step 1 warp none { for %3 in 0 .. 32 step 1 lane none { } }"),
     "loops over warps"},
    {"kernel @k (%o: f32[1] write) { %1 = tile f32 99000 tstore %1[0], 0.0 }",
     "tiles of more than 384 KB"},
    {ON_BLOCKS("%2 = tile f32 1 tstore %2[0], 0.0" LANES(
         "%3", "reduce { %4 = load f32 %x[%3] tacc sum %2[0], %4 }") "%5 = tload f32 %2[0] store "
                                                                     "%o[%1], %5"),
     "lanes that meet in a reduction"},
    {"kernel @k (%o: f32[1] write) { %1 = tile f32 1 %2 = tile bf16 2 tstore %1[0], 0.0 tstore "
     "%2[0], 1.0 tstore "
     "%2[1], 1.0\n"
     "tdot %1[0], %2[0], %2[0] %3 = tload f32 %1[0] store %o[0], %3 }",
     "products of pairs"},
    {ON_BLOCKS("%2 = tile f32 13000" LANES("%3", "none { tstore %2[%3], 0.0 }")),
     "more shared memory"},
};

static void is_refused(const char *text, const char *why)
{
    gn_buf out = {.arena = &arena};
    gn_cuda_geometry g;
    gn_status *s = gn_cuda_kernel(verified(text), "f", NULL, &out, &g);
    ck_assert_msg(!s || strstr(gn_status_message(s), "kernel k: the CUDA back end has no "), "%s",
                  gn_status_message(s));
    refused(s, GN_ERR_BACKEND, why, text);
}

START_TEST(refused_kernel) { is_refused(bad_kernels[_i].text, bad_kernels[_i].why); }
END_TEST

START_TEST(arguments)
{
    for (int n = 199; n <= 200; n++) {
        gn_buf text = {.arena = &arena}, out = {.arena = &arena};
        gn_cuda_geometry g;
        gn_buf_add(&text, "kernel @k (sym n");
        for (int k = 0; k < n; k++) gn_buf_printf(&text, ", %%b%d: f32[n] write", k);
        gn_buf_add(&text, ") { }");
        if (n > 199)
            is_refused(text.p, "more than 200 buffers and symbols");
        else
            succeeded(gn_cuda_kernel(verified(text.p), "f", NULL, &out, &g), text.p);
    }
}
END_TEST

/* Groups that share a block share its memory: fewer of them where each takes much. */
START_TEST(shared_memory)
{
    gn_buf out = {.arena = &arena};
    gn_cuda_geometry g;
    succeeded(
        gn_cuda_kernel(
            verified("kernel @k (sym n, %o: f32[n * 4096] write) {\n"
                     "for %1 in 0 .. n step 1 thread none { %2 = tile f32 4096 %3 = imul %1, 4096\n"
                     "for %4 in 0 .. 4096 step 1 vector none { tstore %2[%4], 1.0 }\n"
                     "for %5 in 0 .. 4096 step 1 vector none { %6 = isub 4095, %5\n"
                     "%7 = tload f32 %2[%6] %8 = iadd %3, %5 store %o[%8], %7 }}}"),
            "f", NULL, &out, &g),
        "kernel");
    ck_assert_int_gt(g.group, 1);
    ck_assert_int_eq(g.shared_bytes, 16384 * g.per_block);
    ck_assert_int_le(g.shared_bytes, 48 * 1024);
    ck_assert_int_eq(g.threads, g.group * g.per_block);
}
END_TEST

/* Lanes that would add to one element in the middle of a loop: one lane runs it, for nothing orders
 * them. */
START_TEST(one_lane)
{
    gn_buf out = {.arena = &arena};
    gn_cuda_geometry g;
    succeeded(
        gn_cuda_kernel(
            verified("kernel @k (sym n, %x: f32[n * 64] read, %o: f32[n * 8] write) {\n"
                     "for %1 in 0 .. n step 1 thread none { %2 = tile f32 8 %3 = imul %1, 64\n"
                     "for %4 in 0 .. 8 step 1 vector none { tstore %2[%4], 0.0 }\n"
                     "for %5 in 0 .. 64 step 1 vector reduce { %6 = iadd %3, %5 %7 = imod %5, 8\n"
                     "%8 = load f32 %x[%6] tacc sum %2[%7], %8 } %9 = imul %1, 8\n"
                     "for %10 in 0 .. 8 step 1 vector none { %11 = tload f32 %2[%10]\n"
                     "%12 = iadd %9, %10 store %o[%12], %11 }}}"),
            "f", NULL, &out, &g),
        "kernel");
    ck_assert_int_eq(g.group, 1);
    ck_assert_int_eq(g.shared_bytes, 0);
}
END_TEST

/* Whatever a model's text is, it stays a comment. */
START_TEST(comments)
{
    gn_buf out = {.arena = &arena};
    gn_cuda_geometry g;
    succeeded(gn_cuda_kernel(verified(copy), "f", "one \\\ntwo\\\\", &out, &g), "kernel");
    ck_assert_msg(strstr(out.p, "// one \n// two\nGN_KERNEL("), "%s", out.p);
}
END_TEST

/* Objects -------------------------------------------------------------------------------------- */

static bool is_object(unsigned char *bytes, size_t n)
{
    gn_cuda_view v;
    gn_status *s = gn_cuda_object_view(&(gn_code_object){bytes, n}, &v);
    bool good = !s;
    if (s) ck_assert_int_eq(gn_status_code(s), GN_ERR_DATA);
    gn_status_free(s);
    return good;
}

/* However it is cut, and whatever stands in its head: no crash, and figures that can be
 * launched. */
static void damage(gn_code_object o)
{
    ck_assert(is_object(o.bytes, o.n));
    for (size_t n = 0; n < o.n; n += n < 300 ? 1 : 97) {
        unsigned char *part = malloc(n ? n : 1); /* of exactly that size, so that a checker sees
                                                    what reads past its end */
        memcpy(part, o.bytes, n);
        ck_assert_msg(!is_object(part, n), "cut at %zu", n);
        free(part);
    }
    for (size_t n = 0; n < 120 && n < o.n; n++) {
        unsigned char was = o.bytes[n];
        for (int x = 0; x < 256; x += 17) {
            gn_cuda_view v;
            o.bytes[n] = (unsigned char)x;
            if (!is_object(o.bytes, o.n)) continue;
            succeeded(gn_cuda_object_view(&o, &v), "view");
            for (int k = 0; k < v.n; k++) {
                gn_cuda_geometry g;
                gn_cuda_usage u;
                gn_cuda_view_kernel(&v, k, &g, &u);
                ck_assert(g.threads >= 1 && g.threads <= 1024 && g.group >= 1 &&
                          g.group <= g.threads);
                ck_assert(g.per_block >= 1 && g.per_block <= g.threads && g.shared_bytes >= 0);
            }
        }
        o.bytes[n] = was;
    }
    ck_assert(is_object(o.bytes, o.n));
}

/* What ptxas 13.0 says with -v, in an order of its own; one entry without a stack frame's line. */
static const char
    assembler[] = "ptxas info    : 0 bytes gmem\n"
                  "ptxas info    : Compiling entry function 'gn_kernel_2' for 'sm_90'\n"
                  "ptxas info    : Used 255 registers, used 0 barriers\n"
                  "ptxas info    : Compiling entry function 'gn_kernel_1' for 'sm_90'\n"
                  "ptxas info    : Function properties for gn_kernel_1\n"
                  "    24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
                  "ptxas info    : Used 40 registers, used 1 barriers, 24 bytes cumulative stack "
                  "size, 1024 bytes smem\n"
                  "ptxas info    : Compiling entry function 'gn_kernel_0' for 'sm_90'\n"
                  "ptxas info    : Function properties for gn_kernel_0\n"
                  "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                  "ptxas info    : Used 16 registers, used 0 barriers\n";

START_TEST(made_of_others_code)
{
    static const gn_cuda_geometry g[] = {
        {128, 16, 8, 0}, {256, 256, 1, 1024}, {128, 1, 128, 0}, {64, 32, 2, 0}};
    static const gn_cuda_usage want[] = {
        {.registers = 16},
        {.registers = 40, .stack = 24, .spill_stores = 16, .spill_loads = 20, .shared_bytes = 1024},
        {.registers = 255},
        {0}};
    static const char code[] = "these are no instructions";
    gn_code_object o;
    gn_cuda_view v;
    succeeded(gn_cuda_object_pack(4, 90, 12080, g, code, sizeof code, assembler, &o), "pack");
    succeeded(gn_cuda_object_view(&o, &v), "view");
    ck_assert_int_eq(v.n, 4);
    ck_assert_int_eq(v.arch, 90);
    ck_assert_int_eq(v.made_by, 12080);
    ck_assert_uint_eq(v.cubin_bytes, sizeof code);
    ck_assert_mem_eq(v.cubin, code, sizeof code);
    for (int k = 0; k < 4; k++) {
        gn_cuda_geometry had;
        gn_cuda_usage u;
        gn_cuda_view_kernel(&v, k, &had, &u);
        ck_assert_int_eq(had.threads, g[k].threads);
        ck_assert_int_eq(had.group, g[k].group);
        ck_assert_int_eq(had.per_block, g[k].per_block);
        ck_assert_int_eq(had.shared_bytes, g[k].shared_bytes);
        ck_assert_int_eq(u.registers, want[k].registers);
        ck_assert_int_eq(u.stack, want[k].stack);
        ck_assert_int_eq(u.spill_stores, want[k].spill_stores);
        ck_assert_int_eq(u.spill_loads, want[k].spill_loads);
        ck_assert_int_eq(u.shared_bytes, want[k].shared_bytes);
    }
    damage(o);
    free(o.bytes);
}
END_TEST

START_TEST(any_bytes)
{
    unsigned char zero[256] = {0}, text[] = "GNCUDA2";
    ck_assert(!is_object(zero, sizeof zero));
    ck_assert(!is_object(text, sizeof text));
    ck_assert(!is_object(zero, 0));
}
END_TEST

/* NVRTC ---------------------------------------------------------------------------------------- */

static bool has_nvrtc(void)
{
    gn_buf b = {.arena = &arena};
    gn_status *s = gn_cuda_describe(&b);
    bool has = !s;
    gn_status_free(s);
    return has;
}

START_TEST(made_by_nvrtc)
{
    const kir_kernel *k[] = {verified(copy), verified(copy)};
    gn_code_object o;
    gn_status *s = gn_cuda_object(2, k, 90, false, &o);
    if (!has_nvrtc()) {
        refused(s, GN_ERR_BACKEND, "no NVRTC", "object");
        ck_assert(!o.bytes);
        return;
    }
    succeeded(s, "object");
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
    free(o.bytes);
}
END_TEST

static bool has_linker(void)
{
    gn_buf b = {.arena = &arena};
    gn_status *s = has_nvrtc() ? gn_cuda_linker(&b) : GN_ERROR(GN_ERR_BACKEND, "no NVRTC");
    bool has = !s;
    gn_status_free(s);
    return has;
}

/* Whatever linker there is. */
START_TEST(older_nvrtc)
{
    gn_nvjitlink l;
    refused(gn_nvjitlink_open(12, 4, &l), GN_ERR_BACKEND, "NVRTC 12.4",
            "an NVRTC that compiles nothing quickly");
}
END_TEST

/* A program in two pieces: linked it has the geometry of all of it, the registers of both, and a
 * function that calls the other's. */
START_TEST(linked)
{
    static const int buf[] = {0, 1}, sym[] = {0}, of[] = {0, 1};
    const kir_kernel *twice = verified(
        "kernel @twice (sym n, %x: f32[n] read, %o: f32[n] write) {\n"
        "for %1 in 0 .. n step 1 thread none {\n"
        "%2 = tile f32 64 for %3 in 0 .. 64 step 1 vector none {\n"
        "%4 = load f32 %x[%1] %5 = fadd f32 %4, %4 tstore %2[%3], %5 }\n"
        "%6 = tload f32 %2[7] store %o[%1], %6 }}");
    gn_cuda_phase p[] = {{verified(copy), NULL, 0, buf, sym}, {twice, NULL, 1, buf, sym}};
    gn_cuda_whole w = {2, 2, 1, p};
    gn_cuda_division d = {2, of, NULL};
    gn_code_object piece[2], o, whole;
    gn_cuda_view v[2];
    if (!has_linker()) return;
    for (int k = 0; k < 2; k++) succeeded(gn_cuda_piece(&w, &d, k, 90, &piece[k]), "piece");
    succeeded(gn_cuda_link(2, piece, &o), "link");
    succeeded(gn_cuda_whole_object(&w, 90, true, &whole), "whole");
    succeeded(gn_cuda_object_view(&o, &v[0]), "view");
    succeeded(gn_cuda_object_view(&whole, &v[1]), "view");
    ck_assert(v[0].cubin_bytes > 64 && !memcmp(v[0].cubin, "\177ELF", 4));
    ck_assert(v[0].n == 3 && v[0].arch == 90 && v[0].made_by == v[1].made_by);
    for (int k = 0; k < 3; k++) {
        gn_cuda_geometry g[2];
        gn_cuda_usage u[2];
        for (int i = 0; i < 2; i++) gn_cuda_view_kernel(&v[i], k, &g[i], &u[i]);
        ck_assert_mem_eq(&g[0], &g[1], sizeof *g);
        ck_assert_int_eq(u[0].shared_bytes, u[1].shared_bytes);
        ck_assert((u[0].registers > 0) == (k == 0));
    }
    free(o.bytes);
#if GN_UNDER_ASAN
    __lsan_disable(); /* where it fails nvJitLink 13.0 keeps memory of its own */
#endif
    refused(gn_cuda_link(1, piece, &o), GN_ERR_INTERNAL, "gn_phase_1", "without the other piece");
#if GN_UNDER_ASAN
    __lsan_enable();
#endif
    ck_assert(!o.bytes);
    for (int k = 0; k < 2; k++) free(piece[k].bytes);
    free(whole.bytes);
}
END_TEST

/* A product of fragments of each kind: what stands in PTX, for every architecture, and that no
 * register is spilled. */
START_TEST(fragments_by_nvrtc)
{
    static const char *const shape[KIR_KIND_COUNT] = {
        [KIR_KIND_TF32] = "m16n8k8", [KIR_KIND_BF16] = "m16n8k16", [KIR_KIND_F16] = "m16n8k16"};
    const char *kind = kir_kinds[_i].text, *elem = gn_elem_name(kir_kinds[_i].elem);
    const char *rounds = _i == KIR_KIND_TF32 ? "%30 = round tf32 %9" : "%30 = fneg f32 %9";
    const kir_kernel *k = verified(gn_arena_printf(
        &arena,
        "kernel @k (sym n, %%x: f32[n] read, %%o: f32[n * 128] write) { for %%1 in 0 .. n step 1 "
        "block none {\n"
        "%%2 = tile f32 128 %%3 = tile %s 384 for %%4 in 0 .. 32 step 1 lane none {\n"
        "for %%5 in 0 .. 4 step 1 unroll none { %%6 = imul %%4, 4 %%7 = iadd %%6, %%5 tstore "
        "%%2[%%7], 0.0 }\n"
        "for %%8 in 0 .. 12 step 1 serial none { %%9 = load f32 %%x[%%1] %s %%10 = imul %%8, 32 "
        "%%11 = iadd %%10, %%4\n"
        "tstore %%3[%%11], %%30 }} barrier\n"
        "for %%12 in 0 .. 1 step 1 warp none { mma %s %%2[0] by 4, %%3[0] by 16 1, %%3[256] by 1 8 "
        "} barrier\n"
        "for %%13 in 0 .. 32 step 1 lane none { for %%14 in 0 .. 4 step 1 unroll none { %%15 = "
        "imul %%13, 4\n"
        "%%16 = iadd %%15, %%14 %%17 = tload f32 %%2[%%16] %%18 = imul %%1, 128 %%19 = iadd %%18, "
        "%%16\n"
        "store %%o[%%19], %%17 }}}}",
        elem, rounds, kind));
    const char *mma = gn_arena_printf(&arena, "mma.sync.aligned.%s.row.col.f32.%s.%s.f32",
                                      shape[_i], kind, kind);
    for (int arch = 80; arch <= 90 && has_nvrtc(); arch += 10) {
        gn_code_object o;
        gn_cuda_view v;
        gn_cuda_geometry g;
        gn_cuda_usage u;
        gn_buf ptx = {.arena = &arena};
        succeeded(gn_cuda_ptx(1, &k, arch, false, &ptx), kind);
        ck_assert_msg(strstr(ptx.p, mma), "no %s in\n%s", mma, ptx.p);
        const char *cvt = _i == KIR_KIND_TF32 ? "cvt.rna.tf32.f32"
                                              : gn_arena_printf(&arena, "cvt.rn.%s.f32", kind);
        ck_assert_msg(strstr(ptx.p, cvt), "no %s in\n%s", cvt, ptx.p);
        succeeded(gn_cuda_object(1, &k, arch, false, &o), kind);
        succeeded(gn_cuda_object_view(&o, &v), kind);
        gn_cuda_view_kernel(&v, 0, &g, &u);
        ck_assert_int_eq(u.spill_loads + u.spill_stores + u.stack, 0);
        ck_assert_int_eq(u.shared_bytes, 384 * (int)gn_elem_size(kir_kinds[_i].elem));
        free(o.bytes);
    }
}
END_TEST

START_TEST(unknown_architecture)
{
    const kir_kernel *k = verified(copy);
    gn_code_object o;
    gn_status *s = gn_cuda_object(1, &k, 998, false, &o);
    refused(s, GN_ERR_BACKEND, has_nvrtc() ? "makes no code for sm_998" : "no NVRTC", "sm_998");
    ck_assert(!o.bytes);
}
END_TEST

/* PTX in an arena of so much room; "text": there was none before NVRTC's turn. */
static gn_status *ptx_within(const kir_kernel *k, size_t left)
{
    gn_arena scarce;
    jmp_buf oom;
    gn_buf out = {.arena = &scarce};
    scarce_arena(&scarce, left);
    scarce.oom = &oom;
    gn_status *s = setjmp(oom) ? GN_ERROR(GN_ERR_NOMEM, "text")
                               : gn_cuda_ptx(1, &k, 90, false, &out);
    ck_assert(scarce.oom == &oom);
    gn_arena_free(&scarce);
    return s;
}

/* NVRTC's code is held when there is no memory for it: it goes all the same (AddressSanitizer sees
 * that). */
START_TEST(no_memory_for_ptx)
{
    bool over = !has_nvrtc();
    int failed = 0;
    for (size_t left = 0; !over; left += 1024) {
        gn_status *s = ptx_within(verified(copy), left);
        over = !s;
        failed += s && strcmp(gn_status_message(s), "text") != 0;
        if (s) ck_assert_msg(gn_status_code(s) == GN_ERR_NOMEM, "%s", gn_status_message(s));
        gn_status_free(s);
    }
    if (has_nvrtc()) ck_assert_int_gt(failed, 0);
}
END_TEST

/* A library that is named is the only one that is tried. */
START_TEST(named_library)
{
    gn_buf b = {.arena = &arena};
    const char *was = getenv("GNNC_NVRTC");
    char *kept = was ? strdup(was) : NULL;
    setenv("GNNC_NVRTC", "/nowhere/libnvrtc.so", 1);
    refused(gn_cuda_describe(&b), GN_ERR_BACKEND, "looked for:\n  /nowhere/libnvrtc.so",
            "/nowhere");
    refused(gn_cuda_linker(&b), GN_ERR_BACKEND, "/nowhere/libnvrtc.so", "/nowhere");
    setenv("GNNC_NVRTC", "libm.so.6", 1);
    refused(gn_cuda_describe(&b), GN_ERR_BACKEND, "libm.so.6: no symbol nvrtc", "libm");
    if (kept)
        setenv("GNNC_NVRTC", kept, 1);
    else
        unsetenv("GNNC_NVRTC");
    free(kept);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("objects");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, architectures);
    tcase_add_loop_test(c, refused_kernel, 0, sizeof bad_kernels / sizeof *bad_kernels);
    tcase_add_test(c, arguments);
    tcase_add_test(c, shared_memory);
    tcase_add_test(c, one_lane);
    tcase_add_test(c, comments);
    tcase_add_test(c, made_of_others_code);
    tcase_add_test(c, any_bytes);
    tcase_add_test(c, made_by_nvrtc);
    tcase_add_test(c, linked);
    tcase_add_test(c, older_nvrtc);
    tcase_add_loop_test(c, fragments_by_nvrtc, 0, KIR_KIND_COUNT);
    tcase_add_test(c, unknown_architecture);
    tcase_add_test(c, no_memory_for_ptx);
    tcase_add_test(c, named_library);
    return run_tests(c, "CUDA objects");
}
