/* Target: a GPU that programs are compiled for and run on, instead of this processor.
 *
 * Compiling may be done by several threads at once; its device, memory and all instances there are
 * used by one thread at a time: who shares a target enters it.  Must outlive the sessions and
 * instances that run on it. */
#ifndef GN_TARGET_TARGET_H
#define GN_TARGET_TARGET_H

#include "base/mutex.h"
#include "target/cuda_code.h"
#include "target/products.h"
#include "runtime/cuda/cuda_instance.h"

typedef struct gn_target {
    gn_limits limits;
    int arch; /* 90: sm_90 */
    gn_cuda_driver *driver;
    gn_cuda_device *device;
    gn_cuda_memory *memory;
    gn_remote *remote;
    gn_cuda_maker maker;  /* make NULL: NVRTC */
    gn_cublaslt cublaslt; /* looked for when products may be its own */
    gn_cuda_blas *blas;   /* NULL: there is none, or nobody has asked */
    bool asked_for_blas;
    char no_blas[1024]; /* why there is none, once it was asked for */
    int n_modules, cap;
    gn_cuda_module **modules; /* code that was loaded; what is not unloaded stays until the target
                                 is closed */
    gn_mutex lock;
    bool has_lock;
} gn_target;

typedef struct gn_target_code { /* what one compilation loaded; in the arena */
    int n;
    gn_cuda_module **modules;
} gn_target_code;

/* What "cpu", "cuda", "cuda:N" and "auto" ask for; NULL: cpu. */
typedef struct gn_device_choice {
    bool gpu, any; /* any: this processor will do, too */
    int ordinal;
} gn_device_choice;
enum { GN_DEVICE_NAMES = 4 };
extern const char *const gn_device_names[GN_DEVICE_NAMES]; /* to suggest one */
/* false: there is no such name. */
bool gn_device_parse(const char *name, gn_device_choice *out);

/* Device number `ordinal` of the driver at `path` (NULL: see gn_cuda_driver_open).  GN_ERR_BACKEND:
 * no driver, or a device that code cannot be made for; GN_ERR_USAGE: no such device. */
GN_NODISCARD gn_status *gn_target_open(const char *path, int ordinal, gn_target **out);
void gn_target_close(gn_target *t); /* NULL is fine */

/* Others wait meanwhile; may be nested.  NULL is fine. */
void gn_target_enter(gn_target *t);
void gn_target_leave(gn_target *t);

/* Machine code for several programs at once, as gn_compile_code, loaded on the device; sets remote
 * and remote_code of their artifacts.  GN_ERR_BACKEND: cuBLASLt is to make products, and there is
 * none. */
GN_NODISCARD gn_status *gn_target_compile(gn_target *t, gn_arena *a, int n,
                                          gn_compiled *const *programs,
                                          const gn_codegen_options *opt,
                                          const gn_products_rule *products, gn_target_code *out,
                                          gn_code_report *report);
/* idempotent; nothing of it may run any more */
void gn_target_unload(gn_target *t, gn_target_code *c);

#endif
