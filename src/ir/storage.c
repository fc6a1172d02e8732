#include "ir/storage.h"

#include "base/nearest.h"

const char *const gn_storage_name[GN_STORAGE_COUNT] = {
#define X(id, name) name,
    GN_STORAGES(X)
#undef X
};

gn_status *gn_storage_by_name(const char *name, gn_storage *out)
{
    int k;
    gn_status *s = gn_choose("storage", name, gn_storage_name, GN_STORAGE_COUNT, &k);
    *out = (gn_storage)k;
    return s;
}
