/* What the cache's tests share: a folder of their own, and ears for what the cache says. */
#ifndef GN_TESTS_CACHE_TEST_H
#define GN_TESTS_CACHE_TEST_H

#include "cache/cache.h"
#include "cache/store.h"
#include "support/suite.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256]; /* of this test */
static char heard[1 << 16];
static int warnings;

static inline void ok(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

static inline void refused(gn_status *s, gn_code code, const char *words)
{
    ck_assert_msg(s != NULL, "accepted; expected: %s", words);
    ck_assert_msg(s->code == code, "%s error, not %s: %s", gn_code_name(s->code),
                  gn_code_name(code), s->message);
    ck_assert_msg(strstr(s->message, words) != NULL, "'%s' is not in: %s", words, s->message);
    gn_status_free(s);
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/gnnc-cache-XXXXXX",
             tmp && strlen(tmp) < 200 ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    *heard = 0;
    warnings = 0;
}

static inline void drop_folder(void) { remove_tree(folder); }

static inline void hear(void *ctx, gn_cache_word what, const char *text)
{
    (void)ctx;
    size_t n = strlen(heard);
    warnings += what == GN_CACHE_WARNING;
    snprintf(heard + n, sizeof heard - n, "%s\n", text);
}

/* A path under the folder; one of four buffers, in turn. */
static inline const char *under(const char *name)
{
    static char path[4][512];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof *path, "%s/%s", folder, name);
    return path[at];
}

/* On <folder>/<dir>, without memory: whatever is found was on disk. */
static inline gn_cache *open_disk(const char *dir, const char *base, int64_t limit)
{
    gn_cache *c;
    gn_cache_options o = {.dir = dir ? under(dir) : NULL,
                          .base = base ? under(base) : NULL,
                          .disk_bytes = limit,
                          .memory_bytes = -1,
                          .say = hear,
                          .notes = true};
    ok(gn_cache_new(&o, &c));
    return c;
}

static inline const char *parts_of(int number)
{
    static char text[4][128];
    static int at;
    at = (at + 1) % 4;
    snprintf(text[at], sizeof *text, "gnnc 1\ntarget this one\nkernel %d\n", number);
    return text[at];
}

static inline gn_key key_of(int number)
{
    const char *p = parts_of(number);
    return gn_key_of(p, strlen(p));
}

static inline const char *file_of(const char *dir, int number)
{
    char hex[GN_SHA256_HEX + 1], path[200];
    gn_key k = key_of(number);
    gn_sha256_hex(k.b, hex);
    snprintf(path, sizeof path, "%s/kernels-1/%s", dir, hex);
    return under(path);
}

/* Payload `number`: n bytes that no other has. */
static inline unsigned char *payload_of(int number, size_t n)
{
    unsigned char *p = malloc(n + 1);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)((unsigned)number * 31u + i * 7u + (i >> 8));
    return p;
}

static inline void put(gn_cache *c, int number, size_t n)
{
    unsigned char *p = payload_of(number, n);
    gn_cache_put(c, parts_of(number), p, n);
    free(p);
}

/* Is it there?  What is there must be right. */
static inline bool has(gn_cache *c, int number, size_t n)
{
    unsigned char *p, *want = payload_of(number, n);
    size_t got;
    gn_key k = key_of(number);
    bool found = gn_cache_get(c, &k, "it", &p, &got);
    if (found) {
        ck_assert_uint_eq(got, n);
        ck_assert_int_eq(memcmp(p, want, n), 0);
    }
    free(p);
    free(want);
    return found;
}

static inline unsigned char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    unsigned char *p = malloc(1 << 20);
    ck_assert_ptr_nonnull(p);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

static inline void write_file(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    ck_assert_msg(f != NULL, "%s", path);
    ck_assert_uint_eq(fwrite(p, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
    chmod(path, 0600);
}

#endif
