#include "runtime/data/triplet.h"

#include <stdio.h>
#include <string.h>

bool gn_triplet_cut(const char *text, const char *between, gn_triplet *out)
{
    for (int k = 0; k < 3; k++) {
        const char *end = strstr(text, between);
        if ((k == 2) != !end) return false;
        size_t n = end ? (size_t)(end - text) : strlen(text);
        if (n == 0 || n >= GN_TRIPLET_NAME) return false;
        memcpy(out->part[k], text, n);
        out->part[k][n] = 0;
        if (end) text = end + strlen(between);
    }
    return true;
}

int gn_triplet_order(const void *a, const void *b)
{
    const gn_triplet *x = a, *y = b;
    for (int k = 0; k < 3; k++) {
        int order = strcmp(x->part[k], y->part[k]);
        if (order) return order;
    }
    return 0;
}

gn_triplet_text gn_triplet_name(const gn_dataset *d, const gn_triplet *t)
{
    gn_triplet_text name;
    bool taken = false;
    for (int k = 0; k < d->n_relations; k++)
        taken = taken || !strcmp(d->relations[k].name, t->part[1]);
    if (taken)
        snprintf(name.s, sizeof name.s, "%s__%s__%s", t->part[0], t->part[1], t->part[2]);
    else
        snprintf(name.s, sizeof name.s, "%s", t->part[1]);
    return name;
}
