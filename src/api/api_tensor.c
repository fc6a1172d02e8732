/* Tensors of others: DLPack's. */
#include "api/api.h"

#include "base/half.h"
#include "runtime/memory.h"

#include <math.h>
#include <string.h>

bool api_elem(const DLTensor *t, gn_elem *out)
{
    static const struct {
        uint8_t code, bits;
        gn_elem elem;
    } types[] = {{kDLFloat, 32, GN_F32}, {kDLFloat, 64, GN_F64}, {kDLInt, 32, GN_I32},
                 {kDLInt, 64, GN_I64},   {kDLUInt, 8, GN_U8},    {kDLBool, 8, GN_BOOL},
                 {kDLUInt, 32, GN_U32},  {kDLFloat, 16, GN_F16}, {kDLBfloat, 16, GN_BF16}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (t->dtype.code == types[k].code && t->dtype.bits == types[k].bits &&
            t->dtype.lanes == 1) {
            *out = types[k].elem;
            return true;
        }
    return false;
}

DLDataType api_type(gn_elem e)
{
    uint8_t code = e == GN_BOOL                ? kDLBool
                   : e == GN_BF16              ? kDLBfloat
                   : gn_elem_is_float(e)       ? kDLFloat
                   : e == GN_U8 || e == GN_U32 ? kDLUInt
                                               : kDLInt;
    return (DLDataType){code, (uint8_t)(gn_elem_size(e) * 8), 1};
}

const void *api_first(const DLTensor *t)
{
    /* A tensor without elements may have no data (DLPack); for a run NULL is what was never
     * bound. */
    static const _Alignas(GN_ALIGN) char nothing[GN_ALIGN];
    return t->data ? (const char *)t->data + t->byte_offset : nothing;
}

bool api_row_major(const DLTensor *t)
{
    int64_t step = 1;
    for (int k = t->ndim - 1; t->strides && k >= 0; k--) {
        if (t->shape[k] != 1 && t->strides[k] != step) return false;
        step *= t->shape[k];
    }
    return true;
}

/* Are all elements within what addresses hold? */
static bool strides_fit(const DLTensor *t)
{
    int64_t far = 0, span;
    for (int k = 0; t->strides && k < t->ndim; k++) {
        if (t->shape[k] <= 1) continue;
        if (__builtin_mul_overflow(t->shape[k] - 1, t->strides[k], &span)) return false;
        if (span == INT64_MIN || __builtin_add_overflow(far, span < 0 ? -span : span, &far))
            return false;
    }
    return far <= INT64_MAX / 16;
}

gn_status *api_check_tensor(const char *where, const DLTensor *t, int rank)
{
    gn_elem e;
    int64_t n = 1;
    if (!t) GN_FAIL(GN_ERR_USAGE, "%s: no tensor", where);
    if (t->device.device_type == kDLCUDA)
        GN_FAIL(GN_ERR_DATA,
                "%s: the tensor is on CUDA device %d, not on the CPU, where data is given; a "
                "context with a device copies it there",
                where, (int)t->device.device_id);
    if (t->device.device_type != kDLCPU)
        GN_FAIL(GN_ERR_DATA, "%s: the tensor is on device type %d, not on the CPU", where,
                (int)t->device.device_type);
    if (!api_elem(t, &e))
        GN_FAIL(GN_ERR_DATA, "%s: element type code %d, %d bits, %d lanes is none of gnnc's", where,
                t->dtype.code, t->dtype.bits, t->dtype.lanes);
    if (t->ndim < 0 || t->ndim > GIR_MAX_RANK + 1 || (rank >= 0 && t->ndim != rank))
        GN_FAIL(GN_ERR_DATA, "%s: the tensor has %d dimensions, %d are expected", where, t->ndim,
                rank);
    if (t->ndim && !t->shape) GN_FAIL(GN_ERR_DATA, "%s: the tensor has no shape", where);
    for (int k = 0; k < t->ndim; k++)
        if (t->shape[k] < 0 || __builtin_mul_overflow(n, t->shape[k], &n) || n > INT64_MAX / 16)
            GN_FAIL(GN_ERR_DATA, "%s: dimension %d is %lld", where, k, (long long)t->shape[k]);
    if (n && !strides_fit(t)) GN_FAIL(GN_ERR_DATA, "%s: the strides are too large", where);
    if (n && !t->data) GN_FAIL(GN_ERR_DATA, "%s: the tensor has no data", where);
    if ((uintptr_t)api_first(t) % gn_elem_size(e) != 0)
        GN_FAIL(GN_ERR_DATA, "%s: the data is not aligned to its element of %zu bytes", where,
                gn_elem_size(e));
    return NULL;
}

bool api_converts(gn_elem from, gn_elem to)
{
    bool mask = to == GN_BOOL && (from == GN_BOOL || from == GN_U8);
    return from == to || mask || (to == GN_I32 && from == GN_I64) ||
           (gn_elem_is_float(to) && gn_elem_is_float(from));
}

/* Elements in row-major order: the place of one after the other. */
typedef struct walk {
    const DLTensor *t;
    int64_t at[GIR_MAX_RANK + 2], place; /* in elements */
} walk;

static void go_on(walk *w)
{
    const DLTensor *t = w->t;
    if (!t->strides) {
        w->place++;
        return;
    }
    for (int k = t->ndim - 1; k >= 0; k--) {
        if (++w->at[k] < t->shape[k]) {
            w->place += t->strides[k];
            return;
        }
        w->place -= (t->shape[k] - 1) * t->strides[k];
        w->at[k] = 0;
    }
}

static int64_t count(const DLTensor *t)
{
    int64_t n = 1;
    for (int k = 0; k < t->ndim; k++) n *= t->shape[k];
    return n;
}

static double read_float(gn_elem from, const void *p)
{
    uint16_t half;
    float f;
    double d;
    switch (from) {
    case GN_F64: memcpy(&d, p, sizeof d); return d;
    case GN_F32: memcpy(&f, p, sizeof f); return (double)f;
    default:
        memcpy(&half, p, sizeof half);
        return (double)(from == GN_BF16 ? gn_bf16_to_f32(half) : gn_f16_to_f32(half));
    }
}

static void write_float(gn_elem to, double x, void *p)
{
    float f = (float)x;
    uint16_t half = to == GN_BF16 ? gn_f32_to_bf16(f) : gn_f32_to_f16(f);
    switch (to) {
    case GN_F64: memcpy(p, &x, sizeof x); break;
    case GN_F32: memcpy(p, &f, sizeof f); break;
    default: memcpy(p, &half, sizeof half); break;
    }
}

/* One element. */
static gn_status *convert(const char *where, int64_t k, gn_elem from, const void *p, gn_elem to,
                          void *out)
{
    int64_t v;
    if (from == to || gn_elem_size(from) == 1) {
        memcpy(out, p, gn_elem_size(to));
        return NULL;
    }
    if (gn_elem_is_float(to)) {
        double x = read_float(from, p);
        if (from == GN_F64 && isfinite(x) && isinf((float)x))
            GN_FAIL(GN_ERR_DATA, "%s: element %lld is %g, which float32 does not hold", where,
                    (long long)k, x);
        write_float(to, x, out);
        return NULL;
    }
    memcpy(&v, p, sizeof v);
    if (v < INT32_MIN || v > INT32_MAX)
        GN_FAIL(GN_ERR_DATA, "%s: element %lld is %lld, which 32 bits do not hold", where,
                (long long)k, (long long)v);
    int32_t narrow = (int32_t)v;
    memcpy(out, &narrow, sizeof narrow);
    return NULL;
}

gn_status *api_copy_tensor(const char *where, const DLTensor *t, gn_elem to, void *out)
{
    gn_elem from;
    if (!api_elem(t, &from)) GN_FAIL(GN_ERR_INTERNAL, "%s: was not checked", where);
    if (!api_converts(from, to)) GN_FAIL(GN_ERR_INTERNAL, "%s: cannot be converted", where);
    int64_t n = count(t), size = (int64_t)gn_elem_size(from), wide = (int64_t)gn_elem_size(to);
    const char *first = api_first(t);
    if (size == wide && from != GN_F16 && from != GN_BF16 && api_row_major(t)) {
        if (n) memcpy(out, first, (size_t)(n * size));
        return NULL;
    }
    walk w = {.t = t};
    for (int64_t k = 0; k < n; k++, go_on(&w))
        GN_TRY(convert(where, k, from, first + w.place * size, to, (char *)out + k * wide));
    return NULL;
}

gn_status *api_store_tensor(const char *where, gn_elem from, const void *data, const DLTensor *t)
{
    gn_elem to;
    if (!api_elem(t, &to) || !api_converts(from, to))
        GN_FAIL(GN_ERR_INTERNAL, "%s: was not checked", where);
    int64_t n = count(t), size = (int64_t)gn_elem_size(from), wide = (int64_t)gn_elem_size(to);
    char *first = (char *)(uintptr_t)api_first(t);
    walk w = {.t = t};
    for (int64_t k = 0; k < n; k++, go_on(&w))
        GN_TRY(convert(where, k, from, (const char *)data + k * size, to, first + w.place * wide));
    return NULL;
}
