/* JIT events: tells profilers and debuggers which kernels lie where in memory, and of which lines
 * of the model their code is.
 *
 * GNNC_JIT_EVENTS in the environment has words, separated by commas:
 *   map   a line for each kernel in /tmp/perf-PID.map, which `perf report` reads
 *         (linux/tools/perf/Documentation/jit-interface.txt)
 *   dump  code and lines in jit-PID.dump, in the folder that JITDUMPDIR names or else the current
 *         one, for `perf inject --jit` (linux/tools/perf/Documentation/jitdump-specification.txt)
 *   gdb   an object with names and lines for GDB ("Debugging with GDB", JIT Compilation Interface)
 * Kernels have the names that people know (kernel_name.h).  One that several launches share has the
 * name and the lines of the first. Thread-safe. */
#ifndef GN_COMPILE_JIT_EVENTS_H
#define GN_COMPILE_JIT_EVENTS_H

#include "compile/compile.h"
#include "codegen/code_lines.h"

enum { GN_JIT_MAP = 1, GN_JIT_DUMP = 2, GN_JIT_GDB = 4 };

/* Which are asked for; GN_ERR_USAGE: the environment has another word. */
GN_NODISCARD gn_status *gn_jit_events_wanted(unsigned *out);

typedef struct gn_jit_loaded { /* kernels that have just been loaded */
    unsigned wanted;
    int n;
    gn_compiled *const *programs; /* [n] */
    const int *which; /* of every program's kernels, one program after another, the object */
    int n_code;
    const gn_code_object *code; /* [n_code] of one kernel each, with lines */
    gn_image *image;            /* that has them now; GDB is told when it goes */
} gn_jit_loaded;
GN_NODISCARD gn_status *gn_jit_events(const gn_jit_loaded *l);

typedef struct gn_jit_line {
    uint64_t at;   /* bytes from where the kernel begins; ascending */
    uint32_t line; /* of the file */
} gn_jit_line;

typedef struct gn_jit_kernel {
    const char *name;
    const char *file; /* of the lines: the user's own; "": not known */
    const void *code;
    uint64_t size;
    int n;
    gn_jit_line *line; /* [n] */
} gn_jit_kernel;

/* jit_gdb.c: an ELF object with the symbols and lines of kernels where they lie; and GDB is told of
 * it, which copies it: it is kept for debuggers that come later. Not thread-safe. */
typedef struct gn_jit_object {
    const void *bytes; /* in the arena */
    size_t n;
} gn_jit_object;
gn_jit_object gn_jit_object_of(gn_arena *a, int n, const gn_jit_kernel *kernels);
GN_NODISCARD gn_status *gn_jit_register(const gn_jit_object *o, void **entry);
void gn_jit_unregister(void *entry); /* NULL is fine */

#endif
