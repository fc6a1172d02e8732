/* links: runtime base */
/* forks: yes */
/* sources: small_program.c */
/* Recorded graphs of instances on a device, over the fake driver with kernels written in C: set
 * node by node where addresses change, recorded again where that cannot be, kept for shapes that
 * come again. */
#include "runtime/cuda/keep.h"
#include "runtime/memory.h"
#include "shim/small_program.h"
#include "support/suite.h"

#include <check.h>
#include <string.h>

/* Instances ------------------------------------------------------------------------------------ */

static const char made[] = "cuGraphInstantiateWithFlags", updated[] = "cuGraphExecUpdate_v2",
                  recorded_anew[] = "cuStreamBeginCapture_v2",
                  launch_set[] = "cuGraphExecKernelNodeSetParams_v2",
                  copy_set[] = "cuGraphExecMemcpyNodeSetParams",
                  asked[] = "cuStreamGetCaptureInfo_v2";

static void forget_calls(void)
{
    static const char *const all[] = {made, updated, recorded_anew, launch_set, copy_set, asked};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) (void)calls(all[k]);
}

/* Since they were forgotten. */
static void has_set(int of_launches, int of_copies)
{
    ck_assert_int_eq(calls(recorded_anew), 0);
    ck_assert_int_eq(calls(updated), 0);
    ck_assert_int_eq(calls(made), 0);
    ck_assert_int_eq(calls(launch_set), of_launches);
    ck_assert_int_eq(calls(copy_set), of_copies);
}

static void has_recorded(int updates)
{
    ck_assert_int_eq(calls(recorded_anew), 1);
    ck_assert_int_eq(calls(updated), updates);
    ck_assert_int_eq(calls(made), !updates);
}

/* A new instance for n rows runs twice; how many graphs it made. */
static int meets(const gn_artifact *a, int64_t n, float *x)
{
    gn_instance *in = bind_rows(a, x, n);
    succeeds(gn_instance_one_region(in));
    (void)calls(made);
    is_right(in, n);
    is_right(in, n);
    int count = calls(made);
    gn_instance_free(in);
    return count;
}

/* One graph for all sizes of as many blocks, and one for each other number. */
START_TEST(shapes_again)
{
    gn_artifact a = artifact();
    static float x[64];
    int64_t bytes;
    ck_assert_int_eq(meets(&a, 5, x), 1);
    ck_assert_int_eq(meets(&a, 40, x), 1);
    for (int round = 0; round < 3; round++) {
        ck_assert_int_eq(meets(&a, 5, x), 0);
        ck_assert_int_eq(meets(&a, 40, x), 0);
    }
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, &bytes), 2);
    ck_assert_int_gt(bytes, 2 * 4 * 1024);
    ck_assert_int_lt(bytes, 1 << 20);
}
END_TEST

/* Two instances at once have a graph each; a third takes over what the first leaves, with other
 * addresses. */
START_TEST(two_alive)
{
    gn_artifact a = artifact();
    static float x[8], y[8];
    gn_instance *one = bind_rows(&a, x, 8), *two = bind_rows(&a, y, 8);
    succeeds(gn_instance_one_region(one));
    succeeds(gn_instance_one_region(two));
    (void)calls(made);
    is_right(one, 8);
    is_right(two, 8);
    is_right(one, 8);
    ck_assert_int_eq(calls(made), 2);
    gn_instance_free(one);
    float z[8];
    forget_calls();
    gn_instance *three = bind_rows(&a, z, 8);
    succeeds(gn_instance_one_region(three));
    is_right(three, 8);
    has_set(3, 1);
    is_right(two, 8);
    gn_instance_free(three);
    gn_instance_free(two);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, NULL), 2);
}
END_TEST

/* x becomes what it was times `times`, there too, and a run says what that makes. */
static void is_right_of(gn_instance *in, float *x, int64_t n, float times)
{
    for (int64_t k = 0; k < n; k++) x[k] = times * ((float)k + 0.5f);
    succeeds(gn_cuda_memory_push(memory, x));
    gn_instance_run(in);
    holds(in, "z", n, 2 * times, 1);
    holds(in, "w", n, 2 * times, 0);
    holds(in, "u", n, times, 1);
}

/* An instance for so many rows, more than before, takes a larger arena: temporaries of others have
 * moved. */
static void move(int64_t rows)
{
    static float x[1 << 12];
    gn_artifact a = artifact();
    ck_assert_int_le(rows, 1 << 12);
    gn_instance_free(bind_rows(&a, x, rows));
}

/* Where temporaries have moved the nodes that touch them are set, the others stay, and nothing is
 * recorded. */
START_TEST(moved)
{
    gn_artifact a = artifact();
    static float x[8];
    gn_instance *in = bind_rows(&a, x, 8);
    succeeds(gn_instance_one_region(in));
    forget_calls();
    is_right_of(in, x, 8, 1);
    has_recorded(0);
    is_right_of(in, x, 8, 3);
    for (int k = 1; k < 4; k++) {
        forget_calls();
        move(1 << (8 + k));
        is_right_of(in, x, 8, (float)(1 << k));
        has_set(2, 1);
        is_right_of(in, x, 8, 5);
        has_set(0, 0);
    }
    move(1 << 12);
    gn_instance_free(in); /* its graph is kept, although it was not set, and set for who takes it */
    forget_calls();
    in = bind_rows(&a, x, 8);
    succeeds(gn_instance_one_region(in));
    is_right_of(in, x, 8, 7);
    ck_assert_int_eq(calls(recorded_anew), 0);
    ck_assert_int_ge(calls(launch_set), 2);
    gn_instance_free(in);
}
END_TEST

/* A node that cannot be set, or is not known, since a call fails: it is recorded, now and from then
 * on, and right. */
START_TEST(not_set)
{
    static const struct {
        const char *function;
        int nth;
    } fail[] = {{asked, 1},      {asked, 3},      {asked, 4},
                {launch_set, 1}, {launch_set, 2}, {copy_set, 1}};
    gn_artifact a = artifact();
    static float x[8];
    gn_instance *in = bind_rows(&a, x, 8);
    succeeds(gn_instance_one_region(in));
    order(fail[_i].function, fail[_i].nth, 1);
    is_right_of(in, x, 8, 1);
    for (int k = 1; k < 3; k++) {
        forget_calls();
        move(1 << (8 + k));
        is_right_of(in, x, 8, (float)(1 << k));
        has_recorded(1);
    }
    /* at the second time, and it is not tried any more */
    ck_assert_int_eq(calls(launch_set) + calls(copy_set), 0);
    order(updated, 1, GN_CUDA_GRAPH_UPDATE_FAILURE); /* made anew it can be set again */
    move(1 << 11);
    is_right_of(in, x, 8, 3);
    forget_calls();
    move(1 << 12);
    is_right_of(in, x, 8, 4);
    has_set(2, 1);
    gn_instance_free(in);
}
END_TEST

/* A device that is lost when a node is set, or its name is asked for, is lost. */
START_TEST(lost_when_set)
{
    gn_artifact a = artifact();
    static float x[8];
    gn_instance *in = bind_rows(&a, x, 8);
    succeeds(gn_instance_one_region(in));
    order(_i ? asked : launch_set, 1, GN_CUDA_ILLEGAL_ADDRESS);
    if (!_i) is_right(in, 8);
    if (!_i) move(1 << 9);
    gn_instance_run(in);
    gn_status *s = gn_instance_check(in);
    ck_assert_msg(s && strstr(gn_status_message(s), _i ? "CUDA_ERROR" : "is lost to this process"),
                  "%s", gn_status_message(s));
    gn_status_free(s);
    gn_instance_free(in);
}
END_TEST

/* Sizes that keep changing: when as many graphs are kept as may be of one program, those are set to
 * what is new. */
START_TEST(sizes_to_come)
{
    gn_artifact a = artifact();
    static float x[100];
    for (int k = 1; k <= GN_CUDA_KEEP_SIZES; k++) ck_assert_int_eq(meets(&a, 4 * k, x), 1);
    for (int k = 100; k > 60; k -= 7) {
        forget_calls();
        ck_assert_int_eq(meets(&a, k, x), 0);
        has_set(3, 1);
        ck_assert_int_eq(gn_cuda_memory_graphs(memory, NULL), GN_CUDA_KEEP_SIZES);
    }
}
END_TEST

/* A graph in which nothing is launched is one like others. */
START_TEST(no_rows)
{
    gn_artifact a = artifact();
    static float x[1];
    int64_t bytes;
    ck_assert_int_eq(meets(&a, 0, x), 1);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, &bytes), 1);
    ck_assert_int_ge(bytes, GN_CUDA_NODE_BYTES);
    ck_assert_int_eq(meets(&a, 0, x), 0);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, NULL), 1);
}
END_TEST

/* Before a module goes no graph may launch what is in it; what comes later is kept again. */
START_TEST(forgotten)
{
    gn_artifact a = artifact();
    static float x[64];
    int64_t bytes;
    ck_assert_int_eq(meets(&a, 4, x), 1);
    ck_assert_int_eq(meets(&a, 8, x), 1);
    gn_cuda_memory_forget_graphs(memory);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, &bytes), 0);
    ck_assert_int_eq(bytes, 0);
    ck_assert_int_eq(meets(&a, 4, x), 1);
    ck_assert_int_eq(gn_cuda_memory_graphs(memory, NULL), 1);
    ck_assert_int_eq(meets(&a, 4, x), 0);
}
END_TEST

static gn_cuda_graph *recorded(void)
{
    gn_cuda_graph *g = NULL;
    succeeds(gn_cuda_record_begin(device, 0));
    succeeds(gn_cuda_record_end(device, NULL, &g));
    return g;
}

/* One node, with as many blocks and that value. */
static gn_cuda_work *work_of(gn_cuda_graph *g, uint64_t blocks, uint64_t value)
{
    gn_cuda_work *w;
    succeeds(gn_cuda_work_new(4, &w));
    memcpy(w->word, ((const uint64_t[]){7, blocks, 1, value}), 4 * sizeof(uint64_t));
    w->n = 4;
    w->nodes = 1;
    w->graph = g;
    return w;
}

static gn_cuda_graph *take(gn_cuda_keep *k, uint64_t blocks, uint64_t value, bool *same)
{
    gn_cuda_work *w = work_of(NULL, blocks, value), *kept = gn_cuda_keep_take(k, w);
    gn_cuda_graph *g = kept ? kept->graph : NULL;
    *same = kept && gn_cuda_work_compare(kept, w) == GN_CUDA_SAME_VALUES;
    gn_block_free(kept);
    gn_block_free(w);
    return g;
}

static bool is_kept(gn_cuda_keep *k, uint64_t blocks)
{
    bool same;
    gn_cuda_graph *g = take(k, blocks, 1, &same);
    if (g) gn_cuda_keep_put(k, work_of(g, blocks, 1));
    return g != NULL;
}

/* Above the cap the one that was used longest ago goes. */
START_TEST(longest_ago)
{
    gn_cuda_keep k;
    gn_cuda_keep_init(&k);
    gn_cuda_keep_put(&k, work_of(recorded(), 1, 1));
    int64_t one = k.bytes;
    gn_cuda_keep_put(&k, work_of(recorded(), 2, 1));
    ck_assert_int_eq(k.bytes, 2 * one);
    gn_cuda_keep_limit(&k, 2 * one);
    ck_assert_int_eq(k.n, 2);
    ck_assert(is_kept(&k, 1));
    gn_cuda_keep_put(&k, work_of(recorded(), 3, 1)); /* that of 2 blocks goes */
    ck_assert(k.n == 2 && is_kept(&k, 3) && is_kept(&k, 1) && !is_kept(&k, 2));
    gn_cuda_keep_limit(&k, one);
    ck_assert(k.n == 1 && k.bytes == one && is_kept(&k, 1));
    gn_cuda_keep_limit(&k, one - 1);
    ck_assert(k.n == 0 && k.bytes == 0);
    gn_cuda_keep_put(&k, work_of(recorded(), 1, 1)); /* not one fits */
    ck_assert(k.n == 0 && k.bytes == 0);
}
END_TEST

/* What does just the same is taken before what would have to be updated, and said to. */
START_TEST(same_work)
{
    gn_cuda_keep k;
    gn_cuda_graph *a = recorded(), *b = recorded();
    bool same;
    gn_cuda_keep_init(&k);
    gn_cuda_keep_put(&k, work_of(a, 1, 100));
    gn_cuda_keep_put(&k, work_of(b, 1, 101));
    ck_assert_ptr_null(take(&k, 2, 100, &same));
    ck_assert_ptr_eq(take(&k, 1, 101, &same), b);
    ck_assert(same);
    ck_assert_ptr_eq(take(&k, 1, 101, &same), a);
    ck_assert(!same);
    ck_assert_ptr_null(take(&k, 1, 100, &same));
    gn_cuda_graph_free(a);
    gn_cuda_keep_put(&k, work_of(b, 1, 100));
    gn_cuda_keep_limit(&k, 0);
    ck_assert_int_eq(k.n, 0);
    ck_assert_int_eq(k.bytes, 0);
}
END_TEST

/* What has other blocks is taken when there are many such: the one that was used longest ago. */
START_TEST(other_sizes)
{
    gn_cuda_keep k;
    gn_cuda_graph *g[GN_CUDA_KEEP_SIZES];
    bool same;
    gn_cuda_keep_init(&k);
    for (int n = 0; n < GN_CUDA_KEEP_SIZES; n++) {
        ck_assert_ptr_null(take(&k, 100, 1, &same));
        gn_cuda_keep_put(&k, work_of(g[n] = recorded(), (uint64_t)n + 1, 1));
    }
    ck_assert(is_kept(&k, 1)); /* and was used last */
    ck_assert_ptr_eq(take(&k, 100, 1, &same), g[1]);
    ck_assert(!same);
    ck_assert_ptr_null(take(&k, 100, 1, &same)); /* one less now */
    gn_cuda_keep_put(&k, work_of(g[1], 100, 1));
    ck_assert_ptr_eq(take(&k, 3, 5, &same), g[2]); /* as many blocks, before what is older */
    gn_cuda_graph_free(g[2]);
    gn_cuda_keep_limit(&k, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("graphs");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, shapes_again);
    tcase_add_test(t, two_alive);
    tcase_add_test(t, moved);
    tcase_add_loop_test(t, not_set, 0, 6);
    tcase_add_loop_test(t, lost_when_set, 0, 2);
    tcase_add_test(t, sizes_to_come);
    tcase_add_test(t, no_rows);
    tcase_add_test(t, forgotten);
    tcase_add_test(t, same_work);
    tcase_add_test(t, longest_ago);
    tcase_add_test(t, other_sizes);
    return RUN_CASES("cuda_graphs", t);
}
