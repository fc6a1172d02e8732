/* Draws: figures of another program, and what chance would do. */
/* links: base */
#include "base/draw_weighted.h"
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

/* Of 7 things 3, drawn by what they belong to: each as often as any other, rows that share things
 * share draws, and with repeats each number of each place. */
START_TEST(others_are_even)
{
    enum { OF = 7, FEW = 3, TIMES = 7000 };
    int64_t of[OF], few[FEW], n[OF] = {0};
    for (uint64_t k = 0; k < TIMES; k++) {
        uint64_t stream = gn_draw_key(gn_step_key(1, k), 5);
        for (int j = 0; j < OF; j++) of[j] = 10 * j + 3;
        if (_i)
            gn_draw_shared(stream, FEW, OF, of, few);
        else
            gn_draw_again(stream, 4, FEW, OF, few);
        for (int j = 0; j < FEW; j++) {
            ck_assert(few[j] >= 0 && few[j] < OF && (j == 0 || few[j] >= few[j - 1] + _i));
            n[few[j]]++;
        }
        if (!_i) continue;
        int64_t turned[OF], same[FEW]; /* the same things in another order */
        for (int j = 0; j < OF; j++) turned[j] = of[OF - 1 - j];
        gn_draw_shared(stream, FEW, OF, turned, same);
        for (int j = 0; j < FEW; j++) ck_assert_int_eq(same[j], OF - 1 - few[FEW - 1 - j]);
    }
    double chi = 0, each = (double)(FEW * TIMES) / (double)OF;
    for (int j = 0; j < OF; j++) chi += ((double)n[j] - each) * ((double)n[j] - each) / each;
    ck_assert_msg(chi < 6 + 5 * sqrt(12.0), "chi squared is %g", chi);
}
END_TEST

/* By weights: with repeats as often as those say, without each pair as successive draws have it;
 * what weighs nothing never. */
START_TEST(weights_tell)
{
    enum { OF = 5, TIMES = 20000 };
    const float weight[OF] = {1, 0, 4, 2, 3};
    const int64_t owner[OF] = {11, 5, 3, 8, 2};
    double key[OF], sum = 10, want[OF] = {0}, chi = 0;
    int64_t few[2], n[OF] = {0};
    ck_assert_int_eq(gn_draw_count(GN_DRAW_UNIFORM, 9, OF, weight), 4);
    ck_assert_int_eq(gn_draw_count(GN_DRAW_UNIFORM, 2, OF, weight), 2);
    ck_assert_int_eq(gn_draw_count(GN_DRAW_REPLACE, 9, OF, weight), 9);
    ck_assert_int_eq(gn_draw_count(GN_DRAW_REPLACE, 9, 1, weight + 1), 0);
    for (uint64_t k = 0; k < TIMES; k++) {
        uint64_t stream = gn_draw_key(gn_step_key(1, k), 5);
        if (_i)
            gn_draw_weighted_few(stream, 2, OF, owner, weight, key, few);
        else
            gn_draw_weighted_again(stream, 4, 2, OF, weight, key, few);
        ck_assert(few[0] >= 0 && few[1] < OF && few[1] >= few[0] + _i);
        n[few[0]]++;
        n[few[1]]++;
    }
    for (int a = 0; a < OF; a++)
        for (int b = 0; b < OF; b++) {
            double p = (double)weight[a] / sum *
                       (_i ? (a != b) * (double)weight[b] / (sum - (double)weight[a])
                           : (double)weight[b] / sum);
            want[a] += p * (double)TIMES;
            want[b] += p * (double)TIMES;
        }
    for (int a = 0; a < OF; a++)
        chi += want[a] > 0 ? ((double)n[a] - want[a]) * ((double)n[a] - want[a]) / want[a] : 0;
    ck_assert_int_eq(n[1], 0);
    ck_assert_msg(chi < 3 + 5 * sqrt(6.0), "chi squared is %g", chi);
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
    tcase_add_loop_test(t, others_are_even, 0, 2);
    tcase_add_loop_test(t, weights_tell, 0, 2);
    tcase_add_test(t, parts_are_apart);
    return RUN_CASES("draw", t);
}
