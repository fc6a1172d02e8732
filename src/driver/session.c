#include "driver/session.h"

#include "driver/session_impl.h"

#include <stdlib.h>
#include <string.h>

const char *const gn_mode_name[GN_MODE_COUNT] = {
#define X(id, text) text,
    GN_MODES(X)
#undef X
};

gn_mode gn_mode_by_name(const char *name)
{
    for (int k = 0; k < GN_MODE_COUNT; k++)
        if (!strcmp(name, gn_mode_name[k])) return (gn_mode)k;
    return GN_MODE_COUNT;
}

/* Built with AddressSanitizer, gnnc checks the code that it generates too. */
#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;
#elif defined(__has_feature)
static const bool sanitized = __has_feature(address_sanitizer);
#else
static const bool sanitized = false;
#endif

/* Features this sparse are kept as CSR: a non-zero costs about four times a dense element. */
static const double sparse_density = 0.2;

/* Reading ----------------------------------------------------------------------------------------------------------- */

static gn_status *read_text(gn_session *s, const char **text, size_t *n)
{
    if (s->opt.text) {
        *text = s->opt.text;
        *n = strlen(s->opt.text);
        return NULL;
    }
    return gn_read_model(s->arena, s->opt.path, text, n);
}

static gn_status *front_end(gn_session *s)
{
    const char *text;
    size_t n;
    double t0 = gn_now_ms();
    GN_TRY(read_text(s, &text, &n));
    GN_TRY(gn_parse(s->arena, text, n, s->opt.path ? s->opt.path : "<model>", &s->ast));
    gn_data_shape shape = {.n_features = s->data->n_features,
                           .n_classes = s->data->n_classes,
                           .edge_dim = s->data->edge_dim,
                           .has_edge_weight = s->data->edge_weight != NULL};
    GN_TRY(gn_elaborate(s->arena, s->ast, s->opt.model, &shape, s->opt.n_defines, s->opt.defines, &s->model));
    s->frontend_ms = gn_now_ms() - t0;
    return NULL;
}

/* Compiling --------------------------------------------------------------------------------------------------------- */

static bool sparse_features(const gn_session *s)
{
    const gn_dataset *d = s->data;
    if (!d->x_csr || d->n_nodes == 0) return false;
    return (double)d->x_csr->nnz <= sparse_density * (double)d->n_nodes * (double)d->n_features;
}

static void note_pass(void *ctx, const char *pass, const gir_program *in, const gir_program *out)
{
    gn_session *s = ctx;
    gn_pass_note n = {
        .program = out->name, .pass = pass, .before = (int)in->nodes.n - 1, .after = (int)out->nodes.n - 1};
    bool any = false;
    for (gir_id v = 1; v < in->nodes.n; v++) n.change[gir_at(in, v)->op]--;
    for (gir_id v = 1; v < out->nodes.n; v++) n.change[gir_at(out, v)->op]++;
    for (int k = 0; k < GIR_OP_COUNT; k++) any = any || n.change[k];
    if (any) GN_PUSH(s->arena, s->notes, n);
}

/* Sizes of the graph and of sparse features, for schedules. */
static const low_hint *hints_of(const gn_session *s, int *n)
{
    const gn_dataset *d = s->data;
    low_hint *h = GN_NEW_N(s->arena, low_hint, 2);
    h[0] = (low_hint){"g", d->n_nodes, d->n_nodes, d->n_edges};
    if (d->x_csr) h[1] = (low_hint){"x", d->n_features, d->n_nodes, d->x_csr->nnz};
    *n = d->x_csr ? 2 : 1;
    return h;
}

/* `fixed`: data are the same in every run, as they are while a model trains. */
static gn_compile_options options_of(gn_session *s, bool fixed)
{
    static const char *const sparse[] = {"x"};
    static const char *const data[] = {"x", "y", "train_mask", "val_mask", "test_mask", "g.weight", "g.attr"};
    gn_compile_options o = {.index = s->graph->index};
    o.pass.fixed = data;
    o.pass.n_fixed = fixed && gn_is_on(s->opt.without.decisions, GN_DO_HOIST) ? sizeof data / sizeof *data : 0;
    o.hints = hints_of(s, &o.n_hints);
    o.pass.sparse = sparse;
    o.pass.without = s->opt.without;
    bool sparse_on = s->opt.mode != GN_MODE_EAGER && gn_is_on(s->opt.without.decisions, GN_DO_SPARSE);
    o.pass.n_sparse = sparse_on && sparse_features(s);
    o.pass.limit = s->opt.pass_limit;
    o.pass.eager = s->opt.mode == GN_MODE_EAGER;
    o.pass.verify = true;
    o.pass.after = note_pass;
    o.pass.ctx = s;
    o.code.opt_level = s->opt.mode == GN_MODE_EAGER ? 0 : 1;
    o.code.sanitize = s->opt.sanitize || sanitized;
    o.code.threads = gn_cores();
    o.code.off = s->opt.without.decisions;
    return o;
}

/* The pipeline runs before the split, so that what it shares and takes out of sums can be kept; and again on both halves,
 * where it finds little left to do. */
static gn_status *compile_unit(gn_session *s, const gir_program *p, bool keep_data, gn_unit *u)
{
    if (!p) return NULL;
    gn_compile_options o = options_of(s, keep_data);
    gir_program *whole, *prepare, *rest;
    GN_TRY(gn_passes_run(s->arena, p, &o.pass, &s->pass_count, &whole));
    prepare = NULL;
    rest = whole;
    if (!o.pass.eager && gn_is_on(o.pass.without.decisions, GN_DO_HOIST))
        GN_TRY(gn_pass_hoist(s->arena, whole, o.pass.n_fixed, o.pass.fixed, &prepare, &rest));
    if (prepare) GN_TRY(gn_compile(s->arena, prepare, &o, &s->pass_count, &u->prepare_code));
    return gn_compile(s->arena, rest, &o, &s->pass_count, &u->code);
}

static gn_status *make_code(gn_session *s)
{
    gn_compiled *all[] = {s->step.code,         s->eval.code,         s->val_loss.code,
                          s->step.prepare_code, s->eval.prepare_code, s->val_loss.prepare_code};
    int n = 0;
    for (int k = 0; k < 6; k++)
        if (all[k]) all[n++] = all[k];
    gn_compile_options o = options_of(s, false);
    return gn_compile_code(s->arena, n, all, &o.code, &s->image, &s->code);
}

static gn_status *compile_all(gn_session *s)
{
    double t0 = gn_now_ms();
    GN_TRY(compile_unit(s, s->model->eval, false, &s->eval));
    if (s->opt.train) {
        gn_pass_options o = options_of(s, s->opt.keep_static).pass;
        GN_TRY(gn_training_step(s->arena, s->model, &o, &s->step_gir));
        GN_TRY(compile_unit(s, s->step_gir, s->opt.keep_static, &s->step));
        GN_TRY(compile_unit(s, s->model->val_loss, s->opt.keep_static, &s->val_loss));
    }
    if (!s->opt.no_code) GN_TRY(make_code(s));
    s->compile_ms = gn_now_ms() - t0;
    return NULL;
}

/* Binding ----------------------------------------------------------------------------------------------------------- */

static bool has_slot(const gn_compiled *c, gn_slot_kind kind, const char *name)
{
    for (int k = 0; c && k < c->artifact->n_slots; k++)
        if (c->artifact->slots[k].kind == kind && !strcmp(c->artifact->slots[k].name, name)) return true;
    return false;
}

static bool any_slot(const gn_session *s, gn_slot_kind kind, const char *name)
{
    const gn_unit *u[] = {&s->eval, &s->step, &s->val_loss};
    for (int k = 0; k < 3; k++)
        if (has_slot(u[k]->code, kind, name) || has_slot(u[k]->prepare_code, kind, name)) return true;
    return false;
}

static bool any_pattern(const gn_session *s)
{
    const gn_compiled *c[] = {s->eval.code,         s->step.code,         s->val_loss.code,
                              s->eval.prepare_code, s->step.prepare_code, s->val_loss.prepare_code};
    for (int u = 0; u < 6; u++)
        for (int k = 0; c[u] && k < c[u]->artifact->n_graphs; k++)
            if (c[u]->artifact->graphs[k].pattern_of) return true;
    return false;
}

/* Features as the programs want them: dense, as a pattern, or both. */
static gn_status *make_features(gn_session *s)
{
    const gn_dataset *d = s->data;
    if (any_slot(s, GN_SLOT_INPUT, "x") && !d->x && d->x_csr) {
        int64_t elems;
        if (__builtin_mul_overflow(d->n_nodes, d->n_features, &elems) || elems > INT64_MAX / 4)
            GN_FAIL(GN_ERR_NOMEM, "dense features of %lld x %lld do not fit memory", (long long)d->n_nodes,
                    (long long)d->n_features);
        s->x_dense = calloc((size_t)elems + 1, sizeof(float));
        if (!s->x_dense) GN_FAIL(GN_ERR_NOMEM, "dense features take %lld bytes", (long long)elems * 4);
        for (int64_t i = 0; i < d->n_nodes; i++)
            for (int64_t k = d->x_csr->ptr[i]; k < d->x_csr->ptr[i + 1]; k++)
                s->x_dense[i * d->n_features + d->x_csr->col[k]] = d->x_csr->val[k];
    }
    if (!any_pattern(s)) return NULL;
    return gn_graph_from_csr(d->x_csr->rows, d->x_csr->cols, d->x_csr->ptr, d->x_csr->col, d->x_csr->val,
                             &s->x_pattern);
}

static gn_status *edge_rows(gn_session *s, const float *from, int64_t dim, float **to)
{
    *to = NULL;
    if (!from) return NULL;
    *to = malloc((size_t)(s->data->n_edges * dim + 1) * sizeof(float));
    if (!*to) GN_FAIL(GN_ERR_NOMEM, "edge data takes %lld bytes", (long long)(s->data->n_edges * dim * 4));
    gn_graph_edges_in(s->graph, dim * (int64_t)sizeof(float), from, *to);
    return NULL;
}

static gn_status *add_state(gn_session *s, const gir_program *p)
{
    if (!p) return NULL;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_STATE || gn_state_find(&s->state, n->attr.name)) continue;
        GN_TRY(gn_state_add(&s->state, n->attr.name, (gn_elem)n->type.elem, 1, gir_row_elems(&n->type)));
    }
    return NULL;
}

static gn_status *make_state(gn_session *s)
{
    for (int k = 0; k < s->model->n_params; k++) {
        const gn_param *p = &s->model->params[k];
        GN_TRY(gn_state_add(&s->state, p->name, (gn_elem)p->type.elem, 1, gir_row_elems(&p->type)));
    }
    GN_TRY(add_state(s, s->model->eval));
    GN_TRY(add_state(s, s->step_gir));
    return add_state(s, s->model->val_loss);
}

/* Everything a program may read, by name: data, state, and what was prepared. */
static gn_binding *bindings(gn_session *s, const gn_unit *u, int *n)
{
    const gn_dataset *d = s->data;
    enum { DATA = 8 };
    int kept = u->prepare ? u->prepare_code->artifact->n_slots : 0;
    gn_binding *b = GN_NEW_N(s->arena, gn_binding, DATA + s->state.n + kept);
    int64_t nodes = d->n_nodes;
    const float *x = d->x ? d->x : s->x_dense;
    *n = 0;
    if (x) b[(*n)++] = (gn_binding){"x", GN_F32, nodes, d->n_features, (void *)(uintptr_t)x};
    if (d->y) b[(*n)++] = (gn_binding){"y", GN_I32, nodes, 1, d->y};
    if (d->train_mask) b[(*n)++] = (gn_binding){"train_mask", GN_BOOL, nodes, 1, d->train_mask};
    if (d->val_mask) b[(*n)++] = (gn_binding){"val_mask", GN_BOOL, nodes, 1, d->val_mask};
    if (d->test_mask) b[(*n)++] = (gn_binding){"test_mask", GN_BOOL, nodes, 1, d->test_mask};
    if (s->edge_weight) b[(*n)++] = (gn_binding){"g.weight", GN_F32, d->n_edges, 1, s->edge_weight};
    if (s->edge_attr) b[(*n)++] = (gn_binding){"g.attr", GN_F32, d->n_edges, d->edge_dim, s->edge_attr};
    gn_state_bindings(&s->state, b + *n);
    *n += s->state.n;
    for (int k = 0; k < kept; k++) {
        const gn_slot *slot = &u->prepare_code->artifact->slots[k];
        if (slot->kind != GN_SLOT_OUTPUT) continue;
        int64_t elems = 0;
        const void *data = gn_instance_output(u->prepare, slot->name, &elems);
        int64_t rows = slot->elems.sym < 0 ? 1 : slot->row_elems ? elems / slot->row_elems : 0;
        b[(*n)++] = (gn_binding){slot->name, slot->elem, rows, slot->row_elems, (void *)(uintptr_t)data};
    }
    return b;
}

static gn_status *bind_code(gn_session *s, const gn_unit *u, const gn_compiled *code, const gn_unit *like,
                            gn_instance **out)
{
    int n;
    gn_binding *b = bindings(s, u, &n);
    gn_graph_binding g[2] = {{"g", s->graph}, {"x", s->x_pattern}};
    const gn_instance *shared = u->prepare ? u->prepare : like ? like->instance : NULL;
    return gn_instance_new(code->artifact, s->x_pattern ? 2 : 1, g, n, b, s->pool, shared, out);
}

static gn_status *bind_unit(gn_session *s, gn_unit *u, const gn_unit *like)
{
    if (!u->code) return NULL;
    if (u->prepare_code) {
        double t0 = gn_now_ms();
        gn_instance *prepare;
        GN_TRY(bind_code(s, u, u->prepare_code, like, &prepare));
        u->prepare = prepare;
        gn_instance_run(prepare);
        u->prepare_ms = gn_now_ms() - t0;
    }
    return bind_code(s, u, u->code, like, &u->instance);
}

static gn_status *bind_all(gn_session *s)
{
    if (s->opt.no_code) return NULL;
    int threads = s->opt.threads > 0 ? s->opt.threads : gn_cores();
    GN_TRY(gn_pool_new(threads, &s->pool));
    GN_TRY(make_features(s));
    GN_TRY(edge_rows(s, s->data->edge_weight, 1, &s->edge_weight));
    GN_TRY(edge_rows(s, s->data->edge_attr, s->data->edge_dim, &s->edge_attr));
    GN_TRY(make_state(s));
    GN_TRY(bind_unit(s, &s->eval, NULL));
    GN_TRY(bind_unit(s, &s->step, &s->eval));
    return bind_unit(s, &s->val_loss, &s->eval);
}

/* Life -------------------------------------------------------------------------------------------------------------- */

static gn_status *check_data(const gn_session *s)
{
    const gn_dataset *d = s->data;
    if (d->n_features == 0)
        GN_FAIL(GN_ERR_DATA, "%s has no node features, which a model needs", d->name ? d->name : "the data");
    if (s->opt.train && (!d->y || !d->train_mask))
        GN_FAIL(GN_ERR_DATA, "%s has no labels, which training needs", d->name ? d->name : "the data");
    return NULL;
}

static gn_status *start(gn_session *s)
{
    double t0 = gn_now_ms();
    GN_TRY(gn_dataset_read(&s->opt.data, &s->data));
    GN_TRY(check_data(s));
    GN_TRY(
        gn_graph_from_coo(s->data->n_nodes, s->data->n_nodes, s->data->n_edges, s->data->src, s->data->dst, &s->graph));
    s->read_ms = gn_now_ms() - t0;
    GN_TRY(front_end(s));
    GN_TRY(compile_all(s));
    GN_TRY(bind_all(s));
    return s->opt.no_code ? NULL : gn_session_reset(s, s->opt.seed);
}

gn_status *gn_session_new(gn_arena *a, const gn_session_options *opt, gn_session **out)
{
    gn_session *s = GN_NEW(a, gn_session);
    s->arena = a;
    s->opt = *opt;
    gn_state_init(&s->state);
    gn_status *status = start(s);
    if (status) {
        gn_session_free(s);
        return status;
    }
    *out = s;
    return NULL;
}

static void free_unit(gn_unit *u)
{
    gn_instance_free(u->instance);
    gn_instance_free(u->prepare);
}

void gn_session_free(gn_session *s)
{
    if (!s) return;
    free_unit(&s->val_loss);
    free_unit(&s->step);
    free_unit(&s->eval);
    if (s->pool) gn_pool_free(s->pool);
    gn_image_free(s->image);
    gn_state_free(&s->state);
    gn_graph_free(s->graph);
    gn_graph_free(s->x_pattern);
    free(s->x_dense);
    free(s->edge_weight);
    free(s->edge_attr);
    gn_dataset_free(s->data);
}

gn_status *gn_session_reset(gn_session *s, uint64_t seed)
{
    gn_fill zeros = {.kind = GN_FILL_ZEROS};
    for (int k = 0; k < s->state.n; k++) GN_TRY(gn_state_fill(&s->state, s->state.tensors[k].name, zeros, seed));
    for (int k = 0; k < s->model->n_params; k++) {
        static const gn_fill_kind kinds[] = {GN_FILL_ZEROS, GN_FILL_ONES, GN_FILL_CONSTANT, GN_FILL_UNIFORM,
                                             GN_FILL_NORMAL};
        const gn_param *p = &s->model->params[k];
        gn_fill f = {.kind = kinds[p->init], .a = p->a, .b = p->b};
        GN_TRY(gn_state_fill(&s->state, p->name, f, seed));
    }
    if (gn_state_find(&s->state, "rng.seed")) GN_TRY(gn_state_set_int(&s->state, "rng.seed", (int64_t)seed));
    return NULL;
}

static int64_t csr_bytes(const gn_csr *m) { return m ? (m->rows + 1) * 8 + m->nnz * 8 : 0; }

static int64_t data_bytes(const gn_session *s)
{
    const gn_dataset *d = s->data;
    int64_t bytes = csr_bytes(d->x_csr), edges = d->n_edges;
    if (d->x) bytes += d->n_nodes * d->n_features * 4;
    if (s->x_dense) bytes += d->n_nodes * d->n_features * 4;
    if (d->src) bytes += 2 * edges * 8;
    if (d->edge_weight) bytes += edges * 4;
    if (s->edge_weight) bytes += edges * 4;
    if (d->edge_attr) bytes += edges * d->edge_dim * 4;
    if (s->edge_attr) bytes += edges * d->edge_dim * 4;
    if (d->y) bytes += d->n_nodes * 4;
    if (d->train_mask) bytes += 3 * d->n_nodes;
    return bytes;
}

gn_memory gn_session_memory(const gn_session *s)
{
    const gn_unit *u[] = {&s->eval, &s->step, &s->val_loss};
    gn_memory m = {.data = data_bytes(s), .states = gn_state_bytes(&s->state), .graphs = gn_graph_bytes(s->graph)};
    if (s->x_pattern) m.graphs += gn_graph_bytes(s->x_pattern);
    for (int k = 0; k < 3; k++) {
        if (u[k]->instance) {
            m.arena += gn_instance_arena_bytes(u[k]->instance);
            m.outputs += gn_instance_output_bytes(u[k]->instance);
        }
        if (u[k]->prepare) {
            m.arena += gn_instance_arena_bytes(u[k]->prepare);
            m.prepared += gn_instance_output_bytes(u[k]->prepare);
        }
    }
    const gn_instance *all[] = {s->eval.instance, s->eval.prepare,      s->step.instance,
                                s->step.prepare,  s->val_loss.instance, s->val_loss.prepare};
    m.graphs += gn_instances_derived_bytes(6, all);
    m.total = m.data + m.graphs + m.states + m.prepared + m.outputs + m.arena;
    return m;
}

int64_t gn_session_peak_bytes(const gn_session *s) { return gn_session_memory(s).total; }
