/* Numbers a row, repeated over its columns: found in a program, and made in another (passes.h). */
#include "passes/passes.h"

gir_id gn_scale_of(const gir_program *p, gir_id v)
{
    while (gir_at(p, v)->op == GIR_RESHAPE || gir_at(p, v)->op == GIR_BROADCAST) {
        v = gir_in(p, v, 0);
        if (gir_row_elems(gir_type_of(p, v)) == 1) return v;
    }
    return gir_at(p, v)->op == GIR_CONST ? v : 0;
}

gir_id gn_spread_scale(const gir_program *from, gir_program *to, const gir_id *map, gir_id scale,
                       const gir_type *t)
{
    double x;
    if (gir_is_number(from, scale, &x)) return gir_const(to, t, x);
    gir_id s = map[scale];
    const gir_type *of = gir_type_of(to, s);
    int64_t one = 1;
    if (of->rank > 1 || (of->rank == 0 && of->space)) s = gir_reshape(to, s, 1, &one);
    return gir_broadcast(to, s, t);
}
