/* Diagnostics: errors with file, line, caret and the source line, gathered until the end. */
#ifndef GN_FRONTEND_DIAG_H
#define GN_FRONTEND_DIAG_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"

#include <stdbool.h>

/* A source text.  Spans are bytes of it. */
typedef struct gn_source {
    const char *name; /* as diagnostics show it */
    const char *text; /* NUL-terminated copy; may hold NULs too */
    uint32_t n;
    uint32_t n_lines;
    const uint32_t *line_at; /* [n_lines] where lines begin */
} gn_source;

typedef struct gn_span {
    uint32_t at, len;
} gn_span;

gn_source *gn_source_new(gn_arena *a, const char *name, const char *text, size_t n);
void gn_source_position(const gn_source *s, uint32_t at, uint32_t *line,
                        uint32_t *col); /* 1-based;
                                           col in
                                           characters
                                         */

enum { GN_MAX_ERRORS = 20 }; /* shown */

/* Hears of each as it is found, once. `message` has no line feed. */
typedef struct gn_listener {
    void (*hear)(void *ctx, bool note, const char *file, uint32_t line, uint32_t column,
                 const char *message);
    void *ctx;
} gn_listener;

typedef struct gn_diags {
    gn_arena *arena;
    const gn_listener *listener; /* NULL: nobody listens */
    gn_buf text;
    gn_buf warnings; /* likewise text, of what is no error */
    gn_map seen; /* errors already reported: a loop's body fails the same way every time round */
    int errors;
    bool last_shown;
} gn_diags;

void gn_diags_init(gn_diags *d, gn_arena *a);
void gn_diag_error(gn_diags *d, const gn_source *s, gn_span at, const char *fmt, ...)
    GN_PRINTF(4, 5);
void gn_diag_verror(gn_diags *d, const gn_source *s, gn_span at, const char *fmt, va_list ap);
void gn_diag_note(gn_diags *d, const gn_source *s, gn_span at, const char *fmt, ...)
    GN_PRINTF(4, 5); /* to the last error */
/* Of what may well be meant; nobody but who reads d->warnings hears of it. */
void gn_diag_warning(gn_diags *d, const gn_source *s, gn_span at, const char *fmt, ...)
    GN_PRINTF(4, 5);
gn_status *gn_diags_status(const gn_diags *d); /* GN_ERR_MODEL with all of them; NULL without errors
                                                */

/* Text for a message: printable, at most ~40 characters. */
const char *gn_diag_clean(gn_arena *a, const char *s, size_t n);

/* "; did you mean `x`?" or "". */
const char *gn_diag_suggest(gn_arena *a, const char *name, const char *const *candidates, size_t n);

/* The same, or "; it takes `a`, `b`" where none is near; "" where nothing is taken. */
const char *gn_diag_taken(gn_arena *a, const char *name, const char *const *taken, size_t n);

#endif
