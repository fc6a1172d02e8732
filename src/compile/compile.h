/* Compile: a tensor IR program to an artifact that can be bound and run. */
#ifndef GN_COMPILE_COMPILE_H
#define GN_COMPILE_COMPILE_H

#include "base/clock.h"
#include "codegen/backend.h"
#include "passes/passes.h"
#include "lower/tuning.h"
#include "runtime/artifact.h"
#include "runtime/run/exec.h"

typedef struct gn_compile_options {
    gn_pass_options pass;
    gn_codegen_options code;
    gn_elem index; /* of graph arrays: I32 unless a count needs I64 */
    int n_hints;
    const low_hint *hints;    /* sizes of graphs and sparse inputs, where they are known */
    bool hints_hold;          /* every run has those sizes */
    const low_tuning *tuning; /* other schedules for some regions; NULL: those that rules make */
    const gn_limits *limits;  /* what schedules are made for; NULL: those of code.cpu */
    gn_precision precision;   /* of products of matrices */
} gn_compile_options;

/* How rows of an input are read: those that a pick has, a graph of the artifact; -1: any may be. */
typedef struct gn_taken {
    const char *input;
    int graph;
} gn_taken;
typedef struct gn_taken_list {
    int n;
    const gn_taken *of;
} gn_taken_list;

typedef struct gn_compiled {
    const gir_program *source, *gir; /* before and after passes */
    fusion *f;
    lowered *low;
    int n_kernels;
    const kir_kernel **kernels;
    gn_artifact *artifact;             /* its code is set by gn_compile_code */
    gn_taken_list taken;               /* of inputs over rows; several of one input */
    const struct gn_cuda_whole *whole; /* for a GPU: it is compiled to one kernel (whole.h); NULL:
                                          launch by launch */
    const char *whole_why;             /* why, or why not; NULL: nobody has asked */
    const char **product_why; /* [n_launches] of products that a library has, where nothing can be
                                 timed; NULL: nobody asked */
    bool quick;               /* for a GPU: optimised less (quick.h) */
    const char *quick_why;    /* as whole_why */
    const gn_compile_options *opt; /* that it was compiled with; in the arena */
    int set; /* programs of one set are always compiled together, those of an earlier one without
                later ones too */
    double pass_ms, lower_ms;
} gn_compiled;

enum { GN_CODE_SETS = 2 }; /* inference, and what training needs besides */

/* Everything up to loop IR.  Lives in the arena. */
GN_NODISCARD gn_status *gn_compile(gn_arena *a, const gir_program *p, const gn_compile_options *opt,
                                   int *pass_count, gn_compiled **out);

/* cap.c: less memory for a program that was compiled, before it has code: launches run again. */
typedef struct gn_room {
    int64_t bytes; /* that temporaries may take */
    /* Graphs, symbols and plan of a program as it will be bound (gn_instance_outline); the caller
     * ends it. */
    gn_status *(*outline)(void *ctx, const gn_artifact *a, gn_instance **out);
    void *ctx;
} gn_room;
/* cap.c: what is made in layers that the model says (`checkpoint`) is not kept for gradients:
 * launches run again.  *low in their order; left as it is where there are no such layers.  Values
 * that cannot come again are in its n_kept.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_checkpoint_launches(gn_arena *a, lowered **low);
typedef struct gn_capped {
    bool fits;
    int64_t bytes; /* that its temporaries take; where it does not fit: the least that was found */
    int64_t without; /* that they took */
    int again;       /* launches that are there again */
    double more;     /* of a run's time, as counted: 0.2 is a fifth */
} gn_capped;
/* Where it does not fit it is what takes least, and may not be run.  The same bits.  GN_ERR_NOMEM,
 * and what `outline` says. */
GN_NODISCARD gn_status *gn_compile_within(gn_arena *a, const gn_room *room, gn_compiled *c,
                                          gn_capped *out);

typedef struct gn_code_report {
    int kernels, distinct; /* launched, and compiled: equal kernels share code */
    bool cached; /* there was a cache; of the distinct ones it had `hits` and not `misses` */
    int hits, misses;
    bool undivided; /* a program in one kernel was compiled by one thread, since there is no linker
                     */
    char code[17];  /* with a cache: digest of all kernels' keys; equal ones are the same code */
    gn_codegen_stats stats;
    double ms;
} gn_code_report;

/* code.c: machine code for several programs at once.  Kernels that differ in names alone are
 * compiled once: the layers of a deep model, the forward pass in training and evaluation.  With
 * opt->cache kernels are looked up there first, and what is compiled is kept there; where it has
 * all of them LLVM is not started.  The image must outlive every run; release it with
 * gn_image_free.  *image is NULL when there is nothing to compile. */
GN_NODISCARD gn_status *gn_compile_code(gn_arena *a, int n, gn_compiled *const *programs,
                                        const gn_codegen_options *opt, gn_image **image,
                                        gn_code_report *report);

/* The kernel's text with every name replaced by its number: equal texts, equal code.  `sizes`: with
 * those of buffers, on which code for a CPU may depend. */
const char *gn_canonical_kernel(gn_arena *a, const kir_kernel *k, bool sizes);

/* The machine code of several programs as it is before it is loaded, for files. */
typedef struct gn_kernel_objects {
    int n;                   /* distinct kernels */
    gn_code_object *objects; /* [n] as of gn_cpu_objects */
    int *which;              /* of every kernel of every program, in order: its object */
} gn_kernel_objects;

/* As gn_compile_code, for any CPU; nothing can be run.  `which` lives in the arena. */
GN_NODISCARD gn_status *gn_compile_objects(gn_arena *a, int n, gn_compiled *const *programs,
                                           const gn_codegen_options *opt, gn_kernel_objects *out,
                                           gn_code_report *report);
void gn_kernel_objects_free(gn_kernel_objects *o); /* idempotent */

/* order.c: other launches first, where that lowers the peak of memory.  bytes: of each buffer;
 * NULL: as if graphs had usual sizes. */
void gn_order_launches(gn_arena *a, lowered *low, const int64_t *bytes);

/* compile.c: regions to launches in the order of regions, and what each may write over. */
GN_NODISCARD gn_status *gn_lower_regions(gn_arena *a, const gn_compiled *c, lowered **out);
/* compile.c: launches in their order become the program: memory reused, chains, an artifact. */
GN_NODISCARD gn_status *gn_settle_launches(gn_arena *a, lowered *low, gn_compiled *c);

/* reuse.c: the first buffer of the same memory: states and outputs of one name have one. */
int gn_buffer_root(const lowered *low, int b);
/* Does the launch write its k-th buffer? */
static inline bool gn_launch_writes(const low_launch *f, uint32_t k)
{
    return f->kernel ? (f->kernel->buffers.p[k].access & KIR_WRITE) != 0 : k == 0;
}

/* reuse.c: buffers that no launch touches leave the list.  gone: [buffers]. */
void gn_drop_buffers(gn_arena *a, lowered *low, const bool *gone);

/* settle.c: updates write over their states where nothing is in the way. */
GN_NODISCARD gn_status *gn_settle_states(gn_arena *a, lowered *low);

/* reuse.c: the first and the last launch that touch each buffer, [buffers]; -1: none does. */
void gn_buffer_lifetimes(const lowered *low, int *first, int *last);

/* reuse.c: fills in what a launch may write over; does that, where nobody reads it afterwards. */
void gn_find_reuse(gn_arena *a, lowered *low);
GN_NODISCARD gn_status *gn_reuse_memory(gn_arena *a, lowered *low);

/* chain.c: which launches may run together, row block by row block. */
void gn_find_chains(gn_arena *a, lowered *low);

/* assemble.c: launches over values to an artifact over slots.  balance: threads share out rows by
 * their edges. */
GN_NODISCARD gn_status *gn_assemble(gn_arena *a, const lowered *low, bool balance,
                                    gn_artifact **out, gn_taken_list *taken);

#endif
