/* Folders with files of arrays: the first byte says which format, and before each file stand two
 * bytes with its length, of which 65535 is none.  What is read must pass the check that every
 * dataset passes.  The last format is a file of torch.save. */
/* links: runtime base */
#include "runtime/data/folder.h"
#include "runtime/data/readers.h"
#include "runtime/data/torchfile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 16, NONE = 65535 };

/* Every file in memory of its own, so that reads past its end are seen. */
static void cut(const uint8_t *p, const uint8_t *end, gn_input *part)
{
    for (int k = 0; k < MOST; k++) {
        size_t n = end - p >= 2 ? (size_t)(p[0] | p[1] << 8) : NONE;
        if (end - p >= 2) p += 2;
        bool none = n == NONE;
        if (none) n = 0;
        if (n > (size_t)(end - p)) n = (size_t)(end - p);
        char *copy = none ? NULL : malloc(n ? n : 1);
        if (copy && n) memcpy(copy, p, n);
        part[k] = (gn_input){copy, copy ? n : 0, "fuzz"};
        p += n;
    }
}

/* The file `1` is the second part. */
static gn_status *read_part(void *context, const char *path, gn_folder_file *out)
{
    const gn_input *part = context;
    int k = path[1] ? -1 : path[0] - '0';
    *out = (gn_folder_file){.path = strdup(path)};
    if (k < 1 || k > 9 || !part[k].bytes || !out->path) GN_FAIL(GN_ERR_IO, "no file '%s'", path);
    out->bytes = (gn_bytes){malloc(part[k].n ? part[k].n : 1), part[k].n};
    if (!out->bytes.p) GN_FAIL(GN_ERR_NOMEM, "out of memory");
    if (part[k].n) memcpy(out->bytes.p, part[k].bytes, part[k].n);
    return NULL;
}

static gn_status *parse_graphbolt(const gn_input *part, gn_reading *r, gn_dataset **out)
{
    const gn_graphbolt_files files = {(void *)part, read_part};
    return gn_graphbolt_parse(part, &files, r, out);
}

static gn_status *parse_torch(const gn_input *part, gn_reading *r, gn_dataset **out)
{
    gn_torch *t;
    gn_status *s = gn_torch_open(part->bytes, part->n, r->origin, &t);
    if (!s) gn_torch_close(t);
    *out = NULL;
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        gn_status *(*parse)(const gn_input *part, gn_reading *r, gn_dataset **out);
        int needed;
    } formats[] = {{gn_saint_parse, GN_SAINT_PARTS},
                   {gn_ogb_binary_parse, 1},
                   {parse_graphbolt, 1},
                   {parse_torch, 1}};
    static const gn_data_options opt = {.normalize_rows = -1, .undirected = -1};
    if (size < 1) return 0;
    unsigned which = (uint8_t)(data[0] - '0') % (sizeof formats / sizeof *formats);
    gn_reading r = {.opt = &opt, .origin = "fuzz"};
    gn_input part[MOST];
    gn_dataset *d = NULL;
    bool all = true;
    cut(data + 1, data + size, part);
    for (int k = 0; k < formats[which].needed; k++) all = all && part[k].bytes;
    gn_status *s = all ? formats[which].parse(part, &r, &d) : NULL;
    if (!s && d && (s = gn_dataset_check(d))) abort();
    gn_status_free(s);
    gn_dataset_free(d);
    for (int k = 0; k < MOST; k++) free((void *)part[k].bytes);
    return 0;
}
