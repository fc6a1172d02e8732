/* Statements and blocks: one a line, or behind `;`. */
#include "frontend/parse.h"

#include <string.h>

static ast_stmt *parse_stmt(parser *p);

static void raise_height(int *height, const ast_expr *e)
{
    if (e && e->height > *height) *height = e->height;
}

bool parse_block(parser *p, ast_block *out, int *height)
{
    const gn_span open = p->tok->span;
    if (!parse_expect(p, TOK_LBRACE, "before the statements")) return false;
    if (!parse_enter(p)) return false;
    int nest = p->nest;
    p->nest = 0;
    while (!parse_at(p, TOK_RBRACE) && !parse_at(p, TOK_END)) {
        const gn_token *before = p->tok;
        int depth = p->depth;
        ast_stmt *s = parse_stmt(p);
        if (s) {
            GN_PUSH(p->arena, out->stmts, s);
            if (s->height > *height) *height = s->height;
        }
        if (p->panic) {
            p->depth = depth;
            parse_recover(p, before, 0);
        }
    }
    p->nest = nest;
    parse_leave(p);
    bool first = !p->panic, closed = parse_expect(p, TOK_RBRACE, "after the statements");
    if (!closed && first) gn_diag_note(p->diags, p->src, open, "of the block that begins here");
    return closed;
}

/* Strings, or what makes one. */
static bool parse_files(parser *p, ast_stmt *s)
{
    do {
        ast_expr *e = parse_expr(p);
        if (!e) return false;
        raise_height(&s->height, e);
        GN_PUSH(p->arena, s->files, e);
    } while (parse_accept(p, TOK_COMMA));
    return true;
}

/* Is there one for each name? */
static void check_files(parser *p, ast_stmt *s, const char *what)
{
    if (s->files.n == s->names.n) return;
    gn_diag_error(p->diags, p->src, s->files.p[0]->span, "%u names in files for %u %s", s->files.n,
                  s->names.n, what);
    s->files.n = 0;
}

/* param a, b: [in, out] = init as "a", "b" transposed shape [1, in, out] */
static bool parse_param(parser *p, ast_stmt *s)
{
    do {
        ast_name name;
        if (!parse_name(p, &name, "the name of a parameter")) return false;
        GN_PUSH(p->arena, s->names, name);
    } while (parse_accept(p, TOK_COMMA));
    if (!parse_expect(p, TOK_COLON, "and the dimensions of the parameter") ||
        !parse_type(p, &s->type))
        return false;
    if (!parse_expect(p, TOK_ASSIGN, "and an initialiser, such as `glorot_uniform`")) return false;
    s->a = parse_expr(p);
    if (!s->a) return false;
    raise_height(&s->height, s->a);
    if (parse_accept(p, TOK_AS)) {
        if (!parse_files(p, s)) return false;
        check_files(p, s, "parameters");
    }
    if (parse_at_word(p, "transposed")) {
        parse_next(p);
        s->transposed = true;
    }
    if (!parse_at_word(p, "shape")) return true;
    parse_next(p);
    ast_type shape = {0};
    if (!parse_type(p, &shape)) return false;
    s->has_shape = true;
    for (uint32_t i = 0; i < shape.dims.n; i++) GN_PUSH(p->arena, s->shape, shape.dims.p[i]);
    return true;
}

static bool parse_if(parser *p, ast_stmt *s)
{
    s->a = parse_expr(p);
    raise_height(&s->height, s->a);
    if (!s->a || !parse_block(p, &s->then, &s->height)) return false;
    if (!parse_accept(p, TOK_ELSE)) return true;
    if (!parse_at(p, TOK_IF)) return parse_block(p, &s->other, &s->height);
    if (!parse_enter(p)) return false;
    ast_stmt *other = parse_stmt(p);
    parse_leave(p);
    if (!other) return false;
    GN_PUSH(p->arena, s->other.stmts, other);
    if (other->height > s->height) s->height = other->height;
    return true;
}

static bool parse_for(parser *p, ast_stmt *s)
{
    ast_name name;
    if (!parse_name(p, &name, "a name after `for`")) return false;
    GN_PUSH(p->arena, s->names, name);
    if (!parse_at_word(p, "in")) {
        parse_fail(p, "`in`");
        return false;
    }
    parse_next(p);
    s->a = parse_expr(p);
    raise_height(&s->height, s->a);
    return s->a && parse_block(p, &s->then, &s->height);
}

/* name {, name}: several in an assignment alone. */
static bool parse_targets(parser *p, ast_stmt *s)
{
    do {
        ast_name name;
        if (!parse_name(p, &name, s->kind == STMT_ASSIGN ? "a name" : "the name of a buffer"))
            return false;
        for (uint32_t k = 0; k < s->names.n; k++)
            if (!strcmp(s->names.p[k].text, name.text))
                gn_diag_error(p->diags, p->src, name.span, "`%s` is there already", name.text);
        GN_PUSH(p->arena, s->names, name);
    } while (s->kind == STMT_ASSIGN && parse_accept(p, TOK_COMMA));
    return true;
}

static bool parse_assign(parser *p, ast_stmt *s)
{
    if (s->kind == STMT_ASSIGN && !parse_at(p, TOK_NAME)) {
        parse_fail_here(p, parse_at(p, TOK_FLOORDIV) ? "a statement (comments begin with `#`)"
                                                     : "a statement");
        return false;
    }
    if (!parse_targets(p, s)) return false;
    if (!parse_expect(p, TOK_ASSIGN, "after the name")) return false;
    s->a = parse_expr(p);
    raise_height(&s->height, s->a);
    if (!s->a) return false;
    if (s->kind != STMT_ASSIGN || !parse_accept(p, TOK_AS)) return true;
    if (!parse_files(p, s)) return false;
    if (s->names.n > 1) check_files(p, s, "variables");
    return true;
}

static bool parse_assert(parser *p, ast_stmt *s)
{
    s->a = parse_expr(p);
    if (!s->a || !parse_expect(p, TOK_COMMA, "and a message after the condition")) return false;
    s->b = parse_expr(p);
    raise_height(&s->height, s->a);
    raise_height(&s->height, s->b);
    return s->b != NULL;
}

/* return a, or return a, b: the list [a, b] */
static bool parse_return(parser *p, ast_stmt *s)
{
    if (p->tok->newline || parse_at(p, TOK_RBRACE)) {
        parse_fail(p, "a value after `return`");
        return false;
    }
    s->a = parse_expr(p);
    if (s->a && parse_at(p, TOK_COMMA)) s->a = parse_list_from(p, s->a);
    raise_height(&s->height, s->a);
    return s->a != NULL;
}

static bool parse_rest(parser *p, ast_stmt *s, gn_token_kind first)
{
    switch (first) {
    case TOK_PARAM:
    case TOK_BUFFER: s->kind = STMT_PARAM; return parse_param(p, s);
    case TOK_UPDATE: s->kind = STMT_UPDATE; return parse_assign(p, s);
    case TOK_RETURN: s->kind = STMT_RETURN; return parse_return(p, s);
    case TOK_IF: s->kind = STMT_IF; return parse_if(p, s);
    case TOK_FOR: s->kind = STMT_FOR; return parse_for(p, s);
    case TOK_ASSERT: s->kind = STMT_ASSERT; return parse_assert(p, s);
    default: s->kind = STMT_ASSIGN; return parse_assign(p, s);
    }
}

static bool statement_word(gn_token_kind k)
{
    return k == TOK_PARAM || k == TOK_BUFFER || k == TOK_UPDATE || k == TOK_RETURN || k == TOK_IF ||
           k == TOK_FOR || k == TOK_ASSERT;
}

static ast_stmt *parse_stmt(parser *p)
{
    ast_stmt *s = GN_NEW(p->arena, ast_stmt);
    gn_token_kind first = p->tok->kind;
    s->span = p->tok->span;
    s->trainable = first == TOK_PARAM;
    if (statement_word(first)) parse_next(p);
    if (!parse_rest(p, s, first)) return NULL;
    s->height++;
    if (!parse_height(p, s->span, s->height)) return NULL;
    bool block = s->kind == STMT_IF || s->kind == STMT_FOR;
    return block || parse_end_of_statement(p) ? s : NULL;
}
