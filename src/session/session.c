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

/* Features this sparse are kept as CSR: a non-zero costs about four times a dense element. */
static const double sparse_density = 0.2;

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

static bool sparse_features(const gn_session *s)
{
    const gn_dataset *d = s->data;
    if (!d->x_csr || d->n_nodes == 0) return false;
    return (double)d->x_csr->nnz <= sparse_density * (double)d->n_nodes * (double)d->n_features;
}

/* Code reads the indices of all graphs in one width: the wider one of the graph's and of sparse
 * features'. */
static gn_status *make_graph(gn_session *s)
{
    gn_dataset *d = s->data;
    gn_elem index = sparse_features(s)
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

/* What is known of the features in every run: of objects for other programs nothing, whose features
 * are others. */
static gn_nonzeros known_nonzeros(const gn_session *s)
{
    const gn_csr *x = s->data->x_csr;
    bool ones = true;
    if (!sparse_features(s) || s->opt.objects) return GN_NONZEROS_ANY;
    for (int64_t r = 0; r < x->rows; r++)
        for (int64_t k = x->ptr[r]; k < x->ptr[r + 1]; k++) {
            ones = ones && x->val[k] == 1;
            if (!(x->val[k] == x->val[x->ptr[r]]))
                return GN_NONZEROS_ANY; /* NaN is not equal either */
        }
    return ones ? GN_NONZEROS_ONE : GN_NONZEROS_BY_ROW;
}

/* Numbers of entries in rows and in columns. */
static void degrees_of(gn_arena *a, const gn_csr *x, low_hint *h)
{
    int64_t *column = GN_NEW_N(a, int64_t, x->cols + 1);
    int64_t *in = GN_NEW_N(a, int64_t, GN_DEGREE_CLASSES),
            *out = GN_NEW_N(a, int64_t, GN_DEGREE_CLASSES);
    for (int64_t r = 0; r < x->rows; r++) gn_degree_add(x->ptr[r + 1] - x->ptr[r], &h->max_in, in);
    for (int64_t k = 0; k < x->nnz; k++) column[x->col[k]]++;
    for (int64_t c = 0; c < x->cols; c++) gn_degree_add(column[c], &h->max_out, out);
    h->in_class = in;
    h->out_class = out;
}

/* How many rows are sources of edges. */
static int64_t count_joined(gn_arena *a, const gn_graph *g)
{
    bool *seen = GN_NEW_N(a, bool, g->n_src + 1);
    int64_t joined = 0;
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t u = gn_index_get(g->array[GN_GRAPH_COL], g->index, e);
        joined += !seen[u];
        seen[u] = true;
    }
    return joined;
}

/* Of a graph by destination: rows that have an edge. */
static int64_t count_reached(const gn_graph *g)
{
    int64_t joined = 0;
    for (int64_t v = 0; v < g->n_dst; v++)
        joined += gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v) <
                  gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v + 1);
    return joined;
}

static low_hint hint_of(const gn_session *s, int k)
{
    const gn_dataset *d = s->data;
    const gn_relation *r = &d->relations[k];
    const gn_graph *g = s->relation[k];
    low_hint h = {.name = r->name,
                  .n_src = gn_dataset_rows(d, r->src),
                  .n_dst = gn_dataset_rows(d, r->dst),
                  .n_edge = r->n_edges};
    gn_arena scratch;
    gn_arena_init(&scratch);
    h.joined_src = count_joined(&scratch, g);
    h.joined_dst = count_reached(g);
    gn_arena_free(&scratch);
    return h;
}

/* Sizes of the graph and of sparse features, for schedules; degrees where rows may be split by
 * them. */
static gn_status *hints_of(const gn_session *s, bool degrees, const low_hint **out, int *n)
{
    const gn_dataset *d = s->data;
    low_hint *h = GN_NEW_N(s->arena, low_hint, 2 + d->n_relations);
    h[0] = (low_hint){
        .name = GN_NAME_G, .n_src = d->n_nodes, .n_dst = d->n_nodes, .n_edge = d->n_edges};
    if (d->x_csr)
        h[1] = (low_hint){.name = GN_NAME_X,
                          .n_src = d->n_features,
                          .n_dst = d->n_nodes,
                          .n_edge = d->x_csr->nnz};
    if (degrees) {
        gn_graph_facts *f = GN_NEW(s->arena, gn_graph_facts);
        GN_TRY(gn_graph_find_facts(s->graph, f));
        h[0].max_in = f->max_in_degree;
        h[0].max_out = f->max_out_degree;
        h[0].in_class = f->in_class;
        h[0].out_class = f->out_class;
        if (d->x_csr) degrees_of(s->arena, d->x_csr, &h[1]);
    }
    *n = d->x_csr ? 2 : 1;
    for (int k = 0; k < d->n_relations; k++) h[(*n)++] = hint_of(s, k);
    *out = h;
    return NULL;
}

gn_status *gn_session_build_options(gn_session *s, gn_build_options *out)
{
    gn_build_options o = {.mode = s->opt.mode,
                          .index = s->graph->index,
                          .sparse = sparse_features(s),
                          .nonzeros = known_nonzeros(s),
                          .train = s->opt.train,
                          .judged = !s->opt.objects,
                          .fixed = s->opt.keep_static,
                          .one_data = !s->opt.objects, /* those are for other programs, whose graphs
                                                          are others */
                          .sanitize = s->opt.sanitize,
                          .no_code = s->opt.no_code,
                          .limits = s->opt.limits,
                          .precision = s->opt.precision,
                          .products = s->opt.products,
                          .gathers = s->opt.gathers,
                          .objects = s->opt.objects,
                          .cpu = s->opt.cpu,
                          .pass_limit = s->opt.pass_limit,
                          .without = s->opt.without,
                          .cache = s->opt.cache,
                          .target = s->opt.target};
    bool one = !s->data->n_tables && !s->data->n_relations;
    if (o.train && o.fixed && one) {
        GN_TRY(gn_count_levels(s->graph, s->data->train_mask, GN_MOST_LEVELS, &o.train_rows));
        o.train_rows.facts.nonzeros = o.sparse ? s->data->x_csr->nnz : 0;
    }
    if (o.train && o.fixed && (!one || s->data->n_columns)) GN_TRY(gn_session_count_levels(s, &o));
    GN_TRY(gn_batches_options(s, &o));
    const gn_limits *limits = o.target ? &o.target->limits : o.limits;
    GN_TRY(hints_of(s, limits && limits->shared_bytes, &o.hints, &o.n_hints));
    for (int k = 0; k < GN_UNITS; k++) o.pick[k] = s->tuned[k] ? &s->tuned[k]->pick : NULL;
    *out = o;
    return NULL;
}

static gn_status *compile_all(gn_session *s)
{
    gn_build_options o;
    GN_TRY(gn_session_build_options(s, &o));
    return gn_build_model(s->arena, s->model, &o, &s->build);
}

/* Binding -------------------------------------------------------------------------------------- */

static gn_status *make_dense(gn_session *s)
{
    const gn_dataset *d = s->data;
    int64_t elems;
    if (__builtin_mul_overflow(d->n_nodes, d->n_features, &elems) || elems > INT64_MAX / 4)
        GN_FAIL(GN_ERR_NOMEM, "dense features of %lld x %lld do not fit memory",
                (long long)d->n_nodes, (long long)d->n_features);
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

gn_status *gn_session_bind_also(gn_session *s, gn_unit *u, gn_pool *pool, const gn_instance *like,
                                int n_also, const gn_binding *also)
{
    enum { DATA = 14 + GN_BATCH_BINDINGS };
    const gn_dataset *d = s->data;
    if (!u->code) return NULL;
    GN_TRY(make_features(s, u));
    GN_TRY(gn_session_missing_inputs(s, u));
    gn_binding *b = GN_NEW_N(s->arena, gn_binding,
                             DATA + d->n_more + 3 * d->n_columns + s->state.n + gn_unit_kept(u) +
                                 n_also);
    int64_t nodes = d->n_nodes, labelled = gn_dataset_labelled(d);
    bool by_batches = s->batches && u->code->set; /* candidates of a search, too */
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
    n += gn_session_bind_columns(s, b + n);
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
    if (some) {
        some->n_tensors = n + s->state.n;
        some->tensors = b;
        some->n_graphs = graphs;
        some->graphs = g;
    }
    if (by_batches && u == &s->build.step) {
        s->batches->n_tensors = n + s->state.n;
        s->batches->tensors = b;
        s->batches->n_graphs = graphs;
        s->batches->graphs = g;
        gn_stored_scatter(s);
    }
    GN_TRY(gn_stored_check(s, u));
    GN_TRY(gn_unit_bind(u, graphs, g, n + s->state.n, b, pool, like));
    return gn_stored_check_picked(s, u->code, u->instance);
}

static gn_status *bind_unit(gn_session *s, gn_unit_id id, gn_unit *u)
{
    gn_pool *pool = s->pool;
    if (u->threads > 0 && u->threads < gn_pool_threads(s->pool)) {
        GN_TRY(gn_pool_new(u->threads, &s->unit_pool[id]));
        pool = s->unit_pool[id];
    }
    return gn_session_bind(s, u, pool, s->build.eval.instance);
}

enum {
    INSTANCES = 2 * GN_UNITS,
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

static gn_status *bind_all(gn_session *s)
{
    int threads = s->opt.threads > 0 ? s->opt.threads : gn_cores();
    GN_TRY(gn_pool_new(threads, &s->pool));
    GN_TRY(gn_session_edge_rows(s, s->data->edge_weight, 1, &s->edge_weight));
    GN_TRY(gn_session_edge_rows(s, s->data->edge_attr, s->data->edge_dim, &s->edge_attr));
    GN_TRY(gn_session_sort_inputs(s));
    GN_TRY(gn_session_arrange_columns(s));
    GN_TRY(gn_model_add_state(s->model, &s->build, &s->state));
    if (!s->opt.unscored) GN_TRY(bind_unit(s, GN_UNIT_EVAL, &s->build.eval));
    GN_TRY(bind_unit(s, GN_UNIT_STEP, &s->build.step));
    return share_memory(s);
}

/* Life ----------------------------------------------------------------------------------------- */

static gn_status *make_row_of(gn_session *s)
{
    s->row_of = malloc((size_t)(s->data->n_nodes + 1) * sizeof *s->row_of);
    if (!s->row_of)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld nodes to reorder", (long long)s->data->n_nodes);
    return NULL;
}

/* Nodes of a file may have other numbers than those of its source, whose results are shown. */
static gn_status *take_numbers(gn_session *s)
{
    if (!s->data->row_of) return NULL;
    GN_TRY(make_row_of(s));
    memcpy(s->row_of, s->data->row_of, (size_t)s->data->n_nodes * sizeof *s->row_of);
    return NULL;
}

/* Nodes get numbers that lie close where they are read together; and the graph is made again. */
static gn_status *reorder(gn_session *s)
{
    double t0 = gn_now_ms();
    if (s->opt.reorder == GN_ORDER_NONE) return NULL;
    if (s->data->n_tables || s->data->n_relations)
        GN_FAIL(GN_ERR_USAGE, "--reorder: the data have several types of rows or relations");
    if (!s->row_of) GN_TRY(make_row_of(s));
    GN_TRY(gn_graph_order(s->graph, s->opt.reorder, s->row_of));
    GN_TRY(gn_dataset_renumber(s->data, s->row_of));
    if (s->data->row_of) /* they had other numbers before */
        memcpy(s->row_of, s->data->row_of, (size_t)s->data->n_nodes * sizeof *s->row_of);
    gn_graph_free(s->graph);
    s->graph = NULL;
    GN_TRY(make_graph(s));
    s->reorder_ms = gn_now_ms() - t0;
    return NULL;
}

gn_session *gn_session_open(gn_arena *a, const gn_session_options *opt)
{
    gn_session *s = GN_NEW(a, gn_session);
    s->arena = a;
    s->opt = *opt;
    gn_state_init(&s->state);
    return s;
}

gn_status *gn_session_read(gn_session *s)
{
    double t0 = gn_now_ms();
    gn_memory_huge_pages(gn_is_on(s->opt.without.decisions, GN_DO_HUGE_PAGES));
    GN_TRY(gn_dataset_read(&s->opt.data, &s->data));
    /* programs for others have float32 features, too */
    if (s->opt.objects || s->opt.plain_features) GN_TRY(gn_dataset_own_features(s->data));
    GN_TRY(take_numbers(s));
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
    if (s->pool) gn_pool_free(s->pool);
    for (int k = 0; k < GN_UNITS; k++) gn_pool_free(s->unit_pool[k]);
    if (s->opt.target) gn_target_unload(s->opt.target, &s->build.on_target);
    gn_image_free(s->build.image);
    gn_kernel_objects_free(&s->build.objects);
    gn_state_free(&s->state);
    gn_tensor_file_free(s->weights);
    gn_graph_free(s->graph);
    gn_graph_free(s->x_pattern);
    free(s->row_of);
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

static int64_t data_bytes(const gn_session *s)
{
    const gn_dataset *d = s->data;
    int64_t bytes = csr_bytes(d->x_csr), edges = d->n_edges;
    if (d->x && !gn_dataset_lends(d, d->x)) bytes += d->n_nodes * d->n_features * 4;
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
    if (s->row_of) bytes += d->n_nodes * 8;
    return bytes;
}

gn_memory gn_session_memory(const gn_session *s)
{
    gn_memory m = {.data = data_bytes(s),
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
        int64_t arena = gn_instance_arena_bytes(in[k]);
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
    m.total = m.data + m.graphs + m.states + m.prepared + m.outputs + m.arena;
    return m;
}

int64_t gn_session_peak_bytes(const gn_session *s) { return gn_session_memory(s).total; }
