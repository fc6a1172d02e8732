/* Names of kernels that people know, by the layer of the model that a kernel is of, the part of a
 * training step, and what it does: "convs.0 sum", "convs.0 backward weights".  Two kernels may have
 * one name.  Code does not hang on them: symbols of kernels are their numbers. */
#ifndef GN_COMPILE_KERNEL_NAME_H
#define GN_COMPILE_KERNEL_NAME_H

#include "compile/compile.h"

/* "convs.0"; "(loss)"; "(model)": the model's own body; "(optimizer)": of no parameter of its
 * own. */
const char *gn_layer_name(const gir_program *p, gir_loc at);
/* In the arena. */
const char *gn_kernel_words(gn_arena *a, const gn_compiled *c, int launch);
/* Where the launch comes from: of its first value, or of what it copies; all 0: not known. */
gir_loc gn_kernel_loc(const gn_compiled *c, int launch);
/* The name of what a buffer holds once launch `at` has run. */
const char *gn_held_name(const low_buffer *b, int at);
/* What a temporary holds then, as a value of the program; 0: it is none. */
gir_id gn_held_value(const gn_compiled *c, const low_buffer *b, int at);

#endif
