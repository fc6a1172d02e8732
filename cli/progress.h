/* Progress: a line of a terminal that rewrites itself.
 *
 * Nothing is written where the stream is no terminal, or one that cannot move its cursor (TERM=dumb).  The line is cut to the
 * width that the terminal has at that moment, so that it never scrolls. */
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
bool gn_progress_due(const gn_progress *p);              /* on, and a tenth of a second after the last line? */
void gn_progress_show(gn_progress *p, const char *text); /* one line of UTF-8, in place of the one before */
void gn_progress_clear(gn_progress *p);                  /* the line is gone */
void gn_progress_end(gn_progress *p);                    /* the line stays, and what follows stands below it */

#endif
