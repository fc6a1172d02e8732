/* What tests of the public API share besides: memory of their own, which may fail, and folders that
 * go again. */
#ifndef GN_TESTS_API_MEMORY_H
#define GN_TESTS_API_MEMORY_H

#include "gnnc/gnnc.h"

#include <check.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory of a test's own: counts what is out, and fails where it is told to. */
typedef struct purse {
    int64_t blocks, fuse; /* fuse: the allocation that takes it from 1 to 0 fails */
} purse;

static inline void *take(void *user, size_t bytes, size_t alignment)
{
    purse *p = user;
    ck_assert(bytes > 0 && alignment > 0 && (alignment & (alignment - 1)) == 0);
    if (p->fuse > 0 && --p->fuse == 0) return NULL;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    void *block = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (block) memset(block, 0xa5, bytes);
    __atomic_add_fetch(&p->blocks, block != NULL, __ATOMIC_RELAXED);
    return block;
}

static inline void give(void *user, void *block)
{
    purse *p = user;
    ck_assert(block != NULL);
    __atomic_sub_fetch(&p->blocks, 1, __ATOMIC_RELAXED);
    free(block);
}

/* A context of such memory, which keeps no kernels. */
static inline gnnc_context_options poor_context(purse *p)
{
    return (gnnc_context_options){.size = sizeof(gnnc_context_options),
                                  .cache = GNNC_CACHE_NONE,
                                  .allocate = take,
                                  .release = give,
                                  .user = p};
}

static inline int remove_one(const char *path, const struct stat *s, int flag, struct FTW *at)
{
    (void)s;
    (void)flag;
    (void)at;
    return remove(path);
}

static inline void remove_all(const char *dir) { nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

#endif
