/* What a launch costs besides its work: a program of 64 launches that do next to nothing, launch by
 * launch and as one parallel region (runtime/run/region.h).  `cmake --build build --target
 * bench_launches && build/bench_launches`.
 *
 * chain: each reads what all threads wrote just before.  mixed: every second launch is one thread's
 * alone, and reads what the other ones made.  alone: shared launches that have nothing to do with
 * what lies between them, one thread's. */
#include "base/clock.h"
#include "runtime/run/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES = 64, ROWS = 32768, RUNS = 300, TRIES = 7 };

static void nothing(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    (void)sym;
    ((volatile float *)buf[0])[lo] = (float)hi;
}

static void few(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    (void)sym;
    ((volatile float *)buf[0])[lo % 16] = (float)hi;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void must(gn_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gn_status_message(s));
    exit(1);
}

enum { CHAIN, MIXED, ALONE, KINDS };

static void make(int kind, gn_artifact *a)
{
    static gn_slot slot[5];
    static gn_launch launch[LAUNCHES];
    static int buf[LAUNCHES][2];
    static const uint8_t access[] = {GN_WRITES, GN_READS}, reads[] = {GN_READS, GN_READS};
    static gn_kernel_fn code[] = {nothing, few};
    for (int k = 0; k < 5; k++)
        slot[k] = (gn_slot){.kind = GN_SLOT_TEMP,
                            .elem = GN_F32,
                            .elems = {k < 3 ? ROWS : 16, -1, 0},
                            .graph = -1,
                            .alias = -1,
                            .first = 0,
                            .last = LAUNCHES - 1,
                            .edge_graph = -1};
    for (int k = 0; k < LAUNCHES; k++) {
        bool one = kind != CHAIN && k % 2;
        int large = kind == MIXED ? 0 : k / 2 % 2;
        if (kind == CHAIN) large = k % 2;
        buf[k][0] = one ? 3 : large;
        buf[k][1] = one ? (kind == MIXED ? 0 : 4) : kind == MIXED ? 2 : 1 - large;
        if (kind == ALONE && !one) buf[k][0] = buf[k][1] = 2;
        launch[k] = (gn_launch){.name = "launch",
                                .kernel = one,
                                .n_buf = 2,
                                .buf = buf[k],
                                .sym = buf[k],
                                .access = kind == ALONE && !one ? reads : access,
                                .trip = {one ? 1 : ROWS, -1, 0},
                                .step = 1,
                                .parallel = !one};
    }
    *a = (gn_artifact){.name = "launches",
                       .n_slots = 5,
                       .n_launches = LAUNCHES,
                       .n_code = 2,
                       .slots = slot,
                       .launches = launch,
                       .code = code};
}

static double measure(gn_instance *in)
{
    double ns[TRIES];
    for (int t = 0; t < TRIES; t++) {
        int64_t t0 = gn_now_ns();
        for (int k = 0; k < RUNS; k++) gn_instance_run(in);
        ns[t] = (double)(gn_now_ns() - t0) / (double)(RUNS * LAUNCHES);
    }
    qsort(ns, TRIES, sizeof *ns, by_value);
    return ns[TRIES / 2];
}

int main(void)
{
    static const char *const name[] = {"chain", "mixed", "alone"};
    printf("nanoseconds a launch, medians of %d\n%-8s %8s %16s %12s %6s\n", TRIES, "", "threads",
           "launch by launch", "one region", "waits");
    for (int kind = 0; kind < KINDS; kind++)
        for (int threads = 1; threads <= 2; threads++) {
            gn_artifact a;
            gn_pool *pool;
            gn_instance *in;
            int n, shared, waits = 0;
            make(kind, &a);
            must(gn_pool_new(threads, &pool));
            must(gn_instance_new(&a, 0, NULL, 0, NULL, pool, NULL, &in));
            double before = measure(in);
            must(gn_instance_one_region(in));
            (void)gn_instance_in_region(in, &n, &shared, &waits);
            printf("%-8s %8d %16.1f %12.1f %6d\n", name[kind], threads, before, measure(in), waits);
            gn_instance_free(in);
            gn_pool_free(pool);
        }
    return 0;
}
