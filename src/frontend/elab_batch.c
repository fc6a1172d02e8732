/* `batch` and `fanout` of a train block: what a step is of.
 *
 * Rows are those of the loss's mask, which the training pass picks.  Of edges the block itself is:
 * in it the relation's name stands for those of its edges that are in the batch, which an input
 * tells (GN_BATCH_MASK). */
#include "base/data_name.h"
#include "frontend/elab.h"

#include <string.h>

/* N of `what(N)`, evaluated; NONE: it is something else. */
static value count_of(elab *E, const ast_expr *e, const char *what)
{
    bool is = e->kind == EXPR_CALL && e->a->kind == EXPR_NAME && e->args.n == 1 &&
              !e->args.p[0].name && strcmp(e->a->name, what) == 0;
    return is ? el_eval(E, e->args.p[0].value) : NONE;
}

/* The relation that a batch has edges of; NULL: it has none, or this was reported. */
static const el_graph *relation_of(elab *E, const ast_item *item)
{
    if (!item || !item->of.text) return NULL;
    int k = el_find_relation(E, item->of.text, item->of.span);
    return k < 0 ? NULL : el_relation(E, k);
}

/* Values of those edges as values of the batch's. */
static void carry_columns(elab *E, frame *f, const el_graph *all, const el_graph *batch, gn_span at)
{
    gir_space_id edges = gir_type_of(E->prog, all->id)->edge;
    for (uint32_t k = 0; k < f->values.n; k++) {
        value *v = &f->values.p[k];
        if (v->kind != VAL_TENSOR || val_type(E, v)->space != edges) continue;
        *v = val_tensor(el_carry(E, at, batch, *v, val_int(0)), v->u.axes);
    }
}

void el_bind_batch(elab *E, const ast_decl *d, frame *f)
{
    const ast_item *item = el_train_item(d, "batch");
    const el_graph *g = relation_of(E, item);
    if (!g) return;
    gn_span at = item->of.span;
    gir_type t = gir_tensor(GN_BOOL, gir_type_of(E->prog, g->id)->edge, 0, NULL);
    const char *name = gn_arena_printf(E->arena, "%s" GN_BATCH_MASK, item->of.text);
    bool first = E->graph && g->id == E->graph->id;
    if (first && E->shape->edge_dim > 0) el_bind(E, f, GN_WORD_ATTR, el_input(E, GN_WORD_ATTR, at));
    const el_graph *some = el_derive_with(E, at, GIR_FILTER, g, el_leaf(E, GIR_INPUT, name, &t),
                                          NULL);
    if (!some) return;
    carry_columns(E, f, g, some, at);
    el_bind(E, f, item->of.text, (value){.kind = VAL_GRAPH, .graph = some});
}

/* The column of which `over` says that it holds for the edges that batches are made of. */
static void over(elab *E, const ast_item *item, const el_graph *g, gn_batch_spec *s)
{
    value v = el_eval(E, item->over);
    const gir_node *n = v.kind == VAL_TENSOR ? gir_at(E->prog, v.id) : NULL;
    if (v.kind == VAL_POISON) return;
    if (n && n->op == GIR_INPUT && n->type.elem == GN_BOOL && n->type.rank == 0 &&
        n->type.space == gir_type_of(E->prog, g->id)->edge)
        s->over = n->attr.name;
    else
        el_error(E, item->over->span,
                 "batches are made of the edges where a mask of the data holds, such as "
                 "`%s.train_mask`; this is %s",
                 item->of.text, val_text(E, &v));
}

/* `batch = rows(1024)`, `batch = edges(512) of links` */
static void batch(elab *E, const ast_decl *d, gn_batch_spec *s)
{
    const ast_item *item = el_train_item(d, "batch");
    if (!item) return;
    value v = count_of(E, item->a, item->of.text ? "edges" : "rows");
    if (v.kind == VAL_POISON) return;
    if (v.kind != VAL_INT || v.u.i < 1) {
        el_error(E, item->a->span,
                 "`batch` is `rows(N)`, so many rows of the loss's mask a step, or `edges(N) of` "
                 "a relation");
        return;
    }
    const el_graph *g = relation_of(E, item);
    if (item->of.text && !g) return;
    s->size = v.u.i;
    s->of = item->of.text;
    if (item->over && g) over(E, item, g, s);
}

/* `fanout = [15, 10]`, where an element may be `all`; or `all` for all of it. */
static void fanout(elab *E, const ast_decl *d, gn_batch_spec *s)
{
    const ast_item *item;
    value v = el_train_setting(E, d, "fanout", &item);
    if (v.kind == VAL_UNSET || v.kind == VAL_POISON) return;
    bool all = v.kind == VAL_STRING && strcmp(v.u.s, "all") == 0;
    const value_list none = {0}, *l = v.kind == VAL_LIST ? v.u.list : &none;
    bool ok = all || (l->n > 0 && l->n <= GN_MOST_HOPS);
    for (uint32_t k = 0; k < l->n && ok; k++) {
        const value *e = &l->p[k];
        bool every = e->kind == VAL_STRING && strcmp(e->u.s, "all") == 0;
        ok = every || (e->kind == VAL_INT && e->u.i >= 0 && e->u.i <= INT32_MAX);
        s->fanout[k] = every ? -1 : e->kind == VAL_INT ? e->u.i : 0;
    }
    s->n_fanout = ok ? (int)l->n : 0;
    if (!ok)
        el_error(
            E, item->a->span,
            "`fanout` is a list of numbers of edges into a row, one a hop and `all` for all of "
            "them, as `[15, 10]`, of %d at most, or `all`; not %s",
            (int)GN_MOST_HOPS, val_text(E, &v));
    else if (!el_train_item(d, "batch"))
        el_error(E, item->name.span, "`fanout` goes with `batch`");
}

/* Which of the words the setting is; 0, the first, where there is none or it is wrong. */
static int word(elab *E, const ast_decl *d, const char *name, const char *const *words, size_t n)
{
    const ast_item *item = el_train_item(d, name);
    if (!item) return 0;
    int k = el_choice(E, item->a, words, n, gn_arena_printf(E->arena, "`%s`", name));
    if (!el_train_item(d, "batch") && !el_train_item(d, "sampler"))
        el_error(E, item->name.span, "`%s` goes with `batch`", name);
    return k < 0 ? 0 : k;
}

typedef struct sampler {
    const char *arg[2]; /* names of its sizes; NULL: it has one */
    int64_t usual;      /* of the second */
    bool steps;         /* of an epoch can be said */
} sampler;

static const sampler samplers[GN_SAMPLER_COUNT] = {
    [GN_SAMPLER_CLUSTER] = {{"parts", "each"}, 1, false},
    [GN_SAMPLER_SAINT_NODE] = {{"nodes", NULL}, 0, true},
    [GN_SAMPLER_SAINT_EDGE] = {{"edges", NULL}, 0, true},
    [GN_SAMPLER_SAINT_WALK] = {{"roots", "length"}, 2, true},
    [GN_SAMPLER_SHADOW] = {{"depth", "k"}, 0, false},
};

/* The place of an argument among those of a sampler, `steps` behind them; -1: reported. */
static int argument(elab *E, int which, const ast_arg *arg, int at)
{
    const sampler *z = &samplers[which];
    int n = z->arg[1] ? 2 : 1;
    for (int k = 0; arg->name && k < n; k++)
        if (!strcmp(arg->name, z->arg[k])) return k;
    if (arg->name && !strcmp(arg->name, "steps") && z->steps) return 2;
    if (!arg->name && at < n) return at;
    el_error(E, arg->value->span, "`%s` takes `%s`%s%s%s%s", gn_sampler_name[which], z->arg[0],
             n > 1 ? ", `" : "", n > 1 ? z->arg[1] : "", n > 1 ? "`" : "",
             z->steps ? ", `steps`" : "");
    return -1;
}

static void not_with_sampler(elab *E, const ast_decl *d, const char *const *names, const char *why)
{
    for (; *names; names++)
        if (el_train_item(d, *names))
            el_error(E, el_train_item(d, *names)->name.span, "`%s` does not go with `sampler`, %s",
                     *names, why);
}

/* `sampler = shadow(depth = 2, k = 10)`, of batches of rows or edges */
static void shadow(elab *E, const ast_decl *d, const ast_item *item, const int64_t size[2],
                   gn_batch_spec *s)
{
    static const char *const others[] = {"fanout", "exclude", "disjoint", NULL};
    if (size[0] > GN_MOST_HOPS)
        el_error(E, item->a->span, "`shadow` goes over %d hops at most, not %lld",
                 (int)GN_MOST_HOPS, (long long)size[0]);
    if (!el_train_item(d, "batch"))
        el_error(E, item->name.span, "`shadow` goes with `batch`, whose rows have a subgraph each");
    not_with_sampler(E, d, others, "which gives each row a subgraph of its own");
    s->apart = true;
    s->shadow[0] = size[0];
    s->shadow[1] = size[1];
    if (!el_train_item(d, "evaluate")) s->evaluate = true; /* as it is trained */
}

/* `sampler = cluster(parts = 50, each = 2)` */
static void sampler_setting(elab *E, const ast_decl *d, gn_batch_spec *s)
{
    const ast_item *item = el_train_item(d, "sampler");
    const ast_expr *e = item ? item->a : NULL;
    int64_t size[3] = {0, 0, 0};
    int k = GN_SAMPLER_CLUSTER;
    if (!item) return;
    bool call = e->kind == EXPR_CALL && e->a->kind == EXPR_NAME;
    while (call && k < GN_SAMPLER_COUNT && strcmp(gn_sampler_name[k], e->a->name)) k++;
    if (!call || k == GN_SAMPLER_COUNT) {
        el_error(E, e->span,
                 "`sampler` is `cluster(parts, each)`, `saint_node(nodes)`, `saint_edge(edges)`, "
                 "`saint_walk(roots, length)` or `shadow(depth, k)`");
        return;
    }
    size[1] = samplers[k].usual;
    for (uint32_t i = 0; i < e->args.n; i++) {
        int at = argument(E, k, &e->args.p[i], (int)i);
        value v = at < 0 ? POISON : el_eval(E, e->args.p[i].value);
        if (v.kind == VAL_POISON) return;
        if (v.kind != VAL_INT || v.u.i < 1 || v.u.i > INT32_MAX) {
            el_error(E, e->args.p[i].value->span, "a number of 1 to %d is needed, not %s",
                     INT32_MAX, val_text(E, &v));
            return;
        }
        size[at] = v.u.i;
    }
    if (!size[0] || (samplers[k].arg[1] && !size[1])) {
        el_error(E, e->span, "`%s` needs `%s`", gn_sampler_name[k], samplers[k].arg[size[0] > 0]);
        return;
    }
    if (k == GN_SAMPLER_SHADOW) {
        shadow(E, d, item, size, s);
        return;
    }
    if (k == GN_SAMPLER_CLUSTER && size[1] > size[0]) {
        el_error(E, e->span, "a step has %lld of %lld parts", (long long)size[1],
                 (long long)size[0]);
        return;
    }
    s->sampler = (gn_sampler)k;
    s->sampled[0] = size[0];
    s->sampled[1] = size[1];
    s->steps = size[2];
    static const char *const others[] = {"batch",    "fanout", "draw",  "draw_by", "exclude",
                                         "disjoint", "before", "until", NULL};
    not_with_sampler(E, d, others, "which draws parts of the graph");
}

/* Is a column one number a row, and called so behind its owner's name? */
static bool is_called(const gn_schema_column *c, const char *word)
{
    const char *dot = strrchr(c->name, '.');
    return c->rank == 0 && dot && !strcmp(dot + 1, word);
}

/* `draw_by = weight`: of every relation that has such a column. */
static void draw_by(elab *E, const ast_decl *d, gn_batch_spec *s)
{
    const ast_item *item = el_train_item(d, "draw_by");
    if (!item) return;
    const char *word = item->a->kind == EXPR_NAME ? item->a->name : NULL;
    const char **names = GN_NEW_N(E->arena, const char *, E->schema->n_columns + 2);
    int n = 0;
    if (word && !strcmp(word, "weight") && E->shape->has_edge_weight) names[n++] = GN_NAME_WEIGHT;
    for (int k = 0; word && k < E->schema->n_columns; k++) {
        const gn_schema_column *c = &E->schema->column[k];
        bool known = n && !strcmp(names[0], c->name);
        if (c->on_edges && c->elem == GN_F32 && is_called(c, word) && !known) names[n++] = c->name;
    }
    s->draw_by = word;
    s->columns = names;
    if (!n)
        el_error(E, item->a->span,
                 "`draw_by` is a number that edges have, as `weight`: the data have none of this "
                 "name");
    else if (!s->n_fanout && !el_train_item(d, "sampler"))
        el_error(E, item->name.span, "`draw_by` goes with `fanout`");
}

/* Columns of rows and edges that are one whole number each, of that name; *n: how many. */
static const gn_time_column *find_times(elab *E, const char *word, int *n)
{
    gn_time_column *to = GN_NEW_N(E->arena, gn_time_column, E->schema->n_columns + 1);
    *n = 0;
    for (int k = 0; word && k < E->schema->n_columns; k++) {
        const gn_schema_column *c = &E->schema->column[k];
        if (is_called(c, word) && (c->elem == GN_I32 || c->elem == GN_I64))
            to[(*n)++] = (gn_time_column){c->name, c->elem};
    }
    return to;
}

/* `before = time`, `until = time`: rows of a batch are apart, and so is `disjoint = true`. */
static void apart(elab *E, const ast_decl *d, gn_batch_spec *s)
{
    const ast_item *before = el_train_item(d, "before"), *until = el_train_item(d, "until");
    const ast_item *time = before ? before : until, *item = el_train_item(d, "disjoint");
    int n = 0;
    value v = item ? el_eval(E, item->a) : (value){.kind = VAL_UNSET};
    if (item && v.kind != VAL_BOOL && v.kind != VAL_POISON)
        el_error(E, item->a->span, "`disjoint` is true or false, not %s", val_text(E, &v));
    s->apart = time || (v.kind == VAL_BOOL && v.u.truth);
    if (time && v.kind == VAL_BOOL && !v.u.truth)
        el_error(E, item->name.span, "`%s` makes rows of a batch disjoint", time->name.text);
    if (before && until)
        el_error(E, until->name.span,
                 "`before` and `until` do not go together: edges of the time "
                 "itself count with `until` alone");
    const ast_item *any = time ? time : item;
    if (any && !el_train_item(d, "batch"))
        el_error(E, any->name.span, "`%s` goes with `batch`", any->name.text);
    if (s->apart && s->exclude)
        el_error(E, el_train_item(d, "exclude")->name.span,
                 "`exclude` does not go with `%s`: edges `before` a batch's own are never those",
                 any->name.text);
    if (s->draw == GN_DRAW_LAST && !time)
        el_error(E, el_train_item(d, "draw")->name.span,
                 "`draw = last` goes with `before` or `until`, which say what times are");
    if (!time) return;
    s->time = time->a->kind == EXPR_NAME ? time->a->name : NULL;
    s->before = before != NULL;
    s->times = find_times(E, s->time, &n);
    if (!n)
        el_error(E, time->a->span,
                 "`%s` is a whole number that rows or edges have, as `time`: the data have none of "
                 "this name",
                 time->name.text);
    s->evaluate = true; /* of all at once there is no time */
    const ast_item *full = el_train_item(d, "evaluate");
    if (full && full->a->kind == EXPR_NAME && !strcmp(full->a->name, "full"))
        el_error(E, full->name.span, "`%s` goes with `evaluate = batch`", time->name.text);
}

void el_batch(elab *E, const ast_decl *d, gn_batch_spec *s)
{
    static const char *const evaluates[] = {"full", "batch"};
    batch(E, d, s);
    fanout(E, d, s);
    s->draw = (gn_draw_how)word(E, d, "draw", gn_draw_how_name, GN_DRAW_COUNT);
    s->exclude = (gn_exclude)word(E, d, "exclude", gn_exclude_name, GN_EXCLUDE_COUNT);
    s->evaluate = word(E, d, "evaluate", evaluates, 2) == 1;
    draw_by(E, d, s);
    apart(E, d, s);
    sampler_setting(E, d, s);
    el_train_int(E, d, "accumulate", 1, &s->accumulate);
    const ast_item *item = el_train_item(d, "exclude");
    if (item && !s->of)
        el_error(E, item->name.span, "`exclude` goes with `batch = edges(N) of` a relation");
}
