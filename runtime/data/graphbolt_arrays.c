/* Files of arrays in GraphBolt's folders. */
#include "runtime/data/graphbolt.h"
#include "runtime/data/npy.h"

#include <string.h>

/* Within the folder. */
static bool is_inside(const char *path)
{
    if (*path == '/') return false;
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2])) return false;
    }
    return *path;
}

gn_status *gn_bolt_file(const gn_bolt *b, int item, gn_folder_file *out)
{
    const char *path;
    *out = (gn_folder_file){0};
    GN_TRY(gn_yaml_word(b->yaml, item, "path", true, &path));
    int at = gn_yaml_get(b->yaml, item, "path");
    if (!is_inside(path))
        GN_YAML_FAIL(b->yaml, at, "path: '%s': expected a file within the folder", path);
    gn_status *s = b->files->read(b->files->context, path, out);
    return s ? gn_status_annotate(s, "%s:%d", b->r->origin, gn_yaml_line(b->yaml, at)) : NULL;
}

static gn_status *open_torch(gn_bolt_array *a)
{
    GN_TRY(gn_torch_open(a->file.bytes.p, a->file.bytes.n, a->file.path, &a->torch));
    const gn_pickle_value *v = gn_torch_value(a->torch);
    if (v->kind != GN_PICKLE_ARRAY)
        GN_FAIL(GN_ERR_DATA, "%s: expected a tensor, and it is a %s", a->file.path,
                gn_pickle_kind_name(v->kind));
    a->a = *v->u.array;
    return NULL;
}

gn_status *gn_bolt_open(const gn_bolt *b, int item, gn_bolt_array *out)
{
    const char *format;
    *out = (gn_bolt_array){0};
    GN_TRY(gn_yaml_word(b->yaml, item, "format", true, &format));
    bool numpy = !strcmp(format, "numpy");
    if (!numpy && strcmp(format, "torch") != 0)
        GN_YAML_FAIL(b->yaml, gn_yaml_get(b->yaml, item, "format"),
                     "format: '%s': expected numpy or torch", format);
    GN_TRY(gn_bolt_file(b, item, &out->file));
    if (!numpy) return open_torch(out);
    return gn_npy_parse(out->file.bytes.p, out->file.bytes.n, out->file.path, &out->a);
}

void gn_bolt_close(gn_bolt_array *a)
{
    gn_torch_close(a->torch);
    gn_folder_free(&a->file);
    *a = (gn_bolt_array){0};
}

static gn_status *type_of(const gn_bolt *b, int item, const char **type)
{
    GN_TRY(gn_yaml_word(b->yaml, item, "type", b->d->typed, type));
    if (!*type || b->d->typed) return NULL;
    GN_YAML_FAIL(b->yaml, gn_yaml_get(b->yaml, item, "type"),
                 "type: '%s': expected none, as the graph has none", *type);
}

gn_status *gn_bolt_space(const gn_bolt *b, int item, int *space)
{
    const char *type;
    GN_TRY(type_of(b, item, &type));
    *space = type ? gn_dataset_find_space(b->d, type) : 0;
    if (!type || *space) return NULL;
    GN_YAML_FAIL(b->yaml, gn_yaml_get(b->yaml, item, "type"),
                 "type: '%s': the graph has no nodes of this type", type);
}

gn_status *gn_bolt_relation(const gn_bolt *b, int item, int *relation)
{
    const char *type;
    GN_TRY(type_of(b, item, &type));
    *relation = 0;
    for (int k = 0; type && k < b->n_edges; k++)
        if (!strcmp(b->edges[k].name, type)) *relation = k + 1;
    if (!type || *relation) return NULL;
    GN_YAML_FAIL(b->yaml, gn_yaml_get(b->yaml, item, "type"),
                 "type: '%s': the graph has no edges of this type", type);
}
