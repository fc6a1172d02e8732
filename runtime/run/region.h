/* Region: a run of an instance as one parallel region, with a plan made when it was bound.
 *
 * The pool's workers are called once a run and stay until its end.  Every launch is dealt out
 * beforehand, a range a thread; what is not worth that is the caller's alone.  A thread waits
 * before a launch only for those others and only for those earlier launches whose buffers that
 * launch touches: launches that do not meet need no barrier, and what the caller does by itself,
 * one launch after another, needs none either.  Who is late loses its range to who waits for it, so
 * a core that does something else costs its share and no more. */
#ifndef GN_RUNTIME_RUN_REGION_H
#define GN_RUNTIME_RUN_REGION_H

#include "runtime/run/instance.h"

typedef struct gn_region gn_region;

/* *out is NULL where a region is no use: one thread, or no launch that is worth more.
 * GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_region_new(const gn_instance *in, gn_region **out);
void gn_region_free(gn_region *r); /* NULL is fine */
void gn_region_run(gn_instance *in);

typedef struct gn_region_info {
    int launches, shared; /* launches that do something, and those of them that all threads take
                             part in */
    int waits;            /* launches before which somebody may have to wait */
} gn_region_info;
gn_region_info gn_region_describe(const gn_region *r);

#endif
