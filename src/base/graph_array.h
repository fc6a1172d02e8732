/* The arrays that describe a graph, by name: what compiled code may read of one, and how one graph
 * comes from another. Shared by the compiler, which asks for them, and the runtime, which makes
 * them (runtime/graph/graph.h). */
#ifndef GN_BASE_GRAPH_ARRAY_H
#define GN_BASE_GRAPH_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum gn_graph_array {
    GN_GRAPH_ROW_PTR, /* [n_dst + 1] first edge of a destination */
    GN_GRAPH_COL, /* [n_edge] source of an edge                                                  */
    GN_GRAPH_ROW, /* [n_edge] destination of an edge                                             */
    GN_GRAPH_POS, /* [n_edge] place of the edge in the user's list (random draws, output order)  */
    GN_GRAPH_COL_PTR,  /* [n_src + 1] first position of a source in the arrays below  */
    GN_GRAPH_CSC_ROW,  /* [n_edge] destinations, by source, ascending CSR position within a source;
                          of a graph that is its  own transpose in the order of COL, where a row's
                          loop may be last                */
    GN_GRAPH_CSC_EDGE, /* [n_edge] CSR position of each */
    GN_GRAPH_FROM,  /* [n_edge] derived graphs: CSR position in the parent of the edge it came from,
                       -1: a new loop */
    GN_GRAPH_IMAGE, /* [edges of the parent] derived graphs: CSR position of the edge's image here,
                       -1: dropped; of several images, as many for each edge, in order */
    GN_GRAPH_VALUE, /* [n_edge] f32: patterns: the value x[dst, src] */
    GN_GRAPH_CSC_VALUE, /* [n_edge] f32: the same, by source: of edge CSC_EDGE[k] at k */
    GN_GRAPH_CELL, /* [n_edge] i64: patterns: which element of the matrix, row by row, the edge is
                    */
    GN_GRAPH_CSC_CELL,   /* [n_edge] i64: the same, by source   */
    GN_GRAPH_MATRIX_ROW, /* [n_dst] patterns of picked rows: row of the matrix that a destination is
                          */
    GN_GRAPH_ROW_VALUE,  /* [n_dst] f32: patterns: the value of a destination's first edge, 0 where
                            it has none */
    GN_GRAPH_PARTS, /* four arrays (gn_part_array) for each number of edges in a part: see below  */
} gn_graph_array;

/* Rows of many edges come in parts of so many edges or up to half as many more: what is over is
 * shared out evenly.  Rows of fewer than two parts have none.  Behind pointers lies the array of
 * what they point into: PART_ROW is PART_PTR + 1. */
typedef enum gn_part_array {
    GN_PART_PTR,     /* [n_dst + 1] first part of a destination's edges */
    GN_PART_ROW,     /* [parts] destination that a part is of           */
    GN_CSC_PART_PTR, /* [n_src + 1] the same, by source                 */
    GN_CSC_PART_ROW,
    GN_PART_ARRAYS
} gn_part_array;

enum {
    GN_PART_LEAST = 16, /* edges in a part: this, or twice, four or eight times as many */
    GN_PART_CLASSES = 4,
    GN_PART_MOST = GN_PART_LEAST << (GN_PART_CLASSES - 1),
    GN_GRAPH_ARRAY_COUNT = GN_GRAPH_PARTS + GN_PART_CLASSES * GN_PART_ARRAYS,
};

typedef uint64_t gn_graph_arrays; /* bit set of gn_graph_array */
_Static_assert(GN_GRAPH_ARRAY_COUNT < 64, "a set of arrays is the bits of a gn_graph_arrays");
#define GN_ARRAY(array) ((gn_graph_arrays)1 << (array))

/* A row of 2^k edges or more, and fewer than twice that, is of degree class k; the last has all
 * beyond, none those without. */
enum { GN_DEGREE_CLASSES = 40 };

static inline int gn_degree_class(int64_t degree)
{
    int k = -1;
    for (; degree > 0 && k < GN_DEGREE_CLASSES - 1; degree /= 2) k++;
    return k;
}

/* Counts a row by its class, [GN_DEGREE_CLASSES], and the largest degree. */
static inline void gn_degree_add(int64_t degree, int64_t *most, int64_t *count)
{
    if (degree > *most) *most = degree;
    if (degree > 0) count[gn_degree_class(degree)]++;
}

static inline gn_graph_array gn_part_array_of(int edges, gn_part_array a)
{
    int c = 0;
    while (c < GN_PART_CLASSES - 1 && GN_PART_LEAST << c < edges) c++;
    return (gn_graph_array)(GN_GRAPH_PARTS + c * GN_PART_ARRAYS + (int)a);
}

static inline bool gn_is_part_array(gn_graph_array k) { return k >= GN_GRAPH_PARTS; }
static inline gn_part_array gn_part_array_kind(gn_graph_array k)
{
    return (gn_part_array)((k - GN_GRAPH_PARTS) % GN_PART_ARRAYS);
}
static inline int gn_part_array_edges(gn_graph_array k)
{
    return GN_PART_LEAST << (k - GN_GRAPH_PARTS) / GN_PART_ARRAYS;
}

/* The array by destination that this one is, where a graph is its own transpose; k: none, it has
 * its own. */
static inline gn_graph_array gn_graph_array_by_dst(gn_graph_array k)
{
    if (k == GN_GRAPH_COL_PTR) return GN_GRAPH_ROW_PTR;
    if (k == GN_GRAPH_CSC_ROW) return GN_GRAPH_COL;
    bool part = gn_is_part_array(k) && gn_part_array_kind(k) >= GN_CSC_PART_PTR;
    return part ? (gn_graph_array)((int)k - (int)GN_CSC_PART_PTR) : k;
}

typedef enum gn_graph_derive {
    GN_SELF_LOOPS,
    GN_REMOVE_LOOPS,
    GN_REMAINING_LOOPS,
    GN_REVERSE,
    GN_SUBSET, /* of a mask, not of a graph */
    GN_GROW,
    GN_RESTRICT,
    GN_FILTER,  /* of a graph and a mask of its edges */
    GN_INDEX,   /* of numbers of rows, not of a graph */
    GN_ENDS,    /* of a graph, and maybe of another such pick */
    GN_DRAW,    /* of a graph, a pick and a key of draws, once */
    GN_WITHOUT, /* of a graph and another */
    GN_GROUP,   /* of a graph and numbers of its edges; and picks for the rows of such a one */
    GN_SAMPLE,  /* of a graph and a key of draws */
    GN_CORRUPT  /* likewise */
} gn_graph_derive;

/* Are its edges drawn anew at every run? */
static inline int gn_is_drawn(gn_graph_derive how) { return how >= GN_SAMPLE; }

#endif
