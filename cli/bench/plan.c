/* plan: the cells of a grid, each with the key of all that its measurement depends on. */
#include "cli/bench/bench.h"

#include "cache/sha256.h"
#include "build/build.h"
#include "compile/code_id.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A graph that is drawn has no name to go by. */
static const char *name_of(const gn_cell *c)
{
    if (!strncmp(c->data, "synthetic:", strlen("synthetic:"))) return c->data;
    return c->warm.data ? c->warm.data : c->cold.data;
}

const char *gn_bench_data_label(const gn_bench *b, const gn_cell *c)
{
    const char *name = name_of(c);
    for (int k = 0; k < b->n_cells; k++) {
        const gn_cell *o = &b->cells[k];
        if (strcmp(o->data, c->data) != 0) {
            if (name && name_of(o) && !strcmp(name_of(o), name)) return *c->data ? c->data : name;
        } else if (!name) {
            name = name_of(o); /* this one failed, another one on the same data did not */
        }
    }
    return name ? name : *c->data ? c->data : "built-in graph";
}

/* "gcn" of samples/gcn.gnn. */
static const char *stem_of(gn_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
               *dot = strrchr(name, '.');
    size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    return gn_arena_strndup(a, name, n);
}

const char *gn_bench_model_label(const gn_bench *b, const gn_cell *c)
{
    const char *stem = stem_of(b->arena, c->model);
    for (uint32_t k = 0; k < b->grid.models.n; k++) {
        const char *other = b->grid.models.p[k];
        if (strcmp(other, c->model) != 0 && !strcmp(stem_of(b->arena, other), stem))
            return c->model;
    }
    return stem;
}

/* A file by what tells one state of it from another. */
static void add_file(gn_buf *key, const char *name, const char *path)
{
    struct stat s;
    if (stat(path, &s)) return;
    gn_buf_printf(key, "%s size %lld time %lld.%09ld\n", name, (long long)s.st_size,
                  (long long)s.st_mtim.tv_sec, (long)s.st_mtim.tv_nsec);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every file that lies in a folder, by name; nothing where there is no such folder. */
static void add_folder(gn_arena *a, gn_buf *key, const char *path)
{
    gn_string_list names = {0};
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));)
        GN_PUSH(a, names, gn_arena_strdup(a, e->d_name));
    if (d) closedir(d);
    if (names.n) qsort(names.p, names.n, sizeof *names.p, by_name);
    for (uint32_t k = 0; k < names.n; k++) {
        const char *file = gn_arena_printf(a, "%s/%s", path, names.p[k]);
        struct stat s;
        if (!stat(file, &s) && S_ISREG(s.st_mode))
            add_file(key, gn_arena_printf(a, "data %s", file), file);
    }
}

/* Of a folder what readers look at: its files and those of its raw/. */
static void add_data(gn_arena *a, gn_buf *key, const char *path)
{
    struct stat s;
    if (!stat(path, &s) && S_ISDIR(s.st_mode)) {
        add_folder(a, key, path);
        add_folder(a, key, gn_arena_printf(a, "%s/raw", path));
    } else {
        add_file(key, "data", path);
    }
}

static void add_list(gn_buf *key, const char *name, const gn_string_list *list)
{
    for (uint32_t k = 0; k < list->n; k++) gn_buf_printf(key, "%s %s\n", name, list->p[k]);
}

static void add_text(gn_buf *key, const char *name, const char *value)
{
    if (value) gn_buf_printf(key, "%s %s\n", name, value);
}

/* What all cells of a model share. */
static gn_status *common_key(const gn_bench *b, const char *model, gn_buf *key)
{
    const gn_cli_options *o = &b->cli->opt;
    const char *text;
    size_t n;
    unsigned char digest[GN_SHA256_BYTES];
    char hex[GN_SHA256_HEX + 1];
    GN_TRY(gn_read_model(b->arena, model, &text, &n));
    gn_sha256_of(text, n, digest);
    gn_sha256_hex(digest, hex);
    gn_buf_printf(key, "gnnc %s\ncode %s\n", GNNC_VERSION, gn_code_id);
    add_file(key, "program", "/proc/self/exe");
    gn_buf_printf(key, "model %s\n", hex);
    add_list(key, "define", &o->defines);
    add_list(key, "without", &o->without);
    add_text(key, "only", o->only);
    if (o->model) add_text(key, "model_name", o->model);
    if (o->features) add_text(key, "features", o->features);
    if (o->classes >= 0)
        add_text(key, "classes", gn_arena_printf(key->arena, "%lld", (long long)o->classes));
    add_text(key, "normalize", o->normalize);
    add_text(key, "undirected", o->undirected);
    add_text(key, "reorder", o->reorder);
    if (o->device && strcmp(o->device, "cpu") != 0) add_text(key, "device", o->device);
    if (o->precision && strcmp(o->precision, "highest") != 0)
        add_text(key, "matmul-precision", o->precision);
    if (o->products) add_text(key, "products", o->products);
    if (o->numbers && strcmp(o->numbers, "float32") != 0) add_text(key, "precision", o->numbers);
    if (o->gathers && strcmp(o->gathers, "float32") != 0)
        add_text(key, "gather-storage", o->gathers);
    add_text(key, "weights", o->weights);
    if (o->weights) add_file(key, "weights", o->weights);
    gn_buf_printf(key, "split %" PRId64 "\nseed %" PRId64 "\n", o->split, o->seed);
    gn_buf_printf(key, "measure %s%s\n",
                  b->eval_only ? "inference"
                  : o->what    ? "training"
                               : "training where there are labels",
                  b->compile_only ? ", compilation alone" : "");
    gn_buf_printf(key, "warmup %" PRId64 "\nrepeat %" PRId64 "\nepochs %" PRId64 "\n", b->warmup,
                  b->repeat, b->epochs);
    if (o->tune_budget >= 0) gn_buf_printf(key, "tune-budget %.9g\n", o->tune_budget);
    gn_buf_printf(key, "baseline %s\n", b->grid.baseline);
    if (b->grid.dynamic.n > 1) gn_buf_printf(key, "changing graphs %d\n", GN_BENCH_BATCHES);
    return NULL;
}

static void finish(const gn_bench *b, gn_cell *c, const char *common)
{
    gn_buf key = {.arena = b->arena};
    unsigned char digest[GN_SHA256_BYTES];
    char hex[GN_SHA256_HEX + 1];
    gn_buf_add(&key, common);
    gn_buf_printf(&key, "data %s\n", c->data);
    if (*c->data) add_data(b->arena, &key, c->data);
    gn_buf_printf(&key, "mode %s\ndynamic %s\nthreads %" PRId64 "\n", c->mode, c->dynamic,
                  c->threads);
    gn_sha256_of(key.p, key.n, digest);
    gn_sha256_hex(digest, hex);
    c->key = key.p;
    c->id = gn_arena_strndup(b->arena, hex, 16);
    c->timeout_s = b->timeout_s;
    c->is_baseline = !strcmp(c->mode, b->grid.baseline);
}

/* Two files of one text have the same cells. */
static gn_status *check_models(const gn_grid *g, const char *const *common)
{
    for (uint32_t k = 0; k < g->models.n; k++)
        for (uint32_t i = 0; i < k; i++)
            if (!strcmp(common[i], common[k]))
                GN_FAIL(GN_ERR_USAGE, "'%s' and '%s' are the same model", g->models.p[i],
                        g->models.p[k]);
    return NULL;
}

static void add_cells(gn_bench *b, const char *model, const char *data, int64_t threads,
                      const char *common)
{
    const gn_grid *g = &b->grid;
    for (uint32_t y = 0; y < g->dynamic.n; y++)
        for (uint32_t m = 0; m < g->modes.n; m++) {
            gn_cell *c = &b->cells[b->n_cells++];
            gn_cell_init(c);
            c->model = model;
            c->data = data;
            c->threads = threads;
            c->dynamic = g->dynamic.p[y];
            c->mode = g->modes.p[m];
            finish(b, c, common);
        }
}

gn_status *gn_bench_plan(gn_bench *b)
{
    const gn_grid *g = &b->grid;
    size_t n = 1, by[] = {g->models.n, g->data.n, g->threads.n, g->dynamic.n, g->modes.n};
    enum { MOST = 1 << 16 };
    const char **common = GN_NEW_N(b->arena, const char *, g->models.n + 1);
    for (uint32_t m = 0; m < g->models.n; m++) {
        gn_buf key = {.arena = b->arena};
        GN_TRY(common_key(b, g->models.p[m], &key));
        common[m] = key.p;
    }
    GN_TRY(check_models(g, common));
    for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
        if (n > MOST / by[k])
            GN_FAIL(GN_ERR_USAGE, "more than %d cells: the lists are too long", MOST);
        n *= by[k];
    }
    b->cells = GN_NEW_N(b->arena, gn_cell, n);
    b->n_cells = 0;
    for (uint32_t m = 0; m < g->models.n; m++)
        for (uint32_t d = 0; d < g->data.n; d++)
            for (uint32_t t = 0; t < g->threads.n; t++)
                add_cells(b, g->models.p[m], g->data.p[d], g->threads.p[t], common[m]);
    return NULL;
}
