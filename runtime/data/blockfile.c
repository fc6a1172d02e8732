#include "runtime/data/blockfile.h"

#include "runtime/data/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static uint32_t get_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static int64_t get_i64(const unsigned char *p)
{
    return (int64_t)((uint64_t)get_u32(p) | (uint64_t)get_u32(p + 4) << 32);
}

bool gn_block_file_is(const void *bytes, size_t n)
{
    return n >= 8 && !memcmp(bytes, GN_BLOCK_MAGIC, 8);
}

const gn_block_array *gn_block_file_find(const gn_block_file *f, const char *name)
{
    for (int k = 0; k < f->n_arrays; k++)
        if (!strcmp(f->arrays[k].name, name)) return &f->arrays[k];
    return NULL;
}

void gn_block_file_free(gn_block_file *f)
{
    if (!f) return;
    for (int k = 0; k < f->n_arrays; k++) free(f->arrays[k].name);
    free(f->arrays);
    free((void *)f->sound);
    json_decref(f->meta);
    if (f->fd >= 0) {
        munmap((void *)(uintptr_t)f->p, (size_t)f->n);
        close(f->fd);
    }
    free(f->origin);
    free(f);
}

/* Opening -------------------------------------------------------------------------------------- */

static gn_status *damaged(const gn_block_file *f, const char *what, int64_t at)
{
    return GN_ERROR(GN_ERR_DATA, "%s: byte %lld: %s is damaged: its checksum is another", f->origin,
                    (long long)at, what);
}

static gn_status *check_header(const gn_block_file *f)
{
    const unsigned char *h = f->p;
    if (f->n < GN_BLOCK_SIZE)
        GN_FAIL(GN_ERR_DATA, "%s: truncated: %lld bytes, of which the header alone takes %d",
                f->origin, (long long)f->n, GN_BLOCK_SIZE);
    if (get_u32(h + 12) == 0x04030201)
        GN_FAIL(GN_ERR_DATA, "%s: its numbers are big-endian: expected little-endian", f->origin);
    if (get_u32(h + 8) != GN_BLOCK_VERSION)
        GN_FAIL(GN_ERR_DATA, "%s: version %u of the format: expected %d; convert the data again",
                f->origin, (unsigned)get_u32(h + 8), GN_BLOCK_VERSION);
    if (get_u32(h + GN_BLOCK_SIZE - 4) != crc32_z(0, h, GN_BLOCK_SIZE - 4))
        return damaged(f, "the header", 0);
    if (get_i64(h + 16) != f->n)
        GN_FAIL(GN_ERR_DATA, "%s: %s: %lld bytes, expected %lld", f->origin,
                f->n < get_i64(h + 16) ? "truncated" : "something follows its end", (long long)f->n,
                (long long)get_i64(h + 16));
    return NULL;
}

/* Directory and checksums lie where the header says, one behind the other, up to the end. */
static gn_status *find_end(gn_block_file *f, const char **text, int64_t *length)
{
    const unsigned char *h = f->p;
    int64_t at = get_i64(h + 24), crc_at = get_i64(h + 40), n = get_i64(h + 48);
    *length = get_i64(h + 32);
    bool fits = n >= 0 && n < f->n / GN_BLOCK_SIZE && at == (n + 1) * GN_BLOCK_SIZE &&
                *length >= 0 && *length <= f->n - at && crc_at == at + *length &&
                f->n - crc_at == 4 * n;
    if (!fits || crc_at % GN_BLOCK_SIZE)
        GN_FAIL(GN_ERR_DATA, "%s: the header says that parts lie where they have no room",
                f->origin);
    *text = (const char *)f->p + at;
    f->n_blocks = n;
    f->crc = f->p + crc_at;
    if (get_u32(h + 56) != crc32_z(0, f->p + at, (size_t)*length))
        return damaged(f, "the directory", at);
    if (get_u32(h + 60) != crc32_z(0, f->crc, (size_t)n * 4))
        return damaged(f, "the table of checksums", crc_at);
    GN_MEM(f->sound, n / 64 + 1);
    return NULL;
}

static gn_status *read_array(gn_block_file *f, const char *name, const json_t *info)
{
    gn_block_array *a = &f->arrays[f->n_arrays];
    const json_t *shape = json_object_get(info, "shape"), *at = json_object_get(info, "at");
    const char *elem = json_string_value(json_object_get(info, "elem"));
    int e = 0;
    while (elem && e < GN_ELEM_COUNT && strcmp(gn_elem_name((gn_elem)e), elem) != 0) e++;
    bool fits = elem && e < GN_ELEM_COUNT && json_is_array(shape) && json_is_integer(at) &&
                json_array_size(shape) <= GN_BLOCK_RANK;
    if (fits) {
        a->elem = (gn_elem)e;
        a->rank = (int)json_array_size(shape);
        a->at = json_integer_value(at);
        a->bytes = (int64_t)gn_elem_size(a->elem);
    }
    for (int k = 0; fits && k < a->rank; k++) {
        const json_t *dim = json_array_get(shape, (size_t)k);
        a->dim[k] = json_integer_value(dim);
        fits = json_is_integer(dim) && a->dim[k] >= 0 &&
               !__builtin_mul_overflow(a->bytes, a->dim[k], &a->bytes);
    }
    int64_t end = (f->n_blocks + 1) * GN_BLOCK_SIZE;
    fits = fits && a->at >= GN_BLOCK_SIZE && a->at <= end && a->at % GN_BLOCK_SIZE == 0 &&
           a->bytes <= end - a->at;
    if (!fits)
        GN_FAIL(GN_ERR_DATA,
                "%s: directory: array %.64s: expected an element, a shape and a place "
                "among the %lld blocks of data",
                f->origin, name, (long long)f->n_blocks);
    a->name = strdup(name);
    if (!a->name) GN_FAIL(GN_ERR_NOMEM, "out of memory: an array of '%s'", f->origin);
    f->n_arrays++;
    return NULL;
}

static gn_status *read_directory(gn_block_file *f, const char *text, int64_t length)
{
    json_error_t e;
    const char *name;
    json_t *info, *all = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &e);
    if (!all) GN_FAIL(GN_ERR_DATA, "%s: directory: %s", f->origin, e.text);
    json_t *arrays = json_object_get(all, "arrays"), *meta = json_object_get(all, "meta");
    gn_status *s = NULL;
    if (json_is_object(arrays) && json_is_object(meta)) {
        f->meta = json_incref(meta);
        f->arrays = gn_mem_alloc((int64_t)json_object_size(arrays), sizeof *f->arrays);
        if (!f->arrays) s = GN_ERROR(GN_ERR_NOMEM, "out of memory: arrays of '%s'", f->origin);
        json_object_foreach(arrays, name, info) if (!s) s = read_array(f, name, info);
    } else {
        s = GN_ERROR(GN_ERR_DATA, "%s: directory: expected `arrays` and `meta`", f->origin);
    }
    json_decref(all);
    return s;
}

static gn_status *read_all(gn_block_file *f)
{
    const char *text;
    int64_t length;
    GN_TRY(check_header(f));
    GN_TRY(find_end(f, &text, &length));
    return read_directory(f, text, length);
}

static gn_status *new_file(const char *origin, gn_block_file **out)
{
    gn_block_file *f;
    *out = NULL;
    GN_MEM(f, 1);
    f->fd = -1;
    f->origin = strdup(origin);
    if (!f->origin) {
        free(f);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: a file name");
    }
    *out = f;
    return NULL;
}

static gn_status *done(gn_block_file *f, gn_status *s, gn_block_file **out)
{
    if (s) gn_block_file_free(f);
    *out = s ? NULL : f;
    return s;
}

gn_status *gn_block_file_parse(const void *bytes, size_t n, const char *origin, gn_block_file **out)
{
    gn_block_file *f;
    GN_TRY(new_file(origin, &f));
    f->p = bytes;
    f->n = (int64_t)n;
    gn_status *s = gn_block_file_is(bytes, n) ? read_all(f)
                                              : GN_ERROR(GN_ERR_DATA,
                                                         "%s: no store of gnnc: expected one that "
                                                         "`gnnc data convert` has written",
                                                         origin);
    return done(f, s, out);
}

static gn_status *map(gn_block_file *f, int fd)
{
    struct stat st;
    unsigned char magic[8];
    if (fstat(fd, &st) != 0) GN_FAIL(GN_ERR_IO, "cannot read '%s': %s", f->origin, strerror(errno));
    if (!S_ISREG(st.st_mode) || pread(fd, magic, 8, 0) != 8 || !gn_block_file_is(magic, 8))
        GN_FAIL(GN_ERR_DATA,
                "%s: no store of gnnc: expected one that `gnnc data convert` has "
                "written",
                f->origin);
    if ((uint64_t)st.st_size > SIZE_MAX / 2)
        GN_FAIL(GN_ERR_NOMEM, "'%s' has no room in memory's addresses", f->origin);
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) GN_FAIL(GN_ERR_IO, "cannot map '%s': %s", f->origin, strerror(errno));
    f->p = p;
    f->n = st.st_size;
    f->fd = fd;
    return read_all(f);
}

gn_status *gn_block_file_open(const char *path, gn_block_file **out)
{
    gn_block_file *f;
    GN_TRY(new_file(path, &f));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    gn_status *s = fd >= 0 ? map(f, fd)
                           : GN_ERROR(GN_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    if (s && fd >= 0 && f->fd < 0) close(fd);
    return done(f, s, out);
}

/* Checking ------------------------------------------------------------------------------------- */

enum { AT_ONCE = 32 }; /* blocks that are read together */

static bool is_sound(const gn_block_file *f, int64_t block)
{
    return atomic_load_explicit(&f->sound[block / 64], memory_order_relaxed) >> block % 64 & 1;
}

/* The array that the block is of. */
static const char *array_of(const gn_block_file *f, int64_t block)
{
    int64_t at = (block + 1) * GN_BLOCK_SIZE;
    for (int k = 0; k < f->n_arrays; k++)
        if (at >= f->arrays[k].at && at < f->arrays[k].at + f->arrays[k].bytes)
            return f->arrays[k].name;
    return "no array";
}

/* Blocks [n] from `first` on, AT_ONCE at most.  They are read as a file is, so that a disk that
 * fails is an error and no signal; what is mapped is what was read. */
static gn_status *check_blocks(gn_block_file *f, int64_t first, int64_t n)
{
    unsigned char buffer[AT_ONCE * GN_BLOCK_SIZE];
    int64_t at = (first + 1) * GN_BLOCK_SIZE;
    const unsigned char *p = f->p + at;
    for (ssize_t had = 0, got; f->fd >= 0 && had < n * GN_BLOCK_SIZE; had += got) {
        got = pread(f->fd, buffer + had, (size_t)(n * GN_BLOCK_SIZE - had), (off_t)(at + had));
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got <= 0)
            GN_FAIL(GN_ERR_IO, "%s: block %lld (bytes %lld to %lld, of %s) cannot be read: %s",
                    f->origin, (long long)first + 1, (long long)at,
                    (long long)(at + n * GN_BLOCK_SIZE - 1), array_of(f, first),
                    got ? strerror(errno) : "the file has become shorter");
        p = buffer;
    }
    for (int64_t k = 0; k < n; k++, at += GN_BLOCK_SIZE) {
        int64_t block = first + k;
        uint32_t is = (uint32_t)crc32(0, p + k * GN_BLOCK_SIZE, GN_BLOCK_SIZE),
                 want = get_u32(f->crc + 4 * block);
        if (is != want)
            GN_FAIL(GN_ERR_DATA,
                    "%s: block %lld (bytes %lld to %lld, of %s) is damaged: its checksum is %08x, "
                    "expected %08x",
                    f->origin, (long long)block + 1, (long long)at,
                    (long long)(at + GN_BLOCK_SIZE - 1), array_of(f, block), is, want);
        atomic_fetch_or_explicit(&f->sound[block / 64], (uint64_t)1 << block % 64,
                                 memory_order_relaxed);
    }
    return NULL;
}

static gn_status *check_range(gn_block_file *f, int64_t first, int64_t end)
{
    for (int64_t k = first; k < end;) {
        int64_t n = 0;
        while (k < end && is_sound(f, k)) k++;
        while (k + n < end && n < AT_ONCE && !is_sound(f, k + n)) n++;
        if (n) GN_TRY(check_blocks(f, k, n));
        k += n;
    }
    return NULL;
}

gn_status *gn_block_file_check(gn_block_file *f, const void *from, int64_t bytes)
{
    if (bytes <= 0) return NULL;
    int64_t at = (const unsigned char *)from - f->p;
    return check_range(f, at / GN_BLOCK_SIZE - 1, (at + bytes - 1) / GN_BLOCK_SIZE);
}

/* Rows here and there -------------------------------------------------------------------------- */

void gn_block_file_scattered(const gn_block_file *f, const void *from, int64_t bytes)
{
    int64_t at = (const unsigned char *)from - f->p;
    if (f->fd >= 0 && bytes > 0) /* a hint: without it pages around are read as well */
        (void)madvise((void *)(uintptr_t)(f->p + at), (size_t)bytes, MADV_RANDOM);
}

void gn_block_file_keep(gn_block_file *f, const void *from, int64_t bytes)
{
    int64_t most = (int64_t)sysconf(_SC_PHYS_PAGES) / 4 * (int64_t)sysconf(_SC_PAGESIZE);
    if (f->fd < 0 || bytes <= 0 || bytes > most - f->kept) return;
    if (mlock(from, (size_t)bytes) == 0) f->kept += bytes;
}

/* Runs of blocks that rows lie in, from row *k on; false: there are no more. */
static bool next_run(const gn_block_file *f, const gn_block_rows *r, int64_t *k, int64_t *first,
                     int64_t *end)
{
    int64_t base = (const unsigned char *)r->data - f->p;
    *end = -1;
    for (; *k < r->n; ++*k) {
        int64_t row = r->index == GN_I32 ? ((const int32_t *)r->row)[*k]
                                         : ((const int64_t *)r->row)[*k],
                at = base + row * r->row_bytes, from = at / GN_BLOCK_SIZE - 1,
                to = (at + r->row_bytes - 1) / GN_BLOCK_SIZE;
        if (*end >= 0 && (from > *end || from < *first)) return true;
        if (*end < 0) *first = from;
        if (to > *end) *end = to;
    }
    return *end >= 0;
}

gn_status *gn_block_file_check_rows(gn_block_file *f, const gn_block_rows *r)
{
    int64_t first = 0, end = 0;
    if (r->row_bytes <= 0) return NULL;
    for (int64_t k = 0; f->fd >= 0 && next_run(f, r, &k, &first, &end);)
        (void)madvise((void *)(uintptr_t)(f->p + (first + 1) * GN_BLOCK_SIZE),
                      (size_t)((end - first) * GN_BLOCK_SIZE), MADV_WILLNEED);
    for (int64_t k = 0; next_run(f, r, &k, &first, &end);) GN_TRY(check_range(f, first, end));
    return NULL;
}
