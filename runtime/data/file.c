#include "runtime/data/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
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
        if (want >= (size_t)1 << 30) GN_FAIL(GN_ERR_IO, "cannot read '%s': not a regular file, and over 1 GiB", path);
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
            if (left < 2 || z->next_in[0] != 0x1f || z->next_in[1] != 0x8b) break; /* zero padding may follow */
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
            GN_FAIL(GN_ERR_DATA, "%s: inflates to more than 100 times its %zu bytes: refused", origin, n);
        if (r == Z_MEM_ERROR) GN_FAIL(GN_ERR_NOMEM, "%s: out of memory while inflating", origin);
        if (r != Z_OK && r != Z_STREAM_END)
            GN_FAIL(GN_ERR_DATA, "%s: byte %zu: damaged gzip data (%s)", origin, n - (size_t)(end - z->next_in),
                    z->msg ? z->msg : "truncated");
    }
    out->p[out->n] = 0;
    return NULL;
}

gn_status *gn_gunzip(const void *bytes, size_t n, const char *origin, gn_bytes *out)
{
    *out = (gn_bytes){0};
    z_stream z = {.next_in = (z_const unsigned char *)bytes};
    if (inflateInit2(&z, 15 + 16) != Z_OK) GN_FAIL(GN_ERR_NOMEM, "%s: out of memory while inflating", origin);
    gn_status *s = gunzip(&z, origin, n, out);
    inflateEnd(&z);
    if (s) gn_bytes_free(out);
    return s;
}

static gn_status *open_beside(gn_out *o, mode_t mode, bool keep_mode)
{
    static atomic_uint counter;
    size_t cap = strlen(o->target) + 48;
    o->temp = malloc(cap);
    if (!o->temp) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a file name", cap);
    for (int tries = 0; tries < 100; tries++) {
        snprintf(o->temp, cap, "%s.%ld-%u.tmp", o->target, (long)getpid(), atomic_fetch_add(&counter, 1));
        int fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) break;
        if (keep_mode) (void)!fchmod(fd, mode & 07777);
        o->f = fdopen(fd, "wb");
        if (o->f) return NULL;
        close(fd);
        unlink(o->temp);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: a stream for '%s'", o->target);
    }
    gn_status *s = GN_ERROR(GN_ERR_IO, "cannot create '%s': %s", o->temp, strerror(errno));
    free(o->temp);
    o->temp = NULL;
    return s;
}

gn_status *gn_out_open(gn_out *o, const char *path)
{
    *o = (gn_out){0};
    o->target = realpath(path, NULL); /* a link stays a link: what it points at is replaced */
    if (!o->target) o->target = strdup(path);
    if (!o->target) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a file name", strlen(path));
    struct stat st;
    gn_status *s = NULL;
    bool exists = stat(o->target, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        s = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", path, strerror(EISDIR));
    } else if (exists && !S_ISREG(st.st_mode)) {
        o->f = fopen(o->target, "wbe");
        if (!o->f) s = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    } else if (exists && access(o->target, W_OK) != 0) {
        s = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    } else {
        s = open_beside(o, exists ? st.st_mode : 0, exists);
    }
    if (s) {
        free(o->target);
        free(o->temp);
        *o = (gn_out){0};
    }
    return s;
}

/* The rename itself reaches the disk with the folder's fsync; where a folder cannot be synced, nothing is lost. */
static void sync_folder(const char *target)
{
    char *folder = strdup(target);
    if (!folder) return;
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

gn_status *gn_out_close(gn_out *o, gn_status *so_far)
{
    int bad = 0;
    errno = 0;
    if (ferror(o->f) || fflush(o->f) != 0 || (o->temp && fsync(fileno(o->f)) != 0)) bad = errno ? errno : EIO;
    if (fclose(o->f) != 0 && !bad) bad = errno ? errno : EIO;
    if (!so_far && !bad && o->temp && rename(o->temp, o->target) != 0) bad = errno;
    if (o->temp && (so_far || bad)) unlink(o->temp);
    if (o->temp && !so_far && !bad) sync_folder(o->target);
    if (bad && !so_far) so_far = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", o->target, strerror(bad));
    free(o->target);
    free(o->temp);
    *o = (gn_out){0};
    return so_far;
}
