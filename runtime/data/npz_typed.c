/* .npz of several types of nodes:
 *
 * RELATION.edge_index   [2, edges]; RELATION is SRC__NAME__DST, as PyTorch Geometric joins the
 *                       three, or a name, and strings RELATION.src and RELATION.dst say the types
 * RELATION.edge_attr    the column RELATION.attr
 * RELATION.edge_weight  the column RELATION.weight, one number an edge
 * num_nodes.TYPE        one number; else as many as TYPE.x has rows, or TYPE.y, or the first other
 *                       column, or edges name
 * TYPE.x, TYPE.y        features, classes; masks or numbers of rows beside y, as in plain files
 * OWNER.COLUMN          any other: a column of its type or relation
 *
 * Types and relations are numbered in the order of their keys' names. */
#include "runtime/data/npz_typed.h"

#include "runtime/data/array_values.h"
#include "runtime/data/lines.h"
#include "runtime/data/mem.h"
#include "runtime/data/npz_split.h"
#include "runtime/data/npz_values.h"
#include "runtime/data/numbered.h"

#include <stdio.h>
#include <string.h>

static const char edge_index[] = ".edge_index", count_key[] = "num_nodes.";

enum { NAME = 128, KEY = 300 };

typedef struct link {
    gn_span owner;                 /* what stands before the dot of its keys */
    char name[NAME], end[2][NAME]; /* types */
    int type[2];
    int64_t n, *from, *to, least[2]; /* rows that edges name */
} link;

typedef struct loader {
    gn_npz *z;
    gn_reading *r;
    gn_dataset *d;
    int n_links;
    link *links;
    gn_names types;
    int64_t *rows; /* of types; -1: nothing says it */
} loader;

static gn_span span_of(const char *s) { return (gn_span){s, s + strlen(s)}; }

static bool same(gn_span a, gn_span b)
{
    return a.end - a.p == b.end - b.p && !memcmp(a.p, b.p, (size_t)(a.end - a.p));
}

/* "paper.x": its owner and its column; false: it has no dot, or nothing beside it. */
static bool cut_key(const char *key, gn_span *owner, const char **column)
{
    const char *dot = strchr(key, '.');
    if (!dot || dot == key || !dot[1] || strchr(dot + 1, '.')) return false;
    *owner = (gn_span){key, dot};
    *column = dot + 1;
    return true;
}

static bool is_link(const char *key)
{
    gn_span owner;
    const char *column;
    return cut_key(key, &owner, &column) && !strcmp(column, edge_index + 1);
}

bool gn_npz_is_typed(const gn_npz *z)
{
    for (int k = 0; k < gn_npz_count(z); k++)
        if (is_link(gn_npz_name(z, k)) && gn_npz_has(z, gn_npz_name(z, k))) return true;
    return false;
}

/* ---- relations ---- */

static gn_status *copy_name(const loader *l, gn_span s, char to[NAME])
{
    size_t n = (size_t)(s.end - s.p);
    if (n == 0 || n >= NAME)
        GN_FAIL(GN_ERR_DATA, "%s: '%s': expected a name of 1 to %d letters", l->r->origin,
                gn_span_show(s).s, NAME - 1);
    memcpy(to, s.p, n);
    to[n] = 0;
    return NULL;
}

/* SRC__NAME__DST; false: it has no two of them. */
static bool cut_triple(gn_span s, gn_span part[3])
{
    const char *first = memmem(s.p, (size_t)(s.end - s.p), "__", 2);
    const char *second = first ? memmem(first + 2, (size_t)(s.end - first - 2), "__", 2) : NULL;
    if (!second) return false;
    part[0] = (gn_span){s.p, first};
    part[1] = (gn_span){first + 2, second};
    part[2] = (gn_span){second + 2, s.end};
    return true;
}

static gn_status *read_end(loader *l, const link *k, const char *which, char to[NAME])
{
    char key[KEY];
    snprintf(key, sizeof key, "%.*s.%s", (int)(k->owner.end - k->owner.p), k->owner.p, which);
    *to = 0;
    if (gn_npz_has(l->z, key)) GN_TRY(gn_npz_text(l->z, key, to, NAME));
    if (*to) return NULL;
    GN_FAIL(GN_ERR_DATA,
            "%s: %s: expected a string, the type of nodes at this end; or the key "
            "SRC__NAME__DST.edge_index",
            l->r->origin, key);
}

static bool is_taken(const loader *l, const char *name)
{
    for (int k = 0; k + 1 < l->n_links; k++)
        if (!strcmp(l->links[k].name, name)) return true;
    return false;
}

static gn_status *name_link(loader *l, link *k)
{
    gn_span part[3];
    if (k->owner.end - k->owner.p >= NAME) return copy_name(l, k->owner, k->name);
    if (!cut_triple(k->owner, part)) {
        GN_TRY(copy_name(l, k->owner, k->name));
        GN_TRY(read_end(l, k, "src", k->end[0]));
        return read_end(l, k, "dst", k->end[1]);
    }
    GN_TRY(copy_name(l, part[0], k->end[0]));
    GN_TRY(copy_name(l, part[2], k->end[1]));
    GN_TRY(copy_name(l, part[1], k->name));
    return is_taken(l, k->name) ? copy_name(l, k->owner, k->name) : NULL;
}

static gn_status *fill_ends(const loader *l, link *k, const char *key, const gn_ndarray *a)
{
    if (a->rank != 2 || a->dim[0] != 2) return gn_npz_bad_shape(l->z, key, a, "[2, edges]");
    k->n = a->dim[1];
    GN_MEM(k->from, k->n);
    GN_MEM(k->to, k->n);
    for (int end = 0; end < 2; end++) {
        int64_t *to = end ? k->to : k->from;
        for (int64_t e = 0; e < k->n; e++) {
            if (!gn_ndarray_i64(a, end * k->n + e, &to[e]) || to[e] < 0 || to[e] >= GN_MAX_NODES)
                GN_FAIL(GN_ERR_DATA, "%s: %s: edge %lld ends at %g: expected a row from 0 to %lld",
                        l->r->origin, key, (long long)e, gn_ndarray_f64(a, end * k->n + e),
                        (long long)GN_MAX_NODES - 1);
            if (to[e] >= k->least[end]) k->least[end] = to[e] + 1;
        }
    }
    return NULL;
}

static gn_status *read_links(loader *l)
{
    GN_MEM(l->links, gn_npz_count(l->z));
    for (int i = 0; i < gn_npz_count(l->z); i++) {
        const char *key = gn_npz_name(l->z, i), *column;
        gn_ndarray a;
        if (!is_link(key) || !gn_npz_has(l->z, key)) continue;
        link *k = &l->links[l->n_links++];
        if (!cut_key(key, &k->owner, &column)) continue;
        GN_TRY(name_link(l, k));
        GN_TRY(gn_npz_array(l->z, key, &a));
        gn_status *s = fill_ends(l, k, key, &a);
        gn_ndarray_free(&a);
        GN_TRY(s);
    }
    return NULL;
}

/* By its key, or by its name where no type has that. */
static link *link_of(const loader *l, gn_span owner)
{
    link *named = NULL;
    for (int k = 0; k < l->n_links; k++) {
        link *to = &l->links[k];
        if (same(to->owner, owner)) return to;
        if (same(span_of(to->end[0]), owner) || same(span_of(to->end[1]), owner)) return NULL;
        if (same(span_of(to->name), owner)) named = to;
    }
    return named;
}

/* ---- types ---- */

static gn_status *find_types(loader *l)
{
    int64_t t;
    for (int i = 0; i < gn_npz_count(l->z); i++) {
        const char *key = gn_npz_name(l->z, i), *column;
        gn_span owner;
        if (!gn_npz_has(l->z, key) || !cut_key(key, &owner, &column)) continue;
        const link *k = link_of(l, owner);
        if (!strncmp(key, count_key, sizeof count_key - 1)) owner = span_of(column);
        if (!k) GN_TRY(gn_names_number(&l->types, owner, &t));
        for (int end = 0; k && end < 2; end++)
            GN_TRY(gn_names_number(&l->types, span_of(k->end[end]), &t));
    }
    for (int k = 0; k < l->n_links; k++)
        for (int end = 0; end < 2; end++)
            l->links[k].type[end] = (int)gn_names_find(&l->types, span_of(l->links[k].end[end]));
    return NULL;
}

/* Of num_nodes.TYPE the number, of another key how many rows it has. */
static gn_status *count_by(loader *l, const char *key, bool number, int64_t *rows)
{
    gn_ndarray a;
    gn_csr *m;
    if (gn_npz_is_sparse(l->z, key)) {
        GN_TRY(gn_npz_matrix(l->z, key, &m));
        *rows = m->rows;
        gn_csr_free(m);
        return NULL;
    }
    GN_TRY(gn_npz_array(l->z, key, &a));
    bool good = number ? a.count == 1 && gn_ndarray_i64(&a, 0, rows) : a.rank > 0;
    if (good && !number) *rows = a.dim[0];
    gn_ndarray_free(&a);
    if (good && *rows >= 0 && *rows <= GN_MAX_NODES) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: %s: expected %s", l->r->origin, key,
            number ? "one whole number" : "a row for each of its type");
}

/* The column that says how many rows a type has: x, or y, or the first other one; NULL: there is
 * none.  Splits may list numbers, and say nothing. */
static const char *counting_column(const loader *l, gn_span type)
{
    const char *y = NULL, *other = NULL, *column;
    gn_span owner;
    for (int i = 0; i < gn_npz_count(l->z); i++) {
        const char *name = gn_npz_name(l->z, i);
        if (!gn_npz_has(l->z, name) || !cut_key(name, &owner, &column)) continue;
        if (!same(owner, type) || gn_npz_is_split(column)) continue;
        if (!strcmp(column, "x")) return name;
        if (!strcmp(column, "y")) y = name;
        if (!other) other = name;
    }
    return y ? y : other;
}

/* num_nodes.TYPE, else a column; then edges say it. */
static gn_status *count_type(loader *l, int64_t t)
{
    char key[KEY];
    gn_span type = l->types.name[t];
    int length = (int)(type.end - type.p);
    l->rows[t] = -1;
    snprintf(key, sizeof key, "%s%.*s", count_key, length, type.p);
    if (gn_npz_has(l->z, key)) return count_by(l, key, true, &l->rows[t]);
    const char *column = counting_column(l, type);
    if (column) return count_by(l, column, false, &l->rows[t]);
    int64_t edges = 0, n = 0;
    for (int k = 0; k < l->n_links; k++) {
        for (int end = 0; end < 2; end++) {
            const link *of = &l->links[k];
            if (of->type[end] != t) continue;
            edges += of->n;
            if (of->least[end] > n) n = of->least[end];
        }
    }
    l->rows[t] = n;
    return gn_edges_check_gaps(l->r->origin, n, edges);
}

static gn_status *add_types(loader *l)
{
    char name[NAME];
    int space;
    GN_MEM(l->rows, l->types.n + 1);
    for (int64_t t = 0; t < l->types.n; t++) {
        GN_TRY(copy_name(l, l->types.name[t], name));
        GN_TRY(count_type(l, t));
        GN_TRY(gn_dataset_add_table(l->d, name, l->rows[t], &space));
    }
    for (int k = 0; k < l->n_links; k++) {
        link *of = &l->links[k];
        int64_t *from = of->from, *to = of->to;
        of->from = of->to = NULL;
        GN_TRY(gn_dataset_add_relation(l->d, of->name, of->type[0] + 1, of->type[1] + 1, of->n,
                                       from, to, NULL));
    }
    return NULL;
}

/* ---- columns ---- */

static gn_status *add_column(loader *l, const char *key, const char *column, gn_table_column c)
{
    bool x = !c.on_edges && !strcmp(column, "x"), attr = c.on_edges && !strcmp(column, "edge_attr"),
         weight = c.on_edges && (!strcmp(column, "edge_weight") || !strcmp(column, "weight"));
    const char *name = attr ? "attr" : weight ? "weight" : column;
    int64_t rows = c.on_edges ? gn_dataset_edges(l->d, c.over) : gn_dataset_rows(l->d, c.over);
    gn_ndarray a;
    char what[GN_NPZ_WHAT];
    bool sparse = gn_npz_is_sparse(l->z, key);
    if (sparse && c.on_edges)
        GN_FAIL(GN_ERR_DATA,
                "%s: %s: a sparse matrix: expected an array with a row for each of %lld edges",
                l->r->origin, key, (long long)rows);
    if (sparse) {
        GN_TRY(gn_npz_matrix(l->z, key, &c.csr));
        c.elem = GN_F32;
        c.rank = 1;
        c.dim[0] = c.csr->cols;
        return gn_dataset_add_column(l->d, name, &c);
    }
    GN_TRY(gn_npz_array(l->z, key, &a));
    snprintf(what, sizeof what, "%s: %s", l->r->origin, key);
    gn_status *s = gn_array_column(what, &a, rows, x || attr || weight, weight, &c);
    gn_ndarray_free(&a);
    if (!s) return gn_dataset_add_column(l->d, name, &c);
    free(c.data);
    return s;
}

/* What is read elsewhere: ends, classes, splits. */
static bool is_column(const loader *l, const char *key, gn_span owner, const char *column)
{
    bool ends = !strcmp(column, "src") || !strcmp(column, "dst") || !strcmp(column, edge_index + 1),
         labels = !strcmp(column, "y") || gn_npz_is_split(column);
    if (!strncmp(key, count_key, sizeof count_key - 1)) return false;
    return link_of(l, owner) ? !ends : !labels;
}

static gn_status *add_columns(loader *l)
{
    for (int i = 0; i < gn_npz_count(l->z); i++) {
        const char *key = gn_npz_name(l->z, i), *column;
        gn_span owner;
        if (!gn_npz_has(l->z, key) || !cut_key(key, &owner, &column)) continue;
        if (!is_column(l, key, owner, column)) continue;
        const link *k = link_of(l, owner);
        gn_table_column c = {.on_edges = k != NULL};
        c.over = k ? (int)(k - l->links) + 1 : (int)gn_names_find(&l->types, owner) + 1;
        GN_TRY(add_column(l, key, column, c));
    }
    return NULL;
}

/* ---- classes ---- */

static gn_status *read_classes(loader *l)
{
    char key[KEY], prefix[KEY];
    gn_ndarray a;
    const char *found = NULL;
    gn_dataset *d = l->d;
    for (int t = 1; t <= d->n_tables; t++) {
        snprintf(key, sizeof key, "%s.y", gn_dataset_space(d, t));
        snprintf(prefix, sizeof prefix, "%s.", gn_dataset_space(d, t));
        bool y = gn_npz_has(l->z, key), split = gn_npz_has_split(l->z, prefix);
        if ((y || split) && found)
            GN_FAIL(GN_ERR_DATA, "%s: %s and %s have labels or a split: expected one type that has",
                    l->r->origin, found, gn_dataset_space(d, t));
        if (!y && !split) continue;
        found = gn_dataset_space(d, t);
        d->labelled = t;
        if (y) {
            GN_TRY(gn_npz_array(l->z, key, &a));
            gn_status *s = gn_npz_labels(l->z, key, &a, d);
            gn_ndarray_free(&a);
            GN_TRY(s);
        }
        GN_TRY(gn_npz_read_split(l->z, prefix, l->r, d));
    }
    return NULL;
}

static gn_status *read_typed(loader *l)
{
    GN_TRY(read_links(l));
    GN_TRY(find_types(l));
    GN_TRY(add_types(l));
    GN_TRY(add_columns(l));
    return read_classes(l);
}

gn_status *gn_npz_read_typed(gn_npz *z, gn_reading *r, gn_dataset *d)
{
    loader l = {.z = z, .r = r, .d = d};
    d->typed = true;
    gn_status *s = read_typed(&l);
    for (int k = 0; l.links && k < l.n_links; k++) {
        free(l.links[k].from);
        free(l.links[k].to);
    }
    free(l.links);
    gn_names_free(&l.types);
    free(l.rows);
    return s;
}
