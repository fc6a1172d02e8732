/* Draws: figures of another program, and what chance would do. */
/* links: base */
#include "base/draw.h"
#include "base/philox.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Figures of a program of its own, in integers of any length. */
START_TEST(draws)
{
    static const uint64_t key = 0x548c9decbce65297u;
    ck_assert(gn_step_key(5, 5) == 0x11e7b35ed5af78u &&
              gn_step_key((uint64_t)-5, 77) == 0x142617648883e8u);
    ck_assert(gn_rng_key(5, 5) == 0x5ed5af78u);
    ck_assert(gn_draw_key(0, 0) == 0xe220a8397b1dcdafu); /* the first number of splitmix64 from 0 */
    ck_assert(gn_draw_key(0x123456789abcdu, 3) == 0x32ce74dfe6625c50u);
    /* triple32(12345) and what its first round makes */
    ck_assert(gn_draw_word(0, 12345) == 0xda21590au);
    ck_assert(gn_draw_word(key, 0) == 0xadd365ebu && gn_draw_word(key, 1) == 0x53ac93f9u);
    ck_assert(gn_draw_word(key, 0xffffffffu) == 0x09c45b24u &&
              gn_draw_word(key, (uint64_t)1 << 32) == 0x59ce219bu);
    ck_assert(gn_draw_word(key, ((uint64_t)1 << 40) + 7) == 0x6266bce7u);
    ck_assert(gn_draw_uniform(5, 3, 1433) == (float)(0xb2be1249u >> 8) * 0x1p-24f);
}
END_TEST

static uint32_t word(uint64_t step, uint64_t site, uint64_t element)
{
    return gn_draw_word(gn_draw_key(gn_step_key(1, step), (uint32_t)site), element);
}

static uint32_t word_of(int how, uint64_t i)
{
    switch (how) {
    case 0: return word(0, 0, i);
    case 1: return word(i, 0, 7);
    case 2: return word(i / 16, 0, i % 16);
    case 3: return word(0, 0, i << 32);
    case 4: return word(0, i, 7);
    default: return word(0, 0, i << 12);
    }
}

/* Pairs of draws, one after the other, fall into 32 by 32 boxes of equal size: elements in a row,
 * steps of one element, of a few, elements 2^32 apart, sites, and elements 4096 apart.  Chi squared
 * of 1,023 degrees of freedom is 5 deviations off in one of 10^6. */
START_TEST(draws_are_even)
{
    enum { SIDE = 32, BOXES = SIDE * SIDE, EACH = 64 };
    static int64_t n[BOXES];
    memset(n, 0, sizeof n);
    for (uint64_t i = 0; i < (uint64_t)EACH * BOXES; i++)
        n[(word_of(_i, i) >> 27) * SIDE + (word_of(_i, i + 1) >> 27)]++;
    double chi = 0, deviation = sqrt(2.0 * (BOXES - 1));
    for (int k = 0; k < BOXES; k++) chi += (double)((n[k] - EACH) * (n[k] - EACH)) / (double)EACH;
    ck_assert_msg(fabs(chi - (BOXES - 1)) < 5 * deviation, "chi squared is %g", chi);
}
END_TEST

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A stream repeats itself as often as chance does: a permutation of 32 bits never would. */
START_TEST(draws_repeat)
{
    enum { N = 1 << 17 };
    static uint32_t w[N];
    int repeats = 0;
    for (uint64_t key = 0; key < 16; key++) {
        for (uint32_t i = 0; i < N; i++) w[i] = gn_draw_word(gn_draw_key(key, 0), i);
        qsort(w, N, sizeof *w, by_value);
        for (int i = 1; i < N; i++) repeats += w[i] == w[i - 1];
    }
    ck_assert_msg(repeats > 10 && repeats < 70, "%d repeats, where 32 are expected", repeats);
}
END_TEST

/* Three of seven: each of the 35 sets as often as any other, whether rows, steps or sites follow on
 * each other; numbers ascend. */
START_TEST(few_are_even)
{
    enum { OF = 7, FEW = 3, SETS = 35, EACH = 400 };
    int64_t n[1 << OF] = {0}, few[FEW];
    for (uint64_t k = 0; k < SETS * EACH; k++) {
        uint64_t stream = gn_draw_key(gn_step_key(1, _i == 1 ? k : 0), _i == 2 ? (uint32_t)k : 5);
        int set = 0;
        gn_draw_few(stream, _i == 0 ? (int64_t)k : 9, FEW, OF, few);
        for (int j = 0; j < FEW; j++) {
            ck_assert(few[j] >= 0 && few[j] < OF && (j == 0 || few[j] > few[j - 1]));
            set |= 1 << few[j];
        }
        n[set]++;
    }
    double chi = 0;
    int sets = 0;
    for (int s = 0; s < 1 << OF; s++) {
        chi += n[s] ? (double)((n[s] - EACH) * (n[s] - EACH)) / (double)EACH : 0;
        sets += n[s] > 0;
    }
    ck_assert_int_eq(sets, SETS);
    ck_assert_msg(fabs(chi - (SETS - 1)) < 5 * sqrt(2.0 * (SETS - 1)), "chi squared is %g", chi);
}
END_TEST

/* Each of n things is drawn in one part alone, parts in their order, and in the end all are. */
START_TEST(parts_are_apart)
{
    enum { STREAMS = 400 };
    for (int64_t n = 1; n <= 11; n++)
        for (int64_t parts = 1; parts <= n; parts++) {
            int64_t of[12], drawn = 0;
            for (int64_t i = 0; i < n; i++) of[i] = -1;
            for (uint64_t s = 0; s < STREAMS; s++)
                for (int64_t k = 0; k < parts; k++) {
                    int64_t i = gn_draw_part(gn_draw_key(s, 3), k, parts, n);
                    ck_assert(i >= 0 && i < n && (of[i] < 0 || of[i] == k));
                    drawn += of[i] < 0;
                    of[i] = k;
                }
            ck_assert_int_eq(drawn, n);
            for (int64_t i = 1; i < n; i++) ck_assert_int_ge(of[i], of[i - 1]);
        }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("draw");
    tcase_add_test(t, draws);
    tcase_add_loop_test(t, draws_are_even, 0, 6);
    tcase_add_test(t, draws_repeat);
    tcase_add_loop_test(t, few_are_even, 0, 3);
    tcase_add_test(t, parts_are_apart);
    return RUN_CASES("draw", t);
}
