/* Clean-up of loop IR.  Results keep their bits. */
#ifndef GN_IR_KIR_SIMPLIFY_H
#define GN_IR_KIR_SIMPLIFY_H

#include "ir/kir.h"

/* Needs a kernel that verifies; leaves one, rebuilt in place: ids change, buffers, symbols and the
 * THREAD loop stay.
 *   - integers fold; divisions and remainders of sums by constants split, (16*i + j)/8 = 2*i + j/8
 *     for 0 <= j; what ranges decide is decided: comparisons, min and max, IFs, loops of no or of
 *     one iteration
 *   - values are computed once (common subexpressions, loads from buffers that the kernel does not
 *     write among them)
 *   - values leave the loops that they do not depend on, but not an IF; loads and divisions that
 *     might not be computed at all only leave loops that run at least once.  Sums and products
 *     leave any loop: code does not mind when one that nobody needs does not fit, though the
 *     evaluator says so
 *   - what an element of a tile is known to hold is not loaded; x * 1.0, x / 1.0 and the like are
 *     x, bit by bit
 *   - what nobody uses goes: values, tiles and their stores, loops and IFs without effect */
gn_status *kir_simplify(kir_kernel *k);

/* kir_dead.c: only the last of these; unlinks, ids stay. */
void kir_remove_dead(kir_kernel *k);

#endif
