/* links: runtime base */
/* sources: small_program.c */
/* Instances on a device, over the fake driver with kernels written in C: launches, copies, programs
 * in one kernel. */
#include "shim/small_program.h"
#include "support/suite.h"

#include <check.h>
#include <string.h>

/* Launch by launch, recorded, replayed. */
START_TEST(one_by_one)
{
    gn_artifact a = artifact();
    float x[9];
    gn_instance *in = bind_rows(&a, x, 9);
    is_right(in, 9);
    succeeds(gn_instance_one_region(in));
    is_right(in, 9);
    is_right(in, 9);
    gn_instance_free(in);
}
END_TEST

/* What has no room is told with what the program takes in all, and leaves nothing. x, z, w and u
 * have 4,000 bytes each, t is the arena's 4,032. */
START_TEST(no_room)
{
    enum { N = 1000 };
    static float x[N];
    gn_artifact a = artifact();
    gn_instance *in = NULL;
    gn_binding b = {"x", GN_F32, N, 1, x};
    static const struct {
        unsigned long long room;
        bool held; /* x is there, for something else */
        const char *what, *there;
    } devices[] = {{4000, false,
                    "the arena of temporaries of test takes 4032 bytes, 4000 of 4000 are free",
                    "0 are there"},
                   {10000, false, "z takes 4000 bytes, 1968 of 10000 are free", "4032 are there"},
                   {10000, true, "z takes 4000 bytes, 1968 of 10000 are free", "8032 are there"}};
    set_devices(1, devices[_i].room);
    if (devices[_i].held) succeeds(gn_cuda_memory_hold(memory, x, sizeof x, "x"));
    gn_status *s = gn_instance_new(&a, 0, NULL, 1, &b, pool, NULL, &in);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_NOMEM);
    ck_assert_msg(strstr(gn_status_message(s), devices[_i].what) != NULL, "%s",
                  gn_status_message(s));
    ck_assert_msg(
        strstr(gn_status_message(s),
               "test takes 20032 bytes there in all: 4032 of temporaries, 16000 of data, graphs "
               "and results; ") != NULL,
        "%s", gn_status_message(s));
    ck_assert_msg(strstr(gn_status_message(s), devices[_i].there) != NULL, "%s",
                  gn_status_message(s));
    gn_status_free(s);
    if (devices[_i].held) gn_cuda_memory_drop(memory, x);
    set_devices(1, 1 << 30);
    in = bind_rows(&a, x, N); /* and it goes on */
    is_right(in, N);
    gn_instance_free(in);
}
END_TEST

/* Programs in one kernel ----------------------------------------------------------------------- */

static const int64_t four[] = {4, 4, 4, 4};

/* The values of the launch before the last `ago` ones. */
static const unsigned long long *launched(int ago) { return seen[(n_seen - 1 - ago) % LAST]; }

static void turns_are(const unsigned long long *value, const int64_t *turn)
{
    for (int k = 0; k < 4; k++)
        ck_assert_msg((int64_t)value[SLOTS + 2 + k] == turn[k], "turn %d is %d, not %d", k,
                      (int)value[SLOTS + 2 + k], (int)turn[k]);
}

/* Timed launch by launch, each has a turn alone, from the first block on; the next run is as the
 * one before. */
static void timed_alone(gn_instance *in, const int64_t *turn)
{
    int64_t ns[4] = {0}, runs;
    int before = n_seen;
    gn_instance_profile(in, true);
    gn_instance_run(in);
    succeeds(gn_instance_check(in));
    gn_instance_times(in, ns, &runs);
    ck_assert_int_eq(n_seen - before, 4);
    for (int k = 0; k < 4; k++) {
        int64_t alone[4] = {0};
        alone[k] = turn[k] & 1;
        turns_are(launched(3 - k), alone);
        ck_assert_int_eq(ns[k], 1000000); /* what the fake driver's events say of everything */
    }
    gn_instance_profile(in, false);
    gn_instance_run(in);
    succeeds(gn_instance_wait(in));
    turns_are(launched(0), turn);
}

/* The program is the one kernel. */
static gn_artifact in_one(gn_cuda_whole_code *whole, int64_t resident)
{
    void *function;
    succeeds(gn_cuda_module_function(module, "2", &function));
    *whole = (gn_cuda_whole_code){
        .function = function, .threads = 4, .resident = resident, .per_block = four};
    program = (gn_cuda_program){.whole = whole};
    return artifact();
}

/* Blocks meet before what waits for others, alone; what waits for nobody begins where the others
 * end. */
static void turns_of(int64_t resident, int64_t rows, unsigned blocks, const int64_t *turn)
{
    static float x[64];
    gn_cuda_whole_code whole;
    gn_artifact a = in_one(&whole, resident);
    gn_instance *in = bind_rows(&a, x, rows);
    gn_instance_run(in);
    succeeds(gn_instance_wait(in));
    const unsigned long long *value = launched(0);
    ck_assert_uint_eq(seen_blocks, blocks);
    ck_assert_uint_eq(value[SLOTS], (unsigned)rows);         /* the symbol */
    ck_assert_uint_eq(value[SLOTS + 1], 4 * (unsigned)rows); /* bytes of the copy */
    turns_are(value, turn);
    for (int k = 0; k < SLOTS; k++) ck_assert_uint_ne(value[k], 0);
    timed_alone(in, turn);
    gn_instance_free(in);
}

#define TURN(run, meet, first) ((first) << 2 | (meet) << 1 | (run))

START_TEST(in_one_kernel)
{
    /* each takes as many blocks; next and copy wait for double; apart does not, and begins after
     * them */
    turns_of(4, 4, 3,
             (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(1, 0, 1), TURN(1, 0, 2)});
    turns_of(4, 9, 4,
             (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(1, 0, 3), TURN(1, 0, 2)});
    turns_of(1, 9, 1,
             (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(1, 0, 0), TURN(1, 0, 0)});
    turns_of(4, 0, 1, (const int64_t[]){0, 0, 0, 0});
    static int from_w[] = {W, U};
    of_2[0] = T; /* a copy to where it is: as if it were not there */
    launches[3].buf = from_w;
    turns_of(4, 4, 2,
             (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(0, 0, 1), TURN(1, 0, 1)});
    of_2[0] = W;
    static int to_t[] = {U, T}; /* written when next and copy have read it */
    launches[3].buf = to_t;
    turns_of(4, 4, 2,
             (const int64_t[]){TURN(1, 0, 0), TURN(1, 1, 0), TURN(1, 0, 1), TURN(1, 1, 0)});
}
END_TEST

/* Where blocks meet is made for the first program of that form: where that fails the next one makes
 * it, and it is 0. */
START_TEST(gate)
{
    static const char *const calls_that_fail[] = {"cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2"};
    gn_cuda_whole_code whole;
    gn_artifact a = in_one(&whole, 4);
    float x[4] = {0};
    gn_instance *in = NULL;
    gn_binding b = {"x", GN_F32, 4, 1, x};
    for (int k = 0; k < 2; k++) { /* both stages that copies take turns in are there from now on */
        succeeds(gn_cuda_memory_hold(memory, x, sizeof x, "x"));
        gn_cuda_memory_drop(memory, x);
    }
    int before = alive();
    order(calls_that_fail[_i], 1, 1);
    gn_status *s = gn_instance_new(&a, 0, NULL, 1, &b, pool, NULL, &in);
    order(NULL, 0, 0);
    ck_assert_msg(s && strstr(gn_status_message(s), "CUDA_ERROR"), "%s", gn_status_message(s));
    gn_status_free(s);
    ck_assert_int_eq(alive(), before);
    for (int k = 0; k < 2; k++) { /* and it is there for good */
        in = bind_rows(&a, x, 4);
        gn_instance_run(in);
        succeeds(gn_instance_wait(in));
        uint32_t *at = (uint32_t *)(uintptr_t)launched(0)[ARGUMENTS - 1];
        ck_assert_msg(at && *at == (k ? 7 : 0), "%u", at ? (unsigned)*at : 0);
        *at = 7;
        gn_instance_free(in);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("instances");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, one_by_one);
    tcase_add_loop_test(t, no_room, 0, 3);
    tcase_add_test(t, in_one_kernel);
    tcase_add_loop_test(t, gate, 0, 2);
    return RUN_CASES("cuda_instance", t);
}
