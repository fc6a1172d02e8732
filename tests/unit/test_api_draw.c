/* Draws as torch's: what becomes of its state, and what is none.  python/tests/test_torch_draws.py
 * compares with torch itself. */
#include "support/api_life.h"

#include <math.h>

enum { BYTES = 5056, WORDS = 624 };

typedef union state {
    unsigned char byte[BYTES];
    struct {
        uint64_t seed;
        int32_t left, seeded;
        uint64_t next, word[WORDS];
    } is;
} state;

static state seeded(void)
{
    state s = {.is = {.seed = 5489, .left = 1, .seeded = 1}};
    s.is.word[0] = 5489;
    for (uint64_t k = 1; k < WORDS; k++)
        s.is.word[k] = (uint32_t)(1812433253u *
                                      (uint32_t)(s.is.word[k - 1] ^ s.is.word[k - 1] >> 30) +
                                  k);
    return s;
}

START_TEST(draws)
{
    state one = seeded(), two = seeded(), none = seeded();
    bool all[900], parts[900];
    int count = 0;
    ok(gnnc_draw_torch(&one, BYTES, .5, 900, all));
    ok(gnnc_draw_torch(&two, BYTES, .5, 311, parts));
    ok(gnnc_draw_torch(&two, BYTES, .5, 1, parts + 311));
    ck_assert_int_eq(two.is.left, 1); /* a block's end */
    ck_assert_uint_eq(two.is.next, WORDS);
    ok(gnnc_draw_torch(&two, BYTES, .5, 588, parts + 312));
    ck_assert_mem_eq(all, parts, sizeof all);
    ck_assert_mem_eq(&one, &two, BYTES);
    ck_assert_int_eq(one.is.left, 3 * WORDS - 1800 + 1);
    for (int k = 0; k < 900; k++) count += all[k];
    ck_assert(count > 400 && count < 500);
    ok(gnnc_draw_torch(&none, BYTES, .5, 0, NULL));
    one = seeded();
    ck_assert_mem_eq(&none, &one, BYTES);
}
END_TEST

START_TEST(refuses)
{
    state s = seeded(), was;
    bool mask[4];
    refused(gnnc_draw_torch(NULL, BYTES, .5, 4, mask), GNNC_ERROR_USAGE, "`state` is NULL");
    refused(gnnc_draw_torch(&s, BYTES, .5, 4, NULL), GNNC_ERROR_USAGE, "`mask` is NULL");
    refused(gnnc_draw_torch(&s, 12, .5, 4, mask), GNNC_ERROR_DATA, "12 bytes, expected 5056");
    refused(gnnc_draw_torch(&s, BYTES, 1.5, 4, mask), GNNC_ERROR_USAGE, "1.5 is not in 0..1");
    refused(gnnc_draw_torch(&s, BYTES, NAN, 4, mask), GNNC_ERROR_USAGE, "is not in 0..1");
    static const struct {
        int32_t left, seeded;
        uint64_t next;
    } bad[] = {{0, 1, 0}, {625, 1, 0}, {1, 0, 0}, {5, 1, 7}, {-3, 1, 0}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        s = seeded();
        s.is.left = bad[k].left;
        s.is.seeded = bad[k].seeded;
        s.is.next = bad[k].next;
        was = s;
        refused(gnnc_draw_torch(&s, BYTES, .5, 4, mask), GNNC_ERROR_DATA, "no state of torch's");
        ck_assert_mem_eq(&s, &was, BYTES);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_test(t, draws);
    tcase_add_test(t, refuses);
    return RUN_CASES("api_draw", t);
}
