/* Functions that the language cannot write itself.  The table is builtins.def. */
#ifndef GN_FRONTEND_BUILTIN_H
#define GN_FRONTEND_BUILTIN_H

#include "frontend/elab.h"

#define B(name, formals, handler, op) value builtin_##handler(elab *E, const builtin_call *c);
#include "frontend/builtins.def"
#undef B

enum { RED_MEAN = 16 }; /* besides GIR_SUM, GIR_RED_MAX, GIR_RED_MIN */

/* Typed arguments: what is missing or wrong is reported, and false comes back. */
static inline bool builtin_has(const builtin_call *c, int k)
{
    return c->arg[k].kind != VAL_UNSET && c->arg[k].kind != VAL_NONE;
}
bool builtin_int(elab *E, const builtin_call *c, int k, int64_t fallback, int64_t *out);
bool builtin_number(elab *E, const builtin_call *c, int k, double fallback, double *out);
bool builtin_bool(elab *E, const builtin_call *c, int k, bool fallback, bool *out);
bool builtin_tensor(elab *E, const builtin_call *c, int k);
bool builtin_float_tensor(elab *E, const builtin_call *c, int k);
bool builtin_graph(elab *E, const builtin_call *c, int k);
bool builtin_dims(elab *E, const builtin_call *c, int k, int *rank, int64_t *dim);
/* one axis of x */
bool builtin_axis(elab *E, const value *v, gn_span at, const value *x, int *axis);
bool builtin_axes(elab *E, const builtin_call *c, int k, const value *x, int64_t *set);

#endif
