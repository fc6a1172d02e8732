/* Modules of tensor IR: a program from text, and the model that an executable has in the place of
 * an elaborated one. */
#include "api/api.h"
#include "base/data_name.h"

#include <string.h>

#define GN_LOSS "loss"

/* Parsing -------------------------------------------------------------------------------------- */

/* What the verifier finds in a text is the text's fault. */
static gn_status *check_program(const gir_program *p, const char *name)
{
    gn_status *s = gir_verify(p);
    if (!s) return NULL;
    gn_status *said = GN_ERROR(GN_ERR_MODEL, "%s: %s", name, gn_status_message(s));
    gn_status_free(s);
    return said;
}

static bool begins(const char *name, const char *word)
{
    return !strncmp(name, word, strlen(word));
}

static gn_status *check_name(const char *module, const char *what, const char *name)
{
    static const char *const taken[] = {GN_COTANGENT, GN_GRADIENT, "kept."};
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
        if (begins(name, taken[k]))
            GN_FAIL(GN_ERR_MODEL, "%s: %s '%s': names with '%s' are of gradients", module, what,
                    name, taken[k]);
    return NULL;
}

static gn_status *check_leaf(const gir_program *p, const gir_node *n, const char *module)
{
    const gir_space *src = &p->spaces.p[n->type.src], *dst = &p->spaces.p[n->type.dst];
    if (n->op == GIR_PATTERN)
        GN_FAIL(GN_ERR_MODEL,
                "%s: a `pattern` is of data that are bound by their non-zeros, which "
                "tensor IR has as relations",
                module);
    if (n->op == GIR_INPUT) return check_name(module, "input", n->attr.name);
    bool g = n->op == GIR_GRAPH && !strcmp(n->attr.name, GN_NAME_G);
    if (g && (strcmp(src->name, GN_SPACE_NODE) != 0 || n->type.src != n->type.dst))
        GN_FAIL(GN_ERR_MODEL,
                "%s: graph '" GN_NAME_G "' goes from '%s' to '%s'; that name is for one from "
                "'" GN_SPACE_NODE "' to itself",
                module, src->name, dst->name);
    bool floats = n->op == GIR_STATE && gn_elem_is_float((gn_elem)n->type.elem);
    if (floats && n->type.elem != GN_F32)
        GN_FAIL(GN_ERR_MODEL, "%s: state '%s' is %s; those of floats are f32", module, n->attr.name,
                gn_elem_name((gn_elem)n->type.elem));
    if (n->op == GIR_STATE && n->type.space && p->spaces.p[n->type.space].size < 0)
        GN_FAIL(GN_ERR_MODEL,
                "%s: state '%s' has a row for each of '%s', whose number is not known", module,
                n->attr.name, p->spaces.p[n->type.space].name);
    return NULL;
}

static bool is_loss(const gir_output *o)
{
    return o->kind == GIR_OUTPUT && !strcmp(o->name, GN_LOSS);
}

static bool has_loss(const gir_program *p)
{
    bool found = false;
    for (uint32_t k = 0; k < p->outputs.n; k++) found = found || is_loss(&p->outputs.p[k]);
    return found;
}

static gn_status *check_outputs(const gir_program *p, const char *module)
{
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        const gir_type *t = gir_type_of(p, o->value);
        bool number = !t->is_graph && !t->space && !t->rank && t->elem == GN_F32;
        if (is_loss(o) && !number)
            GN_FAIL(GN_ERR_MODEL, "%s: output '" GN_LOSS "' is of training, and one number of f32",
                    module);
        GN_TRY(check_name(module, "output", o->name));
        for (uint32_t j = 0; j < k; j++)
            if (p->outputs.p[j].kind == o->kind && !strcmp(p->outputs.p[j].name, o->name))
                GN_FAIL(GN_ERR_MODEL, "%s: there are two outputs '%s'", module, o->name);
    }
    if (!gir_result(p, 0) && !has_loss(p))
        GN_FAIL(GN_ERR_MODEL, "%s: the program has no output", module);
    return NULL;
}

static gn_status *parse(gnnc_module *m, const char *text, size_t n, const char *name)
{
    API_GUARD(&m->arena);
    name = gn_arena_strdup(&m->arena, name);
    text = gn_arena_strndup(&m->arena, text, n);
    GN_TRY(gir_parse(&m->arena, text, n, name, &m->ir));
    GN_TRY(check_program(m->ir, name));
    for (gir_id v = 1; v < m->ir->nodes.n; v++) GN_TRY(check_leaf(m->ir, gir_at(m->ir, v), name));
    GN_TRY(check_outputs(m->ir, name));
    m->arena.oom = NULL;
    return NULL;
}

gnnc_status *gnnc_module_parse_ir(const gnnc_context *c, const char *text, size_t n,
                                  const char *name, gnnc_module **out)
{
    API_GIVES(out);
    if (n) API_NEEDS(text);
    return api_out(
        api_new_module(c, text ? text : "", text ? n : 0, name ? name : "<program>", parse, out));
}

/* Compiling ------------------------------------------------------------------------------------ */

gn_status *api_check_ir_options(const gnnc_compile_options *o)
{
    const struct {
        const char *option;
        bool set;
    } refused[] = {
        {"model", o->model != NULL},
        {"defines", o->n_defines != 0},
        {"features", o->features != 0},
        {"classes", o->classes != 0},
        {"edge_features", o->edge_features != 0},
        {"edge_weights", o->edge_weights},
        {"rate_changes", o->rate_changes},
        {"fixed", o->fixed},
        {"sparse", o->sparse},
        {"dynamic", o->dynamic && strcmp(o->dynamic, "true") != 0},
        {"ranges", o->ranges != NULL},
        {"buckets", o->buckets != NULL},
        {"expect_nodes", o->expect_nodes != 0},
        {"spaces", o->n_spaces != 0},
        {"relations", o->n_relations != 0},
        {"columns", o->n_columns != 0},
        {"labelled", o->labelled != NULL},
        {"by_rows", o->by_rows},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        if (refused[k].set)
            GN_FAIL(GN_ERR_USAGE,
                    "gnnc_compile: `%s` is for models of the language, not for "
                    "programs of tensor IR",
                    refused[k].option);
    return NULL;
}

typedef struct maker {
    gn_arena *arena;
    const gir_program *p;
    GN_VEC(gn_schema_space) spaces;
    GN_VEC(gn_schema_relation) relations;
    int *place; /* by space of the program; -1: no rows of data */
} maker;

/* The first space is "node", the first relation "g". */
static gn_schema *make_schema(maker *m)
{
    const gir_program *p = m->p;
    gn_schema *s = GN_NEW(m->arena, gn_schema);
    m->place = GN_NEW_N(m->arena, int, p->spaces.n + 1);
    GN_PUSH(m->arena, m->spaces, ((gn_schema_space){.name = GN_SPACE_NODE, .rows = -1}));
    for (uint32_t k = 0; k < p->spaces.n; k++) {
        const gir_space *from = &p->spaces.p[k];
        bool rows = k && (from->kind == GIR_NODE || from->kind == GIR_GRAPHS) && !from->graph;
        bool node = rows && !strcmp(from->name, GN_SPACE_NODE);
        m->place[k] = !rows ? -1 : node ? 0 : (int)m->spaces.n;
        if (node) m->spaces.p[0].rows = from->size;
        if (rows && !node)
            GN_PUSH(m->arena, m->spaces,
                    ((gn_schema_space){.name = from->name, .rows = from->size}));
    }
    GN_PUSH(m->arena, m->relations, ((gn_schema_relation){GN_NAME_G, 0, 0, -1}));
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_GRAPH || !strcmp(n->attr.name, GN_NAME_G)) continue;
        gn_schema_relation r = {n->attr.name, m->place[n->type.src], m->place[n->type.dst], -1};
        GN_PUSH(m->arena, m->relations, r);
    }
    s->n_spaces = (int)m->spaces.n;
    s->space = m->spaces.p;
    s->n_relations = (int)m->relations.n;
    s->relation = m->relations.p;
    return s;
}

static void add_parameter(const gir_program *p, const gir_node *n, gn_param *to)
{
    const gir_space *over = &p->spaces.p[n->type.space];
    *to = (gn_param){.name = n->attr.name,
                     .file_name = n->attr.name,
                     .type = n->type,
                     .rows = n->type.space ? over->size : 1,
                     .over = n->type.space ? over->name : NULL,
                     .init = GN_INIT_ZEROS,
                     .trainable = true};
    to->type.space = 0;
    if (to->over) to->file_dim[to->file_rank++] = to->rows;
    for (int d = 0; d < n->type.rank; d++) to->file_dim[to->file_rank++] = n->type.dim[d];
    for (uint32_t k = 0; k < p->outputs.n; k++) /* running statistics */
        if (p->outputs.p[k].kind == GIR_UPDATE && !strcmp(p->outputs.p[k].name, to->name))
            to->trainable = false;
}

/* Results alone: what inference gives. */
static gir_program *results_alone(gn_arena *a, const gir_program *from)
{
    gir_program *p = gir_clone(a, from);
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_OUTPUT && !is_loss(&p->outputs.p[k]))
            p->outputs.p[n++] = p->outputs.p[k];
    p->outputs.n = n;
    p->name = "eval";
    return p;
}

/* A program that has a loss and replaces states is a training step as it is. */
static gn_status *make_step(gn_arena *a, const gir_program *p, gir_program **out)
{
    bool loss = has_loss(p), updates = false;
    for (uint32_t k = 0; k < p->outputs.n; k++)
        updates = updates || p->outputs.p[k].kind == GIR_UPDATE;
    if (!loss || !updates)
        GN_FAIL(GN_ERR_USAGE,
                "train: a program of tensor IR is a training step by its output '" GN_LOSS "' and "
                "its updates of states; %s has no %s",
                p->name, loss ? "updates" : "such output");
    *out = gir_clone(a, p);
    return NULL;
}

gn_status *api_model_of_ir(gn_arena *a, const gir_program *p, bool train, gn_data_shape *shape,
                           gn_model **out)
{
    gn_model *m = GN_NEW(a, gn_model);
    maker z = {.arena = a, .p = p};
    gn_schema *schema = make_schema(&z);
    m->name = p->name;
    m->schema = schema;
    m->eval = results_alone(a, p);
    m->forward = gir_clone(a, p);
    if (train) GN_TRY(make_step(a, p, &m->step));
    m->params = GN_NEW_N(a, gn_param, p->nodes.n);
    m->hyperparameters = m->warnings = m->optimizer = "";
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op == GIR_STATE && n->type.elem == GN_F32)
            add_parameter(p, n, &m->params[m->n_params++]);
    }
    bool one_graph = gir_leaf_by_name(p, GIR_GRAPH, GN_NAME_G) && schema->n_relations == 1 &&
                     schema->n_spaces == 1;
    shape->schema = one_graph ? NULL : schema;
    shape->typed = true;
    for (uint32_t k = 1; k < p->spaces.n; k++)
        if (z.place[k] == 0) shape->typed = false;
    *out = m;
    return NULL;
}
