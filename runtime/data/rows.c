#include "runtime/data/rows.h"

#include "runtime/data/lines.h"
#include "runtime/data/mem.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct reader {
    const char *origin;
    gn_text text;
    int64_t rows, cols;
    bool floats, missing;
    void *v;
    int64_t n, cap; /* numbers */
} reader;

#define LINE_FAIL(p, ...)                                                                          \
    return gn_text_error(__FILE__, __LINE__, (p)->origin, (p)->text.line, __VA_ARGS__)

static bool is_blank(gn_span line)
{
    gn_span word;
    return !gn_text_word(&line, &word);
}

/* The next field of a line, whose p is NULL behind the last.  One comma at the end begins none,
 * unless fields may be empty. */
static bool next_field(const reader *r, gn_span *line, bool commas, gn_span *field)
{
    if (!commas) return gn_text_word(line, field);
    if (!line->p) return false;
    const char *comma = memchr(line->p, ',', (size_t)(line->end - line->p));
    *field = (gn_span){line->p, comma ? comma : line->end};
    line->p = comma && (comma + 1 < line->end || r->missing) ? comma + 1 : NULL;
    gn_span_trim(field);
    return true;
}

static gn_status *more(reader *r)
{
    size_t size = r->floats ? sizeof(float) : sizeof(int64_t);
    int64_t cap = r->cap ? r->cap * 2 : 64;
    void *v = cap < PTRDIFF_MAX / 16 ? realloc(r->v, (size_t)cap * size) : NULL;
    if (!v) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld numbers", (long long)cap);
    r->v = v;
    r->cap = cap;
    return NULL;
}

static gn_status *put(reader *r, gn_span word)
{
    double real;
    int64_t whole;
    if (r->n == r->cap) GN_TRY(more(r));
    if (!r->floats) {
        if (!gn_span_int(word, &whole))
            LINE_FAIL(r, "'%s': expected a whole number", gn_span_show(word).s);
        ((int64_t *)r->v)[r->n++] = whole;
        return NULL;
    }
    if (r->missing && (word.p == word.end || gn_span_is(word, "nan"))) {
        ((float *)r->v)[r->n++] = NAN;
        return NULL;
    }
    if (!gn_span_float(word, &real) || !isfinite((float)real))
        LINE_FAIL(r, "'%s': expected a finite number", gn_span_show(word).s);
    ((float *)r->v)[r->n++] = (float)real;
    return NULL;
}

static gn_status *read_line(reader *r, gn_span line)
{
    gn_span word;
    int64_t cols = 0;
    gn_span_trim(&line);
    bool commas = memchr(line.p, ',', (size_t)(line.end - line.p)) != NULL;
    for (; next_field(r, &line, commas, &word); cols++) {
        if (r->cols && cols == r->cols)
            LINE_FAIL(r, "'%s' is too much: expected %lld number%s a line", gn_span_show(word).s,
                      (long long)r->cols, r->cols == 1 ? "" : "s");
        GN_TRY(put(r, word));
    }
    if (!r->cols) r->cols = cols;
    if (cols < r->cols)
        LINE_FAIL(r, "%lld number%s: expected %lld a line", (long long)cols, cols == 1 ? "" : "s",
                  (long long)r->cols);
    r->rows++;
    return NULL;
}

static gn_status *read_all(const gn_input *f, reader *r)
{
    gn_span line;
    r->origin = f->origin;
    r->text = (gn_text){f->bytes, (const char *)f->bytes + f->n, 0};
    gn_text_skip_mark(&r->text);
    while (gn_text_line(&r->text, &line))
        if (!is_blank(line)) GN_TRY(read_line(r, line));
    return r->v ? NULL : more(r);
}

gn_status *gn_rows_ints(const gn_input *f, int64_t cols, gn_int_rows *out)
{
    reader r = {.cols = cols};
    gn_status *s = read_all(f, &r);
    *out = (gn_int_rows){0};
    if (s)
        free(r.v);
    else
        *out = (gn_int_rows){r.rows, r.cols, r.v};
    return s;
}

static gn_status *read_floats(const gn_input *f, reader *r, gn_float_rows *out)
{
    r->floats = true;
    gn_status *s = read_all(f, r);
    *out = (gn_float_rows){0};
    if (s)
        free(r->v);
    else
        *out = (gn_float_rows){r->rows, r->cols, r->v};
    return s;
}

gn_status *gn_rows_floats(const gn_input *f, int64_t cols, gn_float_rows *out)
{
    reader r = {.cols = cols};
    return read_floats(f, &r, out);
}

gn_status *gn_rows_floats_or_none(const gn_input *f, gn_float_rows *out)
{
    reader r = {.missing = true};
    return read_floats(f, &r, out);
}

int64_t gn_rows_line(const gn_input *f, int64_t row)
{
    gn_text t = {f->bytes, (const char *)f->bytes + f->n, 0};
    gn_span line;
    gn_text_skip_mark(&t);
    while (row >= 0 && gn_text_line(&t, &line)) row -= !is_blank(line);
    return t.line;
}

gn_status *gn_rows_error(const char *file, int at, const gn_input *f, int64_t row, const char *fmt,
                         ...)
{
    va_list ap;
    va_start(ap, fmt);
    gn_status *s = gn_status_vmake(GN_ERR_DATA, file, at, fmt, ap);
    va_end(ap);
    return gn_status_annotate(s, "%s:%lld", f->origin, (long long)gn_rows_line(f, row));
}
