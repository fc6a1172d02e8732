#include "cli/json.h"

#include "cli/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void gn_json_init(gn_json *j, FILE *to, bool lines) { *j = (gn_json){.to = to, .lines = lines}; }

static void quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (const char *s = text; *s;) {
        int n = gn_utf8_length(s);
        switch (*s) {
        case '"': fputs("\\\"", to); break;
        case '\\': fputs("\\\\", to); break;
        case '\n': fputs("\\n", to); break;
        case '\r': fputs("\\r", to); break;
        case '\t': fputs("\\t", to); break;
        default:
            if (!n)
                fputs("\\ufffd", to);
            else if ((unsigned char)*s < 0x20 || *s == 0x7F)
                fprintf(to, "\\u%04x", (unsigned)*s);
            else
                fwrite(s, 1, (size_t)n, to);
        }
        s += n ? n : 1;
    }
    fputc('"', to);
}

static void new_line(gn_json *j)
{
    if (j->lines) fprintf(j->to, "\n%*s", 2 * j->depth, "");
}

/* What comes before a value: comma, line, key. */
static void before(gn_json *j, const char *key)
{
    if (j->depth) {
        bool *started = &j->started[j->depth - 1];
        if (*started) fputs(j->lines ? "," : ", ", j->to);
        *started = true;
        new_line(j);
    }
    if (key) {
        quoted(j->to, key);
        fputs(": ", j->to);
    }
}

static void after(gn_json *j)
{
    if (!j->depth) fputc('\n', j->to);
}

static void open_level(gn_json *j, const char *key, bool array)
{
    before(j, key);
    fputc(array ? '[' : '{', j->to);
    if (j->depth == GN_JSON_DEPTH) abort(); /* the shapes of our reports are fixed */
    j->array[j->depth] = array;
    j->started[j->depth++] = false;
}

void gn_json_object(gn_json *j, const char *key) { open_level(j, key, false); }
void gn_json_array(gn_json *j, const char *key) { open_level(j, key, true); }

void gn_json_end(gn_json *j)
{
    j->depth--;
    if (j->started[j->depth]) new_line(j);
    fputc(j->array[j->depth] ? ']' : '}', j->to);
    after(j);
}

static void word(gn_json *j, const char *key, const char *text)
{
    before(j, key);
    fputs(text, j->to);
    after(j);
}

void gn_json_string(gn_json *j, const char *key, const char *value)
{
    if (!value) {
        gn_json_null(j, key);
        return;
    }
    before(j, key);
    quoted(j->to, value);
    after(j);
}

void gn_json_int(gn_json *j, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    word(j, key, text);
}

void gn_json_double(gn_json *j, const char *key, double value)
{
    char text[32] = "null";
    if (isfinite(value))
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtod(text, NULL) == value) break;
        }
    word(j, key, text);
}

void gn_json_float(gn_json *j, const char *key, float value)
{
    char text[32] = "null";
    if (isfinite(value))
        for (int digits = 6; digits <= 9; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, (double)value);
            if (strtof(text, NULL) == value) break;
        }
    word(j, key, text);
}

void gn_json_bool(gn_json *j, const char *key, bool value)
{
    word(j, key, value ? "true" : "false");
}
void gn_json_null(gn_json *j, const char *key) { word(j, key, "null"); }
