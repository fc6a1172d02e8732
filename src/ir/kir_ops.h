/* Typed helpers over kir_emit, one an instruction.  Integer and bool operations fold as they are
 * built: constants, x + 0, x * 1, (x * c) / c, select on a constant ...; floats never, so that no
 * bit of a result depends on it.  A folded operation gives an operand or a new constant.
 * References are only valid where dominance allows (kir.h). */
#ifndef GN_IR_KIR_OPS_H
#define GN_IR_KIR_OPS_H

#include "ir/kir_fold.h"

kir_id kir_iconst(kir_kernel *k, kir_cursor *c, int64_t v);
kir_id kir_fconst(kir_kernel *k, kir_cursor *c, gn_elem e, double v); /* f32 or f64 */
kir_id kir_bconst(kir_kernel *k, kir_cursor *c, bool v);
kir_id kir_sym(kir_kernel *k, kir_cursor *c, int sym);
kir_id kir_size_value(kir_kernel *k, kir_cursor *c, kir_size s); /* coef * sym + plus as an i64 */

kir_id kir_un(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a);
kir_id kir_bin(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, kir_id b);
/* FMA, SELECT */
kir_id kir_tri(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, kir_id b, kir_id x);
kir_id kir_bin_imm(kir_kernel *k, kir_cursor *c, kir_op op, kir_id a, int64_t b); /* integers */
kir_id kir_select(kir_kernel *k, kir_cursor *c, kir_id cond, kir_id yes, kir_id no);
/* a itself when it has that type */
kir_id kir_cast(kir_kernel *k, kir_cursor *c, kir_id a, gn_elem to);
kir_id kir_random(kir_kernel *k, kir_cursor *c, kir_id key, kir_id element, int64_t site,
                  bool narrow);
kir_id kir_rngkey(kir_kernel *k, kir_cursor *c, kir_id seed, kir_id step);

kir_id kir_load(kir_kernel *k, kir_cursor *c, int buffer, kir_id at);
void kir_store(kir_kernel *k, kir_cursor *c, int buffer, kir_id at, kir_id value);
void kir_prefetch(kir_kernel *k, kir_cursor *c, int buffer, kir_id at);

kir_id kir_tile(kir_kernel *k, kir_cursor *c, gn_elem e, int64_t n);
kir_id kir_tload(kir_kernel *k, kir_cursor *c, kir_id tile, kir_id at);
void kir_tstore(kir_kernel *k, kir_cursor *c, kir_id tile, kir_id at, kir_id value);
void kir_tacc(kir_kernel *k, kir_cursor *c, kir_red red, kir_id tile, kir_id at, kir_id value);
void kir_tfma(kir_kernel *k, kir_cursor *c, kir_id tile, kir_id at, kir_id a, kir_id b);

kir_id kir_round(kir_kernel *k, kir_cursor *c, kir_id a, kir_kind kind);
typedef struct kir_place { /* an element of a tile */
    kir_id tile, at;
} kir_place;
void kir_tdot(kir_kernel *k, kir_cursor *c, kir_place to, kir_place left, kir_place right);
void kir_mma_add(kir_kernel *k, kir_cursor *c, const kir_mma *m, kir_place to, kir_place left,
                 kir_place right);

/* Loops and conditions: *body becomes a cursor at the beginning of their block.
 *   kir_cursor body;
 *   kir_id i = kir_for(k, c, &body, zero, n, 1, KIR_THREAD, KIR_NONE);
 *   ... emit at &body; `c` goes on after the loop */
kir_id kir_for(kir_kernel *k, kir_cursor *c, kir_cursor *body, kir_id lo, kir_id hi, int64_t step,
               kir_unit unit, kir_race race);
kir_id kir_for_n(kir_kernel *k, kir_cursor *c, kir_cursor *body, int64_t n, kir_unit unit,
                 kir_race race); /* 0 .. n */
kir_id kir_if(kir_kernel *k, kir_cursor *c, kir_cursor *body, kir_id cond);
void kir_barrier(kir_kernel *k, kir_cursor *c);

#endif
