/* OGB folders of several types of nodes (ogbn-mag): triplet-type-list has `source,relation,target`
 * a line, num-node-dict the number of nodes under the name of each type; edges lie in
 * relations/source___relation___target/, features in node-feat/TYPE/, labels in node-label/TYPE/,
 * splits in split/NAME/TYPE/.  Types and relations are numbered by their names, as OGB sorts them.
 *
 * https://github.com/snap-stanford/ogb */
#include "runtime/data/lines.h"
#include "runtime/data/mem.h"
#include "runtime/data/ogb.h"

#include <stdio.h>
#include <string.h>

enum { NAME = GN_TRIPLET_NAME, MOST = 256 };

typedef gn_triplet triplet;

typedef struct work {
    const char *folder;
    gn_ogb_split split;
    int n_types, n_triplets;
    char (*type)[NAME];
    int64_t *rows;
    triplet *triplets;
    gn_dataset *d;
} work;

#define LINE_FAIL(f, t, ...)                                                                       \
    return gn_text_error(__FILE__, __LINE__, (f)->origin, (t)->line, __VA_ARGS__)

static gn_status *copy_field(const gn_input *f, const gn_text *t, gn_span s, char to[NAME])
{
    size_t n = (size_t)(s.end - s.p);
    if (n == 0 || n >= NAME)
        LINE_FAIL(f, t, "'%s': expected a name of 1 to %d letters", gn_span_show(s).s, NAME - 1);
    memcpy(to, s.p, n);
    to[n] = 0;
    return NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* ---- the lists ---- */

static int type_of(const work *w, const char *name)
{
    for (int t = 0; t < w->n_types; t++)
        if (!strcmp(w->type[t], name)) return t + 1;
    return 0;
}

static gn_status *parse_triplets(work *w, const gn_input *f)
{
    gn_text t = {f->bytes, (const char *)f->bytes + f->n, 0};
    gn_span line, field[4];
    GN_MEM(w->triplets, MOST);
    while (gn_text_line(&t, &line)) {
        int n = gn_text_fields(line, field, 4);
        if (n == 0) continue;
        if (n != 3) LINE_FAIL(f, &t, "expected `source,relation,target`");
        if (w->n_triplets == MOST) LINE_FAIL(f, &t, "more than %d relations", MOST);
        for (int k = 0; k < 3; k++)
            GN_TRY(copy_field(f, &t, field[k], w->triplets[w->n_triplets].part[k]));
        w->n_triplets++;
    }
    if (w->n_triplets == 0) GN_FAIL(GN_ERR_DATA, "%s: no relations", f->origin);
    qsort(w->triplets, (size_t)w->n_triplets, sizeof *w->triplets, gn_triplet_order);
    return NULL;
}

/* A line of names, and one of numbers. */
static gn_status *parse_counts(work *w, const gn_input *f)
{
    gn_text t = {f->bytes, (const char *)f->bytes + f->n, 0};
    gn_span line = {NULL, NULL}, name[MOST + 1], count[MOST + 1], more;
    GN_MEM(w->type, MOST);
    GN_MEM(w->rows, MOST);
    if (!gn_text_line(&t, &line)) GN_FAIL(GN_ERR_DATA, "%s: expected types of nodes", f->origin);
    int n = gn_text_fields(line, name, MOST + 1);
    if (n < 1 || n > MOST) LINE_FAIL(f, &t, "%d types: expected 1 to %d", n, MOST);
    for (int k = 0; k < n; k++) GN_TRY(copy_field(f, &t, name[k], w->type[k]));
    if (!gn_text_line(&t, &line) || gn_text_fields(line, count, MOST + 1) != n)
        LINE_FAIL(f, &t, "expected a line of %d numbers of nodes", n);
    w->n_types = n;
    qsort(w->type, (size_t)n, sizeof *w->type, by_name);
    for (int k = 0; k < n; k++) {
        char own[NAME];
        GN_TRY(copy_field(f, &t, name[k], own));
        int64_t *rows = &w->rows[type_of(w, own) - 1];
        if (!gn_span_int(count[k], rows) || *rows < 0 || *rows > GN_MAX_NODES)
            LINE_FAIL(f, &t, "'%s': expected a number of nodes", gn_span_show(count[k]).s);
    }
    if (gn_text_line(&t, &line) && gn_text_word(&line, &more))
        LINE_FAIL(f, &t, "many graphs of several types are not read");
    return NULL;
}

static gn_status *read_file(work *w, const char *name, gn_status *parse(work *, const gn_input *))
{
    gn_folder_file part;
    gn_status *s = gn_folder_read(w->folder, name, true, &part);
    gn_input f = gn_folder_input(&part);
    if (!s) s = parse(w, &f);
    gn_folder_free(&part);
    return s;
}

/* ---- relations ---- */

static gn_status *fill_edges(const gn_input *f, const gn_int_rows *r, const int64_t rows[2],
                             int64_t *end[2])
{
    for (int k = 0; k < 2; k++) {
        GN_MEM(end[k], r->rows);
        for (int64_t e = 0; e < r->rows; e++) {
            int64_t v = end[k][e] = r->v[2 * e + k];
            if (v < 0 || v >= rows[k])
                GN_ROW_FAIL(f, e, "'%lld': expected a row from 0 to %lld", (long long)v,
                            (long long)rows[k] - 1);
        }
    }
    return NULL;
}

static gn_status *add_edges(work *w, const triplet *t, const gn_input *f)
{
    int type[2] = {type_of(w, t->part[0]), type_of(w, t->part[2])};
    gn_int_rows r;
    int64_t *end[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++)
        if (!type[k])
            GN_FAIL(GN_ERR_DATA, "%s: num-node-dict has no type '%s'", f->origin, t->part[2 * k]);
    int64_t rows[2] = {gn_dataset_rows(w->d, type[0]), gn_dataset_rows(w->d, type[1])};
    gn_triplet_text name = gn_triplet_name(w->d, t);
    GN_TRY(gn_rows_ints(f, 2, &r));
    gn_status *s = fill_edges(f, &r, rows, end);
    int64_t n = r.rows;
    free(r.v);
    if (!s) return gn_dataset_add_relation(w->d, name.s, type[0], type[1], n, end[0], end[1], NULL);
    free(end[0]);
    free(end[1]);
    return s;
}

static gn_status *read_relation(work *w, const triplet *t)
{
    char folder[GN_PATH_SIZE], name[3 * NAME + 32];
    gn_folder_file edges = {0}, attr = {0};
    snprintf(name, sizeof name, "relations/%s___%s___%s", t->part[0], t->part[1], t->part[2]);
    GN_TRY(gn_folder_path(w->folder, name, folder));
    gn_status *s = gn_folder_read(folder, "edge.csv", true, &edges);
    if (!s) s = gn_folder_read(folder, "edge-feat.csv", false, &attr);
    gn_input e = gn_folder_input(&edges), a = gn_folder_input(&attr);
    if (!s) s = add_edges(w, t, &e);
    if (!s && a.bytes) s = gn_ogb_take_column(&a, true, w->d->n_relations, "attr", w->d);
    gn_folder_free(&edges);
    gn_folder_free(&attr);
    return s;
}

/* ---- rows ---- */

static gn_status *read_features(work *w, int space)
{
    char folder[GN_PATH_SIZE], name[NAME + 16];
    gn_folder_file part;
    snprintf(name, sizeof name, "node-feat/%s", w->type[space - 1]);
    GN_TRY(gn_folder_path(w->folder, name, folder));
    gn_status *s = gn_folder_read(folder, "node-feat.csv", false, &part);
    gn_input f = gn_folder_input(&part);
    if (!s && f.bytes) s = gn_ogb_take_column(&f, false, space, "x", w->d);
    gn_folder_free(&part);
    return s;
}

static gn_status *read_labels(work *w, int space)
{
    char folder[GN_PATH_SIZE], name[NAME + 16];
    gn_folder_file part;
    snprintf(name, sizeof name, "node-label/%s", w->type[space - 1]);
    GN_TRY(gn_folder_path(w->folder, name, folder));
    gn_status *s = gn_folder_read(folder, "node-label.csv", false, &part);
    gn_input f = gn_folder_input(&part);
    if (!s && f.bytes && w->d->labelled)
        s = GN_ERROR(GN_ERR_DATA, "%s: types %s and %s have labels: expected one that has",
                     f.origin, w->type[w->d->labelled - 1], w->type[space - 1]);
    if (!s && f.bytes) s = gn_ogb_take_labels(&f, space, w->d);
    if (!s && f.bytes) s = gn_ogb_read_split(&w->split, w->type[space - 1], w->d);
    gn_folder_free(&part);
    return s;
}

static gn_status *read_all(work *w, gn_reading *r)
{
    int space;
    GN_TRY(gn_ogb_find_split(w->folder, r, &w->split));
    GN_TRY(read_file(w, "num-node-dict.csv", parse_counts));
    GN_TRY(read_file(w, "triplet-type-list.csv", parse_triplets));
    GN_TRY(gn_dataset_new_read(r, &w->d));
    w->d->typed = true;
    for (int t = 0; t < w->n_types; t++)
        GN_TRY(gn_dataset_add_table(w->d, w->type[t], w->rows[t], &space));
    for (int k = 0; k < w->n_triplets; k++) GN_TRY(read_relation(w, &w->triplets[k]));
    for (int t = 1; t <= w->n_types; t++) GN_TRY(read_features(w, t));
    for (int t = 1; t <= w->n_types; t++) GN_TRY(read_labels(w, t));
    return gn_ogb_remark_links(&w->split, w->d);
}

gn_status *gn_ogb_typed_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    work *w;
    (void)name;
    GN_MEM(w, 1);
    w->folder = folder;
    gn_status *s = read_all(w, r);
    if (s)
        gn_dataset_free(w->d);
    else
        *out = w->d;
    free(w->type);
    free(w->rows);
    free(w->triplets);
    free(w);
    return s;
}
