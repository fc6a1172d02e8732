/* result: what the forward pass of a session gave, in the shape that its model says and in its
 * user's order. */
#include "session/eval_rows.h"
#include "session/minibatches.h"
#include "session/session_impl.h"
#include "base/data_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int gn_session_results(const gn_session *s)
{
    int n = 0;
    while (gir_result(s->model->eval, n)) n++;
    return n;
}

const char *gn_session_classes_name(const gn_session *s)
{
    const gir_program *p = s->model->eval;
    int64_t classes = s->data->n_classes;
    const char *labelled = gn_dataset_space(s->data, s->data->labelled);
    const gir_output *o;
    /* learned from something else */
    if (s->model->loss && !gn_program_reads(s->model->loss, GN_NAME_Y)) return NULL;
    for (int k = 0; classes > 1 && (o = gir_result(p, k)); k++) {
        const gir_type *t = gir_type_of(p, o->value);
        if (!strcmp(p->spaces.p[t->space].name, labelled) && t->elem == GN_F32 && t->rank == 1 &&
            t->dim[0] == classes)
            return o->name;
    }
    return NULL;
}

int64_t gn_session_classes(const gn_session *s)
{
    return gn_session_classes_name(s) ? s->data->n_classes : 0;
}

/* Orders --------------------------------------------------------------------------------------- */

static gn_status *rows_of_space(const int64_t *row_of, size_t row, gn_result *r)
{
    char *to = malloc((size_t)r->n_rows * row + 1);
    if (!to) GN_FAIL(GN_ERR_NOMEM, "out of memory: results of %lld rows", (long long)r->n_rows);
    for (int64_t v = 0; v < r->n_rows; v++)
        memcpy(to + (size_t)v * row, (const char *)r->data + (size_t)row_of[v] * row, row);
    r->data = r->owned = to;
    return NULL;
}

/* What the user calls the rows at the ends of edges; NULL: as they are here. */
typedef struct ends_of {
    int64_t *src, *dst;
} ends_of;

/* How many times the list of a graph's edges has a loop of every node at its end: those that
 * were added. */
static int64_t added_loops(const gn_artifact *a, int graph)
{
    int64_t n = 0;
    for (; !a->graphs[graph].name && a->graphs[graph].how <= GN_REVERSE;
         graph = a->graphs[graph].parent) {
        n += a->graphs[graph].how == GN_SELF_LOOPS || a->graphs[graph].how == GN_REMAINING_LOOPS;
        if (a->graphs[graph].how == GN_REMAINING_LOOPS || a->graphs[graph].how == GN_REMOVE_LOOPS)
            break;
    }
    return n;
}

/* Where an edge stands in the user's list: added loops were listed by the nodes' numbers in
 * here. */
static int64_t place(const ends_of *user, const gn_graph *g, int64_t loops, int64_t e)
{
    int64_t at = gn_index_get(g->array[GN_GRAPH_POS], g->index, e),
            first = g->n_edge - loops * g->n_dst;
    if (!user->dst || at < first) return at;
    int64_t v = (at - first) % g->n_dst;
    return at - v + user->dst[v];
}

static void sort_edges(const ends_of *user, const gn_graph *g, int64_t loops, size_t row,
                       const char *from, char *to, int64_t *ends)
{
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t end = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v + 1);
        for (int64_t e = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v); e < end; e++) {
            int64_t at = place(user, g, loops, e),
                    u = gn_index_get(g->array[GN_GRAPH_COL], g->index, e);
            memcpy(to + (size_t)at * row, from + (size_t)e * row, row);
            ends[at] = user->src ? user->src[u] : u;
            ends[g->n_edge + at] = user->dst ? user->dst[v] : v;
        }
    }
}

static gn_status *numbers_of(const gn_session *s, gir_space_id space, int64_t **user_of)
{
    const char *name = s->model->eval->spaces.p[space].name;
    const int64_t *row_of = gn_schema_row_of(&s->schema, name);
    int64_t n = gn_schema_rows(&s->schema, name);
    *user_of = NULL;
    if (!row_of) return NULL;
    *user_of = malloc((size_t)(n + 1) * sizeof **user_of);
    if (!*user_of) GN_FAIL(GN_ERR_NOMEM, "out of memory: numbers of %lld rows", (long long)n);
    for (int64_t v = 0; v < n; v++) (*user_of)[row_of[v]] = v;
    return NULL;
}

static gn_status *sorted_edges(const gn_session *s, int graph, const ends_of *user, size_t row,
                               gn_result *r)
{
    const gn_graph *g = gn_instance_graph(s->build.eval.instance, graph);
    char *to = malloc((size_t)r->n_rows * row + 1);
    int64_t *ends = malloc((size_t)(2 * r->n_rows + 1) * sizeof *ends);
    r->owned = to;
    r->ends = ends;
    if (!to || !ends)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: results of %lld edges", (long long)r->n_rows);
    sort_edges(user, g, added_loops(s->build.eval.code->artifact, graph), row, r->data, to, ends);
    r->data = to;
    return NULL;
}

static gn_status *rows_of_edges(const gn_session *s, const gir_type *of, int graph, size_t row,
                                gn_result *r)
{
    ends_of user = {0};
    gn_status *status = numbers_of(s, of->src, &user.src);
    if (!status) status = numbers_of(s, of->dst, &user.dst);
    if (!status) status = sorted_edges(s, graph, &user, row, r);
    free(user.src);
    free(user.dst);
    return status;
}

gn_status *gn_session_result(const gn_session *s, int k, gn_result *r)
{
    const gn_instance *in = s->build.eval.instance;
    const gir_program *p = s->model->eval;
    const gir_output *o = gir_result(p, k);
    *r = (gn_result){0};
    if (s->batches && s->batches->eval)
        GN_FAIL(GN_ERR_USAGE, "`evaluate = batch` has results of the masks' rows alone: `gnnc run` "
                              "gives those of all");
    if (!o) GN_FAIL(GN_ERR_USAGE, "model %s has no result %d", s->model->name, k);
    const gir_type *t = gir_type_of(p, o->value);
    int64_t elems = 0, row = gir_row_elems(t);
    r->name = o->name;
    r->data = gn_instance_output(in, o->name, &elems);
    r->elem = (gn_elem)t->elem;
    r->over = p->spaces.p[t->space].kind;
    r->n_rows = t->space ? (row ? elems / row : 0) : 1;
    r->row_elems = row;
    if (t->space) r->dim[r->rank++] = r->n_rows;
    for (int d = 0; d < t->rank; d++) r->dim[r->rank++] = t->dim[d];
    size_t bytes = (size_t)row * gn_elem_size(r->elem);
    int graph = gn_instance_output_graph(in, o->name);
    gn_status *status = NULL;
    const gir_space *over = &p->spaces.p[t->space];
    const int64_t *row_of = r->over == GIR_NODE ? gn_schema_row_of(&s->schema, over->name) : NULL;
    if (graph >= 0) status = rows_of_edges(s, gir_type_of(p, over->graph), graph, bytes, r);
    if (row_of) status = rows_of_space(row_of, bytes, r);
    if (status) gn_result_free(r);
    return status;
}

static void add_row(const float *x, int64_t elems, gn_not_finite *n)
{
    bool nan = false, infinite = false;
    for (const float *at = x; at < x + elems; at++) {
        nan |= isnan(*at);
        infinite |= isinf(*at);
    }
    n->nan += nan;
    n->infinite += infinite && !nan;
    n->rows++;
}

static void add_not_finite(const gn_session *s, const gir_output *o, gn_not_finite *n)
{
    const gir_type *t = gir_type_of(s->model->eval, o->value);
    int64_t elems = 0, row = gir_row_elems(t);
    if (!row || t->elem != GN_F32) return;
    const float *x = gn_instance_output(s->build.eval.instance, o->name, &elems);
    for (int64_t k = 0; x && k < elems / row; k++) add_row(x + k * row, row, n);
}

gn_not_finite gn_session_not_finite(const gn_session *s)
{
    gn_not_finite n = {0};
    const gir_output *o;
    const gn_eval_rows *by_rows = s->batches ? s->batches->eval : NULL;
    if (!s->build.eval.instance) return n;
    for (int64_t k = 0; by_rows && k < by_rows->n; k++)
        add_row(by_rows->out + by_rows->row[k] * by_rows->classes, by_rows->classes, &n);
    for (int k = 0; !by_rows && (o = gir_result(s->model->eval, k)); k++) add_not_finite(s, o, &n);
    return n;
}

double gn_result_at(const gn_result *r, int64_t k)
{
    switch (r->elem) {
    case GN_F32: return (double)((const float *)r->data)[k];
    case GN_F64: return ((const double *)r->data)[k];
    case GN_I32: return ((const int32_t *)r->data)[k];
    case GN_I64: return (double)((const int64_t *)r->data)[k];
    case GN_U32: return ((const uint32_t *)r->data)[k];
    default: return ((const uint8_t *)r->data)[k];
    }
}

void gn_result_free(gn_result *r)
{
    free(r->owned);
    free(r->ends);
    *r = (gn_result){0};
}
