/* Warnings: what a model says that is legal and probably not meant. */
#include "frontend/elab.h"
#include "base/data_name.h"

#include <string.h>

static void unused_layers(elab *E, const instance *it)
{
    for (uint32_t k = 0; k < it->children.n; k++) {
        const instance *c = it->children.p[k].instance;
        if (!c) continue; /* a parameter */
        if (c->applications)
            unused_layers(E, c);
        else if (c->made_src == E->ast->src)
            gn_diag_warning(E->diags, c->made_src, c->made_at, "the layer `%s` is made, and never used", c->path);
    }
}

void el_warn_layers(elab *E)
{
    if (!E->diags->errors) unused_layers(E, E->root);
}

void el_warn_hyper(elab *E, const ast_decl *d)
{
    for (uint32_t k = 0; d && !E->diags->errors && k < d->hyper.n; k++)
        if (d->src == E->ast->src && !gn_map_find(&E->read, d->hyper.p[k].name.text))
            gn_diag_warning(E->diags, d->src, d->hyper.p[k].name.span, "the hyperparameter `%s` is never read",
                            d->hyper.p[k].name.text);
}

void el_warn_loss(elab *E, const ast_decl *train, const gir_program *loss)
{
    const ast_item *item = NULL;
    for (uint32_t k = 0; k < train->items.n; k++)
        if (strcmp(train->items.p[k].name.text, "loss") == 0) item = &train->items.p[k];
    if (!item || E->diags->errors || train->src != E->ast->src) return;
    bool masked = false, labels = gir_leaf_by_name(loss, GIR_INPUT, GN_NAME_Y) != 0;
    static const char *const masks[] = {GN_NAME_TRAIN_MASK, GN_NAME_VAL_MASK, GN_NAME_TEST_MASK};
    for (int k = 0; k < 3; k++) masked |= gir_leaf_by_name(loss, GIR_INPUT, masks[k]) != 0;
    if (gir_leaf_by_name(loss, GIR_INPUT, GN_NAME_TEST_MASK))
        gn_diag_warning(E->diags, train->src, item->over ? item->over->span : item->a->span,
                        "the loss reads `test_mask`: what is trained on says nothing when it is tested on");
    else if (labels && !masked)
        gn_diag_warning(E->diags, train->src, item->a->span,
                        "the loss is of all labels, those to test on among them; `over train_mask` leaves them out");
}
