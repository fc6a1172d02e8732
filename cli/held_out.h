/* Scores of what was held out of training: links that are told from false ones, facts that are
 * ranked. */
#ifndef GN_CLI_HELD_OUT_H
#define GN_CLI_HELD_OUT_H

#include "cli/json.h"
#include "session/session.h"

typedef struct gn_held_out {
    bool links, facts;    /* which of them the model scores, if any */
    gn_metrics val, test; /* of links */
    gn_rank_means ranks;  /* of facts */
} gn_held_out;

/* Of the weights as they are.  Runs the model on other edges.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_held_out_score(const gn_session *s, gn_held_out *out);

/* The keys of one run: `val_auc`, ... of links, the object `test` of facts; nothing without. */
void gn_held_out_json(gn_json *j, const gn_held_out *h);
/* "held_out": mean and deviation of each over runs. */
void gn_held_out_json_spread(gn_json *j, const gn_held_out *h, int64_t n);

/* A line of one run, behind `before`; a line over several. */
void gn_held_out_print(const gn_held_out *h, const char *before);
void gn_held_out_print_spread(const gn_held_out *h, int64_t n);

#endif
