/* Where memory comes from: malloc, or what a program that embeds gnnc gave.
 *
 * Arenas and the runtime's blocks are taken here.  Which allocator it is belongs to the thread, and
 * to the call of the public API that it is in: gn_allocator_use at its entry, and again at its end
 * with what was there before.  What was taken under one allocator is given back under the same. */
#ifndef GN_BASE_ALLOC_H
#define GN_BASE_ALLOC_H

#include <stddef.h>

typedef struct gn_allocator {
    /* NULL: there is none. A power of two */
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *block); /* never NULL */
    void *user;
} gn_allocator;

/* NULL: malloc.  Returns the one before, of this thread. */
const gn_allocator *gn_allocator_use(const gn_allocator *a);
const gn_allocator *gn_allocator_now(void);

/* not initialised; NULL where there is no memory */
void *gn_allocate(size_t bytes, size_t alignment);
void *gn_allocate_zeroed(size_t bytes); /* aligned for everything */
void gn_release(void *block);           /* NULL is fine */

#endif
