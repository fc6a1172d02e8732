#include "runtime/memory.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__GLIBC__) && !defined(GNNC_EMBEDDED)
#include <malloc.h>
#endif

#ifdef GNNC_EMBEDDED /* nobody tests there, and what belongs to a thread would need the dynamic    \
                        loader */
#define CUT false
#else
static _Thread_local int64_t fuse;
#define CUT (fuse > 0 && --fuse == 0)

int64_t *gn_memory_fuse(void) { return &fuse; }
#endif

bool gn_round_up(int64_t bytes, int64_t *out)
{
    int64_t sum;
    if (bytes < 0 || __builtin_add_overflow(bytes, GN_ALIGN - 1, &sum)) return false;
    *out = sum / GN_ALIGN * GN_ALIGN;
    return true;
}

/* Rows that are gathered from all over a large block miss the TLB at every turn; with pages of 2
 * MiB they do not.  The system is asked, and may have none. */
enum { HUGE_PAGE = 1 << 21, HUGE_FROM = 1 << 23 };
static atomic_bool small_pages;

void gn_memory_huge_pages(bool on) { atomic_store(&small_pages, !on); }

static void *allocate(int64_t bytes)
{
    int64_t rounded;
    if (bytes < HUGE_FROM || atomic_load(&small_pages) ||
        __builtin_add_overflow(bytes, HUGE_PAGE - 1, &rounded))
        return gn_allocate((size_t)bytes, GN_ALIGN);
    rounded = rounded / HUGE_PAGE * HUGE_PAGE;
    void *p = gn_allocate((size_t)rounded, HUGE_PAGE);
#ifdef MADV_HUGEPAGE
    if (p) (void)madvise(p, (size_t)rounded, MADV_HUGEPAGE);
#endif
    return p;
}

#ifndef GNNC_EMBEDDED
void gn_memory_give_back(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

void gn_memory_keep(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 28);
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 25); /* the most that glibc takes, and comes to by itself
                                                 unless told about trimming */
    (void)mallopt(M_TOP_PAD, 1 << 20);
#endif
}
#endif

static gn_status *block(int64_t count, size_t size, const char *what, void **out, int64_t *bytes)
{
    *out = NULL;
    if (count < 0 || __builtin_mul_overflow(count, size, bytes) ||
        !gn_round_up(*bytes ? *bytes : 1, bytes) || (uint64_t)*bytes > PTRDIFF_MAX)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %s of %lld elements of %zu bytes cannot be addressed",
                what, (long long)count, size);
    bool cut = CUT;
    *out = cut ? NULL : allocate(*bytes);
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

void gn_block_free(void *block) { gn_release(block); }
