/* Work: how long NVRTC takes for code that is made quickly, before it is made, so that threads can
 * end together.
 *
 * In instructions of loop IR, each an eighth of a millisecond on a Zen 5. */
#ifndef GN_COMPILE_WORK_H
#define GN_COMPILE_WORK_H

#include "ir/kir.h"

#include <stdint.h>

/* A program before its first kernel, and each call of a phase in the kernel that makes it. */
enum { GN_WORK_BEFORE = 145, GN_WORK_OF_CALL = 14 };

uint32_t gn_cuda_work(const kir_kernel *k);

#endif
