/* Expressions to values: names, operators, indices, lists.  Numbers, truths and lists are computed
 * here and now; what is of tensors becomes operators of the program. */
#include "frontend/elab.h"
#include "base/data_name.h"
#include "frontend/elsewhere.h"

#include <math.h>
#include <string.h>

/* The default train block is none of the user's code, so it sees what stdlib sees. */
const gn_map *el_visible(const elab *E)
{
    return E->frame->file ? &E->stdlib_decls : &E->file_decls;
}

static const ast_decl *decl_named(elab *E, const char *name)
{
    const uint32_t *k = gn_map_find(el_visible(E), name);
    return k ? E->decls.p[*k] : NULL;
}

/* A name that nobody declared: what the language knows. */
static value constant(elab *E, const char *name)
{
    static const char *const spaces[] = {"node", "edge", "src", "dst"};
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++)
        if (strcmp(name, spaces[k]) == 0) return (value){.kind = VAL_SPACE, .u.s = spaces[k]};
    if (strcmp(name, "training") == 0) return val_bool(E->mode == MODE_TRAIN);
    if (strcmp(name, "pi") == 0) return val_float(3.14159265358979323846);
    if (strcmp(name, "inf") == 0) return val_float((double)INFINITY);
    const builtin *b = gn_builtin_find(name);
    return b ? (value){.kind = VAL_BUILTIN, .u.builtin = b} : (value){0};
}

const char *el_suggest_name(elab *E, const char *name)
{
    GN_VEC(const char *) all = {0};
    if (E->diags->errors >= GN_MAX_ERRORS) return "";
    for (uint32_t i = 0; i < E->frame->names.n; i++)
        if (E->frame->values.p[E->frame->names.values[i]].kind != VAL_UNSET)
            GN_PUSH(E->arena, all, E->frame->names.keys[i]);
    bool train = E->frame->decl && E->frame->decl->kind == DECL_TRAIN;
    if (train) GN_PUSH(E->arena, all, GN_NAME_G);
    for (int i = 0; train && i < GN_DATA_COUNT; i++)
        if (gn_data_word[i]) GN_PUSH(E->arena, all, gn_data_word[i]);
    const gn_map *decls = el_visible(E);
    for (uint32_t i = 0; i < decls->n; i++) GN_PUSH(E->arena, all, decls->keys[i]);
    const char *names[256];
    uint32_t n = gn_builtin_names(names, 256);
    for (uint32_t i = 0; i < n; i++) GN_PUSH(E->arena, all, names[i]);
    const char *near = gn_diag_suggest(E->arena, name, all.p, all.n);
    if (*near || !train) return near;
    return "; the data are `g`, `x`, `y`, `attr`, `train_mask`, `val_mask`, `test_mask`, and what "
           "an `input` declares";
}

value el_lookup(elab *E, const char *name, gn_span at)
{
    value *local = el_local(E->frame, name);
    if (local) return *local;
    const ast_decl *in = E->frame->decl;
    if (in && (in->kind == DECL_MODEL || in->kind == DECL_TRAIN)) {
        value v = el_data_dim(E, name, at);
        if (v.kind != VAL_UNSET) return v;
    }
    if (in && in->kind == DECL_TRAIN) {
        value v = el_input(E, name, at);
        if (v.kind != VAL_UNSET) return v;
    }
    const ast_decl *d = decl_named(E, name);
    if (d) return (value){.kind = VAL_DECL, .u.decl = d};
    value v = constant(E, name);
    int rows = v.kind == VAL_UNSET ? gn_schema_find_space(E->schema, name) : -1;
    return rows > 0 ? (value){.kind = VAL_ROWS, .id = el_space(E, rows)} : v;
}

static value eval_name(elab *E, const ast_expr *e)
{
    value v = el_lookup(E, e->name, e->span);
    if (v.kind != VAL_UNSET) return v;
    return el_error(E, e->span, "nothing is named `%s` here%s", e->name,
                    el_suggest_name(E, e->name));
}

static value eval_not(elab *E, const ast_expr *e)
{
    value v = el_eval(E, e->a);
    if (v.kind == VAL_BOOL) return val_bool(!v.u.truth);
    if (v.kind == VAL_TENSOR && val_type(E, &v)->elem == GN_BOOL)
        return el_unary(E, e->mark, GIR_NOT, v);
    return v.kind == VAL_POISON
               ? v
               : el_error(E, e->mark, "`not` takes true, false or a mask, not %s", val_text(E, &v));
}

static value eval_neg(elab *E, const ast_expr *e)
{
    value v = el_eval(E, e->a);
    if (val_is_number(&v)) return el_number_unary(E, e->mark, GIR_NEG, v);
    return el_unary(E, e->mark, GIR_NEG, v);
}

static value range(elab *E, const ast_expr *e, value a, value b)
{
    if (a.kind != VAL_INT || b.kind != VAL_INT)
        return el_error(E, e->mark, "a range goes from an integer to an integer, not from %s to %s",
                        val_text(E, &a), val_text(E, &b));
    int64_t n = 0;
    if (b.u.i > a.u.i && __builtin_sub_overflow(b.u.i, a.u.i, &n)) n = EL_MAX_STEPS + 1;
    if (n > EL_MAX_STEPS) {
        return el_error(E, e->span, "this range is too long: at most %d numbers",
                        (int)EL_MAX_STEPS);
    }
    if (!el_step(E, e->span, n)) return POISON;
    value l = val_list(E, (uint32_t)n);
    for (int64_t i = 0; i < n; i++) l.u.list->p[i] = val_int(a.u.i + i);
    return l;
}

static value join(elab *E, gn_span at, value a, value b)
{
    uint32_t n = a.u.list->n, m = b.u.list->n;
    if (!el_step(E, at, (int64_t)n + m)) return POISON;
    value l = val_list(E, n + m);
    if (n) memcpy(l.u.list->p, a.u.list->p, n * sizeof(value));
    if (m) memcpy(l.u.list->p + n, b.u.list->p, m * sizeof(value));
    return el_list_done(E, at, l);
}

static value compare_equal(elab *E, const ast_expr *e, value a, value b)
{
    bool comparable = a.kind == b.kind || a.kind == VAL_NONE || b.kind == VAL_NONE ||
                      a.kind == VAL_SPACE || b.kind == VAL_SPACE;
    if (!comparable)
        return el_error(E, e->mark, "%s and %s cannot be compared", val_text(E, &a),
                        val_text(E, &b));
    return val_bool(val_equal(&a, &b) == (e->op == BIN_EQ));
}

static value logic(elab *E, const ast_expr *e)
{
    value a = el_eval(E, e->a);
    if (a.kind == VAL_BOOL) { /* the other side may make no sense where this one decides */
        if (a.u.truth == (e->op == BIN_OR)) return a;
        value b = el_eval(E, e->b);
        bool mask = b.kind == VAL_TENSOR && val_type(E, &b)->elem == GN_BOOL;
        if (b.kind == VAL_BOOL || b.kind == VAL_POISON || mask) return b;
        return el_error(E, e->mark, "`%s` takes true, false or masks, not %s",
                        ast_binary_text[e->op], val_text(E, &b));
    }
    value b = el_eval(E, e->b);
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return POISON;
    if (b.kind == VAL_BOOL) return b.u.truth == (e->op == BIN_OR) ? b : a;
    if (a.kind == VAL_TENSOR && b.kind == VAL_TENSOR)
        return el_binary(E, e->mark, e->op == BIN_AND ? GIR_AND : GIR_OR, ast_binary_text[e->op], a,
                         b);
    return el_error(E, e->mark, "`%s` takes true, false or masks, not %s", ast_binary_text[e->op],
                    val_text(E, a.kind == VAL_TENSOR ? &b : &a));
}

static value tensor_binary(elab *E, const ast_expr *e, value a, value b)
{
    const char *text = ast_binary_text[e->op];
    switch (e->op) {
    case BIN_LT: return el_binary(E, e->mark, GIR_LT, text, a, b);
    case BIN_LE: return el_binary(E, e->mark, GIR_LE, text, a, b);
    case BIN_GT: return el_binary(E, e->mark, GIR_GT, text, a, b);
    case BIN_GE: return el_binary(E, e->mark, GIR_GE, text, a, b);
    case BIN_EQ: return el_binary(E, e->mark, GIR_EQ, text, a, b);
    case BIN_NE: return el_binary(E, e->mark, GIR_NE, text, a, b);
    case BIN_ADD: return el_binary(E, e->mark, GIR_ADD, text, a, b);
    case BIN_SUB: return el_binary(E, e->mark, GIR_SUB, text, a, b);
    case BIN_MUL: return el_binary(E, e->mark, GIR_MUL, text, a, b);
    case BIN_DIV: return el_binary(E, e->mark, GIR_DIV, text, a, b);
    case BIN_MATMUL: return el_matmul(E, e->mark, a, b);
    case BIN_POW:
        if (val_is_number(&b)) { /* exact, and gradients without logarithms */
            double p = val_number(&b);
            if (p == 1) return a;
            if (p == 2) return el_binary(E, e->mark, GIR_MUL, text, a, a);
            if (p == 0.5) return el_unary(E, e->mark, GIR_SQRT, a);
            if (p == -0.5) return el_unary(E, e->mark, GIR_RSQRT, a);
            if (p == -1) return el_unary(E, e->mark, GIR_RECIP, a);
        }
        return el_binary(E, e->mark, GIR_POW, text, a, b);
    default:
        return el_error(E, e->mark, "`%s` is for numbers known at compile time, not for tensors",
                        text);
    }
}

/* Both ends of an edge are one node?  The order of their numbers is no question: nodes may be
 * renumbered. */
static value compare_ends(elab *E, const ast_expr *e, value a, value b)
{
    a = el_end_number(E, e->a->span, a);
    b = el_end_number(E, e->b->span, b);
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return POISON;
    return el_binary(E, e->mark, e->op == BIN_EQ ? GIR_EQ : GIR_NE, ast_binary_text[e->op], a, b);
}

static value join_text(elab *E, gn_span at, const char *a, const char *b)
{
    enum { MOST = 1000 };
    if (strlen(a) + strlen(b) > MOST)
        return el_error(E, at, "a string has at most %d characters", (int)MOST);
    return val_string(gn_arena_printf(E->arena, "%s%s", a, b));
}

static bool is_attr(const ast_expr *e)
{
    return e->kind == EXPR_FIELD && strcmp(e->name, GN_WORD_ATTR) == 0;
}

static value eval_binary(elab *E, const ast_expr *e)
{
    if (e->op == BIN_AND || e->op == BIN_OR) return logic(E, e);
    value a = el_eval(E, e->a), b = el_eval(E, e->b);
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return POISON;
    bool equality = e->op == BIN_EQ || e->op == BIN_NE;
    if (equality && (a.kind == VAL_ROWS || b.kind == VAL_ROWS) && a.kind != VAL_NONE &&
        b.kind != VAL_NONE)
        return val_bool(el_same_key(E, &a, &b) == (e->op == BIN_EQ));
    if (equality && a.kind == VAL_END && b.kind == VAL_END) return compare_ends(E, e, a, b);
    if (e->op == BIN_RANGE) return range(E, e, a, b);
    if (val_is_number(&a) && val_is_number(&b)) return el_number_binary(E, e->mark, e->op, a, b);
    if (a.kind == VAL_LIST && b.kind == VAL_LIST && e->op == BIN_ADD) return join(E, e->mark, a, b);
    if (a.kind == VAL_STRING && b.kind == VAL_STRING && e->op == BIN_ADD)
        return join_text(E, e->mark, a.u.s, b.u.s);
    bool tensors = a.kind == VAL_TENSOR || b.kind == VAL_TENSOR;
    bool absent = a.kind == VAL_NONE || b.kind == VAL_NONE;
    if (equality && (!tensors || absent)) return compare_equal(E, e, a, b);
    if (tensors && absent)
        return el_error(E, e->mark, "`%s` does not take none%s", ast_binary_text[e->op],
                        is_attr(e->a) || is_attr(e->b) ? ": the data has no edge features" : "");
    if (tensors) return tensor_binary(E, e, a, b);
    return el_error(E, e->mark, "`%s` does not take %s and %s", ast_binary_text[e->op],
                    val_text(E, &a), val_text(E, &b));
}

static value eval_cond(elab *E, const ast_expr *e)
{
    value c = el_eval(E, e->a);
    if (c.kind == VAL_POISON) return c;
    if (c.kind == VAL_BOOL) return el_eval(E, c.u.truth ? e->b : e->c);
    if (c.kind == VAL_TENSOR && val_type(E, &c)->elem == GN_BOOL) {
        value a = el_eval(E, e->b), b = el_eval(E, e->c);
        return el_select(E, e->mark, c, a, b);
    }
    return el_error(E, e->a->span, "the condition of `?` is true, false or a mask, not %s",
                    val_text(E, &c));
}

static value take(elab *E, const ast_expr *e, value list, value index)
{
    bool key = index.kind == VAL_ROWS || index.kind == VAL_GRAPH || index.kind == VAL_TENSOR ||
               index.kind == VAL_SPACE;
    if (list.u.list->key && key) return el_of_family(E, e, list, index);
    if (index.kind != VAL_INT)
        return el_error(E, e->mark, "a list is indexed by an integer, not by %s",
                        val_text(E, &index));
    int64_t n = list.u.list->n, i = index.u.i < 0 ? index.u.i + n : index.u.i;
    if (i < 0 || i >= n)
        return el_error(E, e->mark, "index %lld is outside the list of %lld", (long long)index.u.i,
                        (long long)n);
    return list.u.list->p[i];
}

/* x[k]: along the first trailing axis. */
static value slice_one(elab *E, const ast_expr *e, value x, int64_t k)
{
    gir_type t = *val_type(E, &x);
    int64_t n = t.rank ? t.dim[0] : 0, i = k < 0 ? k + n : k;
    if (i < 0 || i >= n)
        return el_error(E, e->mark, "index %lld is outside %s", (long long)k, val_text(E, &x));
    t.dim[0] = 1;
    gir_id s = el_make(E, e->mark, GIR_SLICE, 1, &x.id, &(gir_attr){.i = {0, i}}, &t);
    if (!s) return POISON;
    const char **axes = x.u.axes ? el_axes_new(E, t.rank - 1) : NULL;
    for (int d = 1; axes && d < t.rank; d++) axes[d - 1] = x.u.axes[d];
    return val_tensor(gir_reshape(E->prog, s, t.rank - 1, t.dim + 1), axes);
}

static bool is_mask(const elab *E, const value *v)
{
    return v->kind == VAL_TENSOR && val_type(E, v)->elem == GN_BOOL &&
           val_type(E, v)->space == E->node;
}

static value eval_index(elab *E, const ast_expr *e)
{
    value a = el_eval(E, e->a), b = el_eval(E, e->b);
    if (a.kind == VAL_POISON || b.kind == VAL_POISON) return POISON;
    if (a.kind == VAL_LIST) return take(E, e, a, b);
    if (b.kind == VAL_END) return el_gather(E, e->mark, a, b);
    if (a.kind == VAL_TENSOR && b.kind == VAL_INT) return slice_one(E, e, a, b.u.i);
    gn_elem by = a.kind == VAL_TENSOR && b.kind == VAL_TENSOR ? (gn_elem)val_type(E, &b)->elem : 0;
    if (by == GN_I32 || by == GN_I64) return el_look_up(E, e->mark, a, b);
    if (a.kind == VAL_TENSOR)
        return el_error(
            E, e->mark, "a tensor is indexed by an end of an edge or an integer, not by %s%s",
            val_text(E, &b),
            is_mask(E, &b) ? ": a loss takes its rows by `over`, as `loss = cross_entropy("
                             "M(g, x), y) over train_mask`"
                           : "");
    return el_error(E, e->a->span, "%s cannot be indexed", val_text(E, &a));
}

static value eval_field(elab *E, const ast_expr *e)
{
    value a = el_eval(E, e->a);
    if (a.kind == VAL_GRAPH) return el_graph_field(E, e, a);
    if (a.kind == VAL_POISON) return a;
    if (a.kind == VAL_INSTANCE) return el_weight_field(E, e, a.u.instance);
    const char *elsewhere = gn_elsewhere(e->name);
    const char *how = !gn_builtin_find(e->name) && !decl_named(E, e->name)
                          ? (elsewhere ? elsewhere : "")
                          : gn_arena_printf(E->arena, "; it is called as `%s(...)`", e->name);
    return el_error(E, e->mark, "%s has no field `%s`%s", val_text(E, &a), e->name, how);
}

static value eval_list(elab *E, const ast_expr *e)
{
    value l = val_list(E, e->args.n);
    for (uint32_t i = 0; i < e->args.n; i++) l.u.list->p[i] = el_eval(E, e->args.p[i].value);
    return el_list_done(E, e->span, l);
}

/* Is the element wanted?  1, 0; -1: reported. */
static int chosen(elab *E, const ast_expr *e)
{
    if (!e->c) return 1;
    value c = el_eval(E, e->c);
    if (c.kind == VAL_BOOL) return c.u.truth;
    if (c.kind != VAL_POISON)
        el_error(E, e->c->span, "the condition behind `if` is true or false, not %s",
                 val_text(E, &c));
    return -1;
}

/* Over a family it gives a family, keyed alike. */
static value eval_each(elab *E, const ast_expr *e)
{
    value over = el_eval(E, e->b);
    if (over.kind == VAL_POISON) return over;
    if (over.kind != VAL_LIST)
        return el_error(E, e->b->span, "`for` goes over a list or a range, not over %s",
                        val_text(E, &over));
    const value_list *from = over.u.list;
    value l = from->key ? el_family(E, from->n) : val_list(E, from->n);
    value *old = el_local(E->frame, e->name), saved = old ? *old : (value){0};
    bool spent = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < from->n && !spent; i++) {
        el_bind(E, E->frame, e->name, from->p[i]);
        int wanted = chosen(E, e);
        if (wanted > 0 && from->key) l.u.list->key[n] = from->key[i];
        if (wanted > 0) l.u.list->p[n++] = el_eval(E, e->a);
        spent = wanted < 0 || !el_step(E, e->mark, 1);
    }
    l.u.list->n = n;
    el_bind(E, E->frame, e->name, saved);
    return spent ? POISON : el_list_done(E, e->span, l);
}

static value eval(elab *E, const ast_expr *e)
{
    switch (e->kind) {
    case EXPR_INT: return val_int(e->u.i);
    case EXPR_FLOAT: return val_float(e->u.f);
    case EXPR_STRING: return val_string(e->name);
    case EXPR_BOOL: return val_bool(e->u.truth);
    case EXPR_NONE: return NONE;
    case EXPR_NAME: return eval_name(E, e);
    case EXPR_NEG: return eval_neg(E, e);
    case EXPR_NOT: return eval_not(E, e);
    case EXPR_BINARY: return eval_binary(E, e);
    case EXPR_COND: return eval_cond(E, e);
    case EXPR_CALL: return el_call(E, e);
    case EXPR_INDEX: return eval_index(E, e);
    case EXPR_FIELD: return eval_field(E, e);
    case EXPR_LIST: return eval_list(E, e);
    case EXPR_EACH: return eval_each(E, e);
    case EXPR_MESSAGE: return el_message(E, e);
    }
    return POISON;
}

value el_eval(elab *E, const ast_expr *e)
{
    if (!el_step(E, e->mark, 1)) return POISON;
    if (E->nesting >= EL_MAX_NESTING)
        return el_error(E, e->mark,
                        "layers and functions are nested too deeply here: does one use itself?");
    E->nesting++;
    value v = eval(E, e);
    E->nesting--;
    return v;
}

bool el_eval_name(elab *E, const ast_expr *e, const char **out)
{
    value v = el_eval(E, e);
    if (v.kind == VAL_STRING) *out = v.u.s;
    if (v.kind != VAL_STRING && v.kind != VAL_POISON)
        el_error(E, e->span, "a name in weight files is a string, not %s", val_text(E, &v));
    return v.kind == VAL_STRING;
}

bool el_eval_int(elab *E, const ast_expr *e, const char *what, int64_t *out)
{
    value v = el_eval(E, e);
    if (v.kind == VAL_INT) {
        *out = v.u.i;
        return true;
    }
    if (v.kind == VAL_POISON) return false;
    const char *hint = v.kind == VAL_FLOAT ? " (`//` divides whole numbers)" : "";
    el_error(E, e->span, "%s is an integer, not %s%s", what, val_text(E, &v), hint);
    return false;
}
