/* .npy and .npz files for tests of readers, from a few numbers. */
#ifndef GN_TESTS_DATA_ARRAYS_H
#define GN_TESTS_DATA_ARRAYS_H

#include "data_parts.h"

#include <zlib.h>

/* `descr`: "<i8", "<i4", "<f4", "<f8", "|b1"; "|S3": `v` has letters. */
typedef struct array {
    const char *name, *descr, *shape;
    int n;
    double v[16];
} array;

typedef struct blob {
    size_t n;
    unsigned char p[8192];
} blob;

static inline void blob_put(blob *b, const void *p, size_t n)
{
    ck_assert_uint_le(b->n + n, sizeof b->p);
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

/* Little-endian. */
static inline void blob_number(blob *b, uint64_t v, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++, v >>= 8) blob_put(b, &(unsigned char){v & 255}, 1);
}

static inline void put_value(blob *b, const char *descr, double v)
{
    float f = (float)v;
    if (descr[1] == 'f' && descr[2] == '4')
        blob_put(b, &f, sizeof f);
    else if (descr[1] == 'f')
        blob_put(b, &v, sizeof v);
    else
        blob_number(b, (uint64_t)(int64_t)v,
                    descr[1] == 'i' || descr[1] == 'u' ? (size_t)(descr[2] - '0') : 1);
}

static inline blob npy_of(const array *a)
{
    blob b = {0};
    char head[200];
    int n = snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
                     a->descr, a->shape);
    blob_put(&b, "\x93NUMPY\1\0", 8);
    blob_number(&b, (uint64_t)n, 2);
    blob_put(&b, head, (size_t)n);
    for (int k = 0; k < a->n; k++) put_value(&b, a->descr, a->v[k]);
    return b;
}

/* One member as the directory (`local` false) or the file has it. */
static inline void zip_header(blob *z, const char *name, const blob *data, bool local, size_t at)
{
    size_t length = strlen(name);
    blob_number(z, local ? 0x04034b50 : 0x02014b50, 4);
    if (!local) blob_number(z, 20, 2);
    blob_number(z, 20, 2);
    blob_number(z, 0, 8); /* flags, stored, time, date */
    blob_number(z, crc32(0, data->p, (uInt)data->n), 4);
    blob_number(z, data->n, 4);
    blob_number(z, data->n, 4);
    blob_number(z, length, 2);
    blob_number(z, 0, 2);
    if (!local) blob_number(z, 0, 10);
    if (!local) blob_number(z, at, 4);
    blob_put(z, name, length);
}

static inline blob zip_of(int n, char (*name)[64], const blob *data)
{
    blob z = {0}, list = {0};
    for (int k = 0; k < n; k++) {
        zip_header(&list, name[k], &data[k], false, z.n);
        zip_header(&z, name[k], &data[k], true, 0);
        blob_put(&z, data[k].p, data[k].n);
    }
    size_t at = z.n;
    blob_put(&z, list.p, list.n);
    blob_number(&z, 0x06054b50, 4);
    blob_number(&z, 0, 4);
    blob_number(&z, (uint64_t)n, 2);
    blob_number(&z, (uint64_t)n, 2);
    blob_number(&z, list.n, 4);
    blob_number(&z, at, 4);
    blob_number(&z, 0, 2);
    return z;
}

/* Arrays without a name are left out. */
static inline blob npz_of(const array *a, int n)
{
    enum { MEMBERS = 12 };
    static blob data[MEMBERS];
    char name[MEMBERS][64];
    int there = 0;
    for (int k = 0; k < n; k++) {
        if (!a[k].name) continue;
        ck_assert_int_lt(there, MEMBERS);
        snprintf(name[there], sizeof name[0], "%s.npy", a[k].name);
        data[there++] = npy_of(&a[k]);
    }
    return zip_of(there, name, data);
}

#endif
