/* All recorded cases as a suite of their own: a test a case. */
#ifndef GN_TESTS_SUPPORT_CONFORM_SUITE_H
#define GN_TESTS_SUPPORT_CONFORM_SUITE_H

#include "support/conform_case.h"
#include "support/suite.h"

#include <stdio.h>

static void (*conform_run)(const char *path, int number);
static const char **conform_paths;

START_TEST(recorded_case) { conform_run(conform_paths[_i], _i); }
END_TEST

static inline const char *conform_root(void)
{
    const char *s = getenv("GNNC_SOURCE_DIR");
    return s ? s : ".";
}

/* The cases from *from to *to: all, or with GNNC_CONFORM=K/N in the environment the K'th of N
 * parts. */
static inline void conform_part(int *from, int *to)
{
    const char *part = getenv("GNNC_CONFORM");
    int k, n, all = *to;
    if (!part || sscanf(part, "%d/%d", &k, &n) != 2 || k < 1 || k > n || n > all) return;
    *from = all * (k - 1) / n;
    *to = all * k / n;
}

/* What main gives back, of a test that runs each case for so long at most. */
static inline int conform_main(const char *name, double seconds,
                               void (*run)(const char *path, int number))
{
    static gn_arena arena;
    int first = 0, n = 0;
    gn_arena_init(&arena);
    gn_status *s = conform_list(&arena, conform_root(), &n, &conform_paths);
    if (s || n < 100) {
        fprintf(stderr, "%s: %d cases\n", gn_status_message(s), n);
        return 1;
    }
    conform_run = run;
    TCase *t = tcase_create("recorded");
    conform_part(&first, &n);
    tcase_add_loop_test(t, recorded_case, first, n);
    tcase_set_timeout(t, seconds);
    int failed = RUN_CASES(name, t);
    gn_arena_free(&arena);
    return failed;
}

#endif
