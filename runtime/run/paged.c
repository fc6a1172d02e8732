#include "runtime/run/paged.h"

#include "runtime/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct range {
    void *from;
    int64_t bytes;
} range;

struct gn_pages {
    int fd, statm; /* -1: there is no file; nobody says what is mapped, and there are no pages */
    int64_t window, page;
    int n; /* of: the file's own memory first, where there is some */
    range of[1 + GN_PAGES_LENT];
    _Atomic int64_t least; /* that was mapped when pages went the last time, code of the process's
                              too */
};

/* Bytes of files that the process has mapped, as Linux counts them; -1: it does not say. */
static int64_t mapped(const gn_pages *p)
{
    char text[128];
    ssize_t n = p->statm < 0 ? -1 : pread(p->statm, text, sizeof text - 1, 0);
    if (n <= 0) return -1;
    text[n] = '\0';
    char *at = text; /* all, resident, of files */
    int64_t pages = 0;
    for (int k = 0; k < 3; k++) pages = strtoll(at, &at, 10);
    return pages * p->page;
}

static void let_go(gn_pages *p)
{
    for (int k = 0; k < p->n; k++)
        (void)madvise(p->of[k].from, (size_t)p->of[k].bytes, MADV_DONTNEED);
    atomic_store_explicit(&p->least, mapped(p), memory_order_relaxed);
}

/* Life ----------------------------------------------------------------------------------------- */

static gn_status *make_room(gn_pages *p, int64_t bytes)
{
    int e = posix_fallocate(p->fd, 0, (off_t)bytes);
    if (e) GN_FAIL(GN_ERR_IO, "no room for %lld bytes: %s", (long long)bytes, strerror(e));
    void *at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    if (at == MAP_FAILED)
        GN_FAIL(GN_ERR_IO, "%lld bytes cannot be mapped: %s", (long long)bytes, strerror(errno));
    (void)madvise(at, (size_t)bytes, MADV_RANDOM); /* one page where one is asked for */
    p->of[p->n++] = (range){at, bytes};
    return NULL;
}

gn_status *gn_pages_new(int fd, int64_t bytes, int64_t window, gn_pages **out)
{
    void *block;
    *out = NULL;
    gn_status *s = gn_block_zeroed(1, sizeof(gn_pages), "pages", &block);
    if (s) {
        if (fd >= 0) close(fd);
        return s;
    }
    gn_pages *p = block;
    p->fd = fd;
    p->window = window;
    p->page = (int64_t)sysconf(_SC_PAGESIZE);
    p->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (mapped(p) < 0)
        s = GN_ERROR(GN_ERR_IO, "/proc/self/statm cannot be read, which says how much is mapped: "
                                "no bound on that can be kept");
    if (!s && bytes > 0) s = make_room(p, bytes);
    if (s) {
        gn_pages_free(p);
        return s;
    }
    atomic_init(&p->least, mapped(p));
    *out = p;
    return NULL;
}

void gn_pages_lend(gn_pages *p, const void *from, int64_t bytes)
{
    uintptr_t at = (uintptr_t)from, end = at + (uintptr_t)bytes, page = (uintptr_t)p->page;
    at -= at % page;
    if (bytes > 0 && p->n < 1 + GN_PAGES_LENT)
        p->of[p->n++] = (range){(void *)at, (int64_t)(end - at)}; /* NOLINT */
}

void gn_pages_free(gn_pages *p)
{
    if (!p) return;
    if (p->fd >= 0) {
        if (p->n) munmap(p->of[0].from, (size_t)p->of[0].bytes);
        close(p->fd);
    }
    if (p->statm >= 0) close(p->statm);
    gn_block_free(p);
}

void *gn_pages_memory(const gn_pages *p, int64_t *bytes)
{
    *bytes = p->fd >= 0 ? p->of[0].bytes : 0;
    return p->fd >= 0 ? p->of[0].from : NULL;
}

int64_t gn_pages_window(const gn_pages *p) { return p->window; }

/* Calling -------------------------------------------------------------------------------------- */

/* How many iterations map some of the window, and not much of it, is found by calling them. */
enum { FEW = 64, MANY = 16 };

void gn_pages_call(gn_pages *p, gn_kernel_fn fn, void *const *buf, const int64_t *sym, int64_t lo,
                   int64_t hi)
{
    int64_t had = mapped(p);
    for (int64_t n = 1, end; lo < hi; lo = end) {
        end = hi - lo > n ? lo + n : hi;
        fn(buf, sym, lo, end);
        int64_t now = mapped(p), more = now - had;
        if (now - atomic_load_explicit(&p->least, memory_order_relaxed) > p->window) {
            let_go(p);
            now = mapped(p);
        }
        if (more < p->window / FEW && n < INT64_MAX / 2) n *= 2;
        if (more > p->window / MANY && n > 1) n /= 2;
        had = now;
    }
}
