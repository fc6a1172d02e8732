/* Nodes of a dataset under other numbers. */
#include "runtime/data/csr.h"
#include "runtime/data/dataset.h"
#include "runtime/data/lent.h"
#include "runtime/data/mem.h"

#include <string.h>

/* Rows of `bytes` each, row v to row to[v]. */
static gn_status *move_rows(const gn_dataset *d, void **rows, const int64_t *to, size_t bytes)
{
    int64_t n = d->n_nodes;
    if (!*rows) return NULL;
    GN_TRY(gn_dataset_check_lent(d, *rows, n * (int64_t)bytes));
    char *moved = gn_mem_alloc(n, bytes);
    if (!moved) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows of %zu bytes", (long long)n, bytes);
    for (int64_t v = 0; v < n; v++)
        memcpy(moved + (size_t)to[v] * bytes, (const char *)*rows + (size_t)v * bytes, bytes);
    gn_dataset_release(d, *rows);
    *rows = moved;
    return NULL;
}

#define MOVE(field, cols)                                                                          \
    do {                                                                                           \
        void *rows_ = d->field;                                                                    \
        GN_TRY(move_rows(d, &rows_, to, sizeof *d->field *(size_t)(cols)));                        \
        d->field = rows_;                                                                          \
    } while (0)

static gn_status *move_csr(gn_csr **m, const int64_t *to)
{
    int64_t *from, n = *m ? (*m)->rows : 0;
    gn_csr *moved;
    if (!*m) return NULL;
    GN_MEM(from, n);
    for (int64_t v = 0; v < n; v++) from[to[v]] = v;
    gn_status *s = gn_csr_select_rows(*m, from, n, &moved);
    free(from);
    if (s) return s;
    gn_csr_free(*m);
    *m = moved;
    return NULL;
}

static gn_status *move_codes(const gn_dataset *d, gn_codes *c, const int64_t *to, int64_t cols)
{
    void *rows = (void *)(uintptr_t)c->data;
    GN_TRY(move_rows(d, &rows, to, gn_elem_size(c->elem) * (size_t)cols));
    c->data = rows;
    return NULL;
}

/* Labels and splits, where they are of nodes. */
static gn_status *move_labels(gn_dataset *d, const int64_t *to)
{
    if (d->labelled != 0) return NULL;
    MOVE(y, 1);
    MOVE(train_mask, 1);
    MOVE(val_mask, 1);
    MOVE(test_mask, 1);
    MOVE(train_times, 1);
    MOVE(val_times, 1);
    MOVE(test_times, 1);
    return NULL;
}

static gn_status *move_tables(gn_dataset *d, const int64_t *to)
{
    for (int k = 0; k < d->n_relations; k++) {
        gn_relation *r = &d->relations[k];
        for (int64_t e = 0; r->src == 0 && e < r->n_edges; e++) r->from[e] = to[r->from[e]];
        for (int64_t e = 0; r->dst == 0 && e < r->n_edges; e++) r->to[e] = to[r->to[e]];
    }
    for (int k = 0; k < d->n_columns; k++) {
        gn_table_column *c = &d->columns[k];
        if (c->on_edges || c->over != 0) continue;
        int64_t cols = 1;
        for (int i = 0; i < c->rank; i++) cols *= c->dim[i];
        GN_TRY(move_rows(d, &c->data, to, gn_elem_size(c->elem) * (size_t)cols));
        GN_TRY(move_codes(d, &c->codes, to, cols));
        GN_TRY(move_csr(&c->csr, to));
    }
    return NULL;
}

/* Where a node of the source lies, in two steps. */
static gn_status *move_numbers(gn_dataset *d, const int64_t *to)
{
    int64_t *row_of;
    if (!d->row_of) return NULL;
    GN_MEM(row_of, d->n_nodes);
    for (int64_t v = 0; v < d->n_nodes; v++) row_of[v] = to[d->row_of[v]];
    gn_dataset_release(d, d->row_of);
    d->row_of = row_of;
    return NULL;
}

static gn_status *move_more(gn_dataset *d, gn_data_array *a, const int64_t *to)
{
    int64_t cols = 1;
    void *rows = a->data;
    for (int i = 1; i < a->rank; i++) cols *= a->dim[i];
    GN_TRY(move_rows(d, &rows, to, sizeof *a->data * (size_t)cols));
    a->data = rows;
    a->lent = false;
    return NULL;
}

gn_status *gn_data_array_move(gn_dataset *d, gn_data_array *a)
{
    return d->row_of ? move_more(d, a, d->row_of) : NULL;
}

gn_status *gn_dataset_renumber(gn_dataset *d, const int64_t *to)
{
    GN_TRY(gn_dataset_list_edges(d));
    for (int64_t e = 0; e < d->n_edges; e++) {
        d->src[e] = to[d->src[e]];
        d->dst[e] = to[d->dst[e]];
    }
    MOVE(x, d->n_features);
    GN_TRY(move_codes(d, &d->x_codes, to, d->n_features));
    GN_TRY(move_numbers(d, to));
    GN_TRY(move_labels(d, to));
    GN_TRY(move_tables(d, to));
    for (int k = 0; k < d->n_more; k++)
        if (d->more[k].on_nodes) GN_TRY(move_more(d, &d->more[k], to));
    return move_csr(&d->x_csr, to);
}

gn_status *gn_dataset_order(gn_dataset *d, gn_order how)
{
    gn_graph *g;
    int64_t *to;
    if (d->n_tables || d->n_relations)
        GN_FAIL(GN_ERR_USAGE, "--order: the data have several types of rows or relations");
    GN_TRY(gn_dataset_list_edges(d));
    GN_TRY(
        gn_graph_from_coo(GN_I32, d->n_nodes, d->n_nodes, d->n_edges, GN_I64, d->src, d->dst, &g));
    to = gn_mem_alloc(d->n_nodes, sizeof *to);
    gn_status *s = to ? gn_graph_order(g, how, to)
                      : GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld nodes to reorder",
                                 (long long)d->n_nodes);
    gn_graph_free(g);
    if (!s) s = gn_dataset_renumber(d, to);
    if (!s && !d->row_of) {
        d->row_of = to;
        to = NULL;
    }
    free(to);
    return s;
}
