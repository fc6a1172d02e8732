/* Products: whether a device's own library makes products of matrices instead of kernels. */
#ifndef GN_TARGET_PRODUCTS_H
#define GN_TARGET_PRODUCTS_H

#include "compile/compile.h"
#include "compile/mode.h"
#include "runtime/cuda/choose.h"

/*    id       name       what makes a product that the library has too */
#define GN_PRODUCT_WAYS(X)                                                                         \
    X(KERNEL, "kernel")   /* a kernel */                                                           \
    X(TIMED, "timed")     /* whichever is the faster in the first run */                           \
    X(LIBRARY, "library") /* the library */
typedef enum gn_products {
    GN_PRODUCTS_BY_MODE, /* timed where the mode searches, else kernels */
#define X(id, name) GN_PRODUCTS_##id,
    GN_PRODUCT_WAYS(X)
#undef X
        GN_PRODUCTS_COUNT
} gn_products;
extern const char *const gn_products_name[GN_PRODUCTS_COUNT]; /* of the first: NULL */
/* NULL: by mode. GN_ERR_USAGE: no such word. */
GN_NODISCARD gn_status *gn_products_by_name(const char *name, gn_products *out);

typedef struct gn_products_rule {
    gn_products way; /* never by mode */
    gn_precision precision;
    struct gn_cache *cache; /* that remembers what was timed; NULL: nothing does.  Outlives the
                               programs */
} gn_products_rule;

/* "cuBLASLt 13.1 (libcublasLt.so.13)": what would make them, for people; GN_ERR_BACKEND where there
 * is none. */
GN_NODISCARD gn_status *gn_products_describe(gn_buf *out);

/* What is meant, with the decision and the mode. */
gn_products gn_products_way(gn_products asked, gn_mode mode, gn_switches off);

bool gn_has_products(const gn_compiled *c); /* a launch that the library may make */

/* Where there is no device to time products on: sets c->product_why to what the cost model says of
 * sizes that are to be expected. */
void gn_products_estimate(gn_arena *a, gn_compiled *c, gn_precision precision, int n_hints,
                          const low_hint *hints);

/* For the program's launches; in the arena.  NULL: kernels make all. */
gn_cuda_library *gn_products_of(gn_arena *a, const gn_compiled *c, const gn_products_rule *r);

#endif
