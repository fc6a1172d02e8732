#include "base/alloc.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef GNNC_EMBEDDED /* in programs compiled ahead of time: malloc alone, and nothing of a         \
                        thread's own */
static const gn_allocator *const now;
const gn_allocator *gn_allocator_use(const gn_allocator *a) { return a; }
#else
static _Thread_local const gn_allocator *now;

const gn_allocator *gn_allocator_use(const gn_allocator *a)
{
    const gn_allocator *before = now;
    now = a;
    return before;
}
#endif

const gn_allocator *gn_allocator_now(void) { return now; }

void *gn_allocate(size_t bytes, size_t alignment)
{
    if (bytes == 0) bytes = 1;
    if (now) return now->allocate(now->user, bytes, alignment);
    if (alignment <= alignof(max_align_t)) return malloc(bytes);
    if (bytes > SIZE_MAX - alignment) return NULL;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void *gn_allocate_zeroed(size_t bytes)
{
    void *p = gn_allocate(bytes, alignof(max_align_t));
    return p ? memset(p, 0, bytes) : NULL;
}

void gn_release(void *block)
{
    if (!block) return;
    if (now)
        now->release(now->user, block);
    else
        free(block);
}
