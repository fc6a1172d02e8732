#include "runtime/data/lines.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool gn_text_line(gn_text *t, gn_span *line)
{
    if (t->p == t->end) return false;
    const char *nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
    line->p = t->p;
    line->end = nl ? nl : t->end;
    const char *cr = memchr(line->p, '\r', (size_t)(line->end - line->p));
    if (cr) line->end = cr;
    t->p = line->end;
    if (t->p < t->end && *t->p == '\r') t->p++;
    if (t->p == nl) t->p++;
    t->line++;
    return true;
}

void gn_text_skip_mark(gn_text *t)
{
    if (t->end - t->p >= 3 && !memcmp(t->p, "\xef\xbb\xbf", 3)) t->p += 3;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool gn_text_word(gn_span *line, gn_span *word)
{
    while (line->p < line->end && is_blank(*line->p)) line->p++;
    word->p = line->p;
    while (line->p < line->end && !is_blank(*line->p)) line->p++;
    word->end = line->p;
    return word->p < word->end;
}

void gn_span_trim(gn_span *s)
{
    while (s->p < s->end && is_blank(*s->p)) s->p++;
    while (s->p < s->end && is_blank(s->end[-1])) s->end--;
}

static int cut_at_commas(gn_span line, gn_span *field, int most)
{
    int n = 0;
    for (const char *p = line.p; p < line.end; n++) {
        const char *comma = memchr(p, ',', (size_t)(line.end - p));
        gn_span f = {p, comma ? comma : line.end};
        gn_span_trim(&f);
        if (n < most) field[n] = f;
        p = comma ? comma + 1 : line.end;
    }
    return n;
}

/* What stands between two fields: each tab but the last ends a field of nothing. */
static int cut_at_blanks(gn_span line, gn_span *field, int most)
{
    int n = 0;
    bool between = false; /* a field was read, which the next tab ends */
    for (const char *p = line.p; p < line.end;) {
        if (*p == ' ') {
            p++;
            continue;
        }
        gn_span f = {p, p};
        if (*p == '\t') {
            p++;
            if (between) {
                between = false;
                continue;
            }
        } else {
            while (p < line.end && !is_blank(*p)) p++;
            f.end = p;
            between = true;
        }
        if (n < most) field[n] = f;
        n++;
    }
    return n;
}

int gn_text_fields(gn_span line, gn_span *field, int most)
{
    if (line.p == line.end || !memchr(line.p, ',', (size_t)(line.end - line.p)))
        return cut_at_blanks(line, field, most);
    gn_span_trim(&line);
    return cut_at_commas(line, field, most);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool gn_span_is(gn_span s, const char *text)
{
    size_t n = (size_t)(s.end - s.p);
    if (strlen(text) != n) return false;
    for (size_t i = 0; i < n; i++)
        if (lower(s.p[i]) != lower(text[i])) return false;
    return true;
}

bool gn_span_int(gn_span s, int64_t *out)
{
    bool minus = s.p < s.end && *s.p == '-';
    if (s.p < s.end && (*s.p == '-' || *s.p == '+')) s.p++;
    if (s.p == s.end) return false;
    int64_t v = 0;
    for (; s.p < s.end; s.p++) {
        if (*s.p < '0' || *s.p > '9') return false;
        if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
            __builtin_sub_overflow(v, (int64_t)(*s.p - '0'), &v))
            return false;
    }
    if (!minus && v == INT64_MIN) return false;
    *out = minus ? v : -v;
    return true;
}

/* Digits with at most one point: up to 19 significant ones as an integer and a power of ten. */
static bool mantissa(gn_span *s, uint64_t *digits, int64_t *exponent)
{
    int n = 0;
    bool point = false, any = false;
    for (; s->p < s->end; s->p++) {
        if (*s->p == '.' && !point) {
            point = true;
            continue;
        }
        if (*s->p < '0' || *s->p > '9') break;
        any = true;
        if (n < 19) {
            *digits = *digits * 10 + (uint64_t)(*s->p - '0');
            n += *digits != 0;
            *exponent -= point;
        } else {
            *exponent += !point;
        }
    }
    return any;
}

/* Correctly rounded where the digits fit 53 bits and the power of ten is exact (nearly always);
 * within one unit in the last place of a long double otherwise, which no float32 can tell. */
bool gn_span_float(gn_span s, double *out)
{
    bool minus = s.p < s.end && *s.p == '-';
    if (s.p < s.end && (*s.p == '-' || *s.p == '+')) s.p++;
    if (gn_span_is(s, "nan") || gn_span_is(s, "inf") || gn_span_is(s, "infinity")) {
        *out = lower(*s.p) == 'n' ? (double)NAN : minus ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    uint64_t digits = 0;
    int64_t exponent = 0, written = 0;
    if (!mantissa(&s, &digits, &exponent)) return false;
    if (s.p < s.end) {
        if (lower(*s.p) != 'e') return false;
        s.p++;
        if (!gn_span_int(s, &written)) return false;
    }
    if (written > 100000 || written < -100000) written = written > 0 ? 100000 : -100000;
    exponent += written;
    double v = (double)digits;
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits == 0)
        v = 0;
    else if (digits < (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22)
        v = exponent < 0 ? v / ten[-exponent] : v * ten[exponent];
    else
        v = (double)((long double)digits * powl(10.0L, (long double)exponent));
    *out = minus ? -v : v;
    return true;
}

gn_shown gn_span_show(gn_span s)
{
    gn_shown t;
    size_t k = 0;
    for (; s.p < s.end && k < sizeof t.s - 1; s.p++)
        t.s[k++] = *s.p >= 32 && *s.p < 127 ? *s.p : '?';
    t.s[k] = 0;
    return t;
}

gn_status *gn_text_error(const char *file, int at, const char *origin, int64_t line,
                         const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gn_status *s = gn_status_vmake(GN_ERR_DATA, file, at, fmt, ap);
    va_end(ap);
    return gn_status_annotate(s, "%s:%lld", origin, (long long)line);
}
