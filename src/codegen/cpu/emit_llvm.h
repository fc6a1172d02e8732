/* Emission of one loop IR kernel as LLVM IR: what the files of this folder share.
 *
 * A kernel becomes one function of type gn_kernel_fn.  VECTOR loops are spelled as explicit
 * vectors.  While a chunk of `lanes` iterations is emitted, a value is one of
 *   CG_INT      an integer known as  base + c + off[lane]:  one scalar LLVM value (or none) and
 *               compile-time constants. Every uniform integer is one, and so is whatever follows
 *               from the induction variable by + - * / % with constants; bools that are known at
 *               compile time are a CG_INT of 0 and 1 without a base
 *   CG_UNIFORM  a float or bool that is the same in all lanes: a scalar
 *   CG_VECTOR   <lanes x T>
 * so addresses stay scalar and the shape of an access (contiguous, broadcast, permuted, gathered)
 * is read off `off`. Outside vector loops `lanes` is 1 and CG_VECTOR does not occur. */
#ifndef GN_CODEGEN_CPU_EMIT_LLVM_H
#define GN_CODEGEN_CPU_EMIT_LLVM_H

#include "base/arena.h"
#include "base/elem.h"
#include "codegen/backend.h"
#include "codegen/cpu/machine.h"
#include "ir/kir.h"

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

enum { CG_MAX_LANES = 16 };

typedef enum cg_kind { CG_NONE, CG_INT, CG_UNIFORM, CG_VECTOR } cg_kind;

typedef struct cg_val {
    uint8_t kind;
    uint8_t elem;       /* F32, F64, I64, BOOL */
    LLVMValueRef v;     /* INT: base, NULL = 0; UNIFORM: the scalar; VECTOR: the vector */
    int64_t mult;       /* INT: divides the base; 0 when there is none */
    int64_t c;          /* INT: added to all lanes */
    const int64_t *off; /* INT: [lanes] added a lane, NULL = the same in all lanes */
} cg_val;

/* Memory that loads and stores name: a buffer or a tile. */
typedef struct cg_mem {
    LLVMValueRef ptr;
    gn_elem elem;
    bool tile;      /* private: may be read past its elements (it is padded), stores may blend */
    bool invariant; /* nothing in the kernel writes it */
    int64_t elems;  /* tile: without padding */
    int number;     /* buffer */
} cg_mem;

/* A lane reduction that is carried through a vector loop in vectors and added to its tile after
 * it. */
typedef struct cg_defer {
    struct cg_defer *next;
    kir_id inst;  /* the TACC or TFMA */
    cg_val index; /* of the tile: flat, or of the first run */
    int run; /* lanes that name one element, those of the next run the next; 0: all lanes name one
              */
    LLVMValueRef acc; /* alloca of a vector */
} cg_defer;

typedef struct cg_reduce_loop { /* the vector loop that is being emitted */
    kir_id loop;
    bool written_out; /* chunk after chunk in one block: accumulators may come to be at their first
                         use */
    int lanes;        /* of its accumulators */
    int first_lane;   /* of them, for the chunk being emitted: iteration modulo width */
    cg_defer *list;
} cg_reduce_loop;

typedef struct cg_waiting { /* a store that waits for the end of its loop */
    struct cg_waiting *next;
    int buffer, lanes;
    cg_val index, value, mask;
    bool mask_tail;
} cg_waiting;

typedef struct cg_late { /* the loop that is being written out whose stores wait, of some buffers */
    kir_id loop;         /* 0: none */
    bool *buffer;        /* [buffers] */
    cg_waiting *first, **end;
} cg_late;

typedef struct cg_pointer {
    LLVMValueRef ptr;
    LLVMValueRef scope, others; /* metadata: its own alias scope, those of the other buffers */
} cg_pointer;

typedef struct cg_tile {
    LLVMValueRef ptr;
    int64_t elems; /* of one lane */
    int lanes;     /* copies: 1, or the lanes of the vector loop that it was declared in */
} cg_tile;

typedef struct cg {
    gn_arena *arena;
    const kir_kernel *k;
    const cg_target *target;
    bool sanitize, watch;
    const uint32_t *place; /* of instructions (kir_places); NULL: nobody asks */
    LLVMMetadataRef lines; /* what those are lines of */
    gn_switches off;
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    LLVMBuilderRef entry; /* allocas */
    LLVMValueRef fn;
    LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, ptr, empty;
    unsigned invariant_kind, scope_kind, noalias_kind;
    LLVMValueRef empty_node;
    cg_pointer *buffer;      /* [buffers] */
    LLVMValueRef *sym;       /* [symbols] */
    LLVMValueRef fault_name; /* sanitize: the kernel's name as a string */
    LLVMValueRef watch_list; /* watch: [CG_MAX_LANES] pointers, on the stack */
    int64_t stack_bytes;
    const char *fail; /* first thing that could not be emitted */

    int lanes;      /* of the chunk being emitted; 1 outside vector loops */
    cg_val mask;    /* kind NONE: every lane runs; INT without base, or VECTOR of bool */
    bool mask_tail; /* the mask is a prefix of the lanes that the end of a loop cuts */
    cg_reduce_loop reduce;
    cg_late late;
    cg_val *val;        /* [instructions] */
    LLVMValueRef *word; /* [instructions] RANDOM: the 32 bits that the value was made of, in as many
                           lanes */
    cg_tile *tile;      /* [instructions] */
    kir_id *loop_of;    /* [instructions]: outermost vector loop around it, 0 = none */
    bool *varies;  /* [instructions]: not the same in every chunk of the vector loop around it */
    bool *written; /* [buffers]: some instruction stores to it */
} cg;

void cg_fail(cg *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* kernel.c ------------------------------------------------------------------------------------- */
/* Adds kernel `k` to the module as function `symbol`.  NULL, or why it cannot be emitted (in the
 * arena). */
const char *cg_kernel(gn_arena *a, LLVMModuleRef mod, const cg_target *t, const kir_kernel *k,
                      const char *symbol, const gn_codegen_options *opt);

/* supports.c ----------------------------------------------------------------------------------- */
/* Fills varies, loop_of and written; says what cannot be emitted, NULL when all can. */
const char *cg_analyse(cg *c);

/* loops.c -------------------------------------------------------------------------------------- */
/* kernel_lines.c: what is built from here on is of instruction i; of kernels with lines. */
void cg_locate(cg *c, kir_id i);
void cg_begin_lines(cg *c); /* the function is there */
void cg_block(cg *c, kir_id first);
void cg_for(cg *c, kir_id loop);
void cg_if(cg *c, kir_id inst);
LLVMValueRef cg_any(cg *c, LLVMValueRef mask);
int64_t cg_weight(const cg *c, kir_id body); /* about how many vector instructions; 1000 and more:
                                                not worth knowing */
int cg_copies(const cg *c, kir_id body); /* how many iterations of a short body to write one after
                                            another */
int64_t cg_most_iterations(const cg *c, const kir_inst *loop); /* INT64_MAX: not known */
int64_t cg_gcd(int64_t a, int64_t b);
LLVMBasicBlockRef cg_new_block(cg *c, const char *name);
void cg_goto(cg *c, LLVMBasicBlockRef to); /* branches to it and continues there */
LLVMValueRef cg_alloca(cg *c, LLVMTypeRef type, unsigned align);

/* late.c: stores of a written-out loop that wait for its end.  Begins with a loop in which no other
 * waits */
void cg_late_begin(cg *c, kir_id loop);
/* true: it waits */
bool cg_late_store(cg *c, int buffer, const cg_val *index, const cg_val *value);
void cg_late_end(cg *c, kir_id loop);

/* vector.c: VECTOR loops */
void cg_vector_loop(cg *c, kir_id loop);

/* wide.c: functions of short vectors, several at once.  One for the body of a vector loop, told
 * when a chunk begins; `again`: a chunk before has left what does not vary. */
typedef struct cg_wide cg_wide;
cg_wide *cg_wide_new(cg *c, kir_id body); /* NULL: nothing to do */
void cg_wide_chunk(cg_wide *w, bool again);
bool cg_wide_inst(cg *c, cg_wide *w, kir_id id); /* true: an instruction of the body that is emitted
                                                    now, or was */

/* lanes.c: the algebra of lane values ---------------------------------------------------------- */
cg_val cg_int(int64_t imm);
cg_val cg_int_value(LLVMValueRef base, int64_t mult);
cg_val cg_uniform(gn_elem e, LLVMValueRef v);
cg_val cg_vector(gn_elem e, LLVMValueRef v);
bool cg_flat(const cg_val *v);                     /* the same in all lanes */
bool cg_const(const cg_val *v);                    /* known at compile time in every lane */
int64_t cg_lane(const cg_val *v, int lane);        /* INT: c + off[lane] */
const int64_t *cg_offsets(cg *c, const cg_val *v); /* INT: [lanes] c + off */
cg_val cg_lanes_const(cg *c, gn_elem e, const int64_t *per_lane);
LLVMValueRef cg_scalar(cg *c, const cg_val *v); /* a flat value as a scalar */
/* any value as <lanes x T>; the scalar when lanes is 1 */
LLVMValueRef cg_as_vector(cg *c, const cg_val *v);
LLVMValueRef cg_operand(cg *c, const cg_val *v, bool flat); /* one or the other */
/* UNIFORM/INT when flat or lanes is 1, else VECTOR */
cg_val cg_result(cg *c, gn_elem e, bool flat, LLVMValueRef v);
cg_val cg_iadd(cg *c, const cg_val *a, const cg_val *b);
cg_val cg_isub(cg *c, const cg_val *a, const cg_val *b);
cg_val cg_imul(cg *c, const cg_val *a, const cg_val *b);
cg_val cg_idivmod(cg *c, const cg_val *a, const cg_val *b, bool mod);
cg_val cg_iminmax(cg *c, const cg_val *a, const cg_val *b, bool max);
cg_val cg_icompare(cg *c, kir_op op, const cg_val *a, const cg_val *b);
cg_val cg_select(cg *c, const cg_val *cond, const cg_val *a, const cg_val *b);
cg_val cg_logic(cg *c, kir_op op, const cg_val *a, const cg_val *b); /* NOT, AND, OR */

/* types.c: LLVM types, constants and small patterns -------------------------------------------- */
LLVMTypeRef cg_type(cg *c, gn_elem e);    /* of a value: f32, f64, i64, i1 */
LLVMTypeRef cg_storage(cg *c, gn_elem e); /* in memory: i8 for bool, i16 for bf16 and f16, ... */
LLVMTypeRef cg_vec(LLVMTypeRef t, int lanes); /* t itself for one lane */
int cg_width(LLVMValueRef v);                 /* lanes of a value, 1 for scalars */
LLVMValueRef cg_i64(cg *c, int64_t x);
LLVMValueRef cg_i32(cg *c, int64_t x);
LLVMValueRef cg_const_f(LLVMTypeRef t, double x);  /* scalar or splat */
LLVMValueRef cg_const_i(LLVMTypeRef t, int64_t x); /* scalar or splat */
LLVMValueRef cg_const_lanes(LLVMTypeRef scalar, const int64_t *x, int n);
LLVMValueRef cg_splat(cg *c, LLVMValueRef scalar, int lanes);
LLVMValueRef cg_extract(cg *c, LLVMValueRef v, int lane);
/* -1: any; n = 1 extracts */
LLVMValueRef cg_shuffle(cg *c, LLVMValueRef a, LLVMValueRef b, const int *map, int n);
LLVMValueRef cg_intrinsic(cg *c, const char *name, LLVMTypeRef *over, unsigned n_over,
                          LLVMValueRef *args, unsigned n);
LLVMValueRef cg_unary(cg *c, const char *name, LLVMValueRef a);
LLVMValueRef cg_binary(cg *c, const char *name, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef cg_fma(cg *c, LLVMValueRef a, LLVMValueRef b, LLVMValueRef d); /* one rounding */
LLVMValueRef cg_fminmax(cg *c, LLVMValueRef a, LLVMValueRef b, bool max);   /* NaN if either is */
LLVMValueRef cg_sel(cg *c, LLVMValueRef cond, LLVMValueRef a, LLVMValueRef b);
/* scalar type with as many lanes as shape */
LLVMTypeRef cg_like(LLVMTypeRef scalar, LLVMValueRef shape);

/* memory.c, gather.c: loads and stores of a lane index ----------------------------------------- */
cg_mem cg_buffer(cg *c, int number);
cg_val cg_load(cg *c, const cg_mem *m, const cg_val *index);
/* as it is stored; one lane where all are equal */
LLVMValueRef cg_load_stored(cg *c, const cg_mem *m, const cg_val *index);
void cg_store(cg *c, const cg_mem *m, const cg_val *index, const cg_val *value);
LLVMValueRef cg_address(cg *c, const cg_mem *m, LLVMValueRef base, int64_t offset);
/* what aliases what; returns the access */
LLVMValueRef cg_mark(cg *c, const cg_mem *m, LLVMValueRef access);
LLVMValueRef cg_load_raw(cg *c, const cg_mem *m, LLVMValueRef ptr, int lanes);
void cg_store_raw(cg *c, const cg_mem *m, LLVMValueRef ptr, LLVMValueRef v);
LLVMValueRef cg_mask_vector(cg *c);       /* <lanes x i1>, NULL when every lane runs */
bool cg_lane_runs(const cg *c, int lane); /* may it run? false only where the mask says so at
                                             compile time */
LLVMValueRef cg_gather_const(cg *c, const cg_mem *m, const cg_val *index);
LLVMValueRef cg_gather(cg *c, const cg_mem *m, const cg_val *index);
void cg_scatter(cg *c, const cg_mem *m, const cg_val *index, LLVMValueRef raw);
void cg_prefetch(cg *c, int buffer, const cg_val *index);
void cg_check_bounds(cg *c, const cg_mem *m, const cg_val *index);

/* watch.c: what ThreadSanitizer is told before a buffer's elements are touched; nothing for tiles,
 * and unless c->watch ---- */
/* consecutive elements */
void cg_watch(cg *c, const cg_mem *m, LLVMValueRef ptr, int lanes, bool write);
/* Those lanes that the mask lets run: a pointer for each, or to that of lane 0. */
void cg_watch_lanes(cg *c, const cg_mem *m, LLVMValueRef ptr, LLVMValueRef mask, bool write);
void cg_watch_arguments(cg *c); /* the arrays of buffers and symbols */

/* convert.c: between what is stored and what is computed with ---------------------------------- */
LLVMValueRef cg_widen(cg *c, gn_elem e, LLVMValueRef raw);
LLVMValueRef cg_narrow(cg *c, gn_elem e, LLVMValueRef v);
/* of a tile, where what is subnormal may become 0 */
LLVMValueRef cg_narrow_tile(cg *c, gn_elem e, LLVMValueRef v);
gn_elem cg_value_elem(gn_elem stored); /* f32, f64, i64 or bool */
cg_val cg_cast(cg *c, gn_elem to, const cg_val *v);

/* tiles.c -------------------------------------------------------------------------------------- */
void cg_tile_declare(cg *c, kir_id inst);
cg_val cg_tile_load(cg *c, const kir_inst *in);
void cg_tile_store(cg *c, const kir_inst *in);
void cg_tile_acc(cg *c, kir_id inst);                  /* TACC and TFMA */
void cg_tile_dot(cg *c, kir_id inst);                  /* TDOT */
cg_mem cg_tile_mem(cg *c, kir_id tile, cg_val *index); /* brings the index to the tile's layout */

/* reduce.c: lane reductions -------------------------------------------------------------------- */
LLVMValueRef cg_identity(LLVMTypeRef t, gn_elem e, int red);
LLVMValueRef cg_combine(cg *c, gn_elem e, int red, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef cg_tree(cg *c, gn_elem e, int red, LLVMValueRef v); /* to a scalar */
/* trees.c: of `n` vectors at once, each of runs of `length` lanes, to as many lanes as there are
 * runs; overwrites v. n and length are powers of two, n no larger than length. */
LLVMValueRef cg_trees(cg *c, gn_elem e, int red, LLVMValueRef *v, int n, int length);
void cg_reduce_into(cg *c, const cg_mem *m, const cg_val *index, int red, LLVMValueRef v);
void cg_defer_begin(cg *c, kir_id loop, bool written_out, int lanes);
bool cg_defer_acc(cg *c, kir_id inst, const cg_val *index); /* true: it was taken */
void cg_defer_end(cg *c);

/* math.c, math_pow.c, random.c: of scalars or vectors ------------------------------------------ */
LLVMValueRef cg_math(cg *c, kir_op op, gn_elem e, LLVMValueRef x);
LLVMValueRef cg_sincos(cg *c, LLVMValueRef x, bool is_cos); /* math_trig.c: of f32 */
LLVMValueRef cg_pow(cg *c, gn_elem e, LLVMValueRef x, LLVMValueRef y);
/* lane by lane */
LLVMValueRef cg_libm(cg *c, const char *name, gn_elem e, LLVMValueRef *args, unsigned n);
LLVMValueRef cg_poly(cg *c, LLVMValueRef x, const double *coef, int n); /* highest power first */
/* fused where the target can */
LLVMValueRef cg_muladd(cg *c, LLVMValueRef a, LLVMValueRef b, LLVMValueRef d);
cg_val cg_random(cg *c, kir_id inst);
/* FLT or FLE of a draw and a constant, as integers */
bool cg_compares_draw(const cg *c, const kir_inst *in);
cg_val cg_compare_draw(cg *c, const kir_inst *in);
cg_val cg_rng_key(cg *c, const cg_val *seed, const cg_val *step);

/* values.c: instructions without control flow */
void cg_inst(cg *c, kir_id inst);

#endif
