/* Graph: a relation from source nodes to destination nodes, in CSR (by destination) and CSC (by
 * source).
 *
 * Edge values live in stable CSR order: sorted by destination, ties in the user's order.  Built
 * once, immutable afterwards; any number of threads may read.  Indices are 32 bits wide unless a
 * count needs 64 or the maker asks for it. A count or size that does not fit memory is
 * GN_ERR_NOMEM; a graph that contradicts itself is GN_ERR_DATA. */
#ifndef GN_RUNTIME_GRAPH_GRAPH_H
#define GN_RUNTIME_GRAPH_GRAPH_H

#include "base/draw.h"
#include "base/elem.h"
#include "base/graph_array.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of a graph as a whole, for schedules; computed when first asked for. */
typedef struct gn_graph_facts {
    int64_t max_in_degree, max_out_degree;
    /* nodes by degree (gn_degree_class) */
    int64_t in_class[GN_DEGREE_CLASSES], out_class[GN_DEGREE_CLASSES];
} gn_graph_facts;

typedef struct gn_graph {
    int64_t n_src, n_dst, n_edge, n_parent_edge;
    int64_t copies; /* derived: images of an edge; 0: one at most */
    gn_elem index;  /* I32 or I64: of all arrays but VALUE, ROW_VALUE and CELL */
    bool derived;   /* has FROM and IMAGE */
    bool picks;     /* edge k ends at destination k: picks rows of the sources */
    bool changes;   /* drawn anew now and then: no array is shared with another */
    /* Of a graph that has edges into few rows: which those are, ascending [n_listed], and where
     * their edges begin [n_listed + 1], both of `index`; ROW_PTR is made on demand then.  NULL:
     * into any. */
    int64_t n_listed;
    void *listed, *listed_ptr;
    struct gn_groups *groups; /* of rows that are apart, and edges between those; else NULL */
    bool symmetric; /* found when CSC was made: its arrays are those by destination, owned there */
    gn_graph_arrays lent; /* arrays that another owns, and keeps for as long as the graph lives */
    void *array[GN_GRAPH_ARRAY_COUNT]; /* 64-byte aligned; NULL until made: ROW, IMAGE and CSC when
                                          first required */
} gn_graph;

/* The narrowest width that holds every index of such a graph. */
gn_elem gn_graph_index_for(int64_t n_src, int64_t n_dst, int64_t n_edge);

/* Compiled code reads the indices of all its graphs in one width: those below are as wide as
 * `index` at least, and wider where their counts ask for it.  GN_ERR_USAGE: a count is negative, or
 * there are edges and no address of them. */

/* From an edge list, checked: every index in range (the error names edge, value and limit), counts
 * fit. Copies.  `ends`, GN_I32 or GN_I64, is what src and dst [n_edge] hold. */
GN_NODISCARD gn_status *gn_graph_from_coo(gn_elem index, int64_t n_src, int64_t n_dst,
                                          int64_t n_edge, gn_elem ends, const void *src,
                                          const void *dst, gn_graph **out);

/* The same of n nodes by destinations: src[row[v]] .. src[row[v + 1] - 1] are the sources of v; row
 * [n + 1], in `ends` too. */
GN_NODISCARD gn_status *gn_graph_from_rows(gn_elem index, int64_t n, gn_elem ends, const void *row,
                                           const void *src, gn_graph **out);

/* Edges and rows that come behind those of a graph: src and dst [n] of `ends`. */
typedef struct gn_more {
    int64_t src_rows, dst_rows, n;
    gn_elem ends;
    const void *src, *dst;
} gn_more;
/* The graph with those besides: as it would be if all had been given at once, but made by one pass
 * over what is sorted already.  Not of patterns or derived graphs. */
GN_NODISCARD gn_status *gn_graph_append(const gn_graph *g, const gn_more *more, gn_graph **out);

/* A graph whose arrays by destination are there already, as it would have them, and stay where they
 * are: row_ptr [n_dst + 1], col and pos [n_edge] of `index`, which holds all counts.  They are the
 * caller's, who has checked them. */
GN_NODISCARD gn_status *gn_graph_lent(gn_elem index, int64_t n_src, int64_t n_dst, int64_t n_edge,
                                      const void *const arrays[3], gn_graph **out);

/* The pattern of a sparse matrix given by rows (ptr [rows+1], col [nnz], val [nnz]; val NULL: all
 * 1): edges col -> row, VALUE set.  Zero values are kept as edges: the pattern is what the caller
 * says it is; values of a column that stands in a row more than once are added, since functions of
 * an element are taken of its edge. */
GN_NODISCARD gn_status *gn_graph_from_csr(gn_elem index, int64_t rows, int64_t cols,
                                          const int64_t *ptr, const int32_t *col, const float *val,
                                          gn_graph **out);

/* The pattern of a dense row-major matrix: an edge where the value is not 0 (a NaN is not 0). */
GN_NODISCARD gn_status *gn_graph_from_dense(gn_elem index, int64_t rows, int64_t cols,
                                            const float *x, gn_graph **out);

/* That matrix again, into to [n_dst, n_src]. */
void gn_graph_to_dense(const gn_graph *pattern, float *to);

/* A copy, of what a graph is made of and not of what was made on demand, with indices of 64
 * bits. */
GN_NODISCARD gn_status *gn_graph_widen(const gn_graph *g, gn_graph **out);

/* GN_ERR_DATA when loops are asked of a graph whose ends differ in size. Order of edges as ops.def
 * says: the derived graph's user list is the parent's user list with edges dropped and loops 0..n-1
 * appended. Reverse keeps the list. The parent may be freed afterwards.  VALUE is not derived. */
GN_NODISCARD gn_status *gn_graph_derived(const gn_graph *g, gn_graph_derive how, gn_graph **out);

/* Picks of rows (SUBSET, GROW and RESTRICT of ops.def). `mask` [n] is 0 where a row is left out;
 * indices are as wide as `index` at least. `src`, `dst`: picks, or NULL where that end stays as it
 * is.  Places in the user's list are those of `g`; a pattern whose rows alone are picked stays one.
 * GN_ERR_DATA where sizes do not meet, and where a pick that is restricted loses a row. */
GN_NODISCARD gn_status *gn_graph_subset(int64_t n, const uint8_t *mask, gn_elem index,
                                        gn_graph **out);
/* The same of rows [n_set] that are listed, in any order, repeats too. */
GN_NODISCARD gn_status *gn_graph_subset_of(int64_t n, int64_t n_set, const int64_t *set,
                                           gn_elem index, gn_graph **out);
/* `r`: a pick of the rows at the other end; NULL: all. `also`: a pick of the rows at this end,
 * which is added; may be NULL. */
GN_NODISCARD gn_status *gn_graph_grow(const gn_graph *g, int end, const gn_graph *r,
                                      const gn_graph *also, gn_graph **out);
/* ENDS of ops.def.  `ends`: bits 1 << end. `added`: how many rows an edge can name at most that
 * `s`, another such pick or NULL, does not.  FROM is -1 where a row fills the pick up. */
GN_NODISCARD gn_status *gn_graph_ends(const gn_graph *g, int ends, int64_t added, const gn_graph *s,
                                      gn_graph **out);
GN_NODISCARD gn_status *gn_graph_restrict(const gn_graph *g, const gn_graph *src,
                                          const gn_graph *dst, gn_graph **out);

/* g's edges but those that go from and to the rows that an edge of h does (WITHOUT of ops.def). */
GN_NODISCARD gn_status *gn_graph_without(const gn_graph *g, const gn_graph *h, bool either,
                                         gn_graph **out);

/* Rows apart (SUBSET and FILTER of ops.def): rows of a batch that share nothing, each with a group
 * of rows that are grown for it alone.  Graphs that come of such a pick have the group of each
 * destination, those that come of such edges of each edge. */
typedef struct gn_groups {
    int64_t n;
    bool of_edges;  /* else of destinations */
    int64_t *group; /* [n] */
    int64_t *until; /* [n] times at which edges into the group's rows count at the latest, or NULL
                     */
} gn_groups;

/* Whole numbers, of GN_I32 or GN_I64; NULL: there are none. */
typedef struct gn_times {
    const void *p;
    gn_elem elem;
} gn_times;

/* Each row of the pick r, or edge of r where `edges`, is a group of its own.  `time`: of the rows,
 * or the edges of the graph, that r comes of.  Edges that count are not after it, or
 * `before` it. */
GN_NODISCARD gn_status *gn_graph_set_apart(gn_graph *r, bool edges, gn_times time, bool before);
/* The edges of d, which come of those of g, are of the groups of those. */
GN_NODISCARD gn_status *gn_graph_keep_groups(const gn_graph *g, gn_graph *d);

/* Graphs of some edges, and of others (FILTER, INDEX and CORRUPT of ops.def).  `mask` [n_edge] in
 * CSR order is 0 where an edge is left out. */
GN_NODISCARD gn_status *gn_graph_filter(const gn_graph *g, const uint8_t *mask, gn_graph **out);
/* The same of edges [n_set] that are listed by their places in CSR order, in any order, repeats
 * too.  The graph has ROW. */
GN_NODISCARD gn_status *gn_graph_filter_of(const gn_graph *g, int64_t n_set, const int64_t *set,
                                           gn_graph **out);
/* rows [n], of GN_I32 or GN_I64: each below n_src and not negative, or GN_ERR_DATA, which says
 * which element is not. `of`: the graph whose edges the n rows are; NULL: of none. */
GN_NODISCARD gn_status *gn_graph_index(gn_elem index, int64_t n_src, int64_t n, gn_elem elem,
                                       const void *rows, const gn_graph *of, gn_graph **out);
/* Numbers of edges, of GN_I32 or GN_I64. */
typedef struct gn_edge_numbers {
    int64_t n;
    gn_elem elem;
    const void *p;
} gn_edge_numbers;
/* GROUP, GROUP_ROWS and GROUP_NUMBERS of ops.def.  The latter: of the numbers that the group is by,
 * each below `rows` and not negative, or GN_ERR_DATA. */
GN_NODISCARD gn_status *gn_graph_group(const gn_graph *g, gn_edge_numbers k, gn_graph **out);
GN_NODISCARD gn_status *gn_graph_group_rows(const gn_graph *h, const gn_graph *g, gn_graph **out);
GN_NODISCARD gn_status *gn_graph_group_numbers(const gn_graph *h, gn_edge_numbers k, int64_t rows,
                                               gn_graph **out);
/* The graph's edges in the order of the user's list, of the width of its indices; a block. */
GN_NODISCARD gn_status *gn_graph_list(const gn_graph *g, void **out);
/* `most` of the edges, or all where there are no more: one of each of as many even parts of the
 * user's list, in its order (gn_draw_part of base/draw.h).  `list`: that of gn_graph_list, or
 * NULL. */
GN_NODISCARD gn_status *gn_graph_sample(const gn_graph *g, uint64_t key, int64_t most,
                                        uint32_t site, const void *list, gn_graph **out);
/* The edges into the rows of the pick r, which has each once, of each at most `most`, with `loops`
 * those from a row to itself besides: DRAW of ops.def. */
enum { GN_DRAW_WAY = 4 };
typedef struct gn_drawing {
    uint64_t key;
    int64_t most; /* INT64_MAX: all */
    uint32_t site;
    gn_draw_loops loops;
    gn_draw_how how;
    /* NULL: all edges alike; else one, not negative, for each of the edges of the graph that g
     * comes of by way of these [n_way], g the first, whose FROM tells (of a new loop 1). */
    const float *weight;
    int n_way;
    const gn_graph *way[GN_DRAW_WAY];
    gn_times time; /* of the edges, as weights are, or of the rows that they come from */
    bool time_of_rows;
    bool unplaced; /* nobody asks where edges stand in the user's list: POS is of no use then, and
                      that of g is not read */
} gn_drawing;
GN_NODISCARD gn_status *gn_graph_draw(const gn_graph *g, const gn_graph *r, const gn_drawing *how,
                                      gn_graph **out);
/* What is drawn of an edge: base/draw.h. */
typedef struct gn_corruption {
    uint64_t key;
    int64_t times; /* > 0 */
    int end;       /* 0 sources, 1 destinations, 2 either */
    uint32_t site;
} gn_corruption;
GN_NODISCARD gn_status *gn_graph_corrupt(const gn_graph *g, const gn_corruption *c, gn_graph **out);
/* The arrays of g become those of `now`, which has the same numbers of rows and edges, where they
 * are. */
GN_NODISCARD gn_status *gn_graph_refill(gn_graph *g, gn_graph *now);

/* Makes sure arrays in the bit set (1 << gn_graph_array) exist.  Safe against concurrent calls on
 * one graph; an array once made stays where it is.  GN_ERR_DATA for VALUE, ROW_VALUE and CELL of
 * what is no pattern, MATRIX_ROW of what is no pattern of picked rows, FROM and IMAGE of what is
 * not derived. */
GN_NODISCARD gn_status *gn_graph_require(gn_graph *g, gn_graph_arrays arrays);
GN_NODISCARD gn_status *gn_graph_find_facts(gn_graph *g, gn_graph_facts *out); /* likewise safe */
/* Frees the arrays that are not in the bit set, nor shared with one that is.  Nothing but those may
 * be asked of the graph afterwards. */
void gn_graph_trim(gn_graph *g, gn_graph_arrays arrays);
void gn_graph_free(gn_graph *g); /* NULL is fine */

/* elements of an array, made or not */
int64_t gn_graph_array_count(const gn_graph *g, gn_graph_array k);
gn_elem gn_graph_array_elem(const gn_graph *g, gn_graph_array k);
/* PART_PTR or CSC_PART_PTR, made: how many groups of n parts there are, one after another, the last
 * of fewer; 0 where no row has two groups. */
int64_t gn_graph_part_groups(const gn_graph *g, gn_graph_array ptr, int64_t n);
int64_t gn_graph_trimmed_bytes(const gn_graph *g, gn_graph_arrays arrays); /* after gn_graph_trim */
int64_t gn_graph_bytes(const gn_graph *g); /* of the arrays that exist; shared ones count once */
/* more that it would have if it were not symmetric */
int64_t gn_graph_shared_bytes(const gn_graph *g);

/* Rows of edges, row_bytes each, from the user's order to CSR order and back.  from and to do not
 * overlap. */
void gn_graph_edges_in(const gn_graph *g, int64_t row_bytes, const void *from, void *to);
void gn_graph_edges_out(const gn_graph *g, int64_t row_bytes, const void *from, void *to);

static inline int64_t gn_index_get(const void *p, gn_elem index, int64_t i)
{
    return index == GN_I32 ? ((const int32_t *)p)[i] : ((const int64_t *)p)[i];
}

static inline void gn_index_set(void *p, gn_elem index, int64_t i, int64_t value)
{
    if (index == GN_I32)
        ((int32_t *)p)[i] = (int32_t)value;
    else
        ((int64_t *)p)[i] = value;
}

#endif
