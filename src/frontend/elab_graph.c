/* Graphs and messages: what is derived from a graph, values at the ends of edges, sums over edges.
 * Keeps: a value of edges is one of the edges of one graph. */
#include "frontend/elab.h"
#include "base/data_name.h"

#include <string.h>

const el_graph *el_graph_of_space(elab *E, gir_space_id s)
{
    el_graph *g = GN_NEW(E->arena, el_graph);
    g->id = E->prog->spaces.p[s].graph;
    g->name = "its graph";
    for (int k = 0; k < E->schema->n_relations; k++)
        if (E->relation[k] && g->id == E->relation[k]->id) return E->relation[k];
    return g;
}

gir_id el_edge_ones(elab *E, const el_graph *g)
{
    gir_type t = gir_tensor(GN_F32, gir_type_of(E->prog, g->id)->edge, 0, NULL);
    return gir_const(E->prog, &t, 1.0);
}

/* One derived graph for one derivation, so that values of its edges go together wherever they were
 * made. */
static gir_id derive_id(elab *E, gn_span at, gir_op op, int n, const gir_id *in,
                        const gir_attr *attr)
{
    enum { MAX_DERIVED = 256 };
    const char *key = gn_arena_printf(E->arena, "%d %u %u", (int)op, (unsigned)in[0],
                                      n > 1 ? (unsigned)in[1] : 0);
    const uint32_t *known = attr ? NULL : gn_map_find(&E->derived, key);
    if (known) return *known;
    if (E->derived.n == MAX_DERIVED) {
        el_error(E, at, "more than %d derived graphs", (int)MAX_DERIVED);
        return 0;
    }
    el_locate(E, at);
    gir_id id = el_make(E, at, op, n, in, attr, NULL);
    if (id && attr) key = gn_arena_printf(E->arena, "%u", (unsigned)id);
    if (id) gn_map_put(&E->derived, key, id);
    return id;
}

const el_graph *el_derive_with(elab *E, gn_span at, gir_op op, const el_graph *g, gir_id with,
                               const gir_attr *attr)
{
    gir_id in[2] = {g->id, with};
    gir_id id = derive_id(E, at, op, with ? 2 : 1, in, attr);
    if (!id) return NULL;
    el_graph *d = GN_NEW(E->arena, el_graph);
    d->id = id;
    d->name = g->name;
    d->key = g->key;
    if (g->weight) { /* a new loop weighs 1 */
        el_locate(E, at);
        gir_type t = gir_tensor(GN_F32, gir_type_of(E->prog, g->id)->dst, 0, NULL);
        gir_id carried[4] = {id, g->id, g->weight, gir_const(E->prog, &t, 1.0)};
        d->weight = el_make(E, at, GIR_CARRY, 4, carried, NULL, NULL);
    }
    return d;
}

const el_graph *el_derive(elab *E, gn_span at, gir_op op, const el_graph *g)
{
    return el_derive_with(E, at, op, g, 0, NULL);
}

/* Takes a value of g's edges to `to`, which was derived from g in one or more steps. */
gir_id el_carry(elab *E, gn_span at, const el_graph *to, value e, value fill)
{
    enum { STEPS = 16 };
    gir_type t = *val_type(E, &e);
    gir_id from = E->prog->spaces.p[t.space].graph, way[STEPS];
    int n = 0;
    for (gir_id g = to->id; g != from; g = gir_in(E->prog, g, 0)) {
        if (n == STEPS || gir_at(E->prog, g)->n_in == 0) {
            el_error(E, at, "the graph was not derived from the one that has these edges");
            return 0;
        }
        way[n++] = g;
    }
    for (gir_id value_now = e.id; n > 0; e.id = value_now) {
        gir_id g = way[--n];
        gir_type want = t, ends = *gir_type_of(E->prog, g);
        want.space = ends.dst;
        gir_id filler;
        if (!el_broadcast_to(E, at, fill, &want, "what fills new loops", &filler)) return 0;
        gir_id in[4] = {g, gir_in(E->prog, g, 0), value_now, filler};
        value_now = el_make(E, at, GIR_CARRY, 4, in, NULL, NULL);
        if (!value_now) return 0;
    }
    return e.id;
}

static value rows_at(elab *E, const el_graph *g, int end)
{
    const gir_type *t = gir_type_of(E->prog, g->id);
    return (value){.kind = VAL_ROWS, .id = end == GIR_SRC ? t->src : t->dst};
}

const el_graph *el_whole_of(const elab *E, const el_graph *g)
{
    gir_id id = g->id;
    while (gir_at(E->prog, id)->op == GIR_FILTER || gir_at(E->prog, id)->op == GIR_SAMPLE)
        id = gir_in(E->prog, id, 0);
    const el_graph *r = g->key ? E->relation[g->key - 1] : NULL;
    return r && r->id == id ? r : g;
}

/* What the data have on the edges of a relation under this name; unset: nothing. */
static value field_of_edges(elab *E, const el_graph *g, const char *name, gn_span at)
{
    bool first = E->graph && g->id == E->graph->id, attr = strcmp(name, GN_WORD_ATTR) == 0;
    if (first && attr) return el_input(E, GN_WORD_ATTR, at);
    if (!g->key || E->relation[g->key - 1] != g) return (value){0};
    const char *relation = E->schema->relation[g->key - 1].name;
    int k = gn_schema_find_column(E->schema, gn_arena_printf(E->arena, "%s.%s", relation, name));
    return k >= 0 ? el_column(E, k) : attr ? NONE : (value){0};
}

value el_graph_field(elab *E, const ast_expr *e, value v)
{
    static const char *const fields[] = {"weight", "weighted", "attr", "src", "dst", "name"};
    const el_graph *g = v.graph, *whole = el_whole_of(E, g);
    el_locate(E, e->mark);
    if (strcmp(e->name, "weighted") == 0) return val_bool(g->weight != 0);
    if (strcmp(e->name, "weight") == 0)
        return val_tensor(g->weight ? g->weight : el_edge_ones(E, g), NULL);
    if (strcmp(e->name, "src") == 0) return rows_at(E, g, GIR_SRC);
    if (strcmp(e->name, "dst") == 0) return rows_at(E, g, GIR_DST);
    if (strcmp(e->name, "name") == 0) return val_string(g->name);
    value x = field_of_edges(E, whole, e->name, e->mark);
    if (x.kind == VAL_TENSOR && whole != g)
        return val_tensor(el_carry(E, e->mark, g, x, val_int(0)), x.u.axes);
    if (x.kind != VAL_UNSET) return x;
    if (strcmp(e->name, GN_WORD_ATTR) == 0)
        return el_error(E, e->mark,
                        "a derived graph has no attributes: `carry(g.attr, derived, fill)` takes "
                        "them there");
    return el_error(E, e->mark, "a graph has no field `%s`%s", e->name,
                    gn_diag_suggest(E->arena, e->name, fields, 6));
}

static bool is_inner(elab *E, gn_span at, value end)
{
    if (end.id == E->message) return true;
    el_error(E, at,
             "the end of another message's edge: `edge(...)` takes a value of those edges, before "
             "this message");
    return false;
}

value el_end_number(elab *E, gn_span at, value end)
{
    if (!is_inner(E, at, end)) return POISON;
    const gir_type *g = gir_type_of(E->prog, end.graph->id);
    gir_type t = gir_tensor(GN_I64, end.u.i == GIR_SRC ? g->src : g->dst, 0, NULL);
    el_locate(E, at);
    value row = val_tensor(el_make(E, at, GIR_IOTA, 0, NULL, &(gir_attr){.i = {-1}}, &t), NULL);
    return row.kind == VAL_POISON ? row : el_gather(E, at, row, end);
}

value el_gather(elab *E, gn_span at, value x, value end)
{
    if (!is_inner(E, at, end)) return POISON;
    if (val_is_number(&x)) return x;
    if (x.kind != VAL_TENSOR)
        return el_error(E, at, "%s has no value at an end of an edge", val_text(E, &x));
    const gir_type *t = val_type(E, &x), *g = gir_type_of(E->prog, end.graph->id);
    gir_space_id want = end.u.i == GIR_SRC ? g->src : g->dst;
    if (t->space != want) {
        const char *hint = E->prog->spaces.p[t->space].kind == GIR_EDGE
                               ? ": it is one of the edge, and used without an end"
                               : "";
        return el_error(E, at, "%s has no value at a node%s", val_text(E, &x), hint);
    }
    el_locate(E, at);
    gir_id in[2] = {end.graph->id, x.id};
    return val_tensor(el_make(E, at, GIR_GATHER, 2, in, &(gir_attr){.i = {end.u.i}}, NULL),
                      x.u.axes);
}

value el_look_up(elab *E, gn_span at, value x, value rows)
{
    gir_space_id space = val_type(E, &x)->space;
    if (E->prog->spaces.p[space].kind != GIR_NODE)
        return el_error(E, at,
                        "%s has no rows that integers number: `param w: kind[...]` has one for "
                        "each value of an input `kind`, `param w: node[...]` one for each node",
                        val_text(E, &x));
    if (gir_at(E->prog, rows.id)->op == GIR_NEAREST) {
        gir_id in[2] = {rows.id, x.id};
        el_locate(E, at);
        return val_tensor(el_make(E, at, GIR_ROWS_AT, 2, in, NULL, NULL), NULL);
    }
    if (val_type(E, &rows)->rank)
        return el_error(E, at, "rows are looked up by one integer each, not by %s",
                        val_text(E, &rows));
    el_locate(E, at);
    gir_id pick = el_make(E, at, GIR_INDEX, 1, &rows.id, &(gir_attr){.i = {space}}, NULL);
    if (!pick) return POISON;
    gir_id in[2] = {pick, x.id};
    return val_tensor(el_make(E, at, GIR_TAKE, 2, in, NULL, NULL), x.u.axes);
}

static gir_id scatter(elab *E, gn_span at, const el_graph *g, gir_id e, int end, int red)
{
    gir_id in[2] = {g->id, e};
    return el_make(E, at, GIR_SCATTER, 2, in, &(gir_attr){.i = {end, red}}, NULL);
}

/* Number of edges at each node, or the sum of their weights. */
value el_degree(elab *E, const el_graph *g, int end, bool weighted)
{
    gir_id e = weighted && g->weight ? g->weight : el_edge_ones(E, g);
    return val_tensor(scatter(E, (gn_span){0}, g, e, end, GIR_SUM), NULL);
}

/* A message as a value of the edges of g. */
static value on_edges(elab *E, const ast_expr *body, const el_graph *g, value m)
{
    gir_space_id edge = gir_type_of(E->prog, g->id)->edge;
    if (val_is_number(&m)) {
        gir_type t = gir_tensor(GN_F32, edge, 0, NULL);
        return val_tensor(gir_const(E->prog, &t, val_number(&m)), NULL);
    }
    if (m.kind == VAL_POISON) return m;
    if (m.kind != VAL_TENSOR)
        return el_error(E, body->span, "a message is a tensor or a number, not %s",
                        val_text(E, &m));
    gir_type t = *val_type(E, &m);
    if (t.space == edge) return m;
    if (t.space == 0) {
        t.space = edge;
        return val_tensor(gir_broadcast(E->prog, m.id, &t), m.u.axes);
    }
    if (E->prog->spaces.p[t.space].kind == GIR_EDGE)
        return el_error(E, body->span,
                        "a value of the edges of another graph; `carry(value, g, fill)` takes it "
                        "to a derived graph");
    return el_error(E, body->span,
                    "a message is a value of the edge, not %s: write `x[u]` or `x[v]`",
                    val_text(E, &m));
}

static value aggregate(elab *E, const ast_expr *e, const el_graph *g, value m, int red, bool mean)
{
    if (!gn_elem_is_float((gn_elem)val_type(E, &m)->elem))
        return el_error(E, e->mark,
                        "`%s` takes messages of floats, not %s; `float(x)` makes floats", e->name,
                        val_text(E, &m));
    value s = val_tensor(scatter(E, e->mark, g, m.id, GIR_DST, red), m.u.axes);
    if (!mean || s.kind == VAL_POISON) return s;
    value n = el_binary(E, e->mark, GIR_MAX, "max", el_degree(E, g, GIR_DST, false), val_float(1));
    gir_type t = *val_type(E, &s);
    gir_type flat = t;
    for (int k = 0; k < flat.rank; k++) flat.dim[k] = 1;
    n.id = gir_broadcast(E->prog, gir_reshape(E->prog, n.id, flat.rank, flat.dim), &t);
    return val_tensor(gir_op2(E->prog, GIR_DIV, s.id, n.id), s.u.axes);
}

/* Ends are those of one message: in another one inside of it they would be taken for that one's. */
static value ended(const elab *E, const el_graph *g, int end)
{
    return (value){.kind = VAL_END, .id = E->message, .u.i = end, .graph = g};
}

static value rebind(elab *E, const char *name, value v)
{
    value *old = el_local(E->frame, name), saved = old ? *old : (value){0};
    el_bind(E, E->frame, name, v);
    return saved;
}

/* A layer or function of the code's own goes before one that is built in. */
static bool is_own(elab *E, const char *name)
{
    const value *local = el_local(E->frame, name);
    return (local && (local->kind == VAL_INSTANCE || local->kind == VAL_DECL)) ||
           gn_map_find(el_visible(E), name);
}

/* f(u -> v in graph: body): one of those that are built in, or a function of the edges' values. */
value el_message(elab *E, const ast_expr *e)
{
    enum { KINDS = 5, EDGE = 4 };
    static const char *const names[KINDS + 1] = {"sum", "mean", "max", "min", "edge"};
    static const int red[] = {GIR_SUM, GIR_SUM, GIR_RED_MAX, GIR_RED_MIN};
    int which = e->name ? 0 : KINDS;
    while (which < KINDS && strcmp(e->name, names[which]) != 0) which++;
    if (which < KINDS && is_own(E, e->name)) which = KINDS;
    value f = which < KINDS ? NONE : e->name ? el_lookup(E, e->name, e->mark) : el_eval(E, e->c);
    if (!e->name && f.kind == VAL_POISON) return f;
    if (which == KINDS && f.kind != VAL_DECL && f.kind != VAL_BUILTIN && f.kind != VAL_INSTANCE)
        return el_error(E, e->mark,
                        "messages go into `sum`, `mean`, `max`, `min`, `edge` or a function of "
                        "values of edges, and %s is none%s",
                        e->name ? gn_arena_printf(E->arena, "`%s`", e->name) : val_text(E, &f),
                        e->name ? gn_diag_suggest(E->arena, e->name, names, KINDS) : "");
    if (which < KINDS && e->args.n)
        return el_error(E, e->args.p[0].value->span, "`%s` takes a message and nothing else",
                        e->name);
    value g = el_eval(E, e->a);
    if (g.kind == VAL_POISON) return g;
    if (g.kind != VAL_GRAPH)
        return el_error(E, e->a->span, "messages go over a graph, not over %s", val_text(E, &g));
    uint32_t outer = E->message;
    E->message = ++E->messages;
    value u = rebind(E, e->from, ended(E, g.graph, GIR_SRC)),
          v = rebind(E, e->to, ended(E, g.graph, GIR_DST));
    value m = el_eval(E, e->b);
    E->message = outer;
    el_bind(E, E->frame, e->to, v);
    el_bind(E, E->frame, e->from, u);
    el_locate(E, e->mark);
    m = on_edges(E, e->b, g.graph, m);
    if (m.kind == VAL_POISON || which == EDGE) return m;
    if (which == KINDS) return el_call_with_message(E, f, e, m);
    return aggregate(E, e, g.graph, m, red[which], which == 1);
}
