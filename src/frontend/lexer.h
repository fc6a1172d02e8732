/* Lexer: text to tokens. Comments run from # to the end of the line. */
#ifndef GN_FRONTEND_LEXER_H
#define GN_FRONTEND_LEXER_H

#include "frontend/diag.h"

/* X(id, spelling): punctuation, longer spellings before their prefixes */
#define GN_PUNCTUATION(X)                                                                          \
    X(ELLIPSIS, "...")                                                                             \
    X(RANGE, "..")                                                                                 \
    X(ARROW, "->")                                                                                 \
    X(LE, "<=")                                                                                    \
    X(GE, ">=")                                                                                    \
    X(EQ, "==")                                                                                    \
    X(NE, "!=")                                                                                    \
    X(FLOORDIV, "//")                                                                              \
    X(LPAREN, "(")                                                                                 \
    X(RPAREN, ")")                                                                                 \
    X(LBRACKET, "[")                                                                               \
    X(RBRACKET, "]")                                                                               \
    X(LBRACE, "{")                                                                                 \
    X(RBRACE, "}")                                                                                 \
    X(COMMA, ",")                                                                                  \
    X(COLON, ":")                                                                                  \
    X(SEMICOLON, ";")                                                                              \
    X(DOT, ".")                                                                                    \
    X(ASSIGN, "=")                                                                                 \
    X(QUESTION, "?")                                                                               \
    X(PLUS, "+")                                                                                   \
    X(MINUS, "-")                                                                                  \
    X(STAR, "*")                                                                                   \
    X(SLASH, "/")                                                                                  \
    X(PERCENT, "%")                                                                                \
    X(POWER, "^")                                                                                  \
    X(AT, "@")                                                                                     \
    X(LT, "<")                                                                                     \
    X(GT, ">")

/* X(id, spelling): words that cannot name anything; `in` names a dimension too and is not among
 * them */
#define GN_KEYWORDS(X)                                                                             \
    X(LAYER, "layer")                                                                              \
    X(MODEL, "model")                                                                              \
    X(FN, "fn")                                                                                    \
    X(TRAIN, "train")                                                                              \
    X(PARAM, "param")                                                                              \
    X(BUFFER, "buffer")                                                                            \
    X(UPDATE, "update")                                                                            \
    X(RETURN, "return")                                                                            \
    X(IF, "if")                                                                                    \
    X(ELSE, "else")                                                                                \
    X(FOR, "for")                                                                                  \
    X(ASSERT, "assert")                                                                            \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(NOT, "not")                                                                                  \
    X(TRUE, "true")                                                                                \
    X(FALSE, "false")                                                                              \
    X(NONE, "none")                                                                                \
    X(AS, "as")

typedef enum gn_token_kind {
    TOK_END,
    TOK_BAD, /* something that was reported */
    TOK_NAME,
    TOK_INT,
    TOK_FLOAT,
    TOK_STRING,
#define X(id, text) TOK_##id,
    GN_PUNCTUATION(X) GN_KEYWORDS(X)
#undef X
} gn_token_kind;

typedef struct gn_token {
    gn_token_kind kind;
    bool newline; /* first of its line */
    gn_span span;
    union {
        int64_t i;
        double f;
        const char *s; /* NAME, STRING: in the arena */
    } u;
} gn_token;

typedef GN_VEC(gn_token) gn_tokens;

/* Always ends with TOK_END. */
void gn_lex(gn_arena *a, gn_diags *d, const gn_source *s, gn_tokens *out);

#endif
