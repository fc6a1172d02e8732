#include "runtime/data/zip.h"

#include "runtime/data/mem.h"

#include <minizip/unzip.h>
#include <string.h>

enum {
    MAX_MEMBERS = 65535,
    MAX_NAME = 255,
    MAX_RATIO = 1032 /* what deflate can reach */
};

typedef struct member {
    char name[MAX_NAME + 1];
    unz64_file_pos at;
} member;

struct gn_zip {
    const char *origin;
    const unsigned char *p;
    uint64_t n, pos; /* the bytes as a stream */
    unzFile unz;
    member *members; /* sorted by name */
    int64_t n_members;
    uint64_t left; /* of the member entered */
    const char *entered;
};

/* ---- minizip's view of the bytes; `opaque` and `stream` are the gn_zip ---- */

static voidpf io_open(voidpf opaque, const void *name, int mode)
{
    (void)name, (void)mode;
    return opaque;
}

static uLong io_read(voidpf opaque, voidpf stream, void *to, uLong n)
{
    gn_zip *z = stream;
    (void)opaque;
    uint64_t k = n < z->n - z->pos ? n : z->n - z->pos;
    if (k) memcpy(to, z->p + z->pos, (size_t)k);
    z->pos += k;
    return (uLong)k;
}

static uLong io_write(voidpf opaque, voidpf stream, const void *from, uLong n)
{
    (void)opaque, (void)stream, (void)from, (void)n;
    return 0;
}

static ZPOS64_T io_tell(voidpf opaque, voidpf stream)
{
    (void)opaque;
    return ((gn_zip *)stream)->pos;
}

static long io_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    gn_zip *z = stream;
    (void)opaque;
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET ? 0 : origin == ZLIB_FILEFUNC_SEEK_CUR ? z->pos : z->n;
    if (offset > z->n - base) return -1;
    z->pos = base + offset;
    return 0;
}

static int io_none(voidpf opaque, voidpf stream)
{
    (void)opaque, (void)stream;
    return 0;
}

/* ---- the directory ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const member *)a)->name, ((const member *)b)->name);
}

static gn_status *list_members(gn_zip *z)
{
    unz_global_info64 info;
    if (unzGetGlobalInfo64(z->unz, &info) != UNZ_OK || info.number_entry > MAX_MEMBERS || info.number_entry > z->n / 46)
        GN_FAIL(GN_ERR_DATA, "%s: damaged zip directory", z->origin);
    GN_MEM(z->members, info.number_entry);
    for (uint64_t i = 0; i < info.number_entry; i++) {
        member *m = &z->members[i];
        unz_file_info64 f;
        int r = i == 0 ? unzGoToFirstFile(z->unz) : unzGoToNextFile(z->unz);
        if (r == UNZ_OK) r = unzGetCurrentFileInfo64(z->unz, &f, m->name, MAX_NAME, NULL, 0, NULL, 0);
        if (r == UNZ_OK) r = unzGetFilePos64(z->unz, &m->at);
        if (r != UNZ_OK)
            GN_FAIL(GN_ERR_DATA, "%s: member %llu of the zip directory is damaged", z->origin, (unsigned long long)i);
        if (f.size_filename > MAX_NAME || strlen(m->name) != f.size_filename)
            GN_FAIL(GN_ERR_DATA, "%s: member %llu has a name of %lu bytes: expected text of at most %d", z->origin,
                    (unsigned long long)i, f.size_filename, MAX_NAME);
        z->n_members++;
    }
    if (z->n_members) qsort(z->members, (size_t)z->n_members, sizeof *z->members, by_name);
    for (int64_t i = 1; i < z->n_members; i++)
        if (strcmp(z->members[i - 1].name, z->members[i].name) == 0)
            GN_FAIL(GN_ERR_DATA, "%s: two members are named '%s'", z->origin, z->members[i].name);
    return NULL;
}

/* minizip takes missing bytes at the very end for zeros: the end record must be there whole, and last. */
static gn_status *check_end(const unsigned char *p, size_t n, const char *origin)
{
    enum { END = 22, MAX_COMMENT = 65535 };
    for (size_t comment = 0; comment <= MAX_COMMENT && comment + END <= n; comment++) {
        const unsigned char *end = p + n - END - comment;
        if (memcmp(end, "PK\5\6", 4) != 0) continue;
        if (((size_t)end[20] | (size_t)end[21] << 8) == comment) return NULL;
        break;
    }
    GN_FAIL(GN_ERR_DATA, "%s: no zip directory at the end: truncated, or not a zip file", origin);
}

gn_status *gn_zip_open(const void *bytes, size_t n, const char *origin, gn_zip **out)
{
    gn_zip *z;
    GN_TRY(check_end(bytes, n, origin));
    GN_MEM(z, 1);
    *z = (gn_zip){.origin = origin, .p = bytes, .n = n};
    zlib_filefunc64_def io = {.zopen64_file = io_open,
                              .zread_file = io_read,
                              .zwrite_file = io_write,
                              .ztell64_file = io_tell,
                              .zseek64_file = io_seek,
                              .zclose_file = io_none,
                              .zerror_file = io_none,
                              .opaque = z};
    z->unz = unzOpen2_64(origin, &io);
    gn_status *s =
        z->unz ? list_members(z) : GN_ERROR(GN_ERR_DATA, "%s: no zip directory: truncated, or not a zip file", origin);
    if (s)
        gn_zip_close(z);
    else
        *out = z;
    return s;
}

void gn_zip_close(gn_zip *z)
{
    if (!z) return;
    gn_zip_abandon(z);
    if (z->unz) unzClose(z->unz);
    free(z->members);
    free(z);
}

const char *gn_zip_origin(const gn_zip *z) { return z->origin; }

static const member *find(const gn_zip *z, const char *name)
{
    int64_t from = 0, to = z->n_members;
    while (from < to) {
        int64_t mid = from + (to - from) / 2;
        int c = strcmp(z->members[mid].name, name);
        if (c == 0) return &z->members[mid];
        if (c < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return NULL;
}

bool gn_zip_has(const gn_zip *z, const char *name) { return find(z, name) != NULL; }

/* ---- one member ---- */

gn_status *gn_zip_enter(gn_zip *z, const char *name, uint64_t *size)
{
    const member *m = find(z, name);
    unz_file_info64 f;
    if (!m) GN_FAIL(GN_ERR_DATA, "%s: no member '%s'", z->origin, name);
    if (unzGoToFilePos64(z->unz, &m->at) != UNZ_OK ||
        unzGetCurrentFileInfo64(z->unz, &f, NULL, 0, NULL, 0, NULL, 0) != UNZ_OK)
        GN_FAIL(GN_ERR_DATA, "%s: %s: damaged zip directory", z->origin, name);
    if ((f.flag & 1) || (f.compression_method != 0 && f.compression_method != Z_DEFLATED))
        GN_FAIL(GN_ERR_DATA, "%s: %s: expected a stored or deflated member, not encrypted (method %lu)", z->origin,
                name, f.compression_method);
    if (f.compressed_size > z->n || f.uncompressed_size > f.compressed_size * MAX_RATIO)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %llu bytes cannot come out of %llu: refused", z->origin, name,
                (unsigned long long)f.uncompressed_size, (unsigned long long)f.compressed_size);
    int r = unzOpenCurrentFile(z->unz);
    if (r != UNZ_OK) GN_FAIL(GN_ERR_DATA, "%s: %s: damaged member (minizip error %d)", z->origin, name, r);
    z->entered = m->name;
    z->left = *size = f.uncompressed_size;
    return NULL;
}

gn_status *gn_zip_read(gn_zip *z, void *to, uint64_t n)
{
    unsigned char *p = to;
    if (n > z->left)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %llu bytes expected, but only %llu are left", z->origin, z->entered,
                (unsigned long long)n, (unsigned long long)z->left);
    z->left -= n;
    while (n > 0) {
        int got = unzReadCurrentFile(z->unz, p, n < (1u << 30) ? (unsigned)n : 1u << 30);
        if (got <= 0)
            GN_FAIL(GN_ERR_DATA, "%s: %s: damaged or truncated data, %llu bytes before the end", z->origin, z->entered,
                    (unsigned long long)(n + z->left));
        p += got;
        n -= (uint64_t)got;
    }
    return NULL;
}

gn_status *gn_zip_leave(gn_zip *z)
{
    const char *name = z->entered;
    if (z->left > 0) GN_FAIL(GN_ERR_DATA, "%s: %s: %llu bytes too many", z->origin, name, (unsigned long long)z->left);
    z->entered = NULL;
    if (unzCloseCurrentFile(z->unz) != UNZ_OK)
        GN_FAIL(GN_ERR_DATA, "%s: %s: the checksum does not match: damaged data", z->origin, name);
    return NULL;
}

void gn_zip_abandon(gn_zip *z)
{
    if (z->entered) unzCloseCurrentFile(z->unz);
    z->entered = NULL;
}
