/* Nodes of a dataset under other numbers. */
#include "runtime/data/csr.h"
#include "runtime/data/dataset.h"
#include "runtime/data/mem.h"

#include <string.h>

/* Rows of `bytes` each, row v to row to[v]. */
static gn_status *move_rows(void **rows, const int64_t *to, int64_t n, size_t bytes)
{
    if (!*rows) return NULL;
    char *moved = gn_mem_alloc(n, bytes);
    if (!moved) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows of %zu bytes", (long long)n, bytes);
    for (int64_t v = 0; v < n; v++)
        memcpy(moved + (size_t)to[v] * bytes, (const char *)*rows + (size_t)v * bytes, bytes);
    free(*rows);
    *rows = moved;
    return NULL;
}

#define MOVE(field, cols)                                                                          \
    do {                                                                                           \
        void *rows_ = d->field;                                                                    \
        GN_TRY(move_rows(&rows_, to, d->n_nodes, sizeof *d->field *(size_t)(cols)));               \
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
        size_t bytes = gn_elem_size(c->elem);
        for (int i = 0; i < c->rank; i++) bytes *= (size_t)c->dim[i];
        GN_TRY(move_rows(&c->data, to, d->n_nodes, bytes));
        GN_TRY(move_csr(&c->csr, to));
    }
    return NULL;
}

gn_status *gn_dataset_renumber(gn_dataset *d, const int64_t *to)
{
    for (int64_t e = 0; e < d->n_edges; e++) {
        d->src[e] = to[d->src[e]];
        d->dst[e] = to[d->dst[e]];
    }
    MOVE(x, d->n_features);
    GN_TRY(move_labels(d, to));
    GN_TRY(move_tables(d, to));
    for (int k = 0; k < d->n_more; k++) {
        int64_t cols = 1;
        for (int i = 1; i < d->more[k].rank; i++) cols *= d->more[k].dim[i];
        if (d->more[k].on_nodes) MOVE(more[k].data, cols);
    }
    return move_csr(&d->x_csr, to);
}
