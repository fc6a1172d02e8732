/* A cuBLASLt over the fake driver's memory: the functions of runtime/cuda/cublaslt.h, computed on
 * the host.
 *
 * Strict where the real one is lenient: matrices that leave what is allocated, leading dimensions
 * that are too small, addresses less aligned than was said, a call without a context, an algorithm
 * of another product, reductions by atomics, attributes of the wrong size are noted as faults of
 * the driver.  Sums are taken from the last term to the first: bits differ from a kernel's, so that
 * it shows who made a product. */
#include "fake_cublaslt.h"
#include "fake_driver.h"

#include "runtime/cuda/cublaslt.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define API(result, name, ...)                                                                     \
    EXPORT result name(__VA_ARGS__);                                                               \
    EXPORT result name(__VA_ARGS__)

enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, WORKSPACE = 4096 };

typedef struct object {
    enum { HANDLE, DESC, LAYOUT, PREFERENCE } kind;
    struct object *next;
    int compute, transposed[2]; /* DESC */
    uint32_t epilogue;
    uint64_t bias;
    uint64_t rows, cols; /* LAYOUT */
    int64_t ld;
    uint64_t workspace; /* PREFERENCE */
    uint32_t reduction, alignment[4];
} object;

static object *objects;
static fake_lt_trick trick;
static int fail_nth, fail_result, products;

static fake_call_fn *call;
static fake_current_fn *current;
static fake_within_fn *within;
static fake_misuse_fn *misuse;

static void find_driver(void)
{
    void *driver = dlopen(getenv("GNNC_FAKE_CUDA"), RTLD_NOW);
    void *at[] = {
        driver ? dlsym(driver, "fake_call") : NULL, driver ? dlsym(driver, "fake_current") : NULL,
        driver ? dlsym(driver, "fake_within") : NULL, driver ? dlsym(driver, "fake_misuse") : NULL};
    memcpy(&call, &at[0], sizeof call);
    memcpy(&current, &at[1], sizeof current);
    memcpy(&within, &at[2], sizeof within);
    memcpy(&misuse, &at[3], sizeof misuse);
}

static int ordered(void) { return fail_nth && --fail_nth == 0 ? fail_result : OK; }
#define ENTER()                                                                                    \
    do {                                                                                           \
        int ordered_ = ordered();                                                                  \
        if (ordered_) return ordered_;                                                             \
    } while (0)

static int wrong(const char *what)
{
    misuse(what);
    return INVALID_VALUE;
}

static int make(int kind, void **out)
{
    object *o = calloc(1, sizeof *o);
    o->kind = kind;
    o->next = objects;
    objects = o;
    *out = o;
    return OK;
}

static object *find(const void *at, int kind)
{
    for (object *o = objects; o; o = o->next)
        if (o == at && (int)o->kind == kind) return o;
    misuse("an object of cuBLASLt that is none");
    return NULL;
}

static int end(void *at, int kind)
{
    object *o = find(at, kind);
    if (!o) return INVALID_VALUE;
    object **p = &objects;
    while (*p != o) p = &(*p)->next;
    *p = o->next;
    free(o);
    return OK;
}

/* Orders --------------------------------------------------------------------------------------- */

EXPORT void fake_lt_fail(int nth, int result);
EXPORT void fake_lt_fail(int nth, int result)
{
    fail_nth = nth;
    fail_result = result;
}

EXPORT int fake_lt_alive(void);
EXPORT int fake_lt_alive(void)
{
    int n = 0;
    for (object *o = objects; o; o = o->next) n++;
    return n;
}

EXPORT int fake_lt_products(void);
EXPORT int fake_lt_products(void) { return products; }

EXPORT void fake_lt_order(int what);
EXPORT void fake_lt_order(int what) { trick = (fake_lt_trick)what; }

/* The library ---------------------------------------------------------------------------------- */

API(size_t, cublasLtGetVersion, void)
{
    const char *said = getenv("FAKE_CUBLASLT_VERSION");
    return said ? (size_t)atoi(said) : 130100;
}

API(const char *, cublasLtGetStatusString, int status)
{
    (void)status;
    return "ordered by a test";
}

API(int, cublasLtCreate, void **handle)
{
    if (!call) find_driver();
    if (!call || !current || !within || !misuse) return NOT_INITIALIZED;
    ENTER();
    if (!current()) return wrong("cuBLASLt without a current context");
    return make(HANDLE, handle);
}

API(int, cublasLtDestroy, void *handle) { return end(handle, HANDLE); }

API(int, cublasLtMatmulDescCreate, void **desc, int compute, int scale)
{
    ENTER();
    if (scale != GN_CUBLASLT_F32) return wrong("a scale that is not float32");
    if (compute != GN_CUBLASLT_COMPUTE_F32 && compute != GN_CUBLASLT_COMPUTE_TF32 &&
        compute != GN_CUBLASLT_COMPUTE_BF16)
        return wrong("a product of no precision");
    int e = make(DESC, desc);
    ((object *)*desc)->compute = compute;
    ((object *)*desc)->epilogue = GN_CUBLASLT_EPILOGUE_DEFAULT;
    return e;
}

API(int, cublasLtMatmulDescDestroy, void *desc) { return end(desc, DESC); }

static int take(void *to, size_t size, const void *value, size_t bytes)
{
    if (bytes != size) return wrong("an attribute of the wrong size");
    memcpy(to, value, size);
    return OK;
}

API(int, cublasLtMatmulDescSetAttribute, void *desc, int which, const void *value, size_t bytes)
{
    ENTER();
    object *o = find(desc, DESC);
    if (!o) return INVALID_VALUE;
    switch (which) {
    case GN_CUBLASLT_DESC_TRANSA:
        return take(&o->transposed[0], sizeof o->transposed[0], value, bytes);
    case GN_CUBLASLT_DESC_TRANSB:
        return take(&o->transposed[1], sizeof o->transposed[1], value, bytes);
    case GN_CUBLASLT_DESC_EPILOGUE: return take(&o->epilogue, sizeof o->epilogue, value, bytes);
    case GN_CUBLASLT_DESC_BIAS: return take(&o->bias, sizeof o->bias, value, bytes);
    default: return wrong("an attribute that is none");
    }
}

API(int, cublasLtMatrixLayoutCreate, void **layout, int type, uint64_t rows, uint64_t cols,
    int64_t ld)
{
    ENTER();
    if (type != GN_CUBLASLT_F32 || !rows || !cols || ld < (int64_t)rows)
        return wrong("a matrix that is none");
    int e = make(LAYOUT, layout);
    object *o = *layout;
    o->rows = rows;
    o->cols = cols;
    o->ld = ld;
    return e;
}

API(int, cublasLtMatrixLayoutDestroy, void *layout) { return end(layout, LAYOUT); }

API(int, cublasLtMatmulPreferenceCreate, void **preference)
{
    ENTER();
    int e = make(PREFERENCE, preference);
    object *o = *preference;
    o->reduction = 7;
    for (int k = 0; k < 4; k++) o->alignment[k] = 256;
    return e;
}

API(int, cublasLtMatmulPreferenceDestroy, void *preference) { return end(preference, PREFERENCE); }

API(int, cublasLtMatmulPreferenceSetAttribute, void *preference, int which, const void *value,
    size_t bytes)
{
    ENTER();
    object *o = find(preference, PREFERENCE);
    if (!o) return INVALID_VALUE;
    int matrix = which - GN_CUBLASLT_PREF_ALIGN_A;
    if (which == GN_CUBLASLT_PREF_WORKSPACE)
        return take(&o->workspace, sizeof o->workspace, value, bytes);
    if (which == GN_CUBLASLT_PREF_REDUCTION)
        return take(&o->reduction, sizeof o->reduction, value, bytes);
    if (matrix < 0 || matrix > 3) return wrong("a preference that is none");
    return take(&o->alignment[matrix], sizeof o->alignment[matrix], value, bytes);
}

/* Products ------------------------------------------------------------------------------------- */

typedef struct work { /* words */
    uint64_t a, b, d, bias, workspace;
    int64_t m, n, k, lda, ldb, ldd;
    uint64_t turned_a, turned_b, epilogue, compute, no_number;
} work;

static uint64_t digest(const object *desc, const object *a, const object *b, const object *d)
{
    uint64_t h = (uint64_t)desc->compute * 31 + desc->epilogue;
    const object *all[] = {a, b, d};
    for (int k = 0; k < 3; k++)
        h = ((h * 31 + all[k]->rows) * 31 + all[k]->cols) * 31 + (uint64_t)all[k]->ld;
    return h * 4 + (uint64_t)desc->transposed[0] * 2 + (uint64_t)desc->transposed[1];
}

/* Sizes of a product; false: the matrices do not fit each other. */
static bool sizes(const object *desc, const object *a, const object *b, const object *d, work *w)
{
    bool ta = desc->transposed[0] != 0, tb = desc->transposed[1] != 0;
    w->m = (int64_t)(ta ? a->cols : a->rows);
    w->k = (int64_t)(ta ? a->rows : a->cols);
    w->n = (int64_t)(tb ? b->rows : b->cols);
    return (int64_t)(tb ? b->cols : b->rows) == w->k && (int64_t)d->rows == w->m &&
           (int64_t)d->cols == w->n;
}

API(int, cublasLtMatmulAlgoGetHeuristic, void *handle, void *desc, void *a, void *b, void *c,
    void *d, void *preference, int asked, gn_cublaslt_found *found, int *n)
{
    ENTER();
    work w;
    const object *p = find(preference, PREFERENCE), *o = find(desc, DESC), *la = find(a, LAYOUT),
                 *lb = find(b, LAYOUT);
    const object *ld = find(d, LAYOUT);
    if (!find(handle, HANDLE) || !p || !o || !la || !lb || !ld || c != d || asked < 1)
        return INVALID_VALUE;
    if (!current()) return wrong("cuBLASLt without a current context");
    if (!sizes(o, la, lb, ld, &w)) return wrong("matrices that do not fit each other");
    if (p->reduction & ~(uint32_t)GN_CUBLASLT_REDUCTION_COMPUTE)
        return wrong("sums that depend on who comes first");
    for (int k = 0; k < 4; k++)
        if (p->alignment[k] != 16) return wrong("matrices that are more or less aligned than ours");
    *n = trick != FAKE_LT_NOTHING;
    if (!*n) return OK;
    memset(found, 0, sizeof *found);
    found->algorithm.data[0] = digest(o, la, lb, ld);
    found->workspace_bytes = w.k > 32 && WORKSPACE <= p->workspace ? WORKSPACE : 0;
    return OK;
}

/* To so many bits fewer. */
static float rounded(float x, int less)
{
    uint32_t bits;
    if (!less) return x;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + (1u << (less - 1))) >> less << less;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int run(const void *values)
{
    const work *w = values;
    const float *a = (const float *)(uintptr_t)w->a, *b = (const float *)(uintptr_t)w->b,
                *bias = (const float *)(uintptr_t)w->bias;
    float *d = (float *)(uintptr_t)w->d;
    int less = w->compute == GN_CUBLASLT_COMPUTE_TF32   ? 13
               : w->compute == GN_CUBLASLT_COMPUTE_BF16 ? 16
                                                        : 0;
    products++;
    if (w->workspace) memset((void *)(uintptr_t)w->workspace, 0xEE, WORKSPACE);
    for (int64_t j = 0; j < w->n; j++)
        for (int64_t i = 0; i < w->m; i++) {
            float sum = 0;
            for (int64_t s = w->k; s-- > 0;) {
                float x = a[w->turned_a ? s + i * w->lda : i + s * w->lda];
                float y = b[w->turned_b ? j + s * w->ldb : s + j * w->ldb];
                sum = fmaf(rounded(x, less), rounded(y, less), sum);
            }
            if (w->epilogue & GN_CUBLASLT_EPILOGUE_BIAS) sum += bias[i];
            if (w->no_number) sum = NAN;
            if (w->epilogue & GN_CUBLASLT_EPILOGUE_RELU &&
                (trick == FAKE_LT_NO_NAN ? !(sum > 0) : sum <= 0))
                sum = 0;
            d[i + j * w->ldd] = trick == FAKE_LT_WRONG ? sum + 1 : sum;
        }
    return OK;
}

static bool lies(const object *m, const void *at)
{
    unsigned long long elems = (m->cols - 1) * (uint64_t)m->ld + m->rows;
    if ((uintptr_t)at % 16) return false;
    return within((uintptr_t)at, elems * sizeof(float));
}

API(int, cublasLtMatmul, void *handle, void *desc, const void *alpha, const void *a, void *a_layout,
    const void *b, void *b_layout, const void *beta, const void *c, void *c_layout, void *d,
    void *d_layout, const gn_cublaslt_algorithm *algorithm, void *workspace, size_t workspace_bytes,
    void *stream)
{
    ENTER();
    const object *o = find(desc, DESC), *la = find(a_layout, LAYOUT), *lb = find(b_layout, LAYOUT);
    const object *ld = find(d_layout, LAYOUT);
    work w = {(uintptr_t)a, (uintptr_t)b, (uintptr_t)d, 0, (uintptr_t)workspace};
    if (!find(handle, HANDLE) || !o || !la || !lb || !ld || c != d || c_layout != d_layout)
        return INVALID_VALUE;
    if (!current()) return wrong("cuBLASLt without a current context");
    float scale = *(const float *)alpha;
    if ((scale != 1 && !isnan(scale)) || *(const float *)beta != 0)
        return wrong("a product that is scaled by a number");
    if (algorithm->data[0] != digest(o, la, lb, ld))
        return wrong("an algorithm of another product");
    if (!sizes(o, la, lb, ld, &w)) return wrong("matrices that do not fit each other");
    if (!lies(la, a) || !lies(lb, b) || !lies(ld, d))
        return wrong("a matrix outside of what is allocated");
    if (w.k > 32 && (workspace_bytes < WORKSPACE || !within(w.workspace, workspace_bytes)))
        return wrong("a workspace that is none");
    if (o->epilogue & GN_CUBLASLT_EPILOGUE_BIAS &&
        (!o->bias || !within(o->bias, (uint64_t)w.m * sizeof(float))))
        return wrong("a bias outside of what is allocated");
    w.bias = o->bias;
    w.lda = la->ld;
    w.ldb = lb->ld;
    w.ldd = ld->ld;
    w.turned_a = o->transposed[0] != 0;
    w.turned_b = o->transposed[1] != 0;
    w.epilogue = o->epilogue;
    w.compute = (uint64_t)o->compute;
    w.no_number = isnan(scale);
    return call(stream, run, &w, sizeof w / sizeof(uint64_t)) ? 14 : OK;
}
