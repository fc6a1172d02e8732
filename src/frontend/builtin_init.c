/* Built-in functions: initialisers, those of torch.nn.init and of PyTorch Geometric. */
#include "frontend/builtin.h"

#include <math.h>
#include <string.h>

static value init(elab *E, el_init i)
{
    el_init *p = GN_NEW(E->arena, el_init);
    *p = i;
    return (value){.kind = VAL_INIT, .u.init = p};
}

value builtin_init_constant(elab *E, const builtin_call *c)
{
    static const gn_init_kind kinds[] = {GN_INIT_ZEROS, GN_INIT_ONES, GN_INIT_CONSTANT,
                                         GN_INIT_EYE};
    double a = 0;
    if (c->b->op == 2 && !builtin_number(E, c, 0, 0, &a)) return POISON;
    return init(E, (el_init){.kind = kinds[c->b->op], .a = c->b->op == 1 ? 1 : a});
}

/* uniform(bound) is uniform(-bound, bound), uniform itself uniform(0, 1) */
value builtin_init_uniform(elab *E, const builtin_call *c)
{
    double a, b;
    if (!builtin_number(E, c, 0, 0, &a) || !builtin_number(E, c, 1, builtin_has(c, 0) ? a : 1, &b))
        return POISON;
    if (builtin_has(c, 0) && !builtin_has(c, 1)) a = -a;
    if (!(a <= b) || !isfinite(a) || !isfinite(b))
        return el_error(E, c->mark, "`uniform` goes from a lower to a higher bound");
    return init(E, (el_init){.kind = GN_INIT_UNIFORM, .a = a, .b = b});
}

value builtin_init_normal(elab *E, const builtin_call *c)
{
    bool cut = c->b->op;
    el_init i = {.kind = cut ? GN_INIT_TRUNC_NORMAL : GN_INIT_NORMAL};
    if (!builtin_number(E, c, 0, 0, &i.a) || !builtin_number(E, c, 1, 1, &i.b)) return POISON;
    if (cut && (!builtin_number(E, c, 2, -2, &i.low) || !builtin_number(E, c, 3, 2, &i.high)))
        return POISON;
    if (!(i.b >= 0))
        return el_error(E, c->mark, "`%s` takes a deviation of at least 0", c->b->name);
    if (!(i.low <= i.high))
        return el_error(E, c->mark, "`%s` goes from a lower to a higher bound", c->b->name);
    return init(E, i);
}

value builtin_init_orthogonal(elab *E, const builtin_call *c)
{
    double gain;
    if (!builtin_number(E, c, 0, 1, &gain)) return POISON;
    return init(E, (el_init){.kind = GN_INIT_ORTHOGONAL, .a = gain});
}

value builtin_init_sparse(elab *E, const builtin_call *c)
{
    double part, std;
    if (!builtin_number(E, c, 0, 0, &part) || !builtin_number(E, c, 1, 0.01, &std)) return POISON;
    if (!(part >= 0 && part <= 1))
        return el_error(E, c->mark,
                        "`sparse` takes the part of each column that is 0, of at most "
                        "1");
    if (!(std >= 0)) return el_error(E, c->mark, "`sparse` takes a deviation of at least 0");
    return init(E, (el_init){.kind = GN_INIT_SPARSE, .a = part, .b = std});
}

/* scaled by fans ------------------------------------------------------------------------------- */

/* torch.nn.init.calculate_gain; NAN: it knows no such function. */
static double gain_of(const char *of, double a)
{
    static const char *const plain[] = {"linear", "conv1d", "conv2d", "conv3d", "sigmoid"};
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        if (!strcmp(of, plain[k])) return 1;
    if (!strcmp(of, "tanh")) return 5.0 / 3;
    if (!strcmp(of, "relu")) return sqrt(2);
    if (!strcmp(of, "leaky_relu")) return sqrt(2 / (1 + a * a));
    return !strcmp(of, "selu") ? 0.75 : (double)NAN;
}

static bool gain(elab *E, const builtin_call *c, int k, const char *fallback, double a, double *out)
{
    const value *v = &c->arg[k];
    bool given = builtin_has(c, k);
    *out = given && v->kind != VAL_STRING ? (double)NAN : gain_of(given ? v->u.s : fallback, a);
    if (!isnan(*out)) return true;
    el_error(E, c->span[k],
             "`nonlinearity` is \"relu\", \"leaky_relu\", \"tanh\", \"sigmoid\", \"selu\" or "
             "\"linear\", not %s",
             val_text(E, v));
    return false;
}

value builtin_init_glorot(elab *E, const builtin_call *c)
{
    double a;
    if (!builtin_number(E, c, 0, 1, &a)) return POISON;
    return init(E, (el_init){.rule = (init_rule)c->b->op, .a = a});
}

value builtin_init_kaiming(elab *E, const builtin_call *c)
{
    const value *mode = &c->arg[1];
    double a, by;
    if (!builtin_number(E, c, 0, 0, &a) || !gain(E, c, 2, "leaky_relu", a, &by)) return POISON;
    bool out = mode->kind == VAL_STRING && !strcmp(mode->u.s, "fan_out");
    if (builtin_has(c, 1) && !out && !(mode->kind == VAL_STRING && !strcmp(mode->u.s, "fan_in")))
        return el_error(E, c->span[1], "`mode` is \"fan_in\" or \"fan_out\", not %s",
                        val_text(E, mode));
    return init(E, (el_init){.rule = (init_rule)c->b->op, .a = by, .fan_out = out});
}

value builtin_gain_of(elab *E, const builtin_call *c)
{
    double a, by;
    if (!builtin_number(E, c, 1, 0.01, &a) || !gain(E, c, 0, "", a, &by)) return POISON;
    return val_float(by);
}
