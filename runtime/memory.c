#include "runtime/memory.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local int64_t fuse;

int64_t *gn_memory_fuse(void) { return &fuse; }

bool gn_round_up(int64_t bytes, int64_t *out)
{
    int64_t sum;
    if (bytes < 0 || __builtin_add_overflow(bytes, GN_ALIGN - 1, &sum)) return false;
    *out = sum / GN_ALIGN * GN_ALIGN;
    return true;
}

static gn_status *block(int64_t count, size_t size, const char *what, void **out, int64_t *bytes)
{
    *out = NULL;
    if (count < 0 || __builtin_mul_overflow(count, size, bytes) || !gn_round_up(*bytes ? *bytes : 1, bytes) ||
        (uint64_t)*bytes > PTRDIFF_MAX)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %s of %lld elements of %zu bytes cannot be addressed", what,
                (long long)count, size);
    bool cut = fuse > 0 && --fuse == 0;
    *out = cut ? NULL : aligned_alloc(GN_ALIGN, (size_t)*bytes);
    if (!*out) GN_FAIL(GN_ERR_NOMEM, "out of memory: %s takes %lld bytes", what, (long long)*bytes);
    return NULL;
}

gn_status *gn_block_new(int64_t count, size_t size, const char *what, void **out)
{
    int64_t bytes;
    return block(count, size, what, out, &bytes);
}

gn_status *gn_block_zeroed(int64_t count, size_t size, const char *what, void **out)
{
    int64_t bytes;
    GN_TRY(block(count, size, what, out, &bytes));
    memset(*out, 0, (size_t)bytes);
    return NULL;
}

void gn_block_free(void *block) { free(block); }
