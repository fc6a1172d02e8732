#include "ir/precision.h"

#include "base/nearest.h"

const char *const gn_precision_name[GN_PRECISION_COUNT] = {
#define X(id, name) name,
    GN_PRECISIONS(X)
#undef X
};

const char *const gn_storage_name[GN_STORAGE_COUNT] = {
#define X(id, name) name,
    GN_STORAGES(X)
#undef X
};

const char *const gn_numbers_name[GN_NUMBERS_COUNT] = {
#define X(id, name, kept, products) name,
    GN_NUMBERS(X)
#undef X
};

const gn_storage gn_numbers_kept[GN_NUMBERS_COUNT] = {
#define X(id, name, kept, products) kept,
    GN_NUMBERS(X)
#undef X
};

const gn_precision gn_numbers_products[GN_NUMBERS_COUNT] = {
#define X(id, name, kept, products) products,
    GN_NUMBERS(X)
#undef X
};

gn_status *gn_precision_by_name(const char *name, gn_precision *out)
{
    int k;
    gn_status *s = gn_choose("precision", name, gn_precision_name, GN_PRECISION_COUNT, &k);
    *out = (gn_precision)k;
    return s;
}

gn_status *gn_storage_by_name(const char *name, gn_storage *out)
{
    int k;
    gn_status *s = gn_choose("storage", name, gn_storage_name, GN_STORAGE_COUNT, &k);
    *out = (gn_storage)k;
    return s;
}

gn_status *gn_numbers_by_name(const char *name, gn_numbers *out)
{
    int k;
    gn_status *s = gn_choose("precision", name, gn_numbers_name, GN_NUMBERS_COUNT, &k);
    *out = (gn_numbers)k;
    return s;
}
