/* The arrays that describe a graph, by name: what compiled code may read of one, and how one graph comes from another.
 * Shared by the compiler, which asks for them, and the runtime, which makes them (runtime/graph.h). */
#ifndef GN_BASE_GRAPH_ARRAY_H
#define GN_BASE_GRAPH_ARRAY_H

typedef enum gn_graph_array {
    GN_GRAPH_ROW_PTR,  /* [n_dst + 1] first edge of a destination                                     */
    GN_GRAPH_COL,      /* [n_edge] source of an edge                                                  */
    GN_GRAPH_ROW,      /* [n_edge] destination of an edge                                             */
    GN_GRAPH_POS,      /* [n_edge] place of the edge in the user's list (random draws, output order)  */
    GN_GRAPH_COL_PTR,  /* [n_src + 1] first position of a source in the arrays below                  */
    GN_GRAPH_CSC_ROW,  /* [n_edge] destinations, by source, ascending CSR position within a source    */
    GN_GRAPH_CSC_EDGE, /* [n_edge] CSR position of each                                               */
    GN_GRAPH_FROM,  /* [n_edge] derived graphs: CSR position in the parent of the edge it came from, -1: a new loop */
    GN_GRAPH_IMAGE, /* [edges of the parent] derived graphs: CSR position of the edge's image here, -1: dropped      */
    GN_GRAPH_VALUE, /* [n_edge] f32: patterns: the value x[dst, src]                               */
    GN_GRAPH_CSC_VALUE,    /* [n_edge] f32: the same, by source: of edge CSC_EDGE[k] at k                */
    GN_GRAPH_CELL,         /* [n_edge] i64: patterns: which element of the matrix, row by row, the edge is */
    GN_GRAPH_CSC_CELL,     /* [n_edge] i64: the same, by source                                          */
    GN_GRAPH_MATRIX_ROW,   /* [n_dst] patterns of picked rows: row of the matrix that a destination is  */
    GN_GRAPH_PART_PTR,     /* [n_dst + 1] first part of a destination's edges: see below                 */
    GN_GRAPH_PART_ROW,     /* [parts, rounded up] destination that a part is of; 0 behind the last       */
    GN_GRAPH_CSC_PART_PTR, /* [n_src + 1] the same, by source                                          */
    GN_GRAPH_CSC_PART_ROW,
    GN_GRAPH_ARRAY_COUNT
} gn_graph_array;

/* Rows of many edges come in parts of GN_PART_EDGES, of which the last has what is left over besides.  Rows of fewer than two
 * parts have none; so there are n_edge / GN_PART_EDGES parts at most, which rounded up is the size of PART_ROW. */
enum { GN_PART_EDGES = 64 };

typedef enum gn_graph_derive {
    GN_SELF_LOOPS,
    GN_REMOVE_LOOPS,
    GN_REMAINING_LOOPS,
    GN_REVERSE,
    GN_SUBSET, /* of a mask, not of a graph */
    GN_GROW,
    GN_RESTRICT
} gn_graph_derive;

#endif
