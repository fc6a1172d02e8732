/* Fusion: which values are computed together, in which loop.
 *
 * A region is a loop over the rows of one space.  What it computes for a row it may use for the
 * same row at once ("aligned"); whatever it reads of other rows ("foreign": through an edge, out of
 * a reduction over the space, as an operand of a matrix product) must have been stored by an
 * earlier region.
 *
 * Every value gets one of four places:
 *   LEAF    bound from outside
 *   INLINE  never stored: computed again wherever it is read (views, constants, scalars, random
 *           draws, edge values)
 *   REAL    belongs to exactly one region, and is stored if anything outside the region reads it
 *   UNUSED  no output depends on it */
#ifndef GN_FUSE_FUSE_H
#define GN_FUSE_FUSE_H

#include "ir/gir.h"
#include "ir/switches.h"

typedef enum fu_place { FU_UNUSED, FU_LEAF, FU_INLINE, FU_REAL } fu_place;

typedef enum region_kind {
    RG_ROWS,  /* a loop over rows: passes over each row's edges, row work, sums over the space */
    RG_FLAT,  /* a loop over the elements of none-space tensors of one size (optimizer updates) */
    RG_GEMM,  /* rows of S[k] @ [k,n], or of the sum of several such, with elementwise work on it */
    RG_INNER, /* S[k]^T @ S[n]: a contraction over the rows */
    RG_CARRY, /* edge values between a graph and one derived from it; rows put among others, or
                 numbered by what is computed */
} region_kind;

typedef struct fu_walk { /* over the edges of each row */
    gir_id graph;
    int end; /* GIR_DST: rows are destinations (CSR); GIR_SRC: sources (CSC) */
} fu_walk;

enum {
    FU_MOST_WALKS = 8,    /* of a region: more are several regions, which add to each other */
    FU_MOST_PRODUCTS = 8, /* of a GEMM; of two where a program has one relation */
    FU_MOST_WALKED_ELEMS = 2048,     /* of all sums over edges of a region with several walks */
    FU_MOST_TOTAL_ELEMS = 48 * 1024, /* of all sums over the rows of a region with several */
};

typedef struct region {
    region_kind kind;
    gir_space_id space; /* ROWS, GEMM: of the rows; INNER: that is contracted; 0: none (one row) */
    int n_walks;        /* ROWS: relations whose edges are walked, one after another */
    fu_walk walk[FU_MOST_WALKS];
    int64_t n;              /* FLAT: elements; GEMM, INNER: columns of the product */
    GN_VEC(gir_id) members; /* in program order */
} region;

typedef struct fu_options {
    bool eager; /* an operator a kernel: nothing inline but constants and what has no loop of its
                   own */
    bool lanes; /* each lane computes scalars for itself: those of many instructions are stored */
    gn_switches off; /* decisions that are switched off */
} fu_options;

/* Why a value did not join a region that it reads from, or is read by. */
#define FU_REASONS(X)                                                                              \
    X(FOREIGN, "reads it of other rows")                                                           \
    X(CYCLE, "needs what is computed after it")                                                    \
    X(SPACE, "has rows of another space")                                                          \
    X(GRAPH, "walks the edges of another graph, or from the other end")                            \
    X(OWN_LOOP, "is a product, a contraction or a carry: a loop of its own")                       \
    X(EPILOGUE, "only elementwise work of its width may follow a product or a contraction")        \
    X(ELEMENTS, "one loops over elements, the other over rows")                                    \
    X(FULL, "has as many members as a region may have")                                            \
    X(WALKS, "walks the edges of as many graphs as a region may")                                  \
    X(APART, "shares nothing with it")                                                             \
    X(OFF, "fusion is switched off")
typedef enum fu_reason {
    FU_AGREED,
#define X(id, text) FU_##id,
    FU_REASONS(X)
#undef X
        FU_REASON_COUNT
} fu_reason;
extern const char *const fu_reason_text[FU_REASON_COUNT];

typedef struct fu_refusal { /* `value` and `region`, which it reads from, did not come together */
    gir_id value, because;  /* because: what it reads of that region */
    uint32_t region;
    fu_reason reason;
} fu_refusal;

typedef struct fu_reader { /* `value` is stored because a member of `region` reads it */
    gir_id value;
    uint32_t region;
} fu_reader;

typedef struct fusion {
    const gir_program *p;
    uint8_t *place;     /* fu_place, by value */
    bool *stored;       /* REAL values that go to memory */
    int32_t *region_of; /* REAL: index into regions; else -1 */
    gir_id *walk;   /* REAL edge values made by a loop over the edges of rows: a sum of them by that
                       loop; else 0 */
    uint32_t *uses; /* number of uses among needed values */
    bool *put;      /* PUTs that update the state that they are put into, which nobody else reads:
                       INLINE, done where the state lies */
    GN_VEC(region) regions; /* in an order in which they can run */
    GN_VEC(fu_refusal) refusals;
    GN_VEC(fu_reader) readers;
} fusion;

/* fuse_walks.c: the walk over edges that makes v, a sum or a value that one leaves; graph 0: none
 * does. */
fu_walk fu_walk_of(const fusion *f, gir_id v);
int fu_find_walk(const region *r, fu_walk w); /* which of the region's it is; -1: none */
/* Are both over relations that were bound, so that one region may have them? */
bool fu_are_relations(const gir_program *p, fu_walk a, fu_walk b);
bool fu_has_relations(const fusion *f); /* more than one, or kinds of edges of one */
int64_t fu_walked_elems(const gir_program *p, const region *r); /* of r's sums over edges */
/* Does r walk edges, but not those that a region `own` of one walk does? */
bool fu_walks_others(const region *r, const region *own);

/* fuse_twins.c: by value: an earlier one that is the same; 0: none. */
gir_id *fu_find_twins(gn_arena *a, const fusion *f);

/* fuse_place.c: sets place and uses; lanes: see fu_options. */
void fu_choose_places(gn_arena *a, fusion *f, gn_switches off, bool lanes);

/* fuse_sink.c: values that only one later region reads move there, where that is less to store. */
void gn_fuse_sink(gn_arena *a, fusion *f);

/* How many values are computed on the edges both for the sum v and for sums of r. */
int fu_shared_work(gn_arena *a, const fusion *f, gir_id v, const region *r);

fusion *gn_fuse(gn_arena *a, const gir_program *p, const fu_options *opt);

/* One line a region, for people: kind, space, members, what is stored. */
void gn_fusion_print(const fusion *f, gn_buf *out);

static inline int64_t fu_elems(const gir_program *p, gir_id v)
{
    return gir_row_elems(gir_type_of(p, v));
}
static inline bool fu_is_edge_space(const gir_program *p, gir_space_id s)
{
    return p->spaces.p[s].kind == GIR_EDGE;
}
/* What output number k has stored for it: the rows of a PUT that is done where its state lies, or
 * the output's value. */
gir_id fu_left_by(const fusion *f, uint32_t k);
/* GEMM: its products, which are added up, and how many they are; other regions have none. */
int fu_products(const gir_program *p, const region *r, gir_id product[FU_MOST_PRODUCTS]);
/* a cast to float32 of 16-bit floats: what a load of those does anyway */
bool fu_is_widening(const gir_program *p, gir_id v);
/* a view whose elements lie as its operand's do, or such a cast */
bool fu_is_identity_view(const gir_program *p, gir_id v);

#endif
