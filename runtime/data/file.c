#include "runtime/data/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

void gn_bytes_free(gn_bytes *b)
{
    free(b->p);
    b->p = NULL;
    b->n = 0;
}

/* Makes room for `want` bytes and the closing zero. */
static gn_status *reserve(gn_bytes *b, size_t *cap, size_t want)
{
    if (want < *cap) return NULL;
    unsigned char *p = want < SIZE_MAX / 2 ? realloc(b->p, want + 1) : NULL;
    if (!p) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a file", want);
    b->p = p;
    *cap = want + 1;
    return NULL;
}

static gn_status *read_all(int fd, const char *path, gn_bytes *out)
{
    struct stat st;
    if (fstat(fd, &st) != 0) GN_FAIL(GN_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    size_t cap = 0, want = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 65536;
    for (;;) {
        GN_TRY(reserve(out, &cap, want));
        ssize_t got = read(fd, out->p + out->n, want - out->n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) GN_FAIL(GN_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
        if (got == 0) break;
        out->n += (size_t)got;
        if (out->n < want) continue;
        if (S_ISREG(st.st_mode) && out->n >= (size_t)st.st_size) break;
        if (want >= (size_t)1 << 30)
            GN_FAIL(GN_ERR_IO, "cannot read '%s': not a regular file, and over 1 GiB", path);
        want *= 2;
    }
    out->p[out->n] = 0;
    return NULL;
}

gn_status *gn_file_read(const char *path, gn_bytes *out)
{
    *out = (gn_bytes){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) GN_FAIL(GN_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    gn_status *s = read_all(fd, path, out);
    close(fd);
    if (s) gn_bytes_free(out);
    return s;
}

static gn_status *gunzip(z_stream *z, const char *origin, size_t n, gn_bytes *out)
{
    size_t cap = 0, limit = n > (SIZE_MAX >> 8) ? SIZE_MAX / 2 : n * 100 + ((size_t)64 << 20);
    const unsigned char *end = z->next_in + n;
    int r = Z_OK;
    for (;;) {
        size_t left = (size_t)(end - z->next_in);
        if (r == Z_STREAM_END) {
            if (left < 2 || z->next_in[0] != 0x1f || z->next_in[1] != 0x8b)
                break; /* zero padding may follow */
            inflateReset(z);
        }
        if (cap < out->n + 4096) GN_TRY(reserve(out, &cap, cap ? cap * 2 : 65536));
        size_t room = cap - 1 - out->n;
        z->avail_in = left > (1u << 30) ? 1u << 30 : (unsigned)left;
        z->avail_out = room > (1u << 30) ? 1u << 30 : (unsigned)room;
        unsigned offered = z->avail_out;
        z->next_out = out->p + out->n;
        r = inflate(z, Z_NO_FLUSH);
        out->n += offered - z->avail_out;
        if (out->n > limit)
            GN_FAIL(GN_ERR_DATA, "%s: inflates to more than 100 times its %zu bytes: refused",
                    origin, n);
        if (r == Z_MEM_ERROR) GN_FAIL(GN_ERR_NOMEM, "%s: out of memory while inflating", origin);
        if (r != Z_OK && r != Z_STREAM_END)
            GN_FAIL(GN_ERR_DATA, "%s: byte %zu: damaged gzip data (%s)", origin,
                    n - (size_t)(end - z->next_in), z->msg ? z->msg : "truncated");
    }
    while (z->next_in < end && *z->next_in == 0) z->next_in++;
    if (z->next_in < end)
        GN_FAIL(GN_ERR_DATA, "%s: byte %zu: expected nothing behind the gzip data", origin,
                n - (size_t)(end - z->next_in));
    out->p[out->n] = 0;
    return NULL;
}

gn_status *gn_gunzip(const void *bytes, size_t n, const char *origin, gn_bytes *out)
{
    *out = (gn_bytes){0};
    z_stream z = {.next_in = (z_const unsigned char *)bytes};
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        GN_FAIL(GN_ERR_NOMEM, "%s: out of memory while inflating", origin);
    gn_status *s = gunzip(&z, origin, n, out);
    inflateEnd(&z);
    if (s) gn_bytes_free(out);
    return s;
}
