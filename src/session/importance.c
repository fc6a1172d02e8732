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
    gn_result r;           /* what is asked about */
    const int64_t *row_of; /* where its rows lie; NULL: as the user has them */
    float part;
    float *of; /* as the result lies in memory */
    gn_attribution a;
    gn_build build;
    int n; /* inputs */
    const char **input;
    double **sum; /* [n] as attributions lie in memory */
    int64_t *elems;
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

static gn_status *take_result(asking *q, int k)
{
    const gir_program *p = q->s->model->eval;
    const gir_type *t = gir_type_of(p, gir_result(p, k)->value);
    q->row_of = gn_schema_row_of(&q->s->schema, p->spaces.p[t->space].name);
    return gn_session_result(q->s, k, &q->r);
}

static gn_status *find_result(asking *q)
{
    const gn_session *s = q->s;
    const char *classes = gn_session_classes_name(s);
    for (int k = 0; k < gn_session_results(s); k++)
        if (has_one(s, classes, k)) return take_result(q, k);
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
    int64_t here = q->row_of ? q->row_of[row] : row;
    if (q->of[here * width + which] == 0) q->out->score += (double)at[which];
    q->of[here * width + which] = 1;
    return true;
}

static gn_status *choose_rows(asking *q)
{
    const gn_importance_options *o = q->opt;
    const gn_session *s = q->s;
    int64_t masked = gn_dataset_rows(s->data, s->data->labelled);
    if (o->mask && masked != q->r.n_rows)
        GN_FAIL(GN_ERR_USAGE,
                "--importance-of: the mask is of %lld rows, and `%s` has %lld: numbers of rows "
                "choose among those",
                (long long)masked, q->r.name, (long long)q->r.n_rows);
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

/* By what ------------------------------------------------------------------------------------- */

static const gn_table_column *column_of(const gn_session *s, const char *input)
{
    const gn_table_column *c = gn_dataset_column(s->data, input);
    return c && !c->on_edges && c->elem == GN_F32 && c->rank == 1 ? c : NULL;
}

/* Features of nodes, of one type or of several, that the model reads. */
static gn_status *find_inputs(asking *q)
{
    const gn_session *s = q->s;
    const gir_program *p = s->model->eval;
    q->input = GN_NEW_N(s->arena, const char *, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *node = gir_at(p, v);
        if (node->op != GIR_INPUT || node->type.elem != GN_F32 || node->type.rank != 1) continue;
        const char *name = node->attr.name;
        if (!strcmp(name, GN_NAME_X) || column_of(s, name)) q->input[q->n++] = name;
    }
    if (q->n) return NULL;
    GN_FAIL(GN_ERR_MODEL, "--importance: model %s reads no features of nodes", s->model->name);
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
    sparse = sparse && q->n == 1 && !strcmp(q->input[0], GN_NAME_X);
    GN_TRY(gn_attribution_make(s->arena, s->model, q->r.name, q->n, q->input, sparse, &q->a));
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
    for (int k = 0; k < q->n; k++) {
        GN_TRY(gn_instance_fetch(in, q->a.output[k]));
        const float *x = gn_instance_output(in, q->a.output[k], &q->elems[k]);
        int64_t n = q->elems[k];
        if (!q->sum[k]) q->sum[k] = GN_NEW_N(q->s->arena, double, n + 1);
        for (int64_t i = 0; i < n; i++) q->sum[k][i] += (double)x[i] / (double)q->part;
    }
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
    q->sum = GN_NEW_N(s->arena, double *, q->n);
    q->elems = GN_NEW_N(s->arena, int64_t, q->n);
    GN_TRY(gn_session_bind_also(s, &q->build.eval, s->pool, NULL, 2, also));
    if (q->opt->method == GN_IMPORTANCE_GRADIENT) return run(q, 1);
    for (int k = 0; k < steps; k++) GN_TRY(run(q, (k + 0.5) / steps));
    for (int k = 0; k < q->n; k++)
        for (int64_t i = 0; i < q->elems[k]; i++) q->sum[k][i] /= steps;
    return NULL;
}

/* Answers -------------------------------------------------------------------------------------- */

static gn_status *take_dense(asking *q, int k, const int64_t *row_of, gn_importance_table *t)
{
    int64_t n = t->n_nodes * t->n_features;
    if (q->elems[k] != n) GN_FAIL(GN_ERR_INTERNAL, "%lld attributions", (long long)q->elems[k]);
    t->part = GN_NEW_N(q->s->arena, float, n + 1);
    for (int64_t v = 0; v < t->n_nodes; v++)
        for (int64_t f = 0; f < t->n_features; f++) {
            double x = q->sum[k][(row_of ? row_of[v] : v) * t->n_features + f];
            t->part[v * t->n_features + f] = (float)x;
            t->of_feature[f] += fabs(x) / (double)t->n_nodes;
        }
    return NULL;
}

static gn_status *take_sparse(asking *q, gn_importance_table *t)
{
    gn_arena *a = q->s->arena;
    const gn_csr *x = q->s->data->x_csr;
    const double *sum = q->sum[0];
    int64_t at = 0;
    if (q->elems[0] != x->nnz)
        GN_FAIL(GN_ERR_INTERNAL, "%lld attributions", (long long)q->elems[0]);
    t->nnz = x->nnz;
    t->value = GN_NEW_N(a, float, x->nnz + 1);
    t->row = GN_NEW_N(a, int64_t, t->n_nodes + 1);
    t->column = GN_NEW_N(a, int64_t, x->nnz + 1);
    for (int64_t v = 0; v < t->n_nodes; v++) {
        int64_t here = q->s->data->row_of ? q->s->data->row_of[v] : v;
        for (int64_t k = x->ptr[here]; k < x->ptr[here + 1]; k++, at++) {
            t->column[at] = x->col[k];
            t->value[at] = (float)sum[k];
            t->of_feature[x->col[k]] += fabs(sum[k]) / (double)t->n_nodes;
        }
        t->row[v + 1] = at;
    }
    return NULL;
}

static gn_status *take(asking *q, int k, gn_importance_table *t)
{
    const gn_dataset *d = q->s->data;
    const gn_table_column *c = column_of(q->s, q->input[k]);
    *t = (gn_importance_table){.name = q->input[k],
                               .feature_name = c ? NULL : d->feature_name,
                               .n_nodes = c ? gn_dataset_rows(d, c->over) : d->n_nodes,
                               .n_features = c ? c->dim[0] : d->n_features};
    t->of_feature = GN_NEW_N(q->s->arena, double, t->n_features + 1);
    const int64_t *row_of = gn_dataset_row_of(d, c ? c->over : 0);
    return q->a.at_nonzeros ? take_sparse(q, t) : take_dense(q, k, row_of, t);
}

static gn_status *ask(asking *q)
{
    gn_importance *out = q->out;
    GN_TRY(find_inputs(q));
    GN_TRY(find_result(q));
    GN_TRY(choose_rows(q));
    GN_TRY(compile(q));
    GN_TRY(run_all(q));
    out->n = q->n;
    out->tables = GN_NEW_N(q->s->arena, gn_importance_table, q->n);
    for (int k = 0; k < q->n; k++) GN_TRY(take(q, k, &out->tables[k]));
    return NULL;
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
