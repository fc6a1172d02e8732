/* What the files that make graphs share. */
#ifndef GN_RUNTIME_GRAPH_GRAPH_INTERNAL_H
#define GN_RUNTIME_GRAPH_GRAPH_INTERNAL_H

#include "runtime/graph/graph.h"

#include "base/mutex.h"

/* Code for both index widths is written once, with the width as a constant argument of an inlined
 * function. */
#define GN_INLINE static inline __attribute__((always_inline))

/* Edges in their order, with their rows: by ROW where that is made, else by way of all rows. */
typedef struct gn_edge_walk {
    const gn_graph *g;
    int64_t row; /* of the edge last asked for */
} gn_edge_walk;

static inline int64_t gn_edge_row(gn_edge_walk *w, int64_t e)
{
    const gn_graph *g = w->g;
    if (g->array[GN_GRAPH_ROW]) return gn_index_get(g->array[GN_GRAPH_ROW], g->index, e);
    while (gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, w->row + 1) <= e) w->row++;
    return w->row;
}

/* Rows that may have edges, in order, and where those lie. */
static inline int64_t gn_graph_n_rows(const gn_graph *g)
{
    return g->listed ? g->n_listed : g->n_dst;
}
static inline int64_t gn_graph_row(const gn_graph *g, int64_t i)
{
    return g->listed ? gn_index_get(g->listed, g->index, i) : i;
}
static inline int64_t gn_graph_begin(const gn_graph *g, int64_t i) /* and i + 1: the end */
{
    return gn_index_get(g->listed ? g->listed_ptr : g->array[GN_GRAPH_ROW_PTR], g->index, i);
}

typedef struct gn_graph_box {
    gn_graph graph; /* first: a gn_graph * is a gn_graph_box * */
    gn_mutex lock;
    bool has_facts;
    gn_graph_facts facts;
} gn_graph_box;

/* A graph with ROW_PTR (zeroed), COL and POS, not filled in. */
GN_NODISCARD gn_status *gn_graph_blank(int64_t n_src, int64_t n_dst, int64_t n_edge, gn_elem index,
                                       gn_graph **out);
GN_NODISCARD gn_status *gn_graph_array_new(gn_graph *g, gn_graph_array k); /* not initialised */
gn_graph_arrays gn_graph_made(const gn_graph *g);                          /* those that exist */

/* The same with FROM, for edges that come from those of g. */
GN_NODISCARD gn_status *gn_graph_derived_blank(const gn_graph *g, int64_t n_src, int64_t n_dst,
                                               int64_t n_edge, gn_graph **out);

/* The same with so many rows that are listed, not filled in. */
GN_NODISCARD gn_status *gn_graph_listed_blank(const gn_graph *g, int64_t n_listed, int64_t n_edge,
                                              gn_graph **out);

/* graph_apart.c: the same of graphs and picks that have groups. */
GN_NODISCARD gn_status *gn_graph_grow_apart(const gn_graph *g, int end, const gn_graph *also,
                                            gn_graph **out);
GN_NODISCARD gn_status *gn_graph_restrict_apart(const gn_graph *g, const gn_graph *src,
                                                const gn_graph *dst, gn_graph **out);
GN_NODISCARD gn_status *gn_graph_draw_apart(const gn_graph *g, const gn_graph *r,
                                            const gn_drawing *how, gn_graph **out);

/* Is the graph its own transpose, so that its CSR is a CSC?  `image` [n_edge], where it is given,
 * becomes CSC_EDGE then; else it holds nothing of use. */
GN_NODISCARD gn_status *gn_graph_match_transpose(const gn_graph *g, void *image, bool *symmetric);
/* The same, of a graph whose CSC is sorted; its edges, where they are given, are put in the CSR's
 * order then. */
bool gn_graph_is_transpose(const gn_graph *g, const void *col_ptr, const void *csc_row,
                           void *csc_edge);

#endif
