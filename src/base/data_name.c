#include "base/data_name.h"

#include <stddef.h>

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
