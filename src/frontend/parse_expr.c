/* Expressions, by precedence; calls, lists, messages.  Keeps: no tree is higher than what
 * elaboration walks. */
#include "frontend/parse.h"

#include <string.h>

const char *const ast_binary_text[] = {
#define X(id, text, precedence) text,
    AST_BINARY(X)
#undef X
};

static const int precedence_of[] = {
#define X(id, text, precedence) precedence,
    AST_BINARY(X)
#undef X
};
enum { NOT_PRECEDENCE = 3, SIGN_PRECEDENCE = 7, MESSAGE_GRAPH_PRECEDENCE = 1 };

static ast_expr *parse_binary(parser *p, int least);

bool parse_height(parser *p, gn_span at, int height)
{
    if (height <= GN_AST_MAX_HEIGHT) return true;
    if (!p->panic)
        gn_diag_error(p->diags, p->src, at,
                      "expression too deep: more than %d operations, one inside the other",
                      (int)GN_AST_MAX_HEIGHT);
    p->panic = true;
    return false;
}

static int height_of(const ast_expr *e) { return e ? e->height : 0; }

static ast_expr *node(parser *p, ast_expr_kind kind, gn_span span, gn_span mark, ast_expr *a,
                      ast_expr *b, ast_expr *c)
{
    ast_expr *e = GN_NEW(p->arena, ast_expr);
    e->kind = kind;
    e->span = span;
    e->mark = mark;
    e->a = a;
    e->b = b;
    e->c = c;
    int h = height_of(a);
    if (height_of(b) > h) h = height_of(b);
    if (height_of(c) > h) h = height_of(c);
    e->height = h + 1;
    return parse_height(p, mark, e->height) ? e : NULL;
}

static ast_expr *leaf(parser *p, ast_expr_kind kind)
{
    const gn_token *t = parse_next(p);
    return node(p, kind, t->span, t->span, NULL, NULL, NULL);
}

bool parse_args(parser *p, ast_args *out, int *height)
{
    while (!parse_at(p, TOK_RPAREN)) {
        ast_arg arg = {0};
        if (parse_at(p, TOK_NAME) && p->tok[1].kind == TOK_ASSIGN) {
            arg.at = p->tok->span;
            arg.name = parse_next(p)->u.s;
            parse_next(p);
        }
        arg.value = parse_expr(p);
        if (!arg.value) return false;
        if (arg.value->height > *height) *height = arg.value->height;
        GN_PUSH(p->arena, *out, arg);
        if (!parse_accept(p, TOK_COMMA)) break;
    }
    if (parse_at(p, TOK_RPAREN)) {
        parse_next(p);
        p->nest--;
        return true;
    }
    parse_fail(p, "`,` or `)` in the arguments");
    return false;
}

/* f(u -> v in graph: body, more), from the opening parenthesis */
static ast_expr *parse_message(parser *p, ast_expr *f)
{
    bool named = f->kind == EXPR_NAME;
    parse_next(p);
    p->nest++;
    ast_expr *e = node(p, EXPR_MESSAGE, f->span, f->span, NULL, NULL, named ? NULL : f);
    if (!e) return NULL;
    e->name = named ? f->name : NULL;
    e->from = parse_next(p)->u.s;
    parse_next(p);
    e->to = parse_next(p)->u.s;
    if (strcmp(e->from, e->to) == 0) {
        gn_diag_error(p->diags, p->src, p->tok[-1].span, "the ends of an edge need two names");
        p->panic = true;
        return NULL;
    }
    if (!parse_at_word(p, "in")) {
        parse_fail(p, "`in` and a graph after the ends of an edge");
        return NULL;
    }
    parse_next(p);
    e->a = parse_binary(p, MESSAGE_GRAPH_PRECEDENCE);
    if (!e->a || !parse_expect(p, TOK_COLON, "between the graph and the message")) return NULL;
    e->b = parse_expr(p);
    if (!e->b) return NULL;
    int height = e->a->height > e->b->height ? e->a->height : e->b->height;
    if (f->height > height) height = f->height;
    if (!parse_accept(p, TOK_COMMA)) {
        if (!parse_close(p, TOK_RPAREN, "after the message")) return NULL;
    } else if (!parse_args(p, &e->args, &height))
        return NULL;
    e->height = height + 1;
    e->span = parse_span(p, f->span);
    return parse_height(p, e->mark, e->height) ? e : NULL;
}

static ast_expr *parse_call(parser *p, ast_expr *f)
{
    bool message = p->tok[1].kind == TOK_NAME && p->tok[2].kind == TOK_ARROW &&
                   p->tok[3].kind == TOK_NAME;
    if (message) return parse_message(p, f);
    parse_next(p);
    p->nest++;
    ast_expr *e = node(p, EXPR_CALL, f->span, f->span, f, NULL, NULL);
    if (!e) return NULL;
    int height = f->height;
    if (!parse_args(p, &e->args, &height)) return NULL;
    e->height = height + 1;
    e->span = parse_span(p, f->span);
    return parse_height(p, e->mark, e->height) ? e : NULL;
}

ast_expr *parse_list_from(parser *p, ast_expr *first)
{
    ast_expr *e = node(p, EXPR_LIST, first->span, first->span, NULL, NULL, NULL);
    if (!e) return NULL;
    int height = first->height;
    GN_PUSH(p->arena, e->args, ((ast_arg){.value = first}));
    while (parse_accept(p, TOK_COMMA)) {
        ast_arg arg = {.value = parse_expr(p)};
        if (!arg.value) return NULL;
        if (arg.value->height > height) height = arg.value->height;
        GN_PUSH(p->arena, e->args, arg);
    }
    e->height = height + 1;
    e->span = parse_span(p, e->span);
    return parse_height(p, e->mark, e->height) ? e : NULL;
}

/* [a, b] or [a for name in b] */
static ast_expr *parse_list(parser *p)
{
    gn_span from = p->tok->span;
    parse_next(p);
    p->nest++;
    ast_expr *e = node(p, EXPR_LIST, from, from, NULL, NULL, NULL);
    if (!e) return NULL;
    int height = 0;
    while (!parse_at(p, TOK_RBRACKET)) {
        ast_arg arg = {.value = parse_expr(p)};
        if (!arg.value) return NULL;
        if (arg.value->height > height) height = arg.value->height;
        GN_PUSH(p->arena, e->args, arg);
        if (e->args.n == 1 && parse_accept(p, TOK_FOR)) {
            ast_name name;
            if (!parse_name(p, &name, "a name after `for`")) return NULL;
            if (!parse_at_word(p, "in")) {
                parse_fail(p, "`in`");
                return NULL;
            }
            parse_next(p);
            e->kind = EXPR_EACH;
            e->a = arg.value;
            e->b = parse_expr(p);
            e->name = name.text;
            if (!e->b) return NULL;
            if (e->b->height > height) height = e->b->height;
            if (parse_accept(p, TOK_IF) && !(e->c = parse_expr(p))) return NULL;
            if (e->c && e->c->height > height) height = e->c->height;
            break;
        }
        if (!parse_accept(p, TOK_COMMA)) break;
    }
    e->height = height + 1;
    if (!parse_close(p, TOK_RBRACKET,
                     e->kind == EXPR_EACH ? "after the list" : "or `,` in the list"))
        return NULL;
    e->span = e->mark = parse_span(p, from);
    return parse_height(p, e->mark, e->height) ? e : NULL;
}

static ast_expr *parse_primary(parser *p)
{
    const gn_token *t = p->tok;
    ast_expr *e;
    if (t->newline && t->kind == TOK_NAME && t[1].kind == TOK_ASSIGN) { /* the next statement */
        parse_fail(p, "an expression");
        return NULL;
    }
    switch (t->kind) {
    case TOK_INT:
        if ((e = leaf(p, EXPR_INT))) e->u.i = t->u.i;
        return e;
    case TOK_FLOAT:
        if ((e = leaf(p, EXPR_FLOAT))) e->u.f = t->u.f;
        return e;
    case TOK_STRING:
    case TOK_NAME:
        if ((e = leaf(p, t->kind == TOK_NAME ? EXPR_NAME : EXPR_STRING))) e->name = t->u.s;
        return e;
    case TOK_TRUE:
    case TOK_FALSE:
        if ((e = leaf(p, EXPR_BOOL))) e->u.truth = t->kind == TOK_TRUE;
        return e;
    case TOK_NONE: return leaf(p, EXPR_NONE);
    case TOK_LBRACKET: return parse_list(p);
    case TOK_LPAREN:
        parse_open(p, TOK_LPAREN, "");
        e = parse_expr(p);
        if (!e || !parse_close(p, TOK_RPAREN, "to close the parenthesis")) return NULL;
        e->span = parse_span(p, t->span);
        return e;
    default: parse_fail(p, "an expression"); return NULL;
    }
}

static ast_expr *parse_postfix(parser *p)
{
    ast_expr *e = parse_primary(p);
    while (e && (!p->tok->newline || p->nest > 0)) {
        if (parse_at(p, TOK_LPAREN))
            e = parse_call(p, e);
        else if (parse_at(p, TOK_LBRACKET)) {
            parse_open(p, TOK_LBRACKET, "");
            ast_expr *index = parse_expr(p);
            bool part = parse_at(p, TOK_COLON);
            if (!index || !parse_close(p, TOK_RBRACKET,
                                       part ? "after the index (`slice(x, start, stop)` is a part)"
                                            : "after the index"))
                return NULL;
            e = node(p, EXPR_INDEX, parse_span(p, e->span), index->span, e, index, NULL);
        } else if (parse_accept(p, TOK_DOT)) {
            ast_name name;
            if (!parse_name(p, &name, "the name of a field after `.`")) return NULL;
            e = node(p, EXPR_FIELD, parse_span(p, e->span), name.span, e, NULL, NULL);
            if (e) e->name = name.text;
        } else
            break;
    }
    return e;
}

static ast_expr *parse_unary(parser *p)
{
    bool sign = parse_at(p, TOK_MINUS);
    if (!sign && !parse_at(p, TOK_NOT)) return parse_postfix(p);
    if (!parse_enter(p)) return NULL;
    gn_span from = parse_next(p)->span;
    ast_expr *a = parse_binary(p, sign ? SIGN_PRECEDENCE : NOT_PRECEDENCE);
    parse_leave(p);
    return a ? node(p, sign ? EXPR_NEG : EXPR_NOT, parse_span(p, from), from, a, NULL, NULL) : NULL;
}

/* The binary operator at the current token, or -1. */
static int binary_at(const parser *p)
{
    if (p->tok->newline && p->nest == 0) return -1;
    switch (p->tok->kind) {
    case TOK_OR: return BIN_OR;
    case TOK_AND: return BIN_AND;
    case TOK_LT: return BIN_LT;
    case TOK_LE: return BIN_LE;
    case TOK_GT: return BIN_GT;
    case TOK_GE: return BIN_GE;
    case TOK_EQ: return BIN_EQ;
    case TOK_NE: return BIN_NE;
    case TOK_RANGE: return BIN_RANGE;
    case TOK_PLUS: return BIN_ADD;
    case TOK_MINUS: return BIN_SUB;
    case TOK_STAR: return BIN_MUL;
    case TOK_SLASH: return BIN_DIV;
    case TOK_FLOORDIV: return BIN_FLOORDIV;
    case TOK_PERCENT: return BIN_MOD;
    case TOK_AT: return BIN_MATMUL;
    case TOK_POWER: return BIN_POW;
    default: return -1;
    }
}

static ast_expr *parse_binary(parser *p, int least)
{
    if (!parse_enter(p)) return NULL;
    ast_expr *a = parse_unary(p);
    for (int op = a ? binary_at(p) : -1; op >= 0 && precedence_of[op] >= least;
         op = a ? binary_at(p) : -1) {
        gn_span mark = parse_next(p)->span;
        if (op == BIN_MUL && parse_at(p, TOK_STAR) && p->tok->span.at == mark.at + 1)
            parse_fail_here(p, "a value (powers are written `x ^ y`)");
        ast_expr *b = parse_binary(p, op == BIN_POW ? SIGN_PRECEDENCE : precedence_of[op] + 1);
        if (!b)
            a = NULL;
        else {
            a = node(p, EXPR_BINARY, parse_span(p, a->span), mark, a, b, NULL);
            if (a) a->op = (ast_binary)op;
        }
    }
    parse_leave(p);
    return a;
}

ast_expr *parse_expr(parser *p)
{
    if (!parse_enter(p)) return NULL;
    ast_expr *e = parse_binary(p, 1);
    if (e && parse_at(p, TOK_QUESTION) && (!p->tok->newline || p->nest > 0)) {
        gn_span mark = parse_next(p)->span;
        ast_expr *yes = parse_expr(p), *no = NULL;
        if (yes && parse_expect(p, TOK_COLON, "and the other value of `?`")) no = parse_expr(p);
        e = no ? node(p, EXPR_COND, parse_span(p, e->span), mark, e, yes, no) : NULL;
    }
    parse_leave(p);
    return e;
}
