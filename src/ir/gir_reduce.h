/* Makes a failing program small: drops outputs, moves outputs to what they are computed from, puts
 * operands and constants in the place of values, for as long as the failure shows. */
#ifndef GN_IR_GIR_REDUCE_H
#define GN_IR_GIR_REDUCE_H

#include "ir/gir.h"

/* Does the failure show in this program?  Called with programs that verify and bind no name that
 * the first one does not. They die with the call. */
typedef bool (*gir_predicate)(void *user, const gir_program *p);

/* A program in `a` (its names may be those of p) that cannot be made smaller by one step, or that
 * was reached after max_tries calls (0: 10000).  Needs a program that verifies; the predicate
 * should hold of it. */
gir_program *gir_reduce_program(gn_arena *a, const gir_program *p, gir_predicate fails, void *user,
                                int max_tries);

#endif
