#include "cli/text.h"

#include "cli/utf8.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

bool gn_text_ends(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && !strcmp(path + n - m, end);
}

/* Digits in threes. */
static const char *grouped(gn_arena *a, double x)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%.0f", fabs(x));
    gn_buf b = {.arena = a};
    gn_buf_add(&b, x < 0 ? "-" : "");
    for (int k = 0; k < n; k++)
        gn_buf_printf(&b, "%s%c", k && (n - k) % 3 == 0 ? "," : "", digits[k]);
    return b.p;
}

/* To three digits, where there are more. */
static double rounded(double x)
{
    double m = fabs(x), unit = m < 1000 ? 1 : pow(10, floor(log10(m)) - 2);
    return round(x / unit) * unit;
}

const char *gn_text_count(gn_arena *a, double x)
{
    if (isnan(x)) return "-";
    if (isinf(x)) return "never";
    return fabs(x) < 1e15 ? grouped(a, x) : gn_arena_printf(a, "%.3g", x);
}

const char *gn_text_number(gn_arena *a, double x)
{
    double m = fabs(x);
    if (isnan(x)) return "-";
    if (isinf(x)) return "never";
    if (m == 0) return "0";
    if (m < 0.001 || m >= 1e15) return gn_arena_printf(a, "%.3g", x);
    if (m >= 999.5) return grouped(a, rounded(x));
    int decimals = m < 0.00995 ? 5 : m < 0.0995 ? 4 : m < 0.995 ? 3 : m < 9.995 ? 2 : m < 99.95;
    return gn_arena_printf(a, "%.*f", decimals, x);
}

const char *gn_text_steps(gn_arena *a, double x)
{
    return isfinite(x) ? gn_text_count(a, rounded(x)) : gn_text_count(a, x);
}

const char *gn_text_time(gn_arena *a, double us)
{
    if (isnan(us)) return "-";
    if (isinf(us)) return "never";
    if (us < 999.5) return gn_arena_printf(a, "%s us", gn_text_number(a, us));
    if (us < 999.5e3) return gn_arena_printf(a, "%s ms", gn_text_number(a, us / 1e3));
    if (us < 99.95e6) return gn_arena_printf(a, "%s s", gn_text_number(a, us / 1e6));
    double s = round(us / 1e6);
    if (s < 3600) return gn_arena_printf(a, "%.0f min %.0f s", floor(s / 60), fmod(s, 60));
    return gn_arena_printf(a, "%.0f h %.0f min", floor(s / 3600), floor(fmod(s, 3600) / 60));
}

const char *gn_text_bytes(gn_arena *a, double bytes)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    int k = 0;
    if (isnan(bytes) || bytes < 0) return "-";
    while (bytes >= 999.5 && k < 4) {
        bytes /= 1000;
        k++;
    }
    return gn_arena_printf(a, "%s %s", gn_text_number(a, bytes), unit[k]);
}

/* Escaping ------------------------------------------------------------------------------------- */

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* Length of the character at s, 0 where it is no UTF-8 or a control character but for tab and line
 * feed. */
static size_t character(const char *s)
{
    bool control = ((unsigned char)*s < ' ' && *s != '\t' && *s != '\n') || *s == 0x7f;
    return control ? 0 : (size_t)gn_utf8_length(s);
}

const char *gn_text_fit(gn_arena *a, const char *text, size_t most)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "");
    for (size_t units = 0; *text;) {
        size_t n = character(text);
        units += n == 4 ? 2 : 1;
        if (units > most) break;
        gn_buf_addn(&b, n ? text : replacement, n ? n : strlen(replacement));
        text += n ? n : 1;
    }
    return b.p;
}

/* Character by character; `of` gives what stands for one of a byte, after which other, NULL:
 * itself. */
static void escape(FILE *to, const char *text, const char *(*of)(char before, char c))
{
    char before = 0;
    for (const char *s = text; *s;) {
        size_t n = character(s);
        const char *other = n == 1 ? of(before, *s) : NULL;
        before = *s;
        if (n == 0)
            fputs(replacement, to);
        else if (other)
            fputs(other, to);
        else
            fwrite(s, 1, n, to);
        s += n ? n : 1;
    }
}

static const char *html(char before, char c)
{
    (void)before;
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

static const char *latex(char before, char c)
{
    switch (c) {
    case '&': return "\\&";
    case '%': return "\\%";
    case '$': return "\\$";
    case '#': return "\\#";
    case '_': return "\\_";
    case '{': return "\\{";
    case '}': return "\\}";
    case '~': return "\\textasciitilde{}";
    case '^': return "\\textasciicircum{}";
    case '\\': return "\\textbackslash{}";
    case '<': return "\\textless{}";
    case '>': return "\\textgreater{}";
    case '|': return "\\textbar{}";
    case '"': return "\\textquotedbl{}";
    case '-': return before == '-' ? "{}-" : NULL; /* no ligature of two */
    case '\t':
    case '\n': return " ";
    default: return NULL;
    }
}

static const char *markdown(char before, char c)
{
    (void)before;
    switch (c) {
    case '|': return "\\|";
    case '\\': return "\\\\";
    case '`': return "\\`";
    case '*': return "\\*";
    case '_': return "\\_";
    case '[': return "\\[";
    case ']': return "\\]";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '\t':
    case '\n': return " ";
    default: return NULL;
    }
}

static const char *quoted(char before, char c)
{
    (void)before;
    return c == '"' ? "\"\"" : NULL;
}

void gn_text_html(FILE *to, const char *text) { escape(to, text, html); }
void gn_text_latex(FILE *to, const char *text) { escape(to, text, latex); }
void gn_text_markdown(FILE *to, const char *text) { escape(to, text, markdown); }

void gn_text_csv(FILE *to, const char *text)
{
    size_t n = strlen(text);
    bool quote = text[strcspn(text, ",\"\r\n")] || (n && (text[0] == ' ' || text[n - 1] == ' '));
    if (quote) fputc('"', to);
    escape(to, text, quoted);
    if (quote) fputc('"', to);
}
