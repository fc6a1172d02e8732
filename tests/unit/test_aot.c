/* links: aot tune runtime base */
/* timeout: 120 */
/* Objects joined without a linker, damaged ones among them; and what processors promise. */
#include "aot/aot.h"
#include "runtime/aot/model.h"
#include "runtime/load/cpu.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
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

/* What was written can be read again, and is written again byte by byte. */
START_TEST(round_trip)
{
    gn_arena a;
    gn_arena_init(&a);
    gn_buf once = {.arena = &a}, twice = {.arena = &a};
    ck_assert_ptr_null(join(&a, gn_embedded_aot_runtime_o, gn_embedded_aot_runtime_o_size, &once));
    ck_assert_ptr_null(join(&a, once.p, once.n, &twice));
    ck_assert_uint_eq(once.n, twice.n);
    ck_assert_mem_eq(once.p, twice.p, once.n);
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
    for (size_t n = 0; n < size; n += n < 200 ? 1 : size / 97, tried++)
        try(gn_embedded_aot_runtime_o, n, &refused);
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
    for (size_t k = 0; k < size; k += k < sizeof(Elf64_Ehdr) ? 1 : size / 131) {
        for (int bit = 0; bit < 8; bit += 7) {
            p[k] ^= (unsigned char)(1 << bit);
            try(p, size, &refused);
            p[k] ^= (unsigned char)(1 << bit);
        }
    }
    Elf64_Ehdr h;
    memcpy(&h, p, sizeof h);
    for (size_t k = h.e_shoff; k < h.e_shoff + (size_t)h.e_shnum * sizeof(Elf64_Shdr); k += 29) {
        p[k] ^= 0x55;
        try(p, size, &refused);
        p[k] ^= 0x55;
    }
    ck_assert_int_gt(refused, 20);
    free(p);
}
END_TEST

/* The first relocation that goes anywhere, and what becomes of it. */
static void check_relocation(uint64_t at, uint64_t symbol)
{
    size_t size = gn_embedded_aot_runtime_o_size;
    unsigned char *p = malloc(size);
    Elf64_Ehdr h;
    int refused = 0;
    ck_assert_ptr_nonnull(p);
    memcpy(p, gn_embedded_aot_runtime_o, size);
    memcpy(&h, p, sizeof h);
    for (int k = 0; k < h.e_shnum && !refused; k++) {
        Elf64_Shdr s;
        Elf64_Rela r;
        memcpy(&s, p + h.e_shoff + (size_t)k * sizeof s, sizeof s);
        if (s.sh_type != SHT_RELA) continue;
        memcpy(&r, p + s.sh_offset, sizeof r);
        if (at) r.r_offset = at;
        if (symbol) r.r_info = ELF64_R_INFO(symbol, ELF64_R_TYPE(r.r_info));
        memcpy(p + s.sh_offset, &r, sizeof r);
        try(p, size, &refused);
    }
    ck_assert_int_eq(refused, 1);
    free(p);
}

START_TEST(relocations)
{
    check_relocation(UINT64_MAX, 0);
    check_relocation(1 << 30, 0);
    check_relocation(0, 1 << 30);
}
END_TEST

START_TEST(defined_twice)
{
    gn_arena a;
    gn_arena_init(&a);
    elf_object o;
    elf_init(&o, &a);
    ck_assert_ptr_null(elf_define(&o, "here", STT_OBJECT,
                                  elf_add_section(&o, ".data", SHF_ALLOC, 8, "12345678", 8), 0, 8));
    gn_status *s = elf_define(&o, "here", STT_OBJECT, 0, 0, 8);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_INTERNAL);
    gn_status_free(s);
    gn_arena_free(&a);
}
END_TEST

/* Weights -------------------------------------------------------------------------------------- */

static const gn_aot_weight some_weights[] = {
    {.name = "a.weight",
     .rank = 2,
     .dim = {2, 3},
     .state = "a",
     .elems = 6,
     .turned = 3,
     .init = {.kind = GN_FILL_ONES}},
    {.name = "b",
     .rank = 1,
     .dim = {4},
     .state = "b",
     .elems = 4,
     .init = {.kind = GN_FILL_NORMAL, .b = 1}},
};
static const gn_aot_state some_states[] = {
    {"a", GN_F32, 2, 3}, {"b", GN_F32, 1, 4}, {"rng.seed", GN_I64, 1, 1}};
static const gn_aot_image some_image = {.model = "M",
                                        .cpu = "all",
                                        .n_weights = 2,
                                        .weights = some_weights,
                                        .n_states = 3,
                                        .states = some_states};

static const char
    header[] = "{\"__metadata__\": {\"by\": \"me, \\\"you\\\"\"}, "
               "\"other\":{\"dtype\":\"I64\",\"shape\":[],"
               "\"data_offsets\":[40,48]}, "
               "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[24,40]},\n"
               "\"a.weight\":{\"shape\":[2, 3],\"dtype\":\"F32\",\"data_offsets\":[ 0,24]} } ";

/* A file of those weights, each its number; in memory of exactly its size. */
static unsigned char *make_file(const char *text, size_t *n)
{
    size_t length = strlen(text);
    *n = 8 + length + 48;
    unsigned char *p = calloc(1, *n);
    ck_assert_ptr_nonnull(p);
    p[0] = (unsigned char)length;
    p[1] = (unsigned char)(length >> 8);
    memcpy(p + 8, text, length);
    for (int k = 0; k < 10; k++) {
        float v = (float)k;
        memcpy(p + 8 + length + 4 * k, &v, sizeof v);
    }
    return p;
}

static gn_aot_model *new_model(void)
{
    gn_aot_model *m;
    ck_assert_int_eq(gn_aot_new(&some_image, 0, 0, 1, 3, &m), 0);
    return m;
}

START_TEST(weights)
{
    gn_aot_model *m = new_model();
    size_t n;
    float v[6];
    unsigned char *file = make_file(header, &n);
    ck_assert_int_eq(gn_aot_load_weights_memory(m, file, (int64_t)n), 0);
    ck_assert_int_eq(gn_aot_weight_get(m, "a.weight", v, 6), 0);
    for (int k = 0; k < 6; k++) ck_assert(v[k] == (float)k);
    v[1] = 50;
    ck_assert_int_eq(gn_aot_weight_set(m, "a.weight", v, 6), 0);
    float w[6] = {0};
    ck_assert_int_eq(gn_aot_weight_get(m, "a.weight", w, 6), 0);
    ck_assert_int_eq(memcmp(v, w, sizeof v), 0);
    ck_assert_int_eq(gn_aot_weight_get(m, "b", v, 4), 0);
    for (int k = 0; k < 4; k++) ck_assert(v[k] == (float)(6 + k));
    ck_assert_int_eq(gn_aot_load_weights(m, "/nowhere"), GN_ERR_IO);
    ck_assert_ptr_nonnull(strstr(gn_aot_message(m), "/nowhere: No such file"));
    ck_assert_int_eq(gn_aot_load_weights(m, "/"), GN_ERR_IO);
    ck_assert_str_eq(gn_aot_message(m), "/: Is a directory");
    ck_assert_int_eq(gn_aot_load_weights(m, "/dev/null"), GN_ERR_IO);
    ck_assert_str_eq(gn_aot_message(m), "/dev/null: not a regular file");
    ck_assert_int_eq(gn_aot_train_step(m, NULL), GN_ERR_USAGE);
    free(file);
    gn_aot_free(m);
}
END_TEST

/* Tensors of other models are passed over, whatever their shapes. */
START_TEST(other_weights)
{
    static const char text
        [] = "{\"deep\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,8]},"
             "\"vast\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296,0],\"data_offsets\":[0,0]"
             "},"
             "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[24,40]},"
             "\"a.weight\":{\"shape\":[2,3],\"dtype\":\"F32\",\"data_offsets\":[0,24]}}";
    gn_aot_model *m = new_model();
    size_t n;
    float v[4];
    unsigned char *file = make_file(text, &n);
    ck_assert_msg(!gn_aot_load_weights_memory(m, file, (int64_t)n), "%s", gn_aot_message(m));
    ck_assert_int_eq(gn_aot_weight_get(m, "b", v, 4), 0);
    for (int k = 0; k < 4; k++) ck_assert(v[k] == (float)(6 + k));
    free(file);
    gn_aot_free(m);
}
END_TEST

/* Other floating types become float32. */
START_TEST(weights_of_other_types)
{
    static const struct {
        const char *dtype;
        int bytes;
        uint64_t bits[4]; /* little-endian, as the files are */
        float is[4];
    } of[] = {
        {"F16", 2, {0x3e00, 0x8001, 0x7bff, 0xfc00}, {1.5f, -0x1p-24f, 65504, -INFINITY}},
        {"BF16", 2, {0x3fc0, 0x8000, 0x0001, 0x7f7f}, {1.5f, -0.0f, 0x1p-133f, 0x1.fep127f}},
        {"F64",
         8,
         {0x3ff8000000000000, 0xc008000000000000, 0x3e112e0be826d695, 0x7ff0000000000000},
         {1.5f, -3, 1e-9f, INFINITY}},
        {"F64", 8, {0, 0x7e37e43c8800759c, 0, 0}, {0}}, /* 1e300 */
    };
    char text[256];
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        gn_aot_model *m = new_model();
        size_t n;
        float v[4];
        snprintf(text, sizeof text,
                 "{\"b\":{\"dtype\":\"%s\",\"shape\":[4],\"data_offsets\":[0,%d]},"
                 "\"a.weight\":{\"shape\":[2,3],\"dtype\":\"F32\",\"data_offsets\":[0,24]}}",
                 of[k].dtype, 4 * of[k].bytes);
        unsigned char *file = make_file(text, &n);
        for (int i = 0; i < 4; i++)
            memcpy(file + n - 48 + i * of[k].bytes, &of[k].bits[i], (size_t)of[k].bytes);
        int code = gn_aot_load_weights_memory(m, file, (int64_t)n);
        if (k == 3) {
            ck_assert_int_eq(code, GN_ERR_DATA);
            ck_assert_ptr_nonnull(
                strstr(gn_aot_message(m), "number 1 is 1e+300, which no float32 is"));
        } else {
            ck_assert_msg(!code, "%s", gn_aot_message(m));
            ck_assert_int_eq(gn_aot_weight_get(m, "b", v, 4), 0);
            ck_assert_mem_eq(v, of[k].is, sizeof v);
        }
        free(file);
        gn_aot_free(m);
    }
}
END_TEST

/* What is wrong with a header, and what is said of it. */
START_TEST(bad_weights)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "byte 0 of the header: expected {"},
        {"{", "expected a string"},
        {"{}", "there is no tensor 'a.weight'"},
        {"{} x", "byte 3 of the header: expected its end"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[24,40]}}",
         "there is no tensor 'a.weight'"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[24,44]}}",
         "tensor 'b' is F32 [5], expected F32 [4]"},
        {"{\"b\":{\"dtype\":\"I32\",\"shape\":[4],\"data_offsets\":[24,40]}}",
         "tensor 'b' is I32 [4], expected F32 [4]"},
        {"{\"b\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[24,40]}}",
         "tensor 'b' has 16 bytes"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[24,44]}}",
         "tensor 'b' has 20 bytes"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[40,56]}}",
         "data_offsets within the file"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[40,24]}}",
         "data_offsets within the file"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[4]}}", "two data_offsets"},
        {"{\"b\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", "each once"},
        {"{\"b\":{\"rank\":1}}", "each once"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[24,28]}}",
         "tensor 'b' is F32 [1, 1, 1, 1, 1, 1, 1, 1, ...], expected F32 [4]"},
        {"{\"b\":{\"shape\":[-1]}}", "a whole number"},
        {"{\"b\":{\"shape\":[99999999999999999999]}}", "a smaller number"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}",
         "tensor 'b' is F32 [4294967296, 4294967296], expected F32 [4]"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[24,32,40]}}",
         "two data_offsets"},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[24,40]},\"b\":{\"dtype\":"
         "\"F32\",\"shape\":[4],"
         "\"data_offsets\":[24,40]}}",
         "two tensors 'b'"},
        {"{\"__metadata__\":{\"a\":1}}", "a string"},
        {"{\"b\\", "the end of a string"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        gn_aot_model *m = new_model();
        size_t n;
        float before[4], after[4];
        unsigned char *file = make_file(bad[k].text, &n);
        ck_assert_int_eq(gn_aot_weight_get(m, "b", before, 4), 0);
        ck_assert_int_eq(gn_aot_load_weights_memory(m, file, (int64_t)n), GN_ERR_DATA);
        ck_assert_msg(strstr(gn_aot_message(m), bad[k].says) != NULL, "%s: %s", bad[k].text,
                      gn_aot_message(m));
        ck_assert_int_eq(gn_aot_weight_get(m, "b", after, 4), 0);
        ck_assert_int_eq(memcmp(before, after, sizeof before), 0);
        free(file);
        gn_aot_free(m);
    }
}
END_TEST

START_TEST(damaged_weights)
{
    gn_aot_model *m = new_model();
    size_t n;
    unsigned char *file = make_file(header, &n);
    for (size_t k = 0; k <= 8 + sizeof header - 1; k++) {
        unsigned char *part = malloc(k ? k : 1);
        memcpy(part, file, k);
        ck_assert_int_eq(gn_aot_load_weights_memory(m, part, (int64_t)k), GN_ERR_DATA);
        free(part);
        for (int flip = 1; k < 8 + sizeof header - 1 && flip < 256; flip++) {
            file[k] ^= (unsigned char)flip;
            int code = gn_aot_load_weights_memory(m, file, (int64_t)n);
            ck_assert(code == 0 || code == GN_ERR_DATA);
            file[k] ^= (unsigned char)flip;
        }
    }
    ck_assert_int_eq(gn_aot_load_weights_memory(m, file, (int64_t)n), 0);
    free(file);
    gn_aot_free(m);
}
END_TEST

/* Every byte of a state is under its checksum or says whose it is. */
START_TEST(states)
{
    gn_aot_model *m = new_model(), *other;
    int64_t n = gn_aot_state_size(m);
    unsigned char *state = malloc((size_t)n), *back = malloc((size_t)n);
    ck_assert_int_eq(n, 24 + 6 * 4 + 4 * 4 + 8);
    ck_assert_int_eq(gn_aot_state_get(m, state, n), 0);
    ck_assert_int_eq(gn_aot_new(&some_image, 0, 0, 1, 4, &other), 0);
    for (int64_t k = 0; k < n; k++) {
        state[k] ^= 0x40;
        ck_assert_int_eq(gn_aot_state_set(other, state, n), GN_ERR_DATA);
        state[k] ^= 0x40;
    }
    ck_assert_int_eq(gn_aot_state_set(other, state, n - 1), GN_ERR_USAGE);
    ck_assert_int_eq(gn_aot_state_get(other, back, n), 0);
    ck_assert_int_ne(memcmp(state, back, (size_t)n), 0);
    ck_assert_int_eq(gn_aot_state_set(other, state, n), 0);
    ck_assert_int_eq(gn_aot_state_get(other, back, n), 0);
    ck_assert_int_eq(memcmp(state, back, (size_t)n), 0);
    ck_assert_int_eq(gn_aot_reset(other, 3), 0);
    ck_assert_int_eq(gn_aot_state_get(other, back, n), 0);
    ck_assert_int_eq(memcmp(state, back, (size_t)n), 0);
    free(state);
    free(back);
    gn_aot_free(m);
    gn_aot_free(other);
}
END_TEST

/* Headers -------------------------------------------------------------------------------------- */

START_TEST(another_header)
{
    gn_aot_image g = some_image;
    gn_aot_model *m;
    g.identity = 5;
    ck_assert_int_eq(gn_aot_new(&g, 5, 0, 1, 3, &m), 0);
    gn_aot_free(m);
    ck_assert_int_eq(gn_aot_new(&g, 6, 0, 1, 3, &m), GN_ERR_USAGE);
    ck_assert_ptr_nonnull(
        strstr(gn_aot_message(m), "the header is of another interface (0000000000000006)"));
    ck_assert_int_eq(gn_aot_infer(m), GN_ERR_USAGE);
    gn_aot_free(m);
}
END_TEST

/* Processors ----------------------------------------------------------------------------------- */

#if defined(__aarch64__)
enum { RARE = GN_CPU_BF16 };
#define RARE_NAME "bf16"
#else
enum { RARE = GN_CPU_XOP };
#define RARE_NAME "xop"
#endif

START_TEST(refused)
{
    gn_aot_image g = some_image;
    gn_aot_model *m, *other;
    g.needs = (uint64_t)1 << RARE;
    ck_assert_int_eq(gn_aot_new(&g, 0, ~g.needs, 1, 0, &m), GN_ERR_BACKEND);
    ck_assert_str_eq(gn_aot_message(m), "compiled for all: this processor lacks " RARE_NAME);
    ck_assert_int_eq(gn_aot_infer(m), GN_ERR_BACKEND);
    ck_assert_int_eq(gn_aot_reset(m, 0), GN_ERR_BACKEND);
    ck_assert_int_eq(gn_aot_bind(m, "x", 0, NULL), GN_ERR_BACKEND);
    ck_assert_int_eq(gn_aot_state_size(m), 0);
    ck_assert_ptr_null(gn_aot_output(m, "out", NULL));
    ck_assert_int_eq(gn_aot_share(m, 1, &other), GN_ERR_BACKEND);
    ck_assert_ptr_null(other);
    gn_aot_free(m);
}
END_TEST

#if defined(__aarch64__)

START_TEST(levels)
{
    uint64_t least, native, other;
    ck_assert(gn_cpu_level("armv8-a", &least) && gn_cpu_level("native", &native));
    ck_assert(native == gn_cpu_features() && (least & ~native) == 0 && least);
    ck_assert(!gn_cpu_level("x86-64-v2", &other) && !gn_cpu_level("", &other));
}
END_TEST

START_TEST(lacking)
{
    uint64_t least;
    ck_assert(gn_cpu_level("armv8-a", &least));
    ck_assert_ptr_null(gn_cpu_check("armv8-a", least, UINT64_MAX));
    gn_status *s = gn_cpu_check("native", least | 1 << GN_CPU_SVE | 1 << GN_CPU_BF16, least);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_BACKEND);
    ck_assert_str_eq(gn_status_message(s), "compiled for native: this processor lacks sve, bf16");
    gn_status_free(s);
}
END_TEST

#else

START_TEST(levels)
{
    uint64_t v2, v3, v4, native, other;
    ck_assert(gn_cpu_level("x86-64-v2", &v2) && gn_cpu_level("x86-64-v3", &v3) &&
              gn_cpu_level("x86-64-v4", &v4));
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
    ck_assert_str_eq(gn_status_message(s),
                     "compiled for x86-64-v4: this processor lacks avx512f, avx512dq, avx512cd, "
                     "avx512bw, avx512vl");
    gn_status_free(s);
    s = gn_cpu_check("native", UINT64_MAX, 0); /* all that there is to say */
    ck_assert_int_eq(gn_status_code(s), GN_ERR_BACKEND);
    gn_status_free(s);
}
END_TEST

#endif

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
    ck_assert_str_eq(gn_aot_identifier(&a, "x", &used), "x");
    ck_assert_str_eq(gn_aot_identifier(&a, "X", &used), "X_2"); /* macros are in capitals */
    ck_assert_str_eq(gn_aot_identifier(&a, "x_2", &used), "x_2_2");
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
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, round_trip);
    tcase_add_test(t, cut_short);
    tcase_add_test(t, damaged);
    tcase_add_test(t, relocations);
    tcase_add_test(t, defined_twice);
    tcase_add_test(t, weights);
    tcase_add_test(t, other_weights);
    tcase_add_test(t, weights_of_other_types);
    tcase_add_test(t, bad_weights);
    tcase_add_test(t, damaged_weights);
    tcase_add_test(t, states);
    tcase_add_test(t, another_header);
    tcase_add_test(t, refused);
    tcase_add_test(t, levels);
    tcase_add_test(t, lacking);
    tcase_add_test(t, names);
    return RUN_CASES("aot", t);
}
