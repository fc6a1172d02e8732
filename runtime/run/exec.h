/* Instance: an artifact bound to graphs, tensors and a pool, ready to run again and again.
 *
 * Binding resolves every symbol and address once, plans the arena (lifetimes packed into one block,
 * 64-byte aligned, its size known before anything is allocated), and checks every shape.  Running
 * does no allocation. One instance is used by one thread at a time; several instances may share an
 * artifact and its graphs. */
#ifndef GN_RUNTIME_RUN_EXEC_H
#define GN_RUNTIME_RUN_EXEC_H

#include "runtime/artifact.h"
#include "runtime/run/threads.h"
#include "runtime/run/trace.h"

typedef struct gn_binding {
    const char *name;
    gn_elem elem;
    int64_t rows, row_elems; /* space none: 1 row */
    void *data; /* borrowed, aligned to the element (to 64 bytes pays); edge tensors in CSR order */
    /* Of a mask that picks rows, or edges: those where it holds [n_set], in any order, repeats too,
     * so that nobody looks for them; NULL: not known. */
    const int64_t *set;
    int64_t n_set;
    /* Of an i64 that edges are drawn by: what it is when the program runs, where it is not yet that
     * when the program is bound; NULL: what it is. */
    const int64_t *then;
    bool output; /* it is an output that lies there, and no input or state of that name */
} gn_binding;

typedef struct gn_graph_binding {
    const char *name; /* of a graph, or of the input whose pattern it is */
    gn_graph *graph;  /* borrowed; arrays that launches need are made (gn_graph_require) */
} gn_graph_binding;

typedef struct gn_instance gn_instance;

/* Bytes of the arena that a run with these symbol values on so many threads takes, without
 * allocating it (sym: [n_syms]). GN_ERR_NOMEM when a size overflows. */
GN_NODISCARD gn_status *gn_plan_bytes(const gn_artifact *a, const int64_t *sym, int threads,
                                      int64_t *bytes);

/* `a`, graphs, pool and tensor data are borrowed until gn_instance_free. Bindings that the artifact
 * does not name are passed over.  Derived graphs are made and owned here, and can be shared: pass
 * `like` (may be NULL), another live instance over the same base graphs, to reuse its derived
 * graphs; either may be freed first. Errors: GN_ERR_DATA a binding is missing, has the wrong type
 * or shape (name, expected and given), is not aligned, or overlaps one that is written; a graph has
 * the wrong size; GN_ERR_NOMEM; GN_ERR_INTERNAL the artifact is malformed. */
GN_NODISCARD gn_status *gn_instance_new(const gn_artifact *a, int n_graphs,
                                        const gn_graph_binding *graphs, int n,
                                        const gn_binding *tensors, gn_pool *pool,
                                        const gn_instance *like, gn_instance **out);
/* What an instance will be, before anything large is allocated: its graphs, symbols and plan, as
 * they are for these bindings, of which rows alone are looked at.  It cannot run; gn_instance_new
 * may be `like` it.  GN_ERR_DATA, GN_ERR_NOMEM, GN_ERR_INTERNAL as that. */
GN_NODISCARD gn_status *gn_instance_outline(const gn_artifact *a, int n_graphs,
                                            const gn_graph_binding *graphs, int n,
                                            const gn_binding *tensors, gn_pool *pool,
                                            const gn_instance *like, gn_instance **out);
/* Who is bound like `in` from now on is bound like `beside`, too (NULL: no more), which must live
 * then. */
void gn_instance_put_beside(gn_instance *in, const gn_instance *beside);
/* Another instance of the same code on other data, which cannot run before it has followed `in`.
 * That one may run on another thread meanwhile, and must live until this is over.  Here the other
 * data may lie wherever `in` does not write. */
GN_NODISCARD gn_status *gn_instance_next(const gn_instance *in, int n_graphs,
                                         const gn_graph_binding *graphs, int n,
                                         const gn_binding *tensors, const gn_instance *like,
                                         gn_instance **out);
/* *next takes the place of *in, and its arena where that is large enough, and is NULL then.  After
 * a failure *in is NULL, and *next is what it was, but can only be freed. */
GN_NODISCARD gn_status *gn_instance_follow(gn_instance **in, gn_instance **next);
/* One arena for the temporaries of several instances, which must then never run at the same time:
 * as large as the largest takes.  NULL ones are passed over, and those whose temporaries lie in a
 * file.  It lives until all of them are freed;
 * nothing is kept in it between runs. GN_ERR_NOMEM: every instance keeps the arena that it has. */
GN_NODISCARD gn_status *gn_instances_share_arena(int n, gn_instance *const *in);
/* `in` gives back its arena for the one that `of` shares, where that is large enough; else false.
 * They must never run at the same time. */
bool gn_instance_borrow_arena(gn_instance *in, const gn_instance *of);
/* Frees the arrays of the instances' graphs, bound and derived, that none of their launches reads
 * and no result on edges is put in order by.  No instance may be made of these graphs
 * afterwards. */
void gn_instances_trim_graphs(int n, gn_instance *const *in);
int64_t gn_instances_trim_saves(int n, gn_instance *const *in); /* bytes that it would free */
/* On a device (gn_artifact.remote) a run may return before it is over, and an error shows in
 * gn_instance_check. */
void gn_instance_run(gn_instance *in);
/* What went wrong on the device since the last check; runs do nothing from an error to the check.
 * NULL: nothing, and always here. */
GN_NODISCARD gn_status *gn_instance_check(gn_instance *in);
/* gn_instance_check after everything has run. */
GN_NODISCARD gn_status *gn_instance_wait(gn_instance *in);
/* Brings the value of an output from the device to where gn_instance_output has it.  Here it is
 * there already. */
GN_NODISCARD gn_status *gn_instance_fetch(gn_instance *in, const char *name);
/* From now on a run is one parallel region with a static plan (region.h): the pool's workers are
 * called once a run, and wait for each other where launches meet.  The same bits.  Nothing changes
 * where there is one thread, or nothing to share, and while launches are timed.  GN_ERR_NOMEM:
 * nothing has changed. */
GN_NODISCARD gn_status *gn_instance_one_region(gn_instance *in);
/* false where runs are no regions; else launches that do something, those that all threads share,
 * and those before which somebody may wait. */
bool gn_instance_in_region(const gn_instance *in, int *launches, int *shared, int *waits);
/* From now on runs take all of the pool's threads or the caller alone, as their times say (pace.h);
 * or all of them again. The same bits.  Nothing changes where there is one thread, or nothing to
 * share, or on a device. */
void gn_instance_pace(gn_instance *in, bool on);
/* What was found: does it run alone; nanoseconds of a run either way.  false: nothing yet, or it is
 * not looked for. */
bool gn_instance_paced(const gn_instance *in, bool *alone, int64_t *all_ns, int64_t *alone_ns);
int gn_instance_threads(const gn_instance *in); /* of its pool */
void gn_instance_free(gn_instance *in);         /* NULL is fine */

/* Replaces the data of a bound tensor (same shape).  GN_ERR_USAGE: no tensor of that name, a mask
 * that picks rows (another one needs another instance), an instance on a device; GN_ERR_DATA: the
 * data is not aligned, or overlaps. */
GN_NODISCARD gn_status *gn_instance_rebind(gn_instance *in, const char *name, void *data);
/* The same of an output. */
GN_NODISCARD gn_status *gn_instance_rebind_output(gn_instance *in, const char *name, void *data);
/* The value of an output after a run (zeros before; on a device after gn_instance_fetch); owned by
 * the instance or the binding; NULL: no such output. elems may be NULL.  Edge outputs are in CSR
 * order (gn_graph_edges_out). */
const void *gn_instance_output(const gn_instance *in, const char *name, int64_t *elems);
/* number of the graph on whose edges it lies; -1 */
int gn_instance_output_graph(const gn_instance *in, const char *name);
/* bound or derived, by number */
const gn_graph *gn_instance_graph(const gn_instance *in, int graph);
int64_t gn_instance_symbol(const gn_instance *in, int sym); /* its value */
int64_t gn_instance_arena_bytes(const gn_instance *in);     /* in memory or in a file */
/* Is the arena that of the artifact's file (paged.h)?  What has no room there is not. */
bool gn_instance_in_file(const gn_instance *in);
int64_t gn_instance_output_bytes(const gn_instance *in); /* of outputs that nothing is bound to */
int64_t gn_instance_outline_output_bytes(const gn_instance *in); /* of all outputs */
/* Derived graphs that an instance which follows it cannot share: they come of masks, of columns or
 * of draws. */
int64_t gn_instance_own_graph_bytes(const gn_instance *in);
/* arena, owned outputs and derived graphs, shared ones too */
int64_t gn_instance_owned_bytes(const gn_instance *in);
/* Derived graphs of instances (NULL ones are passed over), each counted once. */
int64_t gn_instances_derived_bytes(int n, const gn_instance *const *in);
int64_t gn_instances_derived_shared_bytes(int n,
                                          const gn_instance *const *in); /* gn_graph_shared_bytes
                                                                            of those */

int64_t gn_instance_slot_bytes(const gn_instance *in, int slot); /* bytes that its elements take */
/* bytes that there are for it: fewer in a chain */
int64_t gn_instance_slot_room(const gn_instance *in, int slot);

/* Rows at a time of the chain (chain.h) that launch k runs in, and the launch with which that
 * begins; 0: it runs alone. */
int64_t gn_instance_chain(const gn_instance *in, int k, int *head);

/* a temporary that has its memory then? */
bool gn_instance_alive(const gn_instance *in, int slot, int launch);

int gn_instance_peak(const gn_instance *in); /* the launch that has most temporaries alive; 0 of
                                              * none
                                              */

/* What launch k is called with: buffers in the kernel's order, symbols, iterations of its thread
 * loop (1 without one). */
typedef struct gn_launch_view {
    void *const *buf;
    const int64_t *sym;
    int64_t trips;
} gn_launch_view;
gn_launch_view gn_instance_launch(const gn_instance *in, int k);

/* Time per launch in nanoseconds, summed over runs since profiling was switched on; ns:
 * [n_launches]. */
void gn_instance_profile(gn_instance *in, bool on);
/* From now on runs are traced; NULL: no longer.  The trace is borrowed, and has the pool's threads
 * and the artifact's launches; an instance that follows this one goes on with it.  Not while
 * launches are timed, and nothing changes on a device. */
void gn_instance_trace(gn_instance *in, gn_trace *t);
/* Runs n times: microseconds of one, by this machine's clock, or the device's between the first
 * one's beginning and the last one's end.  0 after an error of the device (gn_instance_check). */
double gn_instance_clock(gn_instance *in, int n);
void gn_instance_times(const gn_instance *in, int64_t *ns, int64_t *runs);
/* What makes a launch that a device can have made in several ways, for people; valid until the next
 * call. NULL: there is one. */
const char *gn_instance_form(const gn_instance *in, int launch);

/* Fills the arena, on a device that there, with 0xff bytes -- NaN as a float, -1 as an index -- so
 * that what is read before it was written shows. */
void gn_instance_poison(gn_instance *in);

#endif
