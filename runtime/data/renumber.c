/* Nodes of a dataset under other numbers. */
#include "runtime/data/csr.h"
#include "runtime/data/dataset.h"
#include "runtime/data/lent.h"
#include "runtime/data/mem.h"

#include <string.h>

/* Rows of `bytes` each, row v to row to[v]; NULL: they stay. */
static gn_status *move_rows(const gn_dataset *d, void **rows, int64_t n, const int64_t *to,
                            size_t bytes)
{
    if (!*rows || !to) return NULL;
    GN_TRY(gn_dataset_check_lent(d, *rows, n * (int64_t)bytes));
    char *moved = gn_mem_alloc(n, bytes);
    if (!moved) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows of %zu bytes", (long long)n, bytes);
    for (int64_t v = 0; v < n; v++)
        memcpy(moved + (size_t)to[v] * bytes, (const char *)*rows + (size_t)v * bytes, bytes);
    gn_dataset_release(d, *rows);
    *rows = moved;
    return NULL;
}

#define MOVE(field, n, cols)                                                                       \
    do {                                                                                           \
        void *rows_ = d->field;                                                                    \
        GN_TRY(move_rows(d, &rows_, n, to, sizeof *d->field *(size_t)(cols)));                     \
        d->field = rows_;                                                                          \
    } while (0)

static gn_status *move_csr(gn_csr **m, const int64_t *to)
{
    int64_t *from, n = *m ? (*m)->rows : 0;
    gn_csr *moved;
    if (!*m || !to) return NULL;
    GN_MEM(from, n);
    for (int64_t v = 0; v < n; v++) from[to[v]] = v;
    gn_status *s = gn_csr_select_rows(*m, from, n, &moved);
    free(from);
    if (s) return s;
    gn_csr_free(*m);
    *m = moved;
    return NULL;
}

static gn_status *move_codes(const gn_dataset *d, gn_codes *c, int64_t n, const int64_t *to,
                             int64_t cols)
{
    void *rows = (void *)(uintptr_t)c->data;
    GN_TRY(move_rows(d, &rows, n, to, gn_elem_size(c->elem) * (size_t)cols));
    c->data = rows;
    return NULL;
}

/* Labels and splits, of the rows that have them. */
static gn_status *move_labels(gn_dataset *d, const int64_t *to)
{
    int64_t n = gn_dataset_labelled(d);
    MOVE(y, n, 1);
    MOVE(train_mask, n, 1);
    MOVE(val_mask, n, 1);
    MOVE(test_mask, n, 1);
    MOVE(train_times, n, 1);
    MOVE(val_times, n, 1);
    MOVE(test_times, n, 1);
    return NULL;
}

static void move_ends(int64_t *end, int64_t n, const int64_t *to)
{
    for (int64_t e = 0; to && e < n; e++) end[e] = to[end[e]];
}

static gn_status *move_column(const gn_dataset *d, gn_table_column *c, const int64_t *to)
{
    int64_t cols = 1, n = gn_dataset_rows(d, c->over);
    for (int i = 0; i < c->rank; i++) cols *= c->dim[i];
    GN_TRY(move_rows(d, &c->data, n, to, gn_elem_size(c->elem) * (size_t)cols));
    GN_TRY(move_codes(d, &c->codes, n, to, cols));
    return move_csr(&c->csr, to);
}

static gn_status *move_tables(gn_dataset *d, int64_t *const *to)
{
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *r = &d->relations[k];
        move_ends(r->from, r->n_edges, to[r->src]);
        move_ends(r->to, r->n_edges, to[r->dst]);
    }
    for (int k = 0; k < d->n_columns; k++)
        if (!d->columns[k].on_edges) GN_TRY(move_column(d, &d->columns[k], to[d->columns[k].over]));
    return NULL;
}

/* Where a row of the source lies, in two steps where it had another number before. */
static gn_status *move_numbers(const gn_dataset *d, int64_t **row_of, int64_t n, const int64_t *to)
{
    int64_t *now;
    if (!to) return NULL;
    GN_MEM(now, n);
    for (int64_t v = 0; v < n; v++) now[v] = to[*row_of ? (*row_of)[v] : v];
    gn_dataset_release(d, *row_of);
    *row_of = now;
    return NULL;
}

static gn_status *move_more(gn_dataset *d, gn_data_array *a, const int64_t *to)
{
    int64_t cols = 1;
    void *rows = a->data;
    for (int i = 1; i < a->rank; i++) cols *= a->dim[i];
    GN_TRY(move_rows(d, &rows, d->n_nodes, to, sizeof *a->data * (size_t)cols));
    a->data = rows;
    a->lent = false;
    return NULL;
}

gn_status *gn_data_array_move(gn_dataset *d, gn_data_array *a)
{
    return d->row_of ? move_more(d, a, d->row_of) : NULL;
}

/* What has no type. */
static gn_status *move_nodes(gn_dataset *d, const int64_t *to)
{
    move_ends(d->src, d->n_edges, to);
    move_ends(d->dst, d->n_edges, to);
    if (!to) return NULL;
    MOVE(x, d->n_nodes, d->n_features);
    GN_TRY(move_codes(d, &d->x_codes, d->n_nodes, to, d->n_features));
    for (int k = 0; k < d->n_more; k++)
        if (d->more[k].on_nodes) GN_TRY(move_more(d, &d->more[k], to));
    return move_csr(&d->x_csr, to);
}

gn_status *gn_dataset_renumber(gn_dataset *d, int64_t *const *to)
{
    GN_TRY(gn_dataset_list_edges(d));
    GN_TRY(move_nodes(d, to[0]));
    GN_TRY(move_labels(d, to[d->labelled]));
    GN_TRY(move_tables(d, to));
    GN_TRY(move_numbers(d, &d->row_of, d->n_nodes, to[0]));
    for (int k = 0; k < d->n_tables; k++)
        GN_TRY(move_numbers(d, &d->tables[k].row_of, d->tables[k].rows, to[k + 1]));
    return NULL;
}

/* An order ------------------------------------------------------------------------------------- */

/* All rows as those of one type, one after another, with all edges between them. */
typedef struct united {
    int64_t *first; /* [n_tables + 1] of each space */
    int64_t rows, edges, *src, *dst;
    int64_t *to, *of; /* [rows] new numbers of rows, and rows by them */
} united;

static void add_edges(united *u, int64_t n, const int64_t *src, int64_t first_src,
                      const int64_t *dst, int64_t first_dst)
{
    for (int64_t e = 0; e < n; e++, u->edges++) {
        u->src[u->edges] = first_src + src[e];
        u->dst[u->edges] = first_dst + dst[e];
    }
}

static gn_status *unite(gn_dataset *d, united *u)
{
    int64_t edges = d->n_edges;
    GN_TRY(gn_dataset_list_edges(d));
    GN_MEM(u->first, d->n_tables + 1);
    for (int k = 0; k <= d->n_tables; k++) {
        u->first[k] = u->rows;
        u->rows += gn_dataset_rows(d, k);
    }
    for (int k = 0; k < d->n_relations; k++) edges += d->relations[k].n_edges;
    GN_MEM(u->src, edges);
    GN_MEM(u->dst, edges);
    add_edges(u, d->n_edges, d->src, 0, d->dst, 0);
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *r = &d->relations[k];
        add_edges(u, r->n_edges, r->from, u->first[r->src], r->to, u->first[r->dst]);
    }
    return NULL;
}

/* Rows of each space in the order that those of all are in. */
static gn_status *part(const gn_dataset *d, united *u, int64_t **to)
{
    GN_MEM(u->of, u->rows);
    for (int64_t v = 0; v < u->rows; v++) u->of[u->to[v]] = v;
    for (int k = 0; k <= d->n_tables; k++) {
        int64_t n = gn_dataset_rows(d, k), next = 0;
        GN_MEM(to[k], n);
        for (int64_t v = 0; v < u->rows; v++) {
            int64_t row = u->of[v] - u->first[k];
            if (row >= 0 && row < n) to[k][row] = next++;
        }
    }
    return NULL;
}

static gn_status *order_all(gn_dataset *d, gn_order how, united *u, int64_t **to)
{
    gn_graph *g;
    GN_TRY(unite(d, u));
    GN_MEM(u->to, u->rows);
    GN_TRY(gn_graph_from_coo(GN_I32, u->rows, u->rows, u->edges, GN_I64, u->src, u->dst, &g));
    gn_status *s = gn_graph_order(g, how, u->to);
    gn_graph_free(g);
    return s ? s : part(d, u, to);
}

static gn_status *new_numbers(gn_dataset *d, gn_graph *own, gn_order how, int64_t **to)
{
    united u = {0};
    if (own && d->n_tables == 0 && d->n_relations == 0) {
        GN_MEM(to[0], d->n_nodes);
        return gn_graph_order(own, how, to[0]);
    }
    gn_status *s = order_all(d, how, &u, to);
    void *all[] = {u.first, u.src, u.dst, u.to, u.of};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    return s;
}

void gn_numbers_free(const gn_dataset *d, int64_t **to)
{
    for (int k = 0; to && k <= d->n_tables; k++) free(to[k]);
    free(to);
}

gn_status *gn_dataset_new_numbers(gn_dataset *d, gn_graph *own, gn_order how, int64_t ***out)
{
    int64_t **to;
    GN_MEM(to, d->n_tables + 1);
    gn_status *s = new_numbers(d, own, how, to);
    if (s) {
        gn_numbers_free(d, to);
        to = NULL;
    }
    *out = to;
    return s;
}

gn_status *gn_dataset_order(gn_dataset *d, gn_order how)
{
    int64_t **to;
    GN_TRY(gn_dataset_new_numbers(d, NULL, how, &to));
    gn_status *s = gn_dataset_renumber(d, to);
    gn_numbers_free(d, to);
    return s;
}
