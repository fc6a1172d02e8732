#include "frontend/lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

typedef struct lexer {
    gn_arena *arena;
    gn_diags *diags;
    const gn_source *src;
    gn_tokens *out;
    uint32_t at;
    bool newline;
} lexer;

static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* The text ends with a NUL, so looking one ahead of a character that is not one is safe. */
static char peek(const lexer *l, uint32_t k)
{
    return l->at + k < l->src->n ? l->src->text[l->at + k] : '\0';
}

static gn_token *push(lexer *l, gn_token_kind kind, uint32_t from)
{
    gn_token t = {.kind = kind, .newline = l->newline, .span = {from, l->at - from}};
    GN_PUSH(l->arena, *l->out, t);
    l->newline = false;
    return &l->out->p[l->out->n - 1];
}

static void word(lexer *l)
{
    static const struct {
        const char *text;
        gn_token_kind kind;
    } keywords[] = {
#define X(id, text) {text, TOK_##id},
        GN_KEYWORDS(X)
#undef X
    };
    uint32_t from = l->at;
    while (letter(peek(l, 0)) || digit(peek(l, 0))) l->at++;
    uint32_t n = l->at - from;
    const char *s = l->src->text + from;
    for (size_t k = 0; k < sizeof keywords / sizeof *keywords; k++) {
        const char *text = keywords[k].text; /* most begin otherwise */
        if (*text == *s && strlen(text) == n && memcmp(text, s, n) == 0) {
            push(l, keywords[k].kind, from);
            return;
        }
    }
    push(l, TOK_NAME, from)->u.s = gn_arena_strndup(l->arena, s, n);
}

/* strtod for any locale: mantissas and exponents of everyday numbers are exact in double, and one
 * division or multiplication rounds once (Clinger, "How to read floating point numbers accurately",
 * PLDI 1990). */
static double decimal(lexer *l, const char *text, uint64_t mantissa, bool exact, int exponent)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (exact && mantissa <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22)
        return exponent < 0 ? (double)mantissa / ten[-exponent] : (double)mantissa * ten[exponent];
    const struct lconv *lc = localeconv();
    gn_buf b = {.arena = l->arena};
    for (const char *s = text; *s; s++) {
        if (*s == '.')
            gn_buf_add(&b, lc->decimal_point);
        else
            gn_buf_addn(&b, s, 1);
    }
    return strtod(b.p, NULL);
}

typedef struct digits {
    uint64_t mantissa;
    bool exact;
    int places; /* of the fraction */
} digits;

static void read_digits(lexer *l, digits *d, gn_buf *text, bool fraction)
{
    for (; digit(peek(l, 0)) || (peek(l, 0) == '_' && digit(peek(l, 1))); l->at++) {
        char c = peek(l, 0);
        if (c == '_') continue;
        gn_buf_addn(text, &c, 1);
        uint64_t m;
        if (__builtin_mul_overflow(d->mantissa, (uint64_t)10, &m) ||
            __builtin_add_overflow(m, (uint64_t)(c - '0'), &m))
            d->exact = false;
        else
            d->mantissa = m;
        if (d->places < 10000) d->places += fraction;
    }
}

static void number(lexer *l)
{
    uint32_t from = l->at;
    digits d = {0, true, 0};
    gn_buf text = {.arena = l->arena};
    bool real = false;
    int exponent = 0;
    read_digits(l, &d, &text, false);
    if (peek(l, 0) == '.' && digit(peek(l, 1))) { /* not the .. of a range */
        real = true;
        l->at++;
        gn_buf_add(&text, ".");
        read_digits(l, &d, &text, true);
    }
    uint32_t sign = peek(l, 1) == '+' || peek(l, 1) == '-';
    if ((peek(l, 0) == 'e' || peek(l, 0) == 'E') && digit(peek(l, 1 + sign))) {
        real = true;
        bool minus = peek(l, 1) == '-';
        l->at += 1 + sign;
        for (; digit(peek(l, 0)); l->at++)
            if (exponent < 100000) exponent = exponent * 10 + (peek(l, 0) - '0');
        if (minus) exponent = -exponent;
        gn_buf_printf(&text, "e%d", exponent);
    }
    if (letter(peek(l, 0))) {
        while (letter(peek(l, 0)) || digit(peek(l, 0))) l->at++;
        gn_diag_error(l->diags, l->src, (gn_span){from, l->at - from},
                      "`%s` is neither a number nor a name",
                      gn_diag_clean(l->arena, l->src->text + from, l->at - from));
        push(l, TOK_BAD, from);
        return;
    }
    if (real) {
        push(l, TOK_FLOAT, from)->u.f = decimal(l, text.p, d.mantissa, d.exact,
                                                exponent - d.places);
        return;
    }
    if (!d.exact || d.mantissa > INT64_MAX)
        gn_diag_error(l->diags, l->src, (gn_span){from, l->at - from},
                      "integer too large: at most %lld (write it with a point for a float)",
                      (long long)INT64_MAX);
    push(l, TOK_INT, from)->u.i = d.exact && d.mantissa <= INT64_MAX ? (int64_t)d.mantissa : 0;
}

static void string(lexer *l)
{
    uint32_t from = l->at++;
    gn_buf b = {.arena = l->arena};
    gn_buf_add(&b, "");
    for (;;) {
        char c = peek(l, 0);
        if (l->at >= l->src->n || c == '\n') {
            gn_diag_error(l->diags, l->src, (gn_span){from, l->at - from},
                          "string without its closing `\"`");
            break;
        }
        l->at++;
        if (c == '"') break;
        if (c == '\\') {
            char e = peek(l, 0);
            if (e != '"' && e != '\\')
                gn_diag_error(l->diags, l->src, (gn_span){l->at - 1, 2},
                              "expected `\\\"` or `\\\\` after a backslash");
            else
                c = e, l->at++;
        } else if ((unsigned char)c < 0x20) {
            gn_diag_error(l->diags, l->src, (gn_span){l->at - 1, 1},
                          "control character in a string");
            continue;
        }
        gn_buf_addn(&b, &c, 1);
    }
    push(l, TOK_STRING, from)->u.s = b.p;
}

static bool punctuation(lexer *l)
{
    static const struct {
        const char *text;
        gn_token_kind kind;
    } marks[] = {
#define X(id, text) {text, TOK_##id},
        GN_PUNCTUATION(X)
#undef X
    };
    char c = peek(l, 0);
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        if (*marks[k].text != c) continue; /* most begin otherwise */
        size_t n = strlen(marks[k].text);
        if (l->at + n > l->src->n || memcmp(l->src->text + l->at, marks[k].text, n) != 0) continue;
        uint32_t from = l->at;
        l->at += (uint32_t)n;
        push(l, marks[k].kind, from);
        return true;
    }
    return false;
}

static void bad_character(lexer *l)
{
    /* one report a heap of them */
    if (l->out->n && !l->newline && l->out->p[l->out->n - 1].kind == TOK_BAD) {
        l->at++;
        return;
    }
    uint32_t from = l->at++;
    unsigned char c = (unsigned char)l->src->text[from];
    if (c >= 0x80)
        while (((unsigned char)peek(l, 0) & 0xC0) == 0x80 && l->at - from < 4) l->at++;
    gn_span at = {from, l->at - from};
    if (c < 0x20 || c == 0x7F)
        gn_diag_error(l->diags, l->src, at, "unexpected character \\x%02x", c);
    else
        gn_diag_error(l->diags, l->src, at, "unexpected character `%s`%s",
                      gn_diag_clean(l->arena, l->src->text + from, at.len),
                      c == '\'' ? "; strings are in double quotes" : "");
    push(l, TOK_BAD, from);
}

void gn_lex(gn_arena *a, gn_diags *d, const gn_source *s, gn_tokens *out)
{
    lexer l = {.arena = a, .diags = d, .src = s, .out = out, .newline = true};
    if (s->n >= 3 && memcmp(s->text, "\xEF\xBB\xBF", 3) == 0) l.at = 3; /* byte order mark */
    while (l.at < s->n) {
        char c = s->text[l.at];
        if (c == '\n') {
            l.newline = true;
            l.at++;
        } else if (c == ' ' || c == '\t' || c == '\r')
            l.at++;
        else if (c == '#')
            while (l.at < s->n && s->text[l.at] != '\n') l.at++;
        else if (letter(c))
            word(&l);
        else if (digit(c))
            number(&l);
        else if (c == '"')
            string(&l);
        else if (!punctuation(&l))
            bad_character(&l);
    }
    l.newline = true;
    push(&l, TOK_END, l.at);
}
