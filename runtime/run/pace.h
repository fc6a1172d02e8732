/* Pace: whether a run is worth the pool's threads, found by running.
 *
 * What threads gain on a short program follows what a cache line takes from one core to the other,
 * which on virtual machines changes fourfold from one minute to the next, and whether the other
 * cores are free.  So a few runs with all threads are timed beside a few on the caller alone, and
 * whichever was faster is kept for some hundred times as long; again after that, or when runs have
 * become slower.  Both ways give the same bits.  A program whose runs are long gains by its threads
 * in any case, and is not tried. */
#ifndef GN_RUNTIME_RUN_PACE_H
#define GN_RUNTIME_RUN_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { GN_PACE_RUNS = 9 /* timed of each way */ };

typedef struct gn_pace {
    bool on;
    bool alone;        /* what was found */
    int run;           /* of the trial; negative: runs before the first one */
    int slow;          /* runs in a row that took longer than what was found */
    int64_t end, rest; /* of the rest: when, how many times as long as a trial; end 0: a trial is
                          under way */
    int64_t spent;     /* in this trial */
    int64_t took[2][GN_PACE_RUNS]; /* all threads, alone */
    int64_t ns[2];                 /* a run, by the last trial; 0: there was none */
} gn_pace;

void gn_pace_start(gn_pace *p);
/* Does the next run go to the caller alone? */
bool gn_pace_alone(const gn_pace *p);
/* That it has run: when it was over, by a clock of nanoseconds, and what it took. */
void gn_pace_ran(gn_pace *p, int64_t now, int64_t took);

#endif
