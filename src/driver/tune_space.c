/* space: what a search can try, beside threads, regions and orders. */
#include "driver/tune_impl.h"
#include "passes/passes.h"

/* Passes and decisions that make programs faster or slower and nothing else.  Not among them: what memory is shared, and how
 * loops are cleaned up. */
#define SWITCHES(X)                                                                                                    \
    X("reassociate")                                                                                                   \
    X("aggregate_first")                                                                                               \
    X("factor")                                                                                                        \
    X("recover")                                                                                                       \
    X("restrict_rows")                                                                                                 \
    X("sparse-features")                                                                                               \
    X("dense-once")                                                                                                    \
    X("keep-rows")                                                                                                     \
    X("hoist")                                                                                                         \
    X("fuse")                                                                                                          \
    X("recompute")                                                                                                     \
    X("share-edge-work")                                                                                               \
    X("share-rows")                                                                                                    \
    X("sink")                                                                                                          \
    X("wait")                                                                                                          \
    X("store-masks")                                                                                                   \
    X("store-dots")                                                                                                    \
    X("in-place")                                                                                                      \
    X("blocks")                                                                                                        \
    X("ride")                                                                                                          \
    X("pack")                                                                                                          \
    X("terms")                                                                                                         \
    X("turn")                                                                                                          \
    X("balance")                                                                                                       \
    X("edge-ways")                                                                                                     \
    X("prefetch")                                                                                                      \
    X("by-source")                                                                                                     \
    X("order")                                                                                                         \
    X("chain")                                                                                                         \
    X("row-blocks")

const char *const tune_switches[] = {
#define X(name) name,
    SWITCHES(X)
#undef X
};
const int tune_switch_count = sizeof tune_switches / sizeof *tune_switches;

const tune_values tune_fields[] = {
    {LOW_FIELD_ROWS_AT_ONCE, 4, {1, 4, 8, 16}},
    {LOW_FIELD_EDGE_SUMS, 4, {1, 2, 4, 8}},
    {LOW_FIELD_EDGE_COST, 3, {0, 16, 64}},
    {LOW_FIELD_AHEAD, 5, {0, 4, 8, 16, 32}},
    {LOW_FIELD_SWAP, 2, {0, 1}},
    {LOW_FIELD_PACK, 3, {0, 1, 2}},
    {LOW_FIELD_TERMS, 5, {1, 2, 4, 8, 16}},
    {LOW_FIELD_TILE_ROWS, 7, {4, 6, 8, 12, 14, 20, 24}},
    {LOW_FIELD_TILE_COLS, 4, {16, 32, 48, 64}},
    {LOW_FIELD_BLOCK_ROWS, 6, {24, 48, 96, 192, 384, 768}},
    {LOW_FIELD_CHUNK_ROWS, 4, {128, 256, 1024, 4096}},
    {LOW_FIELD_ROW_BLOCK, 3, {512, 1024, 16384}},
    {LOW_FIELD_TILE_MAX, 3, {16, 128, 2048}},
};
const int tune_field_count = sizeof tune_fields / sizeof *tune_fields;
