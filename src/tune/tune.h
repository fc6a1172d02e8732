/* Tuning: schedules, decisions, numbers of threads and orders of nodes, searched for on the data at
 * hand.
 *
 * A search measures candidates in turn with the best so far, and takes one that is faster beyond
 * the noise of both and gives what the default gives, up to what sums in another order may differ.
 * It can end at any moment and be resumed.  What came of it is a record, kept beside compiled
 * kernels under a signature: everything that must be the same for it to fit.  A lock file holds
 * records with their signatures. */
#ifndef GN_TUNE_TUNE_H
#define GN_TUNE_TUNE_H

#include "build/tuned.h"
#include "session/session.h"

/* Where a search is made: a model bound to data, on this processor or a device, which is
 * entered. */
typedef struct gn_tune_site {
    gn_model *model;
    gn_build *build; /* the default's: its unit is bound, and candidates are compared with it */
    gn_build_options opt; /* that it was made with; candidates change it */
    gn_state *state;      /* that units are bound to: what stands there is lost */
    gn_pool *pool;
    gn_target *target;    /* NULL: this processor */
    uint64_t seed;        /* of the weights that are timed with */
    double missing_bytes; /* that dense features would take; 0: they are there */
    /* Binds a unit of any build of the model to the data and the state. */
    gn_status *(*bind)(void *ctx, gn_unit *u, gn_pool *pool, const gn_instance *like);
    void *ctx;
} gn_tune_site;

/* What is wanted of a search, and who is told of it. */
typedef struct gn_tune_wish {
    gn_mode mode;
    int threads; /* that were asked for; 0: fewer may be found to be faster */
    void (*say)(void *ctx, const char *text);          /* NULL: nobody listens */
    void (*tell)(void *ctx, const gn_tune_news *news); /* likewise; before each candidate */
    /* For tests: sees a candidate's code, and may see the default's, before it is bound. */
    void (*made)(void *ctx, const char *candidate, gn_unit *u);
    void *ctx;
    const atomic_bool *over; /* ends it before its time, once it is true; NULL */
} gn_tune_wish;

/* Lines "name value" of all that a record depends on besides program and machine. */
typedef struct gn_tune_facts {
    gn_model *model; /* sizes that are compiled in stand in its programs */
    gn_graph *graph; /* NULL: there is none, or `more` says all of it */
    /* columns, entries of x, columns of the graph's attributes */
    int64_t features, nonzeros, classes, on_edges;
    bool weighted;
    int64_t train, val; /* rows that masks mark */
    bool fixed;
    int threads;       /* 0: any */
    gn_target *target; /* NULL: this processor */
    const char *order; /* of nodes */
    gn_storage gathers, kept;
    const char *wide; /* of `kept`; NULL */
    gn_precision precision;
    gn_products products; /* of a device alone */
    const char *more;     /* options; NULL: none */
} gn_tune_facts;

/* tune_keep.c ---------------------------------------------------------------------------------- */

/* All that a record depends on, in the arena: compiler, machine or device, model, graph, features,
 * what is fixed.  Of a device NVRTC is part of it, and is loaded to be asked. */
GN_NODISCARD gn_status *gn_tuned_sign(gn_arena *a, const gn_tune_facts *f, gn_unit_id unit,
                                      const char **out);
/* From and to the cache (NULL: there is none).  *found is false where there is no record that can
 * be read.  `mode`: that wants it. */
GN_NODISCARD gn_status *gn_tuned_find(gn_arena *a, struct gn_cache *cache, gn_mode mode,
                                      const char *signature, gn_tuned *out, bool *found);
void gn_tuned_keep(gn_arena *a, struct gn_cache *cache, gn_mode mode, const char *signature,
                   const gn_tuned *t);

/* Lock files.  A record of each program, with its signature, to a file: GN_ERR_IO. */
GN_NODISCARD gn_status *gn_tuned_lock_save(gn_arena *a, int n, const gn_tuned *const *t,
                                           const char *path);
/* What a lock says of the precision that programs are to have. */
typedef struct gn_locked_numbers {
    bool there; /* it says it */
    bool alone; /* and no record is beside it: rules choose schedules */
    gn_numbers numbers;
    gn_precision products;
    const char *wide;  /* NULL: nothing */
    const char *model; /* that was trained with them */
} gn_locked_numbers;
/* GN_ERR_IO; GN_ERR_DATA. */
GN_NODISCARD gn_status *gn_tuned_lock_numbers(gn_arena *a, const char *path,
                                              gn_locked_numbers *out);
GN_NODISCARD gn_status *gn_tuned_lock_numbers_save(const gn_locked_numbers *n, const char *path);

/* The record of a unit in the text of a lock, that was read from path: GN_ERR_DATA where it is no
 * lock, lacks the program, or does not fit: which line, what it says and what is so here.  `cure`:
 * what makes another. */
GN_NODISCARD gn_status *gn_tuned_unlock(gn_arena *a, const char *text, const char *path,
                                        gn_unit_id unit, const char *signature, const char *cure,
                                        gn_tuned *out);

/* tune.c --------------------------------------------------------------------------------------- */

/* What a default is made with, of the mode that searches and of who makes products (off: decisions
 * that are switched off): on this processor as in mode default; on a device as the mode does
 * without a search. */
void gn_tune_default(const gn_target *target, gn_switches off, gn_mode *mode,
                     gn_products *products);
gn_pick gn_tune_usual(const gn_target *target); /* and what is done with it */

/* Searches for `seconds`, on from what stands in rec, in which the result is left; what it points
 * to is in the arena. */
GN_NODISCARD gn_status *gn_tune_unit(gn_arena *a, const gn_tune_site *site,
                                     const gn_tune_wish *wish, gn_tuned *rec, double seconds);
/* Does what is kept do, where a mode wants that many seconds spent? */
bool gn_tuned_enough(const gn_tuned *t, double seconds);
/* tune_precision.c ---------------------------------------------------------------------------- */

/* One precision, trained with. */
typedef struct gn_precision_tried {
    gn_numbers numbers;
    gn_precision products;
    const char *wide;
    int seeds;      /* that were trained; fewer where it was clear before that it is too far off */
    double *metric; /* [seeds] on validation rows */
    double mean, deviation;
    double worse, error; /* than float32's of the same seeds, in the mean; its standard error */
    int64_t bytes, temporaries;
    double step_us;
    bool within;   /* the tolerance */
    bool frontier; /* none that takes as little is as good */
} gn_precision_tried;

typedef struct gn_precision_search {
    double tolerance; /* of the metric, of which 1 is all */
    int seeds;
    const char *metric;               /* out: what was looked at */
    const char *model;                /* out: its name */
    GN_VEC(gn_precision_tried) tried; /* out; the first is float32 */
    uint32_t best;                    /* out: of them */
} gn_precision_search;

/* Trains the model with candidates, all with the same seeds, and takes what needs least memory and
 * is no worse than float32 by more than the tolerance: a mode as it is; else those layers of it,
 * one after another from the one that saves most, with which that is so.  `opt` has the model and
 * data; its precision is not looked at.  Ends early, with what there is, where opt->over says so.
 * Names live in the arena.  GN_ERR_USAGE: links or facts are judged, of which no metric is
 * compared. */
GN_NODISCARD gn_status *gn_tune_precision(gn_arena *a, const gn_session_options *opt,
                                          gn_precision_search *z);

/* tune_session.c ------------------------------------------------------------------------------- */

/* The signature of a session that has read its data and its model; `order` of nodes by name, or
 * "any". */
GN_NODISCARD gn_status *gn_tuned_signature(gn_session *s, gn_unit_id unit, const char *order,
                                           const char **out);
/* Lock files of what a session runs.  Reading: GN_ERR_IO; GN_ERR_DATA as above. */
GN_NODISCARD gn_status *gn_tuned_lock_write(gn_session *s, const char *path);
GN_NODISCARD gn_status *gn_tuned_lock_read(gn_session *s, const char *path);

#define GN_TUNE_SECONDS 5.0 /* a search's usual budget */

/* Fills s->tuned for the programs that the session runs, from a lock file, from what is kept, by
 * searching, as options and mode say; may change s->opt.reorder.  Nothing for another processor, or
 * a device that is not there: GN_ERR_USAGE where that is asked for a lock or a search.  Of a
 * session that has read its data and its model, and compiled nothing. */
GN_NODISCARD gn_status *gn_tune_session(gn_session *s);

#endif
