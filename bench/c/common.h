/* What the C programs of the harness share: the time, files of raw numbers, and the protocol of a
 * contender. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define INLINE static inline __attribute__((always_inline, unused))
#define UNUSED __attribute__((unused))

/* A register of the widest vectors that a Cora-size row fills; the compiler splits it where the
 * machine's are narrower. The second may stand at any address that is a multiple of four. */
typedef float v16 __attribute__((vector_size(64)));
typedef float v16u __attribute__((vector_size(64), aligned(4)));
typedef float v8 __attribute__((vector_size(32)));
typedef float v8u __attribute__((vector_size(32), aligned(4)));
typedef int32_t i16 __attribute__((vector_size(64)));

/* Element by element, of vectors of any length: by the builtins of clang, of which clang 14 has no
 * FMA and gcc none.  Elsewhere -ffp-contract=fast makes the same of a product and a sum, and masks
 * choose. */
#ifdef __has_builtin
#define HAS(builtin) __has_builtin(builtin)
#else
#define HAS(builtin) 0
#endif
#if HAS(__builtin_elementwise_fma)
#define FMA(a, b, c) __builtin_elementwise_fma(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#if HAS(__builtin_elementwise_max)
#define MAX(a, b) __builtin_elementwise_max(a, b)
#define MIN(a, b) __builtin_elementwise_min(a, b)
#define ABS(a) __builtin_elementwise_abs(a)
#define ROUND(a) __builtin_elementwise_roundeven(a)
#else
#define CHOOSE(mask, a, b)                                                                         \
    __extension__({                                                                                \
        __auto_type mask_ = (mask);                                                                \
        (__typeof__(a))((mask_ & (__typeof__(mask_))(a)) | (~mask_ & (__typeof__(mask_))(b)));     \
    })
#define MAX(a, b)                                                                                  \
    __extension__({                                                                                \
        __auto_type a_ = (a);                                                                      \
        __auto_type b_ = (b);                                                                      \
        CHOOSE(a_ > b_, a_, b_);                                                                   \
    })
#define MIN(a, b)                                                                                  \
    __extension__({                                                                                \
        __auto_type a_ = (a);                                                                      \
        __auto_type b_ = (b);                                                                      \
        CHOOSE(a_ < b_, a_, b_);                                                                   \
    })
#define ABS(a) MAX(a, -(a))
#define ROUND(a)                                                                                   \
    ((a) + 12582912.0f - 12582912.0f) /* 1.5 * 2^23: below that the sum rounds to whole numbers */
#endif
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 128")
#endif

#if HAS(__builtin_reduce_max)
#define LARGEST(x) __builtin_reduce_max(x)
#else
#define LARGEST(x)                                                                                 \
    __extension__({                                                                                \
        __auto_type all_ = (x);                                                                    \
        float top_ = all_[0];                                                                      \
        for (unsigned k_ = 1; k_ < sizeof all_ / sizeof top_; k_++)                                \
            top_ = all_[k_] > top_ ? all_[k_] : top_;                                              \
        top_;                                                                                      \
    })
#endif

INLINE v16 load16(const float *p) { return *(const v16u *)p; }
INLINE void store16(float *p, v16 x) { *(v16u *)p = x; }
INLINE v16 splat16(float x) { return x - (v16){0}; }
INLINE v16 fma16(v16 a, v16 b, v16 c) { return FMA(a, b, c); }
INLINE v16 where16(i16 mask, v16 x) { return (v16)(mask & (i16)x); } /* x, or 0 */
INLINE v16 max16(v16 a, v16 b) { return MAX(a, b); }

static UNUSED double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static UNUSED double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static UNUSED void *room(int64_t bytes)
{
    size_t all = (size_t)(bytes + 127) / 64 * 64, page = (size_t)2 << 20;
    bool big = all >= 4 * page;
    void *p = big ? aligned_alloc(page, (all + page - 1) / page * page) : aligned_alloc(64, all);
    if (p && big)
        madvise(p, all, MADV_HUGEPAGE); /* rows of a large graph are read here and there */
    if (!p) {
        fprintf(stderr, "out of memory: %lld bytes\n", (long long)bytes);
        exit(1);
    }
    memset(p, 0, all);
    return p;
}

/* The whole of FOLDER/NAME, and its size in bytes; NULL where it is not there and need not be. */
static UNUSED void *slurp(const char *folder, const char *name, int64_t *bytes, bool needed)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        if (!needed) return NULL;
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(3);
    }
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    void *p = room(n);
    if (fread(p, 1, (size_t)n, f) != (size_t)n) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(3);
    }
    fclose(f);
    if (bytes) *bytes = n;
    return p;
}

static UNUSED int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The contender's side of the protocol (bench/README.md): says that it is ready, then answers `go
 * N` with the times of N steps, each round from the same start, until `quit`. `ready` is the inside
 * of a JSON object. */
static UNUSED void serve(const char *ready, void (*reset)(void), void (*step)(void))
{
    char line[256];
    printf("{%s}\n", ready);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        long n = 0;
        if (!strncmp(line, "quit", 4)) return;
        if (sscanf(line, "go %ld", &n) != 1 || n < 1 || n > 10000000) {
            printf("{\"error\": \"expected `go N`\"}\n");
            fflush(stdout);
            continue;
        }
        double *us = malloc((size_t)n * sizeof *us);
        reset();
        step();
        double cpu = cpu_us(), all = now_us();
        for (long k = 0; k < n; k++) {
            double t0 = now_us();
            step();
            us[k] = now_us() - t0;
        }
        all = now_us() - all;
        cpu = cpu_us() - cpu;
        struct rusage r;
        getrusage(RUSAGE_SELF, &r);
        printf("{\"us\": [");
        for (long k = 0; k < n; k++) printf("%s%.2f", k ? "," : "", us[k]);
        printf("], \"cpu\": %.3f, \"rss\": %lld}\n", cpu / all, (long long)r.ru_maxrss * 1024);
        fflush(stdout);
        free(us);
    }
}

#endif
