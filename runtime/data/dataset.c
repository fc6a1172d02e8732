/* What is the same for every format: recognising it, normalising, splitting, checking, freeing. */
#include "runtime/data/dataset.h"

#include "base/philox.h"
#include "runtime/data/csr.h"
#include "runtime/data/file.h"
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

gn_status *gn_dataset_new(const char *name, gn_dataset **out)
{
    gn_dataset *d;
    GN_MEM(d, 1);
    if (name && !(d->name = strdup(name))) {
        free(d);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a name", strlen(name));
    }
    *out = d;
    return NULL;
}

void gn_dataset_free(gn_dataset *d)
{
    if (!d) return;
    free(d->name);
    free(d->src);
    free(d->dst);
    free(d->edge_weight);
    free(d->edge_attr);
    free(d->x);
    gn_csr_free(d->x_csr);
    free(d->y);
    free(d->train_mask);
    free(d->val_mask);
    free(d->test_mask);
    for (int k = 0; k < d->n_more; k++) {
        gn_data_array_drop(&d->more[k]);
        free(d->more[k].name);
    }
    free(d->more);
    free(d);
}

void gn_data_array_drop(gn_data_array *a)
{
    free(a->data);
    a->data = NULL;
}

void gn_dataset_drop_edges(gn_dataset *d, bool features)
{
    void *gone[] = {d->src, d->dst, d->edge_weight, d->edge_attr};
    for (size_t k = 0; k < sizeof gone / sizeof *gone; k++) free(gone[k]);
    d->src = d->dst = NULL;
    d->edge_weight = d->edge_attr = NULL;
    for (int k = 0; k < d->n_more; k++)
        if (d->more[k].on_edges) gn_data_array_drop(&d->more[k]);
    if (!features) return;
    gn_csr_free(d->x_csr);
    d->x_csr = NULL;
}

gn_status *gn_dataset_labels(gn_dataset *d)
{
    GN_MEM(d->y, d->n_nodes);
    for (int64_t i = 0; i < d->n_nodes; i++) d->y[i] = -1;
    GN_MEM(d->train_mask, d->n_nodes);
    GN_MEM(d->val_mask, d->n_nodes);
    GN_MEM(d->test_mask, d->n_nodes);
    return NULL;
}

/* ---- the drawn split ---- */

enum { TRAIN_A_CLASS = 20, VAL_A_CLASS = 30, SPLIT_SITE = 0x5917 };

/* `node` holds one class's nodes: shuffled, then cut in three. */
static void draw_class(gn_dataset *d, int64_t *node, int64_t n, uint32_t key, uint64_t *drawn)
{
    int64_t train = TRAIN_A_CLASS, val = VAL_A_CLASS;
    if (n < TRAIN_A_CLASS + VAL_A_CLASS + 10) {
        train = (n + 2) / 3;
        val = n / 3;
    }
    for (int64_t i = 0; i < n; i++) {
        uint64_t r = gn_random_u32(key, SPLIT_SITE, *drawn) | (uint64_t)gn_random_u32(key, SPLIT_SITE, *drawn + 1)
                                                                  << 32;
        *drawn += 2;
        int64_t j = i + (int64_t)(r % (uint64_t)(n - i)), t = node[i];
        node[i] = node[j];
        node[j] = t;
        uint8_t *mask = i < train ? d->train_mask : i < train + val ? d->val_mask : d->test_mask;
        mask[node[i]] = 1;
    }
}

gn_status *gn_dataset_draw_split(gn_dataset *d, uint64_t seed)
{
    int64_t *start = gn_mem_alloc(d->n_classes + 2, sizeof *start), *node = gn_mem_alloc(d->n_nodes, sizeof *node);
    if (!start || !node) {
        free(start);
        free(node);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: a split of %lld nodes", (long long)d->n_nodes);
    }
    for (int64_t i = 0; i < d->n_nodes; i++)
        if (d->y[i] >= 0) start[d->y[i] + 2]++;
    for (int64_t c = 0; c < d->n_classes; c++) start[c + 2] += start[c + 1];
    for (int64_t i = 0; i < d->n_nodes; i++)
        if (d->y[i] >= 0) node[start[d->y[i] + 1]++] = i;
    uint32_t key = gn_rng_key(seed, 0);
    uint64_t drawn = 0;
    for (int64_t c = 0; c < d->n_classes; c++) draw_class(d, node + start[c], start[c + 1] - start[c], key, &drawn);
    free(start);
    free(node);
    d->split_drawn = true;
    return NULL;
}

/* ---- checks ---- */

static const char *name_of(const gn_dataset *d) { return d->name ? d->name : "dataset"; }

static gn_status *check_edges(const gn_dataset *d)
{
    if (d->n_nodes < 0 || d->n_edges < 0 || (d->n_edges > 0 && (!d->src || !d->dst)))
        GN_FAIL(GN_ERR_DATA, "%s: no edge arrays for %lld edges", name_of(d), (long long)d->n_edges);
    for (int64_t e = 0; e < d->n_edges; e++) {
        if (d->src[e] < 0 || d->src[e] >= d->n_nodes || d->dst[e] < 0 || d->dst[e] >= d->n_nodes)
            GN_FAIL(GN_ERR_DATA, "%s: edge %lld is %lld -> %lld, but there are %lld nodes", name_of(d), (long long)e,
                    (long long)d->src[e], (long long)d->dst[e], (long long)d->n_nodes);
        if (d->edge_weight && !isfinite(d->edge_weight[e]))
            GN_FAIL(GN_ERR_DATA, "%s: the weight of edge %lld is %g: expected a finite number", name_of(d),
                    (long long)e, (double)d->edge_weight[e]);
    }
    for (int64_t i = 0; d->edge_attr && i < d->n_edges * d->edge_dim; i++)
        if (!isfinite(d->edge_attr[i]))
            GN_FAIL(GN_ERR_DATA, "%s: attribute %lld of edge %lld is %g: expected a finite number", name_of(d),
                    (long long)(i % d->edge_dim), (long long)(i / d->edge_dim), (double)d->edge_attr[i]);
    return NULL;
}

static gn_status *check_csr(const gn_dataset *d, const gn_csr *m)
{
    if (m->rows != d->n_nodes || m->cols != d->n_features || m->ptr[0] != 0 || m->ptr[m->rows] != m->nnz)
        GN_FAIL(GN_ERR_DATA, "%s: features are %lld x %lld, expected %lld x %lld", name_of(d), (long long)m->rows,
                (long long)m->cols, (long long)d->n_nodes, (long long)d->n_features);
    for (int64_t r = 0; r < m->rows; r++) {
        if (m->ptr[r + 1] < m->ptr[r])
            GN_FAIL(GN_ERR_DATA, "%s: feature row %lld ends before it starts", name_of(d), (long long)r);
        for (int64_t i = m->ptr[r]; i < m->ptr[r + 1]; i++) {
            if (m->col[i] < 0 || m->col[i] >= m->cols || (i > m->ptr[r] && m->col[i] <= m->col[i - 1]))
                GN_FAIL(GN_ERR_DATA, "%s: feature row %lld: column %d is out of range or order", name_of(d),
                        (long long)r, m->col[i]);
            if (!isfinite(m->val[i]))
                GN_FAIL(GN_ERR_DATA, "%s: feature row %lld, column %d is %g: expected a finite number", name_of(d),
                        (long long)r, m->col[i], (double)m->val[i]);
        }
    }
    return NULL;
}

static gn_status *check_features(const gn_dataset *d)
{
    if (d->n_features < 0 || (d->n_features > 0 && !d->x == !d->x_csr))
        GN_FAIL(GN_ERR_DATA, "%s: expected features dense or sparse, and not both", name_of(d));
    if (d->x_csr) return check_csr(d, d->x_csr);
    for (int64_t i = 0; d->x && i < d->n_nodes * d->n_features; i++)
        if (!isfinite(d->x[i]))
            GN_FAIL(GN_ERR_DATA, "%s: feature row %lld, column %lld is %g: expected a finite number", name_of(d),
                    (long long)(i / d->n_features), (long long)(i % d->n_features), (double)d->x[i]);
    return NULL;
}

static gn_status *check_mask(const gn_dataset *d, const uint8_t *mask)
{
    for (int64_t i = 0; mask && i < d->n_nodes; i++)
        if (mask[i] > 1)
            GN_FAIL(GN_ERR_DATA, "%s: a mask has %d for node %lld: expected 0 or 1", name_of(d), mask[i], (long long)i);
    return NULL;
}

gn_status *gn_dataset_check(const gn_dataset *d)
{
    GN_TRY(check_edges(d));
    GN_TRY(check_features(d));
    for (int64_t i = 0; d->y && i < d->n_nodes; i++)
        if (d->y[i] < -1 || d->y[i] >= d->n_classes)
            GN_FAIL(GN_ERR_DATA, "%s: node %lld has class %d, but there are %lld classes", name_of(d), (long long)i,
                    d->y[i], (long long)d->n_classes);
    GN_TRY(check_mask(d, d->train_mask));
    GN_TRY(check_mask(d, d->val_mask));
    return check_mask(d, d->test_mask);
}

/* ---- recognition ---- */

static bool starts(const unsigned char *p, size_t n, const char *magic)
{
    size_t m = strlen(magic);
    return n >= m && memcmp(p, magic, m) == 0;
}

static bool is_npz(const unsigned char *p, size_t n) { return starts(p, n, "PK\3\4") || starts(p, n, "PK\5\6"); }
static bool is_mtx(const unsigned char *p, size_t n) { return starts(p, n, "%%MatrixMarket"); }
static bool is_graph(const unsigned char *p, size_t n) { return starts(p, n, "gnnc graph"); }
static bool is_text(const unsigned char *p, size_t n) { return !memchr(p, 0, n < 4096 ? n : 4096); }

static const struct format {
    bool (*recognise)(const unsigned char *p, size_t n);
    gn_reader *parse;
    const char *what;
    const char
        *ending; /* of names that promise it: what is something else there is a mistake.  NULL: text may have any */
} formats[] = {
    {is_npz, gn_npz_parse, "a zip file of arrays", ".npz"},
    {is_mtx, gn_mtx_parse, "Matrix Market, which begins with %%MatrixMarket", ".mtx"},
    {is_graph, gn_graph_parse, "a gnnc graph", NULL},
    {is_text, gn_edgelist_parse, "text", NULL},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool ends(const char *name, size_t n, const char *ending)
{
    size_t m = strlen(ending);
    return n > m && strncasecmp(name + n - m, ending, m) == 0;
}

static gn_status *check_name(const char *path, const gn_bytes *b, const struct format *is)
{
    size_t n = strlen(path);
    if (ends(path, n, ".gz")) n -= 3;
    for (const struct format *f = formats; f < formats + FORMATS; f++)
        if (f != is && f->ending && ends(path, n, f->ending))
            GN_FAIL(GN_ERR_DATA, "'%s': expected %s, by its name, and it is %s", path, f->what,
                    !b->n ? "empty"
                    : is  ? is->what
                          : "something else");
    return NULL;
}

static gn_status *parse_bytes(const char *path, const gn_bytes *b, gn_reading *r, gn_dataset **out)
{
    const struct format *is = formats;
    while (is < formats + FORMATS && !is->recognise(b->p, b->n)) is++;
    if (is == formats + FORMATS) is = NULL;
    GN_TRY(check_name(path, b, is));
    if (is) return is->parse(b->p, b->n, r, out);
    GN_FAIL(GN_ERR_DATA,
            "'%s': not a graph: expected .npz, Matrix Market, an edge list or a gnnc graph (the last three also "
            "as .gz), or a folder of Planetoid files",
            r->origin);
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

static gn_status *read_any(const char *path, gn_reading *r, gn_dataset **out)
{
    static const char synthetic[] = "synthetic:";
    struct stat st;
    if (!path) return gn_karate_read(r, out);
    if (strncmp(path, synthetic, sizeof synthetic - 1) == 0)
        return gn_synthetic_read(path + sizeof synthetic - 1, r, out);
    if (stat(path, &st) != 0) GN_FAIL(GN_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return gn_planetoid_read(path, r, out);
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

gn_status *gn_reading_check_split(const gn_reading *r)
{
    int64_t splits = r->splits > 1 ? r->splits : 1;
    if (r->opt->split < 0 || r->opt->split >= splits)
        GN_FAIL(GN_ERR_USAGE, "%s: split %d: there %s %lld", r->origin, r->opt->split, splits == 1 ? "is only" : "are",
                (long long)splits);
    return NULL;
}

static gn_status *finish(gn_dataset *d, const gn_data_options *opt, const gn_reading *r)
{
    GN_TRY(gn_reading_check_split(r));
    if (!d->name && opt->path && !(d->name = name_from(opt->path)))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a name", strlen(opt->path));
    if (opt->undirected == 1 && !r->undirected) {
        gn_edges e;
        gn_edges_take(&e, d);
        gn_status *s = gn_edges_to_undirected(&e);
        gn_edges_give(&e, d);
        GN_TRY(s);
    }
    if (opt->features) GN_TRY(gn_features_make(d, opt->features));
    bool normalize = opt->normalize_rows < 0 ? r->normalize_default && !opt->features : opt->normalize_rows == 1;
    if (normalize) GN_TRY(gn_features_normalize(d));
    d->normalized = normalize && d->n_features > 0;
    if (opt->classes > 0 && opt->classes < d->n_classes)
        GN_FAIL(GN_ERR_USAGE, "%s: %lld classes are asked for, but the labels have %lld", r->origin,
                (long long)opt->classes, (long long)d->n_classes);
    if (opt->classes > 0) d->n_classes = opt->classes;
    GN_TRY(gn_dataset_check(d));
    if (d->y && !d->train_mask) {
        GN_MEM(d->train_mask, d->n_nodes);
        GN_MEM(d->val_mask, d->n_nodes);
        GN_MEM(d->test_mask, d->n_nodes);
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
