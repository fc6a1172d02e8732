#include "session/session.h"
#include "base/data_name.h"

#include "build/tuned.h"
#include "session/session_impl.h"
#include "session/eval_rows.h"
#include "session/minibatches.h"
#include "session/stored_rows.h"
#include "runtime/data/lent.h"
#include "runtime/memory.h"

#include <stdlib.h>
#include <string.h>

/* Reading -------------------------------------------------------------------------------------- */

static gn_status *read_text(gn_session *s, const char **text, size_t *n)
{
    if (s->opt.text) {
        *text = s->opt.text;
        *n = strlen(s->opt.text);
        return NULL;
    }
    return gn_read_model(s->arena, s->opt.path, text, n);
}

gn_sizes gn_session_sizes(const gn_session *s)
{
    return (gn_sizes){{s->data->n_nodes, s->data->n_edges}};
}

/* Sizes that are compiled in, before anything is. */
static gn_status *specialise(gn_session *s)
{
    gn_sizes sizes = gn_session_sizes(s);
    GN_TRY(gn_session_check_ranges(s));
    if (gn_session_ranks(s) || gn_session_judges(s)) return NULL; /* run on other edges, too */
    GN_TRY(gn_guards_first(s->opt.dynamic, &s->opt.ranges, &sizes, &s->guards));
    gn_specialise(s->model->eval, &s->guards);
    gn_specialise(s->model->loss, &s->guards);
    gn_specialise(s->model->validate, &s->guards);
    return NULL;
}

static bool has_input(const void *ctx, const char *name)
{
    const gn_dataset *d = ctx;
    for (int k = 0; k < d->n_more; k++)
        if (!strcmp(d->more[k].name, name)) return true;
    return false;
}

gn_data_shape gn_session_shape(const gn_session *s)
{
    const gn_dataset *d = s->data;
    const char *no_labels = gn_session_other_arrays(s, true);
    return (gn_data_shape){.n_features = d->n_features,
                           .schema = &s->schema,
                           .typed = d->typed,
                           .kinds = d->kinds_split,
                           .n_classes = d->n_classes,
                           .edge_dim = d->edge_dim,
                           .has_edge_weight = d->edge_weight != NULL,
                           .has_masks = d->train_mask != NULL,
                           .train_repeats = d->train_times && !s->opt.objects,
                           .val_repeats = d->val_times && !s->opt.objects,
                           .test_repeats = d->test_times && !s->opt.objects,
                           .has_input = has_input,
                           .ctx = d,
                           .no_features = gn_arena_printf(
                               s->arena, "%s; --features identity, degree or ones makes some",
                               gn_session_other_arrays(s, false)),
                           .no_classes = gn_arena_printf(
                               s->arena, "%s; --classes N says it, or --weights FILE", no_labels),
                           .no_labels = no_labels};
}

/* A loss of labels needs some; there is none at all where the front end has seen that. */
static gn_status *check_labels(const gn_session *s)
{
    const gn_dataset *d = s->data;
    const gir_program *loss = s->model->loss;
    if (!s->opt.train || (loss && d->y)) return NULL;
    bool labels = !d->y && (!loss || gn_program_reads(loss, GN_NAME_Y));
    bool mask = !d->train_mask && gn_program_reads(loss, GN_NAME_TRAIN_MASK);
    if (labels || mask)
        GN_FAIL(GN_ERR_DATA, "%s has no %s, which training needs%s", d->name ? d->name : "the data",
                labels ? "labels" : "masks", labels ? gn_session_other_arrays(s, true) : "");
    return NULL;
}

/* A loss of one's own that reads a mask alone would count each row once, which is not what the data
 * says. */
static gn_status *check_repeats(const gn_session *s, const gir_program *p)
{
    static const char *const masks[][2] = {{GN_NAME_TRAIN_MASK, GN_NAME_TRAIN_TIMES},
                                           {GN_NAME_VAL_MASK, GN_NAME_VAL_TIMES},
                                           {GN_NAME_TEST_MASK, GN_NAME_TEST_TIMES}};
    const float *times[] = {s->data->train_times, s->data->val_times, s->data->test_times};
    for (int k = 0; k < 3 && p && !s->opt.objects; k++)
        if (times[k] && gn_program_reads(p, masks[k][0]) && !gn_program_reads(p, masks[k][1]))
            GN_FAIL(GN_ERR_MODEL,
                    "%s: the data lists nodes of %s more than once, and the loss counts each once; "
                    "`repeats(%s)` is how "
                    "often",
                    s->model->name, masks[k][0], masks[k][0]);
    return NULL;
}

/* Code reads the indices of all graphs in one width: the wider one of the graph's and of sparse
 * features'. */
static gn_status *make_graph(gn_session *s)
{
    gn_dataset *d = s->data;
    gn_elem index = gn_session_sparse(s)
                        ? gn_graph_index_for(d->n_features, d->n_nodes, d->x_csr->nnz)
                        : GN_I32;
    if (d->by_dst.row_ptr) /* as wide as all graphs of the file need */
        return gn_session_lent_graph(&d->by_dst, d->n_nodes, d->n_nodes, d->n_edges, &s->graph);
    return gn_graph_from_coo(index, d->n_nodes, d->n_nodes, d->n_edges, GN_I64, d->src, d->dst,
                             &s->graph);
}

/* Where edges have kinds, a model of all relations has one of each kind. */
static gn_status *read_schema(gn_session *s)
{
    bool kinds = gn_dataset_column(s->data, GN_NAME_G ".kind") != NULL;
    if (kinds && !s->data->n_relations && gn_ast_takes_relations(s->ast, s->opt.model, NULL))
        GN_TRY(gn_dataset_split_kinds(s->data, false));
    if (!s->data->typed && !s->data->n_relations &&
        gn_ast_takes_relations(s->ast, s->opt.model, GN_NAME_LINKS)) {
        GN_TRY(gn_links_hold_out(s->data, s->opt.data.seed, &s->links));
        gn_graph_free(s->graph);
        s->graph = NULL;
        GN_TRY(make_graph(s));
    }
    GN_TRY(gn_session_make_relations(s));
    s->schema = gn_dataset_schema(s->arena, s->data);
    return NULL;
}

static gn_status *front_end(gn_session *s)
{
    const char *text;
    size_t n;
    double t0 = gn_now_ms();
    GN_TRY(read_text(s, &text, &n));
    GN_TRY(gn_parse(s->arena, text, n, s->opt.path ? s->opt.path : "<model>", &s->ast));
    GN_TRY(read_schema(s));
    const char *weights = s->opt.resume ? s->opt.resume : s->opt.weights;
    if (weights) GN_TRY(gn_safetensors_read(weights, &s->weights));
    gn_session_find_classes(s);
    gn_data_shape shape = gn_session_shape(s);
    GN_TRY(gn_elaborate(s->arena, s->ast, s->opt.model, &shape, s->opt.n_defines, s->opt.defines,
                        &s->model));
    if (s->opt.numbers == GN_NUMBERS_FLOAT64 && s->opt.objects)
        GN_FAIL(GN_ERR_USAGE, "--precision float64: objects have weights of float32");
    if (s->opt.numbers == GN_NUMBERS_FLOAT64) GN_TRY(gn_model_widen(s->arena, s->model));
    const char *locked = s->opt.locked_model;
    if (locked && strcmp(locked, s->model->name) != 0)
        GN_FAIL(GN_ERR_DATA, "%s:2: is of model %s, not of %s", s->opt.tune_lock, locked,
                s->model->name);
    const gir_program *named = s->model->loss ? s->model->loss : s->model->eval;
    GN_TRY(gn_status_annotate(gn_wide_check(s->opt.wide, named), "--keep-float32"));
    GN_TRY(gn_session_code_features(s));
    if (s->opt.has_rate) gn_model_set_rate(s->arena, s->model, s->opt.rate);
    if (s->opt.train) GN_TRY(gn_batches_settings(s));
    if (s->weights) GN_TRY(gn_weights_adapt(s->model, s->weights, weights));
    GN_TRY(check_labels(s));
    if (s->opt.train) GN_TRY(check_repeats(s, s->model->loss));
    if (s->opt.train) GN_TRY(check_repeats(s, s->model->validate));
    if ((s->opt.checkpoint || s->opt.resume) && s->model->loss)
        s->program = gn_program_digest(s->arena, s->model->loss);
    GN_TRY(gn_session_take_inputs(s));
    GN_TRY(specialise(s));
    s->frontend_ms = gn_now_ms() - t0;
    return NULL;
}

/* Compiling ------------------------------------------------------------------------------------ */

static gn_status *compile_all(gn_session *s)
{
    gn_build_options o;
    GN_TRY(gn_session_build_options(s, &o));
    o.no_code = o.no_code || gn_session_is_capped(s); /* what has code is known when it is within */
    return gn_build_model(gn_session_compiler(s), s->model, &o, &s->build);
}

/* Binding -------------------------------------------------------------------------------------- */

static gn_status *make_dense(gn_session *s)
{
    const gn_dataset *d = s->data;
    int64_t elems;
    if (__builtin_mul_overflow(d->n_nodes, d->n_features, &elems) || elems > INT64_MAX / 4)
        GN_FAIL(GN_ERR_NOMEM, "dense features of %lld x %lld do not fit memory",
                (long long)d->n_nodes, (long long)d->n_features);
    GN_TRY(gn_session_check_dense(s, elems * 4));
    s->x_dense = malloc((size_t)(elems + 1) * sizeof(float));
    if (!s->x_dense) GN_FAIL(GN_ERR_NOMEM, "dense features take %lld bytes", (long long)elems * 4);
    gn_graph_to_dense(s->x_pattern, s->x_dense);
    return NULL;
}

/* Features as a program wants them: dense, as a pattern, or both. */
static gn_status *make_features(gn_session *s, const gn_unit *u)
{
    const gn_dataset *d = s->data;
    bool dense = gn_unit_reads(u, GN_SLOT_INPUT, GN_NAME_X) && !d->x && d->x_csr && !s->x_dense;
    bool pattern = gn_unit_reads_pattern(u), before = s->x_pattern != NULL;
    if (!before && (dense || pattern))
        GN_TRY(gn_graph_from_csr(s->graph->index, d->x_csr->rows, d->x_csr->cols, d->x_csr->ptr,
                                 d->x_csr->col, d->x_csr->val, &s->x_pattern));
    gn_status *status = dense ? make_dense(s) : NULL;
    if (before || pattern) return status;
    gn_graph_free(s->x_pattern);
    s->x_pattern = NULL;
    return status;
}

gn_status *gn_session_bind(gn_session *s, gn_unit *u, gn_pool *pool, const gn_instance *like)
{
    return gn_session_bind_also(s, u, pool, like, 0, NULL);
}

/* What lies on rows and edges, under the names of inputs; how many. */
static int bind_data(gn_session *s, bool by_batches, gn_binding *b)
{
    const gn_dataset *d = s->data;
    int64_t nodes = d->n_nodes, labelled = gn_dataset_labelled(d);
    uint8_t *train_mask = d->train_mask;
    if (by_batches && !s->batches->parts && !s->model->train.batches.of)
        train_mask = s->batches->mask.data;
    const float *x = d->x ? d->x : s->x_dense;
    int n = 0;
    if (x) b[n++] = (gn_binding){GN_NAME_X, GN_F32, nodes, d->n_features, (void *)(uintptr_t)x};
    n += gn_session_bind_codes(&d->x_codes, GN_NAME_X, nodes, d->n_features, s->arena, b + n);
    if (d->y) b[n++] = (gn_binding){GN_NAME_Y, GN_I32, labelled, 1, d->y};
    if (train_mask) b[n++] = (gn_binding){GN_NAME_TRAIN_MASK, GN_BOOL, labelled, 1, train_mask};
    if (d->val_mask) b[n++] = (gn_binding){GN_NAME_VAL_MASK, GN_BOOL, labelled, 1, d->val_mask};
    if (d->test_mask) b[n++] = (gn_binding){GN_NAME_TEST_MASK, GN_BOOL, labelled, 1, d->test_mask};
    if (d->train_times)
        b[n++] = (gn_binding){GN_NAME_TRAIN_TIMES, GN_F32, labelled, 1, d->train_times};
    if (d->val_times) b[n++] = (gn_binding){GN_NAME_VAL_TIMES, GN_F32, labelled, 1, d->val_times};
    if (d->test_times)
        b[n++] = (gn_binding){GN_NAME_TEST_TIMES, GN_F32, labelled, 1, d->test_times};
    if (s->edge_weight)
        b[n++] = (gn_binding){GN_NAME_WEIGHT, GN_F32, d->n_edges, 1, s->edge_weight};
    if (s->edge_attr)
        b[n++] = (gn_binding){GN_NAME_ATTR, GN_F32, d->n_edges, d->edge_dim, s->edge_attr};
    n += gn_session_bind_inputs(s, b + n);
    return n + gn_session_bind_columns(s, b + n);
}

gn_status *gn_session_bound(gn_session *s, const gn_unit *u, int n_also, const gn_binding *also,
                            gn_session_data *out)
{
    enum { DATA = 14 + GN_BATCH_BINDINGS };
    const gn_dataset *d = s->data;
    GN_TRY(make_features(s, u));
    GN_TRY(gn_session_missing_inputs(s, u));
    gn_binding *b = GN_NEW_N(s->arena, gn_binding,
                             DATA + d->n_more + 3 * d->n_columns + s->state.n + gn_unit_kept(u) +
                                 n_also);
    bool by_batches = s->batches && u->code->set; /* candidates of a search, too */
    int n = bind_data(s, by_batches, b);
    for (int k = 0; k < n_also; k++) b[n++] = also[k];
    gn_eval_rows *some = s->batches && u == &s->build.eval ? s->batches->eval : NULL;
    if (by_batches) n += gn_batches_bind(s, b + n);
    if (some) b[n++] = some->mask;
    gn_state_bindings(&s->state, b + n);
    gn_graph_binding *g = GN_NEW_N(s->arena, gn_graph_binding, 2 + d->n_relations);
    int graphs = 0;
    g[graphs++] = (gn_graph_binding){GN_NAME_G, s->graph};
    if (s->x_pattern) g[graphs++] = (gn_graph_binding){GN_NAME_X, s->x_pattern};
    graphs += gn_session_bind_relations(s, g + graphs);
    *out = (gn_session_data){n + s->state.n, b, graphs, g};
    return NULL;
}

gn_status *gn_session_bind_also(gn_session *s, gn_unit *u, gn_pool *pool, const gn_instance *like,
                                int n_also, const gn_binding *also)
{
    gn_session_data t;
    if (!u->code) return NULL;
    GN_TRY(gn_session_bound(s, u, n_also, also, &t));
    gn_eval_rows *some = s->batches && u == &s->build.eval ? s->batches->eval : NULL;
    if (some) {
        some->n_tensors = t.n_tensors;
        some->tensors = t.tensors;
        some->n_graphs = t.n_graphs;
        some->graphs = t.graphs;
    }
    if (s->batches && u->code->set && u == &s->build.step) {
        s->batches->n_tensors = t.n_tensors;
        s->batches->tensors = t.tensors;
        s->batches->n_graphs = t.n_graphs;
        s->batches->graphs = t.graphs;
        gn_stored_scatter(s);
    }
    GN_TRY(gn_stored_check(s, u));
    GN_TRY(gn_unit_bind(u, t.n_graphs, t.graphs, t.n_tensors, t.tensors, pool, like));
    return gn_stored_check_picked(s, u->code, u->instance);
}

/* Programs before this one have the graphs of `outline`, where there is one. */
static gn_status *bind_unit(gn_session *s, gn_unit_id id, gn_unit *u, const gn_instance *outline)
{
    gn_pool *pool = s->pool;
    if (u->threads > 0 && u->threads < gn_pool_threads(s->pool)) {
        GN_TRY(gn_pool_new(u->threads, &s->unit_pool[id]));
        pool = s->unit_pool[id];
    }
    return gn_session_bind(s, u, pool, outline ? outline : s->build.eval.instance);
}

enum {
    INSTANCES = GN_SESSION_PROGRAMS,
    GIVE_BACK_FROM = 1 << 26 /* bytes; below that it is not worth its milliseconds */
};

static void instances_of(const gn_session *s, gn_instance **in)
{
    const gn_unit *u[] = {&s->build.eval, &s->build.step};
    for (int k = 0; k < GN_UNITS; k++) {
        in[2 * k] = u[k]->instance;
        in[2 * k + 1] = u[k]->prepare;
    }
}

/* Dense copies of sparse features that only what was computed once has read: on a device their
 * address stands for a copy. */
static void drop_dense(gn_session *s)
{
    const gn_compiled *code[] = {s->build.eval.code, s->build.step.code};
    if (s->opt.target) return;
    for (int k = 0; k < GN_UNITS; k++)
        if (code[k] && gn_artifact_reads(code[k]->artifact, GN_SLOT_INPUT, GN_NAME_X)) return;
    free(s->x_dense);
    s->x_dense = NULL;
}

/* Programs run one after another: one arena serves them all.  What was needed to bind them alone is
 * given back: edges as they were read, and arrays of graphs that no kernel reads. */
static gn_status *share_memory(gn_session *s)
{
    gn_instance *in[INSTANCES];
    if (s->batches || !gn_is_on(s->opt.without.decisions, GN_DO_SHARE_ARENA)) return NULL;
    instances_of(s, in);
    bool again = s->opt.binds_again || gn_session_ranks(s) || gn_session_judges(s);
    if (!again) {
        gn_instances_trim_graphs(INSTANCES, in);
        drop_dense(s);
        gn_dataset_drop_edges(s->data, s->x_dense != NULL || s->x_pattern != NULL);
    }
    GN_TRY(gn_instances_share_arena(INSTANCES, in));
    if (gn_session_memory(s).arena >= GIVE_BACK_FROM) gn_memory_give_back();
    return NULL;
}

static gn_status *bind_units(gn_session *s, gn_instance *const *outlines)
{
    const gn_instance *last = NULL;
    for (int k = 0; k < GN_SESSION_PROGRAMS; k++) last = outlines[k] ? outlines[k] : last;
    if (!s->opt.unscored) GN_TRY(bind_unit(s, GN_UNIT_EVAL, &s->build.eval, last));
    return bind_unit(s, GN_UNIT_STEP, &s->build.step, last);
}

static gn_status *bind_all(gn_session *s)
{
    int threads = s->opt.threads > 0 ? s->opt.threads : gn_cores();
    GN_TRY(gn_pool_new(threads, &s->pool));
    GN_TRY(gn_session_edge_rows(s, s->data->edge_weight, 1, &s->edge_weight));
    GN_TRY(gn_session_edge_rows(s, s->data->edge_attr, s->data->edge_dim, &s->edge_attr));
    GN_TRY(gn_session_sort_inputs(s));
    GN_TRY(gn_session_arrange_columns(s));
    GN_TRY(gn_model_add_state(s->model, &s->build, &s->state));
    gn_instance *outlines[GN_SESSION_PROGRAMS] = {0};
    gn_status *status = gn_session_is_capped(s) ? gn_session_keep_within(s, outlines) : NULL;
    if (!status && gn_session_compiler(s) != s->arena) gn_session_keep_code(s);
    if (!status) status = bind_units(s, outlines);
    for (int k = 0; k < GN_SESSION_PROGRAMS; k++) gn_instance_free(outlines[k]);
    gn_arena_free(&s->compiler);
    if (gn_session_is_capped(s)) gn_memory_give_back();
    return status ? status : share_memory(s);
}

/* Life ----------------------------------------------------------------------------------------- */

/* Graphs of the data, made anew once these have other numbers. */
static gn_status *make_graphs(gn_session *s)
{
    for (int k = 0; k < s->data->n_relations; k++) gn_graph_free(s->relation[k]);
    gn_graph_free(s->graph);
    s->graph = NULL;
    s->relation = NULL;
    GN_TRY(make_graph(s));
    return gn_session_make_relations(s);
}

/* Rows get numbers that lie close where they are read together; programs stay as they are. */
static gn_status *reorder(gn_session *s)
{
    double t0 = gn_now_ms();
    int64_t **to;
    if (s->opt.reorder == GN_ORDER_NONE) return NULL;
    GN_TRY(gn_dataset_new_numbers(s->data, s->graph, s->opt.reorder, &to));
    gn_status *status = gn_dataset_renumber(s->data, to);
    if (!status) gn_links_renumber(&s->links, to[0]);
    gn_numbers_free(s->data, to);
    GN_TRY(status);
    GN_TRY(make_graphs(s));
    s->schema = gn_dataset_schema(s->arena, s->data); /* which the model points to */
    s->reorder_ms = gn_now_ms() - t0;
    return NULL;
}

gn_session *gn_session_open(gn_arena *a, const gn_session_options *opt)
{
    gn_session *s = GN_NEW(a, gn_session);
    s->arena = a;
    s->opt = *opt;
    gn_state_init(&s->state);
    gn_arena_init(&s->compiler);
    s->compiler.oom = a->oom;
    return s;
}

gn_status *gn_session_read(gn_session *s)
{
    double t0 = gn_now_ms();
    gn_memory_huge_pages(gn_is_on(s->opt.without.decisions, GN_DO_HUGE_PAGES));
    GN_TRY(gn_dataset_read(&s->opt.data, &s->data));
    /* programs for others have float32 features, too */
    bool plain = s->opt.objects || s->opt.plain_features;
    if (plain) GN_TRY(gn_dataset_own_features(s->data));
    GN_TRY(make_graph(s));
    s->read_ms = gn_now_ms() - t0;
    GN_TRY(front_end(s));
    s->unbalanced = gn_session_classes(s) == 2 && gn_two_unbalanced(s->data);
    return NULL;
}

gn_status *gn_session_make(gn_session *s)
{
    GN_TRY(reorder(s));
    GN_TRY(gn_batches_new(s));
    GN_TRY(compile_all(s));
    if (s->opt.no_code) return NULL;
    GN_TRY(bind_all(s));
    return gn_session_reset(s, s->opt.seed);
}

gn_status *gn_session_bind_blank(gn_session *s)
{
    gn_unit_blank(&s->build.eval);
    gn_unit_blank(&s->build.step);
    return bind_all(s);
}

void gn_session_free(gn_session *s)
{
    if (!s) return;
    gn_unit_release(&s->build.step);
    gn_unit_release(&s->build.eval);
    for (int k = 0; k < 2; k++) gn_pages_free(s->pages[k]);
    if (s->pool) gn_pool_free(s->pool);
    for (int k = 0; k < GN_UNITS; k++) gn_pool_free(s->unit_pool[k]);
    if (s->opt.target) gn_target_unload(s->opt.target, &s->build.on_target);
    gn_image_free(s->build.image);
    gn_kernel_objects_free(&s->build.objects);
    gn_state_free(&s->state);
    gn_arena_free(&s->compiler);
    gn_tensor_file_free(s->weights);
    gn_graph_free(s->graph);
    gn_graph_free(s->x_pattern);
    free(s->x_dense);
    free(s->edge_weight);
    free(s->edge_attr);
    gn_batches_free(s->batches);
    gn_session_free_inputs(s);
    gn_session_free_tables(s);
    gn_links_free(&s->links);
    gn_dataset_free(s->data);
}

gn_status *gn_session_push(const gn_session *s)
{
    return gn_state_push(&s->state, s->opt.target ? s->opt.target->remote : NULL);
}

gn_status *gn_session_pull(const gn_session *s)
{
    return gn_state_pull(&s->state, s->opt.target ? s->opt.target->remote : NULL);
}

gn_status *gn_session_reset(gn_session *s, uint64_t seed)
{
    GN_TRY(gn_model_reset(s->model, &s->state, seed));
    return gn_session_push(s);
}

static int64_t csr_bytes(const gn_csr *m)
{
    return m && !m->lent ? (m->rows + 1) * 8 + m->nnz * 8 : 0;
}

int64_t gn_session_data_bytes(const gn_session *s)
{
    const gn_dataset *d = s->data;
    int64_t bytes = csr_bytes(d->x_csr), edges = d->n_edges;
    if (d->x && !gn_dataset_lends(d, d->x)) bytes += d->n_nodes * d->n_features * 4;
    if (d->x_codes.data && !gn_dataset_lends(d, d->x_codes.data))
        bytes += d->n_nodes * d->n_features * (int64_t)gn_elem_size(d->x_codes.elem);
    if (s->x_dense) bytes += d->n_nodes * d->n_features * 4;
    if (d->src) bytes += 2 * edges * 8;
    if (d->edge_weight && !gn_dataset_lends(d, d->edge_weight)) bytes += edges * 4;
    if (s->edge_weight) bytes += edges * 4;
    if (d->edge_attr && !gn_dataset_lends(d, d->edge_attr)) bytes += edges * d->edge_dim * 4;
    if (s->edge_attr) bytes += edges * d->edge_dim * 4;
    int64_t labelled = gn_dataset_labelled(d);
    bytes += gn_session_tables_bytes(s);
    if (d->y && !gn_dataset_lends(d, d->y)) bytes += labelled * 4;
    if (d->train_mask && !gn_dataset_lends(d, d->train_mask)) bytes += 3 * labelled;
    bytes += labelled * 4 * (!!d->train_times + !!d->val_times + !!d->test_times);
    for (int k = 0; k <= d->n_tables; k++)
        if (gn_dataset_row_of(d, k)) bytes += gn_dataset_rows(d, k) * 8;
    return bytes;
}

gn_memory gn_session_memory(const gn_session *s)
{
    gn_memory m = {.data = gn_session_data_bytes(s),
                   .states = gn_state_bytes(&s->state),
                   .graphs = gn_graph_bytes(s->graph),
                   .shared = gn_graph_shared_bytes(s->graph)};
    gn_instance *in[INSTANCES];
    bool shared = gn_is_on(s->opt.without.decisions, GN_DO_SHARE_ARENA);
    instances_of(s, in);
    if (s->x_pattern) {
        m.graphs += gn_graph_bytes(s->x_pattern);
        m.shared += gn_graph_shared_bytes(s->x_pattern);
    }
    for (int k = 0; k < INSTANCES; k++) {
        if (!in[k]) continue;
        int64_t arena = gn_instance_in_file(in[k]) ? 0 : gn_instance_arena_bytes(in[k]);
        m.arena = shared ? (arena > m.arena ? arena : m.arena) : m.arena + arena;
        *(k % 2 ? &m.prepared : &m.outputs) += gn_instance_output_bytes(in[k]);
    }
    m.graphs += gn_instances_derived_bytes(INSTANCES, (const gn_instance *const *)in);
    m.shared += gn_instances_derived_shared_bytes(INSTANCES, (const gn_instance *const *)in);
    if (s->batches) {
        gn_instance *step = s->build.step.instance;
        m.data += gn_batches_bytes(s->batches);
        if (step) m.graphs += gn_batches_more(s->batches) * gn_instance_own_graph_bytes(step);
    }
    for (int k = 0; k < 2; k++)
        if (s->pages[k]) m.pages = gn_pages_window(s->pages[k]); /* the same, of both together */
    m.total = m.data + m.graphs + m.states + m.prepared + m.outputs + m.arena + m.pages;
    return m;
}

int64_t gn_session_peak_bytes(const gn_session *s) { return gn_session_memory(s).total; }
