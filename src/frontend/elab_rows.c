/* Rows and relations of the data, by the names that types have for them; families of them.
 * Makes: spaces, graphs and columns of the schema, each when it is first asked for. */
#include "frontend/elab.h"
#include "base/data_name.h"

#include <string.h>

/* One graph of one type of node. */
static const gn_schema_space one_space = {.name = GN_SPACE_NODE, .rows = -1};
static const gn_schema_relation one_relation = {GN_NAME_G, 0, 0, -1};
static const gn_schema one_graph = {
    .n_spaces = 1, .n_relations = 1, .space = &one_space, .relation = &one_relation};

const gn_schema *el_schema(const gn_data_shape *s) { return s->schema ? s->schema : &one_graph; }

gir_space_id el_space(elab *E, int k)
{
    if (!E->space[k]) E->space[k] = gir_space_add(E->prog, E->schema->space[k].name, GIR_NODE, -1);
    return E->space[k];
}

int el_space_index(const elab *E, gir_space_id s)
{
    for (int k = 0; k < E->schema->n_spaces; k++)
        if (s && E->space[k] == s) return k;
    return -1;
}

static int64_t fixed_edges(elab *E, gir_id g)
{
    const gir_node *n = gir_at(E->prog, g);
    gir_space *edge = &E->prog->spaces.p[n->type.edge];
    if (edge->size >= 0) return edge->size;
    int k = n->op == GIR_GRAPH ? gn_schema_find_relation(E->schema, n->attr.name) : -1;
    if (k >= 0) return edge->size = E->schema->relation[k].edges;
    if (!n->n_in || !gir_type_of(E->prog, gir_in(E->prog, g, 0))->is_graph) return -1;
    if (n->op == GIR_SELF_LOOPS && el_fixed_rows(E, n->type.dst) < 0) return -1;
    /* fewer than are drawn are found out when data are bound */
    if (fixed_edges(E, gir_in(E->prog, g, 0)) < 0)
        return edge->size = n->op == GIR_SAMPLE ? n->attr.i[0] : -1;
    return edge->size = gir_known_edges(E->prog, g);
}

int64_t el_fixed_rows(elab *E, gir_space_id s)
{
    gir_space *space = &E->prog->spaces.p[s];
    if (space->size >= 0) return space->size;
    if (space->kind == GIR_EDGE) return fixed_edges(E, space->graph);
    int k = el_space_index(E, s);
    return k < 0 ? -1 : (space->size = E->schema->space[k].rows);
}

const el_graph *el_relation(elab *E, int k)
{
    if (E->relation[k]) return E->relation[k];
    const gn_schema_relation *r = &E->schema->relation[k];
    el_graph *g = GN_NEW(E->arena, el_graph);
    gir_space_id src = el_space(E, r->src), dst = el_space(E, r->dst);
    g->id = gir_graph(E->prog, r->name, src, dst);
    g->name = r->name;
    g->key = k + 1;
    E->relation[k] = g;
    const char *weight = gn_arena_printf(E->arena, "%s.weight", r->name);
    int column = gn_schema_find_column(E->schema, weight);
    if (column >= 0) g->weight = el_column(E, column).id;
    return g;
}

value el_decoded(elab *E, const char *name, gn_elem codes, const gir_type *t)
{
    gir_type as = *t, column = gir_tensor(GN_F32, 0, t->rank, t->dim);
    as.elem = (uint8_t)codes;
    gir_id x = gir_cast(E->prog, el_leaf(E, GIR_INPUT, name, &as), GN_F32);
    if (codes != GN_U8) return val_tensor(x, NULL);
    const char *step = gn_arena_printf(E->arena, GN_CODES_STEP, name),
               *least = gn_arena_printf(E->arena, GN_CODES_LEAST, name);
    gir_id by = gir_broadcast(E->prog, el_leaf(E, GIR_INPUT, step, &column), t);
    gir_id from = gir_broadcast(E->prog, el_leaf(E, GIR_INPUT, least, &column), t);
    gir_id scaled = gir_op2(E->prog, GIR_MUL, x, by);
    return val_tensor(gir_op2(E->prog, GIR_ADD, scaled, from), NULL);
}

value el_column(elab *E, int k)
{
    const gn_schema_column *c = &E->schema->column[k];
    gir_space_id over = c->on_edges ? gir_type_of(E->prog, el_relation(E, c->over)->id)->edge
                                    : el_space(E, c->over);
    gir_type t = gir_tensor(c->elem, over, c->rank, c->dim);
    if (c->codes != GN_F32) return el_decoded(E, c->name, c->codes, &t);
    return val_tensor(el_leaf(E, GIR_INPUT, c->name, &t), NULL);
}

const char *el_space_text(elab *E, gir_space_id s)
{
    const gir_space *p = &E->prog->spaces.p[s];
    if (p->kind == GIR_EDGE) {
        const gir_node *g = p->graph ? gir_at(E->prog, p->graph) : NULL;
        bool leaf = g && g->op == GIR_GRAPH && strcmp(g->attr.name, GN_NAME_G);
        return leaf ? gn_arena_printf(E->arena, "edge.%s", g->attr.name) : "edge";
    }
    if (p->kind != GIR_NODE) return "";
    const char *name = p->name;
    if (strchr(name, '.')) return name; /* a row for each number that a column may have */
    bool plain = !strcmp(name, GN_SPACE_NODE) || !strcmp(name, GN_SPACE_GRAPH);
    return plain ? name : gn_arena_printf(E->arena, "node.%s", name);
}

const char *el_relation_text(elab *E, const gir_type *g)
{
    const char *from = el_space_text(E, g->src);
    return gn_arena_printf(E->arena, "%s -> %s", from, el_space_text(E, g->dst));
}

/* The rows or relations that there are, for messages. */
static const char *known(elab *E, bool relations)
{
    enum { SHOWN = 8 };
    gn_buf b = {.arena = E->arena};
    const gn_schema *s = E->schema;
    int n = relations ? s->n_relations : s->n_spaces;
    gn_buf_add(&b, "");
    for (int k = E->shape->typed; k < n && k < SHOWN + E->shape->typed; k++) {
        const char *name = relations ? s->relation[k].name : s->space[k].name;
        bool node = !relations && strcmp(name, GN_SPACE_NODE) && strcmp(name, GN_SPACE_GRAPH);
        gn_buf_printf(&b, "%s`%s%s`", b.n ? ", " : "", node ? "node." : "", name);
    }
    if (n > SHOWN + E->shape->typed) gn_buf_add(&b, ", ...");
    return b.p;
}

int el_find_space(elab *E, const char *name, gn_span at)
{
    int k = gn_schema_find_space(E->schema, name);
    if (k > 0 || (k == 0 && !E->shape->typed)) return k;
    el_error(E, at, "the data have no rows `%s%s`: they have %s",
             strcmp(name, GN_SPACE_NODE) && strcmp(name, GN_SPACE_GRAPH) ? "node." : "", name,
             known(E, false));
    return -1;
}

int el_find_relation(elab *E, const char *name, gn_span at)
{
    int k = gn_schema_find_relation(E->schema, name);
    if (k > 0 || (k == 0 && !E->shape->typed)) return k;
    el_error(E, at, "the data have no relation `%s`: they have %s", name, known(E, true));
    return -1;
}

/* A variable's name in frames, where no name of the language can be. */
static const char *hidden(elab *E, const char *variable)
{
    return gn_arena_printf(E->arena, " %s", variable);
}

/* Bare `node` in a layer is a variable: any type of node, the same in all of its inputs. */
static const char *variable_of(elab *E, const ast_rows *r)
{
    bool layer = E->frame->decl && E->frame->decl->kind == DECL_LAYER;
    if (r->space == SPACE_VARIABLE) return hidden(E, r->name);
    return layer && r->space == SPACE_NODE && !r->name ? hidden(E, GN_SPACE_NODE) : NULL;
}

static bool edges_fit(elab *E, const ast_rows *r, gir_space_id s)
{
    if (E->prog->spaces.p[s].kind != GIR_EDGE) return false;
    if (!r->name) return true;
    value *g = el_local(E->frame, r->name);
    if (g && g->kind == VAL_GRAPH) return gir_type_of(E->prog, g->graph->id)->edge == s;
    int k = el_find_relation(E, r->name, r->span);
    return k >= 0 && gir_type_of(E->prog, el_relation(E, k)->id)->edge == s;
}

bool el_rows_fit(elab *E, const ast_rows *r, gir_space_id s)
{
    gir_space_kind kind = E->prog->spaces.p[s].kind;
    const char *variable = variable_of(E, r);
    if (variable) {
        if (kind != GIR_NODE) return false;
        value *bound = el_local(E->frame, variable);
        if (bound) return bound->id == s;
        el_bind(E, E->frame, variable, (value){.kind = VAL_ROWS, .id = s});
        return true;
    }
    int k;
    switch (r->space) {
    case SPACE_NODE:
        k = el_find_space(E, r->name ? r->name : GN_SPACE_NODE, r->span);
        return k >= 0 && el_space(E, k) == s;
    case SPACE_EDGE: return edges_fit(E, r, s);
    case SPACE_GRAPH:
        k = gn_schema_find_space(E->schema, GN_SPACE_GRAPH);
        return k < 0 ? kind == GIR_NONE : el_space(E, k) == s;
    case SPACE_ANY: return true;
    default: return kind == GIR_NONE;
    }
}

/* The place in the schema of the rows that a model's input names; -1: reported. */
static int rows_named(elab *E, const ast_rows *r)
{
    if (r->space == SPACE_VARIABLE) {
        el_error(E, r->span,
                 "`%s` stands for rows in a layer; a model's are `node`, `node.NAME` or "
                 "`graph`: the data have %s",
                 r->name, known(E, false));
        return -1;
    }
    const char *name = r->name ? r->name : r->space == SPACE_GRAPH ? GN_SPACE_GRAPH : GN_SPACE_NODE;
    return el_find_space(E, name, r->span);
}

/* The column that integers come of, unchanged; -1: of none. */
static int column_behind(const elab *E, gir_id v)
{
    while (gir_at(E->prog, v)->op == GIR_CARRY) v = gir_in(E->prog, v, 2);
    const gir_node *n = gir_at(E->prog, v);
    return n->op == GIR_INPUT ? gn_schema_find_column(E->schema, n->attr.name) : -1;
}

int64_t el_values(elab *E, const value *v, const char **name)
{
    int k = val_type(E, v)->elem == GN_I32 ? column_behind(E, v->id) : -1;
    if (k < 0 || E->schema->column[k].classes < 1) return 0;
    *name = E->schema->column[k].name;
    return E->schema->column[k].classes;
}

/* A row for each number that integers may be. */
static bool rows_of_values(elab *E, const ast_rows *r, const value *v, const char **name,
                           int64_t *rows)
{
    *rows = el_values(E, v, name);
    if (!*rows)
        el_error(E, r->span, "`%s` is %s: how many different integers that are is not known",
                 r->name, val_text(E, v));
    return *rows > 0;
}

bool el_rows_of(elab *E, const ast_rows *r, const char **name, int64_t *rows)
{
    const char *variable = variable_of(E, r);
    value *bound = variable ? el_local(E->frame, variable) : NULL;
    value *v = r->space == SPACE_VARIABLE && !bound ? el_local(E->frame, r->name) : NULL;
    if (v && v->kind == VAL_TENSOR) return rows_of_values(E, r, v, name, rows);
    int k = -1;
    if (bound)
        k = el_space_index(E, (gir_space_id)bound->id);
    else if (r->space == SPACE_NODE || r->space == SPACE_GRAPH || r->space == SPACE_VARIABLE)
        k = rows_named(E, r);
    else
        el_error(E, r->span, "these are no rows of nodes or graphs");
    if (k < 0) return false;
    *name = E->schema->space[k].name;
    *rows = E->schema->space[k].rows;
    if (*rows > 0) return true;
    el_error(E, r->span,
             *rows ? "how many rows `%s` has is not known before data are bound"
                   : "the data have no rows of `%s`",
             el_space_text(E, el_space(E, k)));
    return false;
}

gir_space_id el_space_named(elab *E, const char *name)
{
    int k = gn_schema_find_space(E->schema, name), c = gn_schema_find_column(E->schema, name);
    if (k >= 0) return el_space(E, k);
    if (!E->value_space[c])
        E->value_space[c] = gir_space_add(E->prog, name, GIR_NODE, E->schema->column[c].classes);
    return E->value_space[c];
}

value el_input_relation(elab *E, const ast_formal *f)
{
    const ast_type *t = &f->type;
    int k = el_find_relation(E, f->name.text, f->name.span);
    if (k < 0) return POISON;
    int src = rows_named(E, &t->rows), dst = src < 0 ? -1 : rows_named(E, &t->to);
    if (dst < 0) return POISON;
    const gn_schema_relation *r = &E->schema->relation[k];
    const el_graph *g = el_relation(E, k);
    if (r->src != src || r->dst != dst)
        return el_error(E, t->span, "`%s` of the data is %s", f->name.text,
                        el_relation_text(E, gir_type_of(E->prog, g->id)));
    return (value){.kind = VAL_GRAPH, .graph = g};
}

/* Whose column an input is: "paper", "writes"; NULL: reported. */
static const char *owner_of(elab *E, const ast_rows *r)
{
    if (r->space == SPACE_EDGE) {
        int k = el_find_relation(E, r->name ? r->name : GN_NAME_G, r->span);
        return k < 0 ? NULL : E->schema->relation[k].name;
    }
    int k = rows_named(E, r);
    return k < 0 ? NULL : E->schema->space[k].name;
}

int el_input_column(elab *E, const ast_formal *f, bool only)
{
    const ast_rows *r = &f->type.rows;
    bool edges = r->space == SPACE_EDGE;
    const char *owner = r->name                   ? r->name
                        : edges                   ? GN_NAME_G
                        : r->space == SPACE_GRAPH ? GN_SPACE_GRAPH
                                                  : GN_SPACE_NODE;
    if (r->space != SPACE_NODE && r->space != SPACE_GRAPH && !edges) return -1;
    const char *name = gn_arena_printf(E->arena, "%s.%s", owner, f->name.text);
    int k = gn_schema_find_column(E->schema, name);
    if (k >= 0 || !only) return k;
    name = gn_arena_printf(E->arena, "%s.%s", owner, edges ? GN_WORD_ATTR : GN_NAME_X);
    return gn_schema_find_column(E->schema, name);
}

value el_missing_column(elab *E, const ast_formal *f)
{
    const char *owner = owner_of(E, &f->type.rows);
    if (!owner) return POISON;
    gn_buf b = {.arena = E->arena};
    size_t n = strlen(owner);
    gn_buf_add(&b, "");
    for (int k = 0; k < E->schema->n_columns; k++) {
        const char *name = E->schema->column[k].name;
        if (!strncmp(name, owner, n) && name[n] == '.')
            gn_buf_printf(&b, "%s`%s`", b.n ? ", " : ": they have ", name + n + 1);
    }
    return el_error(E, f->name.span, "the data have nothing on `%s` for the input `%s`%s", owner,
                    f->name.text, b.p);
}

/* families ------------------------------------------------------------------------------------- */

value el_family(elab *E, uint32_t n)
{
    value l = val_list(E, n);
    l.u.list->key = GN_NEW_N(E->arena, value, n ? n : 1);
    return l;
}

static value all_relations(elab *E)
{
    int n = E->schema->n_relations, first = n > 1 ? E->shape->typed || E->shape->kinds : 0;
    value l = el_family(E, (uint32_t)(n - first));
    for (int k = first; k < n; k++) {
        value g = {.kind = VAL_GRAPH, .graph = el_relation(E, k)};
        l.u.list->p[k - first] = l.u.list->key[k - first] = g;
    }
    return l;
}

/* Columns of one name over all types of nodes, or the types themselves. */
static value all_nodes(elab *E, const ast_type *t)
{
    const gn_schema *s = E->schema;
    bool rows = !t->any_dims && !t->dims.n;
    GN_VEC(value) found = {0}, keys = {0};
    for (int k = E->shape->typed; k < s->n_spaces; k++) {
        const char *name = gn_arena_printf(E->arena, "%s.%s", s->space[k].name, GN_NAME_X);
        int column = gn_schema_find_column(s, name);
        value key = {.kind = VAL_ROWS, .id = el_space(E, k)}, v = key;
        if (!rows && k == 0)
            v = E->shape->n_features > 0 ? el_input(E, GN_NAME_X, t->span) : NONE;
        else if (!rows)
            v = column < 0 ? NONE : el_column(E, column);
        if (v.kind == VAL_NONE) continue;
        GN_PUSH(E->arena, found, v);
        GN_PUSH(E->arena, keys, key);
    }
    value l = val_list(E, found.n);
    l.u.list->p = found.p;
    l.u.list->key = keys.p ? keys.p : GN_NEW(E->arena, value);
    if (found.n || rows) return l;
    return el_error(E, t->span, "no rows of the data have features");
}

value el_input_family(elab *E, const ast_formal *f)
{
    const ast_type *t = &f->type;
    if (t->is_graph && !t->is_relation) return all_relations(E);
    if (t->rows.space == SPACE_NODE && !t->rows.name) return all_nodes(E, t);
    return el_error(E, t->span, "`each` stands before `graph` or `node[...]`");
}

/* The rows that a key of a family names: themselves, `node`, or those of a tensor. */
static gir_space_id rows_of(const elab *E, const value *v)
{
    if (v->kind == VAL_SPACE && !strcmp(v->u.s, GN_SPACE_NODE)) return E->space[0];
    if (v->kind == VAL_ROWS) return (gir_space_id)v->id;
    return v->kind == VAL_TENSOR ? val_type(E, v)->space : 0;
}

bool el_same_key(const elab *E, const value *a, const value *b)
{
    if (a->kind == VAL_GRAPH && b->kind == VAL_GRAPH)
        return a->graph->key ? a->graph->key == b->graph->key : a->graph->id == b->graph->id;
    gir_space_id s = rows_of(E, a);
    return s && s == rows_of(E, b);
}

value el_of_family(elab *E, const ast_expr *e, value list, value key)
{
    const value_list *l = list.u.list;
    for (uint32_t k = 0; k < l->n; k++)
        if (el_same_key(E, &l->key[k], &key)) return l->p[k];
    return el_error(E, e->mark, "nothing here is of %s", val_text(E, &key));
}

const char *el_key_name(elab *E, const value *key)
{
    if (key->kind == VAL_GRAPH) return key->graph->name;
    int k = el_space_index(E, rows_of(E, key));
    return k < 0 ? GN_SPACE_NODE : E->schema->space[k].name;
}
