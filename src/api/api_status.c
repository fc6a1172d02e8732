/* Statuses are the compiler's own, seen from outside. */
#include "api/api.h"

#include <stdlib.h>

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

const char *gnnc_status_message(const gnnc_status *s) { return gn_status_message((const gn_status *)s); }
void gnnc_status_free(gnnc_status *s) { gn_status_free((gn_status *)s); }
void gnnc_text_free(char *text) { free(text); }
