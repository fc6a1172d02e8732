/* Which buffers of a kernel may share memory (kir_overwrite.c). */
#ifndef GN_IR_KIR_OVERWRITE_H
#define GN_IR_KIR_OVERWRITE_H

#include "ir/kir.h"

/* elements of one type, as many of them */
bool kir_same_shape(const kir_buffer *a, const kir_buffer *b);

typedef struct kir_accesses kir_accesses; /* where a kernel loads and stores */

/* Lives in the arena, and so does a copy of the kernel, which verifies, and stores no element twice
 * of what it only writes. */
kir_accesses *kir_accesses_of(gn_arena *arena, const kir_kernel *k);

/* May what the kernel stores to buffer `out` take the place of what it reads in buffer `in`, in
 * whatever order parallel loops run?  False where that does not show, and unless `in` is only read,
 * `out` only written, and both have one shape. */
bool kir_may_overwrite(const kir_accesses *all, int in, int out);

/* A copy where each buffer b with place[b] >= 0 is that one, which is read and written.  place:
 * [buffers]; no buffer is the place of two, or has one itself.  The others keep their order. */
kir_kernel *kir_overwrite(gn_arena *arena, const kir_kernel *k, const int *place);

#endif
