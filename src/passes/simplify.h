/* Cleaning a program up.  Each makes a new program from one that verifies; outputs and updates keep
 * names and order. */
#ifndef GN_PASSES_SIMPLIFY_H
#define GN_PASSES_SIMPLIFY_H

#include "ir/gir.h"

GN_NODISCARD gn_status *gn_pass_dce(gn_arena *a, const gir_program *in, gir_program **out);
GN_NODISCARD gn_status *gn_pass_cse(gn_arena *a, const gir_program *in, gir_program **out);
GN_NODISCARD gn_status *gn_pass_simplify(gn_arena *a, const gir_program *in,
                                         gir_program **out); /* and both of these */

#endif
