/* Pages: memory of a run that lies in a file without a name, or in one that data was mapped from.
 *
 * Temporaries that have no room in memory lie there (gn_artifact.pages).  What a process has mapped
 * of a file counts as its memory; what it holds is the file's, and pages that nobody has mapped are
 * the system's to keep, to write and to forget.  So kernels are called for a few iterations at a
 * time, and once more than a window is mapped all of it is let go, from where it comes again when
 * it is touched.  No bit changes by that. */
#ifndef GN_RUNTIME_RUN_PAGED_H
#define GN_RUNTIME_RUN_PAGED_H

#include "runtime/artifact.h"

typedef struct gn_pages gn_pages;

#ifndef GNNC_EMBEDDED /* objects compiled ahead of time have none */

enum { GN_PAGES_LENT = 16 };

/* `bytes` of the file, which is empty and is closed by gn_pages_free, or at once where this fails;
 * 0: there is no file, and fd is -1.  GN_ERR_IO: the disk has no room for them. */
GN_NODISCARD gn_status *gn_pages_new(int fd, int64_t bytes, int64_t window, gn_pages **out);
/* Those of a file that others have mapped to read go, too; beyond GN_PAGES_LENT they stay. */
void gn_pages_lend(gn_pages *p, const void *from, int64_t bytes);
void gn_pages_free(gn_pages *p); /* NULL is fine; no artifact may have them any more */

void *gn_pages_memory(const gn_pages *p, int64_t *bytes);
int64_t gn_pages_window(const gn_pages *p);

/* All of a kernel's iterations, a few at a time; on any threads at once. */
void gn_pages_call(gn_pages *p, gn_kernel_fn fn, void *const *buf, const int64_t *sym, int64_t lo,
                   int64_t hi);

#endif

/* The file's memory, and its size; NULL: there is no file. */
static inline void *gn_pages_arena(const gn_pages *p, int64_t *bytes)
{
    *bytes = 0;
#ifndef GNNC_EMBEDDED
    if (p) return gn_pages_memory(p, bytes);
#endif
    (void)p;
    return NULL;
}

/* Calls a kernel for iterations [lo, hi); pages: what lies in a file, or NULL. */
static inline void gn_call_rows(gn_pages *pages, gn_kernel_fn fn, void *const *buf,
                                const int64_t *sym, int64_t lo, int64_t hi)
{
#ifndef GNNC_EMBEDDED
    if (pages) {
        gn_pages_call(pages, fn, buf, sym, lo, hi);
        return;
    }
#endif
    (void)pages;
    fn(buf, sym, lo, hi);
}

#endif
