/* How a parameter begins: initialisers with their fans worked out, and numbers. */
#include "frontend/elab.h"

#include <math.h>
#include <string.h>

/* Fans as PyTorch Geometric and torch count them: over the shape in files. */
typedef struct fans {
    double before, last; /* the last two dims */
    double in, out;      /* torch: those of dims 1 and 0, times what follows them */
} fans;

static fans fans_of(const gn_param *p)
{
    double receptive = 1, last = p->file_rank ? (double)p->file_dim[p->file_rank - 1] : 1;
    for (int k = 2; k < p->file_rank; k++) receptive *= (double)p->file_dim[k];
    fans f = {.before = 1, .last = last, .in = last, .out = last};
    if (p->file_rank < 2) return f;
    f.before = (double)p->file_dim[p->file_rank - 2];
    f.in = (double)p->file_dim[1] * receptive;
    f.out = (double)p->file_dim[0] * receptive;
    return f;
}

static void uniform_within(gn_param *p, double bound)
{
    p->init = GN_INIT_UNIFORM;
    p->a = -bound;
    p->b = bound;
}

static void normal_of(gn_param *p, double std)
{
    p->init = GN_INIT_NORMAL;
    p->a = 0;
    p->b = std;
}

static void reduce_init(const el_init *in, gn_param *p)
{
    fans f = fans_of(p);
    double gain = in->a, fan = in->fan_out ? f.out : f.in;
    p->init = in->kind;
    p->a = in->a;
    p->b = in->b;
    p->low = in->low;
    p->high = in->high;
    switch (in->rule) {
    case INIT_PLAIN: return;
    case INIT_GLOROT_UNIFORM: uniform_within(p, gain * sqrt(6 / (f.last + f.before))); return;
    case INIT_GLOROT_NORMAL: normal_of(p, gain * sqrt(2 / (f.last + f.before))); return;
    case INIT_XAVIER_UNIFORM: uniform_within(p, gain * sqrt(6 / (f.in + f.out))); return;
    case INIT_XAVIER_NORMAL: normal_of(p, gain * sqrt(2 / (f.in + f.out))); return;
    case INIT_KAIMING_UNIFORM: uniform_within(p, gain * sqrt(3 / fan)); return;
    case INIT_KAIMING_NORMAL: normal_of(p, gain / sqrt(fan)); return;
    }
}

/* torch refuses what is no matrix, and takes all dims but the first together for `orthogonal`. */
static bool fits(elab *E, const ast_expr *e, const gn_param *p)
{
    bool flat = p->init == GN_INIT_EYE || p->init == GN_INIT_SPARSE;
    if (flat && p->file_rank != 2)
        el_error(E, e->mark, "`%s` makes a matrix, and this has %d dimension%s in files",
                 p->init == GN_INIT_EYE ? "eye" : "sparse", p->file_rank,
                 p->file_rank == 1 ? "" : "s");
    else if (p->init == GN_INIT_ORTHOGONAL && p->file_rank < 2)
        el_error(E, e->mark,
                 "`orthogonal` makes rows or columns, and this has %d dimension%s in "
                 "files",
                 p->file_rank, p->file_rank == 1 ? "" : "s");
    else
        return true;
    return false;
}

/* Numbers of a list of lists, in order, as deep as there are dims. */
static bool take_list(elab *E, const ast_expr *e, const value *v, int rank, const int64_t *dim,
                      float **to)
{
    if (rank == 0) {
        if (!val_is_number(v)) {
            if (v->kind != VAL_POISON)
                el_error(E, e->span, "a parameter begins with numbers, and the list has %s",
                         val_text(E, v));
            return false;
        }
        float x = (float)val_number(v);
        if (!isfinite(x))
            el_error(E, e->span, "the list has %s, which is no float32", val_text(E, v));
        *(*to)++ = x;
        return isfinite(x);
    }
    if (v->kind != VAL_LIST || v->u.list->n != *dim) {
        el_error(E, e->span, "the list has %s where the parameter has %lld",
                 v->kind == VAL_LIST ? gn_arena_printf(E->arena, "%u", v->u.list->n)
                                     : val_text(E, v),
                 (long long)*dim);
        return false;
    }
    for (uint32_t k = 0; k < v->u.list->n; k++)
        if (!take_list(E, e, &v->u.list->p[k], rank - 1, dim + 1, to)) return false;
    return true;
}

static int64_t leaves(const value *v)
{
    if (v->kind != VAL_LIST) return 1;
    int64_t n = 0;
    for (uint32_t k = 0; k < v->u.list->n; k++) n += leaves(&v->u.list->p[k]);
    return n;
}

static bool list(elab *E, const ast_expr *e, const value *v, gn_param *p)
{
    int64_t dim[GIR_MAX_RANK + 1] = {p->rows};
    int lead = p->over != NULL;
    for (int k = 0; k < p->type.rank; k++) dim[lead + k] = p->type.dim[k];
    float *to = GN_NEW_N(E->arena, float, leaves(v) + 1); /* as many as fit, or fewer */
    p->init = GN_INIT_LIST;
    p->list = to;
    return take_list(E, e, v, lead + p->type.rank, dim, &to);
}

bool el_initialiser(elab *E, const ast_expr *e, bool shaped, gn_param *p)
{
    value v = el_eval(E, e);
    if (v.kind == VAL_BUILTIN)
        v = gn_builtin_call(E, v.u.builtin, 0, NULL, e->mark); /* `glorot_uniform` by itself */
    if (val_is_number(&v)) {
        p->init = GN_INIT_CONSTANT;
        p->a = val_number(&v);
        return true;
    }
    if (v.kind == VAL_LIST) return !shaped || list(E, e, &v, p);
    if (v.kind == VAL_INIT) {
        reduce_init(v.u.init, p);
        return !shaped || fits(E, e, p);
    }
    if (v.kind != VAL_POISON)
        el_error(E, e->span,
                 "a parameter begins with a number, a list of numbers or an initialiser such as "
                 "`glorot_uniform`, not with %s",
                 val_text(E, &v));
    return false;
}

bool el_same_init(const gn_param *a, const gn_param *b)
{
    if (a->init != b->init || a->a != b->a || a->b != b->b) return false;
    if (a->low != b->low || a->high != b->high) return false;
    return a->init != GN_INIT_LIST ||
           !memcmp(a->list, b->list, (size_t)(a->rows * gir_row_elems(&a->type)) * sizeof *a->list);
}
