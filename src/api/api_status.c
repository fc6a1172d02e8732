/* Statuses are the compiler's own, seen from outside. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *gnnc_version(void)
{
    return TEXT(GNNC_VERSION_MAJOR) "." TEXT(GNNC_VERSION_MINOR) "." TEXT(GNNC_VERSION_PATCH);
}

gnnc_code gnnc_status_code(const gnnc_status *s)
{
    switch (gn_status_code((const gn_status *)s)) {
    case GN_OK: return GNNC_OK;
    case GN_ERR_MODEL: return GNNC_ERROR_MODEL;
    case GN_ERR_USAGE: return GNNC_ERROR_USAGE;
    case GN_ERR_DATA: return GNNC_ERROR_DATA;
    case GN_ERR_IO: return GNNC_ERROR_IO;
    case GN_ERR_BACKEND: return GNNC_ERROR_BACKEND;
    case GN_ERR_NOMEM: return GNNC_ERROR_MEMORY;
    case GN_ERR_INTERRUPTED:
    case GN_ERR_INTERNAL: break;
    }
    return GNNC_ERROR_INTERNAL;
}

gnnc_status *api_null(const char *function, const char *arg)
{
    return api_out(GN_ERROR(GN_ERR_USAGE, "%s: `%s` is NULL", function, arg));
}

/* A size beyond that was not set. */
enum { NEWER = 4096 };

gn_status *api_read_options(const void *from, size_t least, void *to, size_t known)
{
    size_t size = *(const size_t *)from;
    const unsigned char *bytes = from;
    if (size < least)
        GN_FAIL(GN_ERR_USAGE, "options have size %zu, at least %zu is expected: set `size`", size,
                least);
    if (size > known + NEWER)
        GN_FAIL(GN_ERR_USAGE,
                "options have size %zu, %zu is expected: set `size` to sizeof of the structure",
                size, known);
    for (size_t k = known; k < size; k++)
        if (bytes[k])
            GN_FAIL(GN_ERR_USAGE,
                    "options have size %zu, and byte %zu is set; gnnc %s knows %zu bytes of them: "
                    "the program was "
                    "built against a newer one, and wants what this one does not have",
                    size, k, gnnc_version(), known);
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    return NULL;
}

void api_describe(void *info, const void *full, size_t known)
{
    size_t size = info ? *(const size_t *)info : 0;
    if (!info) return;
    memcpy(info, full, size < known ? size : known);
    if (size > known && size <= known + NEWER) memset((char *)info + known, 0, size - known);
}

const char *gnnc_status_message(const gnnc_status *s)
{
    return gn_status_message((const gn_status *)s);
}
void gnnc_status_free(gnnc_status *s) { gn_status_free((gn_status *)s); }
void gnnc_text_free(char *text) { free(text); }
