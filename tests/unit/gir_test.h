/* For tests of the tensor IR: programs from text, and an arena a test. */
#ifndef TESTS_GIR_TEST_H
#define TESTS_GIR_TEST_H

#include "ir/eval.h"
#include "ir/gir.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static gn_arena arena;

static void arena_begin(void) { gn_arena_init(&arena); }
static void arena_end(void) { gn_arena_free(&arena); }

static inline void expect_ok(gn_status *s)
{
    if (s) ck_abort_msg("%s (%s:%d)", gn_status_message(s), s->file, s->line);
}

/* The status is an error whose message holds `text`. */
static inline void expect_error(gn_status *s, gn_code code, const char *text)
{
    ck_assert_msg(s != NULL, "no error, where '%s' was expected", text);
    ck_assert_msg(s->code == code && strstr(gn_status_message(s), text) != NULL,
                  "%s: %s\nwhere '%s' was expected", gn_code_name(s->code), gn_status_message(s),
                  text);
    gn_status_free(s);
}

static inline gir_program *read_program(const char *text)
{
    gir_program *p = NULL;
    expect_ok(gir_parse(&arena, text, strlen(text), "test", &p));
    expect_ok(gir_verify(p));
    return p;
}

static inline char *program_text(const gir_program *p)
{
    gn_buf b = {.arena = &arena};
    gir_print(p, &b);
    return b.p;
}

static inline int run_suite(const char *name, void (*fill)(TCase *))
{
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, arena_begin, arena_end);
    tcase_set_timeout(c, 0);
    fill(c);
    return RUN_CASES(name, c);
}

#endif
