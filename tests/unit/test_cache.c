/* The cache without a disk: SHA-256, entries byte by byte, memory, environment, archives. */
/* links: cache base */
#include "cache/lru.h"
#include "cache/sha256_impl.h"
#include "cache_test.h"

static void digest_is(const char *text, size_t n, const char *want)
{
    unsigned char d[GN_SHA256_BYTES];
    char hex[GN_SHA256_HEX + 1];
    gn_sha256_of(text, n, d);
    gn_sha256_hex(d, hex);
    ck_assert_str_eq(hex, want);
}

/* FIPS 180-4's examples, and NIST's of a million. */
START_TEST(sha256_vectors)
{
    static char many[1000000];
    digest_is("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_is("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    digest_is("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmn"
              "opqrlmnopqrsmnopqrst"
              "nopqrstu",
              112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    memset(many, 'a', sizeof many);
    digest_is(many, sizeof many,
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
END_TEST

/* However the bytes are handed over. */
START_TEST(sha256_pieces)
{
    unsigned char text[300], whole[GN_SHA256_BYTES], pieces[GN_SHA256_BYTES];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (unsigned char)(i * 37);
    for (size_t n = 0; n <= 200; n++) {
        gn_sha256_of(text, n, whole);
        for (size_t step = 1; step < 130; step += 9) {
            gn_sha256 s;
            gn_sha256_init(&s);
            for (size_t at = 0; at < n; at += step)
                gn_sha256_add(&s, text + at, n - at < step ? n - at : step);
            gn_sha256_end(&s, pieces);
            ck_assert_int_eq(memcmp(whole, pieces, sizeof whole), 0);
        }
    }
}
END_TEST

/* With the machine's own instructions, where it has them, and without: the same. */
START_TEST(sha256_ways)
{
    enum { BLOCKS = 9 };
    static unsigned char text[BLOCKS * 64 + 1];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (unsigned char)(i * i * 7 + i / 5);
    if (!gn_sha256_has_x86()) return;
    for (size_t n = 0; n <= BLOCKS; n++) {
        gn_sha256 a, b;
        gn_sha256_init(&a);
        gn_sha256_init(&b);
        gn_sha256_plain(a.h, text + 1, n);
        gn_sha256_x86(b.h, text + 1, n);
        ck_assert_int_eq(memcmp(a.h, b.h, sizeof a.h), 0);
    }
}
END_TEST

static unsigned char *make_entry(size_t payload, size_t *n)
{
    const char *parts = parts_of(1);
    unsigned char *bytes = payload_of(1, payload);
    *n = gn_entry_size(strlen(parts), payload);
    ck_assert_uint_eq(*n, GN_ENTRY_HEAD + strlen(parts) + payload);
    unsigned char *p = malloc(*n);
    ck_assert_ptr_nonnull(p);
    gn_entry_write(parts, strlen(parts), bytes, payload, p);
    free(bytes);
    return p;
}

START_TEST(entry_round_trip)
{
    static const size_t sizes[] = {0, 1, 63, 64, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n;
        gn_entry e;
        unsigned char *p = make_entry(sizes[i], &n), *want = payload_of(1, sizes[i]);
        const char *why = gn_entry_read(p, n, &e);
        ck_assert_msg(!why, "%s", why);
        gn_key k = key_of(1);
        ck_assert(gn_key_same(&e.key, &k));
        ck_assert_uint_eq(e.n_parts, strlen(parts_of(1)));
        ck_assert_int_eq(memcmp(e.parts, parts_of(1), e.n_parts), 0);
        ck_assert_uint_eq(e.n, sizes[i]);
        ck_assert_int_eq(memcmp(e.payload, want, e.n), 0);
        free(p);
        free(want);
    }
    ck_assert_uint_eq(gn_entry_size(GN_ENTRY_MAX_PARTS + 1, 1), 0);
    ck_assert_uint_eq(gn_entry_size(1, (size_t)GN_ENTRY_MAX_PAYLOAD + 1), 0);
    ck_assert_uint_eq(gn_entry_size(1, SIZE_MAX), 0);
}
END_TEST

/* Reads an exact copy, so that a read past its end is one past an allocation. */
static const char *read_copy(const unsigned char *p, size_t n)
{
    gn_entry e;
    unsigned char *exact = malloc(n ? n : 1);
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, p, n);
    const char *why = gn_entry_read(exact, n, &e);
    free(exact);
    return why;
}

START_TEST(entry_every_byte)
{
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    size_t n;
    unsigned char *p = make_entry(300, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t f = 0; f < sizeof flips; f++) {
            p[i] ^= flips[f];
            ck_assert_msg(read_copy(p, n) != NULL, "byte %zu", i);
            p[i] ^= flips[f];
        }
    ck_assert_ptr_null(read_copy(p, n));
    free(p);
}
END_TEST

START_TEST(entry_every_length)
{
    size_t n;
    unsigned char *p = make_entry(300, &n);
    for (size_t k = 0; k < n; k++) ck_assert_msg(read_copy(p, k) != NULL, "%zu of %zu bytes", k, n);
    unsigned char *more = calloc(1, n + 64);
    ck_assert_ptr_nonnull(more);
    memcpy(more, p, n);
    ck_assert_str_eq(read_copy(more, n + 1), "something follows it");
    ck_assert_str_eq(read_copy(more, n + 64), "something follows it");
    free(more);
    free(p);
}
END_TEST

/* Bytes that say they are some other key's are not an entry, even with a checksum that fits. */
START_TEST(entry_of_another_key)
{
    size_t n;
    unsigned char *p = make_entry(10, &n);
    gn_sha256 s;
    p[32] ^= 1;
    gn_sha256_init(&s);
    gn_sha256_add(&s, p, 64);
    gn_sha256_add(&s, p + GN_ENTRY_HEAD, n - GN_ENTRY_HEAD);
    gn_sha256_end(&s, p + 64);
    ck_assert_str_eq(read_copy(p, n), "its key does not fit");
    free(p);
}
END_TEST

START_TEST(memory_keeps_the_newest)
{
    enum { N = 100, BYTES = 1000 };
    const unsigned char *p;
    size_t n;
    gn_memo *m = gn_memo_new(10 * (BYTES + 200));
    ck_assert_ptr_nonnull(m);
    for (int k = 0; k < N; k++) {
        unsigned char *bytes = payload_of(k, BYTES);
        gn_key key = key_of(k), first = key_of(0);
        gn_memo_put(m, &key, bytes, BYTES);
        ck_assert_msg(gn_memo_get(m, &first, &p, &n), "the one that is used goes at %d", k);
        ck_assert_int_eq(p[1], 7);
        ck_assert_uint_le(gn_memo_bytes(m), 10 * (BYTES + 200));
        free(bytes);
    }
    ck_assert_uint_ge(gn_memo_count(m), 8);
    int found = 0;
    for (int k = 0; k < N; k++) {
        gn_key key = key_of(k);
        bool there = gn_memo_get(m, &key, &p, &n);
        ck_assert_msg(there == (k == 0 || k > N - (int)gn_memo_count(m)), "%d", k);
        found += there;
    }
    ck_assert_uint_eq((size_t)found, gn_memo_count(m));
    gn_key last = key_of(N - 1);
    unsigned char *other = payload_of(7, 10);
    gn_memo_put(m, &last, other, 10);
    ck_assert(gn_memo_get(m, &last, &p, &n) && n == 10 && p[1] == other[1]);
    gn_memo_put(m, &last, other, SIZE_MAX); /* too long: not kept, and the old one is no longer
                                               right */
    ck_assert(!gn_memo_get(m, &last, &p, &n));
    free(other);
    gn_memo_free(m);
    gn_memo_free(NULL);
}
END_TEST

/* A cache in memory alone. */
START_TEST(memory_alone)
{
    gn_cache *c;
    gn_cache_options o = {.memory_bytes = 100000};
    ok(gn_cache_new(&o, &c));
    ck_assert(!has(c, 1, 500));
    put(c, 1, 500);
    ck_assert(has(c, 1, 500));
    ck_assert_ptr_null(gn_claims_new(c));
    gn_cache_counts n = gn_cache_counted(c);
    ck_assert_int_eq(n.hits_memory, 1);
    ck_assert_int_eq(n.misses, 1);
    ck_assert_int_eq(n.memory_entries, 1);
    int64_t entries, bytes;
    ok(gn_cache_clear(c, &entries, &bytes));
    ck_assert(!has(c, 1, 500));
    refused(gn_cache_import(c, "/dev/null", &entries, &bytes), GN_ERR_IO, "no directory");
    gn_cache_free(c);
    gn_cache_free(NULL);
}
END_TEST

START_TEST(sizes)
{
    int64_t n = 0;
    static const char *const wrong[] = {"",      "0", "x",  "-1",        "12x", "1KK",
                                        "1e999", "K", " 1", "99999999T", "nan"};
    ck_assert(gn_cache_parse_size("1", &n) && n == 1);
    ck_assert(gn_cache_parse_size("64K", &n) && n == 65536);
    ck_assert(gn_cache_parse_size("1.5G", &n) && n == 1610612736);
    ck_assert(gn_cache_parse_size("256M", &n) && n == 256 << 20);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!gn_cache_parse_size(wrong[i], &n), "%s", wrong[i]);
}
END_TEST

static gn_cache_options environment(gn_arena *a, bool *on)
{
    gn_cache_options o = {0};
    ok(gn_cache_environment(a, &o, on));
    return o;
}

START_TEST(the_environment)
{
    gn_arena a;
    bool on;
    static const char *const all[] = {"GNNC_CACHE",      "GNNC_CACHE_DIR", "GNNC_CACHE_BASE",
                                      "GNNC_CACHE_SIZE", "XDG_CACHE_HOME", "HOME"};
    gn_arena_init(&a);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) unsetenv(all[i]);
    gn_cache_options o = environment(&a, &on);
    ck_assert(on && !o.dir && !o.base && !o.disk_bytes);
    setenv("HOME", "/h/x", 1);
    ck_assert_str_eq(environment(&a, &on).dir, "/h/x/.cache/gnnc");
    setenv("XDG_CACHE_HOME", "relative", 1);
    ck_assert_str_eq(environment(&a, &on).dir, "/h/x/.cache/gnnc");
    setenv("XDG_CACHE_HOME", "/var/x", 1);
    ck_assert_str_eq(environment(&a, &on).dir, "/var/x/gnnc");
    setenv("GNNC_CACHE_DIR", "here", 1);
    setenv("GNNC_CACHE_BASE", "/base", 1);
    setenv("GNNC_CACHE_SIZE", "10M", 1);
    setenv("GNNC_CACHE", "0", 1);
    o = environment(&a, &on);
    ck_assert_str_eq(o.dir, "here");
    ck_assert_str_eq(o.base, "/base");
    ck_assert_int_eq(o.disk_bytes, 10 << 20);
    ck_assert(!on);
    setenv("GNNC_CACHE", "off", 1);
    environment(&a, &on);
    ck_assert(!on);
    setenv("GNNC_CACHE", "1", 1);
    environment(&a, &on);
    ck_assert(on);
    setenv("GNNC_CACHE_SIZE", "ten", 1);
    refused(gn_cache_environment(&a, &o, &on), GN_ERR_USAGE, "'ten' is not a size");
    gn_arena_free(&a);
}
END_TEST

/* Archives ------------------------------------------------------------------------------------- */

static gn_status *import_bytes(const unsigned char *p, size_t n, int64_t *entries, int64_t *known)
{
    gn_cache *c = open_disk("to", NULL, 0);
    write_file(under("archive"), p, n);
    gn_status *s = gn_cache_import(c, under("archive"), entries, known);
    gn_cache_verdict v;
    ok(gn_cache_verify(c, NULL, NULL, &v));
    ck_assert_int_eq(v.damaged, 0);
    for (int k = 0; k < 3; k++) has(c, k, 40); /* right or not there */
    gn_cache_free(c);
    return s;
}

static unsigned char *export_three(size_t *n)
{
    int64_t entries, bytes;
    gn_cache *c = open_disk("from", NULL, 0);
    for (int k = 0; k < 3; k++) put(c, k, 40);
    ok(gn_cache_export(c, under("archive"), &entries, &bytes));
    ck_assert_int_eq(entries, 3);
    unsigned char *p = read_file(under("archive"), n);
    ck_assert_uint_eq(*n, (size_t)bytes);
    gn_cache_free(c);
    return p;
}

START_TEST(archive_round_trip)
{
    size_t n;
    int64_t entries, known;
    make_folder();
    unsigned char *p = export_three(&n);
    ok(import_bytes(p, n, &entries, &known));
    ck_assert(entries == 3 && known == 0);
    ok(import_bytes(p, n, &entries, &known));
    ck_assert(entries == 0 && known == 3);
    gn_cache *c = open_disk("to", NULL, 0);
    for (int k = 0; k < 3; k++) ck_assert(has(c, k, 40));
    refused(gn_cache_import(c, under("nothing"), &entries, &known), GN_ERR_IO, "No such file");
    refused(gn_cache_export(c, under("no/such/folder"), &entries, &known), GN_ERR_IO,
            "No such file");
    gn_cache_free(c);
    free(p);
    drop_folder();
}
END_TEST

START_TEST(archive_hostile)
{
    size_t n;
    int64_t entries, known;
    make_folder();
    unsigned char *p = export_three(&n);
    size_t one = (n - 8) / 3;
    for (size_t k = 0; k < n; k++) { /* cut off anywhere; between entries it is a shorter archive */
        gn_status *s = import_bytes(p, k, &entries, &known);
        ck_assert_msg((s == NULL) == (k >= 8 && (k - 8) % one == 0), "%zu: %s", k,
                      gn_status_message(s));
        if (s) ck_assert_int_eq(s->code, GN_ERR_DATA);
        gn_status_free(s);
        remove_tree(under("to"));
    }
    for (size_t k = 0; k < n; k++) {
        p[k] ^= 0x41;
        refused(import_bytes(p, n, &entries, &known), GN_ERR_DATA, "");
        p[k] ^= 0x41;
        remove_tree(under("to"));
    }
    memset(p + 8 + 16, 0xff, 8); /* a length that no memory has */
    refused(import_bytes(p, n, &entries, &known), GN_ERR_DATA, "header");
    refused(import_bytes((const unsigned char *)"#!/bin/sh\n", 10, &entries, &known), GN_ERR_DATA,
            "no archive");
    free(p);
    drop_folder();
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cache");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, sha256_vectors);
    tcase_add_test(t, sha256_pieces);
    tcase_add_test(t, sha256_ways);
    tcase_add_test(t, entry_round_trip);
    tcase_add_test(t, entry_every_byte);
    tcase_add_test(t, entry_every_length);
    tcase_add_test(t, entry_of_another_key);
    tcase_add_test(t, memory_keeps_the_newest);
    tcase_add_test(t, memory_alone);
    tcase_add_test(t, sizes);
    tcase_add_test(t, the_environment);
    tcase_add_test(t, archive_round_trip);
    tcase_add_test(t, archive_hostile);
    return RUN_CASES("cache", t);
}
