/* CUDA: loop IR to CUDA C, and through NVRTC to code for a GPU.  Needs neither LLVM nor a CUDA
 * toolkit to build, nor a GPU to compile: NVRTC is looked for when it is first needed.
 *
 * A kernel becomes one __global__ function.  Its arguments are the addresses of the loop IR's
 * buffers, in their order, and then its symbols as 64-bit integers, in theirs.  A block runs
 * `per_block` iterations of the THREAD (or BLOCK) loop, so ceil(trips / per_block) blocks run them
 * all, with one dimension; a kernel without such a loop has one iteration. Addresses of buffers are
 * aligned to 16 bytes.  Shared memory is static. */
#ifndef GN_CODEGEN_CUDA_CUDA_H
#define GN_CODEGEN_CUDA_CUDA_H

#include "codegen/backend.h"

typedef struct gn_cuda_geometry {
    int threads;          /* of a block */
    int group;            /* of them that run one iteration */
    int64_t per_block;    /* iterations a block */
    int64_t shared_bytes; /* of a block; static */
} gn_cuda_geometry;

/* Limits of an architecture, as schedules need them. */
gn_limits gn_cuda_limits(void);

/* The text of kernel k as function `symbol`, appended to `out`, and how it is launched.  `origin`
 * (may be NULL) is put above it, a comment a line.  Needs gn_cuda_prelude before it.
 * GN_ERR_BACKEND, with its name and the reason, for a kernel that cannot be spelled: loops over
 * WARPs that do more than multiply fragments, tiles of more than 384 KB, more than 200 arguments, a
 * BLOCK loop whose LANE loops reduce or whose tiles do not fit in shared memory. */
GN_NODISCARD gn_status *gn_cuda_kernel(const kir_kernel *k, const char *symbol, const char *origin,
                                       gn_buf *out, gn_cuda_geometry *geometry);

/* How kernel k would be launched, without its text.  GN_ERR_BACKEND as gn_cuda_kernel. */
GN_NODISCARD gn_status *gn_cuda_launch_geometry(gn_arena *a, const kir_kernel *k,
                                                gn_cuda_geometry *geometry);

/* What every program begins with. */
const char *gn_cuda_prelude(void);

/* "sm_90" or "90" to 90; 0 for what is no architecture that code is made for (80 and above). */
int gn_cuda_arch(const char *name);

/* A program of `n` kernels, gn_kernel_0 ..., appended to `out`.  origin[k] as above; NULL: none has
 * one. */
GN_NODISCARD gn_status *gn_cuda_source(int n, const kir_kernel *const *kernels,
                                       const char *const *origin, gn_buf *out,
                                       gn_cuda_geometry *geometry);

/* Resources of a kernel as the assembler counted them; bytes a thread, but shared ones, a block. */
typedef struct gn_cuda_usage {
    int registers, stack, spill_stores, spill_loads;
    int shared_bytes;
} gn_cuda_usage;

/* One object of n kernels: how each is launched, what it uses, and their cubin, in which kernel k
 * is the function gn_kernel_<k>.  Can be kept under its kernels, arch and `quick`: another NVRTC
 * may make other code of them.  quick: less optimised, in two thirds of the time.  *out is
 * malloc'd. */
GN_NODISCARD gn_status *gn_cuda_object(int n, const kir_kernel *const *kernels, int arch,
                                       bool quick, gn_code_object *out);

/* The same of code that was made elsewhere: geometry [n], what is loaded as a module, what the
 * assembler said (or NULL).  `made_by` is as gn_cuda_view has it. */
GN_NODISCARD gn_status *gn_cuda_object_pack(int n, int arch, int made_by,
                                            const gn_cuda_geometry *geometry, const void *code,
                                            size_t bytes, const char *log, gn_code_object *out);

/* PTX of n kernels, appended; quick: as of gn_cuda_object. */
GN_NODISCARD gn_status *gn_cuda_ptx(int n, const kir_kernel *const *kernels, int arch, bool quick,
                                    gn_buf *out);

/* A program in one kernel ----------------------------------------------------------------------
 *
 * Its launches are phases that all blocks of a cooperative launch go through in order, each taking
 * its part.  Whether blocks wait for each other before a phase is told by it, since that depends on
 * where temporaries lie.  The kernel has one argument, a structure of 64-bit integers: addresses of
 * `n_buffers` buffers, then `n_values` values, then one for each phase, its turn (GN_CUDA_TURN),
 * then the address of a 32-bit word that was 0 before the first launch, and is the kernel's own. */

typedef struct gn_cuda_phase {
    const kir_kernel *kernel; /* NULL: copies as many bytes as value sym[0] says from buf[1] to
                                 buf[0] */
    const char *origin;       /* as of gn_cuda_kernel */
    int same; /* an earlier phase whose kernel differs in names alone; its own number: none */
    const int *buf, *sym; /* of the kernel's buffers and symbols: which of the buffers and values */
} gn_cuda_phase;

typedef struct gn_cuda_whole {
    int n, n_buffers, n_values;
    const gn_cuda_phase *phase; /* [n] */
} gn_cuda_whole;

enum { GN_CUDA_MOST_ARGUMENTS = 512 }; /* 4 KB, what every driver takes */

/* Does it run; do all blocks meet before; which block takes its first part. */
#define GN_CUDA_TURN(run, meet, first)                                                             \
    ((int64_t)(first) << 2 | (int64_t)(meet) << 1 | (int64_t)(run))

/* How phases run: [n]; `threads` are those of the kernel, `per_block` groups of them take part at a
 * time.  GN_ERR_BACKEND: too many arguments, or a kernel that no phase can be, with its name and
 * the reason. */
GN_NODISCARD gn_status *gn_cuda_whole_geometry(gn_arena *a, const gn_cuda_whole *w,
                                               gn_cuda_geometry *phases);
/* The program's text, appended; geometry [1 + n]: of the kernel, gn_kernel_0, and of each phase. */
GN_NODISCARD gn_status *gn_cuda_whole_source(const gn_cuda_whole *w, gn_buf *out,
                                             gn_cuda_geometry *geometry);
/* An object as of gn_cuda_object, whose kernels are those 1 + n; the phases' can be asked for their
 * geometry alone. */
GN_NODISCARD gn_status *gn_cuda_whole_object(const gn_cuda_whole *w, int arch, bool quick,
                                             gn_code_object *out);
GN_NODISCARD gn_status *gn_cuda_whole_ptx(const gn_cuda_whole *w, int arch, bool quick,
                                          gn_buf *out);

/* The same divided among several programs of NVRTC, which can be compiled at once and are linked to
 * one kernel: the function of phase k is in piece of[k] (of those that share one, of[same]), the
 * kernel in piece 0. */
typedef struct gn_cuda_division {
    int n; /* pieces */
    const int *of;
    const int *name; /* NULL, or: piece 1 is another program's, in which phase k's function is phase
                        name[k]'s */
} gn_cuda_division;

/* Bytes of shared memory that a block takes; -1: it cannot be told.  Pieces are linked only to
 * those that take as many. */
int64_t gn_cuda_whole_shared(gn_arena *a, const gn_cuda_whole *w);

/* Whether phases of other pieces keep their registers in registers.  For sm_80 to sm_89 the
 * assembler has each save what it uses, some 90 bytes a thread, and for later ones next to none
 * does (NVRTC 13.0). */
bool gn_cuda_divides(int arch);
/* GN_ERR_BACKEND: there is no linker (nvJitLink) for what NVRTC makes; what was looked for, and how
 * to get it. */
GN_NODISCARD gn_status *gn_cuda_linker(gn_buf *out);
GN_NODISCARD gn_status *gn_cuda_piece_source(const gn_cuda_whole *w, const gn_cuda_division *d,
                                             int piece, gn_buf *out, gn_cuda_geometry *geometry);
/* Less optimised, as of gn_cuda_whole_object with `quick`: what is worth more has better registers
 * undivided. For gn_cuda_link. */
GN_NODISCARD gn_status *gn_cuda_piece(const gn_cuda_whole *w, const gn_cuda_division *d, int piece,
                                      int arch, gn_code_object *out);
/* All pieces, in order, to an object as of gn_cuda_whole_object. */
GN_NODISCARD gn_status *gn_cuda_link(int n, const gn_code_object *pieces, gn_code_object *out);

typedef struct gn_cuda_view { /* into an object, which must outlive it */
    int n;
    int arch;
    int made_by; /* NVRTC's version, as drivers have theirs: 1000 * major + 10 * minor */
    const void *cubin;
    size_t cubin_bytes;
    const struct gn_cuda_entry *entry; /* gn_cuda_view_kernel */
} gn_cuda_view;

/* Takes any bytes. GN_ERR_DATA for what is no such object. */
GN_NODISCARD gn_status *gn_cuda_object_view(const gn_code_object *object, gn_cuda_view *out);
void gn_cuda_view_kernel(const gn_cuda_view *v, int k, gn_cuda_geometry *geometry,
                         gn_cuda_usage *usage);

/* "NVRTC 13.0 (libnvrtc.so.13)": what would compile now, for people; an object that was kept may
 * come from another one. GN_ERR_BACKEND where there is none: what was looked for, and how to get
 * it. */
GN_NODISCARD gn_status *gn_cuda_describe(gn_buf *out);
/* Of an NVRTC and a driver, by their versions: does it make code that the driver does not load?
 * `why` says it, and what to do.  What NVRTC 12 makes every driver for CUDA 12 loads, and every
 * later one (CUDA Compatibility, "minor version compatibility"). */
enum { GN_CUDA_WHY = 400 };
bool gn_cuda_too_new(int made_by, int driver, char why[GN_CUDA_WHY]);
/* NVRTC's own version in that form; 0: there is none. */
int gn_cuda_nvrtc_version(void);
/* "sm_75 sm_80 ...": what it makes code for. */
GN_NODISCARD gn_status *gn_cuda_archs(gn_buf *out);

#endif
