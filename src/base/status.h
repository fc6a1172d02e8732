/* Status: errors are values with an origin.
 *
 * A function that can fail returns `gn_status *`: NULL is success, anything else is an error object
 * owned by the caller, who passes it on (GN_TRY) or ends it with gn_status_free.  An error carries
 * a code, a message with the values in it, and the source position that raised it.  The library
 * never prints, exits or asserts on input. */
#ifndef GN_BASE_STATUS_H
#define GN_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gn_code {
    GN_OK = 0,
    GN_ERR_MODEL, /* the model or the run is at fault: syntax, types, shapes, divergence   (exit 1)
                   */
    GN_ERR_USAGE, /* the caller's options or arguments are                                  (exit 2)
                   */
    GN_ERR_DATA,  /* a data, graph or weight file is malformed or does not fit the model    (exit 3)
                   */
    GN_ERR_IO, /* a file could not be opened, read or written; errno's words are in it   (exit 3) */
    GN_ERR_BACKEND, /* a back end, device or library is missing; says what was looked for     (exit
                       4) */
    GN_ERR_NOMEM, /* memory ran out; says how much was asked for where that is known        (exit 1)
                   */
    GN_ERR_INTERNAL, /* a defect of gnnc itself: an IR that does not verify, say               (exit
                        70) */
    GN_ERR_INTERRUPTED, /* the user ended it early; what there is then is kept                 (exit
                           130) */
} gn_code;

typedef struct gn_status {
    gn_code code;
    int line;         /* where in gnnc's source it was raised */
    const char *file; /* static */
    char message[];   /* NUL-terminated; may hold several lines (diagnostics with carets) */
} gn_status;

#if defined(__GNUC__)
#define GN_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define GN_NODISCARD __attribute__((warn_unused_result))
#else
#define GN_PRINTF(f, a)
#define GN_NODISCARD
#endif

/* Makes an error.  Never returns NULL: where memory is out, a static GN_ERR_NOMEM stands in. */
gn_status *gn_status_make(gn_code code, const char *file, int line, const char *fmt, ...)
    GN_PRINTF(4, 5);
gn_status *gn_status_vmake(gn_code code, const char *file, int line, const char *fmt, va_list ap);

/* Puts "context: " in front of the message; takes `s` and returns the new one. NULL stays NULL. */
gn_status *gn_status_annotate(gn_status *s, const char *fmt, ...) GN_PRINTF(2, 3);

void gn_status_free(gn_status *s); /* NULL is fine */

gn_code gn_status_code(const gn_status *s);        /* GN_OK for NULL */
const char *gn_status_message(const gn_status *s); /* "" for NULL; lives as long as s */
const char *gn_code_name(gn_code code);            /* "model", "usage", ...; static */
int gn_code_exit(gn_code code); /* the documented exit status of the command line */

#define GN_FAIL(code, ...) return gn_status_make((code), __FILE__, __LINE__, __VA_ARGS__)
#define GN_ERROR(code, ...) gn_status_make((code), __FILE__, __LINE__, __VA_ARGS__)
#define GN_TRY(expr)                                                                               \
    do {                                                                                           \
        gn_status *gn_try_s_ = (expr);                                                             \
        if (gn_try_s_) return gn_try_s_;                                                           \
    } while (0)

#endif
