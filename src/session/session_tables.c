/* Tables of a session's data, as programs bind them: a graph for each relation, columns over edges
 * in the order of its CSR, dense features. */
#include "session/session_impl.h"

#include "base/data_name.h"
#include "runtime/data/csr.h"
#include "runtime/data/lent.h"

#include <stdlib.h>
#include <string.h>

static int64_t rows_of(const gn_dataset *d, const gn_table_column *c)
{
    return c->on_edges ? gn_dataset_edges(d, c->over) : gn_dataset_rows(d, c->over);
}

static int64_t row_elems(const gn_table_column *c)
{
    int64_t n = 1;
    for (int k = 0; k < c->rank; k++) n *= c->dim[k];
    return n;
}

static const gn_graph *graph_of(const gn_session *s, int relation)
{
    return relation == 0 ? s->graph : s->relation[relation - 1];
}

gn_status *gn_session_lent_graph(const gn_by_dst *g, int64_t n_src, int64_t n_dst, int64_t n_edges,
                                 gn_graph **out)
{
    const void *const arrays[] = {g->row_ptr, g->col, g->pos};
    return gn_graph_lent(g->index, n_src, n_dst, n_edges, arrays, out);
}

gn_status *gn_session_make_relations(gn_session *s)
{
    const gn_dataset *d = s->data;
    s->relation = GN_NEW_N(s->arena, gn_graph *, d->n_relations + 1);
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *r = &d->relations[k];
        int64_t n_src = gn_dataset_rows(d, r->src), n_dst = gn_dataset_rows(d, r->dst);
        if (r->by_dst.row_ptr && r->by_dst.index == s->graph->index) {
            GN_TRY(gn_session_lent_graph(&r->by_dst, n_src, n_dst, r->n_edges, &s->relation[k]));
            continue;
        }
        GN_TRY(gn_dataset_list_edges(s->data));
        GN_TRY(gn_graph_from_coo(s->graph->index, n_src, n_dst, r->n_edges, GN_I64, r->from, r->to,
                                 &s->relation[k]));
    }
    return NULL;
}

/* What programs read in the place of a column: edges in the order of the graph, features dense.
 * NULL: the column as it is. */
static gn_status *arranged(const gn_session *s, const gn_table_column *c, void **to)
{
    int64_t rows = rows_of(s->data, c), row = row_elems(c), bytes;
    size_t elem = gn_elem_size(c->elem);
    *to = NULL;
    if (!c->on_edges && !c->csr) return NULL;
    if (__builtin_mul_overflow(rows, row, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)elem, &bytes) ||
        !(*to = calloc((size_t)bytes + 1, 1)))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows of %s", (long long)rows, c->name);
    if (c->on_edges) gn_graph_edges_in(graph_of(s, c->over), row * (int64_t)elem, c->data, *to);
    float *x = *to;
    for (int64_t r = 0; c->csr && r < rows; r++)
        for (int64_t k = c->csr->ptr[r]; k < c->csr->ptr[r + 1]; k++)
            x[r * row + c->csr->col[k]] = c->csr->val[k];
    return NULL;
}

gn_status *gn_session_arrange_columns(gn_session *s)
{
    s->column = GN_NEW_N(s->arena, void *, s->data->n_columns + 1);
    for (int k = 0; k < s->data->n_columns; k++)
        GN_TRY(arranged(s, &s->data->columns[k], &s->column[k]));
    return NULL;
}

gn_status *gn_session_code_features(gn_session *s)
{
    gn_dataset *d = s->data;
    gn_storage kept = gn_numbers_kept[s->opt.numbers];
    if (!kept || s->opt.objects || s->opt.plain_features) return NULL;
    if (gn_is_wide_named(s->opt.wide, GN_WIDE_FEATURES)) return NULL;
    gn_elem codes, elem = gn_elem_kept(kept, false);
    for (int k = -1; k < d->n_columns; k++) {
        const char *name = k < 0 ? GN_NAME_X : d->columns[k].name;
        if (gn_model_reads_exactly(s->arena, s->model, name)) continue;
        codes = k < 0 ? gn_dataset_code_x(d, elem)
                      : gn_dataset_code_column(d, &d->columns[k], elem);
        if (codes != GN_F32) GN_TRY(gn_model_code_input(s->arena, s->model, name, codes));
    }
    s->schema = gn_dataset_schema(s->arena, d);
    return NULL;
}

int gn_session_bind_codes(const gn_codes *c, const char *name, int64_t rows, int64_t cols,
                          gn_arena *a, gn_binding *to)
{
    const float *const per_column[] = {c->step, c->least};
    if (!c->data) return 0;
    to[0] = (gn_binding){name, c->elem, rows, cols, (void *)(uintptr_t)c->data};
    for (int k = 0; k < 2 && c->elem == GN_U8; k++) {
        const char *part = gn_arena_printf(a, k ? GN_CODES_LEAST : GN_CODES_STEP, name);
        to[k + 1] = (gn_binding){part, GN_F32, 1, cols, (void *)(uintptr_t)per_column[k]};
    }
    return c->elem == GN_U8 ? 3 : 1;
}

int gn_session_bind_columns(const gn_session *s, gn_binding *to)
{
    int n = 0;
    for (int k = 0; k < s->data->n_columns; k++) {
        const gn_table_column *c = &s->data->columns[k];
        void *data = s->column[k] ? s->column[k] : c->data;
        int64_t rows = rows_of(s->data, c), row = row_elems(c);
        if (data) to[n++] = (gn_binding){c->name, c->elem, rows, row, data};
        n += gn_session_bind_codes(&c->codes, c->name, rows, row, s->arena, to + n);
    }
    return n;
}

int gn_session_bind_relations(const gn_session *s, gn_graph_binding *to)
{
    for (int k = 0; k < s->data->n_relations; k++)
        to[k] = (gn_graph_binding){s->data->relations[k].name, s->relation[k]};
    return s->data->n_relations;
}

/* The relation that programs have under this name; -1: another graph. */
static int relation_named(const gn_dataset *d, const char *name)
{
    for (int k = 0; k <= d->n_relations; k++)
        if (!strcmp(gn_dataset_relation(d, k), name)) return k;
    return -1;
}

const gn_graph *gn_session_relation(const gn_session *s, const char *name)
{
    return graph_of(s, relation_named(s->data, name));
}

/* The numbers of edges by which some are left, if they are a column of the data. */
static void find_values(const gn_session *s, int relation, const gn_row_walk *from,
                        int32_t **values_of, gn_level_walk *w)
{
    for (int k = 0; from->column && k < s->data->n_columns; k++) {
        const gn_table_column *c = &s->data->columns[k];
        bool fits = c->on_edges && c->over == relation && c->elem == GN_I32 && c->rank == 0;
        if (!fits || strcmp(c->name, from->column) != 0) continue;
        int32_t *values = values_of[k];
        if (!values) {
            values = values_of[k] = GN_NEW_N(s->arena, int32_t, w->graph->n_edge + 1);
            gn_graph_edges_in(w->graph, sizeof *values, c->data, values);
        }
        w->column = from->column;
        w->value = from->value;
        w->values = values;
    }
}

gn_status *gn_session_count_levels(const gn_session *s, gn_build_options *o)
{
    const gn_dataset *d = s->data;
    gn_row_needs needs;
    GN_TRY(gn_build_needs(s->arena, s->model, o, &needs));
    if (!needs.levels || strcmp(needs.mask, GN_NAME_TRAIN_MASK) != 0) return NULL;
    gn_level_walk *walk = GN_NEW_N(s->arena, gn_level_walk, needs.n_walks + 1);
    int64_t *rows = GN_NEW_N(s->arena, int64_t, d->n_tables + 1);
    int32_t **values = GN_NEW_N(s->arena, int32_t *, d->n_columns + 1); /* in a graph's order */
    gn_typed_rows t = {d->n_tables + 1, needs.n_walks, d->labelled, rows, 0, walk};
    for (int k = 0; k <= d->n_tables; k++) {
        rows[k] = gn_dataset_rows(d, k);
        if (rows[k] > t.most_rows) t.most_rows = rows[k];
    }
    for (int k = 0; k < needs.n_walks; k++) {
        int r = relation_named(d, needs.walk[k].graph);
        if (r < 0) return NULL;
        walk[k] = (gn_level_walk){
            .name = needs.walk[k].graph, .graph = graph_of(s, r), .back = needs.walk[k].back};
        find_values(s, r, &needs.walk[k], values, &walk[k]);
        walk[k].src = r ? d->relations[r - 1].src : 0;
        walk[k].dst = r ? d->relations[r - 1].dst : 0;
    }
    gn_data_facts facts = o->train_rows.facts;
    GN_TRY(gn_count_typed_levels(s->arena, &t, d->train_mask, needs.levels, &o->train_rows));
    o->train_rows.facts = facts;
    return NULL;
}

int64_t gn_session_tables_bytes(const gn_session *s)
{
    const gn_dataset *d = s->data;
    int64_t bytes = 0;
    for (int k = 0; k < d->n_relations; k++)
        bytes += d->relations[k].from ? d->relations[k].n_edges * 16 : 0;
    for (int k = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        int64_t all = rows_of(d, c) * row_elems(c) * (int64_t)gn_elem_size(c->elem);
        bytes += c->data && !gn_dataset_lends(d, c->data) ? all : 0;
        if (c->codes.data && !gn_dataset_lends(d, c->codes.data))
            bytes += rows_of(d, c) * row_elems(c) * (int64_t)gn_elem_size(c->codes.elem);
        if (s->column && s->column[k]) bytes += all;
    }
    return bytes;
}

void gn_session_free_tables(gn_session *s)
{
    for (int k = 0; s->relation && k < s->data->n_relations; k++) gn_graph_free(s->relation[k]);
    for (int k = 0; s->column && k < s->data->n_columns; k++) free(s->column[k]);
}
