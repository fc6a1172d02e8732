/* a @ b.  The last axis of a meets the first of b; what remains of b comes last: node[in] @ [in,
 * heads, out] is node[heads, out], and node[in] @ [in] is node.  The tensor IR has matrices only,
 * so everything goes through them, but for a b with rows, which has a matrix for each. */
#include "frontend/elab.h"

#include <string.h>

enum { MAX_SLICES = 64 };

static value mismatch(elab *E, gn_span at, const value *a, const value *b)
{
    return el_error(
        E, at, "`@` does not fit %s and %s: the last dimension meets the first of what has no rows",
        val_text(E, a), val_text(E, b));
}

/* rows[k] @ [k, n] */
static gir_id product(elab *E, gn_span at, gir_id a, gir_id b)
{
    gir_id in[2] = {a, b};
    return el_make(E, at, GIR_MATMUL, 2, in, &(gir_attr){.i = {0, 0}}, NULL);
}

/* rows[l, k] @ [k, n]: one product for each of l, side by side. */
static gir_id product_slices(elab *E, gn_span at, gir_id a, gir_id b, int64_t l, int64_t k)
{
    gir_id parts[MAX_SLICES];
    int64_t dim[2] = {l, k};
    a = gir_reshape(E->prog, a, 2, dim);
    for (int64_t i = 0; i < l; i++) {
        gir_type t = *gir_type_of(E->prog, a);
        t.dim[0] = 1;
        gir_id s = el_make(E, at, GIR_SLICE, 1, &a, &(gir_attr){.i = {0, i}}, &t);
        if (!s) return 0;
        parts[i] = product(E, at, gir_reshape(E->prog, s, 1, &k), b);
        if (!parts[i]) return 0;
    }
    return el_make(E, at, GIR_CONCAT, (int)l, parts, &(gir_attr){.i = {0}}, NULL);
}

/* rows[l, k] @ rows[k, n], a matrix for each row: the sum along k of what they are one by one. */
static gir_id product_by_row(elab *E, gn_span at, value a, value b, int64_t l, int64_t k, int64_t n)
{
    int64_t left[3] = {l, k, 1}, right[3] = {1, k, n};
    a = val_tensor(gir_reshape(E->prog, a.id, 3, left), NULL);
    b = val_tensor(gir_reshape(E->prog, b.id, 3, right), NULL);
    value all = el_binary(E, at, GIR_MUL, "@", a, b);
    return all.kind == VAL_TENSOR ? el_reduce(E, at, GIR_SUM, all, 1 << 1, false).id : 0;
}

value el_matmul(elab *E, gn_span at, value a, value b)
{
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return POISON;
    if (a.kind != VAL_TENSOR || b.kind != VAL_TENSOR)
        return el_error(E, at, "`@` does not take %s and %s", val_text(E, &a), val_text(E, &b));
    gir_type ta = *val_type(E, &a), tb = *val_type(E, &b);
    bool by_row = tb.space && (ta.space == tb.space || !ta.space);
    if ((tb.space && !by_row) || tb.rank < 1 || ta.rank < 1 || ta.dim[ta.rank - 1] != tb.dim[0] ||
        ta.rank + tb.rank - 2 > GIR_MAX_RANK || !gn_elem_is_float((gn_elem)ta.elem) ||
        ta.elem != tb.elem)
        return mismatch(E, at, &a, &b);
    el_locate(E, at);
    int64_t k = tb.dim[0], n = 1, l = 1, flat[2], dim[GIR_MAX_RANK];
    const char **axes = el_axes_new(E, GIR_MAX_RANK);
    int rank = 0;
    for (int i = 0; i < ta.rank - 1; i++, rank++) {
        l *= ta.dim[i];
        dim[rank] = ta.dim[i];
        axes[rank] = el_axis_name(&a, i);
    }
    for (int i = 1; i < tb.rank; i++, rank++) {
        n *= tb.dim[i];
        dim[rank] = tb.dim[i];
        axes[rank] = el_axis_name(&b, i);
    }
    flat[0] = k, flat[1] = n;
    gir_id w = by_row ? 0 : gir_reshape(E->prog, b.id, 2, flat), r;
    flat[0] = l, flat[1] = k;
    if (by_row)
        r = product_by_row(E, at, a, b, l, k, n);
    else if (!ta.space)
        r = product(E, at, gir_reshape(E->prog, a.id, 2, flat), w);
    else if (l == 1)
        r = product(E, at, gir_reshape(E->prog, a.id, 1, &k), w);
    else if (l <= MAX_SLICES)
        r = product_slices(E, at, a.id, w, l, k);
    else
        return el_error(E, at, "`@` takes at most %d matrices a row, not %lld", (int)MAX_SLICES,
                        (long long)l);
    return r ? val_tensor(gir_reshape(E->prog, r, rank, dim), axes) : POISON;
}
