/* rate: how fast a device's memory is read and written. */
#include "runtime/cuda/device.h"

#include <math.h>

enum {
    MOST = 256 << 20, /* bytes of a copy: several times any cache so far */
    LEAST = 16 << 20,
    RUNS = 4, /* copies between two marks */
    TIMES = 6 /* of which the first warms up */
};

static gn_status *time_copies(gn_cuda_device *d, gn_device_ptr to, gn_device_ptr from,
                              int64_t bytes, double *ms)
{
    *ms = INFINITY;
    for (int time = 0; time < TIMES; time++) {
        float taken;
        GN_TRY(gn_cuda_mark(d, 0));
        for (int k = 0; k < RUNS; k++) GN_TRY(gn_cuda_copy(d, to, from, bytes));
        GN_TRY(gn_cuda_mark(d, 1));
        GN_TRY(gn_cuda_between(d, &taken));
        if (time > 0) *ms = fmin(*ms, (double)taken / (double)RUNS);
    }
    return NULL;
}

gn_status *gn_cuda_copy_rate(gn_cuda_device *d, double *gbytes)
{
    int64_t room;
    gn_device_ptr a = 0, b = 0;
    double ms = INFINITY;
    *gbytes = 0;
    GN_TRY(gn_cuda_room(d, &room));
    int64_t bytes = room / 8 < MOST ? room / 8 : MOST;
    if (bytes < LEAST) return NULL;
    gn_status *s = gn_cuda_alloc(d, bytes, "a copy's source", &a);
    if (!s) s = gn_cuda_alloc(d, bytes, "a copy", &b);
    if (!s) s = time_copies(d, b, a, bytes, &ms);
    gn_cuda_free(d, a);
    gn_cuda_free(d, b);
    if (!s && ms > 0) *gbytes = 2 * (double)bytes / ms * 1e-6;
    return s;
}
