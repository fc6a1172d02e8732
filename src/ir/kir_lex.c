#include "ir/kir_lex.h"

#include "base/elem.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_word_char(int c) { return isalnum(c) || c == '_'; }
static int peek(const kir_lexer *l, size_t n)
{
    return (size_t)(l->end - l->at) > n ? (unsigned char)l->at[n] : -1;
}

static void skip_space(kir_lexer *l)
{
    while (l->at < l->end) {
        int c = peek(l, 0);
        if (c == ';')
            while (l->at < l->end && *l->at != '\n') l->at++;
        else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            l->at++;
        else
            return;
    }
}

static char *take(kir_lexer *l, const char *from)
{
    return gn_arena_strndup(l->arena, from, (size_t)(l->at - from));
}

static int hex_digit(int c)
{
    return isdigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void lex_string(kir_lexer *l, kir_token *t)
{
    gn_buf b = {.arena = l->arena};
    gn_buf_add(&b, "");
    *t = (kir_token){.kind = KIR_T_BAD, .text = "a string that does not end", .at = l->at++};
    while (l->at < l->end && *l->at != '\n' && *l->at != 0) {
        char c = *l->at++;
        if (c == '"') {
            t->kind = KIR_T_STRING;
            t->text = b.p;
            return;
        }
        if (c == '\\') {
            int e = peek(l, 0);
            if (e == 'x' && hex_digit(peek(l, 1)) >= 0 && hex_digit(peek(l, 2)) >= 0) {
                c = (char)(hex_digit(peek(l, 1)) * 16 + hex_digit(peek(l, 2)));
                l->at += 2;
            } else if (e == 'n' || e == '"' || e == '\\') {
                c = (char)(e == 'n' ? '\n' : e);
            } else {
                c = 0;
            }
            if (c == 0) {
                t->text = "an escape that is none of \\n \\\" \\\\ \\x01..\\xff";
                return;
            }
            l->at++;
        }
        gn_buf_addn(&b, &c, 1);
    }
}

static void lex_word(kir_lexer *l, kir_token *t)
{
    const char *from = l->at;
    while (is_word_char(peek(l, 0)) || (peek(l, 0) == '.' && l->at > from && isalnum(peek(l, 1))))
        l->at++;
    *t = (kir_token){.kind = KIR_T_WORD, .text = take(l, from), .at = from};
}

/* digits ['.' digits] ['e' sign digits], or inf or nan; then [":f64"] */
static void lex_number(kir_lexer *l, kir_token *t)
{
    const char *from = l->at;
    bool real = false;
    if (peek(l, 0) == '-') l->at++;
    if (isalpha(peek(l, 0))) {
        while (isalpha(peek(l, 0))) l->at++;
        real = true;
    }
    while (isdigit(peek(l, 0))) l->at++;
    if (peek(l, 0) == '.' && isdigit(peek(l, 1)) && (real = true))
        for (l->at++; isdigit(peek(l, 0));) l->at++;
    if (peek(l, 0) == 'e' && (real = true))
        for (l->at += peek(l, 1) == '-' || peek(l, 1) == '+' ? 2 : 1; isdigit(peek(l, 0));) l->at++;
    char *end, *s = take(l, from);
    *t = (kir_token){
        .kind = KIR_T_BAD, .text = "a number that does not fit or is malformed", .at = from};
    errno = 0;
    if (real)
        t->f = strtod(s, &end);
    else
        t->i = strtoll(s, &end, 10);
    if (*end || end == s || (!real && errno)) return;
    t->kind = real ? KIR_T_FLOAT : KIR_T_INT;
    t->i = real ? GN_F32 : t->i;
    if (real && l->end - l->at >= 4 && !memcmp(l->at, ":f64", 4)) {
        l->at += 4;
        t->i = GN_F64;
    }
}

void kir_next(kir_lexer *l)
{
    skip_space(l);
    kir_token *t = &l->tok;
    int c = peek(l, 0);
    *t = (kir_token){.kind = KIR_T_END, .at = l->at};
    if (c < 0) return;
    if (c == '%') {
        const char *from = l->at++;
        if (isdigit(peek(l, 0))) {
            const char *digits = l->at;
            while (isdigit(peek(l, 0))) l->at++;
            *t = (kir_token){.kind = KIR_T_VALUE, .text = take(l, digits)};
        } else {
            if (peek(l, 0) == '"')
                lex_string(l, t);
            else
                lex_word(l, t);
            if (t->kind != KIR_T_BAD && !*t->text)
                *t = (kir_token){.kind = KIR_T_BAD, .text = "a name must follow %"};
            if (t->kind != KIR_T_BAD) t->kind = KIR_T_BUFFER;
        }
        t->at = from;
    } else if (c == '"') {
        lex_string(l, t);
    } else if (isdigit(c) || c == '-') {
        lex_number(l, t);
    } else if (is_word_char(c)) {
        lex_word(l, t);
        if (!strcmp(t->text, "inf") || !strcmp(t->text, "nan")) {
            l->at = t->at;
            lex_number(l, t);
        }
    } else if (c == '.' && peek(l, 1) == '.') {
        l->at += 2;
        t->kind = KIR_T_DOTS;
    } else {
        l->at++;
        t->kind = KIR_T_SIGN;
        t->sign = (char)c;
    }
}
