/* mt19937 against the number that the C++ standard gives of it ([rand.predef]), and truth values
 * against the words that they are made of. */
/* links: base */
#include "base/twister.h"
#include "support/suite.h"

#include <math.h>

static gn_twister seeded(uint32_t seed)
{
    gn_twister t = {.used = GN_TWISTER_WORDS};
    t.word[0] = seed;
    for (uint32_t k = 1; k < GN_TWISTER_WORDS; k++)
        t.word[k] = 1812433253u * (t.word[k - 1] ^ t.word[k - 1] >> 30) + k;
    return t;
}

START_TEST(words)
{
    gn_twister t = seeded(5489);
    for (int k = 1; k < 10000; k++) gn_twister_next(&t);
    ck_assert_uint_eq(gn_twister_next(&t), 4123659995u);
}
END_TEST

/* From every place in a block, so that pairs lie over its end, too. */
START_TEST(below)
{
    static const double p[] = {0, 0x1p-53, .25, .6, 1};
    enum { N = 1500 };
    bool mask[N + 1];
    for (int first = 0; first < 5; first++) {
        gn_twister t = seeded(7), same;
        for (int k = 0; k < first + 619; k++) gn_twister_next(&t);
        same = t;
        mask[N] = true;
        gn_twister_below(&t, p[_i], N, mask);
        for (int k = 0; k < N; k++) {
            uint64_t high = gn_twister_next(&same), low = gn_twister_next(&same);
            double u = ldexp((double)((high << 32 | low) & 0x1fffffffffffffu), -53);
            ck_assert(mask[k] == (u < p[_i]));
        }
        ck_assert(mask[N]);
        ck_assert_uint_eq(gn_twister_next(&t), gn_twister_next(&same));
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_test(t, words);
    tcase_add_loop_test(t, below, 0, 5);
    return RUN_CASES("twister", t);
}
