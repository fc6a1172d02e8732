/* Tables of which a step reads, and its optimizer updates, some rows. */
#ifndef GN_PASSES_TOUCH_ROWS_H
#define GN_PASSES_TOUCH_ROWS_H

#include "ir/gir.h"

/* needs: a loss that verifies, without gradients; `names` [n]: of its states that are trained.
 * gives: *out: the same, where every such state that has a row for each row of a space, and is read
 * by gathers and takes alone, itself or computed on row by row, is read by one TAKE of an ENDS. */
GN_NODISCARD gn_status *gn_pass_touch_rows(gn_arena *a, const gir_program *loss, int n,
                                           const char *const *names, gir_program **out);

/* That TAKE; 0: other values read state w.  GN_ERR_INTERNAL: both do. */
GN_NODISCARD gn_status *gn_touched_rows(const gir_program *p, gir_id w, gir_id *rows);

#endif
