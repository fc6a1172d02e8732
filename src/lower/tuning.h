/* Tuning: another schedule for some regions than the one that rules make (schedule.c).
 *
 * LOW_FIELDS is the only list of what can be set.  A choice sets one field of the regions that have
 * its key, or of every region.  Any value may be asked for: what a region cannot do is brought to
 * the nearest that it can, so that every tuning gives a right program. */
#ifndef GN_LOWER_TUNING_H
#define GN_LOWER_TUNING_H

#include "lower/lower.h"

/* Kinds of regions that a field concerns. */
enum {
    LOW_ROWS = 1 << RG_ROWS,
    LOW_FLAT = 1 << RG_FLAT,
    LOW_GEMM = 1 << RG_GEMM,
    LOW_INNER = 1 << RG_INNER
};

/*    id            member        kinds                          least, most, what it is */
#define LOW_FIELDS(X)                                                                              \
    X(ROW_BLOCK, row_block, LOW_ROWS | LOW_FLAT, 1, 1 << 20,                                       \
      "rows or elements that a worker takes at once")                                              \
    X(CHUNK_ROWS, chunk_rows, LOW_ROWS | LOW_INNER, 1, 1 << 20, "rows of one partial sum")         \
    X(BLOCK_ROWS, block_rows, LOW_GEMM | LOW_INNER, 1, 1 << 20,                                    \
      "rows of a product that are taken at a time")                                                \
    X(TILE_ROWS, tile_rows, LOW_GEMM | LOW_INNER, 1, 32, "rows of a register tile")                \
    X(TILE_COLS, tile_cols, LOW_GEMM | LOW_INNER, 1, 256, "columns of a register tile")            \
    X(TILE_MAX, tile_max, LOW_ROWS, 1, 4096, "elements of a row that may be kept in a tile")       \
    X(ROWS_AT_ONCE, rows_at_once, LOW_ROWS, 1, 64, "rows that are worked on step by step")         \
    X(EDGE_SUMS, edge_sums, LOW_ROWS, 1, 16, "vectors of sums over edges under way at once")       \
    X(EDGE_COST, edge_cost, LOW_ROWS, 0, 1000,                                                     \
      "cost of a message up to which several edges are taken at once")                             \
    X(AHEAD, ahead, LOW_ROWS, 0, 256, "edges ahead of which gathered rows are prefetched")         \
    X(LANES, lanes, LOW_ROWS | LOW_FLAT | LOW_GEMM | LOW_INNER, 0, 32,                             \
      "lanes of a group that runs a row, where a machine has groups; 0: its own rules say")        \
    X(THREADS, threads, LOW_ROWS | LOW_FLAT | LOW_GEMM | LOW_INNER, 0, 1024,                       \
      "threads of a block of groups; 0: its own rules say")                                        \
    X(BLOCK_DEPTH, block_depth, LOW_GEMM | LOW_INNER, 8, 32,                                       \
      "terms that lanes bring to shared tiles at a time")                                          \
    X(SPLIT, split, LOW_ROWS, 0, 1, "rows of many edges are summed in parts")                      \
    X(PART_EDGES, part_edges, LOW_ROWS, GN_PART_LEAST, GN_PART_MOST,                               \
      "edges in such a part: 16, 32, 64 or 128")                                                   \
    X(PART_SUMS, part_sums, LOW_ROWS, 2, 64, "sums of parts that are taken together, and so on")   \
    X(PACK, pack, LOW_GEMM, 0, 2,                                                                  \
      "where the right operand is packed: 0 not, 1 before all rows, 2 by panel")                   \
    X(TERMS, terms, LOW_GEMM, 1, 16,                                                               \
      "terms of a sum that are side by side, where the right operand is packed")                   \
    X(SWAP, swap, LOW_INNER, 0, 1, "lanes run over the left operand's columns")

typedef enum low_field {
#define X(id, member, kinds, least, most, doc) LOW_FIELD_##id,
    LOW_FIELDS(X)
#undef X
        LOW_FIELD_COUNT
} low_field;

typedef struct low_field_spec {
    const char *name;
    int kinds;
    int64_t least, most;
    const char *doc;
} low_field_spec;
extern const low_field_spec low_fields[LOW_FIELD_COUNT];
low_field low_field_by_name(const char *name); /* LOW_FIELD_COUNT when there is none */

typedef struct low_choice {
    const char *region; /* key; NULL: every region that the field concerns */
    low_field field;
    int64_t value;
} low_choice;

typedef struct low_tuning { /* later choices win */
    int n;
    const low_choice *choices;
} low_tuning;

/* "gemm-3f2a91bc00d1e2f3": equal for regions that do the same work on rows of the same widths,
 * whatever values are called. In the program's arena. */
const char *low_region_key(const fusion *f, const region *r);

int64_t low_field_get(const low_schedule *s, low_field f);

/* The schedule that rules make, with what the options' tuning says of the region. */
low_schedule low_schedule_of(const low_options *opt, const fusion *f, const region *r);

#endif
