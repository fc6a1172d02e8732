/* Weights from safetensors (https://huggingface.co/docs/safetensors): eight bytes of header length,
 * a JSON object of names to dtype, shape and data_offsets, the data.  The header is read here by
 * hand, since the library that reads it elsewhere does not go into other people's programs:
 * objects, strings and numbers, no value deeper than the format has. */
#include "runtime/aot/impl.h"

#include "base/half.h"
#include "runtime/memory.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct span {
    const char *p;
    size_t n;
} span;

typedef struct found {
    const unsigned char *data; /* NULL: not yet */
    gn_elem elem;
} found;

typedef struct scanner {
    const char *origin, *begin, *at, *end; /* of the header */
    const unsigned char *data;
    uint64_t size; /* of the data */
    const gn_aot_image *image;
    found *found; /* [n_weights] */
} scanner;

typedef struct tensor {
    span dtype;
    int rank, keys;           /* which of its three keys were there, as bits */
    int64_t dim[GN_AOT_RANK]; /* the first ones, where rank is more */
    uint64_t from, to;
} tensor;

#define BROKEN(z, what)                                                                            \
    GN_FAIL(GN_ERR_DATA, "%s: byte %lld of the header: expected %s", (z)->origin,                  \
            (long long)((z)->at - (z)->begin), what)

static void skip_space(scanner *z)
{
    while (z->at < z->end && (*z->at == ' ' || *z->at == '\n' || *z->at == '\t' || *z->at == '\r'))
        z->at++;
}

static bool take(scanner *z, char c)
{
    skip_space(z);
    if (z->at == z->end || *z->at != c) return false;
    z->at++;
    return true;
}

/* As it stands there: what has an escape in it is the name of nothing here. */
static gn_status *take_string(scanner *z, span *out)
{
    if (!take(z, '"')) BROKEN(z, "a string");
    out->p = z->at;
    while (z->at < z->end && *z->at != '"') z->at += *z->at == '\\' && z->end - z->at > 1 ? 2 : 1;
    if (z->at == z->end) BROKEN(z, "the end of a string");
    out->n = (size_t)(z->at++ - out->p);
    return NULL;
}

static gn_status *take_number(scanner *z, int64_t *out)
{
    skip_space(z);
    const char *first = z->at;
    for (*out = 0; z->at < z->end && *z->at >= '0' && *z->at <= '9'; z->at++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, *z->at - '0', out))
            BROKEN(z, "a smaller number");
    if (z->at == first) BROKEN(z, "a whole number");
    return NULL;
}

static bool is(span s, const char *text) { return s.n == strlen(text) && !memcmp(s.p, text, s.n); }

/* { "key": ..., ... }: the next key; false behind the last one. */
static gn_status *next_key(scanner *z, bool *first, span *key, bool *more)
{
    *more = false;
    if (*first && !take(z, '{')) BROKEN(z, "{");
    if (take(z, '}')) return NULL;
    if (!*first && !take(z, ',')) BROKEN(z, ", or }");
    *first = false;
    *more = true;
    GN_TRY(take_string(z, key));
    if (!take(z, ':')) BROKEN(z, ":");
    return NULL;
}

/* [n, n, ...]: how many there are, and the first `room` of them. */
static gn_status *take_numbers(scanner *z, int room, int64_t *out, int *n)
{
    *n = 0;
    if (!take(z, '[')) BROKEN(z, "[");
    if (take(z, ']')) return NULL;
    do {
        int64_t number;
        if (*n == INT_MAX) BROKEN(z, "fewer numbers");
        GN_TRY(take_number(z, &number));
        if (*n < room) out[*n] = number;
        ++*n;
    } while (take(z, ','));
    if (!take(z, ']')) BROKEN(z, "]");
    return NULL;
}

static gn_status *skip_metadata(scanner *z)
{
    bool first = true, more;
    span s;
    for (;;) {
        GN_TRY(next_key(z, &first, &s, &more));
        if (!more) return NULL;
        GN_TRY(take_string(z, &s));
    }
}

static gn_status *take_tensor(scanner *z, tensor *t)
{
    bool first = true, more;
    span key;
    int64_t place[2] = {0, 0};
    int n = 0;
    *t = (tensor){0};
    for (;;) {
        GN_TRY(next_key(z, &first, &key, &more));
        if (!more) break;
        int bit = is(key, "dtype") ? 1 : is(key, "shape") ? 2 : is(key, "data_offsets") ? 4 : 8;
        if (bit == 8 || (t->keys & bit)) BROKEN(z, "dtype, shape and data_offsets, each once");
        t->keys |= bit;
        if (bit == 1) GN_TRY(take_string(z, &t->dtype));
        if (bit == 2) GN_TRY(take_numbers(z, GN_AOT_RANK, t->dim, &t->rank));
        if (bit == 4) GN_TRY(take_numbers(z, 2, place, &n));
    }
    if (t->keys != 7 || n != 2) BROKEN(z, "dtype, shape and two data_offsets before this");
    t->from = (uint64_t)place[0];
    t->to = (uint64_t)place[1];
    if (t->from > t->to || t->to > z->size) BROKEN(z, "data_offsets within the file before this");
    return NULL;
}

static void shape_text(char *out, size_t size, int rank, const int64_t *dim)
{
    size_t n = (size_t)snprintf(out, size, "[");
    for (int k = 0; k < rank && k < GN_AOT_RANK && n < size; k++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", k ? ", " : "", (long long)dim[k]);
    if (n < size) snprintf(out + n, size - n, "%s]", rank > GN_AOT_RANK ? ", ..." : "");
}

static const struct {
    const char *name;
    gn_elem elem;
} floats[] = {{"F32", GN_F32}, {"F64", GN_F64}, {"F16", GN_F16}, {"BF16", GN_BF16}};
enum { FLOATS = sizeof floats / sizeof *floats };

/* Number i of a tensor as a float32. */
static float number_at(const found *f, int64_t i)
{
    const unsigned char *p = f->data + (size_t)i * gn_elem_size(f->elem);
    uint16_t half;
    float single;
    double wide;
    switch (f->elem) {
    case GN_F64: memcpy(&wide, p, sizeof wide); return (float)wide;
    case GN_F16: memcpy(&half, p, sizeof half); return gn_f16_to_f32(half);
    case GN_BF16: memcpy(&half, p, sizeof half); return gn_bf16_to_f32(half);
    default: memcpy(&single, p, sizeof single); return single;
    }
}

/* A number that no float32 is would be read as an infinity. */
static gn_status *check_range(const scanner *z, const found *f, const gn_aot_weight *w)
{
    for (int64_t i = 0; f->elem == GN_F64 && i < w->elems; i++) {
        double wide;
        memcpy(&wide, f->data + (size_t)i * sizeof wide, sizeof wide);
        if (isfinite(wide) && !isfinite((float)wide))
            GN_FAIL(GN_ERR_DATA, "%s: tensor '%s': number %lld is %g, which no float32 is",
                    z->origin, w->name, (long long)i, wide);
    }
    return NULL;
}

/* Notes the tensor where it is a weight of the model. */
static gn_status *note_tensor(scanner *z, span name, const tensor *t)
{
    int k = 0;
    while (k < z->image->n_weights && !is(name, z->image->weights[k].name)) k++;
    if (k == z->image->n_weights) return NULL;
    const gn_aot_weight *w = &z->image->weights[k];
    int e = 0;
    while (e < FLOATS && !is(t->dtype, floats[e].name)) e++;
    bool fits = e < FLOATS && t->rank == w->rank;
    for (int d = 0; fits && d < t->rank; d++) fits = t->dim[d] == w->dim[d];
    if (!fits) {
        char want[192], have[192];
        shape_text(want, sizeof want, w->rank, w->dim);
        shape_text(have, sizeof have, t->rank, t->dim);
        GN_FAIL(GN_ERR_DATA, "%s: tensor '%s' is %.*s %s, expected F32 %s", z->origin, w->name,
                (int)t->dtype.n, t->dtype.p, have, want);
    }
    if (t->to - t->from != (uint64_t)w->elems * gn_elem_size(floats[e].elem))
        GN_FAIL(GN_ERR_DATA, "%s: tensor '%s' has %llu bytes", z->origin, w->name,
                (unsigned long long)(t->to - t->from));
    if (z->found[k].data)
        GN_FAIL(GN_ERR_DATA, "%s: there are two tensors '%s'", z->origin, w->name);
    z->found[k] = (found){z->data + t->from, floats[e].elem};
    return check_range(z, &z->found[k], w);
}

static gn_status *scan(scanner *z)
{
    bool first = true, more;
    span name;
    tensor t;
    for (;;) {
        GN_TRY(next_key(z, &first, &name, &more));
        if (!more) break;
        if (is(name, "__metadata__")) {
            GN_TRY(skip_metadata(z));
            continue;
        }
        GN_TRY(take_tensor(z, &t));
        GN_TRY(note_tensor(z, name, &t));
    }
    skip_space(z);
    if (z->at != z->end) BROKEN(z, "its end");
    for (int k = 0; k < z->image->n_weights; k++)
        if (!z->found[k].data)
            GN_FAIL(GN_ERR_DATA, "%s: there is no tensor '%s'", z->origin,
                    z->image->weights[k].name);
    return NULL;
}

static void copy_all(gn_aot_model *m, const found *from)
{
    for (int k = 0; k < m->image->n_weights; k++) {
        const gn_aot_weight *w = &m->image->weights[k];
        float *to = gn_state_find(&m->store->state, w->state)->data;
        for (int64_t i = 0; i < w->elems; i++) to[i] = number_at(&from[k], aot_in_file(w, i));
    }
    m->inferred = false;
}

static gn_status *load(gn_aot_model *m, const char *origin, const void *bytes, int64_t n)
{
    uint64_t length = 0;
    const unsigned char *p = bytes;
    void *block;
    if (!p || n < 8)
        GN_FAIL(GN_ERR_DATA, "%s: %lld bytes are no safetensors", origin, (long long)n);
    for (int k = 0; k < 8; k++) length |= (uint64_t)p[k] << 8 * k;
    if (length > (uint64_t)n - 8)
        GN_FAIL(GN_ERR_DATA, "%s: a header of %llu bytes in %lld", origin,
                (unsigned long long)length, (long long)n);
    GN_TRY(gn_block_zeroed(m->image->n_weights, sizeof(found), "weights", &block));
    scanner z = {.origin = origin,
                 .begin = (const char *)p + 8,
                 .at = (const char *)p + 8,
                 .end = (const char *)p + 8 + length,
                 .data = p + 8 + length,
                 .size = (uint64_t)n - 8 - length,
                 .image = m->image,
                 .found = block};
    gn_status *s = scan(&z);
    if (!s) copy_all(m, z.found);
    gn_block_free(block);
    return s;
}

int gn_aot_load_weights_memory(gn_aot_model *m, const void *bytes, int64_t n)
{
    AOT_USABLE(m);
    return aot_say(m, load(m, "weights", bytes, n));
}

static gn_status *load_file(gn_aot_model *m, const char *path)
{
    void *bytes = NULL;
    struct stat about;
    if (!path) GN_FAIL(GN_ERR_USAGE, "the path of the weights is NULL");
    FILE *f = fopen(path, "rb"); /* which opens a directory too */
    if (!f) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(errno));
    gn_status *s = NULL;
    if (fstat(fileno(f), &about)) s = GN_ERROR(GN_ERR_IO, "%s: %s", path, strerror(errno));
    if (!s && !S_ISREG(about.st_mode))
        s = GN_ERROR(GN_ERR_IO, "%s: %s", path,
                     S_ISDIR(about.st_mode) ? strerror(EISDIR) : "not a regular file");
    int64_t n = s ? 0 : about.st_size;
    if (!s) s = gn_block_new(n, 1, path, &bytes);
    if (!s && fread(bytes, 1, (size_t)n, f) != (size_t)n)
        s = GN_ERROR(GN_ERR_IO, "%s: %s", path,
                     ferror(f) ? strerror(errno) : "it has become shorter");
    fclose(f);
    if (!s) s = load(m, path, bytes, n);
    gn_block_free(bytes);
    return s;
}

int gn_aot_load_weights(gn_aot_model *m, const char *path)
{
    AOT_USABLE(m);
    return aot_say(m, load_file(m, path));
}
