/* What the files of the CUDA back end share.
 *
 * The mapping.  `width` lanes, a *group*, run one iteration of the THREAD loop together.  What
 * stands outside of VECTOR loops all lanes of a group compute, each for itself, and come to the
 * same; VECTOR loops are spread over them: lane l takes iterations (c * width + l) * vec + q, for
 * every chunk c and q in [0, vec).  A group of up to a warp shares its warp with others; one of
 * more is a block.  In kernels with a BLOCK loop the group is the block, LANE and WARP loops are
 * spread, VECTOR loops are not.
 *
 * Tiles live where their accesses allow (plan.c):
 *   LOCAL   every lane holds all of it and does the same to it
 *   SPREAD  in registers, each element in the lane that every access to it comes from
 *   SHARED  in shared memory, a copy a group; where one lane reads what another wrote, a barrier of
 *           the group stands between */
#ifndef GN_CODEGEN_CUDA_EMIT_CUDA_H
#define GN_CODEGEN_CUDA_EMIT_CUDA_H

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/nvrtc.h"
#include "ir/kir_facts.h"

enum {
    CU_WARP = 32,
    CU_THREADS = 128,       /* of a block whose groups are parts of warps */
    CU_PHASE_THREADS = 256, /* of a whole program: each may have 255 registers, so none spills for
                               it */
    CU_MAX_THREADS = 1024,
    CU_SHARED = 48 * 1024,
    CU_PROCESSORS = 108 /* an A100's; the same code for every device of an architecture */
};

typedef enum cu_place { CU_LOCAL, CU_SPREAD, CU_SHARED_TILE } cu_place;

typedef struct cu_tile {
    cu_place place;
    int64_t regs;   /* LOCAL, SPREAD: elements a lane */
    int64_t stride; /* SPREAD: neighbouring elements that lie in one lane: vec, or those of a lane
                       of a LANE loop */
    int64_t offset, bytes; /* SHARED: where it lies, with what is left free behind it */
    kir_id end;            /* SHARED: from here on nobody touches it */
    int bit;               /* SHARED: in sets of memories */
} cu_tile;

/* Sets of memories: shared tiles, and buffers that have a bit (cu.buffer_bit). */
typedef struct cu_touched {
    uint64_t read, written;
} cu_touched;

typedef struct cu {
    gn_arena *arena;
    const kir_kernel *k; /* instructions in textual order */
    kir_facts facts;
    kir_id thread; /* THREAD or BLOCK loop, 0: none */
    bool block;    /* it is a BLOCK loop */
    int width, vec;
    int phase; /* threads of a block that runs it as a phase of a larger kernel; 0: it is one itself
                */
    int64_t per_block; /* groups that share a block */
    int64_t shared;    /* bytes a group */
    int64_t scratch;   /* and a block, for reductions */
    kir_id *loop_of;   /* by instruction: the spread loop around it, 0: none */
    bool *varies;      /* by instruction: differs from lane to lane */
    bool *used;        /* by instruction: its value stands in the text */
    bool *simple;      /* by spread loop: straight-line */
    cu_tile *tile;     /* by instruction */
    int *buffer_bit;   /* buffers that are read and written, or written twice; -1: others */
    const char **buffer, **sym; /* names */

    /* writing */
    gn_buf *out;
    int indent;
    bool wide;        /* in a simple spread loop: `vec` copies of what varies */
    bool *once;       /* by instruction: of the copies the first alone is needed */
    kir_id spread;    /* the spread loop at hand */
    cu_touched lanes; /* by spread loops since the group last met */
    cu_touched alone; /* and by what stands outside of them: all lanes read, the first writes */
} cu;

/* kernel.c: kernel k as a function, __global__ where `phase` is 0, else for blocks of so many
 * threads that call it. */
GN_NODISCARD gn_status *cu_function(const kir_kernel *k, const char *symbol, const char *origin,
                                    int phase, gn_buf *out, gn_cuda_geometry *geometry);
/* How it would be launched, without its text. */
GN_NODISCARD gn_status *cu_geometry(gn_arena *a, const kir_kernel *k, int phase,
                                    gn_cuda_geometry *geometry);

/* plan.c: NULL, or what the back end has not. */
const char *cu_plan(cu *c);
int64_t cu_trips(const kir_kernel *k, const kir_inst *loop); /* -1: bounds are not constants */
bool cu_is_spread(const cu *c, kir_id loop);
int cu_vec(const cu *c, kir_id loop); /* iterations a lane takes side by side: one where every lane
                                         has one at most */
bool cu_is_shared(const cu *c, kir_id tile);
/* Adds to *t what the block from `first` on touches in spread loops, or outside of them. */
void cu_effects(const cu *c, kir_id first, bool spread, cu_touched *t);
void cu_effect(const cu *c, kir_id inst, cu_touched *t);
/* The index of inst, a tile access, is coef times its spread loop's variable and terms that all
 * lanes share: *rest. */
bool cu_affine(const cu *c, kir_id index, int64_t *coef, kir_sum *rest);
bool cu_is_deferred(const cu *c, kir_id inst); /* a reduction over lanes, which is made when the
                                                  loop is over */
/* n, where a loop's iterations k * n to k * n + n - 1 meet in element k of a tile, in the chunk at
 * hand; 0: not so. */
int64_t cu_segment(const cu *c, kir_id inst);
bool cu_is_vector_access(const cu *c, kir_id inst); /* LOAD or STORE of `vec` elements at once */

/* program.c.  What an object is made of: `write` appends its text, with the geometry of its n
 * kernels. */
typedef struct cu_source {
    const void *of;
    int n;
    gn_status *(*write)(const void *of, gn_buf *text, gn_cuda_geometry *g);
} cu_source;
GN_NODISCARD gn_status *cu_object(const cu_source *s, int arch, gn_nvrtc_output what,
                                  gn_code_object *out);
GN_NODISCARD gn_status *cu_ptx(const cu_source *s, int arch, bool quick, gn_buf *out);

/* value.c */
bool cu_is_int(const cu *c, kir_id v); /* an i64 that an int holds */
const char *cu_type(const cu *c, kir_id v);
const char *cu_elem_type(gn_elem e);    /* of values */
const char *cu_storage_type(gn_elem e); /* of buffers */
/* x, an element of a buffer, as values are */
const char *cu_loaded(const cu *c, gn_elem e, const char *x);
const char *cu_vector(gn_elem e); /* of four of them, as CUDA names it; NULL: lanes take one at a
                                     time */
const char *cu_ref(const cu *c, kir_id v, int copy);
const char *cu_value(const cu *c, kir_id v, int copy); /* of a VALUE or a LOAD, as an expression */
const char *cu_stored(const cu *c, int buffer, kir_id v, int copy);
/* What lies in memory as elements e, as a value; and a value as it lies there, where that is a
 * narrow float. */
const char *cu_widened(const cu *c, gn_elem e, const char *x);
const char *cu_narrowed(const cu *c, gn_elem e, const char *x);
const char *cu_number(const cu *c, gn_elem e, double f);
const char *cu_integer(const cu *c, int64_t i);

/* tile.c */
/* the tile's element that inst names, an lvalue */
const char *cu_element(const cu *c, kir_id inst, int copy);
const char *cu_tile_value(const cu *c, kir_id inst, int copy); /* TLOAD, as an expression */
void cu_tile_write(cu *c, kir_id inst, int copy);
void cu_fragments(cu *c, kir_id inst); /* MMA */
/* A loop that copies neighbours between shared memory and the lane's registers, so that four go at
 * a time; 0: it is none. */
kir_id cu_copied(const cu *c, kir_id loop); /* the TSTORE */
void cu_copy(cu *c, kir_id store);
void cu_reduce_begin(cu *c, kir_id loop);
void cu_reduce_end(cu *c, kir_id loop);
/* The same of sums over segments, chunk by chunk; `limit`: a chunk's lanes reach beyond so many
 * iterations; 0: they do not. */
void cu_segments_begin(cu *c, kir_id loop);
void cu_segments_end(cu *c, kir_id loop, int64_t limit);

/* block.c */
void cu_line(cu *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A barrier, where what follows and touches `now`, a spread loop or what stands outside, must not
 * run ahead. */
void cu_meet(cu *c, cu_touched now, bool spread);
void cu_block(cu *c, kir_id first);

#endif
