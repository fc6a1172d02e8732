/* Warnings: what a model says that is legal and probably not meant.
 *
 * They are of the text, whatever hyperparameters make of it: what one setting leaves unread another
 * reads. */
#include "frontend/elab.h"

#include "base/data_name.h"

#include <ctype.h>
#include <string.h>

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* `name = ...`: made, or given to something under its own name. */
static bool is_assigned(const gn_source *s, uint32_t after)
{
    while (after < s->n && s->text[after] == ' ') after++;
    return after < s->n && s->text[after] == '=' && s->text[after + 1] != '=';
}

/* Does the text of a declaration, which ends where the next one begins, read the name, behind
 * `from` and comments apart? */
static bool reads(const elab *E, const ast_decl *d, const char *name, uint32_t from)
{
    const gn_source *s = d->src;
    uint32_t end = s->n;
    for (uint32_t k = 0; k < E->ast->decls.n; k++) {
        uint32_t at = E->ast->decls.p[k]->name.span.at;
        if (at > d->name.span.at && at < end) end = at;
    }
    size_t length = strlen(name);
    for (uint32_t i = from; i < end; i++) {
        if (s->text[i] == '#')
            while (i < end && s->text[i] != '\n') i++;
        else if ((i == 0 || !in_name(s->text[i - 1])) && i + length <= end &&
                 !memcmp(s->text + i, name, length) && !in_name(s->text[i + length]) &&
                 !is_assigned(s, i + (uint32_t)length))
            return true;
    }
    return false;
}

/* A list's elements bear its name: "convs.0". */
static void unused_layers(elab *E, const instance *it)
{
    for (uint32_t k = 0; k < it->children.n; k++) {
        const child *c = &it->children.p[k];
        if (!c->instance) continue; /* a parameter */
        const char *name = gn_arena_strndup(E->arena, c->name, strcspn(c->name, "."));
        if (c->instance->applications)
            unused_layers(E, c->instance);
        else if (c->instance->made_src == E->ast->src &&
                 !reads(E, it->decl, name, it->decl->name.span.at))
            gn_diag_warning(E->diags, c->instance->made_src, c->instance->made_at,
                            "the layer `%s` is made, and never used", name);
    }
}

void el_warn_layers(elab *E)
{
    if (!E->diags->errors) unused_layers(E, E->root);
}

void el_warn_hyper(elab *E, const ast_decl *d, const ast_decl *train)
{
    for (uint32_t k = 0; d->src == E->ast->src && !E->diags->errors && k < d->hyper.n; k++) {
        const ast_name *name = &d->hyper.p[k].name;
        if (!reads(E, d, name->text, name->span.at + name->span.len) &&
            !(train && reads(E, train, name->text, train->name.span.at)))
            gn_diag_warning(E->diags, d->src, name->span, "the hyperparameter `%s` is never read",
                            name->text);
    }
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
        gn_diag_warning(
            E->diags, train->src, item->over ? item->over->span : item->a->span,
            "the loss reads `test_mask`: what is trained on says nothing when it is tested on");
    else if (labels && !masked)
        gn_diag_warning(E->diags, train->src, item->a->span,
                        "the loss is of all labels, those to test on among them; `over train_mask` "
                        "leaves them out");
}
