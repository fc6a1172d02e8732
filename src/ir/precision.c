#include "ir/precision.h"

#include "base/nearest.h"

const char *const gn_precision_name[GN_PRECISION_COUNT] = {
#define X(id, name) name,
    GN_PRECISIONS(X)
#undef X
};

gn_status *gn_precision_by_name(const char *name, gn_precision *out)
{
    int k;
    gn_status *s = gn_choose("precision", name, gn_precision_name, GN_PRECISION_COUNT, &k);
    *out = (gn_precision)k;
    return s;
}
