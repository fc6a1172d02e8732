#include "session/stored_rows.h"

#include "base/data_name.h"
#include "runtime/data/blockfile.h"
#include "runtime/data/lent.h"

#include <string.h>

/* Rows that a file lends under the name of an input. */
typedef struct stored {
    const void *data; /* NULL: they are in memory */
    int64_t rows, row_bytes;
} stored;

static stored rows_of(const gn_dataset *d, const void *x, const gn_codes *c, int64_t rows,
                      int64_t cols)
{
    const void *data = c->data ? c->data : x;
    gn_elem elem = c->data ? c->elem : GN_F32;
    if (!gn_dataset_lends(d, data)) data = NULL;
    return (stored){data, rows, cols * (int64_t)gn_elem_size(elem)};
}

static stored find(const gn_session *s, const char *name)
{
    const gn_dataset *d = s->data;
    if (!strcmp(name, GN_NAME_X)) return rows_of(d, d->x, &d->x_codes, d->n_nodes, d->n_features);
    const gn_table_column *c = gn_dataset_column(d, name);
    int64_t cols = 1;
    for (int k = 0; c && k < c->rank; k++) cols *= c->dim[k];
    if (!c || c->on_edges || c->elem != GN_F32) return (stored){0};
    return rows_of(d, c->data, &c->codes, gn_dataset_rows(d, c->over), cols);
}

/* Those of which any row may be read; `all`: of what is taken, too. */
static gn_status *check(const gn_session *s, const gn_compiled *code, bool all)
{
    for (int k = 0; code && k < code->taken.n; k++) {
        const gn_taken *t = &code->taken.of[k];
        stored r = find(s, t->input);
        if (r.data && (all || t->graph < 0))
            GN_TRY(gn_dataset_check_lent(s->data, r.data, r.rows * r.row_bytes));
    }
    return NULL;
}

/* Of graphs that batches are drawn of: where rows begin and sources stay in memory, as each batch
 * asks for more of them than of features; places are of use to few. */
static void scatter_edges(const gn_dataset *d, int relation)
{
    const gn_by_dst *g = relation ? &d->relations[relation - 1].by_dst : &d->by_dst;
    int64_t size = (int64_t)gn_elem_size(g->index), edges = gn_dataset_edges(d, relation) * size,
            rows = gn_dataset_rows(d, relation ? d->relations[relation - 1].dst : 0);
    if (!g->row_ptr) return;
    gn_block_file_keep(d->file, g->row_ptr, (rows + 1) * size);
    gn_block_file_keep(d->file, g->col, edges);
    gn_block_file_scattered(d->file, g->col, edges);
    gn_block_file_scattered(d->file, g->pos, edges);
}

/* Features and columns, from number -1 on. */
static stored number(const gn_session *s, int k)
{
    return find(s, k < 0 ? GN_NAME_X : s->data->columns[k].name);
}

int64_t gn_stored_bytes(const gn_session *s)
{
    int64_t bytes = 0;
    for (int k = -1; s->data->file && k < s->data->n_columns; k++) {
        stored r = number(s, k);
        if (r.data) bytes += r.rows * r.row_bytes;
    }
    return bytes;
}

void gn_stored_lend(const gn_session *s, gn_pages *to)
{
    for (int k = -1; s->data->file && k < s->data->n_columns; k++) {
        stored r = number(s, k);
        if (r.data) gn_pages_lend(to, r.data, r.rows * r.row_bytes);
    }
}

void gn_stored_scatter(const gn_session *s)
{
    const gn_dataset *d = s->data;
    for (int k = 0; d->file && k <= d->n_relations; k++) scatter_edges(d, k);
    for (int k = -1; d->file && k < d->n_columns; k++) {
        stored r = number(s, k);
        if (r.data) gn_block_file_scattered(d->file, r.data, r.rows * r.row_bytes);
    }
}

gn_status *gn_stored_check(const gn_session *s, const gn_unit *u)
{
    if (!s->data->file) return NULL;
    GN_TRY(check(s, u->prepare_code, true));
    return check(s, u->code, false);
}

gn_status *gn_stored_check_picked(const gn_session *s, const gn_compiled *code,
                                  const gn_instance *in)
{
    for (int k = 0; s->data->file && in && k < code->taken.n; k++) {
        const gn_taken *t = &code->taken.of[k];
        stored r = find(s, t->input);
        if (!r.data || t->graph < 0) continue;
        const gn_graph *pick = gn_instance_graph(in, t->graph);
        const gn_block_rows rows = {r.data, r.row_bytes, pick->n_edge, pick->index,
                                    pick->array[GN_GRAPH_COL]};
        GN_TRY(gn_block_file_check_rows(s->data->file, &rows));
    }
    return NULL;
}
