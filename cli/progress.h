/* Progress: a line of a terminal that rewrites itself.
 *
 * Nothing is written where the stream is no terminal, or one that cannot move its cursor
 * (TERM=dumb). The line is cut to the width that the terminal has at that moment, so that it
 * never scrolls. */
#ifndef GN_CLI_PROGRESS_H
#define GN_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

typedef struct gn_progress {
    FILE *to;
    bool on;    /* is anything written? */
    bool shown; /* does a line stand there? */
    double last_ms;
} gn_progress;

void gn_progress_begin(gn_progress *p, FILE *to, bool wanted);
/* Is it on, and was the last line a tenth of a second ago? */
bool gn_progress_due(const gn_progress *p);
/* One line of UTF-8, in place of the one before. */
void gn_progress_show(gn_progress *p, const char *text);
/* The line is gone. */
void gn_progress_clear(gn_progress *p);
/* The line stays, and what follows stands below it. */
void gn_progress_end(gn_progress *p);

#endif
