/* What this machine can do at most: bandwidths from L1, L2, L3 and memory, fused multiply-adds, and
 * the clock. Prints one JSON object; figures of one thread and of two. See bench/README.md. */
#include "common.h"

#include <pthread.h>
#include <sched.h>

enum { MOST = 64 };

typedef struct job {
    int thread;
    double seconds; /* to run for */
    int64_t bytes;  /* of its own array */
    float *a, *b, *c;
    double (*run)(struct job *); /* does a piece of work, returns how much that was */
    double rate;                 /* amount a second */
} job;

static pthread_barrier_t start;

static volatile float sink;

static double triad(job *j)
{
    int64_t n = j->bytes / 12 / 4 * 4;
    float *restrict a = j->a, *restrict b = j->b, *restrict c = j->c;
    for (int64_t i = 0; i < n; i++) a[i] = b[i] + 3.0f * c[i];
    sink = a[n / 2];
    return (double)n * 12;
}

static double read_all(job *j)
{
    v16 s[8] = {0};
    int64_t n = j->bytes / 512;
    int64_t times = (1 << 22) / (n * 512) + 1;
    for (int64_t t = 0; t < times; t++) {
        const v16 *p = (const v16 *)j->a;
        for (int64_t i = 0; i < n; i++, p += 8)
            for (int k = 0; k < 8; k++) s[k] += p[k];
        __asm__ volatile("" ::: "memory");
    }
    v16 all = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
    sink = all[0];
    return (double)n * 512 * (double)times;
}

static double fma_wide(job *j)
{
    v16 s[12], x = splat16(1.0f + (float)j->thread * 1e-7f), y = splat16(1e-9f);
    for (int k = 0; k < 12; k++) s[k] = splat16((float)k);
    __asm__ volatile("" : "+m"(x), "+m"(y)); /* a register has 16 of them with AVX-512 alone */
    for (int i = 0; i < 100000; i++)
        for (int k = 0; k < 12; k++) s[k] = fma16(s[k], x, y);
    float all = 0;
    for (int k = 0; k < 12; k++) all += s[k][0];
    sink = all;
    return 100000.0 * 12 * 16 * 2;
}

static double fma_half(job *j)
{
    v8 s[12], x = 1.0f + (float)j->thread * 1e-7f - (v8){0}, y = 1e-9f - (v8){0};
    for (int k = 0; k < 12; k++) s[k] = (float)k - (v8){0};
    __asm__ volatile("" : "+v"(x), "+v"(y));
    for (int i = 0; i < 100000; i++)
        for (int k = 0; k < 12; k++) s[k] = FMA(s[k], x, y);
    float all = 0;
    for (int k = 0; k < 12; k++) all += s[k][0];
    sink = all;
    return 100000.0 * 12 * 8 * 2;
}

/* A chain of additions, one a cycle. */
static double ticks(job *j)
{
    uint64_t x = (uint64_t)j->thread;
    for (int i = 0; i < 100000; i++)
        __asm__ volatile("add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, "
                         "%0\nadd $1, %0\nadd $1, %0"
                         : "+r"(x));
    sink = (float)x;
    return 800000;
}

/* The processor that a thread runs on: with as many threads as there are, each its own. */
static void settle(int thread)
{
    cpu_set_t may, one;
    if (sched_getaffinity(0, sizeof may, &may)) return;
    int seen = 0, count = CPU_COUNT(&may);
    for (int c = 0; c < CPU_SETSIZE; c++) {
        if (!CPU_ISSET(c, &may) || seen++ != thread % count) continue;
        CPU_ZERO(&one);
        CPU_SET(c, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void *work(void *p)
{
    job *j = p;
    settle(j->thread);
    j->a = room(j->bytes), j->b = j->a + j->bytes / 12 / 16 * 16,
    j->c = j->b + j->bytes / 12 / 16 * 16;
    for (int64_t i = 0; i < j->bytes / 4; i++) j->a[i] = (float)(i % 17);
    j->run(j);
    pthread_barrier_wait(&start);
    double begin = now_us(), best = 0, until = begin + j->seconds * 1e6;
    do { /* the best of pieces: machines are shared */
        double t0 = now_us(), amount = 0, t;
        do amount += j->run(j);
        while ((t = now_us()) - t0 < 10e3);
        double rate = amount / (t - t0);
        if (rate > best) best = rate;
    } while (now_us() < until);
    j->rate = best * 1e6;
    free(j->a);
    return NULL;
}

static double measure(double (*run)(job *), int threads, int64_t bytes, double seconds)
{
    job jobs[MOST] = {0};
    pthread_t id[MOST];
    double all = 0;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int t = 0; t < threads; t++) {
        jobs[t] = (job){.thread = t, .seconds = seconds, .bytes = bytes, .run = run};
        pthread_create(&id[t], NULL, work, &jobs[t]);
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(id[t], NULL);
        all += jobs[t].rate;
    }
    pthread_barrier_destroy(&start);
    return all;
}

int main(int argc, char **argv)
{
    double s = argc > 1 ? atof(argv[1]) : 0.2; /* seconds a figure */
    int most = argc > 2 ? atoi(argv[2]) : 2;
    static const struct {
        const char *name;
        double (*run)(job *);
        int64_t bytes;
    } figures[] = {{"triad_gbs", triad, 192 << 20},     {"read_dram_gbs", read_all, 256 << 20},
                   {"read_l3_gbs", read_all, 6 << 20},  {"read_l2_gbs", read_all, 384 << 10},
                   {"read_l1_gbs", read_all, 16 << 10}, {"fma512_gflops", fma_wide, 4096},
                   {"fma256_gflops", fma_half, 4096},   {"clock_ghz", ticks, 4096}};
    printf("{");
    for (int threads = 1; threads <= most && threads <= MOST; threads *= 2) {
        printf("%s\"%d\": {", threads > 1 ? ", " : "", threads);
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
            printf("%s\"%s\": %.1f", k ? ", " : "", figures[k].name,
                   measure(figures[k].run, threads, figures[k].bytes, s) * 1e-9);
        printf("}");
    }
    printf("}\n");
    return 0;
}
