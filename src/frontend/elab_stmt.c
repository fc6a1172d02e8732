/* Statements: names are bound, branches and loops are run, since all that decides them is known by
 * now. */
#include "frontend/elab.h"

#include <string.h>

/* Binds the k-th name of an assignment. */
static void assign_one(elab *E, const ast_stmt *s, uint32_t k, value v)
{
    const ast_name *name = &s->names.p[k];
    const char *file = name->text;
    if (k < s->files.n && !el_eval_name(E, s->files.p[k], &file)) v = POISON;
    if (v.kind == VAL_INSTANCE || v.kind == VAL_LIST)
        v = el_name_instances(E, v, name->text, file, name->span);
    else if (k < s->files.n && v.kind != VAL_POISON)
        el_error(E, s->files.p[k]->span, "`as` names a layer or a list of layers, not %s",
                 val_text(E, &v));
    el_bind(E, E->frame, name->text, v);
}

static void assign(elab *E, const ast_stmt *s)
{
    value v = el_eval(E, s->a);
    if (s->names.n == 1) {
        assign_one(E, s, 0, v);
        return;
    }
    bool list = v.kind == VAL_LIST, fits = list && v.u.list->n == s->names.n;
    if (!list && v.kind != VAL_POISON)
        el_error(E, s->a->span, "%u names take a list of %u apart, and this is %s", s->names.n,
                 s->names.n, val_text(E, &v));
    else if (list && !fits)
        el_error(E, s->a->span, "%u names for a list of %u", s->names.n, v.u.list->n);
    for (uint32_t k = 0; k < s->names.n; k++) assign_one(E, s, k, fits ? v.u.list->p[k] : POISON);
}

/* After a fault in a condition: what the statements would have set is faulty too, rather than
 * unknown. */
static void poison(elab *E, const ast_block *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const ast_stmt *s = b->stmts.p[i];
        if (s->kind == STMT_RETURN) {
            E->frame->result = POISON;
            E->frame->returned = true;
        }
        for (uint32_t k = 0; k < s->names.n; k++)
            if (s->kind != STMT_UPDATE) el_bind(E, E->frame, s->names.p[k].text, POISON);
        poison(E, &s->then);
        poison(E, &s->other);
    }
}

static void branch(elab *E, const ast_stmt *s)
{
    value c = el_eval(E, s->a);
    if (c.kind == VAL_BOOL) {
        el_block(E, c.u.truth ? &s->then : &s->other);
        return;
    }
    poison(E, &s->then);
    poison(E, &s->other);
    if (c.kind == VAL_TENSOR)
        el_error(E, s->a->span,
                 "`if` decides at compile time, and %s is known only at run time: use `a ? b : c`",
                 val_text(E, &c));
    else if (c.kind != VAL_POISON)
        el_error(E, s->a->span, "the condition of `if` is true or false, not %s", val_text(E, &c));
}

static void loop(elab *E, const ast_stmt *s)
{
    value over = el_eval(E, s->a);
    if (over.kind != VAL_LIST) poison(E, &s->then);
    if (over.kind == VAL_POISON) return;
    if (over.kind != VAL_LIST) {
        const char *hint = over.kind == VAL_INT ? " (`0..n` counts)" : "";
        el_error(E, s->a->span, "`for` goes over a list or a range, not over %s%s",
                 val_text(E, &over), hint);
        return;
    }
    for (uint32_t i = 0; i < over.u.list->n && !E->frame->returned; i++) {
        if (!el_step(E, s->span, 1)) return;
        el_bind(E, E->frame, s->names.p[0].text, over.u.list->p[i]);
        el_block(E, &s->then);
    }
}

/* What a failed assertion compared: "; here `n` is 0, `m` is 3". */
typedef struct compared {
    gn_buf text;
    gn_map said; /* what is compared with several things is said once */
} compared;

/* One side of a comparison, unless its value is what is written there. */
static void add_side(elab *E, const ast_expr *e, compared *out)
{
    const ast_expr *literal = e->kind == EXPR_NEG ? e->a : e;
    if (literal->kind <= EXPR_NONE) return;
    const char *text = gn_diag_clean(E->arena, E->frame->src->text + e->span.at, e->span.len);
    if (gn_map_find(&out->said, text)) return;
    gn_map_put(&out->said, text, 1);
    value v = el_eval(E, e);
    const char *is = val_literal(E, &v);
    if (v.kind != VAL_POISON && strcmp(text, is) != 0)
        gn_buf_printf(&out->text, "%s`%s` is %s", out->text.n ? ", " : "; here ", text, is);
}

/* The sides of the comparisons in `e`, whose value is `truth`, that made it so: what `and` and `or`
 * did not look at may make no sense. */
static void add_sides(elab *E, const ast_expr *e, bool truth, compared *out)
{
    if (e->kind == EXPR_NOT) {
        add_sides(E, e->a, !truth, out);
    } else if (e->kind == EXPR_BINARY && (e->op == BIN_AND || e->op == BIN_OR)) {
        bool decides = e->op == BIN_OR; /* the value of one side that is that of both together */
        if (truth != decides) {
            add_sides(E, e->a, truth, out);
            add_sides(E, e->b, truth, out);
        } else {
            value a = el_eval(E, e->a);
            add_sides(E, a.kind == VAL_BOOL && a.u.truth == decides ? e->a : e->b, truth, out);
        }
    } else if (e->kind == EXPR_BINARY && e->op >= BIN_LT && e->op <= BIN_NE) {
        add_side(E, e->a, out);
        add_side(E, e->b, out);
    }
}

static void check(elab *E, const ast_stmt *s)
{
    value c = el_eval(E, s->a);
    if (c.kind == VAL_POISON || (c.kind == VAL_BOOL && c.u.truth)) return;
    if (c.kind != VAL_BOOL) {
        el_error(E, s->a->span, "`assert` takes true or false, not %s", val_text(E, &c));
        return;
    }
    value m = el_eval(E, s->b);
    if (m.kind == VAL_POISON) return;
    compared sides = {.text = {.arena = E->arena}};
    gn_map_init(&sides.said, E->arena);
    add_sides(E, s->a, false, &sides);
    el_error(E, s->a->span, "%s%s", m.kind == VAL_STRING ? m.u.s : val_text(E, &m),
             sides.text.n ? sides.text.p : "");
}

static void statement(elab *E, const ast_stmt *s)
{
    switch (s->kind) {
    case STMT_ASSIGN: assign(E, s); return;
    case STMT_PARAM: el_param(E, s); return;
    case STMT_UPDATE: el_update(E, s); return;
    case STMT_RETURN:
        E->frame->result = el_eval(E, s->a);
        E->frame->returned = true;
        E->frame->ret = s->a;
        return;
    case STMT_IF: branch(E, s); return;
    case STMT_FOR: loop(E, s); return;
    case STMT_ASSERT: check(E, s); return;
    }
}

void el_block(elab *E, const ast_block *b)
{
    for (uint32_t i = 0; i < b->stmts.n && !E->frame->returned; i++) statement(E, b->stmts.p[i]);
}
