/* The calling convention of compiled kernels: the one C type that compiler and runtime share.
 *
 * buf[k]  address of the kernel's k-th buffer: temporaries, graph arrays and owned outputs are
 * aligned to 64 bytes, what
 *         the user bound to its element at least
 * sym[k]  value of its k-th symbol [lo, hi) the iterations of its THREAD loop to run: iteration t
 * has induction value t * step; a kernel without one is
 *          called once with [0, 1).
 * Touches nothing else, calls nothing but what libm offers, may be called on any thread; calls with
 * disjoint ranges may run at once. */
#ifndef GN_RUNTIME_KERNEL_H
#define GN_RUNTIME_KERNEL_H

#include <stdint.h>

typedef void (*gn_kernel_fn)(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi);

#endif
