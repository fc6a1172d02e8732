/* Child: another process, under a time limit. */
#ifndef GN_CLI_BENCH_CHILD_H
#define GN_CLI_BENCH_CHILD_H

#include "base/arena.h"
#include "base/status.h"

#include <signal.h>

typedef enum gn_child_end {
    GN_CHILD_EXITED,    /* status: its exit status */
    GN_CHILD_SIGNALLED, /* status: the signal, none of ours */
    GN_CHILD_TIMEOUT,
    GN_CHILD_STOPPED, /* *stop was set */
} gn_child_end;

typedef struct gn_child_options {
    const char *output; /* file that its standard output goes to; NULL: nowhere */
    char *const *argv;  /* argv[0] is run as it stands, without a search; ends with NULL */
    double timeout_s;   /* from its start; then it is killed with all that it started */
    const volatile sig_atomic_t *stop; /* looked at twenty times a second; NULL: nothing stops it */
} gn_child_options;

typedef struct gn_child {
    gn_child_end end;
    int status;
    double ms;             /* from start to end */
    int64_t rss_bytes;     /* resident, at most, as the system counted (getrusage) */
    const char *last_line; /* of standard error, the last with a letter or a digit, at most 500
                              bytes; in the arena */
} gn_child;

/* Runs it to its end, with no standard input, in a process group of its own; on Linux it ends when
 * this process does.  One at a time (SIGCHLD must not be ignored).  GN_ERR_IO: it could not be
 * started; a program that is not there ends with status 127. */
GN_NODISCARD gn_status *gn_child_run(gn_arena *a, const gn_child_options *o, gn_child *out);

#endif
