/* What the data gives to a program: the graph, features, labels, masks, and the dims F, C and D. */
#include "frontend/elab.h"
#include "base/data_name.h"
#include "frontend/elsewhere.h"

#include <string.h>

void el_begin_program(elab *E, const char *name, el_mode mode)
{
    gir_program *p = gir_program_new(E->arena, name);
    E->prog = p;
    E->mode = mode;
    for (uint32_t i = 0; i < E->sources.n; i++) GN_PUSH(E->arena, p->files, E->sources.p[i]->name);
    E->node = gir_space_add(p, "node", GIR_NODE, -1);
    E->rng = 0;
    E->sites = 0;
    E->output = (value){0};
    gn_map_init(&E->leaves, E->arena);
    gn_map_init(&E->derived, E->arena);
    gn_map_init(&E->buffer_index, E->arena);
    E->buffers.n = E->buffers.cap = 0;
    E->buffers.p = NULL;
    el_graph *g = GN_NEW(E->arena, el_graph);
    g->id = gir_graph(p, GN_NAME_G, E->node, E->node);
    g->name = GN_NAME_G;
    if (E->shape->has_edge_weight) {
        gir_type t = gir_tensor(GN_F32, gir_type_of(p, g->id)->edge, 0, NULL);
        g->weight = el_leaf(E, GIR_INPUT, GN_NAME_WEIGHT, &t);
    }
    E->graph = g;
}

gir_id el_leaf(elab *E, gir_op op, const char *name, const gir_type *t)
{
    const uint32_t *known = gn_map_find(&E->leaves, name);
    if (known) return *known;
    return *gn_map_put(&E->leaves, name, gir_leaf(E->prog, op, name, t));
}

static value leaf(elab *E, const char *name, gn_elem elem, gir_space_id space, int rank,
                  const int64_t *dim)
{
    gir_type t = gir_tensor(elem, space, rank, dim);
    return val_tensor(el_leaf(E, GIR_INPUT, name, &t), NULL);
}

value el_data_dim(elab *E, const char *name, gn_span at)
{
    const gn_data_shape *s = E->shape;
    int64_t n;
    const char *what, *help = NULL;
    if (strcmp(name, "F") == 0)
        n = s->n_features, what = "features", help = s->no_features;
    else if (strcmp(name, "C") == 0)
        n = s->n_classes, what = "classes", help = s->no_classes;
    else if (strcmp(name, "D") == 0)
        n = s->edge_dim, what = "edge features";
    else
        return (value){0};
    if (n > 0 && n <= EL_MAX_DIM) return val_int(n);
    if (n > 0) return el_error(E, at, "%lld %s are too many", (long long)n, what);
    return el_error(E, at, "`%s` is the number of %s, and the data has none%s", name, what,
                    help ? help : "");
}

gir_id el_times_of_mask(elab *E, const char *mask)
{
    const gn_data_shape *s = E->shape;
    const struct {
        const char *mask, *times;
        bool repeats;
    } of[] = {{GN_NAME_TRAIN_MASK, GN_NAME_TRAIN_TIMES, s->train_repeats},
              {GN_NAME_VAL_MASK, GN_NAME_VAL_TIMES, s->val_repeats},
              {GN_NAME_TEST_MASK, GN_NAME_TEST_TIMES, s->test_repeats}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        if (!strcmp(of[k].mask, mask))
            return of[k].repeats ? leaf(E, of[k].times, GN_F32, E->node, 0, NULL).id : 0;
    return 0;
}

value el_input(elab *E, const char *name, gn_span at)
{
    const gn_data_shape *s = E->shape;
    bool mask = strcmp(name, GN_NAME_TRAIN_MASK) == 0 || strcmp(name, GN_NAME_VAL_MASK) == 0 ||
                strcmp(name, GN_NAME_TEST_MASK) == 0;
    el_locate(E, at);
    if (strcmp(name, GN_NAME_G) == 0) return (value){.kind = VAL_GRAPH, .graph = E->graph};
    if (strcmp(name, GN_NAME_X) == 0) {
        value f = el_data_dim(E, "F", at);
        return f.kind == VAL_INT ? leaf(E, GN_NAME_X, GN_F32, E->node, 1, &f.u.i) : POISON;
    }
    if (strcmp(name, GN_WORD_ATTR) == 0) {
        if (s->edge_dim <= 0) return NONE;
        return leaf(E, GN_NAME_ATTR, GN_F32, gir_type_of(E->prog, E->graph->id)->edge, 1,
                    &s->edge_dim);
    }
    if (strcmp(name, GN_NAME_Y) != 0 && !mask) return (value){0};
    if (s->n_classes <= 0 && !(mask && s->has_masks))
        return el_error(E, at, "the data has no labels, so there is no `%s`%s", name,
                        s->no_labels ? s->no_labels : "");
    if (!mask) return leaf(E, GN_NAME_Y, GN_I32, E->node, 0, NULL);
    /* the loss on validation nodes is that of the training nodes with the mask exchanged */
    if (E->mode == MODE_VAL && strcmp(name, GN_NAME_TRAIN_MASK) == 0) name = GN_NAME_VAL_MASK;
    return leaf(E, name, GN_BOOL, E->node, 0, NULL);
}

const char *el_data_name(const ast_formal *f, bool only)
{
    if (f->type.is_graph) return only || strcmp(f->name.text, GN_NAME_G) == 0 ? GN_NAME_G : NULL;
    if (f->type.space == SPACE_NODE && (only || strcmp(f->name.text, GN_NAME_X) == 0))
        return GN_NAME_X;
    return f->type.space == SPACE_EDGE && (only || strcmp(f->name.text, GN_WORD_ATTR) == 0)
               ? GN_WORD_ATTR
               : NULL;
}

bool el_left_out(const elab *E, const ast_formal *f, const char *of)
{
    const gn_data_shape *s = E->shape;
    if (!f->value) return false;
    for (int k = 0; k < s->n_left_out; k++)
        if (!strcmp(s->left_out[k], f->name.text)) return true;
    if (!of && f->type.is_graph) return true; /* data have one graph */
    return !of && s->has_input && !s->has_input(s->ctx, f->name.text);
}

value el_model_input(elab *E, const ast_formal *f, bool only)
{
    gn_span at = f->name.span;
    const char *of = el_data_name(f, only);
    if (el_left_out(E, f, of)) return (value){0};
    if (of) {
        value v = el_input(E, of, at);
        const char *elsewhere = gn_elsewhere(f->name.text);
        if (v.kind == VAL_NONE && !f->value)
            return el_error(E, at, "the data has no edge features for the input `%s`%s",
                            f->name.text,
                            elsewhere                     ? elsewhere
                            : E->shape->has_input && only ? ", and no array of that name"
                                                          : "");
        return v;
    }
    if (f->type.is_graph)
        return el_error(
            E, at,
            "the data have one graph, `g`, and nothing for the input `%s`: take the graph once, as "
            "`g: graph`, and derive others from it",
            f->name.text);
    int64_t dim[GIR_MAX_RANK];
    el_locate(E, at);
    if (!el_dims(E, &f->type, dim, NULL)) return POISON;
    gir_space_id space = f->type.space == SPACE_NODE   ? E->node
                         : f->type.space == SPACE_EDGE ? gir_type_of(E->prog, E->graph->id)->edge
                                                       : 0;
    return leaf(E, f->name.text, GN_F32, space, (int)f->type.dims.n, dim);
}
