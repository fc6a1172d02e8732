/* Profile: where the time and the memory of a session's training steps, or of its inference, go: by
 * layer of the model, by part of the step, by line and by kernel.
 *
 * Steps are real ones, one after another, with all threads.  Every second one is traced
 * (runtime/run/trace.h) and the others are not, so that what tracing costs is known.  A step's time
 * is the median; a kernel's is its mean over the fifth of the steps nearest to that, so that
 * kernels add up to a step.
 *
 * A kernel may do the work of several layers and lines.  Its time goes to its values by what each
 * has of that side of its bound that binds, traffic or arithmetic: an estimate, and marked as one
 * where more than one layer or part of the step has a value in it. */
#ifndef GN_SESSION_PROFILE_H
#define GN_SESSION_PROFILE_H

#include "runtime/run/trace.h"
#include "session/explain.h"

typedef struct gn_profile_kernel {
    gn_kernel_report report; /* us: of the step's time, waits among it */
    const char *words;       /* gn_kernel_words */
    double wait_us;          /* of us: threads that had nothing to do while others were in it */
    int64_t alive;           /* bytes of temporaries while it runs */
} gn_profile_kernel;

typedef struct gn_profile_part { /* what one line of one layer has of a kernel */
    int kernel;
    gir_loc loc;
    bool estimated;
    double share; /* of the kernel */
    double us, wait_us, bound_us;
    double bytes, flops; /* moved and gathered; with functions and draws as gn_explain counts them
                          */
} gn_profile_part;

typedef struct gn_profile_held { /* temporaries that are alive at the peak */
    gir_loc loc;
    const char *what; /* the operator, or the buffer's name */
    const char *type;
    int64_t bytes;
} gn_profile_held;

typedef struct gn_profile {
    const char *name; /* "step", "eval" */
    const gn_unit *unit;
    const gn_compiled *code;
    int threads;            /* of the pool */
    int used;               /* threads of the typical run: 1 where it was the caller's alone */
    bool region;            /* runs are one parallel region */
    int64_t steps;          /* that were traced */
    double us;              /* of a run of the program, from first launch to last */
    double rest_us;         /* of us: while nobody was in a launch */
    double outside_us;      /* of a step, before and after the run: the loss, the next batch */
    double low_us, high_us; /* of runs: the 10th and the 90th percentile */
    double bare_us;         /* of a whole step that was not traced, */
    double traced_us;       /* and that was */
    double bound_us;        /* sum over kernels */
    int n;
    gn_profile_kernel *kernel; /* [n] launches */
    int n_parts;
    gn_profile_part *part;
    int peak; /* the launch that has most temporaries alive */
    int n_held;
    gn_profile_held *held;   /* largest first */
    gn_trace_thread *events; /* [threads] of the run nearest to the median; times from its begin */
    double events_us;        /* what that took */
    int64_t lost;
} gn_profile;

/* steps 0: as many as take a second or two.  In the session's or a longer arena.  Trains a session
 * that trains.  GN_ERR_USAGE on a device; GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_profile_session(gn_arena *a, gn_session *s, const gn_ceilings *c,
                                           int64_t steps, gn_profile *out);

/* Of a unit that is bound, whose kernels' times are known (kernel[n], us and wait_us): sets all
 * that follows from those, parts and memory among it. */
void gn_profile_unit(gn_arena *a, const gn_unit *u, const gn_ceilings *c, gn_profile *p);

/* Parts put together, the most time first. */
typedef enum gn_profile_by { GN_PROFILE_LAYER, GN_PROFILE_LINE, GN_PROFILE_KERNEL } gn_profile_by;

typedef struct gn_profile_row {
    gir_loc loc; /* of its largest part */
    int kernel;  /* by kernel: which; else the one that most of its time is in */
    int kernels; /* that it has a part of */
    bool estimated;
    double us, wait_us, bound_us, bytes, flops;
    gn_bound_by by; /* that most of its time is bound by */
} gn_profile_row;

/* Layer: layer and part of the step.  Line: the user's own line and part of the step.  In the
 * arena; *n rows. */
gn_profile_row *gn_profile_rows(gn_arena *a, const gn_profile *p, gn_profile_by by, int *n);

/* How a kernel's time is split: [cost->n_values] shares that sum to 1. */
double *gn_profile_shares(gn_arena *a, const gn_cost *cost, const gn_ceilings *c, gn_bound_by by);

#endif
