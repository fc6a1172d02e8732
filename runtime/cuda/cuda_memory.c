#include "runtime/cuda/cuda_memory.h"

#include "runtime/memory.h"

#include <stdio.h>
#include <string.h>

gn_status *gn_cuda_memory_new(gn_cuda_device *d, gn_cuda_memory **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_cuda_memory), "a device's memory", &block));
    *out = block;
    (*out)->device = d;
    gn_cuda_keep_init(&(*out)->keep);
    return NULL;
}

void gn_cuda_memory_free(gn_cuda_memory *m)
{
    if (!m) return;
    gn_cuda_keep_limit(&m->keep, 0);
    for (int k = 0; k < m->n; k++)
        if (m->all[k].users) gn_cuda_free(m->device, m->all[k].at);
    gn_cuda_free(m->device, m->arena);
    gn_cuda_free(m->device, m->gate);
    gn_block_free(m->all);
    gn_block_free(m);
}

static gn_cuda_shadow *find(const gn_cuda_memory *m, const void *host)
{
    for (int k = 0; k < m->n; k++)
        if (m->all[k].users && m->all[k].host == host) return &m->all[k];
    return NULL;
}

bool gn_cuda_memory_has(const gn_cuda_memory *m, const void *host) { return find(m, host) != NULL; }

/* A place that is free. */
static gn_status *place_of(gn_cuda_memory *m, int *place)
{
    void *block;
    for (*place = 0; *place < m->n; ++*place)
        if (!m->all[*place].users) return NULL;
    if (m->n < m->cap) return NULL;
    int cap = m->cap ? 2 * m->cap : 32;
    GN_TRY(gn_block_new(cap, sizeof *m->all, "shadows", &block));
    if (m->n) memcpy(block, m->all, (size_t)m->n * sizeof *m->all);
    gn_block_free(m->all);
    m->all = block;
    m->cap = cap;
    return NULL;
}

gn_status *gn_cuda_memory_acquire(gn_cuda_memory *m, const void *host, int64_t bytes,
                                  const char *what, gn_device_ptr *at)
{
    gn_cuda_shadow *s = find(m, host);
    int place;
    if (s && s->bytes != bytes)
        GN_FAIL(GN_ERR_INTERNAL, "%s is %lld bytes to one program and %lld to another", what,
                (long long)bytes, (long long)s->bytes);
    if (s) {
        s->users++;
        *at = s->at;
        return NULL;
    }
    GN_TRY(place_of(m, &place));
    GN_TRY(gn_cuda_alloc(m->device, bytes, what, at));
    gn_status *failed = gn_cuda_upload(m->device, *at, host, bytes);
    if (failed) {
        gn_cuda_free(m->device, *at);
        return failed;
    }
    m->all[place] = (gn_cuda_shadow){host, bytes, *at, 1};
    if (place == m->n) m->n++;
    return NULL;
}

void gn_cuda_memory_release(gn_cuda_memory *m, gn_device_ptr at)
{
    for (int k = 0; k < m->n; k++) {
        gn_cuda_shadow *s = &m->all[k];
        if (!s->users || s->at != at) continue;
        if (--s->users == 0) gn_cuda_free(m->device, at);
        return;
    }
}

gn_status *gn_cuda_memory_reserve(gn_cuda_memory *m, int64_t bytes, const char *name)
{
    char what[160];
    if (m->arena && bytes <= m->arena_bytes) return NULL;
    snprintf(what, sizeof what, "the arena of temporaries of %s", name);
    gn_cuda_free(m->device, m->arena); /* nothing is kept in it between runs */
    m->arena = 0;
    m->arena_bytes = 0;
    m->moved++;
    GN_TRY(gn_cuda_alloc(m->device, bytes, what, &m->arena));
    m->arena_bytes = bytes;
    return NULL;
}

void gn_cuda_memory_forget_graphs(gn_cuda_memory *m)
{
    int64_t most = m->keep.most;
    gn_cuda_keep_limit(&m->keep, 0);
    gn_cuda_keep_limit(&m->keep, most);
}

int gn_cuda_memory_graphs(const gn_cuda_memory *m, int64_t *bytes)
{
    if (bytes) *bytes = m->keep.bytes;
    return m->keep.n;
}

gn_status *gn_cuda_memory_push(gn_cuda_memory *m, const void *host)
{
    gn_cuda_shadow *s = find(m, host);
    return s ? gn_cuda_upload(m->device, s->at, host, s->bytes) : NULL;
}

gn_status *gn_cuda_memory_fetch(gn_cuda_memory *m, void *host)
{
    gn_cuda_shadow *s = find(m, host);
    return s ? gn_cuda_download(m->device, host, s->at, s->bytes) : NULL;
}

gn_status *gn_cuda_memory_hold(gn_cuda_memory *m, const void *host, int64_t bytes, const char *what)
{
    gn_device_ptr at;
    return gn_cuda_memory_acquire(m, host, bytes, what, &at);
}

void gn_cuda_memory_drop(gn_cuda_memory *m, const void *host)
{
    gn_cuda_shadow *s = find(m, host);
    if (s) gn_cuda_memory_release(m, s->at);
}
