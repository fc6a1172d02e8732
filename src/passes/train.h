/* The training step: a loss program with gradients and the optimizer's update appended. */
#ifndef GN_PASSES_TRAIN_H
#define GN_PASSES_TRAIN_H

#include "ir/gir.h"
#include "ir/train_spec.h"

typedef struct gn_train_param {
    const char *name;    /* of the STATE that is trained */
    double weight_decay; /* 0: none */
} gn_train_param;

/* needs: `loss` verifies, has an output "loss" (a float scalar), and reads trained parameters as
 * states gives: *step: all of `loss`, its outputs and updates, and updates of every parameter
 * that the loss depends on, of the optimizer's states "opt.m.<param>", "opt.v.<param>", ... (of
 * the parameter's type, 0 at first), and of the step counter "rng.step" (i64[], 0 at first),
 * which the step advances by one and learning rate (learning_rate.h) and bias corrections are
 * computed from.  Parameters that the loss does not depend on are left alone, as torch does, and so
 * are rows that are not touched of those that gn_pass_touch_rows has prepared.  errors:
 * GN_ERR_MODEL where the loss has no gradient, or the options make no sense (as torch.optim refuses
 * them) */
GN_NODISCARD gn_status *gn_pass_train(gn_arena *a, const gir_program *loss, int n_params,
                                      const gn_train_param *params, const gn_train_spec *spec,
                                      gir_program **step);

#endif
