#include "runtime/data/npy.h"

#include "runtime/data/mem.h"

#include <stdio.h>
#include <string.h>

enum { MAX_HEADER = 65536 };

/* ---- the dict literal ---- */

typedef struct literal {
    const char *p, *end;
} literal;

static bool accept(literal *l, char c)
{
    while (l->p < l->end && (*l->p == ' ' || *l->p == '\n' || *l->p == '\t')) l->p++;
    if (l->p == l->end || *l->p != c) return false;
    l->p++;
    return true;
}

static bool accept_word(literal *l, const char *word)
{
    size_t n = strlen(word);
    while (l->p < l->end && *l->p == ' ') l->p++;
    if ((size_t)(l->end - l->p) < n || memcmp(l->p, word, n) != 0) return false;
    l->p += n;
    return true;
}

static bool accept_string(literal *l, const char **s, size_t *n)
{
    char quote = accept(l, '\'') ? '\'' : accept(l, '"') ? '"' : 0;
    if (!quote) return false;
    const char *end = memchr(l->p, quote, (size_t)(l->end - l->p));
    if (!end) return false;
    *s = l->p;
    *n = (size_t)(end - l->p);
    l->p = end + 1;
    return true;
}

static bool accept_number(literal *l, int64_t *v)
{
    const char *from;
    *v = 0;
    while (l->p < l->end && *l->p == ' ') l->p++;
    for (from = l->p; l->p < l->end && *l->p >= '0' && *l->p <= '9'; l->p++)
        if (__builtin_mul_overflow(*v, (int64_t)10, v) ||
            __builtin_add_overflow(*v, (int64_t)(*l->p - '0'), v))
            return false;
    if (l->p == from) return false;
    accept(l, 'L'); /* Python 2's long */
    return true;
}

static bool accept_shape(literal *l, gn_ndarray *a)
{
    int64_t dim[GN_NDARRAY_RANK];
    int rank = 0;
    if (!accept(l, '(')) return false;
    while (!accept(l, ')')) {
        if (rank == GN_NDARRAY_RANK || !accept_number(l, &dim[rank++])) return false;
        if (accept(l, ',')) continue;
        if (!accept(l, ')')) return false;
        break;
    }
    return gn_ndarray_shape(a, rank, dim);
}

static gn_status *parse_dict(const char *text, size_t n, const char *origin, gn_ndarray *a)
{
    literal l = {text, text + n};
    const char *key, *descr;
    size_t nk, nd;
    unsigned seen = 0;
    if (!accept(&l, '{')) GN_FAIL(GN_ERR_DATA, "%s: .npy header: expected a dict", origin);
    while (!accept(&l, '}')) {
        if (!accept_string(&l, &key, &nk) || !accept(&l, ':'))
            GN_FAIL(GN_ERR_DATA, "%s: .npy header: expected 'key': value", origin);
        if (nk == 5 && memcmp(key, "descr", 5) == 0) {
            if (!accept_string(&l, &descr, &nd) || !gn_ndarray_dtype(a, descr, nd))
                GN_FAIL(
                    GN_ERR_DATA,
                    "%s: .npy header: descr: expected a plain number such as '<f4' (b1, i1 to i8, "
                    "u1 to u8, f2 to f8)",
                    origin);
            seen |= 1;
        } else if (nk == 13 && memcmp(key, "fortran_order", 13) == 0) {
            a->fortran = accept_word(&l, "True");
            if (!a->fortran && !accept_word(&l, "False"))
                GN_FAIL(GN_ERR_DATA, "%s: .npy header: fortran_order: expected True or False",
                        origin);
            seen |= 2;
        } else if (nk == 5 && memcmp(key, "shape", 5) == 0) {
            if (!accept_shape(&l, a))
                GN_FAIL(GN_ERR_DATA,
                        "%s: .npy header: shape: expected a tuple of at most %d numbers", origin,
                        GN_NDARRAY_RANK);
            seen |= 4;
        } else {
            GN_FAIL(GN_ERR_DATA,
                    "%s: .npy header: expected the keys descr, fortran_order and shape", origin);
        }
        if (!accept(&l, ',') && (l.p == l.end || *l.p != '}'))
            GN_FAIL(GN_ERR_DATA, "%s: .npy header: expected , or }", origin);
    }
    if (seen != 7)
        GN_FAIL(GN_ERR_DATA, "%s: .npy header: expected descr, fortran_order and shape", origin);
    return NULL;
}

/* From the first twelve bytes: where the dict starts and how long it is. */
static gn_status *parse_preamble(const unsigned char p[12], const char *origin, size_t *at,
                                 size_t *length)
{
    if (memcmp(p, "\x93NUMPY", 6) != 0) GN_FAIL(GN_ERR_DATA, "%s: expected a .npy array", origin);
    if (p[6] < 1 || p[6] > 3)
        GN_FAIL(GN_ERR_DATA, "%s: .npy version %d: expected 1 to 3", origin, p[6]);
    *at = p[6] == 1 ? 10 : 12;
    *length = (size_t)p[8] | (size_t)p[9] << 8;
    if (p[6] > 1) *length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (*length > MAX_HEADER || *length < 2)
        GN_FAIL(GN_ERR_DATA, "%s: .npy header of %zu bytes: expected at most %d", origin, *length,
                MAX_HEADER);
    return NULL;
}

static gn_status *check_size(const gn_ndarray *a, uint64_t bytes, const char *origin)
{
    if ((uint64_t)a->count * a->size != bytes)
        GN_FAIL(GN_ERR_DATA, "%s: %llu bytes of data: expected %lld elements of %d bytes", origin,
                (unsigned long long)bytes, (long long)a->count, a->size);
    return NULL;
}

gn_status *gn_npy_parse(const void *bytes, size_t n, const char *origin, gn_ndarray *out)
{
    const unsigned char *p = bytes;
    size_t at, length;
    gn_ndarray a = {0};
    if (n < 12) GN_FAIL(GN_ERR_DATA, "%s: %zu bytes: expected a .npy array", origin, n);
    GN_TRY(parse_preamble(p, origin, &at, &length));
    if (length > n - at) GN_FAIL(GN_ERR_DATA, "%s: the .npy header is truncated", origin);
    GN_TRY(parse_dict((const char *)p + at, length, origin, &a));
    GN_TRY(check_size(&a, n - at - length, origin));
    a.data = p + at + length;
    *out = a;
    return NULL;
}

/* ---- members of a zip file ---- */

/* The text of the header; free it.  *left bytes of the member follow. */
static gn_status *read_header(gn_zip *z, const char *name, const char *origin,
                              unsigned char **header, size_t *length, uint64_t *left)
{
    unsigned char first[12];
    size_t at;
    uint64_t size;
    GN_TRY(gn_zip_enter(z, name, &size));
    GN_TRY(gn_zip_read(z, first, sizeof first));
    GN_TRY(parse_preamble(first, origin, &at, length));
    GN_MEM(*header, *length);
    size_t known = sizeof first - at; /* version 1 has its dict from byte 10 on */
    memcpy(*header, first + at, known);
    gn_status *s = gn_zip_read(z, *header + known, *length - known);
    if (s) free(*header);
    *left = size - at - *length;
    return s;
}

static gn_status *read_rest(gn_zip *z, uint64_t n, unsigned char **out)
{
    GN_MEM(*out, n);
    gn_status *s = gn_zip_read(z, *out, n);
    if (!s) s = gn_zip_leave(z);
    if (!s) return NULL;
    free(*out);
    *out = NULL;
    return s;
}

static gn_status *read_member(gn_zip *z, const char *name, const char *origin, gn_ndarray *a)
{
    unsigned char *header, *data;
    size_t length;
    uint64_t left;
    GN_TRY(read_header(z, name, origin, &header, &length, &left));
    gn_status *s = parse_dict((const char *)header, length, origin, a);
    free(header);
    GN_TRY(s);
    GN_TRY(check_size(a, left, origin));
    GN_TRY(read_rest(z, left, &data));
    a->owned = data;
    a->data = data;
    return NULL;
}

gn_status *gn_npy_member(gn_zip *z, const char *name, gn_ndarray *out)
{
    char origin[512];
    gn_ndarray a = {0};
    snprintf(origin, sizeof origin, "%s: %.*s", gn_zip_origin(z), (int)strlen(name) - 4, name);
    gn_status *s = read_member(z, name, origin, &a);
    if (s)
        gn_zip_abandon(z);
    else
        *out = a;
    return s;
}

static bool has(const unsigned char *text, size_t n, const char *word)
{
    return memmem(text, n, word, strlen(word)) != NULL;
}

gn_status *gn_npy_objects(gn_zip *z, const char *name, gn_bytes *out)
{
    unsigned char *header;
    size_t length;
    uint64_t left;
    *out = (gn_bytes){0};
    gn_status *s = read_header(z, name, gn_zip_origin(z), &header, &length, &left);
    bool objects = !s && has(header, length, "'descr': '|O'") &&
                   (has(header, length, "'shape': ()") || has(header, length, "'shape': (1,)"));
    if (!s) free(header);
    if (objects) s = read_rest(z, left, &out->p);
    if (s || !objects)
        gn_zip_abandon(z);
    else
        out->n = left;
    return s;
}

/* The letters of '<U6' are of four bytes, those of '|S6' of one; behind them there are zeros. */
static void copy_text(const unsigned char *p, size_t n, size_t step, char *to, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i + step <= n; i += step) {
        bool ascii = p[i] < 128;
        for (size_t k = 1; k < step; k++) ascii = ascii && p[i + k] == 0;
        if (!ascii || length + 1 >= size) {
            length = 0;
            break;
        }
        if (!p[i]) break;
        to[length++] = (char)p[i];
    }
    to[length] = 0;
}

gn_status *gn_npy_text(gn_zip *z, const char *name, char *to, size_t size)
{
    enum { MOST = 4096 };
    unsigned char *header, *data = NULL;
    size_t length;
    uint64_t left;
    *to = 0;
    gn_status *s = read_header(z, name, gn_zip_origin(z), &header, &length, &left);
    bool wide = !s && has(header, length, "'descr': '<U"),
         one = !s && (has(header, length, "'shape': ()") || has(header, length, "'shape': (1,)")),
         text = one && (wide || has(header, length, "'descr': '|S")) && left <= MOST;
    if (!s) free(header);
    if (text) s = read_rest(z, left, &data);
    if (s || !text) gn_zip_abandon(z);
    if (data) copy_text(data, left, wide ? 4 : 1, to, size);
    free(data);
    return s;
}

/* ---- lists of strings ---- */

/* The whole number behind `word`; -1: there is none.  *end: what follows it. */
static int64_t number_behind(const char *header, const char *word, const char **end)
{
    const char *at = strstr(header, word);
    char *stop = NULL;
    long long v = at ? strtoll(at + strlen(word), &stop, 10) : -1;
    *end = stop;
    return at && stop > at + strlen(word) && v >= 0 ? v : -1;
}

static size_t put_letter(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char head[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(head[more] | c >> 6 * more);
    for (int k = 1; k <= more; k++) to[k] = (char)(0x80 | (c >> 6 * (more - k) & 0x3F));
    return (size_t)more + 1;
}

/* Of `letters` letters of `step` bytes; NULL: one is none, or memory is out. */
static char *one_text(const unsigned char *p, int64_t letters, size_t step)
{
    char *to = malloc((size_t)letters * 4 + 1);
    size_t n = 0;
    for (int64_t i = 0; to && i < letters; i++) {
        uint32_t c = p[(size_t)i * step];
        for (size_t k = 1; k < step; k++) c |= (uint32_t)p[(size_t)i * step + k] << 8 * k;
        if (!c) break;
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
            free(to);
            return NULL;
        }
        n += put_letter(c, to + n);
    }
    if (to) to[n] = 0;
    return to;
}

static char **all_texts(const unsigned char *data, int64_t n, int64_t letters, size_t step)
{
    char **all = gn_mem_alloc(n, sizeof *all);
    bool there = all != NULL;
    for (int64_t i = 0; there && i < n; i++) {
        all[i] = one_text(data + (size_t)(i * letters) * step, letters, step);
        there = all[i] != NULL;
    }
    for (int64_t i = 0; all && !there && i < n; i++) free(all[i]);
    if (there) return all;
    free(all);
    return NULL;
}

gn_status *gn_npy_texts(gn_zip *z, const char *name, int64_t *n, char ***out)
{
    enum { MOST_LETTERS = 1 << 12, MOST = 1 << 24 };
    unsigned char *header, *data = NULL;
    size_t length;
    uint64_t left;
    *out = NULL;
    *n = 0;
    gn_status *s = read_header(z, name, gn_zip_origin(z), &header, &length, &left);
    char *text = s ? NULL : gn_mem_text((const char *)header, length);
    if (!s) free(header);
    const char *end = NULL, *unused;
    int64_t wide = text ? number_behind(text, "'descr': '<U", &unused) : -1,
            bytes = text ? number_behind(text, "'descr': '|S", &unused) : -1,
            letters = wide > 0 ? wide : bytes,
            count = text ? number_behind(text, "'shape': (", &end) : -1;
    size_t step = wide > 0 ? 4 : 1;
    bool list = count > 0 && count <= MOST && letters > 0 && letters <= MOST_LETTERS && end &&
                !strncmp(end, ",)", 2) && left == (uint64_t)(count * letters) * step;
    free(text);
    if (list) s = read_rest(z, left, &data);
    if (s || !list) gn_zip_abandon(z);
    if (data && (*out = all_texts(data, count, letters, step))) *n = count;
    free(data);
    return s;
}
