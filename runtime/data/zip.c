#include "runtime/data/zip.h"

#include "runtime/data/mem.h"

#include <string.h>
#include <zlib.h>

enum {
    MAX_MEMBERS = 65535,
    MAX_RATIO = 1032, /* what deflate can reach */
    LOCAL = 30,       /* sizes of the records without their variable parts */
    CENTRAL = 46,
    END = 22,
    END64 = 56,
    LOCATOR64 = 20
};

typedef struct member {
    const char *name; /* points into `names` */
    uint64_t at;      /* of the local header */
    uint64_t packed, size;
    uint32_t crc;
    uint16_t flags, method;
} member;

struct gn_zip {
    const char *origin;
    const unsigned char *p;
    uint64_t n;
    uint64_t directory, directory_end, count;
    member *members; /* sorted by name */
    char *names;
    /* The member that was entered. */
    const member *in;
    const unsigned char *packed; /* what is left of it, compressed and not */
    uint64_t packed_left, left;
    uint32_t crc;
    z_stream inflate;
};

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    while (bytes-- > 0) v = v << 8 | p[bytes];
    return v;
}

/* ---- the directory ---- */

static gn_status *no_directory(const gn_zip *z)
{
    return GN_ERROR(GN_ERR_DATA, "%s: no zip directory at the end: truncated, or not a zip file",
                    z->origin);
}

/* The end record must be whole and the last thing in the file. */
static gn_status *find_end(const gn_zip *z, uint64_t *out)
{
    for (uint64_t comment = 0; comment <= UINT16_MAX && comment + END <= z->n; comment++) {
        const unsigned char *end = z->p + z->n - END - comment;
        if (memcmp(end, "PK\5\6", 4) != 0) continue;
        if (get(end + 20, 2) != comment) break;
        *out = z->n - END - comment;
        return NULL;
    }
    return no_directory(z);
}

static gn_status *find_directory(gn_zip *z)
{
    uint64_t at = 0, size, disks;
    GN_TRY(find_end(z, &at));
    const unsigned char *end = z->p + at;
    disks = get(end + 4, 4);
    z->count = get(end + 10, 2);
    size = get(end + 12, 4);
    z->directory = get(end + 16, 4);
    if (at >= LOCATOR64 && memcmp(end - LOCATOR64, "PK\6\7", 4) == 0) {
        uint64_t at64 = get(end - LOCATOR64 + 8, 8);
        if (at < LOCATOR64 + END64 || at64 > at - LOCATOR64 - END64 ||
            memcmp(z->p + at64, "PK\6\6", 4) != 0)
            return no_directory(z);
        at = at64;
        disks = get(z->p + at + 16, 8);
        z->count = get(z->p + at + 32, 8);
        size = get(z->p + at + 40, 8);
        z->directory = get(z->p + at + 48, 8);
    }
    if (disks != 0) GN_FAIL(GN_ERR_DATA, "%s: a zip file of several disks", z->origin);
    if (z->directory > at || size > at - z->directory || z->count > MAX_MEMBERS ||
        z->count > size / CENTRAL)
        GN_FAIL(GN_ERR_DATA, "%s: damaged zip directory: %llu members in %llu bytes at byte %llu",
                z->origin, (unsigned long long)z->count, (unsigned long long)size,
                (unsigned long long)z->directory);
    z->directory_end = z->directory + size;
    return NULL;
}

/* Sizes and places that do not fit 32 bits follow in a record of the extra field, those that are
 * needed in this order. */
static bool read_zip64(member *m, const unsigned char *extra, uint64_t n)
{
    uint64_t *const wide[] = {&m->size, &m->packed, &m->at};
    bool needed = m->size == UINT32_MAX || m->packed == UINT32_MAX || m->at == UINT32_MAX;
    while (needed && n >= 4) {
        uint64_t id = get(extra, 2), length = get(extra + 2, 2);
        if (length > n - 4) return false;
        if (id == 1) {
            const unsigned char *p = extra + 4;
            for (int k = 0; k < 3; k++) {
                if (*wide[k] != UINT32_MAX) continue;
                if (length < 8) return false;
                *wide[k] = get(p, 8);
                p += 8;
                length -= 8;
            }
            return true;
        }
        extra += 4 + length;
        n -= 4 + length;
    }
    return !needed;
}

/* One record of the directory; *at moves past it, *name past the copy of its name. */
static bool read_record(gn_zip *z, uint64_t *at, char **name, member *m)
{
    const unsigned char *p = z->p + *at;
    uint64_t left = z->directory_end - *at;
    if (left < CENTRAL || memcmp(p, "PK\1\2", 4) != 0) return false;
    uint64_t name_length = get(p + 28, 2), extra = get(p + 30, 2), comment = get(p + 32, 2);
    if (left - CENTRAL < name_length + extra + comment ||
        memchr(p + CENTRAL, 0, (size_t)name_length))
        return false;
    *m = (member){.name = *name,
                  .at = get(p + 42, 4),
                  .packed = get(p + 20, 4),
                  .size = get(p + 24, 4),
                  .crc = (uint32_t)get(p + 16, 4),
                  .flags = (uint16_t)get(p + 8, 2),
                  .method = (uint16_t)get(p + 10, 2)};
    memcpy(*name, p + CENTRAL, (size_t)name_length);
    *name += name_length + 1;
    *at += CENTRAL + name_length + extra + comment;
    return read_zip64(m, p + CENTRAL + name_length, extra);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const member *)a)->name, ((const member *)b)->name);
}

static gn_status *list_members(gn_zip *z)
{
    GN_TRY(find_directory(z));
    uint64_t at = z->directory;
    GN_MEM(z->members, z->count);
    /* a record is longer than its name and a zero */
    GN_MEM(z->names, z->directory_end - z->directory);
    char *name = z->names;
    for (uint64_t i = 0; i < z->count; i++)
        if (!read_record(z, &at, &name, &z->members[i]))
            GN_FAIL(GN_ERR_DATA, "%s: member %llu of the zip directory is damaged", z->origin,
                    (unsigned long long)i);
    if (z->count) qsort(z->members, (size_t)z->count, sizeof *z->members, by_name);
    for (uint64_t i = 1; i < z->count; i++)
        if (strcmp(z->members[i - 1].name, z->members[i].name) == 0)
            GN_FAIL(GN_ERR_DATA, "%s: two members are named '%.64s'", z->origin,
                    z->members[i].name);
    return NULL;
}

gn_status *gn_zip_open(const void *bytes, size_t n, const char *origin, gn_zip **out)
{
    gn_zip *z;
    GN_MEM(z, 1);
    *z = (gn_zip){.origin = origin, .p = bytes, .n = n};
    gn_status *s = list_members(z);
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
    free(z->members);
    free(z->names);
    free(z);
}

const char *gn_zip_origin(const gn_zip *z) { return z->origin; }

static const member *find(const gn_zip *z, const char *name)
{
    member key = {.name = name};
    return z->count ? bsearch(&key, z->members, (size_t)z->count, sizeof key, by_name) : NULL;
}

int gn_zip_count(const gn_zip *z) { return (int)z->count; }

const char *gn_zip_name(const gn_zip *z, int k) { return z->members[k].name; }

bool gn_zip_has(const gn_zip *z, const char *name) { return find(z, name) != NULL; }

/* ---- one member ---- */

/* The local header repeats name and method; sizes and checksum may be left to the directory. */
static gn_status *find_data(gn_zip *z, const member *m)
{
    uint64_t n = strlen(m->name), limit = z->directory;
    const unsigned char *p = m->at <= limit ? z->p + m->at : NULL;
    if (!p || limit - m->at < LOCAL || memcmp(p, "PK\3\4", 4) != 0 || get(p + 26, 2) != n ||
        get(p + 8, 2) != m->method || limit - m->at - LOCAL < n ||
        memcmp(p + LOCAL, m->name, (size_t)n) != 0)
        GN_FAIL(GN_ERR_DATA, "%s: %s: no member at byte %llu, where the zip directory has it",
                z->origin, m->name, (unsigned long long)m->at);
    uint64_t before = LOCAL + n + get(p + 28, 2);
    if (limit - m->at < before || limit - m->at - before < m->packed)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %llu compressed bytes reach past the data", z->origin,
                m->name, (unsigned long long)m->packed);
    z->packed = p + before;
    z->packed_left = m->packed;
    return NULL;
}

gn_status *gn_zip_enter(gn_zip *z, const char *name, uint64_t *size)
{
    const member *m = find(z, name);
    if (!m) GN_FAIL(GN_ERR_DATA, "%s: no member '%s'", z->origin, name);
    if ((m->flags & 1) || (m->method != 0 && m->method != Z_DEFLATED))
        GN_FAIL(GN_ERR_DATA,
                "%s: %s: expected a stored or deflated member, not encrypted (method %d)",
                z->origin, name, m->method);
    GN_TRY(find_data(z, m));
    if (m->method == 0 ? m->size != m->packed : m->size > m->packed * MAX_RATIO)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %llu bytes cannot come out of %llu: refused", z->origin, name,
                (unsigned long long)m->size, (unsigned long long)m->packed);
    z->inflate = (z_stream){0};
    if (m->method == Z_DEFLATED && inflateInit2(&z->inflate, -15) != Z_OK)
        GN_FAIL(GN_ERR_NOMEM, "%s: %s: out of memory while inflating", z->origin, name);
    z->in = m;
    z->left = *size = m->size;
    z->crc = 0;
    return NULL;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static gn_status *inflate_some(gn_zip *z, unsigned char *to, uint64_t n)
{
    z_stream *s = &z->inflate;
    while (n > 0) {
        unsigned in = (unsigned)least(z->packed_left, 1u << 30), out = (unsigned)least(n, 1u << 30);
        s->next_in = (z_const unsigned char *)z->packed;
        s->avail_in = in;
        s->next_out = to;
        s->avail_out = out;
        int r = inflate(s, Z_NO_FLUSH);
        z->packed += in - s->avail_in;
        z->packed_left -= in - s->avail_in;
        to += out - s->avail_out;
        n -= out - s->avail_out;
        if (r == Z_MEM_ERROR)
            GN_FAIL(GN_ERR_NOMEM, "%s: %s: out of memory while inflating", z->origin, z->in->name);
        if (r != Z_OK && (r != Z_STREAM_END || n > 0))
            GN_FAIL(GN_ERR_DATA,
                    "%s: %s: damaged or truncated data (%s), %llu bytes before the end", z->origin,
                    z->in->name, s->msg ? s->msg : "it ends", (unsigned long long)(n + z->left));
    }
    return NULL;
}

gn_status *gn_zip_read(gn_zip *z, void *to, uint64_t n)
{
    if (n > z->left)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %llu bytes expected, but only %llu are left", z->origin,
                z->in->name, (unsigned long long)n, (unsigned long long)z->left);
    z->left -= n;
    if (z->in->method == Z_DEFLATED) {
        GN_TRY(inflate_some(z, to, n));
    } else if (n > 0) {
        memcpy(to, z->packed, (size_t)n);
        z->packed += n;
        z->packed_left -= n;
    }
    if (n > 0) z->crc = (uint32_t)crc32_z(z->crc, to, (size_t)n);
    return NULL;
}

gn_status *gn_zip_leave(gn_zip *z)
{
    const member *m = z->in;
    if (z->left > 0)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %llu bytes too many", z->origin, m->name,
                (unsigned long long)z->left);
    gn_zip_abandon(z);
    if (z->crc != m->crc)
        GN_FAIL(GN_ERR_DATA, "%s: %s: the checksum does not match: damaged data", z->origin,
                m->name);
    return NULL;
}

void gn_zip_abandon(gn_zip *z)
{
    if (z->in && z->in->method == Z_DEFLATED) inflateEnd(&z->inflate);
    z->in = NULL;
}
