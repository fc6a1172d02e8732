/* Mutex: one that a forked child can count on.
 *
 * A fork may come while other threads hold locks.  They are not in the child, and would hold them
 * there for ever, so the child opens all locks but those of the thread that forked.  What they
 * guard must then be whole, which is so in two ways:
 *
 *   brief   The lock is held for a moment, and what it guards is in between then.  A fork waits
 *           until no thread is in a brief section.  Who holds one neither calls back nor waits for
 *           a lock that is not brief.
 *   long    The lock is held while something is compiled or searched for.  A fork does not wait.
 *           What is guarded changes in a brief section at the end, which makes it public.
 *
 * gn_brief_begin and gn_brief_end are a brief section without a lock: for what others guard, as
 * LLVM does.
 *
 * In objects compiled ahead of time (GNNC_EMBEDDED) all of a model belongs to one thread, and a
 * lock is a mutex. */
#ifndef GN_BASE_MUTEX_H
#define GN_BASE_MUTEX_H

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum gn_mutex_kind {
    GN_MUTEX_BRIEF,
    GN_MUTEX_LONG,
    GN_MUTEX_NESTED, /* long, and who holds it may take it again */
} gn_mutex_kind;

typedef struct gn_mutex {
    pthread_mutex_t mutex;
    gn_mutex_kind kind;
    _Atomic(pthread_t) holder;
    int depth; /* the holder's */
    struct gn_mutex *next, **at;
} gn_mutex;

/* GN_ERR_NOMEM: then it needs no gn_mutex_end. */
GN_NODISCARD gn_status *gn_mutex_init(gn_mutex *l, gn_mutex_kind kind);
void gn_mutex_end(gn_mutex *l);
void gn_mutex_take(gn_mutex *l);
void gn_mutex_leave(gn_mutex *l);

void gn_brief_begin(void); /* they nest */
void gn_brief_end(void);

#endif
