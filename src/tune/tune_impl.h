/* Shared by the files of the search. */
#ifndef GN_TUNE_TUNE_IMPL_H
#define GN_TUNE_TUNE_IMPL_H

#include "base/map.h"
#include "compile/cost.h"
#include "tune/tune.h"

/* One way to compile one program, on its way to being measured. */
typedef struct trial {
    struct trial *next; /* of those that are alive */
    gn_arena arena;
    gn_build_options opt;
    gn_build build;
    gn_pick pick;
    gn_unit *unit; /* of build */
    uint64_t digest;
} trial;

typedef struct result { /* what a program leaves */
    const char *name;
    gn_elem elem;
    int64_t elems;
    void *value, *before; /* before: of a state; else NULL */
} result;

typedef struct tuner {
    gn_arena *arena;
    const gn_tune_site *site; /* with the default: the reference */
    const gn_tune_wish *wish;
    gn_unit_id id;
    gn_tuned *rec;
    struct gn_cache *cache; /* of candidates' kernels, in memory */
    gn_pick usual;          /* the default's, and a digest of it */
    uint64_t usual_digest;
    trial *alive;    /* all that there are */
    trial *best;     /* NULL: the default */
    double deadline; /* gn_now_ms; of candidates */
    double best_us;  /* of the best, when it was last measured; 0: not yet */
    double last_ms;  /* that are kept for the best against the default */
    double make_ms; /* that the slowest candidate took to be made; of a device alone, whose compiler
                       takes long */
    int n_results;
    result *results;
    int threads;    /* of the site */
    gn_pool **pool; /* [threads + 1]; NULL: none of that many */
    gn_map cost;    /* by kernel: predicted nanoseconds */
} tuner;

const gn_unit *tuner_reference(const tuner *t);
const gn_unit *tuner_best(const tuner *t);
const gn_pick *tuner_best_pick(const tuner *t);
gn_unit *tuner_unit(gn_build *b, gn_unit_id id);

uint64_t tuner_best_digest(const tuner *t);

/* Of what failed, a candidate's own matter ends here: NULL.  Where the default does not run any
 * more either, as on a device that is lost, it is handed on and ends the search. */
GN_NODISCARD gn_status *tuner_survive(const tuner *t, gn_status *s);

/* trial.c.  *out is NULL where the candidate is the best's or was tried before, or cannot be made:
 * that is no error. */
GN_NODISCARD gn_status *trial_lower(tuner *t, const gn_pick *pick, trial **out);
double trial_predict(tuner *t, trial *c); /* microseconds by the cost model; 0: cannot be told */
/* Code, instances. */
GN_NODISCARD gn_status *trial_make(tuner *t, trial *c, const char *name);
void trial_free(tuner *t, trial *c); /* NULL is fine */
/* Instances once more, in other memory: where things happen to lie must not decide. */
GN_NODISCARD gn_status *trial_rebind(tuner *t, trial *c);
uint64_t trial_digest(const tuner *t, const gn_unit *u, const gn_pick *p);

/* tune_check.c */
/* Fresh states, on the device too. */
GN_NODISCARD gn_status *check_reset(const tuner *t, uint64_t seed);
GN_NODISCARD gn_status *check_reference(tuner *t);
/* Does the unit leave what the reference leaves? NULL, or what differs; in the arena. */
GN_NODISCARD gn_status *check_same(tuner *t, const gn_unit *u, const char **why);

/* tune_time.c: both in turn, for about `ms`. */
typedef struct duel {
    double a_us, b_us; /* medians */
    double ratio;      /* median of b / a */
    double noise;      /* of that */
    double least;      /* that b must gain to have won, as a part */
} duel;
enum { TUNE_DUEL_MS = 30 };
/* An error is the device's. */
GN_NODISCARD gn_status *duel_run(const tuner *t, const gn_unit *a, const gn_unit *b, double ms,
                                 duel *out);
bool duel_won(const duel *d); /* by b, beyond noise */
/* Least nanoseconds of each launch, a and b in turn. */
GN_NODISCARD gn_status *duel_launches(const tuner *t, const gn_unit *a, const gn_unit *b, double ms,
                                      int64_t *a_ns, int64_t *b_ns);

/* tune_session.c: a session with the default's programs, to search in; and who is told. */
gn_tune_site tune_site_of(gn_session *s);
gn_tune_wish tune_wish_of(const gn_session *s);

/* tune_order.c.  The default's programs on the same data, which keeps all that was needed to bind
 * it. */
GN_NODISCARD gn_status *tune_default_session(const gn_session *of, gn_order order,
                                             gn_session **out);
/* Do the programs of both compute the same for the user's nodes, up to sums in another order?  An
 * error: one does not run. */
GN_NODISCARD gn_status *tune_same_scores(gn_session *a, gn_session *b, bool *same);
/* Another order of nodes for *s, a default session, where rows that are gathered leave the caches:
 * *s is the faster one then, rec says its order, and *times is multiplied by the time that it takes
 * beside the one before.  deadline: gn_now_ms. */
GN_NODISCARD gn_status *tune_orders(gn_session *of, gn_session **s, gn_tuned *rec, double deadline,
                                    double *times);

/* tune_space.c: what can be tried, in an order that usually pays. */
typedef struct tune_values {
    low_field field;
    int n;
    int64_t value[8];
} tune_values;
enum { TUNE_HERE = 1, TUNE_THERE = 2 }; /* on this processor, on a device */
typedef struct tune_switch {
    const char *name;
    int where;
} tune_switch;
typedef struct tune_space {
    int where; /* switches that are not of there are none of it */
    int n_switches, n_fields;
    const tune_switch *switches;
    const tune_values *fields;
} tune_space;
const tune_space *tune_space_of(const gn_target *target); /* NULL: this processor's */

void tuner_tell(const tuner *t, const char *trying);
void tuner_say(const tuner *t, const char *fmt, ...) GN_PRINTF(2, 3);

#endif
