#include "runtime/cuda/keep.h"

#include "runtime/memory.h"

#include <string.h>

static int64_t bytes_of(const gn_cuda_work *w)
{
    return (w->nodes + 1) * GN_CUDA_NODE_BYTES + w->n * (int64_t)sizeof *w->word;
}

gn_status *gn_cuda_work_new(int64_t words, gn_cuda_work **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(words + (int64_t)(sizeof **out / sizeof *(*out)->word),
                           sizeof *(*out)->word, "a graph's work", &block));
    *out = block;
    return NULL;
}

void gn_cuda_keep_init(gn_cuda_keep *k) { *k = (gn_cuda_keep){.most = GN_CUDA_KEEP_BYTES}; }

/* The one at *place is no longer kept. */
static gn_cuda_work *leave(gn_cuda_keep *k, gn_cuda_work **place)
{
    gn_cuda_work *one = *place;
    *place = one->next;
    k->n--;
    k->bytes -= bytes_of(one);
    return one;
}

void gn_cuda_keep_limit(gn_cuda_keep *k, int64_t bytes)
{
    k->most = bytes;
    while (k->first && k->bytes > k->most) {
        gn_cuda_work **oldest = &k->first;
        for (gn_cuda_work **p = &k->first; *p; p = &(*p)->next)
            if ((*p)->used < (*oldest)->used) oldest = p;
        gn_cuda_work *one = leave(k, oldest);
        gn_cuda_graph_free(one->graph);
        gn_block_free(one);
    }
}

void gn_cuda_keep_put(gn_cuda_keep *k, gn_cuda_work *w)
{
    w->used = ++k->clock;
    w->next = k->first;
    k->first = w;
    k->n++;
    k->bytes += bytes_of(w);
    if (bytes_of(w) > k->most) { /* alone: what is older need not go for it */
        w = leave(k, &k->first);
        gn_cuda_graph_free(w->graph);
        gn_block_free(w);
    }
    gn_cuda_keep_limit(k, k->most);
}

gn_cuda_likeness gn_cuda_work_compare(const gn_cuda_work *a, const gn_cuda_work *b)
{
    bool blocks = true;
    if (a->n != b->n || a->nodes != b->nodes) return GN_CUDA_OTHER_WORK;
    if (memcmp(a->word, b->word, (size_t)a->n * sizeof *a->word) == 0) return GN_CUDA_SAME_VALUES;
    for (int64_t at = 0; at < a->n; at += 3 + (int64_t)a->word[at + 2]) {
        if (a->word[at] != b->word[at] || a->word[at + 2] != b->word[at + 2])
            return GN_CUDA_OTHER_WORK;
        blocks = blocks && a->word[at + 1] == b->word[at + 1];
    }
    return blocks ? GN_CUDA_SAME_BLOCKS : GN_CUDA_SAME_FUNCTIONS;
}

gn_cuda_work *gn_cuda_keep_take(gn_cuda_keep *k, const gn_cuda_work *w)
{
    gn_cuda_work **found = NULL;
    gn_cuda_likeness best = GN_CUDA_OTHER_WORK;
    int sizes = 0;
    for (gn_cuda_work **p = &k->first; *p; p = &(*p)->next) {
        gn_cuda_likeness like = gn_cuda_work_compare(*p, w);
        bool older = found && like == GN_CUDA_SAME_FUNCTIONS && like == best &&
                     (*p)->used < (*found)->used;
        sizes += like == GN_CUDA_SAME_FUNCTIONS;
        if (like <= best && !older) continue;
        best = like;
        found = p;
    }
    if (best == GN_CUDA_SAME_FUNCTIONS && sizes < GN_CUDA_KEEP_SIZES) return NULL;
    return found ? leave(k, found) : NULL;
}
