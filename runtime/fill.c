#include "runtime/fill.h"
#include "base/half.h"
#include "base/map.h"
#include "base/philox.h"
#include "runtime/memory.h"

#include <math.h>
#include <string.h>

/* Element types -------------------------------------------------------------------------------- */

/* v as a float that a further rounding to fewer bits takes to where it would have taken v: what is
 * inexact gets its last bit set (rounding to odd). */
static float narrow(double v)
{
    float f = (float)v;
    if ((double)f == v || isnan(v) || isinf(f)) return f;
    uint32_t u = gn_f32_bits(f);
    return u & 1 ? f : gn_f32_from_bits(fabs((double)f) < fabs(v) ? u + 1 : u - 1);
}

static int64_t integer(double v, double least, double most)
{
    if (isnan(v)) return 0;
    return v <= least  ? (int64_t)least
           : v >= most ? (most >= 0x1p63 ? INT64_MAX : (int64_t)most)
                       : (int64_t)v;
}

void gn_fill_store(void *data, gn_elem elem, int64_t i, double v)
{
    switch (elem) {
    case GN_F32: ((float *)data)[i] = (float)v; break;
    case GN_F64: ((double *)data)[i] = v; break;
    case GN_BF16: ((uint16_t *)data)[i] = gn_f32_to_bf16(narrow(v)); break;
    case GN_F16: ((uint16_t *)data)[i] = gn_f32_to_f16(narrow(v)); break;
    case GN_I32: ((int32_t *)data)[i] = (int32_t)integer(v, INT32_MIN, INT32_MAX); break;
    case GN_I64: ((int64_t *)data)[i] = integer(v, -0x1p63, 0x1p63); break;
    case GN_U32: ((uint32_t *)data)[i] = (uint32_t)integer(v, 0, UINT32_MAX); break;
    case GN_U8: ((uint8_t *)data)[i] = (uint8_t)integer(v, 0, UINT8_MAX); break;
    case GN_BOOL: ((uint8_t *)data)[i] = v != 0; break;
    case GN_ELEM_COUNT: break;
    }
}

double gn_fill_load(const void *data, gn_elem elem, int64_t i)
{
    switch (elem) {
    case GN_F32: return (double)((const float *)data)[i];
    case GN_F64: return ((const double *)data)[i];
    case GN_BF16: return (double)gn_bf16_to_f32(((const uint16_t *)data)[i]);
    case GN_F16: return (double)gn_f16_to_f32(((const uint16_t *)data)[i]);
    case GN_I32: return ((const int32_t *)data)[i];
    case GN_I64: return (double)((const int64_t *)data)[i];
    case GN_U32: return ((const uint32_t *)data)[i];
    case GN_U8:
    case GN_BOOL: return ((const uint8_t *)data)[i];
    case GN_ELEM_COUNT: break;
    }
    return 0;
}

/* Draws ---------------------------------------------------------------------------------------- */

/* Steps of training count from 0: draws at this one meet none of theirs. */
static const uint64_t fill_step = UINT64_MAX;

static double uniform(const gn_fill *f, gn_elem elem, uint32_t key, uint32_t site, uint64_t i)
{
    double v = f->a + (f->b - f->a) * (double)gn_random_uniform(key, site, i);
    /* What rounds up to b is not in [a, b): the number before it is. */
    if (elem == GN_F32 && (float)v >= (float)f->b && (float)f->b > (float)f->a)
        return (double)nextafterf((float)f->b, -INFINITY);
    return v;
}

/* Box and Muller, "A note on the generation of random normal deviates", 1958: two draws give
 * elements 2p and 2p + 1. */
static double normal(uint32_t key, uint32_t site, uint64_t i)
{
    uint64_t pair = i & ~(uint64_t)1;
    double u = ((double)gn_random_u32(key, site, pair) + 1) * 0x1p-32; /* (0, 1] */
    double turn = (double)gn_random_u32(key, site, pair + 1) * 0x1p-32 * 6.283185307179586477;
    return sqrt(-2 * log(u)) * (i & 1 ? sin(turn) : cos(turn));
}

double gn_draw_normal(const gn_draws *d, uint64_t i) { return normal(d->key, d->site, i); }

/* The inverse of erf: Giles, "Approximating the erfinv function", 2010, in single precision. */
static double erf_inverse(double x)
{
    static const double middle[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                    -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                    -0.00417768164,  0.246640727,    1.50140941},
                        tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                  -0.00367342844,  0.00573950773,  -0.0076224613,
                                  0.00943887047,   1.00167406,     2.83297682};
    double w = -log((1 - x) * (1 + x)), p = 0;
    const double *c = w < 5 ? middle : tail;
    w = w < 5 ? w - 2.5 : sqrt(w) - 3;
    for (int k = 0; k < 9; k++) p = p * w + c[k];
    return p * x;
}

/* As torch.nn.init.trunc_normal_: a uniform number among the values that the distribution function
 * has there, and the inverse of that. */
static double truncated(const gn_fill *f, uint32_t key, uint32_t site, uint64_t i)
{
    const double root = 1.4142135623730951;
    double u = ((double)gn_random_u32(key, site, i) + 0.5) * 0x1p-32;
    double from = erf((f->low - f->a) / (f->b * root)), to = erf((f->high - f->a) / (f->b * root));
    double v = f->b > 0 ? f->a + f->b * root * erf_inverse(from + (to - from) * u) : f->a;
    return fmin(fmax(v, f->low), f->high);
}

static gn_status *check(const gn_fill *f, gn_elem elem)
{
    bool normal_ones = f->kind == GN_FILL_NORMAL || f->kind == GN_FILL_TRUNC_NORMAL ||
                       f->kind == GN_FILL_SPARSE;
    bool random = f->kind == GN_FILL_UNIFORM || f->kind == GN_FILL_ORTHOGONAL || normal_ones;
    if (random && !gn_elem_is_float(elem))
        GN_FAIL(GN_ERR_USAGE, "random numbers are asked for in %s, which is no float",
                gn_elem_name(elem));
    if (random && !(isfinite(f->a) && isfinite(f->b)))
        GN_FAIL(GN_ERR_USAGE, "random numbers are asked for with %g and %g", f->a, f->b);
    if (f->kind == GN_FILL_UNIFORM && f->b < f->a)
        GN_FAIL(GN_ERR_USAGE, "uniform numbers are asked for from %g up to %g", f->a, f->b);
    if (normal_ones && f->b < 0)
        GN_FAIL(GN_ERR_USAGE, "normal numbers are asked for with deviation %g", f->b);
    if (f->kind == GN_FILL_TRUNC_NORMAL && !(f->low <= f->high))
        GN_FAIL(GN_ERR_USAGE, "normal numbers are asked for from %g up to %g", f->low, f->high);
    return NULL;
}

/* Where the matrix, which lies row by row, has element i of what lies in memory. */
static int64_t place(const gn_fill *f, int64_t n, int64_t i)
{
    if (!f->turned) return i;
    int64_t rest = n / f->turned;
    return i % rest * f->turned + i / rest;
}

static gn_status *fill_matrix(const gn_fill *f, const gn_draws *d, gn_elem elem, int64_t n,
                              void *data)
{
    void *block;
    GN_TRY(gn_block_zeroed(n, sizeof(double), "initial values", &block));
    const double *of = block;
    gn_status *s = gn_fill_matrix(f, d, n, block);
    for (int64_t i = 0; !s && i < n; i++) gn_fill_store(data, elem, i, of[place(f, n, i)]);
    gn_block_free(block);
    return s;
}

gn_status *gn_fill_tensor(gn_fill f, uint64_t seed, const char *name, gn_elem elem, int64_t n,
                          void *data)
{
    GN_TRY(check(&f, elem));
    uint64_t hash = gn_hash_bytes(name, strlen(name), 0);
    gn_draws d = {gn_rng_key(seed, fill_step), (uint32_t)(hash ^ hash >> 32)};
    if (f.kind >= GN_FILL_EYE) return n ? fill_matrix(&f, &d, elem, n, data) : NULL;
    for (int64_t i = 0; i < n; i++) {
        double v = f.kind == GN_FILL_ONES ? 1 : f.kind == GN_FILL_CONSTANT ? f.a : 0;
        if (f.kind == GN_FILL_UNIFORM) v = uniform(&f, elem, d.key, d.site, (uint64_t)i);
        if (f.kind == GN_FILL_NORMAL) v = f.a + f.b * normal(d.key, d.site, (uint64_t)i);
        if (f.kind == GN_FILL_TRUNC_NORMAL) v = truncated(&f, d.key, d.site, (uint64_t)i);
        if (f.kind == GN_FILL_LIST) v = (double)f.list[i];
        gn_fill_store(data, elem, i, v);
    }
    return NULL;
}
