/* One relation for each kind of edge. */
#include "base/data_name.h"
#include "runtime/data/dataset.h"
#include "runtime/data/lent.h"
#include "runtime/data/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 120 };

static bool is_taken(const gn_dataset *d, const char *name)
{
    for (int k = 0; k < d->n_relations; k++)
        if (!strcmp(d->relations[k].name, name)) return true;
    return !strcmp(name, GN_NAME_G);
}

/* What stands behind the last / or # of an IRI, as a name of the language; "" where nothing is
 * left. */
static void clean(const char *iri, char name[NAME])
{
    const char *from = iri, *end = iri + strlen(iri);
    size_t n = 0;
    while (end > iri && !isalnum((unsigned char)end[-1])) end--;
    for (const char *p = iri; p < end; p++)
        if (*p == '/' || *p == '#') from = p + 1;
    while (from < end && !isalnum((unsigned char)*from)) from++;
    if (from < end && isdigit((unsigned char)*from)) n = (size_t)snprintf(name, NAME, "%s", "rel_");
    for (; from < end && n < NAME - 1; from++)
        name[n++] = isalnum((unsigned char)*from) ? *from : '_';
    name[n] = 0;
}

static void name_of(const gn_dataset *d, const gn_table_column *kind, int64_t k, char name[NAME])
{
    char base[NAME] = "";
    if (kind->names && kind->names[k]) clean(kind->names[k], base);
    if (!*base) snprintf(base, sizeof base, "rel_%lld", (long long)k);
    snprintf(name, NAME, "%s", base);
    for (int n = 2; is_taken(d, name); n++) snprintf(name, NAME, "%.100s_%d", base, n);
}

static gn_status *add(gn_dataset *d, const char *name, const gn_relation *r, bool reversed)
{
    int64_t *from, *to, n = r->n_edges;
    GN_MEM(from, n);
    to = gn_mem_alloc(n, sizeof *to);
    if (!to) free(from);
    if (!to) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)n);
    memcpy(from, reversed ? r->to : r->from, (size_t)n * sizeof *from);
    memcpy(to, reversed ? r->from : r->to, (size_t)n * sizeof *to);
    return gn_dataset_add_relation(d, name, 0, 0, n, from, to, NULL);
}

/* `r`: edges of kind k, from the sorted ones. */
static gn_status *add_kind(gn_dataset *d, const gn_table_column *kind, int64_t k,
                           const gn_relation *r, bool inverse)
{
    char name[NAME], back[NAME + 8];
    name_of(d, kind, k, name);
    GN_TRY(add(d, name, r, false));
    if (!inverse) return NULL;
    snprintf(back, sizeof back, "%s_inv", name);
    for (int n = 2; is_taken(d, back); n++) snprintf(back, sizeof back, "%.100s_inv_%d", name, n);
    return add(d, back, r, true);
}

static gn_status *split(gn_dataset *d, const gn_table_column *kind, const uint8_t *mask,
                        int64_t *start, gn_relation *sorted, bool inverse)
{
    const int32_t *of = kind->data;
    int64_t kinds = kind->classes;
    for (int64_t e = 0; e < d->n_edges; e++)
        if (of[e] >= 0 && (!mask || mask[e])) start[of[e] + 2]++;
    for (int64_t k = 0; k < kinds; k++) start[k + 2] += start[k + 1];
    for (int64_t e = 0; e < d->n_edges; e++) {
        if (of[e] < 0 || (mask && !mask[e])) continue;
        int64_t at = start[of[e] + 1]++;
        sorted->from[at] = d->src[e];
        sorted->to[at] = d->dst[e];
    }
    for (int64_t k = 0; k < kinds; k++) {
        gn_relation r = {.n_edges = start[k + 1] - start[k],
                         .from = sorted->from + start[k],
                         .to = sorted->to + start[k]};
        GN_TRY(add_kind(d, kind, k, &r, inverse));
    }
    return NULL;
}

gn_status *gn_dataset_split_kinds(gn_dataset *d, bool inverse)
{
    const gn_table_column *kind = gn_dataset_column(d, GN_NAME_G ".kind"),
                          *train = gn_dataset_column(d, GN_NAME_G ".train_mask");
    if (!kind || kind->elem != GN_I32 || kind->rank != 0 || kind->classes < 1)
        GN_FAIL(GN_ERR_DATA, "%s: edges have no kinds to make relations of",
                d->name ? d->name : "dataset");
    if (d->kinds_split) return NULL;
    GN_TRY(gn_dataset_list_edges(d));
    int64_t *start = gn_mem_alloc(kind->classes + 2, sizeof *start);
    gn_relation sorted = {.from = gn_mem_alloc(d->n_edges, sizeof *sorted.from),
                          .to = gn_mem_alloc(d->n_edges, sizeof *sorted.to)};
    gn_status *s = !start || !sorted.from || !sorted.to
                       ? GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)d->n_edges)
                       : split(d, kind, train ? train->data : NULL, start, &sorted, inverse);
    free(start);
    free(sorted.from);
    free(sorted.to);
    d->kinds_split = !s;
    return s;
}
