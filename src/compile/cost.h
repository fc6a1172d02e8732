/* Cost: what a kernel does in one launch, counted over its loop IR with sizes and the graph's
 * indices in place.
 *
 * The walk runs the integer part of the loop nest: bounds that come out of row pointers are what
 * they are, loops whose bodies do the same at every iteration are counted once and multiplied.  Of
 * a thread loop too long for that a spread-out sample of iterations is taken. */
#ifndef GN_COMPILE_COST_H
#define GN_COMPILE_COST_H

#include "lower/lower.h"
#include "runtime/run/exec.h"

typedef struct gn_buffer_cost { /* bytes, repeats counted */
    double read, gathered, written;
    double size; /* of the buffer */
} gn_buffer_cost;

/* What one value of the tensor IR is to a kernel (kir_inst.of), counted as gn_cost has it. */
typedef struct gn_value_cost {
    uint32_t value; /* 0: of none that is known */
    double flops, pairs, functions, draws;
    double streamed; /* bytes of work_set */
    double gathered;
} gn_value_cost;

enum { GN_COST_WARPS = 6 }; /* 1, 2, ..., 32 iterations that share a warp */

typedef struct gn_cost {
    double flops;     /* additions, multiplications, comparisons of floats; a fused one is two */
    double pairs;     /* of these, in products of pairs */
    double functions; /* exponentials, logarithms, divisions, roots, ... */
    double draws;     /* random numbers */
    double moved;     /* bytes: every buffer's accesses, but none counted twice */
    double gathered;  /* bytes read through an index that was read itself, repeats counted */
    double table;     /* bytes of the buffers that are gathered from */
    double work_set;  /* bytes of every buffer's accesses but the gathered ones, none counted twice
                       */
    double sampled;   /* fraction of the thread loop's iterations that was walked */
    bool guessed;     /* a bound or a condition depends on floats: a loop was taken to run once, a
                       * condition to hold, and where one is the negation of another, that other */
    /* Rounds of serial sums (edges, or sums of parts) that an iteration of the thread loop takes
     * one after another: the most of one; of all; and what lanes are held for where 2^k iterations
     * side by side share a warp, each for as long as the longest of them (0 where only a sample was
     * walked). */
    double longest, taken, held[GN_COST_WARPS];
    gn_buffer_cost *buffer; /* [k->buffers.n] */
    int n_values;
    gn_value_cost *value; /* [n_values] which add up to the kernel's, in ascending order */
} gn_cost;

/* `k` verifies.  bytes: of each buffer; buf: its data, integers and bools of which are read, or
 * NULL where there is none; trips: iterations of the thread loop; budget: about so many
 * instructions are walked at most where there is a thread loop to take samples of, 0: many.  In the
 * arena. */
gn_cost gn_cost_of(gn_arena *a, const kir_kernel *k, const int64_t *bytes, void *const *buf,
                   const int64_t *sym, int64_t trips, int64_t budget);

/* The same of launch k of the instance, which is no copy.  What a chain passes on stays in a cache
 * (runtime/run/chain.h), and is not counted as moved. */
gn_cost gn_cost_of_launch(gn_arena *a, const low_launch *l, const gn_instance *in, int k,
                          int64_t budget);

#endif
