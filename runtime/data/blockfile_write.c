#include "runtime/data/blockfile.h"

#include "base/outfile.h"
#include "runtime/data/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER = 64 * GN_BLOCK_SIZE };

typedef struct filling {
    unsigned char *buffer; /* [BUFFER] what is not yet on the disk; NULL: nothing was put */
    int64_t buffered, written;
} filling;

struct gn_block_writer {
    gn_out out;
    char *path;
    int n;
    gn_block_array *arrays;
    filling *filled; /* [n] */
    int64_t end;     /* of the blocks that are reserved */
    uint32_t *crc;   /* [room] of the blocks from 1 on */
    int64_t room;
};

static int64_t round_up(int64_t bytes)
{
    return (bytes + GN_BLOCK_SIZE - 1) / GN_BLOCK_SIZE * GN_BLOCK_SIZE;
}

gn_status *gn_block_writer_new(const char *path, gn_block_writer **out)
{
    gn_block_writer *w;
    *out = NULL;
    GN_MEM(w, 1);
    w->end = GN_BLOCK_SIZE;
    w->path = strdup(path);
    gn_status *s = w->path ? gn_out_open(&w->out, path)
                           : GN_ERROR(GN_ERR_NOMEM, "out of memory: a file name");
    if (!s && !w->out.temp) {
        s = GN_ERROR(GN_ERR_IO, "cannot write '%s': expected a file, not a pipe or a device", path);
        s = gn_out_close(&w->out, s);
    }
    if (!s) {
        *out = w;
        return NULL;
    }
    free(w->path);
    free(w);
    return s;
}

static gn_status *more_room(gn_block_writer *w, int64_t blocks)
{
    if (blocks <= w->room) return NULL;
    int64_t room = blocks + blocks / 2;
    uint32_t *crc = (uint64_t)room < SIZE_MAX / sizeof *crc
                        ? realloc(w->crc, (size_t)room * sizeof *crc)
                        : NULL;
    if (!crc) GN_FAIL(GN_ERR_NOMEM, "out of memory: checksums of %lld blocks", (long long)blocks);
    memset(crc + w->room, 0, (size_t)(room - w->room) * sizeof *crc);
    w->crc = crc;
    w->room = room;
    return NULL;
}

gn_status *gn_block_writer_add(gn_block_writer *w, const char *name, gn_elem elem, int rank,
                               const int64_t *dim, int *array)
{
    gn_block_array a = {.elem = elem, .rank = rank, .bytes = (int64_t)gn_elem_size(elem)};
    for (int k = 0; k < w->n; k++)
        if (!strcmp(w->arrays[k].name, name))
            GN_FAIL(GN_ERR_INTERNAL, "%s: two arrays are named '%s'", w->path, name);
    for (int k = 0; k < rank; k++) {
        a.dim[k] = dim[k];
        if (dim[k] < 0 || __builtin_mul_overflow(a.bytes, dim[k], &a.bytes) ||
            a.bytes > INT64_MAX / 4 - w->end)
            GN_FAIL(GN_ERR_DATA, "%s: %s: dimension %d is %lld, which is too large", w->path, name,
                    k, (long long)dim[k]);
    }
    a.at = w->end;
    GN_TRY(more_room(w, (w->end + round_up(a.bytes)) / GN_BLOCK_SIZE));
    gn_block_array *all = realloc(w->arrays, ((size_t)w->n + 1) * sizeof *all);
    if (all) w->arrays = all;
    filling *filled = all ? realloc(w->filled, ((size_t)w->n + 1) * sizeof *filled) : NULL;
    if (filled) w->filled = filled;
    a.name = filled ? strdup(name) : NULL;
    if (!a.name) GN_FAIL(GN_ERR_NOMEM, "out of memory: an array of a file");
    w->arrays[w->n] = a;
    w->filled[w->n] = (filling){0};
    *array = w->n++;
    w->end += round_up(a.bytes);
    return NULL;
}

static gn_status *write_at(const gn_block_writer *w, const void *bytes, size_t n, int64_t at)
{
    const char *p = bytes;
    while (n) {
        ssize_t put = pwrite(fileno(w->out.f), p, n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            GN_FAIL(GN_ERR_IO, "cannot write '%s': %s", w->path, strerror(put ? errno : ENOSPC));
        p += put;
        n -= (size_t)put;
        at += put;
    }
    return NULL;
}

/* Whole blocks, or what is left of the array, to where it is at. */
static gn_status *write_blocks(gn_block_writer *w, int array, const unsigned char *p, int64_t n)
{
    filling *f = &w->filled[array];
    int64_t at = w->arrays[array].at + f->written;
    GN_TRY(write_at(w, p, (size_t)n, at));
    for (int64_t k = 0; k < n; k += GN_BLOCK_SIZE)
        w->crc[(at + k) / GN_BLOCK_SIZE - 1] = (uint32_t)crc32(0, p + k, GN_BLOCK_SIZE);
    f->written += n;
    return NULL;
}

static gn_status *flush(gn_block_writer *w, int array)
{
    filling *f = &w->filled[array];
    int64_t n = round_up(f->buffered);
    memset(f->buffer + f->buffered, 0, (size_t)(n - f->buffered));
    f->buffered = 0;
    return write_blocks(w, array, f->buffer, n);
}

gn_status *gn_block_writer_put(gn_block_writer *w, int array, const void *bytes, size_t n)
{
    filling *f = &w->filled[array];
    const unsigned char *p = bytes;
    int64_t all = w->arrays[array].bytes, left = (int64_t)n;
    if (left > all - f->written - f->buffered)
        GN_FAIL(GN_ERR_INTERNAL, "%s: %s: more than its %lld bytes", w->path, w->arrays[array].name,
                (long long)all);
    if (left && !f->buffer) GN_MEM(f->buffer, BUFFER);
    while (left) {
        int64_t whole = f->buffered ? 0 : left / BUFFER * BUFFER;
        if (whole) {
            GN_TRY(write_blocks(w, array, p, whole));
        } else {
            whole = BUFFER - f->buffered < left ? BUFFER - f->buffered : left;
            memcpy(f->buffer + f->buffered, p, (size_t)whole);
            f->buffered += whole;
        }
        p += whole;
        left -= whole;
        if (f->buffered == BUFFER || (f->buffered && f->written + f->buffered == all))
            GN_TRY(flush(w, array));
    }
    if (f->written < all) return NULL;
    free(f->buffer); /* it is full */
    f->buffer = NULL;
    return NULL;
}

gn_status *gn_block_writer_whole(gn_block_writer *w, const char *name, gn_elem elem, int rank,
                                 const int64_t *dim, const void *data)
{
    int array;
    GN_TRY(gn_block_writer_add(w, name, elem, rank, dim, &array));
    return gn_block_writer_put(w, array, data, (size_t)w->arrays[array].bytes);
}

/* The end ---------------------------------------------------------------------------------------
 */

static json_t *directory(const gn_block_writer *w, const json_t *meta)
{
    json_t *arrays = json_object();
    for (int k = 0; k < w->n; k++) {
        const gn_block_array *a = &w->arrays[k];
        json_t *shape = json_array();
        for (int d = 0; d < a->rank; d++) json_array_append_new(shape, json_integer(a->dim[d]));
        json_object_set_new(arrays, a->name,
                            json_pack("{s:s, s:o, s:I}", "elem", gn_elem_name(a->elem), "shape",
                                      shape, "at", (json_int_t)a->at));
    }
    return json_pack("{s:o, s:O}", "arrays", arrays, "meta", (json_t *)(uintptr_t)meta);
}

static void put_u32(unsigned char *to, uint32_t v)
{
    for (int k = 0; k < 4; k++) to[k] = (unsigned char)(v >> 8 * k);
}
static void put_u64(unsigned char *to, uint64_t v)
{
    put_u32(to, (uint32_t)v);
    put_u32(to + 4, (uint32_t)(v >> 32));
}

static uint32_t checksum(const void *p, size_t n) { return (uint32_t)crc32_z(0, p, n); }

static gn_status *write_end(gn_block_writer *w, const char *text)
{
    unsigned char header[GN_BLOCK_SIZE] = GN_BLOCK_MAGIC;
    int64_t n = w->end / GN_BLOCK_SIZE - 1, length = round_up((int64_t)strlen(text)),
            crc_at = w->end + length;
    unsigned char *table;
    GN_MEM(table, n * 4 + length); /* and the directory, with blanks up to its end */
    char *padded = (char *)table + 4 * n;
    memset(padded, ' ', (size_t)length);
    memcpy(padded, text, strlen(text));
    for (int64_t k = 0; k < n; k++) put_u32(table + 4 * k, w->crc[k]);
    put_u32(header + 8, GN_BLOCK_VERSION);
    put_u32(header + 12, 0x01020304);
    put_u64(header + 16, (uint64_t)(crc_at + 4 * n));
    put_u64(header + 24, (uint64_t)w->end);
    put_u64(header + 32, (uint64_t)length);
    put_u64(header + 40, (uint64_t)crc_at);
    put_u64(header + 48, (uint64_t)n);
    put_u32(header + 56, checksum(padded, (size_t)length));
    put_u32(header + 60, checksum(table, (size_t)n * 4));
    put_u32(header + GN_BLOCK_SIZE - 4, checksum(header, GN_BLOCK_SIZE - 4));
    gn_status *s = write_at(w, padded, (size_t)length, w->end);
    if (!s) s = write_at(w, table, (size_t)n * 4, crc_at);
    free(table);
    if (!s && ftruncate(fileno(w->out.f), (off_t)(crc_at + 4 * n)) != 0)
        s = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", w->path, strerror(errno));
    return s ? s : write_at(w, header, sizeof header, 0);
}

static gn_status *finish(gn_block_writer *w, const json_t *meta)
{
    for (int k = 0; k < w->n; k++)
        if (w->filled[k].written < w->arrays[k].bytes)
            GN_FAIL(GN_ERR_INTERNAL, "%s: %s: %lld of its %lld bytes were put", w->path,
                    w->arrays[k].name, (long long)w->filled[k].written,
                    (long long)w->arrays[k].bytes);
    json_t *all = directory(w, meta);
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    if (!text) GN_FAIL(GN_ERR_NOMEM, "out of memory: the directory of '%s'", w->path);
    gn_status *s = write_end(w, text);
    free(text);
    return s;
}

gn_status *gn_block_writer_close(gn_block_writer *w, const json_t *meta, gn_status *so_far)
{
    if (!so_far) so_far = finish(w, meta);
    so_far = gn_out_close(&w->out, so_far);
    for (int k = 0; k < w->n; k++) {
        free(w->arrays[k].name);
        free(w->filled[k].buffer);
    }
    free(w->arrays);
    free(w->filled);
    free(w->crc);
    free(w->path);
    free(w);
    return so_far;
}
