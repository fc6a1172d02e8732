/* step: the training step of a model, as one program. */
#include "driver/session_impl.h"
#include "passes/passes.h"
#include "passes/simplify.h"
#include "passes/train.h"

#include <string.h>

gir_program *gn_loss_alone(gn_arena *a, const gir_program *loss)
{
    gir_program *p = gir_clone(a, loss);
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_UPDATE || strcmp(p->outputs.p[k].name, "loss") == 0)
            p->outputs.p[n++] = p->outputs.p[k];
    p->outputs.n = n;
    return p;
}

gn_status *gn_training_step(gn_arena *a, gn_model *m, const gn_pass_options *opt, gir_program **out)
{
    if (!m->loss) GN_FAIL(GN_ERR_MODEL, "model %s has no loss to train with: write a train block", m->name);
    gn_train_param *p = GN_NEW_N(a, gn_train_param, m->n_params + 1);
    int n = 0;
    for (int k = 0; k < m->n_params; k++)
        if (m->params[k].trainable) p[n++] = (gn_train_param){m->params[k].name, m->params[k].weight_decay};
    gir_program *loss = gn_loss_alone(a, m->loss); /* gradients follow the order that the forward pass has */
    if (!opt->eager) {
        GN_TRY(gn_pass_cse(a, loss, &loss)); /* not simplify, which drops `detach` */
        GN_TRY(gn_pass_dce(a, loss, &loss));
        if (gn_pass_is_on(&opt->without, "reassociate")) GN_TRY(gn_run_reassociate(a, loss, opt, &loss));
        if (gn_pass_is_on(&opt->without, "aggregate_first")) GN_TRY(gn_run_aggregate_first(a, loss, opt, &loss));
        if (opt->levels > 0 && gn_pass_is_on(&opt->without, "restrict_rows")) {
            GN_TRY(gn_run_sparsify(a, loss, opt, &loss)); /* sparse features are restricted as relations */
            GN_TRY(gn_run_restrict_rows(a, loss, opt, &loss));
            if (gn_pass_is_on(&opt->without, "aggregate_picked")) GN_TRY(gn_run_aggregate_picked(a, loss, opt, &loss));
            GN_TRY(gn_pass_dce(a, loss, &loss));
        }
    }
    return gn_pass_train(a, loss, n, p, &m->train, out);
}
