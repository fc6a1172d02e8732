#include "aot/aot.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 };

bool gn_aot_is_prefix(const char *s)
{
    if (!isalpha((unsigned char)*s) || strlen(s) > LONGEST) return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_') return false;
    return true;
}

const char *gn_aot_prefix_of(gn_arena *a, const char *model)
{
    char *s = gn_arena_printf(a, "%s%.*s", isalpha((unsigned char)*model) ? "" : "model_",
                              (int)LONGEST / 2, model);
    for (char *p = s; *p; p++)
        *p = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '_';
    return s;
}

static const char *small(gn_arena *a, const char *s)
{
    char *out = gn_arena_strdup(a, s);
    for (char *p = out; *p; p++) *p = (char)tolower((unsigned char)*p);
    return out;
}

const char *gn_aot_identifier(gn_arena *a, const char *name, gn_map *used)
{
    char *plain = gn_arena_strdup(a, name);
    for (char *p = plain; *p; p++)
        if (!isalnum((unsigned char)*p)) *p = '_';
    const char *s = plain;
    for (int k = 2; gn_map_find(used, small(a, s)); k++) s = gn_arena_printf(a, "%s_%d", plain, k);
    gn_map_put(used, small(a, s), 1);
    return s;
}
