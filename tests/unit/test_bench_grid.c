/* The axes of bench: lists as they are typed, and what is wrong with them. */
#include "cli/bench/grid.h"

#include "compile/mode.h"
#include "runtime/run/threads.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gn_arena arena;
static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static gn_grid accept(gn_grid_text t)
{
    gn_grid g;
    gn_status *s = gn_grid_parse(&arena, &t, &g);
    ck_assert_msg(!s, "%s", gn_status_message(s));
    return g;
}

static void refuse(gn_grid_text t, const char *want)
{
    gn_grid g;
    gn_status *s = gn_grid_parse(&arena, &t, &g);
    ck_assert_msg(s != NULL, "accepted, not '%s'", want);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_USAGE);
    ck_assert_msg(strstr(gn_status_message(s), want) != NULL, "'%s' does not say '%s'",
                  gn_status_message(s), want);
    gn_status_free(s);
}

static void expect(const gn_string_list *list, const char *joined)
{
    gn_buf b = {.arena = &arena};
    gn_buf_add(&b, "");
    for (uint32_t k = 0; k < list->n; k++) gn_buf_printf(&b, "%s%s", k ? " | " : "", list->p[k]);
    ck_assert_str_eq(b.p, joined);
}

START_TEST(defaults)
{
    gn_grid g = accept((gn_grid_text){0});
    expect(&g.data, "");
    ck_assert_uint_eq(g.data.n, 1);
    expect(&g.dynamic, "true");
    ck_assert_str_eq(g.baseline, "eager");
    ck_assert_uint_eq(g.threads.n, 1);
    ck_assert_int_eq(g.threads.p[0], gn_cores());
    for (uint32_t k = 0; k < g.modes.n; k++)
        ck_assert_int_ne(gn_mode_by_name(g.modes.p[k]), GN_MODE_COUNT);
    ck_assert_uint_ge(g.modes.n, 2);
}
END_TEST

START_TEST(lists)
{
    gn_grid g = accept((gn_grid_text){
        .modes = "default,3,eager", .threads = "2,1,16", .data = "a,b/c", .dynamic = "false,auto"});
    expect(&g.modes, "default | max-autotune | eager");
    ck_assert_str_eq(g.baseline, "eager");
    expect(&g.data, "a | b/c");
    expect(&g.dynamic, "false | auto");
    ck_assert_uint_eq(g.threads.n, 3);
    ck_assert_int_eq(g.threads.p[2], 16);
    g = accept((gn_grid_text){.modes = "all"});
    ck_assert_uint_eq(g.modes.n, GN_MODE_COUNT);
    g = accept((gn_grid_text){.modes = "2,default"});
    ck_assert_str_eq(g.baseline, "reduce-overhead");
}
END_TEST

START_TEST(commas_in_data)
{
    gn_string_list l = {0};
    gn_grid_split_data(&arena, "x,synthetic:nodes=5,edges=9,y,synthetic:nodes=1,z=", &l);
    expect(&l, "x | synthetic:nodes=5,edges=9 | y | synthetic:nodes=1,z=");
    l = (gn_string_list){0};
    gn_grid_split_data(&arena, "a,nodes=5,b", &l); /* no setting of anything: a name */
    expect(&l, "a | nodes=5 | b");
    char path[] = "/tmp/gnnc,grid,XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    l = (gn_string_list){0};
    gn_grid_split_data(&arena, path, &l);
    expect(&l, path);
    close(fd);
    unlink(path);
}
END_TEST

START_TEST(refusals)
{
    refuse((gn_grid_text){.modes = "eager,defualt"},
           "--modes: unknown value 'defualt'; did you mean 'default'?");
    refuse((gn_grid_text){.modes = "eager,,default"}, "--modes: an entry of the list is empty");
    refuse((gn_grid_text){.modes = "default,1"}, "--modes: 'default' is there twice");
    refuse((gn_grid_text){.modes = "4"}, "--modes: unknown value '4'");
    refuse((gn_grid_text){.data = "a,"}, "--data: an entry of the list is empty");
    refuse((gn_grid_text){.data = "a,b,a"}, "--data: 'a' is there twice");
    refuse((gn_grid_text){.dynamic = "maybe"}, "--dynamic: unknown value 'maybe'");
    refuse((gn_grid_text){.dynamic = "ture"}, "did you mean 'true'?");
    refuse((gn_grid_text){.threads = "1,two"}, "--threads: 'two' is not a whole number");
    refuse((gn_grid_text){.threads = "0"}, "--threads: 0 is below 1");
    refuse((gn_grid_text){.threads = "1,5000"}, "--threads: 5000 is above 4096");
    refuse((gn_grid_text){.threads = "2,2"}, "--threads: '2' is there twice");
    refuse((gn_grid_text){.threads = "1,"}, "--threads: '' is not a whole number");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("grid");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, defaults);
    tcase_add_test(t, lists);
    tcase_add_test(t, commas_in_data);
    tcase_add_test(t, refusals);
    return RUN_CASES("bench_grid", t);
}
