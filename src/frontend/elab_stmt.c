#include "frontend/elab.h"

static void assign(elab *E, const ast_stmt *s)
{
    const ast_name *name = &s->names.p[0];
    value v = el_eval(E, s->a);
    const char *file = s->files.n ? s->files.p[0].text : name->text;
    if (v.kind == VAL_INSTANCE || v.kind == VAL_LIST)
        v = el_name_instances(E, v, name->text, file, name->span);
    else if (s->files.n && v.kind != VAL_POISON)
        el_error(E, s->files.p[0].span, "`as` names a layer or a list of layers, not %s", val_text(E, &v));
    el_bind(E, E->frame, name->text, v);
}

/* After a fault in a condition: what the statements would have set is faulty too, rather than unknown. */
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
        el_error(E, s->a->span, "`if` decides at compile time, and %s is known only at run time: use `a ? b : c`",
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
        el_error(E, s->a->span, "`for` goes over a list or a range, not over %s%s", val_text(E, &over), hint);
        return;
    }
    for (uint32_t i = 0; i < over.u.list->n && !E->frame->returned; i++) {
        if (!el_step(E, s->span, 1)) return;
        el_bind(E, E->frame, s->names.p[0].text, over.u.list->p[i]);
        el_block(E, &s->then);
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
    if (m.kind != VAL_POISON) el_error(E, s->a->span, "%s", m.kind == VAL_STRING ? m.u.s : val_text(E, &m));
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
