/* Tuning: schedules, decisions, numbers of threads and orders of nodes, searched for on the data at hand.
 *
 * A search measures candidates in turn with the best so far, and takes one that is faster beyond the noise of both and
 * gives what the default gives, up to what sums in another order may differ.  It can end at any moment and be resumed.  What
 * came of it is a record, kept beside compiled kernels under a signature: everything that must be the same for it to
 * fit.  A lock file holds records with their signatures. */
#ifndef GN_DRIVER_TUNE_H
#define GN_DRIVER_TUNE_H

#include "driver/session.h"

/* What came of searches so far, for one program. */
struct gn_tuned {
    gn_unit_id unit;
    gn_pick pick;
    gn_order reorder;
    double default_us, best_us; /* medians of the last comparison */
    double noise;               /* of their ratio */
    double seconds;             /* of searching, in all */
    int64_t wrong;              /* candidates that gave something else */
    bool finished;              /* nothing is left to try */
    GN_VEC(uint64_t) tried;     /* digests of candidates */
    const char *signature;      /* that it was found or made under; NULL: none */
};

extern const char *const gn_unit_name[GN_UNITS];

/* tune_record.c ------------------------------------------------------------------------------------------------------ */

/* Lines of text, and back; what it holds lives in the arena.  GN_ERR_DATA: line number, what is wrong, the nearest name.
 * `where` names the text in messages, `line` is the number of its first line. */
void gn_tuned_print(const gn_tuned *t, gn_buf *out);
GN_NODISCARD gn_status *gn_tuned_parse(gn_arena *a, const char *text, const char *where, int line, gn_tuned *out);
/* Choices in a few words, "" for none. */
const char *gn_pick_text(gn_arena *a, const gn_pick *p);

/* tune_keep.c -------------------------------------------------------------------------------------------------------- */

/* All that a record depends on, lines "name value": compiler, machine, model, graph, features, what is fixed.  Of a session
 * that has read its data and its model. */
GN_NODISCARD gn_status *gn_tuned_signature(gn_session *s, gn_unit_id unit, gn_order reorder, bool free_order,
                                           const char **out);
/* From and to the session's cache.  *found is false where there is no cache or no record that can be read. */
GN_NODISCARD gn_status *gn_tuned_find(gn_session *s, const char *signature, gn_tuned *out, bool *found);
void gn_tuned_keep(gn_session *s, const char *signature, const gn_tuned *t);

/* Lock files.  Reading: GN_ERR_IO; GN_ERR_DATA where it is no such file, lacks the program, or does not fit: which line,
 * what it says and what is so here. */
GN_NODISCARD gn_status *gn_tuned_lock_write(gn_session *s, const char *path);
GN_NODISCARD gn_status *gn_tuned_lock_read(gn_session *s, const char *path);

/* tune.c ------------------------------------------------------------------------------------------------------------- */

#define GN_TUNE_SECONDS 5.0 /* a search's usual budget */

/* Fills s->tuned for the programs that the session runs, from a lock file, from what is kept, by searching, as options and
 * mode say; may change s->opt.reorder.  Nothing for another processor or a device: GN_ERR_USAGE where
 * that is asked for a lock or a search.  Of a session that has read its data and its model, and compiled nothing. */
GN_NODISCARD gn_status *gn_tune_session(gn_session *s);

#endif
