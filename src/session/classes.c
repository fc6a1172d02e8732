/* classes: how many a model was trained for, where weights say so and the data does not. */
#include "session/session_impl.h"

static gn_status *elaborate(gn_session *s, int64_t classes, gn_model **out)
{
    gn_data_shape shape = gn_session_shape(s);
    shape.n_classes = classes;
    GN_TRY(gn_elaborate(s->arena, s->ast, s->opt.model, &shape, s->opt.n_defines, s->opt.defines,
                        out));
    bool wide = s->opt.numbers == GN_NUMBERS_FLOAT64; /* as weights are to become */
    return wide ? gn_model_widen(s->arena, *out) : NULL;
}

static bool fits(const gn_model *m, const gn_tensor_file *f)
{
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        const gn_named_tensor *t = gn_tensor_file_find(f, p->file_name);
        bool same = t && t->rank == p->file_rank;
        for (int d = 0; same && d < t->rank; d++) same = t->dim[d] == p->file_dim[d];
        if (!same) return false;
    }
    return true;
}

/* A dimension that is the number of classes, or a multiple of it, in two elaborations; what the
 * file has there. */
static int64_t classes_of(const gn_model *two, const gn_model *three, const gn_tensor_file *f)
{
    if (two->n_params != three->n_params) return 0;
    for (int k = 0; k < two->n_params; k++) {
        const gn_param *p = &two->params[k], *q = &three->params[k];
        const gn_named_tensor *t = gn_tensor_file_find(f, p->file_name);
        if (!t || t->rank != p->file_rank || p->file_rank != q->file_rank) continue;
        for (int d = 0; d < t->rank; d++) {
            int64_t times = q->file_dim[d] - p->file_dim[d];
            if (times > 0 && p->file_dim[d] == 2 * times && t->dim[d] % times == 0)
                return t->dim[d] / times;
        }
    }
    return 0;
}

static gn_status *probe(gn_session *s, gn_tensor_file *f, int64_t *classes)
{
    gn_model *two, *three, *found;
    GN_TRY(elaborate(s, 2, &two));
    GN_TRY(elaborate(s, 3, &three));
    /* names do not depend on classes */
    GN_TRY(gn_weights_adapt(two, f, s->opt.weights ? s->opt.weights : s->opt.resume));
    int64_t n = classes_of(two, three, f);
    if (n <= s->data->n_classes) return NULL;
    GN_TRY(elaborate(s, n, &found));
    if (fits(found, f)) *classes = n;
    return NULL;
}

/* Models that cannot be made of such numbers are none of our business here: they are made again,
 * and told of, without. */
void gn_session_find_classes(gn_session *s)
{
    int64_t classes = 0;
    if (!s->weights || s->opt.data.classes) return;
    gn_status_free(probe(s, s->weights, &classes));
    if (classes > s->data->n_classes) s->data->n_classes = classes;
}
