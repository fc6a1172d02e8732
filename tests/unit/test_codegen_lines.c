/* Lines of compiled kernels: bytes come of instructions of the kernel's text; objects damaged in
 * every way are refused or read, and nothing else happens. */
/* links: codegen runtime ir base */
/* timeout: 120 */
#include "codegen/code_lines.h"
#include "codegen_test.h"

static const char text[] = "kernel @k (sym n, %x: f32[n] read, %o: f32[n] write) {\n"
                           "for %1 in 0 .. n step 1 thread none { %2 = load f32 %x[%1]\n"
                           "%3 = exp f32 %2 %4 = fmul f32 %3, %3 store %o[%1], %4 }}";

static gn_code_object object_of(bool lines)
{
    const kir_kernel *k = verified(text);
    gn_code_object o;
    gn_codegen_options opt = {.opt_level = 1, .lines = lines};
    gn_codegen_stats stats = {0};
    succeeded(gn_cpu_objects(&k, 1, &opt, &o, &stats), text);
    return o;
}

START_TEST(bytes_come_of_instructions)
{
    gn_code_object o = object_of(true);
    gn_code_lines l;
    uint32_t most = 0;
    const kir_kernel *k = verified(text);
    const uint32_t *place = kir_places(&arena, k);
    for (kir_id i = 1; i < k->insts.n; i++)
        if (place[i] > most) most = place[i];
    ck_assert_uint_eq(most, 5); /* for, load, exp, fmul, store */
    succeeded(gn_code_lines_of(&arena, &o, &l), "lines");
    ck_assert_uint_gt(l.size, 20);
    ck_assert_uint_gt(l.line.n, 2);
    bool met[6] = {false};
    int places = 0;
    for (uint32_t r = 0; r < l.line.n; r++) {
        ck_assert_uint_lt(l.line.p[r].at, l.size);
        ck_assert(!r || l.line.p[r].at > l.line.p[r - 1].at);
        ck_assert_uint_le(l.line.p[r].place, most);
        met[l.line.p[r].place] = true;
    }
    for (int p = 1; p < 6; p++) places += met[p];
    ck_assert_int_ge(places, 3); /* others share instructions of the machine */
    free(o.bytes);
}
END_TEST

START_TEST(without_there_are_none)
{
    gn_code_object o = object_of(false);
    gn_code_lines l;
    succeeded(gn_code_lines_of(&arena, &o, &l), "lines");
    ck_assert_uint_eq(l.line.n, 0);
    ck_assert_uint_gt(l.size, 20);
    free(o.bytes);
}
END_TEST

static void is_read_or_refused(const unsigned char *bytes, size_t n)
{
    gn_arena own;
    gn_code_lines l;
    unsigned char *copy = malloc(n + 1); /* of that size, so that a sanitizer sees its end */
    memcpy(copy, bytes, n);
    gn_code_object o = {copy, n};
    gn_arena_init(&own);
    gn_status *s = gn_code_lines_of(&own, &o, &l);
    ck_assert(!s || gn_status_code(s) == GN_ERR_DATA);
    gn_status_free(s);
    gn_arena_free(&own);
    free(copy);
}

START_TEST(damage_is_harmless)
{
    static const unsigned char to[] = {0x00, 0x7f, 0x80, 0xff};
    gn_code_object o = object_of(true);
    for (size_t at = 0; at < o.n; at++)
        for (size_t k = 0; k < sizeof to; k++) {
            unsigned char was = o.bytes[at];
            o.bytes[at] = to[k];
            is_read_or_refused(o.bytes, o.n);
            o.bytes[at] = was;
        }
    for (size_t n = 0; n < o.n; n += 3) is_read_or_refused(o.bytes, n);
    free(o.bytes);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, bytes_come_of_instructions);
    tcase_add_test(t, without_there_are_none);
    tcase_add_test(t, damage_is_harmless);
    return run_tests(t, "codegen lines");
}
