/* Lowering: regions to kernels in loop IR.
 *
 * gn_lower turns a fused program into a list of launches over buffers that are still named by what
 * they hold: values, inputs, states, arrays of graphs.  It knows a back end only through its
 * limits; the numbers that shape loops (row blocks, tiles, chunks of a reduction) come from a
 * schedule record, made by low_schedule_default or a tuner. */
#ifndef GN_LOWER_LOWER_H
#define GN_LOWER_LOWER_H

#include "base/dense_product.h"
#include "base/graph_array.h"
#include "ir/gir.h"
#include "ir/kir.h"
#include "ir/limits.h"
#include "ir/precision.h"
#include "ir/switches.h"
#include "fuse/fuse.h"

/* Where the right operand of a GEMM is packed. */
typedef enum low_pack {
    LOW_PACK_NOT,
    LOW_PACK_ALL,   /* before the rows, all of it */
    LOW_PACK_PANEL, /* in every block of rows, panel by panel */
} low_pack;

/* What shapes the loops of one region. Numbers are positive. */
typedef struct low_schedule {
    int64_t row_block;  /* rows a worker takes at once where rows are the lanes */
    int64_t chunk_rows; /* rows of one partial sum of a reduction over a space; results depend on it
                         */
    int64_t block_rows; /* GEMM, INNER: rows that are multiplied at a time, so that they stay in
                           cache */
    int64_t tile_rows; /* GEMM, INNER: rows of a register tile; of a warp, where it has fragments */
    int64_t tile_cols; /* GEMM, INNER: columns of a register tile, likewise */
    int64_t tile_max;  /* row values up to this many elements may be kept in a tile */
    int64_t rows_at_once; /* ROWS: rows whose work is done step by step for all of them */
    int64_t edge_sums; /* vectors of sums over edges that are under way at once: hides the latency
                          of additions */
    int64_t edge_cost; /* of a message, up to which the latency of the sum is what a loop over edges
                          waits for */
    int64_t lanes; /* of a group that runs a row, where a machine has such; 0: the back end's rules
                      say */
    int64_t threads;     /* of a block of such groups, likewise */
    bool split;          /* ROWS: rows of many edges are summed in parts, by kernels of their own */
    int64_t part_edges;  /* edges in a part (gn_part_array_of); rows of two parts have many */
    int64_t part_sums;   /* of a level that a group of the next one takes together, the last what is
                            left over besides */
    int64_t part_levels; /* of sums: of parts, of groups of those, ... */
    int64_t ahead; /* ROWS: rows that edges gather are prefetched so many edges ahead; 0: not at all
                    */
    int64_t block_cols;  /* GEMM, INNER, where lanes share tiles: columns of a block; its rows are
                            block_rows */
    int64_t block_depth; /* and terms of the sums at a time; 0: they do not */
    bool fragments;      /* and warps make products of fragments of `kind` */
    kir_kind kind;
    /* GEMM, INNER that are asked for in less precision: why they are exact; NULL: they are not. */
    const char *why_exact;
    bool pairs; /* GEMM, packed, INNER: operands are rounded to `kind`, and lanes multiply two terms
                   at once (TDOT) */
    low_pack pack; /* GEMM */
    int64_t terms; /* GEMM, packed: of a sum that are side by side in a tile's row, a power of two
                      (lower_terms.c) */
    bool swap;     /* INNER: the lanes run over the columns of the left operand */
} low_schedule;

typedef enum low_kind { LOW_TEMP, LOW_INPUT, LOW_STATE, LOW_OUTPUT, LOW_GRAPH } low_kind;

typedef struct low_size { /* coef * sym + plus elements; sym < 0: coef + plus */
    int64_t coef;
    int sym, plus;
} low_size;

typedef struct low_held { /* from launch `since` on a buffer has what `name` says */
    const char *name;
    uint32_t since;
} low_held;

typedef struct low_buffer {
    low_kind kind;
    const char *name; /* INPUT, STATE, OUTPUT: the binding's; TEMP: for people */
    gn_elem elem;
    low_size size;
    int64_t row_elems;
    gir_space_id space; /* INPUT, STATE, OUTPUT: of the rows */
    gir_id graph;       /* GRAPH: which graph value's array */
    gn_graph_array array;
    GN_VEC(low_held) held; /* TEMP: what else it holds, and when (compile/reuse.c) */
    bool passed_on; /* TEMP: from launch to launch of one chain, row by row (compile/chaining.c) */
} low_buffer;

typedef struct low_sym { /* number of rows of `space`, or that divided by `per`, rounded up; of
                            space 0: `per` itself */
    const char *name;
    gir_space_id space;
    int64_t per;
    gir_id graph; /* not 0: groups of `per` parts of that graph's rows (gn_graph_part_groups) */
    gn_graph_array array;
} low_sym;

/* Buffers of one kernel: `out` may take the memory of `in`, if nobody reads that afterwards. */
typedef struct low_pair {
    int in, out;
} low_pair;

typedef struct low_launch {
    kir_kernel *kernel;  /* NULL: a copy from buffers[1] to buffers[0] */
    GN_VEC(int) buffers; /* low_buffer of each buffer of the kernel */
    GN_VEC(int) syms;    /* low_sym of each symbol of the kernel */
    low_size trip;       /* bound of the THREAD loop; sym < 0 and coef 1 when it has none */
    int64_t step;
    int n_balance; /* rows that these walk are the iterations; 0: even work */
    fu_walk balance[FU_MOST_WALKS];
    int region; /* index into the fusion's regions, for reports */
    /* A product of fragments: of which elements, to which float32 operands are rounded; one that
     * was asked for in less precision and is none: why; else NULL. */
    const char *rounded, *why_exact;
    const char *edges; /* of rows of edges, where lanes share memory: whether they are split, and
                          how; else NULL */
    const gn_product *product; /* NULL: a kernel alone makes it; of a product of blocks of rows
                                   `why_kernel` says why */
    const char *why_kernel;
    GN_VEC(low_pair) pairs; /* compile/reuse.c */
    int chain;              /* > 1: so many from here on are a chain (compile/chaining.c) */
    int64_t chain_row;      /* then: bytes a row of what goes from one of them to another */
    bool again;             /* it ran before, for others (compile/cap.c) */
} low_launch;

typedef struct lowered {
    const gir_program *p;
    const fusion *f;
    GN_VEC(low_buffer) buffers;
    GN_VEC(low_sym) syms;
    GN_VEC(low_launch) launches;
    int n_kept;  /* values that `checkpoint` asks for again and that cannot come: they stay */
    gir_id kept; /* the first of them */
} lowered;

/* How large a graph, or the pattern of an input, will be; where that is not known, schedules
 * suppose something usual. */
typedef struct low_hint {
    const char *name; /* of the graph or of the input */
    int64_t n_src, n_dst, n_edge;
    int64_t joined_src, joined_dst;      /* rows that have edges; 0: not known */
    int64_t max_in, max_out;             /* the largest degrees; 0: not known */
    const int64_t *in_class, *out_class; /* [GN_DEGREE_CLASSES] rows of each class; NULL: not known
                                          */
} low_hint;

typedef struct low_options {
    gn_limits limits;
    gn_elem index;   /* I32 or I64: elements of graph arrays */
    gn_switches off; /* decisions that are switched off */
    gn_precision precision;
    int n_hints;
    const low_hint *hints;
    bool hints_hold;                 /* every run has those sizes */
    const struct low_tuning *tuning; /* other schedules for some regions (tuning.h); NULL: those
                                        that rules make */
} low_options;

/* Bounds of what is kept beside registers, whatever a schedule asks for. */
enum {
    LOW_STACK_BYTES = 240 * 1024, /* of all tiles of a kernel: a back end may refuse 256 KB */
    LOW_PACK_BYTES = 128 * 1024,  /* of what a product has packed at a time */
    LOW_PAIR_BYTES = 96 * 1024, /* of the rows of a block that are rounded for a product of pairs */
    LOW_TILE_ELEMS = 1024,      /* of a register tile */
    LOW_BLOCK_ELEMS = 4096,     /* of the tile that holds a value for a block of rows */
    LOW_SHARED_APART = 4,       /* elements between the rows of a tile that lanes share */
};
/* n elements of a row in a tile: whole vectors, or a part of one */
int64_t low_padded(const gn_limits *limits, int64_t n);
/* GEMM: have the packed operands of such a schedule room where the back end keeps tiles? */
bool low_pack_fits(const low_options *opt, const gir_program *p, const region *r,
                   const low_schedule *s);
/* INNER of that type: how many rows of both operands a block of pairs may have. */
int64_t low_pair_rows(const low_options *opt, const gir_type *t);
/* GEMM: terms side by side where they can be, of which no more rows than registers hold; else
 * one. */
void low_fit_terms(const low_options *opt, const gir_program *p, const region *r, low_schedule *s);

/* What is known of the graph that g is, or comes from; NULL: nothing. */
const low_hint *low_hint_of(const low_options *opt, const gir_program *p, gir_id g);
/* Rows of a space, at most, by the hint of a graph that has them as an end, or as its edges; where
 * there is one graph, by the first of the options' hints; 0: not known. */
int64_t low_rows_hint(const low_options *opt, const gir_program *p, gir_space_id space);

low_schedule low_schedule_default(const low_options *opt, const fusion *f, const region *r);
/* ROWS: are rows split, and by how many edges; how many levels of sums such parts need. */
void low_schedule_parts(const low_options *opt, const fusion *f, const region *r, low_schedule *s);
int64_t low_part_levels(const low_options *opt, const gir_program *p, const region *r,
                        const low_schedule *s);
/* Then: may rows have so many edges by its walk number w? */
bool low_walk_splits(const low_options *opt, const gir_program *p, const region *r, int w,
                     const low_schedule *s);
void low_schedule_dense(const low_options *opt, const gir_program *p, const region *r,
                        low_schedule *s); /* GEMM, INNER */

/* Cleans a kernel up and verifies it (clean.c). */
GN_NODISCARD gn_status *low_clean(kir_kernel *k);

/* Does a machine draw which rows a sum adds (lower_drawn.c)? */
bool low_draws_rows(const gn_limits *limits);

/* GN_ERR_MODEL where a program asks for what loops cannot express (says what and where). */
gn_status *gn_lower(gn_arena *a, const fusion *f, const low_options *opt, lowered **out);

#endif
