/* What the files of the lowering share.  lower.c: buffers and launches; lower_level.c: levels and
 * integers; lower_value.c: values as instructions; lower_view.c: views; lower_map.c: elementwise
 * ones; lower_edges.c: passes over the edges of a row; lower_totals.c: sums of such sums;
 * lower_parts.c: over parts of rows of many edges; lower_put.c: rows put among others;
 * lower_near.c: rows by computed numbers; lower_sort.c: rows in order; lower_scan.c: edges in
 * order; lower_rows.c: ROWS and FLAT regions; lower_gemm.c, lower_inner.c: GEMM and INNER regions,
 * on lower_dense.c; lower_terms.c: GEMM of few columns. */
#ifndef GN_LOWER_LOWER_IMPL_H
#define GN_LOWER_LOWER_IMPL_H

#include "ir/kir_ops.h"
#include "lower/lower.h"

/* Where a row is: its space, its index, and the nesting level at which things that depend on it
 * alone are emitted. */
typedef struct where {
    gir_space_id space;
    kir_id row;
    int level;
    kir_id src, dst;  /* ends, where the row is an edge and they are known; else 0 */
    gir_id graph;     /* of which: others may have the same edges, with ends of their own */
    kir_id by_source; /* its place among the edges by source, where the loop runs over those; else 0
                       */
    kir_id in_block;  /* its place among the rows of the block, where those are worked on together;
                         else 0 */
} where;

/* Which element of a row: linear, by component, or both; the missing form is made on demand. */
typedef struct low_ix {
    int rank;
    int64_t dim[GIR_MAX_RANK];
    kir_id lin;
    kir_id comp[GIR_MAX_RANK];
    bool has_comp;
} low_ix;

/* Nesting level: an open block and the place in it where instructions go now.  When a deeper loop
 * is open, that place is just before the loop, so that whatever does not depend on the loop lands
 * outside of it. */
typedef struct level {
    kir_cursor at;
    kir_cursor after; /* where the level goes on when the loop inside it closes */
} level;

enum { MAX_LEVELS = 12 };

typedef struct memo {
    gir_id value;
    kir_id row, lin;
    kir_id result;
    int level;
    kir_id owner; /* block of the level when it was made */
} memo;

typedef struct int_memo {
    uint8_t op;
    kir_id a, b, result;
    int level;
    kir_id owner;
} int_memo;

typedef struct held { /* a value of a row kept in a tile, or of all rows of the block */
    gir_id value;
    kir_id row, tile;
    int64_t stride; /* of a row of the block; 0: of one row */
    int level;
    kir_id owner;
} held;

/* Rows that are worked on together: every step of the work is a loop over them, and what a step
 * leaves to another is in tiles that hold it for all rows. */
typedef struct row_block {
    bool on;
    int level;         /* of what belongs to the whole block */
    kir_id base, rows; /* the first row, and how many */
} row_block;

/* lower_drawn.c: a region's sum over edges that a mask drawn for each leaves of. */
typedef struct low_drawn {
    gir_id value, mask; /* by edge, and what it leaves of that; 0: no such sum */
    gir_id rows;        /* of which an edge that is left adds one */
    double scale;       /* the sum is so many times that */
    int buffer;         /* the rows, with a row of zeros behind */
    int places; /* of the first elements of rows to add, by edge, in the order of the sums */
    kir_id first_row, end; /* of the block, and the edge behind its last */
} low_drawn;

/* lower_totals.c: a sum of sums over edges. */
typedef struct low_total {
    gir_id value;
    gir_id base;  /* that is added besides; 0: nothing */
    int parts;    /* sums that are not in it yet */
    int32_t into; /* the total that it is a part of; -1: of none */
    kir_id tile;
} low_total;

typedef struct far_read { /* rows of `elems` elements of `value` are read at the far end of an edge,
                             or at the edge */
    gir_id value;
    int64_t elems;
    bool at_edge;
} far_read;

typedef struct lower {
    gn_arena *arena;
    const gir_program *p;
    const fusion *f;
    const low_options *opt;
    lowered *out;
    low_drawn *drawn_of;   /* by region */
    bool *zeros_behind;    /* by value: a row of zeros lies behind its last */
    gn_status *error;      /* the first one; checked at the end of each region */
    int32_t *value_buffer; /* by value: low_buffer, or -1 */
    gir_id *put; /* by value over picked rows: the PUT that it is stored by, right into its state */
    float *cost; /* by value: of computing one element again, from what is stored; < 0 unknown */

    /* of the kernel at hand */
    kir_kernel *k;
    low_launch launch;
    GN_VEC(int) kernel_buffer; /* low_buffer -> buffer of the kernel, -1 none */
    const region *r;
    int region;
    low_schedule sched;
    level levels[MAX_LEVELS];
    int depth; /* index of the innermost open level */
    GN_VEC(memo) memos;
    GN_VEC(int_memo) int_memos;
    GN_VEC(held) tiles;
    where row; /* of the region's rows */
    row_block block;
    fu_walk walk;             /* over whose edges the pass at hand goes */
    bool loops;               /* over edges are in the region's rows */
    GN_VEC(low_total) totals; /* of the row at hand */
    int32_t *total_of;        /* by member, where there are some; -1: it goes into none */
    const int *parts; /* by member: buffer of its sums over parts of rows, -1 none; NULL: rows are
                         not split */
    bool splits[FU_MOST_WALKS]; /* by walk: some may have long rows */
    bool *supposed, *alive; /* by value: see lower_versions.c; NULL: nothing is supposed, everything
                               is */
    uint32_t memos_before;  /* what was remembered when that was supposed */
    low_drawn *drawn;       /* what the sums of this region add is drawn; NULL: no */
    where edge;             /* of the current edge in a pass over edges; space 0: none */
    kir_id far;      /* its end that is not the row; 0: none, or nobody asks what is read there */
    kir_id far_edge; /* the edge itself, where a row's edges lie apart (by source); 0 likewise */
    GN_VEC(far_read) far_reads;
    gir_id filling; /* the value whose tile is being filled: computed, not read */
    gir_id product; /* GEMM: the MATMUL, whose elements are in */
    kir_id product_tile, product_at;
} lower;

/* lower.c */
int low_sym_of(lower *L, gir_space_id s, int64_t per);
/* Groups of n parts of the rows of g, one after another; 0 where no row has two
 * (gn_graph_part_groups). */
int low_sym_of_parts(lower *L, gir_id g, gn_graph_array ptr, int64_t n);
int low_buffer_of_value(lower *L, gir_id v); /* LEAF or stored */
/* of v, or of what it is a view of that is stored */
int low_buffer_read(lower *L, gir_id v);
int low_buffer_of_graph(lower *L, gir_id g, gn_graph_array array);
int low_kernel_buffer(lower *L, int buffer, kir_access access); /* the kernel's number for it */
int low_temp(lower *L, const char *name, gn_elem e, low_size size);
void low_begin(lower *L, const char *name);
/* Instructions made from here on are a part of v (kir_inst.of); returns what they were of. */
static inline gir_id low_of(lower *L, gir_id v)
{
    gir_id was = L->k->of;
    L->k->of = v;
    return was;
}
void low_note_precision(lower *L); /* of a product, in its launch */
void low_end(lower *L);
void low_fail(lower *L, gir_id v, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* lower_level.c */
/* is what was made in that block still in scope? */
bool low_visible(const lower *L, int lev, kir_id owner);
kir_id low_scaled_add(lower *L, kir_id a, int64_t scale, kir_id b); /* a * scale + b */
kir_id low_ix_lin(lower *L, low_ix *x);
void low_ix_comp(lower *L, low_ix *x);
/* at the innermost level, folded and shared */
kir_id low_int(lower *L, kir_op op, kir_id a, kir_id b);
kir_id low_times(lower *L, kir_id a, int64_t n); /* a * n */
kir_id low_iconst(lower *L, int64_t v);
kir_id low_fconst(lower *L, gn_elem e, double v);
kir_id low_const(lower *L, gn_elem e, double v); /* of any type of the loop IR */
kir_id low_start(lower *L, gn_elem e, int red);  /* what a reduction of that type starts from */
kir_id low_sym_value(lower *L, gir_space_id s, int64_t per); /* number of rows as i64 */
kir_id low_parts_value(lower *L, gir_id g, gn_graph_array ptr, int64_t n);
kir_id low_count(lower *L, int64_t n); /* n as a symbol, not as a constant of the kernel's text */
kir_id low_open(lower *L, kir_id lo, kir_id hi, int64_t step, kir_unit unit, kir_race race);
kir_id low_open_n(lower *L, int64_t n, kir_unit unit, kir_race race);
kir_id low_open_unrolled(lower *L, int64_t n); /* rounds that do not meet */
kir_id low_open_if(lower *L, kir_id cond);
void low_close(lower *L);
kir_cursor *low_at(lower *L);
/* A loop over the n elements of a row, inside of one over the rows of the block where there is one,
 * which sets L->row. Returns the element. */
kir_id low_open_row(lower *L, int64_t n, kir_race rows);
void low_close_row(lower *L, int64_t n);
int64_t low_stride(const lower *L, int64_t n);      /* of rows of n elements in a tile */
kir_id low_in_tile(lower *L, kir_id off, kir_id j); /* off + j; off 0: none */
low_ix low_index(const gir_type *t, kir_id lin);
kir_id low_value(lower *L, gir_id v, const where *w, low_ix *x);
/* notes that a row of `elems` elements of v, which lies in memory, is read */
void low_note_far_read(lower *L, gir_id v, const where *w, int64_t elems);
/* lower_view.c */
kir_id low_view_value(lower *L, gir_id v, const where *w, low_ix *x);
/* lower_random.c: v's draw for that element */
kir_id low_random_at(lower *L, gir_id v, const where *w, kir_id element);
/* lower_map.c: of elements a[] of its operands */
kir_id low_map(lower *L, gir_id v, const kir_id *a);
/* computes the row into a tile if it is in none yet */
void low_tile_of(lower *L, gir_id v, const where *w);
void low_hold(lower *L, gir_id v, const where *w, kir_id tile, int level);
void low_hold_block(lower *L, gir_id v, kir_id tile);
void low_row_of_block(lower *L, kir_id r); /* L->row: number r of the block's rows */
kir_id low_load(lower *L, int buffer, kir_id at);
/* element j of a tile to buffer b of the kernel */
void low_store_from(lower *L, int b, kir_id at, kir_id tile, kir_id j);
void low_store_value(lower *L, gir_id v, const where *w, kir_id lin, kir_id value);
gn_elem low_elem(gn_elem e); /* the type of a value in the loop IR */
where low_node_at(lower *L, gir_space_id s, kir_id row);
/* The ends of an edge.  In a pass over a row's edges one is the row itself. */
where low_end_of(lower *L, gir_id g, const where *w, int end);
/* Where `cond` holds, row L->row of v becomes row `row` of o; of 0: zeros. */
void low_copy_side(lower *L, gir_id v, gir_id o, kir_id row, kir_id cond);

float low_cost(lower *L, gir_id v); /* of one element from what is stored, in about the time of an
                                       addition */

/* lower_versions.c: the scalars that decide for all edges of the region, at most 8; a version that
 * supposes that they hold, until others are supposed (n = 0: none). */
enum { LOW_MOST_SCALARS = 8 };
int low_version_scalars(lower *L, gir_id *scalar);
void low_suppose(lower *L, int n, const gir_id *scalar);
bool low_supposed(const lower *L, gir_id v); /* v is a SELECT that gives its first value then */
kir_id low_all_hold(lower *L, int n, const gir_id *scalar); /* as a condition */

/* lower_edges.c */
gn_elem low_member_elem(const lower *L, gir_id v);
void low_fill_tile(lower *L, kir_id tile, int64_t n, kir_id value);
/* Passes over the edges of rows: of each level, which reads what those before have summed, one a
 * walk of the region.  Of each member which one computes it, and of that the level and the walk. */
int low_pass_of(const lower *L, gir_id v, int lev);
int low_level_of(const lower *L, int pass);
int low_walk_of(const lower *L, int pass);
/* The passes 1..passes over the edges of L->row; pass: by member of the region, the pass that
 * computes it. */
void low_edge_passes(lower *L, const int *pass, int passes);
/* One pass over the edges of one part of L->row, and what comes of it to the buffers of
 * L->parts. */
void low_edge_part(lower *L, const int *pass, int number, kir_id part);
typedef struct low_sums { /* n sums in the buffers of L->parts: rows first, first + stride, ... */
    kir_id first, n, stride;
} low_sums;
/* What a pass left of those is added, in order, into the place of the first. */
void low_edge_sums(lower *L, const int *pass, int number, low_sums sums);
void low_row_parts(lower *L, kir_id *first, kir_id *end); /* of L->row, by the walk at hand */
/* the same value for every edge: a sum without a loop */
bool low_edge_constant(const lower *L, gir_id sum);

/* lower_totals.c */
void low_find_totals(lower *L, const int *pass);
low_total *low_total_of(lower *L, uint32_t m); /* that member m goes into; NULL: into none */
/* Before a pass that sums those members. Returns whether all that it sums goes into totals. */
bool low_begin_totals(lower *L, const bool *summed);
void low_add_to_total(lower *L, uint32_t m, kir_id tile);
void low_end_totals(lower *L, const bool *summed); /* after it */

/* lower_parts.c: kernels that sum over the edges of rows of many edges, part by part, before the
 * rows' own kernel takes those sums together in order. */
typedef struct low_passes { /* over edges; of a version that supposes that scalars hold, too */
    const int *pass;        /* by member, from 1 */
    int n;
    int n_scalars;
    const gir_id *scalar;
    const int *first_pass;
    int first_n;
} low_passes;
void low_parts(lower *L, const low_passes *z);
const char *low_parts_said(lower *L); /* for people; NULL where the rows have no edges, or no lanes
                                         to share them */

/* lower_drawn.c */
void low_find_drawn(lower *L); /* in every region, before the first is lowered */
/* all that it makes: nobody reads it */
bool low_is_drawn_elsewhere(const lower *L, const region *r);
low_drawn *low_rows_and_zeros(lower *L); /* kernels for what the region at hand adds; NULL: it does
                                            not draw */
int64_t low_drawn_block(void);           /* rows that a worker takes at once */
void low_draw_block(lower *L, kir_id first, kir_id end); /* these */
/* while the edges from `lo` up to `hi` are summed */
void low_draw_ahead(lower *L, kir_id lo, kir_id hi);
/* element j of what the edge number e, in that order, adds */
kir_id low_drawn_value(lower *L, kir_id e, kir_id j);

/* lower_put.c: `put` is one of fusion.put; low_bind_put sets L->put of its rows where they may be
 * stored as soon as they are computed, which low_store_put does; low_put_left does it for others.
 */
void low_bind_put(lower *L, gir_id put);
void low_store_put(lower *L, gir_id v, const where *w, kir_id lin, kir_id value);
void low_put_left(lower *L, gir_id put);
void low_put_rows(lower *L, kir_id i); /* row i of any other, the region at hand */

/* lower_near.c: the region at hand, where it is of rows by numbers; false: it is not. */
bool low_near(lower *L);
/* lower_sort.c: likewise of rows in order */
bool low_sorted(lower *L);
/* lower_scan.c: likewise along the edges into each row */
bool low_along(lower *L);

/* lower_rows.c, lower_gemm.c, lower_inner.c, lower_dense.c */
void low_rows(lower *L);
void low_flat(lower *L);
void low_gemm(lower *L);
void low_inner(lower *L);
/* Adds the partial sums part[chunks, n] into the buffer of v, in order. */
void low_finish_partials(lower *L, gir_id v, int part, int red, gir_space_id space, int64_t chunk);

#endif
