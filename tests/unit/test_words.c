/* Words that stand for the values of an enum: found, defaulted, and refused with those that there
 * are. */
/* links: base */
#include "base/nearest.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"highest", "high", "medium"};

static void refused(const char *what, const char *name, const char *const *of, size_t n,
                    const char *says)
{
    int k = 7;
    gn_status *s = gn_choose(what, name, of, n, &k);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_USAGE);
    ck_assert_str_eq(gn_status_message(s), says);
    ck_assert_int_eq(k, 0);
    gn_status_free(s);
}

START_TEST(choosing)
{
    int k = 7;
    ck_assert_ptr_null(gn_choose("precision", NULL, words, 3, &k));
    ck_assert_int_eq(k, 0);
    for (int want = 0; want < 3; want++) {
        ck_assert_ptr_null(gn_choose("precision", words[want], words, 3, &k));
        ck_assert_int_eq(k, want);
    }
    refused("precision", "hgih", words, 3,
            "there is no precision 'hgih': highest, high or medium; did you mean 'high'?");
    refused("precision", "", words, 3, "there is no precision '': highest, high or medium");
    refused("way", "x", words, 1, "there is no way 'x': highest");
    refused("way", "zzz", words + 1, 2, "there is no way 'zzz': high or medium");
}
END_TEST

/* The list ends where there is no more room for it. */
START_TEST(many_words)
{
    const char *many[40];
    for (int k = 0; k < 40; k++) many[k] = "a-word-of-some-length";
    int k;
    gn_status *s = gn_choose("word", "?", many, 40, &k);
    ck_assert_uint_lt(strlen(gn_status_message(s)), 300);
    ck_assert_ptr_eq(
        strstr(gn_status_message(s), "there is no word '?': a-word-of-some-length, a-word"),
        gn_status_message(s));
    gn_status_free(s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("words");
    tcase_add_test(t, choosing);
    tcase_add_test(t, many_words);
    return RUN_CASES("words", t);
}
