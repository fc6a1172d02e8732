/* The loader of object code: round trips, and objects damaged in every way. */
/* links: codegen runtime ir base */
/* timeout: 120 */
#include "base/processor.h"
#include "codegen_test.h"
#include "runtime/load/loader.h"

#include <elf.h>

static const char text[] = "kernel @k (sym n, %x: f32[n] read, %o: f64[n] write) {\n"
                           "for %1 in 0 .. n step 1 vector none { %2 = load f32 %x[%1] %3 = exp "
                           "f32 %2 %4 = cast f64 %3\n"
                           "%5 = sin f64 %4 store %o[%1], %5 }}";

static gn_image *image_of(int n, int threads)
{
    const kir_kernel *k[8];
    for (int i = 0; i < n; i++) k[i] = verified(text);
    gn_image *image = NULL;
    gn_codegen_options o = {.opt_level = 1, .threads = threads};
    succeeded(gn_cpu_compile(k, n, &o, &image, NULL), text);
    return image;
}

static void runs(const gn_object *o, int k)
{
    float x[19];
    double y[19];
    int64_t n = 19;
    for (int i = 0; i < 19; i++) x[i] = (float)i / 19;
    gn_object_kernel(o, k)((void *[]){x, y}, &n, 0, 1);
    for (int i = 0; i < 19; i++) ck_assert_double_eq_tol(y[i], sin(exp((double)x[i])), 1e-6);
}

START_TEST(round_trip)
{
    gn_image *image = image_of(5, _i);
    const void *bytes;
    size_t n;
    gn_object *o;
    gn_image_object(image, &bytes, &n);
    unsigned char *copy = malloc(n + 1); /* anywhere: nothing is aligned there */
    memcpy(copy + 1, bytes, n);
    gn_image_free(image);
    succeeded(gn_object_load(copy + 1, n, &o), "load");
    free(copy);
    ck_assert_int_eq(gn_object_kernels(o), 5);
    for (int k = 0; k < 5; k++) runs(o, k);
    ck_assert(!gn_object_kernel(o, 5) && !gn_object_kernel(o, -1));
    ck_assert(gn_object_code_bytes(o) > 100);
    gn_object_free(o);
}
END_TEST

static bool loads(const void *bytes, size_t n)
{
    gn_object *o = NULL;
    gn_status *s = gn_object_load(bytes, n, &o);
    bool fine = !s;
    if (s) {
        ck_assert_ptr_null(o);
        ck_assert_msg(gn_status_code(s) == GN_ERR_DATA || gn_status_code(s) == GN_ERR_NOMEM, "%s",
                      gn_status_message(s));
    }
    gn_status_free(s);
    gn_object_free(o);
    return fine;
}

START_TEST(cut_short)
{
    gn_image *image = image_of(2, 2);
    const void *bytes;
    size_t n;
    gn_image_object(image, &bytes, &n);
    int fine = 0;
    for (size_t cut = 0; cut < n; cut++) {
        /* exactly as long: reads beyond are seen by a sanitizer */
        unsigned char *copy = malloc(cut ? cut : 1);
        memcpy(copy, bytes, cut);
        fine += loads(copy, cut);
        free(copy);
    }
    ck_assert_int_lt(fine, 200); /* the padding at the end of the objects may go */
    gn_image_free(image);
}
END_TEST

/* Every byte of the headers and a sample of the rest, changed: refused or loaded, never a crash.
 * Such code is not run: the loader promises memory safety of loading; that the code is the right
 * code is the cache's checksum's business. */
START_TEST(damaged)
{
    static const unsigned char change[] = {0x01, 0x80, 0xff};
    gn_image *image = image_of(1, 1);
    const void *bytes;
    size_t n;
    gn_image_object(image, &bytes, &n);
    unsigned char *copy = malloc(n);
    int refused_some = 0;
    for (size_t at = 0; at < n; at++) {
        for (int c = 0; c < 3; c++) {
            memcpy(copy, bytes, n);
            copy[at] ^= change[c];
            refused_some += !loads(copy, n);
        }
    }
    ck_assert_int_gt(refused_some, 300);
    uint32_t seed = 1;
    for (int i = 0; i < 2000; i++) {
        memcpy(copy, bytes, n);
        for (int k = 0; k < 8; k++)
            copy[test_random(&seed) % n] = (unsigned char)test_random(&seed);
        (void)loads(copy, n);
    }
    free(copy);
    gn_image_free(image);
}
END_TEST

START_TEST(foreign)
{
    gn_image *image = image_of(1, 1);
    const void *bytes;
    size_t n;
    gn_object *o = NULL;
    gn_image_object(image, &bytes, &n);
    unsigned char *copy = malloc(n);
    memcpy(copy, bytes, n);
    for (size_t i = 0; i + 4 < n; i++) /* a function that nobody offers: "sin" -> "sim" */
        if (!memcmp(copy + i, "\0sin", 5)) copy[i + 3] = 'm';
    refused(gn_object_load(copy, n, &o), GN_ERR_DATA, "sim", "unknown function");
    memcpy(copy, bytes, n);
    copy[offsetof(Elf64_Ehdr, e_machine)] = EM_RISCV;
    refused(gn_object_load(copy, n, &o), GN_ERR_DATA, GN_MACHINE, "machine");
    refused(gn_object_load(copy, 0, &o), GN_ERR_DATA, "empty", "nothing");
    refused(gn_object_load("#!/bin/sh\n", 10, &o), GN_ERR_DATA, "damaged", "a script");
    free(copy);
    gn_image_free(image);
}
END_TEST

/* Code is executable and not writable, constants neither. */
START_TEST(protection)
{
    gn_image *image = image_of(1, 1);
    char line[256];
    uintptr_t at = (uintptr_t)gn_image_kernel(image, 0);
    FILE *f = fopen("/proc/self/maps", "r");
    bool seen = false;
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        unsigned long lo, hi;
        char how[8];
        if (sscanf(line, "%lx-%lx %7s", &lo, &hi, how) != 3) continue;
        if (at >= lo && at < hi) {
            seen = true;
            ck_assert_str_eq(how, "r-xp");
        }
        ck_assert_msg(!(how[1] == 'w' && how[2] == 'x'), "%s", line);
    }
    fclose(f);
    ck_assert(seen);
    gn_image_free(image);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("loader");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, round_trip, 1, 4);
    tcase_add_test(c, cut_short);
    tcase_add_test(c, damaged);
    tcase_add_test(c, foreign);
    tcase_add_test(c, protection);
    return run_tests(c, "codegen loader");
}
