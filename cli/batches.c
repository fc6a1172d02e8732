/* gnnc run --batches: one model on random parts of a graph, each of other sizes. */
#include "cli/device_option.h"
#include "base/data_name.h"
#include "cli/session_options.h"
#include "runtime/data/lent.h"

#include "base/philox.h"
#include "tune/start.h"

#include <stdlib.h>
#include <string.h>

/* Data of the whole graph, and of the batch. */
typedef struct input {
    gn_binding all; /* rows of edges in the order of the data */
    bool on_nodes, on_edges;
    float *rows; /* of the batch; NULL: as it is for all */
} input;

typedef struct batches {
    gn_cli *cli;
    gn_session *s; /* data and model; its own program is not run */
    gn_jit *jit;
    gn_pool *pool;
    gn_state state;
    bool say;               /* -d recompiles */
    int64_t *node, *number; /* [nodes] those of the batch come first; a node's number in the batch,
                               -1: not in it */
    int64_t *src, *dst;     /* [edges] */
    int64_t *edge;          /* [edges] of the batch: which of all they are */
    float *x, *unsorted;
    GN_VEC(input) inputs; /* besides x */
    int64_t n, e;         /* of the batch */
    double *find_us, *bind_us, *run_us;
    int64_t timed; /* batches that nothing was compiled for */
} batches;

static void say(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "recompiles: %s\n", text);
}

static gn_status *add_input(batches *z, const char *name, int64_t rows, int64_t dim,
                            const float *data, bool on_nodes, bool on_edges)
{
    input in = {{name, GN_F32, rows, dim, (void *)(uintptr_t)data}, on_nodes, on_edges, NULL};
    if (on_nodes || on_edges) {
        in.rows = malloc((size_t)(rows * dim + 1) * sizeof *in.rows);
        if (!in.rows) GN_FAIL(GN_ERR_NOMEM, "out of memory: '%s' of batches", name);
    }
    GN_PUSH(z->cli->arena, z->inputs, in);
    return NULL;
}

/* What the data has beside x, and room for the largest of its rows of edges. */
static gn_status *add_inputs(batches *z)
{
    const gn_dataset *d = z->s->data;
    int64_t widest = 1;
    if (d->edge_weight)
        GN_TRY(add_input(z, GN_NAME_WEIGHT, d->n_edges, 1, d->edge_weight, false, true));
    if (d->edge_attr)
        GN_TRY(add_input(z, GN_NAME_ATTR, d->n_edges, d->edge_dim, d->edge_attr, false, true));
    for (int k = 0; k < d->n_more; k++) {
        const gn_data_array *a = &d->more[k];
        int64_t dim = 1;
        for (int i = a->on_nodes || a->on_edges; i < a->rank; i++) dim *= a->dim[i];
        int64_t rows = a->on_nodes ? d->n_nodes : a->on_edges ? d->n_edges : 1;
        if (a->taken) GN_TRY(add_input(z, a->name, rows, dim, a->data, a->on_nodes, a->on_edges));
    }
    for (uint32_t k = 0; k < z->inputs.n; k++)
        if (z->inputs.p[k].on_edges && z->inputs.p[k].all.row_elems > widest)
            widest = z->inputs.p[k].all.row_elems;
    z->unsorted = malloc((size_t)(d->n_edges * widest + 1) * sizeof *z->unsorted);
    if (!z->unsorted)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: batches of up to %lld edges", (long long)d->n_edges);
    return NULL;
}

static gn_status *make_room(batches *z)
{
    gn_dataset *d = z->s->data;
    GN_TRY(gn_dataset_list_edges(d));
    z->node = malloc((size_t)(d->n_nodes + 1) * sizeof *z->node);
    z->number = malloc((size_t)(d->n_nodes + 1) * sizeof *z->number);
    z->src = malloc((size_t)(d->n_edges + 1) * sizeof *z->src);
    z->dst = malloc((size_t)(d->n_edges + 1) * sizeof *z->dst);
    z->x = malloc((size_t)(d->n_nodes * d->n_features + 1) * sizeof *z->x);
    z->edge = malloc((size_t)(d->n_edges + 1) * sizeof *z->edge);
    if (!z->node || !z->number || !z->src || !z->dst || !z->x || !z->edge)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: batches of up to %lld nodes", (long long)d->n_nodes);
    for (int64_t v = 0; v < d->n_nodes; v++) z->node[v] = v;
    return add_inputs(z);
}

/* Some nodes, drawn by the batch's number, and the edges between them. */
static void draw(batches *z, int64_t k)
{
    const gn_dataset *d = z->s->data;
    uint32_t key = gn_rng_key(z->s->opt.seed, (uint64_t)k);
    z->n = d->n_nodes ? 1 + (int64_t)((double)gn_random_uniform(key, 0, 0) * (double)d->n_nodes)
                      : 0;
    if (z->n > d->n_nodes) z->n = d->n_nodes;
    for (int64_t v = 0; v < d->n_nodes; v++) z->number[v] = -1;
    for (int64_t i = 0; i < z->n; i++) {
        int64_t j = i + (int64_t)((double)gn_random_uniform(key, 1, (uint64_t)i) *
                                  (double)(d->n_nodes - i));
        if (j >= d->n_nodes) j = d->n_nodes - 1;
        int64_t v = z->node[j];
        z->node[j] = z->node[i];
        z->node[i] = v;
        z->number[v] = i;
    }
    z->e = 0;
    for (int64_t e = 0; e < d->n_edges; e++) {
        if (z->number[d->src[e]] < 0 || z->number[d->dst[e]] < 0) continue;
        z->src[z->e] = z->number[d->src[e]];
        z->dst[z->e] = z->number[d->dst[e]];
        z->edge[z->e++] = e;
    }
}

static void gather_features(batches *z)
{
    const gn_dataset *d = z->s->data;
    int64_t f = d->n_features;
    if (f == 0) return;
    if (!d->x) memset(z->x, 0, (size_t)(z->n * f) * sizeof *z->x);
    for (int64_t i = 0; i < z->n; i++) {
        int64_t v = z->node[i];
        if (d->x) memcpy(z->x + i * f, d->x + v * f, (size_t)f * sizeof *z->x);
        for (int64_t k = d->x ? 0 : d->x_csr->ptr[v]; !d->x && k < d->x_csr->ptr[v + 1]; k++)
            z->x[i * f + d->x_csr->col[k]] = d->x_csr->val[k];
    }
}

/* Rows of the batch's nodes, or of its edges in the graph's order. */
static void gather_rows(batches *z, const gn_graph *g, input *in)
{
    const float *from = in->all.data;
    int64_t dim = in->all.row_elems, bytes = dim * (int64_t)sizeof *from,
            n = in->on_nodes ? z->n : z->e;
    const int64_t *which = in->on_nodes ? z->node : z->edge;
    float *to = in->on_nodes ? in->rows : z->unsorted;
    for (int64_t i = 0; i < n; i++) memcpy(to + i * dim, from + which[i] * dim, (size_t)bytes);
    if (in->on_edges) gn_graph_edges_in(g, bytes, z->unsorted, in->rows);
}

static gn_status *bind(batches *z, gn_graph *g, gn_unit *u)
{
    GN_TRY(gn_session_missing_inputs(z->s, u));
    gn_binding *b = calloc((size_t)(1 + (int)z->inputs.n + z->state.n + gn_unit_kept(u) + 1),
                           sizeof *b);
    if (!b) GN_FAIL(GN_ERR_NOMEM, "out of memory: bindings");
    int n = 0;
    b[n++] = (gn_binding){GN_NAME_X, GN_F32, z->n, z->s->data->n_features, z->x};
    for (uint32_t k = 0; k < z->inputs.n; k++) {
        input *in = &z->inputs.p[k];
        b[n] = in->all;
        if (in->rows) {
            gather_rows(z, g, in);
            b[n].rows = in->on_nodes ? z->n : z->e;
            b[n].data = in->rows;
        }
        n++;
    }
    gn_state_bindings(&z->state, b + n);
    gn_status *s = gn_unit_bind(u, 1, &(gn_graph_binding){GN_NAME_G, g}, n + z->state.n, b, z->pool,
                                NULL);
    free(b);
    return s;
}

static gn_status *run_one(batches *z, gn_stance stance, gn_graph *g)
{
    gn_sizes sizes = {{z->n, z->e}};
    const gn_variant *v;
    int before = gn_jit_count(z->jit);
    double t0 = gn_now_ms();
    GN_TRY(gn_jit_get(z->jit, &sizes, stance, &v));
    double t1 = gn_now_ms();
    gn_unit u = v->build.eval;
    GN_TRY(bind(z, g, &u));
    double t2 = gn_now_ms();
    gn_instance_run(u.instance);
    double t3 = gn_now_ms();
    gn_unit_release(&u);
    if (gn_jit_count(z->jit) != before) return NULL;
    z->find_us[z->timed] = (t1 - t0) * 1e3;
    z->bind_us[z->timed] = (t2 - t1) * 1e3;
    z->run_us[z->timed++] = (t3 - t2) * 1e3;
    return NULL;
}

static gn_status *run_all(batches *z, gn_stance stance, int64_t k_batches)
{
    for (int64_t k = 0; k < k_batches; k++) {
        gn_graph *g;
        draw(z, k);
        gather_features(z);
        GN_TRY(gn_graph_from_coo(z->s->graph->index, z->n, z->n, z->e, GN_I64, z->src, z->dst, &g));
        gn_status *s = run_one(z, stance, g);
        gn_graph_free(g);
        if (s) return gn_status_annotate(s, "batch %lld", (long long)k + 1);
    }
    return NULL;
}

static gn_status *start(batches *z, const gn_session_options *o)
{
    const gn_cli_options *c = &z->cli->opt;
    int64_t n = c->batches;
    gn_jit_options j = {.build = {.mode = o->mode,
                                  .index = z->s->graph->index,
                                  .pass_limit = o->pass_limit,
                                  .without = o->without,
                                  .cache = o->cache},
                        .dynamic = o->dynamic,
                        .ranges = o->ranges,
                        .limit = c->recompile_limit > 0 ? (int)c->recompile_limit : 0,
                        .say = z->say ? say : NULL};
    z->find_us = GN_NEW_N(z->cli->arena, double, n);
    z->bind_us = GN_NEW_N(z->cli->arena, double, n);
    z->run_us = GN_NEW_N(z->cli->arena, double, n);
    GN_TRY(make_room(z));
    GN_TRY(gn_jit_new(z->s->model, &j, &z->jit));
    GN_TRY(gn_pool_new(o->threads > 0 ? o->threads : gn_cores(), &z->pool));
    GN_TRY(gn_model_add_state(z->s->model, &z->s->build, &z->state));
    GN_TRY(gn_model_reset(z->s->model, &z->state, o->seed));
    return z->s->weights ? gn_weights_take(z->s->model, z->s->weights, o->weights, "", &z->state)
                         : NULL;
}

static void end(batches *z)
{
    gn_jit_free(z->jit);
    if (z->pool) gn_pool_free(z->pool);
    gn_state_free(&z->state);
    free(z->node);
    free(z->number);
    free(z->src);
    free(z->dst);
    free(z->x);
    free(z->edge);
    free(z->unsorted);
    for (uint32_t k = 0; k < z->inputs.n; k++) free(z->inputs.p[k].rows);
}

static void report(const batches *z)
{
    double ms = 0;
    const char *dynamic = z->cli->opt.dynamic ? z->cli->opt.dynamic : "true";
    for (const gn_variant *v = gn_jit_newest(z->jit); v; v = v->older) ms += v->ms;
    int programs = gn_jit_count(z->jit), again = gn_jit_recompiles(z->jit);
    if (z->cli->opt.json) {
        gn_json j;
        gn_json_init(&j, stdout, true);
        gn_json_object(&j, NULL);
        gn_json_string(&j, "model", z->s->model->name);
        gn_json_string(&j, "data", z->s->data->name);
        gn_json_string(&j, "dynamic", dynamic);
        gn_json_int(&j, "batches", z->cli->opt.batches);
        gn_json_int(&j, "programs", programs);
        gn_json_int(&j, "recompiles", again);
        gn_json_double(&j, "compile_ms", ms);
        gn_cli_json_times(&j, "find_us", z->find_us, z->timed);
        gn_cli_json_times(&j, "bind_us", z->bind_us, z->timed);
        gn_cli_json_times(&j, "run_us", z->run_us, z->timed);
        gn_json_end(&j);
        return;
    }
    printf("%lld batches, dynamic %s: %d program%s, %d recompilation%s, compiled in %.1f ms\n",
           (long long)z->cli->opt.batches, dynamic, programs, programs == 1 ? "" : "s", again,
           again == 1 ? "" : "s", ms);
    if (z->timed)
        printf("a batch (median of %lld that nothing was compiled for): to find its program %.2f "
               "us, bind %.1f us, run "
               "%.1f us\n",
               (long long)z->timed, gn_cli_median(z->find_us, z->timed),
               gn_cli_median(z->bind_us, z->timed), gn_cli_median(z->run_us, z->timed));
}

gn_status *gn_cli_run_batches(gn_cli *cli, const gn_session_options *options)
{
    batches z = {.cli = cli};
    gn_session_options o = *options;
    gn_stance stance;
    gn_device_choice device;
    GN_TRY(gn_cli_device_of(cli, &device));
    if (device.gpu)
        GN_FAIL(GN_ERR_USAGE, "--batches does not go with --device %s: it runs on this processor",
                cli->opt.device);
    if (cli->opt.tune_lock)
        GN_FAIL(GN_ERR_USAGE, "--batches does not go with --tune-lock: choices are of one graph, "
                              "its graphs are drawn");
    if (cli->opt.memory)
        GN_FAIL(GN_ERR_USAGE, "--batches goes without --memory: a batch's rows are known when it "
                              "is drawn; fewer rows a batch take less");
    if (cli->opt.importance)
        GN_FAIL(GN_ERR_USAGE, "--batches goes without --importance: its graphs are drawn");
    if (cli->opt.predictions || cli->opt.repeat > 0)
        GN_FAIL(GN_ERR_USAGE,
                "--batches goes with neither --predictions nor --repeat: its graphs are drawn");
    GN_TRY(gn_stance_by_name(cli->opt.stance, &stance));
    GN_TRY(gn_cli_debugging(cli, "recompiles", &z.say));
    o.no_code = true;
    o.dynamic = GN_DYNAMIC_TRUE;
    o.ranges = (gn_guards){0};
    o.plain_features = true;
    GN_TRY(gn_session_new(cli->arena, &o, &z.s));
    gn_state_init(&z.state);
    const char *beyond = gn_model_beyond_graph(z.s->model);
    gn_status *s = beyond ? GN_ERROR(GN_ERR_USAGE,
                                     "--batches draws parts of one graph, and %s has `%s` beside "
                                     "it",
                                     z.s->model->name, beyond)
                          : start(&z, options);
    if (!s) s = run_all(&z, stance, cli->opt.batches);
    if (!s) report(&z);
    end(&z);
    gn_session_free(z.s);
    return s;
}
