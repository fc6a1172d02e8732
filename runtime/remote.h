/* Remote: a place other than this processor where launches run.
 *
 * An artifact whose code lies on a device says so (artifact.h); its instances are bound on the
 * host, which resolves sizes and addresses, and attached to the device, which has a shadow of
 * everything that launches touch.  The host's bytes and the device's are made alike only by push
 * and fetch. */
#ifndef GN_RUNTIME_REMOTE_H
#define GN_RUNTIME_REMOTE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct gn_instance;

typedef struct gn_remote gn_remote;
struct gn_remote {
    /* `code`: gn_artifact.remote_code. The instance outlives what is attached to it. */
    gn_status *(*attach)(gn_remote *r, const struct gn_instance *in, const void *code,
                         void **attached);
    void (*detach)(void *attached);
    gn_status *(*run)(void *attached);  /* may return before it has run */
    gn_status *(*wait)(void *attached); /* until all that was asked for has run */
    void (*replay)(void *attached); /* from now on a run is one request, recorded by the first */
    /* runs once, and adds the time of each launch: [n_launches] */
    gn_status *(*time)(void *attached, int64_t *ns);
    /* runs n times: microseconds there of one */
    gn_status *(*clock)(void *attached, int n, double *us);
    gn_status *(*poison)(void *attached); /* fills temporaries with 0xff bytes */
    gn_status *(*push)(gn_remote *r, const void *host);
    /* waits. Both: nothing where there is no shadow */
    gn_status *(*fetch)(gn_remote *r, void *host);
    /* A shadow that outlives the instances that use it, filled when it is made; ended by drop. */
    gn_status *(*hold)(gn_remote *r, const void *host, int64_t bytes, const char *what);
    void (*drop)(gn_remote *r, const void *host);
    /* of a launch that has several: which it has; NULL: it has one */
    const char *(*form)(void *attached, int launch);
};

#endif
