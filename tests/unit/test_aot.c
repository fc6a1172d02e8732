/* links: aot driver runtime base */
/* Objects joined without a linker, damaged ones among them; and what processors promise. */
#include "aot/aot.h"
#include "runtime/cpu.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

extern const unsigned char gn_embedded_aot_runtime_o[];
extern const size_t gn_embedded_aot_runtime_o_size;

static const char *keep(void *ctx, const char *name, bool defined)
{
    (void)ctx, (void)defined;
    return name;
}

static gn_status *join(gn_arena *a, const void *bytes, size_t n, gn_buf *out)
{
    elf_object o;
    elf_init(&o, a);
    GN_TRY(elf_add_object(&o, bytes, n, keep, NULL));
    return elf_write(&o, "gnnc_aot_", out);
}

/* What was written can be read again, and nothing is added or lost by it. */
START_TEST(round_trip)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_buf once = {.arena = &a}, twice = {.arena = &a};
    ck_assert_ptr_null(join(&a, gn_embedded_aot_runtime_o, gn_embedded_aot_runtime_o_size, &once));
    ck_assert_ptr_null(join(&a, once.p, once.n, &twice));
    ck_assert_uint_eq(once.n, twice.n);
    gn_arena_free(&a);
}
END_TEST

/* A copy of exactly that size, so that a checker sees what reads past its end. */
static void try(const unsigned char *bytes, size_t n, int *refused)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_buf out = {.arena = &a};
    unsigned char *copy = malloc(n ? n : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, n);
    gn_status *s = join(&a, copy, n, &out);
    *refused += s != NULL;
    ck_assert(!s || gn_status_code(s) == GN_ERR_DATA || gn_status_code(s) == GN_ERR_INTERNAL);
    gn_status_free(s);
    free(copy);
    gn_arena_free(&a);
}

START_TEST(cut_short)
{
    size_t size = gn_embedded_aot_runtime_o_size;
    int refused = 0, tried = 0;
    for (size_t n = 0; n < size; n += n < 200 ? 1 : size / 97, tried++) try(gn_embedded_aot_runtime_o, n, &refused);
    ck_assert_int_eq(refused, tried);
}
END_TEST

/* Bytes of headers, of tables of sections, symbols and relocations, one at a time. */
START_TEST(damaged)
{
    size_t size = gn_embedded_aot_runtime_o_size;
    unsigned char *p = malloc(size);
    int refused = 0;
    ck_assert_ptr_nonnull(p);
    memcpy(p, gn_embedded_aot_runtime_o, size);
    for (size_t k = 0; k < size; k += k < sizeof(Elf64_Ehdr) ? 1 : size / 499) {
        for (int bit = 0; bit < 8; bit += 7) {
            p[k] ^= (unsigned char)(1 << bit);
            try(p, size, &refused);
            p[k] ^= (unsigned char)(1 << bit);
        }
    }
    Elf64_Ehdr h;
    memcpy(&h, p, sizeof h);
    for (size_t k = h.e_shoff; k < h.e_shoff + (size_t)h.e_shnum * sizeof(Elf64_Shdr); k += 7) {
        p[k] ^= 0x55;
        try(p, size, &refused);
        p[k] ^= 0x55;
    }
    ck_assert_int_gt(refused, 20);
    free(p);
}
END_TEST

START_TEST(defined_twice)
{
    gn_arena a;
    gn_arena_init(&a);
    elf_object o;
    elf_init(&o, &a);
    ck_assert_ptr_null(
        elf_define(&o, "here", STT_OBJECT, elf_add_section(&o, ".data", SHF_ALLOC, 8, "12345678", 8), 0, 8));
    gn_status *s = elf_define(&o, "here", STT_OBJECT, 0, 0, 8);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_INTERNAL);
    gn_status_free(s);
    gn_arena_free(&a);
}
END_TEST

START_TEST(levels)
{
    uint64_t v2, v3, v4, native, other;
    ck_assert(gn_cpu_level("x86-64-v2", &v2) && gn_cpu_level("x86-64-v3", &v3) && gn_cpu_level("x86-64-v4", &v4));
    ck_assert(gn_cpu_level("native", &native) && native == gn_cpu_features());
    ck_assert(!gn_cpu_level("x86-64", &other) && !gn_cpu_level("", &other));
    ck_assert((v2 & ~v3) == 0 && (v3 & ~v4) == 0 && v2 != v3 && v3 != v4);
    ck_assert_int_eq(__builtin_popcountll(v2), 5);
    ck_assert_int_eq(__builtin_popcountll(v3), 13);
    ck_assert_int_eq(__builtin_popcountll(v4), 18);
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    __builtin_cpu_init(); /* the compiler's library asks the processor by itself */
    ck_assert_int_eq(native >> GN_CPU_AVX2 & 1, __builtin_cpu_supports("avx2") != 0);
    ck_assert_int_eq(native >> GN_CPU_FMA & 1, __builtin_cpu_supports("fma") != 0);
    ck_assert_int_eq(native >> GN_CPU_AVX512VL & 1, __builtin_cpu_supports("avx512vl") != 0);
    ck_assert_int_eq(native >> GN_CPU_AVX512BF16 & 1, __builtin_cpu_supports("avx512bf16") != 0);
    ck_assert_int_eq(native >> GN_CPU_SSE42 & 1, __builtin_cpu_supports("sse4.2") != 0);
#endif
}
END_TEST

START_TEST(lacking)
{
    uint64_t v3, v4;
    ck_assert(gn_cpu_level("x86-64-v3", &v3) && gn_cpu_level("x86-64-v4", &v4));
    ck_assert_ptr_null(gn_cpu_check("x86-64-v3", v3, v4));
    ck_assert_ptr_null(gn_cpu_check("x86-64-v3", v3, v3));
    gn_status *s = gn_cpu_check("x86-64-v4", v4, v3);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_BACKEND);
    ck_assert_str_eq(gn_status_message(s), "compiled for x86-64-v4: this processor lacks avx512f, avx512dq, avx512cd, "
                                           "avx512bw, avx512vl");
    gn_status_free(s);
    s = gn_cpu_check("native", UINT64_MAX, 0); /* all that there is to say */
    ck_assert_int_eq(gn_status_code(s), GN_ERR_BACKEND);
    gn_status_free(s);
}
END_TEST

START_TEST(names)
{
    gn_arena a;
    gn_map used;
    gn_arena_init(&a);
    gn_map_init(&used, &a);
    ck_assert(gn_aot_is_prefix("gcn_2") && !gn_aot_is_prefix("") && !gn_aot_is_prefix("_a") &&
              !gn_aot_is_prefix("a.b"));
    ck_assert_str_eq(gn_aot_prefix_of(&a, "GCN"), "gcn");
    ck_assert_str_eq(gn_aot_prefix_of(&a, "_Net9"), "model__net9");
    ck_assert_str_eq(gn_aot_identifier(&a, "g.weight", &used), "g_weight");
    ck_assert_str_eq(gn_aot_identifier(&a, "g_weight", &used), "g_weight_2");
    ck_assert_str_eq(gn_aot_identifier(&a, "g weight", &used), "g_weight_3");
    ck_assert_int_eq(gn_aot_kind_of("a.o"), GN_AOT_OBJECT);
    ck_assert_int_eq(gn_aot_kind_of("b/a.a"), GN_AOT_ARCHIVE);
    ck_assert_int_eq(gn_aot_kind_of("b/a.so"), GN_AOT_SHARED);
    ck_assert_int_eq(gn_aot_kind_of("b/.so"), GN_AOT_NO_KIND);
    ck_assert_int_eq(gn_aot_kind_of("b.o/a"), GN_AOT_NO_KIND);
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("aot");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, round_trip);
    tcase_add_test(t, cut_short);
    tcase_add_test(t, damaged);
    tcase_add_test(t, defined_twice);
    tcase_add_test(t, levels);
    tcase_add_test(t, lacking);
    tcase_add_test(t, names);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
