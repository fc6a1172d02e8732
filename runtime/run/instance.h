/* Inside of an instance, shared by the files that bind, run and time it. */
#ifndef GN_RUNTIME_RUN_INSTANCE_H
#define GN_RUNTIME_RUN_INSTANCE_H

#include "runtime/run/exec.h"
#include "runtime/run/pace.h"
#include "runtime/run/plan.h"

#include <stdatomic.h>

/* A derived graph, by what it comes from; counted by the instances that hold it. */
typedef struct gn_derived {
    atomic_int users;
    const gn_graph *parent[3]; /* as slots have them: parent, with[] */
    const int64_t *set;        /* SUBSET: the rows where the mask holds [n_set]; NULL: as it says */
    int64_t n_set;
    const void *mask; /* SUBSET; FILTER, INDEX: of what is bound; NULL: it was computed */
    int64_t n_mask;   /* elements of mask; -1: of none */
    gn_elem mask_elem;
    int64_t rows;             /* INDEX: those that are counted */
    const int64_t *key_at[2]; /* SAMPLE, CORRUPT: where seed and step are, */
    uint64_t key;             /* and of which the edges are drawn */
    void *list;               /* SAMPLE of a graph that stays: gn_graph_list of that */
    gn_graph_derive how;
    int end;
    gn_graph *graph;
} gn_derived;

/* A column's elements: as bound, or in memory of its own, bool or i64. */
typedef struct gn_column_data {
    gn_elem elem;
    bool made;
    int64_t n;
    const void *data;
    void *own;
} gn_column_data;

/* A graph's rows at an end, or edges. */
static inline int64_t gn_graph_size(const gn_graph *g, gn_sym_kind of)
{
    return of == GN_SYM_N_SRC ? g->n_src : of == GN_SYM_N_DST ? g->n_dst : g->n_edge;
}

/* A launch with every address resolved. */
typedef struct gn_ready {
    gn_kernel_fn fn;
    void **buf;
    const int64_t *sym;
    int64_t trip;           /* iterations; 0: nothing to do */
    int64_t grain;          /* >= trip: a plain call */
    int64_t n_ranges;       /* > 1: ranges balanced by edges */
    const int64_t *bound;   /* [n_ranges + 1] */
    struct gn_chain *chain; /* which is called in its stead; NULL: none begins here */
    struct gn_pages *pages; /* the artifact's */
} gn_ready;

/* Is it worth more than one thread? */
static inline bool gn_is_shared(const gn_ready *r)
{
    return r->n_ranges > 1 || (!r->n_ranges && r->trip > r->grain);
}

/* Memory of temporaries, counted by the instances that use it. */
typedef struct gn_scratch {
    atomic_int users;
    void *p;
    int64_t bytes;
} gn_scratch;

struct gn_instance {
    const gn_artifact *artifact;
    gn_pool *pool;
    gn_plan plan;
    gn_ready *ready;                  /* [n_launches] */
    void **addr;                      /* [n_slots] */
    void **owned;                     /* [n_slots] outputs that nothing is bound to */
    gn_graph **graph;                 /* [n_graphs] */
    gn_derived **derived;             /* [n_graphs] NULL for bound ones */
    const struct gn_instance *beside; /* while another is bound like it: this one is looked at, too
                                       */
    const struct gn_instance *before; /* while it is bound: that whose place it takes; NULL: none */
    int64_t *sym;                     /* [n_syms] */
    gn_column_data *column; /* [n_columns] while graphs are made, and where some are drawn */
    bool draws;             /* some are */
    gn_scratch *scratch;    /* holds the arena; NULL: the instance does itself */
    void *arena;
    int64_t room;             /* bytes there, at least; of the arena that it holds itself */
    void *tables;             /* one block: all arrays above */
    void *operands;           /* one block: buf, sym and bound of all launches */
    struct gn_region *region; /* NULL: launch by launch */
    struct gn_chain *chains;  /* all of them; NULL: none */
    gn_pace pace;
    void *remote;     /* attached to the artifact's device; NULL: runs here */
    gn_status *error; /* of the device, since gn_instance_check; NULL: none */
    int64_t *ns;      /* [n_launches] profile; in tables */
    int64_t runs;
    bool profiling;
    struct gn_trace *trace; /* of its runs; NULL: they are not traced */
};

/* bind.c.  Each fills a part of an instance whose tables exist. */
GN_NODISCARD gn_status *gn_bind_graphs(gn_instance *in, int n, const gn_graph_binding *graphs,
                                       int n_tensors, const gn_binding *tensors,
                                       const gn_instance *like);
GN_NODISCARD gn_status *gn_bind_tensors(gn_instance *in, int n, const gn_binding *tensors);
GN_NODISCARD gn_status *gn_bind_launches(gn_instance *in);
/* An arena for what has none that is large enough; and temporaries where it is. */
GN_NODISCARD gn_status *gn_bind_arena(gn_instance *in);
void gn_bind_temporaries(gn_instance *in);
/* What is bound under the name; GN_ERR_DATA: nothing is, and what it may have been meant for. */
GN_NODISCARD gn_status *gn_bind_find(const gn_instance *in, const char *name, int n,
                                     const gn_binding *tensors, const gn_binding **out);
GN_NODISCARD gn_status *gn_bind_check_data(const gn_instance *in, int slot, const void *data);
void gn_bind_release_graphs(gn_instance *in);
/* What a derived graph's slot says of it; from what it comes is known. */
GN_NODISCARD gn_status *gn_bind_make_derived(gn_instance *in, int number, gn_derived *d,
                                             int n_tensors, const gn_binding *tensors);

/* bind_columns.c: column k is there, with those that it comes of. */
GN_NODISCARD gn_status *gn_bind_column(gn_instance *in, int k, int n, const gn_binding *tensors);
GN_NODISCARD gn_status *gn_bind_row_count(const gn_instance *in, const gn_counted_rows *r, int n,
                                          const gn_binding *tensors, int64_t *out);
void gn_bind_release_columns(gn_instance *in);

/* traced_run.c: a run that in->trace hears of; all of it by the caller, or as it is otherwise. */
void gn_run_traced(gn_instance *in, bool alone);

/* redraw.c: the key as it is now; graphs for a run by it; whether a tensor is of it; from where
 * that is read. */
GN_NODISCARD gn_status *gn_find_key(const gn_instance *in, gn_derived *d);
GN_NODISCARD gn_status *gn_redraw(gn_instance *in);
bool gn_redraws_by(const gn_artifact *a, const char *name);
void gn_redraw_from(gn_instance *in, const char *name, const void *data);

#endif
