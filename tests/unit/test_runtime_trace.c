/* Traces: what threads note, and what that says of launches. */
/* links: runtime base */
#include "runtime/run/trace.h"
#include "support/suite.h"

#include <check.h>

enum { THREADS = 2, LAUNCHES = 3 };
static gn_trace *t;

static void setup(void)
{
    gn_status *s = gn_trace_new(THREADS, LAUNCHES, &t);
    ck_assert(!s);
    gn_trace_begin(t);
    t->counter = false;
    t->first = t->begin = 1000;
}
static void teardown(void) { gn_trace_free(t); }

/* Nanoseconds from `first` on, noted by a counter that goes at `rate` a nanosecond. */
static void end_at(int64_t ns, int64_t rate)
{
    t->end = t->begin + ns;
    t->last = t->first + ns * rate;
    gn_trace_settle(t);
}

START_TEST(ranges_of_a_launch_are_one_event)
{
    gn_trace_note(t, 0, 1, false, 1000, 1010);
    gn_trace_note(t, 0, 1, false, 1020, 1030);
    gn_trace_note(t, 0, 2, false, 1030, 1040);
    gn_trace_note(t, 0, 2, true, 1040, 1050);
    end_at(60, 1);
    ck_assert_int_eq(t->thread[0].n, 3);
    ck_assert_int_eq(t->thread[1].n, 0);
    ck_assert_int_eq(t->thread[0].event[0].begin, 0);
    ck_assert_int_eq(t->thread[0].event[0].end, 30);
    ck_assert_int_eq(t->thread[0].event[0].busy, 20);
    ck_assert(t->thread[0].event[2].wait);
}
END_TEST

START_TEST(ticks_become_nanoseconds)
{
    gn_trace_note(t, 0, 0, false, 1000, 1000 + 3 * 40);
    end_at(50, 3);
    ck_assert_int_eq(t->thread[0].event[0].end, 40);
    gn_trace_settle(t); /* once */
    ck_assert_int_eq(t->thread[0].event[0].end, 40);
}
END_TEST

START_TEST(events_without_room_are_counted)
{
    for (int64_t k = 0; k < t->room; k++) gn_trace_note(t, 1, (int)(k % 2), false, k, k + 1);
    for (int64_t k = 0; k < 5; k++) gn_trace_note(t, 1, 2, false, t->room + k, t->room + k + 1);
    ck_assert_int_eq(t->thread[1].n, t->room);
    ck_assert_int_eq(t->thread[1].lost, 5);
}
END_TEST

/* Launch by launch: a thread is idle while the other one is in a launch; nobody is in one before
 * 10 and after 50. */
START_TEST(idle_threads_wait_for_the_launch)
{
    gn_trace_time time[LAUNCHES];
    t->span[1] = (gn_trace_span){1000, 1060};
    gn_trace_note(t, 0, 1, false, 1010, 1050);
    gn_trace_note(t, 1, 1, false, 1020, 1030);
    end_at(60, 1);
    gn_trace_times(t, time);
    ck_assert_double_eq(time[1].busy, 50);
    ck_assert_double_eq(time[1].wait, 30);
    ck_assert_double_eq(time[0].busy + time[0].wait + time[2].busy + time[2].wait, 0);
}
END_TEST

/* In a region: the wait for launch 2 is launch 1's while that runs, and nobody's afterwards. */
START_TEST(waits_are_of_what_runs_meanwhile)
{
    gn_trace_time time[LAUNCHES];
    t->region = true;
    gn_trace_note(t, 0, 0, false, 1000, 1010);
    gn_trace_note(t, 0, 1, false, 1010, 1040);
    gn_trace_note(t, 1, 0, false, 1000, 1020);
    gn_trace_note(t, 1, 2, true, 1020, 1100);
    end_at(100, 1);
    gn_trace_times(t, time);
    ck_assert_double_eq(time[0].busy, 30);
    ck_assert_double_eq(time[0].wait, 0);
    ck_assert_double_eq(time[1].busy, 30);
    ck_assert_double_eq(time[1].wait, 20);
    ck_assert_double_eq(time[2].wait, 0);
}
END_TEST

/* Many waits of one thread, each beside an event of the other and a part of the next. */
START_TEST(every_wait_finds_what_runs_beside_it)
{
    enum { WAITS = 8 };
    gn_trace_time time[LAUNCHES];
    t->region = true;
    for (int k = 0; k < WAITS; k++) {
        int64_t at = 1000 + 100 * k;
        gn_trace_note(t, 0, 0, false, at, at + 40);
        gn_trace_note(t, 0, 1, false, at + 40, at + 90);
        gn_trace_note(t, 1, 2, false, at, at + 30);
        gn_trace_note(t, 1, 2, true, at + 30, at + 60);
    }
    end_at(100 * WAITS, 1);
    gn_trace_times(t, time);
    ck_assert_double_eq(time[0].wait, 10 * WAITS);
    ck_assert_double_eq(time[1].wait, 20 * WAITS);
    ck_assert_double_eq(time[2].wait, 0);
}
END_TEST

/* Launch by launch two threads are in one by turns and at once; each nanosecond counts once. */
START_TEST(overlapping_ranges_are_covered_once)
{
    gn_trace_time time[LAUNCHES];
    for (int k = 0; k < LAUNCHES; k++) {
        int64_t at = 1000 + 100 * k;
        t->span[k] = (gn_trace_span){at, at + 90};
        gn_trace_note(t, 0, k, false, at, at + 60);
        gn_trace_note(t, 1, k, false, at + 10 * k, at + 80);
    }
    end_at(300, 1);
    gn_trace_times(t, time);
    for (int k = 0; k < LAUNCHES; k++) ck_assert_double_eq(time[k].busy + time[k].wait, 2 * 80);
}
END_TEST

/* The caller alone waits for nobody. */
START_TEST(alone_there_are_no_waits)
{
    gn_trace_time time[LAUNCHES];
    t->alone = true;
    t->span[0] = (gn_trace_span){1000, 1050};
    gn_trace_note(t, 0, 0, false, 1000, 1050);
    end_at(50, 1);
    gn_trace_times(t, time);
    ck_assert_int_eq(gn_trace_threads(t), 1);
    ck_assert_double_eq(time[0].busy, 50);
    ck_assert_double_eq(time[0].wait, 0);
}
END_TEST

START_TEST(chains_are_spread)
{
    gn_trace_time time[LAUNCHES];
    t->alone = true;
    t->part[0] = 0.25;
    t->part[1] = 0.75;
    gn_trace_note(t, 0, 0, false, 1000, 1040);
    gn_trace_note(t, 0, 2, false, 1040, 1050);
    end_at(50, 1);
    gn_trace_times(t, time);
    ck_assert_double_eq(time[0].busy, 10);
    ck_assert_double_eq(time[1].busy, 30);
    ck_assert_double_eq(time[2].busy, 10);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, ranges_of_a_launch_are_one_event);
    tcase_add_test(c, ticks_become_nanoseconds);
    tcase_add_test(c, events_without_room_are_counted);
    tcase_add_test(c, idle_threads_wait_for_the_launch);
    tcase_add_test(c, waits_are_of_what_runs_meanwhile);
    tcase_add_test(c, every_wait_finds_what_runs_beside_it);
    tcase_add_test(c, overlapping_ranges_are_covered_once);
    tcase_add_test(c, alone_there_are_no_waits);
    tcase_add_test(c, chains_are_spread);
    return RUN_CASES("trace", c);
}
