#include "runtime/data/lent.h"

#include "base/data_name.h"
#include "base/half.h"
#include "runtime/data/blockfile.h"
#include "runtime/data/csr.h"
#include "runtime/data/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gn_dataset_lends(const gn_dataset *d, const void *p)
{
    return d->file && gn_block_file_has(d->file, p);
}

void gn_dataset_release(const gn_dataset *d, void *p)
{
    if (!gn_dataset_lends(d, p)) free(p);
}

void gn_codes_release(const gn_dataset *d, const gn_codes *c)
{
    gn_dataset_release(d, (void *)(uintptr_t)c->data);
    gn_dataset_release(d, (void *)(uintptr_t)c->step);
    gn_dataset_release(d, (void *)(uintptr_t)c->least);
}

gn_status *gn_dataset_check_lent(const gn_dataset *d, const void *p, int64_t bytes)
{
    return gn_dataset_lends(d, p) ? gn_block_file_check(d->file, p, bytes) : NULL;
}

/* Edges ---------------------------------------------------------------------------------------- */

static int64_t get(const gn_by_dst *g, const void *array, int64_t k)
{
    return g->index == GN_I32 ? ((const int32_t *)array)[k] : ((const int64_t *)array)[k];
}

/* The largest and the least, as they are: the loops that all of a graph goes through. */
#define LIMITS(type, array, n, least, most)                                                        \
    do {                                                                                           \
        const type *v_ = (array);                                                                  \
        type low_ = 0, high_ = 0;                                                                  \
        for (int64_t k_ = 0; k_ < (n); k_++) {                                                     \
            low_ = v_[k_] < low_ ? v_[k_] : low_;                                                  \
            high_ = v_[k_] > high_ ? v_[k_] : high_;                                               \
        }                                                                                          \
        *(least) = low_;                                                                           \
        *(most) = high_;                                                                           \
    } while (0)

static bool in_range(const gn_by_dst *g, const void *array, int64_t n, int64_t end)
{
    int64_t least, most;
    if (g->index == GN_I32)
        LIMITS(int32_t, array, n, &least, &most);
    else
        LIMITS(int64_t, array, n, &least, &most);
    return n == 0 || (least >= 0 && most < end);
}

gn_status *gn_by_dst_check(const gn_by_dst *g, int64_t n_src, int64_t n_dst, int64_t n_edges,
                           const char *name)
{
    bool ascend = get(g, g->row_ptr, 0) == 0 && get(g, g->row_ptr, n_dst) == n_edges;
    for (int64_t v = 0; ascend && v < n_dst; v++)
        ascend = get(g, g->row_ptr, v) <= get(g, g->row_ptr, v + 1);
    if (!ascend)
        GN_FAIL(GN_ERR_DATA, "%s: first edges of %lld rows do not ascend from 0 to %lld", name,
                (long long)n_dst, (long long)n_edges);
    if (!in_range(g, g->col, n_edges, n_src))
        GN_FAIL(GN_ERR_DATA, "%s: an edge begins at a row that is none of the %lld", name,
                (long long)n_src);
    if (!in_range(g, g->pos, n_edges, n_edges))
        GN_FAIL(GN_ERR_DATA, "%s: an edge has a place that is none of the %lld", name,
                (long long)n_edges);
    return NULL;
}

static gn_status *list(gn_by_dst *g, int64_t n_dst, int64_t n_edges, int64_t **from, int64_t **to)
{
    if (!g->row_ptr) return NULL;
    GN_MEM(*from, n_edges);
    GN_MEM(*to, n_edges);
    for (int64_t v = 0; v < n_dst; v++)
        for (int64_t e = get(g, g->row_ptr, v); e < get(g, g->row_ptr, v + 1); e++) {
            int64_t at = get(g, g->pos, e);
            (*from)[at] = get(g, g->col, e);
            (*to)[at] = v;
        }
    *g = (gn_by_dst){0};
    return NULL;
}

gn_status *gn_dataset_list_edges(gn_dataset *d)
{
    GN_TRY(list(&d->by_dst, d->n_nodes, d->n_edges, &d->src, &d->dst));
    for (int k = 0; k < d->n_relations; k++) {
        gn_relation *r = &d->relations[k];
        GN_TRY(list(&r->by_dst, gn_dataset_rows(d, r->dst), r->n_edges, &r->from, &r->to));
    }
    return NULL;
}

/* A copy of n elements in the place of what is lent. */
static gn_status *own(const gn_dataset *d, void **p, int64_t n, size_t size)
{
    if (!gn_dataset_lends(d, *p)) return NULL;
    GN_TRY(gn_dataset_check_lent(d, *p, n * (int64_t)size));
    void *copy = gn_mem_alloc(n, size);
    if (!copy) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows of %zu bytes", (long long)n, size);
    memcpy(copy, *p, (size_t)n * size);
    *p = copy;
    return NULL;
}

static gn_status *own_floats(const gn_dataset *d, float **p, int64_t n)
{
    void *rows = *p;
    GN_TRY(own(d, &rows, n, sizeof **p));
    *p = rows;
    return NULL;
}

gn_status *gn_dataset_own_edges(gn_dataset *d)
{
    GN_TRY(gn_dataset_list_edges(d));
    GN_TRY(own_floats(d, &d->edge_weight, d->n_edges));
    GN_TRY(own_floats(d, &d->edge_attr, d->n_edges * d->edge_dim));
    for (int k = 0; k < d->n_columns; k++) {
        gn_table_column *c = &d->columns[k];
        size_t bytes = gn_elem_size(c->elem);
        if (!c->on_edges || c->over != 0) continue;
        for (int i = 0; i < c->rank; i++) bytes *= (size_t)c->dim[i];
        GN_TRY(own(d, &c->data, d->n_edges, bytes));
    }
    return NULL;
}

/* Features ------------------------------------------------------------------------------------- */

/* It was checked when it was read. */
static gn_status *own_csr(gn_csr **m)
{
    gn_csr *copy;
    const gn_csr *of = *m;
    if (!of || !of->lent) return NULL;
    GN_TRY(gn_csr_new(of->rows, of->cols, of->nnz, &copy));
    memcpy(copy->ptr, of->ptr, (size_t)(of->rows + 1) * sizeof *of->ptr);
    memcpy(copy->col, of->col, (size_t)of->nnz * sizeof *of->col);
    memcpy(copy->val, of->val, (size_t)of->nnz * sizeof *of->val);
    gn_csr_free(*m);
    *m = copy;
    return NULL;
}

static gn_status *own_codes(const gn_dataset *d, gn_codes *c, int64_t rows, int64_t cols,
                            float **to)
{
    int64_t n;
    if (!c->data) return NULL;
    if (__builtin_mul_overflow(rows, cols, &n)) n = INT64_MAX;
    GN_TRY(gn_dataset_check_lent(d, c->data, n * (int64_t)gn_elem_size(c->elem)));
    GN_MEM(*to, n);
    gn_codes_decode(c, cols, 0, n, *to);
    gn_codes_release(d, c);
    *c = (gn_codes){0};
    return NULL;
}

/* Does a number keep all but its last digits? */
static bool holds(gn_elem elem, float x)
{
    float size = fabsf(x);
    if (elem == GN_F16) return size == 0 || (size >= 0x1p-14F && size <= 65504);
    return isfinite(gn_bf16_to_f32(gn_f32_to_bf16(x)));
}

/* In its place: what was read is written over. */
static void *coded(gn_elem elem, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!holds(elem, x[i])) return NULL;
    char *to = (char *)x;
    for (int64_t i = 0; i < n; i++) {
        float from;
        memcpy(&from, (char *)x + (size_t)i * sizeof from, sizeof from);
        uint16_t half = elem == GN_F16 ? gn_f32_to_f16(from) : gn_f32_to_bf16(from);
        memcpy(to + (size_t)i * sizeof half, &half, sizeof half);
    }
    void *less = realloc(x, (size_t)n * sizeof(uint16_t) + 1);
    return less ? less : x;
}

/* "paper.x" */
static bool is_features(const gn_table_column *c)
{
    const char *word = strrchr(c->name, '.');
    return !c->on_edges && c->elem == GN_F32 && c->rank == 1 && c->data && word &&
           !strcmp(word + 1, GN_NAME_X);
}

enum { LEAST = 16 }; /* numbers a row */

gn_elem gn_dataset_code_x(gn_dataset *d, gn_elem elem)
{
    bool dense = d->x && d->n_features >= LEAST && !gn_dataset_lends(d, d->x);
    void *x = dense ? coded(elem, d->x, d->n_nodes * d->n_features) : NULL;
    if (!x) return GN_F32;
    d->x_codes = (gn_codes){.elem = elem, .data = x};
    d->x = NULL;
    return elem;
}

gn_elem gn_dataset_code_column(gn_dataset *d, gn_table_column *c, gn_elem elem)
{
    bool dense = is_features(c) && c->dim[0] >= LEAST && !gn_dataset_lends(d, c->data);
    void *x = dense ? coded(elem, c->data, gn_dataset_rows(d, c->over) * c->dim[0]) : NULL;
    if (!x) return GN_F32;
    c->codes = (gn_codes){.elem = elem, .data = x};
    c->data = NULL;
    return elem;
}

gn_status *gn_dataset_own_features(gn_dataset *d)
{
    GN_TRY(own_floats(d, &d->x, d->n_nodes * d->n_features));
    GN_TRY(own_codes(d, &d->x_codes, d->n_nodes, d->n_features, &d->x));
    GN_TRY(own_csr(&d->x_csr));
    for (int k = 0; k < d->n_columns; k++) {
        gn_table_column *c = &d->columns[k];
        if (!gn_column_is_features(c) && !c->codes.data) continue;
        int64_t rows = gn_dataset_rows(d, c->over);
        float *x = c->data;
        GN_TRY(own_floats(d, &x, rows * c->dim[0]));
        c->data = x;
        GN_TRY(own_codes(d, &c->codes, rows, c->dim[0], &x));
        c->data = x;
        GN_TRY(own_csr(&c->csr));
    }
    return NULL;
}
