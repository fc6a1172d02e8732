/* Compared with NVIDIA's header, where there is one: constants, sizes and offsets, and types of
 * functions that runtime/cuda/cublaslt.h declares.  Nothing of it runs. */
#include "runtime/cuda/cublaslt.h"

#include <cublasLt.h>

#define X(ours, nvidia, value) _Static_assert((int)(nvidia) == (value), #nvidia);
GN_CUBLASLT_CONSTANTS(X)
#undef X

#define SAME(ours, member, nvidia, theirs)                                                         \
    _Static_assert(offsetof(ours, member) == offsetof(nvidia, theirs), #nvidia "." #theirs);       \
    _Static_assert(sizeof(((ours *)0)->member) == sizeof(((nvidia *)0)->theirs),                   \
                   #nvidia "." #theirs);

_Static_assert(sizeof(gn_cublaslt_algorithm) == sizeof(cublasLtMatmulAlgo_t),
               "cublasLtMatmulAlgo_t");
_Static_assert(sizeof(gn_cublaslt_found) == sizeof(cublasLtMatmulHeuristicResult_t),
               "cublasLtMatmulHeuristicResult_t");
SAME(gn_cublaslt_found, algorithm, cublasLtMatmulHeuristicResult_t, algo)
SAME(gn_cublaslt_found, workspace_bytes, cublasLtMatmulHeuristicResult_t, workspaceSize)
SAME(gn_cublaslt_found, state, cublasLtMatmulHeuristicResult_t, state)

_Static_assert(sizeof(cublasComputeType_t) == sizeof(int) && sizeof(cudaDataType) == sizeof(int) &&
                   sizeof(cublasStatus_t) == sizeof(int) &&
                   sizeof(cublasOperation_t) == sizeof(int32_t) &&
                   sizeof(cublasLtEpilogue_t) == sizeof(uint32_t),
               "enumerations are integers");

/* Each is called as cublaslt.h says; a header of other types would not compile. */
int gn_cublaslt_header(void *p, void **pp, const void *c, size_t n);
int gn_cublaslt_header(void *p, void **pp, const void *c, size_t n)
{
    int e = (int)cublasLtGetVersion() + (cublasLtGetStatusString((cublasStatus_t)0) != NULL);
    e += (int)cublasLtCreate((cublasLtHandle_t *)(void *)pp) +
         (int)cublasLtDestroy((cublasLtHandle_t)p);
    e += (int)cublasLtMatmulDescCreate((cublasLtMatmulDesc_t *)(void *)pp, (cublasComputeType_t)0,
                                       (cudaDataType)0);
    e += (int)cublasLtMatmulDescDestroy(p) +
         (int)cublasLtMatmulDescSetAttribute(p, (cublasLtMatmulDescAttributes_t)0, c, n);
    e += (int)cublasLtMatrixLayoutCreate((cublasLtMatrixLayout_t *)(void *)pp, (cudaDataType)0,
                                         (uint64_t)n, (uint64_t)n, (int64_t)n);
    e += (int)cublasLtMatrixLayoutDestroy(p);
    e += (int)cublasLtMatmulPreferenceCreate((cublasLtMatmulPreference_t *)(void *)pp);
    e += (int)cublasLtMatmulPreferenceDestroy(p);
    e += (int)cublasLtMatmulPreferenceSetAttribute(p, (cublasLtMatmulPreferenceAttributes_t)0, c,
                                                   n);
    e += (int)cublasLtMatmulAlgoGetHeuristic(p, p, p, p, p, p, p, 1, p, p);
    return e + (int)cublasLtMatmul(p, p, c, c, p, c, p, c, c, p, p, p, c, p, n, p);
}
