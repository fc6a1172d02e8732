/* Binding, ahead of graphs: columns of whole numbers that graphs are made of (artifact.h), when one
 * is asked for. */
#include "runtime/run/instance.h"
#include "runtime/memory.h"

static int64_t get(const gn_column_data *c, int64_t i)
{
    switch (c->elem) {
    case GN_I64: return ((const int64_t *)c->data)[i];
    case GN_I32: return ((const int32_t *)c->data)[i];
    case GN_U32: return ((const uint32_t *)c->data)[i];
    case GN_BOOL: return ((const uint8_t *)c->data)[i] != 0;
    default: return ((const uint8_t *)c->data)[i];
    }
}

static int64_t as(gn_elem e, int64_t x)
{
    switch (e) {
    case GN_BOOL: return x != 0;
    case GN_U8: return (uint8_t)x;
    case GN_U32: return (uint32_t)x;
    case GN_I32: return (int32_t)(uint32_t)x;
    default: return x;
    }
}

/* Room for n elements; what was there is used again. */
static gn_status *make_room(gn_column_data *c, gn_elem elem, int64_t n)
{
    c->elem = elem == GN_BOOL ? GN_BOOL : GN_I64;
    if (c->own && c->n == n) return NULL;
    gn_block_free(c->own);
    c->own = NULL;
    GN_TRY(gn_block_new(n, gn_elem_size(c->elem), "a column", &c->own));
    c->n = n;
    c->data = c->own;
    return NULL;
}

static void put(gn_column_data *c, int64_t i, int64_t x)
{
    if (c->elem == GN_BOOL)
        ((uint8_t *)c->own)[i] = x != 0;
    else
        ((int64_t *)c->own)[i] = x;
}

gn_status *gn_bind_row_count(const gn_instance *in, const gn_counted_rows *r, int n,
                             const gn_binding *tensors, int64_t *out)
{
    const gn_binding *b;
    *out = r->rows;
    if (!r->input && r->graph >= 0) *out = gn_graph_size(in->graph[r->graph], r->end);
    if (!r->input) return NULL;
    GN_TRY(gn_bind_find(in, r->input, n, tensors, &b));
    *out = b->rows;
    return NULL;
}

static gn_status *input(gn_instance *in, const gn_data_column *c, gn_column_data *d, int n,
                        const gn_binding *tensors)
{
    const gn_binding *b;
    GN_TRY(gn_bind_find(in, c->name, n, tensors, &b));
    if (b->elem != c->elem || b->row_elems != 1 || b->rows < 0 || (!b->data && b->rows))
        GN_FAIL(GN_ERR_DATA, "%s: '%s' makes a graph: one %s a row is needed", in->artifact->name,
                c->name, gn_elem_name(c->elem));
    *d = (gn_column_data){.elem = b->elem, .n = b->rows, .data = b->data};
    return NULL;
}

static int64_t compute(gn_data_column_kind kind, int64_t x, int64_t y)
{
    switch (kind) {
    case GN_COLUMN_NOT: return !x;
    case GN_COLUMN_AND: return x && y;
    case GN_COLUMN_OR: return x || y;
    case GN_COLUMN_LT: return x < y;
    case GN_COLUMN_LE: return x <= y;
    case GN_COLUMN_EQ: return x == y;
    case GN_COLUMN_NE: return x != y;
    default: return x;
    }
}

static gn_status *elementwise(const gn_instance *in, const gn_data_column *c, gn_column_data *d)
{
    const gn_column_data *a = &in->column[c->of[0]], *b = c->of[1] < 0 ? a : &in->column[c->of[1]];
    if (a->n != b->n)
        GN_FAIL(GN_ERR_DATA, "%s: columns of %lld and %lld rows", in->artifact->name,
                (long long)a->n, (long long)b->n);
    GN_TRY(make_room(d, c->elem, a->n));
    for (int64_t i = 0; i < d->n; i++) {
        int64_t x = get(a, i), y = get(b, i);
        put(d, i, as(c->elem, compute(c->kind, x, y)));
    }
    return NULL;
}

static gn_status *of_rows(const gn_instance *in, const gn_column_data *c, int64_t n)
{
    if (c->n == n) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: a column has %lld rows, its graph %lld", in->artifact->name,
            (long long)c->n, (long long)n);
}

/* At the end of every edge. */
static gn_status *gathered(const gn_instance *in, const gn_data_column *c, gn_column_data *d)
{
    gn_graph *g = in->graph[c->graph];
    const gn_column_data *a = &in->column[c->of[0]];
    GN_TRY(gn_graph_require(g, GN_ARRAY(GN_GRAPH_ROW_PTR)));
    GN_TRY(of_rows(in, a, c->end ? g->n_dst : g->n_src));
    GN_TRY(make_room(d, c->elem, g->n_edge));
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v + 1);
        for (int64_t e = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v); e < end; e++)
            put(d, e, get(a, c->end ? v : gn_index_get(g->array[GN_GRAPH_COL], g->index, e)));
    }
    return NULL;
}

/* From the graph's parent, and from its rows at new loops. */
static gn_status *carried(const gn_instance *in, const gn_data_column *c, gn_column_data *d)
{
    const gn_graph *g = in->graph[c->graph];
    const gn_column_data *a = &in->column[c->of[0]], *fill = &in->column[c->of[1]];
    if (!g->derived)
        GN_FAIL(GN_ERR_INTERNAL, "%s: a column is carried to a graph that comes of none",
                in->artifact->name);
    GN_TRY(of_rows(in, a, g->n_parent_edge));
    GN_TRY(of_rows(in, fill, g->n_dst));
    GN_TRY(make_room(d, c->elem, g->n_edge));
    int64_t v = 0; /* the row of the last new loop */
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t from = gn_index_get(g->array[GN_GRAPH_FROM], g->index, e);
        while (from < 0 && gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v + 1) <= e) v++;
        put(d, e, from < 0 ? get(fill, v) : get(a, from));
    }
    return NULL;
}

static gn_status *make(gn_instance *in, int k, int n, const gn_binding *tensors)
{
    const gn_data_column *c = &in->artifact->columns[k];
    gn_column_data *d = &in->column[k];
    int64_t rows;
    switch (c->kind) {
    case GN_COLUMN_INPUT: return input(in, c, d, n, tensors);
    case GN_COLUMN_GATHER: return gathered(in, c, d);
    case GN_COLUMN_CARRY: return carried(in, c, d);
    case GN_COLUMN_CONST:
        GN_TRY(gn_bind_row_count(in, &c->rows, n, tensors, &rows));
        GN_TRY(make_room(d, c->elem, rows));
        for (int64_t i = 0; i < rows; i++) put(d, i, c->value);
        return NULL;
    default: return elementwise(in, c, d);
    }
}

gn_status *gn_bind_column(gn_instance *in, int k, int n, const gn_binding *tensors)
{
    const gn_data_column *c = &in->artifact->columns[k];
    if (in->column[k].made) return NULL;
    for (int j = 0; j < 2; j++)
        if (c->of[j] >= 0) GN_TRY(gn_bind_column(in, c->of[j], n, tensors));
    GN_TRY(make(in, k, n, tensors));
    in->column[k].made = true;
    return NULL;
}

void gn_bind_release_columns(gn_instance *in)
{
    for (int k = 0; k < in->artifact->n_columns; k++) {
        gn_block_free(in->column[k].own);
        in->column[k] = (gn_column_data){0};
    }
}
