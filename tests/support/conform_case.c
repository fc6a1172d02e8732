#include "support/conform_case.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *meta(const conform_case *c, const char *key)
{
    const char *s = gn_tensor_file_meta(c->file, key);
    return s ? s : "";
}

/* files ---------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

gn_status *conform_list(gn_arena *a, const char *root, int *n, const char ***paths)
{
    const char *folder = gn_arena_printf(a, "%s/tests/conform/data", root);
    GN_VEC(const char *) all = {0};
    DIR *d = opendir(folder);
    if (!d) GN_FAIL(GN_ERR_IO, "cannot open %s", folder);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".safetensors"))
            GN_PUSH(a, all, gn_arena_printf(a, "%s/%s", folder, e->d_name));
    closedir(d);
    if (all.n) qsort(all.p, all.n, sizeof *all.p, by_text);
    *n = (int)all.n;
    *paths = all.p;
    return NULL;
}

static gn_status *read_text(gn_arena *a, const char *path, const char **out)
{
    gn_buf b = {.arena = a};
    char part[4096];
    FILE *f = fopen(path, "rb");
    if (!f) GN_FAIL(GN_ERR_IO, "cannot open %s", path);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) gn_buf_addn(&b, part, n);
    fclose(f);
    *out = b.p ? b.p : "";
    return NULL;
}

static double element(const gn_named_tensor *t, int64_t i)
{
    switch (t->elem) {
    case GN_F32: return (double)((const float *)t->data)[i];
    case GN_F64: return ((const double *)t->data)[i];
    case GN_I32: return ((const int32_t *)t->data)[i];
    case GN_I64: return (double)((const int64_t *)t->data)[i];
    case GN_U8:
    case GN_BOOL: return ((const uint8_t *)t->data)[i];
    default: return (double)NAN;
    }
}

static int64_t count(const gn_named_tensor *t)
{
    int64_t n = 1;
    for (int k = 0; k < t->rank; k++) n *= t->dim[k];
    return n;
}

double *conform_tensor(conform_case *c, const char *name, int64_t *n)
{
    const gn_named_tensor *t = gn_tensor_file_find(c->file, name);
    if (!t) return NULL;
    int64_t m = count(t);
    double *v = GN_NEW_N(c->arena, double, m > 0 ? m : 1);
    for (int64_t i = 0; i < m; i++) v[i] = element(t, i);
    if (n) *n = m;
    return v;
}

double *conform_input(conform_case *c, const char *name, int64_t *rows, int64_t *cols)
{
    static const char *const other[][2] = {
        {"train_mask", "mask"}, {"g.weight", "edge_weight"}, {"g.attr", "edge_attr"}};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (strcmp(name, other[k][0]) == 0) name = other[k][1];
    const gn_named_tensor *t = gn_tensor_file_find(c->file, name);
    if (!t || t->rank < 1) return NULL;
    *rows = t->dim[0];
    *cols = 1;
    for (int k = 1; k < t->rank; k++) *cols *= t->dim[k];
    return conform_tensor(c, name, NULL);
}

double *conform_param(conform_case *c, const char *prefix, const gn_param *p)
{
    int64_t n, k = p->type.rank ? p->type.dim[0] : 1;
    double *v = conform_tensor(c, gn_arena_printf(c->arena, "%s.%s", prefix, p->file_name), &n);
    if (!v || n != gir_row_elems(&p->type)) return NULL;
    if (!p->transposed) return v;
    double *t = GN_NEW_N(c->arena, double, n);
    int64_t m = n / k; /* the file has [m, k] */
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < k; j++) t[j * m + i] = v[i * k + j];
    return t;
}

bool conform_close_to(const double *a, const double *b, int64_t n, double tolerance, double *worst)
{
    double largest = 1, w = 0;
    for (int64_t i = 0; i < n; i++)
        if (fabs(b[i]) > largest) largest = fabs(b[i]);
    for (int64_t i = 0; i < n; i++) {
        double d = fabs(a[i] - b[i]) / largest;
        if (!(d <= w)) w = d;
    }
    *worst = w;
    return w <= tolerance;
}

/* models --------------------------------------------------------------------------------------- */

/* The arguments as the language has them: words other than true and false are strings. */
static void add_args(gn_buf *b, const char *args)
{
    for (const char *s = args; *s;) {
        size_t n = 0;
        while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.' || s[n] == '-') n++;
        bool word = n && isalpha((unsigned char)*s) && s > args + 1 && strchr("= ", s[-1]) &&
                    strchr(",)", s[n]);
        bool truth = (n == 4 && memcmp(s, "true", 4) == 0) ||
                     (n == 5 && memcmp(s, "false", 5) == 0);
        if (!n) n = 1;
        if (word && !truth)
            gn_buf_printf(b, "\"%.*s\"", (int)n, s);
        else
            gn_buf_addn(b, s, n);
        s += n;
    }
}

static void layer_text(conform_case *c, gn_buf *b)
{
    const char *layer = meta(c, "layer");
    const gn_named_tensor *out = gn_tensor_file_find(c->file, "cot");
    bool norm = strstr(layer, "Norm") != NULL;
    const char *attr = gn_tensor_file_find(c->file, "edge_attr") ? ", g.attr" : "";
    gn_buf_printf(b,
                  "fn product(a, b) = sum(a * b)\n\nmodel M() (g: graph, x: node[F]) -> node[...] "
                  "{\n  conv = %s(",
                  layer);
    add_args(b, meta(c, "args"));
    gn_buf_printf(b, ") as \"\"\n  return conv(%s%s)\n}\n\n", norm ? "x" : "g, x", attr);
    gn_buf_add(b, "train M {\n");
    if (out) gn_buf_printf(b, "  input cot: node[%lld]\n", (long long)out->dim[1]);
    gn_buf_add(b, "  loss = product(M(g, x), cot)\n}\n");
}

static void list_text(conform_case *c, gn_buf *b, const char *argument, const char *name)
{
    int64_t n;
    const double *v = conform_tensor(c, name, &n);
    if (!v) return;
    gn_buf_printf(b, ", %s = [", argument);
    for (int64_t i = 0; i < n; i++) gn_buf_printf(b, "%s%.17g", i ? ", " : "", v[i]);
    gn_buf_add(b, "]");
}

static void loss_text(conform_case *c, gn_buf *b)
{
    const gn_named_tensor *target = gn_tensor_file_find(c->file, "target");
    gn_buf_add(b, "model M() (x: node[F]) -> node[F] { return x }\n\ntrain M {\n");
    if (target) gn_buf_printf(b, "  input target: node[%lld]\n", (long long)target->dim[1]);
    gn_buf_printf(b, "  loss = %s(M(x), %s", meta(c, "layer"), target ? "target" : "y");
    if (*meta(c, "args")) gn_buf_add(b, ", ");
    add_args(b, meta(c, "args"));
    list_text(c, b, "weight", "class_weight");
    list_text(c, b, "pos_weight", "pos_weight");
    gn_buf_printf(b, ")%s\n}\n", gn_tensor_file_find(c->file, "mask") ? " over train_mask" : "");
}

/* Takes `, key = value` out of a call; returns the value or NULL. */
static const char *take(gn_arena *a, char *call, const char *key)
{
    char *at = strstr(call, gn_arena_printf(a, ", %s = ", key));
    if (!at) return NULL;
    char *value = at + strlen(key) + 5;
    size_t n = strcspn(value, ",)");
    const char *out = gn_arena_strndup(a, value, n);
    memmove(at, value + n, strlen(value + n) + 1);
    return out;
}

static gn_status *train_text(conform_case *c, const char *root, gn_buf *b)
{
    static const char *const samples[][2] = {
        {"GCN", "gcn"}, {"GAT", "gat"}, {"GraphSAGE", "sage"}, {"GIN", "gin"}};
    const char *layer = meta(c, "layer"), *text = NULL;
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++)
        if (strcmp(layer, samples[k][0]) == 0)
            GN_TRY(read_text(c->arena,
                             gn_arena_printf(c->arena, "%s/samples/%s.gnn", root, samples[k][1]),
                             &text));
    const char *train = text ? strstr(text, "\ntrain ") : NULL;
    if (!train) GN_FAIL(GN_ERR_DATA, "no sample has a model `%s`", layer);
    gn_buf_addn(b, text, (size_t)(train - text));
    char *optimizer = gn_arena_strdup(c->arena, meta(c, "optimizer"));
    const char *clip = take(c->arena, optimizer, "clip");
    bool all = strcmp(meta(c, "decay"), "all") == 0;
    const char *decay = all ? NULL : take(c->arena, optimizer, "weight_decay");
    gn_buf_printf(
        b, "\ntrain %s {\n  loss = cross_entropy(%s(g, x), y) over train_mask\n  optimizer = %s\n",
        layer, layer, optimizer);
    if (decay) gn_buf_printf(b, "  weight_decay = %s on \"%s\"\n", decay, meta(c, "decay"));
    if (clip) gn_buf_printf(b, "  clip_norm = %s\n", clip);
    gn_buf_printf(b, "  epochs = %s\n}\n", meta(c, "steps"));
    return NULL;
}

/* "hidden = 8, p = 0.0" as definitions */
static int defines_of(gn_arena *a, const char *args, gn_define *out, int max)
{
    int n = 0;
    for (char *s = gn_arena_strdup(a, args); *s && n < max; n++) {
        size_t name = strcspn(s, " "), end = strcspn(s, ",");
        char *next = s + end + (s[end] ? strspn(s + end, ", ") : 0);
        s[end] = s[name] = 0;
        out[n] = (gn_define){s, s + name + 3};
        s = next;
    }
    return n;
}

static gn_status *elaborate(conform_case *c, const char *path)
{
    gn_define defines[8];
    int n = c->kind == CONFORM_TRAIN ? defines_of(c->arena, meta(c, "args"), defines, 8) : 0;
    const gn_named_tensor *x = gn_tensor_file_find(c->file, "x"),
                          *attr = gn_tensor_file_find(c->file, "edge_attr");
    gn_data_shape shape = {
        .n_features = x->dim[1],
        .n_classes = c->kind == CONFORM_TRAIN  ? 3
                     : c->kind == CONFORM_LOSS ? x->dim[1]
                                               : 0,
        .edge_dim = attr ? attr->dim[1] : 0,
        .has_edge_weight = gn_tensor_file_find(c->file, "edge_weight") != NULL,
    };
    gn_ast *ast;
    GN_TRY(gn_parse(c->arena, c->text, strlen(c->text), path, &ast));
    return gn_elaborate(c->arena, ast, NULL, &shape, n, defines, &c->model);
}

static gn_status *fill(conform_case *c, const char *root, const char *path)
{
    gn_buf b = {.arena = c->arena};
    int64_t n;
    const double *edges = conform_tensor(c, "edge_index", &n);
    const gn_named_tensor *x = gn_tensor_file_find(c->file, "x");
    if (!edges || !x || x->rank != 2) GN_FAIL(GN_ERR_DATA, "%s: not a case", path);
    c->n_nodes = x->dim[0];
    c->n_edges = n / 2;
    c->src = GN_NEW_N(c->arena, int64_t, c->n_edges + 1);
    c->dst = GN_NEW_N(c->arena, int64_t, c->n_edges + 1);
    for (int64_t i = 0; i < c->n_edges; i++) {
        c->src[i] = (int64_t)edges[i];
        c->dst[i] = (int64_t)edges[c->n_edges + i];
    }
    c->training = strcmp(meta(c, "training"), "false") != 0;
    c->kind = gn_tensor_file_find(c->file, "cot") ? CONFORM_LAYER
              : *meta(c, "optimizer")             ? CONFORM_TRAIN
                                                  : CONFORM_LOSS;
    if (c->kind == CONFORM_LAYER)
        layer_text(c, &b);
    else if (c->kind == CONFORM_LOSS)
        loss_text(c, &b);
    else
        GN_TRY(train_text(c, root, &b));
    c->text = b.p;
    return elaborate(c, path);
}

gn_status *conform_open(gn_arena *a, const char *root, const char *path, conform_case **out)
{
    conform_case *c = *out = GN_NEW(a, conform_case);
    c->arena = a;
    gn_status *s = gn_safetensors_read(path, &c->file);
    if (!s) s = fill(c, root, path);
    if (!s) return NULL;
    conform_close(c);
    *out = NULL;
    return s;
}

void conform_close(conform_case *c)
{
    if (c && c->file) gn_tensor_file_free(c->file);
    if (c) c->file = NULL;
}
