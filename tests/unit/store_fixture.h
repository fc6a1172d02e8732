/* What the tests of stores share: one that is written, and comparing what comes back. */
#ifndef GN_TESTS_STORE_FIXTURE_H
#define GN_TESTS_STORE_FIXTURE_H

#include "data_fixture.h"

#include "runtime/data/datafile.h"

#include <unistd.h>

static char path[4096];

static inline void setup(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/gnnc-store-%ld", tmp ? tmp : "/tmp", (long)getpid());
}

static inline void teardown(void) { unlink(path); }

static inline gn_dataset *undrawn(const char *from)
{
    return read_with(
        (gn_data_options){.path = from, .normalize_rows = -1, .undirected = -1, .undrawn = true});
}

static inline void write_as(const gn_dataset *d, int features)
{
    must(gn_datafile_write(d, &(gn_datafile_options){features, "a test"}, path));
}

static inline gn_dataset *read_store(void)
{
    gn_dataset *d;
    must(gn_datafile_read(path, &d));
    return d;
}

/* The same ----------------------------------------------------------------------------------- */

static inline void same(const void *a, const void *b, int64_t n, size_t size, const char *what)
{
    ck_assert_msg(!n || !a == !b, "%s", what);
    if (a && n) ck_assert_msg(!memcmp(a, b, (size_t)n * size), "%s", what);
}

static inline void same_csr(const gn_csr *a, const gn_csr *b)
{
    ck_assert(!a == !b);
    if (!a) return;
    ck_assert(a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz);
    same(a->ptr, b->ptr, a->rows + 1, sizeof *a->ptr, "csr ptr");
    same(a->col, b->col, a->nnz, sizeof *a->col, "csr col");
    same(a->val, b->val, a->nnz, sizeof *a->val, "csr val");
}

static inline void same_columns(const gn_dataset *a, const gn_dataset *b)
{
    ck_assert_int_eq(a->n_columns, b->n_columns);
    for (int k = 0; k < a->n_columns; k++) {
        const gn_table_column *c = &a->columns[k], *o = &b->columns[k];
        int64_t n = c->on_edges ? gn_dataset_edges(a, c->over) : gn_dataset_rows(a, c->over);
        ck_assert_str_eq(c->name, o->name);
        ck_assert(c->on_edges == o->on_edges && c->over == o->over && c->elem == o->elem &&
                  c->rank == o->rank && c->classes == o->classes && !c->names == !o->names);
        for (int i = 0; i < c->rank; i++) n *= c->dim[i];
        same(c->data, o->data, n, gn_elem_size(c->elem), c->name);
        same_csr(c->csr, o->csr);
        for (int64_t i = 0; c->names && i < c->classes; i++)
            ck_assert_str_eq(c->names[i], o->names[i]);
    }
}

static inline void same_labels(const gn_dataset *a, const gn_dataset *b)
{
    int64_t n = gn_dataset_labelled(a);
    ck_assert(a->labelled == b->labelled && a->n_classes == b->n_classes);
    same(a->y, b->y, n, sizeof *a->y, "y");
    same(a->train_mask, b->train_mask, n, 1, "train");
    same(a->val_mask, b->val_mask, n, 1, "val");
    same(a->test_mask, b->test_mask, n, 1, "test");
    same(a->train_times, b->train_times, n, sizeof *a->train_times, "times");
    same(a->val_times, b->val_times, n, sizeof *a->val_times, "times");
    same(a->test_times, b->test_times, n, sizeof *a->test_times, "times");
}

static inline void same_tables(const gn_dataset *a, const gn_dataset *b)
{
    ck_assert(a->n_tables == b->n_tables && a->n_relations == b->n_relations);
    for (int k = 0; k < a->n_tables; k++) {
        ck_assert_str_eq(a->tables[k].name, b->tables[k].name);
        ck_assert_int_eq(a->tables[k].rows, b->tables[k].rows);
    }
    for (int k = 0; k < a->n_relations; k++) {
        const gn_relation *r = &a->relations[k], *o = &b->relations[k];
        ck_assert_str_eq(r->name, o->name);
        ck_assert(r->src == o->src && r->dst == o->dst && r->n_edges == o->n_edges);
        same(r->from, o->from, r->n_edges, sizeof *r->from, r->name);
        same(r->to, o->to, r->n_edges, sizeof *r->to, r->name);
    }
}

static inline void same_names(const gn_dataset *a, const gn_dataset *b)
{
    ck_assert(!a->feature_name == !b->feature_name);
    for (int64_t f = 0; a->feature_name && f < a->n_features; f++)
        ck_assert_str_eq(a->feature_name[f], b->feature_name[f]);
}

static inline void same_data(const gn_dataset *a, const gn_dataset *b)
{
    ck_assert_str_eq(a->name ? a->name : "", b->name ? b->name : "");
    ck_assert(a->n_nodes == b->n_nodes && a->n_edges == b->n_edges && a->typed == b->typed &&
              a->n_features == b->n_features && a->edge_dim == b->edge_dim &&
              a->normalized == b->normalized && a->edges_remade == b->edges_remade &&
              a->reduced == b->reduced && a->n_features_read == b->n_features_read);
    same(a->src, b->src, a->n_edges, sizeof *a->src, "src");
    same(a->dst, b->dst, a->n_edges, sizeof *a->dst, "dst");
    same(a->edge_weight, b->edge_weight, a->n_edges, sizeof(float), "weight");
    same(a->edge_attr, b->edge_attr, a->n_edges * a->edge_dim, sizeof(float), "attr");
    same(a->x, b->x, a->n_nodes * a->n_features, sizeof(float), "x");
    same_csr(a->x_csr, b->x_csr);
    same_names(a, b);
    same_labels(a, b);
    same_tables(a, b);
    same_columns(a, b);
    ck_assert_int_eq(a->n_more, b->n_more);
    for (int k = 0; k < a->n_more; k++) {
        const gn_data_array *m = &a->more[k];
        int64_t n = 1;
        ck_assert_str_eq(m->name, b->more[k].name);
        ck_assert(m->rank == b->more[k].rank && m->also == b->more[k].also);
        for (int i = 0; i < m->rank; i++) n *= m->dim[i];
        same(m->data, b->more[k].data, n, sizeof *m->data, m->name);
    }
    ck_assert_int_eq(a->n_remarks, b->n_remarks);
}

#endif
