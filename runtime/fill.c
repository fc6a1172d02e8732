#include "runtime/fill.h"
#include "base/map.h"
#include "base/philox.h"

#include <math.h>
#include <string.h>

/* Element types ---------------------------------------------------------------------------------------------------- */

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* v, narrowed so that a further rounding to `bits` significand bits or more is as if it had been the only one: inexact
 * results get their last bit set (rounding to odd). */
static float narrow_odd(double v)
{
    float f = (float)v;
    if ((double)f == v || isnan(v) || isinf(f)) return f;
    uint32_t u = bits_of(f);
    if (u & 1) return f;
    return float_of(fabs((double)f) < fabs(v) ? u + 1 : u - 1);
}

static uint16_t bf16_of(double v)
{
    uint32_t u = bits_of(narrow_odd(v));
    if (isnan(v)) return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static uint16_t f16_of(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    if (isnan(v)) return (uint16_t)(sign | 0x7e00);
    if (a >= 65520) return (uint16_t)(sign | 0x7c00);
    if (a < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)nearbyint(a * 0x1p24)); /* subnormals; 0x400 is the first normal */
    int e;
    double m = frexp(a, &e); /* [0.5, 1) */
    return (uint16_t)(sign | (uint16_t)(((e + 14) << 10) + (int)nearbyint(m * 2048) - 1024));
}

static double f16_value(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double a = e == 31 ? (m ? (double)NAN : (double)INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -a : a;
}

static int64_t integer(double v, double least, double most)
{
    if (isnan(v)) return 0;
    return v <= least ? (int64_t)least : v >= most ? (most >= 0x1p63 ? INT64_MAX : (int64_t)most) : (int64_t)v;
}

void gn_fill_store(void *data, gn_elem elem, int64_t i, double v)
{
    switch (elem) {
    case GN_F32: ((float *)data)[i] = (float)v; break;
    case GN_F64: ((double *)data)[i] = v; break;
    case GN_BF16: ((uint16_t *)data)[i] = bf16_of(v); break;
    case GN_F16: ((uint16_t *)data)[i] = f16_of(v); break;
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
    case GN_BF16: return (double)float_of((uint32_t)((const uint16_t *)data)[i] << 16);
    case GN_F16: return f16_value(((const uint16_t *)data)[i]);
    case GN_I32: return ((const int32_t *)data)[i];
    case GN_I64: return (double)((const int64_t *)data)[i];
    case GN_U32: return ((const uint32_t *)data)[i];
    case GN_U8:
    case GN_BOOL: return ((const uint8_t *)data)[i];
    case GN_ELEM_COUNT: break;
    }
    return 0;
}

/* Draws ------------------------------------------------------------------------------------------------------------ */

/* Steps of training count from 0: draws at this one meet none of theirs. */
static const uint64_t fill_step = UINT64_MAX;

static double uniform(const gn_fill *f, gn_elem elem, uint32_t key, uint32_t site, uint64_t i)
{
    double v = f->a + (f->b - f->a) * (double)gn_random_uniform(key, site, i);
    /* What rounds up to b is not in [a, b): the number before it is. */
    if (elem == GN_F32 && (float)v >= (float)f->b && f->b > f->a) return (double)nextafterf((float)f->b, -INFINITY);
    return v;
}

/* Box and Muller, "A note on the generation of random normal deviates", 1958: two draws give elements 2p and 2p + 1. */
static double normal(uint32_t key, uint32_t site, uint64_t i)
{
    uint64_t pair = i & ~(uint64_t)1;
    double u = ((double)gn_random_u32(key, site, pair) + 1) * 0x1p-32; /* (0, 1] */
    double turn = (double)gn_random_u32(key, site, pair + 1) * 0x1p-32 * 6.283185307179586477;
    return sqrt(-2 * log(u)) * (i & 1 ? sin(turn) : cos(turn));
}

static gn_status *check(const gn_fill *f, gn_elem elem)
{
    bool random = f->kind == GN_FILL_UNIFORM || f->kind == GN_FILL_NORMAL;
    if (random && !gn_elem_is_float(elem))
        GN_FAIL(GN_ERR_USAGE, "random numbers are asked for in %s, which is no float", gn_elem_name(elem));
    if (random && !(isfinite(f->a) && isfinite(f->b)))
        GN_FAIL(GN_ERR_USAGE, "random numbers are asked for with %g and %g", f->a, f->b);
    if (f->kind == GN_FILL_UNIFORM && f->b < f->a)
        GN_FAIL(GN_ERR_USAGE, "uniform numbers are asked for from %g up to %g", f->a, f->b);
    if (f->kind == GN_FILL_NORMAL && f->b < 0)
        GN_FAIL(GN_ERR_USAGE, "normal numbers are asked for with deviation %g", f->b);
    return NULL;
}

gn_status *gn_fill_tensor(gn_fill f, uint64_t seed, const char *name, gn_elem elem, int64_t n, void *data)
{
    GN_TRY(check(&f, elem));
    uint64_t hash = gn_hash_bytes(name, strlen(name), 0);
    uint32_t key = gn_rng_key(seed, fill_step), site = (uint32_t)(hash ^ hash >> 32);
    for (int64_t i = 0; i < n; i++) {
        double v = f.kind == GN_FILL_ONES ? 1 : f.kind == GN_FILL_CONSTANT ? f.a : 0;
        if (f.kind == GN_FILL_UNIFORM) v = uniform(&f, elem, key, site, (uint64_t)i);
        if (f.kind == GN_FILL_NORMAL) v = f.a + f.b * normal(key, site, (uint64_t)i);
        gn_fill_store(data, elem, i, v);
    }
    return NULL;
}
