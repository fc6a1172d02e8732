#include "session/lookahead.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

struct gn_lookahead {
    int depth;
    gn_make_fn *make;
    void *ctx;
    const gn_allocator *from;
    pthread_t thread;
    bool started; /* with a lock and conditions */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* All below under the lock. */
    int64_t next, made, end; /* to be taken; to be made; no more are */
    bool busy, over;         /* one is being made; the thread is to end */
    gn_status *failed;       /* as number `made` was made; NULL: nothing has */
};

/* The one before `next` is in use, and as many as `depth` may be there besides. */
static bool has_work(const gn_lookahead *l)
{
    return !l->failed && l->made < l->end && l->made < l->next + l->depth;
}

static void *work(void *arg)
{
    gn_lookahead *l = arg;
    gn_allocator_use(l->from);
    pthread_mutex_lock(&l->lock);
    while (!l->over) {
        if (!has_work(l)) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        int64_t k = l->made;
        l->busy = true;
        pthread_mutex_unlock(&l->lock);
        gn_status *s = l->make(l->ctx, k);
        pthread_mutex_lock(&l->lock);
        l->busy = false;
        l->failed = s;
        l->made += !s;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static int start(gn_lookahead *l)
{
    sigset_t all, before;
    int e = pthread_mutex_init(&l->lock, NULL);
    if (e) return e;
    e = pthread_cond_init(&l->changed, NULL);
    if (!e) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); /* handlers run in the owner's threads */
        e = pthread_create(&l->thread, NULL, work, l);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (e) pthread_cond_destroy(&l->changed);
    }
    if (e) pthread_mutex_destroy(&l->lock);
    l->started = !e;
    return e;
}

gn_status *gn_lookahead_new(int depth, gn_make_fn *make, void *ctx, gn_lookahead **out)
{
    *out = NULL;
    gn_lookahead *l = gn_allocate_zeroed(sizeof *l);
    if (!l) GN_FAIL(GN_ERR_NOMEM, "out of memory: what is made ahead");
    *l = (gn_lookahead){.depth = depth, .make = make, .ctx = ctx, .from = gn_allocator_now()};
    int e = depth > 0 ? start(l) : 0;
    if (e) {
        gn_release(l);
        GN_FAIL(GN_ERR_NOMEM, "cannot start the thread that prepares batches: %s", strerror(e));
    }
    *out = l;
    return NULL;
}

void gn_lookahead_free(gn_lookahead *l)
{
    if (!l) return;
    if (l->started) {
        pthread_mutex_lock(&l->lock);
        l->over = true;
        pthread_cond_broadcast(&l->changed);
        pthread_mutex_unlock(&l->lock);
        pthread_join(l->thread, NULL);
        pthread_cond_destroy(&l->changed);
        pthread_mutex_destroy(&l->lock);
    }
    gn_status_free(l->failed);
    gn_release(l);
}

void gn_lookahead_begin(gn_lookahead *l, int64_t first, int64_t end)
{
    if (l->started) pthread_mutex_lock(&l->lock);
    l->next = l->made = first;
    l->end = end;
    if (!l->started) return;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

gn_status *gn_lookahead_take(gn_lookahead *l, int64_t *wait_ns)
{
    gn_status *s;
    int64_t before = gn_now_ns();
    if (l->started) {
        pthread_mutex_lock(&l->lock);
        while (l->made == l->next && !l->failed) pthread_cond_wait(&l->changed, &l->lock);
        s = l->made == l->next ? l->failed : NULL;
        if (s) {
            l->failed = NULL;
            l->end = l->made;
        }
        l->next += !s;
        pthread_cond_broadcast(&l->changed);
        pthread_mutex_unlock(&l->lock);
    } else {
        s = l->make(l->ctx, l->next);
        l->next += !s;
        l->made = l->next;
    }
    *wait_ns = gn_now_ns() - before;
    return s;
}

int64_t gn_lookahead_stop(gn_lookahead *l)
{
    if (l->started) pthread_mutex_lock(&l->lock);
    l->end = l->made; /* the one that is being made is the last */
    while (l->busy) pthread_cond_wait(&l->changed, &l->lock);
    gn_status_free(l->failed);
    l->failed = NULL;
    int64_t left = l->made - l->next;
    if (l->started) pthread_mutex_unlock(&l->lock);
    return left;
}
