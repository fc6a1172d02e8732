/* Choose: which launches of an instance are calls of cuBLASLt instead of kernels.
 *
 * A launch that is a product (gn_launch.product) has both forms.  Either the library makes every
 * one that it can, or both are timed where the launch stands in the instance's first run, on the
 * operands that it has there, and the faster stays: the library must gain three per cent, and leave
 * what the kernel leaves, up to sums in another order, in the first and the last elements (of many
 * the rest is not compared).  A relu that loses a NaN is another function: the kernel stays,
 * whatever was asked for.  All runs of an instance, the first one too, leave the results of the
 * form that it has. */
#ifndef GN_RUNTIME_CUDA_CHOOSE_H
#define GN_RUNTIME_CUDA_CHOOSE_H

#include "runtime/cuda/product.h"
#include "runtime/run/exec.h"

typedef struct gn_cuda_verdict {
    bool library;
    double kernel_us, library_us; /* 0: not timed */
} gn_cuda_verdict;

typedef struct gn_cuda_library { /* how products of a program may be made */
    gn_cuda_blas *blas;
    bool always;               /* all that the library has, untimed */
    int compute;               /* GN_CUBLASLT_COMPUTE_... */
    double slack;              /* how far results may differ, as a part of the largest */
    const char *const *kernel; /* [n_code] what tells kernels apart in keys; NULL where no launch is
                                  a product */
    /* What was found before, and what is now, under a key of lines; NULL: nothing is remembered. */
    bool (*recall)(void *ctx, const char *key, gn_cuda_verdict *out);
    void (*remember)(void *ctx, const char *key, const gn_cuda_verdict *v);
    void *ctx;
} gn_cuda_library;

typedef struct gn_cuda_choice { /* of a launch */
    gn_cuda_product *product;   /* NULL: a kernel alone makes it */
    gn_cuda_verdict verdict;
    bool pending, recalled; /* pending: to be decided where it stands */
    const char *why;        /* the kernel stays though it may be slower; NULL: it does not */
    char text[96];          /* gn_cuda_choice_text */
} gn_cuda_choice;

/* `launch` of a bound instance, a product of at least one row; bias: where that will lie.  With
 * `always` an error where the library has no such product, else the kernel stays. */
GN_NODISCARD gn_status *gn_cuda_choice_make(const gn_cuda_library *l, gn_cuda_device *d,
                                            const gn_instance *host, int launch, gn_device_ptr bias,
                                            gn_cuda_choice *out);
void gn_cuda_choice_end(gn_cuda_choice *c);

/* Both forms of a launch, put on the stream; what they write and read, and how many elements the
 * first has. */
typedef struct gn_cuda_forms {
    gn_status *(*run)(void *ctx, bool library);
    void *ctx;
    gn_device_ptr out, a, b, bias;
    int64_t elems;
} gn_cuda_forms;

/* Looks at what a relu makes of a NaN, times both where that is asked for, and decides; leaves the
 * results of the form that it decides for.  Errors are the device's. */
GN_NODISCARD gn_status *gn_cuda_choice_decide(const gn_cuda_library *l, gn_cuda_device *d,
                                              const gn_instance *host, int launch,
                                              const gn_cuda_forms *f, gn_cuda_choice *c);

/* "cuBLASLt, 10.2 us, kernel 13.0", for people; NULL where there is nothing to choose. */
const char *gn_cuda_choice_text(gn_cuda_choice *c);

#endif
