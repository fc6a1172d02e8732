/* step: the training step of a model, as one program. */
#include "driver/session_impl.h"
#include "passes/train.h"

gn_status *gn_training_step(gn_arena *a, gn_model *m, gir_program **out)
{
    if (!m->loss) GN_FAIL(GN_ERR_MODEL, "model %s has no loss to train with: write a train block", m->name);
    gn_train_param *p = GN_NEW_N(a, gn_train_param, m->n_params + 1);
    int n = 0;
    for (int k = 0; k < m->n_params; k++)
        if (m->params[k].trainable) p[n++] = (gn_train_param){m->params[k].name, m->params[k].weight_decay};
    return gn_pass_train(a, m->loss, n, p, &m->train, out);
}
