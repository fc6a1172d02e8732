#include "compile/mode.h"

#include <string.h>

const gn_mode_spec gn_modes[GN_MODE_COUNT] = {
#define X(number, id, name, eager, region, tune) [GN_MODE_##id] = {eager, region, tune},
    GN_MODES(X)
#undef X
};

const char *const gn_mode_name[GN_MODE_COUNT] = {
#define X(number, id, name, eager, region, tune) [GN_MODE_##id] = name,
    GN_MODES(X)
#undef X
};

gn_mode gn_mode_by_name(const char *name)
{
#define X(number, id, text, eager, region, tune)                                                   \
    if (!strcmp(name, #number)) return GN_MODE_##id;
    GN_NUMBERED_MODES(X)
#undef X
    for (int k = 0; k < GN_MODE_COUNT; k++)
        if (!strcmp(name, gn_mode_name[k])) return (gn_mode)k;
    return GN_MODE_COUNT;
}
