#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gn_status out_of_memory = {.code = GN_ERR_NOMEM, .line = 0, .file = __FILE__};

gn_status *gn_status_vmake(gn_code code, const char *file, int line, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) n = 0;
    gn_status *s = malloc(sizeof *s + (size_t)n + 1);
    if (!s) return &out_of_memory;
    s->code = code;
    s->file = file;
    s->line = line;
    s->message[0] = 0;
    vsnprintf(s->message, (size_t)n + 1, fmt, ap);
    return s;
}

gn_status *gn_status_make(gn_code code, const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gn_status *s = gn_status_vmake(code, file, line, fmt, ap);
    va_end(ap);
    return s;
}

gn_status *gn_status_annotate(gn_status *s, const char *fmt, ...)
{
    if (!s || s == &out_of_memory) return s;
    va_list ap;
    va_start(ap, fmt);
    gn_status *head = gn_status_vmake(s->code, s->file, s->line, fmt, ap);
    va_end(ap);
    gn_status *both = gn_status_make(s->code, s->file, s->line, "%s: %s", gn_status_message(head),
                                     s->message);
    gn_status_free(head);
    gn_status_free(s);
    return both;
}

void gn_status_free(gn_status *s)
{
    if (s != &out_of_memory) free(s);
}

gn_code gn_status_code(const gn_status *s) { return s ? s->code : GN_OK; }

const char *gn_status_message(const gn_status *s)
{
    if (!s) return "";
    return s == &out_of_memory ? "out of memory" : s->message;
}

static const struct {
    const char *name;
    int exit;
} codes[] = {
    [GN_OK] = {"ok", 0},
    [GN_ERR_MODEL] = {"model", 1},
    [GN_ERR_USAGE] = {"usage", 2},
    [GN_ERR_DATA] = {"data", 3},
    [GN_ERR_IO] = {"io", 3},
    [GN_ERR_BACKEND] = {"backend", 4},
    [GN_ERR_NOMEM] = {"memory", 1},
    [GN_ERR_INTERNAL] = {"internal", 70},
    [GN_ERR_INTERRUPTED] = {"interrupted", 130},
};

const char *gn_code_name(gn_code code) { return codes[code].name; }
int gn_code_exit(gn_code code) { return codes[code].exit; }
