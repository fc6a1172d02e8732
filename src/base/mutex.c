#include "base/mutex.h"

#include <stdlib.h>

#ifdef GNNC_EMBEDDED

gn_status *gn_mutex_init(gn_mutex *l, gn_mutex_kind kind)
{
    l->kind = kind;
    if (pthread_mutex_init(&l->mutex, NULL)) GN_FAIL(GN_ERR_NOMEM, "out of memory: no mutex");
    return NULL;
}

void gn_mutex_end(gn_mutex *l) { pthread_mutex_destroy(&l->mutex); }
void gn_mutex_take(gn_mutex *l) { pthread_mutex_lock(&l->mutex); }
void gn_mutex_leave(gn_mutex *l) { pthread_mutex_unlock(&l->mutex); }

#else

/* What a fork has to know.  `guard` is held for some instructions only, and by the fork itself. */
static struct {
    pthread_mutex_t guard;
    pthread_cond_t changed;
    gn_mutex *locks;
    int inside;  /* threads in brief sections */
    int forking; /* forks that wait for them: nobody goes in meanwhile */
    bool ready;  /* handlers are registered */
} all = {.guard = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Thread_local int depth; /* of brief sections */

/* Forks ---------------------------------------------------------------------------------------- */

static void before_fork(void)
{
    int mine = depth > 0;
    pthread_mutex_lock(&all.guard);
    all.forking++;
    while (all.inside > mine) pthread_cond_wait(&all.changed, &all.guard);
}

static void in_parent(void)
{
    all.forking--;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.guard);
}

static int make(gn_mutex *l)
{
    pthread_mutexattr_t a;
    if (pthread_mutexattr_init(&a)) return 1;
    pthread_mutexattr_settype(&a, l->kind == GN_MUTEX_NESTED ? PTHREAD_MUTEX_RECURSIVE
                                                             : PTHREAD_MUTEX_NORMAL);
    int e = pthread_mutex_init(&l->mutex, &a);
    pthread_mutexattr_destroy(&a);
    return e;
}

/* Mutexes are made anew: the system knows holders by numbers that threads of a child have not. */
static void in_child(void)
{
    pthread_t me = pthread_self();
    for (gn_mutex *l = all.locks; l; l = l->next) {
        int held = pthread_equal(atomic_load(&l->holder), me) ? l->depth : 0;
        (void)make(l);
        for (int k = 0; k < held; k++) pthread_mutex_lock(&l->mutex);
        if (!held) {
            atomic_store(&l->holder, (pthread_t)0);
            l->depth = 0;
        }
    }
    all.inside = depth > 0;
    all.forking = 0;
    pthread_cond_init(&all.changed, NULL);
    pthread_mutex_init(&all.guard, NULL);
}

/* Brief sections ------------------------------------------------------------------------------- */

void gn_brief_begin(void)
{
    if (depth++) return;
    pthread_mutex_lock(&all.guard);
    while (all.forking) pthread_cond_wait(&all.changed, &all.guard);
    all.inside++;
    pthread_mutex_unlock(&all.guard);
}

void gn_brief_end(void)
{
    if (--depth) return;
    pthread_mutex_lock(&all.guard);
    all.inside--;
    if (all.forking) pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.guard);
}

/* Locks ---------------------------------------------------------------------------------------- */

gn_status *gn_mutex_init(gn_mutex *l, gn_mutex_kind kind)
{
    *l = (gn_mutex){.kind = kind};
    if (make(l)) GN_FAIL(GN_ERR_NOMEM, "out of memory: a lock");
    pthread_mutex_lock(&all.guard);
    if (!all.ready) all.ready = !pthread_atfork(before_fork, in_parent, in_child);
    bool ready = all.ready;
    if (ready) {
        l->next = all.locks;
        l->at = &all.locks;
        if (l->next) l->next->at = &l->next;
        all.locks = l;
    }
    pthread_mutex_unlock(&all.guard);
    if (ready) return NULL;
    pthread_mutex_destroy(&l->mutex);
    GN_FAIL(GN_ERR_NOMEM, "out of memory: what is done before a fork");
}

void gn_mutex_end(gn_mutex *l)
{
    pthread_mutex_lock(&all.guard);
    *l->at = l->next;
    if (l->next) l->next->at = l->at;
    pthread_mutex_unlock(&all.guard);
    pthread_mutex_destroy(&l->mutex);
}

void gn_mutex_take(gn_mutex *l)
{
    if (l->kind == GN_MUTEX_BRIEF) gn_brief_begin();
    pthread_mutex_lock(&l->mutex);
    atomic_store_explicit(&l->holder, pthread_self(), memory_order_relaxed);
    l->depth++;
}

void gn_mutex_leave(gn_mutex *l)
{
    if (!--l->depth) atomic_store_explicit(&l->holder, (pthread_t)0, memory_order_relaxed);
    pthread_mutex_unlock(&l->mutex);
    if (l->kind == GN_MUTEX_BRIEF) gn_brief_end();
}

#endif
