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

static gn_status *make_room(gn_session *s, gn_eval_rows *z)
{
    const gn_dataset *d = s->data;
    int64_t rows = gn_dataset_labelled(d), elems;
    const char *space = gn_dataset_space(d, d->labelled);
    z->classes = gn_session_classes(s);
    z->mask = (gn_binding){gn_arena_printf(s->arena, "%s" GN_BATCH_MASK, space), GN_BOOL, rows, 1,
                           gn_allocate_zeroed((size_t)rows + 1)};
    z->row = gn_allocate_zeroed((size_t)(rows + 1) * sizeof *z->row);
    if (!__builtin_mul_overflow(rows, z->classes, &elems) && elems < INT64_MAX / 8)
        z->out = gn_allocate_zeroed((size_t)(elems + 1) * sizeof *z->out);
    if (!z->mask.data || !z->row || !z->out)
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

gn_status *gn_eval_rows_new(gn_session *s, gn_eval_rows **out)
{
    const gn_train_spec *t = &s->model->train;
    *out = NULL;
    if (gn_watches_loss(t))
        GN_FAIL(GN_ERR_MODEL, "`evaluate = batch` has accuracies, and no `val_loss`");
    if (!gn_session_classes_name(s))
        GN_FAIL(GN_ERR_MODEL,
                "`evaluate = batch` is of models that give `node[C]`; others train with "
                "--scores off");
    gn_eval_rows *z = gn_allocate_zeroed(sizeof *z);
    if (!z) GN_FAIL(GN_ERR_NOMEM, "out of memory: rows to evaluate");
    z->how = t->batches;
    z->how.results = true;
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

static void list_rows(gn_eval_rows *z, const int64_t *row, int64_t n)
{
    for (int k = 0; k < z->n_tensors; k++)
        if (z->tensors[k].data == z->mask.data) {
            z->tensors[k].set = row;
            z->tensors[k].n_set = n;
        }
}

gn_status *gn_eval_rows_run(gn_session *s, gn_eval_rows *z)
{
    gn_unit *u = &s->build.eval;
    const char *name = gn_session_classes_name(s);
    size_t row = (size_t)z->classes * sizeof(float);
    for (int64_t first = 0; first < z->n; first += z->how.size) {
        int64_t n = z->n - first < z->how.size ? z->n - first : z->how.size;
        list_rows(z, z->row + first, n);
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
