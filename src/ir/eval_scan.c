/* Evaluator: along the edges into a row, in their order. */
#include "ir/eval_impl.h"

#include <math.h>

/* One element of `from` to element `to` of the value at hand. */
static void put(gir_eval_t *e, int64_t to, const gir_value *from, int64_t at)
{
    e->out->v[to] = from->v[at];
    if (e->out->err) e->out->err[to] = gir_err(from, at);
}

gn_status *gir_eval_BESIDE(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    int64_t side = gir_node_at_hand(e)->attr.i[0] ? 1 : -1, cols = e->out->cols;
    for (int64_t k = 0; k < g->n_edge; k++) {
        int64_t at = k + side;
        bool there = at >= 0 && at < g->n_edge && g->dst[at] == g->dst[k];
        for (int64_t c = 0; c < cols; c++)
            put(e, k * cols + c, gir_arg(e, there ? 1 : 2), (there ? at : g->dst[k]) * cols + c);
    }
    return NULL;
}

gn_status *gir_eval_OUTER(gir_eval_t *e)
{
    const gir_coo *g = gir_arg(e, 0)->graph;
    bool last = gir_node_at_hand(e)->attr.i[0];
    int64_t cols = e->out->cols, *edge = GN_NEW_N(e->arena, int64_t, g->n_dst);
    for (int64_t v = 0; v < g->n_dst; v++) edge[v] = -1;
    for (int64_t k = 0; k < g->n_edge; k++)
        if (last || edge[g->dst[k]] < 0) edge[g->dst[k]] = k;
    for (int64_t v = 0; v < g->n_dst; v++)
        for (int64_t c = 0; c < cols; c++)
            put(e, v * cols + c, gir_arg(e, edge[v] < 0 ? 2 : 1),
                (edge[v] < 0 ? v : edge[v]) * cols + c);
    return NULL;
}

/* Numbers, each with a bound. */
typedef struct numbers {
    double *v, *err;
} numbers;

static numbers numbers_new(gir_eval_t *e, int64_t n)
{
    return (numbers){GN_NEW_N(e->arena, double, n), GN_NEW_N(e->arena, double, n)};
}

typedef struct scan {
    gir_scan of;
    numbers state, product, value; /* of the row; of a channel, by value of the body */
    int64_t edge, channel;
} scan;

/* The first k states, side by side, times w. */
static void multiply(gir_eval_t *e, scan *z)
{
    const gir_value *w = &e->values[z->of.w];
    int64_t depth = z->of.k * z->of.d, width = z->of.q * z->of.d;
    double gamma = gir_gamma_both(e, z->of.elem, depth),
           tiny = (double)depth * gir_tiny(z->of.elem);
    for (int64_t j = 0; j < width; j++) {
        double sum = 0, prop = 0, size = 0;
        for (int64_t i = 0; i < depth; i++) {
            double x = z->state.v[i], y = w->v[i * width + j], ex = z->state.err[i],
                   ey = gir_err(w, i * width + j);
            sum += x * y;
            prop += fabs(x) * ey + fabs(y) * ex + ex * ey;
            size += (fabs(x) + ex) * (fabs(y) + ey);
        }
        z->product.v[j] = e->env->precision == GIR_EVAL_ELEM ? gir_round(z->of.elem, sum) : sum;
        z->product.err[j] = prop + gamma * size + (size > 0 ? tiny : 0);
    }
}

/* Element x<k> of the edge at hand. */
static void of_edge(gir_eval_t *e, const scan *z, int k, gir_id v)
{
    for (int j = z->of.first_x;; j++) {
        const gir_value *x = gir_arg(e, j);
        int64_t groups = x->cols / z->of.d, at = z->edge * x->cols + k * z->of.d + z->channel;
        if (k < groups) {
            z->value.v[v] = x->v[at];
            z->value.err[v] = gir_err(x, at);
            return;
        }
        k -= (int)groups;
    }
}

static void body_value(gir_eval_t *e, scan *z, gir_id v)
{
    const gir_program *b = z->of.body;
    const gir_node *n = gir_at(b, v);
    int k = 0;
    char kind = gir_body_leaf(b, v, &k);
    int64_t at = k * z->of.d + z->channel;
    if (kind == 'x') {
        of_edge(e, z, k, v);
    } else if (kind == 'c') {
        z->value.v[v] = e->values[z->of.c].v[at];
        z->value.err[v] = gir_err(&e->values[z->of.c], at);
    } else if (kind) {
        const numbers *of = kind == 's' ? &z->state : &z->product;
        z->value.v[v] = of->v[at];
        z->value.err[v] = of->err[at];
    } else if (n->op == GIR_CONST) {
        z->value.v[v] = n->attr.f;
        double off = gn_elem_is_float((gn_elem)n->type.elem)
                         ? fabs(gir_round((gn_elem)n->type.elem, n->attr.f) - n->attr.f)
                         : 0;
        z->value.err[v] = e->env->precision == GIR_EVAL_F64 ? off : 0;
        if (e->env->precision == GIR_EVAL_ELEM)
            z->value.v[v] = gir_round((gn_elem)n->type.elem, n->attr.f);
    } else {
        gir_map_of_body(e, b, v, z->value.v, z->value.err);
    }
}

/* What the edge at hand makes of the states. */
static void step(gir_eval_t *e, scan *z)
{
    const gir_program *b = z->of.body;
    if (z->of.w) multiply(e, z);
    for (z->channel = 0; z->channel < z->of.d; z->channel++) {
        for (gir_id v = 1; v < b->nodes.n; v++) body_value(e, z, v);
        for (int64_t k = 0; k < z->of.n; k++) {
            int64_t at = k * z->of.d + z->channel;
            z->state.v[at] = z->value.v[b->outputs.p[k].value];
            z->state.err[at] = z->value.err[b->outputs.p[k].value];
        }
    }
}

gn_status *gir_eval_SCAN(gir_eval_t *e)
{
    scan z = {.of = gir_scan_of(e->p, e->v)};
    const gir_coo *g = gir_arg(e, 0)->graph;
    const gir_value *s = gir_arg(e, 1);
    int64_t size = z.of.n * z.of.d, row = -1;
    z.state = numbers_new(e, size);
    z.product = numbers_new(e, z.of.q * z.of.d + 1);
    z.value = numbers_new(e, z.of.body->nodes.n);
    for (int64_t k = 0; k < g->n_edge; k++) {
        z.edge = z.of.reverse ? g->n_edge - 1 - k : k;
        if (g->dst[z.edge] != row) {
            row = g->dst[z.edge];
            for (int64_t c = 0; c < size; c++) {
                z.state.v[c] = s->v[row * size + c];
                z.state.err[c] = gir_err(s, row * size + c);
            }
        }
        step(e, &z);
        for (int64_t c = 0; c < size; c++) {
            e->out->v[z.edge * size + c] = z.state.v[c];
            if (e->out->err) e->out->err[z.edge * size + c] = z.state.err[c];
        }
    }
    return NULL;
}
