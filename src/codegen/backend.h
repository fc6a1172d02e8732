/* Back end: turns loop IR into code that can be called.
 *
 * A back end is chosen by name, answers what it supports, and compiles a list of kernels at once.  Compiled code is
 * position-independent of the compiler: gn_image keeps the object bytes, which can be written to a file and loaded
 * again by gn_object_load (runtime/loader.h) without the compiler. Thread-safe: several compilations may run at once, each with own options. */
#ifndef GN_CODEGEN_BACKEND_H
#define GN_CODEGEN_BACKEND_H

#include "base/status.h"
#include "ir/kir.h"
#include "ir/limits.h"
#include "ir/switches.h"
#include "runtime/kernel.h"

typedef enum gn_emit { GN_EMIT_NONE, GN_EMIT_LLVM, GN_EMIT_ASM, GN_EMIT_OBJ } gn_emit;

typedef struct gn_codegen_options {
    int opt_level;   /* 0: plain (eager, debugging); 1: the pipeline that pays (default); 2: more, for tuned code */
    const char *cpu; /* NULL: the host; "x86-64-v3", "x86-64-v4", ... */
    bool sanitize;   /* bounds checks on every buffer access in the generated code: aborts with kernel and buffer */
    gn_switches off; /* decisions that are switched off */
    int threads;     /* compile on up to this many threads (one LLVM context each); 0 or 1: one */
} gn_codegen_options;

/* Phase times in milliseconds and sizes, for reports. */
typedef struct gn_codegen_stats {
    double build_ms, optimise_ms, emit_ms, load_ms;
    int64_t code_bytes;
} gn_codegen_stats;

typedef struct gn_image gn_image; /* loaded code of some kernels; freed with gn_image_free when nothing runs it */

/* Limits of the CPU that `cpu` names (NULL: this host). */
gn_limits gn_cpu_limits(const char *cpu);
const char *gn_cpu_name(void); /* "skylake-avx512 +avx512f ..." short, for --version; static */

/* Is every instruction, unit and type of the kernel one that gn_cpu_compile can emit?  *why says what is not. */
bool gn_cpu_supports(const kir_kernel *k, const char **why);

/* Compiles and loads.  GN_ERR_BACKEND when gnnc was built without LLVM. */
gn_status *gn_cpu_compile(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt, gn_image **out,
                          gn_codegen_stats *stats);
gn_kernel_fn gn_image_kernel(const gn_image *c, int k);
void gn_image_object(const gn_image *c, const void **bytes, size_t *n); /* for gn_object_load; lives as long as c */
void gn_image_free(gn_image *c);

/* Text (LLVM IR, assembly) or object bytes of the kernels, appended to `out`. */
gn_status *gn_cpu_emit(const kir_kernel *const *kernels, int n, const gn_codegen_options *opt, gn_emit what,
                       gn_buf *out);

#endif
