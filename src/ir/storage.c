#include "ir/storage.h"

#include "base/map.h"

#include <string.h>

const char *const gn_storage_name[GN_STORAGE_COUNT] = {
#define X(id, name) name,
    GN_STORAGES(X)
#undef X
};

gn_status *gn_storage_by_name(const char *name, gn_storage *out)
{
    *out = GN_STORAGE_FLOAT32;
    for (int k = 0; name && k < GN_STORAGE_COUNT; k++)
        if (!strcmp(name, gn_storage_name[k])) {
            *out = (gn_storage)k;
            return NULL;
        }
    if (!name) return NULL;
    GN_FAIL(GN_ERR_USAGE, "nothing is stored as '%s': float32 or bfloat16%s", name,
            gn_did_you_mean(name, gn_storage_name, GN_STORAGE_COUNT).text);
}
