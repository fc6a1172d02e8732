#include "runtime/data/ndarray.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

bool gn_ndarray_order(gn_ndarray *a, char order)
{
    switch (order) {
    case '<': a->swap = HOST_IS_BIG; return true;
    case '>': a->swap = !HOST_IS_BIG; return true;
    case '|':
    case '=': a->swap = false; return true;
    default: return false;
    }
}

bool gn_ndarray_dtype(gn_ndarray *a, const char *descr, size_t n)
{
    static const char known[][3] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                    "u2", "u4", "u8", "f2", "f4", "f8"};
    if (n == 3) {
        if (!gn_ndarray_order(a, *descr)) return false;
        descr++;
        n--;
    }
    if (n != 2) return false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (memcmp(known[k], descr, 2) != 0) continue;
        a->kind = descr[0];
        a->size = (uint8_t)(descr[1] - '0');
        return true;
    }
    return false;
}

bool gn_ndarray_shape(gn_ndarray *a, int rank, const int64_t *dim)
{
    if (rank < 0 || rank > GN_NDARRAY_RANK) return false;
    int64_t count = 1, bytes;
    for (int k = 0; k < rank; k++) {
        if (dim[k] < 0 || __builtin_mul_overflow(count, dim[k], &count)) return false;
        a->dim[k] = dim[k];
    }
    if (__builtin_mul_overflow(count, (int64_t)8, &bytes)) return false;
    a->rank = rank;
    a->count = count;
    return true;
}

static double half(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 0    ? ldexp(fraction, -24)
               : exponent == 31 ? (fraction ? NAN : INFINITY)
                                : ldexp(fraction + 1024, exponent - 25);
    return h >> 15 ? -v : v;
}

/* Where element i of the row-major numbering lies. */
static int64_t position(const gn_ndarray *a, int64_t i)
{
    if (!a->fortran || a->rank < 2) return i;
    int64_t index[GN_NDARRAY_RANK], at = 0;
    for (int k = a->rank - 1; k >= 0; k--) {
        index[k] = i % a->dim[k];
        i /= a->dim[k];
    }
    for (int k = a->rank - 1; k >= 0; k--) at = at * a->dim[k] + index[k];
    return at;
}

static uint64_t bits_at(const gn_ndarray *a, int64_t i)
{
    const unsigned char *p = a->data + (size_t)position(a, i) * a->size;
    uint8_t b8;
    uint16_t b16;
    uint32_t b32;
    uint64_t b64;
    switch (a->size) {
    case 1: memcpy(&b8, p, 1); return b8;
    case 2: memcpy(&b16, p, 2); return a->swap ? __builtin_bswap16(b16) : b16;
    case 4: memcpy(&b32, p, 4); return a->swap ? __builtin_bswap32(b32) : b32;
    default: memcpy(&b64, p, 8); return a->swap ? __builtin_bswap64(b64) : b64;
    }
}

static int64_t widen(uint64_t bits, unsigned size)
{
    unsigned shift = 64 - 8 * size;
    return (int64_t)(bits << shift) >> shift;
}

double gn_ndarray_f64(const gn_ndarray *a, int64_t i)
{
    uint64_t bits = bits_at(a, i);
    if (a->kind == 'i') return (double)widen(bits, a->size);
    if (a->kind == 'b') return bits != 0;
    if (a->kind == 'u') return (double)bits;
    if (a->size == 2) return half((uint16_t)bits);
    if (a->size == 4) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, 4);
        return (double)f;
    }
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

bool gn_ndarray_i64(const gn_ndarray *a, int64_t i, int64_t *out)
{
    if (a->kind == 'f') {
        double d = gn_ndarray_f64(a, i);
        if (!(d >= -0x1p53 && d <= 0x1p53) || d != trunc(d)) return false;
        *out = (int64_t)d;
        return true;
    }
    uint64_t bits = bits_at(a, i);
    *out = a->kind == 'i' ? widen(bits, a->size) : a->kind == 'b' ? bits != 0 : (int64_t)bits;
    return a->kind != 'u' || bits <= INT64_MAX;
}

void gn_ndarray_free(gn_ndarray *a)
{
    free(a->owned);
    *a = (gn_ndarray){0};
}
