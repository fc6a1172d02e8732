#include "base/data_name.h"

#include <stddef.h>
#include <string.h>

const char *const gn_data_name[GN_DATA_COUNT] = {
#define X(id, name, word) name,
    GN_DATA(X)
#undef X
};

const char *const gn_data_word[GN_DATA_COUNT] = {
#define X(id, name, word) word,
    GN_DATA(X)
#undef X
};

bool gn_is_data_name(const char *name)
{
    for (int k = 0; k < GN_DATA_COUNT; k++)
        if (!strcmp(name, gn_data_name[k])) return true;
    return false;
}

bool gn_is_batch_mask(const char *name)
{
    size_t n = strlen(name), end = strlen(GN_BATCH_MASK);
    return n > end && !strcmp(name + n - end, GN_BATCH_MASK);
}
