/* space: what a search can try, beside threads, regions and orders. */
#include "tune/tune_impl.h"
#include "passes/passes.h"

enum { HERE = TUNE_HERE, THERE = TUNE_THERE };

/* Passes and decisions that make programs faster or slower and nothing else, and where they do.
 * Not among them: what memory is shared, and how loops are cleaned up. */
static const tune_switch switches[] = {
    {"quick-code", THERE},
    {"one-kernel", THERE},
    {"split-rows", THERE},
    {"share-tiles", THERE},
    {"small-tiles", THERE},
    {"edge-exp", THERE},
    {"segments", HERE | THERE},
    {"share-sizes", THERE},
    {"store-scalars", THERE},
    {"aggregate_heads", HERE},
    {"edge_products", HERE | THERE},
    {"reassociate", HERE | THERE},
    {"aggregate_first", HERE | THERE},
    {"aggregate_picked", HERE | THERE},
    {"factor", HERE | THERE},
    {"recover", HERE | THERE},
    {"restrict_rows", HERE | THERE},
    {"joined_rows", HERE | THERE},
    {"group_kinds", HERE | THERE},
    {"sparse-features", HERE | THERE},
    {"row-values", HERE | THERE},
    {"dense-once", HERE | THERE},
    {"keep-rows", HERE | THERE},
    {"hoist", HERE | THERE},
    {"fuse", HERE | THERE},
    {"recompute", HERE | THERE},
    {"share-edge-work", HERE | THERE},
    {"relations", HERE | THERE},
    {"share-rows", HERE | THERE},
    {"sink", HERE | THERE},
    {"wait", HERE | THERE},
    {"store-masks", HERE | THERE},
    {"drawn-rows", HERE},
    {"store-dots", HERE | THERE},
    {"both-ends", HERE},
    {"in-place", HERE | THERE},
    {"blocks", HERE},
    {"ride", HERE | THERE},
    {"pack", HERE},
    {"terms", HERE},
    {"turn", HERE},
    {"balance", HERE},
    {"pair", HERE | THERE},
    {"edge-ways", HERE | THERE},
    {"prefetch", HERE},
    {"by-source", HERE | THERE},
    {"order", HERE | THERE},
    {"chain", HERE},
    {"row-blocks", HERE},
};

static const tune_values fields[] = {
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

static const tune_values fields_there[] = {
    {LOW_FIELD_LANES, 5, {2, 4, 8, 16, 32}},
    {LOW_FIELD_THREADS, 4, {64, 256, 512, 1024}},
    {LOW_FIELD_TILE_ROWS, 4, {1, 2, 4, 8}},
    {LOW_FIELD_BLOCK_DEPTH, 3, {8, 16, 32}},
    {LOW_FIELD_CHUNK_ROWS, 5, {64, 128, 256, 1024, 4096}},
    {LOW_FIELD_EDGE_SUMS, 4, {1, 2, 4, 8}},
    {LOW_FIELD_EDGE_COST, 3, {0, 16, 64}},
    {LOW_FIELD_PART_EDGES, 4, {16, 32, 64, 128}},
    {LOW_FIELD_PART_SUMS, 3, {16, 32, 64}},
    {LOW_FIELD_ROW_BLOCK, 4, {64, 128, 512, 1024}},
    {LOW_FIELD_TILE_MAX, 3, {16, 128, 2048}},
};

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

const tune_space *tune_space_of(const gn_target *target)
{
    static const tune_space here = {HERE, COUNT(switches), COUNT(fields), switches, fields},
                            there = {THERE, COUNT(switches), COUNT(fields_there), switches,
                                     fields_there};
    return target ? &there : &here;
}
