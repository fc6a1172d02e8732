/* Lines of compiled kernels: which instruction of loop IR made which bytes (gn_codegen_options has
 * `lines`). */
#ifndef GN_CODEGEN_CODE_LINES_H
#define GN_CODEGEN_CODE_LINES_H

#include "base/arena.h"
#include "runtime/load/loader.h"

typedef struct gn_code_line {
    uint64_t at;    /* bytes from where the kernel begins; ascending */
    uint32_t place; /* of the instruction that they begin with (kir_places); 0: of none */
} gn_code_line;

typedef struct gn_code_lines {
    uint64_t size; /* bytes of the kernel */
    GN_VEC(gn_code_line) line;
} gn_code_lines;

/* Of an object of gn_cpu_objects, whose kernel is gn_kernel_0; no lines where it was compiled
 * without.  Reads DWARF 4 ("DWARF Debugging Information Format, Version 4", 2010, 6.2), and takes
 * any bytes: GN_ERR_DATA for a broken object.  In the arena. */
GN_NODISCARD gn_status *gn_code_lines_of(gn_arena *a, const gn_code_object *o, gn_code_lines *out);

#endif
