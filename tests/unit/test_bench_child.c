/* Processes of bench: how each kind of end is told, with programs that end that way. */
/* timeout: 120 */
#include "cli/bench/child.h"

#include "compile/compile.h"
#include "support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gn_arena arena;

static gn_child shell(const char *script, double timeout_s, const volatile sig_atomic_t *stop)
{
    char *const argv[] = {gn_arena_strdup(&arena, "/bin/sh"), gn_arena_strdup(&arena, "-c"),
                          gn_arena_strdup(&arena, script), NULL};
    gn_child_options o = {.argv = argv, .timeout_s = timeout_s, .stop = stop};
    gn_child c;
    ck_assert_ptr_null(gn_child_run(&arena, &o, &c));
    return c;
}

START_TEST(exits)
{
    gn_child c = shell("echo not me; exit 0", 30, NULL);
    ck_assert_int_eq(c.end, GN_CHILD_EXITED);
    ck_assert_int_eq(c.status, 0);
    ck_assert_str_eq(c.last_line, ""); /* standard output is nobody's */
    ck_assert(c.rss_bytes > 0 && c.ms > 0);
    c = shell("echo first >&2; echo last >&2; echo >&2; exit 3", 30, NULL);
    ck_assert_int_eq(c.end, GN_CHILD_EXITED);
    ck_assert_int_eq(c.status, 3);
    ck_assert_str_eq(c.last_line, "last");
}
END_TEST

START_TEST(signals)
{
    const struct {
        const char *script;
        int number;
    } all[] = {{"echo oops >&2; kill -SEGV $$", SIGSEGV},
               {"kill -ABRT $$", SIGABRT},
               {"kill -KILL $$", SIGKILL}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        gn_child c = shell(all[k].script, 30, NULL);
        ck_assert_int_eq(c.end, GN_CHILD_SIGNALLED);
        ck_assert_int_eq(c.status, all[k].number);
        ck_assert_str_eq(c.last_line, k ? "" : "oops");
    }
}
END_TEST

START_TEST(time_is_over)
{
    double begin = gn_now_ms();
    gn_child c = shell("echo at it >&2; sleep 60", 0.3, NULL);
    ck_assert_int_eq(c.end, GN_CHILD_TIMEOUT);
    ck_assert_str_eq(c.last_line, "at it");
    ck_assert(gn_now_ms() - begin < 20e3);
    /* One that does not listen to signals, and has closed what it would say something on. */
    c = shell("trap '' TERM INT HUP; exec 2>&-; while :; do sleep 60; done", 0.3, NULL);
    ck_assert_int_eq(c.end, GN_CHILD_TIMEOUT);
    ck_assert(gn_now_ms() - begin < 40e3);
}
END_TEST

/* What it started ends with it, and does not keep us waiting for its standard error. */
START_TEST(children_of_the_child)
{
    char path[] = "/tmp/gnnc-child-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    double begin = gn_now_ms();
    gn_child c = shell(gn_arena_printf(&arena, "sleep 60 & echo $! > %s; exit 0", path), 30, NULL);
    ck_assert_int_eq(c.end, GN_CHILD_EXITED);
    ck_assert(gn_now_ms() - begin < 20e3);
    char text[32] = {0};
    ck_assert_int_gt((int)read(fd, text, sizeof text - 1), 0);
    close(fd);
    unlink(path);
    bool gone = false;
    for (int k = 0; k < 500 && !gone; k++) { /* a zombie until somebody has counted it */
        char state[64], word = 'Z';
        snprintf(state, sizeof state, "/proc/%ld/stat", strtol(text, NULL, 10));
        FILE *f = fopen(state, "r");
        if (f) {
            if (fscanf(f, "%*d %*s %c", &word) != 1) word = 'Z';
            fclose(f);
        }
        gone = word == 'Z' || word == 'X';
        if (!gone) usleep(10000);
    }
    ck_assert(gone);
}
END_TEST

START_TEST(stopped)
{
    volatile sig_atomic_t stop = 1;
    gn_child c = shell("sleep 60", 30, &stop);
    ck_assert_int_eq(c.end, GN_CHILD_STOPPED);
    ck_assert(c.ms < 20e3);
}
END_TEST

START_TEST(not_there)
{
    char *const argv[] = {gn_arena_strdup(&arena, "/nowhere/to/be/found"), NULL};
    gn_child_options o = {.argv = argv, .timeout_s = 30};
    gn_child c;
    ck_assert_ptr_null(gn_child_run(&arena, &o, &c));
    ck_assert_int_eq(c.end, GN_CHILD_EXITED);
    ck_assert_int_eq(c.status, 127);
    ck_assert_str_eq(c.last_line, "the program cannot be started");
}
END_TEST

/* Of much that is said, the last line; of a long line, its end; nothing that a terminal would
 * obey. */
START_TEST(much_is_said)
{
    gn_child c = shell("i=0; while [ $i -lt 4000 ]; do echo \"line $i of many that are said "
                       "here\"; i=$((i + 1)); done >&2",
                       60, NULL);
    ck_assert_str_eq(c.last_line, "line 3999 of many that are said here");
    c = shell("head -c 100000 /dev/zero | tr '\\0' x >&2; echo END >&2", 60, NULL);
    ck_assert_uint_eq(strlen(c.last_line), 500);
    ck_assert_str_eq(c.last_line + 497, "END");
    /* a caret says nothing by itself */
    c = shell("echo 'm.gnn:1: error: no' >&2; echo '  |  ^' >&2", 60, NULL);
    ck_assert_str_eq(c.last_line, "m.gnn:1: error: no");
    c = shell("printf 'red \\033[31m\\a\\n' >&2", 60, NULL);
    for (const char *s = c.last_line; *s; s++) ck_assert_int_ge((unsigned char)*s, ' ');
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("child");
    tcase_set_timeout(t, 100);
    tcase_add_test(t, exits);
    tcase_add_test(t, signals);
    tcase_add_test(t, time_is_over);
    tcase_add_test(t, children_of_the_child);
    tcase_add_test(t, stopped);
    tcase_add_test(t, not_there);
    tcase_add_test(t, much_is_said);
    gn_arena_init(&arena);
    int failed = RUN_CASES("bench_child", t);
    gn_arena_free(&arena);
    return failed;
}
