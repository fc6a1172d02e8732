/* step: the training step of a model, as one program. */
#include "build/build.h"
#include "passes/passes.h"
#include "passes/simplify.h"
#include "passes/touch_rows.h"
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

/* Tables of which rows are touched are found in the loss as it was written: passes may have all
 * rows read. */
static gn_status *touch(gn_arena *a, const gn_model *m, gir_program **loss)
{
    const char **names = GN_NEW_N(a, const char *, m->n_params + 1);
    int n = 0;
    for (int k = 0; k < m->n_params; k++)
        if (m->params[k].trainable) names[n++] = m->params[k].name;
    return m->train.touched ? gn_pass_touch_rows(a, *loss, n, names, loss) : NULL;
}

/* Puts products where they are cheap before gradients are taken, which follow the order that the
 * forward pass has. */
static gn_status *order_products(gn_arena *a, const gn_pass_options *opt, gir_program **p)
{
    if (opt->eager) return NULL;
    GN_TRY(gn_pass_cse(a, *p, p)); /* not simplify, which drops `detach` */
    GN_TRY(gn_pass_dce(a, *p, p));
    if (gn_pass_is_on(&opt->without, "unreverse")) GN_TRY(gn_run_unreverse(a, *p, opt, p));
    if (gn_pass_is_on(&opt->without, "edge_products")) GN_TRY(gn_run_edge_products(a, *p, opt, p));
    if (gn_pass_is_on(&opt->without, "reassociate")) GN_TRY(gn_run_reassociate(a, *p, opt, p));
    if (gn_pass_is_on(&opt->without, "aggregate_first"))
        GN_TRY(gn_run_aggregate_first(a, *p, opt, p));
    return NULL;
}

/* The loss as far as it is the same for all rows and for picked ones. */
static gn_status *loss_to_train(gn_arena *a, const gn_model *m, const gn_pass_options *opt,
                                gir_program **out)
{
    *out = gn_loss_alone(a, m->loss);
    GN_TRY(touch(a, m, out));
    return order_products(a, opt, out);
}

gn_status *gn_gradients_of(gn_arena *a, const gn_model *m, const gn_gradients *want,
                           const gn_pass_options *opt, gir_program **out)
{
    gir_program *p = want->inference ? m->eval : m->forward;
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (gir_draws_edges(gir_at(p, v)))
            GN_FAIL(GN_ERR_MODEL,
                    "gradients: model %s draws edges anew at every run, which a backward pass "
                    "cannot come back to",
                    m->name);
    GN_TRY(order_products(a, opt, &p));
    return gn_pass_gradients(a, p, want, out);
}

static bool picks_rows(const gn_pass_options *opt)
{
    return opt->batches || (!opt->eager && gn_pass_is_on(&opt->without, "restrict_rows"));
}

gn_status *gn_step_needs(gn_arena *a, const gn_model *m, const gn_pass_options *opt,
                         gn_row_needs *out)
{
    gir_program *loss;
    *out = (gn_row_needs){0};
    if (!m->loss || !picks_rows(opt)) return NULL;
    GN_TRY(loss_to_train(a, m, opt, &loss));
    GN_TRY(gn_run_sparsify(a, loss, opt, &loss));
    *out = gn_find_row_needs(a, loss, opt->batches);
    return NULL;
}

/* Of a step that is given with its gradients the rows that opt asks for. */
static gn_status *restrict_step(gn_arena *a, const gn_model *m, const gn_pass_options *opt,
                                gir_program **out)
{
    gn_pass_options o = *opt;
    if (opt->levels <= 0 || !picks_rows(opt)) return NULL;
    o.has_gradients = true;
    GN_TRY(gn_run_restrict_rows(a, m->step, &o, out));
    return gn_pass_dce(a, *out, out);
}

gn_status *gn_training_step(gn_arena *a, gn_model *m, const gn_pass_options *opt, gir_program **out)
{
    *out = m->step;
    if (m->step) return restrict_step(a, m, opt, out);
    if (!m->loss)
        GN_FAIL(GN_ERR_MODEL,
                "model %s has no loss to train with: write a train block; without one it can be "
                "run (`gnnc run`, `-o "
                "FILE.o "
                "--inference`, `explain` and `tune` with `--what eval`)",
                m->name);
    gn_train_param *p = GN_NEW_N(a, gn_train_param, m->n_params + 1);
    gir_program *loss;
    int n = 0;
    for (int k = 0; k < m->n_params; k++)
        if (m->params[k].trainable)
            p[n++] = (gn_train_param){m->params[k].name, m->params[k].weight_decay};
    GN_TRY(loss_to_train(a, m, opt, &loss));
    if (opt->levels > 0 && picks_rows(opt)) {
        /* sparse features are restricted as relations */
        GN_TRY(gn_run_sparsify(a, loss, opt, &loss));
        GN_TRY(gn_run_restrict_rows(a, loss, opt, &loss));
        if (gn_pass_is_on(&opt->without, "aggregate_picked"))
            GN_TRY(gn_run_aggregate_picked(a, loss, opt, &loss));
        if (gn_pass_is_on(&opt->without, "aggregate_heads"))
            GN_TRY(gn_run_aggregate_heads(a, loss, opt, &loss));
        if (gn_pass_is_on(&opt->without, "group_kinds"))
            GN_TRY(gn_run_group_kinds(a, loss, opt, &loss));
        GN_TRY(gn_pass_dce(a, loss, &loss));
    }
    gn_train_spec spec = m->train;
    spec.scales_loss = opt->kept == GN_STORAGE_FLOAT16;
    return gn_pass_train(a, loss, n, p, &spec, out);
}

gn_status *gn_eval_of_rows(gn_arena *a, const gn_model *m, const gn_pass_options *opt,
                           gir_program **out, int *hops)
{
    gn_pass_options o = *opt;
    gir_program *p = m->eval;
    GN_TRY(gn_run_sparsify(a, p, &o, &p));
    gn_row_needs needs = gn_find_row_needs(a, p, o.batches);
    if (!needs.mask) GN_FAIL(GN_ERR_MODEL, "model %s has no result of nodes", m->name);
    o.levels = needs.levels > 0 ? needs.levels : 1;
    *hops = o.levels - 1;
    if (o.levels > GN_MOST_LEVELS || *hops > GN_MOST_HOPS)
        GN_FAIL(GN_ERR_MODEL, "messages of %s go over more than %d hops", m->name,
                (int)GN_MOST_HOPS);
    GN_TRY(gn_run_restrict_rows(a, p, &o, &p));
    return gn_pass_dce(a, p, out);
}
