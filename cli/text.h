/* Numbers and words for people, and text for formats that give some characters a meaning. */
#ifndef GN_CLI_TEXT_H
#define GN_CLI_TEXT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

/* In the arena: "812 us", "1.23 ms", "2.1 s", "4 min 10 s"; "-" for NaN, "never" for infinity. */
const char *gn_text_time(gn_arena *a, double us);
const char *gn_text_bytes(gn_arena *a, double bytes);  /* "11.2 MB", decimal */
const char *gn_text_number(gn_arena *a, double value); /* three digits that count: "0.00123",
                                                          "12.3", "12,300" */

const char *gn_text_count(gn_arena *a, double value); /* a whole number: "12,345"; "never" for
                                                         infinity */

/* the same of what is an estimate, with three digits that count: "12,300" */
const char *gn_text_steps(gn_arena *a, double value);

bool gn_text_ends(const char *path, const char *end); /* with something before it */

/* What each format wants.  Bytes that are not UTF-8, and control characters that it has no use for,
 * become U+FFFD. */
void gn_text_html(FILE *to, const char *text); /* attributes too */
void gn_text_latex(FILE *to, const char *text);
void gn_text_markdown(FILE *to, const char *text); /* in a cell of a table */
void gn_text_csv(FILE *to, const char *text);      /* RFC 4180: quoted where it must be */

/* The same without a format, in the arena: at most `most` characters as UTF-16 counts them, none
 * cut in two. */
const char *gn_text_fit(gn_arena *a, const char *text, size_t most);

#endif
