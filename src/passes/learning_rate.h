/* The learning rate of a step: in the program that trains, and for whoever reports it. */
#ifndef GN_PASSES_LEARNING_RATE_H
#define GN_PASSES_LEARNING_RATE_H

#include "ir/gir.h"
#include "ir/train_spec.h"

/* What PLATEAU goes by, as torch.optim.lr_scheduler.ReduceLROnPlateau does; all 0 at first. */
typedef struct gn_plateau {
    double best;
    int64_t seen;     /* results so far, of which `best` is one where there are some */
    int64_t bad;      /* in a row that were no better */
    int64_t cooldown; /* that are still not to count */
    int64_t drops;    /* how often the rate was lowered */
} gn_plateau;

/* Another result: a loss, or an accuracy where the schedule goes by that. */
void gn_plateau_judge(const gn_train_spec *s, gn_plateau *p, double result);

/* The state of the program, i64[], that counts how often PLATEAU lowered the rate: whoever trains
 * sets it between steps. */
#define GN_STATE_DROPS "opt.drops"

/* The state, f64[], of the rate in the place of lr, where that may change between steps. */
#define GN_STATE_RATE "opt.rate"

/* The states, i64[], that count steps, and updates where those are of several batches. */
#define GN_STATE_STEPS "rng.step"
#define GN_STATE_UPDATES "opt.step"

/* With a scaled loss (train.c): what it is multiplied by, f32[], 0 before the first step; and steps
 * since that changed, i64[]. */
#define GN_STATE_SCALE "opt.scale"
#define GN_STATE_GOOD_STEPS "opt.good"

/* The rate of step `step`, from 0, as train_spec.h defines it. */
double gn_train_rate(const gn_train_spec *s, int64_t step, int64_t drops);
/* The same as a value of the program, f64[], of `step`: i64[]. */
gir_id gn_train_rate_value(gir_program *p, const gn_train_spec *s, gir_id step);

#endif
