/* What the tests of the data readers share. */
#ifndef GN_TESTS_DATA_FIXTURE_H
#define GN_TESTS_DATA_FIXTURE_H

#include "base/status.h"
#include "runtime/data/dataset.h"
#include "base/outfile.h"
#include "runtime/data/file.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A path in the repository; static storage, four at a time. */
static inline const char *source_path(const char *relative)
{
    static char text[4][4096];
    static unsigned turn;
    const char *root = getenv("GNNC_SOURCE_DIR");
    char *t = text[turn++ % 4];
    snprintf(t, sizeof text[0], "%s/%s", root ? root : ".", relative);
    return t;
}

/* A path in the real data, or NULL (said once a file) where it is absent. */
static inline const char *real_path(const char *relative)
{
    static char text[4096];
    const char *root = getenv("GNNC_DATA");
    struct stat st;
    if (root)
        snprintf(text, sizeof text, "%s/%s", root, relative);
    else
        snprintf(text, sizeof text, "%s/%s", source_path("../shared/data"), relative);
    if (stat(text, &st) == 0) return text;
    printf("skipped: no '%s' (set GNNC_DATA to the folder of the real data)\n", text);
    return NULL;
}

static inline void must(gn_status *s)
{
    if (s) ck_abort_msg("%s", gn_status_message(s));
}

/* The call must fail with this code and these words in its message. */
#define MUST_FAIL(expr, expected_code, words) must_fail((expr), (expected_code), (words), __LINE__)
static inline void must_fail(gn_status *s, gn_code code, const char *words, int line)
{
    if (!s) ck_abort_msg("line %d: succeeded, expected '%s'", line, words);
    if (gn_status_code(s) != code || !strstr(gn_status_message(s), words))
        ck_abort_msg("line %d: %s: %s; expected %s: '%s'", line, gn_code_name(gn_status_code(s)),
                     gn_status_message(s), gn_code_name(code), words);
    gn_status_free(s);
}

/* Any outcome but a crash will do; an error must be one of the data, with words in it. */
static inline bool survives(gn_status *s)
{
    if (!s) return true;
    ck_assert_int_eq(gn_status_code(s), GN_ERR_DATA);
    ck_assert_uint_gt(strlen(gn_status_message(s)), 8);
    gn_status_free(s);
    return false;
}

static inline gn_dataset *read_with(gn_data_options opt)
{
    gn_dataset *d;
    must(gn_dataset_read(&opt, &d));
    return d;
}

static inline gn_dataset *read_path(const char *path)
{
    return read_with((gn_data_options){.path = path, .normalize_rows = -1, .undirected = -1});
}

static inline int64_t count_mask(const uint8_t *mask, int64_t n)
{
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) k += mask[i];
    return k;
}

/* A copy of exactly n bytes, so that a read past the end is seen by AddressSanitizer. */
static inline void *exact(const void *p, size_t n)
{
    void *t = malloc(n ? n : 1);
    ck_assert_ptr_nonnull(t);
    return n ? memcpy(t, p, n) : t;
}

#endif
