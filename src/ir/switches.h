/* Decisions that can be switched off one by one, beside the passes of the pipeline
 * (passes/passes.h): how values are grouped into loops, what is stored and what is computed again,
 * how loops and memory are laid out.  GN_DECISIONS is the only list; `gnnc opt --list` prints it
 * and --without takes its names.  Results agree with each one off, up to rounding. */
#ifndef GN_IR_SWITCHES_H
#define GN_IR_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

/*      id        name               what is done with it */
#define GN_DECISIONS(X)                                                                            \
    X(SPARSE, "sparse-features",                                                                   \
      "features with few non-zeros are kept and read as a sparse matrix")                          \
    X(ROW_VALUES, "row-values",                                                                    \
      "the value that all non-zeros of a row of sparse features have is read once a row, and "     \
      "ones not at all")                                                                           \
    X(DENSE_ONCE, "dense-once",                                                                    \
      "sums of sparse features over few rows are computed once and kept dense")                    \
    X(HOIST, "hoist",                                                                              \
      "what depends on graph and data alone is computed once, before the first run")               \
    X(KEEP_ROWS, "keep-rows",                                                                      \
      "picked rows of features that never change are kept one after another")                      \
    X(FUSE, "fuse", "values over the same rows are computed in one loop")                          \
    X(RECOMPUTE, "recompute",                                                                      \
      "edge values, views and scalars are computed again where they are read")                     \
    X(SHARE_EDGES, "share-edge-work",                                                              \
      "a sum over edges joins the loop that does most of its work already")                        \
    X(RELATIONS, "relations",                                                                      \
      "sums over the edges of several relations into the same rows share a loop over these")       \
    X(SHARE_ROWS, "share-rows",                                                                    \
      "work on the rows of one space that shares nothing else shares a loop")                      \
    X(SINK, "sink", "a value that one later loop reads is computed there where that stores less")  \
    X(WAIT, "wait", "values that read nothing are computed where they are first read")             \
    X(VERSIONS, "versions",                                                                        \
      "loops over edges are written twice where a scalar decides for all of them")                 \
    X(STORE_MASKS, "store-masks",                                                                  \
      "masks drawn for edges, or what they leave, are stored rather than drawn again")             \
    X(DRAWN_ROWS, "drawn-rows",                                                                    \
      "sums over what dropout leaves of sparse features draw which rows they add")                 \
    X(STORE_DOTS, "store-dots", "long dot products on edges that several loops read are stored")   \
    X(BOTH_ENDS, "both-ends",                                                                      \
      "an edge value of long dot products that is summed at both ends is computed by one of the "  \
      "loops")                                                                                     \
    X(STORE_SCALARS, "store-scalars",                                                              \
      "numbers of many instructions are stored where every lane would compute them")               \
    X(IN_PLACE, "in-place", "updates overwrite their states instead of being copied there")        \
    X(BLOCKS, "blocks",                                                                            \
      "products that contract over many rows take them in blocks that stay in cache")              \
    X(RIDE, "ride", "sums over the rows of a product are taken where the product is made")         \
    X(PAIR, "pair", "the sum of two products of rows is made by one loop")                         \
    X(PACK, "pack",                                                                                \
      "the right operand of a product is copied to where its panels lie in one piece")             \
    X(TERMS, "terms", "products with few columns have several terms of a sum side by side")        \
    X(TURN, "turn", "products with few columns give their lanes to the other operand")             \
    X(SHARE_TILES, "share-tiles",                                                                  \
      "blocks of lanes share tiles of products, where a machine has memory for that")              \
    X(SMALL_TILES, "small-tiles",                                                                  \
      "products of fewer tiles than a machine works on at once are made of smaller ones")          \
    X(LIBRARY, "library-products",                                                                 \
      "a device's own library may make products, where that is asked for or faster")               \
    X(LOOPS, "simplify-loops",                                                                     \
      "loop IR is cleaned up: indices folded, what repeats shared and moved out of loops")         \
    X(SEGMENTS, "segments",                                                                        \
      "short sums along a row, several a row, are taken at once by runs of lanes")                 \
    X(SPLIT_ROWS, "split-rows",                                                                    \
      "rows of many edges are summed in parts, where groups of lanes each take a row")             \
    X(BALANCE, "balance", "threads share out rows by their edges rather than by their number")     \
    X(EDGE_WAYS, "edge-ways",                                                                      \
      "short sums over edges take several edges at once, into sums of their own")                  \
    X(PREFETCH, "prefetch",                                                                        \
      "rows that edges gather from beyond the caches are asked for some edges ahead")              \
    X(BY_SOURCE, "by-source", "values of a sparse matrix are kept a second time, by column")       \
    X(ORDER, "order", "kernels run in an order that lowers the peak of memory")                    \
    X(REUSE, "reuse", "what a kernel writes takes the memory of what it reads for the last time")  \
    X(CHAIN, "chain",                                                                              \
      "kernels over the same rows run block by block, so that what they pass on stays in a cache") \
    X(HUGE_PAGES, "huge-pages",                                                                    \
      "large blocks of memory lie in pages of 2 MiB, which miss the TLB less")                     \
    X(SHARE_ARENA, "share-arena",                                                                  \
      "programs share the memory of temporaries; what no kernel reads of graph and data is freed") \
    X(ROW_BLOCKS, "row-blocks",                                                                    \
      "work that a row alone waits for is done step by step for several rows")                     \
    X(SHARE_CODE, "share-code", "kernels that differ in names alone are compiled once")            \
    X(ONE_KERNEL, "one-kernel",                                                                    \
      "a device runs a program of little work in one kernel, where a mode folds launches")         \
    X(WHOLE_CHUNKS, "whole-chunks",                                                                \
      "long loops over elements have code of their own for vectors of which all lanes run")        \
    X(LATE_STORES, "late-stores",                                                                  \
      "rows that are written over what they are made of are loaded before any is stored")          \
    X(DRAW_BITS, "draw-bits",                                                                      \
      "a random number that is compared with a constant is compared as an integer")                \
    X(WIDE_FUNCTIONS, "wide-functions",                                                            \
      "functions of short vectors are evaluated several at once, side by side")                    \
    X(HOIST_TESTS, "hoist-tests",                                                                  \
      "rows whose work is behind tests of what no row changes have a loop for each test")          \
    X(QUICK_CODE, "quick-code",                                                                    \
      "a device's code is made quickly where every launch's threads run at once anyway")           \
    X(SHARE_SIZES, "share-sizes",                                                                  \
      "loops over elements are told how many there are: for all sizes one kernel")                 \
    X(EDGE_EXP, "edge-exp",                                                                        \
      "a device takes the exponentials of a softmax edge by edge: node_exp declines")

typedef enum gn_decision {
#define X(id, name, doc) GN_DO_##id,
    GN_DECISIONS(X)
#undef X
        GN_DECISION_COUNT
} gn_decision;

typedef uint64_t gn_switches; /* bit set of the decisions that are switched off; 0: everything as
                                 usual */

/* Those that the CPU back end hears of: one kernel becomes other code.  Keys of code name them. */
#define GN_CODE_DECISIONS                                                                          \
    ((gn_switches)1 << GN_DO_WHOLE_CHUNKS | (gn_switches)1 << GN_DO_LATE_STORES |                  \
     (gn_switches)1 << GN_DO_DRAW_BITS | (gn_switches)1 << GN_DO_WIDE_FUNCTIONS |                  \
     (gn_switches)1 << GN_DO_HOIST_TESTS)

static inline bool gn_is_on(gn_switches off, gn_decision d) { return !(off >> d & 1); }

#endif
