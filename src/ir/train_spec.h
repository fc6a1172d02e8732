/* What a training step does besides the loss: optimizer, clipping and learning-rate schedule.
 * Written by the front end, read by the train pass.  Semantics and defaults are those of
 * torch.optim, LION's those of Chen et al., "Symbolic Discovery of Optimization Algorithms"
 * (2023). */
#ifndef GN_IR_TRAIN_SPEC_H
#define GN_IR_TRAIN_SPEC_H

#include <stdbool.h>
#include <stdint.h>

typedef enum gn_optimizer {
    GN_SGD,
    GN_ADAM,
    GN_ADAMW,
    GN_ADAGRAD,
    GN_RMSPROP,
    GN_ADAMAX,
    GN_LION,
    GN_OPTIMIZERS
} gn_optimizer;
typedef enum gn_schedule {
    GN_LR_CONSTANT,
    GN_LR_STEP,
    GN_LR_EXPONENTIAL,
    GN_LR_COSINE,
    GN_LR_LINEAR
} gn_schedule;

typedef struct gn_train_spec {
    gn_optimizer optimizer;
    double lr, momentum, dampening, beta1, beta2, eps;
    double lr_decay; /* ADAGRAD: the rate is divided by 1 + lr_decay * t */
    double alpha;    /* RMSPROP: of its mean of squares */
    bool nesterov;
    bool centered; /* RMSPROP: a variance takes the place of that mean */
    bool amsgrad;  /* ADAM, ADAMW: the largest v so far takes the place of v */
    bool touched;  /* of tables, the rows alone that a step reads (passes/touch_rows.h) */
    double clip_norm, clip_value; /* 0: none; torch.nn.utils.clip_grad_norm_ / clip_grad_value_ */
    /* lr at 0-based step t: STEP lr * gamma^floor(t / period); EXPONENTIAL lr * gamma^t; COSINE
     * eta_min + (lr - eta_min) * (1 + cos(pi * t / period)) / 2; LINEAR from lr to lr * gamma over
     * period steps. */
    gn_schedule schedule;
    double gamma, eta_min;
    int64_t period;
    int64_t epochs;
    int64_t patience;  /* early stopping on validation: 0 off */
    bool select_best;  /* report and keep the weights of the best validation epoch */
    bool monitor_loss; /* validation loss rather than accuracy */
    /* With monitor_loss: both, as the GAT paper's code does: the epoch that is chosen was no worse
     * than any before in either, and patience counts epochs in which neither was as good as its
     * best. */
    bool monitor_accuracy;
} gn_train_spec;

#endif
