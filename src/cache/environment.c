/* Where the environment puts a cache. */
#include "cache/cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gn_cache_parse_size(const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    if (*text < '0' || *text > '9') return false;
    double v = strtod(text, &end), scale = 1;
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        scale = pow(1024, (double)(unit - units + 1));
        end++;
    }
    if (*end || !(v * scale >= 1) || v * scale > 9e18) return false;
    *bytes = (int64_t)(v * scale);
    return true;
}

static const char *set(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

gn_status *gn_cache_environment(gn_arena *a, gn_cache_options *o, bool *on)
{
    const char *use = set("GNNC_CACHE"), *dir = set("GNNC_CACHE_DIR"), *xdg = set("XDG_CACHE_HOME"),
               *home = set("HOME");
    const char *base = set("GNNC_CACHE_BASE"), *size = set("GNNC_CACHE_SIZE");
    *on = !use || (strcmp(use, "0") != 0 && strcmp(use, "off") != 0);
    /* The specification of base directories: a path that is not absolute is as good as none. */
    if (dir)
        o->dir = gn_arena_strdup(a, dir);
    else if (xdg && *xdg == '/')
        o->dir = gn_arena_printf(a, "%s/gnnc", xdg);
    else if (home && *home == '/')
        o->dir = gn_arena_printf(a, "%s/.cache/gnnc", home);
    if (base) o->base = gn_arena_strdup(a, base);
    if (size && !gn_cache_parse_size(size, &o->disk_bytes))
        GN_FAIL(GN_ERR_USAGE, "GNNC_CACHE_SIZE: '%s' is not a size, such as 100M", size);
    return NULL;
}
