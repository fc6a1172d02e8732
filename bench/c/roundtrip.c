/* Nanoseconds that a cache line takes from one core to the other and back. On some machines that is
 * 85 for a while and 400 for the next while, and two threads on a small graph follow it; so it is
 * measured around each batch of two threads. */
#include "common.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { TRIPS = 500, BATCHES = 101 };

static _Alignas(128) atomic_int ball;
static atomic_int ready;

static cpu_set_t may; /* before anybody settled */

static void settle(int wanted)
{
    cpu_set_t one;
    for (int c = 0, seen = 0; c < CPU_SETSIZE; c++) {
        if (!CPU_ISSET(c, &may) || seen++ != wanted) continue;
        CPU_ZERO(&one);
        CPU_SET(c, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void *other(void *p)
{
    (void)p;
    settle(1);
    atomic_store(&ready, 1);
    for (int k = 0; k < TRIPS * BATCHES; k++) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * k + 1) {}
        atomic_store_explicit(&ball, 2 * k + 2, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t id;
    double ns[BATCHES];
    if (sched_getaffinity(0, sizeof may, &may) || CPU_COUNT(&may) < 2) return 1;
    settle(0);
    if (pthread_create(&id, NULL, other, NULL)) return 1;
    while (!atomic_load(&ready)) {}
    for (int b = 0, k = 0; b < BATCHES; b++) {
        double t0 = now_us();
        for (int i = 0; i < TRIPS; i++, k++) {
            atomic_store_explicit(&ball, 2 * k + 1, memory_order_release);
            while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * k + 2) {}
        }
        ns[b] = (now_us() - t0) * 1e3 / TRIPS;
    }
    pthread_join(id, NULL);
    qsort(ns, BATCHES, sizeof *ns, by_value);
    printf("{\"median_ns\": %.0f, \"p10_ns\": %.0f, \"p90_ns\": %.0f}\n", ns[BATCHES / 2],
           ns[BATCHES / 10], ns[BATCHES * 9 / 10]);
    return 0;
}
