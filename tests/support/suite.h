/* What main does in a test of Check's. */
#ifndef GN_TESTS_SUPPORT_SUITE_H
#define GN_TESTS_SUPPORT_SUITE_H

#include "base/sanitized.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* GNNC_LONG=1 (`make test-long`): whatever there is to draw is drawn.  Else tests that draw
 * programs, and those that try one thing in many ways, take a part of it, so that all of them end
 * within minutes. */
static inline bool suite_long(void)
{
    const char *all = getenv("GNNC_LONG");
    return all && *all && *all != '0';
}

/* Is `i` of what is tried in many ways left out?  One in `each` is tried, spread over them all; the
 * first and, with GNNC_LONG, every one. */
static inline bool suite_leaves_out(int i, unsigned each)
{
    return !suite_long() && ((unsigned)i * 2654435769u >> 16) % each != 0;
}

/* A processor of this kind that is not the host. */
#if defined(__aarch64__)
#define SUITE_OTHER_CPU "cortex-a72"
#else
#define SUITE_OTHER_CPU "x86-64-v2"
#endif

/* How well code is optimised: as gnnc does it, which with sanitizers is as fast as can be. */
enum { SUITE_OPT_LEVEL = GN_UNDER_ASAN || GN_UNDER_TSAN ? -1 : 1 };

static inline int suite_run(Suite *suite)
{
    SRunner *r = srunner_create(suite);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int suite_run_cases(const char *name, size_t n, TCase *const *cases)
{
    Suite *suite = suite_create(name);
    for (size_t k = 0; k < n; k++) suite_add_tcase(suite, cases[k]);
    return suite_run(suite);
}

/* RUN_CASES(name, TCase *...): runs them as one suite; the exit status. */
#define RUN_CASES(name, ...)                                                                       \
    suite_run_cases((name), sizeof((TCase *[]){__VA_ARGS__}) / sizeof(TCase *),                    \
                    (TCase *[]){__VA_ARGS__})

#endif
