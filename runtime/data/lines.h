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

bool gn_text_line(gn_text *t, gn_span *line); /* without its \n or \r\n; false at the end */

/* Cut the next word off the front; blanks, tabs and (where `commas`) commas separate. False when none is left. */
bool gn_text_word(gn_span *line, bool commas, gn_span *word);
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
gn_status *gn_text_error(const char *file, int at, const char *origin, int64_t line, const char *fmt, ...)
    GN_PRINTF(5, 6);

#endif
