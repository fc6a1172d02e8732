/* Files of folders: the first byte says which format, and lines of `@` alone stand between the
 * files, of which `@-` is none.  What is read must pass the check that every dataset passes. */
/* links: runtime base */
#include "runtime/data/readers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 16 };

typedef struct format {
    gn_status *(*parse)(const gn_input *part, gn_reading *r, gn_dataset **out);
    int parts, needed;
} format;

/* Every file in memory of its own, so that reads past its end are seen. */
static void cut(const char *p, const char *end, int parts, gn_input *part)
{
    for (int k = 0; k < parts; k++) {
        const char *to = p;
        while (to < end && !(*to == '@' && (to == p || to[-1] == '\n'))) to++;
        bool none = p < end && *p == '-';
        size_t n = (size_t)(to - p);
        char *copy = none ? NULL : malloc(n ? n : 1);
        if (copy && n) memcpy(copy, p, n);
        part[k] = (gn_input){copy, none ? 0 : n, "fuzz"};
        p = to < end ? to + 1 : end;
        if (p < end && *p == '\n') p++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const format formats[] = {
        {gn_tu_parse, GN_TU_PARTS, 2},
        {gn_kgbench_parse, GN_KGBENCH_PARTS, 3},
        {gn_triples_parse, GN_TRIPLES_PARTS, 1},
        {gn_ogb_parse, GN_OGB_PARTS, 3},
    };
    static const gn_data_options opt = {.normalize_rows = -1, .undirected = -1};
    if (size < 1) return 0;
    const format *f = &formats[data[0] % (sizeof formats / sizeof *formats)];
    gn_reading r = {.opt = &opt, .origin = "fuzz"};
    gn_input part[MOST] = {{0}};
    gn_dataset *d = NULL;
    bool all = true;
    cut((const char *)data + 1, (const char *)data + size, f->parts, part);
    for (int k = 0; k < f->needed; k++) all = all && part[k].bytes;
    gn_status *s = all ? f->parse(part, &r, &d) : NULL;
    if (!s && d) {
        s = gn_dataset_check(d);
        if (s) abort();
        if (gn_dataset_column(d, "g.kind")) s = gn_dataset_split_kinds(d, true);
        if (!s) s = gn_dataset_check(d);
        if (s) abort();
    }
    gn_status_free(s);
    gn_dataset_free(d);
    for (int k = 0; k < f->parts; k++) free((void *)part[k].bytes);
    return 0;
}
