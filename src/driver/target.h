/* Target: a device that programs are compiled for and run on, instead of this processor.
 *
 * Made by whoever opened the device; builds and sessions borrow it. */
#ifndef GN_DRIVER_TARGET_H
#define GN_DRIVER_TARGET_H

#include "codegen/cuda.h"
#include "driver/compile.h"
#include "runtime/cuda/instance.h"

typedef struct gn_target gn_target;
struct gn_target {
    gn_limits limits;
    gn_remote *remote;
    /* Compiles `text`, which holds kernels gn_kernel_0 ... gn_kernel_<n - 1>, and loads it on the device: function[n]. Code
     * lives as long as the target. */
    gn_status *(*load)(gn_target *t, int n, const kir_kernel *const *kernels, const gn_cuda_geometry *geometry,
                       const char *text, void **function);
};

/* Machine code for several programs at once, as gn_compile_code; sets remote and remote_code of their artifacts. */
GN_NODISCARD gn_status *gn_compile_remote(gn_arena *a, int n, gn_compiled *const *programs, bool share, gn_target *t,
                                          gn_code_report *report);

#endif
