/* Tensors of others: DLPack's. */
#include "api/api.h"

#include "runtime/memory.h"

#include <string.h>

bool api_elem(const DLTensor *t, gn_elem *out)
{
    static const struct {
        uint8_t code, bits;
        gn_elem elem;
    } types[] = {{kDLFloat, 32, GN_F32}, {kDLFloat, 64, GN_F64}, {kDLInt, 32, GN_I32},
                 {kDLInt, 64, GN_I64},   {kDLUInt, 8, GN_U8},    {kDLBool, 8, GN_BOOL},
                 {kDLUInt, 32, GN_U32},  {kDLFloat, 16, GN_F16}};
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
    if (n && !t->data) GN_FAIL(GN_ERR_DATA, "%s: the tensor has no data", where);
    if ((uintptr_t)api_first(t) % gn_elem_size(e) != 0)
        GN_FAIL(GN_ERR_DATA, "%s: the data is not aligned to its element of %zu bytes", where,
                gn_elem_size(e));
    return NULL;
}

/* Element `at` of a tensor counted row by row, in elements from the first. */
static int64_t offset_of(const DLTensor *t, int64_t at)
{
    if (!t->strides) return at;
    int64_t offset = 0;
    for (int k = t->ndim - 1; k >= 0; k--) {
        offset += at % t->shape[k] * t->strides[k];
        at /= t->shape[k];
    }
    return offset;
}

gn_status *api_copy_tensor(const char *where, const DLTensor *t, gn_elem to, void *out)
{
    gn_elem from;
    int64_t n = 1;
    if (!api_elem(t, &from)) GN_FAIL(GN_ERR_INTERNAL, "%s: was not checked", where);
    for (int k = 0; k < t->ndim; k++) n *= t->shape[k];
    size_t size = gn_elem_size(from);
    const char *first = api_first(t);
    bool narrows = from == GN_I64 && to == GN_I32;
    if (!narrows && size != gn_elem_size(to))
        GN_FAIL(GN_ERR_INTERNAL, "%s: cannot be converted", where);
    for (int64_t k = 0; k < n; k++) {
        const char *p = first + offset_of(t, k) * (int64_t)size;
        if (!narrows) {
            memcpy((char *)out + k * (int64_t)size, p, size);
            continue;
        }
        int64_t v;
        memcpy(&v, p, sizeof v);
        if (v < INT32_MIN || v > INT32_MAX)
            GN_FAIL(GN_ERR_DATA, "%s: element %lld is %lld, which 32 bits do not hold", where,
                    (long long)k, (long long)v);
        ((int32_t *)out)[k] = (int32_t)v;
    }
    return NULL;
}
