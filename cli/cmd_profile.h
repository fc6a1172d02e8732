/* What `gnnc profile` says, as text, as JSON, as a trace and as a page. */
#ifndef GN_CLI_CMD_PROFILE_H
#define GN_CLI_CMD_PROFILE_H

#include "cli/session_options.h"
#include "session/profile.h"

#include <stdio.h>

typedef struct gn_cli_profile_of {
    gn_arena *arena;
    const gn_session *s;
    const gn_ceilings *ceilings;
    const gn_profile *p;
} gn_cli_profile_of;

/* cmd_profile.c: of the first file, the user's own; all in the arena. */
const char *gn_profile_line(const gn_cli_profile_of *z, gir_loc at); /* "gat.gnn:10", "-" */
/* that line without blanks around it; "" where it is not known */
const char *gn_profile_source(const gn_cli_profile_of *z, gir_loc at);
const char *gn_profile_row_name(const gn_cli_profile_of *z, gn_profile_by by,
                                const gn_profile_row *r);
/* What a stranger wants to know first: which layer takes most, in which part of the step, what
 * bounds it.  One or two sentences. */
const char *gn_profile_verdict(const gn_cli_profile_of *z);
/* "0.4 %", of a step: what tracing adds; "less than can be told" */
const char *gn_profile_overhead(const gn_cli_profile_of *z);
/* By layer and part of the step, what is alive at the peak; *n rows, the largest first. */
gn_profile_held *gn_profile_held_by_layer(const gn_cli_profile_of *z, int *n);

void gn_profile_json(const gn_cli_profile_of *z, FILE *to);
/* Trace Event Format ("JSON Object Format"), which Perfetto and chrome://tracing open: the run that
 * is nearest to the median. */
void gn_profile_trace(const gn_cli_profile_of *z, FILE *to);
void gn_profile_page(const gn_cli_profile_of *z, FILE *to);

#endif
