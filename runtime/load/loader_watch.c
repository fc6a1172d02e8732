#include "runtime/load/loader.h"

#include "base/sanitized.h"

#if GN_UNDER_TSAN
const bool gn_watched = true;
void __tsan_read_range(void *at, unsigned long bytes);
void __tsan_write_range(void *at, unsigned long bytes);
#define READS(at, n) __tsan_read_range((void *)(uintptr_t)(at), n)
#define WRITES(at, n) __tsan_write_range((void *)(uintptr_t)(at), n)
#else
const bool gn_watched = false;
#define READS(at, n) ((void)(at), (void)(n))
#define WRITES(at, n) ((void)(at), (void)(n))
#endif

void gn_kernel_touch(const void *at, uint64_t bytes, uint64_t writes)
{
    if (writes)
        WRITES(at, bytes);
    else
        READS(at, bytes);
}

void gn_kernel_touch_lanes(const void *const *at, uint64_t bytes, uint64_t lanes, uint64_t writes)
{
    for (; lanes; lanes >>= 1, at++)
        if (lanes & 1) gn_kernel_touch(*at, bytes, writes);
}
