/* NVRTC, NVIDIA's compiler as a library, found and loaded when it is first asked for. */
#ifndef GN_CODEGEN_CUDA_NVRTC_H
#define GN_CODEGEN_CUDA_NVRTC_H

#include "base/arena.h"
#include "base/status.h"

typedef struct gn_nvrtc {
    void *library;
    char path[256]; /* by which it was found */
    int major, minor;
#define NV(name, types) int(*name) types;
#include "codegen/cuda/nvrtc.def"
#undef NV
    const char *(*error_string)(int);
} gn_nvrtc;

/* $GNNC_NVRTC, or what is found in the usual places (base/library.h).  GN_ERR_BACKEND names what
 * was tried and how to get it.  The library stays in memory. Thread-safe. */
GN_NODISCARD gn_status *gn_nvrtc_open(gn_nvrtc *out);

/* Can it make code for sm_<arch>? */
bool gn_nvrtc_makes(const gn_nvrtc *n, int arch);
/* "sm_75 sm_80 ..." */
void gn_nvrtc_archs(const gn_nvrtc *n, gn_buf *out);

typedef enum gn_nvrtc_output {
    GN_NVRTC_CUBIN,
    GN_NVRTC_QUICK_CUBIN, /* less optimised */
    GN_NVRTC_QUICK_PIECE, /* the same of relocatable code, to be linked */
    GN_NVRTC_PTX,
    GN_NVRTC_QUICK_PTX
} gn_nvrtc_output;

/* Compiles a program.  *bytes and *log are malloc'd: code, and what the compiler says (of a cubin
 * the resources of each kernel), which is there on failure too; either may be NULL.
 * GN_ERR_BACKEND: an architecture that this NVRTC does not know; GN_ERR_INTERNAL: with its
 * words. */
GN_NODISCARD gn_status *gn_nvrtc_compile(const gn_nvrtc *n, const char *source, int arch,
                                         gn_nvrtc_output what, unsigned char **bytes, size_t *size,
                                         char **log);

#endif
