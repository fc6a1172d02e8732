/* What the loop IR's evaluator is made of: a kernel as a flat list of steps (kir_decode.c), memory
 * with a shadow that finds races (kir_shadow.c), and the machine that runs them (kir_eval.c). */
#ifndef GN_IR_KIR_EXEC_H
#define GN_IR_KIR_EXEC_H

#include "ir/kir.h"

typedef union kx_cell {
    int64_t i; /* i64 and bool */
    double f;
} kx_cell;

/* Ops of steps besides the kernel's: the end of a loop's body, of the kernel. */
enum { KX_END = KIR_OP_COUNT, KX_DONE };

typedef struct kx_step {
    uint8_t op;
    uint8_t round;         /* the result is rounded to f32 */
    uint8_t from, to;      /* CAST: element types; SELECT: to */
    bool narrow;           /* RANDOM: the element fits 32 bits */
    uint32_t dst, a, b, c; /* cells; STORE, TSTORE ...: a index, b value */
    uint32_t mem;          /* LOAD, STORE, TLOAD ...: memory; TILE: which one it declares */
    uint32_t left, right;  /* TDOT, MMA: memory of the operands */
    uint32_t loop;         /* FOR, END: its number; others: the innermost loop around, -1 = none */
    uint32_t target;       /* FOR, IF: the step after the body */
    uint32_t levels;       /* checked loops around it */
    int64_t imm;
    kir_id inst;
} kx_step;

typedef struct kx_loop {
    int64_t lo, step;
    uint64_t trips, at; /* iterations: how many, which */
    bool reverse;
    uint8_t unit, race;
    int level;      /* -1: ordered, not checked */
    uint32_t iv;    /* cell */
    uint32_t outer; /* loop around, -1 = none */
    uint32_t first; /* step */
} kx_loop;

/* Executions of WARP and LANE loops have numbers of their own: the phase between barriers, and
 * which of the two. */
#define KX_IN_BLOCK (UINT64_C(1) << 63)
#define KX_OF_LANES (UINT64_C(1) << 62)

/* A checked loop that is running: which execution of it, and which iteration. */
typedef struct kx_level {
    uint64_t instance;
    uint32_t iter;
    uint32_t loop;
    uint8_t race;
} kx_level;

/* What one execution of a checked loop did to an element. */
typedef struct kx_mark {
    uint64_t instance;
    uint32_t iter; /* that touched it last */
    uint8_t bits;  /* KX_READ ... of all iterations */
    uint8_t many;  /* more than one iteration */
    uint8_t own;   /* this iteration has written it */
} kx_mark;

enum { KX_READ = 1, KX_WRITE = 2, KX_SUM = 4, KX_MAX = 8, KX_MIN = 16 };

typedef struct kx_memory {
    void *data; /* buffer: of `elem`, or double under `wide`; tile: kx_cell */
    int64_t n;
    uint8_t elem;
    bool tile, wide, written; /* written: some instruction stores to it */
    uint32_t base, levels;    /* checked loops around its declaration; most around an access */
    kx_mark *marks;           /* [n * (levels - base)], NULL = none needed */
    uint32_t *set;   /* tile: pass that wrote the element; `pass` where it has been written */
    uint64_t *owner; /* tile: execution of the private loop that wrote the element, 0 = none; NULL =
                        no such loop */
    uint32_t pass;
    uint8_t *stored; /* buffer: the element has been; NULL = it may be stored again */
} kx_memory;

typedef struct kx_code {
    GN_VEC(kx_step) steps;
    GN_VEC(kx_loop) loops;
    GN_VEC(kx_memory) memory; /* buffers first, then tiles */
    kx_cell *cells;           /* [instructions]; constants and symbols are filled in */
    uint32_t levels;          /* most checked loops around each other */
} kx_code;

/* kir_decode.c: `k` has been verified. */
gn_status *kx_decode(gn_arena *a, const kir_kernel *k, const kir_eval_options *opt,
                     const kir_bound_buffer *buffers, const int64_t *syms, kx_code *out);

/* kir_shadow.c: an access of kind `bit` to element i under the running levels [0, n).  NULL when
 * nothing meets; else why, with *other the iteration met and *level the loop. */
const char *kx_touch(kx_memory *m, int64_t i, unsigned bit, const kx_level *levels, uint32_t n,
                     uint32_t *other, uint32_t *level);

#endif
