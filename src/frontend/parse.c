#include "frontend/parse.h"

#include "frontend/elsewhere.h"

#include <string.h>

enum { MAX_TEXT = 4 << 20, MAX_DEPTH = 150 };

const char *gn_token_text(gn_token_kind k)
{
    switch (k) {
    case TOK_END: return "end of file";
    case TOK_BAD: return "character";
    case TOK_NAME: return "name";
    case TOK_INT:
    case TOK_FLOAT: return "number";
    case TOK_STRING: return "string";
#define X(id, text)                                                                                \
    case TOK_##id: return text;
        GN_PUNCTUATION(X)
        GN_KEYWORDS(X)
#undef X
    }
    return "?";
}

bool parse_at(const parser *p, gn_token_kind k) { return p->tok->kind == k; }

bool parse_at_word(const parser *p, const char *word)
{
    return p->tok->kind == TOK_NAME && strcmp(p->tok->u.s, word) == 0;
}

const gn_token *parse_next(parser *p)
{
    const gn_token *t = p->tok;
    if (t->kind != TOK_END) p->tok++;
    return t;
}

bool parse_accept(parser *p, gn_token_kind k)
{
    if (!parse_at(p, k)) return false;
    parse_next(p);
    return true;
}

gn_span parse_span(const parser *p, gn_span from)
{
    if (p->tok == p->first) return from;
    gn_span last = p->tok[-1].span;
    uint32_t end = last.at + last.len;
    return (gn_span){from.at, end > from.at ? end - from.at : from.len};
}

/* What stands there, known from Python: how it is written here.  "" for nothing. */
static const char *way_here(const parser *p, const char *expected, const char *found)
{
    const gn_token *t = p->tok, *last = t > p->first ? t - 1 : NULL;
    const char *elsewhere = gn_elsewhere(found);
    if (elsewhere && strncmp(elsewhere, "; did you mean", 14) != 0)
        return elsewhere; /* not a word that is a name here */
    if (!last) return "";
    bool named = last->kind == TOK_NAME, updated = t[1].kind == TOK_ASSIGN && !t[1].newline;
    switch (t->kind) {
    case TOK_DOT:
        elsewhere = named ? gn_elsewhere(last->u.s) : NULL;
        return elsewhere ? elsewhere : "";
    case TOK_COLON:
        if (last->kind == TOK_LBRACKET) return "; a part is `slice(x, start, stop)`";
        return !strstr(expected, "before the statements")
                   ? ""
                   : "; blocks stand in braces, `for i in 0..n { ... }`";
    case TOK_PLUS:
    case TOK_MINUS:
    case TOK_STAR:
    case TOK_SLASH:
        return named && updated ? gn_arena_printf(p->arena, "; write `%s = %s %s ...`", last->u.s,
                                                  last->u.s, gn_token_text(t->kind))
                                : "";
    case TOK_LPAREN:
        return named ? "; what a call gives is named, `h = f(x)`, or returned, `return f(x)`" : "";
    case TOK_COMMA:
        if (!strstr(expected, "to close the parenthesis")) return "";
        while (last > p->first && last->kind != TOK_LPAREN && !last->newline) last--;
        if (last > p->first + 1 && last[-1].kind == TOK_ASSIGN && last[-2].kind == TOK_NAME)
            elsewhere = gn_elsewhere(last[-2].u.s);
        return elsewhere ? elsewhere : "; there are no tuples: a list is `[a, b]`";
    default: return "";
    }
}

void parse_fail_here(parser *p, const char *expected)
{
    const gn_token *t = p->tok;
    if (!p->panic && t->kind != TOK_BAD) {
        const char *found = gn_diag_clean(p->arena, p->src->text + t->span.at, t->span.len);
        bool word = t->kind >= TOK_LAYER && t->kind <= TOK_AS;
        if (t->kind == TOK_END)
            gn_diag_error(p->diags, p->src, t->span, "expected %s, found the end of the file",
                          expected);
        else
            gn_diag_error(p->diags, p->src, t->span, "expected %s, found `%s`%s%s", expected, found,
                          word ? ", a word of the language" : "", way_here(p, expected, found));
    }
    p->panic = true;
}

/* At the token that does not fit; where that is on a later line, behind what was there before. */
void parse_fail(parser *p, const char *expected)
{
    const gn_token *t = p->tok;
    if (p->panic || !t->newline || t == p->first) {
        parse_fail_here(p, expected);
        return;
    }
    p->panic = true;
    gn_span last = t[-1].span;
    gn_diag_error(p->diags, p->src, (gn_span){last.at + last.len, 0}, "expected %s", expected);
}

bool parse_expect(parser *p, gn_token_kind k, const char *where)
{
    if (parse_accept(p, k)) return true;
    parse_fail(p, gn_arena_printf(p->arena, "`%s` %s", gn_token_text(k), where));
    return false;
}

bool parse_name(parser *p, ast_name *out, const char *what)
{
    if (parse_at(p, TOK_NAME)) {
        *out = (ast_name){p->tok->u.s, p->tok->span};
        parse_next(p);
        return true;
    }
    parse_fail(p, what);
    return false;
}

bool parse_open(parser *p, gn_token_kind k, const char *where)
{
    if (!parse_expect(p, k, where)) return false;
    p->nest++;
    return true;
}

bool parse_close(parser *p, gn_token_kind k, const char *where)
{
    if (!parse_expect(p, k, where)) return false;
    p->nest--;
    return true;
}

bool parse_enter(parser *p)
{
    if (p->depth < MAX_DEPTH) {
        p->depth++;
        return true;
    }
    if (!p->panic) gn_diag_error(p->diags, p->src, p->tok->span, "nested too deeply");
    p->panic = true;
    return false;
}

void parse_leave(parser *p) { p->depth--; }

bool parse_end_of_statement(parser *p)
{
    if (parse_accept(p, TOK_SEMICOLON)) return true;
    if (p->tok->newline || parse_at(p, TOK_RBRACE) || parse_at(p, TOK_END)) return true;
    parse_fail(p, "the end of the line");
    return false;
}

static bool begins_statement(gn_token_kind k)
{
    switch (k) {
    case TOK_RETURN:
    case TOK_IF:
    case TOK_FOR:
    case TOK_PARAM:
    case TOK_BUFFER:
    case TOK_UPDATE:
    case TOK_ASSERT:
    case TOK_LAYER:
    case TOK_MODEL:
    case TOK_FN:
    case TOK_TRAIN: return true;
    default: return false;
    }
}

/* Skips to a token at the start of a line where a statement may begin: outside what the failed one
 * left open, or one that nothing but a statement begins with. A block in between is skipped as a
 * whole. */
void parse_recover(parser *p, const gn_token *start, int nest_before)
{
    int open = p->nest - nest_before, braces = 0;
    const gn_token *failed = p->tok;
    for (; p->tok->kind != TOK_END; p->tok++) {
        gn_token_kind k = p->tok->kind;
        if (p->tok->newline && braces == 0 && p->tok != start) {
            if (open <= 0 || begins_statement(k) || k == TOK_RBRACE || p->tok == failed) break;
        }
        if (k == TOK_RBRACE && braces-- == 0) break;
        if (k == TOK_LBRACE) braces++;
        if (k == TOK_LPAREN || k == TOK_LBRACKET) open++;
        if (k == TOK_RPAREN || k == TOK_RBRACKET) open--;
    }
    p->nest = nest_before;
    p->panic = false;
}

static bool begins_declaration(gn_token_kind k)
{
    return k == TOK_LAYER || k == TOK_MODEL || k == TOK_FN || k == TOK_TRAIN;
}

static void parse_file(parser *p, gn_ast *ast)
{
    while (!parse_at(p, TOK_END)) {
        ast_decl *d = parse_decl(p);
        if (d) GN_PUSH(p->arena, ast->decls, d);
        if (!p->panic) continue;
        const gn_token *failed = p->tok;
        while (!parse_at(p, TOK_END) && !(p->tok->newline && begins_declaration(p->tok->kind)))
            parse_next(p);
        if (p->tok == failed && !begins_declaration(p->tok->kind)) parse_next(p);
        p->panic = false;
        p->nest = p->depth = 0;
    }
}

static void report_twins(gn_arena *a, gn_diags *d, const gn_ast *ast)
{
    gn_map seen;
    gn_map_init(&seen, a);
    for (uint32_t i = 0; i < ast->decls.n; i++) {
        const ast_decl *decl = ast->decls.p[i];
        bool train = decl->kind == DECL_TRAIN;
        const char *key = train ? gn_arena_printf(a, "train %s", decl->name.text) : decl->name.text;
        const uint32_t *other = gn_map_find(&seen, key);
        if (other) {
            gn_diag_error(d, ast->src, decl->name.span,
                          train ? "`%s` has a train block already" : "`%s` is declared already",
                          decl->name.text);
            gn_diag_note(d, ast->src, ast->decls.p[*other]->name.span, "here");
        } else
            gn_map_put(&seen, key, i);
    }
}

gn_status *gn_parse(gn_arena *a, const char *text, size_t n, const char *file, gn_ast **out)
{
    return gn_parse_heard(a, text, n, file, NULL, out);
}

gn_status *gn_parse_heard(gn_arena *a, const char *text, size_t n, const char *file,
                          const gn_listener *listener, gn_ast **out)
{
    *out = NULL;
    if (n > MAX_TEXT)
        GN_FAIL(GN_ERR_MODEL, "%s: %zu bytes are too long for a model: at most %d", file, n,
                (int)MAX_TEXT);
    gn_diags d;
    gn_diags_init(&d, a);
    d.listener = listener;
    gn_ast *ast = GN_NEW(a, gn_ast);
    ast->listener = listener;
    ast->src = gn_source_new(a, file, text, n);
    gn_tokens tokens = {0};
    gn_lex(a, &d, ast->src, &tokens);
    parser p = {.arena = a, .diags = &d, .src = ast->src, .tok = tokens.p, .first = tokens.p};
    parse_file(&p, ast);
    report_twins(a, &d, ast);
    GN_TRY(gn_diags_status(&d));
    *out = ast;
    return NULL;
}

ast_expr *gn_parse_value(gn_arena *a, gn_diags *d, const gn_source *src)
{
    gn_tokens tokens = {0};
    gn_lex(a, d, src, &tokens);
    parser p = {.arena = a, .diags = d, .src = src, .tok = tokens.p, .first = tokens.p};
    ast_expr *e = parse_expr(&p);
    if (e && !parse_at(&p, TOK_END)) parse_fail(&p, "the end of the value");
    return d->errors ? NULL : e;
}
