/* Keep: recorded graphs of instances that are gone, for instances of the same shapes that come
 * later.
 *
 * A program that meets graphs of several sizes has an instance for each in turn.  To make a graph
 * that can be launched (cuGraphInstantiate) is taken to last far longer than to record one or to
 * update it (not yet measured), so what an instance has recorded is kept when it goes: one that
 * launches the same kernels with as many blocks takes it over, updated where addresses differ, and
 * as it is where nothing does.  Sizes that come again find their own; where sizes keep changing, as
 * batches' do, one of other blocks is taken over instead of making more.  Graphs take memory of the
 * device and of the host: above a cap those go that were used longest ago. */
#ifndef GN_RUNTIME_CUDA_KEEP_H
#define GN_RUNTIME_CUDA_KEEP_H

#include "runtime/cuda/device.h"

enum {
    GN_CUDA_LIBRARY_CALL = 1
}; /* a call of a library: in the place of a function; of blocks, a digest of it */

/* What a graph does, as words: for each node its function (0: a copy), blocks, number of values,
 * and the values.  One block of memory, which keeping it needs no more of. */
typedef struct gn_cuda_work {
    struct gn_cuda_work *next; /* of those that are kept */
    gn_cuda_graph *graph;
    uint64_t used; /* the clock, when it was put there */
    int64_t n;     /* words */
    int64_t nodes;
    uint64_t word[];
} gn_cuda_work;

typedef struct gn_cuda_keep {
    gn_cuda_work *first;
    int n;
    int64_t bytes, most; /* of all, by estimate, and at most */
    uint64_t clock;
} gn_cuda_keep;

enum {
    GN_CUDA_NODE_BYTES = 16 << 10, /* that a node of a graph is taken to need, on the host and on
                                      the device */
    GN_CUDA_KEEP_BYTES = 64 << 20, /* the cap, unless another is set: about a hundred graphs of
                                      forty nodes */
    GN_CUDA_KEEP_SIZES = 8, /* graphs of the same kernels with other blocks, before one of them is
                               taken over */
};

/* Room for so many words; ends with gn_block_free. */
GN_NODISCARD gn_status *gn_cuda_work_new(int64_t words, gn_cuda_work **out);

/* What two have in common; each has what those before it have. */
typedef enum gn_cuda_likeness {
    GN_CUDA_OTHER_WORK,
    GN_CUDA_SAME_FUNCTIONS, /* node by node */
    GN_CUDA_SAME_BLOCKS,
    GN_CUDA_SAME_VALUES,
} gn_cuda_likeness;
gn_cuda_likeness gn_cuda_work_compare(const gn_cuda_work *a, const gn_cuda_work *b);

void gn_cuda_keep_init(gn_cuda_keep *k);
/* At most so many bytes; 0: nothing is kept.  What is above it goes. */
void gn_cuda_keep_limit(gn_cuda_keep *k, int64_t bytes);

/* Takes w over, with its graph.  What is larger than the cap goes at once. */
void gn_cuda_keep_put(gn_cuda_keep *k, gn_cuda_work *w);
/* The work of a graph that launches what w does, with the graph, to be freed or put back: one with
 * the same values, else one with as many blocks, else, of as many sizes as are kept of one program,
 * the one that was used longest ago.  NULL: there is none. */
gn_cuda_work *gn_cuda_keep_take(gn_cuda_keep *k, const gn_cuda_work *w);

#endif
