/* .npz files.  An input that starts with 'R' is the zip itself from its second byte on.  Any other
 * is a list of members, each a key's number, a type (or one pickled object), two dimensions and the
 * elements, from which a sound zip is built: mutations of a whole zip rarely get past its
 * checksums. */
/* links: runtime base */
#include "runtime/data/readers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const keys[] = {
    "adj_data",    "adj_indices", "adj_indptr", "adj_shape",  "attr_data",     "attr_indices",
    "attr_indptr", "attr_shape",  "labels",     "edge_index", "edges",         "x",
    "y",           "edge_weight", "edge_attr",  "num_nodes",  "node_features", "node_labels",
    "train_masks", "val_masks",   "test_masks", "train_mask", "val_mask",      "test_mask",
    "train_idx",   "valid_idx",   "test_idx",   "edge_feat",  "format",        "indices",
    "indptr",      "shape",       "row",        "col",        "data",          "_is_array",
};
/* Of bytes from 200 on. */
static const char *const more[] = {"adj_matrix",
                                   "attr_matrix",
                                   "feat",
                                   "label",
                                   "src",
                                   "dst",
                                   "adj",
                                   "X",
                                   "arr_0",
                                   "Y",
                                   "idx_val",
                                   "a__w__b.edge_index",
                                   "a.x",
                                   "a.y",
                                   "b.k",
                                   "num_nodes.b",
                                   "a__w__b.edge_attr",
                                   "a__w__b.edge_weight",
                                   "a.train_idx",
                                   "a.valid_idx",
                                   "a.test_idx",
                                   "graph_of_node",
                                   "batch",
                                   "num_graphs",
                                   "c.edge_index",
                                   "c.src",
                                   "c.dst"};
static const char types[][4] = {"<i4", "<f4", "|b1", "<i8", ">i2", "<f8", "|u1", "<f2"};
enum {
    KEYS = sizeof keys / sizeof *keys,
    MORE = sizeof more / sizeof *more,
    MEMBERS = 16,
    CAP = 1 << 16
};

typedef struct buffer {
    unsigned char p[CAP];
    size_t n;
} buffer;

static void put(buffer *b, const void *p, size_t n)
{
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void put_int(buffer *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) b->p[b->n++] = (unsigned char)(v >> (8 * i));
}

typedef struct member {
    char name[32];
    size_t at, size;
    uLong crc;
} member;

static void put_header(buffer *b, const member *m, int local)
{
    put_int(b, local ? 0x04034b50 : 0x02014b50, 4);
    if (!local) put_int(b, 20, 2);
    put_int(b, 20, 2);
    put_int(b, 0, 8);
    put_int(b, m->crc, 4);
    put_int(b, m->size, 4);
    put_int(b, m->size, 4);
    put_int(b, strlen(m->name), 2);
    put_int(b, 0, 2);
    if (!local) put_int(b, 0, 8);
    if (!local) put_int(b, 0, 2);
    if (!local) put_int(b, m->at, 4);
    put(b, m->name, strlen(m->name));
}

static size_t add_member(buffer *b, member *m, const uint8_t *p, size_t n)
{
    static buffer array;
    char dict[128];
    const char *type = types[p[1] % 8];
    size_t rank = p[1] >> 4 & 3, rows = p[2], cols = p[3], bytes = rows;
    if (rank == 2) bytes *= cols;
    if (rank == 0) bytes = 1;
    bytes *= (size_t)(type[2] - '0');
    bool pickle = p[1] & 0x40; /* one Python object; its bytes are as many as the dimensions say */
    if (pickle) bytes = rows + cols * 256;
    size_t have = bytes < n - 4 ? bytes : n - 4;
    int length = snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                          type, p[1] & 8 ? "True" : "False");
    length += rank == 0   ? snprintf(dict + length, 64, "), }\n")
              : rank == 1 ? snprintf(dict + length, 64, "%zu,), }\n", rows)
                          : snprintf(dict + length, 64, "%zu, %zu), }\n", rows, cols);
    if (pickle)
        length = snprintf(dict, sizeof dict,
                          "{'descr': '|O', 'fortran_order': False, 'shape': (), }\n");
    array.n = 0;
    put(&array, "\x93NUMPY\1", 8);
    put_int(&array, (uint64_t)length, 2);
    put(&array, dict, (size_t)length);
    if (bytes > 4000) bytes = 4000;
    if (have > bytes) have = bytes;
    put(&array, p + 4, have);
    memset(array.p + array.n, 0, bytes - have);
    array.n += bytes - have;
    snprintf(m->name, sizeof m->name, "%s.npy",
             p[0] < 200 ? keys[p[0] % KEYS] : more[(p[0] - 200) % MORE]);
    m->at = b->n;
    m->size = array.n;
    m->crc = crc32(0, array.p, (uInt)array.n);
    put_header(b, m, 1);
    put(b, array.p, array.n);
    return 4 + have;
}

static void build(buffer *b, const uint8_t *p, size_t n)
{
    member m[MEMBERS];
    int members = 0;
    while (n >= 4 && members < MEMBERS && b->n < CAP / 2 - 8192) {
        size_t used = add_member(b, &m[members++], p, n);
        p += used;
        n -= used;
    }
    size_t at = b->n;
    for (int i = 0; i < members; i++) put_header(b, &m[i], 0);
    size_t end = b->n;
    put_int(b, 0x06054b50, 4);
    put_int(b, 0, 4);
    put_int(b, (uint64_t)members, 2);
    put_int(b, (uint64_t)members, 2);
    put_int(b, end - at, 4);
    put_int(b, at, 4);
    put_int(b, 0, 2);
}

static void read_one(const void *bytes, size_t n, int undirected)
{
    const gn_data_options opt = {.normalize_rows = -1, .undirected = undirected};
    gn_reading r = {.opt = &opt, .origin = "fuzz"};
    gn_dataset *d = NULL;
    gn_status *s = gn_npz_parse(bytes, n, &r, &d);
    if (!s) gn_status_free(gn_dataset_check(d)); /* says whether ends are in range */
    gn_status_free(s);
    gn_dataset_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static buffer b;
    if (size == 0) return 0;
    if (*data == 'R') {
        read_one(data + 1, size - 1, -1);
        return 0;
    }
    b.n = 0;
    build(&b, data + 1, size - 1);
    unsigned char *exact = malloc(b.n);
    if (!exact) return 0;
    memcpy(exact, b.p, b.n);
    read_one(exact, b.n, *data % 3 - 1);
    free(exact);
    return 0;
}
