/* Programs to code for a GPU: cubins with what launches need, through the cache. */
#ifndef GN_TARGET_CUDA_CODE_H
#define GN_TARGET_CUDA_CODE_H

#include "codegen/cuda/cuda.h"
#include "compile/compile.h"

/* Kernel k of program p is gn_kernel_<place[p][k].kernel> of objects[place[p][k].object].  A
 * program in one kernel is gn_kernel_0 of objects[whole[p]]; its kernels' places are those of their
 * phases, of which an object tells the geometry. */
typedef struct gn_cuda_place {
    int object, kernel;
} gn_cuda_place;

typedef struct gn_cuda_objects {
    int n_objects, n_programs;
    gn_code_object *objects; /* gn_cuda_object_view reads them */
    gn_cuda_place **place;   /* in the arena */
    int *whole;              /* [n_programs] -1: launch by launch */
} gn_cuda_objects;

/* Who makes an object of kernels; called on several threads at once, but `links` and `link`, which
 * are called when nothing else is.  `links` says why pieces cannot be linked, and programs are not
 * divided then; piece NULL: they never are. */
typedef struct gn_cuda_maker {
    gn_status *(*make)(void *ctx, int n, const kir_kernel *const *kernels, int arch,
                       gn_code_object *out);
    gn_status *(*whole)(void *ctx, const gn_cuda_whole *w, int arch, gn_code_object *out);
    gn_status *(*piece)(void *ctx, const gn_cuda_whole *w, const gn_cuda_division *d, int piece,
                        int arch, gn_code_object *out);
    gn_status *(*links)(void *ctx);
    gn_status *(*link)(void *ctx, const gn_cuda_whole *w, int n, const gn_code_object *pieces,
                       int arch, gn_code_object *out);
    void *ctx;
} gn_cuda_maker;

/* Kernels go to NVRTC some at a time, a program of NVRTC each, on several threads: that is faster
 * than all at once and than each alone.  How they are divided depends on the kernels of their set
 * and of earlier ones alone (gn_compiled), not on threads.  Objects are looked up in opt->cache
 * first and kept there; where it has all of them NVRTC is not loaded.  A program that is to be one
 * kernel (whole.h) is a program of NVRTC, or, where it is compiled quickly and takes long, two that
 * are linked, for two threads that end together.  The programs have been compiled for
 * gn_cuda_limits.  `maker`: instead of NVRTC; may be NULL.  GN_ERR_BACKEND without NVRTC.  Free
 * with gn_cuda_objects_free, on failure too. */
GN_NODISCARD gn_status *gn_compile_cuda(gn_arena *a, int n, gn_compiled *const *programs, int arch,
                                        const gn_codegen_options *opt, const gn_cuda_maker *maker,
                                        gn_cuda_objects *out, gn_code_report *report);
void gn_cuda_objects_free(gn_cuda_objects *c); /* idempotent */

/* Where kernel k of the program comes from, a line each: the model's places and what stands
 * there. */
const char *gn_kernel_origin(gn_arena *a, const gn_compiled *c, int k);

#endif
