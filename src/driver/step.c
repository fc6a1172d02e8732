/* step: the training step of a model, as one program. */
#include "driver/session_impl.h"
#include "passes/passes.h"
#include "passes/simplify.h"
#include "passes/train.h"

#include <string.h>

/* The loss alone: what the model says of every row is nobody's in a step, and need not be written. */
static gir_program *without_logits(gn_arena *a, const gir_program *p)
{
    gir_program *to = GN_NEW(a, gir_program);
    *to = *p;
    to->outputs.p = NULL;
    to->outputs.n = to->outputs.cap = 0;
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind != GIR_OUTPUT || strcmp(p->outputs.p[k].name, "out") != 0)
            GN_PUSH(a, to->outputs, p->outputs.p[k]);
    return to;
}

gn_status *gn_training_step(gn_arena *a, gn_model *m, const gn_pass_options *opt, gir_program **out)
{
    if (!m->loss) GN_FAIL(GN_ERR_MODEL, "model %s has no loss to train with: write a train block", m->name);
    gn_train_param *p = GN_NEW_N(a, gn_train_param, m->n_params + 1);
    int n = 0;
    for (int k = 0; k < m->n_params; k++)
        if (m->params[k].trainable) p[n++] = (gn_train_param){m->params[k].name, m->params[k].weight_decay};
    gir_program *loss = without_logits(a, m->loss); /* gradients follow the order that the forward pass has */
    if (!opt->eager) {
        GN_TRY(gn_pass_cse(a, loss, &loss)); /* not simplify, which drops `detach` */
        GN_TRY(gn_pass_dce(a, loss, &loss));
        if (gn_pass_is_on(&opt->without, "reassociate")) GN_TRY(gn_run_reassociate(a, loss, opt, &loss));
        if (gn_pass_is_on(&opt->without, "aggregate_first")) GN_TRY(gn_run_aggregate_first(a, loss, opt, &loss));
    }
    return gn_pass_train(a, loss, n, p, &m->train, out);
}
