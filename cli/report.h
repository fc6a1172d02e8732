/* What the command line says beside its data: errors, in colour where a terminal shows them. */
#ifndef GN_CLI_REPORT_H
#define GN_CLI_REPORT_H

#include "base/status.h"

#include <stdio.h>

/* Is `f` a terminal that shows colours?  NO_COLOR (no-color.org) and TERM=dumb say no. */
bool gn_cli_color(FILE *f);

/* Diagnostics of a model, as they are: on a terminal that shows colours with the kind and the caret
 * in them. */
void gn_cli_diagnostics(const char *text, FILE *to);

/* Prints an error to `to` and frees it; the exit status that goes with it (0 for NULL, which prints
 * nothing). */
int gn_cli_report(gn_status *s, FILE *to);

#endif
