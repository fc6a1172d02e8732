#include "ir/precision.h"

#include "base/map.h"

#include <string.h>

const char *const gn_precision_name[GN_PRECISION_COUNT] = {
#define X(id, name) name,
    GN_PRECISIONS(X)
#undef X
};

gn_status *gn_precision_by_name(const char *name, gn_precision *out)
{
    *out = GN_PRECISION_HIGHEST;
    for (int k = 0; name && k < GN_PRECISION_COUNT; k++)
        if (!strcmp(name, gn_precision_name[k])) {
            *out = (gn_precision)k;
            return NULL;
        }
    if (!name) return NULL;
    GN_FAIL(GN_ERR_USAGE, "there is no precision '%s': highest, high or medium%s", name,
            gn_did_you_mean(name, gn_precision_name, GN_PRECISION_COUNT).text);
}
