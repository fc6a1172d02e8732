/* The monotonic clock: time since some moment, for what takes how long. */
#ifndef GN_BASE_CLOCK_H
#define GN_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t gn_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline double gn_now_ms(void) { return (double)gn_now_ns() * 1e-6; }

#endif
