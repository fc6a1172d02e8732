/* importance: the program of gradients by features, run along a way and added up. */
#include "session/importance.h"

#include "base/data_name.h"
#include "build/attribution.h"
#include "session/session_impl.h"

#include <math.h>
#include <string.h>

typedef struct asking {
    gn_session *s;
    const gn_importance_options *opt;
    gn_importance *out;
    gn_result r; /* what is asked about */
    float part;
    float *of; /* as the result lies in memory */
    gn_attribution a;
    gn_build build;
    double *sum; /* as attributions lie there */
    int64_t n;
} asking;

/* What is asked about -------------------------------------------------------------------------- */

static bool has_one(const gn_session *s, const char *classes, int k)
{
    const gir_program *p = s->model->eval;
    const gir_output *o = gir_result(p, k);
    const gir_type *t = gir_type_of(p, o->value);
    bool rows = t->space && p->spaces.p[t->space].kind == GIR_NODE && t->elem == GN_F32;
    return rows && (classes ? !strcmp(o->name, classes) : gir_row_elems(t) == 1);
}

static gn_status *find_result(asking *q)
{
    const gn_session *s = q->s;
    const char *classes = gn_session_classes_name(s);
    for (int k = 0; k < gn_session_results(s); k++)
        if (has_one(s, classes, k)) return gn_session_result(s, k, &q->r);
    GN_FAIL(GN_ERR_USAGE,
            "--importance: model %s gives no classes of rows, nor one number for each row: there "
            "is no score that features add to",
            s->model->name);
}

/* One number of the row: the largest of classes.  false: it has a NaN. */
static bool choose(asking *q, int64_t row)
{
    int64_t width = q->r.row_elems;
    const float *at = (const float *)q->r.data + row * width;
    int64_t which = width > 1 ? gn_predicted(at, width) : isnan(*at) ? -1 : 0;
    q->out->rows++;
    q->out->unknown += which < 0;
    if (which < 0) return false;
    bool nodes = q->s->row_of && q->r.over == GIR_NODE;
    int64_t here = nodes ? gn_session_row(q->s, row) : row;
    if (q->of[here * width + which] == 0) q->out->score += (double)at[which];
    q->of[here * width + which] = 1;
    return true;
}

static gn_status *choose_rows(asking *q)
{
    const gn_importance_options *o = q->opt;
    const gn_session *s = q->s;
    q->of = GN_NEW_N(s->arena, float, q->r.n_rows * q->r.row_elems + 1);
    for (int64_t k = 0; k < o->n_chosen; k++) {
        if (o->chosen[k] < 0 || o->chosen[k] >= q->r.n_rows)
            GN_FAIL(GN_ERR_USAGE, "--importance-of: there is no row %lld: `%s` has %lld of them",
                    (long long)o->chosen[k], q->r.name, (long long)q->r.n_rows);
        choose(q, o->chosen[k]);
    }
    for (int64_t v = 0; !o->n_chosen && v < q->r.n_rows; v++)
        if (!o->mask || o->mask[gn_session_row(s, v)]) choose(q, v);
    if (q->out->rows == q->out->unknown)
        GN_FAIL(GN_ERR_USAGE, "--importance: no row is asked about of which `%s` says a number",
                q->r.name);
    return NULL;
}

/* Running -------------------------------------------------------------------------------------- */

static gn_status *compile(asking *q)
{
    gn_session *s = q->s;
    gn_build_options o;
    GN_TRY(gn_session_build_options(s, &o));
    bool sparse = o.sparse && !gn_modes[o.mode].eager &&
                  gn_is_on(o.without.decisions, GN_DO_SPARSE);
    o.train = o.judged = o.sparse = false;
    for (int k = 0; k < GN_UNITS; k++) o.pick[k] = NULL;
    GN_TRY(gn_attribution_make(s->arena, s->model, q->r.name, sparse, &q->a));
    o.sparse = q->a.at_nonzeros;
    o.nonzeros = GN_NONZEROS_ANY;
    return gn_build_model(s->arena, &q->a.model, &o, &q->build);
}

static gn_status *run(asking *q, double part)
{
    gn_instance *in = q->build.eval.instance;
    gn_remote *r = q->s->opt.target ? q->s->opt.target->remote : NULL;
    q->part = (float)part;
    if (r) GN_TRY(r->push(r, &q->part));
    gn_instance_run(in);
    GN_TRY(gn_instance_wait(in));
    GN_TRY(gn_instance_fetch(in, GN_ATTRIBUTION));
    int64_t n = 0;
    const float *x = gn_instance_output(in, GN_ATTRIBUTION, &n);
    if (!q->sum) q->sum = GN_NEW_N(q->s->arena, double, n + 1);
    q->n = n;
    for (int64_t i = 0; i < n; i++) q->sum[i] += (double)x[i] / (double)q->part;
    return NULL;
}

/* Steps at the middle of even parts of the way. */
static gn_status *run_all(asking *q)
{
    gn_session *s = q->s;
    const gn_binding also[] = {
        {GN_ATTRIBUTION_OF, GN_F32, q->r.n_rows, q->r.row_elems, q->of},
        {GN_ATTRIBUTION_PART, GN_F32, 1, 1, &q->part},
    };
    const int steps = GN_IMPORTANCE_STEPS;
    GN_TRY(gn_session_bind_also(s, &q->build.eval, s->pool, NULL, 2, also));
    if (q->opt->method == GN_IMPORTANCE_GRADIENT) return run(q, 1);
    for (int k = 0; k < steps; k++) GN_TRY(run(q, (k + 0.5) / steps));
    for (int64_t i = 0; i < q->n; i++) q->sum[i] /= steps;
    return NULL;
}

/* Answers -------------------------------------------------------------------------------------- */

static gn_status *take_dense(asking *q)
{
    gn_importance *out = q->out;
    if (q->n != out->n_nodes * out->n_features)
        GN_FAIL(GN_ERR_INTERNAL, "%lld attributions", (long long)q->n);
    out->part = GN_NEW_N(q->s->arena, float, q->n + 1);
    for (int64_t v = 0; v < out->n_nodes; v++)
        for (int64_t f = 0; f < out->n_features; f++) {
            double x = q->sum[gn_session_row(q->s, v) * out->n_features + f];
            out->part[v * out->n_features + f] = (float)x;
            out->of_feature[f] += fabs(x) / (double)out->n_nodes;
        }
    return NULL;
}

static gn_status *take_sparse(asking *q)
{
    gn_importance *out = q->out;
    gn_arena *a = q->s->arena;
    const gn_csr *x = q->s->data->x_csr;
    int64_t at = 0;
    if (q->n != x->nnz) GN_FAIL(GN_ERR_INTERNAL, "%lld attributions", (long long)q->n);
    out->nnz = x->nnz;
    out->value = GN_NEW_N(a, float, x->nnz + 1);
    out->row = GN_NEW_N(a, int64_t, out->n_nodes + 1);
    out->column = GN_NEW_N(a, int64_t, x->nnz + 1);
    for (int64_t v = 0; v < out->n_nodes; v++) {
        int64_t here = gn_session_row(q->s, v);
        for (int64_t k = x->ptr[here]; k < x->ptr[here + 1]; k++, at++) {
            out->column[at] = x->col[k];
            out->value[at] = (float)q->sum[k];
            out->of_feature[x->col[k]] += fabs(q->sum[k]) / (double)out->n_nodes;
        }
        out->row[v + 1] = at;
    }
    return NULL;
}

static gn_status *ask(asking *q)
{
    gn_session *s = q->s;
    gn_importance *out = q->out;
    GN_TRY(find_result(q));
    GN_TRY(choose_rows(q));
    GN_TRY(compile(q));
    GN_TRY(run_all(q));
    out->n_nodes = s->data->n_nodes;
    out->n_features = s->data->n_features;
    out->of_feature = GN_NEW_N(s->arena, double, out->n_features + 1);
    return q->a.at_nonzeros ? take_sparse(q) : take_dense(q);
}

gn_status *gn_session_importance(gn_session *s, const gn_importance_options *opt,
                                 gn_importance *out)
{
    asking q = {.s = s, .opt = opt, .out = out};
    *out = (gn_importance){0};
    gn_status *status = ask(&q);
    gn_unit_release(&q.build.eval);
    if (s->opt.target) gn_target_unload(s->opt.target, &q.build.on_target);
    gn_image_free(q.build.image);
    gn_result_free(&q.r);
    return status;
}
