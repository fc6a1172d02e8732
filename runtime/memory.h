/* Memory of the runtime: blocks aligned to 64 bytes, sizes checked for overflow.  Everything in
 * runtime/ but the data readers allocates here, so that a test can make any one allocation fail. */
#ifndef GN_RUNTIME_MEMORY_H
#define GN_RUNTIME_MEMORY_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { GN_ALIGN = 64 };

/* count * size bytes at a multiple of 64, not initialised; never NULL on success, though a count of
 * 0 has no bytes that may be touched.  GN_ERR_NOMEM names `what` and the bytes.  gn_block_zeroed:
 * filled with zeros. */
GN_NODISCARD gn_status *gn_block_new(int64_t count, size_t size, const char *what, void **out);
GN_NODISCARD gn_status *gn_block_zeroed(int64_t count, size_t size, const char *what, void **out);
void gn_block_free(void *block); /* NULL is fine */

/* `bytes` rounded up to a multiple of 64; false when that overflows or bytes is negative. */
bool gn_round_up(int64_t bytes, int64_t *out);

/* Should blocks of many megabytes lie in pages of 2 MiB, where the system has them?  Yes, unless
 * this says no. */
void gn_memory_huge_pages(bool on);

/* What the C library holds of freed memory goes back to the system, where it can: pages in between
 * others do not go by themselves.  Takes milliseconds.  Not there in objects compiled ahead of
 * time. */
void gn_memory_give_back(void);

/* From now on the C library keeps what is freed, up to some 100 MB, where it can: a compiler that
 * frees and takes the same memory again does not fault it in anew.  The whole process's, so it is
 * for programs to ask for, not for libraries; gn_memory_give_back gives it back as before. */
void gn_memory_keep(void);

/* For tests: the allocation that takes this counter from 1 to 0 fails (on this thread); 0: none
 * does. */
int64_t *gn_memory_fuse(void);

#endif
