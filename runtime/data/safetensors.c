/* safetensors: eight bytes of header length, a JSON object of names to dtype, shape and
 * data_offsets, the data. https://huggingface.co/docs/safetensors ; the same files are refused as
 * the reference implementation refuses: overlaps, holes, bytes after the last tensor, repeated
 * keys, a header beyond 100 MB. */
#include "runtime/data/tensorfile.h"

#include "base/outfile.h"
#include "runtime/data/file.h"
#include "runtime/data/mem.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_HEADER = 100000000, MAX_RANK = 8 };

static const struct {
    const char *name;
    gn_elem elem;
} dtypes[] = {
    {"F32", GN_F32}, {"F64", GN_F64}, {"BF16", GN_BF16}, {"F16", GN_F16},   {"I32", GN_I32},
    {"I64", GN_I64}, {"U32", GN_U32}, {"U8", GN_U8},     {"BOOL", GN_BOOL},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* ---- reading ---- */

typedef struct reading {
    const char *origin;
    const unsigned char *data;
    uint64_t size; /* of the data */
    gn_tensor_file *f;
    uint64_t (*place)[2]; /* [n] offsets of the tensors, and which one: sorted to find holes */
} reading;

static char *copy(const char *s, gn_status **status)
{
    char *t = strdup(s);
    if (!t && !*status)
        *status = GN_ERROR(GN_ERR_NOMEM, "out of memory: %zu bytes for a name", strlen(s));
    return t;
}

static gn_status *read_meta(reading *r, json_t *meta)
{
    const char *key;
    json_t *value;
    gn_status *s = NULL;
    if (!json_is_object(meta))
        GN_FAIL(GN_ERR_DATA, "%s: __metadata__: expected an object of strings", r->origin);
    GN_MEM(r->f->meta_key, json_object_size(meta));
    GN_MEM(r->f->meta_value, json_object_size(meta));
    json_object_foreach(meta, key, value)
    {
        if (!json_is_string(value))
            GN_FAIL(GN_ERR_DATA, "%s: __metadata__.%.64s: expected a string", r->origin, key);
        int i = r->f->n_meta++;
        r->f->meta_key[i] = copy(key, &s);
        r->f->meta_value[i] = copy(json_string_value(value), &s);
    }
    return s;
}

static gn_status *read_shape(const reading *r, const char *name, json_t *shape, gn_named_tensor *t,
                             uint64_t *bytes)
{
    if (!json_is_array(shape) || json_array_size(shape) > MAX_RANK)
        GN_FAIL(GN_ERR_DATA, "%s: tensor %.64s: expected a shape of at most %d dimensions",
                r->origin, name, MAX_RANK);
    t->rank = (int)json_array_size(shape);
    *bytes = gn_elem_size(t->elem);
    for (int k = 0; k < t->rank; k++) {
        json_t *dim = json_array_get(shape, (size_t)k);
        t->dim[k] = json_integer_value(dim);
        if (!json_is_integer(dim) || t->dim[k] < 0 ||
            __builtin_mul_overflow(*bytes, (uint64_t)t->dim[k], bytes))
            GN_FAIL(GN_ERR_DATA, "%s: tensor %.64s: dimension %d is negative or too large",
                    r->origin, name, k);
    }
    return NULL;
}

static gn_status *read_tensor(reading *r, const char *name, json_t *info)
{
    int i = r->f->n;
    gn_named_tensor *t = &r->f->tensors[i];
    json_t *offsets = json_object_get(info, "data_offsets");
    const char *dtype = json_string_value(json_object_get(info, "dtype"));
    int e = 0;
    while (dtype && e < DTYPES && strcmp(dtypes[e].name, dtype) != 0) e++;
    if (!dtype || e == DTYPES)
        GN_FAIL(GN_ERR_DATA,
                "%s: tensor %.64s: dtype %.32s: expected F32, F64, BF16, F16, I32, I64, U32, U8 or "
                "BOOL",
                r->origin, name, dtype ? dtype : "is missing");
    t->elem = dtypes[e].elem;
    uint64_t bytes = 0, from, to;
    GN_TRY(read_shape(r, name, json_object_get(info, "shape"), t, &bytes));
    json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last) ||
        json_integer_value(first) < 0 || json_integer_value(last) < json_integer_value(first))
        GN_FAIL(GN_ERR_DATA, "%s: tensor %.64s: expected data_offsets [from, to]", r->origin, name);
    from = (uint64_t)json_integer_value(first);
    to = (uint64_t)json_integer_value(last);
    if (to > r->size || to - from != bytes)
        GN_FAIL(GN_ERR_DATA,
                "%s: tensor %.64s: data_offsets [%llu, %llu]: expected %llu bytes within the %llu "
                "there are",
                r->origin, name, (unsigned long long)from, (unsigned long long)to,
                (unsigned long long)bytes, (unsigned long long)r->size);
    gn_status *s = NULL;
    t->name = copy(name, &s);
    r->f->n++;
    GN_TRY(s);
    unsigned char *data;
    GN_MEM(data, bytes);
    t->data = memcpy(data, r->data + from, (size_t)bytes);
    for (uint64_t k = 0; t->elem == GN_BOOL && k < bytes; k++)
        if (data[k] > 1)
            GN_FAIL(GN_ERR_DATA, "%s: tensor %.64s: element %llu is no boolean", r->origin, name,
                    (unsigned long long)k);
    r->place[i][0] = from;
    r->place[i][1] = to;
    return NULL;
}

static int by_place(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    int first = (x[0] > y[0]) - (x[0] < y[0]);
    return first ? first : (x[1] > y[1]) - (x[1] < y[1]);
}

static gn_status *check_places(const reading *r)
{
    uint64_t at = 0;
    if (r->f->n) qsort(r->place, (size_t)r->f->n, sizeof *r->place, by_place);
    for (int i = 0; i < r->f->n; i++) {
        if (r->place[i][0] != at)
            GN_FAIL(GN_ERR_DATA,
                    "%s: byte %llu of the data: a tensor starts at %llu: expected neither holes "
                    "nor overlaps",
                    r->origin, (unsigned long long)at, (unsigned long long)r->place[i][0]);
        at = r->place[i][1];
    }
    if (at != r->size)
        GN_FAIL(GN_ERR_DATA, "%s: %llu bytes of data, but the tensors have %llu", r->origin,
                (unsigned long long)r->size, (unsigned long long)at);
    return NULL;
}

static gn_status *read_header(reading *r, json_t *root)
{
    const char *name;
    json_t *info;
    if (!json_is_object(root))
        GN_FAIL(GN_ERR_DATA, "%s: expected a JSON object as header", r->origin);
    GN_MEM(r->f->tensors, json_object_size(root));
    GN_MEM(r->place, json_object_size(root));
    json_object_foreach(root, name, info)
    {
        if (strcmp(name, "__metadata__") == 0)
            GN_TRY(read_meta(r, info));
        else
            GN_TRY(read_tensor(r, name, info));
    }
    return check_places(r);
}

#define SAVE                                                                                       \
    "; in Python: safetensors.torch.save_file({k: v.contiguous().clone() for k, v in "             \
    "torch.load(FILE, "                                                                            \
    "map_location=\"cpu\").items()}, \"weights.safetensors\")"

/* Files that weights often come in, and what makes them one that is read here. */
static gn_status *check_kind(const unsigned char *p, size_t n, const char *origin)
{
    static const struct {
        const char *magic, *what;
    } others[] = {
        {"PK\3\4", "a zip file, as torch.save writes: expected safetensors" SAVE},
        {"\x80\2", "a pickle, as torch.save writes: expected safetensors" SAVE},
        {"\x80\3", "a pickle: expected safetensors" SAVE},
        {"\x80\4", "a pickle: expected safetensors" SAVE},
        {"\x80\5", "a pickle: expected safetensors" SAVE},
        {"\x89HDF",
         "an HDF5 file: expected safetensors; safetensors.numpy.save_file writes one of arrays"},
        {"\x93NUMPY", "an array of NumPy: expected safetensors; safetensors.numpy.save_file writes "
                      "one of arrays"}};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        size_t m = strlen(others[k].magic);
        bool here = n >= m && !memcmp(p, others[k].magic, m);
        if (here && k == 0 && memmem(p, n < 512 ? n : 512, ".npy", 4))
            GN_FAIL(GN_ERR_DATA,
                    "%s: a .npz of NumPy: expected safetensors; in Python: "
                    "safetensors.numpy.save_file(dict(numpy.load(FILE)), \"weights.safetensors\")",
                    origin);
        bool header = n > 8 && p[8] == '{'; /* a header may be so long that its length looks like a
                                               pickle */
        if (here && !header) GN_FAIL(GN_ERR_DATA, "%s: %s", origin, others[k].what);
    }
    return NULL;
}

gn_status *gn_safetensors_parse(const void *bytes, size_t n, const char *origin,
                                gn_tensor_file **out)
{
    const unsigned char *p = bytes;
    uint64_t header = 0;
    if (n < 8) GN_FAIL(GN_ERR_DATA, "%s: %zu bytes: expected a safetensors file", origin, n);
    GN_TRY(check_kind(p, n, origin));
    for (int i = 8; i-- > 0;) header = header << 8 | p[i];
    if (header > MAX_HEADER || header > n - 8)
        GN_FAIL(GN_ERR_DATA,
                "%s: a header of %llu bytes in a file of %zu: truncated, or not safetensors",
                origin, (unsigned long long)header, n);
    if (header == 0 || p[8] != '{')
        GN_FAIL(GN_ERR_DATA, "%s: byte 8: expected the { of a safetensors header", origin);
    json_error_t e;
    json_t *root = json_loadb((const char *)p + 8, (size_t)header, JSON_REJECT_DUPLICATES, &e);
    if (!root) GN_FAIL(GN_ERR_DATA, "%s: byte %d: %s", origin, e.position + 8, e.text);
    reading r = {.origin = origin, .data = p + 8 + header, .size = n - 8 - header};
    gn_status *s = NULL;
    r.f = gn_mem_alloc(1, sizeof *r.f);
    if (r.f)
        s = read_header(&r, root);
    else
        s = GN_ERROR(GN_ERR_NOMEM, "%s: out of memory", origin);
    json_decref(root);
    free(r.place);
    if (s)
        gn_tensor_file_free(r.f);
    else
        *out = r.f;
    return s;
}

gn_status *gn_safetensors_read(const char *path, gn_tensor_file **out)
{
    gn_bytes b;
    GN_TRY(gn_file_read(path, &b));
    gn_status *s = gn_safetensors_parse(b.p, b.n, path, out);
    gn_bytes_free(&b);
    return s;
}

/* ---- writing ---- */

static const char *dtype_name(gn_elem elem)
{
    int e = 0;
    while (dtypes[e].elem != elem) e++;
    return dtypes[e].name;
}

static uint64_t bytes_of(const gn_named_tensor *t)
{
    uint64_t n = gn_elem_size(t->elem);
    for (int k = 0; k < t->rank; k++) n *= (uint64_t)t->dim[k];
    return n;
}

static json_t *describe(const gn_named_tensor *t, uint64_t from)
{
    json_t *shape = json_array();
    for (int k = 0; k < t->rank; k++) json_array_append_new(shape, json_integer(t->dim[k]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype_name(t->elem), "shape", shape,
                     "data_offsets", (json_int_t)from, (json_int_t)(from + bytes_of(t)));
}

static gn_status *add_meta(const gn_tensor_file *f, json_t *root)
{
    if (f->n_meta == 0) return NULL;
    json_t *meta = json_object();
    json_object_set_new(root, "__metadata__", meta);
    for (int i = 0; i < f->n_meta; i++)
        if (json_object_set_new(meta, f->meta_key[i], json_string(f->meta_value[i])) != 0)
            GN_FAIL(GN_ERR_USAGE, "metadata '%s' is not UTF-8", f->meta_key[i]);
    return NULL;
}

/* Larger elements first, so that each tensor is aligned to its own; else in the order given. */
static gn_status *add_tensors(const gn_tensor_file *f, json_t *root, int *order)
{
    uint64_t at = 0;
    int k = 0;
    for (size_t size = 8; size > 0; size /= 2)
        for (int i = 0; i < f->n; i++)
            if (gn_elem_size(f->tensors[i].elem) == size) order[k++] = i;
    for (int i = 0; i < f->n; i++) {
        const gn_named_tensor *t = &f->tensors[order[i]];
        if (json_object_get(root, t->name) || strcmp(t->name, "__metadata__") == 0)
            GN_FAIL(GN_ERR_USAGE, "two tensors are named '%s'", t->name);
        if (json_object_set_new(root, t->name, describe(t, at)) != 0)
            GN_FAIL(GN_ERR_USAGE, "a tensor's name is not UTF-8: '%s'", t->name);
        at += bytes_of(t);
    }
    return NULL;
}

/* What is written: its header, and its tensors in order. */
typedef struct layout {
    const gn_tensor_file *f;
    char *header;
    int *order;
} layout;

static void end_layout(layout *l)
{
    free(l->header);
    free(l->order);
}

static gn_status *lay_out(const gn_tensor_file *f, layout *l)
{
    *l = (layout){.f = f};
    GN_MEM(l->order, f->n);
    json_t *root = json_object();
    gn_status *s = root ? add_meta(f, root)
                        : GN_ERROR(GN_ERR_NOMEM, "out of memory: a safetensors header");
    if (!s) s = add_tensors(f, root, l->order);
    if (!s) l->header = json_dumps(root, JSON_COMPACT);
    if (!s && !l->header) s = GN_ERROR(GN_ERR_NOMEM, "out of memory: a safetensors header");
    json_decref(root);
    if (s) end_layout(l);
    return s;
}

/* The header is padded with spaces so that the data start at a multiple of eight. */
static void write_all(const layout *l, FILE *to)
{
    size_t n = strlen(l->header), padded = (n + 7) / 8 * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)padded >> (8 * i));
    fwrite(length, 1, sizeof length, to);
    fwrite(l->header, 1, n, to);
    fprintf(to, "%*s", (int)(padded - n), "");
    for (int i = 0; i < l->f->n; i++) {
        const gn_named_tensor *t = &l->f->tensors[l->order[i]];
        uint64_t bytes = bytes_of(t);
        if (bytes) fwrite(t->data, 1, (size_t)bytes, to);
    }
}

gn_status *gn_safetensors_write(const char *path, const gn_tensor_file *f)
{
    layout l;
    gn_out o;
    GN_TRY(lay_out(f, &l));
    gn_status *s = gn_out_open(&o, path);
    if (!s) write_all(&l, o.f);
    end_layout(&l);
    return s ? s : gn_out_close(&o, NULL);
}

gn_status *gn_safetensors_format(const gn_tensor_file *f, void **bytes, size_t *n)
{
    layout l;
    char *text = NULL;
    *bytes = NULL;
    GN_TRY(lay_out(f, &l));
    FILE *to = open_memstream(&text, n);
    bool failed = !to;
    if (to) {
        write_all(&l, to);
        failed = ferror(to) != 0;
        failed = fclose(to) != 0 || failed;
    }
    end_layout(&l);
    if (failed) {
        free(text);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %d tensors as safetensors", f->n);
    }
    *bytes = text;
    return NULL;
}
