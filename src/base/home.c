/* Linux wipes pages for children (madvise(2), MADV_WIPEONFORK, since 4.14).  A handler of
 * pthread_atfork would do, too, but objects compiled ahead of time have no place to register and
 * to unregister one. */
#include "base/home.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = sizeof(atomic_int) };

void gn_home_init(gn_home *h)
{
    *h = (gn_home){.process = getpid()};
#ifdef MADV_WIPEONFORK
    void *page = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, ROOM, MADV_WIPEONFORK)) {
        (void)munmap(page, ROOM);
        return;
    }
    h->here = page;
    atomic_store(h->here, 1);
#endif
}

void gn_home_end(gn_home *h)
{
    if (h->here) (void)munmap(h->here, ROOM);
    h->here = NULL;
}

bool gn_home_left(const gn_home *h)
{
    if (h->here) return !atomic_load_explicit(h->here, memory_order_relaxed);
    return h->process != getpid();
}

void gn_home_settle(gn_home *h)
{
    h->process = getpid();
    if (h->here) atomic_store(h->here, 1);
}
