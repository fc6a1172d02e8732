/* lower_view: an element of a view (a slice, a transposition, parts side by side, …), which is one
 * of its operand's: the index of the one gives that of the other, and nothing is kept between. */
#include "lower/lower_impl.h"

/* Index into the operand of a broadcast: dims aligned at the right, ones and missing ones stay at
 * 0. */
static low_ix broadcast_index(lower *L, low_ix *x, const gir_type *from)
{
    low_ix_comp(L, x);
    low_ix y = {.rank = from->rank, .has_comp = true};
    for (int i = 0; i < from->rank; i++) {
        y.dim[i] = from->dim[i];
        y.comp[i] = from->dim[i] == 1 ? low_iconst(L, 0) : x->comp[x->rank - from->rank + i];
    }
    return y;
}

static kir_id bin(lower *L, kir_op op, kir_id a, kir_id b)
{
    return kir_bin(L->k, low_at(L), op, a, b);
}

static kir_id clamp(lower *L, kir_id i, int64_t n)
{
    return low_int(L, KIR_IMAX, low_iconst(L, 0), low_int(L, KIR_IMIN, i, low_iconst(L, n - 1)));
}

static kir_id pad_value(lower *L, gir_id v, const where *w, low_ix *x)
{
    const gir_node *n = gir_at(L->p, v);
    gir_id o = gir_in(L->p, v, 0);
    const gir_type *t = gir_type_of(L->p, o);
    int axis = (int)n->attr.i[0];
    low_ix_comp(L, x);
    low_ix y = *x;
    y.lin = 0;
    kir_id at = low_int(L, KIR_ISUB, x->comp[axis], low_iconst(L, n->attr.i[1]));
    y.dim[axis] = t->dim[axis];
    y.comp[axis] = clamp(L, at, t->dim[axis]);
    kir_id inner = low_value(L, o, w, &y);
    kir_id from = bin(L, KIR_ILE, low_iconst(L, 0), at),
           to = bin(L, KIR_ILT, at, low_iconst(L, t->dim[axis]));
    kir_id in = bin(L, KIR_AND, from, to);
    gn_elem e = low_elem((gn_elem)n->type.elem);
    return kir_select(L->k, low_at(L), in, inner, low_const(L, e, 0));
}

static kir_id concat_value(lower *L, gir_id v, const where *w, low_ix *x)
{
    const gir_node *n = gir_at(L->p, v);
    int axis = (int)n->attr.i[0];
    low_ix_comp(L, x);
    int64_t end = n->type.dim[axis];
    kir_id result = 0;
    for (int k = n->n_in; k-- > 0;) {
        gir_id o = gir_in(L->p, v, k);
        int64_t d = gir_type_of(L->p, o)->dim[axis], start = end - d;
        low_ix y = *x;
        y.lin = 0;
        y.dim[axis] = d;
        y.comp[axis] = clamp(L, low_int(L, KIR_ISUB, x->comp[axis], low_iconst(L, start)), d);
        kir_id part = low_value(L, o, w, &y);
        result = result
                     ? kir_select(L->k, low_at(L),
                                  bin(L, KIR_ILT, x->comp[axis], low_iconst(L, end)), part, result)
                     : part;
        end = start;
    }
    return result;
}

/* Rows of a space of known size and the elements of a plain tensor lie in memory alike. */
static kir_id rows_value(lower *L, gir_id v, const where *w, low_ix *x)
{
    gir_id o = gir_in(L->p, v, 0);
    if (gir_at(L->p, v)->op == GIR_TO_ROWS) {
        low_ix y = low_index(gir_type_of(L->p, o),
                             low_scaled_add(L, w->row, fu_elems(L->p, v), low_ix_lin(L, x)));
        where none = {.level = w->level};
        gir_id base = o;
        while (fu_is_identity_view(L->p, base)) base = gir_in(L->p, base, 0);
        if (L->f->place[base] == FU_LEAF || L->f->stored[base])
            low_note_far_read(L, base, w, fu_elems(L->p, v));
        return low_value(L, o, &none, &y);
    }
    return low_load(L, low_buffer_read(L, o), low_ix_lin(L, x));
}

kir_id low_view_value(lower *L, gir_id v, const where *w, low_ix *x)
{
    const gir_node *n = gir_at(L->p, v);
    gir_id o = gir_in(L->p, v, 0);
    const gir_type *t = gir_type_of(L->p, o);
    low_ix y;
    switch ((gir_op)n->op) {
    case GIR_RESHAPE: y = low_index(t, low_ix_lin(L, x)); break;
    case GIR_BROADCAST:
        if (gir_row_elems(t) == gir_row_elems(&n->type))
            y = low_index(t, low_ix_lin(L, x));
        else
            y = broadcast_index(L, x, t);
        break;
    case GIR_TRANSPOSE:
        low_ix_comp(L, x);
        y = (low_ix){.rank = t->rank, .has_comp = true};
        for (int k = 0; k < t->rank; k++) {
            int from = (int)(n->attr.i[0] >> (4 * k) & 15);
            y.dim[from] = t->dim[from];
            y.comp[from] = x->comp[k];
        }
        break;
    case GIR_SLICE:
        low_ix_comp(L, x);
        y = *x;
        y.lin = 0;
        y.dim[n->attr.i[0]] = t->dim[n->attr.i[0]];
        y.comp[n->attr.i[0]] = low_int(L, KIR_IADD, x->comp[n->attr.i[0]],
                                       low_iconst(L, n->attr.i[1]));
        break;
    case GIR_PAD: return pad_value(L, v, w, x);
    case GIR_TO_ROWS:
    case GIR_FROM_ROWS: return rows_value(L, v, w, x);
    default: return concat_value(L, v, w, x);
    }
    return low_value(L, o, w, &y);
}
