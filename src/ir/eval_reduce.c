/* Evaluator: sums, maxima and minima by any map of elements, and matrix products. */
#include "base/half.h"
#include "ir/eval_impl.h"

#include <math.h>

static void sum_by(gir_eval_t *e, const gir_value *x, const int64_t *to)
{
    gn_elem elem = (gn_elem)gir_node_at_hand(e)->type.elem;
    int64_t n = gir_count(e->out);
    for (int64_t i = 0; i < gir_count(x); i++)
        if (to[i] >= 0) e->out->v[to[i]] += x->v[i];
    if (!e->out->err) return;
    double *size = GN_NEW_N(e->arena, double, n);
    int64_t *terms = GN_NEW_N(e->arena, int64_t, n);
    for (int64_t i = 0; i < gir_count(x); i++) {
        if (to[i] < 0) continue; /* it goes nowhere */
        e->out->err[to[i]] += gir_err(x, i);
        size[to[i]] += fabs(x->v[i]) + gir_err(x, i);
        terms[to[i]]++;
    }
    for (int64_t k = 0; k < n; k++)
        e->out->err[k] += gir_gamma_both(e, elem, terms[k] - 1) * size[k];
}

/* Is it certain who wins?  A single winner ahead of all others, or exact winners ahead of them. */
static void find_sure(gir_eval_t *e, const gir_value *x, const int64_t *to, double sign)
{
    int64_t n = gir_count(e->out);
    int64_t *winners = GN_NEW_N(e->arena, int64_t, n);
    double *low = GN_NEW_N(e->arena, double, n), *rival = GN_NEW_N(e->arena, double, n);
    double *inexact = GN_NEW_N(e->arena, double, n);
    for (int64_t k = 0; k < n; k++) rival[k] = -INFINITY;
    for (int64_t i = 0; i < gir_count(x); i++) {
        double v = sign * x->v[i], err = gir_err(x, i);
        if (x->v[i] == e->out->v[to[i]]) {
            winners[to[i]]++;
            low[to[i]] = v - err;
            inexact[to[i]] += err;
        } else if (!(v + err <= rival[to[i]])) {
            rival[to[i]] = v + err;
        }
    }
    e->sure[e->v] = GN_NEW_N(e->arena, uint8_t, n);
    for (int64_t k = 0; k < n; k++)
        e->sure[e->v][k] = rival[k] < low[k] && (winners[k] == 1 || inexact[k] == 0);
}

static void extremum_by(gir_eval_t *e, const gir_value *x, int64_t *to, double sign)
{
    int64_t n = gir_count(e->out);
    uint8_t *any = GN_NEW_N(e->arena, uint8_t, n);
    for (int64_t i = 0; i < gir_count(x); i++) {
        double *v = &e->out->v[to[i]];
        if (!any[to[i]] || isnan(x->v[i]) || sign * x->v[i] > sign * *v)
            *v = isnan(*v) ? *v : x->v[i];
        any[to[i]] = 1;
    }
    if (!e->out->err) return;
    double *lo = GN_NEW_N(e->arena, double, n), *hi = GN_NEW_N(e->arena, double, n);
    for (int64_t k = 0; k < n; k++) lo[k] = hi[k] = any[k] ? -INFINITY : 0;
    for (int64_t i = 0; i < gir_count(x); i++) {
        double v = sign * x->v[i], err = gir_err(x, i);
        if (!(v - err <= lo[to[i]])) lo[to[i]] = v - err;
        if (!(v + err <= hi[to[i]])) hi[to[i]] = v + err;
    }
    for (int64_t k = 0; k < n; k++) {
        double v = sign * e->out->v[k];
        e->out->err[k] = fmax(hi[k] - v, v - lo[k]);
        if (isnan(v)) e->out->err[k] = INFINITY;
    }
    find_sure(e, x, to, sign);
    e->to[e->v] = to;
    gir_extremum *ex = &e->extremum[e->v];
    ex->reduction = e->v;
    ex->at = GN_NEW_N(e->arena, int64_t, n);
    for (int64_t k = 0; k < n; k++) ex->at[k] = k;
}

void gir_reduce_by(gir_eval_t *e, gir_id x, int64_t *to, int red)
{
    if (red == GIR_SUM)
        sum_by(e, &e->values[x], to);
    else
        extremum_by(e, &e->values[x], to, red == GIR_RED_MAX ? 1 : -1);
}

gn_status *gir_eval_REDUCE(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    const gir_type *t = gir_type_of(e->p, gir_in(e->p, e->v, 0));
    const gir_value *x = gir_arg(e, 0);
    int64_t *to = GN_NEW_N(e->arena, int64_t, gir_count(x));
    for (int64_t i = 0; i < gir_count(x); i++) {
        int64_t rest = i % x->cols, at = 0, stride = 1;
        for (int k = t->rank - 1; k >= 0; k--) {
            int64_t digit = rest % t->dim[k];
            rest /= t->dim[k];
            if (n->attr.i[1] >> k & 1) continue;
            at += digit * stride;
            stride *= t->dim[k];
        }
        to[i] = i / x->cols * e->out->cols + at;
    }
    gir_reduce_by(e, gir_in(e->p, e->v, 0), to, (int)n->attr.i[0]);
    return NULL;
}

gn_status *gir_eval_SPACE_REDUCE(gir_eval_t *e)
{
    const gir_value *x = gir_arg(e, 0);
    int64_t *to = GN_NEW_N(e->arena, int64_t, gir_count(x));
    for (int64_t i = 0; i < gir_count(x); i++) to[i] = i % x->cols;
    gir_reduce_by(e, gir_in(e->p, e->v, 0), to, (int)gir_node_at_hand(e)->attr.i[0]);
    return NULL;
}

/* matrix products ------------------------------------------------------------------------------ */

/* A matrix operand: rows of a space, or the first of two dims; element (i, j) after
 * transposition. */
typedef struct matrix {
    const gir_value *x;
    int64_t rows, cols, row_step, col_step;
} matrix;

static matrix matrix_of(const gir_eval_t *e, int k, bool transposed)
{
    const gir_type *t = gir_type_of(e->p, gir_in(e->p, e->v, k));
    const gir_value *x = gir_arg(e, k);
    int64_t cols = t->dim[t->rank - 1], rows = t->space ? x->rows : t->dim[0];
    if (transposed) return (matrix){x, cols, rows, 1, cols};
    return (matrix){x, rows, cols, cols, 1};
}

/* Of element i of an operand, with what rounding it adds: of what is given the rounding itself,
 * else half a unit. */
static double operand_err(const gir_value *x, int64_t i, gn_precision products)
{
    double err = gir_err(x, i), v = x->v[i];
    bool medium = products == GN_PRECISION_MEDIUM;
    if (products == GN_PRECISION_HIGHEST) return err;
    if (err > 0) return err + (medium ? 0x1p-8 : 0x1p-11) * (fabs(v) + err);
    return fabs((medium ? gir_round(GN_BF16, v) : (double)gn_f32_to_tf32((float)v)) - v);
}

gn_status *gir_eval_MATMUL(gir_eval_t *e)
{
    const gir_node *n = gir_node_at_hand(e);
    matrix a = matrix_of(e, 0, n->attr.i[0]), b = matrix_of(e, 1, n->attr.i[1]);
    gn_elem elem = (gn_elem)n->type.elem;
    gn_precision products = elem == GN_F32 ? e->env->products : GN_PRECISION_HIGHEST;
    double gamma = gir_gamma_both(e, elem, a.cols) * (products == GN_PRECISION_HIGHEST ? 1 : 2);
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < b.cols; j++) {
            double sum = 0, prop = 0, size = 0;
            for (int64_t k = 0; k < a.cols; k++) {
                int64_t p = i * a.row_step + k * a.col_step, q = k * b.row_step + j * b.col_step;
                double x = a.x->v[p], y = b.x->v[q], ex, ey;
                sum += x * y;
                if (!e->out->err) continue;
                ex = operand_err(a.x, p, products);
                ey = operand_err(b.x, q, products);
                prop += fabs(x) * ey + fabs(y) * ex + ex * ey;
                size += (fabs(x) + ex) * (fabs(y) + ey);
            }
            e->out->v[i * b.cols + j] = sum;
            if (!e->out->err) continue;
            double tiny = size > 0 ? (double)a.cols * gir_tiny(elem) : 0;
            e->out->err[i * b.cols + j] = prop + gamma * size + tiny;
        }
    return NULL;
}
