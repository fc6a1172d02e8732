#include "passes/softmax.h"

static gir_id attached(const gir_program *p, gir_id v)
{
    while (gir_at(p, v)->op == GIR_DETACH) v = gir_in(p, v, 0);
    return v;
}

bool gn_is_softmax(const gir_program *p, gir_id v, gir_id *g, gir_id *x)
{
    if (gir_at(p, v)->op != GIR_EXP || gir_at(p, gir_in(p, v, 0))->op != GIR_SUB) return false;
    gir_id sub = gir_in(p, v, 0), score = gir_in(p, sub, 0), there = attached(p, gir_in(p, sub, 1));
    if (gir_at(p, there)->op != GIR_GATHER || gir_at(p, there)->attr.i[0] != GIR_DST) return false;
    gir_id max = attached(p, gir_in(p, there, 1));
    const gir_node *s = gir_at(p, max);
    if (s->op != GIR_SCATTER || s->attr.i[0] != GIR_DST || s->attr.i[1] != GIR_RED_MAX)
        return false;
    if (gir_in(p, max, 1) != score || gir_in(p, max, 0) != gir_in(p, there, 0)) return false;
    *g = gir_in(p, max, 0);
    *x = score;
    return true;
}
