/* Loader of compiled kernels: puts relocatable object code into memory without a linker or a
 * compiler.
 *
 * Takes one or more ELF relocatable objects of this machine (x86-64, AArch64), one after another,
 * each starting at a multiple of 64 bytes.  Code may refer to itself, to constants, to a few
 * functions of libm and to those below; anything else is refused. Bytes may come from a file:
 * everything is checked before it is used, and a broken object is GN_ERR_DATA. Memory is never
 * writable and executable at once. */
#ifndef GN_RUNTIME_LOAD_LOADER_H
#define GN_RUNTIME_LOAD_LOADER_H

#include "base/status.h"
#include "runtime/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gn_object gn_object;

typedef struct gn_code_object { /* the bytes of an object */
    unsigned char *bytes;
    size_t n;
} gn_code_object;

/* `bytes` is not needed after the call. GN_ERR_DATA, GN_ERR_NOMEM, GN_ERR_BACKEND (neither an
 * x86-64 nor an AArch64 machine). */
GN_NODISCARD gn_status *gn_object_load(const void *bytes, size_t n, gn_object **out);
/* `n` objects that hold one kernel each, gn_kernel_0: that of objects[k] becomes kernel k. */
GN_NODISCARD gn_status *gn_objects_load(int n, const gn_code_object *objects, gn_object **out);
void gn_object_free(gn_object *o); /* NULL is fine; nothing may run the code any more */

int gn_object_kernels(const gn_object *o); /* one more than the highest number */
/* symbol gn_kernel_<k>; NULL where there is none */
gn_kernel_fn gn_object_kernel(const gn_object *o, int k);
size_t gn_object_code_bytes(const gn_object *o);

/* What sanitized kernels call for an index outside of its buffer: says so on stderr and aborts. */
_Noreturn void gn_kernel_fault(const char *kernel, const char *buffer, int64_t index, int64_t size);

/* What watched kernels call before they touch so many bytes; or an element of so many bytes at
 * at[l] for each bit l of `lanes`.  In a build with ThreadSanitizer they tell it, and gn_watched is
 * true; in others they do nothing. */
extern const bool gn_watched;
void gn_kernel_touch(const void *at, uint64_t bytes, uint64_t writes);
void gn_kernel_touch_lanes(const void *const *at, uint64_t bytes, uint64_t lanes, uint64_t writes);

#endif
