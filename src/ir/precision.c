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

static const char *const numbers[GN_NUMBERS_COUNT] = {
#define X(id, name, kept, products) name,
    GN_NUMBERS(X)
#undef X
};

static const struct {
    gn_storage kept;
    gn_precision products;
} means[GN_NUMBERS_COUNT] = {
#define X(id, name, kept, products) {kept, products},
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

gn_status *gn_numbers_by_name(const char *name, gn_storage *kept, gn_precision *products)
{
    int k;
    gn_status *s = gn_choose("precision", name, numbers, GN_NUMBERS_COUNT, &k);
    *kept = means[k].kept;
    *products = means[k].products;
    return s;
}

const char *gn_numbers_name(gn_storage kept)
{
    int k = 0;
    while (k < GN_NUMBERS_COUNT - 1 && means[k].kept != kept) k++;
    return numbers[k];
}
