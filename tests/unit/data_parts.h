/* Files of folders as texts, for the tests of those readers. */
#ifndef GN_TESTS_DATA_PARTS_H
#define GN_TESTS_DATA_PARTS_H

#include "data_fixture.h"
#include "runtime/data/readers.h"

#include <unistd.h>

enum { MOST_PARTS = 16 };

typedef gn_status *parts_parser(const gn_input *part, gn_reading *r, gn_dataset **out);

/* Each text in memory of its own length; NULL: there is no such file.  Named a, b, c, ... */
static inline gn_status *parse_parts(parts_parser *parse, const char *const *text, int n,
                                     const gn_data_options *opt, gn_dataset **out)
{
    static const char *const name[MOST_PARTS] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                                 "i", "j", "k", "l", "m", "n", "o", "p"};
    gn_input input[MOST_PARTS];
    void *copy[MOST_PARTS];
    gn_reading r = {.opt = opt, .origin = "parts"};
    *out = NULL;
    for (int k = 0; k < n; k++) {
        size_t bytes = text[k] ? strlen(text[k]) : 0;
        copy[k] = text[k] ? exact(text[k], bytes) : NULL;
        input[k] = (gn_input){copy[k], bytes, name[k]};
    }
    gn_status *s = parse(input, &r, out);
    for (int k = 0; k < n; k++) free(copy[k]);
    if (!s) s = gn_dataset_check(*out);
    return s;
}

/* One of the texts is another, and the parser has these words for it. */
static inline void parts_fail(parts_parser *parse, const char *const *good, int n, int part,
                              const char *text, const char *words, int line)
{
    static const gn_data_options opt = {.normalize_rows = -1, .undirected = -1};
    const char *all[MOST_PARTS];
    gn_dataset *d;
    for (int k = 0; k < n; k++) all[k] = k == part ? text : good[k];
    must_fail(parse_parts(parse, all, n, &opt, &d), GN_ERR_DATA, words, line);
}

/* Small changes of the texts: whatever they are, they are refused in words or read. */
static inline void parts_survive(parts_parser *parse, const char *const *good, int n)
{
    static const gn_data_options opt = {.normalize_rows = -1, .undirected = -1};
    static const char put[] = {'-', '9', ',', '\n', ' ', 'x', '\t', '"', 0};
    for (int k = 0; k < n; k++) {
        size_t length = good[k] ? strlen(good[k]) : 0;
        for (size_t at = 0; at < length; at++) {
            for (size_t c = 0; c < sizeof put; c++) {
                const char *all[MOST_PARTS];
                char *changed = exact(good[k], length + 1);
                gn_dataset *d = NULL;
                memcpy(all, good, (size_t)n * sizeof *all);
                changed[at] = put[c];
                all[k] = changed;
                if (survives(parse_parts(parse, all, n, &opt, &d))) gn_dataset_free(d);
                free(changed);
            }
        }
    }
}

/* A folder that the test fills and removes. */
static inline void write_part(const char *folder, const char *name, const void *bytes, size_t n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static inline void remove_folder(const char *folder)
{
    char command[600];
    ck_assert(!strncmp(folder, "/tmp/gnnc-", 10));
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static inline const gn_table_column *column(const gn_dataset *d, const char *name)
{
    const gn_table_column *c = gn_dataset_column(d, name);
    if (!c) ck_abort_msg("no column %s", name);
    return c;
}

#endif
