/* Operands of one shape.  Spaces: one without rows goes with any.  Dims are aligned at the right as
 * in NumPy; but where one operand has fewer, and all of them have names that the other has too,
 * they are aligned by name: a[heads] times h[heads, out] is what it says. */
#include "frontend/elab.h"

#include <string.h>

/* Where the axes of the shorter go among those of the longer, by name; false where names do not
 * say. */
static bool by_name(const value *s, int rs, const value *l, int rl, int *place)
{
    if (!s->u.axes || !l->u.axes) return false;
    int k = 0;
    for (int j = 0; j < rl && k < rs; j++)
        if (s->u.axes[k] && l->u.axes[j] && strcmp(s->u.axes[k], l->u.axes[j]) == 0) place[k++] = j;
    return k == rs;
}

/* Inserts axes of 1 so that axis k of v is axis place[k] of `rank`. */
static void spread(elab *E, value *v, int rank, const int *place)
{
    const gir_type *t = val_type(E, v);
    int64_t dim[GIR_MAX_RANK];
    const char **axes = el_axes_new(E, rank);
    for (int k = 0; k < rank; k++) dim[k] = 1;
    for (int k = 0; k < t->rank; k++) {
        dim[place[k]] = t->dim[k];
        axes[place[k]] = v->u.axes ? v->u.axes[k] : NULL;
    }
    *v = val_tensor(gir_reshape(E->prog, v->id, rank, dim), axes);
}

static bool differ(elab *E, gn_span at, const char *text, const value *a, const value *b)
{
    const gir_type *s = val_type(E, a), *t = val_type(E, b);
    const char *hint = "";
    gir_space_kind ks = E->prog->spaces.p[s->space].kind, kt = E->prog->spaces.p[t->space].kind;
    if (s->space != t->space) {
        hint = ks == GIR_EDGE && kt == GIR_EDGE
                   ? ": they are edges of two graphs; `carry` takes values to a derived graph"
                   : ": in a message `x[u]` and `x[v]` take a node's value to the edge";
    }
    el_error(E, at, "`%s` does not fit %s and %s%s", text, val_text(E, a), val_text(E, b), hint);
    return false;
}

/* Common type of what is in *out and v. */
static bool join_type(elab *E, gn_span at, const char *text, const value *first, const value *v,
                      gir_type *out)
{
    const gir_type *t = val_type(E, v);
    if (t->space && out->space && t->space != out->space) return differ(E, at, text, first, v);
    if (t->space) out->space = t->space;
    int rank = t->rank > out->rank ? t->rank : out->rank;
    int64_t dim[GIR_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        int i = k - (rank - t->rank), j = k - (rank - out->rank);
        int64_t a = i < 0 ? 1 : t->dim[i], b = j < 0 ? 1 : out->dim[j];
        if (a != b && a != 1 && b != 1) return differ(E, at, text, first, v);
        dim[k] = a == 1 ? b : a;
    }
    out->rank = (uint8_t)rank;
    memcpy(out->dim, dim, sizeof(int64_t) * (size_t)rank);
    return true;
}

static void join_axes(const gir_type *out, const gir_type *t, const value *v, const char **axes)
{
    for (int k = 0; k < t->rank && v->u.axes; k++) {
        int j = k + out->rank - t->rank;
        if (v->u.axes[k] && t->dim[k] == out->dim[j] && (!axes[j] || t->dim[k] != 1))
            axes[j] = v->u.axes[k];
    }
}

static bool spread_all(elab *E, int n, value *v)
{
    int longest = -1;
    for (int i = 0; i < n; i++)
        if (v[i].kind == VAL_TENSOR &&
            (longest < 0 || val_type(E, &v[i])->rank > val_type(E, &v[longest])->rank))
            longest = i;
    if (longest < 0) return false;
    int rank = val_type(E, &v[longest])->rank;
    for (int i = 0; i < n; i++) {
        int place[GIR_MAX_RANK];
        if (v[i].kind != VAL_TENSOR) continue;
        int r = val_type(E, &v[i])->rank;
        if (r && r < rank && by_name(&v[i], r, &v[longest], rank, place))
            spread(E, &v[i], rank, place);
    }
    return true;
}

bool el_align(elab *E, gn_span at, const char *text, int n, value *v, gir_type *out,
              const char ***axes)
{
    gn_elem elem = (gn_elem)out->elem;
    *out = gir_tensor(elem, 0, 0, NULL);
    if (!spread_all(E, n, v)) return false;
    const value *first = NULL;
    for (int i = 0; i < n; i++) {
        if (v[i].kind != VAL_TENSOR) continue;
        if (!first) first = &v[i];
        if (!join_type(E, at, text, first, &v[i], out)) return false;
    }
    *axes = el_axes_new(E, out->rank);
    for (int i = 0; i < n; i++) {
        gir_type want = *out;
        if (v[i].kind == VAL_TENSOR) {
            gir_type own = *val_type(E, &v[i]);
            want.elem = own.elem;
            join_axes(out, &own, &v[i], *axes);
            v[i].id = gir_broadcast(E->prog, v[i].id, &want);
        } else
            v[i] = val_tensor(gir_const(E->prog, &want, val_number(&v[i])), NULL);
    }
    return true;
}
