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
    E->space = GN_NEW_N(E->arena, gir_space_id, E->schema->n_spaces);
    E->relation = GN_NEW_N(E->arena, const el_graph *, E->schema->n_relations);
    E->value_space = GN_NEW_N(E->arena, gir_space_id, E->schema->n_columns + 1);
    E->node = E->shape->typed ? 0 : el_space(E, 0);
    E->rng = 0;
    E->sites = 0;
    E->output = (value){0};
    gn_map_init(&E->leaves, E->arena);
    gn_map_init(&E->derived, E->arena);
    gn_map_init(&E->buffer_index, E->arena);
    E->buffers.n = E->buffers.cap = 0;
    E->buffers.p = NULL;
    E->graph = NULL;
    if (E->shape->typed) return;
    el_graph *g = GN_NEW(E->arena, el_graph);
    g->id = gir_graph(p, GN_NAME_G, E->node, E->node);
    g->name = GN_NAME_G;
    g->key = 1;
    if (E->shape->has_edge_weight) {
        gir_type t = gir_tensor(GN_F32, gir_type_of(p, g->id)->edge, 0, NULL);
        g->weight = el_leaf(E, GIR_INPUT, GN_NAME_WEIGHT, &t);
    }
    E->graph = E->relation[0] = g;
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
    if (n <= 0 && E->shape->typed && *name != 'C') return (value){0}; /* each type has its own */
    if (n > 0 && n <= EL_MAX_DIM) return val_int(n);
    if (n > 0) return el_error(E, at, "%lld %s are too many", (long long)n, what);
    return el_error(E, at, "`%s` is the number of %s, and the data has none%s", name, what,
                    help ? help : "");
}

/* The rows that labels and masks are over. */
static gir_space_id labelled(elab *E) { return el_space(E, E->schema->labelled); }

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
            return of[k].repeats ? leaf(E, of[k].times, GN_F32, labelled(E), 0, NULL).id : 0;
    return 0;
}

value el_input(elab *E, const char *name, gn_span at)
{
    const gn_data_shape *s = E->shape;
    bool mask = strcmp(name, GN_NAME_TRAIN_MASK) == 0 || strcmp(name, GN_NAME_VAL_MASK) == 0 ||
                strcmp(name, GN_NAME_TEST_MASK) == 0;
    el_locate(E, at);
    bool node = strcmp(name, GN_NAME_G) == 0 || strcmp(name, GN_NAME_X) == 0;
    if (E->shape->typed && (node || strcmp(name, GN_WORD_ATTR) == 0))
        return el_error(E, at,
                        "the data have several types of nodes, and no `%s`: a model takes them as "
                        "`gs: each graph, x: each node[...]`, or each by its name",
                        name);
    if (strcmp(name, GN_NAME_G) == 0) return (value){.kind = VAL_GRAPH, .graph = E->graph};
    if (strcmp(name, GN_NAME_X) == 0) {
        value f = el_data_dim(E, "F", at);
        if (f.kind != VAL_INT) return POISON;
        int k = gn_schema_find_column(E->schema, GN_NAME_X);
        gir_type t = gir_tensor(GN_F32, E->node, 1, &f.u.i);
        if (k >= 0 && E->schema->column[k].codes != GN_F32)
            return el_decoded(E, GN_NAME_X, E->schema->column[k].codes, &t);
        return val_tensor(el_leaf(E, GIR_INPUT, GN_NAME_X, &t), NULL);
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
    if (!mask) return leaf(E, GN_NAME_Y, GN_I32, labelled(E), 0, NULL);
    /* the loss on validation nodes is that of the training nodes with the mask exchanged */
    if (E->mode == MODE_VAL && strcmp(name, GN_NAME_TRAIN_MASK) == 0) name = GN_NAME_VAL_MASK;
    return leaf(E, name, GN_BOOL, labelled(E), 0, NULL);
}

bool el_is_typed(const ast_type *t)
{
    bool graphs = t->rows.space == SPACE_GRAPH && !t->is_graph;
    return t->each || t->is_relation || t->rows.name || t->has_elem || graphs;
}

const char *el_data_name(const ast_formal *f, bool only)
{
    const ast_type *t = &f->type;
    if (el_is_typed(t)) return NULL;
    if (t->is_graph) return only || strcmp(f->name.text, GN_NAME_G) == 0 ? GN_NAME_G : NULL;
    if (t->rows.space == SPACE_NODE && (only || strcmp(f->name.text, GN_NAME_X) == 0))
        return GN_NAME_X;
    return t->rows.space == SPACE_EDGE && (only || strcmp(f->name.text, GN_WORD_ATTR) == 0)
               ? GN_WORD_ATTR
               : NULL;
}

bool el_left_out(const elab *E, const ast_formal *f, const char *of)
{
    const gn_data_shape *s = E->shape;
    if (!f->value) return false;
    for (int k = 0; k < s->n_left_out; k++)
        if (!strcmp(s->left_out[k], f->name.text)) return true;
    if (f->type.is_graph && !f->type.each && !of)
        return gn_schema_find_relation(E->schema, f->name.text) < 0;
    if (f->type.each || f->type.rows.name || f->type.is_graph) return false;
    return !of && s->has_input && !s->has_input(s->ctx, f->name.text);
}

/* A column of the schema, whose elements are those that the input is declared of. */
static value column(elab *E, const ast_formal *f, int k)
{
    const gn_schema_column *c = &E->schema->column[k];
    value v = el_column(E, k);
    if (c->elem == f->type.elem) return v;
    const char *is = c->elem == GN_I32 ? "int" : c->elem == GN_BOOL ? "bool" : "float";
    return el_error(E, f->type.span,
                    "`%s` of the data are not such numbers: the type ends in "
                    "`of %s`",
                    c->name, is);
}

/* Data under a name that the data's format does not know. */
static value own_data(elab *E, const ast_formal *f)
{
    const ast_rows *r = &f->type.rows;
    int64_t dim[GIR_MAX_RANK];
    el_locate(E, f->name.span);
    if (!el_dims(E, &f->type, dim, NULL)) return POISON;
    bool rows = r->space == SPACE_NODE || r->space == SPACE_EDGE;
    if (f->type.has_elem && f->type.elem != GN_F32)
        return el_error(E, f->type.span, "the data have no integers or truths named `%s`",
                        f->name.text);
    if (rows && E->shape->typed) return el_missing_column(E, f);
    gir_space_id space = r->space == SPACE_NODE   ? E->node
                         : r->space == SPACE_EDGE ? gir_type_of(E->prog, E->graph->id)->edge
                                                  : 0;
    return leaf(E, f->name.text, GN_F32, space, (int)f->type.dims.n, dim);
}

/* An input of edges that the data have no attributes for. */
static value no_attributes(elab *E, const ast_formal *f, bool only)
{
    const char *elsewhere = gn_elsewhere(f->name.text);
    return el_error(E, f->name.span, "the data has no edge features for the input `%s`%s",
                    f->name.text,
                    elsewhere                     ? elsewhere
                    : E->shape->has_input && only ? ", and no array of that name"
                                                  : "");
}

value el_model_input(elab *E, const ast_formal *f, bool only)
{
    gn_span at = f->name.span;
    const char *of = el_data_name(f, only);
    if (el_left_out(E, f, of)) return (value){0};
    if (f->type.each) return el_input_family(E, f);
    bool relation = f->type.is_graph && gn_schema_find_relation(E->schema, f->name.text) > 0;
    if (f->type.is_relation || relation) {
        ast_formal as = *f;
        if (!f->type.is_relation) as.type.rows.space = as.type.to.space = SPACE_NODE;
        return el_input_relation(E, &as);
    }
    int k = f->type.is_graph ? -1 : el_input_column(E, f, only);
    if (k >= 0) return column(E, f, k);
    if (of) {
        value v = el_input(E, of, at);
        return v.kind == VAL_NONE && !f->value ? no_attributes(E, f, only) : v;
    }
    if (f->type.is_graph)
        return el_error(
            E, at,
            "the data have one graph, `g`, and nothing for the input `%s`: take the graph once, as "
            "`g: graph`, and derive others from it",
            f->name.text);
    bool typed = f->type.rows.name || f->type.rows.space == SPACE_GRAPH;
    if (f->value && typed) return (value){0};
    return typed ? el_missing_column(E, f) : own_data(E, f);
}
