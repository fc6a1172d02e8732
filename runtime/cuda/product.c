#include "runtime/cuda/product.h"

#include "runtime/memory.h"

#include <math.h>
#include <string.h>

struct gn_cuda_blas {
    const gn_cublaslt *library;
    gn_cuda_device *device;
    void *handle;
    gn_device_ptr workspace; /* 0: no product has needed one yet */
};

struct gn_cuda_product {
    gn_cuda_blas *blas;
    gn_cuda_product_shape shape;
    void *desc, *left, *right, *result; /* of the library's product, which is ours turned: see
                                           make_layouts */
    gn_cublaslt_algorithm algorithm;
    size_t workspace_bytes;
};

/* The library ---------------------------------------------------------------------------------- */

/* A call of the library with the device's context current: its own error before the driver's. */
static gn_status *leave(gn_cuda_blas *b, int result, const char *doing)
{
    gn_status *s = gn_cublaslt_error(b->library, result, doing),
              *left = gn_cuda_device_leave(b->device);
    if (!s) return left;
    gn_status_free(left);
    return s;
}

gn_status *gn_cuda_blas_open(const gn_cublaslt *l, gn_cuda_device *d, gn_cuda_blas **out)
{
    void *block, *stream;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_cuda_blas), "cuBLASLt's handle", &block));
    gn_cuda_blas *b = block;
    b->library = l;
    b->device = d;
    gn_status *s = gn_cuda_device_enter(d, &stream);
    if (!s) s = leave(b, l->cublasLtCreate(&b->handle), "starting cuBLASLt");
    if (s) {
        gn_cuda_blas_close(b);
        return s;
    }
    *out = b;
    return NULL;
}

void gn_cuda_blas_close(gn_cuda_blas *b)
{
    void *stream;
    if (!b) return;
    gn_status *s = b->handle ? gn_cuda_device_enter(b->device, &stream) : NULL;
    if (b->handle && !s) {
        (void)b->library->cublasLtDestroy(b->handle);
        s = gn_cuda_device_leave(b->device);
    }
    gn_status_free(s); /* a device that is lost has nothing to end */
    gn_cuda_free(b->device, b->workspace);
    gn_block_free(b);
}

const gn_cublaslt *gn_cuda_blas_about(const gn_cuda_blas *b) { return b->library; }

static gn_status *need_workspace(gn_cuda_blas *b)
{
    if (b->workspace) return NULL;
    return gn_cuda_alloc(b->device, GN_CUDA_WORKSPACE_BYTES, "cuBLASLt's workspace", &b->workspace);
}

/* Products ------------------------------------------------------------------------------------- */

static int set_desc(const gn_cuda_product *p, int which, const void *value, size_t bytes)
{
    return p->blas->library->cublasLtMatmulDescSetAttribute(p->desc, which, value, bytes);
}

/* The library's matrices lie column by column.  Ours row by row are theirs turned, so it is asked
 * for the turned product: its columns are our rows, its left operand is our b, and a bias along our
 * columns is what its epilogue adds to each of its columns. */
static int make_layouts(gn_cuda_product *p)
{
    const gn_cublaslt *l = p->blas->library;
    const gn_cuda_product_shape *s = &p->shape;
    uint64_t rows = (uint64_t)s->rows, cols = (uint64_t)s->cols, depth = (uint64_t)s->depth;
    bool left = s->b_col != 1, right = s->a_term != 1; /* turned in memory */
    int32_t turned = GN_CUBLASLT_OP_T;
    int e = left ? l->cublasLtMatrixLayoutCreate(&p->left, GN_CUBLASLT_F32, depth, cols, s->b_col)
                 : l->cublasLtMatrixLayoutCreate(&p->left, GN_CUBLASLT_F32, cols, depth, s->b_term);
    if (!e)
        e = right
                ? l->cublasLtMatrixLayoutCreate(&p->right, GN_CUBLASLT_F32, rows, depth, s->a_term)
                : l->cublasLtMatrixLayoutCreate(&p->right, GN_CUBLASLT_F32, depth, rows, s->a_row);
    if (!e) e = l->cublasLtMatrixLayoutCreate(&p->result, GN_CUBLASLT_F32, cols, rows, s->cols);
    if (!e && left) e = set_desc(p, GN_CUBLASLT_DESC_TRANSA, &turned, sizeof turned);
    if (!e && right) e = set_desc(p, GN_CUBLASLT_DESC_TRANSB, &turned, sizeof turned);
    return e;
}

static int describe(gn_cuda_product *p, gn_device_ptr bias)
{
    const gn_cuda_product_shape *s = &p->shape;
    uint32_t epilogue = s->bias ? (uint32_t)GN_CUBLASLT_EPILOGUE_BIAS : 0;
    if (s->relu) epilogue |= (uint32_t)GN_CUBLASLT_EPILOGUE_RELU;
    if (!epilogue) epilogue = GN_CUBLASLT_EPILOGUE_DEFAULT;
    int e = p->blas->library->cublasLtMatmulDescCreate(&p->desc, s->compute, GN_CUBLASLT_F32);
    if (!e) e = make_layouts(p);
    if (!e) e = set_desc(p, GN_CUBLASLT_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (!e && s->bias) e = set_desc(p, GN_CUBLASLT_DESC_BIAS, &bias, sizeof bias);
    return e;
}

static int set_preference(const gn_cublaslt *l, void *preference)
{
    uint64_t workspace = GN_CUDA_WORKSPACE_BYTES;
    uint32_t reduction = GN_CUBLASLT_REDUCTION_COMPUTE, alignment = 16;
    int e = l->cublasLtMatmulPreferenceSetAttribute(preference, GN_CUBLASLT_PREF_WORKSPACE,
                                                    &workspace, sizeof workspace);
    if (!e)
        e = l->cublasLtMatmulPreferenceSetAttribute(preference, GN_CUBLASLT_PREF_REDUCTION,
                                                    &reduction, sizeof reduction);
    for (int which = GN_CUBLASLT_PREF_ALIGN_A; !e && which <= GN_CUBLASLT_PREF_ALIGN_D; which++)
        e = l->cublasLtMatmulPreferenceSetAttribute(preference, which, &alignment,
                                                    sizeof alignment);
    return e;
}

/* *n: how many algorithms the heuristic found, 0 or 1. */
static int find_algorithm(gn_cuda_product *p, int *n)
{
    const gn_cublaslt *l = p->blas->library;
    gn_cublaslt_found found = {0};
    void *preference = NULL;
    *n = 0;
    int e = l->cublasLtMatmulPreferenceCreate(&preference);
    if (e) return e;
    e = set_preference(l, preference);
    if (!e)
        e = l->cublasLtMatmulAlgoGetHeuristic(p->blas->handle, p->desc, p->left, p->right,
                                              p->result, p->result, preference, 1, &found, n);
    if (!e && *n) e = found.state;
    p->algorithm = found.algorithm;
    p->workspace_bytes = found.workspace_bytes;
    (void)l->cublasLtMatmulPreferenceDestroy(preference);
    return e;
}

static gn_status *prepare(gn_cuda_product *p, gn_device_ptr bias)
{
    void *stream;
    int n = 0;
    GN_TRY(gn_cuda_device_enter(p->blas->device, &stream));
    int e = describe(p, bias);
    if (!e) e = find_algorithm(p, &n);
    GN_TRY(leave(p->blas, e, "asking for a product"));
    const gn_cuda_product_shape *s = &p->shape;
    if (n < 1 || p->workspace_bytes > GN_CUDA_WORKSPACE_BYTES)
        GN_FAIL(GN_ERR_BACKEND,
                "cuBLASLt has no algorithm for a product of %lld x %lld by %lld x %lld",
                (long long)s->rows, (long long)s->depth, (long long)s->depth, (long long)s->cols);
    return p->workspace_bytes ? need_workspace(p->blas) : NULL;
}

gn_status *gn_cuda_product_new(gn_cuda_blas *b, const gn_cuda_product_shape *shape,
                               gn_device_ptr bias, gn_cuda_product **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_cuda_product), "a product", &block));
    gn_cuda_product *p = block;
    p->blas = b;
    p->shape = *shape;
    gn_status *s = prepare(p, bias);
    if (s) {
        gn_cuda_product_free(p);
        return s;
    }
    *out = p;
    return NULL;
}

void gn_cuda_product_free(gn_cuda_product *p)
{
    if (!p) return;
    const gn_cublaslt *l = p->blas->library;
    if (p->result) (void)l->cublasLtMatrixLayoutDestroy(p->result);
    if (p->right) (void)l->cublasLtMatrixLayoutDestroy(p->right);
    if (p->left) (void)l->cublasLtMatrixLayoutDestroy(p->left);
    if (p->desc) (void)l->cublasLtMatmulDescDestroy(p->desc);
    gn_block_free(p);
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    return (h ^ word) * 1099511628211u;
} /* FNV-1a, a word at a time */

uint64_t gn_cuda_product_digest(const gn_cuda_product *p)
{
    const gn_cuda_product_shape *s = &p->shape;
    const int64_t sizes[] = {s->rows,   s->cols,  s->depth, s->a_row, s->a_term,
                             s->b_term, s->b_col, s->bias,  s->relu,  s->compute};
    uint64_t h = 14695981039346656037u;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) h = mix(h, (uint64_t)sizes[k]);
    for (int k = 0; k < 8; k++) h = mix(h, p->algorithm.data[k]);
    return h;
}

static gn_status *run_scaled(gn_cuda_product *p, float scale, gn_device_ptr out, gn_device_ptr a,
                             gn_device_ptr b, gn_device_ptr bias)
{
    static const float zero = 0;
    const gn_cublaslt *l = p->blas->library;
    void *stream, *to = (void *)(uintptr_t)out, *workspace = (void *)(uintptr_t)p->blas->workspace;
    GN_TRY(gn_cuda_device_enter(p->blas->device, &stream));
    int e = p->shape.bias ? set_desc(p, GN_CUBLASLT_DESC_BIAS, &bias, sizeof bias) : GN_CUBLASLT_OK;
    if (!e)
        e = l->cublasLtMatmul(p->blas->handle, p->desc, &scale, (const void *)(uintptr_t)b, p->left,
                              (const void *)(uintptr_t)a, p->right, &zero, to, p->result, to,
                              p->result, &p->algorithm, p->workspace_bytes ? workspace : NULL,
                              p->workspace_bytes, stream);
    return leave(p->blas, e, "a product by cuBLASLt");
}

gn_status *gn_cuda_product_run(gn_cuda_product *p, gn_device_ptr out, gn_device_ptr a,
                               gn_device_ptr b, gn_device_ptr bias)
{
    return run_scaled(p, 1, out, a, b, bias);
}

gn_status *gn_cuda_product_keeps_nan(gn_cuda_product *p, gn_device_ptr out, gn_device_ptr a,
                                     gn_device_ptr b, gn_device_ptr bias, bool *keeps)
{
    float first = 0;
    GN_TRY(run_scaled(p, NAN, out, a, b, bias));
    GN_TRY(gn_cuda_download(p->blas->device, &first, out, sizeof first));
    *keeps = isnan(first);
    return NULL;
}
