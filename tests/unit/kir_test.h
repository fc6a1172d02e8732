/* What the loop IR's tests share: kernels from text, expected failures. */
#ifndef GN_TEST_KIR_TEST_H
#define GN_TEST_KIR_TEST_H

#include "ir/kir.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gn_arena arena;

static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static inline kir_kernel *parsed(const char *text)
{
    kir_kernel *k = NULL;
    gn_status *s = kir_parse(&arena, text, strlen(text), "test", &k);
    ck_assert_msg(!s, "%s\n%s", gn_status_message(s), text);
    return k;
}

static inline char *printed(const kir_kernel *k)
{
    gn_buf b = {.arena = &arena};
    kir_print(k, &b);
    return b.p;
}

static inline kir_kernel *verified(const char *text)
{
    kir_kernel *k = parsed(text);
    gn_status *s = kir_verify(k);
    ck_assert_msg(!s, "%s\n%s", gn_status_message(s), text);
    return k;
}

/* Ends `s`, which must be an error of that code that says `want`. */
static inline void refused(gn_status *s, gn_code code, const char *want, const char *text)
{
    ck_assert_msg(s != NULL, "accepted, where \"%s\" was wanted:\n%s", want, text);
    ck_assert_msg(gn_status_code(s) == code && strstr(gn_status_message(s), want),
                  "\"%s\" does not say \"%s\":\n%s", gn_status_message(s), want, text);
    gn_status_free(s);
}

static inline void succeeded(gn_status *s, const char *text)
{
    ck_assert_msg(!s, "%s\n%s", gn_status_message(s), text);
}

/* A case whose tests have the arena. */
static inline TCase *arena_case(const char *name, double timeout)
{
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, timeout);
    return c;
}

static inline int run_tests(TCase *c, const char *name)
{
    tcase_add_checked_fixture(c, setup, teardown);
    return RUN_CASES(name, c);
}

#endif
