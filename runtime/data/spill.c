#include "runtime/data/spill.h"

#include "runtime/data/folder.h"
#include "runtime/data/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { BUFFER = 1 << 18 };

/* A file without a name, where there are such; else one that loses it at once. */
gn_status *gn_nameless_file(const char *beside, int *fd)
{
    char name[GN_PATH_SIZE];
    const char *slash = strrchr(beside, '/');
    int n = slash ? (int)(slash - beside) + 1 : 0;
    if (snprintf(name, sizeof name, "%.*s.gnnc-XXXXXX", n, beside) >= (int)sizeof name)
        GN_FAIL(GN_ERR_IO, "cannot write beside '%s': its path is too long", beside);
    *fd = mkostemp(name, O_CLOEXEC);
    if (*fd < 0) GN_FAIL(GN_ERR_IO, "cannot write beside '%s': %s", beside, strerror(errno));
    unlink(name);
    return NULL;
}

gn_status *gn_spill_new(const char *beside, int n, int64_t record, gn_spill *s)
{
    *s = (gn_spill){.beside = beside, .record = record};
    GN_MEM(s->heap, n);
    for (; s->n < n; s->n++) {
        gn_heap *h = &s->heap[s->n];
        GN_TRY(gn_nameless_file(beside, &h->fd));
    }
    return NULL;
}

void gn_spill_free(gn_spill *s)
{
    for (int k = 0; k < s->n; k++) {
        close(s->heap[k].fd);
        free(s->heap[k].buffer);
    }
    free(s->heap);
    *s = (gn_spill){0};
}

static gn_status *flush(const gn_spill *s, gn_heap *h)
{
    int64_t at = h->bytes - h->buffered;
    for (int64_t had = 0; had < h->buffered;) {
        ssize_t put = pwrite(h->fd, h->buffer + had, (size_t)(h->buffered - had),
                             (off_t)(at + had));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            GN_FAIL(GN_ERR_IO, "cannot write beside '%s': %s", s->beside,
                    strerror(put ? errno : ENOSPC));
        had += put;
    }
    h->buffered = 0;
    return NULL;
}

gn_status *gn_spill_put(gn_spill *s, int heap, const void *record)
{
    gn_heap *h = &s->heap[heap];
    if (h->buffered + s->record > BUFFER) GN_TRY(flush(s, h));
    if (!h->buffer && !(h->buffer = malloc(BUFFER)))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %d heaps", s->n);
    memcpy(h->buffer + h->buffered, record, (size_t)s->record);
    h->buffered += s->record;
    h->bytes += s->record;
    return NULL;
}

gn_status *gn_spill_read(gn_spill *s, int heap, int64_t first, int64_t n, void *to)
{
    gn_heap *h = &s->heap[heap];
    unsigned char *p = to;
    GN_TRY(flush(s, h));
    free(h->buffer);
    h->buffer = NULL;
    for (int64_t at = first * s->record, left = n * s->record; left;) {
        ssize_t got = pread(h->fd, p, (size_t)left, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            GN_FAIL(GN_ERR_IO, "cannot read beside '%s': %s", s->beside,
                    strerror(got ? errno : EIO));
        p += got;
        at += got;
        left -= got;
    }
    return NULL;
}

void gn_spill_drop(gn_spill *s, int heap)
{
    gn_heap *h = &s->heap[heap];
    h->bytes = h->buffered = 0;
    (void)!ftruncate(h->fd, 0);
}
