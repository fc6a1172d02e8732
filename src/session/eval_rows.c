#include "session/eval_rows.h"
#include "session/stored_rows.h"
#include "session/session_impl.h"

#include "base/alloc.h"
#include "base/data_name.h"

#include <math.h>
#include <string.h>

static bool in_a_mask(const gn_dataset *d, int64_t v)
{
    return (d->train_mask && d->train_mask[v]) || (d->val_mask && d->val_mask[v]) ||
           (d->test_mask && d->test_mask[v]);
}

static gn_status *make_mask(const gn_session *s, const char *of, int64_t n, gn_binding *out)
{
    const char *name = gn_arena_printf(s->arena, "%s" GN_BATCH_MASK, of);
    *out = (gn_binding){name, GN_BOOL, n, 1, gn_allocate_zeroed((size_t)n + 1)};
    if (!out->data) GN_FAIL(GN_ERR_NOMEM, "out of memory: a mask of %lld", (long long)n);
    return NULL;
}

static gn_status *make_room(gn_session *s, gn_eval_rows *z)
{
    const gn_dataset *d = s->data;
    int64_t rows = gn_dataset_labelled(d), elems;
    if (z->how.of)
        return make_mask(s, z->how.of, gn_session_relation(s, z->how.of)->n_edge, &z->mask);
    GN_TRY(make_mask(s, gn_dataset_space(d, d->labelled), rows, &z->mask));
    z->classes = gn_session_classes(s);
    z->row = gn_allocate_zeroed((size_t)(rows + 1) * sizeof *z->row);
    if (!__builtin_mul_overflow(rows, z->classes, &elems) && elems < INT64_MAX / 8)
        z->out = gn_allocate_zeroed((size_t)(elems + 1) * sizeof *z->out);
    if (!z->row || !z->out)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: results of %lld rows", (long long)rows);
    for (int64_t i = 0; i < elems; i++) z->out[i] = NAN;
    for (int64_t v = 0; v < rows; v++)
        if (in_a_mask(d, v)) z->row[z->n++] = v;
    return NULL;
}

/* About as many as a part that is trained on has. */
static int64_t rows_of_part(const gn_session *s)
{
    const gn_batch_spec *t = &s->model->train.batches;
    int64_t nodes = s->graph->n_dst, a = t->sampled[0], b = t->sampled[1], most = nodes, n = a;
    if (t->sampler == GN_SAMPLER_CLUSTER)
        n = __builtin_mul_overflow(nodes / a + 1, b, &n) ? most : n;
    if (t->sampler == GN_SAMPLER_SAINT_EDGE) n = a > most / 2 ? most : 2 * a;
    if (t->sampler == GN_SAMPLER_SAINT_WALK) n = __builtin_mul_overflow(a, b + 1, &n) ? most : n;
    n = n < most ? n : most;
    return n > 1 ? n : 1;
}

/* Can figures be had of some rows, or of some edges (*of) at a time? */
static gn_status *check(const gn_session *s, const char **of)
{
    int64_t width;
    *of = NULL;
    if (gn_watches_loss(&s->model->train))
        GN_FAIL(GN_ERR_MODEL, "`evaluate = batch` has figures of results, and no `val_loss`");
    if (gn_session_classes_name(s)) return NULL;
    if (gn_session_ranks(s))
        GN_FAIL(GN_ERR_MODEL, "`evaluate = batch` does not go with facts that are ranked, each "
                              "among all nodes: `evaluate = full` does");
    *of = gn_session_scored(s, &width);
    if (*of) return NULL;
    GN_FAIL(GN_ERR_MODEL,
            "`evaluate = batch` is of models that give `node[C]`, or each edge of a relation a "
            "number, along which no messages go%s; others train with --scores off",
            s->opt.target ? ", on this processor" : "");
}

gn_status *gn_eval_rows_new(gn_session *s, gn_eval_rows **out)
{
    const gn_train_spec *t = &s->model->train;
    const char *of;
    *out = NULL;
    GN_TRY(check(s, &of));
    gn_eval_rows *z = gn_allocate_zeroed(sizeof *z);
    if (!z) GN_FAIL(GN_ERR_NOMEM, "out of memory: rows to evaluate");
    z->how = t->batches;
    z->how.results = true;
    z->how.of = of;
    z->how.exclude = GN_EXCLUDE_NONE; /* what is held out is in no graph that messages go along */
    if (!z->how.size) z->how.size = rows_of_part(s);
    gn_status *status = make_room(s, z);
    if (status)
        gn_eval_rows_free(z);
    else
        *out = z;
    return status;
}

void gn_eval_rows_free(gn_eval_rows *z)
{
    if (!z) return;
    gn_release(z->mask.data);
    gn_release(z->row);
    gn_release(z->out);
    gn_release(z);
}

/* Those at hand, whose mask is one of the bindings. */
static void list_rows(int n_tensors, gn_binding *tensors, const void *mask, const int64_t *row,
                      int64_t n)
{
    for (int k = 0; k < n_tensors; k++)
        if (tensors[k].data == mask) {
            tensors[k].set = row;
            tensors[k].n_set = n;
        }
}

void gn_eval_rows_first(gn_arena *a, const gn_eval_rows *z, int n_tensors, gn_binding *tensors)
{
    int64_t all = z->row ? z->n : z->mask.rows, n = all < z->how.size ? all : z->how.size;
    int64_t *row = GN_NEW_N(a, int64_t, n + 1);
    for (int64_t k = 0; k < n; k++) row[k] = z->row ? z->row[k] : k;
    list_rows(n_tensors, tensors, z->mask.data, row, n);
}

gn_status *gn_eval_rows_run(gn_session *s, gn_eval_rows *z)
{
    gn_unit *u = &s->build.eval;
    const char *name = gn_session_classes_name(s);
    size_t row = (size_t)z->classes * sizeof(float);
    for (int64_t first = 0; first < z->n; first += z->how.size) {
        int64_t n = z->n - first < z->how.size ? z->n - first : z->how.size;
        list_rows(z->n_tensors, z->tensors, z->mask.data, z->row + first, n);
        GN_TRY(gn_unit_bind_again(u, z->n_graphs, z->graphs, z->n_tensors, z->tensors, NULL));
        GN_TRY(gn_stored_check_picked(s, u->code, u->instance));
        gn_instance_run(u->instance);
        GN_TRY(gn_instance_wait(u->instance));
        GN_TRY(gn_instance_fetch(u->instance, name));
        const float *out = gn_instance_output(u->instance, name, NULL);
        for (int64_t k = 0; k < n; k++)
            memcpy((char *)z->out + (size_t)z->row[first + k] * row,
                   (const char *)out + (size_t)k * row, row);
    }
    return NULL;
}

/* Edges [first, first + n) of the bound unit. */
static gn_status *score_some(const gn_session *s, gn_unit *u, const gn_session_data *t,
                             const gn_edge_scores *of, int64_t n, float *score)
{
    GN_TRY(gn_unit_bind_again(u, t->n_graphs, t->graphs, t->n_tensors, t->tensors, NULL));
    GN_TRY(gn_stored_check_picked(s, u->code, u->instance));
    gn_instance_run(u->instance);
    GN_TRY(gn_instance_wait(u->instance));
    memcpy(score, gn_instance_output(u->instance, of->name, NULL),
           (size_t)(n * of->width) * sizeof *score);
    return NULL;
}

static gn_status *score_all(gn_session *view, const gn_eval_rows *z, gn_unit *u,
                            const gn_edge_scores *of, const gn_binding *mask, int64_t *row,
                            float *score)
{
    gn_session_data t;
    GN_TRY(gn_session_bound(view, u, 1, mask, &t));
    list_rows(t.n_tensors, t.tensors, mask->data, row, 0);
    GN_TRY(gn_stored_check(view, u));
    GN_TRY(gn_unit_bind(u, t.n_graphs, t.graphs, t.n_tensors, t.tensors, view->pool, NULL));
    for (int64_t first = 0; first < mask->rows; first += z->how.size) {
        int64_t n = mask->rows - first < z->how.size ? mask->rows - first : z->how.size;
        for (int64_t k = 0; k < n; k++) row[k] = first + k;
        list_rows(t.n_tensors, t.tensors, mask->data, row, n);
        GN_TRY(score_some(view, u, &t, of, n, score + first * of->width));
    }
    return NULL;
}

gn_status *gn_eval_edges_run(gn_session *view, const gn_eval_rows *z, gn_unit *u, const gn_graph *g,
                             const gn_edge_scores *of, float *score)
{
    gn_binding mask;
    int64_t most = z->how.size < g->n_edge ? z->how.size : g->n_edge;
    int64_t *row = gn_allocate_zeroed((size_t)(most + 1) * sizeof *row);
    gn_status *status = make_mask(view, z->how.of, g->n_edge, &mask);
    if (!status && !row) status = GN_ERROR(GN_ERR_NOMEM, "out of memory: edges to be scored");
    if (!status) status = score_all(view, z, u, of, &mask, row, score);
    gn_release(row);
    gn_release(mask.data);
    return status;
}
