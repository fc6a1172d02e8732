/* .npz: a zip of stored .npy members, written front to back (no seeking, so a pipe will do), with
 * zip64 sizes throughout and no time stamps, so equal tensors give equal files.  numpy has no
 * bfloat16: those go out as float32, which holds them exactly. Formats: numpy/lib/format.py;
 * APPNOTE.TXT 6.3 of PKWARE. */
#include "base/outfile.h"
#include "runtime/data/mem.h"
#include "runtime/data/tensorfile.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

static const char *const descr[GN_ELEM_COUNT] = {
    [GN_F32] = "f4", [GN_F64] = "f8", [GN_BF16] = "f4", [GN_F16] = "f2",  [GN_I32] = "i4",
    [GN_I64] = "i8", [GN_U32] = "u4", [GN_U8] = "u1",   [GN_BOOL] = "b1",
};
static const char order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<';

typedef struct entry {
    uint64_t at, size;
    uint32_t crc;
} entry;

typedef struct writer {
    FILE *f;
    uint64_t at;
} writer;

static void put(writer *w, const void *p, size_t n)
{
    if (n) fwrite(p, 1, n, w->f);
    w->at += n;
}

static void put_int(writer *w, uint64_t v, int bytes)
{
    unsigned char p[8];
    for (int i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> (8 * i));
    put(w, p, (size_t)bytes);
}

static int64_t count_of(const gn_named_tensor *t)
{
    int64_t n = 1;
    for (int k = 0; k < t->rank; k++) n *= t->dim[k];
    return n;
}

/* What is common to a local header and the directory: from "version needed" to the two sizes and
 * the name's length. */
static void put_common(writer *w, const entry *e, size_t name_length, int extra)
{
    put_int(w, 45, 2);
    put_int(w, 0x800, 2); /* names are UTF-8 */
    put_int(w, 0, 2);     /* stored */
    put_int(w, 0, 2);
    put_int(w, 0x21, 2); /* 1980-01-01 */
    put_int(w, e->crc, 4);
    put_int(w, UINT32_MAX, 4);
    put_int(w, UINT32_MAX, 4);
    put_int(w, name_length + 4, 2);
    put_int(w, (uint64_t)extra, 2);
}

static void put_name(writer *w, const char *name)
{
    put(w, name, strlen(name));
    put(w, ".npy", 4);
}

static void put_local(writer *w, const char *name, const entry *e)
{
    put_int(w, 0x04034b50, 4);
    put_common(w, e, strlen(name), 20);
    put_name(w, name);
    put_int(w, 1, 2);
    put_int(w, 16, 2);
    put_int(w, e->size, 8);
    put_int(w, e->size, 8);
}

static void put_directory(writer *w, const gn_tensor_file *f, const entry *e)
{
    uint64_t from = w->at, end;
    for (int i = 0; i < f->n; i++) {
        put_int(w, 0x02014b50, 4);
        put_int(w, 45, 2);
        put_common(w, &e[i], strlen(f->tensors[i].name), 28);
        put_int(w, 0, 8); /* comment, disk, attributes */
        put_int(w, 0, 2);
        put_int(w, UINT32_MAX, 4);
        put_name(w, f->tensors[i].name);
        put_int(w, 1, 2);
        put_int(w, 24, 2);
        put_int(w, e[i].size, 8);
        put_int(w, e[i].size, 8);
        put_int(w, e[i].at, 8);
    }
    end = w->at;
    put_int(w, 0x06064b50, 4);
    put_int(w, 44, 8);
    put_int(w, 45, 2);
    put_int(w, 45, 2);
    put_int(w, 0, 8);
    put_int(w, (uint64_t)f->n, 8);
    put_int(w, (uint64_t)f->n, 8);
    put_int(w, end - from, 8);
    put_int(w, from, 8);
    put_int(w, 0x07064b50, 4);
    put_int(w, 0, 4);
    put_int(w, end, 8);
    put_int(w, 1, 4);
    put_int(w, 0x06054b50, 4);
    put_int(w, 0, 4);
    put_int(w, UINT32_MAX, 4); /* both counts */
    put_int(w, UINT32_MAX, 4);
    put_int(w, UINT32_MAX, 4);
    put_int(w, 0, 2);
}

/* Header of an array, padded so that its data start at a multiple of 64 from the member's start. */
static size_t npy_header(const gn_named_tensor *t, char *to, size_t cap)
{
    char shape[8 * 22] = "";
    size_t n = 0;
    for (int k = 0; k < t->rank; k++)
        n += (size_t)snprintf(shape + n, sizeof shape - n, "%lld,%s", (long long)t->dim[k],
                              k + 1 < t->rank ? " " : "");
    if (t->rank > 1) shape[n - 1] = 0; /* only (n,) keeps its comma */
    int length = snprintf(to + 10, cap - 10,
                          "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                          gn_elem_size(t->elem) == 1 ? '|' : order, descr[t->elem], shape);
    size_t total = ((size_t)length + 10 + 1 + 63) / 64 * 64;
    memset(to + 10 + length, ' ', total - 10 - (size_t)length);
    to[total - 1] = '\n';
    memcpy(to, "\x93NUMPY\1", 8);
    to[8] = (char)((total - 10) & 255);
    to[9] = (char)((total - 10) >> 8);
    return total;
}

static uint32_t crc_of(uint32_t crc, const void *p, uint64_t n)
{
    return n ? (uint32_t)crc32_z(crc, p, (size_t)n) : crc;
}

/* A bfloat16 is the upper half of a float32. */
static gn_status *widen(const gn_named_tensor *t, uint32_t **out)
{
    const uint16_t *from = t->data;
    uint32_t *to;
    int64_t n = count_of(t);
    GN_MEM(to, n);
    for (int64_t i = 0; i < n; i++) to[i] = (uint32_t)from[i] << 16;
    *out = to;
    return NULL;
}

static gn_status *put_tensor(writer *w, const gn_named_tensor *t, entry *e)
{
    char header[512];
    uint32_t *wide = NULL;
    if (strlen(t->name) > 65000)
        GN_FAIL(GN_ERR_USAGE, "a tensor's name has %zu bytes", strlen(t->name));
    if (t->elem == GN_BF16) GN_TRY(widen(t, &wide));
    const void *data = wide ? wide : t->data;
    size_t n = npy_header(t, header, sizeof header);
    uint64_t bytes = (uint64_t)count_of(t) * (wide ? sizeof *wide : gn_elem_size(t->elem));
    e->at = w->at;
    e->size = n + bytes;
    e->crc = crc_of(crc_of(0, header, n), data, bytes);
    put_local(w, t->name, e);
    put(w, header, n);
    put(w, data, (size_t)bytes);
    free(wide);
    return NULL;
}

gn_status *gn_npz_write(const char *path, const gn_tensor_file *f)
{
    entry *e;
    gn_out o;
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(f->tensors[i].name, f->tensors[k].name) == 0)
                GN_FAIL(GN_ERR_USAGE, "two tensors are named '%s'", f->tensors[i].name);
    GN_MEM(e, f->n);
    gn_status *s = gn_out_open(&o, path);
    if (s) {
        free(e);
        return s;
    }
    writer w = {.f = o.f};
    for (int i = 0; i < f->n && !s; i++) s = put_tensor(&w, &f->tensors[i], &e[i]);
    if (!s) put_directory(&w, f, e);
    free(e);
    return gn_out_close(&o, s);
}
