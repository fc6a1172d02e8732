#include "runtime/data/numbered.h"

#include "base/map.h"
#include "runtime/data/mem.h"

#include <string.h>

static size_t length(gn_span s) { return (size_t)(s.end - s.p); }

static bool same(gn_span a, gn_span b)
{
    return length(a) == length(b) && !memcmp(a.p, b.p, length(a));
}

/* Where the name is, or would be. */
static int64_t place(const gn_names *t, gn_span name)
{
    int64_t mask = t->slots - 1, at = (int64_t)(gn_hash_bytes(name.p, length(name), 0) >> 1) & mask;
    while (t->slot[at] && !same(t->name[t->slot[at] - 1], name)) at = (at + 1) & mask;
    return at;
}

static gn_status *grow(gn_names *t)
{
    int64_t cap = t->cap ? t->cap * 2 : 64, *slot;
    gn_span *name = cap < PTRDIFF_MAX / 64 ? realloc(t->name, (size_t)cap * sizeof *name) : NULL;
    if (!name) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld names", (long long)cap);
    t->name = name;
    t->cap = cap;
    GN_MEM(slot, cap * 2);
    free(t->slot);
    t->slot = slot;
    t->slots = cap * 2;
    for (int64_t k = 0; k < t->n; k++) t->slot[place(t, t->name[k])] = k + 1;
    return NULL;
}

int64_t gn_names_find(const gn_names *t, gn_span name)
{
    return t->n ? t->slot[place(t, name)] - 1 : -1;
}

gn_status *gn_names_number(gn_names *t, gn_span name, int64_t *number)
{
    if (t->n == t->cap) GN_TRY(grow(t));
    int64_t at = place(t, name);
    if (!t->slot[at]) {
        t->name[t->n] = name;
        t->slot[at] = ++t->n;
    }
    *number = t->slot[at] - 1;
    return NULL;
}

void gn_names_free(gn_names *t)
{
    free(t->name);
    free(t->slot);
    *t = (gn_names){0};
}

gn_status *gn_names_copy(const gn_names *t, char ***out)
{
    char **all;
    GN_MEM(all, t->n);
    for (int64_t k = 0; k < t->n; k++) {
        all[k] = gn_mem_text(t->name[k].p, length(t->name[k]));
        if (all[k]) continue;
        while (k > 0) free(all[--k]);
        free(all);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld names", (long long)t->n);
    }
    *out = all;
    return NULL;
}
