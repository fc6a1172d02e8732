/* The generator: views. */
#include "support/random_gir_impl.h"

#include <string.h>

static gir_id make_broadcast(gen *z, gir_id a)
{
    gir_type t = *gir_type_of(z->p, a);
    if (t.space == 0 && chance(z, 70)) t.space = random_type(z, FLOATS).space;
    for (int k = 0; k < t.rank; k++)
        if (t.dim[k] == 1 && chance(z, 60)) t.dim[k] = 2 + rnd(z, 3);
    if (t.rank < 3 && chance(z, 40)) {
        memmove(t.dim + 1, t.dim, t.rank * sizeof *t.dim);
        t.dim[0] = 1 + rnd(z, 3);
        t.rank++;
    }
    if (gir_row_elems(&t) > 256) return 0;
    return make(z, GIR_BROADCAST, 1, &a, (gir_attr){0}, &t);
}

static gir_id make_reshape(gen *z, gir_id a)
{
    gir_type t = *gir_type_of(z->p, a);
    int64_t n = gir_row_elems(&t), d = 1 + rnd(z, 4);
    t.rank = 0;
    if (n > 1 || chance(z, 50)) {
        if (n % d == 0 && chance(z, 60)) t.dim[t.rank++] = d, n /= d;
        t.dim[t.rank++] = n;
        if (chance(z, 20)) t.dim[t.rank++] = 1;
    }
    for (int k = t.rank; k < GIR_MAX_RANK; k++) t.dim[k] = 0;
    return make(z, GIR_RESHAPE, 1, &a, (gir_attr){0}, &t);
}

static gir_id make_transpose(gen *z, gir_id a)
{
    int rank = gir_type_of(z->p, a)->rank, axis[GIR_MAX_RANK];
    int64_t perm = 0;
    for (int k = 0; k < rank; k++) axis[k] = k;
    for (int k = rank - 1; k > 0; k--) {
        int j = (int)rnd(z, (uint32_t)k + 1), swap = axis[k];
        axis[k] = axis[j];
        axis[j] = swap;
    }
    for (int k = 0; k < rank; k++) perm |= (int64_t)axis[k] << 4 * k;
    return make(z, GIR_TRANSPOSE, 1, &a, (gir_attr){.i = {perm}}, NULL);
}

static gir_id make_piece(gen *z, gir_op op, gir_id a)
{
    gir_type t = *gir_type_of(z->p, a);
    if (t.rank == 0 || (op == GIR_PAD && t.elem == GN_BOOL)) return 0;
    int64_t axis = rnd(z, t.rank), d = t.dim[axis], start;
    if (op == GIR_SLICE) {
        start = rnd(z, (uint32_t)d);
        t.dim[axis] = 1 + rnd(z, (uint32_t)(d - start));
    } else {
        start = rnd(z, 3);
        t.dim[axis] = d + start + rnd(z, 3);
    }
    return make(z, op, 1, &a, (gir_attr){.i = {axis, start}}, &t);
}

static gir_id make_concat(gen *z, gir_id a)
{
    gir_type t = *gir_type_of(z->p, a);
    if (t.rank == 0) return 0;
    int n = 1 + (int)rnd(z, 3), place = (int)rnd(z, (uint32_t)n);
    int64_t axis = rnd(z, t.rank);
    gir_id in[3];
    for (int k = 0; k < n; k++) {
        gir_type other = t;
        if (chance(z, 50)) other.dim[axis] = 1 + rnd(z, 4);
        in[k] = k == place ? a : like(z, other);
    }
    return make(z, GIR_CONCAT, n, in, (gir_attr){.i = {axis}}, NULL);
}

static gir_id make_to_rows(gen *z, gir_id a)
{
    gir_type t = *gir_type_of(z->p, a);
    if (t.space || t.rank == 0) return 0;
    gir_space_id s = 0;
    for (uint32_t k = 1; k < z->p->spaces.n; k++)
        if (z->p->spaces.p[k].kind == GIR_FEATURE && z->p->spaces.p[k].size == t.dim[0])
            s = (gir_space_id)k;
    if (!s) s = gir_space_add(z->p, "feature", GIR_FEATURE, t.dim[0]);
    gir_type rows = gir_tensor((gn_elem)t.elem, s, t.rank - 1, t.dim + 1);
    return make(z, GIR_TO_ROWS, 1, &a, (gir_attr){0}, &rows);
}

gir_id make_view(gen *z, gir_op op, gir_id must)
{
    gir_id a = must ? must : any_value(z, operand_kinds(op));
    if (gir_type_of(z->p, a)->is_graph) return 0;
    switch (op) {
    case GIR_BROADCAST: return make_broadcast(z, a);
    case GIR_RESHAPE: return make_reshape(z, a);
    case GIR_TRANSPOSE: return make_transpose(z, a);
    case GIR_CONCAT: return make_concat(z, a);
    case GIR_TO_ROWS: return make_to_rows(z, a);
    case GIR_FROM_ROWS: return make(z, op, 1, &a, (gir_attr){0}, NULL);
    default: return make_piece(z, op, a);
    }
}
