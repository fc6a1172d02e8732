#include "runtime/cuda/cublaslt.h"

#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

/* All symbols, or which is missing. */
static const char *bind(void *ctx, void *library)
{
    gn_cublaslt *l = ctx;
    void *at;
#define X(result, name, args)                                                                      \
    if (!(at = dlsym(library, #name))) return "no symbol " #name;                                  \
    _Static_assert(sizeof at == sizeof l->name, "functions are pointers");                         \
    memcpy(&l->name, &at, sizeof at);
    GN_CUBLASLT(X)
#undef X
    l->version = (int)l->cublasLtGetVersion();
    return l->version < 120000 ? "older than 12" : NULL;
}

gn_status *gn_cublaslt_open(gn_cublaslt *out)
{
    gn_library found;
    gn_library_wish wish = {.variable = "GNNC_CUBLASLT",
                            .name = "libcublasLt.so",
                            .version = {13, 12},
                            .wheel = "cublas",
                            .why_not = bind,
                            .ctx = out};
    *out = (gn_cublaslt){0};
    bool there = gn_library_find(&wish, &found);
    memcpy(out->path, found.path, sizeof out->path);
    if (there) return NULL;
    GN_FAIL(
        GN_ERR_BACKEND,
        "no cuBLASLt, which may make products of matrices instead of kernels; looked for:%s\nit "
        "comes with the CUDA "
        "toolkit 12 or 13, or from PyPI: pip install nvidia-cublas; GNNC_CUBLASLT=FILE names it",
        found.tried);
}

gn_status *gn_cublaslt_error(const gn_cublaslt *l, int result, const char *doing)
{
    if (result == GN_CUBLASLT_OK) return NULL;
    const char *text = l->cublasLtGetStatusString(result);
    GN_FAIL(result == GN_CUBLASLT_NO_MEMORY ? GN_ERR_NOMEM : GN_ERR_BACKEND,
            "%s: cuBLASLt %d.%d says %s (%d)", doing, l->version / 10000, l->version % 10000 / 100,
            text ? text : "an error", result);
}
