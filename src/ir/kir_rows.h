/* Which buffers a kernel touches row by row (kir_rows.c). */
#ifndef GN_IR_KIR_ROWS_H
#define GN_IR_KIR_ROWS_H

#include "ir/kir.h"

/* By buffer, in the arena: its elements are rows of size.coef, and iteration t of the THREAD loop
 * loads and stores, of all of them, rows [t, t + step) alone.  False where that does not show, and
 * in kernels without a THREAD loop. */
bool *kir_own_rows(gn_arena *arena, const kir_kernel *k);

#endif
