/* The log of training: a line for each epoch, as CSV or as JSON lines.
 *
 * A line is on its way to the file when its epoch is over, so a run that is killed keeps them
 * all. What goes on from a checkpoint keeps the lines of the epochs before it, and drops those
 * that it will write again. */
#ifndef GN_CLI_TRAIN_LOG_H
#define GN_CLI_TRAIN_LOG_H

#include "base/arena.h"
#include "session/session.h"

#include <stdio.h>

typedef struct gn_train_log {
    gn_arena *arena;
    const char *path; /* NULL: there is none, and nothing is done */
    bool resumed;     /* lines of earlier epochs stay */
    /* What is kept of a file that it goes on with; NULL: nobody listens. */
    void (*kept)(void *ctx, uint64_t seed, const gn_epoch *e);
    void *ctx;
    FILE *f;
    gn_status *failed; /* why it could not be opened; gn_train_log_end hands it on */
} gn_train_log;

/* Before the work: does the name end in .csv or .jsonl, and is what stands there a log, nothing,
 * or no regular file? GN_ERR_USAGE; GN_ERR_IO where it cannot be read. NULL is fine. */
GN_NODISCARD gn_status *gn_train_log_check(const char *path);

void gn_train_log_epoch(gn_train_log *l, uint64_t seed, const gn_epoch *e);
/* GN_ERR_IO: what could not be written. */
GN_NODISCARD gn_status *gn_train_log_end(gn_train_log *l);

#endif
