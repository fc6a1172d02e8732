/* Back end: turns loop IR into code that can be called.
 *
 * A back end is chosen by name, answers what it supports, and compiles a list of kernels at once.
 * Compiled code does not depend on the compiler: objects can be written to a file and loaded again
 * by runtime/load/loader.h.  Thread-safe: several compilations may run at once, each with own
 * options. */
#ifndef GN_CODEGEN_BACKEND_H
#define GN_CODEGEN_BACKEND_H

#include "base/status.h"
#include "ir/kir.h"
#include "ir/limits.h"
#include "ir/switches.h"
#include "runtime/load/loader.h"

typedef enum gn_emit { GN_EMIT_NONE, GN_EMIT_LLVM, GN_EMIT_ASM, GN_EMIT_OBJ } gn_emit;

typedef struct gn_codegen_options {
    int opt_level; /* 0: plain (eager, debugging); 1: the pipeline that pays (default); 2: more, for
                      tuned code; below 0: compiled as fast as can be, whatever comes of it */
    const char *cpu; /* NULL: the host; "x86-64-v3", "x86-64-v4", ... */
    bool sanitize; /* bounds checks on every buffer access in the generated code: aborts with kernel
                      and buffer */
    bool watch;    /* code tells ThreadSanitizer what it touches (runtime/load/loader.h:
                      gn_kernel_touch) */
    bool lines;    /* code says which instruction each byte is of (code_lines.h) */
    gn_switches off; /* decisions that are switched off */
    int threads;     /* compile on up to this many threads (one LLVM context each); 0 or 1: one */
    bool each;       /* for a device: an object a kernel, where programs to come have most of these
                        kernels, too */
    int driver; /* for a device: the CUDA that its driver serves, as gn_cuda_too_new has it; 0: not
                   known */
    struct gn_cache *cache; /* cache/cache.h; NULL: none. For gn_compile_code; the functions here do
                               not look at it */
} gn_codegen_options;

/* Phase times in milliseconds and sizes, for reports. */
typedef struct gn_codegen_stats {
    double build_ms, optimise_ms, emit_ms, load_ms;
    int64_t code_bytes;
} gn_codegen_stats;

typedef struct gn_image gn_image; /* loaded code of some kernels; freed with gn_image_free when
                                     nothing runs it */

/* Limits of the CPU that `cpu` names (NULL: this host). */
gn_limits gn_cpu_limits(const char *cpu);
const char *gn_cpu_name(void); /* "skylake-avx512 +avx512f ..." short, for --version; static */

/* All that determines code beside kernel and options: triple, CPU, features, lanes, LLVM's version,
 * as one line without a line feed.  Does not start LLVM.  GN_ERR_BACKEND as gn_cpu_compile. */
gn_status *gn_cpu_describe(const char *cpu, gn_buf *out);

/* Is every instruction, unit and type of the kernel one that gn_cpu_compile can emit?  *why says
 * what is not. */
bool gn_cpu_supports(const kir_kernel *k, const char **why);

/* Compiles and loads.  GN_ERR_BACKEND when gnnc was built without LLVM. */
gn_status *gn_cpu_compile(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                          gn_image **out, gn_codegen_stats *stats);

/* Compiles without loading: an object a kernel, each with the one symbol gn_kernel_0; out[n], bytes
 * malloc'd.  Nothing is left in `out` on failure. Adds to *stats. */
gn_status *gn_cpu_objects(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                          gn_code_object *out, gn_codegen_stats *stats);

/* Loads the objects of gn_cpu_objects, from wherever they come: kernel k is that of object k.
 * GN_ERR_DATA for a broken one. Adds load_ms and code_bytes to *stats. */
gn_status *gn_image_join(int n, const gn_code_object *objects, gn_image **out,
                         gn_codegen_stats *stats);
/* Loads an object of several kernels, and keeps its bytes, which it frees even on failure. */
gn_status *gn_image_take(gn_code_object object, gn_image **out, gn_codegen_stats *stats);

gn_kernel_fn gn_image_kernel(const gn_image *c, int k);
/* For gn_object_load; lives as long as c.  NULL for an image that was joined. */
void gn_image_object(const gn_image *c, const void **bytes, size_t *n);
/* Calls gone(ctx) before the code is freed; one that was asked for before is forgotten. */
void gn_image_when_gone(gn_image *c, void (*gone)(void *ctx), void *ctx);
void gn_image_free(gn_image *c); /* NULL is fine */

/* Text (LLVM IR, assembly) or object bytes of the kernels, appended to `out`. */
gn_status *gn_cpu_emit(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt,
                       gn_emit what, gn_buf *out);

#endif
