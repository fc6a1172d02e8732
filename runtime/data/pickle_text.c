/* Text in pickles: the literals of protocol 0, and bytes that Python 3 writes as text in protocols
 * below 3. */
#include "runtime/data/pickle_machine.h"

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Python 2's string literal, 'quoted' with escapes. */
gn_status *gn_pickle_string_literal(machine *m, const char *s, size_t n, value *out)
{
    static const char plain[] = "\\\\''\"\"n\nr\rt\ta\ab\bf\fv\v";
    size_t k = 0;
    if (n < 2 || (*s != '\'' && *s != '"') || s[n - 1] != *s)
        PICKLE_FAIL(m, "expected a quoted string");
    char *t = gn_arena_alloc(m->arena, n, 1);
    for (size_t i = 1; i < n - 1; i++) {
        if (s[i] != '\\') {
            t[k++] = s[i];
            continue;
        }
        if (++i == n - 1) PICKLE_FAIL(m, "a string ends in a backslash");
        size_t e = 0;
        while (e < sizeof plain - 1 && plain[e] != s[i]) e += 2;
        if (e < sizeof plain - 1) {
            t[k++] = plain[e + 1];
        } else if (s[i] == 'x' && i + 2 < n - 1 && hex_digit(s[i + 1]) >= 0 &&
                   hex_digit(s[i + 2]) >= 0) {
            t[k++] = (char)(hex_digit(s[i + 1]) << 4 | hex_digit(s[i + 2]));
            i += 2;
        } else {
            PICKLE_FAIL(m, "unknown escape in a string: expected \\\\ \\' \\n \\r \\t or \\xHH");
        }
    }
    out->u.s = t;
    out->n = (uint32_t)k;
    return NULL;
}

static void put_utf8(char *t, size_t *k, unsigned c)
{
    if (c < 0x80) {
        t[(*k)++] = (char)c;
    } else if (c < 0x800) {
        t[(*k)++] = (char)(0xc0 | c >> 6);
        t[(*k)++] = (char)(0x80 | (c & 63));
    } else {
        t[(*k)++] = (char)(0xe0 | c >> 12);
        t[(*k)++] = (char)(0x80 | (c >> 6 & 63));
        t[(*k)++] = (char)(0x80 | (c & 63));
    }
}

/* raw-unicode-escape: latin-1 bytes and \uXXXX. */
gn_status *gn_pickle_unicode_literal(machine *m, const char *s, size_t n, value *out)
{
    size_t k = 0;
    char *t = gn_arena_alloc(m->arena, n * 2 + 1, 1);
    for (size_t i = 0; i < n; i++) {
        unsigned c = (unsigned char)s[i];
        if (c == '\\' && i + 5 < n && s[i + 1] == 'u') {
            c = 0;
            for (size_t j = i + 2; j < i + 6; j++) {
                if (hex_digit(s[j]) < 0)
                    PICKLE_FAIL(m, "expected four hexadecimal digits after \\u");
                c = c << 4 | (unsigned)hex_digit(s[j]);
            }
            i += 5;
        }
        put_utf8(t, &k, c);
    }
    out->u.s = t;
    out->n = (uint32_t)k;
    return NULL;
}

/* encode(text, 'latin1'): how Python 3 writes bytes in protocols below 3. */
gn_status *gn_pickle_encode(machine *m, const value *args, value **out)
{
    if (args->n != 2 || args->u.item[0]->kind != GN_PICKLE_STR ||
        !gn_pickle_is_text(args->u.item[1], "latin1"))
        PICKLE_FAIL(m, "_codecs.encode: expected a text and 'latin1'");
    const value *text = args->u.item[0];
    char *t = gn_arena_alloc(m->arena, text->n, 1);
    uint32_t k = 0;
    for (uint32_t i = 0; i < text->n; i++) {
        unsigned char c = (unsigned char)text->u.s[i];
        if (c >= 0x80) {
            if ((c != 0xc2 && c != 0xc3) || i + 1 == text->n ||
                ((unsigned char)text->u.s[i + 1] & 0xc0) != 0x80)
                PICKLE_FAIL(m, "_codecs.encode: a character beyond latin1");
            c = (unsigned char)((c & 3) << 6 | ((unsigned char)text->u.s[++i] & 63));
        }
        t[k++] = (char)c;
    }
    *out = gn_pickle_new(m, GN_PICKLE_BYTES);
    (*out)->u.s = t;
    (*out)->n = k;
    return NULL;
}
