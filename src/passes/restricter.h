/* What the files of restrict_rows share: restrict_rows.c has the pass, restrict_batch.c what is
 * another thing where rows are a batch's. */
#ifndef GN_PASSES_RESTRICTER_H
#define GN_PASSES_RESTRICTER_H

#include "passes/passes.h"

typedef struct restricter {
    const gir_program *from;
    gir_program *to;
    int levels;  /* of picked rows; `levels` itself means all rows */
    gir_id mask; /* the input that picks level 0 */
    /* Of batches of edges, of which that is the mask, by graph of from; else NULL.  In one word:
     * one more than bits 1 << end, the ends that are read, where it has edges of the batch or what
     * comes of them; 0: it has others.  Level 0 has all of those ends. */
    uint8_t *of_batch;
    bool induced; /* of batches that are a part of the graph: level 0 has its rows, and those alone
                     are at the ends of edges */
    const gir_id *masked; /* of those: the masks of sums, as sum_of has them else */
    const gir_id *sum_of; /* by value of from: the mask of the sum that it is, or 0 */
    uint32_t *need;       /* by value of from: levels that are needed, as bits */
    uint8_t *through;     /* graphs of from: messages are passed along it between rows of picks */
    gir_id **map;         /* [level][value of from] -> value of to */
    gir_id **pick;        /* [level][space] pick of to; 0: none yet */
    gir_id **among; /* [space][level * levels + higher level] the former's pick, of the latter's
                       rows */
    /* Of batches, by value without rows: one more than the level over whose rows it is a sum, or is
     * made of such sums; 0: of none. */
    uint8_t *summed;
    bool *counts; /* it is made of numbers of rows alone, which are those of its readers' level */
    /* Of batches, by value of from, what goes into it: weights; numbers drawn in each step; what
     * nodes have.  Else NULL. */
    bool *trained, *random, *features;
    bool *counted;                /* by value of from: a sum over edges that count, of no weights */
    const gn_batch_spec *batches; /* of options; NULL: not compiled for batches */
    /* Of programs that have their gradients, which restrict_step.c says, by value of from: the
     * level outside of whose rows, or edges into those, it is 0; `levels`: none is known.  Else
     * NULL. */
    uint8_t *support;
    bool *spread;      /* of those: all rows are read of what is computed where it is not 0 */
    bool *unpicked;    /* of those, by space: none of its rows are */
    gir_id key;        /* of draws; 0: none yet */
    gir_id **drawn;    /* [level][graph of from] its edges into rows of the level that are drawn */
    gir_id **counting; /* likewise: all that count, where those are not all */
    uint32_t sites;    /* that draw, so far */
} restricter;

/* Rows of which some may be picked. */
static inline bool can_pick(const restricter *z, gir_space_id s)
{
    const gir_space *space = &z->from->spaces.p[s];
    return s && space->kind == GIR_NODE && !space->graph && !(z->unpicked && z->unpicked[s]);
}

static inline gir_space_id space_of(const restricter *z, gir_id v)
{
    return gir_type_of(z->from, v)->space;
}

static inline bool over_nodes(const restricter *z, gir_id v)
{
    return !gir_type_of(z->from, v)->is_graph && can_pick(z, space_of(z, v));
}

/* The graph whose edges a value is over, if they end in rows that may be picked; else 0. */
static inline gir_id over_edges(const restricter *z, gir_id v)
{
    const gir_type *t = gir_type_of(z->from, v);
    if (t->is_graph || z->from->spaces.p[t->space].kind != GIR_EDGE) return 0;
    gir_id g = z->from->spaces.p[t->space].graph;
    return can_pick(z, gir_type_of(z->from, g)->dst) && !gir_is_drawn(z->from, g) ? g : 0;
}

/* Do g's edges come from rows of which some may be picked? */
static inline bool from_here(const restricter *z, gir_id g)
{
    return can_pick(z, gir_type_of(z->from, g)->src);
}

static inline int top(uint32_t bits) { return 31 - __builtin_clz(bits); }

/* Nobody computes zeros. */
static inline void want(restricter *z, gir_id v, int level)
{
    if (z->support && over_nodes(z, v) && level > z->support[v]) {
        z->spread[v] = z->spread[v] || level >= z->levels;
        level = z->support[v];
    }
    z->need[v] |= (uint32_t)1 << (level < z->levels ? level : z->levels);
}

/* Has each row of a batch a subgraph of its own, which level 1 has the rows of? */
static inline bool is_shadow(const restricter *z) { return z->batches && z->batches->shadow[0]; }

/* Where the sources are of what is needed at a level. */
static inline int source_level(const restricter *z, int level)
{
    if (is_shadow(z)) return 1;
    return z->induced ? level : level + 1;
}

/* Has the graph edges of a batch alone?  All of them are needed, and so are both ends. */
static inline bool in_batch(const restricter *z, gir_id g) { return z->of_batch && z->of_batch[g]; }

/* Do rows of a batch share none? */
static inline bool is_apart(const restricter *z) { return z->batches && z->batches->apart; }

/* Do messages come along it?  The non-zeros of a matrix are a relation too. */
bool gn_is_relation(const gir_program *p, gir_id g);
gir_id gn_pick_of(restricter *z, int level, gir_space_id s);
/* The rows of `level` as a pick of those of level `of`. */
gir_id gn_among(restricter *z, gir_space_id s, int of, int level);
gir_id gn_at_level(restricter *z, gir_id o, int level); /* operand o on the rows of a level */
/* All edges of g into rows of a level that count for those: in time, and no batch's own.  It ends
 * in those rows. */
gir_id gn_edges_that_count(restricter *z, gir_id g, int level);
/* g's edges into rows of a level, between picked rows */
gir_id gn_graph_at(restricter *z, gir_id g, int level);

/* restrict_step.c: the mask, or graphs whose ends are the rows of level 0, of a program that has
 * its gradients, and what is 0 outside of levels. */
void gn_find_support(gn_arena *a, restricter *z);
/* The level whose rows, or edges into those, v sums over, the others being 0; `levels`: all. */
int gn_sums_level(const restricter *z, gir_id v);
/* What the operands of such a sum are needed for, and the sum. */
void gn_need_some(restricter *z, gir_id v);
gir_id gn_sum_of_some(restricter *z, gir_id v);
/* x, the rows of v at level `of`, among those of a level above, where v is 0. */
gir_id gn_put(restricter *z, gir_id v, gir_id x, int of, int level);

gir_id gn_key_of_draws(restricter *z);

/* restrict_shadow.c: the picks of level 1. */
void gn_pick_shadow(restricter *z);
/* GN_ERR_MODEL: messages come from rows that it has none of. */
GN_NODISCARD gn_status *gn_check_shadow(gn_arena *a, const restricter *z);

/* restrict_drawn.c: what drawn edges stand for.  A sum over them counts each as often as there are
 * edges for one that is drawn, so that in the mean it is the sum over all: `edges`, of g at a
 * level, where loops count once, or the sum's rows, where there are none.  As they are where
 * nothing is drawn. */
gir_id gn_weigh_edges(restricter *z, gir_id edges, gir_id g, int level);
gir_id gn_weigh_rows(restricter *z, gir_id rows, gir_id g, int level);
/* The input by which edges of g are drawn; 0: all alike. */
gir_id gn_draw_weights(restricter *z, gir_id g);
/* x times a number a row, of the same rows. */
gir_id gn_times(restricter *z, gir_id x, gir_id share);

/* restrict_edges.c: the mask of a batch of edges and graphs of its edges, if there is one. */
void gn_find_batch(gn_arena *a, restricter *z);
/* By value: the mask, where it is a sum over a batch's edges; or 0.  Where there is none the mask
 * is forgotten. */
gir_id *gn_sums_of_batch(gn_arena *a, restricter *z);
/* The pick of the rows of space s that ends of a batch's edges name; 0: of none. */
gir_id gn_pick_ends(restricter *z, gir_space_id s);
/* restrict_results.c: with a mask of the rows of which results are, or of the edges; a copy of the
 * program. */
void gn_find_results(gn_arena *a, restricter *z);
/* Is v a result of which some rows are asked for? */
bool gn_is_some_result(const restricter *z, gir_id v);
/* Of results of some edges, a value that hangs on all that there are; 0: there is none. */
gir_id gn_reads_all_edges(const restricter *z);
/* restrict_part.c: with a mask of a part's rows, and all sums over rows; a copy of the program. */
void gn_find_part(gn_arena *a, restricter *z);
/* x, of the rows of a part or of edges of g between them, times by what sums count those; x itself
 * where all count alike. */
gir_id gn_share_rows(restricter *z, gir_id x, gir_space_id s);
gir_id gn_share_edges(restricter *z, gir_id x, gir_id g, gir_id h);
/* A value of the edges of g as one of those of h, which are some of them, or g; and where those are
 * some of some, step by step. */
gir_id gn_carried(restricter *z, gir_id h, gir_id g, gir_id x);
gir_id gn_carried_to(restricter *z, gir_id h, gir_id g, gir_id x);
/* Does a batch's own leave out edges of g?  `edges`, some of those, but a batch's own, where
 * options ask for that. */
bool gn_leaves_out(const restricter *z, gir_id g);
gir_id gn_leave_batch_out(restricter *z, gir_id g, gir_id edges);

/* restrict_apart.c: the pick of a batch's rows; the graph of its edges, FILTER v of from; the input
 * of times of g's edges, or of the rows that they come from, or 0. */
gir_id gn_rows_of_batch(restricter *z);
gir_id gn_edges_of_batch(restricter *z, gir_id v);
gir_id gn_draw_times(restricter *z, gir_id g);
/* Do some of g's edges alone count?  Is v a sum over such, and that, on a level's rows. */
bool gn_some_count(const restricter *z, gir_id g);
bool gn_sums_some(const restricter *z, gir_id v);
gir_id gn_counted_at(restricter *z, gir_id v, int level);
/* GN_ERR_MODEL: a batch's rows have no times, or a sum is over edges of all. */
GN_NODISCARD gn_status *gn_check_apart(gn_arena *a, const restricter *z);

/* restrict_batch.c: sets trained, random and features. */
void gn_find_made_of(gn_arena *a, restricter *z);
/* Is v a sum over all rows that is one over a batch's?  Notes of which level, and that they are
 * needed. */
bool gn_sum_of_batch(restricter *z, gir_id v);
/* By value without rows: which such sums it is made of, and numbers of rows; after all needs. */
void gn_find_counts(restricter *z);
gir_id gn_count_at(restricter *z, gir_id v, int level); /* made of numbers of rows: of a level's */
/* v, of no rows; numbers of rows that it reads are those of what else it is made of. */
gir_id gn_clone_whole(restricter *z, gir_id v);
/* "file:line: " of a value, for errors. */
const char *gn_place_of(gn_arena *a, const gir_program *p, const gir_node *n);
/* What weights go into is computed of a batch's rows alone: GN_ERR_MODEL, which says where not. */
GN_NODISCARD gn_status *gn_check_batch(gn_arena *a, const restricter *z);

#endif
