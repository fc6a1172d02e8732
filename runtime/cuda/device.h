/* Device: one GPU, its memory and a stream of work.
 *
 * Work is put on the device's one stream in order and runs there by itself; gn_cuda_wait, and
 * downloads, wait for it.  A device is used by one thread at a time.  After an error that the
 * driver cannot get over (a kernel that touched memory that is not its own, memory that cannot be
 * corrected) every call says so: the device is lost to this process, and what it held too; freeing
 * works. */
#ifndef GN_RUNTIME_CUDA_DEVICE_H
#define GN_RUNTIME_CUDA_DEVICE_H

#include "runtime/cuda/driver.h"

#include <stdbool.h>

typedef struct gn_cuda_device gn_cuda_device;

typedef struct gn_cuda_info {
    char name[128];
    int ordinal;
    int major, minor; /* compute capability: sm_<major><minor> */
    int multiprocessors;
    bool cooperative; /* it can run all blocks of a launch at once, so that they can wait for each
                         other */
    int64_t total_bytes;
} gn_cuda_info;

GN_NODISCARD gn_status *gn_cuda_device_count(const gn_cuda_driver *d, int *n);
/* GN_ERR_USAGE: there is no such device, and how many there are. */
GN_NODISCARD gn_status *gn_cuda_device_info(const gn_cuda_driver *d, int ordinal,
                                            gn_cuda_info *out);

/* `d` is borrowed until gn_cuda_device_close. */
GN_NODISCARD gn_status *gn_cuda_device_open(const gn_cuda_driver *d, int ordinal,
                                            gn_cuda_device **out);
void gn_cuda_device_close(gn_cuda_device *d); /* NULL is fine; its memory, modules and instances
                                                 must be freed */
const gn_cuda_info *gn_cuda_device_about(const gn_cuda_device *d);

/* For a library that puts work on the device's stream: its context is current on this thread from
 * enter to leave. */
GN_NODISCARD gn_status *gn_cuda_device_enter(gn_cuda_device *d, void **stream);
GN_NODISCARD gn_status *gn_cuda_device_leave(gn_cuda_device *d);

/* Memory --------------------------------------------------------------------------------------- */

/* `bytes` aligned to 256; at least one can be touched.  GN_ERR_NOMEM: what takes how much, and how
 * much is free. */
GN_NODISCARD gn_status *gn_cuda_alloc(gn_cuda_device *d, int64_t bytes, const char *what,
                                      gn_device_ptr *out);
void gn_cuda_free(gn_cuda_device *d, gn_device_ptr p); /* 0 is fine; waits for work that uses it */
GN_NODISCARD gn_status *gn_cuda_room(gn_cuda_device *d, int64_t *bytes); /* that are free now */

/* In the stream's order.  upload: `from` may be changed when the call returns.  download: waits.
 * fill: not while the stream records. */
GN_NODISCARD gn_status *gn_cuda_upload(gn_cuda_device *d, gn_device_ptr to, const void *from,
                                       int64_t bytes);
GN_NODISCARD gn_status *gn_cuda_download(gn_cuda_device *d, void *to, gn_device_ptr from,
                                         int64_t bytes);
GN_NODISCARD gn_status *gn_cuda_copy(gn_cuda_device *d, gn_device_ptr to, gn_device_ptr from,
                                     int64_t bytes);
GN_NODISCARD gn_status *gn_cuda_fill(gn_cuda_device *d, gn_device_ptr to, unsigned char value,
                                     int64_t bytes);
GN_NODISCARD gn_status *gn_cuda_wait(gn_cuda_device *d);

/* Code ----------------------------------------------------------------------------------------- */

typedef struct gn_cuda_module gn_cuda_module;

/* A cubin or PTX, which is not needed after the call. */
GN_NODISCARD gn_status *gn_cuda_module_load(gn_cuda_device *d, const void *image,
                                            gn_cuda_module **out);
void gn_cuda_module_free(gn_cuda_module *m); /* NULL is fine; nothing may run it any more */
/* GN_ERR_BACKEND: the module has no such function. */
GN_NODISCARD gn_status *gn_cuda_module_function(const gn_cuda_module *m, const char *name,
                                                void **function);

/* `blocks` blocks of `threads` threads; arguments as of cuLaunchKernel, copied by the call. */
GN_NODISCARD gn_status *gn_cuda_launch(gn_cuda_device *d, void *function, int64_t blocks,
                                       int threads, void **arguments);

/* How many blocks of `threads` threads the device runs at once: at least one.  GN_ERR_BACKEND: none
 * fits. */
GN_NODISCARD gn_status *gn_cuda_resident(gn_cuda_device *d, void *function, int threads,
                                         int64_t *blocks);
/* A cooperative launch: all blocks, at most as many as are resident, run at once. */
GN_NODISCARD gn_status *gn_cuda_launch_together(gn_cuda_device *d, void *function, int64_t blocks,
                                                int threads, void **arguments);

/* Graphs: launches recorded once and replayed by one call -------------------------------------- */

typedef struct gn_cuda_graph gn_cuda_graph;

/* What is put on the stream between begin and end is recorded and not run.  `nodes`: how many
 * launches and copies that will be, if they shall be set one by one later; what is more, or comes
 * from a library, cannot be.  *graph NULL: a new one is made; else it is updated in place where
 * only addresses and sizes of launches differ, and made anew where more does.  A failure in between
 * is handed to end (`failed`), which ends the recording and returns it. */
GN_NODISCARD gn_status *gn_cuda_record_begin(gn_cuda_device *d, int64_t nodes);
GN_NODISCARD gn_status *gn_cuda_record_end(gn_cuda_device *d, gn_status *failed,
                                           gn_cuda_graph **graph);
GN_NODISCARD gn_status *gn_cuda_graph_run(gn_cuda_graph *g);
void gn_cuda_graph_free(gn_cuda_graph *g); /* NULL is fine */

/* Nodes, which are launches and copies in the order in which they were recorded, set to other
 * values for the graph's next runs, and nothing is recorded.  A launch stays one of the same
 * function.  Where that fails the graph does what nobody knows until it is recorded again, and from
 * then on its nodes are none that can be set. */
bool gn_cuda_graph_has_nodes(const gn_cuda_graph *g, int64_t n); /* just n, which can be set */
GN_NODISCARD gn_status *gn_cuda_graph_set_launch(gn_cuda_graph *g, int64_t node, void *function,
                                                 int64_t blocks, int threads, void **arguments);
GN_NODISCARD gn_status *gn_cuda_graph_set_copy(gn_cuda_graph *g, int64_t node, gn_device_ptr to,
                                               gn_device_ptr from, int64_t bytes);

/* Time ----------------------------------------------------------------------------------------- */

/* Milliseconds of the device between two marks on the stream, waiting for the later one.  Marks are
 * made by the first call with their number, 0 or 1. */
GN_NODISCARD gn_status *gn_cuda_mark(gn_cuda_device *d, int number);
GN_NODISCARD gn_status *gn_cuda_between(gn_cuda_device *d, float *ms);
/* GB/s of the device's memory, as many read as written, by the fastest of some copies of what no
 * cache holds; 0: there is no room for such.  Waits for what is on the stream. */
GN_NODISCARD gn_status *gn_cuda_copy_rate(gn_cuda_device *d, double *gbytes);

#endif
