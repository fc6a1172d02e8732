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

static gn_status *move_csr(gn_dataset *d, const int64_t *to)
{
    int64_t *from;
    gn_csr *moved;
    if (!d->x_csr) return NULL;
    GN_MEM(from, d->n_nodes);
    for (int64_t v = 0; v < d->n_nodes; v++) from[to[v]] = v;
    gn_status *s = gn_csr_select_rows(d->x_csr, from, d->n_nodes, &moved);
    free(from);
    if (s) return s;
    gn_csr_free(d->x_csr);
    d->x_csr = moved;
    return NULL;
}

gn_status *gn_dataset_renumber(gn_dataset *d, const int64_t *to)
{
    for (int64_t e = 0; e < d->n_edges; e++) {
        d->src[e] = to[d->src[e]];
        d->dst[e] = to[d->dst[e]];
    }
    MOVE(x, d->n_features);
    MOVE(y, 1);
    MOVE(train_mask, 1);
    MOVE(val_mask, 1);
    MOVE(test_mask, 1);
    MOVE(train_times, 1);
    MOVE(val_times, 1);
    MOVE(test_times, 1);
    for (int k = 0; k < d->n_more; k++) {
        int64_t cols = 1;
        for (int i = 1; i < d->more[k].rank; i++) cols *= d->more[k].dim[i];
        if (d->more[k].on_nodes) MOVE(more[k].data, cols);
    }
    return move_csr(d, to);
}
