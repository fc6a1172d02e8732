/* Executables: a model compiled for sizes that stand in it. */
#include "api/api.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

void api_release_executable(gnnc_executable *e)
{
    if (!e || atomic_fetch_sub(&e->users, 1) != 1) return;
    gn_image_free(e->build.image);
    api_release_module(e->module);
    gn_arena_free(&e->arena);
    free(e);
}

void gnnc_executable_free(gnnc_executable *e) { api_release_executable(e); }

/* A caller's structure, built against this header or an older one. */
static gn_status *read_options(const gnnc_compile_options *from, gnnc_compile_options *to)
{
    *to = (gnnc_compile_options){0};
    size_t least = offsetof(gnnc_compile_options, classes);
    if (!from || from->size < least)
        GN_FAIL(GN_ERR_USAGE, "options have size %zu, at least %zu is expected: set `size`", from ? from->size : 0,
                least);
    memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    if (to->features < 1) GN_FAIL(GN_ERR_USAGE, "features is %lld; x has a column at least", (long long)to->features);
    if (to->classes < 0 || to->edge_features < 0)
        GN_FAIL(GN_ERR_USAGE, "classes is %lld, edge_features %lld: neither is negative", (long long)to->classes,
                (long long)to->edge_features);
    if (to->n_defines && !to->defines) GN_FAIL(GN_ERR_USAGE, "%zu defines at no address", to->n_defines);
    return NULL;
}

static gn_status *read_mode(const char *name, gn_mode *out)
{
    *out = name ? gn_mode_by_name(name) : GN_MODE_DEFAULT;
    if (*out != GN_MODE_COUNT) return NULL;
    const char *near = gn_nearest(name, gn_mode_name, GN_MODE_COUNT);
    GN_FAIL(GN_ERR_USAGE, "there is no mode '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
            near ? "'?" : "");
}

static gn_status *compile(gnnc_executable *e, const gnnc_compile_options *o)
{
    API_GUARD(&e->arena);
    gn_data_shape shape = {.n_features = o->features,
                           .n_classes = o->classes,
                           .edge_dim = o->edge_features,
                           .has_edge_weight = o->edge_weights};
    gn_define *defines = GN_NEW_N(&e->arena, gn_define, o->n_defines + 1);
    for (size_t k = 0; k < o->n_defines; k++) defines[k] = (gn_define){o->defines[k].name, o->defines[k].value};
    GN_TRY(gn_elaborate(&e->arena, e->module->ast, o->model, &shape, (int)o->n_defines, defines, &e->model));
    e->opt = (gn_build_options){.index = o->wide ? GN_I64 : GN_I32,
                                .sparse = o->sparse,
                                .train = o->train,
                                .fixed = o->train && o->fixed,
                                .pass_limit = -1,
                                .threads = o->compile_threads};
    GN_TRY(read_mode(o->mode, &e->opt.mode));
    gn_status *s = gn_build_model(&e->arena, e->model, &e->opt, &e->build);
    e->arena.oom = NULL;
    return s;
}

static gn_status *new_executable(const gnnc_module *m, const gnnc_compile_options *options, gnnc_executable **out)
{
    gnnc_compile_options o;
    *out = NULL;
    GN_TRY(read_options(options, &o));
    gnnc_executable *e = calloc(1, sizeof *e);
    if (!e) GN_FAIL(GN_ERR_NOMEM, "out of memory: an executable");
    atomic_init(&e->users, 1);
    gn_arena_init(&e->arena);
    e->module = (gnnc_module *)(uintptr_t)m;
    atomic_fetch_add(&e->module->users, 1);
    double t0 = gn_now_ms();
    gn_status *s = compile(e, &o);
    e->ms = gn_now_ms() - t0;
    if (s)
        api_release_executable(e);
    else
        *out = e;
    return s;
}

gnnc_status *gnnc_compile(const gnnc_module *m, const gnnc_compile_options *options, gnnc_executable **out)
{
    return api_out(new_executable(m, options, out));
}

void gnnc_executable_describe(const gnnc_executable *e, gnnc_executable_info *info)
{
    gnnc_executable_info i = {.size = info->size,
                              .model = e->model->name,
                              .compile_ms = e->ms,
                              .code_bytes = (int64_t)e->build.code.stats.code_bytes,
                              .kernels = e->build.code.kernels,
                              .distinct = e->build.code.distinct,
                              .parameters = e->model->n_params};
    memcpy(info, &i, info->size < sizeof i ? info->size : sizeof i);
}

/* Emitting ---------------------------------------------------------------------------------------------------------- */

static void print_program(const gn_compiled *c, bool kernels, gn_buf *out)
{
    if (!c) return;
    if (!kernels) gir_print(c->gir, out);
    for (int k = 0; kernels && k < c->n_kernels; k++) kir_print(c->kernels[k], out);
}

static gn_status *print_stage(const gnnc_executable *e, gn_arena *a, const char *stage, char **text)
{
    API_GUARD(a);
    gn_buf b = {.arena = a};
    bool ast = !strcmp(stage, "ast"), gir = !strcmp(stage, "gir"), kir = !strcmp(stage, "kir");
    if (!ast && !gir && !kir) GN_FAIL(GN_ERR_USAGE, "there is no stage '%s': ast, gir and kir are", stage);
    const gn_unit *u[] = {&e->build.eval, &e->build.step, &e->build.val_loss};
    if (ast) gn_ast_print(e->module->ast, &b);
    for (int k = 0; !ast && k < 3; k++) {
        print_program(u[k]->prepare_code, kir, &b);
        print_program(u[k]->code, kir, &b);
    }
    gn_buf_add(&b, "");
    *text = malloc(b.n + 1);
    if (!*text) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes of text", b.n + 1);
    memcpy(*text, b.p, b.n + 1);
    return NULL;
}

gnnc_status *gnnc_executable_emit(const gnnc_executable *e, const char *stage, char **text)
{
    gn_arena a;
    *text = NULL;
    gn_arena_init(&a);
    gn_status *s = print_stage(e, &a, stage, text);
    gn_arena_free(&a);
    return api_out(s);
}
