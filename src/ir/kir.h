/* Loop IR ("kir"): a kernel is a nest of loops over buffers, spelled once and emitted for any
 * device.
 *
 * Structured, no gotos: a block is a list of instructions, FOR and IF own a block.  An
 * instruction's value may be used after it in its own block and in blocks inside it.  Every loop
 * says how its iterations may meet (race) and which part of a machine runs them (unit).  A kernel
 * has at most one THREAD loop, which is then the last instruction of its top block and runs from 0;
 * whatever stands before it is uniform.  Tiles are private arrays of constant size; within VECTOR
 * loops they are indexed by the lane in a way a compiler can keep in registers. Nothing here names
 * a device; lanes, cache sizes and limits come from a back end as numbers. */
#ifndef GN_IR_KIR_H
#define GN_IR_KIR_H

#include "base/arena.h"
#include "base/elem.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t kir_id; /* instruction; 0 is none */

typedef enum kir_op {
    KIR_INVALID = 0,
#define KOP(id, text, n_in, cls, sig, doc) KIR_##id,
#include "ir/kir.def"
#undef KOP
    KIR_OP_COUNT
} kir_op;

typedef enum kir_class { KIR_CLASS_VALUE, KIR_CLASS_MEM, KIR_CLASS_STMT } kir_class;
typedef struct kir_op_info {
    const char *text;
    int n_in;
    kir_class cls;
    const char *sig;
    const char *doc;
} kir_op_info;
extern const kir_op_info kir_ops[KIR_OP_COUNT];
/* Is it one that takes a polynomial, and so many times what a sum does? */
bool kir_is_function(kir_op op);

typedef enum kir_red {
    KIR_SUM,
    KIR_RED_MAX,
    KIR_RED_MIN,
    KIR_RED_COUNT
} kir_red; /* TACC; NaN wins a max or min */
extern const char *const kir_red_name[KIR_RED_COUNT];

/* What operands of a product of fragments are rounded to, how many rows, columns and terms a
 * product has, and the elements of the tiles that operands lie in: the only list. */
#define KIR_KINDS(X)                                                                               \
    X(TF32, "tf32", 16, 8, 8, GN_F32)                                                              \
    X(BF16, "bf16", 16, 8, 16, GN_BF16)                                                            \
    X(F16, "f16", 16, 8, 16, GN_F16)
typedef enum kir_kind {
#define X(id, text, rows, cols, depth, elem) KIR_KIND_##id,
    KIR_KINDS(X)
#undef X
        KIR_KIND_COUNT
} kir_kind;
typedef struct kir_kind_info {
    const char *text;
    int rows, cols, depth;
    gn_elem elem; /* F32: what is stored there has been rounded (ROUND); else storing rounds */
} kir_kind_info;
extern const kir_kind_info kir_kinds[KIR_KIND_COUNT];

/* MMA: what its imm says.  Element (r, s) of the left operand is at left[b + r * left_row + s *
 * left_term], (s, c) of the right one at right[c + c * right_col + s * right_term].  Element (r, c)
 * of the result is number 2 * (r / 8) + c % 2 of lane 4 * (r % 8) + c / 2 (PTX ISA, "Matrix
 * Fragments for mma.m16n8k8" and "m16n8k16"); number n of lane l is at ref[a + l * lane + n].
 * Where terms of 16 bits lie side by side machines take two at a time: rows (of the right operand
 * columns) begin at even places then. */
typedef struct kir_mma {
    kir_kind kind;
    int lane, left_row, left_term, right_col, right_term; /* 1 .. KIR_MAX_STRIDE */
} kir_mma;
enum { KIR_WARP_LANES = 32, KIR_MAX_STRIDE = 4095 };
int64_t kir_mma_pack(const kir_mma *m);
kir_mma kir_mma_of(int64_t imm); /* of any imm; kind may be none that there is */
int64_t kir_mma_place(const kir_mma *m, int row, int col); /* of the result, from a on */

/* Who runs the iterations of a loop.
 *   SERIAL  one after another
 *   UNROLL  one after another, written out (constant bounds)
 *   VECTOR  lanes of a vector: constant bounds, or any bounds with a body of straight-line
 *           instructions.  The body is evaluated for several iterations at once; with constant
 *           bounds it is written out chunk by chunk, so that everything that depends on the
 *           induction variable alone is a constant.  In it: no vector loop; serial and unrolled
 *           loops whose bounds are the same for all lanes; IFs, which lanes may enter one by one
 *   THREAD  independent workers take ranges of iterations.  Each runs what stands before the loop
 *           for itself, so that may not store to buffers, nor load what the kernel writes
 *   BLOCK   takes the place of THREAD where a worker is a group of lanes that share tiles
 *   WARP    in a BLOCK loop: subgroups of it.  LANE, in a BLOCK or WARP loop: its lanes.
 *           Iterations of different WARP and LANE loops of one BLOCK iteration may run in any order
 *           unless a BARRIER stands between them.  MMA stands in a WARP loop and in no LANE loop:
 *           the lanes of a warp are one there */
typedef enum kir_unit {
    KIR_SERIAL,
    KIR_UNROLL,
    KIR_VECTOR,
    KIR_THREAD,
    KIR_BLOCK,
    KIR_WARP,
    KIR_LANE,
    KIR_UNIT_COUNT
} kir_unit;
extern const char *const kir_unit_name[KIR_UNIT_COUNT];

/* How iterations of a loop may meet in memory that outlives them (the words of TACO: Kjolstad et
 * al., OOPSLA 2017).
 *   NONE    no element is written by one iteration and touched by another PRIVATE they share
 *   nothing but tiles declared outside, as scratch: each has a copy of its own.  What one iteration
 *           writes no other reads, and nobody after the loop
 *   REDUCE  they meet in TACC/TFMA on the same tile element, and only there
 *   ORDERED they must run in order (serial or unrolled) */
typedef enum kir_race { KIR_NONE, KIR_PRIVATE, KIR_REDUCE, KIR_ORDERED, KIR_RACE_COUNT } kir_race;
extern const char *const kir_race_name[KIR_RACE_COUNT];

typedef struct kir_inst {
    uint8_t op;
    uint8_t elem; /* type of the value (F32, F64, I64, BOOL); of a tile: its elements, those or
                     BF16, F16 */
    uint8_t unit, race;
    bool narrow; /* RANDOM: the element fits 32 bits */
    kir_id a, b, c;
    kir_id ref;         /* TLOAD, TSTORE, TACC, TFMA, TDOT, MMA: the tile */
    kir_id left, right; /* TDOT, MMA: tiles of the operands */
    kir_id body;        /* FOR, IF: first instruction of the body; 0 = empty */
    kir_id next;        /* next in the same block */
    int64_t imm;
    double fimm;
    uint32_t of; /* the value of the tensor IR that it is a part of, for reports; 0: of none.  No
                    part of the text, nor of what makes kernels equal */
} kir_inst;

/* Number of elements, as a polynomial of one term: coef * sym (sym < 0: a constant). */
typedef struct kir_size {
    int64_t coef;
    int32_t sym;
    int32_t plus; /* added: rows + 1 of a row pointer */
} kir_size;

typedef enum kir_access { KIR_READ = 1, KIR_WRITE = 2, KIR_READ_WRITE = 3 } kir_access;

typedef struct kir_buffer {
    const char *name; /* unique in the kernel */
    gn_elem elem;
    kir_access access;
    kir_size size; /* elements; the evaluator checks every index against it */
} kir_buffer;

typedef struct kir_kernel {
    gn_arena *arena;
    const char *name;
    GN_VEC(kir_inst) insts;     /* insts.p[0] is a placeholder */
    GN_VEC(kir_buffer) buffers; /* two buffers never overlap unless they are the same number */
    GN_VEC(const char *) syms;  /* names of run-time symbols: "node", "edge", ... */
    kir_id top;                 /* first instruction of the kernel's block */
    const char *comment;        /* what it computes; may be NULL */
    /* Hints for a machine that runs an iteration of the THREAD loop by a group of lanes: lanes of a
     * group, and threads of a block of groups, 0 .. KIR_MAX_THREADS; 0: its own rules say.  What it
     * cannot do it brings to what it can. */
    int lanes, threads;
    uint32_t of; /* given to instructions as they are made, where they say none */
} kir_kernel;

enum { KIR_MAX_THREADS = 1024 };

/* Valid until the next kir_emit. */
static inline kir_inst *kir_at(const kir_kernel *k, kir_id i) { return &k->insts.p[i]; }

/* The THREAD (or BLOCK) loop that closes the kernel's top block, 0 when it has none. */
kir_id kir_thread_loop(const kir_kernel *k);

/* The value type that an element of a buffer has in instructions: i32 -> i64, f16 -> f32, ... */
static inline gn_elem kir_widen(gn_elem e)
{
    return e == GN_F64 || e == GN_BOOL ? e : gn_elem_is_float(e) ? GN_F32 : GN_I64;
}

/* Elements of tiles that are narrower than the values that are stored there: stores round to
 * nearest, ties to even. */
static inline bool kir_is_narrow(gn_elem e) { return e == GN_BF16 || e == GN_F16; }

/* Has the instruction a value that others may use as an operand?  (A tile is used through
 * `ref`.) */
static inline bool kir_has_value(const kir_inst *i)
{
    return i->op == KIR_FOR ||
           (i->op < KIR_OP_COUNT && i->op != KIR_INVALID && kir_ops[i->op].cls != KIR_CLASS_STMT);
}

/* kir_build.c: inserts at a cursor; kir_ops.h has a helper for each instruction. --------------- */
typedef struct kir_cursor {
    kir_id owner; /* FOR or IF, 0 = the kernel's block */
    kir_id last;  /* the instruction of that block after which the next one goes; 0 = at its
                     beginning */
} kir_cursor;

kir_kernel *kir_kernel_new(gn_arena *a, const char *name);
int kir_buffer_add(kir_kernel *k, const char *name, gn_elem e, kir_access access, kir_size size);
int kir_sym_add(kir_kernel *k, const char *name); /* the number of that name, new or not */
/* At the cursor, which moves past it.  `elem` is filled in where the operands determine it. */
kir_id kir_emit(kir_kernel *k, kir_cursor *c, const kir_inst *inst);

/* kir_clone.c: a copy with instructions in textual order, numbered from 1, without what is not
 * linked.  Needs a kernel that verifies.  map (may be NULL) gives the new id of each old one, 0
 * where it has gone. */
kir_kernel *kir_clone(gn_arena *a, const kir_kernel *k, kir_id *map);

/* kir_places.c: of each instruction its place in the kernel's text, from 1, the same for all
 * kernels of that text; 0: a constant, a symbol, or what is not linked.  [insts], in the arena; of
 * a kernel that verifies. */
uint32_t *kir_places(gn_arena *a, const kir_kernel *k);

/* text: kir_print.c, kir_parse.c.  parse(print(k)) is the identity up to the numbering of
 * instructions and the places of constants and symbols: those are written where they are used, and
 * parsed to an instruction in front of their user. Values are numbered in textual order.  `sym`
 * declares a run-time symbol, in the order of their numbers; so does its first mention in a
 * buffer's size.  A literal of f64 is written 0.5:f64.  "..." after the name is the comment; `lanes
 * 8` and `threads 64` may follow.  A name that is not a plain word is quoted.
 *   kernel @gcn_1 "what it does" (
 *     sym node, sym edge,
 *     %rowptr: i32[node + 1] read, %h: f32[node * 16] read, %out: f32[node * 16] write
 *   ) {
 *     for %1 in 0 .. node step 1 thread none {        ; a comment to the end of the line
 *       %2 = tile f32 16
 *       for %3 in 0 .. 16 step 1 vector none {
 *         tstore %2[%3], 0.0
 *       }
 *       %4 = load i64 %rowptr[%1]
 *       %5 = iadd %1, 1
 *       %6 = load i64 %rowptr[%5]
 *       for %7 in %4 .. %6 step 1 serial ordered { ... tfma %2[%8], %9, %10 ... }
 *       ...
 *       store %out[%12], %13
 *     }
 *   } */
enum { KIR_MAX_DEPTH = 64 }; /* blocks inside blocks */
/* one line, without the body; numbered as by kir_print */
void kir_print_inst(const kir_kernel *k, kir_id i, gn_buf *out);
void kir_print(const kir_kernel *k, gn_buf *out); /* takes broken kernels too */
/* GN_ERR_MODEL with origin:line:column for text that does not parse.  Takes any bytes; does not
 * verify. */
gn_status *kir_parse(gn_arena *a, const char *text, size_t n, const char *origin, kir_kernel **out);

/* kir_verify.c: everything that this file and kir.def demand that can be seen without running the
 * kernel. GN_ERR_INTERNAL with the instruction, as text, and the rule it breaks.  Takes any
 * contents of the arrays. */
#define KIR_MAX_TILE ((int64_t)1 << 20) /* elements of a tile */
gn_status *kir_verify(const kir_kernel *k);

/* kir_eval.c: runs a kernel on real buffers, one iteration after another, in double or in element
 * precision.  Verifies it first.  Checks every index, arithmetic on integers (overflow, division by
 * zero), reads of tile elements that were never written, and races: two iterations of a loop that
 * is not ORDERED meeting in an element of a buffer, or of a tile declared outside the loop, in a
 * way that its race does not allow.  WARP and LANE loops of one BLOCK iteration count as one loop
 * up to the next BARRIER. Floats: f32 is rounded after each instruction, FMA and TFMA once;
 * functions are libm's in double, rounded. */
typedef struct kir_eval_options {
    bool f64; /* compute in double and round nothing; the caller holds buffers of floats as double
               */
    bool reverse; /* run parallel loops (VECTOR and above) from the back, but REDUCE ones, whose
                     order is part of their meaning: results must not change */
    bool once;    /* an element stored twice, of a buffer that is only written, is an error, too:
                     kir_overwrite.h */
    int64_t max_steps; /* GN_ERR_USAGE after so many instructions; 0: no limit */
    size_t max_bytes;  /* GN_ERR_NOMEM past so much memory; 0: no limit */
} kir_eval_options;

typedef struct kir_bound_buffer {
    void *data; /* gn_elem of the buffer, or double for floats under f64 */
    int64_t elems;
} kir_bound_buffer;

/* opt may be NULL.  GN_ERR_USAGE for buffers that are too small; GN_ERR_INTERNAL for what the
 * kernel does wrong. */
gn_status *kir_eval(const kir_kernel *k, const kir_eval_options *opt,
                    const kir_bound_buffer *buffers, const int64_t *syms);

#endif
