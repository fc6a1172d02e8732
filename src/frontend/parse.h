/* Parser, shared by its files: recursive descent over the tokens, precedence climbing for
 * expressions.
 *
 * A production that fails reports once, sets `panic` and returns NULL (or false); the nearest list
 * of statements skips to where the next one may begin and goes on. */
#ifndef GN_FRONTEND_PARSE_H
#define GN_FRONTEND_PARSE_H

#include "frontend/ast.h"
#include "frontend/lexer.h"

typedef struct parser {
    gn_arena *arena;
    gn_diags *diags;
    const gn_source *src;
    const gn_token *tok; /* the current one */
    const gn_token *first;
    int nest;  /* open parentheses and brackets: inside them lines do not end */
    int depth; /* of recursion */
    bool panic;
} parser;

/* parse.c */
bool parse_at(const parser *p, gn_token_kind k);
/* a name that is a word only here: `in`, `over` */
bool parse_at_word(const parser *p, const char *word);
bool parse_accept(parser *p, gn_token_kind k);
bool parse_expect(parser *p, gn_token_kind k, const char *where);
bool parse_name(parser *p, ast_name *out, const char *what);
bool parse_open(parser *p, gn_token_kind k, const char *where); /* ( or [ */
bool parse_close(parser *p, gn_token_kind k, const char *where);
void parse_fail(parser *p, const char *expected);
/* at the current token, whatever line it is on */
void parse_fail_here(parser *p, const char *expected);
bool parse_enter(parser *p); /* false (and reported) where nesting is too deep */
void parse_leave(parser *p);
const gn_token *parse_next(parser *p);
gn_span parse_span(const parser *p, gn_span from); /* from there to the last token taken */
bool parse_end_of_statement(parser *p);
/* `start`: of the statement that failed */
void parse_recover(parser *p, const gn_token *start, int nest_before);
const char *gn_token_text(gn_token_kind k);

/* of -D; NULL (reported) for none */
ast_expr *gn_parse_value(gn_arena *a, gn_diags *d, const gn_source *src);

/* parse_expr.c */
ast_expr *parse_expr(parser *p);
/* the list of `first` and what follows it, each behind a comma */
ast_expr *parse_list_from(parser *p, ast_expr *first);
/* after the opening parenthesis, up to the closing one */
bool parse_args(parser *p, ast_args *out, int *height);
/* false (and reported) for a tree that is too high */
bool parse_height(parser *p, gn_span at, int height);

/* parse_decl.c */
bool parse_type(parser *p, ast_type *t);
ast_decl *parse_decl(parser *p);

/* parse_stmt.c */
bool parse_block(parser *p, ast_block *out, int *height);

#endif
