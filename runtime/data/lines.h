/* Lines and numbers of text files; no locale, no copies, no NUL needed at the end. */
#ifndef GN_RUNTIME_DATA_LINES_H
#define GN_RUNTIME_DATA_LINES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gn_text {
    const char *p, *end;
    int64_t line; /* of the line last given, from 1 */
} gn_text;

typedef struct gn_span {
    const char *p, *end;
} gn_span;

bool gn_text_line(gn_text *t, gn_span *line); /* without its \n, \r\n or \r; false at the end */

/* Cuts the next word off the front; blanks and tabs separate. False when none is left. */
bool gn_text_word(gn_span *line, gn_span *word);

/* The fields of a line of a table, the first `most` of them in `field`; how many there are.  A line
 * that has a comma is cut at each comma and blanks about the fields do not count; any other at
 * blanks, of which two tabs in a row have an empty field between them.  A field that is empty has p
 * == end.  What one separator at the end would begin is no field. */
int gn_text_fields(gn_span line, gn_span *field, int most);

/* Without the byte order mark of UTF-8, as spreadsheets and editors of Windows write it. */
void gn_text_skip_mark(gn_text *t);
bool gn_span_is(gn_span s, const char *text); /* ASCII, without case */
void gn_span_trim(gn_span *s);

/* The whole word must be the number. */
bool gn_span_int(gn_span s, int64_t *out);
bool gn_span_float(gn_span s, double *out);

/* A word fit for a message: at most 31 characters, unprintable ones as '?'. */
typedef struct gn_shown {
    char s[32];
} gn_shown;
gn_shown gn_span_show(gn_span s);

/* GN_ERR_DATA "origin:line: ..." raised at `file`, `at` of gnnc's source. */
gn_status *gn_text_error(const char *file, int at, const char *origin, int64_t line,
                         const char *fmt, ...) GN_PRINTF(5, 6);

#endif
