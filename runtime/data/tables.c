#include "runtime/data/tables.h"

#include "base/data_name.h"
#include "runtime/data/csr.h"
#include "runtime/data/dataset.h"
#include "runtime/data/lent.h"
#include "runtime/data/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int64_t gn_dataset_rows(const gn_dataset *d, int space)
{
    return space == 0 ? d->n_nodes : d->tables[space - 1].rows;
}

int64_t gn_dataset_edges(const gn_dataset *d, int relation)
{
    return relation == 0 ? d->n_edges : d->relations[relation - 1].n_edges;
}

const char *gn_dataset_space(const gn_dataset *d, int space)
{
    return space == 0 ? GN_SPACE_NODE : d->tables[space - 1].name;
}

const int64_t *gn_dataset_row_of(const gn_dataset *d, int space)
{
    return space == 0 ? d->row_of : d->tables[space - 1].row_of;
}

const char *gn_dataset_relation(const gn_dataset *d, int relation)
{
    return relation == 0 ? GN_NAME_G : d->relations[relation - 1].name;
}

int64_t gn_dataset_labelled(const gn_dataset *d) { return gn_dataset_rows(d, d->labelled); }

static const char *name_of(const gn_dataset *d) { return d->name ? d->name : "dataset"; }

/* A name as the language has them. */
static gn_status *check_name(const gn_dataset *d, const char *what, const char *name)
{
    bool fine = isalpha((unsigned char)*name) || *name == '_';
    for (const char *p = name; *p; p++) fine = fine && (isalnum((unsigned char)*p) || *p == '_');
    if (!fine)
        GN_FAIL(GN_ERR_DATA,
                "%s: %s '%.80s': expected a name of letters, digits and _, not beginning with a "
                "digit",
                name_of(d), what, name);
    return NULL;
}

/* What models call the nodes and the graph of data without types is no name in those with types. */
static gn_status *check_free(const gn_dataset *d, const char *what, const char *name,
                             const char *taken)
{
    if (strcmp(name, taken) != 0) return NULL;
    GN_FAIL(GN_ERR_DATA,
            "%s: %s is named '%s': expected another name, as this is the one of data without types",
            name_of(d), what, name);
}

int gn_dataset_find_space(const gn_dataset *d, const char *name)
{
    for (int k = 0; k < d->n_tables; k++)
        if (!strcmp(d->tables[k].name, name)) return k + 1;
    return 0;
}

/* Room for one more element at the end of an array; NULL: memory is out, and it is as it was. */
static void *one_more(void *array, int n, size_t size)
{
    return realloc(array, ((size_t)n + 1) * size);
}

gn_status *gn_dataset_add_table(gn_dataset *d, const char *name, int64_t rows, int *space)
{
    GN_TRY(check_name(d, "a type of nodes", name));
    GN_TRY(check_free(d, "a type of nodes", name, GN_SPACE_NODE));
    if (gn_dataset_find_space(d, name))
        GN_FAIL(GN_ERR_DATA, "%s: two types of nodes are named '%s'", name_of(d), name);
    gn_table *all = one_more(d->tables, d->n_tables, sizeof *all);
    if (all) d->tables = all;
    char *copy = all ? strdup(name) : NULL;
    if (!copy) GN_FAIL(GN_ERR_NOMEM, "out of memory: a table");
    all[d->n_tables] = (gn_table){copy, rows};
    *space = ++d->n_tables;
    return NULL;
}

static gn_status *add_relation(gn_dataset *d, const char *name, gn_relation r)
{
    GN_TRY(check_name(d, "a relation", name));
    GN_TRY(check_free(d, "a relation", name, GN_NAME_G));
    bool taken = false;
    for (int k = 0; k < d->n_relations; k++) taken = taken || !strcmp(d->relations[k].name, name);
    if (taken) GN_FAIL(GN_ERR_DATA, "%s: two relations are named '%s'", name_of(d), name);
    gn_relation *all = one_more(d->relations, d->n_relations, sizeof *all);
    if (all) d->relations = all;
    r.name = all ? strdup(name) : NULL;
    if (!r.name) GN_FAIL(GN_ERR_NOMEM, "out of memory: a relation");
    all[d->n_relations++] = r;
    return NULL;
}

gn_status *gn_dataset_add_relation(gn_dataset *d, const char *name, int src, int dst,
                                   int64_t n_edges, int64_t *from, int64_t *to, int *relation)
{
    gn_relation r = {.src = src, .dst = dst, .n_edges = n_edges, .from = from, .to = to};
    gn_status *s = add_relation(d, name, r);
    if (s) {
        free(from);
        free(to);
        return s;
    }
    if (relation) *relation = d->n_relations;
    return NULL;
}

static gn_status *add_column(gn_dataset *d, const char *column, gn_table_column c)
{
    char name[256];
    GN_TRY(check_name(d, "a column", column));
    const char *owner = c.on_edges ? gn_dataset_relation(d, c.over) : gn_dataset_space(d, c.over);
    if (snprintf(name, sizeof name, "%s.%s", owner, column) >= (int)sizeof name)
        GN_FAIL(GN_ERR_DATA, "%s: a column's name is too long: '%.80s...'", name_of(d), name);
    for (int k = 0; k < d->n_columns; k++)
        if (!strcmp(d->columns[k].name, name))
            GN_FAIL(GN_ERR_DATA, "%s: two columns are named '%s'", name_of(d), name);
    gn_table_column *all = one_more(d->columns, d->n_columns, sizeof *all);
    if (all) d->columns = all;
    c.name = all ? strdup(name) : NULL;
    if (!c.name) GN_FAIL(GN_ERR_NOMEM, "out of memory: a column");
    all[d->n_columns++] = c;
    return NULL;
}

static void free_column(const gn_dataset *d, const gn_table_column *c)
{
    for (int64_t k = 0; c->names && k < c->classes; k++) free(c->names[k]);
    free(c->names);
    gn_dataset_release(d, c->data);
    gn_codes_release(d, &c->codes);
    gn_csr_free(c->csr);
}

gn_status *gn_dataset_add_column(gn_dataset *d, const char *column, const gn_table_column *of)
{
    gn_status *s = add_column(d, column, *of);
    if (s) free_column(d, of);
    return s;
}

gn_status *gn_dataset_add_split(gn_dataset *d, int relation, const int64_t count[3])
{
    static const char *const name[] = {GN_NAME_TRAIN_MASK, GN_NAME_VAL_MASK, GN_NAME_TEST_MASK};
    int64_t at = 0;
    for (int k = 0; k < 3; k++) {
        gn_table_column mask = {.on_edges = true, .over = relation, .elem = GN_BOOL};
        uint8_t *yes;
        GN_MEM(yes, gn_dataset_edges(d, relation));
        memset(yes + at, 1, (size_t)count[k]);
        at += count[k];
        mask.data = yes;
        GN_TRY(gn_dataset_add_column(d, name[k], &mask));
    }
    return NULL;
}

const gn_table_column *gn_dataset_column(const gn_dataset *d, const char *name)
{
    for (int k = 0; k < d->n_columns; k++)
        if (!strcmp(d->columns[k].name, name)) return &d->columns[k];
    return NULL;
}

bool gn_column_is_features(const gn_table_column *c)
{
    const char *dot = strrchr(c->name, '.');
    return !c->on_edges && c->elem == GN_F32 && c->rank == 1 && dot && !strcmp(dot + 1, GN_NAME_X);
}

void gn_tables_free(gn_dataset *d)
{
    for (int k = 0; k < d->n_tables; k++) {
        free(d->tables[k].name);
        gn_dataset_release(d, d->tables[k].row_of);
    }
    for (int k = 0; k < d->n_relations; k++) {
        free(d->relations[k].name);
        free(d->relations[k].from);
        free(d->relations[k].to);
    }
    for (int k = 0; k < d->n_columns; k++) {
        free(d->columns[k].name);
        free_column(d, &d->columns[k]);
    }
    free(d->tables);
    free(d->relations);
    free(d->columns);
}

/* ---- checks ---- */

static gn_status *check_relation(const gn_dataset *d, const gn_relation *r)
{
    int64_t n_src = gn_dataset_rows(d, r->src), n_dst = gn_dataset_rows(d, r->dst);
    bool listed = !r->by_dst.row_ptr;
    if (!listed) GN_TRY(gn_by_dst_check(&r->by_dst, n_src, n_dst, r->n_edges, r->name));
    if (r->n_edges < 0 || (listed && r->n_edges > 0 && (!r->from || !r->to)))
        GN_FAIL(GN_ERR_DATA, "%s: %s: no edge arrays for %lld edges", name_of(d), r->name,
                (long long)r->n_edges);
    for (int64_t e = 0; listed && e < r->n_edges; e++)
        if (r->from[e] < 0 || r->from[e] >= n_src || r->to[e] < 0 || r->to[e] >= n_dst)
            GN_FAIL(GN_ERR_DATA,
                    "%s: %s: edge %lld is %lld -> %lld, but there are %lld rows of %s and %lld of "
                    "%s",
                    name_of(d), r->name, (long long)e, (long long)r->from[e], (long long)r->to[e],
                    (long long)n_src, gn_dataset_space(d, r->src), (long long)n_dst,
                    gn_dataset_space(d, r->dst));
    return NULL;
}

static gn_status *check_column(const gn_dataset *d, const gn_table_column *c)
{
    int64_t rows = c->on_edges ? gn_dataset_edges(d, c->over) : gn_dataset_rows(d, c->over);
    int64_t n = rows;
    for (int k = 0; k < c->rank; k++)
        if (c->dim[k] < 1 || __builtin_mul_overflow(n, c->dim[k], &n))
            GN_FAIL(GN_ERR_DATA, "%s: %s: a dimension of %lld", name_of(d), c->name,
                    (long long)c->dim[k]);
    if (c->csr)
        return gn_csr_check(c->csr, rows, c->rank == 1 ? c->dim[0] : -1, name_of(d), c->name);
    bool lent = !c->on_edges && gn_dataset_lends(d, c->data); /* checked before it was written */
    const float *f = c->elem == GN_F32 && !lent ? c->data : NULL;
    for (int64_t i = 0; f && i < n; i++)
        if (!isfinite(f[i]))
            GN_FAIL(GN_ERR_DATA, "%s: %s: number %lld is %g: expected a finite number", name_of(d),
                    c->name, (long long)i, (double)f[i]);
    const uint8_t *b = c->elem == GN_BOOL ? c->data : NULL;
    for (int64_t i = 0; b && i < n; i++)
        if (b[i] > 1)
            GN_FAIL(GN_ERR_DATA, "%s: %s: %d: expected 0 or 1", name_of(d), c->name, b[i]);
    const int32_t *v = c->elem == GN_I32 && c->classes > 0 ? c->data : NULL;
    for (int64_t i = 0; v && i < n; i++)
        if (v[i] < -1 || v[i] >= c->classes)
            GN_FAIL(GN_ERR_DATA, "%s: %s: number %lld is %d, but there are %lld", name_of(d),
                    c->name, (long long)i, v[i], (long long)c->classes);
    return NULL;
}

gn_status *gn_tables_check(const gn_dataset *d)
{
    for (int k = 0; k < d->n_relations; k++) GN_TRY(check_relation(d, &d->relations[k]));
    for (int k = 0; k < d->n_columns; k++) GN_TRY(check_column(d, &d->columns[k]));
    return NULL;
}

/* ---- schema ---- */

typedef struct maker {
    gn_arena *arena;
    GN_VEC(gn_schema_column) columns;
} maker;

static gn_schema_column *put(maker *m, const char *name, bool on_edges, int over, gn_elem elem,
                             int64_t dim)
{
    gn_schema_column c = {.name = name, .on_edges = on_edges, .over = over, .elem = elem};
    c.rank = dim > 0;
    c.dim[0] = dim;
    GN_PUSH(m->arena, m->columns, c);
    return &m->columns.p[m->columns.n - 1];
}

/* What features lie as: their own elements, or codes. */
static gn_elem coded_as(const gn_codes *c) { return c->data ? c->elem : GN_F32; }

/* What the dataset has under the names of data_name.h. */
static void put_known(maker *m, const gn_dataset *d)
{
    if (d->n_features > 0)
        put(m, GN_NAME_X, false, 0, GN_F32, d->n_features)->codes = coded_as(&d->x_codes);
    if (d->y) put(m, GN_NAME_Y, false, d->labelled, GN_I32, 0)->classes = d->n_classes;
    if (d->train_mask) put(m, GN_NAME_TRAIN_MASK, false, d->labelled, GN_BOOL, 0);
    if (d->val_mask) put(m, GN_NAME_VAL_MASK, false, d->labelled, GN_BOOL, 0);
    if (d->test_mask) put(m, GN_NAME_TEST_MASK, false, d->labelled, GN_BOOL, 0);
    if (d->edge_weight) put(m, GN_NAME_WEIGHT, true, 0, GN_F32, 0);
    if (d->edge_attr) put(m, GN_NAME_ATTR, true, 0, GN_F32, d->edge_dim);
}

gn_schema gn_dataset_schema(gn_arena *a, const gn_dataset *d)
{
    gn_schema_space *space = GN_NEW_N(a, gn_schema_space, d->n_tables + 1);
    gn_schema_relation *rel = GN_NEW_N(a, gn_schema_relation, d->n_relations + 1);
    maker m = {.arena = a};
    for (int k = 0; k <= d->n_tables; k++)
        space[k] = (gn_schema_space){gn_dataset_space(d, k), gn_dataset_rows(d, k),
                                     gn_dataset_row_of(d, k)};
    rel[0] = (gn_schema_relation){GN_NAME_G, 0, 0, d->n_edges};
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *r = &d->relations[k];
        rel[k + 1] = (gn_schema_relation){r->name, r->src, r->dst, r->n_edges};
    }
    put_known(&m, d);
    for (int k = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        gn_schema_column s = {.name = c->name,
                              .on_edges = c->on_edges,
                              .over = c->over,
                              .elem = c->elem,
                              .rank = c->rank,
                              .classes = c->classes,
                              .codes = coded_as(&c->codes)};
        memcpy(s.dim, c->dim, sizeof s.dim);
        GN_PUSH(a, m.columns, s);
    }
    return (gn_schema){.n_spaces = d->n_tables + 1,
                       .n_relations = d->n_relations + 1,
                       .n_columns = (int)m.columns.n,
                       .space = space,
                       .relation = rel,
                       .column = m.columns.p,
                       .labelled = d->labelled};
}
