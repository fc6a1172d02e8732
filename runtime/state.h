/* State: named tensors that outlive a run -- weights, moments, running statistics, counters -- in
 * memory of their own.
 *
 * A store owns its tensors; their data stays where it is until the store is freed.  One thread at a
 * time. */
#ifndef GN_RUNTIME_STATE_H
#define GN_RUNTIME_STATE_H

#include "base/elem.h"
#include "runtime/run/exec.h"
#include "runtime/fill.h"
#include "runtime/remote.h"

typedef struct gn_state_tensor {
    char *name;
    gn_elem elem;
    int64_t rows, row_elems;
    void *data;            /* 64-byte aligned */
    const int64_t *row_of; /* [rows] where row v lies, as fills and files number it; NULL: there.
                              The caller's */
} gn_state_tensor;

typedef struct gn_state {
    int n, cap;
    gn_state_tensor *tensors; /* in the order in which they were added */
} gn_state;

void gn_state_init(gn_state *s);
void gn_state_free(gn_state *s); /* idempotent */

/* Adds a tensor of zeros.  GN_ERR_USAGE when there is one of that name; GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_state_add(gn_state *s, const char *name, gn_elem elem, int64_t rows,
                                     int64_t row_elems);
/* NULL when absent; valid until the next add */
const gn_state_tensor *gn_state_find(const gn_state *s, const char *name);
int64_t gn_state_bytes(const gn_state *s);

/* Rows `rows` of a tensor are in another order than fills and files have them; of snapshots, too.
 */
void gn_state_number(gn_state *s, const char *name, const int64_t *row_of);
/* A tensor's elements as fills and files number its rows: out of the state, and into it. */
void gn_state_rows_out(const gn_state_tensor *t, void *to);
void gn_state_rows_in(const gn_state_tensor *t, const void *from);

/* Fills a tensor.  Random numbers depend on seed, name and place in the tensor alone: not on other
 * tensors, and up to rounding not on the element type.  GN_ERR_USAGE: no tensor of that name, or
 * random integers are asked for. */
GN_NODISCARD gn_status *gn_state_fill(gn_state *s, const char *name, gn_fill fill, uint64_t seed);

/* One number, counter or rate; converted to and from the element type.  GN_ERR_USAGE: there is
 * none, or no scalar. */
GN_NODISCARD gn_status *gn_state_set_int(gn_state *s, const char *name, int64_t value);
GN_NODISCARD gn_status *gn_state_set_float(gn_state *s, const char *name, double value);
GN_NODISCARD gn_status *gn_state_get_int(const gn_state *s, const char *name, int64_t *value);

/* A copy of everything, and the way back: no memory is taken by restore.  restore: GN_ERR_USAGE
 * when the two do not have the same tensors in the same order. */
/* out: initialised, empty */
GN_NODISCARD gn_status *gn_state_snapshot(const gn_state *s, gn_state *out);
GN_NODISCARD gn_status *gn_state_restore(gn_state *s, const gn_state *from);

/* To its shadows on a device, and from there.  `r` NULL: there is none. */
GN_NODISCARD gn_status *gn_state_push(const gn_state *s, gn_remote *r);
GN_NODISCARD gn_status *gn_state_pull(const gn_state *s, gn_remote *r);

/* [n], for gn_instance_new; names stay the store's */
void gn_state_bindings(const gn_state *s, gn_binding *out);

#endif
