/* Tokens of loop IR's text, as kir_print.c writes it.  Any bytes are safe. */
#ifndef GN_IR_KIR_LEX_H
#define GN_IR_KIR_LEX_H

#include "base/arena.h"

#include <stdint.h>

typedef enum kir_token_kind {
    KIR_T_END,
    KIR_T_WORD,
    KIR_T_INT,
    KIR_T_FLOAT,
    KIR_T_STRING,
    KIR_T_VALUE,
    KIR_T_BUFFER,
    KIR_T_DOTS,
    KIR_T_SIGN,
    KIR_T_BAD
} kir_token_kind;

typedef struct kir_token {
    kir_token_kind kind;
    const char *text; /* WORD, STRING, VALUE (digits), BUFFER: in the arena; BAD: why */
    char sign;        /* SIGN: the character */
    int64_t i;        /* INT; FLOAT: its type, GN_F32 or GN_F64 */
    double f;
    const char *at;
} kir_token;

typedef struct kir_lexer {
    gn_arena *arena;
    const char *text, *at, *end; /* at: behind tok */
    kir_token tok;
} kir_lexer;

/* Takes the token that follows into tok. */
void kir_next(kir_lexer *l);

#endif
