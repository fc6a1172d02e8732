/* Checked allocation for readers, whose sizes come out of files.  Single allocations that live in a
 * dataset are malloc'ed; nothing here keeps state. */
#ifndef GN_RUNTIME_DATA_MEM_H
#define GN_RUNTIME_DATA_MEM_H

#include "base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed; NULL when count is negative, the product overflows or memory is out.  A count of 0 gives
 * a valid pointer. */
static inline void *gn_mem_alloc(int64_t count, size_t size)
{
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    return calloc(bytes ? bytes : 1, 1);
}

/* The n bytes at `s`, which need no end, as a string; NULL: memory is out. */
static inline char *gn_mem_text(const char *s, size_t n)
{
    char *copy = malloc(n + 1);
    if (!copy) return NULL;
    memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}

/* p = zeroed array of n elements, or return GN_ERR_NOMEM from the calling function. */
#define GN_MEM(p, n)                                                                               \
    do {                                                                                           \
        (p) = gn_mem_alloc((int64_t)(n), sizeof *(p));                                             \
        if (!(p))                                                                                  \
            GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld elements of %zu bytes", (long long)(n),     \
                    sizeof *(p));                                                                  \
    } while (0)

#endif
