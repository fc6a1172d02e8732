/* nvJitLink, NVIDIA's linker as a library, found and loaded when it is first asked for. */
#ifndef GN_CODEGEN_CUDA_NVJITLINK_H
#define GN_CODEGEN_CUDA_NVJITLINK_H

#include "base/arena.h"
#include "base/status.h"

typedef struct gn_nvjitlink {
    void *library;
    char path[256]; /* by which it was found */
    unsigned major, minor;
#define JL(name, types) int(*name) types;
#include "codegen/cuda/nvjitlink.def"
#undef JL
} gn_nvjitlink;

/* $GNNC_NVJITLINK, or what is found in the usual places (base/library.h): of the same CUDA as an
 * NVRTC of that version, and not older.  GN_ERR_BACKEND names what was tried and how to get it, or
 * that NVRTC is older than 13, which compiles nothing quickly. The library stays in memory.
 * Thread-safe. */
GN_NODISCARD gn_status *gn_nvjitlink_open(int nvrtc_major, int nvrtc_minor, gn_nvjitlink *out);

/* Links n cubins of relocatable code for sm_<arch>.  *code and *log are malloc'd: a cubin, and what
 * the linker says of its kernels' resources; either may be NULL.  GN_ERR_INTERNAL: with its
 * words. */
GN_NODISCARD gn_status *gn_nvjitlink_link(const gn_nvjitlink *l, int n, const void *const *cubin,
                                          const size_t *bytes, int arch, unsigned char **code,
                                          size_t *size, char **log);

#endif
