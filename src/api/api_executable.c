/* Executables: a model compiled for sizes that stand in it, and for those of graphs as they
 * come. */
#include "api/api.h"
#include "build/state_file.h"
#include "base/data_name.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

void api_release_executable(gnnc_executable *e)
{
    if (!e || atomic_fetch_sub(&e->users, 1) != 1) return;
    gnnc_context *c = api_keep_context(api_context(e));
    {
        API_MEMORY(c);
        api_free_others(e);
        gn_jit_free(e->jit);
        if (e->has_mutex) gn_mutex_end(&e->choosing);
        api_release_module(e->module);
        gn_arena_free(&e->arena);
        gn_release(e);
    }
    api_release_context(c);
}

void gnnc_executable_free(gnnc_executable *e) { api_release_executable(e); }

/* A caller's structure, built against this header or an older one. */
static gn_status *read_options(const gnnc_compile_options *from, bool ir, gnnc_compile_options *to)
{
    GN_TRY(api_read_options(from, offsetof(gnnc_compile_options, classes), to, sizeof *to));
    bool schema = api_has_schema(to);
    if (ir) GN_TRY(api_check_ir_options(to));
    if (schema) GN_TRY(api_check_schema_options(to));
    if (to->features < !(schema || ir))
        GN_FAIL(GN_ERR_USAGE, "features is %lld; x has a column at least", (long long)to->features);
    if (to->classes < 0 || to->edge_features < 0)
        GN_FAIL(GN_ERR_USAGE, "classes is %lld, edge_features %lld: neither is negative",
                (long long)to->classes, (long long)to->edge_features);
    if (to->n_defines && !to->defines)
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: `defines` is NULL, of %zu", to->n_defines);
    for (size_t k = 0; k < to->n_defines; k++)
        if (!to->defines[k].name || !to->defines[k].value)
            GN_FAIL(GN_ERR_USAGE, "gnnc_compile: `defines[%zu].%s` is NULL", k,
                    to->defines[k].name ? "value" : "name");
    if (to->compile_threads < 0)
        GN_FAIL(GN_ERR_USAGE, "compile_threads is %d: it is not negative", to->compile_threads);
    if (to->expect_nodes < 0 || to->expect_edges < 0 || to->recompile_limit < 0)
        GN_FAIL(GN_ERR_USAGE,
                "expect_nodes is %lld, expect_edges %lld, recompile_limit %d: none is negative",
                (long long)to->expect_nodes, (long long)to->expect_edges, to->recompile_limit);
    if (to->tune_budget_ms < 0)
        GN_FAIL(GN_ERR_USAGE, "tune_budget_ms is %lld", (long long)to->tune_budget_ms);
    return NULL;
}

static gn_status *read_mode(const char *name, gn_mode *out)
{
    *out = name ? gn_mode_by_name(name) : GN_MODE_DEFAULT;
    if (*out != GN_MODE_COUNT) return NULL;
#define X(number, id, text, eager, region, tune) ", " text
    static const char modes[] = GN_MODES(X);
#undef X
    GN_FAIL(GN_ERR_USAGE, "there is no mode '%s'%s; there are%s", name,
            gn_did_you_mean(name, gn_mode_name, GN_MODE_COUNT).text, strchr(modes, ' '));
}

static void say(void *ctx, const char *text)
{
    const gnnc_context *c = ctx;
    c->opt.log(c->opt.user, GNNC_LOG_NOTE, "recompiles", text);
}

/* Everything of `dynamic`. */
static gn_status *read_dynamic(gnnc_executable *e, const gnnc_compile_options *o,
                               gn_jit_options *out)
{
    const gnnc_context *c = api_context(e);
    *out = (gn_jit_options){.limit = o->recompile_limit};
    GN_TRY(gn_dynamic_by_name(o->dynamic, &out->dynamic));
    GN_TRY(gn_stance_by_name(o->stance, &e->stance));
    GN_TRY(gn_ranges_parse(e->shape.schema ? NULL : o->ranges, &out->ranges));
    if (e->shape.schema && o->ranges) GN_TRY(api_read_ranges(e, o->ranges));
    GN_TRY(gn_buckets_parse(o->buckets, &e->bucket));
    if (e->bucket && out->dynamic != GN_DYNAMIC_FALSE)
        GN_FAIL(GN_ERR_USAGE, "buckets are for dynamic 'false': symbolic sizes need no padding");
    e->ranges = out->ranges;
    if (e->bucket) out->ranges = (gn_guards){0};
    if (c && c->opt.log && c->log_recompiles) {
        out->say = say;
        out->ctx = (void *)(uintptr_t)c;
    }
    return NULL;
}

/* Of a training step in tensor IR: of how many levels of rows it computes what it can. */
static gn_status *read_levels(gnnc_executable *e, const gnnc_compile_options *o)
{
    char *end = NULL;
    if (!o->rows || !strcmp(o->rows, "all")) return NULL;
    long n = strtol(o->rows, &end, 10);
    if (*end || n < 1 || n > GN_MOST_LEVELS)
        GN_FAIL(GN_ERR_USAGE,
                "rows: '%s', expected \"all\" or a number of levels from 1 to %d for a program of "
                "tensor IR",
                o->rows, GN_MOST_LEVELS);
    if (!e->opt.train) GN_FAIL(GN_ERR_USAGE, "rows: levels go with `train`");
    if (gn_modes[e->opt.mode].eager)
        GN_FAIL(GN_ERR_USAGE, "rows '%s': in mode eager all rows are computed", o->rows);
    e->opt.train_rows.levels = (int)n;
    return NULL;
}

/* Everything of rows; mode and buckets are known. */
static gn_status *read_rows(gnnc_executable *e, const gnnc_compile_options *o)
{
    static const char *const names[] = {"needed", "all"};
    if (e->module->ir) return read_levels(e, o);
    if (o->same_data && !e->opt.fixed)
        GN_FAIL(GN_ERR_USAGE, "same_data goes with `train` and `fixed`");
    bool eager = gn_modes[e->opt.mode].eager,
         needed = o->rows ? !strcmp(o->rows, "needed") : e->opt.fixed;
    if (o->rows && !needed && strcmp(o->rows, "all") != 0)
        GN_FAIL(GN_ERR_USAGE, "rows: there is no '%s'%s", o->rows,
                gn_did_you_mean(o->rows, names, 2).text);
    if (o->rows && needed && (e->bucket || eager))
        GN_FAIL(GN_ERR_USAGE, "rows 'needed': %s all rows are computed",
                e->bucket ? "with buckets" : "in mode eager");
    if (!needed || !e->opt.train || e->bucket || eager || e->shape.schema) return NULL;
    gn_row_needs needs;
    GN_TRY(gn_build_needs(&e->arena, e->model, &e->opt, &needs));
    e->levels = needs.levels;
    e->mask = needs.mask;
    e->same_data = o->same_data;
    e->opt.train_rows.levels = e->levels; /* of the first program: masks mostly leave rows out where
                                             nothing changes */
    return NULL;
}

/* What is known of the values of sparse x. */
static gn_status *read_values(gnnc_executable *e, const gnnc_compile_options *o)
{
    int k;
    GN_TRY(gn_choose("setting of sparse_values", o->sparse_values, gn_nonzeros_name,
                     GN_NONZEROS_COUNT, &k));
    if (k && !o->sparse)
        GN_FAIL(GN_ERR_USAGE, "sparse_values '%s' goes with `sparse`", o->sparse_values);
    e->opt.nonzeros = (gn_nonzeros)k;
    return NULL;
}

/* Everything of schedules; the mode is known. */
static gn_status *read_tuning(gnnc_executable *e, const gnnc_compile_options *o)
{
    const gn_mode_spec *mode = &gn_modes[e->opt.mode];
    const char *text;
    size_t n;
    if (o->tune_budget_ms && !mode->tune)
        GN_FAIL(GN_ERR_USAGE,
                "tune_budget_ms is %lld, but mode %s does not search; max-autotune does",
                (long long)o->tune_budget_ms, gn_mode_name[e->opt.mode]);
    e->tune_seconds = (double)o->tune_budget_ms * 1e-3;
    GN_TRY(gn_mutex_init(&e->choosing, GN_MUTEX_LONG));
    e->has_mutex = true;
    if (!o->tune_lock) return NULL;
    if (mode->eager) GN_FAIL(GN_ERR_USAGE, "tune_lock: mode eager has no schedules to choose");
    e->lock_path = gn_arena_strdup(&e->arena, o->tune_lock);
    GN_TRY(gn_read_model(&e->arena, o->tune_lock, &text, &n));
    e->lock = text;
    return NULL;
}

/* Compiles what can be before the first call. */
static gn_status *start(gnnc_executable *e, const gnnc_compile_options *o, const gn_jit_options *j)
{
    gn_sizes expected = {{o->expect_nodes, o->expect_edges}};
    gn_sizes to = gn_bucket_of(e->bucket, expected);
    const gn_variant *v = NULL;
    GN_TRY(gn_jit_new(e->model, j, &e->jit));
    if (o->expect_nodes) {
        GN_TRY(gn_ranges_check(&e->ranges, &expected));
        GN_TRY(gn_jit_get(e->jit, &to, GN_STANCE_RECOMPILE, &v));
    } else {
        GN_TRY(gn_jit_prepare(e->jit));
    }
    v = gn_jit_newest(e->jit);
    if (v) {
        e->build = &v->build;
        return NULL;
    }
    gn_build_options outline = e->opt;
    outline.no_code = true;
    e->build = &e->outline;
    return gn_build_model(&e->arena, e->model, &outline, &e->outline);
}

/* Names of the inputs that are left out, by the model that has all. */
static void name_left_out(gnnc_executable *e, const gn_model *whole, gn_data_shape *shape)
{
    const char **names = GN_NEW_N(&e->arena, const char *, whole->n_inputs + 1);
    shape->left_out = names;
    for (int k = 0; k < whole->n_inputs && k < 64; k++)
        if (e->left_out >> k & 1)
            names[shape->n_left_out++] = gn_arena_strdup(&e->arena, whole->inputs[k].name);
}

/* The model, for the data that options say. */
static gn_status *make_model(gnnc_executable *e, const gnnc_compile_options *o,
                             const gnnc_executable *whole)
{
    gn_data_shape shape = {.n_features = o->features,
                           .n_classes = o->classes,
                           .edge_dim = o->edge_features,
                           .has_edge_weight = o->edge_weights,
                           .has_forward = o->gradients != NULL};
    if (e->module->ir) {
        GN_TRY(api_model_of_ir(&e->arena, e->module->ir, o->train, &shape, &e->model));
        e->shape = shape;
        return NULL;
    }
    if (whole) name_left_out(e, whole->model, &shape);
    shape.has_masks = api_has_schema(o);
    if (shape.has_masks) GN_TRY(api_make_schema(&e->arena, o, &shape));
    e->shape = shape;
    gn_define *defines = GN_NEW_N(&e->arena, gn_define, o->n_defines + 1);
    for (size_t k = 0; k < o->n_defines; k++)
        defines[k] = (gn_define){o->defines[k].name, o->defines[k].value};
    return gn_elaborate(&e->arena, e->module->ast, o->model, &shape, (int)o->n_defines, defines,
                        &e->model);
}

static gn_status *read_numbers(gnnc_executable *e, const gnnc_compile_options *o, gn_numbers *out)
{
    GN_TRY(gn_numbers_by_name(o->precision, out));
    if (*out != GN_NUMBERS_FLOAT64) return NULL;
    if (e->module->ir)
        GN_FAIL(GN_ERR_USAGE, "precision 'float64': tensor IR says itself what its values are");
    if (o->gradients)
        GN_FAIL(GN_ERR_USAGE, "precision 'float64' does not go with `gradients`, of float32");
    return gn_model_widen(&e->arena, e->model);
}

/* What a lock says of it; alone it leaves schedules to rules. */
static gn_status *lock_numbers(gnnc_executable *e, const gnnc_compile_options *o,
                               gn_numbers *numbers)
{
    const gn_model *m = e->model;
    gn_locked_numbers l = {0};
    if (o->tune_lock) GN_TRY(gn_tuned_lock_numbers(&e->arena, o->tune_lock, &l));
    if (l.there && o->precision && *numbers != l.numbers)
        GN_FAIL(GN_ERR_USAGE, "precision '%s': the lock %s is for '%s'", o->precision, o->tune_lock,
                gn_numbers_name[l.numbers]);
    if (l.there && strcmp(l.model, m->name) != 0)
        GN_FAIL(GN_ERR_DATA, "%s:2: is of model %s, not of %s", o->tune_lock, l.model, m->name);
    if (l.there) *numbers = l.numbers;
    e->opt.kept = gn_numbers_kept[*numbers];
    e->opt.precision = l.there ? l.products : gn_numbers_products[*numbers];
    if (o->matmul_precision) GN_TRY(gn_precision_by_name(o->matmul_precision, &e->opt.precision));
    if (l.there && e->opt.precision != l.products)
        GN_FAIL(GN_ERR_USAGE, "matmul_precision '%s': the lock %s is for '%s'", o->matmul_precision,
                o->tune_lock, gn_precision_name[l.products]);
    e->opt.wide = l.wide;
    e->precision = gn_precision_words(&e->arena, *numbers, l.wide);
    if (l.alone) e->lock = e->lock_path = NULL;
    return gn_status_annotate(gn_wide_check(l.wide, m->loss ? m->loss : m->eval), "%s",
                              o->tune_lock ? o->tune_lock : "");
}

static gn_status *compile(gnnc_executable *e, const gnnc_compile_options *o,
                          const gnnc_executable *whole)
{
    API_GUARD(&e->arena);
    gn_numbers numbers;
    if (!whole) GN_TRY(api_keep_options(e, o));
    GN_TRY(make_model(e, o, whole));
    GN_TRY(read_numbers(e, o, &numbers));
    if (o->memory_bytes < 0)
        GN_FAIL(GN_ERR_USAGE, "memory_bytes: %lld bytes", (long long)o->memory_bytes);
    if (o->memory_bytes && (o->by_rows || api_target(api_context(e))))
        GN_FAIL(GN_ERR_USAGE,
                "memory_bytes: goes with runs on this processor, and not with by_rows, whose rows "
                "are known when they are named");
    e->memory = o->memory_bytes;
    if (o->rate_changes && !o->train) GN_FAIL(GN_ERR_USAGE, "rate_changes goes with `train`");
    e->model->train.rate_changes = o->rate_changes;
    const gn_batch_spec *batches = &e->model->train.batches;
    if (o->train && !o->by_rows && (gn_has_batches(batches) || batches->accumulate > 1))
        GN_FAIL(GN_ERR_USAGE,
                "train: the train block of %s takes batches, whose rows a C program names: compile "
                "by_rows",
                e->model->name);
    const gnnc_context *c = api_context(e);
    if (!whole && c && c->opt.log && *e->model->warnings)
        c->opt.log(c->opt.user, GNNC_LOG_WARNING, "model", e->model->warnings);
    gn_jit_options j;
    GN_TRY(read_dynamic(e, o, &j));
    e->opt = (gn_build_options){.index = o->wide ? GN_I64 : GN_I32,
                                .sparse = o->sparse,
                                .train = o->train,
                                .fixed = o->train && o->fixed,
                                .padded = e->bucket != 0,
                                .pass_limit = -1,
                                .threads = o->compile_threads,
                                .cache = api_context(e) ? api_context(e)->cache : NULL,
                                .target = api_target(api_context(e))};
    GN_TRY(read_mode(o->mode, &e->opt.mode));
    GN_TRY(read_values(e, o));
    GN_TRY(o->by_rows ? NULL : read_rows(e, o));
    GN_TRY(read_tuning(e, o));
    GN_TRY(lock_numbers(e, o, &numbers));
    GN_TRY(gn_storage_by_name(o->gather_storage, &e->opt.gathers));
    if (o->expect_nodes) {
        low_hint *hint = GN_NEW(&e->arena, low_hint);
        *hint = (low_hint){.name = GN_NAME_G,
                           .n_src = o->expect_nodes,
                           .n_dst = o->expect_nodes,
                           .n_edge = o->expect_edges};
        e->opt.n_hints = 1;
        e->opt.hints = hint;
    }
    if (e->shape.schema)
        e->opt.hints = api_schema_hints(&e->arena, e->shape.schema, &e->opt.n_hints);
    GN_TRY(api_read_named_rows(e, o));
    GN_TRY(api_read_gradients(e, o, !whole));
    j.build = e->opt;
    gn_status *s = start(e, o, &j);
    e->arena.oom = NULL;
    return s;
}

static gn_status *make(const gnnc_module *m, const gnnc_compile_options *o,
                       const gnnc_executable *whole, uint64_t left_out, gnnc_executable **out)
{
    API_MEMORY(m->context);
    gnnc_executable *e = gn_allocate_zeroed(sizeof *e);
    if (!e) GN_FAIL(GN_ERR_NOMEM, "out of memory: an executable");
    atomic_init(&e->users, 1);
    gn_arena_init(&e->arena);
    e->module = (gnnc_module *)(uintptr_t)m;
    e->left_out = left_out;
    atomic_fetch_add(&e->module->users, 1);
    double t0 = gn_now_ms();
    gn_status *s = compile(e, o, whole);
    e->ms = gn_now_ms() - t0;
    if (s)
        api_release_executable(e);
    else
        *out = e;
    return s;
}

static gn_status *new_executable(const gnnc_module *m, const gnnc_compile_options *options,
                                 gnnc_executable **out)
{
    gnnc_compile_options o;
    void *block[3] = {NULL, NULL, NULL};
    API_MEMORY(m->context);
    GN_TRY(read_options(options, m->ir != NULL, &o));
    gn_status *s = api_read_tables(&o, block);
    if (!s) s = make(m, &o, NULL, 0, out);
    for (int k = 0; k < 3; k++) gn_release(block[k]);
    return s;
}

gn_status *api_compile_other(const gnnc_executable *e, uint64_t left_out, gnnc_executable **out)
{
    return make(e->module, &e->asked, e, left_out, out);
}

gnnc_status *gnnc_compile(const gnnc_module *m, const gnnc_compile_options *options,
                          gnnc_executable **out)
{
    API_GIVES(out);
    API_NEEDS(m);
    API_NEEDS(options);
    return api_out(new_executable(m, options, out));
}

/* Asking --------------------------------------------------------------------------------------- */

/* Of the newest program; *mode (may be NULL) that it was made in. */
static const gn_build *newest_build(const gnnc_executable *e, gn_mode *mode)
{
    const gn_variant *v = gn_jit_newest(e->jit);
    if (mode) *mode = v && v->eager ? GN_MODE_EAGER : e->opt.mode;
    return v ? &v->build : e->build;
}

static void describe(const gnnc_executable *e, gnnc_executable_info *info)
{
    const gn_build *b = newest_build(e, NULL);
    gnnc_executable_info i = {.size = info->size,
                              .model = e->model->name,
                              .compile_ms = e->ms,
                              .code_bytes = 0,
                              .kernels = b->code.kernels,
                              .distinct = b->code.distinct,
                              .parameters = e->model->n_params,
                              .programs = gn_jit_count(e->jit),
                              .recompiles = gn_jit_recompiles(e->jit),
                              .gradients = e->n_gradients};
    while (gir_result(e->model->eval, i.outputs)) i.outputs++;
    i.inputs = api_count_inputs(e);
    for (const gn_variant *v = gn_jit_newest(e->jit); v; v = v->older) {
        i.code_bytes += (int64_t)v->build.code.stats.code_bytes;
        i.cache_hits += v->build.code.hits;
        i.cache_misses += v->build.code.misses;
        i.all_compile_ms += v->ms;
    }
    api_describe(info, &i, sizeof i);
}

void gnnc_executable_describe(const gnnc_executable *e, gnnc_executable_info *info)
{
    if (e && info)
        describe(e, info);
    else if (info)
        api_describe(info, &(gnnc_executable_info){.size = info->size, .model = ""}, sizeof *info);
}

static gn_status *find_program(const gnnc_executable *e, int k, const gn_variant **out)
{
    const gn_variant *v = gn_jit_newest(e->jit);
    while (v && v->number != k) v = v->older;
    *out = v;
    if (!v)
        GN_FAIL(GN_ERR_USAGE, "there is no program %d: %d were compiled", k, gn_jit_count(e->jit));
    return NULL;
}

static gn_status *describe_program(const gnnc_executable *e, int k, gnnc_program_info *info)
{
    const gn_variant *v;
    GN_TRY(find_program(e, k, &v));
    gn_range nodes = v->guards.of[GN_DIM_NODES], edges = v->guards.of[GN_DIM_EDGES];
    gnnc_program_info i = {.size = info->size,
                           .eager = v->eager,
                           .compile_ms = v->ms,
                           .kernels = v->build.code.kernels,
                           .nodes_least = nodes.least,
                           .nodes_most = nodes.most,
                           .edges_least = edges.least,
                           .edges_most = edges.most,
                           .reason = v->why,
                           .levels = v->rows.levels};
    if (*v->why && !v->step_alone) {
        i.guard = gn_dim_name[v->guard];
        i.guard_was = v->old;
        i.guard_is = v->new;
    }
    api_describe(info, &i, sizeof i);
    return NULL;
}

gnnc_status *gnnc_executable_program(const gnnc_executable *e, int k, gnnc_program_info *info)
{
    API_NEEDS(e);
    API_NEEDS(info);
    return api_out(describe_program(e, k, info));
}

static gn_status *describe_tuning(const gnnc_executable *e, int k, bool step,
                                  gnnc_tuning_info *info)
{
    const gn_variant *v;
    GN_TRY(find_program(e, k, &v));
    gn_unit_id unit = step ? GN_UNIT_STEP : GN_UNIT_EVAL;
    const gn_tuned *t = gn_variant_tuned(v, unit);
    gnnc_tuning_info i = {.size = info->size, .choices = ""};
    if (gn_tuned_known(t))
        i = (gnnc_tuning_info){.size = info->size,
                               .known = true,
                               .choices = v->choices[unit],
                               .default_us = t->default_us,
                               .best_us = t->best_us,
                               .noise = t->noise,
                               .seconds = t->seconds,
                               .rejected = t->wrong,
                               .finished = t->finished};
    api_describe(info, &i, sizeof i);
    return NULL;
}

gnnc_status *gnnc_executable_tuning(const gnnc_executable *e, int k, bool step,
                                    gnnc_tuning_info *info)
{
    API_NEEDS(e);
    API_NEEDS(info);
    return api_out(describe_tuning(e, k, step, info));
}

/* Text ----------------------------------------------------------------------------------------- */

static gn_status *print_stage(const gnnc_executable *e, gn_arena *a, const char *stage, char **text)
{
    /* as gn_stage, but for the last */
    static const char *const names[] = {"gir", "kir", "llvm", "asm", "ast"};
    enum { AST = 4, STAGES = 5 };
    API_GUARD(a);
    gn_buf b = {.arena = a};
    int k;
    GN_TRY(gn_choose("stage", stage, names, STAGES, &k));
    gn_buf_add(&b, "");
    gn_mode mode;
    const gn_build *newest = newest_build(e, &mode);
    if (e->opt.target && (k == GN_STAGE_LLVM || k == GN_STAGE_ASM))
        GN_FAIL(GN_ERR_USAGE,
                "stage '%s' is the processor's; on a device there are ast, gir and kir", stage);
    if (k == AST && e->module->ir)
        GN_FAIL(GN_ERR_USAGE, "a program of tensor IR has no stage 'ast'; there are gir, kir, llvm "
                              "and asm");
    if (k == AST)
        gn_ast_print(e->module->ast, &b);
    else
        GN_TRY(gn_build_emit(newest, mode, e->opt.without.decisions, (gn_stage)k, NULL, &b));
    return api_give_text(&b, text);
}

gnnc_status *gnnc_executable_emit(const gnnc_executable *e, const char *stage, char **text)
{
    API_GIVES(text);
    API_NEEDS(e);
    API_NEEDS(stage);
    gn_arena a;
    API_MEMORY(api_context(e));
    gn_arena_init(&a);
    gn_status *s = print_stage(e, &a, stage, text);
    gn_arena_free(&a);
    return api_out(s);
}

/* What the compiler decided, program by program. */
static void explain_program(const gn_variant *v, gn_buf *b)
{
    gn_named_program u[GN_BUILD_PROGRAMS];
    int n = gn_build_named(&v->build, u);
    gn_buf_printf(b, "\nprogram %d%s, compiled in %.1f ms, %d kernels\n  guards: ", v->number,
                  v->eager ? " (eager)" : "", v->ms, v->build.code.kernels);
    gn_guards_print(&v->guards, b);
    gn_buf_printf(b, "\n%s%s%s", *v->why ? "  because: " : "", v->why, *v->why ? "\n" : "");
    for (gn_unit_id k = 0; k < GN_UNITS; k++) {
        const gn_tuned *t = gn_variant_tuned(v, k);
        if (gn_tuned_known(t))
            gn_buf_printf(b, "  tuned %s: %.1f us, the default %.1f; %s\n", gn_unit_name[k],
                          t->best_us, t->default_us,
                          *v->choices[k] ? v->choices[k] : "as rules say");
    }
    for (int k = 0; k < n; k++) {
        gn_buf_printf(b, "%s: %u operators in %u regions\n", u[k].name, u[k].code->gir->nodes.n - 1,
                      u[k].code->f->regions.n);
        gn_fusion_print(u[k].code->f, b);
    }
    for (uint32_t k = 0; k < v->build.notes.n; k++) {
        const gn_pass_note *p = &v->build.notes.p[k];
        gn_buf_printf(b, "pass %s on %s: %d values to %d\n", p->pass, p->program, p->before,
                      p->after);
    }
}

static gn_status *print_explanation(const gnnc_executable *e, gn_arena *a, char **text)
{
    API_GUARD(a);
    gn_buf b = {.arena = a};
    gn_buf_printf(&b, "model %s, mode %s\n", e->model->name, gn_mode_name[e->opt.mode]);
    for (int k = 0; k < e->model->n_defaults; k++)
        gn_buf_printf(&b, "  %s\n", e->model->defaults_used[k]);
    gn_buf_printf(&b, "%d programs, %d recompilations\n", gn_jit_count(e->jit),
                  gn_jit_recompiles(e->jit));
    for (const gn_variant *v = gn_jit_newest(e->jit); v; v = v->older) explain_program(v, &b);
    for (const gnnc_executable *o = atomic_load(&e->others); o; o = o->next) {
        gn_buf_add(&b, "\nwithout ");
        for (int k = 0; k < o->shape.n_left_out; k++)
            gn_buf_printf(&b, "%s%s", k ? ", " : "", o->shape.left_out[k]);
        gn_buf_add(&b, ":\n");
        for (const gn_variant *v = gn_jit_newest(o->jit); v; v = v->older) explain_program(v, &b);
    }
    return api_give_text(&b, text);
}

gnnc_status *gnnc_executable_explain(const gnnc_executable *e, char **text)
{
    API_GIVES(text);
    API_NEEDS(e);
    gn_arena a;
    API_MEMORY(api_context(e));
    gn_arena_init(&a);
    gn_status *s = print_explanation(e, &a, text);
    gn_arena_free(&a);
    return api_out(s);
}
