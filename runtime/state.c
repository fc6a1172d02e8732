#include "runtime/state.h"
#include "runtime/memory.h"

#include <string.h>

void gn_state_init(gn_state *s) { *s = (gn_state){0}; }

void gn_state_free(gn_state *s)
{
    for (int k = 0; k < s->n; k++) {
        gn_block_free(s->tensors[k].name);
        gn_block_free(s->tensors[k].data);
    }
    gn_block_free(s->tensors);
    gn_state_init(s);
}

static gn_state_tensor *find(const gn_state *s, const char *name)
{
    for (int k = 0; k < s->n; k++)
        if (strcmp(s->tensors[k].name, name) == 0) return &s->tensors[k];
    return NULL;
}

const gn_state_tensor *gn_state_find(const gn_state *s, const char *name) { return find(s, name); }

static int64_t count(const gn_state_tensor *t) { return t->rows * t->row_elems; }
static size_t bytes_of(const gn_state_tensor *t)
{
    return (size_t)count(t) * gn_elem_size(t->elem);
}

int64_t gn_state_bytes(const gn_state *s)
{
    int64_t bytes = 0;
    for (int k = 0; k < s->n; k++) bytes += (int64_t)bytes_of(&s->tensors[k]);
    return bytes;
}

static gn_status *grow(gn_state *s)
{
    int cap = s->cap ? 2 * s->cap : 16;
    void *block;
    GN_TRY(gn_block_new(cap, sizeof *s->tensors, "state", &block));
    if (s->n) memcpy(block, s->tensors, (size_t)s->n * sizeof *s->tensors);
    gn_block_free(s->tensors);
    s->tensors = block;
    s->cap = cap;
    return NULL;
}

gn_status *gn_state_add(gn_state *s, const char *name, gn_elem elem, int64_t rows,
                        int64_t row_elems)
{
    int64_t elems;
    if (find(s, name)) GN_FAIL(GN_ERR_USAGE, "state '%s' is there already", name);
    if (rows < 0 || row_elems < 0)
        GN_FAIL(GN_ERR_USAGE, "state '%s' of %lld rows of %lld elements", name, (long long)rows,
                (long long)row_elems);
    if (__builtin_mul_overflow(rows, row_elems, &elems))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: state '%s' of %lld rows of %lld elements", name,
                (long long)rows, (long long)row_elems);
    if (s->n == s->cap) GN_TRY(grow(s));
    void *copy, *data;
    int64_t length = (int64_t)strlen(name) + 1;
    GN_TRY(gn_block_new(length, 1, "name", &copy));
    memcpy(copy, name, (size_t)length);
    gn_status *e = gn_block_zeroed(elems, gn_elem_size(elem), name, &data);
    if (e) {
        gn_block_free(copy);
        return e;
    }
    s->tensors[s->n++] = (gn_state_tensor){copy, elem, rows, row_elems, data, NULL};
    return NULL;
}

static gn_status *want(const gn_state *s, const char *name, gn_state_tensor **out)
{
    *out = find(s, name);
    if (*out) return NULL;
    GN_FAIL(GN_ERR_USAGE, "there is no state '%s'", name);
}

/* Scalars -------------------------------------------------------------------------------------- */

static gn_status *want_scalar(const gn_state *s, const char *name, gn_state_tensor **out)
{
    GN_TRY(want(s, name, out));
    if (count(*out) == 1) return NULL;
    GN_FAIL(GN_ERR_USAGE, "state '%s' has %lld elements, not one", name, (long long)count(*out));
}

gn_status *gn_state_set_int(gn_state *s, const char *name, int64_t value)
{
    gn_state_tensor *t;
    GN_TRY(want_scalar(s, name, &t));
    if (t->elem == GN_I64)
        *(int64_t *)t->data = value;
    else
        gn_fill_store(t->data, t->elem, 0, (double)value);
    return NULL;
}

gn_status *gn_state_set_float(gn_state *s, const char *name, double value)
{
    gn_state_tensor *t;
    GN_TRY(want_scalar(s, name, &t));
    gn_fill_store(t->data, t->elem, 0, value);
    return NULL;
}

gn_status *gn_state_get_int(const gn_state *s, const char *name, int64_t *value)
{
    gn_state_tensor *t;
    GN_TRY(want_scalar(s, name, &t));
    *value = t->elem == GN_I64 ? *(const int64_t *)t->data
                               : (int64_t)gn_fill_load(t->data, t->elem, 0);
    return NULL;
}

/* Rows in another order ------------------------------------------------------------------------ */

void gn_state_number(gn_state *s, const char *name, const int64_t *row_of)
{
    gn_state_tensor *t = find(s, name);
    if (t) t->row_of = row_of;
}

void gn_state_rows_out(const gn_state_tensor *t, void *to)
{
    size_t row = (size_t)t->row_elems * gn_elem_size(t->elem);
    if (!t->row_of) memcpy(to, t->data, bytes_of(t));
    for (int64_t v = 0; t->row_of && v < t->rows; v++)
        memcpy((char *)to + (size_t)v * row, (const char *)t->data + (size_t)t->row_of[v] * row,
               row);
}

void gn_state_rows_in(const gn_state_tensor *t, const void *from)
{
    size_t row = (size_t)t->row_elems * gn_elem_size(t->elem);
    if (!t->row_of) memcpy(t->data, from, bytes_of(t));
    for (int64_t v = 0; t->row_of && v < t->rows; v++)
        memcpy((char *)t->data + (size_t)t->row_of[v] * row, (const char *)from + (size_t)v * row,
               row);
}

gn_status *gn_state_fill(gn_state *s, const char *name, gn_fill fill, uint64_t seed)
{
    gn_state_tensor *t;
    void *rows = NULL;
    GN_TRY(want(s, name, &t));
    if (t->row_of) GN_TRY(gn_block_new(count(t), gn_elem_size(t->elem), name, &rows));
    gn_status *e = gn_fill_tensor(fill, seed, name, t->elem, count(t), rows ? rows : t->data);
    if (rows && !e) gn_state_rows_in(t, rows);
    gn_block_free(rows);
    return gn_status_annotate(e, "state '%s'", name);
}

/* All at once ---------------------------------------------------------------------------------- */

gn_status *gn_state_snapshot(const gn_state *s, gn_state *out)
{
    for (int k = 0; k < s->n; k++) {
        const gn_state_tensor *t = &s->tensors[k];
        gn_status *e = gn_state_add(out, t->name, t->elem, t->rows, t->row_elems);
        if (e) {
            gn_state_free(out);
            return e;
        }
        memcpy(out->tensors[k].data, t->data, bytes_of(t));
        out->tensors[k].row_of = t->row_of;
    }
    return NULL;
}

gn_status *gn_state_restore(gn_state *s, const gn_state *from)
{
    bool same = s->n == from->n;
    for (int k = 0; same && k < s->n; k++) {
        const gn_state_tensor *a = &s->tensors[k], *b = &from->tensors[k];
        same = strcmp(a->name, b->name) == 0 && a->elem == b->elem && a->rows == b->rows &&
               a->row_elems == b->row_elems;
    }
    if (!same) GN_FAIL(GN_ERR_USAGE, "the snapshot is of another state");
    for (int k = 0; k < s->n; k++)
        memcpy(s->tensors[k].data, from->tensors[k].data, bytes_of(&s->tensors[k]));
    return NULL;
}

gn_status *gn_state_push(const gn_state *s, gn_remote *r)
{
    for (int k = 0; r && k < s->n; k++) GN_TRY(r->push(r, s->tensors[k].data));
    return NULL;
}

gn_status *gn_state_pull(const gn_state *s, gn_remote *r)
{
    for (int k = 0; r && k < s->n; k++) GN_TRY(r->fetch(r, s->tensors[k].data));
    return NULL;
}

void gn_state_bindings(const gn_state *s, gn_binding *out)
{
    for (int k = 0; k < s->n; k++) {
        const gn_state_tensor *t = &s->tensors[k];
        out[k] = (gn_binding){t->name, t->elem, t->rows, t->row_elems, t->data};
    }
}
