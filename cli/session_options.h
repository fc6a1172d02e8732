/* From the command line's options to a session, and what several commands print. */
#ifndef GN_CLI_SESSION_OPTIONS_H
#define GN_CLI_SESSION_OPTIONS_H

#include "cli/command.h"
#include "cli/json.h"
#include "session/session.h"

GN_NODISCARD gn_status *gn_cli_session_options(gn_cli *cli, gn_session_options *out);

/* Can the file be written that an option names, and is it neither the model nor the data?  Asked
 * before the work is done that it is for; NULL is fine. */
GN_NODISCARD gn_status *gn_cli_check_output(const gn_cli *cli, const char *option,
                                            const char *path);

/* "on" 1, "off" 0; "auto", or not given: -1. */
int gn_cli_tri(const char *s);

/* Two names of one file, that is there; NULL is none. */
bool gn_cli_same_file(const char *a, const char *b);

/* gn_session_new.  Where the mode searches, Ctrl-C ends the search: GN_ERR_INTERRUPTED says what is
 * kept.  Not with o->over, where the caller listens. */
GN_NODISCARD gn_status *gn_cli_session_open(gn_cli *cli, gn_session_options *o, gn_session **out);

/* The same of the program that --what names, o->train as it says; where it names none, of the
 * training step, or of the forward pass alone where the data has no labels. */
GN_NODISCARD gn_status *gn_cli_session_new(gn_cli *cli, gn_session_options *o, gn_session **out);

/* "cpu", or the name of the GPU; "cuda" where code is made for one that is not here. */
const char *gn_cli_device_name(const gn_session *s);

/* opencache.c: the cache of compiled kernels as options and environment want it; cli->cache is NULL
 * where they want none. Warnings, and with -d cache notes, go to standard error. */
GN_NODISCARD gn_status *gn_cli_open_cache(gn_cli *cli);

/* -d: is the topic among those that were asked for?  GN_ERR_USAGE for a topic that there is not. */
GN_NODISCARD gn_status *gn_cli_debugging(const gn_cli *cli, const char *topic, bool *on);

/* batches.c: runs the model on random parts of the graph. */
GN_NODISCARD gn_status *gn_cli_run_batches(gn_cli *cli, const gn_session_options *o);

/* " (5 of 5 kernels cached)" in the arena; "" where there is no cache. */
const char *gn_cli_cached(const gn_session *s);

/* --without and --only. */
GN_NODISCARD gn_status *gn_cli_without(const gn_cli *cli, gn_without *out);

/* "karate: 34 nodes, 156 edges ...", and that the default graph gave the shapes, on standard
 * error. */
void gn_cli_describe(const gn_cli *cli, const gn_session *s);

/* model, data, nodes, edges, device, threads, mode, what is left out: the head of every report. */
void gn_cli_json_head(gn_json *j, const gn_session *s);

/* A fraction as a percentage with so many digits, "-" where it is NaN: nothing was counted. */
enum { GN_CLI_PERCENT = 32 };
const char *gn_cli_percent(char text[GN_CLI_PERCENT], double fraction, int digits);

/* "12.3 kB", "4.5 MB" */
enum { GN_CLI_BYTES = 32 };
const char *gn_cli_bytes(char text[GN_CLI_BYTES], int64_t bytes);

/* Of the last forward pass: predicted classes as .csv; those and the logits as .npz. */
/* the name alone, before the work; NULL is fine */
GN_NODISCARD gn_status *gn_cli_check_predictions(const char *path);
GN_NODISCARD gn_status *gn_cli_write_predictions(const gn_cli *cli, const gn_session *s);

/* Where the time of a unit's runs went, launch by launch, on standard error; profiling must be
 * on. */
void gn_cli_profile(const char *name, const gn_unit *u);

/* {median, p10, p90}; sorts x. */
void gn_cli_json_times(gn_json *j, const char *key, double *x, int64_t n);
/* What --matmul-precision does where all products are exact, and why they are. */
#define GN_CLI_EXACT "--matmul-precision %s changes nothing here: products are float32 (%s)\n"

double gn_cli_median(double *x, int64_t n); /* sorts x; NaN of none */

#endif
