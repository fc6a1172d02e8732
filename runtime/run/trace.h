/* Trace: when each thread of a pool ran which launch of an instance, and which one it waited for,
 * over the last run.
 *
 * Threads note their own, in memory of their own, so that a run is hardly disturbed: a look or two
 * at the clock a launch and thread, by the processor's own counter of time where that is the same
 * on all cores.  One trace is of one instance at a time; it may be read between its runs, once it
 * was settled. */
#ifndef GN_RUNTIME_RUN_TRACE_H
#define GN_RUNTIME_RUN_TRACE_H

#include "base/clock.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_trace_event {
    int64_t begin, end; /* nanoseconds since the run began; before gn_trace_settle as the clock
                           counts */
    int64_t busy;       /* of that, spent in the launch: a thread may take several ranges of it */
    int32_t launch;     /* of the artifact; the first one of a chain stands for all of it */
    bool wait;          /* until that launch was over, and not in it */
} gn_trace_event;

typedef struct gn_trace_thread {
    gn_trace_event *event; /* [n], in the order of time */
    int64_t n;
    int64_t lost;     /* events that there was no room for */
    int64_t apart[5]; /* so that threads do not write into one line of a cache */
} gn_trace_thread;

typedef struct gn_trace_span {
    int64_t begin, end;
} gn_trace_span;

typedef struct gn_trace {
    int threads, launches;
    int64_t room;            /* events of a thread */
    gn_trace_thread *thread; /* [threads]; the caller's is the first */
    int64_t begin, end;      /* of the run, by gn_now_ns */
    int64_t first, last;     /* the same by gn_trace_now */
    bool counter;            /* that is the processor's */
    bool settled;
    bool alone;          /* it was the caller's alone */
    bool region;         /* it was one parallel region (region.h): there are no spans */
    gn_trace_span *span; /* [launches] from its beginning to where all had left it */
    double *part; /* [launches] of a launch in a chain: what it had of the chain's time; 0: it is in
                     none */
    /* room for gn_trace_times */
    double *busy;    /* [launches] and then what is not */
    int64_t *until;  /* [launches] */
    int64_t *cursor; /* [threads] */
} gn_trace;

/* GN_ERR_NOMEM.  gn_trace_free ends it; NULL is fine. */
GN_NODISCARD gn_status *gn_trace_new(int threads, int launches, gn_trace **out);
void gn_trace_free(gn_trace *t);
/* What an instance does: at the beginning of a run, at its end, and by which clock. */
void gn_trace_begin(gn_trace *t);
void gn_trace_end(gn_trace *t);
static inline int64_t gn_trace_now(const gn_trace *t)
{
#if defined(__x86_64__)
    if (t->counter) return (int64_t)__builtin_ia32_rdtsc();
#endif
    (void)t;
    return gn_now_ns();
}
/* After a run, before anything is read but begin and end: turns times to nanoseconds. */
void gn_trace_settle(gn_trace *t);

/* The thread ran a range of the launch, or waited for it. */
void gn_trace_note(gn_trace *t, int thread, int launch, bool wait, int64_t begin, int64_t end);

/* Nanoseconds of a launch's in the last run, summed over threads.  What one thread waits while
 * others are in a launch is a wait of that launch's; while nobody is in any, of none.  So busy and
 * waits of all launches, by the number of threads, come to the time of the run but for that in
 * which nobody was in a launch.  Takes a step or two an event and thread. */
typedef struct gn_trace_time {
    double busy, wait;
} gn_trace_time;
void gn_trace_times(const gn_trace *t, gn_trace_time *out); /* [launches] */
/* That took part: 1 where the caller was alone. */
static inline int gn_trace_threads(const gn_trace *t) { return t->alone ? 1 : t->threads; }

#endif
