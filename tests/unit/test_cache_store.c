/* The cache's directory: what is damaged, foreign or too much in it, who may use it, and several
 * processes at once. */
/* links: cache base */
#include "cache_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static int64_t entries_of(gn_cache *c)
{
    gn_cache_stats s;
    ok(gn_cache_measure(c, &s));
    return s.entries;
}

START_TEST(what_is_put_is_there)
{
    gn_cache *c = open_disk("deep/down/here", NULL, 0);
    struct stat st;
    ck_assert(!has(c, 1, 700));
    ck_assert_int_ne(stat(under("deep"), &st), 0); /* nothing is made before something is kept */
    put(c, 1, 700);
    put(c, 2, 0);
    gn_cache_free(c);
    c = open_disk("deep/down/here", NULL, 0);
    ck_assert(has(c, 1, 700) && has(c, 2, 0) && !has(c, 3, 1));
    ck_assert_int_eq(entries_of(c), 2);
    ck_assert_int_eq(stat(file_of("deep/down/here", 1), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert_int_eq(stat(under("deep/down/here"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    ck_assert_int_eq(warnings, 0);
    gn_cache_free(c);
}
END_TEST

/* Every byte of a file, one at a time; and the file cut off everywhere. */
START_TEST(every_byte_and_length)
{
    gn_cache *c = open_disk("c", NULL, 0);
    put(c, 1, 200);
    const char *path = file_of("c", 1);
    size_t n;
    unsigned char *p = read_file(path, &n);
    for (size_t i = 0; i < n; i++) {
        p[i] ^= 0x10;
        write_file(path, p, n);
        ck_assert_msg(!has(c, 1, 200), "byte %zu", i);
        p[i] ^= 0x10;
    }
    for (size_t k = 0; k < n; k++) {
        write_file(path, p, k);
        ck_assert_msg(!has(c, 1, 200), "%zu bytes", k);
    }
    ck_assert_int_eq(warnings, 1);
    gn_cache_verdict v;
    ok(gn_cache_verify(c, NULL, NULL, &v));
    ck_assert(v.sound == 0 && v.damaged == 1);
    put(c, 1, 200); /* which heals it */
    ck_assert(has(c, 1, 200));
    free(p);
    gn_cache_free(c);
}
END_TEST

/* A sound entry under another's name. */
START_TEST(another_name)
{
    gn_cache *c = open_disk("c", NULL, 0);
    put(c, 1, 20);
    ck_assert_int_eq(rename(file_of("c", 1), file_of("c", 2)), 0);
    ck_assert(!has(c, 1, 20) && !has(c, 2, 20));
    ck_assert_ptr_nonnull(strstr(heard, "of another key"));
    gn_cache_free(c);
}
END_TEST

static void not_a_file(const char *what)
{
    gn_cache *c = open_disk("c", NULL, 0);
    warnings = 0;
    ck_assert_msg(!has(c, 1, 20), "%s", what);
    ck_assert_msg(warnings == 1, "%s: %s", what, heard);
    remove(file_of("c", 1));
    put(c, 1, 20);
    ck_assert(has(c, 1, 20));
    gn_cache_free(c);
}

START_TEST(things_that_are_no_file)
{
    gn_cache *c = open_disk("c", NULL, 0);
    put(c, 1, 20);
    gn_cache_free(c);
    ck_assert_int_eq(rename(file_of("c", 1), under("elsewhere")), 0);
    ck_assert_int_eq(symlink(under("elsewhere"), file_of("c", 1)), 0);
    not_a_file("a link");
    remove(file_of("c", 1));
    ck_assert_int_eq(mkdir(file_of("c", 1), 0700), 0);
    not_a_file("a folder");
    remove(file_of("c", 1));
    ck_assert_int_eq(mkfifo(file_of("c", 1), 0600), 0);
    not_a_file("a pipe");
    c = open_disk("c", NULL, 0);
    remove(file_of("c", 1));
    ck_assert_int_eq(mkdir(file_of("c", 1), 0700), 0);
    put(c, 1, 20); /* cannot take a folder's place */
    ck_assert(!has(c, 1, 20));
    ck_assert_ptr_nonnull(strstr(heard, "not stored"));
    gn_cache_free(c);
}
END_TEST

static void dir_refused(const char *words)
{
    gn_cache *c = open_disk("c", NULL, 0);
    gn_cache_stats s;
    warnings = 0;
    ck_assert(!has(c, 1, 20) && !has(c, 2, 20));
    put(c, 3, 20);
    ck_assert(!has(c, 3, 20));
    ck_assert_msg(warnings == 1 && strstr(heard, words), "%s: %s", words, heard);
    gn_cache_free(c);
    c = open_disk("c", NULL, 0);
    refused(gn_cache_measure(c, &s), GN_ERR_IO, words);
    gn_cache_free(c);
}

START_TEST(others_may_write)
{
    gn_cache *c = open_disk("c", NULL, 0);
    put(c, 1, 20);
    gn_cache_free(c);
    ck_assert_int_eq(chmod(under("c"), 0777), 0);
    dir_refused("mode 777");
    ck_assert_int_eq(chmod(under("c"), 0720), 0);
    dir_refused("mode 720");
    ck_assert_int_eq(chmod(under("c"), 0755), 0);
    ck_assert_int_eq(chmod(under("c/kernels-1"), 0702), 0);
    dir_refused("mode 702");
    ck_assert_int_eq(chmod(under("c/kernels-1"), 0755), 0);
    ck_assert_int_eq(chmod(file_of("c", 1), 0666), 0);
    c = open_disk("c", NULL, 0);
    ck_assert(!has(c, 1, 20));
    ck_assert_ptr_nonnull(strstr(heard, "mode 666"));
    ck_assert_int_eq(chmod(file_of("c", 1), 0444), 0);
    ck_assert(has(c, 1, 20));
    gn_cache_free(c);
}
END_TEST

/* Needs the superuser, who alone can give files away. */
START_TEST(someone_else_owns)
{
    if (geteuid() != 0) return;
    gn_cache *c = open_disk("c", NULL, 0);
    put(c, 1, 20);
    ck_assert_int_eq(chown(file_of("c", 1), 4711, 4711), 0);
    ck_assert(!has(c, 1, 20));
    ck_assert_ptr_nonnull(strstr(heard, "user 4711"));
    put(c, 1, 20); /* takes its place */
    ck_assert(has(c, 1, 20));
    gn_cache_free(c);
    ck_assert_int_eq(chown(under("c/kernels-1"), 4711, 4711), 0);
    dir_refused("user 4711");
    ck_assert_int_eq(chown(under("c/kernels-1"), 0, 0), 0);
    ck_assert_int_eq(chown(under("c"), 4711, 4711), 0);
    dir_refused("user 4711");
    /* As a base too. */
    c = open_disk("mine", "c", 0);
    ck_assert(!has(c, 1, 20));
    gn_cache_free(c);
}
END_TEST

START_TEST(base_and_overlay)
{
    gn_cache *c = open_disk("base", NULL, 0);
    put(c, 1, 100);
    put(c, 2, 100);
    gn_cache_free(c);
    ck_assert_int_eq(chmod(under("base/kernels-1"), 0555), 0);
    c = open_disk("over", "base", 0);
    ck_assert(has(c, 1, 100) && has(c, 2, 100) && !has(c, 3, 100));
    put(c, 3, 100);
    ck_assert(has(c, 3, 100));
    ck_assert_int_eq(gn_cache_counted(c).hits_base, 2);
    gn_cache_stats s;
    ok(gn_cache_measure(c, &s));
    ck_assert(s.entries == 1 && s.base_entries == 2);
    int64_t n, bytes;
    ok(gn_cache_clear(c, &n, &bytes));
    ck_assert_int_eq(n, 1);
    ck_assert(has(c, 1, 100) && !has(c, 3, 100));
    gn_cache_free(c);
    c = open_disk(NULL, "base", 0); /* nothing to write to */
    put(c, 4, 100);
    ck_assert(has(c, 1, 100) && !has(c, 4, 100));
    gn_cache_free(c);
    ck_assert_int_eq(warnings, 0);
}
END_TEST

/* Nowhere to write: it works without. */
START_TEST(no_place)
{
    static const char *const places[] = {"/proc/no/such/place", "/dev/null/x", "/dev/null"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        gn_cache *c;
        gn_cache_options o = {.dir = places[i], .memory_bytes = -1, .say = hear, .notes = true};
        ok(gn_cache_new(&o, &c));
        ck_assert(!has(c, 1, 10));
        put(c, 1, 10);
        ck_assert(!has(c, 1, 10));
        ck_assert_ptr_null(gn_claims_new(c));
        gn_cache_free(c);
    }
}
END_TEST

static int files_in(const char *dir)
{
    DIR *d = opendir(under(dir));
    int n = 0;
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || !strncmp(e->d_name, ".new", 4);
    closedir(d);
    return n;
}

/* Writing fails half way, as on a full disk: nothing is left of it. */
START_TEST(no_space)
{
    gn_cache *c = open_disk("c", NULL, 0);
    put(c, 1, 100);
    int before = files_in("c/kernels-1");
    struct rlimit full = {1000, 1000};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
    put(c, 2, 5000);
    ck_assert(!has(c, 2, 5000) && has(c, 1, 100));
    ck_assert_int_eq(files_in("c/kernels-1"), before);
    ck_assert_ptr_nonnull(strstr(heard, "not stored"));
    gn_cache_free(c);
}
END_TEST

static void age(const char *path, int seconds)
{
    struct timespec t[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, t, 0), 0);
}

START_TEST(the_oldest_go)
{
    enum { PAGES = 20, PAGE = 4096 };
    gn_cache *c = open_disk("c", NULL, PAGES * PAGE);
    for (int k = 0; k < PAGES; k++) {
        put(c, k, 1000);
        age(file_of("c", k), 10000 - k);
    }
    ck_assert_int_eq(entries_of(c), PAGES);
    ck_assert(has(c, 0, 1000)); /* used: no longer the oldest */
    put(c, 100, 1000);
    ck_assert(has(c, 0, 1000) && has(c, 100, 1000) && has(c, PAGES - 1, 1000) && !has(c, 1, 1000) &&
              !has(c, 3, 1000));
    ck_assert_int_eq(entries_of(c), PAGES / 5 * 4);
    for (int k = 200; k < 300; k++) {
        put(c, k, 1000);
        ck_assert(has(c, k, 1000));
        ck_assert_int_le(entries_of(c), PAGES);
    }
    put(c, 400, PAGES * PAGE); /* larger than all may be */
    ck_assert(!has(c, 400, PAGES * PAGE) && has(c, 299, 1000));
    /* the size is forgotten: counted again */
    ck_assert_int_eq(truncate(under("c/kernels-1/lock"), 3), 0);
    for (int k = 300; k < 330; k++) {
        put(c, k, 1000);
        ck_assert_int_le(entries_of(c), PAGES);
    }
    write_file(under("c/kernels-1/lock"), "GNNSIZE1\xff\xff\xff\xff\xff\xff\xff\x7f", 16);
    put(c, 500, 1000);
    ck_assert(has(c, 500, 1000));
    gn_cache_free(c);
}
END_TEST

/* What killed processes left, and what is not the cache's. */
START_TEST(left_behind)
{
    gn_cache *c = open_disk("c", NULL, 0);
    put(c, 1, 10);
    write_file(under("c/kernels-1/.new-0123456789abcdef"), "x", 1);
    write_file(under("c/kernels-1/.new-0000000000000000"), "x", 1);
    write_file(under("c/kernels-1/notes.txt"), "x", 1);
    age(under("c/kernels-1/.new-0123456789abcdef"), 100000);
    ck_assert_int_eq(entries_of(c), 1);
    ck_assert_int_ne(access(under("c/kernels-1/.new-0123456789abcdef"), F_OK), 0);
    ck_assert_int_eq(access(under("c/kernels-1/.new-0000000000000000"), F_OK), 0);
    int64_t n, bytes;
    ok(gn_cache_clear(c, &n, &bytes));
    ck_assert_int_eq(n, 1);
    ck_assert_int_ne(access(under("c/kernels-1/.new-0000000000000000"), F_OK), 0);
    ck_assert_int_eq(access(under("c/kernels-1/notes.txt"), F_OK), 0);
    gn_cache_free(c);
}
END_TEST

START_TEST(why_it_missed)
{
    gn_cache *c = open_disk("c", NULL, 0);
    gn_cache_explain(c, "a", parts_of(1));
    ck_assert_ptr_nonnull(strstr(heard, "a: the cache is empty"));
    put(c, 1, 10);
    put(c, 2, 10);
    gn_cache_explain(c, "b", parts_of(3));
    ck_assert_ptr_nonnull(strstr(heard, "b: its kernel is new"));
    gn_cache_explain(c, "c", "gnnc 1\ntarget another\nkernel 2\n");
    ck_assert_ptr_nonnull(strstr(heard, "c: target is 'another', was 'this one'\n"));
    gn_cache_explain(c, "d", "gnnc 2\noption x\nkernel 2\n");
    ck_assert_ptr_nonnull(strstr(heard, "d: gnnc is '2', was '1'; option is 'x', was ''\n"));
    gn_cache_free(c);
}
END_TEST

/* Claims --------------------------------------------------------------------------------------- */

START_TEST(one_claims)
{
    gn_cache *c = open_disk("c", NULL, 0);
    gn_key k = key_of(1), other = key_of(2);
    gn_claims *a = gn_claims_new(c), *b = gn_claims_new(c);
    ck_assert(a && b);
    ck_assert(gn_claims_try(a, &k) && !gn_claims_try(b, &k) && gn_claims_try(b, &other));
    ck_assert(gn_claims_try(a, &k)); /* it is its own */
    gn_claims_wait(a, &k);
    gn_claims_drop(a);
    ck_assert(gn_claims_try(b, &k) && !gn_claims_try(a, &k) && !gn_claims_try(a, &other));
    gn_claims_wait(b, &k);
    gn_claims_free(b);
    ck_assert(gn_claims_try(a, &k));
    gn_claims_free(a);
    gn_claims_free(NULL);
    ck_assert(gn_claims_try(NULL, &k));
    gn_claims_wait(NULL, &k);
    gn_cache_free(c);
}
END_TEST

START_TEST(the_dead_claim_nothing)
{
    gn_cache *c = open_disk("c", NULL, 0);
    gn_key k = key_of(1);
    int told[2];
    char byte;
    put(c, 9, 1);
    ck_assert_int_eq(pipe(told), 0);
    pid_t pid = fork();
    if (pid == 0) {
        gn_claims *m = gn_claims_new(c);
        bool mine = m && gn_claims_try(m, &k);
        if (write(told[1], mine ? "y" : "n", 1) == 1)
            for (;;) pause();
        _exit(1);
    }
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'y');
    gn_claims *m = gn_claims_new(c);
    ck_assert(m && !gn_claims_try(m, &k));
    kill(pid, SIGKILL);
    gn_claims_wait(m, &k);
    ck_assert(gn_claims_try(m, &k));
    waitpid(pid, NULL, 0);
    gn_claims_free(m);
    gn_cache_free(c);
}
END_TEST

/* Everybody wants the same things: each is made once. */
enum { WANTED = 12, WORKERS = 8 };

static void work(int log)
{
    gn_cache *c = open_disk("c", NULL, 0);
    for (bool missing = true; missing;) {
        gn_claims *m = gn_claims_new(c);
        missing = false;
        for (int k = 0; k < WANTED; k++) {
            gn_key key = key_of(k);
            if (has(c, k, 300)) continue;
            missing = true;
            if (!gn_claims_try(m, &key) || has(c, k, 300)) continue;
            char made = (char)('a' + k);
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
            if (write(log, &made, 1) != 1) _exit(3);
            put(c, k, 300);
        }
        gn_claims_free(m);
    }
    gn_cache_free(c);
    _exit(0);
}

START_TEST(made_once)
{
    int log = open(under("log"), O_RDWR | O_CREAT | O_APPEND, 0600);
    pid_t pid[WORKERS];
    char made[1000];
    for (int w = 0; w < WORKERS; w++)
        if ((pid[w] = fork()) == 0) work(log);
    for (int w = 0; w < WORKERS; w++) {
        int status;
        waitpid(pid[w], &status, 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ck_assert_int_eq(pread(log, made, sizeof made, 0), WANTED);
    for (int k = 0; k < WANTED; k++) ck_assert_ptr_nonnull(memchr(made, 'a' + k, WANTED));
    close(log);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("store");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, make_folder, drop_folder);
    tcase_add_test(t, what_is_put_is_there);
    tcase_add_test(t, every_byte_and_length);
    tcase_add_test(t, another_name);
    tcase_add_test(t, things_that_are_no_file);
    tcase_add_test(t, others_may_write);
    tcase_add_test(t, someone_else_owns);
    tcase_add_test(t, base_and_overlay);
    tcase_add_test(t, no_place);
    tcase_add_test(t, the_oldest_go);
    tcase_add_test(t, left_behind);
    tcase_add_test(t, why_it_missed);
    tcase_add_test(t, one_claims);
    tcase_add_test(t, the_dead_claim_nothing);
    tcase_add_test(t, made_once);
    tcase_add_test(t, no_space); /* last: its limit stays where tests are not forked */
    return RUN_CASES("cache_store", t);
}
