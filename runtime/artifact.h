/* Artifact: a compiled program as data, and the one thing that crosses from the compiler to the
 * runtime.
 *
 * Slots are the buffers of a program, launches the kernels in order.  Sizes are terms in symbols
 * (numbers of rows of spaces), so that one artifact serves any graph.  Holds no addresses but the
 * kernels' code. Immutable once made. */
#ifndef GN_RUNTIME_ARTIFACT_H
#define GN_RUNTIME_ARTIFACT_H

#include "base/arena.h"
#include "base/dense_product.h"
#include "base/elem.h"
#include "base/status.h"
#include "runtime/graph/graph.h"
#include "runtime/kernel.h"
#include "runtime/remote.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_term { /* coef * symbol + plus; symbol -1: coef + plus */
    int64_t coef;
    int32_t sym;
    int32_t plus;
} gn_term;

typedef enum gn_slot_kind {
    GN_SLOT_TEMP,   /* in the planned arena; alive from launch `first` to launch `last` inclusive */
    GN_SLOT_INPUT,  /* bound by name; read only */
    GN_SLOT_STATE,  /* bound by name; read, and written by launches that update it in place */
    GN_SLOT_OUTPUT, /* bound by name, or owned by the instance when nothing is bound; holds its
                       value after a run */
    GN_SLOT_GRAPH,  /* array `array` of graph number `graph` */
    GN_SLOT_ALIAS,  /* the same bytes as slot `alias` */
} gn_slot_kind;

typedef struct gn_slot {
    gn_slot_kind kind;
    const char *name; /* INPUT, STATE, OUTPUT; else NULL */
    gn_elem elem;
    gn_term elems;     /* number of elements */
    int64_t row_elems; /* elements a row, for shape checks; elems.coef = rows' coef * row_elems */
    int graph;         /* GRAPH */
    gn_graph_array array; /* GRAPH */
    int alias;            /* ALIAS */
    int first, last; /* TEMP: launches between which it is alive; GRAPH: below 0 where none reads it
                      */
    bool passed_on;  /* TEMP: of one chain alone, whose launches touch only rows of their own in it
                      */
    int edge_graph;  /* INPUT/OUTPUT over an edge space: the graph whose edges, to be brought into
                      * and out of CSR  order by the binder; -1 otherwise */
} gn_slot;

/* Does a launch read this slot, and is it an array of that graph? */
static inline bool gn_slot_reads_graph(const gn_slot *s, int graph)
{
    return s->kind == GN_SLOT_GRAPH && s->graph == graph && s->first >= 0;
}

enum { GN_CHAIN_BUFFERS = 64 }; /* the most that a launch of a chain has */

typedef enum gn_access { GN_READS = 1, GN_WRITES = 2 } gn_access;

typedef enum gn_launch_kind { GN_LAUNCH_KERNEL, GN_LAUNCH_COPY } gn_launch_kind;

enum { GN_MOST_BALANCE = 8 };
typedef struct gn_balance {
    int graph;
    gn_graph_array array; /* ROW_PTR or COL_PTR */
} gn_balance;

typedef struct gn_launch {
    gn_launch_kind kind;
    const char *name; /* for profiles */
    int kernel;       /* KERNEL: index into code */
    int n_buf, n_sym;
    int *buf;                  /* slots, in the kernel's order; COPY: [to, from] */
    int *sym;                  /* symbols, in the kernel's order */
    const uint8_t *access;     /* of each buffer: bit set of gn_access; NULL: any may be written */
    const gn_product *product; /* KERNEL: what a device may have a library make instead; NULL:
                                  nothing */
    gn_term trip; /* iterations of the THREAD loop = ceil(trip / step); trip.sym = -1, coef 1 when
                     it has none */
    int64_t step;
    bool parallel; /* has a THREAD loop */
    int n_balance; /* > 0: iterations are rows (times step) of these graphs: ranges are balanced by
                      the edges of all */
    gn_balance balance[GN_MOST_BALANCE];
    int chain; /* > 1: so many launches from here on may run together, block by block of rows
                  (chain.h); else 0 */
    int64_t chain_row; /* chain: bytes a row of what goes from one of them to another */
} gn_launch;

typedef enum gn_sym_kind {
    GN_SYM_N_SRC,
    GN_SYM_N_DST,
    GN_SYM_N_EDGE,
    GN_SYM_CONST,
    GN_SYM_ELEMENTS, /* a constant too, but no number of rows: elements of a tensor */
    GN_SYM_ROWS,     /* rows of the tensor bound to slot `of`: where no graph tells */
    GN_SYM_CEIL,     /* symbol `of`, an earlier one, divided by `value` and rounded up */
    GN_SYM_PARTS, /* groups of `value` parts of rows of the graph: gn_graph_part_groups of `array`
                   */
} gn_sym_kind;

typedef struct gn_sym {
    const char *name;
    gn_sym_kind kind;
    int graph;     /* which graph gives the number */
    int64_t value; /* CONST, ELEMENTS: the number; CEIL: the divisor, positive; PARTS: likewise */
    int of;        /* ROWS: a slot; CEIL: a symbol */
    gn_graph_array array; /* PARTS: PART_PTR or CSC_PART_PTR */
} gn_sym;

/* A number of rows that is known while graphs are made, before there are symbols. */
typedef struct gn_counted_rows {
    const char *input; /* rows of the input of this name, */
    int graph;         /* or, >= 0, the number `end` of this graph, */
    gn_sym_kind end;
    int64_t rows; /* or this many */
} gn_counted_rows;

/* A column: one whole number or bool a row that is known before a program runs, of which graphs are
 * made.  Kept as what `elem` says, or as i64 where it is an integer that was computed. */
typedef enum gn_data_column_kind {
    GN_COLUMN_INPUT, /* bound by name */
    GN_COLUMN_CONST, /* `value` */
    GN_COLUMN_CAST,  /* of[0], to `elem` */
    GN_COLUMN_NOT,
    GN_COLUMN_AND, /* of[0] and of[1] */
    GN_COLUMN_OR,
    GN_COLUMN_LT,
    GN_COLUMN_LE,
    GN_COLUMN_EQ,
    GN_COLUMN_NE,
    GN_COLUMN_GATHER, /* of[0] at the end `end` of the edges of `graph` */
    GN_COLUMN_CARRY,  /* of[0] at the edge that an edge of `graph` comes of; of[1] at a new loop */
} gn_data_column_kind;

typedef struct gn_data_column {
    const char *name; /* INPUT */
    gn_data_column_kind kind;
    gn_elem elem;
    int of[2]; /* earlier columns; -1: none */
    int graph; /* GATHER, CARRY; -1: none */
    int end;
    int graphs; /* it is made of so many of the first graphs at most */
    bool drawn; /* of draws, so that it is another at every run */
    int64_t value;
    gn_counted_rows rows; /* CONST */
} gn_data_column;

/* Rows, or edges, are groups of their own, for which edges count that are not after their times,
 * where there are times, or before them; or they are none. */
typedef enum gn_apartness { GN_TOGETHER, GN_APART, GN_APART_BEFORE } gn_apartness;

/* What is made of a graph and numbers of its edges: the group, from it the pick of rows and that of
 * numbers. */
typedef enum gn_grouping { GN_GROUPED, GN_GROUPED_ROWS, GN_GROUPED_NUMBERS } gn_grouping;

typedef struct gn_graph_slot {
    const char *name; /* bound by name; NULL for a derived one */
    int parent;       /* derived: from this graph; unused for SUBSET and INDEX */
    gn_graph_derive how;
    int with[2]; /* GROW: the pick of rows at the other end, and of those added;
                    RESTRICT: the picks of sources and destinations; INDEX: [0] the graph
                    whose edges the rows are; ENDS: [0] the pick of rows that are
                    added; DRAW: [0] the pick of destinations; WITHOUT: [0] the other
                    graph; GROUP's rows: [0] the graph that was grouped.  -1: none */
    bool drawn;  /* of draws, so that its edges are others at every run */
    bool once;   /* SAMPLE, CORRUPT, DRAW: drawn where it is bound alone */
    int column;  /* FILTER: the mask; INDEX, GROUP: the numbers; DRAW: weights, or -1; else -1 */
    int time;    /* SUBSET, FILTER, whose rows or edges are apart: the column of their times;
                    DRAW: that of times of edges, or of the rows that they come from,
                    `time_of_rows`; -1: none */
    bool time_of_rows;
    int end;       /* GROW: whose rows are picked; CORRUPT: gn_corruption; ENDS: bits
                      1 << end; DRAW: gn_draw_loops, and
                      gn_draw_how times 4; WITHOUT: whether edges go
                      either way; SUBSET, FILTER: gn_apartness; GROUP: gn_grouping */
    int64_t times; /* CORRUPT; SAMPLE, DRAW: how many edges at most; ENDS: rows that an edge can
                      add */
    uint32_t site; /* SAMPLE, CORRUPT, DRAW */
    const char *key_of[2];  /* SAMPLE, CORRUPT, DRAW: the names of seed and step, i64, inputs or
                               states */
    gn_counted_rows rows;   /* INDEX, GROUP's numbers: those that are counted */
    const char *mask_of;    /* SUBSET: the input of this name, bool, one a row */
    const char *pattern_of; /* not NULL: the pattern of the input of this name, bound as CSR */
    gn_graph_arrays arrays; /* that launches use */
} gn_graph_slot;

/* A size that must hold for the code to be right: that two graphs meet in one space, that a pattern
 * has as many sources as there are features, that a count was compiled in.  The number `end` of
 * graph `graph` is `want`. */
typedef struct gn_size_check {
    int graph;
    gn_sym_kind end; /* N_SRC, N_DST or N_EDGE */
    gn_term want;
} gn_size_check;

typedef struct gn_artifact {
    const char *name;
    int n_syms, n_slots, n_launches, n_graphs, n_checks, n_code, n_columns;
    int64_t chain_bytes; /* what a block of a chain should pass on at most: a share of a thread's
                            cache */
    int64_t most_bytes;  /* that temporaries may take, where a plan without chains takes no more; 0:
                            any */
    gn_sym *syms;
    gn_slot *slots;
    gn_launch *launches;
    gn_graph_slot *graphs; /* parents before children */
    gn_size_check *checks;
    gn_data_column *columns; /* those that others are made of before them */
    gn_kernel_fn *code;      /* [n_code] */
    struct gn_pages *pages;  /* where temporaries lie instead of in memory (run/paged.h), or data is
                                lent from; NULL: nowhere.  Must outlive all instances */
    gn_remote *remote;       /* where code runs instead; NULL: here */
    const void *remote_code;
} gn_artifact;

/* Every number in it refers to something, aliases end, parents come before children, lifetimes make
 * sense. GN_ERR_INTERNAL says what does not.  Whatever takes an artifact may rely on it after
 * this. */
GN_NODISCARD gn_status *gn_artifact_check(const gn_artifact *a);

/* All of it in another arena (artifact_copy.c); what is compiled for a device stays where it is. */
gn_artifact *gn_artifact_copy(gn_arena *a, const gn_artifact *from);

/* Is an input read when an instance is bound, or are its rows counted, so that other data need
 * another instance? */
bool gn_artifact_is_made_of(const gn_artifact *a, const char *input);
/* The next name of such an input from place *at on (at first 0), with repeats; NULL: no more. */
const char *gn_artifact_made_of(const gn_artifact *a, int *at);

/* Numbers the slots that launches use, from 0, in order; the others -1.  number: [n_slots].  How
 * many they are. */
int gn_artifact_used(const gn_artifact *a, int *number);

/* coef * sym + plus; false when that overflows or is negative. */
bool gn_term_value(gn_term t, const int64_t *sym, int64_t *out);

#endif
