/* Instances on a device: a bound instance (runtime/run/exec.h) whose launches run on a GPU.
 *
 * The host's instance has resolved every size and address.  The device has a shadow of each block
 * of memory that launches touch, found by the host's address: programs that share a tensor on the
 * host share it on the device, and what one computes ahead another reads without a way back.  A
 * shadow lives as long as an instance uses it.  Temporaries of all instances lie in one arena.
 * Nothing is copied back but on request (gn_cuda_memory_fetch).
 *
 * An instance, its memory and its device are used by one thread at a time. */
#ifndef GN_RUNTIME_CUDA_CUDA_INSTANCE_H
#define GN_RUNTIME_CUDA_CUDA_INSTANCE_H

#include "runtime/cuda/choose.h"
#include "runtime/run/exec.h"

/* Memory --------------------------------------------------------------------------------------- */

typedef struct gn_cuda_memory gn_cuda_memory;

/* d is borrowed */
GN_NODISCARD gn_status *gn_cuda_memory_new(gn_cuda_device *d, gn_cuda_memory **out);
void gn_cuda_memory_free(gn_cuda_memory *m); /* NULL is fine; its instances must be freed */

/* Between the host's memory at `host`, as an instance has it bound, and its shadow.  push: after
 * the host's bytes changed. fetch: waits for the device.  Both: nothing where there is no shadow of
 * it. */
GN_NODISCARD gn_status *gn_cuda_memory_push(gn_cuda_memory *m, const void *host);
GN_NODISCARD gn_status *gn_cuda_memory_fetch(gn_cuda_memory *m, void *host);

/* A shadow of `bytes` at `host` that outlives instances, filled when it is made, until as many
 * drops; GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_cuda_memory_hold(gn_cuda_memory *m, const void *host, int64_t bytes,
                                            const char *what);
void gn_cuda_memory_drop(gn_cuda_memory *m, const void *host);

/* Recorded graphs of instances that were freed are kept for others of the same shapes, under a cap
 * (keep.h): how many there are, and bytes, by estimate. */
int gn_cuda_memory_graphs(const gn_cuda_memory *m, int64_t *bytes);
/* before a module is freed that some may launch kernels of */
void gn_cuda_memory_forget_graphs(gn_cuda_memory *m);

/* For gn_artifact.remote; an artifact's remote_code is then a gn_cuda_program. Alive as long as
 * m. */
gn_remote *gn_cuda_memory_remote(gn_cuda_memory *m);

/* Instances ------------------------------------------------------------------------------------ */

typedef struct gn_cuda_code { /* compiled, by its number in the artifact */
    void *function;
    int threads;       /* of a block */
    int64_t per_block; /* iterations of the THREAD loop that a block runs */
} gn_cuda_code;

/* All launches of a program in one kernel, phases of it that all blocks go through together. */
typedef struct gn_cuda_whole_code {
    void *function;
    int threads;              /* of a block */
    int64_t resident;         /* blocks that the device runs at once */
    const int64_t *per_block; /* [n_launches] iterations that a block takes at a time; of a copy:
                                 words of 4 bytes */
} gn_cuda_whole_code;

typedef struct gn_cuda_program {     /* an artifact's remote_code */
    const gn_cuda_code *kernels;     /* [n_code]; NULL where there is a whole */
    const gn_cuda_whole_code *whole; /* NULL: launch by launch */
    const gn_cuda_library *library;  /* that may make products, launch by launch; NULL: kernels make
                                        all */
} gn_cuda_program;

typedef struct gn_cuda_instance gn_cuda_instance;

/* `host` and `code` are borrowed.  Copies to the device what launches read and is not there yet. A
 * kernel's arguments are the addresses of its buffers, then its symbols, as 64-bit integers.  A
 * whole has one, a structure of such integers: the addresses of the slots that launches use
 * (gn_artifact_used), all symbols, the bytes of each copy, the turn of each launch (its form is in
 * codegen/cuda/cuda.h), and the address of the word that its blocks meet at. GN_ERR_NOMEM says what
 * takes how much and what is free. */
GN_NODISCARD gn_status *gn_cuda_instance_new(gn_cuda_memory *m, const gn_instance *host,
                                             const gn_cuda_program *code, gn_cuda_instance **out);
/* Shadows that no other instance uses end with it: fetch states that were trained before. NULL is
 * fine. */
void gn_cuda_instance_free(gn_cuda_instance *in);

/* With `replay` the first run is recorded, and that and every later one is one call of the driver.
 * A whole is one anyway.  Where the library may make products it is the second: in the first forms
 * are chosen (choose.h), and the library loads its code. */
void gn_cuda_instance_replay(gn_cuda_instance *in, bool replay);
/* Puts one run on the device's stream, and does not wait for it. */
GN_NODISCARD gn_status *gn_cuda_instance_run(gn_cuda_instance *in);

/* Of a launch that is a product: what makes it, for people; valid until the next call. NULL: there
 * is nothing to choose. */
const char *gn_cuda_instance_form(gn_cuda_instance *in, int launch);

/* One run, launch by launch, each waited for; adds nanoseconds of the device to ns [n_launches of
 * the artifact]. */
GN_NODISCARD gn_status *gn_cuda_instance_time(gn_cuda_instance *in, int64_t *ns);
/* Runs n times one after another, as gn_cuda_instance_run does, and waits: microseconds of one,
 * between two marks of the stream. */
GN_NODISCARD gn_status *gn_cuda_instance_clock(gn_cuda_instance *in, int n, double *us);
/* Fills the arena of temporaries with 0xff bytes. */
GN_NODISCARD gn_status *gn_cuda_instance_poison(gn_cuda_instance *in);

#endif
