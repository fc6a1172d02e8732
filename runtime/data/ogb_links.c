/* Splits of links in OGB's folders of one type of nodes: train.pt, valid.pt and test.pt are dicts
 * of torch.save.
 *
 * `edge` [n, 2] (ogbl-ppa, collab, ddi), or `source_node` and `target_node` [n] (ogbl-citation2)
 * are the relation `seeds`, those of the files one behind another, with masks.  Where there is an
 * `edge_neg` [n, 2], its edges stand behind the others of their file, and `seeds.labels` is 1 and
 * 0. `head`, `relation` and `tail` [n] (ogbl-wikikg2) are the edges of g in the place of those in
 * raw/, which are the ones of train.pt: with g.kind and masks, as triples in text are. */
#include "runtime/data/array_values.h"
#include "runtime/data/mem.h"
#include "runtime/data/ogb.h"
#include "runtime/data/torchfile.h"

#include <stdio.h>
#include <string.h>

enum { SETS = 3 };
static const char *const file_name[SETS] = {"train.pt", "valid.pt", "test.pt"};

typedef struct set {
    gn_folder_file file;
    gn_torch *torch;
    const gn_ndarray *edge;   /* [n, 2]; NULL: */
    const gn_ndarray *end[2]; /* [n] each */
    const gn_ndarray *kind;   /* [n] of facts; NULL: these are none */
    const gn_ndarray *wrong;  /* [n_wrong, 2] or NULL */
    int64_t n, n_wrong;
} set;

typedef struct work {
    set sets[SETS];
    int64_t n; /* edges of all */
    gn_dataset *d;
} work;

#define SET_FAIL(s, ...)                                                                           \
    return gn_status_annotate(GN_ERROR(GN_ERR_DATA, __VA_ARGS__), "%s", (s)->file.path)

/* The array under a key; NULL: there is none. */
static gn_status *array_of(const set *s, const char *key, int rank, const gn_ndarray **out)
{
    char what[GN_PATH_SIZE + 64];
    const gn_pickle_value *v = gn_pickle_get(gn_torch_value(s->torch), key);
    *out = NULL;
    if (!v) return NULL;
    snprintf(what, sizeof what, "%s: %s", s->file.path, key);
    if (v->kind != GN_PICKLE_ARRAY)
        GN_FAIL(GN_ERR_DATA, "%s: expected an array, and it is a %s", what,
                gn_pickle_kind_name(v->kind));
    const gn_ndarray *a = v->u.array;
    if (a->rank != rank || (rank == 2 && a->dim[1] != 2))
        return gn_array_bad_shape(what, a, rank == 2 ? "[edges, 2]" : "a number for each edge");
    *out = a;
    return NULL;
}

static gn_status *read_arrays(set *s)
{
    static const char *const ends[2][2] = {{"source_node", "target_node"}, {"head", "tail"}};
    GN_TRY(array_of(s, "edge", 2, &s->edge));
    GN_TRY(array_of(s, "edge_neg", 2, &s->wrong));
    for (int k = 0; k < 2 && !s->edge && !s->end[0]; k++) {
        GN_TRY(array_of(s, ends[k][0], 1, &s->end[0]));
        GN_TRY(array_of(s, ends[k][1], 1, &s->end[1]));
        if (k == 1) GN_TRY(array_of(s, "relation", 1, &s->kind));
        if (k == 1 && s->end[0] && !s->kind) s->end[0] = NULL;
    }
    if (!s->edge && (!s->end[0] || !s->end[1]))
        SET_FAIL(s,
                 "expected `edge`, or `source_node` and `target_node`, or `head`, `relation` and "
                 "`tail`");
    s->n = s->edge ? s->edge->dim[0] : s->end[0]->count;
    s->n_wrong = s->wrong ? s->wrong->dim[0] : 0;
    if (!s->edge && (s->end[1]->count != s->n || (s->kind && s->kind->count != s->n)))
        SET_FAIL(s, "sources, targets and kinds are not as many: expected %lld of each",
                 (long long)s->n);
    if (s->kind && s->wrong) SET_FAIL(s, "edge_neg beside facts");
    return NULL;
}

static gn_status *open_sets(const gn_ogb_split *split, work *w)
{
    for (int k = 0; k < SETS; k++) {
        set *s = &w->sets[k];
        GN_TRY(gn_folder_read(split->folder, file_name[k], true, &s->file));
        GN_TRY(gn_torch_open(s->file.bytes.p, s->file.bytes.n, s->file.path, &s->torch));
        GN_TRY(read_arrays(s));
        if (!s->kind != !w->sets[0].kind) SET_FAIL(s, "expected what train.pt has: facts or edges");
        w->n += s->n + s->n_wrong;
    }
    return NULL;
}

/* The number `i` of an edge that is true or wrong, from an end of it. */
static gn_status *end_of(const work *w, const set *s, bool wrong, int64_t i, int k, int64_t *out)
{
    const gn_ndarray *a = wrong ? s->wrong : s->edge ? s->edge : s->end[k];
    int64_t at = wrong || s->edge ? 2 * i + k : i;
    if (!gn_ndarray_i64(a, at, out) || *out < 0 || *out >= w->d->n_nodes)
        SET_FAIL(s, "%s%lld ends at %g: expected a node from 0 to %lld",
                 wrong ? "edge_neg: edge " : "edge ", (long long)i, gn_ndarray_f64(a, at),
                 (long long)w->d->n_nodes - 1);
    return NULL;
}

static gn_status *fill_ends(const work *w, int64_t *end[2])
{
    int64_t at = 0;
    for (int f = 0; f < SETS; f++) {
        const set *s = &w->sets[f];
        for (int64_t i = 0; i < s->n + s->n_wrong; i++, at++) {
            bool wrong = i >= s->n;
            for (int k = 0; k < 2; k++)
                GN_TRY(end_of(w, s, wrong, wrong ? i - s->n : i, k, &end[k][at]));
        }
    }
    return NULL;
}

static gn_status *add_masks(const work *w, int relation)
{
    int64_t count[SETS];
    for (int f = 0; f < SETS; f++) count[f] = w->sets[f].n + w->sets[f].n_wrong;
    return gn_dataset_add_split(w->d, relation, count);
}

/* Whether they are true. */
static gn_status *add_labels(const work *w, int relation)
{
    gn_table_column c = {.on_edges = true, .over = relation, .elem = GN_F32};
    float *v;
    int64_t at = 0, wrong = 0;
    for (int f = 0; f < SETS; f++) wrong += w->sets[f].n_wrong;
    if (wrong == 0) return NULL;
    GN_MEM(v, w->n);
    for (int f = 0; f < SETS; f++)
        for (int64_t i = 0; i < w->sets[f].n + w->sets[f].n_wrong; i++)
            v[at++] = i < w->sets[f].n ? 1 : 0;
    c.data = v;
    return gn_dataset_add_column(w->d, "labels", &c);
}

static gn_status *fill_kinds(const work *w, int32_t *v, int64_t *kinds)
{
    int64_t at = 0;
    for (int f = 0; f < SETS; f++) {
        const set *s = &w->sets[f];
        for (int64_t i = 0; i < s->n; i++) {
            int64_t kind;
            if (!gn_ndarray_i64(s->kind, i, &kind) || kind < 0 || kind >= w->n + 1024 ||
                kind >= INT32_MAX)
                SET_FAIL(s, "relation %lld is %g: expected numbers without gaps", (long long)i,
                         gn_ndarray_f64(s->kind, i));
            v[at++] = (int32_t)kind;
            if (kind >= *kinds) *kinds = kind + 1;
        }
    }
    return NULL;
}

static gn_status *take_facts(work *w, int64_t *end[2])
{
    gn_dataset *d = w->d;
    gn_table_column c = {.on_edges = true, .elem = GN_I32};
    int32_t *kind;
    free(d->src);
    free(d->dst);
    d->src = end[0];
    d->dst = end[1];
    d->n_edges = w->n;
    GN_MEM(kind, w->n);
    c.data = kind;
    gn_status *s = fill_kinds(w, kind, &c.classes);
    if (s) free(kind);
    if (!s) s = gn_dataset_add_column(d, "kind", &c);
    return s ? s : add_masks(w, 0);
}

static gn_status *take_links(work *w, int64_t *end[2])
{
    int relation;
    GN_TRY(gn_dataset_add_relation(w->d, "seeds", 0, 0, w->n, end[0], end[1], &relation));
    GN_TRY(add_masks(w, relation));
    return add_labels(w, relation);
}

/* What lies on the edges of raw/ is not of the facts. */
static gn_status *check_bare(const work *w)
{
    bool bare = !w->d->edge_attr && !w->d->edge_weight;
    for (int k = 0; k < w->d->n_columns; k++)
        bare = bare && !(w->d->columns[k].on_edges && w->d->columns[k].over == 0);
    if (bare || !w->sets[0].kind) return NULL;
    SET_FAIL(&w->sets[0], "facts, and there are features of edges, which would be of others");
}

static gn_status *take(work *w)
{
    int64_t *end[2];
    GN_TRY(check_bare(w));
    for (int k = 0; k < 2; k++) end[k] = gn_mem_alloc(w->n, sizeof *end[k]);
    gn_status *s = end[0] && end[1]
                       ? fill_ends(w, end)
                       : GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)w->n);
    if (!s) return w->sets[0].kind ? take_facts(w, end) : take_links(w, end);
    free(end[0]);
    free(end[1]);
    return s;
}

gn_status *gn_ogb_read_links(const gn_ogb_split *split, bool reversed, gn_dataset *d)
{
    work w = {.d = d};
    if (!split->of_links) return NULL;
    gn_status *s = open_sets(split, &w);
    if (!s && reversed && w.sets[0].kind)
        s = GN_ERROR(GN_ERR_USAGE,
                     "%s: facts have a direction: --undirected off leaves them as they are stored",
                     w.sets[0].file.path);
    if (!s) s = take(&w);
    for (int k = 0; k < SETS; k++) {
        gn_torch_close(w.sets[k].torch);
        gn_folder_free(&w.sets[k].file);
    }
    return s;
}
