/* Recognising a format and having it read; and what follows for all of them: a name, both
 * directions, features that are made up or normalised, checks, a split where none is given. */
#include "runtime/data/csr.h"
#include "runtime/data/datafile.h"
#include "runtime/data/file.h"
#include "runtime/data/folder.h"
#include "runtime/data/lent.h"
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"
#include "runtime/data/svd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool starts(const unsigned char *p, size_t n, const char *magic)
{
    size_t m = strlen(magic);
    return n >= m && memcmp(p, magic, m) == 0;
}

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* Of text, which may have a byte order mark and whose words are the same in capitals. */
static bool begins(const unsigned char *p, size_t n, const char *words)
{
    size_t mark = starts(p, n, byte_order_mark) ? sizeof byte_order_mark - 1 : 0, m = strlen(words);
    return n - mark >= m && strncasecmp((const char *)p + mark, words, m) == 0;
}

static bool is_npz(const unsigned char *p, size_t n)
{
    return starts(p, n, "PK\3\4") || starts(p, n, "PK\5\6");
}
static bool is_mtx(const unsigned char *p, size_t n) { return begins(p, n, "%%MatrixMarket"); }
static bool is_graph(const unsigned char *p, size_t n) { return begins(p, n, "gnnc graph"); }
static bool is_datafile(const unsigned char *p, size_t n) { return gn_block_file_is(p, n); }
static bool is_text(const unsigned char *p, size_t n) { return !memchr(p, 0, n < 4096 ? n : 4096); }

/* Bytes that were read: out of a pipe, or inflated. */
static gn_status *refuse_datafile(const void *bytes, size_t n, gn_reading *r, gn_dataset **out)
{
    (void)bytes, (void)n, (void)out;
    GN_FAIL(GN_ERR_DATA,
            "'%s': a store of gnnc is mapped where it lies: expected a plain file of "
            "its own, not compressed",
            r->origin);
}

enum { NPZ, MTX, GRAPH, DATAFILE, TEXT, FORMATS };
static const struct format {
    bool (*recognise)(const unsigned char *p, size_t n);
    gn_reader *parse;
    const char *what;
    const char *ending; /* of names that promise it: what is something else there is a mistake.
                           NULL: text may have any */
} formats[FORMATS] = {
    [NPZ] = {is_npz, gn_npz_parse, "a zip file of arrays", ".npz"},
    [MTX] = {is_mtx, gn_mtx_parse, "Matrix Market, which begins with %%MatrixMarket", ".mtx"},
    [GRAPH] = {is_graph, gn_graph_parse, "a gnnc graph", NULL},
    [DATAFILE] = {is_datafile, refuse_datafile, "a store of gnnc", NULL},
    [TEXT] = {is_text, gn_edgelist_parse, "text", NULL},
};

static bool ends(const char *name, size_t n, const char *ending)
{
    size_t m = strlen(ending);
    return n > m && strncasecmp(name + n - m, ending, m) == 0;
}

static gn_status *check_name(const char *path, bool empty, const struct format *is)
{
    size_t n = strlen(path);
    if (ends(path, n, ".gz")) n -= 3;
    for (const struct format *f = formats; f < formats + FORMATS; f++)
        if (f != is && f->ending && ends(path, n, f->ending))
            GN_FAIL(GN_ERR_DATA, "'%s': expected %s, by its name, and it is %s", path, f->what,
                    empty ? "empty"
                    : is  ? is->what
                          : "something else");
    return NULL;
}

static gn_status *parse_bytes(const char *path, const gn_bytes *b, gn_reading *r, gn_dataset **out)
{
    const struct format *is = formats;
    while (is < formats + FORMATS && !is->recognise(b->p, b->n)) is++;
    if (is == formats + FORMATS) is = NULL;
    GN_TRY(check_name(path, b->n == 0, is));
    if (is) return is->parse(b->p, b->n, r, out);
    if (starts(b->p, b->n, "\xff\xfe") || starts(b->p, b->n, "\xfe\xff"))
        GN_FAIL(GN_ERR_DATA, "'%s': text in UTF-16: expected ASCII or UTF-8", r->origin);
    bool pickle = b->n > 2 && b->p[0] == 0x80 && b->p[1] >= 2 && b->p[1] <= 5;
    GN_FAIL(GN_ERR_DATA,
            "'%s': %snot a graph: expected .npz, Matrix Market, an edge list or a gnnc graph (the "
            "last three also "
            "as .gz), a store of `gnnc data convert`, or a folder%s",
            r->origin, pickle ? "a pickle, and " : "",
            pickle ? "; numpy.savez writes a .npz of arrays and of matrices of SciPy" : "");
}

static gn_status *read_file(const char *path, gn_reading *r, gn_dataset **out)
{
    gn_bytes b, plain;
    GN_TRY(gn_file_read(path, &b));
    gn_status *s = NULL;
    if (starts(b.p, b.n, "\x1f\x8b")) {
        s = gn_gunzip(b.p, b.n, path, &plain);
        if (!s) {
            gn_bytes_free(&b);
            b = plain;
        }
    }
    if (!s) s = parse_bytes(path, &b, r, out);
    gn_bytes_free(&b);
    return s;
}

/* ---- folders ---- */

static const struct folder_format {
    const char *file; /* that tells it */
    gn_folder_reader *read;
    const char *what; /* NULL: this one is not to be looked for */
} folder_formats[] = {
    {"ind.*.graph", gn_planetoid_read, "ind.NAME.graph of Planetoid"},
    {"*_A.txt", gn_tu_read, "NAME_A.txt of the TU collection"},
    {"triples.int.csv", gn_kgbench_read, "triples.int.csv of kgbench"},
    {"train.txt", gn_triples_read, "train.txt of triples"},
    {"num-node-list.csv", gn_ogb_read, "num-node-list.csv of OGB"},
    {"triplet-type-list.csv", gn_ogb_typed_read, "triplet-type-list.csv of OGB"},
    {"edge_index_dict.npz", gn_ogb_binary_typed_read, "edge_index_dict.npz of OGB"},
    {"data.npz", gn_ogb_binary_read, "data.npz of OGB"},
    {"adj_full.npz", gn_saint_read, "adj_full.npz of GraphSAINT"},
    {"metadata.yaml", gn_graphbolt_read, "metadata.yaml of GraphBolt"},
    {"preprocessed/metadata.yaml", gn_graphbolt_refuse, NULL},
};
enum { FOLDER_FORMATS = sizeof folder_formats / sizeof *folder_formats };

/* *is: which format the files of this folder have; NULL: none that is known. */
static gn_status *recognise_folder(const char *folder, const gn_reading *r, char *name, size_t size,
                                   const struct folder_format **is)
{
    for (const struct folder_format *f = folder_formats; f < folder_formats + FOLDER_FORMATS; f++) {
        int count = 0;
        *is = f;
        *name = 0;
        if (strchr(f->file, '*'))
            GN_TRY(gn_folder_find(folder, f->file, name, size, &count));
        else if (gn_folder_has(folder, f->file))
            count = 1;
        if (count > 1)
            GN_FAIL(GN_ERR_DATA, "'%s': expected one dataset in this folder, and %d have %s",
                    r->origin, count, f->what);
        if (count == 1) return NULL;
    }
    *is = NULL;
    return NULL;
}

static gn_status *read_folder(const char *folder, gn_reading *r, gn_dataset **out)
{
    const struct folder_format *is;
    char raw[GN_PATH_SIZE], name[128], all[1024] = "";
    GN_TRY(recognise_folder(folder, r, name, sizeof name, &is));
    if (is) return is->read(folder, name, r, out);
    if (gn_folder_has_folder(folder, "raw")) {
        GN_TRY(gn_folder_path(folder, "raw", raw));
        GN_TRY(recognise_folder(raw, r, name, sizeof name, &is));
        if (is) return is->read(raw, name, r, out);
    }
    for (int k = 0; k < FOLDER_FORMATS; k++) {
        size_t n = strlen(all);
        if (!folder_formats[k].what) continue;
        snprintf(all + n, sizeof all - n, "%s%s", k ? ", " : "", folder_formats[k].what);
    }
    GN_FAIL(GN_ERR_DATA, "'%s': no data in this folder or its raw/: looked for %s", r->origin, all);
}

/* metadata.yaml of GraphBolt, which says of the folder around it what there is. */
static bool is_metadata(const char *path, char folder[GN_PATH_SIZE])
{
    static const char file[] = "metadata.yaml";
    size_t n = strlen(path), m = sizeof file - 1;
    if (n < m || n >= GN_PATH_SIZE || strcmp(path + n - m, file) != 0) return false;
    if (n > m && path[n - m - 1] != '/') return false;
    memcpy(folder, path, n - m);
    memcpy(folder + n - m, ".", 2);
    return true;
}

static gn_status *read_any(const char *path, gn_reading *r, gn_dataset **out)
{
    static const char synthetic[] = "synthetic:";
    char folder[GN_PATH_SIZE];
    struct stat st;
    if (!path) return gn_karate_read(r, out);
    if (strncmp(path, synthetic, sizeof synthetic - 1) == 0)
        return gn_synthetic_read(path + sizeof synthetic - 1, r, out);
    if (stat(path, &st) != 0) GN_FAIL(GN_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return read_folder(path, r, out);
    if (is_metadata(path, folder)) return gn_graphbolt_read(folder, "", r, out);
    if (gn_datafile_is(path)) {
        GN_TRY(check_name(path, false, &formats[DATAFILE]));
        return gn_datafile_read(path, out);
    }
    return read_file(path, r, out);
}

/* The file's name without folder and extensions. */
static char *name_from(const char *path)
{
    const char *end = path + strlen(path), *slash;
    while (end > path + 1 && end[-1] == '/') end--;
    for (slash = end; slash > path && slash[-1] != '/'; slash--) {}
    const char *dot = slash < end ? memchr(slash + 1, '.', (size_t)(end - slash - 1)) : NULL;
    return strndup(slash, (size_t)((dot ? dot : end) - slash));
}

gn_status *gn_dataset_new_read(const gn_reading *r, gn_dataset **out)
{
    const char *path = r->opt && r->opt->path ? r->opt->path : r->origin;
    char *name = path ? name_from(path) : NULL;
    gn_status *s = gn_dataset_new(name, out);
    free(name);
    return s;
}

/* Reversed edges come in and repeats go, so nothing may lie on edges but weights. */
static gn_status *check_plain_edges(const gn_dataset *d, const gn_reading *r)
{
    bool plain = !d->edge_attr && !d->typed;
    for (int k = 0; k < d->n_columns; k++)
        plain = plain && !(d->columns[k].on_edges && d->columns[k].over == 0);
    if (plain) return NULL;
    GN_FAIL(GN_ERR_USAGE,
            "%s: edges with %s cannot be made undirected; --undirected off leaves them as they are "
            "stored",
            r->origin, d->edge_attr ? "attributes" : "types");
}

static gn_status *finish(gn_dataset *d, const gn_data_options *opt, const gn_reading *r)
{
    GN_TRY(gn_reading_check_split(r));
    if (!d->name && opt->path && !(d->name = name_from(opt->path)))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a name", strlen(opt->path));
    bool both = opt->undirected == 1 && !r->undirected;
    if (both) {
        GN_TRY(check_plain_edges(d, r));
        GN_TRY(gn_dataset_own_edges(d));
        gn_edges e;
        gn_edges_take(&e, d);
        gn_status *s = gn_edges_to_undirected(&e);
        gn_edges_give(&e, d);
        GN_TRY(s);
    }
    if (opt->features && d->typed)
        GN_FAIL(GN_ERR_USAGE, "%s: --features %s makes those of nodes, and these data have types",
                r->origin, gn_features_name[opt->features]);
    if (opt->reduce && d->typed)
        GN_FAIL(GN_ERR_USAGE, "%s: --features %s is of those of nodes, and these data have types",
                r->origin, gn_reduction_name[opt->reduce]);
    if (opt->features) GN_TRY(gn_features_make(d, opt->features));
    bool normalize = opt->normalize_rows < 0 ? r->normalize_default && !opt->features
                                             : opt->normalize_rows == 1;
    if (d->normalized && !opt->features && opt->normalize_rows == 0)
        GN_FAIL(GN_ERR_USAGE,
                "%s: rows of features were divided by their sums before they were written here: "
                "--normalize-features off goes with `gnnc data convert`",
                r->origin);
    bool was = d->normalized && !opt->features;
    normalize = normalize && !was && gn_dataset_has_features(d);
    if (normalize || opt->reduce) GN_TRY(gn_dataset_own_features(d));
    if (normalize) GN_TRY(gn_features_normalize(d));
    d->normalized = was || normalize;
    if (opt->reduce) GN_TRY(gn_features_reduce(d, opt->reduce, opt->components));
    if (opt->classes > 0 && opt->classes < d->n_classes)
        GN_FAIL(GN_ERR_USAGE, "%s: %lld classes are asked for, but the labels have %lld", r->origin,
                (long long)opt->classes, (long long)d->n_classes);
    if (opt->classes > 0) d->n_classes = opt->classes;
    /* Stores were checked before anything here looked at them. */
    bool checked = d->file && !both && !opt->features && !normalize && !opt->reduce;
    if (!checked) GN_TRY(gn_dataset_check(d));
    if (d->y && !d->train_mask && !opt->undrawn) {
        int64_t rows = gn_dataset_labelled(d);
        GN_MEM(d->train_mask, rows);
        GN_MEM(d->val_mask, rows);
        GN_MEM(d->test_mask, rows);
        GN_TRY(gn_dataset_draw_split(d, opt->seed));
    }
    return NULL;
}

gn_status *gn_dataset_read(const gn_data_options *opt, gn_dataset **out)
{
    gn_dataset *d = NULL;
    gn_reading r = {.opt = opt, .origin = opt->path ? opt->path : "karate"};
    *out = NULL;
    GN_TRY(read_any(opt->path, &r, &d));
    gn_status *s = finish(d, opt, &r);
    if (s)
        gn_dataset_free(d);
    else
        *out = d;
    return s;
}
