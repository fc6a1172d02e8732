/* Compile: a tensor IR program to an artifact that can be bound and run. */
#ifndef GN_DRIVER_COMPILE_H
#define GN_DRIVER_COMPILE_H

#include "codegen/backend.h"
#include "passes/passes.h"
#include "runtime/artifact.h"

typedef struct gn_compile_options {
    gn_pass_options pass;
    gn_codegen_options code;
    gn_elem index;              /* of graph arrays: I32 unless a count needs I64 */
    bool no_code;               /* stop before machine code: --emit=gir, kir */
} gn_compile_options;

typedef struct gn_compiled {
    const gir_program *source, *gir; /* before and after passes */
    fusion *f;
    lowered *low;
    int n_kernels;
    const kir_kernel **kernels;
    gn_image *image;                 /* NULL with no_code */
    gn_artifact *artifact;
    gn_codegen_stats stats;
    double pass_ms, lower_ms, code_ms;
} gn_compiled;

/* Everything but the image lives in the arena; the image is released with gn_compiled_free. */
GN_NODISCARD gn_status *gn_compile(gn_arena *a, const gir_program *p, const gn_compile_options *opt, int *pass_count,
                                   gn_compiled **out);
void gn_compiled_free(gn_compiled *c); /* NULL is fine */

/* assemble.c: launches over values to an artifact over slots. */
GN_NODISCARD gn_status *gn_assemble(gn_arena *a, const lowered *low, const gn_image *image, gn_artifact **out);

double gn_now_ms(void); /* monotonic */

#endif
