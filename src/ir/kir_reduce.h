/* Makes a failing kernel small: drops statements, takes loops and ifs from around their bodies,
 * shortens loops, puts operands and constants in the place of values, for as long as the failure
 * shows. */
#ifndef GN_IR_KIR_REDUCE_H
#define GN_IR_KIR_REDUCE_H

#include "ir/kir.h"

/* Does the failure show in this kernel?  Called with kernels that verify and have the buffers and
 * symbols of the first one, so that one set of bindings does for all.  They die with the call. */
typedef bool (*kir_predicate)(void *user, const kir_kernel *k);

/* A copy in `a` that cannot be made smaller by one step, or that was reached after max_tries calls
 * (0: 10000).  Needs a kernel that verifies; the predicate should hold of it. */
kir_kernel *kir_reduce(gn_arena *a, const kir_kernel *k, kir_predicate fails, void *user,
                       int max_tries);

#endif
