/* Sparse matrices of scipy in pickles: which parts their states have, and what matrix they are. */
#include "runtime/data/mem.h"
#include "runtime/data/pickle_machine.h"

#include <string.h>

#define X(name, id) [GN_SPARSE_##id] = name,
static const char *const format_name[] = {GN_SPARSE_FORMATS(X)};
#undef X

/* ---- the state ---- */

static const value *lookup(const value *dict, const char *key)
{
    for (uint32_t i = dict->n; i >= 2; i -= 2)
        if (gn_pickle_is_text(dict->u.item[i - 2], key)) return dict->u.item[i - 1];
    return NULL;
}

static gn_status *take_array(machine *m, const value *v, const char *key, gn_ndarray *out)
{
    if (!v || v->kind != GN_PICKLE_ARRAY || !v->u.array->kind)
        PICKLE_FAIL(m, "sparse matrix: expected '%s' to be a numpy array", key);
    *out = *v->u.array;
    return NULL;
}

static gn_status *take_list(machine *m, const value *v, const char *key, const value **out)
{
    if (!v || v->kind != GN_PICKLE_LIST)
        PICKLE_FAIL(m, "sparse matrix: expected '%s' to be an array of lists", key);
    *out = v;
    return NULL;
}

static gn_status *take_shape(machine *m, const value *state, gn_pickle_sparse *a)
{
    const value *shape = lookup(state, "_shape");
    if (!shape) shape = lookup(state, "shape");
    if (!shape || shape->kind != GN_PICKLE_TUPLE || shape->n != 2 ||
        shape->u.item[0]->kind != GN_PICKLE_INT || shape->u.item[1]->kind != GN_PICKLE_INT)
        PICKLE_FAIL(m, "sparse matrix: expected '_shape' to be two integers");
    a->rows = shape->u.item[0]->u.i;
    a->cols = shape->u.item[1]->u.i;
    return NULL;
}

/* Since scipy 1.13 a tuple `coords`; before that `row` and `col`. */
static gn_status *take_coordinates(machine *m, const value *state, gn_pickle_sparse *a)
{
    const value *both = lookup(state, "coords");
    bool pair = both && both->kind == GN_PICKLE_TUPLE && both->n == 2;
    GN_TRY(take_array(m, pair ? both->u.item[0] : lookup(state, "row"), pair ? "coords" : "row",
                      &a->index[0]));
    return take_array(m, pair ? both->u.item[1] : lookup(state, "col"), pair ? "coords" : "col",
                      &a->index[1]);
}

gn_status *gn_pickle_build_sparse(machine *m, gn_pickle_sparse *a, const value *state)
{
    if (state->kind != GN_PICKLE_DICT || state->n > 64)
        PICKLE_FAIL(m, "sparse matrix: expected a dict as its state");
    GN_TRY(take_shape(m, state, a));
    const value *entries = lookup(state, "_dict");
    switch (a->format) {
    case GN_SPARSE_CSR:
    case GN_SPARSE_CSC:
        GN_TRY(take_array(m, lookup(state, "indices"), "indices", &a->index[0]));
        GN_TRY(take_array(m, lookup(state, "indptr"), "indptr", &a->index[1]));
        GN_TRY(take_array(m, lookup(state, "data"), "data", &a->data));
        break;
    case GN_SPARSE_COO:
        GN_TRY(take_coordinates(m, state, a));
        GN_TRY(take_array(m, lookup(state, "data"), "data", &a->data));
        break;
    case GN_SPARSE_LIL:
        GN_TRY(take_list(m, lookup(state, "rows"), "rows", &a->list[0]));
        GN_TRY(take_list(m, lookup(state, "data"), "data", &a->list[1]));
        break;
    case GN_SPARSE_DOK:
        if (entries) a->entries = entries;
        if (!a->entries || a->entries->kind != GN_PICKLE_DICT)
            PICKLE_FAIL(m, "sparse matrix: expected '_dict' to be a dict");
        break;
    }
    a->whole = true;
    return NULL;
}

/* ---- the matrix ---- */

/* Entries in any order. */
typedef struct triples {
    const char *what;
    int64_t rows, cols, n;
    int64_t *row, *col;
    double *val;
} triples;

static gn_status *reserve(triples *t, int64_t n)
{
    GN_MEM(t->row, n);
    GN_MEM(t->col, n);
    GN_MEM(t->val, n);
    return NULL;
}

static gn_status *push(triples *t, int64_t row, int64_t col, double val)
{
    if (row < 0 || row >= t->rows || col < 0 || col >= t->cols)
        GN_FAIL(GN_ERR_DATA,
                "%s: an entry at (%lld, %lld): expected rows below %lld and columns below %lld",
                t->what, (long long)row, (long long)col, (long long)t->rows, (long long)t->cols);
    t->row[t->n] = row;
    t->col[t->n] = col;
    t->val[t->n++] = val;
    return NULL;
}

static bool number_of(const value *v, double *out)
{
    if (v->kind == GN_PICKLE_FLOAT)
        *out = v->u.f;
    else if (v->kind == GN_PICKLE_INT || v->kind == GN_PICKLE_BOOL)
        *out = (double)v->u.i;
    else
        return false;
    return true;
}

static gn_status *from_coo(const gn_pickle_sparse *a, triples *t)
{
    const gn_ndarray *row = &a->index[0], *col = &a->index[1];
    if (row->count != a->data.count || col->count != a->data.count)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows and %lld columns for %lld values", t->what,
                (long long)row->count, (long long)col->count, (long long)a->data.count);
    GN_TRY(reserve(t, a->data.count));
    for (int64_t k = 0; k < a->data.count; k++) {
        int64_t i, j;
        if (!gn_ndarray_i64(row, k, &i)) i = -1;
        if (!gn_ndarray_i64(col, k, &j)) j = -1;
        GN_TRY(push(t, i, j, gn_ndarray_f64(&a->data, k)));
    }
    return NULL;
}

static gn_status *from_lil(const gn_pickle_sparse *a, triples *t)
{
    int64_t n = 0;
    const value *columns = a->list[0], *values = a->list[1];
    if ((int64_t)columns->n != t->rows || values->n != columns->n)
        GN_FAIL(GN_ERR_DATA, "%s: lists of %u and %u rows: expected %lld", t->what, columns->n,
                values->n, (long long)t->rows);
    for (uint32_t i = 0; i < columns->n; i++) {
        const value *c = columns->u.item[i], *v = values->u.item[i];
        if (c->kind != GN_PICKLE_LIST || v->kind != GN_PICKLE_LIST || c->n != v->n)
            GN_FAIL(GN_ERR_DATA, "%s: row %u: expected as many columns as values", t->what, i);
        n += c->n;
    }
    GN_TRY(reserve(t, n));
    for (uint32_t i = 0; i < columns->n; i++) {
        for (uint32_t k = 0; k < columns->u.item[i]->n; k++) {
            const value *c = columns->u.item[i]->u.item[k];
            double v;
            if (!number_of(values->u.item[i]->u.item[k], &v))
                GN_FAIL(GN_ERR_DATA, "%s: row %u: expected numbers", t->what, i);
            GN_TRY(push(t, i, c->kind == GN_PICKLE_INT ? c->u.i : -1, v));
        }
    }
    return NULL;
}

static gn_status *from_dok(const gn_pickle_sparse *a, triples *t)
{
    GN_TRY(reserve(t, a->entries->n / 2));
    for (uint32_t k = 0; k + 1 < a->entries->n; k += 2) {
        const value *key = a->entries->u.item[k], *i, *j;
        double v;
        if (key->kind != GN_PICKLE_TUPLE || key->n != 2 ||
            !number_of(a->entries->u.item[k + 1], &v))
            GN_FAIL(GN_ERR_DATA, "%s: entry %u: expected (row, column): number", t->what, k / 2);
        i = key->u.item[0];
        j = key->u.item[1];
        GN_TRY(push(t, i->kind == GN_PICKLE_INT ? i->u.i : -1,
                    j->kind == GN_PICKLE_INT ? j->u.i : -1, v));
    }
    return NULL;
}

static gn_ndarray vector(char kind, const void *data, int64_t n)
{
    return (gn_ndarray){.kind = kind, .size = 8, .rank = 1, .dim = {n}, .count = n, .data = data};
}

static gn_status *sort_rows(const triples *t, int64_t *ptr, int64_t *col, double *val, gn_csr **out)
{
    for (int64_t k = 0; k < t->n; k++) ptr[t->row[k] + 1]++;
    for (int64_t r = 0; r < t->rows; r++) ptr[r + 1] += ptr[r];
    for (int64_t k = t->n; k-- > 0;) { /* backwards: entries of a row keep their order */
        int64_t at = --ptr[t->row[k] + 1];
        col[at] = t->col[k];
        val[at] = t->val[k];
    }
    for (int64_t r = 0; r < t->rows; r++) ptr[r] = ptr[r + 1];
    ptr[t->rows] = t->n;
    gn_csr_arrays a = {.rows = t->rows,
                       .cols = t->cols,
                       .data = vector('f', val, t->n),
                       .indices = vector('i', col, t->n),
                       .indptr = vector('i', ptr, t->rows + 1)};
    return gn_csr_from_arrays(&a, t->what, out);
}

/* Rows that no entry has take memory too: many more of them than entries are refused. */
static gn_status *by_rows(const triples *t, gn_csr **out)
{
    enum { FEW = 1 << 20, TIMES = 64 };
    if (t->rows > FEW && t->rows / TIMES > t->n)
        GN_FAIL(GN_ERR_DATA, "%s: %lld rows with %lld entries", t->what, (long long)t->rows,
                (long long)t->n);
    int64_t *ptr = gn_mem_alloc(t->rows + 1, sizeof *ptr), *col = gn_mem_alloc(t->n, sizeof *col);
    double *val = gn_mem_alloc(t->n, sizeof *val);
    gn_status *s = ptr && col && val ? sort_rows(t, ptr, col, val, out)
                                     : GN_ERROR(GN_ERR_NOMEM, "%s: out of memory: %lld entries",
                                                t->what, (long long)t->n);
    free(ptr);
    free(col);
    free(val);
    return s;
}

/* Read as if by rows, it is the transpose. */
static gn_status *from_csc(const gn_pickle_sparse *a, triples *t)
{
    gn_csr_arrays turned = {a->cols, a->rows, a->data, a->index[0], a->index[1]};
    gn_csr *m;
    GN_TRY(gn_csr_from_arrays(&turned, t->what, &m));
    gn_status *s = reserve(t, m->nnz);
    for (int64_t j = 0; !s && j < m->rows; j++)
        for (int64_t k = m->ptr[j]; !s && k < m->ptr[j + 1]; k++)
            s = push(t, m->col[k], j, (double)m->val[k]);
    gn_csr_free(m);
    return s;
}

gn_status *gn_pickle_matrix(const value *v, const char *what, gn_csr **out)
{
    static gn_status *(*const from[])(const gn_pickle_sparse *,
                                      triples *) = {[GN_SPARSE_CSC] = from_csc,
                                                    [GN_SPARSE_COO] = from_coo,
                                                    [GN_SPARSE_LIL] = from_lil,
                                                    [GN_SPARSE_DOK] = from_dok};
    if (v->kind == GN_PICKLE_ARRAY && v->u.array->rank == 2 && v->u.array->dim[1] > 0)
        return gn_csr_from_dense(v->u.array, what, out);
    if (v->kind != GN_PICKLE_SPARSE || !v->u.sparse->whole)
        GN_FAIL(GN_ERR_DATA, "%s: expected a sparse matrix or a matrix, found %s", what,
                gn_pickle_kind_name(v->kind));
    const gn_pickle_sparse *a = v->u.sparse;
    if (a->format == GN_SPARSE_CSR)
        return gn_csr_from_arrays(
            &(gn_csr_arrays){a->rows, a->cols, a->data, a->index[0], a->index[1]}, what, out);
    if (a->rows < 0 || a->cols < 0 || a->rows > INT32_MAX || a->cols > INT32_MAX)
        GN_FAIL(GN_ERR_DATA,
                "%s: a %s matrix of %lld x %lld: expected at most 2^31-1 rows and columns", what,
                format_name[a->format], (long long)a->rows, (long long)a->cols);
    triples t = {.what = what, .rows = a->rows, .cols = a->cols};
    gn_status *s = from[a->format](a, &t);
    if (!s) s = by_rows(&t, out);
    free(t.row);
    free(t.col);
    free(t.val);
    return s;
}
